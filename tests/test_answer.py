"""What a fit says beside its model: other models, importances, pairs, stand-ins, certainty."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss

from srff import SRFFClassifier, SRFFRegressor, load, save
from srff.estimators.references import LINE_PENALTIES, RIDGE_PENALTIES
from srff.inspect import describe
from srff.inspect.report import report
from srff.inspect.sureness import sureness
from srff.inspect.wording import figure
from srff.selection.config import CONFIG

SMALL = {"n_components": 40, "max_iter": 6, "random_state": 0}


def made(n=300, seed=0):
    """A product, a line, noise, and a copy of the line's column with a little noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    y = 2 * X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=n)
    X[:, 5] = X[:, 2] + 0.2 * rng.normal(size=n)
    return X, y


@pytest.fixture(scope="module")
def model():
    return SRFFRegressor(**SMALL).fit(*made())


def test_ridge_is_that_of_another_library_on_the_same_rows():
    X, y = made(400)
    X = X * [1, 10, 1, 1, 5, 1] + 3
    X, X_new, y, y_new = X[:300], X[300:], y[:300], y[300:]
    fitted = SRFFRegressor(**SMALL, validation=(X_new, y_new)).fit(X, y)
    mean, spread = X.mean(axis=0), X.std(axis=0)
    errors = []
    for penalty in RIDGE_PENALTIES:
        ridge = Ridge(alpha=300 * penalty).fit((X - mean) / spread, y)
        errors.append(np.mean((ridge.predict((X_new - mean) / spread) - y_new) ** 2))
    error, standard_error = fitted.reference_errors_["ridge"]
    assert error == pytest.approx(np.sqrt(min(errors)), rel=1e-4)
    assert 0 < standard_error < error


def test_logistic_regression_is_that_of_another_library_on_the_same_rows():
    X, y = made(400)
    y = np.where(y > 0, "b", "a")
    X, X_new, y, y_new = X[:300], X[300:], y[:300], y[300:]
    fitted = SRFFClassifier(**SMALL, validation=(X_new, y_new)).fit(X, y)
    mean, spread = X.mean(axis=0), X.std(axis=0)
    errors = []
    for penalty in LINE_PENALTIES:
        line = LogisticRegression(C=1 / (300 * penalty)).fit((X - mean) / spread, y)
        errors.append(log_loss(y_new, line.predict_proba((X_new - mean) / spread)))
    assert fitted.reference_errors_["logistic regression"][0] == pytest.approx(
        min(errors), rel=0.01
    )


def test_trees_see_a_product_that_no_line_sees(model):
    own, trees = model.expected_error_, model.reference_errors_["boosted trees"][0]
    assert own < trees < 0.8 * model.reference_errors_["ridge"][0] < model.constant_error_


@pytest.mark.slow
def test_three_classes_one_of_them_rare_have_yardsticks_too():
    X, y = made(200)
    codes = np.digitize(y, [-1, 1])
    codes[:3] = 3
    errors = SRFFClassifier(**SMALL).fit(X, codes).reference_errors_
    assert list(errors) == ["logistic regression", "boosted trees"]
    assert all(0 < error < 2 and 0 < se < 1 for error, se in errors.values())


def test_counts_have_poisson_regression_beside_them():
    X, _ = made(200)
    counts = np.random.default_rng(0).poisson(np.exp(X[:, 0]))
    fitted = SRFFRegressor(**SMALL, loss="poisson").fit(X, counts)
    errors = fitted.reference_errors_
    assert list(errors) == ["Poisson regression", "boosted trees"]
    assert errors["Poisson regression"][0] < 0.8 * fitted.constant_error_


def answers(fitted):
    """All that is said beside the model, as one list of arrays."""
    tables = (fitted.interactions_, fitted.stand_ins_, fitted.dropped_)
    return [
        np.array([*fitted.reference_errors_.values()]),
        fitted.importances_,
        fitted.importances_se_,
        *(column for table in tables for column in table.values()),
    ]


@pytest.mark.parametrize("change", ["order", "units", "threads"])
def test_no_bit_hangs_on_order_units_or_threads(model, change):
    X, y = made()
    if change == "order":
        rows = np.random.default_rng(1).permutation(y.size)
        X, y = X[rows], y[rows]
    elif change == "units":
        X, y = X * 2.0 ** np.arange(-3, 3), y * 2.0
    threads = 2 if change == "threads" else 1
    other = SRFFRegressor(**SMALL, n_jobs=threads).fit(X, y)
    errors, *others = answers(other)
    expected, *rest = answers(model)
    np.testing.assert_array_equal(errors, expected * (2.0 if change == "units" else 1.0))
    for one, two in zip(others, rest, strict=True):
        np.testing.assert_array_equal(one, two)


def test_whole_weights_are_copies_of_rows():
    X, y = made(150)
    counts = 1 + np.arange(150) % 3
    weighted = SRFFRegressor(**SMALL).fit(X, y, sample_weight=counts)
    repeated = SRFFRegressor(**SMALL).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    for one, two in zip(answers(weighted), answers(repeated), strict=True):
        np.testing.assert_array_equal(one, two)


def test_importances_are_shares_of_what_is_explained(model):
    assert model.get_support(indices=True).tolist() == [0, 1, 2]
    missed, error = model.importances_, model.importances_se_
    assert not missed[3:].any()
    assert not error[3:].any()
    # Of 4 var(x0 x1) + var(x2) = 5, no x0 costs 4, and no x2 beside its copy 0.04.
    assert missed[[0, 1]] == pytest.approx(4 / 5, rel=0.2)
    assert 0 < missed[2] < 0.05
    assert (error[:3] > 0).all()
    share = model.feature_importances_
    assert share.sum() == pytest.approx(1.0)
    assert (np.flatnonzero(share) == [0, 1, 2]).all()
    np.testing.assert_allclose(share[0] / share[1], missed[0] / missed[1])


def test_a_variable_in_use_has_a_little_importance_even_if_no_row_misses_it(model):
    other = SRFFRegressor().set_params(**SMALL)
    vars(other).update(vars(model))
    other.importances_ = np.array([1.0, -0.2, 0, 0, 0, 0])
    assert (other.feature_importances_[:3] > 0).all()
    assert other.feature_importances_[0] > 0.99


def test_a_product_acts_together_and_a_sum_does_not(model):
    first, second, share = model.interactions_.values()
    assert (first[0], second[0]) == (0, 1) or (first[0], second[0]) == (1, 0)
    assert share[0] == pytest.approx(4 / 5, abs=0.2)
    assert (share[1:] < 0.1).all()


def test_a_near_copy_could_stand_in(model):
    assert model.stand_ins_["column"].tolist() == [5]
    assert model.stand_ins_["instead_of"].tolist() == [2]
    X, _ = made()
    expected = np.corrcoef(X[:, 2], X[:, 5])[0, 1]
    assert model.stand_ins_["correlation"][0] == pytest.approx(expected, abs=0.01)
    assert describe.stand_ins(model) == [
        f"x5 could stand in for x2 (correlation {model.stand_ins_['correlation'][0]:.2f})"
    ]


def test_what_was_dropped_last_is_said_with_what_it_cost(model):
    other = SimpleNamespace(
        dropped_={"column": np.array([1, 0]), "rise": np.array([0.003, -0.02])},
        feature_names_in_=["a", "b"],
        n_features_in_=2,
    )
    assert describe.dropped_last(other) == ["b (error rises by 0.3 %)", "a (no worse without)"]
    assert set(model.dropped_["column"].tolist()) <= {3, 4, 5}


def told(scale, missed, error, agreement=None):
    arrays = [np.array(each, dtype=float) for each in (scale, missed, error)]
    folds = None if agreement is None else np.array(agreement)
    names = ("scale_", "importances_", "importances_se_")
    return SimpleNamespace(**dict(zip(names, arrays, strict=True)), fold_agreement_=folds)


def test_sure_is_chosen_by_all_folds_and_missed_clearly():
    scale, missed, error = [1, 1, 1, 0, 0], [0.5, 0.5, 0.1, 0, 0], [0.1, 0.1, 0.1, 0, 0]
    found = sureness(told(scale, missed, error, [1, 0.8, 1, 0.6, 0.4]))
    assert found.tolist() == ["sure", "maybe", "maybe", "maybe", "no"]
    assert sureness(told(scale, missed, error)).tolist() == ["sure", "sure", "maybe", "no", "no"]
    assert sureness(SimpleNamespace(scale_=np.ones(2), importances_=None)) is None


def test_the_words_are_those_of_a_test_where_there_was_one():
    asked = told([1, 1, 0, 0], [1, 1, 0, 0], [0.1, 0.1, 0, 0], [1, 1, 0, 0])
    asked.confidence_ = SimpleNamespace(
        confirmed_units=np.array([False, True, True, False]),
        doubtful=np.zeros(4, dtype=bool),
        unit_of=np.arange(4),
    )
    assert sureness(asked).tolist() == ["maybe", "sure", "sure", "no"]


def test_a_model_says_it_in_a_line(model):
    line = repr(model).splitlines()[-1]
    assert line.startswith("3 of 6 variables: ")
    assert "(all sure)" in line or "(sure)" in line
    others = [f"{name} {figure(error)}" for name, (error, _) in model.reference_errors_.items()]
    assert f"(mean {figure(model.constant_error_)}, {', '.join(others)}; 300 rows" in line


def test_all_of_it_goes_to_a_file_and_to_a_reduced_model(model, tmp_path):
    save(model, tmp_path / "m.srff")
    again = load(tmp_path / "m.srff")
    for one, two in zip(answers(again), answers(model), strict=True):
        np.testing.assert_array_equal(one, two)
    assert (again.n_rows_, again.target_name_) == (300, None)
    small = model.reduced()
    np.testing.assert_array_equal(small.importances_, model.importances_[:3])
    assert {*small.interactions_["first"], *small.interactions_["second"]} == {0, 1, 2}
    assert small.stand_ins_["column"].size == small.dropped_["rise"].size == 0


def test_a_quick_fit_and_one_that_is_told_so_leave_it_out():
    class Plain(SRFFRegressor):
        selection_config = replace(CONFIG, references=False, importances=False)

    X, y = made(120)
    for plain in (SRFFRegressor(**SMALL, effort="quick"), Plain(**SMALL)):
        plain.fit(X, y)
        assert plain.reference_errors_ == {}
        assert plain.importances_ is None
        np.testing.assert_allclose(plain.feature_importances_ * plain.scale_.sum(), plain.scale_)
        assert "sure" not in repr(plain)
    several = SRFFRegressor(**SMALL).fit(X, np.column_stack([y, X[:, 0]]))
    assert several.reference_errors_ == {}
    assert several.importances_ is not None


@pytest.mark.parametrize("named", [True, False])
def test_the_code_at_the_end_of_a_report_runs(named, tmp_path, monkeypatch):
    pd = pytest.importorskip("pandas")
    X, y = made(150)
    table = pd.DataFrame(X, columns=list("abcdef")) if named else X
    fitted = SRFFRegressor(**SMALL).fit(table, pd.Series(y, name="yield") if named else y)
    page = report(fitted)
    assert ("Which variables matter for yield</h1>" in page) == named
    code = page.split("<pre><code>")[1].split("</code></pre>")[0]
    code = code.replace("&#34;", '"').replace("small.predict(", "last = small.predict(")
    monkeypatch.chdir(tmp_path)
    scope = {"model": fitted, "X": table}
    exec(code, scope)
    np.testing.assert_allclose(scope["last"], fitted.predict(table))


def test_three_digits_as_people_write_them():
    numbers = (1.254e10, 53.16, 0.00123, 999.9, -4.5, 0, float("nan"), 2e16)
    texts = ["12,500,000,000", "53.2", "0.00123", "1,000", "-4.50", "0.00", "-", "2.00e+16"]
    assert [figure(x) for x in numbers] == texts


def test_no_two_kinds_of_candidate_look_alike(model):
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    from srff import plot

    table = {name: np.repeat(column[:1], 9) for name, column in model.path_.items()}
    table["kind"] = np.array([f"kind {k}" for k in range(9)], dtype=object)
    other = SRFFRegressor(**SMALL)
    vars(other).update(vars(model) | {"path_": table})
    ax = plot.path(other, ax=Figure().subplots())
    looks = {
        (each.get_paths()[0].vertices.tobytes(), each.get_edgecolor().tobytes())
        for each in ax.collections
        if each.get_label().startswith("kind")
    }
    assert len(looks) == 9


@pytest.mark.parametrize("n_positives", [1, 2])
def test_a_fold_without_a_class_has_yardsticks_too(n_positives):
    """The positives are in one or two of five folds: the others learn from all of them."""
    X, _ = made(200)
    y = (np.arange(200) < n_positives).astype(int)
    found = SRFFClassifier(**SMALL).fit(X, y)
    assert set(found.reference_errors_) == {"logistic regression", "boosted trees"}
    counts = SRFFRegressor(**SMALL, loss="poisson").fit(X, 1.0 * y)
    assert "boosted trees" in counts.reference_errors_
    assert not found.get_support().any()
