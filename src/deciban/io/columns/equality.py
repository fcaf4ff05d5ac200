"""Trials that are targets if and only if two columns hold the same name: ``label=claimed_id==real_id``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from deciban._arrow import compute as pc
from deciban._arrow import constant
from deciban.errors import FormatError
from deciban.io.columns.headers import places_of, shown_headers
from deciban.io.contents import RowError

EQUAL = "=="
"""What stands between the two columns."""


def compared(columns: Mapping[str, str], headers: Sequence[str], name: str) -> tuple[int, int] | None:
    """The positions of the two columns whose equality is the label; None if one column is, or none.

    Parameters
    ----------
    columns : mapping of str to str
        What the user named: the column of each role.
    headers : sequence of str
        What the columns are called.
    name : str
        What messages call the file.

    Raises
    ------
    FormatError
        If there is no such column, or it is compared with itself.

    Examples
    --------
    >>> compared({"score": "s", "label": "claimed==real"}, ["real", "claimed", "s"], "a.csv")
    (1, 0)
    """
    asked = columns.get("label", "")
    if EQUAL not in asked or asked in headers:
        return None
    pair = asked.split(EQUAL)
    places = places_of(columns, headers)
    for part in pair:
        if part not in places:
            raise FormatError(f"{name}: no column {part!r} for the label; there are {shown_headers(headers)}.")
    one, other = (places[part] for part in pair[:2])
    if len(pair) > 2 or one == other:
        raise FormatError(f"{name}: label={asked} does not compare two different columns. Write label=ONE==OTHER.")
    return one, other


def same_names(one: pa.ChunkedArray, other: pa.ChunkedArray, called: tuple[str, str]) -> pa.ChunkedArray:
    """Whether two columns hold the same name, row by row.

    Parameters
    ----------
    one, other : pyarrow arrays
        Of text (dictionaries or plain), or of whole numbers.
    called : pair of str
        The names of the columns, for messages.

    Returns
    -------
    pyarrow array of booleans

    Raises
    ------
    RowError
        If a name is missing: two that are not known are not the same one; or if a column holds no names.

    Examples
    --------
    >>> same_names(pa.array(["ann", "bob"]), pa.array(["ann", "ann"]), ("claimed", "real")).to_pylist()
    [True, False]
    """
    names = [_names(column, name) for column, name in zip((one, other), called, strict=True)]
    for column, name in zip(names, called, strict=True):
        empty = pc.fill_null(pc.equal(column, constant("")), fill_value=True)
        if pc.any(empty).as_py():
            row = pc.index(empty, value=True).as_py()
            raise RowError(f"{name} is empty, so that nothing says whether this is a target", row)
    return pc.equal(*names)


def _names(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Names as text, whole numbers by their digits."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_integer(kind)):
        raise RowError(f"column {name} holds {kind}, but the label compares names", None)
    return pc.cast(column, pa.string())
