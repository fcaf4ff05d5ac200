"""Partitions of trials into conditions, by columns of a key or by what files say of names."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban.errors import InputError
from deciban.io.text.one_line import is_number
from deciban.messages import counted, shortened
from deciban.trials import Trials
from deciban.trials.frozen import as_text
from deciban.trials.lists import ROW
from deciban.trials.names import IdMap
from deciban.types import AnyArray, BoolArray, CountArray, FloatArray, IntArray
from deciban.workflows.split import SplitColumn

MOST = 1000
"""Conditions of a partition: more are rather a mistake."""

Value: TypeAlias = str | None
"""Of a condition in a column; None where the key says nothing."""

Values: TypeAlias = tuple[Value, ...]
"""Of a condition in each column."""


def crossed(columns: Sequence[SplitColumn], each: Sequence[Sequence[Value]], argument: str) -> tuple[Values, ...]:
    """All combinations of the values of columns.

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
            f"{argument}: {names} {how_many} (values: {sizes}); at most {MOST:,} are "
            "evaluated. Make bins of numbers (duration:5,10,30), name fewer columns, or choose trials by their "
            "values (--where)."
        )
    return tuple(itertools.product(*each))


def with_what_counts_everywhere(
    columns: Sequence[SplitColumn], combinations: Sequence[Values], argument: str
) -> list[tuple[Values, tuple[int, ...]]]:
    """Conditions, and the combinations of values that their trials have: their own, and those that count everywhere.

    Parameters
    ----------
    columns : sequence of SplitColumn
    combinations : sequence of Values
        All of them, as `crossed` gives them.
    argument : str
        For messages.

    Raises
    ------
    InputError
        If no trial has the value that should count everywhere, or all have.

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
    """Refuse a value that should count everywhere if no trial has it, or no trial another one."""
    for value in shared:
        if value not in there:
            known = shortened(", ".join("nothing" if one is None else one for one in there))
            what = "nothing there" if value is None else f"{value!r}"
            raise InputError(
                f"{argument}: no trial has {what} in column {column.name!r}; there are {known}. After + stands the "
                "value whose trials count in every condition. Without +, deciban looks for a value that all trials of "
                f"one class have and no others: --{argument} {column.name}."
            )
        if len(there) == 1:
            raise InputError(
                f"{argument}: all trials have {'nothing' if value is None else repr(value)} in column {column.name!r}, "
                "which should count in every condition: there is no condition left. Leave the column out."
            )


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """Trials split into conditions.

    Attributes
    ----------
    columns : tuple of SplitColumn
    values : tuple of tuple of str or None
        Of each condition a value for each column: all combinations of values that occur, and all bins, also those that
        no trial is of. None where the key has no value.
    cells : tuple of tuple of int
        Of which combinations the trials of each condition are. Several conditions have some in common where the trials
        of a value count in all of them; elsewhere each condition is a combination of its own, at its own place.
    """

    columns: tuple[SplitColumn, ...]
    values: tuple[Values, ...]
    cells: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, columns: Sequence[SplitColumn], combinations: Sequence[Values], argument: str) -> Partition:
        """Conditions of trials whose combinations of values are known.

        Raises
        ------
        InputError
            As in `with_what_counts_everywhere`.
        """
        found = with_what_counts_everywhere(columns, combinations, argument)
        return cls(tuple(columns), tuple(one for one, _ in found), tuple(cells for _, cells in found))

    def sharing_own_values(self, totals: CountArray, classes: Sequence[tuple[str, int]], argument: str) -> Partition:
        """Return the partition in which a value that one of two classes has alone counts in every condition.

        That is so of columns that divide one class, such as attacks: all trials of the other class have one value of
        their own, and no condition would have both classes. A partition with a value that a user chose stays as it is.

        Parameters
        ----------
        totals : (n_conditions, n_classes) array
            Trials of each class, or their weight.
        classes : sequence of (str, int)
            Names of the classes, and their columns.
        argument : str
            For messages.
        """
        if len(classes) != 2 or any(one.everywhere is not None for one in self.columns):
            return self
        columns = tuple(
            _with_own_value(column, [values[at] for values in self.values], totals, classes)
            for at, column in enumerate(self.columns)
        )
        if columns == self.columns:
            return self
        return Partition.of(columns, self.values, argument)

    @property
    def n_cells(self) -> int:
        """Combinations of values."""
        return 1 + max((max(cells) for cells in self.cells), default=-1)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(one.name for one in self.columns)

    @property
    def title(self) -> str:
        """What trials are split by, in words: two partitions have two titles."""
        return " \N{MULTIPLICATION SIGN} ".join(one.title for one in self.columns)

    @property
    def called(self) -> tuple[str, ...]:
        """Every condition in words."""
        return tuple(
            " \N{MIDDLE DOT} ".join(_called(one, value) for one, value in zip(self.columns, values, strict=True))
            for values in self.values
        )

    def in_conditions(self, of_cells: AnyArray) -> AnyArray:
        """Sums over the trials of each condition, from those over the trials of each combination of values."""
        return np.array([of_cells[list(cells)].sum(axis=0) for cells in self.cells], of_cells.dtype).reshape(
            -1, *of_cells.shape[1:]
        )


def _with_own_value(
    column: SplitColumn, values: Sequence[Value], totals: CountArray, classes: Sequence[tuple[str, int]]
) -> SplitColumn:
    """Let the value count everywhere that all trials of one class have, and none of the other, which has several."""
    held = {name: {value for value, n in zip(values, totals[:, at].tolist(), strict=True) if n} for name, at in classes}
    for name, other in (held, [*held][::-1]):
        if len(held[name]) == 1 and len(held[other]) > 1 and not held[name] & held[other] and not column.borders:
            (value,) = held[name]
            return replace(column, everywhere=value or "", owner=name)
    return column


def _called(column: SplitColumn, value: Value) -> str:
    if value is None:
        return f"no {column.name}"
    return value if column.borders else f"{column.name} {value}"


def values_in_order(column: SplitColumn, found: Iterable[Value]) -> list[Value]:
    """Values that were found in a column in their order: all bins, the alphabet or numbers ascending, nothing last.

    Examples
    --------
    >>> values_in_order(SplitColumn("year"), {"10", None, "9"})
    ['9', '10', None]
    """
    there = {*found}
    last: list[Value] = [None] if None in there else []
    if column.borders:
        return [*column.bins, *last]
    words = [one for one in there if one is not None]
    return [*(words[at] for at in sorted(range(len(words)), key=_place_of(words))), *last]


def coded_values(
    values: pa.Array, column: SplitColumn, argument: str, where: Callable[[int], str], often: IntArray | None = None
) -> tuple[list[Value], IntArray]:
    """Values of a column in their order, and which of them every trial has.

    Parameters
    ----------
    values : array
        What is said of every trial.
    column : SplitColumn
    argument : str
        For messages.
    where : function
        Tells where a trial stands, by its number.
    often : (n,) int array, optional
        How many trials each value is of; left out, one.

    Raises
    ------
    InputError
        If bins are asked for of what are no numbers.

    Examples
    --------
    >>> words, codes = coded_values(pa.array(["m", None, "f"]), SplitColumn("gender"), "by", str)
    >>> words, codes.tolist()
    (['f', 'm', None], [1, 2, 0])
    """
    if column.borders:
        return _binned(values, column, argument, where, often)
    texts = as_text(_plain_numbers(values)).dictionary_encode()
    words: list[str] = texts.dictionary.to_pylist()
    order = sorted((at for at, word in enumerate(words) if word), key=_place_of(words))
    place = np.full(len(words) + 1, len(order), np.int64)  # the last one is for what is missing, as is no text
    place[order] = np.arange(len(order))
    codes: IntArray = place[np.asarray(pc.fill_null(texts.indices, pa.scalar(len(words), texts.indices.type)))]
    known: list[Value] = [words[at] for at in order]
    return known + ([None] if (codes == len(order)).any() else []), codes


def _plain_numbers(values: pa.Array) -> pa.Array:
    """Numbers of which NaN is none, as in bins, and -0.0 is 0.0; other values as they are."""
    if not pa.types.is_floating(values.type):
        return values
    if pa.types.is_float16(values.type):
        values = values.cast(pa.float32())  # Arrow does not add halves
    return pc.add(pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), values), pa.scalar(0.0, values.type))


def _place_of(words: Sequence[str]) -> Any:
    """By what values are sorted: numbers ascend where all are some."""
    if all(is_number(word) for word in words if word):
        return lambda at: (float(words[at]), words[at])
    return lambda at: words[at]


def _binned(
    values: pa.Array, column: SplitColumn, argument: str, where: Callable[[int], str], often: IntArray | None
) -> tuple[list[Value], IntArray]:
    """Bins of numbers; a border belongs to the bin above it."""
    numbers, lacking = _numbers(values, column, argument, where, often)
    codes: IntArray = np.searchsorted(column.borders, numbers, side="right").astype(np.int64)
    codes[lacking] = len(column.bins)
    return [*column.bins, *([None] if lacking.any() else [])], codes


def _numbers(
    values: pa.Array, column: SplitColumn, argument: str, where: Callable[[int], str], often: IntArray | None
) -> tuple[FloatArray, BoolArray]:
    """Numbers of a column, and where there is none; NaN is none."""
    kind = values.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        found = np.array(pc.fill_null(pc.cast(values, pa.float64(), safe=False), pa.scalar(np.nan)), np.float64)
        return found, np.isnan(found)
    texts = as_text(values).dictionary_encode()
    words = [*texts.dictionary.to_pylist(), ""]
    codes = np.asarray(pc.fill_null(texts.indices, pa.scalar(len(words) - 1, texts.indices.type)))
    wrong = np.array([bool(word) and not is_number(word) for word in words], np.bool_)[codes]
    if wrong.any():
        row, n = int(np.argmax(wrong)), int((wrong if often is None else often[wrong]).sum())
        raise InputError(
            f"{argument}: {where(row)}: {words[codes[row]][:40]!r} in column {column.name!r} is no "
            f"number ({counted(n, 'such trial')}), and bins are of numbers. Name the column without "
            "borders, or leave these trials out (--where)."
        )
    found = np.array([float(word) if is_number(word) else np.nan for word in words])[codes]
    return found, np.isnan(found)


def sides_with_names(trials: Trials) -> tuple[str, ...]:
    """Sides whose names say something."""
    return () if trials.sides == ROW else trials.sides


def no_column(name: str, there: Sequence[str], key: str, argument: str) -> InputError:
    """The error of a key without a column by which its trials should be split."""
    return InputError(
        f"{argument}: {name!r} is no column of {key}; there are {', '.join(there) or 'none'} (besides the label). "
        "What a file says of the names of a side is SIDE=FILE."
    )


def no_side(name: str, there: Sequence[str], key: str, argument: str) -> InputError:
    """The error of trials without a side of whose names a file should say something."""
    return InputError(
        f"{argument}: {name!r} is no side of the trials of {key}, which are identified by {', '.join(there)}. Write "
        "SIDE=FILE with one of these."
    )


def said_of_names(held: IdMap, names: pa.Array) -> pa.Array:
    """What a file says of names; nothing of those that it does not have."""
    from deciban._arrow import of_numpy
    from deciban.trials.names import positions

    place = positions(names, held.left)
    return held.right.take(of_numpy(place, lacking=place < 0))
