"""PyBOSARIS' HDF5 files."""

from support.hdf5_files import (
    ALL_PAIRS,
    KEY,
    MASK,
    MODELS,
    SCORES,
    SEGMENTS,
    assert_key,
    assert_masked_scores,
    assert_same_bits,
    h5,
    pairs,
    read,
    refused,
)

NAMES = {"model_names": MODELS, "test_names": SEGMENTS}


def test_scores(tmp_path):
    contents = read(h5(tmp_path / "scores.h5", NAMES | {"score_mat": SCORES}))
    assert contents.origin.reading == "pybosaris scores"
    assert pairs(contents.scores.trials) == ALL_PAIRS
    assert_same_bits(contents.scores.score, SCORES.ravel())


def test_scores_with_a_mask(tmp_path):
    scores = read(h5(tmp_path / "scores.h5", NAMES | {"score_mat": SCORES, "score_mask": MASK})).scores
    assert_masked_scores(scores)


def test_key(tmp_path):
    key = read(h5(tmp_path / "key.h5", NAMES | {"tar_mask": KEY == 1, "non_mask": KEY == -1})).key
    assert_key(key)


def test_what_makes_no_sense_is_refused(tmp_path):
    masks = {"tar_mask": KEY == 1, "non_mask": KEY != 0}
    refused(h5(tmp_path / "a.h5", NAMES | masks), "2 trials are target and non-target at once.*row 0, column 0")
    refused(h5(tmp_path / "b.h5", NAMES | masks | {"score_mat": SCORES}), "must contain one table")
    refused(h5(tmp_path / "c.h5", NAMES | {"tar_mask": KEY == 1}), "no dataset /non_mask")
    refused(h5(tmp_path / "d.h5", NAMES), "no dataset /score_mat")
