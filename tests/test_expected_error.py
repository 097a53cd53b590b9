"""The error to expect on new rows and how far the folds agree, as attributes and in words."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import log_loss, root_mean_squared_error

from srff import RFFRegressor, SRFFClassifier, SRFFRegressor, load, save
from srff.cli.summary import print_summary, summary
from srff.inspect import describe
from srff.inspect.wording import as_sure, figure, measured, number, share

QUICK = {"n_components": 20, "max_iter": 3, "random_state": 0}


def rows(n, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n, 6))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + rng.normal(0, 0.3, n)


@pytest.fixture(scope="module")
def folded():
    return SRFFRegressor(**QUICK).fit(*rows(200))


@pytest.fixture(scope="module")
def held_out():
    return SRFFRegressor(**QUICK, validation=0.25).fit(*rows(200))


@pytest.fixture(scope="module")
def classes():
    X, y = rows(200)
    return SRFFClassifier(**QUICK).fit(X, np.where(y > 0, "b", "a"))


def test_the_expected_error_is_about_that_of_new_rows(folded, classes):
    X, y = rows(4000, seed=1)
    error = root_mean_squared_error(y, folded.predict(X))
    assert error == pytest.approx(folded.expected_error_, abs=4 * folded.expected_error_se_)
    error = log_loss(np.where(y > 0, "b", "a"), classes.predict_proba(X))
    assert error == pytest.approx(classes.expected_error_, abs=4 * classes.expected_error_se_)


@pytest.mark.parametrize("seed", [0, 3, 6])
@pytest.mark.slow
def test_few_rows_of_many_columns_expect_no_less_than_they_have(seed):
    # Effects are weak, and the last model is on columns that all rows have chosen: on those rows it
    # has half the error of new ones.  With seed 0 no screen finds where to begin.
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((2100, 1000))
    y = 0.5 * X[:, :8].sum(axis=1) + rng.normal(0, 1.5, 2100)
    model = SRFFRegressor(effort="quick", random_state=seed).fit(X[:100], y[:100])
    error = root_mean_squared_error(y[100:], model.predict(X[100:]))
    assert model.expected_error_ > 0.75 * error


def test_folds_judge_by_every_row_and_say_how_far_they_agree(folded):
    assert (folded.n_folds_, folded.judged_rows_) == (5, 200)
    assert folded.fold_agreement_.shape == (6,)
    assert folded.fold_agreement_[:2].tolist() == [1, 1]
    counts = 5 * folded.fold_agreement_
    np.testing.assert_allclose(counts, np.round(counts), atol=1e-12)


def test_a_single_hold_out_judges_by_its_rows(held_out):
    assert (held_out.n_folds_, held_out.fold_agreement_) == (0, None)
    assert held_out.judged_rows_ == pytest.approx(50, abs=5)
    assert held_out.expected_error_ == pytest.approx(held_out.validation_error_)


@pytest.mark.filterwarnings("ignore:The solver stopped")
def test_solvers_of_the_paper_expect_nothing():
    X, y = rows(60)
    for model in (
        SRFFRegressor(**QUICK, solver="alternating", refine=None),
        SRFFRegressor(**QUICK, refine=None),
        RFFRegressor(n_components=20),
    ):
        model.fit(X, y)
        numbers = [model.expected_error_, model.expected_error_se_, model.judged_rows_]
        assert np.isnan(numbers).all()
        assert (model.n_folds_, model.fold_agreement_) == (0, None)


def test_inputs_with_several_columns_have_one_agreement():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((120, 3)).astype(object)
    X[:, 1] = rng.choice(["p", "q", "r"], 120)
    y = 2.0 * (X[:, 1] == "p") + X[:, 2].astype(float)
    model = SRFFRegressor(**QUICK, categorical_features=[1]).fit(X, y)
    assert model.fold_agreement_.shape == (3,)
    assert model.fold_agreement_[1:].tolist() == [1, 1]


def test_they_come_along_to_files_pickles_and_reduced_models_and_not_to_clones(folded, tmp_path):
    save(folded, tmp_path / "m.srff")
    for model in (load(tmp_path / "m.srff"), pickle.loads(pickle.dumps(folded)), folded.reduced()):
        assert model.expected_error_ == folded.expected_error_
        assert model.expected_error_se_ == folded.expected_error_se_
        assert (model.judged_rows_, model.n_folds_) == (200, 5)
        support = folded.get_support() if model.n_features_in_ < 6 else slice(None)
        np.testing.assert_array_equal(model.fold_agreement_, folded.fold_agreement_[support])
    assert not hasattr(clone(folded), "fold_agreement_")


def last_line(model):
    return repr(model).splitlines()[-1]


def test_a_number_has_the_digits_that_its_standard_error_leaves():
    assert measured(54.6123, 1.6321) == "54.6 +- 1.6"
    assert measured(1234.5, 21.0) == "1,234 +- 21"
    assert measured(0.54321, 0.00213) == "0.5432 +- 0.0021"
    assert measured(3e9, 1e6) == "3,000,000,000 +- 1,000,000"
    assert measured(1.25443e10, 3.2e8) == "12,540,000,000 +- 320,000,000"
    assert measured(2.0, float("nan")) == "2 +- -"
    assert as_sure(-0.8253, 2.51) == "-0.8"
    assert as_sure(884.2, 131.0) == "884"
    assert as_sure(0.5, 0.0) == "0.5"
    assert as_sure(-0.01, 30.0) == "0"
    assert share(-0.0001) == "0.0 %"


def test_the_error_on_new_rows_is_said_with_where_it_comes_from(folded, held_out, classes):
    part = 1 - (folded.expected_error_ / folded.constant_error_) ** 2
    assert describe.explained(folded) == pytest.approx(part)
    error = measured(folded.expected_error_, folded.expected_error_se_)
    others = [f"{name} {figure(e)}" for name, (e, _) in folded.reference_errors_.items()]
    known = ", ".join([f"mean {figure(folded.constant_error_)}", *others])
    assert others == [] or len(others) == 2
    expected = f"; error on new rows: {error} ({known}; 200 rows held out in 5 folds)"
    assert f"{expected}; {share(part)} of the variance explained" in last_line(folded)
    rows = f"{held_out.judged_rows_:.0f} rows held out, which also chose the model"
    assert f"; {rows}); " in last_line(held_out)
    part = 1 - classes.expected_error_ / classes.constant_error_
    error = measured(classes.expected_error_, classes.expected_error_se_)
    assert f"; error on new rows: {error} (log loss; class shares 0.69" in last_line(classes)
    assert "; 200 rows held out in" in last_line(classes)
    assert last_line(classes).endswith(f"); {share(part)} less than that of the class shares")


def disagreeing(model, counts):
    """The same model with other choices of the folds."""
    model = pickle.loads(pickle.dumps(model))
    model.fold_agreement_ = np.array(counts) / model.n_folds_
    return model


def test_variables_of_some_folds_are_named_with_their_number(folded):
    support = folded.get_support(indices=True).tolist()
    assert support == [0, 1]
    model = disagreeing(folded, [5, 4, 1, 0, 2, 1])
    assert [one.folds for one in sorted(describe.selected(model), key=lambda e: e.name)] == [5, 4]
    assert [(one.name, one.folds) for one in describe.near_misses(model)] == [
        ("x4", 2), ("x2", 1), ("x5", 1)
    ]  # fmt: skip
    assert "x1 (in 4 of 5 folds)" in last_line(model)
    assert last_line(model).endswith("; also chosen in 2 of 5 folds: x4; in 1 of 5 folds: x2, x5")
    assert describe.near_misses(model.reduced()) == []
    page = model.report()
    assert '<td data-label="folds">4/5</td>' in page
    assert "<p>Not kept, but chosen in 2 of 5 folds: x4; in 1 of 5 folds: x2, x5.</p>" in page


def test_a_group_that_some_folds_chose_is_one_near_miss(folded):
    model = disagreeing(folded, [5, 5, 3, 3, 0, 0]).set_params(groups={"pair": [2, 3]})
    (missed,) = describe.near_misses(model)
    assert (missed.described, missed.folds) == ("pair (x2, x3)", 3)


def test_the_shell_tells_the_same_in_words_and_to_programs(folded, held_out, capsys):
    model = disagreeing(folded, [5, 4, 0, 0, 2, 0])
    found = summary(model)
    assert found["expected_error"] == model.expected_error_
    assert found["expected_error_se"] == model.expected_error_se_
    assert (found["rows_held_out"], found["folds"]) == (200, 5)
    assert found["r2"] == pytest.approx(1 - (model.expected_error_ / model.constant_error_) ** 2)
    assert {one["name"]: one["folds"] for one in found["selected"]} == {"x0": 5, "x1": 4}
    assert found["also_chosen"] == [{"name": "x4", "folds": 2}]
    print_summary(found, {})
    printed = capsys.readouterr().out
    for text in (
        "4/5",
        "x4 (2/5)",
        "error on new rows (RMSE)",
        "200 in 5 folds",
        "error of the me",
    ):
        assert text in printed
    assert measured(model.expected_error_, model.expected_error_se_) in printed
    assert "validation error" not in printed
    print_summary(summary(held_out), {})
    printed = capsys.readouterr().out
    assert ", which also chose the model" in printed
    assert "folds" not in printed


def test_a_fit_that_selects_nothing_explains_nothing(capsys):
    X, _ = rows(60)
    model = SRFFRegressor(**QUICK).fit(X, np.random.RandomState(1).normal(size=60))
    assert not model.get_support().any()
    assert describe.explained(model) == summary(model)["r2"] == 0
    print_summary(summary(model), {})
    words = capsys.readouterr().out + repr(model) + model.report().split("</section>")[0]
    assert "error on new rows (RMSE)" in words
    assert "explained" not in words
    assert "against the mean" not in words


@pytest.mark.filterwarnings("ignore:The solver stopped")
def test_where_nothing_is_expected_of_new_rows_the_search_is_told(capsys):
    X, y = rows(60)
    model = SRFFRegressor(**QUICK, solver="alternating", refine=None).fit(X, y)
    assert f"; validation error {number(model.validation_error_)} (" in last_line(model)
    print_summary(summary(model), {})
    assert "validation error (RMSE)" in capsys.readouterr().out
    page = model.report()
    assert "On rows held out from the search the root mean squared error is <b>" in page
    assert "significantly" not in page.split("</section>")[0]


@pytest.mark.parametrize(
    ("keep", "said"),
    [
        ("fewest", "(one-sided, level 0.05)"),
        (
            "auto",
            "(one-sided, level 0.05; higher in proportion with fewer than 500 rows; with more, ",
        ),
        ("best", "Those are kept that give the lowest error on held-out rows"),
    ],
)
def test_the_page_says_when_a_variable_was_kept(folded, keep, said):
    model = pickle.loads(pickle.dumps(folded)).set_params(keep=keep)
    assert said in model.report()
