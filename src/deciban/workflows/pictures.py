"""What pictures of single trials and of speakers need from score files, as no evaluation holds it."""

from __future__ import annotations

from typing import Any

import numpy as np

from deciban.analysis.two_systems import ScorePairs, score_pairs
from deciban.errors import InputError
from deciban.evaluation.worst_trials import Menagerie, menagerie
from deciban.messages import Message
from deciban.models.score_model import ScoreModel
from deciban.types import Progress
from deciban.workflows.inputs import JoinedScores, ScoreFiles, read_joined
from deciban.workflows.kinds.two_class import checked_figures
from deciban.workflows.model_files import order_of_training
from deciban.workflows.options import Options


def menageries_of(
    files: ScoreFiles, options: Options, progress: Progress | None = None
) -> tuple[list[Menagerie], tuple[Message, ...]]:
    """Mean scores of the speakers of every system, and what was read and assumed.

    Raises
    ------
    FormatError, KeyMismatchError, InputError
        As in `deciban.evaluate_files`; if scores are of many classes, or units are unknown; or as in
        `deciban.evaluation.menagerie`.
    """
    joined = _of_two_classes(files, options, progress)
    units, said = joined.units(options.how_sure)
    if units is None:
        found = "; ".join(one.text for one in said).rstrip(".") or "none were looked for"
        raise InputError(f"units: a zoo is of speakers, {found}. Name what trials share (units=, --units).")
    about = joined.truth, units
    systems = [
        menagerie(one.scores.score, *about, sample_weight=joined.weight, name=one.name) for one in joined.aligned
    ]
    return systems, (*joined.all_messages(), *said)


def score_pairs_of(
    files: ScoreFiles, options: Options, *, model: ScoreModel | None = None, progress: Progress | None = None
) -> tuple[ScorePairs, tuple[Message, ...]]:
    """Scores of two systems beside each other, and what was read and assumed.

    With a fusion of both, found by their names in training, there is a line for each operating point.

    Raises
    ------
    FormatError, KeyMismatchError, InputError
        As in `deciban.evaluate_files`; if scores are of many classes; or as in `deciban.analysis.score_pairs`.
    """
    joined = _of_two_classes(files, options, progress)
    order, said = list(range(len(joined.aligned))), list[Message]()
    if model is not None:
        order, said = order_of_training(joined.names, model.trained_systems, model.n_systems_)
    systems = [joined.aligned[k] for k in order]
    table = np.column_stack([one.scores.score for one in systems])
    points = checked_figures(options.figures).operating_points
    about: Any = {"names": [one.name for one in systems], "sample_weight": joined.weight}
    found = score_pairs(table, joined.truth, **about, model=model, operating_points=points)
    return found, (*joined.all_messages(), *said)


def _of_two_classes(files: ScoreFiles, options: Options, progress: Progress | None) -> JoinedScores:
    joined = read_joined(files, options=options, progress=progress)
    if joined.classes is not None:
        raise InputError("scores: of many classes. This picture is about targets and non-targets.")
    return joined
