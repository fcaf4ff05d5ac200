"""The 14 languages of paper 003, and figures 8.3 and 8.4 of the thesis: one calibration for all applications.

    python examples/papers/subsets.py -o pictures/

N. Bruemmer, Optimization of the accuracy and calibration of binary and multiclass pattern recognizers (slides), and the
thesis, sections 8.3.3. Fusion and calibration are trained at the flat prior, on segments of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

import generators
import numpy as np
from generators import Array, Labels
from matplotlib.axes import Axes
from pictures import Drawings, axes, run

from deciban import plots
from deciban.calibration import DetectionAffineTransformation, MulticlassCalibrator
from deciban.evaluation import evaluate_classes
from deciban.fusion import MulticlassFusion
from deciban.multiclass import SubsetCosts, c_avg, project_detection_llr, subset_c_avg

N_LANGUAGES = 14
LANGUAGES = tuple(f"language {k + 1}" for k in range(N_LANGUAGES))
SYSTEMS = {"A": (2.6, 3.0), "B": (0.4, 1.0), "C": (1.8, 5.0), "D": (4.0, 2.0)}
"""How sure of themselves the recognizers of figure 8.4 are, and how many nats they lean towards some languages."""


def segments(n: int, seed: int, system: str) -> tuple[Array, Labels]:
    """Scores of a recognizer. Systems hear segments with noise of their own."""
    confidence, lean = SYSTEMS[system]
    seed = 10 * seed + ord(system)
    return generators.languages(n, seed, n_classes=N_LANGUAGES, confidence=confidence, lean=lean)


def _side_by_side(systems: list[tuple[Array, Labels]]) -> Array:
    return np.stack([loglik for loglik, _ in systems], axis=1)


def fused(n: int) -> tuple[Array, Labels]:
    """Log-likelihoods of a fusion of systems A and C on new segments."""
    train, new = ([segments(n, seed, system) for system in "AC"] for seed in (1, 2))
    fusion = MulticlassFusion().fit(_side_by_side(train), train[0][1])
    return fusion.transform(_side_by_side(new)), new[0][1]


def strategies(n: int, system: str) -> tuple[dict[str, Array], Labels]:
    """Log-likelihoods of one recognizer on new segments, by the strategies of the slides.

    What is projected are 14 detection llrs, each calibrated for its own language against the rest, as they are
    submitted to an evaluation of detectors.
    """
    train, (raw, label) = segments(n, 1, system), segments(n, 2, system)
    detection_llr = DetectionAffineTransformation().fit(*train).detection_llr(raw)
    named = {"as it is": raw, "projected": project_detection_llr(detection_llr)}
    return named | {"re-calibrated": MulticlassCalibrator().fit(*train).transform(raw)}, label


def strategy_costs(n: int, system: str) -> dict[str, SubsetCosts]:
    """C_avg of all subsets of two or more languages, by strategy."""
    named, label = strategies(n, system)
    return {name: subset_c_avg(loglik, label) for name, loglik in named.items()}


def subset_costs(n: int) -> tuple[SubsetCosts, SubsetCosts]:
    """C_avg of all subsets of two or more languages: of system A as it is, and of the fusion."""
    raw, label = segments(n, 2, "A")
    return subset_c_avg(raw, label), subset_c_avg(*fused(n))


def calibrations(n: int) -> dict[str, tuple[float, float, float]]:
    """C_avg of each system as it is, after one-against-the-rest calibration, and after multi-class calibration."""
    found = {}
    for system in SYSTEMS:
        train, (scores, label) = segments(n, 1, system), segments(n, 2, system)
        maps = DetectionAffineTransformation().fit(*train), MulticlassCalibrator().fit(*train)
        one, many = (c_avg(calibration.transform(scores), label) for calibration in maps)
        found[system] = (c_avg(scores, label), one, many)
    return found


def figure_8_4(n: int) -> Axes:
    """Bars of the three."""
    ax = axes("Recognizer", "C_avg (%)")
    ax.grid(visible=False, axis="x")
    found = calibrations(n)
    names = ("as it is", "one against the rest", "all classes together")
    for k, (name, color) in enumerate(zip(names, ("0.75", "C0", "C1"), strict=True)):
        heights = [100.0 * costs[k] for costs in found.values()]
        ax.bar(np.arange(len(found)) + 0.27 * (k - 1), heights, width=0.25, color=color, label=name)
    ax.set_xticks(range(len(found)), list(found))
    ax.legend(frameon=False, fontsize=9)
    return ax


def _drawn(named: dict[str, tuple[Array, Labels]]) -> Axes:
    found = [evaluate_classes(*scores, classes=LANGUAGES, name=name, subsets=True) for name, scores in named.items()]
    return plots.subset_c_avg(found)


def draw(n: int) -> Drawings:
    """All figures by name."""
    alone, label = strategies(n, "A")
    of_a = {f"A {name}": (loglik, label) for name, loglik in alone.items()}
    with_fusion = {"system A as it is": segments(n, 2, "A"), "fusion": fused(n)}
    return {"subsets-slides": _drawn(of_a), "subsets-8-3": _drawn(with_fusion), "subsets-8-4": figure_8_4(n)}


def main(arguments: Sequence[str] | None = None) -> None:
    """Write them into a folder."""
    run(__doc__ or "", draw, 100, arguments)


if __name__ == "__main__":
    main()
