"""Plans of evaluations as tables for a terminal: what they ask for, and the primary numbers that they lead to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console

from deciban.evaluation.preset_table import PRIMARY, Preset
from deciban.evaluation.primary import Primary
from deciban.tables.results import number, percent, say, table
from deciban.tables.writers import Table


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
