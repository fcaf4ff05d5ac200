"""Results of every kind as text for a terminal."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from deciban.errors import InputError
from deciban.evaluation.results import Results
from deciban.messages import shortened
from deciban.tables.conditions import print_primaries
from deciban.tables.results import TableConsole, console, number, print_systems, say, table
from deciban.tables.writers import STYLES, UNLIMITED, WRITERS

if TYPE_CHECKING:
    from rich.console import Console

    from deciban.analysis import FigureRow, Selection
    from deciban.analysis.comparison import Comparison
    from deciban.models.score_model import ParameterRow
    from deciban.workflows import Trained


def as_text(result: Any, style: str = "plain", *, width: int | None = None, all_classes: bool = False) -> str:
    """Write the tables and notes of a result.

    Parameters
    ----------
    result : Results, Evaluation, ClassEvaluation, Comparison or Trained
    style : str
        One of those that the command line knows, or ``"html"``.
    width : int, optional
        Of plain tables; left out, there is no limit.
    all_classes : bool

    Returns
    -------
    str

    Raises
    ------
    InputError
        If the style is none, or the width is too small for anything.
    """
    if style not in (*STYLES, *WRITERS):
        raise InputError(f"style: got {style!r}. There are {', '.join(dict.fromkeys((*STYLES, *WRITERS)))}.")
    given: Any = width
    if given is not None and (not isinstance(given, int) or given < _LEAST):
        raise InputError(f"width: got {width!r}. It is a whole number of letters, {_LEAST} or more.")
    written = io.StringIO()
    out = TableConsole(style, file=written, width=width or UNLIMITED, color_system=None, force_terminal=False)
    if getattr(result, "kind", None) == "comparison":
        print_comparison(result, out)
    elif isinstance(result, Results) or not hasattr(result, "rows"):
        shown = result if isinstance(result, Results) else Results((result,))
        if shown.systems:
            print_results(shown, out, all_classes=all_classes)
    else:
        print_trained(result, out)
    return written.getvalue()


_LEAST = 20


def print_results(
    results: Any,
    out: Console | None = None,
    *,
    order: Sequence[str] = (),
    with_trials: bool = False,
    all_classes: bool | None = False,
    corrected: bool = False,
    sentences: Sequence[str] = (),
) -> None:
    """Print the table of all systems, and the notes that belong to it, on standard output or another console.

    Parameters
    ----------
    results : Results
        Of two classes or of many.
    out : Console, optional
    order : sequence of str
        Names of all rows, if some rows have no metrics.
    with_trials : bool
        Two classes: whether each row says how many trials it is of, or of what weight.
    all_classes : bool or None
        Multiclass: whether tables of more than 30 classes have every class, and not the ten of
        greatest error rate alone. None for no such tables.
    corrected : bool
        Whether minima have their corrected values beside them.
    sentences : sequence of str
        More sentences on all trials, printed before tables by condition.
    """
    to = out or console()
    how: Any = {"order": order, "with_trials": with_trials, "all_classes": all_classes, "corrected": corrected}
    print_systems(results, to, **how)
    if results.primaries:
        print_primaries(results, to)
    for line in results.note_lines:
        say(to, line, "yellow")
    for line in sentences:
        say(to, line)
    if results.conditions:
        from deciban.tables.conditions import print_conditions

        print_conditions(results, to)


def print_comparison(found: Comparison, out: TableConsole) -> None:
    """Print one table of the differences of all pairs, and who is better where."""
    from deciban.analysis.comparison import caption_of, headings_of, rows_of, sentences_of

    n_left = 1 if len(found.pairs) == 1 else 3
    out.print(table(headings_of(found), rows_of(found), n_left=n_left, caption=caption_of(found)))
    for sentence in sentences_of(found):
        say(out, sentence)
    for note in found.notes:
        say(out, note, "yellow")


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
        out.print(table(*columns_of_weights(parameters)))
    for line in done.summary:
        say(out, shortened(line))
    analysis = done.analysis
    if analysis is not None and analysis.divergence is not None and len(analysis.names) > 1:
        out.print()
        say(out, "Divergence of the systems' posteriors in bits: 0 for systems that agree in every trial", "bold")
        rows = zip(analysis.names, analysis.divergence.tolist(), strict=True)
        out.print(table(["", *analysis.names], [(name, *map(number, row)) for name, row in rows]))


def columns_of_weights(rows: Sequence[ParameterRow]) -> tuple[list[str], list[tuple[str, ...]]]:
    """Titles and cells of a table of parameters; with standard errors, where they are known."""
    if all(row.standard_error is None for row in rows):
        return ["", "weight", "on standardized scores"], [(row.name, *row.texts) for row in rows]
    cells: list[tuple[str, ...]] = [(row.name, row.texts[0], row.error_text, row.texts[1]) for row in rows]
    return ["", "weight", "standard error", "on standardized scores"], cells


def _print_rows(results: Results[Any], rows: Sequence[FigureRow], part: str, out: Console) -> None:
    """Figures of one set of trials. Notes on systems beside a fusion say the same as those on the fusion.

    What is to be said of a row is said once, but for why it has no figures.
    """
    compared = ("single", "left out", "leave-one-out", "without quality")
    silent = {row.name for row in rows if row.role in compared}
    systems = tuple(replace(one, notes=()) if one.name in silent else one for one in results.systems)
    shown = [row.name for row in rows if getattr(row, part) is not None or row.note]
    sizes = {one.n_tar + one.n_non for one in systems} if results.kind == "two-class" else set()
    how: Any = {"order": shown, "with_trials": len(sizes) > 1, "all_classes": None}
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
    out.print(table(["system", "cost", "gain", "cost on training trials", ""], rows))
    for one in selection.untrained:
        say(out, f"{one.name}: left out, {one.reason}", "yellow")
