"""What an analysis of a fusion tells is what training and evaluating by hand gives."""

import json

import numpy as np
import pytest

from deciban import metrics
from deciban.analysis import analyse_fusion
from deciban.calibration import AffineCalibrator
from deciban.errors import InputError
from deciban.evaluation import evaluate
from deciban.fusion import LinearFusion, QualityFusion, SubsetFusion, posterior_divergence
from deciban.tables.results import console, print_results


def systems(n_tar=60, n_non=240, n_systems=3, seed=1):
    rng = np.random.default_rng(seed)
    is_target = np.arange(n_tar + n_non) < n_tar
    good = np.linspace(0.4, 0.9, n_systems)
    return rng.normal(size=(n_tar + n_non, n_systems)) + np.where(is_target[:, None], good, -good), is_target


def test_rows_are_trainings_and_evaluations_by_hand():
    (scores, is_target), (others, truth) = systems(), systems(50, 90, seed=2)
    found = analyse_fusion(
        scores,
        is_target,
        fusion=LinearFusion(p_target=0.1, ridge=0.01),
        names=["A", "B", "C"],
        eval_scores=others,
        eval_is_target=truth,
        operating_points=[0.1, (0.01, 10, 1)],
    )
    expected = {"A": [0], "B": [1], "C": [2], "without A": [1, 2], "without B": [0, 2], "without C": [0, 1]}
    expected["fusion"] = [0, 1, 2]
    assert [row.name for row in found.rows] == list(expected)
    for row, columns in zip(found.rows, expected.values(), strict=True):
        assert list(row.systems) == columns
        model = LinearFusion(p_target=0.1, ridge=0.01).fit(scores[:, columns], is_target)
        for evaluation, x, y in ((row.dev, scores, is_target), (row.eval, others, truth)):
            llr = model.transform(x[:, columns])
            by_hand = evaluate(llr[y], llr[~y], name=row.name, operating_points=[0.1, (0.01, 10, 1)])
            for name in ("eer", "auc", "cllr", "min_cllr", "mean_act_dcf", "mean_min_dcf"):
                assert getattr(evaluation, name) == pytest.approx(getattr(by_hand, name), rel=1e-9)
            assert [str(point) for point in evaluation.operating_points] == [str(p) for p in by_hand.operating_points]
            assert (evaluation.n_tar, evaluation.n_non) == (by_hand.n_tar, by_hand.n_non)
    assert [system.name for system in found.dev.systems] == list(expected)
    assert [system.name for system in found.eval.systems] == list(expected)


def test_a_single_system_is_calibrated():
    scores, is_target = systems()
    found = analyse_fusion(scores, is_target, fusion=LinearFusion(alpha=2.0, beta=2.0))
    for k, row in enumerate(found.singles):
        calibrator = AffineCalibrator(alpha=2.0, beta=2.0).fit(scores[:, k], is_target)
        assert row.name == f"system {k}"
        assert row.penalized_objective == pytest.approx(calibrator.objective_, rel=1e-12)
    assert found.eval is None
    assert all(row.eval is None for row in found.rows)


@pytest.mark.parametrize(
    ("rule", "ridge", "p_target"),
    [
        *(((1.0, 1.0), *one) for one in ((0.0, 0.5), (0.0, 0.2), (1e-3, 0.001), (10.0, 0.9))),
        *((rule, 0.0, 0.2) for rule in ((2.0, 2.0), (0.5, 0.5), (3.0, 3.0))),
        *((rule, 1e-3, 0.001) for rule in ((0.5, 0.5), (2.0, 1.0))),
        *((rule, 10.0, 0.9) for rule in ((2.0, 2.0), (2.0, 1.0))),
    ],
)
def test_training_is_never_worse_than_the_best_single_system(rule, ridge, p_target):
    seed = round(100 * sum(rule) + 1000 * p_target)
    rng = np.random.default_rng(seed)
    scores, is_target = systems(400, 500, 3, seed)
    scores = scores * rng.choice([1e-3, -1.0, 500.0], size=3) + rng.normal(size=3)
    settings = {"alpha": rule[0], "beta": rule[1], "ridge": ridge, "p_target": p_target}
    found = analyse_fusion(scores, is_target, fusion=LinearFusion(**settings))
    assert found.objective_gain >= -1e-8 * found.best_single.penalized_objective
    # An independent calculation of what was minimized: the penalty refers to prior-weighted standard deviations.
    for row in found.rows:
        llr = row.model.transform(scores[:, list(row.systems)])
        cost = metrics.scoring_rule_cost(
            llr[is_target], llr[~is_target], alpha=rule[0], beta=rule[1], p_target=p_target
        )
        class_weight = np.where(is_target, p_target / is_target.sum(), (1 - p_target) / (~is_target).sum())
        x = scores[:, list(row.systems)]
        deviation = np.sqrt(class_weight @ (x - class_weight @ x) ** 2)
        penalty = 0.5 * ridge * np.sum((row.model.weights_ * deviation) ** 2)
        assert row.penalized_objective == pytest.approx(cost + penalty, rel=1e-7)


def test_divergence_is_that_of_the_calibrated_systems():
    scores, is_target = systems()
    found = analyse_fusion(scores, is_target, fusion=LinearFusion(p_target=0.2))
    llr = [AffineCalibrator(p_target=0.2).fit_transform(column, is_target) for column in scores.T]
    expected = posterior_divergence(np.column_stack(llr), is_target, p_target=0.2)
    np.testing.assert_allclose(found.divergence, expected, rtol=1e-9)
    # A system and the same in other units do not differ.
    twins = np.column_stack((scores[:, 0], 3 * scores[:, 0] - 7))
    assert analyse_fusion(twins, is_target).divergence.max() < 1e-12


def test_whole_weights_count_like_copies():
    scores, is_target = systems()
    weight = np.random.default_rng(3).integers(0, 4, len(scores))
    copies = np.repeat(np.arange(len(scores)), weight)
    settings = {"eval_scores": scores, "eval_is_target": is_target}
    weighted = analyse_fusion(scores, is_target, sample_weight=weight, eval_sample_weight=weight, **settings)
    settings = {"eval_scores": scores[copies], "eval_is_target": is_target[copies]}
    repeated = analyse_fusion(scores[copies], is_target[copies], **settings)
    np.testing.assert_allclose(weighted.divergence, repeated.divergence, rtol=1e-8)
    for one, other in zip(weighted.rows, repeated.rows, strict=True):
        assert (one.dev.n_tar, one.dev.n_non) == (other.dev.n_tar, other.dev.n_non)
        assert one.dev.cllr == pytest.approx(other.dev.cllr, rel=1e-8)
        assert one.eval.cllr == pytest.approx(one.dev.cllr, rel=1e-12)


def test_one_system_leaves_nothing_out():
    scores, is_target = systems(n_systems=1)
    found = analyse_fusion(scores, is_target)
    assert found.leave_one_out == ()
    assert found.objective_gain == 0.0
    assert found.divergence.tolist() == [[0.0]]


def test_the_model_passed_stays_as_it_is_and_the_trained_one_can_be_used():
    scores, is_target = systems()
    fusion = LinearFusion(p_target=0.1)
    found = analyse_fusion(scores, is_target, fusion=fusion, names=["A", "B", "C"])
    assert not fusion.is_fitted
    fusion.fit(scores, is_target)
    np.testing.assert_allclose(found.fusion.model.transform(scores), fusion.transform(scores), rtol=1e-9)
    expected = dict(zip("ABC", fusion.standardized_weights_.tolist(), strict=True))
    assert found.standardized_weights == pytest.approx(expected, rel=1e-9)


def test_it_is_data_and_its_results_are_those_that_tables_show(capsys):
    scores, is_target = systems()
    scores[0] = np.inf
    found = analyse_fusion(scores, is_target, eval_scores=-scores, eval_is_target=is_target)
    content = json.loads(found.to_json())
    assert content["best_single"] == found.best_single.name == "system 2"
    assert content["fusion"]["eval"]["cllr"] == "inf"
    assert content["fusion"]["dev"]["cllr"] == found.fusion.dev.cllr
    assert content["objective_gain"] == found.objective_gain > 0
    assert content["fusion"]["weights"] == found.fusion.model.weights_.tolist()
    assert np.shape(content["divergence"]) == (3, 3)
    print_results(found.dev, console())
    table = capsys.readouterr().out
    assert "without system 1" in table
    assert f"{found.fusion.dev.cllr:.3f}" in table


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"names": ["A"]}, "for 3 systems"),
        ({"names": "ABC"}, "for 3 systems"),
        ({"names": ["A", "B", "A"]}, "twice"),
        ({"names": [1, 2, 3]}, "one string"),
        ({"eval_scores": np.zeros((3, 3))}, "eval_is_target"),
        ({"eval_is_target": [True, False]}, "eval_scores"),
        ({"eval_scores": np.zeros((2, 2)), "eval_is_target": [True, False]}, "2 systems, but there are 3"),
        ({"eval_scores": np.full((2, 3), np.nan), "eval_is_target": [True, False]}, "evaluation.*NaN"),
        ({"operating_points": [2.0]}, "p_target"),
        ({"quality": {"test_quality": np.zeros((300, 1))}}, "given, but the fusion is a LinearFusion"),
        ({"fusion": QualityFusion()}, "none given, but the fusion is a QualityFusion"),
        (
            {"fusion": QualityFusion(), "quality": {"test": np.zeros((300, 1))}},
            "unknown key 'test'. Use arguments of .fit.: enroll_quality",
        ),
        ({"eval_quality": {}}, "eval_scores: missing"),
    ],
)
def test_what_is_refused(change, words):
    scores, is_target = systems()
    with pytest.raises(InputError, match=words):
        analyse_fusion(scores, is_target, **change)


def test_a_constant_system_says_nothing_and_has_a_row():
    scores, is_target = systems()
    scores[:, 1] = 7.0
    found = analyse_fusion(
        scores, is_target, names=["A", "B", "C"], eval_scores=scores, eval_is_target=is_target, operating_points=[0.1]
    )
    row = found.singles[1]
    assert row.note == "no information: all of its scores are 7, so its llr is 0"
    assert (row.dev.cllr, row.eval.cllr, row.dev.operating_points[0].act_dcf) == (1.0, 1.0, 1.0)
    assert row.penalized_objective == pytest.approx(np.log(2.0))
    assert row.to_dict()["weights"] == [0.0]
    assert found.best_single.name != "B"
    assert found.leave_one_out[1].dev.cllr == pytest.approx(found.fusion.dev.cllr, rel=1e-9)


def test_what_cannot_be_trained_is_a_row_without_figures():
    rng = np.random.default_rng(4)
    is_target = np.arange(600) % 3 == 0
    sign, noise = np.where(is_target, 1.0, -1.0), 2.0 * rng.normal(size=600)
    own = rng.normal(size=(600, 2))
    # Alone the second system gets a negative weight, beside the first a positive one: it tells of its noise.
    scores = np.column_stack((sign - noise + own[:, 0], noise - 0.2 * sign, 0.5 * sign + own[:, 1]))
    scores[0, 1] = np.inf
    found = analyse_fusion(scores, is_target, names=["A", "B", "C"])
    row, other = (row for row in found.rows if row.dev is None)
    assert other.name == "without A"
    assert (row.name, row.role, row.model, row.penalized_objective) == ("B", "single", None, None)
    assert "not trained: scores: the best weight of B is -" in row.note
    assert found.divergence is None
    assert found.best_single.name in ("A", "C")
    assert "B" not in [one.name for one in found.dev.systems]
    content = json.loads(found.to_json())
    assert content["singles"][1]["dev"] is None
    assert content["divergence"] is None


def test_a_fusion_that_cannot_be_trained_is_refused():
    scores, is_target = systems()
    scores[:, 1] = np.where(is_target, 1.0, -1.0)
    with pytest.raises(InputError, match="fusion: .*separated"):
        analyse_fusion(scores, is_target, names=["A", "B", "C"])


def with_quality(n=600, seed=5):
    rng = np.random.default_rng(seed)
    is_target = np.arange(n) % 3 == 0
    quality = rng.random((n, 1))
    scores = rng.normal(size=(n, 3)) + np.where(is_target, 1.0, -1.0)[:, None] * [1.0, 0.8, 0.6] + 3.0 * quality
    return scores, is_target, quality


def test_rows_of_a_fusion_with_quality_have_it_too():
    scores, is_target, quality = with_quality()
    others, truth, other_quality = with_quality(300, seed=6)
    settings = {"fusion": QualityFusion(ridge=0.01), "names": ["A", "B", "C"]}
    found = analyse_fusion(
        scores,
        is_target,
        quality={"test_quality": quality},
        eval_scores=others,
        eval_is_target=truth,
        eval_quality={"test_quality": other_quality},
        **settings,
    )
    names = ["A", "B", "C", "without A", "without B", "without C", "fusion without quality", "fusion with quality"]
    assert [row.name for row in found.rows] == names
    chosen = [[0], [1], [2], [1, 2], [0, 2], [0, 1], [0, 1, 2]]
    for row, columns in zip((*found.singles, *found.leave_one_out, found.fusion), chosen, strict=True):
        model = QualityFusion(ridge=0.01).fit(scores[:, columns], is_target, test_quality=quality)
        for evaluation, x, q, y in ((row.dev, scores, quality, is_target), (row.eval, others, other_quality, truth)):
            llr = model.transform(x[:, columns], test_quality=q)
            assert evaluation.cllr == pytest.approx(metrics.cllr(llr[y], llr[~y]), rel=1e-9)
    linear = LinearFusion(ridge=0.01).fit_transform(scores, is_target)
    plain = metrics.cllr(linear[is_target], linear[~is_target])
    assert found.without_quality.dev.cllr == pytest.approx(plain, rel=1e-9)
    assert found.fusion.dev.cllr < plain
    assert found.objective_gain > 0
    assert json.loads(found.to_json())["without_quality"]["role"] == "without quality"


def test_rows_of_a_fusion_of_subsets_are_of_the_same_trials():
    scores, is_target = systems()
    scores[:90:2, 1] = np.nan
    scores[60:200:3, 2] = np.nan
    complete = ~np.isnan(scores).any(axis=1)
    found = analyse_fusion(scores, is_target, fusion=SubsetFusion(missing="subset"), names=["A", "B", "C"])
    for row in found.rows:
        assert (row.dev.n_tar, row.dev.n_non) == (is_target[complete].sum(), (~is_target[complete]).sum())
        columns = list(row.systems)
        usable = ~np.isnan(scores[:, columns]).any(axis=1)
        model = LinearFusion().fit(scores[np.ix_(usable, columns)], is_target[usable])
        llr, truth = model.transform(scores[np.ix_(complete, columns)]), is_target[complete]
        assert row.dev.cllr == pytest.approx(metrics.cllr(llr[truth], llr[~truth]), rel=1e-9)
        expected = metrics.scoring_rule_cost(llr[truth], llr[~truth], alpha=1, beta=1, p_target=0.5)
        assert row.penalized_objective == pytest.approx(expected, rel=1e-9)
    assert found.objective_gain > 0


def test_names_of_systems_may_be_those_of_other_rows():
    scores, is_target = systems()
    found = analyse_fusion(scores, is_target, names=["fusion", "without fusion", "C"])
    names = [row.name for row in found.rows]
    assert len(set(names)) == len(names)
    assert names[:3] == ["fusion", "without fusion", "C"]
    assert [row.name for row in found.rows if row.role == "fusion"] == ["fusion #2"]


def test_with_two_systems_the_rest_is_a_single_one():
    scores, is_target = systems(n_systems=2)
    assert [row.role for row in analyse_fusion(scores, is_target).rows] == ["single", "single", "fusion"]
