"""Sets of systems that have scores for a trial: which occur, which are wanted, which are unknown."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Mapping
from typing import TypeAlias

import numpy as np

from deciban.errors import InputError, TrialError
from deciban.types import IntArray, ScoreArray

Subset: TypeAlias = tuple[int, ...]
"""Positions of some of the systems, in increasing order."""

MOST = 4096
"""Sets of systems that one model may have fusions for."""


def name_of(subset: Subset) -> str:
    """As it stands in results: ``0+2`` for example."""
    return "+".join(map(str, subset))


def occurring_subsets(scores: ScoreArray) -> dict[Subset, IntArray]:
    """Sets of systems that trials have scores of, each with the trials that have these and no others."""
    incomplete = np.zeros(len(scores), np.bool_)
    for column in scores.T:
        incomplete |= np.isnan(column)
    complete, rows = np.flatnonzero(~incomplete), np.flatnonzero(incomplete)
    found: dict[Subset, IntArray] = {tuple(range(scores.shape[1])): complete} if len(complete) else {}
    if len(rows):
        patterns, which = np.unique(~np.isnan(scores[rows]), axis=0, return_inverse=True)
        order = np.argsort(which.ravel(), kind="stable")
        ends = np.cumsum(np.bincount(which.ravel()))
        for pattern, own in zip(patterns, np.split(rows[order], ends[:-1]), strict=True):
            found[tuple(np.flatnonzero(pattern).tolist())] = own
    return found


def wanted_subsets(complete: Subset, occurring: Mapping[Subset, IntArray], max_missing: int) -> list[Subset]:
    """Sets of systems to train for, those of most systems first."""
    n = len(complete)
    n_lacking = range(min(max_missing, n - 1) + 1) if max_missing else range(0)
    n_sets = sum(math.comb(n, k) for k in n_lacking)
    if max(n_sets, len(occurring)) > MOST:
        raise InputError(
            f"max_missing: {max(n_sets, len(occurring)):,} fusions of {n} systems, and one model holds at most "
            f"{MOST:,}. Take a smaller max_missing, or fewer systems."
        )
    asked = {subset for k in n_lacking for subset in itertools.combinations(complete, n - k)}
    return sorted(asked | set(occurring), key=lambda subset: (-len(subset), subset))


def require_known(
    occurring: Mapping[Subset, IntArray], known: Collection[Subset], way_out: str, *, called: Callable[[Subset], str]
) -> None:
    """Refuse trials with scores of a set of systems for which there is no fusion.

    Raises
    ------
    TrialError
        If there are any.
    """
    unknown = {subset: rows for subset, rows in occurring.items() if subset not in known}
    if not unknown:
        return
    subset, rows = min(unknown.items(), key=lambda entry: entry[1][0])
    n_unknown = sum(map(len, unknown.values()))
    has = f"only of {called(subset)}" if subset else "of no system"
    there_are = ", ".join(map(called, list(known)[:8])) + (", ..." if len(known) > 8 else "")
    raise TrialError(
        f"scores: no fusion is for the systems that have a score (NaN stands for none) in {n_unknown:,} trials, the "
        "first ",
        int(rows[0]),
        f": it has scores {has}, and there are fusions of {there_are}. {way_out}.",
    )
