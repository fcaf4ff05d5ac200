"""What results of both kinds share: JSON, tables, data frames and plots by name, and intervals of their metrics."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Self, TypeAlias, TypeVar

import numpy as np

from deciban._lazy import registered
from deciban.core.by_value import ByValue
from deciban.core.resampling.intervals import LINEARISED, RATES, RULE_OF_THREE, Estimate, Interval
from deciban.core.resampling.units import INDEPENDENT
from deciban.evaluation.metrics import JSON_PLACES, METRICS, key_among, keys_of, metric_of, name_of
from deciban.evaluation.requested import InformationAt, RuleCosts
from deciban.evaluation.uncertainty import Figure, Uncertainty, no_units
from deciban.messages import counted, topic_of
from deciban.types import FloatArray

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
    """Return what JSON can hold: infinite numbers as words, null for NaN, objects as their ``to_dict`` or fields."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return {math.inf: "inf", -math.inf: "-inf"}.get(value)
    if isinstance(value, dict):
        return {name: plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if dataclasses.is_dataclass(value):
        own: Any = value
        if hasattr(own, "to_dict"):
            return plain(own.to_dict())
        return {field.name: plain(getattr(own, field.name)) for field in dataclasses.fields(own)}
    return value


def with_intervals(found: Mapping[str, Any], known: Uncertainty | None) -> dict[str, Any]:
    """The metrics of a system with ``units`` and ``intervals``, and intervals in the entries of lists of metrics.

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
    return {name: plain(getattr(found, name)) for name in names}


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
        targets = made.get(kind) or () if kind == "detectors" else ()
        entry = next((one for one in targets if one["target"] == at), None)
        return None if entry is None else (entry.setdefault("intervals", {}), figure[2])
    if not isinstance(at, int):
        return own.setdefault(kind, {}), at
    where, name = JSON_PLACES.get(kind, ("operating_points", kind))
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
        system  EER (ROCCH)  minDCF(0.5)  actDCF(0.5)   Cllr  min Cllr  calibration loss     AUC
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

    @property
    def metrics(self) -> Any:
        """All metrics, one in each row: a sequence with ``to_arrow()`` and ``to_frame()``.

        Returns
        -------
        deciban.tables.frames.MetricTable
            Columns: system, condition, metric, place (operating point, prior or class), value, low, high, corrected.
            Error rates are fractions, Cllr is in bits.

        Examples
        --------
        >>> import deciban
        >>> result = deciban.evaluate([1.0, 2.0, 3.0], [-3.0, -2.0, 1.5], operating_points=[0.5])
        >>> [(row.metric, row.place, round(row.value, 3)) for row in result.metrics[:2]]
        [('eer', '', 0.167), ('min_dcf', 'p_target 0.5', 0.333)]
        """
        return registered("metrics")(self)

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
    def cost_points(self) -> Sequence[Any]:
        """Costs at each operating point."""

    @property
    def point_names(self) -> tuple[str, ...]:
        """Names of the operating points, in their order."""
        return tuple(map(str, self.cost_points))

    @property
    def information_at(self) -> tuple[InformationAt, ...]:
        """How much the scores tell, in bits, prior by prior."""
        return ()

    @property
    def rule_costs(self) -> Sequence[RuleCosts]:
        """Costs by a custom rule, prior by prior."""
        return ()

    @property
    def estimates(self) -> Mapping[Figure, Estimate]:
        """Metrics with their standard errors; none if units are unknown."""
        return {} if self.uncertainty is None else self.uncertainty.estimates

    def value(self, key: Figure) -> float:
        """Return a metric of the system, or at one of its operating points."""
        owner = self if isinstance(key, str) else self.cost_points[int(key[1])]
        return float(getattr(owner, name_of(key)))

    def key_called(self, text: str) -> Figure:
        """Return the metric of a name that has an interval; see `key_among`.

        Raises
        ------
        InputError
            If the system has none of this name.
        """
        return key_among(self.estimates, text, f"{self.name} that has an interval")

    def words(self, key: Figure) -> str:
        """Return the label of a metric, with its operating point or prior where it has one."""
        metric = metric_of(key)
        if isinstance(key, str):
            return metric.label
        place = key[1]
        if metric.per == "rule prior":
            return f"{metric.label} at prior {self.rule_costs[int(place)].p_target:g}"
        if isinstance(place, int) and (metric.per == "point" or place < len(self.point_names)):
            return f"{metric.label} at {self.point_names[place]}"
        return " ".join([metric.label, *map(str, key[1:])])

    @property
    def minima(self) -> list[Figure]:
        """Metrics that are optimistic, as they were minimized on the same trials."""
        found = (one for one in METRICS if one.is_minimum)
        return keys_of(found, self.kind, {"point": len(self.cost_points)})

    def summary_keys(self) -> list[Figure]:
        """Return the metrics of summary tables: costs at an operating point if there is one alone."""
        n_points = len(self.cost_points)
        shown = (one for one in METRICS if one.tables == "all")
        return keys_of(shown, self.kind, {"point": n_points if n_points == 1 else 0})

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


def has_llrs(one: OneSystem) -> bool:
    """Return False if the notes state that the scores are not log-likelihoods or their ratios."""
    return not any(topic_of(note) in ("no-llrs", "ratios") for note in one.notes)


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


def shown_interval(one: OneSystem, figure: Figure) -> Interval | None:
    """The interval of a figure of an evaluation; None if there is none."""
    known = one.uncertainty
    return None if known is None or figure not in known.estimates else known.interval(figure)


def bounds_in_words(found: Interval, *, in_percent: bool = False, beside: str = "") -> tuple[str, str]:
    """Write both bounds with so many digits that their difference has two, but no more than the figure beside them.

    Parameters
    ----------
    found : Interval
    in_percent : bool
        Whether the figure is written in percent; the sign is left out.
    beside : str
        The figure as it is written: bounds have its decimals at most, what is less than the last of them is written as
        less (``<0.001``), and bounds of a figure with an exponent have exponents. By default there is no such limit.

    Examples
    --------
    >>> from deciban.core.resampling.intervals import Estimate, Interval
    >>> bounds_in_words(Estimate(0.0487, 0.0048, 100, "logit").interval(), in_percent=True)
    ('4.0', '5.9')
    >>> bounds_in_words(Interval(4e-10, 1e-11, 7e-10, 2e-10, None, 0.95, 100, "by hand"), beside="0.000")
    ('<0.001', '<0.001')
    >>> bounds_in_words(Estimate(0.518, 0.026, 100).interval()), bounds_in_words(Estimate(151.0, 40.0, 100).interval())
    (('0.47', '0.57'), ('89', '255'))
    """
    scale = 100.0 if in_percent else 1.0
    low, high = scale * found.low, scale * found.high
    width = high - low
    if not 0.0 < width < math.inf or max(abs(low), abs(high)) >= 1e6:
        return f"{low:z.4g}", f"{high:z.4g}"
    if "e" in beside:
        return f"{low:.2g}", f"{high:.2g}"
    digits = max(0, 1 - math.floor(math.log10(width)))
    most = _decimals(beside)
    while digits < (_MOST_DIGITS if most is None else most) and not _holds(scale * found.estimate, low, high, digits):
        digits += 1
    if most is None or digits <= most:
        return f"{low:z.{digits}f}", f"{high:z.{digits}f}"
    return _no_false_zero(low, most), _no_false_zero(high, most)


def in_more_digits(found: Interval, text: str, ends: Sequence[str], *, in_percent: bool) -> tuple[str, str, str]:
    """Write a figure and both bounds with the decimals that tell them apart; as they are if that takes too many.

    Examples
    --------
    >>> from deciban.core.resampling.intervals import Interval
    >>> one = Interval(8e-7, 2e-8, 5e-6, 1e-6, None, 0.95, 100, "by hand")
    >>> in_more_digits(one, "0.00 %", ("<0.01", "<0.01"), in_percent=True)
    ('0.00008 %', '<0.00001', '0.00050')
    """
    scale = 100.0 if in_percent else 1.0
    digits = 1 - math.floor(math.log10(scale * (found.high - found.low)))
    for more in range(digits, _MOST_DIGITS + 3):
        estimate, low, high = (_no_false_zero(scale * one, more) for one in (found.estimate, found.low, found.high))
        if len({estimate, low, high}) == 3:
            return estimate + (" %" if in_percent else ""), low, high
    return text, ends[0], ends[1]


_MOST_DIGITS = 6


def _holds(estimate: float, low: float, high: float, digits: int) -> bool:
    """Whether bounds with so many decimals contain the estimate, if the exact ones do."""
    return (low > estimate or round(low, digits) <= estimate) and (high < estimate or round(high, digits) >= estimate)


def _decimals(text: str) -> int | None:
    """Decimals of a figure as it is written; None where it is no number with decimals."""
    found = re.search(r"\d\.(\d+)", text)
    return None if found is None else len(found[1])


def _no_false_zero(value: float, digits: int) -> str:
    """A number with so many decimals; one that they would hide is written as less than the last of them."""
    text = f"{value:z.{digits}f}"
    if value == 0.0 or float(text) != 0.0:
        return text
    return f"{'<' if value > 0 else '>-'}{10.0**-digits:.{digits}f}"


def caption_of(systems: Sequence[OneSystem], *, with_rates: bool = False) -> str:
    """Say what stands in brackets: intervals by their level and their units; empty if nothing does.

    Parameters
    ----------
    systems : sequence of OneSystem
    with_rates : bool
        Whether error rates of one class are shown, too: they may have intervals where other metrics have none.

    Examples
    --------
    >>> from deciban import evaluate
    >>> units = {"tar_units": list("abcde"), "non_units": list("abcde")}
    >>> caption_of([evaluate([1.0, 2.0, 3.0, 2.0, 1.0], [0.0, 1.5, 0.5, -1.0, -2.0], **units)])
    '95 % intervals by unit, 5 units'
    """
    all_known = [one.uncertainty for one in systems if one.uncertainty is not None and one.uncertainty.estimates]
    known = [one for one in all_known if not one.too_few] or (
        all_known if with_rates or systems[0].kind == "classes" else []
    )
    if not known:
        return ""
    levels = " and ".join(dict.fromkeys(f"{100 * one.level:.6g} %" for one in known))
    kinds = dict.fromkeys((one.noun, one.are_independent) for one in known)
    nouns = dict.fromkeys(noun for noun, _ in kinds)
    counts = ", ".join(
        _counts([one.n_units for one in known if (one.noun, one.are_independent) == (noun, alone)], noun)
        + (f" {INDEPENDENT}" if alone else "")
        for noun, alone in kinds
    )
    methods = "".join(f"; {method}" for method in dict.fromkeys(map(_method, known)) if method != LINEARISED)
    return f"{levels} intervals by {' and '.join(nouns)}, {counts}{methods}"


def _counts(numbers: Sequence[int], noun: str) -> str:
    least, most = min(numbers), max(numbers)
    return counted(most, noun) if least == most else f"{least:,} to {counted(most, noun)}"


def _method(known: Uncertainty) -> str:
    """Return how intervals were found, if not all without replicates; of a bootstrap not of which kind."""
    each = (known.interval(figure).method for figure in known.estimates)
    found = next((method for method in each if method not in (RATES, RULE_OF_THREE)), LINEARISED)
    return found.partition(",")[0]


def corrected_of(one: OneSystem, figure: Figure) -> float | None:
    """Return what to expect of a minimum on new units; None if that is not known."""
    known = one.uncertainty
    return None if known is None or figure not in known.estimates else known.estimates[figure].corrected


def are_corrected(systems: Sequence[OneSystem]) -> bool:
    """Return True if a minimum of some system has a corrected value."""
    return any(corrected_of(one, figure) is not None for one in systems for figure in one.minima)


def optimism_in_words(systems: Sequence[OneSystem], *, corrected: bool = False) -> str:
    """Return what a caption states about minima with intervals; empty if none has a corrected value.

    Parameters
    ----------
    systems : sequence of Evaluation or ClassEvaluation
    corrected : bool
        Whether the table shows the corrected values.
    """
    if not are_corrected(systems):
        return ""
    nouns = dict.fromkeys(one.uncertainty.noun for one in systems if one.uncertainty is not None)
    new = f"on new {' and '.join(f'{noun}s' for noun in nouns)}"
    if corrected:
        return f"corrected: to expect {new}"
    return f"minima are optimistic: eval --corrected shows what to expect {new}"


PERCENT = " %"


class WithInterval(str):
    """A figure with its interval, as people read it: ``4.87 % [4.1, 5.9]``.

    Parameters
    ----------
    estimate : str
        The figure alone.
    low, high : str
        In the unit of the figure, without a sign of percent.
    digits : (str, str), optional
        The bounds with all the digits of their width, for programs.
    """

    __slots__ = ("digits", "estimate", "high", "low")
    digits: tuple[str, str]
    estimate: str
    low: str
    high: str

    def __new__(cls, estimate: str, low: str, high: str, digits: tuple[str, str] | None = None) -> Self:
        """Join the parts."""
        made = super().__new__(cls, f"{estimate} {_bracket(low, high)}")
        made.estimate, made.low, made.high = estimate, low, high
        made.digits = (low, high) if digits is None else digits
        return made

    @property
    def bracket(self) -> str:
        """The interval alone."""
        return _bracket(self.low, self.high)

    @property
    def without_percent(self) -> WithInterval:
        """The same without the sign."""
        return WithInterval(self.estimate.removesuffix(PERCENT), self.low, self.high, digits=self.digits)


def _bracket(low: str, high: str) -> str:
    return f"[{low}, {high}]"


def with_interval(text: str, one: OneSystem, figure: Figure, typeset: Callable[[str], str] = str) -> str:
    """A figure of an evaluation, written as text, with its interval if it has one.

    Parameters
    ----------
    text : str
        The figure; bounds are in percent if it ends so.
    one : Evaluation or ClassEvaluation
    figure : str, or (str, place)
        Its name, as in `OneSystem.interval`.
    typeset : function
        Changes how the bounds are written.
    """
    found = shown_interval(one, figure)
    if found is None:
        return text
    in_percent = text.endswith(PERCENT)
    ends = [*bounds_in_words(found, in_percent=in_percent, beside=text)]
    if ends[0] == ends[1] and ends[0].startswith("<"):
        text, *ends = in_more_digits(found, text, ends, in_percent=in_percent)
    low, high = map(typeset, ends)
    return WithInterval(text, low, high, digits=bounds_in_words(found, in_percent=in_percent))


def information_in_words(one: OneSystem) -> str:
    """Write the information that the scores of a system deliver, with intervals if units are known.

    Examples
    --------
    >>> from deciban import evaluate
    >>> information_in_words(evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], name="A"))
    'A: information at prior 0.5: 0.306 of 1 bit (0.667 after calibration); at prior 0.01: 0.0183 of 0.0808 (0.0539)'
    """
    parts = list[str]()
    for k, at in enumerate(one.information_at):
        unit = "" if k else " bit" if at.entropy == 1.0 else " bits"
        words = f"at {_at(at)}: {with_interval(_three_digits(at.delivered), one, ('information', k))}"
        words += f" of {at.entropy:.3g}{unit}"
        if at.available is not None:
            available = with_interval(_three_digits(at.available), one, ("available", k))
            words += f" ({available}{'' if k else ' after calibration'})"
        parts.append(words)
    most = one.capacity if one.kind == "classes" else None  # type: ignore[attr-defined]  # of two classes JSON has it
    if most is not None:
        parts.append(
            f"at the best prior: {_three_digits(most.bits)} bits after calibration ({_listed(one, most.prior)})"
        )
    return f"{one.name}: information {'; '.join(parts)}"


_SHOWN = 5
"""Classes of greatest prior that are named."""


def _listed(one: Any, prior: FloatArray) -> str:
    """The classes of greatest prior."""
    order = np.argsort(-prior, kind="stable")
    words = [f"{one.classes[k]} {prior[k]:.2g}" for k in order[:_SHOWN].tolist()]
    return ", ".join(words) + (f", {len(order) - _SHOWN} more" if len(order) > _SHOWN else "")


def _at(one: InformationAt) -> str:
    """Name the prior; of two classes that of a target."""
    if len(one.prior) == 2:
        return f"prior {one.prior[0]:.4g}"
    return "the flat prior" if len(set(one.prior)) == 1 else "the given prior"


def _three_digits(value: float) -> str:
    return f"{value:z#.3g}".rstrip(".")
