"""Arrays of other libraries and on other devices: the same model as from NumPy's."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from srff import RFFRegressor, SRFFRegressor, srff_path
from srff._utils.arrays import to_host
from srff.reproduction.baselines import RidgeBaseline

QUICK = {
    "solver": "alternating",
    "refine": None,
    "n_components": 20,
    "max_iter": 5,
    "tol": 0.1,
    "random_state": 0,
}
ESTIMATORS = [SRFFRegressor(**QUICK), RFFRegressor(n_components=40, random_state=0)]


def torch_on(device):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra: gpu)")
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    return lambda values: torch.as_tensor(values, device=device)


def torch_with_gradient():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra: gpu)")
    return lambda values: torch.tensor(values, requires_grad=True) * 1.0


def strict_on(device):
    xp = pytest.importorskip("array_api_strict")
    return lambda values: xp.asarray(values, device=xp.Device(device))


def cupy():
    xp = pytest.importorskip("cupy", reason="no CUDA device with CuPy")
    if not xp.cuda.is_available():
        pytest.skip("no CUDA device")
    return xp.asarray


LIBRARIES = {
    "torch": lambda: torch_on("cpu"),
    "torch-with-gradient": torch_with_gradient,
    "torch-cuda": lambda: torch_on("cuda"),
    "cupy": cupy,
    "strict": lambda: strict_on("CPU_DEVICE"),
    "strict-on-a-device": lambda: strict_on("device1"),
}


@pytest.fixture(
    params=[
        pytest.param(name, marks=pytest.mark.cuda if name in ("torch-cuda", "cupy") else ())
        for name in LIBRARIES
    ]
)
def give(request):
    """From a NumPy array to another library's."""
    return LIBRARIES[request.param]()


def test_the_same_numbers_come_back(give):
    for values in (np.arange(6.0).reshape(3, 2), np.arange(4, dtype=np.float32)):
        host = to_host(give(values))
        assert type(host) is np.ndarray
        assert host.dtype == values.dtype
        np.testing.assert_array_equal(host, values)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=["srff", "rff"])
def test_the_model_is_that_of_numpys_arrays(give, ring, estimator):
    X, y = ring
    weight = np.linspace(0.5, 1.5, 200)
    models = []
    for form in (lambda values: values, give):
        model = estimator.__class__(**estimator.get_params())
        model.set_params(validation=(form(X[200:]), form(y[200:])))
        model.fit(form(X[:200]), form(y[:200]), sample_weight=form(weight))
        models.append(model)
    plain, other = models
    given = give(X)
    np.testing.assert_array_equal(other.coefficients_, plain.coefficients_)
    prediction = other.predict(given)
    assert type(prediction) is np.ndarray
    np.testing.assert_array_equal(prediction, plain.predict(X))
    share = np.linspace(0.1, 1.0, 300)
    assert other.score(given, give(y), give(share)) == plain.score(X, y, share)


def test_columns_are_selected_from_them(give, ring):
    X, y = ring
    model = SRFFRegressor(alpha=1e-3, **QUICK).fit(X, y)
    support = model.get_support()
    given = give(X)
    chosen = model.transform(given)
    assert type(chosen) is np.ndarray
    np.testing.assert_array_equal(chosen, X[:, support])
    back = model.inverse_transform(give(chosen))
    np.testing.assert_array_equal(back[:, support], X[:, support])


def test_they_come_out_as_the_data_frame_that_is_asked_for(give, ring):
    pytest.importorskip("pandas")
    X, y = ring
    model = SRFFRegressor(alpha=1e-3, **QUICK).fit(X, y).set_output(transform="pandas")
    frame = model.transform(give(X))
    assert list(frame.columns) == list(model.get_feature_names_out())
    np.testing.assert_array_equal(frame, X[:, model.get_support()])


def test_the_path_and_the_baselines_take_them_too(give, ring):
    X, y = ring
    path = srff_path(give(X), give(y), alphas=give(np.array([1e-2, 1e-3])), **QUICK)
    plain = srff_path(X, y, alphas=[1e-2, 1e-3], **QUICK)
    np.testing.assert_array_equal(path.scales, plain.scales)
    baseline = RidgeBaseline(validation=(give(X), give(y)), random_state=0)
    baseline.fit(give(X), give(y))
    again = RidgeBaseline(validation=(X, y), random_state=0).fit(X, y)
    np.testing.assert_array_equal(baseline.predict(give(X)), again.predict(X))
    assert baseline.score(give(X), give(y)) == again.score(X, y)


def test_a_bad_value_is_still_named(give, ring):
    X, y = ring
    X = X.copy()
    X[7, 3] = np.nan
    with pytest.raises(ValueError, match="In column 3, row 7, there is nan"):
        SRFFRegressor().fit(give(X), give(y))


def test_half_precision_of_torch_is_read():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra: gpu)")
    values = [0.5, -2.0, 96.0]
    for dtype in (torch.float16, torch.bfloat16):
        np.testing.assert_array_equal(to_host(torch.tensor(values, dtype=dtype)), values)


def test_all_else_is_left_as_it_is():
    for thing in (np.arange(3), np.float64(2), [1.0, 2.0], None, sparse.csr_array((2, 2))):
        assert to_host(thing) is thing


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames_are_left_as_they_are(library):
    frames = pytest.importorskip(library)
    for thing in (frames.DataFrame({"a": [1.0]}), frames.Series([1.0])):
        assert to_host(thing) is thing


def test_cupys_arrays_are_copied_by_their_own_method(monkeypatch):
    class Array:
        def get(self):
            return np.arange(3.0)

        def __array__(self, *args, **kwargs):
            raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(ndarray=Array))
    np.testing.assert_array_equal(to_host(Array()), np.arange(3.0))


def test_an_array_that_knows_only_dlpack_is_read():
    class Array:
        def __dlpack__(self, **options):
            return np.arange(3.0).__dlpack__(**options)

        def __dlpack_device__(self):
            return (1, 0)

    np.testing.assert_array_equal(to_host(Array()), np.arange(3.0))
