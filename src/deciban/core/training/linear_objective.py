"""Objective of calibration and fusion: the expected cost of a linear combination of scores, with derivatives.

Let ``x = tau + offset + sum_k a_k s_k`` with the scores ``s_k`` of a trial and the prior log odds ``tau``. The
objective is ``p mean_tar C(x | tar) + (1 - p) mean_non C(x | non)`` for a rule of the beta family (Bruemmer &
Doddington 2013 eqs. 3 and 16, BOSARIS paper eq. 30), plus optionally half the penalty times the squared parameters.

One pass over the trials returns value, gradient and Hessian. It uses small blocks and makes no copy of the scores.
Trials that infinite scores decide are left out before: no parameter changes their cost.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy.special import expit

from deciban._validate.arrays import all_finite
from deciban.core.proper import Terms, beta_cost_non, kernel, slope_kernel
from deciban.core.resampling.units import TrialUnits
from deciban.core.training.sums import UNTHREADED, Ends, F, Sums, SumsUpTo, TrialObjective, dot, length_bound
from deciban.core.training.trust_region import SIZE, Derivatives
from deciban.errors import InputError, TrialError
from deciban.types import Additive, AnyArray, BoolArray, FloatArray, IntArray, ScoreArray

_OFF_CENTER = 10.0
"""Centers beyond this many widths would cancel digits of sums that are standardized afterwards."""


_MAGNITUDES = (1e-15, 1e15)
"""Range of widths whose squares, and squares of the scores, are well within float32."""


@dataclass(frozen=True, slots=True, eq=False)
class FeatureBlock:
    """Standardized columns of a block of trials, and a column of ones if there is an offset."""

    features: AnyArray

    def combined(self, parameters: AnyArray) -> AnyArray:
        """Return the weighted sum of the features of each trial."""
        return parameters @ self.features

    def sums(self, factor: AnyArray) -> AnyArray:
        """Return sums over trials of a factor times each feature."""
        return self.features @ factor

    def products(self, factor: AnyArray) -> AnyArray:
        """Return sums over trials of a factor times the product of each pair of features, as a vector."""
        weighted = self.features * factor
        if len(weighted) <= 2:  # one by one is faster than a thin matrix product
            product = dot if len(factor) >= UNTHREADED else np.dot
            return np.array([product(left, right) for left in weighted for right in self.features])
        products: AnyArray = weighted @ self.features.T
        return products.ravel()


@dataclass(frozen=True, slots=True, eq=False)
class ColumnBlock:
    """Scores of one system with their standardization; there is an offset."""

    column: AnyArray
    center: float
    width: float

    def combined(self, parameters: AnyArray) -> AnyArray:
        """Return weighted sums; see `FeatureBlock.combined`."""
        weight = float(parameters[0]) / self.width
        combined: AnyArray = self.column * self.column.dtype.type(weight)
        combined += self.column.dtype.type(float(parameters[1]) - weight * self.center)
        return combined

    def sums(self, factor: AnyArray) -> AnyArray:
        """Return sums of features; see `FeatureBlock.sums`."""
        total = float(factor.sum())
        return np.array([(dot(factor, self.column) - self.center * total) / self.width, total])

    def products(self, factor: AnyArray) -> AnyArray:
        """Return sums of products; see `FeatureBlock.products`."""
        weighted = factor * self.column
        total, first = float(factor.sum()), float(weighted.sum())
        second = dot(weighted, self.column)
        inside = (second - 2.0 * self.center * first + self.center**2 * total) / self.width**2
        border = (first - self.center * total) / self.width
        return np.array([inside, border, border, total])


@dataclass(frozen=True, slots=True, eq=False)
class MatrixBlock:
    """Rows of a matrix of scores with their standardization; there is an offset."""

    rows: AnyArray
    center: FloatArray
    width: FloatArray

    def combined(self, parameters: AnyArray) -> AnyArray:
        """Return weighted sums; see `FeatureBlock.combined`."""
        weights = parameters[:-1] / self.width
        combined: AnyArray = self.rows @ weights.astype(self.rows.dtype)
        combined += self.rows.dtype.type(parameters[-1] - weights @ self.center)
        return combined

    def sums(self, factor: AnyArray) -> AnyArray:
        """Return sums of features; see `FeatureBlock.sums`."""
        sums = np.empty(len(self.center) + 1)
        sums[-1] = total = factor.sum()
        sums[:-1] = (factor @ self.rows - self.center * total) / self.width
        return sums

    def products(self, factor: AnyArray) -> AnyArray:
        """Return sums of products; see `FeatureBlock.products`."""
        second = ((self.rows * factor[:, None]).T @ self.rows).astype(np.float64)
        first, total = (factor @ self.rows).astype(np.float64), float(factor.sum())
        center, width = self.center[:, None], self.width[:, None]
        mixed = center * first
        inside = (second - mixed - mixed.T + total * center * self.center) / (width * self.width)
        border = (first - self.center * total) / self.width
        n = len(self.center)
        products = np.empty((n + 1, n + 1))
        products[:n, :n], products[:n, n], products[n, :n], products[n, n] = inside, border, border, total
        return products.ravel()


def suits_raw_block(center: FloatArray, width: FloatArray) -> bool:
    """Return True if sums that are standardized afterwards keep their digits."""
    finite = np.isfinite(width)
    near = np.all(np.abs(center[finite]) <= _OFF_CENTER * width[finite])
    return bool(near and np.all((width[finite] > _MAGNITUDES[0]) & (width[finite] < _MAGNITUDES[1])))


Block = FeatureBlock | ColumnBlock | MatrixBlock


class ScoreColumn(Protocol):
    """Scores of one system, or any other sliceable object with one number per trial."""

    def __getitem__(self, rows: IntArray | BoolArray | slice, /) -> Any:
        """Return the numbers of some trials."""


@dataclass(frozen=True, eq=False)
class TrainingTrials:
    """Training trials of two classes.

    Attributes
    ----------
    columns : tuple of (n_trials,) arrays
        One column for each parameter except the offset; finite.
    is_target : (n_trials,) bool array
    class_weights : (float, float)
        Contribution of a non-target and of a target trial of weight 1: ``(1-p) / n_non`` and ``p / n_tar``.
    weights : (n_trials,) array, optional
        Weight of each trial.
    base : (n_trials,) array, optional
        Added to the llr without a factor.
    matrix : (n_trials, n_columns) array, optional
        All columns, if the rows are contiguous in memory.
    reach : float
        Largest absolute score; infinite if unknown.
    numbers : (n_trials,) int array, optional
        Positions of these trials among the trials of the units; None if they are the same.
    """

    columns: tuple[ScoreColumn, ...]
    is_target: BoolArray
    class_weights: tuple[float, float]
    weights: FloatArray | None = None
    base: ScoreColumn | None = None
    matrix: ScoreArray | None = None
    reach: float = np.inf
    numbers: IntArray | None = None

    @classmethod
    def of(
        cls,
        columns: Sequence[ScoreColumn] | ScoreArray,
        is_target: BoolArray,
        *,
        weights: FloatArray | None = None,
        base: ScoreColumn | None = None,
        reach: float = np.inf,
    ) -> TrainingTrials:
        """Create trials from columns, or from a matrix of columns, without class weights."""
        matrix = None
        if isinstance(columns, np.ndarray):
            matrix = columns if columns.flags.c_contiguous and columns.shape[1] > 1 else None
            columns = tuple(columns.T)
        if not reach < np.inf:
            arrays = tuple(columns) if matrix is None else (matrix,)
            reach = max((length_bound(array) for array in arrays), default=np.inf)
        return cls(tuple(columns), is_target, (0.0, 0.0), weights, base, matrix, reach)

    def __len__(self) -> int:
        return len(self.is_target)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.columns)

    @property
    def truth(self) -> BoolArray:
        """Class of each trial."""
        return self.is_target

    def joined(self, other: TrainingTrials) -> TrainingTrials:
        """Return the union with other trials, with the same class weights."""

        def both(a: Any, b: Any) -> Any:
            return None if a is None else np.concatenate((a[:], b[:]))

        columns = tuple(map(both, self.columns, other.columns))
        rest = {name: both(getattr(self, name), getattr(other, name)) for name in ("is_target", "weights", "base")}
        return replace(self, columns=columns, matrix=None, **rest)

    @property
    def size(self) -> int:
        """Number of trials, which determines the method of a search."""
        return len(self)

    @property
    def kinds(self) -> tuple[np.dtype[np.float64 | np.float32], ...]:
        """Data type of each column."""
        return tuple(np.asarray(column[:1]).dtype for column in self.columns)

    @property
    def has_base(self) -> bool:
        """True if a base is added to the llr."""
        return self.base is not None

    def infinite_columns(self) -> list[bool]:
        """Return True for columns with infinite scores in trials that count."""
        if self.reach < np.inf:
            return [False] * self.n_columns
        counting: BoolArray | bool = True if self.weights is None else self.weights > 0.0
        return [bool((np.isinf(np.asarray(column[:])) & counting).any()) for column in self.columns]

    def each(self, look: Callable[[TrainingTrials], F]) -> F:
        """Return ``look(self)``; for trials in batches, the function is sent to the batches."""
        return look(self)

    def each_by_unit(self, look: Callable[[TrainingTrials, TrialUnits], F], units: TrialUnits) -> F:
        """Return ``look(self, units)``."""
        return look(self, units if self.numbers is None else units.take(self.numbers))

    @property
    def amounts(self) -> tuple[float, float]:
        """Return the number (or weight) of non-targets and targets, without class weights."""
        return amount(~self.is_target, self.weights), amount(self.is_target, self.weights)

    def stand_ins(self, few: TrainingTrials) -> FloatArray:
        """Return the number of these trials that each trial of a sample represents."""
        non, tar = (drawn / own for drawn, own in zip(few.class_weights, self.class_weights, strict=True))
        return np.where(few.is_target, tar, non)

    def take(self, rows: IntArray | BoolArray | slice) -> TrainingTrials:
        """Return some of the trials, with the same class weights."""
        matrix = None if self.matrix is None else self.matrix[rows]
        return replace(
            self,
            columns=tuple(np.asarray(column[rows]) for column in self.columns) if matrix is None else tuple(matrix.T),
            is_target=self.is_target[rows],
            weights=None if self.weights is None else self.weights[rows],
            base=None if self.base is None else np.asarray(self.base[rows]),
            matrix=matrix,
        )


def amount(rows: BoolArray, weights: FloatArray | None) -> float:
    """Return the number (or weight) of some of the trials."""
    return float(np.count_nonzero(rows)) if weights is None else float(weights[rows].sum())


_BYTES = (4.0, 3.0)
"""Temporary memory per trial in a block, with one column and with several."""


_SIZES = (32_000, 400_000)
"""Least and largest number of bytes in a column of a block: small blocks need many calls, large ones exceed cache."""


_MATRIX_BYTES = 1_000_000
"""Number of bytes in the scores of a block above which their products exceed the cache."""


_OWN_COLUMNS = 7
"""Temporary numbers of each trial in addition to its scores: log odds, cost, derivatives, weight and so on."""


_MANY = 1 << 15
"""Number of trials above which standardizing sums instead of scores is worth the loss of a digit or two."""


_RARE = 7.0
"""Absolute prior log odds above which costs close to 0 are computed with all their digits."""


_SHORT = ((1.0, 1.0), (2.0, 1.0))
"""Rules whose fast costs have an absolute error of 1e-16; too much if all costs are as small as the prior."""


_FACTORS = {np.dtype(np.float64): 512, np.dtype(np.float32): 100}
"""Number of factors between 1/2 and 1 whose product is certainly above 0."""


@dataclass(frozen=True, eq=False)
class LinearObjective(TrialObjective):
    """Objective as a function of standardized parameters: one weight per column, then the offset, if any.

    Attributes
    ----------
    trials : TrainingTrials or TrialsInParts
    center, width : (n_columns,) arrays
        A column enters as ``(s - center) / width``.
    intercept : bool
        True if there is an offset.
    alpha, beta, log_odds : float
        Parameters of the rule, and the prior log odds.
    penalty : (n_parameters,) array
        The objective includes ``sum(penalty / 2 * parameters**2)``.
    constant : float
        Cost of trials that no parameter can change.
    dtype : type
        Float64, or float32 for a rough search in less than half the time.
    """

    trials: TrainingTrials
    center: FloatArray
    width: FloatArray
    intercept: bool
    alpha: float
    beta: float
    log_odds: float
    penalty: FloatArray
    constant: float = 0.0
    dtype: type[np.float64 | np.float32] = np.float64

    @property
    def is_convex(self) -> bool:
        """True if the rule is convex, so that there is at most one minimum."""
        return max(self.alpha, self.beta) <= 1.0

    @property
    def value_at_zero(self) -> float:
        """Value at weights 0, an upper bound of the minimum; infinite if it is not known to be 1."""
        return 1.0 + self.constant if self.is_convex and not self.trials.has_base else np.inf

    def is_apart(self, at: Derivatives) -> bool:
        """Return True if no trial is on the wrong side, which proves that the weights may grow forever.

        It proves nothing if the log odds have other terms than weighted scores and an offset.
        """
        moves_all = self.intercept or self.log_odds == 0.0
        return at.worst < 0.0 and moves_all and len(self.center) > 0 and not self.trials.has_base

    def move_bound(self, step: FloatArray) -> float:
        """Return an upper bound of `moved`; see `TrialObjective.move_bound`."""
        n = len(self.center)
        with np.errstate(all="ignore"):
            farthest = (self.trials.reach + np.abs(self.center)) / self.width
            return float(np.abs(step[:n]) @ farthest + np.abs(step[n:]).sum())

    def moved(self, parameters: FloatArray, step: FloatArray, trials: TrainingTrials) -> Ends:
        """Return the largest relative change of log odds by a step; see `TrialObjective.moved`."""
        level, largest = replace(self, trials=trials), 0.0
        with np.errstate(all="ignore"):
            for rows in level.blocks():
                block = level.scores(rows)
                size = 1.0 + SIZE * np.abs(block.combined(parameters) + self.log_odds)
                largest = np.fmax.reduce(np.abs(block.combined(step)) / size, initial=largest)
        return Ends.up_to(largest)

    def raw(self, parameters: FloatArray) -> AnyArray:
        """Return parameters of the log odds; the offset includes the prior."""
        point = parameters.copy()
        if self.intercept:
            point[-1] += self.log_odds
        return point.astype(self.dtype)

    def unpacked(self, sums: SumsUpTo, *, with_hessian: bool) -> tuple[float, FloatArray, FloatArray | None]:
        """Return value, gradient and Hessian; see `TrialObjective.unpacked`."""
        total, n = sums.sums.total, self.n_parameters
        own = total[n + 1 :].reshape(n, n) if with_hessian else None
        return float(total[0]), total[1 : n + 1], None if own is None else 0.5 * (own + own.T)

    def terms(self, raw: AnyArray, with_hessian: bool, trials: TrainingTrials) -> SumsUpTo:  # noqa: FBT001
        """Return the largest signed log odds of both classes, and derivatives; see `TrialObjective.terms`."""
        level, order, result = replace(self, trials=trials), 2 if with_hessian else 1, []
        rule, reverse, is_rare = (self.alpha, self.beta), (self.beta, self.alpha), abs(self.log_odds) > _RARE
        for rows in level.blocks(with_hessian=with_hessian):
            with np.errstate(all="ignore"):
                block = level.scores(rows)
                places, non, tar = level.log_odds_of(block.combined(raw), rows)
                worst = non.max(), tar.max(initial=-np.inf)
                of_non, of_tar = kernel(*rule)(non, order), kernel(*reverse)(tar, order)
                if is_rare and rule in _SHORT:
                    of_non = of_non._replace(linear=beta_cost_non(non, *rule), factor=None)
                if is_rare and reverse in _SHORT:
                    of_tar = of_tar._replace(linear=beta_cost_non(tar, *reverse), factor=None)
                own = None if trials.weights is None else trials.weights[rows]
                value = level.cost(of_non, 0, own) + level.cost(of_tar, 1, None if own is None else own[places])
                products: AnyArray = np.empty(0)
                if of_non.curvature is not None and of_tar.curvature is not None:
                    products = block.products(level.joined(of_non.curvature, of_tar.curvature, places, own))
                pull = level.joined(of_non.slope, np.negative(of_tar.slope, out=of_tar.slope), places, own)
                result.append(np.concatenate(([*worst, value], block.sums(pull), products)))
        of_blocks = np.array(result)
        with np.errstate(invalid="ignore", over="ignore"):  # infinite values are out of bounds
            return SumsUpTo(Sums.of(of_blocks[:, 2:].sum(axis=0)), Ends.up_to(of_blocks[:, :2].max(axis=0)))

    def blocks(self, *, with_hessian: bool = False, share: float = 1.0) -> list[slice]:
        """Return slices of all trials that need little temporary memory, or a share of this memory."""
        n = len(self.center) + self.intercept
        is_raw = self.suits_rows and self.dtype is np.float64
        columns = _OWN_COLUMNS + (0 if is_raw else n) + (n if with_hessian else 0)
        budget = share * _BYTES[len(self.center) > 1] * len(self.trials) / columns
        size = min(max(budget, _SIZES[0]), _SIZES[1])
        if with_hessian and n > 2:
            size = min(size, _MATRIX_BYTES / n)
        n_rows = int(size) // np.dtype(self.dtype).itemsize
        return [slice(i, i + n_rows) for i in range(0, len(self.trials), n_rows)]

    def slopes(self, parameters: FloatArray, rows: slice) -> tuple[AnyArray, Block]:
        """Return the slope of each trial of a block times its weight, and the scores."""
        with np.errstate(all="ignore"):
            block = self.scores(rows)
            places, non, tar = self.log_odds_of(block.combined(self.raw(parameters)), rows)
            own = None if self.trials.weights is None else self.trials.weights[rows]
            of_non, of_tar = slope_kernel(self.alpha, self.beta)(non), slope_kernel(self.beta, self.alpha)(tar)
            return self.joined(of_non, of_tar, places, own), block

    def log_odds_of(self, z: AnyArray, rows: slice) -> tuple[IntArray, AnyArray, AnyArray]:
        """Return positions of targets, log odds (-inf at targets), and negated log odds of targets.

        The cost of a target at x is the cost of a non-target at -x with exchanged parameters of the rule; a non-target
        at -inf costs nothing. Targets are mostly fewer, so all trials are first treated as non-targets.
        """
        if self.log_odds and not self.intercept:
            z += self.log_odds
        if self.trials.base is not None:
            z += self.trials.base[rows]
        places = np.flatnonzero(self.trials.is_target[rows])
        tar = -z[places]
        z[places] = -np.inf
        return places, z, tar

    def cost(self, terms: Terms, kind: int, own: FloatArray | None) -> float:
        """Return the cost of the trials of a class; ``own`` are their weights."""
        cost = float(terms.linear.sum()) if own is None else dot(own, terms.linear)
        factor = terms.factor
        if factor is not None and own is not None:
            cost -= dot(own, np.log(factor))
        elif factor is not None and len(factor):  # in [1/2, 1]: sum many logarithms as one logarithm of the product
            parts = np.multiply.reduceat(factor, np.arange(0, len(factor), _FACTORS[factor.dtype]))
            cost -= float(np.log(parts).sum())
        return self.trials.class_weights[kind] * cost

    def joined(self, non: AnyArray, tar: AnyArray, places: IntArray, own: FloatArray | None) -> AnyArray:
        """Return weighted terms of all trials of a block; the terms of non-targets are overwritten."""
        weights = self.trials.class_weights
        non *= self.dtype(weights[0])
        tar *= self.dtype(weights[1])
        non[places] = tar
        if own is not None:
            non *= own
        return non

    @cached_property
    def suits_rows(self) -> bool:
        """True if scores can be used without a copy, even in float32."""
        is_one = len(self.trials.columns) == 1 or self.trials.matrix is not None
        is_worth_it = len(self.trials.is_target) >= _MANY or self.dtype is np.float32
        return is_one and is_worth_it and self.intercept and suits_raw_block(self.center, self.width)

    def scores(self, rows: slice) -> Block:
        """Return the standardized scores of a block of trials."""
        if self.suits_rows and len(self.trials.columns) == 1:
            own: AnyArray = np.asarray(self.trials.columns[0][rows]).astype(self.dtype, copy=False)
            return ColumnBlock(own, float(self.center[0]), float(self.width[0]))
        if self.suits_rows and self.trials.matrix is not None:
            return MatrixBlock(self.trials.matrix[rows].astype(self.dtype, copy=False), self.center, self.width)
        features: AnyArray = np.empty((len(self.center) + self.intercept, len(self.trials.is_target[rows])), self.dtype)
        for k, column in enumerate(self.trials.columns):
            standardized = np.subtract(column[rows], self.center[k], dtype=np.float64)
            standardized /= self.width[k]
            features[k] = standardized  # cast last: scores may exceed float32, standardized scores do not
        if self.intercept:
            features[-1] = 1.0
        return FeatureBlock(features)


_FEW = 1 << 15
"""Number of scores that are checked together, so that they stay in cache."""


Pair = tuple[float, float]
"""Numbers of non-targets and of targets."""


@dataclass(frozen=True, slots=True)
class Amounts(Additive):
    """Numbers of non-targets and targets by kind; ``a + b`` merges two sets of trials.

    Attributes
    ----------
    total : (float, float)
        Number (or weight) of trials.
    wrong : (float, float)
        Number (or weight) of trials whose infinite scores contradict their class.
    left : (int, int)
        Trials that infinite scores do not decide.
    """

    total: Pair
    wrong: Pair
    left: tuple[int, int]

    def class_weights(self, log_odds: float) -> Pair:
        """Return the contribution of a non-target and of a target of weight 1."""
        return float(expit(-log_odds)) / self.total[0], float(expit(log_odds)) / self.total[1]

    def lost(self, class_weights: Pair, alpha: float, beta: float) -> float:
        """Return the cost of the wrong trials, which does not depend on the parameters."""
        limits = [_limit(own, alpha + beta) for own in (beta, alpha)]
        parts = zip(class_weights, limits, self.wrong, strict=True)
        return sum(weight * limit * wrong for weight, limit, wrong in parts if wrong)


def with_class_weights(trials: Any, alpha: float, beta: float, log_odds: float) -> tuple[Any, float]:
    """Return the trials whose cost depends on the parameters, with class weights, and the cost of the others.

    Infinite scores represent certainty: a target at +inf costs nothing at any parameters, as long as the weight of its
    system is positive.

    Parameters
    ----------
    trials : TrainingTrials or PartsOfTrials
    alpha, beta, log_odds : float

    Raises
    ------
    TrialError, InputError
        If an infinite score contradicts the true class, and the rule has no limit for this cost; if systems contradict
        each other; or if a class has no finite score.
    """
    left, amounts = undecided(trials, alpha, beta)
    if not min(amounts.left):
        raise InputError("scores: one class has no finite score. Training needs finite scores of both classes.")
    class_weights = amounts.class_weights(log_odds)
    return replace(left, class_weights=class_weights), amounts.lost(class_weights, alpha, beta)


def undecided(trials: Any, alpha: float, beta: float) -> tuple[Any, Amounts]:
    """Return the trials that count and that infinite scores do not decide, and the numbers of trials by kind.

    Raises
    ------
    TrialError
        See `with_class_weights`.
    """
    if not isinstance(trials, TrainingTrials):
        result: tuple[Any, Amounts] = trials.undecided(alpha, beta)
        return result
    if trials.weights is not None and not trials.weights.all():
        counting = np.flatnonzero(trials.weights)
        numbers = counting if trials.numbers is None else trials.numbers[counting]
        return undecided(replace(trials.take(counting), numbers=numbers), alpha, beta)
    try:
        return _undecided(trials, alpha, beta)
    except TrialError as error:
        raise error if trials.numbers is None else error.among(trials.numbers) from None


def _undecided(trials: TrainingTrials, alpha: float, beta: float) -> tuple[TrainingTrials, Amounts]:
    """Do the same as `undecided` for trials in memory that all count."""
    is_target, verdict, total = trials.is_target, _verdict(trials), trials.amounts
    if verdict is None:
        return trials, Amounts(total, (0.0, 0.0), _counts(is_target))
    wrong = ((verdict > 0) & ~is_target, (verdict < 0) & is_target)
    for rows, name, sign, own in ((wrong[1], "target", "-inf", alpha), (wrong[0], "non-target", "+inf", beta)):
        if rows.any() and math.isinf(_limit(own, alpha + beta)):
            raise TrialError(
                f"scores: {rows.sum()} {name} trials score {sign}, the first ",
                int(np.argmax(rows)),
                ": their cost is infinite at any scale and offset. Give them finite scores, or leave them out.",
            )
    non, tar = (amount(rows, trials.weights) for rows in wrong)
    left = trials.take(verdict == 0)
    return left, Amounts(total, (non, tar), _counts(left.is_target))


def _limit(own: float, both: float) -> float:
    """Return the cost of certainty of the wrong class."""
    return (both - 1.0) / (own - 1.0) if own > 1.0 else math.inf


def _counts(is_target: BoolArray) -> tuple[int, int]:
    n_tar = int(np.count_nonzero(is_target))
    return len(is_target) - n_tar, n_tar


def _verdict(trials: TrainingTrials) -> FloatArray | None:
    """Return the decision of infinite scores for each trial: +1, -1 or 0; None if there are no infinite scores."""
    verdict = None
    if trials.base is None and trials.reach < math.inf:
        return None
    for k, column in enumerate(trials.columns if trials.base is None else (*trials.columns, trials.base)):
        if all(all_finite(np.asarray(column[i : i + _FEW])) for i in range(0, len(trials), _FEW)):
            continue
        values = np.asarray(column[:])
        own = np.where(np.isinf(values), np.sign(values), 0.0)
        if verdict is None:
            verdict = own
            continue
        if (against := np.flatnonzero(verdict * own < 0)).size:
            raise TrialError(
                f"scores: systems contradict each other with infinite scores in {len(against)} trials, the first ",
                int(against[0]),
                f" (system {k}). Give them finite scores.",
            )
        verdict = np.where(verdict == 0, own, verdict)
    return verdict
