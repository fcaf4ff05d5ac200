"""Misleading evidence: log-likelihood ratios that support the wrong hypothesis, and how strongly (Royall 1997)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban._validate.probabilities import tell_of_two
from deciban.core.ranks.thresholds import beyond, evidence_bounds
from deciban.errors import InputError
from deciban.metrics.scores import CountedScores
from deciban.types import FloatArray, Weights

FACTORS = (1.0, 10.0, 100.0, 1000.0)
"""Likelihood ratios beyond which evidence is counted if nothing is said: any, and three degrees of strength."""


@dataclass(frozen=True, slots=True)
class MisleadingEvidence:
    """Trials whose likelihood ratio favours the wrong hypothesis by more than a factor.

    Attributes
    ----------
    factor : float
        1 for any misleading evidence.
    n_tar, n_non : int or float
        Targets with a ratio below ``1 / factor``, non-targets with one above ``factor`` (sums of weights if trials are
        weighted).
    p_tar, p_non : float
        The same as fractions of the class.
    """

    factor: float
    n_tar: int | float
    n_non: int | float
    p_tar: float
    p_non: float


def misleading_evidence(
    tar: ArrayLike,
    non: ArrayLike,
    *,
    factors: ArrayLike = FACTORS,
    tar_weights: Weights = None,
    non_weights: Weights = None,
) -> tuple[MisleadingEvidence, ...]:
    """Rates of misleading evidence: how often, and how strongly, likelihood ratios favour the wrong hypothesis.

    Parameters
    ----------
    tar, non : (n_tar,) and (n_non,) array_like
        Log-likelihood ratios of target and non-target trials, in nats. Infinite values are legal.
    factors : array_like
        Likelihood ratios, at least 1: misleading is what exceeds them for the wrong hypothesis.
    tar_weights, non_weights : array_like, optional
        Weight of each trial, at least 0; whole numbers count like copies of the trial.

    Returns
    -------
    tuple of MisleadingEvidence
        One for each factor ``k``: ``P(llr < -ln k)`` of targets and ``P(llr > ln k)`` of non-targets, with counts. A
        ratio of exactly ``k`` or ``1 / k`` is not beyond it; llr 0 favours nobody.

    Raises
    ------
    InputError
        If a class is empty or holds NaN, or a factor is below 1.

    Warns
    -----
    DecibanWarning
        If 10 scores or more all lie in [0, 1]: these are no log-likelihood ratios, but perhaps probabilities, of which
        `deciban.decisions.llr_from_probability` makes some.

    Notes
    -----
    For likelihood ratios that are true, ``P(llr > ln k) <= 1 / k`` among non-targets, and likewise among targets
    (Royall, *Statistical Evidence: A Likelihood Paradigm*, 1997, section 1.4; "On the probability of observing
    misleading statistical evidence", JASA 95, 2000): more of it shows bad calibration.

    Examples
    --------
    >>> found = misleading_evidence([3.0, 0.0, -0.5, 4.0], [-2.0, 2.5, -1.0, 0.1])
    >>> [(one.factor, one.n_tar, one.n_non) for one in found[:3]]
    [(1.0, 1, 2), (10.0, 0, 1), (100.0, 0, 0)]
    """
    scores = CountedScores(tar, non, tar_weights=tar_weights, non_weights=non_weights)
    tell_of_two(tar, non)
    return misleading_of(scores, factors_of(factors))


def misleading_of(scores: CountedScores, factors: FloatArray) -> tuple[MisleadingEvidence, ...]:
    """Count in scores that were checked already; see `misleading_evidence`."""
    bounds = evidence_bounds(factors)
    errors = scores.error_counts(np.concatenate((-bounds, beyond(bounds))))
    n = len(bounds)
    columns = (factors, errors.n_miss[:n], errors.n_fa[n:], errors.p_miss[:n], errors.p_fa[n:])
    return tuple(MisleadingEvidence(*row) for row in zip(*(one.tolist() for one in columns), strict=True))


def factors_of(values: ArrayLike) -> FloatArray:
    """Return factors of evidence as an array.

    Raises
    ------
    InputError
        If there is none, or one is below 1.
    """
    factors = np.atleast_1d(_validate.finite(values, "factors"))
    if factors.ndim != 1 or not len(factors):
        raise InputError(f"factors: shape {factors.shape}. Give one likelihood ratio, or several in a list.")
    if factors.min() < 1.0:
        raise InputError(f"factors: got {factors.min():g}. A factor is a likelihood ratio of at least 1.")
    return factors
