"""The two-class page: tables, notes and charts of results in a template, and common parts of all pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined

from deciban import calibration, plots
from deciban._version import __version__
from deciban.analysis.comparison import Comparison
from deciban.core.resampling.intervals import LEVEL
from deciban.errors import listed
from deciban.evaluation import Results
from deciban.evaluation.breakdowns import headings_of, rows_of
from deciban.evaluation.one_system import WithInterval, bounds_in_words, has_llrs, information_in_words, shared_notes
from deciban.models import Model
from deciban.models.multiclass import ClassModel, parameter_intervals
from deciban.models.score_model import Fusion, ScoreModel
from deciban.report import cards
from deciban.report import tables as page_tables
from deciban.report.answers import in_words
from deciban.report.live import ROOM, as_script_data, condition_data, live_data
from deciban.report.scripts import chart_style, picture, policy, scripts_for, style
from deciban.report.tables import date_written
from deciban.tables.results import leaderboard_table, leads_with_rates
from deciban.tables.writers import MISSING, count, number, percent, sure, typeset
from deciban.types import Axis

if TYPE_CHECKING:
    from deciban.analysis.fusion import FusionAnalysis, Loss, SystemWorth
    from deciban.analysis.leaderboard import Leaderboard
    from deciban.evaluation.one_system import OneSystem
    from deciban.fusion.quality import QualityFusion


MOST = 2_990_000
"""Maximum bytes of a page: numbers of conditions use the remaining space."""

_DATA = '<script type="text/plain" id="page-data">'

Named: TypeAlias = Sequence[tuple[Any, str]]
"""Evaluations with their colours in plots."""

Addable: TypeAlias = Callable[[dict[str, Any], int], dict[str, Any] | None]
"""Function that returns the data of conditions."""

Side: TypeAlias = tuple[str, Results, Results | None]
"""A set of trials: its name if there are two, its results, and results before calibration."""


def two_class_page(page: page_tables.Page) -> str:
    """Return the page of two-class results; see `deciban.report.render`."""
    results, before, train = page.results, page.before, page.train
    colors = plots.system_colors(len(results.systems))
    comparison = page_tables.compare(results, before=before, train=train, train_before=page.train_before)
    sides: list[Side] = [("test" if train else "", results, before)]
    if train is not None:
        trained = Results(page_tables.matched(train, results, "training"), messages=train.messages)
        sides.insert(0, ("training", trained, page.train_before))
    summed = page_tables.before_and_after(results, before)
    compared = cards.comparison_of(results, before)
    known = live_data(page, colors, compared)
    text = filled(
        "page.html",
        page,
        list(zip(results.systems, colors, strict=True)),
        known,
        compared,
        summaries=page_tables.side_by_side(
            list(zip(summed, colors * (len(summed) // len(colors)), strict=True)), page_tables.summary(summed)
        ),
        comparison=comparison,
        blocks=list(comparison.blocks(colors)) if comparison else [],
        **_of_model(page, sides),
        classifier=classifier_tables_of(results),
        errors=page_tables.errors(results.systems, colors),
        errors_unit=results.systems[0].axis,
        charts=cards.charts_of(page_tables.TWO_CLASS["plots"]),
        has_others=train is not None or before is not None,
    )
    sets = {"before calibration": before, "training trials": train}
    sets |= {"training trials, before calibration": page.train_before}
    others = [(name, page_tables.matched(some, results, name)) for name, some in sets.items() if some is not None]
    return with_conditions(
        text, known, lambda own, room: condition_data(results, colors, np.asarray(own["log_odds"]), room, others)
    )


def filled(
    template: str,
    page: page_tables.Page,
    systems: Named,
    known: dict[str, Any] | None,
    compared: Comparison | None,
    **own: object,
) -> str:
    """Render a template with the common content of all pages, and with its own content.

    Text is escaped, and missing variables are errors.
    """
    results, train, model = page.results, page.train, page.model
    scripts = scripts_for(known)
    answers = [(one, color, in_words(one, with_calibration=not leads_with_rates(results))) for one, color in systems]
    tables_of_worst = _tables_of_worst(results)
    if page.link is not None:
        cards.require_link(page.link, tables_of_worst[0][1] if tables_of_worst else ())
    page_template = _environment().get_template(template)
    text = page_template.render(
        primaries=cards.leading_of(results, page.spoofing),
        by_condition=cards.sections_of(results),
        differences=cards.differences_of(compared),
        changes=cards.changes_of(results, page.baseline),
        title=page.title or _title(results),
        message_lines=page.message_lines or _join(results),
        train_message_lines=() if train is None else train.message_lines or _join(train),
        systems=systems,
        answers=answers,
        cards=cards.cards_of(answers, page.spoofing),
        facts=cards.facts_of(results),
        author=page.author,
        note=None if page.note is None else cards.note_of(page.note),
        link=page.link,
        record=[] if model is None else record_of(model),
        intervals=page_tables.about_intervals(results.systems),
        texts=page_tables.TEXTS[results.kind],
        provenance=page.provenance,
        worst=tables_of_worst,
        results=results,
        version=__version__,
        policy=policy(scripts),
        scripts=scripts,
        style=style(),
        live=_for_scripts(known),
        **own,
    )
    return cards.with_navigation(text)


def _tables_of_worst(results: Results) -> list[tuple[Any, ...]]:
    """Return tables of misleading trials: system, headings, rows, "before" if before a model, True if it has llrs."""
    axis: Axis = getattr(results.systems[0], "axis", "nats")
    return [
        (
            one.system,
            headings_of(one, results.classes, axis),
            list(zip(rows_of(one, results.classes, number, axis), one.trials, strict=True)),
            part,
            any(has_llrs(system) for system in shown.systems if system.name == one.system),
        )
        for part, shown in (("before", results.before), ("", results))
        if shown is not None
        for one in shown.worst
    ]


def _for_scripts(known: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the script data of a page for its template."""
    if known is None:
        return None
    entries = {"data": as_script_data(known), "style": chart_style(), "has_curves": bool(known.get("charts"))}
    return entries | {"level": known["level"]}


@cache
def _environment() -> Environment:
    """Return the template environment, cached because compiling takes longer than rendering."""
    environment = Environment(
        loader=PackageLoader(__package__),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {write.__name__: write for write in _WRITERS}
    return environment


def classifier_tables_of(results: Results) -> list[Any]:
    """Return tables of the metrics of classifier papers, if they were requested."""
    if not any(one.requested.classifier for one in results.systems):
        return []
    from deciban.tables.error_rates import classifier_tables  # loads on request

    return list(classifier_tables(results.systems))


def leaderboard_page(boards: Sequence[Leaderboard], remarks: Sequence[str]) -> str:
    """Return a page with a sortable table for each set of comparable saved results.

    Parameters
    ----------
    boards : sequence of Leaderboard
    remarks : sequence of str
    """
    scripts = scripts_for(None)
    shown = [(one, leaderboard_table(one)) for one in boards]
    own = {"boards": shown, "remarks": remarks, "scripts": scripts, "policy": policy(scripts), "style": style()}
    return _environment().get_template("leaderboard.html").render(version=__version__, **own)


def statement_page(rows: Sequence[tuple[str, str]], files: Sequence[dict[str, Any]]) -> str:
    """Return a printable page with the parts of a statement, and files with their hashes."""
    template = _environment().get_template("statement.html")
    return template.render(rows=rows, files=files, written=date_written(), version=__version__)


def with_conditions(text: str, known: dict[str, Any] | None, found_in: Addable) -> str:
    """Add the numbers of as many conditions as fit to the script data of a page.

    Parameters
    ----------
    text : str
        The page.
    known : dict or None
        Script data of the page.
    found_in : callable
        Returns the data of conditions, from the script data and a number of characters.
    """
    room = 0 if known is None else max(min(MOST - len(text.encode("utf-8", "replace")), ROOM), 0)
    result = found_in(known, room) if known is not None else None
    if known is None or result is None:
        return text
    before, start, rest = text.partition(_DATA)
    return before + start + as_script_data(known | {"conditions": result}) + rest[rest.index("<") :]


def notes_by_systems(systems: Named) -> list[tuple[Named, list[str]]]:
    """Group notes by the systems that they apply to; systems come with their colours."""
    of_all = shared_notes([one for one, _ in systems])
    entries = dict[tuple[int, ...], list[str]]()
    for some, note in of_all:
        places = tuple(k for k, (one, _) in enumerate(systems) if any(one is other for other in some))
        entries.setdefault(places, []).append(note)
    return [([systems[k] for k in places], notes) for places, notes in entries.items()]


_WRITERS = (
    page_tables.anchor,
    page_tables.breakable,
    page_tables.capitalize_first,
    count,
    page_tables.definition_of,
    notes_by_systems,
    number,
    percent,
    page_tables.scarce_errors,
    information_in_words,
    cards.linked,
    cards.with_minus_signs,
    sure,
    typeset,
)
"""Filters of the templates."""


def _of_model(page: page_tables.Page, sides: Sequence[Side]) -> dict[str, Any]:
    """Return template data of a model for the two-class page."""
    model, fusion = page.model, None
    if isinstance(model, ScoreModel) and model.is_fusion:
        fusion = fusion_section(page)
    return {"fusion": fusion, "model_figures": [] if model is None else _drawn_of_model(model, sides, page)}


def _title(results: Results[Any]) -> str:
    names = [system.name for system in results.systems]
    what = f"{len(names)} systems" if len(names) > 3 else listed(names)
    return f"{len(results.classes)} classes: {what}" if results.classes else f"Evaluation of {what}"


def _join(results: Results) -> tuple[str, ...]:
    """Return a line on the join of scores and key, for results without message_lines."""
    kinds = ("matched", "missing", "extra", "duplicate")
    counts = [f"{count(getattr(results.join, kind))} {kind}" for kind in kinds] if results.join else []
    return ("join  " + " · ".join(counts),) if counts else ()


def _drawn_of_model(model: Model, sides: Sequence[Side], page: page_tables.Page) -> list[dict[str, str]]:
    """Draw the map of the model, and the weights of its training objective."""
    figures = []
    for side, _, before in sides:
        if isinstance(model, calibration.Calibrator) and before is not None and len(before.systems) == 1:
            drawing = plots.calibration_map(before.systems[0], {model.kind: model}, level=page.level)
            figures.append(picture(drawing, page_tables.TWO_CLASS["calibration_map"], side, f"by {model.kind}"))
    systems = page.results.systems
    points = dict.fromkeys((one.p_target, one.c_miss, one.c_fa) for own in systems for one in own.operating_points)
    for step in model.parts if isinstance(model, ScoreModel) else (model,):
        rule = {name: step.settings[name] for name in ("alpha", "beta", "p_target") if name in step.settings}
        if len(rule) == 3:
            drawing = plots.omega(calibration.rule_weighting(**rule, operating_points=points))
            figures.append(picture(drawing, page_tables.TWO_CLASS["omega"], "", "of the training objective"))
    return figures


_MOST_ROWS = 60
"""Largest number of classes or systems in a picture; with more, there is only the table."""


_MOST_LINES = 10
"""Largest number of classes whose maps are in one picture."""


def parameter_pictures(model: Model, level: float | None, classes: Sequence[str] = ()) -> list[dict[str, str]]:
    """Draw weights of a fusion; for multiclass maps, the scale and the offset of each class, or the map of each class.

    Parameters
    ----------
    model : Model
        Trained; other kinds of models have no such pictures.
    level : float or None
        Level of intervals.
    classes : sequence of str
        Names of the classes if the model has none.

    Returns
    -------
    list of dict
        Template data of each picture.
    """
    if not isinstance(model, ScoreModel):
        return []
    level, texts, figures = LEVEL if level is None else level, page_tables.TEXTS[model.scores_kind], []
    if _has_weights(model):
        figures.append(picture(plots.fusion_weights(model, level=level), texts["fusion_weights"], "", "in the fusion"))
    if not isinstance(model, ClassModel):
        return figures
    maps = dict(zip(model.classes_ or tuple(classes) or model.counted, model.detector_maps.values(), strict=False))
    if 0 < len(maps) <= _MOST_LINES:
        return [*figures, picture(plots.calibration_map(None, maps), texts["of_each"]["map"], "", "of the model")]
    known = parameter_intervals(model, classes=classes, level=level)
    each = has_own_scales(model)
    texts = texts["of_each"] if each else texts
    for what in ("scale", "offset"):
        rows = [one for one in known if one.what == what]
        is_told = each or any(one.low is not None if what == "scale" else one.value for one in rows)
        if is_told and len(rows) <= _MOST_ROWS:
            drawing = plots.class_parameters(model, what=what, classes=classes, level=level)
            figures.append(picture(drawing, texts[what], "", "of the model"))
    return figures


def has_own_scales(model: ClassModel) -> bool:
    """Return True if each class has a separate scale, because it is calibrated against the rest."""
    return any(what == "scale" and whom for what, whom, _ in model.parameter_numbers(model.counted))


def _has_weights(model: ScoreModel) -> bool:
    """Return True for a fusion whose systems fit into a picture."""
    if not model.is_fusion or len(model.trained_systems) > _MOST_ROWS:
        return False
    return isinstance(model, ClassModel) or any(row.standardized is not None for row in model.parameter_rows())


def worth_pictures(losses: Sequence[SystemWorth], kind: str, level: float | None) -> list[dict[str, str]]:
    """Draw the loss of a fusion without each of its systems; empty if it is unknown.

    Parameters
    ----------
    losses : sequence of SystemWorth
    kind : str
        Kind of the results.
    level : float or None
        Level of intervals.
    """
    if not any(one.dev or one.eval for one in losses) or len(losses) > _MOST_ROWS:
        return []
    drawing = plots.system_worth(losses, level=LEVEL if level is None else level)
    return [picture(drawing, page_tables.TEXTS[kind]["system_worth"], "", "in the fusion")]


_WORDS: dict[str, dict[str, str]] = page_tables.TEXTS["model"]
_COUNTS, _RESULTS, _OF_SUBSETS = (_WORDS[name] for name in ("counts", "results", "of_subsets"))
_LONGEST = 300


def record_of(model: Model) -> list[tuple[str, str]]:
    """Return terms and values of the record of a model.

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
        steps = (f"{step.kind}: {_listed(step.settings | step.parameters())}" for step in parts)
        rows += [(f"Step {k}", words) for k, words in enumerate(steps, 1)]
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
    """Return the name of a training result; names for subsets of systems end in numbers of systems, such as 0+2."""
    kind, _, numbers = result.rpartition("_")
    if kind in _OF_SUBSETS:
        known = [systems[int(k)] if systems else f"system {k}" for k in numbers.split("+")]
        return _OF_SUBSETS[kind].format(" + ".join(known))
    return _RESULTS.get(result, result.replace("_", " ").capitalize())


def _listed(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} {_text(value)}" for name, value in values.items())


def _text(value: object) -> str:
    if isinstance(value, float):
        return typeset(f"{value:.6g}")
    if isinstance(value, list) and value and all(isinstance(entry, float) for entry in value):
        return f"({len(value)} values from {_text(min(value))} to {_text(max(value))})"
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


_FUSION = page_tables.TEXTS["fusion"]
_SHOWN = ("EER", "minDCF", "actDCF", "Cllr", "min Cllr")
_SHOWN_OF_CLASSES = ("Cllr", "min Cllr", "C_avg", "normalized C_avg", "error rate")


def fusion_section(page: page_tables.Page) -> dict[str, Any]:
    """Return template data of the trained fusion of a page, and of results on its training trials.

    Returns
    -------
    dict
        ``model``, ``selection``; ``caption``: explanation of the weights; ``with_errors``: True if weights have
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


def worth_section(page: page_tables.Page) -> dict[str, Any] | None:
    """Return template data on the contribution of each system to a fusion; None without leave-one-out fusions.

    Returns
    -------
    dict or None
        ``found``: the metrics; ``about``: explanation; ``names`` of the metrics; ``sets``: names of the sets of trials;
        ``cells``: function that returns table cells of an evaluation or None; ``losses`` without each system on each
        set; ``drawn``: pictures.
    """
    result, model = page.metrics, page.model
    if result is None or result.whole is None or not isinstance(model, ScoreModel):
        return None
    about = [_FUSION["training"], _FUSION["rows"][_form_of(model)]]
    about += [_FUSION["other_trials"]] if result.is_of_training is False else []
    about += [] if result.analysis is None else _objective_gain(result.analysis)
    is_weighted = any(getattr(one, "is_weighted", False) for one in (*result.dev, *result.eval))
    about += [page_tables.TWO_CLASS["weighted"]] if is_weighted else []
    first = _metrics(result.dev[0])

    def cells(one: Any) -> list[str]:
        if one is None:
            return [MISSING] * (len(first) + 1)
        n_trials = float(one.counts.sum()) if one.kind == "classes" else one.n_tar + one.n_non
        return [count(n_trials), *_metrics(one).values()]

    from deciban.analysis.fusion import worth_of_systems  # loads all of training

    sets, level = ("training", "test") if result.eval else ("training",), LEVEL if page.level is None else page.level
    losses = worth_of_systems(result.names, result.whole, result.without, level=level)
    section = {"found": result, "about": " ".join(filter(None, about)), "names": list(first), "sets": sets}
    section |= {"losses": [(one.name, [_loss_text(x) for x in (one.dev, one.eval)[: len(sets)]]) for one in losses]}
    return section | {"cells": cells, "drawn": worth_pictures(losses, model.scores_kind, page.level)}


def _loss_text(loss: Loss | None) -> str:
    """Write an increase of Cllr with its interval."""
    if loss is None:
        return MISSING
    text = number(loss.value, 4)
    if loss.interval is None:
        return text
    low, high = map(typeset, bounds_in_words(loss.interval, beside=text))
    return WithInterval(text, low, high)


def _combined(model: QualityFusion) -> list[str]:
    """Return a sentence on the weighted sums of measures that row names stand for."""
    if not model.takes_quality:
        return []
    from deciban.fusion.quality import sums_of_measures  # loads all of training

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


def _metrics(one: OneSystem) -> dict[str, str]:
    """Return some metrics of an evaluation by their names."""
    is_multiclass = one.kind == "classes"
    shown = _SHOWN_OF_CLASSES if is_multiclass else _SHOWN
    known = {name: text for name, text in page_tables.metrics_in_words(one).items() if name.startswith(shown)}
    return {name: text for name, text in known.items() if is_multiclass or not name.endswith(page_tables.CORRECTED)}
