"""The most misleading trials, and the biometric menagerie of speakers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.core.resampling.units import TrialUnits
from deciban.errors import InputError, option
from deciban.evaluation.one_system import plain
from deciban.types import AnyArray, BoolArray, FloatArray, IntArray, Weights


@dataclass(frozen=True, slots=True)
class WorstTrial:
    """A trial with misleading scores.

    Attributes
    ----------
    names : tuple of str
        Names that identify the trial.
    truth : str
        Its class.
    taken_for : str
        The other class with the highest likelihood.
    llr : float
        Log-likelihood ratio of its class against the others at equal shares, in nats.
    cost : float
        Logarithmic cost at the flat prior, in bits; infinite if another class is certain.
    """

    names: tuple[str, ...]
    truth: str
    taken_for: str
    llr: float
    cost: float


@dataclass(frozen=True, slots=True)
class WorstTrials:
    """The most misleading trials of one system.

    Attributes
    ----------
    system : str
    sides : tuple of str
        Kinds of the names.
    trials : tuple of WorstTrial
        Two classes: targets, then non-targets; multiclass: all together. The worst come first, ties are in the order
        of names.
    """

    system: str
    sides: tuple[str, ...]
    trials: tuple[WorstTrial, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        rows = [
            {
                "names": dict(zip(self.sides, one.names, strict=True)),
                "class": one.truth,
                "taken_for": one.taken_for,
                "llr": one.llr,
                "cost": one.cost,
            }
            for one in self.trials
        ]
        found: dict[str, Any] = plain({"worst_trials": rows})
        return found


def headings_of(one: WorstTrials, classes: Sequence[str], axis: str = "nats") -> list[str]:
    """Return the headings for a table of `rows_of`; multiclass tables have a column for the decision."""
    llr = "log10 LR" if axis == "log10" else "llr"
    return [*one.sides, "class", *(["taken for"] if classes else []), llr, "cost"]


def rows_of(
    one: WorstTrials, classes: Sequence[str], write: Callable[[float], str], axis: str = "nats"
) -> list[tuple[str, ...]]:
    """Return the rows of the table; their last two cells are the llr, for two classes as in files, and the cost.

    Parameters
    ----------
    one : WorstTrials
    classes : sequence of str
        Empty for targets and non-targets.
    write : function
        Converts a number to text.
    axis : {"nats", "log10"}
        Unit of the llr.
    """
    unit = math.log(10.0) if axis == "log10" else 1.0
    return [
        (
            *row.names,
            row.truth,
            *([row.taken_for] if classes else []),
            write((row.llr if classes or row.truth == "target" else -row.llr) / unit),
            write(row.cost),
        )
        for row in one.trials
    ]


def true_llrs(loglik: FloatArray, truth: IntArray) -> FloatArray:
    """Return the evidence of each trial for its own class against the others at equal shares, in nats.

    Parameters
    ----------
    loglik : (n_trials, n_classes) array
    truth : (n_trials,) int array

    Examples
    --------
    >>> true_llrs(np.array([[2.0, 0.0], [2.0, 0.0]]), np.array([0, 1])).tolist()
    [2.0, -2.0]
    """
    from deciban.multiclass.tables import detection_llr  # loads only if these trials are requested

    found = np.empty(len(truth))
    for k in range(loglik.shape[1]):
        rows = np.flatnonzero(truth == k)
        if len(rows):
            found[rows] = detection_llr(loglik[rows], target=k)
    return found


def worst_trials(
    loglik: FloatArray,
    truth: IntArray,
    *,
    most: int,
    classes: Sequence[str],
    names_of: Callable[[int], tuple[str, ...]],
    counting: BoolArray | None = None,
) -> tuple[WorstTrial, ...]:
    """Find the trials with the least evidence for their own class.

    Parameters
    ----------
    loglik : (n_trials, n_classes) array
        In nats; for two classes, the columns are the log-likelihood ratio and 0.
    truth : (n_trials,) int array
    most : int
        Number of trials; for two classes, number of each class.
    classes : sequence of str
        Names of the columns.
    names_of : function
        Returns the names of a trial from its row.
    counting : (n_trials,) bool array, optional
        Mask of the trials to use.

    Examples
    --------
    >>> loglik = np.array([[3.0, 0.0], [-1.0, 0.0], [2.5, 0.0], [-4.0, 0.0]])
    >>> found = worst_trials(loglik, np.array([0, 0, 1, 1]), most=1, classes=("target", "non-target"),
    ...     names_of=lambda row: ("abcd"[row],))
    >>> [(one.names[0], one.truth, one.llr, round(one.cost, 1)) for one in found]
    [('b', 'target', -1.0, 1.9), ('c', 'non-target', -2.5, 3.7)]
    """
    llr, n_classes = true_llrs(loglik, truth), loglik.shape[1]
    kept = np.arange(len(truth)) if counting is None else np.flatnonzero(counting)
    groups = [kept[truth[kept] == k] for k in range(2)] if n_classes == 2 else [kept]
    found = []
    for rows in groups:
        for row, names in _least(llr, rows, most, names_of):
            rivals = np.where(np.arange(n_classes) == truth[row], -np.inf, loglik[row])
            cost = float(np.logaddexp(0.0, math.log(n_classes - 1) - llr[row])) / math.log(2)
            own, other = classes[int(truth[row])], classes[int(np.argmax(rivals))]
            found.append(WorstTrial(names, own, other, float(llr[row]), cost))
    return tuple(found)


def merged_worst(parts: Iterable[WorstTrial], most: int, groups: Sequence[str]) -> tuple[WorstTrial, ...]:
    """Return the worst of the worst trials of several parts.

    Parameters
    ----------
    parts : iterable of WorstTrial
    most : int
        Number of trials in each group.
    groups : sequence of str
        Classes with separate lists; empty for one list of all.

    Examples
    --------
    >>> one, other = (WorstTrial((name,), "target", "non-target", llr, 1.0) for name, llr in (("a", -1.0), ("b", -2.0)))
    >>> [found.names for found in merged_worst([one, other], 1, ["target"])]
    [('b',)]
    """
    ordered = sorted(parts, key=lambda one: (one.llr, one.names))
    chosen = [[one for one in ordered if one.truth == name] for name in groups] if groups else [ordered]
    return tuple(one for some in chosen for one in some[:most])


def _least(
    llr: FloatArray, rows: AnyArray, most: int, names_of: Callable[[int], tuple[str, ...]]
) -> list[tuple[int, tuple[str, ...]]]:
    """Return the rows with the least evidence, and their names; ties at the border are broken by name."""
    n = min(most, len(rows))
    if not n:
        return []
    border = np.partition(llr[rows], n - 1)[n - 1]
    near = rows[llr[rows] <= border].tolist()
    named = sorted((float(llr[row]), names_of(row), row) for row in near)
    return [(row, names) for _, names, row in named[:n]]


QUARTER = 0.25
"""Share of speakers beyond a limit."""

LEAST = 4
"""Least number of speakers; a quarter of fewer is less than one."""

ANIMALS = ("doves", "chameleons", "phantoms", "worms")


@dataclass(frozen=True, slots=True, eq=False)
class Menagerie:
    """Mean scores of speakers with both target and non-target trials.

    Attributes
    ----------
    name : str
        Name of the system.
    noun : str
        Name of a unit, usually a speaker.
    tar_mean, non_mean : (n_units,) arrays
        Mean scores of the target and the non-target trials of each unit.
    tar_limits, non_limits : (float, float)
        Lower and upper quartile of these means.
    n_left_out : int
        Units without target or without non-target trials.
    """

    name: str
    noun: str
    tar_mean: FloatArray
    non_mean: FloatArray
    tar_limits: tuple[float, float]
    non_limits: tuple[float, float]
    n_left_out: int

    def members(self, animal: str) -> BoolArray:
        """Return a mask of the units in an animal group.

        Parameters
        ----------
        animal : {"doves", "chameleons", "phantoms", "worms"}

        Returns
        -------
        (n_units,) bool array
        """
        has_high_tar = animal in ("doves", "chameleons")
        has_high_non = animal in ("chameleons", "worms")
        tar = self.tar_mean >= self.tar_limits[1] if has_high_tar else self.tar_mean <= self.tar_limits[0]
        non = self.non_mean >= self.non_limits[1] if has_high_non else self.non_mean <= self.non_limits[0]
        found: BoolArray = tar & non
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of the system in ``deciban plot zoo --json``."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return values | {"members": {animal: int(self.members(animal).sum()) for animal in ANIMALS}}


def menagerie(
    scores: ArrayLike,
    is_target: ArrayLike,
    units: ArrayLike | TrialUnits,
    *,
    sample_weight: Weights = None,
    name: str = "scores",
) -> Menagerie:
    """Compute mean target and non-target scores of every speaker, with the quartiles that define animal groups.

    Parameters
    ----------
    scores : (n_trials,) array_like
    is_target : (n_trials,) array_like
    units : (n_trials,) or (n_trials, 2) array_like, or TrialUnits
        The speaker of each trial, or the speakers of its two sides. A trial counts once for each of its speakers.
    sample_weight : (n_trials,) array_like, optional
        Weight of each trial in the means of its speakers: 2 like two copies, 0 like none. Speakers have equal weight.
    name : str
        Name of the system.

    Returns
    -------
    Menagerie

    Raises
    ------
    InputError
        If lengths differ, a score is NaN or infinite, or fewer than 4 speakers have trials of both classes.

    Notes
    -----
    The groups are defined by the upper and lower quarters of mean target scores and of mean non-target scores. Doves
    are high and low, chameleons high and high, phantoms low and low, worms low and high. If both means were
    independent, each group would have one of 16 speakers. Source: Yager and Dunstone, The biometric menagerie, IEEE
    Transactions on Pattern Analysis and Machine Intelligence 32, 2010.

    Examples
    --------
    >>> pairs = [[i, j] for i in range(4) for j in range(i, 4)]
    >>> found = menagerie([9, 2, 2, 4, 8, 2, 4, 3, 4, 1], [i == j for i, j in pairs], pairs)
    >>> found.tar_mean.tolist(), found.non_mean.round(2).tolist()
    ([9.0, 8.0, 3.0, 1.0], [2.67, 2.67, 2.67, 4.0])
    >>> found.members("worms").tolist()
    [False, False, False, True]
    """
    values = np.asarray(_validate.scores(scores, "scores"), np.float64)
    truth, weight = _validate.labels(is_target, sample_weight, len(values))
    weight = np.ones(len(values)) if weight is None else np.asarray(weight, np.float64)
    own = units if isinstance(units, TrialUnits) else TrialUnits.of(units)
    if own.n_trials != len(values):
        raise InputError(f"units: {own.n_trials} units for {len(values)} trials. Give one for each trial.")
    n_wrong = int(np.count_nonzero(~np.isfinite(values[weight > 0.0])))
    if n_wrong:
        raise InputError(f"scores: {n_wrong} are infinite, so means are undefined. Give finite scores.")
    tar, non = (_means(values, weight, chosen & (weight > 0.0), own) for chosen in (truth, ~truth))
    known = ~(np.isnan(tar) | np.isnan(non))
    if np.count_nonzero(known) < LEAST:
        raise InputError(
            f"units: {np.count_nonzero(known)} of {own.n_units} {own.noun}s have target and non-target trials; "
            f"quarters need {LEAST}. Pass the speakers of the trials ({option(units=...)})."
        )
    tar, non = tar[known], non[known]
    return Menagerie(name, own.noun, tar, non, _quartiles(tar), _quartiles(non), own.n_units - len(tar))


def _quartiles(means: FloatArray) -> tuple[float, float]:
    low, high = np.quantile(means, (QUARTER, 1.0 - QUARTER)).tolist()
    return low, high


def _means(values: FloatArray, weight: FloatArray, chosen: AnyArray, units: TrialUnits) -> FloatArray:
    """Return the mean of the chosen trials of each unit, on any of their sides; NaN for units without trials."""
    rows = np.flatnonzero(chosen)
    trial, codes = units.take(rows).entries()
    own = rows[trial]
    counts = np.bincount(codes, weight[own], minlength=units.n_units)
    sums = np.bincount(codes, weight[own] * values[own], minlength=units.n_units)
    means: FloatArray = np.divide(sums, counts, out=np.full(units.n_units, np.nan), where=counts > 0)
    return means
