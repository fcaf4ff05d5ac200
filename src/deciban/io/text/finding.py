"""Which column of a text table means what: named formats, columns named by the user, and careful sniffing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

from deciban.errors import FormatError
from deciban.io.columns.headers import CONDITION, IDENTITY, IGNORED, Vocabulary, identity_of, role_of, roles_of
from deciban.io.contents import ContentKind
from deciban.io.format import Options, TextFormat
from deciban.io.formats import text_formats
from deciban.io.text.given_columns import layout_of_given
from deciban.io.text.layout import (
    DELIMITERS,
    NEEDED_ROLE,
    Layout,
    could_be,
    is_number,
    looks_numeric,
    mostly,
    refuse_semicolons,
    split,
    undecided,
)

_SPOOFING_WORDS = {"bonafide", "bona-fide", "spoof"}


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
    quoted = _is_quoted(sample[0])
    rows_by = {d: [split(line, d, quoted=quoted and d == "\t") for line in sample] for d in DELIMITERS}
    delimiters = _delimiters(rows_by, format)
    if options.columns is not None:
        layout = layout_of_given(sample, rows_by, delimiters, name, options, format)
    else:
        if format is None:
            refuse_semicolons(sample, name)
        layout = _found({d: rows_by[d] for d in delimiters}, sample, name, options, format)
    return _with_distinct_headers(replace(layout, quoted=quoted and layout.delimiter == "\t"), name)


def _found(
    tables: Mapping[str, Sequence[Sequence[str]]],
    sample: Sequence[str],
    name: str,
    options: Options,
    format: TextFormat | None,  # noqa: A002
) -> Layout:
    """The one layout that rows, cut in several ways, are in."""
    needs: tuple[ContentKind, ...] = (
        (options.need,) if options.need else ("scores", "key", "class-scores", "class-key", "index")
    )
    for find in (_with_header, _without_header):  # a header says more than what lines look like
        for need, (delimiter, rows) in product(needs, tables.items()):
            found = find(rows, need, delimiter, name, options, format)
            if len(found) == 1 and not options.need and need == "scores" and _only_0_and_1(rows, found[0]):
                found += _without_header(rows, "key", delimiter, name, options, format)
            if len(found) == 1:
                return replace(found[0], holds=need)
            if found:
                raise FormatError(could_be(sample, found, name))
    swapped = _of_other_kind(tables, name, options, format)
    raise FormatError(undecided(sample, options.need or "scores", name, format, swapped))


def _of_other_kind(
    tables: Mapping[str, Sequence[Sequence[str]]],
    name: str,
    options: Options,
    format: TextFormat | None,  # noqa: A002
) -> Layout | None:
    """The one layout of scores where a key was asked for, or the other way round; None if there is none."""
    swapped: dict[ContentKind | None, ContentKind] = {"scores": "key", "class-scores": "key", "key": "scores"}
    other = swapped.get(options.need)
    if other is None or format is not None:
        return None
    for find, (delimiter, rows) in product((_with_header, _without_header), tables.items()):
        found = find(rows, other, delimiter, name, options, format)
        if len(found) == 1:
            return found[0]
    return None


def _is_quoted(line: str) -> bool:
    """Whether a first line is a header with tabs and every title in quotes, as R writes it; then so are the names."""
    fields = line.split("\t")
    return len(fields) > 1 and all(len(f) > 1 and f[0] == f[-1] == '"' and '"' not in f[1:-1] for f in fields)


def _only_0_and_1(rows: Sequence[Sequence[str]], layout: Layout) -> bool:
    """Whether the scores of a file without a header could just as well be labels."""
    at = layout.roles.index("score") if layout.header is None else 0
    return layout.header is None and all(row[at] in ("0", "1") for row in rows if len(row) > at)


def _with_distinct_headers(layout: Layout, name: str) -> Layout:
    """The layout, if no two columns are called the same."""
    if layout.header is not None and len(set(layout.header)) < len(layout.header):
        twice, count = Counter(layout.header).most_common(1)[0]
        raise FormatError(f"{name}:1: {count} columns are called {twice!r}. Give them distinct names.")
    return layout


def _delimiters(rows_by: Mapping[str, Sequence[Sequence[str]]], format: TextFormat | None) -> list[str]:  # noqa: A002
    """Delimiters that cut every line of the sample into the same number of fields, at least 2; else all of them."""
    regular = [d for d, rows in rows_by.items() if len(n := {*map(len, rows)}) == 1 and max(n) > 1]
    possible = regular or [d for d, rows in rows_by.items() if len(rows[0]) > 1]
    if format is not None:
        if " " not in possible and any(" " not in line for line in format.lines):
            possible.append(" ")  # a single column
        possible.sort(key=lambda d: d != format.delimiter)  # names may hold the others
    return possible


def _with_header(
    rows: Sequence[Sequence[str]],
    need: ContentKind,
    delimiter: str,
    name: str,
    options: Options,
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
        roles = _without_row_numbers(roles, rows)
        roles = _with_classes(roles, fields, rows) if need == "class-scores" else roles
        different = [layout for layout in found if layout.format.log10]
        named = identity_of(roles) or (not found and _has_values(roles, rows, need, delimiter, options.vocabulary))
        if named and _holds(table, roles, need) and (different or not found):
            found.append(Layout(table, roles, delimiter, fields))
    return found


def _is_free_header(fields: Sequence[str], need: ContentKind, delimiter: str) -> bool:
    """Whether a first line can be the header of a plain table, and not the names of a first trial."""
    known = [role_of(field)[0] != CONDITION for field in fields]
    if need == "index" and delimiter == " ":
        return all(known)  # among blanks, names like `file` or `model` are just names
    if need in ("scores", "key", "index") and any(map(is_number, fields)):
        return False
    return any(known)


def _without_row_numbers(roles: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Roles without a first column that has no name and counts the rows from 0, as pandas writes its index."""
    counted = roles[0] == CONDITION and all(row[0] == str(at) for at, row in enumerate(rows[1:]))
    return (IGNORED, *roles[1:]) if counted else tuple(roles)


def _has_values(
    roles: Sequence[str], rows: Sequence[Sequence[str]], need: ContentKind, delimiter: str, vocabulary: Vocabulary
) -> bool:
    """Whether the columns of values below a header without names of trials are what they are called.

    Trials are known by their rows then. The first line must not be a trial itself: it has no number among scores, and
    no word for target or non-target.
    """
    regular = [row for row in rows[1:] if len(row) == len(roles)]
    scores = [at for at, role in enumerate(roles) if role == "score"]
    if need == "index" or not regular or roles[0] == CONDITION:
        return False  # a first column without a name may name the trials
    if scores:
        return all(looks_numeric([row[at] for row in regular]) and not is_number(rows[0][at]) for at in scores)
    if need == "key" and "label" in roles and not any(vocabulary.meaning(field) is not None for field in rows[0]):
        at = roles.index("label")
        return delimiter != " " or _are_labels([row[at] for row in regular], vocabulary)
    return need == "class-key" and "class" in roles and delimiter != " "


def _are_labels(column: Sequence[str], vocabulary: Vocabulary) -> bool:
    vocabulary = vocabulary.within(column)
    return mostly(sum(vocabulary.meaning(word) is not None for word in column), len(column))


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
    need: ContentKind,
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
            if (format and _one_choice(format, roles, options.need)) or _fits(rows, roles, options, candidate):
                layouts[roles] = Layout(candidate, roles, delimiter)
    return list(layouts.values())


def _candidates(format: TextFormat | None) -> list[TextFormat]:  # noqa: A002
    if format is not None:
        return [format]
    return [one for one in text_formats().values() if one.guessed and one.verified]


def _one_choice(format: TextFormat, roles: tuple[str, ...], need: ContentKind | None) -> bool:  # noqa: A002
    """Whether a format has no other line of as many columns that holds what is asked for, if anything is."""
    lines = [tuple(line.split()) for line in format.lines]
    return sum(len(line) == len(roles) and (need is None or _holds(format, line, need)) for line in lines) == 1


def _holds(format: TextFormat, roles: tuple[str, ...], need: ContentKind) -> bool:  # noqa: A002
    """Whether a table with these columns holds what is needed."""
    if need == "index":
        return format.derive is not None or bool(identity_of(roles))
    if need not in format.reads:
        return False
    if need == "class-scores":
        return len(identity_of(roles)) < 2 and (roles.count("score") > 1 or "class" in roles)
    return (format.derive is not None and need == "key") or NEEDED_ROLE.get(need) in roles


def _fits(rows: Sequence[Sequence[str]], roles: tuple[str, ...], options: Options, format: TextFormat) -> bool:  # noqa: A002
    """Whether nearly every sampled row could be of this layout, and nothing speaks against its reading."""
    regular = [row for row in rows if len(row) == len(roles)]
    labels: set[str] = set()
    vocabulary = options.vocabulary
    for role, column in zip(roles, zip(*regular, strict=True), strict=True):
        known = sum(vocabulary.meaning(word) is not None for word in column)
        if role == "score" and not mostly(sum(map(is_number, column)), len(column)):
            return False
        if role == "label":
            labels = {word.casefold() for word in column}
            of_pair = options.need == "key" and _are_labels(column, vocabulary)
            if not of_pair and not mostly(known, len(column)):
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
