"""Union of the trials of several inputs, for fusions that allow missing systems."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deciban.io.reader import Input
from deciban.messages import Message, counted
from deciban.trials import Index, Key, Trials
from deciban.trials.joining.append import append_trials
from deciban.trials.joining.join import JoinReport
from deciban.trials.joining.lookup import Wanted
from deciban.trials.joining.union import new_rows
from deciban.types import IntArray


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
