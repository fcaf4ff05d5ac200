"""Who is who: the speaker of every name, so that no key is needed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from deciban._files import display_name
from deciban.core.resampling.units import Keys, TrialUnits, keys_of
from deciban.errors import InputError
from deciban.io.read import read_id_map
from deciban.trials import IdMap
from deciban.trials.names.codes import encode, positions
from deciban.types import AnyArray, IntArray


@dataclass(frozen=True, eq=False)
class WhoIsWho:
    """The speaker of every name, on each side of a trial.

    Attributes
    ----------
    maps : pair of IdMap
        From names to speakers, of enrolment and of test.
    called : tuple of str
        What messages call the files, one or one for each side.

    Examples
    --------
    >>> who = WhoIsWho.of([{"m1": "ann", "m2": "bob"}, {"x": "bob"}])
    >>> who.speakers_of(pa.array(["m2", "m1"]), 0), who.speakers_of(pa.array(["x"]), 1)
    (array([1, 0]), array([1]))
    """

    maps: tuple[IdMap, IdMap]
    called: tuple[str, ...]

    @classmethod
    def of(cls, given: Sequence[Any]) -> WhoIsWho:
        """Read one file for both sides, or one for each; a mapping of names to speakers is taken as it is.

        Raises
        ------
        InputError, FormatError, OSError
            If there are not one or two, or one cannot be read.
        """
        if not 1 <= len(given) <= 2:
            raise InputError(f"speakers: got {len(given)} files. Name one for both sides of trials, or one for each.")
        found: list[IdMap] = []
        for one in given:
            if isinstance(one, IdMap):
                found.append(one)
            elif isinstance(one, Mapping):
                found.append(IdMap.from_columns(list(one), list(map(str, one.values())), source="speakers"))
            elif isinstance(one, str | os.PathLike):
                found.append(read_id_map(one))
            else:
                raise InputError(
                    f"speakers: got {type(one).__name__}. Name a file of two columns, name and speaker, or pass a "
                    "mapping."
                )
        called = tuple(display_name(one) if isinstance(one, str | os.PathLike) else "speakers" for one in given)
        return cls((found[0], found[-1]), called)

    @cached_property
    def _speakers(self) -> tuple[list[IntArray], pa.Array]:
        """The number of the speaker of every line, of each side, and the speakers."""
        codes, names = encode(pa.concat_arrays([one.right for one in self.maps]))
        return np.split(codes, [len(self.maps[0].right)]), names

    @cached_property
    def keys(self) -> Keys:
        """A number for every speaker; see `TrialUnits`."""
        return keys_of(np.array(self._speakers[1].to_pylist(), np.object_))

    def speakers_of(self, names: pa.Array, side: int) -> AnyArray:
        """The speaker of every name as a number, the same on both sides; -1 of those that are not known."""
        place = positions(names, self.maps[side].left)
        codes: AnyArray = self._speakers[0][side].astype(np.int64)
        return np.where(place < 0, -1, codes[place]) if len(codes) else np.full(len(names), -1)

    def in_lines(self, n_names: int, side: int, what: str) -> AnyArray:
        """The speaker of the first name, the second one and so on: of names that are those of the lines, in order.

        Raises
        ------
        InputError
            If there are not as many lines as names.
        """
        codes: AnyArray = self._speakers[0][side].astype(np.int64)
        if len(codes) != n_names:
            raise InputError(
                f"speakers: {self.called[min(side, len(self.called) - 1)]} has {len(codes):,} lines, but there are "
                f"{n_names:,} {what}. Where these have no names, there is one line for each, in their order."
            )
        return codes

    def lacks(self, name: str, side: int) -> str:
        """What to say about a name without a speaker."""
        called = self.called[min(side, len(self.called) - 1)]
        return f"{called} does not say the speaker of {name!r}. Complete it by a line: name and speaker"

    def units(self, enroll: AnyArray, test: AnyArray) -> TrialUnits:
        """The speakers of trials as units, by their numbers on both sides."""
        source = f"by {' and '.join(self.called)}"
        order = np.argsort(self.keys, kind="stable")
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        return TrialUnits((rank[enroll], rank[test]), self.keys[order], "speaker", source)
