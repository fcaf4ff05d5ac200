"""hyperion's HDF5 files: BOSARIS with conditions."""

import numpy as np
import pytest

from support.hdf5_files import ALL_PAIRS, IDS, KEY, MASK, MASKED_PAIRS, SCORES, h5, pairs, read, refused


@pytest.mark.parametrize("home", ["", "ID/"])
def test_conditions_follow_the_trials(tmp_path, home):
    conditions = {
        f"{home}model_cond": ["f", "m"],
        f"{home}seg_cond": np.array([8, 16, 8], ">i4"),
        f"{home}trial_cond": np.arange(6, dtype=np.int16).reshape(2, 3),
    }
    contents = read(h5(tmp_path / "scores.h5", IDS | {"scores": SCORES, "score_mask": MASK} | conditions))
    for trials in (contents.scores.trials, contents.index.trials):
        assert pairs(trials) == MASKED_PAIRS
        assert trials.conditions["model_cond"].to_pylist() == ["f", "f", "m", "m"]
        assert trials.conditions["seg_cond"].to_pylist() == [8, 8, 8, 16]
        assert trials.conditions["trial_cond"].to_pylist() == [0, 2, 3, 4]
    assert contents.origin.reading == "hyperion scores"
    assert contents.scores.keep(where={"model_cond": "m"}).score.tolist() == [0.0, -0.0]
    assert contents.notes == ()


def test_key_and_full_scores(tmp_path):
    contents = read(h5(tmp_path / "key.h5", IDS | {"trial_mask": KEY, "model_cond": ["f", "m"]}))
    assert contents.key.trials.conditions["model_cond"].to_pylist() == ["f", "f", "m", "m"]
    assert contents.key.is_target.tolist() == [True, False, False, True]
    trial_cond = np.array([[True, False, True], [False, True, False]])
    scores = read(h5(tmp_path / "full.h5", IDS | {"scores": SCORES, "trial_cond": trial_cond})).scores
    assert pairs(scores.trials) == ALL_PAIRS
    assert scores.trials.conditions["trial_cond"].to_pylist() == trial_cond.ravel().tolist()


@pytest.mark.parametrize(
    ("place", "values"),
    [
        ("model_cond", np.ones((4, 2), bool)),
        ("seg_cond", np.array([0.5, 1.0, 2.0])),
        ("trial_cond", np.ones((5, 2, 3), bool)),
        ("trial_cond", np.ones((3, 2), np.int8)),
    ],
)
def test_other_conditions_are_left_out_with_a_note(tmp_path, place, values):
    contents = read(h5(tmp_path / "scores.h5", IDS | {"scores": SCORES, "score_mask": np.ones((2, 3)), place: values}))
    assert f"/{place}: not one value" in contents.notes[0]
    assert not contents.index.trials.conditions


def test_what_is_no_dataset_is_refused(tmp_path):
    refused(h5(tmp_path / "group.h5", IDS | {"scores": SCORES, "model_cond/x": MASK}), "model_cond: expected a dataset")
