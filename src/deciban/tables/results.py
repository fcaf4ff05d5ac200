"""Terminal tables of two-class and multiclass results."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from rich.console import Console
from rich.text import Text

from deciban.errors import amount, counted, either, one_line, option, some_of, topic_of
from deciban.evaluation.breakdowns import headings_of, rows_of
from deciban.evaluation.metrics import METRICS, metric_of
from deciban.evaluation.one_system import OneSystem, WithInterval, are_corrected, has_llrs, with_interval
from deciban.tables.writers import UNLIMITED, WRITERS, Table, corrected_cell, has_intervals, heading_of, with_corrected
from deciban.types import Axis, Raw

if TYPE_CHECKING:  # lists of formats need no metrics
    from deciban.analysis.leaderboard import Leaderboard
    from deciban.core.ranks.roc import ErrorsAt
    from deciban.evaluation import ClassEvaluation, Evaluation
    from deciban.evaluation.decided import DecisionEvaluation
    from deciban.evaluation.preset_table import Primary
    from deciban.evaluation.results import Results
    from deciban.evaluation.saved import SavedSystem
    from deciban.evaluation.uncertainty import MetricKey


_MOST_CLASSES, _SHOWN_CLASSES = 30, 10
"""If there are more classes than the first number, tables show the second number, with the highest error rates."""

_CONFUSIONS = 5
"""Number of most frequent confusions to print."""

Named: TypeAlias = Sequence[tuple[Sequence[str], Any]]
"""Evaluations, each with the names at the start of its row."""

Columns: TypeAlias = dict[str, Callable[[Any], str]]
"""Headings of a table, each with the function that writes its cell for an evaluation."""


@dataclass(frozen=True, slots=True)
class TableOptions:
    """Options of summary tables.

    Attributes
    ----------
    corrected : bool
        Whether tables have corrected values of minima.
    everything : bool
        Whether two-class scores that are not log-likelihood ratios also have actual costs and Cllr.
    most_notes : int or None
        Maximum number of notes, most important first; None for all.
    with_trials : bool
        Two classes: whether each row has its number of trials, or their total weight.
    """

    corrected: bool = False
    everything: bool = True
    most_notes: int | None = None
    with_trials: bool = False


ALL = TableOptions()
"""All metrics and notes, no corrected values."""


class TableConsole(Console):
    """Console for tables and text, which fits them to the window or writes them in a style for programs.

    If the output is not a terminal, lines are not wrapped, unless the variable ``COLUMNS`` sets a width. A closed pipe
    ends the command.
    """

    def __init__(self, style: str = "plain", **how: Raw) -> None:
        super().__init__(highlight=False, **how)
        self.writer = WRITERS.get(style)
        self._printed: bool | None = None  # whether the last output was a table
        if how.get("width") is None and not self.is_terminal and not os.environ.get("COLUMNS", "").isdigit():
            self.width = UNLIMITED

    @property
    def wraps(self) -> bool:
        """True if lines are wrapped at the width of a window."""
        return self.writer is None and self.width < UNLIMITED

    def on_broken_pipe(self) -> None:
        """Let the command handle a closed pipe."""
        raise BrokenPipeError

    def print(self, *objects: Raw, **how: Raw) -> None:
        """Print tables, or a text."""
        if self.writer is None:
            super().print(*objects, **how)
            return
        for one in objects:
            is_table = isinstance(one, Table)
            text = self.writer.table(one) if is_table else self.writer.line(str(one))
            if text.strip():
                self.file.write("\n" * (self._printed is not None and (self.writer.apart or is_table or self._printed)))
                self.file.write(text)
                self._printed = is_table


def console(style: str = "plain", *, stderr: bool = False) -> TableConsole:
    """Return a console that wraps tables to the window, or writes them in a style; it cuts nothing off."""
    return TableConsole(style, stderr=stderr)


def say(out: Console, line: str, style: str = "") -> None:
    """Print one paragraph, wrapped between words if the console has a window."""
    text = Text(one_line(line), style=style)
    if not (isinstance(out, TableConsole) and out.wraps):
        out.print(text, soft_wrap=True)
        return
    for part in text.wrap(out, out.width):
        part.rstrip()
        out.print(part)


def say_all(out: Console, lines: Iterable[str], style: str = "") -> None:
    """Print several paragraphs; see `say`."""
    for line in lines:
        say(out, line, style)


def table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], *, n_left: int = 1, caption: str = "", prose: Any = ()
) -> Table:
    """Return a table: the first `n_left` columns hold names, columns in `prose` sentences, the others numbers."""
    cells = (tuple(one if isinstance(one, WithInterval) else one_line(one) for one in row) for row in rows)
    return Table(tuple(map(one_line, headings)), tuple(cells), n_left, caption, tuple(prose))


def number(value: float, digits: int = 3) -> str:
    """Format a metric with fixed digits; huge values have an exponent, and zeros no minus sign.

    >>> number(0.12345), number(-0.00001), number(2.5e7), number(float("inf"))
    ('0.123', '0.000', '2.5e+07', 'inf')
    """
    if math.isnan(value):
        return "-"
    return f"{value:z.{digits}f}" if abs(value) < 1e6 else f"{value:.{digits + 1}g}"


def percent(fraction: float) -> str:
    """Format a fraction in percent with two decimals.

    >>> percent(0.1387)
    '13.87 %'
    """
    return f"{100 * fraction:.2f} %"


_RARE = 5e-4
"""Lower rates are written with two significant digits."""


def rate(fraction: float) -> str:
    """Format a rate in percent; rare ones have two significant digits.

    >>> rate(0.1387), rate(0.00012), rate(0.0)
    ('13.87 %', '0.012 %', '0.00 %')
    """
    if math.isnan(fraction):
        return "-"
    return f"{100 * fraction:.2g} %" if 0.0 < fraction < _RARE else percent(fraction)


def threshold(value: float, axis: str) -> str:
    """Format a threshold on llrs in the unit of the axis.

    >>> threshold(2.302585, "log10"), threshold(2.302585, "nats"), threshold(float("inf"), "nats")
    ('1.0000', '2.3026', 'inf')
    """
    return number(value / math.log(10) if axis == "log10" else value, 4)


def errors_in_words(errors: ErrorsAt, unit: str) -> tuple[str, ...]:
    """Write a threshold, and numbers of misses and false alarms of how many trials."""
    counts = (f"{amount(errors.n_miss)} of {amount(errors.n_tar)}", f"{amount(errors.n_fa)} of {amount(errors.n_non)}")
    return threshold(errors.threshold, unit), *counts


def summary_columns(systems: Sequence[OneSystem], *, everything: bool = True) -> Columns:
    """Return the columns of the metrics in summary tables.

    Parameters
    ----------
    systems : sequence of Evaluation or ClassEvaluation
    everything : bool
        Whether two-class scores that are not log-likelihood ratios also have actual costs and Cllr.
    """
    first, columns, is_flat = systems[0], Columns(), getattr(systems[0], "has_flat_prior", False)
    are_raw = [first.kind == "two-class" and not everything and not has_llrs(one) for one in systems]
    for key in first.summary_keys():
        # At the flat prior, the cross-entropy is Cllr in nats.
        if (key == "cross_entropy" and is_flat) or (metric_of(key).needs_llrs and all(are_raw)):
            continue
        cell = partial(cell_of, key)
        columns[heading_of(key, first)] = (
            partial(_unless_raw, cell) if metric_of(key).needs_llrs and any(are_raw) else cell
        )
    return columns


def _unless_raw(cell: Callable[[Any], str], one: OneSystem) -> str:
    return cell(one) if has_llrs(one) else "-"


def cell_of(key: MetricKey, one: Any) -> str:
    """Format a metric of a system with its interval."""
    return with_interval(metric_of(key).text(one.value(key)), one, key)


def _summary(systems: Sequence[Any], columns: Columns, order: Sequence[str], caption: str, *, corrected: bool) -> Table:
    """Return a table with a row for each system, or for each name in `order`, with or without metrics."""
    columns = with_corrected(columns, systems) if corrected else columns
    known = {one.name: [cell(one) for cell in columns.values()] for one in systems}
    rows = [(name, *known.get(name, ["-"] * len(columns))) for name in order or known]
    return table(["system", *columns], rows, caption=captioned(caption, systems, corrected=corrected))


def captioned(caption: str, systems: Sequence[Any], *, corrected: bool | None = None) -> str:
    """Return a caption, followed by the level of the intervals and, if `corrected` is not None, by the optimism."""
    from deciban.evaluation.one_system import caption_of, optimism_in_words

    intervals = caption_of(systems)
    minima = "" if corrected is None else optimism_in_words(systems, corrected=corrected)
    return "; ".join(filter(None, (caption, f"[{intervals}]" if intervals else "", minima)))


def print_results(
    results: Results[Any],
    out: Console | None = None,
    *,
    order: Sequence[str] = (),
    all_classes: bool | None = False,
    options: TableOptions = ALL,
    of_field: Iterable[Table] = (),
    sentences: Sequence[str] = (),
) -> None:
    """Print the table of all systems and its notes.

    Parameters
    ----------
    results : Results
        Two-class or multiclass results.
    out : Console, optional
        By default standard output.
    order : sequence of str
        Names of all rows, including rows without metrics.
    all_classes : bool or None
        Multiclass: whether tables of more than 30 classes have all classes, or only the ten with the highest error
        rates. None omits these tables.
    options : TableOptions
    of_field : iterable of Table
        Tables of the field of a protocol, see `field_tables`.
    sentences : sequence of str
        Sentences about all trials, printed before the notes.
    """
    to = out or console()
    if leads_with_rates(results):
        results = _without_llrs(results)
    if results.kind == "classes":
        print_multiclass(results.systems, to, order, corrected=options.corrected)
        if all_classes is not None:
            print_classes(results.systems, to, all_of_them=all_classes)
    else:
        if not leads_with_rates(results):
            print_two_class(results.systems, to, order, options)
        for one in of_field:
            to.print(one)
    if results.primaries:
        print_primaries(results, to)
    say_all(to, sentences)
    notes = results.note_lines[: options.most_notes]
    say_all(to, notes, "yellow")
    if n_left := len(results.note_lines) - len(notes):
        prints = f"{option(notes='all')} prints {'it' if n_left == 1 else 'them'}"
        say(to, f"{counted(n_left, 'more note')}: {prints}.", "dim")


def leads_with_rates(results: Results[Any]) -> bool:
    """Return True for a protocol of biometric testing, which asks for error rates instead of costs."""
    return bool(results.primaries) and results.primaries[0].plan.primary == "fnmr_at_fmr"


def _without_llrs(results: Results[Any]) -> Results[Any]:
    """Return results without the notes that matter for llrs and effective priors only."""
    topics = "no-llrs", "calibration", "few-errors"
    systems = (replace(one, notes=tuple(n for n in one.notes if topic_of(n) not in topics)) for one in results.systems)
    return replace(results, systems=tuple(systems))


def print_two_class(systems: Sequence[Any], out: Console, order: Sequence[str], options: TableOptions) -> None:
    """Print the metrics of two-class systems; `order` names all rows, including rows without metrics."""
    corrected = options.corrected
    columns: Columns = {}
    if options.with_trials:
        counted = "weight" if all(one.is_weighted for one in systems) else "trials"
        columns[counted] = lambda one: amount(one.n_tar + one.n_non)
    columns |= summary_columns(systems, everything=options.everything)
    out.print(_summary(systems, columns, order, two_class_caption(systems[0]), corrected=corrected))
    if len(systems[0].operating_points) > 1:
        named = [([one.name], one) for one in systems]
        out.print(points_table(named, ["system"], corrected=corrected, everything=options.everything))


def two_class_caption(first: Evaluation) -> str:
    """Return the units of the two-class metrics."""
    return "DCF normalized; Cllr in bits" if len(first.operating_points) == 1 else "Cllr in bits"


def points_table(
    named: Named, front: Sequence[str], *, in_full: bool = True, corrected: bool = False, everything: bool = True
) -> Table:
    """Return a table of costs at several operating points.

    Parameters
    ----------
    named : sequence of pairs
        Evaluations of one kind, each with the names at the start of its row.
    front : sequence of str
        Headings of these names.
    in_full : bool
        Whether all costs and the numbers of errors have columns.
    corrected : bool
        Whether minima have columns of corrected values.
    everything : bool
        Whether two-class scores that are not log-likelihood ratios also have actual costs.
    """
    first, rows = named[0][1], list[Sequence[str]]()
    is_two_class = first.kind == "two-class"
    are_raw = is_two_class and not everything and not any(has_llrs(one) for _, one in named)
    shown = [one for one in METRICS if one.per == "point" and first.kind in one.kinds]
    shown = [one for one in shown if not (are_raw and one.needs_llrs)]
    with_counts = is_two_class and in_full and not are_raw
    costs = [one.name for one in shown if one.tables == "all" or (in_full and not is_two_class)]
    by_prior = in_full and not is_two_class
    for names, one in named:
        is_raw = is_two_class and not everything and not has_llrs(one)
        hidden = [x.name for x in shown if is_raw and x.needs_llrs]
        for k, point in enumerate(one.cost_points):
            cells = ["-" if name in hidden else cell_of((name, k), one) for name in costs]
            cells[1:1] = [corrected_cell(("min_dcf", k), one)] if corrected else []
            cells += ["-" if hidden else amount(n) for n in (point.n_miss, point.n_fa)] if with_counts else []
            rows.append((*names, f"{point.p_target:g}" if by_prior else one.point_names[k], *cells))
        cells = ["-" if name in hidden else cell_of(f"mean_{name}", one) for name in costs]
        cells[1:1] = [corrected_cell("mean_min_dcf", one)] if corrected else []
        rows.append((*names, "mean" if by_prior else "mean over points", *cells))
    headings = [metric_of(name).label for name in costs]
    headings += ["misses", "false alarms"] if with_counts else []
    headings[1:1] = ["minDCF, corrected"] if corrected else []
    words = "normalized DCF" if is_two_class and in_full else ""
    words += "; errors at the actual threshold" if with_counts else ""
    caption = captioned(words, [one for _, one in named])
    at = "target prior" if by_prior else "operating point"
    return table([*front, at, *headings], rows, n_left=len(front) + 1, caption=caption)


def print_multiclass(systems: Sequence[Any], out: Console, order: Sequence[str], *, corrected: bool) -> None:
    """Print the metrics of multiclass systems."""
    first: ClassEvaluation = systems[0]
    out.print(_summary(systems, summary_columns(systems), order, _caption(first), corrected=corrected))
    if len(first.points) > 1:
        out.print(points_table([([one.name], one) for one in systems], ["system"]))


def print_classes(systems: Sequence[ClassEvaluation], out: Console, *, all_of_them: bool) -> None:
    """Print the metrics of each class; if there are more than 30, of the 10 with the highest error rates."""
    out.print("")
    first = systems[0]
    shown, left_out = _shown_classes(systems, None if all_of_them else _SHOWN_CLASSES)
    caption = f"{left_out}each class against all others: "
    if len(systems) == 1:
        caption += f"cost at target prior {first.points[0].p_target:g}; Cllr in bits; "
        unknown = first.uncertainty is None or are_corrected(systems)
        way = f"see {either('', 'eval ')}{option(corrected=True)}"
        biased = "" if unknown else f", too low, so calibration losses and their intervals are too high: {way}"
        caption += f"minima by isotonic regression (PAV){biased}; min Cllr of the system is by scale and offsets"
        out.print(replace(_of_one(first, shown), caption=caption))
        say_all(out, _remarks(first))
    else:
        caption += "error rate; Cllr in bits, and its minimum by isotonic regression (PAV)"
        apart = isinstance(out, TableConsole) and out.writer is not None  # for programs
        out.print(replace(_of_many(systems, shown, apart=apart), caption=caption))


def _caption(first: ClassEvaluation) -> str:
    """Return units and priors of the metrics, and the values that scores without information get."""
    parts = [f"target prior {first.points[0].p_target:g}"] if len(first.points) == 1 else []
    parts += [] if first.p_out_of_set is None else [f"prior {first.p_out_of_set:g} of {first.classes[-1]} (out of set)"]
    target = ", ".join(parts)
    least = f"without scores: Cllr {number(first.reference)} bits, error rate {100.0 * first.default_error_rate:.3g} %"
    if first.has_flat_prior:
        return f"equal priors{target and f' (C_avg: {target})'}; {least}"
    priors = [f"{one_line(name)} {p:.3g}" for name, p in zip(first.classes, first.prior.tolist(), strict=True)]
    at = f"error rate, Brier and cross-entropy at prior {some_of(priors, most=4)}{target and f' (C_avg: {target})'}"
    return f"{at}; {least}, cross-entropy {number(first.prior_entropy)}"


def _shown_classes(systems: Sequence[ClassEvaluation], most: int | None) -> tuple[list[int], str]:
    """Return the classes to print and a remark: if there are more than 30, the `most` with the highest error rates.

    Classes are sorted by the mean error rate of all systems.
    """
    n_classes = systems[0].n_classes
    if most is None or n_classes <= _MOST_CLASSES:
        return list(range(n_classes)), ""
    rates = [math.fsum(float(one.class_error_rates[k]) for one in systems) for k in range(n_classes)]
    worst = sorted(range(n_classes), key=lambda k: -rates[k])[:most]
    way = option(all_classes=True)
    return worst, f"{most} classes with the greatest error rates, of {n_classes:,} ({way} shows all); "


def _of_one(one: ClassEvaluation, numbers: Sequence[int]) -> Table:
    """Return a table of the metrics of each class, including its detection against the rest."""
    digits = {"cost": 4, "min_cost": 4, "cllr": 3, "min_cllr": 3, "calibration_loss": 3}
    rows, detectors = list[Sequence[str]](), one.detectors
    for name, n, rate in ((one.classes[k], one.counts[k], one.class_error_rates[k]) for k in numbers):
        metrics = detectors.get(name, {})
        cells = [
            with_interval(number(metrics[which], digits[which]), one, ("detectors", name, which))
            for which in digits
            if which in metrics
        ]
        rows.append((name, amount(n), with_interval(percent(rate), one, ("class_error_rates", name)), *cells))
    return table(["class", "segments", "error rate", "cost", "min cost", "Cllr", "min Cllr", "calibration loss"], rows)


def _of_many(systems: Sequence[ClassEvaluation], numbers: Sequence[int], *, apart: bool) -> Table:
    """Return a table of error rate and Cllr of each class; if `apart`, each metric of each system has a column.

    Metrics with intervals are in separate rows, because one row would not fit the window.
    """
    rows, held = list[Sequence[str]](), _metrics_of_classes(systems, numbers)
    if apart:
        for name, n, metrics in held:
            columns = [metrics.get(metric, [""] * len(systems)) for metric in _METRICS_OF_A_CLASS]
            rows.append((name, n, *(cell for cells in zip(*columns, strict=True) for cell in cells)))
        headings = [f"{one.name}: {what}" for one in systems for what in _METRICS_OF_A_CLASS]
        return table(["class", "segments", *headings], rows)
    if not any(has_intervals(cells) for _, _, metrics in held for cells in metrics.values()):
        for name, n, metrics in held:
            rate, *costs = metrics.values()
            cells = [f"{text}  {x} ({least})" for text, x, least in zip(rate, *costs, strict=True)] if costs else rate
            rows.append((name, n, *cells))
        return table(["class", "segments", *(one.name for one in systems)], rows)
    width = max(len("segments"), *(len(n) for _, n, _ in held))
    for name, n, metrics in held:
        for at, (metric, cells) in enumerate(metrics.items()):
            about = (name, f"{n:>{width}}") if at == 0 else ("", "")
            rows.append((*about, metric, *cells))
    return table(["class", "segments", "", *(one.name for one in systems)], rows, n_left=3)


_METRICS_OF_A_CLASS = ("error rate", "Cllr", "min Cllr")


def _metrics_of_classes(
    systems: Sequence[ClassEvaluation], numbers: Sequence[int]
) -> list[tuple[str, str, dict[str, list[str]]]]:
    """Return name and size of each class, and its cells by metric; out-of-set classes have no detection metrics."""
    result, detectors = list[tuple[str, str, dict[str, list[str]]]](), [one.detectors for one in systems]
    for k in numbers:
        name, metric = systems[0].classes[k], ("class_error_rates", systems[0].classes[k])
        cells = {"error rate": [with_interval(percent(one.class_error_rates[k]), one, metric) for one in systems]}
        for heading, which in (("Cllr", "cllr"), ("min Cllr", "min_cllr")) if name in detectors[0] else ():
            costs = (number(one[name][which]) for one in detectors)
            place = ("detectors", name, which)
            cells[heading] = [with_interval(text, one, place) for text, one in zip(costs, systems, strict=True)]
        result.append((name, amount(systems[0].counts[k]), cells))
    return result


def _remarks(one: ClassEvaluation) -> list[str]:
    """Return remarks on calibration loss, the most frequent confusions, and the hardest and easiest subsets."""
    result, lines = one.calibration, []
    if result.loss > 0 and math.isfinite(result.total):
        lines.append(
            f"calibration loss {number(result.loss)} bits: offsets alone would save {number(result.offset_loss)}, "
            f"a scale alone {number(result.scale_loss)}"
        )
    confused = [
        f"{true} \N{RIGHTWARDS ARROW} {taken} {with_interval(percent(rate), one, ('confusion', true, taken))}"
        for true, taken, _, rate in one.frequent_confusions(_CONFUSIONS)
    ]
    about = "most frequent confusions (true \N{RIGHTWARDS ARROW} decided, share of the true class)"
    lines += [f"{about}: {', '.join(confused)}"] if confused else []
    if one.no_pairs:
        n = one.n_classes * (one.n_classes - 1) // 2
        lines.append(f"{n:,} pairs of classes are not evaluated: {option(pairs=True)} adds them to JSON and pages")
    if (subsets := one.subset_summary()) is not None:
        for word in ("hardest", "easiest"):
            value, items = number(subsets[word]["c_avg"], 4), ", ".join(subsets[word]["classes"])
            value = with_interval(value, one, ("subset_c_avg", word))
            lines.append(f"{word} of {subsets['n']:,} subsets of classes: C_avg {value} ({items})")
        lines[-1] += "; intervals of subsets hold for all of them at once" if value.endswith("]") else ""
    return lines


def print_decisions(systems: Sequence[DecisionEvaluation], out: Console) -> None:
    """Print the error rates, costs and counts of decisions that were read from files."""
    for result in (_rates_of(systems), _costs_of(systems), *map(_actions_of, systems)):
        if result is not None:
            out.print(result)


def _rates_of(systems: Sequence[Any]) -> Table | None:
    names = list(systems[0].rates)
    if not names:
        return None
    rows = [(one.name, *(with_interval(percent(one.rates[name]), one, name) for name in names)) for one in systems]
    return table(
        ["system", *(metric_of(name).label for name in names)], rows, caption=captioned("decisions as made", systems)
    )


def _costs_of(systems: Sequence[Any]) -> Table | None:
    rows = [
        (
            one.name,
            cost.name,
            with_interval(number(cost.cost, 4), one, ("cost", k)),
            number(cost.by_prior, 4),
            number(cost.normalized),
        )
        for one in systems
        for k, cost in enumerate(one.costs)
    ]
    headings = ["system", "costs", "mean cost", "without scores", "normalized"]
    words = "classes weighted by the prior; normalized: divided by the cost without scores (always the cheapest action)"
    return table(headings, rows, n_left=2, caption=captioned(words, systems)) if rows else None


def _actions_of(one: DecisionEvaluation) -> Table:
    """Return a table with the count of each action for each true class."""
    rows = [
        (action, *(f"{_count(n)} ({percent(share)})" for n, share in zip(own, shares, strict=True)))
        for action, own, shares in zip(one.actions, one.counts.tolist(), one.shares.tolist(), strict=True)
    ]
    return table([f"{one.name}: action", *one.classes], rows, caption="trials of each true class, and shares of it")


def _count(n: float) -> str:
    """Format a number of trials with all digits; a sum of weights with six."""
    return f"{n:,}" if isinstance(n, int) else f"{n:,.6g}"


def print_primaries(results: Results[Any], out: Console) -> None:
    """Print the primary metric of every system, and its deviations from the protocol.

    Parameters
    ----------
    results : Results
        With primary metrics.
    out : Console
    """
    first: Primary = results.primaries[0]
    plan = first.plan
    out.print("")
    definition = f"primary metric of {plan.name}: {plan.primary_in_words}"
    departs = f"similar to the primary metric of {plan.name}: {first.departs}"
    say(out, departs if first.departs else definition, "bold")
    write = percent if plan.is_rate else number
    rows = [(one.system, *(metric.written(write) for _, metric in one.shown)) for one in results.primaries]
    captions = [definition] * bool(first.departs) + [f"definition of {plan.name}: {first.status}"] * bool(first.status)
    out.print(table(["system", *(heading for heading, _ in first.shown)], rows, caption="; ".join(captions)))
    remarks = dict.fromkeys(line for one in results.primaries for line in one.remarks)
    say_all(out, [line for line in remarks if line != first.departure], "yellow")


def print_worst(results: Results[Any], out: Console) -> None:
    """Print the most misleading trials of every system.

    Parameters
    ----------
    results : Results
    out : Console
    """
    for one in results.worst:
        out.print("")
        say(out, f"most misleading trials of {one.system}: least evidence for their class", "bold")
        axis: Axis = getattr(results.systems[0], "axis", "nats")
        headings = headings_of(one, results.classes, axis)
        rows = rows_of(one, results.classes, number, axis)
        words = "llr of the class against the others in nats" if results.classes else "llr in nats"
        words = f"{'likelihood ratio as log10' if axis == 'log10' else words}, cost in bits"
        out.print(table(headings, rows, prose=tuple(range(len(headings) - 2)), caption=words))


def leaderboard_table(board: Leaderboard) -> Table:
    """Return the table of comparable saved results, the best run first."""
    from deciban.analysis.leaderboard import ranges_of_letters, value_of
    from deciban.core.resampling.intervals import Interval
    from deciban.evaluation.one_system import bounds_in_words

    def cell(name: str, system: SavedSystem) -> str:
        result, how = value_of(system, name), metric_of(name.partition("@")[0])
        if result is None:
            return "-"
        text = how.text(result.value)
        if result.low is None or result.high is None:
            return text
        sure = Interval(result.value, result.low, result.high, 0.0, None, board.level, 0, "")
        return WithInterval(text, *bounds_in_words(sure, in_percent=how.in_percent, beside=text))

    def heading(name: str) -> str:
        how, point = metric_of(name.partition("@")[0]), board.operating_points.get(name, {})
        parts = () if how.per == "share" else (point.get(one) for one in ("p_target", "c_miss", "c_fa"))
        known = [f"{one:g}" for one in parts if isinstance(one, int | float)]
        place = f"({':'.join(known[:1] if known[1:] == ['1', '1'] else known)})" if known else ""
        return how.label + place

    has_groups = any(run.group for run in board.runs)
    headings = ["run", "system", "rank", *(["group"] if has_groups else []), *map(heading, board.columns)]
    rows = [
        [run.name, run.system.name, str(run.rank), *([ranges_of_letters(run.group) or "-"] if has_groups else [])]
        + [cell(name, run.system) for name in board.columns]
        for run in board.runs
    ]
    nouns = dict.fromkeys(noun for _, noun in board.units)
    by = f" by {' and '.join(nouns)}" if nouns else ""
    intervals = f"[{' and '.join(board.levels)} intervals{by}]" if board.levels else ""
    caption = "; ".join(filter(None, [board.trials, board.protocols, intervals]))
    if has_groups:
        caption += (
            f". Runs with a common letter do not differ significantly (level {board.level:g}, Holm's correction)."
        )
    return table(headings, rows, n_left=2, caption=caption)
