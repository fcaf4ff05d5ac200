"""Score files and a key read and joined: what evaluation and training begin with."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, TypedDict

import numpy as np

from deciban._arrow import compute as pc
from deciban.errors import InputError, KeyMismatchError
from deciban.evaluation.results import Evaluation
from deciban.io import Contents, read_contents
from deciban.io.columns.headers import Columns
from deciban.io.source import PathLike, display_name
from deciban.trials import Key, Scores, align_systems
from deciban.trials.joining.join import Aligned, Duplicates, JoinReport, Missing, align_incomplete, refuse_conflicts
from deciban.types import BoolArray, CountArray, Progress
from deciban.workflows.key_columns import in_words, key_weights
from deciban.workflows.ties import ties_in_words

Where: TypeAlias = Mapping[str, str | Sequence[str]]


class Reading(TypedDict, total=False):
    """The keyword arguments of `read_joined`, for functions that pass them on."""

    missing: Missing
    duplicates: Duplicates
    format: str | None
    columns: Columns | None
    key_format: str | None
    key_columns: Columns | None
    labels: Mapping[str, str] | None
    where: Where | None
    log10: bool
    by_order: bool
    weights: str | None
    weights_required: bool


@dataclass(frozen=True, slots=True, eq=False)
class Joined:
    """The scores of several systems on the trials of one key.

    Attributes
    ----------
    aligned : tuple of Aligned
        One for each system, on the same trials, with one report.
    read : tuple of Scores
        The systems as they were read.
    contents : tuple of Contents
        What the score files held.
    told : Contents
        The input that holds the truth.
    key : Key
        Its trials, those that were asked for.
    facts : tuple of str
        What was read and assumed, without how trials met.
    choices : tuple of str
        What of the join was not the default.
    weight : (n_trials,) array, optional
        How much each trial counts; None if all count alike.
    """

    aligned: tuple[Aligned, ...]
    read: tuple[Scores, ...]
    contents: tuple[Contents, ...]
    told: Contents
    key: Key
    facts: tuple[str, ...]
    choices: tuple[str, ...]
    weight: CountArray | None = None

    @property
    def is_target(self) -> BoolArray:
        """The truth of the trials that are left."""
        truth = self.aligned[0].is_target
        assert truth is not None  # noqa: S101  # they were aligned to a key
        return truth

    @property
    def report(self) -> JoinReport:
        """How trials met."""
        return self.aligned[0].report

    def all_facts(self, evaluations: Iterable[Evaluation]) -> tuple[str, ...]:
        """What was read and assumed, and how trials met, ties included."""
        return self.facts_with({evaluation.name: evaluation.n_tied for evaluation in evaluations})

    def facts_with(self, ties: Mapping[str, int | float]) -> tuple[str, ...]:
        """The same with the number of scores of each system that are tied across classes."""
        report = self.report
        met = (
            f"join  {report.matched:,} matched · {report.missing:,} missing · {report.extra:,} extra · "
            f"{report.duplicate:,} duplicate · {ties_in_words(ties)}"
        )
        return (*self.facts, met, *self.choices)


def read_joined(
    scores: Sequence[PathLike] | PathLike,
    key: PathLike | None = None,
    *,
    missing: Missing = "error",
    duplicates: Duplicates = "error",
    format: str | None = None,  # noqa: A002  # the word users know
    columns: Columns | None = None,
    key_format: str | None = None,
    key_columns: Columns | None = None,
    labels: Mapping[str, str] | None = None,
    where: Where | None = None,
    log10: bool = False,
    by_order: bool = False,
    weights: str | None = None,
    weights_required: bool = True,
    incomplete: bool = False,
    progress: Progress | None = None,
) -> Joined:
    """Read score files and a key, and find the score of every trial of the key.

    Parameters
    ----------
    scores : sequence of paths, or one path
        Score files; see `deciban.read_scores` for what they may look like.
    key : path, optional
        Which trials are targets. Left out, the first score file must hold labels itself.
    missing : {"error", "drop"} or float
        As in `deciban.align`. A trial dropped for one system is dropped for all.
    duplicates : {"error", "keep-one"}
        As in `deciban.align`.
    format, columns
        As in `deciban.read_scores`, for the score files.
    key_format, key_columns
        The same for the key.
    labels : mapping, optional
        As in `deciban.read_scores`, for key and score files.
    where : mapping of str to str or sequence of str, optional
        Values of condition columns of the key: only such trials are used.
    log10 : bool
        Whether the scores are common logarithms of likelihood ratios.
    by_order : bool
        As in `deciban.align`.
    weights : str, optional
        Column of the key that says how much each trial counts, by a number of at least 0: a trial of weight 2 counts
        like two copies of it.
    weights_required : bool
        Whether a key without this column is refused. If not, all its trials count alike, and a fact says so.
    incomplete : bool
        Whether all trials of the key stay, with NaN where a system has no score; ``missing`` has no meaning then.
    progress : function, optional
        Called with a few words at every step.

    Returns
    -------
    Joined

    Raises
    ------
    FormatError, KeyMismatchError, InputError
        As in `deciban.read_scores` and `deciban.align`; or if the column of weights lacks values, or holds what is no
        weight.
    """
    say = progress or (lambda _words: None)
    paths = [scores] if isinstance(scores, str | os.PathLike) else list(scores)
    if not paths:
        raise InputError("scores: no file given. At least one is needed.")
    if [*map(str, paths), str(key)].count("-") > 1:
        raise InputError("scores: standard input (-) can be read only once.")
    contents = []
    for path in paths:
        say(f"reading {display_name(path)}")
        contents.append(read_contents(path, need="scores", format=format, columns=columns, labels=labels, log10=log10))
    systems = named_apart([system for one in contents for system in one.systems])
    told = contents[0]
    if key is not None:
        say(f"reading {display_name(key)}")
        told = read_contents(key, need="key", format=key_format, columns=key_columns, labels=labels)
    truth = _key(told).keep(where=where) if where else _key(told)
    say("joining trials")
    if incomplete:
        aligned = align_incomplete(systems, truth, duplicates=duplicates, by_order=by_order)
    else:
        aligned = align_systems(systems, truth, missing, duplicates=duplicates, by_order=by_order)
    for one in contents:
        if one.key is not None and one is not told:
            _refuse_contradiction(one.key, truth, by_order=by_order)
    weight, weighing = _weights(aligned[0], truth, weights, required=weights_required)
    facts = [*_read_facts(systems, contents, told, truth), *_subset_facts(truth, where), *weighing]
    choices = _choices(aligned[0].report, missing=missing, by_order=by_order)
    return Joined(tuple(aligned), tuple(systems), tuple(contents), told, truth, tuple(facts), tuple(choices), weight)


def fact(kind: str, *words: str) -> str:
    """One line about what was read and assumed."""
    return f"{kind:<4}  " + "   ".join(words)


def read_fact(scores: Scores) -> str:
    """Say how the scores of a system were read."""
    reading = scores.trials.origin.reading
    unit = ", log10" if scores.log10 and "log10" not in reading else ""
    return fact("read", scores.trials.origin.name, reading + unit, f"{len(scores.trials):,} trials")


def _read_facts(systems: Sequence[Scores], contents: Sequence[Contents], told: Contents, truth: Key) -> list[str]:
    facts = [read_fact(system) for system in systems]
    facts.append(fact("key", told.origin.name, told.origin.reading, replace(told, key=truth).label_counts))
    return facts + [
        fact("note", one.origin.name, note) for one in dict.fromkeys([*contents, told]) for note in one.notes
    ]


def _subset_facts(key: Key, where: Where | None) -> list[str]:
    """Say which trials were chosen, or that a key holds several subsets that are meant to be used one at a time."""
    if where:
        chosen = " and ".join(f"{name} = {v if isinstance(v, str) else ' or '.join(v)}" for name, v in where.items())
    said = [fact("only", f"trials with {chosen}")] if where else []
    if "subset" not in key.trials.conditions or (where and "subset" in where):
        return said
    subsets = pc.unique(key.trials.conditions["subset"]).to_pylist()
    words = f"holds the subsets {', '.join(map(str, subsets))} together; --where subset={subsets[0]} chooses one"
    return [fact("note", key.trials.origin.name, words), *said] if len(subsets) > 1 else said


def _weights(aligned: Aligned, key: Key, column: str | None, *, required: bool) -> tuple[CountArray | None, list[str]]:
    """How much trials count, and what is to be said about it."""
    if column is None:
        return None, []
    name = key.trials.origin.name
    if not required and column not in aligned.trials.conditions:
        return None, [fact("note", name, f"has no column {column!r} of weights: all its trials count alike")]
    weight = key_weights(aligned, key, column)
    return weight, [fact("weights", name, f"column {column!r}", in_words(weight))]


def _choices(report: JoinReport, *, missing: Missing, by_order: bool) -> list[str]:
    choices = [fact("join", "by order: the names of the trials were not compared")] if by_order else []
    if not isinstance(missing, str) and report.missing:
        choices.append(fact("fill", f"trials without a score were given {missing:g}"))
    return choices


def _refuse_contradiction(told: Key, truth: Key, *, by_order: bool) -> None:
    """Refuse labels beside scores that are not those of the key."""
    if not by_order:
        refuse_conflicts(told, truth)
        return
    # Of another length it was refused by the join already.
    rows = np.flatnonzero(told.is_target != truth.is_target) if len(told) == len(truth) else np.empty(0, np.int64)
    if len(rows):
        row = int(rows[0])
        raise KeyMismatchError(
            f"{told.trials.origin.where(row)}: has another label than {truth.trials.origin.where(row)} ({len(rows):,} "
            "such trials). The files are not in the same order, or one of them is wrong."
        )


def _key(contents: Contents) -> Key:
    if contents.key is None:
        raise InputError(
            f"key: none given, and {contents.origin.name} holds no labels. Pass the file that does (--key FILE)."
        )
    return contents.key


def named_apart(systems: Sequence[Scores]) -> list[Scores]:
    """Give systems of one name the path of their file, and systems of one file a number."""
    names = [system.name for system in systems]
    if len(set(names)) < len(names):
        names = [s.trials.origin.name if names.count(s.name) > 1 else s.name for s in systems]
    seen = [names[:i].count(name) + 1 for i, name in enumerate(names)]
    numbered = [name if n == 1 else f"{name} #{n}" for name, n in zip(names, seen, strict=True)]
    return [replace(system, name=name) for system, name in zip(systems, numbered, strict=True)]
