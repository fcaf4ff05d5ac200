"""Meaning of columns by their names and by their neighbours; the same for text, Parquet, Arrow and data frames."""

from __future__ import annotations

import functools
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from deciban._validate.arrays import Vocabulary
from deciban.errors import FormatError, InputError, option, some_of
from deciban.trials.lists import PAIR_SIDE, SINGLE, identity_of
from deciban.types import ScoreUnit

IDENTITY = (*PAIR_SIDE, *SINGLE)
ROLES = (*IDENTITY, "score", "label", "class")
IGNORED = "-"
CONDITION = "="
"""A role that begins with this character is a condition; the name of the condition follows."""

UNIT_WORDS: Mapping[ScoreUnit, str] = {"nats": "", "log10": ", log10", "lr": ", likelihood ratios (not logarithms)"}
"""The end of the message on how a file was read, by the unit of its scores."""

_SHOWN = 10

MOST_SHOWN = 12
"""Largest number of columns in the message on how a file was read."""

Columns: TypeAlias = str | Sequence[str] | Mapping[str, str]

_HEADERS = {
    "enroll": "enroll enrol enrollment enrolment enroll_id enrol_id enrollment_id enrolment_id model modelid model_id "
    "claimed_id reference reference_id utt1 id1 enroll_utt",
    "test": "test test_id testid segment segmentid segment_id seg segid probe probe_id utt2 id2 test_utt",
    "side": "side",
    "trial": "trial id trial_id trialid utt utt_id utterance filename file file_id recording",
    "score": "score scores llr y_score y_prob y_proba",
    "label": "label labels hypothesis y_true targettype target_type is_target truth ground_truth groundtruth gt "
    "is_same is_match is_mated mated is_genuine is_fraud is_spam key cm-label sasv_label sasv-label",
    "class": "class language true_class language_code",
}
ROLE_OF_HEADER = {header: role for role, headers in _HEADERS.items() for header in headers.split()}
_SCORE_HEADER = re.compile(r"(.+[-_. ])?(score|llr)([-_. ].+)?")
_BOUND_HEADER = re.compile(r"(.+[-_. ])?llr[-_. ](interval[-_. ])?(low|high)")
_BRACKETS = re.compile(r" *[()\[\]] *")
_RATIO = "(lrs?|likelihood[-_. ]?ratios?)"
_RATIO_HEADER = re.compile(rf"(.+[-_. ])?{_RATIO}")
_NATURAL_HEADER = re.compile(rf"(.+[-_. ])?(ln|log)[-_. ]?{_RATIO}")
_LOG10_HEADER = re.compile(rf"(.*[-_. ]|{_RATIO})?log10([-_. ].*|llr.*|{_RATIO}.*)?")
_RATIO_ALONE = re.compile(rf"((ln|log|log10)[-_. ]?)?{_RATIO}([-_. ]?log10)?")


@functools.lru_cache(maxsize=1 << 17)
def role_of(header: str) -> str:
    """Return the role that the name of a column suggests; by default a condition with this name.

    >>> role_of("sysA_llr"), role_of("llr_low")   # the bound of an interval is not a score
    ('score', '=llr_low')
    """
    name = _folded(header)
    if name in ROLE_OF_HEADER:
        return ROLE_OF_HEADER[name]
    is_score = (_SCORE_HEADER.fullmatch(name) and not _BOUND_HEADER.fullmatch(name)) or _RATIO_ALONE.fullmatch(name)
    return "score" if is_score else CONDITION + header.strip()


def _folded(header: str) -> str:
    """Return a header in lower case, with blanks in place of brackets: ``log10(LR)`` is ``log10 lr``."""
    return _BRACKETS.sub(" ", header).strip().casefold()


def declared_unit(header: str) -> ScoreUnit | None:
    """Return the unit that the name of a column of scores declares, or None.

    Examples
    --------
    >>> declared_unit("LR"), declared_unit("log10(LR)"), declared_unit("loglr"), declared_unit("score")
    ('lr', 'log10', 'nats', None)
    """
    name = _folded(header)
    if _LOG10_HEADER.fullmatch(name):
        return "log10"
    if _NATURAL_HEADER.fullmatch(name):
        return "nats"
    return "lr" if _RATIO_HEADER.fullmatch(name) else None


def unit_in_words(units: Iterable[ScoreUnit | None]) -> str:
    """Return the end of the message on how a file was read, given the units of its scores.

    Examples
    --------
    >>> unit_in_words(["lr"]), unit_in_words([None, "nats"])
    (', likelihood ratios (not logarithms)', '')
    """
    return "".join(UNIT_WORDS[unit] for unit in dict.fromkeys(units) if unit is not None)


def roles_of(headers: Sequence[str], name: str) -> tuple[str, ...]:
    """Return the roles of named columns; several may be scores, one for each system.

    Raises
    ------
    FormatError
        If two columns could have the same role, except scores.

    Examples
    --------
    >>> roles_of(["modelid", "segmentid", "side", "gender", "LLR"], "trials.tsv")
    ('enroll', 'test', 'side', '=gender', 'score')
    >>> roles_of(["segmentid", "cm-score"], "cm.tsv")
    ('trial', 'score')
    """
    roles = [role_of(header) for header in headers]
    if {"enroll", "test"} <= set(roles):
        spare = "trial"
    else:
        spare = "side"
        roles = ["trial" if role in ("enroll", "test") else role for role in roles]
    several = roles.count("trial") > 1  # a column called id names trials only if there is no other such column
    roles = [
        CONDITION + header if role == spare or (several and header.strip().casefold() == "id") else role
        for role, header in zip(roles, headers, strict=True)
    ]
    for role in ROLES:
        same = [header for header, r in zip(headers, roles, strict=True) if r == role]
        if role != "score" and len(same) > 1:
            raise FormatError(
                f"{name}: columns {' and '.join(same)} could both be the {role}. Choose one: "
                f"{option(columns=f'{role}={same[0]},...')}"
            )
    return tuple(roles)


def named_roles(columns: Mapping[str, str], headers: Sequence[str], name: str) -> tuple[str, ...]:
    """Return the roles of columns in a mapping ``{"trial": "utt", "score": "sysA|sysB"}``, by header or number from 1.

    Other columns are kept as conditions if there is a header; so are the two columns of a label ``"ONE==OTHER"``
    (`compared`).

    Raises
    ------
    FormatError
        If a column does not exist.
    """
    numbered, places = by_number(columns), places_of(columns, headers)
    roles = [IGNORED if numbered or not header else CONDITION + header for header in headers]
    for role, column in columns.items():
        if role == "label" and "==" in column and column not in places:
            for at in (places.get(part) for part in column.split("==")):
                if at is not None and roles[at] == IGNORED:
                    roles[at] = f"{CONDITION}column{at + 1}"
            continue
        for part in [column] if column in places else column.split("|"):
            if part not in places:
                raise FormatError(
                    f"{name}: no column {part!r} for the {role}; the columns are {shown_headers(headers)}."
                )
            roles[places[part]] = role
    return tuple(roles)


def by_number(columns: Mapping[str, str]) -> bool:
    """Return True if all columns are named by their numbers, so that there may be no header."""
    return all(part.isdigit() for column in columns.values() for part in re.split(r"\||==", column))


def places_of(columns: Mapping[str, str], headers: Sequence[str]) -> dict[str, int]:
    """Return the indices of columns by their headers, and by their numbers from 1 unless a header is this number.

    Examples
    --------
    >>> places_of({"trial": "1", "score": "s"}, ["", "s"])
    {'1': 0, '2': 1, 's': 1}
    """
    places = {str(at + 1): at for at in range(len(headers))}
    named = {} if by_number(columns) else {header: at for at, header in reversed(list(enumerate(headers))) if header}
    return places | named


EQUAL = "=="
"""Separator of the two columns."""


def compared(columns: Mapping[str, str], headers: Sequence[str], name: str) -> tuple[int, int] | None:
    """Return the indices of the two columns whose equality is the label; None if the label is a single column.

    Parameters
    ----------
    columns : mapping of str to str
        The column of each role, as in the option.
    headers : sequence of str
        Names of the columns.
    name : str
        Name of the file for messages.

    Raises
    ------
    FormatError
        If a column does not exist, or is compared with itself.

    Examples
    --------
    >>> compared({"score": "s", "label": "claimed==real"}, ["real", "claimed", "s"], "a.csv")
    (1, 0)
    """
    request = columns.get("label", "")
    if EQUAL not in request or request in headers:
        return None
    pair = request.split(EQUAL)
    places = places_of(columns, headers)
    for part in pair:
        if part not in places:
            raise FormatError(f"{name}: no column {part!r} for the label; the columns are {shown_headers(headers)}.")
    one, other = (places[part] for part in pair[:2])
    if len(pair) > 2 or one == other:
        raise FormatError(f"{name}: label={request} does not compare two different columns. Write label=ONE==OTHER.")
    return one, other


def shown_headers(headers: Sequence[str]) -> str:
    """Return the names of columns for messages, and the numbers of columns without a name."""
    return some_of([header or f"one without a name (number {at})" for at, header in enumerate(headers, 1)], most=_SHOWN)


def parse_columns(columns: Columns) -> dict[str, str] | list[str]:
    """Parse columns to a list of roles in order, or to a mapping of roles to header names or numbers.

    Raises
    ------
    InputError
        If a role is unknown or occurs twice.
    """
    if isinstance(columns, str):
        parts = [part.strip() for part in columns.split(",")]
        named = [part.split("=", 1) for part in parts]
        mixed = {len(pair) == 2 and bool(pair[0]) for pair in named}
        if len(mixed) > 1 and not any(part.startswith(CONDITION) for part in parts):
            odd = next(part for part in parts if "=" not in part)
            raise InputError(
                f"columns: {odd!r} is not ROLE=COLUMN like others. Write all like this, or roles in order."
            )
        columns = parts if not all(mixed) else _merged(named)
    _require_words(columns)
    in_order = not isinstance(columns, Mapping)
    role_counts = Counter(list(columns))
    for role in role_counts:
        free = in_order and (role == IGNORED or (role.startswith(CONDITION) and len(role) > 1))
        doubled = role_counts[role] > 1 and role not in (IGNORED, "score")
        if doubled or (role not in ROLES and not free):
            raise InputError(
                f"columns: {role!r} is {'given twice' if doubled else 'unknown'}. The roles are {', '.join(ROLES)}, "
                "- to ignore a column, and =NAME to keep it as a condition with this name."
            )
    return dict(columns) if isinstance(columns, Mapping) else list(columns)


def of_headers(columns: Columns, headers: Sequence[str]) -> Columns:
    """Return columns by role if the user listed names of columns instead of roles; otherwise unchanged.

    The only name of unknown meaning is the score. Columns that identify trials, or contain the label, are added.

    Raises
    ------
    InputError
        If two or more names have no known meaning.

    Examples
    --------
    >>> of_headers("label,prob", ["id", "label", "prob", "age"])
    {'trial': 'id', 'label': 'label', 'score': 'prob'}
    >>> of_headers("label,score", ["label", "prob"])
    'label,score'
    """
    parts = [part.strip() for part in columns.split(",")] if isinstance(columns, str) else []
    unknown = [part for part in parts if part not in (*ROLES, IGNORED)]
    if not unknown or any("=" in part for part in parts):
        return columns
    if odd := sorted((part for part in parts if part not in headers), key=lambda part: part in ROLES):
        neither = "a role, not" if odd[0] in ROLES else "neither a role nor"
        raise InputError(
            f"columns: {odd[0]!r} is {neither} the name of a column ({shown_headers(headers)}). Write names, "
            f"ROLE=COLUMN, or all roles in order. Roles: {', '.join(ROLES)}, - (ignored), =NAME (condition)."
        )
    roles = dict(zip(headers, roles_of(headers, ""), strict=True))
    free = [part for part in parts if roles[part].startswith(CONDITION)]
    scores = [part for part in parts if roles[part] == "score"] or free
    entries = {role: header for header, role in roles.items() if role in (*IDENTITY, "label", "class")}
    if len(free) > 1 or (free and scores != free):
        known = [f"{role}={header}" for role, header in entries.items()]
        raise InputError(
            f"columns: {' and '.join(free)} could be scores or something else. Name the role of each column: "
            f"{option(columns=','.join([*known, f'score={scores[0]}']))}."
        )
    return entries | ({"score": "|".join(scores)} if scores else {})


def _require_words(columns: object) -> None:
    """Raise if columns are neither roles in order nor a mapping of roles to names or numbers of columns."""
    items = [*columns, *columns.values()] if isinstance(columns, Mapping) else columns
    if not isinstance(items, Iterable) or not all(isinstance(word, str) for word in items):
        raise InputError(
            f"columns: got {columns!r}. Write the roles in order ('enroll,test,score'), or the column of each role, "
            "by name or number: {'trial': 'utt', 'score': '3'}."
        )


def _merged(lines: Sequence[Sequence[str]]) -> dict[str, str]:
    """Return roles with their columns; several scores may be written as score=A|B or as score=A,score=B."""
    columns: dict[str, str] = {}
    for role, column in lines:
        if role in columns and role != "score":
            raise InputError(f"columns: {role!r} is given twice, as {columns[role]!r} and as {column!r}.")
        columns[role] = f"{columns[role]}|{column}" if role in columns else column
    return columns


_MAYBE_LABELS = frozenset(("target", "targets", "y"))
"""Names of columns that are labels if their words mean target and non-target, or are names of other columns."""

_MEASURE = re.compile(
    r"(.*[-_. ])?(dur|duration|snr|db|age|weights?|length|len|seconds?|secs?|time|frames?|year|month|day|fold|split|"
    r"session|rate|height|width|size|number|num|n|count|channel|yaw|pitch|roll|quality)([-_. ].*)?"
)
"""Names of columns that describe trials; they are not scores if another column of numbers may be the score."""

_ROW_NAME = re.compile(r"__index_level_\d+__|unnamed: ?\d+|(.*[-_. ])?(id|idx|index|row|nr|no|#)")
"""Names of columns that name or count rows."""

_NUMBERED = re.compile(r"(.*?)(0|[1-9]\d*)")

_OF_TWO = re.compile(r"(.*[-_. ])?class[-_. ]?0")
"""Names of the first of two numbered columns that are the scores of classes 0 and 1, not of two systems."""

_WHOLE = re.compile(r"(0|[1-9]\d*)\.0")

MOST_WORDS = 4
"""Largest number of different values of a column that may contain labels."""

USUAL_WORDS = Vocabulary.of(None)

_FEWEST = 3
"""Smallest number of columns of numbers besides a label that count as scores of classes."""


def may_be_label(header: str) -> bool:
    """Return True if a column with this name can be the label, depending on its words.

    >>> may_be_label("target"), may_be_label("prob")
    (True, False)
    """
    return _folded(header) in _MAYBE_LABELS


def label_candidate(roles: Sequence[str], headers: Sequence[str]) -> int | None:
    """Return the position of the column that could be the label; None if there is a label, or no such column.

    It is the column of the true class, or a single column called ``target`` or ``y``.

    Examples
    --------
    >>> label_candidate(["=y", "=prob"], ["y", "prob"]), label_candidate(["label", "=y"], ["label", "y"])
    (0, None)
    """
    if "label" in roles:
        return None
    if "class" in roles:
        return roles.index("class")
    items = [at for at, role in enumerate(roles) if role.startswith(CONDITION) and may_be_label(headers[at])]
    return items[0] if len(items) == 1 else None


@dataclass(frozen=True, slots=True)
class Titles:
    """Titles of columns, and facts about the values below them; methods take and return the role of each column.

    Attributes
    ----------
    headers : sequence of str
    numeric : sequence of bool
        True for columns of numbers.
    words : function of int
        Returns the values in a sample of a column.
    vocabulary : Vocabulary

    Examples
    --------
    >>> table = Titles(["class", "logit"], [True, True], lambda at: ["0", "1"], Vocabulary.of(None))
    >>> table.labelled(["class", "=logit"])
    ('label', 'score')
    >>> table = Titles(["y", "a", "b"], [False, True, True], lambda at: ["b", "a"], Vocabulary.of(None))
    >>> table.labelled(["=y", "=a", "=b"]), table.label_names_classes(["label", "=a", "=b"])
    (('label', '=a', '=b'), True)
    """

    headers: Sequence[str]
    numeric: Sequence[bool]
    words: Callable[[int], Collection[str]]
    vocabulary: Vocabulary

    def labelled(self, roles: Sequence[str]) -> tuple[str, ...]:
        """Return roles in which the candidate is the label, if its words and the other columns allow it.

        Either its words mean target and non-target, and there is one score; or it is not called a class, and its words
        are names of the other columns of numbers.
        """
        candidate = label_candidate(roles, self.headers)
        if candidate is None:
            return tuple(roles)
        labelled = tuple("label" if at == candidate else role for at, role in enumerate(roles))
        scored = self.with_only_score(labelled)
        if scored.count("score") == 1:
            words = self.words(candidate)
            known = self.vocabulary.within(words)
            if {known.meaning(word) for word in words} == {True, False}:
                return scored
        if roles[candidate] != "class" and self.label_names_classes(labelled):
            columns, words = self._scores_and_numbers(labelled), self.words(candidate)
            named = {*words} <= words_of_columns(columns, in_order=False).keys()
            in_order = {plain_word(word) for word in words} == set(map(str, range(len(columns))))
            if named or in_order or _are_of_two(columns) or _numbered(columns):
                return labelled
        return tuple(roles)

    def with_only_score(self, roles: Sequence[str]) -> tuple[str, ...]:
        """Return roles in which the only column of numbers besides a label is the score, whatever its name.

        Columns that count or name rows are excluded. Measures of a trial, such as its duration or age, are excluded if
        trials have names or there is another column of numbers, because the table may be a key. Nothing changes if
        there is already a score, or if there is no label.
        """
        if "score" in roles or "label" not in roles:
            return tuple(roles)
        free = self._free_numbers(roles)
        likely = [at for at in free if not names_measure(self.headers[at])]
        chosen = likely or ([] if identity_of(roles) else free)
        return tuple("score" if [at] == chosen else role for at, role in enumerate(roles))

    def label_names_classes(self, roles: Sequence[str]) -> bool | None:
        """Return True if a label names one of several classes, False if targets and non-targets, None if undecided."""
        if "label" not in roles or "class" in roles or len(identity_of(roles)) > 1:
            return None
        words = self.words(list(roles).index("label"))
        known = self.vocabulary.within(words)
        if not known.folded or not words:
            return False if words else None
        free = [self.headers[at] for at in self._free_numbers(roles)]
        are_whole = all(_NUMBERED.fullmatch(plain_word(word)) and plain_word(word).isdecimal() for word in words)
        if all(known.meaning(word) is not None for word in words):
            numbered = _are_of_two(free) or (len(free) >= _FEWEST and bool(_numbered(free)))
            return "score" not in roles and are_whole and numbered
        columns = self._scores_and_numbers(roles)
        if len(columns) == 1:
            return False
        if len(columns) > 1 and {*words} <= words_of_columns(columns, in_order=False).keys():
            return True
        return len({*words}) > 2 or (are_whole and len(columns) >= _FEWEST)

    def meant(self, roles: Sequence[str], need: str | None) -> tuple[str, ...]:
        """Return roles for a kind of table; of class scores, the label becomes the class."""
        if need == "scores":
            return self.with_only_score(roles)
        return with_classes_of_label(roles) if need in ("class-scores", "class-key") else tuple(roles)

    def _scores_and_numbers(self, roles: Sequence[str]) -> list[str]:
        scores = [header for header, role in zip(self.headers, roles, strict=True) if role == "score"]
        return scores + [self.headers[at] for at in self._free_numbers(roles)]

    def _free_numbers(self, roles: Sequence[str]) -> list[int]:
        """Return the indices of columns of numbers that have no other meaning and do not name or count rows."""
        free = [at for at, role in enumerate(roles) if role.startswith(CONDITION) and role != CONDITION]
        return [at for at in free if self.numeric[at] and not names_row(self.headers[at])]


def with_classes_of_label(roles: Sequence[str]) -> tuple[str, ...]:
    """Return roles in which the label becomes the true class, if there is no class and trials have at most one name.

    Examples
    --------
    >>> with_classes_of_label(["trial", "=eng", "=fra", "label"])
    ('trial', '=eng', '=fra', 'class')
    """
    if "class" in roles or len(identity_of(roles)) > 1:
        return tuple(roles)
    return tuple("class" if role == "label" else role for role in roles)


def without_other_numbers(roles: Sequence[str], headers: Sequence[str]) -> tuple[str, ...]:
    """Return roles in which only numbered columns are scores of classes, if some scores are numbered without gaps.

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


def _are_of_two(columns: Sequence[str]) -> bool:
    """Return True for the names of the scores of classes 0 and 1, such as ``class_0`` and ``class_1``."""
    return len(columns) == 2 and bool(_OF_TWO.fullmatch(_folded(columns[0]))) and columns[1] == f"{columns[0][:-1]}1"


def fits_label(kind: str, roles: Sequence[str], of_classes: bool | None) -> bool:  # noqa: FBT001
    """Return True if a table can be read as a kind, given the result of `Titles.label_names_classes`.

    Two or more columns called scores may still be scores of classes, with another file as their key.
    """
    if of_classes is None or (kind == "class-scores" and roles.count("score") > 1):
        return True
    return of_classes == kind.startswith("class-")


def words_of_columns(columns: Sequence[str], *, in_order: bool) -> dict[str, int]:
    """Return words for the class of each column, with the index of the column.

    A class has the name of its column, also without the parts that all columns share: ``prob_eng`` and ``prob_fra`` are
    eng and fra.

    Parameters
    ----------
    columns : sequence of str
    in_order : bool
        If True, numbers from 0 are also words for the columns in order, unless the name of a column is a number.

    Examples
    --------
    >>> words_of_columns(["p_a", "p_b"], in_order=True)
    {'p_a': 0, 'p_b': 1, 'a': 0, 'b': 1, '0': 0, '1': 1}
    """
    entries = {name: at for at, name in enumerate(columns)}
    short = _without_shared(columns)
    entries |= {name: at for at, name in enumerate(short) if name not in entries}
    if in_order and not any(plain_word(name).isdecimal() for name in entries):
        entries |= {str(at): at for at in range(len(columns))}
    return entries


def counts_columns(headers: Sequence[str]) -> bool:
    """Return True if columns are called by their numbers from 0 or 1, so that the line is a header.

    >>> counts_columns(["0", "1", "2"]), counts_columns(["0.5", "1"])
    (True, False)
    """
    return tuple(headers) in (tuple(map(str, range(start, start + len(headers)))) for start in (0, 1))


def plain_word(word: str) -> str:
    """Remove the decimals that data frames write for an integer (``3.0`` becomes 3); return other words unchanged."""
    whole = _WHOLE.fullmatch(word)
    return word if whole is None else whole[1]


def _without_shared(columns: Sequence[str]) -> list[str]:
    """Return names of columns without the parts that all begin or end with; numbers are kept whole."""
    numbered = _numbered(columns)
    if numbered and len(numbered) == len(columns):
        return [_NUMBERED.fullmatch(name)[2] for name in columns]  # type: ignore[index]
    begin = re.sub(r"[^-_. ]*$", "", _shared_start(columns))
    rest = [name[len(begin) :] for name in columns]
    end = re.sub(r"^[^-_. ]*", "", _shared_start([name[::-1] for name in rest])[::-1])
    short = [name[: len(name) - len(end)] for name in rest]
    return short if all(short) and len({*short}) == len(columns) else list(columns)


def _shared_start(words: Sequence[str]) -> str:
    """Return the characters that all words begin with."""
    return os.path.commonprefix(list(words))  # noqa: RUF071  # these are not paths


def _numbered(headers: Sequence[str]) -> frozenset[str]:
    """Return the largest group of columns that are numbered from 0 or 1 without gaps; empty if it is too small."""
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


def names_row(header: str) -> bool:
    """Return True for a column that counts or names rows.

    >>> names_row("__index_level_0__"), names_row("file_id"), names_row("prob")
    (True, True, False)
    """
    return _ROW_NAME.fullmatch(_folded(header)) is not None


def names_measure(header: str) -> bool:
    """Return True for a column whose name is a measure of trials, such as their duration.

    >>> names_measure("duration_s"), names_measure("prob")
    (True, False)
    """
    return _MEASURE.fullmatch(_folded(header)) is not None


def words_in_options(words: Sequence[str]) -> list[str]:
    """Return options that define which words mean target, one for each possibility; empty if there are too many words.

    Words with known meanings keep them, so no option reverses the truth.

    Examples
    --------
    >>> words_in_options(["imp", "tgt"])
    ['labels={"target": "tgt", "nontarget": "imp"}']
    >>> words_in_options(["bona", "spoof"])
    ['labels={"target": "bona", "nontarget": "spoof"}']
    >>> words_in_options(["left", "right"])
    ['labels={"target": "left", "nontarget": "right"}', 'labels={"target": "right", "nontarget": "left"}']
    """
    if not 1 < len(words) <= MOST_WORDS or any(set(word) & set(",|=") or not word for word in words):
        return []
    known = USUAL_WORDS.within(words)
    targets = [word for word in words if known.meaning(word) is True]
    others = [word for word in words if known.meaning(word) is False]
    unknown = [word for word in words if known.meaning(word) is None]
    sides = [(targets, [*others, *unknown]), ([*targets, *unknown], others)]
    if not targets and not others:  # first the word that ends another one, as in same and not-same
        words = sorted(words, key=lambda w: not any(other != w and other.endswith(w) for other in words))
        sides = [([w], [other for other in words if other != w]) for w in words]
    sides = [(tar, non) for tar, non in sides if tar and non][: None if unknown else 1]
    return [labels_option("|".join(tar), "|".join(non)) for tar, non in sides]


def labels_option(target: str = "WORD", nontarget: str = "WORD", **more: str) -> str:
    """Return the option that defines the words for target and non-target."""
    return option(labels={"target": target, "nontarget": nontarget, **more})


def unknown_label(word: str, vocabulary: Vocabulary, place: str = "") -> str:
    """Return the message about a label without a meaning; ``place`` follows the word."""
    return f"unknown label {word!r}{place}. Define your words: {labels_option()}. Known words: {vocabulary}"
