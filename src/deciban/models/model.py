"""Base class of all trained models: files, training records, and uncertainty of parameters."""

from __future__ import annotations

import copy
import inspect
import json
import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from deciban._version import __version__
from deciban.core.resampling.intervals import t_quantile
from deciban.core.resampling.units import FEW_UNITS, TrialUnits, is_independent, number_of_units, source_of_file
from deciban.errors import DecibanWarning, InputError
from deciban.types import AnyArray, BoolArray, FloatArray, FloatPair, IntArray, Json, PathLike, ScoreArray

if TYPE_CHECKING:
    from deciban.core.resampling.linearised import UnitChanges

_BLOCK = 1 << 16
_MIXER = np.uint64(0xBF58476D1CE4E5B9)
"""Factor of the mixing function of SplitMix64 (Steele, Lea and Flood 2014); one round is enough."""

_STEP = 0x9E3779B97F4A7C15
"""Increment of SplitMix64: odd multiples of it are the factors of label, weight and columns."""


def in_digits(total: int) -> str:
    """Return a fingerprint as sixteen hexadecimal digits."""
    return f"{total & (1 << 64) - 1:016x}"


def digits_of(
    columns: Sequence[AnyArray] | ScoreArray, is_target: BoolArray | IntArray, weights: FloatArray | None
) -> int:
    """Return a fingerprint of all trials as a number, from scores (columns or a matrix), labels and weights.

    It does not depend on the order of trials. Fingerprints of two sets of trials are added modulo 2**64.

    Examples
    --------
    >>> one = digits_of([np.array([1.0, 2.0])], np.array([True, False]), None)
    >>> one == digits_of([np.array([2.0, 1.0])], np.array([False, True]), None)
    True
    >>> one == digits_of([np.array([1.0, 2.0])], np.array([False, True]), None)
    False
    """
    n_columns = columns.shape[1] if isinstance(columns, np.ndarray) else len(columns)
    of_label, of_weight, *of_columns = [np.uint64((k * _STEP & (1 << 64) - 1) | 1) for k in range(1, n_columns + 3)]
    factors = np.array(of_columns, np.uint64)
    total = np.uint64(0)
    with np.errstate(over="ignore"):
        size = max(_BLOCK // n_columns, 1)
        for i in range(0, len(is_target), size):
            rows = slice(i, i + size)
            mixed = is_target[rows].astype(np.uint64)
            mixed *= of_label
            if isinstance(columns, np.ndarray):
                mixed += factors @ _bits(columns[rows]).T  # twice as fast as the transposed product
            else:
                for column, factor in zip(columns, factors, strict=True):
                    mixed += _bits(column[rows]) * factor
            if weights is not None:
                mixed += _bits(weights[rows]) * of_weight
            mixed ^= mixed >> np.uint64(32)  # small whole numbers have bits in the upper half only
            mixed *= _MIXER
            mixed ^= mixed >> np.uint64(29)  # otherwise exchanged scores of trials would not be detected
            total += mixed.sum(dtype=np.uint64)
    return int(total)


def _bits(values: AnyArray) -> NDArray[np.uint64]:
    """Return the bits of each number as a float64."""
    return np.ascontiguousarray(values, np.float64).view(np.uint64)


Plain = float | int | str | bool | None
"""Values that are stored in a model file without conversion."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ParameterUncertainty(ABC):
    """Uncertainty of a trained model by the units of its training trials; base class of both methods.

    Attributes
    ----------
    n_units : int
    noun : str
        Name of a unit, such as ``"speaker"``.
    source : str
        Origin of the units, in words.
    """

    n_units: int
    noun: str = "unit"
    source: str = "given"

    @property
    @abstractmethod
    def method(self) -> str:
        """Name of the method."""

    @property
    def words(self) -> str:
        """Sentence on the units and the method."""
        return f"standard errors: {self.basis}"

    @property
    def basis(self) -> str:
        """The method and the units."""
        few = f"; fewer than {FEW_UNITS}, so they are approximate" if self.n_units < FEW_UNITS else self._unequal
        units = number_of_units(self.n_units, self.noun, self.source)
        units += "" if is_independent(self.source) else f" ({self.source})"
        return f"{self.method}, by {units}{few}"

    @property
    def _unequal(self) -> str:
        """Warning if a few of the units dominate, else empty."""
        return ""

    @abstractmethod
    def content(self, names: tuple[str, ...]) -> dict[str, Json]:
        """Return the entry of a model file; ``names`` are the names of the parameters."""

    @property
    def _units(self) -> dict[str, Json]:
        return {"n": self.n_units, "noun": self.noun, "source": self.source}


@dataclass(frozen=True, slots=True)
class Training:
    """Record of the training of a model.

    Attributes
    ----------
    counts : mapping
        Number of trials: ``n_tar`` and ``n_non``, or one for each class.
    fingerprint : str
        Sixteen hexadecimal digits; the same trials give the same ones in any order.
    systems : tuple of str
        Names of the systems whose scores were used, if known.
    results : mapping
        Other results of training: ``objective``, ``status`` and so on.
    """

    counts: Mapping[str, int]
    fingerprint: str
    systems: tuple[str, ...] = ()
    results: Mapping[str, Plain] = field(default_factory=dict)


class Model(ABC):
    """A trained map from scores to log-likelihood ratios.

    A subclass has a ``kind``, the keyword-only arguments of its constructor as attributes of the same names (settings),
    and attributes that end in an underscore for the results of training (parameters).
    """

    kind: ClassVar[str]
    parameter_schema: ClassVar[Mapping[str, object]]
    """JSON schema of each parameter."""

    fit_call: ClassVar[str] = "fit(scores, is_target)"
    """Call that messages recommend if the model is not trained."""

    warning_name: str | None = None
    """Name of the model in warnings; default: the class name."""

    training_: Training | None = None

    uncertainty_: ParameterUncertainty | None = None
    """Uncertainty of the parameters by the sampling of units; None if training had no units."""

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the rows of the covariance of the parameters."""
        return ()

    @property
    def settings(self) -> dict[str, Json]:
        """Arguments of the constructor."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    @property
    def counted(self) -> tuple[str, ...]:
        """Names of the classes that the training record counts."""
        return "n_tar", "n_non"

    def parameters(self) -> dict[str, Json]:
        """Return trained parameters as plain numbers, strings, lists and mappings."""
        return {name: _listed(getattr(self, f"{name}_")) for name in self.parameter_schema}

    def set_parameters(self, parameters: Mapping[str, Json]) -> None:
        """Set parameters from a file that fits the schema.

        Raises
        ------
        InputError
            If parameters are inconsistent or missing.
        """
        if self.parameter_schema and not parameters:
            raise InputError(
                f"parameters: missing. A model of kind {self.kind!r} has {', '.join(self.parameter_schema)}."
            )
        if len(parameters.get("weights", ())) != len(parameters.get("standardized_weights", ())):
            raise InputError("weights and standardized_weights have different lengths.")
        for name, value in parameters.items():
            setattr(self, f"{name}_", np.array(value, np.float64) if isinstance(value, list) else float(value))

    @property
    def is_fitted(self) -> bool:
        """True if there are parameters."""
        return all(hasattr(self, f"{name}_") for name in self.parameter_schema)

    def require_fitted(self) -> None:
        """Raise an error if there are no parameters.

        Raises
        ------
        InputError
            If the model was not trained.
        """
        if not self.is_fitted:
            raise InputError(f"{type(self).__name__}: not trained yet. Call {self.fit_call} first.")

    def save(self, path: PathLike) -> None:
        """Write the model to a JSON file, completely or not at all.

        Parameters
        ----------
        path : path

        Raises
        ------
        InputError
            If the model was not trained.
        OSError
            If the file cannot be written; an existing file is kept.
        """
        from deciban._files import atomic_write

        text = to_text(self)
        with atomic_write(path) as stream:
            stream.write(text.encode())

    def __repr__(self) -> str:
        argument = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        return f"{type(self).__name__}({argument})"


SCHEMA = 1
"""Version of the layout; it changes when a name or a meaning changes."""


def to_text(model: Model) -> str:
    """Return the text of a model file.

    Raises
    ------
    InputError
        If the model was not trained.
    """
    return json.dumps(content_of(model), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def content_of(model: Model) -> dict[str, Json]:
    """Return the content of a model file.

    Raises
    ------
    InputError
        If the model was not trained.
    """
    model.require_fitted()
    training = model.training_
    content: dict[str, Json] = {
        "deciban_model": SCHEMA,
        "kind": model.kind,
        "deciban_version": __version__,
        "settings": model.settings,
        "parameters": model.parameters(),
    }
    if training is not None:
        content["training"] = {
            "counts": dict(training.counts),
            "fingerprint": training.fingerprint,
            "systems": list(training.systems),
            "results": dict(training.results),
        }
    if model.uncertainty_ is not None:
        content["uncertainty"] = model.uncertainty_.content(model.parameter_names)
    return dict(_plain(content))


def _listed(value: Json) -> Json:
    """Return a parameter as numbers, strings, lists and mappings; nested models become the content of their files."""
    if isinstance(value, Model):
        return content_of(value)
    if isinstance(value, np.ndarray):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value


def _plain(value: Json) -> Json:
    """Return a value for JSON: infinite numbers become words."""
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value


_FEW_DEGREES = 8.0
"""Degrees of freedom below which standard errors are approximate."""

MOST_GROUPS = 20
"""Number of groups that a jackknife leaves out in turn, if there are enough units."""

Bounds: TypeAlias = FloatPair
"""Lower and upper ends of intervals, (n_trials,) each."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ParameterCovariance(ParameterUncertainty):
    """Covariance of the parameters of a model by units: delete-one-unit jackknife, or sandwich for many units.

    Attributes
    ----------
    covariance : (n_parameters, n_parameters) array
        In the order of ``parameter_names`` of the model; 0 for untrained parameters.
    bias : (n_parameters,) array or None
        Estimated bias of the parameters. Intervals are corrected for it, the parameters are not. None for sandwich
        covariances, and in files of earlier versions.
    degrees : float or None
        Degrees of freedom of the t quantile; None in files of earlier versions: the number of units minus one.
    n_units, noun, source
        See `ParameterUncertainty`.
    """

    covariance: FloatArray
    bias: FloatArray | None = None
    degrees: float | None = None

    @classmethod
    def of(cls, changes: UnitChanges, units: TrialUnits) -> ParameterCovariance:
        """Compute the covariance from changes of parameters with the units.

        Raises
        ------
        InputError
            If a variance exceeds double precision.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            result = changes.covariance
        if not np.isfinite(result).all():
            raise InputError("the variances of the parameters exceed double precision.")
        return cls(
            covariance=result,
            bias=changes.bias if changes.left_out else None,
            degrees=changes.degrees,
            n_units=changes.n_units,
            noun=units.noun,
            source=units.source,
        )

    @property
    def method(self) -> str:
        """Name of the method."""
        return "sandwich" if self.bias is None else "jackknife"

    @property
    def _unequal(self) -> str:
        degrees = self.n_units if self.degrees is None else self.degrees
        if degrees >= _FEW_DEGREES:
            return ""
        words = f"most of the variance comes from a few {self.noun}s ({degrees:.1f} degrees of freedom)"
        return f"; {words}, so the standard errors are approximate"

    def reach(self, level: float) -> float:
        """Return the half-width of an interval in standard errors."""
        return t_quantile(level, self.n_units - 1 if self.degrees is None else self.degrees)

    @property
    def standard_errors(self) -> FloatArray:
        """Standard error of each parameter."""
        return np.sqrt(np.diag(self.covariance))

    def bounds(self, llr: FloatArray, gradient: Callable[[slice], FloatArray], level: float) -> Bounds:
        """Return intervals of llrs by the delta method.

        Parameters
        ----------
        llr : (n_trials,) array
        gradient : function of a slice
            Derivatives of the llrs of some trials in the parameters, (n, n_parameters).
        level : float
        """
        errors, middle = np.empty(len(llr)), llr.copy()
        used = np.flatnonzero(np.diag(self.covariance) > 0.0)  # 0 times an infinite derivative counts as 0
        own = self.covariance[np.ix_(used, used)]
        with np.errstate(invalid="ignore", over="ignore"):
            for rows in (slice(i, i + _BLOCK) for i in range(0, len(llr), _BLOCK)):
                slopes = gradient(rows)[:, used]
                errors[rows] = np.sqrt(np.maximum(np.einsum("ni,ij,nj->n", slopes, own, slopes), 0.0))
                if self.bias is not None:
                    middle[rows] -= slopes @ self.bias[used]
        return _around(llr, errors, self.reach(level), middle)

    def around(self, value: float, bias: float, error: float, level: float) -> tuple[float, float]:
        """Return the interval of a parameter with this bias and standard error; it contains the value."""
        low, high = _around(np.array([value]), np.array([error]), self.reach(level), np.array([value - bias]))
        return float(low[0]), float(high[0])

    def content(self, names: tuple[str, ...]) -> dict[str, Json]:
        """Return the entry of a model file."""
        entries = {"parameters": list(names), "covariance": self.covariance.tolist(), "units": self._units}
        if self.bias is not None:
            entries["bias"] = self.bias.tolist()
        return entries if self.degrees is None else entries | {"degrees": self.degrees}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JackknifeMaps(ParameterUncertainty):
    """Replicates of a model, trained without each of some groups of units in turn (delete-a-group jackknife).

    Attributes
    ----------
    replicates : tuple of Model
    n_units, noun, source
        See `ParameterUncertainty`.
    """

    replicates: tuple[Model, ...]

    @property
    def method(self) -> str:
        """Name of the method."""
        return f"jackknife ({len(self.replicates)} groups)"

    @classmethod
    def leaving_out(cls, without: Callable[[int, int], Model], units: TrialUnits) -> JackknifeMaps:
        """Train without each group of units.

        Parameters
        ----------
        without : function
            Receives the number of a group and the number of groups; returns a model.
        units : TrialUnits

        Raises
        ------
        InputError
            If there is only one unit, or a model cannot be trained without one of the groups.
        """
        from deciban.core.resampling.linearised import require_several

        require_several(units)
        n_groups = min(MOST_GROUPS, units.n_units)
        result = list[Any]()
        for group in range(n_groups):
            try:
                with without_warnings():
                    model = without(group, n_groups)
            except InputError as error:
                raise InputError(f"without one of {n_groups} groups of {units.noun}s: {error}") from error
            model.training_ = None
            result.append(model)
        return cls(replicates=tuple(result), n_units=units.n_units, noun=units.noun, source=units.source)

    def bounds(self, llr: FloatArray, mapped: Callable[[Any], FloatArray], level: float) -> Bounds:
        """Return intervals of llrs; (-inf, inf) if some but not all replicates are infinite.

        Parameters
        ----------
        llr : (n_trials,) array
        mapped : function
            Returns llrs of the same trials by a replicate.
        level : float
        """
        n = len(self.replicates)
        mean, squares, same = np.zeros(len(llr)), np.zeros(len(llr)), np.ones(len(llr), np.bool_)
        with np.errstate(invalid="ignore"):
            for k, model in enumerate(self.replicates, 1):
                own = mapped(model)
                same &= own == llr
                step = own - mean
                mean += step / k
                squares += step * (own - mean)
            errors = np.where(same, 0.0, np.sqrt((n - 1.0) / n * squares))
        low, high = _around(llr, errors, t_quantile(level, n - 1), llr)
        unknown = np.isinf(llr) & ~same
        low[unknown], high[unknown] = -np.inf, np.inf
        return low, high

    def content(self, names: tuple[str, ...]) -> dict[str, Json]:  # noqa: ARG002  # maps have none
        """Return the entry of a model file: the parameters of each replicate."""
        return {"replicates": [model.parameters() for model in self.replicates], "units": self._units}


def _around(llr: FloatArray, errors: FloatArray, reach: float, middle: FloatArray) -> Bounds:
    """Return intervals of ``reach`` errors around the middle; they contain the llr.

    An infinite llr is its own interval, and a NaN error is unknown.
    """
    distance, middle = reach * np.where(np.isnan(errors), np.inf, errors), np.where(np.isnan(middle), llr, middle)
    with np.errstate(invalid="ignore"):
        low, high = np.fmin(middle - distance, llr), np.fmax(middle + distance, llr)
    is_certain = np.isinf(llr)
    low[is_certain] = high[is_certain] = llr[is_certain]
    return low, high


def bare_copy(model: Any) -> Any:
    """Return a copy for training in a jackknife, without the uncertainty."""
    result = copy.deepcopy(model)
    result.uncertainty_ = None
    return result


def uncertainty_of(content: Mapping[str, Json], model: Model) -> ParameterUncertainty:
    """Return the uncertainty in a model file; the parameters of the model are already set.

    Raises
    ------
    InputError
        If it does not match the model.
    """
    units = {"n_units": int(content["units"]["n"]), "noun": content["units"]["noun"]}
    units["source"] = source_of_file(content["units"]["source"])
    if "covariance" not in content:
        replicates = list[Any]()
        for parameters in content["replicates"]:
            one = untrained(model)
            one.set_parameters(parameters)
            replicates.append(one)
        return JackknifeMaps(replicates=tuple(replicates), **units)
    n, rows = len(model.parameter_names), content["covariance"]
    if len(rows) != n or any(len(row) != n for row in rows):
        of_what = f", one for each of {', '.join(model.parameter_names)}" if n else ""
        raise InputError(f"covariance: expected {n} rows of {n} numbers{of_what}.")
    matrix = np.array(rows, np.float64).reshape(n, n)
    if not np.array_equal(matrix, matrix.T) or np.any(np.diag(matrix) < 0.0):
        raise InputError("covariance: not symmetric, or with a negative variance.")
    bias = None if "bias" not in content else np.array(content["bias"], np.float64)
    if bias is not None and len(bias) != n:
        raise InputError(f"bias: {len(bias)} numbers, but the model has {n} parameters.")
    return ParameterCovariance(covariance=matrix, bias=bias, degrees=content.get("degrees"), **units)


@contextmanager
def without_warnings(words: str = "") -> Iterator[None]:
    """Suppress warnings of deciban that contain ``words``."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", f".*{words}", DecibanWarning)
        yield


without_error_warnings = partial(without_warnings, ": no standard errors: ")
"""Suppress the warning on missing standard errors if `ScoreModel.uncertainty_lines` states the reason."""

without_measure_warnings = partial(without_warnings, " trials lack quality measures")
"""Suppress the warning on missing measures if their number is reported elsewhere."""


Form: TypeAlias = Callable[[Sequence[ScoreArray]], tuple[Sequence[ScoreArray], ScoreArray | None]]
"""Function that returns the columns to train on, and the base of the llr, from the scores of systems."""


def scores_alone(scores: Sequence[ScoreArray]) -> tuple[Sequence[ScoreArray], ScoreArray | None]:
    """Return a column for each system, and no base."""
    return scores, None


def scores_unchanged(scores: Sequence[ScoreArray]) -> tuple[Sequence[ScoreArray], ScoreArray | None]:
    """Return no columns, and the score of the only system as the base of the llr."""
    return (), scores[0]


M = TypeVar("M", bound=Model)


def untrained(model: M) -> M:
    """Return an untrained model with the same settings."""
    return type(model)(**model.settings)
