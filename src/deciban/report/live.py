"""The data that the scripts of a page read: numbers at a grid of priors, steps of error counts, and points of curves.

Nothing is computed on the page that changes a figure: it looks up numbers of errors, and adds up their costs.
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from scipy.special import expit, ndtr

from deciban.analysis.comparison import Pair, caption_of, cells_of, label_of, p_value_written
from deciban.core.ranks.hull import Rocch
from deciban.core.ranks.operating import detection_cost
from deciban.evaluation import Evaluation, presets
from deciban.evaluation.bands import band_of, hull_bands
from deciban.evaluation.conditions import Condition
from deciban.evaluation.curves import REACH, AtPriors, ErrorSteps, grid_of_thresholds, rate_intervals
from deciban.evaluation.reliability import consistency_of
from deciban.evaluation.results import Results
from deciban.plots.calibration import MOST_WITH_BANDS
from deciban.report.content import Differences
from deciban.report.tables import MINUS, capitalize_first
from deciban.types import CountArray, FloatArray, IntArray

if TYPE_CHECKING:
    from deciban.report.content import Page


EXACT_ROOM = 500_000
"""Characters that steps of errors of all systems may take."""

UNIT = 2.0**-26
"""Nats to which scores are told apart on the page."""

OF_SCORE, _OF_THRESHOLD = 6, 8
"""Characters that a score and a threshold of a grid take, about."""

_MOST_VERTICES = 4000


def exact_data(one: Evaluation, room: int = EXACT_ROOM) -> dict[str, Any] | None:
    """What scripts need to count errors of a system at any prior; None where scores were not kept.

    Parameters
    ----------
    one : Evaluation
    room : int
        Characters that may be taken. Where scores of all trials do not fit, there are errors at a grid of thresholds.

    Returns
    -------
    dict or None
        ``steps`` has text between commas. Of scores, an item is the distance from the score before in units of 2^-26
        nats, in base 36, and what happens there: nothing follows where one non-target lies there, a minus sign where it
        is one target, or numbers of targets and of non-targets behind colons. Of a grid there are steps of misses and
        of false alarms, from threshold to threshold. ``hull`` has steps of misses and of false alarms from vertex to
        vertex, and by how much a normalized cost can be too high where vertices are left out.

    Examples
    --------
    >>> from deciban import evaluate
    >>> exact_data(evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0]))["steps"]["items"]
    '-13ydj4,13ydj4,13ydj4:1:1,13ydj4:2:0'
    """
    steps = one.error_steps
    if steps is None:
        return None
    if steps.is_exact and OF_SCORE * len(steps.thresholds) > room:
        steps = _on_grid(steps)
    if not steps.is_exact:
        steps = steps.thinned(max(1, -(-_OF_THRESHOLD * len(steps.thresholds) // room)))
    return {"steps": _packed(steps), "reach": steps.reach, "hull": _hull(one)}


def _on_grid(steps: ErrorSteps) -> ErrorSteps:
    """Errors at thresholds of a grid, from those at all scores."""
    at = grid_of_thresholds()
    place = np.searchsorted(steps.thresholds, at)
    return ErrorSteps(at[:-1], steps.n_miss[place], steps.n_fa[place], is_exact=False)


def _packed(steps: ErrorSteps) -> dict[str, Any]:
    start = {"n_miss": steps.n_miss[0].item(), "n_fa": steps.n_fa[0].item()}
    if steps.is_exact:
        return {**start, "items": ",".join(_items(steps))}
    width = float(steps.thresholds[1] - steps.thresholds[0])
    changes = {"misses": text_of_steps(np.diff(steps.n_miss)), "false_alarms": text_of_steps(np.diff(steps.n_fa))}
    return {**start, "first": float(steps.thresholds[0]), "width": width, **changes}


def _items(steps: ErrorSteps) -> Iterator[str]:
    places = np.floor(steps.thresholds / UNIT).astype(np.int64)
    distances = np.diff(places, prepend=0).tolist()
    for distance, tar, non in zip(
        distances, np.diff(steps.n_miss).tolist(), (-np.diff(steps.n_fa)).tolist(), strict=True
    ):
        what = "" if (tar, non) == (0, 1) else "-" if (tar, non) == (1, 0) else f":{_step_text(tar)}:{_step_text(non)}"
        yield ("-" if distance < 0 else "") + np.base_repr(abs(distance), 36).lower() + what


def text_of_steps(changes: CountArray) -> str:
    """Changes of counts between commas; nothing for 0.

    >>> text_of_steps(np.array([7, 0, -2]))
    '7,,-2'
    """
    return ",".join(_step_text(step) if step else "" for step in changes.tolist())


def _step_text(change: float) -> str:
    return f"{change:.12g}"


def _hull(one: Evaluation) -> dict[str, Any] | None:
    """Vertices of the convex hull as steps; None where the minimum is not known."""
    at = one.at_priors
    if at is None or not np.isfinite(at.min_dcf).all():
        return None
    rocch = Rocch.of(one.curves.pav)
    kept, excess = _vertices(rocch, _MOST_VERTICES)
    return {
        "misses": text_of_steps(np.diff(rocch.n_miss[kept], prepend=0)),
        "false_alarms": text_of_steps(np.diff(rocch.n_fa[kept], prepend=0)),
        "excess": excess,
    }


def _vertices(rocch: Rocch, most: int) -> tuple[Any, float]:
    """Return the vertices to keep, and by how much the least cost among them can exceed that among all."""
    if len(rocch.n_fa) <= most:
        return slice(None), 0.0
    ends = [0, len(rocch.n_fa) - 1]
    kept = np.unique(np.append(rocch.best_vertices(np.linspace(-REACH, REACH, most - 2)), ends))
    p_miss, p_fa = rocch.p_miss[kept], rocch.p_fa[kept]
    # Both least costs are straight between these priors: they differ most at one of them.
    with np.errstate(divide="ignore"):
        slopes = np.log(np.diff(p_miss)) - np.log(-np.diff(p_fa))
    log_odds = np.unique(np.concatenate((-rocch.llr, -slopes, [0.0])))
    log_odds = log_odds[np.abs(log_odds) <= REACH]
    best = np.searchsorted(slopes, -log_odds)
    found = detection_cost(p_miss[best], p_fa[best], log_odds, 1.0, 1.0, normalize=True)
    return kept, _excess(found, np.asarray(rocch.min_dcf(prior_log_odds=log_odds)))


def _excess(found: FloatArray, least: FloatArray) -> float:
    return float(f"{max(float((found - least).max()), 0.0):.2g}")


ROOM = 1_200_000
"""Characters that the numbers of all conditions may take on a page."""

Detail = TypeVar("Detail")
"""How much is told of every condition."""


@dataclass(frozen=True, slots=True)
class Packing(Generic[Detail]):
    """How numbers of conditions are written for a kind of results.

    Attributes
    ----------
    figures : sequence of str
        Attributes of evaluations for the map of conditions.
    details : sequence
        The first one that leaves room for every condition is taken.
    packed : callable
        Numbers of the systems of a condition: from its place among those with figures, its evaluations and a detail.
    why_none : callable
        Why an evaluation has no such numbers; empty if it has.
    shared : object
        What stands beside the numbers of all conditions, and takes room.
    """

    figures: Sequence[str]
    details: Sequence[Detail]
    packed: Callable[[int, Sequence[Any], Detail], list[dict[str, Any]]]
    why_none: Callable[[Any], str]
    shared: Any = None


@dataclass(frozen=True, slots=True)
class Fitted(Generic[Detail]):
    """Rows of all conditions, numbers of as many as there is room for, and how much is told of them."""

    rows: list[dict[str, Any]]
    sets: list[dict[str, Any]]
    detail: Detail


def fitted(results: Results[Any], packing: Packing[Detail], room: int) -> Fitted[Detail] | None:
    """Rows of all conditions, and numbers of as many as there is room for; None where there are no conditions.

    Parameters
    ----------
    results : Results
        Maybe with conditions.
    packing : Packing
    room : int
        Characters; where not all fit, those of the smallest conditions are left out.

    Returns
    -------
    Fitted or None
        A row has the name of the condition, its trials, figures of all systems and, if there are none, why not; ``set``
        is the place of its numbers among the sets.
    """
    rows = list(_rows(results, packing))
    if not rows:
        return None
    room -= len(json.dumps([[row for row, _ in rows], packing.shared]))
    with_numbers = [(row, found) for row, found in rows if not row["why_none"]]
    with_numbers.sort(key=lambda one: -sum(one[0]["trials"].values()))
    sets, detail = list[dict[str, Any]](), packing.details[0]
    for detail in packing.details:
        sets = _fitting([found for _, found in with_numbers], packing, detail, room)
        if len(sets) == len(with_numbers):
            break
    for k, (row, _) in enumerate(with_numbers[: len(sets)]):
        row["set"] = k
    return Fitted([row for row, _ in rows], sets, detail)


def n_conditions(results: Results[Any]) -> int:
    """How many conditions there are, with figures or without."""
    return sum(len(part.conditions) for part in results.conditions[0].partitions) if results.conditions else 0


def _fitting(
    found: Sequence[Sequence[Any]], packing: Packing[Detail], detail: Detail, room: int
) -> list[dict[str, Any]]:
    """Numbers of the first conditions, as many as there is room for."""
    sets = list[dict[str, Any]]()
    for at, systems in enumerate(found):
        made = packing.packed(at, systems, detail)
        room -= len(json.dumps(made, separators=(",", ":")))
        if room < 0:
            break
        sets.append({"systems": made})
    return sets


def _rows(results: Results[Any], packing: Packing[Any]) -> Iterator[tuple[dict[str, Any], list[Any]]]:
    """Every condition with the evaluations of all systems there."""
    systems = results.conditions
    for k, part in enumerate(systems[0].partitions if systems else ()):
        for same in zip(*(one.partitions[k].conditions for one in systems), strict=True):
            found = [one.found for one in same]
            row = {
                "name": same[0].name,
                "by": part.title,
                "trials": dict(same[0].trials),
                "where": _where(same[0], part.title, part.columns),
                "why_none": next((why for one in same if (why := _why_none(one, packing))), ""),
                "figures": {name: [finite(getattr(one, name, None)) for one in found] for name in packing.figures},
                "set": None,
            }
            yield row, found


def _why_none(one: Condition, packing: Packing[Any]) -> str:
    """Why a condition cannot be chosen; empty if it can."""
    return one.why_none if one.found is None else packing.why_none(one.found)


def _where(one: Condition, title: str, columns: Sequence[str]) -> list[str] | None:
    """Options that choose these trials; None where no value stands for them, as for bins."""
    values = list(one.values.items())
    is_plain = title == " \N{MULTIPLICATION SIGN} ".join(columns)
    if not is_plain or any(value is None or "|" in value or name not in columns for name, value in values):
        return None
    return [f"{name}={value}" for name, value in values]


def finite(value: float | None) -> float | None:
    """A number; None for one that is infinite or not there.

    >>> finite(0.5), finite(math.inf)
    (0.5, None)
    """
    return None if value is None or not math.isfinite(value) else value


@dataclass(slots=True)
class Once:
    """What is made once for each condition, however many details are tried."""

    make: Callable[[Sequence[Any]], Any]
    known: dict[int, Any] = field(default_factory=dict)

    def of(self, at: int, systems: Sequence[Any]) -> Any:
        """That of a condition, by its place."""
        if at not in self.known:
            self.known[at] = self.make(systems)
        return self.known[at]


_MOST = 10
"""Of more systems, each is compared with the first one alone."""


_FEW = 6
"""Pairs whose curves have all their places; of more, every third one."""


_DIGITS = 4


def pair_data(results: Results[Any]) -> dict[str, Any] | None:
    """Paired differences of every two systems; None where units are not known or there is one system.

    Parameters
    ----------
    results : Results

    Returns
    -------
    dict or None
        ``pairs`` is a list of pairs: the places of both systems, rows of a table, sentences, and curves with bands.

    Examples
    --------
    >>> import deciban
    >>> units = {"tar_units": range(5), "non_units": range(5)}
    >>> tar = ([3, 2, 4, 1.5, 2], [0.5, 2, -1, 1.5, 3])
    >>> some = [deciban.evaluation.evaluate(x, [0, 1, -1, -2, -3], name=n, **units) for x, n in zip(tar, "AB")]
    >>> found = pair_data(deciban.evaluation.Results(tuple(some)))
    >>> found["pairs"][0]["of"], found["pairs"][0]["rows"][0][:3]
    ([0, 1], ['EER (ROCCH) in %', '0.00', '20.00'])
    """
    if len(results.systems) < 2:
        return None
    found = Differences.of(results, None, most=_MOST)
    if found is None:
        return None
    places = {one.name: k for k, one in enumerate(found.comparison.systems)}
    every = 1 if len(found.comparison.pairs) <= _FEW else 3
    return {
        "caption": f"{caption_of(found.comparison)}. Differences are the first system minus the second.",
        "pairs": [_pair(one, [places[name] for name in one.names], every) for one in found.comparison.pairs],
    }


def _pair(pair: Pair, of: list[int], every: int) -> dict[str, Any]:
    rows = []
    for one in pair.figures:
        first, second, difference = cells_of(one)
        bounds = (getattr(difference, name, "") for name in ("estimate", "bracket"))
        estimate, bracket = (text.replace("-", MINUS) for text in bounds)
        rows.append([label_of(one), first, second, estimate, bracket, p_value_written(one.holm)])
    curves = [
        {
            "name": one.curve,
            "about": one.about,
            "x": _short_of_live_pairs(one.log_odds[::every]),
            **{name: _short_of_live_pairs(getattr(one, name)[::every]) for name in ("difference", "low", "high")},
        }
        for one in pair.curves
    ]
    return {"of": of, "rows": rows, "sentences": [_sentence(x, pair.names) for x in pair.sentences], "curves": curves}


def _sentence(words: str, names: Sequence[str]) -> str:
    """Words that begin with a capital letter, unless that would change a name."""
    return f"{words if words.startswith(tuple(names)) else capitalize_first(words)}."


def _short_of_live_pairs(values: Sequence[float] | Any) -> list[float]:
    found = np.asarray(values, np.float64).tolist()
    return [float(f"{x:.{_DIGITS}g}") for x in found]


_DIGITS_OF_LIVE_POSTERIORS, _EVERY = 4, 2
"""Of shares; and of the places of the band one of so many is written."""


def posterior_data(one: Evaluation, *, has_band: bool) -> dict[str, Any]:
    """The prior of the reliability diagram, its histogram, and the band of posteriors that are right.

    Parameters
    ----------
    one : Evaluation
    has_band : bool
        Whether the band is wanted, which is found by resampling.

    Returns
    -------
    dict
        Shares of ``happened`` and ``failed`` are those of bins of equal width over all posteriors.

    Examples
    --------
    >>> from deciban import evaluate
    >>> found = posterior_data(evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0]), has_band=False)
    >>> found["prior"], len(found["happened"]), found["band"]
    (0.5, 40, None)
    """
    curve = one.curves.reliability
    band = consistency_of(one) if has_band else None
    return {
        "prior": curve.prior[0],
        "happened": _shares(curve.happened),
        "failed": _shares(curve.failed),
        "band": None
        if band is None
        else {
            "x": _shares(band.posterior[::_EVERY]),
            "low": _shares(band.low[::_EVERY]),
            "high": _shares(band.high[::_EVERY]),
            "noun": band.noun,
        },
    }


def _shares(values: Any) -> list[float]:
    return [float(f"{x:.{_DIGITS_OF_LIVE_POSTERIORS}g}") for x in values.tolist()]


FORM = 1
"""Version of the form of these data."""


_LINES = ndtr(np.linspace(-5.0, 5.0, 161))
"""Rates at which the corners of a DET curve are kept: closer ones are one pixel."""


_COST_DIGITS = 9
"""Of costs, of which a page shows three decimals."""


_EVERY_LEVEL = 4

_MOST_BLOCKS = 400
"""Of levels of scores one of so many is read, and so many blocks of PAV at most."""


def live_data(page: Page, colors: Sequence[str]) -> dict[str, Any] | None:
    """What the scripts of a page of two classes get; None if its systems know no grid of priors.

    Parameters
    ----------
    page : Page
    colors : sequence of str
        Of the systems, as hexadecimal codes.

    Returns
    -------
    dict or None
        ``sets`` holds a list of systems for each set of trials: the first is that of all trials.

    Examples
    --------
    >>> from deciban import evaluate
    >>> from deciban.evaluation import Results
    >>> from deciban.report.content import Page
    >>> data = live_data(Page(results=Results((evaluate([1.0, 2.0], [0.0]),))), ["#0072B2"])
    >>> data["sets"][0]["systems"][0]["n_tar"], len(data["priors"]) == len(data["log_odds"])
    (2, True)
    """
    systems = page.results.systems
    grids = [one.at_priors.log_odds for one in systems if one.at_priors is not None]
    if len(grids) < len(systems):
        return None
    grid = reduce(np.intersect1d, grids)
    is_few = len(systems) <= MOST_WITH_BANDS
    room = EXACT_ROOM // len(systems)
    found = [
        {**system_data(one, color, grid, is_few=is_few), "exact": exact_data(one, room)}
        for one, color in zip(systems, colors, strict=True)
    ]
    levels = [one.uncertainty.level for one in systems if one.uncertainty is not None]
    return {
        "form": FORM,
        "log_odds": grid.tolist(),
        "priors": _priors(grid),
        "points": _points(systems),
        "command": shlex.join(page.command) if page.command else "deciban eval SCORES --key KEY",
        "level": levels[0] if levels else None,
        "nats": systems[0].axis == "nats",
        "sets": [{"name": "", "systems": found}],
        "figures": {name: [finite(getattr(one, name)) for one in systems] for name in ("eer", "min_cllr", "cllr")},
        "compared": pair_data(page.results),
    }


def _priors(grid: FloatArray) -> list[float]:
    """Priors of the grid, as short as they were before their log odds were taken."""
    short = np.array([float(f"{p:.12g}") for p in expit(-np.abs(grid)).tolist()])
    found: list[float] = np.where(grid <= 0.0, short, 1.0 - short).tolist()
    return found


def as_script_data(data: Any) -> str:
    """JSON that can stand in a page: no text of a user ends the element or opens another one.

    Examples
    --------
    >>> as_script_data({"name": "</script><b>&"})
    '{"name":"\\\\u003c/script\\\\u003e\\\\u003cb\\\\u003e\\\\u0026"}'
    """
    text = json.dumps(data, separators=(",", ":"), allow_nan=False, ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _points(systems: Sequence[Evaluation]) -> list[dict[str, Any]]:
    """Operating points to choose by name: those of the evaluation, then those of the plans of two classes."""
    found: dict[tuple[float, float, float], list[str]] = {}
    for one in systems:
        for point in one.operating_points:
            found.setdefault((point.p_target, point.c_miss, point.c_fa), ["this evaluation"])
    for name, plan in presets().items():
        for own in plan.points if plan.kind == "two-class" else ():
            found.setdefault((own.p_target, own.c_miss, own.c_fa), []).append(name)
    return [
        {"p": p, "c_miss": c_miss, "c_fa": c_fa, "of": ", ".join(names)} for (p, c_miss, c_fa), names in found.items()
    ]


def system_data(one: Evaluation, color: str, grid: FloatArray, *, is_few: bool = False) -> dict[str, Any]:
    """The numbers of one system at the priors of a grid, and its curves.

    Parameters
    ----------
    one : Evaluation
    color : str
        Hexadecimal code.
    grid : (n_places,) array
        Log odds that are among those of `AtPriors`.
    is_few : bool
        Whether it is one of so few that reliability has its band.
    """
    ends = {name: [_short(end) for end in some] for name, some in intervals_at(one, grid).items()}
    return {**numbers_at(one, color, grid), "interval": ends, "curves": _curves(one, grid, is_few=is_few)}


def numbers_at(one: Evaluation, color: str, grid: FloatArray) -> dict[str, Any]:
    """What is counted in a system at the priors of a grid, its costs and its name."""
    at = one.at_priors
    assert isinstance(at, AtPriors)  # noqa: S101  # as who calls this has seen
    rows = np.searchsorted(at.log_odds, grid)
    return {
        "name": one.name.encode("utf-8", "replace").decode("utf-8"),
        "color": color,
        "n_tar": one.n_tar,
        "n_non": one.n_non,
        "eer": None if math.isnan(one.eer) else one.eer,
        "dr30": [x if math.isfinite(x) else None for x in one.dr30],
        "n_miss": at.n_miss[rows].tolist(),
        "n_fa": at.n_fa[rows].tolist(),
        "act_dcf": _short(at.act_dcf[rows], _COST_DIGITS),
        "min_dcf": _short(at.min_dcf[rows], _COST_DIGITS),
    }


def intervals_at(one: Evaluation, grid: FloatArray) -> dict[str, list[FloatArray]]:
    """Lower and upper ends of both error rates at the priors of a grid, where units are known."""
    at = one.at_priors
    rows: Any = [] if at is None else np.searchsorted(at.log_odds, grid)
    return {name: [end[rows] for end in ends] for name, ends in rate_intervals(one).items()}


def _short(values: FloatArray, digits: int = 5) -> list[float | None]:
    """Numbers with so many digits, as pictures need; None for what is not finite."""
    return [float(f"{x:.{digits}g}") if math.isfinite(x) else None for x in values.tolist()]


def _ends(band: tuple[FloatArray, FloatArray] | None, at: Any = slice(None)) -> list[list[float | None]] | None:
    return None if band is None else [_short(end[at], 4) for end in band]


def _curves(one: Evaluation, grid: FloatArray, *, is_few: bool) -> dict[str, Any]:
    curves, found = one.curves, dict[str, Any]()
    kept = _kept(curves.roc_p_fa, curves.roc_p_miss)
    found["det"] = {"x": _short(curves.roc_p_fa[kept]), "y": _short(curves.roc_p_miss[kept])}
    kept = _kept(curves.hull_p_fa, curves.hull_p_miss)
    found["hull"] = {"x": _short(curves.hull_p_fa[kept]), "y": _short(curves.hull_p_miss[kept])}
    bands = hull_bands(one)
    if bands is not None:
        found["hull"]["band"] = [[_short(rates[kept], 4) for rates in side] for side in bands]
    for name in ("act_error", "min_error"):
        band = band_of(one, name, getattr(curves, name))
        if band is not None:
            found[name] = [_short(np.interp(grid, curves.prior_log_odds, end), 4) for end in band]
    found["entropy"] = {"x": _short(curves.entropy_log_odds)}
    for name in ("act_cross_entropy", "min_cross_entropy"):
        values = getattr(curves, name)
        found["entropy"][name] = _short(values)
        found["entropy"][f"{name}_band"] = _ends(band_of(one, name, values))
    found["histogram"] = _histogram(one)
    found["levels"] = _levels(one, _EVERY_LEVEL)
    found["pav"] = _pav(one, _MOST_BLOCKS)
    found["posteriors"] = posterior_data(one, has_band=is_few)
    return found


def coarse_curves(
    one: Evaluation, n_places: int, grid: FloatArray | None = None, at: IntArray | None = None
) -> dict[str, Any]:
    """Curves of a system with few points, and their bands where a grid is given.

    Parameters
    ----------
    one : Evaluation
    n_places : int
        Rates at which the corners of curves are kept; of scores and priors there are as many places.
    grid : (n,) array, optional
        Log odds of the page.
    at : int array, optional
        Places of the grid at which the bands of Bayes error rates are kept.
    """
    curves, rates, has_bands = one.curves, ndtr(np.linspace(-5.0, 5.0, n_places)), grid is not None
    found: dict[str, Any] = {}
    for name in ("roc", "hull"):
        p_fa, p_miss = getattr(curves, f"{name}_p_fa"), getattr(curves, f"{name}_p_miss")
        kept = _kept(p_fa, p_miss, rates)
        found["det" if name == "roc" else name] = {"x": _short(p_fa[kept], 4), "y": _short(p_miss[kept], 4)}
    some = np.unique(np.linspace(0, len(curves.entropy_log_odds) - 1, n_places).astype(int))
    found["entropy"] = {"x": _short(curves.entropy_log_odds[some])}
    for name in ("act_cross_entropy", "min_cross_entropy"):
        found["entropy"][name] = _short(getattr(curves, name)[some], 4)
    found["histogram"] = _histogram(one, 5)
    found["levels"] = _levels(one, max(1, (len(curves.levels) - 1) // (n_places - 1)), has_bands=has_bands)
    found["pav"] = _pav(one, n_places, has_band=has_bands)
    found["posteriors"] = posterior_data(one, has_band=False)
    if grid is not None and at is not None and one.uncertainty is not None:
        _add_bands(found, one, kept, some, grid[at])
    return found


def _add_bands(found: dict[str, Any], one: Evaluation, hull: Any, priors: Any, log_odds: FloatArray) -> None:
    """Put the bands of the hull, of cross-entropies and of Bayes error rates to their curves."""
    bands, curves = hull_bands(one), one.curves
    if bands is not None:
        found["hull"]["band"] = [[_short(rates[hull], 3) for rates in side] for side in bands]
    for name in ("act_cross_entropy", "min_cross_entropy"):
        band = band_of(one, name, getattr(curves, name))
        found["entropy"][f"{name}_band"] = None if band is None else [_short(end[priors], 3) for end in band]
    for name in ("act_error", "min_error"):
        band = band_of(one, name, getattr(curves, name))
        if band is not None:
            found[name] = [_short(np.interp(log_odds, curves.prior_log_odds, end), 3) for end in band]


def _histogram(one: Evaluation, digits: int = 7) -> dict[str, Any]:
    names = ("bins", "tar_density", "non_density")
    return {name: _short(getattr(one.curves, name), digits if name == "bins" else min(digits - 2, 4)) for name in names}


def _kept(p_fa: FloatArray, p_miss: FloatArray, rates: FloatArray = _LINES) -> Any:
    """Positions of the points of a curve that can be told apart on probit axes."""
    last = len(p_fa) - 1
    at = np.concatenate((np.searchsorted(p_miss, rates), last + 1 - np.searchsorted(p_fa[::-1], rates), [0, last]))
    return np.unique(np.clip(np.concatenate((at - 1, at)), 0, last))


def _levels(one: Evaluation, every: int, *, has_bands: bool = True) -> dict[str, Any]:
    """Levels of scores with the errors of a threshold there."""
    curves, some = one.curves, slice(None, None, every)
    n_miss, n_fa = (1.0 - curves.tar_above[some]) * one.n_tar, curves.non_above[some] * one.n_non
    counts = (n_miss, n_fa) if one.is_weighted else (np.rint(n_miss), np.rint(n_fa))
    return {
        "x": _short(curves.levels[some], 7),
        "n_miss": _counted(counts[0], one.is_weighted),
        "n_fa": _counted(counts[1], one.is_weighted),
        "tar_band": _ends(band_of(one, "tar_above", curves.tar_above), some) if has_bands else None,
        "non_band": _ends(band_of(one, "non_above", curves.non_above), some) if has_bands else None,
    }


def _counted(values: FloatArray, is_weighted: bool) -> list[Any]:  # noqa: FBT001  # as evaluations say it
    return _short(values, 9) if is_weighted else values.astype(np.int64).tolist()


def _pav(one: Evaluation, most: int, *, has_band: bool = True) -> dict[str, Any]:
    """Blocks of PAV, and no more of them than a picture shows."""
    blocks, n = one.curves.pav, len(one.curves.pav.llr)
    kept = np.unique(np.linspace(0, n - 1, min(n, most)).astype(int))
    finite = np.clip(blocks.llr, -1e6, 1e6)
    band = band_of(one, "pav", finite) if has_band else None
    return {
        "low": _short(blocks.low[kept], 7),
        "high": _short(blocks.high[kept], 7),
        "llr": _short(blocks.llr[kept]),
        "band": _ends(band, kept),
    }
