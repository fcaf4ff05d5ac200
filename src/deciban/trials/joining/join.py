"""Joins that never lie: trials are matched by their names, and what does not match is counted, named or refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from deciban.errors import InputError, KeyMismatchError
from deciban.messages import counted
from deciban.trials.joining.lookup import Wanted
from deciban.trials.joining.matching import Duplicates, JoinReport, Match, Missing, match, picked, require_comparable
from deciban.trials.joining.renaming import IdsLike, Renaming
from deciban.trials.lists import Trials
from deciban.trials.tables import Index, Key, Scores
from deciban.types import BoolArray, ScoreArray

__all__ = ["Aligned", "JoinReport", "align", "align_incomplete", "align_systems", "refuse_conflicts"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Aligned:
    """The scores of one system in the order of a key or an index.

    Attributes
    ----------
    scores : Scores
        On the trials of the key or index, without those that were dropped.
    is_target : (n_trials,) bool array or None
        None where the scores were aligned to an index.
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
        """What tables and legends call the system."""
        return self.scores.name

    @property
    def trials(self) -> Trials:
        """The trials that are left, in the order of the key or index."""
        return self.scores.trials

    @property
    def score(self) -> ScoreArray:
        """Scores in the order of the key or index; common logarithms are turned into natural ones."""
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
            raise InputError(
                f"{self.trials.origin.name} says which trials there are, not which are targets. Use a key."
            )
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
    """Find the score of every trial of a key or an index.

    Parameters
    ----------
    scores : Scores
    key : Key or Index
    missing : {"error", "drop"} or float
        What to do about key trials without a score: refuse, leave them out, or give them this score (a common
        logarithm where the scores are). If no trial at all has a score there is nothing to leave out: that is refused.
    duplicates : {"error", "keep-one"}
        What to do about a trial that occurs twice with the same content. Different content is always an error.
    by_order : bool
        Match the first score with the first trial and so on, whatever their names are and however often
        they occur. Never done unless asked.
    ids : str, sequence of str, or IdMap, optional
        By which names trials are compared, where scores and key write them differently: ``"strip-ending"`` (without
        ``.wav`` and the like), ``"basename"`` (without folders), ``"separators"`` (``/``, ``\\``, ``_``, ``|``, ``~``
        and ``-`` are the same), several of these one after the other, or what names of the scores are called in the
        key. Trials keep the names of the key. Names that are different must stay different.

    Returns
    -------
    Aligned
        ``tar`` and ``non`` are the two arrays that metrics take; ``report`` counts matched, missing, extra and
        duplicate trials.

    Raises
    ------
    KeyMismatchError
        If trials are missing, duplicate or conflicting, or one class has no trial left; if two names would be compared
        as one.
    InputError
        If a policy is none, or ``ids`` is no such rule.

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
    for name, given, wanted in (("scores", scores, (Scores,)), ("key", key, (Key, Index))):
        if not isinstance(given, wanted):
            words = " or ".join(one.__name__ for one in wanted)
            raise InputError(
                f"{name}: got {type(given).__name__}, expected {words}: what deciban.read_{name} gives, or "
                f"deciban.trials.{name}_from makes of a data frame."
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
    """Find the scores of every trial of a key for several systems; trials dropped for one are dropped for all.

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
        One for each system, on the same trials and with one shared report.

    Raises
    ------
    KeyMismatchError, InputError
        As in `align`.
    """
    found = match(systems, key, missing, duplicates, by_order=by_order, ids=Renaming.of(ids))
    return _aligned(systems, key, found, missing)


def align_incomplete(
    systems: Sequence[Scores],
    key: Key | Index,
    *,
    duplicates: Duplicates = "error",
    by_order: bool = False,
    ids: IdsLike | None = None,
) -> list[Aligned]:
    """Find the scores of every trial of a key for systems that did not score all of them.

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
        One for each system, all on the trials of the key, with NaN where a system has no score. Nothing else takes
        these for scores: every metric refuses NaN.

    Raises
    ------
    KeyMismatchError, InputError
        As in `align`, or if a system and the key share no trial.
    """
    found = match(systems, key, 0.0, duplicates, by_order=by_order, ids=Renaming.of(ids))
    for scores, rows in zip(systems, found.rows, strict=True):
        if rows is not None and not np.any(rows >= 0):
            match([scores], key, "drop", duplicates, ids=Renaming.of(ids))  # it finds nothing, and says so
    return _aligned(systems, key, found, np.nan)


def _aligned(systems: Sequence[Scores], key: Key | Index, found: Match[Key | Index], missing: Missing) -> list[Aligned]:
    trials, is_target = found.key.trials, None
    if isinstance(found.key, Key):
        is_target = found.key.is_target
        _require_both_classes(is_target, key, found.report if missing == "drop" else None)
    return [
        Aligned(replace(scores, trials=trials, score=picked(scores.score, rows, missing)), is_target, found.report)
        for scores, rows in zip(systems, found.rows, strict=True)
    ]


def refuse_conflicts(labels: Key, key: Key, *, ids: Renaming | None = None) -> None:
    """Refuse labels beside scores that contradict a key; trials that only one of the two knows are no contradiction.

    Raises
    ------
    KeyMismatchError
        If a trial is target in one and non-target in the other.
    """
    require_comparable(labels.trials, key.trials)
    theirs, ours = (labels.trials, key.trials) if ids is None else ids.both(labels.trials, key.trials)
    rows = Wanted(theirs).find(ours).rows
    rows = np.arange(len(labels)) if rows is None else rows
    known = np.flatnonzero(rows >= 0)
    conflict = known[labels.is_target[known] != key.is_target[rows[known]]]
    if len(conflict):
        raise other_label(labels.trials, int(conflict[0]), key.trials.origin.name, len(conflict), len(known))


def other_label(trials: Trials, row: int, key: str, n_trials: int, n_known: int) -> KeyMismatchError:
    """The error of so many labels, of those of trials that a key knows as well, that contradict it."""
    swapped = " Are targets and non-targets of one of them swapped?" if n_trials == n_known > 1 else ""
    return KeyMismatchError(
        f"{trials.origin.where(row)}: trial {trials.name_of(row)} has another label than in {key} "
        f"({counted(n_trials, 'such trial')}).{swapped} Correct one of them, or leave its labels out if it has a "
        "column of them (--columns)."
    )


def _require_both_classes(is_target: BoolArray, key: Key | Index, dropped: JoinReport | None) -> None:
    n_tar = int(np.count_nonzero(is_target))
    if n_tar in (0, len(is_target)):
        lacking = "target" if n_tar == 0 else "non-target"
        if dropped is not None and dropped.missing:
            raise KeyMismatchError(
                f"{key.trials.origin.name}: {dropped.missing:,} of {len(key):,} trials were left out for want of a "
                f"score (missing='drop', --missing drop), and no {lacking} is among the {len(is_target):,} that are "
                "left. Leave out the system that lacks most, or find its scores."
            )
    require_two_classes((len(is_target) - n_tar, n_tar), key.trials.origin.name)


def require_two_classes(n: Sequence[int], name: str, *, has_weights: bool = False) -> None:
    """Refuse trials that are all of one class.

    Parameters
    ----------
    n : (n_non, n_tar)
    name : str
        What messages call the trials.
    has_weights : bool
        Whether those of weight 0 are left out.

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
