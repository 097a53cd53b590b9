"""What is known of each variable after several splits: one result that people and programs read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from srff._utils.text import visible
from srff.inference.stability import stability
from srff.inspect.pages import rendered
from srff.inspect.wording import as_sure, first_few, p_value, plural, share

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INTERVAL = 0.95
"""Level of the intervals."""

MOST_NAMED = 10
"""Units that a sentence names."""


@dataclass(frozen=True, repr=False)
class Confidence:
    """How sure it is of each variable that it matters.

    A *unit* is a variable, a group of columns, or a cluster of columns that are almost functions
    of one another and so cannot be told apart.  The hypothesis of a unit is that the target is
    independent of it given all other columns.

    Attributes
    ----------
    names : ndarray of shape (n_units,)
        The unit's name: that of its column or group; of near copies "a or b".
    unit_of : ndarray of shape (n_features,)
        The number of each column's unit.
    near_copies : ndarray of shape (n_units,)
        Whether the unit is a cluster of columns that cannot be told apart.
    q : float
        The false discovery rate that is kept.
    n_rows : int
        Rows that were judged: each in one split.
    selected : ndarray of shape (n_splits, n_units)
        Whether the search of a split selected the unit.
    p_splits : ndarray of shape (n_splits, n_units)
        The p-value of the unit on the rows that the split set aside; one where it was not
        selected.
    confirmed_splits : ndarray of shape (n_splits, n_units)
        Whether the split's own test, at half of ``q``, confirmed the unit.
    p_values : ndarray of shape (n_units,)
        A p-value from all splits, valid for each unit by itself.
    e_values : ndarray of shape (n_units,)
        The mean of the splits' e-values: what ``confirmed_units`` comes from.
    confirmed_units : ndarray of shape (n_units,)
        Whether the unit is confirmed at the false discovery rate ``q``.
    rise, rise_se : ndarray of shape (n_units,)
        How much the mean loss rises when the unit is drawn anew given all other columns, and the
        standard error: zero in splits that did not choose it.
    gain : float
        How much lower the mean loss of the splits' models is than that of the best constants.
    loss : str
        What the loss is, such as "squared error".
    told_apart : ndarray of shape (n_units,)
        How often a classifier says rightly which of a row and its copy is real: one half where it
        cannot tell; NaN where it was not asked, as the p-value of no split is small.
    doubtful : ndarray of shape (n_units,)
        Whether it can, so that the unit's p-value is not to be trusted.
    """

    names: np.ndarray
    unit_of: np.ndarray
    near_copies: np.ndarray
    q: float
    n_rows: int
    selected: np.ndarray
    p_splits: np.ndarray
    confirmed_splits: np.ndarray
    p_values: np.ndarray
    e_values: np.ndarray
    confirmed_units: np.ndarray
    rise: np.ndarray
    rise_se: np.ndarray
    gain: float
    loss: str
    told_apart: np.ndarray
    doubtful: np.ndarray

    @property
    def n_splits(self) -> int:
        """The number of splits."""
        return int(self.selected.shape[0])

    @property
    def confirmed(self) -> list[str]:
        """The names of the confirmed units, that of the smallest p-value first."""
        return [str(self.names[k]) for k in self.order if self.confirmed_units[k]]

    @property
    def support(self) -> np.ndarray:
        """A mask of the columns of confirmed units."""
        return self.confirmed_units[self.unit_of]

    @property
    def rise_interval(self) -> tuple[np.ndarray, np.ndarray]:
        """The lower and the upper ends of intervals of the rise, for each unit by itself."""
        reach = stats.t.isf((1 - INTERVAL) / 2, max(self.n_rows - 1, 1)) * self.rise_se
        return self.rise - reach, self.rise + reach

    @property
    def share(self) -> np.ndarray:
        """The rise as a share of what the models explain; NaN where they explain nothing."""
        return self.rise / self.gain if self.gain > 0 else np.full(self.rise.shape, np.nan)

    @property
    def order(self) -> np.ndarray:
        """The units: confirmed ones first, never selected ones last; by p-value, then rise."""
        never = ~self.selected.any(axis=0)
        return np.lexsort((-self.rise, self.p_values, never, ~self.confirmed_units))

    @property
    def chosen(self) -> np.ndarray:
        """The units that any split selected, in that order."""
        ever = self.selected.sum(axis=0) > 0
        return self.order[ever[self.order]]

    @property
    def stability(self) -> tuple[float, float, float]:
        """How far the splits' selections agree, and the ends of its interval.

        Nogueira's index: one where all agree, zero where they are drawn at random.
        """
        return stability(self.selected, INTERVAL)

    def to_frame(self) -> Any:
        """One row for each unit, the confirmed first.

        Returns
        -------
        frame : pandas.DataFrame
            ``variable``; in how many splits it was ``selected_in`` and ``confirmed_in``; the
            ``rise`` of the mean loss when it is drawn anew given all other columns, with
            ``rise_low`` and ``rise_high``, and as a ``share`` of what the models explain; the
            ``p_value`` and the ``e_value`` of all splits; whether it is ``confirmed``; whether it
            is one of ``near_copies``; how often a classifier ``told_apart`` its copies from real
            rows (one half by chance), and whether that makes its p-value ``doubtful``.
        """
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("to_frame needs pandas: pip install 'srff[data]'.") from None
        low, high = self.rise_interval
        columns = {
            "variable": self.names,
            "selected_in": self.selected.sum(axis=0),
            "confirmed_in": self.confirmed_splits.sum(axis=0),
            "rise": self.rise,
            "rise_low": low,
            "rise_high": high,
            "share": self.share,
            "p_value": self.p_values,
            "e_value": self.e_values,
            "confirmed": self.confirmed_units,
            "near_copies": self.near_copies,
            "told_apart": self.told_apart,
            "doubtful": self.doubtful,
        }
        order = self.order
        return pd.DataFrame({name: values[order] for name, values in columns.items()})

    def summary(self) -> str:
        """What is confirmed and what is not, in a few lines."""
        return "\n".join(self.lines())

    def plot(self, *, top: int = 20, ax: Axes | None = None) -> Axes:
        """The rise of the loss without each unit, with its interval, and in how many splits it was.

        Parameters
        ----------
        top : int, default=20
            Most units.
        ax : matplotlib Axes or None, default=None
            Where to draw; None is a new figure.

        Returns
        -------
        ax : matplotlib Axes
        """
        from srff.inspect.plot.certainty import confidence

        return confidence(self, top=top, ax=ax)

    def __repr__(self) -> str:
        return f"<Confidence: {self._first_line()}>"

    def _repr_html_(self) -> str:
        return rendered("confidence.html", lines=self.lines(), table=self.table())

    def table(self, most: int = 200) -> list[dict[str, str]]:
        """The units that any split selected, in words, as reports and terminals show them."""
        low, high = self.rise_interval
        return [
            {
                "variable": str(self.names[k]),
                "confirmed": "yes" if self.confirmed_units[k] else "no",
                "selected": f"{self.selected[:, k].sum()}/{self.n_splits}",
                "in_split": f"{self.confirmed_splits[:, k].sum()}/{self.n_splits}",
                "p": p_value(self.p_values[k]),
                "rise": as_sure(self.rise[k], self.rise_se[k]),
                "low": as_sure(low[k], self.rise_se[k]),
                "high": as_sure(high[k], self.rise_se[k]),
                "share": share(self.share[k]),
                "doubt": self._doubt(k),
            }
            for k in self.chosen[:most]
        ]

    def lines(self) -> list[str]:
        """The sentences of :meth:`summary`."""
        chosen = self.chosen
        left = [k for k in chosen if not self.confirmed_units[k]]
        lines = [
            self._first_line() + ".",
            f"{plural(self.unit_of.size, 'column')}, {plural(self.n_rows, 'row')}; {self.n_splits} "
            "splits, each with a search of its own.",
        ]
        if left:
            named = first_few((f"{self._name(k)} ({self._how_often(k)})" for k in left), MOST_NAMED)
            lines.append(f"Selected, not confirmed: {named}.")
        joined = [self._name(k) for k in chosen if self.near_copies[k]]
        if joined:
            lines.append(
                "Tested as one, for they are almost functions of each other: "
                f"{first_few(joined, MOST_NAMED)}."
            )
        odd = [self._name(k) for k in chosen if self.doubtful[k]]
        if odd:
            lines.append(
                f"Doubtful: {first_few(odd, MOST_NAMED)}; values drawn from the other columns can "
                "be told from real ones, so do not trust the p-value."
            )
        index, low, high = self.stability
        if np.isfinite(index):
            lines.append(
                f"Stability of the selection: {index:.2f}, 95 % interval {low:.2f} to {high:.2f} "
                "(1: the same in all splits; 0: chance)."
            )
        return lines

    def _first_line(self) -> str:
        found = [k for k in self.order if self.confirmed_units[k]]
        total, rate = self.chosen.size, f"confirmed at FDR {100 * self.q:.3g} %"
        if not total:
            return f"No variable is {rate}: no split selected any"
        if not found:
            which = f"None of {total:,} selected variables is"
            which = "The one selected variable is not" if total == 1 else which
            return f"{which} {rate}"
        each = (f"{self._name(k)}{' (doubtful)' * bool(self.doubtful[k])}" for k in found)
        named = first_few(each, MOST_NAMED)
        if len(found) == total:
            return f"{plural(total)}, {'all ' if total > 1 else ''}{rate}: {named}"
        verb = "is" if len(found) == 1 else "are"
        return f"{len(found):,} of {plural(total, 'selected variable')} {verb} {rate}: {named}"

    def _name(self, unit: int) -> str:
        return visible(str(self.names[unit]))

    def _how_often(self, unit: int) -> str:
        return f"in {self.selected[:, unit].sum()} of {self.n_splits} splits"

    def _doubt(self, unit: int) -> str:
        if self.doubtful[unit]:
            return f"copies told apart: {share(self.told_apart[unit])}"
        return "tested as one" if self.near_copies[unit] else ""
