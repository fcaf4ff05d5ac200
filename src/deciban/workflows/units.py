"""Units of the trials of a join: from columns of the key, files or mappings that a user names, or by the kind alone."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban._arrow import constant, of_numpy
from deciban.core.resampling.unit_notes import units_in_words
from deciban.core.resampling.units import FEW_UNITS, TrialUnits
from deciban.errors import InputError, KeyMismatchError
from deciban.io.read import read_id_map
from deciban.io.source import display_name
from deciban.messages import Message, counted
from deciban.trials import IdMap, Trials
from deciban.trials.frozen import as_text
from deciban.trials.lists import PAIR, ROW
from deciban.trials.names.codes import encode, positions
from deciban.trials.units import UnitColumn, side_of, units_of_columns, units_of_trials
from deciban.types import AnyArray, BoolArray, CountArray
from deciban.workflows.how_sure import COLUMN, HowSure, UnitNaming, UnitsLike, is_file
from deciban.workflows.key_columns import complete_column

if TYPE_CHECKING:
    from deciban.workflows.kinds import AnyKind

_OF_WHAT = "says of which unit trials are"


def units_of(
    trials: Trials, truth: AnyArray, how_sure: HowSure, kind: AnyKind, weight: CountArray | None = None
) -> tuple[TrialUnits | None, tuple[Message, ...]]:
    """The units of every trial of a join, and what was assumed to find them.

    Parameters
    ----------
    trials : Trials
        Of a key, with its conditions.
    truth : (n_trials,) array
        Whether targets, or which class.
    how_sure : HowSure
    kind : AnyKind
        Which finds units where nothing is said of them.
    weight : (n_trials,) array, optional
        Trials of weight 0 make no units, and join none.

    Returns
    -------
    units : TrialUnits or None
        None where nothing is wanted, nothing says which trials share a unit, or there is but one.
    messages : tuple of Message

    Raises
    ------
    InputError, KeyMismatchError, FormatError, OSError
        If there is no such column or file, or it does not name the unit of every trial.
    """
    if not how_sure.wanted:
        return None, ()
    counting = None if weight is None or np.all(weight > 0) else np.asarray(weight > 0)
    naming = how_sure.naming
    if naming is None:
        units, said = kind.units_unasked(trials, truth, counting)
    else:
        try:
            units, said = _named(trials, naming, counting), ()
        except (InputError, KeyMismatchError) as error:
            if how_sure.units_required:
                raise
            units, said = None, (Message("units", "", f"none of these {kind.noun}s, which have no intervals: {error}"),)
    if units is None:
        return None, said
    if units.n_units < 2:
        words = f"{units_in_words(units)}: one alone says nothing of others, and there are no intervals"
        return None, (Message("units", "", words), *said)
    rough = f"; fewer than {FEW_UNITS}, so that intervals are rough" if units.n_units < FEW_UNITS else ""
    return units, (Message("units", "", units_in_words(units) + rough), *said)


def _named(trials: Trials, naming: UnitNaming, counting: BoolArray | None) -> TrialUnits:
    """Units as the user named them."""
    if naming.each_trial:
        words = "each a unit by itself as was asked for: intervals are too narrow where trials share speakers"
        return units_of_trials(trials, counting, noun="trial", source=words)
    finder = _Finder(trials, counting)
    if naming.apart or len(naming.parts) == 2:
        finder.require_two_sides(naming)
    columns = finder.columns(naming.parts)
    if naming.apart and len(columns) < 2:
        raise InputError(
            f"units: {_called(naming.parts[0])} names one unit for each trial, and 'product' is about two. Name a "
            "column for each side: product:COLUMN,COLUMN."
        )
    words = " and ".join(map(_called, naming.parts)) or "the names of both sides"
    words += ", those of one side apart from those of the other" if naming.apart else ""
    return units_of_columns(columns, counting, apart=naming.apart, noun="unit", source=f"by {words}")


def _called(part: UnitsLike) -> str:
    """What messages call that which names units."""
    if isinstance(part, IdMap | Mapping):
        return f"a mapping of {counted(len(part), 'name')}"
    return display_name(part) if isinstance(part, os.PathLike) else f"{part}".removeprefix(COLUMN)


@dataclass(frozen=True, slots=True, eq=False)
class _Finder:
    """Finds what the user named, for the trials of a join."""

    trials: Trials
    counting: BoolArray | None

    @property
    def sides(self) -> tuple[str, ...]:
        """Sides whose names a file names the units of; of two, a channel is none."""
        return self.trials.sides[:2] if self.trials.sides[:2] == PAIR else self.trials.sides

    def require_two_sides(self, naming: UnitNaming) -> None:
        """Refuse to tell sides of trials apart that have none.

        Raises
        ------
        InputError
        """
        if self.trials.sides[:2] == PAIR:
            return
        told = "rows" if self.trials.sides == ROW else "one name"
        named = "columns" if naming.parts else "sides"
        raise InputError(
            f"units: two {named} are for trials of two sides, and those of {self.trials.origin.name} have {told}. Name "
            "one column or file, or take every trial for a unit (units='trials', --units trials)."
        )

    def columns(self, parts: tuple[UnitsLike, ...]) -> list[UnitColumn]:
        """The units of every trial, or those of every trial on each side: their names, if nothing names others."""
        if not parts:
            return [side_of(self.trials, side) for side in self.sides]
        held = [self._held(part) for part in parts]
        if len(parts) == 1 and isinstance(held[0], IdMap):
            parts, held = parts * len(self.sides), held * len(self.sides)
        return [
            self._mapped(one, part, side) if isinstance(one, IdMap) else one
            for one, part, side in zip(held, parts, self.sides, strict=False)
        ]

    def _held(self, part: UnitsLike) -> UnitColumn | IdMap:
        """What the user named: a column of the trials, or what a file or a mapping says of names.

        Raises
        ------
        InputError
            If there is no such column or file, or both.
        """
        if isinstance(part, IdMap):
            return part
        if isinstance(part, Mapping):
            return _of_mapping(part)
        if isinstance(part, os.PathLike):
            return read_id_map(part)
        named = str(part)
        column = named.removeprefix(COLUMN)
        known = column in self.trials.conditions or self._side_called(column) in self.trials.sides
        is_there = column == named and is_file(named)
        if known and is_there:
            raise InputError(
                f"units: {named!r} is a column of {self.trials.origin.name} and a file. Write ./{named} for the file, "
                f"{COLUMN}{named} for the column."
            )
        if is_there:
            return read_id_map(named)
        return self._column(column)

    def _side_called(self, name: str) -> str | None:
        """The side of this name, if it is one whose names stand for somebody."""
        side = name if name in self.trials.conditions else self.trials.origin.side_called(name)
        return side if side in self.trials.sides and side != ROW[0] else None

    def _column(self, name: str) -> UnitColumn:
        side = self._side_called(name)
        if side is not None:
            return side_of(self.trials, side)
        if name not in self.trials.conditions:
            there = ", ".join((*self.sides, *self.trials.conditions)) if self.trials.sides != ROW else ""
            there = there or ", ".join(self.trials.conditions) or "none"
            raise InputError(
                f"units: {name!r} is no column of {self.trials.origin.name} (there are {there}), and no file. Name a "
                "column of the key, or a file of two columns, name and unit."
            )
        values = as_text(complete_column(self.trials, name, _OF_WHAT, self.trials.sides))
        return encode(values)

    def _mapped(self, held: IdMap, part: UnitsLike, side: str) -> UnitColumn:
        """The units of the names of a side.

        Raises
        ------
        InputError
            If trials have no names.
        KeyMismatchError
            If the units of some names are not known.
        """
        trials = self.trials
        if trials.sides == ROW:
            raise InputError(
                f"units: {_called(part)} says the units of names, and trials of {trials.origin.name} have none. Name a "
                "column of the key, or take every trial for a unit (units='trials', --units trials)."
            )
        names = trials.names[trials.sides.index(side)]
        codes, _ = side_of(trials, side)
        place = positions(names, held.left)
        if np.any(place < 0):
            self._require_known(names, codes, place < 0, held, part, side)
        units = pc.coalesce(held.right.take(of_numpy(place, lacking=place < 0)), constant(""))
        return side_of(trials, side, units)

    def _require_known(
        self, names: pa.Array, codes: AnyArray, unknown: BoolArray, held: IdMap, part: UnitsLike, side: str
    ) -> None:
        lacking = unknown[codes] if self.counting is None else unknown[codes] & self.counting
        if not lacking.any():
            return
        row = int(np.argmax(lacking))
        n_lacking, n_names = len(np.unique(codes[lacking])), len(np.unique(codes))
        name = names[int(codes[row])]
        turned = ""
        if pc.index(held.right, name).as_py() >= 0:
            turned = " It has this name in its second column, and should have names in the first, units in the second."
        raise KeyMismatchError(
            f"{self.trials.origin.where(row)}: {_called(part)} does not say the unit of {name.as_py()!r} (nor of "
            f"{n_lacking:,} of {counted(n_names, 'name')} of {side} in all).{turned} Complete it by a line for each of "
            "them, name and unit, or leave these trials out (--where)."
        )


def _of_mapping(given: Mapping[Any, Any]) -> IdMap:
    """A mapping of names to units, these as text.

    Raises
    ------
    InputError
        If a name is no text, or a unit neither a text nor a whole number.
    """
    for name, unit in given.items():
        if not isinstance(name, str) or isinstance(unit, bool) or not isinstance(unit, str | int | np.integer):
            raise InputError(f"units: got {name!r}: {unit!r}. Write the unit of each name: {{'a-1': 'ann'}}.")
        if unit == "":
            raise InputError(f"units: {name!r} has an empty unit. Name the unit of each name: {{'a-1': 'ann'}}.")
    return IdMap.from_columns(list(given), [str(unit) for unit in given.values()], source="units")
