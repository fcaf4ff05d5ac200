from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban import metrics
from deciban.calibration import (
    AffineCalibrator,
    BoundCalibrator,
    Calibrator,
    Chain,
    GaussianCalibrator,
    PavCalibrator,
    cross_validated,
)
from deciban.errors import DecibanWarning, InputError
from deciban.fusion import LinearFusion, QualityFusion


class Recorder(Calibrator):
    """Trains on trials whose score is their number, and remembers which ones it saw and which it was asked for."""

    kind = "recorder"
    parameter_schema: ClassVar = {}
    log: ClassVar = []

    def _fit(self, data):
        own = data.batch
        self.seen = own.scores[0].astype(int), own.weight
        return {}

    def _transform(self, scores):
        self.log.append((*self.seen, scores.astype(int)))
        return scores

    def parameters(self):
        return {}

    def set_parameters(self, parameters):
        pass


def recorded(is_target, **settings):
    """(trials trained on, weights, trials calibrated) of each part."""
    Recorder.log = []
    numbers = np.arange(len(is_target))
    np.testing.assert_array_equal(cross_validated(Recorder(), numbers, is_target, **settings), numbers)
    return Recorder.log


def trials(n_speakers=12, per_speaker=6, seed=0):
    rng = np.random.default_rng(seed)
    speaker = np.repeat([f"spk{k:02d}" for k in range(n_speakers)], per_speaker)
    is_target = rng.random(len(speaker)) < 0.4
    is_target[:4] = [True, False, True, False]
    scores = rng.normal(2.0 * is_target, 1.0) + np.repeat(rng.normal(0, 0.5, n_speakers), per_speaker)
    return scores, is_target, speaker


def two_sided(n_speakers=15, seed=0):
    """Every speaker against every speaker, with one target trial each."""
    rng = np.random.default_rng(seed)
    names = np.array([f"s{k}" for k in range(n_speakers)])
    enroll, test = np.repeat(names, n_speakers), np.tile(names, n_speakers)
    is_target = enroll == test
    return rng.normal(3.0 * is_target, 1.0), is_target, (enroll, test)


def test_every_trial_is_calibrated_once_and_never_by_its_own_group():
    _, is_target, speaker = trials()
    parts = recorded(is_target, groups=speaker, n_folds=4)
    assert len(parts) == 4
    np.testing.assert_array_equal(np.sort(np.concatenate([asked for *_, asked in parts])), np.arange(len(speaker)))
    for seen, _, asked in parts:
        assert not set(speaker[seen]) & set(speaker[asked])
        assert len(seen) + len(asked) == len(speaker)


@pytest.mark.parametrize("n_folds", [3, 5])
def test_no_speaker_of_a_trial_with_two_sides_was_heard_in_training(n_folds):
    _, is_target, (enroll, test) = two_sided()
    parts = recorded(is_target, groups=(enroll, test), n_folds=n_folds)
    assert len(parts) == n_folds * (n_folds + 1) // 2
    np.testing.assert_array_equal(np.sort(np.concatenate([asked for *_, asked in parts])), np.arange(len(enroll)))
    for seen, _, asked in parts:
        heard = {*enroll[seen], *test[seen]}
        assert not heard & {*enroll[asked], *test[asked]}
        # Nothing is left out without need: all trials between other speakers than those of these folds are there.
        assert len(seen) == len(heard) ** 2


def test_calibrating_fold_by_fold_by_hand():
    scores, is_target, speaker = trials()
    llr = cross_validated(AffineCalibrator(), scores, is_target, groups=speaker, n_folds=12)
    for name in np.unique(speaker):
        own = speaker == name
        expected = AffineCalibrator().fit(scores[~own], is_target[~own]).transform(scores[own])
        np.testing.assert_array_equal(llr[own], expected)


def test_folds_are_balanced_in_both_classes():
    rng = np.random.default_rng(4)
    speaker = rng.integers(0, 60, 6000)
    is_target = rng.random(6000) < 0.05
    for asked in (asked for *_, asked in recorded(is_target, groups=speaker, n_folds=5)):
        assert np.count_nonzero(is_target[asked]) == pytest.approx(is_target.sum() / 5, rel=0.1)
        assert np.count_nonzero(~is_target[asked]) == pytest.approx((~is_target).sum() / 5, rel=0.1)
    for asked in (asked for *_, asked in recorded(is_target, n_folds=5)):
        assert abs(np.count_nonzero(is_target[asked]) - is_target.sum() / 5) <= 1
        assert len(asked) == 1200


@given(st.permutations(range(72)), st.integers(0, 5))
def test_the_order_of_trials_does_not_matter(order, seed):
    scores, is_target, speaker = trials()
    weight = np.linspace(0.5, 2.0, len(scores))
    order = np.array(order)
    for groups in (speaker, None):
        settings = {"n_folds": 3, "seed": seed}
        llr = cross_validated(GaussianCalibrator(), scores, is_target, groups=groups, sample_weight=weight, **settings)
        shuffled = cross_validated(
            GaussianCalibrator(),
            scores[order],
            is_target[order],
            groups=None if groups is None else groups[order],
            sample_weight=weight[order],
            **settings,
        )
        np.testing.assert_allclose(shuffled, llr[order], rtol=1e-9, atol=1e-9)


def test_both_sides_may_be_exchanged():
    scores, is_target, (enroll, test) = two_sided()
    one = cross_validated(GaussianCalibrator(), scores, is_target, groups=(enroll, test), n_folds=4)
    other = cross_validated(GaussianCalibrator(), scores, is_target, groups=[test, enroll], n_folds=4)
    np.testing.assert_array_equal(one, other)


def test_names_may_be_strings_numbers_or_objects():
    scores, is_target, speaker = trials()
    number = np.unique(speaker, return_inverse=True)[1]
    answers = [
        cross_validated(GaussianCalibrator(), scores, is_target, groups=groups, n_folds=3)
        for groups in (speaker, speaker.astype(object), list(speaker), number, number.astype(float), number.tolist())
    ]
    for answer in answers:
        np.testing.assert_array_equal(answer, answers[0])


def test_seeds_choose_other_folds():
    scores, is_target, speaker = trials()
    answers = [
        cross_validated(GaussianCalibrator(), scores, is_target, groups=speaker, n_folds=3, seed=seed)
        for seed in (0, 0, 1)
    ]
    np.testing.assert_array_equal(answers[0], answers[1])
    assert (answers[0] != answers[2]).any()


def test_weights_go_with_their_trials():
    _, is_target, speaker = trials()
    weight = np.arange(1.0, len(speaker) + 1.0)
    for seen, weights, _ in recorded(is_target, groups=speaker, n_folds=3, sample_weight=weight):
        np.testing.assert_array_equal(weights, weight[seen])


def test_the_calibrator_stays_as_it_is():
    scores, is_target, speaker = trials()
    calibrator = Chain(AffineCalibrator(), BoundCalibrator(low=-3.0, high=3.0))
    llr = cross_validated(calibrator, scores, is_target, groups=speaker)
    assert not calibrator.is_fitted
    assert calibrator.training_ is None
    assert np.abs(llr).max() <= 3.0


def test_cross_validation_is_less_flattering_than_the_training_data():
    scores, is_target, speaker = trials(40, 10)
    calibrator = PavCalibrator(bound=5.0)
    same = calibrator.fit_transform(scores, is_target)
    held_out = cross_validated(calibrator, scores, is_target, groups=speaker)
    assert metrics.cllr(held_out[is_target], held_out[~is_target]) > metrics.cllr(same[is_target], same[~is_target])


def test_scores_of_several_systems_go_to_the_model_as_they_are():
    class Sum:
        """Stands for a fusion."""

        def fit(self, scores, is_target, *, sample_weight=None):
            assert scores.shape == (len(is_target), 2)
            assert sample_weight is None
            return self

        def transform(self, scores):
            return scores.sum(axis=1)

    rng = np.random.default_rng(0)
    scores, is_target = rng.normal(size=(30, 2)), np.arange(30) % 3 == 0
    for groups in (None, np.arange(30) % 10):
        llr = cross_validated(Sum(), scores, is_target, groups=groups, n_folds=3)
        np.testing.assert_array_equal(llr, scores.sum(axis=1))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"groups": ["a", "b", "c"]}, r"shape \(3,\) for 6 trials"),
        ({"groups": [["a"] * 6] * 3}, "pair"),
        ({"groups": (["a"] * 6, ["a"] * 5)}, r"shape \(5,\) for 6 trials"),
        ({"groups": ["a", "b", None, "c", "d", "e"]}, "index 2: None"),
        ({"groups": [1.0, 2.0, np.nan, 3.0, 4.0, 5.0]}, "index 2: "),
        ({"groups": np.array(["a", 1, "b", "c", 2, 3], dtype=object)}, "some are strings and some are numbers"),
        ({"groups": (["a"] * 6, [1] * 6)}, "one side has strings"),
        ({"groups": ["a", "a", "a", "b", "b", "b"], "n_folds": 3}, "3 folds of 2 groups"),
        ({"n_folds": 7}, "7 folds of 6 trials"),
        ({"n_folds": 1}, "n_folds"),
        ({"n_folds": 2.5}, "n_folds"),
        ({"n_folds": True}, "n_folds"),
        ({"seed": -1}, "seed"),
        ({"groups": ["a", "a", "a", "b", "b", "b"], "n_folds": 2}, "without fold 1 of 2 no"),
        ({"groups": (["a", "b", "c"] * 2, ["b", "c", "a"] * 2), "n_folds": 2}, "at least 3 folds"),
        ({"sample_weight": [1, 0, 0, 0, 1, 1], "n_folds": 2}, "no target is left"),
        ({"sample_weight": [1, 1]}, "sample_weight"),
    ],
)
def test_what_is_refused(settings, words):
    scores, is_target = [3.0, 1.0, 2.0, 0.0, 1.5, -1.0], [True, True, True, False, False, False]
    with pytest.raises(InputError, match=words):
        cross_validated(AffineCalibrator(ridge=1.0), scores, is_target, **settings)


def test_errors_of_training_name_the_fold():
    scores, is_target = [3.0, 2.0, 2.5, 0.0, 1.0, -1.0], [True, True, True, False, False, False]
    with pytest.raises(InputError, match="Training without fold 1 of 3: .*separated"):
        cross_validated(AffineCalibrator(), scores, is_target, n_folds=3)


def test_bad_scores_are_named_by_their_own_place():
    with pytest.raises(InputError, match="the first at index 4"):
        cross_validated(AffineCalibrator(), [1.0, 2.0, 3.0, 4.0, np.nan], [True, False, True, False, True], n_folds=2)
    with pytest.raises(InputError, match="scores"):
        cross_validated(AffineCalibrator(), 1.0, [True])


def test_fusing_fold_by_fold_by_hand():
    _, is_target, speaker = trials()
    scores = np.random.default_rng(3).normal(size=(72, 2)) + np.where(is_target, 0.7, -0.7)[:, None]
    llr = cross_validated(LinearFusion(), scores, is_target, groups=speaker, n_folds=12)
    for name in np.unique(speaker):
        own = speaker == name
        expected = LinearFusion().fit(scores[~own], is_target[~own]).transform(scores[own])
        np.testing.assert_array_equal(llr[own], expected)


def test_bad_scores_of_several_systems_are_named_by_trial_and_system():
    scores = np.zeros((5, 2))
    scores[3, 1] = np.nan
    with pytest.raises(InputError, match="system 1 are NaN, the first at index 3"):
        cross_validated(LinearFusion(), scores, [True, False, True, False, True], n_folds=2)


@settings(max_examples=30)
@given(seed=st.integers(0, 1000), n_folds=st.integers(2, 5), sides=st.sampled_from([1, 2]))
def test_groups_with_weights_are_held_out_like_repeated_lines(seed, n_folds, sides):
    rng = np.random.default_rng(seed)
    n = 600
    is_target = np.arange(n) % 3 == 0
    scores = rng.normal(2.0 * is_target)
    names = rng.integers(0, 12, (sides, n))
    weight = rng.integers(0, 4, n)
    weight[(names == 5).any(axis=0)] = 0  # somebody who does not count at all
    counting = np.flatnonzero(weight)
    copies = np.repeat(counting, weight[counting])
    how = {"n_folds": max(n_folds, 3), "seed": seed}
    found = cross_validated(
        GaussianCalibrator(),
        scores,
        is_target,
        groups=list(names) if sides > 1 else names[0],
        sample_weight=weight,
        **how,
    )
    groups = [side[copies] for side in names]
    repeated = cross_validated(
        GaussianCalibrator(), scores[copies], is_target[copies], groups=groups if sides > 1 else groups[0], **how
    )
    np.testing.assert_allclose(found[copies], repeated, rtol=1e-9, atol=1e-9)


def test_trials_without_weight_do_not_move_the_others():
    scores, is_target, _ = trials()
    weight = np.ones(len(scores))
    weight[::5] = 0.0
    found = cross_validated(GaussianCalibrator(), scores, is_target, sample_weight=weight)
    alone = cross_validated(GaussianCalibrator(), scores[weight > 0], is_target[weight > 0])
    np.testing.assert_allclose(found[weight > 0], alone, rtol=1e-9)
    assert np.isfinite(found).all()


def test_folds_are_of_what_counts():
    scores, is_target, speaker = trials(4)
    weight = np.where(speaker == "spk00", 0, 1)
    with pytest.raises(InputError, match="4 folds of 3 groups with a weight above 0"):
        cross_validated(GaussianCalibrator(), scores, is_target, groups=speaker, n_folds=4, sample_weight=weight)


def test_infinite_scores_are_told_by_their_own_place():
    scores, is_target, speaker = trials()
    scores[np.flatnonzero(is_target)[5]] = -np.inf
    at = f"Training without fold . of 3: .* the first at index {np.flatnonzero(is_target)[5]}:"
    with pytest.raises(InputError, match=at):
        cross_validated(AffineCalibrator(), scores, is_target, groups=speaker, n_folds=3)


def of_quality(seed=7):
    """Two systems whose scores follow the noise of both sides, which measures of other units tell; and a side score."""
    rng = np.random.default_rng(seed)
    _, is_target, speaker = trials(12, 30)
    enroll, test = rng.random((2, len(is_target), 1))
    quality = {"enroll_quality": 20 * enroll, "test_quality": 20 * test, "trial_quality": rng.normal(size=enroll.shape)}
    noise = rng.normal(size=(len(is_target), 2))
    return np.where(is_target, 1.0, -1.0)[:, None] + 3 * (enroll + test) + noise, is_target, speaker, quality


@pytest.mark.parametrize("names", [["test_quality"], ["enroll_quality", "test_quality"], ["trial_quality"], []])
@pytest.mark.parametrize("weighted", [False, True])
def test_fusing_with_quality_fold_by_fold_by_hand(names, weighted):
    scores, is_target, speaker, quality = of_quality()
    quality = {name: quality[name] for name in names}
    weight = np.linspace(0.5, 2.0, len(scores)) if weighted else None
    how = {"groups": speaker, "n_folds": 12, "sample_weight": weight}
    llr = cross_validated(QualityFusion(), scores, is_target, **how, **quality)
    for name in np.unique(speaker):
        own = speaker == name
        fusion = QualityFusion().fit(
            scores[~own],
            is_target[~own],
            sample_weight=None if weight is None else weight[~own],
            **{argument: values[~own] for argument, values in quality.items()},
        )
        expected = fusion.transform(scores[own], **{argument: values[own] for argument, values in quality.items()})
        np.testing.assert_array_equal(llr[own], expected)


@given(st.permutations(range(60)), st.booleans())
def test_the_order_of_trials_with_quality_does_not_matter(order, weighted):
    rng = np.random.default_rng(11)
    is_target = np.arange(60) % 2 == 0
    scores = np.round(rng.normal(is_target)[:, None])  # trials that differ in their measures only
    quality, weight = rng.random((60, 1)), np.linspace(0.5, 2.0, 60) if weighted else None
    order = np.array(order)
    llr = cross_validated(QualityFusion(), scores, is_target, test_quality=quality, sample_weight=weight)
    shuffled = cross_validated(
        QualityFusion(),
        scores[order],
        is_target[order],
        test_quality=quality[order],
        sample_weight=None if weight is None else weight[order],
    )
    np.testing.assert_allclose(shuffled, llr[order], rtol=1e-6, atol=1e-6)


def test_trials_without_measures_are_told_once_by_their_own_place():
    scores, is_target, speaker, quality = of_quality()
    table = quality["test_quality"].copy()
    table[[17, 40, 41]] = np.nan
    with pytest.warns(DecibanWarning, match=r"^QualityFusion: 3 of 360 .* the first at index 17: ") as told:
        llr = cross_validated(QualityFusion(), scores, is_target, groups=speaker, n_folds=12, test_quality=table)
    assert len(told) == 1
    own = speaker == speaker[17]
    alone = LinearFusion().fit(scores[~own], is_target[~own]).transform(scores[own])
    assert llr[17] == pytest.approx(alone[17 - np.flatnonzero(own)[0]], rel=1e-6)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda table: table[:-1], r"^test_quality: 359 rows for 360 trials"),
        (lambda table: table[:, 0], r"^test_quality: "),
        (lambda table: np.where(np.arange(360)[:, None] == 200, np.inf, table), "measure 0 is infinite .* index 200"),
        (lambda table: [["loud"]] * len(table), r"^test_quality: "),
    ],
)
def test_measures_are_refused_in_the_words_of_fit(change, words):
    scores, is_target, speaker, quality = of_quality()
    table = change(quality["test_quality"])
    with pytest.raises(InputError, match=words) as found:
        cross_validated(QualityFusion(), scores, is_target, groups=speaker, test_quality=table)
    with pytest.raises(InputError) as of_fit:
        QualityFusion().fit(scores, is_target, test_quality=table)
    assert str(found.value) == str(of_fit.value)


def test_measures_that_a_fold_lacks_are_told_with_its_name():
    scores, is_target, speaker, quality = of_quality()
    table = quality["test_quality"].copy()
    table[(speaker != "spk03") & is_target] = np.nan
    with pytest.raises(
        InputError, match="Training without fold .* of 12: quality: no target trial that counts has all"
    ):
        cross_validated(QualityFusion(), scores, is_target, groups=speaker, n_folds=12, test_quality=table)


@pytest.mark.parametrize("calibrator", [AffineCalibrator(), LinearFusion()])
def test_measures_for_what_takes_none_are_refused(calibrator):
    scores, is_target, _, quality = of_quality()
    with pytest.raises(InputError, match=rf"^test_quality: {type(calibrator).__name__} takes no"):
        cross_validated(calibrator, scores, is_target, test_quality=quality["test_quality"])


def test_a_class_with_one_value_of_the_groups_is_named_with_its_remedy():
    is_target = np.arange(40) < 10
    groups = np.where(is_target, "-", [f"a{n % 5}" for n in range(40)])
    with pytest.raises(InputError, match="All targets have the same value of the groups.*such as speaker"):
        cross_validated(AffineCalibrator(), np.arange(40.0), is_target, groups=groups, n_folds=4)
