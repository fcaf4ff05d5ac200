"""Which quality measures of files a fusion takes, and how they are combined: names and a matrix become its setting."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from deciban.errors import FormatError, InputError
from deciban.fusion import QualityFusion
from deciban.fusion.quality_combination import matrices_of, plain_combination
from deciban.fusion.quality_measures import QUALITY_SIDES, QualitySide
from deciban.fusion.quality_parameters import sums_of_measures, weighted_sum
from deciban.io.source import PathLike, display_name, numbered_lines, read_text
from deciban.messages import Message
from deciban.models.score_model import ScoreModel
from deciban.trials import SegmentQuality
from deciban.types import FloatArray

Selected: TypeAlias = Sequence[str] | Mapping[QualitySide, Sequence[str]]
"""Names or numbers of measures, for all sides or for each."""

Combined: TypeAlias = ArrayLike | PathLike | Mapping[QualitySide, ArrayLike | PathLike]
"""A matrix, or a file that holds one, for all sides or for each."""


def read_combination(path: PathLike) -> FloatArray:
    """Read a matrix from a text file: one row for each new measure, numbers with blanks or commas between them.

    Raises
    ------
    FormatError
        If there is something else in the file, or rows are not equally long.
    OSError
        If it cannot be read.
    """
    name = display_name(path)
    rows: list[list[float]] = []
    for number, line in numbered_lines(read_text(path), name):
        try:
            rows.append([float(word) for word in line.replace(",", " ").split()])
        except ValueError as error:
            raise FormatError(f"{name}:{number}: expected a row of numbers, got {line.strip()[:60]!r}.") from error
        if len(rows[-1]) != len(rows[0]):
            raise FormatError(
                f"{name}:{number}: {len(rows[-1])} numbers, but {len(rows[0])} in the first row. Every row has one for "
                "each measure."
            )
    if not rows:
        raise FormatError(f"{name}: no row of numbers, so no matrix of measures.")
    return np.array(rows)


def combination_of(
    measured: Mapping[QualitySide, SegmentQuality], selected: Selected | None, combined: Combined | None
) -> tuple[object, list[Message]]:
    """The setting ``combine`` of a fusion that takes some of the measures, or weighted sums of them.

    Parameters
    ----------
    measured : mapping of side to SegmentQuality
        The measures of files.
    selected : sequence of str, or mapping of side to such, optional
        Names of measures, or their numbers from 1, in the order wanted; all of them if left out.
    combined : matrix, file, or mapping of side to such, optional
        One row for each new measure, with weights of the selected ones.

    Returns
    -------
    setting : None, list of lists, or dict of such
    list of Message
        What is to be said about it.

    Raises
    ------
    FormatError, InputError, OSError
        If there is no such measure, or a matrix does not fit.

    Examples
    --------
    >>> quality = SegmentQuality.of(["x"], [[1.0, 2.0, 3.0]], measures=["snr", "speech", "age"])
    >>> combination_of({"test": quality}, ["age", "1"], None)[0]
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    if selected is None and combined is None:
        return None, []
    found: dict[str, list[list[float]]] = {}
    messages = list[Message]()
    for side in (one for one in QUALITY_SIDES if one in measured):
        names = selected.get(side) if isinstance(selected, Mapping) else selected
        rows = np.eye(len(measured[side].measures))
        if names is not None:
            rows = rows[_positions(measured[side], names)]
        given = combined.get(side) if isinstance(combined, Mapping) else combined
        if given is not None:
            rows = _times(given, rows, side)
        found[side] = plain_combination(rows)
        messages.append(_combined_message(measured[side], side, rows))
    named = {side for one in (selected, combined) if isinstance(one, Mapping) for side in one}
    if unknown := named - set(measured):
        raise InputError(f"quality: no measures of {min(unknown)} are there to choose from or to combine.")
    first = next(iter(found.values()))
    if all(rows == first for rows in found.values()):
        return first, list(dict.fromkeys(messages))
    return found, messages


def _positions(quality: SegmentQuality, names: Sequence[str]) -> list[int]:
    places = []
    for name in names:
        if name in quality.measures:
            places.append(quality.measures.index(name))
        elif name.isdecimal() and 1 <= int(name) <= len(quality.measures):
            places.append(int(name) - 1)
        else:
            raise InputError(
                f"{quality.origin.name}: no quality measure {name!r}; there are {', '.join(quality.measures)}, or "
                f"numbers from 1 to {len(quality.measures)}."
            )
    if len(set(places)) < len(places) or not places:
        raise InputError(f"{quality.origin.name}: measures {', '.join(names)}: name each of them once.")
    return places


def _times(given: ArrayLike | PathLike, rows: FloatArray, side: str) -> FloatArray:
    if isinstance(given, str | os.PathLike):
        matrix, what = read_combination(given), display_name(given)
    else:
        matrix, what = np.array(plain_combination(given)), "matrix"
    if matrix.shape[1] != len(rows):
        raise InputError(
            f"{what}: {matrix.shape[1]} weights in a row for {len(rows)} {side} measures. Give one for each that is "
            "selected, in their order."
        )
    product: FloatArray = matrix @ rows
    return product


def combination_messages(fusion: ScoreModel, measured: Mapping[QualitySide, SegmentQuality] | None) -> list[Message]:
    """Say which measures of files a trained fusion takes, and how it combines them, if it does not take all."""
    if measured is None or not isinstance(fusion, QualityFusion):
        return []
    matrices, used = matrices_of(fusion.combine), sums_of_measures(fusion)
    found = [
        _combined_message(measured[side], side, matrices[side])
        for side in QUALITY_SIDES
        if side in matrices and side in used
    ]
    return list(dict.fromkeys(found))


def _combined_message(quality: SegmentQuality, side: str, rows: FloatArray) -> Message:
    sums = [weighted_sum(row, quality.measures) for row in rows.tolist()]
    return Message("qual", quality.origin.name, f"{side}: the fusion takes {', '.join(sums)}")
