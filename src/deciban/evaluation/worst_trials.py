"""The trials that mislead most: those whose evidence for their own class is weakest, or speaks against it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deciban.evaluation.as_json import plain
from deciban.multiclass.tables import detection_llr
from deciban.types import AnyArray, BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class WorstTrial:
    """A trial and what its scores say against it.

    Attributes
    ----------
    names : tuple of str
        What identifies it.
    truth : str
        Its class.
    taken_for : str
        The other class that is most likely by its scores.
    llr : float
        Of its class against the others at equal shares, in nats.
    cost : float
        Logarithmic cost at the flat prior, in bits; infinite for certainty in another class.
    """

    names: tuple[str, ...]
    truth: str
    taken_for: str
    llr: float
    cost: float


@dataclass(frozen=True, slots=True)
class WorstTrials:
    """The most misleading trials of one system.

    Attributes
    ----------
    system : str
    sides : tuple of str
        What names of trials are.
    trials : tuple of WorstTrial
        Of two classes targets, then non-targets, of many classes all together; the worst first, equal ones by name.
    """

    system: str
    sides: tuple[str, ...]
    trials: tuple[WorstTrial, ...]

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON types."""
        rows = [
            {
                "names": dict(zip(self.sides, one.names, strict=True)),
                "class": one.truth,
                "taken_for": one.taken_for,
                "llr": one.llr,
                "cost": one.cost,
            }
            for one in self.trials
        ]
        found: dict[str, Any] = plain({"worst_trials": rows})
        return found


def headings_of(one: WorstTrials, classes: Sequence[str]) -> list[str]:
    """Headings of a table of `rows_of`; with many classes there is one for the class that a trial is taken for."""
    return [*one.sides, "class", *(["taken for"] if classes else []), "llr", "cost"]


def rows_of(one: WorstTrials, classes: Sequence[str], write: Callable[[float], str]) -> list[tuple[str, ...]]:
    """Rows of such a table, of which the last two cells are numbers.

    Parameters
    ----------
    one : WorstTrials
    classes : sequence of str
        Empty for targets and non-targets.
    write : function
        From a number to text.
    """
    return [
        (*row.names, row.truth, *([row.taken_for] if classes else []), write(row.llr), write(row.cost))
        for row in one.trials
    ]


def true_llrs(loglik: FloatArray, truth: IntArray) -> FloatArray:
    """Evidence of each trial for its own class against the others at equal shares, in nats.

    Parameters
    ----------
    loglik : (n_trials, n_classes) array
    truth : (n_trials,) int array

    Examples
    --------
    >>> true_llrs(np.array([[2.0, 0.0], [2.0, 0.0]]), np.array([0, 1])).tolist()
    [2.0, -2.0]
    """
    found = np.empty(len(truth))
    for k in range(loglik.shape[1]):
        rows = np.flatnonzero(truth == k)
        if len(rows):
            found[rows] = detection_llr(loglik[rows], target=k)
    return found


def worst_trials(
    loglik: FloatArray,
    truth: IntArray,
    *,
    most: int,
    classes: Sequence[str],
    names_of: Callable[[int], tuple[str, ...]],
    counting: BoolArray | None = None,
) -> tuple[WorstTrial, ...]:
    """Find the trials with the least evidence for their own class.

    Parameters
    ----------
    loglik : (n_trials, n_classes) array
        In nats; of two classes the log-likelihood ratio and 0.
    truth : (n_trials,) int array
    most : int
        How many; of two classes of each of them.
    classes : sequence of str
        What the columns are called.
    names_of : function
        From a row to the names of its trial.
    counting : (n_trials,) bool array, optional
        Trials that count, where some do not.

    Examples
    --------
    >>> loglik = np.array([[3.0, 0.0], [-1.0, 0.0], [2.5, 0.0], [-4.0, 0.0]])
    >>> found = worst_trials(loglik, np.array([0, 0, 1, 1]), most=1, classes=("target", "non-target"),
    ...     names_of=lambda row: ("abcd"[row],))
    >>> [(one.names[0], one.truth, one.llr, round(one.cost, 1)) for one in found]
    [('b', 'target', -1.0, 1.9), ('c', 'non-target', -2.5, 3.7)]
    """
    llr, n_classes = true_llrs(loglik, truth), loglik.shape[1]
    kept = np.arange(len(truth)) if counting is None else np.flatnonzero(counting)
    groups = [kept[truth[kept] == k] for k in range(2)] if n_classes == 2 else [kept]
    found = []
    for rows in groups:
        for row, names in _least(llr, rows, most, names_of):
            rivals = np.where(np.arange(n_classes) == truth[row], -np.inf, loglik[row])
            cost = float(np.logaddexp(0.0, math.log(n_classes - 1) - llr[row])) / math.log(2)
            own, other = classes[int(truth[row])], classes[int(np.argmax(rivals))]
            found.append(WorstTrial(names, own, other, float(llr[row]), cost))
    return tuple(found)


def _least(
    llr: FloatArray, rows: AnyArray, most: int, names_of: Callable[[int], tuple[str, ...]]
) -> list[tuple[int, tuple[str, ...]]]:
    """Rows with the least evidence and their names; of equal ones at the border those whose names come first."""
    n = min(most, len(rows))
    if not n:
        return []
    border = np.partition(llr[rows], n - 1)[n - 1]
    near = rows[llr[rows] <= border].tolist()
    named = sorted((float(llr[row]), names_of(row), row) for row in near)
    return [(row, names) for _, names, row in named[:n]]
