"""Which column of a text table means what: named formats, columns named by the user, and careful sniffing."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from deciban.errors import FormatError, InputError
from deciban.io.columns.headers import (
    CONDITION,
    IDENTITY,
    IGNORED,
    ROLES,
    identity_of,
    named_roles,
    parse_columns,
    role_of,
    roles_of,
)
from deciban.io.contents import Kind
from deciban.io.format import Options, TextFormat
from deciban.io.formats import by_name, text_formats
from deciban.io.source import BLANKS
from deciban.io.text.labels import Vocabulary

DELIMITERS = {"\t": "tabs", ",": "commas", " ": "white space"}

NEEDED_ROLE: dict[Kind | None, str] = {"scores": "score", "class-scores": "score", "key": "label", "class-key": "class"}
"""The column without which a table does not hold what it should; for an index the names are enough."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf|infinity|nan)", re.IGNORECASE | re.ASCII)
_WHITE_SPACE = re.compile(f"[{BLANKS}]+")
_SPOOFING_WORDS = {"bonafide", "bona-fide", "spoof"}


@dataclass(frozen=True, slots=True)
class Layout:
    """How to read a text table: one role per column, as in `deciban.io.columns.headers`."""

    format: TextFormat
    roles: tuple[str, ...]
    delimiter: str
    header: tuple[str, ...] | None = None
    holds: Kind | None = None

    @property
    def sides(self) -> tuple[str, ...]:
        """The columns that identify a trial; none where only its row does."""
        return identity_of(self.roles)

    def __str__(self) -> str:
        separated = "" if self.delimiter == " " else f", {DELIMITERS[self.delimiter]}"
        unit = ", log10" if self.format.log10 else ""
        if self.header is None:
            return f"{self.format.name} '{' '.join(self.roles)}'{separated}{unit}"
        pairs = list(zip(self.roles, self.header, strict=True))
        others = [name for role, name in pairs if role.startswith(CONDITION)]
        columns = " ".join(f"{role}={name!r}" for role, name in pairs if role[0] not in (IGNORED, CONDITION))
        kept = f", other columns: {' '.join(others)}" if others else ""
        return f"{self.format.name} {columns}{separated}{unit}{kept}"


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


def looks_numeric(fields: Sequence[str]) -> bool:
    """Whether nearly all fields of a column are numbers."""
    return _mostly(sum(map(is_number, fields)), len(fields))


def find_layout(sample: Sequence[str], name: str, options: Options, format: TextFormat | None = None) -> Layout:  # noqa: A002
    """Decide how to read a file from its first lines, from its format, or from columns that the user named.

    Parameters
    ----------
    sample : sequence of str
        The first lines without comments and blank lines.
    name : str
        File name for messages.
    options : Options
        ``need`` is what the file must hold; None is whatever it holds, the most first.
    format : TextFormat, optional

    Raises
    ------
    InputError
        If the columns make no sense.
    FormatError
        If the lines fit no format, or more than one.
    """
    if options.columns is not None:
        return _with_distinct_headers(_named_columns(sample, name, options, format), name)
    needs: tuple[Kind, ...] = (
        (options.need,) if options.need else ("scores", "key", "class-scores", "class-key", "index")
    )
    tables = {delimiter: [split(line, delimiter) for line in sample] for delimiter in _delimiters(sample, format)}
    found: list[Layout] = []
    for find in (_with_header, _without_header):  # a header says more than what lines look like
        for need, (delimiter, rows) in product(needs, tables.items()):
            found = find(rows, need, delimiter, name, options, format)
            if len(found) == 1 and not options.need and need == "scores" and _only_0_and_1(rows, found[0]):
                found += _without_header(rows, "key", delimiter, name, options, format)
            if len(found) == 1:
                return _with_distinct_headers(replace(found[0], holds=need), name)
            if found:
                raise FormatError(_undecided(sample, found, options.need or "scores", name, format))
    raise FormatError(_undecided(sample, found, options.need or "scores", name, format))


def _only_0_and_1(rows: Sequence[Sequence[str]], layout: Layout) -> bool:
    """Whether the scores of a file without a header could just as well be labels."""
    at = layout.roles.index("score") if layout.header is None else 0
    return layout.header is None and all(row[at] in ("0", "1") for row in rows if len(row) > at)


def _with_distinct_headers(layout: Layout, name: str) -> Layout:
    """The layout, if no two columns are called the same."""
    headers = layout.header or ()
    twice = next((header for header in headers if headers.count(header) > 1), None)
    if twice is not None:
        raise FormatError(f"{name}:1: {headers.count(twice)} columns are called {twice!r}. Give them distinct names.")
    return layout


def _delimiters(sample: Sequence[str], format: TextFormat | None) -> list[str]:  # noqa: A002
    """Delimiters that cut every line of the sample into the same number of fields, at least 2; else all of them."""
    regular = [d for d in DELIMITERS if len(n := {len(split(line, d)) for line in sample}) == 1 and max(n) > 1]
    possible = regular or [d for d in DELIMITERS if len(split(sample[0], d)) > 1]
    if format is not None:
        if " " not in possible and any(" " not in line for line in format.lines):
            possible.append(" ")  # a single column
        possible.sort(key=lambda d: d != format.delimiter)  # names may hold the others
    return possible


def _with_header(
    rows: Sequence[Sequence[str]],
    need: Kind,
    delimiter: str,
    name: str,
    options: Options,  # noqa: ARG001  # a header needs no vocabulary
    format: TextFormat | None,  # noqa: A002
) -> list[Layout]:
    """Layouts of formats whose header the first row is; none if it is no header."""
    fields = tuple(rows[0])
    found = []
    for candidate in _candidates(format):
        if not candidate.header or (format is None and _is_doubtful(candidate, rows, delimiter)):
            continue
        for line in candidate.lines:
            roles = _titled_roles(candidate, line, fields, rows)
            if roles is not None and _holds(candidate, roles, need):
                found.append(Layout(candidate, roles, delimiter, fields))
                break
    # Columns of one format can be among those of another: the one that knows most of them is meant.
    known = [sum(role[0] != CONDITION for role in layout.roles) for layout in found]
    found = [layout for layout, n in zip(found, known, strict=True) if n == max(known)]
    table = text_formats()["table"]
    tables = (table, text_formats().get("tsv"))
    if format in tables or (format is None and _is_free_header(fields, need, delimiter)):
        roles = roles_of(fields, f"{name}:1")
        roles = _with_classes(roles, fields, rows) if need == "class-scores" else roles
        different = [layout for layout in found if layout.format.log10]
        if identity_of(roles) and _holds(table, roles, need) and (different or not found):
            found.append(Layout(table, roles, delimiter, fields))
    return found


def _is_free_header(fields: Sequence[str], need: Kind, delimiter: str) -> bool:
    """Whether a first line can be the header of a plain table, and not the names of a first trial."""
    known = [role_of(field)[0] != CONDITION for field in fields]
    if need == "index" and delimiter == " ":
        return all(known)  # among blanks, names like `file` or `model` are just names
    if need in ("scores", "key", "index") and any(map(is_number, fields)):
        return False
    return any(known)


def _is_doubtful(format: TextFormat, rows: Sequence[Sequence[str]], delimiter: str) -> bool:  # noqa: A002
    """Whether rows that fit a format should not be taken for it without being told."""
    return format.delimiter != delimiter or (format.plausible is not None and not format.plausible(rows))


def _titled_roles(
    format: TextFormat,  # noqa: A002
    line: str,
    fields: tuple[str, ...],
    rows: Sequence[Sequence[str]],
) -> tuple[str, ...] | None:
    """The roles of columns with this header if it is that of the format; else None."""
    expected = line.split()
    if format.titled:
        return tuple(expected) if len(expected) == len(fields) else None
    lowered = [field.casefold() for field in fields]
    roles = [CONDITION + field for field in fields]
    named = [(role, one) for role in expected if role in format.header for one in format.header[role].split("|")]
    for role, header in named:
        if header.casefold() not in lowered:
            return None
        roles[lowered.index(header.casefold())] = role
    if "classes" in expected:
        return _with_classes(roles, fields, rows)
    return tuple(roles) if "*" in expected or len(named) == len(fields) else None


def _with_classes(roles: Sequence[str], headers: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Roles where every column of numbers that has no other meaning holds the scores of one class."""
    regular = [row for row in rows[1:] if len(row) == len(headers)]
    numeric = [
        role.startswith(CONDITION) and looks_numeric([row[i] for row in regular]) for i, role in enumerate(roles)
    ]
    if sum(numeric) < 2:
        return tuple(roles) if roles.count("score") > 1 else tuple(CONDITION + header for header in headers)
    kept = (CONDITION + header if role == "score" else role for role, header in zip(roles, headers, strict=True))
    return tuple("score" if is_class else role for role, is_class in zip(kept, numeric, strict=True))


def _without_header(
    rows: Sequence[Sequence[str]],
    need: Kind,
    delimiter: str,
    name: str,  # noqa: ARG001  # nothing is refused here
    options: Options,
    format: TextFormat | None,  # noqa: A002
) -> list[Layout]:
    """Layouts of the given format, or of all formats, that these rows could be of; each order of columns once."""
    if delimiter != " " and format is None and any(" " in field for row in rows for field in row):
        return []  # columns are separated by blanks rather, or decimals by commas
    layouts: dict[tuple[str, ...], Layout] = {}
    for candidate in _candidates(format):
        for line in candidate.lines if not candidate.header else ():
            roles = tuple(line.split())
            if len(roles) != len(rows[0]) or roles in layouts or not _holds(candidate, roles, need):
                continue
            if format is None and not identity_of(roles) and candidate.derive is None:
                continue
            if (format and _one_choice(format, roles, options.need)) or _fits(
                rows, roles, options.vocabulary, candidate
            ):
                layouts[roles] = Layout(candidate, roles, delimiter)
    return list(layouts.values())


def _candidates(format: TextFormat | None) -> list[TextFormat]:  # noqa: A002
    if format is not None:
        return [format]
    return [one for one in text_formats().values() if one.guessed and one.verified]


def _one_choice(format: TextFormat, roles: tuple[str, ...], told: Kind | None) -> bool:  # noqa: A002
    """Whether a format has no other line of as many columns that holds what is asked for, if anything is."""
    lines = [tuple(line.split()) for line in format.lines]
    return sum(len(line) == len(roles) and (told is None or _holds(format, line, told)) for line in lines) == 1


def _holds(format: TextFormat, roles: tuple[str, ...], need: Kind) -> bool:  # noqa: A002
    """Whether a table with these columns holds what is needed."""
    if need == "index":
        return format.derive is not None or bool(identity_of(roles))
    if need not in format.reads:
        return False
    if need == "class-scores":
        return len(identity_of(roles)) == 1 and (roles.count("score") > 1 or "class" in roles)
    return (format.derive is not None and need == "key") or NEEDED_ROLE.get(need) in roles


def _named_columns(
    sample: Sequence[str],
    name: str,
    options: Options,
    format: TextFormat | None,  # noqa: A002
) -> Layout:
    assert options.columns is not None  # noqa: S101  # the caller looked
    wanted = parse_columns(options.columns)
    table = format or by_name("table")
    assert isinstance(table, TextFormat)  # noqa: S101  # the plain table is text
    delimiters = _delimiters(sample, format)
    if not delimiters and not (isinstance(wanted, list) and len(wanted) == 1):
        raise FormatError(f"{name}:1: expected at least 2 columns, got {sample[0][:80]!r}.")
    delimiter = delimiters[0] if delimiters else " "
    fields = tuple(split(sample[0], delimiter))
    roles = named_roles(wanted, fields, f"{name}:1") if isinstance(wanted, dict) else tuple(wanted)
    if len(fields) != len(roles):
        raise FormatError(
            f"{name}:1: expected {len(roles)} columns ({' '.join(roles)}), got {len(fields)}: {sample[0][:80]!r}."
        )
    by_header = isinstance(wanted, dict) and not all(set(column) <= set("0123456789|") for column in wanted.values())
    titled = by_header or table.titled or _is_header_of(roles, fields, options.vocabulary)
    _check_named(roles, NEEDED_ROLE.get(options.need))
    return Layout(table, roles, delimiter, fields if titled else None)


def _is_header_of(roles: Sequence[str], fields: Sequence[str], vocabulary: Vocabulary) -> bool:
    """Whether a first line names columns of these roles, and cannot be a trial."""
    for role, field in zip(roles, fields, strict=True):
        if (role == "score" and is_number(field)) or (role == "label" and vocabulary.meaning(field) is not None):
            return False
    named = [role_of(field) == role for role, field in zip(roles, fields, strict=True) if role in ROLES]
    return any(named) if {"score", "label"} & set(roles) else all(named)


def _check_named(roles: Sequence[str], needed: str | None) -> None:
    named = {"enroll", "test"} if {"enroll", "test", "side"} & set(roles) else {"trial"}
    if set(roles) <= {"score", "label"} and (needed is None or needed in roles):
        return  # numbers without names: trials are known by their rows
    for role in named | ({needed} if needed else set()):
        if role not in roles:
            more = f", and the {needed}" if needed else ""
            raise InputError(f"columns: no column is the {role}. Name enroll and test, or trial{more}.")


def _fits(rows: Sequence[Sequence[str]], roles: tuple[str, ...], vocabulary: Vocabulary, format: TextFormat) -> bool:  # noqa: A002
    """Whether nearly every sampled row could be of this layout, and nothing speaks against its reading."""
    regular = [row for row in rows if len(row) == len(roles)]
    labels: set[str] = set()
    for role, column in zip(roles, zip(*regular, strict=True), strict=True):
        known = sum(vocabulary.meaning(word) is not None for word in column)
        if role == "score" and not _mostly(sum(map(is_number, column)), len(column)):
            return False
        if role == "label":
            labels = {word.casefold() for word in column}
            if not _mostly(known, len(column)):
                return False
        if role in IDENTITY or (role.startswith(CONDITION) and format.derive is not None):
            # Label words and decimal fractions do not name trials.
            words = known == len(column) and not set(column) <= {"0", "1"}
            if words or all("." in field and is_number(field) for field in column):
                return False
    if roles == ("trial", "score", "label") and all(row[1].isdigit() for row in regular):
        return False  # whole numbers between a name and a label are names
    spoofing = format.words[0] in _SPOOFING_WORDS
    if len(roles) > 3 and spoofing != bool(labels & _SPOOFING_WORDS):
        return False
    return format.plausible is None or format.plausible(regular)


def _mostly(count: int, total: int) -> bool:
    """A column means what nearly all its fields say: the odd one out gets an error with its line, not a guess."""
    return count > 0 and count >= 0.9 * total - 1


def _undecided(
    sample: Sequence[str],
    found: Sequence[Layout],
    need: Kind,
    name: str,
    format: TextFormat | None,  # noqa: A002
) -> str:
    line = sample[0] if len(sample[0]) <= 80 else sample[0][:77] + "..."
    if found:
        readings = " or ".join(f"{layout}" for layout in found)
        roles = ",".join(found[0].roles)
        return (
            f"{name}: could be {readings}, the first line is {line!r}. Say which: --format NAME or --columns {roles}."
        )
    if need == "class-scores" and format is None:
        return (
            f"{name}:1: cannot tell which columns are the scores of classes: {line!r}. Expected a header, a column "
            "of names of segments, and one of numbers for each class; or name them (--columns trial=utt,score=A|B)."
        )
    asked, in_order, by_header = "which columns name the trials", "enroll,test", "trial=utt"
    role = NEEDED_ROLE.get(need)
    if role is not None:
        asked, in_order, by_header = f"which column is the {role}", f"{in_order},{role}", f"{by_header},{role}=NAME"
    if format is not None:
        return f"{name}:1: not {format.name} with {need}: {line!r}. Name the columns: --columns {in_order}."
    return (
        f"{name}:1: cannot tell {asked}: {line!r}. Name the columns in order, - for one to ignore (--columns "
        f"{in_order}), or by the header (--columns {by_header})."
    )
