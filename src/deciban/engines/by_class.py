"""The scores of each class in pieces, ascending."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from deciban.engines.counting import Survey
from deciban.engines.weighted import WeightedSurvey, weighted_trials
from deciban.trials.sources import Piece, Wanted
from deciban.types import AnyArray, ScoreArray


def ascending(pieces: Sequence[Piece], survey: Survey, *, adding: bool) -> Iterator[tuple[ScoreArray, AnyArray | None]]:
    """The scores of non-targets, then those of targets, ascending, with their weights if they have some."""
    if not isinstance(survey, WeightedSurvey):
        for own in _by_class(pieces, survey.system, survey.kind, survey if adding else None):
            own.sort()
            yield own, None
        return
    found = [weighted_trials(piece, survey.system, survey.kind) for piece in pieces]
    if adding:
        for one in found:
            survey.add_weighted(*one)
    for c in (False, True):
        scores = np.concatenate([np.zeros(0, survey.kind), *(own[truth == c] for own, truth, _ in found)])
        weights = np.concatenate([np.zeros(0), *(by[truth == c] for _, truth, by in found)])
        order = np.argsort(scores)
        yield scores[order], weights[order]


def _by_class(pieces: Sequence[Piece], system: int, kind: Any, survey: Survey | None) -> tuple[ScoreArray, ScoreArray]:
    """The scores of non-targets and those of targets, in one array that is filled from both ends."""
    room = np.empty(sum(one.n_rows for one in pieces), kind)
    begin, end = 0, len(room)
    for piece in pieces:
        chunk = piece.read(Wanted((system,), truth=True))
        assert chunk.truth is not None  # noqa: S101  # it was asked for
        scores = chunk.scores[0].astype(kind, copy=False)
        if survey is not None:
            survey.add(scores, chunk.truth)
        tar, non = scores[chunk.truth], scores[~chunk.truth]
        room[begin : begin + len(non)], room[end - len(tar) : end] = non, tar
        begin, end = begin + len(non), end - len(tar)
    return room[:begin], room[end:]
