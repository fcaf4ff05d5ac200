"""Models trained on arrays and data frames are those that estimators train on the same arrays."""

import numpy as np
import pytest

import deciban
from deciban.calibration import MulticlassCalibrator, PavCalibrator
from deciban.errors import DecibanError
from deciban.fusion import LinearFusion, MulticlassFusion
from support.frames import CLASS, CLASSES, COLUMNS, LOGLIK, MAKERS, OTHER, SCORES, TRUTH

BOTH = np.column_stack([SCORES, OTHER])
STACKED = np.stack([LOGLIK, LOGLIK + np.random.default_rng(3).normal(size=LOGLIK.shape)], axis=1)


@pytest.fixture(params=MAKERS.values(), ids=MAKERS)
def frame(request):
    return request.param


def of(*names):
    """Data frames of some libraries: how all are read is tested with `deciban.calibrate`."""
    return pytest.mark.parametrize("frame", [MAKERS[name] for name in names], ids=names)


def test_a_calibration_is_that_of_the_estimator(frame):
    expected = deciban.calibration.AffineCalibrator().fit(SCORES, TRUTH)
    for trained in (
        deciban.calibrate(SCORES, TRUTH),
        deciban.calibrate(frame(COLUMNS), "same", score="llr"),
        deciban.calibrate(frame(COLUMNS), label="same", score="llr", trial="utterance"),
    ):
        assert (trained.model.scale_, trained.model.offset_) == (expected.scale_, expected.offset_)
        llr = expected.scale_ * SCORES + expected.offset_
        assert trained.after.cllr == pytest.approx(deciban.metrics.cllr(llr[TRUTH], llr[~TRUTH]), rel=1e-9)
        assert trained.before.cllr == deciban.metrics.cllr(SCORES[TRUTH], SCORES[~TRUTH])


def test_a_model_that_was_passed_is_copied_and_trained():
    model = PavCalibrator()
    trained = deciban.calibrate(SCORES, TRUTH.astype(int), model)
    assert isinstance(trained.model, PavCalibrator)
    assert trained.model is not model
    assert model.training_ is None


@of("pandas", "stream")
def test_weights_are_an_array_or_a_column(frame):
    weight = np.asarray(COLUMNS["copies"])
    expected = LinearFusion().fit(BOTH, TRUTH, sample_weight=weight)
    array = deciban.fuse(BOTH, TRUTH, weights=weight)
    column = deciban.fuse(frame(COLUMNS), label="same", score=["llr", "other"], weights="copies")
    for trained in (array, column):
        np.testing.assert_allclose(trained.model.weights_, expected.weights_, rtol=1e-6)
        assert trained.model.offset_ == pytest.approx(expected.offset_, rel=1e-6, abs=1e-9)


@of("polars", "batch")
def test_a_fusion_tells_what_each_system_is_worth(frame):
    trained = deciban.fuse(frame(COLUMNS), label="same", score=["llr", "other"])
    assert {row.name for row in trained.rows} >= {"llr", "other", "fusion"}
    np.testing.assert_allclose(trained.model.weights_, LinearFusion().fit(BOTH, TRUTH).weights_, rtol=1e-6)
    assert trained.model.training_.systems == ("llr", "other")
    named = deciban.fuse(BOTH, TRUTH, score=["a", "b"])
    assert named.model.training_.systems == ("a", "b")


@of("mapping", "pandas")
def test_cross_validation_by_a_column_and_by_rows(frame):
    by_speaker = deciban.calibrate(frame(COLUMNS), label="same", score="llr", cross_validate="speaker")
    assert by_speaker.cross_validated.cllr >= by_speaker.after.cllr
    assert deciban.calibrate(SCORES, TRUTH, cross_validate=5).cross_validated.n_tar == TRUTH.sum()


@of("polars", "table")
def test_words_for_the_truth(frame):
    words = np.where(TRUTH, "bonafide", "spoof")
    for trained in (deciban.calibrate(SCORES, words), deciban.calibrate(frame({"score": SCORES, "label": words}))):
        assert trained.after.n_tar == TRUTH.sum()
    other = np.where(TRUTH, "y", "n")
    with pytest.raises(deciban.FormatError, match="unknown label"):
        deciban.calibrate(SCORES, other)
    trained = deciban.calibrate(SCORES, other, labels={"target": "y", "nontarget": "n"})
    assert trained.after.n_tar == TRUTH.sum()


def test_many_classes(frame):
    columns = {name: LOGLIK[:, k] for k, name in enumerate(CLASSES)}
    columns["class"] = np.array(CLASSES)[CLASS]
    expected = MulticlassCalibrator().fit(LOGLIK, CLASS)
    for trained in (
        deciban.calibrate(frame(columns), classes=CLASSES),
        deciban.calibrate(LOGLIK, CLASS, classes=CLASSES),
        deciban.calibrate(LOGLIK, CLASS, MulticlassCalibrator()),
    ):
        assert trained.model.scale_ == pytest.approx(expected.scale_, rel=1e-6)
        assert trained.kind == "classes"


@of("pandas", "stream")
def test_fusion_of_many_classes(frame):
    names = {one: [f"{one} {name}" for name in CLASSES] for one in "AB"}
    columns = {names[one][k]: STACKED[:, j, k] for j, one in enumerate("AB") for k in range(3)}
    expected = MulticlassFusion().fit(STACKED, CLASS)
    for trained in (
        deciban.fuse(STACKED, CLASS, classes=CLASSES),
        deciban.fuse(frame({**columns, "class": np.array(CLASSES)[CLASS]}), classes=CLASSES, score=names),
    ):
        np.testing.assert_allclose(trained.model.weights_, expected.weights_, rtol=1e-5)
    weighted = deciban.fuse(STACKED, CLASS, classes=CLASSES, weights=np.arange(len(CLASS)) % 2)
    np.testing.assert_allclose(
        weighted.model.weights_, MulticlassFusion().fit(STACKED[1::2], CLASS[1::2]).weights_, rtol=1e-5
    )


REFUSED = {
    "a fusion to calibrate": (lambda: deciban.calibrate(SCORES, TRUTH, LinearFusion()), "is for deciban.fuse"),
    "a calibrator to fuse": (lambda: deciban.fuse(BOTH, TRUTH, PavCalibrator()), "is for deciban.calibrate"),
    "no model": (lambda: deciban.calibrate(SCORES, TRUTH, "affine"), "model: got str"),
    "two systems": (lambda: deciban.calibrate(BOTH, TRUTH), "use deciban.fuse"),
    "two columns": (lambda: deciban.calibrate(COLUMNS, "same", score=["llr", "other"]), "use deciban.fuse"),
    "no columns": (lambda: deciban.fuse(COLUMNS, "same"), "score: none given"),
    "labels that are too few": (lambda: deciban.calibrate(SCORES, TRUTH[1:]), "label: expected 300 labels"),
    "weights that are too few": (lambda: deciban.calibrate(SCORES, TRUTH, weights=[1.0]), "weights: 1 weights for 300"),
    "names that are too few": (lambda: deciban.fuse(BOTH, TRUTH, score=["a"]), "expected 2 different names"),
    "a system called label": (lambda: deciban.fuse(BOTH, TRUTH, score=["a", "label"]), "cannot be called label"),
    "names of trials of arrays": (lambda: deciban.calibrate(SCORES, TRUTH, trial="utterance"), "trial: names a column"),
    "labels of classes": (lambda: deciban.calibrate(LOGLIK, CLASS, classes=CLASSES, labels={}), "labels: are words"),
    "no truth": (lambda: deciban.calibrate(SCORES), "label: none given"),
    "a column of truth that is not there": (lambda: deciban.calibrate(COLUMNS, score="llr"), "no column 'label'"),
    "classes of a model of two": (lambda: deciban.fuse(BOTH, TRUTH, LinearFusion(), classes=CLASSES), "classes: "),
    "four axes": (lambda: deciban.fuse(STACKED[None], CLASS, classes=CLASSES), "expected shape"),
}


@pytest.mark.parametrize(("call", "words"), REFUSED.values(), ids=REFUSED)
def test_what_makes_no_sense_is_refused(call, words):
    with pytest.raises(DecibanError, match=words):
        call()
