"""Score files of several systems and what a trained fusion makes of them, evaluated side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Unpack

from deciban.analysis.fusion import names_apart
from deciban.core.ranks.operating import PointLike, as_operating_point
from deciban.evaluation import Evaluation, Results
from deciban.evaluation.two_class import DEFAULT_POINTS
from deciban.io.source import PathLike
from deciban.models import Model
from deciban.types import Progress
from deciban.workflows.combination import taken_of
from deciban.workflows.fusers import fuser_of, measures_needed, require_quality, takes_incomplete, ways_of_trials
from deciban.workflows.fusion_trials import FusionTrials
from deciban.workflows.joined import Reading, fact
from deciban.workflows.measures import QualityFiles, read_measures
from deciban.workflows.systems import order_of_training


def evaluate_fused(
    model: PathLike | Model,
    scores: Sequence[PathLike] | PathLike,
    key: PathLike | None = None,
    *,
    operating_points: Iterable[PointLike] = DEFAULT_POINTS,
    quality: QualityFiles | None = None,
    of_training: bool = False,
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
    of_training : bool
        Whether these should be the trials of training: if the model says that they are not, a fact tells so. That
        they are the trials of training is told in any case.

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
    order, told = order_of_training(trials.systems, trained, fusion.n_systems_)
    trials = trials.choose(order)
    points = [as_operating_point(point) for point in operating_points]
    found: list[Evaluation] = []
    counting = trials.counting
    told += ways_of_trials(fusion, counting.data, trials.systems, counting.scores.trials)
    with counting.with_names():
        columns = [*counting.data.scores.T, counting.data.transform(fusion)]
    (fused,) = names_apart(["fusion"], trials.systems)
    for name, score in zip((*trials.systems, fused), columns, strict=True):
        if progress is not None:
            progress(f"evaluating {name}")
        found.append(counting.labelled.evaluated(score, name, points))
    told.append(fact("note", f"{fused}: the llrs that the model ({fusion.kind}) makes of the scores of all systems"))
    told += taken_of(fusion, measured)
    told += trials.seen_before(fusion, of_training=of_training)
    return Results(tuple(found), trials.joined.report, (*trials.all_facts(), *told)), trials
