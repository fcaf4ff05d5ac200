"""Bootstrap of the figures of two classes, against weighted evaluations, scipy, and linearised standard errors."""

import itertools

import numpy as np
import pytest
from scipy import stats

from deciban import metrics
from deciban.core.resampling.replicates import poisson_weights
from deciban.core.resampling.units import keys_of
from deciban.errors import InputError
from deciban.evaluation import TwoClassMetrics, evaluate, evaluation_of, merged, summarize
from deciban.evaluation.one_system import caption_of
from deciban.evaluation.uncertainty import Resampling

HELD = ("rates_at", "prbep", "eer_conventions")
"""Figures at thresholds that stay where they are, and such that count trials."""


def drawn(n_speakers=100, n_tar=600, n_non=6000, seed=0, *, sides=2):
    """Scores with effects of the speakers of both sides."""
    rng = np.random.default_rng(seed)
    names = np.array([f"speaker {k}" for k in range(n_speakers)])
    effect, tar_units = rng.normal(0.0, 0.8, n_speakers), rng.integers(0, n_speakers, n_tar)
    non_units = rng.integers(0, n_speakers, (n_non, sides))
    return {
        "tar": rng.normal(1.5, 1.2, n_tar) + effect[tar_units],
        "non": rng.normal(-1.5, 1.2, n_non) + effect[non_units].mean(axis=1),
        "tar_units": names[tar_units],
        "non_units": names[non_units] if sides > 1 else names[non_units[:, 0]],
    }


def weights_of(names, units, seed, replicate):
    """Weight of each trial in a replicate: of its unit, or the product of both."""
    known = dict(zip(names, poisson_weights(keys_of(names), seed, np.array([replicate]))[:, 0].tolist(), strict=True))
    sides = np.vectorize(known.get)(units).reshape(len(units), -1)
    rows = np.asarray(units).reshape(len(units), -1)
    return np.where(rows[:, 0] == rows[:, -1], sides[:, 0], sides[:, 0] * sides[:, -1])


def values_of(found):
    return found.uncertainty.bootstrap.values


def assert_same_replicates(one, other):
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=str(name))


@pytest.mark.parametrize("sides", [1, 2])
def test_replicates_are_evaluations_with_these_weights(sides):
    figures = TwoClassMetrics(
        [0.01, 0.5], eer_conventions=True, fnmr_at=0.1, at_thresholds={"x": 0.3}, posteriors_at=[0.2]
    )
    made = drawn(20, 60, 200, sides=sides)
    made["tar"], made["non"] = np.round(made["tar"], 1), np.round(made["non"], 1)  # ties
    made["non"][:2], made["tar"][:2] = -np.inf, np.inf
    found = evaluate(**made, operating_points=figures, bootstrap=25, seed=7)
    names, at = np.unique(np.concatenate((made["tar_units"], made["non_units"].ravel()))), 0
    scores = made["tar"], made["non"]
    for replicate in range(25):
        of_tar, of_non = (weights_of(names, made[one], 7, replicate) for one in ("tar_units", "non_units"))
        if not (of_tar.any() and of_non.any()):
            continue
        single = evaluate(*scores, tar_weights=of_tar, non_weights=of_non, operating_points=figures)
        known = evaluate(
            *scores, tar_weights=of_tar, non_weights=of_non, operating_points=figures, **units_of(made)
        ).uncertainty.estimates
        for name, values in values_of(found).items():  # the weights of a replicate may leave too few units
            if (name if isinstance(name, str) else name[0]) not in HELD and name in known:
                assert values[at] == pytest.approx(known[name].value, abs=1e-11), (name, replicate)
        assert values_of(found)["eer"][at] == pytest.approx(single.eer, abs=1e-11)
        at += 1
    assert at == len(values_of(found)["eer"]) == 25 - found.uncertainty.bootstrap.left_out


def units_of(made):
    return {name: made[name] for name in ("tar_units", "non_units")}


def test_cells_of_many_scores_round_next_to_nothing():
    made = drawn(60, 4000, 40_000)
    names = np.unique(made["tar_units"])
    found = values_of(evaluate(**made, bootstrap=10, seed=3))
    for replicate in range(10):
        weights = [weights_of(names, made[one], 3, replicate) for one in ("tar_units", "non_units")]
        single = evaluate(made["tar"], made["non"], tar_weights=weights[0], non_weights=weights[1])
        for name in ("eer", "auc", "cllr", "min_cllr", "min_dcf", "act_dcf"):
            value = found[name if name in found else (name, 0)][replicate]
            assert value == pytest.approx(getattr(single, name), rel=2e-3), name


def test_scipy_finds_the_same_spread_where_units_are_on_one_side():
    made = drawn(80, 320, 800, seed=3, sides=1)
    names = np.unique(np.concatenate((made["tar_units"], made["non_units"])))
    tar = [made["tar"][made["tar_units"] == name] for name in names]
    non = [made["non"][made["non_units"] == name] for name in names]

    def figures(chosen):
        one, other = (np.concatenate([some[k] for k in chosen]) for some in (tar, non))
        scores = metrics.SortedScores(one, other)
        return scores.rocch.eer(), metrics.cllr(one, other), metrics.auc(one, other)

    how = {"n_resamples": 1500, "vectorized": False, "method": "percentile", "rng": np.random.default_rng(1)}
    drawn_once = stats.bootstrap((np.arange(len(names)),), figures, **how)
    how |= {"n_resamples": 0, "bootstrap_result": drawn_once}
    found = evaluate(**made, bootstrap=3000, seed=2).uncertainty.bootstrap
    for (k, name), kind in itertools.product(enumerate(("eer", "cllr", "auc")), ("percentile", "basic")):
        wanted = stats.bootstrap((np.arange(len(names)),), figures, **how | {"method": kind})
        own, spread = found.interval(name, kind=kind), wanted.standard_error[k]
        assert own.standard_error == pytest.approx(spread, rel=0.08)
        assert own.low == pytest.approx(wanted.confidence_interval.low[k], abs=0.3 * spread)
        assert own.high == pytest.approx(wanted.confidence_interval.high[k], abs=0.3 * spread)


@pytest.mark.parametrize("sides", [1, 2])
def test_spread_is_that_of_the_linearised_form(sides):
    made = drawn(100, 1000, 20_000, seed=5, sides=sides)
    known = evaluate(**made, bootstrap=2000, seed=1, operating_points=[0.1]).uncertainty
    for name in ("eer", "auc", "cllr", "min_cllr", ("act_dcf", 0), ("min_dcf", 0), ("p_miss", 0)):
        ratio = known.bootstrap.interval(name).standard_error / known.linearised(name).standard_error
        assert 0.88 < ratio < 1.15, (name, ratio)


def test_neither_order_nor_names_of_other_units_nor_threads_nor_blocks_change_a_bit(monkeypatch):
    made = drawn(40, 300, 3000)
    wanted = values_of(evaluate(**made, bootstrap=300, seed=9))
    rng = np.random.default_rng(1)
    of_tar, of_non = rng.permutation(300), rng.permutation(3000)
    turned = {
        "tar": made["tar"][of_tar],
        "non": made["non"][of_non],
        "tar_units": made["tar_units"][of_tar],
        "non_units": made["non_units"][of_non][:, ::-1],
    }
    assert_same_replicates(values_of(evaluate(**turned, bootstrap=300, seed=9)), wanted)
    monkeypatch.setattr("deciban.core.resampling.replicates._THREADS", 1)
    assert_same_replicates(values_of(evaluate(**made, bootstrap=300, seed=9)), wanted)
    monkeypatch.setattr("deciban.core.resampling.replicates.BLOCK", 37)
    assert_same_replicates(values_of(evaluate(**made, bootstrap=300, seed=9)), wanted)
    few = values_of(evaluate(**made, bootstrap=7, seed=9))
    for name, values in few.items():
        np.testing.assert_array_equal(values, wanted[name][:7])
    other = values_of(evaluate(**made, bootstrap=300, seed=10))
    assert not np.array_equal(other["eer"], wanted["eer"])


def test_parts_of_the_data_are_the_data():
    made = drawn(40, 300, 3000)
    parts = [
        summarize(
            *(made[one][some] for one in ("tar", "non")), **{one: made[one][some] for one in ("tar_units", "non_units")}
        )
        for some in (slice(0, 100), slice(100, None))
    ]
    asked = Resampling(bootstrap=200, seed=4)
    assert_same_replicates(
        values_of(evaluation_of(merged(parts), resampling=asked)), values_of(evaluate(**made, bootstrap=200, seed=4))
    )


def test_a_weight_of_two_is_two_trials():
    made = drawn(30, 100, 400)
    tar_weights, non_weights = np.arange(100) % 3, np.arange(400) % 2 + 1
    weighted = evaluate(**made, tar_weights=tar_weights, non_weights=non_weights, bootstrap=100, seed=1)
    copies = {
        name: np.repeat(made[name], tar_weights if name.startswith("tar") else non_weights, axis=0) for name in made
    }
    copied = values_of(evaluate(**copies, bootstrap=100, seed=1))
    for name, values in values_of(weighted).items():
        np.testing.assert_allclose(values, copied[name], rtol=1e-9, atol=1e-12, err_msg=str(name))


def test_basic_intervals_mirror_the_others_and_stay_in_range():
    found = evaluate(**drawn(), operating_points=[0.2], bootstrap=400, seed=1)
    replicates = found.uncertainty.bootstrap
    for name in ("min_cllr", "p_fa"):
        value = found.uncertainty.linearised(name).estimate
        percentile, basic = (replicates.interval(name, kind=kind, level=0.9) for kind in ("percentile", "basic"))
        low, high = np.quantile(replicates.values[name if name == "min_cllr" else (name, 0)], [0.05, 0.95])
        assert (percentile.low, percentile.high) == (pytest.approx(low), pytest.approx(high))
        assert basic.low == pytest.approx(max(2 * value - high, 0.0))
        assert basic.high == pytest.approx(2 * value - low)
        assert percentile.method == "bootstrap, percentile"
        assert basic.method == "bootstrap, basic"


def test_minima_have_basic_intervals_unless_others_are_asked_for():
    found = evaluate(**drawn(), bootstrap=400, seed=1)
    minima = ("eer", "prbep", "min_cllr", "calibration_loss", "min_dcf", ("min_dcf", 0), "mean_min_dcf")
    others = ("auc", "cllr", "act_dcf", ("p_miss", 0), "mean_act_dcf")
    assert {found.interval(name).method for name in minima} == {"bootstrap, basic"}
    assert {found.interval(name).method for name in others} == {"bootstrap, percentile"}
    assert found.uncertainty.bootstrap.interval("eer", kind="percentile").method == "bootstrap, percentile"
    assert found.uncertainty.linearised("min_cllr").method == "linearised by unit"


def test_intervals_hold_the_least_cost_of_the_population():
    """Percentile intervals of min Cllr hold it in some 76 of 100 draws: minima are optimistic twice."""
    rng, hits = np.random.default_rng(8), np.zeros(2)
    large = drawn(5000, 20_000, 100_000, seed=1)
    population = evaluate(large["tar"], large["non"]).min_cllr
    for k in range(25):
        replicates = evaluate(**drawn(60, 200, 1000, rng.integers(2**32)), bootstrap=100, seed=k).uncertainty.bootstrap
        for at, kind in enumerate((None, "percentile")):
            interval = replicates.interval("min_cllr", kind=kind)
            hits[at] += interval.low <= population <= interval.high
    assert hits[0] >= 20
    assert hits[1] < hits[0]


def test_replicates_without_a_class_are_left_out_and_counted():
    made = drawn(12, 30, 200)
    made["tar_units"][:] = np.resize(["one", "two", "three", "four", "five"], 30)
    none = np.exp(-5)  # the probability that none of the five is drawn
    known = evaluate(**made, bootstrap=1000, seed=1).uncertainty
    assert known.bootstrap.left_out > 0
    assert known.bootstrap.left_out == pytest.approx(1000 * none, abs=4 * np.sqrt(1000 * none))
    assert all(len(values) == 1000 - known.bootstrap.left_out for values in known.bootstrap.values.values())
    assert any("no trial of some class and are left out" in note for note in known.notes)


def test_where_fewer_than_two_replicates_have_both_classes_intervals_stay_linearised():
    made = drawn(12, 30, 200)
    made["tar_units"][:] = np.resize(["one", "two", "three", "four", "five"], 30)
    keys = keys_of(np.unique(made["tar_units"]))
    seed = next(k for k in range(5000) if not poisson_weights(keys, k, np.arange(2)).any(axis=0).all())
    found = evaluate(**made, bootstrap=2, seed=seed)
    assert found.uncertainty.bootstrap.left_out >= 1
    assert not found.uncertainty.bootstrap.values
    assert found.interval("cllr") == found.uncertainty.linearised("cllr")
    assert any("intervals are linearised" in note for note in found.uncertainty.notes)


def test_errors_that_nobody_made_leave_the_linearised_interval():
    made = drawn(50, 100, 300)
    made["tar"] += 100.0
    found = evaluate(**made, bootstrap=100, seed=1)
    assert found.interval("auc").method == "rule of three"
    assert found.interval("eer").method == "Wilson limits by unit"
    for name in ("eer", "auc", "min_cllr", "min_dcf"):
        assert found.interval(name) == found.uncertainty.linearised(name)
        assert found.interval(name).low < found.interval(name).high


@pytest.mark.parametrize("kind", ["percentile", "basic"])
def test_an_interval_of_few_replicates_contains_its_metric(kind):
    found = evaluate(**drawn(20, 60, 200), bootstrap=2, seed=3).uncertainty.bootstrap
    for name in found.values:
        interval = found.interval(name, kind=kind)
        assert interval.low <= interval.estimate <= interval.high, name


def test_metrics_without_an_interval_have_no_replicates():
    made = drawn(12, 30, 200)
    made["tar_units"][:] = "one"
    known = evaluate(**made, bootstrap=20, seed=1).uncertainty
    assert known.bootstrap.values.keys() == known.estimates.keys()
    assert "eer" not in known.estimates


def test_few_replicates_are_called_rough():
    assert not [one for one in evaluate(**drawn(), bootstrap=400).uncertainty.notes if "rough" in one]
    notes = evaluate(**drawn(), bootstrap=100).uncertainty.notes
    assert [one for one in notes if "Bootstrap of 100 replicates" in one and "fewer than 400" in one]


def test_what_is_no_figure_kind_or_number_is_refused():
    made = drawn(20, 50, 100)
    replicates = evaluate(**made, bootstrap=50).uncertainty.bootstrap
    with pytest.raises(InputError, match="no interval for 'err'"):
        replicates.interval("err")
    with pytest.raises(InputError, match="kind: got 'bca'"):
        replicates.interval("eer", kind="bca")
    with pytest.raises(InputError, match="level"):
        replicates.interval("eer", level=1.0)
    with pytest.raises(InputError, match="bootstrap: got 1"):
        evaluate(**made, bootstrap=1)
    with pytest.raises(InputError, match="seed: got -1"):
        evaluate(**made, bootstrap=50, seed=-1)


def test_one_unit_has_no_bootstrap():
    made = drawn(20, 50, 100)
    made["tar_units"][:], made["non_units"][:] = "a", "a"
    assert evaluate(**made, bootstrap=50).uncertainty is None


def test_captions_and_json_tell_of_the_bootstrap():
    found = evaluate(**drawn(), bootstrap=400, seed=1)
    assert "; bootstrap" in caption_of([found])
    assert "basic" not in caption_of([found])
    assert found.to_dict()["bootstrap"] == {"seed": 1, "n_replicates": 400, "left_out": 0}
    assert found.to_dict()["intervals"]["eer"]["method"] == "bootstrap, basic"


def test_replicates_are_widened_by_errors_that_no_unit_shows():
    rng = np.random.default_rng(2)
    tar, non = rng.normal(3.0, 1.5, 200), np.minimum(rng.normal(-8.0, 2.0, 1000), 0.0)
    units = {"tar_units": np.arange(200), "non_units": np.arange(200, 1200)}
    found = evaluate(tar, non, operating_points=[0.01], bootstrap=400, **units)
    assert found.operating_points[0].p_fa == 0.0 < found.operating_points[0].p_miss
    square = stats.t(999).ppf(0.975) ** 2
    assert found.interval(("act_dcf", 0)).high > found.operating_points[0].act_dcf + 99 * square / (1000 + square)
