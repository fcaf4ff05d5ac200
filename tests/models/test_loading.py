"""Model files: every bit comes back, and nothing that is wrong is believed."""

import io
import json
import subprocess
import sys

import numpy as np
import pytest

import deciban
from deciban.calibration import AffineCalibrator, BoundCalibrator, ScaleCalibrator
from deciban.errors import FormatError, InputError
from deciban.fusion import LinearFusion, SubsetFusion
from deciban.models.model import uncertainty_of

SCORES = [3.0, 1.0, 2.0, -1.0, 1.5, 0.1]
IS_TARGET = [True, True, True, False, False, False]


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model.json"
    AffineCalibrator(p_target=0.01, alpha=2, beta=1.5, ridge=1e-3).fit(SCORES, IS_TARGET).save(path)
    return path


def test_every_bit_comes_back(saved):
    model = AffineCalibrator(p_target=0.01, alpha=2, beta=1.5, ridge=1e-3).fit(SCORES, IS_TARGET)
    back = deciban.load_model(saved)
    assert type(back) is AffineCalibrator
    assert (back.scale_, back.offset_) == (model.scale_, model.offset_)
    assert back.settings == model.settings
    assert back.training_ == model.training_
    x = np.random.default_rng(1).normal(size=50)
    np.testing.assert_array_equal(back.transform(x), model.transform(x))


def test_a_person_can_read_it(saved):
    content = json.loads(saved.read_text())
    assert content["kind"] == "affine"
    assert content["deciban_version"] == deciban.__version__
    assert content["settings"] == {"p_target": 0.01, "alpha": 2, "beta": 1.5, "ridge": 0.001}
    assert set(content["parameters"]) == {"scale", "offset"}
    assert content["training"]["counts"] == {"n_tar": 3, "n_non": 3}
    assert len(content["training"]["fingerprint"]) == 16
    assert "converged" in content["training"]["results"]["status"]
    assert "\n  " in saved.read_text()


def test_the_kind_decides_the_class(tmp_path):
    path = tmp_path / "model.json"
    ScaleCalibrator().fit(SCORES, IS_TARGET).save(path)
    assert type(deciban.load_model(path)) is ScaleCalibrator


def edited(path, change):
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    return path


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: c.pop("deciban_model"), "not a deciban model"),
        (lambda c: c.update(deciban_model=2), "layout 2"),
        (lambda c: c.update(kind="os.system"), "kind 'os.system' is unknown"),
        (lambda c: c.update(kind=["affine"]), "is unknown"),
        (lambda c: c.pop("parameters"), "parameters"),
        (lambda c: c["parameters"].pop("scale"), "scale"),
        (lambda c: c["parameters"].update(scale="1.0"), r"parameters\.scale"),
        (lambda c: c["parameters"].update(scale=None), r"parameters\.scale"),
        (lambda c: c["parameters"].update(scale=[1.0]), r"parameters\.scale"),
        (lambda c: c["parameters"].update(scale="inf"), r"parameters\.scale"),
        (lambda c: c["parameters"].update(more=1.0), "more"),
        (lambda c: c["settings"].update(p_target=2.0), "p_target"),
        (
            lambda c: c["settings"].update(unknown=2.0),
            r"settings\.unknown: not a setting of a model of kind 'affine'; known settings: p_target, alpha, beta,",
        ),
        (lambda c: c["settings"].update(alpha="x"), "alpha"),
        (lambda c: c.update(settings=[]), "settings"),
        (lambda c: c["training"].update(counts={"n_tar": -1}), r"training\.counts"),
        (lambda c: c["training"].update(fingerprint="zz"), r"training\.fingerprint"),
        (lambda c: c["training"].pop("systems"), "systems"),
    ],
)
def test_a_wrong_file_is_refused_and_the_place_is_named(saved, change, words):
    with pytest.raises(FormatError, match=words) as caught:
        deciban.load_model(edited(saved, change))
    assert str(saved) in str(caught.value)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"text"',
        b"\xff\xfe{}",
        b'{"deciban_model": NaN}',
        b'{"deciban_model": 1, "deciban_model": 1}',
        b"[" * 100_000,
        b'{"deciban_model": ' + b"9" * 5000 + b"}",
        b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00.",
    ],
)
def test_what_is_no_model_is_refused(tmp_path, data):
    path = tmp_path / "model.json"
    path.write_bytes(data)
    with pytest.raises(FormatError, match="model.json"):
        deciban.load_model(path)


def test_numbers_too_large_for_a_float_are_refused(saved):
    scale = json.loads(saved.read_text())["parameters"]["scale"]
    saved.write_text(saved.read_text().replace(repr(scale), "1e999"))
    with pytest.raises(FormatError, match="1e999 is not a valid number"):
        deciban.load_model(saved)


def test_cutting_the_file_anywhere_is_noticed(saved):
    data = saved.read_bytes().rstrip()
    for length in range(0, len(data), 7):
        saved.write_bytes(data[:length])
        with pytest.raises(FormatError):
            deciban.load_model(saved)


def test_a_failed_save_leaves_the_old_file(saved, monkeypatch):
    before = saved.read_bytes()
    model = AffineCalibrator().fit(SCORES, IS_TARGET)
    monkeypatch.setattr(AffineCalibrator, "parameters", lambda _: {"scale": float("nan")})
    with pytest.raises(ValueError, match="not JSON compliant"):
        model.save(saved)
    assert saved.read_bytes() == before


def test_calibration_needs_no_library_for_files():
    code = "import sys, deciban.calibration; print(sorted({m.split('.')[0] for m in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    for heavy in ("pyarrow", "h5py", "matplotlib", "jsonschema", "click", "rich", "sklearn"):
        assert f"'{heavy}'" not in loaded


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("parameters", '{"scale": 1' + "0" * 400 + ', "offset": 0}', "is not a valid number"),
        ("deciban_version", '"\\ud800"', "not valid JSON"),
    ],
)
def test_what_could_not_be_used_or_written_again_is_refused(saved, name, text, words):
    content = json.loads(saved.read_text())
    content[name] = "HERE"
    saved.write_text(json.dumps(content).replace('"HERE"', text))
    with pytest.raises(FormatError, match=words):
        deciban.load_model(saved)


def test_an_infinite_objective_comes_back_as_a_number(tmp_path):
    path = tmp_path / "model.json"
    BoundCalibrator(low=-3.0).fit([1.0, np.inf], [True, False]).save(path)
    assert deciban.load_model(path).training_.results["objective"] == np.inf


def fused(tmp_path, model, systems):
    """The file of a fusion of three systems, with these names."""
    scores = np.random.default_rng(2).normal(size=(90, 3)) + (np.arange(90) % 3 == 0)[:, None]
    if isinstance(model, SubsetFusion):
        scores[::4, 1] = np.nan
    model.fit(scores, np.arange(90) % 3 == 0)
    path = tmp_path / "fusion.json"
    model.save(path)
    content = json.loads(path.read_text())
    content["training"]["systems"] = systems
    path.write_text(json.dumps(content))
    return path


@pytest.mark.parametrize("kind", [LinearFusion, lambda: SubsetFusion(missing="subset")])
def test_names_of_systems_are_as_many_and_different(tmp_path, kind):
    for systems in ([], ["a", "b", "c"]):
        assert deciban.load_model(fused(tmp_path, kind(), systems)).training_.systems == tuple(systems)
    for systems in (["a", "b"], ["a", "a", "c"], ["a", "b", "c", "d"]):
        with pytest.raises(FormatError, match=r"training\.systems: .* for a model of 3 systems"):
            deciban.load_model(fused(tmp_path, kind(), systems))


@pytest.mark.parametrize("number", [4, 10**30])
def test_a_fusion_for_subsets_names_as_many_systems_as_it_fuses(tmp_path, number):
    path = fused(tmp_path, SubsetFusion(missing="subset"), [])
    content = json.loads(path.read_text())
    content["parameters"]["n_systems"] = number
    path.write_text(json.dumps(content))
    with pytest.raises(FormatError, match="but there are fusions of 3 of them"):
        deciban.load_model(path)


def test_a_model_from_standard_input(saved, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(saved.read_bytes())))
    assert deciban.load_model("-").training_ == deciban.load_model(saved).training_
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"{}")))
    with pytest.raises(FormatError, match="standard input: JSON, but not a deciban model"):
        deciban.load_model("-")


def test_parameters_have_to_be_some():
    with pytest.raises(InputError, match="parameters: missing. A model of kind 'affine' has scale, offset"):
        AffineCalibrator().set_parameters({})


def test_units_that_are_trials_are_known_in_files_of_all_versions():
    """Files have the words of the source alone; what a loaded model prints is what the trained one printed."""
    units = {"n": 40, "noun": "trial", "source": "trials taken as independent"}
    content = {"units": units, "covariance": [[0.01, 0.0], [0.0, 0.02]]}
    model = AffineCalibrator().fit([1.0, -2.0, -1.0, 1.5, -2.5], [1, 1, 0, 0, 0])
    assert uncertainty_of(content, model).words.endswith("by 40 trials taken as independent")
