"""Thesis, appendix C: equations whose tests are nowhere else."""

import numpy as np
import pytest
from scipy.special import expit, logit

from deciban.metrics import pav
from deciban.rules import Beta

RNG = np.random.default_rng(1)
IS_TARGET = RNG.random(40) < 0.4
SCORES = np.arange(40) + 14.0 * IS_TARGET + 0.5 * RNG.random(40)
LABELS = IS_TARGET[np.argsort(SCORES)]
ORDERED = np.sort(SCORES)


def llr_of_each(tar_weights=None, non_weights=None):
    """Of each trial in the order of scores, by PAV."""
    blocks = pav(ORDERED[LABELS], ORDERED[~LABELS], tar_weights=tar_weights, non_weights=non_weights)
    return blocks.llr[np.searchsorted(blocks.low, ORDERED, side="right") - 1]


def ratios(v_1, v_2):
    """C.7: weighted share of targets among trials i to j; nan where j < i."""
    counts = [np.concatenate(([0], np.cumsum(labels))) for labels in (LABELS, ~LABELS)]
    m, n = (count[None, 1:] - count[:-1, None] for count in counts)
    shares = np.full(m.shape, np.nan)
    later = np.triu(np.ones(m.shape, dtype=bool))
    shares[later] = (m * v_1)[later] / (m * v_1 + n * v_2)[later]
    return shares


@pytest.mark.parametrize("log_odds", [0.0, -3.0, 2.0])
def test_llrs_are_the_max_min_of_shares_at_every_prior(log_odds):
    """C.4 to C.7 and C.16 to C.23: a closed form of order T squared, and independent of the prior."""
    r = ratios(expit(log_odds) / LABELS.sum(), expit(-log_odds) / (~LABELS).sum())
    places = range(len(LABELS))
    p = [max(r[i, t:].min() for i in range(t + 1)) for t in places]
    other_way = [min(r[: t + 1, j].max() for j in range(t, len(LABELS))) for t in places]
    assert p == pytest.approx(other_way)
    with np.errstate(divide="ignore"):
        assert logit(p) - log_odds == pytest.approx(llr_of_each(), abs=1e-9)


def test_weights_of_classes_shift_no_llr():
    """C.20 and C.21: weights 1 of all trials, or those of any prior."""
    weights = np.full(LABELS.sum(), 0.03), np.full((~LABELS).sum(), 0.7)
    assert llr_of_each(*weights) == pytest.approx(llr_of_each(), abs=1e-9)


@pytest.mark.parametrize("rule", [Beta(1, 1), Beta(2, 2), Beta(0.5, 0.5), Beta(2, 1)])
def test_partial_objectives_fall_and_rise(rule):
    """C.12 to C.14: that of one probability for a block has its minimum at the share, and no other."""
    q = np.linspace(0.005, 0.995, 199)
    for r in (0.25, 0.5, 0.8):
        objective = rule.costs(np.column_stack((q, 1.0 - q))) @ [r, 1.0 - r]
        assert np.all(np.diff(objective)[q[1:] <= r] < 0)
        assert np.all(np.diff(objective)[q[:-1] >= r] > 0)
        low, high = 0.3, 0.6
        between = np.linspace(low, high, 2001)
        steps = (between - r) * rule.density(between) / (between * (1.0 - between))
        ends = rule.costs([[low, 1.0 - low], [high, 1.0 - high]]) @ [r, 1.0 - r]
        assert np.diff(ends)[0] == pytest.approx(np.trapezoid(steps, between), abs=1e-6)


def test_solutions_of_parts_are_that_of_the_whole_if_they_ascend():
    """C.8 to C.11: blocks of PAV solved by themselves, put side by side."""
    whole = llr_of_each()
    v = logit(LABELS.mean())
    for llr in np.unique(whole):
        inside = whole == llr
        with np.errstate(divide="ignore"):
            assert logit(LABELS[inside].mean()) - v == pytest.approx(llr)
