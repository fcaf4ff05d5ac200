"""Which trials meet a criterion: names on their sides, values of their conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deciban.errors import InputError
from deciban.trials.lists import Trials
from deciban.trials.names import plain_names
from deciban.types import BoolArray

Wanted: TypeAlias = Mapping[str, str | Sequence[str]]


def criteria(trials: Trials, names: Mapping[str, str | Sequence[str] | None], where: Wanted) -> list[BoolArray]:
    """For every criterion, the trials that meet it.

    Raises
    ------
    InputError
        If a side, condition column or condition value does not exist, or is not given as text.
    """
    meets = []
    for side, wanted in names.items():
        if wanted is None:
            continue
        if side not in trials.sides:
            raise InputError(f"{side}: trials of {trials.origin.name} are identified by {', '.join(trials.sides)}.")
        at = trials.sides.index(side)
        known = np.asarray(pc.is_in(trials.names[at], value_set=_listed(wanted, side)), np.bool_)
        meets.append(known[trials.codes[at]])
    for name, values in where.items():
        column = as_text(trials.condition(name))
        there = pc.unique(column)
        listed = _listed(values, name)
        never = listed.filter(pc.invert(pc.is_in(listed, value_set=there)))
        if len(never):
            listing = ", ".join(str(value) for value in there[:20].to_pylist())
            raise InputError(f"{trials.origin.name}: no trial has {name} = {never[0].as_py()!r}; there are {listing}.")
        meets.append(np.asarray(pc.is_in(column, value_set=listed), np.bool_))
    return meets


def _listed(values: str | Sequence[str], argument: str) -> pa.Array:
    """One name or several as an Arrow array: a single text is never taken for a list of letters."""
    return plain_names([values] if isinstance(values, str) else values, argument)


def as_text(column: pa.Array) -> pa.Array:
    """Values of a condition as people write them."""
    return column if column.type == pa.string() else pc.cast(column, pa.string())
