"""Requested multiclass metrics, two-class problems within multiclass trials, and decisions at a grid of priors.

For trials in memory, detectors and pairs are scores (`deciban.multiclass.tables`). For larger data, scores are sorted
one problem at a time, and `CountedProblems` has the same methods with counted results.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from scipy.special import expit, logit

from deciban._validate import arrays as _validate
from deciban._validate import classes as _validate_classes
from deciban._validate.classes import Groups, Prior, prior_of
from deciban.core import logliks as kernels
from deciban.core.class_counts import chosen, count_type, log_weights, non_target_priors, tally
from deciban.core.expected import ErrorCounts
from deciban.core.logliks import critical_priors, relative, row_blocks
from deciban.core.ranks.roc import OperatingPoint, Pav
from deciban.errors import InputError, option
from deciban.evaluation.curves import PooledOdds, prior_axis
from deciban.evaluation.two_class.summary import Summary
from deciban.evaluation.uncertainty import defer
from deciban.metrics import SortedScores
from deciban.multiclass.analysis import MOST_CLASSES, checked_out_of_set, out_of_set_prior
from deciban.multiclass.tables import ByClass, ScoredClasses, Side, weighted_by
from deciban.types import AnyArray, BoolArray, ByValue, CountArray, FloatArray, FloatPair, IntArray

P_TARGET = 0.5
"""Default prior of a target in C_avg, as in the language recognition evaluations."""

_QUICK = 10
"""Largest number of classes with costs of all subsets by default."""

_MANY = 100
"""Largest number of classes with all pairs by default, since pairs grow with the square."""

_OPEN = (
    "they need a closed set, but the last class is out of set. Leave out its prior (or the preset of an open set), "
    "or the subsets."
)
WEIGHTED = "their costs need trials of equal weight, but these have weights. Leave out the weights or the subsets."
IN_PARTS = "they need all trials at once, but summaries were merged."
"""Reason for missing subsets of merged summaries."""
UNEVEN = (
    "their costs need trials of equal weight, but in these groups trials of rare classes have more weight, because "
    "classes are weighted by the prior. Leave out the groups or the subsets."
)


@dataclass(frozen=True, eq=False, init=False)
class ClassMetrics(ByValue):
    """Requested multiclass metrics, checked at creation and passed as one object.

    Parameters
    ----------
    prior : (n_classes,) array_like, or mapping of class to float, optional
        Prior of cross-entropy, Brier cost, error rate and confusion; flat by default.
    p_target : float or sequence of float
        Priors of a target in the average detection cost. Repeated priors count once.
    p_out_of_set : float, optional
        Prior of the last class among the non-targets, if this class is out of set. It is no target then.
    subsets : bool, optional
        Evaluate C_avg on every subset of the classes; by default if there are at most 10 classes.
    groups : mapping or sequence of sequences of classes, optional
        Evaluate groups of classes instead of the classes: see `evaluate_groups`.
    pairs : bool, optional
        Evaluate all pairs of classes; by default if there are at most 100 classes.
    capacity : bool, optional
        Search for the prior with the most information, which takes many passes over the trials.
    classifier : bool, optional
        Report metrics of classifier papers at the shares of the classes in the data.

    Raises
    ------
    InputError
        If a prior of a target or of the out-of-set class is not inside (0, 1), there is no prior of a target, priors
        are not numbers or have the wrong shape, or classifier metrics of groups are requested.

    Examples
    --------
    >>> ClassMetrics(p_target=[0.5, 0.1, 0.5]).p_target
    (0.5, 0.1)
    >>> ClassMetrics() == ClassMetrics(p_target=0.5)
    True
    """

    prior: Prior | None
    p_target: tuple[float, ...]
    p_out_of_set: float | None
    subsets: bool | None
    groups: Groups | None
    pairs: bool | None
    capacity: bool | None
    classifier: bool | None

    def __init__(
        self,
        *,
        prior: Prior | ArrayLike | None = None,
        p_target: float | Sequence[float] = P_TARGET,
        p_out_of_set: float | None = None,
        subsets: bool | None = None,
        groups: Groups | None = None,
        pairs: bool | None = None,
        capacity: bool | None = None,
        classifier: bool | None = None,
    ) -> None:
        if classifier and groups is not None:
            raise InputError(
                "classifier: these metrics use the shares of classes in the data, but groups weight their classes by "
                f"the prior. Leave out {option('classifier')} or {option('groups')}."
            )
        out_of_set = None if p_out_of_set is None else out_of_set_prior(p_out_of_set)
        kept = {"prior": _listed(prior), "p_target": _points(p_target), "p_out_of_set": out_of_set}
        more = {"subsets": subsets, "groups": _frozen(groups), "pairs": pairs}
        more |= {"capacity": capacity or None, "classifier": classifier or None}
        for name, value in {**kept, **more}.items():
            object.__setattr__(self, name, value)

    @property
    def thresholds(self) -> list[float]:
        """Bayes thresholds of the priors of a target, in nats."""
        return [OperatingPoint(p).threshold for p in self.p_target]

    def prior_of(self, classes: Sequence[str]) -> FloatArray:
        """Return the prior of these classes, which is positive.

        Raises
        ------
        InputError
            If it does not fit the classes, or a class has prior 0.
        """
        checked = prior_of("flat" if self.prior is None else self.prior, classes)
        zero = np.flatnonzero(checked == 0.0)
        if len(zero):
            raise InputError(
                f"prior: {_validate_classes.called(int(zero[0]), tuple(classes))} has prior 0. Evaluations need "
                "positive priors: remove its column and its trials, or give it a small prior."
            )
        return checked

    def of_groups(self, prior: FloatArray) -> ClassMetrics:
        """Return the requests for groups, as classes with this prior."""
        kept = {name: getattr(self, name) for name in ("p_target", "p_out_of_set", "subsets", "pairs", "capacity")}
        return ClassMetrics(prior=prior, **kept)

    def out_of_set(self, n_classes: int) -> float | None:
        """Return the prior of the last class if it is out of set.

        Raises
        ------
        InputError
            If it leaves no prior for the other non-targets, or there are too few classes.
        """
        if self.p_out_of_set is None:
            return None
        return checked_out_of_set(self.p_out_of_set, np.array(self.p_target), n_classes)

    def rivals(self, n_classes: int) -> tuple[FloatArray, ...]:
        """Return the priors of detectors: a flat one for all points, or one for each if a class is out of set.

        With an out-of-set class, the other non-targets have equal shares of the rest.
        """
        share = self.out_of_set(n_classes)
        if share is None:
            return (np.full(n_classes, 1.0 / n_classes),)
        items = []
        for p_target in self.p_target:
            prior = np.full(n_classes, (1.0 - p_target - share) / (n_classes - 2))
            prior[-1] = share
            items.append(np.asarray(prior / prior.sum()))
        return tuple(items)

    def why_no_subsets(self, n_classes: int, uneven: str = "") -> str:
        """Return the reason for missing costs of subsets; empty if there are costs.

        Parameters
        ----------
        n_classes : int
        uneven : str
            Reason for unequal weights of trials, if they are unequal.

        Raises
        ------
        InputError
            If they are requested but impossible.

        Examples
        --------
        >>> ClassMetrics().why_no_subsets(3)
        ''
        >>> ClassMetrics().why_no_subsets(21)
        '21 classes have too many; at most 20 classes are possible.'
        """
        obstacle = uneven if self.p_out_of_set is None else _OPEN
        if n_classes > MOST_CLASSES and not obstacle:
            obstacle = f"{n_classes} classes have too many; at most {MOST_CLASSES} classes are possible."
        if obstacle and self.subsets:
            raise InputError(f"subsets: {obstacle}")
        if obstacle or self.subsets or (self.subsets is None and n_classes <= _QUICK):
            return obstacle
        return f"they were not requested. Pass {option(subsets=True)}."

    def why_no_pairs(self, n_classes: int) -> str:
        """Return the reason for missing pairs; empty if there are pairs.

        Examples
        --------
        >>> ClassMetrics().why_no_pairs(200)
        '200 classes have 19,900 pairs. Pass pairs=True.'
        >>> ClassMetrics(pairs=True).why_no_pairs(200)
        ''
        """
        if self.pairs or (self.pairs is None and n_classes <= _MANY):
            return ""
        many = f"{n_classes} classes have {n_classes * (n_classes - 1) // 2:,} pairs"
        return f"{many if self.pairs is None else 'they were not requested'}. Pass {option(pairs=True)}."

    def require_parts(self) -> None:
        """Refuse requests that need many passes over all trials if trials are in batches.

        Raises
        ------
        InputError
        """
        if self.capacity:
            raise InputError(
                f"capacity: this search needs all trials in memory. Leave out {option('capacity')}, or evaluate a part "
                "of the trials that fits in memory."
            )

    def __str__(self) -> str:
        kept = {field.name: getattr(self, field.name) for field in fields(self)}
        return ", ".join(f"{name} {value}" for name, value in kept.items() if value is not None)


def _points(p_target: float | Sequence[float]) -> tuple[float, ...]:
    """Return the distinct priors of a target."""
    value = np.atleast_1d(_validate.finite(p_target, "p_target"))
    if value.ndim > 1:
        raise InputError(f"p_target: expected a prior of a target or a list of them, got shape {value.shape}.")
    points = tuple(dict.fromkeys(value.tolist()))
    if not points:
        raise InputError("p_target: none given. Name at least one prior of a target, such as 0.5.")
    for point in points:
        OperatingPoint(point)  # raises if this is not a prior
    return points


def _listed(prior: Prior | ArrayLike | None) -> Any:
    """Return a prior of classes as an immutable object; it is validated later, with the classes."""
    if prior is None or isinstance(prior, str | Mapping):
        return _frozen(prior)
    value = _validate.finite(prior, "prior")
    if value.ndim != 1:
        raise InputError(f"prior: shape {value.shape}. Give one probability per class, in a list or by name.")
    return tuple(value.tolist())


def _frozen(value: object) -> Any:
    """Return an immutable copy."""
    if isinstance(value, Mapping):
        return {name: _frozen(one) for name, one in value.items()}
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value


def odds_of(trials: ScoredClasses, prior: FloatArray, share: FloatArray | None) -> tuple[Side, Side]:
    """Return posterior log odds of the recognized class against all others, for all trials that count.

    Wrongly recognized trials come first.

    Parameters
    ----------
    trials : ScoredClasses
    prior : (n_classes,) array
        Positive.
    share : (n_classes,) array or None
        See `odds_share`.
    """
    decision, sure = chosen(trials.loglik, prior), np.empty(len(trials.label))
    for part in kernels.row_blocks(*trials.loglik.shape):
        sure[part] = _log_odds(kernels.relative(trials.loglik, part), log_weights(prior), decision[part])
    rows = trials.by_class[0]
    weights, sure = weighted_by(share, trials.label[rows], trials.weights_of(rows)), sure[rows]
    right = decision[rows] == trials.label[rows]
    wrong, right = ((sure[some], None if weights is None else weights[some]) for some in (~right, right))
    return wrong, right


def odds_share(prior: FloatArray, totals: CountArray) -> FloatArray | None:
    """Return weights of trials in each class that give the classes their prior; None if all are equal."""
    share = prior / totals
    return share if np.any(share != share[0]) else None


def _log_odds(block: FloatArray, weights: FloatArray, decision: IntArray) -> FloatArray:
    """Return log odds of the decisions in a relative block; infinite if all other classes are excluded."""
    weighted = block + weights[:, None]
    columns = np.arange(block.shape[1])
    with np.errstate(under="ignore", divide="ignore"):
        others = np.exp(weighted - weighted[decision, columns])
        others[decision, columns] = 0.0
        others.sort(axis=0)  # independent of the order of classes, so that equal posteriors stay equal
        return np.asarray(-np.log(others.sum(axis=0)))


@dataclass(frozen=True, slots=True, eq=False)
class ProblemRequest:
    """Requests for the problems of a summary.

    Attributes
    ----------
    prior : (n_classes,) array
        Prior of decisions about classes.
    rivals : tuple of (n_classes,) arrays
        Priors of the detectors: one for all points, or one for each if a class is out of set.
    thresholds : tuple of arrays
        Ascending thresholds on the llrs of each of these.
    has_pairs : bool
    """

    prior: FloatArray
    rivals: tuple[FloatArray, ...]
    thresholds: tuple[FloatArray, ...]
    has_pairs: bool

    @classmethod
    def of(cls, metrics: ClassMetrics, classes: Sequence[str], places: FloatArray) -> ProblemRequest:
        """Create from requested metrics and classes; ``places`` are log odds of the curve of C_avg."""
        points, axis = np.array(metrics.p_target), expit(prior_axis(metrics.thresholds))
        first = [points, axis]
        if metrics.out_of_set(len(classes)) is None:
            first += [expit(places), PRIORS]
        rivals = metrics.rivals(len(classes))
        priors = [np.concatenate(first), *(points[k : k + 1] for k in range(1, len(rivals)))]
        thresholds = tuple(np.unique(-np.asarray(logit(one))) for one in priors)
        return cls(metrics.prior_of(classes), rivals, thresholds, not metrics.why_no_pairs(len(classes)))


class CountedProblem(SortedScores):
    """Results of sorted scores that were discarded: PAV blocks, Cllr, and decisions at predefined thresholds."""

    def __init__(self, summary: Summary, thresholds: FloatArray) -> None:
        self.pav = summary.ranks.pav
        self._cllr, self._errors = summary.cllr, summary.errors(thresholds)

    def cllr(self) -> float:
        """Return `SortedScores.cllr`."""
        return self._cllr

    def error_counts(self, thresholds: FloatArray) -> ErrorCounts:
        """Return `SortedScores.error_counts`, for predefined thresholds only."""
        known = self._errors.thresholds
        at = np.minimum(np.searchsorted(known, thresholds), len(known) - 1)
        if not np.array_equal(known[at], thresholds):
            raise ValueError("decisions were not counted at these thresholds")
        return replace(self._errors, thresholds=thresholds, n_miss=self._errors.n_miss[at], n_fa=self._errors.n_fa[at])


class CountedDetectors(tuple[CountedProblem, ...]):
    """Counted results of each class against the rest."""

    __slots__ = ()

    def cllrs(self) -> FloatArray:
        """Return `deciban.multiclass.tables.Detectors.cllrs`."""
        return np.array([one.cllr() for one in self])


@dataclass(frozen=True, slots=True, eq=False)
class CountedPairs:
    """Counted results of each pair of classes.

    Attributes
    ----------
    n_classes : int
    scores : mapping of (int, int) to CountedProblem
        Results of every class with those before it.
    """

    n_classes: int
    scores: Mapping[tuple[int, int], CountedProblem]

    def cllr(self) -> FloatPair:
        """Return `deciban.multiclass.tables.Pairs.cllr`."""
        actual, minimum = np.ones((2, self.n_classes, self.n_classes))
        for (i, j), one in self.scores.items():
            actual[i, j] = actual[j, i] = one.cllr()
            minimum[i, j] = minimum[j, i] = one.min_cllr()
        return actual, minimum


@dataclass(frozen=True, slots=True, eq=False)
class CountedProblems:
    """Counted problems of trials that are not in memory.

    Attributes
    ----------
    of_targets : tuple of CountedDetectors
        Each target against the rest, for each prior of the rivals.
    of_pairs : CountedPairs or None
        None if pairs are not requested.
    odds : PooledOdds
    """

    of_targets: tuple[CountedDetectors, ...]
    of_pairs: CountedPairs | None
    odds: PooledOdds

    def detectors(self, at: int) -> CountedDetectors:
        """Return each class against the rest, at one of the priors of the rivals."""
        return self.of_targets[at]

    def pavs(self, at: int) -> list[Pav]:
        """Return the PAV blocks of each class against the rest, at one of the priors of the rivals."""
        return [one.pav for one in self.of_targets[at]]


MOST_DECIDED = 30
"""Largest number of classes for counts of decisions, which grow with its third power."""


_LOW = [0.5, 0.2, 0.1, 0.01, *(float(f"{p:.3g}") for p in expit(np.arange(-20, 0) * 0.4))]


PRIORS = np.unique(np.round([*_LOW, *(1.0 - p for p in _LOW)], 10))
"""Ascending priors of the chosen class."""


MOST_KEPT = 1 << 24
"""Log-likelihoods that are kept for results that few users read, at most."""


@dataclass(frozen=True, slots=True, eq=False)
class DecidedAt:
    """Decisions as the prior of one class changes and the others keep their shares of the rest; summaries can be added.

    Attributes
    ----------
    prior : (n_classes,) array
        The shares; positive.
    sums : mapping of str to array
        Only pages show them: for trials in memory, they are computed when they are read. ``counts``: trials by class
        whose prior changes, first of `PRIORS` at which this class is decided, their class, and the class that is
        decided before, (n_classes, n_priors + 1, n_classes, n_classes); whole numbers have the smallest sufficient
        type. ``quadratic``: sums of quadratic costs by class whose prior changes, prior, and class of the trials.

    Examples
    --------
    >>> trials = ScoredClasses.of([[2.0, 0.0], [0.0, 1.0], [0.5, 0.0]], [0, 1, 1])
    >>> found = DecidedAt.of(trials, np.array([0.5, 0.5]))
    >>> found.confusion(0, 0.5)
    array([[1, 0],
           [1, 1]])
    """

    prior: FloatArray
    sums: Mapping[str, AnyArray]

    @classmethod
    def of(cls, trials: ScoredClasses, prior: FloatArray, call: Callable[..., Any] = operator.call) -> DecidedAt | None:
        """Count decisions; return None for more than `MOST_DECIDED` classes or a class of prior 0.

        Parameters
        ----------
        trials : ScoredClasses
        prior : (n_classes,) array
        call : callable
            `functools.partial`, to count when the counts are read.
        """
        if trials.n_classes > MOST_DECIDED or np.any(prior <= 0.0):
            return None
        return cls(prior, call(partial(_decided, trials, prior)))

    def __add__(self, other: DecidedAt) -> DecidedAt:
        """Add the trials of another part."""
        one, two = self.sums["counts"], other.sums["counts"]
        counts = _short(np.add(one, two, dtype=np.result_type(_total(one), _total(two))))
        return replace(self, sums={"counts": counts, "quadratic": self.sums["quadratic"] + other.sums["quadratic"]})

    def prior_at(self, k: int, p: float) -> FloatArray:
        """Return the prior of all classes if class ``k`` has prior ``p``."""
        result = self.prior * ((1.0 - p) / (1.0 - self.prior[k]))
        result[k] = p
        return np.asarray(result)

    def confusion(self, k: int, p: float) -> CountArray:
        """Return the trials of each class (rows) by decision (columns).

        Parameters
        ----------
        k : int
            Class whose prior changes.
        p : float
            One of `PRIORS`.
        """
        at = int(np.searchsorted(PRIORS, p))
        before, after = np.split(self.sums["counts"][k], [at + 1])
        result = after.sum(axis=0, dtype=_total(before))
        result[:, k] += before.sum(axis=(0, 2), dtype=result.dtype)
        return np.asarray(result)

    def by_first(self, k: int, places: IntArray) -> CountArray:
        """Return counts by the first of some of `PRIORS`, instead of all.

        Parameters
        ----------
        k : int
            Class whose prior changes.
        places : (n_kept,) int array
            Positions in `PRIORS`, ascending.
        """
        counts = self.sums["counts"][k]
        return np.asarray(np.add.reduceat(counts, np.append(0, places + 1), axis=0, dtype=_total(counts)))

    def brier(self, k: int, n_trials: CountArray) -> FloatArray:
        """Return Brier scores at all `PRIORS` of a class, as in `deciban.multiclass.brier`.

        Parameters
        ----------
        k : int
            Class whose prior changes.
        n_trials : (n_classes,) array
            Number or total weight of trials of each class.

        Examples
        --------
        >>> trials = ScoredClasses.of([[2.0, 0.0], [0.0, 1.0]], [0, 1])
        >>> found = DecidedAt.of(trials, np.array([0.5, 0.5])).brier(0, np.array([1, 1]))
        >>> float(found[PRIORS == 0.5][0].round(6))
        0.086539
        """
        priors = np.stack([self.prior_at(k, p) for p in PRIORS.tolist()])
        return np.asarray((priors * (self.sums["quadratic"][k] / n_trials)).sum(axis=1))


defer(DecidedAt, "sums")


def _decided(trials: ScoredClasses, prior: FloatArray) -> dict[str, AnyArray]:
    """Return the sums of `DecidedAt`."""
    n, n_places = trials.n_classes, len(PRIORS) + 1
    counts = np.zeros((n, n_places * n * n), count_type(trials.weights))
    weights, others = np.log(prior)[:, None], np.log1p(-prior)[:, None]
    for rows in kernels.row_blocks(*trials.loglik.shape):
        relative = kernels.relative(trials.loglik, rows)
        block, columns = relative + weights, np.arange(relative.shape[1])
        top = np.argmax(block, axis=0)
        best = block[top, columns]
        block[top, columns] = -math.inf
        second = np.argmax(block, axis=0)
        second = np.where(second == top, np.where(top == 0, 1, 0), second)  # all other classes are excluded
        # Log odds of each class at which it draws level with its best rival.
        level = best - relative
        level[top, columns] = block[second, columns] - relative[top, columns]
        level -= others
        rival = np.broadcast_to(top, level.shape).copy()
        rival[top, columns] = second
        rival += (_first_places(level, rival) * n + trials.label[rows]) * n
        some = None if trials.weights is None else trials.weights[rows]
        for k, codes in enumerate(rival):
            counts[k] += tally(codes, n_places * n * n, some)
    return {"counts": _short(counts).reshape(n, n_places, n, n), "quadratic": _quadratic_sums(trials, prior)}


def _total(counts: CountArray) -> DTypeLike:
    """Return the type for sums of counts, which are stored in smaller types."""
    return counts.dtype if counts.dtype.kind == "f" else np.int64


def _short(counts: CountArray) -> CountArray:
    """Return counts in the smallest sufficient type, since there are many, and most are small."""
    return counts if counts.dtype.kind == "f" else counts.astype(np.min_scalar_type(int(counts.max())))


_PLACES = np.asarray(logit(PRIORS))
_BINS_PER_NAT = 1.0 / float(np.diff(_PLACES).min())
"""So many that no bin of the table has two places."""
_BINS = ((_PLACES - _PLACES[0]) * _BINS_PER_NAT).astype(np.int64)
_BEFORE = np.searchsorted(_BINS, np.arange(_BINS[-1] + 2))
_INSIDE = np.full(len(_BEFORE), np.nan)
_INSIDE[_BINS] = _PLACES


def _first_places(level: FloatArray, rival: IntArray) -> IntArray:
    """Return the first of `PRIORS` at which each class (row) is decided: above a level, or at it before its rival.

    A table is several times faster than a search.
    """
    bins = np.clip((level - _PLACES[0]) * _BINS_PER_NAT, 0.0, len(_BEFORE) - 1.0).astype(np.int64)
    inside = _INSIDE[bins]
    indices: IntArray = _BEFORE[bins] + (level > inside)
    at = np.nonzero(level == inside)
    indices[at] += at[0] > rival[at]
    return indices


_NOTHING = 1e-150
"""Sum of likelihoods, relative to the largest, that has no effect on a cost; its square is a float."""

_ODDS = 2.0**-64, 2.0**64
"""Odds beyond which costs are those of certainty."""

_WIDTH = 80
"""Numbers of a trial that determine the size of blocks, which stay in cache with the costs at all priors."""


def _quadratic_sums(trials: ScoredClasses, prior: FloatArray) -> FloatArray:
    """Return sums of quadratic costs by class whose prior changes, prior, and class of the trials.

    With ``c`` the posterior of all classes but ``k``, and ``r`` their shares of ``c``, a trial of class ``y`` costs
    ``c^2 (1 + sum r^2)``, plus ``2 - 2 c (1 + r_y)`` unless ``y`` is ``k`` (Bruemmer and van Leeuwen 2006, eq. 13).
    """
    n, odds, inverse = trials.n_classes, ((1.0 - prior) / prior)[:, None], ((1.0 - PRIORS) / PRIORS)[:, None]
    inverse_and_one = np.append(inverse, np.ones((len(PRIORS), 1)), axis=1)
    linear, squared = np.zeros((2, n, len(PRIORS), n))
    blocks = ((y, trials.rows(y)[some]) for y in range(n) for some in row_blocks(len(trials.rows(y)), _WIDTH))
    for y, rows in blocks:
        weights = np.ones(len(rows)) if trials.weights is None else trials.weights[rows].astype(np.float64)
        likely = np.exp(relative(trials.loglik, rows)) * prior[:, None]
        total = np.maximum(kernels.leave_one_out(likely), _NOTHING)
        of_c = -2.0 * weights * (1.0 + likely[y] / total)
        of_c[y] = 0.0
        of_square = weights * (1.0 + kernels.leave_one_out(likely**2) / total**2)
        c, one_and_ratio = np.empty((len(PRIORS), len(rows))), np.ones((2, len(rows)))
        for k, one_and_ratio[1] in enumerate(np.clip(likely / total * odds, *_ODDS)):
            np.matmul(inverse_and_one, one_and_ratio, out=c)  # their sums, in half the time of an addition
            np.divide(1.0, c, out=c)  # divided by the inverse
            linear[k, :, y] += c @ of_c[k]
            c *= c
            squared[k, :, y] += c @ of_square[k]
    return np.asarray(inverse * (linear + inverse * squared) + 2.0 * (trials.totals() * (1.0 - np.eye(n)))[:, None])


@dataclass(frozen=True, slots=True, eq=False)
class TargetErrors:
    """Missed and falsely accepted trials at the Bayes thresholds of all targets.

    Attributes
    ----------
    p_target : float
    rivals : (n_classes,) array
        Share of each class in the prior that a target leaves to non-targets.
    n_targets : int
        Number of targets, which are the first classes.
    label : (n_trials,) int array
    missed : (n_trials,) bool array
    n_accepted : (n_trials,) array
        Number of other targets that accept each trial.
    """

    p_target: float
    rivals: FloatArray
    n_targets: int
    label: IntArray
    missed: BoolArray
    n_accepted: FloatArray

    @classmethod
    def of(cls, llrs: ByClass, p_target: float, threshold: float, p_out_of_set: float | None) -> TargetErrors:
        """Decide at a prior of a target: llrs at or above the threshold are accepted.

        Parameters
        ----------
        llrs : ByClass
            Detection llrs of targets, or other values with the same order of trials.
        p_target, threshold : float
        p_out_of_set : float or None
            Prior of the last class, if it is out of set.
        """
        label, n, is_open = llrs.label, len(llrs.lengths), p_out_of_set is not None
        rivals = np.full(n, 1.0 / (n - 1))
        if p_out_of_set is not None:
            (rivals,) = non_target_priors(np.array([p_target]), p_out_of_set, n)
        n_accepted, missed = np.zeros(len(label)), np.zeros(len(label), np.bool_)
        for target, own in enumerate(llrs.slices[: n - is_open]):
            is_accepted = llrs.values[target] >= threshold
            missed[own] = ~is_accepted[own]
            is_accepted[own] = False
            n_accepted += is_accepted
        return cls(p_target, rivals, n - is_open, label, missed, n_accepted)

    @property
    def costs(self) -> FloatArray:
        """Contribution of each trial to the mean of its class; the sum over classes is `deciban.multiclass.c_avg`."""
        misses, false_alarms = self.p_target * self.missed, (1.0 - self.p_target) * self.rivals[self.label]
        return np.asarray((misses + false_alarms * self.n_accepted) / self.n_targets)

    @property
    def most(self) -> FloatArray:
        """Contribution of each class to C_avg if all its trials are missed, or falsely accepted, (2, n_classes)."""
        is_target = np.arange(len(self.rivals)) < self.n_targets
        false_alarms = (1.0 - self.p_target) * self.rivals * (self.n_targets - is_target)
        return np.stack((self.p_target * is_target, false_alarms)) / self.n_targets


def critical_priors_of(trials: ScoredClasses, p_out_of_set: float) -> FloatArray:
    """Return the least priors of targets at which trials, sorted by class, are accepted, (n_targets, n_trials)."""
    order = trials.by_class[0]
    values = np.empty((trials.n_classes - 1, len(order)))
    for rows in row_blocks(len(order), trials.n_classes):
        values[:, rows] = critical_priors(relative(trials.loglik, order[rows]), p_out_of_set)
    return values
