"""Metrics that are asked for: they are what the metrics say, they merge, and JSON has them."""

import functools
import json
import math
import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import InputError, metrics
from deciban.evaluation import TwoClassMetrics, evaluate, evaluation_of, summarize
from deciban.evaluation.results import Results
from support.strategies import classes

METRICS = TwoClassMetrics(
    [0.01, (0.3, 2, 5)],
    eer_conventions=True,
    fnmr_at=[0.1, 0.5],
    fmr_at=0.25,
    at_thresholds={"agreed": 0.5, "none": math.inf},
    posteriors_at=[0.1, 0.5],
)


@given(classes())
def test_results_say_what_the_metrics_say(sets):
    found = evaluate(*sets, operating_points=METRICS)
    asked = found.requested
    assert found.eer_threshold == metrics.eer_threshold(*sets)
    for point in found.operating_points:
        at_point = {"p_target": point.p_target, "c_miss": point.c_miss, "c_fa": point.c_fa}
        assert point.min_threshold == metrics.min_dcf_threshold(*sets, **at_point)
        least = point.p_target * point.c_miss * point.min_p_miss + (1 - point.p_target) * point.c_fa * point.min_p_fa
        assert least == pytest.approx(metrics.min_dcf(*sets, normalize=False, **at_point), rel=1e-12)
    assert found.misleading == metrics.misleading_evidence(*sets)
    assert asked.eer_conventions == metrics.eer_conventions(*sets)
    limits = [(one.limited, one.limit, one.rate) for one in asked.rates_at]
    fnmr, fmr = metrics.fnmr_at_fmr(*sets, fmr=[0.1, 0.5]), metrics.fmr_at_fnmr(*sets, fnmr=0.25)
    assert limits == [("fmr", 0.1, fnmr[0]), ("fmr", 0.5, fnmr[1]), ("fnmr", 0.25, fmr)]
    for one in asked.rates_at:
        if one.errors.threshold < math.inf:
            assert one.errors.n_miss == sum(s < one.errors.threshold for s in sets[0])
            assert one.errors.n_fa == sum(s >= one.errors.threshold for s in sets[1])
    assert [one.name for one in asked.at_thresholds] == ["agreed", "none"]
    for one, place in zip(asked.at_thresholds, [0.5, math.inf], strict=True):
        assert one.errors.hter == pytest.approx(metrics.hter(*sets, threshold=place))
    for one, p in zip(asked.posterior_scores, [0.1, 0.5], strict=True):
        for rule, parts in (("log", one.log_loss), ("brier", one.brier)):
            expected = metrics.score_parts(*sets, rule=rule, p_target=p).to_dict()
            np.testing.assert_allclose(list(parts.to_dict().values()), list(expected.values()), rtol=1e-12, atol=1e-15)


@given(classes(max_size=20), st.integers(0, 9))
def test_parts_add_up_to_the_whole(sets, seed):
    rng = np.random.default_rng(seed)
    part = [rng.integers(0, 3, len(one)) for one in sets]
    partitions = [
        summarize(*(np.array(one)[own == k] for one, own in zip(sets, part, strict=True)), metrics=METRICS)
        for k in range(3)
    ]
    found, whole = evaluation_of(functools.reduce(operator.add, partitions)), evaluate(*sets, operating_points=METRICS)
    for name in ("eer_conventions", "rates_at", "at_thresholds"):
        assert getattr(found.requested, name) == getattr(whole.requested, name)
    assert (found.misleading, found.eer_threshold) == (whole.misleading, whole.eer_threshold)
    for one, other in zip(found.requested.posterior_scores, whole.requested.posterior_scores, strict=True):
        for name in ("log_loss", "brier"):
            values = (list(getattr(each, name).to_dict().values()) for each in (one, other))
            np.testing.assert_allclose(*values, rtol=1e-12, atol=1e-15)


def test_of_thresholds_with_the_least_errors_the_one_with_the_fewest_others_is_named():
    """Up to 3 there are no misses: any false alarms were allowed, but none is needed. And the other way round."""
    metrics = TwoClassMetrics(fnmr_at=1.0, fmr_at=1.0)
    found = evaluate([3.0, 3.0], [0.0, 1.0, 2.0], operating_points=metrics).requested.rates_at[0]
    assert (found.errors.threshold, found.errors.n_miss, found.errors.n_fa) == (3.0, 0, 0)
    found = evaluate([0.0, 1.0, 2.0], [-1.0, -2.0], operating_points=metrics).requested.rates_at[1]
    assert (found.errors.threshold, found.errors.n_miss, found.errors.n_fa) == (0.0, 0, 0)


def test_json_has_what_was_asked_for():
    result = evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], operating_points=METRICS)
    (found,) = json.loads(Results((result,)).to_json())["systems"]
    assert found["eer_threshold"] == 1.0
    assert found["operating_points"][0]["min_threshold"] == 2.0
    assert found["misleading_evidence"][0] == {"factor": 1.0, "n_tar": 0, "n_non": 1, "p_tar": 0.0, "p_non": 1 / 3}
    assert list(found["eer_conventions"]) == list(metrics.EER_CONVENTIONS)
    assert [(one["fmr"], one["fnmr"]) for one in found["fnmr_at_fmr"]] == [(0.1, 1 / 3), (0.5, 0.0)]
    assert found["fmr_at_fnmr"][0]["fnmr"] == 0.25
    assert found["at_thresholds"][1]["threshold"] == "inf"
    assert found["at_thresholds"][1]["hter"] == 0.5
    assert found["posterior_scores"][1]["p_target"] == 0.5
    assert found["posterior_scores"][1]["brier"]["uncertainty"] == 0.25


def test_json_is_silent_about_the_rest():
    found = evaluate([1.0], [0.0]).to_dict()
    assert not {"eer_conventions", "fnmr_at_fmr", "at_thresholds", "posterior_scores", "requested", "axis"} & set(found)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"fnmr_at": 2}, "fnmr_at: got 2. A rate is a fraction"),
        ({"fmr_at": [-0.1]}, "fmr_at"),
        ({"at_thresholds": {"a": math.nan}}, "at_thresholds"),
        ({"posteriors_at": [0.5, 1.0]}, "posteriors_at: got 1. A prior is"),
        ({"factors": 0.1}, "factors: got 0.1"),
        ({"axis": "ln"}, "axis: got 'ln'. It is 'nats' or 'log10'"),
    ],
)
def test_what_may_not_be_asked(asked, words):
    with pytest.raises(InputError, match=words):
        TwoClassMetrics(**asked)


def test_the_threshold_of_the_eer_has_the_errors_that_it_says():
    rng = np.random.default_rng(1)
    tar, non = rng.normal(1, 1, 300).round(1), rng.normal(-1, 1, 900).round(1)
    found = evaluate(tar, non)
    assert found.eer_p_miss == np.mean(tar < found.eer_threshold)
    assert found.eer_p_fa == np.mean(non >= found.eer_threshold)
    assert min(found.eer_p_miss, found.eer_p_fa) <= found.eer <= max(found.eer_p_miss, found.eer_p_fa)
