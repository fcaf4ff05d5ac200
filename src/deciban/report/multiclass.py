"""The multiclass page: the data for its scripts, and its tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from deciban import plots
from deciban.analysis.comparison import Comparison
from deciban.evaluation import ClassEvaluation, ClassResults
from deciban.evaluation.bands import band_of, detector_bands
from deciban.evaluation.multiclass.problem_sums import PRIORS, DecidedAt
from deciban.models.multiclass import ClassModel
from deciban.models.score_model import error_in_words
from deciban.multiclass import SubsetCosts
from deciban.plots.triangle import triangle_of
from deciban.report import page as pages
from deciban.report.cards import CLASS_CHARTS, MOST_CARDS, charts_of, comparison_of, forest_of
from deciban.report.live import ROOM, finite, fitted, pair_data, plain, short, spread
from deciban.report.tables import MULTICLASS, Page, costs_of_classes, level_of, metrics_of_classes, side_by_side
from deciban.tables.writers import count, number
from deciban.types import IntArray

_ROOM_OF_CURVES, _ROOM_OF_MATRICES, _MOST_POINTS, _STEP = 400_000, 500_000, 71, 2
"""Characters for the curves of all classes, and for matrices that only charts show; points of a curve; and the step
between points of the curve of C_avg."""

_ROOM_OF_DECISIONS, _MOST_ROOM, _OF_COUNT, _OF_WEIGHT = 800_000, 1_500_000, 4, 12
"""Characters for the decisions of all systems; the maximum if fewer than `_FEW` priors would fit; and the average
characters of a count and of a weight, with the zeros next to them."""

_FEW = 16

MOST_CLASSES = 30
"""Largest number of classes with a readable matrix."""

_MOST_DRAWN, _LOWEST = 30_000, -99.0
"""Log-likelihoods for the segments of all systems, and their lower limit."""

_METRICS = ("cllr", "min_cllr", "calibration_loss", "error_rate", "c_avg", "brier")
"""Metrics of the map of conditions, at the prior of the evaluation."""

_STEPS = (1, 4, 16, 0, -1)
"""Steps between priors of the page that conditions have. 0: prior of the evaluation only; -1: no charts either."""


def live_class_data(
    results: ClassResults, before: Sequence[ClassEvaluation], colors: Sequence[str], compared: Comparison | None = None
) -> dict[str, Any] | None:
    """Return the data for the scripts of a multiclass page; None if systems have different classes and no conditions.

    Parameters
    ----------
    results : ClassResults
    before : sequence of ClassEvaluation
        Systems before calibration.
    colors : sequence of str
        Colours of the systems before calibration and of the others, as hexadecimal codes.
    compared : Comparison, optional
        Every two of the systems.

    Returns
    -------
    dict or None
        ``sets`` contains the list of all systems; the first ``n_before`` are before calibration.

    Examples
    --------
    >>> from deciban import evaluate_classes
    >>> from deciban.evaluation import ClassResults
    >>> one = evaluate_classes([[2.0, 0.0], [0.0, 1.0]], [0, 1])
    >>> data = live_class_data(ClassResults((one,)), (), ["#0072B2"])
    >>> data["sets"][0]["systems"][0]["confusion"]
    [[1, 0], [0, 1]]
    """
    systems = [*before, *results.systems]
    classes = systems[0].classes
    are_same = all(one.classes == classes for one in systems)
    are_same &= len({len(one.curves.prior_log_odds) for one in systems}) == 1
    has_matrix = len(classes) <= MOST_CLASSES and are_same
    if not are_same and not results.conditions and len(results.systems) < 2:
        return None
    kept = _places(systems if has_matrix else [])
    return {
        "classes": [plain(name) for name in classes] if has_matrix else [],
        "priors": PRIORS[kept].tolist(),
        "level": level_of(results.systems),
        "n_before": len(before),
        "corners": _corners(systems) if has_matrix else None,
        "charts": _axes(systems) if are_same else None,
        "sets": [
            {
                "name": "",
                "systems": [
                    {"name": plain(one.name), "color": color}
                    | (_charts(one, len(systems), has_matrix=has_matrix) if are_same else {})
                    | ({**_system(one, kept), "sample": _sample(one, len(systems))} if has_matrix else _metrics(one))
                    for one, color in zip(systems, colors, strict=True)
                ],
            }
        ],
        "figures": {name: [finite(getattr(one, name)) for one in results.systems] for name in _METRICS},
        "forest": forest_of(systems) if len(systems) > MOST_CARDS else None,
        "compared": pair_data(results, compared),
    }


def class_condition_data(results: ClassResults, known: dict[str, Any], room: int = ROOM) -> dict[str, Any] | None:
    """Return the data of the conditions of a multiclass page; None without conditions.

    Parameters
    ----------
    results : ClassResults
        With or without conditions.
    known : dict
        Result of `live_class_data`.
    room : int
        Characters for the numbers of all conditions.

    Returns
    -------
    dict or None
        ``rows`` and ``sets`` as in `deciban.report.live.fitted`. Decisions, Brier and C_avg of a condition are at the
        indices ``kept`` of the priors of the page.
    """
    kept, has_matrix = np.searchsorted(PRIORS, known["priors"]), bool(known["classes"])

    def numbers(systems: Sequence[ClassEvaluation], step: int) -> list[dict[str, Any]]:
        own = [
            _system(one, kept[_some(len(kept), step)], has_decisions=step > 0) if has_matrix else _metrics(one)
            for one in systems
        ]
        if step < 0 or not known["charts"]:
            return own
        charts = (_charts(one, n_systems, has_matrix=has_matrix) for one in systems)
        return [chart | some for chart, some in zip(charts, own, strict=True)]

    n_systems = len(known["sets"][0]["systems"])
    result = fitted(results, _METRICS, _STEPS if has_matrix else _STEPS[-2:], numbers, room)
    return None if result is None else {**result[0], "kept": _some(len(kept), max(result[1], 0)).tolist()}


def _points_of(one: ClassEvaluation, n_systems: int) -> IntArray:
    """Return indices of as many points of the curves as fit with all curves."""
    n_curves = 6 * n_systems * len(one.detection.target)
    most = int(np.clip(_ROOM_OF_CURVES // (6 * n_curves), 15, _MOST_POINTS))  # six characters for a number
    return spread(len(one.curves.detector_log_odds), most)


def _axes(systems: Sequence[ClassEvaluation]) -> dict[str, Any]:
    """Return the names and priors of the charts of all systems."""
    one = systems[0]
    return {
        "classes": [plain(name) for name in one.classes],
        "targets": [plain(one.classes[k]) for k in one.detection.target],
        "targets_at": one.detection.target.tolist(),
        "log_odds": short(one.curves.detector_log_odds[_points_of(one, len(systems))]),
        "c_avg_log_odds": short(one.curves.prior_log_odds[::_STEP]),
    }


def _charts(one: ClassEvaluation, n_systems: int, *, has_matrix: bool) -> dict[str, Any]:
    """Return the curves of a system, and the matrices of more classes than the table of decisions has."""
    curves, losses, at = one.curves, one.detection, _points_of(one, n_systems)

    def detector(k: int) -> dict[str, Any]:
        bands = detector_bands(one, k)
        rates = [short(one[at]) for one in curves.detector_rates[k]]
        return {"rates": rates, "band": None if bands is None else [short(end[at], 3) for end in bands[0]]}

    known, band = curves.reliability, band_of(one, "c_avg", curves.c_avg)
    entries: dict[str, Any] = {
        "detectors": [detector(k) for k in range(len(losses.target))],
        "cllr": short(losses.cllr),
        "min_cllr": short(losses.min_cllr),
        "eer": short(losses.eer),
        "c_avg": short(curves.c_avg[::_STEP]),
        "c_avg_band": None if band is None else [short(end[::_STEP], 4) for end in band],
        "reliability": {name: short(getattr(known, name), 4) for name in ("low", "high", "happened", "failed")}
        | {"share": short(known.observed, 4)},
        "subsets": None if one.subsets is None else _by_size(one.subsets, one.classes),
    }
    if has_matrix or n_systems * one.n_classes**2 * _OF_WEIGHT > _ROOM_OF_MATRICES:
        return {"charts": entries}
    return {"charts": entries, **_matrices(one, 3)}


def _matrices(one: ClassEvaluation, digits: int) -> dict[str, Any]:
    """Return trials of each class, confusions, and losses of pairs."""
    pairs, names = one.pairwise, ("cllr", "min_cllr")
    lost = None if pairs is None else {name: [short(row, digits) for row in getattr(pairs, name)] for name in names}
    return {"counts": one.counts.tolist(), "confusion": one.confusion.tolist(), "pairs": lost}


def _by_size(costs: SubsetCosts, classes: Sequence[str]) -> dict[str, Any]:
    """Return the mean of C_avg over all subsets of each size, and the hardest and the easiest of them."""
    means = costs.mean_by_size
    ends: dict[str, list[Any]] = {"low": [], "high": [], "easiest": [], "hardest": []}
    for size in means:
        rows = np.flatnonzero(costs.size == size)
        for end, name, k in (
            ("low", "easiest", costs.value[rows].argmin()),
            ("high", "hardest", costs.value[rows].argmax()),
        ):
            ends[end].append(float(costs.value[rows[k]]))
            ends[name].append(", ".join(plain(classes[j]) for j in costs.members(rows[k])))
    return {"size": list(means), "mean": list(means.values()), **ends}


def _shown_charts(known: dict[str, Any] | None) -> list[dict[str, str]]:
    """Return the charts of a page with these data."""
    systems = known["sets"][0]["systems"] if known else []
    if not systems or not known or not known["charts"]:
        return []
    fields = {"confusion": "confusion", "pairwise_loss": "pairs"}
    lacking = [name for name, data in fields.items() if not all(one.get(data) for one in systems)]
    lacking += [] if all(one["charts"]["subsets"] for one in systems) else ["subset_c_avg"]
    return [one for one in charts_of(MULTICLASS["plots"], CLASS_CHARTS) if one["plot"] not in lacking]


def _some(n: int, step: int) -> IntArray:
    """Return every ``step``-th index of n, including both ends."""
    return np.zeros(0, np.int64) if step <= 0 else spread(n, max(n // step, 2))


def _places(systems: Sequence[ClassEvaluation]) -> IntArray:
    """Return indices of as many priors as fit with their decisions, by the number of counts above 0."""
    decided = [one.decided for one in systems if one.decided is not None]
    for n in (len(PRIORS), 36, 24, 16, 12, 9, 6, 4, 3):
        indices = spread(len(PRIORS), n)
        some = (one.by_first(k, indices) for one in decided for k in range(len(one.prior)))
        size = sum(np.count_nonzero(one) * (_OF_COUNT if one.dtype.kind in "iu" else _OF_WEIGHT) for one in some)
        if size <= (_ROOM_OF_DECISIONS if n > _FEW else _MOST_ROOM):
            break
    return indices


def _system(one: ClassEvaluation, indices: IntArray, *, has_decisions: bool = True) -> dict[str, Any]:
    """Return decisions of a system at priors of the page, and results of pairs."""
    decided, briers = one.decided if has_decisions else None, None
    if decided is not None:
        briers = [short(decided.brier(k, one.counts)[indices], 7) for k in range(one.n_classes)]
    c_avg = one.curves.c_avg_at if has_decisions else None
    return {
        **_metrics(one),
        "prior": one.prior.tolist(),
        **_matrices(one, 7),
        "decided": None if decided is None else _decided(decided, indices),
        "brier": [one.brier, briers],
        "c_avg": [one.points[0].p_target, one.c_avg, None if c_avg is None else short(c_avg[indices], 7)],
    }


def _metrics(one: ClassEvaluation) -> dict[str, Any]:
    """Return metrics for any number of classes, without values at other priors of a class."""
    c_avg = [one.points[0].p_target, one.c_avg, None]
    return {"error_rate": one.error_rate, "brier": [one.brier, None], "c_avg": c_avg}


def _decided(decided: DecidedAt, indices: IntArray) -> list[list[Any]]:
    """Return, for each class whose prior is chosen, trials by place, class and rival in one list."""
    at_places = (np.delete(decided.by_first(k, indices), k, axis=2).ravel() for k in range(len(decided.prior)))
    return [one.tolist() if one.dtype.kind in "iu" else short(one, 7) for one in at_places]


def _corners(systems: Sequence[ClassEvaluation]) -> list[int] | None:
    """Return the three classes that one system confuses most; None if nothing can be drawn."""
    drawable = [one for one in systems if one.curves.sample is not None]
    return list(triangle_of(drawable[0]).at) if drawable else None


def _sample(one: ClassEvaluation, n_systems: int) -> dict[str, Any] | None:
    """Return log-likelihoods of some segments, relative to the largest of each, in one list, with their classes."""
    if one.curves.sample is None:
        return None
    loglik, label = one.curves.sample
    most = max(_MOST_DRAWN // (n_systems * one.n_classes), 3 * one.n_classes)
    rows = spread(len(label), most)
    with np.errstate(invalid="ignore"):  # the best of infinite log-likelihoods is 0, too
        below = np.nan_to_num(loglik[rows] - loglik[rows].max(axis=1, keepdims=True)).astype(np.float64)
    below = np.maximum(below, _LOWEST)
    return {"loglik": [float(f"{x:.2f}") + 0.0 for x in below.ravel().tolist()], "label": label[rows].tolist()}


_MOST_SUBSETS = 300
"""Number of subsets in a table."""


def multiclass_page(page: Page) -> str:
    """Return the page of multiclass results; see `deciban.report.render`."""
    results = page.results
    systems, first = _named(results, page.before), results.systems[0]
    sides = [("Test" if page.train else "", systems)]
    if page.train is not None:
        sides.append(("Training", _named(page.train, page.train_before)))
    compared = comparison_of(results, page.before)
    before = () if page.before is None else page.before.systems
    known = live_class_data(results, before, [color for _, color in systems], compared)
    text = pages.filled(
        "classes.html",
        page,
        systems,
        known,
        compared,
        sides=sides,
        most_classes=MOST_CLASSES,
        charts=_shown_charts(known),
        classifier=pages.classifier_tables_of(results),
        has_matrix=bool(known and known["classes"]),
        subsets=[(one, color, _subsets(one.subsets, one.classes)) for one, color in systems if one.subsets is not None],
        first=first,
        summaries=[(name, side_by_side(some, [metrics_of_classes(one) for one, _ in some])) for name, some in sides],
        costs=[
            (name, side_by_side(some, [costs_of_classes(one) for one, _ in some]))
            for name, some in (sides if len(first.points) > 1 else ())
        ],
        **_of_model(page, first.classes),
    )
    return pages.with_conditions(text, known, lambda own, room: class_condition_data(results, own, room))


def _named(results: ClassResults, before: ClassResults | None) -> pages.Named:
    """Return all systems with their colours, systems before calibration first."""
    systems = (*(() if before is None else before.systems), *results.systems)
    return list(zip(systems, plots.system_colors(len(systems)), strict=True))


def _subsets(costs: SubsetCosts, classes: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return the subsets with the highest cost: classes, their number, and the cost."""
    rows = []
    for at in np.argsort(-costs.value, kind="stable")[:_MOST_SUBSETS]:
        names = ", ".join(classes[k] for k in costs.members(at))
        rows.append((names, count(float(costs.size[at])), number(float(costs.value[at]), 4)))
    return rows


def _of_model(page: Page, classes: Sequence[str]) -> dict[str, Any]:
    """Return template data of a model besides its record."""
    model = page.model
    if model is None:
        return {"parameters": [], "of_parameters": "", "model_figures": [], "worth": None}
    each = isinstance(model, ClassModel) and pages.has_own_scales(model)
    return {
        "of_parameters": (MULTICLASS["of_each"] if each else MULTICLASS)["parameters"],
        "parameters": _parameters(model, classes) if isinstance(model, ClassModel) else [],
        "model_figures": pages.parameter_pictures(model, page.level, classes),
        "worth": pages.worth_section(page),
    }


def _parameters(model: ClassModel, classes: Sequence[str]) -> list[tuple[str, str]]:
    """Return scale or weights, and the offset of each class in nats, for models that have them."""
    numbers = model.parameter_numbers(classes)
    errors = [error_in_words(error) for error in model.errors_in_order] or [""] * len(numbers)
    return [
        (f"{what} of {whom}" if whom else what, f"{number(value, 3 if what == 'offset' else 5)} {error}".rstrip())
        for (what, whom, value), error in zip(numbers, errors, strict=False)
    ]
