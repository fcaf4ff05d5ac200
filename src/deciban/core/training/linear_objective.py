"""The objective of calibration and fusion: the expected cost of a linear combination of scores, with derivatives.

With ``x = tau + offset + sum_k a_k s_k`` for the scores ``s_k`` of a trial and ``tau`` the prior log odds, it is
``p mean_tar C(x | tar) + (1 - p) mean_non C(x | non)`` for a rule of the beta family (Bruemmer & Doddington 2013 eqs.
3 and 16, BOSARIS paper eq. 30), and optionally half the penalty times the squares of the parameters.

One pass over the trials gives value, gradient and Hessian. It goes through blocks whose temporaries are small and makes
no copy of the scores.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np

from deciban.core.resampling.units import TrialUnits
from deciban.core.rules.proper import Terms, beta_cost_non, kernel, slope_kernel
from deciban.core.training.sums import Ends, F, Sums, SumsUpTo
from deciban.core.training.trust_region import SIZE, SUSPICIOUS, Derivatives
from deciban.types import AnyArray, BoolArray, FloatArray, IntArray, ScoreArray

_OFF_CENTER = 10.0
"""Centers beyond this many widths would cancel digits of sums that are standardized afterwards."""

_UNTHREADED = 1 << 13
"""Length of vectors whose product no BLAS spreads over threads."""

_MAGNITUDES = (1e-15, 1e15)
"""Widths whose squares, and those of the scores, float32 can hold in comfort."""


def dot(left: AnyArray, right: AnyArray) -> float:
    """Sum of the products of two long vectors, on one thread.

    A BLAS spreads long vectors over threads, which have to wait for each other. Where other work keeps the cores busy,
    that takes a thousand times as long as the sum.

    Examples
    --------
    >>> dot(np.arange(20_000.0), np.full(20_000, 0.5))
    99995000.0
    """
    n = len(left) // _UNTHREADED * _UNTHREADED
    total = float(left[n:] @ right[n:])
    if n:
        total += float(np.vecdot(left[:n].reshape(-1, _UNTHREADED), right[:n].reshape(-1, _UNTHREADED)).sum())
    return total


_LENGTH_PART = 1 << 13
"""Numbers whose length together bounds each of them; too few for a BLAS to spread them over threads."""


@np.errstate(over="ignore", invalid="ignore")
def length_bound(array: object) -> float:
    """A bound of the size of all numbers: the length of some thousand of them together, which is quickly found.

    Infinite if one is infinite or NaN, or where they do not lie together in memory.
    """
    if not isinstance(array, np.ndarray) or array.dtype.kind != "f" or not array.flags.forc or not array.size:
        return np.inf
    flat = array.ravel(order="K")
    square = float(
        np.max([flat[i : i + _LENGTH_PART] @ flat[i : i + _LENGTH_PART] for i in range(0, len(flat), _LENGTH_PART)])
    )
    lost = _LENGTH_PART * float(np.finfo(array.dtype).tiny)  # squares that are too small for a float
    return math.sqrt(square + lost) if math.isfinite(square) else math.inf


@dataclass(frozen=True, slots=True, eq=False)
class FeatureBlock:
    """Standardized columns of a block of trials, the last one of ones if there is an offset."""

    features: AnyArray

    def combined(self, parameters: AnyArray) -> AnyArray:
        """Weighted sum of the features of each trial."""
        return parameters @ self.features

    def sums(self, factor: AnyArray) -> AnyArray:
        """Sums over trials of a factor times each feature."""
        return self.features @ factor

    def products(self, factor: AnyArray) -> AnyArray:
        """Sums over trials of a factor times the product of each pair of features, as a vector."""
        weighted = self.features * factor
        if len(weighted) <= 2:  # one by one is faster than a thin matrix product
            product = dot if len(factor) >= _UNTHREADED else np.dot
            return np.array([product(left, right) for left in weighted for right in self.features])
        products: AnyArray = weighted @ self.features.T
        return products.ravel()


@dataclass(frozen=True, slots=True, eq=False)
class ColumnBlock:
    """The scores of one system, with what standardizes them; there is an offset."""

    column: AnyArray
    center: float
    width: float

    def combined(self, parameters: AnyArray) -> AnyArray:
        """As `FeatureBlock.combined`."""
        weight = float(parameters[0]) / self.width
        combined: AnyArray = self.column * self.column.dtype.type(weight)
        combined += self.column.dtype.type(float(parameters[1]) - weight * self.center)
        return combined

    def sums(self, factor: AnyArray) -> AnyArray:
        """As `FeatureBlock.sums`."""
        total = float(factor.sum())
        return np.array([(dot(factor, self.column) - self.center * total) / self.width, total])

    def products(self, factor: AnyArray) -> AnyArray:
        """As `FeatureBlock.products`."""
        weighted = factor * self.column
        total, first = float(factor.sum()), float(weighted.sum())
        second = dot(weighted, self.column)
        inside = (second - 2.0 * self.center * first + self.center**2 * total) / self.width**2
        border = (first - self.center * total) / self.width
        return np.array([inside, border, border, total])


@dataclass(frozen=True, slots=True, eq=False)
class MatrixBlock:
    """Rows of a matrix of scores, with what standardizes them; there is an offset."""

    rows: AnyArray
    center: FloatArray
    width: FloatArray

    def combined(self, parameters: AnyArray) -> AnyArray:
        """As `FeatureBlock.combined`."""
        weights = parameters[:-1] / self.width
        combined: AnyArray = self.rows @ weights.astype(self.rows.dtype)
        combined += self.rows.dtype.type(parameters[-1] - weights @ self.center)
        return combined

    def sums(self, factor: AnyArray) -> AnyArray:
        """As `FeatureBlock.sums`."""
        sums = np.empty(len(self.center) + 1)
        sums[-1] = total = factor.sum()
        sums[:-1] = (factor @ self.rows - self.center * total) / self.width
        return sums

    def products(self, factor: AnyArray) -> AnyArray:
        """As `FeatureBlock.products`."""
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
    """Whether sums that are standardized afterwards keep their digits."""
    finite = np.isfinite(width)
    near = np.all(np.abs(center[finite]) <= _OFF_CENTER * width[finite])
    return bool(near and np.all((width[finite] > _MAGNITUDES[0]) & (width[finite] < _MAGNITUDES[1])))


Block = FeatureBlock | ColumnBlock | MatrixBlock


class Column(Protocol):
    """The scores of one system, or anything else with one number per trial that comes in slices."""

    def __getitem__(self, rows: Any, /) -> Any:
        """The numbers of some trials."""


@dataclass(frozen=True, eq=False)
class Trials:
    """Trials to train on.

    Attributes
    ----------
    columns : tuple of (n_trials,) arrays
        One for each parameter but the offset; finite.
    is_target : (n_trials,) bool array
    class_weights : (float, float)
        What a non-target and a target trial of weight 1 contribute: ``(1-p) / n_non`` and ``p / n_tar``.
    weights : (n_trials,) array, optional
        Weight of each trial.
    base : (n_trials,) array, optional
        What is added to the llr as it is.
    matrix : (n_trials, n_columns) array, optional
        All columns, if the rows lie together in memory.
    reach : float
        No score is farther from 0; infinite if that is not known.
    numbers : (n_trials,) int array, optional
        Positions of these trials among those that units are of; None if they are the same.
    """

    columns: tuple[Column, ...]
    is_target: BoolArray
    class_weights: tuple[float, float]
    weights: FloatArray | None = None
    base: Column | None = None
    matrix: ScoreArray | None = None
    reach: float = np.inf
    numbers: IntArray | None = None

    @classmethod
    def of(
        cls,
        columns: Sequence[Column] | ScoreArray,
        is_target: BoolArray,
        *,
        weights: FloatArray | None = None,
        base: Column | None = None,
        reach: float = np.inf,
    ) -> Trials:
        """Trials from columns, or from a matrix of them; without class weights yet."""
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
        """How many columns there are."""
        return len(self.columns)

    @property
    def truth(self) -> BoolArray:
        """The class of each trial."""
        return self.is_target

    def joined(self, other: Trials) -> Trials:
        """These and others, with the same class weights."""

        def both(a: Any, b: Any) -> Any:
            return None if a is None else np.concatenate((a[:], b[:]))

        columns = tuple(map(both, self.columns, other.columns))
        rest = {name: both(getattr(self, name), getattr(other, name)) for name in ("is_target", "weights", "base")}
        return replace(self, columns=columns, matrix=None, **rest)

    @property
    def size(self) -> int:
        """How many there are: what decides on the way of a search."""
        return len(self)

    @property
    def kinds(self) -> tuple[Any, ...]:
        """The type of the numbers of each column."""
        return tuple(np.asarray(column[:1]).dtype for column in self.columns)

    @property
    def has_base(self) -> bool:
        """Whether something is added to the llr as it is."""
        return self.base is not None

    def infinite_columns(self) -> list[bool]:
        """Which columns have infinite scores in trials that count."""
        if self.reach < np.inf:
            return [False] * self.n_columns
        counting: Any = True if self.weights is None else self.weights > 0.0
        return [bool((np.isinf(np.asarray(column[:])) & counting).any()) for column in self.columns]

    def each(self, look: Callable[[Trials], F]) -> F:
        """What a look at all of them finds; it can be sent to where trials are that do not fit in memory."""
        return look(self)

    def each_by_unit(self, look: Callable[[Trials, TrialUnits], F], units: TrialUnits) -> F:
        """What a look at all of them with their units finds."""
        return look(self, units if self.numbers is None else units.take(self.numbers))

    @property
    def amounts(self) -> tuple[float, float]:
        """How much non-targets and targets count, without class weights."""
        return amount(~self.is_target, self.weights), amount(self.is_target, self.weights)

    def stand_ins(self, few: Trials) -> FloatArray:
        """For how many of these trials each of a sample of them stands."""
        non, tar = (drawn / own for drawn, own in zip(few.class_weights, self.class_weights, strict=True))
        return np.where(few.is_target, tar, non)

    def take(self, rows: IntArray | BoolArray | slice) -> Trials:
        """Some of the trials, with the same class weights."""
        matrix = None if self.matrix is None else self.matrix[rows]
        return replace(
            self,
            columns=tuple(np.asarray(column[rows]) for column in self.columns) if matrix is None else tuple(matrix.T),
            is_target=self.is_target[rows],
            weights=None if self.weights is None else self.weights[rows],
            base=None if self.base is None else np.asarray(self.base[rows]),
            matrix=matrix,
        )


NO_TRIALS = Trials((), np.zeros(0, np.bool_), (0.0, 0.0))
"""In place of trials that are elsewhere."""


def amount(rows: BoolArray, weights: FloatArray | None) -> float:
    """How much some of the trials count."""
    return float(np.count_nonzero(rows)) if weights is None else float(weights[rows].sum())


_BYTES = (4.0, 3.0)
"""Temporary memory per trial that a block may take, with one column and with several."""


_SIZES = (32_000, 400_000)
"""Least and largest number of bytes in a column of a block: small ones make many calls, large ones leave the cache."""


_MATRIX_BYTES = 1_000_000
"""Number of bytes in the scores of a block, from which on their products leave the cache."""


_OWN_COLUMNS = 7
"""Temporary numbers of each trial besides its scores: log odds, cost, derivatives, weight and so on."""


_MANY = 1 << 15
"""Trials from which on it pays to standardize sums instead of scores, which costs a digit or two."""


_RARE = 7.0
"""Size of the prior log odds from which on costs next to 0 are computed with all their digits."""


_LARGEST = 1e150
"""Parameters beyond this are out of bounds: log odds could not be told from infinite ones."""


_SHORT = ((1.0, 1.0), (2.0, 1.0))
"""Rules whose fast costs are good to 1e-16 of 1, which is too little where all costs are as small as the prior."""


_FACTORS = {np.dtype(np.float64): 512, np.dtype(np.float32): 100}
"""How many factors between 1/2 and 1 have a product that is above 0 for certain."""


@dataclass(frozen=True, eq=False)
class LinearObjective:
    """A function of standardized parameters: one weight per column, then the offset if there is one.

    Attributes
    ----------
    trials : Trials or TrialsInParts
    center, width : (n_columns,) arrays
        A column enters as ``(s - center) / width``.
    intercept : bool
        Whether there is an offset.
    alpha, beta, log_odds : float
        The rule, and the prior.
    penalty : (n_parameters,) array
        Half of it times the square of each parameter is added to the value.
    constant : float
        Cost of trials that no parameter can change.
    dtype : type
        Float64, or float32 for a rough look at less than half the price.
    """

    trials: Trials
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
    def n_parameters(self) -> int:
        """Number of weights, and one for the offset."""
        return len(self.center) + self.intercept

    @property
    def is_convex(self) -> bool:
        """Whether the rule is, so that there is one minimum at most."""
        return max(self.alpha, self.beta) <= 1.0

    @property
    def value_at_zero(self) -> float:
        """The value of weights 0, which no minimum exceeds; infinite where it is not known to be 1."""
        return 1.0 + self.constant if self.is_convex and not self.trials.has_base else np.inf

    def is_apart(self, at: Derivatives) -> bool:
        """Whether no trial is on the wrong side at a point, which proves that its weights may grow forever.

        It proves nothing where something else than weights and offset has a share in it.
        """
        moves_all = self.intercept or self.log_odds == 0.0
        return at.worst < 0.0 and moves_all and len(self.center) > 0 and not self.trials.has_base

    def has_no_minimum(self, _point: FloatArray, at: Derivatives) -> bool:
        """Whether a point proves that there is none: without penalty nothing keeps the weights finite then."""
        return not self.penalty.any() and self.is_apart(at)

    def largest_move(self, parameters: FloatArray, step: FloatArray) -> float:
        """How far a step moves the log odds of a trial, at most, relative to their size; or a bound that is low."""
        n = len(self.center)
        with np.errstate(all="ignore"):
            farthest = (self.trials.reach + np.abs(self.center)) / self.width
            bound = float(np.abs(step[:n]) @ farthest + np.abs(step[n:]).sum())
        if bound <= SUSPICIOUS:
            return bound
        return float(self.trials.each(partial(_moved, self.form, parameters, step)).high)

    def __call__(self, parameters: FloatArray, /, hessian: FloatArray | None = None) -> Derivatives:
        """Value and gradient at a point, and the Hessian if none is given.

        ``worst`` is the largest signed log odds of a trial, negative if none is on the wrong side.
        ``overlap`` is how far the highest non-target lies above the lowest target.
        """
        n, known = self.n_parameters, hessian
        if not np.all(np.abs(parameters) < _LARGEST):
            return Derivatives(np.inf, np.full(n, np.nan), np.full((n, n), np.nan))
        look = partial(_terms, self.form, self._point(parameters), known is None)
        found = self.trials.each(look)
        total = found.sums.total
        value, gradient, products = total[0], total[1 : n + 1], total[n + 1 :]
        if known is None:
            own = products.reshape(n, n)
            known = 0.5 * (own + own.T) + np.diag(self.penalty)
        value += 0.5 * self.penalty @ parameters**2 + self.constant
        return Derivatives(
            float(value),
            gradient + self.penalty * parameters,
            known,
            float(found.largest.high.max()),
            float(found.largest.high.sum()),
        )

    @property
    def form(self) -> LinearObjective:
        """The same without the trials: what is sent to where they are."""
        return replace(self, trials=NO_TRIALS)

    def _point(self, parameters: FloatArray) -> AnyArray:
        """The parameters of the log odds: an offset takes in the prior."""
        point = parameters.copy()
        if self.intercept:
            point[-1] += self.log_odds
        return point.astype(self.dtype)

    def blocks(self, *, with_hessian: bool = False, share: float = 1.0) -> list[slice]:
        """All trials, cut into pieces whose temporaries are small, with a share of the temporary memory."""
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
        """How much each trial of a block pulls at its log odds, its weight times the slope; and the scores."""
        with np.errstate(all="ignore"):
            block = self.scores(rows)
            places, non, tar = self.log_odds_of(block.combined(self._point(parameters)), rows)
            own = None if self.trials.weights is None else self.trials.weights[rows]
            of_non, of_tar = slope_kernel(self.alpha, self.beta)(non), slope_kernel(self.beta, self.alpha)(tar)
            return self.joined(of_non, of_tar, places, own), block

    def log_odds_of(self, z: AnyArray, rows: slice) -> tuple[IntArray, AnyArray, AnyArray]:
        """From combined scores the places of targets, log odds (-inf at targets), and those of targets, negated.

        The cost of a target at x is that of a non-target at -x, with the parameters of the rule exchanged; and a
        non-target at -inf costs nothing. Targets are fewer mostly, so all are treated as non-targets at first.
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
        """Cost of the trials of a class, which ``own`` weights each have."""
        cost = float(terms.linear.sum()) if own is None else dot(own, terms.linear)
        factor = terms.factor
        if factor is not None and own is not None:
            cost -= dot(own, np.log(factor))
        elif factor is not None and len(factor):  # in [1/2, 1]: many logarithms at a time as that of the product
            parts = np.multiply.reduceat(factor, np.arange(0, len(factor), _FACTORS[factor.dtype]))
            cost -= float(np.log(parts).sum())
        return self.trials.class_weights[kind] * cost

    def joined(self, non: AnyArray, tar: AnyArray, places: IntArray, own: FloatArray | None) -> AnyArray:
        """Weighted terms of all trials of a block, which overwrite those of non-targets."""
        weights = self.trials.class_weights
        non *= self.dtype(weights[0])
        tar *= self.dtype(weights[1])
        non[places] = tar
        if own is not None:
            non *= own
        return non

    @cached_property
    def suits_rows(self) -> bool:
        """Whether scores may be used as they are, even as float32."""
        is_one = len(self.trials.columns) == 1 or self.trials.matrix is not None
        is_worth_it = len(self.trials.is_target) >= _MANY or self.dtype is np.float32
        return is_one and is_worth_it and self.intercept and suits_raw_block(self.center, self.width)

    def scores(self, rows: slice) -> Block:
        """The standardized scores of a block of trials."""
        if self.suits_rows and len(self.trials.columns) == 1:
            own: AnyArray = np.asarray(self.trials.columns[0][rows]).astype(self.dtype, copy=False)
            return ColumnBlock(own, float(self.center[0]), float(self.width[0]))
        if self.suits_rows and self.trials.matrix is not None:
            return MatrixBlock(self.trials.matrix[rows].astype(self.dtype, copy=False), self.center, self.width)
        features: AnyArray = np.empty((len(self.center) + self.intercept, len(self.trials.is_target[rows])), self.dtype)
        for k, column in enumerate(self.trials.columns):
            standardized = np.subtract(column[rows], self.center[k], dtype=np.float64)
            standardized /= self.width[k]
            features[k] = standardized  # cast last: what is standardized fits float32, the scores may not
        if self.intercept:
            features[-1] = 1.0
        return FeatureBlock(features)


def _moved(form: LinearObjective, point: FloatArray, step: FloatArray, trials: Trials) -> Ends:
    """Find how far a step moves log odds, at most, relative to their size."""
    level, largest = replace(form, trials=trials), 0.0
    with np.errstate(all="ignore"):
        for rows in level.blocks():
            block = level.scores(rows)
            size = 1.0 + SIZE * np.abs(block.combined(point) + level.log_odds)
            largest = np.fmax.reduce(np.abs(block.combined(step)) / size, initial=largest)
    return Ends.up_to(largest)


def _terms(form: LinearObjective, point: AnyArray, with_hessian: bool, trials: Trials) -> SumsUpTo:  # noqa: FBT001
    """The largest signed log odds of both classes; value, gradient and Hessian, without penalty and constant."""
    level, order, found = replace(form, trials=trials), 2 if with_hessian else 1, []
    rule, reverse, is_rare = (form.alpha, form.beta), (form.beta, form.alpha), abs(form.log_odds) > _RARE
    for rows in level.blocks(with_hessian=with_hessian):
        with np.errstate(all="ignore"):
            block = level.scores(rows)
            places, non, tar = level.log_odds_of(block.combined(point), rows)
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
            found.append(np.concatenate(([*worst, value], block.sums(pull), products)))
    of_blocks = np.array(found)
    with np.errstate(invalid="ignore", over="ignore"):  # what is infinite then is out of bounds
        return SumsUpTo(Sums.of(of_blocks[:, 2:].sum(axis=0)), Ends.up_to(of_blocks[:, :2].max(axis=0)))
