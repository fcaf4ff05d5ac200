"""Trained models applied to the systems of inputs, as a whole or in batches of rows."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import starmap, zip_longest
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from deciban._arrow import pc, to_numpy
from deciban._version import __version__
from deciban.errors import (
    WARNING,
    DecibanError,
    InputError,
    KeyMismatchError,
    Message,
    as_message,
    counted,
    naming_trials,
    option,
)
from deciban.io import Contents
from deciban.io.columns.columnar import TableRules, table_of
from deciban.io.columns.values import Rows, RowTable
from deciban.io.formats import by_name
from deciban.io.partitions.files import stamp_of
from deciban.io.reader import Input
from deciban.io.units import certain, n_infinite
from deciban.models.model import Bounds, to_text, without_measure_warnings
from deciban.models.score_model import ScoreModel
from deciban.models.sources import naming_scores, transformed
from deciban.trials import Index, Key, Trials
from deciban.trials.classes import ScoreStatistics
from deciban.trials.joining.join import append_trials, new_rows
from deciban.trials.joining.matching import JoinReport, align_incomplete, match, picked
from deciban.trials.lists import ROW, Lookup
from deciban.trials.sources import stacked
from deciban.types import AnyArray, IntArray, PathLike
from deciban.workflows.kinds import AnyKind, AnyScores, Form, application_messages, kind_called, named_apart, units_of
from deciban.workflows.kinds.two_class import as_table
from deciban.workflows.model_files import order_for, ways_message
from deciban.workflows.options import Reading, renamed
from deciban.workflows.reading.quality import Measured, combination_messages, measures_of_partition, quality_messages


@dataclass(frozen=True, slots=True, eq=False)
class SharedTrials:
    """Systems on the same trials.

    Attributes
    ----------
    systems : list of Scores or ClassScores
        The systems that the model needs, in its order.
    first : Scores or ClassScores
        Scores of the input that is written again.
    written : Input
        This input with the remaining trials.
    messages : list of Message
        Messages about the join.
    lost : list of Message
        Messages about lost content.
    renamed : collection of int
        Positions of inputs whose names were changed for comparison without a message.
    """

    systems: list[Any]
    first: AnyScores
    written: Input
    messages: list[Message] = field(default_factory=list)
    lost: list[Message] = field(default_factory=list)
    renamed: Collection[int] = ()


def on_shared_trials(what: ToApply, inputs: list[Input], systems: list[Any], order: list[int]) -> SharedTrials:
    """Return the scores of all systems for the trials of the first one.

    A fusion that was trained for subsets of systems gets every trial that at least one of its systems scored: first the
    trials of the first input in their order, then the further trials of the second one, and so on.

    Parameters
    ----------
    what : ToApply
    inputs : sequence of Input
        Each with one or several systems.
    systems : list of Scores or ClassScores
        Systems of the inputs.
    order : sequence of int
        Positions of the systems that the model needs, in its order.

    Raises
    ------
    KeyMismatchError
        If trials do not match.
    """
    kind, reading = what.kind, what.reading
    if not what.model.is_fusion:
        return SharedTrials(systems, systems[0], inputs[0])
    if what.model.accepts_missing and reading.missing == "error" and not reading.by_order:
        return _on_all(kind, inputs, systems, order, reading)
    ids = None if reading.renaming is None else reading.renaming.for_scores_alone()
    find = partial(match, by_order=reading.by_order, ids=ids)
    result = find(systems, Index(systems[0].trials), reading.missing, reading.duplicates)
    trials = result.key.trials
    matched = [
        replace(one, trials=trials, score=picked(one.score, rows, reading.missing))
        for one, rows in zip(systems, result.rows, strict=True)
    ]
    messages = kind.ids_messages(reading, result.report) + _in_words(kind, systems, trials, result.report, reading)
    return SharedTrials([matched[k] for k in order], matched[0], kind.with_trials(inputs[0], trials), messages)


def on_same_rows(what: ToApply, inputs: list[Input], systems: list[Any], order: list[int]) -> SharedTrials:
    """Return the trials of systems in batches that contain the same rows of every input.

    Parameters, errors
        As in `on_shared_trials`.
    """
    first, renamed, reading = systems[0], list[int](), what.reading
    lists = [one.contents.index.trials for one in inputs if one.contents.index is not None]
    if len(inputs) > 1 and not reading.by_order:
        if reading.renaming is not None:
            items = [reading.renaming.for_scores_alone().of_scores(one) for one in lists]
            renamed = [at for at, one in enumerate(items) if one.n_changed]
            lists = [replace(one.trials, origin=old.origin) for one, old in zip(items, lists, strict=True)]
        for other in lists[1:]:
            _require_same_names(lists[0], other)
    chosen = [replace(systems[k], trials=first.trials) for k in order]
    return SharedTrials(chosen, first, inputs[0], renamed=renamed)


def _require_same_names(one: Trials, other: Trials) -> None:
    """Refuse rows of different trials.

    Raises
    ------
    KeyMismatchError
    """
    if one.sides == ROW or one.sides != other.sides:
        raise KeyMismatchError(
            f"{one.origin.name} and {other.origin.name}: the names of their trials have different sides, so they can "
            f"only be matched by order: {option(by_order=True)}."
        )
    for side in one.sides:
        same = to_numpy(pc.equal(one.column(side).cast(pa.string()), other.column(side).cast(pa.string())))
        if not same.all():
            row = int(np.argmin(same))
            raise KeyMismatchError(
                f"{one.origin.where(row)}: trial {one.name_of(row)}, but {other.origin.where(row)} has "
                f"{other.name_of(row)}. Scores that do not fit in memory are fused row by row: write the files in the "
                f"same order first, or allow more memory ({option(memory=...)})."
            )


def _on_all(kind: AnyKind, inputs: list[Input], systems: list[Any], order: list[int], reading: Reading) -> SharedTrials:
    """Return the systems on every trial that at least one of them scored, with NaN for missing scores."""
    if reading.ids is not None:
        raise InputError(
            "ids: a fusion for subsets of systems needs trials with the same names in all files. Rename them first, "
            f"or set an action for trials without all scores ({option(missing=...)})."
        )
    held_by = [one for one in inputs for _ in one.contents.systems]
    inputs = [one for one in inputs if any(held_by[k] is one for k in order)]
    lists = [_trials_of(one) for one in inputs]
    rows = new_rows(lists)
    has_more = any(map(len, rows[1:]))
    index = Index(_union(lists, rows) if has_more else lists[0])  # lists[0] can contain copies, which the join finds
    aligned = align_incomplete([systems[k] for k in order], index, duplicates=reading.duplicates)
    trials, report = aligned[0].trials, aligned[0].report
    items = [one.scores for one in aligned]
    if not has_more:
        messages = _in_words(kind, [one.contents.systems[0] for one in inputs], trials, report, reading)
        return SharedTrials(items, items[0], kind.with_trials(inputs[0], trials), messages)
    changed, lost = _of_union(inputs, rows, trials)
    return SharedTrials(items, items[0], as_table(inputs[0], changed), _union_in_words(inputs, rows, report), lost)


def _trials_of(one: Input) -> Trials:
    """Return the trials that the systems of an input scored."""
    return one.contents.systems[0].trials


def _union(lists: Sequence[Trials], rows: Sequence[IntArray]) -> Trials:
    """Return the union of several lists of trials, with the conditions of the first.

    The trials of the first list come first, then the further trials of the second one, and so on; ``rows`` are their
    rows.
    """
    names = lists[0].conditions
    parts = [trials if len(own) == len(trials) else trials.take(own) for trials, own in zip(lists, rows, strict=True)]
    filled = [part for part in parts if len(part)]
    kept = [{name: column for name, column in part.conditions.items() if name in names} for part in filled]
    return append_trials([replace(part, conditions=own) for part, own in zip(filled, kept, strict=True)])


def _of_union(inputs: Sequence[Input], rows: Sequence[IntArray], trials: Trials) -> tuple[Contents, list[Message]]:
    """Return the contents of the first input for the trials of all inputs, and messages about lost content.

    Labels are kept if every input with further trials has labels. Other data of trials are left out.
    """
    parts = [(one.contents, own) for one, own in zip(inputs, rows, strict=True) if len(own)]
    first = inputs[0].contents
    changed: dict[str, Any] = {"index": Index(trials), "key": None, "class_scores": None, "class_key": None}
    truths = [contents.key.is_target[own] for contents, own in parts if contents.key is not None]
    if len(truths) == len(parts):
        changed["key"] = Key(trials, np.concatenate(truths))
    words = {"key": "labels", "class_scores": "class scores", "class_key": "class labels"}
    lost = [
        Message("note", "", f"{words[name]} of {first.origin.name} left out: not all trials have them")
        for name, value in changed.items()
        if value is None and getattr(first, name) is not None
    ]
    return replace(first, label_words=None, **changed), lost


def _union_in_words(inputs: Sequence[Input], rows: Sequence[IntArray], report: JoinReport) -> list[Message]:
    """Return messages about the join; ``report`` counts the union of all trials."""
    n, first = sum(map(len, rows)), inputs[0].contents.origin.name
    words = [f"{counted(n, 'trial')} · {report.matched:,} with scores of all systems · {report.missing:,} without"]
    for k, (one, own) in enumerate(zip(inputs, rows, strict=True)):
        if k and len(own):
            new = f"that {first} does not have" if k == 1 else "that no earlier file has"
            words.append(f"{counted(len(own), 'trial')} of {one.contents.origin.name} {new}, after the others")
    words += [
        f"{one.contents.origin.name} shares no trial with the others. Does it use the same names?"
        for one in (() if report.matched else inputs)
        if not any(_share_trials(_trials_of(one), _trials_of(other)) for other in inputs if other is not one)
    ]
    if report.duplicate:
        words.append(f"surplus copies of trials left out: {report.duplicate:,}")
    return [Message("note" if k else "join", "", line) for k, line in enumerate(words)]


def _share_trials(one: Trials, other: Trials) -> bool:
    """Return True if two lists have a common trial."""
    rows = Lookup(one).find(other).rows
    return rows is None or bool(np.any(rows >= 0))


def _in_words(
    kind: AnyKind, systems: Sequence[Any], left: Trials, report: JoinReport, reading: Reading
) -> list[Message]:
    """Return messages about the join of the trials of the first system and the others."""
    noun, trials = kind.noun, systems[0].trials
    name, messages = trials.origin.name, kind.by_order_messages(reading)
    words = f"{report.matched:,} {noun}s of {name} with scores of all systems · {report.missing:,} without"
    messages.append(Message("join", "", words))
    messages += kind.fill_messages(reading, report.missing)
    n_left_out = len(trials) - len(left)
    if n_left_out:
        why = "another system has no score for them" + (", or they are surplus copies" if report.duplicate else "")
        words = f"{counted(n_left_out, noun)} of {name} left out: {why}"
        messages.append(Message(WARNING, "", words))
    if report.extra:  # counts scores of several systems, so a trial can be counted several times
        n_others = sum(map(len, new_rows([one.trials for one in systems])[1:]))
        messages.append(Message(WARNING, "", f"{counted(n_others, noun)} left out, because {name} does not have them"))
    return messages


@dataclass(frozen=True, eq=False)
class ToApply:
    """A model, the inputs it needs, and options of the output.

    Attributes
    ----------
    model : ScoreModel
    reading : Reading
    measured : mapping, optional
        Quality measures.
    files : sequence of paths
        Files of quality measures and of name maps.
    level : float, optional
        Level of the intervals to write.
    write_as : str
    """

    model: ScoreModel
    reading: Reading
    measured: Measured | None = None
    files: Sequence[PathLike] = ()
    level: float | None = None
    write_as: str = "loglik"

    @property
    def kind(self) -> AnyKind:
        """The kind of the scores."""
        return kind_called(self.model.scores_kind)

    @property
    def interval_messages(self) -> list[Message]:
        """A message about the intervals of llrs, if they are written."""
        if self.level is None:
            return []
        lines = self.model.uncertainty_lines() or ["from each part of the model"]
        words = "; ".join([*lines, *(["intervals cover both"] if len(lines) > 1 else [])])
        return [Message("note", "", f"intervals of llrs: {100.0 * self.level:g} %; {words}")]

    @property
    def question(self) -> str:
        """Fingerprint of the model and all options, to recognize output of an earlier run."""
        ids = "" if self.reading.renaming is None else self.reading.renaming.words
        reading = repr(replace(self.reading, ids=None))
        items = [__version__, to_text(self.model), reading, ids, self.level, self.write_as]
        return digest([*items, *(stamped(path) for path in self.files)])


@dataclass
class Tally:
    """Data for the messages about all batches of some inputs.

    Attributes
    ----------
    n_trials : int
    trials : Trials or None
        Trials of the first batch.
    names : list of str
        File of each system.
    notes : dict of Message
        Notes on files and on the order of their systems, each once.
    units : dict of Message
        Messages about units of scores.
    n_certain : list of int
        Number of trials with an infinite logarithm of a probability, for each system.
    renamed : set of int
        Positions of inputs whose names were changed for comparison.
    ways : Counter
        Number of trials by the systems in their fusion.
    systems : tuple of str
        Names of the systems that the model needs.
    sides : set of str
        Arguments for quality measures.
    n_lacking : int
        Number of trials without quality measures.
    last : dict of Message
        Messages about data that were left out.
    looks : list of ScoreStatistics
        Statistics of the scores of each system.
    """

    n_trials: int = 0
    trials: Trials | None = None
    names: list[str] = field(default_factory=list)
    notes: dict[Message, None] = field(default_factory=dict)
    units: dict[Message, None] = field(default_factory=dict)
    n_certain: list[int] = field(default_factory=list)
    renamed: set[int] = field(default_factory=set)
    ways: Counter[tuple[int, ...]] = field(default_factory=Counter)
    systems: tuple[str, ...] = ()
    sides: set[str] = field(default_factory=set)
    n_lacking: int = 0
    last: dict[Message, None] = field(default_factory=dict)
    looks: list[ScoreStatistics] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Add the tally of another batch."""
        self.n_trials += other.n_trials
        self.trials = self.trials or other.trials
        self.names, self.systems = self.names or other.names, self.systems or other.systems
        self.notes |= other.notes
        self.units |= other.units
        self.n_certain = list(starmap(add, zip_longest(self.n_certain, other.n_certain, fillvalue=0)))
        self.renamed |= other.renamed
        self.ways.update(other.ways)
        self.sides |= other.sides
        self.n_lacking += other.n_lacking
        self.last |= other.last
        self.looks = list(starmap(add, zip_longest(self.looks, other.looks, fillvalue=ScoreStatistics())))


@dataclass(frozen=True, eq=False)
class Applied:
    """Result of a model for a batch of trials.

    Attributes
    ----------
    shared : SharedTrials
        The trials of the systems.
    scores : Scores or ClassScores
        The result, in nats.
    bounds : pair of arrays, or None
    tally : Tally
    systems : list of Scores or ClassScores
        Systems of the inputs, as logarithms.
    """

    shared: SharedTrials
    scores: AnyScores
    bounds: Bounds | None
    tally: Tally
    systems: list[Any]


def applied(what: ToApply, inputs: list[Input], names: Sequence[str], meet: Callable[..., SharedTrials]) -> Applied:
    """Apply a model to the systems of some inputs, as a whole or in a batch of rows.

    Parameters
    ----------
    what : ToApply
    inputs : list of Input
    names : sequence of str
        Names of the inputs in messages.
    meet : function
        Finds the common trials of the systems: `on_shared_trials` or `on_same_rows`.

    Raises
    ------
    FormatError, InputError, KeyMismatchError
    """
    model, kind, reading, tally = what.model, what.kind, what.reading, Tally()
    systems, order, messages = _given_systems(what, inputs)
    shared = meet(what, inputs, systems, order)
    trials = shared.systems[0].trials
    quality, columns = _quality(what, trials, tally), list[Any]()
    own = [as_message(note, name) for name, one in zip(names, inputs, strict=True) for note in one.contents.notes]
    tally.notes = dict.fromkeys([*own, *messages])
    kind.require_model(model, reading, kind.classes_of(shared.systems[0]), units_of(shared.systems))
    for system in shared.systems:
        one, name = kind.in_nats(system, reading), system.trials.origin.name
        classes, notes = kind.class_order(model, kind.classes_of(one), name)
        columns.append(one if classes == kind.classes_of(one) else one.of_classes(classes))
        tally.notes |= dict.fromkeys(notes)
    scores, bounds = stacked([one.score for one in columns]), None
    tally.systems = tuple(one.name for one in columns)
    if model.of_subsets:
        with naming_trials(trials.name_of):
            tally.ways.update(dict(model.subsets_of(scores)))  # type: ignore[attr-defined]
    with naming_scores(scores, tally.systems, trials), without_measure_warnings():
        values = transformed(model, scores, quality)
        if what.level is not None:
            measures = quality if model.takes_quality else {}
            bounds = model.interval(model.inputs(scores), level=what.level, **measures)
    classes, trained_classes = kind.classes_of(shared.first), kind.classes_of(columns[0])
    if classes != trained_classes and set(classes) == set(trained_classes):
        values = values[:, [trained_classes.index(name) for name in classes]]
    result = kind.with_values(shared.first, values, "fusion" if model.is_fusion else shared.first.name)
    tally.n_trials, tally.trials = len(trials), trials if len(trials) else None
    inside = [kind.systems_of(one.contents, reading) for one in inputs]
    tally.names = [name for name, own in zip(names, inside, strict=True) for _ in own]
    tally.units = dict.fromkeys(one for one in kind.unit_messages(systems, reading) if not one.origin)
    if reading.probabilities is not None:
        tally.n_certain = [n_infinite(one.score) for one in systems]
    tally.renamed, tally.last = set(shared.renamed), dict.fromkeys(shared.lost)
    tally.looks = [ScoreStatistics.of(one) for one in systems]
    return Applied(shared, result, bounds, tally, systems)


def _given_systems(what: ToApply, inputs: Sequence[Input]) -> tuple[list[Any], list[int], list[Message]]:
    """Return the systems of inputs as logarithms, the positions that the model needs, and notes.

    Raises
    ------
    FormatError, InputError
        If the systems do not match the model, or their units are unknown.
    """
    model, kind, reading = what.model, what.kind, what.reading
    values = [system for one in inputs for system in kind.systems_of(one.contents, reading)]
    systems, renaming = renamed(named_apart(values), reading.names)
    systems = kind.as_logarithms(systems, reading)
    if not model.is_fusion and len(systems) > 1:
        _ = inputs[0].contents.scores  # raises an error with a hint
    if not model.is_fusion:
        return systems, list(range(len(systems))), []
    return systems, *order_for(model, [system.name for system in systems], renaming)


def _quality(what: ToApply, trials: Trials, tally: Tally) -> dict[str, AnyArray]:
    """Return the quality measures of trials, with NaN for unknown names, and count trials without measures."""
    if what.measured is None:
        return {}
    sides = what.model.quality_arguments or None
    entries: dict[str, Any]
    entries, lacking = measures_of_partition(what.measured, trials, sides=sides)
    unknown = [name for name in sides or () if name not in entries]  # in this batch
    tally.n_lacking, tally.sides = len(trials) if unknown else int(np.count_nonzero(lacking)), set(entries)
    for name in unknown:
        side: Any = name.removesuffix("_quality")
        if side not in what.measured or side not in trials.sides:  # unknown in every batch
            quality_messages(what.measured, trials, sides, entries, tally.n_lacking, len(trials))
        entries[name] = np.full((len(trials), len(what.measured[side].measures)), np.nan)
    return entries


def applied_to_rows(
    what: ToApply, readers: Sequence[Sequence[TableRules]], job: tuple[int, Sequence[Sequence[Rows]]]
) -> tuple[pa.Table, Tally]:
    """Return the output table of a batch, and its tally.

    Parameters
    ----------
    what : ToApply
    readers : sequence of sequence of TableRules
        Readers of every group of inputs with the same rows.
    job : pair
        Index of the group, and the rows of each of its inputs.
    """
    group, ranges = job
    name = ranges[0][0].name
    held = [one.contents(own, own[0].name) for one, own in zip(readers[group], ranges, strict=True)]
    with naming(name):
        inputs = [Input(one, by_name("parquet")) for one in held]
        done = applied(what, inputs, [one.table.name for one in readers[group]], on_same_rows)
        form = Form(what.write_as, done.bounds)
        contents, more = what.kind.rescored(done.shared.written.contents, done.scores, form)
        done.tally.last |= dict.fromkeys(more)
        return table_of(contents), done.tally


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Add the name of a partition to errors."""
    try:
        yield
    except DecibanError as error:
        message = str(error)
        raise type(error)(message if name in message else f"{name}: {message}") from error


def said(what: ToApply, tally: Tally, read: Sequence[Message], met: Sequence[Message]) -> Iterator[Message]:
    """Yield the messages about some inputs.

    Parameters
    ----------
    what : ToApply
    tally : Tally
        Tally of all batches.
    read : sequence of Message
        Messages about files.
    met : sequence of Message
        Messages about the join.

    Raises
    ------
    InputError
        If no trial has quality measures.
    """
    yield from read
    yield from tally.notes
    yield from met
    yield from tally.units
    for name, n in zip(tally.names, tally.n_certain, strict=False):
        yield from certain(n, what.kind.noun, name)
    if what.measured is not None and tally.trials is not None:
        sides = what.model.quality_arguments or None
        yield from quality_messages(what.measured, tally.trials, sides, tally.sides, tally.n_lacking, tally.n_trials)
    for subset, n in tally.ways.items():
        yield ways_message(n, subset, tally.systems)
    yield from tally.last
    yield from application_messages(tally.names, tally.looks)
    yield from combination_messages(what.model, what.measured)


def rows_met(what: ToApply, tally: Tally, tables: Sequence[RowTable]) -> list[Message]:
    """Return the messages about inputs that are matched row by row."""
    if len(tables) < 2:
        return []
    result = what.kind.by_order_messages(what.reading)
    renaming = what.reading.renaming
    if renaming is not None and not what.reading.by_order:  # batches share names, so names cannot be counted
        files = " and ".join(one.name for at, one in enumerate(tables) if at in tally.renamed)
        words = f"{renaming.words} changed {f'names of {files}' if files else 'no name'}"
        result.append(Message("ids", "", words))
    names = "" if what.reading.by_order else ", with the same names"
    words = f"{counted(tables[0].n_rows, what.kind.noun)} matched row by row{names}"
    return [*result, Message("join", "", words)]


def stamped(path: PathLike) -> str:
    """Return a fingerprint of a file; for standard input, a new one at every call."""
    return secrets.token_hex(8) if str(path) == "-" else f"{Path(path).resolve()} {stamp_of(path)}"


def digest(parts: Sequence[object]) -> str:
    """Return a fingerprint of some values."""
    return hashlib.sha256(json.dumps([str(one) for one in parts]).encode()).hexdigest()
