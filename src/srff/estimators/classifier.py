"""The classifier: the same search for variables, with the logistic loss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from srff._utils.arrays import HostScoreMixin
from srff._utils.parameters import LEAST_WEIGHT, check_given, is_number
from srff._utils.progress import Callback
from srff.core.losses import Loss, chances, class_loss, likeliest, log_chances
from srff.data.encoding.outcome import Outcome
from srff.data.sources import Source
from srff.data.sources.facts import TableFacts
from srff.data.weights import RowCount, class_shares, counted
from srff.estimators.selector import SelectingModel

FEW_CLASSES = 20
"""Up to so many classes there may be, however few the rows."""


class SRFFClassifier(HostScoreMixin, ClassifierMixin, SelectingModel):
    """Nonlinear classification that finds the variables it needs: sparse random Fourier features.

    Logistic regression (multinomial for more than two classes) on random features
    ``Z = sqrt(2/D) cos(X W + b)`` whose frequencies are learned with the model and shared by all
    classes, so that the scale of a variable that does not help is exactly zero.

    Variables are found as :class:`SRFFRegressor` finds them, with the squared loss of the classes'
    indicators (Brier's score); the models on the variables that are left are learned, and
    chosen, by their log loss.  ``refine=None`` minimises the log loss on the simplex from the first
    step, and ``solver="alternating"`` by the paper's Algorithm 1.

    Parameters
    ----------
    kernel : {"gaussian", "laplace", "matern12", "matern32", "matern52"}, kernel or callable, \
default="gaussian"
        The kernel whose spectral measure the frequencies ``E`` are drawn from: a name, an object
        of :mod:`srff.kernels` such as ``Matern(nu=2)``, or a function ``(rng, size) -> draws``.
    n_components : int or "auto", default="auto"
        Number of random features, D.  "auto" is as many as rows, but from 50 to 300, and many more
        for the last model where they help and ``memory_limit`` allows them.
    alpha : float or "auto", default="auto"
        Ridge penalty per row, at least 1e-8 in the descents of ``refine``.  "auto" chooses by
        validation log loss.
    budget : float or "auto", default="auto"
        The sum of the scales that the search starts from, and that ``refine=None`` keeps to.  The
        paper's is d / sigma, with sigma the median distance to the 20 nearest neighbours among at
        most 1,000 rows.  "auto" is that for ``solver="alternating"``; for "profile" half of it and
        twice of it are tried too.
    solver : {"profile", "alternating"}, default="profile"
        How scales are found.  "profile" solves for the coefficients at every point of the descent;
        with ``refine=None`` it is a projected descent on the simplex, at a few falling alphas.
        "alternating" is the paper's Algorithm 1.
    fresh_draws : bool, default=False
        Whether each alpha of the paper's grid has random frequencies ``E`` and offsets ``b`` of its
        own, so that the validation error chooses among draws too.  For ``solver="alternating"``.
    refine : {"auto", "metric", "frequencies"} or None, default="auto"
        What is learned beyond scales: a metric ``W = L E``, or every frequency on its own; "auto"
        chooses among them and scales alone by validation log loss.  None keeps to the simplex.
    effort : {"auto", "quick", "thorough"}, default="auto"
        How much ``solver="profile"`` and ``refine`` try.  "quick" is a tenth of it, for a first
        look, for grid searches and for many refits: one start, one elimination, one kind of last
        model; "thorough" is several times more.
    keep : {"auto", "fewest", "best"}, default="auto"
        When a variable stays.  "fewest": only if the model without it is significantly worse on
        rows held out (level 0.05).  "best": the lowest error on rows held out decides.  "auto": the
        level rises in proportion with fewer than 500 rows, up to one half; with more a rise of the
        loss by 2 % counts from 1.3 standard errors on: what rows do not show is no reason to drop.
        For ``refine``, without ``n_features_to_select``.
    inputs : {"auto", "standard", "quantile"}, default="auto"
        How inputs are brought to a common scale: by their mean and standard deviation, or as normal
        scores of their ranks.  "auto" tries the second too if any input is skewed or heavy-tailed,
        and chooses by validation log loss.  ``refine=None`` and ``solver="alternating"`` need
        "standard" or "auto", the same then.
    groups : list of lists, array of labels, mapping or None, default=None
        Columns that are kept or dropped together and share one scale: lists of columns (positions
        or names), a label for each column, or a mapping of names to lists.  A column in no list
        stands for itself.
    n_features_to_select : int or None, default=None
        Keep so many variables (or groups), if as many vary; None leaves it to ``keep``.
    must_keep : list of names or positions, mask or None, default=None
        Columns that stay whatever the rows say, with their groups, if they vary.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, beside one another, which rows count by in fitting and validation;
        "balanced" gives every class the same total.
    categorical_features : "from_dtype", list of names or positions, or mask, default="from_dtype"
        Columns that are categories.  By default those that a data frame has as categories, text or
        booleans.
    categories : {"auto", "onehot", "target"}, OneHotEncoder or TargetEncoder, default="auto"
        How categories are encoded inside, the columns of one being a group: an indicator for each
        level, or the share of each class at each level; "auto" is indicators for up to 16 levels.
        An encoder of scikit-learn is used with its own settings.  Levels that the fit did not see
        are zeros, or the overall shares.
    missing : {"error", "impute"}, default="error"
        What becomes of NaN in inputs: an error; or the column's median, with an indicator in the
        same group where any was missing in the fit.  A missing category is a level of its own.
    validation : float, int, pair (X, y), splitter, list of (train, test) or None, default=None
        What choices are made by: a fraction of the rows, held out by a hash of what they hold; a
        number of folds; data of its own; a splitter of scikit-learn such as ``GroupKFold()`` (it
        is given the rows of ``fit`` and ``row_groups``); or pairs of indices.  Two things are a
        pair ``(X, y)`` unless both are tuples of two: then they are two splits.  None stands for 10
        folds up to 100 rows and 5 up to 6,000; above that, for 0.2 but at most 20,000 rows.  Rows
        held out come back when the coefficients are solved for the last time; a
        pair is never learned from.  Of more than 20,000 rows a sample decides.  ``refine=None`` and
        ``solver="alternating"`` use one split: that which learns from most rows, or of k folds one,
        by default 0.2 or 30 rows but at most 0.4 if that is more.
    max_iter : int or None, default=None
        Most iterations of one descent; None is 400 for ``solver="alternating"`` and 30 for
        "profile" (15 if ``effort`` is "quick", 60 if "thorough").
    tol : float or None, default=None
        A descent stops when the objective's relative decrease in an iteration is below ``tol``;
        None is 1e-4 for ``solver="alternating"`` and 1e-5 for "profile" (1e-6 if ``effort`` is
        "thorough").
    dtype : {"auto", "float32", "float64"}, default="auto"
        Precision of the features.  "auto" is float32 above 500 rows, and above 50 in the descents
        of ``refine``.  Sums over rows and solves are in float64.
    device : str, default="cpu"
        "cpu" (NumPy), or a PyTorch device such as "cuda" to fit on.  Prediction is on the CPU.
    memory_limit : str, number or None, default=None
        Most bytes to use beside the data, such as "500MB".  None keeps standardised blocks of the
        data in memory.
    n_jobs : int or None, default=None
        Threads; None is all cores.  The model is bitwise the same for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of the frequencies and of the choice of rows.
    checkpoint : path or None, default=None
        A folder to keep the steps of the fit in.  A fit with the same data and parameters that
        finds them there goes on after the last one, and ends with the same model.  A folder of
        another fit, or a damaged one, is refused.  It stays when the fit has ended.
    verbose : int, default=0
        If positive, show a progress bar on a terminal.
    callback : callable or None, default=None
        Called with a :class:`srff.Progress` after each iteration.

    Attributes
    ----------
    scale_ : ndarray of shape (n_features_in_,)
        How fast the model varies along each variable, for standardised inputs, so that variables
        can be compared; exactly zero for variables that are not used.  It is ``gamma`` where the
        model has scales; else the root mean square of the variable's frequencies, each counted by
        the square of its coefficient.  Divide by ``spread_`` for the user's units.
    feature_importances_ : ndarray of shape (n_features_in_,)
        ``importances_`` as shares of their sum; ``scale_`` as shares where those are None.
    importances_, importances_se_, reference_errors_, interactions_, stand_ins_, dropped_
        As those of :class:`SRFFRegressor`; the other models are "logistic regression" and "boosted
        trees".  So are ``target_name_``, ``n_rows_`` and, of two classes, ``effect_bands_``.
    alpha_, budget_, sigma_ : float
        The values used, and the kernel's width that the budget came from; None if it did not.
    model_kind_ : str
        "scales", "metric", "low order" (features of one to three directions), "wide" (one of these
        with many more features), "frequencies" (each its own, the mean over several draws), "blend"
        (a mean of several kinds), "mean of folds" (up to 400 rows: that of a model of each fold) or
        "mean" (no variable).
    classes_ : ndarray of shape (n_classes,)
        The labels.
    coefficients_ : ndarray of shape (n_components,) or (n_components, n_classes)
        Coefficients of the random features; a vector for two classes.
    intercept_ : float or ndarray of shape (n_classes,)
        What is added to them.
    frequencies_, offsets_ : ndarrays of shapes (n_selected, n_components) and (n_components,)
        ``W`` in the selected columns, and ``b``.
    columns_ : ndarray of int
        The columns that ``frequencies_`` has rows for: the selected ones; of a table with
        categories or gaps, columns of the encoded table.
    levels_, encoding_ : tuple and object, or None
        The levels of the columns that are categories, and how the table is encoded; None for a
        table of numbers.
    center_, spread_, input_map_ : ndarrays of shape (n_features_in_,), and object
        The standardisation of the inputs, or of the columns of the encoded table; and the map of
        the selected ones to a common scale.
    input_range_ : ndarray of shape (n_features_in_, 2)
        The smallest and the largest value of each input of the fit; NaN for categories.
    expected_error_, expected_error_se_ : float
        The log loss to expect on new rows of what the whole procedure ends with, and its standard
        error.  With folds the choice among candidates is made for each by the rows of the others,
        so that it is not the lowest of many errors; with a single hold-out it is
        ``validation_error_``.  NaN for ``refine=None``.
    judged_rows_ : float
        The number of rows that it comes from: those of all folds, or of the single hold-out.
    n_folds_, fold_agreement_ : int, and ndarray of shape (n_features_in_,) or None
        The number of folds, and for each input the share that chose it; 0 and None without folds.
    validation_error_ : float
        Log loss of the chosen model on the rows that chose it last; NaN where there were none.
    constant_error_ : float
        Log loss of the shares of the classes.
    path_ : dict of arrays
        One row per candidate: its ``kind`` and ``inputs``, ``alpha``, ``budget``,
        ``training_error`` and ``validation_error`` and the ``loss`` that they are of ("logistic" or
        "multinomial": log loss; "scores": the root of Brier's score, which variables are searched
        by), ``n_variables`` (or groups), ``n_iter``, ``seconds``, and whether it was ``stopped``
        early.
    objective_ : ndarray
        The objective (of the standardised target) at the start and after each iteration.
    n_iter_, n_passes_, n_evaluations_ : int
        Iterations of the chosen model; of the whole fit passes that read every training row, and
        points at which coefficients were solved for.
    effective_passes_ : float
        Rows that all passes read, those over samples too, as a multiple of the training rows.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from srff import SRFFClassifier
    >>> X = np.random.default_rng(0).normal(size=(500, 8))
    >>> y = np.where(X[:, 1] ** 2 + X[:, 4] ** 2 > 1.4, "outside", "inside")
    >>> model = SRFFClassifier(n_components=50, max_iter=10, random_state=0).fit(X, y)
    >>> model.get_support(indices=True).tolist()
    [1, 4]
    >>> model.predict([[0] * 8, [0, 2, 0, 0, 0, 0, 0, 0]]).tolist()
    ['inside', 'outside']
    """

    def __init__(
        self,
        kernel: Any = "gaussian",
        n_components: int | str = "auto",
        *,
        alpha: float | str = "auto",
        budget: float | str = "auto",
        solver: str = "profile",
        fresh_draws: bool = False,
        refine: str | None = "auto",
        effort: str = "auto",
        keep: str = "auto",
        inputs: str = "auto",
        groups: Any = None,
        n_features_to_select: int | None = None,
        must_keep: Any = None,
        class_weight: Any = None,
        categorical_features: Any = "from_dtype",
        categories: Any = "auto",
        missing: str = "error",
        validation: Any = None,
        max_iter: int | None = None,
        tol: float | None = None,
        dtype: Any = "auto",
        device: str = "cpu",
        memory_limit: str | float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        checkpoint: Any = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.alpha = alpha
        self.budget = budget
        self.solver = solver
        self.fresh_draws = fresh_draws
        self.refine = refine
        self.effort = effort
        self.keep = keep
        self.inputs = inputs
        self.groups = groups
        self.n_features_to_select = n_features_to_select
        self.must_keep = must_keep
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.categories = categories
        self.missing = missing
        self.validation = validation
        self.max_iter = max_iter
        self.tol = tol
        self.dtype = dtype
        self.device = device
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.callback = callback

    def decision_function(self, X: Any) -> np.ndarray:
        """The log odds of the second of two classes, or a score for each of several.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs, with the columns that the model was fitted on.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        return self._predicted(X, lambda F: F[:, 0] if F.shape[1] == 1 else F)

    def predict_proba(self, X: Any) -> np.ndarray:
        """The chances of the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs, with the columns that the model was fitted on.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``; each row has the sum one.
        """
        return self._predicted(X, chances)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logs of the chances of the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs, with the columns that the model was fitted on.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
        """
        return self._predicted(X, log_chances)

    def predict(self, X: Any) -> np.ndarray:
        """The most likely class; only the columns that the model uses are read.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs, with the columns that the model was fitted on.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        codes = self._predicted(X, likeliest)  # first: it says so if there is no fit
        return self.classes_[codes]

    def _y_checks(self) -> dict[str, Any]:
        return {}

    def _check_y(self, X: np.ndarray, y: Any) -> np.ndarray:
        check_given(self, y)
        self._refuse_target(y)
        y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        assert_all_finite(y, input_name="y")
        return y

    def _learn_targets(
        self, y: np.ndarray, weight: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        if y.dtype == object:
            _check_labels(y.tolist())
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if weight is not None and self.class_weight is not None:
            weight = counted(weight)  # what a class weighs is a share of that
        self._learn_classes(np.bincount(codes, weights=weight), y.size)
        return self._outcome(codes.astype(np.float64)[:, None], weight)

    def _learn_classes(self, counts: np.ndarray, n_rows: int) -> None:
        """What is made of the classes, from how often each is there."""
        if self.classes_.size < 2:
            raise ValueError(
                f"y has one class, {self.classes_.tolist()[0]!r}; at least 2 classes are needed."
            )
        if self.classes_.dtype.kind == "f" and (self.classes_ % 1).any():
            odd = self.classes_[self.classes_ % 1 != 0][0]
            raise ValueError(
                f"y is a number that varies ({self.classes_.size} different values in {n_rows} "
                f"rows, such as {odd}), no class; a regressor predicts it."
            )
        if self.classes_.size > max(FEW_CLASSES, n_rows / 2):
            raise ValueError(
                f"y has {self.classes_.size} classes in {n_rows} rows: there is next to nothing to "
                "learn each from. Group them, or predict a number by a regressor."
            )
        weights = None
        if self.class_weight is not None:
            weights = _class_weights(self.class_weight, self.classes_, counts)
            weights = class_shares(weights, counts)
        self._outcome = Outcome(self.classes_.size, weights)

    def _has_classes(self) -> bool:
        return True

    def _row_count(self, unit: float) -> RowCount | None:
        return None if self.class_weight is None else RowCount(unit, False)

    def _learn_source_targets(self, source: Source, facts: TableFacts) -> Outcome:
        assert facts.classes is not None
        assert facts.class_weight is not None
        self.classes_ = facts.classes
        assert source.n_rows is not None  # facts took a pass
        self._learn_classes(facts.class_weight, source.n_rows)
        return self._outcome

    def _known_targets(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        codes = np.searchsorted(self.classes_, y).clip(max=self.classes_.size - 1)
        unknown = self.classes_[codes] != y
        if unknown.any():
            raise ValueError(
                f"validation has the class {y[unknown].tolist()[0]!r}; the fit has "
                f"{', '.join(map(repr, self.classes_.tolist()))}."
            )
        outcome = self._outcome
        if outcome.class_weight is not None:
            rows = np.bincount(codes, minlength=self.classes_.size)
            outcome = replace(outcome, class_weight=class_shares(outcome.class_weight, rows))
        return outcome(codes.astype(np.float64)[:, None], None)

    def _loss(self) -> Loss:
        return class_loss(self.classes_.size)

    def _one_output(self) -> bool:
        return bool(self.classes_.size == 2)

    def _constant_is(self) -> str:
        return "the shares of the classes"


def _check_labels(labels: list[Any]) -> None:
    """Refuse labels that are missing, and text beside anything else: they have no order."""
    if any(label is None for label in labels):
        raise ValueError("y has missing labels (None); leave their rows out.")
    other = next((label for label in labels if not isinstance(label, str)), None)
    text = next((label for label in labels if isinstance(label, str)), None)
    if other is not None and text is not None:
        raise ValueError(f"y has both text ({text!r}) and {other!r}; make them one or the other.")


def _class_weights(class_weight: Any, classes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The weight of each class."""
    if isinstance(class_weight, str) and class_weight == "balanced":
        return counts.sum() / (classes.size * counts)
    if not isinstance(class_weight, Mapping):
        raise ValueError(
            f"class_weight={class_weight!r} must be 'balanced', None or a mapping of classes to "
            "weights."
        )
    known = classes.tolist()
    for label, weight in class_weight.items():
        if label not in known:
            raise ValueError(f"class_weight has the class {label!r}; y has {known}.")
        if not (is_number(weight) and 0 < weight < np.inf):
            raise ValueError(f"class_weight has the weight {weight!r} for the class {label!r}.")
    weights = np.array([float(class_weight.get(label, 1.0)) for label in known])
    if weights.min() < LEAST_WEIGHT * weights.max():
        raise ValueError(
            f"class_weight gives weights from {weights.min():g} to {weights.max():g} (1 for a "
            f"class that it does not name); a factor of {1 / LEAST_WEIGHT:g} is the most."
        )
    return weights
