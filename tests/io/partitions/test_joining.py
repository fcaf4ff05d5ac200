"""Tables that are joined by name part by part give the trials, counts and refusals of a join in memory."""

import tempfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban.errors import KeyMismatchError
from deciban.io.partitions.joining import ScratchScores
from deciban.io.partitions.opening import open_trials
from deciban.trials.joining import Renaming
from support.sources import gathered, in_memory, split, trials, write
from support.strategies import fewer

SAID = [
    {},
    {"unit": "log10"},
    {"where": {"gender": "f"}},
    {"where": {"age": ["20", "21.0"], "gender": "m"}},
    {"weights": "weight"},
]


@given(st.integers(0, 2**32 - 1), st.sampled_from(SAID), st.integers(1, 16))
@fewer(0.7)
def test_tables_are_joined_by_name(tmp_path_factory, seed, said, n_parts):
    rng, path = np.random.default_rng(seed), tmp_path_factory.mktemp("joined")
    scores, key = split(trials(rng), path, rng, shuffled=True)
    expected, report = in_memory([scores], key, **said)
    source = open_trials(scores, key, memory=120 * 400 // n_parts, **said)
    np.testing.assert_array_equal(gathered(source, weight="weights" in said), expected)
    assert source.report == report


@pytest.mark.parametrize("missing", ["drop", -2.5, "error"])
@pytest.mark.parametrize("duplicates", ["keep-one", "error"])
def test_joins_count_as_in_memory(tmp_path, missing, duplicates):
    rng = np.random.default_rng(6)
    table = trials(rng)
    scores = pa.concat_tables([table.slice(5), table.slice(10, 7)]).select(["enroll", "test", "score"])
    key = pa.concat_tables([table.slice(0, 50), table.slice(20, 3)]).drop_columns("score")
    paths = write(scores, tmp_path / "scores", rng), write(key, tmp_path / "key", rng)
    said = {"missing": missing, "duplicates": duplicates}
    if "error" in (missing, duplicates):
        for read in (lambda: in_memory([paths[0]], paths[1], **said), lambda: open_trials(*paths, memory=9000, **said)):
            with pytest.raises(KeyMismatchError):
                read()
        return
    expected, report = in_memory([paths[0]], paths[1], **said)
    source = open_trials(*paths, memory=9000, **said)
    np.testing.assert_array_equal(gathered(source), expected)
    assert (source.report, source.report.copies) == (report, report.copies)


def some_rows(rng, table):
    """Some of the rows, some of them more than once."""
    return table.take(rng.choice(len(table), rng.integers(20, 61), replace=bool(rng.integers(2))))


@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.sampled_from(["drop", 0.1, -np.inf]), st.booleans())
@settings(max_examples=20)
def test_any_tables_meet_as_in_memory(tmp_path_factory, seed, n_systems, missing, chosen):
    rng, path = np.random.default_rng(seed), tmp_path_factory.mktemp("any")
    table, tables = trials(rng), []
    for at in range(n_systems):
        own = table.set_column(2, "score", pa.array(rng.normal(size=60).astype(np.float32)))
        tables.append(write(some_rows(rng, own.select(["enroll", "test", "score"])), path / f"s{at}", rng))
    key = write(some_rows(rng, table.drop_columns("score")), path / "key", rng)
    said = {"missing": missing, "duplicates": "keep-one"} | ({"where": {"gender": "f"}} if chosen else {})
    try:
        expected, report = in_memory(tables, key, **said)
    except KeyMismatchError as error:
        if "share no trial" in str(error) or "nothing is left" in str(error):  # else a class has no trial left
            with pytest.raises(KeyMismatchError):
                open_trials(tables, key, **said)
        return
    source = open_trials(tables, key, **said)
    np.testing.assert_array_equal(gathered(source), expected)
    assert (source.report, source.report.copies) == (report, report.copies)


@pytest.mark.parametrize("score", [99.0, -99.0])
def test_conflicts_are_refused(tmp_path, score):
    rng = np.random.default_rng(7)
    table = trials(rng)
    other = table.slice(3, 1).set_column(2, "score", pa.array([score], table.schema.field("score").type))
    scores = write(pa.concat_tables([table, other]).select(["enroll", "test", "score"]), tmp_path / "scores", rng)
    key = write(table.drop_columns("score"), tmp_path / "key", rng)
    with pytest.raises(
        KeyMismatchError, match=r"0\.parquet, row group 0, row 3 and .*row \d+: trial .* has two different scores"
    ):
        open_trials(scores, key, duplicates="keep-one", memory=9000)


def test_copies_are_named_with_both_places(tmp_path):
    rng = np.random.default_rng(7)
    table = trials(rng)
    scores = tmp_path / "scores"
    scores.mkdir()
    pq.write_table(table.select(["enroll", "test", "score"]), scores / "a.parquet", row_group_size=25)
    pq.write_table(table.select(["enroll", "test", "score"]).slice(28, 1), scores / "b.parquet")
    with pytest.raises(
        KeyMismatchError, match=r"a\.parquet, row group 1, row 3 and .*b\.parquet.* row 0: trial \(m3, t3\) .*\(1 such "
    ):
        open_trials(scores, write(table.drop_columns("score"), tmp_path / "key", rng), memory=9000)


def test_the_copy_that_is_read_first_is_named_as_in_memory(tmp_path):
    table, rng = trials(np.random.default_rng(7)), np.random.default_rng(3)
    reverse = table.slice(20, 12).take(np.arange(12)[::-1])  # the first copy in the file belongs to the last trial
    scores = write(pa.concat_tables([table, reverse]).select(["enroll", "test", "score"]), tmp_path / "scores", rng)
    key = write(table.drop_columns("score"), tmp_path / "key", rng)
    messages = []
    for read in (lambda: in_memory([scores], key), lambda: open_trials(scores, key, memory=1800)):
        with pytest.raises(KeyMismatchError, match=r"\(m11, t3\).*12 such trials") as caught:
            read()
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_labels_beside_scores_do_not_contradict_the_key(tmp_path):
    rng = np.random.default_rng(8)
    table = trials(rng)
    turned = table.set_column(3, "label", pa.array(["target"] * 60))
    scores, key = write(turned, tmp_path / "scores", rng), write(table, tmp_path / "key", rng)
    with pytest.raises(KeyMismatchError, match="has another label than in"):
        open_trials(scores, key, memory=9000)


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("memory", [9000, 10**9])
@pytest.mark.parametrize("step", ["_make", "_mapped"])
def test_a_join_that_ends_too_early_leaves_nothing(tmp_path, monkeypatch, error, memory, step):
    """When files are made, or when scores are written into them."""
    rng = np.random.default_rng(14)
    scores, key = split(trials(rng), tmp_path, rng, shuffled=True)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))

    def failing(*_args, **_more):
        raise error

    monkeypatch.setattr(ScratchScores, step, failing)
    with pytest.raises(type(error), match="no space for temporary files" if isinstance(error, OSError) else None):
        open_trials(scores, key, memory=memory)
    assert not any(scratch.iterdir())


@pytest.mark.parametrize("scored", [False, True])
def test_a_key_that_contradicts_itself_is_refused(tmp_path, scored):
    """Also where nobody scored the trial: the message names both places, as in memory."""
    rng = np.random.default_rng(7)
    table = trials(rng)
    other = {"target": "nontarget", "nontarget": "target"}[table["label"][3].as_py()]
    turned = table.slice(3, 1).set_column(table.column_names.index("label"), "label", pa.array([other]))
    key = pa.concat_tables([table, turned]).drop_columns("score")
    scores = table.select(["enroll", "test", "score"])
    scores = scores if scored else scores.take([k for k in range(60) if k != 3])
    paths = [write(scores, tmp_path / "scores", rng)], tmp_path / "key.parquet"
    pq.write_table(key, paths[1], row_group_size=25)
    said = {"duplicates": "keep-one", "missing": "drop"}
    for read in (in_memory, lambda *files, **more: open_trials(*files, memory=9000, **more)):
        with pytest.raises(KeyMismatchError, match=r"row group 0, row 3 .*row 10.*: trial .* "):
            read(*paths, **said)


def test_trials_that_several_systems_lack_are_missing_once(tmp_path):
    rng = np.random.default_rng(16)
    table = trials(rng)
    names = table.select(["enroll", "test", "score"])
    scores = [write(names.slice(first), tmp_path / f"s{first}", rng) for first in (5, 9)]
    key = write(table.drop_columns("score"), tmp_path / "key", rng)
    report = open_trials(scores, key, missing="drop", memory=9000).report
    assert (report.matched, report.missing, report.extra) == (51, 9, 0)
    assert report == in_memory(scores, key, missing="drop")[1]


@pytest.mark.parametrize("memory", [10**9, 1800])
def test_scores_beyond_the_key_are_counted_once_however_often_the_key_has_its_trials(tmp_path, memory):
    rng = np.random.default_rng(17)
    table = trials(rng)
    key = pa.concat_tables([table.slice(0, 40), table.slice(10, 20), table.slice(10, 5)]).drop_columns("score")
    paths = [write(table.select(["enroll", "test", "score"]), tmp_path / "s", rng)], write(key, tmp_path / "key", rng)
    report = open_trials(*paths, duplicates="keep-one", memory=memory).report
    assert (report.matched, report.extra, report.duplicate) == (40, 20, 25)
    assert report == in_memory(*paths, duplicates="keep-one")[1]


@pytest.mark.parametrize("memory", [10**9, 1800])
def test_names_that_are_written_otherwise_are_counted_once(tmp_path, memory):
    rng = np.random.default_rng(18)
    table = trials(rng)
    names = pa.array([f"{one}.wav" for one in table["test"].to_pylist()])
    scores = write(table.set_column(1, "test", names).select(["enroll", "test", "score"]), tmp_path / "scores", rng)
    key = write(table.drop_columns("score"), tmp_path / "key", rng)
    report = open_trials(scores, key, ids=Renaming.of("strip-ending"), memory=memory).report
    assert report == in_memory([scores], key, ids="strip-ending")[1]
    assert [n for _, n in report.renamed] == [0, len(set(names.to_pylist()))]


@pytest.mark.parametrize("memory", [10**9, 1800])
def test_two_names_do_not_become_one_in_any_part(tmp_path, memory):
    table = pa.table({"enroll": [f"m{k}" for k in range(60)], "test": ["a.wav", "a.flac"] * 30, "score": np.ones(60)})
    scores = write(table, tmp_path / "scores", np.random.default_rng(1))
    key = pa.table({"enroll": ["m0", "m1"], "test": ["a", "a"], "label": ["target", "nontarget"]})
    pq.write_table(key, tmp_path / "key.parquet")
    with pytest.raises(KeyMismatchError, match=r"'a\.(wav|flac)' .*row \d+\) and 'a\.(wav|flac)' .*would both be 'a'"):
        open_trials(scores, tmp_path / "key.parquet", ids=Renaming.of("strip-ending"), memory=memory, missing="drop")


@pytest.mark.parametrize("missing", ["drop", -2.5])
def test_large_partitions_of_the_key_are_read_in_parts(tmp_path, missing):
    """Scores of many classes or systems take more memory than the rows of a key that contains only names."""
    rng = np.random.default_rng(8)
    table = trials(rng)
    pq.write_table(table.select(["enroll", "test", "score"]).slice(0, 50), tmp_path / "scores.parquet")
    pq.write_table(table.drop_columns("score"), tmp_path / "key.parquet")
    paths = tmp_path / "scores.parquet", tmp_path / "key.parquet"
    expected, _ = in_memory([paths[0]], paths[1], missing=missing)
    sources = [open_trials(*paths, memory=n_bytes, missing=missing) for n_bytes in (1 << 30, 2000)]
    assert [len(one.partitions) == 1 for one in sources] == [True, False]
    assert max(one.n_rows for one in sources[1].partitions) < 20
    for source in sources:
        np.testing.assert_array_equal(gathered(source), expected)
