"""Files of summaries: what was written is read, in the same bytes whatever was merged first; what is damaged is not."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deciban._files import ScratchFolder
from deciban.errors import FormatError, InputError
from deciban.io.recognition import is_summary_file
from deciban.io.summary_files import (
    PartitionRecord,
    SummaryHead,
    count_rows,
    head_of_all,
    merged_rows,
    read_head,
    write_run,
    write_summary,
)


def shard(name, n_trials=(2, 1)):
    return PartitionRecord(f"{name}.parquet", sum(n_trials), n_trials, name * 8, ("read  a   3 rows",))


def head(*names, **about):
    return SummaryHead(("score",), (), tuple(map(shard, names)), "trials", **about)


def rows(scores, labels=None, kind=np.float64):
    label = np.arange(len(scores)) % 2 == 0 if labels is None else np.array(labels)
    return count_rows({"score": np.array(scores, kind), "label": label})


def merge(paths, target, heads):
    scratch = ScratchFolder()
    with scratch.or_nothing():
        write_summary(head_of_all(heads, list(map(str, paths))), merged_rows(paths, scratch), target)
    scratch.remove()


def test_what_was_written_is_read(tmp_path):
    whole = SummaryHead(
        ("a", "b"), ("x", "y"), (shard("1"),), "named", n_sides=2, noun="unit", source="by column 's'", weights="w"
    )
    table = {name: np.array([1.0]) for own in whole.score_columns for name in own}
    write_summary(whole, [count_rows({**table, "class": np.array([1])})], tmp_path / "s")
    assert read_head(tmp_path / "s") == whole
    assert is_summary_file(tmp_path / "s")
    assert pq.read_table(tmp_path / "s").column_names == [
        "score a x",
        "score a y",
        "score b x",
        "score b y",
        "class",
        "count",
    ]
    assert (whole.n_trials, whole.n_rows, whole.of_classes) == (3, 3, [2, 1])


def test_columns_of_systems_are_never_called_alike():
    names = SummaryHead(("a", "a b"), ("b c", "c"), (), "none").score_columns
    assert names == [["score a b c", "score a c"], ["score a b b c", "score a b c #2"]]


def test_files_are_the_same_bytes_whatever_was_merged_first(tmp_path, monkeypatch):
    monkeypatch.setattr("deciban.io.summary_files._MOST_ROWS", 7)  # so that groups have to be cut anew
    monkeypatch.setattr("deciban.io.summary_files._FEWEST", 5)
    monkeypatch.setattr("deciban.io.summary_files._AT_ONCE", 1)
    rng = np.random.default_rng(0)
    names, heads = "abcd", {}
    for name in names:
        heads[name] = head(name)
        write_summary(heads[name], [rows(rng.integers(0, 30, 40) / 4)], tmp_path / name)
    paths = {name: tmp_path / name for name in names}
    merge([paths[name] for name in "abcd"], tmp_path / "all", [heads[name] for name in "abcd"])
    merge([paths["d"], paths["b"]], tmp_path / "db", [heads["d"], heads["b"]])
    merge([paths["c"], tmp_path / "db"], tmp_path / "cdb", [heads["c"], read_head(tmp_path / "db")])
    merge([tmp_path / "cdb", paths["a"]], tmp_path / "again", [read_head(tmp_path / "cdb"), heads["a"]])
    assert (tmp_path / "all").read_bytes() == (tmp_path / "again").read_bytes()
    merge([tmp_path / "all"], tmp_path / "same", [read_head(tmp_path / "all")])
    assert (tmp_path / "all").read_bytes() == (tmp_path / "same").read_bytes()
    assert pq.read_table(tmp_path / "all")["count"].to_numpy().sum() == 160


def test_groups_of_rows_are_smaller_where_there_are_many_columns(tmp_path):
    many = SummaryHead(("score",), tuple(f"c{k}" for k in range(60)), (), "trials")
    assert (head().rows_of_group, many.rows_of_group) == (1 << 18, 1 << 14)
    assert many.rows_of_group * many.bytes_per_row <= 1 << 23
    write_summary(head("a"), [rows(np.arange(2.0**18 + 1))], tmp_path / "s")
    meta = pq.read_metadata(tmp_path / "s")
    assert [meta.row_group(at).num_rows for at in range(meta.num_row_groups)] == [1 << 18, 1]


def test_more_files_than_are_merged_at_once_go_through_temporary_ones(tmp_path, monkeypatch):
    monkeypatch.setattr("deciban.io.summary_files._MOST_FILES", 3)
    scratch, scores = ScratchFolder(), np.arange(20.0) % 7
    for at, score in enumerate(scores):
        write_run(rows([score]), tmp_path / f"{at}.run")
    found = list(merged_rows(sorted(tmp_path.iterdir()), scratch))
    scratch.remove()
    assert np.concatenate([one["score"] for one in found]).tolist() == list(range(7))
    assert np.concatenate([one["count"] for one in found]).tolist() == [3, 3, 3, 3, 3, 3, 2]


def test_scores_of_both_widths_are_equal_where_their_numbers_are(tmp_path):
    write_run(rows([0.5, 0.1], kind=np.float32), tmp_path / "a")
    write_run(rows([0.5, 0.1]), tmp_path / "b")
    scratch = ScratchFolder()
    (found,) = merged_rows([tmp_path / "a", tmp_path / "b"], scratch)
    scratch.remove()
    assert found["score"].tolist() == [0.1, float(np.float32(0.1)), 0.5]
    assert found["count"].tolist() == [1, 1, 2]


def test_other_meanings_and_doubled_shards_do_not_merge():
    for other, words in (
        (replace(head("b"), systems=("x",)), "b: does not match a: systems score and x"),
        (replace(head("b"), weights="w"), "weights none and w"),
        (replace(head("b"), classes=("x", "y")), "classes none and x, y"),
        (replace(head("b"), units="none"), "units trials and none"),
        (head("c", "a"), r"1 shard would count twice: a.parquet \(a, b\)"),
    ):
        with pytest.raises(InputError, match=words):
            head_of_all([head("a"), other], ["a", "b"])
    with pytest.raises(InputError, match="summaries: none given"):
        head_of_all([], [])
    assert not head_of_all([head("a", log10=True), head("b")], ["a", "b"]).log10


def test_shards_are_known_by_their_content_and_not_by_their_names():
    """Files of several folders are often called alike: they merge, in any order into the same."""
    heads = [
        replace(head("a", noun=noun), shards=(replace(shard("a"), sha256=content),))
        for content, noun in (("9f", "unit"), ("03", "speaker"), ("77", "unit"))
    ]
    found = head_of_all(heads, ["x", "y", "z"])
    assert [one.sha256 for one in found.shards] == ["03", "77", "9f"]
    assert head_of_all(heads[::-1], ["z", "y", "x"]) == found
    assert found.noun == "speaker"
    with pytest.raises(InputError, match=r"1 shard would count twice: b.parquet \(x, y\)"):
        head_of_all([heads[0], replace(head("b"), shards=(replace(shard("b"), sha256="9f"),))], ["x", "y"])


def test_what_is_no_summary_or_none_of_this_version_is_refused_in_one_sentence(tmp_path):
    pq.write_table(pa.table({"score": [1.0]}), tmp_path / "plain")
    (tmp_path / "text").write_text("a b 1\n")
    for name in ("plain", "text"):
        assert not is_summary_file(tmp_path / name)
        with pytest.raises(FormatError, match=rf"{name}: is not a summary file. Use deciban summarize to write one\."):
            read_head(tmp_path / name)
    table = pa.table({"start": [1]}).replace_schema_metadata({"deciban-summary": json.dumps({"version": 1})})
    pq.write_table(table, tmp_path / "old")
    with pytest.raises(
        FormatError, match=r"is a summary of version 1, but this package reads version 2\. Summarize the"
    ):
        read_head(tmp_path / "old")
    pq.write_table(table.replace_schema_metadata({"deciban-summary": "{}"}), tmp_path / "empty")
    with pytest.raises(FormatError, match="empty: is incomplete or damaged"):
        read_head(tmp_path / "empty")


def test_what_was_cut_off_or_damaged_is_not_read(tmp_path):
    write_summary(head("a"), [rows(np.arange(1000.0))], tmp_path / "s")
    whole = (tmp_path / "s").read_bytes()
    (tmp_path / "cut").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FormatError, match="cut: is incomplete or damaged. Summarize the original files again"):
        read_head(tmp_path / "cut")
    changed = bytearray(whole)
    changed[100] ^= 1
    (tmp_path / "changed").write_bytes(changed)
    scratch = ScratchFolder()
    with pytest.raises(FormatError, match="changed: is incomplete or damaged"):
        list(merged_rows([tmp_path / "changed"], scratch))
    with pytest.raises(FileNotFoundError):
        list(merged_rows([tmp_path / "nowhere"], scratch))
    scratch.remove()


def test_an_empty_part_of_a_shard_changes_nothing(tmp_path):
    write_run(rows([1.0]), tmp_path / "a")
    write_run(rows([]), tmp_path / "b")
    scratch = ScratchFolder()
    (found,) = merged_rows([tmp_path / "b", tmp_path / "a"], scratch)
    scratch.remove()
    assert found["score"].tolist() == [1.0]
