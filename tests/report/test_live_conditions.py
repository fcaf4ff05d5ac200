"""What the scripts of a page know of conditions is what evaluations by condition say."""

import itertools

import numpy as np
import pytest

import deciban
from deciban.evaluation.bands import band_of
from deciban.evaluation.curves import AtPriors
from deciban.report.conditions import condition_data

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
    return deciban.evaluate(frame, score=["A", "B"], by=["sex", "line", "minutes:100"], intervals=False)


@pytest.fixture(scope="module")
def known(results):
    return condition_data(results, COLORS, grid_of(results))


@pytest.fixture(scope="module")
def sure():
    """Results of trials with speakers, of two conditions."""
    rng = np.random.default_rng(5)
    speaker = np.arange(600) % 40
    label = np.arange(600) // 40 % 3 == 0
    frame = {"label": label, "speaker": speaker.astype(str), "sex": np.where(speaker % 2, "f", "m")}
    frame["A"] = rng.normal(np.where(label, 2, -2), 2) + rng.normal(size=40)[speaker]
    return deciban.evaluate(frame, score=["A"], by="sex", units="speaker", operating_points=[0.05, 0.5])


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


def percents(text):
    shown = list[float]()
    for one in text.split(","):
        shown.append(float(one) if one else shown[-1])
    return shown


def test_intervals_are_those_of_the_condition_to_the_digits_that_are_shown(sure):
    grid, known = grid_of(sure), condition_data(sure, COLORS[:1], grid_of(sure))
    for row, condition in zip(known["rows"], sure.conditions[0].partitions[0].conditions, strict=True):
        (system,), one = known["sets"][row["set"]]["systems"], condition.found
        for k, point in enumerate(one.operating_points):
            at = int(np.argmin(np.abs(grid + point.threshold)))
            for name in ("p_miss", "p_fa"):
                interval = one.interval((name, k))
                ends = [percents(end)[at] for end in system["interval"][name]]
                assert ends == pytest.approx([100 * interval.low, 100 * interval.high], abs=0.00501)


def test_bands_are_those_of_the_condition_at_places_of_the_grid(sure):
    grid, known = grid_of(sure), condition_data(sure, COLORS[:1], grid_of(sure))
    one, (system,) = sure.conditions[0].partitions[0].conditions[0].found, known["sets"][0]["systems"]
    places = np.array(known["places"])
    assert (places[0], places[-1]) == (0, len(grid) - 1)
    for name in ("act_error", "min_error"):
        low, high = band_of(one, name, getattr(one.curves, name))
        for end, whole in zip(system["curves"][name], (low, high), strict=True):
            expected = np.interp(grid[places], one.curves.prior_log_odds, whole)
            assert end == pytest.approx(expected, rel=6e-3)
    curves = system["curves"]
    sides = [*curves["hull"]["band"], curves["entropy"]["act_cross_entropy_band"], curves["levels"]["tar_band"]]
    lengths = [len(curves["hull"]["x"])] * 2 + [len(curves[name]["x"]) for name in ("entropy", "levels")]
    for (low, high), n in zip(sides, lengths, strict=True):
        assert (len(low), len(high)) == (n, n)
    assert curves["pav"]["band"] is not None


def test_where_room_is_short_bands_go_first_then_intervals_then_conditions(sure):
    found = {"": set()}
    for room in range(6_000, 60_000, 1_000):
        known = condition_data(sure, COLORS[:1], grid_of(sure), room=room)
        for one in known["sets"]:
            (system,) = one["systems"]
            has_bands, has_intervals = "act_error" in system["curves"], bool(system["interval"])
            about = known["about"].removesuffix(
                " For want of room numbers of a condition are those at the nearest of some 430 priors."
            )
            assert (about == known["about"]) == ("exact" in system)
            found.setdefault(about, set()).add((len(known["sets"]), has_bands, has_intervals))
            assert has_bands == (system["curves"]["pav"]["band"] is not None)
    del found[""]
    most, intervals_only, least = sorted(found, key=len)
    assert found[most] == {(2, True, True)}
    assert found[intervals_only] == {(2, False, True)}
    assert found[least] == {(1, False, False), (2, False, False)}
    assert "no bands" in intervals_only
    assert "intervals stand in the tables by condition" in least


def test_without_units_nothing_is_said_to_be_lacking(known):
    assert known["about"] == "Charts have fewer points than those of all trials."
    assert all(system["interval"] == {} for one in known["sets"] for system in one["systems"])
