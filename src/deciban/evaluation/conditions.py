"""Results by condition: those of every part of the trials, and those in which every part counts alike."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from deciban.core.resampling.intervals import Interval
from deciban.evaluation.one_system import OneSystem, as_object, plain
from deciban.evaluation.uncertainty import Figure


@dataclass(frozen=True, slots=True, eq=False)
class Condition:
    """The trials with one combination of values, and the figures of a system on them.

    Attributes
    ----------
    name : str
        In words: ``gender f · channel tel``.
    values : mapping of str to str or None
        By column; None where the key says nothing.
    trials : mapping of str to number
        How many there are of each class, or what they weigh: ``{"targets": 12, "non-targets": 300}``.
    found : Evaluation, ClassEvaluation or None
        None where trials of a class are lacking.
    """

    name: str
    values: Mapping[str, str | None]
    trials: Mapping[str, int | float]
    found: Any = None

    @property
    def lacking(self) -> tuple[str, ...]:
        """Classes of which it has no trial."""
        return tuple(name for name, n in self.trials.items() if not n)

    @property
    def why_none(self) -> str:
        """Why there are no figures; empty where there are some."""
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
    """A figure in two conditions, and its difference by the units of both.

    Attributes
    ----------
    first : str
        A condition.
    second : str or None
        Another one; None for the mean of all others.
    figure : str, or (str, place)
    values : (float, float)
        Of the first, and of the second or the mean of the others.
    interval : Interval
        First minus second.
    holm : float
        P-value, corrected for all differences of this figure that were asked of the partition.
    """

    first: str
    second: str | None
    figure: Figure
    values: tuple[float, float]
    interval: Interval
    holm: float

    def to_dict(self) -> dict[str, Any]:
        """Return an entry of ``condition_differences`` in JSON."""
        found: dict[str, Any] = plain(
            {
                "first": self.first,
                "second": self.second,
                "figure": self.figure,
                "values": self.values,
                "difference": self.interval.estimate,
                **as_object(self.interval),
                "p_value": self.interval.p_value,
                "holm": self.holm,
            }
        )
        return found


def _enumerated(names: Sequence[str]) -> str:
    """The first of them; what all are parts of is said once.

    >>> _enumerated(["segments of a", "segments of b", "segments of c", "segments of d"])
    'segments of a, of b, of c and 1 more'
    >>> _enumerated(["3 segments of a", "40 segments of b"]), _enumerated(["targets", "non-targets"])
    ('3 segments of a, 40 of b', 'targets, non-targets')
    """
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    first, *others = names[:_MOST_NAMES]
    return ", ".join([first, *(_SAME.sub(r"\1of ", name) for name in others)]) + more


def _with_number(n: float, name: str) -> str:
    """How many there are of what is called by a plural.

    >>> _with_number(1, "non-targets"), _with_number(1, "segments of class s"), _with_number(1200, "targets")
    ('1 non-target', '1 segment of class s', '1,200 targets')
    """
    return f"{n:,.6g} {_PLURAL.sub('', name, count=1) if n == 1 else name}"


_PLURAL = re.compile(r"s\b")
"""Of the first word that ends so, which is the noun."""

_MOST_NAMES = 3
"""Classes named in a sentence."""

_SAME = re.compile(r"^([\d,.e+]+ )?\w+ of ")
"""A count, and what is counted of a class."""


@dataclass(frozen=True, slots=True, eq=False)
class ByConditions:
    """A system in the conditions of one partition of the trials.

    Attributes
    ----------
    title : str
        By what trials are split: ``gender × channel``.
    columns : tuple of str
    conditions : tuple of Condition
    differences : tuple of ConditionDifference
        Between conditions, and between each and the mean of the others.
    no_differences : str
        Why there are none.
    trials : mapping of str to number
        How many there are of each class in all, or what they weigh; some may count in several conditions.
    """

    title: str
    columns: tuple[str, ...]
    conditions: tuple[Condition, ...]
    differences: tuple[ConditionDifference, ...] = ()
    no_differences: str = ""
    trials: Mapping[str, int | float] = field(default_factory=dict)

    @property
    def evaluated(self) -> tuple[Any, ...]:
        """Evaluations of the conditions that have figures, whose names are those of the conditions."""
        return tuple(one.found for one in self.conditions if one.found is not None)

    @property
    def without_figures(self) -> list[str]:
        """Return sentences: how many conditions have no metrics and why, and what to do if no condition has any.

        Examples
        --------
        >>> attacks = [{"targets": 9, "non-targets": 0}, {"targets": 0, "non-targets": 5}]
        >>> parts = [Condition(f"attack {k}", {"attack": f"{k}"}, trials) for k, trials in enumerate(attacks)]
        >>> for line in ByConditions("attack", ("attack",), tuple(parts)).without_figures:
        ...     print(line)
        2 of 2 conditions are left out of the table: 1 without non-targets (attack 0), 1 without targets (attack 1)
        no condition has trials of all classes; all targets have attack 0: --by 'attack+0' counts them in every one
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

    def _way_out(self, lacking: Sequence[Condition]) -> str:
        """What to do where no condition has figures."""
        if self.columns == (self.title,):  # neither crossed nor bins
            for name in lacking[0].trials if len(lacking[0].trials) == 2 else ():
                having = [one for one in lacking if one.trials[name]]
                value = having[0].values[self.title] if having else None
                if len(having) == 1:
                    said = "have nothing in" if value is None else "have"
                    what = f"all {name} {said} {self.title}{'' if value is None else f' {value}'}"
                    return f"{what}: --by '{self.title}+{value or ''}' counts them in every one"
            values = [value for one in lacking[:2] for value in one.values.values() if value is not None]
            if len(values) > 1:
                return f"several values are taken together by --where ({self.title}='{'|'.join(values)}')"
        return "several values are taken together by --where"


@dataclass(frozen=True, slots=True, eq=False)
class Equalized:
    """A system with every condition of a partition counting alike.

    Attributes
    ----------
    title : str
    columns : tuple of str
    conditions : tuple of Condition
        Without figures.
    found : Evaluation or ClassEvaluation
        Of trials of which each weighs as the largest condition of its class does over its own.
    """

    title: str
    columns: tuple[str, ...]
    conditions: tuple[Condition, ...]
    found: Any

    @property
    def trials(self) -> dict[str, int | float]:
        """How many there are of each class, or what they weigh."""
        return {name: sum(one.trials[name] for one in self.conditions) for name in self.conditions[0].trials}

    @property
    def rule(self) -> str:
        """What was averaged, in words; it names conditions that lack a class."""
        n = len(self.conditions)
        words = (
            f"in each class, every one of the {n} conditions counts alike: error rates at any threshold are means over "
            "conditions; a minimum has one threshold for all, and is never above the actual cost"
        )
        partial = [f"{one.name} has no {_enumerated(one.lacking)}" for one in self.conditions if one.lacking]
        if partial:
            shown = "; ".join(partial[:_SHOWN]) + (f"; {len(partial) - _SHOWN} more" if len(partial) > _SHOWN else "")
            words += f". A class is averaged over the conditions that have it: {shown}"
        return words

    def to_dict(self) -> dict[str, Any]:
        """Return an entry of ``equalized`` in JSON."""
        cells = [one.to_dict() for one in self.conditions]
        return {"columns": list(self.columns), "rule": self.rule, "over": cells, **self.found.to_dict()}


_SHOWN = 5
"""Conditions named in a sentence."""


@dataclass(frozen=True, slots=True, eq=False)
class SystemConditions:
    """What is known of one system by condition.

    Attributes
    ----------
    pooled : Evaluation or ClassEvaluation
        Of all trials together.
    partitions : tuple of ByConditions
    equalized : tuple of Equalized
    """

    pooled: OneSystem
    partitions: tuple[ByConditions, ...] = ()
    equalized: tuple[Equalized, ...] = ()

    def labelled(self) -> list[tuple[Mapping[str, str], Any]]:
        """Every evaluation, with the partition and the condition that it is of: the rows of data frames."""
        found: list[tuple[Mapping[str, str], Any]] = [({"by": "", "condition": "pooled"}, self.pooled)]
        for part in self.partitions:
            found += [({"by": part.title, "condition": one.name}, one) for one in part.evaluated]
        found += [({"by": one.title, "condition": "equalized"}, one.found) for one in self.equalized]
        return [(labels, replace(one, name=self.pooled.name)) for labels, one in found]

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON says of a system besides its pooled figures."""
        found: dict[str, Any] = {}
        if self.partitions:
            found["conditions"] = [one.to_dict() for part in self.partitions for one in part.conditions]
            found["condition_differences"] = [one.to_dict() for part in self.partitions for one in part.differences]
        if self.equalized:
            found["equalized"] = [one.to_dict() for one in self.equalized]
        return found
