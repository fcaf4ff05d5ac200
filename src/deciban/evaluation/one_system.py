"""What results of both kinds share: JSON, tables, data frames and plots by name, and intervals of their metrics."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar

import numpy as np

from deciban._lazy import registered
from deciban.core.by_value import ByValue
from deciban.core.resampling.intervals import Interval
from deciban.evaluation.requested import InformationAt
from deciban.evaluation.uncertainty import Figure, Uncertainty, no_units

SCHEMA = 2
"""Version of the JSON layout; it changes when a name or a meaning does."""


class Jsonable(ABC):
    """Mixin of results that have a ``to_dict``."""

    __slots__ = ()

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain JSON types."""

    def to_json(self) -> str:
        """Return `to_dict` as JSON text; what a terminal would obey is escaped, as JSON can."""
        return json_text(self.to_dict())


def json_text(value: Any, default: Callable[[Any], Any] | None = None) -> str:
    """Write plain types as JSON; what a terminal would obey is escaped, as JSON can.

    Parameters
    ----------
    value : plain types
    default : function, optional
        Makes plain types of anything else.

    Examples
    --------
    >>> print(json_text({"name": "a\\x9b2J"}))
    {
      "name": "a\\u009b2J"
    }
    """
    text = json.dumps(value, indent=2, ensure_ascii=False, default=default)
    return "\n".join(map(_escaped, text.split("\n")))


def _escaped(line: str) -> str:
    return line if line.isprintable() else "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line)


def plain(value: Any) -> Any:
    """What JSON can hold: infinite numbers become words, and NaN, what is not known, becomes null."""
    if isinstance(value, dict):
        return {name: plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return None if isinstance(value, float) and math.isnan(value) else value


POINTS, TARGETS = "operating_points", "detectors"
"""Lists of figures, as they are called."""


_PLACES = {
    "misleading_tar": ("misleading_evidence", "p_tar"),
    "misleading_non": ("misleading_evidence", "p_non"),
    "at_thresholds_p_miss": ("at_thresholds", "p_miss"),
    "at_thresholds_p_fa": ("at_thresholds", "p_fa"),
    "at_thresholds_hter": ("at_thresholds", "hter"),
    "information": ("information_at", "delivered"),
    "cost": ("costs", "cost"),
    "available": ("information_at", "available"),
    "rule_cost": ("rule_costs", "cost"),
    "rule_minimum": ("rule_costs", "minimum"),
    "rule_calibration_loss": ("rule_costs", "calibration_loss"),
    "rule_information": ("rule_costs", "information"),
    "log_loss": ("posterior_scores", "log_loss"),
    "log_loss_discrimination_loss": ("posterior_scores", "log_loss_discrimination_loss"),
    "log_loss_calibration_loss": ("posterior_scores", "log_loss_calibration_loss"),
    "brier": ("posterior_scores", "brier"),
    "brier_discrimination_loss": ("posterior_scores", "brier_discrimination_loss"),
    "brier_calibration_loss": ("posterior_scores", "brier_calibration_loss"),
}
"""Where figures with a number stand that are of no operating point: in which list, and by which name."""


def with_intervals(found: Mapping[str, Any], known: Uncertainty | None) -> dict[str, Any]:
    """The figures of a system with ``units`` and ``intervals``, and intervals in the entries of lists of figures.

    Parameters
    ----------
    found : mapping
        Figures by name, as `to_dict` of an evaluation has them.
    known : Uncertainty or None
        None: ``units`` are None, and there are no intervals.

    Examples
    --------
    >>> with_intervals({"eer": 0.05}, None)
    {'eer': 0.05, 'units': None, 'intervals': {}}
    """
    if known is None:
        return {**found, "units": None, "intervals": {}}
    units = {"n": known.n_units, "noun": known.noun, "source": known.source}
    made: dict[str, Any] = {name: _copied(value) for name, value in found.items()}
    made |= {"units": units, "intervals": {}}
    if (drawn := known.bootstrap) is not None:
        made["bootstrap"] = {"seed": drawn.seed, "n_replicates": drawn.n_replicates, "left_out": drawn.left_out}
    for figure in known.estimates:
        place = _place(made, figure)
        if place is not None:
            place[0][place[1]] = as_object(known.interval(figure))
    return made


def as_object(found: Interval) -> dict[str, Any]:
    """An interval as JSON has it."""
    names = ("low", "high", "standard_error", "corrected", "level", "method")
    return {name: getattr(found, name) for name in names}


def _copied(value: Any) -> Any:
    """Return a value, of a list of metrics a copy to which intervals can be added."""
    return [dict(one) if isinstance(one, dict) else one for one in value] if isinstance(value, list) else value


def _place(made: Mapping[str, Any], figure: Figure) -> tuple[dict[str, Any], str] | None:
    """Into what the interval of a figure goes, and by which name; None for one of very many."""
    own: dict[str, Any] = made["intervals"]
    if isinstance(figure, str):
        return own, figure
    kind, at = figure[0], figure[1]
    if len(figure) == 3:  # of each target against the rest; those of each pair of classes are N squared
        entry = next((one for one in made.get(kind) or () if one["target"] == at), None) if kind == TARGETS else None
        return None if entry is None else (entry.setdefault("intervals", {}), figure[2])
    if not isinstance(at, int):
        return own.setdefault(kind, {}), at
    where, name = _PLACES.get(kind, (POINTS, kind))
    if kind == "rates_at":  # first those with limited false matches
        n_first = len(made.get("fnmr_at_fmr") or ())
        where, name = ("fnmr_at_fmr", "fnmr") if at < n_first else ("fmr_at_fnmr", "fmr")
        at -= 0 if at < n_first else n_first
    return made[where][at].setdefault("intervals", {}), name


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
    """Return the notes on systems, each once, with the systems that it is about; the most important notes first.

    Examples
    --------
    >>> from deciban import evaluate
    >>> few = [evaluate([1.0], [-1.0], name=name) for name in "AB"]
    >>> [([one.name for one in some], note[:10]) for some, note in shared_notes(few)]
    [(['A', 'B'], 'Rule of 30')]
    """
    found, ranks = dict[str, list[S]](), dict[str, int]()
    for system in systems:
        for rank, note in enumerate(system.all_notes):
            found.setdefault(note, []).append(system)
            ranks[note] = min(rank, ranks.get(note, rank))
    return [(found[note], note) for note in sorted(found, key=ranks.__getitem__)]
