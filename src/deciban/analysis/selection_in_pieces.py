"""Which systems are worth fusing, found on trials in pieces: the choice that is made in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deciban.analysis.data import copied
from deciban.analysis.selection import LEAST_GAIN, Criterion, Search, Selection, chosen_by
from deciban.calibration.cross_in_pieces import PartsInPieces
from deciban.engines.work import Engine
from deciban.io.shards.pieces import ShardSource
from deciban.models.mapped import mapped, ordered
from deciban.models.told_elsewhere import missing_measures_are_known
from deciban.models.two_class import Fusion
from deciban.types import Progress


def select_in_pieces(
    source: ShardSource, engine: Engine, memory: int, fusion: Fusion, n_folds: int, progress: Progress | None = None
) -> Selection:
    """Choose systems one after the other; see `deciban.analysis.select_systems`.

    Parameters
    ----------
    source : ShardSource
        Of two classes, which knows what is held out together.
    engine : Engine
    memory : int
    fusion : Fusion
        Copies are trained, it stays as it is.
    n_folds : int
    progress : function, optional

    Raises
    ------
    InputError
        As in `deciban.calibration.cross_in_pieces.PartsInPieces.of`, or if no system can be trained alone.
    FormatError, OSError
        As reading does.
    """
    criterion = Criterion(fusion, None)
    parts = PartsInPieces.of(source, engine, n_folds)
    search = Search(_InPieces(parts, criterion, engine, memory), source.systems, progress)
    return chosen_by(search, criterion.words, LEAST_GAIN)


@dataclass(frozen=True, slots=True)
class _InPieces:
    """Trials of a source, with their folds."""

    parts: PartsInPieces
    cost: Criterion
    engine: Engine
    memory: int

    @property
    def n_parts(self) -> int:
        return len(self.parts)

    @property
    def n_trials(self) -> int:
        return int(self.parts.counts[1].sum())

    def held_out(self, systems: Sequence[int]) -> float:
        fusion = copied(self.cost.fusion)
        return self._cost_of(self.parts.crossed(fusion, self.engine, self.memory, "fusion", systems=systems))

    def same_data(self, systems: Sequence[int]) -> float:
        own = ordered(self.parts.source, systems=systems)
        with missing_measures_are_known():
            model = copied(self.cost.fusion).fit_pieces(own, self.engine, self.memory)
        return self._cost_of(mapped(own, model, "fusion"))

    def _cost_of(self, llrs: ShardSource) -> float:
        return self.cost.relative(self.cost.fusion.cost_of_pieces(llrs, self.engine))
