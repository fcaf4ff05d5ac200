"""Trials that do not fit in memory, of two classes or of many: looks at parts of them, whose findings add up."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from deciban.core.resampling.units import TrialUnits
from deciban.core.training.sums import F

T = TypeVar("T")
"""What a part is: `Trials` of two classes, `CountedTrials` of many."""

Left = Callable[[Any], Any]
"""Makes of a part the trials that are trained on; can be pickled."""


class Parts(ABC, Generic[T]):
    """Trials in parts, as a source gives them."""

    @abstractmethod
    def each(self, look: Callable[[T], F | None]) -> F:
        """What a look at each part finds, added up: one pass.

        Parameters
        ----------
        look : callable
            Can be pickled. It finds None where there is nothing.
        """

    @abstractmethod
    def each_by_unit(self, look: Callable[[T, TrialUnits], F], units: TrialUnits) -> F:
        """The same of the trials that count, with their units.

        Parameters
        ----------
        look : callable
            Can be pickled.
        units : TrialUnits
            All units, of no trial: parts know their own.
        """


class HasParts(Protocol):
    """What is asked of trials to train on that are in parts."""

    @property
    def given(self) -> Any:
        """The `Parts`."""

    @property
    def left_of(self) -> Left:
        """Makes of a part the trials that are trained on."""


class LooksAtParts:
    """Looks at trials to train on, part by part; base of what stands for all of them.

    Of trials as a whole `each` calls the look once.
    """

    size = 1
    """Second derivatives cost next to nothing beside reading, as with few trials."""

    def each(self: HasParts, look: Callable[[Any], F]) -> F:
        """What a look at all of them finds: one pass."""
        found: F = self.given.each(_OfLeft(look, self.left_of))
        return found


@dataclass(frozen=True, slots=True)
class _OfLeft:
    """A look at the trials of a part that are trained on."""

    look: Callable[[Any], Any]
    left_of: Left

    def __call__(self, part: Any) -> Any:
        left = self.left_of(part)
        return self.look(left) if len(left) else None
