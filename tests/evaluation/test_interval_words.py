"""How intervals are written: digits, captions, and notes on minima."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.core.resampling.intervals import Interval
from deciban.core.resampling.units import independent
from deciban.evaluation import evaluate
from deciban.evaluation.one_system import (
    bounds_in_words,
    caption_of,
    corrected_of,
    optimism_in_words,
    shown_interval,
    with_interval,
)

RNG = np.random.default_rng(5)
SPEAKERS = {"tar_units": np.arange(200) % 40, "non_units": RNG.integers(0, 40, (800, 2))}
ONE = evaluate(RNG.normal(2, 2, 200), RNG.normal(-2, 2, 800), operating_points=[0.1], **SPEAKERS)


def between(low, high):
    return Interval((low + high) / 2, low, high, 1.0, None, 0.95, 40, "by hand")


@pytest.mark.parametrize(
    ("low", "high", "in_percent", "expected"),
    [
        (0.0407, 0.0573, True, ("4.1", "5.7")),  # 1.66 wide: tenths
        (0.9, 0.9123, True, ("90.0", "91.2")),
        (0.471, 0.568, False, ("0.471", "0.568")),  # 0.097 wide
        (0.471, 0.572, False, ("0.47", "0.57")),  # 0.101 wide
        (93.4, 255.1, False, ("93", "255")),
        (-1e-9, 0.04, False, ("0.000", "0.040")),  # no minus before zeros
        (0.0, math.inf, False, ("0", "inf")),
        (0.25, 0.25, False, ("0.25", "0.25")),
    ],
)
def test_the_width_of_an_interval_has_two_digits(low, high, in_percent, expected):
    assert bounds_in_words(between(low, high), in_percent=in_percent) == expected


@pytest.mark.parametrize(
    ("low", "high", "beside", "expected"),
    [
        (1e-11, 7e-10, "0.000", ("<0.001", "<0.001")),
        (-4e-5, 2e-4, "0.000", (">-0.001", "<0.001")),
        (0.0, 4e-5, "0.000", ("0.000", "<0.001")),  # 0 is no false 0
        (0.51831, 0.51849, "0.518", ("0.518", "0.518")),
        (-0.51849, -0.51831, "\u22120.518", ("-0.518", "-0.518")),
        (0.471, 0.572, "0.518", ("0.47", "0.57")),  # fewer than the metric has, by the width
        (1.04e-5, 1.61e-5, "1.3e-05", ("1e-05", "1.6e-05")),
        (93.4, 255.1, "151", ("93", "255")),
        (0.385, 18.3, "0.490", ("0.4", "18")),  # a small bound has its own first digit
        (-1e-17, 0.5, "0.490", ("0.00", "0.50")),  # rounding noise is 0
        (0.471, 0.4712, "", ("0.47100", "0.47120")),  # nothing beside: as many as the width asks for
    ],
)
def test_bounds_have_no_more_decimals_than_their_figure(low, high, beside, expected):
    assert bounds_in_words(between(low, high), beside=beside) == expected


@given(st.floats(-5, 5), st.floats(-6, 4))
def test_bounds_are_never_further_off_than_a_twentieth_of_the_width(low, log_width):
    width = 10**log_width
    texts = bounds_in_words(between(low, low + width))
    for text, value in zip(texts, (low, low + width), strict=True):
        assert abs(float(text) - value) <= max(width / 20, 0.5) * 1.001
        if width < 10:
            assert abs(float(text) - value) <= width / 20 * 1.001 + 1e-12


def test_captions_name_level_unit_and_number():
    assert caption_of([ONE]) == "95 % intervals by unit, 40 units"
    assert caption_of([evaluate([1.0], [0.0])]) == ""
    known = replace(ONE.uncertainty, n_units=1200, noun="speaker", level=0.9)
    other = replace(ONE, uncertainty=known)
    assert caption_of([other]) == "90 % intervals by speaker, 1,200 speakers"
    both = [other, replace(ONE, uncertainty=replace(known, n_units=1100))]
    assert caption_of([*both, evaluate([1.0], [0.0])]) == "90 % intervals by speaker, 1,100 to 1,200 speakers"
    units = {"tar_units": range(6), "non_units": range(6)}
    drawn = evaluate([2.0, 1.0, 3.0, 4.0, 2.5, 0.5], [0.0, 1.5, -1.0, -2.0, -3.0, -0.5], **units, bootstrap=30)
    assert caption_of([drawn]).endswith("6 units; bootstrap")


def test_without_intervals_there_is_no_caption():
    few = evaluate([2.0, 1.0, 3.0], [0.0, 1.5, -1.0], tar_units=[0, 1, 2], non_units=[0, 1, 2])
    assert not few.uncertainty.estimates
    assert caption_of([few]) == ""
    assert caption_of([few, ONE]) == caption_of([ONE])


def test_what_has_no_interval_has_none():
    assert shown_interval(ONE, "eer") == ONE.interval("eer")
    assert shown_interval(ONE, "no such metric") is None
    assert shown_interval(evaluate([1.0], [0.0]), "eer") is None


def with_corrected(shift, noun="speaker"):
    """The same with the minimum of Cllr off by so many standard errors, and nothing else."""
    known = ONE.uncertainty
    estimates = {name: replace(one, corrected=None) for name, one in known.estimates.items()}
    least = estimates["min_cllr"]
    estimates["min_cllr"] = replace(least, corrected=least.value + shift * least.standard_error)
    return replace(ONE, uncertainty=replace(known, estimates=estimates, noun=noun))


def test_captions_state_that_minima_are_optimistic():
    told = with_corrected(0.5)
    assert corrected_of(told, "min_cllr") == told.uncertainty.estimates["min_cllr"].corrected
    assert optimism_in_words([told]) == "EER, minDCF and min Cllr are optimistic: see corrected=True"
    assert optimism_in_words([told], corrected=True) == "corrected: expected on new speakers"
    assert not any("same trials" in note for note in told.all_notes)
    assert optimism_in_words([evaluate([1.0], [0.0])]) == ""


def test_captions_state_that_trials_are_taken_as_independent():
    alone = replace(ONE, uncertainty=replace(ONE.uncertainty, noun="trial", source=independent("trial")))
    n = ONE.uncertainty.n_units
    assert caption_of([alone]) == f"95 % intervals by trial, {n} trials taken as independent"
    assert "independent" not in caption_of([ONE])


def test_notes_on_units_stay_with_the_figures():
    few = replace(ONE, uncertainty=replace(ONE.uncertainty, n_units=12, noun="speaker"))
    assert "Intervals rest on 12 speakers: with fewer than 30 they are rough." in few.all_notes
    assert few.to_dict()["notes"] == list(few.all_notes)
    assert "rest on 12 speakers" in few.table()
    for style in ("csv", "markdown", "latex", "html"):
        assert "rest on 12 speakers" in few.table(style)
    without = evaluate([1.0], [0.0])
    assert without.all_notes == without.notes


def test_one_error_in_very_many_trials_is_told_from_its_bounds():
    """Two decimals of percent would write metric and both ends alike."""
    non = np.linspace(-9.0, -1.0, 300_000)
    non[-1] = 4.0
    one = evaluate(
        np.linspace(1.0, 9.0, 300_000), non, tar_units=np.arange(300_000), non_units=np.arange(300_000) + 500_000
    )
    found = one.interval("eer")
    text = with_interval(f"{100 * one.eer:.2f} %", one, "eer")
    assert 0.0 < found.low < found.high < 5e-5
    shown = [float(part.strip("<")) for part in (text.estimate.removesuffix(" %"), text.low, text.high)]
    assert len(set(shown)) == 3
    assert shown[2] == pytest.approx(100 * found.high, rel=0.05)
