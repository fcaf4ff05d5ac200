"""Class-score files and a class key read and joined: what evaluation and training of many classes begin with."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

import numpy as np

from deciban._validate.classes import Prior, prior_of
from deciban.errors import InputError, KeyMismatchError
from deciban.io import Contents, read_contents
from deciban.io.columns.headers import Columns
from deciban.io.source import PathLike, display_name
from deciban.trials import AlignedClasses, ClassKey, ClassScores, JoinReport
from deciban.trials.classes import align_class_systems
from deciban.trials.joining.join import Duplicates, Missing
from deciban.types import CountArray, FloatArray, IntArray, Progress
from deciban.workflows.joined import Where, fact
from deciban.workflows.key_columns import class_key_weights, in_words

_LOG_10 = math.log(10.0)


class ClassReading(TypedDict, total=False):
    """The keyword arguments of `read_joined_classes`, for functions that pass them on."""

    classes: Sequence[str] | None
    posterior_prior: Prior | None
    missing: Missing
    duplicates: Duplicates
    format: str | None
    columns: Columns | None
    key_format: str | None
    key_columns: Columns | None
    where: Where | None
    log10: bool
    by_order: bool
    weights: str | None
    weights_required: bool


@dataclass(frozen=True, slots=True, eq=False)
class JoinedClasses:
    """The log-likelihoods of several systems on the segments of one class key.

    Attributes
    ----------
    aligned : tuple of AlignedClasses
        One for each system, on the same segments and classes, with one report; log-likelihoods in nats.
    contents : tuple of Contents
        What the score files held.
    facts : tuple of str
        What was read and assumed.
    weight : (n_segments,) array, optional
        How much each segment counts; None if all count alike.
    """

    aligned: tuple[AlignedClasses, ...]
    contents: tuple[Contents, ...]
    facts: tuple[str, ...]
    weight: CountArray | None = None

    @property
    def label(self) -> IntArray:
        """The true classes of the segments that are left, as positions in ``classes``."""
        return self.aligned[0].label

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes."""
        return self.aligned[0].classes

    @property
    def report(self) -> JoinReport:
        """How segments met."""
        return self.aligned[0].report


def read_joined_classes(
    scores: Sequence[PathLike] | PathLike,
    key: PathLike | None = None,
    *,
    classes: Sequence[str] | None = None,
    posterior_prior: Prior | None = None,
    missing: Missing = "error",
    duplicates: Duplicates = "error",
    format: str | None = None,  # noqa: A002  # the word users know
    columns: Columns | None = None,
    key_format: str | None = None,
    key_columns: Columns | None = None,
    where: Where | None = None,
    log10: bool = False,
    by_order: bool = False,
    weights: str | None = None,
    weights_required: bool = True,
    progress: Progress | None = None,
) -> JoinedClasses:
    """Read class-score files and a class key, and find the scores of every segment of the key.

    Parameters
    ----------
    scores : sequence of paths, or one path
        One file for each system; see `deciban.io.read_class_scores` for what they may look like.
    key : path, optional
        Which class each segment is of. Left out, the first score file must say so itself.
    classes : sequence of str, optional
        Names of the classes. Where a file only numbers its classes (the columns of a matrix, labels 0, 1, ...) these
        are their names, in this order; where it names them, these are taken, in this order.
    posterior_prior : sequence of float, or mapping of class to float, optional
        If the scores are log posteriors: the prior that is in them. Its logarithm is subtracted. Left out, the scores
        are taken as log-likelihoods, or as log posteriors by a flat prior, which is the same.
    missing : {"error", "drop"} or float
        As in `deciban.align`. A segment dropped for one system is dropped for all; a value to fill in is that of all
        classes, so that such a segment says nothing.
    duplicates, format, columns, key_format, key_columns, where, by_order, weights, weights_required, progress
        As in `deciban.workflows.read_joined`.
    log10 : bool
        Whether the scores are common logarithms.

    Returns
    -------
    JoinedClasses

    Raises
    ------
    FormatError, KeyMismatchError, InputError
        As in `deciban.workflows.read_joined`; if a segment is of a class without scores, classes do not fit, or a
        segment excludes every class.
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
        contents.append(read_contents(path, need="class-scores", format=format, columns=columns))
    told = contents[0]
    if key is not None:
        say(f"reading {display_name(key)}")
        told = read_contents(key, need="class-key", format=key_format, columns=key_columns)
    systems = named_class_systems([called(_scores(one), classes) for one in contents])
    truth = _key(told, classes, systems[0])
    truth = truth.keep(where=where) if where else truth
    say("joining segments")
    aligned = align_class_systems(systems, truth, missing, duplicates=duplicates, by_order=by_order)
    facts = [*_read_facts(systems, told, truth), *_subset_facts(where)]
    facts += [fact("note", one.origin.name, note) for one in dict.fromkeys([*contents, told]) for note in one.notes]
    weight, weighing = _weights(aligned[0], truth, weights, required=weights_required)
    prior = None if posterior_prior is None else prior_of(posterior_prior, aligned[0].classes, "posterior_prior")
    aligned = [replace(one, scores=in_nats(one.scores, log10=log10, posterior_prior=prior)) for one in aligned]
    for one in aligned:
        _refuse_impossible(one)
    facts += [*_unit_facts(prior, log10=log10), *weighing, *_join_facts(aligned[0].report, missing, by_order=by_order)]
    return JoinedClasses(tuple(aligned), tuple(contents), tuple(facts), weight)


def in_nats(scores: ClassScores, *, log10: bool = False, posterior_prior: FloatArray | None = None) -> ClassScores:
    """Turn scores into natural log-likelihoods; those that are such are left as they are.

    Raises
    ------
    InputError
        If the prior that is to be taken out of posteriors is 0 for a class.
    """
    if not log10 and posterior_prior is None:
        return scores
    score = scores.score.astype(np.float64)
    if log10:
        with np.errstate(over="ignore"):
            score *= _LOG_10
    if posterior_prior is not None:
        zero = np.flatnonzero(posterior_prior == 0)
        if len(zero):
            raise InputError(
                f"posterior_prior: that of {scores.classes[int(zero[0])]!r} is 0, so that its posteriors say nothing. "
                "Leave the class out (classes, --classes)."
            )
        score -= np.log(posterior_prior)
    return replace(scores, score=score)


def _scores(contents: Contents) -> ClassScores:
    found = contents.class_scores
    assert found is not None  # noqa: S101  # they were asked for
    return found


def _is_numbered(classes: Sequence[str]) -> bool:
    """Whether classes are not named, but counted from 0."""
    return tuple(classes) == tuple(map(str, range(len(classes))))


def called(scores: ClassScores, classes: Sequence[str] | None) -> ClassScores:
    """Scores whose classes have the names, and the order, that the user gave.

    Raises
    ------
    InputError
        If the file has no such classes, or numbers more or fewer of them.
    """
    if classes is None or tuple(classes) == scores.classes:
        return scores
    if not _is_numbered(scores.classes) or set(classes) <= set(scores.classes):
        return scores.of_classes(classes)
    if len(classes) != len(scores.classes):
        raise InputError(
            f"classes: {len(classes)} names, but {scores.trials.origin.name} has {len(scores.classes)} columns. Give "
            "one name per column, in order."
        )
    return ClassScores.of(scores.trials, classes, scores.score, name=scores.name)


def _key(told: Contents, classes: Sequence[str] | None, scores: ClassScores) -> ClassKey:
    """The class key of an input, its classes named as those of the scores."""
    key = told.class_key
    if key is None:
        raise InputError(
            f"key: none given, and {told.origin.name} does not say of which class its segments are. Pass the file that "
            "does (--key FILE)."
        )
    if not _is_numbered(key.classes) or _is_numbered(scores.classes) or set(key.classes) <= set(scores.classes):
        return key
    if classes is None:
        raise KeyMismatchError(
            f"{told.origin.name} numbers its classes, {scores.trials.origin.name} names them: "
            f"{', '.join(scores.classes)}. Say which number is which class by naming them in the order of "
            "the numbers (--classes NAME,NAME,...)."
        )
    if int(key.label.max()) >= len(classes):
        row = int(np.argmax(key.label >= len(classes)))
        raise KeyMismatchError(
            f"{key.trials.origin.where(row)}: {key.trials.name_of(row)} is of class {key.label[row]}, counted from 0, "
            f"but {len(classes)} classes are named: {', '.join(classes)}."
        )
    return ClassKey(key.trials, tuple(classes), key.label)


def named_class_systems(systems: Sequence[ClassScores]) -> list[ClassScores]:
    """Give systems of one name the path of their file, and then a number."""
    names = [system.name for system in systems]
    if len(set(names)) < len(names):
        names = [one.trials.origin.name if names.count(one.name) > 1 else one.name for one in systems]
    seen = [names[:i].count(name) + 1 for i, name in enumerate(names)]
    numbered = [name if n == 1 else f"{name} #{n}" for name, n in zip(names, seen, strict=True)]
    return [replace(system, name=name) for system, name in zip(systems, numbered, strict=True)]


def class_read_fact(scores: ClassScores) -> str:
    """Say how the scores of a system were read."""
    origin = scores.trials.origin
    return fact("read", origin.name, origin.reading, f"{len(scores.trials):,} segments x {len(scores.classes)} classes")


def _read_facts(systems: Sequence[ClassScores], told: Contents, truth: ClassKey) -> list[str]:
    counts = np.bincount(truth.label, minlength=len(truth.classes)).tolist()
    shown = [f"{n:,} {name}" for name, n in zip(truth.classes, counts, strict=True) if n]
    words = " · ".join(shown[:20]) + (f" · {len(shown) - 20} more classes" if len(shown) > 20 else "")
    return [*map(class_read_fact, systems), fact("key", told.origin.name, told.origin.reading, words)]


def _subset_facts(where: Where | None) -> list[str]:
    if not where:
        return []
    chosen = (f"{name} = {v if isinstance(v, str) else ' or '.join(v)}" for name, v in where.items())
    return [fact("only", f"segments with {' and '.join(chosen)}")]


def _unit_facts(posterior_prior: FloatArray | None, *, log10: bool) -> list[str]:
    facts = [fact("note", "scores are common logarithms, and were multiplied by ln 10")] if log10 else []
    if posterior_prior is not None:
        shown = ", ".join(f"{p:.4g}" for p in posterior_prior[:20])
        facts.append(fact("note", f"scores are log posteriors: the logarithms of the prior {shown} were subtracted"))
    return facts


def _weights(
    aligned: AlignedClasses, key: ClassKey, column: str | None, *, required: bool
) -> tuple[CountArray | None, list[str]]:
    """How much segments count, and what is to be said about it."""
    if column is None:
        return None, []
    name = key.trials.origin.name
    if not required and column not in aligned.trials.conditions:
        return None, [fact("note", name, f"has no column {column!r} of weights: all its segments count alike")]
    weight = class_key_weights(aligned, key, column)
    return weight, [fact("weights", name, f"column {column!r}", in_words(weight))]


def _join_facts(report: JoinReport, missing: Missing, *, by_order: bool) -> list[str]:
    met = (
        f"{report.matched:,} matched · {report.missing:,} missing · {report.extra:,} extra · "
        f"{report.duplicate:,} duplicate"
    )
    facts = [fact("join", met)]
    if by_order:
        facts.append(fact("join", "by order: the names of the segments were not compared"))
    if not isinstance(missing, str) and report.missing:
        facts.append(fact("fill", f"segments without scores were given {missing:g} for every class"))
    return facts


def _refuse_impossible(aligned: AlignedClasses) -> None:
    """Refuse segments that exclude every class, by name."""
    impossible = np.flatnonzero(aligned.score.max(axis=1) == -np.inf)
    if len(impossible):
        row = int(impossible[0])
        raise InputError(
            f"{aligned.name}: segment {aligned.trials.name_of(row)} excludes every class, with -inf throughout "
            f"({len(impossible):,} such segments). At least one class must be possible: repair the scores, or leave "
            "these segments out of the key."
        )
