"""Results as text for a terminal: systems, conditions, requested metrics, comparisons and trained models."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from rich.console import Console

from deciban.analysis.differences import beyond_doubt
from deciban.core.resampling.intervals import LEVEL
from deciban.errors import InputError
from deciban.evaluation.conditions import ByConditions, SystemConditions
from deciban.evaluation.one_system import with_interval
from deciban.evaluation.results import Results
from deciban.messages import NEGATED, amount, counted, shortened, topic_of
from deciban.tables.results import (
    ALL,
    TableConsole,
    TableOptions,
    captioned,
    console,
    number,
    percent,
    points_table,
    print_classes,
    print_multiclass,
    print_primaries,
    print_two_class,
    say,
    say_all,
    summary_columns,
    table,
    two_class_caption,
)
from deciban.tables.writers import STYLES, UNLIMITED, WRITERS, Table

if TYPE_CHECKING:
    from deciban.analysis import FigureRow, Selection
    from deciban.analysis.comparison import Comparison
    from deciban.core.ranks.operating import ErrorsAt
    from deciban.evaluation import Evaluation
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
    options: TableOptions = ALL,
    sentences: Sequence[str] = (),
) -> None:
    """Print the table of all systems and its notes, on standard output or another console.

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
    options : TableOptions
    sentences : sequence of str
        Sentences on all trials, printed before the notes.
    """
    to = out or console()
    if results.kind == "classes":
        print_multiclass(results.systems, to, order, corrected=options.corrected)
        if all_classes is not None:
            print_classes(results.systems, to, all_of_them=all_classes)
    else:
        print_two_class(results.systems, to, order, options, with_trials=with_trials)
    if results.primaries:
        print_primaries(results, to)
    say_all(to, sentences)
    notes = results.note_lines[: options.most_notes]
    say_all(to, notes, "yellow")
    if n_left := len(results.note_lines) - len(notes):
        say(to, f"{counted(n_left, 'more note')}: --notes all prints {'it' if n_left == 1 else 'them'}.", "dim")
    if results.conditions:
        print_conditions(results, to, everything=options.everything)


def print_comparison(found: Comparison, out: TableConsole) -> None:
    """Print one table of the differences of all pairs, and who is better where."""
    from deciban.analysis.comparison import caption_of, headings_of, rows_of, sentences_of

    n_left = 1 if len(found.pairs) == 1 else 3
    out.print(table(headings_of(found), rows_of(found), n_left=n_left, caption=caption_of(found)))
    say_all(out, sentences_of(found))
    say_all(out, found.notes, "yellow")


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


_MOST_COUNTS = 3
"""Classes that have a column for how many trials of them a condition has; of more, all trials together have one."""

_MOST_NAMED = 3
"""Conditions that a line below the table names."""


def print_conditions(results: Any, out: Console, *, everything: bool = True) -> None:
    """Print tables by condition, for each system and each partition, and which conditions differ beyond doubt.

    Parameters
    ----------
    results : Results
        With conditions.
    out : Console
    everything : bool
        Two classes: whether scores that are not log-likelihood ratios have actual costs and Cllr, too.
    """
    for one in results.conditions:
        of = f"{one.pooled.name} " if len(results.conditions) > 1 else ""
        titles = [part.title for part in one.partitions]
        alone = [ByConditions(same.title, (), ()) for same in one.equalized if same.title not in titles]
        for part in (*one.partitions, *alone):
            out.print("")
            say(out, f"{of}{'equalized over' if part in alone else 'by'} {part.title}", "bold")
            rows = condition_rows(one, part)
            out.print(_table_of_metrics(rows, part, everything=everything))
            named, front = [(names, found) for names, _, found in rows], part.columns or ("trials",)
            if len(one.pooled.point_names) > 1:
                out.print(points_table(named, front, in_full=False, everything=everything))
            if one.pooled.kind == "two-class" and (by_rule := rule_table(named, front)) is not None:
                out.print(by_rule)
            level = LEVEL if one.pooled.uncertainty is None else one.pooled.uncertainty.level
            remarks = () if part in alone else (*_remarks(part), *beyond_doubt(part, level))
            rules = [f"equalized: {same.rule}" for same in one.equalized if same.title == part.title]
            say_all(out, (*remarks, *rules), "yellow")


def _table_of_metrics(rows: Rows, part: ByConditions, *, everything: bool) -> Table:
    """Return the table with the main metrics of each condition."""
    pooled = rows[0][2]
    columns = summary_columns([pooled], everything=everything)
    caption = "Cllr and information in bits" if pooled.kind == "classes" else two_class_caption(pooled)
    unit = " (weight)" if getattr(pooled, "is_weighted", False) else ""
    found = condition_table(rows, part, columns, lambda one: [cell(one) for cell in columns.values()], unit=unit)
    return replace(found, caption=captioned(caption, [pooled]))


Rows: TypeAlias = list[tuple[list[str], Any, Any]]
"""Of each row of a table by condition the names in front, the numbers of trials by class, and the evaluation."""


def condition_rows(one: SystemConditions, part: ByConditions, no_value: str = "(no value)") -> Rows:
    """Return the rows of a table by condition: all trials, the conditions that have metrics, and these equalized."""
    equal = [same for same in one.equalized if same.title == part.title]
    others = [""] * (len(part.columns) - 1)
    totals = part.trials or (equal[0].trials if equal else {})
    rows: Rows = [(["pooled", *others], totals, one.pooled)]
    for condition in (same for same in part.conditions if same.found is not None):
        values = [no_value if value is None else value for value in condition.values.values()]
        rows.append((values, condition.trials, condition.found))
    return rows + [(["equalized", *others], None, same.found) for same in equal]


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
        Writes the metrics of an evaluation.
    write_count : function
        Writes a number of trials.
    unit : str
        Added to the headings of these numbers.
    """
    totals = rows[0][1]
    each = list(totals) if len(totals) <= _MOST_COUNTS else []
    cells = list[Sequence[str]]()
    for names, trials, found in rows:
        counts = [""] * max(len(each), 1)
        if trials is not None:
            counts = [write_count(n) for n in [trials[name] for name in each] or [sum(trials.values())]]
        cells.append((*names, *counts, *write(found)))
    front = part.columns or ("trials",)
    return table([*front, *(name + unit for name in each or ["trials"]), *headings], cells, n_left=len(front))


def _remarks(part: ByConditions) -> list[str]:
    """Which conditions have no figures and why, and which have few errors."""
    found = part.without_figures
    few = [
        one.name
        for one in part.conditions
        if one.found is not None and any(topic_of(note) == "few-errors" for note in one.found.notes)
    ]
    if few:
        which = "every condition" if len(few) == len(part.conditions) else "; ".join(few)
        found.append(f"Rule of 30: fewer than 30 errors of some kind in {which}")
    known = [(one.name, one.found.uncertainty) for one in part.conditions if one.found is not None]
    doubtful = [name for name, one in known if one is not None and (one.remarks or one.too_few)]
    if doubtful:
        more = f", and {len(doubtful) - _MOST_NAMED} more" if len(doubtful) > _MOST_NAMED else ""
        found.append(
            "Some intervals may be too narrow, or are refused (few or no errors, few units, or unequal ones), in "
            f"{'; '.join(doubtful[:_MOST_NAMED])}{more}"
        )
    return found


_RARE = 5e-4
"""A rate below this is written with more digits than two decimals of percent."""


_OF_NEGATED = (
    "thresholds are those of negated scores: accept where the score in the file is at most minus the threshold"
)


def print_requested(
    results: Results[Any], out: Console | None = None, *, thresholds: bool = False, misleading: bool = False
) -> None:
    """Print a table of each kind of figures that was asked for.

    Parameters
    ----------
    results : Results
        Of two classes.
    out : Console, optional
    thresholds, misleading : bool
        Whether these are wanted, which are there in any case.
    """
    to, systems = out or console(), results.systems
    shown = [
        _thresholds(systems) if thresholds else None,
        *_conventions(systems),
        *(_rates_at(systems, limited) for limited in ("fmr", "fnmr")),
        _at_thresholds(systems),
        _posterior_scores(systems),
        rule_table([([one.name], one) for one in systems]),
        _misleading(systems) if misleading else None,
    ]
    for one in shown:
        if one is not None:
            to.print("")
            to.print(one)
    is_negated = any(getattr(one, "text", "") == NEGATED for one in results.messages)
    if is_negated and any(one is not None and "threshold" in one.headings for one in shown):
        say(to, _OF_NEGATED, "dim")


def rate(fraction: float) -> str:
    """Write a rate in percent, a rare one with two significant digits.

    >>> rate(0.1387), rate(0.00012), rate(0.0)
    ('13.87 %', '0.012 %', '0.00 %')
    """
    if math.isnan(fraction):
        return "-"
    return f"{100 * fraction:.2g} %" if 0.0 < fraction < _RARE else percent(fraction)


def threshold(value: float, axis: str) -> str:
    """Write a threshold on llrs in the unit of the axis.

    >>> threshold(2.302585, "log10"), threshold(2.302585, "nats"), threshold(float("inf"), "nats")
    ('1.0000', '2.3026', 'inf')
    """
    return number(value / math.log(10) if axis == "log10" else value, 4)


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
        found: list[tuple[Any, ...]] = [("EER (ROCCH)", eer, one.eer_threshold, *at_eer)]
        for k, point in enumerate(one.operating_points):
            least, actual = (with_interval(number(getattr(point, name)), one, (name, k)) for name in _COSTS)
            best = (rate(fraction) for fraction in (point.min_p_miss, point.min_p_fa))
            found.append((f"minDCF, {point}", least, point.min_threshold, *best))
            fixed = (with_interval(rate(getattr(point, name)), one, (name, k)) for name in ("p_miss", "p_fa"))
            found.append((f"actDCF, {point}", actual, point.threshold, *fixed))
        rows += [(one.name, what, value, threshold(place, unit), *rates) for what, value, place, *rates in found]
    words = f"thresholds{_in_unit(unit)}: accept at and above; inf rejects all; of actDCF that of Bayes"
    headings = ["system", "figure", "value", "threshold", "misses", "false alarms"]
    return _requested(headings, rows, words, systems, 2)


def _conventions(systems: Sequence[Evaluation]) -> tuple[Any, ...]:
    """Rates of each system, and what the conventions are."""
    if not systems[0].requested.eer_conventions:
        return ()
    from deciban.metrics import EER_CONVENTIONS

    rows = [
        (one.name, *(with_interval(percent(v), one, ("eer_conventions", k)) for k, v in found.items()))
        for one, found in ((one, one.requested.eer_conventions) for one in systems)
    ]
    meanings = [(name, how.definition, how.tools) for name, how in EER_CONVENTIONS.items()]
    figures = table(["system", *EER_CONVENTIONS], rows, caption=captioned("EER by convention", systems))
    return figures, table(["EER", "read off where", "as in"], meanings, prose=(1, 2))


def _errors(errors: ErrorsAt, unit: str) -> tuple[str, ...]:
    counts = (f"{amount(errors.n_miss)} of {amount(errors.n_tar)}", f"{amount(errors.n_fa)} of {amount(errors.n_non)}")
    return threshold(errors.threshold, unit), *counts


def _rates_at(systems: Sequence[Evaluation], limited: str) -> Table | None:
    unit = _unit(systems)
    rows = [
        (
            one.name,
            f"{100 * found.limit:.6g} %",
            with_interval(rate(found.rate), one, ("rates_at", k)),
            *_errors(found.errors, unit),
        )
        for one in systems
        for k, found in enumerate(one.requested.rates_at)
        if found.limited == limited
    ]
    names = ("FMR at most", "FNMR") if limited == "fmr" else ("FNMR at most", "FMR")
    words = f"on the steppy ROC, nothing interpolated; thresholds{_in_unit(unit)}: accept at and above"
    return _requested(["system", *names, "threshold", "misses", "false alarms"], rows, words, systems)


def _at_thresholds(systems: Sequence[Evaluation]) -> Table | None:
    unit = _unit(systems)
    rows = [
        (
            one.name,
            found.name,
            threshold(found.errors.threshold, unit),
            with_interval(rate(found.errors.p_miss), one, ("at_thresholds_p_miss", k)),
            with_interval(rate(found.errors.p_fa), one, ("at_thresholds_p_fa", k)),
            with_interval(percent(found.errors.hter), one, ("at_thresholds_hter", k)),
        )
        for one in systems
        for k, found in enumerate(one.requested.at_thresholds)
    ]
    words = f"thresholds{_in_unit(unit)} that were chosen on other trials; HTER = (FNMR + FMR) / 2"
    return _requested(["system", "best there for", "threshold", "FNMR", "FMR", "HTER"], rows, words, systems, 2)


def _posterior_scores(systems: Sequence[Evaluation]) -> Any:
    rows = [
        (
            one.name,
            f"{found.p_target:g}",
            what,
            *(with_interval(number(parts[name], 4), one, (figure.format(rule), k)) for name, figure in _PARTS.items()),
        )
        for one in systems
        for k, found in enumerate(one.requested.posterior_scores)
        for what, rule, parts in (
            ("log-loss", "log_loss", found.log_loss.to_dict()),
            ("Brier", "brier", found.brier.to_dict()),
        )
    ]
    words = "log-loss in nats; value = calibration loss + discrimination loss (by PAV), without scores: of the prior"
    headings = ["system", "prior", "score", "value", "calibration loss", "discrimination loss", "without scores"]
    return _requested(headings, rows, words, systems, 3)


def rule_table(named: Sequence[tuple[Sequence[str], Evaluation]], headings: Sequence[str] = ("system",)) -> Any:
    """What a rule of the user's own says of each evaluation, with names in front of its rows; None without a rule."""
    figures = "cost", "calibration_loss", "minimum", "information"
    rows = [
        (
            *names,
            f"{found.p_target:g}",
            *(with_interval(number(found.to_dict()[figure], 4), one, (f"rule_{figure}", k)) for figure in figures),
            number(found.told.entropy, 4),
        )
        for names, one in named
        for k, found in enumerate(one.requested.rule_costs)
    ]
    words = (
        "your own rule, in its units: cost = calibration loss + minimum (by PAV) = without scores - information; it is "
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
"""Columns, and what their figures are called where they have intervals."""


def _misleading(systems: Sequence[Evaluation]) -> Any:
    rows = [
        (
            one.name,
            f"more than {found.factor:g}" if found.factor > 1 else "any",
            f"{amount(found.n_tar)} of {amount(one.n_tar)}",
            with_interval(rate(found.p_tar), one, ("misleading_tar", k)),
            f"{amount(found.n_non)} of {amount(one.n_non)}",
            with_interval(rate(found.p_non), one, ("misleading_non", k)),
        )
        for one in systems
        for k, found in enumerate(one.misleading)
    ]
    headings = ["system", "misleading evidence", "targets", "p_tar", "non-targets", "p_non"]
    words = "likelihood ratio against the truth by more than a factor: targets below 1 / factor, non-targets above it"
    return _requested(headings, rows, words, systems, 2)
