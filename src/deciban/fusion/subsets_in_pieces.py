"""Fusions of sets of systems trained on trials in pieces, each of which has a score of every system."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from deciban.engines.units import UnitsOfPieces
from deciban.engines.work import Engine
from deciban.errors import InputError
from deciban.fusion.linear import LinearFusion
from deciban.fusion.subsets import Subset, name_of
from deciban.io.shards.pieces import ShardSource
from deciban.models.mapped import ordered
from deciban.models.model import Plain


def fusions_in_pieces(
    wanted: Sequence[Subset],
    fusion_of: Callable[[Subset], LinearFusion],
    source: ShardSource,
    engine: Engine,
    memory: int,
    units: UnitsOfPieces | None,
) -> dict[Subset, LinearFusion]:
    """Train a fusion of every set of systems on all trials of a source.

    Parameters
    ----------
    wanted : sequence of tuple of int
        Positions of systems.
    fusion_of : function
        Makes the fusion of some systems, which is not trained yet.
    source, engine, memory, units
        As of `deciban.models.score_model.ScoreModel.fit_pieces`.

    Raises
    ------
    InputError
        As `LinearFusion.fit_pieces`; the message names the systems.
    """
    found: dict[Subset, LinearFusion] = {}
    for subset in wanted:
        fusion = fusion_of(subset)
        try:
            found[subset] = fusion.fit_pieces(ordered(source, systems=subset), engine, memory, units=units)
        except InputError as error:
            words = f"Fusion of {' + '.join(source.systems[k] for k in subset)}, trained on all trials: {error}"
            raise InputError(f"{words} Or leave out one of these systems.") from error
    whole = found[max(found, key=len)].training_
    for fusion in found.values():  # whose record is that of the trials, whatever systems it takes
        assert fusion.training_ is not None and whole is not None  # noqa: S101, PT018  # it has just been trained
        fusion.training_ = replace(fusion.training_, counts=whole.counts)
    return found


def results_of_subset(subset: Subset, fusion: LinearFusion, n_exactly: int) -> dict[str, Plain]:
    """What a model file tells of the fusion of one set of systems."""
    name, training = name_of(subset), fusion.training_
    assert training is not None  # noqa: S101  # it was trained a moment ago
    return {
        f"n_exactly_{name}": n_exactly,
        f"n_trained_{name}": sum(training.counts.values()),
        f"status_{name}": training.results["status"],
    }
