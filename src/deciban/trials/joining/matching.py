"""Scores in the order of a key: trials are matched by name; those that do not match are counted, named or refused."""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import numpy as np

from deciban.errors import (
    WARNING,
    InputError,
    KeyMismatchError,
    Message,
    MissingScoresError,
    counted,
    either,
    not_none,
    option,
)
from deciban.trials.joining import IdsLike, Renamed, Renaming, near_names
from deciban.trials.lists import PAIR, ROW, Lookup, Trials
from deciban.trials.tables import Index, Key, Scores, TrialTable
from deciban.types import AnyArray, BoolArray, IntArray, ScoreArray, added

Missing: TypeAlias = Literal["error", "drop"] | float
Duplicates: TypeAlias = Literal["error", "keep-one"]

Table = TypeVar("Table", bound=TrialTable)

_HINT_SAMPLE = 10_000

_NO_ROWS = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class JoinReport:
    """Counts of the join of a key with score files.

    Attributes
    ----------
    matched : int
        Key trials that every system scored.
    missing : int
        Key trials that at least one system did not score.
    extra : int
        Scores of trials that are not in the key, summed over all systems.
    duplicate : int
        Repeated rows that were dropped, in key and scores together.
    copies : tuple of (str, int)
        The same for the key and for each table of scores, with the names of their files.
    renamed : tuple of (str, int)
        For each of them, the number of names that were changed for the comparison; empty if none were.
    compared : bool
        False if the names of trials were not compared with each other, so that repeated rows are unknown.
    """

    matched: int
    missing: int
    extra: int
    duplicate: int
    copies: tuple[tuple[str, int], ...] = field(default=(), repr=False, compare=False)
    renamed: tuple[tuple[str, int], ...] = field(default=(), repr=False, compare=False)
    compared: bool = field(default=True, repr=False, compare=False)

    def to_dict(self) -> dict[str, int]:
        """Return the counts as a JSON object."""
        return {name: getattr(self, name) for name in ("matched", "missing", "extra", "duplicate")}

    def message(self, ties: Mapping[str, float] | None = None) -> Message:
        """Return the message about the join, with surplus copies by file and the ties of each system, if known."""
        copies = {name: n for name, n in reversed(self.copies) if n}
        n_systems = len(self.copies) - 1
        extra = f"{self.extra:,} extra" + (" in total" if self.extra and n_systems > 1 else "")
        counts = [f"{self.matched:,} matched", f"{self.missing:,} missing", extra]
        n_copies = f"{self.duplicate:,} duplicate" if self.compared else "duplicates not checked"
        counts += [f"{n:,} duplicate in {name}" for name, n in copies.items()] or [n_copies]
        return Message("join", "", " · ".join([*counts, *([ties_in_words(ties)] if ties else [])]))

    def left_out(self, missing: Missing, noun: str) -> list[Message]:
        """Return a warning if trials without a score were dropped.

        Examples
        --------
        >>> print(*JoinReport(300, 100, 0, 0).left_out("drop", "trial"))
        warn  100 of 400 trials left out: they lack a score of some system
        """
        if missing != "drop" or not self.missing:
            return []
        n = counted(self.matched + self.missing, noun)
        return [Message(WARNING, "", f"{self.missing:,} of {n} left out: they lack a score of some system")]


def ties_in_words(ties: Mapping[str, float]) -> str:
    """Describe the numbers of scores that are tied across classes: for each of up to three systems, or as a range.

    >>> ties_in_words({"a": 0, "b": 2}), ties_in_words({"a": 0})
    ('trials whose score occurs in both classes: 0 (a), 2 (b)', 'no target and non-target with equal scores')
    >>> ties_in_words({"a": 0, "b": 2, "c": 1, "d": 30})
    'trials whose score occurs in both classes: 1 to 30 in 3 of 4 systems'
    """
    if not any(ties.values()):
        return "no target and non-target with equal scores"
    if len(ties) > 3:  # all systems are named before
        some = [n for n in ties.values() if n]
        few, many = f"{min(some):,}", f"{max(some):,}"
        how_many = few if few == many else f"{few} to {many}"
        return f"trials whose score occurs in both classes: {how_many} in {len(some)} of {len(ties)} systems"
    of_each = [f"{n:,}{f' ({name})' * (len(ties) > 1)}" for name, n in ties.items()]
    return f"trials whose score occurs in both classes: {', '.join(of_each)}"


@dataclass(frozen=True, slots=True, eq=False)
class Match(Generic[Table]):
    """Rows of the trials of a key in other tables.

    Attributes
    ----------
    key : table of trials
        Each trial once, in its own order, without dropped trials.
    rows : tuple of int arrays or None
        For each other table, the row of each trial, -1 for a score to fill in; None if the rows are the same.
    report : JoinReport
    """

    key: Table
    rows: tuple[IntArray | None, ...]
    report: JoinReport


@dataclass(frozen=True, slots=True, eq=False)
class RefusedTrials:
    """Trials that a join refuses; ``a + b`` covers the trials of both.

    Attributes
    ----------
    row : int
        The row of the first trial, to sort.
    n : int
        Number of refused trials, may be 0.
    n_of : int
        Number of compared trials.
    first : Trials or None
        The first refused trial, with the rows for the message.
    """

    row: int = sys.maxsize
    n: int = 0
    n_of: int = 0
    first: Trials | None = None

    @classmethod
    def of(cls, trials: Trials, indices: IntArray, n: int, n_of: int = 0, *, by: int = 0) -> RefusedTrials:
        """Return trials with rows for the message; the row at index ``by`` is the one to sort by."""
        if not len(indices):
            return cls(n_of=n_of)
        return cls(int(trials.origin.number(int(indices[by]))), n, n_of, trials.take(indices))

    def __add__(self, other: RefusedTrials) -> RefusedTrials:
        """Return the refused trials of both parts."""
        return replace(self if self.row <= other.row else other, n=self.n + other.n, n_of=self.n_of + other.n_of)

    @property
    def trials(self) -> Trials:
        """The trials for the message."""
        return not_none(self.first, "first refused trial")


def copies_in(table: TrialTable, copies: IntArray) -> tuple[RefusedTrials, RefusedTrials]:
    """Return the trials with different copies, and all trials with copies."""
    differs: AnyArray = np.zeros(copies.shape[1], np.bool_)
    if table.content is not None and len(differs):
        differs = table.content[copies[0]] != table.content[copies[1]]
        differs = np.any(differs, axis=1) if differs.ndim == 2 else differs
    conflict, all_of_them = (
        RefusedTrials.of(table.trials, pairs[:, 0] if pairs.size else _NO_ROWS, len(np.unique(pairs[0])), by=1)
        for pairs in (copies[:, differs], copies)
    )
    return conflict, all_of_them


@dataclass(frozen=True, slots=True, eq=False)
class JoinTally:
    """Counts of a join of a key with tables of scores; ``a + b`` covers the trials of both.

    Attributes
    ----------
    tables : tuple of (str, str)
        For the key and each table of scores: its name, and the words for a trial with different copies.
    which : str
        Words for the trials of the key in messages.
    n : (3,) int array
        Numbers of key trials, of key trials that some table lacks, and of rows of trials that are not in the key.
    copies : (1 + n_tables,) int array
        Repeated rows of the key and of each table.
    n_changed : tuple of int
        For each of them, the number of names changed for the comparison; empty if none were.
    faults : tuple of (RefusedTrials, RefusedTrials)
        For the key and each table: trials with different copies, and trials with any copies.
    lacking : tuple of RefusedTrials
        For each table: trials of the key without a score.
    """

    tables: tuple[tuple[str, str], ...]
    which: str
    n: IntArray
    copies: IntArray
    n_changed: tuple[int, ...]
    faults: tuple[tuple[RefusedTrials, RefusedTrials], ...]
    lacking: tuple[RefusedTrials, ...]

    def __add__(self, other: JoinTally) -> JoinTally:
        """Return the counts of both parts."""
        names = "n", "copies", "n_changed", "faults", "lacking"
        return replace(self, **{name: added(getattr(self, name), getattr(other, name)) for name in names})

    def report(
        self, missing: Missing, duplicates: Duplicates, hints: Callable[[int], tuple[str, str, str]] | None = None
    ) -> JoinReport:
        """Return the counts, or raise if the policies refuse trials.

        Parameters
        ----------
        missing, duplicates
        hints : function, optional
            Returns three texts for a table: the first trials of it and of the key, a remark on swapped sides, and
            rules that would match more trials.

        Raises
        ------
        KeyMismatchError
        """
        for (_, words), (conflict, copies) in zip(self.tables, self.faults, strict=True):
            if conflict.n:
                raise conflict_of(conflict, words)
            if copies.n and duplicates == "error":
                raise copies_of(copies)
        n_key, n_missing, n_extra = self.n.tolist()
        names = [name for name, _ in self.tables]
        copied, changed = (tuple(zip(names, n, strict=False)) for n in (self.copies.tolist(), self.n_changed))
        report = JoinReport(n_key - n_missing, n_missing, n_extra, int(self.copies.sum()), copied, changed)
        if n_missing and (missing == "error" or (missing == "drop" and not report.matched)):
            at, fault = next((at, one) for at, one in enumerate(self.lacking) if one.n)
            begin, swapped, near = ("", "", "") if hints is None else hints(at)
            if fault.n == n_key:
                words = (
                    f"{names[at + 1]} and {names[0]} share no trial{begin}. Check that both belong to the same "
                    f"evaluation{swapped}. If the wrong columns were used, name the columns.{near}"
                )
            elif not report.matched:
                of_each = ", ".join(names[1:])
                words = f"No trial of {names[0]} has a score in each of {of_each}: no trial is left to evaluate."
            else:
                words = f"{some_missing(names[at + 1], fault, self.which)}{swapped}.{near}"
            raise (MissingScoresError if report.matched else KeyMismatchError)(words)
        return report


def look_up(
    tables: Sequence[TrialTable], key: Table, ids: Renaming | None = None
) -> tuple[Table, list[IntArray | None], JoinTally]:
    """Find the trials of a key in other tables.

    Returns
    -------
    table of trials
        The key with each trial once.
    list of int arrays or None
        For each other table, the row of each trial, -1 for none; None if the rows are the same.
    JoinTally
    """
    own = Renamed(key.trials) if ids is None else ids.of_key(key.trials)
    lookup_of_key = Lookup(own.trials)
    surplus, faults = lookup_of_key.surplus, [copies_in(key, lookup_of_key.surplus)]
    if surplus.shape[1]:
        kept = np.delete(np.arange(len(key)), surplus[1])
        key = key.take(kept)
        lookup_of_key = Lookup(key.trials if ids is None else own.trials.take(kept))
    others = [Renamed(one.trials) if ids is None else ids.of_scores(one.trials) for one in tables]
    distinct = {id(one.trials): one.trials for one in others}  # systems of one file share their trials
    looked = {name: lookup_of_key.find(trials) for name, trials in distinct.items()}
    items = [looked[id(one.trials)] for one in others]
    faults += [copies_in(table, one.copies) for table, one in zip(tables, items, strict=True)]
    lacks, lacking = np.zeros(len(key), np.bool_), list[RefusedTrials]()
    for one in items:
        rows: IntArray = _NO_ROWS if one.rows is None else np.flatnonzero(one.rows < 0)
        lacks[rows] = True
        lacking.append(RefusedTrials.of(key.trials, rows[:3], len(rows), len(key)))
    n = np.array([len(key), np.count_nonzero(lacks), sum(one.n_extra for one in items)])
    copies = np.array([surplus.shape[1], *(one.copies.shape[1] for one in items)])
    n_changed = () if ids is None else tuple(one.n_changed for one in (own, *others))
    both: list[TrialTable] = [key, *tables]
    called = tuple((one.trials.origin.name, one.conflict) for one in both)
    which = "key trials" if key.content is not None else f"trials of {key.trials.origin.name}"
    tally = JoinTally(called, which, n, copies, n_changed, tuple(faults), tuple(lacking))
    return key, [one.rows for one in items], tally


def match(
    tables: Sequence[TrialTable],
    key: Table,
    missing: Missing,
    duplicates: Duplicates,
    *,
    by_order: bool = False,
    ids: IdsLike | None = None,
) -> Match[Table]:
    """Find the trials of a key in other tables; trials dropped for one are dropped for all.

    ``by_order`` matches row by row and ignores names, so repeated trials are allowed. With ``ids``, changed names are
    compared, but trials keep their names.

    Raises
    ------
    KeyMismatchError
        If trials are missing, duplicate or conflicting, or, with ``by_order``, the numbers of rows differ.
    InputError
        If there is no table, or an option is invalid.
    """
    renaming = None if ids is None else Renaming.of(ids)
    if not tables:
        raise InputError("systems: none given. Alignment needs at least one set of scores.")
    check_policies(missing, duplicates)
    if by_order:
        refuse_names_by_order(renaming)
        for table in tables:
            require_one_length(table.trials.origin.name, len(table), key.trials.origin.name, len(key))
        return Match(key, (None,) * len(tables), JoinReport(len(key), 0, 0, 0))
    for table in tables:
        require_comparable(table.trials, key.trials)
    key, rows, tally = look_up(tables, key, renaming)
    trials_of_key = key.trials

    def hints(at: int) -> tuple[str, str, str]:
        offered = tables[at].trials
        first, second = trials_of_key.origin.name, offered.origin.name
        first, second = ("the key", "the scores") if first == second else (first, second)
        theirs = f"{second} with {offered.name_of(0)}" if len(offered) else f"{second} has no scores"
        near = near_names(offered, trials_of_key, len(trials_of_key) - tally.lacking[at].n) if ids is None else None
        words = "" if near is None else f" Of the {tally.which}, {near}: {option(ids=near.option)}."
        swapped = _swapped_hint(offered, trials_of_key, has_key=key.content is not None)
        return f": {first} begins with {trials_of_key.name_of(0)}, {theirs}", swapped, words

    report = tally.report(missing, duplicates, hints)
    if report.missing and missing == "drop":
        there = np.flatnonzero(np.logical_and.reduce([one >= 0 for one in rows if one is not None]))
        rows = [there if one is None else one[there] for one in rows]
        key = key.take(there)
    return Match(key, tuple(rows), report)


def refuse_names_by_order(ids: Renaming | None) -> None:
    """Raise if rules for names are given but names are not compared.

    Raises
    ------
    InputError
    """
    if ids is not None:
        raise InputError("ids, by_order: matching by order does not compare names. Leave one of the two out.")


def require_one_length(name: str, n_scores: int, key: str, n_trials: int) -> None:
    """Raise if scores and key cannot be matched by order because their lengths differ.

    Raises
    ------
    KeyMismatchError
    """
    if n_scores != n_trials:
        raise KeyMismatchError(
            f"{name} contains {counted(n_scores, 'score')}, {key} {counted(n_trials, 'trial')}. Matching by order "
            "needs equal numbers."
        )


def picked(score: ScoreArray, rows: IntArray | None, missing: Missing) -> ScoreArray:
    """Return the scores of rows, with a fill value for missing scores; float32 is kept if it can represent it."""
    if rows is None:
        return score
    values = score[rows] if len(score) else np.zeros((len(rows), *score.shape[1:]), score.dtype)
    if not isinstance(missing, str):
        fill = float(missing)
        with np.errstate(over="ignore"):
            if float(values.dtype.type(fill)) != fill:
                values = values.astype(np.float64)
        values[rows < 0] = fill
    return values


def require_same_sides(offered: Sequence[str], name: str, expected: Sequence[str], other: str) -> None:
    """Raise if trials have different identifiers.

    Raises
    ------
    KeyMismatchError
    """
    if offered == expected:
        return
    reason = f"{name} identifies a trial by {' and '.join(offered)}, {other} by {' and '.join(expected)}."
    if ROW in (offered, expected):
        way = f"Trials without names can only be matched by order: {option(by_order=True)}."
    elif {"side"} == {*offered} ^ {*expected}:
        way = f"If the side is irrelevant, ignore it by naming the other columns ({option('columns', 'key_columns')})."
    else:
        way = "Name the columns of both files."
    raise KeyMismatchError(f"{reason} {way}")


def require_comparable(offered: Trials, expected: Trials) -> None:
    """Raise if trials have different identifiers, or are identified by their rows in lists of different lengths.

    If trials have no names, one missing or additional row shifts all rows after it.

    Raises
    ------
    KeyMismatchError
    """
    require_same_sides(offered.sides, offered.origin.name, expected.sides, expected.origin.name)
    if offered.sides != ROW or offered.n_rows is None or expected.n_rows in (None, offered.n_rows):
        return
    raise KeyMismatchError(
        f"{offered.origin.name} has {counted(offered.n_rows, 'row')}, {expected.origin.name} {expected.n_rows:,}. "
        "Their trials have no names and are matched by row, so the numbers of rows must be equal: after a missing row, "
        "all rows belong to other trials. Add the missing row, or give the trials names. If rows are left out on "
        f"purpose, remove them from the longer table as well{either(' (Scores.take, Key.take)', '')} and match by "
        f"order ({option(by_order=True)})."
    )


def conflict_of(fault: RefusedTrials, conflict: str) -> KeyMismatchError:
    """Return the error for trials with different copies."""
    trials = fault.trials
    name, words = trials.name_of(0), "Remove one of the two lines."
    if name == "(bonafide)":
        words = f"For a verifier of ASVspoof 2019, pass {option(format='asvspoof2019-asv')}."
    return KeyMismatchError(
        f"{trials.origin.where(0)} and {trials.origin.where(1)}: trial {name} {conflict}{such_trials(fault.n)}. "
        f"{words} If the names do not identify trials, match row by row ({option(by_order=True)})."
    )


def such_trials(n_trials: int) -> str:
    """Return the number of trials of a message in parentheses, or nothing for one trial."""
    return f" ({n_trials:,} such trials)" if n_trials > 1 else ""


def copies_of(fault: RefusedTrials) -> KeyMismatchError:
    """Return the error for trials that occur more than once."""
    trials = fault.trials
    return KeyMismatchError(
        f"{trials.origin.where(0)} and {trials.origin.where(1)}: trial {trials.name_of(0)} occurs more "
        f"than once ({counted(fault.n, 'such trial')}). "
        f"Remove the copies, or pass {option(duplicates='keep-one')} if they are equal."
    )


def some_missing(offered: str, fault: RefusedTrials, which: str) -> str:
    """Return the message about trials without a score, with the first of them."""
    trials = fault.trials
    called = [trials.name_of(row) for row in range(len(trials))]
    names = ", ".join(name[1:-1] if len(trials.sides) == 1 and trials.sides != ROW else name for name in called)
    return (
        f"{fault.n:,} of {fault.n_of:,} {which} have no score in {offered}, for example {names} "
        f"({trials.origin.where(0)}). Pass {option(missing='drop')} to leave them out, or a score to fill in "
        f"({either('missing=VALUE', '--missing fill=VALUE')})"
    )


def check_policies(missing: Any, duplicates: str) -> None:
    """Raise if an option for missing trials or duplicates is invalid.

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
    """Raise if the option for duplicates is invalid.

    Raises
    ------
    InputError
    """
    if duplicates not in ("error", "keep-one"):
        raise InputError(f"duplicates: expected 'error' or 'keep-one', got {duplicates!r}.")


def _swapped_hint(offered: Trials, others: Trials, *, has_key: bool) -> str:
    if offered.sides != PAIR or not len(offered):
        return ""
    some = offered.take(np.linspace(0, len(offered) - 1, min(len(offered), _HINT_SAMPLE), dtype=np.int64))
    swapped = replace(some, names=some.names[::-1], listed=some.codes[::-1])
    share = np.isin(swapped.codes_in(others), others.codes_in(others)).mean()
    if share <= 0.5:
        return ""
    roles = offered.origin.reading.partition("'")[2].rstrip("'").split()
    columns = ",".join({"enroll": "test", "test": "enroll"}.get(role, role) for role in roles)
    fix = f": pass {option(columns=columns)}" if has_key and "=" not in columns else ""
    return f"; many trials match with their sides swapped (enroll for test){fix if roles else ''}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Aligned:
    """The scores of one system in the order of a key or an index.

    Attributes
    ----------
    scores : Scores
        On the trials of the key or index, without dropped trials.
    is_target : (n_trials,) bool array or None
        None if the scores were aligned to an index.
    report : JoinReport
    """

    scores: Scores
    is_target: BoolArray | None
    report: JoinReport

    def __repr__(self) -> str:
        truth = self.is_target
        n_tar = 0 if truth is None else int(np.count_nonzero(truth))
        counts = "" if truth is None else f"; {n_tar:,} target, {len(truth) - n_tar:,} non-target"
        return f"Aligned({self.name!r}: {self.trials.in_words}{counts})"

    @property
    def name(self) -> str:
        """Name of the system in tables and legends."""
        return self.scores.name

    @property
    def trials(self) -> Trials:
        """The matched trials, in the order of the key or index."""
        return self.scores.trials

    @property
    def score(self) -> ScoreArray:
        """Scores in the order of the key or index; common logarithms are converted to natural ones."""
        return self.scores.nats

    @property
    def tar(self) -> ScoreArray:
        """Scores of the target trials."""
        return self.score[self._truth]

    @property
    def non(self) -> ScoreArray:
        """Scores of the non-target trials."""
        return self.score[~self._truth]

    @property
    def _truth(self) -> BoolArray:
        if self.is_target is None:
            raise InputError(f"{self.trials.origin.name} contains trials without labels. Use a key.")
        return self.is_target


def align(
    scores: Scores,
    key: Key | Index,
    missing: Missing = "error",
    *,
    duplicates: Duplicates = "error",
    by_order: bool = False,
    ids: IdsLike | None = None,
) -> Aligned:
    """Return the scores of the trials of a key or an index.

    Parameters
    ----------
    scores : Scores
    key : Key or Index
    missing : {"error", "drop"} or float
        Treatment of key trials without a score: raise, drop them, or use this score (a common logarithm if the scores
        are common logarithms). "drop" raises if no trial has a score.
    duplicates : {"error", "keep-one"}
        Treatment of trials that occur twice with the same content. Different content is always an error.
    by_order : bool
        If True, match scores and trials by position and ignore their names and repetitions.
    ids : str, sequence of str, or IdMap, optional
        Rules to match names, if scores and key spell them differently: ``"strip-ending"`` (without ``.wav`` and
        similar), ``"basename"`` (without folders), ``"separators"`` (``/``, ``\\``, ``_``, ``|``, ``~`` and ``-`` are
        equal), several of these, which are applied in order, or a map from names of the scores to names of the key.
        Trials keep the names of the key. Different names must stay different.

    Returns
    -------
    Aligned
        ``tar`` and ``non`` are the two arrays for metrics; ``report`` counts matched, missing, extra and duplicate
        trials.

    Raises
    ------
    KeyMismatchError
        If trials are missing, duplicate or conflicting, a class has no trial left, or two names would become equal.
    InputError
        If ``missing``, ``duplicates`` or ``ids`` has an invalid value.

    Examples
    --------
    >>> key = Key.of({"trial": ["a", "b", "c"]}, [True, False, False])
    >>> aligned = align(Scores.of({"trial": ["c", "a", "d"]}, [1.0, 2.0, 3.0]), key, missing="drop")
    >>> aligned.tar, aligned.non, aligned.report
    (array([2.]), array([1.]), JoinReport(matched=2, missing=1, extra=1, duplicate=0))
    >>> named = Scores.of({"trial": ["x/c.wav", "x/a.wav", "x/b.wav"]}, [1.0, 2.0, 3.0])
    >>> align(named, key, ids="basename,strip-ending").tar
    array([2.])
    """
    for name, argument, request in (("scores", scores, (Scores,)), ("key", key, (Key, Index))):
        if not isinstance(argument, request):
            words = " or ".join(one.__name__ for one in request)
            raise InputError(
                f"{name}: got {type(argument).__name__}, expected {words}. deciban.read_{name} reads it from files, "
                f"and deciban.trials.{name}_from converts data frames."
            )
    return align_systems([scores], key, missing, duplicates=duplicates, by_order=by_order, ids=ids)[0]


def align_systems(
    systems: Sequence[Scores],
    key: Key | Index,
    missing: Missing = "error",
    *,
    duplicates: Duplicates = "error",
    by_order: bool = False,
    ids: IdsLike | None = None,
) -> list[Aligned]:
    """Return the scores of the trials of a key for several systems; trials dropped for one are dropped for all.

    Parameters
    ----------
    systems : sequence of Scores
    key : Key or Index
    missing : {"error", "drop"} or float
        As in `align`.
    duplicates : {"error", "keep-one"}
        As in `align`.
    by_order : bool
        As in `align`.
    ids : optional
        As in `align`.

    Returns
    -------
    list of Aligned
        One for each system, on the same trials and with the same report.

    Raises
    ------
    KeyMismatchError, InputError
        As in `align`.
    """
    result = match(systems, key, missing, duplicates, by_order=by_order, ids=ids)
    return _aligned(systems, key, result, missing)


def align_incomplete(
    systems: Sequence[Scores],
    key: Key | Index,
    *,
    duplicates: Duplicates = "error",
    by_order: bool = False,
    ids: IdsLike | None = None,
) -> list[Aligned]:
    """Return the scores of the trials of a key for systems that did not score all of them.

    Parameters
    ----------
    systems : sequence of Scores
    key : Key or Index
    duplicates : {"error", "keep-one"}
        As in `align`.
    by_order : bool
        As in `align`.
    ids : optional
        As in `align`.

    Returns
    -------
    list of Aligned
        One for each system, all on the trials of the key, with NaN for missing scores. Metrics refuse NaN, so these
        cannot be used as scores by mistake.

    Raises
    ------
    KeyMismatchError, InputError
        As in `align`, or if a system and the key share no trial.
    """
    result = match(systems, key, 0.0, duplicates, by_order=by_order, ids=ids)
    for scores, rows in zip(systems, result.rows, strict=True):
        if rows is not None and not np.any(rows >= 0):
            match([scores], key, "drop", duplicates, ids=ids)  # raises the error for no matching trial
    return _aligned(systems, key, result, np.nan)


def _aligned(
    systems: Sequence[Scores], key: Key | Index, result: Match[Key | Index], missing: Missing
) -> list[Aligned]:
    trials, is_target = result.key.trials, None
    if isinstance(result.key, Key):
        is_target = result.key.is_target
        _require_both_classes(is_target, key, result.report if missing == "drop" else None)
    return [
        Aligned(replace(scores, trials=trials, score=picked(scores.score, rows, missing)), is_target, result.report)
        for scores, rows in zip(systems, result.rows, strict=True)
    ]


def _require_both_classes(is_target: BoolArray, key: Key | Index, dropped: JoinReport | None) -> None:
    n_tar = int(np.count_nonzero(is_target))
    if n_tar in (0, len(is_target)):
        lacking = "target" if n_tar == 0 else "non-target"
        if dropped is not None and dropped.missing:
            raise KeyMismatchError(
                f"{key.trials.origin.name}: {dropped.missing:,} of {len(key):,} trials were dropped because they lack "
                f"a score ({option(missing='drop')}), and the remaining {len(is_target):,} contain no {lacking}. "
                "Leave out the system that lacks most scores, or find its scores."
            )
    require_two_classes((len(is_target) - n_tar, n_tar), key.trials.origin.name)


def require_two_classes(n: Sequence[int], name: str, *, has_weights: bool = False) -> None:
    """Raise if all trials are of one class.

    Parameters
    ----------
    n : (n_non, n_tar)
    name : str
        Name of the trials for messages.
    has_weights : bool
        True if trials of weight 0 are not counted.

    Raises
    ------
    KeyMismatchError
    """
    of_weight, weights = (" of weight above 0", " and the weights") if has_weights else ("", "")
    for number, lacking in zip(reversed(n), ("target", "non-target"), strict=True):
        if not number:
            raise KeyMismatchError(
                f"{name}: no {lacking} trial among {sum(n):,}{of_weight}. Evaluation needs at least one of each class; "
                f"check the label words{weights}."
            )
