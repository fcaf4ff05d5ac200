"""What recipes need to know of a fusion, and which of its data come from files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager

import numpy as np

from deciban.analysis.data import Fuser, FusionData
from deciban.errors import InputError
from deciban.fusion import QualityFusion, SubsetFusion
from deciban.fusion.quality_measures import Kind
from deciban.fusion.subsets import occurring_subsets, require_known
from deciban.io.source import PathLike, display_name
from deciban.models import Model, load_model
from deciban.trials import SegmentQuality, Trials
from deciban.trials.joining.join import Aligned
from deciban.workflows.joined import fact
from deciban.workflows.measures import measures_of
from deciban.workflows.named import named_trials
from deciban.workflows.systems import counted, score_matrix

__all__ = [
    "Fuser",
    "data_of",
    "fuser_of",
    "measures_needed",
    "named_fused",
    "require_quality",
    "takes_incomplete",
    "ways_of_trials",
]


def measures_needed(fusion: Fuser) -> tuple[str, ...]:
    """The arguments for quality measures that a trained fusion takes."""
    if not isinstance(fusion, QualityFusion):
        return ()
    of_trial = ("trial",) if len(fusion.trial_quality_weights_) else ()
    return tuple(f"{side}_quality" for side in (*fusion.quality_sides_, *of_trial))


def require_quality(fusion: Fuser, *, is_given: bool) -> None:
    """Refuse to go on without the quality measures that a fusion needs, or with some that it would overlook.

    Raises
    ------
    InputError
    """
    needed = measures_needed(fusion)
    if needed and not is_given:
        sides = " and ".join(name.removesuffix("_quality") for name in needed)
        raise InputError(
            f"quality: none given, but the fusion was trained with {sides} measures. Name their file (--quality FILE)."
        )
    if is_given and not needed:
        raise InputError("quality: given, but the fusion was trained without. Leave it out, or train with it.")


def takes_incomplete(fusion: Fuser) -> bool:
    """Whether a fusion knows what to do about trials that some of its systems did not score."""
    return isinstance(fusion, SubsetFusion) and fusion.missing == "subset"


def fuser_of(model: PathLike | Model) -> tuple[Fuser, str]:
    """A trained fusion, given or from its file, and what messages call it.

    Raises
    ------
    FormatError, InputError, OSError
        As in `deciban.load_model`, or if the model is no fusion of scores, or not trained.
    """
    loaded = model if isinstance(model, Model) else load_model(model)
    shown = type(model).__name__ if isinstance(model, Model) else display_name(model)
    if not isinstance(loaded, Fuser):
        raise InputError(f"{shown}: a model of kind {loaded.kind!r} does not fuse the scores of several systems.")
    loaded.require_fitted()
    return loaded, shown


def data_of(
    aligned: Sequence[Aligned],
    measured: Mapping[Kind, SegmentQuality] | None,
    sides: tuple[str, ...] | None = None,
) -> tuple[FusionData, list[str]]:
    """Put together systems on the same trials and the quality of these trials; and what is to be said about it.

    Raises
    ------
    InputError
        As in `measures_of`.
    """
    quality, facts = ({}, []) if measured is None else measures_of(measured, aligned[0].trials, sides=sides)
    return FusionData(score_matrix(aligned), quality), facts


def ways_of_trials(fusion: Fuser, data: FusionData, systems: Sequence[str], trials: Trials) -> list[str]:
    """Say by which of its fusions a fusion for subsets of systems fuses trials that lack a score.

    Raises
    ------
    InputError
        If there is none for some of them.
    """
    if not isinstance(fusion, SubsetFusion):
        return []

    def called(subset: tuple[int, ...]) -> str:
        return " + ".join(systems[k] for k in subset)

    occurring = occurring_subsets(data.scores)
    with named_trials(trials.name_of):
        require_known(occurring, fusion.fusions_, fusion.way_out, called=called)
    lacking = [(subset, rows) for subset, rows in occurring.items() if len(subset) < len(systems)]
    lacking.sort(key=lambda one: (-len(one[0]), one[0]))
    return [
        fact("note", f"{counted(len(rows), 'trial')} by the fusion of {called(subset)}") for subset, rows in lacking
    ]


def named_fused(data: FusionData, systems: Sequence[str], trials: Trials) -> AbstractContextManager[None]:
    """Name the trial in what is refused for its sake, and the systems that give it infinite scores."""

    def infinite(row: int) -> str:
        columns = np.flatnonzero(np.isinf(data.scores[row])).tolist()
        return ", ".join(f"{systems[k]}: {data.scores[row, k]:g}" for k in columns)

    return named_trials(trials.name_of, infinite)
