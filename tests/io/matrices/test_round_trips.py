"""What holds for every file of matrices that we write, HDF5 and MATLAB."""

import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.errors import FormatError, InputError
from deciban.io.contents import Contents
from deciban.io.formats import by_name
from deciban.trials import IdMap, Index, Key, Scores
from support.hdf5_files import (
    again,
    assert_same_bits,
    assert_same_quality,
    assert_same_trials,
    grids,
    keys,
    name,
    pairs,
    qualities,
    scores,
    segment_qualities,
    written,
)

each_format = pytest.mark.parametrize("format_name", ["bosaris-hdf5", "bosaris-mat"])


def come_back(item, format_name):
    """The contents of a file that this table was written to."""
    with tempfile.TemporaryDirectory() as folder:
        return again(Path(folder), item, format_name)


@each_format
@given(item=scores())
def test_scores_come_back(format_name, item):
    back = come_back(item, format_name).scores
    assert_same_trials(back.trials, item.trials)
    assert_same_bits(back.score, item.score)


@each_format
@given(item=keys())
def test_keys_come_back(format_name, item):
    back = come_back(item, format_name).key
    assert_same_trials(back.trials, item.trials)
    assert back.is_target.tolist() == item.is_target.tolist()


@each_format
@given(trials=grids())
def test_indexes_come_back(format_name, trials):
    back = come_back(Index(trials), format_name)
    assert back.kinds == ("index",)
    assert_same_trials(back.index.trials, trials)


@each_format
@given(item=segment_qualities())
def test_segment_qualities_come_back(format_name, item):
    assert_same_quality(come_back(item, format_name).segment_quality, item)


@each_format
@given(item=qualities())
def test_qualities_come_back(format_name, item):
    back = come_back(item, format_name).quality
    assert_same_quality(back.enroll, item.enroll)
    assert_same_quality(back.test, item.test)
    assert (back.trials is None) == (item.trials is None)
    if item.trials is not None:
        assert pairs(back.trials) == pairs(item.trials)


@each_format
@given(mapping=st.dictionaries(name, name, min_size=1, max_size=5))
def test_id_maps_come_back(format_name, mapping):
    back = come_back(IdMap.of(mapping), format_name).id_map
    assert dict(zip(back.left.to_pylist(), back.right.to_pylist(), strict=True)) == mapping


@each_format
def test_common_logarithms_are_not_written_but_a_way_out_is_named(format_name):
    with pytest.raises(FormatError, match=r"with Scores\.in_nats\(\), or choose parquet\.$"):
        written(Scores.of({"enroll": ["m"], "test": ["a"]}, [1.0], log10=True), format_name)


@each_format
def test_a_key_of_other_trials_is_refused_even_if_it_is_not_written(format_name):
    found = Scores.of({"enroll": ["m", "m"], "test": ["a", "b"]}, [1.0, 2.0])
    key = Key.of({"enroll": ["m", "m"], "test": ["b", "a"]}, [True, False])
    contents = Contents(origin=found.trials.origin, index=found.index, systems=(found,), key=key)
    with pytest.raises(InputError, match="Align them first"):
        by_name(format_name).write(contents, io.BytesIO())
