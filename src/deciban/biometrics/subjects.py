"""Subjects with unusual scores: goats, lambs and wolves, with confidence intervals."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from deciban._validate import arrays as _validate
from deciban.biometrics.rates import subject_ids
from deciban.core.resampling.intervals import LEVEL, checked_level
from deciban.errors import InputError
from deciban.types import AnyArray, BoolArray, CountArray, FloatArray, IntArray

GROUPS = ("goats", "lambs", "wolves")
"""Groups of subjects: low mated scores, high non-mated scores as a reference, and high non-mated scores as a probe."""

_LARGEST = 1e150
"""Limit of scores, whose squares are finite."""

_LEAST = 3
"""Least number of independent trials, or of other subjects, for an interval."""


@dataclass(frozen=True, slots=True, eq=False)
class SubjectMeans:
    """Mean scores of subjects, with confidence intervals.

    Attributes
    ----------
    subject : (n,) array
    mean, low, high : (n,) float64 arrays
        Bounds are NaN with fewer than three independent trials or other subjects.
    n_trials : (n,) int array
    center : float
        Mean over subjects.
    is_member : (n,) bool array
        True if the mean differs from the center in the direction of the group, significantly for all subjects together
        (Bonferroni).
    """

    subject: AnyArray
    mean: FloatArray
    low: FloatArray
    high: FloatArray
    n_trials: CountArray
    center: float
    is_member: BoolArray


@dataclass(frozen=True, slots=True, eq=False)
class Zoo:
    """Subjects that cause many errors (Doddington et al., 1998).

    Attributes
    ----------
    goats : SubjectMeans
        Mean mated score of each subject; members have low ones.
    lambs : SubjectMeans
        Mean non-mated score of each reference subject; members have high ones and are easy to imitate.
    wolves : SubjectMeans
        Mean non-mated score of each probe subject; members have high ones and imitate others.
    level : float
    name : str
        Name of the system.
    """

    goats: SubjectMeans
    lambs: SubjectMeans
    wolves: SubjectMeans
    level: float
    name: str = "scores"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of the system in ``deciban plot subjects --json``."""
        groups = {animal: getattr(self, animal) for animal in GROUPS}
        return {"name": self.name, "level": self.level} | {
            animal: {one.name: getattr(means, one.name) for one in fields(SubjectMeans)}
            for animal, means in groups.items()
        }


def zoo(scores: ArrayLike, is_mated: ArrayLike, reference: ArrayLike, probe: ArrayLike, *, level: float = LEVEL) -> Zoo:
    """Return the mean scores of every subject, and the subjects that differ significantly from the others.

    Parameters
    ----------
    scores : (n_trials,) array_like
        Finite; larger scores favour mated comparisons.
    is_mated : (n_trials,) array_like
        True (or 1) for mated comparisons.
    reference, probe : (n_trials,) array_like
        Subjects of the references and of the probes: names or numbers.
    level : float

    Returns
    -------
    Zoo

    Raises
    ------
    InputError
        If lengths differ, a score is not finite, subjects are not names or whole numbers, or a class is empty.

    Notes
    -----
    Non-mated scores of a reference are dependent if they have the same probe subject, and vice versa: intervals are by
    these other subjects. Mated scores of a subject count as independent. Intervals use the t distribution.

    References
    ----------
    G. Doddington et al., "Sheep, goats, lambs and wolves: a statistical analysis of speaker performance in the NIST
    1998 speaker recognition evaluation", ICSLP 1998.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> reference, probe = np.repeat(np.arange(30), 30), np.tile(np.arange(30), 30)
    >>> scores = rng.normal(size=900) + 4 * (reference == probe) + 2 * (probe == 7)
    >>> found = zoo(scores, reference == probe, reference, probe)
    >>> found.wolves.subject[found.wolves.is_member], found.lambs.is_member.sum()
    (array([7]), np.int64(0))
    """
    values = np.asarray(_validate.scores(scores, "scores"), np.float64)
    if not (np.abs(values) < _LARGEST).all():
        raise InputError(f"scores: pass a finite score for each trial, between -{_LARGEST:g} and {_LARGEST:g}.")
    truth = _validate.truth(is_mated, len(values), "is_mated")
    if truth.all() or not truth.any():
        raise InputError("is_mated: all trials are of one class. Mated and non-mated comparisons are needed.")
    named = zip((reference, probe), ("reference", "probe"), strict=True)
    sides = [subject_ids(side, name, len(values), "trial") for side, name in named]
    chosen, non = checked_level(level), ~truth
    own = np.arange(np.count_nonzero(truth))
    return Zoo(
        _means(values[truth], sides[0][truth], own, chosen, sign=-1),
        _means(values[non], sides[0][non], sides[1][non], chosen, sign=1),
        _means(values[non], sides[1][non], sides[0][non], chosen, sign=1),
        chosen,
    )


def _means(values: FloatArray, subject: AnyArray, cluster: AnyArray, level: float, *, sign: int) -> SubjectMeans:
    """Return means of the trials of each subject, with intervals by clusters of trials."""
    names, of = np.unique(subject, return_inverse=True)
    _, within = np.unique(cluster, return_inverse=True)
    n_trials: CountArray = np.bincount(of)
    mean = np.bincount(of, values) / n_trials
    cells, cell = np.unique(of * (int(within.max()) + 1) + within, return_inverse=True)
    owner: IntArray = cells // (int(within.max()) + 1)
    squares = np.bincount(owner, np.bincount(cell, values - mean[of]) ** 2)
    n = np.bincount(owner).astype(np.float64)
    n[n < _LEAST] = np.nan
    error = np.sqrt(n / (n - 1.0) * squares) / n_trials
    center = float(mean.mean())

    def reach(share: float) -> FloatArray:
        return np.asarray(special.stdtrit(n - 1.0, 1.0 - share / 2.0) * error)

    half, strict = reach(1.0 - level), reach((1.0 - level) / len(names))
    is_member: BoolArray = sign * (mean - center) > strict
    return SubjectMeans(names, mean, mean - half, mean + half, n_trials, center, is_member)
