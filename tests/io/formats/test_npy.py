"""Arrays as numpy.save and others write them, what comes back of ours, and what is refused."""

import io
import struct
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from deciban._validate.arrays import Vocabulary
from deciban.errors import FormatError
from deciban.io.formats import Contents, InputOptions, by_name
from deciban.io.source import Source
from deciban.trials import ClassKey, ClassScores, Index, Key, Scores, Trials
from support.tables import again, assert_same_contents, changed, read_bytes, sound_or_refused, written


def by_hand(header, data, version=(1, 0)):
    """An array as the documentation of the format lays it out."""
    text = header.encode("latin1")
    length = struct.pack("<H" if version == (1, 0) else "<I", len(text))
    return b"\x93NUMPY" + bytes(version) + length + text + data


def header(descr="<f8", shape="(3,)", fortran="False"):
    return f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n"


def saved(array, **options):
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


def read(array, **options):
    return read_bytes(saved(array), "npy", **options)


def test_bytes_by_hand():
    data = struct.pack("<3d", 1.5, -0.0, float("-inf"))
    for version in ((1, 0), (2, 0)):
        contents = read_bytes(by_hand(header(), data, version), "npy", name="sysA")
        assert contents.kinds == ("scores", "index")
        assert contents.scores.score.tobytes() == data
        assert contents.scores.name == "sysA"
        assert contents.index.trials.sides == ("row",)
        assert [contents.index.trials.name_of(row) for row in range(3)] == ["(0)", "(1)", "(2)"]
    big = struct.pack(">3d", 1.5, -0.0, float("-inf"))
    assert read_bytes(by_hand(header(">f8"), big), "npy").scores.score.tobytes() == data
    turned = read_bytes(by_hand(header("<f4", "(2, 3)", "True"), struct.pack("<6f", *range(6))), "npy")
    assert turned.class_scores.score.tolist() == [[0, 2, 4], [1, 3, 5]]


def test_python_2_wrote_long_integers():
    contents = read_bytes(by_hand(header("<f8", "(1L,)"), struct.pack("<d", 2.5)), "npy")
    assert contents.scores.score.tolist() == [2.5]


@pytest.mark.parametrize("kind", ["i1", "u1", "<i4", ">i4", "<u8", "<f2", ">f4", "<f8"])
def test_every_type_of_numbers(kind):
    contents = read(np.array([0, 1, 100], kind))
    assert contents.scores.score.tolist() == [0, 1, 100]
    assert contents.scores.score.dtype.isnative
    assert contents.scores.score.dtype == (np.float32 if kind[1:] in ("f2", "f4") else np.float64)


def test_keys():
    for truth in (
        np.array([True, False]),
        np.uint8([1, 0]),
        np.array([1, 0]),
        np.float32([1, 0]),
        np.array([[1], [0]]),
    ):
        assert read(truth, need="key").key.is_target.tolist() == [True, False]
    assert read(np.array([True, False])).kinds == ("key", "index")
    assert read(np.array([1, 0])).kinds == ("scores", "index")
    with pytest.raises(FormatError, match="file, row 1: the label is 2, expected booleans, or 1 for target"):
        read(np.array([1, 2]), need="key")


def test_words_of_the_user_say_what_numbers_and_booleans_mean():
    def targets(array, **labels):
        vocabulary = Vocabulary.of(labels or None)
        return read(np.array(array), need="key", vocabulary=vocabulary).key.is_target.tolist()

    assert targets([0, 1, 0], target="0", nontarget="1") == [True, False, True]
    assert targets([0.0, 1.0], target="1", nontarget="0") == [False, True]
    assert targets([2, 1], target="2", nontarget="1") == [True, False]
    assert targets([True, False], target="False", nontarget="True") == [False, True]
    assert targets([True, False], target="tgt", nontarget="imp") == [True, False]
    assert targets([-1, 1]) == [False, True]
    with pytest.raises(FormatError, match="the label is -1, expected booleans"):
        targets([-1, 0, 1])
    with pytest.raises(FormatError, match="unknown label '0'"):
        targets([0, 1], target="1", nontarget="imp")
    with pytest.raises(FormatError, match="true and false would mean the same"):
        targets([True, False], target="1", nontarget="true")


def test_classes():
    for label in (np.array([2, 0]), np.uint8([2, 0]), np.float32([2, 0])):
        key = read(label, need="class-key").class_key
        assert (key.classes, key.label.tolist()) == (("0", "1", "2"), [2, 0])
    assert read(np.array([0, 0]), need="class-key").class_key.classes == ("0", "1")
    for wrong in (-1, 0.5, np.nan, np.inf, 1e6, 1e300):
        with pytest.raises(FormatError, match="row 1: the label is .*, expected the number of a class"):
            read(np.array([1, wrong]), need="class-key")


def test_a_matrix_is_not_taken_for_scores():
    matrix = np.array([[0.5, 1.5], [2.5, 3.5], [4.5, 5.5]])
    contents = read(matrix, name="net")
    assert contents.kinds == ("class-scores", "index")
    assert (contents.class_scores.classes, contents.class_scores.name) == (("0", "1"), "net")
    with pytest.raises(FormatError, match=r"a 3 x 2 matrix, but scores need .* columns=.score=2.; .*difference"):
        read(matrix, need="scores")
    for need in ("key", "class-key"):
        with pytest.raises(FormatError, match="a 3 x 2 matrix, but a key is needed. Expected one label per trial"):
            read(matrix, need=need)


def test_columns_of_a_matrix():
    matrix = np.array([[0.5, 1.5], [2.5, 3.5], [4.5, 5.5]])
    for columns in ("-,score", "score=2", {"score": "2"}, ["-", "score"]):
        scores = read(matrix, need="scores", columns=columns, name="net", unit="log10").scores
        assert (scores.name, scores.score.tolist(), scores.log10) == ("net", [1.5, 3.5, 5.5], True)
    both = read(matrix, columns="score,score").systems
    assert [(one.name, one.score[0]) for one in both] == [("1", 0.5), ("2", 1.5)]
    assert read(matrix[:, 0], columns="score").scores.score.tolist() == [0.5, 2.5, 4.5]
    for columns in (
        "score",
        "score,score,score",
        "-,-",
        "score=3",
        "score=0",
        "score=a",
        "trial=1,score=2",
        "trial,score",
    ):
        with pytest.raises(FormatError, match="its 2 columns have no names. Write columns=.score=2. for the second"):
            read(matrix, columns=columns)


REFUSED = {
    "objects": (np.array([1.0, None]), "it contains Python objects, and deciban never loads pickles"),
    "records": (
        np.zeros(3, [("score", "f8"), ("label", "i4")]),
        r"contains records \(.*Expected booleans, integers, floats",
    ),
    "complex": (np.zeros(3, complex), "contains complex numbers"),
    "text": (np.array(["1.5"]), "contains <U3 values, but scores must be numbers"),
    "dates": (np.zeros(3, "M8[s]"), "contains dates"),
    "wide floats": (np.zeros(3, np.longdouble), "floats of at most 64 bits"),
    "NaN": (np.array([1.0, np.nan, np.nan]), "2 of 3 scores are NaN, the first in row 1. Infinite"),
    "NaN in a matrix": (np.array([[1.0, 2.0], [3.0, np.nan]]), "1 of 4 scores are NaN, the first in row 1, column 1"),
    "huge": (np.array([2**53 + 1]), "an integer beyond 2\\*\\*53 .*, which no float can represent"),
    "nothing": (np.zeros(0), r"got shape \(0,\)"),
    "no columns": (np.zeros((3, 0)), r"got shape \(3, 0\)"),
    "one number": (np.array(1.5), r"got shape \(\)"),
    "a cube": (np.zeros((2, 2, 2)), r"got shape \(2, 2, 2\)"),
    "too many classes": (np.zeros((1, 200_000), np.int8), "a matrix with 200,000 columns"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_scores_is_refused(case):
    array, message = REFUSED[case]
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    with pytest.raises(FormatError, match=f"file: .*{message}"):
        read_bytes(stream.getvalue(), "npy")


@pytest.mark.parametrize("need", ["key", "class-key"])
def test_text_is_no_truth(need):
    with pytest.raises(FormatError, match="contains text, expected numbers or booleans"):
        read(np.array(["target"]), need=need)


HEADERS = {
    "a million million": (
        by_hand(header(shape=f"({10**12},)"), bytes(24)),
        "declares 1,000,000,000,000 float64 values",
    ),
    "beyond counting": (by_hand(header(shape=f"({2**70}, 3)"), bytes(24)), "but 24 bytes follow"),
    "cut off": (by_hand(header(), bytes(23)), "declares 3 float64 values in 24 bytes, but 23 bytes follow"),
    "too long": (by_hand(header(), bytes(25)), "but 25 bytes follow"),
    "less than none": (by_hand(header(shape="(-3,)"), bytes(24)), r"declares the shape \(-3,\)"),
    "letters of no length": (by_hand(header("<U0", f"({10**12},)"), b""), "in 0 bytes, but 0 bytes follow"),
    "version 3": (by_hand(header(), bytes(24), (3, 0)), "in version 1 or 2"),
    "long header": (
        b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + bytes(50),
        "header declares a length of 4,294,967,295 bytes",
    ),
    "a program": (by_hand("__import__('os').system('false')\n", b""), "damaged"),
    "half a header": (by_hand(header(), b"")[:30], "damaged"),
    "parentheses": (by_hand("(" * 9000, b""), "damaged"),
    "65 axes": (by_hand(header(shape="(1," + "1," * 64 + ")"), bytes(8)), "damaged"),
    "a boolean axis": (by_hand(header(shape="(True,)"), bytes(8)), "declares the shape"),
}


@pytest.mark.parametrize("case", HEADERS)
def test_headers_that_lie(case):
    data, message = HEADERS[case]
    tracemalloc.start()
    with pytest.raises(FormatError, match=message):
        read_bytes(data, "npy")
    assert tracemalloc.get_traced_memory()[1] < 20 << 20
    tracemalloc.stop()


def test_pickles_behind_an_array_header():
    with pytest.raises(FormatError, match="never loads pickles"):
        read_bytes(by_hand(header("|O", "(1,)"), b"\x80\x04N."), "npy")


def test_one_copy_of_the_numbers(tmp_path):
    path = tmp_path / "scores.npy"
    np.save(path, np.random.default_rng(0).normal(size=(1 << 20, 4)))
    tracemalloc.start()
    contents = by_name("npy").read(Source(path), InputOptions(need="class-scores"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert contents.class_scores.score.nbytes == 32 << 20
    assert peak < 80 << 20  # the matrix, the checks, and the row numbers


@given(hnp.arrays(st.sampled_from(["f4", "f8"]), st.integers(1, 6), elements={"allow_nan": False}))
def test_scores_come_back_bit_for_bit(values):
    contents = Contents.of(Scores(Trials.of_rows(len(values)), values))
    assert_same_contents(again(contents, "npy"), contents)
    assert np.load(io.BytesIO(written(contents, "npy"))).tobytes() == values.tobytes()


def test_all_tables_come_back():
    rows = Trials.of_rows(3)
    classes = ("0", "1", "2")
    for table, need in (
        (Key(rows, np.array([True, False, True])), None),
        (ClassScores(rows, classes, np.arange(9.0).reshape(3, 3)), None),
        (ClassScores(rows, classes, np.asfortranarray(np.arange(9, dtype=np.float32).reshape(3, 3))), None),
        (ClassKey(rows, classes, np.array([2, 0, 0])), "class-key"),
    ):
        assert_same_contents(again(Contents.of(table), "npy", need=need), Contents.of(table))


ROWS = Trials.of_rows(2)
ONE = Scores(ROWS, np.zeros(2))
LOST = {
    "names": ([Scores.of({"trial": ["a"]}, [1.0])], "can contain one array of .*, but .* needs trial, score"),
    "order": ([Scores(ROWS.take(np.array([1, 0])), np.zeros(2))], "not the rows of a table in order. Add names"),
    "two systems": ([ONE, ONE], "two systems are called 'system'"),
    "truth": ([ONE, Key(ROWS, np.array([True, False]))], "needs score, is_target. Choose npz or parquet"),
    "base": ([Scores(ROWS, np.zeros(2), log10=True)], "needs score, log10.*in_nats"),
    "classes": ([ClassScores(ROWS, ("a", "b"), np.zeros((2, 2)))], "needs classes, score"),
    "rare classes": ([ClassKey(ROWS, ("0", "1", "2"), np.array([0, 1]))], "needs classes, label"),
    "only names": ([Index(ROWS)], "one array of scores, truth or classes"),
}


@pytest.mark.parametrize("case", LOST)
def test_nothing_is_lost_in_silence(case):
    tables, message = LOST[case]
    with pytest.raises(FormatError, match=message):
        written(Contents.of(*tables), "npy")


SOUND = saved(np.arange(6.0).reshape(3, 2))


@given(changed(SOUND, 6, most=3))
def test_changed_bytes_give_tables_or_our_errors(data):
    sound_or_refused(data, "npy")


def test_real_matrices(real_data):
    """Shapes and types as the notes of these data sets describe them."""
    net = by_name("npy").read(Source(real_data / "agnews_gpt2" / "scores.npy"), InputOptions()).class_scores
    assert (net.score.shape, net.score.dtype) == ((7600, 4), np.float32)
    truth = (
        by_name("npy").read(Source(real_data / "agnews_gpt2" / "targets.npy"), InputOptions(need="class-key")).class_key
    )
    assert np.bincount(truth.label).tolist() == [1900] * 4
    folder = real_data / "sv_plda_calibration"
    key = by_name("npy").read(Source(folder / "trn_targets.npy"), InputOptions(need="key")).key
    assert (key.n_tar, key.n_non) == (1177, 118_997)


def test_one_hot_rows_are_labels():
    classes = np.array([2, 0, 1, 2])
    found = read_bytes(saved(np.eye(3, dtype=np.int64)[classes]), "npy", need="class-key")
    assert found.class_key.label.tolist() == classes.tolist()
    two = read_bytes(saved(np.eye(2)[[1, 0, 1]]), "npy", need="key")
    assert two.key.is_target.tolist() == [True, False, True]
    with pytest.raises(FormatError, match="one-hot rows"):
        read_bytes(saved(np.ones((4, 3))), "npy", need="class-key")
