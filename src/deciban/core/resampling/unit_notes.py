"""What has to be said of the units of trials, in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from deciban.core.resampling.units import INDEPENDENT, TrialUnits
from deciban.messages import counted
from deciban.types import BoolArray


def units_in_words(units: TrialUnits) -> str:
    """Return the message on units: how many there are, and how they were found.

    Examples
    --------
    >>> units_in_words(TrialUnits.of(["ann", "bob"], noun="speaker", source="found from target trials"))
    '2 speakers, found from target trials'
    >>> units_in_words(TrialUnits.each(2))
    '2 trials taken as independent: if they share speakers or sources, the intervals are too narrow (--units)'
    """
    words = number_and_source(units.n_units, units.noun, units.source)
    if units.are_independent:
        words += ": if they share speakers or sources, the intervals are too narrow (--units)"
    return words


def number_of_units(n_units: int, noun: str, source: str) -> str:
    """Return how many units there are, and whether these are trials that are taken as independent.

    Examples
    --------
    >>> number_of_units(2, "speaker", "found from target trials")
    '2 speakers'
    >>> number_of_units(2, "trial", "trials taken as independent")
    '2 trials taken as independent'
    """
    words = counted(n_units, noun)
    return f"{words} {INDEPENDENT}" if source.endswith(INDEPENDENT) else words


def number_and_source(n_units: int, noun: str, source: str) -> str:
    """Return how many units there are, and how they were found.

    Examples
    --------
    >>> number_and_source(2, "trial", "trials taken as independent")
    '2 trials taken as independent'
    """
    words = number_of_units(n_units, noun, source)
    return words if source.endswith(INDEPENDENT) else f"{words}, {source}"


def dominated_in_words(units: TrialUnits, classes: Iterable[tuple[str, BoolArray]]) -> str:
    """Which classes have a unit in all their trials, in words; an empty text where none has.

    Parameters
    ----------
    units : TrialUnits
    classes : iterable of (str, (n_trials,) bool array)
        What trials of a class are called, and which they are: of those that count.

    Examples
    --------
    >>> units = TrialUnits.of(["ann", "ann", "bob", "cid"], noun="speaker")
    >>> is_target = np.array([True, True, False, False])
    >>> dominated_in_words(units, [("targets", is_target), ("non-targets", ~is_target)])
    'one speaker is in all targets: how other speakers would differ there, no interval can tell'
    """
    if _is_each_its_own(units):
        return ""
    return common_in_words(
        units.noun, [name for name, chosen in classes if chosen.any() and has_common_unit(units, chosen)]
    )


def common_in_words(noun: str, found: Sequence[str]) -> str:
    """What has to be said of classes of which all trials have a unit in common; an empty text where none has.

    Examples
    --------
    >>> common_in_words("speaker", [])
    ''
    """
    if not found:
        return ""
    all_of = ", in all ".join(found)
    return f"one {noun} is in all {all_of}: how other {noun}s would differ there, no interval can tell"


def has_common_unit(units: TrialUnits, chosen: BoolArray) -> bool:
    """Whether there is a unit that every one of these trials has, on either side.

    Its weight cancels in their mean: it adds nothing to what intervals say, however much it matters.

    Examples
    --------
    >>> units = TrialUnits.of([["ann", "bob"], ["cid", "ann"], ["cid", "bob"]])
    >>> has_common_unit(units, np.array([True, True, False])), has_common_unit(units, np.array([True, True, True]))
    (True, False)
    """
    first, last = int(np.argmax(chosen)), len(chosen) - 1 - int(np.argmax(chosen[::-1]))
    candidates = {int(side[first]) for side in units.codes} & {int(side[last]) for side in units.codes}
    if not candidates:
        return False
    sides = [side[chosen] for side in units.codes]
    return any(bool(np.all(np.logical_or.reduce([side == unit for side in sides]))) for unit in candidates)


def are_alike(units: TrialUnits, chosen: BoolArray) -> bool:
    """Whether all of these trials have the same units on the same sides, so that no weights of units move their mean.

    Examples
    --------
    >>> units = TrialUnits.of([["ann", "bob"], ["ann", "bob"], ["ann", "cid"]])
    >>> are_alike(units, np.array([True, True, False])), are_alike(units, np.array([True, True, True]))
    (True, False)
    """
    first = int(np.argmax(chosen))
    return all(bool(np.all((side == side[first]) | ~chosen)) for side in units.codes)


def _is_each_its_own(units: TrialUnits) -> bool:
    """Whether no two trials share a unit."""
    return len(units.codes) == 1 and units.n_units >= units.n_trials
