"""scikit-learn's other tools around the estimators: each one is opened and its answer looked at."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.ensemble import (
    BaggingRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.feature_selection import RFE, RFECV, SelectFromModel, SequentialFeatureSelector
from sklearn.inspection import PartialDependenceDisplay, partial_dependence, permutation_importance
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GroupKFold,
    cross_val_predict,
    cross_validate,
    learning_curve,
    validation_curve,
)
from sklearn.multioutput import MultiOutputRegressor, RegressorChain
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from srff import SRFFClassifier, SRFFRegressor

QUICK = {"effort": "quick", "n_components": 20, "max_iter": 3, "random_state": 0, "n_jobs": 1}
N = 200
RNG = np.random.RandomState(0)
X = pd.DataFrame(RNG.normal(size=(N, 5)), columns=list("abcde"))
Y = (X["a"] ** 2 + 2 * X["b"] + RNG.normal(0, 0.1, N)).to_numpy()
LABELS = np.where(Y > 1, "high", "low")
TRAIN, NEW = slice(0, 150), slice(150, N)


@pytest.fixture
def model():
    return SRFFRegressor(**QUICK)


@pytest.fixture
def classifier():
    return SRFFClassifier(**QUICK)


def chosen(selector, target=Y):
    return selector.fit(X, target).get_feature_names_out().tolist()


class TestSelectors:
    def test_select_from_model(self, model, classifier):
        assert chosen(SelectFromModel(model)) == ["a", "b"]
        assert chosen(SelectFromModel(classifier, max_features=1), LABELS) == ["b"]
        fitted = model.fit(X, Y)
        names = SelectFromModel(fitted, prefit=True).fit(X, Y).get_feature_names_out()
        assert names.tolist() == ["a", "b"]

    @pytest.mark.slow
    def test_rfe(self, model, classifier):
        assert chosen(RFE(model, n_features_to_select=2)) == ["a", "b"]
        assert chosen(RFE(classifier, n_features_to_select=1), LABELS) == ["b"]

    @pytest.mark.slow
    def test_rfecv(self, model):
        assert {"a", "b"} <= set(chosen(RFECV(model, cv=3)))

    @pytest.mark.slow
    @pytest.mark.parametrize("direction", ["forward", "backward"])
    def test_sequential_feature_selector(self, model, direction):
        selector = SequentialFeatureSelector(
            model, n_features_to_select=2, direction=direction, cv=3
        )
        assert chosen(selector) == ["a", "b"]


class TestInspection:
    def test_permutation_importance_is_zero_where_the_model_does_not_look(self, model):
        found = permutation_importance(model.fit(X, Y), X, Y, n_repeats=3, random_state=0)
        unused = ~model.get_support()
        assert (found.importances_mean[:2] > 0.1).all()
        assert not found.importances[unused].any()

    def test_partial_dependence_is_the_mean_prediction_with_the_value_put_in(self, model):
        model.fit(X, Y)
        found = partial_dependence(model, X, ["a"], grid_resolution=5)
        value = found["grid_values"][0][2]
        expected = model.predict(X.assign(a=value)).mean()
        assert found["average"][0][2] == pytest.approx(expected)

    def test_partial_dependence_display(self, model, classifier):
        pytest.importorskip("matplotlib").use("Agg")
        shown = PartialDependenceDisplay.from_estimator(
            model.fit(X, Y), X, ["a", ("a", "b")], grid_resolution=8
        )
        assert len(shown.pd_results) == 2
        classifier.fit(X, LABELS)
        PartialDependenceDisplay.from_estimator(
            classifier, X, ["b"], kind="both", grid_resolution=8
        )

    def test_partial_dependence_of_a_category(self, model):
        table = X.assign(kind=RNG.choice(["u", "v"], N))
        model.fit(table, Y + 2 * (table["kind"] == "u"))
        found = partial_dependence(model, table, ["kind"], categorical_features=["kind"])
        assert found["average"][0][0] - found["average"][0][1] == pytest.approx(2, abs=0.5)


class TestAround:
    def test_calibrated_classifier(self, classifier):
        calibrated = CalibratedClassifierCV(classifier, cv=2).fit(X[TRAIN], LABELS[TRAIN])
        chances = calibrated.predict_proba(X[NEW])
        np.testing.assert_allclose(chances.sum(axis=1), 1)
        assert calibrated.score(X[NEW], LABELS[NEW]) > 0.8

    @pytest.mark.slow
    def test_stacking(self, model, classifier):
        stack = StackingRegressor([("srff", model), ("ridge", Ridge())], cv=2)
        assert stack.fit(X[TRAIN], Y[TRAIN]).score(X[NEW], Y[NEW]) > 0.8
        both = [("srff", classifier), ("logistic", LogisticRegression())]
        stack = StackingClassifier(both, cv=2).fit(X[TRAIN], LABELS[TRAIN])
        assert stack.score(X[NEW], LABELS[NEW]) > 0.8

    def test_voting(self, model, classifier):
        both = [("srff", classifier), ("logistic", LogisticRegression())]
        vote = VotingClassifier(both, voting="soft").fit(X[TRAIN], LABELS[TRAIN])
        p = vote.predict_proba(X[NEW])
        each = [m.predict_proba(X[NEW]) for m in vote.estimators_]
        np.testing.assert_allclose(p, np.mean(each, axis=0))
        vote = VotingRegressor([("srff", model), ("ridge", Ridge())]).fit(X, Y)
        assert vote.predict(X[NEW]).shape == (50,)

    def test_transformed_target(self, model):
        around = TransformedTargetRegressor(model, func=np.log, inverse_func=np.exp)
        around.fit(X, np.exp(Y))
        np.testing.assert_allclose(np.log(around.predict(X)), model.fit(X, Y).predict(X), rtol=1e-6)

    def test_several_outputs_one_by_one(self, model):
        both = np.column_stack([Y, -Y])
        assert MultiOutputRegressor(model).fit(X, both).predict(X).shape == (N, 2)
        assert RegressorChain(model).fit(X, both).predict(X).shape == (N, 2)

    def test_bagging(self, model):
        bag = BaggingRegressor(model, n_estimators=2, max_features=0.8, random_state=0)
        assert bag.fit(X, Y).predict(X).shape == (N,)


class TestRowsOfOthers:
    def test_cross_val_predict(self, model, classifier):
        out = cross_val_predict(model, X, Y, cv=3)
        assert np.corrcoef(out, Y)[0, 1] > 0.9
        chances = cross_val_predict(classifier, X, LABELS, cv=2, method="predict_proba")
        assert chances.shape == (N, 2)

    def test_cross_validate_with_groups_of_rows(self, model):
        groups = np.arange(N) // 4
        found = cross_validate(model, X, Y, cv=GroupKFold(3), groups=groups, return_estimator=True)
        assert all(each.get_support()[1] for each in found["estimator"])

    @pytest.mark.slow
    def test_curves(self, model):
        _, _, test = learning_curve(model, X, Y, train_sizes=[0.5, 1.0], cv=2)
        assert test.shape == (2, 2)
        _, test = validation_curve(
            model, X, Y, param_name="n_components", param_range=[10, 20], cv=2
        )
        assert test.shape == (2, 2)


class TestPipelines:
    def test_after_a_column_transformer(self, model):
        table = X.assign(kind=RNG.choice(["u", "v", "w"], N))
        before = ColumnTransformer(
            [
                ("kind", OneHotEncoder(sparse_output=False), ["kind"]),
                ("numbers", StandardScaler(), list("abcde")),
            ],
            verbose_feature_names_out=False,
        ).set_output(transform="pandas")
        pipe = make_pipeline(before, model).fit(table, Y)
        assert pipe[:-1].get_feature_names_out().tolist() == [
            *("kind_u", "kind_v", "kind_w"),
            *"abcde",
        ]
        assert pipe[-1].get_feature_names_out().tolist() == ["a", "b"]

    def test_as_a_step_that_selects_with_names(self, model):
        pipe = make_pipeline(model, Ridge()).set_output(transform="pandas").fit(X, Y)
        assert pipe[-1].feature_names_in_.tolist() == ["a", "b"]
        union = FeatureUnion([("srff", model), ("all", "passthrough")])
        assert union.fit(X, Y).transform(X).shape == (N, 7)

    @pytest.mark.parametrize("library", ["pandas", "polars"])
    def test_set_output(self, model, library):
        pytest.importorskip(library)
        out = model.fit(X, Y).set_output(transform=library).transform(X)
        assert type(out).__module__.startswith(library)
        assert list(out.columns) == ["a", "b"]

    def test_sparse_rows_are_refused_with_what_to_do(self, model):
        rows = sparse.csr_matrix(X.to_numpy())
        with pytest.raises(TypeError, match=r"'\.toarray\(\)'"):
            model.fit(rows, Y)
        with pytest.raises(TypeError, match="toarray"):
            model.fit(X.to_numpy(), Y).predict(rows)
        table = X.assign(kind=RNG.choice(["u", "v"], N))
        encoded = make_pipeline(
            ColumnTransformer([("kind", OneHotEncoder(), ["kind"])], sparse_threshold=1.0), model
        )
        with pytest.raises(TypeError, match="toarray"):
            encoded.fit(table, Y)

    def test_nothing_warns_on_the_way(self, model):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            cross_val_predict(make_pipeline(StandardScaler(), model), X, Y, cv=2)
