"""The t-DCF and a-DCF against sums over trials written from the papers, and the laws that they obey."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import metrics, spoofing
from deciban.errors import InputError
from deciban.spoofing import AsvErrors

SCORES = st.lists(st.integers(-6, 6).map(float), min_size=1, max_size=12)
ASV = AsvErrors(0.04, 0.03, 0.3)


def share(values, condition):
    return sum(map(condition, values)) / len(values)


def every_threshold(*scores):
    return [*sorted({value for values in scores for value in values}), math.inf]


def t_dcf(bona, spoof, threshold, asv, edition, *, p_spoof=0.05, p_non=0.0095, c_miss=1.0, c_fa=10.0, c_fa_spoof=10.0):
    """Eqs. of the challenge of 2021, and its form of 2019 without the floor."""
    p_tar = 1 - p_spoof - p_non
    c0 = p_tar * c_miss * asv.p_miss + p_non * c_fa * asv.p_fa
    c1 = p_tar * c_miss - c0
    c2 = p_spoof * c_fa_spoof * asv.p_fa_spoof
    c0 = c0 if edition == "2021" else 0.0
    p_miss, p_fa = share(bona, lambda x: x < threshold), share(spoof, lambda x: x >= threshold)
    return (c0 + c1 * p_miss + c2 * p_fa) / (c0 + min(c1, c2))


@pytest.mark.parametrize("edition", ["2019", "2021"])
@given(bona=SCORES, spoof=SCORES)
def test_t_dcf_is_the_sum_of_the_papers(edition, bona, spoof):
    costs = [t_dcf(bona, spoof, at, ASV, edition) for at in every_threshold(bona, spoof)]
    assert spoofing.min_t_dcf(bona, spoof, asv=ASV, edition=edition) == pytest.approx(min(costs), abs=1e-12)
    curve = spoofing.t_dcf_curve(bona, spoof, asv=ASV, edition=edition)
    assert curve.t_dcf == pytest.approx(costs, abs=1e-12)
    for at in (-1.0, 0.5, 3.0):
        found = spoofing.act_t_dcf(bona, spoof, asv=ASV, edition=edition, threshold=at)
        assert found == pytest.approx(t_dcf(bona, spoof, at, ASV, edition), abs=1e-12)


@given(bona=SCORES, spoof=SCORES)
def test_the_minimum_is_not_above_the_actual_cost_of_bayes_decisions(bona, spoof):
    assert spoofing.min_t_dcf(bona, spoof, asv=ASV) <= spoofing.act_t_dcf(bona, spoof, asv=ASV) + 1e-12
    tar, non = bona, [value - 1.0 for value in spoof]
    assert spoofing.min_a_dcf(tar, non, spoof) <= spoofing.act_a_dcf(tar, non, spoof) + 1e-12


def test_bayes_decisions_of_calibrated_llrs_are_best():
    rng = np.random.default_rng(5)
    bona, spoof = rng.normal(2, 2, 400_000), rng.normal(-2, 2, 400_000)
    for edition in ("2019", "2021"):
        least = spoofing.min_t_dcf(bona, spoof, asv=ASV, edition=edition)
        assert spoofing.act_t_dcf(bona, spoof, asv=ASV, edition=edition) == pytest.approx(least, rel=0.01)


def test_a_perfect_countermeasure_leaves_the_cost_of_the_verifier():
    p_tar, p_non, p_spoof = 0.95 * 0.99, 0.95 * 0.01, 0.05
    floor = p_tar * ASV.p_miss + p_non * 10 * ASV.p_fa
    norm = floor + min(p_tar - floor, p_spoof * 10 * ASV.p_fa_spoof)
    assert spoofing.min_t_dcf([1.0], [0.0], asv=ASV) == pytest.approx(floor / norm)
    assert spoofing.min_t_dcf([1.0], [0.0], asv=ASV, normalize=False) == pytest.approx(floor)
    assert spoofing.min_t_dcf([1.0], [0.0], asv=ASV, edition="2019") == 0.0


def closest(tar, non):
    """The threshold of the evaluation packages, trial by trial: rejected up to and with the score."""
    candidates = sorted({*tar, *non})
    gaps = [abs(share(tar, lambda x, at=at: x <= at) - share(non, lambda x, at=at: x > at)) for at in candidates]
    return next(at for at, gap in zip(candidates, gaps, strict=True) if gap <= min(gaps) + 1e-12)


@given(tar=SCORES, non=SCORES, spoof=SCORES)
def test_errors_of_a_verifier_are_counts(tar, non, spoof):
    found = spoofing.asv_errors(tar, non, spoof)
    assert found.threshold == closest(tar, non)
    for at in (found.threshold, -2.0, 1.5, math.inf):
        rates = spoofing.asv_errors(tar, non, spoof, threshold=at)
        assert rates.p_miss == share(tar, lambda x, at=at: x < at)
        assert rates.p_fa == share(non, lambda x, at=at: x >= at)
        assert rates.p_fa_spoof == share(spoof, lambda x, at=at: x >= at)


def a_dcf(tar, non, spoof, at, *, p_non=0.05, p_spoof=0.05, c_miss=1.0, c_fa=10.0, c_fa_spoof=20.0):
    p_tar = 1 - p_non - p_spoof
    cost = c_miss * p_tar * share(tar, lambda x: x < at) + c_fa * p_non * share(non, lambda x: x >= at)
    cost += c_fa_spoof * p_spoof * share(spoof, lambda x: x >= at)
    return cost / min(p_tar * c_miss, p_non * c_fa + p_spoof * c_fa_spoof)


@given(tar=SCORES, non=SCORES, spoof=SCORES)
def test_a_dcf_is_the_sum_of_the_paper(tar, non, spoof):
    costs = [a_dcf(tar, non, spoof, at) for at in every_threshold(tar, non, spoof)]
    assert spoofing.min_a_dcf(tar, non, spoof) == pytest.approx(min(costs), abs=1e-12)
    assert spoofing.act_a_dcf(tar, non, spoof, threshold=1.0) == pytest.approx(a_dcf(tar, non, spoof, 1.0), abs=1e-12)


@given(tar=SCORES, non=SCORES, spoof=SCORES)
def test_without_spoofs_the_a_dcf_is_the_dcf(tar, non, spoof):
    how = {"p_non": 0.99, "p_spoof": 0.0, "c_miss": 10.0, "c_fa": 1.0}
    assert spoofing.min_a_dcf(tar, non, spoof, **how) == pytest.approx(
        metrics.min_dcf(tar, non, p_target=0.01, c_miss=10.0, c_fa=1.0)
    )
    assert spoofing.act_a_dcf(tar, non, spoof, **how) == pytest.approx(
        metrics.act_dcf(tar, non, p_target=0.01, c_miss=10.0, c_fa=1.0)
    )


@given(tar=SCORES, non=SCORES, spoof=SCORES, seed=st.integers(0, 99))
def test_the_order_of_trials_is_of_no_consequence(tar, non, spoof, seed):
    rng = np.random.default_rng(seed)
    mixed = [rng.permutation(values) for values in (tar, non, spoof)]
    assert spoofing.min_a_dcf(*mixed) == spoofing.min_a_dcf(tar, non, spoof)
    assert spoofing.sasv_eers(*mixed) == spoofing.sasv_eers(tar, non, spoof)
    assert spoofing.min_t_dcf(mixed[0], mixed[2], asv=ASV) == spoofing.min_t_dcf(tar, spoof, asv=ASV)


@given(tar=SCORES, non=SCORES, spoof=SCORES)
def test_sasv_eers_are_error_rates_of_two_groups(tar, non, spoof):
    for found, against in zip(spoofing.sasv_eers(tar, non, spoof), ([*non, *spoof], non, spoof), strict=True):
        rates = [
            (share(tar, lambda x, at=at: x < at), share(against, lambda x, at=at: x >= at))
            for at in every_threshold(tar, against)
        ]
        gap = min(abs(p_miss - p_fa) for p_miss, p_fa in rates)
        near = [(p_miss + p_fa) / 2 for p_miss, p_fa in rates if abs(p_miss - p_fa) <= gap + 1e-12]
        assert any(found == pytest.approx(one) for one in near)


def test_the_tandem_eer_of_symmetric_systems_is_where_all_errors_agree():
    rng = np.random.default_rng(3)
    tar, non, asv_spoof = rng.normal(2, 1, 4000), rng.normal(-2, 1, 4000), rng.normal(1, 1, 4000)
    bona, cm_spoof = rng.normal(1.5, 1, 4000), rng.normal(-1.5, 1, 4000)
    rate, at_asv, at_cm = spoofing.t_eer(tar, non, asv_spoof, bona=bona, cm_spoof=cm_spoof)
    hit = (tar >= at_asv).mean() * (bona >= at_cm).mean()
    assert rate == pytest.approx(1 - hit, abs=0.002)
    assert rate == pytest.approx((non >= at_asv).mean() * (bona >= at_cm).mean(), abs=0.002)
    assert rate == pytest.approx((asv_spoof >= at_asv).mean() * (cm_spoof >= at_cm).mean(), abs=0.002)


ATTACKS = {"A01": [0.0, 1.0, 2.0, 3.0], "A02": [-1.0, 2.5]}


def test_apcer_counts_accepted_attacks_and_bpcer_keeps_the_limit():
    assert spoofing.apcer(ATTACKS, threshold=2.0) == {"A01": 0.5, "A02": 0.5}
    bona = [0.5, 1.5, 2.2, 3.5, 4.0]
    for limit, expected in ((1.0, 0.0), (0.5, 0.2), (0.25, 0.6), (0.0, 0.6)):
        assert spoofing.bpcer_at_apcer(bona, ATTACKS, max_apcer=limit) == expected
    assert spoofing.bpcer_at_apcer([1.0], {"A01": [math.inf]}, max_apcer=0.0) == 1.0


@given(bona=SCORES, one=SCORES, other=SCORES, limit=st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]))
def test_bpcer_is_the_least_at_thresholds_that_keep_the_limit_of_every_attack(bona, one, other, limit):
    fine = [
        at
        for at in every_threshold(bona, one, other)
        if max(share(scores, lambda x, at=at: x >= at) for scores in (one, other)) <= limit
    ]
    least = min(share(bona, lambda x, at=at: x < at) for at in fine)
    assert spoofing.bpcer_at_apcer(bona, {"A01": one, "A02": other}, max_apcer=limit) == least


@given(bona=SCORES, one=SCORES, other=SCORES, at=st.integers(-7, 7).map(float))
def test_acer_is_the_mean_of_the_worst_attack_and_bona_fide(bona, one, other, at):
    worst = max(share(scores, lambda x: x >= at) for scores in (one, other))
    found = spoofing.acer(bona, {"A01": one, "A02": other}, threshold=at)
    assert found == pytest.approx((worst + share(bona, lambda x: x < at)) / 2, abs=1e-15)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: spoofing.min_t_dcf([1.0], [], asv=ASV), "spoof"),
        (lambda: spoofing.min_t_dcf([1.0], [0.0], asv=ASV, edition="2015"), "edition: got '2015'"),
        (lambda: spoofing.min_t_dcf([1.0], [0.0], asv=AsvErrors(0.9, 0.9, 0.3), c_fa=100), "more than rejecting"),
        (lambda: spoofing.min_t_dcf([1.0], [0.0], asv=AsvErrors(0.1, 0.1, 0.0), edition="2019"), "accepts no spoof"),
        (lambda: spoofing.min_t_dcf([1.0], [0.0], asv=ASV, p_spoof=1.0), "p_non, p_spoof"),
        (lambda: spoofing.act_t_dcf([1.0], [0.0], asv=ASV, threshold=math.nan), "threshold: got nan"),
        (lambda: spoofing.min_a_dcf([1.0], [0.0], [0.0], c_fa=-1.0), "c_fa"),
        (lambda: spoofing.min_a_dcf([1.0], [0.0], [0.0], c_miss=0.0), "costs nothing"),
        (lambda: spoofing.act_a_dcf([math.nan], [0.0], [0.0]), "tar"),
        (lambda: spoofing.apcer({}, threshold=0.0), "attacks: empty"),
        (lambda: spoofing.bpcer_at_apcer([1.0], ATTACKS, max_apcer=5), "max_apcer"),
        (lambda: AsvErrors(1.2, 0.0, 0.0), "p_miss"),
        (lambda: spoofing.asv_errors([1.0], [0.0], [0.0], threshold=math.nan), "threshold: got nan"),
    ],
)
def test_what_is_not_valid_is_refused(call, words):
    with pytest.raises(InputError, match=words):
        call()
