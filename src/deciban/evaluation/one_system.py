"""What results of both kinds share: tables, data frames and plots by name, and intervals of their metrics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar

from deciban._lazy import registered
from deciban.core.by_value import ByValue
from deciban.core.resampling.intervals import Interval
from deciban.evaluation.as_json import Jsonable
from deciban.evaluation.requested import InformationAt
from deciban.evaluation.uncertainty import Figure, Uncertainty, no_units

By: TypeAlias = Literal["system", "point", "class"]


class Tabular(ABC):
    """Mixin of results that tables show."""

    __slots__ = ()

    @abstractmethod
    def labelled(self) -> list[tuple[Mapping[str, str], Any]]:
        """Every evaluation, with columns that tell it from the others beside its name."""

    def table(self, style: str = "plain", *, width: int | None = None, all_classes: bool = False) -> str:
        """Return the table that the command line prints.

        Parameters
        ----------
        style : {"plain", "csv", "markdown", "latex", "html"}
        width : int, optional
            Of a plain table, in letters: what does not fit stands in a second block below. Left out, a row is one line.
        all_classes : bool
            Many classes: whether every class has a row where there are more than 30, and not ten of them alone.

        Returns
        -------
        str

        Raises
        ------
        InputError
            If the style is none.

        Examples
        --------
        >>> import deciban
        >>> print(deciban.evaluate([1.0, 2.0, 3.0], [-3.0, -2.0, 1.5], operating_points=[0.5]).table().splitlines()[0])
        system  EER (ROCCH)  minDCF  actDCF   Cllr  min Cllr  calibration loss     AUC
        """
        written: str = registered("table")(self, style, width=width, all_classes=all_classes)
        return written

    def to_arrow(self, by: By = "system") -> Any:
        """Return the figures as an Arrow table.

        Parameters
        ----------
        by : {"system", "point", "class"}
            What a row is of: a system; a system at an operating point; of many classes also a class of a system.

        Returns
        -------
        pyarrow.Table
            Columns are called as in `to_dict`; figures of a figure have both names, as in ``dr30_misses``. Error rates
            are fractions, Cllr is in bits; infinite figures are infinite numbers. Null is what is not known.

        Raises
        ------
        InputError
            If rows are to be of something that there is none of.

        Examples
        --------
        >>> import deciban
        >>> result = deciban.evaluate([1.0, 2.0, 3.0], [-3.0, -2.0, 1.5], operating_points=[0.5, 0.1])
        >>> result.to_arrow("point").select(["name", "p_target", "min_dcf"]).to_pylist()[0]
        {'name': 'system', 'p_target': 0.5, 'min_dcf': 0.3333333333333333}
        """
        return registered("arrow")(self, by)

    def to_frame(self, by: By = "system") -> Any:
        """Return the figures as a pandas data frame; see `to_arrow`.

        Parameters
        ----------
        by : {"system", "point", "class"}

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        InputError
            If pandas is not installed, or as in `to_arrow`.

        Examples
        --------
        >>> import deciban
        >>> deciban.evaluate([1.0, 2.0, 3.0], [-3.0, -2.0, 1.5]).to_frame()["auc"].round(3).tolist()
        [0.889]
        """
        return registered("frame")(self, by)

    def explore(self, *, title: str | None = None, height: int = 720) -> Any:
        """Show the page that ``deciban report`` writes inside a notebook.

        Parameters
        ----------
        title : str, optional
            Heading of the page; by default it names the systems.
        height : int
            Of the frame, in pixels.

        Returns
        -------
        deciban.report.rendering.Exploration
            Notebooks show it as a frame; ``save(path)`` writes the page to a file.

        Examples
        --------
        >>> import deciban
        >>> deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0]).explore()
        Exploration(height=720)
        """
        return registered("page")(self, title=title, height=height)

    def _repr_html_(self) -> str:
        """What notebooks show: the table, and small pictures."""
        written: str = registered("html")(self)
        return written

    def _repr_markdown_(self) -> str:
        """What is shown where there is no HTML."""
        return self.table("markdown")


PLOTS = {"two-class": "KINDS", "classes": "CLASS_KINDS", "comparison": "COMPARISON_KINDS"}
"""Under which name `deciban.plots` lists the plots of each kind of results."""


class Plotter:
    """The functions of `deciban.plots` for one kind of results, with their first argument filled in.

    Parameters
    ----------
    result : Evaluation, ClassEvaluation, Results or Comparison
    kind : {"two-class", "classes", "comparison"}
    """

    def __init__(self, result: Any, kind: str) -> None:
        self._result, self._kind = result, kind

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what copy and pickle look for
            raise AttributeError(name)
        if name not in dir(self):
            raise AttributeError(f"no plot {name!r} of {self._kind} results; there are {', '.join(dir(self))}")

        def draw(*arguments: Any, **options: Any) -> Any:
            return getattr(registered("plots")(), name)(self._result, *arguments, **options)

        return draw

    def __dir__(self) -> list[str]:
        return list(getattr(registered("plots")(), PLOTS[self._kind]))


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
