"""The content of a page: results, and the differences between its systems."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from deciban import plots
from deciban.analysis.compared import figures_of
from deciban.analysis.comparison import Comparison, caption_of, compare_results, headings_of, rows_of, sentences_of
from deciban.core.resampling.intervals import LEVEL
from deciban.evaluation import Results
from deciban.messages import names_apart

if TYPE_CHECKING:
    from deciban.analysis import FusionFigures, Selection
    from deciban.models import Model
    from deciban.report.tables import Provenance

_MOST = 3
"""Of more systems, each is compared with the first one alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What a page shows; see `render`.

    The ``level`` is that of bands around maps, None for no bands; the ``command`` are words of a shell that evaluate
    the same scores, for readers who want to go on.
    """

    results: Results[Any]
    title: str | None = None
    message_lines: tuple[str, ...] = ()
    train: Results[Any] | None = None
    before: Results[Any] | None = None
    train_before: Results[Any] | None = None
    model: Model | None = None
    figures: FusionFigures | None = None
    selection: Selection | None = None
    level: float | None = LEVEL
    provenance: Provenance | None = None
    command: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of what it shows: test, and training if there is some, each maybe before calibration."""
        sets = {"before": self.before, "train": self.train, "train_before": self.train_before}
        more = {name: shown.systems_to_dicts() for name, shown in sets.items() if shown is not None}
        return {**self.results.to_dict(), **more}


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
        """Plots by their names in `deciban.report.tables`."""
        found = [("forest", plots.forest(self.comparison))]
        if any(pair.curves for pair in self.comparison.pairs):
            found.append(("difference_curve", plots.difference_curve(self.comparison)))
        return found
