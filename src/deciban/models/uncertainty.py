"""How far what training found depends on which units it saw: covariances of parameters, and jackknives of maps."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from deciban.core.resampling.intervals import t_quantile
from deciban.core.resampling.units import TrialUnits, source_of_file
from deciban.errors import DecibanWarning, InputError
from deciban.models.model import Model, Uncertainty
from deciban.types import FloatArray

if TYPE_CHECKING:
    from deciban.core.resampling.linearised import UnitChanges

_BLOCK = 1 << 16
"""Trials whose derivatives are looked at together."""

_FEW_DEGREES = 8.0
"""Degrees of freedom below which standard errors are rough."""

MOST_GROUPS = 20
"""Groups of units that a jackknife leaves out in turn, where there are as many units."""

Bounds: TypeAlias = tuple[FloatArray, FloatArray]
"""Lower and upper ends of intervals, (n_trials,) each."""

_UNITS: dict[str, Any] = {
    "type": "object",
    "required": ["n", "noun", "source"],
    "properties": {
        "n": {"type": "integer", "minimum": 2, "maximum": 9007199254740992},
        "noun": {"type": "string"},
        "source": {"type": "string"},
    },
    "additionalProperties": False,
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["units"],
    "properties": {
        "units": _UNITS,
        "parameters": {"type": "array", "items": {"type": "string"}},
        "covariance": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
        "bias": {"type": "array", "items": {"type": "number"}},
        "degrees": {"type": "number", "minimum": 1, "maximum": 9007199254740992},
        "replicates": {"type": "array", "minItems": 2, "maxItems": 1000, "items": {"type": "object"}},
    },
    "oneOf": [{"required": ["covariance"]}, {"required": ["replicates"]}],
    "additionalProperties": False,
}
"""How an uncertainty stands in a model file."""


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
