"""HDF5 files of PyBOSARIS. Read only.

At the root: ``model_names`` (m) and ``test_names`` (n), then either ``score_mat`` (m x n; all cells are trials unless a
``score_mask`` of 0/1 says otherwise), or ``tar_mask`` and ``non_mask`` (m x n, 0/1).

A file is recognized by ``model_names`` and ``test_names`` at its root.
"""

from __future__ import annotations

from deciban.errors import FormatError
from deciban.io.contents import Contents
from deciban.io.format import BinaryFormat, Options
from deciban.io.matrices.hdf5 import opened, places, present
from deciban.io.matrices.hdf5_arrays import optional_mask, read_matrix, read_names
from deciban.io.matrices.to_tables import Grid
from deciban.io.source import Source

NAME = "pybosaris"
_NAMES = places("/model_names", "/test_names")


def _recognizes(source: Source) -> bool:
    return present(source) >= _NAMES


def _read(source: Source, options: Options) -> Contents:
    with opened(source) as file:
        models, segments = read_names(file, "/model_names"), read_names(file, "/test_names")
        grid = Grid(file.name, NAME, models, segments, options)
        is_key = file.has("/tar_mask") or file.has("/non_mask")
        if file.has("/score_mat") and is_key:
            raise FormatError(f"{file.name}: holds scores and masks of a key at once; expected one of them.")
        if is_key:
            return grid.key(read_matrix(file, "/tar_mask"), read_matrix(file, "/non_mask"))
        return grid.scores(read_matrix(file, "/score_mat"), optional_mask(file, "/score_mask"))


FORMAT = BinaryFormat(
    name=NAME, summary="PyBOSARIS HDF5: key and scores", reads=("scores", "key"), recognizes=_recognizes, read=_read
)
