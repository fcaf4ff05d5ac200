"""The hull over several systems: never worse than any of them, and its decisions are what it says they are."""

import json
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

import deciban
from deciban import metrics
from deciban.errors import FormatError, InputError
from deciban.fusion import LinearFusion, UnionHull
from support import naive
from support.strategies import any_score, coarse, log_odds


@st.composite
def problems(draw, scores=any_score, max_systems=3):
    """A matrix of scores with both classes in it."""
    n_systems = draw(st.integers(1, max_systems))
    row = st.lists(scores, min_size=n_systems, max_size=n_systems)
    tar = draw(st.lists(row, min_size=1, max_size=7))
    non = draw(st.lists(row, min_size=1, max_size=7))
    return np.array([*tar, *non], np.float64), np.arange(len(tar) + len(non)) < len(tar)


def all_points(scores, is_target):
    """Every operating point of every system, as exact fractions."""
    return [p for column in scores.T for p in naive.operating_points(*classes(column, is_target))]


def classes(column, is_target):
    return column[is_target].tolist(), column[~is_target].tolist()


def rates(accepted, is_target):
    return Fraction(int(accepted[~is_target].sum()), int((~is_target).sum())), Fraction(
        int((~accepted[is_target]).sum()), int(is_target.sum())
    )


def crossing_systems(n=400, seed=3):
    """One system that is sure of some targets, and one that is sure of some non-targets."""
    rng = np.random.default_rng(seed)
    is_target = np.arange(n) < n // 2
    sure_tar = np.where(is_target & (rng.random(n) < 0.5), 5.0, 0.0) + rng.normal(size=n)
    sure_non = np.where(~is_target & (rng.random(n) < 0.5), -5.0, 0.0) + rng.normal(size=n)
    return np.column_stack((sure_tar, sure_non)), is_target


@given(problems(), st.fractions(Fraction(1, 1000), Fraction(999, 1000)))
def test_the_minimum_cost_is_the_least_over_all_systems_and_thresholds(problem, prior):
    scores, is_target = problem
    hull = UnionHull().fit(scores, is_target)
    least = min(naive.min_error(*classes(column, is_target), prior) for column in scores.T)
    assert hull.min_dcf(p_target=float(prior), normalize=False) == pytest.approx(float(least), rel=1e-12, abs=1e-15)


@given(problems())
def test_the_equal_error_rate_is_the_lowest_between_any_two_points_of_any_systems(problem):
    points = set(all_points(*problem))
    best = min(
        one[0] + (one[0] - one[1]) / ((one[0] - one[1]) - (two[0] - two[1])) * (two[0] - one[0])
        if one[0] - one[1] != two[0] - two[1]
        else one[0]
        for one in points
        for two in points
        if one[0] >= one[1] and two[0] <= two[1] and (one[0] - one[1] != two[0] - two[1] or one[0] == one[1])
    )
    assert UnionHull().fit(*problem).eer() == pytest.approx(float(best), rel=1e-12, abs=1e-15)


@given(problems(), log_odds)
def test_no_single_system_is_better_anywhere(problem, prior_log_odds):
    scores, is_target = problem
    hull = UnionHull().fit(scores, is_target)
    for column in scores.T:
        single = metrics.rocch(column[is_target], column[~is_target])
        assert hull.eer() <= single.eer() + 1e-15
        assert hull.hull.area <= single.area + 1e-15
        for settings in ({}, {"c_miss": 10.0, "c_fa": 0.5}):
            settings |= {"prior_log_odds": prior_log_odds, "normalize": False}
            assert hull.min_dcf(**settings) <= single.min_dcf(**settings) * (1 + 1e-15)


@given(problems(max_systems=1))
def test_one_system_has_its_own_hull(problem):
    scores, is_target = problem
    hull, own = UnionHull().fit(scores, is_target).hull, metrics.rocch(scores[is_target, 0], scores[~is_target, 0])
    for name in ("n_fa", "n_miss", "llr"):
        np.testing.assert_array_equal(getattr(hull, name), getattr(own, name))


@given(problems())
def test_every_vertex_is_what_its_system_and_threshold_do(problem):
    scores, is_target = problem
    vertices = UnionHull().fit(scores, is_target).vertices
    found = []
    for vertex in vertices:
        p_fa, p_miss = rates(vertex.accepts(scores), is_target)
        assert (float(p_fa), float(p_miss)) == (vertex.p_fa, vertex.p_miss)
        if not vertex.rejects_all:
            np.testing.assert_array_equal(vertex.accepts(scores), scores[:, vertex.system] >= vertex.threshold)
        found.append((p_fa, p_miss))
    assert (found[0], found[-1]) == ((1, 0), (0, 1))
    assert [vertex.rejects_all for vertex in vertices] == [False] * (len(vertices) - 1) + [True]
    # Strictly convex, so that there is no vertex without need; and no point of any system lies below an edge.
    for (fa1, miss1), (fa2, miss2), (fa3, miss3) in zip(found, found[1:], found[2:], strict=False):
        assert (miss2 - miss1) * (fa2 - fa3) < (miss3 - miss2) * (fa1 - fa2)
    for (fa1, miss1), (fa2, miss2) in pairwise(found):
        for fa, miss in all_points(scores, is_target):
            assert (miss - miss1) * (fa1 - fa2) >= (miss2 - miss1) * (fa1 - fa)


@given(problems(), log_odds)
def test_decisions_cost_the_minimum(problem, prior_log_odds):
    scores, is_target = problem
    hull = UnionHull().fit(scores, is_target)
    p_fa, p_miss = rates(hull.decide(scores, prior_log_odds=prior_log_odds, c_miss=2.0), is_target)
    cost = 2 * expit(prior_log_odds) * float(p_miss) + expit(-prior_log_odds) * float(p_fa)
    least = hull.min_dcf(prior_log_odds=prior_log_odds, c_miss=2.0, normalize=False)
    assert cost == pytest.approx(least, rel=1e-12, abs=1e-300)


@given(problems(coarse), st.randoms(use_true_random=False))
def test_neither_the_order_of_trials_nor_increasing_maps_matter(problem, random):
    scores, is_target = problem
    order = list(range(len(scores)))
    random.shuffle(order)
    hull = UnionHull().fit(scores, is_target)
    other = UnionHull().fit(np.exp(3 * scores[order]) - 7, is_target[order])
    assert (hull.system_.tolist(), hull.n_fa_.tolist()) == (other.system_.tolist(), other.n_fa_.tolist())
    assert UnionHull().fit(scores[order], is_target[order]).parameters() == hull.parameters()
    assert UnionHull().fit(scores[:, ::-1], is_target).n_miss_.tolist() == hull.n_miss_.tolist()


@given(problems(), st.data())
def test_whole_weights_count_like_copies(problem, data):
    scores, is_target = problem
    weight = data.draw(st.lists(st.integers(1, 4), min_size=len(scores), max_size=len(scores)))
    copies = UnionHull().fit(np.repeat(scores, weight, axis=0), np.repeat(is_target, weight))
    weighted = UnionHull().fit(scores, is_target, sample_weight=weight)
    assert weighted.parameters() == copies.parameters()
    fractional = UnionHull().fit(scores, is_target, sample_weight=np.array(weight) / 7)
    # The same rules, although sums of sevenths differ in the last digit from one system to the next.
    assert fractional.system_.tolist() == copies.system_.tolist()
    assert fractional.threshold_.tolist() == copies.threshold_.tolist()
    np.testing.assert_allclose(fractional.n_fa_, copies.n_fa_ / 7, rtol=1e-12)
    assert fractional.eer() == pytest.approx(copies.eer(), rel=1e-11, abs=1e-13)


@given(problems(), st.data())
def test_any_weights_give_a_hull_that_comes_back_from_its_file(problem, data):
    scores, is_target = problem
    sizes = st.sampled_from([1e-90, 1e-20, 1e-13, 0.1, 1 / 3, 1.0, 7.7, 1e13, 1e90])
    weight = np.array(data.draw(st.lists(sizes, min_size=len(scores), max_size=len(scores))))
    hull = UnionHull().fit(scores, is_target, sample_weight=weight)
    back = UnionHull()
    back.set_parameters(json.loads(json.dumps(hull.parameters(), default=str).replace("Infinity", "1e999")))
    assert back.parameters() == hull.parameters()
    totals = weight[is_target].sum(), weight[~is_target].sum()
    for vertex in hull.vertices:
        accepted = vertex.accepts(scores)
        assert vertex.p_miss == pytest.approx(weight[is_target & ~accepted].sum() / totals[0], rel=1e-9, abs=1e-11)
        assert vertex.p_fa == pytest.approx(weight[~is_target & accepted].sum() / totals[1], rel=1e-9, abs=1e-11)


def test_sums_of_weights_that_differ_by_rounding_are_the_same_operating_point():
    """The second system orders trials differently within the levels of the first one, and never better."""
    rng = np.random.default_rng(9)
    level, weight = rng.integers(0, 6, 500).astype(np.float64), rng.random(500) + 0.1
    is_target = rng.random(500) < 0.1 + 0.15 * level
    second = level + np.where(is_target, 0.0, 0.5) + 0.4 * rng.random(500)
    alone = UnionHull().fit(level[:, None], is_target, sample_weight=weight)
    for scores in ((level, second), (second, level)):
        both = UnionHull().fit(np.column_stack(scores), is_target, sample_weight=weight)
        assert both.system_.tolist() == [0] * len(alone.system_)
        np.testing.assert_allclose(both.n_miss_, alone.n_miss_, rtol=1e-12)


@pytest.mark.parametrize("seed", [9428, 28136])
def test_vertices_are_convex_as_they_are_written(seed):
    """Weights of 30 magnitudes, found by search: the sums of the first hull are not convex after rounding."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 40))
    scores, is_target = np.round(rng.normal(size=(n, 2)) * 2) + 0.0, rng.random(n) < 0.5
    weight = 10.0 ** rng.choice([0, -5, -10, -15, -20, 5, 10], size=n) * rng.random(n) + 1e-90
    hull = UnionHull().fit(scores, is_target, sample_weight=weight)
    assert (np.diff(hull.hull.llr) > 0).all()
    back = UnionHull()
    back.set_parameters(hull.parameters())
    assert back.vertices == hull.vertices


def test_infinite_scores_are_rejected_only_at_the_last_vertex():
    scores = np.array([[np.inf], [1.0], [np.inf], [-np.inf]])
    hull = UnionHull().fit(scores, [True, True, False, False])
    assert hull.decide(scores, p_target=1e-9).tolist() == [False] * 4
    assert hull.decide(scores, p_target=1 - 1e-9).tolist() == [True, True, True, False]
    assert hull.vertices[0].accepts(scores).all()


def test_trained_thresholds_are_not_rounded_to_the_precision_of_other_scores():
    hull = UnionHull().fit([[0.7], [0.1]], [True, False])
    assert hull.decide([[0.7]], p_target=0.5).tolist() == [True]
    assert hull.decide(np.array([[0.7]], np.float32), p_target=0.5).tolist() == [False]  # float32 0.7 is below 0.7


def test_systems_that_are_better_in_different_regions_change_places():
    scores, is_target = crossing_systems()
    hull = UnionHull().fit(scores, is_target)
    assert hull.best_vertex(p_target=0.01).system == 0
    assert hull.best_vertex(p_target=0.99).system == 1
    assert hull.training_.results["changes_of_system"] >= 1
    assert hull.eer() < min(metrics.eer(c[is_target], c[~is_target]) for c in scores.T)
    # What the documentation says: to look at both systems in every trial is better still.
    llr = LinearFusion().fit_transform(scores, is_target)
    assert metrics.eer(llr[is_target], llr[~is_target]) < hull.eer()


@given(problems(), st.floats(0, 1))
def test_a_randomized_rule_lies_on_the_hull(problem, p_fa):
    hull = UnionHull().fit(*problem)
    rule = hull.randomized(p_fa=p_fa)
    share = rule.p_liberal
    assert 0 <= share <= 1
    assert share * rule.liberal.p_fa + (1 - share) * rule.strict.p_fa == pytest.approx(p_fa, abs=1e-15)
    assert share * rule.liberal.p_miss + (1 - share) * rule.strict.p_miss == pytest.approx(rule.p_miss, abs=1e-15)
    curve = [(float(fa), float(miss)) for fa, miss in all_points(*problem)]
    # No mixture of two operating points has fewer misses.
    for fa1, miss1 in curve:
        for fa2, miss2 in curve:
            if fa1 <= p_fa <= fa2:
                part = (p_fa - fa1) / (fa2 - fa1) if fa2 > fa1 else 0.0
                assert rule.p_miss <= miss1 + part * (miss2 - miss1) + 1e-12


def test_at_a_vertex_no_coin_is_tossed():
    scores, is_target = crossing_systems()
    hull = UnionHull().fit(scores, is_target)
    for vertex in hull.vertices[:-1]:
        expected = vertex if vertex.p_fa > 0 else hull.vertices[-2]
        assert hull.randomized(p_fa=vertex.p_fa).liberal == expected
        np.testing.assert_array_equal(hull.decide_at(scores, p_fa=vertex.p_fa, rng=1), expected.accepts(scores))


def test_coins_fall_as_often_as_they_should_and_the_seed_decides():
    scores, is_target = crossing_systems(40_000)
    hull = UnionHull().fit(scores, is_target)
    pairs = list(pairwise(hull.vertices))
    liberal, strict = max(pairs, key=lambda pair: pair[0].p_fa - pair[1].p_fa)
    rule = hull.randomized(p_fa=0.3 * liberal.p_fa + 0.7 * strict.p_fa)
    assert (rule.liberal, rule.strict) == (liberal, strict)
    assert rule.p_liberal == pytest.approx(0.3)
    accepted = hull.decide_at(scores, p_fa=rule.p_fa, rng=5)
    assert accepted[~is_target].mean() == pytest.approx(rule.p_fa, abs=4 * np.sqrt(0.25 / 20_000))
    assert 1 - accepted[is_target].mean() == pytest.approx(rule.p_miss, abs=4 * np.sqrt(0.25 / 20_000))
    np.testing.assert_array_equal(accepted, hull.decide_at(scores, p_fa=rule.p_fa, rng=np.random.default_rng(5)))
    assert (accepted != hull.decide_at(scores, p_fa=rule.p_fa, rng=6)).any()
    both = liberal.accepts(scores) == strict.accepts(scores)
    np.testing.assert_array_equal(accepted[both], strict.accepts(scores)[both])


def test_it_comes_back_from_its_file(tmp_path):
    scores, is_target = crossing_systems()
    hull = UnionHull().fit(scores, is_target)
    hull.save(tmp_path / "hull.json")
    back = deciban.load_model(tmp_path / "hull.json")
    assert type(back) is UnionHull
    assert back.vertices == hull.vertices
    assert back.training_ == hull.training_
    np.testing.assert_array_equal(back.decide(scores, p_target=0.1), hull.decide(scores, p_target=0.1))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda p: p["threshold"].pop(), "different lengths"),
        (lambda p: p["system"].__setitem__(1, 2), "system: 2 of 2 systems"),
        (lambda p: p["system"].__setitem__(1, 0.5), "system"),
        (lambda p: p["threshold"].__setitem__(0, 0.0), "first vertex must accept all"),
        (lambda p: p["threshold"].__setitem__(-1, 0.0), "last one reject all"),
        (lambda p: p["n_fa"].__setitem__(-1, 1), "reject-all"),
        (lambda p: p["n_miss"].__setitem__(0, 1), "accept-all"),
        (lambda p: p["n_fa"].__setitem__(1, p["n_fa"][0] + 1), "convex"),
        (lambda p: p["n_miss"].__setitem__(1, p["n_miss"][-1]), "convex"),
        (lambda p: p["n_fa"].__setitem__(1, -1), "n_fa"),
        (lambda p: p.update(n_systems=0), "n_systems"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path, change, words):
    path = tmp_path / "hull.json"
    UnionHull().fit(*crossing_systems()).save(path)
    content = json.loads(path.read_text())
    change(content["parameters"])
    path.write_text(json.dumps(content))
    with pytest.raises(FormatError, match=words):
        deciban.load_model(path)


def test_what_is_refused():
    scores, is_target = crossing_systems()
    hull = UnionHull().fit(scores, is_target)
    for use in (lambda h: h.eer(), lambda h: h.vertices, lambda h: h.decide(scores, p_target=0.5)):
        with pytest.raises(InputError, match="not trained yet"):
            use(UnionHull())
    with pytest.raises(InputError, match="1 systems, but the hull was trained on 2"):
        hull.decide(scores[:, :1], p_target=0.5)
    with pytest.raises(InputError, match="system 1 are NaN, the first at index 0"):
        hull.decide([[0.0, np.nan]], p_target=0.5)
    with pytest.raises(InputError, match="exactly one"):
        hull.decide(scores)
    with pytest.raises(InputError, match="one prior, got 2"):
        hull.decide(scores, p_target=[0.1, 0.2])
    with pytest.raises(InputError, match="p_fa"):
        hull.randomized(p_fa=1.5)
    for rng in (None, -1, "seed", 0.5):
        with pytest.raises(InputError, match="rng"):
            hull.decide_at(scores, p_fa=0.1, rng=rng)
    with pytest.raises(InputError, match="n_trials, n_systems"):
        UnionHull().fit(scores[:, 0], is_target)
