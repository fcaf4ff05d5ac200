"""How much scores tell at a prior: against the functions of arrays, in words and in JSON."""

import json

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deciban
from deciban import rules
from deciban.evaluation import evaluate, evaluate_classes
from deciban.evaluation.one_system import information_in_words

SCORES = st.lists(st.sampled_from([-np.inf, -3.0, -1.0, 0.0, 0.5, 2.0, 4.5, np.inf]), min_size=1, max_size=12)


@given(SCORES, SCORES, st.floats(0.001, 0.999))
def test_two_classes_are_told_what_the_rule_says(tar, non, p_target):
    found = evaluate(tar, non, operating_points=[p_target])
    for one in found.information_at:
        expected = rules.information(tar, non, p_target=one.prior[0])
        assert one.entropy == pytest.approx(expected.entropy, rel=1e-12)
        assert one.delivered == pytest.approx(expected.delivered, abs=1e-12)
        assert one.available == pytest.approx(expected.available, abs=1e-12)
    assert found.information_at[0].delivered == 1.0 - found.cllr
    assert found.capacity == rules.capacity(tar, non)


def test_scores_of_nearly_0_tell_nothing_and_not_what_rounding_leaves():
    rng = np.random.default_rng(3)
    tar, non = 5e-324 * np.sign(rng.normal(1, 1, 61)), 5e-324 * np.sign(rng.normal(-1, 1, 187))
    assert [one.delivered for one in evaluate(tar, non, operating_points=[0.01]).information_at] == [0.0, 0.0]


def test_many_trials_are_told_nearly_what_the_rule_says():
    rng = np.random.default_rng(5)
    tar, non = rng.normal(2, 2, 2000), rng.normal(-2, 2, 9000)
    one = evaluate(tar, non, operating_points=[(0.01, 10, 1)]).information_at[1]
    expected = rules.information(tar, non, p_target=0.1 / 1.09)
    assert one.delivered == pytest.approx(expected.delivered, abs=2e-5)
    assert one.delivered <= one.available == pytest.approx(expected.available, abs=1e-12)


def test_the_prior_of_costs_is_the_effective_one_and_even_odds_are_told_once():
    assert [one.prior for one in evaluate([1.0], [0.0], operating_points=[0.5, 0.1]).information_at] == [(0.5, 0.5)]
    (_, at) = evaluate([1.0], [0.0], operating_points=[(0.01, 10, 1), 0.5]).information_at
    assert at.prior[0] == pytest.approx(0.1 / 1.09)


def test_many_classes_are_told_what_the_rule_says():
    rng = np.random.default_rng(6)
    label = np.arange(90) % 3
    loglik = np.eye(3)[label] + rng.normal(size=(90, 3))
    prior = [0.2, 0.3, 0.5]
    found = evaluate_classes(loglik, label, prior=prior, units=np.arange(90) // 3)
    for one, given_prior in zip(found.information_at, (None, prior), strict=True):
        expected = rules.class_information(loglik, label, prior=given_prior)
        assert (one.entropy, one.delivered) == pytest.approx((expected.entropy, expected.delivered), rel=1e-12)
    assert found.information_at[0].available == pytest.approx(np.log2(3) - found.min_cllr)
    assert information_in_words(found).startswith(f"system: information at the flat prior: {found.information:.3g} [")
    assert "of 1.58 bits (" in information_in_words(found)
    assert "; at the given prior: " in information_in_words(found)


def test_intervals_and_capacity_stand_in_json():
    rng = np.random.default_rng(7)
    units = {"tar_units": np.arange(40) % 10, "non_units": np.arange(60) % 10}
    found = evaluate(rng.normal(1, 1, 40), rng.normal(-1, 1, 60), **units)
    given = json.loads(deciban.Results((found,)).to_json())
    jsonschema.Draft202012Validator(deciban.json_schemas()["results"]).validate(given)
    first, at = given["systems"][0]["information_at"]
    cllr = found.interval("cllr")
    assert first["intervals"]["delivered"]["standard_error"] == pytest.approx(cllr.standard_error, rel=1e-12)
    assert at["intervals"]["available"]["high"] == found.interval(("available", 1)).high
    assert given["systems"][0]["capacity"]["bits"] >= first["available"]
