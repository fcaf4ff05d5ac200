"""Greedy selection: every number is a cross-validation by hand, and every choice the best one at its place."""

import json

import numpy as np
import pytest

from deciban import metrics
from deciban.analysis import select_systems
from deciban.calibration import cross_validated
from deciban.errors import InputError
from deciban.fusion import LinearFusion, QualityFusion, SubsetFusion


def problem(n_speakers=24, per_speaker=12, seed=0):
    """Noise, a good system, its nearly perfect copy, another good one and a weak one."""
    rng = np.random.default_rng(seed)
    speaker = np.repeat([f"s{k:02d}" for k in range(n_speakers)], per_speaker)
    is_target = rng.random(len(speaker)) < 0.4
    own = rng.normal(size=(len(speaker), 5)) + 0.4 * np.repeat(rng.normal(size=(n_speakers, 5)), per_speaker, axis=0)
    own[:, 2] = own[:, 1] + 0.01 * own[:, 2]
    return own + np.outer(np.where(is_target, 1, -1), [0.0, 1.0, 1.0, 0.9, 0.2]), is_target, speaker


def crossed_cllr(scores, is_target, systems, **settings):
    llr = cross_validated(LinearFusion(), scores[:, systems], is_target, **settings)
    return metrics.cllr(llr[is_target], llr[~is_target])


def test_it_is_greedy_selection_by_hand():
    scores, is_target, speaker = problem()
    found = select_systems(scores, is_target, groups=speaker, n_folds=4, seed=2)
    chosen, before = [], 1.0
    for step in found.steps:
        costs = {
            k: crossed_cllr(scores, is_target, sorted([*chosen, k]), groups=speaker, n_folds=4, seed=2)
            for k in range(5)
            if k not in chosen
        }
        assert step.system == min(costs, key=costs.get)
        assert step.cost == pytest.approx(costs[step.system], rel=1e-9)
        assert step.gain == pytest.approx(before - step.cost, rel=1e-9)
        chosen, before = [*chosen, step.system], step.cost
        columns = scores[:, sorted(chosen)]
        same = LinearFusion().fit_transform(columns, is_target)
        assert step.same_data_cost == pytest.approx(metrics.cllr(same[is_target], same[~is_target]), rel=1e-9)
        assert step.same_data_cost < step.cost
    assert sorted([*chosen, *(step.system for step in found.left_out)]) == [0, 1, 2, 3, 4]
    for step in found.left_out:
        by_hand = crossed_cllr(scores, is_target, sorted([*chosen, step.system]), groups=speaker, n_folds=4, seed=2)
        assert step.cost == pytest.approx(by_hand, rel=1e-9)
        assert step.gain <= 1e-6
    assert found.cost == found.steps[-1].cost == pytest.approx(1 - sum(step.gain for step in found.steps))
    assert found.criterion == "Cllr in bits"


def test_noise_and_repetitions_are_left_out():
    scores, is_target, speaker = problem(60, 20)
    scores[:, 2] = 5 * scores[:, 1] + 3
    found = select_systems(scores, is_target, groups=speaker, names=["noise", "A", "twin of A", "B", "weak"])
    assert found.names == ("A", "B", "weak")
    assert found.systems == (1, 3, 4)
    assert {step.name for step in found.left_out} == {"noise", "twin of A"}
    costs = [step.cost for step in found.left_out]
    assert costs == sorted(costs)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("grouped", [False, True])
def test_the_order_of_trials_does_not_matter(seed, grouped):
    scores, is_target, speaker = problem(12, 5, seed=4)
    scores = np.round(scores[:, [1, 3]])  # trials that are alike in everything but their weight
    order = np.random.default_rng(seed).permutation(60)
    weight = np.linspace(0.5, 2.0, 60)
    one = select_systems(scores, is_target, groups=speaker if grouped else None, n_folds=3, sample_weight=weight)
    other = select_systems(
        scores[order],
        is_target[order],
        groups=speaker[order] if grouped else None,
        n_folds=3,
        sample_weight=weight[order],
    )
    assert one.systems == other.systems
    for this, that in zip((*one.steps, *one.left_out), (*other.steps, *other.left_out), strict=True):
        assert this.cost == pytest.approx(that.cost, rel=1e-6)


def test_it_is_deterministic_and_the_seed_chooses_folds():
    scores, is_target, _ = problem()
    assert select_systems(scores, is_target) == select_systems(scores, is_target)
    assert select_systems(scores, is_target).cost != select_systems(scores, is_target, seed=1).cost


def test_all_sets_of_systems_are_compared_on_the_same_folds():
    """Without groups, too, where folds follow from the trials themselves."""
    seen = []

    class Watching(LinearFusion):
        def fit_source(self, source, engine, memory, *, units=None):
            scores = source.held.scores
            if len(scores[0]) < 288:
                seen.append((len(scores), tuple(sorted(scores[-1]))))
            return super().fit_source(source, engine, memory, units=units)

        def __deepcopy__(self, memo):
            return type(self)()

    scores, is_target, _ = problem()
    select_systems(scores[:, [0, 1, 3]], is_target, fusion=Watching(), n_folds=3)
    # Whatever the last system is fused with, it is trained on one of the same three sets of trials.
    with_last = [(n_systems, trials) for n_systems, trials in seen if set(trials) <= set(scores[:, 3])]
    assert {n_systems for n_systems, _ in with_last} >= {1, 2}
    assert len({trials for _, trials in with_last}) == 3


def test_the_criterion_may_be_a_cost_at_an_operating_point():
    scores, is_target, speaker = problem()
    found = select_systems(scores, is_target, groups=speaker, operating_point=(0.1, 2, 1))
    llr = cross_validated(LinearFusion(), scores[:, sorted(found.systems)], is_target, groups=speaker)
    cost = metrics.act_dcf(llr[is_target], llr[~is_target], p_target=0.1, c_miss=2, c_fa=1)
    assert found.cost == pytest.approx(cost, rel=1e-9)
    assert found.criterion == "normalized actual DCF at p_target 0.1, costs 2:1"


def test_or_the_cost_by_the_rule_of_the_fusion():
    scores, is_target, speaker = problem()
    fusion = LinearFusion(p_target=0.2, alpha=2.0, beta=2.0, ridge=1e-4)
    found = select_systems(scores, is_target, groups=speaker, fusion=fusion)
    assert not fusion.is_fitted
    llr = cross_validated(fusion, scores[:, sorted(found.systems)], is_target, groups=speaker)
    rule = {"alpha": 2.0, "beta": 2.0, "p_target": 0.2}
    cost = metrics.scoring_rule_cost(llr[is_target], llr[~is_target], **rule)
    # Of llr 0: posteriors 0.2 and 3 (1 - q)^2 for targets, 3 q^2 for non-targets.
    assert found.cost == pytest.approx(cost / (0.2 * 3 * 0.8**2 + 0.8 * 3 * 0.2**2), rel=1e-9)
    assert found.criterion == "cost by the rule (2, 2) at prior 0.2, relative to llr 0"


def test_speakers_on_both_sides_are_held_out():
    rng = np.random.default_rng(5)
    names = np.array([f"s{k:02d}" for k in range(16)])
    enroll, test = np.repeat(names, 16), np.tile(names, 16)
    is_target = enroll == test
    scores = rng.normal(size=(256, 3)) + np.outer(is_target, [2.0, 1.5, 0.0])
    found = select_systems(scores, is_target, groups=(enroll, test), n_folds=4)
    by_hand = crossed_cllr(scores, is_target, sorted(found.systems), groups=(enroll, test), n_folds=4)
    assert found.cost == pytest.approx(by_hand, rel=1e-9)


def test_whole_weights_count_like_copies():
    scores, is_target, speaker = problem()
    weight = np.random.default_rng(6).integers(1, 4, len(scores))
    settings = {"n_folds": 5}
    weighted = select_systems(scores, is_target, groups=speaker, sample_weight=weight, **settings)
    copies = np.repeat(np.arange(len(scores)), weight)
    repeated = select_systems(scores[copies], is_target[copies], groups=speaker[copies], **settings)
    assert weighted.systems == repeated.systems
    assert weighted.cost == pytest.approx(repeated.cost, rel=1e-7)


def test_the_first_system_is_chosen_even_if_it_is_worth_nothing():
    scores, is_target, speaker = problem()
    found = select_systems(scores[:, [0]], is_target, groups=speaker)
    assert found.systems == (0,)
    assert found.steps[0].gain == pytest.approx(1 - found.cost, abs=1e-15)
    assert found.cost > 1
    assert found.left_out == ()


def test_a_least_gain_stops_earlier():
    scores, is_target, speaker = problem(60, 20)
    every = select_systems(scores, is_target, groups=speaker)
    fewer = select_systems(scores, is_target, groups=speaker, least_gain=every.steps[2].gain)
    assert fewer.steps == every.steps[:2]


def test_it_is_data():
    scores, is_target, _ = problem()
    found = select_systems(scores, is_target)
    content = json.loads(found.to_json())
    assert [step["name"] for step in content["steps"]] == list(found.names)
    assert content["left_out"][0]["cost"] == found.left_out[0].cost


def test_what_cannot_be_trained_is_left_out_with_the_reason():
    scores, is_target, speaker = problem()
    scores[np.flatnonzero(~is_target)[0], 1] = np.inf
    names = ["A", "B", "C", "D", "E"]
    found = select_systems(scores, is_target, groups=speaker, names=names)
    assert [(one.system, one.name) for one in found.untrained] == [(1, "B")]
    assert "infinite" in found.untrained[0].reason
    without = select_systems(scores[:, [0, 2, 3, 4]], is_target, groups=speaker, names=["A", "C", "D", "E"])
    assert found.names == without.names
    scores[np.flatnonzero(~is_target)[0]] = np.inf
    with pytest.raises(InputError, match=r"^A: .*infinite"):
        select_systems(scores, is_target, groups=speaker, names=names)


def test_a_constant_system_is_left_out():
    scores, is_target, _ = problem()
    scores[:, 0] = 3.0
    found = select_systems(scores, is_target, names=["constant", "A", "A again", "B", "weak"])
    assert "constant" not in found.names
    assert found.left_out[[step.name for step in found.left_out].index("constant")].gain == pytest.approx(0.0, abs=1e-9)


def test_systems_that_separate_the_classes_together():
    rng = np.random.default_rng(3)
    is_target = np.arange(400) % 4 == 0
    common = 5 * rng.normal(size=400)
    sign = np.where(is_target, 1.0, -1.0)
    scores = np.column_stack((sign + common, sign - common, 1.5 * sign + rng.normal(size=400)))
    found = select_systems(scores, is_target, names=["one", "other", "good"])
    assert found.names[0] == "good"
    assert found.n_trials == 400
    assert len(found.steps) + len(found.left_out) + len(found.untrained) == 3


def test_selection_with_quality_is_that_of_fusions_with_quality():
    rng = np.random.default_rng(6)
    is_target = np.arange(600) % 3 == 0
    quality = rng.random((600, 1))
    scores = rng.normal(size=(600, 3)) + np.where(is_target, 1.0, -1.0)[:, None] * [1.0, 0.8, 0.0] + 3.0 * quality
    found = select_systems(scores, is_target, fusion=QualityFusion(), quality={"test_quality": quality})
    assert found.systems == (0, 1)
    same = QualityFusion().fit_transform(scores[:, :2], is_target, test_quality=quality)
    assert found.steps[-1].same_data_cost == pytest.approx(metrics.cllr(same[is_target], same[~is_target]), rel=1e-9)
    assert found.cost < select_systems(scores, is_target).cost


def test_selection_among_systems_that_miss_trials_is_on_those_of_all():
    scores, is_target, _ = problem()
    lacking = scores.copy()
    lacking[::7, 1] = np.nan
    whole = np.arange(len(scores)) % 7 != 0
    found = select_systems(lacking, is_target, fusion=SubsetFusion(missing="subset"), n_folds=4)
    expected = select_systems(scores[whole], is_target[whole], n_folds=4)
    assert found.systems == expected.systems
    assert found.cost == pytest.approx(expected.cost, rel=1e-9)
    assert found.n_trials == whole.sum()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"names": ["A"]}, "for 5 systems"),
        ({"n_folds": 1}, "n_folds"),
        ({"groups": ["a"]}, "groups"),
        ({"least_gain": -1.0}, "least_gain"),
        ({"operating_point": 0.0}, "p_target"),
        ({"sample_weight": [1.0]}, "sample_weight"),
    ],
)
def test_what_is_refused(change, words):
    scores, is_target, _ = problem()
    with pytest.raises(InputError, match=words):
        select_systems(scores, is_target, **change)


def test_infinite_costs_are_no_gain_over_each_other():
    rng = np.random.default_rng(2)
    is_target = np.arange(80) % 2 == 0
    scores = rng.normal(size=(80, 2)) + np.where(is_target, 1.0, -1.0)[:, None]
    scores[1] = 1e5  # a non-target that a model which has not seen it is sure of
    found = select_systems(scores, is_target, fusion=LinearFusion(alpha=0.5, beta=0.5))
    assert [(step.cost, step.gain) for step in found.steps] == [(np.inf, -np.inf)]
    assert [(step.cost, step.gain) for step in found.left_out] == [(np.inf, 0.0)]


def test_progress_tells_how_many_trainings_are_ahead():
    scores, is_target, speaker = problem()
    said = []
    found = select_systems(scores, is_target, groups=speaker, n_folds=4, progress=said.append)
    assert said[0] == "selecting systems: 0 of at most 60 trainings done, 0 chosen"  # 4 (5 + 4 + 3 + 2 + 1)
    assert said[1] == "selecting systems: 4 of at most 60 trainings done, 0 chosen"
    assert said[5] == "selecting systems: 20 of at most 60 trainings done, 1 chosen"
    assert len(said) == sum(5 - k for k in range(len(found.steps) + 1))


def test_of_systems_that_differ_by_rounding_the_first_is_taken():
    scores, is_target, speaker = problem()
    for factor in (3.0, 0.1, 7.7):
        twins = np.column_stack((scores[:, 0], scores[:, 1] * factor + 1.0, scores[:, 1], scores[:, 1] / 3.0))
        found = select_systems(twins, is_target, groups=speaker)
        assert found.systems == (1,)
        assert [step.system for step in found.left_out] == [2, 3, 0]
