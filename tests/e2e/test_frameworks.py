"""Training frameworks run with the metric of validation data: scripts/integrations installs them all."""

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import deciban
from deciban.evaluation import ScoreMetric

PAGE = (Path(__file__).parents[2] / "docs" / "training-loops.md").read_text()
LIGHTNING, GATHER = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)[-2:]
RNG = np.random.default_rng(0)
LABEL = RNG.random(300) < 0.3
FEATURES = (RNG.normal(size=(300, 4)) + 0.8 * LABEL[:, None]).astype(np.float32)
pytest.importorskip("lightning", reason="training frameworks are not installed: scripts/integrations installs them")
pytestmark = pytest.mark.filterwarnings("default")  # frameworks warn of each other

GLOO = """
import os, sys, numpy as np, torch
from deciban.evaluation import ScoreMetric
{page}
os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=sys.argv[2])
torch.distributed.init_process_group("gloo", rank=int(sys.argv[1]), world_size=2)
label = np.arange(90) % 3 == 0
score = np.random.default_rng(0).normal(2.0 * label)
metric.update(torch.tensor(score[int(sys.argv[1])::2]), torch.tensor(label[int(sys.argv[1])::2]))
print(metric.compute()["eer"])
torch.distributed.destroy_process_group()
"""


def test_two_processes_of_torch_find_the_metrics_of_all_trials():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command = [sys.executable, "-c", GLOO.format(page=GATHER)]
    both = [subprocess.Popen([*command, str(rank), port], stdout=subprocess.PIPE, text=True) for rank in (0, 1)]
    found = [float(one.communicate(timeout=120)[0]) for one in both]
    label = np.arange(90) % 3 == 0
    score = np.random.default_rng(0).normal(2.0 * label)
    assert found == [deciban.evaluate(score[label], score[~label]).eer] * 2


def test_lightning_logs_stops_and_keeps_the_best_model(tmp_path):
    import lightning
    import torch
    from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint

    names = {"ScoreMetric": ScoreMetric}
    exec(LIGHTNING, names)  # noqa: S102

    class Verifier(names["Validation"], lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 1)

        def forward(self, features):
            return self.layer(features).squeeze(1)

        def training_step(self, batch, batch_index):  # noqa: ARG002
            score = self(batch[0])
            return deciban.losses.cllr(score[batch[1]], score[~batch[1]])

        def conmetric_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.3)

    torch.manual_seed(0)
    rows = torch.utils.data.TensorDataset(torch.tensor(FEATURES), torch.tensor(LABEL))
    best = ModelCheckpoint(dirpath=tmp_path, monitor="cllr", mode="min")
    trainer = lightning.Trainer(
        max_epochs=30, accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False,
        callbacks=[EarlyStopping(monitor="min_dcf", mode="min", patience=1), best],
    )  # fmt: skip
    model = Verifier()
    trainer.fit(model, torch.utils.data.DataLoader(rows, 150), torch.utils.data.DataLoader(rows, 64))
    assert trainer.current_epoch < 30
    with torch.no_grad():
        score = model(torch.tensor(FEATURES)).numpy()
    expected = deciban.evaluate(score[LABEL], score[~LABEL]).cllr
    assert float(trainer.callback_metrics["cllr"]) == pytest.approx(expected, abs=1e-6)  # Lightning keeps float32
    assert Path(best.best_model_path).exists()


def test_the_trainer_of_hugging_face_keeps_the_model_with_the_lowest_min_dcf(tmp_path, monkeypatch):
    monkeypatch.setitem(os.environ, "HF_HUB_OFFLINE", "1")
    import torch
    import transformers

    class Classifier(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 2)

        def forward(self, features, labels):
            logits = self.layer(features)
            return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}

    torch.manual_seed(0)
    rows = [{"features": row, "labels": int(truth)} for row, truth in zip(FEATURES, LABEL, strict=True)]
    options = transformers.TrainingArguments(
        str(tmp_path), num_train_epochs=4, per_device_train_batch_size=100, per_device_eval_batch_size=100,
        eval_strategy="epoch", save_strategy="epoch", load_best_model_at_end=True, metric_for_best_model="min_dcf",
        greater_is_better=False, learning_rate=0.1, report_to=[], use_cpu=True, disable_tqdm=True,
        remove_unused_columns=False, label_names=["labels"],
    )  # fmt: skip
    prior = float(LABEL.mean())
    trainer = transformers.Trainer(
        model=Classifier(), args=options, train_dataset=rows, eval_dataset=rows,
        compute_metrics=ScoreMetric(prior=prior), callbacks=[transformers.EarlyStoppingCallback(1)],
    )  # fmt: skip
    trainer.train()
    with torch.no_grad():
        logits = trainer.model.layer(torch.tensor(FEATURES)).numpy().astype(float)
    score = logits[:, 1] - logits[:, 0] - np.log(prior / (1 - prior))
    found, logged = deciban.evaluate(score[LABEL], score[~LABEL]), trainer.evaluate()
    assert logged["eval_cllr"] == pytest.approx(found.cllr, abs=1e-5)
    assert trainer.state.best_metric == logged["eval_min_dcf"] == found.operating_points[0].min_dcf


def test_evaluate_of_hugging_face_combines_the_metric_with_others(monkeypatch):
    monkeypatch.setitem(os.environ, "HF_HUB_OFFLINE", "1")
    import evaluate

    both = evaluate.combine([ScoreMetric(["eer", "cllr"]), ScoreMetric(["auc"])])
    whole = deciban.evaluate(FEATURES[LABEL, 0], FEATURES[~LABEL, 0])
    expected = pytest.approx({"eer": whole.eer, "cllr": whole.cllr, "auc": whole.auc})
    assert both.compute(predictions=FEATURES[:, 0], references=LABEL) == expected
    for rows in (slice(0, 100), slice(100, None)):
        both.add_batch(predictions=FEATURES[rows, 0], references=LABEL[rows])
    assert both.compute() == expected
    for score, truth in zip(FEATURES[:, 0], LABEL, strict=True):
        both.add(predictions=score, references=truth)
    assert both.compute() == expected
