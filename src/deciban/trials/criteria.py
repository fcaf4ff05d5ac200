"""Which trials meet a criterion: names on their sides, values of their conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban._arrow import constant, of_words, to_numpy, with_gaps
from deciban.errors import InputError
from deciban.trials.frozen import as_text
from deciban.trials.lists import Trials
from deciban.trials.names.codes import plain_names
from deciban.types import BoolArray

Chosen: TypeAlias = str | Sequence[str] | None
"""Names to choose, one or several; None sets no criterion."""

Where: TypeAlias = Mapping[str, str | Sequence[str]]


def criteria(trials: Trials, names: Mapping[str, Chosen], where: Where) -> list[BoolArray]:
    """For every criterion, the trials that meet it.

    Raises
    ------
    InputError
        If there is no criterion, or a side, condition column or condition value does not exist or is not given as text.
    """
    if not isinstance(where, Mapping):
        raise InputError(f"where: got {where!r}. Write the values of each condition column: {{'gender': 'f'}}.")
    meets = []
    for side, wanted in names.items():
        if wanted is None:
            continue
        if side not in trials.sides:
            raise InputError(f"{side}: trials of {trials.origin.name} are identified by {', '.join(trials.sides)}.")
        at = trials.sides.index(side)
        known = to_numpy(pc.is_in(trials.names[at], value_set=_listed(wanted, side)))
        meets.append(known[trials.codes[at]])
    for name, values in where.items():
        meets.append(_with_values(trials, name, _listed(values, name)))
    if not meets:
        raise InputError("keep or drop: no criterion given. Name enroll, test or trial, or a condition (where).")
    return meets


def _with_values(trials: Trials, name: str, listed: pa.Array) -> BoolArray:
    """Trials whose condition has one of these values, in whichever way they are written."""
    column = trials.condition(name).dictionary_encode()
    there = column.dictionary
    chosen = np.zeros(len(there) + 1, np.bool_)  # the last entry is for trials without a value
    for text in listed.to_pylist():
        found = texts_alike(there, text)
        if not found.any():
            listing = ", ".join(str(value) for value in as_text(there)[:20].to_pylist())
            raise InputError(f"{trials.origin.name}: no trial has {name} = {text!r}; there are {listing}.")
        chosen[:-1] |= found
    meets: BoolArray = chosen[with_gaps(column.indices, len(there))]
    return meets


def texts_alike(values: pa.Array, text: str) -> BoolArray:
    """Which values are what a text says, in whichever way they are written; what is missing is nothing.

    Examples
    --------
    >>> texts_alike(pa.array([1.0, 2.0]), "1")
    array([ True, False])
    """
    alike = pc.equal(as_text(values), constant(text))
    value = _value(text, values.type)
    if value is not None:
        alike = pc.or_(alike, pc.is_in(values, value_set=value))  # NaN is in it, and equals nothing
    return with_gaps(alike, False)  # noqa: FBT003  # a value to fill in, no option


def _value(text: str, kind: pa.DataType) -> pa.Array | None:
    """A text as a value of a column, None where it can be none; 1.0 is a whole number, too."""
    for ways in ((kind,), (pa.float64(), kind)):
        value = of_words([text])
        try:
            for way in ways:
                value = pc.cast(value, way)
        except pa.ArrowException:
            continue
        return value
    return None


def _listed(values: str | Sequence[str], argument: str) -> pa.Array:
    """One name or several as an Arrow array: a single text is never taken for a list of letters."""
    return plain_names([values] if isinstance(values, str) else values, argument)
