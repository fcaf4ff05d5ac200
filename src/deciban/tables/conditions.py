"""Results by condition, and plans of evaluations with their primary numbers, as tables for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console

from deciban.analysis.differences import beyond_doubt
from deciban.core.resampling.intervals import LEVEL
from deciban.evaluation.conditions import ByConditions, Condition, Equalized, SystemConditions
from deciban.evaluation.preset_table import PRIMARY, Preset
from deciban.evaluation.primary import Primary
from deciban.evaluation.uncertainty import with_interval
from deciban.messages import amount
from deciban.tables.requested import rule_table
from deciban.tables.results import captioned, class_columns, number, percent, say, table, two_class_columns
from deciban.tables.writers import Table

if TYPE_CHECKING:
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
