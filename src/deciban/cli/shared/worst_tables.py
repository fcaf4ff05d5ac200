"""The most misleading trials as tables for a terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from deciban.cli.shared.tables import number, say, table
from deciban.evaluation.worst_trials import headings_of, rows_of


def print_worst(results: Any, out: Console) -> None:
    """Print the most misleading trials of every system.

    Parameters
    ----------
    results : Results
        With such trials.
    out : Console
    """
    for one in results.worst:
        out.print("")
        say(out, f"most misleading trials of {one.system}", "bold")
        headings = headings_of(one, results.classes)
        rows = rows_of(one, results.classes, number)
        out.print(table(headings, rows, prose=tuple(range(len(headings) - 2)), caption="llr in nats, cost in bits"))
