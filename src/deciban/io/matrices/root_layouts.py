"""Files that hold scores or a mask of trials, as several programs lay them out at the root of an HDF5 file."""

from __future__ import annotations

from deciban.errors import FormatError
from deciban.io.contents import Contents
from deciban.io.matrices.hdf5 import Hdf5
from deciban.io.matrices.hdf5_arrays import optional_mask, read_mask, read_matrix
from deciban.io.matrices.to_tables import Grid


def scores_or_mask(file: Hdf5, grid: Grid) -> Contents:
    """``/scores`` with an optional ``/score_mask``, or ``/trial_mask``.

    Raises
    ------
    FormatError
        If the file holds both, or neither.
    """
    if file.has("/scores") and file.has("/trial_mask"):
        raise FormatError(f"{file.name}: holds scores and a trial_mask at once; expected one of them.")
    if file.has("/scores"):
        return grid.scores(read_matrix(file, "/scores"), optional_mask(file, "/score_mask"))
    return grid.trial_mask(read_mask(file, "/trial_mask"), is_key=None)
