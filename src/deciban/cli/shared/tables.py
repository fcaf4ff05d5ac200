"""Results as tables for a terminal: what all tables share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

_WIDTH = 500
"""Wider than any table: a narrow terminal wraps lines, and no name and no digit is cut off."""


class _Console(Console):
    """A console that leaves it to the command what becomes of output that nobody reads."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def console(*, stderr: bool = False) -> Console:
    """Return a console that never shortens what it prints."""
    return _Console(width=_WIDTH, highlight=False, stderr=stderr)


def print_results(
    results: Any,
    out: Console | None = None,
    *,
    order: Sequence[str] = (),
    with_trials: bool = False,
    with_classes: bool = True,
) -> None:
    """Print the table of all systems, and the notes that belong to it, on standard output or another console.

    Parameters
    ----------
    results : Results
        Of two classes or of many.
    out : Console, optional
    order : sequence of str
        Names of all rows, if there are some without figures.
    with_trials : bool
        Two classes: whether each row says how many trials it is of, or of what weight.
    with_classes : bool
        Many classes: whether the classes have tables, too.
    """
    to = out or console()
    if results.kind == "classes":
        from deciban.cli.shared.multiclass_tables import print_multiclass

        print_multiclass(results, to, order=order, with_classes=with_classes)
    else:
        from deciban.cli.shared.two_class_tables import print_two_class

        print_two_class(results, to, order=order, with_trials=with_trials)


def print_notes(systems: Sequence[Any], out: Console) -> None:
    """Print what a reader must know before quoting the numbers."""
    for system in systems:
        for note in system.notes:
            out.print(Text(f"{system.name}: {note}", style="yellow"), soft_wrap=True)


def table(headings: Sequence[str], *, n_left: int = 1, caption: str | None = None) -> Table:
    """An empty table whose first columns hold names, and the others numbers."""
    found = Table(box=None, pad_edge=False, header_style="bold", caption=caption, caption_justify="left")
    for heading in headings[:n_left]:
        found.add_column(Text(heading), overflow="fold")
    for heading in headings[n_left:]:
        found.add_column(Text(heading), justify="right", no_wrap=True)
    return found


def number(value: float, digits: int = 3) -> str:
    """Format a figure: fixed digits without a minus before zeros, huge ones with an exponent, infinity as a word.

    >>> number(0.12345), number(-0.00001), number(2.5e7), number(float("inf"))
    ('0.123', '0.000', '2.5e+07', 'inf')
    """
    return f"{value:z.{digits}f}" if abs(value) < 1e6 else f"{value:.{digits + 1}g}"
