"""What results of both kinds have: plots and tables by name, and intervals of their figures."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from deciban.core.by_value import ByValue
from deciban.core.resampling.intervals import Interval
from deciban.evaluation.as_json import Jsonable
from deciban.evaluation.information_at import InformationAt
from deciban.evaluation.uncertainty import Bounds, Figure, Uncertainty, no_units
from deciban.evaluation.views import Plotter, Tabular


class Shown(Tabular, Jsonable):
    """Mixin of results that plots show."""

    __slots__ = ()

    @property
    def plot(self) -> Plotter:
        """Plots of this by name, as functions of `deciban.plots`: ``result.plot.NAME()``."""
        own: Any = self
        return Plotter(own, own.kind)


class OneSystem(ByValue, Shown):
    """What evaluations of both kinds have: a name, notes, and a kind with its conventions."""

    __slots__ = ()
    name: str
    notes: tuple[str, ...]
    kind: ClassVar[str]
    conventions: ClassVar[Mapping[str, str]]
    uncertainty: Uncertainty | None
    bounds: Bounds

    @property
    @abstractmethod
    def point_names(self) -> tuple[str, ...]:
        """What the operating points are called, in their order."""

    @property
    def information_at(self) -> tuple[InformationAt, ...]:
        """How much the scores tell, in bits, prior by prior."""
        return ()

    @property
    def minima(self) -> Sequence[tuple[str, Figure, bool]]:
        """Figures that tables show and that were found as minima: their names there and here, whether in percent."""
        return ()

    @property
    def all_notes(self) -> tuple[str, ...]:
        """The notes, and what a reader of the intervals must know besides."""
        return self.notes if self.uncertainty is None else (*self.notes, *self.uncertainty.notes)

    def interval(self, figure: Figure, *, level: float | None = None) -> Interval:
        """Between which bounds the true value of a figure should lie, by units such as speakers.

        Parameters
        ----------
        figure : str, or (str, place)
            A name, such as ``"eer"`` or ``"min_cllr"``; of figures at operating points ``"act_dcf"`` for the first and
            ``("act_dcf", 1)`` for the second one.
        level : float, optional
            Share of draws of units in which such an interval holds the true value; that of the evaluation, mostly 0.95,
            when left out.

        Returns
        -------
        Interval

        Raises
        ------
        InputError
            If units are not known or fewer than two, there is no such figure or it is infinite, or the level is not
            inside (0, 1).
        """
        if self.uncertainty is None:
            raise no_units(self.name)
        return self.uncertainty.interval(figure, level=level)

    def labelled(self) -> list[tuple[Mapping[str, str], Any]]:
        """Itself alone."""
        return [({}, self)]


S = TypeVar("S", bound=OneSystem)


def shared_notes(systems: Sequence[S]) -> list[tuple[list[S], str]]:
    """The notes on systems, each once, with all systems that it is on.

    Examples
    --------
    >>> from deciban import evaluate
    >>> few = [evaluate([1.0], [-1.0], name=name) for name in "AB"]
    >>> [([one.name for one in some], note[:10]) for some, note in shared_notes(few)]
    [(['A', 'B'], 'Rule of 30')]
    """
    found = dict[str, list[S]]()
    for system in systems:
        for note in system.all_notes:
            found.setdefault(note, []).append(system)
    return [(some, note) for note, some in found.items()]
