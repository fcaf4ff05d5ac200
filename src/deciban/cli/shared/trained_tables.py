"""A trained model and what it is worth as tables for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from deciban.analysis import FigureRow, Selection
from deciban.cli.shared.tables import number, print_results, say, table
from deciban.evaluation import Results

if TYPE_CHECKING:
    from deciban.workflows import Trained


def print_trained(done: Trained, out: Console) -> None:
    """Print what a model is worth beside the scores as they are, its parameters, and how training went."""
    if done.selection is not None:
        _print_selection(done.selection, out)
        out.print()
    noun = "Segments" if done.kind == "classes" else "Trials"
    parameters = done.model.parameter_rows()
    with_headings = bool(parameters) or done.test is not None
    sets = ((f"{noun} of training", done.dev, "dev"), (f"Other {noun.lower()}", done.test, "eval"))
    for heading, results, part in sets:
        if results is not None:
            if with_headings:
                say(out, heading, "bold")
            _print_rows(results, done.rows, part, out)
            if with_headings:
                out.print()
    if parameters:
        say(out, "Weights", "bold")
        _print_table(["", "weight", "on standardized scores"], [(row.name, *row.texts) for row in parameters], out)
    for line in done.summary:
        say(out, line)
    analysis = done.analysis
    if analysis is not None and analysis.divergence is not None and len(analysis.names) > 1:
        out.print()
        say(out, "Divergence of the systems' posteriors in bits: 0 for systems that agree in every trial", "bold")
        rows = zip(analysis.names, analysis.divergence.tolist(), strict=True)
        _print_table(["", *analysis.names], [(name, *map(number, row)) for name, row in rows], out)


def _print_table(headings: Sequence[str], rows: Sequence[Sequence[str]], out: Console) -> None:
    found = table(headings)
    for name, *cells in rows:
        found.add_row(Text(name), *cells)
    out.print(found)


def _print_rows(results: Results[Any], rows: Sequence[FigureRow], part: str, out: Console) -> None:
    """Figures of one set of trials. Notes on systems beside a fusion say the same as those on the fusion.

    What is to be said of a row is said once, but for why it has no figures.
    """
    compared = ("single", "left out", "leave-one-out", "without quality")
    silent = {row.name for row in rows if row.role in compared}
    systems = tuple(replace(one, notes=()) if one.name in silent else one for one in results.systems)
    shown = [row.name for row in rows if getattr(row, part) is not None or row.note]
    sizes = {one.n_tar + one.n_non for one in systems} if results.kind == "two-class" else set()
    how: Any = {"order": shown, "with_trials": len(sizes) > 1, "with_classes": False}
    print_results(replace(results, systems=systems), out, **how)
    for row in rows:
        if row.note and (part == "dev" or getattr(row, part) is None):
            say(out, f"{row.name}: {row.note}", "yellow")


def _print_selection(selection: Selection, out: Console) -> None:
    what = f"cross-validated {selection.criterion}, on {selection.n_trials:,} trials"
    say(out, f"Selection by {what}; held out: {selection.held_out}", "bold")
    rows = [
        (step.name, *(number(value, 4) for value in (step.cost, step.gain, step.same_data_cost)), word)
        for word, steps in (("taken", selection.steps), ("left out", selection.left_out))
        for step in steps
    ]
    _print_table(["system", "cost", "gain", "cost on training trials", ""], rows, out)
    for one in selection.untrained:
        say(out, f"{one.name}: left out, {one.reason}", "yellow")
