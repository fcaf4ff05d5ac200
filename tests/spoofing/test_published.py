"""Numbers that the organizers of ASVspoof published, or that their packages print, and closed forms.

The score files themselves may not be distributed. Origins: the evaluation packages of ASVspoof 2019 (tDCF_python v1 and
v2) and of ASVspoof 5; the output of v1 for the verifier of ASVspoof 2019 LA, in issue 5 of the repository
lixucuhk/ASV-anti-spoofing-with-Res2Net.
"""

import math

import numpy as np
import pytest
from scipy import optimize, stats

from deciban import spoofing
from deciban.spoofing import AsvErrors
from deciban.spoofing.tandem import TDcfCosts

LA_2019 = AsvErrors(p_miss=0.024581005586592177, p_fa=0.024604674888228765, p_fa_spoof=1.0 - 0.23934754703985472)
"""Error rates of the organizers' verifier in the evaluation part of ASVspoof 2019 LA, as v1 prints them."""

TRACK_2 = AsvErrors(p_miss=0.01880141010575793, p_fa=0.01881016557566423, p_fa_spoof=0.4607082907604729)
"""Error rates of the organizers' verifier in the package of ASVspoof 5."""


def test_published_rates_are_those_of_whole_trials():
    """5,370 targets, 33,327 non-targets and 63,882 spoofs."""
    for rate, n in ((LA_2019.p_miss, 5370), (LA_2019.p_fa, 33_327), (LA_2019.p_fa_spoof, 63_882)):
        assert rate * n == pytest.approx(round(rate * n), abs=1e-8)


def test_the_form_of_2019_has_the_weights_that_its_package_prints():
    """``tDCF_norm(s) =  2.40595 x Pmiss_cm(s) + Pfa_cm(s)``."""
    weights = TDcfCosts().weights(LA_2019, "2019")
    assert f"{weights.miss / weights.norm:8.5f} {weights.fa / weights.norm:g}" == " 2.40595 1"
    curve = spoofing.t_dcf_curve([1.0, 2.0, 3.0], [0.0, 2.5], asv=LA_2019, edition="2019")
    assert curve.t_dcf == pytest.approx(2.40595 * curve.p_miss + curve.p_fa, abs=5e-6)


def test_the_form_of_2021_has_the_optimum_that_its_package_prints():
    """``The optimum value is given by the first term (0.06273)``: the cost without errors of the countermeasure."""
    assert f"{spoofing.min_t_dcf([1.0], [0.0], asv=LA_2019):.5f}" == "0.06273"


def test_the_verifier_of_asvspoof_5_limits_all_its_countermeasures():
    """C0, C1 and C2 by hand; the package divides by C0 + min(C1, C2)."""
    c0 = 0.9405 * TRACK_2.p_miss + 0.0095 * 10 * TRACK_2.p_fa
    c1, c2 = 0.9405 - c0, 0.05 * 10 * TRACK_2.p_fa_spoof
    assert spoofing.min_t_dcf([1.0], [0.0], asv=TRACK_2) == pytest.approx(c0 / (c0 + min(c1, c2)), abs=1e-15)
    assert spoofing.min_t_dcf([0.0], [1.0], asv=TRACK_2) == 1.0


@pytest.mark.parametrize("edition", ["2019", "2021"])
def test_a_miss_of_the_countermeasure_can_have_another_cost_in_2019(edition):
    """C1 = P_tar (C_miss_cm - C_miss_asv P_miss_asv) - P_non C_fa_asv P_fa_asv."""
    if edition == "2021":
        with pytest.raises(ValueError, match="c_miss_cm: the form of 2021"):
            TDcfCosts(c_miss_cm=2.0).weights(LA_2019, edition)
        return
    found = TDcfCosts(c_miss=1.5, c_miss_cm=2.0, c_fa=5.0).weights(LA_2019, edition)
    expected = 0.9405 * (2.0 - 1.5 * LA_2019.p_miss) - 0.0095 * 5.0 * LA_2019.p_fa
    assert found.miss == pytest.approx(expected, abs=1e-15)
    how = {"asv": LA_2019, "edition": edition, "c_miss_cm": 2.0, "normalize": False}
    c1 = 0.9405 * (2.0 - LA_2019.p_miss) - 0.0095 * 10 * LA_2019.p_fa
    assert spoofing.act_t_dcf([0.0], [-1.0], **how, threshold=math.inf) == pytest.approx(c1, abs=1e-15)
    assert spoofing.min_t_dcf([0.0, 1.0], [0.5], **how) == pytest.approx(min(c1 / 2, 0.5 * LA_2019.p_fa_spoof))


def gaussian(eer):
    """Mean and standard deviation of Gaussian llrs with an EER, as in the simulation of the authors of the t-EER."""
    mean = 2 * stats.norm.ppf(eer) ** 2
    return mean, math.sqrt(2 * mean)


def test_the_tandem_eer_of_gaussian_scores_solves_its_equations():
    """Three equal rates, of a verifier with EER 2 % (25 % against spoofs) and a countermeasure with EER 5 %."""
    (asv, spread), (cm, other) = gaussian(0.02), gaussian(0.05)
    spoof = asv + 2 * spread * stats.norm.ppf(0.25)
    share = (np.arange(20_000) + 0.5) / 20_000
    scores = [stats.norm.ppf(share, mean, spread) for mean in (asv, -asv, spoof)]
    bona, cm_spoof = (stats.norm.ppf(share, mean, other) for mean in (cm, -cm))

    def gaps(at):
        hit, fa, fa_spoof = (stats.norm.sf(at[0], mean, spread) for mean in (asv, -asv, spoof))
        passed, passed_spoof = (stats.norm.sf(at[1], mean, other) for mean in (cm, -cm))
        return [1 - hit * passed - fa * passed, fa * passed - fa_spoof * passed_spoof]

    at_asv, at_cm = optimize.fsolve(gaps, [0.0, 0.0], xtol=1e-12)
    expected = stats.norm.sf(at_asv, -asv, spread) * stats.norm.sf(at_cm, cm, other)
    assert max(map(abs, gaps([at_asv, at_cm]))) < 1e-9
    rate, *_ = spoofing.t_eer(*scores, bona=bona, cm_spoof=cm_spoof)
    assert rate == pytest.approx(expected, abs=1e-4)
