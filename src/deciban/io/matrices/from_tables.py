"""From tables to the matrices of models x segments that binary score files hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban.errors import FormatError
from deciban.io.contents import KIND_OF, ContentKind, Contents, Item, Written, require
from deciban.trials import Key, Quality, SegmentQuality, Trials, TrialTable
from deciban.trials.frames.to_frames import check_same_trials
from deciban.trials.names.codes import encode, positions
from deciban.types import AnyArray, BoolArray, FloatArray


def item_to_write(contents: Contents, kinds: Sequence[ContentKind], format_name: str) -> Item:
    """The one table that goes into a file with room for one: the scores if there are any, else the key, and so on.

    Raises
    ------
    FormatError
        If there is none of these kinds, more than one system, or scores that are common logarithms.
    InputError
        If the tables speak of different trials.
    """
    require(contents, kinds, format_name)
    _check_trials(contents)
    if contents.systems and "scores" in kinds:
        scores = contents.scores
        if scores.log10:
            raise FormatError(
                f"{format_name} has no place to say that scores are common logarithms, and its readers take them for "
                "natural ones. Turn them into natural ones first, with Scores.in_nats(), or choose parquet."
            )
        return scores
    held = (contents.key, contents.quality, contents.segment_quality, contents.id_map, contents.index)
    # There is one, or the contents would have been refused.
    return next(item for item in held if item is not None and KIND_OF[type(item)] in kinds)


def _check_trials(contents: Contents) -> None:
    tables = (*contents.systems, contents.key, contents.index)
    lists = [table.trials for table in tables if table is not None]
    for other in lists[1:]:
        check_same_trials(lists[0], other)


def written_of(item: Item) -> Written:
    """What is in a file of matrices after one table was written to it: the trials, row by row, and no conditions."""
    kind = KIND_OF[type(item)]
    if not isinstance(item, TrialTable):
        has_trials = isinstance(item, Quality) and item.trials is not None
        return Written(frozenset((kind, "index") if has_trials else (kind,)))
    trials = item.trials
    cells = None if trials.listed is None else trials.codes_in(trials)
    return Written(frozenset((kind, "index")), reordered=cells is not None and bool(np.any(cells[1:] < cells[:-1])))


def without_nul(names: pa.Array, format_name: str) -> pa.Array:
    """The same names, none of which holds a NUL character, which would end it.

    Raises
    ------
    FormatError
        If one does.
    """
    bad = pc.match_substring(names, "\0")
    if pc.any(bad).as_py():
        name = names.filter(bad)[0].as_py()
        raise FormatError(f"{format_name} cannot hold the name {name!r}: a NUL character ends a name. Rename it.")
    return names


def matrix_of(trials: Trials, values: AnyArray) -> tuple[Trials, AnyArray]:
    """Trials as a grid, and their values as its matrix, 0 where there is no trial; no copy of a full one in order.

    Raises
    ------
    InputError
        If a trial occurs twice, or is not a pair of names.
    """
    grid, cells = trials.as_grid()
    shape = shape_of(grid)
    if grid.mask is None and cells is None:
        return grid, values.reshape(shape)
    matrix = np.zeros(shape, values.dtype)
    if cells is None:
        matrix[grid.mask] = values
    else:
        matrix.reshape(-1)[cells] = values
    return grid, matrix


def shape_of(grid: Trials) -> tuple[int, int]:
    """Number of models and of segments."""
    return len(grid.names[0]), len(grid.names[1])


def signed_mask(key: Key) -> tuple[Trials, AnyArray]:
    """Trials as a grid, and its matrix of +1 for targets, -1 for non-targets and 0 for no trial."""
    return matrix_of(key.trials, np.where(key.is_target, np.int8(1), np.int8(-1)))


@dataclass(frozen=True, slots=True)
class QualitySide:
    """Quality measures of one side as a file holds them.

    Attributes
    ----------
    names : pyarrow string array
        Those of the trials first, then others that have measures.
    values : (n_measures, n_names) float array
        0 where there are none.
    has : (n_names,) bool array
        Which names have measures.
    measures : tuple of str or None
        None for the names that are given to measures without any.
    """

    names: pa.Array
    values: FloatArray
    has: BoolArray
    measures: tuple[str, ...] | None


def named_measures(quality: SegmentQuality | None) -> tuple[str, ...] | None:
    """Names of measures; None for those that are given to measures without any."""
    if quality is None or quality.measures == tuple(f"q{i + 1}" for i in range(len(quality.measures))):
        return None
    return quality.measures


def quality_sides(quality: Quality, format_name: str) -> tuple[QualitySide, QualitySide, BoolArray | None]:
    """Both sides of quality measures, and the mask of their trials, None if all cells are trials.

    Raises
    ------
    FormatError
        If the sides have different numbers of measures.
    """
    grid = None if quality.trials is None else quality.trials.as_grid()[0]
    tables = (quality.enroll, quality.test)
    counts = {len(table.measures) for table in tables if table is not None}
    if len(counts) != 1:
        listed = " and ".join(map(str, sorted(counts))) or "no"
        raise FormatError(f"{format_name} holds as many measures of models as of segments, but there are {listed}.")
    sides = tuple(_side(table, None if grid is None else grid.names[i], *counts) for i, table in enumerate(tables))
    mask = None
    if grid is not None and (grid.mask is not None or (len(sides[0].names), len(sides[1].names)) != shape_of(grid)):
        mask = np.zeros((len(sides[0].names), len(sides[1].names)), np.bool_)
        rows, columns = shape_of(grid)
        mask[:rows, :columns] = True if grid.mask is None else grid.mask
    return sides[0], sides[1], mask


def _side(table: SegmentQuality | None, trial_names: pa.Array | None, n_measures: int) -> QualitySide:
    known = pa.array([], pa.string()) if table is None else table.names
    first = known if trial_names is None else trial_names
    names = encode(pa.concat_arrays([first, known]))[1]
    values = np.zeros((n_measures, len(names)))
    at = positions(known, names)
    if table is not None:
        values[:, at] = table.values.T
    has = np.zeros(len(names), np.bool_)
    has[at] = True
    return QualitySide(names, values, has, named_measures(table))
