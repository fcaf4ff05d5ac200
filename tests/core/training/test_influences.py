"""Standard errors of calibrations and fusions: against refits with perturbed weights, closed forms, other programs."""

import numpy as np
import pytest
from scipy.special import expit

from deciban.calibration import AffineCalibrator, BetaCalibrator, GaussianCalibrator, ScaleCalibrator, ShiftCalibrator
from deciban.core.training.trust_region import steep
from deciban.errors import DecibanWarning, InputError
from deciban.fusion import LinearFusion
from support.resampled import all_by_all, refitted_covariance

MODELS = {
    "affine": lambda: AffineCalibrator(p_target=0.1),
    "affine, Brier": lambda: AffineCalibrator(p_target=0.1, alpha=2.0, beta=2.0),
    "affine, any rule": lambda: AffineCalibrator(p_target=0.3, alpha=1.5, beta=0.7),
    "affine, penalty": lambda: AffineCalibrator(p_target=0.1, ridge=0.3),
    "shift": lambda: ShiftCalibrator(p_target=0.1),
    "scale": lambda: ScaleCalibrator(p_target=0.1),
    "scale, penalty": lambda: ScaleCalibrator(p_target=0.1, ridge=0.2),
    "gaussian": lambda: GaussianCalibrator(p_target=0.2),
    "gaussian, separate": lambda: GaussianCalibrator(shared_variance=False),
    "beta": lambda: BetaCalibrator(scores="log_odds"),
    "fusion": lambda: LinearFusion(p_target=0.1),
    "fusion, penalty": lambda: LinearFusion(ridge=0.1),
}


def numbers_of(model):
    if isinstance(model, LinearFusion):
        return [*model.weights_, model.offset_]
    return [getattr(model, f"{name}_") for name in model.parameter_names]


def inputs_of(made, data):
    return np.column_stack((data.score, data.second)) if isinstance(made, LinearFusion) else data.score


@pytest.mark.filterwarnings("ignore:GaussianCalibrator. the map turns")
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.usefixtures("sandwich")
def test_the_covariance_is_that_of_refits_with_perturbed_weights(name, weighted):
    data, make = all_by_all(n_speakers=20, seed=1), MODELS[name]
    weight = data.weight if weighted else np.ones(len(data.score))
    x = inputs_of(make(), data)
    model = make().fit(x, data.is_target, sample_weight=weight, units=data.speakers)

    def refit(weights):
        return numbers_of(make().fit(x, data.is_target, sample_weight=weights))

    expected = refitted_covariance(refit, weight, data.speakers)
    np.testing.assert_allclose(model.parameter_covariance_, expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.usefixtures("sandwich")
def test_trials_that_infinite_scores_decide_count_in_their_class():
    data = all_by_all(n_speakers=15, seed=2)
    score = data.score.copy()
    score[np.flatnonzero(data.is_target)[:3]], score[np.flatnonzero(~data.is_target)[:20]] = np.inf, -np.inf
    model = AffineCalibrator(p_target=0.2).fit(score, data.is_target, units=data.speakers)

    def refit(weights):
        return numbers_of(AffineCalibrator(p_target=0.2).fit(score, data.is_target, sample_weight=weights))

    expected = refitted_covariance(refit, np.ones(len(score)), data.speakers)
    np.testing.assert_allclose(model.parameter_covariance_, expected, rtol=1e-5)


def test_trials_of_weight_0_make_no_units():
    data = all_by_all(n_speakers=12, seed=3)
    weight = np.where((data.speakers == 0).any(axis=1), 0, 1)
    left = weight > 0
    one = AffineCalibrator().fit(data.score, data.is_target, sample_weight=weight, units=data.speakers)
    other = AffineCalibrator().fit(data.score[left], data.is_target[left], units=data.speakers[left])
    assert one.uncertainty_.n_units == other.uncertainty_.n_units == 11
    np.testing.assert_allclose(one.parameter_covariance_, other.parameter_covariance_, rtol=1e-9)


@pytest.mark.usefixtures("sandwich")
def test_the_shift_has_a_closed_form():
    data = all_by_all(n_speakers=25, seed=4)
    p, model = 0.2, ShiftCalibrator(p_target=0.2).fit(data.score, data.is_target, units=data.speakers)
    x = data.score + model.offset_ + np.log(p / (1 - p))
    slope, bend = expit(x) - data.is_target, expit(x) * expit(-x)
    tar, non = data.is_target, ~data.is_target
    hessian = p * bend[tar].mean() + (1 - p) * bend[non].mean()
    moved = np.zeros(25)
    for k in range(25):
        of_unit = (data.speakers == k).any(axis=1)
        for rows, prior in ((tar, p), (non, 1 - p)):
            moved[k] -= prior * np.sum(slope[rows & of_unit] - slope[rows].mean()) / rows.sum() / hessian
    expected = np.sqrt(25 / 24 * np.sum(moved**2))
    assert model.standard_errors == pytest.approx({"scale": 0.0, "offset": expected}, rel=1e-9)


@pytest.mark.usefixtures("sandwich")
def test_copies_of_every_unit_divide_variances():
    data, copies = all_by_all(n_speakers=20, seed=5), 3
    once = AffineCalibrator().fit(data.score, data.is_target, units=data.speakers).parameter_covariance_
    speakers = np.concatenate([data.speakers + 20 * k for k in range(copies)])
    score, is_target = np.tile(data.score, copies), np.tile(data.is_target, copies)
    thrice = AffineCalibrator().fit(score, is_target, units=speakers).parameter_covariance_
    np.testing.assert_allclose(thrice * (59 / 60) * (20 / 19), once / copies, rtol=1e-6)


def test_the_order_of_trials_and_names_of_units_change_nothing():
    data = all_by_all(n_speakers=15, seed=6)
    order = np.random.default_rng(0).permutation(len(data.score))
    names = np.array([f"speaker {k}" for k in range(15)])
    one = LinearFusion().fit(inputs_of(LinearFusion(), data), data.is_target, units=data.speakers)
    x = inputs_of(LinearFusion(), data)[order]
    other = LinearFusion().fit(x, data.is_target[order], units=names[data.speakers[order]])
    np.testing.assert_allclose(other.parameter_covariance_, one.parameter_covariance_, rtol=1e-8)


def test_the_unit_of_scores_does_not_matter():
    data = all_by_all(n_speakers=15, seed=7)
    one = AffineCalibrator().fit(data.score, data.is_target, units=data.speakers)
    other = AffineCalibrator().fit(1e6 * data.score + 3e6, data.is_target, units=data.speakers)
    np.testing.assert_allclose(
        other.interval(1e6 * data.score[:9] + 3e6), one.interval(data.score[:9]), rtol=1e-5, atol=1e-6
    )


SCALE_AND_INTERCEPT = [1.0564204, -0.79544703]
CLUSTERED = [[0.13464103, -0.11684069], [-0.11684069, 0.16660941]]
"""Of GLM(y, [x, 1], Binomial()).fit(cov_type="cluster"), statsmodels 0.15.0, without its factor (N - 1) / (N - 2)."""


@pytest.mark.usefixtures("sandwich")
def test_against_the_cluster_robust_covariance_of_statsmodels():
    """Which is the same where all clusters have equally many trials of each class, so that shares do not matter."""
    rng = np.random.default_rng(11)
    clusters = np.repeat(np.arange(12), 5)
    is_target = np.tile([True, True, False, False, False], 12)
    score = np.round(np.where(is_target, 1.0, -0.5) + rng.normal(size=12)[clusters] + rng.normal(size=60), 3)
    model = AffineCalibrator(p_target=0.4).fit(score, is_target, units=clusters)
    assert [model.scale_, model.offset_ + np.log(0.4 / 0.6)] == pytest.approx(SCALE_AND_INTERCEPT, rel=1e-7)
    np.testing.assert_allclose(model.parameter_covariance_, CLUSTERED, rtol=1e-7)


def test_systems_that_say_the_same_share_their_uncertainty():
    data = all_by_all(n_speakers=15, seed=8)
    alone = AffineCalibrator().fit(data.score, data.is_target, units=data.speakers)
    twice = np.column_stack((data.score, data.score))
    both = LinearFusion().fit(twice, data.is_target, units=data.speakers)
    np.testing.assert_allclose(both.interval(twice[:9]), alone.interval(data.score[:9]), rtol=1e-6)


def test_a_constant_system_has_none():
    data = all_by_all(n_speakers=15, seed=9)
    x = np.column_stack((data.score, np.full(len(data.score), 2.0)))
    model = LinearFusion().fit(x, data.is_target, units=data.speakers)
    alone = AffineCalibrator().fit(data.score, data.is_target, units=data.speakers)
    assert model.errors_in_order[1] == 0.0
    np.testing.assert_allclose(model.interval(x[:9]), alone.interval(data.score[:9]), rtol=1e-6)


def test_a_saddle_has_none():
    with pytest.raises(InputError, match="a saddle"):
        steep(np.diag([1.0, -0.5]))
    with pytest.raises(InputError, match="exceed double precision"):
        steep(np.diag([1.0, np.inf]))


def test_one_unit_alone_is_told_and_the_model_is_trained_all_the_same():
    data = all_by_all(n_speakers=5, seed=10)
    with pytest.warns(DecibanWarning, match="no standard errors: units: all trials are of one unit"):
        model = AffineCalibrator().fit(data.score, data.is_target, units=np.zeros(len(data.score), int))
    assert model.scale_ > 0.0
    with pytest.raises(InputError, match="no intervals: units: all trials are of one unit"):
        model.interval([0.0])
