"""Files of both kinds of scores, for what is to be the same of two classes and of many."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deciban import evaluate
from deciban.calibration import AffineCalibrator, MulticlassCalibrator
from deciban.evaluation import evaluate_classes
from deciban.fusion import LinearFusion, MulticlassFusion
from support.class_files import CLASSES, trials, write_key, write_table

N = 90
SEX = np.where(np.arange(N) // 3 % 2 == 0, "f", "m")
"""A condition that says nothing of the class."""


@dataclass(frozen=True)
class Files:
    """Two systems, ``a.csv`` and ``b.csv``, and ``key.csv`` in another order, with their numbers.

    Attributes
    ----------
    name : {"two-class", "classes"}
    folder : path
    values : list of arrays
        Scores of each system.
    truth : (90,) array
    calibrator, fusion : functions that make models
    """

    name: str
    folder: Path
    values: list[Any]
    truth: Any
    calibrator: Any
    fusion: Any

    @property
    def paths(self):
        return [self.folder / "a.csv", self.folder / "b.csv"]

    @property
    def key(self):
        return self.folder / "key.csv"

    @property
    def other(self):
        """The other kind."""
        return "classes" if self.name == "two-class" else "two-class"

    def evaluated(self, score, rows=slice(None)):
        """An evaluation of arrays."""
        if self.name == "classes":
            return evaluate_classes(score[rows], self.truth[rows], classes=CLASSES)
        is_target = self.truth[rows]
        return evaluate(score[rows][is_target], score[rows][~is_target])

    def stacked(self):
        return np.stack(self.values, axis=1)


def two_class_files(folder):
    rng = np.random.default_rng(3)
    truth = np.arange(N) % 3 == 0
    values = [rng.normal(size=N) + strength * truth for strength in (1.5, 1.0)]
    names = [f"seg{i:03d}" for i in range(N)]
    for name, score in zip("ab", values, strict=True):
        rows = [f"{one},{value!r}" for one, value in zip(names, score.tolist(), strict=True)]
        (folder / f"{name}.csv").write_text("\n".join(["trial,score", *rows]) + "\n")
    words = ["target" if one else "nontarget" for one in truth]
    rows = [",".join(row) for row in zip(names, words, SEX.tolist(), strict=True)]
    (folder / "key.csv").write_text("\n".join(["trial,label,sex", *reversed(rows)]) + "\n")
    return Files("two-class", folder, values, truth, AffineCalibrator, LinearFusion)


def class_files(folder):
    values, label = [trials(seed, N, strength)[0] for seed, strength in ((1, 1.5), (2, 1.0))], trials(1, N)[1]
    for name, loglik in zip("ab", values, strict=True):
        write_table(folder / f"{name}.csv", loglik)
    order = np.arange(N)[::-1]
    called = [f"seg{i:03d}" for i in order]
    write_key(folder / "key.csv", label[order], called=called, more={"sex": SEX[order]})
    return Files("classes", folder, values, label, MulticlassCalibrator, MulticlassFusion)


MADE = {"two-class": two_class_files, "classes": class_files}
