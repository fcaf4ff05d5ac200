"""The page of results of many classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from deciban import plots
from deciban.evaluation import ClassEvaluation, ClassResults
from deciban.evaluation.uncertainty import corrected_of
from deciban.models.multiclass import ClassModel
from deciban.models.score_model import error_in_words
from deciban.report.class_pictures import class_pictures, with_pictures
from deciban.report.live_classes import MOST_CLASSES, class_condition_data, class_room, live_class_data
from deciban.report.page import Named, filled, with_conditions
from deciban.report.rendering import Page
from deciban.report.scripts import Live
from deciban.report.tables import CORRECTED, Row, SideBySide, side_by_side
from deciban.report.text import MISSING, MULTICLASS, count, number, percent, sure

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
        sides=sides,
        live=Live.of(known),
        most_classes=MOST_CLASSES,
        subsets=[(one, color, _subsets(one)) for one, color in systems if one.subsets is not None],
        first=first,
        summaries=[(name, _side_by_side(shown, figures_of_classes)) for name, shown in sides],
        costs=[(name, _side_by_side(shown, _costs)) for name, shown in sides] if len(first.points) > 1 else [],
        **_of_model(page, first.classes),
    )
    reserved = class_room(results, len(first.classes)) if known else 0
    text = with_pictures(text, class_pictures(results, page.before), reserved)
    return with_conditions(text, results, known, lambda own, room: class_condition_data(results, own, room))


def _named(results: ClassResults, before: ClassResults | None) -> Named:
    """All systems with their colours, those before calibration first."""
    systems = (*(() if before is None else before.systems), *results.systems)
    return list(zip(systems, plots.system_colors(len(systems)), strict=True))


def _side_by_side(systems: Named, figures_of: Callable[[ClassEvaluation], Mapping[str, str]]) -> list[SideBySide]:
    """Tables of the figures of systems, of which every one has the same."""
    found = [figures_of(one) for one, _ in systems]
    names = max(found, key=len)
    cells = [tuple(own.get(name, MISSING) for name in names) for own in found]
    rows = [Row(one.name, color, own) for (one, color), own in zip(systems, cells, strict=True)]
    return side_by_side(rows, list(names))


def figures_of_classes(one: ClassEvaluation) -> dict[str, str]:
    """Figures of a system by what they are called; of several costs the mean."""
    several = len(one.points) > 1
    entropy = f"{number(one.cross_entropy)} of {number(one.prior_entropy)}"
    losses = {"Cllr": "cllr", "min Cllr": "min_cllr", "calibration loss": "calibration_loss"}
    found = {
        "segments": count(float(one.counts.sum())),
        **(_mean_cost(one) if several else _cost(one, 0)),
        **{words: sure(number(getattr(one, name)), one, name) for words, name in losses.items()},
        "information": sure(number(one.information), one, "information"),
        "error rate": sure(percent(one.error_rate), one, "error_rate"),
        "Brier": sure(number(one.brier), one, "brier"),
        "cross-entropy": sure(entropy, one, "cross_entropy"),
    }
    for name, figure, _ in one.minima:
        value = corrected_of(one, figure)
        if value is not None:
            found[f"{name}{CORRECTED}"] = number(value, 4 if name == "min C_avg" else 3)
    return found


def _costs(one: ClassEvaluation) -> dict[str, str]:
    """The average cost at every point, and its mean."""
    found = _mean_cost(one)
    for k in range(len(one.points)):
        found |= _cost(one, k)
    return found


def _mean_cost(one: ClassEvaluation) -> dict[str, str]:
    costs, words = one.mean_costs, MULTICLASS["mean_cost"]
    return {
        words: sure(number(costs["normalized"], 4), one, "mean_normalized"),
        f"{words}, minimum": sure(number(costs["normalized_min"], 4), one, "mean_normalized_min"),
    }


def _cost(one: ClassEvaluation, k: int) -> dict[str, str]:
    point = one.points[k]
    words = f"C_avg at {point.p_target:g}"
    return {
        words: sure(number(point.c_avg, 4), one, ("c_avg", k)),
        f"{words}, minimum": sure(number(point.min_c_avg, 4), one, ("min_c_avg", k)),
    }


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
    from deciban.report.model_card import worth_section
    from deciban.report.model_pictures import has_own_scales, parameter_pictures

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
