"""Fusions of sets of systems trained on trials in batches: those of memory, whether scores are missing or not."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban.engines import Threads
from deciban.errors import InputError
from deciban.fusion import SubsetFusion
from support.array_sources import source_of

MEMORY = 1 << 28


def both_trained(asked, source, scores, truth, weight, *, rtol):
    """A fusion that was trained in memory and one in batches, which are the same."""
    here, there = SubsetFusion(**asked), SubsetFusion(**asked)
    here.system_names = there.system_names = source.systems
    here.fit(scores, truth, sample_weight=weight)
    there.fit_source(source, Threads(2), MEMORY)
    assert list(there.fusions_) == list(here.fusions_)
    for subset, one in here.fusions_.items():
        np.testing.assert_allclose(there.fusions_[subset].weights_, one.weights_, rtol=rtol)
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-10)
    assert there.training_.fingerprint == here.training_.fingerprint
    return here, there


@pytest.mark.parametrize("asked", [{}, {"missing": "drop"}, {"missing": "subset", "max_missing": 2, "ridge": 0.1}])
@pytest.mark.parametrize("weighted", [False, True])
def test_fusions_of_all_sets_are_those_of_memory(asked, weighted):
    rng = np.random.default_rng(1)
    truth = rng.random(900) < 0.3
    scores = np.where(truth, 1.0, -1.0)[:, None] + rng.normal(size=(900, 3))
    weight = rng.integers(0, 3, 900) if weighted else None
    source = source_of(scores.T, truth, rng, systems=("A", "B", "C"), weights=weight)
    here, there = both_trained(asked, source, scores, truth, weight, rtol=1e-8)
    one, other = ({k: v for k, v in m.training_.results.items() if k.startswith("n_")} for m in (here, there))
    if not weighted:
        assert one == other
    lacking = scores[:50].copy()
    if "max_missing" in asked:
        lacking[:, 1] = np.nan
    np.testing.assert_allclose(there.transform(lacking), here.transform(lacking), rtol=1e-8)


@settings(max_examples=5)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["subset", "subset=2", "drop"]), st.booleans())
def test_trials_that_lack_scores_train_what_they_train_in_memory(seed, how, weighted):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(400, 900))
    truth = rng.random(n) < 0.4
    scores = np.where(truth, 0.5, -0.5)[:, None] + rng.normal(size=(n, 3))
    scores[rng.random((n, 3)) < rng.choice([0.02, 0.3])] = np.nan
    if rng.random() < 0.5:
        scores[:, 0] = np.where(np.isnan(scores[:, 1]), np.nan, scores[:, 0])
    weight = rng.integers(0, 3, n) if weighted else None
    source = source_of(scores.T, truth, rng, systems=("A", "B", "C"), weights=weight)
    source = replace(source, incomplete=True)
    asked = {"missing": how.partition("=")[0], "max_missing": 2 * ("=" in how)}
    here, there = both_trained(asked, source, scores, truth, weight, rtol=1e-7)
    assert there.training_.counts == here.training_.counts
    one, other = ({k: v for k, v in m.training_.results.items() if k.startswith("n_")} for m in (here, there))
    assert one == other


def test_a_score_that_is_missing_is_refused_unless_there_is_a_way():
    rng = np.random.default_rng(3)
    truth = rng.random(300) < 0.5
    scores = np.where(truth, 1.0, -1.0)[:, None] + rng.normal(size=(300, 2))
    scores[:, 1] = np.where(truth, np.nan, scores[:, 1])
    source = replace(source_of(scores.T, truth, rng, systems=("A", "B")), incomplete=True)

    def refused(missing, scores=source):
        fusion = SubsetFusion(missing=missing)
        fusion.system_names = source.systems
        with pytest.raises(InputError) as caught:
            fusion.fit_source(scores, Threads(), MEMORY)
        return str(caught.value)

    n_tar = int(truth.sum())
    assert re.search(
        r"the first is trial \d+ of .*: it has scores only of A, .*Pass missing=\"drop\"", refused("error")
    )
    dropped = f"scores: {n_tar} of 300 trials were dropped because of missing scores, and no target is left"
    assert refused("drop").startswith(dropped)
    trained_on = f"the {300 - n_tar} of 300 trials with all their scores"
    assert refused("subset").startswith(f"Fusion of A + B, trained on {trained_on}: ")
    silent = source_of([scores[:, 0], np.full(300, np.nan)], truth, rng, systems=("A", "B"))
    assert refused("subset", replace(silent, incomplete=True)).startswith("scores: B: no score in any trial.")


def test_a_set_that_cannot_be_trained_is_named():
    rng = np.random.default_rng(2)
    truth = np.arange(200) < 60
    scores = np.column_stack((np.where(truth, 1.0, -1.0), rng.normal(size=200)))
    source = source_of(scores.T, truth, rng, systems=("A", "B"))
    with pytest.raises(
        InputError, match=r"^Fusion of A \+ B, trained on all trials: .*separated.*leave out one of these"
    ):
        SubsetFusion().fit_source(source, Threads(), MEMORY)
