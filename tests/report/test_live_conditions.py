"""What the scripts of a page know of conditions is what evaluations by condition say."""

import numpy as np
import pytest

import deciban
from deciban.evaluation.bands import band_of
from deciban.evaluation.curves import AtPriors
from deciban.report.live import condition_data

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


def test_numbers_are_those_of_the_condition(results, known):
    seen = 0
    for k, part in enumerate(results.conditions[0].partitions):
        for at, same in enumerate(part.conditions):
            (row,) = [one for one in known["rows"] if one["name"] == same.name]
            if same.evaluation is None:
                continue
            for j, found in enumerate(known["sets"][row["set"]]["systems"]):
                one = results.conditions[j].partitions[k].conditions[at].evaluation
                assert found["color"] == COLORS[j]
                assert found["n_miss"] == one.at_priors.n_miss.tolist()
                assert found["n_fa"] == one.at_priors.n_fa.tolist()
                assert found["act_dcf"] == pytest.approx(one.at_priors.act_dcf, rel=1e-8)
                assert found["min_dcf"] == pytest.approx(one.at_priors.min_dcf, rel=1e-8)
                assert found["exact"]["steps"]["n_fa"] == one.n_non
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


def test_intervals_are_those_of_the_condition(sure):
    grid, known = grid_of(sure), condition_data(sure, COLORS[:1], grid_of(sure))
    for row, condition in zip(known["rows"], sure.conditions[0].partitions[0].conditions, strict=True):
        (system,), one = known["sets"][row["set"]]["systems"], condition.evaluation
        for k, point in enumerate(one.operating_points):
            at = int(np.argmin(np.abs(grid + point.threshold)))
            for name in ("p_miss", "p_fa"):
                interval = one.interval((name, k))
                ends = [end[at] for end in system["interval"][name]]
                assert ends == pytest.approx([interval.low, interval.high], rel=1e-4)


def test_bands_are_those_of_the_condition(sure):
    grid, known = grid_of(sure), condition_data(sure, COLORS[:1], grid_of(sure))
    one, (system,) = sure.conditions[0].partitions[0].conditions[0].evaluation, known["sets"][0]["systems"]
    for name in ("act_error", "min_error"):
        low, high = band_of(one, name, getattr(one.curves, name))
        for end, whole in zip(system["curves"][name], (low, high), strict=True):
            assert end == pytest.approx(np.interp(grid, one.curves.prior_log_odds, whole), rel=6e-4)
    curves = system["curves"]
    sides = [*curves["hull"]["band"], curves["entropy"]["act_cross_entropy_band"], curves["levels"]["tar_band"]]
    lengths = [len(curves["hull"]["x"])] * 2 + [len(curves[name]["x"]) for name in ("entropy", "levels")]
    for (low, high), n in zip(sides, lengths, strict=True):
        assert (len(low), len(high)) == (n, n)
    assert curves["pav"]["band"] is not None


def test_where_room_is_short_bands_go_first_then_conditions(sure):
    found = {}
    for room in range(4_000, 40_000, 1_000):
        known = condition_data(sure, COLORS[:1], grid_of(sure), room=room)
        for one in known["sets"]:
            (system,) = one["systems"]
            has_bands = "act_error" in system["curves"]
            assert has_bands == bool(system["interval"]) == (system["curves"]["pav"]["band"] is not None)
            found.setdefault(known["about"], set()).add((len(known["sets"]), has_bands))
    most, least = sorted(found, key=len)
    assert found[most] == {(2, True)}
    assert found[least] == {(1, False), (2, False)}
    assert "no bands" in least


def test_without_units_nothing_is_said_to_be_lacking(known):
    assert known["about"] == "Charts have fewer points than those of all trials."
    assert all(system["interval"] == {} for one in known["sets"] for system in one["systems"])
