"""The data that the scripts of a page read: numbers at a grid of priors, steps of error counts, and points of curves.

Nothing is computed on the page that changes a figure: it looks up numbers of errors, and adds up their costs.
"""

from __future__ import annotations

import base64
import json
import math
import shlex
import zlib
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
from scipy.special import expit, ndtr

from deciban.analysis.comparison import Pair, cells_of, label_of, p_value_written
from deciban.core.ranks.hull import Rocch
from deciban.evaluation import Evaluation, presets
from deciban.evaluation.bands import band_of, consistency_of, hull_bands, rate_intervals
from deciban.evaluation.conditions import Condition
from deciban.evaluation.curves import ErrorSteps, grid_of_thresholds
from deciban.evaluation.results import Results
from deciban.plots.calibration import MOST_WITH_BANDS
from deciban.report.blocks import about_differences, comparison_of
from deciban.report.numbers import MINUS
from deciban.report.tables import TEXTS, Page, capitalize_first
from deciban.types import FloatArray, IntArray

EXACT_ROOM = 500_000
"""Characters that steps of errors of all systems may take."""

UNIT = 2.0**-26
"""Nats to which scores are told apart on the page."""

OF_SCORE, _OF_THRESHOLD = 6, 8
"""Characters that a score and a threshold of a grid take, about."""


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
        ``steps`` has the changes of misses and of false alarms from threshold to threshold. Of scores, ``places`` are
        their distances from the score before, in units of 2^-26 nats; a grid has its ``first`` threshold and its
        ``width``. ``hull`` has steps of misses and of false alarms from vertex to vertex.

    Examples
    --------
    >>> from deciban import evaluate
    >>> exact_data(evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0]))["steps"]["misses"]
    [0, 0, 1, 2]
    """
    steps = one.error_steps
    if steps is None:
        return None
    if steps.is_exact and OF_SCORE * len(steps.thresholds) > room:
        steps = _on_grid(steps)
    if not steps.is_exact:
        steps = steps.thinned(max(1, -(-_OF_THRESHOLD * len(steps.thresholds) // room)))
    return {"steps": _steps(steps), "reach": steps.reach, "hull": _hull(one)}


def _on_grid(steps: ErrorSteps) -> ErrorSteps:
    """Errors at thresholds of a grid, from those at all scores."""
    at = grid_of_thresholds()
    place = np.searchsorted(steps.thresholds, at)
    return ErrorSteps(at[:-1], steps.n_miss[place], steps.n_fa[place], is_exact=False)


def _steps(steps: ErrorSteps) -> dict[str, Any]:
    found: dict[str, Any] = {"n_miss": steps.n_miss[0].item(), "n_fa": steps.n_fa[0].item()}
    found |= {"misses": _changes(steps.n_miss), "false_alarms": _changes(steps.n_fa)}
    if steps.is_exact:
        places = np.floor(steps.thresholds / UNIT).astype(np.int64)
        return {**found, "places": np.diff(places, prepend=0).tolist()}
    return {**found, "first": float(steps.thresholds[0]), "width": float(steps.thresholds[1] - steps.thresholds[0])}


def _changes(counts: Any) -> list[Any]:
    """From place to place; sums of weights to twelve digits."""
    changes = np.diff(counts)
    return changes.tolist() if changes.dtype.kind == "i" else _short(changes, 12)


def _hull(one: Evaluation) -> dict[str, Any] | None:
    """Vertices of the convex hull as steps; None where the minimum is not known."""
    at = one.at_priors
    if at is None or not np.isfinite(at.min_dcf).all():
        return None
    rocch = Rocch.of(one.curves.pav)
    misses, false_alarms = (_changes(np.append(0, counts)) for counts in (rocch.n_miss, rocch.n_fa))
    return {"misses": misses, "false_alarms": false_alarms}


ROOM = 1_200_000
"""Characters that the numbers of all conditions may take on a page."""


def fitted(
    results: Results[Any],
    figures: Sequence[str],
    details: Sequence[Any],
    numbers: Callable[[Sequence[Any], Any], list[dict[str, Any]]],
    room: int,
    *,
    why_none: Callable[[Any], str] = lambda _one: "",
) -> tuple[dict[str, Any], Any] | None:
    """Rows of all conditions, and numbers of as many as there is room for; None where there are no conditions.

    Parameters
    ----------
    results : Results
        Maybe with conditions.
    figures : sequence of str
        Attributes of evaluations for the map of conditions.
    details : sequence
        How much is told of every condition: the first one that leaves room for all of them is taken.
    numbers : callable
        Numbers of the systems of a condition, from its evaluations and a detail.
    room : int
        Characters; where not all fit, those of the smallest conditions are left out.
    why_none : callable
        Why an evaluation has no such numbers; empty if it has.

    Returns
    -------
    (dict, object) or None
        ``rows`` and ``sets``, and the detail. A row has the name of the condition, its trials, figures of all systems
        and, if there are none, why not; ``set`` is the place of its numbers among the sets.
    """
    rows = list[tuple[dict[str, Any], list[Any]]]()
    for k, part in enumerate(results.conditions[0].partitions if results.conditions else ()):
        for same in zip(*(one.partitions[k].conditions for one in results.conditions), strict=True):
            found = [one.found for one in same]
            reasons = [one.why_none if one.found is None else why_none(one.found) for one in same]
            row = {
                "name": same[0].name,
                "by": part.title,
                "trials": dict(same[0].trials),
                "where": _where(same[0], part.title, part.columns),
                "why_none": next(filter(None, reasons), ""),
                "figures": {name: [finite(getattr(one, name, None)) for one in found] for name in figures},
                "set": None,
            }
            rows.append((row, found))
    if not rows:
        return None
    shown = sorted((one for one in rows if not one[0]["why_none"]), key=lambda one: -sum(one[0]["trials"].values()))
    left = room - len(as_script_data([row for row, _ in rows]))
    sets, detail = list[dict[str, Any]](), details[0]
    for detail in details:
        sets = _fitting([found for _, found in shown], numbers, detail, left)
        if len(sets) == len(shown):
            break
    for k, (row, _) in enumerate(shown[: len(sets)]):
        row["set"] = k
    return {"rows": [row for row, _ in rows], "sets": sets}, detail


def _fitting(
    conditions: Sequence[Sequence[Any]],
    numbers: Callable[[Sequence[Any], Any], list[dict[str, Any]]],
    detail: Any,
    room: int,
) -> list[dict[str, Any]]:
    """Numbers of the first conditions, as many as there is room for."""
    sets = list[dict[str, Any]]()
    for systems in conditions:
        made = numbers(systems, detail)
        room -= len(as_script_data(made))
        if room < 0:
            break
        sets.append({"systems": made})
    return sets


def n_conditions(results: Results[Any]) -> int:
    """How many conditions there are, with figures or without."""
    return sum(len(part.conditions) for part in results.conditions[0].partitions) if results.conditions else 0


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


_MOST = 10
"""Of more systems, each is compared with the first one alone."""


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
    found = comparison_of(results, None, most=_MOST)
    if found is None:
        return None
    places = {one.name: k for k, one in enumerate(found.systems)}
    return {
        "caption": about_differences(found),
        "pairs": [_pair(one, [places[name] for name in one.names]) for one in found.pairs],
    }


def _pair(pair: Pair, of: list[int]) -> dict[str, Any]:
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
            "x": _short(np.asarray(one.log_odds), 4),
            **{name: _short(np.asarray(getattr(one, name)), 4) for name in ("difference", "low", "high")},
        }
        for one in pair.curves
    ]
    return {"of": of, "rows": rows, "sentences": [_sentence(x, pair.names) for x in pair.sentences], "curves": curves}


def _sentence(words: str, names: Sequence[str]) -> str:
    """Words that begin with a capital letter, unless that would change a name."""
    return f"{words if words.startswith(tuple(names)) else capitalize_first(words)}."


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
    curve, band = one.curves.reliability, consistency_of(one) if has_band else None
    found = {"prior": curve.prior[0], "happened": _short(curve.happened, 4), "failed": _short(curve.failed, 4)}
    if band is None:
        return {**found, "band": None}
    ends = {"x": _short(band.posterior, 4), "low": _short(band.low, 4), "high": _short(band.high, 4)}
    return {**found, "band": {**ends, "noun": band.noun}}


FORM = 2
"""Version of the form of these data."""

_PLACES, _FEWER_PLACES = 251, 41
"""At which corners of curves, and levels of scores, are kept; of conditions."""

_COST_DIGITS = 9
"""Of costs, of which a page shows three decimals."""


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
    >>> from deciban.report.tables import Page
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
    found = [system_data(one, color, grid, room, is_few=is_few) for one, color in zip(systems, colors, strict=True)]
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


def as_script_data(data: Any) -> str:
    """JSON, compressed and in base64: text that no page takes for a tag, and that scripts read (``data.js``).

    Examples
    --------
    >>> as_script_data({"a": 1})
    'eJyrVkpUsjKsBQAIKgIJ'
    """
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(zlib.compress(text.encode())).decode("ascii")


def system_data(
    one: Evaluation,
    color: str,
    grid: FloatArray,
    room: int = EXACT_ROOM,
    *,
    n_places: int = _PLACES,
    has_bands: bool = True,
    is_few: bool = False,
) -> dict[str, Any]:
    """The numbers of one system at the priors of a grid, its curves, and its errors at any prior.

    Parameters
    ----------
    one : Evaluation
    color : str
        Hexadecimal code.
    grid : (n_places,) array
        Log odds that are among those of `AtPriors`.
    room : int
        Characters that errors at any prior may take.
    n_places : int
        As many corners of curves, and levels of scores, are kept.
    has_bands : bool
        Whether curves have their bands, and error rates at priors their intervals.
    is_few : bool
        Whether it is one of so few that reliability has its band.
    """
    at = one.at_priors
    assert at is not None  # noqa: S101  # as who calls this has seen
    rows = np.searchsorted(at.log_odds, grid)
    ends = rate_intervals(one) if has_bands else {}
    return {
        "name": plain(one.name),
        "color": color,
        "n_tar": one.n_tar,
        "n_non": one.n_non,
        "eer": None if math.isnan(one.eer) else one.eer,
        "dr30": [x if math.isfinite(x) else None for x in one.dr30],
        "n_miss": at.n_miss[rows].tolist(),
        "n_fa": at.n_fa[rows].tolist(),
        "act_dcf": _short(at.act_dcf[rows], _COST_DIGITS),
        "min_dcf": _short(at.min_dcf[rows], _COST_DIGITS),
        "interval": {name: [_short(end[rows]) for end in some] for name, some in ends.items()},
        "curves": _curves(one, grid, n_places, has_bands=has_bands, is_few=is_few),
        "exact": exact_data(one, room),
    }


def plain(name: str) -> str:
    """A name without the half characters that file names may have."""
    return name.encode("utf-8", "replace").decode("utf-8")


def _short(values: FloatArray, digits: int = 5) -> list[float | None]:
    """Numbers with so many digits, as pictures need; None for what is not finite."""
    return [float(f"{x:.{digits}g}") if math.isfinite(x) else None for x in values.tolist()]


def _curves(one: Evaluation, grid: FloatArray, n_places: int, *, has_bands: bool, is_few: bool) -> dict[str, Any]:
    curves, rates, found = one.curves, ndtr(np.linspace(-5.0, 5.0, n_places)), dict[str, Any]()

    def band(name: str, values: FloatArray, at: Any = slice(None)) -> list[list[float | None]] | None:
        ends = band_of(one, name, values) if has_bands else None
        return None if ends is None else [_short(end[at], 4) for end in ends]

    kept = _kept(curves.roc_p_fa, curves.roc_p_miss, rates)
    found["det"] = {"x": _short(curves.roc_p_fa[kept]), "y": _short(curves.roc_p_miss[kept])}
    kept = _kept(curves.hull_p_fa, curves.hull_p_miss, rates)
    found["hull"] = {"x": _short(curves.hull_p_fa[kept]), "y": _short(curves.hull_p_miss[kept])}
    sides = hull_bands(one) if has_bands else None
    if sides is not None:
        found["hull"]["band"] = [[_short(end[kept], 4) for end in side] for side in sides]
    for name in ("act_error", "min_error"):
        ends = band_of(one, name, getattr(curves, name)) if has_bands else None
        if ends is not None:
            found[name] = [_short(np.interp(grid, curves.prior_log_odds, end), 4) for end in ends]
    some = _spread(len(curves.entropy_log_odds), n_places)
    found["entropy"] = {"x": _short(curves.entropy_log_odds[some])}
    for name in ("act_cross_entropy", "min_cross_entropy"):
        values = getattr(curves, name)
        found["entropy"] |= {name: _short(values[some]), f"{name}_band": band(name, values, some)}
    found["histogram"] = {"bins": _short(curves.bins, 7)}
    found["histogram"] |= {name: _short(getattr(curves, name), 4) for name in ("tar_density", "non_density")}
    level = slice(None, None, max(1, (len(curves.levels) - 1) // (n_places - 1)))
    n_miss, n_fa = (1.0 - curves.tar_above[level]) * one.n_tar, curves.non_above[level] * one.n_non
    found["levels"] = {
        "x": _short(curves.levels[level], 7),
        "n_miss": _short(n_miss, 9) if one.is_weighted else np.rint(n_miss).astype(np.int64).tolist(),
        "n_fa": _short(n_fa, 9) if one.is_weighted else np.rint(n_fa).astype(np.int64).tolist(),
        "tar_band": band("tar_above", curves.tar_above, level),
        "non_band": band("non_above", curves.non_above, level),
    }
    blocks, block = curves.pav, _spread(len(curves.pav.llr), n_places)
    found["pav"] = {name: _short(getattr(blocks, name)[block], 7) for name in ("low", "high", "llr")}
    found["pav"]["band"] = band("pav", np.clip(blocks.llr, -1e6, 1e6), block)
    found["posteriors"] = posterior_data(one, has_band=is_few)
    return found


def _spread(n: int, most: int) -> IntArray:
    """As many places of n at most, with both ends."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.int64))


def _kept(p_fa: FloatArray, p_miss: FloatArray, rates: FloatArray) -> Any:
    """Positions of the points of a curve that can be told apart on probit axes."""
    last = len(p_fa) - 1
    at = np.concatenate((np.searchsorted(p_miss, rates), last + 1 - np.searchsorted(p_fa[::-1], rates), [0, last]))
    return np.unique(np.clip(np.concatenate((at - 1, at)), 0, last))


_ROOM_OF_ONE, _LEAST_ROOM = 15_000, 2_000
"""Characters for a system in a condition, with bands, mostly; and for its errors at any prior at least."""

_FIGURES = ("eer", "min_cllr", "cllr")
"""Of the map, beside costs at the operating point."""

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
        Characters that the numbers of all conditions may take; where they do not fit, bands and intervals go first,
        then the smallest conditions.

    Returns
    -------
    dict or None
        ``rows`` and ``sets`` as in `fitted`: a set has the form of that of all trials. ``about`` says in words what
        sets lack.

    Examples
    --------
    >>> import deciban
    >>> frame = {"score": [2.0, 1.0, -1.0, 0.5, 3.0, -2.0], "label": [1, 1, 0, 0, 1, 0], "sex": list("ffmfmm")}
    >>> found = deciban.evaluate(frame, score=["score"], by="sex")
    >>> known = condition_data(found, ["#0072B2"], found.systems[0].at_priors.log_odds)
    >>> [(row["name"], row["figures"]["eer"], row["set"]) for row in known["rows"]]
    [('sex f', [0.0], 0), ('sex m', [0.0], 1)]
    """
    of_each = max(room // (2 * len(results.systems) * max(n_conditions(results), 1)), _LEAST_ROOM)

    def numbers(systems: Sequence[Evaluation], has_bands: bool) -> list[dict[str, Any]]:  # noqa: FBT001  # the detail
        return [
            system_data(one, color, grid, of_each, n_places=_FEWER_PLACES, has_bands=has_bands)
            | {"name": plain(of.name)}
            for one, of, color in zip(systems, results.systems, colors, strict=True)
        ]

    is_sure = any(one.uncertainty is not None for one in results.systems)
    known = fitted(
        results, _FIGURES, (True, False) if is_sure else (False,), numbers, room, why_none=lambda x: _why_none(x, grid)
    )
    if known is None:
        return None
    found, has_bands = known
    return {**found, "about": _WORDS["plain" if has_bands or not is_sure else "no_bands"]}


def _why_none(one: Evaluation, grid: FloatArray) -> str:
    """Why the page has no numbers of an evaluation; empty if it has."""
    if one.at_priors is None or len(np.setdiff1d(grid, one.at_priors.log_odds)):
        return "errors were not counted at the priors of this page"
    return ""


def room_for(results: Results[Any]) -> int:
    """Characters with which the numbers of all conditions have bands, nearly always."""
    return min(_ROOM_OF_ONE * n_conditions(results) * len(results.systems), ROOM)
