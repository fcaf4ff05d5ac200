"""The examples of docs/training-loops.md run as they stand and do what is said."""

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import quad

import deciban
from deciban.evaluation import summarize

PAGE = (Path(__file__).parents[2] / "docs" / "training-loops.md").read_text()
PYTORCH, NUMPY, LOOP, LIGHTNING, GATHER = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)


def run(code):
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_pytorch_example_lowers_cllr():
    pytest.importorskip("torch", reason="no torch to differentiate: pip install '.[torch]'")
    values = [float(value) for value in re.findall(r"step \d+: Cllr (\S+) bits", run(PYTORCH))]
    assert len(values) == 3
    assert values[0] > 0.9
    assert values[1] > values[2]
    # The true llr is linear in the features, and normal with variance v = 8 * 0.7^2 and means +-v/2: its Cllr is an
    # integral. What is trained on 1200 trials may be a little better on them.
    v = 8 * 0.7**2
    ideal, _ = quad(lambda z: np.logaddexp(0, -(v / 2 + np.sqrt(v) * z)) * np.exp(-z * z / 2), -12, 12)
    assert values[2] == pytest.approx(ideal / np.sqrt(2 * np.pi) / np.log(2), abs=0.06)


def test_the_numpy_example_finds_the_llr_of_two_normal_classes():
    # ln N(s; 5, 1) - ln N(s; 3, 1) = 2 s - 8
    scale, offset = map(float, re.findall(r"-?\d+\.\d*", run(NUMPY)))
    assert scale == pytest.approx(2, abs=0.3)
    assert offset == pytest.approx(-8, abs=1.2)


def test_validation_metrics_in_a_loop_in_lightning_and_in_several_processes(monkeypatch, capsys):
    """Lightning and torch.distributed are replaced by objects with the functions that the page uses."""
    names = {}
    exec(LOOP, names)  # noqa: S102
    assert capsys.readouterr().out == re.search(r"```text\n(0 \{.*?)```", PAGE, flags=re.DOTALL)[1]
    exec(LIGHTNING, names)  # noqa: S102
    label = np.arange(60) % 3 == 0
    scores, logged = np.random.default_rng(0).normal(2.0 * label), {}
    expected = deciban.evaluate(scores[label], scores[~label])

    class Verifier(names["Validation"]):
        log_dict = staticmethod(logged.update)

        def __call__(self, features):
            return features

    module = Verifier()
    for k in range(3):
        module.validation_step((scores[k::3], label[k::3]), k)
    module.on_validation_epoch_end()
    assert logged == pytest.approx({"min_dcf": expected.operating_points[0].min_dcf, "cllr": expected.cllr})

    def all_gather_object(found, own):
        found[:] = [own, summarize(scores[30:][label[30:]], scores[30:][~label[30:]])]

    distributed = SimpleNamespace(get_world_size=lambda: 2, all_gather_object=all_gather_object)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(distributed=distributed))
    monkeypatch.setitem(sys.modules, "torch.distributed", distributed)
    exec(GATHER, names)  # noqa: S102
    names["metric"].update(scores[:30], label[:30])
    assert names["metric"].compute()["eer"] == pytest.approx(expected.eer)
