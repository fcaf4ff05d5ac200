"""Two-class models trained on trials in batches: what they are in memory, in few passes, with the same refusals."""

import copy
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban.calibration import (
    AffineCalibrator,
    BetaCalibrator,
    BoundCalibrator,
    Chain,
    ElubCalibrator,
    GaussianCalibrator,
    PavCalibrator,
    ScaleCalibrator,
    ShiftCalibrator,
)
from deciban.core.resampling.units import TrialUnits, UnlistedUnits, keys_of
from deciban.core.training import batches
from deciban.engines import Threads
from deciban.engines.units import look_at_units
from deciban.errors import DecibanWarning, InputError
from deciban.fusion import LinearFusion
from deciban.trials.sources import TrialSource
from deciban.trials.speakers import BatchUnits
from support.array_sources import Apart, ArrayPartition, source_of

MEMORY = 1 << 28
SAME = {"rtol": 1e-9, "atol": 1e-10}


@pytest.fixture
def small_sample(monkeypatch):
    """A sample that is far from all trials."""
    monkeypatch.setattr(batches, "DRAWN", 2000)


def systems(rng, n=20_000, n_systems=3, *, share=0.2):
    """Scores of systems with common errors, and truth."""
    truth = rng.random(n) < share
    common = rng.normal(size=n)
    scores = [common + (1.0 + 0.3 * k) * rng.normal(size=n) + np.where(truth, 1.5, -1.5) for k in range(n_systems)]
    return np.column_stack(scores), truth


def weighted(source, weight_of):
    """The same source with weights of trials, which their first scores decide."""
    partitions = [
        ArrayPartition(one.name, one.n_rows, one.scores, one.truth, None, weight_of(one.scores[0]))
        for one in source.partitions
    ]
    return TrialSource(source.name, tuple(partitions), source.systems, has_weights=True)


def names(n):
    return tuple(f"system {k}" for k in range(n))


RULES = [(1.0, 1.0), (0.5, 0.5), (2.0, 2.0), (2.0, 1.0), (1.5, 0.7), (0.3, 1.0)]


@pytest.mark.usefixtures("small_sample")
@pytest.mark.parametrize(("alpha", "beta"), RULES)
@pytest.mark.parametrize("p_target", [0.5, 0.02])
def test_fusion_finds_the_optimum_of_training_in_memory_in_few_passes(alpha, beta, p_target):
    rng = np.random.default_rng(1)
    scores, truth = systems(rng)
    engine, settings_ = Threads(), {"alpha": alpha, "beta": beta, "p_target": p_target}
    here = LinearFusion(**settings_).fit(scores, truth)
    there = LinearFusion(**settings_).fit_source(source_of(scores.T, truth, rng, systems=names(3)), engine, MEMORY)
    np.testing.assert_allclose(there.weights_, here.weights_, **SAME)
    np.testing.assert_allclose(there.offset_, here.offset_, **SAME)
    np.testing.assert_allclose(there.standardized_weights_, here.standardized_weights_, **SAME)
    np.testing.assert_allclose(there.objective_, here.objective_, rtol=1e-12)
    assert there.training_.fingerprint == here.training_.fingerprint
    assert there.training_.counts == here.training_.counts
    assert set(there.training_.results) == set(here.training_.results)
    assert engine.n_passes <= 1 + 6  # the sample is small


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (2.0, 1.0), (0.5, 0.5)])
def test_four_passes_after_the_sample_are_enough(alpha, beta):
    rng = np.random.default_rng(1)
    scores, truth = systems(rng, 700_000, share=0.4)
    engine = Threads()
    model = LinearFusion(alpha=alpha, beta=beta, p_target=0.02)
    model.fit_source(source_of(scores.T, truth, rng, systems=names(3)), engine, MEMORY)
    assert engine.n_passes <= 1 + 4
    assert model.training_.results["passes"] == engine.n_passes - 1
    assert model.training_.results["gradient_norm"] < 1e-6


@pytest.mark.usefixtures("small_sample")
def test_a_penalty_counts_the_same_standard_deviations():
    rng = np.random.default_rng(2)
    scores, truth = systems(rng)
    here = LinearFusion(ridge=0.3).fit(scores, truth)
    there = LinearFusion(ridge=0.3).fit_source(source_of(scores.T, truth, rng, systems=names(3)), Threads(), MEMORY)
    np.testing.assert_allclose(there.weights_, here.weights_, **SAME)
    np.testing.assert_allclose(there.standardized_weights_, here.standardized_weights_, **SAME)
    np.testing.assert_allclose(there.penalized_objective_, here.penalized_objective_, rtol=1e-12)


@pytest.mark.usefixtures("small_sample")
@pytest.mark.parametrize("model", [AffineCalibrator(), ShiftCalibrator(), ScaleCalibrator(), AffineCalibrator(alpha=2)])
def test_calibrations_are_those_of_training_in_memory(model):
    rng = np.random.default_rng(3)
    scores, truth = systems(rng, n_systems=1)
    here = type(model)(**model.settings).fit(scores[:, 0], truth)
    there = model.fit_source(source_of(scores[:, 0], truth, rng), Threads(2), MEMORY)
    np.testing.assert_allclose((there.scale_, there.offset_), (here.scale_, here.offset_), **SAME)
    assert there.training_.fingerprint == here.training_.fingerprint


@pytest.mark.usefixtures("small_sample")
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_beta_calibration_of_probabilities(sign):
    rng = np.random.default_rng(4)
    scores, truth = systems(rng, n_systems=1)
    probability = 1.0 / (1.0 + np.exp(-sign * np.abs(scores[:, 0]) ** 1.3 * np.sign(scores[:, 0])))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DecibanWarning)
        here = BetaCalibrator().fit(probability, truth)
        there = BetaCalibrator().fit_source(source_of(probability, truth, rng), Threads(), MEMORY)
    np.testing.assert_allclose((there.a_, there.b_, there.c_), (here.a_, here.b_, here.c_), **SAME)


@pytest.mark.parametrize("smoothing", [0.0, 1.0])
def test_pav_has_the_same_blocks_to_the_bit(smoothing):
    rng = np.random.default_rng(5)
    scores, truth = systems(rng, n_systems=1)
    rounded = scores[:, 0].round(1)
    here = PavCalibrator(smoothing=smoothing).fit(rounded, truth)
    there = PavCalibrator(smoothing=smoothing).fit_source(source_of(rounded, truth, rng), Threads(), MEMORY)
    for name in ("low_", "high_", "llr_"):
        np.testing.assert_array_equal(getattr(there, name), getattr(here, name))
    assert there.training_ == here.training_


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32), n_partitions=st.integers(1, 9), infinite=st.booleans(), has_weights=st.booleans())
def test_any_partitions_with_ties_infinities_and_weights(seed, n_partitions, infinite, has_weights):
    rng = np.random.default_rng(seed)
    scores, truth = systems(rng, n=600, n_systems=2)
    scores = scores.round(1)
    if infinite:
        scores[rng.random(600) < 0.05, 0] = np.inf
        scores[np.isinf(scores[:, 0]) & ~truth, 0] = -np.inf
    source = source_of(scores.T, truth, rng, n_partitions=n_partitions, systems=names(2))
    weight = None
    if has_weights:
        source = weighted(source, _weight_of)
        weight = _weight_of(scores[:, 0])
    here = LinearFusion(p_target=0.1).fit(scores, truth, sample_weight=weight)
    there = LinearFusion(p_target=0.1).fit_source(source, Threads(2), MEMORY)
    np.testing.assert_allclose(there.weights_, here.weights_, **SAME)
    np.testing.assert_allclose(there.offset_, here.offset_, **SAME)
    assert there.training_.fingerprint == here.training_.fingerprint


def _weight_of(scores):
    return np.where(np.isinf(scores), 1.0, np.floor(np.abs(np.nan_to_num(scores, posinf=1.0, neginf=1.0))))


@pytest.mark.usefixtures("small_sample")
def test_the_order_of_partitions_and_the_number_of_threads_change_nothing_that_counts():
    rng = np.random.default_rng(6)
    scores, truth = systems(rng)
    source = source_of(scores.T, truth, rng, n_partitions=12, systems=names(3))
    back = TrialSource(source.name, source.partitions[::-1], source.systems)
    one, other = (LinearFusion().fit_source(s, Threads(n), MEMORY) for s, n in ((source, 1), (back, 3)))
    np.testing.assert_allclose(one.weights_, other.weights_, rtol=1e-13)
    assert one.training_.results["objective"] == pytest.approx(other.training_.results["objective"], rel=1e-15)


@pytest.mark.usefixtures("small_sample")
def test_passes_can_be_sent_to_other_processes():
    rng = np.random.default_rng(15)
    scores, truth = systems(rng, n_systems=2)
    probability = 1.0 / (1.0 + np.exp(-scores[:, 0]))
    for model, table in (
        (LinearFusion(ridge=0.1), scores),
        (LinearFusion(alpha=2.0), scores),
        (ShiftCalibrator(), scores[:, 0]),
        (BetaCalibrator(), probability),
        (PavCalibrator(), probability.round(2)),
    ):
        known = {"systems": names(2)} if table.ndim > 1 else {}
        source = source_of(table.T, truth, rng, **known)
        one, other = (type(model)(**model.settings).fit_source(source, e, MEMORY) for e in (Threads(), Apart()))
        for name in model.parameter_schema:
            np.testing.assert_allclose(getattr(other, f"{name}_"), getattr(one, f"{name}_"), rtol=1e-9, atol=1e-12)
        assert other.training_.fingerprint == one.training_.fingerprint


def refusals(model, scores, truth, rng, **known):
    """What training in memory says, and training in batches."""
    told = []
    table = scores if model.is_fusion else scores[:, 0]
    source = source_of(scores.T if model.is_fusion else scores[:, 0], truth, rng, **known)
    for train in (lambda m: m.fit(table, truth), lambda m: m.fit_source(source, Threads(), MEMORY)):
        with pytest.raises(InputError) as caught:
            train(type(model)(**model.settings))
        told.append(str(caught.value))
    return told


@pytest.mark.usefixtures("small_sample")
@pytest.mark.parametrize("rule", [(1.0, 1.0), (2.0, 2.0)])
def test_separated_classes_are_refused_with_the_same_words(rule):
    rng = np.random.default_rng(7)
    scores, truth = systems(rng, n_systems=2)
    scores[:, 1] = np.where(truth, 3.0, -3.0) - 0.5 * scores[:, 0] + 0.1 * rng.normal(size=len(truth))
    model = LinearFusion(alpha=rule[0], beta=rule[1])
    here, there = refusals(model, scores, truth, rng, systems=names(2))
    assert here == there
    assert "separated" in here
    here, there = refusals(AffineCalibrator(), np.where(truth, 1.0, -1.0)[:, None] + 0.1 * scores, truth, rng)
    assert here == there


@pytest.mark.usefixtures("small_sample")
def test_one_trial_in_the_wrong_place_makes_an_optimum_that_the_sample_did_not_know():
    rng = np.random.default_rng(8)
    truth = np.arange(20_000) < 10_000
    scores = np.where(truth, 1.0, -1.0) + rng.uniform(-0.5, 0.5, len(truth))
    scores[5] = -0.8
    here = AffineCalibrator().fit(scores, truth)
    there = AffineCalibrator().fit_source(source_of(scores, truth, rng), Threads(), MEMORY)
    np.testing.assert_allclose((there.scale_, there.offset_), (here.scale_, here.offset_), rtol=1e-8)


@pytest.mark.usefixtures("small_sample")
def test_constant_and_duplicate_systems():
    rng = np.random.default_rng(9)
    scores, truth = systems(rng)
    table = np.column_stack((scores[:, 0], scores[:, 0], np.full(len(truth), 0.25), scores[:, 1]))
    here = LinearFusion().fit(table, truth)
    there = LinearFusion().fit_source(source_of(table.T, truth, rng, systems=names(4)), Threads(), MEMORY)
    np.testing.assert_allclose(there.weights_, here.weights_, rtol=1e-7, atol=1e-9)
    assert there.weights_[2] == 0.0
    assert "systems are redundant" in there.training_.results["status"]
    here, there = refusals(AffineCalibrator(), np.full((len(truth), 1), 0.25), truth, rng)
    assert here == there


def test_data_of_one_class_are_refused():
    rng = np.random.default_rng(10)
    for truth, kind in ((np.zeros(50, bool), "target"), (np.ones(50, bool), "non-target")):
        here, there = refusals(AffineCalibrator(), rng.normal(size=(50, 1)), truth, rng)
        assert here == there
        assert f"none of the 50 trials is a {kind}" in here


def test_infinite_scores_of_the_wrong_class_are_named_by_partition_and_number():
    rng = np.random.default_rng(11)
    scores, truth = systems(rng, n=300, n_systems=1)
    scores[np.flatnonzero(truth)[3], 0] = -np.inf
    source = source_of(scores[:, 0], truth, rng)
    with pytest.raises(InputError, match=r"1 target trials score -inf, the first is trial \d+ of piece \d: their cost"):
        AffineCalibrator().fit_source(source, Threads(), MEMORY)
    # A rule that does not punish them without limit counts what they cost.
    here = AffineCalibrator(alpha=2.0).fit(scores[:, 0], truth)
    there = AffineCalibrator(alpha=2.0).fit_source(source, Threads(), MEMORY)
    np.testing.assert_allclose((there.scale_, there.objective_), (here.scale_, here.objective_), **SAME)


def test_infinite_scores_against_the_sign_of_a_weight_are_refused():
    rng = np.random.default_rng(12)
    scores, truth = systems(rng, n=500, n_systems=2)
    scores[:, 1] = 0.9 * scores[:, 0] - np.where(truth, 2.0, -2.0) + 0.5 * rng.normal(size=500)
    scores[np.flatnonzero(truth)[0], 1] = np.inf
    here, there = refusals(LinearFusion(), scores, truth, rng, systems=names(2))
    assert here == there


def test_a_calibration_takes_one_system_of_two_classes():
    rng = np.random.default_rng(14)
    scores, truth = systems(rng, n=100, n_systems=2)
    with pytest.raises(InputError, match="takes one system, but arrays has system 0, system 1"):
        AffineCalibrator().fit_source(source_of(scores.T, truth, rng, systems=names(2)), Threads(), MEMORY)
    many = source_of(scores, truth.astype(int), rng, classes=("a", "b"))
    with pytest.raises(InputError, match="multiclass scores, but the model is for two classes"):
        AffineCalibrator().fit_source(many, Threads(), MEMORY)


@given(
    seed=st.integers(0, 2**32),
    shared=st.booleans(),
    weights=st.sampled_from([None, "whole", "any"]),
    shift=st.sampled_from([0.0, -1e7, 1e300]),
)
@settings(max_examples=12, deadline=None)
def test_gaussians_are_those_of_memory_for_any_partitions(seed, shared, weights, shift):
    rng = np.random.default_rng(seed)
    truth = np.arange(400) % 4 == 0
    scores = np.where(truth, 1.5, -1.0) + rng.normal(size=400) * np.where(truth, 1.0, 2.0)
    scores = (scores * (1e299 if shift > 1e200 else 1.0)).round(2) + shift
    scores[0] = shift + 1e3 * (scores[1] - shift)  # an outlier
    weight = {None: None, "whole": rng.integers(0, 4, 400), "any": rng.uniform(0.1, 2.0, 400)}[weights]
    model = GaussianCalibrator(shared_variance=shared, p_target=0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DecibanWarning)
        here = type(model)(**model.settings).fit(scores, truth, sample_weight=weight)
        sources = [source_of(scores, truth, rng, n_partitions=n, weights=weight) for n in (1, 7, 30)]
        there = [type(model)(**model.settings).fit_source(one, Threads(2), MEMORY) for one in sources]
    for one in there:
        assert one.training_.fingerprint == here.training_.fingerprint
        assert one.training_.results["status"] == here.training_.results["status"]
        for name in model.parameter_schema:
            own = getattr(one, f"{name}_"), getattr(here, f"{name}_")
            np.testing.assert_allclose(*own, rtol=1e-15, atol=1e-15 * (scores.max() / 2 - scores.min() / 2))
        np.testing.assert_allclose(one.training_.results["objective"], here.training_.results["objective"], rtol=1e-14)


def test_gaussians_in_partitions_refuse_what_they_refuse_in_memory():
    rng = np.random.default_rng(16)
    truth = np.arange(60) % 2 == 0
    for model, scores in (
        (GaussianCalibrator(), np.where(truth, 1.0, 0.0)),
        (GaussianCalibrator(shared_variance=False), np.where(truth, 1.0, rng.normal(size=60))),
    ):
        here, there = refusals(model, scores[:, None], truth, rng)
        assert here == there
        assert "variance" in here
    scores = rng.normal(size=60)
    scores[7] = np.inf
    with pytest.raises(InputError, match=r"1 of \d+ are infinite, the first is trial \d+ of piece \d\. Gaussian"):
        GaussianCalibrator().fit_source(source_of(scores, truth, rng), Threads(), MEMORY)


@pytest.mark.parametrize(
    "steps",
    [
        (AffineCalibrator(p_target=0.1), BoundCalibrator(low=-1.0, high=2.0)),
        (GaussianCalibrator(), ScaleCalibrator()),
        (PavCalibrator(smoothing=1.0), AffineCalibrator(), BoundCalibrator(high=0.5)),
    ],
)
def test_chains_train_each_step_on_what_the_one_before_makes(steps):
    rng = np.random.default_rng(17)
    scores, truth = systems(rng, n=3000, n_systems=1)
    copies = [[type(one)(**one.settings) for one in steps] for _ in range(2)]
    here = Chain(*copies[0]).fit(scores[:, 0], truth)
    there = Chain(*copies[1]).fit_source(source_of(scores[:, 0], truth, rng), Apart(), MEMORY)
    for one, other in zip(there.steps, here.steps, strict=True):
        for name in one.parameter_schema:
            np.testing.assert_allclose(getattr(one, f"{name}_"), getattr(other, f"{name}_"), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(there.transform(scores[:50, 0]), here.transform(scores[:50, 0]), rtol=1e-8, atol=1e-10)
    assert there.training_.fingerprint == here.training_.fingerprint
    assert there.training_.counts == here.training_.counts
    one, other = (m.training_.results for m in (there, here))
    assert one["objective"] == pytest.approx(other["objective"], rel=1e-12)


MODELS_WITH_ERRORS = {
    "affine": AffineCalibrator(p_target=0.1),
    "affine, penalty": AffineCalibrator(alpha=2.0, ridge=0.3),
    "shift": ShiftCalibrator(),
    "scale, penalty": ScaleCalibrator(ridge=0.1),
    "beta": BetaCalibrator(scores="log_odds"),
    "gaussian": GaussianCalibrator(p_target=0.3),
    "gaussian, separate": GaussianCalibrator(shared_variance=False),
    "fusion": LinearFusion(p_target=0.1),
    "fusion, penalty": LinearFusion(ridge=0.2),
}


@pytest.mark.filterwarnings("ignore:GaussianCalibrator. the map turns")
@pytest.mark.usefixtures("small_sample")
@pytest.mark.parametrize(
    ("name", "weighted"),
    [
        *((name, at % 2 == 0) for at, name in enumerate(MODELS_WITH_ERRORS)),
        *((name, at % 2 == 1) for at, name in enumerate(MODELS_WITH_ERRORS) if name in ("affine", "fusion")),
    ],
)
def test_standard_errors_by_units_are_those_of_memory(name, weighted):
    rng, model = np.random.default_rng(18), MODELS_WITH_ERRORS[name]
    scores, truth = systems(rng, n=2500, n_systems=2)
    given = scores if model.is_fusion else scores[:, 0]
    if not name.startswith("gaussian"):  # certain trials count in their class alone
        scores[np.flatnonzero(truth)[:5], 0], scores[np.flatnonzero(~truth)[:5], 0] = np.inf, -np.inf
    units = rng.integers(0, 80, (2500, 2))
    weight = rng.integers(0, 3, 2500) if weighted else None
    if weighted:
        units[weight == 0] = 99  # a unit of trials that do not count
    here = type(model)(**model.settings).fit(given, truth, sample_weight=weight, units=units)
    known = {"systems": names(2)} if model.is_fusion else {}
    found = []
    for n_partitions, engine in ((4, Apart()), (15, Threads(2))):
        source = source_of(given.T, truth, rng, n_partitions=n_partitions, units=units, weights=weight, **known)
        one = look_at_units(source, engine)[0].units
        own = type(model)(**model.settings).fit_source(source, engine, MEMORY, units=BatchUnits(one))
        assert own.uncertainty_.words == here.uncertainty_.words
        np.testing.assert_allclose(own.errors_in_order, here.errors_in_order, rtol=1e-9)
        scale = np.abs(here.parameter_covariance_).max()
        np.testing.assert_allclose(own.parameter_covariance_, here.parameter_covariance_, atol=1e-9 * scale)
        found.append(own.parameter_covariance_)
    np.testing.assert_allclose(*found, atol=1e-12 * scale)


@pytest.mark.filterwarnings("ignore:GaussianCalibrator. the map turns")
@pytest.mark.usefixtures("small_sample")
@pytest.mark.parametrize("name", MODELS_WITH_ERRORS)
def test_trials_that_are_units_by_themselves_are_not_listed(name):
    rng, model = np.random.default_rng(21), MODELS_WITH_ERRORS[name]
    scores, truth = systems(rng, n=3000, n_systems=2)
    given = scores if model.is_fusion else scores[:, 0]
    weight = rng.integers(0, 3, 3000)
    each = TrialUnits.each(3000)
    here = type(model)(**model.settings).fit(given, truth, sample_weight=weight, units=each)
    known = {"systems": names(2)} if model.is_fusion else {}
    source = source_of(given.T, truth, rng, weights=weight, **known)
    unlisted = UnlistedUnits((), each.keys[:0], each.noun, each.source, int(np.count_nonzero(weight)))
    own = type(model)(**model.settings).fit_source(source, Apart(), MEMORY, units=BatchUnits(unlisted))
    assert own.uncertainty_.words == here.uncertainty_.words
    np.testing.assert_allclose(own.errors_in_order, here.errors_in_order, rtol=1e-8)


@pytest.mark.parametrize(
    "model", [PavCalibrator(smoothing=1.0), ElubCalibrator(), Chain(AffineCalibrator(), BoundCalibrator(high=1.0))]
)
@pytest.mark.parametrize("by", ["sides", "trials"])
def test_maps_without_a_formula_are_trained_without_groups_of_units_as_in_memory(model, by):
    rng = np.random.default_rng(19)
    scores, truth = systems(rng, n=600, n_systems=1)
    weight = rng.integers(0, 3, 600)
    if by == "sides":
        given = TrialUnits.of(rng.integers(0, 9, (600, 2)))
    else:
        given = replace(TrialUnits.each(600), keys=keys_of([f"t{k}" for k in range(600)]))
    here = copy.deepcopy(model).fit(scores[:, 0], truth, sample_weight=weight, units=given)
    source = source_of(scores[:, 0], truth, rng, weights=weight)
    row = {float(score): k for k, score in enumerate(scores[:, 0])}
    rows = [np.array([row[float(score)] for score in one.scores[0]], np.int64) for one in source.partitions]
    partitions = [replace(one, units=given.take(own)) for one, own in zip(source.partitions, rows, strict=True)]
    counting = given.take(np.flatnonzero(weight)).only_used()
    own = BatchUnits(replace(counting, codes=(), keys=np.sort(counting.keys)))
    if by == "trials":
        unlisted = UnlistedUnits((), counting.keys[:0], counting.noun, counting.source, counting.n_units)
        own = BatchUnits(unlisted, dealt=np.sort(counting.keys))
    source = replace(source, partitions=tuple(partitions), has_units=True)
    there = copy.deepcopy(model).fit_source(source, Threads(2), MEMORY, units=own)
    assert there.uncertainty_.words == here.uncertainty_.words
    assert "jackknife" in there.uncertainty_.words
    some = scores[:40, 0]
    for one, other in zip(there.interval(some), here.interval(some), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-9)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("scale", [1e307, 4.4e307])
def test_scores_near_the_largest_float_overflow_without_warnings(scale):
    rng = np.random.default_rng(20)
    scores, truth = systems(rng, n=2000, n_systems=1)
    scores = np.clip(scores, -3.8, 3.8) * scale
    scores[0] = 1.7e308
    for model in (AffineCalibrator(alpha=2.0, ridge=0.1), GaussianCalibrator(), PavCalibrator()):
        here = type(model)(**model.settings).fit(scores[:, 0], truth)
        there = type(model)(**model.settings).fit_source(source_of(scores[:, 0], truth, rng), Threads(), MEMORY)
        for name in model.parameter_schema:
            np.testing.assert_allclose(getattr(there, f"{name}_"), getattr(here, f"{name}_"), rtol=1e-7)


def width_of_two(column, is_target, prior):
    """The standard deviation in the mixture of both classes."""
    share = np.where(is_target, prior / is_target.sum(), (1 - prior) / (~is_target).sum())
    return np.sqrt(share @ (column - share @ column) ** 2)


@pytest.mark.parametrize("size", [1.0, 1e-150, 1e200])
def test_standardized_weights_come_from_all_trials_at_every_size(size):
    rng = np.random.default_rng(5)
    n = 40_000  # more than the sample in memory
    truth = rng.random(n) < 0.3
    scores = np.column_stack([truth + rng.standard_t(3, n), 2 * truth + rng.standard_t(4, n), np.full(n, 0.5)]) * size
    here = LinearFusion(p_target=0.1).fit(scores, truth)
    source = source_of(scores.T, truth, rng, systems=names(3))
    there = LinearFusion(p_target=0.1).fit_source(source, Threads(), MEMORY)
    expected = [*(width_of_two(column, truth, 0.1) for column in scores.T[:2] / size), 0.0]
    for found in (here, there):
        np.testing.assert_allclose(found.standardized_weights_, found.weights_ * size * expected, rtol=1e-10)
