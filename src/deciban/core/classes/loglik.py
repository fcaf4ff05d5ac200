"""Log-likelihoods of many classes, block by block: shifted, averaged over groups, compared, turned into posteriors.

A block is class-major, ``(n_classes, n_trials)``, and *relative*: each trial is shifted so that its best class has 0.
Only differences between classes mean anything, so nothing is lost, and nothing overflows.

Infinite log-likelihoods stand for the limit: a class with ``-inf`` is excluded, a class with ``+inf`` excludes all that
have less, and equal infinities are equal. Where only excluded classes are left to compare, none is preferred.

``ratio`` is a prior divided by its greatest entry: a flat one is exactly 1 for all classes. Sums of likelihoods are
divided by sums of ``ratio`` in the same order, so that classes that are alike have a log-likelihood ratio of exactly 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from deciban.types import FloatArray, IntArray, ScoreArray

_BLOCK = 1 << 16
"""Numbers in a block: half a megabyte, so that all steps of a computation find it in cache."""

_WIDTH = 256
"""Trials of a block, at least, as far as it does not grow too much: a step class by class takes as long for fewer."""

_LARGEST_BLOCK = 1 << 18
"""Numbers of a block of many classes: two megabytes, which the caches that cores share still hold."""

_LARGEST = float(np.finfo(np.float64).max)


def row_blocks(n_trials: int, n_classes: int) -> Iterator[slice]:
    """Consecutive trials whose log-likelihoods fit in a block."""
    step = max(_BLOCK // n_classes, min(_WIDTH, _LARGEST_BLOCK // n_classes), 1)
    for start in range(0, n_trials, step):
        yield slice(start, min(start + step, n_trials))


def class_major(loglik: ScoreArray, rows: slice | IntArray, columns: IntArray | None = None) -> FloatArray:
    """Return a block of these trials and classes as it is, as a copy in float64."""
    part = loglik[rows] if columns is None else loglik[rows][:, columns]
    return np.array(part.T, dtype=np.float64, order="C")


def relative(loglik: ScoreArray, rows: slice | IntArray, columns: IntArray | None = None) -> FloatArray:
    """Return a relative block of these trials and classes."""
    return shifted(class_major(loglik, rows, columns))


def shifted(block: FloatArray) -> FloatArray:
    """Make a block relative, in place."""
    top = block.max(axis=0)
    infinite = np.flatnonzero(np.isinf(top))
    if len(infinite):
        block[:, infinite] = np.where(block[:, infinite] == top[infinite], 0.0, -np.inf)
        top[infinite] = 0.0
    with np.errstate(over="ignore"):
        block -= top
    return block


def are_alike(loglik: ScoreArray) -> bool:
    """Whether all trials have the same log-likelihoods, up to what may be added to all classes of a trial.

    Differences that the rounding of such an addition makes do not count.
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
    """How far rounding may move a difference of two classes of each trial."""
    size = np.abs(class_major(loglik, rows))
    size[np.isinf(size)] = 0.0
    return np.asarray(4.0 * np.finfo(loglik.dtype).eps * size.max(axis=0))


def prior_ratio(prior: FloatArray) -> FloatArray:
    """A prior divided by its greatest entry."""
    return np.asarray(prior / prior.max())


def log_mean_exp(block: FloatArray, ratio: FloatArray, members: Sequence[int] | IntArray) -> FloatArray:
    """Log of the prior-weighted mean likelihood of some classes, (n_trials,) (paper 001 section 2.2).

    Of a single class it is its log-likelihood, unchanged. The block need not be relative: where a class has ``+inf``
    the mean has, where all are excluded it is ``-inf``.
    """
    top: FloatArray = block[members].max(axis=0)
    if len(members) == 1:
        return top
    reference = np.clip(top, -_LARGEST, _LARGEST)  # inf less inf is not a number
    with np.errstate(under="ignore", divide="ignore", over="ignore"):
        share = ratio[members][:, None]
        likelihood = block[members] - reference
        np.exp(likelihood, out=likelihood)
        likelihood *= share
        top += np.log(_sum(likelihood)) - np.log(_sum(share))
    return top


def group_logliks(block: FloatArray, ratio: FloatArray, groups: Sequence[IntArray]) -> FloatArray:
    """`log_mean_exp` of every group, (n_groups, n_trials), from a block that is not relative.

    Where several groups have ``+inf`` only shares of them tell the groups apart, and trials are shifted to show these.
    """
    found = np.array([log_mean_exp(block, ratio, members) for members in groups])
    several = np.flatnonzero(np.count_nonzero(found == np.inf, axis=0) > 1)
    if len(several):
        part = shifted(block[:, several])
        found[:, several] = [log_mean_exp(part, ratio, members) for members in groups]
    return found


def detection_llr(block: FloatArray, ratio: FloatArray, target: int) -> FloatArray:
    """Log-likelihood ratio of one class against the rest, (n_trials,) (paper 001 eq. 9).

    For two classes it is the difference of their log-likelihoods, to the last digit.
    """
    others = [k for k in range(len(block)) if k != target]
    return difference(block[target], log_mean_exp(block, ratio, others))


def detection_llrs(block: FloatArray, ratio: FloatArray) -> FloatArray:
    """`detection_llr` of every class, (n_classes, n_trials), for the price of about two."""
    with np.errstate(under="ignore", divide="ignore", over="ignore", invalid="ignore"):
        rest = np.log(_leave_one_out(ratio[:, None]))
        likelihood = np.exp(block)
        likelihood *= ratio[:, None]
        llr = _leave_one_out(likelihood)
        np.log(llr, out=llr)
        llr -= rest
        np.subtract(block, llr, out=llr)
        # Rivals of the best class may all underflow when compared with it: they are compared with the second.
        second = _second(block)
        sole = (block == 0.0) & (second < 0.0)
        reference = np.maximum(second, -_LARGEST)
        behind = np.subtract(block, reference, out=likelihood)
        behind[sole] = -np.inf
        np.exp(behind, out=behind)
        behind *= ratio[:, None]
        rivals = _sum(behind)
        np.copyto(llr, -second - (np.log(rivals) - rest), where=sole)
        return llr


def critical_priors(block: FloatArray, p_out_of_set: float) -> FloatArray:
    """The least target prior at which Bayes decisions accept each class but the last, (n_classes - 1, n_trials).

    The last class is out of set and has this prior, the other non-targets share what is left evenly. From a relative
    block; above ``1 - p_out_of_set``, where no target prior is, if the class is never accepted.
    """
    with np.errstate(under="ignore", divide="ignore", over="ignore"):
        likelihood = np.exp(block)
        others = _leave_one_out(likelihood[:-1])
        others /= len(others) - 1
        critical: FloatArray = (1.0 - p_out_of_set) * others
        critical += p_out_of_set * likelihood[-1]
        others += likelihood[:-1]
        critical /= others
    return critical


def difference(one: FloatArray, other: FloatArray) -> FloatArray:
    """``one - other`` where equal infinities are equal: their difference is 0."""
    with np.errstate(invalid="ignore", over="ignore"):
        llr: FloatArray = one - other
    llr[(one == other) & np.isinf(one)] = 0.0
    return llr


def posterior(block: FloatArray, ratio: FloatArray) -> FloatArray:
    """Posterior probabilities, (n_classes, n_trials), from a relative block."""
    with np.errstate(under="ignore"):
        likelihood = np.exp(block)
        likelihood *= ratio[:, None]
        likelihood /= _sum(likelihood)
    return likelihood


def quadratic_cost(block: FloatArray, ratio: FloatArray, target: int) -> FloatArray:
    """The quadratic rule ``1 - 2 q_t + sum q_j^2`` for trials of class ``target`` (paper 001 eq. 13).

    As ``(1 - q_t)^2`` plus the squares of the others, which loses no digits.
    """
    q = posterior(block, ratio)
    q[target] = 0.0
    with np.errstate(under="ignore"):
        cost: FloatArray = _sum(q) ** 2 + _sum(q * q)
    return cost


def _sum(terms: FloatArray) -> FloatArray:
    """Sum of rows (n_rows, n) from the first to the last, whatever the shape.

    So numpy adds rows that lie one after the other, but for those of one number: there its order depends on how many.
    """
    if terms.shape[1] == 1:
        return np.asarray(np.add.accumulate(terms, axis=0)[-1])
    return np.asarray(np.add.reduce(np.ascontiguousarray(terms), axis=0))


def _leave_one_out(terms: FloatArray) -> FloatArray:
    """For every row the sum of all others; as there is no subtraction, small sums keep their digits."""
    sums = np.empty_like(terms)
    below, above = np.zeros((2, terms.shape[1]))
    for k, term in enumerate(terms):
        sums[k] = below
        below += term
    for k in range(len(terms) - 1, -1, -1):
        sums[k] += above
        above += terms[k]
    return sums


def _second(block: FloatArray) -> FloatArray:
    """The second greatest number of every column, which is the greatest if that occurs twice."""
    best = block.max(axis=0)
    is_best = block == best
    second: FloatArray = np.max(block, axis=0, where=~is_best, initial=-np.inf)
    return np.where(np.count_nonzero(is_best, axis=0) > 1, best, second)
