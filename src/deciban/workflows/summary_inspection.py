"""What ``deciban inspect`` says of a summary of shards: what it holds, and which shards were read."""

from __future__ import annotations

from deciban.io.source import PathLike, display_name
from deciban.io.summary_files import SummaryHead, read_head
from deciban.messages import shortened
from deciban.workflows.model_inspection import Inspection, Properties

_MOST = 20
"""Shards that are named one by one."""

_UNITS = {
    "none": "none, and no intervals (deciban summarize --units, --keep-names)",
    "trials": "every trial is one",
    "names": "speakers are found from the names of both sides, which are kept as numbers",
}


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
    head = read_head(path)
    classes = f"{len(head.classes)} classes: {shortened(', '.join(head.classes))}"
    properties: Properties = [
        ("read as", "summary of shards (deciban summarize): their different trials, with numbers of equal ones"),
        ("about", classes if head.classes else "scores of two classes"),
        ("systems", shortened(", ".join(head.systems))),
        ("weights", f"column {head.weights!r}" if head.weights else "every trial counts once"),
        ("units", _UNITS.get(head.units, head.source)),
        ("shards", f"{len(head.shards):,}: {_listed(sorted(one.name for one in head.shards))}"),
        ("rows", f"{head.n_rows:,}"),
        _trials(head),
        *[("as", text) for text in head.shards[0].reading],
    ]
    return Inspection(display_name(path), tuple(properties), ())


def _trials(head: SummaryHead) -> tuple[str, str]:
    """How many trials there are, by class."""
    if not head.classes:
        n_non, n_tar = head.of_classes
        return "labels", f"{n_tar:,} targets, {n_non:,} non-targets"
    pairs = zip(head.classes, head.of_classes, strict=True)
    return "segments of each class", _listed([f"{name} {n:,}" for name, n in pairs])


def _listed(words: list[str]) -> str:
    return ", ".join(words[:_MOST]) + (f", and {len(words) - _MOST:,} more" if len(words) > _MOST else "")
