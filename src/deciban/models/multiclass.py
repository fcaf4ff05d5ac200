"""The base of multiclass models, and intervals of the weights and parameters of all models."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban._validate import classes as _validate_classes
from deciban.core.resampling.intervals import LEVEL, checked_level
from deciban.errors import InputError, warn
from deciban.models.model import ParameterCovariance, Plain, Uncertainty, checked_units
from deciban.models.score_model import ParameterRow, ScoreModel, error_in_words
from deciban.models.two_class import results_of
from deciban.trials.sources import Chunk, Columns, in_memory
from deciban.types import AnyArray, FloatArray, ScoreArray

if TYPE_CHECKING:
    from deciban.core.resampling.units import TrialUnits
    from deciban.core.training.linear_training import Fit
    from deciban.trials.passes import Engine
    from deciban.trials.sources import ShardSource
    from deciban.trials.speakers import UnitsOfPieces

NAMES: dict[str, Any] = {"type": ["array", "null"], "items": {"type": "string"}}
"""Names of the classes in a model file."""

VECTOR: dict[str, Any] = {"type": "array", "items": {"type": "number"}, "minItems": 2}
"""A number for each class."""

MATRIX: dict[str, Any] = {"type": "array", "items": VECTOR, "minItems": 2}
"""One for each pair of them."""


class ClassModel(ScoreModel):
    """A model of many classes: base of calibrators, fusions, transformations and the Gaussian back-end.

    What was passed as ``prior`` stands in model files, so it is kept as a list.
    """

    scores_kind = "classes"
    fit_call = "fit(loglik, label)"
    effect = "transformed"
    prior: list[float] | None

    offset_: FloatArray
    weights_: FloatArray

    def fit(
        self,
        loglik: ArrayLike,
        label: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        classes: Sequence[str] | None = None,
        units: ArrayLike | TrialUnits | None = None,
    ) -> Self:
        """Train on labelled trials.

        Parameters
        ----------
        loglik : (n_trials, n_classes) array_like
            Log-likelihoods in nats, or scores of that sense; -inf excludes a class, +inf excludes all others. Those of
            several systems, for a fusion, are of shape (n_trials, n_systems, n_classes).
        label : (n_trials,) array_like
            The true class: its column, counted from 0, or its name.
        sample_weight : (n_trials,) array_like, optional
            Weight of each trial within its class, at least 0; whole numbers count like copies.
        classes : sequence of str, optional
            Names of the columns, in their order.
        units : (n_trials,) array_like or TrialUnits, optional
            Which speaker or other unit each trial is of: then training finds the covariance of scales and offsets.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If a log-likelihood is NaN, shapes do not fit, a label is unknown, a class has no trial, or nothing finite
            can be learnt from these scores: the classes are separated and there is no penalty, for example, or infinite
            scores contradict the truth or the sign of a weight.
        """
        scores = self._checked_scores(loglik)
        n_classes, given = self._classes_of(scores, label, classes)
        names = _validate_classes.names(given, n_classes)
        checked = _validate_classes.label(label, len(scores), n_classes, names)
        weight = _validate.weights(sample_weight, len(scores), "sample_weight")
        systems = (scores,) if scores.ndim == 2 else Columns.of(scores)
        own = checked_units(units, len(scores))
        called = names or tuple(map(str, range(n_classes)))
        source = in_memory(Chunk(systems, checked, own, weight), called, is_numbered=names is None)
        return self.fit_pieces(source, None, 0, units=own)

    def _uncertainty(self, data: Any, units: TrialUnits) -> Uncertainty:
        """Covariance of scales and offsets.

        Raises
        ------
        InputError
            If this kind of model has none, or these units cannot tell.
        """
        from deciban.core.training.influences import class_influences  # which is for training alone

        scales, form = self._linear_form()
        found = class_influences(data.counted, units, scales, self.offset_, ridge=self._ridge(), **form)
        return ParameterCovariance.of(found, units)

    def _linear_form(self) -> tuple[FloatArray, dict[str, bool]]:
        """The scales of systems, and whether scales and offsets are trained; of models that have standard errors.

        Raises
        ------
        InputError
            If they are at a limit, where there are none.
        """
        raise NotImplementedError(
            f"{type(self).__name__} has standard errors (no_errors is empty), and so needs its _linear_form; name in "
            "no_errors why there are none, if it has no such form."
        )

    no_errors = "this form of map has no formula for them; calibrations by one scale, and fusions, have"
    no_intervals = "log-likelihoods of a trial are known up to a constant, so that one of them alone has no interval"

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """The scale, or the weight of each system, then the offset of each class."""
        scales = tuple(f"weight of {name}" for name in self.trained_systems) if self.is_fusion else ("scale",)
        return (*scales, *(f"offset of {name}" for name in self.counted))

    def _data(
        self, source: ShardSource, engine: Engine | None, memory: int, units: UnitsOfPieces | TrialUnits | None
    ) -> Any:
        from deciban.models.sources import SourceClasses

        return SourceClasses(source, engine, memory, units, prior=self.prior)

    def transform(self, loglik: ArrayLike) -> FloatArray:
        """Map the log-likelihoods of trials.

        Parameters
        ----------
        loglik : (n_trials, n_classes) array_like
            Systems, of a fusion, and classes in the order of training; may be infinite.

        Returns
        -------
        (n_trials, n_classes) array
            Log-likelihoods in nats, of which only differences within a trial mean anything.

        Raises
        ------
        InputError
            If the model was not trained, a log-likelihood is NaN, the number of systems or classes is another one,
            finite log-likelihoods become too large for a float, or the model does not know what to make of infinite
            ones: they contradict each other or meet a negative weight, for example.
        """
        self.require_fitted()
        checked = self._checked_scores(loglik)
        self._require_same(checked)
        return self._transform(checked)

    @abstractmethod
    def _transform(self, loglik: ScoreArray) -> FloatArray:
        """Map checked log-likelihoods, into a new array."""

    def fit_transform(
        self,
        loglik: ArrayLike,
        label: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        classes: Sequence[str] | None = None,
    ) -> FloatArray:
        """Train on trials and map the same trials, which flatters the result.

        Parameters, errors
            As in `fit`.

        Returns
        -------
        (n_trials, n_classes) array
            Log-likelihoods in nats.
        """
        return self.fit(loglik, label, sample_weight=sample_weight, classes=classes).transform(loglik)

    def _checked_scores(self, loglik: ArrayLike) -> ScoreArray:
        """What a user passed, checked by itself."""
        return _validate_classes.loglik(loglik)

    def _classes_of(
        self,
        scores: ScoreArray,
        label: ArrayLike,  # noqa: ARG002  # which may tell where scores do not
        classes: Sequence[str] | None,
    ) -> tuple[int, Sequence[str] | None]:
        """How many classes there are, and their names, if these are known."""
        return scores.shape[-1], classes

    def _require_same(self, scores: ScoreArray) -> None:
        """Refuse log-likelihoods of more or fewer classes than those of training.

        Raises
        ------
        InputError
            If they are.
        """
        if scores.shape[-1] != self.n_classes_:
            raise InputError(
                f"loglik: {scores.shape[-1]} classes, but the model was trained on {self.n_classes_}. Pass the same "
                "classes in the same order."
            )

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return len(self.offset_)

    @property
    def counted(self) -> tuple[str, ...]:
        """Names of the classes, or their numbers."""
        return self.classes_ or tuple(map(str, range(self.n_classes_)))

    @property
    def detector_maps(self) -> Mapping[str, Any]:
        """Calibrators of each class against the rest, by its name; none of maps that take all classes together."""
        return {}

    def seen(self, scores: AnyArray, quality: Sequence[AnyArray] = ()) -> AnyArray | list[AnyArray]:  # noqa: ARG002
        """All numbers of trials that the record of training has a fingerprint of."""
        found: AnyArray | list[AnyArray] = _columns(self.inputs(scores))
        return found

    def parameter_numbers(self, classes: Sequence[str] = ()) -> list[tuple[str, str, float]]:
        """The numbers of a map that has a scale or weights for all classes, and an offset for each.

        Parameters
        ----------
        classes : sequence of str
            What classes are called if the model does not know.

        Returns
        -------
        list of (what, of whom, value)
            ``"scale"`` of nobody in particular, ``"weight"`` of each system, ``"offset"`` of each class in nats.
        """
        scale, offset = getattr(self, "scale_", None), getattr(self, "offset_", None)
        found = [("scale", "", float(scale))] if scale is not None and np.ndim(scale) == 0 else []
        if self.is_fusion:
            weights = zip(self.trained_systems, self.weights_.tolist(), strict=True)
            found += [("weight", name, weight) for name, weight in weights]
        names = self.classes_ or tuple(classes)
        if isinstance(offset, np.ndarray) and offset.ndim == 1 and names:
            found += [("offset", name, value) for name, value in zip(names, offset.tolist(), strict=True)]
        return found

    def parameter_lines(self) -> list[str]:
        """The same in a line."""
        numbers, errors = self.parameter_numbers(), self.standard_errors
        parts, offsets = list[str](), list[str]()
        for what, whom, x in numbers:
            name = f"{what} of {whom}" if whom else what
            is_offset = what == "offset"
            shown = f"{whom} {x:z.3f}" if is_offset else f"{name} {x:.6g}"
            (offsets if is_offset else parts).append(f"{shown} {error_in_words(errors.get(name))}".rstrip())
        parts += [f"offsets in nats: {', '.join(offsets)}"] if offsets else []
        return ["; ".join(parts)] if parts else []

    def _set_prior(self, prior: ArrayLike | None) -> None:
        if prior is None:
            self.prior = None
            return
        values = np.atleast_1d(_validate.finite(prior, "prior"))
        _validate_classes.prior(values, values.size)
        self.prior = values.tolist()

    def _ridge(self) -> float:
        """The penalty, checked; settings are attributes, so they may have been changed."""
        return _validate.in_range(
            getattr(self, "ridge", 0.0), "ridge", 0.0, 1e300, "A penalty is finite and at least 0"
        )

    def _results_of(self, fit: Fit) -> dict[str, Plain]:
        """What a model file tells of a search; warns if it did not reach the optimum."""
        if not fit.converged:
            warn(f"{type(self).__name__}: {fit.status}.")
        return results_of(fit)

    def set_parameters(self, parameters: Mapping[str, Any]) -> None:
        """Take names, numbers and arrays of them from a file that fits the schema."""
        super().set_parameters({name: value for name, value in parameters.items() if name != "classes"})
        self._set_names(parameters)

    def _set_names(self, parameters: Mapping[str, Any]) -> None:
        """Take names from a file, and refuse what is of another number of classes, or of offsets that are not there."""
        self._require_count(parameters, n_classes := self.n_classes_)
        if getattr(self, "offsets", True) is False and any(parameters["offset"]):
            raise InputError("offset: not all are 0, but the setting offsets is false.")
        self.classes_ = _validate_classes.names(parameters["classes"], n_classes)

    def _require_count(self, parameters: Mapping[str, Any], n_classes: int) -> None:
        """Refuse a file in which names or prior are of another number of classes.

        Raises
        ------
        InputError
            If they are.
        """
        counted = next(name for name in ("offset", "mean", "detectors") if name in self.parameter_schema)
        rule = f"Each class has an entry of {counted}"
        names, prior = parameters["classes"], self.prior
        if names is not None and len(names) != n_classes:
            raise InputError(f"{counted}, classes: {len(names)} names for {n_classes} classes. {rule}, and a name.")
        if prior is not None and len(prior) != n_classes:
            words = f"shape ({len(prior)},) for {n_classes} classes. {rule}, and a probability"
            raise InputError(f"{counted}, settings.prior: {words}.")


class ClassMap(ClassModel):
    """A map from log-likelihoods of one system to log-likelihoods, trained on labelled trials of many classes."""

    parameter_schema: ClassVar[dict[str, Any]] = {"classes": NAMES, "offset": VECTOR}


def _columns(scores: ScoreArray) -> ScoreArray | list[ScoreArray]:
    """All numbers of a trial in a row, or as columns where that would take a copy."""
    if scores.ndim == 2:
        return scores
    if scores.flags.c_contiguous:
        return scores.reshape(len(scores), -1)
    return [system[:, k] for system in np.moveaxis(scores, 1, 0) for k in range(scores.shape[2])]


def require_square(values: Any, n: int, name: str) -> None:
    """Refuse a matrix from a file that has not a row and a column for each of the ``n`` offsets.

    Raises
    ------
    InputError
        If it has not.
    """
    if any(len(row) != n for row in values) or len(values) != n:
        lengths = sorted({len(row) for row in values})
        raise InputError(
            f"{name}, offset: expected {n} rows of {n} numbers for {n} offsets, got {len(values)} rows of "
            f"{' or '.join(map(str, lengths))}. There is a row, a column and an offset for each class."
        )


@dataclass(frozen=True, slots=True)
class WeightInterval:
    """A weight of a model, of scores that are divided by their standard deviation, with its interval.

    Attributes
    ----------
    name : str
        The system, or what else has a weight.
    weight : float
        In nats per standard deviation.
    low, high : float or None
        The interval; None where training was not told the units.
    """

    name: str
    weight: float
    low: float | None = None
    high: float | None = None


def weight_intervals(model: ScoreModel, *, level: float = LEVEL) -> tuple[WeightInterval, ...]:
    """Weights of a fusion on standardized scores, with intervals by the units of training.

    Parameters
    ----------
    model : ScoreModel
        A trained fusion, of two classes or of many.
    level : float
        Of the intervals.

    Returns
    -------
    tuple of WeightInterval
        In the order of training.

    Raises
    ------
    InputError
        If the model has no such weights, was not trained, or the level is not inside (0, 1).

    Notes
    -----
    The interval of a weight is that of the parameter (see `ParameterCovariance.around`), times the standard
    deviation of the scores, which counts as known. Scores of many classes
    are divided by their width, the root of the mean variance of the differences between two classes.

    Examples
    --------
    >>> import numpy as np
    >>> from deciban.fusion import LinearFusion
    >>> scores = np.array([[3.0, 1.0], [1.0, 2.0], [2.0, -1.0], [-1.0, 1.0], [1.5, 0.0], [0.0, -2.0], [2.0, 0.5]])
    >>> fusion = LinearFusion().fit(scores, np.arange(7) < 3)
    >>> [(one.name, round(one.weight, 2), one.low) for one in weight_intervals(fusion)]
    [('system 0', 1.81, None), ('system 1', 0.88, None)]
    """
    level = checked_level(level)
    model.require_fitted()
    rows = [row for row in _rows(model) if row.standardized is not None]
    if not rows:
        raise InputError(f"model: a {type(model).__name__} has no weights of systems. Pass a fusion (deciban fuse).")
    found, names = list[WeightInterval](), model.parameter_names
    for row in rows:
        weight = float(row.standardized or 0.0)
        scale = 0.0 if row.value == 0.0 else weight / row.value
        # Weights of a fusion of other trials, which stands beside, are none of its own parameters.
        name = f"weight of {row.name}" if isinstance(model, ClassModel) else row.name
        place = names.index(name) if name in names else None
        ends = _ends(model, row.value, row.standard_error, place, level)
        found.append(WeightInterval(row.name, weight, *sorted(scale * end for end in ends)))
    return tuple(found)


def _ends(model: ScoreModel, value: float, error: float | None, place: int | None, level: float) -> tuple[float, ...]:
    """Return the interval of a parameter, which may stand at a place of the covariance; empty if it is not known."""
    known = model.uncertainty_
    if error is None or not isinstance(known, ParameterCovariance):
        return ()
    return known.around(value, 0.0 if place is None else known.bias_of(place), error, level)


@dataclass(frozen=True, slots=True)
class ParameterInterval:
    """A parameter of a map of many classes, with its interval.

    Attributes
    ----------
    what : str
        ``"scale"``, ``"weight"`` or ``"offset"``.
    whom : str
        The system or the class; empty for a scale, which all classes share.
    value : float
        In nats, if it is an offset.
    low, high : float or None
        The interval; None where training was not told the units, or did not move this parameter.
    """

    what: str
    whom: str
    value: float
    low: float | None = None
    high: float | None = None


def parameter_intervals(
    model: ClassModel, *, classes: Sequence[str] = (), level: float = LEVEL
) -> tuple[ParameterInterval, ...]:
    """Scale or weights, and the offset of each class, with intervals by the units of training.

    Parameters
    ----------
    model : ClassModel
        A trained calibrator or fusion of many classes.
    classes : sequence of str
        What classes are called if the model does not know; by default their numbers.
    level : float
        Of the intervals.

    Returns
    -------
    tuple of ParameterInterval
        In the order of `ClassModel.parameter_numbers`; none of models that have no scale, weights or offsets.

    Raises
    ------
    InputError
        If the model was not trained, or the level is not inside (0, 1).

    Notes
    -----
    See `ParameterCovariance.around`. Offsets have mean 0: an interval is of how far a class is from the mean
    of all.

    Examples
    --------
    >>> from deciban.calibration import MulticlassCalibrator
    >>> llr = [2.0, 0.5, -1.5, 1.0, 1.5, -0.5, 0.8, -1.0, -2.0, -1.5, 1.5, 0.0]
    >>> loglik = [[one, 0.0] for one in llr]
    >>> model = MulticlassCalibrator().fit(loglik, [0] * 6 + [1] * 6, units=["a", "b", "c", "d", "e", "f"] * 2)
    >>> [(one.what, one.whom, round(one.value, 2)) for one in parameter_intervals(model)]
    [('scale', '', 0.55), ('offset', '0', -0.02), ('offset', '1', 0.02)]
    """
    level = checked_level(level)
    model.require_fitted()
    numbers = model.parameter_numbers(classes or tuple(map(str, range(model.n_classes_))))
    errors = model.errors_in_order or [0.0] * len(numbers)
    return tuple(
        ParameterInterval(what, whom, value, *_ends(model, value, error or None, k, level))
        for k, ((what, whom, value), error) in enumerate(zip(numbers, errors, strict=True))
    )


def _rows(model: ScoreModel) -> Sequence[ParameterRow]:
    """Parameters of a model as rows; of many classes the weights of a fusion, which all classes share."""
    if not (isinstance(model, ClassModel) and model.is_fusion):
        return model.parameter_rows()
    names, errors, fusion = model.trained_systems, model.standard_errors, cast("Any", model)
    weights = zip(names, fusion.weights_.tolist(), fusion.standardized_weights_.tolist(), strict=True)
    return [ParameterRow(*each, standard_error=errors.get(f"weight of {each[0]}")) for each in weights]
