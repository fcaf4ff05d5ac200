"""From score files and a key to results: read, join, evaluate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Unpack

from deciban.core.ranks.operating import PointLike
from deciban.evaluation.results import Results
from deciban.evaluation.two_class import DEFAULT_POINTS, evaluate_labelled
from deciban.io.source import PathLike
from deciban.types import Progress
from deciban.workflows.joined import Reading, read_joined


def evaluate_files(
    scores: Sequence[PathLike] | PathLike,
    key: PathLike | None = None,
    *,
    operating_points: Iterable[PointLike] = DEFAULT_POINTS,
    progress: Progress | None = None,
    **reading: Unpack[Reading],
) -> Results:
    """Evaluate score files, one per system, on the trials of one key.

    Parameters
    ----------
    scores : sequence of paths, or one path
        Score files; see `deciban.read_scores` for what they may look like.
    key : path, optional
        Which trials are targets. Left out, the first score file must hold labels itself.
    operating_points : iterable
        As in `deciban.evaluate`.
    progress : function, optional
        Called with a few words at every step.
    **reading
        How files are read and joined: ``missing``, ``duplicates``, ``format``, ``columns``, ``key_format``,
        ``key_columns``, ``labels``, ``where``, ``log10``, ``by_order``, ``weights``; see
        `deciban.workflows.read_joined`.

    Returns
    -------
    Results
        The evaluations, how the trials met, and in ``facts`` what was read and assumed.

    Raises
    ------
    FormatError, KeyMismatchError, InputError
        As in `deciban.read_scores` and `deciban.align`.
    """
    joined = read_joined(scores, key, progress=progress, **reading)
    points, evaluations = list(operating_points), []
    for system in joined.aligned:
        if progress is not None:
            progress(f"evaluating {system.name}")
        trials = system.score, joined.is_target, joined.weight
        evaluations.append(evaluate_labelled(*trials, name=system.name, operating_points=points))
    return Results(tuple(evaluations), joined.report, joined.all_facts(evaluations))
