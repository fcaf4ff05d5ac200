"""What must be said beside the weights of a fusion."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from deciban.analysis.data import LabelledData
from deciban.analysis.fused_systems import FusedSystems
from deciban.types import FloatArray

_LARGE = 20.0
"""Size of a term, in standard deviations of the llr, from which on it is there to be cancelled by others.

Let the llr be ``w s + rest``. Then ``s = (llr - rest) / w``: up to a standard deviation of ``sd(llr) / |w|``, the
score is a weighted sum of those of other systems. Relative to that of the score itself, this is ``sd(llr) / (|w|
sd(s))``: one over the size of the term. So at 20 the others tell the score within 5 % of its standard deviation (a
multiple correlation of 0.9987 or more), whatever the signs are, and an error of 5 % in it moves the llr as much as all
evidence does. Ordinary negative weights stay below: two systems that correlate at 0.99, and differ in nothing but what
matters, have terms of 7.
"""
_SHARE = 0.1
"""Part of the largest term from which on others are named as those that cancel it."""


def on_cancelling_weights(
    fusion: FusedSystems, names: Sequence[str], without: Sequence[FusedSystems], trials: LabelledData
) -> str:
    """Say which systems have huge weights that cancel, and what it costs to leave one out; nothing if none have.

    Parameters
    ----------
    fusion : FusedSystems
        Of all systems.
    names : sequence of str
        Of the systems.
    without : sequence of FusedSystems
        The fusion without each of them.
    trials : LabelledData
        Those of training that all systems scored, and that count.
    """
    linear = fusion.linear
    if linear is None or fusion.model is None:
        return ""
    size = np.abs(linear.standardized_weights_)
    spread = _spread(linear.p_target, trials, trials.data.transform(fusion.model))
    if not size.max() > _LARGE * spread:
        return ""
    own = np.flatnonzero(size > min(_LARGE * spread, _SHARE * size.max())).tolist()
    if len(own) < 2:  # what cancels the term is a measure of quality
        return ""
    weights = ", ".join(f"{linear.standardized_weights_[k]:.4g}" for k in own)
    words = (
        f"{' + '.join(names[k] for k in own)} say nearly the same: their weights on standardized scores ({weights}) "
        f"cancel but for an llr with a standard deviation of {spread:.3g}, which hangs on small differences between "
        "them."
    )
    return " ".join([words, *_loss(fusion, [(names[k], without[k]) for k in own]), _way_out(linear.ridge)])


def _loss(fusion: FusedSystems, without: Sequence[tuple[str, FusedSystems]]) -> list[str]:
    """What the objective of training loses without the one of some systems that it needs least."""
    known = [(row.penalized_objective, name) for name, row in without if row.penalized_objective is not None]
    whole = fusion.penalized_objective
    if not known or not whole:
        return []
    least, name = min(known)
    share = f"{max(least / whole - 1.0, 0.0):.1%}".replace("%", " %")
    return [f"Without {name}, the objective of training is {share} higher."]


def _way_out(ridge: float) -> str:
    penalty = (
        f"a larger penalty than {ridge:g} (ridge, --ridge)" if ridge > 0.0 else "a penalty (ridge=1e-3, --ridge 1e-3)"
    )
    return f"Leave one out, or take {penalty}."


def _spread(p_target: float, trials: LabelledData, llr: FloatArray) -> float:
    """Standard deviation of the llr, in which the classes have the weights that they have in those of the scores."""
    finite = np.isfinite(llr)
    some, own = (trials, llr) if finite.all() else (trials.take(finite), llr[finite])
    if not some.has_both_classes:
        return math.inf
    classes = list(zip((p_target, 1.0 - p_target), some.by_class(own), strict=True))
    mean = sum(prior * np.average(x, weights=weight) for prior, (x, weight) in classes)
    variance = sum(prior * np.average((x - mean) ** 2, weights=weight) for prior, (x, weight) in classes)
    return math.sqrt(variance)
