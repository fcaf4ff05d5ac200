"""How the trials of several systems meet where there is no key: on those of the first, or in a union."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban._arrow import to_numpy
from deciban.errors import InputError, KeyMismatchError
from deciban.io import Contents
from deciban.io.reader import Input
from deciban.messages import WARNING, Message, counted
from deciban.models.score_model import ScoreModel
from deciban.trials import Index, Key, Trials
from deciban.trials.joining.join import align_incomplete, append_trials, new_rows
from deciban.trials.joining.lookup import Wanted
from deciban.trials.joining.matching import JoinReport, match, picked
from deciban.trials.lists import ROW
from deciban.types import IntArray
from deciban.workflows.kinds import AnyKind
from deciban.workflows.kinds.two_class import as_table
from deciban.workflows.options import Reading


@dataclass(frozen=True, slots=True, eq=False)
class SharedTrials:
    """Systems on the same trials.

    Attributes
    ----------
    systems : list of Scores or ClassScores
        Those that the model takes, in its order.
    first : Scores or ClassScores
        Of the input that is to be written again.
    written : Input
        This input, with the trials that are left.
    messages : list of Message
        How trials met.
    lost : list of Message
        What was lost on the way.
    renamed : collection of int
        Positions of inputs with names that were compared as other names, if no message says so.
    """

    systems: list[Any]
    first: Any
    written: Input
    messages: list[Message] = field(default_factory=list)
    lost: list[Message] = field(default_factory=list)
    renamed: Collection[int] = ()


Meet: TypeAlias = Callable[[ScoreModel, AnyKind, list[Input], list[Any], list[int], Reading], SharedTrials]
"""Finds the trials that systems share: `on_shared_trials` or `on_same_rows`."""


def on_shared_trials(
    model: ScoreModel, kind: AnyKind, inputs: list[Input], systems: list[Any], order: list[int], reading: Reading
) -> SharedTrials:
    """Find the scores of all systems for the trials of the first one.

    Instead of refusing what lacks, a fusion that was trained for subsets of systems gets every trial that one of its
    systems scored: those of the first input in its order, then those that only the second one has, and so on.

    Parameters
    ----------
    model : ScoreModel
    kind : AnyKind
    inputs : sequence of Input
        With one system or more each.
    systems : list of Scores or ClassScores
        Of these inputs.
    order : sequence of int
        Those that the model takes, in its order.
    reading : Reading

    Raises
    ------
    KeyMismatchError
        If trials do not meet.
    """
    if not model.is_fusion:
        return SharedTrials(systems, systems[0], inputs[0])
    if model.accepts_missing and reading.missing == "error" and not reading.by_order:
        return _on_all(kind, inputs, systems, order, reading)
    ids = None if reading.renaming is None else reading.renaming.for_scores_alone()
    how: Any = {"by_order": reading.by_order, "ids": ids}
    found = match(systems, Index(systems[0].trials), reading.missing, reading.duplicates, **how)
    trials = found.key.trials
    matched = [
        replace(one, trials=trials, score=picked(one.score, rows, reading.missing))
        for one, rows in zip(systems, found.rows, strict=True)
    ]
    messages = kind.ids_messages(reading, found.report) + _in_words(kind, systems, trials, found.report, reading)
    return SharedTrials([matched[k] for k in order], matched[0], kind.with_trials(inputs[0], trials), messages)


def on_same_rows(
    model: ScoreModel,  # noqa: ARG001  # every model takes rows
    kind: AnyKind,  # noqa: ARG001
    inputs: list[Input],
    systems: list[Any],
    order: list[int],
    reading: Reading,
) -> SharedTrials:
    """Take the trials of systems row by row, in batches that hold the same rows of every input.

    Parameters, errors
        As of `on_shared_trials`.
    """
    first, renamed = systems[0], list[int]()
    lists = [trials for one in inputs if (trials := _index(one)) is not None]
    if len(inputs) > 1 and not reading.by_order:
        if reading.renaming is not None:
            made = [reading.renaming.for_scores_alone().of_scores(one) for one in lists]
            renamed = [at for at, one in enumerate(made) if one.n_changed]
            lists = [replace(one.trials, origin=old.origin) for one, old in zip(made, lists, strict=True)]
        for other in lists[1:]:
            _require_same_names(lists[0], other)
    chosen = [replace(systems[k], trials=first.trials) for k in order]
    return SharedTrials(chosen, first, inputs[0], renamed=renamed)


def _index(one: Input) -> Trials | None:
    """Return the trials of a batch."""
    return None if one.contents.index is None else one.contents.index.trials


def _require_same_names(one: Trials, other: Trials) -> None:
    """Refuse rows that are not about the same trials.

    Raises
    ------
    KeyMismatchError
    """
    if one.sides == ROW or one.sides != other.sides:
        raise KeyMismatchError(
            f"{one.origin.name} and {other.origin.name}: do not name their trials in the same way, and can only be "
            "matched by their order: by_order=True (--by-order)."
        )
    for side in one.sides:
        same = to_numpy(pc.equal(one.column(side).cast(pa.string()), other.column(side).cast(pa.string())))
        if not same.all():
            row = int(np.argmin(same))
            raise KeyMismatchError(
                f"{one.origin.where(row)}: trial {one.name_of(row)}, where {other.origin.where(row)} has "
                f"{other.name_of(row)}. What does not fit in memory is fused row by row: write the files in the same "
                "order first, or allow more memory (memory=, --memory)."
            )


def _on_all(kind: AnyKind, inputs: list[Input], systems: list[Any], order: list[int], reading: Reading) -> SharedTrials:
    """Systems on every trial that one of them scored, with NaN where one did not."""
    if reading.ids is not None:
        raise InputError(
            "ids: a fusion for subsets of systems takes trials of all files, whose names must be written in the same "
            "way. Rename them first (Scores.rename), or say what to do about trials that lack scores (missing=, "
            "--missing)."
        )
    held_by = [one for one in inputs for _ in one.contents.systems]
    inputs = [one for one in inputs if any(held_by[k] is one for k in order)]
    lists = [_trials_of(one) for one in inputs]
    rows = new_rows(lists)
    has_more = any(map(len, rows[1:]))
    index = Index(_union(lists, rows) if has_more else lists[0])  # the latter with copies, which joins are to find
    aligned = align_incomplete([systems[k] for k in order], index, duplicates=reading.duplicates)
    trials, report = aligned[0].trials, aligned[0].report
    found = [one.scores for one in aligned]
    if not has_more:
        messages = _in_words(kind, [one.contents.systems[0] for one in inputs], trials, report, reading)
        return SharedTrials(found, found[0], kind.with_trials(inputs[0], trials), messages)
    changed, lost = _of_union(inputs, rows, trials)
    return SharedTrials(found, found[0], as_table(inputs[0], changed), _union_in_words(inputs, rows, report), lost)


def _trials_of(one: Input) -> Trials:
    """The trials that the systems of an input scored."""
    return one.contents.systems[0].trials


def _union(lists: Sequence[Trials], rows: Sequence[IntArray]) -> Trials:
    """The trials of several lists, each once, with the conditions of the first.

    Those of the first list in its order, then those that only the second one has, and so on; ``rows`` are these.
    """
    names = lists[0].conditions
    parts = [trials if len(own) == len(trials) else trials.take(own) for trials, own in zip(lists, rows, strict=True)]
    return append_trials(
        [
            replace(part, conditions={name: column for name, column in part.conditions.items() if name in names})
            for part in parts
            if len(part)
        ]
    )


def _of_union(inputs: Sequence[Input], rows: Sequence[IntArray], trials: Trials) -> tuple[Contents, list[Message]]:
    """The contents of the first input for the trials of all, and what is lost of them.

    Labels stay if every input with trials of its own has some; what else belongs to a trial is left out.
    """
    parts = [(one.contents, own) for one, own in zip(inputs, rows, strict=True) if len(own)]
    first = inputs[0].contents
    changed: dict[str, Any] = {"index": Index(trials), "key": None, "class_scores": None, "class_key": None}
    truths = [contents.key.is_target[own] for contents, own in parts if contents.key is not None]
    if len(truths) == len(parts):
        changed["key"] = Key(trials, np.concatenate(truths))
    words = {"key": "labels", "class_scores": "class scores", "class_key": "class labels"}
    lost = [
        Message("note", "", f"{words[name]} of {first.origin.name} left out: not all trials have some")
        for name, value in changed.items()
        if value is None and getattr(first, name) is not None
    ]
    return replace(first, **changed), lost


def _union_in_words(inputs: Sequence[Input], rows: Sequence[IntArray], report: JoinReport) -> list[Message]:
    """How the trials met: ``report`` is that of the systems on all of them."""
    n, first = sum(map(len, rows)), inputs[0].contents.origin.name
    words = [f"{counted(n, 'trial')} · {report.matched:,} have all scores · {report.missing:,} have not"]
    for k, (one, own) in enumerate(zip(inputs, rows, strict=True)):
        if k and len(own):
            new = f"that {first} does not have" if k == 1 else "that no file before it has"
            words.append(f"{counted(len(own), 'trial')} of {one.contents.origin.name} {new}, after the others")
    words += [
        f"{one.contents.origin.name} shares no trial with the others: are these the same names?"
        for one in (() if report.matched else inputs)
        if not any(_share_trials(_trials_of(one), _trials_of(other)) for other in inputs if other is not one)
    ]
    if report.duplicate:
        words.append(f"surplus copies of trials left out: {report.duplicate:,}")
    return [Message("note" if k else "join", "", line) for k, line in enumerate(words)]


def _share_trials(one: Trials, other: Trials) -> bool:
    """Whether two lists have a trial in common."""
    rows = Wanted(one).find(other).rows
    return rows is None or bool(np.any(rows >= 0))


def _in_words(
    kind: AnyKind, systems: Sequence[Any], left: Trials, report: JoinReport, reading: Reading
) -> list[Message]:
    """How the trials of the first system and those of the others met."""
    noun, trials = kind.noun, systems[0].trials
    name, messages = trials.origin.name, kind.by_order_messages(reading)
    words = f"{report.matched:,} {noun}s of {name} have all scores · {report.missing:,} have not"
    messages.append(Message("join", "", words))
    messages += kind.fill_messages(reading, report.missing)
    n_left_out = len(trials) - len(left)
    if n_left_out:
        words = f"{counted(n_left_out, noun)} of {name} left out, without all scores or surplus copies"
        messages.append(Message(WARNING, "", words))
    if report.extra:  # scores of several systems: a trial may have more than one
        n_others = sum(map(len, new_rows([one.trials for one in systems])[1:]))
        messages.append(Message(WARNING, "", f"{counted(n_others, noun)} that {name} does not have left out"))
    return messages
