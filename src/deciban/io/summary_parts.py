"""Summaries of some shards of a data set: what each job of an array of jobs writes, and what they merge to.

A part holds, for every system, how many trials of each class have each score, and for every shard its number of rows
and what its content is known by. Parts merge in any order and grouping to the same bytes: counts are whole numbers, and
shards are listed by what they hold.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar

import numpy as np

from deciban.core.ranks.counted import Counted
from deciban.errors import FormatError, InputError
from deciban.io.summary_records import Question, ShardRecord
from deciban.messages import counted

P = TypeVar("P")

_AT_ONCE = 8
"""Parts that are merged together: more would take more memory."""


@dataclass(frozen=True, eq=False)
class SummaryPart:
    """Some shards of a data set.

    Attributes
    ----------
    question : Question
    shards : tuple of ShardRecord
        All whose trials are in the tables, by content.
    tables : tuple of (Counted, Counted)
        Of each system the non-targets and the targets.
    """

    n_passes: ClassVar[int] = 1
    """As of many classes, which may need several: of two, one tells everything."""
    further: ClassVar[None] = None
    is_refined: ClassVar[bool] = True
    unseen: ClassVar[tuple[str, ...]] = ()

    question: Question
    shards: tuple[ShardRecord, ...]
    tables: tuple[tuple[Counted, Counted], ...]

    @functools.cached_property
    def sha256(self) -> str:
        """Of everything: a file that was damaged has another one."""
        about = {"question": self.question.to_dict(), "shards": [one.to_dict() for one in self.shards]}
        found = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
        for array in (array for both in self.tables for one in both for array in one.arrays):
            found.update(np.ascontiguousarray(array).tobytes())
        return found.hexdigest()

    @property
    def n_rows(self) -> int:
        """Rows of all shards."""
        return sum(one.n_rows for one in self.shards)

    def unlike(self, _other: SummaryPart) -> list[str]:
        """What one of them holds and the other does not; see `deciban.io.class_summary_parts.ClassPart.unlike`."""
        return []

    @staticmethod
    def together(parts: Sequence[SummaryPart]) -> SummaryPart:
        """One part of the shards of all, which belong together."""
        shards = sorted((shard for one in parts for shard in one.shards), key=lambda one: one.sha256)
        tables = []
        for each in zip(*(one.tables for one in parts), strict=True):
            non, tar = (Counted.merged(own) for own in zip(*each, strict=True))
            tables.append((non, tar))
        return replace(parts[0], shards=tuple(shards), tables=tuple(tables))

    def settled(self) -> SummaryPart:
        """The same; see `deciban.io.class_summary_parts.ClassPart.settled`."""
        return self


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
