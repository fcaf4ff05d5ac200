"""NIST language recognition evaluations of 2007 to 2011: one line for each segment and language.

Test, target language, set, segment, decision (``t`` or ``f``), score; the files of the scorer add the true language::

    general_lr english closed_set lid00001 t 0.875
    general_lr farsi closed_set lid00001 f 0.125

    general_lr english closed_set lid00001 t 0.875 english.american

The lines become a table of class scores, languages in the order of their first occurrence; decisions are left out.
Every segment needs a score for every language, and all lines must be of one test and one set: cut other files up first.
`read_decisions` takes the decisions, and no scores.

The seven columns were seen in a recipe (Kaldi's for LRE 2007) that writes them for the scorer of NIST; that the
evaluations of 2009 and 2011 kept the order is from memory, so this format is never guessed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from deciban._arrow import compute as pc
from deciban.errors import FormatError, InputError
from deciban.io.contents import Contents
from deciban.io.formats import Options, TextFormat
from deciban.io.source import Source, numbered_lines, read_text
from deciban.io.text.one_line import split
from deciban.io.text.reader import Layout, line_of_row, parse_table
from deciban.trials import ClassKey, ClassScores, Index, Origin, Trials
from deciban.trials.names.codes import encode
from deciban.types import BoolArray, IntArray

_ROLES = ("=test", "=language", "=set", "trial", "=decision", "score")
_TRUE = "=true language"


@dataclass(frozen=True, slots=True)
class _Lines:
    """Lines of one test and set: a row of them for each segment, in the order of classes."""

    listed: Any
    segments: Trials
    classes: list[str]
    rows: IntArray
    layout: Layout
    with_key: bool

    def key(self) -> ClassKey | None:
        return _key(self.listed.trials, self.segments, self.rows) if self.with_key else None


def read(source: Source, options: Options) -> Contents:
    """Read a file of this format."""
    lines = _lines(source, options.name or "system")
    try:
        scores = ClassScores.of(
            lines.segments, lines.classes, lines.listed.score[lines.rows], name=options.name or "system"
        )
        key = lines.key()
    except InputError as error:
        raise FormatError(f"{source.name}: {error}") from error
    origin = Origin(source.name, str(lines.layout))
    return Contents(origin=origin, index=Index(lines.segments), class_scores=scores, class_key=key)


@dataclass(frozen=True, slots=True)
class LanguageDecisions:
    """For each segment, which languages were accepted.

    Attributes
    ----------
    segments : list of str
    classes : list of str
    accepted : (n_segments, n_classes) bool array
    true : list of str or None
        The true languages, if the file says them.
    """

    segments: list[str]
    classes: list[str]
    accepted: BoolArray
    true: list[str] | None


def read_decisions(source: Source) -> LanguageDecisions:
    """Read the decisions of a file of this format, and no scores.

    Raises
    ------
    FormatError
        As for scores; or if a decision is neither ``t`` nor ``f``.
    """
    lines = _lines(source, "system")
    trials = lines.listed.trials
    words, spelled = encode(trials.condition("decision"))
    known = spelled.to_pylist()
    odd = [word for word in known if word not in ("t", "f")]
    if odd:
        row = int(np.flatnonzero(words == known.index(odd[0]))[0])
        raise FormatError(f"{trials.origin.where(row)}: the decision {odd[0]!r} is neither t nor f.")
    accepts = np.array([word == "t" for word in known])[words]
    try:
        key = lines.key()
    except InputError as error:
        raise FormatError(f"{source.name}: {error}") from error
    true = None if key is None else [key.classes[k] for k in key.label.tolist()]
    return LanguageDecisions(lines.segments.names[0].to_pylist(), lines.classes, accepts[lines.rows], true)


def _lines(source: Source, system: str) -> _Lines:
    data = read_text(source)
    first = next(numbered_lines(data, source.name), None)
    if first is None:
        raise FormatError(f"{source.name}: the file is empty. Expected one line for each segment and language.")
    with_key = len(split(first[1], " ")) > len(_ROLES)
    roles = (*_ROLES, _TRUE) if with_key else _ROLES
    lines = TextFormat(name="nist-lre07", summary="", reads=(), lines=())
    layout = Layout(lines, roles, " ")
    origin = Origin(source.name, str(layout), partial(line_of_row, data, layout, name=source.name))
    listed = parse_table(data, layout, origin, system, Options(need="scores")).scores
    trials = listed.trials
    for name in ("test", "set"):
        found = pc.unique(trials.condition(name)).to_pylist()
        if len(found) > 1:
            raise FormatError(
                f"{source.name}: lines of more than one {name}: {', '.join(found[:5])}. Each needs a file of its own."
            )
    languages, classes = encode(trials.condition("language"))
    rows = _complete(trials, languages, classes.to_pylist())
    segments = Trials.of({"trial": trials.names[0]}, origin=Origin(source.name, str(layout)))
    return _Lines(listed, segments, classes.to_pylist(), rows, layout, with_key)


def _complete(trials: Trials, languages: IntArray, classes: list[str]) -> IntArray:
    """For each segment and language the row of its line."""
    segments = trials.codes[0]
    cells = segments.astype(np.int64) * len(classes) + languages
    order = np.argsort(cells, kind="stable")
    again = np.flatnonzero(cells[order[1:]] == cells[order[:-1]])
    if len(again):
        row = int(order[1:][again].min())
        raise FormatError(
            f"{trials.origin.where(row)}: a second line of segment {trials.name_of(row)} for {classes[languages[row]]}."
        )
    if len(cells) < len(trials.names[0]) * len(classes):
        at = int(np.argmax(np.append(cells[order], -1) != np.arange(len(cells) + 1)))
        segment, language = divmod(at, len(classes))
        raise FormatError(
            f"{trials.origin.name}: segment {trials.names[0][segment].as_py()!r} has no line for {classes[language]}. "
            "Every segment needs a score for every language."
        )
    return order.reshape(-1, len(classes))


def _key(trials: Trials, segments: Trials, rows: IntArray) -> ClassKey:
    codes, names = encode(trials.condition(_TRUE[1:]))
    true = codes[rows]
    differs = (true != true[:, :1]).any(axis=1)
    if differs.any():
        segment = int(np.argmax(differs))
        column = int(np.argmax(true[segment] != true[segment, 0]))
        raise FormatError(
            f"{trials.origin.where(int(rows[segment, column]))}: the true language of {segments.name_of(segment)} is "
            "not the same on all its lines."
        )
    return ClassKey.of(segments, names.take(true[:, 0]))
