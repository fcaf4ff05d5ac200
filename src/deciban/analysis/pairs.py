"""Two systems: each of their figures subtracted, with the interval of the difference, and who is better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from deciban.analysis.compared_figures import key_of, shown
from deciban.analysis.curve_differences import CurveDifference, where_in_words
from deciban.analysis.paired import is_of_ranks
from deciban.core.resampling.intervals import Interval
from deciban.evaluation.uncertainty import Figure


@dataclass(frozen=True, slots=True)
class FigureDifference:
    """One figure of two systems, first minus second.

    Attributes
    ----------
    figure : Figure
    words : str
        What it is called, with its operating point.
    values : (float, float)
        Of the first and of the second system.
    interval : Interval
        Of the difference, with its p-value.
    holm : float
        The p-value, with all pairs of systems that were compared by this figure in mind.
    """

    figure: Figure
    words: str
    values: tuple[float, float]
    interval: Interval
    holm: float

    @property
    def name(self) -> str:
        """What the figure is called in one word."""
        return key_of(self.figure)

    @property
    def excludes_none(self) -> bool:
        """Whether no difference lies outside of the interval."""
        return not self.interval.low <= 0.0 <= self.interval.high

    @property
    def relative(self) -> tuple[float, float, float] | None:
        """The difference and its bounds as shares of the greater of both figures; None if that is 0.

        Only of figures that are the smaller the better, as costs and error rates are.
        """
        greater = max(self.values)
        if shown(self.figure).larger_is_better or greater <= 0.0:
            return None
        one = self.interval
        return one.estimate / greater, one.low / greater, one.high / greater

    @property
    def is_settled(self) -> bool:
        """Whether one is better beyond doubt: the interval says so, and the p-value among all pairs."""
        return self.excludes_none and self.holm <= 1.0 - self.interval.level

    @property
    def better(self) -> int | None:
        """Which of both is better beyond doubt, 0 or 1; None if that is open."""
        if not self.is_settled:
            return None
        return int((self.interval.estimate > 0.0) != shown(self.figure).larger_is_better)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        one = self.interval
        return {
            "figure": self.name,
            "words": self.words,
            "first": self.values[0],
            "second": self.values[1],
            "difference": one.estimate,
            **{
                name: getattr(one, name) for name in ("low", "high", "standard_error", "corrected", "method", "p_value")
            },
            "holm": self.holm,
        }


@dataclass(frozen=True, slots=True)
class Pair:
    """Two systems, figure by figure and curve by curve.

    Attributes
    ----------
    names : (str, str)
        First and second: differences are first minus second.
    figures : tuple of FigureDifference
    curves : tuple of CurveDifference
    n_shared : int
        Units that both have.
    same_ranks : bool
        Whether both put the trials in the same order.
    """

    names: tuple[str, str]
    figures: tuple[FigureDifference, ...]
    curves: tuple[CurveDifference, ...]
    n_shared: int
    same_ranks: bool = False

    def __str__(self) -> str:
        """Name the difference."""
        return " \N{MINUS SIGN} ".join(self.names)

    @property
    def sentences(self) -> list[str]:
        """Who is better beyond doubt, in which figures and at which priors."""
        found = []
        for which, name in enumerate(self.names):
            words = [one.words for one in self.figures if one.better == which]
            found += [f"{name} is better in {', '.join(words)}"] if words else []
        if self.same_ranks:
            same = ", ".join(one.words for one in self.figures if is_of_ranks(one.figure))
            found.append(f"both put the trials in the same order, so that they have the same {same}")
        return [*(found or ["no figure in which one is better beyond doubt"]), *where_in_words(self.curves)]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return {
            "first": self.names[0],
            "second": self.names[1],
            "shared_units": self.n_shared,
            "figures": [one.to_dict() for one in self.figures],
            "curves": [one.to_dict() for one in self.curves],
        }


def figures_compared(pairs: Sequence[Pair]) -> list[Figure]:
    """Figures of which some pair has the difference: all pairs but those with a system whose figure is infinite."""
    most = max(pairs, key=lambda pair: len(pair.figures))
    return list(dict.fromkeys(one.figure for pair in (most, *pairs) for one in pair.figures))
