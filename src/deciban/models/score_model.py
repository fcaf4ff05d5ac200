"""The base of all models of scores, and what they take: batches of labelled trials, quality measures."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban._validate.classes import Names
from deciban.core.resampling.intervals import LEVEL, checked_level
from deciban.errors import DecibanWarning, InputError, warn
from deciban.models.model import Bounds, JackknifeMaps, Model, ParameterCovariance, Plain, Uncertainty
from deciban.types import AnyArray, BoolArray, FloatArray, ScoreArray

if TYPE_CHECKING:
    from deciban.core.resampling.units import TrialUnits
    from deciban.trials.passes import Engine
    from deciban.trials.sources import ShardSource
    from deciban.trials.speakers import UnitsOfPieces


ARGUMENTS = ("enroll_quality", "test_quality", "trial_quality")
"""What fusions call measures of each side of a trial, and of the trial as a whole."""


def measure_table(values: ArrayLike, name: str, n_trials: int) -> ScoreArray:
    """Return ``values`` as a matrix with a row of finite measures for each trial, or NaN where there is none.

    Raises
    ------
    InputError
        If they are no matrix of real numbers, have too few rows or too many, or one is infinite.
    """
    table = _validate.matrix(values, name, "measure")
    if len(table) != n_trials:
        raise InputError(f"{name}: {len(table)} rows for {n_trials} trials. Give one row of measures per trial.")
    for k, column in enumerate(table.T):
        infinite = np.isinf(column)
        if infinite.any():
            raise InputError(
                f"{name}: measure {k} is infinite in {np.count_nonzero(infinite)} of {n_trials} trials, the first at "
                f"index {int(np.argmax(infinite))}. Measures are finite; NaN stands for a trial that has none."
            )
    return table


def tell_missing(model: str, present: BoolArray, consequence: str) -> None:
    """Warn if trials lack a measure, with the number of them."""
    lacking = np.flatnonzero(~present)
    if len(lacking):
        tell_lacking(model, len(lacking), len(present), f", the first at index {lacking[0]}", consequence)


def tell_lacking(model: str, n_lacking: int, n: int, where: str, consequence: str) -> None:
    """Warn that trials lack a measure."""
    warn(f"{model}: {n_lacking} of {n} trials lack quality measures{where}: {consequence}.")


@dataclass(frozen=True, slots=True)
class ParameterRow:
    """One parameter of a model, as a row of a table.

    Attributes
    ----------
    name : str
        System, or what else the parameter is a factor of.
    value : float
    standardized : float or None
        For what it is multiplied by, divided by its standard deviation; None for offsets, which have none.
    standard_error : float or None
        Of the value, where training was told the units.

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
        """The standard error as tables show it, with two digits; nothing where it is not known."""
        return error_in_words(self.standard_error)

    @property
    def texts(self) -> tuple[str, str]:
        """Both as tables show them: with digits that count, for a weight is as small as scores are large."""
        standardized = "" if self.standardized is None else f"{self.standardized:z.4g}"
        return f"{self.value:z.6g}", standardized


def error_in_words(standard_error: float | None) -> str:
    """A standard error with two digits; nothing where it is not known, or 0 as nothing was trained.

    >>> error_in_words(0.0312), error_in_words(123.4), error_in_words(None)
    ('± 0.031', '± 120', '')
    """
    if not standard_error:
        return ""
    digits = f"{standard_error:.2g}"
    return f"± {float(digits):g}" if "e+" in digits else f"± {digits}"


class ScoreModel(Model):
    """A map from the scores of one system or several to log-likelihood ratios, or to log-likelihoods of classes.

    Base of `Calibrator` and `Fusion` (two classes) and of `ClassModel` (many). Whoever reads files, trains, applies or
    reports asks the model what it needs through these members, and never for its class.
    """

    scores_kind: ClassVar[Literal["two-class", "classes"]] = "two-class"
    """What the scores are about."""

    is_fusion: ClassVar[bool] = False
    """Whether it takes the scores of several systems."""

    takes_quality: ClassVar[bool] = False
    """Whether it takes quality measures beside the scores, and needs some."""

    of_subsets: ClassVar[bool] = False
    """Whether it holds a fusion for each set of systems that a trial may have scores of."""

    table_name: ClassVar[str] = "calibration"
    """What tables call it where the systems are said elsewhere."""

    effect: ClassVar[str] = "calibrated"
    """What tables call scores that it was applied to."""

    system_names: tuple[str, ...] = ()
    """What messages of training call the systems; numbers from 0 if there are no names."""

    classes_: Names = None
    """Names of the classes of a multiclass model, if they have some."""

    @abstractmethod
    def fit(self, *args: Any, **kwargs: Any) -> Self:
        """Train on labelled trials."""

    def fit_pieces(
        self,
        source: ShardSource,
        engine: Engine | None,
        memory: int,
        *,
        units: UnitsOfPieces | TrialUnits | None = None,
    ) -> Self:
        """Train on the trials of a source, whatever their number: what `fit` finds of arrays.

        Parameters
        ----------
        source, memory
            As of `deciban.engines.counting.summarize_shards`.
        engine : Engine or None
            Where passes run; None if the source is one batch in memory.
        units : UnitsOfPieces or TrialUnits, optional
            With them training finds out how sure it is, as `fit` does, by one more pass; in memory, those of the batch
            are taken.

        Raises
        ------
        FormatError, OSError, InputError
            As reading and `fit`.
        """
        data = self._data(source, engine, memory, units)
        if not self.is_fusion:
            data.require_one_system(type(self).__name__)
        results = self._fit(data)
        self.training_, self.classes_ = data.training(results), data.classes
        self._learn_uncertainty(data)
        return self

    @abstractmethod
    def _data(
        self, source: ShardSource, engine: Engine | None, memory: int, units: UnitsOfPieces | TrialUnits | None
    ) -> Any:
        """Return the trials in the form that `_fit` takes: a `LabelledSource`."""

    @abstractmethod
    def _fit(self, data: Any) -> Mapping[str, Plain]:
        """Set the parameters, and return what else is worth knowing."""

    def _uncertainty(self, data: Any, units: TrialUnits) -> Uncertainty:  # noqa: ARG002
        """Return the uncertainty of training by units; raise `InputError` if there is none, or units are too few."""
        raise InputError(f"a model of kind {self.kind!r} has none")

    @abstractmethod
    def transform(self, *args: Any, **kwargs: Any) -> FloatArray:
        """Turn the scores of trials into llrs or log-likelihoods, in nats."""

    @property
    def accepts_missing(self) -> bool:
        """Whether it knows what to do about trials that some of its systems did not score."""
        return False

    @property
    def n_systems_(self) -> int:
        """How many systems it takes."""
        return 1

    @property
    def quality_arguments(self) -> tuple[str, ...]:
        """Arguments of `transform` for the quality measures that it was trained with."""
        return ()

    @property
    def parts(self) -> tuple[ScoreModel, ...]:
        """The maps that are applied one on the output of the other; itself where there is one."""
        return (self,)

    def inputs(self, scores: AnyArray) -> AnyArray:
        """What `fit` and `transform` take, out of scores with an axis of systems after that of trials."""
        return scores if self.is_fusion else scores[:, 0]

    def seen(self, scores: AnyArray, quality: Sequence[AnyArray] = ()) -> AnyArray | list[AnyArray]:
        """All numbers of trials that the record of training has a fingerprint of: scores, then quality measures."""
        return [*scores.T, *(column for table in quality for column in table.T)]

    def row_name(self, systems: Sequence[str]) -> str:
        """What tables call that which it makes of these systems: a fusion has one name, whatever is fused."""
        return self.table_name if self.is_fusion else f"{systems[0]}, {self.effect}"

    def parameter_rows(self) -> tuple[ParameterRow, ...]:
        """Its parameters row by row, named after what they belong to; none where one line says them all."""
        return ()

    def parameter_lines(self) -> list[str]:
        """Its parameters in a line or two, where there is no table of them."""
        errors = self.standard_errors
        numbers = [
            " ".join(filter(None, (f"{name} {value:.6g}", error_in_words(errors.get(name)))))
            for name, value in self.parameters().items()
            if isinstance(value, float)
        ]
        return [", ".join(numbers)] if numbers else []

    def training_lines(self) -> list[str]:
        """How training went, in sentences."""
        results = {} if self.training_ is None else dict(self.training_.results)
        lines = [f"training: {results['status']}"] if "status" in results else []
        if "objective" in results:
            lines.append(objective_line(results, without_llrs=self.scores_kind == "classes"))
        return [*lines, *self.uncertainty_lines()]

    def uncertainty_lines(self) -> list[str]:
        """By which units standard errors were found, if they were."""
        if self.no_errors:
            return [f"standard errors: none, as {self.no_errors}"]
        return [] if self.uncertainty_ is None else [self.uncertainty_.words]

    @property
    def parameter_covariance_(self) -> FloatArray | None:
        """Covariance of the parameters in the order of `parameter_names`; None if there is none.

        Without units training has none to tell, nor has a model without a fixed number of parameters.
        """
        found = self.uncertainty_
        return found.covariance if isinstance(found, ParameterCovariance) else None

    @property
    def standard_errors(self) -> dict[str, float]:
        """Standard error of each parameter by its name; none where there is no covariance."""
        return dict(zip(self.parameter_names, self.errors_in_order, strict=True)) if self.errors_in_order else {}

    @property
    def errors_in_order(self) -> list[float]:
        """The same without the names."""
        found = self.uncertainty_
        return found.standard_errors.tolist() if isinstance(found, ParameterCovariance) else []

    no_errors: str = ""
    """Why models of this kind, or this one, have no standard errors, where that is so."""

    no_intervals: ClassVar[str] = ""
    """Why what models of this kind make of scores has no intervals, where that is so."""

    def interval(self, scores: Any, *, level: float = LEVEL, **quality: Any) -> Bounds:
        """Between which bounds each llr would lie if the units of training were drawn again and again.

        Parameters
        ----------
        scores : array_like
            As in `transform`, and so are quality measures, where the model takes some.
        level : float
            Such as 0.95: the share of draws in which an interval holds the llr that training on all units that there
            are would give.

        Returns
        -------
        low, high : (n_trials,) arrays
            In nats. The llr itself on both sides where it is infinite, as the form of the map makes it certain.
            ``-inf`` and ``inf`` where nothing is known.

        Raises
        ------
        InputError
            As in `transform`; if the model was trained without units, or is of a kind that has no intervals; or if the
            level is not inside (0, 1).

        Notes
        -----
        The delta method on the covariance of the parameters, corrected for their bias, or a jackknife over groups of
        units for maps without a fixed number of parameters, with the t quantile. The interval accounts for the draw of
        training units alone, given that the form of the map and the population are right.

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

    def _bounds(self, scores: Any, llr: FloatArray, level: float, **_quality: Any) -> Bounds:
        """Intervals of the llrs of scores that `transform` took."""
        found, values = self._require_uncertainty(), np.asarray(scores, np.float64)
        if isinstance(found, JackknifeMaps):
            return found.bounds(llr, lambda model: model.transform(values), level)
        assert isinstance(found, ParameterCovariance)  # noqa: S101  # there are two
        return found.bounds(llr, lambda rows: self._slopes_of(values[rows]), level)

    def _require_uncertainty(self) -> Uncertainty:
        if self.uncertainty_ is None:
            if self.no_errors:
                raise InputError(f"{type(self).__name__}: no intervals: {self.no_errors}.")
            raise InputError(
                f"{type(self).__name__}: no intervals, as training was not told which units (speakers, sources) its "
                "trials are of, or could not tell from them. Train again with fit(..., units=...), or --units."
            )
        return self.uncertainty_

    def _slopes_of(self, scores: FloatArray) -> FloatArray:
        """Derivatives of the llrs of scores by the parameters, (n_trials, n_parameters)."""
        raise NotImplementedError(
            f"{type(self).__name__} has a covariance of its parameters, and so needs _slopes_of, derivatives of llrs "
            "by them; say in no_intervals why llrs have no intervals, if there are none."
        )

    def _learn_uncertainty(self, data: Any) -> None:
        """Find out how sure training is, if the units are known; tell why not, where that is impossible."""
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
        """Names of the systems in training, in its order; numbers from 0 if they are not known."""
        known = () if self.training_ is None else self.training_.systems
        return known or tuple(f"system {k}" for k in range(self.n_systems_))


def objective_line(results: dict[str, Any], of_trials: str = "", *, without_llrs: bool = False) -> str:
    """The objective of training, against that of scores that say nothing."""
    relative = f"{results['objective_relative_to_llr_0']:.4g}"
    silent = "scores that say nothing" + ("" if without_llrs else " (llr 0)")
    return f"objective {results['objective']:.6g}{of_trials}, {relative} times that of {silent}"


@contextmanager
def reasons_are_shown() -> Iterator[None]:
    """Without the warning that there are no standard errors, where `ScoreModel.uncertainty_lines` says why."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r".*: no standard errors: ", DecibanWarning)
        yield


@contextmanager
def missing_measures_are_known() -> Iterator[None]:
    """Without that warning, where it is told already how many trials lack measures."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r".* trials lack quality measures", DecibanWarning)
        yield


Form: TypeAlias = Callable[[Sequence[ScoreArray]], tuple[Sequence[ScoreArray], ScoreArray | None]]
"""What makes columns to train on, and what is added to the llr as it is, out of the scores of systems."""


def scores_alone(scores: Sequence[ScoreArray]) -> tuple[Sequence[ScoreArray], ScoreArray | None]:
    """A column for each system."""
    return scores, None


def scores_as_they_are(scores: Sequence[ScoreArray]) -> tuple[Sequence[ScoreArray], ScoreArray | None]:
    """No column: the score of the only system is added to the llr as it is."""
    return (), scores[0]
