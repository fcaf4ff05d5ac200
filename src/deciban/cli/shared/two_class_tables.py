"""Results of two classes as tables for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from deciban.cli.shared.tables import number, print_notes, table
from deciban.evaluation import Evaluation, PointResult, Results


def print_two_class(
    results: Results[Evaluation], out: Console, *, order: Sequence[str] = (), with_trials: bool = False
) -> None:
    """Print the table of all systems, and the notes that belong to it; see `print_results`."""
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
    summary = table(["system", *columns], caption=title)
    for name in order or rows:
        summary.add_row(Text(name), *rows.get(name, blank))
    out.print(summary)
    if not single:
        out.print(_points(systems))
    print_notes(systems, out)


def _points(systems: tuple[Evaluation, ...]) -> Table:
    headings = ["system", "operating point", "minDCF", "actDCF", "misses", "false alarms"]
    found = table(headings, n_left=2, caption="normalized DCF; errors at the actual threshold")
    for system in systems:
        for point in system.operating_points:
            errors = [f"{point.n_miss:,.6g}", f"{point.n_fa:,.6g}"]
            found.add_row(Text(system.name), str(point), *_costs(point), *errors)
        found.add_row(
            Text(system.name), "mean over points", number(system.mean_min_dcf), number(system.mean_act_dcf), "", ""
        )
    return found


def _eer(system: Evaluation) -> str:
    return f"{system.eer:.2%}".replace("%", " %")


def _costs(point: PointResult) -> list[str]:
    return [number(point.min_dcf), number(point.act_dcf)]


def _rest(system: Evaluation) -> list[str]:
    figures = (system.cllr, system.min_cllr, system.calibration_loss)
    return [*(number(figure) for figure in figures), number(system.auc, 4)]
