"""What a page says of a fusion: its weights, what each system is worth to it, and how much systems differ."""

from __future__ import annotations

from typing import Any

from deciban.analysis import FusionAnalysis, FusionFigures, Selection
from deciban.evaluation import Evaluation
from deciban.fusion.quality_measures import sums_of_measures
from deciban.report.tables import Figure, figures_of, points_of
from deciban.report.text import TEXTS, TWO_CLASS, number

_TEXTS = TEXTS["fusion"]
_SHOWN = ("EER", "minDCF", "actDCF", "Cllr", "min Cllr")


def fusion_section(model: Any, found: FusionFigures | None, selection: Selection | None) -> dict[str, Any]:
    """What the template says of a trained fusion, and of what was found about it on its trials of training.

    Returns
    -------
    dict
        ``model``, ``selection``; ``caption``: what weights are multiplied by. Where systems alone and leave-one-outs
        were evaluated, these figures as ``found``, ``about`` them in words, and how ``figures_of`` an evaluation read.
    """
    kind = "quality" if model.takes_quality else "subset" if model.of_subsets else "linear"
    caption = [_TEXTS["weights"][kind], *_combined(model), _TEXTS["standardized"]]
    caption += [_TEXTS["standardized_quality"]] if model.takes_quality else []
    section = {"model": model, "selection": selection, "caption": " ".join(caption), "found": None}
    if found is not None and found.analysis is not None:
        about = [_TEXTS["training"], _TEXTS["rows"][kind]]
        about += [_TEXTS["other_trials"]] if found.is_of_training is False else []
        about += _gain(found.analysis)
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
    return [_TEXTS["measures"].format("; ".join(sums))] if sums else []


def _gain(analysis: FusionAnalysis) -> list[str]:
    best, own = analysis.best_single, analysis.fusion.penalized_objective
    if best is None or best.penalized_objective is None or own is None:
        return []
    return [_TEXTS["objective"].format(number(own, 5), number(best.penalized_objective, 5), best.name)]


def _figures(system: Evaluation) -> list[Figure]:
    return [one for one in figures_of(system, points_of([system])) if one.name.startswith(_SHOWN)]
