"""Figures 1 to 3 of paper 001: what one scale and one offset for each class mend, in all problems at once.

    python examples/papers/languages.py -o pictures/

N. Bruemmer, D. van Leeuwen, On calibration of language recognition scores, Odyssey 2006. Calibration is that of the
evaluator, on the same trials, as in the paper: it measures what is wrong and mends nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import generators
from generators import Array, Labels
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pictures import Drawings, axes, panels, run

from deciban import plots
from deciban.calibration import MulticlassCalibrator
from deciban.evaluation import ClassEvaluation, evaluate_classes
from deciban.multiclass import detection_llr

LANGUAGES = ("English", "Hindi", "Japanese", "Mandarin", "Korean", "Spanish", "Tamil")
CONFIDENCE = 1.0 / 0.38
"""The best scale of the paper's recognizer was 0.38."""
JAPANESE = LANGUAGES.index("Japanese")


def before_and_after(n: int) -> tuple[Array, Array, Labels]:
    """Log-likelihoods as they are, those after the best scale and offsets, and the true languages."""
    loglik, label = generators.languages(n, 2, n_classes=7, confidence=CONFIDENCE, lean=2.0)
    return loglik, MulticlassCalibrator().fit(loglik, label).transform(loglik), label


def evaluations(n: int) -> tuple[ClassEvaluation, ClassEvaluation]:
    """Both of them evaluated."""
    before, after, label = before_and_after(n)
    named = {"as they are": before, "after scale and offsets": after}
    first, second = (evaluate_classes(one, label, classes=LANGUAGES, name=name) for name, one in named.items())
    return first, second


def figure_1(n: int) -> Axes:
    """Detection llrs of Japanese before and after: nearly a line, but no function."""
    before, after, label = before_and_after(n)
    ax = axes("Detection llr as it is (nats)", "after scale and offsets (nats)")
    x, y = (detection_llr(one, target=JAPANESE) for one in (before, after))
    for inside, color, name in ((label != JAPANESE, "C0", "other languages"), (label == JAPANESE, "C3", "Japanese")):
        ax.plot(x[inside], y[inside], ".", color=color, markersize=3, rasterized=True, label=name)
    ax.axline((0.0, 0.0), slope=1.0 / CONFIDENCE, color="0.4", linestyle=":", linewidth=1.0, label="slope 0.38")
    ax.legend(frameon=False, fontsize=9)
    return ax


def figure_3(before: ClassEvaluation, after: ClassEvaluation) -> Figure:
    """Losses of pairs before and after, on one scale of colours."""
    left, right = panels(1, 2, size=(13.0, 5.6))
    plots.pairwise_loss(before, left, top=1.0)
    plots.pairwise_loss(after, right, top=1.0)
    for ax, evaluation in ((left, before), (right, after)):
        ax.set_title(evaluation.name, fontsize=10)
    return left.figure


def draw(n: int) -> Drawings:
    """All figures by name."""
    before, after = evaluations(n)
    return {
        "languages-1": figure_1(n),
        "languages-2": plots.class_ape(after, before=before),
        "languages-3": figure_3(before, after),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Write them into a folder."""
    run(__doc__ or "", draw, 300, arguments)


if __name__ == "__main__":
    main()
