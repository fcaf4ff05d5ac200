"""The rows that say what a fusion is worth: their names, their training, and what must be said beside the weights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deciban.analysis.data import LabelledData, copied
from deciban.analysis.fused_systems import FusedSystems, Role
from deciban.core.ranks.operating import OperatingPoint
from deciban.core.training.moments import are_same
from deciban.errors import InputError, TrialError
from deciban.fusion import LinearFusion, posterior_divergence
from deciban.models.two_class import Fusion
from deciban.types import FloatArray


def names_apart(wanted: Sequence[str], taken: Sequence[str]) -> list[str]:
    """Names for rows of a table that are none of those that are taken, nor the same as each other.

    Examples
    --------
    >>> names_apart(["without b", "fusion"], ["fusion", "b"])
    ['without b', 'fusion #2']
    """
    used, found = set(taken), []
    for name in wanted:
        free, number = name, 2
        while free in used:
            free, number = f"{name} #{number}", number + 1
        used.add(free)
        found.append(free)
    return found


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
    spread = _spread(linear.p_target, trials, trials.transform(fusion.model))
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


@dataclass(frozen=True)
class FusionTask:
    """What all rows have in common.

    All are trained on all trials that they can take, and evaluated on those that all systems scored.
    """

    prototype: Fusion
    names: tuple[str, ...]
    dev: LabelledData
    others: LabelledData | None
    points: tuple[OperatingPoint, ...]

    @cached_property
    def compared(self) -> LabelledData:
        """The trials of training that all systems scored, and that count."""
        return self.dev.complete.counting

    @cached_property
    def other_compared(self) -> LabelledData | None:
        """Other such trials."""
        return None if self.others is None else self.others.complete.counting

    def row(self, role: Role, systems: tuple[int, ...], name: str) -> FusedSystems:
        """Train some of the systems; that this is not possible is an answer, too."""
        value = self._constant(systems)
        if value is not None:
            note = f"says nothing: all of its scores are {value:g}, so that its llr is 0"
            return self.evaluated(_silent(self.prototype), systems, name, role=role, note=note)
        try:
            return self.evaluated(self.trained(systems), systems, name, role=role)
        except InputError as error:
            return FusedSystems(name=name, role=role, dev=None, note=f"not trained: {error}", systems=systems)

    def divergence(self, singles: Sequence[FusedSystems]) -> FloatArray | None:
        """How much systems differ that are calibrated alone."""
        dev = self.compared
        llrs = [dev.choose(row.systems).transform(row.model) for row in singles if row.model is not None]
        if len(llrs) < len(singles):
            return None
        columns, prior = np.column_stack(llrs), self.prototype.p_target
        return posterior_divergence(columns, dev.is_target, p_target=prior, sample_weight=dev.weight)

    def _constant(self, systems: tuple[int, ...]) -> float | None:
        """The only score of a system that stands alone and scores all trials alike."""
        if len(systems) > 1 or self.prototype.takes_quality:
            return None
        column = self.dev.scores[:, systems[0]]
        counting = ~np.isnan(column) if self.dev.weight is None else ~np.isnan(column) & (self.dev.weight > 0)
        own = column[counting]
        if not len(own) or not np.isfinite(own).all():
            return None
        return float(own[0]) if are_same(own.min(), own.max(), np.finfo(own.dtype).eps) else None

    def trained(self, systems: tuple[int, ...]) -> Fusion:
        """A fusion of some of the systems.

        Raises
        ------
        InputError
            If it cannot be trained.
        """
        model = copied(self.prototype)
        model.system_names = tuple(self.names[k] for k in systems)
        own = self.dev.choose(systems)
        some = np.flatnonzero(~np.isnan(own.scores).all(axis=1))
        try:
            (own if len(some) == len(own.is_target) else own.take(some)).fit(model)
        except TrialError as error:
            raise error.among(some) from None
        return model

    def evaluated(
        self, model: Fusion, systems: tuple[int, ...], name: str, *, role: Role, note: str = ""
    ) -> FusedSystems:
        """The row of a trained fusion of some of the systems."""
        dev, others = self.compared.choose(systems), self.other_compared
        others = None if others is None else others.choose(systems)
        llr = dev.transform(model)
        return FusedSystems(
            name=name,
            role=role,
            note=note,
            systems=systems,
            model=model,
            penalized_objective=model.penalized_cost(*dev.by_class(llr)),
            dev=dev.evaluated(llr, name, self.points),
            eval=None if others is None else others.evaluated(others.transform(model), name, self.points),
        )


def _silent(prototype: Fusion) -> LinearFusion:
    """The calibration of a system that says nothing: llr 0 for every score."""
    model = LinearFusion(p_target=prototype.p_target, alpha=prototype.alpha, beta=prototype.beta, ridge=prototype.ridge)
    model.set_parameters({"weights": [0.0], "standardized_weights": [0.0], "offset": 0.0})
    nothing = np.zeros(1), None
    model.objective_ = model.penalized_objective_ = model.cost_of(nothing, nothing)
    return model
