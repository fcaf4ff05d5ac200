"""What ``deciban inspect`` says of a summary of shards: what was asked, which shards were counted, and how often."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from deciban.io.source import PathLike, display_name
from deciban.io.summary_files import read_summary
from deciban.io.summary_records import Question
from deciban.messages import counted, shortened
from deciban.workflows.model_inspection import Inspection, Properties

_MOST = 20
"""Shards that are named one by one."""


def inspected_summary(path: PathLike) -> Inspection:
    """Describe a summary of shards.

    Parameters
    ----------
    path : path

    Returns
    -------
    Inspection

    Raises
    ------
    FormatError, OSError
        If it is damaged, of another version, or no summary.
    """
    part = read_summary(path).settled()
    question, name = part.question, display_name(path)
    classes = f"{len(question.classes)} classes: {shortened(', '.join(question.classes))}"
    properties: Properties = [
        ("read as", "summary of shards (deciban summarize), which holds counts and no trials"),
        ("about", classes if question.classes else "scores of two classes"),
        ("systems", shortened(", ".join(question.systems))),
        *_asked(question),
        ("scores", f"{question.scores}, {'with weights' if question.has_weights else 'every trial counts once'}"),
        *[(f"read with {what}", shortened(value)) for what, value in question.reading],
        ("shards", f"{len(part.shards):,}: {_listed(sorted(one.name for one in part.shards))}"),
        ("rows", f"{part.n_rows:,}"),
        *_trials(part),
        ("passes", _passes(part)),
    ]
    if part.further is not None:
        n = len(part.shards) - len(part.unseen)
        properties.append((f"seen by pass {part.n_passes + 1}", f"{n:,} of {counted(len(part.shards), 'shard')}"))
    return Inspection(name, tuple(properties), _remarks(part, name))


def _asked(question: Question) -> Properties:
    """Figures that differ from those of nobody's asking, and the points of costs."""
    figures: Any = question.figures
    usual, found = type(figures)(), Properties()
    for one in fields(figures):
        value = getattr(figures, one.name)
        if value != getattr(usual, one.name) or one.name in ("operating_points", "p_target"):
            words = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
            found.append((f"asked {one.name}", shortened(words)))
    return found


def _trials(part: Any) -> Properties:
    """How many trials each system has, by class."""
    found, several = Properties(), len(part.question.systems) > 1
    for k, system in enumerate(part.question.systems):
        start = f"{system}: " if several else ""
        if part.question.classes:
            totals = part.totals[k]
            counts = np.zeros(len(part.question.classes), np.int64) if totals is None else totals.counts["counts"]
            pairs = zip(part.question.classes, counts.tolist(), strict=True)
            found.append(("segments of each class", start + _listed([f"{name} {n:,}" for name, n in pairs])))
        else:
            n_non, n_tar = (one.n_trials for one in part.tables[k])
            found.append(("labels", f"{start}{n_tar:,} targets, {n_non:,} non-targets"))
    return found


def _passes(part: Any) -> str:
    n = part.n_passes + (part.further is not None)
    if part.is_refined and part.unseen:
        return f"{n:,}, the last one not over all shards"
    if part.question.classes:
        minima = "are exact" if part.is_refined else "have bounds"
        return f"{n:,}: minima of detectors and pairs {minima}, min Cllr of all classes keeps its bounds"
    return f"{n:,}: figures are exact"


def _remarks(part: Any, name: str) -> tuple[str, ...]:
    """What is missing, and what follows."""
    if missing := part.unseen:
        n = part.n_passes + 1
        what = f"{counted(len(missing), 'shard')} missing in pass {n}: {_listed(sorted(missing))}"
        return (f"{what}. Refine {'it' if len(missing) == 1 else 'them'}, too, and merge all (deciban merge).",)
    if part.is_refined:
        return ()
    what = "Further passes make minima of detectors and pairs exact"
    return (f"{what}: deciban summarize SHARD -o SHARD.refined --refine {name}.",)


def _listed(words: list[str]) -> str:
    return ", ".join(words[:_MOST]) + (f", and {len(words) - _MOST:,} more" if len(words) > _MOST else "")
