"""Which column of a text table means what: named formats, columns named by the user, and careful sniffing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Self, TypeAlias

from deciban._validate.arrays import Vocabulary
from deciban.errors import FormatError, InputError
from deciban.io.columns.headers import (
    CONDITION,
    IDENTITY,
    IGNORED,
    NEEDED_ROLE,
    ROLES,
    Columns,
    by_number,
    compared,
    counts_columns,
    identity_of,
    label_names_classes,
    named_roles,
    of_headers,
    parse_columns,
    role_of,
    roles_of,
    with_classes_of_label,
    with_label_of_class,
    with_only_score,
    without_other_numbers,
)
from deciban.io.contents import ContentKind
from deciban.io.formats import Options, TextFormat, text_formats
from deciban.io.text.one_line import (
    DELIMITERS,
    counts_rows,
    is_number,
    is_quoted,
    looks_numeric,
    may_be_decimals,
    mostly,
    split,
    titled,
)
from deciban.io.text.reader import Layout

if TYPE_CHECKING:
    from deciban.io.text.suggestions import ColumnsSeen

Rows: TypeAlias = Sequence[Sequence[str]]

_OTHER_KINDS: Mapping[ContentKind | None, tuple[ContentKind, ...]] = {
    "scores": ("key", "class-key"),
    "class-scores": ("key", "class-key"),
    "key": ("scores",),
}
"""What a file may hold instead, where files were swapped."""

_SPOOFING_WORDS = {"bonafide", "bona-fide", "spoof"}


@dataclass(frozen=True, slots=True)
class FirstLines:
    """The first lines of a text table, cut by everything that may separate fields, and what the user said of them.

    Attributes
    ----------
    sample : sequence of str
        Lines without comments and blank lines; at least one.
    quoted : mapping of str to bool
        For each delimiter whether quotes enclose fields.
    tables : mapping of str to rows
        The fields of all lines, for each delimiter.
    name : str
        File name for messages.
    options : Options
        ``need`` is what the file must hold; None is whatever it holds, the most first.
    format : TextFormat, optional
        The format that the user named.
    """

    sample: Sequence[str]
    quoted: Mapping[str, bool]
    tables: Mapping[str, Rows]
    name: str
    options: Options
    format: TextFormat | None = None

    @classmethod
    def of(cls, sample: Sequence[str], name: str, options: Options, format: TextFormat | None = None) -> Self:
        """Cut lines in every way."""
        quoted = {d: d != "," and is_quoted(sample[0], d) for d in DELIMITERS}
        tables = {
            d: with_row_names([split(line, d, quoted=quoted[d]) for line in sample], sample[0]) for d in DELIMITERS
        }
        return cls(sample, quoted, tables, name, options, format)

    def seen(self) -> ColumnsSeen | None:
        """Return the columns by the values in them; None where nothing cuts the lines."""
        from deciban.io.text.suggestions import ColumnsSeen, stands_alone  # only messages need it

        delimiters = self._delimiters()
        if not delimiters:
            return None
        rows = self.tables[delimiters[0]]
        return ColumnsSeen(rows, titled(rows) or stands_alone(rows) or _names_roles(rows[0]), self.options)

    def layout(self) -> Layout:
        """Return how to read the lines: by their format, by the columns that the user named, or by their looks.

        Raises
        ------
        InputError
            If the columns make no sense.
        FormatError
            If the lines fit no format, or more than one.
        """
        layout = self.only_layout()
        if layout is None:
            raise self._unclear()
        return layout

    def only_layout(self) -> Layout | None:
        """Return the layout of the lines; None if they fit no format, or more than one. Raises as `layout`."""
        columns = self.options.columns
        found = self._layouts() if columns is None else [self._given(columns)]
        if len(found) != 1:
            return None
        header = found[0].header or ()
        if len(set(header)) < len(header):
            twice, count = Counter(header).most_common(1)[0]
            raise FormatError(f"{self.name}:1: {count} columns are called {twice!r}. Give them distinct names.")
        return replace(found[0], quoted=self.quoted[found[0].delimiter])

    def _layouts(self) -> list[Layout]:
        """All layouts that the lines could be in, as tables of the first kind that they could hold."""
        need = self.options.need
        kinds: tuple[ContentKind, ...] = (need,) if need else ("scores", "key", "class-scores", "class-key", "index")
        if not need and self.label_names_classes():
            kinds = ("class-scores", "class-key")
        kind, found = next(self._readings(kinds), ("scores", []))
        if len(found) == 1 and not need and kind == "scores" and self._only_0_and_1(found[0]):
            found += self._without_header("key", found[0].delimiter)
        return [replace(found[0], holds=kind)] if len(found) == 1 else found

    def _readings(self, kinds: Sequence[ContentKind]) -> Iterator[tuple[ContentKind, list[Layout]]]:
        """Yield the kinds of tables that the lines could hold, and in which layouts; headers say more than lines."""
        for find, kind, delimiter in product((self._with_header, self._without_header), kinds, self._delimiters()):
            if found := find(kind, delimiter):
                yield kind, found

    def _unclear(self) -> FormatError:
        """Return the error on lines that fit no format, or more than one."""
        from deciban.io.text import suggestions  # most files are clear

        if found := self._layouts():
            return FormatError(suggestions.could_be(self.sample, found, self.name, self.options))
        need, swapped = self.options.need, None
        for delimiter in self._delimiters():
            suggestions.refuse_odd_numbers(self.tables[delimiter], self.sample, self.name)
        if self.format is None:
            readings = self._readings(_OTHER_KINDS.get(need, ()))
            swapped = next((found[0] for _, found in readings if len(found) == 1), None)
            if need == "scores" and swapped is None:
                suggestions.refuse_decimal_commas(self.sample, self.name)
        return FormatError(
            suggestions.undecided(self.sample, self.seen(), self.name, self.options, self.format, swapped)
        )

    def _only_0_and_1(self, layout: Layout) -> bool:
        """Whether the scores of a file without a header could just as well be labels."""
        at, rows = layout.roles.index("score"), self.tables[layout.delimiter]
        return layout.header is None and all(row[at] in ("0", "1") for row in rows if len(row) > at)

    def _delimiters(self) -> list[str]:
        """Delimiters that cut every line into the same number of fields, at least 2; else all that cut the first."""
        regular = [d for d, rows in self.tables.items() if len(n := {*map(len, rows)}) == 1 and max(n) > 1]
        possible = regular or [d for d, rows in self.tables.items() if len(rows[0]) > 1]
        if not possible and self.options.need in (None, "scores", "key") and _is_list_of_numbers(self.tables[" "]):
            return ["," if self.sample[0].startswith('"') else " "]  # which quotes belong to
        n_single = sum(len(row) == 1 for row in self.tables[" "])
        if not possible and mostly(n_single, len(self.sample)):
            possible.append(" ")  # a single column
        if self.format is not None:
            if " " not in possible and any(" " not in line for line in self.format.lines):
                possible.append(" ")  # a single column
            possible.sort(key=self.format.delimiter.__ne__)  # names may hold the others
        return possible

    def _given(self, columns: Columns) -> Layout:
        """The layout of columns that the user named."""
        delimiters = self._delimiters()
        titles = self.tables[delimiters[0]][0] if delimiters else []
        wanted = parse_columns(of_headers(columns, titles))
        table = self.format or text_formats()["table"]
        if not delimiters and len(wanted) != 1:
            raise FormatError(f"{self.name}:1: expected at least 2 columns, got {self.sample[0][:80]!r}.")
        delimiter = delimiters[0] if delimiters else " "
        fields = tuple(self.tables[delimiter][0])
        roles = named_roles(wanted, fields, f"{self.name}:1") if isinstance(wanted, dict) else tuple(wanted)
        if len(fields) != len(roles):
            raise FormatError(
                f"{self.name}:1: expected {len(roles)} columns ({' '.join(roles)}), got {len(fields)}: "
                f"{self.sample[0][:80]!r}."
            )
        pair = compared(wanted, fields, f"{self.name}:1") if isinstance(wanted, dict) else None
        by_header = isinstance(wanted, dict) and not by_number(wanted)
        has_header = by_header or table.titled or _is_header_of(roles, fields, self.options.vocabulary)
        layout = Layout(table, roles, delimiter, fields if has_header else None, compared=pair)
        _check_named(layout.known, NEEDED_ROLE.get(self.options.need))
        return layout

    def _candidates(self) -> list[TextFormat]:
        if self.format is not None:
            return [self.format]
        return [one for one in text_formats().values() if one.guessed and one.verified]

    def _with_header(self, need: ContentKind, delimiter: str) -> list[Layout]:
        """Layouts of formats whose header the first row is; none if it is no header."""
        rows = self.tables[delimiter]
        fields = tuple(rows[0])
        found = []
        for candidate in self._candidates():
            if not candidate.header or (self.format is None and _is_doubtful(candidate, rows, delimiter)):
                continue
            for line in candidate.lines:
                roles = titled_roles(candidate, line, rows)
                if roles is not None and _holds(candidate, roles, need):
                    found.append(Layout(candidate, roles, delimiter, fields))
                    break
        # Columns of one format can be among those of another: the one that knows most of them is meant.
        known = [sum(role[0] != CONDITION for role in layout.roles) for layout in found]
        found = [layout for layout, n in zip(found, known, strict=True) if n == max(known)]
        table = text_formats()["table"]
        tables = (table, text_formats().get("tsv"))
        if self.format in tables or (self.format is None and _is_free_header(fields, need, delimiter)):
            roles = meant_roles(self._roles(rows), rows, need)
            different = [layout for layout in found if layout.format.log10]
            named = identity_of(roles) or (not found and self._has_values(roles, need, delimiter))
            if named and _holds(table, roles, need) and ((different and need != "key") or not found):
                found.append(Layout(table, roles, delimiter, fields))
        return found

    def _roles(self, rows: Rows) -> tuple[str, ...]:
        """The roles that the titles of a plain table suggest, and the words of a column of classes."""
        roles = without_row_numbers(roles_of(rows[0], f"{self.name}:1"), rows)
        if "class" not in roles:
            return roles
        words = {row[roles.index("class")] for row in rows[1:] if len(row) == len(roles)}
        return with_label_of_class(roles, rows[0], numeric_columns(rows), words, self.options.vocabulary)

    def label_names_classes(self) -> bool | None:
        """Whether the label of a plain table names one of many classes; None where none decides."""
        for rows in (self.tables[delimiter] for delimiter in self._delimiters()):
            with suppress(FormatError):
                roles = self._roles(rows)
                if "label" in roles:
                    words = {row[roles.index("label")] for row in rows[1:] if len(row) == len(roles)}
                    return label_names_classes(roles, rows[0], numeric_columns(rows), words, self.options.vocabulary)
        return None

    def _has_values(self, roles: Sequence[str], need: ContentKind, delimiter: str) -> bool:
        """Whether the columns of values below a header without names of trials are what they are called.

        Trials are known by their rows then. The first line must not be a trial itself: it has no number among scores,
        and no word for target or non-target.
        """
        first, *rows = self.tables[delimiter]
        vocabulary = self.options.vocabulary
        regular = [row for row in rows if len(row) == len(roles)]
        scores = [at for at, role in enumerate(roles) if role == "score"]
        if need == "index" or not regular or roles[0] == CONDITION:
            return False  # a first column without a name may name the trials
        if scores:
            numbers = [first[at] for at in scores if is_number(first[at])]
            titles = not numbers or (need == "class-scores" and "class" in roles and counts_columns(numbers))
            return titles and all(looks_numeric([row[at] for row in regular]) for at in scores)
        if need == "key" and "label" in roles and not any(vocabulary.meaning(field) is not None for field in first):
            at = roles.index("label")
            return delimiter != " " or _are_labels([row[at] for row in regular], vocabulary)
        return need == "class-key" and "class" in roles and delimiter != " "

    def _without_header(self, need: ContentKind, delimiter: str) -> list[Layout]:
        """Layouts of the given format, or of all formats, that the rows could be of; each order of columns once."""
        rows = self.tables[delimiter]
        if self.format is None and (titled(rows) or (need == "index" and len(rows[0]) == 1)):
            return []  # the first line names the columns; a single column of words could be anything
        if delimiter != " " and self.format is None and any(" " in field for row in rows for field in row):
            return []  # columns are separated by blanks rather, or decimals by commas
        if delimiter == "," and self.format is None and need == "scores" and may_be_decimals(self.sample):
            return []
        layouts: dict[tuple[str, ...], Layout] = {}
        for candidate in self._candidates():
            for line in candidate.lines if not candidate.header else ():
                roles = tuple(line.split())
                if len(roles) != len(rows[0]) or roles in layouts or not _holds(candidate, roles, need):
                    continue
                if self.format is None and len(roles) > 1 and not identity_of(roles) and candidate.derive is None:
                    continue
                if (self.format and self._one_choice(roles)) or _fits(rows, roles, self.options, candidate):
                    layouts[roles] = Layout(candidate, roles, delimiter)
        return list(layouts.values())

    def _one_choice(self, roles: tuple[str, ...]) -> bool:
        """Whether the format has no other line of as many columns that holds what is asked for, if anything is."""
        assert self.format is not None  # noqa: S101  # the caller looked
        lines = [tuple(line.split()) for line in self.format.lines if len(line.split()) == len(roles)]
        need = self.options.need
        return sum(need is None or _holds(self.format, line, need) for line in lines) == 1


def _is_list_of_numbers(rows: Rows) -> bool:
    """Whether lines of one field each are numbers, under a title or not."""
    return looks_numeric([row[0] for row in rows[1:] or rows])


def _is_header_of(roles: Sequence[str], fields: Sequence[str], vocabulary: Vocabulary) -> bool:
    """Whether a first line names columns of these roles, and cannot be a trial."""
    for role, field in zip(roles, fields, strict=True):
        if (role == "score" and is_number(field)) or (role == "label" and vocabulary.meaning(field) is not None):
            return False
    named = [role_of(field) == role for role, field in zip(roles, fields, strict=True) if role in ROLES]
    return any(named) if {"score", "label"} & set(roles) else all(named)


def _check_named(roles: Sequence[str], needed: str | None) -> None:
    named = ("enroll", "test") if {"enroll", "test", "side"} & set(roles) else ("trial",)
    values = {role for role in roles if role != IGNORED and role[0] != CONDITION}
    if values <= {"score", "label", "class"} and values and (needed is None or needed in values):
        return  # values without names: trials are known by their rows
    lacking = [role for role in (*named, *(() if needed is None else (needed,))) if role not in roles]
    if lacking:
        more = f", and the {needed}" if needed else ""
        raise InputError(f"columns: no column is the {lacking[0]}. Name enroll and test, or trial{more}.")


def _names_roles(fields: Sequence[str]) -> bool:
    """Whether a first line has only words that columns are called by, and at least one of a known meaning."""
    return not any(map(is_number, fields)) and any(role_of(field)[0] != CONDITION for field in fields)


def _is_free_header(fields: Sequence[str], need: ContentKind, delimiter: str) -> bool:
    """Whether a first line can be the header of a plain table, and not the names of a first trial."""
    known = [role_of(field)[0] != CONDITION for field in fields]
    if need == "index" and delimiter == " ":
        return all(known)  # among blanks, names like `file` or `model` are just names
    if need in ("scores", "key", "index") and any(map(is_number, fields)):
        return False
    return any(known) or (need == "class-scores" and not fields[0])


def _are_labels(column: Sequence[str], vocabulary: Vocabulary) -> bool:
    vocabulary = vocabulary.within(column)
    return mostly(sum(vocabulary.meaning(word) is not None for word in column), len(column))


def _is_doubtful(format: TextFormat, rows: Rows, delimiter: str) -> bool:
    """Whether rows that fit a format should not be taken for it without being told."""
    return format.delimiter != delimiter or (format.plausible is not None and not format.plausible(rows))


def _holds(format: TextFormat, roles: tuple[str, ...], need: ContentKind) -> bool:
    """Whether a table with these columns holds what is needed."""
    if need == "index":
        return format.derive is not None or bool(identity_of(roles))
    if need not in format.reads:
        return False
    if need == "class-scores":
        return len(identity_of(roles)) < 2 and (roles.count("score") > 1 or "class" in roles)
    return (format.derive is not None and need == "key") or NEEDED_ROLE.get(need) in roles


def _fits(rows: Rows, roles: tuple[str, ...], options: Options, format: TextFormat) -> bool:
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


def with_row_names(rows: Sequence[Sequence[str]], header: str) -> Sequence[Sequence[str]]:
    """Rows below a header that lacks one name, that of the first column: so R writes tables with names of rows.

    The titles are in quotes, or the names of rows are numbers, each another one: else any title could be lacking.

    Examples
    --------
    >>> with_row_names([["trial", "score"], ["1", "a", "0.5"]], "trial score")[0]
    ['', 'trial', 'score']
    """
    n_fields = len(rows[0]) + 1
    n_longer, n_rows = sum(len(row) == n_fields for row in rows[1:]), len(rows) - 1
    lacks_one = n_fields > 2 and n_rows > 0 and (n_longer == n_rows or (n_longer > 1 and mostly(n_longer, n_rows)))
    names = [row[0] for row in rows[1:] if len(row) == n_fields]
    of_r = header.lstrip().startswith('"') or (all(map(str.isdigit, names)) and len({*names}) == len(names))
    lacks_one = lacks_one and of_r
    if not lacks_one or any(map(is_number, rows[0])) or not any(role_of(field)[0] != CONDITION for field in rows[0]):
        return rows
    return [["", *rows[0]], *rows[1:]]


def without_row_numbers(roles: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Roles without a first column that has no name and counts the rows, as pandas (from 0) and R (from 1) write it.

    Names of rows that do not count them are left out, too, where others name the trials.

    Examples
    --------
    >>> without_row_numbers(["=", "label", "score"], [["", "y", "s"], ["0", "1", "2.5"], ["1", "0", "-1"]])
    ('-', 'label', 'score')
    """
    if roles[0] != CONDITION:
        return tuple(roles)
    counted = counts_rows([row[0] for row in rows[1:]])
    return (IGNORED, *roles[1:]) if counted or identity_of(roles) else tuple(roles)


def with_names_of_rows(roles: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Roles in which a first column without a name identifies trials, where all others hold scores of classes.

    So pandas writes such a table with its index. It has to hold names: no numbers, and each another one.

    Examples
    --------
    >>> with_names_of_rows(["=", "score", "score"], [["", "eng", "fra"], ["s7", "1", "2.5"], ["s9", "0", "-1"]])
    ('trial', 'score', 'score')
    """
    names = [row[0] for row in rows[1:]]
    are_names = all(names) and len({*names}) == len(names) and not any(map(is_number, names))
    only_classes = roles[0] == CONDITION and len(roles) > 2 and {*roles[1:]} == {"score"}
    return ("trial", *roles[1:]) if only_classes and are_names else tuple(roles)


def meant_roles(roles: tuple[str, ...], rows: Rows, need: ContentKind) -> tuple[str, ...]:
    """Roles of the columns of a plain table, where it holds what is needed."""
    if need == "scores":
        return with_only_score(roles, rows[0], numeric_columns(rows))
    if need not in ("class-scores", "class-key"):
        return roles
    labelled = with_classes_of_label(roles)
    if need == "class-key":
        return labelled
    found = with_names_of_rows(_with_classes(labelled, rows), rows)
    return found if labelled == roles else without_other_numbers(found, rows[0])


def titled_roles(format: TextFormat, line: str, rows: Rows) -> tuple[str, ...] | None:
    """The roles of columns if the first row is the header of this line of the format; else None."""
    expected, fields = line.split(), rows[0]
    if format.titled:
        return tuple(expected) if len(expected) == len(fields) else None
    lowered = [field.casefold() for field in fields]
    roles = [CONDITION + field if field else IGNORED for field in fields]
    named = []
    for role in (role for role in expected if role in format.header):
        titles = format.header[role].split("|")  # of all systems, or of anything else the first that is there
        there = titles if role == "score" else [one for one in titles if one.casefold() in lowered][:1] or titles[:1]
        named += [(role, one) for one in there]
    for role, header in named:
        if header.casefold() not in lowered:
            return None
        roles[lowered.index(header.casefold())] = role
    if "classes" in expected:
        return _with_classes(roles, rows)
    return tuple(roles) if "*" in expected or len(named) == sum(map(bool, fields)) else None


def _with_classes(roles: Sequence[str], rows: Rows) -> tuple[str, ...]:
    """Roles where every column of numbers that has no other meaning holds the scores of one class."""
    headers = rows[0]
    named = [role.startswith(CONDITION) and role != CONDITION for role in roles]
    numeric = [is_named and is_number for is_named, is_number in zip(named, numeric_columns(rows), strict=True)]
    if sum(numeric) < 2:
        return tuple(roles) if roles.count("score") > 1 else tuple(CONDITION + header for header in headers)
    kept = (CONDITION + header if role == "score" else role for role, header in zip(roles, headers, strict=True))
    return tuple("score" if is_class else role for role, is_class in zip(kept, numeric, strict=True))


def numeric_columns(rows: Rows) -> list[bool]:
    """Whether the column below each title is one of numbers."""
    regular = [row for row in rows[1:] if len(row) == len(rows[0])]
    return [bool(regular) and looks_numeric([row[at] for row in regular]) for at in range(len(rows[0]))]
