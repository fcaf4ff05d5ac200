"""Quality measures from files, one row for every trial: what a fusion with quality takes beside the scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import numpy as np

from deciban.errors import FormatError, InputError
from deciban.evaluation.joined import fact
from deciban.io import read_contents
from deciban.io.source import PathLike, Source
from deciban.recipes.systems import counted
from deciban.trials import SegmentQuality, Trials
from deciban.types import FloatArray

Side: TypeAlias = Literal["enroll", "test", "trial"]
QualityFiles: TypeAlias = PathLike | Mapping[Side, PathLike]
"""One file for all sides, or one for each."""

_SIDES: tuple[Side, ...] = ("enroll", "test", "trial")


def quality_paths(quality: QualityFiles | None) -> list[PathLike]:
    """The files that quality measures are read from."""
    if quality is None:
        return []
    return list(quality.values()) if isinstance(quality, Mapping) else [quality]


def read_measures(quality: QualityFiles) -> dict[Side, SegmentQuality]:
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
    if not isinstance(quality, Mapping):
        return _sides_of(quality)
    if not quality or set(quality) - set(_SIDES):
        raise InputError(f"quality: expected a file, or files of {', '.join(_SIDES)}; got {dict(quality)}.")
    return {side: _one_side(path, side) for side, path in quality.items()}


def measures_of(
    measured: Mapping[Side, SegmentQuality], trials: Trials, *, sides: tuple[str, ...] | None = None
) -> tuple[dict[str, FloatArray], list[str]]:
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
    list of str
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
    facts = []
    lacking = np.zeros(len(trials), np.bool_)
    wanted = [side for side in _SIDES if sides is None or f"{side}_quality" in sides]
    for side in (one for one in wanted if one in measured and one in trials.sides):
        values, known = measured[side].align(trials, side)
        if sides is None and not known.any():
            continue  # a list of segments says nothing of the names of models
        values[~known] = np.nan
        lacking |= ~known
        found[f"{side}_quality"] = values
        names = ", ".join(measured[side].measures)
        facts.append(fact("qual", measured[side].origin.name, f"{side}: {names}", f"{len(measured[side]):,} names"))
    missing = [name for name in sides or () if name not in found]
    if missing or not found:
        about = " and ".join(name.removesuffix("_quality") for name in missing) or " or ".join(trials.sides)
        origins = ", ".join(dict.fromkeys(one.origin.name for one in measured.values()))
        raise InputError(
            f"{origins}: no quality measures of {about} for any trial of {trials.origin.name}, which begins with "
            f"{trials.name_of(0)}. Check that the names are the same, and which side the measures belong to."
        )
    n_lacking = int(np.count_nonzero(lacking))
    if n_lacking:
        words = f"{n_lacking:,} of {counted(len(trials), 'trial')} without quality measures are fused by scores alone"
        facts.append(fact("note", words))
    return found, facts


def _sides_of(path: PathLike) -> dict[Side, SegmentQuality]:
    if not Source(path).is_binary:
        return dict.fromkeys(_SIDES, _segments(path))
    contents = read_contents(path)
    if contents.quality is None:
        return dict.fromkeys(_SIDES, _segments(path))
    sides: dict[Side, SegmentQuality | None] = {"enroll": contents.quality.enroll, "test": contents.quality.test}
    return {side: one for side, one in sides.items() if one is not None}


def _one_side(path: PathLike, side: Side) -> SegmentQuality:
    sides = _sides_of(path)
    if side not in sides:
        raise FormatError(f"{path}: holds quality measures of {' and '.join(sides)}, not of {side}.")
    return sides[side]


def _segments(path: PathLike) -> SegmentQuality:
    found = read_contents(path, need="segment-quality").segment_quality
    assert found is not None  # noqa: S101  # it was asked for
    return found
