"""Joins that never lie: trials are matched by their names, and what does not match is counted, named or refused."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from deciban.errors import InputError, KeyMismatchError
from deciban.trials.tables import Key, Scores, Trials
from deciban.types import BoolArray, IntArray, ScoreArray

Missing: TypeAlias = Literal["error", "drop"] | float
Duplicates: TypeAlias = Literal["error", "keep-one"]


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
    """

    matched: int
    missing: int
    extra: int
    duplicate: int


@dataclass(frozen=True, slots=True, eq=False)
class Aligned:
    """The scores of one system in the order of the key.

    Attributes
    ----------
    name : str
    score : (n_trials,) float array
    is_target : (n_trials,) bool array
    report : JoinReport
    """

    name: str
    score: ScoreArray
    is_target: BoolArray
    report: JoinReport

    @property
    def tar(self) -> ScoreArray:
        """Scores of the target trials."""
        return self.score[self.is_target]

    @property
    def non(self) -> ScoreArray:
        """Scores of the non-target trials."""
        return self.score[~self.is_target]


def align(scores: Scores, key: Key, missing: Missing = "error", *, duplicates: Duplicates = "error") -> Aligned:
    """Find the score of every trial of a key.

    Parameters
    ----------
    scores : Scores
    key : Key
    missing : {"error", "drop"} or float
        What to do about key trials without a score: refuse, leave them out, or give them this score.
    duplicates : {"error", "keep-one"}
        What to do about a trial that occurs twice with the same content. Different content is always an error.

    Returns
    -------
    Aligned
        ``tar`` and ``non`` are the two arrays that metrics take; ``report`` counts matched, missing, extra and
        duplicate trials.

    Raises
    ------
    KeyMismatchError
        If trials are missing, duplicate or conflicting, or one class has no trial left.

    Examples
    --------
    >>> key = Key.of({"trial": ["a", "b", "c"]}, [True, False, False])
    >>> aligned = align(Scores.of({"trial": ["c", "a", "d"]}, [1.0, 2.0, 3.0]), key, missing="drop")
    >>> aligned.tar, aligned.non, aligned.report
    (array([2.]), array([1.]), JoinReport(matched=2, missing=1, extra=1, duplicate=0))
    """
    return align_systems([scores], key, missing, duplicates=duplicates)[0]


def align_systems(
    systems: Sequence[Scores], key: Key, missing: Missing = "error", *, duplicates: Duplicates = "error"
) -> list[Aligned]:
    """Find the scores of every trial of a key for several systems; trials dropped for one are dropped for all.

    Parameters
    ----------
    systems : sequence of Scores
    key : Key
    missing : {"error", "drop"} or float
        As in `align`.
    duplicates : {"error", "keep-one"}
        As in `align`.

    Returns
    -------
    list of Aligned
        One for each system, on the same trials and with one shared report.

    Raises
    ------
    KeyMismatchError, InputError
        As in `align`.
    """
    if duplicates not in ("error", "keep-one"):
        raise InputError(f"duplicates: expected 'error' or 'keep-one', got {duplicates!r}.")
    policy: Any = missing
    is_number = not isinstance(policy, bool) and isinstance(policy, numbers.Real) and not math.isnan(policy)
    if not (is_number or policy in ("error", "drop")):
        raise InputError(f"missing: expected 'error', 'drop' or a score to fill in, got {missing!r}.")
    if not systems:
        raise InputError("systems: none given. Alignment needs at least one set of scores.")
    kept, surplus = _distinct_key(key, duplicates)
    wanted = _Wanted.of(key, kept)
    rows, extra = [], 0
    for scores in systems:
        found, n_extra, n_surplus = _score_rows(scores, wanted, duplicates)
        rows.append(found)
        extra += n_extra
        surplus += n_surplus
    lacking = np.any([found < 0 for found in rows], axis=0)
    n_missing = int(np.count_nonzero(lacking))
    if n_missing and missing == "error":
        raise KeyMismatchError(_missing_message(systems, rows, key, kept))
    if missing == "drop" and n_missing:
        rows, kept = [found[~lacking] for found in rows], kept[~lacking]
    is_target = key.is_target[kept]
    _require_both_classes(is_target, key)
    report = JoinReport(len(lacking) - n_missing, n_missing, extra, surplus)
    return [
        Aligned(scores.name, _pick(scores.score, found, missing), is_target, report)
        for scores, found in zip(systems, rows, strict=True)
    ]


def _pick(score: ScoreArray, rows: IntArray, missing: Missing) -> ScoreArray:
    if isinstance(missing, str):
        return score[rows]
    picked: ScoreArray = np.where(rows >= 0, score[rows], score.dtype.type(missing))
    return picked


def _distinct_key(key: Key, duplicates: Duplicates) -> tuple[IntArray, int]:
    """Rows of the key with each trial once, in the order of the key, and how many copies were left out."""
    codes = key.trials.codes_in(key.trials)
    ascending = np.sort(codes)
    if not np.any(ascending[1:] == ascending[:-1]):
        return np.arange(len(codes)), 0
    order = np.argsort(codes, kind="stable")
    copies = np.flatnonzero(codes[order[1:]] == codes[order[:-1]])
    first, second = order[copies], order[copies + 1]
    if np.any(key.is_target[first] != key.is_target[second]):
        at = int(np.argmax(key.is_target[first] != key.is_target[second]))
        raise KeyMismatchError(_pair_message(key.trials, first[at], second[at], "is target and non-target at once"))
    if duplicates == "error":
        raise KeyMismatchError(_duplicate_message(key.trials, first, second))
    return np.delete(np.arange(len(codes)), second), len(second)


@dataclass(frozen=True, slots=True, eq=False)
class _Wanted:
    """Trials to be looked up, sorted once for all systems."""

    trials: Trials
    codes: IntArray
    order: IntArray

    @classmethod
    def of(cls, key: Key, kept: IntArray) -> _Wanted:
        codes = key.trials.codes_in(key.trials)[kept]
        order = np.argsort(codes)
        return cls(key.trials, codes[order], order)


def _score_rows(scores: Scores, wanted: _Wanted, duplicates: Duplicates) -> tuple[IntArray, int, int]:
    """For each wanted trial its row in the scores (-1: none), and how many scores were extra and surplus."""
    if scores.trials.sides != wanted.trials.sides:
        raise KeyMismatchError(
            f"{scores.trials.origin.name} identifies a trial by {' and '.join(scores.trials.sides)}, "
            f"{wanted.trials.origin.name} by {' and '.join(wanted.trials.sides)}. Name the columns of both files."
        )
    codes = scores.trials.codes_in(wanted.trials)
    by_code = np.argsort(codes)
    codes = codes[by_code]
    first = np.searchsorted(codes, wanted.codes, side="left")
    copies = np.searchsorted(codes, wanted.codes, side="right") - first
    surplus = _refuse_duplicates(scores, by_code, first, copies, duplicates) if np.any(copies > 1) else 0
    rows = np.empty(len(wanted.codes), np.int64)
    rows[wanted.order] = np.where(copies > 0, by_code[np.minimum(first, len(by_code) - 1)], -1)
    return rows, len(codes) - int(copies.sum()), surplus


def refuse_conflicts(told: Key, key: Key) -> None:
    """Refuse labels that contradict a key; trials that only one of the two knows are no contradiction.

    Raises
    ------
    KeyMismatchError
        If a trial is target in one and non-target in the other.
    """
    labels = Scores(told.trials, told.is_target.astype(np.float64))
    rows, _, _ = _score_rows(labels, _Wanted.of(key, np.arange(len(key.trials))), "keep-one")
    conflict = rows[(rows >= 0) & (told.is_target[rows] != key.is_target)]
    if len(conflict):
        row = int(conflict.min())
        raise KeyMismatchError(
            f"{told.trials.origin.where(row)}: trial {told.trials.name_of(row)} has another label than in "
            f"{key.trials.origin.name} ({len(conflict):,} such trials). "
            "Leave the labels of one of them out, with --columns."
        )


def _refuse_duplicates(
    scores: Scores, by_code: IntArray, first: IntArray, copies: IntArray, duplicates: Duplicates
) -> int:
    starts, times = first[copies > 1], copies[copies > 1]
    for start, n in zip(starts.tolist(), times.tolist(), strict=True):
        rows = np.sort(by_code[start : start + n])
        if np.any(scores.score[rows] != scores.score[rows[0]]):
            other = rows[np.argmax(scores.score[rows] != scores.score[rows[0]])]
            raise KeyMismatchError(_pair_message(scores.trials, rows[0], other, "has two different scores"))
    if duplicates == "error":
        pairs = np.sort(by_code[np.stack((starts, starts + 1))], axis=0)
        raise KeyMismatchError(_duplicate_message(scores.trials, *pairs))
    return int((times - 1).sum())


def _pair_message(trials: Trials, first: int, second: int, fault: str) -> str:
    places = f"{trials.origin.where(int(first))} and {trials.origin.where(int(second))}"
    return f"{places}: trial {trials.name_of(int(first))} {fault}. Remove one of the two lines."


def _duplicate_message(trials: Trials, first: IntArray, second: IntArray) -> str:
    at = int(np.argmin(second))
    places = f"{trials.origin.where(int(first[at]))} and {trials.origin.where(int(second[at]))}"
    return (
        f"{places}: trial {trials.name_of(int(first[at]))} occurs more than once ({len(first):,} such trials). "
        'Remove the copies, or pass duplicates="keep-one" (--duplicates keep-one) if they say the same.'
    )


def _missing_message(systems: Sequence[Scores], rows: Sequence[IntArray], key: Key, kept: IntArray) -> str:
    scores, found = next((s, r) for s, r in zip(systems, rows, strict=True) if np.any(r < 0))
    lacking = kept[found < 0]
    origin, first = scores.trials.origin.name, int(lacking[0])
    trials = key.trials
    if len(lacking) == len(kept):
        return (
            f"{origin} and {trials.origin.name} share no trial: the key begins with {trials.name_of(0)}, "
            f"the scores with {scores.trials.name_of(0)}. Check that both belong to one evaluation"
            f"{_swapped_hint(scores, key)}, and name the columns if they were taken wrongly."
        )
    names = ", ".join(trials.name_of(int(row)) for row in lacking[:3])
    return (
        f"{len(lacking):,} of {len(kept):,} key trials have no score in {origin}, the first {names} "
        f'({trials.origin.where(first)}). Pass missing="drop" (--missing drop) to leave them out, or a score to '
        f"fill in (--missing fill=VALUE){_swapped_hint(scores, key)}."
    )


def _swapped_hint(scores: Scores, key: Key) -> str:
    if len(scores.trials.sides) != 2:
        return ""
    left, right = scores.trials.ids
    swapped = Trials(scores.trials.sides, (right, left)).codes_in(key.trials)
    share = np.isin(swapped, key.trials.codes_in(key.trials)).mean()
    return "; many trials match with their sides swapped (enroll for test)" if share > 0.5 else ""


def _require_both_classes(is_target: BoolArray, key: Key) -> None:
    n_tar = int(np.count_nonzero(is_target))
    if n_tar in (0, len(is_target)):
        lacking = "target" if n_tar == 0 else "non-target"
        raise KeyMismatchError(
            f"{key.trials.origin.name}: no {lacking} trial among {len(is_target):,}. Evaluation needs at least one of "
            "each class; check the label words."
        )
