"""Results by condition, and plans of evaluations with their primary numbers, as tables for a terminal."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console

from deciban.analysis.differences import beyond_doubt
from deciban.core.resampling.intervals import LEVEL
from deciban.evaluation.conditions import ByConditions, Condition, Equalized, SystemConditions
from deciban.evaluation.preset_table import PRIMARY, Preset, Primary
from deciban.evaluation.uncertainty import with_interval
from deciban.evaluation.worst_trials import headings_of, rows_of
from deciban.messages import NEGATED, amount
from deciban.tables.results import captioned, class_columns, console, number, percent, say, table, two_class_columns
from deciban.tables.writers import Table

if TYPE_CHECKING:
    from deciban.core.ranks.operating import ErrorsAt
    from deciban.evaluation import Evaluation, Results
    from deciban.evaluation.decided import DecisionEvaluation
    from deciban.evaluation.uncertainty import Uncertainty

_MOST_COUNTS = 3
"""Classes that have a column for how many trials of them a condition has; of more, all trials together have one."""

_MOST_NAMED = 3
"""Conditions that a line below the table names."""

_MISSING = "(no value)"


def print_conditions(results: Any, out: Console) -> None:
    """Print tables by condition, for each system and each partition, and which conditions differ beyond doubt.

    Parameters
    ----------
    results : Results
        With conditions.
    out : Console
    """
    several = len(results.conditions) > 1
    for one in results.conditions:
        of = f"{one.pooled.name} " if several else ""
        for part in one.partitions:
            equal = [same for same in one.equalized if same.title == part.title]
            out.print("")
            say(out, f"{of}by {part.title}", "bold")
            out.print(_table(one, part, equal))
            if (points := _points(one, part, equal)) is not None:
                out.print(points)
            if (by_rule := rule_table(_named(one, part, equal), part.columns)) is not None:
                out.print(by_rule)
            for line in (*_remarks(part), *beyond_doubt(part, _level(one)), *_rules(equal)):
                say(out, line, "yellow")
        for same in one.equalized:
            if same.title not in [part.title for part in one.partitions]:
                out.print("")
                say(out, f"{of}equalized over {same.title}", "bold")
                out.print(_table(one, ByConditions(same.title, (), ()), [same]))
                for line in _rules([same]):
                    say(out, line, "yellow")


def _rules(equal: Sequence[Equalized]) -> list[str]:
    """What the rows of conditions that count alike are means of."""
    return [f"equalized: {same.rule}" for same in equal]


def _level(one: SystemConditions) -> float:
    known = one.pooled.uncertainty
    return LEVEL if known is None else known.level


def _rows(one: SystemConditions, part: ByConditions, equal: Sequence[Equalized]) -> list[tuple[list[str], Any, Any]]:
    """Return the names, the counts and the evaluation of each row; conditions without metrics have no row."""
    width = max(len(part.columns), 1)
    rows: list[tuple[list[str], Any, Any]] = [
        ([_MISSING if value is None else value for value in condition.values.values()], condition, condition.found)
        for condition in part.conditions
        if condition.found is not None
    ]
    rows.insert(0, (["pooled", *[""] * (width - 1)], None, one.pooled))
    return [*rows, *((["equalized", *[""] * (width - 1)], None, same.found) for same in equal)]


def _named(one: SystemConditions, part: ByConditions, equal: Sequence[Equalized]) -> list[tuple[Sequence[str], Any]]:
    """Evaluations of two classes, with the names in front of their rows."""
    if one.pooled.kind != "two-class":
        return []
    return [(names, found) for names, _, found in _rows(one, part, equal)]


def _table(one: SystemConditions, part: ByConditions, equal: Sequence[Equalized]) -> Table:
    """All figures of each condition."""
    first: Any = one.pooled
    if first.kind == "classes":
        columns, caption = class_columns(first), "Cllr and information in bits"
    else:
        columns, caption = two_class_columns(first)
    totals = part.trials or (equal[0].trials if equal else {})
    counted, count = _counts(totals, is_weighted=getattr(first, "is_weighted", False))
    rows = [
        (*names, *count(condition, names), *(cell(found) for cell in columns.values()))
        for names, condition, found in _rows(one, part, equal)
    ]
    headings = [*(part.columns or ("trials",)), *counted, *columns]
    return table(headings, rows, n_left=max(len(part.columns), 1), caption=captioned(caption, [first]))


def _counts(
    totals: Mapping[str, int | float], *, is_weighted: bool
) -> tuple[list[str], Callable[[Condition | None, Sequence[str]], list[str]]]:
    """Headings of the columns that say how many trials there are, and what stands in them."""
    each = list(totals) if len(totals) <= _MOST_COUNTS else []

    def cells(condition: Condition | None, names: Sequence[str]) -> list[str]:
        if condition is None and names[0] == "equalized":
            return [""] * max(len(each), 1)
        trials = totals if condition is None else condition.trials
        counts = [trials[name] for name in each] or [sum(trials.values())]
        return [amount(n) for n in counts]

    return [f"{name} (weight)" if is_weighted else name for name in each or ["trials"]], cells


def _points(one: SystemConditions, part: ByConditions, equal: Sequence[Equalized]) -> Table | None:
    """Costs of two classes at several operating points."""
    first: Any = one.pooled
    names, decimals = (("min_dcf", "act_dcf"), 3) if first.kind == "two-class" else (("c_avg", "min_c_avg"), 4)
    if len(first.point_names) < 2:
        return None
    rows = list[Sequence[str]]()
    for front, _, found in _rows(one, part, equal):
        for k, point in enumerate(found.point_names):
            at = found.operating_points[k] if first.kind == "two-class" else found.points[k]
            costs = (with_interval(number(getattr(at, name), decimals), found, (name, k)) for name in names)
            rows.append((*front, point, *costs))
        of_points = found.mean_costs if first.kind == "classes" else {x: getattr(found, f"mean_{x}") for x in names}
        means = (with_interval(number(of_points[x], decimals), found, f"mean_{x}") for x in names)
        rows.append((*front, "mean over points", *means))
    headings = ["minDCF", "actDCF"] if first.kind == "two-class" else ["C_avg", "min C_avg"]
    n_left = max(len(part.columns), 1) + 1
    return table(
        [*(part.columns or ("trials",)), "operating point", *headings],
        rows,
        n_left=n_left,
        caption=captioned(None, [first]),
    )


def _remarks(part: ByConditions) -> list[str]:
    """Which conditions have no figures and why, and which have few errors."""
    found = part.without_figures
    few = [
        one.name
        for one in part.conditions
        if one.found is not None and any("Rule of 30" in note for note in one.found.notes)
    ]
    if few:
        which = "every condition" if len(few) == len(part.conditions) else "; ".join(few)
        found.append(f"Rule of 30: fewer than 30 errors of some kind in {which}")
    doubtful = [one.name for one in part.conditions if one.found is not None and _is_doubtful(one.found.uncertainty)]
    if doubtful:
        more = f", and {len(doubtful) - _MOST_NAMED} more" if len(doubtful) > _MOST_NAMED else ""
        found.append(
            "Some intervals may be too narrow, or are refused (few or no errors, few units, or unequal ones), in "
            f"{'; '.join(doubtful[:_MOST_NAMED])}{more}"
        )
    return found


def _is_doubtful(known: Uncertainty | None) -> bool:
    return known is not None and bool(known.remarks or known.too_few)


def print_primaries(results: Any, out: Console) -> None:
    """Print the primary number of every system by itself, and what of it is not as the plan says.

    Parameters
    ----------
    results : Results
        With primary numbers.
    out : Console
    """
    first: Primary = results.primaries[0]
    plan = first.plan
    out.print("")
    say(out, f"{plan.name}: {plan.primary_in_words}", "bold")
    write = percent if plan.is_rate else number
    rows = [(one.system, *(figure.written(write) for _, figure in one.shown)) for one in results.primaries]
    caption = f"plan: {first.status}" if first.status else None
    out.print(table(["system", *(heading for heading, _ in first.shown)], rows, caption=caption))
    for line in dict.fromkeys(line for one in results.primaries for line in one.remarks):
        say(out, line, "yellow")


def print_plans(plans: Sequence[Preset], out: Console) -> None:
    """Print a table of plans."""
    rows = [
        (one.name, "; ".join(points_in_words(one)), f"{one.title} ({one.status})", ", ".join(one.aliases))
        for one in plans
    ]
    caption = "p_target, c_miss, c_fa of two classes; of many classes target priors of C_avg"
    headings = ["preset", "operating points", "plan", "also called"]
    out.print(table(headings, rows, prose=(1, 2, 3), caption=caption))


def print_plan(plan: Preset, out: Console) -> None:
    """Explain a plan in words."""
    say(out, plan.title or plan.name, "bold underline")
    trials = "all pooled"
    if plan.equalize:
        trials = f"{plan.alike} counts alike in each class (columns of the key)"
    elif plan.non_target_shares:
        trials = f"non-targets by the column {plan.share_column} of the key, in shares"
    elif plan.clusters or plan.worst_pairs:
        trials = f"those of each {'cluster' if plan.clusters else 'pair'} by themselves"
    rows: list[tuple[str, str]] = [
        ("name", ", ".join((plan.name, *plan.aliases))),
        ("source", plan.source),
        ("status", f"{plan.status}. {plan.checked}"),
        ("scores", f"{'two classes' if plan.kind == 'two-class' else 'many classes'}; {plan.positive}"),
        ("points", "; ".join(points_in_words(plan, in_full=True)) or "none"),
        ("primary number", plan.primary_in_words),
        ("shown beside it", _beside(plan)),
        ("trials", trials),
        *((f"cluster {name}", ", ".join(classes)) for name, classes in plan.clusters.items()),
        *([("formats", ", ".join(plan.formats))] if plan.formats else []),
    ]
    out.print(Table(("field", "what the plan says"), tuple(rows), prose=(1,), has_headings=False))
    for line in plan.remarks:
        say(out, line)


def _beside(plan: Preset) -> str:
    """What the table of primary numbers has in its last column."""
    if plan.is_rate:
        return "nothing"
    return f"the {'actual cost' if plan.is_minimum else 'minimum'} at the same points"


def points_in_words(one: Preset, *, in_full: bool = False) -> list[str]:
    """Operating points of a plan as tables write them, whose caption says what they are, or in full."""
    if one.kind == "two-class":
        rates = [f"{PRIMARY['fnmr_at_fmr']} at FMR {rate:g}" for rate in one.false_match_rates]
        return [str(x) if in_full else f"{x.p_target:g}, {x.c_miss:g}, {x.c_fa:g}" for x in one.points] + rates
    out_of_set = [] if one.p_out_of_set is None else [f"last class out of set, with prior {one.p_out_of_set:g}"]
    return [str(x) if in_full else f"{x.p_target:g}" for x in one.points] + out_of_set


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


def _thresholds(systems: Sequence[Evaluation]) -> Any:
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
    caption = captioned(words, systems)
    headings = ["system", "figure", "value", "threshold", "misses", "false alarms"]
    return table(headings, rows, n_left=2, caption=caption)


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


def _rates_at(systems: Sequence[Evaluation], limited: str) -> Any:
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
    if not rows:
        return None
    names = ("FMR at most", "FNMR") if limited == "fmr" else ("FNMR at most", "FMR")
    words = f"on the steppy ROC, nothing interpolated; thresholds{_in_unit(unit)}: accept at and above"
    caption = captioned(words, systems)
    return table(["system", *names, "threshold", "misses", "false alarms"], rows, caption=caption)


def _at_thresholds(systems: Sequence[Evaluation]) -> Any:
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
    if not rows:
        return None
    caption = captioned(
        f"thresholds{_in_unit(unit)} that were chosen on other trials; HTER = (FNMR + FMR) / 2", systems
    )
    return table(["system", "best there for", "threshold", "FNMR", "FMR", "HTER"], rows, n_left=2, caption=caption)


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
    if not rows:
        return None
    words = "log-loss in nats; value = calibration loss + discrimination loss (by PAV), without scores: of the prior"
    caption = captioned(words, systems)
    headings = ["system", "prior", "score", "value", "calibration loss", "discrimination loss", "without scores"]
    return table(headings, rows, n_left=3, caption=caption)


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
    if not rows:
        return None
    words = (
        "your own rule, in its units: cost = calibration loss + minimum (by PAV) = without scores - information; it is "
        "proper, as no weight is negative"
    )
    titles = [*headings, "prior", "cost", "calibration loss", "minimum", "information", "without scores"]
    return table(titles, rows, n_left=len(headings) + 1, caption=captioned(words, [one for _, one in named]))


_PARTS = {
    "total": "{}",
    "calibration_loss": "{}_calibration_loss",
    "discrimination_loss": "{}_discrimination_loss",
    "uncertainty": "",
}
"""Columns, and what their figures are called where they have intervals."""


def _misleading(systems: Sequence[Evaluation]) -> Any:
    rows = []
    for one in systems:
        for k, found in enumerate(one.misleading):
            tar, non = f"{amount(found.n_tar)} of {amount(one.n_tar)}", f"{amount(found.n_non)} of {amount(one.n_non)}"
            strength = f"more than {found.factor:g}" if found.factor > 1 else "any"
            p_tar = with_interval(rate(found.p_tar), one, ("misleading_tar", k))
            rows.append(
                (one.name, strength, tar, p_tar, non, with_interval(rate(found.p_non), one, ("misleading_non", k)))
            )
    headings = ["system", "misleading evidence", "targets", "p_tar", "non-targets", "p_non"]
    words = "likelihood ratio against the truth by more than a factor: targets below 1 / factor, non-targets above it"
    caption = captioned(words, systems)
    return table(headings, rows, n_left=2, caption=caption)


def print_worst(results: Any, out: Console) -> None:
    """Print the most misleading trials of every system.

    Parameters
    ----------
    results : Results
        With such trials.
    out : Console
    """
    for one in results.worst:
        out.print("")
        say(out, f"most misleading trials of {one.system}", "bold")
        headings = headings_of(one, results.classes)
        rows = rows_of(one, results.classes, number)
        out.print(table(headings, rows, prose=tuple(range(len(headings) - 2)), caption="llr in nats, cost in bits"))


_DECISION_RATES = {"p_miss": "misses", "p_fa": "false alarms", "error_rate": "error rate", "c_avg": "C_avg"}


def print_decisions(systems: Sequence[DecisionEvaluation], out: Console) -> None:
    """Print the error rates, costs and counts of decisions that were read from files."""
    for made in (_decision_rates(systems), _decision_costs(systems), *map(_actions, systems)):
        if made is not None:
            out.print(made)


def _decision_rates(systems: Sequence[Any]) -> Any:
    names = list(systems[0].rates)
    if not names:
        return None
    rows = [(one.name, *(with_interval(percent(one.rates[name]), one, name) for name in names)) for one in systems]
    return table(
        ["system", *(_DECISION_RATES[name] for name in names)], rows, caption=captioned("decisions as made", systems)
    )


def _decision_costs(systems: Sequence[Any]) -> Any:
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
    headings = ["system", "costs", "mean cost", "by the prior alone", "normalized"]
    words = "classes weighted by the prior; normalized: divided by what the best action costs that is always taken"
    return table(headings, rows, n_left=2, caption=captioned(words, systems)) if rows else None


def _actions(one: DecisionEvaluation) -> Any:
    """Counts of each action in the trials of each class."""
    rows = [
        (action, *(f"{_count(n)} ({percent(share)})" for n, share in zip(own, shares, strict=True)))
        for action, own, shares in zip(one.actions, one.counts.tolist(), one.shares.tolist(), strict=True)
    ]
    return table([f"{one.name}: action", *one.classes], rows, caption="trials of each true class, and shares of it")


def _count(n: float) -> str:
    """How many trials, to the last; of weighted ones a sum."""
    return f"{n:,}" if isinstance(n, int) else f"{n:,.6g}"
