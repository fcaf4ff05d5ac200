"""What a score file or key holds, and what in it makes one wonder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from deciban.errors import FormatError
from deciban.io import Reading, read_table
from deciban.io.layout import Columns
from deciban.io.source import PathLike
from deciban.metrics import auc
from deciban.types import ScoreArray


@dataclass(frozen=True, slots=True)
class Inspection:
    """One file: ``facts`` as (what, value) pairs, and ``remarks`` on what looks wrong."""

    name: str
    facts: tuple[tuple[str, str], ...]
    remarks: tuple[str, ...]


def inspect_file(
    path: PathLike,
    *,
    format: str | None = None,  # noqa: A002  # the word users know
    columns: Columns | None = None,
    labels: Mapping[str, str] | None = None,
) -> Inspection:
    """Describe a score file or a key; the parameters are those of `deciban.read_scores`.

    Raises
    ------
    FormatError
        If the file is neither.
    """
    reading = _read(path, format, columns, labels)
    table = reading.scores or reading.key
    if table is None:
        raise FormatError(f"{path}: neither scores nor labels were found. Name the columns (--columns).")
    trials = table.trials
    facts = [("read as", trials.origin.reading), ("trials", f"{len(trials):,}")]
    for side, column in zip(trials.sides, trials.ids, strict=True):
        facts.append((side, f"{len(column.names):,} different names, the first {column.names[0].as_py()!r}"))
    remarks: list[str] = []
    copies = len(trials) - len(np.unique(trials.codes_in(trials)))
    if copies:
        remarks.append(f"{copies:,} lines repeat a trial that stands in the file already.")
    if reading.key is not None:
        facts.append(("labels", reading.label_counts))
    if reading.scores is not None:
        facts.extend(_score_facts(reading.scores.score))
        remarks.extend(_score_remarks(reading))
    return Inspection(trials.origin.name, tuple(facts), tuple(remarks))


def _read(
    path: PathLike,
    format: str | None,  # noqa: A002
    columns: Columns | None,
    labels: Mapping[str, str] | None,
) -> Reading:
    try:
        return read_table(path, need="score", format=format, columns=columns, labels=labels)
    except FormatError as no_scores:
        try:
            return read_table(path, need="label", format=format, columns=columns, labels=labels)
        except FormatError:
            raise no_scores from None


def _score_facts(score: ScoreArray) -> list[tuple[str, str]]:
    n_infinite = np.count_nonzero(np.isinf(score))
    different = len(np.unique(score))
    low, middle, high = np.quantile(score, [0, 0.5, 1], method="lower")
    return [
        ("scores", f"from {low:g} to {high:g}, median {middle:g}"),
        ("different scores", f"{different:,} ({different / len(score):.1%})"),
        *([("infinite scores", f"{n_infinite:,}")] if n_infinite else []),
    ]


def _score_remarks(reading: Reading) -> list[str]:
    assert reading.scores is not None  # noqa: S101  # the caller looked
    score, remarks = reading.scores.score, []
    different = len(np.unique(score))
    if len(score) >= 1000 and different < 0.9 * len(score):
        remarks.append("Many scores are equal, probably from rounding. Ties are never split, but figures get coarser.")
    if score.min() >= 0 and score.max() <= 1:
        remarks.append("All scores lie in [0, 1]: probabilities? Costs and Cllr take log-likelihood ratios in nats.")
    key = reading.key
    if key is not None and key.n_tar and key.n_non:
        ordered = auc(score[key.is_target], score[~key.is_target])
        if ordered < 0.5:
            remarks.append(
                f"Only {ordered:.1%} of target/non-target pairs have the target on top: is the sign flipped?"
            )
    return remarks
