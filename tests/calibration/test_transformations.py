"""A scale per class and a matrix: what they are equal to, what they refuse, their files."""

import numpy as np
import pytest
from scipy.special import expit

import deciban
from deciban import multiclass
from deciban.calibration import BetaCalibrator, ClassScaleTransformation, MatrixTransformation, MulticlassCalibrator
from deciban.errors import FormatError, InputError
from support.many_classes import problem

KINDS = [ClassScaleTransformation, MatrixTransformation]
PRIOR = [0.1, 0.2, 0.3, 0.4]


def trials(n=400, n_classes=4, **how):
    systems, label = problem(n, 1, n_classes, **how)
    return systems[:, 0], label


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("p_target", [0.5, 0.1])
def test_two_classes_are_the_beta_calibration_of_posteriors(kind, p_target):
    """``a ln p - b ln(1 - p) + c`` of Kull and others is what a scale for each of the two log posteriors makes."""
    loglik, label = trials(500, 2, apart=1.0)
    llr = loglik[:, 0] - loglik[:, 1]
    many = kind(prior=[p_target, 1 - p_target]).fit(loglik, label)
    beta = BetaCalibrator(p_target=p_target).fit(expit(llr), label == 0)
    mapped = many.transform(loglik)
    np.testing.assert_allclose(mapped[:, 0] - mapped[:, 1], beta.transform(expit(llr)), atol=1e-7)
    assert many.objective_ == pytest.approx(beta.objective_, rel=1e-10)


def test_more_freedom_costs_less_on_the_training_trials():
    loglik, label = trials()
    one, each, all_of_them = (
        kind(prior=PRIOR).fit(loglik, label).objective_ for kind in (MulticlassCalibrator, *KINDS)
    )
    assert one > each > all_of_them


@pytest.mark.parametrize("kind", KINDS)
def test_the_objective_is_the_cross_entropy_of_what_comes_out(kind):
    loglik, label = trials()
    weights = np.random.default_rng(2).integers(0, 4, 400)
    fitted = kind(prior=PRIOR, ridge=0.01).fit(loglik, label, sample_weight=weights)
    mapped = fitted.transform(loglik)
    found = multiclass.cross_entropy(mapped, label, prior=PRIOR, sample_weight=weights)
    assert fitted.objective_ == pytest.approx(found, rel=1e-10)
    shift = np.random.default_rng(1).normal(scale=30, size=(400, 1))
    np.testing.assert_allclose(fitted.transform(loglik + shift), mapped, atol=1e-11)
    weights = np.repeat(np.arange(400), weights)
    copies = kind(prior=PRIOR, ridge=0.01).fit(loglik[weights], label[weights])
    np.testing.assert_allclose(copies.transform(loglik), mapped, atol=1e-7)


def test_a_matrix_uses_the_score_of_one_class_to_tell_two_others():
    """The score of class 2 says whether the trial is of class 0 or 1 (thesis 8.4.1): no calibration can use that."""
    rng = np.random.default_rng(3)
    label = rng.integers(0, 3, 900)
    loglik = rng.normal(size=(900, 3))
    loglik[:, 2] += np.array([1.0, -1.0, 3.0])[label]
    matrix = MatrixTransformation().fit(loglik, label)
    calibrated = MulticlassCalibrator().fit(loglik, label)
    assert matrix.objective_ < 0.8 * calibrated.objective_
    assert matrix.matrix_[0, 2] - matrix.matrix_[1, 2] > 0.5


@pytest.mark.parametrize("kind", KINDS)
def test_every_bit_comes_back_from_a_file(kind, tmp_path):
    loglik, label = trials()
    fitted = kind(prior=PRIOR, ridge=0.01, toward_calibration=0.1).fit(loglik, label, classes=list("abcd"))
    fitted.save(tmp_path / "m.json")
    back = deciban.load_model(tmp_path / "m.json")
    assert type(back) is kind
    assert back.settings == fitted.settings
    assert back.training_ == fitted.training_
    assert back.classes_ == ("a", "b", "c", "d")
    np.testing.assert_array_equal(back.transform(loglik), fitted.transform(loglik))


@pytest.mark.parametrize(
    ("kind", "before", "words"),
    [
        (ClassScaleTransformation, '"scale": [\n', "scale and offset have different lengths"),
        (MatrixTransformation, '"matrix": [\n      [\n', "expected 4 rows of 4 numbers"),
    ],
)
def test_files_that_contradict_themselves_are_refused(kind, before, words, tmp_path):
    path = tmp_path / "m.json"
    kind().fit(*trials()).save(path)
    assert before in path.read_text()
    path.write_text(path.read_text().replace(before, before + "1.0,"))
    with pytest.raises(FormatError, match=words):
        deciban.load_model(path)


def test_infinite_log_likelihoods():
    loglik, label = trials()
    loglik[3, (label[3] + 1) % 4] = -np.inf
    loglik[4, label[4]] = np.inf
    scales = ClassScaleTransformation().fit(loglik, label)
    mapped = scales.transform(loglik)
    assert mapped[3, (label[3] + 1) % 4] == -np.inf
    np.testing.assert_array_equal(np.isneginf(mapped[4]), np.arange(4) != label[4])
    assert scales.objective_ == pytest.approx(multiclass.cross_entropy(mapped, label, prior=None), rel=1e-10)
    with pytest.raises(InputError, match="2 of 400 trials have infinite log-likelihoods, the first at index 3"):
        MatrixTransformation().fit(loglik, label)
    weight = np.ones(400)
    weight[[3, 4]] = 0.0
    matrix = MatrixTransformation().fit(loglik, label, sample_weight=weight)
    with pytest.raises(InputError, match="the first at index 3"):
        matrix.transform(loglik)


def test_infinite_log_likelihoods_of_a_negative_scale_are_refused():
    loglik, label = trials(600, 3)
    loglik[:, 2] = -loglik[:, 2]
    assert ClassScaleTransformation().fit(loglik, label).scale_[2] < 0.0
    first = np.flatnonzero(label != 2)[0]
    loglik[first, 2] = -np.inf
    weight = np.ones(600)
    weight[first] = 0.0
    assert ClassScaleTransformation().fit(loglik, label, sample_weight=weight).scale_[2] < 0.0
    with pytest.raises(InputError, match=r"scale of class 2 is -.*infinite.* in 1 of 600 trials, the first at index"):
        ClassScaleTransformation().fit(loglik, label)


def test_certainty_does_not_become_its_contrary():
    loglik, label = trials(600, 3)
    loglik[:, 2] = -loglik[:, 2]
    fitted = ClassScaleTransformation().fit(loglik, label, classes=["eng", "fra", "deu"])
    finite, excluded = [0.0, 1.0, 2.0], [0.0, 1.0, -np.inf]
    for certain in (excluded, [np.inf, 1.0, 2.0], [1e308, 0.0, -1e308]):
        with pytest.raises(InputError, match=r"class 2 \('deu'\) is -.* in 1 of 2 trials, the first at index 1"):
            fitted.transform([finite, certain])
    mapped = fitted.transform([[-np.inf, 0.0, 0.0], [-np.inf, -np.inf, 5.0], [0.0, 0.0, np.inf]])
    np.testing.assert_array_equal(np.isneginf(mapped), [[True, False, False], [True, True, False], [True, True, False]])
    assert not np.isposinf(mapped).any()
    fitted.scale_[2] = 0.0  # as a file might say: what is excluded would be possible again
    with pytest.raises(InputError, match=r"class 2 \('deu'\) is 0"):
        fitted.transform([excluded])


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_that_is_passed_is_changed(kind):
    loglik, label = trials()
    before = loglik.copy()
    kind().fit(loglik, label).transform(loglik)
    np.testing.assert_array_equal(loglik, before)


@pytest.mark.parametrize("kind", KINDS)
def test_finite_numbers_do_not_become_certainty(kind):
    loglik, label = trials(600, 3)
    fitted = kind().fit(1e-300 * loglik, label)
    with pytest.raises(InputError, match=r"1 of 2 trials.*exceed double precision.*, the first at index 1"):
        fitted.transform([[0.0, 0.0, 0.0], [1e10, -1e10, 2e10]])
    assert np.isfinite(fitted.transform([[1e-290, -1e-290, 2e-290]])).all()


def test_a_refit_that_fails_changes_nothing(monkeypatch):
    loglik, label = trials(600, 3)
    wrong = loglik.copy()
    wrong[:, 2] = -wrong[:, 2]
    wrong[np.flatnonzero(label != 2)[0], 2] = -np.inf
    fitted = ClassScaleTransformation().fit(loglik, label)
    before, objective = fitted.parameters(), fitted.objective_
    with pytest.raises(InputError, match="scale of class 2"):
        fitted.fit(wrong, label)
    assert fitted.parameters() == before
    assert fitted.objective_ == objective

    def interrupted(*_args, **_more):
        raise KeyboardInterrupt

    matrix = MatrixTransformation().fit(loglik, label)
    before = matrix.parameters()
    monkeypatch.setattr(MatrixTransformation, "_results_of", interrupted)
    with pytest.raises(KeyboardInterrupt):
        matrix.fit(loglik + 1.0 * np.eye(3)[0], label)
    assert matrix.parameters() == before


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("settings", "words"),
    [({"ridge": -1.0}, "ridge"), ({"toward_calibration": np.nan}, "toward_calibration"), ({"prior": [2, -1]}, "prior")],
)
def test_settings_out_of_range_are_refused(kind, settings, words):
    with pytest.raises(InputError, match=words):
        kind(**settings)


@pytest.mark.parametrize("kind", KINDS)
def test_what_cannot_be_trained_is_refused(kind):
    loglik, label = trials()
    with pytest.raises(InputError, match="class 1 has prior 0"):
        kind(prior=[0.5, 0.0, 0.25, 0.25]).fit(loglik, label)
    with pytest.raises(InputError, match=r"Call fit\(loglik, label\) first"):
        kind().transform(loglik)
    with pytest.raises(InputError, match="3 classes, but the model was trained on 4"):
        kind().fit(loglik, label).transform(loglik[:, :3])


def test_a_matrix_of_too_many_classes_is_refused():
    with pytest.raises(InputError, match="31 classes; a full matrix is trained for at most 30"):
        MatrixTransformation(ridge=1.0).fit(np.eye(31), np.arange(31))


def test_a_matrix_of_as_many_classes_as_are_allowed():
    """900 parameters and 200 trials: only a penalty keeps them in bounds; far from the limit it informs."""
    loglik, label = trials(200, 30, apart=4.0)
    matrix = MatrixTransformation(ridge=1.0, toward_calibration=30.0).fit(loglik, label)
    assert "converged in" in matrix.training_.results["status"]
    calibrated = MulticlassCalibrator(ridge=1.0).fit(loglik, label)
    assert matrix.objective_ < calibrated.objective_


@pytest.mark.parametrize("made", [ClassScaleTransformation, MatrixTransformation])
@pytest.mark.parametrize("toward", [1e5, 1e7, 1e9, 1e14, 1e200])
def test_a_large_pull_toward_calibration_ends_at_it(made, toward):
    loglik, label = problem(200, seed=8)
    found = made(toward_calibration=toward).fit(loglik[:, 0], label)
    calibrated = MulticlassCalibrator().fit(loglik[:, 0], label)
    assert found.objective_ == pytest.approx(calibrated.objective_, rel=1e-3 / toward**0.5)
    np.testing.assert_allclose(
        found.transform(loglik[:, 0]) - found.transform(loglik[:, 0])[:, :1],
        calibrated.transform(loglik[:, 0]) - calibrated.transform(loglik[:, 0])[:, :1],
        atol=1e-2,
    )
