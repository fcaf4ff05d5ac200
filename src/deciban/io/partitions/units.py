"""Units of rows from columns, files or mappings of names, and 64-bit keys of names."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import pyarrow as pa

from deciban._arrow import Words, constant, encode, fingerprints, of_numpy, pc, positions, to_numpy
from deciban._files import is_file
from deciban.core.resampling.units import Keys, TrialUnits, independent, keys_of, mixed_bits
from deciban.errors import FormatError, InputError, KeyMismatchError, counted, display_name, option
from deciban.io.columns.values import names_in, plain, refuse_missing
from deciban.io.formats import RowError
from deciban.io.reader import read_id_map
from deciban.trials import IdMap
from deciban.trials.lists import PAIR_SIDE, SINGLE
from deciban.trials.units import UnitColumn, keys_of_trials, require_two_sides, units_of_columns
from deciban.types import AnyArray, BoolArray, IntArray

_COLUMN = "column:"


@dataclass(frozen=True, slots=True)
class UnitMap:
    """Units or speakers of names, from a file or a mapping, with its name for messages."""

    units: IdMap
    called: str

    @classmethod
    def of(cls, value: Any, argument: str = "units") -> UnitMap:
        """Read a file, or check a mapping.

        Raises
        ------
        FormatError, OSError
            If a file cannot be read.
        InputError
            If a name in a mapping is not a string, or a unit is neither a string nor an integer.
        """
        if isinstance(value, str | os.PathLike):
            try:
                return cls(read_id_map(value), display_name(value))
            except FormatError as error:
                words = f"{argument.capitalize()} are read from lines with two columns: a name and its {argument[:-1]}."
                raise FormatError(f"{error} {words}") from error
        if not isinstance(value, Mapping | IdMap):
            way = f"Pass a file with two columns, name and {argument[:-1]}, or a mapping."
            raise InputError(f"{argument}: got {type(value).__name__}. {way}")
        words = f"a mapping of {counted(len(value), 'name')}"
        if isinstance(value, IdMap):
            return cls(value, words)
        for name, unit in value.items():
            if not isinstance(name, str) or isinstance(unit, bool | float) or unit == "" or unit is None:
                what = f"the {argument[:-1]} of each name"
                raise InputError(f"{argument}: got {name!r}: {unit!r}. Pass {what}: {{'a-1': 'ann'}}.")
        return cls(IdMap.from_columns(list(value), list(map(str, value.values())), source=argument), words)


@dataclass(frozen=True, slots=True)
class UnitsOf:
    """The columns that contain the units of rows.

    Attributes
    ----------
    columns : tuple of str
        One, or one for each side.
    maps : tuple of UnitMap or None
        For each column, the units of its names; None if the names are the units.
    words : str
        Text for the source of units in messages.
    apart : bool
        True if equal names on the two sides are different units.
    sides : mapping of str to str
        Columns with the names of the sides of trials, by side.
    """

    columns: tuple[str, ...]
    maps: tuple[UnitMap | None, ...]
    words: str
    apart: bool
    sides: Mapping[str, str]

    @classmethod
    def named(
        cls, parts: Sequence[Any], sides: Mapping[str, str], conditions: Sequence[str], name: str, *, apart: bool
    ) -> Self:
        """Return the units that a user named: columns, files or mappings, one or one per side; none means the sides.

        Parameters
        ----------
        parts : sequence
        sides : mapping of str to str
            Columns with the names of the sides of trials, by side.
        conditions : sequence of str
            Other columns that can contain units.
        name : str
            Name of the table for messages.
        apart : bool

        Raises
        ------
        InputError, FormatError, OSError
            If a name is neither a column nor a file, or is both.
        """
        if apart or len(parts) == 2:
            require_two_sides([*sides], name, named="columns" if parts else "sides")
        if not parts and not sides:
            raise InputError(f"units: trials of {name} have no names. Name columns ({option(units=...)}).")
        of_units = {side: column for side, column in sides.items() if side != PAIR_SIDE[2]}
        side_of = {column: side for side, column in sides.items()}
        held = [_held(part, sides, conditions, name) for part in parts]
        words = " and ".join(
            one.called if isinstance(one, UnitMap)
            else f"the names of {side_of[one]}" if one in side_of else f"column {one!r}"
            for one in held
        )  # fmt: skip
        maps = [one for one in held if isinstance(one, UnitMap)]
        if maps and not of_units:
            raise InputError(
                f"units: {maps[0].called} contains units of names, but trials of {name} have no names. Name a column "
                f"of the key, or treat each trial as a unit ({option(units='trials')})."
            )
        if not held or (maps and len(held) == 1):
            words = words or f"the names of {' and '.join(of_units)}"
            items = [(column, maps[0] if maps else None) for column in of_units.values()]
        else:
            places = zip(held, [*of_units.values(), ""], strict=False)
            items = [(side, one) if isinstance(one, UnitMap) else (one, None) for one, side in places]
        if apart and len(items) < 2:
            raise InputError(
                f"units: 'product' needs units of two sides, but by {words} each trial has one. Name a column for each "
                "side: product:COLUMN,COLUMN."
            )
        words += ", with separate units for the two sides" if apart else ""
        return cls(tuple(one for one, _ in items), tuple(one for _, one in items), words, apart, of_units)

    def of(self, table: pa.Table, start: int = 0, counting: BoolArray | None = None) -> TrialUnits:
        """Return the units of rows.

        Parameters
        ----------
        table : pyarrow.Table
        start : int
            Index of the first row among all rows.
        counting : (n_rows,) bool array, optional
            True for rows that count. Other rows do not define units, and need none in a file.

        Raises
        ------
        RowError
            If a row has no unit.
        """
        del start  # columns contain the units
        result: list[UnitColumn] = []
        for name, held in zip(self.columns, self.maps, strict=True):
            codes, names = names_in(plain(table.column(name)), name, "contains the units of trials")
            if held is not None:
                place = positions(names, held.units.left)
                unknown = place < 0
                if unknown.any():
                    self._require_known(name, unknown, codes, names, held, counting)
                units = pc.coalesce(held.units.right.take(of_numpy(place, lacking=unknown)), constant(""))
                codes_of_units, names = encode(units)
                codes = codes_of_units[codes]
            result.append((codes, names))
        return units_of_columns(result, counting, apart=self.apart, noun="unit", source=f"by {self.words}")

    def _require_known(
        self,
        column: str,
        unknown: BoolArray,
        codes: IntArray,
        names: pa.Array,
        held: UnitMap,
        counting: BoolArray | None,
    ) -> None:
        """Raise if a row that counts has a name without a unit."""
        lacking = unknown[codes] if counting is None else unknown[codes] & counting
        if not lacking.any():
            return
        row = int(np.argmax(lacking))
        name, side = names[int(codes[row])], next(side for side, own in self.sides.items() if own == column)
        hint = ""
        if pc.index(held.units.right, name).as_py() >= 0:
            hint = " Its second column, of units, contains this name: are the columns swapped?"
            if len(self.sides) == 2:
                one = [at if at == side else "FILE" for at in self.sides]
                way = option(units=one)
                hint = f" Its second column contains this name: if names of {side} are units, use {way}."
        raise RowError(
            f"{held.called} does not contain the unit of {name.as_py()!r} ({len(np.unique(codes[lacking])):,} of "
            f"{counted(len(names), 'name')} of {side} are missing).{hint} Add a line for each of them, a name and its "
            f"unit, or leave these trials out ({option(where=...)})",
            row,
            KeyMismatchError,
        )


def _held(part: Any, sides: Mapping[str, str], conditions: Sequence[str], name: str) -> str | UnitMap:
    """Return the column that the user named, or the units of names in a file or a mapping.

    Raises
    ------
    InputError
        If the name is neither a column nor a file, or is both.
    """
    if not isinstance(part, str):
        return UnitMap.of(part)
    column = part.removeprefix(_COLUMN)
    own = column if column in conditions else sides.get(column, column)
    known, is_there = own in (*conditions, *sides.values()), column == part and is_file(part)
    if known and is_there:
        raise InputError(
            f"units: {part!r} is a column of {name} and a file. Write ./{part} for the file, {_COLUMN}{part} for the "
            "column."
        )
    if is_there:
        return UnitMap.of(part)
    if not known:
        raise InputError(
            f"units: {column!r} is not a column of {name} (the columns are "
            f"{', '.join((*sides, *conditions)) or 'none'}), nor a file. Name a column of the key, "
            "or a file with two columns, name and unit."
        )
    return own


@dataclass(frozen=True, slots=True)
class EachTrial:
    """Each row is a unit, identified by its names or, without names, by its index among all rows.

    Attributes
    ----------
    columns : tuple of str
        Columns with the names of its sides.
    are_numbers : bool
        True if the only column contains indices of rows.
    """

    columns: tuple[str, ...]
    are_numbers: bool = False

    def of(self, table: pa.Table, start: int) -> TrialUnits:
        """Return the units of rows; the first row has the index ``start``.

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
        if self.are_numbers:
            keys = mixed_bits(to_numpy(table.column(self.columns[0])))
        elif self.columns:
            keys = keys_of_trials(_keys_of_sides(table, self.columns))
        else:
            keys = mixed_bits(np.arange(start, start + n_rows))
        return TrialUnits((np.arange(n_rows),), keys, "trial", independent("trial"))


_FEW = 1 << 10
"""Largest number of names without a cache."""

_WORTHWHILE = 16
"""New names are cached if more than one in this number of names of a partition is new."""

_ROOM = 1 << 26
"""Number of bytes of names in the cache."""


def keys_of_sides(table: pa.Table, columns: Sequence[str]) -> tuple[Keys, Keys]:
    """Return a number for the name of each side of each row; a channel is part of the name of the test side.

    Parameters
    ----------
    table : pyarrow.Table
    columns : sequence of two or three str
        Columns of enrolment, test and channel.

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
    return enroll, keys_of_trials([test, *channel]) if channel else test


def _keys_of_sides(table: pa.Table, columns: Sequence[str]) -> list[Keys]:
    keys = []
    for name, side in zip(columns, SINGLE if len(columns) == 1 else PAIR_SIDE, strict=False):
        column = plain(table.column(name))
        refuse_missing(column, name, side)
        codes, names = names_in(column, name, "contains names of trials")
        keys.append(keys_of_names(names)[codes])
    return keys


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """Names with known keys, sorted by their fingerprints."""

    prints: Words
    names: pa.Array
    keys: Keys

    def places(self, names: pa.Array, prints: Words) -> AnyArray:
        """Return the indices of names in the cache, -1 if they are not in it."""
        if not len(self.prints):
            return np.full(len(names), -1)
        place: AnyArray = np.minimum(np.searchsorted(self.prints, prints), len(self.prints) - 1)
        alike = np.flatnonzero(self.prints[place] == prints)
        same = pc.equal(self.names.take(of_numpy(place[alike])), names.take(of_numpy(alike)))
        values: AnyArray = np.full(len(names), -1)
        values[alike] = np.where(to_numpy(same), place[alike], -1)
        return values


_known = _Known(np.zeros(0, np.uint64), pa.nulls(0, pa.string()), np.zeros(0, np.uint64))


def keys_of_names(names: pa.Array) -> Keys:
    """Return a number for each name; see `deciban.core.resampling.units.keys_of`.

    This is slow for millions of names, and partitions share most of their names, so some are cached.

    Parameters
    ----------
    names : pyarrow string array
        Distinct.

    Examples
    --------
    >>> keys_of_names(pa.array(["ann", "bob"])).tolist() == keys_of(["ann", "bob"]).tolist()
    True
    """
    global _known  # noqa: PLW0603  # threads may replace it at the same time; any state is valid
    if len(names) < _FEW:
        return keys_of(np.array(names.to_pylist(), np.object_))
    known, prints = _known, fingerprints(names)
    place = known.places(names, prints)
    new = np.flatnonzero(place < 0)
    keys: Keys = np.empty(len(names), np.uint64)
    keys[place >= 0] = known.keys[place[place >= 0]]
    if len(new):
        others = names.take(of_numpy(new))
        keys[new] = keys_of(np.array(others.to_pylist(), np.object_))
        if len(new) * _WORTHWHILE > len(names) and known.names.nbytes + others.nbytes <= _ROOM:
            whole = np.concatenate((known.prints, prints[new])), np.concatenate((known.keys, keys[new]))
            order = np.argsort(whole[0], kind="stable")
            together = pa.concat_arrays([known.names, others]).take(of_numpy(order))
            _known = _Known(whole[0][order], together, whole[1][order])
    return keys


@dataclass(frozen=True, eq=False)
class SpeakerLookup:
    """The speaker of each name, on both sides of a trial.

    Attributes
    ----------
    maps : pair of IdMap
        Maps from names to speakers, of enrolment and of test.
    called : tuple of str
        Names of the files for messages, one or one for each side.

    Examples
    --------
    >>> who = SpeakerLookup.of([{"m1": "ann", "m2": "bob"}, {"x": "bob"}])
    >>> who.speakers_of(pa.array(["m2", "m1"]), 0), who.speakers_of(pa.array(["x"]), 1)
    (array([1, 0]), array([1]))
    """

    maps: tuple[IdMap, IdMap]
    called: tuple[str, ...]

    @classmethod
    def of(cls, values: Sequence[Any]) -> SpeakerLookup:
        """Read one file for both sides, or one for each side; or use mappings of names to speakers.

        Raises
        ------
        InputError, FormatError, OSError
            If there are not one or two, or a file cannot be read.
        """
        if not 1 <= len(values) <= 2:
            raise InputError(f"speakers: got {len(values)} files. Name one for both sides of trials, or one for each.")
        items = [UnitMap.of(one, "speakers") for one in values]
        return cls((items[0].units, items[-1].units), tuple(one.called for one in items))

    @cached_property
    def _speakers(self) -> tuple[list[IntArray], pa.Array]:
        """The index of the speaker of each line, for each side, and the names of the speakers."""
        codes, names = encode(pa.concat_arrays([one.right for one in self.maps]))
        return np.split(codes, [len(self.maps[0].right)]), names

    @cached_property
    def keys(self) -> Keys:
        """A number for each speaker; see `TrialUnits`."""
        return keys_of(np.array(self._speakers[1].to_pylist(), np.object_))

    def speakers_of(self, names: pa.Array, side: int) -> AnyArray:
        """Return the index of the speaker of each name, the same on both sides; -1 for unknown names."""
        place = positions(names, self.maps[side].left)
        codes: AnyArray = self._speakers[0][side].astype(np.int64)
        return np.where(place < 0, -1, codes[place]) if len(codes) else np.full(len(names), -1)

    def in_lines(self, n_names: int, side: int, what: str) -> pa.Array:
        """Return the names of all lines, in their order; their number must be ``n_names``.

        Raises
        ------
        InputError
            If the number of lines is different.
        """
        names = self.maps[side].left
        if len(names) != n_names:
            raise InputError(
                f"speakers: {self.called[min(side, len(self.called) - 1)]} has {len(names):,} lines, but there are "
                f"{n_names:,} {what}. If these have no names, there must be one line for each, in their order."
            )
        return names

    def lacks(self, name: str, side: int) -> str:
        """Return the message on a name without a speaker."""
        called = self.called[min(side, len(self.called) - 1)]
        return f"{called} does not contain the speaker of {name!r}. Add a line: name and speaker"

    def units(self, enroll: AnyArray, test: AnyArray) -> TrialUnits:
        """Return the speakers of trials as units, given their indices on both sides."""
        source = f"by {' and '.join(self.called)}"
        order = np.argsort(self.keys, kind="stable")
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        return TrialUnits((rank[enroll], rank[test]), self.keys[order], "speaker", source)
