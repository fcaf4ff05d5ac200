"""DCA-PLDA's HDF5 files."""

import pytest

from support.hdf5_files import (
    KEY,
    MASK,
    MASKED_PAIRS,
    MODELS,
    SCORES,
    SEGMENTS,
    assert_key,
    assert_masked_scores,
    h5,
    pairs,
    read,
    refused,
)


@pytest.mark.parametrize("enroll", ["enroll_ids", "train_ids"])
def test_key(tmp_path, enroll):
    key = read(h5(tmp_path / "key.h5", {enroll: MODELS, "test_ids": SEGMENTS, "trial_mask": KEY})).key
    assert_key(key)
    assert key.trials.origin.reading == "dca-plda key"


def test_index(tmp_path):
    contents = read(h5(tmp_path / "index.h5", {"enroll_ids": MODELS, "test_ids": SEGMENTS, "trial_mask": MASK}))
    assert contents.kinds == ("index",)
    assert pairs(contents.index.trials) == MASKED_PAIRS


def test_scores(tmp_path):
    names = {"enroll_ids": MODELS, "test_ids": SEGMENTS}
    scores = read(h5(tmp_path / "scores.h5", names | {"scores": SCORES, "score_mask": MASK})).scores
    assert_masked_scores(scores)
    assert len(read(h5(tmp_path / "full.h5", names | {"scores": SCORES})).scores) == 6


def test_ambiguous_files_are_refused(tmp_path):
    names = {"enroll_ids": MODELS, "train_ids": MODELS, "test_ids": SEGMENTS}
    refused(h5(tmp_path / "a.h5", names | {"trial_mask": KEY}), "enroll_ids and train_ids")
    names.pop("train_ids")
    refused(h5(tmp_path / "b.h5", names | {"trial_mask": KEY, "scores": SCORES}), "must contain one table")
    refused(h5(tmp_path / "c.h5", names), "no dataset /trial_mask")
