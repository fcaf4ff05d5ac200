"""Partitions of trials into conditions, by columns of a key or by files with a value for each name."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from deciban._arrow import as_text, pc, with_gaps
from deciban.errors import InputError, counted, option, shortened
from deciban.io.text.reader import is_number
from deciban.types import BoolArray, FloatArray, IntArray

MOST = 1000
"""Maximum number of conditions of a partition; more are probably a mistake."""

Value: TypeAlias = str | None
"""Value of a condition in one column; None for missing values."""

Values: TypeAlias = tuple[Value, ...]
"""Values of a condition in all columns."""


def crossed(columns: Sequence[SplitColumn], each: Sequence[Sequence[Value]], argument: str) -> tuple[Values, ...]:
    """Return all combinations of the values of columns.

    Raises
    ------
    InputError
        If there are more than 1,000.

    Examples
    --------
    >>> crossed([SplitColumn("gender"), SplitColumn("channel")], [["f", "m"], ["tel"]], "by")
    (('f', 'tel'), ('m', 'tel'))
    """
    n_conditions = math.prod(map(len, each))
    if n_conditions > MOST:
        sizes = ", ".join(f"{one.name} {len(values):,}" for one, values in zip(columns, each, strict=True))
        names = " and ".join(one.name for one in columns)
        how_many = f"{'make' if len(columns) > 1 else 'makes'} {n_conditions:,} conditions"
        raise InputError(
            f"{argument}: {names} {how_many} (values: {sizes}), but at most {MOST:,} are allowed. Use bins of numbers "
            f"(duration:5,10,30), name fewer columns, or select trials by their values ({option(where=...)})."
        )
    return tuple(itertools.product(*each))


def with_what_counts_everywhere(
    columns: Sequence[SplitColumn], combinations: Sequence[Values], argument: str
) -> list[tuple[Values, tuple[int, ...]]]:
    """Return conditions with the indices of their combinations: their own, and combinations that count everywhere.

    Parameters
    ----------
    columns : sequence of SplitColumn
    combinations : sequence of Values
        All combinations, from `crossed`.
    argument : str
        Name of the argument, for messages.

    Raises
    ------
    InputError
        If no trial, or every trial, has the value that must count everywhere.

    Examples
    --------
    >>> columns = [SplitColumn("attack", everywhere="bonafide"), SplitColumn("codec")]
    >>> combinations = crossed(columns, [["A07", "bonafide"], ["c1", "c2"]], "by")
    >>> with_what_counts_everywhere(columns, combinations, "by")
    [(('A07', 'c1'), (0, 2)), (('A07', 'c2'), (1, 3))]
    """
    place = {values: at for at, values in enumerate(combinations)}
    shared = [[] if one.everywhere is None else [one.everywhere or None] for one in columns]
    for at, (column, value) in enumerate(zip(columns, shared, strict=True)):
        _require_others(column, value, list(dict.fromkeys(values[at] for values in combinations)), argument)
    own = [one for one in combinations if not any(value in those for value, those in zip(one, shared, strict=True))]
    each = (itertools.product(*([value, *those] for value, those in zip(one, shared, strict=True))) for one in own)
    return [(one, tuple(sorted(place[values] for values in those))) for one, those in zip(own, each, strict=True)]


def _require_others(column: SplitColumn, shared: Sequence[Value], there: Sequence[Value], argument: str) -> None:
    """Refuse a value that must count everywhere if no trial has it, or no trial has another value."""
    for value in shared:
        if value not in there:
            known = shortened(", ".join("no value" if one is None else one for one in there))
            what = "no value" if value is None else f"{value!r}"
            raise InputError(
                f"{argument}: no trial has {what} in column {column.name!r}; its values are {known}. "
                f"--{argument} {column.name} is enough if all trials of one class, and no others, have the same value: "
                "they count in every condition. Otherwise write their value after +."
            )
        if len(there) == 1:
            raise InputError(
                f"{argument}: all trials have {'no value' if value is None else repr(value)} in column "
                f"{column.name!r}, which counts in every condition, so no condition is left. Leave the column out."
            )


def values_in_order(column: SplitColumn, values: Iterable[Value]) -> list[Value]:
    """Return the values of a column in order: all bins, or values in alphabetical or ascending order; None last.

    Examples
    --------
    >>> values_in_order(SplitColumn("year"), {"10", None, "9"})
    ['9', '10', None]
    """
    there = {*values}
    last: list[Value] = [None] if None in there else []
    if column.borders:
        return [*column.bins, *last]
    words = [one for one in there if one is not None]
    return [*(words[at] for at in sorted(range(len(words)), key=_place_of(words))), *last]


def coded_values(
    values: pa.Array, column: SplitColumn, argument: str, where: Callable[[int], str], often: IntArray | None = None
) -> tuple[list[Value], IntArray]:
    """Return the values of a column in order, and the index of the value of every trial.

    Parameters
    ----------
    values : array
        The value of every trial.
    column : SplitColumn
    argument : str
        Name of the argument, for messages.
    where : function
        Returns the place of a trial, by its number.
    often : (n,) int array, optional
        Number of trials for each value; by default 1.

    Raises
    ------
    InputError
        If bins are requested for values that are not numbers.

    Examples
    --------
    >>> words, codes = coded_values(pa.array(["m", None, "f"]), SplitColumn("gender"), "by", str)
    >>> words, codes.tolist()
    (['f', 'm', None], [1, 2, 0])
    """
    if column.borders:  # a border belongs to the bin above it
        numbers, lacking = _numbers(values, column, argument, where, often)
        bins: IntArray = np.searchsorted(column.borders, numbers, side="right").astype(np.int64)
        bins[lacking] = len(column.bins)
        return [*column.bins, *([None] if lacking.any() else [])], bins
    texts = as_text(_plain_numbers(values)).dictionary_encode()
    words: list[str] = texts.dictionary.to_pylist()
    order = sorted((at for at, word in enumerate(words) if word), key=_place_of(words))
    place = np.full(len(words) + 1, len(order), np.int64)  # the last one is for missing values and empty text
    place[order] = np.arange(len(order))
    codes: IntArray = place[with_gaps(texts.indices, len(words))]
    known: list[Value] = [words[at] for at in order]
    return known + ([None] if (codes == len(order)).any() else []), codes


def _plain_numbers(values: pa.Array) -> pa.Array:
    """Return numbers with null for NaN, as for bins, and 0.0 for -0.0; return other values unchanged."""
    if not pa.types.is_floating(values.type):
        return values
    if pa.types.is_float16(values.type):
        values = values.cast(pa.float32())  # Arrow cannot add float16
    return pc.add(pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), values), pa.scalar(0.0, values.type))


def _place_of(words: Sequence[str]) -> Callable[[int], tuple[float, str] | str]:
    """Return the sort key of values: numeric if all values are numbers."""
    if all(is_number(word) for word in words if word):
        return lambda at: (float(words[at]), words[at])
    return lambda at: words[at]


def _numbers(
    values: pa.Array, column: SplitColumn, argument: str, where: Callable[[int], str], often: IntArray | None
) -> tuple[FloatArray, BoolArray]:
    """Return the numbers of a column, and where they are missing or NaN."""
    kind = values.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        result: FloatArray = with_gaps(pc.cast(values, pa.float64(), safe=False), np.nan)
        return result, np.isnan(result)
    texts = as_text(values).dictionary_encode()
    words = [*texts.dictionary.to_pylist(), ""]
    codes = with_gaps(texts.indices, len(words) - 1)
    wrong = np.array([bool(word) and not is_number(word) for word in words], np.bool_)[codes]
    if wrong.any():
        row, n = int(np.argmax(wrong)), int((wrong if often is None else often[wrong]).sum())
        raise InputError(
            f"{argument}: {where(row)}: {words[codes[row]][:40]!r} in column {column.name!r} is not a "
            f"number ({counted(n, 'such trial')}), and bins need numbers. Name the column without "
            f"borders, or leave these trials out ({option(where=...)})."
        )
    result = np.array([float(word) if is_number(word) else np.nan for word in words])[codes]
    return result, np.isnan(result)


_HOW = (
    "Name columns of the key, with commas between crossed columns: gender,channel; with borders of bins for "
    "numbers: duration:5,10,30; with a value whose trials count in every condition: attack+bonafide; or SIDE=FILE, "
    "a file with a value for each name of a side"
)


@dataclass(frozen=True, slots=True)
class SplitColumn:
    """A column whose values divide trials.

    Attributes
    ----------
    name : str
        Name of the column in the key, or in results.
    borders : tuple of float
        Ascending borders of bins for numbers; a border belongs to the bin above it.
    side, path : str
        Side of trials, and file with two columns, name and value; empty for a column of the key.
    everywhere : str or None
        The value whose trials count in every condition, empty for missing values; None if there is none.
    owner : str
        Class that has only the value `everywhere`, if the value was found in the data.
    """

    name: str
    borders: tuple[float, ...] = ()
    side: str = ""
    path: str = ""
    everywhere: str | None = None
    owner: str = ""

    @property
    def title(self) -> str:
        """Description of the column, with borders of bins and the value that counts everywhere.

        Examples
        --------
        >>> SplitColumn("duration", (5.0, 10.0)).title, SplitColumn("attack", everywhere="bonafide").title
        ('duration:5,10', 'attack+bonafide')
        """
        shared = "" if self.everywhere is None else f"+{self.everywhere}"
        return f"{self.name}:{','.join(self._ends)}" if self.borders else f"{self.name}{shared}"

    @property
    def _ends(self) -> list[str]:
        return [f"{border:.15g}" for border in self.borders]

    @property
    def bins(self) -> tuple[str, ...]:
        """Names of the bins, in ascending order.

        Examples
        --------
        >>> SplitColumn("duration", (5.0, 10.0)).bins
        ('duration < 5', '5 ≤ duration < 10', 'duration ≥ 10')
        """
        if not self.borders:
            return ()
        ends = self._ends
        inner = [f"{low} \N{LESS-THAN OR EQUAL TO} {self.name} < {high}" for low, high in itertools.pairwise(ends)]
        return (f"{self.name} < {ends[0]}", *inner, f"{self.name} \N{GREATER-THAN OR EQUAL TO} {ends[-1]}")


def split_columns(text: str, argument: str = "by") -> tuple[SplitColumn, ...]:
    """Parse the columns of a partition.

    Parameters
    ----------
    text : str
    argument : str
        Name of the argument, for messages.

    Raises
    ------
    InputError
        If there is no column, a column is named twice, or borders do not ascend.

    Examples
    --------
    >>> [(one.name, one.borders) for one in split_columns("gender,duration:5,10")]
    [('gender', ()), ('duration', (5.0, 10.0))]
    """
    value: object = text
    if not isinstance(value, str):
        raise InputError(f"{argument}: got {value!r}. {_HOW}.")
    result, is_binned = list[tuple[str, list[str]]](), False
    for part in (one.strip() for one in text.split(",")):
        if is_binned and is_number(part):
            result[-1][1].append(part)
            continue
        name, colon, first = part.rpartition(":")
        is_binned = bool(colon) and is_number(first)
        result.append((name.strip(), [first]) if is_binned else (part, []))
    columns = tuple(_column(name, borders, text, argument) for name, borders in result)
    names = [one.name for one in columns]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{argument}: {text!r} names {name!r} twice. Name every column once. {_HOW}.")
    return columns


def _column(name: str, borders: list[str], text: str, argument: str) -> SplitColumn:
    if not name or name.endswith(":"):
        raise InputError(f"{argument}: got {text!r}, with a column without a name or bins without borders. {_HOW}.")
    places = tuple(map(float, borders))
    if not all(map(math.isfinite, places)) or any(high <= low for low, high in itertools.pairwise(places)):
        raise InputError(f"{argument}: the borders {','.join(borders)} of {name!r} are not ascending finite numbers.")
    side, equals, path = name.partition("=")
    if equals and (not side or not path):
        raise InputError(f"{argument}: got {name!r}. Write SIDE=FILE. {_HOW}.")
    if equals:
        return SplitColumn(name, places, side, path)
    column, plus, everywhere = name.partition("+")
    if plus and (borders or not column):
        raise InputError(f"{argument}: got {text!r}. Write COLUMN+VALUE, without borders of bins. {_HOW}.")
    return SplitColumn(column, places, everywhere=everywhere if plus else None)


def require_apart(columns: Sequence[SplitColumn], argument: str) -> None:
    """Refuse columns whose trials count in several conditions, where every trial must count in one.

    Raises
    ------
    InputError

    Examples
    --------
    >>> require_apart(split_columns("attack+bonafide"), "equalize")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    deciban.errors.InputError: equalize: trials of 'attack+bonafide' would count in several conditions, ...
    """
    for one in columns:
        if one.everywhere is not None:
            raise InputError(
                f"{argument}: trials of {one.title!r} would count in several conditions, with several weights. "
                f"Name the column alone: {one.name}."
            )
