"""Refusals against linear programs, which know whether some direction makes all trials better or leaves them alone."""

import numpy as np
import pytest
from scipy.optimize import linprog

from deciban import metrics, multiclass
from deciban.errors import InputError
from deciban.fusion import LinearFusion, MulticlassFusion

PRIORS = [0.5, 0.98, 0.999, 1e-6, 1e-8]


def few_trials(seed):
    """Trials with so many ties that every third set is separated but for some at the border."""
    rng = np.random.default_rng(seed)
    n_classes = int(rng.integers(2, 4))
    loglik = rng.integers(-2, 3, size=(rng.integers(4, 12), rng.integers(1, 3), n_classes)).astype(float)
    return loglik, np.append(np.arange(n_classes), rng.integers(0, n_classes, len(loglik) - n_classes))


def falls(loglik, label):
    """Whether some weights and offsets put the true class farther ahead in some trial, and back in none."""
    _, n_systems, n_classes = loglik.shape
    rows = []
    for one, true in zip(loglik, label, strict=True):
        for rival in set(range(n_classes)) - {true}:
            offsets = np.eye(n_classes)[true] - np.eye(n_classes)[rival]
            rows.append(np.append(one[:, true] - one[:, rival], offsets))
    leads = np.array(rows)
    bounds = [(-1.0, 1.0)] * (n_systems + n_classes)
    return -linprog(-leads.sum(axis=0), A_ub=-leads, b_ub=np.zeros(len(leads)), bounds=bounds).fun > 1e-7


@pytest.mark.parametrize("p", PRIORS)
@pytest.mark.parametrize("seed", range(0, 60, 15))
def test_many_classes_are_refused_where_the_objective_falls_forever_and_nowhere_else(seed, p):
    for each in range(seed, seed + 15):
        loglik, label = few_trials(each)
        n_classes = loglik.shape[2]
        prior = np.append(p, np.full(n_classes - 1, (1.0 - p) / (n_classes - 1)))
        fusion = MulticlassFusion(prior=prior)
        if falls(loglik, label):
            with pytest.raises(InputError, match="falls forever|separated"):
                fusion.fit(loglik, label)
            continue
        fused = fusion.fit(loglik, label).transform(loglik)
        assert multiclass.cross_entropy(fused, label, prior=prior) == pytest.approx(fusion.objective_, rel=1e-9)


@pytest.mark.parametrize("p", PRIORS)
@pytest.mark.parametrize("seed", range(0, 60, 15))
def test_two_classes_are_refused_where_the_objective_falls_forever_and_nowhere_else(seed, p):
    for each in range(seed, seed + 15):
        loglik, label = few_trials(each)
        scores, is_target = loglik[:, :, 1] - loglik[:, :, 0], label == 1
        fusion = LinearFusion(p_target=p)
        if falls(np.stack((np.zeros_like(scores), scores), axis=2), is_target.astype(int)):
            with pytest.raises(InputError, match="falls forever|separated"):
                fusion.fit(scores, is_target)
            continue
        llr = fusion.fit(scores, is_target).transform(scores)
        cost = metrics.scoring_rule_cost(llr[is_target], llr[~is_target], alpha=1.0, beta=1.0, p_target=p)
        assert cost == pytest.approx(fusion.objective_, rel=1e-9)


@pytest.mark.parametrize("p", [1e-3, 1e-8, 1e-12, 1.0 - 1e-8])
def test_trials_beyond_a_thousand_ties_are_separated_at_any_prior(p):
    """At a prior of 1e-8 the two trials beyond cost nothing any more long before their scale is infinite."""
    scores = np.concatenate((np.zeros(1000), [1.0], np.zeros(1000), [-1.0]))
    is_target = np.arange(2002) < 1001
    with pytest.raises(InputError, match="separated"):
        LinearFusion(p_target=p).fit(scores[:, None], is_target)
    loglik = np.stack((np.zeros_like(scores), scores), axis=1)[:, None]
    with pytest.raises(InputError, match="falls forever"):
        MulticlassFusion(prior=[1.0 - p, p]).fit(loglik, is_target.astype(int))


@pytest.mark.parametrize("p", PRIORS)
def test_systems_that_say_the_same_still_share_their_weight(p):
    rng = np.random.default_rng(3)
    is_target = np.arange(300) < 100
    scores = rng.normal(size=300) + is_target
    both = LinearFusion(p_target=p).fit(np.column_stack((scores, scores)), is_target)
    one = LinearFusion(p_target=p).fit(scores[:, None], is_target)
    np.testing.assert_allclose(both.weights_, one.weights_[0] / 2.0, rtol=1e-7)
    assert both.objective_ == pytest.approx(one.objective_, rel=1e-9)
    assert "one weight is not determined" in both.training_.results["status"]
