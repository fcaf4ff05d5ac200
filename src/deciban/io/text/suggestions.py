"""Suggestions for text tables with an unclear layout: options to copy, and messages on faults."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from deciban._validate.arrays import Vocabulary
from deciban.errors import FormatError, either, in_lines, option
from deciban.io.columns import headers
from deciban.io.formats import NEEDED_ROLE, ContentKind, InputOptions, TextFormat
from deciban.io.text import reader as tokens
from deciban.io.text.reader import Layout
from deciban.trials.lists import identity_of

_MOST = 3
"""Largest number of options in a message."""

_MOST_IN_ORDER = 8
"""Largest number of columns for options in order; with more, columns are numbered."""

_FEWEST_OF_MATRIX = 4
"""Smallest number of columns of numbers below integer titles that may be a matrix of trials."""

_ROUNDED = 1e-3
"""Largest difference of a sum of rounded probabilities from 1."""

_MOST_COLUMNS = 24
"""Largest number of columns to analyze; with more, naming each would be tedious."""


def stands_alone(rows: Sequence[Sequence[str]]) -> bool:
    """Return True if no field of the first row occurs below it, although other fields repeat: it may be a header.

    Examples
    --------
    >>> stands_alone([["who", "real"], ["ann", "ann"], ["bob", "ann"]]), stands_alone([["ann", "yes"], ["bob", "yes"]])
    (True, False)
    """
    first, *others = rows
    below = [field for row in others for field in row]
    are_titles = {*first}.isdisjoint(below) and not any(map(tokens.is_number, first))
    return are_titles and len(others) > 1 and len({*below}) < len(below)


@dataclass(frozen=True)
class ColumnsSeen:
    """The columns of a table, with the values in its first lines.

    Attributes
    ----------
    rows : sequence of sequences of str
        Fields; the first row may be a header.
    has_header : bool
        True if it is.
    options : InputOptions
    """

    rows: Sequence[Sequence[str]]
    has_header: bool
    options: InputOptions

    @cached_property
    def _values(self) -> list[tuple[str, ...]]:
        """The values of each column."""
        n = min(len(self.rows[0]), _MOST_COLUMNS)
        regular = [row[:n] for row in self.rows[self.has_header :] if len(row) == len(self.rows[0])]
        return list(zip(*regular, strict=True)) if regular else [()] * n

    @cached_property
    def _roles(self) -> Sequence[str]:
        """The roles of the columns by their names; conditions if there are no names or they are ambiguous."""
        n = len(self._values)
        if not self.has_header:
            return [headers.CONDITION] * n
        try:
            return headers.roles_of(self.rows[0], "")[:n]
        except FormatError:
            return [headers.CONDITION] * n

    @cached_property
    def _scores(self) -> list[int]:
        """Columns that may contain scores, the most likely first."""
        numbers = [
            at for at, values in enumerate(self._values) if tokens.looks_numeric(values) and not self._counts(at)
        ]
        known = [at for at in numbers if self._roles[at] == "score"]
        taken = ("label", "class", "trial", "enroll", "test", "side")
        free = [at for at in numbers if self._roles[at] not in taken]
        free = [at for at in free if not (self.has_header and headers.names_row(self.rows[0][at]))]
        likely = [at for at in free if not _are_whole(self._values[at])]
        return self._of_target(known or likely or free)

    def no_number(self) -> str:
        """Return the problem of the only column named as a score, or an empty text."""
        scores = [at for at, role in enumerate(self._roles) if role == "score"]
        wrong = [one for at in scores[:1] for one in self._values[at] if not tokens.is_number(one)]
        if len(scores) != 1 or not wrong:
            return ""
        return f"{wrong[0]!r} in the column {self.rows[0][scores[0]]!r} is not a number"

    def _of_target(self, scores: list[int]) -> list[int]:
        """Return the column of the target if two columns sum to 1 in each row; otherwise all columns."""
        if len(scores) != 2 or not self.has_header:  # the probabilities of two classes
            return scores
        pairs = zip(*(self._values[at] for at in scores), strict=True)
        numbers = [
            (float(one), float(other)) for one, other in pairs if tokens.is_number(one) and tokens.is_number(other)
        ]
        if not all(math.isclose(one + other, 1.0, abs_tol=_ROUNDED) for one, other in numbers):
            return scores
        words = headers.words_of_columns([self.rows[0][at] for at in scores], in_order=False)
        known = self.options.vocabulary.within(words)
        target = {at for word, at in words.items() if known.meaning(word) is True}
        return [scores[at] for at in target] or scores

    @cached_property
    def has_free_numbers(self) -> bool:
        """True if a header names columns of numbers that may be scores, besides a label."""
        free = [at for at in self._scores if not headers.names_measure(self.rows[0][at])]
        return self.has_header and "label" in self._roles and bool(free)

    @cached_property
    def _labels(self) -> list[int]:
        """Columns that may contain labels, the most likely first; labels tend to follow names."""
        items = []
        for at, values in enumerate(self._values):
            n_words, role = len({*values}), self._roles[at]
            may_be_few = role[0] == headers.CONDITION or role == "class"
            few = may_be_few and 1 < n_words <= headers.MOST_WORDS and n_words < len(values)
            if at not in self._scores and (role == "label" or few or (n_words > 1 and self._known(at))):
                items.append(at)
        return sorted(items, key=lambda at: (self._roles[at] != "label", not self._known(at), -at))

    def _known(self, at: int) -> bool:
        """Return True if all words of a column mean target or non-target."""
        return all(self._are_known(at, self.options.vocabulary))

    def _are_known(self, at: int, vocabulary: Vocabulary = headers.USUAL_WORDS) -> list[bool]:
        """Return True for each field of a column that means target or non-target; by default in the usual words."""
        within = vocabulary.within(self._values[at])
        return [within.meaning(word) is not None for word in self._values[at]]

    def _counts(self, at: int) -> bool:
        """Return True if a column without a title counts the rows."""
        values, unnamed = self._values[at], self.has_header and not self.rows[0][at]
        return unnamed and tokens.counts_rows(values)

    def _names(self, label: int | None = None) -> list[tuple[str, int]]:
        """Return the columns that identify trials, with their roles, given the column of labels; empty if rows do."""
        sides = identity_of(self._roles)
        if sides:
            return [(side, list(self._roles).index(side)) for side in sides]
        others = [at for at in range(len(self._values)) if at not in (*self._scores, label)]
        varied = [at for at in others if not self._counts(at) and len({*self._values[at]}) > 1]
        varied = [at for at in varied if not tokens.looks_numeric(self._values[at]) or _are_whole(self._values[at])]
        names = [at for at in varied if self._are_distinct(at) or not self.has_header]
        pairs = [tuple(self._values[at][k] for at in varied) for k in range(len(self._values[0]))]
        names = names or (varied if len(varied) == len(("enroll", "test")) and len({*pairs}) == len(pairs) else [])
        return list(zip(("enroll", "test") if len(names) > 1 else ("trial",), names, strict=False))

    def _are_distinct(self, at: int) -> bool:
        values = self._values[at]
        return len({*values}) == len(values)

    @cached_property
    def _equal(self) -> list[tuple[int, int]]:
        """Pairs of columns of names that are equal in some rows, but not in all."""
        free = [at for at in range(len(self._values)) if at not in self._scores and not self._known(at)]

        def n_same(one: int, other: int) -> int:
            return sum(a == b != "" for a, b in zip(self._values[one], self._values[other], strict=True))

        return [pair for pair in combinations(free, 2) if 0 < n_same(*pair) < len(self._values[pair[0]])]

    def _called(self, at: int) -> str:
        """Return the name of a column for an option: its header, or its number."""
        header = self.rows[0][at] if self.has_header else ""
        plain = header and not header.isdigit() and not set(header) & set(",|=") and header == header.strip()
        return header if plain else str(at + 1)

    @cached_property
    def looks_like_matrix(self) -> bool:
        """True if the first row has a number for each column but the first, and all rows below contain numbers."""
        first, *others = self.rows
        names = first[1:]
        regular = [row for row in others if len(row) == len(first)]
        if len(names) < _FEWEST_OF_MATRIX or not regular or not all(name.isdecimal() for name in names):
            return False
        distinct = len({*names}) == len(names) and len({row[0] for row in regular}) == len(regular)
        return distinct and all(tokens.looks_numeric(column) for column in list(zip(*regular, strict=True))[1:])

    def shown(self) -> str:
        """Return the names of the columns, with their values if there are few."""
        if self.looks_like_matrix:
            return f"{self.rows[0][0]!r} and {len(self.rows[0]) - 1:,} with numbers for names: a matrix of trials?"
        if not self.has_header and len(self.rows[0]) > _MOST_IN_ORDER and all(map(tokens.looks_numeric, self._values)):
            return f"{len(self.rows[0]):,} without names, all of numbers"
        words = []
        for at, values in enumerate(self._values):
            name = self.rows[0][at] if self.has_header else ""
            called = repr(name) if name else f"number {at + 1}" + " without a name" * self.has_header
            distinct = list(dict.fromkeys(values))
            are_numbers = tokens.looks_numeric(values) and len(distinct) > headers.MOST_WORDS
            held = "numbers" if are_numbers else ", ".join(distinct[:3])
            words.append(f"{called} ({held[:60]}{', ...' * (len(distinct) > 3 and held != 'numbers')})")
        more = len(self.rows[0]) - len(words)
        return ", ".join(words) + (f" and {more:,} more" if more else "")

    def ways(self, need: ContentKind | None) -> list[str]:
        """Return at most three options that define the columns, the most likely first."""
        if self.looks_like_matrix:
            return [self.options.format_option("matrix-csv")]
        if need in ("class-scores", "class-key"):
            return self._ways_of_classes(need)
        result = self._ways_of_labels([]) if need == "key" else []
        several = len(self._scores) >= _MOST and self.has_header and "label" in self._roles and need != "key"
        result += self._ways_of_labels([("score", at) for at in self._scores]) if several else []
        for at in self._scores[:_MOST] if need != "key" else ():
            result += self._ways_of_labels([("score", at)]) or [self._option([*self._names(), ("score", at)])]
        return list(dict.fromkeys(result))[:_MOST]

    def _ways_of_labels(self, parts: list[tuple[str, int]]) -> list[str]:
        """Return options that also define the truth; empty if no column can contain it."""
        result, and_ = list[str](), either(", ", " ")
        known = [at for at in self._labels if self._known(at) or self._roles[at] == "label"]
        known = known or [at for at in self._labels if all(self._are_known(at))]
        partly = [at for at in self._labels if any(self._are_known(at))]
        # Beside scores, words with more than two values are rather names than labels.
        unknown = self._labels if not parts else [at for at in self._labels if len({*self._values[at]}) == 2]
        for at in (known or partly or unknown)[: 1 if parts else _MOST]:
            named = self._option([*self._names(at), *parts, ("label", at)])
            words = headers.words_in_options(sorted({*self._values[at]}))
            result += [named] if self._known(at) else [f"{named}{and_}{one}" for one in words]
        pairs = [] if known else self._equal[:1]
        equal = [self._option([*self._names_beside(pair), *parts], equal=pair) for pair in pairs]
        return [*result, *equal] if partly else [*equal, *result]

    def _names_beside(self, pair: tuple[int, int]) -> list[tuple[str, int]]:
        """Return the columns that identify trials, besides two columns that are compared."""
        named = [at for at, role in enumerate(self._roles) if role == "trial" and at not in pair]
        if len(identity_of(self._roles)) > 1:
            return self._names()
        others = [at for at in range(len(self._values)) if at not in (*pair, *self._scores) and not self._counts(at)]
        test = named or [at for at in others if self._are_distinct(at)]
        return [("enroll", pair[0]), ("test", test[0])] if test else []

    def _ways_of_classes(self, need: ContentKind) -> list[str]:
        if need == "class-key":
            words = [at for at in range(len(self._values)) if at not in self._scores and not self._counts(at)]
            names = [at for at in words if self._are_distinct(at)][:1]
            classes = [at for at in words if at not in names and len({*self._values[at]}) > 1]
            alone = not names and (len(classes) > 1 or not self.has_header)  # the segments are unknown
            trial = [("trial", at) for at in names]
            return [] if alone else [self._option([*trial, ("class", at)]) for at in classes[:_MOST]]
        if len(self._scores) < 2 or len(self.rows[0]) > _MOST_COLUMNS:
            return []
        names = [at for at in range(len(self._values)) if at not in self._scores and self._are_distinct(at)][:1]
        return [self._option([*(("trial", n) for n in names), *(("score", at) for at in self._scores)])]

    def _option(self, parts: Sequence[tuple[str, int]], equal: tuple[int, int] | None = None) -> str:
        """Return one option that names the columns, by their headers or in their order."""
        if not self.has_header and equal is None and len(self.rows[0]) <= _MOST_IN_ORDER:
            role_at = {at: role for role, at in parts}
            roles = [role_at.get(at, "-") for at in range(len(self.rows[0]))]
            return self.options.columns_option(",".join(roles))
        by_role: dict[str, str] = {}
        for role, at in parts:
            by_role[role] = f"{by_role[role]}|{self._called(at)}" if role in by_role else self._called(at)
        if equal is not None:
            by_role["label"] = "==".join(map(self._called, equal))
        return self.options.columns_option(",".join(f"{r}={c}" for r, c in by_role.items()))


def _are_whole(values: Sequence[str]) -> bool:
    """Return True if all finite numbers are integers, as in labels or numbers of speakers."""
    numbers = [float(value) for value in values if tokens.is_number(value)]
    return all(math.isfinite(x) and x == int(x) for x in numbers)


def could_be(sample: Sequence[str], layouts: Sequence[Layout], name: str, options: InputOptions) -> str:
    """Return the message on lines that can be read in several ways."""
    readings = " or ".join(f"{layout}" for layout in layouts)
    ways = []
    for layout in layouts:
        same = [one for one in layouts if (one.roles, one.header) == (layout.roles, layout.header)]
        if len(same) > 1 or layout.header is not None:
            ways.append(options.format_option(layout.format.name))
        else:
            ways.append(options.columns_option(",".join(layout.roles)))
    return (
        f"{name}: could be {readings}, the first line is {tokens.shortened(sample[0])!r}. "
        f"Choose one: {ways[0]} or another of:{in_lines(ways)}"
    )


def refuse_decimal_commas(sample: Sequence[str], name: str) -> None:
    """Raise for lines that may be numbers with decimal commas, or names with integers.

    Raises
    ------
    FormatError
    """
    if tokens.may_be_decimals(sample):
        raise FormatError(
            f"{name}:1: {tokens.shortened(sample[0])!r} may be a number with a decimal comma, a number with a comma "
            "between thousands, or a name and an integer. Write numbers with a point, for example with "
            f"tr , . < {shlex.quote(name)}; or put a tab between a name and its score."
        )


def refuse_odd_numbers(rows: Sequence[Sequence[str]], sample: Sequence[str], name: str) -> None:
    """Raise if a column of numbers contains numbers in an unsupported form.

    Raises
    ------
    FormatError
        With the line and the character.
    """
    regular = [(row, line) for row, line in zip(rows, sample, strict=True) if len(row) == len(rows[0])]
    for column in zip(*(row for row, _ in regular), strict=True):
        odd = [at for at, field in enumerate(column) if tokens.is_odd_number(field)]
        if not odd or not tokens.mostly(sum(map(tokens.is_number, column)) + len(odd), len(column)):
            continue
        field, line = column[odd[0]], regular[odd[0]][1]
        what = tokens.odd_character(field)
        why = f" It has {what}." if what else " Divide percentages by 100." if field.strip().endswith("%") else ""
        raise FormatError(
            f"{name}: {field!r} is not a valid number, in the line {tokens.shortened(line)!r}.{why} Write digits 0 "
            "to 9, a point, and - for minus, as in -0.5 or 2.5e-3."
        )


def undecided(
    sample: Sequence[str],
    seen: ColumnsSeen | None,
    name: str,
    options: InputOptions,
    format: TextFormat | None,
    swapped: Layout | None,
) -> str:
    """Return the message on lines that cannot be read as what is needed.

    Parameters
    ----------
    sample : sequence of str
        The first lines.
    seen : ColumnsSeen or None
        The columns with their values; None if no delimiter splits the lines.
    name : str
        File name.
    options : InputOptions
        With the needed kind of table.
    format : TextFormat or None
        The format that the user named.
    swapped : Layout or None
        The layout of the lines as a key if scores are needed, or as scores if a key is needed.
    """
    line, need = tokens.shortened(sample[0]), options.need or "scores"
    words = f" Define the words for target and non-target if they are unknown: {headers.labels_option()}."
    words = words if need == "key" else ""
    needed = f"{need.replace('-', ' ')} are" if need.endswith("scores") else f"a {need.replace('-', ' ')} is"
    ways = [] if seen is None else seen.ways(need)
    if swapped is not None and swapped.roles == ("score",):
        return (
            f"{name}:1: one number on each line, but {needed} needed: {line!r}. If these are labels, add "
            f"{option(key_columns='label')}. For two lists of scores, of targets and of non-targets, use "
            f"{option(tar='FILE', non='FILE')}."
        )
    if swapped is not None and not (need == "scores" and seen is not None and seen.has_free_numbers):
        what = "these are scores" if need == "key" else "this is a key"
        return (
            f"{name}:1: {what} ({swapped}), but {needed} needed: {line!r}. Are scores and key swapped? Otherwise name "
            f"the columns ({options.columns_option()}).{words}"
        )
    if need == "class-scores" and format is None and not ways:
        return (
            f"{name}:1: the columns with scores of classes are unclear: {line!r}. Expected a header, a column of names "
            f"of segments, and one of numbers for each class; or name them ({option(columns='trial=utt,score=A|B')})."
        )
    request, in_order, by_header = "which columns name the trials", "enroll,test", "trial=utt"
    role = NEEDED_ROLE.get(need)
    if role is not None:
        in_order = role if need == "class-key" and len(sample[0].split()) == 1 else f"{in_order},{role}"
        request, by_header = f"which column is the {role}", f"{by_header},{role}=NAME"
    if format is not None:
        return (
            f"{name}:1: not {format.name} with {need}: {line!r}. Name the columns: {options.columns_option(in_order)}."
        )
    if seen is not None and ways:
        first = "" if seen.has_header else f" in {line!r}"
        stop = "" if seen.shown().endswith("?") else "."
        some = "one of these" if len(ways) > 1 else "this, if it is right"
        return f"{name}:1: unclear {request}{first}. The columns are {seen.shown()}{stop} Use {some}:{in_lines(ways)}"
    odd = tokens.odd_character(sample[0])
    words = f" The line has {odd}: write plain blanks, digits and minus signs." if odd else words
    there = f" The columns are {seen.shown()}." if seen is not None and seen.has_header else ""
    return _fault(sample, seen, name, need) or (
        f"{name}:1: unclear {request}: {line!r}.{there} Name the columns in order, with - to ignore one "
        f"({options.columns_option(in_order)}), or by the header ({options.columns_option(by_header)}).{words}"
    )


def _fault(sample: Sequence[str], seen: ColumnsSeen | None, name: str, need: str) -> str:
    """Return the fault of lines that naming columns cannot solve; empty if unknown."""
    line = tokens.shortened(sample[0])
    if seen is not None and seen.has_header and len(sample) == 1:
        return f"{name}:1: contains a header, {line!r}, and no row. Expected one trial per line below it."
    if "|" in sample[0] and (seen is None or len(seen.rows[0]) == 1):
        return f"{name}:1: '|' separates the columns in {line!r}. Use commas, tabs or blanks."
    wrong = seen.no_number() if seen is not None and need == "scores" else ""
    return wrong and f"{name}:1: {wrong}, in the table with the header {line!r}. Write numbers as in -0.5 or 2.5e-3."
