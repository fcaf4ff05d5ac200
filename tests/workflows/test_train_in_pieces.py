"""Training on files that do not fit in memory: the model and the figures of training in memory, and clear refusals."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deciban import train_files
from deciban.calibration import AffineCalibrator, GaussianCalibrator, MulticlassCalibrator
from deciban.errors import InputError
from deciban.fusion import LinearFusion, MulticlassFusion, QualityFusion
from deciban.io.shards.opening import open_shards
from deciban.workflows import streaming
from support.commands import terminal


@pytest.fixture
def files(tmp_path):
    """Scores of two systems on the same trials in their order, each with labels, in folders of Parquet files."""
    rng = np.random.default_rng(1)
    for name, spread in (("A", 1.5), ("B", 2.0)):
        (tmp_path / name).mkdir()
        for at in range(3):
            truth = np.random.default_rng(at).random(2000) < 0.2
            scores = np.where(truth, 1.5, -1.5) + spread * rng.normal(size=2000)
            table = pa.table({"trial": [f"{at}-{k}" for k in range(2000)], "score": scores, "label": truth})
            pq.write_table(table, tmp_path / name / f"{at}.parquet", row_group_size=700)
    return [tmp_path / "A", tmp_path / "B"]


@pytest.fixture
def too_large(monkeypatch):
    """No file fits in memory."""
    monkeypatch.setattr(streaming, "memory_of", lambda *_: 1 << 60)


def test_a_fusion_of_files_in_pieces_is_that_of_memory(files, monkeypatch):
    whole = train_files(files, None, LinearFusion(p_target=0.1))
    monkeypatch.setattr(streaming, "memory_of", lambda *_: 1 << 60)
    found = train_files(files, None, LinearFusion(p_target=0.1))
    np.testing.assert_allclose(found.model.weights_, whole.model.weights_, rtol=1e-9)
    assert found.model.training_.systems == ("A", "B")
    assert found.model.training_.fingerprint == whole.model.training_.fingerprint
    assert [(row.name, row.role) for row in found.rows] == [("A", "before"), ("B", "before"), ("fusion", "fusion")]
    assert found.after.cllr == pytest.approx(whole.after.cllr, rel=1e-9)
    assert found.after.min_cllr == pytest.approx(whole.after.min_cllr, rel=1e-9)
    assert any("1 piece, read more than once" in line for line in found.message_lines)
    assert set(found.to_dict()) == set(whole.to_dict())


def test_quality_measures_from_files_by_the_names_of_trials(tmp_path, monkeypatch):
    rng = np.random.default_rng(7)
    snr = {f"s{k}": float(rng.random()) for k in range(150)}
    lines = [f"{name} {x:.6f} 0\n" for name, x in snr.items() if name != "s9"]
    (tmp_path / "quality.txt").write_text("2\n" + "".join(lines))
    enroll, test = ([f"s{k}" for k in rng.integers(0, 150, 4000)] for _ in range(2))
    truth = rng.random(4000) < 0.3
    noise = np.array([snr[a] + snr[b] for a, b in zip(enroll, test, strict=True)])
    scores = np.where(truth, 1.0, -1.0) + 3.0 * noise + rng.normal(size=4000)
    path = tmp_path / "A.parquet"
    unique = np.unique([f"{a} {b}" for a, b in zip(enroll, test, strict=True)], return_index=True)[1]
    table = pa.table({"enroll": enroll, "test": test, "score": scores, "label": truth}).take(np.sort(unique))
    pq.write_table(table, path, row_group_size=900)
    asked = {"quality": tmp_path / "quality.txt", "measures": ["1"]}
    whole = train_files(path, None, QualityFusion(), **asked)
    monkeypatch.setattr(streaming, "memory_of", lambda *_: 1 << 60)
    found = train_files(path, None, QualityFusion(), **asked)
    np.testing.assert_allclose(found.model.weights_, whole.model.weights_, rtol=1e-8)
    np.testing.assert_allclose(found.model.quality_weights_, whole.model.quality_weights_, rtol=1e-7, atol=1e-9)
    assert found.model.training_.fingerprint == whole.model.training_.fingerprint
    assert found.after.cllr == pytest.approx(whole.after.cllr, rel=1e-8)
    with pytest.raises(InputError, match="no quality measures of trial for any trial"):
        train_files(path, None, QualityFusion(), quality={"trial": tmp_path / "quality.txt"})


@pytest.mark.usefixtures("too_large")
def test_a_calibration_and_its_figures(files):
    found = train_files(files[0], None, AffineCalibrator())
    assert [row.role for row in found.rows] == ["before", "calibration"]
    assert found.before.min_cllr == found.after.min_cllr
    assert found.before.cllr > found.after.cllr
    assert found.model.training_.systems == ("A",)


def test_the_model_that_is_given_stays_as_it_is(files):
    model = AffineCalibrator()
    train_files(open_shards(files[0]), None, model)
    assert not model.is_fitted


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ({"cross_validate": 5}, "cross_validate"),
        ({"select": True}, "select"),
        ({"test_scores": ["other.parquet"]}, "test_scores"),
    ],
)
def test_what_needs_all_trials_in_memory_is_refused_before_anything_is_read(files, asked, name):
    with pytest.raises(InputError, match=rf"^{name}: needs all trials in memory, and .* is read in pieces"):
        train_files(open_shards(files), None, LinearFusion(), **asked)


def test_models_of_another_kind_are_refused(files):
    with pytest.raises(InputError, match="is a model of many classes, and .* holds scores of two classes"):
        train_files(open_shards(files), None, MulticlassFusion())
    with pytest.raises(InputError, match="GaussianCalibrator: needs all trials in memory"):
        train_files(open_shards(files[0]), None, GaussianCalibrator())


def test_many_classes(tmp_path):
    rng = np.random.default_rng(2)
    label = np.arange(900) % 3
    loglik = rng.normal(size=(900, 3)) + 1.5 * np.eye(3)[label]
    columns = {name: loglik[:, k] for k, name in enumerate("xyz")}
    pq.write_table(pa.table({"class": [*np.array(list("xyz"))[label]], **columns}), tmp_path / "A.parquet")
    source = open_shards(tmp_path / "A.parquet", kind="classes", classes=["x", "y", "z"])
    found = train_files(source, None, MulticlassCalibrator())
    here = MulticlassCalibrator().fit(loglik, label)
    np.testing.assert_allclose(found.model.scale_, here.scale_, rtol=1e-9)
    np.testing.assert_allclose(found.model.offset_, here.offset_, rtol=1e-9, atol=1e-10)
    assert found.model.classes_ == ("x", "y", "z")


@pytest.mark.usefixtures("too_large")
def test_commands_train_in_pieces_and_write_the_model(files, tmp_path, monkeypatch, capsysbinary):
    output, run = tmp_path / "model.json", terminal(monkeypatch, capsysbinary)
    code, out, messages = run("fuse", *files, "-o", output, "--memory", "1GB")
    assert code == 0, messages
    assert b"fusion" in out
    assert json.loads(output.read_text())["training"]["systems"] == ["A", "B"]
    code, out, messages = run("calibrate", files[0], "-o", output, "--method", "pav", "--json")
    assert code == 0, messages
    assert [row["role"] for row in json.loads(out)["rows"]] == ["before", "calibration"]


@pytest.mark.usefixtures("too_large")
def test_llrs_of_pieces_are_written_by_apply(files, tmp_path, monkeypatch, capsysbinary):
    output, run = tmp_path / "model.json", terminal(monkeypatch, capsysbinary)
    code, _, messages = run("calibrate", files[0], "-o", output, "--llrs", tmp_path / "llr.csv")
    assert code != 0
    assert "llrs: needs all trials in memory" in messages
    assert not output.exists()
