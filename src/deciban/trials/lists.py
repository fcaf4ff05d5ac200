"""Lists of trials in the order of the user, with names encoded as integers, and their lookup in other lists."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from deciban._arrow import Ids, NamesLike, condition_column, encode, of_numpy, plain_names, positions, to_numpy
from deciban._validate import arrays as _validate
from deciban.errors import InputError, counted, shortened
from deciban.types import AnyArray, BoolArray, IntArray


class Frozen:
    """Base class of dataclasses with read-only arrays, also after copying or pickling."""

    def __reduce__(self) -> tuple[object, ...]:
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]  # a dataclass has this base
        return type(self), tuple(getattr(self, name) for name in names)

    def _freeze(self, *names: str) -> None:
        """Make arrays of a new object read-only, for ``__post_init__``."""
        for name in names:
            object.__setattr__(self, name, read_only(getattr(self, name)))


def read_only(array: Any) -> Any:
    """Return a read-only view of an array; other objects are returned unchanged."""
    if not isinstance(array, np.ndarray) or not array.flags.writeable:
        return array
    view = array.view()
    view.setflags(write=False)
    return view


Conditions: TypeAlias = Mapping[str, NamesLike]
"""Additional columns of trials by name: text, numbers or truth values, one for each trial."""

NO_CONDITIONS: Conditions = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Origin:
    """Origin of a table, for messages.

    Attributes
    ----------
    name : str
        Name of the file or table.
    reading : str
        The format as which the file was read.
    lines : callable, optional
        Returns the line numbers of rows, in one pass over the file; None for a row without a line.
    places : callable, optional
        Returns the places of rows as text, if they are not lines of one file.
    sides : tuple of pairs of str
        Columns of a file that became sides of trials: ``("modelid", "enroll")``.
    """

    name: str
    reading: str = ""
    lines: Callable[[Sequence[int]], Sequence[int | None]] | None = None
    places: Callable[[Sequence[int]], list[str]] | None = None
    sides: tuple[tuple[str, str], ...] = ()

    def is_read_as(self, format: str) -> bool:
        """Return True if the file was read as a format, given by its whole name."""
        return re.search(rf"\b{format}\b", self.reading) is not None

    def side_called(self, column: str) -> str:
        """Return the side of trials that a column became, or its own name."""
        return dict(self.sides).get(column, column)

    def where(self, row: int) -> str:
        """Return the place of a row: ``file:line``, or the row number if there are no lines."""
        return self.where_all([row])[0]

    def where_all(self, rows: Sequence[int]) -> list[str]:
        """Return the places of several rows."""
        if self.places is not None:
            return self.places(rows)
        lines = [None] * len(rows) if self.lines is None else self.lines(rows)
        items = zip(rows, lines, strict=True)
        return [f"{self.name}, row {row}" if line is None else f"{self.name}:{line}" for row, line in items]

    def number(self, row: int | IntArray) -> Any:
        """Return the number of a row, or of several rows, in the table from which they were selected."""
        return self.places.origin.number(self.places.rows[row]) if isinstance(self.places, SelectedRows) else row

    def taken(self, rows: IntArray) -> Origin:
        """Return the origin of a selection of rows."""
        return replace(self, lines=None, places=SelectedRows(self, rows))


@dataclass(frozen=True, slots=True, eq=False)
class SelectedRows:
    """Function that returns the places of rows of a selection."""

    origin: Origin
    rows: IntArray

    def __call__(self, rows: Sequence[int]) -> list[str]:
        """Return the places of rows as text."""
        return self.origin.where_all([int(self.rows[row]) for row in rows])


PAIR = ("enroll", "test")

PAIR_SIDE = ("enroll", "test", "side")

SINGLE = ("trial",)

ROW = ("row",)
"""Identifiers of a trial: two names, two names and a channel, one name, or (without names) its row."""


def identity_of(roles: Sequence[str]) -> tuple[str, ...]:
    """Return the roles that identify a trial; empty if they are incomplete."""
    sides = tuple(role for role in (*PAIR_SIDE, *SINGLE) if role in roles)
    return sides if sides in (PAIR, PAIR_SIDE, SINGLE) else ()


_BATCH = 1 << 16


_FEW = 16
"""Number of names per selected trial above which the remaining names are found by sorting."""


_SPARSEST = 1000
"""Largest number of matrix cells per trial; with more, the trials were not meant as a matrix."""


@dataclass(frozen=True, eq=False, repr=False)
class Trials(Frozen):
    """A list of trials, in the order of the user.

    The trials are stored as they came: as a list of codes, or as a grid (all pairs of first and second names, row by
    row, or the pairs where ``mask`` is True). ``codes`` and ``as_grid`` convert between the two.

    Attributes
    ----------
    sides : tuple of str
        Identifiers of a trial: ``("enroll", "test")``, ``("enroll", "test", "side")``, ``("trial",)``, ``("row",)``.
    names : tuple of pyarrow string arrays
        The distinct names of each side. Some may have no trial.
    listed : tuple of int arrays, or None
        For each side, the index of the name of each trial; None for a grid.
    mask : (n_enroll, n_test) bool array, or None
        True for cells of a grid that are trials; None if all are.
    origin : Origin
    conditions : mapping of str to pyarrow array
        Additional columns of trials: gender, channel, speaker, ...
    n_rows : int or None
        For trials without names: the number of rows of the full table. A selection keeps this number, so that it
        differs from a list that lacks rows.
    """

    sides: tuple[str, ...]
    names: tuple[pa.Array, ...]
    listed: tuple[IntArray, ...] | None = None
    mask: BoolArray | None = None
    origin: Origin = field(default_factory=lambda: Origin("trials"))
    conditions: Mapping[str, pa.Array] = field(default_factory=dict)
    n_rows: int | None = None

    def __post_init__(self) -> None:
        self._freeze("mask")
        if self.listed is not None:
            object.__setattr__(self, "listed", tuple(map(read_only, self.listed)))

    def __repr__(self) -> str:
        return f"Trials({self.in_words})"

    @property
    def in_words(self) -> str:
        """The number of trials, their identifiers, and their conditions."""
        known = f"; with {shortened(', '.join(self.conditions))}" if self.conditions else ""
        return f"{counted(len(self), 'trial')} by {' and '.join(self.sides)}{known}"

    @classmethod
    def of(cls, ids: Ids, *, conditions: Conditions = NO_CONDITIONS, origin: Origin | None = None) -> Trials:
        """Return a list of trials from names, one column per side.

        Raises
        ------
        InputError
            If the columns do not identify trials, or differ in length.

        Examples
        --------
        >>> trials = Trials.of({"enroll": ["ann", "ann"], "test": ["x", "y"]}, conditions={"gender": ["f", "f"]})
        >>> len(trials), trials.sides, trials.name_of(1)
        (2, ('enroll', 'test'), '(ann, y)')
        """
        value: object = ids
        sides = tuple(ids) if isinstance(value, Mapping) else type(value).__name__
        if sides not in (PAIR, PAIR_SIDE, SINGLE, ROW):
            raise InputError(f"ids: trials are identified by enroll and test (and side), or by trial, not by {sides}.")
        columns = [encode(values, side) for side, values in ids.items()]
        extra = {name: condition_column(name, values) for name, values in conditions.items()}
        lengths = {side: len(codes) for side, (codes, _) in zip(sides, columns, strict=True)}
        lengths |= {name: len(values) for name, values in extra.items()}
        if len(set(lengths.values())) != 1:
            raise InputError(f"ids: expected columns of one length, got {lengths}.")
        items, names = tuple(codes for codes, _ in columns), tuple(names for _, names in columns)
        return cls(sides, names, items, origin=origin or Origin("trials"), conditions=extra)

    @classmethod
    def of_grid(
        cls, enroll: NamesLike, test: NamesLike, mask: ArrayLike | None = None, *, origin: Origin | None = None
    ) -> Trials:
        """Return a list of trials from two lists of distinct names: all pairs, or the pairs where ``mask`` is True.

        Raises
        ------
        InputError
            If a name occurs twice, or the mask has another shape.
        """
        names = tuple(_distinct(values, side) for side, values in zip(PAIR, (enroll, test), strict=True))
        shape = (len(names[0]), len(names[1]))
        marked = None if mask is None else _mask(mask, shape)
        return cls(PAIR, names, None, marked, origin or Origin("trials"))

    @classmethod
    def of_rows(cls, n_rows: int, *, conditions: Conditions = NO_CONDITIONS, origin: Origin | None = None) -> Trials:
        """Return a list of trials without names, identified by row numbers from 0.

        Raises
        ------
        InputError
            If a condition does not have one value per row.
        """
        rows: AnyArray = np.arange(n_rows, dtype=np.int32)
        extra = {name: condition_column(name, values) for name, values in conditions.items()}
        if any(len(values) != n_rows for values in extra.values()):
            lengths = {name: len(values) for name, values in extra.items()}
            raise InputError(f"conditions: expected {n_rows} values of each, got {lengths}.")
        result = cls(ROW, (), (rows,), origin=origin or Origin("trials"), conditions=extra, n_rows=n_rows)
        vars(result).update(numbers=rows, n_possible=n_rows)
        del vars(result)["names"]  # they are written if they are read, see below
        return result

    @cached_property
    def is_numbered(self) -> bool:
        """True for trials without names that are the rows 0, 1, 2, ... of a table."""
        return self.n_rows is not None and np.array_equal(self.numbers, np.arange(len(self)))

    @cached_property
    def numbers(self) -> IntArray:
        """Row numbers of trials without names."""
        return to_numpy(self.names[0].cast(pa.int64()))[self.codes[0]]

    def __len__(self) -> int:
        if self.listed is not None:
            return len(self.listed[0])
        return len(self.names[0]) * len(self.names[1]) if self.mask is None else self._n_marked

    @cached_property
    def _n_marked(self) -> int:
        return 0 if self.mask is None else int(np.count_nonzero(self.mask))

    @cached_property
    def codes(self) -> tuple[IntArray, ...]:
        """For each side, the index of the name of each trial."""
        if self.listed is not None:
            return self.listed
        n_test = len(self.names[1])
        if self.mask is None:
            rows = np.arange(len(self.names[0]), dtype=np.int32)
            columns = np.tile(np.arange(n_test, dtype=np.int32), len(rows))
            return read_only(np.repeat(rows, n_test)), read_only(columns)
        enroll, test = np.nonzero(self.mask)
        return read_only(enroll.astype(np.int32)), read_only(test.astype(np.int32))

    def column(self, side: str) -> pa.DictionaryArray:
        """Return the names of one side, one per trial, dictionary-encoded."""
        at = self.sides.index(side)
        return pa.DictionaryArray.from_arrays(of_numpy(self.codes[at]), self.names[at])

    def name_of(self, row: int) -> str:
        """Return the name of one trial for messages."""
        return "(" + ", ".join(self.names_of(row)) + ")"

    def names_of(self, row: int) -> tuple[str, ...]:
        """Return the names of one trial, one per side."""
        is_full = self.listed is None and self.mask is None
        where = divmod(row, len(self.names[1])) if is_full else tuple(int(codes[row]) for codes in self.codes)
        return tuple(names[at].as_py() for names, at in zip(self.names, where, strict=True))

    def codes_in(self, other: Trials) -> IntArray:
        """Return one integer per trial, equal for the same trial in both lists; -1 if ``other`` lacks one of its names.

        Raises
        ------
        InputError
            If ``other`` has 2**63 or more possible combinations of names.
        """
        other.n_possible  # noqa: B018  # raises if the codes would overflow
        places = [positions(mine, theirs) for mine, theirs in zip(self.names, other.names, strict=True)]
        if self.listed is None:
            return self._grid_codes(places[0], places[1], len(other.names[1]))
        if len(places) == 1:
            return places[0][self.listed[0]]
        combined, lacks_some = np.empty(len(self), np.int64), any(np.any(place < 0) for place in places)
        for start in range(0, len(self), _BATCH):  # batches that fit in the cache
            part = slice(start, start + _BATCH)
            batch = [codes[part] for codes in self.listed]
            if other is not self:
                batch = [place[codes] for place, codes in zip(places, batch, strict=True)]
            combined[part] = batch[0]
            for codes, theirs in zip(batch[1:], other.names[1:], strict=True):
                combined[part] *= len(theirs)
                combined[part] += codes
            if lacks_some:
                combined[part][np.logical_or.reduce([codes < 0 for codes in batch])] = -1
        return combined

    def _grid_codes(self, enroll: IntArray, test: IntArray, n_test: int) -> IntArray:
        cells = enroll.astype(np.int64)[:, None] * n_test + test
        cells[enroll < 0] = -1
        cells[:, test < 0] = -1
        return cells.ravel() if self.mask is None else cells[self.mask]

    @cached_property
    def n_possible(self) -> int:
        """The number of possible combinations of names.

        Raises
        ------
        InputError
            If there are 2**63 or more.
        """
        possible = math.prod(map(len, self.names))
        if possible >= 2**63:
            raise InputError(f"{self.origin.name}: 2**63 or more possible combinations of names.")
        return possible

    def take(self, rows: IntArray | BoolArray) -> Trials:
        """Select trials by row number or by a mask over the trials; names without a trial are dropped.

        Raises
        ------
        InputError
            If a mask is not as long as the list, or a row does not exist.
        """
        rows = self.row_numbers(rows)
        used = [_used(codes[rows], known) for codes, known in zip(self.codes, self.names, strict=True)]
        items, names = zip(*used, strict=True)
        conditions = {name: values.take(of_numpy(rows)) for name, values in self.conditions.items()}
        origin = self.origin.taken(rows)
        return replace(self, names=names, listed=items, mask=None, origin=origin, conditions=conditions)

    def with_names(self, at: int, names: pa.Array) -> Trials:
        """Replace the names of one side, one for each of its distinct names; several may become equal."""
        recoded, distinct = encode(names, self.sides[at])
        all_names = (*self.names[:at], distinct, *self.names[at + 1 :])
        if len(distinct) == len(names):
            return replace(self, names=all_names)
        codes = list(self.codes)
        codes[at] = recoded[codes[at]]
        return replace(self, names=all_names, listed=tuple(codes), mask=None)

    def row_numbers(self, rows: IntArray | BoolArray) -> IntArray:
        """Return row numbers from 0, given row numbers or a mask.

        Raises
        ------
        InputError
            As in `take`.
        """
        chosen: AnyArray = np.asarray(rows)
        if chosen.ndim == 1 and chosen.dtype == np.bool_ and len(chosen) == len(self):
            return np.flatnonzero(chosen)
        if chosen.ndim == 1 and (chosen.dtype.kind in "iu" or not len(chosen)):
            if not len(chosen) or (chosen.min() >= 0 and chosen.max() < len(self)):
                return chosen.astype(np.int64, copy=False)
            bad = chosen[(chosen < 0) | (chosen >= len(self))][0]
            raise InputError(f"rows: no row {bad} in {self.origin.name}; there are {len(self):,}, numbered from 0.")
        raise InputError(
            f"rows: expected row numbers or {len(self):,} booleans, got {chosen.dtype} values of shape {chosen.shape}."
        )

    def condition(self, name: str) -> pa.Array:
        """Return the column of a condition.

        Raises
        ------
        InputError
            If there is no condition with this name.
        """
        if name not in self.conditions:
            there = ", ".join(self.conditions) or "none"
            raise InputError(f"{self.origin.name}: no condition {name!r}; its columns of conditions: {there}.")
        return self.conditions[name]

    def as_grid(self) -> tuple[Trials, IntArray | None]:
        """Return the trials as a grid, and the cell of each trial (None if they are in the order of the grid).

        Raises
        ------
        InputError
            If a trial is not a pair of names, or occurs twice.
        """
        if self.sides != PAIR:
            raise InputError(
                f"{self.origin.name}: a matrix needs trials of enroll and test, but these are identified by "
                f"{', '.join(self.sides)}."
            )
        if self.listed is None:
            return self, None
        shape = len(self.names[0]), len(self.names[1])
        if self.n_possible > _SPARSEST * len(self) + (1 << 24):
            raise InputError(
                f"{self.origin.name}: a matrix of {shape[0]:,} x {shape[1]:,} cells for {len(self):,} trials would be "
                "nearly empty. Choose a format with one row per trial (kaldi, table, parquet)."
            )
        cells = self.codes_in(self)
        mask = np.zeros(shape, np.bool_)
        mask.ravel()[cells] = True
        grid = replace(self, listed=None, mask=None if mask.all() else mask, conditions={})
        if len(grid) < len(self):
            order = np.argsort(cells, kind="stable")
            row = int(order[1:][cells[order[1:]] == cells[order[:-1]]].min())
            raise InputError(
                f"{self.origin.where(row)}: trial {self.name_of(row)} occurs twice; a matrix has one cell for it."
            )
        return grid, None if np.all(cells[1:] > cells[:-1]) else cells

    def densest(self) -> Trials:
        """Return the trials as a full grid if they are one, listed row by row; otherwise unchanged."""
        if self.listed is None or self.sides != PAIR or not len(self) or len(self) != self.n_possible:
            return self
        enroll, test = (codes.reshape(len(self.names[0]), -1) for codes in self.listed)
        sides = ((enroll[:, 0], len(enroll)), (test[0], test.shape[1]))
        in_order = all(np.array_equal(codes, np.arange(n)) for codes, n in sides)
        full = in_order and np.all(enroll == enroll[:, :1]) and np.all(test == test[:1])
        return replace(self, listed=None) if full else self


def _used(picked: IntArray, array: pa.Array) -> tuple[IntArray, pa.Array]:
    """Return new codes for the names that occur, and these names in their order."""
    if len(picked) < len(array) // _FEW:  # so that many small selections do not each need a pass over all names
        occurring, place = np.unique(picked, return_inverse=True)
        few: AnyArray = np.asarray(place, np.int32)
        return few, array.take(of_numpy(occurring))
    used = np.zeros(len(array), np.bool_)
    used[picked] = True
    new_code: AnyArray = np.cumsum(used, dtype=np.int32) - 1
    return new_code[picked], array if used.all() else array.filter(of_numpy(used))


def _mask(values: ArrayLike, shape: tuple[int, int]) -> BoolArray | None:
    """Return the mask of cells that are trials; None for all cells."""
    mask = _validate.array(values, "mask")
    if mask.shape != shape or mask.dtype != np.bool_:
        raise InputError(f"mask: expected {shape} booleans, got {mask.dtype} of shape {mask.shape}.")
    return None if mask.all() else _validate.owned(mask, values)


def _distinct(values: NamesLike, side: str) -> pa.Array:
    array = plain_names(values, side)
    codes, names = encode(array, side)
    if len(names) < len(codes):
        seen = np.bincount(codes)
        twice = names[int(np.argmax(seen > 1))].as_py()
        raise InputError(
            f"{side}: {len(codes) - len(names)} of {len(codes)} names repeat another one, the first {twice!r}. The "
            "rows and columns of a matrix need distinct names. Were the names cut off at 100 characters?"
        )
    return array


_SPARSEST_TABLE = 4
"""Largest number of possible trials per trial for which a table of all possible trials is faster than sorting."""


# The names of trials without names are their numbers as text, which most uses never read.
Trials.names = cached_property(lambda rows: (of_numpy(np.arange(len(rows), dtype=np.int32)).cast(pa.string()),))  # type: ignore[assignment]
Trials.__dict__["names"].__set_name__(Trials, "names")


@dataclass(frozen=True, slots=True, eq=False)
class Ordered:
    """Codes in ascending order.

    Attributes
    ----------
    codes : (n,) int array
    rows : (n,) int array
        Index of each code in the unsorted list; equal codes keep their order.
    """

    codes: IntArray
    rows: IntArray

    @property
    def repeats(self) -> BoolArray:
        """True for codes that equal the code before them."""
        again = np.zeros(len(self.codes), np.bool_)
        np.equal(self.codes[1:], self.codes[:-1], out=again[1:])
        return again


def in_order(codes: IntArray, n_possible: int) -> Ordered:
    """Sort codes from -1 to ``n_possible - 1``.

    If code and row fit one integer, sorting these integers takes a fraction of the time of ``argsort``.
    """
    bits = len(codes).bit_length()
    if n_possible > 1 << (63 - bits):
        rows = np.argsort(codes, kind="stable")
        return Ordered(codes[rows], rows)
    packed = np.left_shift(codes, bits, dtype=np.int64)
    first_rows = np.arange(min(len(codes), _BATCH))
    for start in range(0, len(codes), _BATCH):
        packed[start : start + _BATCH] |= first_rows[: len(codes) - start] + start
    packed.sort()
    rows = packed & ((1 << bits) - 1)
    packed >>= bits
    return Ordered(packed, rows)


def place_in(expected: IntArray, among: IntArray) -> IntArray:
    """Return the index of each wanted code in other codes (the first of several), -1 for none. Both are sorted."""
    if not len(among):
        return np.full(len(expected), -1)
    if np.array_equal(expected, among):
        # Equal neighbours share their first index.
        return np.arange(len(expected)) if np.all(among[1:] > among[:-1]) else np.searchsorted(among, expected)
    place: IntArray = np.searchsorted(among, expected)
    absent = among[np.minimum(place, len(among) - 1)] != expected
    place[absent] = -1
    return place


_NO_COPIES = np.empty((2, 0), np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class MatchedRows:
    """Rows of wanted trials in a table.

    Attributes
    ----------
    rows : (n_wanted,) int array, or None
        The first row of each wanted trial, -1 for none. None if the table contains exactly the wanted trials in the
        same order.
    n_extra : int
        Number of rows of other trials.
    copies : (2, n) int array
        For each repeated row of a wanted trial, the first row of that trial and the repeated row, in the order of the
        latter.
    """

    rows: IntArray | None
    n_extra: int = 0
    copies: IntArray = field(default_factory=lambda: _NO_COPIES)


@dataclass(frozen=True, eq=False)
class Lookup:
    """Trials that can be looked up in any number of tables; the preparation is done once.

    Repeated wanted trials are found, but they are not distinguished in the counts of extra rows and copies.
    """

    trials: Trials

    @cached_property
    def _codes(self) -> IntArray:
        return self.trials.codes_in(self.trials)

    @cached_property
    def _ordered(self) -> Ordered:
        return in_order(self._codes, self.trials.n_possible)

    @cached_property
    def surplus(self) -> IntArray:
        """Pairs of rows with the same trial: its first row and each later row, in the order of the latter."""
        trials = self.trials
        if trials.listed is None or trials.is_numbered:
            return _NO_COPIES
        if trials.n_possible <= _SPARSEST_TABLE * len(trials):
            seen = np.zeros(trials.n_possible, np.bool_)
            seen[self._codes] = True
            if np.count_nonzero(seen) == len(trials):
                return _NO_COPIES
        return _pairs(self._ordered)

    def find(self, among: Trials) -> MatchedRows:
        """Return the rows of the wanted trials in another list."""
        if _same(self.trials, among):
            return MatchedRows(None)
        if among.listed is None:
            return self._in_grid(among)
        codes = among.codes_in(self.trials)
        if self.trials.n_possible <= _SPARSEST_TABLE * len(codes):
            return self._in_table(codes)
        return self._in_ordered(codes)

    def _in_grid(self, among: Trials) -> MatchedRows:
        """Return rows in a grid: the cell of a trial, less the number of earlier cells that are not trials."""
        rows = self.trials.codes_in(among)
        if among.mask is not None:
            row_of_cell: AnyArray = np.cumsum(among.mask, dtype=np.int32 if among.mask.size < 2**31 else np.int64)
            row_of_cell -= 1
            row_of_cell[~among.mask.ravel()] = -1
            rows = np.where(rows < 0, -1, row_of_cell[rows])
        return MatchedRows(rows, len(among) - int(np.count_nonzero(rows >= 0)))

    def _in_table(self, codes: IntArray) -> MatchedRows:
        kind = np.int32 if len(codes) < 2**31 else np.int64
        # The last entry takes the rows of unknown trials.
        table: AnyArray = np.full(self.trials.n_possible + 1, -1, kind)
        table[codes[::-1]] = np.arange(len(codes), dtype=kind)[::-1]  # the first of several rows wins
        table[-1] = -1
        is_full = self.trials.listed is None and self.trials.mask is None
        rows = table[:-1] if is_full else table[self._codes]
        n_hit = int(np.count_nonzero(rows >= 0))
        n_known = len(codes) - int(np.count_nonzero(codes < 0))
        if int(np.count_nonzero(table >= 0)) == n_known:  # no trial occurs twice
            return MatchedRows(rows, len(codes) - n_hit)
        first = table[codes]
        surplus = np.flatnonzero((first >= 0) & (first != np.arange(len(codes))))
        is_wanted = np.zeros(self.trials.n_possible, np.bool_)
        is_wanted[self._codes] = True
        surplus = surplus[is_wanted[codes[surplus]]]
        copies = np.stack((first[surplus].astype(np.int64), surplus))
        return MatchedRows(rows, len(codes) - n_hit - len(surplus), copies)

    def _in_ordered(self, codes: IntArray) -> MatchedRows:
        expected, among = self._ordered, in_order(codes, self.trials.n_possible)
        place = place_in(expected.codes, among.codes)
        rows = np.empty(len(expected.rows), np.int64)
        rows[expected.rows] = np.where(place < 0, -1, among.rows[place]) if len(codes) else -1
        n_hit = int(np.count_nonzero(place >= 0))
        again = among.repeats
        if not again.any():
            return MatchedRows(rows, len(codes) - n_hit)
        pairs = _pairs(among, (place_in(among.codes, expected.codes) >= 0) & again)
        return MatchedRows(rows, len(codes) - n_hit - pairs.shape[1], pairs)


def _same(one: Trials, other: Trials) -> bool:
    """Return True if two lists obviously contain the same trials in the same order, without encoding names."""
    if one.is_numbered and other.is_numbered:
        return len(one) == len(other)
    names = zip(one.names, other.names, strict=True)
    if len(one) != len(other) or not all(mine is theirs or mine.equals(theirs) for mine, theirs in names):
        return False
    if one.listed is None or other.listed is None:
        if one.listed is not other.listed or one.mask is None or other.mask is None:
            return one.listed is other.listed and one.mask is other.mask
        return np.array_equal(one.mask, other.mask)
    return all(a is b or np.array_equal(a, b) for a, b in zip(one.listed, other.listed, strict=True))


def _pairs(ordered: Ordered, again: AnyArray | None = None) -> IntArray:
    """Return the first and the later row of each repeated code, in the order of the latter."""
    starts = ~ordered.repeats
    again = ~starts if again is None else again
    if not again.any():
        return _NO_COPIES
    first = ordered.rows[starts][(np.cumsum(starts) - 1)[again]]
    later = ordered.rows[again]
    return np.stack((first, later))[:, np.argsort(later)]
