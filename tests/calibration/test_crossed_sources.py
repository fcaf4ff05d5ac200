"""Cross-validation of trials in batches: the llrs of memory, the same refusals."""

import numpy as np
import pytest

from deciban.calibration import AffineCalibrator, MulticlassCalibrator, cross_validated
from deciban.calibration.cross import SourceParts
from deciban.calibration.folds import folds_of
from deciban.engines import Threads
from deciban.errors import InputError
from deciban.fusion import LinearFusion
from deciban.trials.sources import TrialFields
from support.array_sources import Apart, source_of

MEMORY = 1 << 28


def trials(rng, n=600):
    truth = rng.random(n) < 0.3
    return np.where(truth, 0.6, -0.6)[:, None] + rng.normal(size=(n, 2)), truth


def by_score(crossed, source):
    """What models make of each trial, by its first score."""
    found = {}
    for one, own in zip(crossed.partitions, source.partitions, strict=True):
        chunk, before = one.read(TrialFields((0,))), own.read(TrialFields((0,)))
        keys = before.scores[0].reshape(len(before.scores[0]), -1)[:, 0]
        found |= dict(zip(keys.tolist(), chunk.scores[0].tolist(), strict=True))
    return found


@pytest.mark.parametrize("engine", [Threads(2), Apart()])
@pytest.mark.parametrize("n_sides", [0, 1, 2])
def test_every_trial_has_the_llr_of_memory(engine, n_sides):
    rng = np.random.default_rng(n_sides)
    scores, truth = trials(rng)
    weight = rng.integers(0, 3, len(truth))
    sides = [np.array([f"p{k}" for k in rng.integers(0, 15, len(truth))]) for _ in range(n_sides)]
    groups = {0: None, 1: sides and sides[0], 2: sides}[n_sides]
    here = cross_validated(LinearFusion(), scores, truth, groups=groups, n_folds=3, sample_weight=weight)
    source = source_of(scores.T, truth, rng, systems=("A", "B"), weights=weight, groups=sides)
    parts = SourceParts.of(source, engine, 3, memory=MEMORY)
    assert len(parts) == (6 if n_sides == 2 else 3)
    found = by_score(parts.crossed(LinearFusion(), "fusion"), source)
    np.testing.assert_allclose([found[one] for one in scores[:, 0].tolist()], here, rtol=1e-8, atol=1e-9)


def test_some_of_the_systems():
    rng = np.random.default_rng(4)
    scores, truth = trials(rng)
    who = np.array([f"p{k}" for k in rng.integers(0, 15, len(truth))])
    here = cross_validated(LinearFusion(), scores[:, 1:], truth, groups=who, n_folds=3)
    source = source_of(scores.T, truth, rng, systems=("A", "B"), groups=(who,))
    crossed = SourceParts.of(source, Threads(), 3, memory=MEMORY).crossed(LinearFusion(), "B", systems=[1])
    found = by_score(crossed, source)
    np.testing.assert_allclose([found[one] for one in scores[:, 0].tolist()], here, rtol=1e-8, atol=1e-9)


def test_many_classes():
    rng = np.random.default_rng(5)
    label = rng.integers(0, 3, 400)
    loglik = rng.normal(size=(400, 3)) + 1.5 * np.eye(3)[label]
    folds = folds_of(loglik, label, None, None, n_folds=4, seed=0)
    here = np.empty((400, 3))
    for k in range(4):
        rest, some = folds[0] != k, folds[0] == k
        here[some] = MulticlassCalibrator().fit(loglik[rest], label[rest]).transform(loglik[some])
    source = source_of(loglik, label, rng, classes=("x", "y", "z"), groups=())
    found = by_score(SourceParts.of(source, Threads(), 4, memory=MEMORY).crossed(MulticlassCalibrator(), "one"), source)
    np.testing.assert_allclose([found[one] for one in loglik[:, 0].tolist()], here, rtol=1e-8, atol=1e-9)


def test_what_cannot_be_trained_is_refused_as_in_memory():
    rng = np.random.default_rng(6)
    scores, truth = trials(rng, 60)
    separated = np.where(truth, 5.0, -5.0) + rng.normal(size=60) * 0.1
    separated[0] = -separated[0]  # all that separates them not
    alone = np.where(truth, "one", [f"g{k}" for k in range(60)])
    for one, who in ((separated, np.array([f"g{k}" for k in range(60)])), (scores[:, 0], alone)):
        with pytest.raises(InputError) as here:
            cross_validated(AffineCalibrator(), one, truth, groups=who, n_folds=4)
        source = source_of(one, truth, rng, groups=(who,))
        with pytest.raises(InputError) as there:
            SourceParts.of(source, Threads(), 4, memory=MEMORY).crossed(AffineCalibrator(), "one")
        assert str(there.value).replace("value of left", "value of the groups") == str(here.value)


def test_trials_that_weigh_nothing_leave_no_class_to_train_on():
    rng = np.random.default_rng(9)
    scores, truth = trials(rng, 60)
    who = np.array([f"g{k}" for k in range(60)])
    targets = np.flatnonzero(truth)
    who[targets[:5]] = "one"
    weight = np.where(truth & (who != "one"), 0.0, 1.0)
    with pytest.raises(InputError) as here:
        cross_validated(AffineCalibrator(), scores[:, 0], truth, groups=who, n_folds=3, sample_weight=weight)
    source = source_of(scores[:, 0], truth, rng, groups=(who,), weights=weight)
    with pytest.raises(InputError) as there:
        SourceParts.of(source, Threads(), 3, memory=MEMORY).crossed(AffineCalibrator(), "one")
    assert str(there.value).replace("value of left", "value of the groups") == str(here.value)


def test_a_trial_that_a_model_refuses_is_named():
    rng = np.random.default_rng(7)
    scores, truth = trials(rng, 300)
    scores[3] = [np.inf, -np.inf]
    source = source_of(scores.T, truth, rng, systems=("A", "B"), groups=(), n_partitions=1)
    with pytest.raises(InputError, match=r"trial \d+ of what is left of piece 0"):
        SourceParts.of(source, Threads(), 2, memory=MEMORY).crossed(LinearFusion(), "fusion")


def test_a_source_must_know_what_is_held_out_together():
    rng = np.random.default_rng(8)
    scores, truth = trials(rng, 60)
    with pytest.raises(InputError, match="arrays was opened without groups to hold out together"):
        SourceParts.of(source_of(scores[:, 0], truth, rng), Threads(), 2)
