"""Regression that finds the variables it needs."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from srff._utils.progress import Callback
from srff.core.losses import Loss, get_loss
from srff.estimators.base import RandomFeatureRegressor
from srff.estimators.selector import SelectingModel
from srff.inspect.intervals import interval_of


class SRFFRegressor(SelectingModel, RandomFeatureRegressor):
    """Nonlinear regression that finds the variables it needs: sparse random Fourier features.

    Kernel ridge regression on random features ``Z = sqrt(2/D) cos(X W + b)`` whose frequencies are
    learned with the model, so that the scale of a variable that does not help is exactly zero.

    By default the variables are found by elimination: frequencies are learned on many variables,
    the least used leave, and so on; the smallest model that is not significantly worse than the
    best on the validation rows says which variables are kept, and the best of several kinds of
    model on these is returned.  ``solver="alternating", refine=None`` is the method of the paper
    [1]_, with ``W = diag(gamma) E`` and ``gamma`` on a simplex.

    Inputs and target are standardised inside.

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
        validation error.
    budget : float or "auto", default="auto"
        The sum of the scales that the search starts from, and that ``refine=None`` keeps to.  The
        paper's is d / sigma, with sigma the median distance to the 20 nearest neighbours among at
        most 1,000 rows.  "auto" is that for ``solver="alternating"``; for "profile" half of it and
        twice of it are tried too.
    solver : {"profile", "alternating"}, default="profile"
        How scales are found.  "profile" solves for the coefficients at every point of the descent;
        with ``refine=None`` it is a projected descent on the simplex whose alpha follows the
        evidence.  "alternating" is the paper's Algorithm 1.
    fresh_draws : bool, default=False
        Whether each alpha of the paper's grid has random frequencies ``E`` and offsets ``b`` of its
        own, so that the validation error chooses among draws too.  For ``solver="alternating"``.
    refine : {"auto", "metric", "frequencies"} or None, default="auto"
        What is learned beyond scales: a metric ``W = L E``, or every frequency on its own; "auto"
        chooses among them and scales alone by validation error.  None keeps to the simplex.
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
        and chooses by validation error.  ``refine=None`` and ``solver="alternating"`` need
        "standard" or "auto", the same then.
    loss : {"squared", "poisson", "pinball"} or Loss, default="squared"
        What is minimised: "squared" predicts the mean, "poisson" the rate of counts by a model of
        its logarithm, "pinball" the median or, as ``srff.losses.Pinball(0.9)``, another quantile;
        or a loss of your own.
    groups : list of lists, array of labels, mapping or None, default=None
        Columns that are kept or dropped together and share one scale: lists of columns (positions
        or names), a label for each column, or a mapping of names to lists.  A column in no list
        stands for itself.
    n_features_to_select : int or None, default=None
        Keep so many variables (or groups), if as many vary; None leaves it to ``keep``.
    must_keep : list of names or positions, mask or None, default=None
        Columns that stay whatever the rows say, with their groups, if they vary.
    target_weights : {"variance", "equal"} or array of shape (n_targets,), default="variance"
        How several targets count in the loss: by their variance, as they stand in their units;
        each the same; or by numbers times the same.
    categorical_features : "from_dtype", list of names or positions, or mask, default="from_dtype"
        Columns that are categories.  By default those that a data frame has as categories, text or
        booleans.
    categories : {"auto", "onehot", "target"}, OneHotEncoder or TargetEncoder, default="auto"
        How categories are encoded inside, the columns of one being a group: an indicator for each
        level, or the mean of the target at each level; "auto" is indicators for up to 16 levels.
        An encoder of scikit-learn is used with its own settings.  Levels that the fit did not see
        are zeros, or the overall mean.
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
    importances_, importances_se_ : ndarray of shape (n_features_in_,) or None
        How much of what the model explains is lost on rows held out without a variable, as a share,
        with its standard error: without it is the mean of what the model says of draws of the
        variable given all others.  Zero for variables that are not used.
        None with ``effort="quick"``, on another device, for rows that are not in memory, and where
        nothing is explained.
    reference_errors_ : dict of str to tuple of two floats
        The errors of other models on the same rows held out, with their standard errors: "ridge"
        ("Poisson regression" for that loss) and "boosted trees", which see all columns.  Empty with
        ``effort="quick"``, on another device, for rows that are not in memory, for several targets
        and for other losses.
    interactions_ : dict of arrays
        Pairs of variables that act together, the strongest first: the columns ``first`` and
        ``second``, and the ``share`` of the variance of what the model says that the two make only
        together.
    effect_bands_ : dict of arrays
        For inputs that are numbers (``input``), at some ``value``: how far below (``low``) and
        above (``high``) their mean the curves of the models of the folds go.
    stand_ins_ : dict of arrays
        Columns that are not used (``column``), each with one that is (``instead_of``) and their
        ``correlation``, where it is at least 0.9.
    dropped_ : dict of arrays
        Variables that the search tried to do with and without beside those in use (``column``), and
        by what share the error of the search ``rise`` without.
    held_out_errors_ : ndarray of shape (n_quantiles, n_targets) or None
        What rows held out were missed by, sorted, in the target's units (for counts divided by the
        root of the rate); at most 1,999 quantiles of them.  ``predict(X, interval=0.9)`` is made
        of it.
    target_name_, n_rows_ : str or None, int
        What the target was called where the fit was given it, and the rows of the fit.
    alpha_, budget_ : float
        The values used.
    sigma_ : float or None
        The kernel's width that the budget came from, if it did.
    model_kind_ : str
        "scales", "metric", "low order" (features of one to three directions), "wide" (one of these
        with many more features), "frequencies" (each its own, the mean over several draws), "blend"
        (a mean of several kinds), "mean of folds" (up to 400 rows: that of a model of each fold) or
        "mean" (no variable).
    input_map_ : object
        The map of the selected inputs to a common scale.
    coefficients_ : ndarray of shape (n_components,) or (n_components, n_targets)
        Coefficients of the random features, in the target's units.
    intercept_ : float or ndarray of shape (n_targets,)
        What is added to them: the target's mean for the squared loss.
    n_targets_ : int or None
        The number of targets; None where ``y`` had one dimension.
    frequencies_, offsets_ : ndarrays of shapes (n_selected, n_components) and (n_components,)
        ``W`` in the selected columns, and ``b``.
    columns_ : ndarray of int
        The columns that ``frequencies_`` has rows for: the selected ones; of a table with
        categories or gaps, columns of the encoded table.
    levels_, encoding_ : tuple and object, or None
        The levels of the columns that are categories, and how the table is encoded; None for a
        table of numbers.
    center_, spread_ : ndarrays of shape (n_features_in_,)
        The standardisation of the inputs, or of the columns of the encoded table.
    input_range_ : ndarray of shape (n_features_in_, 2)
        The smallest and the largest value of each input in the rows of the fit; NaN for categories.
    expected_error_, expected_error_se_ : float
        The error to expect on new rows of what the whole procedure ends with (root mean squared
        error, or the mean of another loss), and its standard error.  With folds the choice among
        candidates is made for each by the rows of the others, so that it is not the lowest of many
        errors; with a single hold-out it is ``validation_error_``.  NaN for ``refine=None``.
    judged_rows_ : float
        The number of rows that it comes from: those of all folds, or of the single hold-out.
    n_folds_ : int
        The number of folds; 0 for a single hold-out or none.
    fold_agreement_ : ndarray of shape (n_features_in_,) or None
        For each input the share of the folds that chose it; None without folds.
    validation_error_ : float
        The error of the chosen model on the rows that chose it last, before its last solve: a
        detail of the search; NaN where there were none.
    constant_error_ : float
        The error of the best constant, on the training rows.
    target_spread_ : float
        The target's standard deviation, or the unit that errors are given in.
    path_ : dict of arrays
        One row per candidate: its ``kind`` and ``inputs``, ``alpha``, ``budget``,
        ``training_error`` and ``validation_error`` and the ``loss`` that they are of ("squared":
        RMSE; "scores": RMSE of the loss's slopes, which variables are searched by), ``n_variables``
        (or groups), ``n_iter``, ``seconds``, and whether it was ``stopped`` early.
    objective_ : ndarray
        The objective (of the standardised target) at the start and after each iteration.
    n_iter_, n_passes_ : int
        Iterations of the chosen model; passes of the whole fit that read every training row.
    n_evaluations_ : int
        Evaluations of an objective by the whole fit: points at which coefficients were solved for.
    effective_passes_ : float
        Rows that all passes of the fit read, those over samples of the rows too, as a multiple of
        the training rows.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    References
    ----------
    .. [1] Gregorova, Ramapuram, Kalousis, Marchand-Maillet, "Large-scale Nonlinear Variable
       Selection via Kernel Random Features", ECML-PKDD 2018.

    Examples
    --------
    >>> from srff import SRFFRegressor
    >>> from srff.datasets import make_se2
    >>> X, y = make_se2(1000, random_state=0)
    >>> X.shape
    (1000, 100)
    >>> model = SRFFRegressor(n_components=50, random_state=0).fit(X, y)
    >>> model.get_support(indices=True).tolist()
    [10, 11, 12, 13, 14]
    """

    _has_intervals: ClassVar[bool] = True

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
        loss: Any = "squared",
        groups: Any = None,
        n_features_to_select: int | None = None,
        must_keep: Any = None,
        target_weights: Any = "variance",
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
        self.loss = loss
        self.groups = groups
        self.n_features_to_select = n_features_to_select
        self.must_keep = must_keep
        self.target_weights = target_weights
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

    def predict(self, X: Any, interval: float | None = None) -> Any:
        """Predict the target; only the columns that the model uses are read.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs, with the columns that the model was fitted on.
        interval : float, default=None
            A share of new rows, such as 0.9, whose targets are to be between two ends around the
            prediction.  They come from ``held_out_errors_``: the share is one over all rows, not
            at each place, and rows must be like those of the fit.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
        ends : ndarray of shape (n_samples, 2) or (n_samples, n_targets, 2)
            The lower and the upper end; only with ``interval``.
        """
        said = super().predict(X)
        if interval is None:
            return said
        F, errors = said.reshape(said.shape[0], -1), getattr(self, "held_out_errors_", None)
        low, high = interval_of(self._loss(), F, errors, interval)
        return said, np.stack([low, high], axis=-1).reshape(*said.shape, 2)

    def _loss(self) -> Loss:
        return get_loss(self.loss)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        get_loss(self.loss)
