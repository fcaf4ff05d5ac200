"""Summaries of some shards of a data set: what each job of an array of jobs writes, and what they merge to.

A part holds, for every system, the trials of its shards in cells of scores, and for every shard its number of rows,
what its content is known by, and sums of costs. A further pass goes over the cells that can matter, which follow from
the merged counts of all shards: it counts their trials in finer cells, or keeps their scores where these are few. Parts
of one pass merge in any order and grouping to the same bytes: counts are whole numbers, cells nest, shards are listed
by what they hold, and their sums are added up when they are looked at.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from deciban.core.ranks.kept_scores import KeptScores
from deciban.core.ranks.pruning import are_open, told_apart
from deciban.core.ranks.score_cells import ScoreCells, merged_cells, with_finer
from deciban.errors import FormatError, InputError
from deciban.io.summary_records import Question, ShardRecord, Sums
from deciban.messages import counted
from deciban.types import BoolArray

P = TypeVar("P")

_AT_ONCE = 8
"""Parts of which the cells are merged together: more would take more memory."""


@dataclass(frozen=True, slots=True, eq=False)
class Further:
    """What a further pass found in some of the shards.

    Attributes
    ----------
    most : int
        So many scores of a system are kept, and of more the trials are counted in finer cells.
    again : tuple of (n_cells,) bool arrays
        Of each system, which cells were looked at again: those that can matter, or the widest of them.
    seen : tuple of str
        Which shards (by content) were read.
    kept : tuple of KeptScores
        Of each system, if the scores were few enough in all of them; else empty.
    finer : tuple of ScoreCells
        Of each system the trials in finer cells, if scores were too many; else empty.
    """

    most: int
    again: tuple[BoolArray, ...]
    seen: tuple[str, ...]
    kept: tuple[KeptScores, ...] = ()
    finer: tuple[ScoreCells, ...] = ()


@dataclass(frozen=True, eq=False)
class SummaryPart:
    """Some shards of a data set.

    Attributes
    ----------
    question : Question
    shards : tuple of ShardRecord
        All whose trials are in the cells, by content.
    cells : tuple of ScoreCells
        Of each system.
    n_passes : int
        After how many passes over all of these shards.
    further : Further or None
        What the pass after these found, if there was one.
    """

    question: Question
    shards: tuple[ShardRecord, ...]
    cells: tuple[ScoreCells, ...]
    n_passes: int = 1
    further: Further | None = field(default=None)

    @functools.cached_property
    def counts_sha256(self) -> str:
        """By what the counts are known: parts of a further pass belong together if they rest on the same."""
        about = {"question": self.question.to_dict(), "shards": [one.to_dict() for one in self.shards]}
        found = hashlib.sha256(json.dumps([about, self.n_passes], sort_keys=True).encode())
        for one in self.cells:
            _add_cells(found, one)
        return found.hexdigest()

    @functools.cached_property
    def sha256(self) -> str:
        """Of everything: a file that was damaged has another one."""
        found = hashlib.sha256(self.counts_sha256.encode())
        if (further := self.further) is not None:
            found.update(json.dumps([further.most, further.seen]).encode())
            for one in (*further.again, *(array for kept in further.kept for array in kept.arrays)):
                found.update(np.ascontiguousarray(one).tobytes())
            for cells in further.finer:
                _add_cells(found, cells)
        return found.hexdigest()

    @property
    def n_rows(self) -> int:
        """Rows of all shards."""
        return sum(one.n_rows for one in self.shards)

    @property
    def is_refined(self) -> bool:
        """Whether the scores that can matter are kept."""
        return self.further is not None and bool(self.further.kept)

    @functools.cached_property
    def has_bounds(self) -> bool:
        """Whether targets and non-targets share a cell, so that figures of ranks are not exact yet."""
        return not self.is_refined and any(are_open(told_apart(one)).any() for one in self.cells)

    def unlike(self, _other: SummaryPart) -> list[str]:
        """What one of them holds and the other does not; see `deciban.io.class_summary_parts.ClassPart.unlike`."""
        return []

    @property
    def unseen(self) -> tuple[str, ...]:
        """Names of the shards that the further pass has not seen, if there was one."""
        if self.further is None:
            return ()
        seen = set(self.further.seen)
        return tuple(one.name for one in self.shards if one.sha256 not in seen)

    def sums(self, system: int) -> Sums:
        """Of all shards, added up in the order of their contents."""
        return functools.reduce(Sums.__add__, (one.sums[system] for one in self.shards))

    @staticmethod
    def together(parts: Sequence[SummaryPart]) -> SummaryPart:
        """One part of the shards of all, which belong together."""
        return _together(parts)

    def settled(self) -> SummaryPart:
        """The same with finer cells in the places of those that they are of, once all shards were seen."""
        if self.further is None or not self.further.finer or self.unseen:
            return self
        found = []
        for cells, again, finer in zip(self.cells, self.further.again, self.further.finer, strict=True):
            if not again.any():
                found.append(cells)
                continue
            found.append(with_finer(cells, again, told_apart(finer)))
        return replace(self, cells=tuple(found), n_passes=self.n_passes + 1, further=None)


def _add_cells(digest: hashlib._Hash, cells: ScoreCells) -> None:
    digest.update(json.dumps([cells.room, cells.level, cells.lowest_digit]).encode())
    for name in ("starts", "counts", "low", "high", "mantissas", "weights"):
        digest.update(np.ascontiguousarray(getattr(cells, name)).tobytes())


def merged_parts(parts: Iterable[P], names: Sequence[str]) -> P:
    """One part of the shards of all.

    Parameters
    ----------
    parts : iterable of SummaryPart, or of ClassPart
        At least one, all after as many passes; few of them are looked at at once.
    names : sequence of str
        What messages call them.

    Returns
    -------
    SummaryPart

    Raises
    ------
    InputError
        If there is none, they were asked different things, rest on different counts, or a shard is in two of them.
    FormatError
        If different versions of this package wrote them, which hold different things.
    """
    found: Any = None
    like: Any = None
    like_name = ""
    waiting, seen = list[Any](), dict[str, str]()
    doubled = list[str]()
    for one, name in zip(parts, names, strict=True):
        if found is None:
            found = one
        else:
            _require_alike(found, names[0], one, name)
            waiting.append(one)
        if like is None or not like.n_rows:  # what has no trials says nothing of what is held of some
            like, like_name = one, name
        _require_of_one_version(like, like_name, one, name)
        doubled += _doubled(one, name, seen)
        if len(waiting) >= _AT_ONCE and not doubled:
            found, waiting = found.together([found, *waiting]), []
    if found is None:
        raise InputError("summaries: none given. Name at least one.")
    if doubled:
        more = f", and {counted(len(doubled) - 3, 'other')}" if len(doubled) > 3 else ""
        raise InputError(
            f"shards: {counted(len(doubled), 'shard')} would count twice: {'; '.join(doubled[:3])}{more}. Merge each "
            "shard once."
        )
    merged: P = found.together([found, *waiting]).settled()
    return merged


def _together(parts: Sequence[SummaryPart]) -> SummaryPart:
    first = parts[0]
    if len(parts) == 1:
        return first
    n_systems = range(len(first.cells))
    if first.further is None:
        shards = sorted((shard for one in parts for shard in one.shards), key=lambda one: one.sha256)
        cells = tuple(merged_cells([one.cells[k] for one in parts]) for k in n_systems)
        return replace(first, shards=tuple(shards), cells=cells)
    others = [one.further for one in parts if one.further is not None]
    own = first.further
    kept = tuple(KeptScores.merged([one.kept[k] for one in others]) for k in n_systems) if own.kept else ()
    finer = tuple(merged_cells([one.finer[k] for one in others]) for k in n_systems) if own.finer else ()
    seen = tuple(sorted(sha256 for one in others for sha256 in one.seen))
    return replace(first, further=replace(own, seen=seen, kept=kept, finer=finer))


def _require_alike(first: Any, first_name: str, one: Any, name: str) -> None:
    """Refuse parts that do not add up.

    Raises
    ------
    InputError
    """
    if differences := first.question.differences(one.question):
        raise InputError(
            f"{name}: answers another question than {first_name}: {'; '.join(differences)}. Sums of different "
            "things do not add up: summarize all shards with the same options."
        )
    passes = [each.n_passes + (each.further is not None) for each in (first, one)]
    if passes[0] != passes[1]:
        raise InputError(
            f"{name}: is what pass {passes[1]} over its shards found, {first_name} what pass {passes[0]} found. Merge "
            "summaries of one pass."
        )
    if first.n_passes > 1 and (first.further is None or one.further is None):
        raise InputError(
            f"{name}: all its shards, or those of {first_name}, are in finer cells after pass {passes[0]}, and these "
            "do not add up to others. Merge all shards after the first pass, then refine."
        )
    if (first.further is None) != (one.further is None):
        raise InputError(
            f"{name}: holds all shards after pass {passes[0]}, and {first_name} some: these would count twice."
        )
    if first.further is None or one.further is None:
        return
    if one.counts_sha256 != first.counts_sha256:
        raise InputError(
            f"{name}: was refined by other counts than {first_name}. Refine all shards by one merged summary."
        )
    if first.further.most != one.further.most:
        raise InputError(
            f"{name}: up to {one.further.most:,} scores would have been kept there, and {first.further.most:,} in "
            f"{first_name}. Refine all shards with the same memory (memory=, --memory)."
        )
    if not all(map(np.array_equal, one.further.again, first.further.again)):
        raise InputError(
            f"{name}: other cells can matter there than in {first_name}, by the same counts. Refine all shards by the "
            "same version of deciban."
        )


def _require_of_one_version(first: Any, first_name: str, one: Any, name: str) -> None:
    """Refuse parts that hold different things, though they were asked the same.

    Raises
    ------
    FormatError
    """
    if unlike := first.unlike(one):
        raise FormatError(
            f"{name}: was written by another version of deciban than {first_name}: they hold different "
            f"{', '.join(unlike)} for the same question, which do not add up. Summarize all shards by one version."
        )


def _doubled(one: Any, name: str, seen: dict[str, str]) -> list[str]:
    """The shards of a part that were seen before, in words."""
    called, found = {shard.sha256: shard.name for shard in one.shards}, list[str]()
    for sha256 in called if one.further is None else one.further.seen:
        if sha256 in seen:
            found.append(f"{called[sha256]} ({seen[sha256]}, {name})")
        seen[sha256] = name
    return found
