"""The page of results of many classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from deciban import plots
from deciban._version import __version__
from deciban.evaluation import ClassEvaluation, ClassPoint, ClassResults
from deciban.evaluation.multiclass.result import CLASS_CONVENTIONS
from deciban.models.multiclass import ClassModel
from deciban.report import multiclass_text as words
from deciban.report.model_card import record_of
from deciban.report.page import listed, picture, template
from deciban.report.rendering import Page
from deciban.report.text import count, number, percent

_MOST_PANELS = 30
"""Classes up to which each has a panel of its own."""

_HALF = 7.2
"""Inches of the widest picture that stands beside another: letters are as large in all pictures, or nearly so."""

_CONFUSIONS = 10
"""Frequent confusions in the table."""

_MEAN_COST = "normalized C_avg, mean"
"""Heading of what plans of evaluations publish where there are several priors of a target."""

_digits = partial(number, digits=4)


@dataclass(frozen=True, slots=True)
class _Line:
    """A row of a table: what it is about, its colour in plots, and its cells."""

    name: str
    color: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Side:
    """The results of one set of segments, those before calibration first: a row for each system in every table."""

    name: str
    summary: tuple[_Line, ...]
    costs: tuple[_Line, ...]
    losses: tuple[_Line, ...]


def multiclass_page(page: Page) -> str:
    """The page of results of many classes; see `deciban.report.render`."""
    results, before, train, train_before, model = page.results, page.before, page.train, page.train_before, page.model
    shown = (*(before.systems if before is not None else ()), *results.systems)
    colors = plots.system_colors(len(shown))
    sides = [_side("Test" if train else "", shown, colors)]
    if train is not None:
        trained = (*(train_before.systems if train_before is not None else ()), *train.systems)
        sides.append(_side("Training", trained, plots.system_colors(len(trained))))
    first = results.systems[0]
    panels = _panels(results, before)
    return template("classes.html").render(
        title=page.title or _title(results),
        message_lines=page.message_lines,
        train_message_lines=() if train is None else train.message_lines,
        main_cost=_MEAN_COST if len(first.points) > 1 else _cost_at(first.points[0]),
        costs=[_MEAN_COST, *map(_cost_at, first.points)] if len(first.points) > 1 else [],
        first_prior=f"{first.points[0].p_target:g}",
        reference=number(first.reference),
        defaults=(percent(first.default_error_rate), number(first.default_brier)),
        prior=_prior(first),
        out_of_set=None if first.p_out_of_set is None else (first.classes[-1], f"{first.p_out_of_set:g}"),
        sides=sides,
        record=record_of(model) if model is not None else [],
        parameters=_parameters(model, first.classes) if isinstance(model, ClassModel) else [],
        notes=[(one.name, color, one.notes) for one, color in zip(shown, colors, strict=True) if one.notes],
        per_class=[(one.name, color, _class_lines(one)) for one, color in zip(shown, colors, strict=True)],
        confusions=[(one.name, color, _confusions(one)) for one, color in zip(shown, colors, strict=True)],
        subsets=[(one.name, color, _subsets(one)) for one, color in zip(shown, colors, strict=True) if _subsets(one)],
        plots=[*_figures(results, before), *(figure for inches, figure in panels if inches <= _HALF)],
        wide=[figure for inches, figure in panels if inches > _HALF],
        conventions=[(words.CONVENTION_NAMES.get(name, name), text) for name, text in CLASS_CONVENTIONS.items()],
        definitions=words.DEFINITIONS,
        version=__version__,
    )


def _title(results: ClassResults) -> str:
    names = [system.name for system in results.systems]
    what = f"{len(names)} systems" if len(names) > 3 else listed(names)
    return f"{len(results.classes)} classes: {what}"


def _prior(one: ClassEvaluation) -> str:
    if np.ptp(one.prior) == 0.0:
        return "flat"
    return ", ".join(f"{name} {p:.4g}" for name, p in zip(one.classes, one.prior.tolist(), strict=True))


def _cost_at(point: ClassPoint) -> str:
    return f"C_avg at {point.p_target:g}"


def _side(name: str, systems: Sequence[ClassEvaluation], colors: Sequence[str]) -> _Side:
    tables = (
        tuple(_Line(one.name, color, cells(one)) for one, color in zip(systems, colors, strict=True))
        for cells in (_summary, _costs, _losses)
    )
    return _Side(name, *tables)


def _summary(one: ClassEvaluation) -> tuple[str, ...]:
    """What any page has room for: of several costs, only their mean."""
    return (
        count(float(one.counts.sum())),
        *_costs(one)[:2],
        *(number(value) for value in (one.cllr, one.min_cllr, one.calibration_loss, one.information)),
        percent(one.error_rate),
        number(one.brier),
        f"{number(one.cross_entropy)} of {number(one.prior_entropy)}",
    )


def _costs(one: ClassEvaluation) -> tuple[str, ...]:
    """Actual and least cost: the mean first where there are several priors of a target, then at each of them."""
    values = [value for point in one.points for value in (point.c_avg, point.min_c_avg)]
    means = [one.mean_costs[name] for name in ("normalized", "normalized_min")] if len(one.points) > 1 else []
    return tuple(map(_digits, (*means, *values)))


def _losses(one: ClassEvaluation) -> tuple[str, ...]:
    """The calibration loss and what offsets or a scale alone would save of it, in bits."""
    found = one.calibration
    return tuple(map(number, (found.loss, found.offset_loss, found.scale_loss)))


def _class_lines(one: ClassEvaluation) -> list[tuple[str, tuple[str, ...]]]:
    found, lines = one.detection, []
    place = {k: at for at, k in enumerate(found.target.tolist())}
    for k, name in enumerate(one.classes):
        cells = [count(float(one.counts[k])), percent(float(one.class_error_rates[k]))]
        if k in place:
            at = place[k]
            cells += [percent(found.eer[at]), _digits(found.cost[at]), _digits(found.min_cost[at])]
            cells += [number(value[at]) for value in (found.cllr, found.min_cllr, found.calibration_loss)]
        else:
            cells += [""] * 6
        lines.append((name, tuple(cells)))
    return lines


def _confusions(one: ClassEvaluation) -> list[tuple[str, str, str, str]]:
    """True class, decision, how often and at what rate; the highest rates first."""
    return [(true, taken, count(n), percent(rate)) for true, taken, n, rate in one.frequent_confusions(_CONFUSIONS)]


def _subsets(one: ClassEvaluation) -> list[tuple[str, str, str]]:
    summary = one.subset_summary()
    if summary is None:
        return []
    return [
        (word, _digits(summary[word]["c_avg"]), ", ".join(summary[word]["classes"])) for word in ("hardest", "easiest")
    ]


def _parameters(model: ClassModel, classes: Sequence[str]) -> list[tuple[str, str]]:
    """Scale or weights, and the offset of each class in nats, of models that have them."""
    digits = {"scale": 5, "weight": 5}
    return [
        (f"{what} of {whom}" if whom else what, number(value, digits.get(what, 3)))
        for what, whom, value in model.parameter_numbers(classes)
    ]


def _figures(results: ClassResults, before: ClassResults | None) -> list[dict[str, str]]:
    """Plots that stand side by side: of all systems where one plot holds them, else one for each."""
    pictures = _Drawing(results, before)
    figures = [pictures.of_one("confusion", one) for one in pictures.systems]
    figures += [
        pictures.of_one("pairwise_loss", one, top=pictures.top) for one in pictures.systems if one.pairwise is not None
    ]
    if len(results.classes) == 3:
        figures += [pictures.of_one("simplex", one) for one in pictures.systems]
    figures += [pictures.of_all("class_losses"), pictures.of_all("c_avg_curve")]
    if all(one.subsets is not None for one in pictures.systems):
        figures.append(pictures.of_all("subset_c_avg"))
    return figures


def _panels(results: ClassResults, before: ClassResults | None) -> list[tuple[float, dict[str, str]]]:
    """Plots with a panel for each class, and their widths in inches."""
    if len(results.classes) > _MOST_PANELS:
        return []
    paired = before is not None and len(before.systems) == len(results.systems)
    old: Sequence[Any] = before.systems if paired and before is not None else [None] * len(results.systems)
    figures = []
    for one, earlier in zip(results.systems, old, strict=True):
        drawing = plots.class_ape(one, before=earlier)
        shown = _picture(drawing, "class_ape", one.name, with_before=earlier is not None)
        figures.append((float(drawing.get_figwidth()), shown))
    return figures


@dataclass(frozen=True, slots=True)
class _Drawing:
    """Systems to draw, those before calibration first."""

    results: ClassResults
    before: ClassResults | None

    @property
    def systems(self) -> tuple[ClassEvaluation, ...]:
        """All of them."""
        return (*(self.before.systems if self.before is not None else ()), *self.results.systems)

    @property
    def top(self) -> float | None:
        """Bits of the darkest colour that all matrices of pairs share; None where nothing is lost."""
        pairs = [one.pairwise for one in self.systems if one.pairwise is not None]
        if not pairs:
            return None
        found = [np.stack((one.min_cllr, one.calibration_loss)) for one in pairs]
        finite = np.stack(found)[:, :, ~np.eye(len(self.results.classes), dtype=bool)]
        top = float(np.max(finite, where=np.isfinite(finite), initial=0.0))
        return top or None

    def of_one(self, kind: str, one: ClassEvaluation, **more: Any) -> dict[str, str]:
        """A plot of one system."""
        name = one.name if len(self.systems) > 1 else ""
        return _picture(getattr(plots, kind)(one, **more), kind, name)

    def of_all(self, kind: str) -> dict[str, str]:
        """A plot that all systems share."""
        return _picture(getattr(plots, kind)(list(self.systems)), kind, "")


def _picture(drawing: Any, kind: str, name: str, *, with_before: bool = False) -> dict[str, str]:
    title, caption = words.PLOTS[kind]
    return picture(drawing, title, name, f"{caption} {words.BEFORE}" if with_before else caption, "by class")
