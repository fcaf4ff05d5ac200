"""Results of both kinds as tables for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from deciban.evaluation import ClassEvaluation, Evaluation, PointResult, Results

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
        print_multiclass(results, to, order=order, with_classes=with_classes)
    else:
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


_CONFUSIONS = 5
"""Frequent confusions to name."""


def print_multiclass(
    results: Results[ClassEvaluation], out: Console, *, order: Sequence[str] = (), with_classes: bool = True
) -> None:
    """Print the table of all systems, figures of the classes, and the notes; see `print_results`."""
    systems = results.systems
    out.print(_summary(systems, order))
    out.print(Text(_caption(systems[0]), style="dim"), soft_wrap=True)
    if len(systems[0].points) > 1:
        out.print(_class_points(systems))
    if with_classes:
        out.print("")
        if len(systems) == 1:
            out.print(_of_one(systems[0]))
            at = f"{systems[0].points[0].p_target:g}"
            words = f"detection against the rest: cost at target prior {at}, Cllr in bits; minima by PAV"
            out.print(Text(words, style="dim"), soft_wrap=True)
            _print_remarks(systems[0], out)
        else:
            out.print(_of_many(systems))
            words = "error rate, and Cllr of detection against the rest in bits (its minimum by PAV)"
            out.print(Text(words, style="dim"), soft_wrap=True)
    print_notes(systems, out)


def percent(fraction: float) -> str:
    """Write a fraction in percent, with two decimals.

    >>> percent(0.1387)
    '13.87 %'
    """
    return f"{100 * fraction:.2f} %"


def _caption(first: ClassEvaluation) -> str:
    """What the figures are of, and what scores without information get."""
    at = "the flat prior" if _is_flat(first) else "the given prior"
    target = f"; C_avg at target prior {first.points[0].p_target:g}" if len(first.points) == 1 else ""
    target += "" if first.p_out_of_set is None else f", {first.p_out_of_set:g} for {first.classes[-1]} (out of set)"
    return (
        f"Cllr and information in bits{target}; error rate and Brier at {at}. Scores that say nothing of "
        f"{first.n_classes} classes: Cllr {number(first.reference)}, error rate {percent(first.default_error_rate)}, "
        f"Brier {number(first.default_brier)}"
    )


def _is_flat(one: ClassEvaluation) -> bool:
    return bool(np.ptp(one.prior) == 0.0)


def _summary(systems: Sequence[ClassEvaluation], order: Sequence[str] = ()) -> Table:
    flat, single = _is_flat(systems[0]), len(systems[0].points) == 1
    columns = ["Cllr", "min Cllr", "calibration loss", "information", *(["C_avg", "min C_avg"] if single else [])]
    columns += ["error rate", "Brier", *([] if flat else ["cross-entropy"])]
    found, rows = table(["system", *columns]), dict[str, list[str]]()
    for one in systems:
        cells = [number(value) for value in (one.cllr, one.min_cllr, one.calibration_loss, one.information)]
        cells += [number(value, 4) for value in (one.points[0].c_avg, one.points[0].min_c_avg)] if single else []
        cells += [percent(one.error_rate), number(one.brier)]
        rows[one.name] = cells + ([] if flat else [f"{number(one.cross_entropy)} of {number(one.prior_entropy)}"])
    for name in order or rows:
        found.add_row(Text(name), *rows.get(name, ["-"] * len(columns)))
    return found


def _class_points(systems: Sequence[ClassEvaluation]) -> Table:
    found = table(["system", "target prior", "C_avg", "min C_avg", "normalized C_avg", "normalized min"])
    shown = ("c_avg", "min_c_avg", "normalized", "normalized_min")
    for one in systems:
        rows = [(f"{point.p_target:g}", point.costs) for point in one.points]
        for at, costs in (*rows, ("mean", one.mean_costs)):
            found.add_row(Text(one.name), at, *(number(costs[name], 4) for name in shown))
    return found


def _of_one(one: ClassEvaluation) -> Table:
    """Figures of each class, those as a target against the rest as well."""
    columns = ["segments", "error rate", "cost", "min cost", "Cllr", "min Cllr", "calibration loss"]
    rows, found = table(["class", *columns]), one.detection
    place = {k: at for at, k in enumerate(found.target.tolist())}
    for k, name in enumerate(one.classes):
        cells = [f"{one.counts[k]:,.6g}", percent(one.class_error_rates[k])]
        if k in place:
            at = place[k]
            cells += [number(value[at], 4) for value in (found.cost, found.min_cost)]
            cells += [number(value[at]) for value in (found.cllr, found.min_cllr, found.calibration_loss)]
        rows.add_row(Text(name), *cells)
    return rows


def _of_many(systems: Sequence[ClassEvaluation]) -> Table:
    """Error rate and Cllr of the detection of each class, side by side."""
    rows, first = table(["class", "segments", *(one.name for one in systems)]), systems[0]
    place = {k: at for at, k in enumerate(first.detection.target.tolist())}
    for k, name in enumerate(first.classes):
        cells = [f"{first.counts[k]:,.6g}"]
        for one in systems:
            text = percent(one.class_error_rates[k])
            if k in place:
                found, at = one.detection, place[k]
                text += f"  {number(found.cllr[at])} ({number(found.min_cllr[at])})"
            cells.append(text)
        rows.add_row(Text(name), *cells)
    return rows


def _print_remarks(one: ClassEvaluation, out: Console) -> None:
    """What calibration could mend by which means, the most frequent confusions, and the extremes of subsets."""
    found = one.calibration
    if found.loss > 0 and np.isfinite(found.total):
        out.print(
            Text(
                f"calibration loss {number(found.loss)} bits: offsets alone would save {number(found.offset_loss)}, "
                f"a scale alone {number(found.scale_loss)}"
            ),
            soft_wrap=True,
        )
    for line in _confusions(one):
        out.print(Text(line), soft_wrap=True)
    subsets = one.subset_summary()
    if subsets is not None:
        for word in ("hardest", "easiest"):
            listed = ", ".join(subsets[word]["classes"])
            value = number(subsets[word]["c_avg"], 4)
            out.print(Text(f"{word} of {subsets['n']:,} subsets: C_avg {value} ({listed})"), soft_wrap=True)


def _confusions(one: ClassEvaluation) -> list[str]:
    listed = [f"{true} for {taken} {percent(rate)}" for true, taken, _, rate in one.frequent_confusions(_CONFUSIONS)]
    return [f"most often taken: {', '.join(listed)}"] if listed else []
