"""What a model file tells: settings, parameters and how training went, as terms and texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deciban.models import Model
from deciban.models.multiclass import ClassModel
from deciban.models.score_model import ScoreModel
from deciban.models.two_class import Fusion
from deciban.report.text import TEXTS, count, typeset

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
        rows += [(f"Step {k}", f"{step.kind}: {_listed(_numbers(step))}") for k, step in enumerate(parts, 1)]
    else:
        settings = {name: value for name, value in model.settings.items() if value is not None}
        rows += [("Settings", _listed(settings))] if settings else []
        has_table = isinstance(model, ClassModel) or (isinstance(model, ScoreModel) and model.is_fusion)
        rows += [] if has_table else [("Parameters", _listed(model.parameters()))]
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


def _named(result: str, systems: Sequence[str]) -> str:
    """What a result is called; those of subsets of systems end in numbers of systems, such as 0+2."""
    kind, _, numbers = result.rpartition("_")
    if kind in _OF_SUBSETS:
        known = [systems[int(k)] if systems else f"system {k}" for k in numbers.split("+")]
        return _OF_SUBSETS[kind].format(" + ".join(known))
    return _RESULTS.get(result, result.replace("_", " ").capitalize())


def _numbers(step: Model) -> dict[str, Any]:
    return step.settings | step.parameters()


def _listed(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} {_text(value)}" for name, value in values.items())


def _text(value: Any) -> str:
    if isinstance(value, float):
        return typeset(f"{value:.6g}")
    if isinstance(value, list) and value and all(isinstance(entry, float) for entry in value):
        return f"({len(value)} values from {_text(min(value))} to {_text(max(value))})"
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
