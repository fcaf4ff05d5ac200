"""Fusion with quality measures: the formula, its optimum, trials that lack measures."""

import json
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deciban
from deciban import metrics
from deciban.errors import DecibanWarning, FormatError, InputError
from deciban.fusion import LinearFusion, QualityFusion, quality_vectors
from deciban.trials import Key, Quality, SegmentQuality
from support.planted_quality import OFFSET, B, W, brute, fitted, fused, lacking, planted, slopes


@pytest.mark.parametrize("symmetric", [True, False])
def test_the_formula_is_that_of_the_paper(symmetric):
    t = planted()
    fusion = fitted(t, symmetric=symmetric)
    np.testing.assert_allclose(fused(fusion, t), brute(fusion, t.scores, t.q, t.r), atol=1e-12)
    assert fusion.quality_weights_.shape == (3, 3)
    assert fusion.quality_weights_[-1, -1] == 0.0
    assert np.array_equal(fusion.quality_weights_, fusion.quality_weights_.T) is symmetric


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("p_target", [0.5, 0.02])
def test_the_objective_does_not_fall_in_any_direction(p_target, weighted):
    t = planted()
    weight = np.random.default_rng(5).random(600) + 0.1 if weighted else None
    fusion = QualityFusion(p_target=p_target).fit(
        t.scores, t.is_target, enroll_quality=t.q, test_quality=t.r, sample_weight=weight
    )
    assert np.abs(slopes(t, fused(fusion, t), p_target, weight)).max() < 1e-9
    llr = fused(fusion, t)
    tar, non = llr[t.is_target], llr[~t.is_target]
    own = {} if weight is None else {"tar_weights": weight[t.is_target], "non_weights": weight[~t.is_target]}
    assert fusion.objective_ == pytest.approx(metrics.cross_entropy(tar, non, p_target=p_target, **own), rel=1e-12)


def test_many_trials_whose_optimum_begins_with_samples_and_threads():
    t = planted(150_000)
    fusion = fitted(t)
    assert np.abs(slopes(t, fused(fusion, t))).max() < 1e-9
    # Truth was drawn at equal priors, but there are more trials of one class: that is what the offset makes up for.
    n_tar = np.count_nonzero(t.is_target)
    assert fusion.offset_ + np.log(n_tar / (len(t.llr) - n_tar)) == pytest.approx(OFFSET, abs=0.06)
    np.testing.assert_allclose(fusion.weights_, B, atol=0.05)
    np.testing.assert_allclose(fusion.quality_weights_, W, atol=0.05)


def test_a_general_matrix_of_different_measures_is_recovered():
    rng = np.random.default_rng(8)
    q, r, scores = rng.normal(size=(40_000, 1)), rng.normal(size=(40_000, 2)), rng.normal(size=(40_000, 1))
    matrix = np.array([[0.5, -0.8, 0.4], [0.9, 0.2, 0.0]])
    one = np.ones((40_000, 1))
    llr = scores[:, 0] + np.einsum("ti,ij,tj->t", np.hstack((q, one)), matrix, np.hstack((r, one)))
    is_target = rng.random(40_000) < 1.0 / (1.0 + np.exp(-llr))
    fusion = QualityFusion(symmetric=False).fit(scores, is_target, enroll_quality=q, test_quality=r)
    np.testing.assert_allclose(fusion.quality_weights_, matrix, atol=0.06)
    with pytest.raises(InputError, match="1 and 2 measures.*symmetric=False"):
        QualityFusion().fit(scores, is_target, enroll_quality=q, test_quality=r)


@pytest.mark.parametrize("rule", [(1.0, 1.0), (2.0, 1.0), (0.5, 0.5)])
def test_without_quality_it_is_linear_fusion(rule):
    t = planted()
    settings = {"p_target": 0.1, "alpha": rule[0], "beta": rule[1]}
    fusion, linear = QualityFusion(**settings).fit(t.scores, t.is_target), LinearFusion(**settings)
    linear.fit(t.scores, t.is_target)
    np.testing.assert_allclose(fusion.transform(t.scores), linear.transform(t.scores), rtol=1e-10, atol=1e-12)
    assert fusion.quality_weights_.tolist() == [[0.0]]
    assert fusion.training_.fingerprint == linear.training_.fingerprint


@settings(max_examples=15)
@given(
    seed=st.integers(0, 1000),
    scale=st.tuples(st.sampled_from([1e-6, -0.3, 5.0, 1e9]), st.sampled_from([-2e-3, 1.0, 40.0])),
    shift=st.tuples(st.floats(-30, 30), st.floats(-3, 3)),
    swapped=st.booleans(),
    ridge=st.sampled_from([0.0, 0.05]),
)
def test_units_zeros_and_order_of_measures_do_not_matter(seed, scale, shift, swapped, ridge):
    t = planted(200, seed)
    shift = np.array(shift) * np.abs(scale)
    other = SimpleNamespace(scores=t.scores, is_target=t.is_target, q=t.q * scale + shift, r=t.r * scale + shift)
    if swapped:
        other.q, other.r = other.q[:, ::-1], other.r[:, ::-1]
    one, two = fitted(t, ridge=ridge), fitted(other, ridge=ridge)
    np.testing.assert_allclose(fused(two, other), fused(one, t), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_which_segment_was_enrolled_does_not_matter(ridge):
    t = planted()
    exchanged = SimpleNamespace(scores=t.scores, is_target=t.is_target, q=t.r, r=t.q)
    fusion = fitted(t, ridge=ridge)
    np.testing.assert_allclose(fused(fusion, exchanged), brute(fusion, t.scores, t.r, t.q), atol=1e-12)
    np.testing.assert_allclose(fused(fitted(exchanged, ridge=ridge), exchanged), fused(fusion, t), atol=1e-8)
    mirrored = SimpleNamespace(scores=t.scores[:1], q=t.r[:1], r=t.q[:1])
    assert fused(fusion, mirrored)[0] == pytest.approx(fused(fusion, t)[0], abs=1e-12)


@pytest.mark.parametrize("side", ["enroll", "test"])
@pytest.mark.parametrize("symmetric", [True, False])
def test_quality_of_one_side_is_a_linear_term(side, symmetric):
    t = planted()
    given = {f"{side}_quality": t.q}
    fusion = QualityFusion(symmetric=symmetric).fit(t.scores, t.is_target, **given)
    linear = LinearFusion().fit(np.hstack((t.scores, t.q)), t.is_target)
    np.testing.assert_allclose(
        fusion.transform(t.scores, **given), linear.transform(np.hstack((t.scores, t.q))), atol=1e-9
    )
    if symmetric:
        zeros = np.zeros_like(t.q)
        q, r = (t.q, zeros) if side == "enroll" else (zeros, t.q)
        assert not fusion.quality_weights_[:-1, :-1].any()
    else:
        nothing = np.zeros((600, 0))
        q, r = (t.q, nothing) if side == "enroll" else (nothing, t.q)
        assert fusion.quality_weights_.shape == ((3, 1) if side == "enroll" else (1, 3))
    np.testing.assert_allclose(fusion.transform(t.scores, **given), brute(fusion, t.scores, q, r), atol=1e-12)
    other = "test" if side == "enroll" else "enroll"
    with pytest.raises(InputError, match=f"{other}_quality: 2 measures, but the fusion was trained on none"):
        fusion.transform(t.scores, **given, **{f"{other}_quality": t.r})
    with pytest.raises(InputError, match=f"{side}_quality: no measures, but the fusion was trained on 2"):
        fusion.transform(t.scores)


def test_a_side_score_of_the_trial_is_one_more_column():
    t = planted()
    both = {"enroll_quality": t.q, "test_quality": t.r}
    fusion = QualityFusion().fit(t.scores[:, :1], t.is_target, **both, trial_quality=t.scores[:, 1:])
    as_system = fitted(t)
    np.testing.assert_allclose(
        fusion.transform(t.scores[:, :1], **both, trial_quality=t.scores[:, 1:]), fused(as_system, t), atol=1e-9
    )
    assert fusion.trial_quality_weights_ == pytest.approx(as_system.weights_[1:])
    alone = QualityFusion().fit(t.scores[:, :1], t.is_target, trial_quality=t.scores[:, 1:])
    assert alone.quality_weights_.shape == (1, 1)
    assert alone.objective_ == pytest.approx(LinearFusion().fit(t.scores, t.is_target).objective_, rel=1e-12)


def test_quality_can_only_lower_the_objective():
    t = planted()
    fusion = fitted(t)
    one_side = QualityFusion().fit(t.scores, t.is_target, enroll_quality=t.q)
    assert fusion.objective_ < fusion.backoff_.objective_ - 0.05
    assert one_side.objective_ <= fusion.backoff_.objective_
    assert fitted(t, symmetric=False).objective_ <= fusion.objective_


def test_a_penalty_holds_weights_and_matrix_and_not_the_offset():
    t = planted()
    strong = fitted(t, ridge=1e6)
    np.testing.assert_allclose(strong.weights_, 0.0, atol=1e-5)
    np.testing.assert_allclose(strong.quality_weights_, 0.0, atol=1e-5)
    np.testing.assert_allclose(fused(strong, t), 0.0, atol=1e-4)  # the offset says: at the prior
    separated = SimpleNamespace(scores=t.scores, is_target=t.is_target, q=t.q + 9.0 * t.is_target[:, None], r=t.r)
    with pytest.raises(InputError, match="separated"):
        fitted(separated)
    assert np.isfinite(fused(fitted(separated, ridge=1e-3), separated)).all()


def test_the_penalty_is_on_the_standardized_weights():
    t = planted()
    for symmetric in (True, False):
        fusion = fitted(t, symmetric=symmetric, ridge=0.01)
        matrix = fusion.standardized_quality_weights_
        assert matrix.shape == fusion.quality_weights_.shape
        assert matrix[-1, -1] == 0.0
        independent = matrix[np.triu_indices(3)] if symmetric else matrix
        squares = np.sum(fusion.standardized_weights_**2) + np.sum(independent**2)
        assert fusion.penalized_objective_ - fusion.objective_ == pytest.approx(0.005 * squares, rel=1e-9)


@pytest.mark.parametrize("symmetric", [True, False])
def test_standardized_weights_of_linear_terms_are_those_of_linear_fusion(symmetric):
    t = planted()
    linear = LinearFusion().fit(np.hstack((t.scores, t.q)), t.is_target)
    of_trial = QualityFusion().fit(t.scores, t.is_target, trial_quality=t.q)
    expected = linear.standardized_weights_[2:]
    np.testing.assert_allclose(of_trial.standardized_trial_quality_weights_, expected, rtol=1e-6)
    of_test = QualityFusion(symmetric=symmetric).fit(t.scores, t.is_target, test_quality=t.q)
    np.testing.assert_allclose(of_test.standardized_quality_weights_[-1, :-1], expected, rtol=1e-6)
    assert of_test.standardized_quality_weights_.shape == of_test.quality_weights_.shape


def test_standardized_weights_come_back_from_a_file_that_has_them(tmp_path):
    t = planted()
    fusion = QualityFusion().fit(
        t.scores, t.is_target, enroll_quality=t.q, test_quality=t.r, trial_quality=t.scores[:, :1] ** 2
    )
    fusion.save(tmp_path / "m.json")
    back = deciban.load_model(tmp_path / "m.json")
    np.testing.assert_array_equal(back.standardized_quality_weights_, fusion.standardized_quality_weights_)
    np.testing.assert_array_equal(back.standardized_trial_quality_weights_, fusion.standardized_trial_quality_weights_)
    content = json.loads((tmp_path / "m.json").read_text())
    damaged = json.loads((tmp_path / "m.json").read_text())
    damaged["parameters"]["standardized_trial_quality_weights"].append(1.0)
    (tmp_path / "damaged.json").write_text(json.dumps(damaged))
    with pytest.raises(FormatError, match="standardized_trial_quality_weights: shape differs from the weights"):
        deciban.load_model(tmp_path / "damaged.json")
    damaged["parameters"]["standardized_quality_weights"][0][1] += 1.0
    (tmp_path / "damaged.json").write_text(json.dumps(damaged))
    with pytest.raises(FormatError, match="standardized_quality_weights: not symmetric"):
        deciban.load_model(tmp_path / "damaged.json")
    del content["parameters"]["standardized_quality_weights"]
    (tmp_path / "damaged.json").write_text(json.dumps(content))
    with pytest.raises(FormatError, match="standardized_quality_weights"):
        deciban.load_model(tmp_path / "damaged.json")


@pytest.mark.parametrize("layout", ["F", "float32", "list"])
def test_any_layout_gives_the_same_fusion(layout):
    t = planted()
    t.q, t.r = (side.astype(np.float32).astype(np.float64) for side in (t.q, t.r))
    change = {"F": np.asfortranarray, "float32": lambda side: side.astype(np.float32), "list": np.ndarray.tolist}
    other = SimpleNamespace(scores=t.scores, is_target=t.is_target, q=change[layout](t.q), r=change[layout](t.r))
    fusion, same = fitted(t), fitted(other)
    np.testing.assert_allclose(same.quality_weights_, fusion.quality_weights_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(fused(same, other), fused(fusion, t), rtol=1e-9, atol=1e-9)
    assert same.training_.fingerprint == fusion.training_.fingerprint


def test_whole_weights_count_like_copies_and_none_like_none():
    t = planted(200)
    copies = np.arange(200) % 3
    rows = np.repeat(np.arange(200), copies)
    weighted = QualityFusion(ridge=0.01).fit(
        t.scores, t.is_target, enroll_quality=t.q, test_quality=t.r, sample_weight=copies
    )
    repeated = QualityFusion(ridge=0.01).fit(
        t.scores[rows], t.is_target[rows], enroll_quality=t.q[rows], test_quality=t.r[rows]
    )
    np.testing.assert_allclose(weighted.quality_weights_, repeated.quality_weights_, rtol=1e-9)
    assert weighted.offset_ == pytest.approx(repeated.offset_, rel=1e-9)


def test_the_fusion_of_trials_without_quality_is_weighted_too():
    t = planted()
    weight = np.random.default_rng(3).integers(0, 4, len(t.scores))
    fusion = QualityFusion().fit(t.scores, t.is_target, enroll_quality=t.q, test_quality=t.r, sample_weight=weight)
    expected = LinearFusion().fit(t.scores, t.is_target, sample_weight=weight)
    np.testing.assert_allclose(fusion.backoff_.weights_, expected.weights_, rtol=1e-7)
    assert fusion.backoff_.training_.fingerprint == expected.training_.fingerprint


def test_rounding_does_not_make_a_symmetric_matrix_uneven(tmp_path):
    t = planted()
    far = np.array([1e3 + 1 / 3, 7e4 + 1 / 7])  # means that make the matrix for measures as they are a difference
    fusion = QualityFusion().fit(t.scores, t.is_target, enroll_quality=t.q + far, test_quality=t.r + far)
    np.testing.assert_array_equal(fusion.quality_weights_, fusion.quality_weights_.T)
    fusion.save(tmp_path / "m.json")
    np.testing.assert_array_equal(deciban.load_model(tmp_path / "m.json").quality_weights_, fusion.quality_weights_)


def test_a_matrix_of_the_setting_is_applied_before_and_comes_back(tmp_path):
    t = planted()
    raw = np.column_stack((t.q, np.full(len(t.q), np.nan)))  # the third measure is not used, and never there
    matrix = [[1.0, 1.0, 0.0], [0.0, -2.0, 0.0]]
    made, others = t.q @ np.array(matrix)[:, :2].T, t.r @ np.array(matrix)[:, :2].T
    raw_test = np.column_stack((t.r, t.r[:, 0]))
    fusion = QualityFusion(combine=matrix)
    fusion.fit(t.scores, t.is_target, enroll_quality=raw, test_quality=raw_test)
    expected = QualityFusion().fit(t.scores, t.is_target, enroll_quality=made, test_quality=others)
    np.testing.assert_allclose(fusion.quality_weights_, expected.quality_weights_, rtol=1e-9, atol=1e-9)
    fusion.save(tmp_path / "m.json")
    back = deciban.load_model(tmp_path / "m.json")
    assert back.combine == matrix
    llr = back.transform(t.scores, enroll_quality=raw, test_quality=raw_test)
    np.testing.assert_allclose(llr, expected.transform(t.scores, enroll_quality=made, test_quality=others), atol=1e-9)
    with pytest.raises(InputError, match="enroll_quality: 2 measures, but the fusion was trained on 3"):
        back.transform(t.scores, enroll_quality=t.q, test_quality=raw_test)
    one = QualityFusion(symmetric=False, combine={"test": [[0.0, 0.0, 1.0]]})
    one.fit(t.scores, t.is_target, enroll_quality=t.q, test_quality=raw_test)
    assert one.quality_weights_.shape == (3, 2)


@pytest.mark.parametrize(
    ("combine", "words"),
    [
        ([1.0, 2.0], "expected a matrix of finite numbers"),
        ([[np.inf, 1.0]], "expected a matrix of finite numbers"),
        ([["a", "b"]], "expected a matrix of finite numbers"),
        ({"both": [[1.0]]}, "matrices of enroll, test, trial; got matrices of .'both'"),
        ({}, "matrices of enroll, test, trial"),
        ([[1.0]], "1 weights in a row for 2 enroll measures"),
        ({"trial": [[1.0]]}, "a matrix for trial measures, but no such measures"),
        ([[1e308, 1e308]], "exceed double precision"),
    ],
)
def test_matrices_that_combine_nothing_are_refused(combine, words):
    t = planted()
    with pytest.raises(InputError, match=words):
        QualityFusion(combine=combine).fit(t.scores, t.is_target, enroll_quality=1e5 * t.q, test_quality=1e5 * t.r)


def test_a_matrix_of_another_size_than_the_weights_is_refused(tmp_path):
    t = planted()
    fitted(t, combine=[[1.0, 0.0], [0.0, 1.0]]).save(tmp_path / "m.json")
    content = json.loads((tmp_path / "m.json").read_text())
    content["settings"]["combine"] = [[1.0, 0.0]]
    (tmp_path / "m.json").write_text(json.dumps(content))
    with pytest.raises(FormatError, match="combine: computes 1 enroll measures, but 2 have weights"):
        deciban.load_model(tmp_path / "m.json")


def test_a_constant_measure_changes_nothing():
    t = planted()
    constant = np.full((600, 1), 16_000.0)
    wider = SimpleNamespace(
        scores=t.scores, is_target=t.is_target, q=np.hstack((t.q, constant)), r=np.hstack((t.r, constant))
    )
    np.testing.assert_allclose(fused(fitted(wider), wider), fused(fitted(t), t), atol=1e-8)


# Trials that lack measures


def test_trials_without_quality_are_fused_by_their_scores():
    t = planted()
    some, without = lacking(t)
    with pytest.warns(DecibanWarning, match="150 of 600 trials lack quality measures, the first at index 0: not used"):
        fusion = fitted(some)
    assert fusion.training_.results["n_without_quality"] == 150
    assert sum(fusion.training_.counts.values()) == 600
    with pytest.warns(DecibanWarning, match="150 of 600 trials .* fused by their scores alone"):
        llr = fused(fusion, some)
    linear = LinearFusion().fit(t.scores, t.is_target)
    np.testing.assert_array_equal(llr[without], linear.transform(t.scores)[without])
    of_present = fitted(SimpleNamespace(**{name: value[~without] for name, value in vars(some).items()}))
    np.testing.assert_allclose(
        llr[~without], brute(of_present, *(x[~without] for x in (t.scores, t.q, t.r))), atol=1e-9
    )


def test_the_zero_of_a_measure_does_not_matter_where_others_lack_it():
    some, _ = lacking(planted())
    moved = SimpleNamespace(scores=some.scores, is_target=some.is_target, q=some.q + 20.0, r=some.r + 20.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DecibanWarning)
        np.testing.assert_allclose(fused(fitted(moved), moved), fused(fitted(some), some), atol=1e-7)


def test_llrs_of_trials_without_quality_are_calibrated():
    """What `backoff_` is for: the offset and weights of the formula itself are far off, for measures of 0."""
    t = planted(20_000)
    t.q, t.r = t.q + 5.0, t.r + 5.0
    some, without = lacking(t)
    with pytest.warns(DecibanWarning):
        fusion = fitted(some)
    with pytest.warns(DecibanWarning):
        llr = fused(fusion, some)
    literal = fusion.offset_ + t.scores @ fusion.weights_
    tar, non = without & t.is_target, without & ~t.is_target
    assert metrics.cllr(llr[tar], llr[non]) < 1.005 * LinearFusion().fit(
        t.scores[without], t.is_target[without]
    ).objective_ / np.log(2)
    assert metrics.cllr(literal[tar], literal[non]) > 2.0


def test_a_class_without_quality_is_refused():
    t = planted()
    t.q[t.is_target] = np.nan
    with pytest.raises(InputError, match="no target trial that counts has all measures"):
        fitted(t)
    t = planted()
    t.r[np.flatnonzero(t.is_target)[1:]] = np.nan
    with pytest.raises(InputError, match="no target trial that counts has all measures"):
        QualityFusion().fit(
            t.scores,
            t.is_target,
            enroll_quality=t.q,
            test_quality=t.r,
            sample_weight=np.arange(600) != np.argmax(t.is_target),
        )


# Files of quality


def files_of_quality(t):
    """A key, and measures by name of model and segment."""
    models, segments = [f"m{k}" for k in range(600)], [f"s{k}" for k in range(600)]
    key = Key.of({"enroll": models, "test": segments}, t.is_target)
    names = ("snr", "duration")
    quality = Quality(
        SegmentQuality.of(models[::-1], t.q[::-1], measures=names), SegmentQuality.of(segments, t.r, measures=names)
    )
    return key, quality


def test_measures_of_segments_become_vectors_of_trials():
    t = planted()
    key, quality = files_of_quality(t)
    for trials in (key, key.trials):
        enroll, test = quality_vectors(quality, trials)
        np.testing.assert_array_equal(enroll, t.q)
        np.testing.assert_array_equal(test, t.r)
    enroll, test = quality_vectors(Quality(None, quality.test.drop(["s0", "s7"])), key)
    assert enroll is None
    assert np.flatnonzero(np.isnan(test).all(axis=1)).tolist() == [0, 7]
    assert np.count_nonzero(np.isnan(test)) == 4


def test_measures_are_selected_and_combined_by_a_matrix_first():
    """Weighted sums of measures, as rows of a matrix: the fusion of them is that of one measure, computed by hand."""
    t = planted()
    key, quality = files_of_quality(t)
    enroll, test = quality_vectors(quality.combine_measures([[2.0, -0.5]]), key)
    fusion = QualityFusion().fit(t.scores, t.is_target, enroll_quality=enroll, test_quality=test)
    by_hand = SimpleNamespace(scores=t.scores, is_target=t.is_target, q=t.q @ [[2.0], [-0.5]], r=t.r @ [[2.0], [-0.5]])
    llr = fusion.transform(t.scores, enroll_quality=enroll, test_quality=test)
    np.testing.assert_allclose(llr, fused(fitted(by_hand), by_hand), atol=1e-9)
    assert fusion.quality_weights_.shape == (2, 2)
    # q' A' V A r: what a matrix of rank one adds to the symmetric W of all measures, so all measures are no worse.
    assert fitted(t).objective_ < fusion.objective_
    enroll, test = quality_vectors(quality.select(["duration"]), key)
    np.testing.assert_array_equal(enroll, t.q[:, 1:])
