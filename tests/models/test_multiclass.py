"""Files of models of many classes that were edited by hand: refused, with the place of what is wrong."""

import json

import pytest

import deciban
from deciban.calibration import (
    AffineCalibrator,
    ClassScaleTransformation,
    DetectionPavTransformation,
    GaussianBackend,
    GaussianCalibrator,
    MatrixTransformation,
    MulticlassCalibrator,
    MulticlassScaleCalibrator,
    MulticlassShiftCalibrator,
)
from deciban.errors import FormatError
from deciban.fusion import MulticlassFusion
from support.many_classes import problem

NAMES = ["deu", "eng", "fra", "spa"]
PRIOR = [0.1, 0.2, 0.3, 0.4]


def content_of(model, path, *, classes=NAMES):
    """What stands in the file of a trained model."""
    systems, label = problem(200, 2)
    model.fit(systems if isinstance(model, MulticlassFusion) else systems[:, 0], label, classes=classes)
    model.save(path)
    return json.loads(path.read_text())


def refused(content, path, words):
    path.write_text(json.dumps(content))
    with pytest.raises(FormatError, match=words) as caught:
        deciban.load_model(path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    ("model", "change", "words"),
    [
        (
            MulticlassScaleCalibrator(),
            lambda p: p["offset"].__setitem__(2, 0.5),
            r"parameters\.offset\.2: 0 was expected",
        ),
        (MulticlassShiftCalibrator(), lambda p: p.update(scale=2.0), r"parameters\.scale: 1 was expected"),
        (
            MulticlassFusion(offsets=False),
            lambda p: p["offset"].__setitem__(1, 0.5),
            r"parameters\.offset: not all are 0, but the setting offsets is false",
        ),
        (MulticlassCalibrator(), lambda p: p["offset"].pop(), r"parameters\.offset, classes: 4 names for 3 classes"),
        (
            MulticlassCalibrator(prior=PRIOR),
            lambda p: p.update(offset=[0.0] * 5, classes=None),
            r"parameters\.offset, settings\.prior: shape \(4,\) for 5 classes",
        ),
        (
            MatrixTransformation(ridge=0.1),
            lambda p: p["offset"].pop(),
            r"parameters\.matrix, offset: expected 3 rows of 3 numbers for 3 offsets, got 4 rows of 4",
        ),
        (GaussianBackend(), lambda p: p["mean"].pop(), r"parameters\.mean, classes: 4 names for 3 classes"),
        (DetectionPavTransformation(), lambda p: p["detectors"].pop(), "detectors, classes: 4 names for 3 classes"),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "kind") else "",
)
def test_parameters_that_contradict_kind_settings_or_each_other(tmp_path, model, change, words):
    content = content_of(model, tmp_path / "m.json")
    change(content["parameters"])
    refused(content, tmp_path / "m.json", words)


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ({}, r"training\.counts: of nothing, but the model has deu, eng, fra, spa"),
        ({"deu": 1, "eng": 1, "fra": 1}, r"training\.counts: of deu, eng, fra, but"),
        ({"deu": 1, "eng": 1, "fra": 1, "ita": 1}, r"training\.counts: of deu, eng, fra, ita, but"),
        ({"deu": 1, "eng": 1, "fra": 1, "spa": 1e308}, r"training\.counts\.spa"),
        ({"deu": 1, "eng": 1, "fra": 1, "spa": 1.5}, r"training\.counts\.spa"),
    ],
)
def test_numbers_of_trials_are_those_of_the_classes(tmp_path, counts, words):
    content = content_of(MulticlassCalibrator(), tmp_path / "m.json")
    content["training"]["counts"] = counts
    refused(content, tmp_path / "m.json", words)


def test_numbers_of_trials_of_classes_without_names(tmp_path):
    content = content_of(ClassScaleTransformation(), tmp_path / "m.json", classes=None)
    assert list(deciban.load_model(tmp_path / "m.json").training_.counts) == ["0", "1", "2", "3"]
    del content["training"]["counts"]["3"]
    refused(content, tmp_path / "m.json", r"training\.counts: of 0, 1, 2, but the model has 0, 1, 2, 3")


def test_a_whole_number_written_as_a_float_is_one(tmp_path):
    content = content_of(MulticlassCalibrator(), tmp_path / "m.json")
    content["training"]["counts"]["deu"] = 7.0
    (tmp_path / "m.json").write_text(json.dumps(content))
    assert type(deciban.load_model(tmp_path / "m.json").training_.counts["deu"]) is int


def test_numbers_of_trials_of_two_classes(tmp_path):
    path = tmp_path / "m.json"
    AffineCalibrator().fit([1.0, 2.0, 0.0, 1.5], [True, True, False, False]).save(path)
    content = json.loads(path.read_text())
    del content["training"]["counts"]["n_non"]
    refused(content, path, r"training\.counts: of n_tar, but the model has n_tar, n_non")


@pytest.mark.parametrize(
    ("model", "settings", "words"),
    [
        (MulticlassCalibrator(), {"ridge": True}, r"settings\.ridge: true, but this setting is not a truth value"),
        (GaussianBackend(), {"smoothing": False}, r"settings\.smoothing: false, but this setting is not a truth value"),
        (
            DetectionPavTransformation(),
            {"bound": True},
            r"settings\.bound: true, but this setting is not a truth value",
        ),
        (GaussianBackend(), {"covariance": ["shared"]}, r"settings\.covariance: got list \['shared'\]"),
        (GaussianBackend(), {"ridge": -1.0}, r"settings\.ridge: got -1"),
        (MulticlassCalibrator(), {"prior": [0.5, 0.6]}, r"settings\.prior: probabilities sum to"),
    ],
)
def test_settings_out_of_range(tmp_path, model, settings, words):
    content = content_of(model, tmp_path / "m.json")
    content["settings"].update(settings)
    refused(content, tmp_path / "m.json", words)


def test_truth_values_are_taken_where_they_belong(tmp_path):
    assert content_of(MulticlassFusion(offsets=False), tmp_path / "m.json")["settings"]["offsets"] is False
    assert deciban.load_model(tmp_path / "m.json").offsets is False
    path = tmp_path / "g.json"
    scores, is_target = [1.0, 2.5, 0.0, 1.5], [True, True, False, False]
    GaussianCalibrator(shared_variance=False).fit(scores, is_target).save(path)
    assert deciban.load_model(path).shared_variance is False


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_the_line_of_what_is_no_number_is_named(tmp_path, word):
    path = tmp_path / "m.json"
    names = [f'{word}, "{word}', "a\\", "NaN", "b"]  # in texts they are legal
    content = content_of(MulticlassCalibrator(), path, classes=names)
    lines = path.read_text().replace(repr(content["parameters"]["scale"]), word).splitlines()
    path.write_text("\n".join(lines))
    line = next(i for i, text in enumerate(lines, 1) if '"scale"' in text)
    with pytest.raises(FormatError, match=rf"m\.json:{line}: {word} is not a valid number"):
        deciban.load_model(path)
