"""The estimator that ``srff fit`` was asked for: words of the shell as its parameters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from srff._utils.text import shown
from srff.cli.errors import Refusal, WrongUse, no_such_column

if TYPE_CHECKING:
    import numpy as np

    from srff.cli.options import FitRequest
    from srff.data.sources.tables import TableSource

OWN_OPTIONS = (
    "random_state",
    "memory_limit",
    "checkpoint",
    "device",
    "verbose",
    "callback",
    "loss",
    "groups",
    "missing",
    "class_weight",
    "n_features_to_select",
    "must_keep",
    "effort",
    "keep",
    "validation",
    "categorical_features",
)
"""Parameters of the estimators that ``--set`` does not take: they have options of their own, or are
no plain values."""


def learner(request: FitRequest, classes: bool) -> Any:
    """The estimator with its parameters, refused before rows are read; groups come with them."""
    from srff.estimators.classifier import SRFFClassifier
    from srff.estimators.regressor import SRFFRegressor

    common: dict[str, Any] = {
        "memory_limit": request.memory_limit,
        "device": request.device,
        "random_state": request.seed,
        "checkpoint": request.checkpoint,
        "verbose": 0 if request.quiet else 1,
        "missing": "impute" if request.impute else "error",
        "n_features_to_select": request.n_features,
        "effort": request.effort.value,
        "keep": request.keep.value,
        "validation": _validation(request),
    }
    model: Any
    if classes:
        model = SRFFClassifier(class_weight=_class_weights(request.class_weight), **common)
    else:
        model = SRFFRegressor(loss=_loss(request.loss), **common)
    model.set_params(**_settings(request.settings, list(model.get_params())))
    _check(model)
    return model


def _validation(request: FitRequest) -> float | int | None:
    """A share of the rows, or a number of folds; with ``--time`` a number of splits."""
    from srff._utils.parameters import check_share_or_folds

    text = request.validation
    if text is None:
        return None
    try:
        value = check_share_or_folds("--validation", _value(text))
    except ValueError:
        raise WrongUse(
            f"--validation {shown(text)} must be a number of folds of at least 2, or a share of "
            "the rows between 0 and 1."
        ) from None
    if request.time is not None and isinstance(value, float):
        raise WrongUse(f"--validation {text} with --time must be a number of splits, such as 5.")
    return value


def numbered(source: TableSource, option: str, name: str) -> np.ndarray:
    """The number of each row's value in a column, in their order; an error where it has none."""
    from srff.estimators.validation import group_numbers

    values = source.column(name)
    try:
        return group_numbers(values, len(values))
    except ValueError as error:
        reason = str(error).removeprefix("row_groups ")
        raise Refusal(f"{option} {shown(name)}: the column {reason}") from None


def later_rows(source: TableSource, request: FitRequest) -> list[tuple[np.ndarray, np.ndarray]]:
    """Splits that learn from earlier rows and look at later ones; those of one time go together."""
    import numpy as np
    from sklearn.model_selection import TimeSeriesSplit

    assert request.time is not None
    moment = numbered(source, "--time", request.time)
    n_splits = TimeSeriesSplit().n_splits if request.validation is None else int(request.validation)
    times = np.unique(moment)
    if times.size <= n_splits:
        raise Refusal(
            f"--time {shown(request.time)}: {n_splits} splits need more than {n_splits} different "
            f"times; there are {times.size} (--validation K makes K splits)."
        )

    def rows(some: np.ndarray) -> np.ndarray:
        return np.flatnonzero(np.isin(moment, some))

    return [
        (rows(earlier), rows(later)) for earlier, later in TimeSeriesSplit(n_splits).split(times)
    ]


def groups_of(text: str, columns: list[str], inputs: list[str]) -> Any:
    """Groups of a JSON file, or as 'a,b;c,d'; without the columns that are no inputs."""
    path = Path(text)
    given: Any
    if path.is_file():
        try:
            given = json.loads(path.read_text("utf-8"))
        except ValueError as error:
            raise WrongUse(f"--groups {path}: cannot be read as JSON: {error}.") from None
    else:
        given = [[name.strip() for name in part.split(",")] for part in text.split(";") if part]
    lists = list(given.values()) if isinstance(given, dict) else given
    if not isinstance(lists, list) or not all(
        isinstance(group, list) and all(isinstance(name, str) for name in group) for group in lists
    ):
        raise WrongUse(
            f"--groups {text}: lists of names of columns are needed, such as 'a,b;c,d', or a JSON "
            'file such as {"north": ["a", "b"], "south": ["c", "d"]}.'
        )
    for name in [name for group in lists for name in group]:
        if name not in columns:
            raise WrongUse(no_such_column("--groups", name, columns))
    known = set(inputs)
    kept = [[name for name in group if name in known] for group in lists]
    return dict(zip(given, kept, strict=True)) if isinstance(given, dict) else kept


def _class_weights(text: str | None) -> Any:
    """Weights of classes: none, "balanced", or a number for each."""
    if text is None or text == "balanced":
        return text
    weights: dict[Any, float] = {}
    for part in text.split(","):
        label, equals, value = part.rpartition("=")
        try:
            weights[_value(label.strip())] = float(value)
        except ValueError:
            equals = ""
        if not equals:
            raise WrongUse(f"--class-weight {text}: 'balanced' or such as 'yes=3,no=1' is needed.")
    return weights


def _loss(text: str | None) -> Any:
    """A loss by its name, with a quantile after a colon; the squared one if none is named."""
    from srff.core.losses import Pinball, get_loss

    if text is None:
        return "squared"
    name, colon, value = text.partition(":")
    try:
        if colon and name == "pinball":
            return Pinball(float(value))
        get_loss(text)
    except ValueError as error:
        raise WrongUse(f"--loss {text}: {error}") from None
    return text


def _settings(texts: list[str], parameters: list[str]) -> dict[str, Any]:
    """The values of ``--set`` by their names."""
    accepted = [name for name in parameters if name not in OWN_OPTIONS]
    values = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or name not in accepted:
            raise WrongUse(
                f"--set {shown(text)} must be NAME=VALUE with a name of {', '.join(accepted)}."
            )
        values[name] = _value(value)
    return values


def _value(text: str) -> Any:
    """A number, true, false, none, or else the text."""
    if text.lower() in ("none", "null"):
        return None
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return text if isinstance(value, dict | list) else value


def _check(model: Any) -> None:
    """Refuse parameters before rows are read."""
    from srff.data.engines.device import import_torch

    try:
        model._check_parameters()
        if model.n_jobs is not None and not isinstance(model.n_jobs, int):
            raise ValueError(f"n_jobs={model.n_jobs!r} must be a whole number or none.")
        if model.device != "cpu":
            import_torch(model.device)
    except (TypeError, ValueError) as error:
        raise WrongUse(str(error)) from None
