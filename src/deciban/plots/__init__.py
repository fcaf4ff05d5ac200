"""Plots of evaluation results. Only this package imports matplotlib. Plots draw numbers and do not compute any.

Every plot of results is a function ``(result, ax=None, **line_kw) -> Axes``. ``result`` is one `Evaluation`, a
`Results`, or a sequence of `Evaluation`. Each system has one colour, the same in all plots. `omega` takes weightings of
rules, and `calibration_map` takes calibrators with scores. Multiclass plots take a `ClassEvaluation`, a `ClassResults`,
or a sequence of `ClassEvaluation`; `simplex` also takes an `Application`.

Without ``ax``, plots create a new `matplotlib.figure.Figure` without pyplot, so no display and no global state are
needed. ``line_kw`` are matplotlib's line properties for the main line of each system. If ``ax`` already contains a
system, the new one gets the next colour.

>>> import deciban
>>> ax = deciban.plots.det(deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0]))
>>> ax.get_xlabel()
'False-alarm rate (%)'
"""

from __future__ import annotations

from deciban._lazy import late

__getattr__, __dir__ = late(__name__)

KINDS: tuple[str, ...] = ("det", "bayes_error", "ape", "ece", "histogram", "pav", "tippett", "roc", "reliability")
"""Names of all plots that need only results, in the order of reports."""

CLASS_KINDS: tuple[str, ...] = (
    *("confusion", "class_losses", "pairwise_loss", "class_ape", "c_avg_curve", "subset_c_avg", "simplex"),
    "reliability",
)
"""Names of all plots that need only multiclass results. Confusions, pairs, APE curves and the simplex show one system;
the simplex shows three of its classes."""

COMPARISON_KINDS: tuple[str, ...] = ("forest", "difference_curve")
"""Names of plots of comparisons."""

TEACHING_KINDS: tuple[str, ...] = (
    *("rocch", "minimum_cost", "cllr_bars", "ape_bars", "error_contributions"),
    "precision_recall",
)
"""Names of other two-class plots that need only results; reports do not contain them."""

CONDITION_KINDS: tuple[str, ...] = ("by_condition", "condition_map")
"""Names of plots of results by condition."""

TRIAL_KINDS: tuple[str, ...] = ("score_scatter", "zoo", "subjects", "cmc")
"""Names of plots that need more than evaluations: `deciban.analysis.score_pairs`,
`deciban.evaluation.menagerie`, `deciban.biometrics.zoo`, `deciban.biometrics.cmc`."""

MODEL_KINDS: tuple[str, ...] = ("fusion_weights", "class_parameters")
"""Names of plots of trained models."""

MAP_KINDS: tuple[str, ...] = ("calibration_map",)
"""Names of plots of a calibrator with scores."""

RULE_KINDS: tuple[str, ...] = ("scoring_rules", "rule_weights")
"""Names of plots of proper scoring rules, without scores."""

SET_KINDS: tuple[str, ...] = ("dev_and_eval",)
"""Names of plots of the same systems on two sets."""
