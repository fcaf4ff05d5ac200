"""What the scripts of a page know of conditions is what evaluations by condition say."""

import itertools

import numpy as np
import pytest

import deciban
from deciban.evaluation.at_priors import AtPriors
from deciban.report.live_conditions import condition_data

COLORS = ["#0072B2", "#D55E00"]


@pytest.fixture(scope="module")
def results():
    rng = np.random.default_rng(3)
    label = np.arange(400) % 4 == 0
    frame = {
        "label": label,
        "sex": np.where(np.arange(400) < 150, "f", "m"),
        "line": (["mic", "tel", "tel"] * 134)[:400],
    }
    frame["line"][:4] = ["sat"] * 4
    label[:4] = False
    frame |= {name: np.round(rng.normal(np.where(label, d, -d), 2), 1) for name, d in (("A", 1), ("B", 2))}
    frame["minutes"] = np.arange(400.0)
    return deciban.evaluate(frame, score=["A", "B"], by=["sex", "line", "minutes:100"])


@pytest.fixture(scope="module")
def known(results):
    return condition_data(results, COLORS, grid_of(results))


def grid_of(results):
    at = results.systems[0].at_priors
    assert isinstance(at, AtPriors)
    return at.log_odds


def summed(steps):
    return list(itertools.accumulate(int(step or 0) for step in steps.split(",")))


def test_counts_and_least_costs_are_those_of_the_condition(results, known):
    grid = grid_of(results)
    seen = 0
    for k, part in enumerate(results.conditions[0].partitions):
        for at, same in enumerate(part.conditions):
            (row,) = [one for one in known["rows"] if one["name"] == same.name]
            if same.found is None:
                continue
            for j, packed in enumerate(known["sets"][row["set"]]["systems"]):
                one = results.conditions[j].partitions[k].conditions[at].found
                assert summed(packed["n_miss"]) == one.at_priors.n_miss.tolist()
                assert summed(packed["n_fa"]) == one.at_priors.n_fa.tolist()
                misses, false_alarms = (np.array(summed(steps)) for steps in packed["least"])
                rates = (misses / one.n_tar, false_alarms / one.n_non)
                costs = np.where(grid <= 0, rates[0] + known["heavy"] * rates[1], rates[1] + known["heavy"] * rates[0])
                assert costs == pytest.approx(one.at_priors.min_dcf, rel=1e-14)
                assert row["figures"]["eer"][j] == one.eer
                assert row["figures"]["cllr"][j] == one.cllr
                seen += 1
    assert seen == 12


def test_a_condition_without_a_class_says_why_it_cannot_be_chosen(known):
    (row,) = [one for one in known["rows"] if one["name"] == "line sat"]
    assert row["why_none"] == "no targets (4 non-targets)"
    assert row["set"] is None
    assert row["figures"]["eer"] == [None, None]


def test_options_choose_the_same_trials_where_there_are_some(known):
    where = {row["name"]: row["where"] for row in known["rows"]}
    assert where["sex f"] == ["sex=f"]
    assert [where[name] for name in where if name.startswith("minutes") or "≥" in name] == [None, None]


def test_where_room_is_short_the_largest_conditions_stay(results):
    whole = condition_data(results, COLORS, grid_of(results))
    some = condition_data(results, COLORS, grid_of(results), room=40_000)
    trials = {row["name"]: sum(row["trials"].values()) for row in whole["rows"]}
    kept = [trials[row["name"]] for row in some["rows"] if row["set"] is not None]
    left = [trials[row["name"]] for row in some["rows"] if row["set"] is None and not row["why_none"]]
    assert left
    assert min(kept) >= max(left)
    none = condition_data(results, COLORS, grid_of(results), room=0)
    assert [row["set"] for row in none["rows"]] == [None] * len(whole["rows"])
    assert none["sets"] == []


def test_results_without_conditions_have_none():
    one = deciban.evaluate([1.0, 2.0], [0.0])
    results = deciban.evaluation.Results((one,))
    assert condition_data(results, COLORS, grid_of(results)) is None
