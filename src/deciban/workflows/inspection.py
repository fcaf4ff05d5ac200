"""Descriptions of files for ``deciban inspect``: their contents, and remarks on what looks wrong."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from deciban._arrow import constant, pc
from deciban._validate.arrays import like_probabilities, probabilities_note
from deciban._validate.classes import like_posteriors, posteriors_note
from deciban.errors import as_message, display_name, negation_note, option, shortened
from deciban.io import Contents, read_contents
from deciban.io.columns.headers import Columns
from deciban.io.recognition import is_summary_file
from deciban.io.summary_files import SummaryHead, read_head
from deciban.io.units import SUBMISSION, negated, submission_note
from deciban.metrics import SortedScores
from deciban.models import load_model
from deciban.models.score_model import ScoreModel
from deciban.trials import Key, Scores, Trials
from deciban.trials.classes import ScoreStatistics
from deciban.trials.lists import Lookup
from deciban.types import PathLike, ScoreArray
from deciban.workflows.kinds import UNDECLARED, UNIT, kind_called

_BEGINNING = 200
"""Number of bytes to read to recognize a model file."""


Facts: TypeAlias = list[tuple[str, str]]
"""Properties of a file as (name, value) pairs; remarks on what looks wrong have an empty name."""


@dataclass(frozen=True, slots=True)
class Inspection:
    """Description of one file: ``properties`` as (name, value) pairs, and ``remarks`` on what looks wrong."""

    name: str
    properties: tuple[tuple[str, str], ...]
    remarks: tuple[str, ...]

    @classmethod
    def of(cls, name: str, facts: Facts) -> Inspection:
        """Make an instance from the facts about a file."""
        return cls(name, tuple(one for one in facts if one[0]), tuple(words for what, words in facts if not what))

    def to_dict(self) -> dict[str, Any]:
        """Return the description as plain JSON types."""
        properties = [{"name": name, "value": value} for name, value in self.properties]
        return {"path": self.name, "properties": properties, "remarks": list(self.remarks)}


def is_model_file(path: PathLike) -> bool:
    """Return True if a file starts like a model file."""
    if not Path(path).is_file():
        return False
    with Path(path).open("rb") as stream:
        start = stream.read(_BEGINNING).lstrip()
    return start.startswith(b"{") and b'"deciban_model"' in start


def inspected_model(path: PathLike) -> Inspection:
    """Describe a model file.

    Raises
    ------
    FormatError
        If the file is damaged.
    """
    model = load_model(path)
    facts: Facts = [("model", model.kind)]
    entries = {name: value for name, value in model.settings.items() if value is not None}
    if entries:
        facts.append(("settings", ", ".join(f"{name} {value}" for name, value in entries.items())))
    if isinstance(model, ScoreModel):
        for row in model.parameter_rows():
            facts.append((row.name, f"{row.texts[0]} {row.error_text}".rstrip()))
        if not model.parameter_rows():
            facts += [("parameters", line) for line in model.parameter_lines()]
        facts += [_split(line) for line in model.training_lines()]
        if model.training_ is not None:
            counts = kind_called(model.scores_kind).counts_in_words(model.training_.counts)
            facts.append(("trained on", counts))
            facts += [("systems", ", ".join(model.training_.systems))] if model.training_.systems else []
            unit = model.training_.results.get(UNIT, UNDECLARED)
            facts += [] if unit == UNDECLARED else [("type of the training scores", str(unit))]
    return Inspection.of(display_name(path), facts)


def _split(line: str) -> tuple[str, str]:
    """Split a line about training into a name and a value."""
    what, colon, rest = line.partition(": ")
    return (what, rest) if colon else ("training", line)


_CUT = 100
"""Length to which some writers of HDF5 cut names."""


_ENOUGH = 100
"""Minimum number of trials of each class to judge Cllr."""


_UNITS = {"nats": "", "log10": ", log10", "lr": ", natural logarithms of likelihood ratios"}


_UNITS_KEPT = {
    "none": "none, so there are no intervals (name the units, or keep names, when you summarize)",
    "trials": "every trial is a unit",
    "names": "speakers, found from the names of both sides, which are kept as numbers",
}
"""Descriptions of the units of a summary, except units with names."""


_MOST_LABELS = 20

_LARGEST_LABEL = 1000
"""Limits for whole numbers that could be labels: the number of distinct values, and the largest value."""


def inspect_file(
    path: PathLike,
    *,
    format: str | None = None,
    columns: Columns | None = None,
    labels: Mapping[str, str] | None = None,
    log10: bool = False,
    lr: bool = False,
    negate: bool = False,
) -> Inspection:
    """Describe a file of any known format, a model or a summary, with remarks on what looks wrong.

    Parameters
    ----------
    path : path
    format, columns, labels, log10, lr, negate : optional
        As in `deciban.read_scores`.

    Returns
    -------
    Inspection

    Raises
    ------
    FormatError
        If the file cannot be read.
    """
    if format is None and columns is None and is_model_file(path):
        return inspected_model(path)
    if format is None and columns is None and is_summary_file(path):
        return _inspected_summary(path)
    contents = read_contents(path, format=format, columns=columns, labels=labels, log10=log10, lr=lr)
    facts: Facts = [("read as", contents.origin.reading), ("contains", ", ".join(contents.kinds))]
    if negate:
        contents = negated(contents)
        facts.append(("sign", negation_note()))
    facts += [("", as_message(note, "").text) for note in contents.notes]
    index = contents.index or contents.class_scores or contents.class_key
    facts += [] if index is None else _of_trials(index.trials)
    facts += [] if contents.key is None else [("labels", contents.label_counts)]
    for scores in contents.systems:
        facts += _of_scores(scores, contents)
    facts += _of_the_rest(contents)
    return Inspection.of(contents.origin.name, facts)


def _inspected_summary(path: PathLike) -> Inspection:
    """Describe a summary file."""
    head = read_head(path)
    classes = f"{len(head.classes)} classes: {shortened(', '.join(head.classes))}"
    facts: Facts = [
        ("read as", "summary file (deciban summarize): distinct trials with their counts"),
        ("about", classes if head.classes else "two-class scores"),
        ("systems", shortened(", ".join(head.systems))),
        ("weights", f"column {head.weights!r}" if head.weights else "every trial counts once"),
        ("units", _UNITS_KEPT.get(head.units, head.source)),
        ("partitions", f"{len(head.shards):,}: {_listed(sorted(one.name for one in head.shards))}"),
        ("rows", f"{head.n_rows:,}"),
        _summarized_trials(head),
        *[("the first partition", text) for text in head.shards[0].reading],
    ]
    return Inspection.of(display_name(path), facts)


def _summarized_trials(head: SummaryHead) -> tuple[str, str]:
    """Return the number of trials of each class."""
    if not head.classes:
        n_non, n_tar = head.of_classes
        return "labels", f"{n_tar:,} targets, {n_non:,} non-targets"
    pairs = zip(head.classes, head.of_classes, strict=True)
    return "segments of each class", _listed([f"{name} {n:,}" for name, n in pairs])


def _of_trials(trials: Trials) -> Iterator[tuple[str, str]]:
    stored = "" if trials.listed is not None else f", a matrix of {' x '.join(f'{len(n):,}' for n in trials.names)}"
    yield "trials", f"{len(trials):,}{stored}"
    for side, names in zip(trials.sides, trials.names, strict=True):
        yield side, f"{len(names):,} distinct names" + (f", the first {names[0].as_py()!r}" if names else "")
        n_cut = pc.sum(pc.equal(pc.utf8_length(names), constant(_CUT))).as_py()
        if pc.max(pc.utf8_length(names)).as_py() == _CUT:
            words = f"{n_cut:,} names of {side} have exactly {_CUT} characters and none has more"
            yield "", f"{words}: some programs cut names at this length, so that two names can become equal."
    for name, column in trials.conditions.items():
        values = pc.unique(column)
        shown = ", ".join(map(str, values[:6].to_pylist())) + (", ..." if len(values) > 6 else "")
        yield name or "(no name)", f"{len(values):,} distinct values: {shown}"
    copies = Lookup(trials).surplus
    if copies.shape[1]:
        first, second = copies[:, 0]
        places = f"{trials.origin.where(int(first))} and {trials.origin.where(int(second))}"
        yield "", f"{copies.shape[1]:,} rows repeat an earlier trial, the first: {places}."


def _of_scores(scores: Scores, contents: Contents) -> Iterator[tuple[str, str]]:
    score = scores.score
    if not len(score):
        return
    start = f"{scores.name}: " if len(contents.systems) > 1 else ""
    n_infinite = int(np.count_nonzero(np.isinf(score)))
    different = len(np.unique(score))
    low, middle, high = np.quantile(score, [0, 0.5, 1], method="lower")
    yield "scores", f"{start}from {low:g} to {high:g}, median {middle:g}{_UNITS[scores.unit]}"
    yield "distinct scores", f"{start}{different:,} ({100 * different / len(score):.1f} %)"
    if n_infinite:
        yield "infinite scores", f"{start}{n_infinite:,}"
    looks, remarks = ScoreStatistics.of(scores), _score_remarks(score, different)
    remarks += [looks.note_on_ratios] if looks.like == "ratios" else []
    if contents.key is not None and contents.key.n_tar and contents.key.n_non:
        remarks += _truth_remarks(scores, contents.key)
    yield from (("", start + remark) for remark in remarks)


def _score_remarks(score: ScoreArray, different: int) -> list[str]:
    remarks = []
    if len(score) >= 1000 and different < 0.9 * len(score):
        decimals = _decimals(score)
        places = "" if decimals is None else f" to {decimals} decimals"
        remarks.append(
            f"Many scores occur more than once, probably from rounding{places}. Ties are never split, but metrics get "
            "coarser."
        )
    if _like_labels(score, different):
        remarks.append(f"All scores are whole numbers, with {different} distinct values. Are they labels?")
    elif like_probabilities(float(score.min()), float(score.max()), len(score)):
        remarks.append(probabilities_note())
    return remarks


def _like_labels(score: ScoreArray, different: int) -> bool:
    few = different <= _MOST_LABELS and len(score) >= 4 * different
    return few and bool(np.abs(score).max() <= _LARGEST_LABEL) and np.array_equal(score, np.rint(score))


def _decimals(score: ScoreArray) -> int | None:
    """Return the maximum number of decimals of the scores, if it is at most 6."""
    finite = score[np.isfinite(score)].astype(np.float64)
    return next((n for n in range(7) if np.array_equal(finite, np.round(finite, n))), None)


def _truth_remarks(scores: Scores, key: Key) -> list[str]:
    remarks = []
    tar, non = scores.score[key.is_target], scores.score[~key.is_target]
    sorted_scores = SortedScores(tar, non)
    ordered = sorted_scores.table.auc()
    if ordered < 0.5:
        remarks.append(
            f"Only {100 * ordered:.1f} % of target/non-target pairs have the higher score for the target. Is the sign "
            f"inverted? Add {option(negate=True)}, or leave it out if it is given."
        )
    elif scores.unit == "nats" and min(len(tar), len(non)) >= _ENOUGH:
        loss = sorted_scores.trials.cllr()
        as_log10 = SortedScores(tar * math.log(10), non * math.log(10)).trials.cllr()
        best = sorted_scores.recalibrated.cllr()
        # The scores are well calibrated as common logarithms, but not as natural logarithms.
        if math.isfinite(as_log10) and as_log10 - best < 0.25 * (loss - best):
            remarks.append(
                f"Cllr is {loss:.3g} bits with natural and {as_log10:.3g} with common logarithms; the minimum is "
                f"{best:.3g}. If the scores are log10 likelihood ratios, add {option(log10=True)}."
            )
    return remarks


def _of_the_rest(contents: Contents) -> Iterator[tuple[str, str]]:
    scores, key = contents.class_scores, contents.class_key
    if scores is not None:
        yield "classes", f"{len(scores.classes)}: {_listed(scores.classes)}"
        if like_posteriors(scores.score):
            yield "", posteriors_note()
        elif scores.trials.origin.is_read_as(SUBMISSION):
            yield "", submission_note()
    if key is not None:
        pairs = zip(key.classes, np.bincount(key.label, minlength=len(key.classes)), strict=True)
        yield "segments of each class", _listed([f"{name} {count:,}" for name, count in pairs])
    qualities = {"segments": contents.segment_quality}
    if contents.quality is not None:
        qualities = {"enroll": contents.quality.enroll, "test": contents.quality.test, **qualities}
    for what, one in qualities.items():
        if one is not None:
            yield f"quality of {what}", f"{len(one):,} names, {len(one.measures)} measures: {_listed(one.measures)}"
    if contents.id_map is not None:
        yield "id map", f"{len(contents.id_map):,} pairs"


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words[:20]) + (", ..." if len(words) > 20 else "")
