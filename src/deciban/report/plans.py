"""What a page says of the plan of an evaluation: the primary number of every system, and who says so."""

from __future__ import annotations

from typing import Any

from deciban.evaluation.primary import Primary
from deciban.evaluation.results import Results
from deciban.report.conditions import ConditionTable, Section, typeset_words
from deciban.report.text import number, percent, typeset


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
