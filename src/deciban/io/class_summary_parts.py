"""Summaries of some shards of a data set of many classes, which merge as those of two classes do.

Whole numbers are added up; sums of costs stay beside each other, shard by shard, and are added up when they are looked
at: so parts merge in any order and grouping to the same bytes.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from deciban.core.classes.shown import Shown
from deciban.core.ranks.key_cells import KeyCells, Refining, Sides
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
    cells : mapping of str to KeyCells
        After one pass, trials of each problem in cells, by class; further passes have cells of their own.
    """

    counts: Mapping[str, IntArray]
    hold: Mapping[str, bool]
    shown: Shown | None = None
    cells: Mapping[str, KeyCells] = field(default_factory=dict)

    def __add__(self, other: ClassTotals) -> ClassTotals:
        """Of the trials of both."""
        counts = {name: one + other.counts[name] for name, one in self.counts.items()}
        hold = {name: one and other.hold[name] for name, one in self.hold.items()}
        shown = None if self.shown is None or other.shown is None else self.shown + other.shown
        cells = {name: KeyCells.merged([one, other.cells[name]]) for name, one in self.cells.items()}
        return ClassTotals(counts, hold, shown, cells)

    def arrays(self) -> dict[str, AnyArray]:
        """All arrays by names of their own."""
        found: dict[str, AnyArray] = {f"counts/{name}": one for name, one in self.counts.items()}
        if self.shown is not None:
            found |= {"shown/scores": self.shown.loglik, "shown/label": self.shown.label}
        for problem, cells in self.cells.items():
            found |= {f"first/{problem}/{name}": array for name, array in _of_cells(cells).items()}
        return found

    @property
    def layout(self) -> dict[str, tuple[str, ...]]:
        """What is held, by kind: totals add up if they hold the same."""
        held = {"counts": self.counts, "signs": self.hold, "cells of minima": self.cells}
        return {kind: tuple(sorted(own)) for kind, own in held.items()}

    def without_cells(self) -> ClassTotals:
        """The same for further passes."""
        return replace(self, cells={})


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
class ClassFurther:
    """What a further pass found in some of the shards.

    Attributes
    ----------
    most : int
        Cells of which there is room for a problem.
    seen : tuple of str
        Which shards (by content) were read.
    sides : tuple of mappings of str to Sides
        Of each system the problems that were counted: for what trials count in them.
    cells : tuple of mappings of str to KeyCells
        Their trials.
    """

    most: int
    seen: tuple[str, ...]
    sides: tuple[Mapping[str, Sides], ...]
    cells: tuple[Mapping[str, KeyCells], ...]

    again: tuple[AnyArray, ...] = ()


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
    n_passes : int
        After how many passes over all of these shards.
    known : tuple of mappings of str to Refining
        Of each system what is known of detectors, pairs and posteriors; empty after one pass.
    further : ClassFurther or None
        What the pass after these found, if there was one.
    """

    question: Question
    shards: tuple[ClassShard, ...]
    totals: tuple[ClassTotals | None, ...]
    n_passes: int = 1
    known: tuple[Mapping[str, Refining], ...] = ()
    further: ClassFurther | None = None

    @functools.cached_property
    def sha256(self) -> str:
        """Of everything: a file that was damaged has another one."""
        return _digest(self)

    @functools.cached_property
    def counts_sha256(self) -> str:
        """By what the counts are known; see `SummaryPart.counts_sha256`."""
        return _digest(replace(self, further=None))

    @property
    def unseen(self) -> tuple[str, ...]:
        """Names of the shards that the further pass has not seen, if there was one."""
        seen = () if self.further is None else set(self.further.seen)
        return () if self.further is None else tuple(one.name for one in self.shards if one.sha256 not in seen)

    @property
    def is_refined(self) -> bool:
        """Whether everything is known that passes can tell."""
        return bool(self.known) and not any(one.n_open for own in self.known for one in own.values())

    @property
    def n_rows(self) -> int:
        """Rows of all shards."""
        return sum(one.n_rows for one in self.shards)

    def arrays(self) -> dict[str, AnyArray]:
        """All arrays by names of their own."""
        found: dict[str, AnyArray] = {}
        for k, own in enumerate(self.totals):
            if own is not None:
                found |= {f"{k}/{name}": one for name, one in own.arrays().items()}
        for k, known in enumerate(self.known):
            for problem, of in known.items():
                arrays = {"low": of.low, "high": of.high, "counts": of.counts, "is_open": of.is_open.astype(np.int64)}
                arrays |= _of_sides(of.sides)
                found |= {f"{k}/known/{problem}/{name}": array for name, array in arrays.items()}
        for k, cells in enumerate(() if self.further is None else self.further.cells):
            for problem, one in cells.items():
                arrays = _of_cells(one)
                arrays |= _of_sides(self.further.sides[k][problem]) if self.further is not None else {}
                found |= {f"{k}/finer/{problem}/{name}": array for name, array in arrays.items()}
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
            "passes": self.n_passes,
            "further": None if self.further is None else {"most": self.further.most, "seen": list(self.further.seen)},
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
            first = {name: _cells(one) for name, one in _by_problem(arrays, f"{k}/first/")}
            totals.append(ClassTotals(_below(arrays, f"{k}/counts/"), dict(hold), shown, first))
        shards = tuple(
            ClassShard(**one, numbers=_numbers(arrays, one["sha256"], len(totals))) for one in about["shards"]
        )
        n_systems, further = range(len(totals)), None
        known = tuple({name: _refining(one) for name, one in _by_problem(arrays, f"{k}/known/")} for k in n_systems)
        if (of := about["further"]) is not None:
            found = [dict(_by_problem(arrays, f"{k}/finer/")) for k in n_systems]
            sides = tuple({name: _sides(one) for name, one in own.items()} for own in found)
            cells = tuple({name: _cells(one) for name, one in own.items()} for own in found)
            further = ClassFurther(of["most"], tuple(of["seen"]), sides, cells)
        return cls(question, shards, tuple(totals), about["passes"], known if any(known) else (), further)

    def unlike(self, other: ClassPart) -> list[str]:
        """Kinds of what one of them holds of its trials and the other does not: versions of this package differ."""
        found = list[str]()
        for one, two in zip(self.totals, other.totals, strict=True):
            if one is not None and two is not None:
                found += [kind for kind, own in one.layout.items() if own != two.layout[kind] and kind not in found]
        return found

    @staticmethod
    def together(parts: Sequence[ClassPart]) -> ClassPart:
        """One part of the shards of all, which belong together."""
        first, further = parts[0], parts[0].further
        if len(parts) == 1:
            return first
        if further is not None:
            others = [one.further for one in parts if one.further is not None]
            seen = tuple(sorted(sha256 for one in others for sha256 in one.seen))
            cells = tuple(
                {name: KeyCells.merged([one.cells[k][name] for one in others]) for name in own}
                for k, own in enumerate(further.cells)
            )
            return replace(first, further=replace(further, seen=seen, cells=cells))
        shards = sorted((shard for one in parts for shard in one.shards), key=lambda one: one.sha256)
        totals = tuple(_sum(own) for own in zip(*(one.totals for one in parts), strict=True))
        return replace(parts[0], shards=tuple(shards), totals=totals)

    def settled(self) -> ClassPart:
        """The same with what a further pass found in its place, once all shards were seen."""
        further = self.further
        if further is None or self.unseen:
            return self
        found = []
        for k, cells in enumerate(further.cells):
            own = dict(self.known[k]) if self.known else {}
            for name, one in cells.items():
                own[name] = own[name].refined(one) if name in own else Refining.of(further.sides[k][name], one)
            found.append(own)
        return replace(self, known=tuple(found), n_passes=self.n_passes + 1, further=None)


def _digest(part: ClassPart) -> str:
    found = hashlib.sha256(json.dumps(part.about(), sort_keys=True).encode())
    for name, array in sorted(part.arrays().items()):
        found.update(json.dumps([name, array.shape, str(array.dtype)]).encode())
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def _of_sides(sides: Sides) -> dict[str, AnyArray]:
    return {"is_for": sides.is_for.astype(np.int64), "share": np.asarray(sides.share, np.float64)}


def _sides(arrays: Mapping[str, AnyArray]) -> Sides:
    return Sides(arrays["is_for"].astype(np.bool_), arrays["share"])


def _refining(arrays: Mapping[str, AnyArray]) -> Refining:
    is_open = arrays["is_open"].astype(np.bool_)
    return Refining(_sides(arrays), arrays["low"], arrays["high"], arrays["counts"], is_open)


def _of_cells(cells: KeyCells) -> dict[str, AnyArray]:
    arrays = {name: getattr(cells, name) for name in ("starts", "counts", "low", "high")}
    return arrays | {"size": np.array([cells.room, cells.level])}


def _cells(arrays: Mapping[str, AnyArray]) -> KeyCells:
    room, level = arrays["size"].tolist()
    return KeyCells(room, level, *(arrays[name] for name in ("starts", "counts", "low", "high")))


def _by_problem(arrays: Mapping[str, AnyArray], begin: str) -> Iterable[tuple[str, dict[str, AnyArray]]]:
    own = _below(arrays, begin)
    for problem in sorted({name.split("/")[0] for name in own}):
        yield problem, _below(own, f"{problem}/")


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
