"""Speakers that are found in batches are those that are found in memory."""

import pickle

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban import evaluate_files
from deciban.core.resampling.units import connected
from deciban.engines import Threads
from deciban.engines.units import speakers_by_batch
from deciban.io.partitions.opening import open_trials
from deciban.trials import Key
from deciban.trials.sources import TrialFields
from deciban.trials.speakers import TargetPairs, joining_links
from deciban.trials.units import speakers_of
from support.sources import write


def table_of(rng, n_names, n, *, shared, odd=0.0, channels=False):
    """Trials of speakers with several names each, the same on both sides if ``shared``; some labels are wrong."""
    pairs = rng.permutation(n_names * n_names)[:n]
    enroll, test = np.divmod(pairs, n_names)
    target = (enroll % 7 == test % 7) ^ (rng.random(len(pairs)) < odd)
    other = "" if shared else "t"
    names = {"enroll": [f"{one}" for one in enroll], "test": [f"{other}{one}" for one in test]}
    if channels:
        names["side"] = [str(one) for one in rng.choice(["a", "b"], len(pairs))]
    weight = rng.integers(0, 3, len(pairs))
    weight[0] = 1
    return pa.table(names | {"score": rng.normal(size=len(pairs)), "label": target, "weight": weight})


def in_batches(source, by_name):
    """Score, truth and keys of the speakers of every trial that counts, in an order that is that of their values."""
    found = []
    for partition in source.partitions:
        chunk = partition.read(TrialFields((0,), truth=True, weight=True, names=True))
        some = np.ones(len(chunk.truth), np.bool_) if chunk.weight is None else chunk.weight > 0
        sides = [
            by_name.keys[codes[np.searchsorted(own, names[some])]]
            for codes, own, names in zip(by_name.codes, by_name.names, chunk.names, strict=True)
        ]
        found.append(np.column_stack([chunk.scores[0][some], chunk.truth[some], *(s.astype(float) for s in sides)]))
    rows = np.concatenate(found)
    return rows[np.lexsort(rows.T)]


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([2, 9, 30]),
    st.sampled_from(["shared", "apart", "channels"]),
    st.sampled_from([0.0, 0.05]),
    st.booleans(),
)
@settings(max_examples=20)
def test_speakers_are_those_of_memory(tmp_path_factory, seed, n_names, how, odd, weighted):
    rng, path = np.random.default_rng(seed), tmp_path_factory.mktemp("speakers")
    table = table_of(rng, n_names, 60, shared=how == "shared", odd=odd, channels=how == "channels")
    source = open_trials(write(table, path / "cut", rng), weights="weight" if weighted else None, find_speakers=True)
    sides = [name for name in ("enroll", "test", "side") if name in table.schema.names]
    assert list(source.sides) == sides
    key = Key.of({side: table[side] for side in sides}, table["label"].to_numpy())
    counting = table["weight"].to_numpy() > 0 if weighted else np.ones(len(table), np.bool_)
    expected = speakers_of(key.trials, key.is_target, counting)
    facts, by_name = speakers_by_batch(source, Threads(2))
    keys = [expected.units.keys[side].astype(np.float64)[counting] for side in expected.units.codes]
    rows = np.column_stack([table["score"].to_numpy()[counting], key.is_target[counting], *keys])
    np.testing.assert_array_equal(in_batches(source, by_name), rows[np.lexsort(rows.T)])
    np.testing.assert_array_equal(facts.keys, expected.units.keys)
    assert by_name.apart == expected.by_name.apart
    assert facts.n_contradictions == expected.n_contradictions


@pytest.mark.parametrize("shared", [True, False])
def test_names_of_a_matrix_say_who_is_who(tmp_path, monkeypatch, shared):
    """As in memory, where a mask says the trials."""
    rng = np.random.default_rng(6)
    who, other = rng.integers(0, 8, 30), rng.integers(0, 8, 40)
    mask = np.where(who[:, None] == other, 1, -1) * (rng.random((30, 40)) < 0.7)
    names = [f"m{k}" for k in range(30)], [f"m{k}" if shared and k < 3 else f"t{k}" for k in range(40)]
    for name, values in (("scores", rng.normal(size=(30, 40)) + mask), ("trial_mask", mask.astype(np.int8))):
        with h5py.File(tmp_path / f"{name}.h5", "w") as file:
            file["ID/row_ids"], file["ID/column_ids"], file[name] = *names, values
            if name == "scores":
                file["score_mask"] = (mask != 0).astype(np.uint8)
    files = tmp_path / "scores.h5", tmp_path / "trial_mask.h5"
    results = [evaluate_files(*files)]
    monkeypatch.setattr("deciban.workflows.reading.inputs.memory_of", lambda *_: 1 << 60)
    results.append(evaluate_files(*files, memory=10**8))
    assert ["rows in 1 batch" in "".join(map(str, one.messages)) for one in results] == [False, True]
    whole, found = (one.systems[0].uncertainty for one in results)
    assert (found.source, found.n_units) == (whole.source, whole.n_units)
    source = open_trials(*files, find_speakers=True)
    facts, by_name = speakers_by_batch(source, Threads(2))
    rows, columns = np.nonzero(mask)
    key = Key.of({"enroll": np.array(names[0])[rows], "test": np.array(names[1])[columns]}, mask[rows, columns] == 1)
    expected = speakers_of(key.trials, key.is_target)
    np.testing.assert_array_equal(facts.keys, expected.units.keys)
    assert (facts.n_contradictions, by_name.apart) == (expected.n_contradictions, expected.by_name.apart)


def test_passes_add_up(tmp_path):
    rng = np.random.default_rng(4)
    source = open_trials(write(table_of(rng, 12, 120, shared=True, odd=0.1), tmp_path / "cut", rng), find_speakers=True)
    cut = len(source.partitions) // 2
    parts = [pickle.loads(pickle.dumps(TargetPairs())) for _ in range(2)]  # noqa: S301  # our own
    whole = TargetPairs()
    whole.take(source.partitions)
    parts[0].take(source.partitions[cut:])
    parts[1].take(source.partitions[:cut])
    for apart in (False, True):
        one, other = (pairs.speakers(apart=apart, has_channels=False) for pairs in (whole, parts[0] + parts[1]))
        np.testing.assert_array_equal(one.keys, other.keys)
        for side in (0, 1):
            np.testing.assert_array_equal(one.codes[side], other.codes[side])


@given(st.integers(0, 2**32 - 1))
def test_few_links_join_what_all_join(seed):
    rng = np.random.default_rng(seed)
    links = tuple(rng.integers(0, 15, 40).astype(np.uint64) for _ in range(2))
    few = joining_links(links)
    parts = [connected(one.astype(np.int64), other.astype(np.int64) + 15, 30) for one, other in (links, few)]
    np.testing.assert_array_equal(parts[0][:, None] == parts[0], parts[1][:, None] == parts[1])
    assert len(few[0]) < 30


def test_intervals_need_no_units(tmp_path):
    rng = np.random.default_rng(3)
    table = table_of(rng, 60, 3000, shared=True)
    table = table.set_column(2, "score", pa.array(rng.normal(size=3000) + 2.0 * table["label"].to_numpy()))
    pq.write_table(table, tmp_path / "trials.parquet", row_group_size=700)
    whole = evaluate_files(tmp_path / "trials.parquet")
    found = evaluate_files(pq.read_table(tmp_path / "trials.parquet"))
    one, other = (results.systems[0].interval("eer") for results in (found, whole))
    assert one.n_units == other.n_units == 7
    assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=0.05)
