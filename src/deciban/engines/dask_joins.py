"""Joins by name on a cluster of Dask: rows are sorted into parts, and parts joined, by tasks whose results stay there.

Nothing is written here: parts are what workers hold, and Dask makes them again from the files if a worker is lost.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from deciban.engines.dask import FUTURES, DaskEngine, Share, shares
from deciban.engines.dask_clusters import require_folders
from deciban.engines.work import Engine
from deciban.io.shards.held import FETCH, HeldRows
from deciban.io.shards.how import n_parts
from deciban.io.shards.joined_parts import Part, Question, Tally
from deciban.io.shards.joining import Joined, name_of_part, no_trial_left, refuse_one_name_for_two, required
from deciban.io.shards.other_names import NamesSeen
from deciban.io.shards.partitions import Sorting
from deciban.io.shards.rows import Rows
from deciban.io.shards.spilling import ROWS
from deciban.io.shards.truth import Truth

_SHARE_FOR_PARTS = 0.2
"""Part of the memory of a thread that a part may take while it is joined."""

_MOST = 1 << 30
"""Bytes that it takes at most, however much there is: what is smaller is spread more evenly."""

_BYTES_PER_ROW = 250
"""What a row takes that is sorted, about."""


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """What all tasks of a join must know."""

    asked: Question
    labels: Sequence[Truth | None]
    sortings: Sequence[Sorting]


def join_on(cluster: Engine, asked: Question) -> Joined:
    """Join tables by name on the workers of a cluster.

    Parameters
    ----------
    cluster : DaskEngine
        Is closed when nobody needs the joined trials any more.
    asked : Question

    Returns
    -------
    Joined
        Whose rows lie on the workers.

    Raises
    ------
    KeyMismatchError, FormatError, ClusterError
        As `deciban.io.shards.joining.joined_by_name`, or if workers are lost again and again.
    """
    assert isinstance(cluster, DaskEngine)  # noqa: S101  # others join here
    try:
        return _joined(cluster, asked)
    except BaseException:
        cluster.close()
        raise


def _joined(cluster: DaskEngine, asked: Question) -> Joined:
    for one in (*asked.scores, asked.truth):
        require_folders(cluster.client, one.table.kept, one.table.name)
    n_cut, labels, own = _n_parts(cluster, asked), asked.labels_beside(), asked.alone()
    plan = _Plan(own, labels, own.sortings(labels, n_cut))
    joined, tallies = list[Any](), list[Any]()
    submitted, places = list[Any](), dict[str, Share]()
    with cluster.cancelled_on_error(submitted, places):
        sent = cluster.submitted(_same, plan)  # a task, so that it is made again with all the rest if it is lost
        tasks = [_sorted_in(cluster, sent, at, one, places) for at, one in enumerate(plan.sortings)]
        for at in range(n_cut):
            parts = [[cluster.submitted(_part, one, at) for one in own] for own in tasks]
            made = cluster.submitted(_join, sent, *parts)
            joined.append(cluster.submitted(_table, made))
            tallies.append(cluster.submitted(_tally, made))
            submitted += [joined[-1], tallies[-1]]
            del made, parts
        names = [[cluster.submitted(_seen, one, priority=1) for one in own] for own in tasks]
        submitted += [one for own in names for one in own]
        del tasks
        seen = [sum(own, NamesSeen()) for own in cluster.client.gather(names)]
        for sorting, found in zip(plan.sortings, seen, strict=True):
            refuse_one_name_for_two(sorting, found)
        told: list[tuple[Tally, int, int, list[str]]] = cluster.client.gather(tallies)
    report = required([tally for tally, *_ in told], asked, seen)
    rows = list[Rows]()
    held = dict[str, Any]()
    for at, (future, (_, n_rows, n_bytes, _double)) in enumerate(zip(joined, told, strict=True)):
        if n_rows:
            held[future.key] = future
            rows += _rows_of(future.key, n_rows, n_bytes, name_of_part(asked, at, n_cut))
    if not rows:
        raise no_trial_left(asked)
    double = frozenset(name for *_, names in told for name in names)
    return Joined(tuple(rows), report, double, _Held(cluster, held))


def _n_parts(cluster: DaskEngine, asked: Question) -> int:
    return n_parts(asked.n_rows, cluster.n_threads, int(min(cluster.memory_per_thread() * _SHARE_FOR_PARTS, _MOST)))


def _rows_of(key: str, n_rows: int, n_bytes: int, name: str) -> list[HeldRows]:
    cuts = range(0, n_rows, ROWS)
    return [HeldRows(name, min(ROWS, n_rows - start), key, start, n_bytes) for start in cuts]


def _sorted_in(cluster: DaskEngine, plan: Any, at: int, sorting: Sorting, places: dict[str, Share]) -> list[Any]:
    """Tasks that sort the rows of a table; and which these are."""
    rows: Any = sorting.roles.table.rows
    n_rows = min(cluster.memory_per_thread() * _SHARE_FOR_PARTS, _MOST) / _BYTES_PER_ROW
    n_tasks = max(cluster.n_threads, int(sorting.roles.table.n_rows // n_rows))
    found, done = list[Any](), 0
    for some in shares(rows, n_tasks):
        found.append(cluster.submitted(_sort, plan, at, done, done + len(some)))
        places[found[-1].key] = Share(some, 0)
        done += len(some)
    return found


def _same(plan: _Plan) -> _Plan:
    return plan


def _sort(plan: _Plan, at: int, start: int, stop: int) -> tuple[list[pa.Table], NamesSeen]:
    """Sort the rows of some pieces of a table into parts: what a worker runs."""
    sorting, seen = plan.sortings[at], NamesSeen()
    parts: list[list[pa.Table]] = [[sorting.schema.empty_table()] for _ in range(sorting.n_parts)]
    pieces = zip(sorting.roles.table.rows[start:stop], sorting.starts[start:stop], strict=True)
    for piece, first in pieces:
        tables, own = sorting.parts_of(piece, first)
        seen += own
        for held, table in zip(parts, tables, strict=True):
            held.append(table)
    return [pa.concat_tables(held).combine_chunks() for held in parts], seen


def _part(tables: tuple[list[pa.Table], NamesSeen], at: int) -> pa.Table:
    return tables[0][at]


def _seen(tables: tuple[list[pa.Table], NamesSeen]) -> NamesSeen:
    return tables[1]


def _join(plan: _Plan, *tables: list[pa.Table]) -> tuple[pa.Table, Tally]:
    """Join a part of all tables, of which the key is the last."""
    *scores, key = (pa.concat_tables(own).combine_chunks() for own in tables)
    return Part(plan.asked, key, scores).joined(plan.labels)


def _table(made: tuple[pa.Table, Tally]) -> pa.Table:
    return made[0]


def _tally(made: tuple[pa.Table, Tally]) -> tuple[Tally, int, int, list[str]]:
    table, tally = made
    double = [field.name for field in table.schema if field.type == pa.float64()]
    return tally, len(table), table.nbytes, double


class _Held:
    """What workers hold as long as this lives.

    Parameters
    ----------
    cluster : DaskEngine
    futures : dict of str to Future
    """

    def __init__(self, cluster: DaskEngine, futures: dict[str, Any]) -> None:
        FUTURES.update(futures)
        FETCH.update({key: one.result for key, one in futures.items()})
        weakref.finalize(self, _let_go, cluster, list(futures))


def _let_go(cluster: DaskEngine, keys: Sequence[str]) -> None:
    for key in keys:
        FUTURES.pop(key, None)
        FETCH.pop(key, None)
    cluster.close()
