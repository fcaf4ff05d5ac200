"""Units of trials from names: from a unit for each name, or from target trials, whose sides are one speaker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from deciban._arrow import encode, pc
from deciban._validate import arrays as _validate
from deciban.core.resampling.units import Keys, SpeakersByName, TrialUnits, independent, keys_of, mixed_bits
from deciban.errors import InputError, Message, counted, option
from deciban.trials.lists import PAIR, PAIR_SIDE, ROW, Trials
from deciban.types import AnyArray, BoolArray, IntArray

UnitColumn: TypeAlias = tuple[IntArray, pa.Array]
"""A unit for each trial: indices in a list of names, and this list."""


def require_two_sides(sides: Sequence[str], name: str, *, named: str) -> None:
    """Refuse two unit columns or files for trials without two sides.

    Parameters
    ----------
    sides : sequence of str
        The sides of the trials.
    name : str
        Name of the trials for messages.
    named : str
        A plural noun for the two things: columns or files.

    Raises
    ------
    InputError

    Examples
    --------
    >>> require_two_sides(("enroll", "test"), "trials", named="columns")
    """
    if all(side in sides for side in PAIR):
        return
    instead = "rows" if tuple(sides) in {(), ROW} else "one name"
    raise InputError(
        f"units: two {named} need trials with two sides, but the trials of {name} have {instead}. Name one column or "
        f"file, or treat each trial as a unit ({option(units='trials')})."
    )


def notes_on_speakers(name: SpeakersByName, keys: Keys, n_contradictions: int) -> tuple[Message, ...]:
    """Return notes on speakers that were found from target trials, given the keys of those with evaluated trials."""
    words, n_alone = list[str](), len(np.setdiff1d(keys, name.linked))
    if 10 * n_alone > len(keys):  # the effect of few is small
        alone = f"the {len(keys):,} speakers include {counted(n_alone, 'name')} without target trials"
        words.append(f"{alone}: unlinked names count as separate speakers")
    if name.apart:
        words.append("equal names on the two sides are treated as different names, because the key contradicts")
    if n_contradictions:
        which = counted(n_contradictions, "non-target trial")
        words.append(f"{which} with one speaker on both sides, by the target trials")
    return tuple(Message("note", "", one) for one in words)


def side_of(trials: Trials, side: str) -> UnitColumn:
    """Return the names of one side of trials as units."""
    at = trials.sides.index(side)
    return _codes(trials, at), trials.names[at]


def _codes(trials: Trials, at: int) -> AnyArray:
    """Return the index of the name of each trial on one side; for a full grid, nothing is cached."""
    if trials.listed is not None or trials.mask is not None:
        return trials.codes[at]
    n_enroll, n_test = map(len, trials.names)
    names = np.arange(n_test if at else n_enroll, dtype=np.int32)
    return np.tile(names, n_enroll) if at else np.repeat(names, n_test)


def units_of_columns(
    columns: Sequence[UnitColumn], counting: BoolArray | None = None, *, apart: bool = False, noun: str, source: str
) -> TrialUnits:
    """Return units from one column, or from one column for each side of a trial.

    Units are sorted by their keys, which depend only on their names, not on the order of trials.

    Parameters
    ----------
    columns : sequence of UnitColumn
    counting : (n_trials,) bool array, optional
        True for trials that count. Units of other trials only are dropped, and these trials get the code 0.
    apart : bool
        True if equal names on the two sides are two units.
    noun, source : str
        See `TrialUnits`.

    Examples
    --------
    >>> trials = Trials.of({"enroll": ["ann", "ann"], "test": ["bob", "ann"]})
    >>> columns = [side_of(trials, "enroll"), side_of(trials, "test")]
    >>> [units_of_columns(columns, apart=how, noun="speaker", source="names").n_units for how in (False, True)]
    [2, 3]
    """
    codes = [codes for codes, _ in columns]
    all_names = [pc.cast(names, pa.string()) for _, names in columns]
    if apart:
        place, keys = _numbered_apart(all_names)
    else:
        merged, distinct = encode(pa.concat_arrays(all_names))
        place, keys = np.split(merged, np.cumsum([len(one) for one in all_names])[:-1]), _keys(distinct)
    return _in_order(codes, place, keys, counting, noun=noun, source=source)


def _numbered_apart(names: Sequence[pa.Array]) -> tuple[list[AnyArray], Keys]:
    """Return indices of the names of each side in a common list, and keys; the second side has different keys."""
    place: list[AnyArray] = []
    keys = list[Keys]()
    for one in names:
        place.append(np.arange(len(one), dtype=np.int32) + sum(map(len, keys)))
        keys.append(mixed_bits(_keys(one)) if len(keys) else _keys(one))
    return place, np.concatenate(keys)


def _keys(names: pa.Array) -> Keys:
    return keys_of(np.array(names.to_pylist(), np.object_))


def _in_order(
    codes: Sequence[IntArray],
    place: Sequence[IntArray],
    keys: Keys,
    counting: BoolArray | None,
    *,
    noun: str,
    source: str,
) -> TrialUnits:
    """Return the units that occur in trials, sorted by their keys."""
    used = np.zeros(len(keys), np.bool_)
    for own, where in zip(codes, place, strict=True):
        values = np.zeros(len(where), np.bool_)
        values[own if counting is None else own[counting]] = True
        used[where[values]] = True
    indices = np.flatnonzero(used)
    indices = indices[np.argsort(keys[indices], kind="stable")]
    number: AnyArray = np.zeros(len(keys), np.int32)
    number[indices] = np.arange(len(indices), dtype=np.int32)
    sides = tuple(number[where][own] for own, where in zip(codes, place, strict=True))
    if counting is not None:
        for side in sides:
            side[~counting] = 0
    return TrialUnits(sides, keys[indices], noun, source)


def units_of_trials(trials: Trials, counting: BoolArray | None = None, *, noun: str) -> TrialUnits:
    """Return each trial as a unit, with a key from its names or, without names, from its row.

    Trials that do not count share the code 0.

    Examples
    --------
    >>> trials = Trials.of({"trial": ["a", "b"]})
    >>> other = units_of_trials(trials.take(np.array([1, 0])), noun="trial")
    >>> bool(np.all(units_of_trials(trials, noun="trial").keys == other.keys))
    True
    """
    n_trials = len(trials)
    rows: AnyArray = np.arange(n_trials, dtype=np.int32)
    if trials.sides == ROW:
        keys = mixed_bits(trials.numbers)
        if counting is None:  # their order is that of the rows
            return TrialUnits((rows,), keys, noun, independent(noun))
    else:
        keys = keys_of_trials([_keys(names)[_codes(trials, at)] for at, names in enumerate(trials.names)])
    return _in_order([rows], [rows], keys, counting, noun=noun, source=independent(noun))


def keys_of_trials(sides: Sequence[Keys]) -> Keys:
    """Return a number for each trial, computed from the numbers of the names of its sides.

    Examples
    --------
    >>> ann, bob = keys_of(["ann"]), keys_of(["bob"])
    >>> bool(keys_of_trials([ann, bob]) == keys_of_trials([bob, ann]))
    False
    """
    first, *others = sides
    for other in others:
        first = mixed_bits(first ^ mixed_bits(other))
    return first


@dataclass(frozen=True, slots=True, eq=False)
class FoundSpeakers:
    """Speakers found from target trials: both sides of a target trial are one speaker, and such links are chained.

    Attributes
    ----------
    units : TrialUnits
        Units of each trial; a name without target trials is a separate speaker.
    n_contradictions : int
        Number of non-target trials with the same speaker on both sides.
    by_name : SpeakersByName
        The speaker of each name.
    """

    units: TrialUnits
    n_contradictions: int
    by_name: SpeakersByName


def speakers_of(trials: Trials, is_target: BoolArray, counting: BoolArray | None = None) -> FoundSpeakers:
    """Find the speakers of trials with two sides: enrolment and test of a target trial are one speaker.

    A name on both sides is one recording or model, unless the key contradicts: if equal names would give non-target
    trials with one speaker on both sides, and separate names would give none, the names of the two sides are separate.

    Parameters
    ----------
    trials : Trials
    is_target : (n_trials,) bool array
    counting : (n_trials,) bool array, optional
        True for trials that count. Other trials neither connect names nor define units.

    Raises
    ------
    InputError
        If trials do not have two sides.

    Examples
    --------
    >>> trials = Trials.of({"enroll": ["m1", "m2", "m1", "m2"], "test": ["x", "y", "y", "z"]})
    >>> found = speakers_of(trials, np.array([True, True, False, False]))
    >>> found.units.n_units, found.n_contradictions, found.by_name.apart
    (3, 0, False)
    """
    if trials.sides not in (PAIR, PAIR_SIDE):
        raise InputError(f"{trials.origin.name}: the trials do not have two sides, so speakers cannot be found.")
    truth, has_channels = _validate.truth(is_target, len(trials)), trials.sides == PAIR_SIDE
    used = slice(None) if counting is None else np.flatnonzero(counting)
    codes, keys = _names_of_sides(trials)
    names, at = list[Keys](), list[AnyArray]()
    for own, side in zip(keys, codes, strict=True):
        there = np.flatnonzero(np.bincount(side[used]))
        there = there[np.argsort(own[there])]
        at.append(np.full(len(own), -1))  # a name without trials that count has no speaker
        at[-1][there] = np.arange(len(there))
        names.append(own[there])
    linking = np.flatnonzero(truth if counting is None else truth & counting)
    links = [place[side[linking]] for place, side in zip(at, codes, strict=True)]

    def joined(*, apart: bool) -> FoundSpeakers:
        result = SpeakersByName.of((names[0], names[1]), links, apart=apart, has_channels=has_channels)
        places = zip(result.codes, at, codes, strict=True)
        sides: list[AnyArray] = [np.append(own, 0)[place].astype(np.int32)[side] for own, place, side in places]
        enroll, test = sides
        same = (enroll == test) & ~truth
        if counting is not None:
            enroll[~counting] = test[~counting] = 0
            same &= counting
        return FoundSpeakers(replace(result.about, codes=(enroll, test)), int(np.count_nonzero(same)), result)

    result = joined(apart=False)
    if not result.n_contradictions or has_channels or not len(np.intersect1d(names[0], names[1])):
        return result
    other = joined(apart=True)
    return result if other.n_contradictions else other


def _names_of_sides(trials: Trials) -> tuple[list[AnyArray], list[Keys]]:
    """Return, for each side, the index of the name of each trial, and the keys of names; channels are part of names."""
    codes: list[AnyArray] = [_codes(trials, 0), _codes(trials, 1)]
    keys = [_keys(names) for names in trials.names]
    if trials.sides == PAIR:
        return codes, keys
    n_channels = len(trials.names[2])
    channels = codes[1].astype(np.int64) * n_channels + _codes(trials, 2)
    pairs, codes[1] = np.unique(channels, return_inverse=True)
    return codes, [keys[0], mixed_bits(keys[1][pairs // n_channels] ^ mixed_bits(keys[2][pairs % n_channels]))]
