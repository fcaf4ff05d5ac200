"""Two-class problems of a summary, each as large as the scores: kept to be merged, or made one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from deciban.multiclass.scored_classes import ScoredClasses
from deciban.multiclass.tables import Detectors, Pairs
from deciban.types import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class InTurn:
    """Problems of all trials: each is made when it is asked for and goes when it has been used.

    Attributes
    ----------
    trials : ScoredClasses
    rivals : tuple of (n_classes,) arrays
        Priors of the detectors: one for all points, or one for each where a class is out of set.
    has_pairs : bool
    """

    trials: ScoredClasses
    rivals: tuple[FloatArray, ...]
    has_pairs: bool

    def detectors(self, at: int) -> Detectors:
        """Each class against the rest, by one of the priors."""
        return Detectors.of(self.trials, self.rivals[at])

    def pairs(self) -> Pairs | None:
        """Each class against each other one, if that is asked for."""
        return Pairs.of(self.trials) if self.has_pairs else None

    def kept(self) -> Kept:
        """All problems at once."""
        return Kept(tuple(map(self.detectors, range(len(self.rivals)))), self.pairs())


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """Problems of a part of the trials, all held until the other parts come."""

    every: tuple[Detectors, ...]
    all_pairs: Pairs | None

    def detectors(self, at: int) -> Detectors:
        """Each class against the rest, by one of the priors."""
        return self.every[at]

    def pairs(self) -> Pairs | None:
        """Each class against each other one, if that is asked for."""
        return self.all_pairs

    def kept(self) -> Kept:
        """All problems at once."""
        return self

    @classmethod
    def merged(cls, parts: Sequence[Problems]) -> Kept:
        """The problems of the trials of all parts."""
        kept = [part.kept() for part in parts]
        pairs = [part.all_pairs for part in kept if part.all_pairs is not None]
        every = zip(*(part.every for part in kept), strict=True)
        return cls(tuple(map(Detectors.merged, every)), Pairs.merged(pairs) if pairs else None)


Problems: TypeAlias = InTurn | Kept
"""How a summary has them."""
