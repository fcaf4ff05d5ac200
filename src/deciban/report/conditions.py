"""The section of a page on conditions: tables, plots, and the numbers that its scripts read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from deciban import plots
from deciban.analysis.differences import beyond_doubt
from deciban.core.ranks.operating import detection_cost
from deciban.core.resampling.intervals import LEVEL
from deciban.evaluation import Evaluation
from deciban.evaluation.conditions import ByConditions, SystemConditions
from deciban.evaluation.preset_table import Primary
from deciban.evaluation.results import Results
from deciban.report.live import (
    OF_SCORE,
    ROOM,
    Once,
    Packing,
    coarse_curves,
    exact_data,
    fitted,
    intervals_at,
    n_conditions,
    numbers_at,
    text_of_steps,
)
from deciban.report.tables import (
    CORRECTED,
    MINUS,
    MISSING,
    TEXTS,
    count,
    figure_names,
    number,
    percent,
    points_of,
    summary,
    typeset,
)
from deciban.types import FloatArray, IntArray

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


_ROOM_OF_ONE = 12_500
"""Characters for a system in a condition, with bands at the fewest places."""

_FIGURES = ("eer", "min_cllr", "cllr")
"""Of the map, beside costs at the operating point."""


@dataclass(frozen=True, slots=True)
class _Detail:
    """How much is told of every condition.

    Attributes
    ----------
    n_places : int
        At which corners of curves are kept.
    has_bands, has_intervals : bool
        Of curves, and of error rates at every prior.
    has_steps : bool
        Errors at any prior, and not at those of the grid alone.
    """

    n_places: int
    has_bands: bool = True
    has_intervals: bool = True
    has_steps: bool = False

    def places(self, grid: FloatArray) -> IntArray:
        """Where in a grid the bands of Bayes error rates are kept; both ends are among them."""
        return np.unique(np.linspace(0, len(grid) - 1, min(2 * self.n_places, len(grid))).astype(int))


_DETAILS = (
    _Detail(41),
    _Detail(21),
    _Detail(13),
    _Detail(21, has_bands=False),
    _Detail(13, has_bands=False),
    _Detail(13, has_bands=False, has_intervals=False),
)
_WITH_STEPS = (_Detail(41, has_steps=True), _Detail(21, has_steps=True), _Detail(13, has_steps=True))
_DIGITS = 7

_SMALL = 0.1
"""Percent below which pages show two digits of a rate instead of two decimals."""

_WORDS: dict[str, str] = TEXTS["two-class"]["live"]["conditions"]


def condition_data(
    results: Results[Any], colors: Sequence[str], grid: FloatArray, room: int = ROOM
) -> dict[str, Any] | None:
    """What a page knows of its conditions; None if it has none.

    Parameters
    ----------
    results : Results
        Maybe with conditions.
    colors : sequence of str
        Of the systems.
    grid : (n_places,) array
        Log odds at which every system counted errors.
    room : int
        Characters that the numbers of all conditions may take; where they do not fit, those of the smallest conditions
        are left out.

    Returns
    -------
    dict or None
        ``rows`` has for every condition its name, its trials, figures of all systems and, if there are none, why not;
        ``set`` is the place of its numbers among ``sets``, which have the form of that of all trials but with fewer
        points of curves, with counts as steps from place to place of the grid and with intervals in percent. Bands of
        Bayes error rates stand at the ``places`` of the grid alone. ``heavy`` is the weight of the class that is not
        rare, from which scripts make costs; ``about`` says in words what these sets lack.

    Examples
    --------
    >>> import deciban
    >>> frame = {"score": [2.0, 1.0, -1.0, 0.5, 3.0, -2.0], "label": [1, 1, 0, 0, 1, 0], "sex": list("ffmfmm")}
    >>> found = deciban.evaluate(frame, score=["score"], by="sex")
    >>> known = condition_data(found, ["#0072B2"], found.systems[0].at_priors.log_odds)
    >>> [(row["name"], row["figures"]["eer"], row["set"]) for row in known["rows"]]
    [('sex f', [0.0], 0), ('sex m', [0.0], 1)]
    """
    heavy = np.exp(np.abs(grid)).tolist()
    counted = Once(
        lambda systems: [
            (_packed(numbers_at(one, x, grid), one, grid), _packed_intervals(one, grid))
            for one, x in zip(systems, colors, strict=True)
        ]
    )
    steps = Once(lambda systems: [{"exact": exact_data(one, room)} for one in systems])

    def packed(at: int, systems: Sequence[Evaluation], detail: _Detail) -> list[dict[str, Any]]:
        own = grid if detail.has_bands else None
        known = steps.of(at, systems) if detail.has_steps else [dict[str, Any]()] * len(systems)
        return [
            numbers
            | {"interval": ends if detail.has_intervals else {}}
            | exact
            | {"curves": coarse_curves(one, detail.n_places, own, detail.places(grid))}
            for one, (numbers, ends), exact in zip(systems, counted.of(at, systems), known, strict=True)
        ]

    details = (*_WITH_STEPS, *_DETAILS) if _has_room_for_steps(results, room) else _DETAILS
    found = fitted(results, Packing(_FIGURES, details, packed, lambda one: _why_none(one, grid), heavy), room)
    if found is None:
        return None
    is_sure = any(one.uncertainty is not None for one in results.systems)
    about = _about(found.detail) if is_sure else _WORDS["plain"]
    about += "" if found.detail.has_steps else " " + _WORDS["no_steps"]
    places = found.detail.places(grid).tolist()
    return {"rows": found.rows, "sets": found.sets, "heavy": heavy, "places": places, "about": about}


def _has_room_for_steps(results: Results[Any], room: int) -> bool:
    """Return True if scores of all conditions take half of the room at most."""
    found = [one for system in results.conditions for part in system.partitions for one in part.evaluated]
    steps = [one.error_steps for one in found]
    known = [one for one in steps if one is not None and one.is_exact]
    return len(known) == len(steps) and OF_SCORE * sum(len(one.thresholds) for one in known) <= room // 2


def _why_none(one: Evaluation, grid: FloatArray) -> str:
    """Why the page has no numbers of an evaluation; empty if it has."""
    if one.at_priors is None or len(np.setdiff1d(grid, one.at_priors.log_odds)):
        return "errors were not counted at the priors of this page"
    return ""


def room_for(results: Results[Any]) -> int:
    """Characters with which the numbers of all conditions have bands, nearly always."""
    return min(_ROOM_OF_ONE * n_conditions(results) * len(results.systems), ROOM)


def _about(detail: _Detail) -> str:
    """What is to be said of charts and numbers of a condition."""
    if detail.has_bands:
        return _WORDS["plain"]
    return _WORDS["no_bands"] if detail.has_intervals else _WORDS["no_intervals"]


def _packed_intervals(one: Evaluation, grid: FloatArray) -> dict[str, list[str]]:
    """Ends of intervals in percent with the digits that a page shows, where they are known."""
    ends = intervals_at(one, grid)
    return {name: [_held(end) for end in some] for name, some in ends.items() if np.isfinite(some).all()}


def _held(rates: FloatArray) -> str:
    """Rates in percent between commas; nothing where it is that of the place before.

    >>> _held(np.array([0.12344, 0.123441, 0.5, 1.0, 0.0000123456]))
    '12.34,,50,100,0.001235'
    """
    shown = [f"{x:.2f}".rstrip("0").rstrip(".") if x >= _SMALL else f"{x:.4g}" for x in (100.0 * rates).tolist()]
    return ",".join("" if k and one == shown[k - 1] else one for k, one in enumerate(shown))


def _packed(data: dict[str, Any], one: Evaluation, grid: FloatArray) -> dict[str, Any]:
    """Numbers of a system in less room: whole counts as steps, and no costs where counts give them."""
    for name in ("name", "color", "act_dcf"):
        del data[name]
    data["is_weighted"] = one.is_weighted
    data["min_dcf"] = [None if x is None else float(f"{x:.{_DIGITS}g}") for x in data["min_dcf"]]
    if not one.is_weighted:
        least = _least_errors(one, grid, data["min_dcf"])
        if least is not None:
            data["least"] = least
            del data["min_dcf"]
        for name in ("n_miss", "n_fa"):
            data[name] = text_of_steps(np.diff(data[name], prepend=0))
    return data


def _least_errors(one: Evaluation, grid: FloatArray, min_dcf: Sequence[float | None]) -> list[str] | None:
    """Misses and false alarms of the best threshold at every place, as steps; None where these are not known."""
    p_miss, p_fa = one.curves.hull_p_miss, one.curves.hull_p_fa
    if None in min_dcf or not len(p_miss):
        return None
    best = np.argmin(np.outer(expit(grid), p_miss) + np.outer(expit(-grid), p_fa), axis=1)
    counts = [np.rint(rates[best] * n).astype(np.int64) for rates, n in ((p_miss, one.n_tar), (p_fa, one.n_non))]
    costs = detection_cost(counts[0] / one.n_tar, counts[1] / one.n_non, grid, 1.0, 1.0, normalize=True)
    is_same = np.allclose(costs, np.array(min_dcf, np.float64), rtol=3 * 10.0 ** (1 - _DIGITS), atol=0.0)
    return [text_of_steps(np.diff(some, prepend=0)) for some in counts] if is_same else None
