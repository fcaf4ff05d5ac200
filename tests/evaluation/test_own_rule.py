"""A rule of the user's own: its figures are those of `rules.information`, however the trials were cut."""

import numpy as np
import pytest

import deciban
from deciban import InputError, metrics
from deciban.evaluation import TwoClassMetrics
from deciban.evaluation.two_class.evaluate import evaluation_of
from deciban.evaluation.two_class.summary import merged, summarize
from deciban.rules import Logarithmic, ThresholdDensity, ThresholdWeights, information

RNG = np.random.default_rng(8)
TAR, NON = RNG.normal(3, 3, 200).round(1), RNG.normal(-2, 3, 700).round(1)
RULES = {
    "weights": ThresholdWeights([0.99, 0.5, 0.9], [0.5, 0.2, 0.3]),
    "density": ThresholdDensity([0.0, 0.4, 1.0], [0.0, 2.0, 0.0]),
}


def figures_of(tar, non, rule, points=(0.1, 0.5), **more):
    wanted = TwoClassMetrics(points, rule=rule)
    return deciban.evaluate(tar, non, operating_points=wanted, **more)


@pytest.mark.parametrize("name", RULES)
def test_figures_are_those_of_the_rule_at_each_prior(name):
    shown = figures_of(TAR, NON, RULES[name], [0.1, (0.1, 10, 1), 0.5]).to_dict()["rule_costs"]
    assert [one["p_target"] for one in shown] == [0.1, 0.5]
    for one in shown:
        found = information(TAR, NON, rule=RULES[name], p_target=one["p_target"])
        expected = (found.cost, found.minimum, found.lost_by_calibration, found.entropy, found.delivered)
        numbers = tuple(one[key] for key in ("cost", "minimum", "calibration_loss", "default", "information"))
        assert numbers == pytest.approx(expected, rel=1e-12)


def test_one_threshold_is_a_detection_cost_and_the_flat_density_is_the_logarithm():
    (one,) = figures_of(TAR, NON, ThresholdWeights([0.3]), [0.5]).requested.rule_costs
    dcf = {"p_target": 0.5, "c_miss": 1 / 0.3, "c_fa": 1 / 0.7, "normalize": False}
    assert one.parts.cost == pytest.approx(metrics.act_dcf(TAR, NON, **dcf), rel=1e-12)
    assert one.parts.minimum == pytest.approx(metrics.min_dcf(TAR, NON, **dcf), rel=1e-12)
    (flat,) = figures_of(TAR, NON, ThresholdDensity([0.0, 1.0], [1.0, 1.0]), [0.2]).requested.rule_costs
    logarithm = information(TAR, NON, rule=Logarithmic(), p_target=0.2)
    assert (flat.parts.cost, flat.parts.minimum) == pytest.approx((logarithm.cost, logarithm.minimum), rel=1e-9)


@pytest.mark.parametrize("name", RULES)
def test_parts_add_up(name):
    wanted = TwoClassMetrics(posteriors_at=0.3, rule=RULES[name])
    parts = [(TAR[:7], []), ([], NON[:50]), (TAR[7:], NON[50:])]
    found = evaluation_of(merged([summarize(*one, metrics=wanted) for one in parts])).to_dict()
    whole = evaluation_of(summarize(TAR, NON, metrics=wanted)).to_dict()
    assert found["rule_costs"][0] == pytest.approx(whole["rule_costs"][0], rel=1e-14)
    assert found["posterior_scores"][0]["brier"] == pytest.approx(whole["posterior_scores"][0]["brier"], rel=1e-14)


@pytest.mark.parametrize("name", RULES)
def test_intervals_by_trial_have_the_error_of_the_mean(name):
    one = figures_of(TAR, NON, RULES[name], [0.5], tar_units=np.arange(200), non_units=np.arange(200, 900))
    costs = RULES[name].costs
    by_class = [np.asarray(costs(np.stack((metrics_of(x), metrics_of(-x)), 1)))[:, k] for k, x in enumerate((TAR, NON))]
    error = 0.5 * np.sqrt(sum(own.var(ddof=1) / len(own) for own in by_class))
    assert one.interval(("rule_cost", 0)).standard_error == pytest.approx(error, rel=0.02)
    assert one.interval(("rule_information", 0)).standard_error == pytest.approx(error, rel=0.02)


def metrics_of(llr):
    return 1 / (1 + np.exp(-llr))


def test_other_rules_are_refused_and_none_is_shown_where_none_was_asked_for():
    with pytest.raises(InputError, match="rule: got Logarithmic"):
        TwoClassMetrics(rule=Logarithmic())
    assert "rule_costs" not in deciban.evaluate(TAR, NON).to_dict()
    again = [TwoClassMetrics(rule=ThresholdWeights([0.5], [w])) for w in (1.0, 1.0, 2.0)]
    assert again[0] == again[1] != again[2]
    assert len({one.rule for one in again}) == 2


@pytest.mark.parametrize("name", RULES)
def test_a_minimum_never_exceeds_what_the_prior_alone_costs(name):
    units = {"tar_units": np.arange(30), "non_units": np.arange(30, 130)}
    for tar, non in ((TAR[:30], NON[:100]), (-TAR[:30], NON[:100]), (np.full(30, 9.0), np.full(100, -9.0))):
        one = figures_of(tar, non, RULES[name], [0.01, 0.5], **units)
        for k, found in enumerate(one.requested.rule_costs):
            interval = one.interval(("rule_minimum", k))
            assert 0.0 <= interval.low <= interval.high <= found.parts.entropy * (1 + 1e-15)
            assert interval.high > interval.low  # nothing is known for certain of 30 targets


@pytest.mark.parametrize("name", RULES)
def test_conditions_have_the_figures_of_their_trials_and_equalized_ones_of_their_means(name):
    place = np.r_[np.arange(200) % 2, np.arange(700) % 3 % 2]
    columns = {"label": np.r_[np.ones(200, int), np.zeros(700, int)], "score": np.r_[TAR, NON], "place": place}
    wanted = {"operating_points": [0.1, 0.5], "rule": RULES[name], "by": ["place"], "equalize": ["place"]}
    (found,) = deciban.evaluate(columns, score=["score"], label="label", **wanted).conditions
    label, score = columns["label"] == 1, columns["score"]
    costs = []
    for one, at in zip(found.partitions[0].conditions, (0, 1), strict=True):
        alone = figures_of(score[label & (place == at)], score[~label & (place == at)], RULES[name]).requested
        assert one.evaluation.requested.rule_costs == alone.rule_costs
        costs.append([own.parts.cost for own in alone.rule_costs])
    equal = [own.parts.cost for own in found.equalized[0].evaluation.requested.rule_costs]
    assert equal == pytest.approx(np.mean(costs, axis=0), rel=1e-12)  # error rates are means over conditions


def test_comparisons_subtract_costs_and_tell_rules_apart():
    units = {"tar_units": np.arange(200), "non_units": np.arange(200, 900)}
    points = [(0.1, 10, 1), 0.1, 0.5]
    ours = [figures_of(k * TAR, k * NON, RULES["weights"], points, name=f"{k}", **units) for k in (1, 2)]
    found = deciban.compare(*ours)
    costs = [[own.parts.cost for own in one.requested.rule_costs] for one in ours]
    for k, prior in enumerate(("0.1", "0.5")):
        assert found.difference(("rule_cost", k)).estimate == pytest.approx(costs[0][k] - costs[1][k], rel=1e-12)
        (row,) = [one for one in found.pairs[0].metrics if one.metric == ("rule_cost", k)]
        assert row.words == f"cost by the custom rule at prior {prior}"
    other = figures_of(TAR, NON, RULES["density"], points, name="other", **units)
    with pytest.raises(InputError, match="has a different rule in each"):
        deciban.compare(ours[0], other)
