"""Comparisons as people read them, in tables of the command line and of pages."""

from __future__ import annotations

from collections.abc import Sequence

from deciban.analysis.compared_figures import shown, written
from deciban.analysis.comparison import Comparison
from deciban.analysis.pairs import FigureDifference, figures_compared
from deciban.evaluation.figure_cells import WithInterval
from deciban.evaluation.interval_words import bounds_in_words


def caption_of(found: Comparison) -> str:
    """What intervals are of, and where p-values come from."""
    words = [f"Cllr in bits; differences with paired {100 * found.level:.4g} % intervals by {found.units_in_words}"]
    drawn = found.systems[0].uncertainty.bootstrap
    if drawn is not None and any(one.interval.method.startswith("bootstrap") for one in found.pairs[0].figures):
        words.append(f"bootstrap of {drawn.n_replicates:,} replicates, seed {drawn.seed}")
    if found.flips is not None:
        words.append(found.flips.words)
    if len(found.pairs) > 1:
        words.append("p by Holm's correction for all pairs of a figure")
    return "; ".join(words)


def headings_of(found: Comparison) -> list[str]:
    """Of a table whose first columns are texts: one if there is one pair, and three if there are several."""
    if len(found.pairs) == 1:
        return ["figure", *found.pairs[0].names, str(found.pairs[0]), "p"]
    return ["figure", "first", "second", "of first", "of second", "difference", "p"]


def rows_of(found: Comparison) -> list[Sequence[str]]:
    """A row for each figure and pair, p-values corrected for all of these."""
    rows = list[Sequence[str]]()
    for figure in figures_compared(found.pairs):
        for pair in found.pairs:
            names = pair.names if len(found.pairs) > 1 else ()
            same = [one for one in pair.figures if one.figure == figure]
            rows += [(label_of(one), *names, *cells_of(one), p_value_written(one.holm)) for one in same]
    return rows


def label_of(one: FigureDifference) -> str:
    """What a figure is called, with its unit if that is percent."""
    return f"{one.words} in %" if shown(one.figure).in_percent else one.words


def cells_of(one: FigureDifference) -> list[str]:
    """Both figures, and their difference with its interval."""
    how = shown(one.figure)
    bounds = bounds_in_words(one.interval, in_percent=how.in_percent)
    difference = WithInterval(written(one.interval.estimate, how, sign=True), *bounds)
    return [*(written(value, how) for value in one.values), difference]


def p_value_written(value: float) -> str:
    """Write a p-value.

    >>> p_value_written(0.0423), p_value_written(0.00002)
    ('0.042', '<0.001')
    """
    return "<0.001" if value < 0.0005 else f"{value:.3f}"


def sentences_of(found: Comparison) -> list[str]:
    """Who is better, pair by pair."""
    several = len(found.pairs) > 1
    return [f"{pair}: {words}" if several else words for pair in found.pairs for words in pair.sentences]
