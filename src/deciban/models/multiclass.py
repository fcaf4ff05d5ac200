"""Base class of multiclass models, multiclass fusion, and intervals of the weights and parameters of all models."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban._validate import classes as _validate_classes
from deciban.core.logliks import row_blocks
from deciban.core.resampling.intervals import LEVEL, checked_level
from deciban.core.resampling.units import TrialUnits
from deciban.core.training.moments import overflown, refuse_overflow
from deciban.errors import InputError, TrialError, warn
from deciban.models.model import ParameterCovariance, ParameterUncertainty, Plain
from deciban.models.score_model import ParameterRow, ScoreModel, error_in_words, penalized, require_systems, results_of
from deciban.trials.sources import Batch, Columns, in_memory
from deciban.types import AnyArray, CountArray, FloatArray, IntArray, Json, Names, Priors, ScoreArray, Units, Weights

if TYPE_CHECKING:
    from deciban.core.training.trust_region import Fit
    from deciban.models.sources import SourceClasses

NAMES: dict[str, Json] = {"type": ["array", "null"], "items": {"type": "string"}}
"""Schema of the names of the classes."""

VECTOR: dict[str, Json] = {"type": "array", "items": {"type": "number"}, "minItems": 2}
"""Schema of a number for each class."""

MATRIX: dict[str, Json] = {"type": "array", "items": VECTOR, "minItems": 2}
"""Schema of a number for each pair of classes."""


class ClassModel(ScoreModel):
    """A multiclass model: base class of calibrators, fusions, transformations and the Gaussian back-end.

    Model files contain the ``prior`` argument, so it is stored as a list.
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
        sample_weight: Weights = None,
        classes: Names = None,
        units: Units = None,
    ) -> Self:
        """Train on labelled trials.

        Parameters
        ----------
        loglik : (n_trials, n_classes) array_like
            Log-likelihoods in nats, or other scores that are higher for likelier classes. -inf excludes a class, +inf
            excludes all others. For a fusion, scores of several systems have shape (n_trials, n_systems, n_classes).
        label : (n_trials,) array_like
            True class: its column, counted from 0, or its name.
        sample_weight : (n_trials,) array_like, optional
            Weight of each trial within its class, at least 0; whole numbers count like copies.
        classes : sequence of str, optional
            Names of the columns, in their order.
        units : (n_trials,) array_like or TrialUnits, optional
            Speaker or other unit of each trial, for the covariance of scales and offsets.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If a log-likelihood is NaN, shapes do not match, a label is unknown, or a class has no trials. Also if no
            finite map is optimal: for example, if the classes are separated and there is no penalty, or if infinite
            scores contradict the true classes or the sign of a weight.
        """
        scores = self._checked_scores(loglik)
        n_classes, value = self._classes_of(scores, label, classes)
        names = _validate_classes.names(value, n_classes)
        checked = _validate_classes.label(label, len(scores), n_classes, names)
        weight = _validate.weights(sample_weight, len(scores), "sample_weight")
        systems = (scores,) if scores.ndim == 2 else Columns.of(scores)
        own = TrialUnits.checked(units, len(scores))
        called = names or tuple(map(str, range(n_classes)))
        source = in_memory(Batch(systems, checked, own, weight), called, is_numbered=names is None)
        return self.fit_source(source, None, 0, units=own)

    def _uncertainty(self, data: SourceClasses, units: TrialUnits) -> ParameterUncertainty:
        """Return the covariance of scales and offsets.

        Raises
        ------
        InputError
            If this kind of model has no covariance, or the units do not suffice.
        """
        from deciban.core.training.influences import class_influences  # only needed for training

        scales, form = self._linear_form()
        result = class_influences(data.counted, units, scales, self.offset_, ridge=self._ridge(), **form)
        return ParameterCovariance.of(result, units)

    def _linear_form(self) -> tuple[FloatArray, dict[str, bool]]:
        """Scales of systems, and whether scales and offsets are trained; for models with standard errors.

        Raises
        ------
        InputError
            If the scales or offsets are at a limit and have no standard errors.
        """
        raise NotImplementedError(
            f"{type(self).__name__} has standard errors (no_errors is empty), so it needs _linear_form; if it has no "
            "linear form, set no_errors to the reason."
        )

    no_errors = "there is no formula for this form of map, only for fusions and for calibrations with a single scale"
    no_intervals = "log-likelihoods of a trial are known only up to a constant, so a single one has no interval"

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names: the scale or the weight of each system, then the offset of each class."""
        scales = tuple(f"weight of {name}" for name in self.trained_systems) if self.is_fusion else ("scale",)
        return (*scales, *(f"offset of {name}" for name in self.counted))

    def _data(self, *arguments: Any) -> SourceClasses:
        from deciban.models.sources import SourceClasses

        return SourceClasses(*arguments, prior=self.prior)

    def transform(self, loglik: ArrayLike) -> FloatArray:
        """Map the log-likelihoods of trials.

        Parameters
        ----------
        loglik : (n_trials, n_classes) array_like
            Systems (of a fusion) and classes in the order of training; may be infinite.

        Returns
        -------
        (n_trials, n_classes) array
            Log-likelihoods in nats; only differences within a trial matter.

        Raises
        ------
        InputError
            If the model was not trained, a log-likelihood is NaN, the number of systems or classes differs, or finite
            log-likelihoods exceed double precision. Also if infinite log-likelihoods have no defined result: for
            example, if they contradict each other or have a negative weight.
        """
        self.require_fitted()
        checked = self._checked_scores(loglik)
        self._require_same(checked)
        return self._transform(checked)

    @abstractmethod
    def _transform(self, loglik: ScoreArray) -> FloatArray:
        """Map checked log-likelihoods into a new array."""

    def _checked_scores(self, loglik: ArrayLike) -> ScoreArray:
        """Check the scores of a user on their own."""
        return _validate_classes.loglik(loglik)

    def _classes_of(self, scores: ScoreArray, label: ArrayLike, classes: Names) -> tuple[int, Sequence[str] | None]:  # noqa: ARG002
        """Return the number of classes, and their names, if known."""
        return scores.shape[-1], classes

    def _require_same(self, scores: ScoreArray) -> None:
        """Refuse log-likelihoods whose number of classes differs from training.

        Raises
        ------
        InputError
            If it differs.
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
        """Calibrators of each class against the rest, by class name; empty for maps of all classes together."""
        return {}

    def seen(self, scores: AnyArray, quality: Sequence[AnyArray] = ()) -> AnyArray | list[AnyArray]:  # noqa: ARG002
        """Return all numbers of trials that are in the fingerprint of the training record."""
        values: AnyArray | list[AnyArray] = _columns(self.inputs(scores))
        return values

    def parameter_numbers(self, classes: Sequence[str] = ()) -> list[tuple[str, str, float]]:
        """Return the parameters of a map with a scale or weights for all classes, and an offset for each.

        Parameters
        ----------
        classes : sequence of str
            Names of the classes if the model has none.

        Returns
        -------
        list of (what, of whom, value)
            ``"scale"`` with an empty name, ``"weight"`` of each system, ``"offset"`` of each class in nats.
        """
        scale, offset = getattr(self, "scale_", None), getattr(self, "offset_", None)
        result = [("scale", "", float(scale))] if scale is not None and np.ndim(scale) == 0 else []
        if self.is_fusion:
            weights = zip(self.trained_systems, self.weights_.tolist(), strict=True)
            result += [("weight", name, weight) for name, weight in weights]
        names = self.classes_ or tuple(classes)
        if isinstance(offset, np.ndarray) and offset.ndim == 1 and names:
            result += [("offset", name, value) for name, value in zip(names, offset.tolist(), strict=True)]
        return result

    def parameter_lines(self) -> list[str]:
        """Return the parameters in one line."""
        numbers, errors = self.parameter_numbers(), self.standard_errors
        parts, offsets = list[str](), list[str]()
        for what, whom, x in numbers:
            name = f"{what} of {whom}" if whom else what
            is_offset = what == "offset"
            shown = f"{'class ' * whom.isdigit()}{whom} {x:z.3f}" if is_offset else f"{name} {x:.6g}"
            (offsets if is_offset else parts).append(f"{shown} {error_in_words(errors.get(name))}".rstrip())
        parts += [f"offsets in nats: {', '.join(offsets)}"] if offsets else []
        return ["; ".join(parts)] if parts else []

    def _set_prior(self, prior: Priors) -> None:
        if prior is None:
            self.prior = None
            return
        values = np.atleast_1d(_validate.finite(prior, "prior"))
        _validate_classes.prior(values, values.size)
        self.prior = values.tolist()

    def _ridge(self) -> float:
        """Checked penalty; settings are attributes, which may have changed."""
        ridge = getattr(self, "ridge", 0.0)
        return _validate.in_range(ridge, "ridge", 0.0, 1e300, "A penalty is finite and at least 0")

    def _results_of(self, fit: Fit) -> dict[str, Plain]:
        """Return the results of a search for a model file; warn if it did not converge."""
        if not fit.converged:
            warn(f"{type(self).__name__}: {fit.status}.")
        return results_of(fit)

    def set_parameters(self, parameters: Mapping[str, Json]) -> None:
        """Set names, numbers and arrays from a file that fits the schema."""
        super().set_parameters({name: value for name, value in parameters.items() if name != "classes"})
        self._set_names(parameters)

    def _set_names(self, parameters: Mapping[str, Json]) -> None:
        """Set names from a file; refuse another number of classes, or offsets without the setting."""
        self._require_count(parameters, n_classes := self.n_classes_)
        if getattr(self, "offsets", True) is False and any(parameters["offset"]):
            raise InputError("offset: not all are 0, but the setting offsets is false.")
        self.classes_ = _validate_classes.names(parameters["classes"], n_classes)

    def _require_count(self, parameters: Mapping[str, Json], n_classes: int) -> None:
        """Refuse a file whose names or prior are for another number of classes.

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
    """A multiclass map from log-likelihoods of one system to log-likelihoods."""

    parameter_schema: ClassVar[Mapping[str, object]] = {"classes": NAMES, "offset": VECTOR}


def _columns(scores: ScoreArray) -> ScoreArray | list[ScoreArray]:
    """Return all numbers of each trial in a row, or as columns if this avoids a copy."""
    if scores.ndim == 2:
        return scores
    if scores.flags.c_contiguous:
        return scores.reshape(len(scores), -1)
    return [system[:, k] for system in np.moveaxis(scores, 1, 0) for k in range(scores.shape[2])]


def require_square(values: Any, n: int, name: str) -> None:
    """Refuse a matrix in a file without a row and a column for each of the ``n`` offsets.

    Raises
    ------
    InputError
        If the shape differs.
    """
    if any(len(row) != n for row in values) or len(values) != n:
        lengths = sorted({len(row) for row in values})
        raise InputError(
            f"{name}, offset: expected {n} rows of {n} numbers for {n} offsets, got {len(values)} rows of "
            f"{' or '.join(map(str, lengths))}. Each class needs a row, a column and an offset."
        )


@dataclass(frozen=True, slots=True)
class WeightInterval:
    """A weight of a model for standardized scores, with its interval.

    Attributes
    ----------
    name : str
        Name of the system, or of another weighted quantity.
    weight : float
        In nats per standard deviation.
    low, high : float or None
        The interval; None if training had no units.
    """

    name: str
    weight: float
    low: float | None = None
    high: float | None = None


def weight_intervals(model: ScoreModel, *, level: float = LEVEL) -> tuple[WeightInterval, ...]:
    """Return the weights of a fusion for standardized scores, with intervals by the units of training.

    Parameters
    ----------
    model : ScoreModel
        A trained fusion, two-class or multiclass.
    level : float
        Level of the intervals.

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
    The interval of a weight is the interval of the parameter (see `ParameterCovariance.around`), times the standard
    deviation of the scores, which counts as a constant. Multiclass scores are divided by their width, the root of the
    mean variance of the differences between two classes.

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
    result, names = list[WeightInterval](), model.parameter_names
    for row in rows:
        weight = float(row.standardized or 0.0)
        scale = 0.0 if row.value == 0.0 else weight / row.value
        # Weights of a fusion of other trials, which may be stored beside this one, are not its own parameters.
        name = f"weight of {row.name}" if isinstance(model, ClassModel) else row.name
        place = names.index(name) if name in names else None
        ends = _ends(model, row.value, row.standard_error, place, level)
        result.append(WeightInterval(row.name, weight, *sorted(scale * end for end in ends)))
    return tuple(result)


def _ends(model: ScoreModel, value: float, error: float | None, place: int | None, level: float) -> tuple[float, ...]:
    """Return the interval of a parameter at a place of the covariance; empty if unknown."""
    known = model.uncertainty_
    if error is None or not isinstance(known, ParameterCovariance):
        return ()
    bias = 0.0 if place is None or known.bias is None else float(known.bias[place])
    return known.around(value, bias, error, level)


@dataclass(frozen=True, slots=True)
class ParameterInterval:
    """A parameter of a multiclass map, with its interval.

    Attributes
    ----------
    what : str
        ``"scale"``, ``"weight"`` or ``"offset"``.
    whom : str
        System or class; empty for a scale, which all classes share.
    value : float
        In nats, if it is an offset.
    low, high : float or None
        The interval; None if training had no units, or did not change this parameter.
    """

    what: str
    whom: str
    value: float
    low: float | None = None
    high: float | None = None


def parameter_intervals(
    model: ClassModel, *, classes: Sequence[str] = (), level: float = LEVEL
) -> tuple[ParameterInterval, ...]:
    """Return the scale or weights, and the offset of each class, with intervals by the units of training.

    Parameters
    ----------
    model : ClassModel
        A trained multiclass calibrator or fusion.
    classes : sequence of str
        Names of the classes if the model has none; default: their numbers.
    level : float
        Level of the intervals.

    Returns
    -------
    tuple of ParameterInterval
        In the order of `ClassModel.parameter_numbers`; empty for models without scale, weights or offsets.

    Raises
    ------
    InputError
        If the model was not trained, or the level is not inside (0, 1).

    Notes
    -----
    See `ParameterCovariance.around`. Offsets have mean 0: an interval describes the difference between a class and the
    mean of all classes.

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
    """Return the parameters of a model as rows; for multiclass fusions the weights, which all classes share."""
    if not (isinstance(model, ClassModel) and model.is_fusion):
        return model.parameter_rows()
    names, errors, fusion = model.trained_systems, model.standard_errors, cast("Any", model)
    weights = zip(names, fusion.weights_.tolist(), fusion.standardized_weights_.tolist(), strict=True)
    return [ParameterRow(*each, standard_error=errors.get(f"weight of {each[0]}")) for each in weights]


_WEIGHTS: dict[str, Json] = {"type": "array", "minItems": 1, "items": {"type": "number"}}


class MulticlassFusion(ClassModel):
    """Fused log-likelihoods ``offset + sum_k weight_k loglik_k`` of several systems (thesis 8.16).

    Parameters
    ----------
    prior : (n_classes,) array_like, optional
        Prior of the objective, with sum 1; default: flat. The proportions of the data do not matter. A class of prior 0
        is not used in training, and its offset is 0.
    ridge : float
        Penalty ``ridge / 2 * sum(weights**2)``, with the weights for standardized scores, added to the objective.
        Standardized scores are divided by their width: the root of the mean variance of the differences between two
        classes. Offsets are never penalized.
    offsets : bool
        Train offsets; otherwise they are 0.

    Attributes
    ----------
    weights_ : (n_systems,) array
        Factor of each system's log-likelihoods. It can be negative: a system may correct the errors of another one.
    standardized_weights_ : (n_systems,) array
        Weights for scores divided by their width in all trials: the effect of each system on the result.
    offset_ : (n_classes,) array
        In nats; their mean is 0.
    objective_ : float
        Cross-entropy at the prior (thesis 8.17) at the optimum, in nats, without the penalty.
    penalized_objective_ : float
        Minimum of the objective, including the penalty.
    classes_ : tuple of str, optional
        Names of the classes, if there are any.
    training_ : Training
        Number of trials of each class, a fingerprint of the data, and ``results`` of training.

    Notes
    -----
    For two classes, this is equivalent to `LinearFusion` of the differences. Identical systems share their weight. A
    system that gives all trials the same scores, up to rounding and a constant per trial, has no information and gets
    weight 0: it never replaces offsets. Classes that the systems separate together are refused unless there is a
    penalty. A class that one system excludes (-inf) is excluded if the system has a positive weight. A negative weight
    would invert certainty: `fit` and `transform` refuse it. A system of weight 0 does not count, even if its scores are
    infinite.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.array([[2, 0, 0], [1, 0, 0], [0, 1, 0], [0, 2, 0], [1, 0, 0], [0, 0, 1], [0, 0.4, 1], [0, 1, 0]])
    >>> two = np.array([[1, 1, 0], [0, 1, 0], [1, 0.5, 1], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 0, 2], [0, 1, 1]])
    >>> fusion = MulticlassFusion().fit(np.stack([one, two], axis=1), [0, 0, 0, 1, 1, 2, 2, 2])
    >>> fusion.weights_.round(2), fusion.offset_.round(2)
    (array([0.99, 0.85]), array([ 0.11, -0.21,  0.09]))
    >>> fusion.transform([[[1, 0, 0], [1, 0, 1]]]).round(2)
    array([[ 1.95, -0.21,  0.94]])
    """

    kind: ClassVar[str] = "multiclass-fusion"
    is_fusion = True
    no_errors = ""
    table_name = "fusion"
    parameter_schema: ClassVar[Mapping[str, object]] = {
        "classes": NAMES,
        "weights": _WEIGHTS,
        "standardized_weights": _WEIGHTS,
        "offset": VECTOR,
    }

    def __init__(self, *, prior: Priors = None, ridge: float = 0.0, offsets: bool = True) -> None:
        self._set_prior(prior)
        self.ridge, self.offsets = ridge, offsets
        self._checked()

    def _checked(self) -> tuple[float, bool]:
        """Return the checked penalty and setting of offsets; they are attributes, which may have changed."""
        _validate.flag(self.offsets, "offsets")
        return self._ridge(), bool(self.offsets)

    def _checked_scores(self, loglik: ArrayLike) -> ScoreArray:
        """Return log-likelihoods of several systems, checked system by system, not copied if they are floats.

        Raises
        ------
        InputError
            If the array does not have three dimensions, or the scores of a system are not log-likelihoods.
        """
        table = _validate.array(loglik, "loglik")
        if table.ndim != 3:
            raise InputError(
                f"loglik: expected an array of shape (n_trials, n_systems, n_classes), got {table.shape}. Combine the "
                "matrices of several systems by np.stack([one, other], axis=1)."
            )
        if table.shape[1] == 0:
            raise InputError(f"loglik: shape {table.shape} has no systems. At least one is needed.")
        checked = [_validate_classes.loglik(table[:, k], f"loglik[:, {k}]") for k in range(table.shape[1])]
        return table if checked[0].dtype == table.dtype else np.stack(checked, axis=1)

    def _fit(self, data: SourceClasses) -> Mapping[str, Plain]:
        from deciban.core.training.multiclass_training import train_counted  # only needed for training

        ridge, offset = self._checked()
        fit = train_counted(data.counted, ridge=ridge, offset=offset)
        if np.any(fit.weights <= 0.0):
            data.look(partial(_require_positive_in, fit.weights))
        results = self._results_of(fit)
        self.weights_, self.standardized_weights_ = fit.weights, fit.standardized
        self.offset_, self.objective_ = fit.offsets, fit.objective
        self.penalized_objective_ = penalized(fit, ridge)
        return results

    def _linear_form(self) -> tuple[FloatArray, dict[str, bool]]:
        return self.weights_, {"scale": True, "offset": bool(self.offsets)}

    def _require_same(self, scores: ScoreArray) -> None:
        require_systems(scores, self.n_systems_)
        super()._require_same(scores)

    def _transform(self, loglik: ScoreArray) -> FloatArray:
        _require_positive(loglik, self.weights_, np.flatnonzero(self.weights_ < 0.0))
        fused = self._fused(loglik)
        _require_agreement(fused, loglik)
        return fused

    def _fused(self, systems: ScoreArray) -> FloatArray:
        """Return the weighted sum of checked systems; NaN if infinite scores contradict each other."""
        fused, far = np.empty((len(systems), self.n_classes_)), np.zeros(len(systems), np.bool_)
        used = np.flatnonzero(self.weights_)
        with np.errstate(over="ignore", invalid="ignore"):
            for rows in row_blocks(len(systems), self.n_classes_):
                fused[rows] = self.offset_
                for k in used:
                    fused[rows] += self.weights_[k] * systems[rows, k]
                if not _validate.all_finite(fused[rows]):
                    some = systems[rows][:, used]
                    far[rows] = overflown(np.where(np.isinf(some).any(axis=1), np.inf, 0.0), fused[rows])
                    far[rows] |= overflown(some, some * self.weights_[used, None]).any(axis=1)
        refuse_overflow(far)
        return fused

    @property
    def n_systems_(self) -> int:
        """Number of systems."""
        return len(self.weights_)


def _require_positive_in(weights: FloatArray, trials: Batch) -> None:
    """Refuse trials for `_require_positive`; return nothing."""
    _require_positive(trials.stacked, weights, np.flatnonzero(weights <= 0.0), trials.weight)


def _require_positive(
    systems: ScoreArray, weights: FloatArray, wrong: IntArray, sample_weight: CountArray | None = None
) -> None:
    """Refuse weights that invert or remove the effect of infinite scores in trials that count.

    Raises
    ------
    TrialError
        If one of the ``wrong`` systems has infinite log-likelihoods.
    """
    for k in wrong.tolist():
        if _validate.all_finite(systems[:, k]):
            continue
        infinite = np.isinf(systems[:, k]).any(axis=1)
        trials = np.flatnonzero(infinite if sample_weight is None else infinite & (sample_weight > 0))
        if len(trials):
            raise TrialError(
                f"loglik: the weight of system {k} is {weights[k]:.3g}, but its log-likelihoods of {len(trials)} of "
                f"{len(systems)} trials are infinite, the first ",
                int(trials[0]),
                ": they would become certainty of the opposite. Make infinite scores finite, or leave the system out.",
            )


def _require_agreement(fused: FloatArray, systems: ScoreArray) -> None:
    """Refuse trials in which systems contradict each other with infinite log-likelihoods.

    Raises
    ------
    InputError
        If there are any.
    """
    if _validate.all_finite(fused):
        return
    wrong = np.flatnonzero(np.isnan(fused).any(axis=1) | np.isneginf(fused).all(axis=1))
    if len(wrong):
        raise InputError(
            f"loglik: in {len(wrong)} trials systems contradict each other with infinite log-likelihoods, the first at "
            f"index {wrong[0]}: {systems[wrong[0]].tolist()}. Give them finite scores."
        )
