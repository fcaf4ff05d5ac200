"""Summaries of some shards of a data set of many classes, which merge as those of two classes do.

Whole numbers are added up; sums of costs stay beside each other, shard by shard, and are added up when they are looked
at: so parts merge in any order and grouping to the same bytes.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deciban.core.classes.shown import Shown
from deciban.io.summary_records import Question, ShardRecord
from deciban.types import AnyArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class ClassTotals:
    """What adds up of the trials of one system, whatever the order.

    Attributes
    ----------
    counts : mapping of str to int64 arrays
        Numbers of trials; those of parts are added.
    hold : mapping of str to bool
        What holds for all trials.
    shown : Shown or None
        Trials to draw.
    """

    counts: Mapping[str, IntArray]
    hold: Mapping[str, bool]
    shown: Shown | None = None

    def __add__(self, other: ClassTotals) -> ClassTotals:
        """Of the trials of both."""
        counts = {name: one + other.counts[name] for name, one in self.counts.items()}
        hold = {name: one and other.hold[name] for name, one in self.hold.items()}
        shown = None if self.shown is None or other.shown is None else self.shown + other.shown
        return ClassTotals(counts, hold, shown)


@dataclass(frozen=True, eq=False)
class ClassShard(ShardRecord):
    """A shard that was read.

    Attributes
    ----------
    numbers : tuple of mappings of str to float64 arrays
        Of each system sums of costs, with their rounding errors.
    """

    numbers: tuple[Mapping[str, FloatArray], ...] = ()


@dataclass(frozen=True, eq=False)
class ClassPart:
    """Some shards of a data set; see `deciban.io.summary_parts.SummaryPart`.

    Attributes
    ----------
    question : Question
    shards : tuple of ClassShard
        By content.
    totals : tuple of ClassTotals or None
        Of each system; None without a trial.
    """

    question: Question
    shards: tuple[ClassShard, ...]
    totals: tuple[ClassTotals | None, ...]

    n_passes = 1
    further = None
    is_refined = False
    unseen: tuple[str, ...] = ()

    @functools.cached_property
    def sha256(self) -> str:
        """Of everything: a file that was damaged has another one."""
        about = [self.question.to_dict(), [_about(one) for one in self.shards], [_holding(one) for one in self.totals]]
        found = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
        for name, array in sorted(self.arrays().items()):
            found.update(json.dumps([name, array.shape, str(array.dtype)]).encode())
            found.update(np.ascontiguousarray(array).tobytes())
        return found.hexdigest()

    @property
    def n_rows(self) -> int:
        """Rows of all shards."""
        return sum(one.n_rows for one in self.shards)

    def arrays(self) -> dict[str, AnyArray]:
        """All arrays by names of their own."""
        found: dict[str, AnyArray] = {}
        for k, own in enumerate(self.totals):
            if own is not None:
                found |= {f"{k}/counts/{name}": one for name, one in own.counts.items()}
                if own.shown is not None:
                    found |= {f"{k}/shown/scores": own.shown.loglik, f"{k}/shown/label": own.shown.label}
        for shard in self.shards:
            for k, numbers in enumerate(shard.numbers):
                found |= {f"{k}/{shard.sha256}/{name}": one for name, one in numbers.items()}
        return found

    def about(self) -> dict[str, Any]:
        """All but the arrays, as JSON."""
        return {
            "question": self.question.to_dict(),
            "shards": [_about(one) for one in self.shards],
            "hold": [_holding(one) for one in self.totals],
        }

    @classmethod
    def of(cls, about: Mapping[str, Any], arrays: Mapping[str, AnyArray], most_shown: int) -> ClassPart:
        """From both."""
        question, totals = Question.from_dict(about["question"]), list[ClassTotals | None]()
        for k, hold in enumerate(about["hold"]):
            if hold is None:
                totals.append(None)
                continue
            shown = None
            if f"{k}/shown/label" in arrays:
                shown = Shown(most_shown, arrays[f"{k}/shown/scores"], arrays[f"{k}/shown/label"])
            totals.append(ClassTotals(_below(arrays, f"{k}/counts/"), dict(hold), shown))
        shards = tuple(
            ClassShard(*(one[name] for name in _ABOUT), (), _numbers(arrays, one["sha256"], len(totals)))
            for one in about["shards"]
        )
        return cls(question, shards, tuple(totals))

    @staticmethod
    def together(parts: Sequence[ClassPart]) -> ClassPart:
        """One part of the shards of all, which belong together."""
        shards = sorted((shard for one in parts for shard in one.shards), key=lambda one: one.sha256)
        totals = tuple(_sum(own) for own in zip(*(one.totals for one in parts), strict=True))
        return replace(parts[0], shards=tuple(shards), totals=totals)

    def settled(self) -> ClassPart:
        """The same: there is one pass alone."""
        return self


_ABOUT = ("name", "n_rows", "size", "sha256")


def _about(shard: ClassShard) -> dict[str, Any]:
    return {name: getattr(shard, name) for name in _ABOUT}


def _holding(one: ClassTotals | None) -> dict[str, bool] | None:
    return None if one is None else dict(one.hold)


def _below(arrays: Mapping[str, AnyArray], begin: str) -> dict[str, AnyArray]:
    return {name.removeprefix(begin): one for name, one in arrays.items() if name.startswith(begin)}


def _numbers(arrays: Mapping[str, AnyArray], sha256: str, n_systems: int) -> tuple[dict[str, AnyArray], ...]:
    return tuple(_below(arrays, f"{k}/{sha256}/") for k in range(n_systems))


def _sum(parts: Iterable[ClassTotals | None]) -> ClassTotals | None:
    known = [one for one in parts if one is not None]
    return functools.reduce(ClassTotals.__add__, known) if known else None
