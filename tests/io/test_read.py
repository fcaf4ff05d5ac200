"""Text tables as users have them: what is read, and how it is said that something is wrong."""

import bz2
import gzip
import io
import math
import os
import tempfile
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import FormatError, InputError, read_class_scores, read_index, read_key, read_scores
from deciban.io import read_contents
from deciban.io.formats import InputOptions
from deciban.io.text.finding import FirstLines
from deciban.io.text.reader import split


@pytest.fixture
def write(tmp_path):
    def written(text, name="file.txt"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return written


def rows(table):
    """Trials as tuples of names."""
    columns = [table.trials.column(side).to_pylist() for side in table.trials.sides]
    return list(zip(*columns, strict=True))


SCORES = {
    "kaldi": ("ann x 1.5\nbob y -2e-3\n", [("ann", "x"), ("bob", "y")]),
    "tabs": ("ann\tx\t1.5\nbob\ty\t-2e-3\n", [("ann", "x"), ("bob", "y")]),
    "ragged white space": ("  ann   x\t1.5 \n\n\tbob y   -2e-3", [("ann", "x"), ("bob", "y")]),
    "windows": ("ann x 1.5\r\nbob y -2e-3\r\n", [("ann", "x"), ("bob", "y")]),
    "commas": ("ann, x ,1.5\nbob,y, -2e-3\n", [("ann", "x"), ("bob", "y")]),
    "comments": ("# head 1 2\nann x 1.5\n;; 3 4 5\n  # x y 7\nbob y -2e-3\n", [("ann", "x"), ("bob", "y")]),
    "byte order mark": ("\ufeffann x 1.5\nbob y -2e-3\n", [("ann", "x"), ("bob", "y")]),
    "comments with commas": ("#z,z,9\nann,x,1.5\n#b,y,2.0\n;; c,z,3\nbob,y,-2e-3\n", [("ann", "x"), ("bob", "y")]),
    "comments with tabs": ("ann\tx\t1.5\n#b\ty\t2.0\nbob\ty\t-2e-3\n", [("ann", "x"), ("bob", "y")]),
    "header below a comment": ("# mine\n\nenroll,test,score\nann,x,1.5\nbob,y,-2e-3\n", [("ann", "x"), ("bob", "y")]),
    "header below blanks": ("\n\nenroll test score\nann x 1.5\nbob y -2e-3\n", [("ann", "x"), ("bob", "y")]),
    "mark and comment": ("\ufeff# mine\nann,x,1.5\nbob,y,-2e-3\n", [("ann", "x"), ("bob", "y")]),
    "old line ends": ("ann x 1.5\rbob y -2e-3\r", [("ann", "x"), ("bob", "y")]),
    "other blanks in names": (
        "ann\u00a0a x\u3000 1.5\nbob y\u2028z -2e-3\n",
        [("ann\u00a0a", "x\u3000"), ("bob", "y\u2028z")],
    ),
    "names like file marks": ("BZh9 PAR1 1.5\nARROW1 MATLAB -2e-3\n", [("BZh9", "PAR1"), ("ARROW1", "MATLAB")]),
    "hash inside a name": ("a#1 x;;2 1.5\nbob y -2e-3\n", [("a#1", "x;;2"), ("bob", "y")]),
    "trial": ("a 1.5\nb -2e-3\n", [("a",), ("b",)]),
    "wespeaker": ("ann x 1.5 target\nbob y -2e-3 nontarget\n", [("ann", "x"), ("bob", "y")]),
    "3d-speaker": ("ann x target 1.5\nbob y nontarget -2e-3\n", [("ann", "x"), ("bob", "y")]),
    "speechbrain": ("ann x 1 1.5\nbob y 0 -2e-3\n", [("ann", "x"), ("bob", "y")]),
    "asvspoof": ("a - bonafide 1.5\nb A01 spoof -2e-3\n", [("a",), ("b",)]),
    "header": ("modelid\tsegmentid\tLLR\nann\tx\t1.5\nbob\ty\t-2e-3\n", [("ann", "x"), ("bob", "y")]),
    "header with commas": ('filename,cm-score\n"a",1.5\n"b",-2e-3\n', [("a",), ("b",)]),
    "quoted commas": ('trial,score\n"a,b",1.5\n"c ""d""",-2e-3\n', [("a,b",), ('c "d"',)]),
    "quotes in white space": ("\"ann x 1.5\n'bob y -2e-3\n", [('"ann', "x"), ("'bob", "y")]),
    "unicode": ("änn ж 1.5\n日本 😀 -2e-3\n", [("änn", "ж"), ("日本", "😀")]),
    "numbers as names": ("1001 7 1.5\n1002 8 -2e-3\n", [("1001", "7"), ("1002", "8")]),
    "names like missing values": ("NA null 1.5\nnan None -2e-3\n", [("NA", "null"), ("nan", "None")]),
}


@pytest.mark.parametrize("kind", SCORES)
def test_scores_are_read(write, kind):
    text, trials = SCORES[kind]
    scores = read_scores(write(text))
    assert rows(scores) == trials
    assert scores.score.tolist() == [1.5, -2e-3]


KEYS = {
    "kaldi": "ann x target\nbob y nontarget\n",
    "voxceleb": "1 ann/a.wav x/y.wav\n0 bob/b.wav y/z.wav\n",
    "digits": "ann x 1\nbob y 0\n",
    "cases": "ann x TARGET\nbob y NonTarget\n",
    "dca-plda": "ann x tgt\nbob y imp\n",
    "one id": "a bonafide\nb spoof\n",
    "number names": "1001 2002 target\n1002 2003 nontarget\n",
    "scores too": "ann x 0.5 target\nbob y 0.7 nontarget\n",
    "asvspoof": "a - bonafide 0.1\nb A01 spoof 0.2\n",
    "header": "filename\tcm-label\na\tbonafide\nb\tspoof\n",
    "nist": "modelid\tsegmentid\tside\ttargettype\nann\tx\ta\ttarget\nbob\ty\ta\tnontarget\n",
}


@pytest.mark.parametrize("kind", KEYS)
def test_keys_are_read(write, kind):
    assert read_key(write(KEYS[kind])).is_target.tolist() == [True, False]


@pytest.mark.parametrize(
    ("columns", "trials"),
    [
        ("test,enroll,score,-", [("x", "ann")]),
        (["test", "enroll", "score", "-"], [("x", "ann")]),
        ("trial=2,score=3", [("x",)]),
        ({"enroll": "1", "test": "2", "score": "3"}, [("ann", "x")]),
    ],
)
def test_columns_override_the_sniffing(write, columns, trials):
    scores = read_scores(
        write("x ann 0.25 9\n" if "test,enroll" in str(columns) or isinstance(columns, list) else "ann x 0.25 9\n"),
        columns=columns,
    )
    assert sorted(rows(scores)[0]) == sorted(trials[0])
    assert scores.score.tolist() == [0.25]


def test_columns_by_header_name(write):
    path = write("utt,sysA,sysB\na,1,2\nb,3,4\n")
    assert read_scores(path, columns="trial=utt,score=sysB").score.tolist() == [2, 4]
    with pytest.raises(
        FormatError, match=r"file.txt:1: no column 'sysC' for the score; the columns are utt, sysA, sysB"
    ):
        read_scores(path, columns="trial=utt,score=sysC")


def test_words_for_labels(write):
    path = write("ann x Y\nbob y N\nbob z X\n")
    assert read_key(path, labels={"target": "Y", "nontarget": "N|X"}).is_target.tolist() == [True, False, False]
    with pytest.raises(InputError, match="expected words for target and nontarget, got target"):
        read_key(path, labels={"target": "Y"})
    with pytest.raises(InputError, match="'Y' cannot mean target and nontarget"):
        read_key(path, labels={"target": "Y", "nontarget": "N|Y"})


@pytest.mark.parametrize(
    "compress", [gzip.compress, bz2.compress, lambda data: gzip.compress(data[:7]) + gzip.compress(data[7:])]
)
def test_compressed_files(write, compress):
    path = write(compress(b"ann x 1.5\nbob y 2\n"), "sysA.txt.gz")
    scores = read_scores(path)
    assert (scores.name, scores.score.tolist()) == ("sysA", [1.5, 2.0])


def test_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"ann x 1.5\n")))
    scores = read_scores("-")
    assert (scores.trials.origin.name, scores.score.tolist()) == ("standard input", [1.5])


BAD_SCORES = {
    "empty": ("", "the file is empty"),
    "blank": ("\n\n  \n", "the file is empty"),
    "only comments": ("# nothing\n", "the file is empty"),
    "only a header": ("trial score\n", "contains no trial"),
    "nan": ("ann x 1\n\n# c\nbob y nan\n", ":4: the score is NaN"),
    "signed nan": ("ann x 1\nbob y -NaN\n", ":2: the score is NaN"),
    "word": ("ann x 1\nbob y 2\neve z high\n", ":3: the score 'high' is not a number"),
    "hex": ("ann x 1\nbob y 0x10\n", ":2: the score '0x10' is not a number"),
    "comma as point": ("ann x 1.5\nbob y 1,5\n", ":2: the score '1,5' is not a number"),
    "underscore": ("ann x 1.5\nbob y 1_5\n", ":2: the score '1_5' is not a number"),
    "too few": ("ann x 1\nbob 2\n", ":2: expected 3 columns .*, got 2: 'bob 2'"),
    "too many": ("ann x 1\nbob y 2 3\n", ":2: expected 3 columns .*, got 4"),
    "unknown label": ("ann x 1 target\nbob y 2 maybe\n" + "bob y 2 nontarget\n" * 20, ":2: unknown label 'maybe'"),
    "not utf-8": (b"ann x 1\nb\xf6b y 2\n", ":2: not UTF-8"),
    "nul": (b"ann x 1\nbob \x00y 2\n", ":2: contains NUL bytes"),
    "junk": (bytes(range(256)) * 20, "NUL bytes"),
    "hdf5": (b"\x89HDF\r\n\x1a\n" + bytes(100), "damaged, or not an HDF5 file"),
    "numpy": (b"\x93NUMPY\x01\x00", "damaged, or not a NumPy array"),
    "truncated gzip": (gzip.compress(b"ann x 1\n" * 1000)[:-12], "damaged or cut off"),
    "one column": ("utt1\nutt2\n", ":1: unclear which column is the score"),
    "no number": ("ann x y\nbob y z\n", ":1: unclear which column is the score"),
    "unknown header": ("foo bar baz\nann x 1\n", "score 'baz' is not a number|unclear which column"),
    "ambiguous": ("ann 1 0.5\nbob 0 0.7\n", "could be .*enroll test score.* or .*trial label score"),
    "two scores": ("trial,score,llr\na,1,2\n", "contains scores of 2 systems: score, llr"),
    "open quote": ('ann,x,1.0\n"bob,y,2.0\ncat,z,3\n', ":2: expected 3 columns"),
    "quote inside": ('a,x,1.0\n"b"0,z,2\n', ":2: expected 3 columns"),
    "quote over the end": ('trial,score\na,1\n"b\nc,2\n', ":3: expected 2 columns"),
    "beyond range": ("ann x 1e400\nbob y inf\n", ":1: the score '1e400' exceeds the largest float"),
    "digits beyond range": (
        f"bob y inf\nann x {'9' * 309}\n",
        f":2: the score '{'9' * 309}' exceeds the largest float",
    ),
    "minus beyond range": (f"bob y 1\nann x -{'1' * 310}.5\n", ":2: the score '-1111"),
    "commas between thousands": ("ann x 1,500\nbob y 2,500\n", "unclear which column is the score"),
    "empty last field": ("enroll\ttest\tscore\tlabel\na\tx\t1\t\nb\ty\t2\ttarget\n", ":2: unknown label ''"),
    "double blank for a column": ("a b 1\nc  2\n", ":2: expected 3 columns .*, got 2"),
    "empty name": ("trial,score\na,1\n,2\n", ":3: the name of the trial is empty"),
}


@pytest.mark.parametrize("kind", BAD_SCORES)
def test_bad_files_are_refused_with_their_line(write, kind):
    text, message = BAD_SCORES[kind]
    with pytest.raises(FormatError, match=f"file.txt.*{message}"):
        read_scores(write(text))


def test_keys_with_unknown_words_name_the_line(write):
    lines = ["ann x target"] * 1500 + ["bob y Target?"]
    words = r"file.txt:1501: unknown label 'Target\?' in the line .* Known words: target = target\|tgt"
    with pytest.raises(FormatError, match=words):
        read_key(write("\n".join(lines)))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("enroll,test,points", r"'points' is neither a role nor the name of a column \(ann, x, 1.5\)"),
        ("enroll,enroll,score", "'enroll' is given twice"),
        ("enroll,score=2", "'enroll' is not ROLE=COLUMN like others"),
        ("enroll,test,-", "no column is the score"),
        ("side,-,score", "no column is the (enroll|test)"),
        ("enroll,-,score", "no column is the test"),
        ("enroll,test,-,score", "expected 4 columns"),
        ("trial=9,score=3", "no column '9'"),
    ],
)
def test_bad_column_lists(write, columns, message):
    with pytest.raises((InputError, FormatError), match=message):
        read_scores(write("ann x 1.5\n"), columns=columns)


def test_formats_by_name(write):
    path = write("ann 1 0.5\nbob 0 0.7\n")
    assert rows(read_scores(path, format="kaldi")) == [("ann", "1"), ("bob", "0")]
    with pytest.raises(InputError, match="format: 'kald' is unknown. Use one of .*kaldi, .*voxceleb"):
        read_scores(path, format="kald")
    with pytest.raises(FormatError, match="file.txt:1: not speechbrain"):
        read_scores(path, format="speechbrain")


def test_long_names_and_extreme_numbers(write):
    name = "n" * 300
    scores = read_scores(write(f"{name} x 1e308\n{name}2 x -inf\n{name}3 x 5e-324\n{name}4 x +Infinity\n"))
    assert scores.score.tolist() == [1e308, -math.inf, 5e-324, math.inf]
    assert rows(scores)[0] == (name, "x")


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=50))
def test_shortest_digits_come_back_bit_for_bit(values):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s"
        path.write_text("".join(f"t{i} {value!r}\n" for i, value in enumerate(values)))
        np.testing.assert_array_equal(read_scores(path).score.view(np.int64), np.array(values).view(np.int64))


def test_many_lines_with_different_names_in_every_block(write):
    n = 600_000
    text = "".join(f"model_{i % 7919} segment_{i:07d} {i % 1000}\n" for i in range(n))
    scores = read_scores(write(text))
    assert len(scores.trials) == n
    assert scores.score.tolist() == [i % 1000 for i in range(n)]
    for i in (0, 1, 299_999, n - 1):
        assert scores.trials.name_of(i) == f"(model_{i % 7919}, segment_{i:07d})"


def test_faults_far_down_are_found(write):
    lines = [f"m s{i} {i}" for i in range(200_000)]
    lines[150_000] = "m s150000 none"
    with pytest.raises(FormatError, match=r"file.txt:150001: the score 'none' is not a number"):
        read_scores(write("\n".join(lines)))


def test_missing_files_are_os_errors(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_scores(tmp_path / "none.txt")


def test_ignored_columns_hide_no_comment(write):
    scores = read_scores(write("g a 1.0\n# b 2.0\nh c 3.0\n"), columns="-,trial,score")
    assert rows(scores) == [("a",), ("c",)]


def test_a_header_is_never_a_trial(write):
    key = read_key(
        write("\nenroll test target\na x target\nb y nontarget\n"), columns="enroll=enroll,test=test,label=target"
    )
    assert rows(key) == [("a", "x"), ("b", "y")]


def test_other_columns_and_separators_are_named(write):
    scores = read_scores(write("modelid,segmentid,gender,LLR\na,x,f,1\n"))
    assert scores.trials.origin.reading == (
        "table enroll='modelid' test='segmentid' score='LLR', commas, other columns: gender"
    )
    assert scores.trials.conditions["gender"].to_pylist() == ["f"]


def test_the_side_is_part_of_the_identity(write):
    scores = read_scores(write("modelid\tsegmentid\tside\tLLR\na\tx\ta\t1\na\tx\tb\t2\n"))
    assert rows(scores) == [("a", "x", "a"), ("a", "x", "b")]
    assert scores.trials.origin.reading.startswith("nist-sre ")


def test_streams_count_rows_where_there_are_no_lines(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("a 1.5\nb 2.5\n",))
    writer.start()
    scores = read_scores(pipe)
    writer.join()
    assert scores.trials.origin.where(1) == f"{pipe}, row 1"


def test_a_file_that_changed_is_no_reason_to_fail(write):
    path = write("a 1.5\nb 2.5\n")
    origin = read_scores(path).trials.origin
    assert origin.where(1) == f"{path}:2"
    path.write_text("a 1.5\n")
    assert origin.where(1) == f"{path}, row 1"
    path.unlink()
    assert origin.where(0) == f"{path}, row 0"


PIECES = st.sampled_from(
    [*"ab1,. \t\n\r#;\"'", "\n", " ", ",", "1.5", "-inf", "nan", "1e400", "target", "imp", "score,", "trial "]
)


@given(
    st.lists(PIECES, max_size=40).map("".join), st.sampled_from(["", "a x 1\n", "trial,score\n", "a\tx\t0.5\ttarget\n"])
)
def test_whatever_is_read_is_what_the_lines_say(text, start):
    """Random text is refused by our own errors, or every line that is no comment and not blank is one trial."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s"
        path.write_bytes((start + text).encode())
        try:
            reading = read_contents(path, need="scores")
        except FormatError as error:
            assert str(error).startswith(str(path))
            assert "CSV" not in str(error)
            return
    lines = (start + text).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    lines = [line for line in lines if line.strip() and not line.strip(" \t\v\f").startswith(("#", ";;"))]
    layout = FirstLines.of(lines, "s", InputOptions(need="scores")).layout()
    fields = [
        dict(zip(layout.roles, split(line, layout.delimiter), strict=True))
        for line in lines[layout.header is not None :]
    ]
    assert rows(reading.scores) == [tuple(row[side] for side in layout.sides) for row in fields]
    assert reading.scores.score.tolist() == [float(row["score"]) for row in fields]


OPENED = {
    "bytes": lambda path: io.BytesIO(path.read_bytes()),
    "text": lambda path: io.StringIO(path.read_text()),
    "binary file": lambda path: path.open("rb"),
    "text file": lambda path: path.open(encoding="utf-8"),
    "compressed": lambda path: io.BytesIO(gzip.compress(path.read_bytes())),
    "gzip file": lambda path: gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(path.read_bytes()))),
}


@pytest.mark.parametrize("opened", OPENED.values(), ids=OPENED)
def test_open_files_are_read_as_files_are(tmp_path, opened):
    path = tmp_path / "sysA.txt"
    path.write_text("ann x 1.5 target\nbob y -2.25 nontarget\n")
    for read in (
        lambda one: read_scores(one, columns="enroll,test,score,label").score.tolist(),
        lambda one: read_key(one, columns="enroll,test,-,label").is_target.tolist(),
        lambda one: read_index(one, columns="enroll,test,-,-").trials.name_of(1),
    ):
        with opened(path) as file:
            assert read(file) == read(path)


def test_an_open_file_is_called_as_it_is_called(tmp_path):
    path = tmp_path / "sysA.txt"
    path.write_text("ann x 1.5\n")
    with path.open("rb") as file:
        scores = read_scores(file)
    assert (scores.name, scores.trials.origin.name) == ("sysA", str(path))
    with pytest.raises(FormatError, match="^open file:2: the score 'x' is not a number"):
        read_scores(io.BytesIO(b"ann x 1.5\nann y x\n"))
    with pytest.raises(InputError, match=r"sysA.txt: cannot be read: .*closed file\. Open it for reading"):
        read_scores(file)
    with path.open("wb") as file, pytest.raises(InputError, match=r"sysA.txt: cannot be read"):
        read_scores(file)


def test_binary_formats_and_class_scores_are_read_from_open_files():
    pq = pytest.importorskip("pyarrow.parquet")
    table = pa.table({"trial": ["a", "b"], "eng": [1.0, -1.0], "fra": [0.5, 2.0]})
    stream = io.BytesIO()
    pq.write_table(table, stream)
    stream.seek(0)
    assert read_class_scores(stream).score.tolist() == [[1.0, 0.5], [-1.0, 2.0]]


@pytest.mark.parametrize("passed", [None, 3, b"a b 1.0", [1.0], np.zeros(3), {"score": [1.0]}, pa.table({"a": [1.0]})])
@pytest.mark.parametrize("read", [read_scores, read_key, read_index, read_class_scores])
def test_what_is_no_file_is_refused_with_a_way_out(read, passed):
    ways = {bytes: "io.BytesIO", list: "accepts arrays", np.ndarray: "accepts arrays", dict: "scores_from and key_from"}
    words = ways.get(type(passed), "scores_from and key_from" if isinstance(passed, pa.Table) else "Pass a file name")
    with pytest.raises(InputError, match=f"^path: got {type(passed).__name__}.*{words}"):
        read(passed)
