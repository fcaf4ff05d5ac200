"""Comparisons of several systems: pairs, Holm's correction, regression gates, JSON and tables."""

import dataclasses
import json

import jsonschema
import numpy as np
import pytest

import deciban
from deciban.analysis.compared import PairedUnits, holm
from deciban.analysis.comparison import compare_results, rows_of
from deciban.analysis.differences import curve_differences
from deciban.errors import InputError
from deciban.evaluation import Results

SPEAKERS = 50


def evaluation(name, slope, offset=0.0, seed=1, **options):
    """A system of trials that are the same for all."""
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(SPEAKERS), 4)
    common = rng.normal(size=(2, len(unit)))
    own = np.random.default_rng([seed, *name.encode()]).normal(size=(2, len(unit)))
    tar, non = slope * (common + 0.5 * own + np.array([[2.0], [-2.0]])) + offset
    options = {"tar_units": unit, "non_units": unit, **options}
    return deciban.evaluation.evaluate(tar, non, name=name, **options)


@pytest.fixture(scope="module")
def three():
    return [evaluation("A", 1.0), evaluation("B", 1.0, 3.0), evaluation("C", 1.0)]


def test_all_pairs_or_all_against_one(three):
    results = Results(tuple(three))
    pairs = {
        against: [pair.names for pair in compare_results(results, against=against).pairs]
        for against in ("all", "first", "B")
    }
    assert pairs == {
        "all": [("A", "B"), ("A", "C"), ("B", "C")],
        "first": [("A", "B"), ("A", "C")],
        "B": [("B", "A"), ("B", "C")],
    }


def test_p_values_are_corrected_for_all_pairs_of_a_figure(three):
    found = compare_results(Results(tuple(three)))
    for k, one in enumerate(found.pairs[0].metrics):
        rows = [pair.metrics[k] for pair in found.pairs]
        assert {row.metric for row in rows} == {one.metric}
        p_values = np.array([row.interval.p_value for row in rows])
        assert [row.holm for row in rows] == pytest.approx(holm(p_values).tolist())
    alone = compare_results(Results(tuple(three[:2]))).pairs[0].metrics
    assert all(row.holm == row.interval.p_value for row in alone)


def test_few_errors_are_noted_beside_differences():
    """Intervals of differences are as rough as those of the systems: in simulations they miss most with few errors."""
    systems = [evaluation("A", 2.0), evaluation("B", 1.5)]
    (note,) = (one for one in compare_results(Results(tuple(systems))).notes if "uncertain" in one)
    words = "whatever the prior, the best threshold gives fewer than 30 misses or fewer than 30 false alarms."
    assert note == f"EER, minDCF, min Cllr and AUC are uncertain: {words}"
    assert note in systems[0].notes


def test_losses_that_may_be_0_are_noted_beside_their_differences():
    """In simulations, intervals of these differences hold the true one in up to 100 % of draws (docs/coverage.md)."""
    calibrated = 3.2  # 4 between the means, and a variance of 1.25
    systems = [evaluation("A", calibrated), evaluation("B", calibrated, 3.0), evaluation("C", calibrated)]
    (note,) = (one for one in compare_results(Results(tuple(systems))).notes if "calibration losses" in one)
    words = "The intervals of the calibration losses of A, C contain 0"
    assert note == f"{words}: intervals of their differences may then be too wide."
    for pair in (systems[:2], systems[1:]):
        assert not any("calibration losses" in one for one in compare_results(Results(tuple(pair))).notes)


def test_differences_are_first_minus_second(three):
    found = deciban.compare(*three)
    for metric, of in (("eer", "eer"), ("cllr", "cllr"), ("min_dcf", "min_dcf"), ("auc", "auc")):
        assert found.difference(metric).estimate == getattr(three[0], of) - getattr(three[1], of)
        back = found.difference(metric, "B", "A")
        assert back.estimate == -found.difference(metric).estimate
        assert (back.low, back.high) == pytest.approx((-found.difference(metric).high, -found.difference(metric).low))
    assert found.difference("cllr", "A", "C", level=0.5).level == 0.5
    wide, narrow = (found.difference("cllr", level=level) for level in (0.99, 0.5))
    assert wide.low < narrow.low < narrow.high < wide.high


def test_corrected_is_told_but_not_the_middle(three):
    found = deciban.compare(*three)
    one = found.difference("min_cllr")
    a, b = (system.uncertainty.estimates["min_cllr"] for system in three[:2])
    assert one.corrected == a.corrected - b.corrected
    assert (one.low + one.high) / 2 == pytest.approx(one.estimate)


def test_pairing_makes_intervals_narrower(three):
    apart = evaluation("D", 1.0, seed=2)
    paired, single = deciban.compare(three[0], three[2]), deciban.compare(three[0], apart)
    assert paired.difference("cllr").standard_error < 0.7 * np.hypot(
        *(one.uncertainty.estimates["cllr"].standard_error for one in (three[0], apart))
    )
    assert not [one for one in single.notes if "units" in one]  # the same speakers, of other trials


def test_worse_is_beyond_the_margin_and_beyond_doubt(three):
    found = deciban.compare(*three)
    loss = found.difference("cllr", "B", "A").estimate
    assert loss > 0.2
    (said,) = found.worse("cllr")
    assert said.startswith("B is significantly worse than A: Cllr, B \N{MINUS SIGN} A, +")
    (said,) = found.worse("cllr", loss - 1e-6)
    assert "more than the margin" in said
    assert found.worse("cllr", loss + 1e-6) == ()
    assert deciban.compare(three[1], three[0]).worse("cllr") == ()
    close = deciban.compare(three[0], evaluation("A2", 1.0, 0.01))
    assert not close.difference("eer").low > 0
    assert close.worse("eer") == ()


def test_larger_auc_is_better():
    good = evaluation("good", 1.0)
    rng = np.random.default_rng(0)
    unit = np.repeat(np.arange(SPEAKERS), 4)
    bad = deciban.evaluation.evaluate(*rng.normal(size=(2, 200)), name="bad", tar_units=unit, non_units=unit)
    assert deciban.compare(good, bad).worse("auc")
    assert deciban.compare(bad, good).worse("auc") == ()
    assert deciban.compare(bad, good).worse("eer") == ()
    (pair,) = deciban.compare(good, bad).pairs
    assert {one.better for one in pair.metrics if one.metric in ("auc", "eer", "min_cllr")} == {0}
    assert pair.sentences[0].startswith("good is significantly better in EER")


@pytest.mark.parametrize("margin", [-0.1, float("nan"), float("inf"), "0.1", True])
def test_margins_that_are_none(three, margin):
    with pytest.raises(InputError, match="margin"):
        deciban.compare(*three).worse("eer", margin)


def test_points_are_told_apart():
    points = {"operating_points": [0.01, (0.05, 10, 1)]}
    found = deciban.compare(evaluation("A", 1.0, **points), evaluation("B", 0.5, **points))
    words = [one.words for one in found.pairs[0].metrics]
    assert "minDCF at p_target 0.05, costs 10:1" in words
    assert "mean minDCF" in words
    assert found.difference("act_dcf@2") == found.difference(("act_dcf", 1))
    assert found.difference("act_dcf") == found.difference(("act_dcf", 0)) != found.difference(("act_dcf", 1))
    with pytest.raises(InputError, match="'act_dcf@3' needs more than 2 operating points"):
        found.difference("act_dcf@3")
    for wrong in ("act_dcf@0", "nothing", "eer@2"):
        with pytest.raises(InputError, match="is not a metric of A"):
            found.difference(wrong)


def test_other_points_are_other_figures(three):
    other = evaluation("D", 1.0, operating_points=[0.1])
    with pytest.raises(InputError, match=r"p_target 0\.01.*p_target 0\.1.*same operating points"):
        deciban.compare(three[0], other)


@pytest.mark.filterwarnings("ignore:invalid value encountered")
def test_infinite_figures_have_no_difference(three):
    unit = np.repeat(np.arange(SPEAKERS), 4)
    rng = np.random.default_rng(0)
    tar = rng.normal(2.0, 1.0, 200)
    tar[0] = -np.inf
    one = deciban.evaluation.evaluate(tar, rng.normal(-2, 1, 200), name="inf", tar_units=unit, non_units=unit)
    found = deciban.compare(three[0], one)
    assert "cllr" not in {row.metric for row in found.pairs[0].metrics}
    assert "min_cllr" in {row.metric for row in found.pairs[0].metrics}
    assert any("Cllr of inf, calibration loss of inf: infinite" in note for note in found.notes)
    with pytest.raises(InputError, match="infinite"):
        found.difference("cllr")
    assert found.worse("cllr", 100.0) == ("inf is worse than A: Cllr is infinite",)
    assert deciban.compare(one, three[0]).worse("cllr") == ()
    assert deciban.compare(one, one).worse("cllr") == ()


def test_what_cannot_be_compared(three):
    no_units = deciban.evaluate([1.0, 2.0], [0.0, 1.5], intervals=False)
    many = deciban.evaluate_classes([[1.0, 0.0], [0.0, 1.0]], [0, 1], intervals=False)
    for given, words in (
        ((three[0],), "needs two systems"),
        ((three[0], no_units), "no intervals, because the units of the trials"),
        ((no_units, many), "are unknown"),
        ((three[0], 3), "system 2: got int"),
        ((Results((three[0],)),), "got 1 system"),
        ((np.zeros(3),), "data frame"),
    ):
        with pytest.raises(InputError, match=words):
            deciban.compare(*given)
    with pytest.raises(InputError, match="names"):
        deciban.compare(*three, names=["one"])
    with pytest.raises(InputError, match="need different names"):
        deciban.compare(*three, names=["one", "one", "two"])
    with pytest.raises(InputError, match="against: got 'D'"):
        deciban.compare(*three, against="D")
    with pytest.raises(InputError, match="permutations"):
        deciban.compare(*three, permutations=-1)
    with pytest.raises(InputError, match="the arguments are evaluations"):
        deciban.compare(*three, operating_points=[0.1])
    with pytest.raises(InputError, match="no system 'Z'"):
        deciban.compare(*three).difference("eer", "A", "Z")


def test_json_and_tables(three):
    found = deciban.compare(*three, permutations=19, seed=5)
    made = json.loads(found.to_json())
    assert (made["permutations"], made["seed"], made["units"]["n"]) == (19, 5, SPEAKERS)
    rows = made["pairs"][0]["figures"]
    assert [row["figure"] for row in rows][:2] == ["eer", "min_dcf@1"]
    common = deciban.json_schemas()["compare"]["$defs"]["common"]["$defs"]
    schema = {**common["comparison"]["properties"]["pairs"], "$defs": common}
    jsonschema.Draft202012Validator(schema).validate(made["pairs"])
    text = found.table()
    assert "p-value by 19 exchanges of the systems by unit, seed 5" in text
    assert "A \N{MINUS SIGN} B" in text
    frame = found.to_arrow().to_pylist()
    assert {row["first_system"] for row in frame} == {"A", "B"}
    assert frame[0]["name"] == "eer"
    assert frame[0]["difference"] == found.difference("eer").estimate
    assert "3 pairs" not in repr(found)
    assert "A \N{MINUS SIGN} B" in repr(found)


def test_training_against_test_is_of_other_units():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(2, 2, 200)) + np.array([[[2.0], [-2.0]]])
    one, other = (
        deciban.evaluation.evaluate(*part, name=name, tar_units=units, non_units=units)
        for part, name, units in zip(
            scores, ("training", "test"), (np.arange(200) // 4, 1000 + np.arange(200) // 4), strict=True
        )
    )
    found = deciban.compare(one, other)
    (note,) = (one for one in found.notes if "unit" in one)
    assert note == "training \N{MINUS SIGN} test: the systems share no unit; the others count as independent."
    assert found.pairs[0].n_shared == 0


def test_many_classes_are_compared_by_the_same_names_and_curves():
    """C_avg of the curve differs like C_avg at a point, and an error rate like two rates of discordant segments."""
    rng = np.random.default_rng(3)
    label = np.arange(240) % 3
    unit = np.arange(240) // 4
    common = rng.normal(size=(240, 3)) + 2.0 * np.eye(3)[label]
    scores = [common + 0.5 * rng.normal(size=(240, 3)), common + rng.normal(size=(240, 3))]
    how = {"units": unit, "optimism": False}
    plain = [
        deciban.evaluation.evaluate_classes(one, label, name=n, **how) for one, n in zip(scores, "AB", strict=True)
    ]
    (curve,) = deciban.compare(*plain).pairs[0].curves
    k = 8
    p_target = 1.0 / (1.0 + np.exp(-curve.log_odds[k]))
    at = [
        deciban.evaluation.evaluate_classes(x, label, name=n, p_target=p_target, **how)
        for x, n in zip(scores, "AB", strict=True)
    ]
    found = deciban.compare(*at)
    one = found.difference("c_avg")
    assert curve.curve == "c_avg"
    assert curve.difference[k] == pytest.approx(one.estimate, abs=1e-12)
    assert curve.standard_error[k] == pytest.approx(one.standard_error, rel=1e-9)
    wrong = [x.argmax(axis=1) != label for x in scores]
    differs = wrong[0].astype(float) - wrong[1]
    centred = differs - np.array([differs[label == c].mean() for c in range(3)])[label]
    by_unit = np.bincount(unit, centred) / 240
    error = found.difference("error_rate")
    assert error.estimate == pytest.approx(differs.mean())
    # The jackknife factors of units, which have one or two of the 80 segments of a class, are below 2 %.
    assert error.standard_error == pytest.approx(np.sqrt(60 / 59 * np.sum(by_unit**2)), rel=0.02)
    few = [str(c) for c in range(3) if min(np.sum(x[label == c]) for x in wrong) < 30]
    classes = ", ".join(f"'{one}'" for one in few)
    words = f"At least one system has fewer than 30 errors in classes {classes}: intervals of differences of min C_avg"
    assert len(few) > 1
    assert f"{words} may then be too wide." in found.notes


def test_an_infinite_figure_leaves_out_its_pairs_alone():
    """Cllr of one of three systems is infinite: the other two have their difference, as if compared alone."""
    rng = np.random.default_rng(5)
    unit = np.repeat(np.arange(30), 4)
    made = {name: (rng.normal(d, 1, 120), rng.normal(-d, 1, 120)) for name, d in (("A", 1.0), ("B", 2.0), ("C", 1.5))}
    made["A"][0][0] = -np.inf
    how = {"tar_units": unit, "non_units": unit}
    found = deciban.compare(*made.values(), names=[*made], **how)
    alone = deciban.compare(made["B"], made["C"], names=["B", "C"], **how)
    by_pair = {pair.names: {one.name: one for one in pair.metrics} for pair in found.pairs}
    for pair, known in by_pair.items():
        assert ("cllr" in known) == ("calibration_loss" in known) == ("A" not in pair)
        assert {"eer", "min_cllr"} <= {*known}
    (expected,) = [one for one in alone.pairs[0].metrics if one.name == "cllr"]
    assert by_pair["B", "C"]["cllr"].interval == expected.interval
    assert by_pair["B", "C"]["cllr"].holm == expected.interval.p_value
    assert any("Cllr of A" in note and "infinite" in note for note in found.notes)
    rows = [row[:3] for row in rows_of(found)]
    assert ("Cllr", "B", "C") in rows
    assert ("Cllr", "A", "B") not in rows
    shown = deciban.plots.forest(found)
    assert "Cllr" in [text.get_text() for text in shown.get_yticklabels()]
    named = deciban.plots.forest(found, metric="cllr")
    assert [text.get_text() for text in named.get_yticklabels()] == list(map(str, alone.pairs))


def test_systems_without_intervals_are_not_compared():
    """Targets of three speakers: no difference of a metric has an interval, and no band of a curve is drawn."""
    rng, unit = np.random.default_rng(0), np.arange(60)
    units = {"tar_units": unit % 3, "non_units": unit % 20}
    few = [deciban.evaluation.evaluate(*rng.normal(size=(2, 60)), name=name, **units) for name in ("few", "fewer")]
    with pytest.raises(
        InputError,
        match="no differences, because no metric has a confidence interval in both systems.* 3 effective units",
    ):
        deciban.compare(*few)
    paired = PairedUnits.of(*(one.uncertainty for one in few))
    assert curve_differences([paired], [("few", "fewer")], 0.95) == [()]


def test_figures_of_ranks_do_not_differ_between_a_system_and_a_map_of_it():
    """The least cost of this system has no false alarm, so that the limits of both would make a wide interval."""
    systems = [evaluation("A", 1.0), evaluation("A", 2.0, 1.0)]
    one, other = systems[0], dataclasses.replace(systems[1], name="B")
    pair = compare_results(Results((one, other))).pairs[0]
    found = {row.name: (row.interval.low, row.interval.high, row.interval.p_value) for row in pair.metrics}
    assert {name: found[name] for name in ("eer", "min_dcf@1", "min_cllr", "auc")} == dict.fromkeys(
        ("eer", "min_dcf@1", "min_cllr", "auc"), (0.0, 0.0, 1.0)
    )
    assert found["cllr"][0] < found["cllr"][1]
    assert sum("same order" in words for words in pair.sentences) == 1


def test_systems_without_an_error_are_not_known_to_have_the_same_ranks():
    """Each may make an error that the other does not."""
    unit = np.repeat(np.arange(SPEAKERS), 4)
    rng = np.random.default_rng(4)
    one, other = (
        deciban.evaluation.evaluate(
            rng.uniform(2.0, 9.0, len(unit)),
            rng.uniform(-9.0, -2.0, len(unit)),
            name=name,
            tar_units=unit,
            non_units=unit,
        )
        for name in "AB"
    )
    pair = compare_results(Results((one, other))).pairs[0]
    found = {row.name: row.interval for row in pair.metrics}
    assert found["min_dcf@1"].low < 0.0 < found["min_dcf@1"].high
    assert not pair.same_ranks


@pytest.mark.parametrize("n_units", [60, None], ids=["speakers", "trials"])
def test_scores_on_another_scale_have_the_same_ranks(n_units):
    """Influences are computed in bins of scores, which depend on the scale; differences of ranks are 0 all the same."""
    rng = np.random.default_rng(3)
    tar, non = rng.normal(4.0, 3.0, 600), rng.normal(-4.0, 3.0, 6000)
    units = {"tar_units": np.arange(600), "non_units": np.arange(600, 6600)}
    if n_units is not None:
        units = {"tar_units": rng.integers(0, n_units, 600), "non_units": rng.integers(0, n_units, 6000)}
    systems = [
        deciban.evaluate(tar * scale + offset, non * scale + offset, name=name, **units)
        for name, scale, offset in (("A", 1.0, 0.0), ("B", 0.437577, -1.67048))
    ]
    found = compare_results(Results(tuple(systems)))
    for metric in ("auc", "eer", "min_cllr", ("min_dcf", 0)):
        one = found.difference(metric, "A", "B")
        assert (one.estimate, one.low, one.high, one.p_value) == (0.0, 0.0, 0.0, 1.0)
    assert found.difference("cllr", "A", "B").low != 0.0
    for metric in ("eer", ("min_dcf", 0)):
        one, other = (system.interval(metric) for system in systems)
        assert (one.low, one.high, one.corrected) == pytest.approx((other.low, other.high, other.corrected), rel=1e-9)


def test_neighbours_that_change_places_are_other_ranks():
    """Influences on AUC are nearly the same, but the systems miss other targets."""
    rng = np.random.default_rng(8)
    tar, non = np.sort(rng.normal(2.0, 2.0, 5000)), rng.normal(-2.0, 2.0, 5000)
    at = np.searchsorted(tar, np.quantile(non, 0.86)) + np.arange(-30, 30)
    other = tar.copy()
    other[at] = other[at[::-1]]
    units = {"tar_units": np.arange(5000), "non_units": np.arange(5000, 10_000)}
    systems = [deciban.evaluate(own, non, name=name, **units) for name, own in (("A", tar), ("B", other))]
    assert not compare_results(Results(tuple(systems))).pairs[0].same_ranks


def test_the_same_scores_of_other_trials_are_other_ranks():
    """All metrics are equal, but the systems confuse other trials."""
    rng = np.random.default_rng(3)
    tar, non = rng.normal(2.0, 2.0, 300), rng.normal(-2.0, 2.0, 3000)
    units = {"tar_units": np.arange(300), "non_units": np.arange(300, 3300)}
    systems = [
        deciban.evaluate(tar[order], non, name=name, **units)
        for name, order in zip("AB", (slice(None), slice(None, None, -1)), strict=True)
    ]
    found = compare_results(Results(tuple(systems)))
    assert not found.pairs[0].same_ranks
    for metric in ("auc", "eer", "min_cllr"):
        one = found.difference(metric, "A", "B")
        assert one.estimate == 0.0
        assert one.low < 0.0 < one.high
