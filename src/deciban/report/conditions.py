"""The section of a page on conditions: tables, plots, and the numbers that its scripts read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from deciban import plots
from deciban.analysis.differences import beyond_doubt
from deciban.core.resampling.intervals import LEVEL
from deciban.evaluation.conditions import ByConditions, SystemConditions
from deciban.evaluation.preset_table import Primary
from deciban.evaluation.results import Results
from deciban.report.tables import (
    CORRECTED,
    MINUS,
    MISSING,
    count,
    figure_names,
    number,
    percent,
    points_of,
    summary,
    typeset,
)

_MOST_CURVES = 9
"""Conditions whose curves can be told apart by their colours."""


_MOST_SYSTEMS = 3
"""Of more systems there is one picture by condition, and none of their curves: they would not fit into a page."""


_MOST_COUNTS = 3
"""Classes of whose trials a table has a column each."""


_OWN_COUNTS = ("PRBEP", "targets", "non-targets", "tied across classes", "segments")
"""Figures that say how many trials there are: conditions have columns for that."""


@dataclass(frozen=True, slots=True)
class ConditionTable:
    """A table for one system.

    Attributes
    ----------
    name : str
        The system; empty if there is one.
    headings : tuple of str
    n_left : int
        Columns of names.
    rows : tuple of tuple of str
    sentences : tuple of str
        What must be said of it, and which conditions differ beyond doubt.
    """

    name: str
    headings: tuple[str, ...]
    n_left: int
    rows: tuple[tuple[str, ...], ...]
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """One partition.

    Attributes
    ----------
    title : str
    tables : tuple of ConditionTable
    drawings : tuple of (str, str, figure)
        Name of the text that is about a plot, what it is about, and the plot.
    """

    title: str
    tables: tuple[ConditionTable, ...]
    drawings: tuple[tuple[str, str, Any], ...]


def sections_of(results: Results[Any]) -> list[Section]:
    """A section for each partition, and one for each whose conditions were made equal without being shown.

    Parameters
    ----------
    results : Results
        Maybe with conditions.
    """
    if not results.conditions:
        return []
    first, several = results.conditions[0], len(results.conditions) > 1
    found = []
    for k, part in enumerate(first.partitions):
        tables = tuple(_table(one, one.partitions[k], one.pooled.name if several else "") for one in results.conditions)
        found.append(Section(f"By {part.title}", tables, tuple(_drawings(results, k))))
    shown = [part.title for part in first.partitions]
    for k, equal in enumerate(first.equalized):
        if equal.title not in shown:
            alone = ByConditions(equal.title, equal.columns, ())
            tables = tuple(_table(one, alone, one.pooled.name if several else "") for one in results.conditions)
            found.append(Section(f"Equalized over {first.equalized[k].title}", tables, ()))
    return found


def _drawings(results: Results[Any], k: int) -> list[tuple[str, str, Any]]:
    """Main figures of all systems, and curves of each in all conditions."""
    of_classes = results.kind == "classes"
    names = ["cllr", "error_rate"] if of_classes else ["eer", "act_dcf", "cllr"]
    shown = names[:1] if len(results.conditions) > _MOST_SYSTEMS else names
    drawn = [plots.by_condition(results, figure=name, partition=k) for name in shown]
    found = [("by_condition" if at == 0 else "by_condition_too", one.get_xlabel(), one) for at, one in enumerate(drawn)]
    for one in () if of_classes or len(results.conditions) > _MOST_SYSTEMS else results.conditions:
        part = one.partitions[k]
        if 0 < len(part.evaluated) <= _MOST_CURVES:
            name = one.pooled.name if len(results.conditions) > 1 else ""
            found.append(("det", name, plots.det(part.evaluated)))
    return found


def _table(one: SystemConditions, part: ByConditions, name: str) -> ConditionTable:
    """All figures of a system: of all trials, of each condition, and with these equal."""
    pooled: Any = one.pooled
    equal = [same for same in one.equalized if same.title == part.title]
    totals = part.trials or (equal[0].trials if equal else {})
    counted = list(totals) if len(totals) <= _MOST_COUNTS else []
    figures = [x for x in _figures(pooled) if x not in _OWN_COUNTS and not x.endswith(CORRECTED)]
    width = len(part.columns)

    def row(front: list[str], trials: Any, found: Any) -> tuple[str, ...]:
        numbers = [trials[x] for x in counted] or [sum(trials.values())] if trials else []
        counts = [count(n) for n in numbers] or [""] * max(len(counted), 1)
        cells = _figures(found)
        return (*front, *[""] * (width - len(front)), *counts, *(cells.get(x, MISSING) for x in figures))

    rows = [row(["pooled"], totals, pooled)]
    for same in (one for one in part.conditions if one.found is not None):
        values = ["no value" if value is None else value for value in same.values.values()]
        rows.append(row(values, same.trials, same.found))
    rows += [row(["equalized"], None, same.found) for same in equal]
    known = pooled.uncertainty
    sentences = [f"{typeset_words(line)}." for line in part.without_figures]
    sentences += [f"Equalized: {same.rule}." for same in equal]
    sentences += [f"{typeset_words(line)}." for line in beyond_doubt(part, LEVEL if known is None else known.level)]
    return ConditionTable(
        name, (*part.columns, *(counted or ["trials"]), *figures), width, tuple(rows), tuple(sentences)
    )


def typeset_words(line: str) -> str:
    """A sentence with true minus signs before numbers, and a capital letter.

    >>> typeset_words("a is better: EER -3.48 % [-5.5, -1.5]")
    'A is better: EER −3.48 % [−5.5, −1.5]'
    """
    written = re.sub(r"(?<=[ \[])-(?=\d)", MINUS, line)
    return written[:1].upper() + written[1:]


def _figures(one: Any) -> dict[str, str]:
    """Figures of an evaluation by what a page calls them."""
    if one.kind == "classes":
        from deciban.report.multiclass import figures_of_classes

        return figures_of_classes(one)
    (row,) = summary([one], [""])
    return dict(zip(figure_names([one]), row.cells, strict=True)) if points_of([one]) else {}


def section_of(results: Results[Any]) -> list[Section]:
    """The section of the plan; none without one.

    Parameters
    ----------
    results : Results
        Maybe with primary numbers.
    """
    if not results.primaries:
        return []
    first: Primary = results.primaries[0]
    write = percent if first.plan.is_rate else number
    rows = tuple(
        (one.system, *(figure.written(write, typeset) for _, figure in one.shown)) for one in results.primaries
    )
    about = f"{first.plan.title}: {first.plan.primary_in_words}."
    about += f" The plan is {first.status}." if first.status else ""
    lines = (about, *dict.fromkeys(f"{typeset_words(line)}." for one in results.primaries for line in one.remarks))
    headings = ("system", *(heading for heading, _ in first.shown))
    title = (
        f"Plan {first.plan.name}: not its primary number" if first.departs else f"Primary number of {first.plan.name}"
    )
    return [Section(title, (ConditionTable("", headings, 1, rows, lines),), ())]
