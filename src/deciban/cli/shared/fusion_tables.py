"""A fusion and its systems as tables for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from deciban.analysis import FigureRow, Selection
from deciban.cli.shared.tables import number, print_results
from deciban.evaluation import Results
from deciban.types import FloatArray

if TYPE_CHECKING:
    from deciban.workflows import Fused


def print_fused(done: Fused, out: Console) -> None:
    """Print what a fusion is worth beside its systems, its weights, and how training went."""
    if done.selection is not None:
        _print_selection(done.selection, out)
        out.print()
    told = [("Trials of training", done.dev, "dev"), ("Other trials", done.eval, "eval")]
    for heading, results, part in told:
        if results is not None:
            _say(out, heading)
            _print_rows(results, done.figures.rows, part, out)
            out.print()
    _say(out, "Weights")
    out.print(_weights(done))
    for line in done.summary:
        out.print(Text(line), soft_wrap=True)
    analysis = done.analysis
    if analysis is not None and analysis.divergence is not None and len(analysis.names) > 1:
        out.print()
        _say(out, "Divergence of the systems' posteriors in bits: 0 for systems that agree in every trial")
        out.print(_divergence(analysis.names, analysis.divergence))


def _say(out: Console, heading: str) -> None:
    out.print(Text(heading, style="bold"), soft_wrap=True)


def _print_rows(results: Results, rows: Sequence[FigureRow], part: str, out: Console) -> None:
    """Figures of one set of trials, with notes on the fusion only: those on what it is compared with say the same.

    What is to be said of a row is said once, but for why it has no figures.
    """
    fused = {row.name for row in rows if row.role in ("fusion", "cross-validated")}
    systems = tuple(one if one.name in fused else replace(one, notes=()) for one in results.systems)
    shown = [row.name for row in rows if getattr(row, part) is not None or row.note]
    sizes = {one.n_tar + one.n_non for one in systems}
    print_results(replace(results, systems=systems), out, order=shown, with_trials=len(sizes) > 1)
    for row in rows:
        if row.note and (part == "dev" or getattr(row, part) is None):
            out.print(Text(f"{row.name}: {row.note}", style="yellow"), soft_wrap=True)


def _print_selection(selection: Selection, out: Console) -> None:
    what = f"cross-validated {selection.criterion}, on {selection.n_trials:,} trials"
    _say(out, f"Selection by {what}; held out: {selection.held_out}")
    out.print(_steps(selection))
    for one in selection.untrained:
        out.print(Text(f"{one.name}: left out, {one.reason}", style="yellow"), soft_wrap=True)


def _table(headings: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(headings[0], overflow="fold")
    for heading in headings[1:]:
        table.add_column(Text(heading), justify="right", no_wrap=True)
    return table


def _weights(done: Fused) -> Table:
    table = _table(["", "weight", "on standardized scores"])
    for row in done.model.parameter_rows():
        table.add_row(Text(row.name), *row.texts)
    return table


def _steps(selection: Selection) -> Table:
    table = _table(["system", "cost", "gain", "cost on training trials", ""])
    for taken, steps in (("taken", selection.steps), ("left out", selection.left_out)):
        for step in steps:
            figures = (number(step.cost, 4), number(step.gain, 4), number(step.same_data_cost, 4))
            table.add_row(Text(step.name), *figures, taken)
    return table


def _divergence(names: Sequence[str], divergence: FloatArray) -> Table:
    table = _table(["", *names])
    for name, row in zip(names, divergence.tolist(), strict=True):
        table.add_row(Text(name), *(number(value) for value in row))
    return table
