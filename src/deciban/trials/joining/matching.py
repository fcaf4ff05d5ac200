"""How the trials of a key and of what was made for it meet: counted, named or refused, whatever belongs to them."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import numpy as np

from deciban.errors import InputError, KeyMismatchError, MissingScoresError
from deciban.messages import WARNING, Message, counted
from deciban.trials.joining.lookup import Wanted
from deciban.trials.joining.renaming import Renamed, Renaming, near_names
from deciban.trials.lists import PAIR, ROW, Trials
from deciban.trials.tables import TrialTable
from deciban.types import AnyArray, IntArray, ScoreArray

Missing: TypeAlias = Literal["error", "drop"] | float
Duplicates: TypeAlias = Literal["error", "keep-one"]

Table = TypeVar("Table", bound=TrialTable)

_HINT_SAMPLE = 10_000


@dataclass(frozen=True, slots=True)
class JoinReport:
    """How the trials of a key and of score files met.

    Attributes
    ----------
    matched : int
        Key trials that every system scored.
    missing : int
        Key trials that at least one system did not score.
    extra : int
        Scores of trials that are not in the key, of all systems together.
    duplicate : int
        Surplus copies that were left out, of key and scores together.
    copies : tuple of (str, int)
        The same for the key and for each table of scores, by the names of their files.
    renamed : tuple of (str, int)
        How many names of each of them were compared by another name; empty if all were compared as they are.
    """

    matched: int
    missing: int
    extra: int
    duplicate: int
    copies: tuple[tuple[str, int], ...] = field(default=(), repr=False, compare=False)
    renamed: tuple[tuple[str, int], ...] = field(default=(), repr=False, compare=False)

    def to_dict(self) -> dict[str, int]:
        """The counts, as JSON has them."""
        return {name: getattr(self, name) for name in ("matched", "missing", "extra", "duplicate")}

    def left_out(self, missing: Missing, noun: str) -> list[Message]:
        """Return the warning that trials without a score are left out, if ``missing`` is ``"drop"`` and there are some.

        Examples
        --------
        >>> print(*JoinReport(300, 100, 0, 0).left_out("drop", "trial"))
        warn  100 of 400 trials left out: not every system has a score of them
        """
        if missing != "drop" or not self.missing:
            return []
        n = counted(self.matched + self.missing, noun)
        return [Message(WARNING, "", f"{self.missing:,} of {n} left out: not every system has a score of them")]


@dataclass(frozen=True, slots=True, eq=False)
class Match(Generic[Table]):
    """Where the trials of a key stand in other tables.

    Attributes
    ----------
    key : table of trials
        Each trial once, in its own order, and without those that were dropped.
    rows : tuple of int arrays or None
        For each other table the row of every trial, -1 for one to be filled; None if it is row after row.
    report : JoinReport
    """

    key: Table
    rows: tuple[IntArray | None, ...]
    report: JoinReport


def match(
    tables: Sequence[TrialTable],
    key: Table,
    missing: Missing,
    duplicates: Duplicates,
    *,
    by_order: bool = False,
    ids: Renaming | None = None,
) -> Match[Table]:
    """Find every trial of a key in other tables; trials dropped for one are dropped for all.

    By order it is row after row: no name is looked at, so trials that occur twice are nothing special. With ``ids``,
    trials are compared by other names than those that they have, and keep.

    Raises
    ------
    KeyMismatchError
        If trials are missing, duplicate or conflicting; by order, if there are not as many rows everywhere.
    InputError
        If there is no table, or a policy is none.
    """
    if not tables:
        raise InputError("systems: none given. Alignment needs at least one set of scores.")
    check_policies(missing, duplicates)
    if by_order:
        refuse_names_by_order(ids)
        return _by_order(tables, key)
    for table in tables:
        require_comparable(table.trials, key.trials)
    own = Renamed(key.trials) if ids is None else ids.of_key(key.trials)
    wanted, renamed = Wanted(own.trials), [(key.trials.origin.name, own.n_changed)]
    copies = [(key.trials.origin.name, _n_refused_or_left_out(key, wanted.surplus, duplicates))]
    if copies[0][1]:
        kept = np.delete(np.arange(len(key)), wanted.surplus[1])
        key = key.take(kept)
        wanted = Wanted(key.trials if ids is None else own.trials.take(kept))
    rows: list[IntArray | None] = []
    extra = 0
    for table in tables:
        name = table.trials.origin.name
        other = Renamed(table.trials) if ids is None else ids.of_scores(table.trials)
        found = wanted.find(other.trials)
        rows.append(found.rows)
        extra += found.n_extra
        copies.append((name, _n_refused_or_left_out(table, found.copies, duplicates)))
        renamed.append((name, other.n_changed))
    lacking = np.zeros(len(key), np.bool_)
    for found_rows in rows:
        if found_rows is not None:
            lacking |= found_rows < 0
    n_missing = int(np.count_nonzero(lacking))
    surplus, changed = sum(n for _, n in copies), tuple(renamed) if ids is not None else ()
    report = JoinReport(len(lacking) - n_missing, n_missing, extra, surplus, tuple(copies), changed)
    if n_missing and (missing == "error" or (missing == "drop" and not report.matched)):
        refusal = MissingScoresError if report.matched else KeyMismatchError
        raise refusal(_missing_message(tables, rows, key, ids))
    if n_missing and missing == "drop":
        there = np.flatnonzero(~lacking)
        rows = [there if found_rows is None else found_rows[there] for found_rows in rows]
        key = key.take(there)
    return Match(key, tuple(rows), report)


def refuse_names_by_order(ids: Renaming | None) -> None:
    """Refuse other names where no names are compared.

    Raises
    ------
    InputError
    """
    if ids is not None:
        raise InputError("ids, by_order: by order no names are compared. Leave one of the two out.")


def _by_order(tables: Sequence[TrialTable], key: Table) -> Match[Table]:
    for table in tables:
        if len(table) != len(key):
            raise KeyMismatchError(
                f"{table.trials.origin.name} holds {counted(len(table), 'score')}, {key.trials.origin.name} "
                f"{counted(len(key), 'trial')}. Matching by order needs as many of one as of the other."
            )
    return Match(key, (None,) * len(tables), JoinReport(len(key), 0, 0, 0))


def picked(score: ScoreArray, rows: IntArray | None, missing: Missing) -> ScoreArray:
    """Scores of these rows, and the score to fill in where there is none; float32 stays where it can hold that."""
    if rows is None:
        return score
    chosen = score[rows] if len(score) else np.zeros((len(rows), *score.shape[1:]), score.dtype)
    if not isinstance(missing, str):
        fill = float(missing)
        with np.errstate(over="ignore"):
            if float(chosen.dtype.type(fill)) != fill:
                chosen = chosen.astype(np.float64)
        chosen[rows < 0] = fill
    return chosen


def require_same_sides(offered: Trials, wanted: Trials) -> None:
    """Refuse to compare trials that are not identified in the same way.

    Raises
    ------
    KeyMismatchError
    """
    if offered.sides == wanted.sides:
        return
    reason = (
        f"{offered.origin.name} identifies a trial by {' and '.join(offered.sides)}, "
        f"{wanted.origin.name} by {' and '.join(wanted.sides)}."
    )
    if ROW in (offered.sides, wanted.sides):
        way = "What has no names can only be matched by order: by_order=True (--by-order)."
    elif {"side"} == set(offered.sides) ^ set(wanted.sides):
        way = "If the side does not matter, ignore it by naming the other columns: --columns or --key-columns."
    else:
        way = "Name the columns of both files."
    raise KeyMismatchError(f"{reason} {way}")


def require_comparable(offered: Trials, wanted: Trials) -> None:
    """Refuse to look up trials that are not identified in the same way, or by the rows of lists of two lengths.

    Where only the row tells trials apart, one row that is missing or too many shifts all that follow.

    Raises
    ------
    KeyMismatchError
    """
    require_same_sides(offered, wanted)
    if offered.sides != ROW or offered.n_rows is None or wanted.n_rows in (None, offered.n_rows):
        return
    raise KeyMismatchError(
        f"{offered.origin.name} has {counted(offered.n_rows, 'row')}, {wanted.origin.name} {wanted.n_rows:,}. Their "
        "trials have no names and are told apart by their rows, so that one must have as many as the other: if a row "
        "is missing, all behind it belong to other trials. Bring the row that is missing, or give the trials names; if "
        "rows are left out on purpose, take them out of the longer one as well (Scores.take, Key.take) and match by "
        "order (by_order=True, --by-order)."
    )


def refuse_conflict(table: TrialTable, copies: IntArray) -> None:
    """Refuse copies of a trial that do not hold the same.

    Raises
    ------
    KeyMismatchError
        If there is one.
    """
    if table.content is None:
        return
    differs: AnyArray = table.content[copies[0]] != table.content[copies[1]]
    differs = np.any(differs, axis=1) if differs.ndim == 2 else differs
    if not np.any(differs):
        return
    first, second = (int(row) for row in copies[:, np.argmax(differs)])
    raise conflict_of(table.trials, (first, second), table.conflict, len(np.unique(copies[0][differs])))


def conflict_of(trials: Trials, rows: tuple[int, int], conflict: str, n_trials: int) -> KeyMismatchError:
    """The error of copies of so many trials that do not hold the same, of which these rows are the first."""
    first, second = rows
    return KeyMismatchError(
        f"{trials.origin.where(first)} and {trials.origin.where(second)}: trial {trials.name_of(first)} "
        f"{conflict}{such_trials(n_trials)}. Remove one of the two lines; or, if these "
        "names do not tell the trials apart, match them row by row (by_order=True, --by-order)."
    )


def such_trials(n_trials: int) -> str:
    """How many trials a message is about; nothing where it is one."""
    return f" ({n_trials:,} such trials)" if n_trials > 1 else ""


def refuse_copies(trials: Trials, copies: IntArray) -> None:
    """Refuse trials that occur more than once, naming both places of the first.

    Raises
    ------
    KeyMismatchError
    """
    first, second = (int(row) for row in copies[:, 0])
    raise copies_of(trials, (first, second), len(np.unique(copies[0])))


def copies_of(trials: Trials, rows: tuple[int, int], n_trials: int) -> KeyMismatchError:
    """Return the error on trials that occur more than once; ``rows`` are two places of the first."""
    first, second = rows
    return KeyMismatchError(
        f"{trials.origin.where(first)} and {trials.origin.where(second)}: trial {trials.name_of(first)} occurs more "
        f"than once ({counted(n_trials, 'such trial')}). "
        'Remove the copies, or pass duplicates="keep-one" (--duplicates keep-one) if they say the same.'
    )


def none_shared(offered: str, wanted: str, begin: str = "", more: str = "") -> str:
    """Say that scores and key share no trial."""
    return (
        f"{offered} and {wanted} share no trial{begin}. Check that both belong to one evaluation{more}, and name the "
        "columns if they were taken wrongly."
    )


def some_missing(offered: str, trials: Trials, rows: Sequence[int], counts: tuple[int, int], which: str) -> str:
    """Say how many of how many trials have no score, of which these rows are the first."""
    names = ", ".join(trials.name_of(row) for row in rows)
    return (
        f"{counts[0]:,} of {counts[1]:,} {which} have no score in {offered}, the first {names} "
        f'({trials.origin.where(rows[0])}). Pass missing="drop" (--missing drop) to leave them out, or a score to fill '
        "in (--missing fill=VALUE)"
    )


def check_policies(missing: Any, duplicates: str) -> None:
    """Refuse what is no policy for missing trials or duplicates.

    Raises
    ------
    InputError
    """
    check_duplicates(duplicates)
    if isinstance(missing, str):
        accepted = missing in ("error", "drop")
    else:
        accepted = not isinstance(missing, bool) and isinstance(missing, numbers.Real)
        try:
            accepted = accepted and not math.isnan(missing)
        except OverflowError:
            accepted = False
    if not accepted:
        raise InputError(f"missing: expected 'error', 'drop' or a score to fill in, got {missing!r}.")


def check_duplicates(duplicates: str) -> None:
    """Refuse words that are no policy.

    Raises
    ------
    InputError
    """
    if duplicates not in ("error", "keep-one"):
        raise InputError(f"duplicates: expected 'error' or 'keep-one', got {duplicates!r}.")


def _n_refused_or_left_out(table: TrialTable, copies: IntArray, duplicates: Duplicates) -> int:
    """Count surplus rows, or refuse them."""
    n_copies = int(copies.shape[1])
    if n_copies:
        refuse_conflict(table, copies)
        if duplicates == "error":
            refuse_copies(table.trials, copies)
    return n_copies


def _missing_message(
    tables: Sequence[TrialTable], rows: Sequence[IntArray | None], key: TrialTable, ids: Renaming | None
) -> str:
    offered, lacking = next(
        (table.trials, np.flatnonzero(found < 0))
        for table, found in zip(tables, rows, strict=True)
        if found is not None and np.any(found < 0)
    )
    trials = key.trials
    near = near_names(offered, trials, len(key) - len(lacking)) if ids is None else None
    other_names = "" if near is None else f' Of the key trials, {near}: ids="{near.option}" (--ids {near.option}).'
    swapped = _swapped_hint(offered, trials)
    if len(lacking) == len(key):
        theirs = f"the scores with {offered.name_of(0)}" if len(offered) else "there are no scores"
        begin = f": the key begins with {trials.name_of(0)}, {theirs}"
        return none_shared(offered.origin.name, trials.origin.name, begin, swapped) + other_names
    if np.logical_or.reduce([found < 0 for found in rows if found is not None]).all():
        names = ", ".join(table.trials.origin.name for table in tables)
        return f"No trial of {trials.origin.name} has a score in each of {names}: nothing is left to evaluate."
    which = "key trials" if key.content is not None else f"trials of {trials.origin.name}"
    first, counts = [int(row) for row in lacking[:3]], (len(lacking), len(key))
    return f"{some_missing(offered.origin.name, trials, first, counts, which)}{swapped}.{other_names}"


def _swapped_hint(offered: Trials, wanted: Trials) -> str:
    if offered.sides != PAIR or not len(offered):
        return ""
    some = offered.take(np.linspace(0, len(offered) - 1, min(len(offered), _HINT_SAMPLE), dtype=np.int64))
    swapped = replace(some, names=some.names[::-1], listed=some.codes[::-1])
    share = np.isin(swapped.codes_in(wanted), wanted.codes_in(wanted)).mean()
    return "; many trials match with their sides swapped (enroll for test)" if share > 0.5 else ""
