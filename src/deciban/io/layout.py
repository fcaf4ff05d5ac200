"""Which column of a text table means what: named formats, column names given by the user, and careful sniffing."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from deciban.errors import FormatError, InputError
from deciban.io.labels import Vocabulary
from deciban.io.source import BLANKS

ROLES = ("enroll", "test", "trial", "score", "label")
IGNORED = "-"
DELIMITERS = {"\t": "tabs", ",": "commas", " ": "white space"}

Columns: TypeAlias = str | Sequence[str] | Mapping[str, str]

FORMATS: dict[str, tuple[tuple[str, ...], ...]] = {
    "kaldi": (("enroll", "test", "score"), ("enroll", "test", "label")),
    "voxceleb": (("label", "enroll", "test"),),
    "wespeaker": (("enroll", "test", "score", "label"),),
    "3d-speaker": (("enroll", "test", "label", "score"),),
    "speechbrain": (("enroll", "test", "label", "score"),),
    "asvspoof2019": (("trial", IGNORED, "label", "score"),),
    "trial": (("trial", "score"), ("trial", "label"), ("trial", "label", "score"), ("trial", "score", "label")),
}
"""Headerless formats by name; the columns of each may come in one of several ways."""

_HEADERS = {
    "enroll": "enroll enrol enrollment enrolment enroll_id enrol_id enrollment_id enrolment_id model modelid model_id "
    "claimed_id utt1 id1 enroll_utt",
    "test": "test test_id testid segment segmentid segment_id seg segid probe probe_id utt2 id2 test_utt",
    "trial": "trial trial_id trialid utt utt_id utterance filename file file_id recording",
    "score": "score scores llr",
    "label": "label labels targettype target_type is_target truth key",
}
_ROLE_OF_HEADER = {header: role for role, headers in _HEADERS.items() for header in headers.split()}

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf|infinity|nan)", re.IGNORECASE)
_WHITE_SPACE = re.compile(f"[{BLANKS}]+")
_SPOOFING_WORDS = {"bonafide", "bona-fide", "spoof"}


@dataclass(frozen=True, slots=True)
class Layout:
    """How to read a text table: one role per column, ``-`` for columns that are not needed."""

    name: str
    roles: tuple[str, ...]
    delimiter: str
    header: tuple[str, ...] | None = None

    @property
    def sides(self) -> tuple[str, ...]:
        """The columns that identify a trial."""
        return ("enroll", "test") if "enroll" in self.roles else ("trial",)

    def __str__(self) -> str:
        separated = "" if self.delimiter == " " else f", {DELIMITERS[self.delimiter]}"
        if self.header is None:
            return f"{self.name} '{' '.join(self.roles)}'{separated}"
        pairs = list(zip(self.roles, self.header, strict=True))
        ignored = [name for role, name in pairs if role == IGNORED]
        columns = " ".join(f"{role}={name!r}" for role, name in pairs if role != IGNORED)
        return f"{self.name} {columns}{separated}" + (f", ignored: {' '.join(ignored)}" if ignored else "")


def split(line: str, delimiter: str) -> list[str]:
    """Split one line into fields; a line whose quotes do not match is one field."""
    if delimiter == " ":
        return _WHITE_SPACE.split(line.strip(BLANKS))
    fields = line.split(delimiter)
    if delimiter == "," and '"' in line:
        try:
            fields = next(csv.reader([line], strict=True))
        except csv.Error:
            return [line]
    return [field.strip(BLANKS) for field in fields]


def is_number(text: str) -> bool:
    """Whether a field reads as a number (infinite and NaN ones among them)."""
    return _NUMBER.fullmatch(text) is not None


def find_layout(
    sample: Sequence[str],
    *,
    need: str,
    name: str,
    vocabulary: Vocabulary,
    format: str | None = None,  # noqa: A002  # the word users know
    columns: Columns | None = None,
) -> Layout:
    """Decide how to read a file from its first lines, from a format name, or from column names.

    Parameters
    ----------
    sample : sequence of str
        The first lines without comments and blank lines.
    need : {"score", "label"}
        What the file must hold beside the names of the trials.
    name : str
        File name for messages.

    Raises
    ------
    InputError
        If ``format`` or ``columns`` makes no sense.
    FormatError
        If the lines fit no format, or more than one.
    """
    if columns is not None:
        return _named_columns(sample, need, name, columns)
    if format is not None and format != "table" and format not in FORMATS:
        raise InputError(f"format: {format!r} is not known. There are {', '.join([*FORMATS, 'table'])}.")
    found: list[Layout] = []
    for delimiter in _delimiters(sample):
        rows = [split(line, delimiter) for line in sample]
        layout = _from_header(rows[0], need, delimiter, name) if format in (None, "table") else None
        if layout is not None:
            return layout
        found = _without_header(rows, delimiter, need, vocabulary, format)
        if found:
            break
    if len(found) == 1:
        return found[0]
    raise FormatError(_undecided(sample, found, need, name, format))


def _without_header(
    rows: Sequence[Sequence[str]],
    delimiter: str,
    need: str,
    vocabulary: Vocabulary,
    format: str | None,  # noqa: A002
) -> list[Layout]:
    """Layouts of the named format, or of all formats, that these rows could be of; each order of columns once."""
    if delimiter != " " and any(" " in field for row in rows for field in row):
        return []  # columns are separated by blanks rather, or decimals by commas
    layouts: dict[tuple[str, ...], Layout] = {}
    for name, variants in FORMATS.items():
        for roles in variants if format in (None, name) else ():
            if need not in roles or len(roles) != len(rows[0]) or roles in layouts:
                continue
            if format == name or _fits(rows, roles, vocabulary):
                layouts[roles] = Layout(name, roles, delimiter)
    return list(layouts.values())


def _delimiters(sample: Sequence[str]) -> list[str]:
    """Delimiters that cut every line of the sample into the same number of fields, at least 2; else all of them."""
    regular = [d for d in DELIMITERS if len(n := {len(split(line, d)) for line in sample}) == 1 and max(n) > 1]
    return regular or [d for d in DELIMITERS if len(split(sample[0], d)) > 1]


def _from_header(fields: Sequence[str], need: str, delimiter: str, name: str) -> Layout | None:
    roles = [_ROLE_OF_HEADER.get(field.casefold().replace("cm-", ""), IGNORED) for field in fields]
    if need not in roles or not {"enroll", "test", "trial"} & set(roles):
        return None
    if {"enroll", "test"} <= set(roles):
        roles = [IGNORED if role == "trial" else role for role in roles]
    else:
        roles = ["trial" if role in ("enroll", "test") else role for role in roles]
    for role in ROLES:
        same = [field for field, r in zip(fields, roles, strict=True) if r == role]
        if len(same) > 1:
            raise FormatError(
                f"{name}:1: columns {' and '.join(same)} could both be the {role}. Choose one: "
                f"--columns {role}={same[0]},..."
            )
    return Layout("table", tuple(roles), delimiter, tuple(fields))


def _named_columns(sample: Sequence[str], need: str, name: str, columns: Columns) -> Layout:
    wanted = _parse_columns(columns)
    delimiters = _delimiters(sample)
    if not delimiters:
        raise FormatError(f"{name}:1: expected at least 2 columns, got {sample[0][:80]!r}.")
    fields = split(sample[0], delimiters[0])
    header = None
    if isinstance(wanted, dict):
        roles = [IGNORED] * len(fields)
        if not all(column.isdigit() for column in wanted.values()):
            header = tuple(fields)
        for role, column in wanted.items():
            position = int(column) - 1 if header is None else fields.index(column) if column in fields else -1
            if not 0 <= position < len(fields):
                raise FormatError(f"{name}:1: no column {column!r} for the {role}; there are {', '.join(fields)}.")
            roles[position] = role
    else:
        roles = wanted
        if len(fields) != len(roles):
            raise FormatError(
                f"{name}:1: expected {len(roles)} columns ({' '.join(roles)}), got {len(fields)}: {sample[0][:80]!r}."
            )
        known = [_ROLE_OF_HEADER.get(field.casefold()) for field in fields]
        header = tuple(fields) if need in known else None
    for role in {need} | ({"enroll", "test"} if {"enroll", "test"} & set(roles) else {"trial"}):
        if role not in roles:
            raise InputError(f"columns: no column is the {role}. Name enroll and test, or trial, and the {need}.")
    return Layout("table", tuple(roles), delimiters[0], header)


def _parse_columns(columns: Columns) -> dict[str, str] | list[str]:
    """Columns as a list of roles in order, or as roles with the header name (or number) of their column."""
    if isinstance(columns, str):
        parts = [part.strip() for part in columns.split(",")]
        named = [part.split("=", 1) for part in parts]
        if any(len(pair) == 2 for pair in named) and not all(len(pair) == 2 for pair in named):
            raise InputError(
                f"columns: {columns!r} mixes names and positions. Write enroll,test,score or score=llr,..."
            )
        columns = dict(named) if len(named[0]) == 2 else parts
    roles = list(columns)
    unknown = [
        role for role in roles if role not in ROLES and not (role == IGNORED and not isinstance(columns, Mapping))
    ]
    doubled = [role for role in roles if role != IGNORED and roles.count(role) > 1]
    if unknown or doubled:
        raise InputError(
            f"columns: {(unknown or doubled)[0]!r} is {'unknown' if unknown else 'given twice'}. The roles are "
            f"{', '.join(ROLES)}, and - for a column to ignore."
        )
    return dict(columns) if isinstance(columns, Mapping) else roles


def _fits(rows: Sequence[Sequence[str]], roles: tuple[str, ...], vocabulary: Vocabulary) -> bool:
    """Whether nearly every sampled row could be of this layout, and nothing speaks against its reading."""
    table = list(zip(*(row for row in rows if len(row) == len(roles)), strict=True))
    labels: set[str] = set()
    for role, column in zip(roles, table, strict=True):
        known = sum(vocabulary.meaning(word) is not None for word in column)
        if role == "score" and not _mostly(sum(map(is_number, column)), len(column)):
            return False
        if role == "label":
            labels = {word.casefold() for word in column}
            if not _mostly(known, len(column)):
                return False
        if role in ("enroll", "test", "trial"):
            # Label words and decimal fractions do not name trials.
            words = known == len(column) and not set(column) <= {"0", "1"}
            if words or all("." in field and is_number(field) for field in column):
                return False
    if roles == ("trial", "score", "label") and all(field.isdigit() for field in table[1]):
        return False  # whole numbers between a name and a label are names
    return len(roles) != 4 or (IGNORED in roles) == bool(labels & _SPOOFING_WORDS)


def _mostly(count: int, total: int) -> bool:
    """A column means what nearly all its fields say: the odd one out gets an error with its line, not a guess."""
    return count > 0 and count >= 0.9 * total - 1


def _undecided(sample: Sequence[str], found: list[Layout], need: str, name: str, format: str | None) -> str:  # noqa: A002
    line = sample[0] if len(sample[0]) <= 80 else sample[0][:77] + "..."
    if found:
        readings = " or ".join(f"{layout}" for layout in found)
        roles = ",".join(found[0].roles)
        return (
            f"{name}: could be {readings}, the first line is {line!r}. Say which: --format NAME or --columns {roles}."
        )
    if format is not None:
        return f"{name}:1: not {format}: {line!r}. Name the columns: --columns enroll,test,{need}."
    return (
        f"{name}:1: cannot tell which column is the {need}: {line!r}. Name the columns in order, - for one to ignore "
        f"(--columns enroll,test,{need}), or by the header (--columns trial=utt,{need}=NAME)."
    )
