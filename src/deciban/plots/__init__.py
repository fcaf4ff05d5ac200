"""Plots of evaluation results: the only place that imports matplotlib. Plots draw numbers and compute none.

Every plot of results is a function ``(result, ax=None, **line_kw) -> Axes``. ``result`` is one `Evaluation`, a
`Results`, or a sequence of `Evaluation`; each system has one colour, the same in all plots. `omega` takes weightings of
rules instead, and `calibration_map` calibrators together with the scores that they are meant for. Plots of many classes
take a `ClassEvaluation`, a `ClassResults`, or a sequence of `ClassEvaluation`; `simplex` also takes an `Application`.

Without ``ax`` a new `matplotlib.figure.Figure` is made, without pyplot: no display and no global state are involved.
``line_kw`` are matplotlib's line properties for the main line of each system. Drawing on an ``ax`` that holds another
system gives the new one the next colour.

>>> import deciban
>>> ax = deciban.plots.det(deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0]))
>>> ax.get_xlabel()
'False-alarm rate (%)'
"""

from __future__ import annotations

from deciban._lazy import late

__getattr__, __dir__ = late(__name__)

KINDS: tuple[str, ...] = ("det", "bayes_error", "ape", "ece", "histogram", "pav", "tippett", "roc", "reliability")
"""Names of all plots that need nothing but results, in the order in which a report shows them."""

CLASS_KINDS: tuple[str, ...] = (
    "confusion",
    "class_losses",
    "pairwise_loss",
    "class_ape",
    "c_avg_curve",
    "subset_c_avg",
    "simplex",
    "reliability",
)
"""The same for results of many classes. Confusions, pairs, APE curves and the simplex show one system, the last one
three of its classes."""

COMPARISON_KINDS: tuple[str, ...] = ("forest", "difference_curve")
"""The same for comparisons of systems."""

TEACHING_KINDS: tuple[str, ...] = ("rocch", "minimum_cost", "cllr_bars", "ape_bars", "error_contributions")
"""Of two classes as well, but not in a report: they show where figures come from."""

CONDITION_KINDS: tuple[str, ...] = ("by_condition", "condition_map")
"""Of results by conditions."""

TRIAL_KINDS: tuple[str, ...] = ("score_scatter", "zoo")
"""Of what no evaluation holds: `deciban.analysis.score_pairs`, `deciban.evaluation.menagerie`."""

MODEL_KINDS: tuple[str, ...] = ("fusion_weights", "class_parameters")
"""Of trained models."""

MAP_KINDS: tuple[str, ...] = ("calibration_map",)
"""Of a calibrator, with the scores that it is meant for."""

RULE_KINDS: tuple[str, ...] = ("scoring_rules", "rule_weights")
"""Of proper scoring rules, without scores."""

SET_KINDS: tuple[str, ...] = ("dev_and_eval",)
"""Of the same systems on two sets."""
