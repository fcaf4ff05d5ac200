"""Speakers that are found in pieces are those that are found in memory."""

import pickle

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban import evaluate_files
from deciban.engines.speakers import Contradictions, Links, Who, with_speakers
from deciban.engines.threads import Threads
from deciban.io.shards.opening import open_shards
from deciban.trials import Key
from deciban.trials.units import speakers_of
from support.sources import gathered, write


def table_of(rng, n_names, n, *, shared, odd=0.0):
    """Trials of speakers with several names each, the same on both sides if ``shared``; some labels are wrong."""
    pairs = rng.permutation(n_names * n_names)[:n]
    enroll, test = np.divmod(pairs, n_names)
    target = (enroll % 7 == test % 7) ^ (rng.random(n) < odd)
    other = "" if shared else "t"
    names = {"enroll": [f"{one}" for one in enroll], "test": [f"{other}{one}" for one in test]}
    return pa.table(names | {"score": rng.normal(size=n), "label": target})


@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 9, 30]), st.booleans(), st.sampled_from([0.0, 0.05]))
@settings(max_examples=40)
def test_speakers_are_those_of_memory(tmp_path_factory, seed, n_names, shared, odd):
    rng, path = np.random.default_rng(seed), tmp_path_factory.mktemp("speakers")
    table = table_of(rng, n_names, min(60, n_names**2), shared=shared, odd=odd)
    source = open_shards(write(table, path / "cut", rng), find_speakers=True)
    assert source.finds_speakers
    assert not source.has_units
    key = Key.of({side: table[side] for side in ("enroll", "test")}, table["label"].to_numpy())
    expected = speakers_of(key.trials, key.is_target)
    found = with_speakers(source, Threads(2))
    units = expected.units
    keys = [units.keys[side].astype(np.float64) for side in units.codes]
    rows = np.column_stack([table["score"].to_numpy(), key.is_target.astype(np.float64), *keys])
    np.testing.assert_array_equal(gathered(found, units=True), rows[np.lexsort(rows.T)])
    assert any("taken for others" in one.text for one in found.messages) == expected.apart
    told = any("one speaker on both sides" in one.text for one in found.messages)
    assert told == bool(expected.n_contradictions)


def test_passes_add_up(tmp_path):
    rng = np.random.default_rng(4)
    source = open_shards(write(table_of(rng, 12, 120, shared=True, odd=0.1), tmp_path / "cut", rng), find_speakers=True)
    cut = len(source.pieces) // 2
    parts = [pickle.loads(pickle.dumps(Links())) for _ in range(2)]  # noqa: S301  # our own
    whole = Links()
    whole.take(source.pieces)
    parts[0].take(source.pieces[cut:])
    parts[1].take(source.pieces[:cut])
    for apart in (False, True):
        one, other = Who.of(whole, apart=apart), Who.of(parts[0] + parts[1], apart=apart)
        for side in (0, 1):
            np.testing.assert_array_equal(one.speakers[side], other.speakers[side])
    counts = [Contradictions([one]) for _ in range(3)]
    for count, pieces in zip(counts, (source.pieces, source.pieces[cut:], source.pieces[:cut]), strict=True):
        count.take(pieces)
    assert counts[0].n == (counts[1] + counts[2]).n


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
