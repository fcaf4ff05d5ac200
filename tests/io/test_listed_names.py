"""Submissions that do not fit in memory: the same findings as of those that do."""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban.errors import InputError
from deciban.io import validation
from deciban.io.text import reader
from deciban.io.validation import _compared, validate
from deciban.trials import Scores


def both_ways(submission, trials, **options):
    """What is found in memory, and in batches of a few lines."""
    whole = validate(submission, trials, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(validation, "memory_of", lambda _paths: 10**18)
        patch.setattr(reader, "BLOCK", 64)
        return whole, validate(submission, trials, **options)


def lines(path, names, score=True):
    path.write_text("".join(f"{one} {other}{' 0.5' if score else ''}\n" for one, other in names))
    return path


NAMES = [(f"m{k % 3}", f"s{k}") for k in range(40)]


@pytest.mark.parametrize("any_order", [False, True])
@pytest.mark.parametrize(
    "made",
    [
        lambda names: names,
        lambda names: names[::-1],
        lambda names: [*names[:20], *names[21:], names[0], names[0]],
        lambda names: [*names, ("m0", "nobody"), ("m0", "nobody")],
        lambda names: names[:10],
        lambda names: [*names[:5], names[6], names[5], *names[7:]],
        lambda _names: [("x", f"y{k}") for k in range(9)],
    ],
)
def test_the_same_is_found_as_in_memory(tmp_path, made, any_order):
    listed = lines(tmp_path / "list.txt", NAMES, score=False)
    scored = lines(tmp_path / "scored.txt", made(NAMES))
    whole, found = both_ways(scored, listed, any_order=any_order)
    assert found.messages == whole.messages
    assert found.faults == whole.faults


@settings(max_examples=15)
@given(st.lists(st.integers(0, 12), min_size=1, max_size=40), st.lists(st.integers(0, 12), min_size=1, max_size=40))
def test_any_lists(tmp_path_factory, one, other):
    path = tmp_path_factory.mktemp("any")
    listed = lines(path / "list.txt", [("m", f"speaker{k}") for k in other], score=False)
    scored = lines(path / "scored.txt", [("m", f"speaker{k}") for k in one])
    whole, found = both_ways(scored, listed)
    assert found.faults == whole.faults


def test_columnar_and_compressed_files(tmp_path):
    table = pa.table({"enroll": [one for one, _ in NAMES], "test": [two for _, two in NAMES], "score": np.ones(40)})
    pq.write_table(table, tmp_path / "scored.parquet", row_group_size=9)
    text_of_list = "".join(f"{one} {two}\n" for one, two in NAMES[1:])
    (tmp_path / "list.txt.gz").write_bytes(gzip.compress(text_of_list.encode()))
    whole, found = both_ways(tmp_path / "scored.parquet", tmp_path / "list.txt.gz")
    assert (found.faults, found.is_valid) == (whole.faults, False)
    assert "scored.parquet, row group 0, row 0" in found.faults[0]


def test_lines_that_cannot_be_read_are_all_found(tmp_path):
    listed = lines(tmp_path / "list.txt", NAMES, score=False)
    scored = lines(tmp_path / "scored.txt", NAMES)
    rows = scored.read_text().splitlines()
    rows[7], rows[30] = "m1 s7", "m0 s30 much"
    scored.write_text("\n".join(rows) + "\n")
    whole, found = both_ways(scored, listed)
    assert found.faults == whole.faults
    assert found.messages == whole.messages
    assert len(found.faults) == 2


def test_other_names(tmp_path):
    listed = lines(tmp_path / "list.txt", NAMES, score=False)
    scored = lines(tmp_path / "scored.txt", [(one, f"{two}.wav") for one, two in NAMES])
    whole, found = both_ways(scored, listed, ids="strip-ending")
    assert found.messages == whole.messages
    assert found.is_valid
    assert whole.is_valid


def test_trials_that_are_named_otherwise(tmp_path):
    (tmp_path / "list.csv").write_text("trial,sex\na,f\nb,m\n")
    scored = lines(tmp_path / "scored.txt", NAMES)
    whole, found = both_ways(scored, tmp_path / "list.csv")
    assert found.faults == whole.faults


def test_what_is_not_read_in_partitions(tmp_path):
    np.savez(tmp_path / "scored.npz", score=np.ones((2, 2)), enroll=["a", "b"], test=["c", "d"])
    listed = lines(tmp_path / "list.txt", NAMES, score=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(validation, "memory_of", lambda _paths: 10**18)
        assert not validate(tmp_path / "scored.npz", listed).is_valid
        with pytest.raises(InputError, match=r"only Parquet, Arrow and text"):
            validate(tmp_path / "scored.npz", listed, memory="100MB")


def test_a_part_may_be_empty_on_one_side():
    some = Scores.of({"trial": ["a", "b"]}, [1.0, 2.0]).trials
    none = some.take(np.array([], np.int64))
    submitted_more, listed_more = _compared(some, none), _compared(none, some)
    assert (submitted_more.extra.n, submitted_more.lacking.n, submitted_more.again.n) == (2, 0, 0)
    assert (listed_more.extra.n, listed_more.lacking.n, listed_more.again.n) == (0, 2, 0)
