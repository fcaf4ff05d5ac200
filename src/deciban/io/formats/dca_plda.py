"""HDF5 files of DCA-PLDA. Read only.

At the root: ``enroll_ids`` (in old files ``train_ids``) with m names, ``test_ids`` with n names, and ``trial_mask``
(m x n): +1 target, -1 non-target, 0 no trial; a mask without any -1 is read as an index. A file with ``scores`` (m x n,
and an optional ``score_mask`` of 0 and 1) instead is read as scores; that layout is unverified.

A file is recognized by ``test_ids`` and ``enroll_ids`` or ``train_ids`` at its root.
"""

from __future__ import annotations

from deciban.errors import FormatError
from deciban.io.contents import Contents
from deciban.io.format import BinaryFormat, Options
from deciban.io.matrices.hdf5 import opened, places, present
from deciban.io.matrices.hdf5_arrays import read_names, scores_or_mask
from deciban.io.matrices.to_tables import Grid
from deciban.io.source import Source

NAME = "dca-plda"
_TEST, _ENROLL = places("/test_ids"), places("/enroll_ids", "/train_ids")


def _recognizes(source: Source) -> bool:
    there = present(source)
    return there >= _TEST and bool(there & _ENROLL)


def _read(source: Source, options: Options) -> Contents:
    with opened(source) as file:
        if file.has("/enroll_ids") and file.has("/train_ids"):
            raise FormatError(
                f"{file.name}: holds enroll_ids and train_ids, old and new names of the same. Delete one."
            )
        models = read_names(file, "/train_ids" if file.has("/train_ids") else "/enroll_ids")
        return scores_or_mask(file, Grid(file.name, NAME, models, read_names(file, "/test_ids"), options))


FORMAT = BinaryFormat(
    name=NAME,
    summary="DCA-PLDA HDF5: key and index; scores unverified",
    reads=("key", "index", "scores"),
    recognizes=_recognizes,
    read=_read,
)
