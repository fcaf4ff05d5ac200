"""Layout of text tables: by named formats, by columns that the user named, and by careful recognition."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Self, TypeAlias

from deciban._validate.arrays import Vocabulary
from deciban.errors import FormatError, InputError
from deciban.io.columns import headers as naming
from deciban.io.formats import NEEDED_ROLE, ContentKind, InputOptions, TextFormat, text_formats
from deciban.io.source import BLANKS
from deciban.io.text import reader as tokens
from deciban.io.text.reader import Layout
from deciban.trials.lists import identity_of

if TYPE_CHECKING:
    from deciban.io.text.suggestions import ColumnsSeen

Rows: TypeAlias = Sequence[Sequence[str]]

_Finder: TypeAlias = Callable[[ContentKind, str], list[Layout]]
"""Finds layouts for a kind of table and a delimiter."""

_OTHER_KINDS: Mapping[ContentKind | None, tuple[ContentKind, ...]] = {
    "scores": ("key", "class-key"),
    "class-scores": ("key", "class-key"),
    "key": ("scores",),
}
"""Kinds of tables that a file may contain if files were swapped."""

_SPOOFING_WORDS, _VERIFIER_WORDS = {"bonafide", "bona-fide", "spoof"}, {"target", "nontarget"}


@dataclass(frozen=True, slots=True)
class FirstLines:
    """The first lines of a text table, split by each possible delimiter, and the options of the user.

    Attributes
    ----------
    sample : sequence of str
        Lines without comments and blank lines; at least one.
    quoted : mapping of str to bool
        For each delimiter, True if quotes enclose fields.
    tables : mapping of str to rows
        The fields of all lines, for each delimiter.
    name : str
        File name for messages.
    options : InputOptions
        ``need`` is the kind of table that the file must contain; None for any.
    format : TextFormat, optional
        The format that the user named.
    """

    sample: Sequence[str]
    quoted: Mapping[str, bool]
    tables: Mapping[str, Rows]
    name: str
    options: InputOptions
    format: TextFormat | None = None

    @classmethod
    def of(cls, sample: Sequence[str], name: str, options: InputOptions, format: TextFormat | None = None) -> Self:
        """Split lines by each delimiter."""
        quoted = {d: d != "," and is_quoted(sample[0], d) for d in tokens.DELIMITERS}
        tables = {
            d: with_row_names([tokens.split(line, d, quoted=quoted[d]) for line in sample], sample[0])
            for d in tokens.DELIMITERS
        }
        return cls(sample, quoted, tables, name, options, format)

    def seen(self) -> ColumnsSeen | None:
        """Return the columns with their values; None if no delimiter splits the lines."""
        from deciban.io.text.suggestions import ColumnsSeen, stands_alone  # needed only for messages

        delimiters = self._delimiters()
        if not delimiters:
            return None
        rows = self.tables[delimiters[0]]
        return ColumnsSeen(rows, titled(rows) or stands_alone(rows) or _names_roles(rows[0]), self.options)

    def layout(self) -> Layout:
        """Return the layout of the lines, from their format, from the columns that the user named, or from their text.

        Raises
        ------
        InputError
            If the columns are invalid.
        FormatError
            If the lines match no format, or several.
        """
        layout = self.only_layout()
        if layout is None:
            raise self._unclear()
        return layout

    def only_layout(self) -> Layout | None:
        """Return the layout of the lines; None if they match no format, or several. Raises as `layout`."""
        columns = self.options.columns
        result = self._layouts() if columns is None else [self._given(columns)]
        if len(result) != 1:
            return None
        header = result[0].header or ()
        if len(set(header)) < len(header):
            twice, count = Counter(header).most_common(1)[0]
            raise FormatError(f"{self.name}:1: {count} columns are called {twice!r}. Rename them.")
        return replace(result[0], quoted=self.quoted[result[0].delimiter])

    def _layouts(self) -> list[Layout]:
        """Return all possible layouts of the lines, for the first kind of table that is possible."""
        need = self.options.need
        kinds: tuple[ContentKind, ...] = (need,) if need else ("scores", "key", "class-scores", "class-key", "index")
        if not need and self.label_names_classes():
            kinds = ("class-scores", "class-key")
        readings = ((kind, result) for find, kind, d in self._attempts(kinds) if (result := find(kind, d)))
        kind, result = next(readings, ("scores", []))
        if len(result) == 1 and not need and kind == "scores" and self._only_0_and_1(result[0]):
            result += self._without_header("key", result[0].delimiter)
        return [replace(result[0], holds=kind)] if len(result) == 1 else result

    def _attempts(self, kinds: Sequence[ContentKind]) -> Iterator[tuple[_Finder, ContentKind, str]]:
        """Return functions that find layouts, with their arguments: first by headers, then by lines."""
        return product((self._with_header, self._without_header), kinds, self._delimiters())

    def _unclear(self) -> FormatError:
        """Return the error for lines that match no format, or several."""
        from deciban.io.text import suggestions  # needed only for messages

        if result := self._layouts():
            return FormatError(suggestions.could_be(self.sample, result, self.name, self.options))
        need, swapped = self.options.need, None
        for delimiter in self._delimiters():
            suggestions.refuse_odd_numbers(self.tables[delimiter], self.sample, self.name)
        if self.format is None:
            readings = (find(kind, d) for find, kind, d in self._attempts(_OTHER_KINDS.get(need, ())))
            swapped = next((result[0] for result in readings if len(result) == 1), None)
            if need == "scores" and swapped is None:
                suggestions.refuse_decimal_commas(self.sample, self.name)
        return FormatError(
            suggestions.undecided(self.sample, self.seen(), self.name, self.options, self.format, swapped)
        )

    def _only_0_and_1(self, layout: Layout) -> bool:
        """Return True if the scores of a file without a header could also be labels."""
        at, rows = layout.roles.index("score"), self.tables[layout.delimiter]
        return layout.header is None and all(row[at] in ("0", "1") for row in rows if len(row) > at)

    def _delimiters(self) -> list[str]:
        """Return delimiters that split all lines into equal numbers of fields, at least 2; else those for the first."""
        regular = [d for d, rows in self.tables.items() if len(n := {*map(len, rows)}) == 1 and max(n) > 1]
        possible = regular or [d for d, rows in self.tables.items() if len(rows[0]) > 1]
        first = [row[0] for row in self.tables[" "]]
        if not possible and self.options.need in (None, "scores", "key") and tokens.looks_numeric(first[1:] or first):
            return ["," if self.sample[0].startswith('"') else " "]  # quotes are read with commas only
        n_single = sum(len(row) == 1 for row in self.tables[" "])
        if not possible and tokens.mostly(n_single, len(self.sample)):
            possible.append(" ")  # a single column
        if self.format is not None:
            if " " not in possible and any(" " not in line for line in self.format.lines):
                possible.append(" ")  # a single column
            possible.sort(key=self.format.delimiter.__ne__)  # names may contain the others
        return possible

    def _given(self, columns: naming.Columns) -> Layout:
        """Return the layout for columns that the user named."""
        delimiters = self._delimiters()
        titles = self.tables[delimiters[0]][0] if delimiters else []
        request = naming.parse_columns(naming.of_headers(columns, titles))
        table = self.format or text_formats()["table"]
        if not delimiters and len(request) != 1:
            raise FormatError(f"{self.name}:1: expected at least 2 columns, got {self.sample[0][:80]!r}.")
        delimiter = delimiters[0] if delimiters else " "
        fields = tuple(self.tables[delimiter][0])
        roles = naming.named_roles(request, fields, f"{self.name}:1") if isinstance(request, dict) else tuple(request)
        if len(fields) != len(roles):
            raise FormatError(
                f"{self.name}:1: expected {len(roles)} columns ({' '.join(roles)}), got {len(fields)}: "
                f"{self.sample[0][:80]!r}."
            )
        pair = naming.compared(request, fields, f"{self.name}:1") if isinstance(request, dict) else None
        by_header = isinstance(request, dict) and not naming.by_number(request)
        has_header = by_header or table.titled or _is_header_of(roles, fields, self.options.vocabulary)
        layout = Layout(table, roles, delimiter, fields if has_header else None, compared=pair)
        _check_named(layout.known, NEEDED_ROLE.get(self.options.need))
        return layout

    def _candidates(self) -> list[TextFormat]:
        if self.format is not None:
            return [self.format]
        return [one for one in text_formats().values() if one.guessed and one.verified]

    def _with_header(self, need: ContentKind, delimiter: str) -> list[Layout]:
        """Return the layouts of formats that have the first row as header."""
        rows = self.tables[delimiter]
        fields = tuple(rows[0])
        layouts = []
        for candidate in self._candidates():
            if not candidate.header or (self.format is None and _is_doubtful(candidate, rows, delimiter)):
                continue
            for line in candidate.lines:
                roles = titled_roles(candidate, line, rows)
                if roles is not None and _holds(candidate, roles, need):
                    layouts.append(Layout(candidate, roles, delimiter, fields))
                    break
        # One format may have some columns of another: choose the format that knows most of them.
        known = [sum(role[0] != naming.CONDITION for role in layout.roles) for layout in layouts]
        layouts = [layout for layout, n in zip(layouts, known, strict=True) if n == max(known)]
        table = text_formats()["table"]
        tables = (table, text_formats().get("tsv"))
        if self.format in tables or (self.format is None and _is_free_header(fields, need, delimiter)):
            roles = meant_roles(self._roles(rows), rows, need)
            different = [layout for layout in layouts if layout.format.log10]
            named = identity_of(roles) or (not layouts and self._has_values(roles, need, delimiter))
            if named and _holds(table, roles, need) and ((different and need != "key") or not layouts):
                layouts.append(Layout(table, roles, delimiter, fields))
        return layouts

    def _roles(self, rows: Rows) -> tuple[str, ...]:
        """Return the roles of a plain table from its titles and from the words of a column of classes."""
        roles = without_row_numbers(naming.roles_of(rows[0], f"{self.name}:1"), rows)
        return titles_of(rows, self.options.vocabulary).labelled(roles)

    def label_names_classes(self) -> bool | None:
        """Return True if the label of a plain table names one of several classes; None if undecided."""
        for rows in (self.tables[delimiter] for delimiter in self._delimiters()):
            with suppress(FormatError):
                roles = self._roles(rows)
                if "label" in roles:
                    return titles_of(rows, self.options.vocabulary).label_names_classes(roles)
        return None

    def _has_values(self, roles: Sequence[str], need: ContentKind, delimiter: str) -> bool:
        """Return True if the values below a header without names of trials agree with its titles.

        Trials are then identified by their rows. The first line must not be a trial itself: it must have no number
        among scores, and no word for target or non-target.
        """
        first, *rows = self.tables[delimiter]
        vocabulary = self.options.vocabulary
        regular = [row for row in rows if len(row) == len(roles)]
        scores = [at for at, role in enumerate(roles) if role == "score"]
        if need == "index" or not regular or roles[0] == naming.CONDITION:
            return False  # a first column without a name may contain names of trials
        if scores:
            numbers = [first[at] for at in scores if tokens.is_number(first[at])]
            titles = not numbers or (need == "class-scores" and "class" in roles and naming.counts_columns(numbers))
            return titles and all(tokens.looks_numeric([row[at] for row in regular]) for at in scores)
        if need == "key" and "label" in roles and not any(vocabulary.meaning(field) is not None for field in first):
            at = roles.index("label")
            return delimiter != " " or _are_labels([row[at] for row in regular], vocabulary)
        return need == "class-key" and "class" in roles and delimiter != " "

    def _without_header(self, need: ContentKind, delimiter: str) -> list[Layout]:
        """Return the possible layouts of rows in the given format, or in all formats; each order of columns once."""
        rows = self.tables[delimiter]
        if self.format is None and (titled(rows) or (need == "index" and len(rows[0]) == 1)):
            return []  # the first line is a header; a single column of words is ambiguous
        if delimiter != " " and self.format is None and any(" " in field for row in rows for field in row):
            return []  # blanks probably separate columns, or commas decimals
        if delimiter == "," and self.format is None and need == "scores" and tokens.may_be_decimals(self.sample):
            return []
        layouts: dict[tuple[str, ...], Layout] = {}
        for candidate in self._candidates():
            for line in candidate.lines if not candidate.header else ():
                roles = tuple(line.split())
                if len(roles) != len(rows[0]) or roles in layouts or not _holds(candidate, roles, need):
                    continue
                unnamed = len(roles) > 1 and not identity_of(roles) and candidate.derive is None
                if self.format is None and unnamed:
                    continue
                is_only = self.format is not None and self._one_choice(self.format, roles)
                if is_only or _fits(rows, roles, self.options, candidate):
                    layouts[roles] = Layout(candidate, roles, delimiter)
        return list(layouts.values())

    def _one_choice(self, own: TextFormat, roles: tuple[str, ...]) -> bool:
        """Return True if only one line of the format has this number of columns and contains the needed table."""
        lines = [tuple(line.split()) for line in own.lines if len(line.split()) == len(roles)]
        need = self.options.need
        return sum(need is None or _holds(own, line, need) for line in lines) == 1


def _is_header_of(roles: Sequence[str], fields: Sequence[str], vocabulary: Vocabulary) -> bool:
    """Return True if a first line names columns of these roles, and cannot be a trial."""
    for role, field in zip(roles, fields, strict=True):
        if (role == "score" and tokens.is_number(field)) or (role == "label" and vocabulary.meaning(field) is not None):
            return False
    named = [naming.role_of(field) == role for role, field in zip(roles, fields, strict=True) if role in naming.ROLES]
    return any(named) if {"score", "label"} & set(roles) else all(named)


def _check_named(roles: Sequence[str], needed: str | None) -> None:
    named = ("enroll", "test") if {"enroll", "test", "side"} & set(roles) else ("trial",)
    values = {role for role in roles if role != naming.IGNORED and role[0] != naming.CONDITION}
    if values <= {"score", "label", "class"} and values and (needed is None or needed in values):
        return  # values without names: trials are identified by their rows
    lacking = [role for role in (*named, *(() if needed is None else (needed,))) if role not in roles]
    if lacking:
        more = f", and the {needed}" if needed else ""
        raise InputError(f"columns: no column is the {lacking[0]}. Name enroll and test, or trial{more}.")


def _names_roles(fields: Sequence[str]) -> bool:
    """Return True if a first line contains no number, and at least one title with a known meaning."""
    return not any(map(tokens.is_number, fields)) and any(
        naming.role_of(field)[0] != naming.CONDITION for field in fields
    )


def _is_free_header(fields: Sequence[str], need: ContentKind, delimiter: str) -> bool:
    """Return True if a first line can be the header of a plain table, and not the names of a first trial."""
    known = [naming.role_of(field)[0] != naming.CONDITION for field in fields]
    if need == "index" and delimiter == " ":
        return all(known)  # with blanks, words like `file` or `model` may be names of trials
    if need in ("scores", "key", "index") and any(map(tokens.is_number, fields)):
        return False
    may_be_labels = delimiter != " " and any(map(naming.may_be_label, fields))
    return any(known) or may_be_labels or (need == "class-scores" and not fields[0])


def _are_labels(column: Sequence[str], vocabulary: Vocabulary) -> bool:
    vocabulary = vocabulary.within(column)
    return tokens.mostly(sum(vocabulary.meaning(word) is not None for word in column), len(column))


def _is_doubtful(format: TextFormat, rows: Rows, delimiter: str) -> bool:
    """Return True if a format must not be recognized without being named, although its header matches."""
    return format.delimiter != delimiter or (format.plausible is not None and not format.plausible(rows))


def _holds(format: TextFormat, roles: tuple[str, ...], need: ContentKind) -> bool:
    """Return True if a table with these columns contains what is needed."""
    if need == "index":
        return format.derive is not None or bool(identity_of(roles))
    if need not in format.reads:
        return False
    if need == "class-scores":
        return len(identity_of(roles)) < 2 and (roles.count("score") > 1 or "class" in roles)
    return (format.derive is not None and need == "key") or NEEDED_ROLE.get(need) in roles


def _fits(rows: Rows, roles: tuple[str, ...], options: InputOptions, format: TextFormat) -> bool:
    """Return True if nearly all sampled rows are possible in this layout, and nothing contradicts it."""
    regular = [row for row in rows if len(row) == len(roles)]
    labels: set[str] = set()
    vocabulary = options.vocabulary
    for role, column in zip(roles, zip(*regular, strict=True), strict=True):
        known = sum(vocabulary.meaning(word) is not None for word in column)
        if role == "score" and not tokens.mostly(sum(map(tokens.is_number, column)), len(column)):
            return False
        if role == "label":
            labels = {word.casefold() for word in column}
            of_pair = options.need == "key" and _are_labels(column, vocabulary)
            if not of_pair and not tokens.mostly(known, len(column)):
                return False
        if role in naming.IDENTITY or (role.startswith(naming.CONDITION) and format.derive is not None):
            # Label words and decimal fractions do not name trials.
            are_labels = known == len(column) and not set(column) <= {"0", "1"}
            if are_labels or all("." in field and tokens.is_number(field) for field in column):
                return False
    if roles == ("trial", "score", "label") and all(row[1].isdigit() for row in regular):
        return False  # whole numbers between a name and a label are names
    spoofing = format.words[0] in _SPOOFING_WORDS
    if len(roles) > 3 and spoofing != bool(labels & _SPOOFING_WORDS and not labels & _VERIFIER_WORDS):
        return False
    return format.plausible is None or format.plausible(regular)


def with_row_names(rows: Sequence[Sequence[str]], header: str) -> Sequence[Sequence[str]]:
    """Add an empty title for the first column if the header lacks one, as in tables with row names from R.

    The titles must be in quotes, or the row names must be distinct numbers; otherwise any title could be missing.

    Examples
    --------
    >>> with_row_names([["trial", "score"], ["1", "a", "0.5"]], "trial score")[0]
    ['', 'trial', 'score']
    """
    n_fields = len(rows[0]) + 1
    n_longer, n_rows = sum(len(row) == n_fields for row in rows[1:]), len(rows) - 1
    lacks_one = (
        n_fields > 2 and n_rows > 0 and (n_longer == n_rows or (n_longer > 1 and tokens.mostly(n_longer, n_rows)))
    )
    names = [row[0] for row in rows[1:] if len(row) == n_fields]
    of_r = header.lstrip().startswith('"') or (all(map(str.isdigit, names)) and len({*names}) == len(names))
    return [["", *rows[0]], *rows[1:]] if lacks_one and of_r and _names_roles(rows[0]) else rows


def is_quoted(line: str, delimiter: str) -> bool:
    """Return True if all titles of a header are in quotes, as R writes it; then names in the rows are quoted, too.

    Examples
    --------
    >>> is_quoted('"model" "test segment"', " "), is_quoted('"model" score', " ")
    (True, False)
    """
    title = '"(?:[^"]|"")*"'
    return re.fullmatch(f"{title}(?:{delimiter}{title})+", line.strip(BLANKS)) is not None


def titled(rows: Sequence[Sequence[str]]) -> bool:
    """Return True if a first row has no numbers, and some column below it has.

    Examples
    --------
    >>> titled([["model", "s"], ["ann", "1.5"]]), titled([["ann", "0.5"], ["bob", "1.5"]])
    (True, False)
    """
    first, *others = rows
    regular = [row for row in others if len(row) == len(first)]
    if not regular or any(map(tokens.is_number, first)):
        return False
    return any(tokens.looks_numeric(column) for column in zip(*regular, strict=True))


def without_row_numbers(roles: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Ignore a first column without a title that counts the rows, as pandas (from 0) and R (from 1) write it.

    Other row names are also ignored if other columns identify the trials.

    Examples
    --------
    >>> without_row_numbers(["=", "label", "score"], [["", "y", "s"], ["0", "1", "2.5"], ["1", "0", "-1"]])
    ('-', 'label', 'score')
    """
    if roles[0] != naming.CONDITION:
        return tuple(roles)
    counted = tokens.counts_rows([row[0] for row in rows[1:]])
    return (naming.IGNORED, *roles[1:]) if counted or identity_of(roles) else tuple(roles)


def with_names_of_rows(roles: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Use a first column without a title as names of trials if all other columns are scores of classes.

    pandas writes such tables with their index. The column must contain distinct names, not numbers.

    Examples
    --------
    >>> with_names_of_rows(["=", "score", "score"], [["", "eng", "fra"], ["s7", "1", "2.5"], ["s9", "0", "-1"]])
    ('trial', 'score', 'score')
    """
    names = [row[0] for row in rows[1:]]
    are_names = all(names) and len({*names}) == len(names) and not any(map(tokens.is_number, names))
    only_classes = roles[0] == naming.CONDITION and len(roles) > 2 and {*roles[1:]} == {"score"}
    return ("trial", *roles[1:]) if only_classes and are_names else tuple(roles)


def titles_of(rows: Rows, vocabulary: Vocabulary) -> naming.Titles:
    """Return the titles in the first row, and facts about the values below them."""

    def words(at: int) -> set[str]:
        return {row[at] for row in rows[1:] if len(row) == len(rows[0])}

    return naming.Titles(rows[0], numeric_columns(rows), words, vocabulary)


def meant_roles(roles: tuple[str, ...], rows: Rows, need: ContentKind) -> tuple[str, ...]:
    """Return the roles of the columns of a plain table for the needed kind."""
    meant = titles_of(rows, naming.USUAL_WORDS).meant(roles, need)
    if need != "class-scores":
        return meant
    result = with_names_of_rows(_with_classes(meant, rows), rows)
    return result if meant == roles else naming.without_other_numbers(result, rows[0])


def titled_roles(format: TextFormat, line: str, rows: Rows) -> tuple[str, ...] | None:
    """Return the roles of columns if the first row is the header of this line of the format; else None."""
    expected, fields = line.split(), rows[0]
    if format.titled:
        return tuple(expected) if len(expected) == len(fields) else None
    lowered = [field.casefold() for field in fields]
    roles = [naming.CONDITION + field if field else naming.IGNORED for field in fields]
    named = []
    for role in (role for role in expected if role in format.header):
        titles = format.header[role].split("|")  # all titles for scores, the first existing one for other roles
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
    """Return roles in which each column of numbers without another meaning contains the scores of one class."""
    headers = rows[0]
    named = [role.startswith(naming.CONDITION) and role != naming.CONDITION for role in roles]
    numeric = [is_named and is_number for is_named, is_number in zip(named, numeric_columns(rows), strict=True)]
    if sum(numeric) < 2:
        return tuple(roles) if roles.count("score") > 1 else tuple(naming.CONDITION + header for header in headers)
    kept = (naming.CONDITION + header if role == "score" else role for role, header in zip(roles, headers, strict=True))
    return tuple("score" if is_class else role for role, is_class in zip(kept, numeric, strict=True))


def numeric_columns(rows: Rows) -> list[bool]:
    """Return True for each title above a column of numbers."""
    regular = [row for row in rows[1:] if len(row) == len(rows[0])]
    return [bool(regular) and tokens.looks_numeric([row[at] for row in regular]) for at in range(len(rows[0]))]
