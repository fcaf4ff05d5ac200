"""Log-likelihoods of several classes in batches: shifts, group means, comparisons, to posteriors and from them.

A block is class-major, ``(n_classes, n_trials)``. It is *relative* if each trial is shifted so that its best class has
0. Only differences between classes matter, so that nothing is lost, and nothing overflows.

Infinite log-likelihoods represent limits: a class with ``-inf`` is excluded, a class with ``+inf`` excludes all
classes with less, and equal infinities are equal. If all compared classes are excluded, none is preferred.

``ratio`` is a prior divided by its greatest entry; a flat prior is exactly 1 for all classes. Sums of likelihoods are
divided by sums of ``ratio`` in the same order. So classes with equal scores have a log-likelihood ratio of exactly 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.special import logit

from deciban.types import FloatArray, IntArray, ScoreArray

_BLOCK = 1 << 16
"""Numbers in a block: half a megabyte, so that it stays in cache during all steps of a computation."""

_WIDTH = 256
"""Minimum number of trials of a block, unless it grows too large. Fewer trials would take as long class by class."""

_LARGEST_BLOCK = 1 << 18
"""Limit of numbers in a block for a large number of classes: two megabytes, which fit in the cache that cores share."""

_LARGEST = float(np.finfo(np.float64).max)

_TINY = 1e-280
"""Likelihood relative to the largest that can have lost digits."""


def row_blocks(n_trials: int, n_classes: int) -> Iterator[slice]:
    """Yield slices of consecutive trials whose log-likelihoods fit in a block."""
    step = max(_BLOCK // n_classes, min(_WIDTH, _LARGEST_BLOCK // n_classes), 1)
    for start in range(0, n_trials, step):
        yield slice(start, min(start + step, n_trials))


def class_major(loglik: ScoreArray, rows: slice | IntArray, columns: IntArray | None = None) -> FloatArray:
    """Return a block of these trials and classes without a shift, as a copy in float64."""
    if isinstance(rows, slice) or not loglik.flags.forc:  # `take` would copy all of an array with gaps
        part = loglik[rows].T
    else:  # in half the time of indexing
        part = loglik.take(rows, axis=0).T if loglik.flags.c_contiguous else loglik.T.take(rows, axis=1)
    return np.array(part if columns is None else part[columns], dtype=np.float64, order="C")


def relative(loglik: ScoreArray, rows: slice | IntArray, columns: IntArray | None = None) -> FloatArray:
    """Return a relative block of these trials and classes."""
    return shifted(class_major(loglik, rows, columns))


def shifted(block: FloatArray) -> FloatArray:
    """Shift a block in place so that the best class of each trial has 0."""
    top = block.max(axis=0)
    infinite = np.flatnonzero(np.isinf(top))
    if len(infinite):
        block[:, infinite] = np.where(block[:, infinite] == top[infinite], 0.0, -np.inf)
        top[infinite] = 0.0
    with np.errstate(over="ignore"):
        block -= top
    return block


def are_alike(loglik: ScoreArray) -> bool:
    """Return True if all trials have the same log-likelihoods, up to a constant for each trial.

    Differences from the rounding of this addition are ignored.
    """
    first = relative(loglik, slice(0, 1))
    of_first = _rounding(loglik, slice(0, 1))
    for rows in row_blocks(*loglik.shape):
        rounding = np.maximum(_rounding(loglik, rows), of_first)
        block = relative(loglik, rows)
        with np.errstate(invalid="ignore", over="ignore"):
            same = (block == first) | (np.abs(block - first) <= rounding)
        if not same.all():
            return False
    return True


def _rounding(loglik: ScoreArray, rows: slice) -> FloatArray:
    """Return the largest rounding error of a difference between two classes of each trial."""
    size = np.abs(class_major(loglik, rows))
    size[np.isinf(size)] = 0.0
    return np.asarray(4.0 * np.finfo(loglik.dtype).eps * size.max(axis=0))


def prior_ratio(prior: FloatArray) -> FloatArray:
    """Return a prior divided by its greatest entry."""
    return np.asarray(prior / prior.max())


def log_mean_exp(block: FloatArray, ratio: FloatArray, members: Sequence[int] | IntArray) -> FloatArray:
    """Return the log of the prior-weighted mean likelihood of some classes, (n_trials,).

    For a single class, the result is its log-likelihood, unchanged. The block need not be relative. The result is
    ``+inf`` if a class has ``+inf``, and ``-inf`` if all classes are excluded.
    """
    top: FloatArray = block[members].max(axis=0)
    if len(members) == 1:
        return top
    reference = np.clip(top, -_LARGEST, _LARGEST)  # inf minus inf is NaN
    with np.errstate(under="ignore", divide="ignore", over="ignore"):
        share = ratio[members][:, None]
        likelihood = block[members] - reference
        np.exp(likelihood, out=likelihood)
        likelihood *= share
        top += np.log(_sum(likelihood)) - np.log(_sum(share))
    return top


def group_logliks(block: FloatArray, ratio: FloatArray, groups: Sequence[IntArray]) -> FloatArray:
    """Return `log_mean_exp` of every group, (n_groups, n_trials), from a block without shifts.

    If several groups have ``+inf``, they differ only in the share of classes with ``+inf``, and the result is shifted
    to show this difference.
    """
    values = np.array([log_mean_exp(block, ratio, members) for members in groups])
    several = np.flatnonzero(np.count_nonzero(values == np.inf, axis=0) > 1)
    if len(several):
        part = shifted(block[:, several])
        values[:, several] = [log_mean_exp(part, ratio, members) for members in groups]
    return values


def detection_llr(block: FloatArray, ratio: FloatArray, target: int) -> FloatArray:
    """Return the log-likelihood ratio of one class against the rest (Bruemmer and van Leeuwen 2006, eq. 9).

    For two classes, it is exactly the difference of their log-likelihoods.
    """
    others = [k for k in range(len(block)) if k != target]
    return difference(block[target], log_mean_exp(block, ratio, others))


def detection_llrs(block: FloatArray, ratio: FloatArray) -> FloatArray:
    """Return `detection_llr` of every class, (n_classes, n_trials), in about the time of two."""
    with np.errstate(under="ignore", divide="ignore", over="ignore", invalid="ignore"):
        rest = np.log(leave_one_out(ratio[:, None]))
        likelihood = np.exp(block)
        likelihood *= ratio[:, None]
        llr = leave_one_out(likelihood)
        np.log(llr, out=llr)
        llr -= rest
        np.subtract(block, llr, out=llr)
        # Relative to the best class all its rivals may underflow, so they are compared with the second.
        top, columns, behind = block.argmax(axis=0), np.arange(block.shape[1]), likelihood
        np.copyto(behind, block)
        behind[top, columns] = -np.inf
        second = behind.max(axis=0)
        behind -= np.maximum(second, -_LARGEST)
        np.exp(behind, out=behind)
        behind *= ratio[:, None]
        llr_of_top, sole = -second - (np.log(_sum(behind)) - rest[top, 0]), second < 0.0
        llr[top[sole], columns[sole]] = llr_of_top[sole]
        return llr


def critical_priors(block: FloatArray, p_out_of_set: float) -> FloatArray:
    """Return the least target prior at which Bayes decisions accept each in-set class, (n_classes - 1, n_trials).

    The block is relative. The last class is out of set and has prior ``p_out_of_set``; the other non-targets share the
    remaining prior equally. If a class is never accepted, the result is above ``1 - p_out_of_set``, the limit of
    target priors.
    """
    with np.errstate(under="ignore", divide="ignore", over="ignore"):
        likelihood = np.exp(block)
        others = leave_one_out(likelihood[:-1])
        others /= len(others) - 1
        critical: FloatArray = (1.0 - p_out_of_set) * others
        critical += p_out_of_set * likelihood[-1]
        others += likelihood[:-1]
        critical /= others
    return critical


def difference(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return ``one - other``; the difference of equal infinities is 0."""
    with np.errstate(invalid="ignore", over="ignore"):
        llr: FloatArray = one - other
    unknown = np.isnan(llr)
    if unknown.any():
        llr[unknown] = 0.0
    return llr


def posterior(block: FloatArray, ratio: FloatArray) -> FloatArray:
    """Return posterior probabilities, (n_classes, n_trials), from a relative block."""
    with np.errstate(under="ignore"):
        likelihood = np.exp(block)
        likelihood *= ratio[:, None]
        likelihood /= _sum(likelihood)
    return likelihood


def soft_costs(block: FloatArray, ratio: FloatArray, target: int) -> FloatArray:
    """Return the costs of trials of class ``target``, ``-ln q_t`` and ``1 - 2 q_t + sum q_j^2``.

    The block is relative. With ``r_j`` the likelihoods of the others over that of the class, the costs are ``ln(1 + sum
    r_j)``, and ``(1 - q_t)^2`` plus the squares of the other posteriors, which loses no digits.
    """
    with np.errstate(under="ignore", over="ignore", divide="ignore"):
        likelihood = np.exp(block)
        likelihood *= ratio[:, None]
        own = likelihood[target].copy()
        likelihood[target] = 0.0
        others = _sum(likelihood)
        total = others + own
        costs = np.stack((np.log1p(others / own), (others**2 + _sum(likelihood * likelihood)) / total**2))
        far = np.flatnonzero(own < _TINY)
        costs[0, far] = np.log(total[far]) - block[target, far] - np.log(ratio[target])
    return costs


def _sum(terms: FloatArray) -> FloatArray:
    """Sum the rows of a (n_rows, n) array from first to last, at any shape.

    numpy adds rows in this order unless n is 1; then its order depends on the number of rows.
    """
    if terms.shape[1] == 1:
        return np.asarray(np.add.accumulate(terms, axis=0)[-1])
    return np.asarray(np.add.reduce(np.ascontiguousarray(terms), axis=0))


def leave_one_out(terms: FloatArray) -> FloatArray:
    """Return, for every row, the sum of the other rows; without subtraction, small sums keep their digits."""
    sums = np.empty_like(terms)
    below, above = np.zeros((2, terms.shape[1]))
    for k, term in enumerate(terms):
        sums[k] = below
        below += term
    for k in range(len(terms) - 1, -1, -1):
        sums[k] += above
        above += terms[k]
    return sums


def llr_of_probability(probability: FloatArray, p_target: float) -> FloatArray:
    """Return ``logit(p) - logit(p_target)`` of checked probabilities; 0 and 1 become infinite at any prior."""
    result: FloatArray = logit(probability)
    result -= float(logit(p_target))
    return result


def loglik_of_posterior(posterior: FloatArray, prior: FloatArray) -> FloatArray:
    """Return ``ln p_i - ln prior_i`` of checked probabilities; no prior is 0, and probability 0 excludes a class."""
    with np.errstate(divide="ignore"):
        result: FloatArray = np.log(posterior)
    result -= np.log(prior)
    return result


def complements(posterior: FloatArray) -> FloatArray:
    """Return 1 minus each entry of rows that sum to 1, without cancellation near 1.

    Examples
    --------
    >>> complements(np.array([[1.0, 1e-20], [0.25, 0.75]]))
    array([[1.0e-20, 1.0e+00],
           [7.5e-01, 2.5e-01]])
    """
    return np.where(posterior > 0.5, sums_of_others(posterior), 1.0 - posterior)


def sums_of_others(values: FloatArray) -> FloatArray:
    """Return, for each entry, the sum of the other entries of its row, without cancellation; entries are at least 0.

    Examples
    --------
    >>> sums_of_others(np.array([[1.0, 2e-20]])).tolist()
    [[2e-20, 1.0]]
    """
    result = values.sum(axis=1, keepdims=True) - values
    rows, largest = np.arange(len(values)), values.argmax(axis=1)
    others = values.copy()
    others[rows, largest] = 0.0
    result[rows, largest] = others.sum(axis=1)
    return np.asarray(result, np.float64)
