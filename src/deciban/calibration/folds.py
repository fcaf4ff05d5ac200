"""Folds for cross-validation, of arrays and of trials that are read in batches."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.core.ranks.counts import aligned, summed_by_code, whole_or_float
from deciban.core.resampling.units import mixed_bits
from deciban.errors import InputError, not_none
from deciban.models.score_model import ARGUMENTS
from deciban.trials import sources
from deciban.types import AnyArray, CountArray, FloatArray, Foreign, IntArray


def folds_of(
    scores: AnyArray,
    label: IntArray,
    weight: CountArray | None,
    groups: ArrayLike | Sequence[ArrayLike] | None,
    *,
    n_folds: object,
    seed: object,
) -> IntArray:
    """Return the fold of every trial, by its groups or (without groups) by itself.

    Parameters
    ----------
    scores : (n_trials, ...) array
    label : (n_trials,) int array
        Class of each trial, from 0.
    weight : (n_trials,) array, optional
    groups : (n_trials,) array_like, or two of them, optional
    n_folds, seed : int

    Returns
    -------
    (1, n_trials) or (2, n_trials) array
        Folds of each side of the trials.

    Raises
    ------
    InputError
        If lengths differ, a group has no name, or there are fewer groups than folds.
    """
    n_folds = _validate.whole(n_folds, "n_folds", 2, math.inf, "It must be a whole number of at least 2")
    seed = _validate.whole(seed, "seed", 0, math.inf, "It must be a whole number of at least 0")
    if groups is None:
        return _folds_of_trials(scores, label, weight, n_folds, seed)[np.newaxis]
    sides = _sides(groups, len(scores))
    return folds_of_shares(_shares(sides, label, weight), n_folds, seed)[sides]


def _sides(groups: ArrayLike | Sequence[ArrayLike], n_trials: int) -> IntArray:
    """Return the groups of each trial on one or two sides, as positions in the sorted names of all groups."""
    if isinstance(groups, tuple | list) and len(groups) == 2 and all(np.ndim(side) == 1 for side in groups):
        named = [_names(side, n_trials) for side in groups]
    else:
        named = [_names(groups, n_trials)]
    if len({names.dtype.kind == "U" for names in named}) > 1:
        raise InputError("groups: one side has strings and the other has numbers. Use the same names on both sides.")
    codes = np.unique(np.concatenate(named), return_inverse=True)[1]
    return codes.reshape(len(named), n_trials).astype(np.int64, copy=False)


def _names(side: object, n_trials: int) -> AnyArray:
    """Return the groups of one side, all strings or all numbers."""
    names = _validate.array(side, "groups")  # type: ignore[arg-type]  # it checks
    if names.ndim != 1 or len(names) != n_trials:
        raise InputError(
            f"groups: shape {names.shape} for {n_trials} trials. Pass one group per trial, or a pair of arrays, "
            "for the enrolment and for the test side."
        )
    if names.dtype.kind in "biuU":
        return names
    nameless = [not isinstance(name, str | numbers.Real) or name != name for name in names.tolist()]  # noqa: PLR0124
    if (indices := np.flatnonzero(nameless)).size:
        raise InputError(
            f"groups: {len(indices)} of {n_trials} groups are neither strings nor numbers, the first at index "
            f"{indices[0]}: {names[indices[0]]!r}. Give each unknown speaker an own name, or leave the trial out."
        )
    if len({isinstance(name, str) for name in names.tolist()}) > 1:
        raise InputError("groups: some are strings and some are numbers. Use one type for all trials.")
    return np.array(names.tolist())


def folds_of_shares(shares: FloatArray, n_folds: int, seed: int) -> IntArray:
    """Return the fold of each group from its shares of the classes; groups are in the order of their names.

    Parameters
    ----------
    shares : (n_groups, n_classes) array
    n_folds, seed : int

    Raises
    ------
    InputError
        If there are fewer groups than folds.
    """
    counting = np.flatnonzero(shares.any(axis=1))
    if len(counting) < n_folds:
        such = "" if len(counting) == len(shares) else " with a weight above 0"
        raise InputError(
            f"n_folds: {n_folds} folds of {len(counting)} groups{such}. There cannot be more folds than groups."
        )
    order = counting[np.random.default_rng(seed).permutation(len(counting))]
    order = order[np.argsort(-shares.sum(axis=1)[order], kind="stable")]
    order = np.append(order, np.flatnonzero(~shares.any(axis=1)))
    folds = np.empty(len(shares), np.int64)
    loads, sizes_of_folds = np.zeros((n_folds, shares.shape[1])), np.zeros(n_folds, np.int64)
    for group in order.tolist():
        fold = int(np.lexsort((sizes_of_folds, (loads * shares[group]).sum(axis=1)))[0])
        folds[group] = fold
        loads[fold] += shares[group]
        sizes_of_folds[fold] += 1
    return folds


def _shares(sides: IntArray, label: IntArray, weight: CountArray | None) -> FloatArray:
    """Return the share of each group in each class, one row per group."""
    n_groups, n_classes = int(sides.max()) + 1, int(label.max()) + 1
    amount = np.ones(len(label)) if weight is None else weight.astype(np.float64)
    in_groups = summed_by_code(amount, [side * n_classes + label for side in sides], n_groups * n_classes)
    return shares_of(in_groups, summed_by_code(amount, [label], n_classes))


def shares_of(in_groups: tuple[IntArray, int], in_all: tuple[IntArray, int]) -> FloatArray:
    """Return the share of each group in each class, from exact sums, independent of the order of trials.

    Parameters
    ----------
    in_groups, in_all : pairs as of `deciban.core.ranks.counts.summed_by_code`
        Sums of groups by class, and of classes.

    Returns
    -------
    (n_groups, n_classes) array
        0 for a class without weight.
    """
    total = whole_or_float(*in_all).astype(np.float64)
    sums = whole_or_float(*in_groups).astype(np.float64).reshape(-1, len(total))
    return np.divide(sums, total, out=np.zeros(sums.shape), where=total > 0)


def _folds_of_trials(scores: AnyArray, label: IntArray, weight: CountArray | None, n_folds: int, seed: int) -> IntArray:
    """Return the fold of each trial: trials are put in an order by content, shuffled, and assigned by class.

    For very many trials, the fold of a trial depends on its content alone, so that no list of trials is needed.
    """
    columns = list(scores.reshape(len(scores), -1).T)
    keys = [*columns, label]
    if not are_listed(len(label) if weight is None else int(np.count_nonzero(weight)), len(columns)):
        return folds_by_content(columns, label, n_folds, seed)
    order = np.lexsort(keys if weight is None else [weight, *keys])
    # Trials without weight come last, so that they do not change the folds of the others.
    counting, others = (order, order[:0]) if weight is None else (order[weight[order] > 0], order[weight[order] == 0])
    if len(counting) < n_folds:
        such = " with a weight above 0" if len(others) else ""
        raise InputError(
            f"n_folds: {n_folds} folds of {len(counting)} trials{such}. There cannot be more folds than trials."
        )
    counting = np.random.default_rng(seed).permutation(counting)
    order = np.append(counting[np.argsort(label[counting], kind="stable")], others)
    folds = np.empty(len(scores), np.int64)
    folds[order] = np.arange(len(scores)) % n_folds
    return folds


_MOST_NUMBERS = 1 << 23
"""Limit of numbers for assigning folds from a list of all trials."""


def are_listed(n_trials: int, n_columns: int) -> bool:
    """Return True if trials can be listed: at most a million trials with up to eight numbers.

    >>> are_listed(1_000_000, 1), are_listed(1_000_000, 10)
    (True, False)
    """
    return n_trials * max(n_columns, 8) <= _MOST_NUMBERS


def folds_by_content(columns: Sequence[AnyArray], label: AnyArray, n_folds: int, seed: int) -> IntArray:
    """Return the fold of each of very many trials from its numbers and its class; identical trials share a fold.

    Parameters
    ----------
    columns : sequence of (n_trials,) array
    label : (n_trials,) array
    n_folds, seed : int

    Examples
    --------
    >>> folds = folds_by_content([np.arange(1e5)], np.zeros(100_000, int), 4, 0)
    >>> bool(np.all(np.abs(np.bincount(folds) - 25_000) < 500))
    True
    """
    bits = mixed_bits(np.asarray(label).astype(np.int64) + seed)
    for column in columns:
        numbers = column.astype(np.float64) + 0.0  # makes -0.0 equal to 0.0
        numbers[np.isnan(numbers)] = np.nan
        bits = mixed_bits(bits ^ mixed_bits(numbers.view(np.uint64)))
    return (bits % np.uint64(n_folds)).astype(np.int64)


def words_of(low: int, high: int, n_folds: int) -> str:
    """Describe the held-out trials: a fold, or the trials between two folds.

    >>> words_of(0, 0, 5), words_of(0, 2, 5)
    ('fold 1 of 5', 'folds 1 and 3 of 5')
    """
    return f"fold {low + 1} of {n_folds}" if low == high else f"folds {low + 1} and {high + 1} of {n_folds}"


def _by_group(
    names: Foreign, folds: IntArray, partition: sources.SourcePartition, fields: sources.TrialFields
) -> sources.Batch:
    """Read trials with the folds of their groups, one for each side; ``names`` is a pyarrow array of all groups."""
    if not fields.folds:
        return partition.read(fields)
    from deciban._arrow import pc, to_numpy

    batch = partition.read(replace(fields, groups=True))
    own = [folds[to_numpy(pc.index_in(of, names))][codes] for codes, of in not_none(batch.groups, "groups")]
    return replace(batch, folds=np.stack(own, axis=1))


def _listed(folds: IntArray, partition: sources.SourcePartition, fields: sources.TrialFields) -> sources.Batch:
    """Read trials with folds that were assigned from a list of all trials."""
    return replace(partition.read(fields), folds=folds[:, None])


def _by_content(
    source: sources.TrialSource,
    n_folds: int,
    seed: int,
    partition: sources.SourcePartition,
    fields: sources.TrialFields,
) -> sources.Batch:
    """Read trials with folds that depend on their numbers and classes, without a list of all trials."""
    if not fields.folds:
        return partition.read(fields)
    systems = tuple(range(len(source.systems)))
    batch = partition.read(replace(fields, systems=systems, truth=True, quality=source.quality))
    folds = folds_by_content(numbers_of(batch), batch.labels, n_folds, seed)
    quality = {name: (batch.quality or {})[name] for name in fields.quality} or None
    truth, scores = batch.truth if fields.truth else None, tuple(batch.scores[at] for at in fields.systems)
    return replace(batch, scores=scores, truth=truth, quality=quality, folds=folds[:, None])


def numbers_of(batch: sources.Batch) -> list[AnyArray]:
    """Return scores and quality measures of trials, column by column, in the order of memory."""
    if not batch.scores:
        return []
    whole = np.stack(batch.scores, axis=1)
    columns = list(whole.reshape(len(whole), math.prod(whole.shape[1:])).T)
    measures = batch.quality or {}
    return [*columns, *(column for name in ARGUMENTS if name in measures for column in measures[name].T)]


class SmallDataPass(sources.SourcePass):
    """The numbers, class and weight of every trial, partition by partition, if there are few trials."""

    words = "listing trials"

    def __init__(self, fields: sources.TrialFields) -> None:
        self.fields = fields
        self.n_counting = 0
        self.result: dict[int, sources.Batch] | None = {}

    def take(self, partitions: Sequence[sources.SourcePartition]) -> None:
        """Process partitions; see `SourcePass.take`."""
        for partition in partitions:
            batch = partition.read(self.fields)
            n = len(batch.labels) if batch.weight is None else int(np.count_nonzero(batch.weight))
            with self.lock:
                self._add(n, {partition.number: batch})

    def _add(self, n: int, entries: dict[int, sources.Batch] | None) -> None:
        self.n_counting += n
        one = next(iter(entries.values())) if entries else None
        few = one is None or are_listed(self.n_counting, len(numbers_of(one)))
        self.result = None if self.result is None or entries is None or not few else self.result | entries

    def __add__(self, other: Self) -> Self:
        """Merge with other partitions; see `Work.__add__`."""
        values = self.empty()
        for one in (self, other):
            values._add(one.n_counting, one.result)
        return values


@dataclass(frozen=True, slots=True, eq=False)
class GroupShares:
    """Share of each group in the trials of each class; ``a + b`` merges two sets of trials.

    Attributes
    ----------
    names : pyarrow string array
    sums, totals : (n_digits, n_groups * n_classes) and (n_digits, n_classes) int arrays, each with a place
        See `deciban.core.ranks.counts.summed_by_code`; exact, for any partitions in any order.
    """

    names: Foreign
    sums: tuple[IntArray, int]
    totals: tuple[IntArray, int]

    @classmethod
    def of(cls, batch: sources.Batch, n_classes: int) -> Self:
        """Compute from the trials of a batch."""
        import pyarrow as pa

        from deciban._arrow import encode

        groups = not_none(batch.groups, "groups")
        merged, names = encode(pa.concat_arrays([own for _, own in groups]))
        ends = np.cumsum([len(own) for _, own in groups])[:-1]
        amount = np.ones(len(batch.labels)) if batch.weight is None else batch.weight.astype(np.float64)
        truth = batch.labels.astype(np.int64)
        parts = zip(np.split(merged, ends), groups, strict=True)
        both = [place[codes] * n_classes + truth for place, (codes, _) in parts]
        totals = summed_by_code(amount, [truth], n_classes)
        return cls(names, summed_by_code(amount, both, len(names) * n_classes), totals)

    def __add__(self, other: GroupShares) -> GroupShares:
        """Merge with another batch."""
        import pyarrow as pa

        from deciban._arrow import encode

        place, names = encode(pa.concat_arrays([self.names, other.names]))
        n_classes = self.totals[0].shape[1]
        spread = list[tuple[IntArray, int]]()
        for one, own in zip((self, other), np.split(place, [len(self.names)]), strict=True):
            sums, first = one.sums
            table = np.zeros((len(sums), len(names), n_classes), np.int64)
            table[:, own] = sums.reshape(len(sums), len(own), n_classes)
            spread.append((table.reshape(len(sums), len(names) * n_classes), first))
        return GroupShares(names, _added(spread), _added([self.totals, other.totals]))

    def dealt(self, n_folds: int, seed: int) -> sources.Step:
        """Return the step that reads trials with their folds; the folds are the same as in `folds_of`."""
        from deciban._arrow import pc, to_numpy

        order = to_numpy(pc.sort_indices(self.names))
        folds = folds_of_shares(shares_of(self.sums, self.totals)[order], n_folds, seed)
        return partial(_by_group, self.names.take(order), folds)


def _added(parts: Sequence[tuple[IntArray, int]]) -> tuple[IntArray, int]:
    """Return the sums of the digits of both."""
    (one, other), place = aligned(parts)
    return one + other, place


def _shares_in(n_classes: int, batch: sources.Batch) -> GroupShares | None:
    """Return the shares of groups in a batch."""
    return GroupShares.of(batch, n_classes) if batch.truth is not None and len(batch.truth) else None


def folded(source: sources.TrialSource, engine: sources.Engine, n_folds: int, seed: int) -> sources.TrialSource:
    """Return the same trials with their folds.

    Raises
    ------
    InputError
        If there are fewer groups or trials than folds, or the source was opened without groups.
    """
    if source.groups is None:
        raise InputError(
            f"cross_validate: {source.name} was opened without groups to hold out together. Pass the files instead, "
            "or open them with groups=() for the names of both sides, or groups=[column] (open_trials)."
        )
    steps = (_dealt_by_group if source.groups else _dealt)(source, engine, n_folds, seed)
    pairs = zip(source.partitions, steps, strict=True)
    partitions = [sources.MappedPartition(one, step, one.name) for one, step in pairs]
    return replace(source, partitions=tuple(partitions))


def _dealt_by_group(source: sources.TrialSource, engine: sources.Engine, n_folds: int, seed: int) -> list[sources.Step]:
    """Return the folds of groups, in one pass.

    Raises
    ------
    InputError
        If there are fewer groups than folds.
    """
    fields = sources.TrialFields((), truth=True, weight=source.has_weights, groups=True)
    look = partial(_shares_in, len(source.classes) or 2)
    shares = sources.found_in(source, engine, fields, look, "reading groups")
    if shares is None:
        raise InputError(f"{source.name}: no trials.")
    return [shares.dealt(n_folds, seed)] * len(source.partitions)


def _dealt(source: sources.TrialSource, engine: sources.Engine, n_folds: int, seed: int) -> list[sources.Step]:
    """Return the folds of trials without groups, from a list if they are few, in one pass.

    Raises
    ------
    InputError
        If there are fewer trials than folds.
    """
    systems = tuple(range(len(source.systems)))
    fields = sources.TrialFields(systems, truth=True, weight=source.has_weights, quality=source.quality)
    partitions = sources.numbered(source)
    result = engine.run(SmallDataPass(fields), partitions).result
    if result is None:
        bare = replace(source, partitions=(), kept=None)  # a step must be small enough to send
        return [partial(_by_content, bare, n_folds, seed)] * len(partitions)
    batches = [result[at] for at in range(len(partitions))]
    sizes = [len(one.scores[0]) for one in batches]
    filled = [one for one in batches if len(one.scores[0])]
    numbers = np.concatenate([np.stack(numbers_of(one), axis=1) for one in filled])
    truth = np.concatenate([np.asarray(one.truth).astype(np.int64) for one in filled])
    weight = np.concatenate([one.weight for one in filled if one.weight is not None]) if source.has_weights else None
    folds = folds_of(numbers, truth, weight, None, n_folds=n_folds, seed=seed)[0]
    return [partial(_listed, own) for own in np.split(folds, np.cumsum(sizes)[:-1])]
