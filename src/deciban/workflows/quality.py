"""Quality measures from files, one row for every trial: what a fusion with quality takes beside the scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from deciban.errors import FormatError, InputError
from deciban.fusion.quality_measures import QUALITY_SIDES, QualitySide
from deciban.io import read_contents
from deciban.io.source import PathLike, Source
from deciban.messages import Message, counted
from deciban.trials import SegmentQuality, Trials
from deciban.types import FloatArray

QualityFiles: TypeAlias = PathLike | Mapping[QualitySide, PathLike]
"""One file for all sides, or one for each."""


def quality_paths(quality: QualityFiles | None) -> list[PathLike]:
    """The files that quality measures are read from."""
    if quality is None:
        return []
    return list(quality.values()) if isinstance(quality, Mapping) else [quality]


def read_measures(quality: QualityFiles) -> dict[QualitySide, SegmentQuality]:
    """Read quality measures.

    Parameters
    ----------
    quality : path, or mapping of side to path
        HDF5 and MATLAB files hold the measures of both sides, or of segments; text files those of segments. Measures
        of segments belong to every side whose names they know, unless a mapping says which: ``enroll``, ``test``, or
        ``trial`` for trials with one name.

    Returns
    -------
    dict of SegmentQuality
        Those of each side of trials.

    Raises
    ------
    FormatError, InputError, OSError
        As in `deciban.io.read_quality`; or if a side is none, or has no measures in its file.
    """
    if "-" in map(str, quality_paths(quality)):
        raise InputError("quality: measures are not read from standard input (-). Put them into a file, and name it.")
    if not isinstance(quality, Mapping):
        return _sides_of(quality)
    if not quality or set(quality) - set(QUALITY_SIDES):
        raise InputError(f"quality: expected a file, or files of {', '.join(QUALITY_SIDES)}; got {dict(quality)}.")
    return {side: _one_side(path, side) for side, path in quality.items()}


def measures_of(
    measured: Mapping[QualitySide, SegmentQuality], trials: Trials, *, sides: tuple[str, ...] | None = None
) -> tuple[dict[str, FloatArray], list[Message]]:
    """Quality measures of every trial, as arguments of a fusion.

    Parameters
    ----------
    measured : mapping of side to SegmentQuality
    trials : Trials
    sides : tuple of str, optional
        Arguments that there must be, and no others: those of training.

    Returns
    -------
    dict of (n_trials, n_measures) arrays
        ``enroll_quality``, ``test_quality``, ``trial_quality``: those that there are; NaN where a name has none.
    list of Message
        What was found, and for how many trials nothing.

    Raises
    ------
    InputError
        If no name of any side has measures, or those of a side that is needed are not there.

    Examples
    --------
    >>> quality = {"test": SegmentQuality.of(["x"], [0.5], measures=["snr"])}
    >>> measures_of(quality, Trials.of({"enroll": ["m", "m"], "test": ["x", "y"]}))[0]
    {'test_quality': array([[0.5], [nan]])}
    """
    found: dict[str, FloatArray] = {}
    messages = list[Message]()
    lacking = np.zeros(len(trials), np.bool_)
    wanted = [side for side in QUALITY_SIDES if sides is None or f"{side}_quality" in sides]
    for side in (one for one in wanted if one in measured and one in trials.sides):
        values, known = measured[side].align(trials, side)
        if not known.any():
            continue  # a list of segments says nothing of the names of models
        values[~known] = np.nan
        lacking |= ~known
        found[f"{side}_quality"] = values
        names = ", ".join(measured[side].measures)
        messages.append(Message("qual", measured[side].origin.name, f"{side}: {names}   {len(measured[side]):,} names"))
    is_for_any = set(measured) == set(QUALITY_SIDES)  # one list of names, not said of which side
    needed = [*sides] if sides is not None else [] if is_for_any else [f"{side}_quality" for side in measured]
    missing = [side for side in QUALITY_SIDES if f"{side}_quality" in needed and f"{side}_quality" not in found]
    if missing or not found:
        raise InputError(_nothing_about(missing or [*measured], measured, trials))
    n_lacking = int(np.count_nonzero(lacking))
    if n_lacking:
        words = f"{n_lacking:,} of {counted(len(trials), 'trial')} without quality measures are fused by scores alone"
        messages.append(Message("note", "", words))
    return found, messages


def _nothing_about(sides: Sequence[QualitySide], measured: Mapping[QualitySide, SegmentQuality], trials: Trials) -> str:
    """Say that no trial has measures of these sides."""
    origins = ", ".join(dict.fromkeys(one.origin.name for one in measured.values()))
    there = [side for side in sides if side in trials.sides]
    if not there:
        return (
            f"{origins}: quality measures of {' and '.join(sides)}, but {trials.origin.name} identifies a trial by "
            f"{' and '.join(trials.sides)}. Name one of these sides: --quality {trials.sides[-1]}=FILE."
        )
    return (
        f"{origins}: no quality measures of {' or '.join(there)} for any trial of {trials.origin.name}, which begins "
        f"with {trials.name_of(0)}. Check that the names are the same, and which side the measures belong to."
    )


def _sides_of(path: PathLike) -> dict[QualitySide, SegmentQuality]:
    if not Source(path).is_binary:
        return dict.fromkeys(QUALITY_SIDES, _segments(path))
    contents = read_contents(path)
    if contents.quality is None:
        return dict.fromkeys(QUALITY_SIDES, _segments(path))
    sides: dict[QualitySide, SegmentQuality | None] = {"enroll": contents.quality.enroll, "test": contents.quality.test}
    return {side: one for side, one in sides.items() if one is not None}


def _one_side(path: PathLike, side: QualitySide) -> SegmentQuality:
    sides = _sides_of(path)
    if side not in sides:
        raise FormatError(f"{path}: holds quality measures of {' and '.join(sides)}, not of {side}.")
    return sides[side]


def _segments(path: PathLike) -> SegmentQuality:
    found = read_contents(path, need="segment-quality").segment_quality
    assert found is not None  # noqa: S101  # it was asked for
    return found
