"""Score files before and after calibration with a trained model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Unpack

import numpy as np

from deciban.calibration import Calibrator
from deciban.core.ranks.operating import PointLike
from deciban.errors import InputError
from deciban.evaluation.results import Results
from deciban.evaluation.two_class import DEFAULT_POINTS, evaluate_labelled
from deciban.io.source import PathLike
from deciban.models import Model, load_model
from deciban.models.fingerprint import fingerprint
from deciban.types import AnyArray, BoolArray, CountArray, Progress
from deciban.workflows.joined import Reading, fact, read_joined


def evaluate_calibrated(
    model: PathLike | Model,
    scores: Sequence[PathLike] | PathLike,
    key: PathLike | None = None,
    *,
    operating_points: Iterable[PointLike] = DEFAULT_POINTS,
    of_training: bool = False,
    progress: Progress | None = None,
    **reading: Unpack[Reading],
) -> tuple[Results, Results]:
    """Evaluate the scores of one system as they are, and as log-likelihood ratios of a trained calibrator.

    Parameters
    ----------
    model : path or Model
        What ``deciban calibrate`` or ``save`` wrote, or a trained calibrator.
    scores, key, operating_points, progress, **reading
        As in `evaluate_files`.
    of_training : bool
        Whether these should be the trials of training: if the model says that they are not, a fact tells so. That
        they are the trials of training is told in any case.

    Returns
    -------
    before, after : Results
        Of the same trials, with the same facts; those of ``after`` say that its figures are those of llrs.

    Raises
    ------
    FormatError, KeyMismatchError, InputError
        As in `evaluate_files` and `deciban.load_model`; or if the model is no calibrator, or there are several systems.

    Notes
    -----
    Scores that are common logarithms are taken times ln 10 before the model sees them, as in training.
    """
    calibrator = model if isinstance(model, Model) else load_model(model)
    if not isinstance(calibrator, Calibrator):
        raise InputError(f"model: a model of kind {calibrator.kind!r} does not map the scores of one system.")
    calibrator.require_fitted()
    joined = read_joined(scores, key, progress=progress, **reading)
    if len(joined.aligned) > 1:
        names = ", ".join(system.name for system in joined.aligned)
        raise InputError(f"scores: a calibrator is for one system, got {len(joined.aligned)} ({names}).")
    (system,) = joined.aligned
    if progress is not None:
        progress(f"evaluating {system.name}")
    points = list(operating_points)
    truth, weight = joined.is_target, joined.weight
    before = evaluate_labelled(system.score, truth, weight, name=system.name, operating_points=points)
    llr = calibrator.transform(system.score)
    after = evaluate_labelled(llr, truth, weight, name=system.name, operating_points=points)
    facts = joined.all_facts([before])
    told = [fact("note", f"figures are those of the llrs that the model ({calibrator.kind}) makes of the scores")]
    told += seen_before(calibrator, [system.score], truth, weight, of_training=of_training)
    return Results((before,), joined.report, facts), Results((after,), joined.report, (*facts, *told))


def is_of_training(
    model: Model, columns: Sequence[AnyArray], is_target: BoolArray, weight: CountArray | None
) -> bool | None:
    """Whether a model was trained on these trials, by their fingerprint; None if it does not know.

    With or without the weights: a column of them may be named that training did not have.
    """
    training = model.training_
    if training is None:
        return None
    weights = [None] if weight is None else [weight.astype(np.float64), None]
    return any(fingerprint(columns, is_target, one) == training.fingerprint for one in weights)


def seen_before(
    model: Model,
    columns: Sequence[AnyArray],
    is_target: BoolArray,
    weight: CountArray | None,
    *,
    of_training: bool,
) -> list[str]:
    """Say whether trials are those of training, where that is not what one should think.

    Parameters
    ----------
    model : Model
    columns : sequence of (n_trials,) arrays
        All that training records of trials: scores, and quality measures.
    is_target : (n_trials,) bool array
    weight : (n_trials,) array, optional
    of_training : bool
        Whether these should be the trials of training.
    """
    training, same = model.training_, is_of_training(model, columns, is_target, weight)
    if training is None or same is None:
        return []
    if same == of_training:
        return []
    column = training.results.get("weights_from")
    if column is not None and weight is None:
        words = (
            f"the model was trained with the weights of a column {column!r}: name it (--weights) to compare the trials"
        )
        return [fact("note", words)]
    if same:
        return [fact("note", "the model was trained on these very trials, which flatters it")]
    return [fact("note", "these are not the trials that the model was trained on (their fingerprint is another one)")]
