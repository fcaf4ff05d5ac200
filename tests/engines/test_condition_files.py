"""Trials sorted by condition into files: the same trials, read once from where they are."""

import errno
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban import FormatError, InputError
from deciban.core.resampling.units import TrialUnits
from deciban.engines import Threads
from deciban.engines.units import (
    ConditionWeights,
    look_at_conditions,
    of_condition,
    sorted_by_condition,
    weighted_by_condition,
)
from deciban.trials.sources import Batch, SourcePartition, TrialFields, TrialSource

ALL = TrialFields((0,), truth=True, units=True, weight=True)


@dataclass
class Held(SourcePartition):
    """Trials in memory, which count how often they are read."""

    rows: tuple
    name: str = "held"
    n_read: int = 0

    def __post_init__(self):
        self.n_rows = len(self.rows)

    def read(self, wanted):
        self.n_read += 1
        code, truth, weight = (np.array([one[at] for one in self.rows], np.int64) for at in range(3))
        scores = np.array([one[3] for one in self.rows], np.float32)
        keys = np.arange(10, 14, dtype=np.uint64)
        units = TrialUnits((truth * 2 + code % 2,), keys, "speaker", "column") if wanted.units else None
        values = pa.array(["a", "b", "c"])
        return Batch((scores,) * len(wanted.systems), truth == 1, units, weight, conditions=((code, values),))


class Split:
    """By the only column."""

    def of(self, chunk, _name):
        codes, known = chunk.conditions[0]
        used, place = np.unique(codes, return_inverse=True)
        return [((*known.to_pylist(), None)[one],) for one in used.tolist()], place.reshape(-1)

    def require_few(self, _found):
        return None


def source_of(parts):
    return TrialSource("trials", tuple(Held(tuple(rows), f"piece {at}") for at, rows in enumerate(parts)), ("A",))


def trials(source, wanted=ALL):
    """What is known of the trials of a source, in no order."""
    found = []
    for partition in source.partitions:
        chunk = partition.read(wanted)
        units = chunk.units.keys[chunk.units.codes[0]]
        stratum = np.zeros(len(units)) if chunk.stratum is None else chunk.stratum
        found += zip(*map(np.ndarray.tolist, (chunk.scores[0], chunk.truth, chunk.weight, units, stratum)), strict=True)
    return sorted(found)


def rows(**size):
    score = st.sampled_from([-np.inf, -1.0, 0.0, 1.5, np.inf])
    return st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1), st.integers(0, 2), score), **size)


@settings(max_examples=30, deadline=None)
@given(st.lists(rows(max_size=6), min_size=1, max_size=4))
def test_conditions_have_the_trials_that_they_have_in_the_source(parts):
    source, engine, split = source_of(parts), Threads(2), Split()
    (facts,) = look_at_conditions(source, engine, [split], 2)
    sorted_source = sorted_by_condition(source, engine, split, 0, TrialFields(units=True))
    assert sorted_source.places.keys() == facts.keys()
    weights = ConditionWeights(
        split, {one: at for at, one in enumerate(facts)}, np.arange(8.0).reshape(4, 2), np.arange(8).reshape(4, 2)
    )
    wanted = {one: trials(of_condition(source, split, [one], facts[one])) for one in facts}
    weighted, before = trials(weighted_by_condition(source, weights)), [one.n_read for one in source.partitions]
    assert {one: trials(sorted_source.of_condition([one])) for one in facts} == wanted
    assert trials(sorted_source.weighted(weights)) == weighted
    assert [one.n_read for one in source.partitions] == before


def test_what_is_not_asked_for_is_not_given():
    source = sorted_by_condition(source_of([[(0, 1, 1, 2.0)]]), Threads(1), Split(), 0, TrialFields()).of_condition(
        [("a",)]
    )
    chunk = source.partitions[0].read(TrialFields(()))
    assert (chunk.scores, chunk.truth, chunk.units, chunk.weight, chunk.conditions) == ((), None, None, None, None)


def test_the_folder_goes_with_the_trials_and_damage_is_told():
    made = sorted_by_condition(source_of([[(0, 1, 1, 2.0)]]), Threads(1), Split(), 0, TrialFields())
    partition, folder = made.of_condition([("a",)]).partitions[0], made.folder
    (folder / "000000").write_bytes(b"")
    with pytest.raises(FormatError, match="temporary rows of piece 0: changed"):
        partition.read(ALL)
    del made
    assert not folder.exists()


def test_a_full_disk_leaves_nothing(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("deciban.engines.units.pickle.dump", full)
    with pytest.raises(OSError, match="no space for temporary files"):
        sorted_by_condition(source_of([[(0, 1, 1, 2.0)]]), Threads(1), Split(), 0, TrialFields())
    assert not list(tmp_path.iterdir())


def test_errors_of_the_split_leave_nothing(tmp_path, monkeypatch):
    def refuse(*_):
        raise InputError("no")

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(Split, "of", refuse)
    with pytest.raises(InputError, match="no"):
        sorted_by_condition(source_of([[(0, 1, 1, 2.0)]]), Threads(1), Split(), 0, TrialFields())
    assert not list(tmp_path.iterdir())
