"""What a page says of a model: settings, parameters and training; of a fusion also what each system is worth to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deciban.analysis import FusionAnalysis, FusionFigures, Selection
from deciban.evaluation import Evaluation
from deciban.fusion.quality_measures import sums_of_measures
from deciban.models import Model
from deciban.models.multiclass import ClassModel
from deciban.models.score_model import ScoreModel
from deciban.models.two_class import Fusion
from deciban.report.tables import Figure, figures_of, points_of
from deciban.report.text import TEXTS, TWO_CLASS, count, number, typeset

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


def fusion_section(model: Any, found: FusionFigures | None, selection: Selection | None) -> dict[str, Any]:
    """What the template says of a trained fusion, and of what was found about it on its trials of training.

    Returns
    -------
    dict
        ``model``, ``selection``; ``caption``: what weights are multiplied by; ``with_errors``: whether weights have
        standard errors; ``drawn``: pictures of weights, none yet. Where systems alone and leave-one-outs
        were evaluated, these figures as ``found``, ``about`` them in words, and how ``figures_of`` an evaluation read.
    """
    kind = "quality" if model.takes_quality else "subset" if model.of_subsets else "linear"
    caption = [_FUSION["weights"][kind], *_combined(model), _FUSION["standardized"]]
    caption += [_FUSION["standardized_quality"]] if model.takes_quality else []
    with_errors = any(row.standard_error is not None for row in model.parameter_rows())
    section = {"model": model, "selection": selection, "caption": " ".join(caption), "found": None}
    section |= {"with_errors": with_errors, "drawn": []}
    if found is not None and found.analysis is not None:
        about = [_FUSION["training"], _FUSION["rows"][kind]]
        about += [_FUSION["other_trials"]] if found.is_of_training is False else []
        about += _objective_gain(found.analysis)
        about += [TWO_CLASS["weighted"]] if any(one.is_weighted for one in (*found.dev, *found.eval)) else []
        section |= {"found": found, "about": " ".join(filter(None, about)), "figures_of": _figures}
    return section


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


def _figures(system: Evaluation) -> list[Figure]:
    return [one for one in figures_of(system, points_of([system])) if one.name.startswith(_SHOWN)]
