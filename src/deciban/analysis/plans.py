"""Plans of evaluations: the designs that reach a goal, in numbers and in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from deciban.analysis.compared_figures import key_of
from deciban.analysis.pilots import Pilot, pilot_in_words
from deciban.core.by_value import ByValue
from deciban.evaluation.as_json import Jsonable, plain
from deciban.messages import Message, counted
from deciban.types import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Design:
    """Data to collect, and what they promise.

    Attributes
    ----------
    n_units : int
        Speakers or other units.
    n_segments : float or None
        Segments for each of them; None where the pilot does not tell segments apart.
    n_tar, n_non : int or None
        Trials of two classes.
    standard_error : float
        Of the figure, or of the difference.
    reached : float
        Width of the interval, or the smallest difference that is seen.
    """

    n_units: int
    n_segments: float | None
    n_tar: int | None
    n_non: int | None
    standard_error: float
    reached: float


@dataclass(frozen=True, slots=True, eq=False)
class Plan(ByValue, Jsonable):
    """How much data a figure needs to be so sure; printed, it is a text.

    Attributes
    ----------
    pilot : Pilot
        What it follows from.
    wanted : {"width", "difference"}
    target : float
        The width or the difference that is wanted.
    amount : float
        The same as it was given.
    is_relative : bool
        Whether it was given as a share of the figure.
    level : float
    power : float or None
    is_crossed : bool
        Whether all are tried against all in the designs.
    trials_per_segment : int or None
        Non-target trials of each segment, where it was said.
    levels : mapping of str to float
        Variance of the figure in the pilot that comes from units, segments, pairs of units and single trials.
    designs : tuple of Design
        The smallest ones that reach the goal, by segments for each unit: those of the pilot first.
    between : (int or None, int or None), or None
        Between which numbers of units that of the first design should lie, as the pilot itself is rough.
    endless : int or None
        Units that are needed however many segments each has; None where the pilot does not tell.
    curve_units : (n,) int array
    curves : tuple of (n,) arrays
        Width, or difference that is seen, over the numbers of units, for the segments of each design.
    messages : tuple of Message
        What was read and assumed, where the pilot is in files.
    """

    pilot: Pilot
    wanted: Literal["width", "difference"]
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
        """That of the expected figure in a design like the pilot, by the components of its variance."""
        return math.sqrt(sum(self.levels.values()))

    @property
    def shares(self) -> dict[str, float]:
        """Shares of the variance in the pilot, in words."""
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
        """A value of the figure as people read it: rates in percent."""
        return f"{100 * value:.3g} %" if self.pilot.in_percent else f"{value:.3g}"

    @property
    def of_figure(self) -> str:
        """What the figure is called."""
        words, names = self.pilot.words, self.pilot.names
        return words if len(names) == 1 else f"difference of {words}, {' minus '.join(names)},"

    @property
    def lines(self) -> tuple[str, ...]:
        """What is to be said, a sentence each."""
        pilot, first = self.pilot, self.designs[0]
        known = f"{self.of_figure} {self.written(pilot.value)}"
        if self.written(pilot.expected) != self.written(pilot.value):
            known += f" (corrected {self.written(pilot.expected)})"
        known += f", standard error {self.written(self.standard_error)}"
        found = [f"pilot: {pilot_in_words(pilot)}: {known}", f"{self._goal()}: {self._design(first)}"]
        if self.between is not None:
            low, high = ("more than a billion" if one is None else f"{one:,}" for one in self.between)
            found.append(f"the pilot knows its own variance roughly: it may take from {low} to {high} {pilot.noun}s")
        parts = [f"{100 * share:.0f} % {words}" for words, share in self.shares.items() if share >= 0.005]
        if len(self.shares) > 1:
            found.append(f"of the variance in the pilot, {', '.join(parts)}")
        else:
            found.append(f"all of the variance is taken for variance between {pilot.noun}s")
        if self.endless is not None and self.levels["unit"] > 0.0:
            found.append(
                f"however many segments each has, it takes at least {counted(self.endless, pilot.noun)}, as far as "
                "this pilot can tell"
            )
        elif self.endless is not None:
            found.append(f"more segments help as much as more {pilot.noun}s do, as far as this pilot can tell")
        if self.wanted == "difference" and len(pilot.names) == 1:
            found.append(
                "the other system is taken to err independently of this one, and to be as unsure: systems on the same "
                "trials mostly need fewer; name its scores to know"
            )
        return tuple(found)

    def _goal(self) -> str:
        amount = self.written(self.target)
        if self.wanted == "width":
            half = self.written(self.target / 2)
            return f"for an interval of {self.of_figure} at level {self.level:g} that is {amount} wide (about ±{half})"
        return (
            f"to tell a difference of {amount} of {self.pilot.words} from none, with power {self.power:g} at level "
            f"{self.level:g}"
        )

    def _design(self, design: Design) -> str:
        words = f"about {counted(design.n_units, self.pilot.noun)}"
        if design.n_segments is not None:
            words += f" with {_segments(design.n_segments)} each"
        if design.n_tar is not None and design.n_non is not None:
            words += f", {design.n_tar:,} target and {counted(design.n_non, 'non-target trial')}"
        return words

    @property
    def headings(self) -> tuple[str, ...]:
        """What stands above `rows`."""
        reached = "width" if self.wanted == "width" else "difference seen"
        return f"{self.pilot.noun}s", "segments each", "targets", "non-targets", "standard error", reached

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """The designs, as texts."""
        return tuple(
            (
                f"{one.n_units:,}",
                "-" if one.n_segments is None else f"{one.n_segments:.3g}",
                *("-" if n is None else f"{n:,}" for n in (one.n_tar, one.n_non)),
                self.written(one.standard_error),
                self.written(one.reached),
            )
            for one in self.designs
        )

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
        design = tuple(Design.__dataclass_fields__)
        found = {
            "figure": key_of(pilot.figure),
            "systems": list(pilot.names),
            "goal": {
                "kind": self.wanted,
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
            "designs": [{name: getattr(one, name) for name in design} for one in self.designs],
            "between": None if self.between is None else list(self.between),
            "endless": self.endless,
            "curves": {"n_units": self.curve_units, "reached": list(self.curves)},
            "sentences": list(self.lines),
        }
        return dict(plain(found))


def _segments(n: float) -> str:
    return f"{n:.3g} segment{'' if n == 1 else 's'}"
