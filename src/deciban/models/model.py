"""The base of all trained models: how they become files, their training record, and how uncertain they are."""

from __future__ import annotations

import copy
import inspect
import json
import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deciban._version import __version__
from deciban.core.resampling.intervals import t_quantile
from deciban.core.resampling.units import FEW_UNITS, TrialUnits, is_independent, number_of_units, source_of_file
from deciban.errors import DecibanWarning, InputError
from deciban.types import AnyArray, BoolArray, FloatArray, IntArray, ScoreArray

if TYPE_CHECKING:
    from deciban.core.resampling.linearised import UnitChanges

_BLOCK = 1 << 16
_MIXER = np.uint64(0xBF58476D1CE4E5B9)
"""Of the mixing function of the generator SplitMix64 (Steele, Lea and Flood 2014), of which one round is enough."""

_STEP = 0x9E3779B97F4A7C15
"""Its increment: multiples of it, made odd, are the factors of label, weight and columns."""


def in_digits(total: int) -> str:
    """A fingerprint as it is written: sixteen hexadecimal digits."""
    return f"{total & (1 << 64) - 1:016x}"


def digits_of(
    columns: Sequence[AnyArray] | ScoreArray, is_target: BoolArray | IntArray, weights: FloatArray | None
) -> int:
    """Number from the scores (columns, or a matrix of them), labels and weights of all trials: their fingerprint.

    It does not depend on the order of trials: those of some trials and of others add up, modulo 2**64.

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
                mixed += factors @ _bits(columns[rows]).T  # half as long as the other way round
            else:
                for column, factor in zip(columns, factors, strict=True):
                    mixed += _bits(column[rows]) * factor
            if weights is not None:
                mixed += _bits(weights[rows]) * of_weight
            mixed ^= mixed >> np.uint64(32)  # the bits of small whole numbers are all above the middle
            mixed *= _MIXER
            mixed ^= mixed >> np.uint64(29)  # otherwise trials could exchange scores unnoticed
            total += mixed.sum(dtype=np.uint64)
    return int(total)


def _bits(values: AnyArray) -> NDArray[np.uint64]:
    """The bits of each number as a float64."""
    return np.ascontiguousarray(values, np.float64).view(np.uint64)


Plain = float | int | str | bool | None
"""What stands in a model file as it is."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Uncertainty(ABC):
    """Uncertainty of a trained model by the units of its training trials; base of both methods.

    Attributes
    ----------
    n_units : int
    noun : str
        What a unit is called, such as ``"speaker"``.
    source : str
        How the units were found, in words.
    """

    n_units: int
    noun: str = "unit"
    source: str = "given"

    @property
    @abstractmethod
    def method(self) -> str:
        """How it was found, in words."""

    @property
    def words(self) -> str:
        """A sentence on the units and the method."""
        few = f"; fewer than {FEW_UNITS}, so they are rough themselves" if self.n_units < FEW_UNITS else self._unequal
        units = number_of_units(self.n_units, self.noun, self.source)
        units += "" if is_independent(self.source) else f" ({self.source})"
        return f"standard errors: {self.method}, by {units}{few}"

    @property
    def _unequal(self) -> str:
        """A warning if few of the units dominate."""
        return ""

    @abstractmethod
    def content(self, names: tuple[str, ...]) -> dict[str, Any]:
        """Return the entry of a model file, for parameters of these names."""

    @property
    def _units(self) -> dict[str, Any]:
        return {"n": self.n_units, "noun": self.noun, "source": self.source}


@dataclass(frozen=True, slots=True)
class Training:
    """What a model was trained on, and how that went.

    Attributes
    ----------
    counts : mapping
        Number of trials: ``n_tar`` and ``n_non``, or one for each class.
    fingerprint : str
        Sixteen hexadecimal digits; the same trials give the same ones in any order.
    systems : tuple of str
        Names of the systems whose scores were used, where they are known.
    results : mapping
        What training found besides the parameters: ``objective``, ``status`` and so on.
    """

    counts: Mapping[str, int]
    fingerprint: str
    systems: tuple[str, ...] = ()
    results: Mapping[str, Plain] = field(default_factory=dict)


class Model(ABC):
    """A map from scores to log-likelihood ratios with parameters that were trained.

    A subclass has a ``kind``, the keyword-only arguments of its constructor as attributes of the same names (its
    settings), and attributes that end in an underscore for what training found (its parameters).
    """

    kind: ClassVar[str]
    parameter_schema: ClassVar[dict[str, Any]]
    """JSON schema of each parameter: how it stands in a file."""

    fit_call: ClassVar[str] = "fit(scores, is_target)"
    """What messages advise to call first."""

    told_as: str | None = None
    """What warnings call it; by default by its class."""

    training_: Training | None = None

    uncertainty_: Uncertainty | None = None
    """How far the parameters depend on which units were drawn; None where training was not told the units."""

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """What the rows of the covariance of its parameters are called."""
        return ()

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments of the constructor."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    @property
    def counted(self) -> tuple[str, ...]:
        """Of what the record of training counts trials."""
        return "n_tar", "n_non"

    def parameters(self) -> dict[str, Any]:
        """What training found, as plain numbers, strings, lists and mappings."""
        return {name: _listed(getattr(self, f"{name}_")) for name in self.parameter_schema}

    def set_parameters(self, parameters: Mapping[str, Any]) -> None:
        """Take numbers and arrays of them from a file that fits the schema.

        Raises
        ------
        InputError
            If they contradict each other, or there are none.
        """
        if self.parameter_schema and not parameters:
            raise InputError(
                f"parameters: none given. A model of kind {self.kind!r} has {', '.join(self.parameter_schema)}."
            )
        for name, value in parameters.items():
            setattr(self, f"{name}_", np.array(value, np.float64) if isinstance(value, list) else float(value))

    @property
    def is_fitted(self) -> bool:
        """Whether there are parameters."""
        return all(hasattr(self, f"{name}_") for name in self.parameter_schema)

    def require_fitted(self) -> None:
        """Refuse to go on without parameters.

        Raises
        ------
        InputError
            If the model was not trained.
        """
        if not self.is_fitted:
            raise InputError(f"{type(self).__name__}: not trained yet. Call {self.fit_call} first.")

    def save(self, path: Any) -> None:
        """Write the model to a JSON file, whole or not at all.

        Parameters
        ----------
        path : path

        Raises
        ------
        InputError
            If the model was not trained.
        OSError
            If the file cannot be written; an old one is still there then.
        """
        from deciban._files import atomic_write

        text = to_text(self)

        with atomic_write(path) as stream:
            stream.write(text.encode())

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        return f"{type(self).__name__}({given})"


SCHEMA = 1
"""Version of the layout; it changes when a name or a meaning does."""


def to_text(model: Model) -> str:
    """The file of a model.

    Raises
    ------
    InputError
        If the model was not trained.
    """
    return json.dumps(content_of(model), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def content_of(model: Model) -> dict[str, Any]:
    """What stands in the file of a model.

    Raises
    ------
    InputError
        If the model was not trained.
    """
    model.require_fitted()
    training = model.training_
    content: dict[str, Any] = {
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
    plain: dict[str, Any] = _plain(content)
    return plain


def _listed(value: Any) -> Any:
    """A parameter as numbers, strings, lists and mappings; a model as it would stand in a file of its own."""
    if isinstance(value, Model):
        return content_of(value)
    if isinstance(value, np.ndarray):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value


def _plain(value: Any) -> Any:
    """What JSON can hold: infinite numbers become words."""
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value


_FEW_DEGREES = 8.0
"""Degrees of freedom below which standard errors are rough."""

MOST_GROUPS = 20
"""Groups of units that a jackknife leaves out in turn, where there are as many units."""

Bounds: TypeAlias = tuple[FloatArray, FloatArray]
"""Lower and upper ends of intervals, (n_trials,) each."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ParameterCovariance(Uncertainty):
    """Covariance of the parameters of a model by unit: delete-one-unit jackknife, or sandwich for many units.

    Attributes
    ----------
    covariance : (n_parameters, n_parameters) array
        In the order of ``parameter_names`` of the model; 0 for what was not trained.
    bias : (n_parameters,) array or None
        Estimated bias of the parameters, which intervals correct; the parameters themselves are not corrected. None in
        models by sandwich, and in files of earlier versions.
    degrees : float or None
        Of freedom of the t quantile; None in files of earlier versions: one less than there are units.
    n_units, noun, source
        Of the units.
    """

    covariance: FloatArray
    bias: FloatArray | None = None
    degrees: float | None = None

    @classmethod
    def of(cls, changes: UnitChanges, units: TrialUnits) -> ParameterCovariance:
        """Return the covariance that changes of parameters with the units give.

        Raises
        ------
        InputError
            If a variance does not fit a float.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            found = changes.covariance
        if not np.isfinite(found).all():
            raise InputError("the variances of the parameters do not fit a float.")
        return cls(
            covariance=found,
            bias=changes.bias if changes.left_out else None,
            degrees=changes.degrees,
            n_units=changes.n_units,
            noun=units.noun,
            source=units.source,
        )

    @property
    def method(self) -> str:
        """How it was found, in words."""
        return "sandwich" if self.bias is None else "jackknife"

    @property
    def _unequal(self) -> str:
        degrees = self.n_units if self.degrees is None else self.degrees
        if degrees >= _FEW_DEGREES:
            return ""
        return f"; few {self.noun}s dominate ({degrees:.1f} degrees of freedom), so they are rough themselves"

    def reach(self, level: float) -> float:
        """Return how many standard errors an interval reaches to either side."""
        return t_quantile(level, self.n_units - 1 if self.degrees is None else self.degrees)

    @property
    def standard_errors(self) -> FloatArray:
        """Of each parameter."""
        return np.sqrt(np.diag(self.covariance))

    def bounds(self, llr: FloatArray, gradient: Callable[[slice], FloatArray], level: float) -> Bounds:
        """Intervals of llrs by the delta method.

        Parameters
        ----------
        llr : (n_trials,) array
        gradient : function of a slice
            Derivatives of the llrs of some trials by the parameters, (n, n_parameters).
        level : float
        """
        errors, middle = np.empty(len(llr)), llr.copy()
        used = np.flatnonzero(np.diag(self.covariance) > 0.0)  # nothing of an infinite derivative is nothing
        own = self.covariance[np.ix_(used, used)]
        with np.errstate(invalid="ignore", over="ignore"):
            for rows in (slice(i, i + _BLOCK) for i in range(0, len(llr), _BLOCK)):
                slopes = gradient(rows)[:, used]
                errors[rows] = np.sqrt(np.maximum(np.einsum("ni,ij,nj->n", slopes, own, slopes), 0.0))
                if self.bias is not None:
                    middle[rows] -= slopes @ self.bias[used]
        return _around(llr, errors, self.reach(level), middle)

    def bias_of(self, k: int) -> float:
        """Return the estimated bias of the parameter at position ``k``."""
        return 0.0 if self.bias is None else float(self.bias[k])

    def around(self, value: float, bias: float, error: float, level: float) -> tuple[float, float]:
        """Return the interval of a parameter with some bias and standard error; it contains the value."""
        low, high = _around(np.array([value]), np.array([error]), self.reach(level), np.array([value - bias]))
        return float(low[0]), float(high[0])

    def content(self, names: tuple[str, ...]) -> dict[str, Any]:
        """What stands in a model file."""
        found = {"parameters": list(names), "covariance": self.covariance.tolist(), "units": self._units}
        if self.bias is not None:
            found["bias"] = self.bias.tolist()
        return found if self.degrees is None else found | {"degrees": self.degrees}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JackknifeMaps(Uncertainty):
    """The same model, trained without each of some groups of units in turn (delete-a-group jackknife).

    Attributes
    ----------
    replicates : tuple of Model
    n_units, noun, source
        Of the units.
    """

    replicates: tuple[Model, ...]

    @property
    def method(self) -> str:
        """How it was found, in words."""
        return f"jackknife of {len(self.replicates)} groups"

    @classmethod
    def leaving_out(cls, without: Callable[[int, int], Model], units: TrialUnits) -> JackknifeMaps:
        """Train without each group of units.

        Parameters
        ----------
        without : function
            Of the number of a group and of how many there are; returns a model.
        units : TrialUnits

        Raises
        ------
        InputError
            If there is one unit, or a model cannot be trained without one of the groups.
        """
        from deciban.core.resampling.linearised import require_several

        require_several(units)
        n_groups = min(MOST_GROUPS, units.n_units)
        found = list[Any]()
        for group in range(n_groups):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", DecibanWarning)
                    model = without(group, n_groups)
            except InputError as error:
                raise InputError(f"without one of {n_groups} groups of {units.noun}s: {error}") from error
            model.training_ = None
            found.append(model)
        return cls(replicates=tuple(found), n_units=units.n_units, noun=units.noun, source=units.source)

    def bounds(self, llr: FloatArray, mapped: Callable[[Any], FloatArray], level: float) -> Bounds:
        """Intervals of llrs; from -inf to inf where it cannot tell, as a replicate is infinite and not all are.

        Parameters
        ----------
        llr : (n_trials,) array
        mapped : function
            Llrs of the same trials by a replicate.
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

    def content(self, names: tuple[str, ...]) -> dict[str, Any]:  # noqa: ARG002  # maps have none
        """What stands in a model file: the parameters of each replicate."""
        return {"replicates": [model.parameters() for model in self.replicates], "units": self._units}


def _around(llr: FloatArray, errors: FloatArray, reach: float, middle: FloatArray) -> Bounds:
    """Return intervals that reach so many errors around the middle, and contain the llr.

    An infinite llr stays what it is, and an error that is no number is unknown.
    """
    distance, middle = reach * np.where(np.isnan(errors), np.inf, errors), np.where(np.isnan(middle), llr, middle)
    with np.errstate(invalid="ignore"):
        low, high = np.fmin(middle - distance, llr), np.fmax(middle + distance, llr)
    is_certain = np.isinf(llr)
    low[is_certain] = high[is_certain] = llr[is_certain]
    return low, high


def checked_units(units: Any, n_trials: int) -> TrialUnits | None:
    """Return the units that a user passed.

    Parameters
    ----------
    units : TrialUnits, array_like or None
    n_trials : int

    Raises
    ------
    InputError
        If they are no units, or of more or fewer trials.
    """
    if units is None:
        return None
    found = units if isinstance(units, TrialUnits) else TrialUnits.of(units)
    if found.n_trials != n_trials:
        raise InputError(f"units: of {found.n_trials} trials, but there are {n_trials}. Give one for each trial.")
    return found


def bare_copy(model: Any) -> Any:
    """A copy that is trained for a jackknife: without what the model knows of its units."""
    found = copy.deepcopy(model)
    found.uncertainty_ = None
    return found


def uncertainty_of(content: Mapping[str, Any], model: Model) -> Uncertainty:
    """What a model file tells, of a model whose parameters are set.

    Raises
    ------
    InputError
        If it does not fit the model.
    """
    units = {"n_units": int(content["units"]["n"]), "noun": content["units"]["noun"]}
    units["source"] = source_of_file(content["units"]["source"])
    if "covariance" not in content:
        replicates = list[Any]()
        for parameters in content["replicates"]:
            one = type(model)(**model.settings)
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
