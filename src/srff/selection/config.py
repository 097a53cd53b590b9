"""Every constant of the default fit, with its reason.

An ablation is one line: ``selection_config = replace(CONFIG, free_tails=(inf,))`` in a subclass of
an estimator.  Errors here are test RMSE; more of them, and what was tried beside, are in the design
note of the documentation.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

Numbers = tuple[float, ...]


def _log_spaced(first: float, last: float, count: int) -> Numbers:
    """Powers of ten between two exponents."""
    return tuple(np.logspace(first, last, count).tolist())


@dataclass(frozen=True)
class ScreenConfig:
    """Waves of one variable and products of two: :mod:`srff.selection.screen`."""

    bands: tuple[Numbers, ...] = (
        (0.35, 0.7, 1.05),
        (1.0, 1.5, 2.0),
        (2.0, 3.0, 4.0),
        (4.0, 6.0, 8.0),
    )
    """Frequencies, in units of a standardised input, of the waves that are tried together: a slow
    trend is in the first, twenty turns over the range of an input in the last."""

    pair_frequencies: Numbers = (0.8, 1.8)
    """Frequencies of the waves whose products are tried: a bend, and a turn."""

    two_frequencies: int = 500
    """Most variables whose pairs are tried at both frequencies; of more at their mean alone, since
    pairs grow with the square."""

    pair_variables: int = 2000
    """Most variables whose pairs are tried, the strongest by themselves: four million pairs."""

    pair_share: float = 5.0
    """Most such variables for each row: of few rows no pair stands out among millions."""

    mixtures: int = 3
    """Mixtures of the targets that pairs are tried with where there are more targets than that:
    each is a pass over all pairs."""

    level: float = 0.01
    """Chance that a screen hands over anything at all when the target is pure noise."""

    handed_over: int = 40
    """Most variables that a screen hands over: what a metric learns in seconds."""


@dataclass(frozen=True)
class Config:
    """The constants, in the order in which the recipe uses them."""

    # How long to descend, and on how many rows.
    max_iter: int = 30
    """Iterations of one descent: the next penalty goes on from where it ended.  More frequencies
    gain more than more iterations (SE1 50,000 rows, 300 frequencies: 0.172, with three times the
    iterations 0.163; with 1,000 frequencies 0.151 to 0.154)."""

    tol: float = 1e-5
    """The relative decrease that ends it: validation rows tell a hundredth apart at best."""

    search_rows: int = 10_000
    """Most rows that starts and eliminations look at: more rows find the same variables."""

    refine_rows: int = 50_000
    """Most rows that the last descents look at: more than the search's, since only the chosen
    variables are left.  The coefficients of the model that is kept are solved on all rows."""

    float64_rows: int = 50
    """Rows up to which descents are in float64: sines in float64 are slow, and no digit of the
    answer needs them."""

    search_components: int = 200
    """Random features of starts and eliminations, if the problem has as many.  With 150 a fit is a
    tenth faster, and functions of many directions lose."""

    # Starts.
    families: tuple[str, ...] = ("metric", "scales", "low order", "screen", "strongest", "linear")
    """Starts that are tried: each finds functions that the others miss."""

    line_variables: int = 256
    """Most variables of a linear model, those of the highest correlations."""

    line_frequency: float = 0.1
    """Frequency of a straight line, in units of a standardised input: two spreads from the mean its
    sine is a line to within a hundredth."""

    line_penalties: Numbers = _log_spaced(-0.1, -1.5, 12)  # noqa: RUF009
    """Penalties of the lasso, as shares of the smallest that leaves no variable."""

    line_alphas: Numbers = (3.0, 1.0, 0.3)
    """Penalties of the ridge with the lasso's scales, as shares of that which gives the lasso's own
    solution: selected effects are rather too large, those shrunk twice too small."""

    even_penalties: Numbers = (3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003)
    """Ridge penalties for each row of a line whose columns, standardised, are all alike."""

    metric_variables: int = 128
    """Most variables that a metric starts from: its entries grow with the square."""

    columns_per_row: float = 10.0
    """Most columns for each row that scales of all of them start from: thousands of columns and
    fifty rows take half the time of a fit, and win never."""

    screen: ScreenConfig = ScreenConfig()

    simplex_rounds: int = 3
    """How often alpha is set anew while scales of many variables descend on the simplex: the best
    one moves with the scales."""

    simplex_iterations: int = 10
    """Iterations of each such descent: few, since a metric goes on from the strongest scales."""

    simplex_tol: float = 1e-4
    """The relative decrease that ends it: coarse, for the same reason."""

    first_alphas: Numbers = _log_spaced(-1, -4, 3)  # noqa: RUF009
    """Penalties of a start's descents, as shares of the largest eigenvalue of ``G / n``: nothing is
    known yet, so from a very smooth model down to hardly any penalty.  Each is a round of the race
    between the starts."""

    runner_error: float = 1.15
    """A start drops out of the race, and the best one of a family does not go on to elimination,
    if its validation error is more than so many times the best of all: the one that leads the first
    round may lose variables later.  With two a fit is a twentieth slower and finds the same."""

    screened_rounds: int = 2
    """Penalties that the variables of a screen see before they may drop out: few variables learn
    less than many at the first, and each costs little (SE3, 1,000 rows: the ten right variables
    were behind forty there, and the error was 0.34 in place of 0.12 in two draws of six).  All
    starts for two rounds keep false variables of sums of many (8 of 22, 18 additive of 40)."""

    lead_rows: int = 1000
    """From so many rows on the first fold's rows say which starts go on, and the other folds begin
    with these alone."""

    # Elimination.
    next_alphas: Numbers = (1.0, 0.3)
    """Penalties after variables have left, as shares of the last choice: a smaller one too, since
    fewer variables overfit less.  With the first alone functions of many variables keep false
    ones."""

    leaving_share: float = 1 / 3
    """Share of the variables that leave at a time, while there are more than ``one_by_one``:
    hundreds are gone after a few descents, each from where the last one ended."""

    one_by_one: int = 10
    """Variables from which on one leaves at a time: a size too few costs much (SE2 1,000 rows,
    validation errors: 0.61 with the right five, 2.05 with four).  With 6 the five variables of SE1
    with 5,000 rows are found in one draw of five, with 10 in five of six."""

    shuffled: int = 128
    """Most variables that are shuffled one by one for their order: each costs a prediction of all
    validation rows."""

    clear_rise: float = 3.0
    """Standard errors from which on the rise by shuffling is clear: chance gets there once in 700.
    Without this order, by strength alone, slow effects leave before noise."""

    hopeless_sizes: int = 1
    """An elimination ends when so many sizes in turn were clearly worse than the best."""

    clearly_worse: float = 1.2
    """The factor of the validation error from which on a size is clearly worse: large, since a size
    that is a little worse may be chosen for its fewer variables."""

    outdone: float = 4.0
    """Standard errors by which an elimination ends that is worse than another with as few
    variables, once they leave one by one: a fit is a twentieth faster, and finds the same."""

    # Which variables are kept.
    keep_level: float = 0.05
    """Level of the paired test by which a variable must be missed to be kept: the usual one, the
    chance that one test keeps a variable for nothing."""

    keep_rows: int = 500
    """With fewer rows the level of ``keep="auto"`` is higher in proportion: few rows show little,
    and what they do not show is no reason to drop (leukemia, 50 rows, log loss: 0.19 with a level
    of one half, 0.47 with 0.05)."""

    keep_most: float = 0.5
    """The highest such level: what is rather missed than not."""

    worth_mentioning: float = 0.02
    """The share of the loss from which on, with ``keep_rows`` and more, a rise without a variable
    counts though it is not significant (``keep="fewest"``: never).  Ten noisy copies of two
    variables, SE3 with 1,000 rows: 8.8 are kept in place of 7.7, and the error falls by a
    twentieth; 42 other problems keep one false variable more."""

    small_loss: float = 0.05
    """The share of the best constant's loss that a loss counts as at least: where next to nothing
    is left, hundredths of it are not worth mentioning."""

    hint: float = 1.3
    """Standard errors that such a rise must have: a level of 10 %."""

    curve_rows: int = 1000
    """With fewer rows curves must be clearly better than straight lines: among many kinds of curves
    some fit few rows by chance."""

    curve_level: float = 0.05
    """The level of that."""

    mean_level: float = 0.05
    """Level of the test that anything is kept at all: the chance that pure noise keeps a variable,
    counting all panels that were tried."""

    clear_gain: float = 10.0
    """Standard deviations of shuffled losses from which on the chosen panel predicts more than
    chance, though its variables were ordered by the rows that judge it: a product of four shows
    only when most others have left.  In pure noise such panels end at two to four."""

    shuffles: int = 199
    """Permutations of that test: its p-values are multiples of 1/200."""

    shuffled_columns: int = 500
    """Columns whose products with shuffled targets are held at a time: a few megabytes."""

    averaged_rows: int = 400
    """Up to so many rows the last model is the mean of those of all folds: few rows leave each of
    them too sure, and each costs little."""

    very_few_rows: int = 100
    """Up to so many rows classes, counts and quantiles have no last model beyond the search's."""

    judged_alphas: Numbers = (1000.0, 100.0, 30.0, 10.0, 3.0, 1.0)
    """Penalties of a candidate by the problem's own loss, where that is not the search's, as shares
    of its own: larger ones too, since a log loss punishes a model that is too sure."""

    least_sure: float = 1.0
    """Standard errors by which a larger penalty may be worse and is taken all the same, where the
    loss is not the search's: colon, 43 rows, log loss 0.54 without, 0.51 with it."""

    fewest_rows: int = 5
    """Validation rows below which nothing is significant: a standard error of so few is a guess."""

    thinning_tries: int = 3
    """Variables that are tried, weakest first, when one more is to leave: their order is rough, and
    the second may be spared where the first is not."""

    thinned: int = 32
    """Most variables that leave one by one at the end: of more, one says little."""

    thinning_alphas: Numbers = (1.0,)
    """Penalties then, as shares of the last choice: one variable less changes little."""

    growth_rounds: int = 1
    """How often variables that the residuals still depend on may come back (18 additive variables
    of 40: 16 are found without, all with it)."""

    growth_level: float = 1.0
    """Chance that any comes back for nothing when the residuals are pure noise."""

    growth_limit: float = 1.1
    """Of the ways to grow one drops out when its error is so many times the other's."""

    growth_variables: int = 10
    """Most variables that come back at a time: those in vain are tried one by one again."""

    growth_alphas: Numbers = (100.0, 10.0, 1.0, 0.1)
    """Penalties with them, as shares of the last choice: up and down, since frequencies of the new
    variables are learned from the beginning."""

    # The last model: descents.
    kinds_compete: bool = True
    """Whether several kinds of last model compete, or the chosen one's own is the only one."""

    race: float = 1.7
    """A kind of last model, or the free frequencies, go no further when they are behind the best by
    this factor of the validation error, 1.3 of its root: SE2 with 1,000 rows needs that much."""

    calibrated_alphas: Numbers = (100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1)
    """Penalties that are tried before anything is learned, as shares of the chosen candidate's:
    mostly larger ones, since that was learned, and by another loss where there are classes."""

    evidence_rows: int = 20_000
    """Up to so many rows scales, metric and few directions descend on the evidence, which learns
    the penalty with them and overfits less than the training loss; above, both choose the same
    frequencies, and the evidence costs more."""

    metric_alphas: Numbers = (1.0,)
    """Penalties of scales, metric and few directions where there is no evidence, as shares of the
    calibrated one."""

    more_rows_alpha: float = 0.4
    """The penalty with more rows, as a share of the penalty with fewer: more rows need less of
    it."""

    # The last model: many features.
    wide_features: int = 2048
    """Most features, where ``n_components="auto"`` may choose so many: a solve grows with their
    cube, and 6,000 are not much better (appliances energy: 78.6 against 81.2)."""

    wide_share: float = 2.0
    """Most features for each row: with one for each a fit is a tenth faster, and 1 % worse."""

    wide_first: int = 512
    """Features that kernels are compared with: a solve takes a twentieth of one with all."""

    wide_tails: Numbers = (inf, 3.0, 1.0)
    """Degrees of freedom of the frequencies' Student t: the Gaussian kernel, and Matern kernels of
    smoothness 3/2 and 1/2, for functions with a singularity (SE2 1,000 rows: 0.51 to 0.41)."""

    wide_stretch: float = 1.6
    """Each kernel is tried as it is, stretched and shrunk by powers of this while that helps: the
    metric was learned for fewer features of another kernel."""

    wide_stretches: int = 4
    """Most such powers: a factor of six and a half either way."""

    wide_alphas: Numbers = (10.0, 2.0, 0.5, 0.1)
    """Penalties that kernels are compared at, as shares of the candidate's that they start from:
    each kernel and width has a best one of its own."""

    wide_last_alphas: Numbers = (1.4, 0.5)
    """Penalties with all features, as shares of the best with fewer: near it, as the kernel is the
    same."""

    # The last model: free frequencies.
    free_features: int = 800
    """Most free frequencies, where ``n_components="auto"`` may choose so many (SE1 50,000 rows:
    0.172 with 300, 0.157 with 600, 0.151 to 0.154 with 1,000)."""

    free_alphas: Numbers = (10.0, 3.0, 1.0, 0.3)
    """Penalties of the first draw, as shares of the candidate's that it starts from: coming down
    from a larger one leads to better places."""

    free_large_alphas: Numbers = (3.2, 1.0)
    """Penalties of the larger size, as shares of the first's: around it, as the kind is the
    same."""

    free_down: Numbers = (3.2, 1.0)
    """Penalties of further draws: coming down from a larger one leads to better places than
    starting at the last."""

    rows_per_frequency: tuple[int, int] = (4, 8)
    """Rows for each frequency from which on frequencies are free, and from which on there are many
    of them: 300 from 1,200 rows on, 800 from 6,400 on."""

    free_handicap: float = 1.1
    """By how much the larger size may be behind where more rows are to come, which it gains more
    by."""

    free_members: int = 2
    """Draws that are averaged, of the first size: their mean is better than each (SE1 5,000 rows,
    as a share of the mean predictor's error: 0.70 for one, 0.68 for the mean of three)."""

    free_large_members: int = 2
    """Draws that are averaged, of the larger size."""

    free_more_rows_members: int = 3
    """Draws that are averaged where the last descents see more rows than the search: each is better
    there, and so is the mean (SE1 50,000 rows: 0.162 with two, 0.151 with three)."""

    # The last model: the blend.
    blend_members: int = 5
    """Most candidates of a blend, those that count more than once among them: few, since they are
    chosen on the rows that validate the blend."""

    blend_gain: float = 1e-3
    """By how much of the validation error each must lower it: less is chance."""

    # What is asked of the rows held out when the model is found.
    references: bool = True
    """Whether ridge or its like and boosted trees are fitted beside, as a yardstick: with
    ``importances`` 4 to 7 % of a fit of up to 1,000 rows, 15 % with 1,000 columns."""

    importances: bool = True
    """Whether variables are drawn anew on the rows held out, to see how much each is missed."""


CONFIG = Config()
"""What estimators use unless told otherwise."""

EFFORTS: dict[str, dict[str, Any]] = {
    "auto": {},
    "quick": {
        # One elimination, one kind of last model: a third of the evaluations.
        "max_iter": 15,
        "search_components": 100,
        "families": ("metric", "screen", "linear"),
        "runner_error": 1.3,
        "thinning_tries": 1,
        "kinds_compete": False,
        "free_alphas": (1.0, 0.3),
        "free_members": 1,
        "free_large_members": 1,
        "references": False,
        "importances": False,
    },
    "thorough": {
        "max_iter": 60,
        "tol": 1e-6,
        "search_components": 300,
        "first_alphas": _log_spaced(-1, -5, 9),
        "next_alphas": _log_spaced(0.5, -1, 4),
        "hopeless_sizes": 3,
        "thinning_tries": 6,
        "thinning_alphas": (1.0, 0.3),
        "growth_rounds": 3,
        "growth_alphas": _log_spaced(1, -1, 5),
        "race": 4.0,
        "metric_alphas": _log_spaced(0.5, -1.5, 5),
        "wide_alphas": _log_spaced(1, -2, 7),
        "wide_stretches": 6,
        "free_alphas": _log_spaced(1, -1.5, 6),
        "free_members": 5,
        "free_large_members": 3,
        "blend_members": 10,
    },
}
"""What ``effort`` changes."""
