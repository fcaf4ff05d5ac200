"""The page of multiclass results: its pictures, the data that its scripts read, and its tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from deciban import plots
from deciban.evaluation import ClassEvaluation, ClassResults
from deciban.evaluation.multiclass.problem_sums import PRIORS, DecidedAt
from deciban.models.multiclass import ClassModel
from deciban.models.score_model import error_in_words
from deciban.plots.triangle import triangle_of
from deciban.report.live import ROOM, finite, fitted, n_conditions, pair_data, plain
from deciban.report.numbers import count, number
from deciban.report.page import (
    Named,
    Picture,
    filled,
    has_own_scales,
    parameter_pictures,
    with_conditions,
    with_pictures,
    worth_section,
)
from deciban.report.tables import MULTICLASS, Page, costs_of_classes, figures_of_classes, side_by_side
from deciban.types import IntArray

_MOST_PANELS = 30
"""Classes up to which each has a panel of its own, and matrices have cells with numbers."""

_OF_MATRICES = ("confusion", "pairwise_loss")

_RANKS = ("confusion", "simplex", "pairwise_loss", "class_ape")
"""Kinds of pictures of single systems, in the order in which they get room."""


def class_pictures(results: ClassResults, before: ClassResults | None) -> Iterator[Picture]:
    """Yield every picture of a page, in the order in which they stand.

    Parameters
    ----------
    results : ClassResults
    before : ClassResults or None
        The same before calibration.
    """
    old = () if before is None else before.systems
    systems = [*old, *results.systems]
    paired = [one for one in systems if one.pairwise is not None]
    darkest = max((one.pairwise.largest_loss for one in paired if one.pairwise), default=0.0)
    each: dict[str, tuple[Sequence[ClassEvaluation], dict[str, Any]]] = {
        "confusion": (systems, {}),
        "pairwise_loss": (paired, {"top": darkest or None}),
        "simplex": ([one for one in systems if one.curves.sample is not None], {}),
    }
    for kind, (shown, how) in each.items():
        more = f" {MULTICLASS['most_confused']}" if kind == "simplex" and systems[0].n_classes > 3 else ""
        for one in shown:
            yield _picture(kind, one.name if len(systems) > 1 else "", partial(_drawn_of, kind, one, how), more)
    for kind in ("class_losses", "c_avg_curve", "reliability", "subset_c_avg"):
        if kind != "subset_c_avg" or all(one.subsets is not None for one in systems):
            yield _picture(kind, "", partial(getattr(plots, kind), systems))
    if len(results.classes) <= _MOST_PANELS:
        of_old = old if len(old) == len(results.systems) else [None] * len(results.systems)
        for one, earlier in zip(results.systems, of_old, strict=True):
            more = "" if earlier is None else f" {MULTICLASS['before']}"
            yield _picture("class_ape", one.name, partial(plots.class_ape, one, before=earlier), more)


def _picture(kind: str, name: str, draw: Callable[[], Any], more: str = "") -> Picture:
    """One picture of all systems, or of one by its name."""
    title, caption = MULTICLASS["plots"][kind]
    return Picture(draw, (title, caption + more), name, "by class", 1 + _RANKS.index(kind) if name else 0)


def _drawn_of(kind: str, one: ClassEvaluation, how: dict[str, Any]) -> Any:
    """One plot of a system; a matrix of very many classes as an image without numbers, which nobody could read."""
    if kind not in _OF_MATRICES or one.n_classes <= _MOST_PANELS:
        return getattr(plots, kind)(one, **how)
    drawing = getattr(plots, kind)(one, **how, rasterized=True)
    for text in list(drawing.texts):
        text.remove()
    return drawing


_ROOM_OF_DECISIONS, _MOST_ROOM, _OF_COUNT, _OF_WEIGHT = 800_000, 1_500_000, 4, 12
"""Characters that the decisions of all systems take, and may take if there would be fewer than `_FEW` priors; and those
of a count or a weight with the zeros beside it."""

_FEW = 16

MOST_CLASSES = 30
"""Classes up to which a matrix has cells that can be read and pointed at."""

_MOST_DRAWN, _LOWEST = 30_000, -99.0
"""Log-likelihoods that the segments of all systems may take, and the lowest that is told apart from others."""

_ROOM_OF_ONE = 150
"""Characters for each pair of classes of a system in a condition: with decisions at some priors, mostly."""

_FIGURES = ("cllr", "min_cllr", "calibration_loss", "error_rate", "c_avg", "brier")
"""Of the map of conditions, at the prior of the evaluation."""

_STEPS = (1, 4, 16, 0)
"""Of the priors of the page, conditions have one of so many; with 0 that of the evaluation alone."""


def live_class_data(
    results: ClassResults, before: Sequence[ClassEvaluation], colors: Sequence[str]
) -> dict[str, Any] | None:
    """What the scripts of a page of many classes get; None where there would be nothing to choose.

    Parameters
    ----------
    results : ClassResults
    before : sequence of ClassEvaluation
        Systems before calibration.
    colors : sequence of str
        Of those before and of the others, as hexadecimal codes.

    Returns
    -------
    dict or None
        ``sets`` holds the list of all systems, those before calibration first; there are ``n_before`` of them.

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
    has_matrix = len(classes) <= MOST_CLASSES and all(one.classes == classes for one in systems)
    if not has_matrix and not results.conditions and len(results.systems) < 2:
        return None
    kept = _places(systems if has_matrix else [])
    levels = [one.uncertainty.level for one in results.systems if one.uncertainty is not None]
    return {
        "classes": [plain(name) for name in classes] if has_matrix else [],
        "priors": PRIORS[kept].tolist(),
        "level": levels[0] if levels else None,
        "n_before": len(before),
        "corners": _corners(systems) if has_matrix else None,
        "sets": [
            {
                "name": "",
                "systems": [
                    {"name": plain(one.name), "color": color}
                    | ({**_system(one, kept), "sample": _sample(one, len(systems))} if has_matrix else _figures(one))
                    for one, color in zip(systems, colors, strict=True)
                ],
            }
        ],
        "figures": {name: [finite(getattr(one, name)) for one in results.systems] for name in _FIGURES},
        "compared": pair_data(results),
    }


def class_condition_data(results: ClassResults, known: dict[str, Any], room: int = ROOM) -> dict[str, Any] | None:
    """What a page of many classes knows of its conditions; None if it has none.

    Parameters
    ----------
    results : ClassResults
        Maybe with conditions.
    known : dict
        What `live_class_data` found.
    room : int
        Characters that the numbers of all conditions may take.

    Returns
    -------
    dict or None
        ``rows`` and ``sets`` as in `deciban.report.live.fitted`. Decisions of a condition
        stand at the places ``kept`` of the priors of the page; Brier and C_avg as well.
    """
    kept, has_matrix = np.searchsorted(PRIORS, known["priors"]), bool(known["classes"])

    def numbers(systems: Sequence[ClassEvaluation], step: int) -> list[dict[str, Any]]:
        if not has_matrix:
            return [_figures(one) for one in systems]
        return [_system(one, kept[_some(len(kept), step)], has_decisions=step > 0) for one in systems]

    found = fitted(results, _FIGURES, _STEPS if has_matrix else (0,), numbers, room)
    return None if found is None else {**found[0], "kept": _some(len(kept), found[1]).tolist()}


def class_room(results: ClassResults, n_classes: int) -> int:
    """Characters with which conditions of many classes have decisions at priors, nearly always."""
    if n_classes > MOST_CLASSES:
        return min(400 * n_conditions(results) * len(results.systems), ROOM)
    return min((_ROOM_OF_ONE * n_classes**2 + 2_000) * n_conditions(results) * len(results.systems), ROOM)


def _some(n: int, step: int) -> IntArray:
    """Places of a grid of n, one of so many, with both ends."""
    if step == 0:
        return np.zeros(0, np.int64)
    return np.unique(np.linspace(0, n - 1, max(n // step, 2)).round().astype(np.int64))


def _places(systems: Sequence[ClassEvaluation]) -> IntArray:
    """Return positions of as many priors as the page has room for decisions at them, by how many counts are not 0."""
    decided = [one.decided for one in systems if one.decided is not None]
    for n in (len(PRIORS), 36, 24, 16, 12, 9, 6, 4, 3):
        kept: IntArray = np.unique(np.linspace(0, len(PRIORS) - 1, n).round().astype(np.int64))
        some = (one.by_first(k, kept) for one in decided for k in range(len(one.counts)))
        size = sum(np.count_nonzero(one) * (_OF_COUNT if one.dtype.kind in "iu" else _OF_WEIGHT) for one in some)
        if size <= (_ROOM_OF_DECISIONS if n > _FEW else _MOST_ROOM):
            break
    return kept


def _system(one: ClassEvaluation, kept: IntArray, *, has_decisions: bool = True) -> dict[str, Any]:
    """Decisions of a system, at priors of the page where it counted them, and what is known of pairs."""
    pairs, decided = one.pairwise, one.decided if has_decisions else None
    return {
        **_figures(one),
        "prior": one.prior.tolist(),
        "counts": one.counts.tolist(),
        "confusion": one.confusion.tolist(),
        "pairs": None if pairs is None else {name: _numbers(getattr(pairs, name)) for name in ("cllr", "min_cllr")},
        "decided": None if decided is None else _decided(decided, kept),
        "brier": [one.brier, None if decided is None else _briers(one, decided, kept)],
        "c_avg": [one.points[0].p_target, one.c_avg, _c_avg(one, kept) if has_decisions else None],
    }


def _figures(one: ClassEvaluation) -> dict[str, Any]:
    """What is known of systems of any number of classes: values, and those at priors of a class, which they lack."""
    return {
        "error_rate": one.error_rate,
        "brier": [one.brier, None],
        "c_avg": [one.points[0].p_target, one.c_avg, None],
    }


def _decided(decided: DecidedAt, kept: IntArray) -> list[list[Any]]:
    """For each class whose prior is chosen: trials by place, class and rival, one after the other."""
    at_places = (np.delete(decided.by_first(k, kept), k, axis=2).ravel() for k in range(len(decided.counts)))
    return [one.tolist() if one.dtype.kind in "iu" else _numbers(one[None])[0] for one in at_places]


def _corners(systems: Sequence[ClassEvaluation]) -> list[int] | None:
    """Three classes to begin with: those that one system takes for each other most; None where nothing is drawn."""
    drawable = [one for one in systems if one.curves.sample is not None]
    return list(triangle_of(drawable[0]).at) if drawable else None


def _sample(one: ClassEvaluation, n_systems: int) -> dict[str, Any] | None:
    """Log-likelihoods of some segments, below the largest of each, in a row after the other, and their classes."""
    if one.curves.sample is None:
        return None
    loglik, label = one.curves.sample
    most = max(_MOST_DRAWN // (n_systems * one.n_classes), 3 * one.n_classes)
    rows = np.unique(np.linspace(0, len(label) - 1, min(most, len(label))).round().astype(np.int64))
    below = np.maximum(loglik[rows] - loglik[rows].max(axis=1, keepdims=True), _LOWEST).astype(np.float64)
    return {"loglik": [float(f"{x:.2f}") + 0.0 for x in below.ravel().tolist()], "label": label[rows].tolist()}


def _briers(one: ClassEvaluation, decided: DecidedAt, kept: IntArray) -> list[list[float | None]]:
    """Brier scores by class whose prior is chosen, and place."""
    return _numbers(np.stack([decided.brier(k, one.counts)[kept] for k in range(one.n_classes)]))


def _c_avg(one: ClassEvaluation, kept: IntArray) -> list[float | None] | None:
    """Average detection costs where the prior of every target in turn is that of a place."""
    found = one.curves.c_avg_at
    return None if found is None else _numbers(found[None, kept])[0]


def _numbers(values: Any) -> list[list[float | None]]:
    return [[None if finite(x) is None else float(f"{x:.7g}") for x in row] for row in values.tolist()]


_MOST_SUBSETS = 300
"""Subsets that a table shows."""


def multiclass_page(page: Page) -> str:
    """The page of results of many classes; see `deciban.report.render`."""
    results = page.results
    systems, first = _named(results, page.before), results.systems[0]
    sides = [("Test" if page.train else "", systems)]
    if page.train is not None:
        sides.append(("Training", _named(page.train, page.train_before)))
    known = live_class_data(
        results, () if page.before is None else page.before.systems, [color for _, color in systems]
    )
    text = filled(
        "classes.html",
        page,
        systems,
        known,
        sides=sides,
        most_classes=MOST_CLASSES,
        subsets=[(one, color, _subsets(one)) for one, color in systems if one.subsets is not None],
        first=first,
        summaries=[(name, side_by_side(some, [figures_of_classes(one) for one, _ in some])) for name, some in sides],
        costs=[
            (name, side_by_side(some, [costs_of_classes(one) for one, _ in some]))
            for name, some in (sides if len(first.points) > 1 else ())
        ],
        **_of_model(page, first.classes),
    )
    reserved = class_room(results, len(first.classes)) if known else 0
    text = with_pictures(text, class_pictures(results, page.before), reserved)
    return with_conditions(text, results, known, lambda own, room: class_condition_data(results, own, room))


def _named(results: ClassResults, before: ClassResults | None) -> Named:
    """All systems with their colours, those before calibration first."""
    systems = (*(() if before is None else before.systems), *results.systems)
    return list(zip(systems, plots.system_colors(len(systems)), strict=True))


def _subsets(one: ClassEvaluation) -> list[tuple[str, str, str]]:
    """The subsets of highest cost: classes, how many they are, and the cost."""
    found = one.subsets
    assert found is not None  # noqa: S101  # as who calls this has seen
    rows = []
    for at in np.argsort(-found.value, kind="stable")[:_MOST_SUBSETS]:
        mask = int(found.mask[at])
        names = [name for k, name in enumerate(one.classes) if mask >> k & 1]
        rows.append((", ".join(names), count(float(found.size[at])), number(float(found.value[at]), 4)))
    return rows


def _of_model(page: Page, classes: Sequence[str]) -> dict[str, Any]:
    """What the page says of a model beside its record."""
    model = page.model
    if model is None:
        return {"parameters": [], "of_parameters": "", "model_figures": [], "worth": None}
    each = isinstance(model, ClassModel) and has_own_scales(model)
    return {
        "of_parameters": (MULTICLASS["of_each"] if each else MULTICLASS)["parameters"],
        "parameters": _parameters(model, classes) if isinstance(model, ClassModel) else [],
        "model_figures": parameter_pictures(model, page.level, classes),
        "worth": worth_section(page),
    }


def _parameters(model: ClassModel, classes: Sequence[str]) -> list[tuple[str, str]]:
    """Scale or weights, and the offset of each class in nats, of models that have them."""
    numbers = model.parameter_numbers(classes)
    errors = [error_in_words(error) for error in model.errors_in_order] or [""] * len(numbers)
    return [
        (f"{what} of {whom}" if whom else what, f"{number(value, 3 if what == 'offset' else 5)} {error}".rstrip())
        for (what, whom, value), error in zip(numbers, errors, strict=False)
    ]
