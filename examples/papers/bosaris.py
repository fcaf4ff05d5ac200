"""Figures 1 to 4 of the BOSARIS paper: Bayes error rates over priors, and the EER as their upper bound.

    python examples/papers/bosaris.py -o pictures/

N. Bruemmer, E. de Villiers, The BOSARIS Toolkit: theory, algorithms and code for surviving the new DCF, 2011. In the
thesis figures 2 and 3 are 7.8 and 7.9, figure 4 is 7.3, and 7.1 shows what figure 1 shows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from generators import Array, Pair, speaker_scores, unequal_gaussian_llr, unequal_gaussians
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pictures import Drawings, axes, panels, run

from deciban import plots
from deciban.calibration import AffineCalibrator
from deciban.evaluation import evaluate
from deciban.metrics import bayes_error, dr30, min_bayes_error

LOG_ODDS = np.linspace(-10.0, 0.0, 201)
MISCALIBRATIONS = {"true LR": (1.0, 0.0), "2 log LR": (2.0, 0.0), "0.5 log LR": (0.5, 0.0), "log LR + 2": (1.0, 2.0)}
"""Scale and offset of the systems of figure 1. The paper does not state its own."""
EVALUATIONS = {"good": (0.05, 1.0), "bad": (1.0, 1.0)}
"""What the evaluation of figures 2 and 3 does to scores of non-targets: a shift, and how much wider they scatter."""


def miscalibrated(n: int) -> dict[str, Pair]:
    """The systems of figure 1: true log-likelihood ratios of the same trials, scaled and shifted."""
    tar, non = (unequal_gaussian_llr(scores) for scores in unequal_gaussians(n))
    return {name: (scale * tar + offset, scale * non + offset) for name, (scale, offset) in MISCALIBRATIONS.items()}


def trained_and_new(kind: str, n: int) -> tuple[Pair, Pair]:
    """Llrs of the trials that calibration was trained on at prior 0.001, and those of other recordings."""
    shift, stretch = EVALUATIONS[kind]
    train, new = speaker_scores(n), speaker_scores(n, shift=shift, stretch=stretch)
    is_target = np.arange(len(train[0]) + len(train[1])) < len(train[0])
    calibrator = AffineCalibrator(p_target=0.001).fit(np.concatenate(train), is_target)
    tar, non = (calibrator.transform(part) for part in train)
    new_tar, new_non = (calibrator.transform(part) for part in new)
    return (tar, non), (new_tar, new_non)


def normalized(scores: Pair, *, least: bool = False) -> Array:
    """Normalized Bayes error rates over `LOG_ODDS`."""
    function = min_bayes_error if least else bayes_error
    return np.asarray(function(*scores, prior_log_odds=LOG_ODDS, normalize=True))


def scarce(scores: Pair) -> list[tuple[float, float]]:
    """The rule of 30: prior log odds beyond which false alarms, and misses, are fewer, and the least rate there."""
    ends = np.array(dr30(*scores))
    least = np.asarray(min_bayes_error(*scores, prior_log_odds=ends, normalize=True))
    return list(zip(ends.tolist(), least.tolist(), strict=True))


def dev_and_eval(kind: str, n: int) -> Axes:
    """Figures 2 and 3."""
    dev, new = trained_and_new(kind, n)
    ax = axes("Prior log odds (nats)", "Normalized Bayes error rate", size=(6.4, 4.4))
    ax.plot(LOG_ODDS, normalized(dev), "C3--", label="training trials")
    ax.plot(LOG_ODDS, normalized(new), "C3", label="other trials")
    ax.plot(LOG_ODDS, normalized(new, least=True), "0.2", linewidth=2.2, label="other trials, minimum")
    at, height = scarce(new)[0]
    ax.plot([at], [height], "<", color="0.2", markersize=9, markeredgecolor="white", label="DR30 of false alarms")
    rates = evaluate(*new).at_priors
    ax.plot(rates.log_odds, rates.p_miss, "C0", linewidth=1.0, label="misses of other trials")
    false_alarms = rates.p_fa * np.exp(-rates.log_odds)
    ax.plot(rates.log_odds, false_alarms, "C2", linewidth=1.0, label="false alarms of other trials")
    ax.axhline(1.0, color="0.5", linestyle=":", linewidth=1.0)
    ax.axvline(np.log(0.001 / 0.999), color="C4", linestyle="--", linewidth=1.0, label="prior 0.001")
    ax.set_xlim(LOG_ODDS[0], LOG_ODDS[-1])
    ax.set_ylim(0.0, 1.45)
    ax.get_figure(root=True).legend(loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    return ax


def hulls(n: int) -> Figure:
    """Figure 4: steps and hull on probit axes, and the least error rate whose top is the EER."""
    both = panels(2, 2, size=(9.0, 8.0))
    for (left, right), (size, seed) in zip((both[:2], both[2:]), ((25, 4), (n, 5)), strict=True):
        tar, non = unequal_gaussians(size, seed)
        system = evaluate(tar, non, name=f"{size} trials of each class")
        plots.det(system, left)
        plots.minimum_cost(system, right)
    return both[0].figure


def draw(n: int) -> Drawings:
    """All figures by name."""
    systems = [evaluate(*scores, name=name) for name, scores in miscalibrated(n).items()]
    return {
        "bosaris-1": plots.bayes_error(systems),
        "bosaris-2": dev_and_eval("good", n),
        "bosaris-3": dev_and_eval("bad", n),
        "bosaris-4": hulls(n),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Write them into a folder."""
    run(__doc__ or "", draw, 20_000, arguments)


if __name__ == "__main__":
    main()
