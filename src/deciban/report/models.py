"""The section of a page on a model: settings, parameters, training, plots, and the worth of each system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deciban import plots
from deciban.analysis import FusionAnalysis
from deciban.analysis.fusion import Loss, SystemWorth, worth_of_systems
from deciban.core.resampling.intervals import LEVEL
from deciban.evaluation.uncertainty import WithInterval, bounds_in_words
from deciban.fusion.quality import sums_of_measures
from deciban.models import Model
from deciban.models.multiclass import ClassModel, parameter_intervals
from deciban.models.score_model import ScoreModel
from deciban.models.two_class import Fusion
from deciban.report.content import Page
from deciban.report.scripts import picture
from deciban.report.tables import MISSING, TEXTS, TWO_CLASS, count, figures_of, number, points_of, typeset

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
    """What a fusion loses without each of its systems; none where nothing is known of that.

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
    if one.kind == "classes":
        from deciban.report.multiclass import figures_of_classes  # pages of two classes do without

        return {name: text for name, text in figures_of_classes(one).items() if name.startswith(_SHOWN_OF_CLASSES)}
    return {row.name: row.text for row in figures_of(one, points_of([one])) if row.name.startswith(_SHOWN)}


def _n_trials(one: Any) -> str:
    return count(float(one.counts.sum()) if one.kind == "classes" else one.n_tar + one.n_non)


def _is_weighted(one: Any) -> bool:
    return bool(getattr(one, "is_weighted", False))  # of many classes, weights are in every number
