"""What has to be said of the units of trials, in words that stay with the numbers."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from deciban.core.resampling.units import FEW_UNITS, TrialUnits
from deciban.messages import counted
from deciban.types import BoolArray


def units_in_words(units: TrialUnits) -> str:
    """How many units there are, and how they were found.

    Examples
    --------
    >>> units_in_words(TrialUnits.of(["ann", "bob"], noun="speaker", source="found from target trials"))
    '2 speakers, found from target trials'
    """
    return f"{counted(units.n_units, units.noun)}, {units.source}"


def notes_on(units: TrialUnits, classes: Iterable[tuple[str, BoolArray]] = ()) -> tuple[str, ...]:
    """What a reader must know of units before quoting an interval; nothing where all is well.

    Parameters
    ----------
    units : TrialUnits
        Of the trials that count.
    classes : iterable of (str, (n_trials,) bool array)
        What trials of a class are called, and which these are: a class whose trials all share a unit says nothing of
        other units.

    Examples
    --------
    >>> notes_on(TrialUnits.of([f"s{k}" for k in range(12)], noun="speaker"))
    ('only 12 speakers: intervals are rough below 30',)
    >>> units = TrialUnits.of([f"s{max(k, 2)}" for k in range(60)], noun="speaker")
    >>> import numpy as np
    >>> notes_on(units, [("targets", np.arange(60) < 3), ("non-targets", np.arange(60) >= 3)])
    ('all targets share one speaker: how much they would differ for others, nobody can tell from them',)
    """
    found = list[str]()
    if units.are_trials:
        found.append(
            "every trial was taken for a unit: intervals are too narrow where trials share speakers or sources"
        )
    if units.n_units == 1:
        found.append(f"one {units.noun} only: nothing says how others would differ, and there are no intervals")
    elif units.n_units < FEW_UNITS:
        found.append(f"only {counted(units.n_units, units.noun)}: intervals are rough below {FEW_UNITS}")
    if units.n_units == 1 or _is_each_its_own(units):
        return tuple(found)
    shared = [name for name, chosen in classes if chosen.any() and has_common_unit(units, chosen)]
    if shared:
        words = f"share one {units.noun}: how much they would differ for others, nobody can tell from them"
        found.append(f"all {' and all '.join(shared)} {words}")
    return tuple(found)


def has_common_unit(units: TrialUnits, chosen: BoolArray) -> bool:
    """Whether there is a unit that every one of these trials has on some side.

    Its weight cancels in their mean: it adds nothing to what intervals say, however much it matters.

    Examples
    --------
    >>> units = TrialUnits.of([["ann", "bob"], ["cid", "ann"], ["cid", "bob"]])
    >>> has_common_unit(units, np.array([True, True, False])), has_common_unit(units, np.array([True, True, True]))
    (True, False)
    """
    first = int(np.argmax(chosen))
    return any(
        bool(np.all(np.logical_or.reduce([side == unit for side in units.codes])[chosen]))
        for unit in {int(side[first]) for side in units.codes}
    )


def _is_each_its_own(units: TrialUnits) -> bool:
    """Whether no two trials share a unit."""
    return len(units.codes) == 1 and units.n_units >= units.n_trials
