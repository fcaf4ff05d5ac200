"""Exported models compute what the models compute: as Python, as JSON read by a reader written here, and as ONNX."""

import bisect
import json
import math

import numpy as np
import pytest

from deciban.calibration import (
    AffineCalibrator,
    BetaCalibrator,
    BoundCalibrator,
    Chain,
    ClassScaleTransformation,
    DetectionAffineTransformation,
    ElubCalibrator,
    GaussianCalibrator,
    MatrixTransformation,
    MulticlassCalibrator,
    PavCalibrator,
    ScaleCalibrator,
    ShiftCalibrator,
)
from deciban.errors import DecibanWarning, InputError
from deciban.fusion import LinearFusion, MulticlassFusion
from deciban.models import exported, load_model

RNG = np.random.default_rng(3)
TRUTH = np.arange(240) % 3 == 0
SCORES = RNG.normal(2.0 * TRUTH, 1.2).round(2)
BEYOND = np.concatenate([SCORES, np.linspace(-9, 12, 200)])
SHARES = 1 / (1 + np.exp(-SCORES))
PAIRS = np.column_stack([SCORES, RNG.normal(TRUTH, 1)])
LABEL = np.arange(240) % 4
LOGLIK = RNG.normal(size=(240, 4)) + 2 * np.eye(4)[LABEL]
BOTH = np.stack([LOGLIK, LOGLIK + RNG.normal(size=LOGLIK.shape)], axis=1)

TWO = {
    "affine": (AffineCalibrator(), SCORES, BEYOND),
    "shift": (ShiftCalibrator(), SCORES, BEYOND),
    "scale": (ScaleCalibrator(), SCORES, BEYOND),
    "pav": (PavCalibrator(smoothing=1.0), SCORES, BEYOND),
    "pav step": (PavCalibrator(bound=3.0, interpolation="step"), SCORES, BEYOND),
    "pav of one block": (PavCalibrator(smoothing=500.0), SCORES, BEYOND),
    "beta": (BetaCalibrator(), SHARES, SHARES),
    "beta of log odds": (BetaCalibrator(scores="log_odds"), SCORES, BEYOND),
    "gaussian": (GaussianCalibrator(), SCORES, BEYOND),
    "gaussian of one variance": (GaussianCalibrator(shared_variance=True), SCORES, BEYOND),
    "chain": (Chain(AffineCalibrator(), ElubCalibrator()), SCORES, BEYOND),
    "chain of a table": (Chain(PavCalibrator(smoothing=1.0), BoundCalibrator(high=1)), SCORES, BEYOND),
    "linear fusion": (LinearFusion(), PAIRS, PAIRS * 3),
}
CLASSES = {
    "calibration": (MulticlassCalibrator(), LOGLIK),
    "fusion": (MulticlassFusion(), BOTH),
    "scales": (ClassScaleTransformation(), LOGLIK),
    "matrix": (MatrixTransformation(), LOGLIK),
}


@pytest.fixture(scope="module")
def fitted():
    """Trained models of two classes, with scores to apply them to."""

    def fit(name, model, scores):
        if name != "pav of one block":
            return model.fit(scores, TRUTH)
        with pytest.warns(DecibanWarning, match="one block"):
            return model.fit(scores, TRUTH)

    return {name: (fit(name, model, scores), others) for name, (model, scores, others) in TWO.items()}


def from_table(text, row):
    """Compute from the table of steps."""
    x = None
    row = np.atleast_1d(row)
    for step in json.loads(text)["steps"]:
        x = row[0] if x is None else x
        if step["op"] == "linear":
            x = sum(w * s for w, s in zip(step["weights"], row if len(row) > 1 else [x], strict=True)) + step["offset"]
        elif step["op"] == "clip":
            x = min(max(x, step["low"]), step["high"])
        elif step["op"] == "table":
            x = float(np.interp(x, step["scores"], step["llrs"]))
        elif step["op"] == "steps":
            x = step["llrs"][bisect.bisect_right(step["borders"], x)]
        elif step["op"] == "log_odds":
            x = math.log(x / (1 - x))
        elif step["op"] == "beta":
            p = 1 / (1 + math.exp(-x))
            x = step["a"] * math.log(p) - step["b"] * math.log1p(-p) + step["c"]
        else:
            densities = [
                -0.5 * ((x - step[f"mean_{k}"]) / step[f"sd_{k}"]) ** 2 - math.log(step[f"sd_{k}"])
                for k in ("tar", "non")
            ]
            x = densities[0] - densities[1]
    return x


@pytest.mark.parametrize("name", TWO)
def test_a_function_and_a_table_compute_the_same(name, fitted):
    model, scores = fitted[name]
    made, expected, namespace = exported(model), model.transform(scores), {}
    source = made.to_python()
    exec(source, namespace)  # noqa: S102
    assert [namespace["llr"](row) for row in scores.tolist()] == pytest.approx(expected.tolist(), abs=1e-9)
    assert [from_table(made.to_json(), row) for row in scores] == pytest.approx(expected.tolist(), abs=1e-6)
    assert len(source.splitlines()) <= 14
    imported = {line.split()[1] for line in source.splitlines() if line.startswith(("import", "from"))}
    assert imported <= {"math", "bisect"}


@pytest.mark.parametrize("name", CLASSES)
def test_a_function_of_classes_computes_the_same(name):
    model, scores = CLASSES[name]
    model.fit(scores, LABEL)
    made, namespace = exported(model), {}
    exec(made.to_python(), namespace)  # noqa: S102
    rows = scores if scores.ndim == 3 else scores[:, None]
    found = np.array([namespace["loglik"](row) for row in rows.tolist()])
    assert found == pytest.approx(np.asarray(model.transform(scores)), abs=1e-9)
    assert json.loads(made.to_json())["steps"][0]["op"] in ("classes", "diagonal", "matrix")


CERTAIN = np.array([[1.0, -np.inf, 0.0, 0.0], [np.inf, 0.0, 0.0, 0.0], [0.0, 1.0, 2.0, 0.5]])


def with_scales(*scale):
    model = ClassScaleTransformation().fit(LOGLIK, LABEL)
    model.scale_ = np.array(scale)
    return model


def called(model):
    """The exported function of a model."""
    namespace = {}
    exec(exported(model).to_python(), namespace)  # noqa: S102
    return lambda row: namespace["loglik"]([list(row)])


def test_infinite_scores_are_certain_or_refused_as_in_the_model():
    model = with_scales(1.0, 0.5, 2.0, 1.5)
    np.testing.assert_allclose([called(model)(row) for row in CERTAIN], model.transform(CERTAIN), atol=1e-12)
    negative, matrix = with_scales(1.0, -0.5, 2.0, 0.0), MatrixTransformation().fit(LOGLIK, LABEL)
    for model, words in ((negative, "excludes a class whose scale"), (matrix, "needs finite scores")):
        for row in CERTAIN[:2]:
            with pytest.raises(InputError):
                model.transform([row])
            with pytest.raises(ValueError, match=words):
                called(model)(row)


def session(content):
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: it checks exported ONNX models")
    return runtime.InferenceSession(content)


@pytest.mark.parametrize("name", TWO)
def test_onnx_computes_the_same(name, fitted):
    pytest.importorskip("onnx", reason="onnx is not installed: it is an optional extra")
    model, scores = fitted[name]
    rows = scores if scores.ndim == 2 else scores[:, None]
    (found,) = session(exported(model).to_onnx()).run(["llr"], {"scores": rows})
    assert found == pytest.approx(model.transform(scores), abs=1e-6)


@pytest.mark.parametrize("name", CLASSES)
def test_onnx_of_classes_computes_the_same(name):
    pytest.importorskip("onnx", reason="onnx is not installed: it is an optional extra")
    model, scores = CLASSES[name]
    model.fit(scores, LABEL)
    rows = scores if scores.ndim == 3 else scores[:, None]
    (found,) = session(exported(model).to_onnx()).run(["loglik"], {"scores": rows})
    assert found == pytest.approx(np.asarray(model.transform(scores)), abs=1e-6)


def test_onnx_has_nan_where_the_model_refuses_infinite_scores():
    pytest.importorskip("onnx", reason="onnx is not installed: it is an optional extra")

    def computed(model):
        return session(exported(model).to_onnx()).run(["loglik"], {"scores": CERTAIN[:, None]})[0]

    model = with_scales(1.0, 0.5, 2.0, 1.5)
    np.testing.assert_allclose(computed(model), model.transform(CERTAIN), atol=1e-12)
    for model in (with_scales(1.0, -0.5, 2.0, 0.0), MatrixTransformation().fit(LOGLIK, LABEL)):
        assert np.isnan(computed(model)).all(axis=1).tolist() == [True, True, False]
        np.testing.assert_allclose(computed(model)[2:], model.transform(CERTAIN[2:]), atol=1e-12)


def test_what_cannot_be_exported_is_refused():
    with pytest.raises(InputError, match="detection-affine cannot be exported. Use one of affine"):
        exported(DetectionAffineTransformation().fit(LOGLIK, LABEL))
    with pytest.raises(InputError, match="infinite. Train it with smoothing or a bound"):
        exported(PavCalibrator().fit(SCORES, TRUTH))
    with pytest.raises(InputError, match="fit"):
        exported(AffineCalibrator())


@pytest.mark.parametrize("option", ["--log10", "--lr", "--negate", "--probabilities 0.5"])
def test_a_model_of_scores_that_apply_converts_is_refused(option, tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scores = 1.0 / (1.0 + np.exp(-SCORES))
    rows = "".join(f"{int(truth)},{score!r}\n" for truth, score in zip(TRUTH, scores.tolist(), strict=True))
    (tmp_path / "scores.csv").write_text(f"label,score\n{rows}")
    assert run(f"calibrate scores.csv {option} -o model.json")[0] == 0
    code, out, err = run("export model.json --to python -o model.py")
    assert (code, out) == (2, "")
    assert "which only deciban apply converts" in err
    assert not (tmp_path / "model.py").exists()


def test_the_command_writes_each_form(tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = AffineCalibrator().fit(SCORES, TRUTH)
    model.save("model.json")
    code, out, err = run("export model.json --to python -o -")
    assert (code, err.strip()) == (0, "wrote standard output")
    namespace = {}
    exec(out, namespace)  # noqa: S102
    assert namespace["llr"](0.5) == load_model("model.json").transform([0.5])[0]
    assert run("export model.json --to json-table -o table.json")[0] == 0
    assert json.loads((tmp_path / "table.json").read_text())["deciban_export"] == 1
    code, out, err = run("export model.json --to python -o model.json")
    assert (code, out) == (2, "")
    code, _, err = run("export model.json --to python -o - --json")
    assert code == 2
    assert "both the output (-) and --json go to standard output" in err


def test_onnx_names_its_package(tmp_path, run, monkeypatch):
    import sys

    monkeypatch.chdir(tmp_path)
    AffineCalibrator().fit(SCORES, TRUTH).save("model.json")
    monkeypatch.setitem(sys.modules, "onnx", None)
    code, _, err = run("export model.json --to onnx -o model.onnx")
    assert (code, "pip install 'deciban[onnx]'" in err) == (2, True)
    assert not (tmp_path / "model.onnx").exists()
