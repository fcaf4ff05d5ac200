"""Files of decisions that were made elsewhere: names of trials, and a word for what was done about each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban._arrow import to_numpy
from deciban._files import PathLike, display_name
from deciban.errors import FormatError, InputError
from deciban.io.formats import text_layouts
from deciban.io.source import Source, read_text, unpacked_name
from deciban.messages import shortened

COLUMNS = ("action", "decision")
"""What the column of decisions is called, in the order in which it is looked for."""

_WORDS = {"accept": "accept", "accepted": "accept", "reject": "reject", "rejected": "reject"}
"""Words that mean one thing only."""

_OF_DECIDING = ("posterior", "expected_cost", "margin", "score", "llr")
"""Columns that may stand beside decisions, and say nothing here."""


@dataclass(frozen=True, slots=True, eq=False)
class DecisionFile:
    """Decisions as they stand in a file.

    Attributes
    ----------
    name : str
        What messages call the file.
    names : table
        The columns that name trials, and other columns that say something about them.
    action : (n_trials,) int array
        Which of the actions.
    actions : tuple of str
    column : str
        What the column of decisions is called.
    accepts : mapping of str to tuple of str, optional
        Of decisions about each class by itself: the classes that each action accepts.
    classes : tuple of str, optional
        These classes.
    """

    name: str
    names: pa.Table
    action: np.ndarray[Any, np.dtype[np.int64]]
    actions: tuple[str, ...]
    column: str
    accepts: Mapping[str, tuple[str, ...]] | None = None
    classes: tuple[str, ...] | None = None


LINES = "nist-lre07"
"""The format whose lines decide about each class of a segment."""

_NONE = "(none)"


def read_decision_lines(path: PathLike) -> DecisionFile:
    """Read a file of the format ``nist-lre07``, with a line and a decision for each segment and language.

    What was done about a segment is the set of languages that were accepted: ``eng``, ``eng+fra`` or ``(none)``.

    Parameters
    ----------
    path : path

    Returns
    -------
    DecisionFile
        With the columns ``trial`` and, if the lines say the true language, ``class``.

    Raises
    ------
    FormatError
        If lines are missing, there twice, or decide neither ``t`` nor ``f``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "lre.txt"
    >>> lines = ["eng closed s1 t 1.5", "fra closed s1 t -1", "eng closed s2 f 0", "fra closed s2 f 1"]
    >>> _ = path.write_text("".join(f"lr {line}\\n" for line in lines))
    >>> found = read_decision_lines(path)
    >>> found.actions, found.action
    (('(none)', 'eng+fra'), array([1, 0]))
    """
    lines = text_layouts.read_decisions(Source(path))
    sets, action = np.unique(lines.accepted, axis=0, return_inverse=True)
    accepts = [tuple(name for name, one in zip(lines.classes, row, strict=True) if one) for row in sets.tolist()]
    actions = tuple("+".join(one) or _NONE for one in accepts)
    columns = {"trial": lines.segments} | ({} if lines.true is None else {"class": lines.true})
    names, of_sets = pa.table(columns), dict(zip(actions, accepts, strict=True))
    codes = action.reshape(-1).astype(np.int64)
    return DecisionFile(display_name(path), names, codes, actions, "decision", of_sets, tuple(lines.classes))


def read_decisions(
    path: PathLike,
    *,
    actions: Sequence[str] | None = None,
    words: Mapping[str, str] | None = None,
    column: str | None = None,
    columns: Sequence[str] | None = None,
) -> DecisionFile:
    """Read a file of decisions: CSV, TSV, Parquet, or text with blanks between columns.

    Parameters
    ----------
    path : path
        As ``deciban decide`` writes it, or any table with a column of decisions.
    actions : sequence of str, optional
        What may have been done; every word of the file, in order of the alphabet, when left out.
    words : mapping of str to str, optional
        Which action a word of the file means: ``{"yes": "accept", "no": "reject"}``.
    column : str, optional
        What the column of decisions is called; ``action`` or ``decision`` when left out.
    columns : sequence of str, optional
        Names of the columns of a file without a header.

    Returns
    -------
    DecisionFile

    Raises
    ------
    FormatError
        If it cannot be read, has no such column, or holds a word that is no action.
    InputError
        If there are fewer than two actions.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "decisions.csv"
    >>> _ = path.write_text("trial,action\\na,accept\\nb,reject\\n")
    >>> found = read_decisions(path, actions=["accept", "reject"])
    >>> found.action, found.names.column_names
    (array([0, 1]), ['trial'])
    """
    name, table = display_name(path), _table(path, columns)
    chosen = _column(table, name, column)
    said = pc.utf8_trim_whitespace(table[chosen].cast(pa.string()))
    empty = np.flatnonzero(to_numpy(pc.fill_null(pc.equal(said, ""), fill_value=True)))
    if len(empty):
        raise FormatError(
            f"{name}: row {empty[0] + 1} holds no decision. Write one for every trial, or leave the trial out."
        )
    if not len(said):
        raise FormatError(f"{name}: holds no decisions, only the names of its columns. Write one for every trial.")
    encoded = pc.dictionary_encode(said).combine_chunks()
    found = encoded.dictionary.to_pylist()
    meant = {word: _meaning(word, words or {}, actions) for word in found}
    known = tuple(actions) if actions is not None else tuple(sorted(set(meant.values())))
    odd = [word for word in found if meant[word] not in known]
    if odd:
        raise FormatError(
            f"{name}: column {chosen!r} holds {shortened(', '.join(map(repr, odd)))}, which is none of the actions "
            f"{', '.join(known)}. Say what the words mean: accept=, reject= (--accept, --reject), or name the column."
        )
    if len(known) < 2:
        raise InputError(f"{name}: {', '.join(known)} is the only action. Name all that may be taken (--classes).")
    place = np.array([known.index(meant[word]) for word in found], np.int64)
    kept = [one for one in table.column_names if one != chosen and not one.startswith(_OF_DECIDING)]
    if not kept:
        raise FormatError(f"{name}: has no column that names trials beside {chosen!r}. Decisions meet a key by name.")
    return DecisionFile(name, table.select(kept), place[to_numpy(encoded.indices)], known, chosen)


def _meaning(word: str, words: Mapping[str, str], actions: Sequence[str] | None) -> str:
    if word in words:
        return words[word]
    if actions is not None and word in actions:
        return word
    return _WORDS.get(word.casefold(), word)


def _column(table: pa.Table, name: str, column: str | None) -> str:
    found = [one for one in ((column,) if column is not None else COLUMNS) if one in table.column_names]
    if not found:
        wanted = repr(column) if column is not None else " or ".join(map(repr, COLUMNS))
        raise FormatError(
            f"{name}: has no column {wanted}, but {', '.join(map(repr, table.column_names))}. Say which one holds "
            "decisions (decision_column=, --decision-column), name the columns (--columns trial,action), or, if each "
            f"line decides about one class of a segment, the format (--format {LINES})."
        )
    return found[0]


def _table(path: PathLike, columns: Sequence[str] | None) -> pa.Table:
    from pyarrow import csv, parquet

    source, name = Source(path), display_name(path)
    ending = Path(unpacked_name(name)).suffix.casefold()
    try:
        if source.is_folder or source.kind == "Parquet":
            return parquet.read_table(path if source.is_folder else source.seekable(), page_checksum_verification=True)
        text = read_text(source)
        if between := _between(ending, text):
            options = csv.ParseOptions(delimiter=between)
            return _stripped(csv.read_csv(BytesIO(text), _whole(columns), options, _as_text(text, options, columns)))
        rows = [line.split() for line in text.decode("utf-8").splitlines() if line.strip()]
    except (pa.ArrowInvalid, UnicodeDecodeError) as error:
        raise FormatError(f"{name}: {error}") from error
    names, body = (list(columns), rows) if columns else (rows[0], rows[1:]) if rows else ([], [])
    for number, row in enumerate(body, 1 + (not columns)):
        if len(row) != len(names):
            raise FormatError(
                f"{name}: line {number} has {len(row)} columns, not {len(names)} "
                f"({', '.join(names)}). Name the columns of a file without a header (--columns enroll,test,action)."
            )
    return pa.table({name: [row[k] for row in body] for k, name in enumerate(names)})


def _between(ending: str, text: bytes) -> str | None:
    """What stands between columns, by the ending of the name or else by the first line; None for blanks."""
    line = text[: text.find(b"\n")]
    told = {".csv": ",", ".tsv": "\t"}.get(ending)
    return told or ("\t" if b"\t" in line else "," if b"," in line else None)


def _whole(columns: Sequence[str] | None) -> Any:
    from pyarrow import csv

    return csv.ReadOptions(column_names=columns)


def _stripped(table: pa.Table) -> pa.Table:
    """The table without blanks around names of columns and what stands in them: commas with a blank are common."""
    columns = [pc.utf8_trim_whitespace(one) for one in table.columns]
    return pa.table(columns, [name.strip() for name in table.column_names])


def _as_text(text: bytes, options: Any, columns: Sequence[str] | None) -> Any:
    """Every column is text: names such as 007 are no numbers, and nobody guesses what 1 and 0 are."""
    from pyarrow import csv

    if columns is not None:
        names = list(columns)
    else:
        with csv.open_csv(BytesIO(text), parse_options=options) as reader:
            names = reader.schema.names
    return csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()))
