"""Options that several commands share, and all that ``srff fit`` and ``srff predict`` take."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

STDOUT = "-"
"""What stands for standard output in the place of a file."""

Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Json = Annotated[
    bool, typer.Option("--json", help="One JSON object on standard output, nothing else there.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
Force = Annotated[bool, typer.Option("--force", "-f", help="Overwrite what is there.")]
TablePath = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="A csv, Parquet, Arrow or Feather file, a folder or a 'pattern*' of such; - for "
        "csv on standard input.",
    ),
]


class DecimalMark(StrEnum):
    """What stands before the fraction of a number."""

    point = "."
    comma = ","


Decimal = Annotated[
    DecimalMark | None,
    typer.Option(help="The decimal mark of csv; guessed from the first rows unless given."),
]
Sep = Annotated[
    str | None,
    typer.Option(
        metavar="CHAR",
        help="What stands between the values of csv: a comma, ';', '|' or tab unless given, by "
        "the first lines.",
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="How the text of csv is encoded, such as cp1252; UTF-8, UTF-16 or Windows-1252 unless "
        "given.",
    ),
]
MissingTexts = Annotated[
    list[str] | None,
    typer.Option(
        "--na",
        metavar="TEXT",
        help="A text of csv that stands for a missing value, such as '?', beside NA and the like; "
        "may be given again.",
    ),
]


class Effort(StrEnum):
    """How much is tried."""

    auto = "auto"
    quick = "quick"
    thorough = "thorough"


class Keep(StrEnum):
    """When a variable stays."""

    auto = "auto"
    fewest = "fewest"
    best = "best"


class Task(StrEnum):
    """What is predicted."""

    auto = "auto"
    regression = "regression"
    classification = "classification"


class Missing(StrEnum):
    """What to do where values are missing."""

    error = "error"
    drop_rows = "drop-rows"
    impute = "impute"


Targets = Annotated[
    list[str],
    typer.Option(
        "--target",
        "-t",
        metavar="COL",
        help="The column to predict; may be given again for several targets of a regression.",
    ),
]
ModelOut = Annotated[
    Path, typer.Option("--out", "-o", metavar="FILE", help="Where the model is written.")
]
TaskOption = Annotated[
    Task, typer.Option(help="Predict a number or a class; auto: a class if the target is text.")
]
Loss = Annotated[
    str | None,
    typer.Option(help="Of a regression: squared, poisson, pinball or such as pinball:0.9."),
]
Groups = Annotated[
    str | None,
    typer.Option(
        metavar="GROUPS",
        help="Columns kept or dropped together: 'a,b;c,d', or a JSON file of lists.",
    ),
]
EffortOption = Annotated[
    Effort, typer.Option(help="How much is tried: quick is a tenth, thorough several times more.")
]
KeepOption = Annotated[
    Keep,
    typer.Option(
        help="Keep a variable if it is significantly missed (fewest) or lowers the error (best); "
        "auto: like fewest, less strict below 500 rows and for what costs 2 % of the loss."
    ),
]
NFeatures = Annotated[
    int | None,
    typer.Option("--n-features", min=1, metavar="N", help="Keep so many variables or groups."),
]
ClassWeight = Annotated[
    str | None,
    typer.Option(metavar="WEIGHTS", help="Weights of classes: balanced, or 'yes=3,no=1'."),
]
Weight = Annotated[str | None, typer.Option(metavar="COL", help="A column of row weights.")]
Validation = Annotated[
    str | None,
    typer.Option(
        metavar="K|SHARE",
        help="Choose by so many folds, such as 5, or by a share of the rows, such as 0.2.",
    ),
]
RowGroup = Annotated[
    str | None,
    typer.Option(
        "--row-group",
        metavar="COL",
        help="A column of groups, such as patients: rows of one are held out together. No input.",
    ),
]
Time = Annotated[
    str | None,
    typer.Option(
        "--time",
        metavar="COL",
        help="A column of times: choose by rows that come later than those learned from. No input.",
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="COL", help="A column that is not an input; may be given again."),
]
MustKeep = Annotated[
    list[str] | None,
    typer.Option(
        "--must-keep",
        metavar="COL",
        help="A column that the model uses whatever the rows say; may be given again.",
    ),
]
Use = Annotated[
    list[str] | None,
    typer.Option(
        "--use",
        metavar="COL",
        help="A column that is an input though it counts or names the rows; may be given again.",
    ),
]
CategoryOption = Annotated[
    list[str] | None,
    typer.Option(
        "--category",
        metavar="COL",
        help="A column of categories though it holds numbers; may be given again.",
    ),
]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse columns that cannot be inputs.")]
MissingOption = Annotated[
    Missing,
    typer.Option(help="Refuse missing values, leave out rows that have any, or fill them in."),
]
MemoryLimit = Annotated[
    str | None, typer.Option(metavar="SIZE", help="Most memory beside the data, such as 500MB.")
]
Checkpoint = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Keep the steps here, to go on after a stop.")
]
ConfidenceOption = Annotated[
    bool,
    typer.Option(
        "--confidence",
        help="Say how sure it is of each variable: five more searches, each judged on rows set "
        "aside.",
    ),
]
Fdr = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        help="With --confidence: of the variables that are confirmed at most such a share does not "
        "matter, in the mean; 0.1 unless given.",
    ),
]
Device = Annotated[str, typer.Option(help="cpu, or a PyTorch device such as cuda.")]
Seed = Annotated[
    int, typer.Option(min=0, max=2**32 - 1, help="The same seed gives the same model.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A parameter of the estimator, such as n_components=100; may be given again.",
    ),
]


@dataclass(frozen=True)
class CsvForm:
    """How csv is written, as far as it was said."""

    decimal: DecimalMark | None = None
    sep: str | None = None
    encoding: str | None = None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class FitRequest:
    """What ``srff fit`` was asked for."""

    table: str
    targets: list[str]
    out: Path
    task: Task
    loss: str | None
    groups: str | None
    n_features: int | None
    must_keep: list[str]
    effort: Effort
    keep: Keep
    class_weight: str | None
    weight: str | None
    validation: str | None
    row_group: str | None
    time: str | None
    drop: list[str]
    use: list[str]
    category: list[str]
    csv: CsvForm
    strict: bool
    missing: Missing
    memory_limit: str | None
    checkpoint: Path | None
    confidence: bool
    fdr: float | None
    device: str
    seed: int
    settings: list[str]
    as_json: bool
    force: bool
    quiet: bool

    @property
    def taken(self) -> list[str]:
        """The columns of the targets and of the weight."""
        return [*self.targets, *([self.weight] if self.weight else [])]

    @property
    def beside(self) -> list[str]:
        """The columns that say how rows are held out."""
        return [name for name in (self.row_group, self.time) if name is not None]

    @property
    def no_inputs(self) -> list[str]:
        """Columns that the user says are not inputs."""
        return [*self.drop, *self.beside]

    @property
    def impute(self) -> bool:
        """Whether missing values are filled in."""
        return self.missing == Missing.impute

    @property
    def if_stopped(self) -> str:
        """What is said when the command is interrupted."""
        if self.checkpoint is None:
            return "Stopped; nothing was written."
        return f"Stopped; the same command goes on from {self.checkpoint}."


class MissingInputs(StrEnum):
    """What to do where values are missing that a model was not fitted to fill in."""

    error = "error"
    empty = "empty"


PredictionsOut = Annotated[
    str,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="A .csv, .parquet, .arrow or .feather file; - for csv on standard output.",
    ),
]
Proba = Annotated[bool, typer.Option("--proba", help="Write the probability of each class too.")]
MissingInputsOption = Annotated[
    MissingInputs,
    typer.Option(
        help="Refuse missing values that the model was not fitted to fill in, or leave the "
        "predictions of their rows empty (NaN in csv)."
    ),
]


KeepColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        metavar="COL",
        help="A column of the table, such as an id, to write before the predictions; may be given "
        "again.",
    ),
]
Interval = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        help="Write the ends of an interval around each prediction too, in which such a share of "
        "new rows, 0.9 for instance, is to be.",
    ),
]
Digits = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=17,
        metavar="N",
        help="Significant digits of predictions in csv; 7 unless given, all of them above 12.",
    ),
]


@dataclass(frozen=True)
class PredictRequest:
    """What ``srff predict`` was asked for."""

    model: Path
    table: str
    out: str
    proba: bool
    interval: float | None
    keep: list[str]
    digits: int | None
    csv: CsvForm
    missing: MissingInputs
    as_json: bool
    force: bool
    quiet: bool
