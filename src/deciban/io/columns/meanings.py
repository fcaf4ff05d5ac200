"""Meaning of columns beside a label: the only column of numbers is the score, many are the scores of classes."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Collection, Sequence

from deciban._validate.arrays import Vocabulary
from deciban.io.columns.headers import CONDITION, identity_of

_MEASURE = re.compile(
    r"(.*[-_. ])?(dur|duration|snr|db|age|weights?|length|len|seconds?|secs?|time|frames?|year|month|day|fold|split|"
    r"session|rate|height|width|size|number|num|n|count|channel|yaw|pitch|roll|quality)([-_. ].*)?"
)
"""Names of columns that describe trials, and are no scores where another column of numbers may be one."""

_ROW_NAME = re.compile(r"__index_level_\d+__|unnamed: ?\d+|(.*[-_. ])?(id|idx|index|row|nr|no|#)")
"""Names of columns that name or count rows."""

_NUMBERED = re.compile(r"(.*?)(0|[1-9]\d*)")

_OF_TWO = re.compile(r"(.*[-_. ])?class[-_. ]?0")
"""Names of the first of two numbered columns that are the scores of classes 0 and 1, and not of two systems."""

_WHOLE = re.compile(r"(0|[1-9]\d*)\.0")

_FEWEST = 3
"""Columns of numbers beside a label that are taken for the scores of as many classes."""


def with_only_score(roles: Sequence[str], headers: Sequence[str], numeric: Sequence[bool]) -> tuple[str, ...]:
    """Return roles in which the only column of numbers beside a label is the score, whatever it is called.

    Columns that count or name rows are no candidates. Neither are measures of a trial, such as its duration or age,
    where trials have names or another column of numbers is there: such a table may be a key.

    Parameters
    ----------
    roles, headers : sequence of str
        By column; nothing changes if a column is the score already, or none is the label.
    numeric : sequence of bool
        True for columns of numbers.

    Examples
    --------
    >>> with_only_score(["label", "=prob", "=age"], ["label", "prob", "age"], [True, True, True])
    ('label', 'score', '=age')
    """
    if "score" in roles or "label" not in roles:
        return tuple(roles)
    free = _free_numbers(roles, headers, numeric)
    likely = [at for at in free if not names_measure(headers[at])]
    chosen = likely or ([] if identity_of(roles) else free)
    return tuple("score" if [at] == chosen else role for at, role in enumerate(roles))


def with_label_of_class(
    roles: Sequence[str],
    headers: Sequence[str],
    numeric: Sequence[bool],
    words: Collection[str],
    vocabulary: Vocabulary,
) -> tuple[str, ...]:
    """Return roles in which a true class is the label, where its words mean target and non-target beside one score.

    Parameters
    ----------
    roles, headers, numeric
        By column; `roles` as the headers suggest.
    words : collection of str
        Words of the class that were seen.
    vocabulary : Vocabulary

    Examples
    --------
    >>> table, known = (["class", "=logit"], ["class", "logit"], [True, True]), Vocabulary.of(None)
    >>> with_label_of_class(*table, ["0", "1"], known), with_label_of_class(*table, ["0", "2"], known)
    (('label', 'score'), ('class', '=logit'))
    """
    known = vocabulary.within(words)
    if "class" not in roles or "label" in roles or {known.meaning(word) for word in words} != {True, False}:
        return tuple(roles)
    found = with_only_score(["label" if role == "class" else role for role in roles], headers, numeric)
    return found if found.count("score") == 1 else tuple(roles)


def with_classes_of_label(roles: Sequence[str]) -> tuple[str, ...]:
    """Return roles in which the label is the true class, where no other column is and trials have one name or none.

    Examples
    --------
    >>> with_classes_of_label(["trial", "=eng", "=fra", "label"])
    ('trial', '=eng', '=fra', 'class')
    """
    if "class" in roles or len(identity_of(roles)) > 1:
        return tuple(roles)
    return tuple("class" if role == "label" else role for role in roles)


def without_other_numbers(roles: Sequence[str], headers: Sequence[str]) -> tuple[str, ...]:
    """Return roles in which numbered columns alone are the scores of classes, if some scores are numbered throughout.

    Examples
    --------
    >>> without_other_numbers(["score"] * 4 + ["class"], ["p_0", "p_1", "p_2", "fold", "label"])
    ('score', 'score', 'score', '=fold', 'class')
    """
    scores = [at for at, role in enumerate(roles) if role == "score"]
    numbered = _numbered([headers[at] for at in scores])
    if "class" not in roles or not numbered:
        return tuple(roles)
    return tuple(
        CONDITION + header if role == "score" and header not in numbered else role
        for role, header in zip(roles, headers, strict=True)
    )


def label_names_classes(
    roles: Sequence[str],
    headers: Sequence[str],
    numeric: Sequence[bool],
    words: Collection[str],
    vocabulary: Vocabulary,
) -> bool | None:
    """Return True if a label names one of many classes, False if targets and non-targets, None if no label decides.

    Parameters
    ----------
    roles, headers, numeric
        By column; `roles` as the headers suggest.
    words : collection of str
        Words of the label that were seen; there may be others.
    vocabulary : Vocabulary

    Examples
    --------
    >>> table = ["label", "=a", "=b", "=c"], ["label", "a", "b", "c"], [False, True, True, True]
    >>> known = Vocabulary.of(None)
    >>> label_names_classes(*table, ["c", "a"], known), label_names_classes(*table, ["0", "1"], known)
    (True, False)
    """
    if "label" not in roles or "class" in roles or len(identity_of(roles)) > 1 or not words:
        return None
    named = [headers[at] for at, role in enumerate(roles) if role == "score"]
    free = [headers[at] for at in _free_numbers(roles, headers, numeric)]
    known = vocabulary.within(words)
    if not known.folded:
        return False
    are_whole = all(_NUMBERED.fullmatch(plain_word(word)) and plain_word(word).isdecimal() for word in words)
    if all(known.meaning(word) is not None for word in words):
        return not named and are_whole and (_are_of_two(free) or (len(free) >= _FEWEST and bool(_numbered(free))))
    columns = named + free
    if len(columns) == 1:
        return False
    if len(columns) > 1 and {*words} <= words_of_columns(columns, in_order=False).keys():
        return True
    return len({*words}) > 2 or (are_whole and len(columns) >= _FEWEST)


def _are_of_two(columns: Sequence[str]) -> bool:
    """Whether columns are called like the scores of classes 0 and 1, as ``class_0`` and ``class_1`` are."""
    return len(columns) == 2 and bool(_OF_TWO.fullmatch(_folded(columns[0]))) and columns[1] == f"{columns[0][:-1]}1"


def fits_label(kind: str, roles: Sequence[str], of_classes: bool | None) -> bool:  # noqa: FBT001
    """Return True if a table can be read as a kind, given what its label names (`label_names_classes`).

    Two or more columns that are called scores may be those of classes all the same, with another file as their key.
    """
    if of_classes is None or (kind == "class-scores" and roles.count("score") > 1):
        return True
    return of_classes == kind.startswith("class-")


def words_of_columns(columns: Sequence[str], *, in_order: bool) -> dict[str, int]:
    """Return the words that name the class of each column, with its position.

    A class is called as its column, also without what all columns share: ``prob_eng``, ``prob_fra`` are eng and fra.

    Parameters
    ----------
    columns : sequence of str
    in_order : bool
        Whether numbers from 0 stand for the columns in order, where no column has a number for its name.

    Examples
    --------
    >>> words_of_columns(["p_a", "p_b"], in_order=True)
    {'p_a': 0, 'p_b': 1, 'a': 0, 'b': 1, '0': 0, '1': 1}
    """
    found = {name: at for at, name in enumerate(columns)}
    short = _without_shared(columns)
    found |= {name: at for at, name in enumerate(short) if name not in found}
    if in_order and not any(plain_word(name).isdecimal() for name in found):
        found |= {str(at): at for at in range(len(columns))}
    return found


def counts_columns(headers: Sequence[str]) -> bool:
    """Return True if columns are called by their numbers from 0 or 1, and are no data.

    >>> counts_columns(["0", "1", "2"]), counts_columns(["0.5", "1"])
    (True, False)
    """
    return tuple(headers) in (tuple(map(str, range(start, start + len(headers)))) for start in (0, 1))


def plain_word(word: str) -> str:
    """Return a whole number without the decimals that data frames write (``3.0`` is 3); other words as they are."""
    whole = _WHOLE.fullmatch(word)
    return word if whole is None else whole[1]


def _without_shared(columns: Sequence[str]) -> list[str]:
    """Columns without the words that they all begin or end with; numbers stay whole."""
    numbered = _numbered(columns)
    if numbered and len(numbered) == len(columns):
        return [_NUMBERED.fullmatch(name)[2] for name in columns]  # type: ignore[index]
    begin = re.sub(r"[^-_. ]*$", "", _shared_start(columns))
    rest = [name[len(begin) :] for name in columns]
    end = re.sub(r"^[^-_. ]*", "", _shared_start([name[::-1] for name in rest])[::-1])
    short = [name[: len(name) - len(end)] for name in rest]
    return short if all(short) and len({*short}) == len(columns) else list(columns)


def _shared_start(words: Sequence[str]) -> str:
    """The characters that all words begin with."""
    return os.path.commonprefix(list(words))  # noqa: RUF071  # these are no paths


def _numbered(headers: Sequence[str]) -> frozenset[str]:
    """The columns of the largest group that is numbered from 0 or 1 throughout; none if it is too small."""
    groups: dict[str, dict[int, str]] = defaultdict(dict)
    for header in headers:
        parts = _NUMBERED.fullmatch(header)
        if parts is not None:
            groups[parts[1]][int(parts[2])] = header
    whole = [
        group for group in groups.values() if sorted(group) in (list(range(len(group))), list(range(1, len(group) + 1)))
    ]
    largest = max(whole, key=len, default={})
    return frozenset(largest.values()) if len(largest) >= _FEWEST else frozenset()


def _free_numbers(roles: Sequence[str], headers: Sequence[str], numeric: Sequence[bool]) -> list[int]:
    """Columns of numbers without another meaning that do not name or count rows."""
    free = [at for at, role in enumerate(roles) if role.startswith(CONDITION) and role != CONDITION and numeric[at]]
    return [at for at in free if not names_row(headers[at])]


def names_row(header: str) -> bool:
    """Return True for a column that counts or names rows.

    >>> names_row("__index_level_0__"), names_row("file_id"), names_row("prob")
    (True, True, False)
    """
    return _ROW_NAME.fullmatch(_folded(header)) is not None


def names_measure(header: str) -> bool:
    """Return True for a column that is called like a measure of trials, such as their duration.

    >>> names_measure("duration_s"), names_measure("prob")
    (True, False)
    """
    return _MEASURE.fullmatch(_folded(header)) is not None


def _folded(header: str) -> str:
    return header.strip().casefold()
