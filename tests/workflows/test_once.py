"""What costs time is done once: models are applied once to each set of trials, and ties are counted once."""

import numpy as np
import pytest

from deciban import train_files
from deciban.calibration import AffineCalibrator
from deciban.workflows.train import rows as training_rows


def test_other_trials_are_mapped_once(both, monkeypatch):
    kind, sizes = type(both.calibrator()), []
    plain = kind.transform

    def counted(self, scores, **more):
        sizes.append(len(scores))
        return plain(self, scores, **more)

    monkeypatch.setattr(kind, "transform", counted)
    paths = both.paths[:1]
    train_files(paths, both.key, both.calibrator(), test_scores=paths, test_key=both.key)
    assert sizes == [90, 90]  # those of training, and the others


def test_what_an_evaluation_has_counted_is_not_counted_again(tmp_path, monkeypatch):
    monkeypatch.setattr(training_rows, "n_tied", lambda *_: pytest.fail("counted twice"))
    rng = np.random.default_rng(1)
    rows = [f"t{k},{rng.integers(0, 9) + 3 * (k % 2)},{k % 2},{k % 3}" for k in range(60)]
    (tmp_path / "dev.csv").write_text("\n".join(["trial,score,label,weight", *rows]))
    how = {"test_scores": tmp_path / "dev.csv", "weights": "weight"}
    done = train_files(tmp_path / "dev.csv", None, AffineCalibrator(), **how)
    tied = [line for line in done.message_lines if "in both classes" in line]
    assert len(tied) == 2
    assert all(line.endswith(f"in both classes: {done.before.n_tied:,}") for line in tied)
    assert done.before.n_tied > 0
