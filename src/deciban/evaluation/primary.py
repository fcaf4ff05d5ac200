"""The number by which the plan of an evaluation ranks systems: of the plan's own points, whatever else is asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from deciban.core.resampling.intervals import Interval
from deciban.errors import InputError
from deciban.evaluation.as_json import as_object, plain
from deciban.evaluation.preset_table import Preset
from deciban.evaluation.uncertainty import Figure, shown_interval, with_interval

_AT_POINTS = {"dcf": ("act_dcf", "min_dcf"), "c_avg": ("c_avg", "min_c_avg"), "norm": ("normalized", "normalized_min")}

_MOST_PARTS = 8

ESTIMATORS = (
    "actual and minimum are different estimators: the one is of mean error rates of the conditions at the threshold of "
    "the plan, the other of one threshold for all trials, weighted by largest condition over own"
)
"""Said where both stand beside each other and conditions count alike."""


@dataclass(frozen=True, slots=True, eq=False)
class PlanFigure:
    """A figure of a plan: its value, and how sure it is.

    Attributes
    ----------
    value : float
    of : Evaluation, ClassEvaluation or None
        The evaluation that it is a figure of, where it is one.
    name : str or (str, place)
        What it is called there.
    """

    value: float
    of: Any = None
    name: Figure = ""

    @property
    def interval(self) -> Interval | None:
        """How sure it is; None where there is no interval, or it is no metric of one evaluation."""
        return None if self.of is None or self.name in self.of.bounds else shown_interval(self.of, self.name)

    def written(self, write: Callable[[float], str], typeset: Callable[[str], str] = str) -> str:
        """As tables show it: with its interval or bounds."""
        text = write(self.value)
        return text if self.of is None else with_interval(text, self.of, self.name, typeset)

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON says of it."""
        interval = self.interval
        return {"value": self.value, "interval": None if interval is None else as_object(interval)}


@dataclass(frozen=True, slots=True, eq=False)
class Primary:
    """The primary number of a plan for one system.

    Attributes
    ----------
    plan : Preset
    system : str
    actual, minimum : PlanFigure or None
        By decisions at the threshold of the plan, and by the best ones; None where the plan has no such figure.
    how : str
        Of which trials, where this is not simply all of them.
    departs : str
        Why this is not what the plan asks for; empty where it is.
    parts : mapping of str to float
        What it is the mean of, by name.
    """

    plan: Preset
    system: str
    actual: PlanFigure | None
    minimum: PlanFigure | None
    how: str = ""
    departs: str = ""
    parts: dict[str, float] = field(default_factory=dict)

    @property
    def figure(self) -> PlanFigure:
        """That which ranks systems."""
        chosen = self.minimum if self.actual is None or self.plan.is_minimum else self.actual
        if chosen is None:
            raise ValueError("a primary number has a figure")
        return chosen

    @property
    def shown(self) -> list[tuple[str, PlanFigure]]:
        """What tables show of it, that which ranks systems first, with headings."""
        pairs = [("actual", self.actual), ("minimum", self.minimum)]
        there = [(name, one) for name, one in pairs if one is not None]
        there.sort(key=lambda pair: pair[1] is not self.figure)
        what = "not primary" if self.departs else "primary"
        alone = what if len(there) == 1 else f"{what} ({there[0][0]})"
        return [(name if at else alone, one) for at, (name, one) in enumerate(there)]

    @property
    def remarks(self) -> list[str]:
        """Of which trials it is, of what it is the mean, and why it is not the number of the plan."""
        found = [f"not the primary number of {self.plan.name}: {self.departs}"] if self.departs else []
        found += [f"{self.plan.name}: {self.how}"] if self.how else []
        both = self.actual is not None and self.minimum is not None
        found += [ESTIMATORS] if both and self.plan.equalize and not self.departs else []
        parts = [f"{name} {value:.4f}" for name, value in self.parts.items()]
        if parts:
            more = [f"{len(parts) - _MOST_PARTS} more"] if len(parts) > _MOST_PARTS else []
            found.append(f"{self.system}: {', '.join([*parts[:_MOST_PARTS], *more])}")
        return found

    @property
    def value(self) -> float:
        """That which ranks systems."""
        return self.figure.value

    @property
    def status(self) -> str:
        """Whether the plan was checked, in words that stand beside the number.

        Empty where it was, and the number is not that of the plan: nothing about this one was checked.
        """
        if not self.plan.is_verified:
            return "unverified: check it with the plan before you quote it"
        return "" if self.departs else "verified"

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON says of it."""
        found: dict[str, Any] = {
            "plan": self.plan.name,
            "status": self.plan.status,
            "figure": self.plan.primary_in_words,
            "value": self.value,
            "is_of_plan": not self.departs,
            "departs": self.departs,
            "how": self.how,
        }
        for name in ("actual", "minimum"):
            one: PlanFigure | None = getattr(self, name)
            found[name] = None if one is None else one.to_dict()
        return dict(plain({**found, "parts": self.parts}))


def primary_of(plan: Preset, found: Any, *, how: str = "", departs: str = "") -> Primary:
    """Return the primary number of a plan from an evaluation that has all of its points, and maybe others.

    Parameters
    ----------
    plan : Preset
        Not of clusters or pairs of classes, whose numbers are of parts of the scores.
    found : Evaluation or ClassEvaluation
    how, departs : str
        See `Primary`.

    Raises
    ------
    InputError
        If a point of the plan is not among those of the evaluation.

    Examples
    --------
    >>> from deciban import evaluate
    >>> from deciban.evaluation import preset
    >>> found = evaluate([2.0, -1.0, 3.0], [-4.0, 0.5, -3.0], operating_points=[0.5, 0.01, 0.001])
    >>> one = primary_of(preset("sre12"), found)
    >>> one.value == (found.operating_points[1].act_dcf + found.operating_points[2].act_dcf) / 2
    True
    """
    pair: tuple[PlanFigure | None, PlanFigure | None]
    if plan.primary == "eer":
        pair = None, _figure(found, "eer", found.eer)
    elif plan.primary == "fnmr_at_fmr":
        places = [k for k, one in enumerate(found.requested.rates_at) if one.limited == "fmr"]
        at = [k for k in places if found.requested.rates_at[k].limit == plan.false_match_rates[0]]
        _require(bool(at), plan, found.name)
        pair = _figure(found, ("rates_at", at[0]), found.requested.rates_at[at[0]].rate), None
    else:
        kind = "dcf" if plan.kind == "two-class" else "norm" if plan.primary == "normalized_c_avg" else "c_avg"
        pair = _means(plan, found, _AT_POINTS[kind])
    actual, minimum = pair
    return Primary(plan, found.name, actual, minimum, how, departs)


def _means(plan: Preset, found: Any, names: tuple[str, str]) -> tuple[PlanFigure, PlanFigure]:
    """Means over the points of the plan, of actual costs and of minimum costs."""
    there = found.operating_points if plan.kind == "two-class" else found.points
    known = [(one.p_target, getattr(one, "c_miss", 1), getattr(one, "c_fa", 1)) for one in there]
    wanted = [(one.p_target, one.c_miss, one.c_fa) for one in plan.points]
    _require(set(wanted) <= set(known), plan, found.name)
    at = [known.index(one) for one in wanted]
    return tuple(_mean(found, name, [getattr(there[k], name) for k in at], at, len(known)) for name in names)  # type: ignore[return-value]


def _mean(found: Any, name: str, values: Sequence[float], at: Sequence[int], n_points: int) -> PlanFigure:
    value = math.fsum(values) / len(values)
    if len(at) == 1:
        return _figure(found, (name, at[0]), value)
    mean = {"act_dcf": "mean_act_dcf", "min_dcf": "mean_min_dcf"}.get(name, f"mean_{name}")
    return _figure(found, mean, value) if len(at) == n_points else PlanFigure(value)


def _figure(found: Any, figure: Figure, value: float) -> PlanFigure:
    return PlanFigure(value, found, figure)


def _require(is_there: bool, plan: Preset, name: str) -> None:  # noqa: FBT001  # one answer
    if not is_there:
        raise InputError(
            f"preset: {name} was not evaluated at all points of {plan.name}, of which the primary number is made. "
            "Evaluate it with this preset."
        )
