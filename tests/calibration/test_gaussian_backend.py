"""The Gaussian back-end: densities of scipy, moments by their definitions, what it refuses, its files."""

import json

import numpy as np
import pytest
from scipy.special import log_softmax
from scipy.stats import multivariate_normal

import deciban
from deciban import multiclass
from deciban.calibration import GaussianBackend, GaussianCalibrator, MulticlassCalibrator
from deciban.errors import FormatError, InputError

PRIOR = np.array([0.1, 0.3, 0.6])
COVARIANCES = ["shared", "separate", "smoothed"]


def features(n=300, n_features=4, seed=1):
    """Classes with different means and covariances, unequally many."""
    rng = np.random.default_rng(seed)
    label = rng.choice(3, n, p=[0.2, 0.3, 0.5])
    label[:3] = [0, 1, 2]
    mixing = rng.normal(size=(3, n_features, n_features))
    return np.einsum("nij,nj->ni", mixing[label], rng.normal(size=(n, n_features))) + 2.0 * label[:, None], label


def models(x, label, covariance, *, weight=None, smoothing=0.5, ridge=0.0, prior=PRIOR):
    """Means and covariances by their definitions."""
    weight = np.ones(len(label)) if weight is None else weight
    own = [label == k for k in range(3)]
    mean = np.array([np.average(x[k], axis=0, weights=weight[k]) for k in own])
    each = np.array([np.cov(x[k].T, aweights=weight[k], ddof=0) for k in own])
    shared = np.tensordot(prior, each, (0, 0))
    share = {"shared": 1.0, "separate": 0.0, "smoothed": smoothing}[covariance]
    return mean, share * shared + (1 - share) * each + ridge * np.diag(np.diag(shared))


def densities(x, mean, covariance):
    columns = [multivariate_normal(m, c).logpdf(x) for m, c in zip(mean, covariance, strict=True)]
    return np.stack(columns, axis=1)


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ridge", [0.0, 0.2])
def test_log_densities_are_those_of_scipy(covariance, weighted, ridge):
    x, label = features()
    weight = np.random.default_rng(2).integers(0, 4, 300) if weighted else None
    if weighted:
        weight[:3] = 1
    backend = GaussianBackend(covariance=covariance, smoothing=0.3, ridge=ridge, prior=PRIOR)
    loglik = backend.fit(x, label, sample_weight=weight).transform(x)
    mean, models_ = models(x, label, covariance, weight=weight, smoothing=0.3, ridge=ridge)
    np.testing.assert_allclose(backend.mean_, mean, rtol=1e-12)
    np.testing.assert_allclose(np.broadcast_to(backend.covariance_, (3, 4, 4)), models_, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(loglik, densities(x, mean, models_), rtol=1e-11, atol=1e-11)
    found = multiclass.cross_entropy(loglik, label, prior=PRIOR, sample_weight=weight)
    assert backend.objective_ == pytest.approx(found, rel=1e-12)


@pytest.mark.filterwarnings("ignore::deciban.errors.DecibanWarning")  # of a map that is not increasing
def test_one_feature_of_two_classes_is_the_gaussian_calibrator():
    x, label = features(n_features=1)
    x, label = x[label < 2], label[label < 2]
    for covariance, is_shared in (("shared", True), ("separate", False)):
        loglik = GaussianBackend(covariance=covariance).fit(x, label).transform(x)
        llr = GaussianCalibrator(shared_variance=is_shared).fit(x[:, 0], label == 0).transform(x[:, 0])
        np.testing.assert_allclose(loglik[:, 0] - loglik[:, 1], llr, rtol=1e-9, atol=1e-10)


def test_a_shared_covariance_makes_linear_differences():
    x, label = features()
    loglik = GaussianBackend().fit(x, label).transform(x)
    design = np.append(x, np.ones((300, 1)), axis=1)
    for k in (1, 2):
        gap = loglik[:, k] - loglik[:, 0]
        fitted = design @ np.linalg.lstsq(design, gap, rcond=None)[0]
        np.testing.assert_allclose(fitted, gap, atol=1e-9)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_units_and_origins_of_features_do_not_matter(covariance):
    """Posteriors stay the same; densities change by the units alone."""
    x, label = features()
    size, shift = np.array([1e-60, 1.0, 1e5, 1e70]), np.array([0.0, 1e6, -3.0, 0.0])
    plain, other = (
        GaussianBackend(covariance=covariance, ridge=0.01).fit(y, label).transform(y) for y in (x, x * size + shift)
    )
    np.testing.assert_allclose(log_softmax(other, axis=1), log_softmax(plain, axis=1), rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(plain - other, np.log(size).sum(), rtol=1e-7)


def test_proportions_and_order_do_not_matter_and_weights_count_like_copies():
    x, label = features()
    weight = np.random.default_rng(2).integers(1, 4, 300)
    rows = np.random.default_rng(3).permutation(np.repeat(np.arange(300), weight))
    one = GaussianBackend(covariance="smoothed").fit(x, label, sample_weight=weight)
    other = GaussianBackend(covariance="smoothed").fit(x[rows], label[rows])
    np.testing.assert_allclose(other.covariance_, one.covariance_, rtol=1e-10, atol=1e-12)
    more = np.concatenate((np.arange(300), np.flatnonzero(label == 1)))
    single, double = (GaussianBackend().fit(x[r], label[r]) for r in (np.arange(300), more))
    np.testing.assert_allclose(double.covariance_, single.covariance_, rtol=1e-10, atol=1e-12)


def test_smoothing_goes_from_separate_to_shared():
    x, label = features()
    ends = [GaussianBackend(covariance="smoothed", smoothing=s).fit(x, label).transform(x) for s in (0.0, 1.0)]
    for found, covariance in zip(ends, ["separate", "shared"], strict=True):
        np.testing.assert_allclose(found, GaussianBackend(covariance=covariance).fit(x, label).transform(x), rtol=1e-12)


def test_names_of_classes():
    x, label = features()
    names = np.array(["fra", "eng", "deu"])
    backend = GaussianBackend().fit(x, names[label])
    assert backend.classes_ == ("deu", "eng", "fra")
    np.testing.assert_allclose(backend.transform(x)[:, ::-1], GaussianBackend().fit(x, label).transform(x), rtol=1e-12)
    given = GaussianBackend().fit(x, names[label], classes=["fra", "eng", "deu"])
    assert given.training_.counts == dict(zip(names.tolist(), np.bincount(label).tolist(), strict=True))
    assert GaussianBackend().fit(x, label).classes_ is None


def test_calibration_on_other_trials_mends_what_too_few_trials_made_of_the_models():
    rng = np.random.default_rng(4)
    label = rng.integers(0, 3, 4060)
    x = rng.normal(size=(4060, 12))
    x[:, :2] += np.array([[0.0, 2.0], [2.0, 0.0], [-2.0, -1.0]])[label]
    train, dev, test = slice(60), slice(60, 2060), slice(2060, None)
    backend = GaussianBackend(covariance="separate").fit(x[train], label[train])
    calibrator = MulticlassCalibrator().fit(backend.transform(x[dev]), label[dev])
    assert calibrator.scale_ < 0.7
    raw = backend.transform(x[test])
    before, after = (multiclass.cllr(s, label[test]) for s in (raw, calibrator.transform(raw)))
    assert after < 0.8 * before


@pytest.mark.parametrize(
    ("covariance", "words"),
    [
        ("separate", r"covariance of class 2, of 4 features from 3 trials"),
        ("shared", "shared covariance, of 4 features"),
    ],
)
def test_singular_covariances_say_what_to_do(covariance, words):
    x, label = features()
    rows = np.concatenate((np.flatnonzero(label < 2), np.flatnonzero(label == 2)[:3]))
    x, label = x[rows], label[rows]
    if covariance == "shared":
        x[:, 3] = x[:, 0] - 2.0 * x[:, 1]
    with pytest.raises(InputError, match=f"{words}.*ridge=0.001"):
        GaussianBackend(covariance=covariance).fit(x, label)
    for settings in ({"covariance": covariance, "ridge": 1e-3}, {"covariance": "smoothed", "ridge": 1e-6}):
        assert np.isfinite(GaussianBackend(**settings).fit(x, label).transform(x)).all()


def test_smoothing_mends_a_class_of_one_trial():
    x, label = features()
    rows = np.concatenate((np.flatnonzero(label < 2), np.flatnonzero(label == 2)[:1]))
    with pytest.raises(InputError, match="from 1 trial,.*smoothed"):
        GaussianBackend(covariance="separate").fit(x[rows], label[rows])
    GaussianBackend(covariance="smoothed").fit(x[rows], label[rows])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda x: x.__setitem__((3, 1), np.nan), "1 of 300 trials have features that are NaN or infinite.*index 3"),
        (lambda x: x.__setitem__((5, 0), np.inf), "index 5"),
        (lambda x: x.__setitem__((slice(None), 2), 7.0), "1 of 4 are the same in all trials, the first is feature 2"),
        (lambda x: x.__imul__(1e200), "Use another unit"),
        (lambda x: x.__imul__(1e-200), "Use another unit"),
    ],
)
def test_features_that_cannot_be_modelled_are_refused(change, words):
    x, label = features()
    change(x)
    with pytest.raises(InputError, match=words):
        GaussianBackend().fit(x, label)


def test_wrong_use_is_refused():
    x, label = features()
    backend = GaussianBackend().fit(x, label)
    with pytest.raises(InputError, match="3 features, but the back-end was trained on 4"):
        backend.transform(x[:, :3])
    with pytest.raises(InputError, match="1 trials are so far from all classes"):
        backend.transform(np.array([[1e200, 0.0, 0.0, 0.0]]))
    with pytest.raises(InputError, match=r"Call fit\(features, label\) first"):
        GaussianBackend().transform(x)
    with pytest.raises(InputError, match="class 1 has no trial"):
        GaussianBackend().fit(x[label != 1], label[label != 1])
    with pytest.raises(InputError, match="whole numbers from 0"):
        GaussianBackend().fit(x, label - 1)
    with pytest.raises(InputError, match="label"):
        GaussianBackend().fit(x, np.full(300, np.nan))
    with pytest.raises(InputError, match="'shared' or 'separate' or 'smoothed'"):
        GaussianBackend(covariance="full")
    with pytest.raises(InputError, match=r"covariance: got list \['shared'\]"):
        GaussianBackend(covariance=["shared"])
    with pytest.raises(InputError, match="smoothing"):
        GaussianBackend(smoothing=1.5)


@pytest.mark.parametrize(
    ("label", "classes", "words"),
    [
        (["a"] * 300, None, "label: all labels are 'a', so only one class. At least two"),
        (np.zeros(300, int), None, "label: all labels are 0, so only one class. At least two"),
        (["a"] * 300, ["a"], "classes: there is one name, so only one class. At least two"),
        (np.zeros(300, int), ["a"], "classes: there is one name, so only one class. At least two"),
    ],
)
def test_one_class_is_refused(label, classes, words):
    with pytest.raises(InputError, match=words):
        GaussianBackend().fit(features()[0], label, classes=classes)


def test_a_prior_says_how_many_classes_there_are():
    x, label = features()
    backend = GaussianBackend(prior=[0.5, 0.5, 0.0, 0.0])
    with pytest.raises(InputError, match="class 2 .and 1 more of 4 classes. has prior 0 and no trial.*leave it out of"):
        backend.fit(x[label < 2], label[label < 2])
    with pytest.raises(InputError, match="class 2 has no trial"):
        GaussianBackend(prior=PRIOR).fit(x[label < 2], label[label < 2])


@pytest.mark.parametrize("kind", [int, np.int32])
def test_labels_may_be_whole_numbers_as_objects(kind):
    x, label = features()
    objects = np.array([kind(one) for one in label], object)
    np.testing.assert_array_equal(
        GaussianBackend().fit_transform(x, objects), GaussianBackend().fit_transform(x, label)
    )


def test_a_failed_refit_leaves_the_model_as_it_was():
    x, label = features()
    backend = GaussianBackend(covariance="separate").fit(x, label, classes=list("abc"))
    before, training = backend.transform(x), backend.training_
    singular = x.copy()
    singular[label == 1, 2] = 0.1
    for wrong, labels in ((x, ["a"] * 300), (singular, label), (x[:, :1] * 1e200, label)):
        with pytest.raises(InputError):
            backend.fit(wrong, labels)
        np.testing.assert_array_equal(backend.transform(x), before)
        assert backend.training_ is training
        assert backend.classes_ == ("a", "b", "c")


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("ridge", [0.0, 1e-3, 1e6])
def test_constant_features_are_found_through_rounding(covariance, ridge):
    """The mean of three times 0.1 is not 0.1, so the variance was not 0."""
    backend = GaussianBackend(covariance=covariance, ridge=ridge)
    with pytest.raises(InputError, match="feature 0 is the same within each class, so.*shared variance is 0.*Leave it"):
        backend.fit([[0.1]] * 3 + [[0.3]] * 4, [0] * 3 + [1] * 4)
    x, label = features()
    x[:, 2] = np.array([0.1, 0.2, 0.3])[label]
    x[:, 1] = np.array([1.1, 1e5, 0.3])[label]
    with pytest.raises(InputError, match=r"feature 1 \(and 1 more of 4\) is the same within each class, so"):
        backend.fit(x, label)


def test_a_feature_that_is_constant_in_one_class_is_named_with_the_class():
    x, label = features()
    x[label == 1, 2] = 0.1
    with pytest.raises(
        InputError, match=r"feature 2 is the same in all trials of class 1 \('b'\).*smoothed.*ridge=0.001"
    ):
        GaussianBackend(covariance="separate").fit(x, label, classes=list("abc"))
    with pytest.raises(InputError, match="feature 2 is the same in all trials of class 1, .* Set ridge=0.001"):
        GaussianBackend(covariance="smoothed", smoothing=0.0).fit(x, label)
    for settings in ({"covariance": "smoothed"}, {"covariance": "separate", "ridge": 1e-3}, {"covariance": "shared"}):
        assert np.isfinite(GaussianBackend(**settings).fit(x, label).transform(x)).all()
    x[label == 2, 2] = 0.7
    with pytest.raises(InputError, match="feature 2 is the same within each class of prior above 0"):
        GaussianBackend(prior=[0.0, 0.5, 0.5]).fit(x, label)


def test_one_trial_of_each_class_is_too_few_whatever_is_set():
    x = np.random.default_rng(1).normal(size=(3, 2))
    for covariance in COVARIANCES:
        with pytest.raises(
            InputError, match=r"too few trials, or some features depend linearly on others\. Collect more"
        ):
            GaussianBackend(covariance=covariance, ridge=0.001).fit(x, [0, 1, 2])


def test_a_class_of_prior_0_still_has_a_model():
    x, label = features()
    backend = GaussianBackend(prior=[0.5, 0.5, 0.0]).fit(x, label)
    mean, shared = models(x, label, "shared", prior=np.array([0.5, 0.5, 0.0]))
    np.testing.assert_allclose(backend.transform(x), densities(x, mean, np.broadcast_to(shared, (3, 4, 4))), rtol=1e-10)


def test_a_class_of_prior_0_without_trials_has_no_mean():
    x, label = features()
    backend = GaussianBackend(prior=[0.5, 0.5, 0.0])
    for arguments in ({}, {"sample_weight": 1.0 * (label != 2)}):
        rows = slice(None) if arguments else label != 2
        with pytest.raises(InputError, match=r"class 2 \('c'\) has prior 0 and no trial.* leave it out of the prior"):
            backend.fit(x[rows], label[rows], classes=list("abc"), **arguments)
    assert GaussianBackend(prior=[0.5, 0.5]).fit(x[label != 2], label[label != 2]).n_classes_ == 2
    with pytest.raises(InputError, match=r"class 2 \('c'\) has no trial.*set its prior to 0"):
        GaussianBackend().fit(x[label != 2], label[label != 2], classes=list("abc"))


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_every_bit_comes_back_from_a_file(covariance, tmp_path):
    x, label = features()
    backend = GaussianBackend(covariance=covariance, ridge=0.01, prior=PRIOR).fit(x, label, classes=list("abc"))
    backend.save(tmp_path / "m.json")
    back = deciban.load_model(tmp_path / "m.json")
    assert type(back) is GaussianBackend
    assert back.settings == backend.settings
    assert back.training_ == backend.training_
    assert back.classes_ == ("a", "b", "c")
    np.testing.assert_array_equal(back.transform(x), backend.transform(x))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda p: p["mean"][1].pop(), "different lengths"),
        (lambda p: p["mean"].pop(), "prior: shape"),
        (lambda p: p["covariance"].append(p["covariance"][0]), r"shape \(2, 4, 4\), but shared covariances"),
        (lambda p: p["covariance"][0].pop(), "shape"),
        (lambda p: p["covariance"][0][0].__setitem__(1, 9.0), "not symmetric"),
        (lambda p: p["covariance"][0][2].__setitem__(2, -1.0), r"parameters\.covariance\[0\]\[2\]\[2\]: got -1"),
        (lambda p: p["covariance"][0][0].__setitem__(0, 0.0), r"parameters\.covariance\[0\]\[0\]\[0\]: got 0"),
        (lambda p: p.update(classes=["a", "b"]), r"parameters\.mean, classes: 2 names for 3 classes"),
        (lambda p: p["covariance"].__setitem__(0, np.ones((4, 4)).tolist()), "positive definite"),
    ],
)
def test_files_that_contradict_themselves_are_refused(tmp_path, change, words):
    path = tmp_path / "m.json"
    GaussianBackend(prior=PRIOR).fit(*features()).save(path)
    content = json.loads(path.read_text())
    change(content["parameters"])
    path.write_text(json.dumps(content))
    with pytest.raises(FormatError, match=words):
        deciban.load_model(path)


def test_many_trials_are_worked_through_in_blocks(monkeypatch):
    from deciban.calibration import gaussian_backend as class_gaussian

    x, label = features(1000)
    whole = GaussianBackend(covariance="separate").fit(x, label)
    monkeypatch.setattr(class_gaussian, "_BLOCK", 40)
    parts = GaussianBackend(covariance="separate").fit(x, label)
    np.testing.assert_allclose(parts.covariance_, whole.covariance_, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(parts.transform(x), whole.transform(x), rtol=1e-10, atol=1e-10)


def test_names_of_classes_may_be_python_strings():
    rng = np.random.default_rng(1)
    names = np.array(["cat", "dog", "owl"], object)[rng.integers(0, 3, 60)]
    features = rng.normal(size=(60, 2))
    fitted = GaussianBackend().fit(features, names)
    assert fitted.classes_ == ("cat", "dog", "owl")
    np.testing.assert_array_equal(
        fitted.transform(features), GaussianBackend().fit(features, names.astype(str)).transform(features)
    )
