"""Results of both kinds as tables for a terminal."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:  # tables of formats and of files need no numbers
    from deciban.evaluation import ClassEvaluation, Evaluation

_WIDTH = 500
"""Wider than any table: a narrow terminal wraps lines, and no name and no digit is cut off."""

_CONFUSIONS = 5
"""Frequent confusions to name."""

Columns: TypeAlias = dict[str, Callable[[Any], str]]
"""Headings of a table, and what stands below them about an evaluation."""


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
        _print_multiclass(results.systems, to, order, with_classes=with_classes)
    else:
        _print_two_class(results.systems, to, order, with_trials=with_trials)
    for system in results.systems:
        for note in system.notes:
            say(to, f"{system.name}: {note}", "yellow")


def say(out: Console, line: str, style: str = "") -> None:
    """Print one line of text, which only the terminal wraps."""
    out.print(Text(line, style=style), soft_wrap=True)


def table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], *, n_left: int = 1, caption: str | None = None
) -> Table:
    """A table whose first columns hold names, and the others numbers."""
    found = Table(box=None, pad_edge=False, header_style="bold", caption=caption, caption_justify="left")
    for heading in headings[:n_left]:
        found.add_column(Text(heading), overflow="fold")
    for heading in headings[n_left:]:
        found.add_column(Text(heading), justify="right", no_wrap=True)
    for name, *cells in rows:
        found.add_row(Text(name), *cells)
    return found


def number(value: float, digits: int = 3) -> str:
    """Format a figure: fixed digits without a minus before zeros, huge ones with an exponent, infinity as a word.

    >>> number(0.12345), number(-0.00001), number(2.5e7), number(float("inf"))
    ('0.123', '0.000', '2.5e+07', 'inf')
    """
    return f"{value:z.{digits}f}" if abs(value) < 1e6 else f"{value:.{digits + 1}g}"


def percent(fraction: float) -> str:
    """Write a fraction in percent, with two decimals.

    >>> percent(0.1387)
    '13.87 %'
    """
    return f"{100 * fraction:.2f} %"


_LOSSES: Columns = {
    "Cllr": lambda one: number(one.cllr),
    "min Cllr": lambda one: number(one.min_cllr),
    "calibration loss": lambda one: number(one.calibration_loss),
}


def _summary(systems: Sequence[Any], columns: Columns, order: Sequence[str], caption: str | None = None) -> Table:
    """A row for each system, or for each name in order: some may have no figures."""
    known = {one.name: [written(one) for written in columns.values()] for one in systems}
    rows = [(name, *known.get(name, ["-"] * len(columns))) for name in order or known]
    return table(["system", *columns], rows, caption=caption)


def _print_two_class(systems: Sequence[Evaluation], out: Console, order: Sequence[str], *, with_trials: bool) -> None:
    columns: Columns = {}
    if with_trials:
        counted = "weight" if all(one.is_weighted for one in systems) else "trials"
        columns[counted] = lambda one: f"{one.n_tar + one.n_non:,.6g}"
    columns["EER (ROCCH)"] = lambda one: percent(one.eer)
    caption = "Cllr in bits"
    single = len(systems[0].operating_points) == 1
    if single:
        columns["minDCF"] = lambda one: number(one.operating_points[0].min_dcf)
        columns["actDCF"] = lambda one: number(one.operating_points[0].act_dcf)
        caption = f"normalized DCF at {systems[0].operating_points[0]}; {caption}"
    columns |= {**_LOSSES, "AUC": lambda one: number(one.auc, 4)}
    out.print(_summary(systems, columns, order, caption))
    if not single:
        out.print(_points(systems))


def _points(systems: Sequence[Evaluation]) -> Table:
    headings = ["system", "operating point", "minDCF", "actDCF", "misses", "false alarms"]
    rows = list[Sequence[str]]()
    for one in systems:
        for point in one.operating_points:
            costs = number(point.min_dcf), number(point.act_dcf)
            rows.append((one.name, str(point), *costs, f"{point.n_miss:,.6g}", f"{point.n_fa:,.6g}"))
        rows.append((one.name, "mean over points", number(one.mean_min_dcf), number(one.mean_act_dcf)))
    return table(headings, rows, n_left=2, caption="normalized DCF; errors at the actual threshold")


def _print_multiclass(
    systems: Sequence[ClassEvaluation], out: Console, order: Sequence[str], *, with_classes: bool
) -> None:
    first = systems[0]
    columns = {**_LOSSES, "information": lambda one: number(one.information)}
    if len(first.points) == 1:
        columns["C_avg"] = lambda one: number(one.points[0].c_avg, 4)
        columns["min C_avg"] = lambda one: number(one.points[0].min_c_avg, 4)
    columns |= {"error rate": lambda one: percent(one.error_rate), "Brier": lambda one: number(one.brier)}
    if not first.has_flat_prior:
        columns["cross-entropy"] = lambda one: f"{number(one.cross_entropy)} of {number(one.prior_entropy)}"
    out.print(_summary(systems, columns, order))
    say(out, _caption(first), "dim")
    if len(first.points) > 1:
        out.print(_class_points(systems))
    if not with_classes:
        return
    out.print("")
    if len(systems) == 1:
        out.print(_of_one(first))
        at = f"{first.points[0].p_target:g}"
        say(out, f"detection against the rest: cost at target prior {at}, Cllr in bits; minima by PAV", "dim")
        for line in _remarks(first):
            say(out, line)
    else:
        out.print(_of_many(systems))
        say(out, "error rate, and Cllr of detection against the rest in bits (its minimum by PAV)", "dim")


def _caption(first: ClassEvaluation) -> str:
    """What the figures are of, and what scores without information get."""
    at = "the flat prior" if first.has_flat_prior else "the given prior"
    target = f"; C_avg at target prior {first.points[0].p_target:g}" if len(first.points) == 1 else ""
    target += "" if first.p_out_of_set is None else f", {first.p_out_of_set:g} for {first.classes[-1]} (out of set)"
    return (
        f"Cllr and information in bits{target}; error rate and Brier at {at}. Scores that say nothing of "
        f"{first.n_classes} classes: Cllr {number(first.reference)}, error rate {percent(first.default_error_rate)}, "
        f"Brier {number(first.default_brier)}"
    )


def _class_points(systems: Sequence[ClassEvaluation]) -> Table:
    shown = ("c_avg", "min_c_avg", "normalized", "normalized_min")
    rows = list[Sequence[str]]()
    for one in systems:
        costs = [*((f"{point.p_target:g}", point.costs) for point in one.points), ("mean", one.mean_costs)]
        rows += [(one.name, at, *(number(found[name], 4) for name in shown)) for at, found in costs]
    return table(["system", "target prior", "C_avg", "min C_avg", "normalized C_avg", "normalized min"], rows)


def _of_one(one: ClassEvaluation) -> Table:
    """Figures of each class, those as a target against the rest as well."""
    digits = {"cost": 4, "min_cost": 4, "cllr": 3, "min_cllr": 3, "calibration_loss": 3}
    rows, detectors = list[Sequence[str]](), one.detectors
    for name, n, rate in zip(one.classes, one.counts, one.class_error_rates, strict=True):
        figures = detectors.get(name, {})
        cells = [number(figures[which], digits[which]) for which in digits if which in figures]
        rows.append((name, f"{n:,.6g}", percent(rate), *cells))
    return table(["class", "segments", "error rate", "cost", "min cost", *_LOSSES], rows)


def _of_many(systems: Sequence[ClassEvaluation]) -> Table:
    """Error rate and Cllr of the detection of each class, side by side."""
    rows, detectors = list[Sequence[str]](), [one.detectors for one in systems]
    for k, name in enumerate(systems[0].classes):
        cells = [percent(one.class_error_rates[k]) for one in systems]
        if name in detectors[0]:
            costs = [(found[name]["cllr"], found[name]["min_cllr"]) for found in detectors]
            cells = [f"{text}  {number(x)} ({number(least)})" for text, (x, least) in zip(cells, costs, strict=True)]
        rows.append((name, f"{systems[0].counts[k]:,.6g}", *cells))
    return table(["class", "segments", *(one.name for one in systems)], rows)


def _remarks(one: ClassEvaluation) -> list[str]:
    """What calibration could mend by which means, the most frequent confusions, and the extremes of subsets."""
    found, lines = one.calibration, []
    if found.loss > 0 and math.isfinite(found.total):
        lines.append(
            f"calibration loss {number(found.loss)} bits: offsets alone would save {number(found.offset_loss)}, "
            f"a scale alone {number(found.scale_loss)}"
        )
    confused = [f"{true} for {taken} {percent(rate)}" for true, taken, _, rate in one.frequent_confusions(_CONFUSIONS)]
    lines += [f"most often taken: {', '.join(confused)}"] if confused else []
    if one.no_pairs:
        n_pairs = one.n_classes * (one.n_classes - 1) // 2
        lines.append(f"{n_pairs:,} pairs of classes are not evaluated: --pairs adds them to JSON and pages")
    if (subsets := one.subset_summary()) is not None:
        for word in ("hardest", "easiest"):
            value, listed = number(subsets[word]["c_avg"], 4), ", ".join(subsets[word]["classes"])
            lines.append(f"{word} of {subsets['n']:,} subsets: C_avg {value} ({listed})")
    return lines
