"""MATLAB files of the BOSARIS layout: golden files by scipy, h5py and by hand, round trips, and files made to harm."""

import io
import struct
import subprocess
import tempfile
from pathlib import Path

import h5py
import numpy as np
import pytest
import scipy.io
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from deciban.errors import FormatError, InputError
from deciban.io.formats import for_ending, hdf5_and_matlab
from deciban.trials import Index, Key, Scores, Trials
from support.hdf5_files import (
    ALL_PAIRS,
    KEY,
    KEY_TRUTH,
    MASK,
    MASKED_PAIRS,
    MASKED_SCORES,
    MODELS,
    SCORES,
    SEGMENTS,
    assert_key,
    assert_masked_scores,
    assert_same_bits,
    at_most,
    damage,
    h5,
    pairs,
    read,
    refused,
    sound_or_refused,
    written,
)

pytestmark = pytest.mark.usefixtures("warm_matlab")


def column(texts):
    """A cell array of text for scipy."""
    cells = np.empty((len(texts), 1), object)
    cells[:, 0] = texts
    return cells


NAMES = {"modelset": column(MODELS), "segset": column(SEGMENTS)}


def mat5(path, variables, **how):
    """Write a file of version 5 with scipy."""
    scipy.io.savemat(path, variables, **how)
    return path


def mat73(path, variable, fields):
    """Write a struct as MATLAB does in version 7.3, with h5py: rows and columns swapped, cells by reference."""
    with h5py.File(path, "w", userblock_size=512) as file:
        home, cells = file.create_group(variable), file.create_group("#refs#")
        home.attrs["MATLAB_class"] = np.bytes_("struct")
        for field, value in fields.items():
            if isinstance(value, list):
                references = []
                for i, text in enumerate(value):
                    units = np.frombuffer(text.encode("utf-16-le"), np.uint16)
                    cell = cells.create_dataset(f"{field}{i}", data=units[:, None] if text else np.zeros(2, np.uint64))
                    cell.attrs["MATLAB_class"] = np.bytes_("char")
                    if not text:
                        cell.attrs["MATLAB_empty"] = np.uint8(1)
                    references.append(cell.ref)
                home.create_dataset(field, data=np.array([references], h5py.ref_dtype), dtype=h5py.ref_dtype)
            else:
                home.create_dataset(field, data=np.asarray(value).T, **({"compression": "gzip"} if value.size else {}))
    with path.open("r+b") as stream:
        stream.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM")
    return path


# What others write


@pytest.mark.parametrize("packed", [False, True])
def test_scores_of_version_5(tmp_path, packed, monkeypatch):
    if packed:  # the real process
        monkeypatch.setattr(hdf5_and_matlab, "subprocess", subprocess)
    fields = NAMES | {"scoremat": SCORES, "scoremask": MASK.astype(bool)}
    path = mat5(tmp_path / "scr.mat", {"other": np.eye(3), "scr": fields}, do_compression=packed)
    contents = read(path)
    assert contents.kinds == ("scores", "index")
    assert contents.origin.reading == "bosaris-mat scores"
    assert_masked_scores(contents.scores)


def test_scores_of_version_73(tmp_path):
    fields = {"modelset": MODELS, "segset": SEGMENTS, "scoremat": SCORES, "scoremask": MASK}
    contents = read(mat73(tmp_path / "scr.mat", "scr", fields))
    assert_masked_scores(contents.scores)
    assert contents.notes == ()
    assert_same_bits(read(tmp_path / "scr.mat", "bosaris-mat").scores.score, MASKED_SCORES)


@pytest.mark.parametrize("kind", [np.float32, np.int8, np.uint16, np.int64])
def test_other_types_of_numbers(tmp_path, kind):
    values = np.array([[1, 2, 3], [4, 5, 6]], kind)
    for path in (
        mat5(tmp_path / "5.mat", {"scr": NAMES | {"scoremat": values}}),
        mat73(tmp_path / "73.mat", "scr", {"modelset": MODELS, "segset": SEGMENTS, "scoremat": values}),
    ):
        contents = read(path)
        assert_same_bits(contents.scores.score, values.ravel().astype(np.float32 if kind == np.float32 else float))
        assert pairs(contents.scores.trials) == ALL_PAIRS
        assert "there is no mask" in contents.notes[0]


def test_keys_and_indexes(tmp_path):
    key = {"tar": KEY == 1, "non": KEY == -1}
    lists = {"modelset": MODELS, "segset": SEGMENTS}
    for path in (mat5(tmp_path / "5.mat", {"key": NAMES | key}), mat73(tmp_path / "73.mat", "key", lists | key)):
        assert_key(read(path).key)
    index = {"trialmask": MASK}
    for path in (mat5(tmp_path / "5.mat", {"ndx": NAMES | index}), mat73(tmp_path / "73.mat", "ndx", lists | index)):
        assert read(path).kinds == ("index",)
        assert pairs(read(path).index.trials) == MASKED_PAIRS


def test_id_maps_and_quality(tmp_path):
    path = mat5(tmp_path / "map.mat", {"idmap": {"leftids": column(["m1", "m2"]), "rightids": column(["ann", "ann"])}})
    assert read(path).id_map.right.to_pylist() == ["ann", "ann"]
    path = mat5(tmp_path / "q.mat", {"qual": {"ids": column(["x", "y"]), "values": np.array([[1.0, 2.0]])}})
    assert read(path).segment_quality.values.tolist() == [[1.0], [2.0]]
    both = NAMES | {
        "modelQ": np.array([[1.0, 2.0]]),
        "segQ": np.array([[3.0, 4.0, 5.0]]),
        "hasmodel": np.array([[0, 1]]),
    }
    quality = read(mat5(tmp_path / "both.mat", {"qual": both})).quality
    assert quality.enroll.names.to_pylist() == ["bob"]
    assert quality.test.values.ravel().tolist() == [3, 4, 5]
    assert quality.trials is None


def element(kind, data, order="<"):
    """One data element of a file of version 5."""
    return struct.pack(order + "II", kind, len(data)) + data + bytes(-len(data) % 8)


def array(kind, shape, *parts, name=b"", order="<", flags=0):
    """One array of a file of version 5, by hand."""
    dims = struct.pack(f"{order}{len(shape)}i", *shape)
    head = element(6, struct.pack(order + "II", kind | flags, 0), order) + element(5, dims, order)
    return element(14, head + element(1, name, order) + b"".join(parts), order)


def text(string, kind, code, order="<"):
    """A text as MATLAB writes it: as many characters as there are units of UTF-16."""
    return array(4, (1, len(string.encode("utf-16-le")) // 2), element(kind, string.encode(code), order), order=order)


def record(fields, name=b"scr", order="<"):
    """A struct."""
    names = b"".join(field.encode().ljust(32, b"\0") for field in fields)
    width = struct.pack(order + "IIi", 5, 4, 32) + bytes(4)
    return array(2, (1, 1), width, element(1, names, order), *fields.values(), name=name, order=order)


def cells(*texts, order="<"):
    return array(1, (len(texts), 1), *texts, order=order)


def file5(path, *variables, order="<"):
    """A file of version 5, by hand."""
    mark = b"IM" if order == "<" else b"MI"
    path.write_bytes(b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack(order + "H", 0x0100) + mark + b"".join(variables))
    return path


def sound(order="<", code="utf-16-le"):
    """Fields of one model and two segments."""
    numbers = array(6, (1, 2), element(9, struct.pack(order + "2d", 1.5, -2.0), order), order=order)
    return {
        "modelset": cells(text("Ü\U0001f600", 4, code, order), order=order),
        "segset": cells(text("x", 16, "utf-8", order), text("ÿ", 16, "utf-8", order), order=order),
        "scoremat": numbers,
    }


@pytest.mark.parametrize(("order", "code"), [("<", "utf-16-le"), (">", "utf-16-be")])
def test_text_of_any_plane_in_both_byte_orders(tmp_path, order, code):
    found = read(file5(tmp_path / "hand.mat", record(sound(order, code), order=order), order=order)).scores
    assert pairs(found.trials) == [("Ü\U0001f600", "x"), ("Ü\U0001f600", "ÿ")]
    assert found.score.tolist() == [1.5, -2.0]


def test_whole_numbers_may_be_stored_small(tmp_path):
    fields = sound() | {"scoremat": array(6, (1, 2), element(1, struct.pack("2b", 3, -4)))}
    assert_same_bits(read(file5(tmp_path / "hand.mat", record(fields))).scores.score, np.array([3.0, -4.0]))


def test_names_may_come_nested(tmp_path):
    fields = sound() | {"modelset": cells(cells(text("ann", 16, "utf-8")))}
    assert pairs(read(file5(tmp_path / "hand.mat", record(fields))).scores.trials)[0] == ("ann", "x")


def test_of_several_variables_the_needed_one_is_read(tmp_path):
    score, key = NAMES | {"scoremat": SCORES}, NAMES | {"tar": KEY == 1, "non": KEY == -1}
    path = mat5(tmp_path / "two.mat", {"scr": score, "key": key})
    assert read(path, need="scores").kinds == ("scores", "index")
    assert read(path, need="key").kinds == ("key", "index")
    refused(path, "contains key and scr")
    refused(mat5(tmp_path / "none.mat", {"scores": score}), "no variable ndx, key, scr, .*it contains scores")
    refused(mat73(tmp_path / "none73.mat", "scores", {"scoremat": SCORES}), "no variable ndx, key, scr")


# What we write


def test_scipy_reads_what_we_write(tmp_path):
    trials = Trials.of_grid(MODELS, SEGMENTS, MASK == 1)
    (tmp_path / "s.mat").write_bytes(written(Scores(trials, MASKED_SCORES), "bosaris-mat"))
    loaded = scipy.io.loadmat(tmp_path / "s.mat")["scr"]
    assert [one[0] for one in loaded["modelset"][0, 0][:, 0]] == MODELS
    assert loaded["scoremask"][0, 0].tolist() == MASK.tolist()
    assert loaded["scoremat"][0, 0][MASK == 1].tolist() == MASKED_SCORES.tolist()
    (tmp_path / "k.mat").write_bytes(written(Key(trials, np.array(KEY_TRUTH)), "bosaris-mat"))
    loaded = scipy.io.loadmat(tmp_path / "k.mat")["key"]
    assert loaded["tar"][0, 0].tolist() == (KEY == 1).tolist()
    assert loaded["non"][0, 0].tolist() == (KEY == -1).tolist()


def test_endings_and_what_has_no_place(monkeypatch):
    assert for_ending("a.mat").name == "bosaris-mat"
    with pytest.raises(InputError, match="a matrix needs trials of enroll and test"):
        written(Scores.of({"trial": ["a"]}, [1.0]), "bosaris-mat")
    with pytest.raises(FormatError, match="NUL"):
        written(Index.of({"enroll": ["a\0"], "test": ["x"]}), "bosaris-mat")
    monkeypatch.setattr(hdf5_and_matlab, "_LARGEST", 53)
    with pytest.raises(FormatError, match="54 bytes exceed 2 GB.* Choose bosaris-hdf5"):
        written(Scores(Trials.of_grid(MODELS, SEGMENTS), SCORES.ravel()), "bosaris-mat")


# What is wrong, or meant to harm


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"scoremat": np.ones((2, 4))}, r"scr.scoremat has shape \(2, 4\), .*scoremask has"),
        ({"scoremat": MASK * 1j}, "imaginary part"),
        ({"scoremat": scipy.sparse.csc_matrix(MASK * 1.0)}, "a sparse matrix, expected a full one"),
        ({"scoremat": {"a": 1}}, "scr.scoremat: expected a matrix of numbers, but it contains a struct"),
        ({"scoremat": "text"}, "scoremat: expected a matrix of numbers"),
        ({"scoremat": np.ones((2, 3, 1, 2))}, "scoremat: expected a matrix of numbers"),
        ({"scoremask": MASK.T}, r"scoremat has shape \(2, 3\), .*scoremask has \(3, 2\)"),
        ({"scoremask": MASK * 2}, "scoremask: the mask contains 2 in row 0, column 0"),
        ({"scoremat": np.where(MASK, np.nan, 0)}, r"scr.scoremat: 4 of 4 scores are NaN, .*\(ann, x\)"),
        ({"modelset": column(["a" * 100] * 2)}, "scr.modelset: 1 of 2 names repeat .*cut names off"),
        ({"modelset": np.array(["ann", "bob"])}, "scr.modelset: text, expected cellstr"),
        ({"modelset": column([1.0, 2.0])}, "a cell that does not contain"),
        ({"modelset": np.empty((0, 0))}, "contains no trials|has shape"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, changed, message):
    fields = NAMES | {"scoremat": SCORES, "scoremask": MASK} | changed
    refused(mat5(tmp_path / "bad.mat", {"scr": fields}), message)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"modelset": np.ones((2, 1))}, "modelset: expected a cell array of text, got float64"),
        ({"scoremat": np.ones((2, 4))}, r"/scr/scoremat has shape \(2, 4\)"),
        ({"modelset": ["a", "a"]}, "modelset: 1 of 2 names repeat"),
    ],
)
def test_what_does_not_fit_in_version_73_is_refused(tmp_path, changed, message):
    fields = {"modelset": MODELS, "segset": SEGMENTS, "scoremat": SCORES} | changed
    refused(mat73(tmp_path / "bad.mat", "scr", fields), message)


def test_missing_and_sparse_fields(tmp_path):
    refused(mat5(tmp_path / "a.mat", {"scr": NAMES}), "scr.scoremat: this field does not exist")
    refused(mat5(tmp_path / "b.mat", {"scr": {"scoremat": SCORES}}), "scr.modelset: this field does not exist")
    refused(mat5(tmp_path / "c.mat", {"scr": SCORES}), "the variable scr must be a single struct")
    path = mat73(tmp_path / "d.mat", "scr", {"modelset": MODELS, "segset": SEGMENTS})
    with h5py.File(path, "a") as file:
        file["scr/scoremat/jc"] = [1, 2]
    refused(path, "scoremat: a sparse matrix")


def test_references_are_looked_at_too(tmp_path):
    path = mat73(tmp_path / "scr.mat", "scr", {"modelset": MODELS, "segset": SEGMENTS, "scoremat": SCORES})
    raw = tmp_path / "secret.raw"
    raw.write_bytes(bytes(6))
    with h5py.File(path, "a") as file:
        secret = file.create_dataset("#refs#/secret", (3, 1), "u2", external=[(str(raw), 0, 6)])
        huge = file.create_dataset("#refs#/huge", (10**12, 1), "u2")
        square = file.create_dataset("#refs#/square", data=np.ones((2, 2), np.uint16))
        half = file.create_dataset("#refs#/half", data=np.array([[0xD83D]], np.uint16))
        evil = (secret, huge, square, half, file["scr"], None)
        references = [h5py.Reference() if one is None else one.ref for one in evil]
    told = ("other files", "declares", "one line of text", "surrogate|decode", "group", "refers to nothing")
    for reference, message in zip(references, told, strict=True):
        with h5py.File(path, "a") as file:
            file["scr/modelset"][0, 1] = reference
        refused(path, message)


def test_many_references_to_one_long_text_are_refused(tmp_path):
    path = mat73(tmp_path / "scr.mat", "scr", {"modelset": ["a" * 50000], "segset": SEGMENTS, "scoremat": SCORES})
    with h5py.File(path, "a") as file:
        reference = file["scr/modelset"][0, 0]
        del file["scr/modelset"]
        file["scr"].create_dataset("modelset", data=np.array([[reference] * 3000], h5py.ref_dtype))
    refused(path, "the names are longer than the file")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"modelset": array(1, (1 << 30, 1))}, "more memory is needed"),
        ({"scoremat": array(6, (1 << 20, 1 << 20), element(9, bytes(16)))}, "cannot reshape array of size 2"),
        ({"modelset": cells(array(4, (1, 1 << 30), element(16, b"")))}, "more memory is needed"),
        ({"scoremat": array(6, (-1, -2), element(9, bytes(16)))}, "can only specify one unknown dimension"),
        ({"scoremat": array(6, (1, 3), element(9, bytes(16)))}, "cannot reshape array of size 2"),
        ({"scoremat": array(6, (1, 2), element(77, bytes(16)))}, "damaged"),
        ({"scoremat": array(6, (1, 2))}, "could not read bytes"),
        ({"scoremat": array(16, (1, 1), b"")}, "damaged"),
        ({"scoremat": array(17, (1, 1), b"")}, "damaged"),
        ({"scoremat": array(3, (1, 1), b"")}, "damaged"),
        ({"modelset": cells(text("é", 1, "latin-1"))}, "scr.modelset: a text with bytes that are not characters"),
        ({"modelset": cells(text("a", 9, "utf-8"))}, "Type 9 does not appear to be char type"),
        ({"modelset": cells(array(4, (2, 1), element(16, b"ab")))}, "does not contain one line of text"),
        ({"modelset": array(1, (2, 1), text("a", 16, "utf-8"))}, "could not read bytes"),
    ],
)
def test_arrays_that_promise_too_much_or_the_wrong_thing(tmp_path, fields, message):
    path = file5(tmp_path / "evil.mat", record(sound() | fields))
    with at_most(1 << 22):
        refused(path, message)


def test_files_that_crash_scipy_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(hdf5_and_matlab, "subprocess", subprocess)  # the real process
    fields = sound() | {"scoremat": array(6, (1, 1), element(8, bytes(8)))}
    refused(file5(tmp_path / "type.mat", record(fields)), "scipy ended with -11")
    deep = text("a", 16, "utf-8")
    for _ in range(20000):
        deep = struct.pack("<II", 14, len(_CELL) + len(deep)) + _CELL + deep
    refused(file5(tmp_path / "deep.mat", record(sound() | {"modelset": deep})), "scipy ended with -11")


_CELL = array(1, (1, 1))[8:]


@pytest.mark.parametrize(("rows", "message"), [(700_000, "File too large|more memory"), (1 << 23, "more memory")])
def test_bombs_are_refused(tmp_path, monkeypatch, rows, message):
    """One that fits the memory of the process that reads, and one that does not."""
    path = mat5(tmp_path / "bomb.mat", {"scr": NAMES | {"scoremat": np.zeros(rows)}}, do_compression=True)
    monkeypatch.setattr(hdf5_and_matlab, "_MOST_UNPACKED", 1 << 22)
    monkeypatch.setattr(hdf5_and_matlab, "_RATIO", 1)
    refused(path, message)


def test_a_process_that_does_not_end_is_ended(tmp_path, monkeypatch):
    path = mat5(tmp_path / "scr.mat", {"scr": NAMES | {"scoremat": SCORES}})
    monkeypatch.setattr(hdf5_and_matlab, "_MOST_SECONDS", 0.01)
    refused(path, "takes too long")


def test_files_cut_off_anywhere_are_refused(tmp_path):
    path = file5(tmp_path / "cut.mat", record(sound()))
    data = path.read_bytes()
    for length in range(19, len(data) - 8, 72):
        path.write_bytes(data[:length])
        refused(path, "damaged", "bosaris-mat")


def _mat5(variables, **how):
    stream = io.BytesIO()
    scipy.io.savemat(stream, variables, **how)
    return stream.getvalue()


def _mat73(fields):
    with tempfile.TemporaryDirectory() as folder:
        return mat73(Path(folder) / "scr.mat", "scr", fields).read_bytes()


_SOUND = {
    "scores": _mat5({"scr": NAMES | {"scoremat": SCORES, "scoremask": MASK}}),
    "packed": _mat5({"scr": NAMES | {"scoremat": SCORES, "scoremask": MASK}}, do_compression=True),
    "key": _mat5({"key": NAMES | {"tar": KEY == 1, "non": KEY == -1}}),
    "73": _mat73({"modelset": MODELS, "segset": SEGMENTS, "scoremat": SCORES, "scoremask": MASK}),
}


@given(st.sampled_from(sorted(_SOUND)).flatmap(lambda kind: damage(_SOUND[kind])))
def test_damage_is_refused_or_does_no_harm(data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "damaged.mat"
        path.write_bytes(data)
        sound_or_refused(path, "bosaris-mat")


def test_other_files_are_not_taken_for_matlab(tmp_path):
    refused(
        h5(tmp_path / "a.h5", {"scr/modelset": SCORES}), "/scr/modelset: expected a cell array of text", "bosaris-mat"
    )
