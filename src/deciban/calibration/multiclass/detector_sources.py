"""Detectors of many classes on trials in pieces: each is trained on trials of two classes, read out of these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from deciban.calibration.multiclass.feature_looks import ClassCosts
from deciban.core.training.sums import Sums
from deciban.models.labelled import LabelledClasses
from deciban.models.sources import SourceClasses
from deciban.models.two_class import Calibrator
from deciban.multiclass import detection_llrs
from deciban.multiclass.costs import surprises
from deciban.multiclass.tables import ScoredClasses
from deciban.trials.sources import Chunk, Piece, ShardSource, Wanted
from deciban.types import FloatArray, ScoreArray


def amounts_of(data: SourceClasses) -> FloatArray:
    """How much the trials of each class count: one pass."""
    found: Sums = data.look(_Amounts(data.n_classes))
    return found.total


@dataclass(frozen=True, slots=True)
class _Amounts:
    """A look at what the trials of each class weigh."""

    n_classes: int

    def __call__(self, chunk: Chunk) -> Sums:
        assert chunk.truth is not None  # noqa: S101  # it was asked for
        weight = None if chunk.weight is None else chunk.weight.astype(np.float64)
        return Sums.of(np.bincount(chunk.truth, weight, self.n_classes))


def _of_detector(target: int, prior: FloatArray, share: FloatArray, piece: Piece, wanted: Wanted) -> Chunk:
    """Read the trials of a piece with the log-likelihood ratio of one class against all others.

    Parameters
    ----------
    target : int
        The class.
    prior : (n_classes,) array
    share : (n_classes,) array
        By which the weights of trials of each class are multiplied.
    piece : Piece
    wanted : Wanted
    """
    systems = (0,) if wanted.systems else ()
    chunk = piece.read(replace(wanted, systems=systems, truth=True, weight=True))
    assert chunk.truth is not None  # noqa: S101  # it was asked for
    llrs = [detection_llrs(one, prior=prior)[:, target] for one in chunk.scores if len(chunk.truth)]
    scores = tuple(llrs) * len(wanted.systems) if llrs else (np.zeros(0),) * len(wanted.systems)
    own = share[chunk.truth]
    weight = own if chunk.weight is None else own * chunk.weight
    return replace(chunk, scores=scores, truth=chunk.truth == target, weight=weight)


def train_detectors(data: SourceClasses, detectors: Sequence[Calibrator], shares: Sequence[FloatArray]) -> None:
    """Train the detector of each class, one after the other.

    Parameters
    ----------
    data : SourceClasses
    detectors : sequence of Calibrator
    shares : sequence of (n_classes,) array
        For each detector what the weights of trials of each class are multiplied by.

    Raises
    ------
    InputError
        As training in memory; a trial is named by its piece and number.
    """
    source = data.source
    for k, (detector, share) in enumerate(zip(detectors, shares, strict=True)):
        pieces = source.each(partial(_of_detector, k, data.prior, share))
        about: Any = {"classes": (), "systems": (source.classes[k],), "has_weights": True, "is_double": True}
        own: ShardSource = replace(source, pieces=pieces, has_units=False, are_units=False, **about)
        detector.fit_pieces(own, data.engine, data.memory)


@dataclass(frozen=True, slots=True, eq=False)
class MappedCosts:
    """A look at trials that sums up logarithmic costs of what a map makes of them; the map can be pickled."""

    prior: FloatArray
    mapped: Callable[[ScoreArray], FloatArray]

    def __call__(self, chunk: Chunk) -> ClassCosts:
        """The sums of these."""
        data = LabelledClasses.of_look(chunk, self.prior)
        return ClassCosts(surprises(ScoredClasses(self.mapped(data.scores), data.label, data.weight, None), data.prior))
