"""Data for the scripts of a page: numbers at a grid of priors, steps of error counts, and points of curves.

Scripts do not compute metrics: they look up numbers of errors, and add up their costs.
"""

from __future__ import annotations

import base64
import json
import math
import shlex
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
from scipy.special import expit, ndtr

from deciban.analysis.comparison import Comparison, Pair, cells_of, label_of, p_value_written
from deciban.core.ranks.roc import Rocch
from deciban.errors import not_none
from deciban.evaluation import Evaluation, presets
from deciban.evaluation.bands import band_of, consistency_of, hull_bands, rate_intervals
from deciban.evaluation.breakdowns import Condition
from deciban.evaluation.curves import ErrorSteps, grid_of_thresholds
from deciban.evaluation.results import Results
from deciban.plots.colors import MOST_WITH_BANDS
from deciban.report.cards import MOST_CARDS, about_differences, forest_of
from deciban.report.tables import TEXTS, Page, capitalize_first, level_of
from deciban.tables.writers import MINUS
from deciban.types import AnyArray, FloatArray, IntArray

EXACT_ROOM = 500_000
"""Characters for the steps of errors of all systems."""

UNIT = 2.0**-26
"""Resolution of scores on the page in nats."""

OF_SCORE, _OF_THRESHOLD = 6, 8
"""Approximate characters of a score, and of a threshold of a grid."""


def exact_data(one: Evaluation, room: int = EXACT_ROOM) -> dict[str, Any] | None:
    """Return the data for counting errors of a system at any prior; None if scores were not kept.

    Parameters
    ----------
    one : Evaluation
    room : int
        Maximum number of characters. If scores of all trials do not fit, errors are on a grid of thresholds.

    Returns
    -------
    dict or None
        ``steps`` contains the changes of misses and of false alarms between thresholds. For scores, ``places`` are
        distances from the previous score, in units of 2^-26 nats; a grid has its ``first`` threshold and its ``width``.
        ``hull`` contains steps of misses and of false alarms between vertices.

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
    """Return errors on a grid of thresholds, from errors at all scores."""
    at = grid_of_thresholds()
    place = np.searchsorted(steps.thresholds, at)
    return ErrorSteps(at[:-1], steps.n_miss[place], steps.n_fa[place], is_exact=False)


def _steps(steps: ErrorSteps) -> dict[str, Any]:
    entries: dict[str, Any] = {"n_miss": steps.n_miss[0].item(), "n_fa": steps.n_fa[0].item()}
    entries |= {"misses": _changes(steps.n_miss), "false_alarms": _changes(steps.n_fa)}
    if steps.is_exact:
        places = np.floor(steps.thresholds / UNIT).astype(np.int64)
        return {**entries, "places": np.diff(places, prepend=0).tolist()}
    return {**entries, "first": float(steps.thresholds[0]), "width": float(steps.thresholds[1] - steps.thresholds[0])}


def _changes(counts: AnyArray) -> list[Any]:
    """Return changes between places; sums of weights have twelve digits."""
    changes = np.diff(counts)
    return changes.tolist() if changes.dtype.kind == "i" else short(changes, 12)


def _hull(one: Evaluation) -> dict[str, Any] | None:
    """Return the vertices of the convex hull as steps; None if the minimum is unknown."""
    at = one.at_priors
    if at is None or not np.isfinite(at.min_dcf).all():
        return None
    rocch = Rocch.of(one.curves.pav)
    misses, false_alarms = (_changes(np.append(0, counts)) for counts in (rocch.n_miss, rocch.n_fa))
    return {"misses": misses, "false_alarms": false_alarms}


ROOM = 1_200_000
"""Characters for the numbers of all conditions on a page."""


def fitted(
    results: Results[Any],
    metrics: Sequence[str],
    details: Sequence[Any],
    numbers: Callable[[Sequence[Any], Any], list[dict[str, Any]]],
    room: int,
    *,
    why_none: Callable[[Any], str] = lambda _one: "",
) -> tuple[dict[str, Any], Any] | None:
    """Return rows of all conditions, and numbers of as many as fit; None without conditions.

    Parameters
    ----------
    results : Results
        With or without conditions.
    metrics : sequence of str
        Attributes of evaluations for the map of conditions.
    details : sequence
        Levels of detail, in decreasing order: the first one with which all conditions fit is used.
    numbers : callable
        Returns the numbers of the systems of a condition, from its evaluations and a level of detail.
    room : int
        Characters; if not all conditions fit, the smallest ones are left out.
    why_none : callable
        Returns the reason why an evaluation has no such numbers; empty if it has them.

    Returns
    -------
    (dict, object) or None
        ``rows`` and ``sets``, and the level of detail. A row contains the name of the condition, its trials, and
        metrics of all systems or a reason why there are none; ``set`` is the index of its numbers in the sets.
    """
    rows = list[tuple[dict[str, Any], list[Any]]]()
    for k, part in enumerate(results.conditions[0].partitions if results.conditions else ()):
        for same in zip(*(one.partitions[k].conditions for one in results.conditions), strict=True):
            items = [one.evaluation for one in same]
            reasons = [one.why_none if one.evaluation is None else why_none(one.evaluation) for one in same]
            row = _row(same[0].name, part.title, same[0].trials, items, metrics, next(filter(None, reasons), ""))
            rows.append((row | {"where": _where(same[0], part.title, part.columns)}, items))
    if not rows:
        return None
    shown = sorted((one for one in rows if not one[0]["why_none"]), key=lambda one: -sum(one[0]["trials"].values()))
    for_sets = room - len(as_script_data([row for row, _ in rows]))
    sets, detail = list[dict[str, Any]](), details[0]
    for detail in details:
        sets, left = [], for_sets
        for _, systems in shown:
            result = numbers(systems, detail)
            left -= len(as_script_data(result))
            if left < 0:
                break
            sets.append({"systems": result})
        if len(sets) == len(shown):
            break
    for k, (row, _) in enumerate(shown[: len(sets)]):
        row["set"] = k
    return {"rows": [row for row, _ in rows], "sets": sets}, detail


def _row(
    name: str, by: str, trials: Mapping[str, Any], systems: Sequence[Any], metrics: Sequence[str], why_none: str
) -> dict[str, Any]:
    """Return a row of the map of conditions, without options that select its trials and without numbers."""
    about = {"name": name, "by": by, "trials": dict(trials), "where": None, "why_none": why_none}
    values = {metric: [finite(getattr(one, metric, None)) for one in systems] for metric in metrics}
    return {**about, "figures": values, "set": None}


def n_conditions(results: Results[Any]) -> int:
    """Return the number of conditions, with or without metrics."""
    return sum(len(part.conditions) for part in results.conditions[0].partitions) if results.conditions else 0


def _where(one: Condition, title: str, columns: Sequence[str]) -> list[str] | None:
    """Return options that select these trials; None if this is impossible, as for bins."""
    values = list(one.values.items())
    is_plain = title == " \N{MULTIPLICATION SIGN} ".join(columns)
    if not is_plain or any(value is None or "|" in value or name not in columns for name, value in values):
        return None
    return [f"{name}={value}" for name, value in values]


def finite(value: float | None) -> float | None:
    """Return a finite number, or None.

    >>> finite(0.5), finite(math.inf)
    (0.5, None)
    """
    return None if value is None or not math.isfinite(value) else value


def pair_data(results: Results[Any], comparison: Comparison | None) -> dict[str, Any] | None:
    """Return paired differences of every two systems; None if units are unknown or there is only one system.

    Parameters
    ----------
    results : Results
    comparison : Comparison or None

    Returns
    -------
    dict or None
        ``pairs`` is a list: indices of both systems, rows of a table, sentences, and curves with bands.

    Examples
    --------
    >>> import deciban
    >>> from deciban.report.cards import comparison_of
    >>> units = {"tar_units": range(5), "non_units": range(5)}
    >>> tar = ([3, 2, 4, 1.5, 2], [0.5, 2, -1, 1.5, 3])
    >>> some = [deciban.evaluation.evaluate(x, [0, 1, -1, -2, -3], name=n, **units) for x, n in zip(tar, "AB")]
    >>> both = deciban.evaluation.Results(tuple(some))
    >>> found = pair_data(both, comparison_of(both, None))
    >>> found["pairs"][0]["of"], found["pairs"][0]["rows"][0][:3]
    ([0, 1], ['EER (ROCCH) in %', '0.00', '20.00'])
    """
    if len(results.systems) < 2 or comparison is None:
        return None
    places = {one.name: k for k, one in enumerate(comparison.systems)}
    return {
        "caption": about_differences(comparison),
        "pairs": [_pair(one, [places[name] for name in one.names]) for one in comparison.pairs],
    }


def _pair(pair: Pair, of: list[int]) -> dict[str, Any]:
    rows = []
    for one in pair.metrics:
        first, second, difference = cells_of(one)
        bounds = (getattr(difference, name, "") for name in ("estimate", "bracket"))
        estimate, bracket = (text.replace("-", MINUS) for text in bounds)
        rows.append([label_of(one), first, second, estimate, bracket, p_value_written(one.holm)])
    curves = [
        {
            "name": one.curve,
            "about": one.about,
            "x": short(np.asarray(one.log_odds), 4),
            **{name: short(np.asarray(getattr(one, name)), 4) for name in ("difference", "low", "high")},
        }
        for one in pair.curves
    ]
    return {"of": of, "rows": rows, "sentences": [_sentence(x, pair.names) for x in pair.sentences], "curves": curves}


def _sentence(words: str, names: Sequence[str]) -> str:
    """Capitalize a sentence unless it begins with a name."""
    return f"{words if words.startswith(tuple(names)) else capitalize_first(words)}."


def posterior_data(one: Evaluation, *, has_band: bool) -> dict[str, Any]:
    """Return the prior of the reliability diagram, its histogram, and the band under correct posteriors.

    Parameters
    ----------
    one : Evaluation
    has_band : bool
        Compute the band, which needs resampling.

    Returns
    -------
    dict
        ``happened`` and ``failed`` are shares of all posteriors in bins of equal width.

    Examples
    --------
    >>> from deciban import evaluate
    >>> found = posterior_data(evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0]), has_band=False)
    >>> found["prior"], len(found["happened"]), found["band"]
    (0.5, 40, None)
    """
    curve, band = one.curves.reliability, consistency_of(one) if has_band else None
    entries = {"prior": curve.prior[0], "happened": short(curve.happened, 4), "failed": short(curve.failed, 4)}
    if band is None:
        return {**entries, "band": None}
    ends = {"x": short(band.posterior, 4), "low": short(band.low, 4), "high": short(band.high, 4)}
    return {**entries, "band": {**ends, "noun": band.noun}}


FORM = 2
"""Version of the data format."""

_PLACES, _FEWER_PLACES = 251, 41
"""Number of corners of curves and levels of scores; for conditions, fewer."""

_COST_DIGITS = 9
"""Digits of costs, of which a page shows three decimals."""


def live_data(page: Page, colors: Sequence[str], compared: Comparison | None = None) -> dict[str, Any] | None:
    """Return the data for the scripts of a two-class page; None if a system has no grid of priors.

    Parameters
    ----------
    page : Page
    colors : sequence of str
        Colours of the systems, as hexadecimal codes.
    compared : Comparison, optional
        Every two of the systems.

    Returns
    -------
    dict or None
        ``sets`` contains a list of systems for each set of trials; the first set has all trials.

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
    items = [system_data(one, color, grid, room, is_few=is_few) for one, color in zip(systems, colors, strict=True)]
    return {
        "form": FORM,
        "log_odds": grid.tolist(),
        "priors": _priors(grid),
        "points": _points(systems),
        "command": shlex.join(page.command) if page.command else "deciban eval SCORES --key KEY",
        "level": level_of(systems),
        "nats": systems[0].axis == "nats",
        "eer": "EER" if page.spoofing is None else "EER (ROCCH)",  # a protocol has its own EER
        "sets": [{"name": "", "systems": items}],
        "figures": {name: [finite(getattr(one, name)) for one in systems] for name in ("eer", "min_cllr", "cllr")},
        "forest": forest_of(systems) if len(systems) > MOST_CARDS else None,
        "compared": pair_data(page.results, compared),
    }


def _priors(grid: FloatArray) -> list[float]:
    """Return the priors of the grid, without rounding errors of the log odds."""
    written = np.array([float(f"{p:.12g}") for p in expit(-np.abs(grid)).tolist()])
    return list(np.where(grid <= 0.0, written, 1.0 - written).tolist())


def _points(systems: Sequence[Evaluation]) -> list[dict[str, Any]]:
    """Return named operating points: those of the evaluation, then those of two-class plans."""
    entries: dict[tuple[float, float, float], list[str]] = {}
    for one in systems:
        for point in one.operating_points:
            entries.setdefault((point.p_target, point.c_miss, point.c_fa), ["this evaluation"])
    for name, plan in presets().items():
        for own in plan.points if plan.kind == "two-class" else ():
            entries.setdefault((own.p_target, own.c_miss, own.c_fa), []).append(name)
    return [
        {"p": p, "c_miss": c_miss, "c_fa": c_fa, "of": ", ".join(names)} for (p, c_miss, c_fa), names in entries.items()
    ]


def as_script_data(data: object) -> str:
    """Return compressed JSON in base64, which cannot be mistaken for tags; ``data.js`` reads it.

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
    """Return the numbers of one system at a grid of priors, its curves, and its errors at any prior.

    Parameters
    ----------
    one : Evaluation
    color : str
        Hexadecimal code.
    grid : (n_places,) array
        Log odds that are contained in `AtPriors`.
    room : int
        Characters for errors at any prior.
    n_places : int
        Number of corners of curves, and of levels of scores.
    has_bands : bool
        Include bands of curves, and intervals of error rates at priors.
    is_few : bool
        Include the band of reliability, which needs few systems.
    """
    at = not_none(one.at_priors, "at_priors")
    rows = np.searchsorted(at.log_odds, grid)
    ends = rate_intervals(one) if has_bands else {}
    return {
        "name": plain(one.name),
        "color": color,
        "n_tar": one.n_tar,
        "n_non": one.n_non,
        "eer": None if math.isnan(one.eer) else one.eer,
        "dr30": list(map(finite, one.dr30)),
        "n_miss": at.n_miss[rows].tolist(),
        "n_fa": at.n_fa[rows].tolist(),
        "act_dcf": short(at.act_dcf[rows], _COST_DIGITS),
        "min_dcf": short(at.min_dcf[rows], _COST_DIGITS),
        "interval": {name: [short(end[rows]) for end in some] for name, some in ends.items()},
        "curves": _curves(one, grid, n_places, has_bands=has_bands, is_few=is_few),
        "exact": exact_data(one, room),
    }


def plain(name: str) -> str:
    """Return a name with lone surrogates replaced, which file names can contain."""
    return name.encode("utf-8", "replace").decode("utf-8")


def short(values: FloatArray, digits: int = 5) -> list[float | None]:
    """Return numbers with ``digits`` digits; None for infinite numbers and NaN."""
    return [float(f"{x:.{digits}g}") if math.isfinite(x) else None for x in values.tolist()]


def _curves(one: Evaluation, grid: FloatArray, n_places: int, *, has_bands: bool, is_few: bool) -> dict[str, Any]:
    curves, rates, entries = one.curves, ndtr(np.linspace(-5.0, 5.0, n_places)), dict[str, Any]()

    def band(name: str, values: FloatArray, at: slice | IntArray = slice(None)) -> list[list[float | None]] | None:
        ends = band_of(one, name, values) if has_bands else None
        return None if ends is None else [short(end[at], 4) for end in ends]

    kept = _kept(curves.roc_p_fa, curves.roc_p_miss, rates)
    entries["det"] = {"x": short(curves.roc_p_fa[kept]), "y": short(curves.roc_p_miss[kept])}
    kept = _kept(curves.hull_p_fa, curves.hull_p_miss, rates)
    entries["hull"] = {"x": short(curves.hull_p_fa[kept]), "y": short(curves.hull_p_miss[kept])}
    sides = hull_bands(one) if has_bands else None
    if sides is not None:
        entries["hull"]["band"] = [[short(end[kept], 4) for end in side] for side in sides]
    for name in ("act_error", "min_error"):
        ends = band_of(one, name, getattr(curves, name)) if has_bands else None
        if ends is not None:
            entries[name] = [short(np.interp(grid, curves.prior_log_odds, end), 4) for end in ends]
    some = spread(len(curves.entropy_log_odds), n_places)
    entries["entropy"] = {"x": short(curves.entropy_log_odds[some])}
    for name in ("act_cross_entropy", "min_cross_entropy"):
        values = getattr(curves, name)
        entries["entropy"] |= {name: short(values[some]), f"{name}_band": band(name, values, some)}
    entries["histogram"] = {"bins": short(curves.bins, 7)}
    entries["histogram"] |= {name: short(getattr(curves, name), 4) for name in ("tar_density", "non_density")}
    level = slice(None, None, max(1, (len(curves.levels) - 1) // (n_places - 1)))
    n_miss, n_fa = (1.0 - curves.tar_above[level]) * one.n_tar, curves.non_above[level] * one.n_non
    entries["levels"] = {
        "x": short(curves.levels[level], 7),
        "n_miss": short(n_miss, 9) if one.is_weighted else np.rint(n_miss).astype(np.int64).tolist(),
        "n_fa": short(n_fa, 9) if one.is_weighted else np.rint(n_fa).astype(np.int64).tolist(),
        "tar_band": band("tar_above", curves.tar_above, level),
        "non_band": band("non_above", curves.non_above, level),
    }
    blocks, block = curves.pav, spread(len(curves.pav.llr), n_places)
    entries["pav"] = {name: short(getattr(blocks, name)[block], 7) for name in ("low", "high", "llr")}
    entries["pav"]["band"] = band("pav", np.clip(blocks.llr, -1e6, 1e6), block)
    entries["posteriors"] = posterior_data(one, has_band=is_few)
    return entries


def spread(n: int, most: int) -> IntArray:
    """Return at most ``most`` indices out of n, including both ends."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.int64))


def _kept(p_fa: FloatArray, p_miss: FloatArray, rates: FloatArray) -> IntArray:
    """Return indices of the points of a curve that can be distinguished on probit axes."""
    last = len(p_fa) - 1
    at = np.concatenate((np.searchsorted(p_miss, rates), last + 1 - np.searchsorted(p_fa[::-1], rates), [0, last]))
    return np.unique(np.clip(np.concatenate((at - 1, at)), 0, last))


_LEAST_ROOM = 2_000
"""Least characters for the errors of a system in a condition at any prior."""

_METRICS = ("eer", "min_cllr", "cllr")
"""Metrics of the map, besides costs at the operating point."""

_WORDS: dict[str, str] = TEXTS["two-class"]["live"]["conditions"]


def condition_data(
    results: Results[Any],
    colors: Sequence[str],
    grid: FloatArray,
    room: int = ROOM,
    others: Sequence[tuple[str, Sequence[Evaluation]]] = (),
) -> dict[str, Any] | None:
    """Return the data of the conditions of a page, and of other trials; None without any.

    Parameters
    ----------
    results : Results
        With or without conditions.
    colors : sequence of str
        Colours of the systems.
    grid : (n_places,) array
        Log odds at which every system counted errors.
    room : int
        Characters for the numbers of all conditions; if they do not fit, bands and intervals are left out first,
        then the smallest conditions.
    others : sequence of (str, sequence of Evaluation)
        Names and results of other trials of the same systems, such as training trials; ``by`` of their rows is empty.

    Returns
    -------
    dict or None
        ``rows`` and ``sets`` as in `fitted`: a set has the format of the set of all trials. ``about`` is a sentence on
        data that the sets lack.

    Examples
    --------
    >>> import deciban
    >>> frame = {"score": [2.0, 1.0, -1.0, 0.5, 3.0, -2.0], "label": [1, 1, 0, 0, 1, 0], "sex": list("ffmfmm")}
    >>> found = deciban.evaluate(frame, score=["score"], by="sex")
    >>> known = condition_data(found, ["#0072B2"], found.systems[0].at_priors.log_odds)
    >>> [(row["name"], row["figures"]["eer"], row["set"]) for row in known["rows"]]
    [('sex f', [0.0], 0), ('sex m', [0.0], 1)]
    """
    own = [_other(name, some, colors, grid, room // (4 * len(others))) for name, some in others]
    room -= sum(len(as_script_data(one)) for _, one in own if one is not None)
    of_each = max(room // (2 * len(results.systems) * max(n_conditions(results), 1)), _LEAST_ROOM)

    def numbers(systems: Sequence[Evaluation], has_bands: bool) -> list[dict[str, Any]]:  # noqa: FBT001  # the detail
        return [
            system_data(one, color, grid, of_each, n_places=_FEWER_PLACES, has_bands=has_bands)
            | {"name": plain(of.name)}
            for one, of, color in zip(systems, results.systems, colors, strict=True)
        ]

    is_sure = any(one.uncertainty is not None for one in results.systems)
    details = (True, False) if is_sure else (False,)
    known = fitted(results, _METRICS, details, numbers, room, why_none=lambda one: _why_none(one, grid))
    if known is None and not own:
        return None
    result, has_bands = known or ({"rows": [], "sets": []}, True)
    for row, systems in own:
        if systems is not None:
            row["set"] = len(result["sets"])
            result["sets"].append({"systems": systems})
        result["rows"].append(row)
    return {**result, "about": _WORDS["plain" if has_bands or not is_sure else "no_bands"]}


def _other(
    name: str, systems: Sequence[Evaluation], colors: Sequence[str], grid: FloatArray, room: int
) -> tuple[dict[str, Any], list[dict[str, Any]] | None]:
    """Return the row of other trials, and their numbers; None if errors were not counted at the priors of the page."""
    why_none, first = next(filter(None, (_why_none(one, grid) for one in systems)), ""), systems[0]
    trials = {"targets": first.n_tar, "non-targets": first.n_non}
    row = _row(name, "", trials, systems, _METRICS, why_none)
    if why_none:
        return row, None
    share = room // len(systems)
    return row, [system_data(one, color, grid, share) for one, color in zip(systems, colors, strict=True)]


def _why_none(one: Evaluation, grid: FloatArray) -> str:
    """Return the reason why the page has no numbers of an evaluation; empty if it has."""
    if one.at_priors is None or len(np.setdiff1d(grid, one.at_priors.log_odds)):
        return "errors were not counted at the priors of this page"
    return ""
