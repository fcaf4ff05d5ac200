"""What a pilot says: standard errors against those of evaluations, and what tells segments and crossed designs."""

import numpy as np
import pytest

from deciban.analysis.pilots import pilot_of_evaluations, pilot_of_trials, size_in_words
from deciban.core.resampling.units import together
from deciban.errors import InputError
from deciban.evaluation import TwoClassMetrics, evaluate


def crossed(seed, n=40, n_segments=3):
    """All models against all segments: scores, truth, units and names of both sides."""
    rng = np.random.default_rng(seed)
    model, test, at = (one.ravel() for one in np.indices((n, n, n_segments)))
    same = model == test
    effects = rng.normal(0, 0.7, (3, n))
    segment = rng.normal(0, 0.7, (n, n_segments))
    score = np.where(same, 2.5 + effects[0][model], -2.5 + effects[1][model] + effects[2][test])
    score += segment[test, at] + rng.normal(size=len(model))
    return score, same, np.stack((model, test), 1), np.stack((model, 10_000 + test * n_segments + at), 1)


def pilot(score, same, units, names=None, metric="cllr", **more):
    of_units = together([(units[same], "tar"), (units[~same], "non")])
    of_names = None if names is None else together([(names[same], "tar"), (names[~same], "non")])
    scores = [(one[same], one[~same]) for one in np.atleast_2d(score)]
    how = {"metrics": TwoClassMetrics([0.05]), "names": ["a", "b"][: len(scores)], "metric": metric}
    return pilot_of_trials(scores, tuple(of_units), None if names is None else tuple(of_names), **how | more)


def of_a_jackknife(score, same, units, metric):
    """How much larger standard errors are where non-targets lose both sides of a unit that is left out, 2 of 40."""
    tar, non = score[same], score[~same]
    costs = {
        "cllr": (np.logaddexp(0, -tar), np.logaddexp(0, non)),
        "act_dcf": (tar < np.log(19), 19 * (non >= np.log(19))),
        "auc": [np.searchsorted(np.sort(b), a) / len(b) for a, b in ((tar, non), (non, tar))],
    }
    of_tar, of_non = (one - np.mean(one) for one in costs[metric])
    of_tar = np.bincount(units[same][:, 0], of_tar / len(tar))
    of_non = sum(np.bincount(side, of_non / len(non)) for side in units[~same].T)
    sign = -1 if metric == "auc" else 1  # targets below non-targets are counted for these, above for the others
    whole, factor = of_tar + sign * of_non, (1 - 1 / 40) / (1 - 2 / 40)
    return np.linalg.norm(of_tar + sign * factor * of_non) / np.linalg.norm(whole)


@pytest.mark.parametrize("metric", ["eer", "cllr", "act_dcf", "min_dcf", "min_cllr", "auc"])
def test_the_standard_error_is_that_of_the_evaluation_but_for_what_is_counted_twice(metric):
    score, same, units, names = crossed(1)
    found = pilot(score, same, units, names, metric)
    whole = evaluate(
        score[same], score[~same], operating_points=[0.05], tar_units=units[same], non_units=units[~same]
    ).interval(metric)
    error = np.sqrt(sum(one.variance for one in found.components))
    # The jackknife counts what pairs and single trials add twice; here this is little. Minima vary as decisions do that
    # were made without a unit.
    assert found.growth * error == pytest.approx(whole.standard_error, rel=0.1)
    if whole.corrected is None:
        assert found.growth == pytest.approx(of_a_jackknife(score, same, units, metric), rel=1e-5)
    assert found.value == whole.estimate
    assert found.expected == (whole.corrected if whole.corrected is not None else whole.estimate)


def test_segments_and_crosses_are_found():
    score, same, units, names = crossed(2)
    found = pilot(score, same, units, names)
    assert (found.n_units, found.n_segments, found.both_sides, found.is_crossed) == (40, 3.0, False, True)
    assert set(found.levels) == {"unit", "segment", "pair", "trial of non-targets"}
    some = same | (np.random.default_rng(0).random(len(same)) < 0.2)
    found = pilot(score[some], same[some], units[some], names[some])
    assert (found.n_segments, found.is_crossed) == (3.0, False)
    found = pilot(score, same, units)  # nothing tells segments
    assert (found.n_segments, found.is_crossed) == (None, True)
    assert "segment" not in found.levels
    one_sided = pilot(score, same, units, names[:, 1])
    assert (one_sided.n_segments, one_sided.is_crossed) == (3.0, True)


def test_the_same_segments_may_be_on_both_sides():
    rng = np.random.default_rng(3)
    owner = np.repeat(np.arange(20), 4)
    first, second = np.triu_indices(80, 1)
    units, names = np.stack((owner[first], owner[second]), 1), np.stack((first, second), 1)
    same = units[:, 0] == units[:, 1]
    score = 4.0 * same - 2 + rng.normal(0, 0.7, 80)[first] + rng.normal(0, 0.7, 80)[second] + rng.normal(size=len(same))
    found = pilot(score, same, units, names)
    assert (found.n_units, found.n_segments, found.both_sides, found.is_crossed) == (20, 4.0, True, True)
    assert size_in_words(found, found.noun) == "20 units with 4 segments each, 120 target and 3,040 non-target trials"


def test_units_of_one_trial_have_no_segments():
    rng = np.random.default_rng(4)
    score, same = rng.normal(size=200) + 2 * (np.arange(200) < 100), np.arange(200) < 100
    found = pilot(score, same, np.arange(200))
    assert found.n_segments is None
    assert list(found.levels) == ["unit"]
    # Independent trials: the variance of a mean of each class.
    costs = [np.logaddexp(0, -score[same]), np.logaddexp(0, score[~same])]
    expected = sum(one.var(ddof=1) / 100 for one in costs) / (2 * np.log(2)) ** 2
    assert found.levels["unit"] == pytest.approx(expected, rel=1e-6)


def test_a_system_does_not_differ_from_itself():
    score, same, units, names = crossed(5)
    found = pilot(np.stack((score, score)), same, units, names)
    assert (found.value, found.scale, found.names) == (0.0, "identity", ("a", "b"))
    assert all(one.variance == 0.0 for one in found.components)
    assert found.spread is None


def test_pilots_of_evaluations_have_one_component():
    score, same, units, _ = crossed(6)
    found = [
        evaluate(one[same], one[~same], name=name, tar_units=units[same], non_units=units[~same])
        for name, one in (("a", score), ("b", score + 0.5 * np.random.default_rng(1).normal(size=len(score))))
    ]
    alone = pilot_of_evaluations(found[0], None, "cllr")
    assert alone.levels["unit"] == pytest.approx(found[0].interval("cllr").standard_error ** 2)
    assert (alone.n_tar, alone.n_non) == (120, 4680)
    both = pilot_of_evaluations(*found, "act_dcf@1")
    influence = np.subtract(*(one.uncertainty.influences["act_dcf", 0] for one in found))
    assert both.levels["unit"] == pytest.approx(np.square(influence).sum() * 40 / 39)
    others = list("vwxyz")
    other = evaluate([1.0, 2.0, 3.0, 4.0, 5.0], [0.0, 1.5, 0.5, 0.0, 2.5], tar_units=others, non_units=others)
    with pytest.raises(InputError, match="different units"):
        pilot_of_evaluations(found[0], other, "cllr")
    with pytest.raises(InputError, match="is not a metric of a"):
        pilot_of_evaluations(found[0], None, "loss")
    with pytest.raises(InputError, match="is unknown"):
        pilot_of_evaluations(evaluate([1.0], [0.0]), None, "cllr")
