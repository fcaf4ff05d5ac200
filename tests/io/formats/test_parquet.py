"""Parquet files as other programs write them, what comes back of ours, and what is refused."""

import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban._validate.arrays import Vocabulary
from deciban.errors import FormatError, InputError
from deciban.io import read_scores
from deciban.io.formats import Contents, InputOptions, by_name
from deciban.io.source import Source
from deciban.trials import Index, Key, Scores, Trials
from support.tables import (
    again,
    assert_one_file_of_others,
    assert_same_contents,
    binary_contents,
    changed,
    class_contents,
    read_bytes,
    sound_or_refused,
    written,
)

COLUMNS = {
    "modelid": ["ann", "bob d", "änn"],
    "segmentid": ["x", "y", "日本"],
    "gender": ["f", None, "m"],
    "targettype": ["target", "nontarget", "nontarget"],
    "LLR": [1.5, float("-inf"), -0.0],
}


def parquet(table, **options):
    stream = io.BytesIO()
    pq.write_table(table if isinstance(table, pa.Table) else pa.table(table), stream, **options)
    return stream.getvalue()


def read(table, **options):
    return read_bytes(parquet(table), "parquet", **options)


def test_a_file_of_polars(tmp_path):
    pl = pytest.importorskip("polars")
    path = tmp_path / "scores.parquet"
    for options in ({}, {"compression": "snappy"}, {"use_pyarrow": False, "row_group_size": 1}):
        pl.DataFrame(COLUMNS).write_parquet(path, **options)
        assert_one_file_of_others(by_name("parquet").read(Source(path), InputOptions()))
    pl.DataFrame(COLUMNS).with_columns(pl.col("modelid", "targettype").cast(pl.Categorical)).write_parquet(path)
    assert_one_file_of_others(by_name("parquet").read(Source(path), InputOptions()))


def test_a_file_of_pandas(tmp_path):
    pd = pytest.importorskip("pandas")
    path = tmp_path / "scores.parquet"
    pd.DataFrame(COLUMNS).to_parquet(path)
    assert_one_file_of_others(by_name("parquet").read(Source(path), InputOptions()))


@pytest.mark.parametrize("text", [pa.string(), pa.large_string(), pa.binary(), pa.dictionary(pa.int8(), pa.string())])
@pytest.mark.parametrize("number", [pa.float64(), pa.float32(), pa.decimal128(5, 2)])
def test_every_type_of_text_and_numbers(text, number):
    table = pa.table({"trial": pa.array(["a", "b"]).cast(text), "score": pa.array([1.5, -2]).cast(number)})
    contents = read(table)
    assert contents.index.trials.name_of(1) == "(b)"
    assert contents.scores.score.tolist() == [1.5, -2.0]
    assert contents.scores.score.dtype == (np.float32 if number == pa.float32() else np.float64)


def test_whole_numbers_and_booleans():
    contents = read({"enroll": [7, 1001], "test": [1, 2], "is_target": [True, False], "score": [3, -4]})
    assert contents.index.trials.name_of(1) == "(1001, 2)"
    assert contents.key.is_target.tolist() == [True, False]
    assert contents.scores.score.tolist() == [3.0, -4.0]
    assert read({"trial": ["a", "b"], "label": [0, 1]}).key.is_target.tolist() == [False, True]
    assert read({"trial": ["a", "b"], "label": [0.0, 1.0]}).key.is_target.tolist() == [False, True]


def test_several_systems_and_the_choice_of_one():
    table = {"utt": ["a", "b"], "asv_score": [1.0, 2.0], "cm_score": np.float32([3, 4]), "note": ["p", "q"]}
    contents = read(table)
    assert [(one.name, one.score.tolist()) for one in contents.systems] == [
        ("asv_score", [1.0, 2.0]),
        ("cm_score", [3.0, 4.0]),
    ]
    one = read(table, columns="trial=utt,score=cm_score", name="cm").scores
    assert (one.name, one.score.dtype) == ("cm", np.float32)
    assert read(table, columns="trial,-,score,-").index.trials.conditions == {}
    with pytest.raises(FormatError, match="no column 'llr' for the score; the columns are utt, asv_score"):
        read(table, columns="trial=utt,score=llr")
    with pytest.raises(FormatError, match=r"2 columns are named \(columns\), the table has 4"):
        read(table, columns="trial,score")


def test_classes_are_the_columns_of_numbers():
    table = {"segmentid": ["a", "b"], "eng": [1.0, 2.0], "fra": np.float32([3, 4]), "note": ["p", "q"]}
    contents = read(table, need="class-scores")
    assert contents.class_scores.classes == ("eng", "fra")
    assert contents.class_scores.score.tolist() == [[1, 3], [2, 4]]
    assert list(contents.index.trials.conditions) == ["note"]
    assert read({"trial": ["a", "b"], "language": ["fra", "eng"]}).class_key.label.tolist() == [1, 0]


def test_the_metadata_decide():
    meta = {"roles": {"a": "trial", "eng": "=eng", "b": "score"}, "log10": True}
    table = pa.table({"a": ["u", "v"], "eng": [1, 2], "b": [0.5, 1.0]})
    contents = read(table.replace_schema_metadata({"deciban": json.dumps(meta)}))
    assert contents.scores.log10
    assert contents.scores.score.tolist() == [0.5, 1.0]
    assert contents.index.trials.condition("eng").to_pylist() == [1, 2]


@pytest.mark.parametrize(
    "meta",
    [b"", b"\xff", b"[]", b"{", b'{"roles": 3}', b'{"roles": {"trial": "boss"}}', b"[" * 5000, b'{"log10": "no"}'],
)
def test_nonsense_in_the_metadata_is_passed_over(meta):
    contents = read(pa.table({"trial": ["u"], "score": [0.5]}).replace_schema_metadata({b"deciban": meta}))
    assert not contents.scores.log10
    assert contents.scores.score.tolist() == [0.5]


def test_words_of_the_user():
    table = {"trial": ["a", "b"], "label": ["Y", "N"]}
    vocabulary = Vocabulary.of({"target": "Y", "nontarget": "N"})
    assert read(table, vocabulary=vocabulary).key.is_target.tolist() == [True, False]
    with pytest.raises(FormatError, match="file, row 0: unknown label 'Y'. Define your words: .* Known words: target"):
        read(table)


@given(st.one_of(binary_contents(), class_contents()))
def test_what_is_written_comes_back_bit_for_bit(contents):
    assert_same_contents(again(contents, "parquet"), contents)


def test_an_index_and_no_names():
    index = Index.of({"enroll": ["a", "a"], "test": ["x", "x"]})
    assert again(Contents.of(index), "parquet").kinds == ("index",)
    with pytest.raises(InputError, match="trials without names and values cannot become a table"):
        written(Contents.of(Index(Trials.of_rows(3))), "parquet")
    rows = Trials.of_rows(3).take(np.array([2, 0]))
    with pytest.raises(InputError, match=r"row numbers are not 0, 1, 2, .* Give them names first"):
        written(Contents.of(Scores(rows, np.zeros(2))), "parquet")


def test_names_are_stored_once():
    n = 20_000
    names = pa.array(["speaker_with_a_rather_long_name"]).take(pa.array(np.zeros(n, np.int32)))
    scores = Scores.of({"enroll": names, "test": pa.array(np.arange(n)).cast(pa.string())}, np.zeros(n))
    meta = pq.ParquetFile(io.BytesIO(written(Contents.of(scores), "parquet"))).metadata
    column = meta.row_group(0).column(0)
    assert column.compression == "ZSTD"
    assert column.total_uncompressed_size < 1000


REFUSED = {
    "missing score": (
        {"trial": ["a", "b"], "score": [1.0, None]},
        r"file, row 1: the score is missing \(column score\)",
    ),
    "missing name": ({"trial": ["a", None, "c"], "score": [1.0, 2, 3]}, "row 1: the name of the trial is missing"),
    "missing label": ({"trial": ["a", "b"], "label": [None, "target"]}, "row 0: the label is missing"),
    "NaN": ({"trial": ["a", "b", "c"], "score": [1.0, 2.0, np.nan]}, "row 2: the score is NaN"),
    "text for scores": ({"trial": ["a"], "score": ["1.5"]}, "the scores are string, expected numbers"),
    "numbers with points for names": ({"trial": [1.5], "score": [1.0]}, "names of trials must be text, but got double"),
    "list of scores": ({"trial": ["a"], "score": [[1.0, 2.0]]}, "column score, the score, contains list<.*> values"),
    "record for a name": ({"trial": [{"a": 1}], "score": [1.0]}, "column trial, the trial, contains struct"),
    "half a label": ({"trial": ["a"], "label": [0.5]}, "file"),
    "no rows": ({"trial": pa.array([], pa.string()), "score": pa.array([], pa.float64())}, "contains no trial"),
    "two of a kind": ({"trial": ["a"], "utt": ["b"], "score": [1.0]}, "columns trial and utt could both be the trial"),
    "only lists": ({"embedding": [[1.0]]}, "contains no column that can be read; the columns are embedding"),
    "not UTF-8": ({"trial": pa.array([b"\xff"]), "score": [1.0]}, "UTF"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_trials_is_refused(case):
    table, message = REFUSED[case]
    with pytest.raises(FormatError, match=message) as error:
        read(table)
    assert "file" in str(error.value)


def test_columns_of_one_name():
    table = pa.Table.from_arrays([pa.array(["a"]), pa.array([1.0]), pa.array([2.0])], ["trial", "score", "score"])
    with pytest.raises(FormatError, match="two columns are called 'score'"):
        read(table)


def test_text_that_lies_about_its_encoding():
    trial = pa.StringArray.from_buffers(1, pa.py_buffer(np.int32([0, 2])), pa.py_buffer(b"\xff\xfe"))
    with pytest.raises(FormatError, match="Invalid UTF8"):
        read({"trial": trial, "score": [1.0]})


def test_nested_columns_without_meaning_are_passed_over():
    contents = read({"trial": ["a"], "score": [1.0], "embedding": [[0.1, 0.2]]})
    assert contents.notes == ("column embedding (list<element: double>) was not read.",)
    assert contents.index.trials.conditions == {}


def test_more_rows_than_bytes_can_mean():
    constant = pa.array(np.zeros(1 << 26, np.int8))
    data = parquet({"score": constant}, row_group_size=1 << 26, data_page_size=1 << 30, max_rows_per_page=1 << 26)
    assert len(data) < 1000
    with pytest.raises(FormatError, match=r"declares 67,108,864 rows .* made to exhaust the memory"):
        read_bytes(data, "parquet")


def test_a_long_text_in_every_row_is_not_spread_out():
    long = pa.DictionaryArray.from_arrays(pa.array(np.zeros(20_000, np.int32)), pa.array(["x" * 100_000]))
    table = pa.table({"trial": pa.array(np.arange(20_000)).cast(pa.string()), "score": np.zeros(20_000), "note": long})
    with pytest.raises(FormatError, match="column note would be 2,000,000,000 bytes long"):
        read(table)


def test_constant_scores_in_order_pass():
    scores = Scores.of({"trial": pa.array(np.arange(200_000)).cast(pa.string())}, np.zeros(200_000))
    assert len(again(Contents.of(scores), "parquet").scores) == 200_000


SOUND = parquet({"enroll": ["ann", "bob"], "test": ["x", "y"], "score": [1.0, 2.0], "label": ["target", "non"]})


def test_every_cut_is_refused():
    for length in range(5, len(SOUND)):
        with pytest.raises(FormatError, match="file"):
            read_bytes(SOUND[:length], "parquet")


@given(changed(SOUND, 5))
def test_changed_bytes_give_tables_or_our_errors(data):
    sound_or_refused(data, "parquet")


def folder(tmp_path, files):
    for name, table in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(table if isinstance(table, bytes) else parquet(table))
    source = Source(tmp_path)
    assert by_name("parquet").recognizes(source)
    return by_name("parquet").read(source, InputOptions(name="sys"))


def test_a_partitioned_folder_is_one_table(tmp_path):
    contents = folder(
        tmp_path,
        {
            "gender=m/set=dev%20a/part-1.parquet": {"trial": ["c"], "score": [3.0]},
            "gender=f/set=eval/part-1.parquet": {"trial": ["b"], "score": [2.0]},
            "gender=f/set=__HIVE_DEFAULT_PARTITION__/part-0.parquet": {"score": np.float32([1]), "trial": ["a"]},
            "_SUCCESS": b"",
            "gender=f/.part.crc": b"junk",
        },
    )
    assert contents.scores.score.tolist() == [1.0, 2.0, 3.0]
    assert [contents.index.trials.name_of(row) for row in range(3)] == ["(a)", "(b)", "(c)"]
    conditions = {name: values.to_pylist() for name, values in contents.index.trials.conditions.items()}
    assert conditions == {"gender": ["f", "f", "m"], "set": [None, "eval", "dev a"]}


def test_a_folder_of_pandas(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"trial": ["a", "b", "c"], "score": [1.0, 2.0, 3.0], "label": ["tar", "non", "tar"]})
    frame.to_parquet(tmp_path, partition_cols=["label"])
    contents = by_name("parquet").read(Source(tmp_path), InputOptions())
    assert contents.index.trials.condition("label").to_pylist() == ["non", "tar", "tar"]
    assert contents.scores.score.tolist() == [2.0, 1.0, 3.0]
    assert contents.key is None  # a partition is a condition, whatever it is called


PARTS = {"trial": ["a"], "score": [1.0]}
BAD_FOLDERS = {
    "empty": ({}, "a folder without files"),
    "text": ({"a.parquet": PARTS, "b.txt": b"a 1\n"}, "b.txt: not a Parquet file"),
    "other columns": ({"a": PARTS, "b": {"trial": ["b"], "llr": [1.0]}}, "b: has the columns trial, llr, the first"),
    "other partitions": ({"g=f/a": PARTS, "a": PARTS}, "has other partition columns than"),
    "twice": ({"score=f/a": PARTS}, "score is a column and a partition"),
    "damaged": ({"a": PARTS, "b": parquet(PARTS)[:-9]}, "b: damaged"),
    "other types": (
        {"a": PARTS, "b": {"trial": ["b"], "score": ["high"]}},
        "b: column score contains text .*a it contains numbers",
    ),
    "a copy": ({"a": PARTS, "b": PARTS}, "b: the same content as .*a, so its trials would count twice"),
}


@pytest.mark.parametrize("case", BAD_FOLDERS)
def test_folders_that_are_no_table(tmp_path, case):
    files, message = BAD_FOLDERS[case]
    with pytest.raises(FormatError, match=message):
        folder(tmp_path, files)


NO_NUMBER = {
    "score": ([3.0, float("nan")], r"part-1\.parquet, row group 1, row 0: the score is NaN"),
    "label": (["target", None], r"part-1\.parquet, row group 1, row 0: the label is missing"),
    "trial": (["c", None], r"part-1\.parquet, row group 1, row 0: the name of the trial is missing"),
}


@pytest.mark.parametrize("column", NO_NUMBER)
def test_errors_name_the_file_the_row_group_and_the_row(tmp_path, column):
    good = {"trial": ["a", "b"], "score": [1.0, 2.0], "label": ["target", "nontarget"]}
    bad = {"trial": ["c", "d"], "score": [3.0, 4.0], "label": ["target", "nontarget"]} | {column: NO_NUMBER[column][0]}
    pq.write_table(pa.table(good), tmp_path / "part-0.parquet")
    pq.write_table(pa.table(bad), tmp_path / "part-1.parquet", row_group_size=1)
    for path in (tmp_path, tmp_path / "part-1.parquet"):
        with pytest.raises(FormatError, match=NO_NUMBER[column][1]):
            by_name("parquet").read(Source(path), InputOptions())


def test_damage_is_found_by_checksums(tmp_path):
    path = tmp_path / "a.parquet"
    scores = np.random.default_rng(1).normal(size=5000)
    how = {"compression": "none", "use_dictionary": False, "write_page_checksum": True}
    pq.write_table(pa.table({"trial": np.arange(5000).astype(str), "score": scores}), path, **how)
    content = bytearray(path.read_bytes())
    at = content.find(scores[2000:2002].tobytes())
    content[at + 3] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(FormatError, match=r"a\.parquet: damaged, .*CRC checksum verification failed"):
        by_name("parquet").read(Source(path), InputOptions())


def test_two_tables_of_other_trials_are_not_written():
    key = Key.of({"trial": ["b", "a"]}, [True, False])
    scores = Scores.of({"trial": ["a", "b"]}, [1.0, 2.0])
    with pytest.raises(InputError, match="do not contain the same trials in the same order. Align them first"):
        written(Contents.of(scores, key), "parquet")
    with pytest.raises(InputError, match="two columns would be called 'label'"):
        written(
            Contents.of(scores, Scores(scores.trials, scores.score, "label"), Key(scores.trials, key.is_target)),
            "parquet",
        )


def described(table, **said):
    return pa.table(table).replace_schema_metadata({"deciban": json.dumps(said)})


OTHER_METADATA = {
    "log10": ({"log10": False}, {"log10": True}),
    "roles": ({"roles": {"trial": "trial", "score": "score"}}, {"roles": {"trial": "trial", "score": "=score"}}),
    "class_scores": ({}, {"class_scores": True}),
}


@pytest.mark.parametrize("case", OTHER_METADATA)
def test_files_of_a_folder_that_mean_different_things(tmp_path, case):
    first, other = OTHER_METADATA[case]
    files = {
        "a": described(PARTS, **first),
        "b": described({"trial": ["b"], "score": [1.0]}, **first),
        "c": described({"trial": ["c"], "score": [1.0]}, **other),
    }
    with pytest.raises(FormatError, match=f"/c: its metadata contain {case} = .*, but .*/a "):
        folder(tmp_path, files)


def test_classes_of_a_folder_are_united(tmp_path):
    files = {
        "a": described({"trial": ["a"], "class": ["eng"]}, classes=["eng", "fra"]),
        "b": described({"trial": ["b"], "class": ["deu"]}, classes=["deu", "eng"]),
    }
    contents = folder(tmp_path, files)
    assert contents.class_key.classes == ("eng", "fra", "deu")
    assert contents.class_key.label.tolist() == [0, 2]
    (tmp_path / "c").write_bytes(parquet({"trial": ["c"], "class": ["por"]}))
    with pytest.raises(FormatError, match="/a lists all classes, .*/c does not"):
        folder(tmp_path, {})


def test_messages_name_conditions_as_such(tmp_path):
    pq.write_table(pa.table({"score": [1.0, 2.0], "label": [1, 0], "channel": ["a", "b"]}), tmp_path / "a.parquet")
    reading = read_scores(tmp_path / "a.parquet").trials.origin.reading
    assert "score='score' label='label' condition='channel'" in reading
