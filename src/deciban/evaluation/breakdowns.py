"""Breakdowns of a result: by condition, the most misleading trials, and the menagerie of speakers."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.core.resampling.intervals import Interval
from deciban.core.resampling.units import TrialUnits
from deciban.errors import InputError, option, some_of
from deciban.evaluation.one_system import OneSystem, as_object, plain
from deciban.evaluation.uncertainty import MetricKey
from deciban.types import AnyArray, BoolArray, FloatArray, IntArray, Weights


@dataclass(frozen=True, slots=True, eq=False)
class Condition:
    """The trials with one combination of values, and the metrics of a system on them.

    Attributes
    ----------
    name : str
        For example ``gender f · channel tel``.
    values : mapping of str to str or None
        Value of each column; None if the key has no value.
    trials : mapping of str to number
        Number or total weight of the trials of each class: ``{"targets": 12, "non-targets": 300}``.
    evaluation : Evaluation, ClassEvaluation or None
        None if a class has no trials.
    """

    name: str
    values: Mapping[str, str | None]
    trials: Mapping[str, int | float]
    evaluation: OneSystem | None = None

    @property
    def lacking(self) -> tuple[str, ...]:
        """Classes without trials."""
        return tuple(name for name, n in self.trials.items() if not n)

    @property
    def why_none(self) -> str:
        """Reason why there are no metrics; empty if there are metrics."""
        if self.evaluation is not None:
            return ""
        some = {name: n for name, n in self.trials.items() if n}
        if not some:
            return "no trials"
        return f"no {_enumerated(self.lacking)} ({_enumerated([_with_number(n, name) for name, n in some.items()])})"

    def to_dict(self) -> dict[str, Any]:
        """Return an entry of ``conditions`` in JSON."""
        about = {"condition": dict(self.values), "trials": dict(self.trials), "lacking": list(self.lacking)}
        return {**plain(about), **({} if self.evaluation is None else self.evaluation.to_dict())}


@dataclass(frozen=True, slots=True)
class ConditionDifference:
    """The difference of a metric between two conditions, with an interval by the units of both.

    Attributes
    ----------
    first : str
        A condition.
    second : str or None
        Another one; None for the mean of all others.
    metric : str, or (str, place)
    values : (float, float)
        Value in the first, and in the second or the mean over the others.
    interval : Interval
        First minus second.
    holm : float
        P-value with Holm's correction for all differences of this metric in the partition.
    """

    first: str
    second: str | None
    metric: MetricKey
    values: tuple[float, float]
    interval: Interval
    holm: float

    def to_dict(self) -> dict[str, Any]:
        """Return an entry of ``condition_differences`` in JSON."""
        about = {"first": self.first, "second": self.second, "figure": self.metric, "values": self.values}
        interval = {"difference": self.interval.estimate, **as_object(self.interval), "p_value": self.interval.p_value}
        return dict(plain({**about, **interval, "holm": self.holm}))


def _enumerated(names: Sequence[str]) -> str:
    """Join the first names in a phrase, without repeating their common noun.

    >>> _enumerated(["segments of a", "segments of b", "segments of c", "segments of d"])
    'segments of a, of b, of c and 1 more'
    >>> _enumerated(["3 segments of a", "40 segments of b"]), _enumerated(["targets", "non-targets"])
    ('3 segments of a, 40 of b', 'targets, non-targets')
    """
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    first, *others = names[:_MOST_NAMES]
    return ", ".join([first, *(_SAME.sub(r"\1of ", name) for name in others)]) + more


def _with_number(n: float, name: str) -> str:
    """Return a phrase with a count and a noun, which is given in the plural.

    >>> _with_number(1, "non-targets"), _with_number(1, "segments of class s"), _with_number(1200, "targets")
    ('1 non-target', '1 segment of class s', '1,200 targets')
    """
    return f"{n:,.6g} {_PLURAL.sub('', name, count=1) if n == 1 else name}"


_PLURAL = re.compile(r"s\b")
"""End of the first word that ends with s, the noun."""

_MOST_NAMES = 3
"""Classes named in a sentence."""

_SAME = re.compile(r"^([\d,.e+]+ )?\w+ of ")
"""An optional count and a noun before the name of a class."""


@dataclass(frozen=True, slots=True, eq=False)
class ByConditions:
    """A system in the conditions of one partition of the trials.

    Attributes
    ----------
    title : str
        Name of the split: ``gender × channel``.
    columns : tuple of str
    conditions : tuple of Condition
    differences : tuple of ConditionDifference
        Between conditions, and between each and the mean of the others.
    no_differences : str
        Reason why there are none.
    trials : mapping of str to number
        Number or total weight of all trials of each class. A trial can belong to several conditions.
    """

    title: str
    columns: tuple[str, ...]
    conditions: tuple[Condition, ...]
    differences: tuple[ConditionDifference, ...] = ()
    no_differences: str = ""
    trials: Mapping[str, int | float] = field(default_factory=dict)

    @property
    def evaluated(self) -> tuple[Any, ...]:
        """Evaluations of the conditions that have metrics, named like the conditions."""
        return tuple(one.evaluation for one in self.conditions if one.evaluation is not None)

    @property
    def without_metrics(self) -> list[str]:
        """Return sentences: how many conditions have no metrics and why, and what to do if no condition has any.

        Examples
        --------
        >>> attacks = [{"targets": 9, "non-targets": 0}, {"targets": 0, "non-targets": 5}]
        >>> parts = [Condition(f"attack {k}", {"attack": f"{k}"}, trials) for k, trials in enumerate(attacks)]
        >>> for line in ByConditions("attack", ("attack",), tuple(parts)).without_metrics:
        ...     print(line)
        2 of 2 conditions are left out of the table: 1 without non-targets (attack 0), 1 without targets (attack 1)
        no condition has trials of all classes; all targets have attack 0: use by="attack+0" to count them in each
        """
        lacking = [one for one in self.conditions if one.evaluation is None]
        if not lacking:
            return []
        if len(lacking) == 1:
            return [f"{lacking[0].name} is left out of the table: {lacking[0].why_none}"]
        alike = dict[str, list[str]]()
        for one in lacking:
            alike.setdefault(_enumerated(one.lacking) if any(one.trials.values()) else "trials", []).append(one.name)
        groups = [f"{len(names):,} without {what} ({_enumerated(names)})" for what, names in alike.items()]
        lines = [
            f"{len(lacking):,} of {len(self.conditions):,} conditions are left out of the table: {_enumerated(groups)}"
        ]
        if len(lacking) == len(self.conditions):
            lines.append(f"no condition has trials of all classes; {self._way_out(lacking)}")
        return lines

    @property
    def heading(self) -> str:
        """The title in words, with the value that all conditions share.

        Examples
        --------
        >>> ByConditions("attack+bonafide", ("attack",), ()).heading, ByConditions("sex", ("sex",), ()).heading
        ('attack (each row also contains all trials marked “bonafide”)', 'sex')
        """
        times = " \N{MULTIPLICATION SIGN} "
        parts = [one.partition("+") for one in self.title.split(times)]
        columns, values = times.join(column for column, _, _ in parts), [value for _, _, value in parts if value]
        which = "all" if len(parts) == 1 else "its"
        return f"{columns} (each row also contains {which} trials marked “{values[0]}”)" if values else columns

    def _way_out(self, lacking: Sequence[Condition]) -> str:
        """Return advice for a partition without metrics in any condition."""
        if self.columns == (self.title,):  # neither crossed nor bins
            for name in lacking[0].trials if len(lacking[0].trials) == 2 else ():
                having = [one for one in lacking if one.trials[name]]
                value = having[0].values[self.title] if having else None
                if len(having) == 1:
                    words = "have nothing in" if value is None else "have"
                    what = f"all {name} {words} {self.title}{'' if value is None else f' {value}'}"
                    return f"{what}: use {option(by=f'{self.title}+{value or str()}')} to count them in each"
            values = [value for one in lacking[:2] for value in one.values.values() if value is not None]
            if len(values) > 1:
                return f"combine several values: {option(where={self.title: '|'.join(values)})}"
        return f"combine several values with {option('where')}"


@dataclass(frozen=True, slots=True, eq=False)
class Equalized:
    """A system evaluated with equal weight of every condition of a partition.

    Attributes
    ----------
    title : str
    columns : tuple of str
    conditions : tuple of Condition
        Without metrics.
    evaluation : Evaluation or ClassEvaluation
        Results of weighted trials: the weight is the size of the largest condition of the class divided by the
        size of the condition of the trial.
    """

    title: str
    columns: tuple[str, ...]
    conditions: tuple[Condition, ...]
    evaluation: Any

    @property
    def trials(self) -> dict[str, int | float]:
        """Number or total weight of the trials of each class."""
        return {name: sum(one.trials[name] for one in self.conditions) for name in self.conditions[0].trials}

    @property
    def rule(self) -> str:
        """Description of the average; it names conditions without trials of a class."""
        n = len(self.conditions)
        words = (
            f"each of the {n} conditions has equal weight in each class: error rates at any threshold are means over "
            "conditions; the minimum uses one threshold for all"
        )
        partial = [f"{one.name} has no {_enumerated(one.lacking)}" for one in self.conditions if one.lacking]
        if partial:
            words += f". A class is averaged over the conditions that have it: {some_of(partial, '; ', _SHOWN)}"
        return words

    def to_dict(self) -> dict[str, Any]:
        """Return an entry of ``equalized`` in JSON."""
        cells = [one.to_dict() for one in self.conditions]
        return {"columns": list(self.columns), "rule": self.rule, "over": cells, **self.evaluation.to_dict()}


_SHOWN = 5
"""Conditions named in a sentence."""


@dataclass(frozen=True, slots=True, eq=False)
class SystemConditions:
    """Results of one system by condition.

    Attributes
    ----------
    pooled : Evaluation or ClassEvaluation
        Evaluation of all trials.
    partitions : tuple of ByConditions
    equalized : tuple of Equalized
    """

    pooled: OneSystem
    partitions: tuple[ByConditions, ...] = ()
    equalized: tuple[Equalized, ...] = ()

    def labelled(self) -> list[tuple[Mapping[str, str], Any]]:
        """Return every evaluation with the labels of its partition and condition: the rows of data frames."""
        result: list[tuple[Mapping[str, str], Any]] = [({"by": "", "condition": "pooled"}, self.pooled)]
        for part in self.partitions:
            result += [({"by": part.title, "condition": one.name}, one) for one in part.evaluated]
        result += [({"by": one.title, "condition": "equalized"}, one.evaluation) for one in self.equalized]
        return [(labels, replace(one, name=self.pooled.name)) for labels, one in result]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that JSON has besides the pooled metrics."""
        entries: dict[str, Any] = {}
        if self.partitions:
            entries["conditions"] = [one.to_dict() for part in self.partitions for one in part.conditions]
            entries["condition_differences"] = [one.to_dict() for part in self.partitions for one in part.differences]
        if self.equalized:
            entries["equalized"] = [one.to_dict() for one in self.equalized]
        return entries


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
        return {"worst_trials": plain(rows)}


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

    values = np.empty(len(truth))
    for k in range(loglik.shape[1]):
        rows = np.flatnonzero(truth == k)
        if len(rows):
            values[rows] = detection_llr(loglik[rows], target=k)
    return values


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
    items = []
    for rows in groups:
        for row, names in _least(llr, rows, most, names_of):
            rivals = np.where(np.arange(n_classes) == truth[row], -np.inf, loglik[row])
            cost = float(np.logaddexp(0.0, math.log(n_classes - 1) - llr[row])) / math.log(2)
            own, other = classes[int(truth[row])], classes[int(np.argmax(rivals))]
            items.append(WorstTrial(names, own, other, float(llr[row]), cost))
    return tuple(items)


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
        return np.asarray(tar & non)

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
    return np.asarray(np.divide(sums, counts, out=np.full(units.n_units, np.nan), where=counts > 0))
