"""What a model makes of trials in batches."""

import pickle
from functools import partial

import numpy as np
import pytest

from deciban.calibration import AffineCalibrator, MulticlassScaleCalibrator
from deciban.errors import InputError
from deciban.fusion import LinearFusion
from deciban.models.sources import mapped
from deciban.trials.sources import TrialFields, ordered
from support.array_sources import source_of


def values_of(source, *, systems=(0,)):
    chunks = [one.read(TrialFields(systems, truth=True)) for one in source.partitions]
    return np.concatenate([one.scores[0] for one in chunks]), np.concatenate([one.truth for one in chunks])


def test_partitions_hold_what_transform_gives():
    rng = np.random.default_rng(1)
    scores, truth = rng.normal(size=(300, 2)), rng.random(300) < 0.3
    fusion = LinearFusion().fit(scores, truth)
    found = mapped(source_of(scores.T, truth, rng, systems=("A", "B")), fusion, "fusion")
    llr, label = values_of(found)
    assert (found.systems, found.is_double, found.n_rows) == (("fusion",), True, 300)
    np.testing.assert_array_equal(np.sort(llr[label]), np.sort(fusion.transform(scores)[truth]))
    np.testing.assert_array_equal(np.sort(llr[~label]), np.sort(fusion.transform(scores)[~truth]))
    assert found.partitions[0].read(TrialFields((), truth=True)).scores == ()


def test_calibrations_of_two_and_of_many_classes():
    rng = np.random.default_rng(2)
    truth = np.arange(50) < 20
    scores = (rng.normal(size=50) + truth).astype(np.float32)
    model = AffineCalibrator().fit(scores, truth)
    llr, _ = values_of(mapped(source_of(scores, truth, rng), model, "calibrated"))
    np.testing.assert_array_equal(np.sort(llr), np.sort(model.transform(scores)))
    loglik, label = rng.normal(size=(90, 3)), np.arange(90) % 3
    loglik[np.arange(90), label] += 1.0
    many = MulticlassScaleCalibrator().fit(loglik, label)
    found, _ = values_of(mapped(source_of(loglik, label, rng, classes=("a", "b", "c")), many, "calibrated"))
    np.testing.assert_array_equal(np.sort(found, axis=0), np.sort(many.transform(loglik), axis=0))


def test_a_trial_that_the_model_refuses_is_named_by_partition_and_number():
    rng = np.random.default_rng(3)
    scores, truth = rng.normal(size=(40, 2)), rng.random(40) < 0.5
    fusion = LinearFusion(ridge=0.1).fit(scores + np.where(truth, 0.3, -0.3)[:, None], truth)
    fusion.weights_ = np.array([1.0, 1.0])
    scores[3] = np.inf, -np.inf
    source = mapped(source_of(scores.T, truth, rng, n_partitions=1, systems=("A", "B")), fusion, "fusion")
    with pytest.raises(InputError, match=r"contradict each other .*, the first is trial \d+ of piece"):
        values_of(source)


def test_systems_and_classes_in_another_order():
    rng = np.random.default_rng(4)
    scores, truth = rng.normal(size=(3, 60)), np.arange(60) % 2 == 0
    source = source_of(scores, truth, rng, systems=("A", "B", "C"))
    found = ordered(source, systems=[2, 0])
    assert found.systems == ("C", "A")
    for one, other in zip(found.partitions, source.partitions, strict=True):
        np.testing.assert_array_equal(one.read(TrialFields((1,))).scores[0], other.read(TrialFields((0,))).scores[0])
    assert ordered(source, systems=[0, 1, 2]) is source
    loglik, label = rng.normal(size=(50, 3)), np.arange(50) % 3
    many = source_of(loglik, label, rng, classes=("a", "b", "c"))
    turned = ordered(many, classes=("c", "a", "b"))
    assert turned.classes == ("c", "a", "b")
    for one, other in zip(turned.partitions, many.partitions, strict=True):
        new, old = one.read(TrialFields((0,), truth=True)), other.read(TrialFields((0,), truth=True))
        np.testing.assert_array_equal(new.scores[0], old.scores[0][:, [2, 0, 1]])
        assert ["cab"[k] for k in new.truth] == ["abc"[k] for k in old.truth]
    back = ordered(turned, classes=("a", "b", "c"))
    np.testing.assert_array_equal(values_of(back)[0], values_of(many)[0])


def _scores_from(limit, partition, wanted):
    chunk = partition.read(wanted)
    return chunk.take(chunk.scores[0] >= limit)


def test_steps_of_a_source_are_taken_when_partitions_are_read_and_can_be_sent_to_other_processes():
    rng = np.random.default_rng(2)
    scores, truth = rng.normal(size=200), rng.random(200) < 0.3
    source = source_of(scores, truth, rng, systems=("A",))
    sent = pickle.dumps(source.map(partial(_scores_from, 0.0), systems=("B",)))
    found = pickle.loads(sent)  # noqa: S301  # from the line above
    llr, label = values_of(found.map(partial(_scores_from, 0.5)))
    kept = scores >= 0.5
    assert (found.systems, found.n_rows, source.systems) == (("B",), 200, ("A",))
    assert [one.name for one in found.partitions] == [one.name for one in source.partitions]
    np.testing.assert_array_equal(np.sort(llr), np.sort(scores[kept]))
    assert np.count_nonzero(label) == np.count_nonzero(truth[kept])
