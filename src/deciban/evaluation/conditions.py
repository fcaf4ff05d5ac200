"""Results by condition, and results with equal weight of every condition."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from deciban.core.resampling.intervals import Interval
from deciban.errors import option, some_of
from deciban.evaluation.one_system import OneSystem, as_object, plain
from deciban.evaluation.uncertainty import MetricKey


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
    found : Evaluation, ClassEvaluation or None
        None if a class has no trials.
    """

    name: str
    values: Mapping[str, str | None]
    trials: Mapping[str, int | float]
    found: Any = None

    @property
    def lacking(self) -> tuple[str, ...]:
        """Classes without trials."""
        return tuple(name for name, n in self.trials.items() if not n)

    @property
    def why_none(self) -> str:
        """Reason why there are no metrics; empty if there are metrics."""
        if self.found is not None:
            return ""
        some = {name: n for name, n in self.trials.items() if n}
        if not some:
            return "no trials"
        return f"no {_enumerated(self.lacking)} ({_enumerated([_with_number(n, name) for name, n in some.items()])})"

    def to_dict(self) -> dict[str, Any]:
        """Return an entry of ``conditions`` in JSON."""
        about = {"condition": dict(self.values), "trials": dict(self.trials), "lacking": list(self.lacking)}
        return {**plain(about), **({} if self.found is None else self.found.to_dict())}


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
        found: dict[str, Any] = plain(
            {
                "first": self.first,
                "second": self.second,
                "figure": self.metric,
                "values": self.values,
                "difference": self.interval.estimate,
                **as_object(self.interval),
                "p_value": self.interval.p_value,
                "holm": self.holm,
            }
        )
        return found


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
        return tuple(one.found for one in self.conditions if one.found is not None)

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
        lacking = [one for one in self.conditions if one.found is None]
        if not lacking:
            return []
        if len(lacking) == 1:
            return [f"{lacking[0].name} is left out of the table: {lacking[0].why_none}"]
        alike = dict[str, list[str]]()
        for one in lacking:
            alike.setdefault(_enumerated(one.lacking) if any(one.trials.values()) else "trials", []).append(one.name)
        groups = [f"{len(names):,} without {what} ({_enumerated(names)})" for what, names in alike.items()]
        found = [
            f"{len(lacking):,} of {len(self.conditions):,} conditions are left out of the table: {_enumerated(groups)}"
        ]
        if len(lacking) == len(self.conditions):
            found.append(f"no condition has trials of all classes; {self._way_out(lacking)}")
        return found

    @property
    def heading(self) -> str:
        """The title in words, with the value that all conditions share.

        Examples
        --------
        >>> ByConditions("attack+bonafide", ("attack",), ()).heading, ByConditions("sex", ("sex",), ()).heading
        ('attack (each row with all trials marked “bonafide”)', 'sex')
        """
        column, _, value = self.title.partition("+")
        return f"{column} (each row with all trials marked “{value}”)" if value else column

    def _way_out(self, lacking: Sequence[Condition]) -> str:
        """Return advice for a partition without metrics in any condition."""
        if self.columns == (self.title,):  # neither crossed nor bins
            for name in lacking[0].trials if len(lacking[0].trials) == 2 else ():
                having = [one for one in lacking if one.trials[name]]
                value = having[0].values[self.title] if having else None
                if len(having) == 1:
                    said = "have nothing in" if value is None else "have"
                    what = f"all {name} {said} {self.title}{'' if value is None else f' {value}'}"
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
    found : Evaluation or ClassEvaluation
        Results of weighted trials: the weight is the size of the largest condition of the class divided by the
        size of the condition of the trial.
    """

    title: str
    columns: tuple[str, ...]
    conditions: tuple[Condition, ...]
    found: Any

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
        return {"columns": list(self.columns), "rule": self.rule, "over": cells, **self.found.to_dict()}


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
        found: list[tuple[Mapping[str, str], Any]] = [({"by": "", "condition": "pooled"}, self.pooled)]
        for part in self.partitions:
            found += [({"by": part.title, "condition": one.name}, one) for one in part.evaluated]
        found += [({"by": one.title, "condition": "equalized"}, one.found) for one in self.equalized]
        return [(labels, replace(one, name=self.pooled.name)) for labels, one in found]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that JSON has besides the pooled metrics."""
        found: dict[str, Any] = {}
        if self.partitions:
            found["conditions"] = [one.to_dict() for part in self.partitions for one in part.conditions]
            found["condition_differences"] = [one.to_dict() for part in self.partitions for one in part.differences]
        if self.equalized:
            found["equalized"] = [one.to_dict() for one in self.equalized]
        return found
