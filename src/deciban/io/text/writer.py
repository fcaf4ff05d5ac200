"""Writer of text tables, block by block: numbers are written without loss, and unsuitable names are refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import IO, TypeAlias

import numpy as np
import pyarrow as pa

from deciban._arrow import condition_column, constant, joined, of_numpy, of_words, pc, to_numpy
from deciban.errors import FormatError, either, option, teller
from deciban.io.columns.headers import CONDITION, IDENTITY, role_of, roles_of
from deciban.io.formats import ContentKind, Contents, RowError, TextFormat, WrittenContents, require
from deciban.io.text.reader import looks_numeric
from deciban.trials import Trials
from deciban.trials.frames import check_same_trials
from deciban.trials.lists import PAIR_SIDE, ROW, identity_of
from deciban.types import AnyArray

_FORBIDDEN = {
    " ": (r"[ \t\v\f\n\r\x00]", "white space"),
    "\t": (r"[\t\v\f\n\r\x00]|^ | $", "a tab, a line break, or a blank at an end"),
    ",": (r"[\v\f\n\r\x00]|^[ \t]|[ \t]$", "a line break, or a blank at an end"),
}
"""For each delimiter, a regular expression for text that no field can contain even in quotes, and words for it."""

_QUOTED = r'[,"]'
_COMMENT = "^(?:#|;;|\ufeff)"


def check_names(
    names: pa.Array, what: str, format_name: str, delimiter: str, *, first: bool, may_be_empty: bool = False
) -> None:
    """Raise if names could not be read back.

    Parameters
    ----------
    names : pyarrow string array
    what : str
        Noun for the names in messages.
    format_name : str
    delimiter : str
        A blank (any white space), a tab or a comma.
    first : bool
        True if they are at the beginning of a line, where comments start.
    may_be_empty : bool

    Raises
    ------
    FormatError
        With the first invalid name.
    """
    pattern, words = _FORBIDDEN[delimiter]
    if not may_be_empty:
        _refuse(names, pc.equal(names, constant("")), what, format_name, "is empty")
    _refuse(names, pc.match_substring_regex(names, pattern), what, format_name, f"contains {words}")
    if first and delimiter != ",":
        commented = pc.match_substring_regex(names, _COMMENT)
        _refuse(names, commented, what, format_name, "begins like a comment or a byte order mark")


def _refuse(names: pa.Array, wrong: pa.BooleanArray, what: str, format_name: str, why: str) -> None:
    count = pc.sum(wrong).as_py()
    if count:
        name = names[pc.index(wrong, value=True).as_py()].as_py()
        shown = repr(name if len(name) <= 60 else name[:57] + "...")
        others = f" (and {count - 1} more like it)" if count > 1 else ""
        way_out = "parquet" if format_name in ("table", "lir") else "table, which is CSV, or parquet"
        raise FormatError(
            f"{format_name} cannot contain the {what} {shown}{others}: it {why}. Choose another format ({way_out}), or "
            "rename it."
        )


def quoted(fields: pa.Array, delimiter: str, *, first: bool) -> pa.Array:
    """Put quotes around fields between commas that would be misread without quotes.

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
"""Largest number of characters of a score."""


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One column of a table.

    Attributes
    ----------
    role : str
        ``classes`` for the scores of a class.
    name : str
    values : function of a slice of rows
        Indices in ``texts``, numbers, or text that a format computes from other columns.
    texts : pyarrow string array or None
        The distinct texts.
    """

    role: str
    name: str
    values: Callable[[slice], AnyArray | pa.Array]
    texts: pa.Array | None = None

    @property
    def width(self) -> int:
        """Number of bytes of the longest text."""
        return _SCORE_WIDTH if self.texts is None else pc.max(pc.binary_length(self.texts)).as_py() or 0

    def rows(self, start: int, stop: int) -> pa.Array:
        """Return the text of some rows; numbers have the fewest digits that read back to the same float64."""
        values = self.values(slice(start, stop))
        if isinstance(values, pa.Array):
            return values
        if self.texts is None:
            return pc.cast(of_numpy(values.astype(np.float64, copy=False)), pa.string())
        return self.texts.take(of_numpy(values))

    def fit_for(self, format: TextFormat, *, first: bool) -> Column:
        """Return the column, with quotes where needed; raise if the format cannot contain a name in it."""
        if self.texts is None:
            return self
        is_condition = self.role.startswith(CONDITION)
        what = f"{self.name} of a trial" if is_condition else f"{self.role} name" if self.role != "class" else "class"
        may_be_empty = is_condition and format.delimiter != " "
        check_names(self.texts, what, format.name, format.delimiter, first=first, may_be_empty=may_be_empty)
        return replace(self, texts=quoted(self.texts, format.delimiter, first=first))


def columns_of(contents: Contents, format: TextFormat) -> tuple[Trials, list[Column]]:
    """Return the trials, and all their data as columns.

    Raises
    ------
    FormatError
        If a condition is not text.
    InputError
        If the tables do not contain the same trials in the same order.
    """
    check_same_trials(*(table.trials for table in contents.tables))
    trials, key, class_scores = contents.tables[0].trials, contents.key, contents.class_scores
    columns = list[Column]()
    if trials.listed is None and trials.mask is None:  # a full grid: its codes are computed in blocks
        n_test = len(trials.names[1])
        columns += [
            Column("enroll", "enroll", lambda rows: np.arange(rows.start, rows.stop) // n_test, trials.names[0]),
            Column("test", "test", lambda rows: np.arange(rows.start, rows.stop) % n_test, trials.names[1]),
        ]
    elif trials.sides != ROW:
        for side, names, codes in zip(trials.sides, trials.names, trials.codes, strict=True):
            columns.append(Column(side, side, codes.__getitem__, names))
    columns += [Column("score", one.name, one.score.__getitem__) for one in contents.systems]
    if key is not None and contents.label_words is not None and not format.lines:
        columns.append(replace(_condition("label", condition_column("label", contents.label_words)), role="label"))
    elif key is not None:
        columns.append(Column("label", "label", (~key.is_target).view(np.int8).__getitem__, of_words(format.words)))
    if contents.class_key is not None:
        true = contents.class_key
        columns.append(Column("class", "class", true.label.__getitem__, of_words(true.classes)))
    if class_scores is not None:
        by_class = zip(class_scores.classes, class_scores.score.T, strict=True)
        columns += [Column("classes", name, score.__getitem__) for name, score in by_class]
    return trials, columns + [_condition(name, values) for name, values in trials.conditions.items()]


def undone(columns: Sequence[Column], trials: Trials, format: TextFormat) -> list[Column]:
    """Return the columns in a file, for a format that derives some columns from others when it is read.

    Raises
    ------
    FormatError
        If the format cannot express the columns.
    """
    undo = format.undo
    if undo is None:
        return list(columns)
    scores = [column for column in columns if column.role in ("score", "classes")]
    # Each column may be the first of a line.
    others = [column.fit_for(format, first=True) for column in columns if column not in scores]

    @lru_cache(maxsize=1)
    def block(start: int, stop: int) -> Mapping[str, pa.Array]:
        try:
            return undo({column.role: column.rows(start, stop) for column in others})
        except RowError as error:
            raise FormatError(f"{trials.origin.where(start + (error.row or 0))}: {format.name}: {error}.") from error
        except FormatError as error:
            raise FormatError(f"{format.name} cannot contain {trials.origin.name}: {error}.") from error

    def values(rows: slice, role: str) -> pa.Array:
        return block(rows.start, rows.stop)[role]

    return [Column(role, role.removeprefix(CONDITION), partial(values, role=role)) for role in block(0, 0)] + scores


def _condition(name: str, values: pa.Array) -> Column:
    """Return a condition as text; missing values are empty."""
    try:
        texts = pc.coalesce(pc.cast(values, pa.string()), constant("")).dictionary_encode()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise FormatError(
            f"condition {name!r} contains {values.type}, which is not text. Leave it out, or use parquet."
        ) from error
    return Column(CONDITION + name, name, to_numpy(texts.indices).__getitem__, texts.dictionary)


_BLOCK = 1 << 23
"""Approximate number of bytes of text that are written at once."""

_SAMPLED = 999
"""Number of rows that the reader samples to recognize columns; the header is its first line."""

_KINDS: dict[str, ContentKind] = {"score": "scores", "label": "key", "class": "class-key", "classes": "class-scores"}
"""Kinds of tables by the roles of columns."""

_Line: TypeAlias = list[tuple[str, Column]]
"""Columns of a file, each with its header."""


def write_text(contents: Contents, format: TextFormat, stream: IO[bytes]) -> WrittenContents:
    """Write a text table.

    Among the lines of a format, the one with most of the contents is written: scores and labels if there is such a
    line, else scores.

    Parameters
    ----------
    contents : Contents
    format : TextFormat
    stream : binary stream

    Returns
    -------
    Written
        The contents of this line.

    Raises
    ------
    FormatError
        If the format cannot contain something: a name with a blank, the channel of a trial, several systems. The
        stream is then incomplete.

    Examples
    --------
    >>> import io
    >>> from deciban.io.formats import by_name
    >>> from deciban.trials import Scores
    >>> stream = io.BytesIO()
    >>> scores = Scores.of({"enroll": ["ann", "ann"], "test": ["x", "y"]}, [1.5, -0.1])
    >>> sorted(write_text(Contents.of(scores), by_name("kaldi"), stream).kinds)
    ['index', 'scores']
    >>> stream.getvalue()
    b'ann x 1.5\\nann y -0.1\\n'
    """
    require(contents, format.writes, format.name)
    trials, columns = columns_of(contents, format)
    _require_room_for_names(columns, trials, format)
    values = {column.role for column in columns}
    columns = undone(columns, trials, format)
    roles_written = values - {column.role for column in columns}  # expressed by other columns: Bob's labels
    line = _fixed_line(columns, trials, format) if format.lines else _free_line(columns, trials, format)
    if any(column.role == "score" for _, column in line):
        _check_scale(contents, format)
    roles_written |= {column.role for _, column in line}
    columns = [column.fit_for(format, first=i == 0) for i, (_, column) in enumerate(line)]
    if format.lines and not format.header:
        _check_first_line([column.rows(0, 1)[0].as_py() for column in columns], trials, format)
    else:
        titles = of_words(title for title, _ in line)
        check_names(titles, "column", format.name, format.delimiter, first=True)
        stream.write(format.delimiter.join(quoted(titles, format.delimiter, first=True).to_pylist()).encode() + b"\n")
    step = max(1, _BLOCK // sum(column.width + 1 for column in columns))
    tell = teller(len(trials), "rows")
    for start in range(0, len(trials), step):
        tell(start)
        stop = min(start + step, len(trials))
        fields = (column.rows(start, stop) for column in columns)
        stream.write(joined(pc.binary_join_element_wise(*fields, constant(format.delimiter)), "\n"))
        stream.write(b"\n")
    kinds: set[ContentKind] = {_KINDS[role] for role in roles_written if role in _KINDS}
    names = {role.removeprefix(CONDITION) for role in roles_written if role.startswith(CONDITION)}
    return WrittenContents(frozenset(kinds | {"index"}), frozenset(names))


def _require_room_for_names(columns: Sequence[Column], trials: Trials, format: TextFormat) -> None:
    sides, lines = identity_of([column.role for column in columns]), [line.split() for line in format.lines]
    if not lines or sides in map(identity_of, lines):
        return
    able = " or by ".join(dict.fromkeys(_in_words([role for role in words if role in IDENTITY]) for words in lines))
    ways = {
        PAIR_SIDE: f"Choose nist-sre, table or parquet, or ignore the side when reading ({option(columns=...)})",
        (): f"Choose {'' if any(one.role == 'classes' for one in columns) else 'rows, '}npy, npz or parquet",
    }
    raise FormatError(
        f"{format.name} identifies trials by {able}, {trials.origin.name} by {_in_words(sides)}. "
        f"{ways.get(sides, 'Choose table or parquet')}."
    )


def _in_words(sides: Sequence[str]) -> str:
    """Describe what identifies trials: their only side is a name."""
    return "name" if list(sides) == ["trial"] else " and ".join(sides) or "row"


def _fixed_line(columns: Sequence[Column], trials: Trials, format: TextFormat) -> _Line:
    """Return the line of the format with most of the contents."""
    roles = {column.role for column in columns}
    sides = identity_of([column.role for column in columns])
    lines = [line.split() for line in format.lines]
    named = [words for words in lines if identity_of(words) == sides]
    needed = [[word for word in words if word != "*"] for words in named]
    possible = [words for words, need in zip(named, needed, strict=True) if set(need) <= roles]
    if not possible:
        nearest = max(needed, key=lambda need: (len(roles & {*need} & {*_KINDS}), -len({*need} - roles)))
        missing = [word for word in nearest if word not in roles]
        raise FormatError(
            f"{format.name} also needs {' and '.join(role.removeprefix(CONDITION) for role in missing)}, which "
            f"{trials.origin.name} lacks. Choose another format (table, parquet)."
        )

    def most(words: list[str]) -> tuple[int, bool, int]:
        return sum(word in _KINDS for word in words), "score" in words, sum(word[0] == CONDITION for word in words)

    words = max(possible, key=most)
    return [pair for word in words for pair in _columns_for(word, words, columns, format, trials)]


def _columns_for(
    word: str, words: Sequence[str], columns: Sequence[Column], format: TextFormat, trials: Trials
) -> _Line:
    """Return the columns for a word of a line."""
    if word == "*":
        others = [column for column in columns if column.role[0] == CONDITION and column.role not in words]
        _refuse_known_titles(others, format)
        return [(column.name, column) for column in others]
    items = [column for column in columns if column.role == word]
    if word == "classes":
        _refuse_known_titles(items, format)
        return [(column.name, column) for column in items]
    titles = format.header.get(word, word).split("|")
    if len(titles) > 1:
        by_name = {column.name: column for column in items}
        if set(by_name) != set(titles):
            raise FormatError(
                f"{format.name} contains scores of the systems {', '.join(titles)}, but {trials.origin.name} of "
                f"{', '.join(by_name)}."
            )
        return [(title, by_name[title]) for title in titles]
    if len(items) > 1:
        names = [column.name for column in items]
        raise FormatError(
            f"{format.name} contains scores of one system, but {trials.origin.name} of {len(names)}: "
            f"{', '.join(names)}. Choose one ({option(columns=f'score={names[0]},...')}), or use table or parquet."
        )
    return [(titles[0], items[0])]


def _refuse_known_titles(columns: Sequence[Column], format: TextFormat) -> None:
    known = {title.casefold() for titles in format.header.values() for title in titles.split("|")}
    for column in columns:
        if column.name.casefold() in known:
            raise FormatError(
                f"{format.name} uses {column.name} as the name of a column. Rename the condition or class."
            )


def _free_line(columns: Sequence[Column], trials: Trials, format: TextFormat) -> _Line:
    """Return all columns, with titles that declare their roles."""
    roles = {column.role for column in columns}
    if not identity_of([*roles]) and not roles & {"score", "label", "classes"}:  # readers need one of these
        raise FormatError(
            f"{format.name} needs names of trials, but trials of {trials.origin.name} are identified by their rows. "
            "Choose another format (rows, npy, npz, parquet)."
        )
    alone = sum(column.role == "score" for column in columns) == 1
    line = [(_title(column, alone=alone), column) for column in columns]
    titles = [title for title, _ in line]
    check_names(of_words(titles), "column", format.name, format.delimiter, first=True)
    result = roles_of(titles, trials.origin.name)
    for (title, column), role in zip(line, result, strict=True):
        meant = CONDITION + title if column.role == "classes" else column.role
        if role != meant:
            raise FormatError(
                f"{format.name}: a {'class' if column.role == 'classes' else 'condition'} called {title!r} would be "
                f"read as the {role.removeprefix(CONDITION)}. Rename it, or choose another format (parquet)."
            )
    if len(set(titles)) < len(titles):
        twice = next(title for title in titles if titles.count(title) > 1)
        raise FormatError(f"{format.name}: two columns would be called {twice!r}. Rename one of the systems.")
    if any(column.role == "classes" for column in columns):
        _check_classes(columns, trials, format)
    return line


def _title(column: Column, *, alone: bool) -> str:
    if column.role != "score":
        return column.name
    if alone:
        return "score"
    return column.name if role_of(column.name) == "score" else f"{column.name}-score"


def _check_classes(columns: Sequence[Column], trials: Trials, format: TextFormat) -> None:
    """Raise if a reader would confuse other columns of numbers with classes, or the names of classes with scores."""
    names = [column.name for column in columns if column.role == "classes"]
    if not identity_of([column.role for column in columns]) and looks_numeric(names):
        raise FormatError(
            f"the names of the classes are numbers ({', '.join(names[:2])}, ...), so the header of the written "
            f"{format.name} would be read as a row of scores. Name the classes ({option(classes=['cat', 'dog'])}), or "
            f"write npy, npz or parquet ({option(to=...)})."
        )
    for column in columns:
        if column.role == "score":
            raise FormatError(f"{format.name} contains scores of trials or of classes, {trials.origin.name} has both.")
        sample = column.rows(0, min(len(trials), _SAMPLED)).to_pylist() if column.role[0] == CONDITION else []
        if looks_numeric(sample):
            raise FormatError(
                f"{format.name}: condition {column.name!r} contains numbers, and would be read as a class. Choose "
                "another format (parquet)."
            )


def _check_scale(contents: Contents, format: TextFormat) -> None:
    for system in contents.systems:
        if system.log10 and not format.log10:
            choose = either("Convert them first with Scores.in_nats(), or choose", "Choose")
            raise FormatError(
                f"{system.name}: these are common logarithms (log10), which {format.name} cannot declare. "
                f"{choose} another format (lir, parquet)."
            )
        if format.log10 and not system.log10:
            raise FormatError(
                f"{format.name} contains common logarithms (log10), but {system.name} is not declared as such. Convert "
                "natural ones first (divide by ln 10), and declare them (log10)."
            )


def _check_first_line(fields: Sequence[str], trials: Trials, format: TextFormat) -> None:
    """Raise if the first names of a file without a header look like a header."""
    try:
        as_header = bool(identity_of(roles_of(fields, trials.origin.name)))
    except FormatError:
        as_header = True
    if as_header:
        raise FormatError(
            f"{format.name}: the first trial {trials.name_of(0)} would be read as a header. Put another trial first, "
            "or choose another format (table, parquet)."
        )
