"""Pictures of the pages that explain: what rules weigh, what PAV finds in noise, and intervals by speaker and by trial.

    python examples/explanation.py -o pictures/

Scores are drawn at random, always the same. The numbers on the pages are printed by the pages themselves.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import norm

from deciban import metrics, plots, rules

RULES = {"logarithmic (1, 1)": (1.0, 1.0), "Brier (2, 2)": (2.0, 2.0), "boosting (½, ½)": (0.5, 0.5)}
N_SPEAKERS, N_EACH, SPREAD = 30, 50, 0.8
AUC = float(norm.cdf(2.0 / np.sqrt(2.0 + SPREAD**2)))
"""Of all speakers: how often N(1, 1 + SPREAD²) is above N(-1, 1)."""


def empty(figure: Figure, place: tuple[int, int, int], x: str, y: str) -> Axes:
    """Axes with a faint grid."""
    ax = figure.add_subplot(*place)
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.grid(visible=True, color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    return ax


def weightings() -> Figure:
    """What three rules cost, and how much each threshold counts for them at even odds and at a prior of 0.01."""
    figure = Figure(figsize=(9.6, 3.9), layout="constrained")
    costs = figure.add_subplot(1, 2, 1)
    plots.scoring_rules({name: rules.Beta(*rule) for name, rule in RULES.items()}, costs)
    weights = empty(figure, (1, 2, 2), "Threshold (nats)", "Weight per nat")
    threshold = np.linspace(-6.0, 10.0, 401)
    for (name, (alpha, beta)), color in zip(RULES.items(), plots.system_colors(len(RULES)), strict=True):
        for p_target, look, width in ((0.5, "-", 1.8), (0.01, "--", 1.2)):
            weight = metrics.threshold_weighting(threshold, alpha=alpha, beta=beta, p_target=p_target)
            weights.plot(threshold, weight, look, color=color, linewidth=width, label=name if look == "-" else None)
    weights.plot([], [], "--", color="0.4", linewidth=1.2, label="trained at prior 0.01")
    weights.set_ylim(0.0, 0.52)
    weights.legend(frameon=False, fontsize=9)
    return figure


def noise() -> Figure:
    """Min Cllr of scores that mean nothing, by the number of trials: of 50 draws each, and their mean."""
    figure = Figure(figsize=(5.6, 3.6), layout="constrained")
    ax = empty(figure, (1, 1, 1), "Trials of each class", "Min Cllr (bits)")
    rng, numbers = np.random.default_rng(1), (10, 30, 100, 300, 1000)
    found = np.array([[metrics.min_cllr(rng.normal(size=n), rng.normal(size=n)) for _ in range(50)] for n in numbers])
    beside = np.exp(rng.uniform(-0.12, 0.12, found.shape)) * np.array(numbers)[:, None]
    ax.plot(beside.ravel(), found.ravel(), ".", color="C0", markersize=3, alpha=0.6, label="one evaluation")
    ax.plot(numbers, found.mean(axis=1), "_", color="C3", markersize=22, markeredgewidth=2, label="mean")
    ax.axhline(1.0, color="0.3", linestyle="--", linewidth=1.0, label="with trials without end")
    ax.set_xscale("log")
    ax.set_ylim(0.55, 1.02)
    ax.legend(frameon=False, fontsize=9, loc="lower right")
    return figure


def trials(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Target and non-target scores of an evaluation, and the speaker of each: some are easier to know than others."""
    speaker = np.repeat(np.arange(N_SPEAKERS), N_EACH)
    ease = rng.normal(0.0, SPREAD, N_SPEAKERS)[speaker]
    return 1.0 + ease + rng.normal(size=len(speaker)), -1.0 + rng.normal(size=len(speaker)), speaker


def auc_intervals(n: int, *, by_speaker: bool) -> np.ndarray:
    """Estimate, lower and upper bound of the AUC in ``n`` evaluations, (n, 3); each has speakers of its own."""
    rng, rows = np.random.default_rng(7), []
    for _ in range(n):
        tar, non, speaker = trials(rng)
        single = np.arange(len(tar))
        units = (speaker, speaker) if by_speaker else (single, single + len(tar))
        found = metrics.interval("auc", tar, non, tar_units=units[0], non_units=units[1])
        rows.append((found.estimate, found.low, found.high))
    return np.array(rows)


def holds(rows: np.ndarray) -> np.ndarray:
    """Which intervals hold the value of all speakers."""
    return (rows[:, 1] <= AUC) & (rows[:, 2] >= AUC)


def intervals(n: int = 40) -> Figure:
    """Intervals of as many evaluations, by speaker and by trial; those that miss are squares."""
    figure = Figure(figsize=(9.6, 3.6), layout="constrained")
    for place, (title, by_speaker) in enumerate({"by speaker": True, "by trial": False}.items(), 1):
        ax = empty(figure, (1, 2, place), "Evaluation, each with 30 other speakers", "AUC")
        rows = auc_intervals(n, by_speaker=by_speaker)
        inside = holds(rows)
        for kind, color, look, name in ((inside, "#0072B2", "o", "hold it"), (~inside, "#D55E00", "s", "do not")):
            at = np.flatnonzero(kind) + 1
            ax.vlines(at, rows[kind, 1], rows[kind, 2], color=color, linewidth=1.6)
            ax.plot(at, rows[kind, 0], look, color=color, markersize=3.5, label=f"{kind.sum()} {name}")
        ax.axhline(AUC, color="0.3", linewidth=1.0, linestyle="--", label="of all speakers")
        ax.set_title(f"95 % intervals {title}", fontsize=10)
        ax.set_ylim(0.74, 0.98)
        ax.legend(frameon=False, fontsize=9, loc="lower right", ncols=3)
    return figure


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw all of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER")
    options = parser.parse_args(arguments)
    options.output.mkdir(parents=True, exist_ok=True)
    for name, draw in {"weightings": weightings, "noise": noise, "intervals": intervals}.items():
        file = options.output / f"explain-{name}.svg"
        plots.save(draw(), file, "svg")
        print(f"wrote {file}")


if __name__ == "__main__":
    main()
