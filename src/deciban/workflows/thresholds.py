"""Thresholds that are chosen on other trials, such as a development set, to be judged on those of an evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from deciban._files import PathLike
from deciban.errors import InputError
from deciban.evaluation import Evaluation
from deciban.messages import Message
from deciban.types import Progress
from deciban.workflows.evaluating import evaluate_source, opened
from deciban.workflows.how_sure import HowSure
from deciban.workflows.inputs import Paths, paths_of
from deciban.workflows.kinds import AnyKind
from deciban.workflows.options import Figures, Options
from deciban.workflows.system_names import Renamed


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


@dataclass(frozen=True, slots=True)
class Systems:
    """The systems that are evaluated.

    Attributes
    ----------
    kind : Kind
    names : tuple of str
    renamed : Renamed, optional
        What they were called before they were given names.
    """

    kind: AnyKind
    names: tuple[str, ...]
    renamed: Renamed | None = None


def choose_thresholds(
    systems: Systems, scores: Paths, key: PathLike | None, options: Options, *, progress: Progress | None = None
) -> Chosen:
    """Read scores of the same systems on other trials, and find the thresholds that are best there.

    Parameters
    ----------
    systems : Systems
        Those that are evaluated.
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
    if not systems.kind.has_thresholds:
        raise InputError(
            f"threshold_from: the scores are of {systems.kind.about}, which no single threshold decides. Leave it out."
        )
    reading = replace(options.reading, where=None, weights_required=False)
    scale = replace(options.scale, speakers=options.scale.speakers if key is None else None)
    figures = Figures(operating_points=options.figures.operating_points)
    other = replace(options, reading=reading, scale=scale, kind=systems.kind.name).of_systems(systems.renamed)
    files = opened(paths_of(scores, name="threshold_from"), key, other)
    source = files.as_source(other, progress)
    _require_same(source.systems, systems)
    quick = replace(other, figures=figures, how_sure=HowSure(intervals=False, optimism=False))
    results = evaluate_source(source, quick, progress)
    said = Message("note", "", "thresholds are chosen on the trials of the files that follow")
    messages = (one for one in results.messages if isinstance(one, Message))
    return Chosen(tuple(map(_best, results.systems)), (said, *messages))


def _require_same(names: Sequence[str], systems: Systems) -> None:
    """Refuse other systems than those that are evaluated, or the same in another order."""
    if len(names) != len(systems.names):
        raise InputError(
            f"threshold_from: scores of {len(names)} systems ({', '.join(names)}) for the {len(systems.names)} that "
            f"are evaluated ({', '.join(systems.names)}). Name one file for each system, in the same order."
        )
    for k, name in enumerate(names):
        if name in systems.names and systems.names[k] != name:
            raise InputError(
                f"threshold_from: {name} is system {k + 1} there, and system {systems.names.index(name) + 1} of those "
                "that are evaluated. Name one file for each system, in the same order."
            )


def _best(found: Evaluation) -> dict[str, float]:
    """The threshold of the EER, and of the least cost at each operating point."""
    return {"EER": found.eer_threshold} | {
        f"minDCF at {point}": point.min_threshold for point in found.operating_points
    }


def thresholds_for(figures: Figures, chosen: Chosen) -> list[Figures]:
    """Figures for each system, those at its own thresholds among them."""
    given = figures.at_thresholds or {}
    return [replace(figures, at_thresholds={**given, **own}) for own in chosen.thresholds]
