import json
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, logit

from deciban import load_model, metrics
from deciban.calibration import AffineCalibrator, BetaCalibrator
from deciban.errors import DecibanWarning, FormatError, InputError
from support.labelled import fitted, labelled

INF = math.inf


def drawn(seed, n_tar=60, n_non=90):
    rng = np.random.default_rng(seed)
    return labelled(rng.beta(4, 2, n_tar), rng.beta(1.5, 3, n_non))


def cost(parameters, p, is_target, log_odds, weight):
    """Prior-weighted cross-entropy of the map, written down again."""
    a, b, c = parameters
    llr = a * np.log(p) - b * np.log1p(-p) + c
    tar = np.average(np.logaddexp(0, -llr - log_odds)[is_target], weights=weight[is_target])
    non = np.average(np.logaddexp(0, llr + log_odds)[~is_target], weights=weight[~is_target])
    return expit(log_odds) * tar + expit(-log_odds) * non


def constrained_optimum(p, is_target, log_odds=0.0, weight=None):
    weight = np.ones(len(p)) if weight is None else weight
    options = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10_000}
    arguments = (p, is_target, log_odds, weight)
    bounds = [(0, None), (0, None), (None, None)]
    return min(
        (
            minimize(cost, start, arguments, "L-BFGS-B", bounds=bounds, options=options)
            for start in ([1, 1, 0], [0, 0, 0])
        ),
        key=lambda found: found.fun,
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("p_target", [0.5, 0.02])
def test_optimum(seed, p_target):
    p, is_target = drawn(seed)
    weight = np.random.default_rng(seed).uniform(0.5, 2.0, len(p))
    calibrator = BetaCalibrator(p_target=p_target).fit(p, is_target, sample_weight=weight)
    expected = constrained_optimum(p, is_target, logit(p_target), weight)
    assert calibrator.objective_ == pytest.approx(expected.fun, rel=1e-9)
    np.testing.assert_allclose([calibrator.a_, calibrator.b_, calibrator.c_], expected.x, rtol=0, atol=2e-3)
    got = cost((calibrator.a_, calibrator.b_, calibrator.c_), p, is_target, logit(p_target), weight)
    assert got <= expected.fun * (1 + 1e-12)


@given(
    st.lists(st.integers(1, 39), min_size=3, max_size=10, unique=True),
    st.lists(st.integers(1, 39), min_size=3, max_size=10, unique=True),
)
def test_optimum_with_parameters_that_are_not_negative(tar, non):
    assume(min(tar) < max(non))  # otherwise they are separated
    p, is_target = labelled(tar, non)
    p /= 40
    calibrator = fitted(BetaCalibrator(), p[is_target], p[~is_target])
    assert min(calibrator.a_, calibrator.b_) >= 0.0
    assert calibrator.objective_ <= constrained_optimum(p, is_target).fun + 1e-9
    llr = calibrator.transform(p)
    assert metrics.cross_entropy(llr[is_target], llr[~is_target], p_target=0.5) == pytest.approx(calibrator.objective_)


def test_a_negative_parameter_becomes_0_and_the_others_are_trained_again():
    # All that is above 0.5 is the same mixture: only ln p helps.
    p, is_target = labelled([0.1, 0.5, 0.7, 0.9, 0.5, 0.6], [0.01, 0.02, 0.05, 0.1, 0.92, 0.04])
    calibrator = BetaCalibrator().fit(p, is_target)
    assert calibrator.b_ == 0.0
    assert "b is 0" in calibrator.training_.results["status"]
    affine = AffineCalibrator().fit(np.log(p), is_target)
    assert (calibrator.a_, calibrator.c_) == pytest.approx((affine.scale_, affine.offset_), rel=1e-6)
    mirrored = BetaCalibrator().fit(1 - p, ~is_target)
    assert mirrored.a_ == 0.0
    assert (mirrored.b_, mirrored.c_) == pytest.approx((calibrator.a_, -calibrator.c_), rel=1e-6)


def test_exchanged_labels_give_llr_0_and_a_warning():
    p, is_target = drawn(3)
    with pytest.warns(DecibanWarning, match="favour non-targets"):
        calibrator = BetaCalibrator(p_target=0.2).fit(p, ~is_target)
    np.testing.assert_array_equal(calibrator.transform([0.0, 0.3, 1.0]), [0.0, 0.0, 0.0])
    entropy = -(0.2 * math.log(0.2) + 0.8 * math.log(0.8))
    assert calibrator.training_.results["objective"] == pytest.approx(entropy, rel=1e-14)


def test_output_is_an_llr_whatever_the_prior_of_the_objective():
    """Where the model is right, the prior of the objective does not matter: Beta(3, 1) against Beta(1, 3)."""
    rng = np.random.default_rng(9)
    p, is_target = labelled(rng.beta(3, 1, 200_000), rng.beta(1, 3, 200_000))
    queries = np.array([0.1, 0.3, 0.5, 0.8])
    for p_target in (0.5, 0.1):
        llr = BetaCalibrator(p_target=p_target).fit(p, is_target).transform(queries)
        np.testing.assert_allclose(llr, 2 * logit(queries), atol=0.06)


def test_log_odds_are_probabilities_without_loss():
    p, is_target = drawn(5)
    one = BetaCalibrator().fit(p, is_target)
    other = BetaCalibrator(scores="log_odds").fit(logit(p), is_target)
    assert (other.a_, other.b_, other.c_) == pytest.approx((one.a_, one.b_, one.c_), rel=1e-7)
    np.testing.assert_allclose(
        other.transform([-700.0, 0.0, 50.0]),
        [-700 * other.a_ + other.c_, *other.transform([0.0]), 50 * other.b_ + other.c_],
        rtol=1e-12,
    )
    assert other.transform([-INF, INF]).tolist() == [-INF, INF]


def test_certainty_is_infinite_evidence():
    p, is_target = drawn(6)
    certain, truth = np.append(p, [1.0, 0.0]), np.append(is_target, [True, False])
    calibrator = BetaCalibrator().fit(certain, truth)
    assert calibrator.transform([0.0, 1.0]).tolist() == [-INF, INF]
    calibrator.set_parameters({"a": 0.0, "b": 2.0, "c": 0.5})
    assert calibrator.transform([0.0, 1.0]).tolist() == [0.5, INF]


@given(st.lists(st.one_of(st.floats(0, 1), st.sampled_from([5e-324, 1 - 2**-53, 0.0, 1.0])), min_size=2))
def test_monotone(queries):
    p, is_target = drawn(7)
    llr = BetaCalibrator().fit(p, is_target).transform(sorted(queries))
    assert not np.isnan(llr).any()
    assert (llr[1:] >= llr[:-1] - 1e-12).all()


@pytest.mark.parametrize(
    ("tar", "non", "words"),
    [
        ([0.5, 1.5], [0.2, -0.1], "2 of 4 are not probabilities, the first at index 1: 1.5"),
        ([0.5, 0.0], [0.2, 0.6], "1 target trials have probability 0, the first at index 1"),
        ([0.5, 0.6], [0.2, 1.0], "1 non-target trials have probability 1, the first at index 3"),
        ([0.8, 0.9], [0.1, 0.2], "separated"),
        ([0.5, 0.5], [0.5, 0.5], "Constant scores"),
    ],
)
def test_what_cannot_be_trained(tar, non, words):
    with pytest.raises(InputError, match=words):
        BetaCalibrator().fit(*labelled(tar, non))


def test_trials_of_weight_0_are_not_there():
    p, is_target = drawn(4)
    more, truth = np.append(p, [0.0, 1.0, 0.01]), np.append(is_target, [True, False, True])
    weight = np.append(np.ones(len(p)), [0.0, 0.0, 0.0])
    one, other = BetaCalibrator().fit(p, is_target), BetaCalibrator().fit(more, truth, sample_weight=weight)
    assert (other.a_, other.b_, other.c_) == pytest.approx((one.a_, one.b_, one.c_), rel=1e-9)


def test_new_scores_that_are_no_probabilities():
    calibrator = BetaCalibrator().fit(*drawn(8))
    with pytest.raises(
        InputError, match=r"first at index 0: -1e-300\. Beta calibration takes probabilities in \[0, 1\]"
    ):
        calibrator.transform([-1e-300])


def test_a_penalty_makes_separated_classes_finite():
    calibrator = BetaCalibrator(ridge=0.01).fit(*labelled([0.8, 0.9], [0.1, 0.2]))
    assert np.isfinite([calibrator.a_, calibrator.b_, calibrator.c_]).all()
    assert (calibrator.transform([0.8, 0.1]) * [1, -1] > 0).all()


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"scores": "logit"}, "log_odds"), ({"p_target": 0.0}, "p_target"), ({"ridge": -1}, "ridge")],
)
def test_settings_out_of_range(settings, words):
    with pytest.raises(InputError, match=words):
        BetaCalibrator(**settings)


def test_files(tmp_path):
    path = tmp_path / "model.json"
    p, is_target = drawn(2)
    calibrator = BetaCalibrator(scores="log_odds", ridge=0.1, p_target=0.2).fit(logit(p), is_target)
    calibrator.save(path)
    loaded = load_model(path)
    assert repr(loaded) == repr(calibrator)
    np.testing.assert_array_equal(loaded.transform([-3.0, 1.0, INF]), calibrator.transform([-3.0, 1.0, INF]))
    content = json.loads(path.read_text())
    for name, value in (("a", -1.0), ("b", "inf"), ("c", None)):
        path.write_text(json.dumps({**content, "parameters": {**content["parameters"], name: value}}))
        with pytest.raises(FormatError, match=name):
            load_model(path)
