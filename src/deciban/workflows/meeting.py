"""How the trials of the systems of a fusion meet where there is no key: on those of the first, or on those of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from deciban.io.reader import Input
from deciban.messages import Message, counted
from deciban.models.score_model import ScoreModel
from deciban.trials import Index, Trials
from deciban.trials.joining.join import align_incomplete
from deciban.trials.joining.matching import JoinReport, match, match_by_order, picked
from deciban.trials.joining.union import new_rows
from deciban.workflows.apply_targets import as_table, with_trials
from deciban.workflows.kinds import Kind
from deciban.workflows.options import Reading
from deciban.workflows.trial_union import TrialUnion


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
    find = match_by_order if reading.by_order else match
    found = find(systems, Index(systems[0].trials), reading.missing, reading.duplicates)
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
