"""Figures 2.1, 2.2, 3.1, 7.4 to 7.7, 8.1 and D.1 of the thesis: proper scoring rules and what they weigh.

    python examples/papers/thesis_rules.py -o pictures/

N. Bruemmer, Measuring, refining and calibrating speaker and language information extracted from speech, Stellenbosch
2010. All are functions without data: the number of trials changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from generators import Array
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pictures import Drawings, axes, panels, run

from deciban import plots
from deciban.decisions import Application
from deciban.metrics import trial_costs
from deciban.multiclass import error_rate_weighting
from deciban.rules import ActionCosts, Beta, Logarithmic, MeetingPoint, Mixture, ScoringRule, least_cost_reports

Q = np.linspace(0.001, 0.999, 999)
BOTH = np.column_stack((Q, 1.0 - Q))
ZERO_ONE = ActionCosts([[0.0, 1.0], [1.0, 0.0]])
LOGARITHM = Logarithmic()
GAMMAS = {-0.5: "boosting", 0.0: "logarithm", 1.0: "Brier"}
ACCEPTED = ((1,), (2,), (3,), (1, 2), (1, 3), (2, 3))
ETA = (0.5, 0.3, 0.2)


def symmetric(gamma: float) -> Beta:
    """The rule whose weighting of thresholds is the beta density with both parameters ``gamma + 1`` (7.38)."""
    return Beta(gamma + 1.0, gamma + 1.0)


def figure_2_1() -> Figure:
    """Costs of a stated probability q of the first class, when either class is true."""
    both = panels(1, 2, size=(8.6, 3.6))
    for ax, (name, rule) in zip(both, {"logarithm": LOGARITHM, "errors": ZERO_ONE}.items(), strict=True):
        costs = _costs(rule)
        ax.plot(Q, costs[0], "C0", label="class 1 is true")
        ax.plot(Q, costs[1], "C3", label="class 2 is true")
        ax.set(xlabel="Stated probability q of class 1", ylabel="Cost", title=name)
        ax.legend(frameon=False, fontsize=9)
    both[0].set_ylim(0.0, 5.0)
    return both[0].figure


def _costs(rule: ScoringRule) -> Array:
    return np.asarray(rule.costs(BOTH)).T


def figure_2_2() -> Axes:
    """Entropies of both rules."""
    ax = axes("Probability p of class 1", "Expected cost of stating p")
    ax.plot(Q, LOGARITHM.entropy(BOTH), "C0", label="logarithm: Shannon's entropy")
    ax.plot(Q, ZERO_ONE.entropy(BOTH), "C3", label="errors: least probability of an error")
    ax.legend(frameon=False, fontsize=9)
    return ax


def best_reports(thresholds: Sequence[float], grid: Array) -> Array:
    """Whether stating q (column) is as good as stating p (row), for the sum of rules with these thresholds."""
    rules = [MeetingPoint((eta, 1.0 - eta)) for eta in thresholds]
    pairs = np.column_stack((grid, 1.0 - grid))
    return np.asarray(least_cost_reports(Mixture(rules, np.ones(len(rules))), pairs, pairs))


def figure_3_1() -> Figure:
    """What serves as well as the truth: with one threshold, and with two."""
    both = panels(1, 2, size=(8.6, 4.0))
    grid = np.linspace(0.0025, 0.9975, 200)
    for ax, thresholds in zip(both, ((0.5,), (0.5, 0.55)), strict=True):
        shown = best_reports(thresholds, grid).T
        ax.imshow(shown, origin="lower", extent=(0, 1, 0, 1), cmap="Greys", vmin=0, vmax=2, interpolation="nearest")
        ax.set(xlabel="What is true, p", ylabel="What is stated, q")
        ax.set_title("thresholds " + " and ".join(f"{eta:g}" for eta in thresholds), fontsize=10)
    return both[0].figure


def figures_7_4_to_7_6() -> dict[str, Axes]:
    """The symmetric beta family: costs near a step, weightings, and costs of three rules."""
    step, weights, three = (axes("Stated probability q of class 1", "Cost when class 2 is true") for _ in range(3))
    for gamma in (0.0, 1.0, 5.0, 30.0, 90.0):
        step.plot(Q, symmetric(gamma).costs(BOTH)[:, 1], label=f"gamma = {gamma:g}")
    step.plot(Q, 2.0 * (Q >= 0.5), "k:", label="step of height 2")
    for gamma in (-0.5, 0.0, 1.0, 5.0):
        weights.plot(Q, symmetric(gamma).density(Q), label=f"gamma = {gamma:g}")
    weights.set(xlabel="Threshold of the posterior", ylabel="Weight", ylim=(0.0, 4.0))
    for gamma, name in GAMMAS.items():
        three.plot(Q, symmetric(gamma).costs(BOTH)[:, 1], label=f"{name}, gamma = {gamma:g}")
    for ax in (step, three):
        ax.set_ylim(0.0, 6.0)
    for ax in (step, weights, three):
        ax.legend(frameon=False, fontsize=9, loc="upper center", ncols=2)
    return {"thesis-7-4": step, "thesis-7-5": weights, "thesis-7-6": three}


def figure_7_7() -> Axes:
    """Logarithmic cost over the llr at prior log odds 1."""
    ax = axes("Log-likelihood ratio w (nats)", "Cost (nats)")
    llr = np.linspace(-6.0, 6.0, 241)
    for is_target, name in ((True, "target"), (False, "non-target")):
        ax.plot(llr, trial_costs(llr, np.full(len(llr), is_target), prior_log_odds=1.0), label=name)
    ax.axvline(-1.0, color="0.5", linestyle=":", linewidth=1.0)
    ax.legend(frameon=False, fontsize=9)
    return ax


def detection_costs() -> list[list[float]]:
    """What sets of accepted classes (rows) cost if each of three classes is true (8.6, 8.7)."""
    classes = (1, 2, 3)
    return [[0.5 * (true not in one) + 0.25 * len({*one} - {true}) for true in classes] for one in ACCEPTED]


def meeting_costs(eta: Sequence[float]) -> list[list[float]]:
    """What decisions (rows) cost if each class is true, so that all regions meet at ``eta`` (8.12)."""
    n = len(eta)
    return [[0.0 if k == true else 1.0 / ((n - 1) * eta[true]) for true in range(n)] for k in range(n)]


def figures_8_1() -> dict[str, Axes]:
    """Regions of decisions on the triangle: detection of each class, and classes that meet at ``ETA``."""
    classes = ("1", "2", "3")
    names = [", ".join(map(str, accepted)) for accepted in ACCEPTED]
    return {
        "thesis-8-1-detection": plots.simplex(Application(detection_costs()), classes=classes, actions=names),
        "thesis-8-1-meeting": plots.simplex(Application(meeting_costs(ETA)), classes=classes, actions=classes),
    }


def figure_d_1() -> Axes:
    """How error rates at all priors of three classes add up to cross-entropy."""
    ax = axes("log(prior 1 / prior 3)", "log(prior 2 / prior 3)", size=(5.6, 4.4))
    places = np.linspace(-6.0, 6.0, 121)
    x, y = np.meshgrid(places, places)
    odds = np.exp(np.column_stack((x.ravel(), y.ravel(), np.zeros(x.size))))
    weight = error_rate_weighting(odds / odds.sum(axis=1, keepdims=True)).reshape(x.shape)
    ax.figure.colorbar(ax.contourf(places, places, weight, levels=12, cmap="Blues"), label="Weight")
    ax.grid(visible=False)
    return ax


def draw(n: int) -> Drawings:  # noqa: ARG001  # all scripts are called alike
    """All figures by name."""
    return {
        "thesis-2-1": figure_2_1(),
        "thesis-2-2": figure_2_2(),
        "thesis-3-1": figure_3_1(),
        **figures_7_4_to_7_6(),
        "thesis-7-7": figure_7_7(),
        **figures_8_1(),
        "thesis-d-1": figure_d_1(),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Write them into a folder."""
    run(__doc__ or "", draw, 1, arguments)


if __name__ == "__main__":
    main()
