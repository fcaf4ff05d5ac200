"""Tables whose arrays cannot be written to, and what else is known of trials: columns of a value for each."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban.errors import InputError
from deciban.trials.names import is_text
from deciban.types import AnyArray


class Frozen:
    """A dataclass whose arrays are read-only, also after it was copied or pickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        own: Any = self
        return type(self), tuple(getattr(self, field.name) for field in fields(own))

    def _freeze(self, *names: str) -> None:
        """Make arrays of a new object read-only; for ``__post_init__``."""
        for name in names:
            object.__setattr__(self, name, read_only(getattr(self, name)))


def read_only(array: Any) -> Any:
    """The same numbers as an array that refuses to be changed; what is none, or refuses already, as it is."""
    if not isinstance(array, np.ndarray) or not array.flags.writeable:
        return array
    view = array.view()
    view.setflags(write=False)
    return view


def owned(array: AnyArray, given: Any) -> AnyArray:
    """An array made from an argument, copied if the caller could still change it through that argument."""
    if isinstance(given, list | tuple):
        return array
    return array.copy() if np.may_share_memory(array, np.asarray(given)) else array


Conditions: TypeAlias = Mapping[str, Any]
"""Further columns of trials by name: text, numbers or truth values, one for each trial."""

NO_CONDITIONS: Conditions = MappingProxyType({})


def condition_column(name: str, values: Any) -> pa.Array:
    """Values of a condition, one per trial, as an Arrow array; all text as the common type of text.

    Raises
    ------
    InputError
        If they are too long for one, or are no single values.
    """
    try:
        if not isinstance(values, pa.Array | pa.ChunkedArray):
            # Arrow would share the memory of arrays with their owner.
            values = pa.array(copy.deepcopy(values) if hasattr(values, "__array__") else values)
        column = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
        if isinstance(column, pa.Array) and pa.types.is_dictionary(column.type):
            is_words = is_text(column.type.value_type)
            column = (column.dictionary.cast(pa.string()) if is_words else column.dictionary).take(column.indices)
        column = column.cast(pa.string()) if pa.types.is_null(column.type) or is_text(column.type) else column
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InputError(f"{name}: cannot hold these values ({error}).") from error
    if isinstance(column, pa.ChunkedArray):
        raise InputError(f"{name}: more than 2 GiB of values do not fit one column. Leave it out.")
    if pa.types.is_nested(column.type):
        raise InputError(f"{name}: holds {column.type} values. A condition is one value per trial.")
    return column


def as_text(column: pa.Array) -> pa.Array:
    """Values of a condition as people write them."""
    return column if column.type == pa.string() else pc.cast(column, pa.string())
