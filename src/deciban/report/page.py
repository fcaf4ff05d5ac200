"""The page: tables, notes and plots of the results, put into the template."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, TypeAlias

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined

from deciban import plots
from deciban._version import __version__
from deciban.analysis import FusionAnalysis
from deciban.analysis.fusion import Loss, SystemWorth, worth_of_systems
from deciban.core.resampling.intervals import LEVEL
from deciban.evaluation import Results
from deciban.evaluation.one_system import WithInterval, bounds_in_words, information_in_words, shared_notes
from deciban.evaluation.worst_trials import headings_of, rows_of
from deciban.fusion.quality import sums_of_measures
from deciban.models import Model
from deciban.models.multiclass import ClassModel, parameter_intervals
from deciban.models.score_model import ScoreModel
from deciban.models.two_class import Fusion
from deciban.report import tables
from deciban.report.answers import in_words
from deciban.report.blocks import differences_of, primaries_of, sections_of
from deciban.report.live import ROOM, as_script_data, condition_data, live_data, room_for
from deciban.report.numbers import MISSING, count, number, percent, sure, typeset
from deciban.report.scripts import chart_style, picture, policy, scripts_for
from deciban.report.tables import (
    CORRECTED,
    TEXTS,
    TWO_CLASS,
    Page,
    about_intervals,
    anchor,
    breakable,
    capitalize_first,
    compare,
    definition_of,
    figures_in_words,
    matched,
    scarce_errors,
    side_by_side,
)

MOST = 2_990_000
"""Bytes of a page: the numbers of conditions, and the pictures of single systems, have the room that is left."""

PLACE = "<!-- pictures -->"
"""Where pictures stand in the templates."""

_HALF = 7.2
"""Inches of the widest picture that stands beside another: letters are as large in all pictures, or nearly so."""

_DATA = '<script type="text/plain" id="page-data">'

_ROOM_OF_WORDS = 4_000
"""Bytes for the sentence about pictures that are not there."""

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
    text = filled(
        "page.html",
        page,
        list(zip(results.systems, colors, strict=True)),
        known,
        summaries=side_by_side(
            list(zip(summed, colors * (len(summed) // len(colors)), strict=True)), tables.summary(summed)
        ),
        comparison=comparison,
        blocks=list(comparison.blocks(colors)) if comparison else [],
        **_of_model(page, sides),
        errors=tables.errors(results.systems, colors),
        errors_unit=results.systems[0].axis,
    )
    drawn = [_plot(one, kind, old, side) for kind in plots.KINDS for side, one, old in sides]
    text = with_pictures(text, drawn, room_for(results) if known else 0, is_paired=train is not None)
    return with_conditions(
        text, results, known, lambda own, room: condition_data(results, colors, np.asarray(own["log_odds"]), room)
    )


def filled(template: str, page: Page, systems: Named, known: dict[str, Any] | None, **own: Any) -> str:
    """A template with what pages of both kinds say, and what this one says beside it.

    Text is escaped, and nothing may be left out.
    """
    results, train, model = page.results, page.train, page.model
    worst = [one for shown in (results.before, results) if shown for one in shown.worst]
    scripts = scripts_for(known)
    return (
        _environment()
        .get_template(template)
        .render(
            primaries=[one for shown in (results.before, results) if shown for one in primaries_of(shown)],
            by_condition=sections_of(results),
            differences=differences_of(results, page.before),
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
            live=known and {"data": as_script_data(known), "level": known["level"], "style": chart_style()},
            **own,
        )
    )


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of a page, drawn when it is asked for.

    Attributes
    ----------
    draw : callable
    texts : (str, str)
        Title and caption.
    side : str
        The trials or the system that it is about; empty if it is about all.
    about : str
    rank : int
        Those of a low rank are drawn first; those above 0 leave room for other things.
    plot : str
        Name of the chart that stands in its place where scripts run.
    """

    draw: Callable[[], Any]
    texts: Sequence[str]
    side: str
    about: str
    rank: int = 0
    plot: str = ""

    def written(self) -> tuple[float, dict[str, str]]:
        """Draw it: inches, and what a template needs."""
        drawing = self.draw()
        inches = float(drawing.get_figwidth()) if hasattr(drawing, "get_figwidth") else 0.0
        return inches, {**picture(drawing, self.texts, self.side, self.about), "plot": self.plot}


def with_pictures(text: str, found: Iterable[Picture], reserved: int = 0, *, is_paired: bool = False) -> str:
    """Put pictures into a page, as many as leave it below its limit; it names those that lack.

    Parameters
    ----------
    text : str
        A page with a `PLACE`.
    found : iterable of Picture
        In the order in which they shall stand.
    reserved : int
        Bytes that something else shall have room for.
    is_paired : bool
        Whether two stand beside each other.
    """
    macros: Any = _environment().get_template("macros.html").module
    room = MOST - len(text.encode("utf-8", "replace")) - _ROOM_OF_WORDS
    shown: dict[int, tuple[float, dict[str, str]]] = {}
    lacking = Counter[str]()
    for place, one in sorted(enumerate(found), key=lambda pair: pair[1].rank):
        title = one.texts[0]
        written = None if title in lacking else one.written()  # neither is the next one of this kind drawn
        size = 0 if written is None else len(str(macros.image(written[1])).encode("utf-8", "replace"))
        if written is None or size > room - (reserved if one.rank else 0):
            lacking[title] += 1
        else:
            shown[place] = written
            room -= size
    drawn = [shown[place] for place in sorted(shown)]
    beside, wide = ([one for inches, one in drawn if (inches > _HALF) == is_wide] for is_wide in (False, True))
    elements = "\n".join([str(macros.images(beside, is_paired)), *(str(macros.image(one)) for one in wide)])
    names = ", ".join(f"{title} ({n})" for title, n in lacking.items())
    return text.replace(
        PLACE, elements + (f'\n<p class="small">{TEXTS["page"]["no_room"]} {names}.</p>' if names else ""), 1
    )


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
    before, start, rest = text.partition(_DATA)
    return before + start + as_script_data(known | {"conditions": found}) + rest[rest.index("<") :]


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
    information_in_words,
    sure,
    typeset,
)
"""Filters of the templates."""


def _of_model(page: Page, sides: Sequence[Side]) -> dict[str, Any]:
    """What the page of two classes alone says of a model, if there is one."""
    model, fusion = page.model, None
    if isinstance(model, ScoreModel) and model.is_fusion:
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


def _plot(results: Results, kind: str, before: Results | None, side: str) -> Picture:
    """One plot of all systems; that of training trials stands in no chart's place, and goes first for want of room."""
    title, caption = TWO_CLASS["plots"][kind]
    more: dict[str, Any] = {}
    if kind == "bayes_error" and before is not None:
        more["before"] = matched(before, results, "before")
        caption = f"{caption} {TWO_CLASS['before']}"
    about = f"of {listed([system.name for system in results.systems])}"
    is_training = side == "training"
    chart = "" if is_training or more else kind
    return Picture(partial(getattr(plots, kind), results, **more), (title, caption), side, about, is_training, chart)


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


_MOST_ROWS = 60
"""Classes or systems that a picture has rows for: of more there is the table alone."""


_MOST_LINES = 10
"""Classes whose maps are told apart in one picture."""


def parameter_pictures(model: Model, level: float | None, classes: Sequence[str] = ()) -> list[dict[str, str]]:
    """Weights of a fusion; of a map of many classes its scale and the offset of each class, or the map of each class.

    Parameters
    ----------
    model : Model
        Trained; others than these have no such pictures.
    level : float or None
        Of intervals.
    classes : sequence of str
        What classes are called if the model does not know.

    Returns
    -------
    list of dict
        What a template needs of each.
    """
    if not isinstance(model, ScoreModel):
        return []
    level, texts, found = LEVEL if level is None else level, TEXTS[model.scores_kind], []
    if _has_weights(model):
        found.append(picture(plots.fusion_weights(model, level=level), texts["fusion_weights"], "", "of the fusion"))
    if not isinstance(model, ClassModel):
        return found
    maps = dict(zip(model.classes_ or tuple(classes) or model.counted, model.detector_maps.values(), strict=False))
    if 0 < len(maps) <= _MOST_LINES:
        return [*found, picture(plots.calibration_map(None, maps), texts["of_each"]["map"], "", "of the model")]
    known = parameter_intervals(model, classes=classes, level=level)
    each = has_own_scales(model)
    texts = texts["of_each"] if each else texts
    for what in ("scale", "offset"):
        rows = [one for one in known if one.what == what]
        is_told = each or any(one.low is not None if what == "scale" else one.value for one in rows)
        if is_told and len(rows) <= _MOST_ROWS:
            drawing = plots.class_parameters(model, what=what, classes=classes, level=level)
            found.append(picture(drawing, texts[what], "", "of the model"))
    return found


def has_own_scales(model: ClassModel) -> bool:
    """Whether each class has a scale of its own, as each is calibrated against the rest."""
    return any(what == "scale" and whom for what, whom, _ in model.parameter_numbers(model.counted))


def _has_weights(model: ScoreModel) -> bool:
    """Whether it is a fusion of so many systems as a picture has rows for."""
    if not model.is_fusion or len(model.trained_systems) > _MOST_ROWS:
        return False
    return isinstance(model, ClassModel) or any(row.standardized is not None for row in model.parameter_rows())


def worth_pictures(losses: Sequence[SystemWorth], kind: str, level: float | None) -> list[dict[str, str]]:
    """The loss of a fusion without each of its systems; empty if it is not known.

    Parameters
    ----------
    losses : sequence of SystemWorth
    kind : str
        Of the results.
    level : float or None
        Of intervals.
    """
    if not any(one.dev or one.eval for one in losses) or len(losses) > _MOST_ROWS:
        return []
    drawing = plots.system_worth(losses, level=LEVEL if level is None else level)
    return [picture(drawing, TEXTS[kind]["system_worth"], "", "of the fusion")]


_WORDS: dict[str, dict[str, str]] = TEXTS["model"]
_COUNTS, _RESULTS, _OF_SUBSETS = (_WORDS[name] for name in ("counts", "results", "of_subsets"))
_LONGEST = 300


def record_of(model: Model) -> list[tuple[str, str]]:
    """Return what a reader of a report wants to know of a model.

    Examples
    --------
    >>> from deciban.calibration import AffineCalibrator
    >>> model = AffineCalibrator().fit([1.0, 2.0, 0.0, 1.5], [True, True, False, False])
    >>> dict(record_of(model))["Trained on"]
    '2 target · 2 non-target'
    """
    rows = [("Kind", model.kind)]
    parts = model.parts if isinstance(model, ScoreModel) else ()
    if parts and parts != (model,):
        rows += [
            (f"Step {k}", f"{step.kind}: {_listed(step.settings | step.parameters())}")
            for k, step in enumerate(parts, 1)
        ]
    else:
        settings = {name: value for name, value in model.settings.items() if value is not None}
        rows += [("Settings", _listed(settings))] if settings else []
        has_table = isinstance(model, ClassModel) or (isinstance(model, ScoreModel) and model.is_fusion)
        lines = model.parameter_lines() if isinstance(model, ScoreModel) and model.errors_in_order else []
        shown = typeset("; ".join(lines)) if lines else _listed(model.parameters())
        rows += [] if has_table else [("Parameters", shown)]
    rows += [_split(line) for line in model.uncertainty_lines()] if isinstance(model, ScoreModel) else []
    training = model.training_
    if training is None:
        return rows
    counts = " · ".join(f"{count(n)} {_COUNTS.get(name, name)}" for name, n in training.counts.items())
    rows.append(("Trained on", counts))
    if training.systems:
        rows.append(("Systems", ", ".join(training.systems)))
    rows += [(_named(name, training.systems), _text(value)) for name, value in training.results.items()]
    plainer = model.without_quality if isinstance(model, Fusion) else None
    if plainer is not None and (alone := plainer.training_) is not None:
        rows += [(f"{_RESULTS[name]}, without quality", _text(alone.results[name])) for name in ("objective", "status")]
    return [*rows, ("Fingerprint of the training data", training.fingerprint)]


def _split(line: str) -> tuple[str, str]:
    what, _, words = line.partition(": ")
    return what.capitalize(), typeset(words)


def _named(result: str, systems: Sequence[str]) -> str:
    """What a result is called; those of subsets of systems end in numbers of systems, such as 0+2."""
    kind, _, numbers = result.rpartition("_")
    if kind in _OF_SUBSETS:
        known = [systems[int(k)] if systems else f"system {k}" for k in numbers.split("+")]
        return _OF_SUBSETS[kind].format(" + ".join(known))
    return _RESULTS.get(result, result.replace("_", " ").capitalize())


def _listed(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} {_text(value)}" for name, value in values.items())


def _text(value: Any) -> str:
    if isinstance(value, float):
        return typeset(f"{value:.6g}")
    if isinstance(value, list) and value and all(isinstance(entry, float) for entry in value):
        return f"({len(value)} values from {_text(min(value))} to {_text(max(value))})"
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


_FUSION = TEXTS["fusion"]
_SHOWN = ("EER", "minDCF", "actDCF", "Cllr", "min Cllr")
_SHOWN_OF_CLASSES = ("Cllr", "min Cllr", "C_avg", "normalized C_avg", "error rate")


def fusion_section(page: Page) -> dict[str, Any]:
    """What the template says of the trained fusion of a page, and of what was found about it on its trials of training.

    Returns
    -------
    dict
        ``model``, ``selection``; ``caption``: what weights are multiplied by; ``with_errors``: whether weights have
        standard errors; ``drawn``: pictures of its parameters; ``worth``, as in `worth_section`.
    """
    model: Any = page.model
    caption = [_FUSION["weights"][_form_of(model)], *_combined(model), _FUSION["standardized"]]
    caption += [_FUSION["standardized_quality"]] if model.takes_quality else []
    with_errors = any(row.standard_error is not None for row in model.parameter_rows())
    section = {"model": model, "selection": page.selection, "caption": " ".join(caption), "with_errors": with_errors}
    return section | {"drawn": parameter_pictures(model, page.level), "worth": worth_section(page)}


def _form_of(model: ScoreModel) -> str:
    return "quality" if model.takes_quality else "subset" if model.of_subsets else "linear"


def worth_section(page: Page) -> dict[str, Any] | None:
    """What the systems of a fusion are worth, of two classes or of many; None where nothing was left out.

    Returns
    -------
    dict or None
        The figures as ``found``, ``about`` them in words, their ``names``, and of ``sets`` of trials those that there
        are; ``cells`` of an evaluation, None for none; ``losses`` without each system on each set; ``drawn``: pictures.
    """
    found, model = page.figures, page.model
    if found is None or found.whole is None or not isinstance(model, ScoreModel):
        return None
    about = [_FUSION["training"], _FUSION["rows"][_form_of(model)]]
    about += [_FUSION["other_trials"]] if found.is_of_training is False else []
    about += [] if found.analysis is None else _objective_gain(found.analysis)
    about += [TWO_CLASS["weighted"]] if any(map(_is_weighted, (*found.dev, *found.eval))) else []
    first = _figures(found.dev[0])

    def cells(one: Any) -> list[str]:
        return [MISSING] * (len(first) + 1) if one is None else [_n_trials(one), *_figures(one).values()]

    sets = ("training", "test") if found.eval else ("training",)
    losses = worth_of_systems(
        found.names, found.whole, found.without, level=LEVEL if page.level is None else page.level
    )
    section = {"found": found, "about": " ".join(filter(None, about)), "names": list(first), "sets": sets}
    section |= {"losses": [(one.name, [_loss_text(x) for x in (one.dev, one.eval)[: len(sets)]]) for one in losses]}
    return section | {"cells": cells, "drawn": worth_pictures(losses, model.scores_kind, page.level)}


def _loss_text(loss: Loss | None) -> str:
    """A rise of Cllr with its interval."""
    if loss is None:
        return MISSING
    text = number(loss.value, 4)
    if loss.interval is None:
        return text
    low, high = map(typeset, bounds_in_words(loss.interval, beside=text))
    return WithInterval(text, low, high)


def _combined(model: Any) -> list[str]:
    """Say which weighted sums of measures the names of rows stand for."""
    if not model.takes_quality:
        return []
    by_side = sums_of_measures(model)
    sums = dict.fromkeys(f"{name} = {text}" for side in by_side.values() for name, text in side if name != text)
    if len({tuple(side) for side in by_side.values()}) > 1:
        sums = {f"{name} of {side} = {text}": None for side in by_side for name, text in by_side[side] if name != text}
    return [_FUSION["measures"].format("; ".join(sums))] if sums else []


def _objective_gain(analysis: FusionAnalysis) -> list[str]:
    best, own = analysis.best_single, analysis.fusion.penalized_objective
    if best is None or best.penalized_objective is None or own is None:
        return []
    return [_FUSION["objective"].format(number(own, 5), number(best.penalized_objective, 5), best.name)]


def _figures(one: Any) -> dict[str, str]:
    """Some figures of an evaluation by what they are called."""
    is_multiclass = one.kind == "classes"
    shown = _SHOWN_OF_CLASSES if is_multiclass else _SHOWN
    known = {name: text for name, text in figures_in_words(one).items() if name.startswith(shown)}
    return {name: text for name, text in known.items() if is_multiclass or not name.endswith(CORRECTED)}


def _n_trials(one: Any) -> str:
    return count(float(one.counts.sum()) if one.kind == "classes" else one.n_tar + one.n_non)


def _is_weighted(one: Any) -> bool:
    return bool(getattr(one, "is_weighted", False))  # of many classes, weights are in every number
