"""What all trained models share: how they become files, and the number that tells their training data from others."""

from __future__ import annotations

import inspect
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from deciban._version import __version__
from deciban.core.resampling.units import FEW_UNITS, is_independent, number_of_units
from deciban.errors import InputError
from deciban.types import AnyArray, BoolArray, FloatArray, IntArray, ScoreArray

_BLOCK = 1 << 16
_MIXER = np.uint64(0xBF58476D1CE4E5B9)
"""Of the mixing function of the generator SplitMix64 (Steele, Lea and Flood 2014), of which one round is enough."""

_STEP = 0x9E3779B97F4A7C15
"""Its increment: multiples of it, made odd, are the factors of label, weight and columns."""


def fingerprint(
    columns: Sequence[AnyArray] | ScoreArray, is_target: BoolArray | IntArray, weights: FloatArray | None
) -> str:
    """Sixteen hexadecimal digits from the scores (columns, or a matrix of them), labels and weights of all trials.

    Every trial is mixed into 64 bits, and these are added: the order does not matter, a changed score does. It finds
    mistakes; it is no protection against somebody who wants the same digits for other data.

    Examples
    --------
    >>> import numpy as np
    >>> one = fingerprint([np.array([1.0, 2.0])], np.array([True, False]), None)
    >>> one == fingerprint([np.array([2.0, 1.0])], np.array([False, True]), None)
    True
    >>> one == fingerprint([np.array([1.0, 2.0])], np.array([False, True]), None)
    False
    """
    return in_digits(digits_of(columns, is_target, weights))


def in_digits(total: int) -> str:
    """A fingerprint as it is written."""
    return f"{total:016x}"


def digits_of(
    columns: Sequence[AnyArray] | ScoreArray, is_target: BoolArray | IntArray, weights: FloatArray | None
) -> int:
    """The `fingerprint` as a number: those of some trials and of others add up, modulo 2**64."""
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

    @classmethod
    def on(
        cls,
        columns: Sequence[AnyArray] | ScoreArray,
        is_target: BoolArray,
        weights: FloatArray | None,
        results: Mapping[str, Plain],
    ) -> Training:
        """Record a training on trials of two classes; ``columns`` are the scores and whatever else it saw of each."""
        n_tar = int(np.count_nonzero(is_target))
        counts = {"n_tar": n_tar, "n_non": len(is_target) - n_tar}
        return cls(counts, fingerprint(columns, is_target, weights), results=results)


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
