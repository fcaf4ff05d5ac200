"""The page: tables, notes and plots of the results, put into the template."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from deciban import plots
from deciban._version import __version__
from deciban.evaluation import Evaluation, Results
from deciban.evaluation.results import CONVENTIONS
from deciban.models.score_model import ScoreModel
from deciban.report import tables
from deciban.report import text as words
from deciban.report.comparison import compare, matched
from deciban.report.rendering import Page

if TYPE_CHECKING:
    from deciban.models import Model


def two_class_page(shown: Page) -> str:
    """The page of results of two classes; see `deciban.report.render`."""
    results, before, train = shown.results, shown.before, shown.train
    systems = results.systems
    colors = plots.system_colors(len(systems))
    named = list(zip((system.name for system in systems), colors, systems, strict=True))
    comparison = compare(results, before=before, train=train, train_before=shown.train_before)
    sides = [("test" if train else "", results, before)]
    if train is not None:
        sides.insert(
            0, ("training", Results(matched(train, results, "training"), messages=train.messages), shown.train_before)
        )
    return template("page.html").render(
        title=shown.title or _title(systems),
        message_lines=shown.message_lines or _join(results),
        train_message_lines=() if train is None else train.message_lines or _join(train),
        points=tables.points_of(systems),
        summary=tables.summary(systems, colors),
        comparison=comparison,
        blocks=comparison.blocks(colors) if comparison else [],
        **_of_model(shown, sides),
        notes=[(name, color, system.notes) for name, color, system in named if system.notes],
        errors=tables.errors(systems, colors),
        scarce=[(name, color, words.scarce_errors(system)) for name, color, system in named],
        is_paired=train is not None,
        weighted=words.WEIGHTED if any(system.is_weighted for system in systems) else "",
        plots=[_figure(one, kind, old, side) for kind in plots.KINDS for side, one, old in sides],
        conventions=[(words.CONVENTION_NAMES.get(name, name), text) for name, text in CONVENTIONS.items()],
        definitions=words.DEFINITIONS,
        version=__version__,
    )


def _of_model(shown: Page, sides: Sequence[Side]) -> dict[str, Any]:
    """What the page says of a model, if there is one."""
    model = shown.model
    if model is None:
        return {"record": [], "fusion": None, "model_figures": []}
    from deciban.report.fusion import FusionSection  # with all of training behind them: other pages do without
    from deciban.report.model_card import record_of

    is_fusion = isinstance(model, ScoreModel) and model.is_fusion
    return {
        "record": record_of(model),
        "fusion": FusionSection.of(model, shown.figures, shown.selection) if is_fusion else None,
        "model_figures": _drawn_of_model(model, sides, shown.results),
    }


def template(name: str) -> Template:
    """A page with gaps, in which text is escaped and nothing may be left out."""
    environment = Environment(
        loader=PackageLoader("deciban.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


def _title(systems: Sequence[Evaluation]) -> str:
    if len(systems) > 3:
        return f"Evaluation of {len(systems)} systems"
    return "Evaluation of " + listed([system.name for system in systems])


def listed(names: Sequence[str]) -> str:
    """Names as a part of a sentence."""
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def _join(results: Results) -> tuple[str, ...]:
    """Say how scores and key met, for results without message_lines."""
    report = results.join
    if report is None:
        return ()
    counts = (report.matched, report.missing, report.extra, report.duplicate)
    kinds = ("matched", "missing", "extra", "duplicate")
    return ("join  " + " · ".join(f"{words.count(n)} {kind}" for n, kind in zip(counts, kinds, strict=True)),)


Side: TypeAlias = tuple[str, Results, Results | None]
"""A set of trials: what it is called if there are two, its results, and those before calibration."""


def _figure(results: Results, kind: str, before: Results | None, side: str) -> dict[str, str]:
    """Draw one plot of all systems."""
    title, caption = words.PLOTS[kind]
    more: dict[str, Any] = {}
    if kind == "bayes_error" and before is not None:
        more["before"] = matched(before, results, "before")
        caption = f"{caption} {words.BEFORE}"
    drawing = getattr(plots, kind)(results, **more)
    names = listed([system.name for system in results.systems])
    return picture(drawing, title, side, caption, f"of {names}")


def _drawn_of_model(model: Model, sides: Sequence[Side], results: Results) -> list[dict[str, str]]:
    """Draw what the model does to scores, and which thresholds it was trained for."""
    from deciban.calibration import Calibrator, rule_weighting

    figures = []
    for side, _, before in sides:
        if isinstance(model, Calibrator) and before is not None and len(before.systems) == 1:
            drawing = plots.calibration_map(before.systems[0], {model.kind: model})
            figures.append(
                picture(drawing, words.CALIBRATION_MAP[0], side, words.CALIBRATION_MAP[1], f"by {model.kind}")
            )
    points = dict.fromkeys(
        (point.p_target, point.c_miss, point.c_fa) for system in results.systems for point in system.operating_points
    )
    for step in model.parts if isinstance(model, ScoreModel) else (model,):
        rule = {name: step.settings[name] for name in ("alpha", "beta", "p_target") if name in step.settings}
        if len(rule) < 3:
            continue
        drawing = plots.omega(rule_weighting(**rule, operating_points=points))
        figures.append(picture(drawing, words.OMEGA[0], "", words.OMEGA[1], "of the training objective"))
    return figures


def picture(drawing: Any, title: str, side: str, caption: str, about: str) -> dict[str, str]:
    """A plot as the address of an image that holds its own data; of two, the first has no caption."""
    drawn = io.BytesIO()
    plots.save(drawing, drawn, "svg")
    source = "data:image/svg+xml;base64," + base64.b64encode(drawn.getvalue()).decode("ascii")
    titled = f"{title}, {side}" if side else title
    return {
        "title": titled,
        "caption": "" if side == "training" else caption,
        "alt": f"{titled} {about}",
        "source": source,
    }
