"""What all tables of trials have in common: selections, groups, other names."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np

from deciban._arrow import compute as pc
from deciban._arrow import constant, of_numpy, to_numpy
from deciban.errors import InputError
from deciban.trials.criteria import Where, criteria
from deciban.trials.frozen import NO_CONDITIONS, Frozen, as_text
from deciban.trials.lists import Trials
from deciban.trials.names.codes import IdMap, positions
from deciban.types import AnyArray, BoolArray, IntArray


class TrialTable(Frozen, ABC):
    """A list of trials and what belongs to each of them; what `Index`, `Key` and `Scores` have in common."""

    trials: Trials
    conflict: ClassVar[str] = "is listed in two ways"
    """What is wrong with a trial whose copies differ."""

    def __len__(self) -> int:
        return len(self.trials)

    @property
    @abstractmethod
    def content(self) -> AnyArray | None:
        """What belongs to each trial and must be the same for all copies of it; None for nothing."""

    @abstractmethod
    def _with(self, trials: Trials, rows: IntArray | BoolArray | slice) -> Self:
        """The same for other trials, whose values stand in these rows."""

    def take(self, rows: IntArray | BoolArray) -> Self:
        """Some of the trials, by row number or by a mask over the trials."""
        rows = self.trials.row_numbers(rows)
        return self._with(self.trials.take(rows), rows)

    def keep(
        self,
        *,
        enroll: str | Sequence[str] | None = None,
        test: str | Sequence[str] | None = None,
        trial: str | Sequence[str] | None = None,
        where: Where = NO_CONDITIONS,
    ) -> Self:
        """Keep the trials that meet every criterion.

        Parameters
        ----------
        enroll, test, trial : str or sequence of str, optional
            Names on that side. Names that do not occur are no error.
        where : mapping of str to str or sequence of str
            Values of condition columns: ``{"gender": "f", "channel": ["tel", "mic"]}``.
            Numbers and truth values count, not how they are written: 1 and 1.0, True and true are the same.

        Returns
        -------
        The same kind of table.

        Raises
        ------
        InputError
            If a side, condition column or condition value does not exist, or no trial is left.

        Examples
        --------
        >>> from deciban.trials import Scores
        >>> scores = Scores.of({"enroll": ["a", "a", "b"], "test": ["x", "y", "x"]}, [1.0, 2.0, 3.0])
        >>> scores.keep(enroll=["a"], test=["x", "z"]).score
        array([1.])
        """
        meets = criteria(self.trials, {"enroll": enroll, "test": test, "trial": trial}, where)
        return self._selected(np.logical_and.reduce(meets))

    def drop(
        self,
        *,
        enroll: str | Sequence[str] | None = None,
        test: str | Sequence[str] | None = None,
        trial: str | Sequence[str] | None = None,
        where: Where = NO_CONDITIONS,
    ) -> Self:
        """Leave out the trials that meet any of the criteria; see `keep`.

        Raises
        ------
        InputError
            As in `keep`.

        Examples
        --------
        >>> from deciban.trials import Scores
        >>> scores = Scores.of({"enroll": ["a", "a", "b"], "test": ["x", "y", "x"]}, [1.0, 2.0, 3.0])
        >>> scores.drop(enroll=["b"], test=["y"]).score
        array([1.])
        """
        meets = criteria(self.trials, {"enroll": enroll, "test": test, "trial": trial}, where)
        return self._selected(~np.logical_or.reduce(meets))

    def _selected(self, chosen: BoolArray) -> Self:
        if not chosen.any():
            raise InputError(f"{self.trials.origin.name}: none of {len(self):,} trials is left after the selection.")
        return self if chosen.all() else self.take(chosen)

    def split(self, by: str) -> dict[str, Self]:
        """One table for each value of a condition column or name of a side, in the order of first occurrence.

        Trials without a value go together with those whose value is an empty text.

        Raises
        ------
        InputError
            If there is no such column or side.

        Examples
        --------
        >>> from deciban.trials import Key
        >>> key = Key.of({"trial": ["a", "b", "c"]}, [True, False, True], conditions={"gender": ["f", "m", "f"]})
        >>> {gender: part.n_tar for gender, part in key.split("gender").items()}
        {'f': 2, 'm': 0}
        """
        trials = self.trials
        if by in trials.sides:
            values = trials.column(by)
        else:
            values = pc.coalesce(as_text(trials.condition(by)), constant("")).dictionary_encode()
        codes = to_numpy(values.indices)
        order = np.argsort(codes, kind="stable")
        groups = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1) if len(order) else []
        groups.sort(key=lambda rows: int(rows[0]))
        return {values.dictionary[int(codes[rows[0]])].as_py(): self.take(rows) for rows in groups}

    def rename(self, id_map: IdMap, side: str, *, unknown: str = "error") -> Self:
        """Give the names of one side the names that an id map has for them.

        Parameters
        ----------
        id_map : IdMap
        side : str
            ``enroll``, ``test`` or ``trial``.
        unknown : {"error", "keep", "drop"}
            What to do about names that the map lacks: refuse, keep the name, or leave out their trials.

        Returns
        -------
        The same kind of table.

        Raises
        ------
        InputError
            If there is no such side, or names are unknown.

        Examples
        --------
        >>> from deciban.trials import IdMap, Scores
        >>> scores = Scores.of({"enroll": ["m1", "m2"], "test": ["x", "x"]}, [1.0, 2.0])
        >>> scores.rename(IdMap.of({"m1": "ann", "m2": "bob"}), "enroll").trials.name_of(1)
        '(bob, x)'
        """
        if side not in self.trials.sides:
            raise InputError(f"side: trials are identified by {', '.join(self.trials.sides)}, not by {side!r}.")
        if unknown not in ("error", "keep", "drop"):
            raise InputError(f"unknown: expected 'error', 'keep' or 'drop', got {unknown!r}.")
        at = self.trials.sides.index(side)
        names = self.trials.names[at]
        found = positions(names, id_map.left)
        lacking, used = found < 0, np.zeros(len(names), np.bool_)
        if lacking.any() and unknown != "keep":
            used[self.trials.codes[at]] = True
            lacking &= used
        if lacking.any() and unknown == "error":
            first = names[int(np.argmax(lacking))].as_py()
            raise InputError(
                f"rename: {np.count_nonzero(lacking):,} of {np.count_nonzero(used):,} names of {side} are not in the "
                f'map, the first {first!r}. Add them, or pass unknown="keep" or unknown="drop".'
            )
        if lacking.any() and unknown == "drop":
            return self._selected(~lacking[self.trials.codes[at]]).rename(id_map, side)
        renamed = pc.coalesce(id_map.right.take(of_numpy(found, lacking=found < 0)), names)
        return self._with(self.trials.with_names(at, renamed), slice(None))
