"""The baselines against other libraries, optimality conditions and functions that are known."""

import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.preprocessing import SplineTransformer, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from srff.data.split import key_multipliers, row_keys, split_rows
from srff.reproduction.baselines import SPAM, HSICLasso, LassoBaseline, MeanBaseline, RidgeBaseline
from srff.reproduction.baselines.spam import FunctionBasis

CLASSES = [MeanBaseline, RidgeBaseline, LassoBaseline, SPAM, HSICLasso]


def make(name, **options):
    if name is HSICLasso:
        options["n_jobs"] = 1
    return name(**options)


def additive(seed, n=300, d=15):
    """Three smooth functions among noise variables, with a fifth of the variance in noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    f = np.sin(2 * X[:, 1]) + 0.5 * X[:, 2] ** 2 + np.abs(X[:, 3])
    return X, f + rng.normal(0, 0.5, n)


@parametrize_with_checks([MeanBaseline(), RidgeBaseline(), LassoBaseline()])
def test_linear_baselines_follow_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    # SPAM compiles its solver first.
    "name",
    [pytest.param(n, marks=pytest.mark.slow) if n is SPAM else n for n in CLASSES],
)
class TestEveryBaseline:
    def test_has_the_common_interface(self, name):
        X, y = additive(0, n=80, d=6)
        model = clone(make(name, validation=(X[:30], y[:30]), random_state=3))
        assert model.get_params()["random_state"] == 3
        assert model.fit(X[30:], y[30:]) is model
        assert model.predict(X[:7]).shape == (7,)
        assert model.selected_ is None or np.issubdtype(model.selected_.dtype, np.integer)
        with pytest.raises(ValueError, match="features"):
            model.predict(X[:, :5])
        with pytest.raises(ValueError, match="pair"):
            make(name, validation=0.5).fit(X, y)
        with pytest.raises(ValueError, match="features"):
            make(name, validation=(X[:, :5], y)).fit(X, y)

    def test_selected_variables_alone_move_the_prediction(self, name):
        X, y = additive(1, n=150, d=6)
        model = make(name, random_state=0).fit(X, y)
        moved = []
        for j in range(6):
            other = X.copy()
            other[:, j] = other[::-1, j]
            if not np.array_equal(model.predict(X), model.predict(other)):
                moved.append(j)
        if name is RidgeBaseline:
            assert model.selected_ is None
            assert moved == list(range(6))
        elif name is MeanBaseline:
            assert model.selected_ is None
            assert moved == []
        else:
            assert model.selected_.tolist() == moved

    def test_held_out_rows_choose_and_are_not_learned_from(self, name):
        X, y = additive(2, n=100, d=5)
        if name is MeanBaseline:
            assert make(name).fit(X, y).predict(X[:1]) == pytest.approx(y.mean())
            return
        multipliers = key_multipliers(np.random.RandomState(5), X.shape[1])
        held = split_rows(row_keys(X, y[:, None], multipliers), None, 0.2)
        assert held.sum() == 20
        alone = make(name, random_state=5).fit(X, y)
        # The same generator goes on to seed the features of HSIC lasso.
        rng = np.random.RandomState(5)
        key_multipliers(rng, X.shape[1])
        paired = make(name, random_state=rng, validation=(X[held], y[held])).fit(X[~held], y[~held])
        np.testing.assert_array_equal(alone.predict(X), paired.predict(X))

    def test_a_constant_target_is_predicted_without_variables(self, name):
        X, _ = additive(3, n=40, d=4)
        model = make(name, random_state=0).fit(X, np.full(40, 2.5))
        np.testing.assert_allclose(model.predict(X), 2.5)
        assert model.selected_ is None or model.selected_.size == 0

    def test_a_constant_or_binary_input_does_no_harm(self, name):
        X, y = additive(4, n=120, d=5)
        X[:, 0], X[:, 2] = 7.0, X[:, 2] > 0
        y = y + 2 * X[:, 2]
        model = make(name, random_state=0).fit(X, y)
        assert np.isfinite(model.predict(X)).all()
        if model.selected_ is not None:
            assert 0 not in model.selected_
            assert 2 in model.selected_

    def test_units_of_the_data_do_not_matter(self, name):
        X, y = additive(5, n=100, d=4)
        validation, unit, shift = (X[:40], y[:40]), np.array([1e-3, 1.0, 50.0, 1e4]), 3.0
        other = (validation[0] * unit + shift, validation[1] * 100 - 7)
        first = make(name, validation=validation, random_state=0).fit(X[40:], y[40:])
        second = make(name, validation=other, random_state=0)
        second.fit(X[40:] * unit + shift, y[40:] * 100 - 7)
        expected = first.predict(X) * 100 - 7
        np.testing.assert_allclose(second.predict(X * unit + shift), expected, rtol=1e-4, atol=1e-2)


def test_ridge_is_the_best_of_scikit_learns_ridges_on_its_grid():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 30)) * rng.uniform(0.1, 10, 30) + 4
    y = X @ rng.normal(size=30) / 10 + rng.normal(0, 3, 120)
    model = RidgeBaseline(validation=(X[60:], y[60:])).fit(X[:60], y[:60])
    scaler = StandardScaler().fit(X[:60])
    errors = []
    for alpha in model.path_["alpha"]:
        ridge = Ridge(alpha=60 * alpha).fit(scaler.transform(X[:60]), y[:60])
        errors.append(np.sqrt(np.mean((y[60:] - ridge.predict(scaler.transform(X[60:]))) ** 2)))
    np.testing.assert_allclose(model.path_["validation_error"], errors, rtol=1e-7)
    assert len(errors) == 50
    assert 0 < np.argmin(errors) < 49  # the grid brackets the choice, so the test can fail
    assert model.alpha_ == model.path_["alpha"][np.argmin(errors)]
    ridge = Ridge(alpha=60 * model.alpha_).fit(scaler.transform(X[:60]), y[:60])
    np.testing.assert_allclose(model.predict(X), ridge.predict(scaler.transform(X)), rtol=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_lasso_finds_a_sparse_linear_model_and_refits_it(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 40))
    y = X[:, [3, 11, 25]] @ [1.0, -1.0, 0.5] + rng.normal(0, 0.5, 400)
    model = LassoBaseline(validation=(X[200:], y[200:])).fit(X[:200], y[:200])
    assert {3, 11, 25} <= set(model.selected_.tolist())
    assert model.selected_.size <= 8
    assert set(np.flatnonzero(model.coef_)) == set(model.selected_)
    S = model.selected_
    scaler = StandardScaler().fit(X[:200, S])
    ridge = Ridge(alpha=200 * model.alpha_).fit(scaler.transform(X[:200, S]), y[:200])
    np.testing.assert_allclose(model.predict(X), ridge.predict(scaler.transform(X[:, S])))
    np.testing.assert_allclose(model.coef_[[3, 11, 25]], [1.0, -1.0, 0.5], atol=0.15)


def test_lasso_grid_begins_with_the_empty_set_and_follows_the_first_variable():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100, 10))
    y = 3 * X[:, 4] + rng.normal(size=100)
    model = LassoBaseline(validation=(X, y)).fit(X, y)
    assert model.path_["n_variables"][:2].tolist() == [0, 1]
    assert model.path_["validation_error"][0] == pytest.approx(y.std())
    U = StandardScaler().fit_transform(X)
    assert model.path_["lambda"][0] == pytest.approx(np.abs(U.T @ (y - y.mean())).max() / 100)


class TestFunctionBasis:
    def test_is_centred_orthonormal_and_spans_the_splines(self):
        x = np.random.default_rng(0).normal(size=200)
        Z = FunctionBasis.fit(x, 5, 3)(x)
        assert Z.shape == (200, 6)
        np.testing.assert_allclose(Z.T @ Z, 200 * np.eye(6), atol=1e-9)
        np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-12)
        B = SplineTransformer(n_knots=5, knots="quantile").fit_transform(x[:, None])
        with_constant = np.column_stack([np.ones(200), Z])
        rest = B - with_constant @ np.linalg.lstsq(with_constant, B)[0]
        np.testing.assert_allclose(rest, 0, atol=1e-10)

    def test_of_few_values_has_as_many_functions_as_there_are_contrasts(self):
        rng = np.random.default_rng(0)
        assert FunctionBasis.fit(rng.integers(0, 2, 90) * 1.0, 5, 3).rotation.shape[1] == 1
        assert FunctionBasis.fit(rng.integers(0, 3, 90) * 1.0, 5, 3).rotation.shape[1] == 2
        assert FunctionBasis.fit(np.ones(9), 5, 3) is None

    def test_is_constant_beyond_the_training_range(self):
        basis = FunctionBasis.fit(np.linspace(-1, 1, 50), 5, 3)
        np.testing.assert_allclose(basis(np.array([1.0, 1e6])), basis(np.array([1.0, 1.0])))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.slow
def test_spam_finds_the_variables_of_an_additive_function(seed):
    X, y = additive(seed, n=900)
    model = SPAM(validation=(X[300:600], y[300:600])).fit(X[:300], y[:300])
    assert set(np.argsort(model.importances_)[-3:]) == {1, 2, 3}
    assert {1, 2, 3} <= set(model.selected_.tolist())
    # What the noise variables contribute is small beside the least of the three.
    noise = np.delete(model.importances_, [1, 2, 3])
    assert noise.max() < 0.3 * model.importances_[[1, 2, 3]].min()
    error = np.sqrt(np.mean((y[600:] - model.predict(X[600:])) ** 2))
    assert 0.45 < error < 0.65  # the noise is 0.5, the target's standard deviation 1.3


@pytest.mark.slow
def test_spam_solution_satisfies_the_group_lasso_conditions():
    X, y = additive(0, n=600)
    X += 2 * X.mean(axis=1, keepdims=True) * np.sqrt(15)  # correlated: one sweep solves nothing
    X_train, y_train = X[:300], y[:300]
    model = SPAM(validation=(X[300:], y[300:])).fit(X_train, y_train)
    U = StandardScaler().fit_transform(X_train)
    target = (y_train - y_train.mean()) / y_train.std()
    # Any orthonormal basis of the centred splines will do: the problem only knows their span.
    blocks = []
    for u in U.T:
        B = SplineTransformer(n_knots=5, knots="quantile").fit_transform(u[:, None])
        Q, R = np.linalg.qr(B[:, 1:] - B[:, 1:].mean(axis=0))
        assert np.abs(np.diag(R)).min() > 1e-3
        blocks.append(Q * np.sqrt(300))
    fitted = []
    for j in range(15):
        alone = np.tile(X_train.mean(axis=0), (300, 1))
        reference = model.predict(alone)
        alone[:, j] = X_train[:, j]
        f = (model.predict(alone) - reference) / y_train.std()
        fitted.append(f - f.mean())
    residual = target - np.sum(fitted, axis=0)
    np.testing.assert_allclose(
        residual * y_train.std(), y_train - model.predict(X_train), atol=1e-9
    )
    assert 3 <= model.selected_.size < 15
    for j, (Z, f) in enumerate(zip(blocks, fitted, strict=True)):
        gradient = Z.T @ residual / 300
        norm = np.sqrt(np.mean(f**2))
        assert norm * y_train.std() == pytest.approx(model.importances_[j], abs=1e-10)
        if j in model.selected_:
            w = Z.T @ f / 300
            np.testing.assert_allclose(gradient, model.lambda_ * w / norm, atol=2e-5)
        else:
            assert norm == 0
            assert np.linalg.norm(gradient) <= model.lambda_ + 2e-5


def test_spam_path_starts_empty_and_has_fifty_candidates():
    X, y = additive(0, n=200, d=8)
    path = SPAM(random_state=0).fit(X, y).path_
    assert path["n_variables"][0] == 0
    assert path["n_variables"][1] >= 1  # the first lambda is the least that leaves it empty
    assert path["n_variables"].max() == 8
    assert len(path["lambda"]) == 50


def test_spam_without_skglm_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "skglm", None)
    with pytest.raises(ImportError, match=r"pip install 'srff\[baselines\]'"):
        SPAM().fit(np.eye(4), np.arange(4.0))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SPAM(n_knots=1), "n_knots=1"),
        (SPAM(degree=0), "degree=0"),
        (HSICLasso(block_size="all"), "block_size='all'"),
        (HSICLasso(block_size=1), "block_size=1"),
        (HSICLasso(n_permutations=0), "n_permutations=0"),
    ],
)
def test_wrong_parameters_are_named(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(np.eye(4), np.arange(4.0))
