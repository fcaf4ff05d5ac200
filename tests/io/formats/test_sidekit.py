"""sidekit's HDF5 files."""

import h5py
import numpy as np
import pytest

from deciban import FormatError
from deciban.io.reader import read_contents
from support.hdf5_files import (
    ALL_PAIRS,
    KEY,
    MASK,
    MASKED_PAIRS,
    SCORES,
    assert_key,
    assert_masked_scores,
    h5,
    pairs,
    read,
    refused,
)

NAMES = {"modelset": [b"ann", b"bob"], "segset": [b"x", b"y", b"z"]}
PACKED = {"compression": "gzip", "fletcher32": True, "shuffle": True}


@pytest.mark.parametrize("storage", [{}, PACKED, {"fletcher32": True}, {"shuffle": True}, {"chunks": (1, 2)}])
def test_scores(tmp_path, storage):
    path = h5(tmp_path / "scores.h5", NAMES | {"scores": SCORES, "score_mask": MASK.astype(np.int8)}, **storage)
    contents = read(path)
    assert contents.origin.reading == "sidekit scores"
    assert_masked_scores(contents.scores)
    assert contents.notes == ()


def test_scores_without_a_mask_are_all_trials(tmp_path):
    contents = read(h5(tmp_path / "scores.h5", NAMES | {"scores": SCORES}))
    assert pairs(contents.scores.trials) == ALL_PAIRS
    assert "there is no mask" in contents.notes[0]


def test_key(tmp_path):
    key = read(h5(tmp_path / "key.h5", NAMES | {"trial_mask": KEY}, **PACKED)).key
    assert_key(key)


def test_a_mask_without_minus_one_is_an_index(tmp_path):
    path = h5(tmp_path / "index.h5", NAMES | {"trial_mask": MASK.astype(np.int8)})
    assert read(path).kinds == ("index",)
    assert pairs(read(path).index.trials) == MASKED_PAIRS
    assert "no cell is -1" in read(path, need="key").notes[0]


def test_scores_and_mask_of_trials_at_once_are_refused(tmp_path):
    refused(h5(tmp_path / "both.h5", NAMES | {"scores": SCORES, "trial_mask": KEY}), "scores and masks .* one table")


def test_names_only_are_refused(tmp_path):
    refused(h5(tmp_path / "names.h5", NAMES), "no dataset /trial_mask")


def test_a_file_of_two_layouts_is_refused_with_both_named(tmp_path):
    path = h5(tmp_path / "two.h5", NAMES | {"model_names": [b"a"], "test_names": [b"b"], "scores": SCORES})
    with pytest.raises(FormatError, match="could be pybosaris or sidekit"):
        read_contents(path)
    assert len(read_contents(path, format="sidekit").scores) == 6


def test_a_damaged_file_is_refused(tmp_path):
    path = h5(tmp_path / "scores.h5", NAMES | {"scores": SCORES}, **PACKED)
    data = path.read_bytes()
    with h5py.File(path) as file:
        at = file["scores"].id.get_chunk_info(0).byte_offset
    path.write_bytes(data[: at + 3] + bytes([data[at + 3] ^ 255]) + data[at + 4 :])
    refused(path, "damaged")
    for place in range(at, at + 8):  # sums alone tell, where nothing is packed
        path = h5(tmp_path / "sums.h5", NAMES | {"scores": SCORES}, fletcher32=True)
        with h5py.File(path) as file:
            where = file["scores"].id.get_chunk_info(0).byte_offset + place - at
        plain = bytearray(path.read_bytes())
        plain[where] ^= 1
        path.write_bytes(plain)
        refused(path, r"/scores: the chunk at \(0, 0\) is damaged")
    path = tmp_path / "scores.h5"
    path.write_bytes(data[:-1])
    refused(path, "damaged")
