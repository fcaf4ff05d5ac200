"""Comparisons of systems as tables, with sentences that say who is better."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deciban.analysis.comparison import caption_of, headings_of, rows_of, sentences_of
from deciban.cli.shared.tables import TableConsole, say, table

if TYPE_CHECKING:
    from deciban.analysis.comparison import Comparison


def print_comparison(found: Comparison, out: TableConsole) -> None:
    """Print one table of the differences of all pairs, and who is better where."""
    n_left = 1 if len(found.pairs) == 1 else 3
    out.print(table(headings_of(found), rows_of(found), n_left=n_left, caption=caption_of(found)))
    for sentence in sentences_of(found):
        say(out, sentence)
    for note in found.notes:
        say(out, note, "yellow")
