"""What holds for every file of matrices that we write, HDF5 and MATLAB."""

import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deciban.errors import FormatError, InputError
from deciban.io.formats import Contents, by_name
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


def scores_come_back(item, format_name):
    back = come_back(item, format_name).scores
    assert_same_trials(back.trials, item.trials)
    assert_same_bits(back.score, item.score)


def keys_come_back(item, format_name):
    back = come_back(item, format_name).key
    assert_same_trials(back.trials, item.trials)
    assert back.is_target.tolist() == item.is_target.tolist()


def indexes_come_back(trials, format_name):
    back = come_back(Index(trials), format_name)
    assert back.kinds == ("index",)
    assert_same_trials(back.index.trials, trials)


def segment_qualities_come_back(item, format_name):
    assert_same_quality(come_back(item, format_name).segment_quality, item)


def qualities_come_back(item, format_name):
    back = come_back(item, format_name).quality
    assert_same_quality(back.enroll, item.enroll)
    assert_same_quality(back.test, item.test)
    assert (back.trials is None) == (item.trials is None)
    if item.trials is not None:
        assert pairs(back.trials) == pairs(item.trials)


def id_maps_come_back(mapping, format_name):
    back = come_back(IdMap.of(mapping), format_name).id_map
    assert dict(zip(back.left.to_pylist(), back.right.to_pylist(), strict=True)) == mapping


TABLES = [
    (scores_come_back, scores()),
    (keys_come_back, keys()),
    (indexes_come_back, grids()),
    (segment_qualities_come_back, segment_qualities()),
    (qualities_come_back, qualities()),
    (id_maps_come_back, st.dictionaries(name, name, min_size=1, max_size=5)),
]
of_every_table = pytest.mark.parametrize(("check", "items"), TABLES, ids=[check.__name__ for check, _ in TABLES])


@of_every_table
@given(data=st.data())
def test_tables_come_back_from_hdf5(check, items, data):
    check(data.draw(items), "bosaris-hdf5")


@pytest.mark.usefixtures("warm_matlab")
@of_every_table
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_tables_come_back_from_matlab(check, items, data):
    check(data.draw(items), "bosaris-mat")


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
