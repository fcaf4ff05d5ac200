"""HDF5 files of the BOSARIS layout: golden files by h5py, round trips, and files made to harm."""

import gzip
import io
from pathlib import Path

import h5py
import numpy as np
import pytest

from deciban.errors import FormatError, InputError
from deciban.io.formats import Contents, by_name, for_ending
from deciban.trials import Index, Key, Quality, Scores, SegmentQuality, Trials
from support.hdf5_files import (
    ALL_PAIRS,
    FULL,
    IDS,
    KEY,
    KEY_TRUTH,
    MASK,
    MASKED,
    MASKED_PAIRS,
    MASKED_SCORES,
    MODELS,
    SCORES,
    SEGMENTS,
    again,
    assert_key,
    assert_same_bits,
    assert_same_trials,
    at_most,
    h5,
    pairs,
    read,
    refused,
    written,
)

# What others write


@pytest.mark.parametrize("storage", [{}, {"compression": "gzip", "shuffle": True, "fletcher32": True}])
@pytest.mark.parametrize("kind", ["<f8", ">f8", "<f4", ">f4"])
def test_scores(tmp_path, kind, storage):
    values = np.array([[1.5, -2.25, np.inf], [0.0, -0.0, 2.0**-30]], kind)
    path = h5(tmp_path / "scores.h5", IDS | {"scores": values, "score_mask": MASK}, **storage)
    contents = read(path)
    assert contents.kinds == ("scores", "index")
    assert contents.origin.reading == "bosaris-hdf5 scores"
    assert pairs(contents.scores.trials) == MASKED_PAIRS
    assert_same_bits(contents.scores.score, values[MASK == 1].astype(kind[1:]))


@pytest.mark.parametrize("kind", ["<f8", ">f8", "<f4", "<f2"])
def test_full_scores_keep_their_type(tmp_path, kind):
    values = np.array([[1.5, -2.25, np.inf], [0.0, -0.0, 0.25]], kind)
    found = read(h5(tmp_path / "scores.h5", IDS | FULL | {"scores": values})).scores
    assert pairs(found.trials) == ALL_PAIRS
    assert_same_bits(found.score, values.ravel().astype(np.float64 if kind.endswith("8") else np.float32))


def test_integers_become_floats_if_they_fit(tmp_path):
    values = np.array([[1, -2, 3], [4, 5, 2**53]])
    assert_same_bits(read(h5(tmp_path / "a.h5", IDS | {"scores": values})).scores.score, values.ravel() * 1.0)
    values[1, 2] += 1
    refused(h5(tmp_path / "b.h5", IDS | {"scores": values}), r"/scores: contains an integer beyond 2\*\*53")


def test_key_version_2(tmp_path):
    path = h5(tmp_path / "key.h5", IDS | {"trial_mask": KEY, "file_format": "2.0"})
    contents = read(path)
    assert contents.kinds == ("key", "index")
    assert_key(contents.key)
    only_targets = h5(tmp_path / "tar.h5", IDS | {"trial_mask": np.abs(KEY), "file_format": np.bytes_("2.0")})
    assert read(only_targets).key.is_target.all()
    refused(h5(tmp_path / "3.h5", IDS | {"trial_mask": KEY, "file_format": "3.0"}), "version '3.0'")


def test_key_version_1(tmp_path):
    masks = {"target_mask": (KEY == 1).astype(np.uint8), "nontarget_mask": (KEY == -1).astype(np.uint8)}
    key = read(h5(tmp_path / "key.h5", IDS | masks)).key
    assert_key(key)
    masks["nontarget_mask"][0, 0] = 1
    refused(h5(tmp_path / "both.h5", IDS | masks), "1 trials are target and non-target at once.*row 0, column 0")


def test_index(tmp_path):
    contents = read(h5(tmp_path / "index.h5", IDS | {"trial_mask": MASK}))
    assert contents.kinds == ("index",)
    assert pairs(contents.index.trials) == MASKED_PAIRS


def test_quality(tmp_path):
    model_q, seg_q = np.array([[1.0, np.nan], [2.0, 3.0]]), np.arange(6.0).reshape(2, 3)
    given = {"modelQ": model_q, "segQ": seg_q, "score_mask": MASK, "ID/has_row": np.array([1, 0], np.uint8)}
    quality = read(h5(tmp_path / "quality.h5", IDS | given)).quality
    assert quality.enroll.names.to_pylist() == ["ann"]
    assert quality.enroll.values.tolist() == [[1.0, 2.0]]
    assert quality.enroll.measures == ("q1", "q2")
    assert quality.test.names.to_pylist() == SEGMENTS
    assert quality.test.values.tolist() == [[0, 3], [1, 4], [2, 5]]
    assert pairs(quality.trials) == MASKED_PAIRS
    refused(h5(tmp_path / "nan.h5", IDS | given | {"ID/has_row": np.ones(2)}), "of 'bob' is not finite")
    refused(h5(tmp_path / "flags.h5", IDS | given | {"ID/has_row": np.ones(3)}), "has_row: expected 2 numbers 0 or 1")
    refused(h5(tmp_path / "two.h5", IDS | given | {"ID/has_row": np.array([1, 2])}), "has_row: .* contains 2 in row 0")
    refused(h5(tmp_path / "shape.h5", IDS | given | {"segQ": np.ones((2, 4))}), r"/segQ has shape \(2, 4\)")


def test_segment_quality(tmp_path):
    path = h5(tmp_path / "q.h5", {"ids": [b"x", b"y", b"z"], "values": np.arange(6, dtype=np.float32).reshape(2, 3)})
    quality = read(path).segment_quality
    assert quality.names.to_pylist() == SEGMENTS
    assert quality.values.tolist() == [[0, 3], [1, 4], [2, 5]]
    turned = read(h5(tmp_path / "t.h5", {"ids": SEGMENTS, "values": np.arange(6.0).reshape(3, 2)}))
    assert turned.segment_quality.values.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert "names x measures; it was transposed" in turned.notes[0]


def test_id_map(tmp_path):
    id_map = read(h5(tmp_path / "map.h5", {"left_ids": [b"m1", b"m2"], "right_ids": [b"ann", b"ann"]})).id_map
    assert (id_map.left.to_pylist(), id_map.right.to_pylist()) == (["m1", "m2"], ["ann", "ann"])
    refused(
        h5(tmp_path / "b.h5", {"left_ids": [b"m", b"m"], "right_ids": [b"a", b"b"]}), "'m' is mapped to '.' and to '.'"
    )
    refused(h5(tmp_path / "c.h5", {"left_ids": [b"m", b"n"], "right_ids": [b"a"]}), "2 names on the left, 1 on the")


def fixed(names, pad=None, charset=None):
    """Names of fixed length as C and Fortran programs store them."""
    length = max(len(one.encode()) for one in names) + 1
    kind = h5py.h5t.C_S1.copy()
    kind.set_size(length)
    kind.set_strpad(pad)
    kind.set_cset(charset)
    filler = b" " if pad == h5py.h5t.STR_SPACEPAD else b"\0"
    return kind, np.array([one.encode().ljust(length, filler) for one in names], f"V{length}")


@pytest.mark.parametrize("pad", [h5py.h5t.STR_SPACEPAD, h5py.h5t.STR_NULLPAD, h5py.h5t.STR_NULLTERM])
@pytest.mark.parametrize("charset", [h5py.h5t.CSET_ASCII, h5py.h5t.CSET_UTF8])
def test_names_of_fixed_length(tmp_path, pad, charset):
    path = h5(tmp_path / "scores.h5", {"ID/column_ids": SEGMENTS} | MASKED)
    kind, raw = fixed(["ünn", "b b"], pad, charset)
    with h5py.File(path, "a") as file:
        space = h5py.h5s.create_simple((2,))
        dataset = h5py.h5d.create(file["ID"].id, b"row_ids", kind, space)
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, raw, kind)
    assert read(path).scores.trials.names[0].to_pylist() == ["ünn", "b b"]


@pytest.mark.parametrize("shape", [(2,), (2, 1), (1, 2)])
@pytest.mark.parametrize("text", [h5py.string_dtype(), h5py.string_dtype("ascii"), h5py.string_dtype("utf-8", 9)])
def test_names_of_any_length(tmp_path, text, shape):
    path = h5(tmp_path / "scores.h5", {"ID/column_ids": SEGMENTS} | MASKED)
    with h5py.File(path, "a") as file:
        file["ID"].create_dataset("row_ids", data=np.array([b"ann", "bøb".encode()], text).reshape(shape), dtype=text)
    assert read(path).scores.trials.names[0].to_pylist() == ["ann", "bøb"]


def test_matrices_that_were_swapped_are_turned_with_a_note(tmp_path):
    contents = read(h5(tmp_path / "t.h5", IDS | {"scores": SCORES.T, "score_mask": MASK.T}))
    assert "segments x models; it was transposed" in contents.notes[0]
    assert_same_bits(contents.scores.score, MASKED_SCORES)
    assert read(h5(tmp_path / "k.h5", IDS | {"trial_mask": KEY.T})).key.is_target.tolist() == KEY_TRUTH


def test_square_matrices_are_models_x_segments(tmp_path):
    square = {"ID/row_ids": [b"a", b"b"], "ID/column_ids": [b"x", b"y"], "scores": np.array([[1.0, 2.0], [3.0, 4.0]])}
    found = read(h5(tmp_path / "s.h5", square)).scores
    assert dict(zip(pairs(found.trials), found.score, strict=True))["a", "y"] == 2.0


# Options and places


def test_names_and_scale_are_the_users(tmp_path):
    path = h5(tmp_path / "scores.h5", IDS | MASKED)
    system = read(path, name="sysA", unit="log10").scores
    assert (system.name, system.log10) == ("sysA", True)
    assert read(path).scores.trials.origin.name == str(path)


def test_compressed_and_streamed_files_are_read(tmp_path):
    path = h5(tmp_path / "scores.h5", IDS | MASKED)
    packed = tmp_path / "scores.h5.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert_same_bits(read(packed).scores.score, MASKED_SCORES)


def test_an_hdf5_file_may_begin_after_a_user_block(tmp_path):
    path = tmp_path / "block.h5"
    with h5py.File(path, "w", userblock_size=1024) as file:
        for place, data in (IDS | FULL).items():
            file[place] = data
    assert_same_bits(read(path).scores.score, SCORES.ravel())


def test_other_hdf5_files_are_not_recognized(tmp_path):
    with pytest.raises(AssertionError):
        read(h5(tmp_path / "other.h5", {"data": SCORES}))
    refused(h5(tmp_path / "other.h5", {"data": SCORES}), "no dataset /ID/row_ids", "bosaris-hdf5")


def test_a_missing_file_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "nothing.h5", "bosaris-hdf5")


# What we write


def test_a_list_of_trials_becomes_a_matrix(tmp_path):
    ids = {"enroll": ["b", "a", "b"], "test": ["y", "x", "x"]}
    back = again(tmp_path, Scores.of(ids, [1.0, 2.0, 3.0]), "bosaris-hdf5").scores
    assert dict(zip(pairs(back.trials), back.score, strict=True)) == {("b", "y"): 1, ("a", "x"): 2, ("b", "x"): 3}
    full = Key.of({"enroll": ["a", "b", "a", "b"], "test": ["x", "x", "y", "y"]}, [True, False, False, False])
    back = again(tmp_path, full, "bosaris-hdf5").key
    assert pairs(back.trials)[int(np.argmax(back.is_target))] == ("a", "x")


def test_the_files_are_what_the_layout_says(tmp_path):
    """Read by h5py alone."""
    path = tmp_path / "ours.h5"
    trials = Trials.of_grid(MODELS, SEGMENTS, MASK == 1)
    path.write_bytes(written(Scores(trials, MASKED_SCORES), "bosaris-hdf5"))
    with h5py.File(path) as file:
        assert file["ID/row_ids"].asstr()[()].tolist() == MODELS
        assert file["ID/column_ids"].asstr()[()].tolist() == SEGMENTS
        assert_same_bits(file["score_mask"][()], MASK)
        assert_same_bits(file["scores"][()][MASK == 1], MASKED_SCORES)
    path.write_bytes(written(Key(trials, np.array(KEY_TRUTH)), "bosaris-hdf5"))
    with h5py.File(path) as file:
        assert file["file_format"][()] == b"2.0"
        assert file["trial_mask"].dtype == np.int8
        assert file["trial_mask"][()].tolist() == [[1, 0, -1], [-1, 1, 0]]
    quality = Quality(SegmentQuality.of(["bob"], [[1.0, 2.0]]), None, trials)
    path.write_bytes(written(quality, "bosaris-hdf5"))
    with h5py.File(path) as file:
        assert file["modelQ"][()].tolist() == [[0, 1], [0, 2]]
        assert file["segQ"].shape == (2, 3)
        assert file["ID/has_row"][()].tolist() == [0, 1]
        assert file["ID/has_column"][()].tolist() == [0, 0, 0]


def test_a_full_mask_takes_no_space_and_every_reader_sees_ones(tmp_path):
    path = tmp_path / "full.h5"
    path.write_bytes(written(Scores(Trials.of_grid(MODELS, SEGMENTS), SCORES.ravel()), "bosaris-hdf5"))
    with h5py.File(path) as file:
        assert file["score_mask"].id.get_storage_size() == 0
        assert file["score_mask"][()].tolist() == np.ones((2, 3)).tolist()
        assert file["scores"].chunks is None
    assert read(path).scores.trials.mask is None


def test_what_has_no_place_is_not_written():
    single = Scores.of({"trial": ["a"]}, [1.0])
    with pytest.raises(InputError, match="a matrix needs trials of enroll and test"):
        written(single, "bosaris-hdf5")
    ids = {"enroll": ["a", "a"], "test": ["x", "x"]}
    with pytest.raises(InputError, match="occurs twice"):
        written(Scores.of(ids, [1.0, 2.0]), "bosaris-hdf5")
    pair = {"enroll": ["a"], "test": ["x"]}
    with pytest.raises(FormatError, match="natural"):
        written(Scores.of(pair, [1.0], log10=True), "bosaris-hdf5")
    with pytest.raises(FormatError, match="NUL"):
        written(Index.of({"enroll": ["a\0"], "test": ["x"]}), "bosaris-hdf5")
    sides = SegmentQuality.of(["a"], [[1.0]]), SegmentQuality.of(["x"], [[1.0, 2.0]])
    with pytest.raises(FormatError, match="equal numbers of measures"):
        written(Quality(*sides), "bosaris-hdf5")
    with pytest.raises(FormatError, match="2 systems"):
        two = Contents.of(Scores.of(pair, [1.0], name="a"), Scores.of(pair, [2.0], name="b"))
        by_name("bosaris-hdf5").write(two, None)


def test_scores_go_before_the_key(tmp_path):
    pair, stream = {"enroll": ["a"], "test": ["x"]}, io.BytesIO()
    by_name("bosaris-hdf5").write(Contents.of(Key.of(pair, [True]), Scores.of(pair, [1.0])), stream)
    (tmp_path / "s.h5").write_bytes(stream.getvalue())
    assert read(tmp_path / "s.h5").kinds == ("scores", "index")


def test_a_file_for_writing_only_will_do(tmp_path):
    item = Scores(Trials.of_grid([f"m{i}" for i in range(300)], [f"s{i}" for i in range(300)]), np.ones(90000))
    with (tmp_path / "s.h5").open("wb") as stream:
        by_name("bosaris-hdf5").write(Contents.of(item), stream)
    assert len(read(tmp_path / "s.h5").scores) == 90000
    assert for_ending("s.h5").name == for_ending("s.HDF5").name == "bosaris-hdf5"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_disk_is_an_os_error():
    item = Scores(Trials.of_grid(MODELS, SEGMENTS), SCORES.ravel())
    with pytest.raises(OSError, match="No space left"), open("/dev/full", "wb", buffering=0) as stream:  # noqa: PTH123
        by_name("bosaris-hdf5").write(Contents.of(item), stream)


def test_large_matrices_are_read_once(tmp_path):
    """Two threads share the work; there is no second copy, and NaN is found wherever it is."""
    values = np.random.default_rng(1).normal(size=(1500, 1500))
    item = Scores(Trials.of_grid([f"m{i}" for i in range(1500)], [f"s{i}" for i in range(1500)]), values.ravel())
    path = tmp_path / "large.h5"
    path.write_bytes(written(item, "bosaris-hdf5"))
    read(path)
    with at_most(1.2 * values.nbytes):
        back = read(path)
    assert_same_bits(back.scores.score, item.score)
    for cell in ((0, 0), (749, 1499), (1499, 1499)):
        with h5py.File(path, "a") as file:
            file["scores"][cell] = np.nan
        refused(path, f"the first in row {cell[0]}, column {cell[1]} ")
        with h5py.File(path, "a") as file:
            file["scores"][cell] = 0.0


# What is wrong


def test_names_that_look_alike_are_refused(tmp_path):
    cut = ["a" * 100, "a" * 100]
    refused(h5(tmp_path / "a.h5", {"ID/row_ids": cut, "ID/column_ids": SEGMENTS} | MASKED), "row_ids.*cut names off")
    refused(h5(tmp_path / "b.h5", IDS | MASKED | {"ID/column_ids": ["x", "y", "y"]}), "column_ids: 1 of 3 names.*'y'")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"scores": np.ones((2, 4))}, r"/scores has shape \(2, 4\), .*/score_mask has \(2, 3\)"),
        ({"score_mask": MASK.T}, r"/scores has shape \(2, 3\), .*/score_mask has \(3, 2\)"),
        ({"ID/row_ids": ["a", "b", "c", "d"]}, r"/scores has shape \(2, 3\), but there are 4 models"),
        ({"score_mask": MASK * 2}, "/score_mask: the mask contains 2 in row 0, column 0, but only 0, 1"),
        ({"score_mask": MASK * np.nan}, "/score_mask: the mask contains nan in row 0, column 0"),
        ({"score_mask": MASK.astype(np.int8) * -1}, "/score_mask: the mask contains -1 in row 0"),
        ({"score_mask": MASK * 0}, "contains no trials"),
        ({"scores": SCORES.ravel()}, r"/scores: expected a matrix, got an array of shape \(6,\)"),
        ({"scores": SCORES[None]}, r"/scores: expected a matrix, got an array of shape \(1, 2, 3\)"),
        ({"scores": SCORES.astype(complex)}, "/scores: expected numbers of up to 64 bits, got complex128"),
        ({"scores": SCORES.astype("S5")}, r"/scores: expected numbers of up to 64 bits, got \|S5"),
        ({"scores": SCORES.astype(np.longdouble)}, "/scores: expected numbers of up to 64 bits"),
        ({"scores": np.zeros((2, 3), [("a", "f8"), ("b", "i4")])}, "/scores: expected numbers of up to 64 bits"),
        ({"scores": h5py.Empty("f8")}, "/scores: expected a matrix|/scores: contains no cells|/scores"),
        ({"trial_mask": KEY}, "scores and masks of a key or an index"),
        ({"ID/row_ids": np.array([1, 2])}, "row_ids: expected names .*int64 values"),
        ({"ID/row_ids": np.array([[b"a", b"b"], [b"c", b"d"]])}, r"row_ids: expected a list of names, .*\(2, 2\)"),
        ({"ID/row_ids": [b"ann", b"\xffbob"]}, "row_ids: name 1 is not UTF-8"),
        ({"ID/row_ids": [b"ann", b"b\0ob"]}, "row_ids: name 1 contains a NUL"),
        ({"ID/row_ids": np.zeros((0,), "S1")}, "row_ids|contains no trials|shape"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, changed, message):
    refused(h5(tmp_path / "bad.h5", IDS | MASKED | changed), message)


def test_nan_counts_only_where_there_are_trials(tmp_path):
    values = np.where(MASK == 1, SCORES, np.nan)
    assert_same_bits(read(h5(tmp_path / "a.h5", IDS | MASKED | {"scores": values})).scores.score, MASKED_SCORES)
    values[1, 0] = np.nan
    told = refused(h5(tmp_path / "b.h5", IDS | MASKED | {"scores": values}), "1 of 4 scores are NaN")
    assert "/scores" in told
    assert "row 1, column 0 (bob, x)" in told


@pytest.mark.parametrize("value", [2, -2, 127])
def test_keys_hold_nothing_but_three_numbers(tmp_path, value):
    mask = KEY.copy()
    mask[1, 2] = value
    given = IDS | {"trial_mask": mask, "file_format": "2.0"}
    refused(
        h5(tmp_path / "k.h5", given), f"/trial_mask: the mask contains {value} in row 1, column 2, but only 1, 0, -1"
    )


def test_one_long_name_among_many_does_not_fill_the_disk(tmp_path):
    names = [f"n{i}" for i in range(3000)] + ["é" * 30_000]
    found = Scores.of({"enroll": ["m"] * len(names), "test": names}, np.arange(float(len(names))))
    data = written(found, "bosaris-hdf5")
    assert len(data) < 1 << 20
    with h5py.File(io.BytesIO(data)) as file:
        assert [name.decode() for name in file["ID/column_ids"][-2:]] == names[-2:]
    assert_same_trials(again(tmp_path, found, "bosaris-hdf5").scores.trials, found.trials)
