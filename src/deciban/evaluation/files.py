"""From score files and a key to results: read, join, evaluate."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow.compute as pc

from deciban.errors import InputError, KeyMismatchError
from deciban.evaluation.result import Evaluation, Results
from deciban.evaluation.single import DEFAULT_POINTS, PointLike, evaluate
from deciban.io import Contents, read_contents
from deciban.io.columns.headers import Columns
from deciban.io.source import PathLike, display_name
from deciban.trials import Key, Scores, align_systems
from deciban.trials.join import Duplicates, JoinReport, Missing, refuse_conflicts


def evaluate_files(
    scores: Sequence[PathLike] | PathLike,
    key: PathLike | None = None,
    *,
    operating_points: Iterable[PointLike] = DEFAULT_POINTS,
    missing: Missing = "error",
    duplicates: Duplicates = "error",
    format: str | None = None,  # noqa: A002  # the word users know
    columns: Columns | None = None,
    key_format: str | None = None,
    key_columns: Columns | None = None,
    labels: Mapping[str, str] | None = None,
    where: Mapping[str, str | Sequence[str]] | None = None,
    log10: bool = False,
    by_order: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Results:
    """Evaluate score files, one per system, on the trials of one key.

    Parameters
    ----------
    scores : sequence of paths, or one path
        Score files; see `deciban.read_scores` for what they may look like.
    key : path, optional
        Which trials are targets. Left out, every score file must hold labels itself.
    operating_points : iterable
        As in `deciban.evaluate`.
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
        Values of condition columns of the key: only such trials are evaluated.
    log10 : bool
        Whether the scores are common logarithms of likelihood ratios.
    by_order : bool
        As in `deciban.align`.
    progress : function, optional
        Called with a few words at every step.

    Returns
    -------
    Results
        The evaluations, how the trials met, and in ``facts`` what was read and assumed.

    Raises
    ------
    FormatError, KeyMismatchError, InputError
        As in `deciban.read_scores` and `deciban.align`.
    """
    say = progress or (lambda _words: None)
    if isinstance(scores, str | os.PathLike):
        scores = [scores]
    if not scores:
        raise InputError("scores: no file given. Evaluation needs at least one.")
    if [*map(str, scores), str(key)].count("-") > 1:
        raise InputError("scores: standard input (-) can be read only once.")
    readings = []
    for path in scores:
        say(f"reading {display_name(path)}")
        readings.append(read_contents(path, need="scores", format=format, columns=columns, labels=labels, log10=log10))
    systems = _named_apart([system for reading in readings for system in reading.systems])
    told = readings[0]
    if key is not None:
        say(f"reading {display_name(key)}")
        told = read_contents(key, need="key", format=key_format, columns=key_columns, labels=labels)
    truth = _key(told).keep(where=where) if where else _key(told)
    say("joining trials")
    aligned = align_systems(systems, truth, missing, duplicates=duplicates, by_order=by_order)
    for reading in readings:
        if reading.key is not None and reading is not told:
            _refuse_contradiction(reading.key, truth, by_order=by_order)
    points, evaluations = list(operating_points), []
    for system in aligned:
        say(f"evaluating {system.name}")
        evaluations.append(evaluate(system.tar, system.non, name=system.name, operating_points=points))
    report = aligned[0].report
    facts = [_fact("read", s.trials.origin.name, _reading(s), f"{len(s.trials):,} trials") for s in systems]
    facts += [_fact("key", told.origin.name, told.origin.reading, replace(told, key=truth).label_counts)]
    facts += [
        _fact("note", reading.origin.name, note)
        for reading in dict.fromkeys([*readings, told])
        for note in reading.notes
    ]
    facts += _subset_notes(truth, where)
    facts += _join_facts(report, evaluations, missing=missing, by_order=by_order, where=where)
    return Results(tuple(evaluations), report, tuple(facts))


def _subset_notes(key: Key, where: Mapping[str, str | Sequence[str]] | None) -> list[str]:
    """Say so if a key holds several subsets that are meant to be evaluated one at a time."""
    if "subset" not in key.trials.conditions or (where and "subset" in where):
        return []
    subsets = pc.unique(key.trials.conditions["subset"]).to_pylist()
    words = f"holds the subsets {', '.join(map(str, subsets))} together; --where subset={subsets[0]} chooses one"
    return [_fact("note", key.trials.origin.name, words)] if len(subsets) > 1 else []


def _join_facts(
    report: JoinReport,
    evaluations: Sequence[Evaluation],
    *,
    missing: Missing,
    by_order: bool,
    where: Mapping[str, str | Sequence[str]] | None,
) -> list[str]:
    """Say how trials met, and every choice that was not the default."""
    facts = []
    if where:
        chosen = " and ".join(f"{name} = {v if isinstance(v, str) else ' or '.join(v)}" for name, v in where.items())
        facts.append(f"only  trials with {chosen}")
    facts.append(
        f"join  {report.matched:,} matched · {report.missing:,} missing · {report.extra:,} extra · "
        f"{report.duplicate:,} duplicate · {_ties(evaluations)}"
    )
    if by_order:
        facts.append("join  by order: the names of the trials were not compared")
    if not isinstance(missing, str) and report.missing:
        facts.append(f"fill  trials without a score were given {missing:g}")
    return facts


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


def _reading(scores: Scores) -> str:
    reading = scores.trials.origin.reading
    return f"{reading}, log10" if scores.log10 and "log10" not in reading else reading


def _fact(kind: str, *words: str) -> str:
    return f"{kind:<4}  " + "   ".join(words)


def _ties(evaluations: Sequence[Evaluation]) -> str:
    if not any(evaluation.n_tied for evaluation in evaluations):
        return "no score tied across classes"
    return "tied across classes: " + ", ".join(f"{e.n_tied:,} ({e.name})" for e in evaluations)


def _key(reading: Contents) -> Key:
    if reading.key is None:
        raise InputError(
            f"key: none given, and {reading.origin.name} holds no labels. Pass the file that does (--key FILE)."
        )
    return reading.key


def _named_apart(systems: Sequence[Scores]) -> list[Scores]:
    """Give systems of one name the path of their file, and systems of one file a number."""
    names = [system.name for system in systems]
    if len(set(names)) < len(names):
        names = [s.trials.origin.name if names.count(s.name) > 1 else s.name for s in systems]
    seen = [names[:i].count(name) + 1 for i, name in enumerate(names)]
    numbered = [name if n == 1 else f"{name} #{n}" for name, n in zip(names, seen, strict=True)]
    return [replace(system, name=name) for system, name in zip(systems, numbered, strict=True)]
