"""Quality measures from files: which side they belong to, what is missing, what is refused."""

import numpy as np
import pytest

from deciban import FormatError, InputError
from deciban.io import write
from deciban.trials import Quality, SegmentQuality, Trials
from deciban.workflows.reading.quality import measures_of, read_measures

PAIRS = Trials.of({"enroll": ["m", "n", "m"], "test": ["x", "y", "z"]})


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "q.txt"
    path.write_text("2\nx 1 10\ny 2 20\n")
    return path


def test_text_belongs_to_the_sides_whose_names_it_knows(text):
    found, facts = measures_of(read_measures(text), PAIRS)
    np.testing.assert_array_equal(found.pop("test_quality"), [[1.0, 10.0], [2.0, 20.0], [np.nan, np.nan]])
    assert not found
    assert str(facts[0]).endswith("test: q1, q2   2 names")
    assert str(facts[1]) == "note  1 of 3 trials without quality measures are fused by scores alone"
    single, _ = measures_of(read_measures(text), Trials.of({"trial": ["y", "x"]}))
    assert {name: values.tolist() for name, values in single.items()} == {"trial_quality": [[2.0, 20.0], [1.0, 10.0]]}


@pytest.mark.parametrize("ending", [".h5", ".mat"])
def test_matrices_hold_both_sides(ending, tmp_path):
    path = tmp_path / f"q{ending}"
    quality = Quality(SegmentQuality.of(["n", "m"], [0.5, 0.25]), SegmentQuality.of(["x", "y", "z"], [1.0, 2.0, 3.0]))
    write(quality, path)
    found, facts = measures_of(read_measures(path), PAIRS)
    assert found["enroll_quality"].tolist() == [[0.25], [0.5], [0.25]]
    assert found["test_quality"].tolist() == [[1.0], [2.0], [3.0]]
    assert len(facts) == 2
    only, _ = measures_of(read_measures(path), PAIRS, sides=("test_quality",))
    assert set(only) == {"test_quality"}


def test_a_file_for_each_side(text, tmp_path):
    (tmp_path / "models.txt").write_text("1\nm 7\nn 8\n")
    measured = read_measures({"enroll": tmp_path / "models.txt", "test": text})
    found, _ = measures_of(measured, PAIRS)
    assert found["enroll_quality"].tolist() == [[7.0], [8.0], [7.0]]
    assert found["test_quality"].shape == (3, 2)


def test_what_is_refused(text, tmp_path):
    with pytest.raises(InputError, match=r"expected a file, or files of enroll, test, trial"):
        read_measures({"both": text})
    others = Trials.of({"enroll": ["a"], "test": ["b"]})
    with pytest.raises(InputError, match=r"no quality measures of enroll or test for any trial of .* \(a, b\)"):
        measures_of(read_measures(text), others)
    with pytest.raises(InputError, match=r"no quality measures of test for any trial"):
        measures_of(read_measures(text), others, sides=("test_quality",))
    with pytest.raises(InputError, match=r"no quality measures of enroll for any trial"):
        measures_of(read_measures({"enroll": text, "test": text}), PAIRS)
    with pytest.raises(InputError, match=r"measures of trial, but the sides of .* are enroll and test"):
        measures_of(read_measures({"trial": text}), PAIRS)
    with pytest.raises(InputError, match=r"no quality measures of enroll for any trial"):
        measures_of(read_measures({"test": text}), PAIRS, sides=("enroll_quality", "test_quality"))
    write(Quality(None, SegmentQuality.of(["x"], [1.0])), tmp_path / "q.h5")
    with pytest.raises(FormatError, match=r"q\.h5: contains quality measures of test, not of enroll"):
        read_measures({"enroll": tmp_path / "q.h5"})
