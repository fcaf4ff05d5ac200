"""Names of trials in pieces, as numbers: nothing but whether they are equal is asked of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban._arrow import of_numpy, to_numpy
from deciban.core.resampling.units import Keys, keys_of, mixed_bits
from deciban.io.columns.values import plain
from deciban.io.contents import RowError
from deciban.trials.frozen import as_text
from deciban.trials.names.codes import encode
from deciban.trials.names.fingerprints import Words, fingerprints
from deciban.types import AnyArray

_FEW = 1 << 10
"""Names below which nothing is looked up."""

_WORTHWHILE = 16
"""New names are remembered if more than one in so many of a piece is new."""

_ROOM = 1 << 26
"""Bytes of names that are remembered."""


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
    return keys_of_names(names)[codes]


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """Names whose numbers were made before, in the order of their fingerprints."""

    prints: Words
    names: pa.Array
    keys: Keys

    def places(self, names: pa.Array, prints: Words) -> AnyArray:
        """Where names stand among these, -1 for those that do not."""
        if not len(self.prints):
            return np.full(len(names), -1)
        place: AnyArray = np.minimum(np.searchsorted(self.prints, prints), len(self.prints) - 1)
        alike = np.flatnonzero(self.prints[place] == prints)
        same = pc.equal(self.names.take(of_numpy(place[alike])), names.take(of_numpy(alike)))
        found: AnyArray = np.full(len(names), -1)
        found[alike] = np.where(to_numpy(same), place[alike], -1)
        return found


_known = _Known(np.zeros(0, np.uint64), pa.nulls(0, pa.string()), np.zeros(0, np.uint64))


def keys_of_names(names: pa.Array) -> Keys:
    """A number for every name, as of `deciban.core.resampling.units.keys_of`.

    Making them is slow for millions of names, and every piece holds many of the same: some are remembered.

    Parameters
    ----------
    names : pyarrow string array
        Distinct.

    Examples
    --------
    >>> keys_of_names(pa.array(["ann", "bob"])).tolist() == keys_of(["ann", "bob"]).tolist()
    True
    """
    global _known  # noqa: PLW0603  # threads may replace it at the same time: what is there is always right
    if len(names) < _FEW:
        return keys_of(np.array(names.to_pylist(), np.object_))
    known, prints = _known, fingerprints(names)
    place = known.places(names, prints)
    new = np.flatnonzero(place < 0)
    found: Keys = np.empty(len(names), np.uint64)
    found[place >= 0] = known.keys[place[place >= 0]]
    if len(new):
        others = names.take(of_numpy(new))
        found[new] = keys_of(np.array(others.to_pylist(), np.object_))
        if len(new) * _WORTHWHILE > len(names) and known.names.nbytes + others.nbytes <= _ROOM:
            whole = np.concatenate((known.prints, prints[new])), np.concatenate((known.keys, found[new]))
            order = np.argsort(whole[0], kind="stable")
            together = pa.concat_arrays([known.names, others]).take(of_numpy(order))
            _known = _Known(whole[0][order], together, whole[1][order])
    return found


def channel_keys(test: Keys, channel: Keys) -> Keys:
    """Numbers of channels of names, by those of both; see `deciban.trials.units.TargetGraph`."""
    return mixed_bits(test ^ mixed_bits(channel))
