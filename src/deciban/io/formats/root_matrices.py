"""HDF5 files with names and matrices at their root: sidekit, DCA-PLDA, PyBOSARIS. Read only.

=========  ===========================================================================================================
sidekit    ``modelset`` (m names) and ``segset`` (n names), bytes of fixed length; then either ``scores`` (m x n) with
           ``score_mask`` (int8, 0/1), or ``trial_mask`` (int8): of a key +1 target, -1 non-target and 0 no trial, of
           an index 1 and 0. A mask with a -1 is a key, one without is an index. Datasets are usually packed with gzip
           and have fletcher32 sums
dca-plda   ``enroll_ids`` (in old files ``train_ids``) with m names, ``test_ids`` with n names, and ``trial_mask`` as
           above. A file with ``scores`` (m x n, and an optional ``score_mask``) instead is read as scores; that layout
           is unverified
pybosaris  ``model_names`` (m) and ``test_names`` (n), then either ``score_mat`` (m x n; all cells are trials unless a
           ``score_mask`` of 0/1 says otherwise), or ``tar_mask`` and ``non_mask`` (m x n, 0/1)
=========  ===========================================================================================================

A file is recognized by its two lists of names.
"""

from __future__ import annotations

from deciban.errors import FormatError
from deciban.io.contents import Contents
from deciban.io.formats import Options
from deciban.io.matrices.hdf5 import opened, places, present
from deciban.io.matrices.hdf5_arrays import optional, read_mask, read_matrix, read_names, scores_or_mask
from deciban.io.matrices.named_matrix import Grid
from deciban.io.source import Source

_SIDEKIT = places("/modelset", "/segset")
_TEST, _ENROLL = places("/test_ids"), places("/enroll_ids", "/train_ids")
_PYBOSARIS = places("/model_names", "/test_names")


def is_sidekit(source: Source) -> bool:
    """Whether the names lie where sidekit keeps them."""
    return present(source) >= _SIDEKIT


def read_sidekit(source: Source, options: Options) -> Contents:
    """Read an index, a key or scores of sidekit."""
    with opened(source) as file:
        models, segments = read_names(file, "/modelset"), read_names(file, "/segset")
        return scores_or_mask(file, Grid(file.name, "sidekit", models, segments, options))


def is_dca_plda(source: Source) -> bool:
    """Whether the names lie where DCA-PLDA keeps them."""
    there = present(source)
    return there >= _TEST and bool(there & _ENROLL)


def read_dca_plda(source: Source, options: Options) -> Contents:
    """Read an index, a key or scores of DCA-PLDA."""
    with opened(source) as file:
        if file.has("/enroll_ids") and file.has("/train_ids"):
            raise FormatError(
                f"{file.name}: holds enroll_ids and train_ids, old and new names of the same. Delete one."
            )
        models = read_names(file, "/train_ids" if file.has("/train_ids") else "/enroll_ids")
        return scores_or_mask(file, Grid(file.name, "dca-plda", models, read_names(file, "/test_ids"), options))


def is_pybosaris(source: Source) -> bool:
    """Whether the names lie where PyBOSARIS keeps them."""
    return present(source) >= _PYBOSARIS


def read_pybosaris(source: Source, options: Options) -> Contents:
    """Read a key or scores of PyBOSARIS."""
    with opened(source) as file:
        models, segments = read_names(file, "/model_names"), read_names(file, "/test_names")
        grid = Grid(file.name, "pybosaris", models, segments, options)
        is_key = file.has("/tar_mask") or file.has("/non_mask")
        if file.has("/score_mat") and is_key:
            raise FormatError(f"{file.name}: holds scores and masks of a key at once; expected one of them.")
        if is_key:
            return grid.key(read_matrix(file, "/tar_mask"), read_matrix(file, "/non_mask"))
        return grid.scores(read_matrix(file, "/score_mat"), optional(read_mask, file, "/score_mask"))
