"""Conditions, pairs of systems and addresses of pages of many classes, in a real browser: what Python says of them."""

import re

import numpy as np
import pytest

import deciban
from deciban.analysis.comparison import compare_results
from deciban.multiclass import brier, c_avg, confusion
from deciban.report import tables as words

from .conftest import written_results
from .test_page_in_browser import until

NAMES = ["alpha", "beta", "<b>gamma"]
N = 600


@pytest.fixture(scope="module")
def trials():
    """Frame of two systems of three classes with a line and a speaker, and the scores of each."""
    rng = np.random.default_rng(11)
    label = np.arange(N) % 3
    line = rng.choice(["mic", "tel <b>"], N)
    line[1:5] = "sat"  # no gamma, or not enough
    line[label == 2] = np.where(line[label == 2] == "sat", "mic", line[label == 2])
    scores = {}
    for k, name in enumerate(["one", "two"]):
        gain = (1.0 + 0.6 * k) * np.where(line == "mic", 1.5, 0.8)
        scores[name] = rng.normal(0, 1.2, (N, 3)) + gain[:, None] * np.eye(3)[label]
    return {"label": label, "line": line, "speaker": rng.integers(0, 50, N), "scores": scores}


@pytest.fixture(scope="module")
def results(trials):
    about = {"class": [NAMES[k] for k in trials["label"]], "line": trials["line"], "speaker": trials["speaker"]}
    columns = {name: [f"{name} {k}" for k in range(3)] for name in trials["scores"]}
    scores = {column: x[:, k] for name, x in trials["scores"].items() for k, column in enumerate(columns[name])}
    return deciban.evaluate_classes(
        about | scores, label="class", classes=NAMES, score=columns, by="line", units="speaker"
    )


@pytest.fixture(scope="module")
def path(results, tmp_path_factory):
    return written_results(tmp_path_factory.mktemp("pages") / "classes.html", results)


def matrix(page):
    found = page.locator(".cells button").evaluate_all("all => all.map(one => Number(one.dataset.value))")
    return np.reshape(found, (3, 3)).tolist()


def place(page, name):
    return page.locator(f":is(#answer, [data-region=controls]) [data-place={name}]").inner_text()


def in_condition(trials, name, line):
    rows = trials["line"] == line
    return trials["scores"][name][rows], trials["label"][rows]


def test_decisions_follow_the_condition_and_the_prior(visit, path, trials):
    page = visit(path, "#system=two")
    page.select_option("[name=condition]", label="line mic")
    x, label = in_condition(trials, "two", "mic")
    assert matrix(page) == confusion(x, label).tolist()
    page.select_option("[name=class-target]", label="beta")
    page.fill("[name=class-prior]", "0.5")
    prior = [0.25, 0.5, 0.25]
    wanted = confusion(x, label, prior=prior)
    assert matrix(page) == wanted.tolist()
    rate = sum(share * (1 - row[k] / row.sum()) for k, (share, row) in enumerate(zip(prior, wanted, strict=True)))
    assert place(page, "error_rate") == words.percent(rate)
    assert place(page, "brier") == words.number(brier(x, label, prior=prior))
    assert place(page, "c_avg") == words.number(c_avg(x, label, p_target=0.5), 4)
    assert place(page, "trials-shown").startswith("Only line mic: ")
    page.select_option("#map-figure", "error_rate")
    assert (
        page.locator(".card [data-main=error_rate]").nth(1).inner_text()
        == page.locator("[data-condition='line mic'][data-mapped=two]").inner_text()
    )
    page.select_option("[name=condition]", label="all segments")
    assert matrix(page) == confusion(trials["scores"]["two"], trials["label"], prior=prior).tolist()


def test_the_map_has_figures_of_python_and_leads_there(visit, path, results, trials):
    page = visit(path)
    for metric, write in (("cllr", words.number), ("error_rate", words.percent)):
        page.select_option("#map-figure", metric)
        for system, known in zip(("one", "two"), results.conditions, strict=True):
            for one in known.partitions[0].conditions:
                cell = page.locator(f"[data-condition='{one.name}'][data-mapped={system}]").inner_text()
                assert cell == (words.MISSING if one.evaluation is None else write(getattr(one.evaluation, metric)))
    page.select_option("#map-figure", "c_avg_here")
    page.fill("[name=class-prior]", "0.2")
    x, label = in_condition(trials, "one", "tel <b>")
    shown = page.locator("[data-condition='line tel <b>'][data-mapped=one]")
    assert shown.inner_text() == words.number(c_avg(x, label, p_target=0.2), 4)
    shown.click()
    assert page.locator("[name=condition] option:checked").inner_text() == "line tel <b>"
    assert place(page, "c_avg") == shown.inner_text()
    assert page.locator("option", has_text="line sat").get_attribute("disabled") is not None


def test_two_systems_are_compared_at_the_prior_and_in_pairs(visit, path, results, trials):
    page = visit(path, "#class=alpha&p=0.1&condition=line%20mic")
    pair = [in_condition(trials, name, "mic") for name in ("one", "two")]
    first, second = (c_avg(x, label, p_target=0.1) for x, label in pair)
    row = page.locator("#compare [data-place=at-point] tr", has_text="C_avg").locator("td").all_inner_texts()
    assert row[:2] == [words.number(first, 4), words.number(second, 4)]
    found = compare_results(results)
    cllr = page.locator("#compare [data-place=figures] tbody tr", has_text="Cllr").first.locator("td")
    estimate = found.difference("cllr", "one", "two").estimate
    assert cllr.nth(2).inner_text().split("\n")[0] == f"{estimate:+.3f}".replace("-", words.MINUS)
    page.locator("#compare figure").scroll_into_view_if_needed()
    page.wait_for_selector("#compare figure canvas")
    page.locator("#compare .chart").focus()
    page.keyboard.press("ArrowRight")
    (curve,) = found.pairs[0].curves
    said = page.locator("#compare .reading").inner_text()
    k = int(np.argmin(np.abs(curve.log_odds)))
    ends = f"[{curve.low[k]:.3f}, {curve.high[k]:.3f}]"
    assert f"prior 0.5: difference {curve.difference[k]:+.3f} {ends}".replace("-", words.MINUS) in said


def test_the_address_keeps_what_was_chosen(visit, path, trials):
    page = visit(path)
    page.select_option("[name=class-system]", label="two")
    page.select_option("[name=class-target]", label="<b>gamma")
    page.fill("[name=class-prior]", "0.1")
    page.select_option("[name=condition]", label="line tel <b>")
    page.locator(".cells button").nth(5).click()
    page.select_option("[name=second]", label="one")
    until(page, "location.hash.includes('first=two')")
    link = page.evaluate("location.hash")
    again = visit(path, link)
    x, label = in_condition(trials, "two", "tel <b>")
    assert matrix(again) == confusion(x, label, prior=[0.45, 0.45, 0.1]).tolist()
    assert (
        again.locator(".cells [aria-pressed=true]").get_attribute("aria-label").startswith("beta decided as <b>gamma")
    )
    assert again.locator("[name=first] option:checked").inner_text() == "two"
    until(again, f"location.hash === {link!r}")
    again.evaluate("location.hash = '#system=one&condition=elsewhere'")
    until(again, "document.querySelector('[name=condition]').value === ''")
    assert matrix(again) == confusion(trials["scores"]["one"], trials["label"]).tolist()
    assert "is not available here" in place(again, "trials-shown")


def test_charts_show_the_condition_and_the_rates_of_the_class(visit, path, results, trials):
    """The DET curve of a class, and the small charts, whose panels choose a class."""
    page = visit(path, "#class=beta&condition=line%20mic")
    assert "Paired differences are on all segments." in place(page, "trials-shown")
    page.locator("[data-plot=class_det]").scroll_into_view_if_needed()
    page.wait_for_selector("[data-plot=class_det] canvas")
    page.locator("[data-plot=class_det] .chart").focus()
    page.keyboard.press("ArrowRight")
    text = page.locator("[data-reading=class_det]").inner_text()
    x, label = in_condition(trials, results.systems[0].name, "mic")
    llr = np.log(2) + x[:, 1] - np.logaddexp(x[:, 0], x[:, 2])
    threshold = float(re.search(r"threshold (\S+) nats", text)[1].replace(words.MINUS, "-"))
    miss, fa = np.mean(llr[label == 1] < threshold), np.mean([np.mean(llr[label == k] >= threshold) for k in (0, 2)])
    assert f"miss rate {words.percent(miss)}, false-alarm rate {words.percent(fa)}" in text
    page.evaluate("document.querySelector('#class-charts').open = true")
    panels = page.locator("#class-charts .multiples button")
    until(page, "document.querySelectorAll('#class-charts .multiples button').length === 3")
    assert panels.locator("[aria-pressed=true]").count() == 0
    panels.nth(2).click()
    assert page.locator("[name=class-target] option:checked").inner_text() == "<b>gamma"
    assert panels.nth(2).get_attribute("aria-pressed") == "true"
    assert panels.first.locator("circle").count() == len(results.systems)
    page.evaluate("document.querySelector('#classes details').open = true")
    until(page, "document.querySelectorAll('#classes .spark svg').length === 3")


def test_the_triangle_has_the_segments_of_three_classes_where_decisions_put_them(visit, path, trials):
    """Of three classes in all, the regions hold what the matrix says."""
    page = visit(path, "#system=two&class=beta&p=0.5&corners=3-1-2")
    wanted = confusion(trials["scores"]["two"], trials["label"], prior=[0.25, 0.5, 0.25])
    assert [page.input_value(f"[name=corner-{k}]") for k in range(3)] == ["2", "0", "1"]
    lines = page.locator("[data-place=triangle-words] li").all_inner_texts()
    assert lines[0] == (
        f"Of 200 segments of <b>gamma, {wanted[2, 2]} are in its own region, {wanted[2, 0]} in the region of alpha, "
        f"{wanted[2, 1]} in the region of beta."
    )
    assert page.locator("#class-triangle circle").count() == 600
    page.select_option("[name=corner-0]", label="beta")
    assert [page.input_value(f"[name=corner-{k}]") for k in range(3)] == ["1", "0", "2"]
    until(page, "location.hash.includes('corners=2-1-3')")
    dot = page.locator("#class-triangle circle[data-corner='1']").first  # alpha, on the right
    row = trials["scores"]["two"][trials["label"] == 0]
    odds = np.exp(row) * [0.25, 0.5, 0.25]
    _beta, alpha, gamma = (odds / odds.sum(axis=1, keepdims=True))[:, [1, 0, 2]].T
    x, y = alpha + gamma / 2, np.sqrt(3) / 2 * (1 - gamma)
    at = [float(dot.get_attribute(name)) for name in ("cx", "cy")]
    assert np.hypot(x - at[0], y - at[1]).min() < 0.005


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_narrow_pages_and_axe(visit, path, scheme, faults_of_access):
    page = visit(path, "#condition=line%20mic", color_scheme=scheme, bypass_csp=True, width=360)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.locator("details.folded[open]").count() == 0
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details.folded:not([open])").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert [one for one in faults_of_access(page) if one[1] in ("serious", "critical")] == []
