"""Numbers on the pages of papers are what the scripts compute, at the numbers of trials that the pages say."""

import re
from pathlib import Path

import numpy as np
import pytest

from deciban.metrics import bayes_error, eer, min_bayes_error
from deciban.multiclass import c_avg, calibration_analysis, detection_analysis

PAGES = Path(__file__).parents[3] / "docs" / "papers"


def said(page):
    """A page as one line."""
    return " ".join((PAGES / page).read_text().split())


def row(cells):
    return "| " + " | ".join(cells) + " |"


@pytest.fixture(scope="module")
def subsets(script):
    return script("subsets")


def test_bosaris_figures_2_and_3(script):
    bosaris = script("bosaris")
    found = {kind: bosaris.trained_and_new(kind, 20_000) for kind in ("good", "bad")}
    old, good = (bayes_error(*scores, p_target=0.001, normalize=True) for scores in found["good"])
    new = found["bad"][1]
    bad = bayes_error(*new, p_target=0.001, normalize=True)
    least = min_bayes_error(*new, p_target=0.001, normalize=True)
    text = said("bosaris.md")
    assert f"is {old:.2f} on training trials, {good:.2f} on the good new trials, and {bad:.2f} on the bad ones." in text
    assert f"The minimum of the bad ones is {least:.2f}:" in text


def test_bosaris_figure_4(script):
    generators = script("generators")
    few, many = (eer(*generators.unequal_gaussians(n, seed)) for n, seed in ((25, 4), (20_000, 5)))
    text = " ".join(said("bosaris.md").split())
    assert f"{100 * few:.1f} % with 25 trials per class and {100 * many:.1f} % with 20 000" in text


def test_languages(script):
    before, after, label = script("languages").before_and_after(300)
    found = calibration_analysis(before, label)
    whole, least = (total / np.log2(7) for total in (found.total, found.minimum))
    text = said("languages.md")
    assert f"log2 7 | 0.46 | {whole:.2f} |" in text
    assert f"best scale and offsets | 0.23 | {least:.2f} |" in text
    assert f"best scale | 0.38 | {found.scale:.2f} |" in text
    assert f"7.03 % | {100 * c_avg(before, label):.1f} %, {100 * c_avg(after, label):.1f} % |" in text
    one, two = (detection_analysis(loglik, label).min_cllr for loglik in (before, after))
    (most,) = re.findall(r"minima change by less than ([\d.]+) bits", text)
    assert np.abs(two - one).max() < float(most)


def test_strategies_of_the_slides(subsets):
    text = said("subsets.md")
    for system in subsets.SYSTEMS:
        costs = subsets.strategy_costs(100, system)
        value = {name: found.value for name, found in costs.items()}
        cells = [found.value[found.size.argmax()] for found in costs.values()]
        cells += [part.mean() for part in value.values()]
        better = np.mean(value["re-calibrated"] < value["projected"])
        assert row([system, *(f"{100 * cell:.1f}" for cell in cells), f"{100 * better:.0f} %"]) in text


def test_figures_8_3_and_8_4(subsets):
    text = said("subsets.md")
    raw, fused = subsets.subset_costs(100)
    at = raw.size.argmax()
    assert f"all 14 languages | {100 * raw.value[at]:.1f} % | {100 * fused.value[at]:.1f} % |" in text
    assert f"hardest subset | {100 * raw.value.max():.1f} % | {100 * fused.value.max():.1f} % |" in text
    assert f"fusion is better | | {100 * np.mean(fused.value < raw.value):.2f} % |" in text
    for system, costs in subsets.calibrations(100).items():
        assert row([system, *(f"{100 * cost:.1f}" for cost in costs)]) in text


def test_table_8_1(script):
    text = said("thesis.md")
    for found in script("thesis_scores").table_8_1(500):
        start = [
            found.test,
            found.train,
            *(f"{round(x, 2) + 0.0:.2f}" for x in found[2:5]),
            f"{100 * found.error_rate:.1f}",
        ]
        assert row(start) in text
