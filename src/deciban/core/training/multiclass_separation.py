"""Certificates that the best scales and offsets of many classes are infinite."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deciban.core.training.trust_region import Function, Minimum, pursued
from deciban.errors import InputError
from deciban.types import BoolArray, FloatArray

SUSPICIOUS = 0.1
"""Nats by which Newton's step at a minimum that lies at infinity moves some log-likelihood ratio."""


def refuse_infinite(
    function: Function,
    found: Minimum,
    largest_move: Callable[[FloatArray, FloatArray], float],
    *,
    separated: bool,
    ridge_helps: bool,
) -> Minimum:
    """Refuse an answer where the best scales or offsets are infinite.

    Parameters
    ----------
    function : callable
        What was minimized.
    found : Minimum
        Where the search ended.
    largest_move : callable
        How far a step from a point moves the log-likelihood of a class against that of the true one, at most; below
        `SUSPICIOUS` a bound will do.
    separated : bool
        Whether the true class leads in every trial by what no penalty keeps finite, which proves it.
    ridge_helps : bool
        Whether there are scales without a penalty. If not, the offsets are infinite: none is ever on them.

    Returns
    -------
    Minimum
        What was found, or where that leads.

    Raises
    ------
    InputError
        If they are.
    """
    if not separated:
        if not (found.converged and _is_at_infinity(found, largest_move)):
            return found
        final = (
            None if found.falls else pursued(function, found, lambda reached: _is_at_infinity(reached, largest_move))
        )
        if final is not None:
            return final
    if not ridge_helps:
        raise InputError(
            "loglik: the objective falls forever as the offsets grow, so that the best ones are infinite: infinite "
            "scores decide all trials of one class against another, but not the other way round. Give them finite "
            "scores, or leave one of these classes out."
        )
    if separated:
        words = (
            "some scale and offsets put the true class ahead in every trial, so that the best scale is infinite (the "
            "classes are separated)"
        )
    else:
        words = "the objective falls forever as the scales or offsets grow, so that the best ones are infinite"
    raise InputError(
        f"loglik: {words}. Add a penalty (ridge=1e-3, --ridge 1e-3), or collect trials that are harder to tell."
    )


def _is_at_infinity(found: Minimum, largest_move: Callable[[FloatArray, FloatArray], float]) -> bool:
    """Whether Newton's step still moves log-likelihoods where it gains nothing any more."""
    if found.falls:
        return True
    step = np.linalg.lstsq(found.at.hessian, found.at.gradient, rcond=1e-14)[0]
    return largest_move(found.point, np.asarray(step, np.float64)) > SUSPICIOUS


def reachable(step: BoolArray) -> BoolArray:
    """Which nodes can be reached from which by any number of steps, none included; a step leads from i to j."""
    reach = step | np.eye(len(step), dtype=np.bool_)
    while not reach.all():
        farther = reach.astype(np.float32) @ reach.astype(np.float32) > 0.0
        if np.array_equal(farther, reach):
            break
        reach = farther
    return reach


@dataclass(frozen=True, slots=True, eq=False)
class Escape:
    """A direction of scale and offsets in which the cross-entropy of one system falls forever, or stays level.

    Along it the lead of a rival j over the true class i in a trial falls, unless ``level[i, j]`` holds and the lead is
    as large as it ever is in trials of class i: then it stays. No direction makes more leads fall.

    Attributes
    ----------
    scale : float
        0 or 1; with 0 all leads of level pairs stay, not only the largest.
    offsets : (n_classes,) array
    level : (n_classes, n_classes) bool array
    margin : (n_classes, n_classes) array
        Leads that are less than the largest by no more than this are as large, but for rounding.
    """

    scale: float
    offsets: FloatArray
    level: BoolArray
    margin: FloatArray

    @classmethod
    def of(cls, leads: FloatArray, *, scale: bool, offset: bool) -> Escape | None:
        """Find the direction from the largest leads alone; None if there is no use in any.

        With a scale that does not fall, the largest lead over class i in its trials is what limits class j: offsets are
        to fulfil ``offset_i - offset_j >= scale * leads[i, j]``, a system of difference constraints. It has a solution
        with scale 1 if no way from class to class and back adds up to more than 0, and equality is forced where one
        adds up to 0 (Cormen and others, Introduction to Algorithms, on difference constraints). With scale 0 it always
        has one, and equality is forced between classes that can be reached from one another.

        Parameters
        ----------
        leads : (n_classes, n_classes) array
            How far class j is ahead of class i in trials of class i, at most; -inf if all exclude j, and for i itself.
        scale, offset : bool
            What may change, at least one of them. The scale may not fall.
        """
        exact, compared = np.zeros(leads.shape), leads > -np.inf
        if not compared.any():
            return None
        if not offset:
            return cls(1.0, exact[0], leads == 0.0, exact) if np.all(leads <= 0.0) else None
        ways = _greatest_ways(leads) if scale else None
        if ways is not None:
            sums, rounding = ways
            # Each column solves the constraints; pairs on no way back that adds up to 0 have room in one of them.
            closed = leads + sums.T >= -rounding.T
            return cls(1.0, sums.mean(axis=1), closed & compared, rounding.T)
        reach = reachable(compared)
        level = reach & reach.T
        if not np.any(compared & ~level):
            return None
        return cls(0.0, reach.sum(axis=1).astype(np.float64), level, exact)


def _greatest_ways(leads: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """The greatest sum of leads on any way from i to j, and its rounding; None if some way back to i is above 0.

    Two classes are compared exactly. Ways through more add up, and what they add up to is rounded.
    """
    n = len(leads)
    if np.any(leads + leads.T > 0.0):
        return None
    relative = 0.0 if n == 2 else 4.0 * n * float(np.finfo(np.float64).eps)
    largest, negative = float(leads.max()), -leads[np.isfinite(leads) & (leads < 0.0)]
    # So far below the others that no way through it could lead back to 0; finite, so that sums keep their digits.
    floor = (n + 1.0) * abs(largest) if largest != 0.0 else float(negative.min(initial=1.0))
    sums = np.maximum(leads, -floor)
    np.fill_diagonal(sums, 0.0)
    size = np.abs(sums)
    for k in range(n):  # Floyd and Warshall
        through = sums[:, k, None] + sums[k]
        better = through > sums
        sums = np.where(better, through, sums)
        size = np.where(better, np.maximum(size[:, k, None], size[k]), size)
        if np.any(np.diag(sums) > relative * np.diag(size)):
            return None
        np.fill_diagonal(sums, 0.0)
        np.fill_diagonal(size, 0.0)
    return sums, relative * np.maximum(size, np.abs(np.maximum(leads, -floor)).T)
