"""What goes in wrong, and what comes out: an error that says what, where and what to do."""

import math

import numpy as np
import pytest

from deciban import InputError, multiclass

METRICS = {
    "cllr": multiclass.cllr,
    "min_cllr": multiclass.min_cllr,
    "cross_entropy": lambda loglik, label, **kw: multiclass.cross_entropy(loglik, label, prior=None, **kw),
    "brier": multiclass.brier,
    "information": multiclass.information_delivered,
    "error_rate": multiclass.error_rate,
    "class_error_rates": multiclass.class_error_rates,
    "confusion": multiclass.confusion,
    "c_avg": multiclass.c_avg,
    "detection": multiclass.detection_analysis,
    "pairwise": multiclass.pairwise_analysis,
    "calibration": multiclass.calibration_analysis,
    "subsets": multiclass.subset_c_avg,
    "partition": lambda loglik, label, **kw: multiclass.partition(loglik, label, [[0], [1, 2]], **kw),
}
MAPS = {
    "posterior": multiclass.posterior,
    "detection_llr": lambda loglik: multiclass.detection_llr(loglik, target=0),
    "detection_llrs": multiclass.detection_llrs,
    "pairwise_llr": lambda loglik: multiclass.pairwise_llr(loglik, 0, 1),
    "group_loglik": lambda loglik: multiclass.group_loglik(loglik, [[0], [1]]),
}
LABEL = [0, 1, 2, 2]
LOGLIK = np.array([[2.0, 0, -1], [0, 1, 0], [0, 0.5, 1.5], [1, 0, 0.5]])
BAD_LOGLIK = {
    "nan": ([[0.0, math.nan], [math.nan, 0.0]], "2 of 2 trials contain NaN, the first at row 0, column 1"),
    "nan beside infinities": ([[0.0, 1.0], [-math.inf, math.nan]], "1 of 2 trials contain NaN, the first at row 1"),
    "nothing possible": ([[0.0, 0.0], [-math.inf] * 2], "1 of 2 trials exclude every class .*first at row 1"),
    "vector": ([1.0, 2.0], r"expected an array of shape \(n_trials, n_classes\), got \(2,\).*column_stack"),
    "one class": ([[1.0], [2.0]], r"shape \(2, 1\). At least one trial and two classes"),
    "no trial": (np.zeros((0, 3)), r"shape \(0, 3\). At least one trial"),
    "ragged": ([[1.0, 2.0], [3.0]], "cannot be read as an array"),
    "text": ([["a", "b"]], "expected real numbers"),
    "complex": ([[1j, 2.0]], "expected real numbers"),
    "none": (np.array([[1.0, None]], dtype=object), "NoneType None"),
    "masked": (np.ma.array([[1.0, 2.0]], mask=[[True, False]]), "1 of 2 entries are masked"),
    "cube": (np.zeros((2, 2, 2)), r"got \(2, 2, 2\)"),
}
BAD_LABEL = {
    "short": ([0, 1, 2], "label: shape .3,. for 4 trials"),
    "matrix": ([[0], [1], [2], [2]], r"label: shape \(4, 1\) for 4 trials"),
    "too high": ([0, 1, 2, 3], "whole numbers from 0 to 2, but 1 of 4 labels are not, the first at index 3: 3"),
    "from one": ([1, 2, 3, 3], "the first at index 2: 3. Labels must count from 0: subtract 1"),
    "negative": ([0, -1, 2, 2], "the first at index 1: -1"),
    "fraction": ([0, 1, 1.5, 2], "the first at index 2: 1.5"),
    "nan": ([0, 1, math.nan, 2], "the first at index 2: nan"),
    "boolean": ([True, False, True, True], "got bool values such as"),
    "names": (["a", "b", "c", "c"], "label: got names such as 'a'. Pass classes="),
    "mixed": (np.array([0, "b", 2, 2], dtype=object), "label: got names such as 0"),
    "masked": (np.ma.array([0, 1, 2, 2], mask=[0, 0, 0, 1]), "1 of 4 entries are masked"),
    "missing class": ([0, 0, 2, 2], "label: class 1 has no trial. Each class contributes its own mean"),
    "missing classes": ([0, 0, 0, 0], r"label: class 1 \(and 1 more of 3 classes\) have no trial"),
}


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("kind", BAD_LOGLIK)
def test_bad_loglik_is_refused(name, kind):
    values, message = BAD_LOGLIK[kind]
    with pytest.raises(InputError, match=f"^loglik: .*{message}"):
        METRICS[name](values, [0, 1])


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("kind", BAD_LOGLIK)
def test_bad_loglik_is_not_mapped(name, kind):
    values, message = BAD_LOGLIK[kind]
    with pytest.raises(InputError, match=f"^loglik: .*{message}"):
        MAPS[name](values)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("kind", BAD_LABEL)
def test_bad_labels_are_refused(name, kind):
    label, message = BAD_LABEL[kind]
    with pytest.raises(InputError, match=message):
        METRICS[name](LOGLIK, label)


@pytest.mark.parametrize("name", METRICS)
def test_labels_come_in_many_kinds(name):
    """Positions of any integer type or whole floats, or names."""
    expected = METRICS[name](LOGLIK, LABEL)
    names = np.array(["x", "y", "z"])
    for label in (np.array(LABEL, np.uint8), np.array(LABEL, np.float32), np.array(LABEL, object), tuple(LABEL)):
        assert_same(METRICS[name](LOGLIK, label), expected)
    for label in (names[LABEL], names[LABEL].tolist(), names[LABEL].astype(object), names[LABEL].astype("T")):
        assert_same(METRICS[name](LOGLIK, label, classes=names.tolist()), expected)


def assert_same(one, other):
    for field in getattr(one, "__dataclass_fields__", []):
        if field != "classes":
            # Training sums in another order where arrays have another layout.
            np.testing.assert_allclose(getattr(one, field), getattr(other, field), rtol=1e-11, atol=1e-13)
    if not hasattr(one, "__dataclass_fields__"):
        np.testing.assert_allclose(one, other, rtol=1e-11)


@pytest.mark.parametrize("name", METRICS)
def test_a_class_without_trials_is_named(name):
    classes = ["de", "en", "fr"]
    with pytest.raises(InputError, match=r"label: class 1 \('en'\) has no trial"):
        METRICS[name](LOGLIK, ["de", "de", "fr", "fr"], classes=classes)
    if name != "subsets":
        with pytest.raises(InputError, match=r"label: class 0 \('de'\) has only trials of weight 0"):
            METRICS[name](LOGLIK, LABEL, classes=classes, sample_weight=[0, 1, 1, 1])


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        (["a", "b"], "classes: 2 names for 3 classes"),
        (["a", "b", "a"], "classes: 'a' occurs twice"),
        (["a", "b", 3], "classes: names must be strings, got 3 at index 2"),
        ("abc", "classes: 0 names for 3 classes"),
        (["x", "y", "z"], "label: 4 of 4 labels are not among the classes, the first at index 0: 'a'"),
    ],
)
def test_bad_names_are_refused(classes, message):
    with pytest.raises(InputError, match=message):
        multiclass.cllr(LOGLIK, ["a", "b", "c", "c"], classes=classes)


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ([0.5, 0.5], r"prior: shape \(2,\) for 3 classes"),
        ([0.5, 0.2, 0.2], "prior: probabilities sum to 0.9, not to 1"),
        ([1.2, -0.1, -0.1], r"prior: probabilities are 0 or within \[1e-60, 1\], but that of class 0 is 1.2"),
        ([0.5, math.nan, 0.5], "prior: values must be finite"),
        ([1, 0, 0], "prior: only one class is possible"),
        (0.5, r"prior: shape \(\) for 3 classes"),
        ("flat", "prior: expected real numbers"),
    ],
)
def test_bad_priors_are_refused(prior, message):
    for metric in (multiclass.cross_entropy, multiclass.error_rate, multiclass.detection_analysis):
        with pytest.raises(InputError, match=message):
            metric(LOGLIK, LABEL, prior=prior)
    with pytest.raises(InputError, match=message):
        multiclass.posterior(LOGLIK, prior=prior)


def test_a_prior_of_float32_is_one():
    prior = np.full(3, 1 / 3, np.float32)
    found = multiclass.cross_entropy(LOGLIK, LABEL, prior=prior)
    assert found == pytest.approx(multiclass.cross_entropy(LOGLIK, LABEL, prior=None), rel=1e-15)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize(
    "convert",
    [
        lambda x: x.astype(np.float32),
        lambda x: (2 * x).astype(np.int8) / 2,
        np.asfortranarray,
        lambda x: np.repeat(x, 2, axis=1)[:, ::2],
        lambda x: x[::-1][::-1],
        lambda x: x.astype(object),
        lambda x: x.astype(np.longdouble),
        lambda x: x.tolist(),
    ],
)
def test_every_kind_of_array_gives_the_same_numbers(name, convert):
    assert_same(METRICS[name](convert(LOGLIK), LABEL), METRICS[name](LOGLIK, LABEL))


def test_input_arrays_are_left_alone():
    loglik, label, weight = LOGLIK.copy(), np.array(LABEL), np.ones(4)
    loglik[0, 1] = -math.inf
    before = loglik.copy()
    for one in (loglik, label, weight):
        one.flags.writeable = False
    for name, metric in METRICS.items():
        metric(loglik, label, **({} if name == "subsets" else {"sample_weight": weight}))
    for mapping in (multiclass.posterior, multiclass.detection_llrs):
        mapping(loglik)
    np.testing.assert_array_equal(loglik, before)


def test_bad_weights_are_refused():
    for weight, message in (([1, 1], "2 weights for 4"), ([1, 1, 1, -1], "at least 0"), ([0] * 4, "all 4 weights")):
        with pytest.raises(InputError, match=f"sample_weight: .*{message}"):
            multiclass.cllr(LOGLIK, LABEL, sample_weight=weight)
