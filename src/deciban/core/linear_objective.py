"""The objective of calibration and fusion: the expected cost of a linear combination of scores, with derivatives.

With ``x = tau + offset + sum_k a_k s_k`` for the scores ``s_k`` of a trial and ``tau`` the prior log odds, it is
``p mean_tar C(x | tar) + (1 - p) mean_non C(x | non)`` for a rule of the beta family (Bruemmer & Doddington 2013 eqs.
3 and 16, BOSARIS paper eq. 30), and optionally half the penalty times the squares of the parameters.

One pass over the trials gives value, gradient and Hessian. It goes through blocks whose temporaries are small and makes
no copy of the scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from deciban.core.blocks import ColumnBlock, FeatureBlock, MatrixBlock, suits_raw_block
from deciban.core.proper import beta_cost_non
from deciban.core.rule_kernels import Terms, kernel
from deciban.core.trust_region import Derivatives
from deciban.types import AnyArray, BoolArray, FloatArray, IntArray, ScoreArray

_BYTES = (4, 2)
"""Temporary memory per trial that a block may take, with one column and with several."""

_SIZES = (32_000, 400_000)
"""Least and largest number of bytes in a column of a block: small ones make many calls, large ones leave the cache."""

_MANY = 1 << 15
"""Trials from which on it pays to standardize sums instead of scores, which costs a digit or two."""

_RARE = 7.0
"""Size of the prior log odds from which on costs next to 0 are computed with all their digits."""

_LARGEST = 1e150
"""Parameters beyond this are out of bounds: log odds could not be told from infinite ones."""

_SHORT = ((1.0, 1.0), (2.0, 1.0))
"""Rules whose fast costs are good to 1e-16 of 1, which is too little where all costs are as small as the prior."""

_FACTORS = {np.dtype(np.float64): 512, np.dtype(np.float32): 100}
"""How many factors between 1 and 2 have a product that is finite for certain."""


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
    """

    columns: tuple[Column, ...]
    is_target: BoolArray
    class_weights: tuple[float, float]
    weights: FloatArray | None = None
    base: Column | None = None
    matrix: ScoreArray | None = None

    @classmethod
    def of(
        cls,
        columns: Sequence[Column] | ScoreArray,
        is_target: BoolArray,
        *,
        weights: FloatArray | None = None,
        base: Column | None = None,
    ) -> Trials:
        """Trials from columns, or from a matrix of them; without class weights yet."""
        matrix = None
        if isinstance(columns, np.ndarray):
            matrix = columns if columns.flags.c_contiguous and columns.shape[1] > 1 else None
            columns = tuple(columns.T)
        return cls(tuple(columns), is_target, (0.0, 0.0), weights, base, matrix)

    def __len__(self) -> int:
        return len(self.is_target)

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


@dataclass(frozen=True, eq=False)
class LinearObjective:
    """A function of standardized parameters: one weight per column, then the offset if there is one.

    Attributes
    ----------
    trials : Trials
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
    worst : list of one float
        The largest signed log odds at the last point, negative if no trial is on the wrong side.
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
    worst: list[float] = field(default_factory=lambda: [np.inf], repr=False)

    @property
    def n_parameters(self) -> int:
        """Number of weights, and one for the offset."""
        return len(self.center) + self.intercept

    def __call__(self, parameters: FloatArray, /, hessian: FloatArray | None = None) -> Derivatives:
        """Value and gradient at a point, and the Hessian if none is given."""
        n, known = self.n_parameters, hessian
        if not np.all(np.abs(parameters) < _LARGEST):
            return Derivatives(np.inf, np.full(n, np.nan), np.full((n, n), np.nan))
        budget = _BYTES[len(self.center) > 1] * len(self.trials)
        size = int(np.clip(budget // (2 * n + 12), *_SIZES)) // np.dtype(self.dtype).itemsize
        blocks = [slice(i, i + size) for i in range(0, len(self.trials), size)]
        point: AnyArray = parameters.astype(self.dtype)
        rows = np.array([self._block(point, block, known is None) for block in blocks])
        total = rows[:, 1:].sum(axis=0)
        self.worst[0] = float(rows[:, 0].max())
        value, gradient, products = total[0], total[1 : n + 1], total[n + 1 :]
        if known is None:
            own = products.reshape(n, n)
            known = 0.5 * (own + own.T) + np.diag(self.penalty)
        value += 0.5 * self.penalty @ parameters**2 + self.constant
        return Derivatives(float(value), gradient + self.penalty * parameters, known)

    def _block(self, parameters: FloatArray, rows: slice, with_hessian: bool) -> FloatArray:  # noqa: FBT001
        """The largest signed log odds of a block, and its share of value, gradient and Hessian."""
        trials, is_target = self.trials, self.trials.is_target[rows]
        with np.errstate(all="ignore"):
            block = self.scores(rows)
            z = block.combined(parameters)
            z += self.log_odds
            if trials.base is not None:
                z += trials.base[rows]
            sign: AnyArray = is_target.astype(self.dtype)
            sign *= -2.0
            sign += 1.0
            z *= sign  # the cost of a target at x is that of a non-target at -x, with the parameters exchanged
            non, tar = trials.class_weights
            weight: AnyArray = np.where(is_target, self.dtype(tar), self.dtype(non))
            if trials.weights is not None:
                weight *= trials.weights[rows]
            terms = self._terms(z, is_target)
            value = weight @ terms.linear
            if terms.product is not None:
                value += self._logarithms(terms.product, is_target, weight)
            curvature, slope = terms.curvature, terms.slope
            curvature *= weight
            weight *= sign
            slope *= weight
            products = block.products(curvature) if with_hessian else ()
            return np.concatenate(([z.max(), value], block.sums(slope), products))

    @cached_property
    def _suits_rows(self) -> bool:
        """Whether scores may be used as they are."""
        is_one = len(self.trials.columns) == 1 or self.trials.matrix is not None
        is_worth_it = len(self.trials) >= _MANY and self.intercept
        return is_one and is_worth_it and suits_raw_block(self.center, self.width)

    def scores(self, rows: slice) -> FeatureBlock | ColumnBlock | MatrixBlock:
        """The standardized scores of a block of trials."""
        if self._suits_rows and len(self.trials.columns) == 1:
            own: AnyArray = np.asarray(self.trials.columns[0][rows]).astype(self.dtype, copy=False)
            return ColumnBlock(own, float(self.center[0]), float(self.width[0]))
        if self._suits_rows and self.trials.matrix is not None:
            return MatrixBlock(self.trials.matrix[rows].astype(self.dtype, copy=False), self.center, self.width)
        features: AnyArray = np.empty((self.n_parameters, len(self.trials.is_target[rows])), self.dtype)
        for k, column in enumerate(self.trials.columns):
            np.subtract(column[rows], self.center[k], out=features[k], casting="same_kind")
            features[k] /= self.width[k]
        if self.intercept:
            features[-1] = 1.0
        return FeatureBlock(features)

    def _terms(self, z: FloatArray, is_target: BoolArray) -> Terms:
        """Cost and derivatives by ``z``; the classes have different ones unless the rule is symmetric."""
        if self.alpha == self.beta:
            terms = self._terms_of_non(z, self.alpha, self.beta)
            return terms if terms.slope.dtype == z.dtype else Terms(*(_cast(term, z.dtype) for term in terms))
        rows = np.flatnonzero(is_target), np.flatnonzero(~is_target)
        parts = (
            self._terms_of_non(z[rows[0]], self.beta, self.alpha),
            self._terms_of_non(z[rows[1]], self.alpha, self.beta),
        )

        def joined(name: str) -> FloatArray:
            values = np.empty_like(z)
            values[rows[0]], values[rows[1]] = (getattr(part, name) for part in parts)
            return values

        return Terms(joined("linear"), None, joined("slope"), joined("curvature"))

    def _terms_of_non(self, z: FloatArray, alpha: float, beta: float) -> Terms:
        """The same for trials of one class, with ``z`` as if they were non-targets."""
        terms = kernel(alpha, beta)(z)
        if abs(self.log_odds) > _RARE and (alpha, beta) in _SHORT:
            terms = terms._replace(linear=beta_cost_non(z, alpha, beta), product=None)
        return terms

    def _logarithms(self, product: FloatArray, is_target: BoolArray, weight: FloatArray) -> float:
        """Weighted sum of the logarithms of numbers in [1, 2]."""
        if self.trials.weights is not None:
            return float(weight @ np.log(product))
        non, tar = self.trials.class_weights
        return non * _sum_of_logs(product) + (tar - non) * _sum_of_logs(product[is_target])


def _cast(term: FloatArray | None, dtype: Any) -> Any:
    return None if term is None else term.astype(dtype)


def _sum_of_logs(values: FloatArray) -> float:
    """Sum of the logarithms of numbers in [1, 2], many at a time as that of their product."""
    if not len(values):
        return 0.0
    return float(np.log(np.multiply.reduceat(values, np.arange(0, len(values), _FACTORS[values.dtype]))).sum())
