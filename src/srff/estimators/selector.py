"""What the estimators share that select variables."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from srff._utils import parameters
from srff._utils.progress import Callback
from srff._utils.threads import count_threads
from srff.core.candidate import Candidate, Found
from srff.core.groups import parse_columns, parse_groups
from srff.data.encoding.frames import is_category
from srff.data.encoding.learning import check_how
from srff.data.engines import parse_memory
from srff.data.problem import FLOAT64_ROWS, Problem
from srff.estimators.answer import TABLES, Asked, of_columns, store_answer, store_table
from srff.estimators.bands import bands_of_columns
from srff.estimators.base import RandomFeatureModel
from srff.estimators.column_selector import ColumnSelectorMixin
from srff.inspect.describe import html_summary, summary
from srff.paper.alpha_search import MAX_ITER, TOL, search_alternating
from srff.paper.profile_search import BUDGET_FACTORS, search_profile
from srff.selection.config import CONFIG, EFFORTS, Config
from srff.selection.recipe import find_model
from srff.selection.search import Effort, Request

SOLVERS = ("profile", "alternating")
REFINEMENTS = ("auto", "metric", "frequencies")
KEEPS = ("auto", "fewest", "best")
INPUTS = ("auto", "standard", "quantile")
MISSING = ("error", "impute")

LEAST_IMPORTANCE = 1e-3
"""Part of the largest importance that a variable in use has at least, times its share of scales."""


class SelectingModel(ColumnSelectorMixin, RandomFeatureModel):
    """A model that finds the variables it needs."""

    selection_config: ClassVar[Config] = CONFIG
    """The constants of the default fit; for ablations."""
    _has_intervals: ClassVar[bool] = False
    """Whether predictions are numbers, with intervals around them."""

    def _config(self) -> Config:
        """The constants, with what ``effort`` changes of them."""
        return replace(self.selection_config, **EFFORTS[self.effort])

    @property
    def feature_importances_(self) -> np.ndarray:
        """``importances_`` as shares of their sum, or ``scale_`` where those are not known.

        A variable in use has a part of it even if no row held out misses it.
        """
        check_is_fitted(self)
        share = self.scale_ / (self.scale_.sum() or 1.0)
        missed = getattr(self, "importances_", None)
        if missed is None or not (missed > 0).any():
            return share
        each = np.maximum(missed / missed.max(), LEAST_IMPORTANCE * share)
        return each / each.sum()

    def reduced(self) -> Self:
        """The same fitted model over the selected columns alone, for deployment.

        Returns
        -------
        model : SRFFRegressor or SRFFClassifier
            Fitted; its inputs are the selected columns, in their order.
        """
        check_is_fitted(self)
        support = self.get_support()
        if not support.any():
            raise ValueError("No variable was selected: the model is the constant intercept_.")
        model = copy.copy(self)
        encoding, kept = self.encoding_, support
        if encoding is not None:
            kept = support[encoding.source]
            model.encoding_ = encoding.take(np.flatnonzero(kept))
            assert self.levels_ is not None
            model.levels_ = tuple(self.levels_[k] for k in np.flatnonzero(support))
        model.columns_ = np.searchsorted(np.flatnonzero(kept), self.columns_)
        if hasattr(model, "confidence_"):
            del model.confidence_  # it is of the columns of the whole table
        for name, mask in (
            ("scale_", support),
            ("fold_agreement_", support),
            ("input_range_", support),
            ("importances_", support),
            ("importances_se_", support),
            ("feature_names_in_", support),
            ("center_", kept),
            ("spread_", kept),
        ):
            if getattr(self, name, None) is not None:
                setattr(model, name, getattr(self, name)[mask])
        for name in TABLES:
            if hasattr(self, name):
                setattr(model, name, of_columns(getattr(self, name), support))
        if hasattr(self, "effect_bands_"):
            model.effect_bands_ = bands_of_columns(self.effect_bands_, support)
        model.n_features_in_ = int(support.sum())
        # What speaks of the columns of the whole table.
        if self.groups is not None:
            names = getattr(self, "feature_names_in_", None)
            model.groups = parse_groups(self.groups, support.size, names)[support]
        if self.must_keep is not None:
            names = getattr(self, "feature_names_in_", None)
            kept_ones = np.zeros(support.size, dtype=bool)
            kept_ones[parse_columns(self.must_keep, support.size, names, "must_keep")] = True
            model.must_keep = kept_ones[support].tolist()
        if not (isinstance(self.validation, float | int) or hasattr(self.validation, "split")):
            model.validation = None
        if model.levels_ is not None and not isinstance(self.categorical_features, str | None):
            model.categorical_features = [is_category(level) for level in model.levels_]
        return model

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        text: str = super().__repr__(N_CHAR_MAX=N_CHAR_MAX)
        return f"{text}\n{summary(self)}" if hasattr(self, "scale_") else text

    @property
    def _repr_html_(self) -> Callable[[], str]:
        inner = super()._repr_html_
        return lambda: (html_summary(self) if hasattr(self, "scale_") else "") + inner()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_()
        return bundle

    def report(
        self, path: Any = None, X: Any = None, y: Any = None, *, overwrite: bool = False
    ) -> str:
        """Write what was found as one HTML page that stands alone.

        Parameters
        ----------
        path : path or None, default=None
            Where to write it; None only returns it.
        X, y : array-like or None, default=None
            Rows that the model was not fitted on, if there are any at hand.
        overwrite : bool, default=False
            Whether a file that is there may be replaced.

        Returns
        -------
        page : str
        """
        from srff.inspect.report import report

        return report(self, path, X, y, overwrite=overwrite)

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.scale_ > 0

    def _check_parameters(self) -> None:
        super()._check_parameters()
        parameters.check_choice("solver", self.solver, SOLVERS)
        if self.refine is not None:
            parameters.check_choice("refine", self.refine, REFINEMENTS, or_none=True)
        parameters.check_choice("inputs", self.inputs, INPUTS)
        parameters.check_choice("effort", self.effort, tuple(EFFORTS))
        parameters.check_choice("keep", self.keep, KEEPS)
        if self.inputs == "quantile" and (self.refine is None or self.solver == "alternating"):
            raise ValueError(
                "inputs='quantile' needs solver='profile' and refine='auto', 'metric' or "
                f"'frequencies', got solver={self.solver!r}, refine={self.refine!r}."
            )
        if self.fresh_draws and self.solver != "alternating":
            raise ValueError(
                f"fresh_draws=True needs solver='alternating', got solver={self.solver!r}."
            )
        parameters.check_choice("missing", self.missing, MISSING)
        check_how("categories", self.categories)
        if self.n_features_to_select is not None:
            parameters.check_integer("n_features_to_select", self.n_features_to_select, 1)
            if self.refine is None:
                raise ValueError(
                    "n_features_to_select needs refine='auto', 'metric' or 'frequencies', got "
                    "refine=None."
                )
        if self.must_keep is not None and self.refine is None:
            raise ValueError(
                "must_keep needs refine='auto', 'metric' or 'frequencies', got refine=None."
            )
        if self.max_iter is not None:
            parameters.check_integer("max_iter", self.max_iter, 1)
        if self.tol is not None:
            parameters.check_tolerance(self.tol)
        parameters.check_folder("checkpoint", self.checkpoint)

    def _limits(self) -> tuple[int, float]:
        """Iterations of a descent, and the relative decrease that ends it."""
        if self.solver == "alternating":
            return self._given_limits(MAX_ITER, TOL)
        return self._given_limits(self._config().max_iter, self._config().tol)

    def _given_limits(self, max_iter: int, tol: float) -> tuple[int, float]:
        """What the user gave, or these."""
        return (
            max_iter if self.max_iter is None else self.max_iter,
            tol if self.tol is None else self.tol,
        )

    def _constants(self) -> dict[str, Any]:
        constants = asdict(self.selection_config)
        return {f"selection_config.{name}": value for name, value in constants.items()}

    def _scalings(self) -> str:
        # Only the profile's own starts look at inputs in more than one way.
        refining = self.refine is not None and self.solver == "profile"
        return self.inputs if refining else "standard"

    def _float64_rows(self) -> int:
        return FLOAT64_ROWS if self.refine is None else self._config().float64_rows

    def _most_features(self) -> tuple[int, int]:
        """Most features of the wide model and most free frequencies that may be chosen."""
        config = self._config()
        wide, free = config.wide_features, config.free_features
        if self.n_components != "auto":
            return 0, 0
        limit = parse_memory(self.memory_limit)
        if limit is None:
            return wide, free
        # Sums of D x D numbers: one for each thread, their total, and what a solve needs; beside
        # them the candidates of all folds.
        fitting = int(np.sqrt(limit / 3 / (8 * (count_threads(self.n_jobs) + 4))))
        return min(wide, fitting), min(free, fitting)

    def _default_validation(self) -> str | None:
        return "folds" if self._uses_folds() else super()._default_validation()

    def _uses_folds(self) -> bool:
        return self.refine is not None and self.solver == "profile"

    def _chooses(self) -> bool:
        return (
            self.refine is not None
            or self.alpha == "auto"
            or (self.solver == "profile" and self.budget == "auto")
        )

    def _search(self, problem: Problem, report: Callback) -> Found:
        """On the simplex where that is asked for, and by the default's recipe unless it is all."""
        chosen: Candidate | None = None
        candidates: list[Candidate] = []
        if self.solver == "alternating":
            chosen, candidates = self._search_paper(problem, report)
        elif self.refine is None:
            max_iter, tol = self._limits()
            chosen, candidates = search_profile(
                problem,
                self._alphas(),
                factors=BUDGET_FACTORS if self.budget == "auto" else (1.0,),
                max_iter=max_iter,
                tol=tol,
                report=report,
            )
        n_evaluations = sum(len(candidate.objective) for candidate in candidates)
        if self.refine is None:
            assert chosen is not None
            return Found(chosen, candidates, n_evaluations)
        found = find_model(problem, self._request(chosen), self._config(), report)
        return replace(
            found,
            candidates=candidates + found.candidates,
            n_evaluations=n_evaluations + found.n_evaluations,
        )

    def _search_paper(
        self, problem: Problem, report: Callback
    ) -> tuple[Candidate, list[Candidate]]:
        """The paper's Algorithm 1 along the grid of alpha."""
        max_iter, tol = self._limits()
        result = search_alternating(
            problem,
            self._alphas(),
            max_iter=max_iter,
            tol=tol,
            fresh_draws=self.fresh_draws,
            n_alphas=self.grid_size,
            patience=self.grid_patience,
            report=report,
        )
        if not result.best.state.converged:
            warnings.warn(
                f"The solver stopped at max_iter={max_iter} before the objective's relative "
                f"decrease was below tol={tol}; raise either.",
                ConvergenceWarning,
                stacklevel=4,
            )
        candidates = result.candidates
        return candidates[result.chosen], candidates

    def _forced_groups(self) -> tuple[int, ...]:
        """The numbers of the groups that ``must_keep`` names a column of."""
        names = getattr(self, "feature_names_in_", None)
        columns = parse_columns(self.must_keep, self.n_features_in_, names, "must_keep")
        groups = np.unique(parse_groups(self.groups, self.n_features_in_, names)[columns])
        most = self.n_features_to_select
        if most is not None and groups.size > most:
            raise ValueError(
                f"must_keep names {groups.size} variables or groups; n_features_to_select={most}."
            )
        return tuple(groups.tolist())

    def _look_back(self, problem: Problem, found: Found | None, given: tuple[Any, Any]) -> None:
        """Other models on the same rows, and how much each variable is missed."""
        store_table(self, problem, *given)
        config = self._config()
        here = self._uses_folds() and self.device == "cpu"
        asked = Asked(
            references=config.references and here,
            importances=config.importances and here,
            intervals=here,
        )
        store_answer(self, problem, found, asked)

    def _request(self, begin_from: Candidate | None) -> Request:
        """What the parameters ask of the default's recipe."""
        config = self._config()
        wide, free = self._most_features()
        return Request(
            refine=self.refine,
            effort=Effort(*self._given_limits(config.max_iter, config.tol)),
            wide_features=wide,
            free_features=free,
            alpha=None if self.alpha == "auto" else float(self.alpha),
            begin_from=begin_from,
            inputs=self.inputs,
            n_variables=self.n_features_to_select,
            must_keep=self._forced_groups(),
            keep=self.keep,
        )
