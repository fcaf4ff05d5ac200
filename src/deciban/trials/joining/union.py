"""The trials of several lists, each once: which rows of a list are trials that no list before it has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from deciban.errors import InputError
from deciban.trials.joining.append import append_trials
from deciban.trials.joining.lookup import Wanted
from deciban.trials.joining.matching import require_comparable
from deciban.trials.lists import Trials
from deciban.types import IntArray

_NONE = np.empty(0, np.int64)


def new_rows(lists: Sequence[Trials]) -> list[IntArray]:
    """Find the rows that make up the union: for every list, the trials that no list before it has.

    Parameters
    ----------
    lists : sequence of Trials

    Returns
    -------
    list of int arrays
        One for each list, in its order. Of a trial that occurs twice in a list the first row counts.

    Raises
    ------
    InputError
        If there is no list, or there are 2**63 or more possible combinations of names.
    KeyMismatchError
        If the trials are not identified in the same way.

    Examples
    --------
    >>> lists = [Trials.of({"trial": names}) for names in (["b", "a"], ["c", "b", "d"], ["d", "a", "e"])]
    >>> [rows.tolist() for rows in new_rows(lists)]
    [[0, 1], [0, 2], [2]]
    """
    if not lists:
        raise InputError("lists: none given. A union is of at least one list of trials.")
    for trials in lists[1:]:
        require_comparable(trials, lists[0])
    known = replace(lists[0], conditions={})  # they say nothing about which trials are the same
    found = [np.delete(np.arange(len(known)), Wanted(known).surplus[1])]
    for trials in lists[1:]:
        rows = _unknown(replace(trials, conditions={}), known)
        found.append(rows)
        if len(rows):
            known = append_trials([known, replace(trials, conditions={}).take(rows)])
    return found


def _unknown(trials: Trials, known: Trials) -> IntArray:
    """Rows of trials that are not known yet, each trial once."""
    rows = Wanted(trials).find(known).rows
    if rows is None:
        return _NONE
    new = np.flatnonzero(rows < 0)
    return np.delete(new, Wanted(trials.take(new)).surplus[1]) if len(new) else _NONE
