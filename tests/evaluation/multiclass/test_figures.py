"""What is asked of many classes: checked when it is made, and kept as a value that does not change."""

import pickle

import numpy as np
import pytest

from deciban import InputError
from deciban.evaluation import ClassMetrics, evaluate_classes
from support.class_files import CLASSES, trials


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"prior": 3}, r"prior: shape \(\)\. Give one probability per class"),
        ({"prior": np.array(0.5)}, r"prior: shape \(\)\. Give one probability per class"),
        ({"prior": [[0.5, 0.25, 0.25]]}, r"prior: shape \(1, 3\)\. Give one probability per class"),
        ({"prior": [[0.5], [0.2, 0.3]]}, "prior: expected real numbers, got list"),
        ({"prior": ["a", "b", "c"]}, "prior: expected real numbers, got list"),
        ({"prior": {0.2, 0.3, 0.5}}, "prior: expected real numbers, got set"),
        ({"prior": object()}, "prior: expected real numbers, got object"),
        ({"prior": {"0": 0.5, "1": [0.25], "2": 0.25}}, "prior: expected real numbers, got list"),
        ({"p_target": [[0.1, 0.2]]}, r"p_target: expected a prior of a target or a list of them, got shape \(1, 2\)"),
        ({"p_target": [[0.1], [0.2, 0.3]]}, "p_target: expected real numbers, got list"),
        ({"p_target": "x"}, "p_target: expected real numbers, got str 'x'"),
        ({"p_target": [0.1, "x"]}, "p_target: expected real numbers, got list"),
        ({"p_target": {}}, "p_target: expected real numbers, got dict"),
        ({"p_target": 1j}, "p_target: expected real numbers, got complex"),
        ({"p_target": None}, "p_target: expected real numbers, got NoneType"),
        (
            {"p_target": [0.5, np.nan]},
            "p_target: values must be finite, but 1 of 2 values are not, the first at index 1",
        ),
        ({"p_target": 1.5}, r"p_target: a prior must be inside \(0, 1\)"),
        ({"p_target": []}, "p_target: none given"),
        ({"p_out_of_set": "x"}, "p_out_of_set: expected real numbers, got str 'x'"),
        ({"p_out_of_set": [0.1]}, r"p_out_of_set: got \[0.1\]. It must be above 0 and below 1"),
        ({"p_out_of_set": 1.0}, "p_out_of_set: got 1.0. It must be above 0 and below 1"),
    ],
)
def test_what_is_no_prior_is_refused_in_words(asked, message):
    with pytest.raises(InputError, match=message):
        evaluate_classes(*trials(), **asked)


@pytest.mark.parametrize(
    "make",
    [
        lambda: {"prior": {"0": 0.5, "1": 0.25, "2": 0.25}},
        lambda: {"prior": np.array([0.5, 0.25, 0.25])},
        lambda: {"groups": {"land": ["0", "1"], "sea": ["2"]}},
        lambda: {"groups": {"land": np.array([0, 1]), "sea": np.array([2])}},
        lambda: {"groups": [[0, 1], [2]]},
        lambda: {"p_target": np.array([0.5, 0.1]), "p_out_of_set": np.float64(0.2)},
    ],
)
def test_figures_are_values(make):
    one, two = ClassMetrics(**make()), ClassMetrics(**make())
    assert one == two
    assert hash(one) == hash(two)
    assert pickle.loads(pickle.dumps(one)) == one  # noqa: S301  # made here
    assert len({one, two, ClassMetrics()}) == 2
    assert one != ClassMetrics()


def test_mappings_in_another_order_ask_for_the_same():
    one = ClassMetrics(prior={"a": 0.75, "b": 0.25})
    two = ClassMetrics(prior={"b": 0.25, "a": 0.75})
    assert one == two
    assert hash(one) == hash(two)
    assert one != ClassMetrics(prior={"b": 0.75, "a": 0.25})
    assert one != ClassMetrics(prior={"a": 0.75, "c": 0.25})


def test_figures_stay_what_they_were_when_what_was_passed_changes():
    prior, groups = {"a": 0.75, "b": 0.25}, {"land": ["a"], "sea": ["b"]}
    metrics = ClassMetrics(prior=prior, groups=groups)
    before = hash(metrics)
    prior["a"] = 0.5
    groups["land"].append("b")
    assert (metrics.prior["a"], metrics.groups["land"], hash(metrics)) == (0.75, ("a",), before)
    np.testing.assert_array_equal(metrics.prior_of(["b", "a"]), [0.25, 0.75])


def test_a_prior_by_name_is_that_by_position():
    loglik, label = trials()
    by_name = evaluate_classes(loglik, label, classes=CLASSES, prior=dict(zip(CLASSES, (0.5, 0.25, 0.25), strict=True)))
    assert by_name == evaluate_classes(loglik, label, classes=CLASSES, prior=(0.5, 0.25, 0.25))
