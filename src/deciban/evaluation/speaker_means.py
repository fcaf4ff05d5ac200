"""Speakers as animals of a zoo: who is hard to recognize, and who is taken for others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.core.resampling.units import TrialUnits
from deciban.errors import InputError
from deciban.types import AnyArray, BoolArray, FloatArray

QUARTER = 0.25
"""Share of speakers beyond a limit."""

LEAST = 4
"""Speakers: a quarter of fewer is nobody."""

ANIMALS = ("doves", "chameleons", "phantoms", "worms")


@dataclass(frozen=True, slots=True, eq=False)
class Menagerie:
    """Mean scores of speakers, of those who have target and non-target trials.

    Attributes
    ----------
    name : str
        Of the system.
    noun : str
        What a unit is called: a speaker mostly.
    tar_mean, non_mean : (n_units,) arrays
        Of the target and the non-target trials of each unit.
    tar_limits, non_limits : (float, float)
        Lower and upper quartile of these means.
    n_left_out : int
        Units without target or without non-target trials.
    """

    name: str
    noun: str
    tar_mean: FloatArray
    non_mean: FloatArray
    tar_limits: tuple[float, float]
    non_limits: tuple[float, float]
    n_left_out: int

    def members(self, animal: str) -> BoolArray:
        """Which units are animals of a kind.

        Parameters
        ----------
        animal : {"doves", "chameleons", "phantoms", "worms"}

        Returns
        -------
        (n_units,) bool array
        """
        has_high_tar = animal in ("doves", "chameleons")
        has_high_non = animal in ("chameleons", "worms")
        tar = self.tar_mean >= self.tar_limits[1] if has_high_tar else self.tar_mean <= self.tar_limits[0]
        non = self.non_mean >= self.non_limits[1] if has_high_non else self.non_mean <= self.non_limits[0]
        found: BoolArray = tar & non
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return what ``deciban plot zoo --json`` prints of the system."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return values | {"members": {animal: int(self.members(animal).sum()) for animal in ANIMALS}}


def menagerie(
    scores: ArrayLike,
    is_target: ArrayLike,
    units: ArrayLike | TrialUnits,
    *,
    sample_weight: ArrayLike | None = None,
    name: str = "scores",
) -> Menagerie:
    """Mean target and non-target score of every speaker, with the quartiles that part kinds of speakers.

    Parameters
    ----------
    scores : (n_trials,) array_like
    is_target : (n_trials,) array_like
    units : (n_trials,) or (n_trials, 2) array_like, or TrialUnits
        The speaker of each trial, or those of its two sides: a trial counts for both, but once for each.
    sample_weight : (n_trials,) array_like, optional
        How much each trial counts in the means of its speakers: 2 like two copies, 0 like none. Speakers count alike.
    name : str
        Of the system.

    Returns
    -------
    Menagerie

    Raises
    ------
    InputError
        If lengths differ, a score is NaN or infinite, or fewer than 4 speakers have trials of both classes.

    Notes
    -----
    With the upper and lower quarter of the mean target scores, and those of the mean non-target scores: doves are high
    and low, chameleons high and high, phantoms low and low, worms low and high. Were both means independent, each
    would be one speaker of 16. Source: Yager and Dunstone, The biometric menagerie, IEEE Transactions on Pattern
    Analysis and Machine Intelligence 32, 2010.

    Examples
    --------
    >>> pairs = [[i, j] for i in range(4) for j in range(i, 4)]
    >>> found = menagerie([9, 2, 2, 4, 8, 2, 4, 3, 4, 1], [i == j for i, j in pairs], pairs)
    >>> found.tar_mean.tolist(), found.non_mean.round(2).tolist()
    ([9.0, 8.0, 3.0, 1.0], [2.67, 2.67, 2.67, 4.0])
    >>> found.members("worms").tolist()
    [False, False, False, True]
    """
    values = np.asarray(_validate.scores(scores, "scores"), np.float64)
    truth, weight = _validate.labels(is_target, sample_weight, len(values))
    weight = np.ones(len(values)) if weight is None else np.asarray(weight, np.float64)
    own = units if isinstance(units, TrialUnits) else TrialUnits.of(units)
    if own.n_trials != len(values):
        raise InputError(f"units: of {own.n_trials} trials, but there are {len(values)}. Give one for each trial.")
    n_wrong = int(np.count_nonzero(~np.isfinite(values[weight > 0.0])))
    if n_wrong:
        raise InputError(f"scores: {n_wrong} are infinite, and means of these say nothing. Give finite scores.")
    tar, non = (_means(values, weight, chosen & (weight > 0.0), own) for chosen in (truth, ~truth))
    known = ~(np.isnan(tar) | np.isnan(non))
    if np.count_nonzero(known) < LEAST:
        raise InputError(
            f"units: {np.count_nonzero(known)} of {own.n_units} {own.noun}s have target and non-target trials; "
            f"quarters need {LEAST}. Name those that trials share (units=)."
        )
    tar, non = tar[known], non[known]
    return Menagerie(name, own.noun, tar, non, _quartiles(tar), _quartiles(non), own.n_units - len(tar))


def _quartiles(means: FloatArray) -> tuple[float, float]:
    low, high = np.quantile(means, (QUARTER, 1.0 - QUARTER)).tolist()
    return low, high


def _means(values: FloatArray, weight: FloatArray, chosen: AnyArray, units: TrialUnits) -> FloatArray:
    """Mean of some trials for each unit on any of their sides; NaN for units without any."""
    first, *others = units.codes
    sides = [(first[chosen], chosen)]
    for side in others:
        apart = chosen & (side != first)  # a unit on both sides counts once
        sides.append((side[apart], apart))
    codes = np.concatenate([side for side, _ in sides])
    counts = np.bincount(codes, np.concatenate([weight[own] for _, own in sides]), minlength=units.n_units)
    weighted = np.concatenate([weight[own] * values[own] for _, own in sides])
    sums = np.bincount(codes, weighted, minlength=units.n_units)
    means: FloatArray = np.divide(sums, counts, out=np.full(units.n_units, np.nan), where=counts > 0)
    return means
