"""What the names of columns mean, and which words are labels; the same for text, Parquet, Arrow and data frames."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from deciban.errors import FormatError, InputError
from deciban.types import ScoreUnit

IDENTITY = ("enroll", "test", "side", "trial")
ROLES = (*IDENTITY, "score", "label", "class")
IGNORED = "-"
CONDITION = "="
"""A role that begins with this sign is a condition column of the name that follows."""

UNIT_WORDS: Mapping[ScoreUnit, str] = {"nats": "", "log10": ", log10", "lr": ", likelihood ratios (not logarithms)"}
"""The end of the message on how a file was read, by the unit of its scores."""

_SHOWN = 10

MOST_SHOWN = 12
"""Columns that are named where it is said how a file was read."""

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
    """The role that the name of a column suggests; a condition of that name if none.

    >>> role_of("sysA_llr"), role_of("llr_low")   # the bound of an interval is the score of no system
    ('score', '=llr_low')
    """
    name = _folded(header)
    if name in ROLE_OF_HEADER:
        return ROLE_OF_HEADER[name]
    is_score = (_SCORE_HEADER.fullmatch(name) and not _BOUND_HEADER.fullmatch(name)) or _RATIO_ALONE.fullmatch(name)
    return "score" if is_score else CONDITION + header.strip()


def _folded(header: str) -> str:
    """Return a header in small letters, with blanks in place of brackets: ``log10(LR)`` is ``log10 lr``."""
    return _BRACKETS.sub(" ", header).strip().casefold()


def declared_unit(header: str) -> ScoreUnit | None:
    """Return the unit that the name of a column of scores declares; None if it declares none.

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
    """Return the end of the message on how a file was read, by the units of its columns of scores.

    Examples
    --------
    >>> unit_in_words(["lr"]), unit_in_words([None, "nats"])
    (', likelihood ratios (not logarithms)', '')
    """
    return "".join(UNIT_WORDS[unit] for unit in dict.fromkeys(units) if unit is not None)


def roles_of(headers: Sequence[str], name: str) -> tuple[str, ...]:
    """The roles of named columns; several may be scores, each of another system.

    Raises
    ------
    FormatError
        If two columns could both be the same side or label of a trial.

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
    several = roles.count("trial") > 1  # a plain id names trials only where nothing else does
    roles = [
        CONDITION + header if role == spare or (several and header.strip().casefold() == "id") else role
        for role, header in zip(roles, headers, strict=True)
    ]
    for role in ROLES:
        same = [header for header, r in zip(headers, roles, strict=True) if r == role]
        if role != "score" and len(same) > 1:
            raise FormatError(
                f"{name}: columns {' and '.join(same)} could both be the {role}. Choose one: "
                f"--columns {role}={same[0]},..."
            )
    return tuple(roles)


def named_roles(columns: Mapping[str, str], headers: Sequence[str], name: str) -> tuple[str, ...]:
    """The roles of columns that the user named: ``{"trial": "utt", "score": "sysA|sysB"}``, by header or number from 1.

    Columns that are not named are kept as conditions where there is a header; so are the two columns of a label
    ``"ONE==OTHER"`` (`compared`).

    Raises
    ------
    FormatError
        If there is no such column.
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
                raise FormatError(f"{name}: no column {part!r} for the {role}; there are {shown_headers(headers)}.")
            roles[places[part]] = role
    return tuple(roles)


def by_number(columns: Mapping[str, str]) -> bool:
    """Whether all columns are named by their numbers, so that nothing says that there is a header."""
    return all(part.isdigit() for column in columns.values() for part in re.split(r"\||==", column))


def places_of(columns: Mapping[str, str], headers: Sequence[str]) -> dict[str, int]:
    """The positions of columns by their headers, and by their numbers from 1 where none is called so.

    Examples
    --------
    >>> places_of({"trial": "1", "score": "s"}, ["", "s"])
    {'1': 0, '2': 1, 's': 1}
    """
    places = {str(at + 1): at for at in range(len(headers))}
    named = {} if by_number(columns) else {header: at for at, header in reversed(list(enumerate(headers))) if header}
    return places | named


EQUAL = "=="
"""What stands between the two columns."""


def compared(columns: Mapping[str, str], headers: Sequence[str], name: str) -> tuple[int, int] | None:
    """The positions of the two columns whose equality is the label; None if one column is, or none.

    Parameters
    ----------
    columns : mapping of str to str
        What the user named: the column of each role.
    headers : sequence of str
        What the columns are called.
    name : str
        What messages call the file.

    Raises
    ------
    FormatError
        If there is no such column, or it is compared with itself.

    Examples
    --------
    >>> compared({"score": "s", "label": "claimed==real"}, ["real", "claimed", "s"], "a.csv")
    (1, 0)
    """
    asked = columns.get("label", "")
    if EQUAL not in asked or asked in headers:
        return None
    pair = asked.split(EQUAL)
    places = places_of(columns, headers)
    for part in pair:
        if part not in places:
            raise FormatError(f"{name}: no column {part!r} for the label; there are {shown_headers(headers)}.")
    one, other = (places[part] for part in pair[:2])
    if len(pair) > 2 or one == other:
        raise FormatError(f"{name}: label={asked} does not compare two different columns. Write label=ONE==OTHER.")
    return one, other


def shown_headers(headers: Sequence[str]) -> str:
    """The names of columns, for messages; of those without one, their number."""
    return some_of([header or f"one without a name (number {at + 1})" for at, header in enumerate(headers)], ", ")


def some_of(words: Sequence[str], separator: str = " ", most: int = _SHOWN) -> str:
    """All words, or of more than ``most`` the first ones and how many more there are.

    Examples
    --------
    >>> some_of([f"c{i}" for i in range(10_000)])[-26:]
    'c6 c7 c8 c9 and 9,990 more'
    """
    if len(words) <= most:
        return separator.join(words)
    return f"{separator.join(words[:most])} and {len(words) - most:,} more"


def parse_columns(columns: Columns) -> dict[str, str] | list[str]:
    """Columns as a list of roles in order, or as roles with the header name (or number) of their column.

    Raises
    ------
    InputError
        If a role is unknown or given twice.
    """
    if isinstance(columns, str):
        parts = [part.strip() for part in columns.split(",")]
        named = [part.split("=", 1) for part in parts]
        mixed = {len(pair) == 2 and bool(pair[0]) for pair in named}
        if len(mixed) > 1 and not any(part.startswith(CONDITION) for part in parts):
            raise InputError(
                f"columns: {columns!r} mixes names and positions. Write enroll,test,score or score=llr,..."
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
                "- for a column to ignore, and =NAME for one to keep under that name."
            )
    return dict(columns) if isinstance(columns, Mapping) else list(columns)


def of_headers(columns: Columns, headers: Sequence[str]) -> Columns:
    """Return columns by role where a user listed names of columns in place of roles; other columns as they are.

    The only name of unknown meaning is that of the score. Columns that name trials, or hold the label, stay.

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
    if not set(parts) - {*ROLES, IGNORED} or not set(parts) <= set(headers):
        return columns
    roles = dict(zip(headers, roles_of(headers, ""), strict=True))
    free = [part for part in parts if roles[part].startswith(CONDITION)]
    scores = [part for part in parts if roles[part] == "score"] or free
    found = {role: header for header, role in roles.items() if role in (*IDENTITY, "label", "class")}
    if len(free) > 1 or (free and scores != free):
        known = ",".join(f"{role}={header}" for role, header in found.items())
        raise InputError(
            f"columns: {' and '.join(free)} could be scores, or something else. Name the role of each column: "
            f"--columns {known + ',' if known else ''}score={'|'.join(dict.fromkeys([*scores, *free]))}."
        )
    return found | ({"score": "|".join(scores)} if scores else {})


def _require_words(columns: Any) -> None:
    """Refuse columns that are neither roles in order nor a mapping of roles to names or numbers of columns."""
    listed = [*columns, *columns.values()] if isinstance(columns, Mapping) else columns
    if not isinstance(listed, Iterable) or not all(isinstance(word, str) for word in listed):
        raise InputError(
            f"columns: got {columns!r}. Write the roles in order, as 'enroll,test,score', or the column of each role, "
            "by name or number: {'trial': 'utt', 'score': '3'}."
        )


def _merged(named: Sequence[Sequence[str]]) -> dict[str, str]:
    """Roles with their columns; several scores may be written as score=A|B or as score=A,score=B."""
    columns: dict[str, str] = {}
    for role, column in named:
        if role in columns and role != "score":
            raise InputError(f"columns: {role!r} is given twice, as {columns[role]!r} and as {column!r}.")
        columns[role] = f"{columns[role]}|{column}" if role in columns else column
    return columns


def identity_of(roles: Sequence[str]) -> tuple[str, ...]:
    """The columns that identify a trial; none if there are no such columns."""
    sides = tuple(role for role in IDENTITY if role in roles)
    return sides if sides in (("enroll", "test"), ("enroll", "test", "side"), ("trial",)) else ()


NEEDED_ROLE: dict[str | None, str] = {"scores": "score", "class-scores": "score", "key": "label", "class-key": "class"}
"""The column without which a table does not hold what it should; for an index the names are enough."""


def could_hold(roles: Sequence[str], kind: str) -> bool:
    """Whether columns of these roles could be read as a kind of table; several scores are those of classes, too."""
    if kind == "class-scores":
        return len(identity_of(roles)) < 2 and roles.count("score") > 1
    return NEEDED_ROLE[kind] in roles
