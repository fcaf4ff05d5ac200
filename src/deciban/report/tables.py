"""Numbers, sentences and table rows of a page."""

from __future__ import annotations

import math
import os
import platform
import re
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
from markupsafe import Markup, escape

from deciban._version import __version__
from deciban.core.ranks.roc import FEW_ERRORS
from deciban.core.resampling.intervals import LEVEL
from deciban.core.resampling.units import number_and_source
from deciban.errors import InputError
from deciban.evaluation.metrics import METRICS, Metric, metric_of
from deciban.evaluation.one_system import WithInterval, are_corrected, caption_of, corrected_of, optimism_in_words
from deciban.evaluation.two_class.evaluate import prior_name
from deciban.evaluation.uncertainty import MetricKey
from deciban.io.source import TwoFiles, described
from deciban.tables.writers import MINUS, MISSING, count, number, percent, sure
from deciban.types import PathLike

if TYPE_CHECKING:
    from deciban.analysis import FusionMetrics, Selection
    from deciban.evaluation import ClassEvaluation, Evaluation, PointResult, Results
    from deciban.evaluation.saved import SavedSystem
    from deciban.evaluation.spoofing import SpoofingResults
    from deciban.models import Model

_FILE = Path(__file__).with_name("templates") / "text.toml"

TEXTS: dict[str, dict[str, Any]] = tomllib.loads(_FILE.read_text("utf-8"))
"""Texts by topic: titles and captions of plots, definitions, and explanations of models."""


TWO_CLASS, MULTICLASS = TEXTS["two-class"], TEXTS["classes"]


_LONG, _LONGEST = 12, 24
"""Characters of names that can be broken, and of words that can be broken inside."""


_BREAKS = re.compile(rf"(?<=[-_/])(?=[^-_./])|(?<=\.)(?=[^-_./\d])|(?<=[^-_./\s]{{{_LONGEST}}})(?=[^-_./\s])")


def breakable(text: str) -> Markup:
    """Return a name as HTML with line breaks allowed after `_`, `-`, `/` and `.`, and inside very long words.

    There is none in numbers, and in short names.

    >>> print(breakable("scores_aasist"), breakable("a<b"), breakable("sys_a.txt"))
    scores_<wbr>aasist a&lt;b sys_a.txt
    >>> print(breakable("prior 0.01, sys_a.txt"))
    prior 0.01, sys_<wbr>a.<wbr>txt
    """
    return escape(text) if len(text) <= _LONG else Markup("<wbr>").join(_BREAKS.split(text))


def capitalize_first(text: str) -> str:
    """Capitalize the first letter of a sentence, without changing the others."""
    return text[:1].upper() + text[1:]


def level_of(systems: Sequence[Any]) -> float | None:
    """Return the level of the intervals of systems; None without intervals."""
    return next((one.uncertainty.level for one in systems if one.uncertainty is not None), None)


def about_intervals(systems: Sequence[Any]) -> str:
    """Return a caption for intervals; empty if no metric has one."""
    words = "; ".join(filter(None, (caption_of(systems, with_rates=True), optimism_in_words(systems, corrected=True))))
    return f"In brackets: {words}." if words else ""


def scarce_errors(system: Evaluation) -> str:
    """Return where there are fewer than 30 errors.

    >>> from deciban.evaluation import evaluate
    >>> scarce_errors(evaluate([1.0, 2.0], [0.0, 1.5]))
    'fewer than 30 false alarms at every prior; fewer than 30 misses at every prior'
    """
    if any(map(math.isnan, system.dr30)):
        return "unknown after one pass"
    parts = []
    for what, log_odds, side in zip(("false alarms", "misses"), system.dr30, ("below", "above"), strict=True):
        where = f"{side} prior {prior_name(log_odds)}" if math.isfinite(log_odds) else "at every prior"
        parts.append(f"fewer than {FEW_ERRORS} {what} {where}")
    return "; ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Origin of a page.

    Attributes
    ----------
    files : tuple of dict
        ``role``, ``path``, ``size`` in bytes and ``sha256`` of each file; None if it could be read only once.
    command : str
        The command line or function call.
    written : str
        Date and time, in UTC.
    """

    files: tuple[dict[str, Any], ...]
    command: str
    written: str

    @classmethod
    def of(cls, roles: Mapping[str, Iterable[PathLike | TwoFiles | None]], command: str) -> Provenance:
        """Hash files, and read the clock, or ``SOURCE_DATE_EPOCH`` for reproducible pages.

        Parameters
        ----------
        roles : mapping of str to iterable of path, TwoFiles or None
            Input files, as in `deciban.io.source.described`.
        command : str

        Raises
        ------
        InputError
            As in `date_written`.
        OSError
            If a file can no longer be read.
        """
        return cls(files=tuple(described(roles)), command=command, written=date_written())

    def rows(self, results: Results[Any]) -> list[tuple[str, str]]:
        """Return terms and values besides the files, with the source of intervals of results.

        Parameters
        ----------
        results : Results
        """
        versions = {"deciban": __version__, "Python": platform.python_version()}
        versions |= {"NumPy": np.__version__, "SciPy": scipy.__version__}
        items = [("Command", self.command), ("Written", self.written)]
        items.append(("Versions", " · ".join(f"{name} {version}" for name, version in versions.items())))
        known = [one.uncertainty for one in results.systems if one.uncertainty is not None]
        if known:
            units = dict.fromkeys(number_and_source(one.n_units, one.noun, one.source) for one in known)
            items.append(("Units of intervals", "; ".join(units)))
        seeds = dict.fromkeys(str(one.bootstrap.seed) for one in known if one.bootstrap is not None)
        items.append(("Seed", ", ".join(seeds) if seeds else "none: this page contains no random numbers"))
        return items


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Content of a page; see `deciban.report.render`.

    ``level`` is the level of bands around maps, None for no bands; ``command`` contains shell words that evaluate the
    same scores.
    """

    results: Results[Any]
    title: str | None = None
    message_lines: tuple[str, ...] = ()
    train: Results[Any] | None = None
    before: Results[Any] | None = None
    train_before: Results[Any] | None = None
    model: Model | None = None
    metrics: FusionMetrics | None = None
    selection: Selection | None = None
    level: float | None = LEVEL
    provenance: Provenance | None = None
    command: tuple[str, ...] = ()
    author: str | None = None
    note: str | None = None
    link: str | None = None
    baseline: tuple[SavedSystem, ...] = ()
    spoofing: SpoofingResults | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of the page: test, and training if there is any, each optionally before calibration."""
        sets = {"before": self.before, "train": self.train, "train_before": self.train_before}
        more = {name: shown.systems_to_dicts() for name, shown in sets.items() if shown is not None}
        result = self.results.to_dict()
        if self.spoofing is not None:
            result |= self.spoofing.added_to(result["systems"])
        return {**result, **more}


def date_written() -> str:
    """Return date and time in UTC, of now or of ``SOURCE_DATE_EPOCH``.

    Raises
    ------
    InputError
        If the variable is not a date.
    """
    value = os.environ.get("SOURCE_DATE_EPOCH", "")
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(float(value or time.time())))
    except (ValueError, OverflowError, OSError) as error:
        raise InputError(
            f"SOURCE_DATE_EPOCH: {value!r} in the environment is not a date in seconds since 1970. Set it to a whole "
            "number such as 1750000000, or unset it."
        ) from error


def definition_of(metric: str, terms: Iterable[str]) -> str:
    """Return the term under which a page defines a metric; empty if there is none.

    Examples
    --------
    >>> terms = ["EER (ROCCH)", "Cllr", "min Cllr", "minDCF", "C_avg", "min C_avg"]
    >>> definition_of("min Cllr", terms), definition_of("mean minDCF", terms), definition_of("targets", terms)
    ('min Cllr', 'minDCF', '')
    >>> definition_of("C_avg at 0.5, minimum", terms), definition_of("EER (ROCCH)", terms)
    ('min C_avg', 'EER (ROCCH)')
    """
    words = metric.casefold()
    if words.endswith("minimum"):
        words = f"min {words}"
    items = [term for term in terms if term.casefold() in words]
    return max(items, key=len, default="")


def anchor(text: str, start: str = "means") -> str:
    """Return the id of a place of the page: by default, of the definition of a term.

    >>> anchor("EER (ROCCH)"), anchor("Miss rate, false-alarm rate"), anchor("By gender \xd7 channel", "section")
    ('means-eer-rocch', 'means-miss-rate-false-alarm-rate', 'section-by-gender-channel')
    """
    kept = "".join(letter if letter.isalnum() or letter == "_" else " " for letter in text.casefold())
    return "-".join([start, *kept.split()])


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: the system, its colour in plots, and the cells.

    For errors at one ``point``, ``few`` lists the kinds with fewer than 30.
    """

    name: str
    color: str
    cells: tuple[str, ...]
    point: str = ""
    few: str = ""


CORRECTED = ", corrected"
"""Suffix of the name of a corrected minimum."""

_SIDE_BY_SIDE = 5
"""Largest number of systems in a table with intervals."""


@dataclass(frozen=True, slots=True)
class SideBySide:
    """A table with a row for each metric and a column for each system.

    Attributes
    ----------
    systems : sequence of (evaluation, str)
        Each with its colour.
    lines : tuple of (str, tuple of str)
        Name and cells of each metric.
    """

    systems: Sequence[tuple[Any, str]]
    lines: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def has_intervals(self) -> bool:
        """True if some cell has an interval."""
        return any(isinstance(cell, WithInterval) for _, cells in self.lines for cell in cells)


def side_by_side(systems: Sequence[tuple[Any, str]], metrics: Sequence[Mapping[str, str]]) -> list[SideBySide]:
    """Return tables with metrics in rows, since there are more metrics than fit side by side.

    Parameters
    ----------
    systems : sequence of (evaluation, str)
        Each with its colour.
    metrics : sequence of mapping of str to str
        The metrics of each system by name; a system can lack some.

    Returns
    -------
    list of SideBySide
        Each with as many systems as fit.

    Examples
    --------
    >>> systems = [("A", "red"), ("B", "blue")]  # evaluations, on a page
    >>> (one,) = side_by_side(systems, [{"EER": "1", "Cllr": "2"}, {"EER": "3", "Cllr": "4"}])
    >>> one.lines
    (('EER', ('1', '3')), ('Cllr', ('2', '4')))
    """
    names, sides = max(metrics, key=len), []
    for start in range(0, len(systems), _SIDE_BY_SIDE):
        end = start + _SIDE_BY_SIDE
        lines = tuple((name, tuple(own.get(name, MISSING) for own in metrics[start:end])) for name in names)
        sides.append(SideBySide(systems[start:end], lines))
    return sides


@dataclass(frozen=True, slots=True)
class MetricCell:
    """A number of a system with its name and format; None if there is no such number.

    If it has an interval, ``metric`` is the key of the interval.
    """

    name: str
    value: float | None
    write: Callable[[float], str]
    system: Evaluation
    metric: MetricKey = ""

    @property
    def text(self) -> str:
        """The number as shown in tables."""
        return MISSING if self.value is None else sure(self.write(self.value), self.system, self.metric)


def before_and_after(results: Results, before: Results | None) -> tuple[Evaluation, ...]:
    """Return all rows of the summary: systems before calibration, renamed if necessary, and the results."""
    if before is None:
        return results.systems
    names = {system.name for system in results.systems}
    old = matched(before, results, "before calibration")
    same = [replace(one, name=f"{one.name}{BEFORE}") if one.name in names else one for one in old]
    return (*same, *named_calibrated(results, before).systems)


BEFORE = " (before calibration)"
"""End of the name of a system whose calibrated scores are shown, too."""


def named_calibrated(results: Results[Any], before: Results[Any] | None) -> Results[Any]:
    """Return results whose names show which systems a model calibrated: those that have the same name before."""
    old = {one.name for one in before.systems} if before is not None else set()
    named = (replace(one, name=f"{one.name} (calibrated)") if one.name in old else one for one in results.systems)
    return replace(results, systems=tuple(named))


def matched(one: Results, results: Results, name: str) -> tuple[Evaluation, ...]:
    """Return the systems of ``one`` in the order of ``results``, by name if all names are the same.

    Raises
    ------
    InputError
        If the numbers of systems differ.
    """
    names = [system.name for system in results.systems]
    if len(one.systems) != len(names):
        systems = "1 system" if len(one.systems) == 1 else f"{len(one.systems)} systems"
        raise InputError(
            f"{name}: {systems}, but {len(names)} to compare them with. Give the same systems, in the same order."
        )
    by_name = {system.name: system for system in one.systems}
    return tuple(by_name[name] for name in names) if set(by_name) == set(names) else one.systems


def points_of(systems: Sequence[Evaluation]) -> list[str]:
    """Return the names of all operating points, in order, once each."""
    return list(dict.fromkeys(str(point) for system in systems for point in system.operating_points))


def summary(systems: Sequence[Evaluation]) -> list[dict[str, str]]:
    """Return the metrics of each system by name; minDCF and actDCF at each of `points_of`, then their means."""
    points, corrected = points_of(systems), are_corrected(systems)
    return [{one.name: one.text for one in metrics_of(system, points, corrected=corrected)} for system in systems]


def metrics_of(system: Evaluation, points: Sequence[str], *, corrected: bool = False) -> list[MetricCell]:
    """Return all metrics of a system, with costs at these points; optionally with corrected minima."""
    metrics = _metrics_of(system, points)
    if not corrected:
        return metrics
    return [one for metric in metrics for one in (metric, _corrected(metric)) if one is not None]


def _corrected(minimum: MetricCell) -> MetricCell | None:
    """Return the corrected value of a minimum on new units; None for other metrics."""
    if not metric_of(minimum.metric).is_minimum:
        return None
    value = corrected_of(minimum.system, minimum.metric)
    return MetricCell(f"{minimum.name}{CORRECTED}", value, minimum.write, minimum.system)


def _metrics_of(system: Evaluation, points: Sequence[str]) -> list[MetricCell]:
    costs = {str(point): (k, point.min_dcf, point.act_dcf) for k, point in enumerate(system.operating_points)}
    result = partial(MetricCell, system=system)
    eer, *others = (
        result(one.label, system.value(one.name), _writer(one), metric=one.name)
        for one in METRICS
        if system.kind in one.kinds and one.per == "system" and not one.name.startswith("mean_")
    )
    rows = [eer]
    for point in points:
        k, least, actual = costs.get(point, (-1, None, None))
        rows += [result(f"minDCF, {point}", least, number, metric=("min_dcf", k))]
        rows += [result(f"actDCF, {point}", actual, number, metric=("act_dcf", k))]
    if len(points) > 1:
        rows += [result("minDCF, mean over points", system.mean_min_dcf, number, metric="mean_min_dcf")]
        rows += [result("actDCF, mean over points", system.mean_act_dcf, number, metric="mean_act_dcf")]
    return [
        *rows,
        *others,
        *_by_own_rule(system),
        result("targets", system.n_tar, count),
        result("non-targets", system.n_non, count),
        result("tied across classes", system.n_tied, count, metric="n_tied"),
    ]


def _writer(metric: Metric) -> Callable[[float], str]:
    return percent if metric.in_percent else partial(number, digits=metric.digits)


def _by_own_rule(system: Evaluation) -> Iterator[MetricCell]:
    """Yield costs by a custom rule, at each prior of the operating points."""
    for k, result in enumerate(system.rule_costs):
        at, numbers = f", prior {result.p_target:g}", result.to_dict()
        for one in METRICS:
            if one.per == "rule prior":
                yield MetricCell(f"{one.label}{at}", numbers[one.json[1]], _writer(one), system, (one.name, k))
        label = f"without scores by the custom rule{at}"
        yield MetricCell(label, result.parts.entropy, partial(number, digits=4), system)


def errors(systems: Sequence[Evaluation], colors: Sequence[str]) -> list[Row]:
    """Return the errors behind the actual costs, one row per system and operating point."""
    return [
        Row(system.name, color, _error_cells(system, k, point), str(point), _few(point))
        for system, color in zip(systems, colors, strict=True)
        for k, point in enumerate(system.operating_points)
    ]


def _error_cells(system: Evaluation, k: int, point: PointResult) -> tuple[str, ...]:
    return (
        f"{point.effective_prior:.4g}",
        number(point.threshold / math.log(10) if system.axis == "log10" else point.threshold),
        f"{count(point.n_miss)} of {count(system.n_tar)}",
        sure(percent(point.p_miss), system, ("p_miss", k)),
        f"{count(point.n_fa)} of {count(system.n_non)}",
        sure(percent(point.p_fa), system, ("p_fa", k)),
    )


def _few(point: PointResult) -> str:
    kinds = [kind for kind, n in (("misses", point.n_miss), ("false alarms", point.n_fa)) if n < FEW_ERRORS]
    return f"fewer than {FEW_ERRORS} {' and '.join(kinds)}" if kinds else ""


_SIZES = ("PRBEP", "targets", "non-targets", "tied across classes")
"""Numbers that grow with the number of trials, so that differences are meaningless."""


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """The same systems in several sets.

    Attributes
    ----------
    title, difference : str
        What is compared, and the heading of the last column.
    columns : tuple of str
        Names of the sets.
    sets : tuple of tuple of Evaluation
        The systems of each set, in the same order; differences are the last set minus ``base``.
    base : int
    """

    title: str
    difference: str
    columns: tuple[str, ...]
    sets: tuple[tuple[Evaluation, ...], ...]
    base: int

    def blocks(self, colors: Sequence[str]) -> Iterator[tuple[Row, list[Row]]]:
        """Yield the name of every system, with a row for each metric: its cells in all sets, then the difference."""
        for color, *systems in zip(colors, *self.sets, strict=True):
            points = points_of(systems)
            columns = [metrics_of(system, points, corrected=are_corrected(systems)) for system in systems]
            lines = [
                Row(row[-1].name, color, (*(one.text for one in row), _difference(row[self.base], row[-1])))
                for row in zip(*columns, strict=True)
            ]
            yield Row(systems[-1].name, color, ()), lines


def compare(
    results: Results, *, before: Results | None, train: Results | None, train_before: Results | None
) -> ComparedPair | None:
    """Put sets of results side by side; None if there is only one.

    Raises
    ------
    InputError
        If the sets have different numbers of systems, or there is training before but not after calibration.
    """
    if train_before is not None and train is None:
        raise InputError("train_before: needs train. Pass the results after calibration, too.")
    entries: dict[str, Results | None] = {"before calibration": before, "after calibration": results}
    if train is not None:
        entries = {"training, before": train_before, "training": train, "test, before": before, "test": results}
    sets = {name: matched(one, results, name) for name, one in entries.items() if one is not None}
    if len(sets) == 1:
        return None
    if train is not None:
        words = ("Training and test", "test \N{MINUS SIGN} training", list(sets).index("training"))
    else:
        words = ("Before and after calibration", "after \N{MINUS SIGN} before", 0)
    return ComparedPair(words[0], words[1], tuple(sets), tuple(sets.values()), words[2])


def _difference(base: MetricCell, last: MetricCell) -> str:
    if last.name in _SIZES or base.value is None or last.value is None:
        return ""
    change = last.value - base.value
    if math.isnan(change):
        return MISSING
    change = 0.0 if abs(change) < 1e-10 else change  # rounding
    text = last.write(abs(change)).replace(" %", " pp")
    sign = "+" if change > 0 else MINUS
    return text if text == last.write(0.0).replace(" %", " pp") else sign + text


def metrics_of_classes(one: ClassEvaluation) -> dict[str, str]:
    """Return the metrics of a system by name; with several costs, their mean."""
    several = len(one.points) > 1
    entries = {"segments": count(float(one.counts.sum())), **(_mean_cost(one) if several else _cost(one, 0))}
    for name in filter(lambda key: isinstance(key, str), one.summary_keys()):
        text = _writer(metric_of(name))(one.value(name))
        text += f" of {number(one.prior_entropy)}" if name == "cross_entropy" else ""
        entries[metric_of(name).label] = sure(text, one, name)
    for key in one.summary_keys():
        metric, corrected = metric_of(key), corrected_of(one, key)
        if metric.is_minimum and corrected is not None:
            entries[f"{metric.label}{CORRECTED}"] = number(corrected, metric.digits)
    return entries


def costs_of_classes(one: ClassEvaluation) -> dict[str, str]:
    """Return the average cost at every point, and its mean."""
    entries = _mean_cost(one)
    for k in range(len(one.points)):
        entries |= _cost(one, k)
    return entries


def _mean_cost(one: ClassEvaluation) -> dict[str, str]:
    costs, words = one.mean_costs, MULTICLASS["mean_cost"]
    return {
        words: sure(number(costs["normalized"], 4), one, "mean_normalized"),
        f"{words}, minimum": sure(number(costs["normalized_min"], 4), one, "mean_normalized_min"),
    }


def _cost(one: ClassEvaluation, k: int) -> dict[str, str]:
    point = one.points[k]
    words = f"C_avg at {point.p_target:g}"
    return {
        words: sure(number(point.c_avg, 4), one, ("c_avg", k)),
        f"{words}, minimum": sure(number(point.min_c_avg, 4), one, ("min_c_avg", k)),
    }


def metrics_in_words(one: Any) -> dict[str, str]:
    """Return the metrics of an evaluation of either kind as text, by their names on pages."""
    return metrics_of_classes(one) if one.kind == "classes" else summary([one])[0]
