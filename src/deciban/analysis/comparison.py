"""Differences between systems in metrics and curves, with intervals by units, and as text."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from deciban._validate import arrays as _validate
from deciban.analysis.compared import PairedUnits, SignFlips, compared_metrics, holm, without_interval
from deciban.analysis.differences import CurveDifference, curve_differences, where_in_words
from deciban.core.resampling.intervals import LEVEL, Interval, checked_level
from deciban.errors import InputError, option, some_of, topic_of
from deciban.evaluation import one_system
from deciban.evaluation.metrics import metric_of, name_with_place
from deciban.evaluation.results import Results
from deciban.evaluation.uncertainty import FEW_ERRORS, MetricKey, no_units, too_few_in_words

if TYPE_CHECKING:
    from deciban.evaluation.spoofing import Measured


_OF_INTERVAL = ("low", "high", "standard_error", "corrected", "method", "p_value")
"""Names of the numbers of an interval in JSON."""


@dataclass(frozen=True, slots=True)
class MetricDifference:
    """The difference of a metric between two systems, first minus second.

    Attributes
    ----------
    metric : MetricKey
    words : str
        Label of the metric, with its operating point.
    values : (float, float)
        Values of the first and of the second system.
    interval : Interval
        Interval of the difference, with its p-value.
    holm : float
        The p-value, corrected for all pairs of systems that were compared by this metric.
    """

    metric: MetricKey
    words: str
    values: tuple[float, float]
    interval: Interval
    holm: float

    @property
    def name(self) -> str:
        """Name of the metric in one word."""
        return name_with_place(self.metric)

    @property
    def relative(self) -> tuple[float, float, float] | None:
        """The difference and its bounds, divided by the larger of both values; None if that is 0.

        None also for metrics for which larger is better.
        """
        greater = max(self.values)
        if metric_of(self.metric).larger_is_better or greater <= 0.0:
            return None
        one = self.interval
        return one.estimate / greater, one.low / greater, one.high / greater

    @property
    def better(self) -> int | None:
        """Position of the system that is significantly better, by the interval and the p-value; None if neither is."""
        if self.interval.low <= 0.0 <= self.interval.high or self.holm > 1.0 - self.interval.level:
            return None
        return int((self.interval.estimate > 0.0) != metric_of(self.metric).larger_is_better)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        one = self.interval
        return {
            "figure": self.name,
            "words": self.words,
            "first": self.values[0],
            "second": self.values[1],
            "difference": one.estimate,
            **{name: getattr(one, name) for name in _OF_INTERVAL},
            "holm": self.holm,
        }


@dataclass(frozen=True, slots=True)
class Pair:
    """Differences between two systems in metrics and curves.

    Attributes
    ----------
    names : (str, str)
        First and second: differences are first minus second.
    metrics : tuple of MetricDifference
    curves : tuple of CurveDifference
    n_shared : int
        Number of units of both systems.
    same_ranks : bool
        True if both rank the trials in the same order.
    """

    names: tuple[str, str]
    metrics: tuple[MetricDifference, ...]
    curves: tuple[CurveDifference, ...]
    n_shared: int
    same_ranks: bool = False

    def __str__(self) -> str:
        """Return the name of the difference."""
        return " \N{MINUS SIGN} ".join(self.names)

    @property
    def sentences(self) -> list[str]:
        """Sentences that name the significantly better system, by metric and by prior."""
        items = []
        for which, name in enumerate(self.names):
            words = [one.words for one in self.metrics if one.better == which]
            items += [f"{name} is significantly better in {', '.join(words)}"] if words else []
        if self.same_ranks:
            same = ", ".join(one.words for one in self.metrics if metric_of(one.metric).is_of_ranks)
            items.append(f"both systems rank the trials in the same order, so they have the same {same}")
        return [*(items or ["no significant difference in these metrics"]), *where_in_words(self.curves)]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return {
            "first": self.names[0],
            "second": self.names[1],
            "shared_units": self.n_shared,
            "figures": self.metrics,
            "curves": self.curves,
        }


def metrics_compared(pairs: Sequence[Pair]) -> list[MetricKey]:
    """Return the metrics with a difference in some pair; infinite metrics have none."""
    most = max(pairs, key=lambda pair: len(pair.metrics))
    return list(dict.fromkeys(one.metric for pair in (most, *pairs) for one in pair.metrics))


Against: TypeAlias = Literal["all", "first"]
"""Compared pairs: all, or every system with the first one."""


@dataclass(frozen=True)
class Comparison(one_system.PlottedResult):
    """Systems compared in pairs, by the speakers or other units of their trials.

    Attributes
    ----------
    results : Results
        The evaluations, counts of the join, input files and assumptions.
    pairs : tuple of Pair
    level : float
        Level of the intervals, for each difference separately; bands of curves are simultaneous over all priors.
    flips : SignFlips, optional
        The permutation test, if p-values come from one.
    notes : tuple of str
        Warnings to read before quoting the differences.
    """

    results: Results[Any]
    pairs: tuple[Pair, ...]
    level: float = LEVEL
    flips: SignFlips | None = None
    notes: tuple[str, ...] = field(default=())

    kind = "comparison"

    def __repr__(self) -> str:
        return f"Comparison({', '.join(map(str, self.pairs))}; {self.units_in_words})"

    @property
    def systems(self) -> tuple[Any, ...]:
        """The evaluations."""
        return self.results.systems

    @property
    def units_in_words(self) -> str:
        """Number of units, as text."""
        return str(self.systems[0].uncertainty.units_in_words)

    @property
    def message_lines(self) -> tuple[str, ...]:
        """Input files and assumptions, one line each."""
        return self.results.message_lines

    @property
    def meaningful(self) -> Comparison:
        """The comparison without differences that need llrs, for pairs with scores that are not llrs."""
        raw = _without_llrs(self.systems)

        def without_costs(pair: Pair) -> Pair:
            metrics = tuple(one for one in pair.metrics if not metric_of(one.metric).needs_llrs)
            return replace(pair, metrics=metrics, curves=tuple(one for one in pair.curves if one.curve != "act_error"))

        pairs = tuple(without_costs(pair) if raw.intersection(pair.names) else pair for pair in self.pairs)
        words = f"{', '.join(sorted(raw))}: not llrs, so actual costs, Cllr and calibration loss are not compared."
        return replace(self, pairs=pairs, notes=(words, *self.notes) if raw else self.notes)

    def labelled(self) -> list[tuple[Mapping[str, str], Any]]:
        """Return every difference, with the names of its systems: the rows of data frames."""
        sides = ("first_system", "second_system")
        return [(dict(zip(sides, pair.names, strict=True)), one) for pair in self.pairs for one in pair.metrics]

    def difference(
        self, metric: MetricKey, first: str | None = None, second: str | None = None, *, level: float | None = None
    ) -> Interval:
        """Return the difference of a metric, first minus second, with its paired interval.

        Parameters
        ----------
        metric : str, or (str, place)
            As in `deciban.Evaluation.interval`: any metric that has an interval, also if tables do not show it.
        first, second : str, optional
            Names of systems; by default, the first two.
        level : float, optional
            By default, the level of the comparison.

        Returns
        -------
        Interval
            ``estimate`` is the difference of the uncorrected metrics, and the center of the interval;
            ``p_value`` is two-sided, for this difference only.

        Raises
        ------
        InputError
            If there is no such metric or system, or the level is not inside (0, 1).

        Examples
        --------
        >>> import deciban
        >>> units, non = {"tar_units": range(5), "non_units": range(5)}, [0.0, 1.0, -1.0, -2.0, 0.5]
        >>> tar = ([3.0, 2.0, 4.0, 1.0, 2.0], [0.5, 2.0, -1.0, 1.0, 2.0])
        >>> systems = [deciban.evaluation.evaluate(one, non, **units) for one in tar]
        >>> found = deciban.compare(*systems).difference("cllr")
        >>> round(found.estimate, 3), found.n_units
        (-0.248, 5)
        """
        names = [one.name for one in self.systems]
        for name in (first, second):
            if name is not None and name not in names:
                raise InputError(f"no system {name!r}. The systems are {', '.join(names)}.")
        one = self.systems[0 if first is None else names.index(first)]
        other = self.systems[1 if second is None else names.index(second)]
        result = metric
        if isinstance(metric, str) and metric not in one.estimates:
            result = one.key_called(metric)
        for system in (one, other):
            if result not in system.estimates:
                raise InputError(
                    f"metric: {system.name} has no interval for {metric!r}: the metric is unknown or infinite."
                )
        _require_same_meaning(one, other, [result])
        chosen = self.level if level is None else checked_level(level)
        return PairedUnits.of(one.uncertainty, other.uncertainty).difference(result, chosen, self.flips)

    def worse(self, metric: str, margin: float = 0.0) -> tuple[str, ...]:
        """Return sentences on systems that are significantly worse than the first one, by more than a margin.

        Parameters
        ----------
        metric : str
            For example ``"eer"``, or ``"min_dcf@2"`` at the second operating point.
        margin : float
            Tolerated difference, in the unit of the metric: 0.005 is half a percent of an error rate.

        Returns
        -------
        tuple of str
            A sentence for each system whose estimate is worse than that of the first one by more than the margin, if
            its interval excludes 0; also for each system with an infinite metric, if that of the first one is finite.

        Raises
        ------
        InputError
            If there is no such metric, or the margin is negative or not a number.
        """
        value: object = margin
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value < math.inf:
            raise InputError(f"margin: got {margin!r}. Use a number of at least 0, in the unit of the metric.")
        base, result = self.systems[0], []
        if math.isinf(_cost(base, metric)):
            return ()  # no system is worse
        chosen = base.key_called(metric)
        how = metric_of(chosen)
        for other in self.systems[1:]:
            if math.isinf(_cost(other, metric)):
                result.append(f"{other.name} is worse than {base.name}: {base.words(chosen)} is infinite")
                continue
            one = self.difference(chosen, other.name, base.name)
            loss = -one.estimate if how.larger_is_better else one.estimate
            if loss > margin and not one.low <= 0.0 <= one.high:
                more = f", more than the margin {how.text(margin)}".replace(" %", " pp") if margin else ""
                amount = how.text(one.estimate, sign=True).replace(" %", " pp")  # percentage points
                bounds = ", ".join(one_system.bounds_in_words(one, in_percent=how.in_percent))
                words = f"{base.words(chosen)}, {other.name} \N{MINUS SIGN} {base.name}, {amount} [{bounds}]"
                result.append(f"{other.name} is significantly worse than {base.name}: {words}{more}")
        return tuple(result)

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``deciban compare --json`` prints."""
        about = self.systems[0].uncertainty
        entries = {
            "units": {"n": about.n_units, "noun": about.noun, "source": about.source},
            "level": self.level,
            "permutations": None if self.flips is None else self.flips.n_replicates,
            "seed": self._seed,
            "pairs": self.pairs,
            "notes": self.notes,
        }
        return {**self.results.to_dict(), **one_system.plain(entries)}

    @property
    def _seed(self) -> int | None:
        """Seed of exchanges or replicates; None without any, or if systems have different seeds."""
        if self.flips is not None:
            return self.flips.seed
        drawn = [one.uncertainty.bootstrap for one in self.systems]
        seeds = {None if one is None else one.seed for one in drawn}
        return seeds.pop() if len(seeds) == 1 else None


def compare_results(
    results: Results[Any],
    *,
    against: Against | str = "all",
    level: float = LEVEL,
    permutations: int = 0,
    seed: int = 0,
    measures: Sequence[Mapping[str, Measured]] = (),
    curves_with: str = "",
) -> Comparison:
    """Compare evaluations with units in pairs.

    Parameters
    ----------
    results : Results
        At least two systems with different names.
    against : {"all", "first"} or str
        Compare all pairs, or every system with the first one, or with the system of this name.
    level : float
    permutations : int
        Replicates of a permutation test by units, for p-values; 0 for t tests.
    seed : int
    measures : sequence of mapping of str to Measured
        Metrics of a protocol for each system, which are compared instead of the metrics of tables.
    curves_with : str
        Name of the only system whose pairs have curves of differences; by default, all pairs have them.

    Raises
    ------
    InputError
        If there are fewer than two systems, one has no units or different operating points, two have no metric with
        confidence intervals, or an argument is out of range.
    """
    systems, level = results.systems, checked_level(level)
    if len(systems) < 2:
        raise InputError(f"compare: got {len(systems)} system. Name at least two, or a model ({option(model=...)}).")
    for one in systems:
        if one.uncertainty is None:
            raise no_units(one.name)
    _validate.whole(permutations, "permutations", 0, math.inf, "Use a number of replicates, such as 10000, or 0")
    flips = SignFlips(permutations, seed) if permutations else None
    for other in systems[1:]:
        _require_same_meaning(systems[0], other, compared_metrics((systems[0], other)))
    chosen = _pairs(systems, against)
    for i, j in chosen:
        _require_intervals(systems[i], systems[j])
    paired = [PairedUnits.of(systems[i].uncertainty, systems[j].uncertainty) for i, j in chosen]
    entries = list[dict[MetricKey, Interval]]()
    for (i, j), units in zip(chosen, paired, strict=True):
        if measures:
            entries.append(_of_measures(measures[i], measures[j], level, flips))
        else:
            metrics = compared_metrics((systems[i], systems[j]))
            entries.append({metric: units.difference(metric, level, flips) for metric in metrics})
    names_of, pairs = [(systems[i].name, systems[j].name) for i, j in chosen], []
    have_curves = [k for k, names in enumerate(names_of) if curves_with in ("", *names)]
    drawn = curve_differences([paired[k] for k in have_curves], [names_of[k] for k in have_curves], level)
    curves = dict(zip(have_curves, drawn, strict=True))
    adjusted = _adjusted(entries, names_of, _without_llrs(systems))
    together = zip(chosen, names_of, paired, entries, adjusted, strict=True)
    for k, ((i, j), names, units, row, among) in enumerate(together):
        one, other = systems[i], systems[j]
        shown: dict[MetricKey, tuple[str, tuple[float, float]]]
        if measures:
            shown = {x: (metric_of(x).label, (measures[i][str(x)].value, measures[j][str(x)].value)) for x in row}
        else:
            shown = {x: (one.words(x), (one.estimates[x].value, other.estimates[x].value)) for x in row}
        rows = [MetricDifference(metric, *shown[metric], interval, among[metric]) for metric, interval in row.items()]
        pairs.append(Pair(names, tuple(rows), curves.get(k, ()), units.n_shared, units.have_same_ranks))
    return Comparison(results, tuple(pairs), level, flips, tuple(_notes(systems, pairs, level)))


def _of_measures(
    first: Mapping[str, Measured], second: Mapping[str, Measured], level: float, flips: SignFlips | None
) -> dict[MetricKey, Interval]:
    """Return the differences of the metrics of a protocol that have an interval in both systems."""
    entries = dict[MetricKey, Interval]()
    for name, one in first.items():
        other = second.get(name)
        sides = [each.evaluation for each in (one, other) if each is not None and each.evaluation is not None]
        known = [each.uncertainty for each in sides if each.uncertainty is not None and one.key in each.estimates]
        if len(known) == 2:
            entries[name] = one.scaled(PairedUnits.of(*known).difference(one.key, level, flips))
    return entries


def against_first(comparison: Comparison) -> Comparison:
    """Return the differences of each system from the first one, out of those of all pairs.

    P-values are corrected for these pairs only.
    """
    kept = [pair for pair in comparison.pairs if pair.names[0] == comparison.systems[0].name]
    entries = [{one.metric: one.interval for one in pair.metrics} for pair in kept]
    adjusted = _adjusted(entries, [pair.names for pair in kept], _without_llrs(comparison.systems))
    pairs = tuple(
        replace(pair, metrics=tuple(replace(one, holm=among[one.metric]) for one in pair.metrics))
        for pair, among in zip(kept, adjusted, strict=True)
    )
    return replace(comparison, pairs=pairs, notes=tuple(_notes(comparison.systems, pairs, comparison.level)))


def _require_intervals(one: one_system.OneSystem, other: one_system.OneSystem) -> None:
    if compared_metrics((one, other)):
        return
    known = [x.uncertainty for x in (one, other) if x.uncertainty is not None]
    few = [too_few_in_words(name, n, x.noun) for x in known for name, n in x.too_few.items()]
    reasons = " ".join(dict.fromkeys(few))
    words = f"{one.name}, {other.name}: no differences, because no metric has a confidence interval in both systems. "
    raise InputError(f"{words}{reasons}".rstrip())


def _without_llrs(systems: Sequence[one_system.OneSystem]) -> set[str]:
    """Return the names of systems with two-class scores that are not llrs."""
    return {one.name for one in systems if one.kind == "two-class" and not one_system.has_llrs(one)}


def _adjusted(
    entries: Sequence[Mapping[MetricKey, Interval]], names: Sequence[tuple[str, str]], raw: set[str]
) -> list[dict[MetricKey, float]]:
    """Return p-values corrected for all pairs with the metric; if it needs llrs, pairs without them stay apart."""
    adjusted: list[dict[MetricKey, float]] = [{} for _ in entries]
    are_raw = [not raw.isdisjoint(pair) for pair in names]
    for metric in dict.fromkeys(metric for row in entries for metric in row):
        families: dict[bool, list[int]] = {}
        for k, row in enumerate(entries):
            if metric in row:
                families.setdefault(are_raw[k] and metric_of(metric).needs_llrs, []).append(k)
        for family in families.values():
            shares = holm(np.array([entries[k][metric].p_value for k in family])).tolist()
            for k, share in zip(family, shares, strict=True):
                adjusted[k][metric] = share
    return adjusted


def _pairs(systems: Sequence[one_system.OneSystem], against: str) -> list[tuple[int, int]]:
    """Return the positions of the compared systems."""
    names = [one.name for one in systems]
    if len(set(names)) < len(names):
        raise InputError(f"compare: systems {', '.join(names)} need different names. Name them ({option(name=...)}).")
    if against == "all":
        return list(itertools.combinations(range(len(systems)), 2))
    if against != "first" and against not in names:
        raise InputError(f"against: got {against!r}. Use 'all', 'first' or one of {', '.join(names)}.")
    base = 0 if against == "first" else names.index(against)
    return [(base, k) for k in range(len(systems)) if k != base]


def _require_same_meaning(one: one_system.OneSystem, other: one_system.OneSystem, metrics: Sequence[MetricKey]) -> None:
    """Refuse differences between operating points, kinds of scores, or rules."""
    if one.kind != other.kind:
        raise InputError(
            f"{one.name}, {other.name}: scores of {one.kind} and of {other.kind} have no metric in common."
        )
    for metric in metrics:
        words, others = one.words(metric), other.words(metric)
        if words != others:
            raise InputError(
                f"{one.name} has {words}, but {other.name} has {others}. Evaluate both at the same operating points."
            )
        if metric_of(metric).per == "rule prior" and one.rule_costs[0].rule != other.rule_costs[0].rule:
            raise InputError(
                f"{one.name}, {other.name}: {words} has a different rule in each. Evaluate both with the same rule."
            )


def _cost(system: one_system.OneSystem, name: str) -> float:
    """Return a metric that can be infinite, such as Cllr with infinite evidence for the wrong class; else 0."""
    value = getattr(system, name, 0.0)
    return value if isinstance(value, float) else 0.0


def _notes(systems: Sequence[Any], pairs: Sequence[Pair], level: float) -> list[str]:
    """Return notes to read before quoting the differences."""
    raw, topics = _without_llrs(systems), ("reversed", "no-llrs", "ratios", "few-errors")
    left_out = () if any(raw.isdisjoint(pair.names) for pair in pairs) else ("actDCF at ",)
    items = [
        note if len(some) == len(systems) else f"{' · '.join(one.name for one in some)}: {note}"
        for some, note in one_system.shared_notes(systems)
        if (topic_of(note) in topics or note in some[0].uncertainty.notes) and not note.startswith(left_out)
    ]
    if lacking := without_interval(systems):
        items.append(f"{', '.join(lacking)}: no difference, because not every system has an interval for it.")
    infinite = [
        f"{what} of {one.name}"
        for one in systems
        for name, what in (("cllr", "Cllr"), ("calibration_loss", "calibration loss"))
        if math.isinf(_cost(one, name))
    ]
    if infinite:
        items.append(f"{', '.join(infinite)}: infinite, so there is no difference.")
    n_units = max(one.uncertainty.n_units for one in systems)
    noun = systems[0].uncertainty.noun
    for pair in pairs:
        if pair.n_shared < n_units:
            words = f"no {noun}" if not pair.n_shared else f"{pair.n_shared:,} of {n_units:,} {noun}s"
            items.append(f"{pair}: the systems share {words}; the others count as independent.")
    return [*items, *_on_wide_intervals(systems, pairs, level)]


def _on_wide_intervals(systems: Sequence[Any], pairs: Sequence[Pair], level: float) -> Iterator[str]:
    """Yield notes on differences with intervals that are wider than needed in simulations (``docs/coverage.md``)."""
    compared = {metric_of(x.metric).name for pair in pairs for x in pair.metrics if x.interval.low < x.interval.high}
    near = {one.name for one in systems if one.uncertainty.loss_may_be_zero(level)}
    unsure = [
        pair
        for pair in pairs
        for x in pair.metrics
        if x.metric == "calibration_loss" and near.issuperset(pair.names) and x.interval.low <= 0.0 <= x.interval.high
    ]
    if both := list(dict.fromkeys(name for pair in unsure for name in pair.names)):
        words = f"The intervals of the calibration losses of {some_of(both)} contain 0"
        yield f"{words}: intervals of their differences may then be too wide."
    if "min_c_avg" in compared:
        errors = np.min([one.class_error_rates * one.counts for one in systems], axis=0)
        few = [name for name, n in zip(systems[0].classes, errors.tolist(), strict=True) if n < FEW_ERRORS]
        if few:
            classes = f"class{'es' * (len(few) > 1)} {some_of(list(map(repr, few)))}"
            words = f"At least one system has fewer than {FEW_ERRORS:g} errors in {classes}"
            yield f"{words}: intervals of differences of min C_avg may then be too wide."


def caption_of(comparison: Comparison) -> str:
    """Return the caption on intervals and p-values."""
    noun = comparison.systems[0].uncertainty.noun
    words = [f"Cllr in bits; [paired {100 * comparison.level:.4g} % intervals by {noun}, {comparison.units_in_words}]"]
    drawn = comparison.systems[0].uncertainty.bootstrap
    if drawn is not None and any(one.interval.method.startswith("bootstrap") for one in comparison.pairs[0].metrics):
        words.append(f"bootstrap of {drawn.n_replicates:,} replicates, seed {drawn.seed}")
    if comparison.flips is not None:
        words.append(comparison.flips.words)
    if len(comparison.pairs) > 1:
        words.append("p-values (not intervals) corrected by Holm's method over the pairs of each metric")
    return "; ".join(words)


def headings_of(comparison: Comparison) -> list[str]:
    """Return the headings of the table; the first columns are text: one for a single pair, else three."""
    if len(comparison.pairs) == 1:
        return ["metric", *comparison.pairs[0].names, str(comparison.pairs[0]), "p"]
    return ["metric", "first", "second", "value of first", "value of second", "difference", "p"]


def rows_of(comparison: Comparison) -> list[Sequence[str]]:
    """Return a row for each metric and pair, with corrected p-values."""
    rows = list[Sequence[str]]()
    for metric in metrics_compared(comparison.pairs):
        for pair in comparison.pairs:
            names = pair.names if len(comparison.pairs) > 1 else ()
            same = [one for one in pair.metrics if one.metric == metric]
            rows += [(label_of(one), *names, *cells_of(one), p_value_written(one.holm)) for one in same]
    return rows


def label_of(one: MetricDifference) -> str:
    """Return the label of a metric, with its unit if that is percent."""
    return f"{one.words} in %" if metric_of(one.metric).in_percent else one.words


def cells_of(one: MetricDifference) -> list[str]:
    """Return both values, and their difference with its interval."""
    how = metric_of(one.metric)
    bounds = one_system.bounds_in_words(one.interval, in_percent=how.in_percent)
    difference = one_system.WithInterval(how.written(one.interval.estimate, sign=True), *bounds)
    return [*(how.written(value) for value in one.values), difference]


def p_value_written(value: float) -> str:
    """Write a p-value.

    >>> p_value_written(0.0423), p_value_written(0.00002)
    ('0.042', '<0.001')
    """
    return "<0.001" if value < 0.0005 else f"{value:.3f}"


def sentences_of(comparison: Comparison) -> list[str]:
    """Return sentences on the better system, for each pair."""
    several = len(comparison.pairs) > 1
    return [f"{pair}: {words}" if several else words for pair in comparison.pairs for words in pair.sentences]
