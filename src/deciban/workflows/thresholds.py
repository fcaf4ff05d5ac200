"""Thresholds that are chosen on other trials, such as a development set, to be judged on those of an evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from deciban.errors import InputError
from deciban.evaluation import Evaluation
from deciban.io.source import PathLike
from deciban.messages import Message
from deciban.types import Progress
from deciban.workflows.inputs import JoinedScores, Paths, paths_of, read_joined
from deciban.workflows.options import Figures, Options


@dataclass(frozen=True, slots=True)
class Chosen:
    """Thresholds of systems, chosen elsewhere.

    Attributes
    ----------
    thresholds : tuple of mappings from str to float
        For each system, by the name of what they are best for.
    messages : tuple of Message
        What was read, and assumed.
    """

    thresholds: tuple[Mapping[str, float], ...]
    messages: tuple[Message, ...]


def choose_thresholds(
    joined: JoinedScores, scores: Paths, key: PathLike | None, options: Options, *, progress: Progress | None = None
) -> Chosen:
    """Read scores of the same systems on other trials, and find the thresholds that are best there.

    Parameters
    ----------
    joined : JoinedScores
        The systems that are evaluated.
    scores : sequence of paths, or one path
        One file for each system, in the same order.
    key : path or None
        Left out, the first of these files says which of its trials are targets.
    options : Options
        How these files are read, too, but for the choice of trials by conditions (``where``).
    progress : function, optional

    Raises
    ------
    InputError
        If scores are of many classes, there are not as many systems as are evaluated, or these are in another order.
    FormatError, KeyMismatchError
        As in `read_joined`.
    """
    if not joined.kind.has_thresholds:
        raise InputError(
            f"threshold_from: the scores are of {joined.kind.about}, which no single threshold decides. Leave it out."
        )
    reading = replace(options.reading, where=None, weights_required=False)
    other = replace(options, reading=reading, kind=joined.kind.name).of_systems(joined.renamed)
    dev = read_joined(paths_of(scores, name="threshold_from"), key, other, progress=progress)
    if len(dev.aligned) != len(joined.aligned):
        raise InputError(
            f"threshold_from: scores of {len(dev.aligned)} systems ({', '.join(dev.names)}) for the "
            f"{len(joined.aligned)} that are evaluated ({', '.join(joined.names)}). Name one file for each system, in "
            "the same order."
        )
    for k, name in enumerate(dev.names):
        if name in joined.names and joined.names[k] != name:
            raise InputError(
                f"threshold_from: {name} is system {k + 1} there, and system {joined.names.index(name) + 1} of those "
                "that are evaluated. Name one file for each system, in the same order."
            )
    figures = Figures(operating_points=options.figures.operating_points)
    found = [
        dev.kind.evaluate((one.score, dev.truth, dev.weight), name=one.name, figures=figures, classes=())
        for one in dev.aligned
    ]
    said = Message("note", "", "thresholds are chosen on the trials of the files that follow")
    return Chosen(tuple(map(_best, found)), (said, *dev.all_messages()))


def _best(found: Evaluation) -> dict[str, float]:
    """The threshold of the EER, and of the least cost at each operating point."""
    return {"EER": found.eer_threshold} | {
        f"minDCF at {point}": point.min_threshold for point in found.operating_points
    }


def thresholds_for(figures: Figures, chosen: Chosen) -> list[Figures]:
    """Figures for each system, those at its own thresholds among them."""
    given = figures.at_thresholds or {}
    return [replace(figures, at_thresholds={**given, **own}) for own in chosen.thresholds]
