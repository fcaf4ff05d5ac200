"""Plots of evaluation results: the only place that imports matplotlib. Plots draw numbers and compute none.

Every plot of results is a function ``(result, ax=None, **line_kw) -> Axes``. ``result`` is one `Evaluation`, a
`Results`, or a sequence of `Evaluation`; each system has one colour, the same in all plots. `omega` takes weightings of
rules instead, and `calibration_map` calibrators together with the scores that they are meant for. Without ``ax`` a new
`matplotlib.figure.Figure` is made, without pyplot: no display and no global state are involved. ``line_kw`` are
matplotlib's line properties for the main line of each system. Drawing on an ``ax`` that holds another system gives
the new one the next colour.

>>> import deciban
>>> ax = det(deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0]))
>>> ax.get_xlabel()
'False-alarm rate (%)'
"""

from __future__ import annotations

from deciban.plots.calibration import calibration_map
from deciban.plots.files import FORMATS, save
from deciban.plots.omega import omega
from deciban.plots.priors import ape, bayes_error, ece
from deciban.plots.rates import det, roc
from deciban.plots.scores import histogram, pav, tippett
from deciban.plots.sheet import system_colors

KINDS: tuple[str, ...] = ("det", "bayes_error", "ape", "ece", "histogram", "pav", "tippett", "roc")
"""Names of all plots that need nothing but results, in the order in which a report shows them."""

__all__ = [
    "FORMATS",
    "KINDS",
    "ape",
    "bayes_error",
    "calibration_map",
    "det",
    "ece",
    "histogram",
    "omega",
    "pav",
    "roc",
    "save",
    "system_colors",
    "tippett",
]
