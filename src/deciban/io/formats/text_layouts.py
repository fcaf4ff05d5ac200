"""Text formats that need code: ASVspoof, Bob, lir, quality and id maps of BOSARIS, NIST LRE 2007.

Text files of BOSARIS that are not lists of trials: quality measures of segments, and id maps.

Quality measures: the first line is the number of measures; each other line is a name and its measures::

    2
    seg1 0.75 20.5
    seg2 0.5 13.25

Id maps: a name on the left, and the corresponding name on the right::

    model1 seg1
    model2 seg7

Instead of blanks, there may be commas, with a header ``left,right`` above; or tabs, with blanks in the names.

The lists of trials (index, key and scores) have the lines of the format ``kaldi``. The format cannot contain names of
measures; they are read as q1, q2, ... Lines like these could be many things, so the format is never guessed. It is used
if quality measures or an id map are needed.

NIST language recognition evaluations of 2007 to 2011: one line for each segment and language.

Test, target language, set, segment, decision (``t`` or ``f``), score; files of the scorer add the true language::

    general_lr english closed_set lid00001 t 0.875
    general_lr farsi closed_set lid00001 f 0.125

    general_lr english closed_set lid00001 t 0.875 english.american

The lines become a table of class scores, languages in the order of their first occurrence; decisions are left out.
Each segment needs a score for each language, and all lines must be of one test and one set: split other files first.
`deciban.io.decision_files` reads the decisions, without the scores.

The seven columns were seen in a recipe (Kaldi's for LRE 2007) that writes them for the scorer of NIST. The order in the
evaluations of 2009 and 2011 is from memory, so this format is never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import IO, TypeAlias

import numpy as np
import pyarrow as pa

from deciban._arrow import encode, pc
from deciban.errors import FormatError, InputError, not_none
from deciban.io.formats import (
    Contents,
    InputOptions,
    RowError,
    TextFormat,
    WrittenContents,
    only_format_errors,
    same_names,
)
from deciban.io.source import Source, numbered_lines, read_text
from deciban.io.text.reader import Layout, TextBlocks, is_number, lines_of_rows, parse_blocks, split
from deciban.io.text.writer import check_names
from deciban.trials import ClassKey, ClassScores, IdMap, Index, Origin, Scores, SegmentQuality, Trials
from deciban.types import BoolArray, IntArray


def spoof_again_by_source(columns: dict[str, pa.Array]) -> dict[str, pa.Array]:
    """Restore the label ``spoof`` for non-targets whose source is an attack."""
    source = columns.get("=source")
    return columns if source is None else _spoof_again(columns, pc.not_equal(source, "bonafide"))


def spoof_again_by_label(columns: dict[str, pa.Array]) -> dict[str, pa.Array]:
    """Restore the label ``spoof`` for non-targets that are spoofed according to the label of the countermeasure."""
    kind = columns.get("=cm-label")
    return columns if kind is None else _spoof_again(columns, pc.equal(kind, "spoof"))


def _spoof_again(columns: dict[str, pa.Array], attacked: pa.Array) -> dict[str, pa.Array]:
    if "label" not in columns:
        return columns
    words = pc.if_else(pc.and_(attacked, pc.equal(columns["label"], "nontarget")), "spoof", columns["label"])
    return columns | {"label": words}


def has_asvspoof_names(rows: Sequence[Sequence[str]]) -> bool:
    """Return True if a list of two columns has names as in ASVspoof 2021, or if there are more columns."""
    return len(rows[0]) > 2 or all(row[0][:5] in ("LA_E_", "PA_E_", "DF_E_") for row in rows)


def has_asvspoof_attacks(rows: Sequence[Sequence[str]]) -> bool:
    """Return True if the second column has names as in ASVspoof, and the third one has no numbers."""
    return all(re.match("((LA|PA|DF)_)?[TDE]_", row[1]) and not is_number(row[2]) for row in rows)


_Columns: TypeAlias = dict[str, pa.Array]
_CLAIMED, _REAL, _PROBE = "=claimed_id", "=real_id", "=probe_subject_id"
_REFERENCES = ("=bio_ref_template_id", "=bio_ref_reference_id")
"""Columns that distinguish the references of a subject."""
_NO_ATTACK = ("", "None", "nan")
"""Values in the column of attacks for trials without attack."""


def _text(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    return pc.cast(column, pa.string()) if pa.types.is_dictionary(column.type) else column


def labelled_by_name(columns: _Columns) -> _Columns:
    """Label trials as targets if the claimed identity, which may be the enrolment, is the real one."""
    return columns | {"label": pc.equal(_text(columns.get(_CLAIMED, columns["enroll"])), _text(columns[_REAL]))}


def unlabelled_four(columns: _Columns) -> _Columns:
    """Replace labels by names, with the enrolment as the claimed identity."""
    return _unlabelled(columns, columns["enroll"])


def unlabelled_five(columns: _Columns) -> _Columns:
    """Replace labels by names; without a claimed identity, the enrolment is used."""
    return _unlabelled(columns, columns.get(_CLAIMED, columns["enroll"]))


def _unlabelled(columns: _Columns, claimed: pa.Array) -> _Columns:
    label = columns.get("label")
    if label is None and _REAL not in columns:
        raise FormatError("real identities are unknown: there are neither labels nor a condition column real_id")
    real = columns.get(_REAL, claimed)
    if label is not None:
        wrong = pc.not_equal(pc.equal(claimed, real), pc.equal(label, "target"))
        if pc.any(wrong).as_py():
            row = pc.index(wrong, value=True).as_py()
            raise RowError(_contradiction(label[row], claimed[row], real[row] if _REAL in columns else None), row)
    return {role: column for role, column in columns.items() if role != "label"} | {_CLAIMED: claimed, _REAL: real}


def _contradiction(label: pa.Scalar, claimed: pa.Scalar, real: pa.Scalar | None) -> str:
    if real is None:
        return (
            f"{claimed.as_py()!r} is claimed in a non-target trial, but the real identity is unknown. Add a condition "
            "column real_id, or choose a format with labels (wespeaker, table, parquet)"
        )
    return f"the trial is a {label.as_py()}, but {claimed.as_py()!r} is claimed and {real.as_py()!r} is real"


def labelled_csv(columns: _Columns) -> _Columns:
    """Label trials as targets if two names are equal and there is no attack; named references are enrolled."""
    claimed = _text(columns["enroll"])
    same = pc.equal(claimed, _text(columns[_PROBE]))
    reference = next((name for name in _REFERENCES if name in columns), None)
    if reference is not None:  # a subject may have several references
        columns = {
            "enroll" if role == reference else role: column for role, column in columns.items() if role != "enroll"
        }
        columns["=bio_ref_subject_id"] = claimed
    attack = columns.get("=probe_attack_type")
    return columns | {"label": same if attack is None else pc.and_(same, pc.is_in(_text(attack), pa.array(_NO_ATTACK)))}


def some_target(rows: Sequence[Sequence[str]]) -> bool:
    """Return True if some lines have the same claimed name (the first) and real name (third from the end)."""
    return any(row[0] == row[-3] for row in rows)


_PAIRS = (("=source_id.0", "=source_id.1"), ("=source_id0", "=source_id1"), ("=source_id_0", "=source_id_1"))
_MARKS = {"hypothesis", "llr_interval_low", *(role[1:] for pair in _PAIRS for role in pair)}


def labelled_by_source(columns: dict[str, pa.Array]) -> dict[str, pa.Array]:
    """Label pairs of sources, if there is no label."""
    for one, other in _PAIRS if "label" not in columns else ():
        if one in columns and other in columns:
            return columns | {"label": same_names(columns[one], columns[other], (one[1:], other[1:]))}
    return columns


def has_lir_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return True if the header has a word that only lir writes."""
    return bool(_MARKS & set(rows[0]))


def read_quality(source: Source, options: InputOptions) -> Contents:  # noqa: ARG001  # as for all formats
    """Read quality measures of segments."""
    lines = [(number, split(line, " ")) for number, line in numbered_lines(read_text(source), source.name)]
    if not lines:
        raise FormatError(f"{source.name}: the file is empty. Expected quality measures.")
    (number, first), *lines = lines
    if len(first) != 1 or not re.fullmatch("[1-9][0-9]{0,17}", first[0]):
        raise FormatError(
            f"{source.name}:{number}: expected the number of quality measures alone on the first line, got "
            f"{' '.join(first)[:80]!r}."
        )
    n_measures = int(first[0])
    for number, fields in lines:
        if len(fields) != n_measures + 1:
            raise FormatError(
                f"{source.name}:{number}: expected a name and {n_measures} quality measures, got {len(fields)} "
                f"columns: {' '.join(fields)[:80]!r}."
            )
        wrong = [field for field in fields[1:] if not is_number(field) or not np.isfinite(float(field))]
        if wrong:
            raise FormatError(f"{source.name}:{number}: the quality measure {wrong[0]!r} is not a finite number.")
    if not lines:
        raise FormatError(f"{source.name}: contains no segment, only the number of quality measures.")
    origin = Origin(source.name, "bosaris-quality")
    values = np.array([[float(field) for field in fields[1:]] for _, fields in lines])
    with only_format_errors(source.name, "quality measures"):
        quality = SegmentQuality.of([fields[0] for _, fields in lines], values, origin=origin)
    return Contents(origin=origin, segment_quality=quality)


def write_quality(contents: Contents, stream: IO[bytes]) -> WrittenContents:
    """Write quality measures of segments."""
    quality = not_none(contents.segment_quality, "quality measures of segments")
    check_names(quality.names, "segment", "bosaris-quality", " ", first=True)
    stream.write(b"%d\n" % quality.values.shape[1])
    for name, values in zip(quality.names.to_pylist(), quality.values.tolist(), strict=True):
        stream.write(f"{name} {' '.join(map(repr, values))}\n".encode())
    return WrittenContents(frozenset(("segment-quality",)))


def read_id_map(source: Source, options: InputOptions) -> Contents:  # noqa: ARG001  # as for all formats
    """Read an id map."""
    lines = _pairs(source)
    for number, fields in lines:
        if len(fields) != 2:
            raise FormatError(
                f"{source.name}:{number}: expected 2 columns (left right), got {len(fields)}: "
                f"{' '.join(fields)[:80]!r}."
            )
        if not all(fields):
            raise FormatError(f"{source.name}:{number}: one of two names is empty: {','.join(fields)[:80]!r}.")
    left, right = zip(*(fields for _, fields in lines), strict=True)
    with only_format_errors(source.name, "an id map"):
        id_map = IdMap.from_columns(left, right, where=lambda row: f"{source.name}:{lines[row][0]}")
    return Contents(origin=Origin(source.name, "bosaris-idmap"), id_map=id_map)


def _pairs(source: Source) -> list[tuple[int, list[str]]]:
    """Return the fields of an id map, separated by white space, or by commas or tabs if each line then has two."""
    numbered = list(numbered_lines(read_text(source), source.name))
    if not numbered:
        raise FormatError(f"{source.name}: the file is empty. Expected an id map.")
    pairs = {sign: all(len(split(line, sign)) == 2 for _, line in numbered) for sign in (" ", ",", "\t")}
    if pairs[" "] and pairs[","]:
        raise FormatError(
            f"{source.name}:{numbered[0][0]}: could be two columns with commas or with white space: "
            f"{numbered[0][1][:80]!r}. Leave out the blanks or the commas."
        )
    sign = "," if pairs[","] else "\t" if pairs["\t"] else " "
    lines = [(number, split(line, sign)) for number, line in numbered]
    if sign == "," and [field.casefold() for field in lines[0][1]] == ["left", "right"]:
        del lines[0]
    if not lines:
        raise FormatError(f"{source.name}: contains no pair of names, only a header.")
    return lines


def write_id_map(contents: Contents, stream: IO[bytes]) -> WrittenContents:
    """Write an id map."""
    id_map = not_none(contents.id_map, "id map")
    check_names(id_map.left, "left name", "bosaris-idmap", " ", first=True)
    check_names(id_map.right, "right name", "bosaris-idmap", " ", first=False)
    for left, right in zip(id_map.left.to_pylist(), id_map.right.to_pylist(), strict=True):
        stream.write(f"{left} {right}\n".encode())
    return WrittenContents(frozenset(("id-map",)))


_ROLES = ("=test", "=language", "=set", "trial", "=decision", "score")
_TRUE = "=true language"


@dataclass(frozen=True, slots=True)
class TestLines:
    """Lines of one test and set, arranged by segment (rows) and class (columns)."""

    listed: Scores
    segments: Trials
    classes: list[str]
    rows: IntArray
    key: ClassKey | None
    reading: str

    def accepted(self) -> BoolArray:
        """Return a matrix that is True for the accepted languages of each segment.

        Raises
        ------
        FormatError
            If a decision is neither t nor f.
        """
        trials = self.listed.trials
        words, spelled = encode(trials.condition("decision"))
        known = spelled.to_pylist()
        odd = [word for word in known if word not in ("t", "f")]
        if odd:
            row = int(np.flatnonzero(words == known.index(odd[0]))[0])
            raise FormatError(f"{trials.origin.where(row)}: the decision {odd[0]!r} is neither t nor f.")
        return np.array([word == "t" for word in known])[words][self.rows]


def read_nist_lre07(source: Source, options: InputOptions) -> Contents:
    """Read a file of the format ``nist-lre07``."""
    name = options.name or "system"
    lines = read_lines(source, name)
    try:
        scores = ClassScores.of(lines.segments, lines.classes, lines.listed.score[lines.rows], name=name)
    except InputError as error:
        raise FormatError(f"{source.name}: {error}") from error
    origin = Origin(source.name, lines.reading)
    return Contents(origin=origin, index=Index(lines.segments), class_scores=scores, class_key=lines.key)


def read_lines(source: Source, system: str) -> TestLines:
    """Read the lines of a file of the format ``nist-lre07``.

    Raises
    ------
    FormatError
        If the file does not have this format, or a segment lacks the line of a language.
    """
    data = read_text(source)
    first = next(numbered_lines(data, source.name), None)
    if first is None:
        raise FormatError(f"{source.name}: the file is empty. Expected one line for each segment and language.")
    with_key = len(split(first[1], " ")) > len(_ROLES)
    lines = TextFormat(name="nist-lre07", summary="", reads=(), lines=())
    layout = Layout(lines, (*_ROLES, _TRUE) if with_key else _ROLES, " ")
    blocks = TextBlocks(source.name, layout, text=data)
    origin = Origin(source.name, str(layout), partial(lines_of_rows, blocks))
    items = parse_blocks(blocks, origin, system, InputOptions(need="scores")).scores
    trials = items.trials
    for name in ("test", "set"):
        result = pc.unique(trials.condition(name)).to_pylist()
        if len(result) > 1:
            raise FormatError(
                f"{source.name}: lines of more than one {name}: {', '.join(result[:5])}. Write each to its own file."
            )
    languages, classes = encode(trials.condition("language"))
    rows = _complete(trials, languages, classes.to_pylist())
    segments = Trials.of({"trial": trials.names[0]}, origin=Origin(source.name, str(layout)))
    try:
        key = _key(trials, segments, rows) if with_key else None
    except InputError as error:
        raise FormatError(f"{source.name}: {error}") from error
    return TestLines(items, segments, classes.to_pylist(), rows, key, str(layout))


def _complete(trials: Trials, languages: IntArray, classes: list[str]) -> IntArray:
    """Return the row of the line for each segment and language."""
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
            "Each segment needs a score for each language."
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
