"""What tables of trials hold, as columns of text: made block by block, quoted where that helps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban._arrow import constant, of_numpy, of_words, to_numpy
from deciban.errors import FormatError
from deciban.io.columns.headers import CONDITION
from deciban.io.contents import Contents, RowError
from deciban.io.formats import TextFormat
from deciban.trials import Trials
from deciban.trials.frames import are_same_trials
from deciban.trials.lists import ROW
from deciban.types import IntArray, ScoreArray

_FORBIDDEN = {
    " ": (r"[ \t\v\f\n\r\x00]", "white space"),
    "\t": (r"[\t\v\f\n\r\x00]|^ | $", "a tab, a line break, or a blank at an end"),
    ",": (r"[\v\f\n\r\x00]|^[ \t]|[ \t]$", "a line break, or a blank at an end"),
}
"""For each delimiter what no field can hold, as a regular expression and in words; quotes do not help."""

_QUOTED = r'[,"]'
_COMMENT = "^(?:#|;;|\ufeff)"


def check_names(
    names: pa.Array, what: str, format_name: str, delimiter: str, *, first: bool, may_be_empty: bool = False
) -> None:
    """Refuse names that would not be read as they are.

    Parameters
    ----------
    names : pyarrow string array
    what : str
        What they are, for the message.
    format_name : str
    delimiter : str
        A blank (any white space), a tab or a comma.
    first : bool
        Whether they stand at the beginning of a line, where a comment would.
    may_be_empty : bool

    Raises
    ------
    FormatError
        Naming the first that does not fit.
    """
    pattern, words = _FORBIDDEN[delimiter]
    if not may_be_empty:
        _refuse(names, pc.equal(names, constant("")), what, format_name, "is empty")
    _refuse(names, pc.match_substring_regex(names, pattern), what, format_name, f"holds {words}")
    if first and delimiter != ",":
        commented = pc.match_substring_regex(names, _COMMENT)
        _refuse(names, commented, what, format_name, "begins as a comment or a byte order mark does")


def _refuse(names: pa.Array, wrong: pa.BooleanArray, what: str, format_name: str, why: str) -> None:
    count = pc.sum(wrong).as_py()
    if count:
        name = names[pc.index(wrong, value=True).as_py()].as_py()
        shown = repr(name if len(name) <= 60 else name[:57] + "...")
        others = f" (and {count - 1} more like it)" if count > 1 else ""
        way_out = "parquet" if format_name in ("table", "lir") else "table, which is CSV, or parquet"
        raise FormatError(
            f"{format_name} cannot hold the {what} {shown}{others}: it {why}. Choose another format ({way_out}), or "
            "rename what is called so."
        )


def quoted(fields: pa.Array, delimiter: str, *, first: bool) -> pa.Array:
    """Put quotes around fields where commas separate them and one would be misread.

    Examples
    --------
    >>> quoted(pa.array(["a", "b,c", 'd"e', "#f"]), ",", first=True).to_pylist()
    ['a', '"b,c"', '"d""e"', '"#f"']
    """
    if delimiter != ",":
        return fields
    needed = pc.match_substring_regex(fields, f"{_QUOTED}|{_COMMENT}" if first else _QUOTED)
    doubled = pc.replace_substring(fields, '"', '""')
    return pc.if_else(needed, pc.binary_join_element_wise(constant('"'), doubled, constant('"'), constant("")), fields)


_SCORE_WIDTH = 25
"""Characters that a score takes at most."""


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """Text that repeats: each distinct one once, and a function that gives their positions for rows start to stop."""

    texts: pa.Array
    codes: Callable[[int, int], IntArray]

    @property
    def width(self) -> int:
        """Bytes of the longest text."""
        return pc.max(pc.binary_length(self.texts)).as_py() or 0

    def rows(self, start: int, stop: int) -> pa.Array:
        """The text of some rows."""
        return self.texts.take(of_numpy(self.codes(start, stop)))


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """Scores, printed with the fewest digits that read back to the same float64."""

    values: ScoreArray
    width: int = _SCORE_WIDTH

    def rows(self, start: int, stop: int) -> pa.Array:
        """The text of some rows."""
        return pc.cast(of_numpy(self.values[start:stop].astype(np.float64, copy=False)), pa.string())


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """Text that a format makes of other columns; a block of all of them at a time."""

    block: Callable[[int, int], Mapping[str, pa.Array]]
    role: str
    width: int

    def rows(self, start: int, stop: int) -> pa.Array:
        """The text of some rows."""
        return self.block(start, stop)[self.role]


Cells: TypeAlias = Coded | Numbers | Made


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One column: its role (``classes`` for the scores of a class), what it is called, and its cells."""

    role: str
    name: str
    cells: Cells

    def fit_for(self, format: TextFormat, *, first: bool) -> Column:
        """The same column, refused if the format cannot hold a name in it, in quotes where the format wants them."""
        if not isinstance(self.cells, Coded):
            return self
        is_condition = self.role.startswith(CONDITION)
        what = f"{self.name} of a trial" if is_condition else f"{self.role} name" if self.role != "class" else "class"
        may_be_empty = is_condition and format.delimiter != " "
        texts, delimiter = self.cells.texts, format.delimiter
        check_names(texts, what, format.name, delimiter, first=first, may_be_empty=may_be_empty)
        return replace(self, cells=replace(self.cells, texts=quoted(texts, delimiter, first=first)))


def columns_of(contents: Contents, words: tuple[str, str]) -> tuple[Trials, list[Column]]:
    """The trials, and everything that is known of them as columns.

    Raises
    ------
    FormatError
        If the tables do not speak of the same trials in the same order.
    """
    trials, conditions = _common_trials(contents)
    columns = [] if trials.sides == ROW else [Column(side, side, cells) for side, cells in _names(trials)]
    columns += [Column("score", system.name, Numbers(system.score)) for system in contents.systems]
    if contents.key is not None:
        non = ~contents.key.is_target
        columns.append(
            Column("label", "label", Coded(of_words(words), lambda start, stop: non[start:stop].view(np.int8)))
        )
    if contents.class_key is not None:
        true, names = contents.class_key.label, of_words(contents.class_key.classes)
        columns.append(Column("class", "class", Coded(names, lambda start, stop: true[start:stop])))
    if contents.class_scores is not None:
        by_class = contents.class_scores.score.T
        columns += [
            Column("classes", name, Numbers(by_class[i])) for i, name in enumerate(contents.class_scores.classes)
        ]
    return trials, columns + [_condition(name, values) for name, values in conditions.items()]


def undone(columns: Sequence[Column], trials: Trials, format: TextFormat) -> list[Column]:
    """The columns as a format has them that derives some from others when it is read.

    Raises
    ------
    FormatError
        If the format has no way to say what they say.
    """
    undo = format.undo
    if undo is None:
        return list(columns)
    scores = [column for column in columns if column.role in ("score", "classes")]
    # Each may end up at the beginning of a line.
    others = {column.role: column.fit_for(format, first=True) for column in columns if column not in scores}

    @lru_cache(maxsize=1)
    def block(start: int, stop: int) -> Mapping[str, pa.Array]:
        try:
            return undo({role: column.cells.rows(start, stop) for role, column in others.items()})
        except RowError as error:
            raise FormatError(f"{trials.origin.where(start + (error.row or 0))}: {format.name}: {error}.") from error
        except FormatError as error:
            raise FormatError(f"{format.name} cannot hold {trials.origin.name}: {error}.") from error

    width = sum(column.cells.width for column in others.values())
    return [Column(role, role.removeprefix(CONDITION), Made(block, role, width)) for role in block(0, 0)] + scores


def _names(trials: Trials) -> list[tuple[str, Coded]]:
    if trials.listed is None and trials.mask is None:
        n_test = len(trials.names[1])  # a full grid: its codes are never made as a whole
        enroll = Coded(trials.names[0], lambda start, stop: np.arange(start, stop) // n_test)
        return [
            ("enroll", enroll),
            ("test", Coded(trials.names[1], lambda start, stop: np.arange(start, stop) % n_test)),
        ]
    return [
        (side, Coded(names, lambda start, stop, codes=codes: codes[start:stop]))  # type: ignore[misc]
        for side, names, codes in zip(trials.sides, trials.names, trials.codes, strict=True)
    ]


def _condition(name: str, values: pa.Array) -> Column:
    """A condition as text; what is missing is empty."""
    try:
        texts = pc.coalesce(pc.cast(values, pa.string()), constant("")).dictionary_encode()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise FormatError(
            f"condition {name!r} holds {values.type}, which is no text. Leave it out, or use parquet."
        ) from error
    codes = to_numpy(texts.indices)
    return Column(CONDITION + name, name, Coded(texts.dictionary, lambda start, stop: codes[start:stop]))


def _common_trials(contents: Contents) -> tuple[Trials, dict[str, pa.Array]]:
    """The trials that all tables speak of, and the conditions that any of them has."""
    lists = [table.trials for table in contents.tables]
    first = lists[0]
    for other in lists[1:]:
        if not are_same_trials(first, other):
            raise FormatError(
                f"{other.origin.name}: its trials are not those of {first.origin.name} in the same order. Align the "
                "tables first."
            )
    conditions = {name: values for one in reversed(lists) for name, values in one.conditions.items()}
    return first, conditions
