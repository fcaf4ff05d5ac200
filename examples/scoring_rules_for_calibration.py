"""Which proper scoring rule should calibration be trained with? A comparison on synthetic scores.

    python examples/scoring_rules_for_calibration.py -o scoring-rules.svg

An affine map cannot be right at all thresholds at once if the distributions of scores do not suit it. Here some targets
come from bad recordings, and non-targets have a long tail. Calibrators are trained on one set with several members of
the beta family and several priors, and judged by C_primary (operating points 0.01 and 0.001) on another set, which is
harder. Scores are quantiles of their distributions, not random draws, so that rules differ and not luck. After figure 2
of Bruemmer and Doddington, Likelihood-ratio calibration using prior-weighted proper scoring rules, Interspeech 2013.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.special import ndtri

from deciban import plots
from deciban.calibration import AffineCalibrator
from deciban.metrics import c_primary, min_c_primary

RULES = {
    (1.0, 1.0): "logarithmic (1, 1)",
    (2.0, 1.0): "(2, 1)",
    (2.0, 2.0): "Brier (2, 2)",
    (0.5, 0.5): "boosting (½, ½)",
}
LOG_ODDS = np.linspace(0.0, -8.0, 17)
HARDER = 0.3
"""How much lower the scores of targets are in the test set."""

Scores = tuple[np.ndarray, np.ndarray]


def quantile_scores(n_tar: int, n_non: int, *, lower: float = 0.0) -> Scores:
    """Scores of targets, 12 % of them from bad recordings, and of non-targets, whose distribution is skewed."""
    n_bad = round(0.12 * n_tar)
    good, bad = 4.0 + ndtri(_shares(n_tar - n_bad)), 0.3 + 1.5 * ndtri(_shares(n_bad))
    return np.concatenate((good, bad)) - lower, -1.0 - 0.6 * np.log(-np.log(_shares(n_non)))


def _shares(n: int) -> np.ndarray:
    return (np.arange(n) + 0.5) / n


def costs_after_training(
    train: Scores, test: Scores, log_odds: Sequence[float]
) -> dict[tuple[float, float], list[float]]:
    """C_primary on the test set after training with each rule at each prior."""
    scores = np.concatenate(train)
    is_target = np.arange(len(scores)) < len(train[0])
    found = {}
    for alpha, beta in RULES:
        found[alpha, beta] = []
        for tau in log_odds:
            p_target = 1.0 / (1.0 + math.exp(-tau))
            calibrator = AffineCalibrator(alpha=alpha, beta=beta, p_target=p_target).fit(scores, is_target)
            llrs = [calibrator.transform(part) for part in test]
            found[alpha, beta].append(c_primary(*llrs))
    return found


def table(costs: dict[tuple[float, float], list[float]], log_odds: Sequence[float], least: float) -> str:
    """Rows of text: the best prior of each rule, and how wide the valley around it is."""
    lines = [f"{'rule':20} {'least C_primary':>15} {'at tau':>7}   within 0.01 of the least of all rules"]
    best = min(min(row) for row in costs.values())
    for rule, name in RULES.items():
        row = costs[rule]
        good = [tau for tau, cost in zip(log_odds, row, strict=True) if cost <= best + 0.01]
        span = f"tau from {max(good):g} to {min(good):g} ({len(good)} priors)" if good else "never"
        lines.append(f"{name:20} {min(row):15.3f} {log_odds[int(np.argmin(row))]:7.1f}   {span}")
    lines.append(f"{'no affine map: PAV':20} {least:15.3f}           (on the test set itself)")
    return "\n".join(lines)


def picture(costs: dict[tuple[float, float], list[float]], log_odds: Sequence[float], least: float) -> Figure:
    """C_primary over the prior log odds of training, a line for each rule."""
    figure = Figure(figsize=(6.0, 4.0), layout="constrained")
    ax = figure.add_subplot()
    for (rule, name), color, marker in zip(RULES.items(), plots.system_colors(len(RULES)), "^o*s", strict=True):
        ax.plot(log_odds, costs[rule], color=color, marker=marker, markersize=5, linewidth=1.5, label=name)
    ax.axhline(least, color="black", linestyle=":", linewidth=1.2, label="after PAV on the test set")
    ax.set_xlabel("Prior log odds of the training objective (nats)")
    ax.set_ylabel("C_primary of the test set")
    ax.grid(visible=True, color="0.9", linewidth=0.6)
    ax.legend(frameon=False, fontsize=9)
    return figure


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, judge, print a table and draw."""
    parser = argparse.ArgumentParser(description="Compare proper scoring rules for training calibration.")
    parser.add_argument("-o", "--output", type=Path, default=Path("scoring-rules.svg"), help="picture (SVG)")
    parser.add_argument("--n-tar", type=int, default=2000, help="targets for training")
    parser.add_argument("--n-non", type=int, default=60_000, help="non-targets for training")
    parser.add_argument("--priors", type=int, default=len(LOG_ODDS), help="how many prior log odds from 0 to -8")
    options = parser.parse_args(arguments)
    train = quantile_scores(options.n_tar, options.n_non)
    test = quantile_scores(2 * options.n_tar, 5 * options.n_non, lower=HARDER)
    log_odds = np.linspace(LOG_ODDS[0], LOG_ODDS[-1], options.priors).tolist()
    costs, least = costs_after_training(train, test, log_odds), min_c_primary(*test)
    print(table(costs, log_odds, least))
    plots.save(picture(costs, log_odds, least), options.output, "svg")
    print(f"wrote {options.output}")


if __name__ == "__main__":
    main()
