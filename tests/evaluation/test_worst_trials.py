"""Which trials mislead most: in any order of rows, with ties and infinite scores, of two classes as of many."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.evaluation.breakdowns import WorstTrial, WorstTrials, headings_of, rows_of, true_llrs, worst_trials

SCORES = st.sampled_from([-math.inf, -2.0, -1.0, 0.0, 0.5, 3.0, math.inf])


def found(loglik, truth, most, classes, **more):
    loglik = np.asarray(loglik, float)
    return worst_trials(
        loglik, np.asarray(truth), most=most, classes=classes, names_of=lambda row: (f"t{row:02d}",), **more
    )


@given(st.lists(st.tuples(SCORES, st.booleans()), min_size=1, max_size=12), st.integers(1, 5), st.randoms())
def test_no_trial_that_is_left_out_is_worse_and_order_does_not_matter(rows, most, random):
    llr, is_target = (np.array(part) for part in zip(*rows, strict=True))
    own = np.where(is_target, llr, -llr)
    shuffled = list(range(len(rows)))
    random.shuffle(shuffled)
    names = {new: (f"t{old:02d}",) for new, old in enumerate(shuffled)}
    kept = worst_trials(
        np.column_stack([llr, np.zeros(len(llr))])[shuffled],
        np.where(is_target, 0, 1)[shuffled],
        most=most,
        classes=("target", "non-target"),
        names_of=names.__getitem__,
    )
    expected = []
    for side, truth in ((True, "target"), (False, "non-target")):
        places = sorted(np.flatnonzero(is_target == side), key=lambda k: (own[k], k))[:most]
        expected += [(f"t{k:02d}", truth, own[k]) for k in places]
    assert [(one.names[0], one.truth, one.llr) for one in kept] == expected


def test_cost_is_that_of_the_posterior_at_the_flat_prior():
    loglik = np.array([[1.0, 3.0, 0.0], [2.0, 2.0, -1.0], [0.0, -math.inf, 4.0]])
    kept = found(loglik, [0, 1, 0], 3, ("a", "b", "c"))
    posterior = np.exp(loglik) / np.exp(loglik).sum(axis=1, keepdims=True)
    costs = {"t00": -math.log2(posterior[0, 0]), "t01": -math.log2(posterior[1, 1]), "t02": -math.log2(posterior[2, 0])}
    assert {one.names[0]: one.cost for one in kept} == pytest.approx(costs)
    assert [one.cost for one in kept] == sorted((one.cost for one in kept), reverse=True)
    assert {one.names[0]: one.taken_for for one in kept} == {"t00": "b", "t01": "a", "t02": "c"}


def test_certainty_in_another_class_costs_everything():
    (one,) = found([[0.0, math.inf]], [0], 1, ("target", "non-target"))
    assert (one.llr, one.cost, one.taken_for) == (-math.inf, math.inf, "non-target")


def test_trials_that_do_not_count_are_no_bad_ones():
    kept = found([[-9.0, 0], [1.0, 0], [2.0, 0]], [0, 0, 0], 2, ("t", "n"), counting=np.array([False, True, True]))
    assert [one.names for one in kept] == [("t01",), ("t02",)]


def test_two_classes_are_many_with_two():
    llr, truth = np.array([2.0, -1.0, 0.5]), np.array([0, 0, 1])
    assert true_llrs(np.column_stack([llr, np.zeros(3)]), truth).tolist() == [2.0, -1.0, -0.5]


def test_tables_name_the_other_class_where_there_are_several():
    one = WorstTrials("A", ("enroll", "test"), (WorstTrial(("x", "y"), "eng", "fra", -1.5, 2.0),))
    assert headings_of(one, ("eng", "fra")) == ["enroll", "test", "class", "taken for", "llr", "cost"]
    assert rows_of(one, ("eng", "fra"), str) == [("x", "y", "eng", "fra", "-1.5", "2.0")]
    of_two = WorstTrials(
        "A", ("test",), (WorstTrial(("x",), "target", "", -1.5, 2.0), WorstTrial(("y",), "non", "", -3.0, 4.0))
    )
    assert rows_of(of_two, (), str) == [("x", "target", "-1.5", "2.0"), ("y", "non", "3.0", "4.0")]  # as in files
    (row,) = one.to_dict()["worst_trials"]
    assert row == {"names": {"enroll": "x", "test": "y"}, "class": "eng", "taken_for": "fra", "llr": -1.5, "cost": 2.0}


def test_ratios_are_listed_in_log10_if_the_axis_is():
    one = WorstTrials("A", ("trial",), (WorstTrial(("x",), "target", "", -math.log(10.0), 2.0),))
    assert headings_of(one, (), "log10") == ["trial", "class", "log10 LR", "cost"]
    assert rows_of(one, (), str, "log10") == [("x", "target", "-1.0", "2.0")]
