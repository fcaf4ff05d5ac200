"""A calibration or fusion of many classes trained on class-score files and a key, and what it is worth."""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from deciban._validate.classes import prior_of
from deciban.calibration.folds import folds_of, held_out
from deciban.errors import InputError
from deciban.evaluation.multiclass.result import ClassEvaluation, ClassResults
from deciban.io.source import PathLike
from deciban.models.content import content_of
from deciban.models.multiclass import ClassModel
from deciban.trials import ClassScores
from deciban.types import AnyArray, FloatArray, Progress
from deciban.workflows.classes_files import ClassFigures, evaluate_system
from deciban.workflows.classes_joined import ClassReading, JoinedClasses, read_joined_classes
from deciban.workflows.classes_models import (
    POSTERIOR_PRIOR,
    in_order_of_model,
    is_fusion,
    model_data,
    prior_text,
    require_same_posteriors,
    result_name,
)
from deciban.workflows.held_out import DEFAULT_FOLDS, HoldOut
from deciban.workflows.systems import order_of_training, refuse_twice
from deciban.workflows.training import tell_training

_LEAST_FOR_LEAVING_OUT = 3
"""Systems from which on a fusion without one of them is not a system alone."""


@dataclass(frozen=True, slots=True, eq=False)
class TrainedClasses:
    """A trained model of many classes, and figures of the scores that it was trained on, and maybe of others.

    Attributes
    ----------
    model : ClassModel
        Its ``training_`` record names the systems.
    results : ClassResults
        Of the training scores as they were, of what the model makes of them, which flatters it, and of what models
        made of them that had not seen the segment, if that was asked for. For three systems and more also of fusions
        without one of them.
    test : ClassResults or None
        The same of other segments.
    held_out : ClassScores or None
        Log-likelihoods by models that had not seen the segment, in the order of the key.
    facts : tuple of str
        What was read and assumed.
    """

    model: ClassModel
    results: ClassResults
    test: ClassResults | None
    held_out: ClassScores | None
    facts: tuple[str, ...]

    @property
    def summary(self) -> tuple[str, ...]:
        """What training found, and what to think of the figures, in sentences."""
        training = self.model.training_
        told = dict(training.results) if training is not None else {}
        lines = [_parameters(self.model)]
        lines += [f"training: {told['status']}"] if "status" in told else []
        if "objective" in told:
            lines.append(
                f"objective {told['objective']:.6g}, {told['objective_relative_to_llr_0']:.4g} times that of scores "
                "that say nothing"
            )
        if self.test is None:
            lines.append(
                "The model has seen these segments, which flatters it: cross-validate, or evaluate it on others."
                if self.held_out is None
                else "The model has seen these segments, which flatters it: the cross-validated row is what to expect."
            )
        return tuple(line for line in lines if line)

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``deciban calibrate --json`` and ``deciban fuse --json`` print for class scores."""
        results = self.results.to_dict()
        return {
            "schema": results.pop("schema"),
            "kind": results.pop("kind"),
            "model": content_of(self.model),
            **results,
            "test": None if self.test is None else self.test.to_dict()["systems"],
            "inputs": list(self.facts),
        }


def train_class_files(
    scores: Sequence[PathLike] | PathLike,
    key: PathLike | None,
    model: ClassModel,
    *,
    cross_validate: int | str | None = None,
    n_folds: int = DEFAULT_FOLDS,
    test_scores: Sequence[PathLike] | PathLike = (),
    test_key: PathLike | None = None,
    figures: ClassFigures | None = None,
    progress: Progress | None = None,
    **reading: Unpack[ClassReading],
) -> TrainedClasses:
    """Train a calibration, a fusion or a back-end of many classes on class-score files and a key.

    Parameters
    ----------
    scores : sequence of paths, or one path
        One file for each system: one for a calibration, one or more for a fusion.
    key : path or None
        Which class each segment is of; None if the first score file says so.
    model : MulticlassCalibrator, MulticlassFusion or another model of classes
        Trained in place.
    cross_validate : int or str, optional
        How to map every segment by a model that has not seen its like, as well. A column of the key says whose segments
        stay together, such as the speaker; a number is that of folds of single segments.
    n_folds : int
        Number of folds where ``cross_validate`` names a column.
    test_scores, test_key : paths, optional
        Scores of the same systems on other segments, and their key.
    figures : dict, optional
        Which figures are wanted: ``prior``, ``p_target``, ``p_out_of_set``, ``subsets``, as in
        `deciban.evaluate_classes`.
    progress : function, optional
        Called with a few words at every step.
    **reading
        How files are read and joined; see `deciban.workflows.read_joined_classes`.

    Returns
    -------
    TrainedClasses

    Raises
    ------
    FormatError, KeyMismatchError, InputError
        As in `deciban.workflows.read_joined_classes` and the ``fit`` of the model.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from deciban.calibration import MulticlassCalibrator
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "dev.csv"
    >>> rows = "a,2,0,eng", "b,1,0,eng", "c,0,1,eng", "d,-1,1,fra", "e,0.5,0,fra", "f,0,2,fra"
    >>> _ = path.write_text("\\n".join(("trial,eng,fra,class", *rows)))
    >>> done = train_class_files(path, None, MulticlassCalibrator())
    >>> round(done.model.scale_, 3), [round(one.cllr, 3) for one in done.results.systems]
    (0.996, [0.717, 0.708])
    """
    say = progress or (lambda _words: None)
    paths = [scores] if isinstance(scores, str | os.PathLike) else list(scores)
    refuse_twice(paths)
    joined = read_joined_classes(paths, key, progress=progress, **reading)
    wanted: ClassFigures = figures or {}
    names = tuple(system.name for system in joined.aligned)
    data = model_data(model, [system.score for system in joined.aligned])
    say(f"training on {' and '.join(names)}")
    model.fit(data, joined.label, sample_weight=joined.weight, classes=joined.classes)
    tell_training(model, names, reading.get("weights"))
    _tell_prior(model, joined, reading)

    def evaluated(loglik: AnyArray, name: str, among: JoinedClasses = joined) -> ClassEvaluation:
        say(f"evaluating {name}")
        return evaluate_system(among, loglik, name, **wanted)

    rows = [evaluated(system.score, system.name) for system in joined.aligned]
    if is_fusion(model) and len(names) >= _LEAST_FOR_LEAVING_OUT:
        rows += [
            evaluated(loglik, f"without {name}")
            for name, loglik in zip(names, _without_one(model, data, joined), strict=True)
        ]
    rows.append(evaluated(model.transform(data), result_name(model, names)))
    facts, crossed = joined.facts, None
    if cross_validate is not None:
        say("cross-validating")
        held = HoldOut(cross_validate, n_folds)
        values = _cross_validated(model, data, joined, held)
        crossed = replace(joined.aligned[0].scores, score=values)
        rows.append(evaluated(values, f"{'fusion' if is_fusion(model) else names[0]}, cross-validated"))
        facts += (held.fact(joined.aligned[0].trials, "fuses" if is_fusion(model) else "calibrates"),)
    test = None
    if test_key is not None:
        test, said = _tested(model, test_scores, test_key, wanted, progress, reading)
        facts += said
    return TrainedClasses(model, ClassResults(tuple(rows), joined.report, facts), test, crossed, facts)


def evaluate_class_model(
    model: ClassModel,
    scores: Sequence[PathLike] | PathLike,
    key: PathLike | None = None,
    *,
    figures: ClassFigures | None = None,
    progress: Progress | None = None,
    **reading: Unpack[ClassReading],
) -> tuple[ClassResults, ClassResults]:
    """Evaluate class-score files as they are, and what a trained model makes of them.

    Parameters
    ----------
    model : trained model of classes
    scores, key, figures, progress, **reading
        As in `train_class_files`.

    Returns
    -------
    before, after : ClassResults
        Of the systems, and of what the model makes of them; ``facts`` stand in the latter.

    Raises
    ------
    FormatError, KeyMismatchError, InputError
        As in `train_class_files`; or if systems or classes are not those of training.
    """
    model.require_fitted()
    joined = read_joined_classes(scores, key, progress=progress, **reading)
    trained = () if model.training_ is None else model.training_.systems
    ordered, facts = _as_trained(model, trained, joined, reading)
    wanted: ClassFigures = figures or {}
    before = [evaluate_system(joined, one.score, one.name, **wanted) for one in joined.aligned]
    loglik = model.transform(model_data(model, ordered))
    name = result_name(model, [system.name for system in joined.aligned])
    back = [model_classes(model, joined).index(one) for one in joined.classes]
    after = evaluate_system(joined, loglik[:, back], name, **wanted)
    told = (*joined.facts, *facts)
    return ClassResults(tuple(before), joined.report, told), ClassResults((after,), joined.report, told)


def model_classes(model: ClassModel, joined: JoinedClasses) -> tuple[str, ...]:
    """The classes of a join in the order of the model."""
    trained = model.classes_
    return trained if trained is not None and set(trained) == set(joined.classes) else joined.classes


def _as_trained(
    model: ClassModel, trained: Sequence[str], joined: JoinedClasses, reading: ClassReading
) -> tuple[list[AnyArray], list[str]]:
    """Scores of the systems in the order of training, their classes as well."""
    prior = reading.get("posterior_prior")
    require_same_posteriors(model, None if prior is None else prior_of(prior, joined.classes))
    order, facts = list(range(len(joined.aligned))), list[str]()
    if is_fusion(model):
        given = [system.name for system in joined.aligned]
        order, facts = order_of_training(given, trained, model.n_systems_)
    ordered = []
    for k in order:
        scores, said = in_order_of_model(model, joined.aligned[k].scores)
        ordered.append(scores.score)
        facts += [line for line in said[1:] if line not in facts]
    return ordered, facts


def _tested(
    model: ClassModel,
    scores: Sequence[PathLike] | PathLike,
    key: PathLike,
    figures: ClassFigures,
    progress: Progress | None,
    reading: ClassReading,
) -> tuple[ClassResults, tuple[str, ...]]:
    """Systems and model on other segments, in one table."""
    of_test: ClassReading = {**reading, "weights_required": False}
    before, after = evaluate_class_model(model, scores, key, figures=figures, progress=progress, **of_test)
    return replace(after, systems=before.systems + after.systems), ("other segments", *after.facts)


def _tell_prior(model: ClassModel, joined: JoinedClasses, reading: ClassReading) -> None:
    """Record the prior that was taken out of the scores, so that it is taken out of others as well."""
    prior = reading.get("posterior_prior")
    text = None if prior is None else prior_text(prior_of(prior, joined.classes))
    if text is not None and model.training_ is not None:
        model.training_ = replace(model.training_, results={**model.training_.results, POSTERIOR_PRIOR: text})


def _without_one(model: ClassModel, data: AnyArray, joined: JoinedClasses) -> list[FloatArray]:
    """What fusions make of the segments that lack one system each."""
    found = []
    for k in range(data.shape[1]):
        rest = np.delete(data, k, axis=1)
        other: Any = copy.deepcopy(model)
        found.append(other.fit(rest, joined.label, sample_weight=joined.weight, classes=joined.classes).transform(rest))
    return found


def _cross_validated(model: ClassModel, data: AnyArray, joined: JoinedClasses, held: HoldOut) -> FloatArray:
    groups = held.groups(joined.aligned[0].trials)
    if isinstance(groups, tuple):
        raise InputError("cross_validate: two columns are for trials of two sides. Name one, such as speaker.")
    folds = folds_of(data, joined.label, joined.weight, groups, n_folds=held.parts, seed=0)
    return held_out(model, data, joined.label, joined.weight, folds, classes=joined.classes)


def _parameters(model: ClassModel) -> str:
    """The numbers of a map that has one weight for each system and an offset for each class."""
    parts = []
    if hasattr(model, "scale_") and np.ndim(model.scale_) == 0:
        parts.append(f"scale {model.scale_:.6g}")
    if is_fusion(model):
        systems = () if model.training_ is None else model.training_.systems
        weights = model.weights_.tolist()  # type: ignore[attr-defined]
        parts += [f"weight of {name} {weight:.6g}" for name, weight in zip(systems, weights, strict=True)]
    offset = getattr(model, "offset_", None)
    if isinstance(offset, np.ndarray) and offset.ndim == 1 and model.classes_ is not None:
        pairs = zip(model.classes_, offset.tolist(), strict=True)
        parts.append("offsets in nats: " + ", ".join(f"{name} {value:z.3f}" for name, value in pairs))
    return "; ".join(parts)
