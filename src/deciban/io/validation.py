"""Whether a submission has the trials of a list: all of them, once each, no others, in the same order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

import numpy as np

from deciban.errors import FormatError
from deciban.io.columns.headers import Columns
from deciban.io.inputs import read_contents, text_faults
from deciban.io.source import PathLike
from deciban.trials import Index, Scores, Trials
from deciban.trials.lookup import Wanted
from deciban.types import IntArray

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Validation:
    """What was read, and what is wrong with it: for every kind of fault how many there are, and the first of them."""

    facts: tuple[str, ...]
    faults: tuple[str, ...]

    @property
    def is_valid(self) -> bool:
        """Whether nothing is wrong."""
        return not self.faults


def validate(
    submission: PathLike,
    trials: PathLike,
    *,
    format: str | None = None,  # noqa: A002  # the word users know
    columns: Columns | None = None,
    trials_format: str | None = None,
    trials_columns: Columns | None = None,
    labels: Mapping[str, str] | None = None,
    any_order: bool = False,
) -> Validation:
    """Compare a submission with the list of trials that it should score.

    Parameters
    ----------
    submission : path
        Score file.
    trials : path
        List of trials, or a key.
    format, columns, labels : optional
        See `deciban.read_scores`, for the submission.
    trials_format, trials_columns : optional
        The same for the list.
    any_order : bool
        Whether the trials may stand in another order than in the list.

    Returns
    -------
    Validation

    Raises
    ------
    FormatError, InputError, OSError
        If the list cannot be read. What is wrong with the submission is returned.
    """
    index = read_contents(trials, need="index", format=trials_format, columns=trials_columns, labels=labels).index
    assert index is not None  # noqa: S101  # an index was asked for
    facts = [f"trials  {index.trials.origin.name}   {index.trials.origin.reading}   {len(index):,} trials"]
    try:
        contents = read_contents(submission, need="scores", format=format, columns=columns, labels=labels)
    except FormatError as error:
        found = islice(text_faults(submission, format=format, columns=columns, labels=labels), _SHOWN)
        return Validation(tuple(facts), tuple(map(str, found)) or (str(error),))
    faults: list[str] = []
    for scores in contents.systems:
        origin = scores.trials.origin
        facts.append(f"scores  {origin.name}   {origin.reading}   {len(scores):,} trials")
    faults.extend(_faults(contents.systems[0], index, any_order=any_order))
    return Validation(tuple(facts), tuple(faults))


def _faults(scores: Scores, index: Index, *, any_order: bool) -> Iterator[str]:
    given, wanted = scores.trials, index.trials
    if given.sides != wanted.sides:
        yield (
            f"{given.origin.name} identifies a trial by {' and '.join(given.sides)}, the list by "
            f"{' and '.join(wanted.sides)}. Name the columns of both files."
        )
        return
    copies = Wanted(given).surplus[1]
    yield from _named("trials that stand there more than once", given, copies)
    listed = wanted.take(np.delete(np.arange(len(wanted)), Wanted(wanted).surplus[1]))
    found = Wanted(listed).find(given)
    if found.rows is None:
        return
    yield from _named("trials of the list without a score", listed, np.flatnonzero(found.rows < 0))
    back = Wanted(given).find(listed).rows
    extra = np.flatnonzero(back < 0) if back is not None else copies[:0]
    yield from _named("scores of trials that are not in the list", given, extra)
    complete = bool(np.all(found.rows >= 0)) and not len(extra) and not len(copies)
    moved = found.rows != np.arange(len(found.rows))
    if complete and not any_order and np.any(moved):
        row = int(np.argmax(moved))
        yield (
            f"{given.origin.where(row)}: trial {given.name_of(row)} stands where the list has {listed.name_of(row)} "
            f"({listed.origin.where(row)}). All trials are there, in another order; --any-order allows that."
        )


def _named(what: str, trials: Trials, rows: IntArray) -> Iterator[str]:
    if len(rows):
        first = "; ".join(f"{trials.origin.where(int(row))} {trials.name_of(int(row))}" for row in rows[:_SHOWN])
        yield f"{len(rows):,} {what}, the first: {first}"
