"""Scores of several systems in one array."""

import numpy as np

from deciban import Scores
from deciban.trials import Index, align_systems
from deciban.trials.sources import stacked


def test_the_matrix_holds_natural_logarithms_and_no_wider_numbers_than_needed():
    index = Index.of({"trial": ["x", "y"]})
    one = Scores(index.trials, np.array([1.0, 2.0], np.float32), "one")
    other = Scores(index.trials, np.array([1.0, -2.0], np.float32), "other")
    matrix = stacked([on.score for on in align_systems([one, other], index)])
    assert matrix.dtype == np.float32
    assert matrix.tolist() == [[1.0, 1.0], [2.0, -2.0]]
    common = Scores.of({"trial": ["y", "x"]}, [1.0, 0.0], log10=True)
    matrix = stacked([on.score for on in align_systems([one, common], index)])
    np.testing.assert_allclose(matrix, [[1.0, 0.0], [2.0, np.log(10.0)]])
