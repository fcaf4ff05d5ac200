"""Results as text for a terminal: systems, conditions, requested metrics, comparisons and trained models."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from rich.console import Console

from deciban.core.resampling.intervals import LEVEL
from deciban.errors import InputError, Note, amount, shortened, some_of, topic_of
from deciban.evaluation.breakdowns import ByConditions, SystemConditions
from deciban.evaluation.one_system import has_llrs, with_interval
from deciban.evaluation.results import Results
from deciban.tables import results as terminal
from deciban.tables.results import (
    captioned,
    leads_with_rates,
    number,
    percent,
    print_results,
    rate,
    say,
    say_all,
    table,
)
from deciban.tables.writers import STYLES, UNLIMITED, WRITERS, Table

if TYPE_CHECKING:
    from deciban.analysis import FusionRow, Selection
    from deciban.analysis.comparison import Comparison
    from deciban.evaluation import Evaluation
    from deciban.models.score_model import ParameterRow
    from deciban.workflows import Trained


def as_text(result: Any, style: str = "plain", *, width: int | None = None, all_classes: bool = False) -> str:
    """Write the tables and notes of a result.

    Parameters
    ----------
    result : Results, Evaluation, ClassEvaluation, Comparison or Trained
    style : str
        A style of the command line, or ``"html"``.
    width : int, optional
        Width of plain tables in columns; unlimited by default.
    all_classes : bool

    Returns
    -------
    str

    Raises
    ------
    InputError
        If the style is unknown, or the width is too small.
    """
    if style not in (*STYLES, *WRITERS):
        raise InputError(f"style: got {style!r}. Use one of {', '.join(dict.fromkeys((*STYLES, *WRITERS)))}.")
    value: object = width
    if value is not None and (not isinstance(value, int) or value < _LEAST):
        raise InputError(f"width: got {width!r}. It must be a whole number of columns, at least {_LEAST}.")
    written = io.StringIO()
    out = terminal.TableConsole(style, file=written, width=width or UNLIMITED, color_system=None, force_terminal=False)
    if getattr(result, "kind", None) == "comparison":
        print_comparison(result, out)
    elif isinstance(result, Results) or not hasattr(result, "rows"):
        shown = result if isinstance(result, Results) else Results((result,))
        if shown.systems:
            of_field = list[Table]()
            if shown.primaries:
                from deciban.tables.error_rates import field_tables  # loads metrics of spoofing, too

                of_field = field_tables(shown)
            print_results(shown, out, all_classes=all_classes, of_field=of_field)
            print_conditions(shown, out)
    else:
        print_trained(result, out)
    return written.getvalue()


_LEAST = 20


def print_comparison(comparison: Comparison, out: terminal.TableConsole) -> None:
    """Print a table of the differences of all pairs, and sentences about them."""
    from deciban.analysis.comparison import caption_of, headings_of, rows_of, sentences_of

    n_left, comparison = 1 if len(comparison.pairs) == 1 else 3, comparison.meaningful
    out.print(table(headings_of(comparison), rows_of(comparison), n_left=n_left, caption=caption_of(comparison)))
    say_all(out, sentences_of(comparison))
    say_all(out, comparison.notes, "yellow")


def print_trained(done: Trained, out: Console) -> None:
    """Print the metrics of a model beside those of the original scores, its parameters, and remarks on training."""
    if done.selection is not None:
        _print_selection(done.selection, out)
        out.print()
    noun = "Segments" if done.kind == "classes" else "Trials"
    parameters = done.model.parameter_rows()
    with_headings = bool(parameters) or done.test is not None
    sets = ((f"Training {noun.lower()}", done.dev, "dev"), (f"Other {noun.lower()}", done.test, "eval"))
    for heading, results, part in sets:
        if results is not None:
            if with_headings:
                say(out, heading, "bold")
            _print_rows(results, done.rows, part, out)
            if with_headings:
                out.print()
    if parameters:
        say(out, "Weights", "bold")
        words = "standardized weight: weight times standard deviation of scores (classes weighted by training prior)"
        out.print(table(*columns_of_weights(parameters), caption=words))
    for line in done.summary:
        say(out, shortened(line))
    analysis = done.analysis
    if analysis is not None and analysis.divergence is not None and len(analysis.names) > 1:
        out.print()
        words = "at the training prior: 0 for systems that always agree"
        say(out, f"Divergence of the systems' posteriors in bits, {words}", "bold")
        rows = zip(analysis.names, analysis.divergence.tolist(), strict=True)
        out.print(table(["", *analysis.names], [(name, *map(number, row)) for name, row in rows]))


def columns_of_weights(rows: Sequence[ParameterRow]) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return headings and cells of a table of parameters, with standard errors if they are known."""
    if all(row.standard_error is None for row in rows):
        return ["", "weight", "standardized weight"], [(row.name, *row.texts) for row in rows]
    cells: list[tuple[str, ...]] = [(row.name, row.texts[0], row.error_text, row.texts[1]) for row in rows]
    return ["", "weight", "standard error", "standardized weight"], cells


def _print_rows(results: Results[Any], rows: Sequence[FusionRow], part: str, out: Console) -> None:
    """Print the metrics of one set of trials.

    Notes on leave-one-out systems are omitted, because they repeat the notes on the fusion.
    """
    silent = {row.name for row in rows if row.role in ("left out", "leave-one-out", "without quality")}
    shown = {row.name: f"{row.name} (calibrated)" if row.role == "single" else row.name for row in rows}
    systems = []
    for one in results.systems:
        notes = [note.when_calibrated() if isinstance(note, Note) else note for note in one.notes]
        own = () if one.name in silent else tuple(notes)
        systems.append(replace(one, name=shown.get(one.name, one.name), notes=own))
    order = [shown[row.name] for row in rows if getattr(row, part) is not None or row.note]
    sizes = {one.n_tar + one.n_non for one in systems} if results.kind == "two-class" else set()
    results = replace(results, systems=tuple(systems))
    everything = results.kind != "two-class" or not any(map(has_llrs, systems))
    how = terminal.TableOptions(everything=everything, with_trials=len(sizes) > 1)
    print_results(results, out, order=order, all_classes=None, options=how)
    print_conditions(results, out, everything=everything)
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
    words = "cost: of the fusion with this system and those above it; gain: by how much this system lowers the cost"
    out.print(table(["system", "cost", "gain", "cost on training trials", ""], rows, caption=words))
    say_all(out, [f"{one.name}: left out, {one.reason}" for one in selection.untrained], "yellow")


_MOST_COUNTS = 3
"""Maximum number of classes with a column of trial counts; with more classes, one column counts all trials."""


def print_conditions(results: Results[Any], out: Console, *, everything: bool = True) -> None:
    """Print tables by condition for each system and partition, and the conditions that differ significantly.

    Parameters
    ----------
    results : Results
        With conditions.
    out : Console
    everything : bool
        Whether two-class scores that are not log-likelihood ratios also have actual costs and Cllr.
    """
    from deciban.analysis.differences import significant_differences  # loads only with conditions

    for one in results.conditions:
        of = f"{one.pooled.name} " if len(results.conditions) > 1 else ""
        titles = [part.title for part in one.partitions]
        alone = [ByConditions(same.title, (), ()) for same in one.equalized if same.title not in titles]
        for part in (*one.partitions, *alone):
            out.print("")
            say(out, f"{of}{'equalized over' if part in alone else 'by'} {part.heading}", "bold")
            rows = condition_rows(one, part)
            named, front = [(names, result) for names, _, result in rows], part.columns or ("trials",)
            if leads_with_rates(results):
                from deciban.tables.error_rates import biometric_rates  # loads metrics of spoofing, too

                out.print(biometric_rates([replace(x, name=", ".join(filter(None, n))) for n, x in named], part.title))
            else:
                out.print(_table_of_metrics(rows, part, everything=everything))
            if len(one.pooled.point_names) > 1:
                out.print(terminal.points_table(named, front, in_full=False, everything=everything))
            if one.pooled.kind == "two-class" and (by_rule := rule_table(named, front)) is not None:
                out.print(by_rule)
            level = LEVEL if one.pooled.uncertainty is None else one.pooled.uncertainty.level
            own = _remarks(part, with_costs=not leads_with_rates(results))
            remarks = () if part in alone else (*own, *significant_differences(part, level))
            rules = [f"equalized: {same.rule}" for same in one.equalized if same.title == part.title]
            say_all(out, (*remarks, *rules), "yellow")


def _table_of_metrics(rows: Rows, part: ByConditions, *, everything: bool) -> Table:
    """Return the table with the main metrics of each condition."""
    pooled = rows[0][2]
    columns = terminal.summary_columns([pooled], everything=everything)
    caption = "Cllr and information in bits" if pooled.kind == "classes" else terminal.two_class_caption(pooled)
    unit = " (weight)" if getattr(pooled, "is_weighted", False) else ""
    result = condition_table(rows, part, columns, lambda one: [cell(one) for cell in columns.values()], unit=unit)
    return replace(result, caption=captioned(caption, [pooled]))


Rows: TypeAlias = list[tuple[list[str], Any, Any]]
"""Rows of a table by condition: the names, the numbers of trials by class, and the evaluation."""


def condition_rows(one: SystemConditions, part: ByConditions, no_value: str = "(no value)") -> Rows:
    """Return the rows of a table by condition: all trials, conditions with metrics, and equalized conditions."""
    equal = [same for same in one.equalized if same.title == part.title]
    others = [""] * (len(part.columns) - 1)
    totals = part.trials or (equal[0].trials if equal else {})
    rows: Rows = [(["pooled", *others], totals, one.pooled)]
    for condition in (same for same in part.conditions if same.evaluation is not None):
        values = [no_value if value is None else value for value in condition.values.values()]
        rows.append((values, condition.trials, condition.evaluation))
    return rows + [(["equalized", *others], None, same.evaluation) for same in equal]


def condition_table(
    rows: Rows,
    part: ByConditions,
    headings: Iterable[str],
    write: Callable[[Any], Iterable[str]],
    *,
    write_count: Callable[[Any], str] = amount,
    unit: str = "",
) -> Table:
    """Return a table by condition.

    Parameters
    ----------
    rows : list
        See `condition_rows`.
    part : ByConditions
    headings : iterable of str
        Names of the metrics.
    write : function
        Returns the cells of an evaluation.
    write_count : function
        Formats a number of trials.
    unit : str
        Suffix of the headings of trial counts.
    """
    totals = rows[0][1]
    each = list(totals) if len(totals) <= _MOST_COUNTS else []
    cells = list[Sequence[str]]()
    for names, trials, result in rows:
        counts = [""] * max(len(each), 1)
        if trials is not None:
            counts = [write_count(n) for n in [trials[name] for name in each] or [sum(trials.values())]]
        cells.append((*names, *counts, *write(result)))
    front = part.columns or ("trials",)
    return table([*front, *(name + unit for name in each or ["trials"]), *headings], cells, n_left=len(front))


def _remarks(part: ByConditions, *, with_costs: bool) -> list[str]:
    """Return remarks on conditions without metrics and on conditions with few errors at the operating points."""
    lines = part.without_metrics
    few = [
        one.name
        for one in part.conditions
        if with_costs
        and one.evaluation is not None
        and any(topic_of(note) == "few-errors" for note in one.evaluation.notes)
    ]
    if few:
        which = "every condition" if len(few) == len(part.conditions) else "; ".join(few)
        where = "at an operating point" if len(part.evaluated[0].point_names) > 1 else "at the operating point"
        lines.append(f"Uncertain, with fewer than 30 misses or fewer than 30 false alarms {where}: {which}")
    known = [(one.name, one.evaluation.uncertainty) for one in part.conditions if one.evaluation is not None]
    doubtful = [name for name, one in known if one is not None and (one.remarks or one.too_few)]
    if doubtful:
        why = "few errors, or few or unequal units"
        lines.append(f"Some intervals can be too narrow or missing ({why}), in {some_of(doubtful, '; ')}")
    return lines


_OF_NEGATED = "thresholds are for negated scores: accept if the score in the file is at most minus the threshold"


def print_requested(
    results: Results[Any], out: Console | None = None, *, thresholds: bool = False, misleading: bool = False
) -> None:
    """Print a table for each kind of requested metrics.

    Parameters
    ----------
    results : Results
        Multiclass results have tables of the metrics of classifier papers only.
    out : Console, optional
        By default standard output.
    thresholds, misleading : bool
        Whether to print these tables, too.
    """
    to, systems = out or terminal.console(), results.systems
    from deciban.tables.error_rates import classifier_tables  # loads on request

    shown: list[Table | None] = list(classifier_tables(systems))
    if results.kind != "classes":
        before = [
            _thresholds(systems) if thresholds else None,
            *_conventions(systems),
            None if leads_with_rates(results) else _rates_at(systems, "fmr"),
            _rates_at(systems, "fnmr"),
            _at_thresholds(systems),
            _posterior_scores(systems),
        ]
        after = rule_table([([one.name], one) for one in systems]), _misleading(systems) if misleading else None
        shown = [*before, *shown, *after]
    for one in shown:
        if one is not None:
            to.print("")
            to.print(one)
    is_negated = any(topic_of(getattr(one, "text", "")) == "negated" for one in results.messages)
    if is_negated and any(one is not None and "threshold" in one.headings for one in shown):
        say(to, _OF_NEGATED, "dim")


def _unit(systems: Sequence[Evaluation]) -> str:
    return "log10" if all(one.axis == "log10" for one in systems) else "nats"


def _in_unit(unit: str) -> str:
    return " in log10" if unit == "log10" else ""


_COSTS = "min_dcf", "act_dcf"


def _requested(
    headings: Sequence[str], rows: Sequence[Sequence[str]], words: str, systems: Sequence[Evaluation], n_left: int = 1
) -> Table | None:
    """Return a table of requested metrics with their intervals; None without rows."""
    return table(headings, rows, n_left=n_left, caption=captioned(words, systems)) if rows else None


def _thresholds(systems: Sequence[Evaluation]) -> Table | None:
    unit, rows = _unit(systems), list[Sequence[str]]()
    for one in systems:
        eer = with_interval(percent(one.eer), one, "eer")
        at_eer = rate(one.eer_p_miss), rate(one.eer_p_fa)
        result: list[tuple[Any, ...]] = [("EER (ROCCH)", eer, one.eer_threshold, *at_eer)]
        for k, point in enumerate(one.operating_points):
            least, actual = (with_interval(number(getattr(point, name)), one, (name, k)) for name in _COSTS)
            best = (rate(fraction) for fraction in (point.min_p_miss, point.min_p_fa))
            result.append((f"minDCF, {point}", least, point.min_threshold, *best))
            fixed = (with_interval(rate(getattr(point, name)), one, (name, k)) for name in ("p_miss", "p_fa"))
            result.append((f"actDCF, {point}", actual, point.threshold, *fixed))
        rows += [
            (one.name, what, value, terminal.threshold(place, unit), *rates) for what, value, place, *rates in result
        ]
    words = f"thresholds{_in_unit(unit)}: accept at and above; inf rejects all; actDCF: the Bayes threshold"
    headings = ["system", "metric", "value", "threshold", "misses", "false alarms"]
    return _requested(headings, rows, words, systems, 2)


def _conventions(systems: Sequence[Evaluation]) -> tuple[Any, ...]:
    """Return a table of the EER by each convention, and a table of the conventions."""
    if not (names := list(systems[0].requested.eer_conventions)):
        return ()
    from deciban.metrics import EER_CONVENTIONS

    rows = [
        (one.name, *(with_interval(percent(v), one, ("eer_conventions", k)) for k, v in result.items()))
        for one, result in ((one, one.requested.eer_conventions) for one in systems)
    ]
    meanings = [(name, EER_CONVENTIONS[name].definition, EER_CONVENTIONS[name].tools) for name in names]
    metrics = table(["system", *names], rows, caption=captioned("EER by convention", systems))
    return metrics, table(["EER", "definition", "as in"], meanings, prose=(1, 2))


def _rates_at(systems: Sequence[Evaluation], limited: str) -> Table | None:
    unit = _unit(systems)
    rows = [
        (
            one.name,
            f"{100 * result.limit:.6g} %",
            with_interval(rate(result.rate), one, ("rates_at", k)),
            *terminal.errors_in_words(result.errors, unit),
        )
        for one in systems
        for k, result in enumerate(one.requested.rates_at)
        if result.limited == limited
    ]
    names = ("FMR at most", "FNMR") if limited == "fmr" else ("FNMR at most", "FMR")
    words = f"on the ROC steps, without interpolation; thresholds{_in_unit(unit)}: accept at and above"
    return _requested(["system", *names, "threshold", "misses", "false alarms"], rows, words, systems)


def _at_thresholds(systems: Sequence[Evaluation]) -> Table | None:
    unit = _unit(systems)
    rows = [
        (
            one.name,
            result.name,
            terminal.threshold(result.errors.threshold, unit),
            with_interval(rate(result.errors.p_miss), one, ("at_thresholds_p_miss", k)),
            with_interval(rate(result.errors.p_fa), one, ("at_thresholds_p_fa", k)),
            with_interval(percent(result.errors.hter), one, ("at_thresholds_hter", k)),
        )
        for one in systems
        for k, result in enumerate(one.requested.at_thresholds)
    ]
    words = f"thresholds{_in_unit(unit)} chosen on other trials; HTER = (FNMR + FMR) / 2"
    return _requested(["system", "threshold chosen for", "threshold", "FNMR", "FMR", "HTER"], rows, words, systems, 2)


def _posterior_scores(systems: Sequence[Evaluation]) -> Table | None:
    rows = [
        (
            one.name,
            f"{result.p_target:g}",
            what,
            *(with_interval(number(parts[name], 4), one, (metric.format(rule), k)) for name, metric in _PARTS.items()),
        )
        for one in systems
        for k, result in enumerate(one.requested.posterior_scores)
        for what, rule, parts in (
            ("log-loss", "log_loss", result.log_loss.to_dict()),
            ("Brier", "brier", result.brier.to_dict()),
        )
    ]
    words = "log loss in nats; value = calibration loss + discrimination loss (by PAV); without scores: prior alone"
    headings = ["system", "prior", "score", "value", "calibration loss", "discrimination loss", "without scores"]
    return _requested(headings, rows, words, systems, 3)


def rule_table(
    named: Sequence[tuple[Sequence[str], Evaluation]], headings: Sequence[str] = ("system",)
) -> Table | None:
    """Return a table of the costs by a custom scoring rule; None without such a rule."""
    metrics = "cost", "calibration_loss", "minimum", "information"
    rows = [
        (
            *names,
            f"{result.p_target:g}",
            *(with_interval(number(result.to_dict()[metric], 4), one, (f"rule_{metric}", k)) for metric in metrics),
            number(result.parts.entropy, 4),
        )
        for names, one in named
        for k, result in enumerate(one.requested.rule_costs)
    ]
    words = (
        "custom scoring rule, in its units: cost = calibration loss + minimum (by PAV) = without scores - information; "
        "proper, as no weight is negative"
    )
    titles = [*headings, "prior", "cost", "calibration loss", "minimum", "information", "without scores"]
    return _requested(titles, rows, words, [one for _, one in named], len(headings) + 1)


_PARTS = {
    "total": "{}",
    "calibration_loss": "{}_calibration_loss",
    "discrimination_loss": "{}_discrimination_loss",
    "uncertainty": "",
}
"""Columns, and the names of their metrics in intervals."""


def _misleading(systems: Sequence[Evaluation]) -> Table | None:
    rows = [
        (
            one.name,
            f"more than {result.factor:g}" if result.factor > 1 else "any",
            f"{amount(result.n_tar)} of {amount(one.n_tar)}",
            with_interval(rate(result.p_tar), one, ("misleading_tar", k)),
            f"{amount(result.n_non)} of {amount(one.n_non)}",
            with_interval(rate(result.p_non), one, ("misleading_non", k)),
        )
        for one in systems
        for k, result in enumerate(one.misleading)
    ]
    headings = ["system", "factor", "targets", "share of targets", "non-targets", "share of non-targets"]
    words = "misleading evidence: likelihood ratio < 1 / factor for targets, > factor for non-targets"
    return _requested(headings, rows, words, systems, 2)
