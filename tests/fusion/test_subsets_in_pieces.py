"""Fusions of sets of systems trained on trials in pieces: those of memory where no score is missing."""

import numpy as np
import pytest

from deciban.engines.threads import Threads
from deciban.errors import InputError
from deciban.fusion import SubsetFusion
from support.shards import source_of

MEMORY = 1 << 28


@pytest.mark.parametrize("asked", [{}, {"missing": "drop"}, {"missing": "subset", "max_missing": 2, "ridge": 0.1}])
@pytest.mark.parametrize("weighted", [False, True])
def test_fusions_of_all_sets_are_those_of_memory(asked, weighted):
    rng = np.random.default_rng(1)
    truth = rng.random(900) < 0.3
    scores = np.where(truth, 1.0, -1.0)[:, None] + rng.normal(size=(900, 3))
    weight = rng.integers(0, 3, 900) if weighted else None
    source = source_of(scores.T, truth, rng, systems=("A", "B", "C"), weights=weight)
    here, there = SubsetFusion(**asked), SubsetFusion(**asked)
    here.system_names = there.system_names = source.systems
    here.fit(scores, truth, sample_weight=weight)
    there.fit_pieces(source, Threads(2), MEMORY)
    assert list(there.fusions_) == list(here.fusions_)
    for subset, one in here.fusions_.items():
        np.testing.assert_allclose(there.fusions_[subset].weights_, one.weights_, rtol=1e-8)
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-10)
    assert there.training_.fingerprint == here.training_.fingerprint
    one, other = ({k: v for k, v in m.training_.results.items() if k.startswith("n_")} for m in (here, there))
    if not weighted:
        assert one == other
    lacking = scores[:50].copy()
    if "max_missing" in asked:
        lacking[:, 1] = np.nan
    np.testing.assert_allclose(there.transform(lacking), here.transform(lacking), rtol=1e-8)


def test_a_set_that_cannot_be_trained_is_named():
    rng = np.random.default_rng(2)
    truth = np.arange(200) < 60
    scores = np.column_stack((np.where(truth, 1.0, -1.0), rng.normal(size=200)))
    source = source_of(scores.T, truth, rng, systems=("A", "B"))
    with pytest.raises(
        InputError, match=r"^Fusion of A \+ B, trained on all trials: .*separated.*leave out one of these"
    ):
        SubsetFusion().fit_pieces(source, Threads(), MEMORY)
