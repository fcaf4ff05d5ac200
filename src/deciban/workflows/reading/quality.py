"""Quality measures from files, with a row for every trial, their selection and combination."""

from __future__ import annotations

import os
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from deciban._arrow import as_text
from deciban.core.training.sums import Sums
from deciban.errors import FormatError, InputError, Message, counted, display_name, not_none, option
from deciban.fusion import QualityFusion
from deciban.fusion.quality import sums_of_measures, weighted_sum
from deciban.fusion.quality_measures import QUALITY_SIDES, QualitySide, matrices_of, plain_combination
from deciban.io import read_contents
from deciban.io.columns.values import plain
from deciban.io.partitions.layout import TrialRows
from deciban.io.source import Source, numbered_lines, read_text
from deciban.models.score_model import ScoreModel
from deciban.trials import Origin, SegmentQuality, Trials
from deciban.trials.sources import Batch, LoadedPartition, TrialFields, TrialSource, found_in
from deciban.types import BoolArray, FloatArray, PathLike
from deciban.workflows.options import Scale

QualityFiles: TypeAlias = PathLike | Mapping[QualitySide, PathLike]
"""One file for all sides, or one for each side."""

Measured: TypeAlias = Mapping[QualitySide, SegmentQuality]
"""Measures of each side of trials, as in files."""


def quality_paths(quality: QualityFiles | None) -> list[PathLike]:
    """Return the files of quality measures."""
    if quality is None:
        return []
    return list(quality.values()) if isinstance(quality, Mapping) else [quality]


def read_measures(quality: QualityFiles) -> dict[QualitySide, SegmentQuality]:
    """Read quality measures.

    Parameters
    ----------
    quality : path, or mapping of side to path
        HDF5 and MATLAB files contain the measures of both sides, or of segments; text files contain measures of
        segments. Measures of segments are used for every side with matching names, unless a mapping sets the side:
        ``enroll``, ``test``, or ``trial`` for trials with one name.

    Returns
    -------
    dict of SegmentQuality
        Measures of each side.

    Raises
    ------
    FormatError, InputError, OSError
        As in `deciban.io.read_quality`; or if a side is unknown, or has no measures in its file.
    """
    if "-" in map(str, quality_paths(quality)):
        raise InputError("quality: measures cannot be read from standard input (-). Put them into a file, and name it.")
    if not isinstance(quality, Mapping):
        return _sides_of(quality)
    if not quality or set(quality) - set(QUALITY_SIDES):
        raise InputError(f"quality: expected a file, or files of {', '.join(QUALITY_SIDES)}; got {dict(quality)}.")
    return {side: _one_side(path, side) for side, path in quality.items()}


def measures_of(
    measured: Measured, trials: Trials, *, sides: tuple[str, ...] | None = None
) -> tuple[dict[str, FloatArray], list[Message]]:
    """Return the quality measures of every trial, as arguments of a fusion.

    Parameters
    ----------
    measured : mapping of side to SegmentQuality
    trials : Trials
    sides : tuple of str, optional
        Required arguments, as in training; others are left out.

    Returns
    -------
    dict of (n_trials, n_measures) arrays
        ``enroll_quality``, ``test_quality``, ``trial_quality``, if present; NaN for names without measures.
    list of Message
        Messages about the measures, and the number of trials without measures.

    Raises
    ------
    InputError
        If no name of any side, or of a required side, has measures.

    Examples
    --------
    >>> quality = {"test": SegmentQuality.of(["x"], [0.5], measures=["snr"])}
    >>> measures_of(quality, Trials.of({"enroll": ["m", "m"], "test": ["x", "y"]}))[0]
    {'test_quality': array([[0.5], [nan]])}
    """
    result, lacking = measures_of_partition(measured, trials, sides=sides)
    messages = quality_messages(measured, trials, sides, result, int(np.count_nonzero(lacking)), len(trials))
    return result, messages


def measures_of_partition(
    measured: Measured, trials: Trials, *, sides: tuple[str, ...] | None = None
) -> tuple[dict[str, FloatArray], BoolArray]:
    """Return the quality measures of some trials, possibly without any.

    Parameters
    ----------
    measured, trials, sides
        As in `measures_of`.

    Returns
    -------
    dict of (n_trials, n_measures) arrays
        Measures of the sides with measures.
    (n_trials,) bool array
        Whether each trial lacks some measures.
    """
    entries: dict[str, FloatArray] = {}
    lacking = np.zeros(len(trials), np.bool_)
    items = [side for side in QUALITY_SIDES if sides is None or f"{side}_quality" in sides]
    for side in (one for one in items if one in measured and one in trials.sides):
        values, known = measured[side].align(trials, side)
        if not known.any():
            continue  # a list of segments can have no names of models
        values[~known] = np.nan
        lacking |= ~known
        entries[f"{side}_quality"] = values
    return entries, lacking


def quality_messages(
    measured: Measured, trials: Trials, sides: tuple[str, ...] | None, lines: Container[str], n_lacking: int, n: int
) -> list[Message]:
    """Return messages about the measures, and the number of trials without measures.

    Parameters
    ----------
    measured, sides
        As in `measures_of`.
    trials : Trials
        Some trials, for messages.
    lines : collection of str
        Arguments with measures.
    n_lacking, n : int
        Number of trials that lack measures, and of all trials.

    Raises
    ------
    InputError
        If there are no measures, or none of a required side.
    """
    messages = _messages_of(measured, lines)
    is_for_any = set(measured) == set(QUALITY_SIDES)  # one list of names, for any side
    needed = [*sides] if sides is not None else [] if is_for_any else [f"{side}_quality" for side in measured]
    missing = [side for side in QUALITY_SIDES if f"{side}_quality" in needed and f"{side}_quality" not in lines]
    if missing or not messages:
        raise InputError(_nothing_about(missing or [*measured], measured, trials))
    if n_lacking:
        words = f"{n_lacking:,} of {counted(n, 'trial')} without quality measures are fused by scores alone"
        messages.append(Message("note", "", words))
    return messages


def _nothing_about(sides: Sequence[QualitySide], measured: Measured, trials: Trials) -> str:
    """Return the error message for sides without measures."""
    origins = ", ".join(dict.fromkeys(one.origin.name for one in measured.values()))
    there = [side for side in sides if side in trials.sides]
    if not there:
        return (
            f"{origins}: quality measures of {' and '.join(sides)}, but the sides of {trials.origin.name} are "
            f"{' and '.join(trials.sides)}. Name one of these sides: {option(quality={trials.sides[-1]: 'FILE'})}."
        )
    return (
        f"{origins}: no quality measures of {' or '.join(there)} for any trial of {trials.origin.name}, which starts "
        f"with {trials.name_of(0)}. Check that the names are the same, and the side of the measures."
    )


def _sides_of(path: PathLike) -> dict[QualitySide, SegmentQuality]:
    contents = read_contents(path) if Source(path).is_binary else None
    if contents is None or contents.quality is None:
        result = read_contents(path, need="segment-quality").segment_quality
        return dict.fromkeys(QUALITY_SIDES, not_none(result, "segment_quality"))
    sides: dict[QualitySide, SegmentQuality | None] = {"enroll": contents.quality.enroll, "test": contents.quality.test}
    return {side: one for side, one in sides.items() if one is not None}


def _one_side(path: PathLike, side: QualitySide) -> SegmentQuality:
    sides = _sides_of(path)
    if side not in sides:
        raise FormatError(f"{path}: contains quality measures of {' and '.join(sides)}, not of {side}.")
    return sides[side]


Selected: TypeAlias = Sequence[str] | Mapping[QualitySide, Sequence[str]]
"""Names or numbers of measures, for all sides or for each side."""

Combined: TypeAlias = ArrayLike | PathLike | Mapping[QualitySide, ArrayLike | PathLike]
"""A matrix, or a file with one, for all sides or for each side."""


def read_combination(path: PathLike) -> FloatArray:
    """Read a matrix from a text file: one row for each new measure, with blanks or commas between numbers.

    Raises
    ------
    FormatError
        If the file contains other text, or rows of different lengths.
    OSError
        If the file cannot be read.
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
                f"{name}:{number}: {len(rows[-1])} numbers, but {len(rows[0])} in the first row. Every row needs one "
                "number for each measure."
            )
    if not rows:
        raise FormatError(f"{name}: no row of numbers, so there is no matrix of measures.")
    return np.array(rows)


def combination_of(
    measured: Measured, selected: Selected | None, combined: Combined | None
) -> tuple[object, list[Message]]:
    """Return the setting ``combine`` of a fusion that uses some of the measures, or weighted sums of them.

    Parameters
    ----------
    measured : mapping of side to SegmentQuality
        Measures in files.
    selected : sequence of str, or mapping of side to sequence, optional
        Names of measures, or their numbers from 1, in order; by default all.
    combined : matrix, file, or mapping of side to matrix or file, optional
        One row for each new measure, with weights of the selected measures.

    Returns
    -------
    setting : None, list of lists, or dict of lists of lists
    list of Message
        Messages about the combination.

    Raises
    ------
    FormatError, InputError, OSError
        If a measure does not exist, or the size of a matrix does not match.

    Examples
    --------
    >>> quality = SegmentQuality.of(["x"], [[1.0, 2.0, 3.0]], measures=["snr", "speech", "age"])
    >>> combination_of({"test": quality}, ["age", "1"], None)[0]
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    if selected is None and combined is None:
        return None, []
    entries: dict[str, list[list[float]]] = {}
    messages = list[Message]()
    for side in (one for one in QUALITY_SIDES if one in measured):
        names = selected.get(side) if isinstance(selected, Mapping) else selected
        rows = np.eye(len(measured[side].measures))
        if names is not None:
            rows = rows[_positions(measured[side], names)]
        value = combined.get(side) if isinstance(combined, Mapping) else combined
        if value is not None:
            rows = _times(value, rows, side)
        entries[side] = plain_combination(rows)
        messages.append(_combined_message(measured[side], side, rows))
    named = {side for one in (selected, combined) if isinstance(one, Mapping) for side in one}
    if unknown := named - set(measured):
        raise InputError(f"quality: there are no measures of {min(unknown)} to select or combine.")
    first = next(iter(entries.values()))
    if all(rows == first for rows in entries.values()):
        return first, list(dict.fromkeys(messages))
    return entries, messages


def _positions(quality: SegmentQuality, names: Sequence[str]) -> list[int]:
    places = []
    for name in names:
        if name in quality.measures:
            places.append(quality.measures.index(name))
        elif name.isdecimal() and 1 <= int(name) <= len(quality.measures):
            places.append(int(name) - 1)
        else:
            raise InputError(
                f"{quality.origin.name}: no quality measure {name!r}. Use one of {', '.join(quality.measures)}, or "
                f"numbers from 1 to {len(quality.measures)}."
            )
    if len(set(places)) < len(places) or not places:
        raise InputError(f"{quality.origin.name}: measures {', '.join(names)}: name each of them once.")
    return places


def _times(value: ArrayLike | PathLike, rows: FloatArray, side: str) -> FloatArray:
    if isinstance(value, str | os.PathLike):
        matrix, what = read_combination(value), display_name(value)
    else:
        matrix, what = np.array(plain_combination(value)), "matrix"
    if matrix.shape[1] != len(rows):
        raise InputError(
            f"{what}: {matrix.shape[1]} weights in a row for {len(rows)} {side} measures. Each selected measure needs "
            "a weight, in the order of the measures."
        )
    return matrix @ rows


def combination_messages(fusion: ScoreModel, measured: Measured | None) -> list[Message]:
    """Return messages about the measures that a trained fusion uses and combines, unless it uses all."""
    if measured is None or not isinstance(fusion, QualityFusion):
        return []
    matrices, used = matrices_of(fusion.combine), sums_of_measures(fusion)
    items = [
        _combined_message(measured[side], side, matrices[side])
        for side in QUALITY_SIDES
        if side in matrices and side in used
    ]
    return list(dict.fromkeys(items))


def _combined_message(quality: SegmentQuality, side: str, rows: FloatArray) -> Message:
    sums = [weighted_sum(row, quality.measures) for row in rows.tolist()]
    return Message("qual", quality.origin.name, f"{side}: the fusion uses {', '.join(sums)}")


def with_quality(
    source: TrialSource, measured: Measured, scale: Scale, *, sides: tuple[str, ...] | None = None
) -> TrialSource:
    """Return a source with the quality measures of its trials; one pass finds the sides with measures.

    Parameters
    ----------
    source : TrialSource
        Source of tables with names of trials.
    measured : mapping of side to SegmentQuality
    scale : Scale
        Options for the pass.
    sides : tuple of str, optional
        Required arguments, as in training; others are left out.

    Raises
    ------
    InputError
        If trials have no names, or no name of any side, or of a required side, has measures.
    """
    if source.trials is not None:
        tables, messages = measures_of(measured, source.trials, sides=sides)
        own = LoadedPartition(replace(source.held, quality=tables), source.partitions[0].name)
        return replace(source, partitions=(own,), quality=tuple(tables), messages=(*source.messages, *messages))
    rows, trials = _rows_and_first_trial(source)
    there = [side for side in QUALITY_SIDES if side in measured and side in trials.sides]
    arguments = tuple(name for name in (f"{side}_quality" for side in there) if sides is None or name in sides)
    measured_rows = (replace(one, layout=replace(one.layout, quality=dict(measured))) for one in rows)
    able = replace(source, partitions=tuple(measured_rows), quality=arguments)
    counts = np.zeros(1 << len(arguments))
    if arguments:
        with scale.engine() as engine:
            look = partial(_known, arguments)
            counts = found_in(able, engine, TrialFields((), quality=arguments), look, "looking for quality").total
    has = np.arange(len(counts))
    items = [at for at in range(len(arguments)) if counts[has >> at & 1 == 1].any()]
    chosen, every = tuple(arguments[at] for at in items), sum(1 << at for at in items)
    n_lacking = int(counts[has & every != every].sum())
    messages = quality_messages(measured, trials, sides, chosen, n_lacking, int(counts.sum()))
    return replace(able, quality=chosen, messages=(*source.messages, *messages))


def _messages_of(measured: Measured, lines: Container[str]) -> list[Message]:
    """Return a message for each side with measures."""
    sides = {side: one for side, one in measured.items() if f"{side}_quality" in lines}
    return [
        Message("qual", one.origin.name, f"{side}: {', '.join(one.measures)}   {counted(len(one), 'name')}")
        for side, one in sorted(sides.items(), key=lambda entry: QUALITY_SIDES.index(entry[0]))
    ]


def _rows_and_first_trial(source: TrialSource) -> tuple[tuple[TrialRows, ...], Trials]:
    """Return the partitions of a source, and its first trial for messages.

    Raises
    ------
    InputError
        If the source is not a table with names of trials.
    """
    rows = tuple(one for one in source.partitions if isinstance(one, TrialRows) and one.layout.sides)
    if not rows or len(rows) < len(source.partitions):
        raise InputError(
            f"quality: measures need the names of the sides of trials, and {source.name} has none. Add columns "
            "with these names."
        )
    sides = rows[0].layout.sides
    table = rows[0].rows.table([*sides.values()]).slice(0, 1)
    names = {side: as_text(plain(table.column(column)).combine_chunks()) for side, column in sides.items()}
    return rows, Trials.of(names, origin=Origin(source.name))


def _known(names: Sequence[str], batch: Batch) -> Sums:
    """Count the trials of a partition by their sides with measures, one bit for each side."""
    tables = batch.quality or {}
    has = sum((~np.isnan(tables[name][:, 0])).astype(np.int64) << at for at, name in enumerate(names))
    return Sums.of(np.bincount(np.atleast_1d(has), minlength=1 << len(names)).astype(np.float64))
