"""Units of rows of tables: what a column says, or what a file or a mapping says of names."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban._arrow import of_numpy
from deciban._files import display_name
from deciban.core.resampling.units import TrialUnits, independent, mixed_bits
from deciban.errors import InputError, KeyMismatchError
from deciban.io.columns.values import plain
from deciban.io.contents import RowError
from deciban.io.read import read_id_map
from deciban.io.shards.names import keys_in
from deciban.messages import counted
from deciban.trials import IdMap
from deciban.trials.frozen import as_text
from deciban.trials.names.codes import encode, positions
from deciban.trials.units import UnitColumn, keys_of_trials, require_two_sides, units_of_columns

_COLUMN = "column:"


@dataclass(frozen=True, slots=True)
class UnitsOf:
    """Where the units of rows stand.

    Attributes
    ----------
    columns : tuple of str
        One, or one for each side.
    maps : tuple of IdMap or None
        For each column what its names stand for; None for themselves.
    called : tuple of str
        What messages call the maps.
    apart : bool
        Whether the same name on both sides is not the same unit.
    """

    columns: tuple[str, ...]
    maps: tuple[IdMap | None, ...]
    called: tuple[str, ...]
    apart: bool

    @classmethod
    def named(
        cls, parts: Sequence[Any], sides: Mapping[str, str], names: Sequence[str], name: str, *, apart: bool
    ) -> Self:
        """Find what a user named: columns, files or mappings, one or one for each side; none for the sides themselves.

        Parameters
        ----------
        parts : sequence
        sides : mapping of str to str
            Columns with the names of the sides of trials, by side.
        names : sequence of str
            Columns that can name units: those of the sides, and of conditions.
        name : str
            What messages call the table.
        apart : bool

        Raises
        ------
        InputError, FormatError, OSError
            If there is no such column or file.
        """
        if apart or len(parts) == 2:
            require_two_sides([*sides], name, named="columns" if parts else "sides")
        of_column = {column: side for side, column in sides.items()}
        found: list[tuple[str, IdMap | None, str]] = []
        for at, part in enumerate(parts or sides):
            column = part.removeprefix(_COLUMN) if isinstance(part, str) else ""
            column = sides.get(column, column) if column not in names else column
            if column in names:
                side = of_column.get(column)
                of_side = f"the names of {side if parts else ' and '.join(sides)}"
                found.append((column, None, f"column {column!r}" if side is None else of_side))
                continue
            units, called = _map(part, name, names)
            own = [*sides.values()][at : at + 1] if len(parts) > 1 else [*sides.values()]
            if not own:
                raise InputError(f"units: {called} says the units of names, and trials of {name} have none there.")
            found += [(side, units, called) for side in own]
        if not found or (apart and len(found) < 2):
            raise InputError(f"units: trials of {name} have no names on {1 + apart} sides. Name columns (--units).")
        columns, maps, called_by = zip(*found, strict=True)
        return cls(columns, maps, called_by, apart)

    def of(self, table: pa.Table, start: int) -> TrialUnits:  # noqa: ARG002  # columns say it
        """The units of rows.

        Raises
        ------
        RowError, KeyMismatchError
            If a row has none.
        """
        found: list[UnitColumn] = []
        for name, units, called in zip(self.columns, self.maps, self.called, strict=True):
            column = as_text(plain(table.column(name)).combine_chunks())
            empty = pc.fill_null(pc.equal(pc.cast(column, pa.string()), ""), fill_value=True)
            if pc.any(empty).as_py():
                row = pc.index(empty, value=True).as_py()
                raise RowError(f"column {name} is empty, and says of which unit trials are", row)
            codes, names = encode(column)
            if units is not None:
                place = positions(names, units.left)
                if len(place) and place.min() < 0:
                    lacking = names[int(np.argmax(place < 0))].as_py()
                    raise KeyMismatchError(f"{called} does not say the unit of {lacking!r}. Complete it by a line")
                codes_of_units, names = encode(units.right.take(of_numpy(place)))
                codes = codes_of_units[codes]
            found.append((codes, names))
        words = " and ".join(dict.fromkeys(self.called))
        words += ", those of one side apart from those of the other" if self.apart else ""
        return units_of_columns(found, apart=self.apart, noun="unit", source=f"by {words}")


@dataclass(frozen=True, slots=True)
class EachTrial:
    """Every row is a unit, known by its names; where there are none, by its number among all rows.

    Attributes
    ----------
    columns : tuple of str
        With the names of its sides.
    """

    columns: tuple[str, ...]

    def of(self, table: pa.Table, start: int) -> TrialUnits:
        """The units of rows, the first of which has the number ``start``.

        Raises
        ------
        RowError
            If a row has no name.

        Examples
        --------
        >>> table = pa.table({"a": ["x", "x"], "b": ["y", "z"]})
        >>> EachTrial(("a", "b")).of(table, 0).n_units, EachTrial(()).of(table, 7).noun
        (2, 'trial')
        """
        n_rows = table.num_rows
        if self.columns:
            keys = keys_of_trials([keys_in(table, name) for name in self.columns])
        else:
            keys = mixed_bits(np.arange(start, start + n_rows))
        return TrialUnits((np.arange(n_rows),), keys, "trial", independent("trial"))


def _map(part: Any, name: str, names: Sequence[str]) -> tuple[IdMap, str]:
    """What a file or a mapping says of names, and what messages call it."""
    if isinstance(part, IdMap):
        return part, f"a mapping of {counted(len(part), 'name')}"
    if isinstance(part, Mapping):
        units = IdMap.from_columns(list(part), list(map(str, part.values())), source="units")
        return units, f"a mapping of {counted(len(part), 'name')}"
    if isinstance(part, os.PathLike) or Path(str(part)).is_file():
        return read_id_map(part), display_name(part)
    raise InputError(
        f"units: {part!r} is no column of {name} (there are {', '.join(names)}), and no file. Name a column of the "
        "key, or a file of two columns, name and unit."
    )
