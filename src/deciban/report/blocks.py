"""Sections that pages of both kinds have: conditions, differences between systems, and primary numbers of plans."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from deciban import plots
from deciban.analysis.compared import compared_metrics
from deciban.analysis.comparison import Comparison, caption_of, compare_results, headings_of, rows_of, sentences_of
from deciban.analysis.differences import beyond_doubt
from deciban.core.resampling.intervals import LEVEL
from deciban.evaluation.conditions import ByConditions, SystemConditions
from deciban.evaluation.preset_table import Primary
from deciban.evaluation.results import Results
from deciban.messages import names_apart
from deciban.report.numbers import MINUS, MISSING, count, number, percent, typeset
from deciban.report.scripts import picture
from deciban.report.tables import CORRECTED, TEXTS, figures_in_words
from deciban.tables.text import condition_rows, condition_table
from deciban.tables.writers import Table

_MOST_CURVES = 9
"""Conditions whose curves can be told apart by their colours."""


_MOST_SYSTEMS = 3
"""Of more systems there is one picture by condition, and none of their curves: they would not fit into a page."""


_OWN_COUNTS = ("PRBEP", "targets", "non-targets", "tied across classes", "segments")
"""Figures that say how many trials there are: conditions have columns for that."""


_MOST_PAIRED = 3
"""Of more systems, each is compared with the first one alone."""


@dataclass(frozen=True, slots=True)
class PageTable(Table):
    """A table with sentences below it.

    Attributes
    ----------
    name : str
        The system that it is about; empty if there is one.
    sentences : sequence of str
    """

    name: str = ""
    sentences: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A section of tables and pictures.

    Attributes
    ----------
    title : str
    tables : sequence of PageTable
    pictures : sequence of dict
        What templates need of each.
    """

    title: str
    tables: Sequence[PageTable]
    pictures: Sequence[dict[str, str]] = ()


def comparison_of(results: Results[Any], before: Results[Any] | None, most: int = _MOST_PAIRED) -> Comparison | None:
    """Compare the systems of a page, or one before calibration with itself after; None if there is nothing to say.

    Parameters
    ----------
    results : Results
    before : Results or None
    most : int
        Of more systems, each is compared with the first one alone.
    """
    systems = results.systems
    if before is not None and len(before.systems) == len(systems) == 1:
        named = [f"{one.name}, {when}" for one, when in ((before.systems[0], "before"), (systems[0], "after"))]
        systems = (before.systems[0], systems[0])
    else:
        named = names_apart([one.name for one in systems], ())
    if len(systems) < 2 or not all(one.uncertainty is not None and one.uncertainty.influences for one in systems):
        return None
    if not compared_metrics(systems) or len({(one.point_names, one.uncertainty.level) for one in systems}) > 1:
        return None
    systems = tuple(replace(one, name=name) for one, name in zip(systems, named, strict=True))
    against = "all" if len(systems) <= most else "first"
    return compare_results(Results(systems), against=against, level=systems[0].uncertainty.level)


def about_differences(comparison: Comparison) -> str:
    """What intervals and p-values of a comparison are."""
    return f"{caption_of(comparison)}. Differences are the first system minus the second."


def differences_of(results: Results[Any], before: Results[Any] | None) -> list[Section]:
    """The section on differences; none where `comparison_of` has nothing to say."""
    found = comparison_of(results, before)
    if found is None:
        return []
    n_left = 1 if len(found.pairs) == 1 else 3
    about, sentences = about_differences(found), sentences_of(found)
    headings, rows = tuple(headings_of(found)), tuple(map(tuple, rows_of(found)))
    table = PageTable(headings, rows, n_left, caption=about, sentences=sentences)
    return [Section("Differences between systems", [table], _pictures_of_differences(found))]


def _pictures_of_differences(found: Comparison) -> list[dict[str, str]]:
    drawn = {"forest": plots.forest(found)}
    if any(pair.curves for pair in found.pairs):
        drawn["difference_curve"] = plots.difference_curve(found)
    return [picture(one, TEXTS["differences"][name], "", "of all pairs") for name, one in drawn.items()]


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
        found.append(Section(f"By {part.title}", tables, _pictures_by_condition(results, k)))
    shown = [part.title for part in first.partitions]
    for k, equal in enumerate(first.equalized):
        if equal.title not in shown:
            alone = ByConditions(equal.title, equal.columns, ())
            tables = tuple(_table(one, alone, one.pooled.name if several else "") for one in results.conditions)
            found.append(Section(f"Equalized over {first.equalized[k].title}", tables))
    return found


def _pictures_by_condition(results: Results[Any], k: int) -> list[dict[str, str]]:
    """Main figures of all systems, and curves of each in all conditions."""
    of_classes, texts = results.kind == "classes", TEXTS["conditions"]
    names = ["cllr", "error_rate"] if of_classes else ["eer", "act_dcf", "cllr"]
    shown = names[:1] if len(results.conditions) > _MOST_SYSTEMS else names
    drawn = [plots.by_condition(results, figure=name, partition=k) for name in shown]
    found = [
        picture(one, texts["by_condition" if at == 0 else "by_condition_too"], one.get_xlabel(), "of all systems")
        for at, one in enumerate(drawn)
    ]
    for one in () if of_classes or len(results.conditions) > _MOST_SYSTEMS else results.conditions:
        part = one.partitions[k]
        if 0 < len(part.evaluated) <= _MOST_CURVES:
            name = one.pooled.name if len(results.conditions) > 1 else ""
            found.append(picture(plots.det(part.evaluated), texts["det"], name, "of all systems"))
    return found


def _table(one: SystemConditions, part: ByConditions, name: str) -> PageTable:
    """Return the metrics of a system: of all trials, of each condition, and with these equal."""
    names = [x for x in figures_in_words(one.pooled) if x not in _OWN_COUNTS and not x.endswith(CORRECTED)]

    def metrics(found: Any) -> list[str]:
        known = figures_in_words(found)
        return [known.get(name, MISSING) for name in names]

    found = condition_table(condition_rows(one, part, "no value"), part, names, metrics, write_count=count)
    known = one.pooled.uncertainty
    sentences = [f"{typeset_words(line)}." for line in part.without_figures]
    sentences += [f"Equalized: {same.rule}." for same in one.equalized if same.title == part.title]
    sentences += [f"{typeset_words(line)}." for line in beyond_doubt(part, LEVEL if known is None else known.level)]
    return PageTable(found.headings, found.rows, found.n_left, name=name, sentences=sentences)


def typeset_words(line: str) -> str:
    """A sentence with true minus signs before numbers, and a capital letter.

    >>> typeset_words("a is better: EER -3.48 % [-5.5, -1.5]")
    'A is better: EER −3.48 % [−5.5, −1.5]'
    """
    written = re.sub(r"(?<=[ \[])-(?=\d)", MINUS, line)
    return written[:1].upper() + written[1:]


def primaries_of(results: Results[Any]) -> list[Section]:
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
    return [Section(title, [PageTable(headings, rows, sentences=lines)])]
