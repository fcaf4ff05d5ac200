"""How the trials of several systems meet where there is no key: on those of the first, on those of all, in a union."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deciban.io.reader import Input
from deciban.messages import Message, counted
from deciban.models.score_model import ScoreModel
from deciban.trials import Index, Key, Trials
from deciban.trials.joining.append import append_trials, new_rows
from deciban.trials.joining.join import align_incomplete
from deciban.trials.joining.lookup import Wanted
from deciban.trials.joining.matching import JoinReport, match, picked
from deciban.types import IntArray
from deciban.workflows.apply_targets import as_table, with_trials
from deciban.workflows.kinds import Kind
from deciban.workflows.options import Reading


@dataclass(frozen=True, slots=True, eq=False)
class TrialUnion:
    """The trials of several inputs, each once: those of the first in its order, then those that only the second has.

    And so on for further inputs.

    Attributes
    ----------
    inputs : tuple of Input
        Whose systems are fused.
    rows : tuple of int arrays
        For each of them, the trials that no input before it has.
    index : Index
        The union, with the conditions that the first input has. Where no other one adds a trial, the first input as it
        is, surplus copies included: joins are to find these.
    """

    inputs: tuple[Input, ...]
    rows: tuple[IntArray, ...]
    index: Index

    @classmethod
    def of(cls, inputs: Sequence[Input]) -> TrialUnion:
        """Find the union.

        Raises
        ------
        KeyMismatchError
            If the trials of the inputs are not identified in the same way.
        """
        lists = [trials_of(one) for one in inputs]
        rows = new_rows(lists)
        if not any(map(len, rows[1:])):
            return cls(tuple(inputs), tuple(rows), Index(lists[0]))
        kept = lists[0].conditions
        parts = [
            trials if len(own) == len(trials) else trials.take(own) for trials, own in zip(lists, rows, strict=True)
        ]
        parts = [_with_conditions(part, kept) for part, own in zip(parts, rows, strict=True) if len(own)]
        return cls(tuple(inputs), tuple(rows), Index(append_trials(parts)))

    @property
    def has_more(self) -> bool:
        """Whether some input has trials that the first one lacks."""
        return any(map(len, self.rows[1:]))

    def contents_changed(self, trials: Trials) -> tuple[dict[str, Any], list[Message]]:
        """What of the contents of the first input becomes something else for the trials of all; and what is said.

        Labels stay if every input with trials of its own has some; what else belongs to a trial is left out.
        """
        parts = [(one.contents, own) for one, own in zip(self.inputs, self.rows, strict=True) if len(own)]
        first = self.inputs[0].contents
        changed: dict[str, Any] = {"index": Index(trials), "key": None, "class_scores": None, "class_key": None}
        truths = [contents.key.is_target[own] for contents, own in parts if contents.key is not None]
        if len(truths) == len(parts):
            changed["key"] = Key(trials, np.concatenate(truths))
        lost = [name for name in changed if changed[name] is None and getattr(first, name) is not None]
        words = {"key": "labels", "class_scores": "class scores", "class_key": "class labels"}
        messages = [
            Message("note", "", f"{words[name]} of {first.origin.name} left out: not all trials have some")
            for name in lost
        ]
        return changed, messages

    def messages(self, report: JoinReport) -> list[Message]:
        """How the trials met: ``report`` is that of the systems on all of them."""
        n, first = len(self.index), self.inputs[0].contents.origin.name
        messages = [
            Message("join", "", f"{n:,} trials · {report.matched:,} have all scores · {report.missing:,} have not")
        ]
        for k, (one, own) in enumerate(zip(self.inputs, self.rows, strict=True)):
            if k and len(own):
                new = f"that {first} does not have" if k == 1 else "that no file before it has"
                words = f"{counted(len(own), 'trial')} of {one.contents.origin.name} {new}, after the others"
                messages.append(Message("note", "", words))
        messages += [
            Message(
                "note", "", f"{one.contents.origin.name} shares no trial with the others: are these the same names?"
            )
            for one in (() if report.matched else self.inputs)
            if not any(_meet(trials_of(one), trials_of(other)) for other in self.inputs if other is not one)
        ]
        if report.duplicate:
            messages.append(Message("note", "", f"surplus copies of trials left out: {report.duplicate:,}"))
        return messages


def trials_of(one: Input) -> Trials:
    """The trials that the systems of an input scored."""
    return one.contents.systems[0].trials


def _with_conditions(trials: Trials, names: Collection[str]) -> Trials:
    """Without the conditions that are none of these."""
    kept = {name: values for name, values in trials.conditions.items() if name in names}
    return trials if len(kept) == len(trials.conditions) else replace(trials, conditions=kept)


def _meet(one: Trials, other: Trials) -> bool:
    """Whether two lists have a trial in common."""
    rows = Wanted(one).find(other).rows
    return rows is None or bool(np.any(rows >= 0))


@dataclass(frozen=True, slots=True, eq=False)
class Met:
    """Systems on the same trials.

    Attributes
    ----------
    systems : list of Scores or ClassScores
        All that were given, in their order.
    written : Input
        The input that is to be written again, with the trials that are left.
    messages : list of Message
        How trials met.
    lost : list of Message
        What was lost on the way.
    """

    systems: list[Any]
    written: Input
    messages: list[Message]
    lost: list[Message]


def meet(
    model: ScoreModel, kind: Kind, inputs: Sequence[Input], systems: list[Any], order: Sequence[int], reading: Reading
) -> Met:
    """Find the scores of all systems for the trials of the first one.

    Instead of refusing what lacks, a fusion that was trained for subsets of systems gets every trial that one of its
    systems scored: those of the first input in its order, then those that only the second one has, and so on.

    Parameters
    ----------
    model : ScoreModel
    kind : Kind
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
        return Met(systems, inputs[0], [], [])
    if model.accepts_missing and reading.missing == "error" and not reading.by_order:
        return _on_all(kind, inputs, systems, order, reading)
    found, report = _on_first(systems, reading)
    trials = found[0].trials
    written = inputs[0] if kind.name == "classes" else with_trials(inputs[0], trials)
    messages = [] if len(systems) == 1 and kind.name == "classes" else _in_words(kind, systems, trials, report, reading)
    return Met(found, written, messages, [])


def _on_first(systems: Sequence[Any], reading: Reading) -> tuple[list[Any], JoinReport]:
    index = Index(systems[0].trials)
    found = match(systems, index, reading.missing, reading.duplicates, by_order=reading.by_order)
    trials = found.key.trials
    return [
        replace(one, trials=trials, score=picked(one.score, rows, reading.missing))
        for one, rows in zip(systems, found.rows, strict=True)
    ], found.report


def _on_all(kind: Kind, inputs: Sequence[Input], systems: list[Any], order: Sequence[int], reading: Reading) -> Met:
    """Systems on every trial that one of them scored, with NaN where one did not."""
    held_by = [k for k, one in enumerate(inputs) for _ in one.contents.systems]
    union = TrialUnion.of([inputs[k] for k in sorted({held_by[system] for system in order})])
    aligned = align_incomplete([systems[k] for k in order], union.index, duplicates=reading.duplicates)
    trials, report = aligned[0].trials, aligned[0].report
    found = dict(zip(order, [one.scores for one in aligned], strict=True))
    every = [found.get(k, systems[k]) for k in range(len(systems))]
    if not union.has_more:
        first = [one.contents.systems[0] for one in union.inputs]
        messages = _in_words(kind, first, trials, report, reading)
        return Met(every, with_trials(union.inputs[0], trials), messages, [])
    changed, lost = union.contents_changed(trials)
    written = as_table(union.inputs[0], replace(union.inputs[0].contents, **changed))
    return Met(every, written, union.messages(report), lost)


def _in_words(kind: Kind, systems: Sequence[Any], left: Trials, report: JoinReport, reading: Reading) -> list[Message]:
    """How the trials of the first system and those of the others met."""
    noun, missing, trials = kind.noun, reading.missing, systems[0].trials
    name, messages = trials.origin.name, list[Message]()
    if reading.by_order:
        messages.append(Message("join", "", f"by order: the names of the {noun}s were not compared"))
    words = f"{report.matched:,} {noun}s of {name} have all scores · {report.missing:,} have not"
    messages.append(Message("join", "", words))
    if report.missing and not isinstance(missing, str):
        scores = "scores" if kind.filled else "a score"
        messages.append(Message("fill", "", f"{noun}s without {scores} were given {missing:g}{kind.filled}"))
    n_left_out = len(trials) - len(left)
    if n_left_out:
        words = f"{counted(n_left_out, noun)} of {name} left out, without all scores or surplus copies"
        messages.append(Message("note", "", words))
    if report.extra:  # scores of several systems: a trial may have more than one
        n_others = sum(map(len, new_rows([one.trials for one in systems])[1:]))
        messages.append(Message("note", "", f"{counted(n_others, noun)} that {name} does not have left out"))
    return messages
