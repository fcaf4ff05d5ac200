"""Summaries of some shards of a data set: what each job of an array of jobs writes, and what they merge to.

A part holds, for every system, its trials in cells of scores, and for every shard its number of rows, what its content
is known by, and sums of costs. A second pass adds, in a part of its own, the scores of the cells that can matter, which
follow from the merged counts of all shards. Parts of one kind merge in any order and grouping to the same bytes: counts
are whole numbers, cells nest, shards are listed by what they hold, and their sums are added up when they are looked at.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from deciban.core.ranks.score_cells import ScoreCells, merged_cells
from deciban.errors import InputError
from deciban.io.summary_records import Question, ShardRecord, Sums
from deciban.messages import counted
from deciban.types import ScoreArray


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
    refined : tuple of str
        Of which shards (by content) scores are kept; empty after one pass.
    kept : tuple of (non, tar)
        These scores, for each system.
    """

    question: Question
    shards: tuple[ShardRecord, ...]
    cells: tuple[ScoreCells, ...]
    refined: tuple[str, ...] = ()
    kept: tuple[tuple[ScoreArray, ScoreArray], ...] = field(default=())

    @functools.cached_property
    def counts_sha256(self) -> str:
        """By what the counts are known: refined parts belong together if they rest on the same."""
        about = {"question": self.question.to_dict(), "shards": [one.to_dict() for one in self.shards]}
        found = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
        for one in self.cells:
            for name in ("starts", "counts", "low", "high", "mantissas"):
                found.update(np.ascontiguousarray(getattr(one, name)).tobytes())
        return found.hexdigest()

    @functools.cached_property
    def sha256(self) -> str:
        """Of everything: a file that was damaged has another one."""
        found = hashlib.sha256(self.counts_sha256.encode())
        found.update(json.dumps(self.refined).encode())
        for scores in (one for pair in self.kept for one in pair):
            found.update(np.ascontiguousarray(scores).tobytes())
        return found.hexdigest()

    @property
    def n_rows(self) -> int:
        """Rows of all shards."""
        return sum(one.n_rows for one in self.shards)

    @property
    def unrefined(self) -> tuple[str, ...]:
        """Names of the shards that the second pass has not seen."""
        seen = set(self.refined)
        return tuple(one.name for one in self.shards if one.sha256 not in seen)

    def sums(self, system: int) -> Sums:
        """Of all shards, added up in the order of their contents."""
        return functools.reduce(Sums.__add__, (one.sums[system] for one in self.shards))


def merged_parts(parts: Sequence[SummaryPart], names: Sequence[str]) -> SummaryPart:
    """One part of the shards of all.

    Parameters
    ----------
    parts : sequence of SummaryPart
        At least one: all of them of one pass, or all of two.
    names : sequence of str
        What messages call them.

    Returns
    -------
    SummaryPart

    Raises
    ------
    InputError
        If there is none, they were asked different things, rest on different counts, or a shard is in two of them.
    """
    if not parts:
        raise InputError("summaries: none given. Name at least one.")
    first, first_name = parts[0], names[0]
    for one, name in zip(parts, names, strict=True):
        if differences := first.question.differences(one.question):
            raise InputError(
                f"{name}: answers another question than {first_name}: {'; '.join(differences)}. Sums of different "
                "things do not add up: summarize all shards with the same options."
            )
        if bool(one.refined) != bool(first.refined):
            lacking, other = (name, first_name) if first.refined else (first_name, name)
            raise InputError(
                f"{lacking}: has seen one pass, {other} two. Merge summaries of one pass, or those of two."
            )
        if first.refined and one.counts_sha256 != first.counts_sha256:
            raise InputError(
                f"{name}: was refined by other counts than {first_name}. Refine all shards by one merged summary."
            )
    _refuse_doubled(parts, names)
    if first.refined:
        kept = tuple(
            (_sorted([one.kept[k][0] for one in parts]), _sorted([one.kept[k][1] for one in parts]))
            for k in range(len(first.cells))
        )
        refined = tuple(sorted(sha256 for one in parts for sha256 in one.refined))
        return replace(first, refined=refined, kept=kept)
    shards = sorted((shard for one in parts for shard in one.shards), key=lambda one: one.sha256)
    cells = tuple(merged_cells([one.cells[k] for one in parts]) for k in range(len(first.cells)))
    return SummaryPart(first.question, tuple(shards), cells)


def _sorted(parts: Sequence[ScoreArray]) -> ScoreArray:
    found: ScoreArray = np.sort(np.concatenate(parts))
    return found


def _refuse_doubled(parts: Sequence[SummaryPart], names: Sequence[str]) -> None:
    seen = dict[str, str]()
    doubled = list[str]()
    for one, name in zip(parts, names, strict=True):
        called = {shard.sha256: shard.name for shard in one.shards}
        for sha256 in one.refined or called:
            if sha256 in seen:
                doubled.append(f"{called[sha256]} ({seen[sha256]}, {name})")
            seen[sha256] = name
    if doubled:
        more = f", and {counted(len(doubled) - 3, 'other')}" if len(doubled) > 3 else ""
        raise InputError(
            f"shards: {counted(len(doubled), 'shard')} would count twice: {'; '.join(doubled[:3])}{more}. Merge each "
            "shard once."
        )
