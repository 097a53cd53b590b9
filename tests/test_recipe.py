"""The default fit, from end to end on small data: variables, models, and what it promises."""

from __future__ import annotations

import pickle
import threading
import tracemalloc

import numpy as np
import pytest
from sklearn.base import clone

from small_problems import prepare, search_of
from srff import SRFFRegressor
from srff._utils.progress import Progress
from srff.core.kernels import Gaussian
from srff.core.parametrisations import Metric, Scales
from srff.data import problem
from srff.reproduction.datasets import make_se1, make_se2, make_se3
from srff.selection import race
from srff.selection.compare import Judge
from srff.selection.config import CONFIG
from srff.selection.descents import Start, descend_penalties
from srff.selection.grow import grow
from srff.selection.lines import Line, run
from srff.selection.panel import best_panel, panel_of
from srff.selection.search import Log
from srff.selection.starts import low_order_point

QUICK = {"n_components": 40, "max_iter": 8, "random_state": 0}
TRUE = [0, 1, 2]


def function(X):
    return np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]


def data(n=360, d=10, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n, d))
    return X, function(X) + rng.normal(0, 0.1, n)


X, y = data()
X_TEST = np.random.RandomState(9).standard_normal((1000, 10))


@pytest.fixture(scope="module")
def fitted():
    return SRFFRegressor(**QUICK).fit(X, y)


def same_bits(one, other):
    for name in ("scale_", "coefficients_", "frequencies_", "offsets_", "alpha_", "model_kind_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_array_equal(one.predict(X_TEST), other.predict(X_TEST))


@pytest.mark.parametrize("refine", ["auto", "metric", "frequencies"])
def test_the_variables_are_found_and_the_function_is_learned(refine):
    folds = SRFFRegressor(**QUICK, refine=refine).fit(X, y)
    model = SRFFRegressor(**QUICK, refine=refine, validation=0.2).fit(X, y)
    for each in (folds, model):
        assert each.get_support(indices=True).tolist() == TRUE
        assert each.score(X_TEST, function(X_TEST)) > 0.95
    assert folds.model_kind_ == "mean of folds"  # of few rows
    kinds = {
        "auto": {"scales", "metric", "low order", "frequencies", "blend"},
        "metric": {"metric", "low order", "blend"},
        "frequencies": {"frequencies", "blend"},
    }
    assert model.model_kind_ in kinds[refine]


def test_the_simplex_alone_keeps_its_budget_and_predicts():
    model = SRFFRegressor(**QUICK, refine=None).fit(X, y)
    assert set(TRUE) <= set(model.get_support(indices=True))
    assert model.model_kind_ == "scales"
    assert model.score(X_TEST, function(X_TEST)) > 0.8
    fixed = SRFFRegressor(**QUICK, refine=None, budget=2.5).fit(X, y)
    assert fixed.budget_ == pytest.approx(2.5)
    np.testing.assert_allclose(fixed.path_["budget"], 2.5)
    auto = set(np.round(model.path_["budget"] * model.sigma_ / 10, 6))
    assert auto == {0.5, 1.0, 2.0}


def test_a_given_alpha_without_refinement_needs_no_validation_rows():
    model = SRFFRegressor(**QUICK, refine=None, alpha=1e-3, budget=2.0).fit(X, y)
    assert model.alpha_ == 1e-3
    assert np.isnan(model.path_["validation_error"]).all()
    assert (np.diff(model.objective_[:-1]) <= 1e-12).sum() >= len(model.objective_) - 3


def test_the_papers_scales_may_be_refined():
    model = SRFFRegressor(**QUICK | {"max_iter": 20}, solver="alternating", tol=1e-2).fit(X, y)
    assert model.get_support(indices=True).tolist() == TRUE
    assert model.path_["kind"].size > 50


@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_kept_on_noise(seed):
    rng = np.random.RandomState(seed)
    noise = rng.standard_normal(300)
    model = SRFFRegressor(**QUICK | {"random_state": seed}).fit(
        rng.standard_normal((300, 8)), noise
    )
    assert not model.get_support().any()
    assert model.model_kind_ == "mean"
    np.testing.assert_allclose(model.predict(np.zeros((2, 8))), noise.mean())
    with pytest.warns(UserWarning, match="No features were selected"):
        none = model.transform(np.ones((3, 8)))
    np.testing.assert_array_equal(model.inverse_transform(none), np.zeros((3, 8)))


@pytest.mark.parametrize("kernel", ["laplace", "matern32", "matern52"])
def test_other_kernels_find_the_same(kernel):
    model = SRFFRegressor(**QUICK, kernel=kernel).fit(X, y)
    assert model.get_support(indices=True).tolist() == TRUE
    assert model.score(X_TEST, function(X_TEST)) > 0.9


def test_a_given_alpha_is_the_penalty_of_every_candidate():
    model = SRFFRegressor(**QUICK, alpha=1e-3).fit(X, y)
    assert model.alpha_ == 1e-3
    assert set(model.path_["alpha"]) == {1e-3, np.inf}  # the mean has none
    assert model.get_support(indices=True).tolist() == TRUE


def test_a_given_budget_is_the_only_start_of_its_kind(monkeypatch):
    seen = []
    starts = race.starts

    def listening(*arguments):
        out = starts(*arguments)
        seen.extend(out)
        return out

    monkeypatch.setattr(race, "starts", listening)
    SRFFRegressor(**QUICK, budget=4.0).fit(X, y)
    even = [s for s in seen if s.columns.size == 10 and s.family != "low order"]
    assert {s.kind for s in even} == {"metric", "scales"}
    for start in even:
        np.testing.assert_allclose(start.point.strength(), 0.4)


def test_the_same_bits_for_any_number_of_threads(fitted):
    for n_jobs in (1, 2):
        same_bits(SRFFRegressor(**QUICK, n_jobs=n_jobs).fit(X, y), fitted)


def test_the_same_bits_for_any_number_of_threads_and_several_blocks():
    rng = np.random.RandomState(0)
    many = rng.standard_normal((3000, 4))  # six blocks
    target = np.sin(many[:, 0] * many[:, 1]) + rng.normal(0, 0.1, 3000)
    options = {"n_components": 20, "max_iter": 3, "random_state": 0, "refine": "metric"}
    one, two = (SRFFRegressor(**options, n_jobs=n).fit(many, target) for n in (1, 2))
    for name in ("scale_", "coefficients_", "frequencies_", "alpha_"):
        np.testing.assert_array_equal(getattr(two, name), getattr(one, name))
    assert one.get_support(indices=True).tolist() == [0, 1]


def test_the_same_bits_for_any_order_of_the_rows(fitted):
    order = np.random.RandomState(5).permutation(len(X))
    same_bits(clone(fitted).fit(X[order], y[order]), fitted)


def test_the_same_bits_for_weights_and_repetitions(fitted):
    counts = np.random.RandomState(5).randint(0, 4, len(X))  # over 500 rows when written out
    weighted = clone(fitted).fit(X, y, sample_weight=counts)
    repeated = clone(fitted).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert counts.sum() > problem.FLOAT64_ROWS
    same_bits(weighted, repeated)
    assert not np.array_equal(weighted.predict(X_TEST), fitted.predict(X_TEST))


def test_a_stored_model_and_the_reduced_one_predict_the_same_bits(fitted):
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(X_TEST), fitted.predict(X_TEST))
    small = fitted.reduced()
    assert small.n_features_in_ == 3
    np.testing.assert_array_equal(small.predict(X_TEST[:, TRUE]), fitted.predict(X_TEST))


def test_the_columns_that_are_not_kept_have_scale_zero_and_are_not_read(fitted):
    outside = ~fitted.get_support()
    assert (fitted.scale_[outside] == 0).all()
    assert (fitted.scale_[TRUE] > 0).all()
    assert fitted.frequencies_.shape == (3, fitted.coefficients_.size)
    assert fitted.budget_ == pytest.approx(fitted.scale_.sum())
    other = X_TEST.copy()
    other[:, outside] = np.random.RandomState(1).uniform(-1e30, 1e30, (1000, outside.sum()))
    np.testing.assert_array_equal(fitted.predict(other), fitted.predict(X_TEST))


def test_the_path_has_a_row_for_every_candidate(fitted):
    path = fitted.path_
    assert {column.shape for column in path.values()} == {path["kind"].shape}
    assert set(path["inputs"]) == {"standard"}
    kinds = {"metric", "scales", "low order", "linear", "mean", "frequencies", "blend"}
    assert kinds | {"mean of folds"} == set(path["kind"])
    assert set(path["n_variables"]) >= {0, 2, 3, 10}
    three = path["n_variables"] == 3
    assert path["validation_error"][three].min() < path["validation_error"][~three].min()
    assert fitted.n_passes_ > 0


def test_names_in_pandas_out(fitted):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=[f"v{k}" for k in range(10)])
    model = clone(fitted).set_output(transform="pandas").fit(frame, y)
    assert model.transform(frame).columns.tolist() == ["v0", "v1", "v2"]
    np.testing.assert_array_equal(model.predict(frame), fitted.predict(X))


def test_float32_input_finds_the_same(fitted):
    model = clone(fitted).fit(X.astype(np.float32), y.astype(np.float32))
    assert model.get_support(indices=True).tolist() == TRUE
    assert model.score(X_TEST, function(X_TEST)) > 0.95


def test_float32_blocks_find_the_same(fitted):
    model = clone(fitted).set_params(dtype="float32").fit(X, y)
    assert model.get_support(indices=True).tolist() == TRUE
    assert model.score(X_TEST, function(X_TEST)) > 0.95


def test_a_memory_limit_finds_the_same(fitted):
    model = clone(fitted).set_params(memory_limit="1.2MB", n_jobs=1).fit(X, y)
    assert model.get_support(indices=True).tolist() == TRUE


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, (CONFIG.wide_features, CONFIG.free_features)),
        ({"memory_limit": "1GB"}, (CONFIG.wide_features, CONFIG.free_features)),
        ({"memory_limit": 20e6}, (408, 408)),
        ({"n_components": 40}, (0, 0)),
    ],
)
def test_the_last_models_have_as_many_features_as_fit_in_memory(settings, expected):
    assert SRFFRegressor(**settings, n_jobs=1)._most_features() == expected


@pytest.mark.slow
def test_a_memory_limit_is_kept_by_models_that_are_cut_to_fit():
    limit = 20e6  # 2,048 features would take 200 MB
    tracemalloc.start()
    try:
        model = SRFFRegressor(max_iter=2, random_state=0, memory_limit=limit, n_jobs=1).fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < limit
    assert model.get_support(indices=True).tolist() == TRUE


def test_torch_finds_the_same(fitted):
    pytest.importorskip("torch", reason="PyTorch is not installed (extra: gpu)")
    model = clone(fitted).set_params(device="cpu:0", refine="metric").fit(X, y)
    assert model.get_support(indices=True).tolist() == TRUE
    assert model.score(X_TEST, function(X_TEST)) > 0.95


@pytest.mark.cuda
@pytest.mark.parametrize(("make", "n"), [(make_se1, 5000), (make_se2, 1000), (make_se3, 1000)])
def test_a_gpu_finds_the_variables_of_the_built_in_problems(make, n):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra: gpu)")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    X, y = make(n, random_state=0)
    # Enough rows to judge by that every variable is clearly missed.
    options = {"random_state": 0, "validation": make(5000, random_state=1)}
    on_cpu = SRFFRegressor(**options).fit(X, y)
    on_gpu = SRFFRegressor(**options, device="cuda").fit(X, y)
    np.testing.assert_array_equal(on_gpu.get_support(), on_cpu.get_support())
    there = pickle.loads(pickle.dumps(on_gpu)).predict(X)
    assert type(there) is np.ndarray
    assert np.std(there - on_cpu.predict(X)) < 0.3 * np.std(y)


def test_validation_rows_of_ones_own_are_not_learned_from(fitted):
    options = fitted.get_params() | {"validation": (X[280:], y[280:])}
    model = SRFFRegressor(**options).fit(X[:280], y[:280])
    assert model.get_support(indices=True).tolist() == TRUE
    error = np.sqrt(np.mean((model.predict(X[280:]) - y[280:]) ** 2))
    errors = model.path_["validation_error"]
    last = errors[model.path_["kind"] == model.model_kind_]
    assert np.abs(last - error).min() < 1e-6


def test_progress_goes_from_start_to_end():
    reports: list[Progress] = []
    SRFFRegressor(**QUICK, callback=reports.append).fit(X, y)
    done = [r.done for r in reports]
    assert done == sorted(done)
    assert all(0 <= r.done <= r.total for r in reports)
    stages = list(dict.fromkeys(r.stage for r in reports))
    assert stages == list(Log.STAGES)
    assert "best error" in reports[-1].message


@pytest.mark.parametrize("stage", Log.STAGES)
def test_an_interrupt_at_any_stage_leaves_no_threads(stage):
    before = set(threading.enumerate())

    def interrupt(report):
        if report.stage == stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        SRFFRegressor(**QUICK, n_jobs=2, callback=interrupt).fit(X, y)
    assert set(threading.enumerate()) == before


def test_quantiles_are_used_where_they_are_asked_for():
    options = QUICK | {"max_iter": 16, "refine": "metric"}
    model = SRFFRegressor(**options, inputs="quantile").fit(X, y)
    assert model.input_map_.name == "quantile"
    assert set(model.path_["inputs"]) == {"quantile"}
    assert model.get_support(indices=True).tolist() == TRUE
    assert model.score(X_TEST, function(X_TEST)) > 0.9


def test_quantiles_win_by_themselves_for_inputs_with_heavy_tails():
    heavy, heavy_test = np.sinh(3 * X), np.sinh(3 * X_TEST)
    options = QUICK | {"refine": "metric"}
    model = SRFFRegressor(**options).fit(heavy, y)
    assert set(model.path_["inputs"]) == {"standard", "quantile"}
    assert model.input_map_.name == "quantile"
    assert model.get_support(indices=True).tolist() == TRUE
    assert model.score(heavy_test, function(X_TEST)) > 0.9
    standard = SRFFRegressor(**options, inputs="standard").fit(heavy, y)
    assert standard.input_map_.name == "standard"
    assert set(standard.path_["inputs"]) == {"standard"}
    small = model.reduced()
    np.testing.assert_array_equal(small.predict(heavy[:, TRUE]), model.predict(heavy))


def test_more_variables_than_a_metric_starts_from(configure):
    configure(metric_variables=8)
    model = SRFFRegressor(**QUICK, refine="metric").fit(X, y)
    assert model.get_support(indices=True).tolist() == TRUE
    # The strongest half of so many after the descent on the simplex.
    assert 4 in model.path_["n_variables"][model.path_["kind"] == "metric"]


def test_fewer_rows_for_the_search_than_there_are(configure):
    configure(search_rows=200, refine_rows=250, evidence_rows=100)
    model = SRFFRegressor(**QUICK).fit(X, y)
    assert model.get_support(indices=True).tolist() == TRUE
    assert model.score(X_TEST, function(X_TEST)) > 0.9


def test_many_more_features_for_the_last_model(monkeypatch, configure):
    monkeypatch.setattr(problem, "N_COMPONENTS", (20, 30))
    configure(
        wide_features=128,
        free_features=50,
        wide_first=64,
        rows_per_frequency=(4, 4),
        race=np.inf,
    )
    model = SRFFRegressor(max_iter=8, random_state=0, validation=0.2).fit(X, y)
    kinds = model.path_["kind"]
    assert "wide" in kinds
    # The first draw, a larger one, and the mean.
    assert (kinds == "frequencies").sum() == 3
    assert model.get_support(indices=True).tolist() == TRUE
    assert model.score(X_TEST, function(X_TEST)) > 0.95


def test_a_variable_that_the_elimination_lost_comes_back():
    with prepare(
        X,
        y[:, None],
        None,
        np.random.RandomState(0),
        kernel=Gaussian(),
        n_components=40,
        budget=None,
        validation=0.2,
        n_jobs=1,
    ) as p:
        search = search_of(p, refine="metric")
        columns = np.array([1, 2])
        for point in (
            Metric(np.eye(2), p.E[columns], p.b),
            Scales(np.ones(2), p.E[columns], p.b),
            low_order_point(search, 2),
        ):
            start = Start("metric", columns, point, p.at_constant())
            lost = descend_penalties(search, start, np.array([1e-3, 1e-4]), p.loss)
            for way in grow(search, lost):
                assert {0, 1, 2} <= set(way.start.columns)
            lines = run([Line((search,), (way,)) for way in grow(search, lost)])
            grown = best_panel([line.best for line in lines])
            assert Judge((search,)).worse(panel_of((search,), [lost]), grown)


def test_scales_to_begin_from_may_be_fewer_than_are_asked_for():
    model = SRFFRegressor(
        **QUICK, solver="alternating", budget=1.0, alpha=1e-2, tol=0.5, n_features_to_select=10
    ).fit(X, y)
    assert 1 <= model.get_support().sum() <= 10


@pytest.mark.parametrize("loss", ["squared", "poisson"])
def test_a_quick_fit_finds_the_variables_with_few_evaluations(loss):
    rng = np.random.RandomState(0)
    X = rng.uniform(-2, 2, (400, 10))
    f = np.sin(2 * X[:, 0]) + X[:, 1]
    y = f + rng.normal(0, 0.2, 400) if loss == "squared" else rng.poisson(np.exp(f))
    options = {"loss": loss, "n_components": 100, "max_iter": 10, "random_state": 0}
    options["validation"] = 0.2
    quick = SRFFRegressor(effort="quick", **options).fit(X, y)
    full = SRFFRegressor(**options).fit(X, y)
    assert quick.get_support(indices=True).tolist() == [0, 1]
    assert 0 < quick.n_evaluations_ < full.n_evaluations_ / 1.2
    assert quick.model_kind_ in ("metric", "low order")


def test_a_quick_fit_of_free_frequencies_has_one_draw_of_them(ring):
    model = SRFFRegressor(
        effort="quick",
        refine="frequencies",
        n_components=30,
        max_iter=3,
        random_state=0,
        validation=0.2,
    ).fit(*ring)
    assert model.model_kind_ == "frequencies"
    assert model.offsets_.size == 30


def test_a_thorough_fit_tries_more(ring):
    options = {"n_components": 20, "max_iter": 2, "random_state": 0}
    plain = SRFFRegressor(**options).fit(*ring)
    thorough = SRFFRegressor(effort="thorough", **options).fit(*ring)
    assert thorough.n_evaluations_ > plain.n_evaluations_


def test_an_effort_that_is_not_known_is_refused(ring):
    with pytest.raises(ValueError, match="effort='lazy' is unknown; accepted: 'auto', 'quick'"):
        SRFFRegressor(effort="lazy").fit(*ring)


def test_what_is_kept_depends_on_how_strictly_it_must_be_missed():
    """A variable that removes 2 % of the error is seen by few rows, but not significantly."""
    rng = np.random.RandomState(0)
    X = rng.standard_normal((150, 4))
    y = X[:, 0] + 0.12 * X[:, 1] + rng.normal(0, 0.6, 150)
    options = {"n_components": 20, "max_iter": 3, "random_state": 0}
    kept = {
        keep: SRFFRegressor(keep=keep, **options).fit(X, y).get_support(indices=True).tolist()
        for keep in ("fewest", "auto", "best")
    }
    assert kept["fewest"] == [0]
    assert set(kept["fewest"]) <= set(kept["auto"]) <= set(kept["best"])
    assert 1 in kept["best"]


def test_a_way_to_keep_variables_that_is_not_known_is_refused(ring):
    with pytest.raises(ValueError, match="keep='all' is unknown; accepted: 'auto', 'fewest'"):
        SRFFRegressor(keep="all").fit(*ring)
