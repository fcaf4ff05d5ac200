"""Names of trials in pieces, as numbers: nothing but whether they are equal is asked of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban.core.resampling.units import Keys, keys_of, mixed_bits
from deciban.io.contents import RowError
from deciban.io.shards.truth import plain
from deciban.trials.frozen import as_text
from deciban.trials.names.codes import encode


def keys_of_sides(table: pa.Table, columns: Sequence[str]) -> tuple[Keys, Keys]:
    """A number for the name of each side of every row; where the test side has channels, for both together.

    Parameters
    ----------
    table : pyarrow.Table
    columns : sequence of two or three str
        Of enrolment, test and channel.

    Raises
    ------
    RowError
        If a row has no name.

    Examples
    --------
    >>> enroll, test = keys_of_sides(pa.table({"model": ["a", "b"], "segment": ["b", "b"]}), ("model", "segment"))
    >>> bool(enroll[1] == test[1]), bool(enroll[0] == test[0])
    (True, False)
    """
    enroll, test, *channel = (keys_in(table, name) for name in columns)
    return enroll, channel_keys(test, channel[0]) if channel else test


def keys_in(table: pa.Table, name: str) -> Keys:
    """A number for every name in a column, the same for the same name; see `deciban.core.resampling.units.keys_of`.

    Raises
    ------
    RowError
        If a row has no name.
    """
    column = as_text(plain(table.column(name)).combine_chunks())
    empty = pc.fill_null(pc.equal(pc.cast(column, pa.string()), ""), fill_value=True)
    if pc.any(empty).as_py():
        raise RowError(f"column {name} is empty, and names a side of trials", pc.index(empty, value=True).as_py())
    codes, names = encode(column)
    return keys_of(np.array(names.to_pylist(), np.object_))[codes]


def channel_keys(test: Keys, channel: Keys) -> Keys:
    """Numbers of channels of names, by those of both; see `deciban.trials.units.TargetGraph`."""
    return mixed_bits(test ^ mixed_bits(channel))
