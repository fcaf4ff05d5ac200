"""How the page writes numbers and sentences."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from deciban import plots
from deciban.evaluation import evaluate
from deciban.evaluation.multiclass.result import CLASS_CONVENTIONS
from deciban.evaluation.one_system import caption_of
from deciban.evaluation.results import CONVENTIONS
from deciban.evaluation.two_class.evaluate import prior_name
from deciban.report import tables as words

MINUS = "\N{MINUS SIGN}"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.41249, "0.412"),
        (-4.59512, f"{MINUS}4.595"),
        (0.0, "0.000"),
        (-0.0, "0.000"),
        (-1e-17, "0.000"),
        (math.inf, "∞"),
        (-math.inf, f"{MINUS}∞"),
        (1234.5, "1,234.500"),
        (1e6, "1e+06"),
        (-1e300, f"{MINUS}1e+300"),
    ],
)
def test_number(value, text):
    assert words.number(value) == text


@pytest.mark.parametrize(
    ("fraction", "text"),
    [
        (0.0412, "4.12 %"),
        (0.0, "0.00 %"),
        (0.5, "50.00 %"),
        (1.0, "100.00 %"),
        (0.00123, "0.12 %"),
        (4.56e-6, "0.00046 %"),
    ],
)
def test_percent(fraction, text):
    assert words.percent(fraction) == text


@pytest.mark.parametrize(
    ("value", "text"), [(58000, "58,000"), (0, "0"), (3.0, "3"), (12.25, "12.2"), (10**12, "1,000,000,000,000")]
)
def test_count(value, text):
    assert words.count(value) == text


@pytest.mark.parametrize(
    ("log_odds", "text"),
    [(0.0, "0.5"), (-4.59512, "0.01"), (4.0, "0.98"), (4.59512, "0.99"), (math.log(1e-300), "1e-300")],
)
def test_prior(log_odds, text):
    assert prior_name(log_odds) == text


def test_scarce_errors_between_two_priors():
    rng = np.random.default_rng(0)
    result = evaluate(rng.normal(2, 2, 500), rng.normal(-2, 2, 500))
    false_alarms, misses = result.dr30
    below, above = prior_name(false_alarms), prior_name(misses)
    sentence = f"fewer than 30 false alarms below prior {below}; fewer than 30 misses above prior {above}"
    assert words.scarce_errors(result) == sentence
    assert 0 < float(below) < 0.5 < float(above) < 1


def test_scarce_errors_where_one_kind_always_is():
    result = evaluate([1.0] * 40, [0.0, 1.0])
    assert words.scarce_errors(result).startswith(
        "fewer than 30 false alarms at every prior; fewer than 30 misses above"
    )


PAGES = {"two-class": (plots.KINDS, CONVENTIONS), "classes": (plots.CLASS_KINDS, CLASS_CONVENTIONS)}


@pytest.mark.parametrize("page", PAGES)
def test_every_plot_has_a_title_and_a_caption(page):
    only_there = {"class_det"} if page == "classes" else set()
    assert set(words.TEXTS[page]["plots"]) - only_there == set(PAGES[page][0]) - {"simplex"}  # a section of the page
    for title, caption in words.TEXTS[page]["plots"].values():
        assert title
        assert 1 <= len(re.findall(r"\.(?:\s|$)", caption)) <= 3


@pytest.mark.parametrize("page", PAGES)
def test_every_convention_has_a_name(page):
    assert set(words.TEXTS[page]["conventions"]) == set(PAGES[page][1])


def test_every_sentence_is_used():
    """A key that neither a template nor a module names is a sentence that no page says."""
    folder = Path(words.__file__).parent
    source = "".join(path.read_text("utf-8") for ending in ("*.py", "*.html") for path in folder.rglob(ending))
    for section, rows in words.TEXTS.items():
        for name in rows:
            assert re.search(rf"""["'.]{name}\b""", source), (section, name)


def test_sentences_of_fusions_are_those_of_their_kinds():
    kinds = {"linear", "quality", "subset"}
    assert set(words.TEXTS["fusion"]["weights"]) == set(words.TEXTS["fusion"]["rows"]) == kinds


def test_intervals_of_error_rates_alone_are_named():
    """Targets of three units: only error rates of non-targets have intervals."""
    rng, unit = np.random.default_rng(0), np.arange(60)
    one = evaluate(rng.normal(1, 1, 60), rng.normal(-1, 1, 60), tar_units=unit % 3, non_units=unit % 20)
    assert "eer" not in one.uncertainty.estimates
    assert words.about_intervals([one]) == "In brackets: 95 % intervals by unit, 20 units."
    assert caption_of([one]) == ""
