"""Common parts of all results: JSON, tables, data frames, plots by name, and intervals of metrics."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias, TypeVar

import numpy as np

from deciban._lazy import registered
from deciban._validate.arrays import probabilities_note
from deciban._validate.classes import posteriors_note
from deciban.core.resampling.intervals import LINEARISED, RATES, RULE_OF_THREE, Estimate, Interval
from deciban.core.resampling.units import INDEPENDENT
from deciban.errors import InputError, counted, either, option, some_of, topic_of
from deciban.evaluation.metrics import JSON_PLACES, METRICS, InformationAt, key_among, keys_of, metric_of, name_of
from deciban.evaluation.uncertainty import MetricKey, Uncertainty, no_units
from deciban.types import ByValue, FloatArray, Frame, KindName

if TYPE_CHECKING:
    from deciban.evaluation.metrics import RuleCosts
    from deciban.types import Graphic, Json

SCHEMA = 2
"""Version of the JSON layout; it changes if a name or a meaning changes."""


class Jsonable(ABC):
    """Mixin of results that have a ``to_dict``."""

    __slots__ = ()

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain JSON types."""

    def to_json(self) -> str:
        """Return `to_dict` as JSON text, with escaped control characters."""
        return json_text(self.to_dict())


def json_text(value: object, default: Callable[[Any], Any] | None = None) -> str:
    """Write plain types as JSON, with escaped control characters.

    Parameters
    ----------
    value : plain types
    default : function, optional
        Converts any other object to plain types.

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


def plain(value: object) -> Json:
    """Return a value for JSON: infinite numbers as words, null for NaN, objects as their ``to_dict`` or fields."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return {math.inf: "inf", -math.inf: "-inf"}.get(value)
    if isinstance(value, dict):
        return {name: plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if dataclasses.is_dataclass(value):
        if hasattr(value, "to_dict"):
            return plain(value.to_dict())
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return value


def with_intervals(entries: Mapping[str, Any], uncertainty: Uncertainty | None) -> dict[str, Any]:
    """Return the metrics of a system with ``units`` and ``intervals``, and intervals in entries of lists of metrics.

    Parameters
    ----------
    entries : mapping
        Metrics by name, from `to_dict` of an evaluation.
    uncertainty : Uncertainty or None
        If None, ``units`` is None, and there are no intervals.

    Examples
    --------
    >>> with_intervals({"eer": 0.05}, None)
    {'eer': 0.05, 'units': None, 'intervals': {}}
    """
    if uncertainty is None:
        return {**entries, "units": None, "intervals": {}}
    units = {"n": uncertainty.n_units, "noun": uncertainty.noun, "source": uncertainty.source}
    result: dict[str, Any] = {name: _copied(value) for name, value in entries.items()}
    result |= {"units": units, "intervals": {}}
    if (drawn := uncertainty.bootstrap) is not None:
        result["bootstrap"] = {"seed": drawn.seed, "n_replicates": drawn.n_replicates, "left_out": drawn.left_out}
    for metric in uncertainty.estimates:
        place = _place(result, metric)
        if place is not None:
            place[0][place[1]] = as_object(uncertainty.interval(metric))
    return result


def as_object(interval: Interval) -> dict[str, Any]:
    """Return an interval as in JSON."""
    names = ("low", "high", "standard_error", "corrected", "level", "method")
    return {name: plain(getattr(interval, name)) for name in names}


def _copied(value: object) -> Json:
    """Return the value; of a list of metrics, a copy to which intervals can be added."""
    return [dict(one) if isinstance(one, dict) else one for one in value] if isinstance(value, list) else value


def _place(entries: Mapping[str, Any], metric: MetricKey) -> tuple[dict[str, Any], str] | None:
    """Return the dictionary and key for the interval of a metric; None if JSON has no place for it."""
    own: dict[str, Any] = entries["intervals"]
    if isinstance(metric, str):
        return own, metric
    kind, at = metric[0], metric[1]
    if len(metric) == 3:  # each target against the rest; pairs of classes are left out, since there are N squared
        targets = entries.get(kind) or () if kind == "detectors" else ()
        entry = next((one for one in targets if one["target"] == at), None)
        return None if entry is None else (entry.setdefault("intervals", {}), metric[2])
    if not isinstance(at, int):
        return own.setdefault(kind, {}), at
    where, name = JSON_PLACES.get(kind, ("operating_points", kind))
    if kind == "rates_at":  # false-match limits come first
        n_first = len(entries.get("fnmr_at_fmr") or ())
        where, name = ("fnmr_at_fmr", "fnmr") if at < n_first else ("fmr_at_fnmr", "fmr")
        at -= 0 if at < n_first else n_first
    return entries[where][at].setdefault("intervals", {}), name


By: TypeAlias = Literal["system", "point", "class"]


class Tabular(ABC):
    """Mixin of results that tables show."""

    __slots__ = ()

    @abstractmethod
    def labelled(self) -> list[tuple[Mapping[str, str], Any]]:
        """Return every evaluation, with columns that distinguish it from other evaluations of the same name."""

    def table(self, style: str = "plain", *, width: int | None = None, all_classes: bool = False) -> str:
        """Return the table that the command line prints.

        Parameters
        ----------
        style : {"plain", "csv", "markdown", "latex", "html"}
        width : int, optional
            Characters in a row of a plain table; other columns follow in a second block. By default, unlimited.
        all_classes : bool
            Multiclass: show a row for every class. By default, tables with more than 30 classes show ten.

        Returns
        -------
        str

        Raises
        ------
        InputError
            If the style is unknown.

        Examples
        --------
        >>> import deciban
        >>> print(deciban.evaluate([1.0, 2.0, 3.0], [-3.0, -2.0, 1.5], operating_points=[0.5]).table().splitlines()[0])
        system  EER (ROCCH)  minDCF(0.5)  actDCF(0.5)   Cllr  min Cllr  calibration loss     AUC
        """
        return str(registered("views", "table")(self, style, width=width, all_classes=all_classes))

    def to_latex(self, *, all_classes: bool = False) -> str:
        """Return the table in LaTeX, with booktabs rules; see `table`.

        Parameters
        ----------
        all_classes : bool
        """
        return self.table("latex", all_classes=all_classes)

    def to_arrow(self, by: By = "system") -> Frame:
        """Return the metrics as an Arrow table.

        Parameters
        ----------
        by : {"system", "point", "class"}
            Rows: systems; systems at each operating point; multiclass also classes of each system.

        Returns
        -------
        pyarrow.Table
            Columns have the names of `to_dict`; nested metrics have both names, such as ``dr30_misses``. Error rates
            are fractions, Cllr is in bits; infinite metrics are infinite numbers. Null means unknown.

        Raises
        ------
        InputError
            If the results have no such rows.

        Examples
        --------
        >>> import deciban
        >>> result = deciban.evaluate([1.0, 2.0, 3.0], [-3.0, -2.0, 1.5], operating_points=[0.5, 0.1])
        >>> result.to_arrow("point").select(["name", "p_target", "min_dcf"]).to_pylist()[0]
        {'name': 'system', 'p_target': 0.5, 'min_dcf': 0.3333333333333333}
        """
        return registered("views", "arrow")(self, by)

    def to_frame(self, by: By = "system") -> Frame:
        """Return the metrics as a pandas data frame; see `to_arrow`.

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
        return registered("views", "frame")(self, by)

    @property
    def metrics(self) -> Any:
        """All metrics, one per row: a sequence with ``to_arrow()`` and ``to_frame()``.

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
        return registered("views", "metrics")(self)

    def log_to(
        self, run: object, *, prefix: str = "", page: bool = True, curves: bool = True, step: int | None = None
    ) -> None:
        """Log metrics with bounds, curves, and the page of ``deciban report`` to a run of MLflow or Weights & Biases.

        Parameters
        ----------
        run : module, run or client
            The module ``mlflow`` (its active run), a run of ``mlflow.start_run``, a pair ``(MlflowClient, run_id)``, or
            a run of ``wandb.init``.
        prefix : str
            Start of the names of metrics and of the page, such as ``"test/"``.
        page : bool
            Whether to log the page as an artifact.
        curves : bool
            Whether to log pictures: DET and Bayes error; for classes their losses and C_avg. They are artifacts in
            MLflow, and images in Weights & Biases.
        step : int, optional
            Step of the run.

        Raises
        ------
        InputError
            If the run is of another kind.

        Examples
        --------
        >>> class Run:  # stands for a run of wandb.init
        ...     def log(self, metrics): print({name: round(metrics[name], 3) for name in ("eer", "cllr")})
        ...     def log_artifact(self, path, name, type): print(name, type)
        >>> import deciban
        >>> deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0]).log_to(Run(), curves=False)
        {'eer': 0.167, 'cllr': 0.694}
        deciban report
        """
        registered("views", "log")(self, run, prefix=prefix, page=page, curves=curves, step=step)

    def explore(self, *, title: str | None = None, height: int = 720) -> Any:
        """Show the page of ``deciban report`` inside a notebook.

        Parameters
        ----------
        title : str, optional
            Heading of the page; by default, the names of the systems.
        height : int
            Height of the frame in pixels.

        Returns
        -------
        deciban.report.files.Exploration
            Notebooks show it as a frame; ``save(path)`` writes the page to a file.

        Examples
        --------
        >>> import deciban
        >>> deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0]).explore()
        Exploration(height=720)
        """
        return registered("views", "page")(self, title=title, height=height)

    def _repr_html_(self) -> str:
        """Return the table and small plots for notebooks."""
        return str(registered("views", "html")(self))

    def _repr_markdown_(self) -> str:
        """Return the table for viewers without HTML."""
        return self.table("markdown")


PLOTS = {"two-class": "KINDS", "classes": "CLASS_KINDS", "comparison": "COMPARISON_KINDS"}
"""Name in `deciban.plots` of the list of plots of each kind of results."""


class Plotter:
    """The functions of `deciban.plots` for one kind of results, with their first argument filled in.

    Parameters
    ----------
    result : Evaluation, ClassEvaluation, Results or Comparison
    kind : {"two-class", "classes", "comparison"}
    """

    def __init__(self, result: object, kind: str) -> None:
        self._result, self._kind = result, kind

    def __getattr__(self, name: str) -> Graphic:
        if name.startswith("__"):  # looked up by copy and pickle
            raise AttributeError(name)
        if name not in dir(self):
            raise AttributeError(f"no plot {name!r} of {self._kind} results; the plots are {', '.join(dir(self))}")

        def draw(*arguments: object, **options: object) -> Graphic:
            return getattr(registered("views", "plots"), name)(self._result, *arguments, **options)

        return draw

    def __dir__(self) -> list[str]:
        return list(getattr(registered("views", "plots"), PLOTS[self._kind]))


class PlottedResult(Tabular, Jsonable):
    """Mixin of results with plots."""

    __slots__ = ()

    @property
    def plot(self) -> Plotter:
        """Plots by name, as functions of `deciban.plots`: ``result.plot.NAME()``."""
        own: Any = self
        return Plotter(own, own.kind)


class OneSystem(ByValue, PlottedResult):
    """Base class of evaluations: a name, notes, and a kind with its conventions."""

    __slots__ = ()
    name: str
    notes: tuple[str, ...]
    kind: ClassVar[KindName]
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
        """Information that the scores deliver, in bits, for each prior."""
        return ()

    @property
    def rule_costs(self) -> Sequence[RuleCosts]:
        """Costs by a custom rule, for each prior."""
        return ()

    @property
    def estimates(self) -> Mapping[MetricKey, Estimate]:
        """Metrics with their standard errors; empty if units are unknown."""
        return {} if self.uncertainty is None else self.uncertainty.estimates

    def value(self, key: MetricKey) -> float:
        """Return a metric of the system, or of one of its operating points."""
        owner = self if isinstance(key, str) else self.cost_points[int(key[1])]
        unknown = () if metric_of(key).costs is None else (math.nan,)  # registered, perhaps after this evaluation
        return float(getattr(owner, name_of(key), *unknown))

    def key_called(self, text: str) -> MetricKey:
        """Return the key of a metric that has an interval, by its name; see `key_among`.

        Raises
        ------
        InputError
            If the system has no such metric.
        """
        if not self.estimates:
            raise InputError(f"metric: {self.name} has no metric with an interval. Use more units or trials.")
        return key_among(self.estimates, text, f"{self.name} that has an interval")

    def words(self, key: MetricKey) -> str:
        """Return the label of a metric, with its operating point or prior if it has one."""
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
    def minima(self) -> list[MetricKey]:
        """Metrics that are optimistic, because they were minimized on the same trials."""
        result = (one for one in METRICS if one.is_minimum)
        return keys_of(result, self.kind, {"point": len(self.cost_points)})

    def summary_keys(self) -> list[MetricKey]:
        """Return the metrics of summary tables; with costs if there is exactly one operating point."""
        n_points = len(self.cost_points)
        shown = (one for one in METRICS if one.tables == "all" and (one.costs is None or hasattr(self, one.name)))
        return keys_of(shown, self.kind, {"point": n_points if n_points == 1 else 0})

    @property
    def all_notes(self) -> tuple[str, ...]:
        """The notes, with notes on the intervals."""
        return self.notes if self.uncertainty is None else (*self.notes, *self.uncertainty.notes)

    def interval(self, metric: MetricKey, *, level: float | None = None) -> Interval:
        """Return a confidence interval of a metric, by units such as speakers.

        Parameters
        ----------
        metric : str, or (str, place)
            A name, such as ``"eer"`` or ``"min_cllr"``. At operating points, ``"act_dcf"`` is the metric at the first
            and ``("act_dcf", 1)`` at the second one.
        level : float, optional
            Confidence level. By default, the level of the evaluation, which is 0.95 unless set.

        Returns
        -------
        Interval

        Raises
        ------
        InputError
            If units are unknown or fewer than two, there is no such metric or it is infinite, or the level is not
            inside (0, 1).
        """
        if self.uncertainty is None:
            raise no_units(self.name)
        return self.uncertainty.interval(metric, level=level)

    def labelled(self) -> list[tuple[Mapping[str, str], Any]]:
        """Return the evaluation itself, without labels."""
        return [({}, self)]


def has_llrs(one: OneSystem) -> bool:
    """Return False if the notes state that the scores are not log-likelihoods or their ratios."""
    return not any(topic_of(note) in ("no-llrs", "ratios") for note in one.notes)


def advice_before_calibration(one: OneSystem) -> str:
    """Return the advice of the notes on scores that look like probabilities or likelihood ratios; empty for others."""
    if any(topic_of(note) == "ratios" for note in one.notes):
        return f"for likelihood ratios add {option(lr=True)}, otherwise "
    is_like = (posteriors_note if one.kind == "classes" else probabilities_note)() in one.notes
    return f"for probabilities add {option(probabilities='PRIOR')}, otherwise " if is_like else ""


S = TypeVar("S", bound=OneSystem)


def shared_notes(systems: Sequence[S]) -> list[tuple[list[S], str]]:
    """Return the notes on systems, each once, with the systems that it applies to; the most important notes first.

    Examples
    --------
    >>> from deciban import evaluate
    >>> few = [evaluate([1.0], [-1.0], name=name) for name in "AB"]
    >>> [([one.name for one in some], note[:25]) for some, note in shared_notes(few)][:1]
    [(['A', 'B'], 'EER, minDCF, min Cllr and')]
    """
    result, ranks = dict[str, list[S]](), dict[str, int]()
    for system in systems:
        for rank, note in enumerate(system.all_notes):
            result.setdefault(note, []).append(system)
            ranks[note] = min(rank, ranks.get(note, rank))
    return [(result[note], note) for note in sorted(result, key=ranks.__getitem__)]


def shown_interval(one: OneSystem, metric: MetricKey) -> Interval | None:
    """Return the interval of a metric of an evaluation, or None."""
    known = one.uncertainty
    return None if known is None or metric not in known.estimates else known.interval(metric)


def bounds_in_words(interval: Interval, *, in_percent: bool = False, beside: str = "") -> tuple[str, str]:
    """Write both bounds so that their difference has two digits, and a small bound its first digit.

    Parameters
    ----------
    interval : Interval
    in_percent : bool
        True if the metric is written in percent; the percent sign is left out.
    beside : str
        The text of the metric. Bounds have at most its decimals, and a bound below the last decimal is written like
        ``<0.001``. Bounds of a metric with an exponent have exponents. By default, there is no limit.

    Examples
    --------
    >>> from deciban.core.resampling.intervals import Estimate, Interval
    >>> bounds_in_words(Estimate(0.0487, 0.0048, 100, "logit").interval(), in_percent=True)
    ('4.0', '5.9')
    >>> bounds_in_words(Interval(4e-10, 1e-11, 7e-10, 2e-10, None, 0.95, 100, "by hand"), beside="0.000")
    ('<0.001', '<0.001')
    >>> bounds_in_words(Estimate(0.518, 0.026, 100).interval()), bounds_in_words(Estimate(151.0, 40.0, 100).interval())
    (('0.47', '0.57'), ('89', '255'))
    >>> difference = Interval(-0.06, -0.12, -0.0048, 0.03, None, 0.95, 100, "by hand")
    >>> noise = Interval(1e-16, -1.1e-12, 1.3e-12, 6e-13, None, 0.95, 100, "by hand")
    >>> bounds_in_words(difference), bounds_in_words(noise)
    (('-0.12', '-0.005'), ('0', '0'))
    >>> bounds_in_words(Interval(0.49, 0.385, 18.3, 4.5, None, 0.95, 100, "by hand"), beside="0.490")
    ('0.4', '18')
    """
    scale = 100.0 if in_percent else 1.0
    low, high = scale * interval.low, scale * interval.high
    if not beside and max(abs(low), abs(high)) < ROUNDING:
        return "0", "0"
    width = high - low
    if not 0.0 < width < math.inf or max(abs(low), abs(high)) >= 1e6:
        return f"{low:z.4g}", f"{high:z.4g}"
    if "e" in beside:
        return f"{low:.2g}", f"{high:.2g}"
    digits = max(0, 1 - math.floor(math.log10(width)))
    most = _decimals(beside)
    while digits < (_MOST_DIGITS if most is None else most) and not _holds(
        scale * interval.estimate, low, high, digits
    ):
        digits += 1
    # A bound that is much smaller than the other one has its own first digit.
    first = (0 if abs(one) < ROUNDING else -math.floor(math.log10(abs(one))) for one in (low, high))
    if most is None:
        below, above = (max(digits, one) if one <= _MOST_DIGITS else digits for one in first)
        return f"{low:z.{below}f}", f"{high:z.{above}f}"
    below, above = (min(max(digits, one), most) for one in first)
    low = 0.0 if digits <= most and abs(low) < ROUNDING else low  # rounding noise beside a wide interval
    return _no_false_zero(low, below), _no_false_zero(high, above)


def in_more_digits(interval: Interval, text: str, ends: Sequence[str], *, in_percent: bool) -> tuple[str, str, str]:
    """Write a metric and both bounds with enough decimals to distinguish them; unchanged if that takes too many.

    Examples
    --------
    >>> from deciban.core.resampling.intervals import Interval
    >>> one = Interval(8e-7, 2e-8, 5e-6, 1e-6, None, 0.95, 100, "by hand")
    >>> in_more_digits(one, "0.00 %", ("<0.01", "<0.01"), in_percent=True)
    ('0.00008 %', '<0.00001', '0.00050')
    """
    scale = 100.0 if in_percent else 1.0
    digits = 1 - math.floor(math.log10(scale * (interval.high - interval.low)))
    for more in range(digits, _MOST_DIGITS + 3):
        estimate, low, high = (
            _no_false_zero(scale * one, more) for one in (interval.estimate, interval.low, interval.high)
        )
        if len({estimate, low, high}) == 3:
            return estimate + (" %" if in_percent else ""), low, high
    return text, ends[0], ends[1]


_MOST_DIGITS = 6

ROUNDING = 1e-10
"""Differences below this are due to rounding."""


def _holds(estimate: float, low: float, high: float, digits: int) -> bool:
    """Return True if bounds with ``digits`` decimals contain the estimate, or the exact bounds do not."""
    return (low > estimate or round(low, digits) <= estimate) and (high < estimate or round(high, digits) >= estimate)


def _decimals(text: str) -> int | None:
    """Return the number of decimals of a written number; None if it has no decimals."""
    result = re.search(r"\d\.(\d+)", text)
    return None if result is None else len(result[1])


def _no_false_zero(value: float, digits: int) -> str:
    """Write a number with ``digits`` decimals; one that rounds to 0 is written as less than the last decimal."""
    text = f"{value:z.{digits}f}"
    if value == 0.0 or float(text) != 0.0:
        return text
    return f"{'<' if value > 0 else '>-'}{10.0**-digits:.{digits}f}"


def caption_of(systems: Sequence[OneSystem], *, with_rates: bool = False) -> str:
    """Return a caption for intervals in brackets, with their level and units; empty if there are no intervals.

    Parameters
    ----------
    systems : sequence of OneSystem
    with_rates : bool
        True if error rates of one class are shown: they can have intervals even if other metrics have none.

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


def _method(uncertainty: Uncertainty) -> str:
    """Return the name of the method that found the intervals; of a bootstrap, without its kind."""
    each = (uncertainty.interval(metric).method for metric in uncertainty.estimates)
    result = next((method for method in each if method not in (RATES, RULE_OF_THREE)), LINEARISED)
    return result.partition(",")[0]


def corrected_of(one: OneSystem, metric: MetricKey) -> float | None:
    """Return the expected value of a minimum on new units; None if unknown."""
    known = one.uncertainty
    return None if known is None or metric not in known.estimates else known.estimates[metric].corrected


def are_corrected(systems: Sequence[OneSystem]) -> bool:
    """Return True if a minimum of some system has a corrected value."""
    return any(corrected_of(one, metric) is not None for one in systems for metric in one.minima)


def optimism_in_words(systems: Sequence[OneSystem], *, corrected: bool = False) -> str:
    """Return a caption on the optimism of minima with intervals; empty if no minimum has a corrected value.

    Parameters
    ----------
    systems : sequence of Evaluation or ClassEvaluation
    corrected : bool
        Whether the table shows the corrected values.
    """
    if not are_corrected(systems):
        return ""
    if corrected:
        nouns = dict.fromkeys(one.uncertainty.noun for one in systems if one.uncertainty is not None)
        return f"corrected: expected on new {' and '.join(f'{noun}s' for noun in nouns)}"
    what = "EER, minDCF and min Cllr" if any("eer" in one.minima for one in systems) else "minima"
    return f"{what} are optimistic: see {either('', 'eval ')}{option(corrected=True)}"


PERCENT = " %"


class WithInterval(str):
    """A written metric with its interval: ``4.87 % [4.1, 5.9]``.

    Parameters
    ----------
    estimate : str
        The metric without interval.
    low, high : str
        Bounds in the unit of the metric, without a percent sign.
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
        result = super().__new__(cls, f"{estimate} {_bracket(low, high)}")
        result.estimate, result.low, result.high = estimate, low, high
        result.digits = (low, high) if digits is None else digits
        return result

    @property
    def bracket(self) -> str:
        """The interval in brackets."""
        return _bracket(self.low, self.high)

    @property
    def without_percent(self) -> WithInterval:
        """The same without percent signs."""
        return WithInterval(self.estimate.removesuffix(PERCENT), self.low, self.high, digits=self.digits)


def _bracket(low: str, high: str) -> str:
    return f"[{low}, {high}]"


def with_interval(text: str, one: OneSystem, metric: MetricKey, typeset: Callable[[str], str] = str) -> str:
    """Append the interval of a metric to its text, if it has one.

    Parameters
    ----------
    text : str
        The written metric; bounds are in percent if it ends with a percent sign.
    one : Evaluation or ClassEvaluation
    metric : str, or (str, place)
        Name of the metric, as in `OneSystem.interval`.
    typeset : function
        Changes the text of each bound.
    """
    result = shown_interval(one, metric)
    if result is None:
        return text
    in_percent = text.endswith(PERCENT)
    ends = [*bounds_in_words(result, in_percent=in_percent, beside=text)]
    if ends[0] == ends[1] and ends[0].startswith("<"):
        text, *ends = in_more_digits(result, text, ends, in_percent=in_percent)
    low, high = map(typeset, ends)
    return WithInterval(text, low, high, digits=bounds_in_words(result, in_percent=in_percent))


def information_in_words(one: OneSystem) -> str:
    r"""Write the information that the scores of a system deliver, with intervals if units are known.

    Examples
    --------
    >>> from deciban import evaluate
    >>> print(information_in_words(evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], name="A")).replace("; ", "\n"))
    A: information at prior 0.5: 0.306 of 1 bit (0.667 after calibration)
    at prior 0.01: 0.0183 of 0.0808 bits (0.0539 after calibration)
    """
    parts = list[str]()
    for k, at in enumerate(one.information_at):
        words = f"at {_at(at)}: {with_interval(_three_digits(at.delivered), one, ('information', k))}"
        words += f" of {at.entropy:.3g} bit{'' if at.entropy == 1.0 else 's'}"
        if at.available is not None:
            available = with_interval(_three_digits(at.available), one, ("available", k))
            words += f" ({available} after calibration)"
        parts.append(words)
    most = one.capacity if one.kind == "classes" else None  # type: ignore[attr-defined]  # for two classes only in JSON
    if most is not None:
        parts.append(
            f"at the best prior: {_three_digits(most.bits)} bits after calibration ({_listed(one, most.prior)})"
        )
    return f"{one.name}: information {'; '.join(parts)}"


_SHOWN = 5
"""Number of classes with the greatest prior that are named."""


def _listed(one: Any, prior: FloatArray) -> str:
    """List the classes with the greatest prior."""
    order = np.argsort(-prior, kind="stable")
    return some_of([f"{one.classes[k]} {prior[k]:.2g}" for k in order.tolist()], most=_SHOWN)


def _at(one: InformationAt) -> str:
    """Name the prior; for two classes, the prior of a target."""
    if len(one.prior) == 2:
        return f"prior {one.prior[0]:.4g}"
    return "the flat prior" if len(set(one.prior)) == 1 else "the given prior"


def _three_digits(value: float) -> str:
    return f"{value:z#.3g}".rstrip(".")
