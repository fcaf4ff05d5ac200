"""What ``deciban inspect`` says: what a file holds, and what in it looks wrong."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deciban._arrow import compute as pc
from deciban._arrow import constant
from deciban._files import PathLike, display_name
from deciban._validate.probabilities import LIKE_POSTERIORS, LIKE_PROBABILITIES, like_posteriors, like_probabilities
from deciban.io import Contents, read_contents
from deciban.io.columns.headers import Columns
from deciban.io.summary_files import SummaryHead, is_summary_file, read_head
from deciban.io.units import DETECTION_LLRS, is_submission, negated
from deciban.messages import NEGATED, as_message, shortened
from deciban.metrics import SortedScores
from deciban.models import load_model
from deciban.models.score_model import ScoreModel
from deciban.trials import ClassScores, Key, Scores, SegmentQuality, Trials
from deciban.trials.joining.lookup import Wanted
from deciban.types import ScoreArray
from deciban.workflows.kinds import kind_called
from deciban.workflows.kinds.score_units import UNDECLARED, UNIT, Looks

_BEGINNING = 200
"""Bytes in which a model file says that it is one."""


Properties = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Inspection:
    """One file: ``properties`` as (what, value) pairs, and ``remarks`` on what looks wrong."""

    name: str
    properties: tuple[tuple[str, str], ...]
    remarks: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the same as plain JSON types."""
        properties = [{"name": name, "value": value} for name, value in self.properties]
        return {"path": self.name, "properties": properties, "remarks": list(self.remarks)}


def is_model_file(path: PathLike) -> bool:
    """Whether a file begins as a model does."""
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
        If it is damaged.
    """
    model = load_model(path)
    properties: Properties = [("model", model.kind)]
    given = {name: value for name, value in model.settings.items() if value is not None}
    if given:
        properties.append(("settings", ", ".join(f"{name} {value}" for name, value in given.items())))
    if isinstance(model, ScoreModel):
        for row in model.parameter_rows():
            properties.append((row.name, f"{row.texts[0]} {row.error_text}".rstrip()))
        if not model.parameter_rows():
            properties += [("parameters", line) for line in model.parameter_lines()]
        properties += [_split(line) for line in model.training_lines()]
        if model.training_ is not None:
            counts = kind_called(model.scores_kind).counts_in_words(model.training_.counts)
            properties.append(("trained on", counts))
            properties += [("systems", ", ".join(model.training_.systems))] if model.training_.systems else []
            unit = model.training_.results.get(UNIT, UNDECLARED)
            properties += [] if unit == UNDECLARED else [("unit of scores", str(unit))]
    return Inspection(display_name(path), tuple(properties), ())


def _split(line: str) -> tuple[str, str]:
    """What a line about training is about, and what it says."""
    what, colon, rest = line.partition(": ")
    return (what, rest) if colon else ("training", line)


_CUT = 100
"""Length at which some writers of HDF5 cut names off."""


_ENOUGH = 100
"""Trials of each class, below which a low Cllr may be chance."""


_UNITS = {"nats": "", "log10": ", log10", "lr": ", natural logarithms of likelihood ratios"}


_UNITS_KEPT = {
    "none": "none, and no intervals (deciban summarize --units, --keep-names)",
    "trials": "every trial is one",
    "names": "speakers are found from the names of both sides, which are kept as numbers",
}
"""What a summary of shards says of units, but of those that were named."""


_MOST_LABELS = 20

_LARGEST_LABEL = 1000
"""What a column of whole numbers looks like that may hold labels: few of them, and small."""


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
    """Describe a file of any known format, a model or a summary of shards, and say what in it looks wrong.

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
        If it cannot be read.
    """
    if format is None and columns is None and is_model_file(path):
        return inspected_model(path)
    if format is None and columns is None and is_summary_file(path):
        return _inspected_summary(path)
    contents = read_contents(path, format=format, columns=columns, labels=labels, log10=log10, lr=lr)
    properties: Properties = [("read as", contents.origin.reading), ("holds", ", ".join(contents.kinds))]
    if negate:
        contents = negated(contents)
        properties.append(("sign", NEGATED))
    remarks = [as_message(note, "").text for note in contents.notes]
    index = contents.index or contents.class_scores or contents.class_key
    if index is not None:
        _describe_trials(index.trials, properties, remarks)
    if contents.key is not None:
        properties.append(("labels", contents.label_counts))
    for scores in contents.systems:
        _describe_scores(scores, contents, properties, remarks)
    if contents.class_scores is not None:
        remarks += _class_remarks(contents.class_scores)
    _describe_rest(contents, properties)
    return Inspection(contents.origin.name, tuple(properties), tuple(remarks))


def _inspected_summary(path: PathLike) -> Inspection:
    """Describe a summary of shards."""
    head = read_head(path)
    classes = f"{len(head.classes)} classes: {shortened(', '.join(head.classes))}"
    properties: Properties = [
        ("read as", "summary of shards (deciban summarize): their different trials, with numbers of equal ones"),
        ("about", classes if head.classes else "scores of two classes"),
        ("systems", shortened(", ".join(head.systems))),
        ("weights", f"column {head.weights!r}" if head.weights else "every trial counts once"),
        ("units", _UNITS_KEPT.get(head.units, head.source)),
        ("shards", f"{len(head.shards):,}: {_listed(sorted(one.name for one in head.shards))}"),
        ("rows", f"{head.n_rows:,}"),
        _summarized_trials(head),
        *[("the first shard", text) for text in head.shards[0].reading],
    ]
    return Inspection(display_name(path), tuple(properties), ())


def _summarized_trials(head: SummaryHead) -> tuple[str, str]:
    """How many trials there are, by class."""
    if not head.classes:
        n_non, n_tar = head.of_classes
        return "labels", f"{n_tar:,} targets, {n_non:,} non-targets"
    pairs = zip(head.classes, head.of_classes, strict=True)
    return "segments of each class", _listed([f"{name} {n:,}" for name, n in pairs])


def _describe_trials(trials: Trials, properties: Properties, remarks: list[str]) -> None:
    stored = "" if trials.listed is not None else f", a matrix of {' x '.join(f'{len(n):,}' for n in trials.names)}"
    properties.append(("trials", f"{len(trials):,}{stored}"))
    for side, names in zip(trials.sides, trials.names, strict=True):
        properties.append(
            (side, f"{len(names):,} different names" + (f", the first {names[0].as_py()!r}" if names else ""))
        )
        longest = pc.max(pc.utf8_length(names)).as_py()
        n_cut = pc.sum(pc.equal(pc.utf8_length(names), constant(_CUT))).as_py()
        if longest == _CUT:
            remarks.append(
                f"{n_cut:,} names of {side} have exactly {_CUT} characters and none has more: some programs cut names "
                "off there, and two may have become one."
            )
    for name, column in trials.conditions.items():
        values = pc.unique(column)
        shown = ", ".join(map(str, values[:6].to_pylist())) + (", ..." if len(values) > 6 else "")
        properties.append((name, f"{len(values):,} different values: {shown}"))
    copies = Wanted(trials).surplus
    if copies.shape[1]:
        first, second = copies[:, 0]
        places = f"{trials.origin.where(int(first))} and {trials.origin.where(int(second))}"
        remarks.append(f"{copies.shape[1]:,} rows repeat a trial that is there already, the first: {places}.")


def _describe_scores(scores: Scores, contents: Contents, properties: Properties, remarks: list[str]) -> None:
    score, several = scores.score, len(contents.systems) > 1
    if not len(score):
        return
    start = f"{scores.name}: " if several else ""
    n_infinite = int(np.count_nonzero(np.isinf(score)))
    different = len(np.unique(score))
    low, middle, high = np.quantile(score, [0, 0.5, 1], method="lower")
    properties.append(("scores", f"{start}from {low:g} to {high:g}, median {middle:g}{_UNITS[scores.unit]}"))
    properties.append(("different scores", f"{start}{different:,} ({different / len(score):.1%})"))
    if n_infinite:
        properties.append(("infinite scores", f"{start}{n_infinite:,}"))
    remarks.extend(start + remark for remark in _score_remarks(score, different))
    looks = Looks.of(scores)
    remarks.extend([start + looks.note_on_ratios] if looks.like == "ratios" else [])
    if contents.key is not None and contents.key.n_tar and contents.key.n_non:
        remarks.extend(start + remark for remark in _truth_remarks(scores, contents.key))


def _score_remarks(score: ScoreArray, different: int) -> list[str]:
    remarks = []
    if len(score) >= 1000 and different < 0.9 * len(score):
        decimals = _decimals(score)
        places = "" if decimals is None else f" to {decimals} decimals"
        remarks.append(
            f"Many scores are equal, probably from rounding{places}. Ties are never split, but figures get coarser."
        )
    if _like_labels(score, different):
        remarks.append(f"All scores are whole numbers, {different} different ones: may these be labels?")
    elif like_probabilities(float(score.min()), float(score.max()), len(score)):
        remarks.append(LIKE_PROBABILITIES)
    return remarks


def _like_labels(score: ScoreArray, different: int) -> bool:
    few = different <= _MOST_LABELS and len(score) >= 4 * different
    return few and bool(np.abs(score).max() <= _LARGEST_LABEL) and np.array_equal(score, np.rint(score))


def _decimals(score: ScoreArray) -> int | None:
    """How many decimals all scores have at most, if that is 6 or fewer."""
    finite = score[np.isfinite(score)].astype(np.float64)
    return next((n for n in range(7) if np.array_equal(finite, np.round(finite, n))), None)


def _class_remarks(scores: ClassScores) -> list[str]:
    """What scores of many classes look like that are no log-likelihoods, or are not called so."""
    if like_posteriors(scores.score):
        return [LIKE_POSTERIORS]
    return [DETECTION_LLRS] if is_submission(scores.trials.origin) else []


def _truth_remarks(scores: Scores, key: Key) -> list[str]:
    remarks = []
    tar, non = scores.score[key.is_target], scores.score[~key.is_target]
    sorted_scores = SortedScores(tar, non)
    ordered = sorted_scores.table.auc()
    if ordered < 0.5:
        remarks.append(
            f"Only {ordered:.1%} of target/non-target pairs have the target on top: is the sign flipped? "
            "Add --negate, or leave it out if it is given."
        )
    elif scores.unit == "nats" and min(len(tar), len(non)) >= _ENOUGH:
        loss = sorted_scores.trials.cllr()
        as_log10 = SortedScores(tar * math.log(10), non * math.log(10)).trials.cllr()
        best = sorted_scores.recalibrated.cllr()
        # Well calibrated when read as common logarithms, and clearly not when read as natural ones.
        if math.isfinite(as_log10) and as_log10 - best < 0.25 * (loss - best):
            remarks.append(
                f"Cllr is {loss:.3g} bits with natural and {as_log10:.3g} with common logarithms, {best:.3g} at best: "
                "log10 likelihood ratios? Say so with --log10."
            )
    return remarks


def _describe_rest(contents: Contents, properties: Properties) -> None:
    if contents.class_scores is not None:
        classes = contents.class_scores.classes
        properties.append(("classes", f"{len(classes)}: {_listed(classes)}"))
    if contents.class_key is not None:
        counts = np.bincount(contents.class_key.label, minlength=len(contents.class_key.classes))
        pairs = [f"{name} {count:,}" for name, count in zip(contents.class_key.classes, counts, strict=True)]
        properties.append(("segments of each class", _listed(pairs)))
    if contents.quality is not None:
        for side in ("enroll", "test"):
            _describe_quality(side, getattr(contents.quality, side), properties)
    _describe_quality("segments", contents.segment_quality, properties)
    if contents.id_map is not None:
        properties.append(("id map", f"{len(contents.id_map):,} pairs"))


def _describe_quality(what: str, quality: SegmentQuality | None, properties: Properties) -> None:
    if quality is not None:
        measures = _listed(quality.measures)
        properties.append(
            (f"quality of {what}", f"{len(quality):,} names, {len(quality.measures)} measures: {measures}")
        )


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words[:20]) + (", ..." if len(words) > 20 else "")
