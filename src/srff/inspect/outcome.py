"""What a fitted model predicts: numbers, rates, a quantile or classes, and all that hangs on it.

:func:`outcome_of` is the one place that asks; whoever has its answer uses the same names for all.
"""

from __future__ import annotations

from dataclasses import dataclass
from inspect import ismethod
from typing import Any, ClassVar

import numpy as np
from sklearn.metrics import (
    confusion_matrix,
    d2_log_loss_score,
    d2_pinball_score,
    d2_tweedie_score,
    log_loss,
    r2_score,
    roc_auc_score,
)
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from srff._utils import parameters
from srff._utils.arrays import to_host
from srff.core.losses import SQUARED, Loss, Pinball, chances, likeliest
from srff.data.encoding.outcome import Outcome as ClassIndicators
from srff.inspect.wording import figure, first_few, number, share

Output = tuple[int, str]
"""The number of an output, and its name; the only one of a regression has none."""

SQUARED_UNITS = 1e-150, 1e150
"""Spreads of a target whose squares, and shares of these, are floats."""

MOST_LABELS = 12
"""Classes that a sentence names."""


@dataclass(frozen=True)
class Measure:
    """What the error of a model is."""

    name: str
    """In a sentence."""
    short: str
    """On an axis."""
    of_rows: str
    """What is averaged over rows: the square of it, or itself."""

    @classmethod
    def plain(cls, name: str, short: str | None = None) -> Measure:
        """One that is averaged as it stands."""
        return cls(name, short or name, name)


LOG_LOSS = Measure.plain("log loss")

MEASURES = {
    "logistic": LOG_LOSS,
    "multinomial": LOG_LOSS,
    "poisson": Measure.plain("half of the mean Poisson deviance", "Poisson deviance / 2"),
}
"""Of losses that have a name of their own."""


@dataclass(frozen=True)
class TargetError:
    """One target: its root mean squared error and R squared."""

    rmse: float
    r2: float


@dataclass(frozen=True)
class ClassFigures:
    """How well classes are told apart.

    ``confusion`` has a row for each class and a column for each that was predicted.
    """

    accuracy: float
    largest: float
    """The share of the most frequent class: the accuracy of always saying that."""
    auc: float
    """The area under the ROC curve; of more than two classes the mean of one against the others."""
    confusion: np.ndarray


def outcome_of(model: Any) -> Numbers | Classes:
    """What a fitted model predicts."""
    if hasattr(model, "classes_"):
        return Classes(model)
    found = getattr(model, "_loss", None)
    loss = found() if ismethod(found) else SQUARED  # some of scikit-learn's models have another
    if loss.name == "poisson":
        return Rates(model, loss)
    return Quantile(model, loss) if isinstance(loss, Pinball) else Numbers(model, loss)


@dataclass(frozen=True)
class Numbers:
    """Numbers, of one target or several: their means, or where another loss is least."""

    model: Any
    loss: Loss

    labels: ClassVar[tuple[Any, ...]] = ()
    """The classes, of which there are none."""
    search_error: ClassVar[str] = "RMSE of scores"
    mean: ClassVar[str] = "mean prediction"
    fit_title: ClassVar[str] = "Predicted and actual"
    fit_shows: ClassVar[str] = "Predictions against the target, and residuals against predictions."

    @property
    def n_targets(self) -> int:
        """Columns of the target."""
        return getattr(self.model, "n_targets_", None) or 1

    @property
    def sought(self) -> str:
        """What variables help to predict."""
        return "the target" if self.n_targets == 1 else f"the {self.n_targets} targets"

    @property
    def measure(self) -> Measure:
        """What ``validation_error_`` is."""
        if self.loss.name in MEASURES:
            return MEASURES[self.loss.name]
        if not self.loss.quadratic:
            return Measure.plain(f"mean {self.loss.name} loss", f"{self.loss.name} loss")
        unit = ""
        if self.n_targets > 1 and not self._count_by_variance:
            unit = ", in units of the targets' spreads"
        return Measure(f"root mean squared error{unit}", "RMSE", f"mean squared error{unit}")

    @property
    def loss_unit(self) -> float:
        """What :meth:`row_losses` are in: the target's unit, or its square."""
        unit = float(self.loss.reported(1.0, float(self.model.target_spread_)))
        if not self.loss.quadratic:
            return unit
        if unit and not SQUARED_UNITS[0] < unit < SQUARED_UNITS[1]:
            raise ValueError(
                f"The target varies by {unit:.3g}, and squares of it are beyond any float: give "
                "it in another unit."
            )
        return unit**2

    @property
    def constant(self) -> str:
        """What predicts without any variable, and the error is compared with."""
        if not (self.loss.quadratic or self.loss.name == "poisson"):
            return "a constant"
        return "the mean" if self.n_targets == 1 else "the means"

    @property
    def target_text(self) -> str:
        """The target of the fit in a sentence."""
        spread = number(self.model.target_spread_)
        if self.n_targets > 1:
            how = "they count by weights, not by their variance"
            if self._count_by_variance:
                how = f"the root of the sum of their variances is {spread}"
            return f"{self.n_targets:,} targets; {how}."
        if not self.loss.quadratic:
            return f"The loss is the {self.measure.name}."
        mean = number(self.model.intercept_)
        return f"The target's mean is {mean}, its standard deviation {spread}."

    def predict(self, X: Any) -> np.ndarray:
        """What the model says of rows: (rows,) or (rows, targets)."""
        return np.asarray(self.model.predict(X))

    def predictions(self, F: np.ndarray) -> np.ndarray:
        """Predictions of the targets from outputs: (rows, targets)."""
        return self.loss.prediction(F)

    def known_targets(self, y: Any, n_rows: int) -> np.ndarray:
        """Targets as columns of numbers."""
        Y = check_array(to_host(y), ensure_2d=False, dtype=np.float64, input_name="y")
        Y = Y[:, None] if Y.ndim == 1 else Y
        if Y.shape[1] != self.n_targets:
            raise ValueError(f"y has {Y.shape[1]} columns; the model has {self.n_targets}.")
        check_consistent_length(np.empty(n_rows), Y)
        return Y

    def row_losses(self, Y: np.ndarray, F: np.ndarray) -> np.ndarray:
        """The loss of each row, in the units that the model was fitted in."""
        unit = self._units(Y) if self.loss.standardises else np.ones(Y.shape[1])
        return np.asarray(self.loss.value(Y / unit, F / unit))

    def explained(self, Y: np.ndarray, F: np.ndarray) -> float:
        """The share of the loss of the rows' own best constant that is removed."""
        if not self.loss.quadratic:
            return float("nan")
        unit = self._units(Y)
        return float(1 - np.mean((Y - F) ** 2 / unit**2) / np.mean(np.var(Y / unit, axis=0)))

    def figures(self, Y: np.ndarray, F: np.ndarray) -> dict[str, Any]:
        """How good each target is predicted."""
        predicted = self.predictions(F)
        pairs = zip(Y.T, predicted.T, strict=True)
        return {"targets": tuple(TargetError(_rmse(y, p), _r2(y, p)) for y, p in pairs)}

    def quality(self, actual: np.ndarray, predicted: np.ndarray) -> list[str]:
        """The same of one target, for a title: R squared, where there is one, and the error."""
        error = f"RMSE = {short_number(_rmse(actual, predicted))}"
        r2 = _r2(actual, predicted)
        return [error] if np.isnan(r2) else [f"R² = {r2:.3f}", error]

    def drawn_outputs(self, target: Any, most: int) -> list[Output]:
        """The outputs that are drawn: the target that is asked for, or the first."""
        place = 0 if target is None else target
        parameters.check_integer("target", place, 0)
        if place >= self.n_targets:
            raise ValueError(
                f"target={target} must be below {self.n_targets}, the number of targets."
            )
        vector = getattr(self.model, "n_targets_", None) is None
        return [(int(place), "" if vector else f"target {int(place)}")]

    def axis_label(self, name: str, alone: bool) -> str:
        """What an axis of mean predictions is."""
        return f"{self.mean}, {name}" if name else self.mean

    @property
    def _count_by_variance(self) -> bool:
        """Whether several targets count by their variance."""
        weights = getattr(self.model, "target_weights", "variance")
        return isinstance(weights, str) and weights == "variance"

    def _units(self, Y: np.ndarray) -> np.ndarray:
        """What targets are divided by.

        Where several have weights, their spreads are not kept with the model: those of the rows
        stand for them.
        """
        n_targets = Y.shape[1]
        if n_targets == 1 or self._count_by_variance:
            return np.full(n_targets, float(self.model.target_spread_) or 1.0)
        weights = self.model.target_weights
        shares = np.ones(n_targets) if isinstance(weights, str) else np.asarray(weights, float)
        spread = Y.std(axis=0)
        return np.where(spread > 0, spread, 1.0) / np.sqrt(np.maximum(shares / shares.sum(), 1e-12))


class Rates(Numbers):
    """Rates of counts."""

    def explained(self, Y: np.ndarray, F: np.ndarray) -> float:
        """The share of the deviance that is removed, a mean over targets."""
        # A rate of zero has no deviance.
        rates = np.maximum(self.predictions(F), np.finfo(float).tiny)
        pairs = zip(Y.T, rates.T, strict=True)
        return float(np.mean([d2_tweedie_score(y, rate, power=1) for y, rate in pairs]))

    def quality(self, actual: np.ndarray, predicted: np.ndarray) -> list[str]:
        """The share of the deviance that is explained, and half of it."""
        if actual.min() < 0 or predicted.min() <= 0:
            return super().quality(actual, predicted)
        half = float(self.loss.value(actual[:, None], np.log(predicted)[:, None]).mean())
        error = f"deviance / 2 = {short_number(half)}"
        if not _varies(actual):
            return [error]
        return [f"D² = {d2_tweedie_score(actual, predicted, power=1):.3f}", error]


class Quantile(Numbers):
    """A quantile of the target."""

    loss: Pinball

    @property
    def measure(self) -> Measure:
        """What ``validation_error_`` is."""
        return Measure.plain(f"pinball loss of the {self._quantile}", "pinball loss")

    @property
    def constant(self) -> str:
        """What predicts without any variable."""
        return f"the target's {self._quantile}"

    def explained(self, Y: np.ndarray, F: np.ndarray) -> float:
        """The share of the pinball loss that is removed."""
        return float(d2_pinball_score(Y, self.predictions(F), alpha=self.loss.quantile))

    def quality(self, actual: np.ndarray, predicted: np.ndarray) -> list[str]:
        """Which quantile it is, and the share of the rows below."""
        below = share(float(np.mean(actual < predicted)))
        return [f"predicted: the {self._quantile}", f"{below} below"]

    @property
    def _quantile(self) -> str:
        level = self.loss.quantile
        return "median" if level == 0.5 else f"{level:g} quantile"


@dataclass(frozen=True)
class Classes:
    """Chances of classes."""

    model: Any

    n_targets: ClassVar[int] = 1
    sought: ClassVar[str] = "the class"
    measure: ClassVar[Measure] = LOG_LOSS
    constant: ClassVar[str] = "the class shares"
    # Of two classes or more, the scores are the indicators less their means.
    search_error: ClassVar[str] = "root of Brier's score"
    loss_unit: ClassVar[float] = 1.0
    mean: ClassVar[str] = "mean chance"
    fit_title: ClassVar[str] = "Classes told apart"
    fit_shows: ClassVar[str] = (
        "Shares of a class found against shares of others taken for it, and how often comes what "
        "is given a chance."
    )

    @property
    def labels(self) -> tuple[Any, ...]:
        """The classes in their order."""
        return tuple(np.asarray(self.model.classes_).tolist())

    @property
    def loss(self) -> Loss:
        """What is minimised."""
        return self.model._loss()

    @property
    def target_text(self) -> str:
        """The classes of the fit in a sentence."""
        few = first_few(map(str, self.labels), MOST_LABELS)
        weighted = self.model.class_weight is not None
        by_weight = " Rows count by the weight of their class." if weighted else ""
        return f"{len(self.labels):,} classes: {few}.{by_weight}"

    def predict(self, X: Any) -> np.ndarray:
        """The chances of the classes: (rows, classes)."""
        return np.asarray(self.model.predict_proba(X))

    def predictions(self, F: np.ndarray) -> np.ndarray:
        """The same from outputs."""
        return chances(F)

    def known_targets(self, y: Any, n_rows: int) -> np.ndarray:
        """The number of each row's class among those of the fit: (rows, 1)."""
        number_of = {label: code for code, label in enumerate(self.labels)}
        given = column_or_1d(np.asarray(to_host(y))).tolist()
        unknown = next((label for label in given if label not in number_of), None)
        if unknown is not None:
            listed = first_few(map(repr, self.labels), 8)
            raise ValueError(f"y has the class {unknown!r}; the model knows {listed}.")
        check_consistent_length(np.empty(n_rows), given)
        return np.array([number_of[label] for label in given], dtype=np.float64)[:, None]

    def row_losses(self, Y: np.ndarray, F: np.ndarray) -> np.ndarray:
        """The log loss of each row."""
        return np.asarray(self.loss.value(ClassIndicators(len(self.labels))(Y)[0], F))

    def explained(self, Y: np.ndarray, F: np.ndarray) -> float:
        """The share of the log loss of the rows' own class shares that is removed."""
        return float(d2_log_loss_score(Y[:, 0], chances(F), labels=np.arange(len(self.labels))))

    def figures(self, Y: np.ndarray, F: np.ndarray) -> dict[str, Any]:
        """How well the classes are told apart."""
        code, p, n_classes = Y[:, 0].astype(np.intp), chances(F), len(self.labels)
        counts = np.bincount(code, minlength=n_classes)
        auc = float("nan")
        if counts.all():
            auc = float(
                roc_auc_score(code, p[:, 1])
                if n_classes == 2
                else roc_auc_score(code, p, multi_class="ovr", labels=np.arange(n_classes))
            )
        table = confusion_matrix(code, likeliest(F), labels=np.arange(n_classes))
        right, largest = np.trace(table) / code.size, counts.max() / code.size
        return {"classes": ClassFigures(float(right), float(largest), auc, table)}

    def quality(self, actual: np.ndarray, predicted: np.ndarray) -> list[str]:
        """Accuracy and log loss, for a title, from the numbers of classes and the chances."""
        right = share(float(np.mean(np.argmax(predicted, axis=1) == actual)))
        loss = short_number(log_loss(actual, predicted, labels=np.arange(len(self.labels))))
        return [f"accuracy = {right}", f"log loss = {loss}"]

    def drawn_outputs(self, target: Any, most: int) -> list[Output]:
        """The classes that are drawn: one that is asked for, the second of two, or the first."""
        known = list(self.labels)
        if target is not None:
            if target not in known:
                listed = first_few(map(repr, known), 8)
                raise ValueError(f"target={target!r} must be a class: {listed}.")
            return [(known.index(target), str(target))]
        if len(known) == 2:
            return [(1, str(known[1]))]
        return [(k, str(label)) for k, label in enumerate(known[:most])]

    def axis_label(self, name: str, alone: bool) -> str:
        """What an axis of mean chances is."""
        return f"chance of {name}" if alone else "chance"


def short_number(error: float) -> str:
    """An error in a title."""
    if error >= 1e6:
        return figure(error)
    return f"{error:,.0f}" if error >= 1000 else f"{error:.3g}"


def _rmse(actual: np.ndarray, predicted: np.ndarray) -> float:
    return float(np.sqrt(np.mean((actual - predicted) ** 2)))


def _varies(actual: np.ndarray) -> bool:
    return actual.size > 1 and bool(np.ptp(actual))


def _r2(actual: np.ndarray, predicted: np.ndarray) -> float:
    return float(r2_score(actual, predicted)) if _varies(actual) else float("nan")
