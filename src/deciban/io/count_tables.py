"""Tables of trials in ascending order, in which equal rows are one with a count; such tables merge as streams."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from deciban.types import AnyArray, IntArray

COUNT = "count"
"""The last column: how many trials a row stands for. All others tell rows apart."""

Columns: TypeAlias = Mapping[str, AnyArray]
"""Columns of numbers by name, of equal length, and none of them NaN."""


def counted(columns: Columns) -> Columns:
    """Put rows in ascending order, column after column, and add up the counts of equal ones.

    Parameters
    ----------
    columns : mapping of str to (n,) arrays
        With the counts, or without: then every row counts once.

    Examples
    --------
    >>> found = counted({"score": np.array([2.0, 1.0, 2.0, 2.0]), "label": np.array([True, False, False, True])})
    >>> [(name, values.tolist()) for name, values in found.items()]
    [('score', [1.0, 2.0, 2.0]), ('label', [False, False, True]), ('count', [1, 1, 2])]
    """
    names = [name for name in columns if name != COUNT]
    keys = [columns[name] for name in names]
    n_rows = len(keys[0])
    count = columns.get(COUNT, np.ones(n_rows, np.int64))
    order = _ascending(keys)
    keys = [key[order] for key in keys]
    is_first = np.ones(n_rows, np.bool_)
    if n_rows:
        is_first[1:] = np.logical_or.reduce([key[1:] != key[:-1] for key in keys])
    starts = np.flatnonzero(is_first)
    if len(starts) < n_rows:
        keys = [key[starts] for key in keys]
    summed = np.add.reduceat(count[order], starts) if n_rows else count
    return {**dict(zip(names, keys, strict=True)), COUNT: summed}


def _ascending(keys: Sequence[AnyArray]) -> IntArray:
    """The order of rows: that of the first column, and of all of them where it is tied."""
    order: IntArray = np.argsort(keys[0])
    own = keys[0][order]
    same = own[1:] == own[:-1]
    if len(keys) == 1 or not same.any():
        return order
    is_tied = np.zeros(len(own), np.bool_)
    is_tied[1:] |= same
    is_tied[:-1] |= same
    tied = np.flatnonzero(is_tied)
    rows = order[tied]
    order[tied] = rows[np.lexsort([key[rows] for key in reversed(keys)])]
    return order


def merged(parts: Sequence[Iterable[Columns]]) -> Iterator[Columns]:
    """Merge tables, of which a few rows each are in memory at once.

    Parameters
    ----------
    parts : sequence of iterables of columns
        Of each table some rows after the other, as `counted` orders them. All have the same columns.

    Yields
    ------
    columns
        Some rows after the other, as `counted` orders them.

    Examples
    --------
    >>> one, other = (counted({"score": np.array(scores)}) for scores in ([1.0, 2.0, 4.0], [2.0, 3.0]))
    >>> [(rows["score"].tolist(), rows["count"].tolist()) for rows in merged([[one], [other]])]
    [([1.0, 2.0, 3.0], [1, 2, 1]), ([4.0], [1])]
    """
    left = [iter(part) for part in parts]
    heads = [(rows, part) for part in left if (rows := _next(part)) is not None]
    while heads:
        bound = min(_last(rows) for rows, _ in heads)
        ends = [_upto(rows, bound) for rows, _ in heads]
        taken = [_slice(rows, 0, end) for (rows, _), end in zip(heads, ends, strict=True) if end]
        yield counted({name: np.concatenate([rows[name] for rows in taken]) for name in taken[0]})
        remaining = []
        for (rows, part), end in zip(heads, ends, strict=True):
            kept = _slice(rows, end, None) if end < len(rows[COUNT]) else _next(part)
            if kept is not None:
                remaining.append((kept, part))
        heads = remaining


def _next(part: Iterator[Columns]) -> Columns | None:
    """The next rows, None if there are no more."""
    return next((rows for rows in part if len(rows[COUNT])), None)


def _last(rows: Columns) -> tuple[float, ...]:
    """What tells the last row from others."""
    return tuple(values[-1] for name, values in rows.items() if name != COUNT)


def _upto(rows: Columns, bound: tuple[float, ...]) -> int:
    """How many rows are not after another one."""
    begin, end = 0, len(rows[COUNT])
    for values, value in zip(rows.values(), bound, strict=False):
        own = values[begin:end]
        begin, end = (begin + int(np.searchsorted(own, value, side=side)) for side in ("left", "right"))
    return end


def _slice(rows: Columns, begin: int, end: int | None) -> Columns:
    return {name: values[begin:end] for name, values in rows.items()}


def in_groups(tables: Iterable[Columns], n_rows: int) -> Iterator[Columns]:
    """Cut a stream of rows into tables of so many each, whatever the lengths in which it comes.

    Examples
    --------
    >>> [rows["count"].tolist() for rows in in_groups([{"count": np.array([1, 2])}, {"count": np.array([3])}], 1)]
    [[1], [2], [3]]
    """
    waiting, n_waiting = list[Columns](), 0
    for table in tables:
        waiting.append(table)
        n_waiting += len(table[COUNT])
        if n_waiting >= n_rows:
            whole = _joined(waiting)
            for begin in range(0, n_waiting - n_rows + 1, n_rows):
                yield _slice(whole, begin, begin + n_rows)
            waiting, n_waiting = [_slice(whole, n_waiting - n_waiting % n_rows, None)], n_waiting % n_rows
    if n_waiting:
        yield _joined(waiting)


def _joined(tables: Sequence[Columns]) -> Columns:
    return {name: np.concatenate([one[name] for one in tables]) for name in tables[0]}
