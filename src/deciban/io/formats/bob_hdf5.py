"""Score arrays that Bob saves as HDF5: one dataset ``/array``, as its function ``save`` writes every array.

The intermediate scores of score normalization are such files: the scores of one model, (n,), (1, n) or (n, 1). Trials
have no names there and are known by their rows. The name of the dataset is from memory, so that the format is never
guessed.
"""

from __future__ import annotations

import numpy as np

from deciban.errors import FormatError
from deciban.io.arrays.checked import as_scores
from deciban.io.contents import Contents
from deciban.io.formats import Options
from deciban.io.matrices.hdf5 import opened
from deciban.io.matrices.hdf5_arrays import read_array
from deciban.io.source import Source
from deciban.trials import Index, Origin, Trials


def read(source: Source, options: Options) -> Contents:
    """Read a file of this format."""
    if options.columns is not None:
        raise FormatError(f"{source.name}: a vector has one column, the score. Leave out --columns.")
    with opened(source) as file:
        values = read_array(file, "/array")
    if values.size == 0 or max(values.shape) != values.size:
        raise FormatError(
            f"{source.name}, /array: expected a vector with a score per trial, got shape {values.shape}. Of a matrix "
            "nothing says what its rows are: save it as .npz with enroll_names and test_names, or as .npy."
        )
    origin = Origin(source.name, f"bob-hdf5, {values.dtype} of shape {values.shape}")
    trials = Trials.of_rows(values.size, origin=origin)
    score = np.ascontiguousarray(as_scores(values.ravel(), source.name))
    system = options.system(trials, score, options.name or "system")
    return Contents(origin=origin, index=Index(trials), systems=(system,))
