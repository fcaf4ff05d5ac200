"""Rows of summaries as trials: once with their number for a weight, or as often as they occurred."""

import numpy as np
import pytest

from deciban.io.summary_files import PartitionRecord, SummaryHead, count_rows, summary_source, write_summary
from deciban.trials.sources import TrialFields

SCORES, LABELS = np.array([2.0, -1.0, 2.0, 2.0, 0.5]), np.array([True, False, True, False, False])
ALL = TrialFields((0,), truth=True, units=True, weight=True, names=True)


def written(path, units="trials", more=None, **about):
    """A summary of five trials in a file."""
    shard = PartitionRecord(path.name, 5, (3, 2), path.name * 4)
    table = count_rows({"score": SCORES, "label": LABELS, **(more or {})})
    write_summary(SummaryHead(("score",), (), (shard,), units, **about), [table], path)
    return path


@pytest.fixture
def few(monkeypatch):
    """Five trials are many."""
    monkeypatch.setattr("deciban.io.summary_files._WORTHWHILE", 1)


def test_rows_are_repeated_where_they_are_nearly_as_many_as_trials(tmp_path):
    source = summary_source([written(tmp_path / "s")], units="")
    assert (source.n_rows, source.has_weights, source.has_units) == (5, False, False)


@pytest.mark.usefixtures("few")
def test_rows_stand_once_where_trials_need_not_be_told_apart(tmp_path):
    source = summary_source([written(tmp_path / "s")], units="")
    assert (source.n_rows, source.has_weights, source.weights_are_counts, source.has_units) == (4, True, True, False)
    (partition,) = source.partitions
    chunk = partition.read(ALL)
    assert chunk.scores[0].tolist() == [-1.0, 0.5, 2.0, 2.0]
    assert chunk.truth.tolist() == [False, False, False, True]
    assert chunk.weight.tolist() == [1, 1, 1, 2]
    assert chunk.units is None
    assert source.report.matched == 5


def test_rows_stand_as_often_as_they_occurred_where_every_trial_is_a_unit(tmp_path):
    paths = [written(tmp_path / "s"), written(tmp_path / "t")]
    source = summary_source(paths)
    assert (source.n_rows, source.has_weights, source.has_units, source.are_units) == (10, False, True, True)
    chunks = [partition.read(ALL) for partition in source.partitions]
    for chunk in chunks:
        assert chunk.scores[0].tolist() == [-1.0, 0.5, 2.0, 2.0, 2.0]
        assert chunk.weight is None
    assert len({key for chunk in chunks for key in chunk.units.keys.tolist()}) == 10


@pytest.mark.parametrize("most", [1, 2, 3, 7])
def test_many_equal_trials_are_read_a_few_at_a_time(tmp_path, monkeypatch, most):
    monkeypatch.setattr("deciban.io.summary_files._MOST_TRIALS", most)
    source = summary_source([written(tmp_path / "s"), written(tmp_path / "t")])
    assert max(partition.n_rows for partition in source.partitions) <= most
    found = np.concatenate([partition.read(ALL).scores[0] for partition in source.partitions])
    assert found.tolist() == 2 * np.sort(SCORES).tolist()
    keys = np.concatenate([partition.read(ALL).units.keys for partition in source.partitions])
    assert len(set(keys.tolist())) == 10


@pytest.mark.usefixtures("few")
def test_units_that_were_named_are_those_of_the_rows(tmp_path):
    keys = {"unit enroll": np.array([5, 6, 5, 7, 9], np.uint64), "unit test": np.array([9, 5, 9, 7, 8], np.uint64)}
    path = written(tmp_path / "s", "named", keys, n_sides=2, noun="unit", source="by column 'spk'")
    source = summary_source([path])
    assert (source.has_units, source.are_units, source.weights_are_counts) == (True, False, True)
    chunk = source.partitions[0].read(ALL)
    found = [tuple(chunk.units.keys[side].tolist()) for side in chunk.units.codes]
    assert found == [(6, 9, 7, 5), (5, 8, 7, 9)]
    assert (chunk.units.noun, chunk.units.source) == ("unit", "by column 'spk'")
    assert summary_source([path], units="trials").are_units
    assert not summary_source([path], units="").has_units


def test_names_are_those_of_both_sides(tmp_path):
    keys = {"unit enroll": np.arange(5, dtype=np.uint64), "unit test": np.arange(5, 10, dtype=np.uint64)}
    source = summary_source([written(tmp_path / "s", "names", keys, n_sides=2)])
    assert source.sides == ("enroll", "test")
    enroll, test = source.partitions[0].read(ALL).names
    assert (test - enroll).tolist() == [5] * 5


def test_weights_of_trials_are_theirs(tmp_path):
    path = written(tmp_path / "s", more={"weight": np.array([0.5, 1.0, 0.5, 2.0, 0.0])}, weights="w")
    source = summary_source([path], units="")
    assert source.n_rows == 5
    assert not source.weights_are_counts
    assert source.partitions[0].read(ALL).weight.tolist() == [1.0, 0.0, 2.0, 0.5, 0.5]
