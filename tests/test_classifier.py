"""The classifier: what it predicts, what it selects, and that it is the same wherever rows are."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from srff import SRFFClassifier
from srff.core.features import random_features
from srff.data import dataset

QUICK = {"n_components": 40, "max_iter": 6, "random_state": 0}


def rings(n=500, d=8, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, 1] ** 2 + X[:, 4] ** 2 > 1.4, "outside", "inside")


def three_classes(n=600, d=8, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n, d))
    scores = np.stack([X[:, 0] * X[:, 1], np.sin(2 * X[:, 2]), 0.5 * X[:, 0]], axis=1)
    return X, np.argmax(scores + 0.2 * rng.standard_normal(scores.shape), axis=1) * 10


@pytest.fixture(scope="module")
def binary():
    X, y = rings()
    return SRFFClassifier(**QUICK).fit(X, y), X, y


@pytest.fixture(scope="module")
def multinomial():
    X, y = three_classes()
    return SRFFClassifier(**QUICK).fit(X, y), X, y


def test_rings_are_found_and_told_apart(binary):
    model, _, _ = binary
    X, y = rings(2000, seed=1)
    assert model.get_support(indices=True).tolist() == [1, 4]
    assert model.score(X, y) > 0.95
    assert model.classes_.tolist() == ["inside", "outside"]


def test_three_classes_with_interactions_are_found(multinomial):
    model, _, _ = multinomial
    X, y = three_classes(2000, seed=1)
    assert model.get_support(indices=True).tolist() == [0, 1, 2]
    assert model.score(X, y) > 0.8  # about 0.9 is possible
    assert model.coefficients_.shape == (model.offsets_.size, 3)
    assert model.intercept_.shape == (3,)


@pytest.mark.parametrize("which", ["binary", "multinomial"])
def test_the_outputs_agree_with_one_another(which, request):
    model, X, _ = request.getfixturevalue(which)
    p, F = model.predict_proba(X), model.decision_function(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(p, np.exp(model.predict_log_proba(X)), atol=1e-12)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))
    if which == "binary":
        assert F.shape == (X.shape[0],)
        np.testing.assert_allclose(p[:, 1], 1 / (1 + np.exp(-F)))
    else:
        assert F.shape == p.shape
        np.testing.assert_array_equal(F.argmax(axis=1), p.argmax(axis=1))


@pytest.mark.parametrize("make", [rings, three_classes])
def test_the_last_model_is_the_logistic_regression_on_its_features(make):
    """Same chances as scikit-learn's solver at the frequencies and the penalty that were found."""
    X, y = make(300)
    model = SRFFClassifier(
        solver="alternating", refine=None, alpha=1e-3, n_components=30, max_iter=5, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    U = ((X - model.center_) / model.spread_)[:, model.columns_]
    Z = random_features(U, model.frequencies_, model.offsets_)
    # mean loss + alpha ||a||^2 is C sum of losses + ||a||^2 / 2 with C = 1 / (2 n alpha)
    reference = LogisticRegression(C=1 / (2 * 300 * 1e-3), tol=1e-10, max_iter=10_000).fit(Z, y)
    np.testing.assert_allclose(model.predict_proba(X), reference.predict_proba(Z), atol=2e-3)
    assert log_loss(y, model.predict_proba(X)) + 1e-3 * np.sum(
        model.coefficients_**2
    ) == pytest.approx(model.objective_[-1], rel=1e-4)


def test_probabilities_have_the_shares_of_the_classes_on_the_training_rows(binary):
    """As every logistic model with an intercept has them."""
    model, X, y = binary
    shares = [np.mean(y == c) for c in model.classes_]
    np.testing.assert_allclose(model.predict_proba(X).mean(axis=0), shares, atol=2e-3)


def test_the_objective_of_the_papers_algorithm_falls():
    X, y = three_classes(300)
    model = SRFFClassifier(
        solver="alternating", refine=None, alpha=1e-3, n_components=30, max_iter=10, tol=0.0,
        random_state=0,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    assert (np.diff(model.objective_) <= 1e-9).all()
    assert model.objective_[-1] < 0.9 * model.objective_[0]


@pytest.mark.parametrize(
    "settings", [{"refine": None}, {"refine": "metric"}, {"refine": "frequencies"}]
)
def test_every_way_of_refining_classifies(settings):
    X, y = rings(400)
    model = SRFFClassifier(**QUICK, **settings).fit(X, y)
    assert model.score(*rings(1000, seed=1)) > 0.85
    assert np.isfinite(model.validation_error_)


def test_alpha_auto_is_chosen_by_log_loss_on_the_validation_rows():
    X, y = rings(400)
    pair = rings(300, seed=2)
    model = SRFFClassifier(**QUICK, refine=None, validation=pair).fit(X, y)
    assert model.validation_error_ == pytest.approx(log_loss(pair[1], model.predict_proba(pair[0])))
    done = ~model.path_["stopped"]
    assert model.validation_error_ == pytest.approx(model.path_["validation_error"][done].min())
    assert set(model.path_["loss"]) == {"logistic"}


def test_a_row_of_weight_two_counts_as_two_rows():
    X, y = rings(200)
    weight = np.where(np.arange(200) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(200), weight.astype(int))
    model = SRFFClassifier(**QUICK, refine=None, alpha=1e-3)
    one = clone(model).fit(X, y, sample_weight=weight)
    two = clone(model).fit(X[twice], y[twice])
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_class_weights_are_weights_of_rows():
    X, y = rings(200)
    model = SRFFClassifier(**QUICK, refine=None, alpha=1e-3)
    given = {"inside": 1.0, "outside": 3.0}
    one = clone(model).set_params(class_weight=given).fit(X, y)
    two = clone(model).fit(X, y, sample_weight=[given[label] for label in y])
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), rtol=1e-6)


@pytest.mark.slow
def test_weights_of_classes_have_no_unit():
    X, y = rings(200)
    given = [{"inside": 1, "outside": 10}, {"inside": 2, "outside": 20}]
    one, two = (SRFFClassifier(**QUICK, class_weight=each).fit(X, y) for each in given)
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    np.testing.assert_array_equal(one.scale_, two.scale_)
    even = SRFFClassifier(**QUICK, class_weight={"inside": 7, "outside": 7}).fit(X, y)
    np.testing.assert_array_equal(
        even.predict_proba(X), SRFFClassifier(**QUICK).fit(X, y).predict_proba(X)
    )


def test_balanced_classes_have_equal_shares():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((400, 4))
    y = X[:, 0] + rng.standard_normal(400) > 1.5
    options = {"refine": None, "alpha": 1e-2}
    plain = SRFFClassifier(**QUICK, **options).fit(X, y)
    balanced = SRFFClassifier(**QUICK, **options, class_weight="balanced").fit(X, y)
    assert plain.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=0.01)
    p = balanced.predict_proba(X)[:, 1]
    assert (p[y].mean() + p[~y].mean()) / 2 == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"class_weight": "even"}, "class_weight='even' must be 'balanced'"),
        ({"class_weight": {"beside": 1}}, "the class 'beside'"),
        ({"class_weight": {"inside": -1}}, "the weight -1 for the class 'inside'"),
        ({"validation": (np.zeros((3, 8)), ["inside", "outside", "far"])}, "the class 'far'"),
        ({"n_features_to_select": 0}, "n_features_to_select=0"),
        ({"n_features_to_select": 2, "refine": None}, "needs refine="),
        ({"missing": "drop"}, "missing='drop' is unknown"),
        ({"categories": "hash"}, "categories='hash' is unknown"),
    ],
)
def test_an_error_names_what_is_wrong(settings, said):
    X, y = rings(60)
    with pytest.raises(ValueError, match=said):
        SRFFClassifier(**{**QUICK, **settings}).fit(X, y)


def test_one_class_is_refused_by_its_name():
    with pytest.raises(ValueError, match=r"one class, 'a'; at least 2 classes"):
        SRFFClassifier().fit(np.arange(6.0)[:, None], ["a"] * 6)


def test_pure_noise_selects_nothing_and_predicts_the_shares():
    rng = np.random.RandomState(3)
    X, y = rng.standard_normal((400, 6)), rng.choice(["a", "b", "c"], 400, p=[0.5, 0.3, 0.2])
    model = SRFFClassifier(**QUICK).fit(X, y)
    assert model.model_kind_ == "mean"
    assert not model.get_support().any()
    shares = [np.mean(y == c) for c in "abc"]
    np.testing.assert_allclose(model.predict_proba(X[:2]), [shares, shares], atol=0.03)


def test_constant_inputs_warn_and_predict_the_shares():
    y = np.array([0, 1, 1, 1])
    with pytest.warns(UserWarning, match="the shares of the classes"):
        model = SRFFClassifier().fit(np.ones((4, 2)), y)
    np.testing.assert_allclose(model.predict_proba(np.ones((1, 2))), [[0.25, 0.75]], atol=1e-6)


def test_exactly_as_many_variables_as_asked_for():
    X, y = rings(300)
    model = SRFFClassifier(**QUICK, n_features_to_select=3).fit(X, y)
    assert model.get_support().sum() == 3
    assert model.get_support()[[1, 4]].all()


def test_the_model_is_the_same_for_any_number_of_threads(multinomial):
    model, X, y = multinomial
    other = SRFFClassifier(**QUICK, n_jobs=1).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), other.predict_proba(X))


def test_life_inside_scikit_learn(binary):
    model, X, y = binary
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    quick = SRFFClassifier(
        refine=None, alpha=1e-4, budget=2.0, n_components=40, random_state=0, max_iter=5
    )
    search = GridSearchCV(
        make_pipeline(StandardScaler(), quick),
        {"srffclassifier__alpha": [1e-2, 1e-4]},
        scoring="neg_log_loss",
        cv=3,
    ).fit(X, y)
    assert search.best_score_ > -0.6
    assert cross_val_score(quick, X, y, cv=3).mean() > 0.8
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    named = SRFFClassifier(**QUICK).fit(frame, y).set_output(transform="pandas")
    assert named.transform(frame).columns.tolist() == ["b", "e"]
    np.testing.assert_array_equal(named.reduced().predict(frame[["b", "e"]]), named.predict(frame))


def test_labels_of_any_kind():
    X, y = rings(150)
    for labels in ((0, 1), (-1, 1), (False, True), (2.0, 3.0), ("yes", "no")):
        some = np.where(y == "inside", labels[0], labels[1])
        model = SRFFClassifier(**QUICK, refine=None, alpha=1e-3).fit(X, some)
        assert set(model.predict(X)) == set(np.unique(some))
        assert model.score(X, some) > 0.8


def test_a_file_gives_the_same_model_as_its_rows(tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra: data)")
    X, y = three_classes(300)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(8)])
    names = np.array(["low", "middle", "high"])[y // 10]
    frame.assign(kind=names).to_parquet(tmp_path / "rows.parquet")
    options = QUICK | {"alpha": 1e-3, "max_iter": 3}
    one = SRFFClassifier(**options).fit(frame, names)
    two = SRFFClassifier(**options).fit(tmp_path / "rows.parquet", "kind")
    assert two.classes_.tolist() == ["high", "low", "middle"]
    np.testing.assert_array_equal(one.predict_proba(frame), two.predict_proba(frame))


def test_a_stream_and_workers_give_the_same_model(tmp_path, monkeypatch, configure):
    distributed = pytest.importorskip("distributed", reason="Dask is not installed (extra: dask)")
    dd = pytest.importorskip("dask.dataframe", reason="Dask is not installed (extra: dask)")
    for name, size in (("STREAM", 200), ("SAMPLE", 300), ("VALIDATION", 100)):
        monkeypatch.setattr(dataset, f"{name}_ROWS", size)
    configure(search_rows=250, refine_rows=300)
    # A table with a category that is too long to be held: its rows must not become an array.
    monkeypatch.setattr("srff.estimators.training_rows.array_dataset", None)
    X, y = rings(600)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(8)]).assign(where=y)
    frame["shade"] = np.where(X[:, 0] > 0, "dark", "light")
    for part in range(3):
        frame[part * 200 : (part + 1) * 200].to_parquet(tmp_path / f"{part}.parquet")
    settings = QUICK | {"class_weight": "balanced", "refine": "metric", "max_iter": 3}
    streamed = SRFFClassifier(**settings).fit(tmp_path, "where")
    assert streamed.get_feature_names_out().tolist() == ["x1", "x4"]
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, processes=False
        ) as cluster,
        distributed.Client(cluster),
    ):
        table = dd.read_parquet(tmp_path)
        worked = SRFFClassifier(**settings).fit(table, "where")
    inputs = frame.drop(columns="where")
    np.testing.assert_array_equal(worked.predict_proba(inputs), streamed.predict_proba(inputs))


@pytest.mark.cuda
def test_a_gpu_gives_the_same_answer(multinomial):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra: gpu)")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    _, X, y = multinomial
    model = SRFFClassifier(**QUICK, device="cuda", dtype="float64").fit(X, y)
    on_cpu = SRFFClassifier(**QUICK, dtype="float64").fit(X, y)
    np.testing.assert_array_equal(model.get_support(), on_cpu.get_support())
    np.testing.assert_allclose(model.predict_proba(X), on_cpu.predict_proba(X), atol=0.02)


def test_torchs_own_cpu_gives_the_same_answer():
    pytest.importorskip("torch", reason="PyTorch is not installed (extra: gpu)")
    X, y = three_classes(300)
    settings = {**QUICK, "refine": None, "alpha": 1e-3, "dtype": "float64"}
    one = SRFFClassifier(**settings).fit(X, y)
    two = SRFFClassifier(**settings, device="cpu:0").fit(X, y)
    np.testing.assert_allclose(two.predict_proba(X), one.predict_proba(X), atol=1e-5)
