"""The page: tables, notes and plots of the results, put into the template."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined

from deciban import plots
from deciban._version import __version__
from deciban.evaluation import Results
from deciban.evaluation.one_system import shared_notes
from deciban.evaluation.requested import sentence
from deciban.evaluation.worst_trials import headings_of, rows_of
from deciban.models.score_model import ScoreModel
from deciban.report import tables
from deciban.report.answers import in_words
from deciban.report.conditions import condition_data, room_for
from deciban.report.content import Differences, Page
from deciban.report.live import ROOM, as_script_data, live_data
from deciban.report.scripts import Live, picture, policy, scripts_of_tables
from deciban.report.tables import (
    TEXTS,
    TWO_CLASS,
    about_intervals,
    anchor,
    breakable,
    capitalize_first,
    compare,
    count,
    definition_of,
    matched,
    number,
    percent,
    scarce_errors,
    sure,
    typeset,
)

if TYPE_CHECKING:
    from deciban.models import Model

MOST = 2_990_000
"""Bytes of a page: the numbers of conditions, and the pictures of single systems, have the room that is left."""

PLACE = "<!-- pictures that lack -->"
"""Place in a page for the names of the training pictures that were left out."""

_ROOM_OF_WORDS = 1_000
"""Bytes reserved for these names."""

Named: TypeAlias = Sequence[tuple[Any, str]]
"""Evaluations, each with the colour that it has in plots."""

Found: TypeAlias = Callable[[dict[str, Any], int], dict[str, Any] | None]
"""Finds the data of conditions."""

Side: TypeAlias = tuple[str, Results, Results | None]
"""A set of trials: what it is called if there are two, its results, and those before calibration."""


def two_class_page(page: Page) -> str:
    """The page of results of two classes; see `deciban.report.render`."""
    results, before, train = page.results, page.before, page.train
    colors = plots.system_colors(len(results.systems))
    comparison = compare(results, before=before, train=train, train_before=page.train_before)
    sides: list[Side] = [("test" if train else "", results, before)]
    if train is not None:
        trained = Results(matched(train, results, "training"), messages=train.messages)
        sides.insert(0, ("training", trained, page.train_before))
    summed = tables.before_and_after(results, before)
    known = live_data(page, colors)
    drawn = [(side, _figure(one, kind, old, side)) for kind in plots.KINDS for side, one, old in sides]
    text = filled(
        "page.html",
        page,
        list(zip(results.systems, colors, strict=True)),
        summaries=tables.side_by_side(
            tables.summary(summed, colors * (len(summed) // len(colors))), tables.figure_names(summed)
        ),
        comparison=comparison,
        blocks=comparison.blocks(colors) if comparison else [],
        **_of_model(page, sides),
        is_paired=train is not None,
        live=Live.of(known),
        errors=tables.errors(results.systems, colors),
        errors_unit=results.systems[0].axis,
        plots=[figure for _, figure in drawn],
    )
    of_training = [
        (one["title"].removesuffix(", training"), str(_macros().image(one)))
        for side, one in drawn
        if side == "training"
    ]
    text = with_room(text, of_training, MOST - (room_for(results) if known else 0))
    return with_conditions(
        text, results, known, lambda own, room: condition_data(results, colors, np.asarray(own["log_odds"]), room)
    )


def filled(template: str, page: Page, systems: Named, **own: Any) -> str:
    """A template with what pages of both kinds say, and what this one says beside it.

    Text is escaped, and nothing may be left out.
    """
    results, train, model = page.results, page.train, page.model
    if model is not None:
        from deciban.report.models import record_of  # with all of training behind it: other pages do without
    worst = [one for shown in (results.before, results) if shown for one in shown.worst]
    own = {"live": None, **own}
    scripts = scripts_of_tables() if own["live"] is None else own["live"].scripts
    differences = Differences.of(results, page.before)
    drawn = [] if differences is None else differences.drawings()
    return (
        _environment()
        .get_template(template)
        .render(
            differences=differences,
            plans=[(one, []) for shown in (results.before, results) if shown for one in _plan(shown)],
            by_condition=_by_condition(results),
            drawn_differences=[picture(one, TEXTS["differences"][name], "", "of all pairs") for name, one in drawn],
            title=page.title or _title(results),
            message_lines=page.message_lines or _join(results),
            train_message_lines=() if train is None else train.message_lines or _join(train),
            systems=systems,
            answers=[(one, color, in_words(one)) for one, color in systems],
            record=[] if model is None else record_of(model),
            intervals=about_intervals(results.systems),
            texts=TEXTS[results.kind],
            conventions=results.conventions,
            provenance=page.provenance,
            worst=[
                (one.system, headings_of(one, results.classes), rows_of(one, results.classes, number)) for one in worst
            ],
            results=results,
            version=__version__,
            policy=policy(scripts),
            scripts=scripts,
            **own,
        )
    )


def images_written(figures: Sequence[dict[str, str]], wide: Sequence[dict[str, str]]) -> str:
    """Pictures as elements of a page: some beside each other, then those that are as wide as the page."""
    macros = _macros()
    return "\n".join([str(macros.images(figures)), *(str(macros.image(one)) for one in wide)])


def _macros() -> Any:
    return _environment().get_template("macros.html").module


@cache
def _environment() -> Environment:
    """Templates; each is compiled once, which takes longer than to fill it."""
    environment = Environment(
        loader=PackageLoader(__package__),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for write in _WRITERS:
        environment.filters[write.__name__] = write
    return environment


def with_conditions(text: str, results: Results[Any], known: dict[str, Any] | None, found_in: Found) -> str:
    """The page with the numbers of conditions among the data of its scripts, as many as there is room for.

    Parameters
    ----------
    text : str
        The page.
    results : Results
        Maybe with conditions.
    known : dict or None
        Data of its scripts.
    found_in : callable
        Data of conditions, from these and the characters that they may take.
    """
    if known is None or not results.conditions:
        return text
    found = found_in(known, max(min(MOST - len(text.encode("utf-8", "replace")), ROOM), 0))
    return text.replace(as_script_data(known), as_script_data(known | {"conditions": found}), 1)


def _plan(results: Results[Any]) -> list[Any]:
    """The section of a plan; none for results without one."""
    if not results.primaries:
        return []
    from deciban.report.conditions import section_of  # few pages have one

    return section_of(results)


def _by_condition(results: Results[Any]) -> list[tuple[Any, list[dict[str, str]]]]:
    """Sections by condition with their pictures; none for results without conditions."""
    if not results.conditions:
        return []
    from deciban.report.conditions import sections_of  # few pages have some

    return [
        (one, [picture(drawn, TEXTS["conditions"][name], side, "of all systems") for name, side, drawn in one.drawings])
        for one in sections_of(results)
    ]


def notes_by_systems(systems: Named) -> list[tuple[Named, list[str]]]:
    """The notes on the same systems together; these come with their colours."""
    of_all = shared_notes([one for one, _ in systems])
    found = dict[tuple[int, ...], list[str]]()
    for some, note in of_all:
        places = tuple(k for k, (one, _) in enumerate(systems) if any(one is other for other in some))
        found.setdefault(places, []).append(note)
    return [([systems[k] for k in places], notes) for places, notes in found.items()]


_WRITERS = (
    anchor,
    breakable,
    capitalize_first,
    count,
    definition_of,
    notes_by_systems,
    number,
    percent,
    scarce_errors,
    sentence,
    sure,
    typeset,
)
"""Filters of the templates."""


def _of_model(page: Page, sides: Sequence[Side]) -> dict[str, Any]:
    """What the page of two classes alone says of a model, if there is one."""
    model, fusion = page.model, None
    if isinstance(model, ScoreModel) and model.is_fusion:
        from deciban.report.models import fusion_section

        fusion = fusion_section(page)
    return {"fusion": fusion, "model_figures": [] if model is None else _drawn_of_model(model, sides, page)}


def _title(results: Results[Any]) -> str:
    names = [system.name for system in results.systems]
    what = f"{len(names)} systems" if len(names) > 3 else listed(names)
    return f"{len(results.classes)} classes: {what}" if results.classes else f"Evaluation of {what}"


def listed(names: Sequence[str]) -> str:
    """Names as a part of a sentence."""
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def _join(results: Results) -> tuple[str, ...]:
    """Say how scores and key met, for results without message_lines."""
    kinds = ("matched", "missing", "extra", "duplicate")
    counts = [f"{count(getattr(results.join, kind))} {kind}" for kind in kinds] if results.join else []
    return ("join  " + " · ".join(counts),) if counts else ()


def _figure(results: Results, kind: str, before: Results | None, side: str) -> dict[str, str]:
    """Draw one plot of all systems."""
    title, caption = TWO_CLASS["plots"][kind]
    more: dict[str, Any] = {}
    if kind == "bayes_error" and before is not None:
        more["before"] = matched(before, results, "before")
        caption = f"{caption} {TWO_CLASS['before']}"
    drawing = getattr(plots, kind)(results, **more)
    about = f"of {listed([system.name for system in results.systems])}"
    # Where scripts run, a chart of this name stands in place of the picture.
    return {**picture(drawing, (title, caption), side, about), "plot": "" if side == "training" or more else kind}


def _drawn_of_model(model: Model, sides: Sequence[Side], page: Page) -> list[dict[str, str]]:
    """Draw what the model does to scores, and which thresholds it was trained for."""
    from deciban.calibration import Calibrator, rule_weighting

    figures = []
    for side, _, before in sides:
        if isinstance(model, Calibrator) and before is not None and len(before.systems) == 1:
            drawing = plots.calibration_map(before.systems[0], {model.kind: model}, level=page.level)
            figures.append(picture(drawing, TWO_CLASS["calibration_map"], side, f"by {model.kind}"))
    points = dict.fromkeys(
        (point.p_target, point.c_miss, point.c_fa)
        for system in page.results.systems
        for point in system.operating_points
    )
    for step in model.parts if isinstance(model, ScoreModel) else (model,):
        rule = {name: step.settings[name] for name in ("alpha", "beta", "p_target") if name in step.settings}
        if len(rule) == 3:
            drawing = plots.omega(rule_weighting(**rule, operating_points=points))
            figures.append(picture(drawing, TWO_CLASS["omega"], "", "of the training objective"))
    return figures


def with_room(text: str, figures: Sequence[tuple[str, str]], most: int) -> str:
    """Remove pictures of training from a page, the last ones first, until it is small enough.

    The page lists the titles of the removed pictures.

    Parameters
    ----------
    text : str
        A page with all pictures and a `PLACE`.
    figures : sequence of (str, str)
        Title and HTML element of each picture that can be removed.
    most : int
        Maximum size of the page in bytes.

    Returns
    -------
    str
        The page.

    Examples
    --------
    >>> with_room(f"{PLACE}<a><b><c>", [("A", "<a>"), ("B", "<b>")], 2_000)
    '<a><b><c>'
    >>> print(with_room(f"{PLACE}<a><b><c>", [("A", "<a>"), ("B", "<b>")], 30))
    <p class="small">A page has at most 3 MB. There was no room for pictures of the trials of training: A, B.</p><c>
    """
    size, lacking = len(text.encode("utf-8", "replace")), list[str]()
    room = most - _ROOM_OF_WORDS
    for title, element in reversed(figures if size > most else ()):
        if size > room and element in text:
            text = text.replace(element, "", 1)
            size -= len(element.encode("utf-8", "replace"))
            lacking.insert(0, title)
    words = f'<p class="small">{TWO_CLASS["no_room"]} {escape(", ".join(lacking))}.</p>' if lacking else ""
    return text.replace(PLACE, words, 1)
