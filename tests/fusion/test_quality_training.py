"""Fusions with quality measures trained on trials in batches: what they are in memory, with the same refusals."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from deciban.core.training import batches
from deciban.engines import Threads
from deciban.errors import DecibanWarning, InputError
from deciban.fusion import QualityFusion
from deciban.models.sources import mapped
from deciban.trials.sources import Batch, SourcePartition, TrialFields, TrialSource
from support.array_sources import Apart

MEMORY = 1 << 28
SAME = {"rtol": 1e-8, "atol": 1e-9}


class Measured(SourcePartition):
    """Rows of arrays with quality measures."""

    def __init__(self, name, rows, scores, truth, quality):
        self.name, self.n_rows = name, len(rows)
        self.scores, self.truth = [one[rows] for one in scores.T], truth[rows]
        self.quality = {side: table[rows] for side, table in quality.items()}

    def read(self, wanted):
        """See `SourcePartition.read`."""
        own = tuple(self.scores[k] for k in wanted.systems)
        quality = {one: self.quality[one] for one in wanted.quality}
        return Batch(own, self.truth if wanted.truth else None, quality=quality)


def trials(rng, n=6000):
    """Scores of two systems that noise raises, truth, and measures of both sides and of the trial."""
    truth = rng.random(n) < 0.3
    enroll, test, of_trial = rng.random((n, 2)), rng.random((n, 2)), rng.normal(size=(n, 1))
    common = np.where(truth, 1.0, -1.0) + 2.0 * (enroll[:, 0] + test[:, 0]) + 0.3 * of_trial[:, 0]
    scores = common[:, None] + rng.normal(size=(n, 2)) * [1.0, 1.5]
    return scores, truth, {"enroll_quality": enroll, "test_quality": test, "trial_quality": of_trial}


def partitions_of(scores, truth, quality, rng):
    parts = np.split(rng.permutation(len(truth)), np.sort(rng.integers(0, len(truth), 5)))
    partitions = tuple(Measured(f"piece {k}", rows, scores, truth, quality) for k, rows in enumerate(parts))
    return TrialSource("arrays", partitions, ("A", "B"), quality=tuple(quality))


@pytest.mark.parametrize("sides", [("enroll", "test"), ("enroll", "test", "trial"), ("test",), ("trial",)])
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("lacking", [False, True])
def test_fusion_is_that_of_training_in_memory(sides, symmetric, lacking, monkeypatch):
    monkeypatch.setattr(batches, "DRAWN", 1000)
    rng = np.random.default_rng(1)
    scores, truth, measures = trials(rng)
    quality = {f"{side}_quality": measures[f"{side}_quality"] for side in sides}
    if lacking:
        next(iter(quality.values()))[rng.random(len(truth)) < 0.1] = np.nan
    asked = {"symmetric": symmetric, "p_target": 0.2, "ridge": 0.01}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DecibanWarning)
        here = QualityFusion(**asked).fit(scores, truth, **quality)
        there = QualityFusion(**asked).fit_source(partitions_of(scores, truth, quality, rng), Apart(), MEMORY)
    for name in ("weights_", "quality_weights_", "trial_quality_weights_", "offset_", "standardized_quality_weights_"):
        np.testing.assert_allclose(getattr(there, name), getattr(here, name), err_msg=name, **SAME)
    np.testing.assert_allclose(there.backoff_.weights_, here.backoff_.weights_, **SAME)
    assert there.quality_sides_ == here.quality_sides_
    assert (there.training_.fingerprint, there.training_.counts) == (here.training_.fingerprint, here.training_.counts)
    assert there.training_.results["n_without_quality"] == here.training_.results["n_without_quality"]


def test_combined_measures_and_what_the_fusion_makes_of_partitions():
    rng = np.random.default_rng(2)
    scores, truth, measures = trials(rng, 2000)
    quality = {side: measures[side] for side in ("enroll_quality", "test_quality")}
    fusion = QualityFusion(combine=[[1.0, 0.5]])
    here = QualityFusion(combine=[[1.0, 0.5]]).fit(scores, truth, **quality)
    source = partitions_of(scores, truth, quality, rng)
    fusion.fit_source(source, Threads(), MEMORY)
    np.testing.assert_allclose(fusion.quality_weights_, here.quality_weights_, **SAME)
    found = mapped(source, fusion, "fusion")
    llr = np.sort(np.concatenate([one.read(TrialFields((0,), truth=True)).scores[0] for one in found.partitions]))
    np.testing.assert_allclose(llr, np.sort(fusion.transform(scores, **quality)), rtol=1e-12)


def test_refusals_are_those_of_training_in_memory():
    rng = np.random.default_rng(3)
    scores, truth, measures = trials(rng, 500)
    hopeless = measures["test_quality"].copy()
    hopeless[truth] = np.nan
    far = {**measures, "test_quality": measures["test_quality"] + 1e13}
    uneven = {"enroll_quality": measures["enroll_quality"][:, :1], "test_quality": measures["test_quality"]}
    for quality in ({"test_quality": hopeless}, far, uneven):
        told = []
        for train in (
            lambda own: QualityFusion().fit(scores, truth, **own),
            lambda own: QualityFusion().fit_source(partitions_of(scores, truth, own, rng), Threads(), MEMORY),
        ):
            with pytest.raises(InputError) as caught:
                train(quality)
            told.append(str(caught.value))
        assert told[0][:60] == told[1][:60]
    source = replace(partitions_of(scores, truth, measures, rng), quality=())
    with pytest.raises(InputError, match="needs quality measures, but arrays has none"):
        QualityFusion().fit_source(source, Threads(), MEMORY)
