"""Names encoded once as integers: distinct names, and where each of them stands in another list."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban._arrow import of_numpy, of_words, to_numpy, with_gaps
from deciban.errors import InputError
from deciban.trials.names.fingerprints import encode_distinct, find_names
from deciban.types import AnyArray, IntArray

NamesLike: TypeAlias = Sequence[str] | pa.Array | Any

Ids: TypeAlias = Mapping[str, NamesLike]
"""What identifies trials: a column of names for each side, in the order of the trials."""

_LARGEST_TEXT = 2**31
"""Bytes of text and offsets, from which on an array of text may not take them: its offsets have 32 bits."""

_FEW = 1 << 10
"""Names that a dictionary of Python encodes before Arrow's functions are imported."""


def as_names(values: NamesLike, argument: str = "ids") -> pa.Array:
    """Turn names, one per entry, into one Arrow array of text (dictionary-encoded input stays so).

    Raises
    ------
    InputError
        If a name is missing or not text.
    """
    if isinstance(values, str | bytes):
        raise InputError(f"{argument}: expected a list of names, got one: {values!r}. Put it into a list.")
    try:
        names = values if isinstance(values, pa.Array | pa.ChunkedArray) else _column(values)
        names = _in_one_piece(names)
        if pa.types.is_dictionary(names.type):
            names = _of_strings(names)
        if not pa.types.is_dictionary(names.type):
            if len(names) and not is_text(names.type):
                raise InputError(f"{argument}: names of trials are text, but got {names.type}.")
            names = names if names.type == pa.string() else names.cast(pa.string())
    except (pa.ArrowException, UnicodeError, TypeError) as error:
        raise InputError(f"{argument}: names of trials are text, but {error}.") from error
    if names.null_count:
        raise InputError(f"{argument}: {names.null_count} of {len(names)} names are missing. Every trial needs a name.")
    return names


def _column(values: Any) -> pa.Array:
    if isinstance(values, list | tuple) and len(values) <= _FEW and set(map(type, values)) == {str}:
        return of_words(values)
    return pa.array(values)


def plain_names(values: NamesLike, argument: str = "ids") -> pa.Array:
    """Turn names into an Arrow array of text with one entry each.

    Raises
    ------
    InputError
        If a name is missing or not text.
    """
    names = as_names(values, argument)
    return names.dictionary_decode() if pa.types.is_dictionary(names.type) else names


def _of_strings(column: pa.DictionaryArray) -> pa.Array:
    """A dictionary of any kind of text as one of the common kind: decoded, it could be too long for that."""
    words = column.dictionary
    if words.type != pa.string():
        if not is_text(words.type):
            return column.dictionary_decode()
        column = pa.DictionaryArray.from_arrays(column.indices, words.cast(pa.string()))
    return column.dictionary_decode() if words.null_count else column


def _in_one_piece(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Join the pieces, if there are several; what is too long for one array of text is encoded before."""
    if column.nbytes >= _LARGEST_TEXT and is_text(column.type):
        column = column.cast(pa.large_string()) if column.type == pa.string_view() else column
        column = column.dictionary_encode()
    if not isinstance(column, pa.ChunkedArray):
        return column
    if pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    return column.combine_chunks()


def is_text(kind: pa.DataType) -> bool:
    """Whether a type of columns is one of text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.string_view())


def encode(values: NamesLike, argument: str = "ids") -> tuple[IntArray, pa.Array]:
    """Encode names, one per entry, as positions in a list of distinct names.

    Returns
    -------
    ((n,) int32 array, pyarrow string array)
        Distinct names in the order in which they first occur; those of a dictionary stay as they are.

    Raises
    ------
    InputError
        If a name is missing or not text.

    Examples
    --------
    >>> codes, names = encode(["ann", "bob", "ann"])
    >>> codes, names.to_pylist()
    (array([0, 1, 0], dtype=int32), ['ann', 'bob'])
    """
    column = as_names(values, argument)
    if not pa.types.is_dictionary(column.type):
        return _encode_plain(column)
    codes: AnyArray = to_numpy(column.indices).astype(np.int32, copy=False)
    names = column.dictionary
    merged, distinct = _encode_plain(names)
    return (codes, names) if len(distinct) == len(names) else (merged[codes], distinct)


def _encode_plain(names: pa.Array) -> tuple[IntArray, pa.Array]:
    if len(names) <= _FEW:
        place: dict[str, int] = {}
        codes: AnyArray = np.fromiter(
            (place.setdefault(name, len(place)) for name in names.to_pylist()), np.int32, len(names)
        )
        return codes, names if len(place) == len(names) else of_words(place)
    encoded = encode_distinct(names)
    if encoded is not None:
        return encoded
    column = names.dictionary_encode()
    return to_numpy(column.indices), column.dictionary


def positions(names: pa.Array, among: pa.Array) -> IntArray:
    """For every name its position in a list of distinct names, -1 where it is not there."""
    if names is among or names.equals(among):
        same: AnyArray = np.arange(len(names), dtype=np.int32)
        return same
    if max(len(names), len(among)) <= _FEW:
        place = {name: at for at, name in enumerate(among.to_pylist())}
        return np.fromiter((place.get(name, -1) for name in names.to_pylist()), np.int64, len(names))
    found = find_names(names, among)
    if found is not None:
        return found
    return with_gaps(pc.index_in(names, value_set=among), -1).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class IdMap:
    """Pairs of names: what is called ``left`` in one file is called ``right`` in another.

    Attributes
    ----------
    left : pyarrow string array
        Distinct.
    right : pyarrow string array
        As long as ``left``; several names may become one.
    """

    left: pa.Array
    right: pa.Array

    @classmethod
    def of(cls, pairs: Mapping[str, str]) -> IdMap:
        """Make an id map from a mapping.

        Examples
        --------
        >>> len(IdMap.of({"m1": "ann", "m2": "bob"}))
        2
        """
        return cls.from_columns(list(pairs), list(pairs.values()))

    @classmethod
    def from_columns(
        cls, left: NamesLike, right: NamesLike, *, source: str = "id map", where: Callable[[int], str] | None = None
    ) -> IdMap:
        """Make an id map from two columns; ``where`` says where a row of them is, for messages.

        Raises
        ------
        InputError
            If the columns differ in length, or one name on the left has two on the right.
        """
        (before, names), after = encode(plain_names(left, "left")), plain_names(right, "right")
        if len(before) != len(after):
            raise InputError(f"{source}: {len(before)} names on the left, {len(after)} on the right.")
        first = np.full(len(names), -1, np.int64)
        first[before[::-1]] = np.arange(len(before))[::-1]
        differs = ~to_numpy(pc.equal(after, after.take(of_numpy(first[before]))))
        if differs.any():
            row = int(np.argmax(differs))
            name, one, other = names[int(before[row])], after[int(first[before[row]])], after[row]
            place = source if where is None else where(row)
            raise InputError(f"{place}: {name.as_py()!r} is mapped to {one.as_py()!r} and to {other.as_py()!r}.")
        return cls(names, after.take(of_numpy(first)))

    def __len__(self) -> int:
        return len(self.left)
