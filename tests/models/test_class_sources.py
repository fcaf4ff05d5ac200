"""Models of many classes trained on trials in batches: what they are in memory, with the same refusals."""

import numpy as np
import pytest

from deciban.calibration import (
    ClassScaleTransformation,
    GaussianBackend,
    MatrixTransformation,
    MulticlassCalibrator,
    MulticlassScaleCalibrator,
    MulticlassShiftCalibrator,
)
from deciban.core.resampling.units import TrialUnits, UnlistedUnits
from deciban.core.training import batches
from deciban.engines import Threads
from deciban.engines.units import look_at_units
from deciban.errors import DecibanWarning, InputError
from deciban.fusion import MulticlassFusion
from deciban.trials.speakers import BatchUnits
from support.array_sources import Apart, source_of

MEMORY = 1 << 28
SAME = {"rtol": 1e-9, "atol": 1e-10}
NAMES = ("cat", "dog", "eel", "fox")


@pytest.fixture
def small_sample(monkeypatch):
    """A sample that is far from all trials."""
    monkeypatch.setattr(batches, "_CLASSES_DRAWN", 1500)


def trials(rng, n=6000, n_systems=2):
    """Log-likelihoods of systems, (n_systems, n, n_classes), and classes."""
    label = rng.choice(4, n, p=(0.4, 0.3, 0.2, 0.1))
    return np.array([rng.normal(size=(n, 4)) * (1 + k) + 1.7 * np.eye(4)[label] for k in range(n_systems)]), label


def partitions_of(systems, label, rng):
    one = len(systems) == 1
    return source_of(systems[0] if one else systems, label, rng, systems=("A", "B")[: len(systems)], classes=NAMES)


@pytest.mark.usefixtures("small_sample")
@pytest.mark.parametrize(
    "asked", [{}, {"ridge": 0.2}, {"prior": [0.1, 0.2, 0.3, 0.4]}, {"prior": [0.5, 0.5, 0, 0]}, {"offsets": False}]
)
def test_fusion_finds_the_optimum_of_training_in_memory_in_few_passes(asked):
    rng = np.random.default_rng(1)
    systems, label = trials(rng)
    here = MulticlassFusion(**asked).fit(np.moveaxis(systems, 0, 1), label, classes=NAMES)
    engine = Threads()
    there = MulticlassFusion(**asked).fit_source(partitions_of(systems, label, rng), engine, MEMORY)
    np.testing.assert_allclose(there.weights_, here.weights_, **SAME)
    np.testing.assert_allclose(there.offset_, here.offset_, **SAME)
    np.testing.assert_allclose(there.penalized_objective_, here.penalized_objective_, rtol=1e-12)
    assert (there.training_.fingerprint, there.training_.counts) == (here.training_.fingerprint, here.training_.counts)
    assert there.classes_ == here.classes_ == NAMES
    np.testing.assert_allclose(there.standardized_weights_, here.standardized_weights_, **SAME)
    standardizing = 3 if "ridge" in asked else 1  # the widths of all trials
    assert engine.n_passes <= 1 + standardizing + 4


@pytest.mark.usefixtures("small_sample")
@pytest.mark.parametrize("model", [MulticlassCalibrator(), MulticlassScaleCalibrator(), MulticlassShiftCalibrator()])
@pytest.mark.parametrize("infinite", [False, True])
def test_calibrations_are_those_of_training_in_memory(model, infinite):
    rng = np.random.default_rng(2)
    systems, label = trials(rng, n_systems=1)
    if infinite:  # classes that are out of the question, and trials that are decided
        rows = rng.choice(len(label), 60, replace=False)
        systems[0][rows, (label[rows] + 1) % 4] = -np.inf
        systems[0][rows[:20]] = -np.inf
        systems[0][rows[:20], label[rows[:20]]] = 0.0
    here = type(model)(**model.settings).fit(systems[0], label, classes=NAMES)
    there = model.fit_source(partitions_of(systems, label, rng), Threads(2), MEMORY)
    np.testing.assert_allclose(there.scale_, here.scale_, **SAME)
    np.testing.assert_allclose(there.offset_, here.offset_, **SAME)
    np.testing.assert_allclose(there.objective_, here.objective_, rtol=1e-12)
    assert there.training_.fingerprint == here.training_.fingerprint


@pytest.mark.usefixtures("small_sample")
def test_passes_can_be_sent_to_other_processes():
    rng = np.random.default_rng(7)
    systems, label = trials(rng)
    source = partitions_of(systems, label, rng)
    one, other = (MulticlassFusion(ridge=0.1).fit_source(source, engine, MEMORY) for engine in (Threads(), Apart()))
    np.testing.assert_allclose(other.weights_, one.weights_, rtol=1e-10)
    np.testing.assert_allclose(other.offset_, one.offset_, rtol=1e-9, atol=1e-12)
    assert other.training_.fingerprint == one.training_.fingerprint
    source = partitions_of(systems[:1, :1000], label[:1000], rng)
    one, other = (ClassScaleTransformation(ridge=0.1).fit_source(source, at, MEMORY) for at in (Threads(), Apart()))
    np.testing.assert_allclose(other.scale_, one.scale_, rtol=1e-9)


def refusals(model, systems, label, rng):
    """What training in memory says, and training in batches."""
    told = []
    table = np.moveaxis(systems, 0, 1) if model.is_fusion else systems[0]
    source = partitions_of(systems, label, rng)
    ways = (lambda m: m.fit(table, label, classes=NAMES), lambda m: m.fit_source(source, Threads(), MEMORY))
    for train in ways:
        with pytest.raises(InputError) as caught:
            train(type(model)(**model.settings))
        told.append(str(caught.value))
    return told


@pytest.mark.usefixtures("small_sample")
def test_what_cannot_be_trained_is_refused_with_the_same_words():
    rng = np.random.default_rng(3)
    systems, label = trials(rng)
    apart = 0.1 * systems[:1] + 3.0 * np.eye(4)[label]
    here, there = refusals(MulticlassCalibrator(), apart, label, rng)
    assert here == there
    assert "separated" in here
    here, there = refusals(MulticlassFusion(), np.concatenate((apart, systems[:1])), label, rng)
    assert here == there
    here, there = refusals(MulticlassCalibrator(), np.ones((1, *systems.shape[1:])), label, rng)
    assert here == there
    lacking = np.where(label == 3, 0, label)
    here, there = refusals(MulticlassFusion(), systems, lacking, rng)
    assert here == there
    assert "fox" in here


@pytest.mark.usefixtures("small_sample")
def test_scores_that_favour_others_get_scale_0():
    rng = np.random.default_rng(4)
    systems, label = trials(rng, n_systems=1)
    with pytest.warns(DecibanWarning, match="the best non-negative scale is 0"):
        there = MulticlassCalibrator().fit_source(partitions_of(-systems, label, rng), Threads(), MEMORY)
    assert there.scale_ == 0.0


def test_a_true_class_that_is_ruled_out_is_named_by_partition_and_number():
    rng = np.random.default_rng(5)
    systems, label = trials(rng, n=200)
    systems[0, 7, label[7]] = -np.inf
    words = (
        r"rule out the true class of 1 trials, the first is trial \d+ of piece \d, of class \d \('\w+'\): their cost"
    )
    with pytest.raises(InputError, match=words):
        MulticlassFusion().fit_source(partitions_of(systems, label, rng), Threads(), MEMORY)


TRANSFORMATIONS = [
    (ClassScaleTransformation, {}),
    (ClassScaleTransformation, {"ridge": 0.1}),
    (ClassScaleTransformation, {"toward_calibration": 0.3, "prior": [0.1, 0.2, 0.3, 0.4]}),
    (MatrixTransformation, {}),
    (MatrixTransformation, {"ridge": 0.1, "prior": [0.1, 0.2, 0.3, 0.4]}),
    (MatrixTransformation, {"toward_calibration": 0.3}),
]


@pytest.mark.usefixtures("small_sample")
@pytest.mark.parametrize(("kind", "asked"), TRANSFORMATIONS)
@pytest.mark.parametrize("weighted", [False, True])
def test_transformations_are_those_of_memory_in_few_passes(kind, asked, weighted):
    rng = np.random.default_rng(8)
    systems, label = trials(rng, n=3000, n_systems=1)
    weight = rng.integers(0, 3, len(label)) if weighted else None
    here = kind(**asked).fit(systems[0], label, sample_weight=weight, classes=NAMES)
    engine = Threads()
    there = kind(**asked).fit_source(source_of(systems[0], label, rng, weights=weight, classes=NAMES), engine, MEMORY)
    name = "matrix_" if kind is MatrixTransformation else "scale_"
    np.testing.assert_allclose(getattr(there, name), getattr(here, name), rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(there.offset_, here.offset_, rtol=1e-7, atol=1e-8)
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-12)
    assert there.training_.fingerprint == here.training_.fingerprint
    standardizing = 3 if asked else 0
    assert engine.n_passes <= 1 + standardizing + 4


@pytest.mark.usefixtures("small_sample")
@pytest.mark.parametrize("ridge", [0.0, 0.2])
def test_a_scale_per_class_takes_infinite_scores(ridge):
    rng = np.random.default_rng(9)
    systems, label = trials(rng, n_systems=1)
    rows = rng.choice(len(label), 60, replace=False)
    systems[0][rows, (label[rows] + 1) % 4] = -np.inf
    systems[0][rows[:20]] = -np.inf
    systems[0][rows[:20], label[rows[:20]]] = 0.0
    systems[0][rows[20:30], label[rows[20:30]]] = np.inf
    here = ClassScaleTransformation(ridge=ridge).fit(systems[0], label, classes=NAMES)
    there = ClassScaleTransformation(ridge=ridge).fit_source(partitions_of(systems, label, rng), Threads(2), MEMORY)
    np.testing.assert_allclose(there.scale_, here.scale_, rtol=1e-7)
    np.testing.assert_allclose(there.offset_, here.offset_, rtol=1e-7, atol=1e-8)
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-12)
    matrix = MatrixTransformation(ridge=1.0)
    with pytest.raises(
        InputError, match=r"have infinite log-likelihoods, the first is trial \d+ of piece \d\. A matrix"
    ):
        matrix.fit_source(partitions_of(systems, label, rng), Threads(2), MEMORY)


@pytest.mark.parametrize("kind", [ClassScaleTransformation, MatrixTransformation])
def test_transformations_of_separated_classes_are_refused_with_the_same_words(kind):
    rng = np.random.default_rng(10)
    label = np.arange(400) % 4
    apart = (5.0 * np.eye(4)[label] + rng.normal(size=(400, 4)) * 0.3)[None]
    here, there = refusals(kind(), apart, label, rng)
    assert here == there
    assert "separated" in here
    here, there = refusals(kind(), np.ones((1, 400, 4)), label, rng)
    assert here == there
    here, there = refusals(kind(prior=[0.5, 0.5, 0.0, 0.0]), apart, label, rng)
    assert here == there


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"covariance": "separate", "ridge": 0.1},
        {"covariance": "smoothed", "smoothing": 0.3},
        {"prior": [0.5, 0.3, 0.2, 0.0]},
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_back_ends_are_those_of_memory_for_any_partitions(asked, weighted):
    rng = np.random.default_rng(7)
    systems, label = trials(rng, n=900, n_systems=1)
    features = 1e4 + systems[0] @ rng.normal(size=(4, 4))
    weight = rng.integers(0, 3, 900) if weighted else None
    here = GaussianBackend(**asked).fit(features, label, sample_weight=weight, classes=NAMES)
    for n_partitions, engine in ((1, Threads()), (6, Apart()), (40, Threads(2))):
        source = source_of(features, label, rng, n_partitions=n_partitions, weights=weight, classes=NAMES)
        there = GaussianBackend(**asked).fit_source(source, engine, MEMORY)
        np.testing.assert_allclose(there.mean_, here.mean_, rtol=1e-15)
        np.testing.assert_allclose(there.covariance_, here.covariance_, rtol=1e-11)
        assert there.objective_ == pytest.approx(here.objective_, rel=1e-12)
        assert there.training_.results["status"] == here.training_.results["status"]
        assert (there.training_.fingerprint, there.classes_) == (here.training_.fingerprint, NAMES)


def test_back_ends_in_partitions_refuse_what_they_refuse_in_memory():
    rng = np.random.default_rng(8)
    systems, label = trials(rng, n=300, n_systems=1)
    prior = [0.5, 0.5, 0.0, 0.0]
    for features, classes in (
        (np.where(np.arange(4) == 2, 0.5, systems[0]), label),
        (np.column_stack((systems[0][:, :3], systems[0][:, :1])), label),
        (systems[0], label % 3),
    ):
        told = []
        for train in (
            lambda m, x=features, y=classes: m.fit(x, y, classes=NAMES),
            lambda m, x=features, y=classes: m.fit_source(source_of(x, y, rng, classes=NAMES), Threads(), MEMORY),
        ):
            with pytest.raises(InputError) as caught:
                train(GaussianBackend(prior=prior))
            told.append(str(caught.value))
        assert told[0] == told[1]
    systems[0][5, 1] = np.inf
    with pytest.raises(InputError, match=r"NaN or infinite, the first is trial \d+ of piece \d\. Gaussian models need"):
        GaussianBackend().fit_source(partitions_of(systems, label, rng), Threads(), MEMORY)


@pytest.mark.parametrize(
    ("model", "weighted"),
    [
        (MulticlassCalibrator(), False),
        (MulticlassCalibrator(), True),
        (MulticlassScaleCalibrator(ridge=0.2), True),
        (MulticlassShiftCalibrator(), False),
        (MulticlassCalibrator(prior=[0.5, 0.3, 0.2, 0.0]), True),
        (MulticlassFusion(), False),
        (MulticlassFusion(), True),
        (MulticlassFusion(ridge=0.1, offsets=False), True),
    ],
)
def test_standard_errors_by_units_are_those_of_memory(model, weighted):
    rng = np.random.default_rng(9)
    systems, label = trials(rng, n=2000, n_systems=2 if model.is_fusion else 1)
    systems[0][:5] = -np.inf  # certain trials count in their class alone
    systems[0][np.arange(5), label[:5]] = 0.0
    units, weight = rng.integers(0, 60, 2000), rng.integers(0, 3, 2000) if weighted else None
    given = np.moveaxis(systems, 0, 1) if model.is_fusion else systems[0]
    here = type(model)(**model.settings).fit(given, label, sample_weight=weight, classes=NAMES, units=units)
    known = {"units": units, "weights": weight, "classes": NAMES, "n_partitions": 9}
    known["systems"] = ("A", "B")[: len(systems)]
    source = source_of(systems if model.is_fusion else systems[0], label, rng, **known)
    own = BatchUnits(look_at_units(source, Threads())[0].units)
    there = type(model)(**model.settings).fit_source(source, Apart(), MEMORY, units=own)
    assert there.uncertainty_.words == here.uncertainty_.words
    scale = np.abs(here.parameter_covariance_).max()
    np.testing.assert_allclose(there.parameter_covariance_, here.parameter_covariance_, atol=1e-9 * scale)
    each = TrialUnits.each(len(label))
    here = type(model)(**model.settings).fit(given, label, sample_weight=weight, classes=NAMES, units=each)
    n = len(label) if weight is None else int(np.count_nonzero(weight))
    own = BatchUnits(UnlistedUnits((), each.keys[:0], each.noun, each.source, n))
    there = type(model)(**model.settings).fit_source(source, Threads(), MEMORY, units=own)
    assert there.uncertainty_.words == here.uncertainty_.words
    scale = np.abs(here.parameter_covariance_).max()
    np.testing.assert_allclose(there.parameter_covariance_, here.parameter_covariance_, atol=1e-8 * scale)


def width_of_differences(loglik, weight):
    """The root of the mean variance of the differences between two classes."""
    pairs = ((i, j) for i in range(loglik.shape[1]) for j in range(i))
    differences = [loglik[:, i] - loglik[:, j] for i, j in pairs]
    return np.sqrt(np.mean([weight @ (one - weight @ one) ** 2 for one in differences]))


@pytest.mark.parametrize("prior", [None, [0.1, 0.2, 0.3, 0.4]])
def test_standardized_weights_come_from_all_trials_at_every_size(prior):
    rng = np.random.default_rng(5)
    label = rng.integers(0, 4, 40_000)  # more than the sample in memory
    systems = rng.standard_t(3, (2, len(label), 4)) + 2 * np.eye(4)[label]
    here = MulticlassFusion(prior=prior).fit(np.moveaxis(systems, 0, 1), label, classes=NAMES)
    there = MulticlassFusion(prior=prior).fit_source(partitions_of(systems, label, rng), Threads(), MEMORY)
    share = np.full(4, 0.25) if prior is None else np.array(prior)
    widths = [width_of_differences(one, (share / np.bincount(label))[label]) for one in systems]
    for found in (here, there):
        np.testing.assert_allclose(found.standardized_weights_, found.weights_ * widths, rtol=1e-10)
