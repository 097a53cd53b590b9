"""Units of the target: whatever they are, the same model comes out in them."""

import numpy as np
import pytest

from srff import RFFRegressor, SRFFRegressor, load, save
from srff.data import dataset
from srff.data.first_pass import first_pass
from srff.data.sources import ArraySource
from srff.data.split import key_multipliers

TINY = {"effort": "quick", "n_components": 10, "max_iter": 2, "random_state": 0, "n_jobs": 1}


def made(n_rows: int):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 3))
    return X, np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=n_rows)


@pytest.fixture(scope="module", params=[200, 600], ids=["float64", "float32"])
def problem(request):
    X, y = made(request.param)
    return X, y, SRFFRegressor(**TINY).fit(X, y)


@pytest.mark.parametrize("exponent", [-960, -1, 7, 960])
def test_a_target_in_units_of_a_power_of_two_has_the_same_bits(problem, exponent):
    X, y, plain = problem
    model = SRFFRegressor(**TINY).fit(X, np.ldexp(y, exponent))
    np.testing.assert_array_equal(model.scale_, plain.scale_)
    np.testing.assert_array_equal(model.coefficients_, np.ldexp(plain.coefficients_, exponent))
    np.testing.assert_array_equal(model.predict(X), np.ldexp(plain.predict(X), exponent))


@pytest.mark.parametrize("rows_at_a_time", [150, 600])
def test_a_stream_in_units_of_powers_of_two_has_the_same_bits(monkeypatch, rows_at_a_time):
    monkeypatch.setattr(dataset, "STREAM_ROWS", 200)
    X, y = made(600)

    def fitted(X, y):
        starts = range(0, 600, rows_at_a_time)
        blocks = [(X[i : i + rows_at_a_time], y[i : i + rows_at_a_time]) for i in starts]
        return SRFFRegressor(**TINY).fit(blocks)

    units = np.array([4.0, 2.0**-70, 1.0])
    plain, other = fitted(X, y), fitted(X * units, np.ldexp(y, 5))
    np.testing.assert_array_equal(other.scale_, plain.scale_)
    np.testing.assert_array_equal(other.coefficients_, np.ldexp(plain.coefficients_, 5))
    np.testing.assert_array_equal(other.predict(X * units), np.ldexp(plain.predict(X), 5))


@pytest.mark.parametrize("unit", [1 / 3.6, 1e-50, 2.54])
def test_a_stream_in_any_unit_holds_out_the_same_rows(unit):
    X, y = made(20_000)
    held = []
    for c in (1.0, unit):
        source = ArraySource(c * X, c * y[:, None])
        found = first_pass(source, key_multipliers(np.random.RandomState(0), 3), 100, 4000)
        held.append(found.low.X / c)
    np.testing.assert_allclose(held[1], held[0], rtol=1e-12)


@pytest.mark.parametrize("unit", [1e-290, 1e-50, 1e37, 1e290])
def test_a_target_in_any_unit_is_predicted_in_it(problem, unit):
    X, y, plain = problem
    model = SRFFRegressor(**TINY).fit(X, y * unit)
    np.testing.assert_array_equal(model.get_support(), plain.get_support())
    np.testing.assert_allclose(model.predict(X) / unit, plain.predict(X), atol=1e-4)


@pytest.mark.parametrize("unit", [1e-290, 1e290])
def test_targets_of_very_different_units_are_each_predicted_in_their_own(unit):
    X, y = made(600)
    Y = np.column_stack([y, np.cos(X[:, 2]) * unit])
    model = SRFFRegressor(**TINY, target_weights="equal").fit(X, Y)
    expected = SRFFRegressor(**TINY, target_weights="equal").fit(X, Y / [1.0, unit]).predict(X)
    np.testing.assert_allclose(model.predict(X) / [1.0, unit], expected, atol=1e-4)


@pytest.mark.parametrize("unit", [1e-50, 1e50])
def test_a_model_of_any_unit_goes_to_a_file_and_to_onnx(tmp_path, unit):
    X, y = made(600)
    model = RFFRegressor(n_components=10, random_state=0).fit(X, y * unit)
    save(model, tmp_path / "m.srff")
    np.testing.assert_array_equal(load(tmp_path / "m.srff").predict(X), model.predict(X))

    onnxruntime = pytest.importorskip("onnxruntime")
    from srff import to_onnx

    graph = to_onnx(model, dtype="float64").SerializeToString()
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    found = np.ravel(session.run(None, {"X": X})[0])
    np.testing.assert_allclose(found / unit, model.predict(X) / unit, atol=1e-5)


def test_a_checkpoint_tells_a_target_from_another_of_the_same_order(tmp_path):
    X, y = made(100)
    model = SRFFRegressor(**TINY, checkpoint=tmp_path / "steps").fit(X, y)
    with pytest.raises(ValueError, match="another fit"):
        model.fit(X, 2 * y)


@pytest.mark.parametrize("unit", [2.0**-900, 2.0**900])
def test_means_of_a_target_at_many_levels_do_not_overflow(unit):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    levels = rng.integers(0, 30, size=300)
    table = pd.DataFrame({"level": [f"l{k}" for k in levels], "b": rng.normal(size=300)})
    y = np.sin(levels) + 0.1 * rng.normal(size=300)
    plain = SRFFRegressor(**TINY).fit(table, y)
    model = SRFFRegressor(**TINY).fit(table, y * unit)
    assert plain.get_support().tolist()[0]
    # The encoded table is in other units, so that other rows may be held out.
    np.testing.assert_allclose(model.predict(table) / unit, plain.predict(table), atol=0.2)
