"""Base classes of all models of scores and of two-class models, and their inputs: labelled trials, quality measures."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban._validate.classes import Names
from deciban.core import expected, proper
from deciban.core.expected import ClassCosts, WeightedScores
from deciban.core.resampling.intervals import LEVEL, checked_level
from deciban.core.resampling.units import TrialUnits
from deciban.errors import InputError, either, not_none, warn
from deciban.models.model import JackknifeMaps, Model, ParameterCovariance, ParameterUncertainty, Plain, bare_copy
from deciban.trials.sources import Batch, Engine, TrialFields, TrialSource, found_in, in_memory
from deciban.types import AnyArray, BoolArray, FloatArray, Json, KindName, ScoreArray, Units, Weights

if TYPE_CHECKING:
    from deciban.core.resampling.linearised import UnitChanges
    from deciban.core.training.batches import PartsOfTrials
    from deciban.core.training.linear_objective import TrainingTrials
    from deciban.core.training.linear_training import LinearFit
    from deciban.core.training.trust_region import Fit
    from deciban.models.model import Bounds
    from deciban.models.sources import LabelledSource, SourceTrials
    from deciban.trials.speakers import BatchUnits


ARGUMENTS = ("enroll_quality", "test_quality", "trial_quality")
"""Names of arguments of fusions for measures of each side of a trial, and of the whole trial."""


def measure_table(values: ArrayLike, name: str, n_trials: int) -> ScoreArray:
    """Return ``values`` as a matrix with a row of measures for each trial, finite or NaN (missing).

    Raises
    ------
    InputError
        If they are not a matrix of real numbers, have too few or too many rows, or contain infinity.
    """
    table = _validate.matrix(values, name, "measure")
    if len(table) != n_trials:
        raise InputError(f"{name}: {len(table)} rows for {n_trials} trials. Give one row of measures per trial.")
    for k, column in enumerate(table.T):
        infinite = np.isinf(column)
        if infinite.any():
            raise InputError(
                f"{name}: measure {k} is infinite in {np.count_nonzero(infinite)} of {n_trials} trials, the first at "
                f"index {int(np.argmax(infinite))}. Measures must be finite; use NaN for a missing measure."
            )
    return table


def warn_missing(model: str, present: BoolArray, consequence: str) -> None:
    """Warn if measures are missing, with the number of trials."""
    lacking = np.flatnonzero(~present)
    if len(lacking):
        warn_lacking(model, len(lacking), len(present), f", the first at index {lacking[0]}", consequence)


def warn_lacking(model: str, n_lacking: int, n: int, where: str, consequence: str) -> None:
    """Warn that measures of trials are missing."""
    warn(f"{model}: {n_lacking} of {n} trials lack quality measures{where}: {consequence}.")


@dataclass(frozen=True, slots=True)
class ParameterRow:
    """One parameter of a model, as a row of a table.

    Attributes
    ----------
    name : str
        System, or another factor of the parameter.
    value : float
    standardized : float or None
        Parameter for standardized input; None for offsets.
    standard_error : float or None
        Standard error of the value, if training had units.

    Examples
    --------
    >>> ParameterRow("A", 2.34567891e-08, 3.14159).texts, ParameterRow("offset", -0.0).texts
    (('2.34568e-08', '3.142'), ('0', ''))
    >>> ParameterRow("offset", -2.0, standard_error=0.123456).error_text
    '± 0.12'
    """

    name: str
    value: float
    standardized: float | None = None
    standard_error: float | None = None

    @property
    def error_text(self) -> str:
        """Standard error with two digits for tables; empty if unknown."""
        return error_in_words(self.standard_error)

    @property
    def texts(self) -> tuple[str, str]:
        """Value and standardized value for tables, in significant digits, because weights may be very small."""
        return f"{self.value:z.6g}", "" if self.standardized is None else f"{self.standardized:z.4g}"


def error_in_words(standard_error: float | None) -> str:
    """Return a standard error with two digits; empty if unknown, or 0 because the parameter was not trained.

    >>> error_in_words(0.0312), error_in_words(123.4), error_in_words(None)
    ('± 0.031', '± 120', '')
    """
    if not standard_error:
        return ""
    digits = f"{standard_error:.2g}"
    return f"± {float(digits):g}" if "e+" in digits else f"± {digits}"


class ScoreModel(Model):
    """A map from scores of one or more systems to log-likelihood ratios, or to log-likelihoods of classes.

    Base class of `Calibrator` and `Fusion` (two classes) and of `ClassModel` (multiclass). Code that reads, trains,
    applies or reports models uses these members instead of checking the class.
    """

    scores_kind: ClassVar[KindName] = "two-class"
    """Kind of the scores."""

    is_fusion: ClassVar[bool] = False
    """True if the model takes scores of several systems."""

    takes_quality: ClassVar[bool] = False
    """True if the model requires quality measures."""

    of_subsets: ClassVar[bool] = False
    """True if the model contains a fusion for each set of systems that a trial may have scores of."""

    table_name: ClassVar[str] = "calibration"
    """Name in tables if the systems are named elsewhere."""

    effect: ClassVar[str] = "calibrated"
    """Word in tables for the mapped scores."""

    system_names: tuple[str, ...] = ()
    """Names of the systems in messages of training; if empty, numbers from 0."""

    classes_: Names = None
    """Names of the classes of a multiclass model, if any."""

    @abstractmethod
    def fit(self, *args: Any, **kwargs: Any) -> Self:
        """Train on labelled trials."""

    def fit_source(
        self, source: TrialSource, engine: Engine | None, memory: int, *, units: BatchUnits | TrialUnits | None = None
    ) -> Self:
        """Train on the trials of a source of any size, with the same result as `fit` on arrays.

        Parameters
        ----------
        source, memory
            See `deciban.engines.sorting.summarize_source`.
        engine : Engine or None
            Engine that runs passes; None if the source is one batch in memory.
        units : BatchUnits or TrialUnits, optional
            Units for the uncertainty of training, by one more pass, as in `fit`; in memory, the units of the batch are
            used.

        Raises
        ------
        FormatError, OSError, InputError
            See the readers and `fit`.
        """
        data = self._data(source, engine, memory, units)
        if not self.is_fusion:
            data.require_one_system(type(self).__name__)
        results = self._fit(data)
        self.training_, self.classes_ = data.training(results), data.classes
        self._learn_uncertainty(data)
        return self

    @abstractmethod
    def _data(self, *arguments: Any) -> Any:
        """Return the trials (source, engine, memory, units) in the form that `_fit` takes: a `LabelledSource`."""

    @abstractmethod
    def _fit(self, data: Any) -> Mapping[str, Plain]:
        """Set the parameters, and return further results."""

    def _uncertainty(self, data: Any, units: TrialUnits) -> ParameterUncertainty:  # noqa: ARG002
        """Return the uncertainty by units; raise `InputError` if there is none, or there are too few units."""
        raise InputError(f"a model of kind {self.kind!r} has none")

    @abstractmethod
    def transform(self, *args: Any, **kwargs: Any) -> FloatArray:
        """Map the scores of trials to llrs or log-likelihoods, in nats."""

    def fit_transform(self, scores: ArrayLike, label: ArrayLike, **options: Any) -> FloatArray:
        """Train on trials and map the same trials.

        Parameters
        ----------
        scores, label, **options
            The arguments of `fit`.

        Returns
        -------
        (n_trials,) or (n_trials, n_classes) array
            Log-likelihood ratios, or log-likelihoods, in nats. They are optimistic, because the model was trained on
            the same trials; use `cross_validated` for a fair result.

        Raises
        ------
        InputError
            See `fit`.
        """
        quality = {name: options[name] for name in ARGUMENTS if name in options}
        return self.fit(scores, label, **options).transform(scores, **quality)

    @property
    def accepts_missing(self) -> bool:
        """Return True if the model can map trials without scores of some systems."""
        return False

    @property
    def n_systems_(self) -> int:
        """Number of systems."""
        return 1

    @property
    def quality_arguments(self) -> tuple[str, ...]:
        """Arguments of `transform` for the quality measures in training."""
        return ()

    @property
    def parts(self) -> tuple[ScoreModel, ...]:
        """Maps that are applied one after the other; the model itself if there is one."""
        return (self,)

    def inputs(self, scores: AnyArray) -> AnyArray:
        """Return the input of `fit` and `transform` from scores whose second axis is systems."""
        return scores if self.is_fusion else scores[:, 0]

    def seen(self, scores: AnyArray, quality: Sequence[AnyArray] = ()) -> AnyArray | list[AnyArray]:
        """Return all numbers in the fingerprint of the training record: scores, then quality measures."""
        return [*scores.T, *(column for table in quality for column in table.T)]

    def row_name(self, systems: Sequence[str]) -> str:
        """Return the name of the mapped scores in tables; the name of a fusion does not depend on the systems."""
        return self.table_name if self.is_fusion else f"{systems[0]} ({self.effect})"

    def parameter_rows(self) -> tuple[ParameterRow, ...]:
        """Return the parameters as rows of a table; empty if one line is enough."""
        return ()

    def parameter_lines(self) -> list[str]:
        """Return the parameters in a line or two, if there is no table."""
        errors = self.standard_errors
        numbers = [
            " ".join(filter(None, (f"{name} {value:.6g}", error_in_words(errors.get(name)))))
            for name, value in self.parameters().items()
            if isinstance(value, float)
        ]
        return [", ".join(numbers)] if numbers else []

    def training_lines(self) -> list[str]:
        """Return sentences on the course of training."""
        results = {} if self.training_ is None else dict(self.training_.results)
        lines = [f"training: {results['status']}"] if "status" in results else []
        if "objective" in results:
            lines.append(objective_line(results, without_llrs=self.scores_kind == "classes"))
        return [*lines, *self.uncertainty_lines()]

    def uncertainty_lines(self) -> list[str]:
        """Return a sentence on the standard errors and their units, if any."""
        if self.no_errors:
            return [f"no standard errors: {self.no_errors}"]
        return [] if self.uncertainty_ is None else [self.uncertainty_.words]

    @property
    def parameter_covariance_(self) -> FloatArray | None:
        """Covariance of the parameters in the order of `parameter_names`; None if there is none.

        Training without units has no covariance, nor does a model without a fixed number of parameters.
        """
        return self.uncertainty_.covariance if isinstance(self.uncertainty_, ParameterCovariance) else None

    @property
    def standard_errors(self) -> dict[str, float]:
        """Standard error of each parameter by name; empty without a covariance."""
        return dict(zip(self.parameter_names, self.errors_in_order, strict=True)) if self.errors_in_order else {}

    @property
    def errors_in_order(self) -> list[float]:
        """Standard errors in the order of the parameters."""
        result = self.uncertainty_
        return result.standard_errors.tolist() if isinstance(result, ParameterCovariance) else []

    no_errors: str = ""
    """Reason why this model has no standard errors, or empty."""

    no_intervals: ClassVar[str] = ""
    """Reason why llrs of this kind of model have no intervals, or empty."""

    def interval(self, scores: ArrayLike, *, level: float = LEVEL, **quality: ArrayLike) -> Bounds:
        """Return an interval of each llr that accounts for the sampling of training units.

        Parameters
        ----------
        scores : array_like
            See `transform`; also pass quality measures, if the model takes them.
        level : float
            Share of samples of units whose interval contains the llr of a training on all existing units, such as 0.95.

        Returns
        -------
        low, high : (n_trials,) arrays
            In nats. An infinite llr is its own interval, because the form of the map makes it certain. If nothing is
            known, the interval is from ``-inf`` to ``inf``.

        Raises
        ------
        InputError
            See `transform`. Also if the model was trained without units, if its kind has no intervals, or if the level
            is not inside (0, 1).

        Notes
        -----
        The method is the delta method on the covariance of the parameters, corrected for their bias, with the t
        quantile. Maps without a fixed number of parameters use a jackknife over groups of units. The interval accounts
        only for the sampling of training units; it assumes that the form of the map and the population are correct.

        Examples
        --------
        >>> from deciban.calibration import AffineCalibrator
        >>> scores = [3.0, 1.0, 2.0, 0.5, 2.5, 1.0, -1.0, 1.5, 0.0, -0.5, 1.0, -2.0]
        >>> is_target, units = [True] * 6 + [False] * 6, ["a", "b", "c", "d", "e", "f"] * 2
        >>> calibrator = AffineCalibrator().fit(scores, is_target, units=units)
        >>> low, high = calibrator.interval([0.0, 2.0])
        >>> low.round(1), calibrator.transform([0.0, 2.0]).round(1), high.round(1)
        (array([-3.5, -2.8]), array([-1.4,  2. ]), array([1.6, 5. ]))
        """
        checked = checked_level(level)
        if self.no_intervals:
            raise InputError(f"interval: {self.no_intervals}.")
        return self._bounds(scores, self.transform(scores, **quality), checked, **quality)

    def _bounds(self, scores: ArrayLike, llr: FloatArray, level: float, **_quality: ArrayLike) -> Bounds:
        """Return intervals of the llrs of scores that `transform` accepted."""
        result, values = self._require_uncertainty(), np.asarray(scores, np.float64)
        if isinstance(result, JackknifeMaps):
            return result.bounds(llr, lambda model: model.transform(values), level)
        return self._require_covariance().bounds(llr, lambda rows: self._slopes_of(values[rows]), level)

    def _require_covariance(self) -> ParameterCovariance:
        result = self._require_uncertainty()
        return not_none(result if isinstance(result, ParameterCovariance) else None, "covariance")

    def _require_uncertainty(self) -> ParameterUncertainty:
        if self.uncertainty_ is None:
            if self.no_errors:
                raise InputError(f"{type(self).__name__}: no intervals: {self.no_errors}.")
            raise InputError(
                f"{type(self).__name__}: no intervals: training had no units (speakers, sources), or too few. "
                f"Train again with {either('fit(..., units=...)', '--units')}."
            )
        return self.uncertainty_

    def _slopes_of(self, scores: FloatArray) -> FloatArray:
        """Return derivatives of the llrs of scores in the parameters, (n_trials, n_parameters)."""
        raise NotImplementedError(
            f"{type(self).__name__} has a covariance of its parameters, so it needs _slopes_of, derivatives of llrs; "
            "if llrs have no intervals, set no_intervals to the reason."
        )

    def _learn_uncertainty(self, data: LabelledSource) -> None:
        """Compute the uncertainty of training if there are units; warn with the reason if this is impossible."""
        self.uncertainty_, self.no_errors = None, type(self).no_errors
        counting, units = data.of_units()
        if units is None:
            return
        try:
            self.uncertainty_ = None if self.no_errors else self._uncertainty(counting, units)
        except InputError as error:
            self.no_errors = str(error).rstrip(".")
        if self.no_errors:
            warn(f"{type(self).__name__}: no standard errors: {self.no_errors}.")

    @property
    def trained_systems(self) -> tuple[str, ...]:
        """Names of the systems in training, in order; numbers from 0 if unknown."""
        known = () if self.training_ is None else self.training_.systems
        return known or tuple(f"system {k}" for k in range(self.n_systems_))


def objective_line(results: dict[str, Json], of_trials: str = "", *, without_llrs: bool = False) -> str:
    """Return a sentence on the objective of training, compared with scores without information."""
    relative = f"{100.0 * results['objective_relative_to_llr_0']:.4g} %"
    silent = "for scores without information" if without_llrs else "if all llrs were 0"
    return f"training objective: {results['objective']:.6g}{of_trials}, {relative} of its value {silent}"


def costs_of_mapped(transform: Callable[[FloatArray], FloatArray], trials: Batch) -> ClassCosts:
    """Return sums of logarithmic costs of mapped scores of targets, and of non-targets."""
    tar, non = trials.by_class(transform(trials.scores[0].astype(np.float64, copy=False)))
    return ClassCosts(expected.log_costs(counting_llrs(tar), counting_llrs(non), 0.0))


def _costs_by_rule(log_odds: float, alpha: float, beta: float, llrs: Batch) -> ClassCosts | None:
    """Return sums of costs of llrs by a beta-family rule at prior log odds; None without trials."""
    if llrs.truth is None or not len(llrs.truth):
        return None
    tar, non = map(counting_llrs, llrs.by_class())
    return ClassCosts(proper.scoring_rule_costs(tar, non, log_odds, alpha, beta))


def counting_llrs(trials: WeightedScores) -> WeightedScores:
    """Drop trials of weight 0, so that 0 times an infinite cost does not occur."""
    llr, weights = trials
    return trials if weights is None else (llr[weights > 0], weights[weights > 0])


class TwoClassModel(ScoreModel):
    """A model that is trained on two-class trials."""

    def _data(self, *arguments: Any) -> Any:
        from deciban.models.sources import SourceTrials

        return SourceTrials(*arguments)


class Calibrator(TwoClassModel):
    """A map from the scores of one system to log-likelihood ratios, trained on labelled trials."""

    def fit(
        self, scores: ArrayLike, is_target: ArrayLike, *, sample_weight: Weights = None, units: Units = None
    ) -> Self:
        """Train on labelled trials.

        Parameters
        ----------
        scores : (n_trials,) array_like
            Scores; larger scores favour targets.
        is_target : (n_trials,) array_like
            True (or 1) for targets, False (or 0) for non-targets.
        sample_weight : (n_trials,) array_like, optional
            Weight of each trial within its class, at least 0; whole numbers count like copies.
        units : (n_trials,) or (n_trials, 2) array_like, or TrialUnits, optional
            Speaker or other unit of each trial, or of its two sides: names or numbers. With units, training also
            estimates its uncertainty; see `interval` and ``parameter_covariance_``.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If a score is NaN, lengths differ, a class is empty, or no finite map is optimal for these scores.
        """
        score = _validate.scores(scores, "scores")
        truth, weight = _validate.labels(is_target, sample_weight, len(score))
        own = TrialUnits.checked(units, len(score))
        return self.fit_source(in_memory(Batch((score,), truth, own, weight)), None, 0, units=own)

    def _uncertainty(self, data: SourceTrials, units: TrialUnits) -> ParameterUncertainty:
        """Return the uncertainty of training by a jackknife, because there is no formula.

        Raises
        ------
        InputError
            If the units do not suffice.
        """
        bare = bare_copy(self)

        def trained_on(some: SourceTrials) -> Calibrator:
            one: Calibrator = bare_copy(bare)
            one._fit(some)
            return one

        return JackknifeMaps.leaving_out(lambda group, n: trained_on(data.without(group, n)), units)

    def transform(self, scores: ArrayLike) -> FloatArray:
        """Map scores to log-likelihood ratios.

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
        return self._transform(_validate.scores(scores, "scores").astype(np.float64, copy=False))

    @abstractmethod
    def _transform(self, scores: FloatArray) -> FloatArray:
        """Return log-likelihood ratios of checked scores."""


def outcome(objective: float, at_zero: float, status: str) -> dict[str, Plain]:
    """Return results of training, with the names that all models without a search use.

    Parameters
    ----------
    objective, at_zero : float
        Objective of the model, and of scores without information, in nats.
    status : str
        Result of training, in words.
    """
    return {"objective": objective, "objective_relative_to_llr_0": objective / at_zero, "status": status}


def outcome_of_llrs(tar: WeightedScores, non: WeightedScores, status: str) -> dict[str, Plain]:
    """Return results of training from calibrated llrs with optional weights: cross-entropy at prior 0.5."""
    return outcome(expected.cross_entropy(counting_llrs(tar), counting_llrs(non), 0.0), math.log(2), status)


def outcome_of(data: SourceTrials, transform: Callable[[FloatArray], FloatArray], status: str) -> dict[str, Plain]:
    """Return results of training from `SourceTrials` and a map that can be pickled."""
    costs: ClassCosts = data.look(partial(costs_of_mapped, transform))
    tar, non = costs.of_class
    return outcome(expected.mixed(tar, non, 0.0), math.log(2), status)


class TrainedByRule(TwoClassModel):
    """A model with parameters that minimize a beta-family rule at a prior."""

    p_target: float
    alpha: float
    beta: float
    ridge: float
    objective_: float

    def called(self, systems: Iterable[int]) -> str:
        """Return names of some of the systems for messages."""
        numbers = list(systems)
        if self.system_names:
            return " + ".join(self.system_names[k] for k in numbers)
        return f"system{'' if len(numbers) == 1 else 's'} {'+'.join(map(str, numbers))}"

    def __init__(self, *, p_target: float = 0.5, alpha: float = 1.0, beta: float = 1.0, ridge: float = 0.0) -> None:
        self.p_target, self.alpha, self.beta, self.ridge = p_target, alpha, beta, ridge
        self._rule()

    def _rule(self) -> tuple[float, float, float, float]:
        """Return checked rule, prior log odds and penalty; they are attributes, which may have changed.

        Raises
        ------
        InputError
            If one is out of range.
        """
        log_odds = _validate.single_log_odds(self.p_target)
        alpha, beta = _validate.rule(self.alpha, self.beta)
        ridge = _validate.in_range(self.ridge, "ridge", 0.0, 1e300, "A penalty is finite and at least 0")
        return alpha, beta, log_odds, ridge

    def _slopes_of(self, scores: FloatArray) -> FloatArray:
        return np.column_stack((scores, np.ones(len(scores))))

    def cost_of(self, tar: WeightedScores, non: WeightedScores) -> float:
        """Return the expected cost of weighted llrs of each class by the rule and prior of training."""
        alpha, beta, log_odds, _ = self._rule()
        return proper.scoring_rule_cost(tar, non, log_odds, alpha, beta)

    def cost_of_source(self, llrs: TrialSource, engine: Engine | None) -> float:
        """Return the expected cost of the llrs of a source, in one pass."""
        alpha, beta, log_odds, _ = self._rule()
        fields = TrialFields(truth=True, weight=llrs.has_weights)
        step = partial(_costs_by_rule, log_odds, alpha, beta)
        costs: ClassCosts = found_in(llrs, engine, fields, step, "adding up costs")
        tar, non = costs.of_class
        return expected.mixed(tar, non, log_odds)

    def _influences(
        self, value: TrainingTrials | PartsOfTrials, units: TrialUnits, weights: FloatArray, offset: float, **form: Any
    ) -> UnitChanges:
        """Return the changes of the weights of columns and of the offset with the units.

        Raises
        ------
        InputError
            See `linear_influences`.
        """
        from deciban.core.training.influences import linear_influences

        alpha, beta, log_odds, ridge = self._rule()
        return linear_influences(value, units, weights, offset, (alpha, beta, log_odds), ridge=ridge, **form)

    def _note(self, fit: LinearFit) -> None:
        """Store the objective, and warn if it is not the optimum."""
        self.objective_ = fit.objective
        if not fit.converged:
            warn(f"{self.warning_name or type(self).__name__}: {fit.status}.")


def results_of(fit: Fit) -> dict[str, Plain]:
    """Return the results of training for a model file."""
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
        """The fusion for trials with scores of all systems."""
        return self

    @property
    def without_quality(self) -> Fusion | None:
        """The fusion for trials without quality measures, if any."""
        return None

    def penalized_cost(self, tar: WeightedScores, non: WeightedScores) -> float:  # noqa: ARG002
        """Return the minimized objective, including the penalty.

        Parameters
        ----------
        tar, non : pairs of arrays
            Llrs of the training trials with scores of all systems, with their weights; for fusions whose objective
            includes other trials.
        """
        return self.penalized_objective_

    def subsets_of(self, scores: AnyArray) -> list[tuple[tuple[int, ...], int]]:  # noqa: ARG002
        """Return incomplete sets of systems that trials have scores of, with numbers of trials; the largest first.

        Raises
        ------
        TrialError
            If there is no fusion for some of these sets.
        """
        return []

    @property
    def n_systems_(self) -> int:
        """Number of systems."""
        return len(self.weights_)

    def parameter_rows(self) -> tuple[ParameterRow, ...]:
        """Return the weights of the systems, and the offset."""
        return self._rows(self.trained_systems)

    def _rows(self, names: Sequence[str]) -> tuple[ParameterRow, ...]:
        """Return the weights and the offset with other names of the systems."""
        errors: list[Any] = self.errors_in_order[: len(self.weights_) + 1] or [None] * (len(self.weights_) + 1)
        weights = self.weights_.tolist(), self.standardized_weights_.tolist(), errors[:-1]
        return (*map(ParameterRow, names, *weights), ParameterRow("offset", self.offset_, standard_error=errors[-1]))

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names: the systems for their weights, then the offset."""
        return (*self.trained_systems, "offset")


def require_systems(scores: ScoreArray, n_systems: int, what: str = "fusion") -> None:
    """Refuse scores whose number of systems differs from training.

    Raises
    ------
    InputError
        If it differs.
    """
    if scores.shape[1] != n_systems:
        raise InputError(
            f"scores: {scores.shape[1]} systems, but the {what} was trained on {n_systems}. Pass the same systems in "
            "the same order."
        )


def penalized(fit: Fit, ridge: float) -> float:
    """Return the minimized objective including the penalty."""
    return fit.objective + (0.5 * ridge * float(fit.standardized @ fit.standardized) if ridge > 0.0 else 0.0)
