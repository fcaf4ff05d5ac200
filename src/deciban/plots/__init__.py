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

from typing import TYPE_CHECKING

from deciban._lazy import late

if TYPE_CHECKING:
    from deciban.plots.axes import system_colors
    from deciban.plots.calibration import calibration_map
    from deciban.plots.det_roc import det, roc
    from deciban.plots.files import FORMATS, save
    from deciban.plots.multiclass.ape import class_ape
    from deciban.plots.multiclass.c_avg import c_avg_curve, subset_c_avg
    from deciban.plots.multiclass.losses import class_losses
    from deciban.plots.multiclass.matrices import confusion, pairwise_loss
    from deciban.plots.multiclass.simplex import simplex
    from deciban.plots.prior_curves import ape, bayes_error, ece
    from deciban.plots.rule_weightings import omega
    from deciban.plots.score_plots import histogram, pav, tippett
else:
    __getattr__, __dir__ = late(
        __name__,
        {
            "deciban.plots.axes": ("system_colors",),
            "deciban.plots.calibration": ("calibration_map",),
            "deciban.plots.det_roc": ("det", "roc"),
            "deciban.plots.files": ("FORMATS", "save"),
            "deciban.plots.multiclass.ape": ("class_ape",),
            "deciban.plots.multiclass.c_avg": ("c_avg_curve", "subset_c_avg"),
            "deciban.plots.multiclass.losses": ("class_losses",),
            "deciban.plots.multiclass.matrices": ("confusion", "pairwise_loss"),
            "deciban.plots.multiclass.simplex": ("simplex",),
            "deciban.plots.rule_weightings": ("omega",),
            "deciban.plots.prior_curves": ("ape", "bayes_error", "ece"),
            "deciban.plots.score_plots": ("histogram", "pav", "tippett"),
        },
    )

KINDS: tuple[str, ...] = ("det", "bayes_error", "ape", "ece", "histogram", "pav", "tippett", "roc")
"""Names of all plots that need nothing but results, in the order in which a report shows them."""

CLASS_KINDS: tuple[str, ...] = (
    "confusion",
    "class_losses",
    "pairwise_loss",
    "class_ape",
    "c_avg_curve",
    "subset_c_avg",
    "simplex",
)
"""The same for results of many classes. Confusions, pairs, APE curves and the simplex show one system, the last one of
three classes."""

__all__ = [
    "CLASS_KINDS",
    "FORMATS",
    "KINDS",
    "ape",
    "bayes_error",
    "c_avg_curve",
    "calibration_map",
    "class_ape",
    "class_losses",
    "confusion",
    "det",
    "ece",
    "histogram",
    "omega",
    "pairwise_loss",
    "pav",
    "roc",
    "save",
    "simplex",
    "subset_c_avg",
    "system_colors",
    "tippett",
]
