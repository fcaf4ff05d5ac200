"""What a page says of the differences between its systems."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from deciban import plots
from deciban.analysis.compared_figures import figures_of
from deciban.analysis.comparison import Comparison, caption_of, compare_results, headings_of, rows_of, sentences_of
from deciban.evaluation.results import Results
from deciban.messages import names_apart

_MOST = 3
"""Of more systems, each is compared with the first one alone."""


@dataclass(frozen=True, slots=True)
class Differences:
    """The section on differences.

    Attributes
    ----------
    comparison : Comparison
    """

    comparison: Comparison

    @classmethod
    def of(cls, results: Results[Any], before: Results[Any] | None, most: int = _MOST) -> Differences | None:
        """Compare the systems of a page, or one before calibration with itself after; None if there is nothing to say.

        Parameters
        ----------
        results : Results
        before : Results or None
        most : int
            Of more systems, each is compared with the first one alone.
        """
        systems = results.systems
        if before is not None and len(before.systems) == len(systems) == 1:
            named = [f"{one.name}, {when}" for one, when in ((before.systems[0], "before"), (systems[0], "after"))]
            systems = (before.systems[0], systems[0])
        else:
            named = names_apart([one.name for one in systems], ())
        if len(systems) < 2 or not all(one.uncertainty is not None and one.uncertainty.influences for one in systems):
            return None
        if not figures_of(systems):
            return None
        systems = tuple(replace(one, name=name) for one, name in zip(systems, named, strict=True))
        if len({(one.point_names, one.uncertainty.level) for one in systems}) > 1:
            return None
        level = systems[0].uncertainty.level
        against = "all" if len(systems) <= most else "first"
        return cls(compare_results(Results(systems), against=against, level=level))

    @property
    def headings(self) -> list[str]:
        """Of the table."""
        return headings_of(self.comparison)

    @property
    def rows(self) -> list[Any]:
        """Of the table, the first `n_left` cells texts."""
        return rows_of(self.comparison)

    @property
    def n_left(self) -> int:
        """Columns of texts."""
        return 1 if len(self.comparison.pairs) == 1 else 3

    @property
    def caption(self) -> str:
        """What intervals and p-values are."""
        return f"{caption_of(self.comparison)}. Differences are the first system minus the second."

    @property
    def sentences(self) -> list[str]:
        """Who is better, and where."""
        return sentences_of(self.comparison)

    def drawings(self) -> list[tuple[str, Any]]:
        """Plots by their names in `deciban.report.text`."""
        found = [("forest", plots.forest(self.comparison))]
        if any(pair.curves for pair in self.comparison.pairs):
            found.append(("difference_curve", plots.difference_curve(self.comparison)))
        return found
