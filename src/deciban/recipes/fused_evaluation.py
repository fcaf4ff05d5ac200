"""Score files of several systems and what a trained fusion makes of them, evaluated side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Unpack

import numpy as np

from deciban.core.operating import PointLike, as_operating_point
from deciban.evaluation import Evaluation, Results, evaluate
from deciban.evaluation.joined import Progress, Reading, fact
from deciban.evaluation.single import DEFAULT_POINTS
from deciban.io.source import PathLike
from deciban.models import Model
from deciban.recipes.fusers import fuser_of, measures_needed, n_systems, require_quality, takes_incomplete
from deciban.recipes.fusion_trials import FusionTrials
from deciban.recipes.measures import QualityFiles, read_measures
from deciban.recipes.systems import order_of_training


def evaluate_fused(
    model: PathLike | Model,
    scores: Sequence[PathLike] | PathLike,
    key: PathLike | None = None,
    *,
    operating_points: Iterable[PointLike] = DEFAULT_POINTS,
    quality: QualityFiles | None = None,
    progress: Progress | None = None,
    **reading: Unpack[Reading],
) -> tuple[Results, FusionTrials]:
    """Evaluate several systems as they are, and the llrs that a trained fusion makes of them.

    Parameters
    ----------
    model : path or Model
        What ``deciban fuse`` or ``save`` wrote, or a trained fusion.
    scores : sequence of paths, or one path
        Score files of all its systems, as in `deciban.apply_files`.
    key, operating_points, progress, **reading
        As in `deciban.evaluate_files`.
    quality : path, or mapping of side to path, optional
        Quality measures for a fusion that was trained with some; see `deciban.fuse_files`.

    Returns
    -------
    Results
        The systems in the order of training, each on the trials that it scored, and the fusion.
    FusionTrials
        What it was made of.

    Raises
    ------
    FormatError, KeyMismatchError, InputError
        As in `deciban.evaluate_files` and `deciban.apply_files`.
    """
    fusion, _ = fuser_of(model)
    require_quality(fusion, is_given=quality is not None)
    measured = None if quality is None else read_measures(quality)
    trials = FusionTrials.read(
        scores,
        key,
        reading,
        incomplete=takes_incomplete(fusion),
        measured=measured,
        sides=measures_needed(fusion) or None,
        progress=progress,
    )
    trained = () if fusion.training_ is None else fusion.training_.systems
    order, told = order_of_training(trials.systems, trained, n_systems(fusion))
    trials = trials.choose(order)
    points = [as_operating_point(point) for point in operating_points]
    found: list[Evaluation] = []
    columns = [*trials.data.scores.T, trials.data.transform(fusion)]
    for name, score in zip((*trials.systems, "fusion"), columns, strict=True):
        if progress is not None:
            progress(f"evaluating {name}")
        tar, non = (score[rows & ~np.isnan(score)] for rows in (trials.is_target, ~trials.is_target))
        found.append(evaluate(tar, non, name=name, operating_points=points))
    told.append(fact("note", f"fusion: the llrs that the model ({fusion.kind}) makes of the scores of all systems"))
    return Results(tuple(found), trials.joined.report, (*trials.all_facts(found), *told)), trials
