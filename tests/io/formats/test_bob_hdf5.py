"""Arrays that Bob saves as HDF5, written here by h5py."""

import h5py
import numpy as np
import pytest

from deciban import FormatError
from deciban.io import read_contents

SCORE = [1.5, -2.25, 0.5]


def saved(path, values, name="array"):
    with h5py.File(path, "w") as file:
        file[name] = np.asarray(values)
    return path


@pytest.mark.parametrize("shape", [(3,), (1, 3), (3, 1)])
def test_a_vector_holds_scores_by_row(tmp_path, shape):
    contents = read_contents(saved(tmp_path / "a.hdf5", np.reshape(SCORE, shape)), format="bob-hdf5")
    assert contents.scores.score.tolist() == SCORE
    assert contents.index.trials.sides == ("row",)


def test_what_is_no_vector_of_scores_is_refused(tmp_path):
    cases = [
        ([[1.0, 2.0], [3.0, 4.0]], "array", "expected a vector with a score per trial, got shape"),
        ([], "array", "expected a vector"),
        ([1.0, np.nan], "array", "NaN"),
        ([b"a"], "array", "expected numbers"),
        (SCORE, "scores", "/array"),
    ]
    for values, name, message in cases:
        with pytest.raises(FormatError, match=message):
            read_contents(saved(tmp_path / "a.hdf5", values, name), format="bob-hdf5")
    with pytest.raises(FormatError, match="Leave out columns"):
        read_contents(saved(tmp_path / "a.hdf5", SCORE), format="bob-hdf5", columns="score")
    with pytest.raises(FormatError, match="HDF5, but with an unknown layout"):
        read_contents(tmp_path / "a.hdf5")
