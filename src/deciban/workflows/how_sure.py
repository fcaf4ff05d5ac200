"""What a user says about uncertainty: whose draw makes figures uncertain, and what is to be said of it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from deciban._files import PathLike
from deciban.core.resampling.intervals import LEVEL, checked_level
from deciban.core.resampling.units import TrialUnits
from deciban.errors import InputError
from deciban.evaluation.unit_trials import Resampling
from deciban.trials import IdMap

UnitsLike: TypeAlias = str | PathLike | Mapping[str, str] | IdMap
"""What names the units of one side: a column, a file, or a mapping of names to units."""

TRIALS, PRODUCT, COLUMN = "trials", "product", "column:"
"""Words that name no column and no file: every trial is a unit; the sides share none; and what names a column."""

_HOW = (
    "Name a column of the key or a file of two columns, name and unit, or one for each side with a comma between them; "
    "'trials' takes every trial for a unit, 'product' says that the sides share no units"
)


@dataclass(frozen=True, slots=True)
class UnitNaming:
    """What names the units of trials, as it was sorted.

    Attributes
    ----------
    each_trial : bool
        Whether every trial is a unit.
    apart : bool
        Whether the sides are unrelated: what is called the same on both is not the same unit.
    parts : tuple of str, path, mapping or IdMap
        One, or one for each side; none if units have the names of trials.
    """

    each_trial: bool = False
    apart: bool = False
    parts: tuple[UnitsLike, ...] = ()

    @classmethod
    def of(cls, units: Any) -> UnitNaming:
        """Sort what was said of units.

        Raises
        ------
        InputError
            If this is nothing that could name them.

        Examples
        --------
        >>> UnitNaming.of("product:model_speaker,test_speaker")
        UnitNaming(each_trial=False, apart=True, parts=('model_speaker', 'test_speaker'))
        """
        given, apart = units, False
        if isinstance(given, str):
            if given in (TRIALS, PRODUCT):
                return cls(each_trial=given == TRIALS, apart=given == PRODUCT)
            first, colon, rest = given.partition(":")
            given, apart = (rest, True) if colon and first == PRODUCT else (given, False)
            given = [part.strip() for part in given.split(",")]
        parts = tuple(given) if isinstance(given, Sequence) else (given,)
        if not 1 <= len(parts) <= 2 or not all(map(_names_units, parts)):
            raise InputError(f"units: got {_short(units)}. {_HOW}.")
        if any(isinstance(part, str) and part == "-" for part in parts):
            raise InputError("units: '-' is standard input, from which units are not read. Name a file.")
        return cls(apart=apart, parts=parts)


def _names_units(part: Any) -> bool:
    if isinstance(part, str):
        return bool(part) and part not in (TRIALS, PRODUCT, COLUMN)
    return isinstance(part, os.PathLike | Mapping | IdMap)


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


@dataclass(frozen=True, slots=True, kw_only=True)
class HowSure:
    """What is wanted about the uncertainty of figures.

    Attributes
    ----------
    units : str, path, mapping of str to str, or sequence of one or two of these, optional
        Whose draw makes figures uncertain. A column of the key, a side of the trials, or a file with the unit of every
        name (as ``utt2spk`` of Kaldi; CSV too), or a mapping of names to units; one, or one for each side:
        ``"speaker"``, ``"enroll_spk,test_spk"``, ``("enroll_spk", "test.utt2spk")``. ``"trials"``: every trial is a
        unit. ``"product"``: the two sides have no units in common, which are their names or, as in
        ``"product:enroll_spk,test_spk"``, what is named. Left out, speakers are found from target trials, and of many
        classes every segment is a unit.
    level : float
        Of intervals: a share inside (0, 1).
    intervals : bool
        Whether figures have intervals.
    bootstrap : int
        Number of bootstrap replicates; 0 for none.
    seed : int
        From which replicates are drawn: 0 to 2**64 - 1.
    optimism : bool, optional
        Whether the optimism of minima is estimated; left out, of two classes only.
    units_required : bool
        Whether trials that lack what ``units`` names are refused. If not, they have no intervals, and a message says
        so.
    keep : bool, optional
        Whether the influences of units are kept, as comparisons need them; left out, unless they are very many.

    Raises
    ------
    InputError
        If one of these is none.

    Examples
    --------
    >>> HowSure(units="speaker", level=0.9).naming.parts
    ('speaker',)
    """

    units: UnitsLike | Sequence[UnitsLike] | None = None
    level: float = LEVEL
    intervals: bool = True
    bootstrap: int = 0
    seed: int = 0
    optimism: bool | None = None
    units_required: bool = True
    keep: bool | None = None

    def __post_init__(self) -> None:
        _ = self.naming
        object.__setattr__(self, "level", checked_level(self.level))
        object.__setattr__(self, "bootstrap", _whole(self.bootstrap, "bootstrap", "a number of replicates", 2**31 - 1))
        object.__setattr__(self, "seed", _whole(self.seed, "seed", "a seed", 2**64 - 1))
        for name in ("intervals", "optimism"):
            value = getattr(self, name)
            if not isinstance(value, bool | np.bool_) and (name == "intervals" or value is not None):
                raise InputError(f"{name}: got {value!r}. It is True or False.")
        for name in ("bootstrap", "optimism"):
            if getattr(self, name) and not self.intervals:
                raise InputError(f"{name}: is about intervals, and intervals=False (--no-intervals) asks for none.")

    @property
    def naming(self) -> UnitNaming | None:
        """What names the units; None if nothing was said."""
        return None if self.units is None else UnitNaming.of(self.units)

    def resampling(self, units: TrialUnits | None) -> Resampling | None:
        """What evaluations make intervals of; None where units are not known, or no intervals are wanted."""
        if units is None or not self.intervals:
            return None
        drawn = Resampling(units=units, bootstrap=self.bootstrap, seed=self.seed)
        return replace(drawn, level=self.level, optimism=self.optimism, keep=self.keep)

    @property
    def files(self) -> list[PathLike]:
        """What is read besides scores and key, as far as there is such a file."""
        parts = () if self.naming is None else self.naming.parts
        return [one for one in parts if isinstance(one, str | os.PathLike) and is_file(one)]


def is_file(name: PathLike) -> bool:
    """Whether there is something of this name that can be read; a folder cannot."""
    try:
        return Path(name).exists() and not Path(name).is_dir()
    except (OSError, ValueError):  # too long for a name, or not to be looked at
        return False


def _whole(value: Any, name: str, what: str, most: int) -> int:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer) or not 0 <= value <= most:
        raise InputError(f"{name}: got {_short(value)}. It is {what}, a whole number from 0 to {most:,}.")
    return int(value)
