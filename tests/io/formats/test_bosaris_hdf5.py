"""HDF5 files of the BOSARIS layout: golden files by h5py, round trips, and files made to harm."""

import gzip
import io
import os
import tempfile
import zlib
from contextlib import suppress
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.errors import FormatError, InputError
from deciban.io.contents import Contents
from deciban.io.formats import by_name, for_ending
from deciban.io.source import Source
from deciban.trials import IdMap, Index, Key, Quality, Scores, SegmentQuality, Trials
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
    again,
    assert_same_bits,
    assert_same_quality,
    assert_same_trials,
    at_most,
    damage,
    grids,
    h5,
    keys,
    name,
    pairs,
    qualities,
    read,
    refused,
    scores,
    segment_qualities,
    sound_or_refused,
    written,
)

NAMES = {"ID/row_ids": MODELS, "ID/column_ids": SEGMENTS}
FULL = {"scores": SCORES, "score_mask": np.ones((2, 3), np.uint8)}
MASKED = {"scores": SCORES, "score_mask": MASK}


# What others write


@pytest.mark.parametrize("storage", [{}, {"compression": "gzip", "shuffle": True, "fletcher32": True}])
@pytest.mark.parametrize("kind", ["<f8", ">f8", "<f4", ">f4"])
def test_scores(tmp_path, kind, storage):
    values = np.array([[1.5, -2.25, np.inf], [0.0, -0.0, 2.0**-30]], kind)
    path = h5(tmp_path / "scores.h5", NAMES | {"scores": values, "score_mask": MASK}, **storage)
    contents = read(path)
    assert contents.kinds == ("scores", "index")
    assert contents.origin.reading == "bosaris-hdf5 scores"
    assert pairs(contents.scores.trials) == MASKED_PAIRS
    assert_same_bits(contents.scores.score, values[MASK == 1].astype(kind[1:]))


@pytest.mark.parametrize("kind", ["<f8", ">f8", "<f4", "<f2"])
def test_full_scores_keep_their_type(tmp_path, kind):
    values = np.array([[1.5, -2.25, np.inf], [0.0, -0.0, 0.25]], kind)
    found = read(h5(tmp_path / "scores.h5", NAMES | FULL | {"scores": values})).scores
    assert pairs(found.trials) == ALL_PAIRS
    assert_same_bits(found.score, values.ravel().astype(np.float64 if kind.endswith("8") else np.float32))


def test_integers_become_floats_if_they_fit(tmp_path):
    values = np.array([[1, -2, 3], [4, 5, 2**53]])
    assert_same_bits(read(h5(tmp_path / "a.h5", NAMES | {"scores": values})).scores.score, values.ravel() * 1.0)
    values[1, 2] += 1
    refused(h5(tmp_path / "b.h5", NAMES | {"scores": values}), r"/scores: holds an integer beyond 2\*\*53")


def test_key_version_2(tmp_path):
    path = h5(tmp_path / "key.h5", NAMES | {"trial_mask": KEY, "file_format": "2.0"})
    contents = read(path)
    assert contents.kinds == ("key", "index")
    assert pairs(contents.key.trials) == [("ann", "x"), ("ann", "z"), ("bob", "x"), ("bob", "y")]
    assert contents.key.is_target.tolist() == KEY_TRUTH
    only_targets = h5(tmp_path / "tar.h5", NAMES | {"trial_mask": np.abs(KEY), "file_format": np.bytes_("2.0")})
    assert read(only_targets).key.is_target.all()
    refused(h5(tmp_path / "3.h5", NAMES | {"trial_mask": KEY, "file_format": "3.0"}), "version '3.0'")


def test_key_version_1(tmp_path):
    masks = {"target_mask": (KEY == 1).astype(np.uint8), "nontarget_mask": (KEY == -1).astype(np.uint8)}
    key = read(h5(tmp_path / "key.h5", NAMES | masks)).key
    assert pairs(key.trials) == [("ann", "x"), ("ann", "z"), ("bob", "x"), ("bob", "y")]
    assert key.is_target.tolist() == KEY_TRUTH
    masks["nontarget_mask"][0, 0] = 1
    refused(h5(tmp_path / "both.h5", NAMES | masks), "1 trials are target and non-target at once.*row 0, column 0")


def test_index(tmp_path):
    contents = read(h5(tmp_path / "index.h5", NAMES | {"trial_mask": MASK}))
    assert contents.kinds == ("index",)
    assert pairs(contents.index.trials) == MASKED_PAIRS


def test_quality(tmp_path):
    model_q, seg_q = np.array([[1.0, np.nan], [2.0, 3.0]]), np.arange(6.0).reshape(2, 3)
    given = {"modelQ": model_q, "segQ": seg_q, "score_mask": MASK, "ID/has_row": np.array([1, 0], np.uint8)}
    quality = read(h5(tmp_path / "quality.h5", NAMES | given)).quality
    assert quality.enroll.names.to_pylist() == ["ann"]
    assert quality.enroll.values.tolist() == [[1.0, 2.0]]
    assert quality.enroll.measures == ("q1", "q2")
    assert quality.test.names.to_pylist() == SEGMENTS
    assert quality.test.values.tolist() == [[0, 3], [1, 4], [2, 5]]
    assert pairs(quality.trials) == MASKED_PAIRS
    refused(h5(tmp_path / "nan.h5", NAMES | given | {"ID/has_row": np.ones(2)}), "of 'bob' is not finite")
    refused(h5(tmp_path / "flags.h5", NAMES | given | {"ID/has_row": np.ones(3)}), "has_row: expected 2 numbers 0 or 1")
    refused(
        h5(tmp_path / "two.h5", NAMES | given | {"ID/has_row": np.array([1, 2])}), "has_row: expected 0 or 1, got 2"
    )
    refused(h5(tmp_path / "shape.h5", NAMES | given | {"segQ": np.ones((2, 4))}), r"/segQ has shape \(2, 4\)")


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
    contents = read(h5(tmp_path / "t.h5", NAMES | {"scores": SCORES.T, "score_mask": MASK.T}))
    assert "segments x models; it was transposed" in contents.notes[0]
    assert_same_bits(contents.scores.score, MASKED_SCORES)
    assert read(h5(tmp_path / "k.h5", NAMES | {"trial_mask": KEY.T})).key.is_target.tolist() == KEY_TRUTH


def test_square_matrices_are_models_x_segments(tmp_path):
    square = {"ID/row_ids": [b"a", b"b"], "ID/column_ids": [b"x", b"y"], "scores": np.array([[1.0, 2.0], [3.0, 4.0]])}
    found = read(h5(tmp_path / "s.h5", square)).scores
    assert dict(zip(pairs(found.trials), found.score, strict=True))["a", "y"] == 2.0


# Options and places


def test_names_and_scale_are_the_users(tmp_path):
    path = h5(tmp_path / "scores.h5", NAMES | MASKED)
    system = read(path, name="sysA", log10=True).scores
    assert (system.name, system.log10) == ("sysA", True)
    assert read(path).scores.trials.origin.name == str(path)


def test_compressed_and_streamed_files_are_read(tmp_path):
    path = h5(tmp_path / "scores.h5", NAMES | MASKED)
    packed = tmp_path / "scores.h5.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert_same_bits(read(packed).scores.score, MASKED_SCORES)


def test_an_hdf5_file_may_begin_after_a_user_block(tmp_path):
    path = tmp_path / "block.h5"
    with h5py.File(path, "w", userblock_size=1024) as file:
        for place, data in (NAMES | FULL).items():
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


@given(scores())
def test_scores_come_back(item):
    with tempfile.TemporaryDirectory() as folder:
        back = again(Path(folder), item, "bosaris-hdf5").scores
    assert_same_trials(back.trials, item.trials)
    assert_same_bits(back.score, item.score)


@given(keys())
def test_keys_come_back(item):
    with tempfile.TemporaryDirectory() as folder:
        back = again(Path(folder), item, "bosaris-hdf5").key
    assert_same_trials(back.trials, item.trials)
    assert back.is_target.tolist() == item.is_target.tolist()


@given(grids())
def test_indexes_come_back(trials):
    with tempfile.TemporaryDirectory() as folder:
        back = again(Path(folder), Index(trials), "bosaris-hdf5")
    assert back.kinds == ("index",)
    assert_same_trials(back.index.trials, trials)


@given(segment_qualities())
def test_segment_qualities_come_back(item):
    with tempfile.TemporaryDirectory() as folder:
        assert_same_quality(again(Path(folder), item, "bosaris-hdf5").segment_quality, item)


@given(qualities())
def test_qualities_come_back(item):
    with tempfile.TemporaryDirectory() as folder:
        back = again(Path(folder), item, "bosaris-hdf5").quality
    assert_same_quality(back.enroll, item.enroll)
    assert_same_quality(back.test, item.test)
    assert (back.trials is None) == (item.trials is None)
    if item.trials is not None:
        assert pairs(back.trials) == pairs(item.trials)


@given(st.dictionaries(name, name, min_size=1, max_size=5))
def test_id_maps_come_back(mapping):
    with tempfile.TemporaryDirectory() as folder:
        back = again(Path(folder), IdMap.of(mapping), "bosaris-hdf5").id_map
    assert dict(zip(back.left.to_pylist(), back.right.to_pylist(), strict=True)) == mapping


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
    with pytest.raises(InputError, match="room for trials of enroll and test"):
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
    with pytest.raises(FormatError, match="as many measures"):
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
    refused(h5(tmp_path / "b.h5", NAMES | MASKED | {"ID/column_ids": ["x", "y", "y"]}), "column_ids: 1 of 3 names.*'y'")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"scores": np.ones((2, 4))}, r"/scores has shape \(2, 4\), .*/score_mask has \(2, 3\)"),
        ({"score_mask": MASK.T}, r"/scores has shape \(2, 3\), .*/score_mask has \(3, 2\)"),
        ({"ID/row_ids": ["a", "b", "c", "d"]}, r"/scores has shape \(2, 3\), but there are 4 models"),
        ({"score_mask": MASK * 2}, "/score_mask: the mask holds 2 in row 0, column 0, but only 0, 1"),
        ({"score_mask": MASK * np.nan}, "/score_mask: the mask holds nan in row 0, column 0"),
        ({"score_mask": MASK.astype(np.int8) * -1}, "/score_mask: the mask holds -1 in row 0"),
        ({"score_mask": MASK * 0}, "holds no trials"),
        ({"scores": SCORES.ravel()}, r"/scores: expected a matrix, got an array of shape \(6,\)"),
        ({"scores": SCORES[None]}, r"/scores: expected a matrix, got an array of shape \(1, 2, 3\)"),
        ({"scores": SCORES.astype(complex)}, "/scores: expected numbers of up to 64 bits, but it holds complex128"),
        ({"scores": SCORES.astype("S5")}, r"/scores: expected numbers of up to 64 bits, but it holds \|S5"),
        ({"scores": SCORES.astype(np.longdouble)}, "/scores: expected numbers of up to 64 bits"),
        ({"scores": np.zeros((2, 3), [("a", "f8"), ("b", "i4")])}, "/scores: expected numbers of up to 64 bits"),
        ({"scores": h5py.Empty("f8")}, "/scores: expected a matrix|/scores: holds no cells|/scores"),
        ({"trial_mask": KEY}, "scores and masks of a key or an index at once"),
        ({"ID/row_ids": np.array([1, 2])}, "row_ids: expected names .*int64 values"),
        ({"ID/row_ids": np.array([[b"a", b"b"], [b"c", b"d"]])}, r"row_ids: expected a list of names, .*\(2, 2\)"),
        ({"ID/row_ids": [b"ann", b"\xffbob"]}, "row_ids: name 1 is not UTF-8"),
        ({"ID/row_ids": [b"ann", b"b\0ob"]}, "row_ids: name 1 holds a NUL"),
        ({"ID/row_ids": np.zeros((0,), "S1")}, "row_ids|holds no trials|shape"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, changed, message):
    refused(h5(tmp_path / "bad.h5", NAMES | MASKED | changed), message)


def test_nan_counts_only_where_there_are_trials(tmp_path):
    values = np.where(MASK == 1, SCORES, np.nan)
    assert_same_bits(read(h5(tmp_path / "a.h5", NAMES | MASKED | {"scores": values})).scores.score, MASKED_SCORES)
    values[1, 0] = np.nan
    told = refused(h5(tmp_path / "b.h5", NAMES | MASKED | {"scores": values}), "the scores of 1 trials are NaN")
    assert "/scores" in told
    assert "row 1, column 0 (bob, x)" in told


@pytest.mark.parametrize("value", [2, -2, 127])
def test_keys_hold_nothing_but_three_numbers(tmp_path, value):
    mask = KEY.copy()
    mask[1, 2] = value
    given = NAMES | {"trial_mask": mask, "file_format": "2.0"}
    refused(h5(tmp_path / "k.h5", given), f"/trial_mask: the mask holds {value} in row 1, column 2, but only 1, 0, -1")


# What is meant to harm


def edited(tmp_path, change, removed="scores"):
    """A sound file with one dataset made anew."""
    path = h5(tmp_path / "evil.h5", NAMES | MASKED)
    with h5py.File(path, "a") as file:
        del file[removed]
        change(file)
    return path


def test_links_are_not_followed(tmp_path):
    h5(tmp_path / "secret.h5", {"scores": SCORES})

    def soft(file):
        file["elsewhere"] = SCORES
        file["scores"] = h5py.SoftLink("/elsewhere")

    refused(edited(tmp_path, soft), "scores is a soft or external link", "bosaris-hdf5")

    def external(file):
        file["scores"] = h5py.ExternalLink(str(tmp_path / "secret.h5"), "/scores")

    refused(edited(tmp_path, external), "scores is a soft or external link")

    def group(file):
        file["ID"] = h5py.ExternalLink(str(tmp_path / "secret.h5"), "/")

    refused(edited(tmp_path, group, "ID"), "ID is a soft or external link")


def test_cells_in_other_files_are_not_read(tmp_path):
    raw = tmp_path / "secret.raw"
    raw.write_bytes(bytes(48))
    refused(
        edited(tmp_path, lambda file: file.create_dataset("scores", (2, 3), "f8", external=[(str(raw), 0, 48)])),
        "lie in other files",
    )
    h5(tmp_path / "secret.h5", {"scores": SCORES})

    def virtual(file):
        layout = h5py.VirtualLayout((2, 3), "f8")
        layout[:] = h5py.VirtualSource(str(tmp_path / "secret.h5"), "scores", (2, 3))
        file.create_virtual_dataset("scores", layout)

    refused(edited(tmp_path, virtual), "lie in other files")


def test_groups_that_hold_themselves_do_no_harm(tmp_path):
    path = h5(tmp_path / "cycle.h5", NAMES | MASKED)
    with h5py.File(path, "a") as file:
        file["ID/ID"] = file["ID"]
        file["ID/root"] = file["/"]
    assert len(read(path).scores) == 4
    with h5py.File(path, "a") as file:
        del file["scores"]
        file["scores"] = file["/"]
    refused(path, "/scores: expected a dataset, but this is a group")


def sparse_file(tmp_path, **places):
    def change(file):
        for place, (shape, kind, storage) in places.items():
            if place in file:
                del file[place]
            file.create_dataset(place, shape, kind, **storage)

    return edited(tmp_path, change)


@pytest.mark.parametrize(
    "places",
    [
        {"scores": ((10**6, 10**6), "f8", {})},
        {"scores": ((10**6, 10**6), "f8", {"fillvalue": 1.0})},
        {"scores": ((10**6, 10**6), "f8", {"chunks": (100, 100), "compression": "gzip"})},
        {"scores": ((2, 3), "f8", {"chunks": (2**14, 2**14), "maxshape": (None, None)})},
        {"score_mask": ((10**6, 10**6), "u1", {"fillvalue": 2})},
        {"score_mask": ((10**6, 10**6), "u1", {"fillvalue": 1})},
        {"ID/row_ids": ((10**12,), "S10", {})},
        {"ID/row_ids": ((10**12,), h5py.string_dtype(), {})},
        {"ID/row_ids": ((10**9,), h5py.string_dtype(), {"chunks": (10**6,), "compression": "gzip"})},
    ],
)
def test_promises_without_storage_cost_nothing(tmp_path, places):
    path = sparse_file(tmp_path, **({"scores": ((2, 3), "f8", {})} | places))
    with at_most(16 << 20):
        refused(path, "promises|chunks of|has shape")


def test_a_full_index_has_an_end(tmp_path):
    def change(file):
        for side in ("row", "column"):
            file[f"ID/{side}_ids"] = np.arange(70000).astype("S5")
        file.create_dataset("trial_mask", (70000, 70000), "u1", fillvalue=1)

    path = h5(tmp_path / "index.h5", {})
    with h5py.File(path, "a") as file:
        change(file)
    refused(path, "promises 4,900,000,000 trials")


def test_unknown_and_repeated_filters_are_refused(tmp_path):
    def twice(file):
        plan = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plan.set_chunk((2, 3))
        plan.set_deflate(9)
        plan.set_deflate(9)
        h5py.h5d.create(file.id, b"scores", h5py.h5t.NATIVE_DOUBLE, h5py.h5s.create_simple((2, 3)), plan)

    refused(edited(tmp_path, twice), "filters deflate, deflate")
    refused(edited(tmp_path, lambda file: file.create_dataset("scores", data=MASK, scaleoffset=0)), "filters number 6")
    refused(
        edited(tmp_path, lambda file: file.create_dataset("scores", data=SCORES, compression="lzf")),
        "filters number 32000",
    )


def test_a_chunk_shorter_than_its_checksum_is_refused(tmp_path):
    """The HDF5 library crashes on it."""

    def short(file):
        dataset = file.create_dataset("scores", (2, 3), "f8", chunks=(2, 3), fletcher32=True)
        dataset.id.write_direct_chunk((0, 0), b"abc")

    refused(edited(tmp_path, short), r"/scores: the chunk at \(0, 0\) is damaged")


def test_a_fill_value_that_makes_no_sense_is_refused(tmp_path):
    """The HDF5 library crashes when asked for it."""
    path = tmp_path / "fill.h5"
    mask = {"trial_mask": MASK}
    data = h5(path, NAMES | mask, compression="gzip").read_bytes()
    versions = [at for at in range(len(data) - 4) if data[at : at + 4] in (b"\x02\x03\x02\x01", b"\x02\x01\x02\x01")]
    assert versions
    for at in versions:
        for flags in range(16):
            path.write_bytes(data[: at + 1] + bytes([flags & 3, flags >> 2, 0]) + data[at + 4 :])
            sound_or_refused(path, "bosaris-hdf5")
        path.write_bytes(data[: at + 3] + bytes([0]) + data[at + 4 :])
        sound_or_refused(path, "bosaris-hdf5")


def test_parts_of_chunks_and_chunks_that_were_never_written(tmp_path):
    values = np.arange(35.0).reshape(5, 7)
    names = {"ID/row_ids": np.arange(5).astype("S1"), "ID/column_ids": np.arange(7).astype("S1")}
    path = h5(tmp_path / "parts.h5", names)
    with h5py.File(path, "a") as file:
        how = {"chunks": (2, 3), "fillvalue": -1.5, "compression": "gzip", "shuffle": True, "fletcher32": True}
        dataset = file.create_dataset("scores", (5, 7), ">f8", **how)
        dataset[2:, 2:] = values[2:, 2:]
        expected = dataset[()].astype("f8")
        file.create_dataset("score_mask", data=np.ones((5, 7), bool), chunks=(4, 4), shuffle=True)
    assert -1.5 in expected
    assert_same_bits(read(path).scores.score, expected.ravel())


_PACKER = zlib.compressobj(9, zlib.DEFLATED, -15)
_MEBIBYTE = _PACKER.compress(bytes(1 << 20)) + _PACKER.flush(zlib.Z_FULL_FLUSH)
BOMB = b"x\x9c" + 1100 * _MEBIBYTE


def test_a_chunk_that_is_a_bomb_is_refused(tmp_path):
    def bomb(file):
        dataset = file.create_dataset("scores", (2, 3), "f8", chunks=(2, 3), compression="gzip")
        assert len(BOMB) > 1 << 20
        dataset.id.write_direct_chunk((0, 0), BOMB)

    with at_most(20 << 20):
        refused(edited(tmp_path, bomb), r"the chunk at \(0, 0\) is damaged")


def test_a_large_chunk_that_is_a_bomb_is_refused(tmp_path):
    n = 1024

    def bomb(file):
        del file["score_mask"], file["ID"]
        for side in ("row", "column"):
            file[f"ID/{side}_ids"] = np.arange(n).astype("S4")
        dataset = file.create_dataset("scores", (n, n), "f8", chunks=(n, n), compression="gzip")
        dataset.id.write_direct_chunk((0, 0), BOMB)

    refused(edited(tmp_path, bomb), r"the chunk at \(0, 0\) is damaged")


def test_names_that_share_one_long_string_are_refused(tmp_path):
    """A reference to a string takes 16 bytes, and any number of them may name the same string."""
    path = tmp_path / "shared.h5"
    n = 3000
    with h5py.File(path, "w") as file:
        text = h5py.string_dtype()
        names = file.create_dataset("ID/row_ids", (n,), text)
        names[0] = "x" * 60000
        file["ID/column_ids"] = SEGMENTS
        file["scores"] = np.zeros((n, 3))
        names[1:] = ["y"] * (n - 1)
        offset = names.id.get_offset()
    data = bytearray(path.read_bytes())
    data[offset : offset + 16 * n] = data[offset : offset + 16] * n
    path.write_bytes(data)
    refused(path, "row_ids: the names are longer than the whole file")


def test_damaged_heaps_of_names_are_refused(tmp_path):
    """The HDF5 library reads some of these for ever."""
    path = h5(tmp_path / "heap.h5", NAMES | FULL)
    data = path.read_bytes()
    at = data.index(b"GCOL")
    n_refused = 0
    for place in range(at, at + 80):
        for value in (0, 255):
            path.write_bytes(data[:place] + bytes([value]) + data[place + 1 :])
            try:
                assert len(read(path).scores) == 6
            except FormatError:
                n_refused += 1
    assert n_refused > 20


@pytest.mark.parametrize("storage", [{}, {"compression": "gzip"}, {"compression": "gzip", "shuffle": True}])
@pytest.mark.parametrize("shape", [(7,), (7, 1)])
def test_names_of_variable_length_in_chunks(tmp_path, storage, shape):
    names = np.array(["", "b", "ü" * 5000, "d d", "e", "f", "g" * 300], object)
    path = h5(tmp_path / "chunks.h5", {"ID/column_ids": SEGMENTS, "scores": np.zeros((7, 3))})
    with h5py.File(path, "a") as file:
        chunks = (3,) if len(shape) == 1 else (3, 1)
        kind = h5py.string_dtype()
        file["ID"].create_dataset("row_ids", data=names.reshape(shape), dtype=kind, chunks=chunks, **storage)
    assert read(path).scores.trials.names[0].to_pylist() == names.tolist()
    stream = path.read_bytes()
    compressed = tmp_path / "chunks.h5.gz"
    compressed.write_bytes(gzip.compress(stream))
    assert read(compressed).scores.trials.names[0].to_pylist() == names.tolist()


def test_names_of_variable_length_that_were_never_written(tmp_path):
    path = h5(tmp_path / "none.h5", {"ID/column_ids": SEGMENTS, "scores": np.zeros((2, 3))})
    with h5py.File(path, "a") as file:
        file["ID"].create_dataset("row_ids", (2,), h5py.string_dtype())
    refused(path, "row_ids: 1 of 2 names repeat another one, the first ''")


def test_files_cut_off_anywhere_are_refused(tmp_path):
    data = written(Scores(Trials.of_grid(MODELS, SEGMENTS, MASK == 1), MASKED_SCORES), "bosaris-hdf5")
    path = tmp_path / "cut.h5"
    for length in range(8, len(data), 97):
        path.write_bytes(data[:length])
        refused(path, "damaged", "bosaris-hdf5")
    path.write_bytes(os.urandom(3000))
    refused(path, "damaged", "bosaris-hdf5")


_SOUND = {
    "scores": written(Scores(Trials.of_grid(MODELS, SEGMENTS, MASK == 1), MASKED_SCORES), "bosaris-hdf5"),
    "key": written(Key(Trials.of_grid(MODELS, SEGMENTS, MASK == 1), np.array(KEY_TRUTH)), "bosaris-hdf5"),
    "map": written(IdMap.of({"m1": "ann", "m2": "bob"}), "bosaris-hdf5"),
}


@given(st.sampled_from(sorted(_SOUND)).flatmap(lambda kind: damage(_SOUND[kind])))
def test_damage_is_refused_or_does_no_harm(data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "damaged.h5"
        path.write_bytes(data)
        sound_or_refused(path, "bosaris-hdf5")
        with suppress(FormatError):
            by_name("bosaris-hdf5").recognizes(Source(path))


def test_one_long_name_among_many_does_not_fill_the_disk(tmp_path):
    names = [f"n{i}" for i in range(3000)] + ["é" * 30_000]
    found = Scores.of({"enroll": ["m"] * len(names), "test": names}, np.arange(float(len(names))))
    data = written(found, "bosaris-hdf5")
    assert len(data) < 1 << 20
    with h5py.File(io.BytesIO(data)) as file:
        assert [name.decode() for name in file["ID/column_ids"][-2:]] == names[-2:]
    assert_same_trials(again(tmp_path, found, "bosaris-hdf5").scores.trials, found.trials)


def test_common_logarithms_are_not_written_and_parquet_has_room_for_them():
    with pytest.raises(FormatError, match=r"or choose parquet\.$"):
        written(Scores.of({"enroll": ["m"], "test": ["a"]}, [1.0], log10=True), "bosaris-hdf5")


@pytest.mark.parametrize("format_name", ["bosaris-hdf5", "bosaris-mat", "bosaris-mat73"])
def test_a_key_of_other_trials_is_refused_even_if_it_is_not_written(format_name):
    found = Scores.of({"enroll": ["m", "m"], "test": ["a", "b"]}, [1.0, 2.0])
    key = Key.of({"enroll": ["m", "m"], "test": ["b", "a"]}, [True, False])
    contents = Contents(origin=found.trials.origin, index=found.index, systems=(found,), key=key)
    with pytest.raises(InputError, match="Align them first"):
        by_name(format_name).write(contents, io.BytesIO())
