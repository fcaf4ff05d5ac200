"""Joins by name of tables that do not fit in memory: rows with equal names meet in one part, and parts do fit."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from deciban._arrow import of_numpy
from deciban.errors import InputError, KeyMismatchError, MissingScoresError
from deciban.io.atomic import ScratchFolder
from deciban.io.memory import LEAST, LIBRARIES
from deciban.io.shards.files import TableFile, open_files
from deciban.io.shards.joined_parts import Part, Question, Tally, trials_of
from deciban.io.shards.meaning import Roles
from deciban.io.shards.other_names import NamesSeen
from deciban.io.shards.partitions import BYTES_PER_ROW, Partitions, Sorting, all_of
from deciban.io.shards.rows import Rows
from deciban.io.shards.spilling import write_batches
from deciban.trials import Origin, Trials
from deciban.trials.joining.matching import JoinReport, require_same_sides
from deciban.trials.names.codes import encode
from deciban.trials.names.fingerprints import fingerprints
from deciban.types import AnyArray


@dataclass(frozen=True, eq=False)
class Joined:
    """Trials of a key with their scores, where they were joined.

    Attributes
    ----------
    rows : tuple of Rows
    report : JoinReport
    is_double : frozenset of str
        Columns of scores that are float64.
    kept : object
        What has to live as long as they: a temporary folder, or what holds them in workers of a cluster.
    """

    rows: tuple[Rows, ...]
    report: JoinReport
    is_double: frozenset[str]
    kept: Any


def joined_by_name(asked: Question) -> Joined:
    """Join tables by the names of their trials.

    Rows are sorted into parts by the fingerprints of their names, so that equal names are in the same one; each part
    is joined as tables in memory are. Parts are sorted and joined by the threads of this process, in a temporary
    folder; or where `HowToRead.join` does it.

    Parameters
    ----------
    asked : Question

    Returns
    -------
    Joined
        With the same counts as a join in memory.

    Raises
    ------
    KeyMismatchError
        If trials are missing, duplicate or conflicting.
    OSError
        If there is no room for the temporary files.
    """
    for roles in asked.scores:
        require_same_sides(_no_trials(roles), _no_trials(asked.truth))
        if not roles.sides:
            if asked.how.ids is not None:
                raise InputError(f"ids: {roles.table.name} has no names that could be changed. Leave it out.")
            raise KeyMismatchError(
                f"{roles.table.name} and {asked.truth.table.name}: trials have no names, and can only be matched by "
                "their order: by_order=True (--by-order)."
            )
    return _joined_here(asked) if asked.how.join is None else asked.how.join(asked)


def _no_trials(roles: Roles) -> Trials:
    """No trials, but identified as those of a table."""
    origin = Origin(roles.table.name)
    if not roles.sides:
        return Trials.of_rows(0, origin=origin)
    return Trials.of({side: pa.nulls(0, pa.string()) for side in roles.sides}, origin=origin)


def _joined_here(asked: Question) -> Joined:
    """Join by the threads of this process."""
    _require_room(asked)
    folder, n_threads = ScratchFolder(), len(os.sched_getaffinity(0))
    with folder.or_nothing() as path:
        n_parts = asked.how.n_parts(asked.n_rows, n_threads)
        labels = asked.labels_beside()
        sortings = asked.sortings(labels, n_parts)
        memory = asked.how.memory // len(sortings)
        tables = [Partitions(one, path / f"table{at}", memory) for at, one in enumerate(sortings)]
        for sorting, one in zip(sortings, tables, strict=True):
            refuse_one_name_for_two(sorting, one.fill(n_threads).seen)
        with ThreadPoolExecutor(n_threads) as pool:

            def join(at: int) -> tuple[Path, int, Tally]:
                *scores, key = (one.taken(at) for one in tables)
                made, tally = Part(asked, key, scores).joined(labels)
                target = path / f"joined{at:04d}.parquet"
                if len(made):
                    write_batches(target, made.schema, [made])
                return target, len(made), tally

            found = all_of([pool.submit(join, at) for at in range(n_parts)])
        report = required([tally for _, _, tally in found], asked, [one.seen for one in tables])
        files = [file for file, n_rows, _ in found if n_rows]
        if not files:
            raise no_trial_left(asked)
        table = open_files(path, [TableFile(file) for file in files], asked.how.options(), are_ours=True)
        rows = tuple(
            replace(one, name=name_of_part(asked, at, len(table.rows)))  # type: ignore[type-var]
            for at, one in enumerate(table.rows)
        )
        return Joined(rows, report, table.is_double, folder)


def _require_room(asked: Question) -> None:
    """Refuse pieces that take more memory than there is for them while they are sorted, beside what was sorted.

    Raises
    ------
    InputError
    """
    largest = max((row for one in (*asked.scores, asked.truth) for row in one.table.rows), key=lambda one: one.n_rows)
    needed = largest.n_rows * BYTES_PER_ROW
    if needed > max(asked.how.memory, (LEAST - LIBRARIES) // 2):
        raise InputError(
            f"memory: {largest.name} has {largest.n_rows:,} rows, which are sorted by their names at once. With what "
            f"was sorted before, and Python and its libraries, they take {math.ceil((LIBRARIES + 2 * needed) / 1e6):,} "
            "MB: allow that (memory=, --memory), or write smaller row groups."
        )


def name_of_part(asked: Question, at: int, n_parts: int) -> str:
    """What messages call a part that was joined."""
    scores = ", ".join(one.table.name for one in asked.scores)
    return f"{asked.truth.table.name}, joined with {scores}, part {at + 1} of {n_parts}"


def no_trial_left(asked: Question) -> KeyMismatchError:
    """The error of a key of which nothing is left."""
    return KeyMismatchError(f"{asked.truth.table.name}: no trial is left, and nothing to evaluate.")


def refuse_one_name_for_two(sorting: Sorting, seen: NamesSeen) -> None:
    """Refuse names of a table of which two become one: trials that have such names are looked for, and compared.

    Parameters
    ----------
    sorting : Sorting
    seen : NamesSeen
        Of all pieces.

    Raises
    ------
    KeyMismatchError
        As `deciban.trials.joining.renaming.Renaming.of_scores` does of tables in memory.
    """
    suspects, renaming = seen.suspects, sorting.renaming
    if renaming is None or not any(map(len, suspects)):
        return
    one_part = Sorting(sorting.roles, (), 1, sorting.where)
    found: list[pa.Table] = []
    for piece, first in zip(sorting.roles.table.rows, sorting.starts, strict=True):
        (table,), _ = one_part.parts_of(piece, first)
        is_suspect: AnyArray = np.zeros(len(table), np.bool_)
        for name, own in zip(one_part.sides, suspects, strict=True):
            codes, names = encode(table.column(name))
            prints = fingerprints(renaming.compared(names, of_key=sorting.is_key))
            is_suspect |= np.isin(prints, own)[codes]
        found.append(table.filter(of_numpy(is_suspect)))
    trials = trials_of(pa.concat_tables(found).combine_chunks(), sorting.roles)
    (renaming.of_key if sorting.is_key else renaming.of_scores)(trials)


def required(tallies: Sequence[Tally], asked: Question, seen: Sequence[NamesSeen]) -> JoinReport:
    """How trials met, if the policies allow it.

    Parameters
    ----------
    tallies : sequence of Tally
        Of all parts.
    asked : Question
    seen : sequence of NamesSeen
        Of the tables of scores and of the key, the key last.

    Raises
    ------
    KeyMismatchError
    """
    tally = sum(tallies, Tally())
    _require_met(asked, tally)
    report = tally.report
    if asked.how.ids is None or not any(one.sides for one in seen):
        return report
    *scores, key = (one.n_changed for one in seen)
    counts = [key, *(n for n, at in zip(scores, range(len(scores)), strict=True) for _ in asked.systems_of(at))]
    names = [name for name, _ in report.renamed]
    return replace(report, renamed=tuple(zip(names, counts, strict=True)))


def _require_met(asked: Question, tally: Tally) -> None:
    """Refuse what the policies do not allow, by the counts of all parts.

    Raises
    ------
    KeyMismatchError
    """
    report, how, key = tally.report, asked.how, asked.truth.table.name
    if report.duplicate and how.duplicates == "error":
        copies = ", ".join(f"{n:,} in {name}" for name, n in dict(report.copies).items() if n)
        raise KeyMismatchError(
            f'{tally.first_copy} occurs more than once ({copies}). Remove the copies, or pass duplicates="keep-one" '
            "(--duplicates keep-one) if they say the same."
        )
    if how.incomplete:  # what lacks which scores is looked at by whoever asked for these trials
        return
    if report.missing and not report.matched and isinstance(how.missing, str):
        names = ", ".join(one.table.name for one in asked.scores)
        raise KeyMismatchError(
            f"{names} and {key} share no trial. Check that both belong to one evaluation, and name the columns if they "
            "were taken wrongly."
        )
    if report.missing and how.missing == "error":
        assert tally.first_missing is not None  # noqa: S101  # some are missing
        _, words, name = tally.first_missing
        raise MissingScoresError(
            f"{report.missing:,} of {report.matched + report.missing:,} key trials have no score in {name}, the first "
            f'{words}. Pass missing="drop" (--missing drop) to leave them out, or a score to fill in (--missing '
            "fill=VALUE)."
        )
