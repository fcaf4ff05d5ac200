"""Likelihood ratios in common logarithms: the numbers that are drawn stay in nats, ticks and labels are in log10."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axis import Axis
from matplotlib.ticker import AutoLocator, FuncFormatter

LABELS = {
    "Score": ("Score (log10 likelihood ratio)", 1 / math.log(10)),
    "Score (log-likelihood ratio in nats)": ("Score (log10 likelihood ratio)", 1 / math.log(10)),
    "Log-likelihood ratio after PAV (nats)": ("log10 likelihood ratio after PAV", 1 / math.log(10)),
    "Prior log odds (nats)": ("Prior log10 odds", 1 / math.log(10)),
    "Density (per unit of score)": ("Density (per unit of log10 likelihood ratio)", math.log(10)),
}
"""What labels of axes become, and how many of the new unit are one of the old."""


class _ScaledLocator(AutoLocator):
    """Ticks at round numbers of another unit."""

    def __init__(self, scale: float) -> None:
        super().__init__()
        self._scale = scale

    def tick_values(self, vmin: float, vmax: float) -> Any:
        return np.asarray(super().tick_values(vmin * self._scale, vmax * self._scale)) / self._scale


def write_in_log10(axis: Axis, label: str) -> None:
    """Write an axis in common logarithms, if its label is one that means likelihood ratios or log odds."""
    if label not in LABELS:
        return
    words, scale = LABELS[label]
    axis.set_label_text(words)
    axis.set_major_locator(_ScaledLocator(scale))
    axis.set_major_formatter(FuncFormatter(lambda value, _: _written(value * scale)))


def _written(value: float) -> str:
    """A tick, without the digits that scaling makes.

    >>> _written(-0.30000000000000004), _written(-1e-17)
    ('−0.3', '0')
    """
    text = f"{round(value, 9):.6g}"
    return "0" if float(text) == 0.0 else text.replace("-", "\N{MINUS SIGN}")
