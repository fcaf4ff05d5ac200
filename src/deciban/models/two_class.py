"""Bases of all models of two classes: calibrators, models that minimize a scoring rule, and fusions among them."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.core.rules.expected import (
    ClassCosts,
    WeightedScores,
    cross_entropy,
    log_costs,
    mixed,
    scoring_rule_cost,
    scoring_rule_costs,
)
from deciban.errors import warn
from deciban.models.model import JackknifeMaps, Plain, Uncertainty, bare_copy, checked_units
from deciban.models.score_model import ParameterRow, ScoreModel
from deciban.trials.sources import Chunk, ShardSource, Wanted, in_memory
from deciban.types import AnyArray, FloatArray

if TYPE_CHECKING:
    from deciban.core.resampling.linearised import UnitChanges
    from deciban.core.resampling.units import TrialUnits
    from deciban.core.training.batches import PartsOfTrials
    from deciban.core.training.linear_objective import Trials
    from deciban.core.training.linear_training import Fit, LinearFit
    from deciban.trials.passes import Engine
    from deciban.trials.speakers import UnitsOfPieces


def costs_of_mapped(transform: Callable[[FloatArray], FloatArray], trials: Chunk) -> ClassCosts:
    """Sum up logarithmic costs of what a map makes of the scores of targets, and of non-targets."""
    tar, non = trials.by_class(transform(trials.scores[0].astype(np.float64, copy=False)))
    return ClassCosts(log_costs(counting_llrs(tar), counting_llrs(non), 0.0))


def _costs_by_rule(log_odds: float, alpha: float, beta: float, llrs: Chunk) -> ClassCosts | None:
    """Sum up costs of llrs by a member of the beta family at prior log odds; None of no trial."""
    if llrs.truth is None or not len(llrs.truth):
        return None
    tar, non = map(counting_llrs, llrs.by_class())
    return ClassCosts(scoring_rule_costs(tar, non, log_odds, alpha, beta))


def counting_llrs(trials: WeightedScores) -> WeightedScores:
    """Leave out trials of weight 0: nothing of an infinite cost is nothing."""
    llr, weights = trials
    return trials if weights is None else (llr[weights > 0], weights[weights > 0])


class TwoClassModel(ScoreModel):
    """A model that is trained on trials of two classes."""

    def _data(
        self, source: ShardSource, engine: Engine | None, memory: int, units: UnitsOfPieces | TrialUnits | None
    ) -> Any:
        from deciban.models.sources import SourceTrials

        return SourceTrials(source, engine, memory, units)

    def fit_transform(
        self, scores: ArrayLike, is_target: ArrayLike, *, sample_weight: ArrayLike | None = None
    ) -> FloatArray:
        """Train on trials and apply the result to the same trials.

        Parameters, errors
            As in `fit`.

        Returns
        -------
        (n_trials,) array
            Log-likelihood ratios in nats. A calibrator looks better on the trials that it was trained on than on
            others; `cross_validated` gives an honest picture.
        """
        return self.fit(scores, is_target, sample_weight=sample_weight).transform(scores)


class Calibrator(TwoClassModel):
    """A map from the scores of one system to log-likelihood ratios, trained on labelled trials."""

    def fit(
        self,
        scores: ArrayLike,
        is_target: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        units: ArrayLike | TrialUnits | None = None,
    ) -> Self:
        """Train on labelled trials.

        Parameters
        ----------
        scores : (n_trials,) array_like
            Larger favours target.
        is_target : (n_trials,) array_like
            True (or 1) for targets, False (or 0) for non-targets.
        sample_weight : (n_trials,) array_like, optional
            Weight of each trial within its class, at least 0; whole numbers count like copies.
        units : (n_trials,) or (n_trials, 2) array_like, or TrialUnits, optional
            Which speaker, or other unit, each trial is of, or its two sides are: names or numbers. With them training
            finds out how sure it is; see `interval` and ``parameter_covariance_``.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If a score is NaN, lengths differ, a class is empty, or nothing finite can be learnt from these scores.
        """
        score = _validate.scores(scores, "scores")
        truth, weight = _validate.labels(is_target, sample_weight, len(score))
        own = checked_units(units, len(score))
        return self.fit_pieces(in_memory(Chunk((score,), truth, own, weight)), None, 0, units=own)

    def _uncertainty(self, data: Any, units: TrialUnits) -> Uncertainty:
        """How sure training is, by a jackknife, as there is no formula.

        Raises
        ------
        InputError
            If these units cannot tell.
        """
        bare = bare_copy(self)

        def trained_on(some: Any) -> Calibrator:
            one: Calibrator = bare_copy(bare)
            one._fit(some)
            return one

        return JackknifeMaps.leaving_out(lambda group, n: trained_on(data.without(group, n)), units)

    def transform(self, scores: ArrayLike) -> FloatArray:
        """Turn scores into log-likelihood ratios.

        Parameters
        ----------
        scores : (n_trials,) array_like
            May be infinite.

        Returns
        -------
        (n_trials,) array
            In nats.

        Raises
        ------
        InputError
            If the calibrator was not trained, or a score is NaN.
        """
        self.require_fitted()
        values = _validate.scores(scores, "scores")
        return self._transform(values.astype(np.float64, copy=False))

    @abstractmethod
    def _transform(self, scores: FloatArray) -> FloatArray:
        """Log-likelihood ratios of checked scores."""


def outcome(objective: float, at_zero: float, status: str) -> dict[str, Plain]:
    """Results of training, under the names that all models without a search use.

    Parameters
    ----------
    objective, at_zero : float
        The objective that was reached, and that of scores without information, in nats.
    status : str
        How training ended, in words.
    """
    return {"objective": objective, "objective_relative_to_llr_0": objective / at_zero, "status": status}


def outcome_of_llrs(tar: WeightedScores, non: WeightedScores, status: str) -> dict[str, Plain]:
    """The same of calibrated llrs with optional weights: the cross-entropy at prior 0.5."""
    return outcome(cross_entropy(counting_llrs(tar), counting_llrs(non), 0.0), math.log(2), status)


def outcome_of(data: Any, transform: Callable[[FloatArray], FloatArray], status: str) -> dict[str, Plain]:
    """The same of `SourceTrials`, after a map that can be pickled."""
    costs: ClassCosts = data.look(partial(costs_of_mapped, transform))
    tar, non = costs.of_class
    return outcome(mixed(tar, non, 0.0), math.log(2), status)


class TrainedByRule(TwoClassModel):
    """A model whose parameters are the optimum of a member of the beta family at a prior."""

    p_target: float
    alpha: float
    beta: float
    ridge: float
    objective_: float

    def called(self, systems: Iterable[int]) -> str:
        """What messages call some of the systems."""
        numbers = list(systems)
        if self.system_names:
            return " + ".join(self.system_names[k] for k in numbers)
        return f"system{'' if len(numbers) == 1 else 's'} {'+'.join(map(str, numbers))}"

    def __init__(self, *, p_target: float = 0.5, alpha: float = 1.0, beta: float = 1.0, ridge: float = 0.0) -> None:
        self.p_target = p_target
        self.alpha = alpha
        self.beta = beta
        self.ridge = ridge
        self._rule()

    def _rule(self) -> tuple[float, float, float, float]:
        """Rule, prior log odds and penalty, checked; they are attributes, so they may have been changed.

        Raises
        ------
        InputError
            If one is out of range.
        """
        log_odds = _validate.single_log_odds(self.p_target)
        alpha, beta = _validate.rule(self.alpha, self.beta)
        ridge = _validate.in_range(self.ridge, "ridge", 0.0, 1e300, "A penalty is finite and at least 0")
        return alpha, beta, log_odds, ridge

    def cost_of(self, tar: WeightedScores, non: WeightedScores) -> float:
        """Expected cost of llrs of each class, with weights or without, by the rule and at the prior of training."""
        alpha, beta, log_odds, _ = self._rule()
        return scoring_rule_cost(tar, non, log_odds, alpha, beta)

    def cost_of_pieces(self, llrs: ShardSource, engine: Engine | None) -> float:
        """The same of the llrs of a source: one pass."""
        from deciban.trials.passes import found_in

        alpha, beta, log_odds, _ = self._rule()
        wanted = Wanted(truth=True, weight=llrs.has_weights)
        step = partial(_costs_by_rule, log_odds, alpha, beta)
        costs: ClassCosts = found_in(llrs, engine, wanted, step, "adding up costs")
        tar, non = costs.of_class
        return mixed(tar, non, log_odds)

    def _influences(
        self, given: Trials | PartsOfTrials, units: TrialUnits, weights: FloatArray, offset: float, **form: Any
    ) -> UnitChanges:
        """Return the changes of weights of columns and of the offset with the units.

        Raises
        ------
        InputError
            As in `linear_influences`.
        """
        from deciban.core.training.influences import linear_influences

        alpha, beta, log_odds, ridge = self._rule()
        return linear_influences(given, units, weights, offset, (alpha, beta, log_odds), ridge=ridge, **form)

    def _note(self, fit: LinearFit) -> None:
        """Keep the objective that was reached, and warn if it is not the optimum."""
        self.objective_ = fit.objective
        if not fit.converged:
            warn(f"{self.told_as or type(self).__name__}: {fit.status}.")


def results_of(fit: Fit) -> dict[str, Plain]:
    """What a model file tells of training."""
    relative = fit.objective / fit.objective_at_zero if fit.objective_at_zero > 0.0 else math.nan
    return {
        "objective": fit.objective,
        "objective_relative_to_llr_0": relative,
        "gradient_norm": fit.gradient_norm,
        "steps": fit.n_steps,
        "passes": fit.n_passes,
        "status": fit.status,
    }


class Fusion(TrainedByRule):
    """A weighted sum of the scores of several systems, trained by a proper scoring rule at a prior."""

    is_fusion = True
    table_name = "fusion"
    weights_: FloatArray
    standardized_weights_: FloatArray
    offset_: float
    penalized_objective_: float

    @property
    def whole(self) -> Fusion:
        """What fuses the trials that all systems scored."""
        return self

    @property
    def without_quality(self) -> Fusion | None:
        """What fuses the trials that have no quality measures, if it takes some."""
        return None

    def penalized_cost(self, tar: WeightedScores, non: WeightedScores) -> float:  # noqa: ARG002
        """What training made as small as it could: the objective with the penalty.

        Parameters
        ----------
        tar, non : pairs of arrays
            Llrs of the trials of training that all systems scored, with their weights; for fusions whose objective is
            of other trials as well.
        """
        return self.penalized_objective_

    def subsets_of(self, scores: AnyArray) -> list[tuple[tuple[int, ...], int]]:  # noqa: ARG002
        """Sets of fewer than all systems that trials have scores of, with the numbers of trials; the largest first.

        Raises
        ------
        TrialError
            If there is no fusion for some of these sets.
        """
        return []

    @property
    def n_systems_(self) -> int:
        """How many systems it fuses."""
        return len(self.weights_)

    def parameter_rows(self) -> tuple[ParameterRow, ...]:
        """Weights of the systems, and the offset."""
        return self._rows(self.trained_systems)

    def _rows(self, names: Sequence[str]) -> tuple[ParameterRow, ...]:
        """The same with the systems called otherwise."""
        errors: list[Any] = self.errors_in_order[: len(self.weights_) + 1] or [None] * (len(self.weights_) + 1)
        weights = self.weights_.tolist(), self.standardized_weights_.tolist(), errors[:-1]
        return (*map(ParameterRow, names, *weights), ParameterRow("offset", self.offset_, standard_error=errors[-1]))

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """The weights of the systems, by their names, then the offset."""
        return (*self.trained_systems, "offset")
