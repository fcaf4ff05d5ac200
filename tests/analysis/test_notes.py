"""Huge weights that cancel are told; ordinary negative weights are not."""

import numpy as np
import pytest

from deciban.analysis import analyse_fusion
from deciban.analysis.fusion import _spread
from deciban.fusion import LinearFusion, QualityFusion, SubsetFusion
from deciban.trials.sources import Batch


def near_copies(n=2000, seed=1):
    """A system, the same rounded to three decimals, and another one."""
    rng = np.random.default_rng(seed)
    is_target = np.arange(n) % 4 == 0
    good, other = rng.normal(size=(2, n)) + np.where(is_target, 1.0, -1.0) * [[1.0], [0.7]]
    good *= 10.0
    return np.column_stack((good, good.round(3), other)), is_target


def resembling(correlation, n=20_000):
    """Two systems with much noise in common; half of their difference, too, says what matters."""
    rng = np.random.default_rng(3)
    is_target = np.arange(n) % 2 == 0
    common, own = rng.normal(size=(2, n))
    share = np.sqrt((1.0 - correlation) / 2.0)
    difference = share * (own + np.where(is_target, 1.0, -1.0)) / np.sqrt(2.0)
    return np.column_stack((common + difference, common - difference)), is_target


def test_systems_that_say_nearly_the_same_are_named_with_the_way_out():
    scores, is_target = near_copies()
    found = analyse_fusion(scores, is_target, names=["a", "copy", "b"])
    size, note = np.abs(list(found.standardized_weights.values())), found.fusion.note
    llr = LinearFusion().fit_transform(scores, is_target)
    tar, non = llr[is_target], llr[~is_target]
    # The variance of a mixture of two classes with equal weights.
    spread = np.sqrt(0.5 * tar.var() + 0.5 * non.var() + 0.25 * (tar.mean() - non.mean()) ** 2)
    assert size[:2].min() > 20 * spread > 20 * size[2] / 3
    assert note.startswith("a + copy have nearly the same scores")
    assert f"standard deviation of {spread:.3g}," in note
    least, name = min((row.penalized_objective, row.name) for row in found.leave_one_out[:2])
    higher = 100 * (least / found.fusion.penalized_objective - 1)
    assert f"W{name[1:]}, the training objective is {higher:.1f} % higher" in note
    assert "a penalty (ridge=0.001)" in note
    assert [row.note for row in found.rows[:-1]] == [""] * 6


def test_the_way_out_is_one():
    scores, is_target = near_copies()
    assert analyse_fusion(scores, is_target, fusion=LinearFusion(ridge=1e-3)).fusion.note == ""
    assert analyse_fusion(scores[:, 1:], is_target).fusion.note == ""


@pytest.mark.parametrize("scale", [-1.0, 1e-6, 1e6])
def test_signs_and_units_do_not_matter(scale):
    scores, is_target = near_copies()
    scores[:, 1] *= scale
    note = analyse_fusion(scores, is_target, names=["a", "copy", "b"]).fusion.note
    assert note.startswith("a + copy have nearly the same scores")


@pytest.mark.parametrize("p_target", [0.01, 0.5])
def test_two_systems_are_enough_and_weights_count(p_target):
    scores, is_target = near_copies()
    weight = np.where(np.arange(len(is_target)) < 1500, 1, 0)
    scores[1500:, 1] = 0.0  # without the weights, the second would be no copy
    fusion = LinearFusion(p_target=p_target)
    found = analyse_fusion(scores[:, :2], is_target, fusion=fusion, sample_weight=weight)
    assert "system 0 + system 1 have nearly the same scores" in found.fusion.note
    assert analyse_fusion(scores[:, :2], is_target, fusion=fusion).fusion.note == ""


@pytest.mark.parametrize("correlation", [0.5, 0.9, 0.99])
def test_ordinary_negative_weights_are_not(correlation):
    scores, is_target = resembling(correlation)
    found = analyse_fusion(scores, is_target)
    first, second = found.standardized_weights.values()
    assert first > 0 > second
    assert found.fusion.note == ""


def test_exact_copies_share_their_weight_and_nothing_is_told():
    scores, is_target = near_copies()
    scores[:, 1] = scores[:, 0]
    assert analyse_fusion(scores, is_target).fusion.note == ""


def test_subsets_and_quality_are_told_too():
    scores, is_target = near_copies()
    quality = {"test_quality": np.random.default_rng(2).random((len(is_target), 1))}
    found = analyse_fusion(scores, is_target, fusion=QualityFusion(), quality=quality)
    assert "system 0 + system 1 have nearly the same scores" in found.fusion.note
    scores[:100, 2] = np.nan
    found = analyse_fusion(scores, is_target, fusion=SubsetFusion(missing="subset"))
    assert "system 0 + system 1 have nearly the same scores" in found.fusion.note


def test_one_system_alone_cannot_cancel():
    scores, is_target = near_copies()
    assert analyse_fusion(scores[:, :1], is_target).fusion.note == ""


def test_whole_weights_are_copies_in_what_is_told():
    """Scores, spread of the llr and share of the objective are those of the weighted trials."""
    scores, is_target = near_copies(400)
    weight = np.where(scores[:, 2] > 0, 4, 1)
    names = ["a", "copy", "b"]
    weighted = analyse_fusion(scores, is_target, names=names, sample_weight=weight).fusion.note
    copied = analyse_fusion(np.repeat(scores, weight, axis=0), np.repeat(is_target, weight), names=names).fusion.note
    plain = analyse_fusion(scores, is_target, names=names).fusion.note
    assert weighted == copied != plain
    assert "standard deviation of" in weighted


def test_the_spread_of_the_llr_is_that_of_a_mixture_of_weighted_classes():
    rng, p = np.random.default_rng(2), 0.1
    is_target, weight = np.arange(300) % 3 == 0, rng.integers(1, 4, 300)
    llr = rng.normal(size=300) + np.where(is_target, 4.0, -1.0)
    share = np.where(is_target, p / weight[is_target].sum(), (1 - p) / weight[~is_target].sum()) * weight
    own = Batch((), is_target, weight=weight)
    expected = np.sqrt(share @ (llr - share @ llr) ** 2)
    assert _spread(p, own, llr) == pytest.approx(expected, rel=1e-12)
    llr[0] = np.inf  # certain trials do not count
    some = Batch((), is_target[1:], weight=weight[1:])
    assert _spread(p, own, llr) == pytest.approx(_spread(p, some, llr[1:]), rel=1e-12)
