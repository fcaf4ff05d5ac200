"""What the process makes of the fields that scipy reads."""

import numpy as np
import pytest

from deciban.io.matrices.matlab5_process import text_of, value_of


def cell(*texts):
    found = np.empty((len(texts), 1), np.object_)
    for at, text in enumerate(texts):
        found[at, 0] = np.array(list(text))
    return found


def test_matrices_of_numbers_stay_and_cells_become_texts():
    matrix = np.array([[1.0, -2.0]])
    assert value_of(matrix) is matrix
    assert value_of(cell("ann", "Øystein")) == ["ann", "Øystein"]
    assert text_of(cell("ann")) == "ann", "a cell within a cell"


@pytest.mark.parametrize(
    ("field", "words"),
    [
        (np.array(["text"]), "text, expected cellstr"),
        (np.zeros(1, [("a", "f8")]), "a struct"),
        (np.array([[1 + 1j]]), "a ndarray"),
        (np.array([[np.array([[1.0]])]], np.object_), "a cell that does not contain one line of text"),
        (cell("a\ufffdb"), "bytes that are not characters"),
    ],
)
def test_anything_else_is_told_in_words(field, words):
    assert words in value_of(field)
