"""From score files and a key to results: read, join, evaluate."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from deciban.errors import InputError
from deciban.evaluation.result import Evaluation, Results
from deciban.evaluation.single import DEFAULT_POINTS, PointLike, evaluate
from deciban.io import Reading, read_table
from deciban.io.layout import Columns
from deciban.io.source import PathLike, display_name
from deciban.trials import Key, Scores, align_systems
from deciban.trials.join import Duplicates, Missing, refuse_conflicts


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
    readings = []
    for path in scores:
        say(f"reading {display_name(path)}")
        readings.append(read_table(path, format=format, columns=columns, labels=labels))
    systems = _named_apart([reading.scores for reading in readings if reading.scores is not None])
    facts = [_fact("read", s.trials.origin.name, s.trials.origin.reading, f"{len(s.trials):,} trials") for s in systems]
    if key is not None:
        say(f"reading {display_name(key)}")
        told = read_table(key, need="label", format=key_format, columns=key_columns, labels=labels)
    else:
        told = readings[0]
    truth = _key(told)
    facts.append(_fact("key", truth.trials.origin.name, truth.trials.origin.reading, told.label_counts))
    say("joining trials")
    aligned = align_systems(systems, truth, missing, duplicates=duplicates)
    for reading in readings:
        if reading.key is not None and reading.key is not truth:
            refuse_conflicts(reading.key, truth)
    report, points = aligned[0].report, list(operating_points)
    evaluations = []
    for system in aligned:
        say(f"evaluating {system.name}")
        evaluations.append(evaluate(system.tar, system.non, name=system.name, operating_points=points))
    facts.append(
        f"join  {report.matched:,} matched · {report.missing:,} missing · {report.extra:,} extra · "
        f"{report.duplicate:,} duplicate · {_ties(evaluations)}"
    )
    if not isinstance(missing, str) and report.missing:
        facts.append(f"fill  trials without a score were given {missing:g}")
    return Results(tuple(evaluations), report, tuple(facts))


def _fact(kind: str, *words: str) -> str:
    return f"{kind:<4}  " + "   ".join(words)


def _ties(evaluations: Sequence[Evaluation]) -> str:
    if not any(evaluation.n_tied for evaluation in evaluations):
        return "no score tied across classes"
    return "tied across classes: " + ", ".join(f"{e.n_tied:,} ({e.name})" for e in evaluations)


def _key(reading: Reading) -> Key:
    if reading.key is None:
        scores = reading.scores
        name = "the file" if scores is None else scores.trials.origin.name
        raise InputError(f"key: none given, and {name} holds no labels. Pass the file that does (--key FILE).")
    return reading.key


def _named_apart(systems: Sequence[Scores]) -> list[Scores]:
    """Give systems of one name the path of their file, and systems of one file a number."""
    names = [system.name for system in systems]
    if len(set(names)) < len(names):
        names = [s.trials.origin.name if names.count(s.name) > 1 else s.name for s in systems]
    seen = [names[:i].count(name) + 1 for i, name in enumerate(names)]
    numbered = [name if n == 1 else f"{name} #{n}" for name, n in zip(names, seen, strict=True)]
    return [replace(system, name=name) for system, name in zip(systems, numbered, strict=True)]
