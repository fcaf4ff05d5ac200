"""Training on files that do not fit in memory: the model and the metrics of training in memory, and clear refusals."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deciban import evaluate_files, load_model, train_files
from deciban.calibration import AffineCalibrator, MulticlassCalibrator
from deciban.errors import InputError
from deciban.fusion import LinearFusion, MulticlassFusion, QualityFusion, SubsetFusion
from deciban.io.partitions.opening import open_trials
from deciban.workflows import apply
from deciban.workflows.reading import inputs as opening
from support.commands import terminal


@pytest.fixture
def files(tmp_path):
    """Scores of two systems on the same trials in their order, each with labels, in folders of Parquet files."""
    rng = np.random.default_rng(1)
    for name, spread in (("A", 1.5), ("B", 2.0)):
        (tmp_path / name).mkdir()
        for at in range(3):
            truth = np.random.default_rng(at).random(800) < 0.2
            scores = np.where(truth, 1.5, -1.5) + spread * rng.normal(size=800)
            table = pa.table({"trial": [f"{at}-{k}" for k in range(800)], "score": scores, "label": truth})
            pq.write_table(table, tmp_path / name / f"{at}.parquet", row_group_size=280)
    return [tmp_path / "A", tmp_path / "B"]


@pytest.fixture
def too_large(monkeypatch):
    """No file fits in memory."""
    monkeypatch.setattr(opening, "memory_of", lambda *_: 1 << 60)


def test_a_fusion_of_files_in_partitions_is_that_of_memory(files, monkeypatch):
    whole = train_files(files, None, LinearFusion(p_target=0.1))
    monkeypatch.setattr(opening, "memory_of", lambda *_: 1 << 60)
    found = train_files(files, None, LinearFusion(p_target=0.1))
    np.testing.assert_allclose(found.model.weights_, whole.model.weights_, rtol=1e-9)
    assert found.model.training_.systems == ("A", "B")
    assert found.model.training_.fingerprint == whole.model.training_.fingerprint
    assert [(row.name, row.role) for row in found.rows] == [("A", "single"), ("B", "single"), ("fusion", "fusion")]
    assert found.after.cllr == pytest.approx(whole.after.cllr, rel=1e-9)
    assert found.after.min_cllr == pytest.approx(whole.after.min_cllr, rel=1e-9)
    assert any("batches, read more than once" in line for line in found.message_lines)
    assert set(found.to_dict()) == set(whole.to_dict())


def test_quality_measures_from_files_by_the_names_of_trials(tmp_path, monkeypatch):
    rng = np.random.default_rng(7)
    snr = {f"s{k}": float(rng.random()) for k in range(150)}
    lines = [f"{name} {x:.6f} 0\n" for name, x in snr.items() if name != "s9"]
    (tmp_path / "quality.txt").write_text("2\n" + "".join(lines))
    enroll, test = ([f"s{k}" for k in rng.integers(0, 150, 1600)] for _ in range(2))
    truth = rng.random(1600) < 0.3
    noise = np.array([snr[a] + snr[b] for a, b in zip(enroll, test, strict=True)])
    scores = np.where(truth, 1.0, -1.0) + 3.0 * noise + rng.normal(size=1600)
    path = tmp_path / "A.parquet"
    unique = np.unique([f"{a} {b}" for a, b in zip(enroll, test, strict=True)], return_index=True)[1]
    who = rng.integers(0, 40, 1600)
    columns = {"enroll": enroll, "test": test, "score": scores, "label": truth, "who": who}
    table = pa.table(columns).take(np.sort(unique))
    pq.write_table(table, path, row_group_size=200)
    asked = {"quality": tmp_path / "quality.txt", "measures": ["1"], "units": "who"}
    whole = train_files(path, None, QualityFusion(), **asked)
    monkeypatch.setattr(opening, "memory_of", lambda *_: 1 << 60)
    found = train_files(path, None, QualityFusion(), **asked)
    np.testing.assert_allclose(found.model.weights_, whole.model.weights_, rtol=1e-8)
    np.testing.assert_allclose(found.model.quality_weights_, whole.model.quality_weights_, rtol=1e-7, atol=1e-9)
    assert found.model.training_.fingerprint == whole.model.training_.fingerprint
    assert found.after.cllr == pytest.approx(whole.after.cllr, rel=1e-8)
    for one, other in ((found.model, whole.model), (found.model.backoff_, whole.model.backoff_)):
        np.testing.assert_allclose(one.errors_in_order, other.errors_in_order, rtol=1e-5)
        assert one.uncertainty_.words == other.uncertainty_.words
    evaluated = evaluate_files(path, model=found.model, quality=tmp_path / "quality.txt", intervals=False)
    assert evaluated.systems[0].cllr == pytest.approx(found.after.cllr, rel=1e-9)
    with pytest.raises(InputError, match="quality measures of trial, but the sides of .* are enroll and test"):
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
    train_files(open_trials(files[0]), None, model)
    assert not model.is_fitted


@pytest.fixture
def with_speakers(tmp_path):
    """Scores of three systems and a key, which meet by their names: every trial has two speakers; a system is noise."""
    rng = np.random.default_rng(5)
    names = {"enroll": [f"m{k}" for k in range(700)], "test": [f"s{k}" for k in rng.integers(0, 60, 700)]}
    truth, who = rng.random(700) < 0.3, rng.integers(0, 30, (2, 700))
    spoken = {name: [f"p{k}" for k in own] for name, own in zip(("speaker", "other"), who, strict=True)}
    pq.write_table(pa.table(names | {"label": truth} | spoken), tmp_path / "key.parquet", row_group_size=200)
    for name, mean in (("A", 1.0), ("B", 0.7), ("C", 0.0)):
        order = rng.permutation(700)
        scores = mean * np.where(truth, 1.0, -1.0) + 0.5 * rng.normal(size=30)[who[0]] + rng.normal(size=700)
        table = pa.table(names | {"score": scores}).take(order)
        pq.write_table(table, tmp_path / f"{name}.parquet", row_group_size=170)
    return [tmp_path / f"{name}.parquet" for name in "ABC"], tmp_path / "key.parquet"


@pytest.mark.parametrize("by", [4, "speaker", ("speaker", "other"), "test"])
def test_cross_validation_is_that_of_memory(with_speakers, by, monkeypatch):
    (first, second, _), key = with_speakers
    asked = {"cross_validate": by, "n_folds": 3, "intervals": False}
    whole = train_files([first, second], key, LinearFusion(), **asked)
    monkeypatch.setattr(opening, "memory_of", lambda *_: 1 << 60)
    found = train_files([first, second], key, LinearFusion(), **asked)
    assert found.rows[-1].name == "fusion (cross-validated)"
    assert found.cross_validated.cllr == pytest.approx(whole.cross_validated.cllr, rel=1e-8)
    assert found.cross_validated.eer == pytest.approx(whole.cross_validated.eer, rel=1e-8)
    folds = [[line for line in one.message_lines if line.startswith("folds")] for one in (found, whole)]
    assert folds[0] == folds[1] != []
    assert found.summary[-1] == whole.summary[-1]


def test_selection_is_that_of_memory(with_speakers, monkeypatch):
    scores, key = with_speakers
    asked = {"select": True, "cross_validate": "speaker", "n_folds": 3, "intervals": False}
    others = {"test_scores": scores[::-1], "test_key": key}
    of_memory = train_files(scores, key, LinearFusion(), **asked, **others)
    whole = of_memory.selection
    monkeypatch.setattr(opening, "memory_of", lambda *_: 1 << 60)
    done = train_files(scores, key, LinearFusion(), **asked, **others)
    found = done.selection
    assert (found.names, found.criterion, found.held_out) == (whole.names, whole.criterion, whole.held_out)
    assert found.n_trials == whole.n_trials
    for one, other in zip((*found.steps, *found.left_out), (*whole.steps, *whole.left_out), strict=True):
        assert (one.name, one.cost) == (other.name, pytest.approx(other.cost, rel=1e-8))
        assert one.same_data_cost == pytest.approx(other.same_data_cost, rel=1e-9)
    assert done.chosen == (0, 1)
    assert done.model.training_.systems == ("A", "B")
    assert [(row.name, row.role) for row in done.rows] == [(row.name, row.role) for row in of_memory.rows]
    for row, other in zip(done.rows, of_memory.rows, strict=True):
        assert row.dev.cllr == pytest.approx(other.dev.cllr, rel=1e-8)
        assert row.role == "cross-validated" or row.eval.cllr == pytest.approx(other.eval.cllr, rel=1e-9)
    assert done.rows[3].eval.cllr == pytest.approx(done.rows[3].dev.cllr, rel=1e-9)  # of the same trials


@pytest.mark.parametrize("asked", [{"cross_validate": 5}, {"select": True}])
def test_an_opened_source_must_know_what_is_held_out_together(files, asked):
    with pytest.raises(InputError, match=r"was opened without groups to hold out together\. Pass the files instead"):
        train_files(open_trials(files), None, LinearFusion(), **asked)
    with pytest.raises(InputError, match="was opened to hold out by trial, but other groups are requested"):
        train_files(open_trials(files, groups=["trial"]), None, LinearFusion(), **asked)
    done = train_files(open_trials(files[0], groups=()), None, AffineCalibrator(), cross_validate=3)
    assert done.cross_validated.cllr == pytest.approx(done.after.cllr, rel=0.01)


@pytest.mark.usefixtures("too_large")
def test_columns_to_hold_out_by_must_be_there(with_speakers):
    (first, *_), key = with_speakers
    with pytest.raises(
        InputError, match="no column 'sex' contains the groups for cross-validation; the columns are .*speaker"
    ):
        train_files(first, key, AffineCalibrator(), cross_validate="sex")


@pytest.mark.usefixtures("too_large")
def test_commands_cross_validate_and_select_in_partitions(with_speakers, tmp_path, monkeypatch, capsysbinary):
    scores, key = with_speakers
    output, run = tmp_path / "model.json", terminal(monkeypatch, capsysbinary)
    given = (*scores, "--key", key, "-o", output, "--select", "--cross-validate", "speaker:3", "--no-intervals")
    code, out, messages = run("fuse", *given)
    assert code == 0, messages
    assert b"Selection by cross-validated Cllr in bits, on 700 trials; held out: speaker, 3 folds" in out
    assert b"fusion (cross-validated)" in out
    code, _, messages = run("fuse", *given, "--llrs", tmp_path / "llrs/")
    assert code == 2
    assert "cross-validated llrs need scores that fit in memory" in messages


def test_models_of_another_kind_are_refused(files):
    with pytest.raises(InputError, match="two-class scores, but a model of kind .* is for multiclass scores"):
        train_files(open_trials(files), None, MulticlassFusion())


def test_fusions_of_sets_of_systems_take_complete_trials(files):
    done = train_files(open_trials(files), None, SubsetFusion(missing="subset", max_missing=1))
    assert sorted(done.model.fusions_) == [(0,), (0, 1), (1,)]
    assert done.after.cllr == pytest.approx(train_files(open_trials(files), None, LinearFusion()).after.cllr, rel=1e-9)


def test_many_classes(tmp_path):
    rng = np.random.default_rng(2)
    label = np.arange(900) % 3
    loglik = rng.normal(size=(900, 3)) + 1.5 * np.eye(3)[label]
    columns = {name: loglik[:, k] for k, name in enumerate("xyz")}
    pq.write_table(pa.table({"class": [*np.array(list("xyz"))[label]], **columns}), tmp_path / "A.parquet")
    source = open_trials(tmp_path / "A.parquet", kind="classes", classes=["x", "y", "z"])
    found = train_files(source, None, MulticlassCalibrator())
    here = MulticlassCalibrator().fit(loglik, label)
    np.testing.assert_allclose(found.model.scale_, here.scale_, rtol=1e-9)
    np.testing.assert_allclose(found.model.offset_, here.offset_, rtol=1e-9, atol=1e-10)
    assert found.model.classes_ == ("x", "y", "z")


@pytest.mark.usefixtures("too_large")
def test_commands_train_in_partitions_and_write_the_model(files, tmp_path, monkeypatch, capsysbinary):
    output, run = tmp_path / "model.json", terminal(monkeypatch, capsysbinary)
    code, out, messages = run("fuse", *files, "-o", output, "--memory", "1GB")
    assert code == 0, messages
    assert b"fusion" in out
    assert json.loads(output.read_text())["training"]["systems"] == ["A", "B"]
    code, out, messages = run("calibrate", files[0], "-o", output, "--method", "pav", "--json")
    assert code == 0, messages
    assert [row["role"] for row in json.loads(out)["rows"]] == ["before", "calibration"]


def test_other_trials_are_evaluated_in_partitions_as_in_memory(files, tmp_path, monkeypatch):
    others = [tmp_path / "other" / name for name in "BA"]  # in another order, known by their names
    for path, old in zip(others, files[::-1], strict=True):
        path.mkdir(parents=True)
        table = pq.read_table(old / "1.parquet")
        pq.write_table(table.take(np.arange(700)), path / "x.parquet", row_group_size=200)
    asked = {"test_scores": others, "intervals": False}
    whole = train_files(files, None, LinearFusion(), **asked)
    monkeypatch.setattr(opening, "memory_of", lambda *_: 1 << 60)
    found = train_files(files, None, LinearFusion(), **asked)
    of_memory = {row.name: row.eval for row in whole.rows}
    assert [(row.name, row.role) for row in found.rows] == [("A", "single"), ("B", "single"), ("fusion", "fusion")]
    for row in found.rows:
        assert row.eval.name == row.name
        assert row.eval.n_tar + row.eval.n_non == 700
    assert found.rows[2].eval.cllr == pytest.approx(of_memory["fusion"].cllr, rel=1e-9)
    assert found.rows[2].eval.min_cllr == pytest.approx(of_memory["fusion"].min_cllr, rel=1e-9)
    assert found.rows[0].eval.eer == of_memory["A"].eer
    assert any(line.startswith("other  trials") for line in found.message_lines)


@pytest.mark.usefixtures("too_large")
def test_other_trials_may_lack_weights_and_units(tmp_path):
    rng = np.random.default_rng(3)
    truth = np.arange(600) % 3 == 0
    scores = np.where(truth, 1.0, -1.0) + rng.normal(size=600)
    table = pa.table({"trial": [f"t{k}" for k in range(600)], "score": scores, "label": truth})
    pq.write_table(table, tmp_path / "other.parquet", row_group_size=200)
    table = table.append_column("much", [rng.integers(1, 4, 600)]).append_column("who", [rng.integers(0, 40, 600)])
    pq.write_table(table, tmp_path / "dev.parquet", row_group_size=250)
    asked = {"weights": "much", "units": "who", "test_scores": [tmp_path / "other.parquet"]}
    found = train_files(tmp_path / "dev.parquet", None, AffineCalibrator(), **asked)
    assert found.model.training_.results["weights_from"] == "much"
    assert [row.eval.n_tar for row in found.rows] == [200, 200]
    told = "\n".join(found.message_lines)
    assert "no weights, unlike the training trials; these trials have equal weight" in told
    assert "no units, unlike the training trials; these trials have no intervals" in told
    with pytest.raises(InputError, match="has two classes, but the training trials have classes a, b"):
        train_files(open_trials(_classes(tmp_path, "ab"), kind="classes"), test_scores=[tmp_path / "other.parquet"])


def _classes(folder, names):
    label = np.arange(40) % len(names)
    columns = {name: np.where(label == k, 1.0, 0.0) for k, name in enumerate(names)}
    pq.write_table(pa.table({"class": [names[k] for k in label], **columns}), folder / "classes.parquet")
    return folder / "classes.parquet"


def test_units_that_are_named_give_standard_errors_and_intervals_of_llrs(tmp_path, monkeypatch):
    rng = np.random.default_rng(4)
    who, truth = rng.integers(0, 30, 900), rng.random(900) < 0.3
    scores = np.where(truth, 1.0, -1.0) + 0.5 * rng.normal(size=30)[who] + rng.normal(size=900)
    table = pa.table({"trial": [f"t{k}" for k in range(900)], "score": scores, "label": truth, "speaker": who})
    pq.write_table(table, tmp_path / "dev.parquet", row_group_size=250)
    whole = train_files(tmp_path / "dev.parquet", None, AffineCalibrator(), units="speaker")
    monkeypatch.setattr(opening, "memory_of", lambda *_: 1 << 60)
    found = train_files(tmp_path / "dev.parquet", None, AffineCalibrator(), units="speaker")
    assert found.model.uncertainty_.words == whole.model.uncertainty_.words
    np.testing.assert_allclose(found.model.errors_in_order, whole.model.errors_in_order, rtol=1e-9)
    np.testing.assert_allclose(found.model.interval([0.0, 2.0]), whole.model.interval([0.0, 2.0]), rtol=1e-9)
    assert found.model.training_lines()[1:] == whole.model.training_lines()[1:]


@pytest.fixture
def small_memory(monkeypatch):
    """The same, also where llrs are written."""
    monkeypatch.setattr(opening, "memory_of", lambda *_: 1 << 60)
    monkeypatch.setattr(apply, "memory_of", lambda *_: 1 << 60)


@pytest.mark.usefixtures("small_memory")
def test_commands_write_llrs_piece_by_partition_to_a_folder(files, tmp_path, monkeypatch, capsysbinary):
    output, llrs, run = tmp_path / "model.json", tmp_path / "llrs", terminal(monkeypatch, capsysbinary)
    code, _, messages = run("calibrate", files[0], "-o", output, "--llrs", f"{llrs}/", "--no-intervals")
    assert code == 0, messages
    assert sorted(one.name for one in llrs.iterdir()) == ["0.parquet", "1.parquet", "2.parquet"]
    model = load_model(output)
    scores, llr = (pq.read_table(one / "2.parquet")["score"].to_numpy() for one in (files[0], llrs))
    np.testing.assert_array_equal(llr, model.transform(scores))
    assert pq.read_table(llrs / "1.parquet")["trial"].to_pylist()[:2] == ["1-0", "1-1"]


@pytest.mark.usefixtures("small_memory")
@pytest.mark.parametrize(
    ("llrs", "words"), [("llr.csv", "is not a Parquet file"), ("there", "is the name of a folder")]
)
def test_llrs_that_cannot_be_written_are_refused_before_training(
    files, tmp_path, monkeypatch, capsysbinary, llrs, words
):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "x").touch()
    output, run = tmp_path / "model.json", terminal(monkeypatch, capsysbinary)
    monkeypatch.setattr(AffineCalibrator, "fit_source", None)
    code, _, messages = run("calibrate", files[0], "-o", output, "--llrs", tmp_path / llrs)
    assert code != 0
    assert words in messages
    assert not output.exists()


@pytest.mark.usefixtures("too_large")
@pytest.mark.parametrize("others", [{}, {"test_scores": ["A", "./A"]}])
def test_one_file_for_two_systems_is_refused_as_in_memory(files, monkeypatch, others):
    monkeypatch.chdir(files[0].parent)
    with pytest.raises(InputError, match="A: given twice"):
        train_files(files if others else ["A", "./A"], None, LinearFusion(), **others)


def test_more_units_than_memory_holds_are_refused_before_training(with_speakers, monkeypatch):
    monkeypatch.setattr(opening, "memory_of", lambda *_: 1 << 60)
    monkeypatch.setattr("deciban.memory.Cost.UNIT", 1 << 60)
    (scores, key), steps = with_speakers, list[str]()
    with pytest.raises(InputError, match=r"units: there are [\d,]+, and errors are added up for each, which takes"):
        train_files(scores[0], key, AffineCalibrator(), units="speaker", progress=steps.append)
    assert not any("training" in step for step in steps)
