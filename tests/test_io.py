"""Saved models: the same predictions after loading, and no file that does harm."""

from __future__ import annotations

import errno
import json
import os
import pickle
import resource
import subprocess
import sys
import tracemalloc
import warnings
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.preprocessing import OneHotEncoder, TargetEncoder

import srff
from srff import RFFRegressor, SRFFClassifier, SRFFRegressor
from srff.core.kernels import Gaussian, Matern
from srff.core.losses import Loss, Pinball, Poisson, Squared
from srff.data.encoding.frames import categorical_mask
from srff.data.scaling import Quantile
from srff.export.format.classes import CLASSES, OPTIONAL, put_together, taken_apart
from srff.export.format.container import (
    FORMAT,
    LARGEST_HEADER,
    OLDEST,
    packed,
    unpacked,
    with_checksum,
)
from srff.export.save import ModelFileError, load, save
from srff.reproduction.baselines import (
    SPAM,
    Denovas,
    HSICLasso,
    LassoBaseline,
    MeanBaseline,
    RidgeBaseline,
)

QUICK = {"n_components": 20, "max_iter": 3, "random_state": 0}
BASELINES = {"v2-denovas", "v2-hsic"}
GOLDEN = [
    path
    for path in sorted(Path(__file__).parent.glob("golden/*.srff"))
    if path.stem not in BASELINES
]
FUZZ = Path(__file__).parents[1] / "benchmarks" / "fuzz" / "models.py"
pytestmark = pytest.mark.filterwarnings(
    "ignore:The solver stopped", "ignore:The target is constant"
)


def rows(n=250):
    rng = np.random.RandomState(0)
    X = rng.standard_normal((n, 5))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + rng.normal(0, 0.1, n)


def table(n=250, seed=0):
    """Numbers, one of them with gaps, texts with gaps, truths and codes."""
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n, 5)).astype(object)
    X[rng.uniform(size=n) < 0.1, 1] = np.nan
    X[:, 2] = rng.choice(["red", "grün", "", None], n)
    X[:, 3] = rng.uniform(size=n) < 0.5
    X[:, 4] = rng.choice([-3, 7, 9], n)
    return X


def answer(X):
    """What depends on all columns of a table but the last."""
    numbers = np.nan_to_num(X[:, :2].astype(float), nan=2.0)
    return numbers.sum(axis=1) + 2.0 * (X[:, 2] == "red") - 1.5 * X[:, 3].astype(float)


def thirds(y):
    return np.array(["low", "middle", "high"])[np.digitize(y, np.quantile(y, [0.33, 0.67]))]


PLAIN = {"refine": None, "alpha": 0.01, "budget": 3.0}
TABLE = {"categorical_features": [2, 3, 4], "missing": "impute"}


def gaps(X):
    return np.where(np.random.RandomState(3).uniform(size=X.shape) < 0.1, np.nan, X)


MODELS = {
    "srff": lambda X, y: SRFFRegressor(**QUICK, inputs="standard").fit(X, y),
    "quantile": lambda X, y: SRFFRegressor(**QUICK, inputs="quantile").fit(np.exp(X), y),
    "paper": lambda X, y: SRFFRegressor(**QUICK, solver="alternating", refine=None).fit(X, y),
    "float32": lambda X, y: SRFFRegressor(**QUICK, refine=None, dtype=np.float32).fit(X, y),
    "constant": lambda X, y: SRFFRegressor(**QUICK).fit(X, np.ones(len(X))),
    "reduced": lambda X, y: SRFFRegressor(**QUICK).fit(X, X[:, 0]).reduced(),
    "targets": lambda X, y: SRFFRegressor(**QUICK).fit(X, np.column_stack([y, X[:, 0]])),
    "one target": lambda X, y: SRFFRegressor(**QUICK, refine=None).fit(X, y[:, None]),
    "poisson": lambda X, y: SRFFRegressor(**QUICK, loss="poisson").fit(X, np.exp(X[:, 0])),
    "groups": lambda X, y: SRFFRegressor(**QUICK, groups=[[0, 3]]).fit(X, X[:, 0]),
    "filled": lambda X, y: SRFFRegressor(**QUICK, missing="impute").fit(gaps(X), y),
    "table": lambda X, y: SRFFRegressor(**QUICK, **TABLE).fit(table(), answer(table())),
    "means": lambda X, y: (
        SRFFRegressor(**QUICK, **TABLE, categories="target", inputs="quantile")
        .fit(table(), answer(table()))
        .reduced()
    ),
    "two classes": lambda X, y: SRFFClassifier(**QUICK).fit(X, X[:, 0] > 0),
    "three classes": lambda X, y: SRFFClassifier(**QUICK, **PLAIN).fit(X, thirds(y)),
    "classes of a table": lambda X, y: SRFFClassifier(**QUICK, **PLAIN, **TABLE).fit(
        table(), thirds(answer(table()))
    ),
    "rff": lambda X, y: RFFRegressor(n_components=20, random_state=0).fit(X, y),
}


@pytest.fixture(scope="module")
def made():
    """Models by their names, each fitted once."""
    fitted = {}

    def model(name):
        if name not in fitted:
            fitted[name] = MODELS[name](*rows())
        return fitted[name]

    return model


@pytest.fixture
def content(made, tmp_path):
    """The bytes of a saved model."""

    def saved(name):
        path = tmp_path / "saved.srff"
        save(made(name), path, overwrite=True)
        return path.read_bytes()

    return saved


@pytest.fixture
def refused(tmp_path):
    """Loading bytes fails with one sentence, which is returned."""

    def loaded(data):
        path = tmp_path / "hostile.srff"
        path.write_bytes(data)
        with pytest.raises(ModelFileError) as caught:
            load(path)
        message = str(caught.value)
        assert message.startswith(str(path))
        assert message.isprintable()
        assert len(message) < 600
        return message

    return loaded


def same(one, other):
    """Whether two attributes hold the same numbers and texts, of the same types."""
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        assert one.flags.f_contiguous == other.flags.f_contiguous
        np.testing.assert_array_equal(one, other)
    elif isinstance(one, dict):
        assert list(one) == list(other)
        for key in one:
            same(one[key], other[key])
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for pair in zip(one, other, strict=True):
            same(*pair)
    elif type(one).__module__.startswith(("srff", "sklearn")):
        assert type(one) is type(other)
        same(vars(one), vars(other))
    else:
        assert one == other or (one != one and other != other)


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_predicts_the_same_bits(name, made, tmp_path):
    model = made(name)
    save(model, tmp_path / "m.srff")
    X = 1.5 * np.random.RandomState(1).standard_normal((3000, model.n_features_in_))
    if any(levels is not None for levels in getattr(model, "levels_", None) or ()):
        X = table(3000, seed=1)
        X[:50, 2] = "violet"
        X = X[:, : model.n_features_in_]
    loaded = load(tmp_path / "m.srff")
    assert type(loaded) is type(model)
    assert loaded.predict(X).dtype == model.predict(X).dtype
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    if isinstance(model, SRFFClassifier):
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
        assert not hasattr(loaded, "_outcome")
    for attribute in [each for each in vars(model) if each.endswith("_")]:
        same(getattr(model, attribute), getattr(loaded, attribute))


@pytest.mark.parametrize("name", MODELS)
def test_every_fitted_attribute_has_its_place_in_the_format(name, made):
    model = made(name)
    known = set(CLASSES[type(model).__name__].fitted)
    found = {attribute for attribute in vars(model) if attribute.endswith("_")}
    assert found - set(OPTIONAL) == known - set(OPTIONAL)
    assert found <= known


@pytest.mark.parametrize("name", CLASSES)
def test_a_model_that_is_not_fitted_is_saved_as_such(name, tmp_path):
    model = CLASSES[name].make().set_params(random_state=7)
    save(model, tmp_path / "m.srff")
    loaded = load(tmp_path / "m.srff")
    assert loaded.get_params() == model.get_params()
    assert vars(loaded) == vars(model)


def test_parameters_that_are_plain_data_are_kept(tmp_path):
    given = {
        "kernel": Matern(nu=2),
        "n_components": np.int64(7),
        "alpha": np.float32(0.5),
        "validation": 0.25,
        "dtype": "float32",
        "device": "cuda:1",
        "memory_limit": "500MB",
        "n_jobs": -2,
        "verbose": True,
    }
    save(SRFFRegressor(**given), tmp_path / "m.srff")
    kept = load(tmp_path / "m.srff").get_params()
    assert kept == SRFFRegressor(**given).get_params()
    del given["kernel"]
    given |= {
        "groups": {"wind": ["a", "b"], 3: [2, 4]},
        "n_features_to_select": np.int64(3),
        "categorical_features": ["a"],
        "missing": "impute",
    }
    more = {"loss": Pinball(0.9), "target_weights": [1.0, 2], "categories": "onehot"}
    save(SRFFRegressor(**given, **more), tmp_path / "s.srff")
    kept = load(tmp_path / "s.srff").get_params()
    assert kept == SRFFRegressor(**given, **more).get_params()
    more = {"class_weight": {0: 1.5, True: 2, "x": 1}, "categories": "target"}
    save(SRFFClassifier(**given, **more), tmp_path / "k.srff")
    kept = load(tmp_path / "k.srff").get_params()
    assert kept == SRFFClassifier(**given, **more).get_params()
    save(RFFRegressor(Gaussian(), dtype=np.float64), tmp_path / "r.srff")
    assert load(tmp_path / "r.srff").get_params()["kernel"] == Gaussian()
    assert load(tmp_path / "r.srff").get_params()["dtype"] == "float64"


def test_parameters_that_are_not_plain_data_have_their_defaults_after_loading(tmp_path):
    X, y = rows(100)
    model = RFFRegressor(
        n_components=10,
        validation=(X[:50], y[:50]),
        random_state=np.random.RandomState(0),
        callback=print,
    ).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        save(model, tmp_path / "m.srff")
        save(SRFFRegressor(checkpoint=tmp_path), tmp_path / "c.srff")
    loaded = load(tmp_path / "m.srff")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert (loaded.validation, loaded.random_state, loaded.callback) == (None, None, None)
    assert loaded.n_components == 10
    assert load(tmp_path / "c.srff").checkpoint is None


@pytest.mark.parametrize(
    ("name", "given", "loaded"),
    [
        ("groups", np.array([0, 0, 1]), [0, 0, 1]),
        ("groups", ("a", "a", "b"), ["a", "a", "b"]),
        ("groups", [range(2), np.array([2])], [[0, 1], [2]]),
        ("categorical_features", np.array([True, False]), [True, False]),
        ("categorical_features", None, None),
        ("categorical_features", (), []),
        ("target_weights", np.ones(2), [1.0, 1.0]),
        ("target_weights", "equal", "equal"),
        ("loss", Poisson(), Poisson()),
        ("loss", Squared(), Squared()),
    ],
)
def test_a_parameter_may_be_any_kind_of_list(name, given, loaded, tmp_path):
    save(SRFFRegressor(**{name: given}), tmp_path / "m.srff")
    assert load(tmp_path / "m.srff").get_params()[name] == loaded


@pytest.mark.parametrize(
    "encoder",
    [
        OneHotEncoder(handle_unknown="ignore", min_frequency=5, dtype=np.float32),
        OneHotEncoder(drop="first", max_categories=np.int64(4), min_frequency=0.25),
        TargetEncoder(cv=3, smooth=2.0, shuffle=False, random_state=7),
    ],
    ids=repr,
)
def test_an_encoder_with_plain_settings_is_kept(encoder, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        save(SRFFRegressor(categories=encoder), tmp_path / "m.srff")
    kept = load(tmp_path / "m.srff").categories
    assert type(kept) is type(encoder)
    assert kept.get_params() == encoder.get_params()


def test_an_encoder_with_code_in_it_is_left_out_with_a_warning(tmp_path):
    class Other(OneHotEncoder):
        pass

    for encoder in (TargetEncoder(cv=KFold(3)), OneHotEncoder(dtype=object), Other()):
        with pytest.warns(UserWarning, match="categories=.*is code, which is not saved"):
            save(SRFFRegressor(categories=encoder), tmp_path / "m.srff", overwrite=True)
        assert load(tmp_path / "m.srff").categories == "auto"


def test_a_loss_of_the_users_own_is_left_out_if_predictions_do_not_need_it(tmp_path):
    class Huber(Pinball):
        pass

    class Rate(Poisson):
        pass

    X, y = rows(100)
    model = SRFFRegressor(**QUICK, loss=Huber(0.5)).fit(X, y)
    with pytest.warns(UserWarning, match="loss=.*is code, which is not saved") as caught:
        save(model, tmp_path / "m.srff")
    assert caught[0].filename == __file__
    loaded = load(tmp_path / "m.srff")
    assert loaded.loss == "squared"
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert Huber.prediction is Loss.prediction
    with pytest.raises(ValueError, match=r"loss=.*Rate\(\) has a prediction of its own"):
        save(SRFFRegressor(loss=Rate()), tmp_path / "r.srff")


@pytest.mark.parametrize(
    "classes",
    [
        np.array(["b", "größe", ""]),
        np.array(["b", "a", "c"], dtype=object),
        np.array([True, False]),
        np.array([3, -1, 2**40]),
        np.array([3, 200], dtype=np.uint8),
        np.array([1.0, 2.0, -3.0], dtype=np.float32),
    ],
    ids=lambda classes: f"{classes.dtype}",
)
def test_classes_of_every_type_are_kept(classes, made, tmp_path):
    model = pickle.loads(
        pickle.dumps(made("two classes" if classes.size == 2 else "three classes"))
    )
    model.classes_ = np.unique(classes)
    save(model, tmp_path / "m.srff")
    same(load(tmp_path / "m.srff").classes_, model.classes_)
    X, _ = rows()
    same(load(tmp_path / "m.srff").predict(X), model.predict(X))


def test_a_table_of_a_data_frame_is_predicted_after_loading(tmp_path):
    pd = pytest.importorskip("pandas", reason="pandas is not installed (extra: data)")
    X = table()
    frame = pd.DataFrame({"a": X[:, 0].astype(float), "colour": pd.Categorical(X[:, 2])})
    frame["on"] = X[:, 3].astype(bool)
    frame["level"] = pd.Series([0.5, 1e300, -np.inf] * 83 + [0.5])
    settings = {"missing": "impute", "categorical_features": ["level"], "categories": "onehot"}
    model = SRFFRegressor(**QUICK, **settings).fit(frame, answer(X)).set_output(transform="pandas")
    save(model, tmp_path / "m.srff")
    loaded = load(tmp_path / "m.srff")
    same(loaded.levels_, model.levels_)
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))
    assert list(loaded.transform(frame).columns) == list(model.transform(frame).columns)
    assert repr(loaded) == repr(model)


def test_a_kernel_of_the_users_own_is_left_out_with_a_warning(tmp_path):
    X, y = rows(100)

    def logistic(rng, size):
        return rng.logistic(size=size)

    model = RFFRegressor(logistic, n_components=10, random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="is code, which is not saved") as caught:
        save(model, tmp_path / "m.srff")
    assert caught[0].filename == __file__
    loaded = load(tmp_path / "m.srff")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.kernel == "gaussian"
    _, about = unpacked((tmp_path / "m.srff").read_bytes())
    assert "logistic" in about["left_out"]["kernel"]


def test_names_texts_and_the_kind_of_output_are_kept(tmp_path):
    pd = pytest.importorskip("pandas", reason="pandas is not installed (extra: data)")
    X, y = rows()
    table = pd.DataFrame(np.exp(X), columns=["a", "größe", "", "d e\n", "x" * 300])
    model = SRFFRegressor(**QUICK, inputs="quantile").fit(table, y).set_output(transform="pandas")
    save(model, tmp_path / "m.srff")
    loaded = load(tmp_path / "m.srff")
    np.testing.assert_array_equal(loaded.feature_names_in_, model.feature_names_in_)
    np.testing.assert_array_equal(loaded.predict(table), model.predict(table))
    assert isinstance(loaded.input_map_, Quantile)
    assert loaded.path_["kind"].tolist() == model.path_["kind"].tolist()
    assert list(loaded.transform(table).columns) == list(model.transform(table).columns)


def test_a_matrix_keeps_its_order_in_memory(made, tmp_path):
    model = pickle.loads(pickle.dumps(made("rff")))
    model.frequencies_ = np.asfortranarray(model.frequencies_)
    save(model, tmp_path / "m.srff")
    assert load(tmp_path / "m.srff").frequencies_.flags.f_contiguous


@pytest.mark.parametrize("fitted_on", ["cpu", pytest.param("cuda", marks=pytest.mark.cuda)])
def test_a_model_for_a_gpu_is_loaded_on_the_cpu(fitted_on, tmp_path):
    if fitted_on == "cuda":
        torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra: gpu)")
        if not torch.cuda.is_available():
            pytest.skip("no CUDA device")
    X, y = rows()
    model = SRFFRegressor(**QUICK, device=fitted_on).fit(X, y).set_params(device="cuda")
    save(model, tmp_path / "m.srff")
    loaded = load(tmp_path / "m.srff")
    assert loaded.device == "cuda"
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_a_file_is_not_overwritten_unless_it_is_allowed(made, tmp_path, monkeypatch):
    path = tmp_path / "m.srff"
    path.write_text("mine")
    with pytest.raises(FileExistsError, match=r"m\.srff is there already; overwrite=True"):
        save(made("constant"), path)
    monkeypatch.setattr(os.path, "lexists", lambda path: False)  # it comes a moment later
    with pytest.raises(FileExistsError, match=r"m\.srff is there already"):
        save(made("constant"), path)
    monkeypatch.undo()
    assert path.read_text() == "mine"
    assert [p.name for p in tmp_path.iterdir()] == ["m.srff"]
    save(made("constant"), path, overwrite=True)
    assert load(path).intercept_ == made("constant").intercept_


def test_saving_through_a_link_replaces_what_it_stands_for(made, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "m.srff")
    save(made("constant"), tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert load(tmp_path / "m.srff").intercept_ == made("constant").intercept_


def test_a_full_disk_leaves_the_old_file(made, tmp_path):
    path = tmp_path / "m.srff"
    save(made("constant"), path)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(OSError, match=r"m\.srff cannot be written: File too large") as caught:
            save(made("srff"), path, overwrite=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert caught.value.errno == errno.EFBIG
    assert load(path).model_kind_ == "mean"
    assert [p.name for p in tmp_path.iterdir()] == ["m.srff"]


def test_a_folder_that_is_not_there_is_named(made, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere/m\.srff cannot be written: No such file"):
        save(made("constant"), tmp_path / "nowhere" / "m.srff")
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nowhere" / "m.srff")


def test_what_could_not_be_loaded_is_not_saved(made, tmp_path):
    path = tmp_path / "m.srff"
    with pytest.raises(TypeError, match=r"model is a Ridge; accepted are SRFFRegressor, .*joblib"):
        save(Ridge(), path)
    with pytest.raises(ValueError, match="the parameter alpha is -1, which is not accepted"):
        save(SRFFRegressor(alpha=-1), path)
    with pytest.raises(ValueError, match="alpha=nan is not a finite number"):
        save(SRFFRegressor(alpha=np.nan), path)
    with pytest.raises(ValueError, match=r"solver=\[\] is not"):
        save(SRFFRegressor(solver=[]), path)
    with pytest.raises(ValueError, match=r"groups=datetime.*is not a finite number, a text"):
        save(SRFFRegressor(groups=[np.datetime64("2020")]), path)
    with pytest.raises(ValueError, match=r"the parameter class_weight is .*not accepted"):
        save(SRFFClassifier(class_weight={"a": 0}), path)
    odd = pickle.loads(pickle.dumps(made("two classes")))
    odd.classes_ = np.array(["2020", "2021"], dtype="datetime64[Y]")
    with pytest.raises(ValueError, match="classes_ are of the type datetime64"):
        save(odd, path)
    odd.classes_ = np.array([1, 2**64 - 1], dtype=np.uint64)
    with pytest.raises(ValueError, match="classes_ has 18446744073709551615, which is too much"):
        save(odd, path)
    half = pickle.loads(pickle.dumps(made("rff")))
    del half.coefficients_
    with pytest.raises(ValueError, match=r"it lacks coefficients_\. Fit it again"):
        save(half, path)
    broken = pickle.loads(pickle.dumps(made("rff")))
    broken.coefficients_ = broken.coefficients_ * np.nan
    with pytest.raises(ValueError, match="cannot be saved: coef_ has nan"):
        save(broken, path)
    assert not list(tmp_path.iterdir())


def test_a_fit_that_failed_is_not_a_fitted_model(tmp_path):
    model = SRFFClassifier(**TABLE, groups=[[0, 17]])
    with pytest.raises(ValueError, match="groups has column 17"):
        model.fit(table(), thirds(answer(table())))
    save(model, tmp_path / "m.srff")
    for either in (model, load(tmp_path / "m.srff")):
        assert not {"n_features_in_", "levels_", "classes_"} & set(vars(either))


def test_pickle_and_joblib_go_on_working(made, tmp_path):
    X, _ = rows()
    for name in ("srff", "quantile", "rff", "three classes"):
        joblib.dump(made(name), tmp_path / "m.joblib")
        for copy in (joblib.load(tmp_path / "m.joblib"), pickle.loads(pickle.dumps(made(name)))):
            np.testing.assert_array_equal(copy.predict(X), made(name).predict(X))


def test_files_are_those_of_the_safetensors_package(made, content):
    reader = pytest.importorskip(
        "safetensors.numpy", reason="safetensors is not installed (extra: test)"
    )
    for name in ("quantile", "three classes"):
        data = content(name)
        arrays, _ = unpacked(data)
        theirs = reader.load(data)
        assert theirs.keys() == arrays.keys()
        for key, array in arrays.items():
            np.testing.assert_array_equal(theirs[key], array)
            assert theirs[key].dtype == array.dtype


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_files_of_every_released_format_are_loaded(path):
    stored = np.load(path.with_suffix(".npz"))
    model = load(path)
    if "X" in stored:
        X = stored["X"]
    else:
        colour = np.where(stored["colour"] == "?", None, stored["colour"].astype(object))
        numbers = stored["numbers"].astype(object)
        X = np.column_stack([numbers, colour, stored["flag"], stored["code"]])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        y = model.predict(X)
    if "p" in stored:
        assert y.tolist() == stored["y"].tolist()
        np.testing.assert_allclose(model.predict_proba(X), stored["p"], rtol=0, atol=1e-9)
    else:
        np.testing.assert_allclose(y, stored["y"], rtol=1e-9, atol=1e-9)


def test_there_are_files_of_every_released_format():
    names = ("standard", "quantile", "targets", "poisson", "classifier")
    for number in range(OLDEST, FORMAT + 1):
        expected = {f"v{number}-rff", *(f"v{number}-srff-{name}" for name in names)}
        assert {path.stem for path in GOLDEN} >= expected


def test_a_file_from_before_folds_says_nothing_of_new_rows():
    folder = Path(__file__).parent / "golden"
    old, new = load(folder / "v3-srff-standard.srff"), load(folder / "v4-srff-standard.srff")
    assert (old.keep, old.n_folds_, old.fold_agreement_) == ("fewest", 0, None)
    assert np.isnan([old.expected_error_, old.expected_error_se_, old.judged_rows_]).all()
    assert (new.keep, new.n_folds_, new.judged_rows_) == ("auto", 5, 200)
    assert new.expected_error_ > new.expected_error_se_ > 0
    assert new.fold_agreement_[new.get_support()].min() > 0


@pytest.mark.parametrize("name", sorted(BASELINES))
def test_a_file_that_holds_a_baseline_says_that_there_are_no_such_files_any_more(name):
    path = Path(__file__).parent / "golden" / f"{name}.srff"
    with pytest.raises(ModelFileError, match="baselines are no longer stored as model files"):
        load(path)


@pytest.mark.parametrize(
    "make", [MeanBaseline, RidgeBaseline, LassoBaseline, SPAM, HSICLasso, Denovas]
)
def test_a_baseline_is_not_saved(make, tmp_path):
    accepted = f"a {make.__name__}; accepted are SRFFRegressor, SRFFClassifier, RFFRegressor"
    with pytest.raises(TypeError, match=accepted):
        save(make(), tmp_path / "m.srff")
    assert not list(tmp_path.iterdir())


# Hostile files.


def test_damage_anywhere_is_found(content, refused):
    data = bytearray(content("rff"))
    for position in range(0, len(data), 97):
        damaged = data.copy()
        damaged[position] ^= 4
        refused(bytes(damaged))
    for length in (0, 7, 8, 9, 500, len(data) - 1):
        refused(bytes(data[:length]))
    assert "is damaged: its checksum does not match" in refused(bytes([*data[:-1], data[-1] ^ 1]))
    assert "cut off or damaged" in refused(bytes(data) + b"\0")


def test_what_is_not_a_file_of_ours_is_refused(refused, tmp_path):
    def safetensors(text):
        return len(text).to_bytes(8, "little") + text

    assert "not in the safetensors format" in refused(b"PK\x03\x04" + bytes(100))
    assert "not in the safetensors format" in refused(pickle.dumps(SRFFRegressor()))
    assert "not JSON" in refused(safetensors(b"{'a': 1}"))
    assert "not JSON" in refused(safetensors(b"\xff\xfe\xfd"))
    assert "not a JSON object" in refused(safetensors(b"[]"))
    assert "nested too deeply" in refused(safetensors(b"[" * 500_000))
    assert "srff did not write it" in refused(safetensors(b'{"__metadata__": {"format": "pt"}}'))
    assert "a key twice" in refused(safetensors(b'{"a": 1, "a": 1}'))
    assert "is longer than" in refused((LARGEST_HEADER + 1).to_bytes(8, "little") + bytes(2**21))
    with pytest.raises(ModelFileError, match="it is not a file"):
        load(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="it is not a file"):
        load(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="it is not a file"):
        load("/dev/zero")


def test_a_huge_file_is_refused_by_its_header_alone(content, tmp_path):
    path = tmp_path / "huge.srff"
    path.write_bytes(content("rff"))
    os.truncate(path, 2**36)  # no blocks on the disk, and more than fits in memory
    with pytest.raises(ModelFileError, match=r"bytes of tensors, 68719\d+ of them there"):
        load(path)


@pytest.mark.parametrize(("other", "needed"), [("7", "9.9 or newer"), ("1", "9.9 to be read")])
def test_another_format_says_what_it_needs(other, needed, content, refused):
    data = content("rff")
    length = int.from_bytes(data[:8], "little")
    header = data[8 : 8 + length].replace(
        b'"srff_format":"6"', b'"srff_format":"%s"' % other.encode()
    )
    header = header.replace(
        b'"srff_version":"%s"' % srff.__version__.encode(), b'"srff_version":"9.9"'
    )
    message = refused(len(header).to_bytes(8, "little") + header + data[8 + length :])
    assert f"in format {other}, and srff {srff.__version__} reads formats 2 to 6" in message
    assert f"it needs srff {needed}" in message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dtype": "F16"}, "has the type 'F16'"),
        ({"dtype": "F32"}, "is expected"),
        ({"shape": [2**40, 2**40]}, "has the shape"),
        ({"shape": [20, 20]}, "is expected"),
        ({"shape": [-20]}, "has the shape"),
        ({"shape": [20, 1, 1]}, "has the shape"),
        ({"shape": [20.0]}, "has the shape"),
        ({"shape": "20"}, "has the shape"),
        ({"data_offsets": [0, 2**50]}, "is expected"),
        ({"data_offsets": None}, "is expected"),
        ({"path": "/etc/passwd"}, "unknown 'path'"),
    ],
)
def test_a_tensor_must_be_what_its_place_says(change, message, content, refused):
    assert message in refused(with_place(content("rff"), "offsets_", change))


@pytest.mark.parametrize("shape", [[0, 2**62], [0, 2**63], [2**62, 0]])
def test_a_tensor_without_entries_has_no_giant_side(shape, content, refused):
    hostile = with_place(content("constant"), "frequencies_", {"shape": shape})
    assert "'frequencies_' has the shape" in refused(hostile)


def with_place(data, name, change):
    """A file in which the header says other things of a tensor."""
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    header[name] |= change
    header["__metadata__"]["checksum"] = "0" * 64
    text = json.dumps(header).encode()
    return with_checksum(len(text).to_bytes(8, "little") + text + data[8 + length :])


def refusals():
    """A change of the arrays and the description of a model, and a part of the message."""

    def array(name, change):
        return lambda arrays, about: arrays.update({name: change(arrays[name].copy())})

    def entry(name, index, value):
        def change(a):
            a[index] = value
            return a

        return array(name, change)

    def drop(name):
        return lambda arrays, about: arrays.pop(name)

    def value(name, new):
        return lambda arrays, about: about["values"].update({name: new})

    def parameter(name, new):
        return lambda arrays, about: about["parameters"].update({name: new})

    def about(name, new):
        return lambda arrays, about: about.update({name: new})

    return [
        ("rff", about("class", "os.system"), "its class is 'os.system'; known are"),
        ("rff", about("class", ["RFFRegressor"]), "its class is"),
        ("rff", about("class", "SPAM"), "it holds a SPAM, and baselines are no longer stored"),
        ("rff", about("more", 1), "unknown 'more'"),
        ("rff", about("fitted", 1), "fitted is neither"),
        ("rff", about("fitted", False), "no part of such a model"),
        ("rff", about("output", "os"), "output is 'os'"),
        ("rff", about("column_major", [[]]), "column_major is not"),
        ("rff", about("column_major", ["x"]), "'x', which is no part"),
        ("rff", about("left_out", {"alpha": "x"}), "left_out has 'alpha'"),
        ("rff", about("left_out", {"\x1b[2J": "x"}), r"unknown '\x1b[2J'"),
        ("rff", about("values", []), "values is not a JSON object"),
        ("rff", parameter("__class__", "x"), "unknown '__class__'"),
        ("rff", parameter("kernel", {"name": "Custom", "sampler": "x"}), "kernel is"),
        ("rff", parameter("kernel", {"name": "Matern", "nu": -1}), "nu of the kernel is -1"),
        ("rff", parameter("kernel", {"name": "Matern", "nu": [1]}), "nu of the kernel"),
        ("rff", parameter("n_components", 0), "n_components is 0"),
        ("rff", parameter("n_components", True), "n_components is True"),
        ("rff", parameter("device", "../x"), "device is '../x'"),
        ("rff", parameter("memory_limit", "1B"), "too small"),
        ("rff", parameter("n_jobs", 0), "n_jobs is 0"),
        ("rff", parameter("n_jobs", 10**9), "n_jobs is 1000000000"),
        ("rff", parameter("callback", "print"), "callback is 'print'"),
        ("srff", parameter("checkpoint", "/tmp"), "checkpoint is '/tmp'"),
        ("rff", parameter("random_state", 2**32), "random_state is"),
        ("rff", value("intercept_", "nan"), "intercept_ is 'nan'"),
        ("rff", value("intercept_", 1), "intercept_ is 1; a float"),
        ("rff", value("intercept_", True), "intercept_ is True"),
        ("rff", value("n_features_in_", 6), "center_ has 5 encoded columns; 6 are expected"),
        ("rff", value("n_features_in_", 5.0), "n_features_in_ is 5.0"),
        ("rff", value("block_dtype_", "object"), "block_dtype_ is 'object'"),
        ("rff", value("model_kind_", "x" * 1000), "model_kind_ is"),
        ("rff", value("model_kind_", "a\nb"), "model_kind_ is"),
        ("rff", value("input_map_", "os"), "input_map_ is 'os'"),
        ("rff", value("__dict__", 1), "'__dict__', which is no part"),
        ("rff", drop("coef_"), "lacks the tensor coef_"),
        ("rff", array("coef_", lambda a: a[:-1]), "coef_ has 19 components; 20 are expected"),
        ("rff", array("coef_", lambda a: a[:, None]), "coef_ has 2 dimensions"),
        ("rff", array("coef_", lambda a: a.astype(np.int64)), "coef_ is of the type int64"),
        ("rff", entry("coef_", 3, np.nan), "coef_ has nan"),
        ("rff", array("coef_", lambda a: a + 9e299), "coef_ has numbers that are too large"),
        ("rff", entry("frequencies_", (0, 0), np.inf), "frequencies_ has inf"),
        ("rff", array("frequencies_", lambda a: a[1:]), "has 4 columns in use; 5 are expected"),
        ("rff", array("frequencies_", lambda a: a.T), "has 20 columns in use; 5 are expected"),
        ("rff", entry("scale_", 0, 0.0), "columns_ has columns whose scale_ is zero"),
        ("srff", entry("fold_agreement_", 0, 1.5), "fold_agreement_ has 1.5; accepted is 0 to 1"),
        ("srff", array("fold_agreement_", lambda a: a[1:]), "fold_agreement_ has 4 columns"),
        ("srff", value("n_folds_", 0), "n_folds_ does not fit fold_agreement_"),
        ("rff", value("n_folds_", 5), "n_folds_ does not fit fold_agreement_"),
        ("rff", value("expected_error_", "low"), "expected_error_ is 'low'"),
        ("srff", parameter("keep", "all"), "keep is 'all'"),
        ("reduced", entry("columns_", 0, 1), "columns_ are not rising positions below 1"),
        (
            "constant",
            entry("scale_", 0, 1.0),
            "scale_ selects 1 variables, columns_ has",
        ),
        ("rff", value("n_targets_", 1), "coef_ has 1 dimensions in place of 2"),
        ("targets", value("n_targets_", None), "coef_ has 2 dimensions in place of 1"),
        ("targets", value("n_targets_", 3), "coef_ has 2 outputs; 3 are expected"),
        ("targets", value("n_targets_", 0), "n_targets_ is 0"),
        ("targets", array("intercept_", lambda a: a[:1]), "intercept_ has 1 outputs"),
        ("targets", drop("path_.loss.values"), "lacks the tensor path_.loss.values"),
        ("poisson", parameter("loss", "huber"), "loss is 'huber'"),
        ("poisson", parameter("loss", {"name": "Pinball", "quantile": 2, "smoothing": 1}), "is 2"),
        ("poisson", parameter("loss", {"name": "Pinball", "quantile": 0.5}), "loss is"),
        ("poisson", parameter("loss", {"name": "Scores"}), "loss is {'name': 'Scores'}"),
        ("poisson", parameter("target_weights", [1.0, -1.0]), "target_weights is [1.0, -1.0]"),
        ("poisson", parameter("target_weights", []), "target_weights is []"),
        ("poisson", parameter("n_features_to_select", 0), "n_features_to_select is 0"),
        ("poisson", parameter("missing", "drop"), "missing is 'drop'"),
        ("poisson", parameter("categories", {"name": "os"}), "categories is {'name': 'os'}"),
        ("poisson", parameter("categories", {"name": "TargetEncoder"}), "TargetEncoder lacks"),
        ("poisson", parameter("categorical_features", [0]), "levels_ has as numbers"),
        ("poisson", parameter("categorical_features", [1.5]), "categorical_features is [1.5]"),
        ("poisson", parameter("categorical_features", ["a"]), "columns of X have no names"),
        ("groups", parameter("groups", [[0, 5]]), "groups has column 5; there are 5 columns"),
        ("groups", parameter("groups", [0, 1]), "groups has 2 labels; there are 5 columns"),
        ("groups", parameter("groups", [[[0]]]), "groups is [[[0]]]"),
        ("groups", parameter("groups", [[0, 1], 2]), "groups is [[0, 1], 2]"),
        ("groups", parameter("groups", {"a": [0]}), "groups lacks 'keys'"),
        ("groups", parameter("groups", {"keys": [1, True], "values": [[0], [1]]}), "a key twice"),
        ("groups", parameter("groups", {"keys": [1], "values": []}), "groups is {'keys'"),
        ("table", value("levels_", 1), "levels_ is 1; true or false"),
        ("table", value("encoding_", False), "encoding_ does not fit levels_"),
        ("table", entry("levels_.kinds", 4, 9), "labels of kind 9"),
        ("table", entry("levels_.kinds", 0, 1), "encoding_.fill has 2 numbers; 1 are expected"),
        ("table", entry("levels_.kinds", 2, 0), "3 labels of kind 0, which are not there"),
        ("table", entry("levels_.sizes", 4, 2), "more labels than its columns"),
        ("table", entry("levels_.sizes", 4, 2**62), "which are not there"),
        ("table", entry("levels_.integers", 0, 8), "not sorted, or twice"),
        ("table", entry("levels_.truths", 1, False), "not sorted, or twice"),
        ("table", entry("encoding_.fill", 0, 1e305), "too large"),
        ("table", entry("encoding_.fill", 0, 1e20), "too far from center_"),
        ("table", entry("encoding_.table", 0, 1e20), "too far from center_"),
        ("table", entry("encoding_.table", 0, np.inf), "numbers that are too large"),
        ("table", entry("encoding_.table", 0, np.nan), "NaN in part"),
        ("table", entry("encoding_.value", 0, False), "gives no column"),
        ("table", entry("encoding_.indicator", 0, True), "encoded columns"),
        ("table", entry("encoding_.width", 0, 3), "do not fit their levels"),
        ("table", entry("encoding_.width", 0, 2**62), "do not fit their levels"),
        ("table", array("encoding_.table", lambda a: a[1:]), "do not fit their levels"),
        ("two classes", value("classes_", "object"), "classes_ are not of the type object"),
        ("two classes", value("classes_", "void"), "classes_ are of the type 'void'"),
        ("two classes", array("classes_.truths", lambda a: a[:1]), "which are not there"),
        ("three classes", value("classes_", "int64"), "not of the type int64"),
        ("three classes", entry("classes_.sizes", 0, 2), "more labels"),
        ("three classes", entry("classes_.texts.lengths", 0, 3), "do not add up"),
        ("three classes", array("coef_", lambda a: a[:, :2]), "coef_ has 2 outputs"),
        ("three classes", parameter("class_weight", "even"), "class_weight is 'even'"),
        ("three classes", parameter("class_weight", {"keys": ["a"], "values": ["b"]}), "weight is"),
        ("three classes", about("class", "SRFFRegressor"), "lacks"),
        ("rff", entry("scale_", 0, -1.0), "scale_ has -1.0"),
        ("rff", entry("spread_", 0, 0.0), "spread_ has 0.0"),
        ("rff", entry("spread_", 0, 3.0), "input_map_ does not fit center_ and spread_"),
        ("rff", array("path_.alpha", lambda a: a[1:]), "rows of path_"),
        ("rff", entry("path_.kind.lengths", 0, 2**62), "do not add up"),
        ("rff", array("path_.kind.values", lambda a: a | 128), "not UTF-8"),
        ("quantile", entry("input_map_.knots.values", 0, 1e9), "knots that do not rise"),
        ("quantile", entry("input_map_.scores.values", 0, 1e31), "scores that are too large"),
        ("quantile", entry("input_map_.scores.lengths", 0, -1), "do not add up"),
    ]


@pytest.mark.parametrize(
    ("name", "change", "message"), refusals(), ids=[f"{c[0]}: {c[2]}" for c in refusals()]
)
def test_parts_that_do_not_fit_together_are_refused(name, change, message, content, refused):
    arrays, about = unpacked(content(name))
    change(arrays, about)
    assert message in refused(packed(arrays, about))


def test_truth_values_are_zero_or_one(content, refused):
    arrays, about = unpacked(content("rff"))
    arrays["path_.stopped"] = (arrays["path_.stopped"].view(np.uint8) + 2).view(bool)
    assert "neither 0 nor 1" in refused(packed(arrays, about))


@pytest.mark.parametrize("literal", ["NaN", "1e999", "9" * 30, "[" * 3000, '1, "intercept_": 2'])
def test_json_that_only_some_readers_accept_is_refused(literal, content, refused):
    data = content("constant")
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    model = json.loads(header["__metadata__"]["model"])
    number = json.dumps(model["values"]["intercept_"])
    header["__metadata__"] |= {
        "checksum": "0" * 64,
        "model": header["__metadata__"]["model"].replace(number, literal),
    }
    text = json.dumps(header).encode()
    refused(with_checksum(len(text).to_bytes(8, "little") + text + data[8 + length :]))


@pytest.mark.skipif(not FUZZ.exists(), reason="benchmarks are not in this copy of the sources")
@pytest.mark.slow
def test_mutated_files_are_refused_or_right():
    command = [sys.executable, str(FUZZ), "--count", "400", "--seed", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_side_of_a_tensor_is_longer_than_the_file(content, refused):
    data = content("constant")
    for shape in ([0, 2**40], [0, 2**31], [0, len(data)]):
        hostile = with_place(data, "frequencies_", {"shape": shape})
        assert "'frequencies_' has the shape" in refused(hostile)


@pytest.mark.parametrize("kind", ["str", "object"])
def test_one_long_class_does_not_take_its_room_for_each_of_the_others(kind, tmp_path):
    model = SRFFClassifier(**QUICK).fit(rows()[0], thirds(rows()[1]))
    n = 20_000
    long = np.array(["a" * 500_000, *(f"b{k:05d}" for k in range(n - 1))], dtype=object)
    parts, about = unpacked(packed(*_apart(model)))
    lengths = np.array([len(text) for text in long], dtype=np.int64)
    letters = np.frombuffer("".join(long).encode(), np.uint8)
    about["values"]["classes_"] = kind
    parts |= {
        "classes_.sizes": np.array([n]),
        "classes_.texts.lengths": lengths,
        "classes_.texts.values": letters,
        "coef_": np.zeros((model.offsets_.size, n)),
        "intercept_": np.zeros(n),
    }
    size = sum(part.nbytes for part in parts.values())
    tracemalloc.start()
    loaded = put_together(parts, about)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert loaded.classes_.tolist() == long.tolist()
    assert peak < 16 * size


def _apart(model):
    parts, about = taken_apart(model)
    return parts.arrays, about


@pytest.mark.slow
def test_one_long_name_does_not_take_its_room_for_each_of_the_others():
    names = ["a" * 100_000, *(f"b{k}" for k in range(20_000))]
    tracemalloc.start()
    assert categorical_mask(names[:1] + names[2:], len(names), names).sum() == len(names) - 1
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**24
