"""Results as tables for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from deciban.evaluation import Evaluation, PointResult, Results

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
    results: Results, out: Console | None = None, *, order: Sequence[str] = (), with_trials: bool = False
) -> None:
    """Print the table of all systems, and the notes that belong to it, on standard output or another console.

    Parameters
    ----------
    results : Results
    out : Console, optional
    order : sequence of str
        Names of all rows, if there are some without figures.
    with_trials : bool
        Whether each row says how many trials it is of, or of what weight.
    """
    out = out or console()
    systems = results.systems
    single = len(systems[0].operating_points) == 1
    columns = ["EER (ROCCH)", *(["minDCF", "actDCF"] if single else []), "Cllr", "min Cllr", "calibration loss", "AUC"]
    if single:
        title = f"normalized DCF at {systems[0].operating_points[0]}; Cllr in bits"
        rows = {s.name: [_eer(s), *_costs(s.operating_points[0]), *_rest(s)] for s in systems}
    else:
        title = "Cllr in bits"
        rows = {s.name: [_eer(s), *_rest(s)] for s in systems}
    if with_trials:
        columns = ["weight" if all(s.is_weighted for s in systems) else "trials", *columns]
        rows = {s.name: [f"{s.n_tar + s.n_non:,.6g}", *rows[s.name]] for s in systems}
    blank = ["-"] * len(columns)
    out.print(_table(columns, [(name, rows.get(name, blank)) for name in order or rows], title))
    if not single:
        out.print(_points(systems))
    for system in systems:
        for note in system.notes:
            out.print(Text(f"{system.name}: {note}", style="yellow"), soft_wrap=True)


def number(value: float, digits: int = 3) -> str:
    """Format a figure: fixed digits without a minus before zeros, huge ones with an exponent, infinity as a word.

    >>> number(0.12345), number(-0.00001), number(2.5e7), number(float("inf"))
    ('0.123', '0.000', '2.5e+07', 'inf')
    """
    return f"{value:z.{digits}f}" if abs(value) < 1e6 else f"{value:.{digits + 1}g}"


def _points(systems: tuple[Evaluation, ...]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", caption="normalized DCF", caption_justify="left")
    for heading in ("system", "operating point"):
        table.add_column(heading, overflow="fold")
    for heading in ("minDCF", "actDCF", "misses", "false alarms"):
        table.add_column(heading, justify="right", no_wrap=True)
    for system in systems:
        for point in system.operating_points:
            errors = [f"{point.n_miss:,.6g}", f"{point.n_fa:,.6g}"]
            table.add_row(Text(system.name), str(point), *_costs(point), *errors)
        table.add_row(
            Text(system.name), "mean over points", number(system.mean_min_dcf), number(system.mean_act_dcf), "", ""
        )
    return table


def _table(columns: list[str], rows: list[tuple[str, list[str]]], caption: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", caption=caption, caption_justify="left")
    table.add_column("system", overflow="fold")
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    for name, cells in rows:
        table.add_row(Text(name), *cells)
    return table


def _eer(system: Evaluation) -> str:
    return f"{system.eer:.2%}".replace("%", " %")


def _costs(point: PointResult) -> list[str]:
    return [number(point.min_dcf), number(point.act_dcf)]


def _rest(system: Evaluation) -> list[str]:
    figures = (system.cllr, system.min_cllr, system.calibration_loss)
    return [*(number(figure) for figure in figures), number(system.auc, 4)]
