"""Figures 1 to 3 of paper 004: which scores an objective of calibration cares for, and what that does.

    python examples/papers/weighted_rules.py -o pictures/

N. Bruemmer, G. Doddington, Likelihood-ratio calibration using prior-weighted proper scoring rules, Interspeech 2013.
Figure 2 is made by examples/scoring_rules_for_calibration.py, whose scores figure 3 takes as well.
"""

from __future__ import annotations

import runpy
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from generators import Array, Pair
from matplotlib.axes import Axes
from pictures import Drawings, axes, run
from scipy.special import expit

from deciban import plots
from deciban.calibration import AffineCalibrator, PavCalibrator
from deciban.evaluation import evaluate
from deciban.metrics import threshold_weighting

COMPARISON = runpy.run_path(str(Path(__file__).parents[1] / "scoring_rules_for_calibration.py"))
TAU = -6.0
RULES = {
    "logarithmic (1, 1)": (1.0, 1.0),
    "(2, 1)": (2.0, 1.0),
    "Brier (2, 2)": (2.0, 2.0),
    "boosting (½, ½)": (0.5, 0.5),
}
THRESHOLDS = np.linspace(-12.0, 14.0, 2601)
PRIMARY = (np.log(99.0), np.log(999.0))
"""Thresholds of C_primary: 4.60 and 6.91."""


def weighting(rule: tuple[float, float], tau: float) -> Array:
    """Equation 10 over `THRESHOLDS`."""
    return threshold_weighting(THRESHOLDS, alpha=rule[0], beta=rule[1], prior_log_odds=tau)


def mode(rule: tuple[float, float], tau: float) -> float:
    """The threshold that is cared for most."""
    return float(THRESHOLDS[np.argmax(weighting(rule, tau))])


def figure_1() -> Axes:
    """Weightings of four rules at even odds (dashed) and at prior log odds `TAU` (solid)."""
    ax = axes("Threshold t of the log-likelihood ratio (nats)", "Weight")
    for (name, rule), color in zip(RULES.items(), plots.system_colors(len(RULES)), strict=True):
        ax.plot(THRESHOLDS, weighting(rule, TAU), color=color, label=name)
        ax.plot(THRESHOLDS, weighting(rule, 0.0), color=color, linestyle="--", linewidth=1.0)
    for threshold in PRIMARY:
        ax.axvline(threshold, color="0.5", linestyle=":", linewidth=1.0)
    ax.set_xlim(-8.0, 12.0)
    ax.set_ylim(0.0, 0.31)
    ax.set_title(f"solid: tau = {TAU:g}, dashed: tau = 0, dotted: C_primary", fontsize=9)
    ax.legend(frameon=False, fontsize=9)
    return ax


def trials(n: int) -> tuple[Pair, Pair]:
    """Scores for training and for the test: ``n`` targets and thirty times as many others, and more of both."""
    quantiles = COMPARISON["quantile_scores"]
    return quantiles(n, 30 * n), quantiles(2 * n, 60 * n, lower=COMPARISON["HARDER"])


def figure_2(n: int, n_priors: int) -> tuple[dict[tuple[float, float], list[float]], list[float], float]:
    """C_primary of each rule over the prior log odds of training, these, and the least that any map reaches."""
    train, test = trials(n)
    log_odds = np.linspace(0.0, -8.0, n_priors).tolist()
    return COMPARISON["costs_after_training"](train, test, log_odds), log_odds, COMPARISON["min_c_primary"](*test)


def calibrated(rule: tuple[float, float], n: int, tau: float) -> Pair:
    """Llrs of the test trials after training with a rule at prior log odds ``tau``."""
    train, (tar, non) = trials(n)
    is_target = np.arange(len(train[0]) + len(train[1])) < len(train[0])
    calibrator = AffineCalibrator(alpha=rule[0], beta=rule[1], p_target=float(expit(tau)))
    calibrator.fit(np.concatenate(train), is_target)
    return calibrator.transform(tar), calibrator.transform(non)


def distance_from_reference(llrs: Pair, low: float, high: float) -> float:
    """Mean distance of llrs between two bounds to those that PAV gives, which are best."""
    reference = PavCalibrator().fit(np.concatenate(llrs), np.arange(len(llrs[0]) + len(llrs[1])) < len(llrs[0]))
    places = np.linspace(low, high, 101)
    return float(np.abs(reference.transform(places) - places).mean())


def figure_3(n: int, tau: float = -3.0) -> Axes:
    """PAV's llr over that of two objectives; the closer to the diagonal, the better calibrated."""
    named = {"logarithmic (1, 1)": (1.0, 1.0), "Brier (2, 2)": (2.0, 2.0)}
    ax = plots.pav([evaluate(*calibrated(rule, n, tau), name=name) for name, rule in named.items()])
    for threshold in PRIMARY:
        ax.axvline(threshold, color="0.5", linestyle=":", linewidth=1.0)
    return ax


def draw(n: int) -> Drawings:
    """All figures by name."""
    return {
        "weighted-rules-1": figure_1(),
        "weighted-rules-2": COMPARISON["picture"](*figure_2(n, 9)),
        "weighted-rules-3": figure_3(n),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Write them into a folder."""
    run(__doc__ or "", draw, 1000, arguments)


if __name__ == "__main__":
    main()
