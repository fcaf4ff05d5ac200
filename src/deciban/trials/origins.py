"""Where the rows of a table came from, for messages. All of it can be pickled if the finder of lines can."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deciban.types import IntArray


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a table came from, for messages.

    ``name`` is what messages call it, ``reading`` how it was understood, ``line`` finds the line of a row, and
    ``place`` names a row in any other way. ``sides`` has the columns of a file that became sides of trials, as pairs:
    ``("modelid", "enroll")``.
    """

    name: str
    reading: str = ""
    line: Callable[[int], int | None] | None = None
    place: Callable[[int], str] | None = None
    sides: tuple[tuple[str, str], ...] = ()

    def side_called(self, column: str) -> str:
        """The side of trials that a column of the file became; the same name where it became none."""
        return dict(self.sides).get(column, column)

    def where(self, row: int) -> str:
        """Name the place of a row: ``file:line``, or the row itself where there are no lines."""
        if self.place is not None:
            return self.place(row)
        return self._shown(row, None if self.line is None else self.line(row))

    def where_all(self, rows: Sequence[int]) -> list[str]:
        """Name the places of several rows; to find a line may cost a pass over the file, so few are looked up."""
        if isinstance(self.place, Taken | Appended):
            return self.place.all(rows)
        if self.place is not None:
            return [self.place(row) for row in rows]
        lines = {} if self.line is None else lines_of(self.line, rows)
        return [self._shown(row, lines.get(row)) for row in rows]

    def _shown(self, row: int, line: int | None) -> str:
        return f"{self.name}, row {row}" if line is None else f"{self.name}:{line}"

    def taken(self, rows: IntArray) -> Origin:
        """The same source for a selection of its rows."""
        return replace(self, line=None, place=Taken(self, rows))


@dataclass(frozen=True, slots=True, eq=False)
class Taken:
    """Names the rows of a selection."""

    origin: Origin
    rows: IntArray

    def __call__(self, row: int) -> str:
        """Name one row."""
        return self.origin.where(int(self.rows[row]))

    def all(self, rows: Sequence[int]) -> list[str]:
        """Name several rows."""
        return self.origin.where_all([int(self.rows[row]) for row in rows])


@dataclass(frozen=True, slots=True, eq=False)
class Appended:
    """Names the rows of tables that were put one after another; ``starts`` are the rows where they begin."""

    origins: tuple[Origin, ...]
    starts: tuple[int, ...]

    def __call__(self, row: int) -> str:
        """Name one row."""
        at = self._part(row)
        return self.origins[at].where(row - self.starts[at])

    def all(self, rows: Sequence[int]) -> list[str]:
        """Name several rows."""
        named: dict[int, str] = {}
        for at in {self._part(row) for row in rows}:
            mine = [row for row in rows if self._part(row) == at]
            named |= zip(mine, self.origins[at].where_all([row - self.starts[at] for row in mine]), strict=True)
        return [named[row] for row in rows]

    def _part(self, row: int) -> int:
        return int(np.searchsorted(self.starts, row, side="right")) - 1


def lines_of(line: Callable[[int], int | None], rows: Sequence[int]) -> dict[int, int | None]:
    """The lines of several rows.

    Lines go up with the rows: where two rows are as far apart as their lines, nothing stands between them that is no
    row, and the lines of all rows between are known.
    """
    distinct = sorted(set(rows))
    known: dict[int, int | None] = {row: line(row) for row in {*distinct[:1], *distinct[-1:]}}
    parts = [distinct]
    while parts:
        part = parts.pop()
        if len(part) < 3:  # both ends are known
            continue
        first, last = known[part[0]], known[part[-1]]
        if first is None or last is None or last - first == part[-1] - part[0]:
            known |= {row: None if first is None or last is None else first + row - part[0] for row in part[1:-1]}
            continue
        middle = len(part) // 2
        known[part[middle]] = line(part[middle])
        parts += [part[: middle + 1], part[middle:]]
    return known
