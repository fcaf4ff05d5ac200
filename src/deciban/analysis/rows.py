"""Training and evaluation of the rows that say what a fusion is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deciban.analysis.data import LabelledData, copied
from deciban.analysis.fused_systems import FusedSystems, Role
from deciban.core.ranks.operating import OperatingPoint
from deciban.core.training.moments import are_same
from deciban.errors import InputError, TrialError
from deciban.fusion import LinearFusion, posterior_divergence
from deciban.models.fusion import Fusion
from deciban.types import FloatArray


@dataclass(frozen=True, slots=True)
class FusionTask:
    """What all rows have in common.

    All are trained on all trials that they can take, and evaluated on those that all systems scored.
    """

    prototype: Fusion
    names: tuple[str, ...]
    dev: LabelledData
    others: LabelledData | None
    points: tuple[OperatingPoint, ...]

    def row(self, role: Role, systems: tuple[int, ...], name: str) -> FusedSystems:
        """Train some of the systems; that this is not possible is an answer, too."""
        value = self._constant(systems)
        if value is not None:
            note = f"says nothing: all of its scores are {value:g}, so that its llr is 0"
            return self._of(_silent(self.prototype), systems, name, role=role, note=note)
        try:
            return self._of(self._trained(systems), systems, name, role=role)
        except InputError as error:
            return FusedSystems(name=name, role=role, dev=None, note=f"not trained: {error}", systems=systems)

    def fused(self, systems: tuple[int, ...], name: str, trained: Fusion | None) -> FusedSystems:
        """The fusion itself, without which there is nothing to analyse."""
        try:
            return self._of(trained or self._trained(systems), systems, name, role="fusion")
        except InputError as error:
            raise InputError(f"{name}: {error}") from error

    def without_quality(self, systems: tuple[int, ...], name: str, fusion: FusedSystems) -> FusedSystems:
        """What the fusion does for trials without measures, done for all of them."""
        plainer = None if fusion.model is None else fusion.model.without_quality
        assert plainer is not None  # noqa: S101  # it was asked for this reason
        return self._of(plainer, systems, name, role="without quality")

    def divergence(self, singles: Sequence[FusedSystems]) -> FloatArray | None:
        """How much systems differ that are calibrated alone."""
        models = [row.model for row in singles]
        dev = self.dev.complete.counting
        if None in models:
            return None
        llrs = [_llr(model, dev, row.systems) for row, model in zip(singles, models, strict=True) if model is not None]
        columns, prior = np.column_stack(llrs), self.prototype.p_target
        return posterior_divergence(columns, dev.is_target, p_target=prior, sample_weight=dev.weight)

    def _constant(self, systems: tuple[int, ...]) -> float | None:
        """The only score of a system that stands alone and scores all trials alike."""
        if len(systems) > 1 or self.prototype.takes_quality:
            return None
        column = self.dev.data.scores[:, systems[0]]
        counting = ~np.isnan(column) if self.dev.weight is None else ~np.isnan(column) & (self.dev.weight > 0)
        own = column[counting]
        if not len(own) or not np.isfinite(own).all():
            return None
        return float(own[0]) if are_same(own.min(), own.max(), np.finfo(own.dtype).eps) else None

    def _trained(self, systems: tuple[int, ...]) -> Fusion:
        model = copied(self.prototype)
        model.system_names = tuple(self.names[k] for k in systems)
        own = self.dev.choose(systems)
        some = np.flatnonzero(~np.isnan(own.data.scores).all(axis=1))
        try:
            (own if len(some) == len(own.is_target) else own.take(some)).fit(model)
        except TrialError as error:
            raise error.among(some) from None
        return model

    def _of(self, model: Fusion, systems: tuple[int, ...], name: str, *, role: Role, note: str = "") -> FusedSystems:
        dev, others = self.dev.complete.counting, None if self.others is None else self.others.complete.counting
        llr = _llr(model, dev, systems)
        tested = None if others is None else others.evaluated(_llr(model, others, systems), name, self.points)
        return FusedSystems(
            name=name,
            role=role,
            note=note,
            systems=systems,
            model=model,
            penalized_objective=model.penalized_cost(*dev.by_class(llr)),
            dev=dev.evaluated(llr, name, self.points),
            eval=tested,
        )


def _llr(model: Fusion, trials: LabelledData, systems: tuple[int, ...]) -> FloatArray:
    return trials.data.choose(systems).transform(model)


def _silent(prototype: Fusion) -> LinearFusion:
    """The calibration of a system that says nothing: llr 0 for every score."""
    model = LinearFusion(p_target=prototype.p_target, alpha=prototype.alpha, beta=prototype.beta, ridge=prototype.ridge)
    model.set_parameters({"weights": [0.0], "standardized_weights": [0.0], "offset": 0.0})
    nothing = np.zeros(1), None
    model.objective_ = model.penalized_objective_ = model.cost_of(nothing, nothing)
    return model
