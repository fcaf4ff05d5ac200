"""Units of rows, from columns, files or mappings of names, and 64-bit keys of names."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban._arrow import of_numpy, to_numpy
from deciban._files import display_name
from deciban.core.resampling.units import Keys, TrialUnits, independent, keys_of, mixed_bits
from deciban.errors import InputError, KeyMismatchError
from deciban.io.columns.values import names_in, plain, refuse_missing
from deciban.io.read import read_id_map
from deciban.messages import counted
from deciban.trials import IdMap
from deciban.trials.lists import PAIR_SIDE, SINGLE
from deciban.trials.names import Words, encode, fingerprints, positions
from deciban.trials.units import UnitColumn, keys_of_trials, require_two_sides, units_of_columns
from deciban.types import AnyArray, IntArray

_COLUMN = "column:"


@dataclass(frozen=True, slots=True)
class UnitsOf:
    """Where the units of rows stand.

    Attributes
    ----------
    columns : tuple of str
        One, or one for each side.
    maps : tuple of IdMap or None
        For each column what its names stand for; None for themselves.
    called : tuple of str
        What messages call the maps.
    apart : bool
        Whether the same name on both sides is not the same unit.
    """

    columns: tuple[str, ...]
    maps: tuple[IdMap | None, ...]
    called: tuple[str, ...]
    apart: bool

    @classmethod
    def named(
        cls, parts: Sequence[Any], sides: Mapping[str, str], names: Sequence[str], name: str, *, apart: bool
    ) -> Self:
        """Find what a user named: columns, files or mappings, one or one for each side; none for the sides themselves.

        Parameters
        ----------
        parts : sequence
        sides : mapping of str to str
            Columns with the names of the sides of trials, by side.
        names : sequence of str
            Columns that can name units: those of the sides, and of conditions.
        name : str
            What messages call the table.
        apart : bool

        Raises
        ------
        InputError, FormatError, OSError
            If there is no such column or file.
        """
        if apart or len(parts) == 2:
            require_two_sides([*sides], name, named="columns" if parts else "sides")
        of_column = {column: side for side, column in sides.items()}
        found: list[tuple[str, IdMap | None, str]] = []
        for at, part in enumerate(parts or sides):
            column = part.removeprefix(_COLUMN) if isinstance(part, str) else ""
            column = sides.get(column, column) if column not in names else column
            if column in names:
                side = of_column.get(column)
                of_side = f"the names of {side if parts else ' and '.join(sides)}"
                found.append((column, None, f"column {column!r}" if side is None else of_side))
                continue
            units, called = _map(part, name, names)
            own = [*sides.values()][at : at + 1] if len(parts) > 1 else [*sides.values()]
            if not own:
                raise InputError(f"units: {called} says the units of names, and trials of {name} have none there.")
            found += [(side, units, called) for side in own]
        if not found or (apart and len(found) < 2):
            raise InputError(f"units: trials of {name} have no names on {1 + apart} sides. Name columns (--units).")
        columns, maps, called_by = zip(*found, strict=True)
        return cls(columns, maps, called_by, apart)

    def of(self, table: pa.Table, start: int) -> TrialUnits:  # noqa: ARG002  # columns say it
        """The units of rows.

        Raises
        ------
        RowError, KeyMismatchError
            If a row has none.
        """
        found: list[UnitColumn] = []
        for name, units, called in zip(self.columns, self.maps, self.called, strict=True):
            codes, names = names_in(plain(table.column(name)), name, "says of which unit trials are")
            if units is not None:
                place = positions(names, units.left)
                if len(place) and place.min() < 0:
                    lacking = names[int(np.argmax(place < 0))].as_py()
                    raise KeyMismatchError(f"{called} does not say the unit of {lacking!r}. Complete it by a line")
                codes_of_units, names = encode(units.right.take(of_numpy(place)))
                codes = codes_of_units[codes]
            found.append((codes, names))
        words = " and ".join(dict.fromkeys(self.called))
        words += ", those of one side apart from those of the other" if self.apart else ""
        return units_of_columns(found, apart=self.apart, noun="unit", source=f"by {words}")


@dataclass(frozen=True, slots=True)
class EachTrial:
    """Every row is a unit, known by its names; where there are none, by its number among all rows.

    Attributes
    ----------
    columns : tuple of str
        With the names of its sides.
    """

    columns: tuple[str, ...]

    def of(self, table: pa.Table, start: int) -> TrialUnits:
        """The units of rows, the first of which has the number ``start``.

        Raises
        ------
        RowError
            If a row has no name.

        Examples
        --------
        >>> table = pa.table({"a": ["x", "x"], "b": ["y", "z"]})
        >>> EachTrial(("a", "b")).of(table, 0).n_units, EachTrial(()).of(table, 7).noun
        (2, 'trial')
        """
        n_rows = table.num_rows
        if self.columns:
            keys = keys_of_trials(_keys_of_sides(table, self.columns))
        else:
            keys = mixed_bits(np.arange(start, start + n_rows))
        return TrialUnits((np.arange(n_rows),), keys, "trial", independent("trial"))


def _map(part: Any, name: str, names: Sequence[str]) -> tuple[IdMap, str]:
    """What a file or a mapping says of names, and what messages call it."""
    if isinstance(part, IdMap):
        return part, f"a mapping of {counted(len(part), 'name')}"
    if isinstance(part, Mapping):
        units = IdMap.from_columns(list(part), list(map(str, part.values())), source="units")
        return units, f"a mapping of {counted(len(part), 'name')}"
    if isinstance(part, os.PathLike) or Path(str(part)).is_file():
        return read_id_map(part), display_name(part)
    raise InputError(
        f"units: {part!r} is no column of {name} (there are {', '.join(names)}), and no file. Name a column of the "
        "key, or a file of two columns, name and unit."
    )


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
    enroll, test, *channel = _keys_of_sides(table, columns)
    return enroll, channel_keys(test, channel[0]) if channel else test


def _keys_of_sides(table: pa.Table, columns: Sequence[str]) -> list[Keys]:
    found = []
    for name, side in zip(columns, SINGLE if len(columns) == 1 else PAIR_SIDE, strict=False):
        column = plain(table.column(name))
        refuse_missing(column, name, side)
        codes, names = names_in(column, name, "names a side of trials")
        found.append(keys_of_names(names)[codes])
    return found


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


@dataclass(frozen=True, eq=False)
class WhoIsWho:
    """The speaker of every name, on each side of a trial.

    Attributes
    ----------
    maps : pair of IdMap
        From names to speakers, of enrolment and of test.
    called : tuple of str
        What messages call the files, one or one for each side.

    Examples
    --------
    >>> who = WhoIsWho.of([{"m1": "ann", "m2": "bob"}, {"x": "bob"}])
    >>> who.speakers_of(pa.array(["m2", "m1"]), 0), who.speakers_of(pa.array(["x"]), 1)
    (array([1, 0]), array([1]))
    """

    maps: tuple[IdMap, IdMap]
    called: tuple[str, ...]

    @classmethod
    def of(cls, given: Sequence[Any]) -> WhoIsWho:
        """Read one file for both sides, or one for each; a mapping of names to speakers is taken as it is.

        Raises
        ------
        InputError, FormatError, OSError
            If there are not one or two, or one cannot be read.
        """
        if not 1 <= len(given) <= 2:
            raise InputError(f"speakers: got {len(given)} files. Name one for both sides of trials, or one for each.")
        found: list[IdMap] = []
        for one in given:
            if isinstance(one, IdMap):
                found.append(one)
            elif isinstance(one, Mapping):
                found.append(IdMap.from_columns(list(one), list(map(str, one.values())), source="speakers"))
            elif isinstance(one, str | os.PathLike):
                found.append(read_id_map(one))
            else:
                raise InputError(
                    f"speakers: got {type(one).__name__}. Name a file of two columns, name and speaker, or pass a "
                    "mapping."
                )
        called = tuple(display_name(one) if isinstance(one, str | os.PathLike) else "speakers" for one in given)
        return cls((found[0], found[-1]), called)

    @cached_property
    def _speakers(self) -> tuple[list[IntArray], pa.Array]:
        """The number of the speaker of every line, of each side, and the speakers."""
        codes, names = encode(pa.concat_arrays([one.right for one in self.maps]))
        return np.split(codes, [len(self.maps[0].right)]), names

    @cached_property
    def keys(self) -> Keys:
        """A number for every speaker; see `TrialUnits`."""
        return keys_of(np.array(self._speakers[1].to_pylist(), np.object_))

    def speakers_of(self, names: pa.Array, side: int) -> AnyArray:
        """The speaker of every name as a number, the same on both sides; -1 of those that are not known."""
        place = positions(names, self.maps[side].left)
        codes: AnyArray = self._speakers[0][side].astype(np.int64)
        return np.where(place < 0, -1, codes[place]) if len(codes) else np.full(len(names), -1)

    def in_lines(self, n_names: int, side: int, what: str) -> AnyArray:
        """The speaker of the first name, the second one and so on: of names that are those of the lines, in order.

        Raises
        ------
        InputError
            If there are not as many lines as names.
        """
        codes: AnyArray = self._speakers[0][side].astype(np.int64)
        if len(codes) != n_names:
            raise InputError(
                f"speakers: {self.called[min(side, len(self.called) - 1)]} has {len(codes):,} lines, but there are "
                f"{n_names:,} {what}. Where these have no names, there is one line for each, in their order."
            )
        return codes

    def lacks(self, name: str, side: int) -> str:
        """What to say about a name without a speaker."""
        called = self.called[min(side, len(self.called) - 1)]
        return f"{called} does not say the speaker of {name!r}. Complete it by a line: name and speaker"

    def units(self, enroll: AnyArray, test: AnyArray) -> TrialUnits:
        """The speakers of trials as units, by their numbers on both sides."""
        source = f"by {' and '.join(self.called)}"
        order = np.argsort(self.keys, kind="stable")
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        return TrialUnits((rank[enroll], rank[test]), self.keys[order], "speaker", source)
