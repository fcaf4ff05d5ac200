"""Metrics and pages in trackers: stand-ins that record calls, and the real packages if they are installed."""

import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import deciban
from deciban.errors import InputError
from deciban.tables.frames import logged_metrics

RNG = np.random.default_rng(6)
UNITS = {"tar_units": np.arange(60), "non_units": np.arange(200) % 60}
ONE = deciban.evaluate(RNG.normal(2, 1, 60), RNG.normal(0, 1, 200), operating_points=[0.5, (0.01, 10, 1)], **UNITS)
CLASSES = deciban.evaluate_classes(RNG.normal(size=(90, 3)) + 2 * np.eye(3)[np.arange(90) % 3], np.arange(90) % 3)


class Recorder:
    """Stands for the module mlflow."""

    def __init__(self):
        self.metrics, self.files, self.steps = {}, {}, set()

    def log_metrics(self, metrics, step=None):
        assert len(metrics) <= 1000
        self.metrics |= metrics
        self.steps.add(step)

    def log_artifact(self, path):
        self.files[Path(path).name] = Path(path).read_bytes()


class WandbRun:
    """Stands for a run of Weights & Biases."""

    def __init__(self):
        self.metrics, self.files = {}, {}

    def log(self, metrics):
        self.metrics |= metrics

    def log_artifact(self, path, name, type):  # noqa: A002
        self.files[f"{name} {type}"] = Path(path).read_bytes()


class Client:
    """Stands for a client of MLflow."""

    def __init__(self):
        self.metrics, self.files = {}, []

    def log_batch(self):
        raise NotImplementedError

    def log_metric(self, run_id, name, value, step=None):
        self.metrics[run_id, name, step] = value

    def log_artifact(self, run_id, path):
        self.files.append((run_id, Path(path).name))


def test_names_and_values_are_those_of_the_table_of_metrics():
    found = logged_metrics(ONE, "test/")
    assert found["test/eer"] == ONE.eer
    assert found["test/min_dcf p_target 0.01, costs 10_1".replace(",", "_")] == ONE.operating_points[1].min_dcf
    interval = ONE.interval("cllr")
    assert (found["test/cllr_low"], found["test/cllr_high"]) == (interval.low, interval.high)
    assert all(map(math.isfinite, found.values()))
    both = logged_metrics(deciban.Results((ONE, deciban.evaluate([1.0, 2.0], [0.0], name="B"))))
    assert both["system/eer"] == ONE.eer
    assert "B/eer" in both
    names = set(found)
    assert not [name for name in names if any(other.startswith(f"{name}/") for other in names)]  # folders in MLflow


@pytest.mark.parametrize("make", [Recorder, WandbRun])
@pytest.mark.parametrize("result", [ONE, CLASSES, deciban.Results((ONE,))])
def test_metrics_and_the_page_are_logged(make, result):
    run = make()
    result.log_to(run, prefix="dev ")
    assert run.metrics == logged_metrics(result, "dev ")
    *pictures, (name, page) = run.files.items()
    assert name.startswith("dev-deciban")
    assert b"<html" in page[:200]
    assert len(pictures) == 2
    assert all(name.startswith("dev-") and data.startswith(b"\x89PNG") for name, data in pictures)
    again = make()
    result.log_to(again, page=False, curves=False)
    assert not again.files


def test_steps_and_clients():
    run, client = Recorder(), Client()
    ONE.log_to(run, page=False, curves=False, step=3)
    assert run.steps == {3}
    ONE.log_to((client, "abc"), step=5)
    assert client.metrics["abc", "eer", 5] == ONE.eer
    assert client.files == [("abc", name) for name in ("det.png", "bayes_error.png", "deciban.html")]


def test_infinite_metrics_are_left_out():
    run = Recorder()
    deciban.evaluate([math.inf, 1.0], [math.inf, 0.0]).log_to(run, page=False, curves=False)
    assert "cllr" not in run.metrics
    assert "eer" in run.metrics


@pytest.mark.parametrize("run", [None, "mlflow", object(), (1, 2), SimpleNamespace(log=print)])
def test_other_objects_are_refused(run):
    with pytest.raises(InputError, match="run: got .* Pass the module mlflow"):
        ONE.log_to(run)


def test_the_real_mlflow_takes_them(tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri(f"file:{tmp_path}")
    mlflow.set_experiment("test")
    with mlflow.start_run() as run:
        ONE.log_to(mlflow, prefix="a/", page=False)
        ONE.log_to(run)
    stored = {one.path for one in mlflow.MlflowClient().list_artifacts(run.info.run_id)}
    assert stored == {"a-det.png", "a-bayes_error.png", "det.png", "bayes_error.png", "deciban.html"}
    made = mlflow.get_run(run.info.run_id).data.metrics
    assert made == pytest.approx(logged_metrics(ONE) | logged_metrics(ONE, "a/"))


def test_the_real_wandb_takes_them(tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb", reason="wandb is not installed")
    monkeypatch.setenv("WANDB_SILENT", "true")
    run = wandb.init(project="test", mode="offline", dir=str(tmp_path))
    ONE.log_to(run)
    assert run.summary["eer"] == ONE.eer
    assert run.summary["det"]["format"] == "png"
    run.finish()
