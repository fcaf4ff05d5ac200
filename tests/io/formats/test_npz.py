"""Archives of arrays as numpy.savez writes them, what comes back of ours, and what is refused."""

import io
import struct
import tracemalloc
import zipfile
import zlib

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban._validate.arrays import Vocabulary
from deciban.errors import FormatError, InputError
from deciban.io.formats import Contents
from deciban.trials import ClassKey, ClassScores, Index, Key, Scores, Trials
from support.tables import (
    again,
    assert_same_contents,
    binary_contents,
    changed,
    class_contents,
    read_bytes,
    sound_or_refused,
    written,
)


def saved(save=np.savez, /, **arrays):
    stream = io.BytesIO()
    save(stream, **arrays)
    return stream.getvalue()


def read(options=None, /, **arrays):
    return read_bytes(saved(**arrays), "npz", **(options or {}))


def names_of(contents):
    trials = contents.index.trials
    return [trials.name_of(row) for row in range(len(trials))]


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_lists_of_names(save):
    arrays = {
        "enroll": ["ann", "bob d", "änn"],
        "test": ["x", "y", "日本"],
        "score": np.array([1.5, -np.inf, -0.0], ">f8"),
        "is_target": [True, False, False],
        "condition:gender": ["f", "", "m"],
        "condition:age": [30, 40, 50],
    }
    contents = read_bytes(saved(save, **arrays), "npz", name="sysA")
    assert contents.kinds == ("scores", "key", "index")
    assert names_of(contents) == ["(ann, x)", "(bob d, y)", "(änn, 日本)"]
    assert (contents.scores.name, contents.scores.score.tolist()) == ("sysA", [1.5, -np.inf, 0.0])
    assert np.signbit(contents.scores.score[2])
    assert contents.key.is_target.tolist() == [True, False, False]
    conditions = {name: values.to_pylist() for name, values in contents.index.trials.conditions.items()}
    assert conditions == {"gender": ["f", "", "m"], "age": [30, 40, 50]}
    assert contents.notes == ()


def test_positions_in_lists_of_names():
    contents = read(
        enroll=np.uint8([1, 0, 1]),
        enroll_names=["a", "b", "never"],
        test=["x", "x", "y"],
        side=np.array([0, 1, 0]),
        side_names=np.array([b"a", "ü".encode()]),
        score=np.float32([1, 2, 3]),
    )
    assert names_of(contents) == ["(b, x, a)", "(a, x, ü)", "(b, y, a)"]
    assert contents.scores.score.dtype == np.float32


def test_grids():
    arrays = {"enroll_names": ["a", "b"], "test_names": ["x", "y", "z"], "score": np.arange(6.0).reshape(2, 3)}
    contents = read(**arrays)
    assert names_of(contents) == ["(a, x)", "(a, y)", "(a, z)", "(b, x)", "(b, y)", "(b, z)"]
    assert contents.scores.score.tolist() == [0, 1, 2, 3, 4, 5]
    arrays["score"][0, 0] = np.nan
    arrays["mask"] = np.array([[0, 1, 0], [1, 0, 1]])
    contents = read(**arrays, is_target=np.array([1.0, 0.0, 1.0]))
    assert names_of(contents) == ["(a, y)", "(b, x)", "(b, z)"]
    assert contents.scores.score.tolist() == [1, 3, 5]
    assert contents.key.is_target.tolist() == [True, False, True]


def test_several_systems_and_logarithms():
    contents = read({"name": "file"}, trial=["u", "v"], **{"score:A": [1.0, 2], "score:B b": [3, 4]}, log10=True)
    assert [(one.name, one.score.tolist(), one.log10) for one in contents.systems] == [
        ("A", [1, 2], True),
        ("B b", [3, 4], True),
    ]


def test_class_scores_and_class_keys():
    contents = read(trial=["u", "v"], classes=["eng", "fra"], score=[[1.0, 2], [3, 4]], label=[1, 0])
    assert contents.kinds == ("class-scores", "class-key", "index")
    assert contents.class_scores.classes == contents.class_key.classes == ("eng", "fra")
    assert contents.class_scores.score.tolist() == [[1, 2], [3, 4]]
    assert contents.class_key.label.tolist() == [1, 0]
    assert read(trial=["u", "v"], classes=["fra", "eng"], label=["eng", "fra"]).class_key.label.tolist() == [1, 0]


def test_names_that_are_common():
    contents = read(scores=[0.5, 1.5], labels=[1, 0])
    assert contents.kinds == ("scores", "key", "index")
    assert names_of(contents) == ["(0)", "(1)"]
    assert contents.key.is_target.tolist() == [True, False]
    contents = read(scores=[[0.5, 1.5], [1, 2], [0, 1]], labels=[1, 0, 1])
    assert contents.kinds == ("class-scores", "class-key", "index")
    assert contents.class_key.label.tolist() == [1, 0, 1]
    assert read({"need": "class-key"}, labels=[2, 0]).class_key.classes == ("0", "1", "2")
    assert read(scores=[[0.5], [1]], label=["imp", "tgt"]).key.is_target.tolist() == [False, True]
    assert read(score=[1.0], scores=[2.0]).scores.score.tolist() == [1.0]
    words = Vocabulary.of({"target": "Y", "nontarget": "N"})
    assert read({"vocabulary": words}, trial=["a"], label=["Y"]).words == {"Y": True}


def test_other_arrays_are_told():
    assert read(scores=[0.5], embedding=np.zeros((2, 3)), zoo=1).notes == (
        "array embedding was not read.",
        "array zoo was not read.",
    )


def without_missing(contents):
    tables = (*contents.systems, contents.key, contents.class_scores, contents.class_key)
    return not any(v.null_count for one in tables if one is not None for v in one.trials.conditions.values())


@given(st.one_of(binary_contents(), class_contents()).filter(without_missing))
def test_what_is_written_comes_back_bit_for_bit(contents):
    data = written(contents, "npz")
    assert_same_contents(read_bytes(data, "npz"), contents)
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        assert all(arrays[name] is not None for name in arrays)


def test_same_data_same_bytes():
    contents = Contents.of(Scores.of({"trial": ["a", "b"]}, [1.0, 2.0]))
    assert written(contents, "npz") == written(contents, "npz")


def test_a_grid_stays_a_grid():
    trials = Trials.of_grid(["a", "b", "idle"], ["x", "y"], np.array([[1, 0], [1, 1], [0, 0]], bool))
    back = again(Contents.of(Scores(trials, np.arange(3.0))), "npz").scores
    assert back.trials.listed is None
    assert back.trials.names[0].to_pylist() == ["a", "b", "idle"]
    assert again(Contents.of(Index(trials)), "npz").kinds == ("index",)


ROWS = Trials.of_rows(2)
NULLS = Scores.of({"trial": ["a", "b"]}, [1.0, 2.0], conditions={"gender": ["f", None]})
DATES = Scores.of({"trial": ["a"]}, [1.0], conditions={"day": pa.array([0], pa.date32())})
LOST = {
    "missing values": ([NULLS], "cannot contain missing values, but condition:gender has 1"),
    "dates": ([DATES], r"cannot contain date32\[day\] values, which condition:day has"),
    "NUL": ([Scores.of({"trial": ["a\0"]}, [1.0])], "cannot contain NUL characters, which trial has"),
    "order": ([Scores(ROWS.take(np.array([1, 0])), np.zeros(2))], "not the rows of a table in order. Add names"),
    "both bases": (
        [Scores(ROWS, np.zeros(2)), Scores(ROWS, np.zeros(2), "b", log10=True)],
        "cannot be in one file.*in_nats",
    ),
    "same names": ([Scores(ROWS, np.zeros(2)), Scores(ROWS, np.zeros(2))], "two systems are called 'system'"),
    "classes": (
        [ClassScores(ROWS, ("a", "b"), np.zeros((2, 2))), ClassKey(ROWS, ("b", "a"), np.array([0, 1]))],
        "different classes",
    ),
    "both": ([Scores(ROWS, np.zeros(2)), ClassScores(ROWS, ("a", "b"), np.zeros((2, 2)))], "Write two files"),
}


@pytest.mark.parametrize("case", LOST)
def test_nothing_is_lost_in_silence(case):
    tables, message = LOST[case]
    with pytest.raises(FormatError, match=message):
        written(Contents.of(*tables), "npz")


def test_tables_of_other_trials():
    tables = [Scores.of({"trial": ["a", "b"]}, [1.0, 2.0]), Key.of({"trial": ["b", "a"]}, [True, False])]
    with pytest.raises(InputError, match="Align them first"):
        written(Contents.of(*tables), "npz")


REFUSED = {
    "objects": ({"score": np.array([1.0, None])}, "score: it contains Python objects, and deciban never loads pickles"),
    "names as objects": ({"trial": np.array(["a", None]), "score": [1, 2]}, "trial: .*never loads pickles"),
    "NaN": ({"score": [1.0, np.nan]}, "score: 1 of 2 scores are NaN, the first in row 1"),
    "lengths": ({"trial": ["a", "b"], "score": [1.0]}, r"score: has shape \(1,\), expected 2 values, one per trial"),
    "label lengths": ({"score": [1.0, 2], "label": [1]}, r"label: has shape \(1,\), expected 2 values"),
    "condition lengths": ({"score": [1.0], "condition:age": [1, 2]}, "condition:age: 2 values for 1 trials"),
    "name lengths": ({"enroll": ["a"], "test": ["x", "y"], "score": [1.0]}, "expected columns of one length"),
    "half a name": ({"enroll": ["a"], "score": [1.0]}, "identifies its trials by enroll. Expected enroll and test"),
    "half a grid": ({"enroll_names": ["a"], "score": [1.0]}, "identifies its trials by enroll_names. Expected"),
    "numbers for names": ({"trial": [1.5], "score": [1.0]}, "trial: expected a vector of text, got float64"),
    "positions": ({"trial": [0, 2], "trial_names": ["a", "b"], "score": [1, 2]}, "row 1: index 2 in trial_names"),
    "negative positions": ({"trial": [-1], "trial_names": ["a"], "score": [1]}, "row 0: index -1 in trial_names"),
    "no positions": ({"trial": ["a"], "trial_names": ["a"], "score": [1]}, "expected a vector of indices"),
    "mask": (
        {"enroll_names": ["a"], "test_names": ["x"], "mask": [[1, 0]], "score": [[1.0, 2]]},
        r"mask: has shape \(1, 2\), but there are 1 x 1 names",
    ),
    "mask values": (
        {"enroll_names": ["a"], "test_names": ["x"], "mask": [[2]], "score": [[1.0]]},
        "mask, row 0: the label is 2",
    ),
    "empty mask": ({"enroll_names": ["a"], "test_names": ["x"], "mask": [[False]]}, "contains no trials"),
    "grid shape": (
        {"enroll_names": ["a"], "test_names": ["x", "y"], "score": [[1.0], [2]]},
        r"score: has shape \(2, 1\), expected 1 x 2 values, or 2 values, one per trial",
    ),
    "twice in a grid": ({"enroll_names": ["a", "a"], "test_names": ["x"], "score": [[1.0], [2]]}, "repeat another one"),
    "a cube": ({"score": np.zeros((2, 2, 2))}, r"score: has shape \(2, 2, 2\)"),
    "truth": ({"score": [1.0], "is_target": [0.5]}, "is_target, row 0: the label is 0.5"),
    "truth in words": (
        {"score": [1.0], "is_target": ["yes"]},
        "is_target: contains text, expected numbers or booleans",
    ),
    "unknown word": ({"score": [1.0], "label": ["maybe"]}, "row 0: unknown label 'maybe'"),
    "unknown class": ({"trial": ["a"], "classes": ["x", "y"], "label": ["z"]}, "class 'z' is not among the classes"),
    "label out of range": ({"trial": ["a"], "classes": ["x", "y"], "label": [2]}, "row 0: label 2 of 2 classes"),
    "class names": ({"trial": ["a"], "classes": ["x", "x"], "score": [[1.0, 2]]}, "expected at least 2 distinct names"),
    "number of classes": ({"trial": ["a"], "classes": ["x", "y"], "score": [[1.0, 2, 3]]}, "expected 1 segments x 2"),
    "nothing": ({"foo": [1.0]}, "contains npz with foo, but neither names of trials nor scores or labels"),
    "no trials": ({"score": np.zeros(0)}, "contains no trials"),
    "one number": ({"score": 1.5}, "neither names of trials nor scores"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_refused(case):
    arrays, message = REFUSED[case]
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=True, **arrays)
    with pytest.raises(FormatError, match=f"file.*{message}"):
        read_bytes(stream.getvalue(), "npz")


def test_names_that_promise_more_trials_than_anybody_has():
    names = np.arange(100_000).astype(str)
    with pytest.raises(FormatError, match="declares 10,000,000,000 trials without any value. Store the mask"):
        read(enroll_names=names, test_names=names)


def test_nul_characters_that_would_cut_a_name():
    with pytest.raises(FormatError, match="trial, row 1: the name contains a NUL character"):
        read(trial=["ab", "a\0b"], score=[1, 2])


def zipped(members, method=zipfile.ZIP_STORED):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return stream.getvalue()


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def header(n):
    return npy(np.zeros(0)).replace(b"(0,), }" + b" " * len(str(n)), f"({n},), }} ".encode())


def test_archives_of_other_things():
    with pytest.raises(FormatError, match="'scores.txt' is not an array. Only .npz archives can be read"):
        read_bytes(zipped([("score.npy", npy(np.zeros(2))), ("scores.txt", b"a 1\n")]), "npz")
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        with pytest.raises(FormatError, match="'score' is encrypted, or has a compression that NumPy does not use"):
            read_bytes(zipped([("score.npy", npy(np.zeros(2)))], method), "npz")
    data = bytearray(zipped([("score.npy", npy(np.zeros(2)))]))
    data[data.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(FormatError, match="'score' is encrypted"):
        read_bytes(bytes(data), "npz")


def test_two_arrays_of_one_name():
    data = zipped([("score.npy", npy(np.zeros(2))), ("scorf.npy", npy(np.ones(2)))]).replace(b"scorf", b"score")
    with pytest.raises(FormatError, match="two arrays are called 'score'"):
        read_bytes(data, "npz")


def test_checksums_are_compared():
    data = bytearray(zipped([("score.npy", npy(np.arange(100.0)))]))
    data[data.index(b"PK\x01\x02") - 300] ^= 1
    with pytest.raises(FormatError, match=r"Bad CRC-32"):
        read_bytes(bytes(data), "npz")


@pytest.mark.parametrize("n", [10**12, 10**6])
def test_headers_that_promise_more_than_there_is(n):
    tracemalloc.start()
    with pytest.raises(FormatError, match=f"score: the header declares {n:,} float64 values"):
        read_bytes(zipped([("score.npy", header(n))], zipfile.ZIP_DEFLATED), "npz")
    assert tracemalloc.get_traced_memory()[1] < 5 << 20
    tracemalloc.stop()


def test_bombs():
    n_bytes = 260 << 20
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    start = header(n_bytes // 8)
    packed, crc, block = [packer.compress(start)], zlib.crc32(start), bytes(1 << 20)
    for _ in range(n_bytes >> 20):
        packed.append(packer.compress(block))
        crc = zlib.crc32(block, crc)
    body, length = b"".join((*packed, packer.flush())), n_bytes + len(start)
    fields = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 33, crc, len(body), length, 9, 0)
    central = b"PK\x01\x02\x14\x00" + fields + struct.pack("<HHHII", 0, 0, 0, 0, 0) + b"score.npy"
    local = b"PK\x03\x04" + fields + b"score.npy" + body
    data = local + central + b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local), 0)
    assert zipfile.ZipFile(io.BytesIO(data)).getinfo("score.npy").file_size == length
    tracemalloc.start()
    with pytest.raises(
        FormatError, match=r"'score' would expand from .* to 272,629,888 bytes, so this may be a decompression bomb"
    ):
        read_bytes(data, "npz")
    assert tracemalloc.get_traced_memory()[1] < 5 << 20
    tracemalloc.stop()


SOUND = saved(np.savez_compressed, trial=["a", "b"], score=[1.0, 2.0], label=["target", "imp"])


def test_every_cut_is_refused():
    for length in range(45, len(SOUND)):
        with pytest.raises(FormatError, match="file"):
            read_bytes(SOUND[:length], "npz")


@given(changed(SOUND, 40, most=3))
def test_changed_bytes_give_tables_or_our_errors(data):
    sound_or_refused(data, "npz")


def test_one_long_name_among_many_is_refused_before_it_fills_the_memory():
    names = [*map(str, range(100_000)), "x" * 1_000_000]
    tracemalloc.start()
    with pytest.raises(FormatError, match=r"trial would be 400,004,000,000 bytes long.* Choose parquet"):
        written(Contents.of(Scores.of({"trial": names}, np.zeros(len(names)))), "npz")
    assert tracemalloc.get_traced_memory()[1] < 100 << 20
    tracemalloc.stop()


@pytest.mark.parametrize("name", ["scores", "y_score", "y_prob", "logits", "y_pred"])
def test_arrays_as_scikit_learn_calls_them(name):
    contents = read(y_true=np.array([1, 0, 1]), **{name: np.array([0.5, -1.0, 2.0])})
    assert contents.systems[0].score.tolist() == [0.5, -1.0, 2.0]
    assert contents.key.is_target.tolist() == [True, False, True]
    matrix = np.array([[0.5, -1.0, 2.0], [1.0, 0.0, -1.0]])
    for label in (np.array([2, 0]), np.eye(3)[[2, 0]]):
        classes = read({"need": "class-scores"}, y_true=label, **{name: matrix})
        assert classes.class_scores.score.tolist() == matrix.tolist()
        assert classes.class_key.label.tolist() == [2, 0]


def test_of_several_arrays_of_scores_the_likeliest_is_read():
    contents = read(y_true=np.array([1, 0]), y_pred=np.array([1, 0]), y_score=np.array([0.5, -1.0]))
    assert contents.systems[0].score.tolist() == [0.5, -1.0]
    assert contents.notes == ("array y_pred was not read.",)
