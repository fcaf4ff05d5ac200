"""Quality measures: by name, for each side of every trial."""

import numpy as np
import pyarrow as pa
import pytest

from deciban import InputError
from deciban.trials import IdMap, Origin, Quality, SegmentQuality, Trials
from deciban.trials.joining.join import concatenate

TRIALS = Trials.of({"enroll": ["m", "n", "m"], "test": ["x", "y", "z"]})
MODELS = SegmentQuality.of(["n", "m", "unused"], [[1.0, 10.0], [2.0, 20.0], [9.0, 90.0]], measures=["snr", "length"])
SEGMENTS = SegmentQuality.of(["z", "x"], [[3.0, 30.0], [4.0, 40.0]], measures=["snr", "length"])


def test_measures_are_found_by_name():
    values, present = MODELS.align(TRIALS, "enroll")
    assert (values.tolist(), present.tolist()) == ([[2, 20], [1, 10], [2, 20]], [True] * 3)
    values, present = SEGMENTS.align(TRIALS, "test")
    assert (values.tolist(), present.tolist()) == ([[4, 40], [0, 0], [3, 30]], [True, False, True])
    values, present = SEGMENTS.align(Trials.of({"trial": ["x"]}), "trial")
    assert (values.tolist(), present.tolist()) == ([[4, 40]], [True])
    with pytest.raises(InputError, match="side: trials of trials are identified by enroll, test, not by 'trial'"):
        SEGMENTS.align(TRIALS, "trial")


def test_a_grid_has_the_same_measures():
    grid = Trials.of_grid(["m", "n"], ["x", "y"], np.array([[True, False], [True, True]]))
    assert MODELS.align(grid, "enroll")[0][:, 0].tolist() == [2, 1, 1]
    assert SEGMENTS.align(grid, "test")[1].tolist() == [True, True, False]


def test_both_sides():
    aligned = Quality(MODELS, SEGMENTS).align(TRIALS)
    assert aligned.enroll.tolist() == MODELS.align(TRIALS, "enroll")[0].tolist()
    assert aligned.test.tolist() == SEGMENTS.align(TRIALS, "test")[0].tolist()
    assert aligned.present.tolist() == [True, False, True]
    assert aligned.trials is TRIALS
    one = Quality(MODELS, None).align(TRIALS)
    assert (one.test, one.present.tolist()) == (None, [True] * 3)


def test_select():
    assert MODELS.select(["length", "snr"]).values.tolist() == [[10, 1], [20, 2], [90, 9]]
    assert MODELS.select("snr").measures == ("snr",)
    assert Quality(MODELS, None).select(["snr"]).enroll.values.tolist() == [[1], [2], [9]]
    for measures, said in [
        (["snr", "age"], "quality: no measure 'age'; the measures are snr, length"),
        (["snr", "snr"], "2 measures need 2 distinct names"),
        ([], "0 measures need 0 distinct names"),
    ]:
        with pytest.raises(InputError, match=said):
            MODELS.select(measures)


def test_weighted_sums():
    matrix = [[1.0, 0.5], [0.0, -1.0], [2.0, 0.0]]
    combined = MODELS.combine_measures(matrix)
    assert combined.values.tolist() == [[6, -10, 2], [12, -20, 4], [54, -90, 18]]
    assert combined.measures == ("q1", "q2", "q3")
    both = Quality(MODELS, SEGMENTS).combine_measures([[1.0, 0.0]], measures=["best"])
    assert (both.enroll.values.tolist(), both.test.measures) == ([[1], [2], [9]], ("best",))
    for matrix, said in [
        ([[1.0]], "expected one row per new measure of 2 weights, one for each of snr, length; got shape"),
        ([1.0, 2.0], "expected one row per new measure"),
        (np.empty((0, 2)), "expected one row per new measure"),
        ([[1.0, np.inf]], "a weight is not finite"),
        ([["1", "2"]], "matrix: expected real numbers"),
        ([[1e308, 1e308]], "a quality measure of 'n' is not finite"),
    ]:
        with pytest.raises(InputError, match=said):
            MODELS.combine_measures(matrix)


def test_values_belong_to_the_names_as_listed_whatever_dictionary_they_have():
    names = pa.DictionaryArray.from_arrays(pa.array([2, 0]), pa.array(["a", "unused", "c"]))
    quality = SegmentQuality.of(names, [1.0, 2.0])
    assert (quality.names.to_pylist(), quality.values.tolist(), len(quality)) == (["c", "a"], [[1], [2]], 2)


@pytest.mark.parametrize(
    ("names", "values", "measures", "said"),
    [
        (["a", "b", "a"], [1.0, 2.0, 3.0], None, "q.h5: 'a' has more than one line of quality measures"),
        (["a", "b"], [1.0], None, r"q.h5: expected one row of measures for each of 2 names, got \(1, 1\)"),
        (["a"], [[[1.0]]], None, "q.h5: expected one row of measures"),
        (["a"], [[]], None, "q.h5: expected one row of measures"),
        (["a", "b"], [[1.0, 2.0], [1.0, np.nan]], None, "q.h5: a quality measure of 'b' is not finite"),
        (["a"], [[1.0, 2.0]], ["q"], "measures: 2 measures need 2 distinct names"),
        (["a"], [[1.0, 2.0]], ["q", "q"], "measures: 2 measures need 2 distinct names"),
        (["a"], ["1"], None, "values: expected real numbers"),
        (["a", "b"], [[1.0], [1.0, 2.0]], None, "values: cannot be read as an array"),
    ],
)
def test_what_is_no_quality(names, values, measures, said):
    with pytest.raises(InputError, match=said):
        SegmentQuality.of(names, values, measures=measures, origin=Origin("q.h5"))


def test_names_are_kept_and_dropped():
    quality = SegmentQuality.of(["a", "b", "c"], [1.0, 2.0, 3.0])
    assert quality.keep(["c", "a", "z"]).names.to_pylist() == ["a", "c"]
    assert quality.drop("b").values.tolist() == [[1], [3]]
    both = Quality(quality, None)
    assert both.keep(enroll="a").enroll.values.tolist() == [[1]]
    assert both.drop(enroll=["a"]).enroll.values.tolist() == [[2], [3]]
    with pytest.raises(InputError, match="none of 3 names is left"):
        quality.keep("z")
    with pytest.raises(InputError, match="test: this side has no quality measures"):
        both.keep(test="a")


def test_quality_and_id_maps_one_after_another():
    one, other = SegmentQuality.of(["a", "b"], [1.0, 2.0]), SegmentQuality.of(["b", "c"], [2.0, 3.0])
    joined = concatenate([one, other])
    assert (joined.names.to_pylist(), joined.values.tolist()) == (["a", "b", "c"], [[1], [2], [3]])
    with pytest.raises(InputError, match="'b' has two different lines of quality measures"):
        concatenate([one, SegmentQuality.of(["b"], [5.0])])
    with pytest.raises(InputError, match="the quality measures differ"):
        concatenate([one, SegmentQuality.of(["b"], [5.0], measures=["snr"])])
    maps = concatenate([IdMap.of({"a": "x"}), IdMap.of({"a": "x", "b": "y"})])
    assert (maps.left.to_pylist(), maps.right.to_pylist()) == (["a", "b"], ["x", "y"])
    with pytest.raises(InputError, match="'a' is mapped to 'x' and to 'y'"):
        concatenate([IdMap.of({"a": "x"}), IdMap.of({"a": "y"})])
