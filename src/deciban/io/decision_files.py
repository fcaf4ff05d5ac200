"""Files of decisions that were made elsewhere: names of trials, and a word for what was done about each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban._arrow import to_numpy
from deciban._files import PathLike, display_name
from deciban.errors import FormatError, InputError
from deciban.io.columns.headers import CONDITION
from deciban.io.formats import Options, text_formats, text_layouts
from deciban.io.source import Source, numbered_lines, read_text, unpacked_name
from deciban.io.text.one_line import split
from deciban.io.text.reader import Layout, TextBlocks, parse_blocks
from deciban.messages import shortened
from deciban.trials import Origin

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

_OTHERWISE = (
    "name the columns (--columns trial,action), or, if each line decides about one class of a segment, the format "
    f"(--format {LINES})."
)

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
    lines = text_layouts.read_lines(Source(path), "system")
    sets, action = np.unique(lines.accepted(), axis=0, return_inverse=True)
    accepts = [tuple(name for name, one in zip(lines.classes, row, strict=True) if one) for row in sets.tolist()]
    actions = tuple("+".join(one) or _NONE for one in accepts)
    columns = {"trial": lines.segments.names[0]}
    if lines.key is not None:
        columns["class"] = pa.array(lines.key.classes).take(pa.array(lines.key.label))
    of_sets, codes = dict(zip(actions, accepts, strict=True)), action.reshape(-1).astype(np.int64)
    name = display_name(path)
    return DecisionFile(name, pa.table(columns), codes, actions, "decision", of_sets, tuple(lines.classes))


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
            f"decisions (decision_column=, --decision-column), {_OTHERWISE}"
        )
    return found[0]


def _table(path: PathLike, columns: Sequence[str] | None) -> pa.Table:
    """Every column as text: names such as 007 are no numbers, and nobody guesses what 1 and 0 are."""
    source, name = Source(path), display_name(path)
    if source.is_folder or source.kind == "Parquet":
        from pyarrow import parquet

        try:
            return parquet.read_table(path if source.is_folder else source.seekable(), page_checksum_verification=True)
        except pa.ArrowInvalid as error:
            raise FormatError(f"{name}: {error}") from error
    text = read_text(source)
    _, line = next(numbered_lines(text, name), (1, ""))
    told = {".csv": ",", ".tsv": "\t"}.get(Path(unpacked_name(name)).suffix.casefold())
    delimiter = told or next((sign for sign in "\t," if sign in line), " ")
    titles = split(line, delimiter, quoted=delimiter != " ") if columns is None else list(columns)
    if len({*titles}) < len(titles):
        raise FormatError(f"{name}: two columns have one name: {', '.join(titles)}. Say what they are: {_OTHERWISE}")
    roles = tuple(CONDITION + title for title in titles)
    layout = Layout(
        text_formats()["table"], roles, delimiter, tuple(titles) if columns is None else None, quoted=delimiter != " "
    )
    found = parse_blocks(TextBlocks(name, layout, text=text), Origin(name), "", Options(need="index"))
    assert found.index is not None  # noqa: S101  # rows are trials
    return pa.table({**found.index.trials.conditions})
