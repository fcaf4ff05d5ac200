"""What the plots of many classes show: a language recognizer that is too sure of itself, before and after calibration.

    python examples/plots_of_many_classes.py -o pictures/

Segments of seven languages are points on a plane of a few dimensions; the recognizer knows the distribution of each
language, but takes the evidence 2.6 times as seriously as it is; English, Hindi and Korean are hard to tell apart.
Calibration is trained on other segments. The languages and the problem are those of figures 2 and 3 of Bruemmer and
van Leeuwen, On calibration of language recognition scores, Odyssey 2006; the scores are drawn at random.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from deciban import plots
from deciban.calibration import MulticlassCalibrator
from deciban.decisions import Application, error_costs
from deciban.evaluation import evaluate_classes

LANGUAGES = ("English", "Hindi", "Japanese", "Mandarin", "Korean", "Spanish", "Tamil")
OVERCONFIDENT = 2.6
THREE = (0, 1, 4)
"""Languages of the triangle."""


def segments(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores and true languages of ``n`` segments of each language."""
    means = 1.6 * np.random.default_rng(5).normal(size=(len(LANGUAGES), 4))
    means[1] = means[0] + 0.35 * (means[1] - means[0])
    label = np.repeat(np.arange(len(LANGUAGES)), n)
    points = means[label] + np.random.default_rng(seed).normal(size=(len(label), 4))
    loglik = -0.5 * ((points[:, None] - means) ** 2).sum(axis=2)
    return OVERCONFIDENT * loglik + 0.8 * np.cos(np.arange(len(LANGUAGES))), label


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw all plots of many classes into a folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--n", type=int, default=200, help="segments of each language (200)")
    options = parser.parse_args(arguments)
    options.output.mkdir(parents=True, exist_ok=True)
    calibrator = MulticlassCalibrator().fit(*segments(options.n, 1))
    scores, label = segments(options.n, 2)
    loglik = calibrator.transform(scores)
    before = evaluate_classes(scores, label, classes=LANGUAGES, name="as they are")
    after = evaluate_classes(loglik, label, classes=LANGUAGES, name="calibrated")
    inside = np.isin(label, THREE)
    drawings = {
        "confusion": plots.confusion(after),
        "pairwise-loss": plots.pairwise_loss(before),
        "class-losses": plots.class_losses([before, after]),
        "class-ape": plots.class_ape(after, before=before),
        "c-avg-curve": plots.c_avg_curve([before, after]),
        "subset-c-avg": plots.subset_c_avg([before, after]),
        "simplex": plots.simplex(
            Application(error_costs(3, reject=0.3)),
            loglik=loglik[inside][:, THREE],
            label=np.searchsorted(THREE, label[inside]),
            classes=[LANGUAGES[k] for k in THREE],
            actions=[*(LANGUAGES[k] for k in THREE), "say nothing"],
        ),
    }
    for name, drawing in drawings.items():
        file = options.output / f"classes-{name}.svg"
        plots.save(drawing, file, "svg")
        print(f"wrote {file}")


if __name__ == "__main__":
    main()
