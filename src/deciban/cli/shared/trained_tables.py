"""A trained model and what it is worth as tables for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from deciban.analysis import FigureRow, Selection
from deciban.cli.shared.tables import number, print_results, table
from deciban.evaluation import Results
from deciban.types import FloatArray

if TYPE_CHECKING:
    from deciban.models.score_model import ParameterRow
    from deciban.workflows import Trained


def print_trained(done: Trained, out: Console) -> None:
    """Print what a model is worth beside the scores as they are, its parameters, and how training went."""
    if done.selection is not None:
        _print_selection(done.selection, out)
        out.print()
    noun = "Segments" if done.kind == "classes" else "Trials"
    rows = done.model.parameter_rows()
    is_table = bool(rows)
    sets = [(f"{noun} of training", done.dev, "dev"), (f"Other {noun.lower()}", done.test, "eval")]
    for heading, results, part in sets:
        if results is not None:
            if is_table or done.test is not None:
                _say(out, heading)
            _print_rows(results, done.rows, part, out)
            if is_table or done.test is not None:
                out.print()
    if is_table:
        _say(out, "Weights")
        out.print(_weights(rows))
    for line in done.summary:
        out.print(Text(line), soft_wrap=True)
    analysis = done.analysis
    if analysis is not None and analysis.divergence is not None and len(analysis.names) > 1:
        out.print()
        _say(out, "Divergence of the systems' posteriors in bits: 0 for systems that agree in every trial")
        out.print(_divergence(analysis.names, analysis.divergence))


def _say(out: Console, heading: str) -> None:
    out.print(Text(heading, style="bold"), soft_wrap=True)


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
            out.print(Text(f"{row.name}: {row.note}", style="yellow"), soft_wrap=True)


def _print_selection(selection: Selection, out: Console) -> None:
    what = f"cross-validated {selection.criterion}, on {selection.n_trials:,} trials"
    _say(out, f"Selection by {what}; held out: {selection.held_out}")
    out.print(_steps(selection))
    for one in selection.untrained:
        out.print(Text(f"{one.name}: left out, {one.reason}", style="yellow"), soft_wrap=True)


def _weights(rows: Sequence[ParameterRow]) -> Table:
    found = table(["", "weight", "on standardized scores"])
    for row in rows:
        found.add_row(Text(row.name), *row.texts)
    return found


def _steps(selection: Selection) -> Table:
    found = table(["system", "cost", "gain", "cost on training trials", ""])
    for taken, steps in (("taken", selection.steps), ("left out", selection.left_out)):
        for step in steps:
            figures = (number(step.cost, 4), number(step.gain, 4), number(step.same_data_cost, 4))
            found.add_row(Text(step.name), *figures, taken)
    return found


def _divergence(names: Sequence[str], divergence: FloatArray) -> Table:
    found = table(["", *names])
    for name, row in zip(names, divergence.tolist(), strict=True):
        found.add_row(Text(name), *(number(value) for value in row))
    return found
