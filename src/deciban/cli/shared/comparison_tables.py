"""Comparisons of systems as tables, with sentences that say who is better."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from deciban.analysis.compared_figures import shown, written
from deciban.cli.shared.table_writers import Table
from deciban.cli.shared.tables import TableConsole, say, table
from deciban.evaluation.figure_cells import WithInterval
from deciban.evaluation.interval_words import bounds_in_words

if TYPE_CHECKING:
    from deciban.analysis.comparison import Comparison
    from deciban.analysis.pairs import FigureDifference, Pair


def print_comparison(found: Comparison, out: TableConsole) -> None:
    """Print one table of the differences of all pairs, and who is better where."""
    caption = caption_of(found)
    if len(found.pairs) == 1:
        out.print(table(*_of_pair(found.pairs[0]), caption=caption))
    else:
        out.print(of_pairs(found.pairs, caption))
    for pair in found.pairs:
        before = f"{pair}: " if len(found.pairs) > 1 else ""
        for sentence in pair.sentences:
            say(out, f"{before}{sentence}")
    for note in found.notes:
        say(out, note, "yellow")


def caption_of(found: Comparison) -> str:
    """What intervals are of, and where p-values come from."""
    level = f"{100 * found.level:.4g} %"
    words = [f"Cllr in bits; differences with paired {level} intervals by {found.units_in_words}"]
    if found.flips is not None:
        words.append(found.flips.words)
    if len(found.pairs) > 1:
        words.append("p by Holm's correction for all pairs of a figure")
    return "; ".join(words)


def p_value_written(value: float) -> str:
    """Write a p-value.

    >>> p_value_written(0.0423), p_value_written(0.00002)
    ('0.042', '<0.001')
    """
    return "<0.001" if value < 0.0005 else f"{value:.3f}"


def _label(one: FigureDifference) -> str:
    return f"{one.words} in %" if shown(one.figure).in_percent else one.words


def _cells(one: FigureDifference) -> list[str]:
    how = shown(one.figure)
    bounds = bounds_in_words(one.interval, in_percent=how.in_percent)
    difference = WithInterval(written(one.interval.estimate, how, sign=True), *bounds)
    return [*(written(value, how) for value in one.values), difference]


def _of_pair(pair: Pair) -> tuple[Sequence[str], list[Sequence[str]]]:
    """Headings and rows for two systems, of which there is no other pair."""
    rows: list[Sequence[str]] = [
        (_label(one), *_cells(one), p_value_written(one.interval.p_value or 0.0)) for one in pair.figures
    ]
    return ["figure", *pair.names, str(pair), "p"], rows


def of_pairs(pairs: Sequence[Pair], caption: str = "") -> Table:
    """A row for each figure and pair."""
    rows = list[Sequence[str]]()
    for k in range(len(pairs[0].figures)):
        for pair in pairs:
            one = pair.figures[k]
            rows.append((_label(one), *pair.names, *_cells(one), p_value_written(one.holm)))
    headings = ["figure", "first", "second", "of first", "of second", "difference", "p"]
    return table(headings, rows, n_left=3, caption=caption)
