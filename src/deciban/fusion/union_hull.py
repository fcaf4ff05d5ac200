"""Decisions by the best of several systems at each operating point: the convex hull of all their operating points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.core.ranks.roc import Rocch, block_llr, effective_log_odds, pool
from deciban.errors import InputError
from deciban.fusion.linear import source_of_systems
from deciban.metrics import SortedScores
from deciban.models.loading import NUMBER
from deciban.models.model import Model
from deciban.models.score_model import require_systems
from deciban.trials.sources import Batch
from deciban.types import BoolArray, CountArray, FloatArray, IntArray, Json, ScoreArray, Weights

_ROUNDING = 1e-11
"""Relative difference of sums of the same fractional weights in another order is less than this."""


@dataclass(frozen=True, slots=True)
class HullVertex:
    """One decision rule: accept if the score of ``system`` is at or above ``threshold``.

    Attributes
    ----------
    p_fa, p_miss : float
        Error rates of the training trials, fractions.
    system : int
        Column of the scores; the first, if several systems make the same errors.
    threshold : float
        -inf accepts every trial. The last vertex rejects every trial, even with infinite scores: its threshold is
        ``inf``.
    rejects_all : bool
        True for the last vertex.
    """

    p_fa: float
    p_miss: float
    system: int
    threshold: float
    rejects_all: bool = False

    def accepts(self, scores: ScoreArray) -> BoolArray:
        """Return True for accepted rows of checked scores."""
        if self.rejects_all:
            return np.zeros(len(scores), np.bool_)
        # float64, so that float32 scores are compared with the exact threshold.
        return np.asarray(scores[:, self.system] >= np.float64(self.threshold))


@dataclass(frozen=True, slots=True)
class RandomizedRule:
    """Two decision rules with their probabilities.

    Attributes
    ----------
    p_fa, p_miss : float
        Expected error rates of the training trials, fractions: a point on the edge between the two rules.
    liberal, strict : HullVertex
        The rule with more false alarms, and the rule with fewer; the same if randomization is not needed.
    p_liberal : float
        Probability of deciding a trial by ``liberal``.
    """

    p_fa: float
    p_miss: float
    liberal: HullVertex
    strict: HullVertex
    p_liberal: float


def union_vertices(trials: Batch) -> tuple[IntArray, FloatArray, CountArray, CountArray]:
    """Return system, threshold, false alarms and misses at each vertex of the hull of all systems."""
    items = []
    for k, column in enumerate(trials.scores):
        one = SortedScores(**trials.as_sets(column))
        threshold = np.concatenate(([-np.inf], one.pav.low[1:], [np.inf]))
        items.append((np.full(len(threshold), k), threshold, one.rocch.n_fa, one.rocch.n_miss))
    system, threshold, n_fa, n_miss = (np.concatenate(parts) for parts in zip(*items, strict=True))
    vertices = _lower_hull(system, counts(n_fa), counts(n_miss))
    return system[vertices], threshold[vertices], counts(n_fa[vertices]), counts(n_miss[vertices])


def _lower_hull(system: IntArray, n_fa: CountArray, n_miss: CountArray) -> IntArray:
    """Return the indices of the vertices of the lower convex hull of points, from accept-all to reject-all.

    If points are equal (up to rounding), the point of the first system is kept.
    """
    close = 0.0 if n_fa.dtype == n_miss.dtype == np.int64 else _ROUNDING
    order: IntArray = np.lexsort((system, n_miss, -n_fa))
    # Drop points that others dominate: the remaining points fall in false alarms and rise in misses.
    order = order[n_miss[order] <= np.minimum.accumulate(n_miss[order][::-1])[::-1] * (1 + close)]
    fewer, more = -np.diff(n_fa[order]), np.diff(n_miss[order])
    begins = np.append(True, (fewer > close * n_fa[order][:-1]) | (more > close * n_miss[order][1:]))
    order = order[np.lexsort((system[order], np.cumsum(begins)))][begins]
    order[0], order[-1] = 0, np.argmax(system > 0) - 1  # accept-all and reject-all of the first system
    while True:
        fewer, more = np.maximum(-np.diff(n_fa[order]), 0), np.maximum(np.diff(n_miss[order]), 0)
        starts = pool(more, fewer)
        if len(starts) == len(more):
            return order
        # Repeat, because differences of sums of fractional weights are rounded again.
        order = order[np.append(starts, len(more))]


def counts(values: CountArray) -> CountArray:
    """Return whole numbers as integers, so that comparisons are exact."""
    whole = np.array_equal(values, np.rint(values)) and bool(np.max(values) <= 2**53)
    return values.astype(np.int64 if whole else np.float64)


class UnionHull(Model):
    """Decisions by the best system at each operating point (isotonic fusion: the ROCCH of several systems).

    Every system has a threshold for each of its operating points. The lower convex hull of the points of all systems is
    never above the hull of a single system. Each of its vertices is one system with one threshold. At an operating
    point, the vertex of least cost makes the decisions (`decide`). A point on the edge between two vertices needs a
    random choice for each trial (`decide_at`).

    Attributes
    ----------
    n_systems_ : int
    system_ : (n_vertices,) int array
        Column of the scores that is used at each vertex, from accept-all to reject-all.
    threshold_ : (n_vertices,) array
        A trial is accepted if its score is at or above the threshold; -inf at the first vertex, ``inf`` at the last
        one, which rejects every trial.
    n_fa_, n_miss_ : (n_vertices,) arrays
        False alarms and misses of the training trials (sums of weights if trials are weighted).
    training_ : Training
        Counts of trials, a fingerprint of the data, and ``results``: the number of vertices, the number of changes of
        the system along the hull, and the equal error rate.

    Notes
    -----
    The output is decisions, not log-likelihood ratios: the scores of the other systems are ignored. `LinearFusion` uses
    all scores in every trial, and is usually better. The hull is useful if one system is better at few false alarms and
    another at few misses, each with clear scores for trials that the other confuses, and if only decisions are needed.
    It also shows the best system at each operating point.

    With one system, it is the ROCCH of this system. Ties are never split. The error rates of the training trials are
    optimistic, because they are the best of many thresholds of many systems; with few trials the optimism is large.

    References
    ----------
    F. Provost and T. Fawcett, "Robust classification for imprecise environments", Machine Learning 42, 2001. T. Fawcett
    and A. Niculescu-Mizil, "PAV and the ROC convex hull", Machine Learning 68, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[9, 8, 1, 1, 1, 1, 1, 0], [1, 1, 1, 1, 0, 0, 1, 0]]).T
    >>> is_target = np.array([True, True, True, True, False, False, False, False])
    >>> hull = UnionHull().fit(scores, is_target)
    >>> for vertex in hull.vertices:
    ...     print(vertex.p_fa, vertex.p_miss, vertex.system, vertex.threshold)
    1.0 0.0 0 -inf
    0.25 0.0 1 1.0
    0.0 0.5 0 8.0
    0.0 1.0 0 inf
    >>> hull.decide(scores, p_target=0.01)
    array([ True,  True, False, False, False, False, False, False])
    >>> hull.decide(scores, p_target=0.5)
    array([ True,  True,  True,  True, False, False,  True, False])
    >>> hull.randomized(p_fa=0.125).p_miss
    0.25
    """

    kind: ClassVar[str] = "union-hull"
    parameter_schema: ClassVar[Mapping[str, object]] = {
        "n_systems": {"type": "integer", "minimum": 1},
        "system": {"type": "array", "minItems": 2, "items": {"type": "integer", "minimum": 0}},
        "threshold": {"type": "array", "items": NUMBER},
        "n_fa": {"type": "array", "items": {"type": "number", "minimum": 0}},
        "n_miss": {"type": "array", "items": {"type": "number", "minimum": 0}},
    }

    def fit(self, scores: ArrayLike, is_target: ArrayLike, *, sample_weight: Weights = None) -> Self:
        """Compute the hull of labelled trials.

        Parameters
        ----------
        scores : (n_trials, n_systems) array_like
            Scores of all systems on the same trials; larger scores favour targets. They need not be calibrated, and may
            be infinite.
        is_target : (n_trials,) array_like
            True (or 1) for targets, False (or 0) for non-targets.
        sample_weight : (n_trials,) array_like, optional
            Weight of each trial, at least 0; whole numbers count like copies.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If a score is NaN, shapes do not match, or a class is empty.
        """
        from deciban.models.sources import SourceTrials  # only needed for training

        source = source_of_systems(scores, is_target, sample_weight)
        self.n_systems_ = len(source.systems)
        self.system_, self.threshold_, self.n_fa_, self.n_miss_ = union_vertices(source.held)
        results = {
            "vertices": len(self.system_),
            "changes_of_system": int(np.count_nonzero(np.diff(self.system_[1:-1]))),
            "eer": self.hull.eer(),
        }
        self.training_ = SourceTrials(source).training(results)
        return self

    @property
    def hull(self) -> Rocch:
        """The hull in the form of a single system, with equal error rate, minimum costs etc. of the training trials.

        Raises
        ------
        InputError
            If the hull was not trained.
        """
        self.require_fitted()
        return Rocch(self.n_fa_, self.n_miss_, block_llr(np.diff(self.n_miss_), -np.diff(self.n_fa_)))

    @property
    def vertices(self) -> tuple[HullVertex, ...]:
        """The decision rules, from accept-all to reject-all."""
        hull = self.hull
        rows = zip(*(a.tolist() for a in (hull.p_fa, hull.p_miss, self.system_, self.threshold_)), strict=True)
        *rules, last = [HullVertex(*row) for row in rows]
        return (*rules, replace(last, rejects_all=True))

    def eer(self) -> float:
        """Equal error rate on the hull, a fraction; it needs random decisions unless it is at a vertex."""
        return self.hull.eer()

    def min_dcf(
        self,
        *,
        p_target: ArrayLike | None = None,
        prior_log_odds: ArrayLike | None = None,
        c_miss: float = 1.0,
        c_fa: float = 1.0,
        normalize: bool = True,
    ) -> float | FloatArray:
        """Return the cost of the switched decisions on the training trials; see `deciban.metrics.min_dcf`."""
        return self.hull.min_dcf(
            p_target=p_target, prior_log_odds=prior_log_odds, c_miss=c_miss, c_fa=c_fa, normalize=normalize
        )

    def best_vertex(
        self,
        *,
        p_target: float | None = None,
        prior_log_odds: float | None = None,
        c_miss: float = 1.0,
        c_fa: float = 1.0,
    ) -> HullVertex:
        """Return the switched rule: the vertex of least cost at an operating point.

        Parameters
        ----------
        p_target, prior_log_odds : float
            Prior of a target, exactly one of the two: as a probability, or as log odds in nats.
        c_miss, c_fa : float
            Costs of a miss and of a false alarm.

        Returns
        -------
        HullVertex
            In a tie, the vertex with more false alarms, because scores at the threshold are accepted.

        Raises
        ------
        InputError
            If a prior or a cost is out of range, there are several priors, or the hull was not trained.
        """
        way = "Decide for each prior separately"
        log_odds = np.asarray(_validate.single_log_odds(p_target, prior_log_odds, way=way))
        hull = self.hull
        p_miss, p_fa = hull.best_rates(effective_log_odds(log_odds, *_validate.costs(c_miss, c_fa)))
        return self.vertices[int(np.flatnonzero((hull.p_miss == p_miss) & (hull.p_fa == p_fa))[0])]

    def decide(
        self,
        scores: ArrayLike,
        *,
        p_target: float | None = None,
        prior_log_odds: float | None = None,
        c_miss: float = 1.0,
        c_fa: float = 1.0,
    ) -> BoolArray:
        """Accept or reject trials at an operating point, by the best system and threshold.

        Parameters
        ----------
        scores : (n_trials, n_systems) array_like
            Systems in the order of training.
        p_target, prior_log_odds, c_miss, c_fa : float
            The operating point; see `best_vertex`.

        Returns
        -------
        (n_trials,) bool array
            True for accepted trials.

        Raises
        ------
        InputError
            If a score is NaN, or the number of systems differs; see also `best_vertex`.
        """
        rule = self.best_vertex(p_target=p_target, prior_log_odds=prior_log_odds, c_miss=c_miss, c_fa=c_fa)
        return rule.accepts(self._checked(scores))

    def randomized(self, *, p_fa: float) -> RandomizedRule:
        """Return the rule for a requested false-alarm rate: two neighbouring vertices and their probabilities.

        Parameters
        ----------
        p_fa : float
            In [0, 1].

        Returns
        -------
        RandomizedRule
            The rule with the fewest misses on the hull.

        Raises
        ------
        InputError
            If ``p_fa`` is out of range, or the hull was not trained.
        """
        rates = _validate.in_range(p_fa, "p_fa", 0.0, 1.0, "A false-alarm rate is a fraction in [0, 1]")
        vertices = self.vertices
        # From reject-all on, the last vertex at or below the requested rate has the fewest misses.
        at = next(i for i, vertex in enumerate(vertices) if vertex.p_fa <= rates)
        strict = vertices[at]
        if strict.p_fa == rates:
            return RandomizedRule(rates, strict.p_miss, strict, strict, 1.0)
        liberal = vertices[at - 1]
        share = (rates - strict.p_fa) / (liberal.p_fa - strict.p_fa)
        p_miss = strict.p_miss + share * (liberal.p_miss - strict.p_miss)
        return RandomizedRule(rates, p_miss, liberal, strict, share)

    def decide_at(self, scores: ArrayLike, *, p_fa: float, rng: np.random.Generator | int) -> BoolArray:
        """Accept or reject trials with an expected false-alarm rate, by a random choice for each trial.

        Parameters
        ----------
        scores : (n_trials, n_systems) array_like
            Systems in the order of training.
        p_fa : float
            Expected false-alarm rate, for trials like the training trials; in [0, 1].
        rng : numpy.random.Generator or int
            Random generator, or the seed of a new one. One draw for each trial, in their order.

        Returns
        -------
        (n_trials,) bool array
            True for accepted trials.

        Raises
        ------
        InputError
            If a score is NaN, the number of systems differs, or ``rng`` is invalid; see also `randomized`.
        """
        rule = self.randomized(p_fa=p_fa)
        matrix = self._checked(scores)
        tosses = _generator(rng).random(len(matrix))
        return np.where(tosses < rule.p_liberal, rule.liberal.accepts(matrix), rule.strict.accepts(matrix))

    def _checked(self, scores: ArrayLike) -> ScoreArray:
        matrix = _validate.score_matrix(scores, "scores")
        require_systems(matrix, self.n_systems_, "hull")
        return matrix

    def set_parameters(self, parameters: Mapping[str, Json]) -> None:
        """Set vertices from a file."""
        system = np.array(parameters["system"], np.int64)
        threshold = _validate.scores(parameters["threshold"], "threshold").astype(np.float64, copy=False)
        n_fa, n_miss = (counts(np.array(parameters[name], np.float64)) for name in ("n_fa", "n_miss"))
        if not len(system) == len(threshold) == len(n_fa) == len(n_miss):
            raise InputError("system, threshold, n_fa, n_miss: different lengths. Every vertex needs one of each.")
        if system.max() >= parameters["n_systems"]:
            raise InputError(f"system: {system.max()} of {parameters['n_systems']} systems, counted from 0.")
        if threshold[0] != -np.inf or threshold[-1] != np.inf:
            raise InputError("threshold: the first vertex must accept all (-inf), the last one reject all (inf).")
        if n_fa[0] <= 0 or n_fa[-1] != 0 or n_miss[0] != 0 or n_miss[-1] <= 0:
            raise InputError("n_fa, n_miss: a hull must go from accept-all (no miss) to reject-all (no false alarm).")
        fewer, more = -np.diff(n_fa), np.diff(n_miss)
        if np.any(fewer < 0) or np.any(more < 0) or np.any(fewer + more == 0) or len(pool(more, fewer)) < len(more):
            raise InputError("n_fa, n_miss: not the vertices of a convex hull.")
        self.n_systems_ = int(parameters["n_systems"])
        self.system_, self.threshold_, self.n_fa_, self.n_miss_ = system, threshold, n_fa, n_miss


def _generator(rng: np.random.Generator | int) -> np.random.Generator:
    try:
        if rng is not None:
            return np.random.default_rng(rng)
    except (TypeError, ValueError):
        pass
    raise InputError(f"rng: got {rng!r}. Pass numpy.random.default_rng(seed), or a seed of at least 0.")
