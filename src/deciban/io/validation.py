"""Whether a submission has the trials of a list: all of them, once each, no others, in the same order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from typing import Any

from deciban._files import PathLike, ScratchFolder
from deciban.errors import FormatError
from deciban.io.columns.headers import Columns
from deciban.io.contents import ContentKind
from deciban.io.listed_names import SHOWN, ListedNames, Room, are_readable, faults_of_text
from deciban.io.read import read_renaming
from deciban.io.recognition import is_stream, memory_of, readable_as
from deciban.io.source import require_one_stream
from deciban.memory import memory_for_trials
from deciban.messages import Message, counted
from deciban.trials.joining.renaming import IdsLike


@dataclass(frozen=True, slots=True)
class Validation:
    """What was read, and what is wrong with it: for every kind of fault how many there are, and the first of them."""

    messages: tuple[Message, ...]
    faults: tuple[str, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """What was read, a line each."""
        return tuple(map(str, self.messages))

    @property
    def is_valid(self) -> bool:
        """Whether nothing is wrong."""
        return not self.faults


def validate(
    submission: PathLike,
    trials: PathLike,
    *,
    format: str | None = None,
    columns: Columns | None = None,
    trials_format: str | None = None,
    trials_columns: Columns | None = None,
    labels: Mapping[str, str] | None = None,
    any_order: bool = False,
    ids: IdsLike | PathLike | None = None,
    memory: str | int | None = None,
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
    ids : str, path, sequence of str, or IdMap, optional
        By which names trials are compared; see `deciban.io.read.read_renaming`.
    memory : str or int, optional
        Bytes that may be taken, as ``"2GB"`` or a number; left out, half of what is free. Text, Parquet and Arrow that
        would take more are read in batches.

    Returns
    -------
    Validation

    Raises
    ------
    FormatError, InputError, OSError
        If the list cannot be read. What is wrong with the submission is returned.
    """
    require_one_stream([submission, trials])
    renaming = read_renaming(ids)
    given: Any = {"format": format, "columns": columns, "labels": labels}
    listing: Any = {"format": trials_format, "columns": trials_columns, "labels": labels}
    room: Room | None = None
    kinds = () if is_stream(submission) else readable_as(submission, ("scores", "class-scores"), **given)
    need: ContentKind = "class-scores" if kinds == ("class-scores",) else "scores"
    with ExitStack() as stack:
        needed: Any = [(trials, "index", listing), (submission, need, given)]
        if memory_of([submission, trials]) > memory_for_trials(memory) and are_readable(needed, memory):
            room = Room(ScratchFolder(), memory_for_trials(memory))
            stack.callback(room.folder.remove)
        listed = ListedNames(trials, listing, "index", None if renaming is None else renaming.of_key, room)
        messages = [listed.read_message("trials", "")]
        try:
            scored = ListedNames(submission, given, need, None if renaming is None else renaming.of_scores, room)
        except FormatError as error:
            found = islice(faults_of_text(submission, need, given, room), SHOWN)
            return Validation(tuple(messages), tuple(map(str, found)) or (str(error),))
        # The systems of one input score the same trials: what is wrong with those of one is wrong with all.
        names = [system.name for system in scored.contents.systems]
        several = f", {len(names)} systems: {', '.join(names)}" if len(names) > 1 else ""
        messages.append(scored.read_message("scores", several))
        if renaming is not None:
            for one in (scored, listed):
                words = f"{renaming.words} changed {counted(one.n_changed, 'name')} of {one.name}"
                messages.append(Message("ids", "", words))
        faults = _faults(scored, listed, any_order=any_order, may_be_near=renaming is None)
        return Validation(tuple(messages), tuple(faults))


def _faults(scored: ListedNames, listed: ListedNames, *, any_order: bool, may_be_near: bool) -> Iterator[str]:
    if scored.sides != listed.sides:
        yield (
            f"{scored.name} identifies a trial by {' and '.join(scored.sides)}, the list by "
            f"{' and '.join(listed.sides)}. Name the columns of both files."
        )
        return
    found = scored.differences(listed)
    if found is None:
        return
    again, lacking, extra = found.again, found.lacking, found.extra
    places = scored.places([*again.rows, *extra.rows])
    often = f"trial listed {'more than once' if found.most == 1 else 'more often than in the list'}"
    yield from fault_in_words(often, again.n, again.shown(places))
    yield from fault_in_words(LACKING, lacking.n, lacking.shown(listed.places(lacking.rows)))
    yield from fault_in_words("score of trials that are not in the list", extra.n, extra.shown(places))
    if lacking.n and may_be_near and (near := scored.near(listed)):
        yield near
    if not any_order and found.moved is not None and not (again.n or lacking.n or extra.n):
        row, name, wanted = found.moved
        yield (
            f"{scored.places([row])[row]}: trial {name} stands where the list has {wanted} "
            f"({listed.places([row])[row]}). All trials are there, in another order; --any-order allows that."
        )


LACKING = "trial of the list without a score"
"""What is said of trials that only the list has."""


def fault_in_words(what: str, n: int, first: Sequence[tuple[str, str]]) -> Iterator[str]:
    """How many trials have a fault, and the places and names of the first; nothing if none has.

    Examples
    --------
    >>> print(*fault_in_words(LACKING, 2, [("list.txt:1", "ann x"), ("list.txt:7", "bob y")]))
    2 trials of the list without a score, the first: list.txt:1 ann x; list.txt:7 bob y
    """
    if n:
        shown = "; ".join(f"{place} {name}" for place, name in first)
        noun, rest = what.split(" ", 1)
        yield f"{counted(n, noun)} {rest}, the first: {shown}"
