"""HDF5 files of sidekit. Read only.

At the root: ``modelset`` (m names) and ``segset`` (n names), bytes of fixed length; then either ``scores`` (m x n) with
``score_mask`` (int8, 0/1), or ``trial_mask`` (int8): of a key +1 target, -1 non-target and 0 no trial, of an index 1
and 0.
Datasets are usually packed with gzip and have fletcher32 sums.

A mask with a -1 is a key, one without is an index. A file is recognized by ``modelset`` and ``segset`` at its root.
"""

from __future__ import annotations

from deciban.io.contents import Contents
from deciban.io.format import BinaryFormat, Options
from deciban.io.matrices.hdf5 import opened, places, present
from deciban.io.matrices.hdf5_arrays import read_names, scores_or_mask
from deciban.io.matrices.to_tables import Grid
from deciban.io.source import Source

NAME = "sidekit"
_NAMES = places("/modelset", "/segset")


def _recognizes(source: Source) -> bool:
    return present(source) >= _NAMES


def _read(source: Source, options: Options) -> Contents:
    with opened(source) as file:
        models, segments = read_names(file, "/modelset"), read_names(file, "/segset")
        return scores_or_mask(file, Grid(file.name, NAME, models, segments, options))


FORMAT = BinaryFormat(
    name=NAME,
    summary="sidekit HDF5: index, key and scores",
    reads=("scores", "key", "index"),
    recognizes=_recognizes,
    read=_read,
)
