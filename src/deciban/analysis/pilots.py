"""Pilots of evaluations, and the designs that they predict, as numbers and as text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np

from deciban.core.resampling.class_sums import Component, Factor, components_of, sums_of_levels
from deciban.core.resampling.intervals import Estimate, Scale
from deciban.core.resampling.units import TrialUnits
from deciban.errors import InputError, Message, counted, either, not_none
from deciban.evaluation import ClassEvaluation, Evaluation
from deciban.evaluation.metrics import metric_of, name_with_place
from deciban.evaluation.one_system import Jsonable, plain
from deciban.evaluation.two_class.evaluate import costs_of_trials, evaluation_of
from deciban.evaluation.two_class.summary import TwoClassMetrics, summarize
from deciban.evaluation.uncertainty import MetricKey, Resampling, Uncertainty, looked_up
from deciban.types import AnyArray, ByValue, CountArray, FloatArray, FloatPair, IntArray

OfClasses: TypeAlias = tuple[TrialUnits, TrialUnits]
"""Units of targets, and of non-targets."""

LEVEL_OF = {
    "unit": "unit",
    "unit of the first side": "unit",
    "unit of the second side": "unit",
    "enrolment": "unit",
    "segment": "segment",
    "pair of units": "pair",
    "trial": "trial",
}
"""Number of a design that scales each factor. Units keep the number of enrolments of the pilot."""

_CROSSED = 0.45
"""Least share of all possible non-target trials in a pilot of all against all, possibly within gender."""


@dataclass(frozen=True, slots=True)
class Pilot:
    """A metric on the trials of a pilot, with its components of variance.

    Attributes
    ----------
    metric : str, or (str, place)
    words : str
        Label of the metric.
    in_percent : bool
        True if the metric is written in percent.
    names : tuple of str
        The system, or the two systems whose difference is planned.
    value : float
    expected : float
        Expected value on new units, without the optimism of minima.
    scale : {"log", "logit", "identity"}
        Scale on which the metric is nearly normal.
    noun : str
        Name of a unit.
    source : str
        Source of the units.
    n_units : int
    n_tar, n_non : int or None
        Two-class: number of trials.
    n_segments : float or None
        Mean number of segments per unit; None if unknown, or if every unit has only one.
    both_sides : bool
        True if the same segments are on both sides of trials.
    is_crossed : bool
        True if the pilot is all against all: with more units, each segment is tried against more of them.
    components : tuple of Component
    growth : float
        Ratio of the standard error to that from costs of trials with fixed decisions. It includes decisions that were
        chosen without each unit, and the jackknife, which leaves out all trials of a unit.
    spread : float or None
        Relative standard error of the variance, which is estimated from few units.
    """

    metric: MetricKey
    words: str
    in_percent: bool
    names: tuple[str, ...]
    value: float
    expected: float
    scale: Scale
    noun: str
    source: str
    n_units: int
    n_tar: int | None
    n_non: int | None
    n_segments: float | None
    both_sides: bool
    is_crossed: bool
    components: tuple[Component, ...]
    spread: float | None
    growth: float = 1.0

    @property
    def levels(self) -> dict[str, float]:
        """Variance of the metric from units, segments, pairs and trials of each class, at least 0.

        For minima, decisions are chosen without each unit.
        """
        entries = {"unit": 0.0}
        for one in self.components:
            level = LEVEL_OF[one.name]
            level += (" of targets" if one.pair == (0, 0) else " of non-targets") if level == "trial" else ""
            entries[level] = entries.get(level, 0.0) + one.variance
        return {level: self.growth**2 * max(variance, 0.0) for level, variance in entries.items()}


def pilot_of_evaluations(
    first: Evaluation | ClassEvaluation, second: Evaluation | ClassEvaluation | None, metric: MetricKey
) -> Pilot:
    """Return a pilot from influences of units only: all variance is assigned to units.

    Raises
    ------
    InputError
        If units or influences are unknown, or the systems have different units.
    """
    systems = [one for one in (first, second) if one is not None]
    known = [_uncertainty(one) for one in systems]
    about, name = known[0], metric_key(metric, first)
    estimates = [looked_up(one.estimates, name) for one in known]
    influence = about.influences.get(name, np.empty(0))
    value, expected, scale = estimates[0].value, _expected(estimates[0]), estimates[0].scale
    if second is not None:
        if not np.array_equal(about.keys, known[1].keys) or not all(name in one.influences for one in known):
            raise InputError("second: has different units than the first system. Evaluate both on the same trials.")
        influence, scale = influence - known[1].influences[name], "identity"
        value, expected = value - estimates[1].value, expected - _expected(estimates[1])
    n, variance = about.n_units, estimates[0].standard_error ** 2
    if second is not None and len(influence):
        variance = float(influence @ influence) * n / (n - 1)
    n_tar, n_non = (int(getattr(first, one)) if hasattr(first, one) else None for one in ("n_tar", "n_non"))
    return Pilot(
        metric=name,
        words=first.words(name),
        in_percent=metric_of(name).in_percent,
        names=tuple(one.name for one in systems),
        value=value,
        expected=expected,
        scale=scale,
        noun=about.noun,
        source=about.source,
        n_units=n,
        n_tar=n_tar,
        n_non=n_non,
        n_segments=None,
        both_sides=False,
        is_crossed=False,
        components=(Component("unit", (0, 0), variance * n, 1.0 / n),),
        spread=_spread(influence),
    )


def _expected(one: Estimate) -> float:
    """Return the expected metric on new units."""
    return one.value if one.corrected is None or one.corrected <= 0.0 else one.corrected


def metric_key(metric: MetricKey, system: Evaluation | ClassEvaluation) -> MetricKey:
    """Return the key of a metric: ``"min_dcf"``, ``"min_dcf@2"`` or ``("min_dcf", 1)``.

    Raises
    ------
    InputError
        If there is no such metric, or it is infinite.
    """
    if isinstance(metric, str):
        return system.key_called(metric)
    looked_up(_uncertainty(system).estimates, metric)
    return metric


def pilot_of_trials(
    scores: Sequence[tuple[AnyArray, AnyArray]],
    units: OfClasses,
    segments: OfClasses | None,
    *,
    metric: MetricKey,
    names: Sequence[str],
    metrics: TwoClassMetrics,
    weights: tuple[CountArray | None, CountArray | None] = (None, None),
) -> Pilot:
    """Return a pilot from the trials of one system, or of two systems on the same trials.

    Parameters
    ----------
    scores : sequence of pairs of arrays
        Scores of targets and of non-targets, for each system.
    units, segments : pairs of TrialUnits
        Of targets and of non-targets. Segments of one side, or of both; the same segments have the same codes on both
        sides.
    metric : str, or (str, place)
    names : sequence of str
    metrics : TwoClassMetrics
    weights : pair of arrays, optional

    Raises
    ------
    InputError
        If the metric is unknown, or there are fewer than two units.
    """
    make = partial(summarize, metrics=metrics, tar_units=units[0], non_units=units[1])
    costs, result = list[FloatPair](), list[Evaluation]()
    for (tar, non), name in zip(scores, names, strict=True):
        summary = make(tar, non, tar_weights=weights[0], non_weights=weights[1])
        result.append(evaluation_of(summary, name=name, resampling=Resampling(optimism=True, keep=True)))
        _uncertainty(result[-1])
        costs.append(costs_of_trials(summary, result[-1], metric_key(metric, result[-1])))
    whole = pilot_of_evaluations(result[0], result[1] if len(result) > 1 else None, metric)
    linear = costs[0] if len(costs) == 1 else (costs[0][0] - costs[1][0], costs[0][1] - costs[1][1])
    layout = _Layout.of(units, segments)
    components = components_of(linear, layout.factors, weights)
    design = not_none(_uncertainty(result[0]).design, "design")
    stretched = linear[0] * design.stretch[0], linear[1] * design.stretch[1]
    has_segments = layout.n_segments is not None and any(one.name == "segment" for one in components)
    return replace(
        whole,
        n_segments=(layout.n_segments or 0) / whole.n_units if has_segments else None,
        both_sides=layout.both_sides,
        is_crossed=layout.is_crossed,
        n_tar=len(linear[0]),
        n_non=len(linear[1]),
        components=components,
        growth=_growth(whole, sums_of_levels(stretched, layout.factors[0], weights)),
    )


def _growth(whole: Pilot, fixed: FloatArray) -> float:
    """Return the ratio of the standard error to that with fixed decisions."""
    n, squares = whole.n_units, float(fixed @ fixed)
    return math.sqrt(whole.components[0].variance / (squares * n / (n - 1))) if squares > 0.0 else 1.0


def _uncertainty(one: Evaluation | ClassEvaluation) -> Uncertainty:
    if one.uncertainty is None:
        raise InputError(
            f"{one.name}: the uncertainty of metrics is unknown, because the units of the trials are unknown or fewer "
            f"than two. Name them ({either('tar_units and non_units for arrays, units=... for files', '--units')})."
        )
    return one.uncertainty


def _spread(influence: FloatArray) -> float | None:
    """Return the relative standard error of the sum of squared influences of units."""
    squares = np.square(influence)
    total = float(squares.sum())
    if len(squares) < 2 or total == 0.0:
        return None
    return math.sqrt(float(np.square(squares - squares.mean()).sum()) * len(squares) / (len(squares) - 1)) / total


@dataclass(frozen=True, slots=True, eq=False)
class _Layout:
    """Factors that trials share, and the number of segments."""

    factors: tuple[Factor, ...]
    n_segments: int | None
    both_sides: bool
    is_crossed: bool

    @classmethod
    def of(cls, units: OfClasses, segments: OfClasses | None) -> _Layout:
        sizes = [len(one.codes[0]) for one in units]
        n_units, two_sided = units[0].n_units, max(len(one.codes) for one in units) == 2
        factors = [Factor("unit", (units[0].codes, units[1].codes), n_units)]
        if two_sided:
            factors += [
                Factor(f"unit of the {word} side", (_side(units[0], k), _side(units[1], k)), n_units)
                for k, word in enumerate(("first", "second"))
            ]
        n_segments, both, crossed = None, False, False
        if segments is None and not two_sided:  # every trial is a segment of its unit
            n_segments = sum(sizes)
        elif segments is not None:
            named, n_segments, both, crossed = _segments(segments, sizes[1], n_units if two_sided else 0)
            factors += named
        if two_sided:
            pairs = [_pairs(one) for one in units]
            factors.append(_numbered("pair of units", pairs[0], pairs[1]))
            if segments is None:
                crossed = len(np.unique(pairs[1])) >= _CROSSED * math.comb(n_units, 2)
        trials = np.arange(sizes[0]), np.arange(sizes[0], sum(sizes))
        name = "segment" if segments is None and not two_sided else "trial"
        factors.append(Factor(name, ((trials[0],), (trials[1],)), sum(sizes)))
        return cls(tuple(factors), n_segments, both, crossed)


def _segments(segments: OfClasses, n_non: int, n_opposite: int) -> tuple[list[Factor], int, bool, bool]:
    """Return factors of segments, their number, and whether they are the same on both sides and fully crossed.

    Segments of one side are tried against ``n_opposite`` units of the other side; 0 for trials with one side.
    """
    n_names = segments[0].n_units
    if max(len(one.codes) for one in segments) == 1:
        used = len(np.unique(np.concatenate([one.codes[0] for one in segments])))
        crossed = n_opposite > 0 and n_non >= _CROSSED * used * n_opposite
        return [Factor("segment", (segments[0].codes, segments[1].codes), n_names)], used, False, crossed
    sides = [(_side(segments[0], k), _side(segments[1], k)) for k in (0, 1)]
    used_on = [np.unique(np.concatenate([one[0] for one in side])) for side in sides]
    if len(np.intersect1d(used_on[0], used_on[1])):
        used = len(np.union1d(used_on[0], used_on[1]))
        crossed = n_non >= _CROSSED * math.comb(used, 2)
        return [Factor("segment", (segments[0].codes, segments[1].codes), n_names)], used, True, crossed
    crossed = n_non >= _CROSSED * len(used_on[0]) * len(used_on[1])
    named = [Factor(name, side, n_names) for name, side in zip(("enrolment", "segment"), sides, strict=True)]
    return named, len(used_on[1]), False, crossed


def _side(units: TrialUnits, k: int) -> tuple[IntArray]:
    return (units.codes[min(k, len(units.codes) - 1)],)


def _pairs(units: TrialUnits) -> IntArray:
    """Return a number for each unordered pair of units."""
    one, other = (side[0].astype(np.int64) for side in (_side(units, 0), _side(units, 1)))
    return np.minimum(one, other) * units.n_units + np.maximum(one, other)


def _numbered(name: str, tar: IntArray, non: IntArray) -> Factor:
    """Return a factor with consecutive numbers of levels."""
    levels, codes = np.unique(np.concatenate((tar, non)), return_inverse=True)
    return Factor(name, ((codes[: len(tar)],), (codes[len(tar) :],)), len(levels))


def size_in_words(data: Pilot | Design, noun: str) -> str:
    """Return the size as text: ``60 speakers with 3 segments each, 180 target and 10,620 non-target trials``."""
    words = counted(data.n_units, noun)
    if data.n_segments is not None:
        words += f" with {data.n_segments:.3g} segment{'' if data.n_segments == 1 else 's'} each"
    if data.n_tar is not None and data.n_non is not None:
        words += f", {data.n_tar:,} target and {counted(data.n_non, 'non-target trial')}"
    return words


@dataclass(frozen=True, slots=True)
class Design:
    """Data to collect, with the predicted uncertainty.

    Attributes
    ----------
    n_units : int
        Speakers or other units.
    n_segments : float or None
        Segments per unit; None if the pilot does not distinguish segments.
    n_tar, n_non : int or None
        Two-class: number of trials.
    standard_error : float
        Standard error of the metric, or of the difference.
    reached : float
        Width of the interval, or the smallest detectable difference.
    """

    n_units: int
    n_segments: float | None
    n_tar: int | None
    n_non: int | None
    standard_error: float
    reached: float


@dataclass(frozen=True, slots=True, eq=False)
class Plan(ByValue, Jsonable):
    """Data that a metric needs for a given uncertainty; ``str`` returns a text.

    Attributes
    ----------
    pilot : Pilot
        Basis of the plan.
    kind : {"width", "difference"}
    target : float
        The requested width or difference.
    amount : float
        The argument for it, which can be relative.
    is_relative : bool
        True if it is a share of the metric.
    level : float
    power : float or None
    is_crossed : bool
        True if designs have all trials of all against all.
    trials_per_segment : int or None
        Non-target trials of each segment, if given.
    levels : mapping of str to float
        Variance of the metric in the pilot from units, segments, pairs of units and single trials.
    designs : tuple of Design
        The smallest designs that reach the goal, for different numbers of segments per unit; the number of the pilot
        comes first.
    between : (int or None, int or None), or None
        Range of the number of units of the first design, because the pilot itself is uncertain.
    endless : int or None
        Least number of units for any number of segments; None if the pilot does not determine it.
    curve_units : (n,) int array
    curves : tuple of (n,) arrays
        Width, or detectable difference, by number of units, for the segments of each design.
    messages : tuple of Message
        Input files and assumptions, if the pilot is in files.
    """

    pilot: Pilot
    kind: Literal["width", "difference"]
    target: float
    amount: float
    is_relative: bool
    level: float
    power: float | None
    is_crossed: bool
    trials_per_segment: int | None
    levels: Mapping[str, float]
    designs: tuple[Design, ...]
    between: tuple[int | None, int | None] | None
    endless: int | None
    curve_units: IntArray
    curves: tuple[FloatArray, ...]
    messages: tuple[Message, ...] = field(default=(), compare=False)

    @property
    def standard_error(self) -> float:
        """Standard error of the expected metric in a design like the pilot, from the components of variance."""
        return math.sqrt(sum(self.levels.values()))

    @property
    def shares(self) -> dict[str, float]:
        """Shares of the variance in the pilot, by name."""
        noun, total = self.pilot.noun, sum(self.levels.values())
        words = {
            "unit": f"between {noun}s",
            "segment": "between trials" if noun == "segment" else f"between segments of a {noun}",
            "pair": f"between pairs of {noun}s",
            "trial of targets": "between single target trials",
            "trial of non-targets": "between single non-target trials",
        }
        return {words[level]: variance / total for level, variance in self.levels.items()}

    def written(self, value: float) -> str:
        """Write a value of the metric; rates are in percent."""
        return f"{100 * value:.3g} %" if self.pilot.in_percent else f"{value:.3g}"

    @property
    def of_metric(self) -> str:
        """Label of the metric or difference."""
        words, names = self.pilot.words, self.pilot.names
        return words if len(names) == 1 else f"difference of {words}, {' minus '.join(names)},"

    @property
    def lines(self) -> tuple[str, ...]:
        """Sentences of the plan."""
        pilot, first = self.pilot, self.designs[0]
        known = f"{self.of_metric} {self.written(pilot.value)}"
        if self.written(pilot.expected) != self.written(pilot.value):
            known += f" ({self.written(pilot.expected)} expected on new {pilot.noun}s)"
        known += f", standard error {self.written(self.standard_error)}"
        known += " (from variance components; intervals use another estimate)" if len(self.shares) > 1 else ""
        items = [
            f"pilot: {size_in_words(pilot, pilot.noun)}: {known}",
            f"{self._goal()}: about {size_in_words(first, pilot.noun)}",
        ]
        if self.between is not None:
            low, high = ("more than a billion" if one is None else f"{one:,}" for one in self.between)
            items.append(f"the pilot is small, so the number is uncertain: from {low} to {high} {pilot.noun}s")
        parts = [f"{100 * share:.0f} % {words}" for words, share in self.shares.items() if share >= 0.005]
        if len(self.shares) > 1:
            items.append(f"variance in the pilot: {', '.join(parts)}")
        else:
            items.append(f"all of the variance is assigned to differences between {pilot.noun}s")
        if self.endless is not None and self.levels["unit"] > 0.0:
            items.append(
                f"even with an unlimited number of segments each, at least {counted(self.endless, pilot.noun)} are "
                "needed, according to this pilot"
            )
        elif self.endless is not None:
            items.append(f"with enough segments each, a few {pilot.noun}s suffice, according to this pilot")
        if self.kind == "difference" and len(pilot.names) == 1:
            items.append(
                "the other system is assumed to have independent errors and the same uncertainty: systems on the same "
                "trials mostly need fewer; pass its scores to include this"
            )
        return tuple(items)

    def _goal(self) -> str:
        scale, unit = (100.0, " percentage points") if self.pilot.in_percent else (1.0, "")
        level, amount = f"{100.0 * self.level:.4g} %", f"{scale * self.target:.3g}"
        unit = unit[:-1] if amount == "1" else unit
        if self.kind == "width":
            half = f"±{scale * self.target / 2.0:.3g}"
            half += "; write 1 percentage point as 0.01" if self.pilot.in_percent and self.target >= 0.5 else ""
            return f"for a {level} interval of {self.of_metric} with a width of {amount}{unit} (about {half})"
        return (
            f"to detect a difference of {amount}{unit} in {self.pilot.words} with power {self.power:g} "
            f"at confidence level {level}"
        )

    @property
    def headings(self) -> tuple[str, ...]:
        """Headings of `rows`."""
        reached = "width" if self.kind == "width" else "detectable difference"
        return f"{self.pilot.noun}s", "segments each", "targets", "non-targets", "standard error", reached

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """The designs as text."""
        rows = []
        for one in self.designs:
            segments = "-" if one.n_segments is None else f"{one.n_segments:.3g}"
            counts = ["-" if n is None else f"{n:,}" for n in (one.n_tar, one.n_non)]
            errors = map(self.written, (one.standard_error, one.reached))
            rows.append((f"{one.n_units:,}", segments, *counts, *errors))
        return tuple(rows)

    def __str__(self) -> str:
        """Return the plan as a text, with a table of designs."""
        widths = [max(map(len, column)) for column in zip(self.headings, *self.rows, strict=True)]
        below = ["  ".join(map(str.rjust, row, widths)) for row in (self.headings, *self.rows)]
        return "\n".join((*self.lines, "", *below))

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain JSON types."""
        pilot = self.pilot
        known = ("noun", "source", "n_units", "n_segments", "n_tar", "n_non", "value", "expected", "spread")
        of_pilot = {name: getattr(pilot, name) for name in known}
        entries = {
            "figure": name_with_place(pilot.metric),
            "systems": pilot.names,
            "goal": {
                "kind": self.kind,
                "target": self.target,
                "amount": self.amount,
                "relative": self.is_relative,
                "level": self.level,
                "power": self.power,
            },
            "pilot": {**of_pilot, "standard_error": self.standard_error},
            "variance": dict(self.levels),
            "crossed": self.is_crossed,
            "trials_per_segment": self.trials_per_segment,
            "designs": self.designs,
            "between": self.between,
            "endless": self.endless,
            "curves": {"n_units": self.curve_units, "reached": self.curves},
            "sentences": self.lines,
        }
        return dict(plain(entries))
