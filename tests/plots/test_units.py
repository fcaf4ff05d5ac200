"""Likelihood ratios in common logarithms: other ticks and labels, the same numbers."""

import dataclasses
import math

import numpy as np
import pytest

from deciban import plots
from support.evaluated import gaussian

LOG10 = {
    "tippett": ("Score (log10 likelihood ratio)", None),
    "pav": ("Score (log10 likelihood ratio)", "log10 likelihood ratio after PAV"),
    "histogram": ("Score (log10 likelihood ratio)", "Density (per unit of log10 likelihood ratio)"),
    "ece": ("Prior log10 odds", None),
    "bayes_error": ("Prior log10 odds", None),
    "ape": ("Prior log10 odds", None),
}


def in_log10(name="sysA"):
    return dataclasses.replace(gaussian(name), axis="log10")


def ticks(axis):
    """Places within the limits, and what is written there."""
    axis.figure.draw_without_rendering()
    low, high = sorted(axis.get_view_interval())
    texts = [label.get_text() for label in axis.get_majorticklabels()]
    return [
        (place, float(text.replace("\N{MINUS SIGN}", "-")))
        for place, text in zip(axis.get_majorticklocs().tolist(), texts, strict=True)
        if low <= place <= high
    ]


@pytest.mark.parametrize("kind", LOG10)
def test_ticks_are_those_of_common_logarithms(kind):
    ax, (x, y) = getattr(plots, kind)(in_log10()), LOG10[kind]
    assert ax.get_xlabel() == x
    places = ticks(ax.xaxis)
    assert len(places) > 3
    np.testing.assert_allclose([place / math.log(10) for place, _ in places], [written for _, written in places])
    if y is not None:
        assert ax.get_ylabel() == y
        factor = math.log(10) if kind == "histogram" else 1 / math.log(10)
        np.testing.assert_allclose(*zip(*[(place * factor, text) for place, text in ticks(ax.yaxis)], strict=True))


@pytest.mark.parametrize("kind", [*LOG10, "det", "roc", "reliability"])
def test_numbers_stay_as_they_are(kind):
    one, other = (getattr(plots, kind)(system) for system in (in_log10(), gaussian("sysA")))
    for line, same in zip(one.lines, other.lines, strict=True):
        np.testing.assert_array_equal(line.get_xydata(), same.get_xydata())
    if kind not in LOG10:
        assert one.get_xlabel() == other.get_xlabel()


def test_nats_where_systems_differ():
    assert plots.tippett([in_log10(), gaussian("sysB")]).get_xlabel() == "Score (log-likelihood ratio in nats)"


def test_common_logarithms_in_files_stay_such(tmp_path):
    from deciban import evaluate_files

    path = tmp_path / "s.csv"
    path.write_text("trial,score,label\na,2.5,1\nb,1,1\nc,-0.5,0\nd,1.5,0\n")
    assert evaluate_files(path, log10=True).systems[0].axis == "log10"
    assert evaluate_files(path, log10=True, axis="nats").systems[0].axis == "nats"
    assert evaluate_files(path).systems[0].axis == "nats"
    assert evaluate_files(path, axis="log10").plot.ece().get_xlabel() == "Prior log10 odds"
