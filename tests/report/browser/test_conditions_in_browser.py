"""Conditions and pairs of systems in a real browser: what a reader chooses is what Python says of it."""

import numpy as np
import pytest

import deciban
from deciban.evaluation.bands import rate_intervals
from deciban.report import tables as words

from .conftest import written_results
from .test_page_in_browser import at_point, fact, shown, until


@pytest.fixture(scope="module")
def results():
    rng = np.random.default_rng(7)
    label = np.arange(900) % 5 == 0
    line = rng.choice(["mic", "tel <b>|x"], 900)
    line[1:5] = "sat"
    frame = {"label": label, "line": line, "speaker": rng.integers(0, 40, 900)}
    for k, name in enumerate(["one", "two", "three"]):
        d = (1.0 + 0.4 * k) * np.where(line == "mic", 1.4, 0.8)
        frame[name] = rng.normal(np.where(label, d, -d), 1.5)
    return deciban.evaluate(frame, score=["one", "two", "three"], by="line", units="speaker")


@pytest.fixture(scope="module")
def path(results, tmp_path_factory):
    return written_results(tmp_path_factory.mktemp("pages") / "conditions.html", results)


def found_in(results, name):
    return [
        next(one.evaluation for one in system.partitions[0].conditions if one.name == name)
        for system in results.conditions
    ]


def test_a_chosen_condition_shows_its_numbers(visit, path, results):
    page = visit(path, "#p=0.0537&cmiss=10")
    page.select_option("[name=condition]", label="line mic")
    for one, name in zip(found_in(results, "line mic"), ["one", "two", "three"], strict=True):
        assert shown(page, name) == at_point(one, 0.0537, 10)
    assert fact(page, "command").startswith("deciban eval SCORES --key KEY --where 'line=mic' --dcf 0.05")
    page.fill("[name=prior]", "0.3137")
    assert shown(page, "two") == at_point(found_in(results, "line mic")[1], 0.3137, 10)
    until(page, "location.hash === '#p=0.3137&cmiss=10&condition=line%20mic'")
    page.select_option("[name=condition]", label="all trials")
    assert shown(page, "three") == at_point(results.systems[2], 0.3137, 10)


def test_a_command_that_cannot_choose_the_condition_is_not_copied(visit, path):
    page = visit(path, "#p=0.1")
    copy = page.locator("[data-place=copy]")
    assert copy.is_enabled()
    page.select_option("[name=condition]", label="line tel <b>|x")  # in --where, | stands between values
    assert copy.is_disabled()
    assert fact(page, "command-lacks").startswith("Not available for this condition")
    page.select_option("[name=condition]", label="line mic")
    assert copy.is_enabled()
    assert fact(page, "command-lacks") == ""


def test_intervals_and_bands_follow_the_condition(visit, path, results):
    page = visit(path, "#p=0.1&condition=line%20mic")
    one = found_in(results, "line mic")[1]
    for p in (0.1, 0.02):
        page.fill("[name=prior]", str(p))
        place = one.at_priors.nearest(np.log(p / (1 - p)))
        for name, (low, high) in rate_intervals(one).items():
            cell = page.locator(f"[data-system=two][data-figure={name}] small")
            ends = [words.percent(end[place]).removesuffix(" %") for end in (low, high)]
            assert cell.inner_text() == f"[{', '.join(ends)}]"
    assert "no bands" not in page.locator("[data-place=trials-shown]").first.inner_text()
    drawn = "() => document.querySelector('figure[data-plot=bayes_error] canvas').toDataURL()"
    page.click("#tab-bayes_error")
    page.wait_for_selector("figure[data-plot=bayes_error] canvas")
    with_bands = page.evaluate(drawn)
    page.uncheck("[name=bands]")
    page.wait_for_timeout(50)
    assert page.evaluate(drawn) != with_bands


def test_cards_follow_the_condition(visit, path, results):
    page = visit(path, "#condition=line%20mic")
    eer = page.locator(".card [data-main=eer]")
    assert eer.all_inner_texts() == [words.percent(one.eer) for one in found_in(results, "line mic")]
    assert page.locator(".card [data-pooled]").all_inner_texts() == ["(all trials)"] * 3
    page.select_option("[name=condition]", index=0)
    assert eer.all_inner_texts() == [words.percent(one.eer) for one in results.systems]
    assert page.locator(".card [data-pooled]").all_inner_texts() == [""] * 3


def test_charts_follow_the_condition(visit, path, results):
    page = visit(path)
    page.click("#tab-bayes_error")
    page.wait_for_selector("figure[data-plot=bayes_error] canvas")
    page.select_option("[name=condition]", label="line tel <b>|x")
    page.locator("figure[data-plot=bayes_error] .chart").focus()
    page.keyboard.press("ArrowRight")
    at = found_in(results, "line tel <b>|x")[0].at_priors
    text = page.locator("[data-reading=bayes_error]").inner_text()
    assert f"actual cost {words.number(at.act_dcf[len(at.log_odds) // 2])}" in text
    for name in ("det", "ape", "ece", "histogram", "pav", "tippett", "roc"):
        metric = page.locator(f"figure[data-plot={name}]")
        if page.locator(f"#tab-{name}").count():
            page.click(f"#tab-{name}")
        metric.scroll_into_view_if_needed()
        page.wait_for_selector(f"figure[data-plot={name}] canvas")
        metric.locator(".chart").focus()
        page.keyboard.press("ArrowRight")
        assert page.locator(f"[data-reading={name}]").inner_text().startswith("one, "), name


def test_the_map_has_every_figure_and_drills_down_by_keyboard(visit, path, results):
    page = visit(path, "#p=0.2")
    mapped = "cells => cells.map(cell => cell.textContent)"
    mic = "#condition-map td[data-condition='line mic']"
    evaluated = found_in(results, "line mic")
    assert page.locator(mic).evaluate_all(mapped) == [words.percent(one.eer) for one in evaluated]
    page.select_option("#map-figure", "cllr")
    assert page.locator(mic).evaluate_all(mapped) == [words.number(one.cllr) for one in evaluated]
    page.select_option("#map-figure", "min_dcf")
    assert page.locator(mic).evaluate_all(mapped) == [at_point(one, 0.2)["min_dcf"] for one in evaluated]
    page.fill("[name=prior]", "0.02")
    assert page.locator(mic).evaluate_all(mapped) == [at_point(one, 0.02)["min_dcf"] for one in evaluated]
    sat = page.locator("#condition-map tr", has_text="line sat")
    assert "no metrics: no targets (4 non-targets)" in sat.inner_text()
    assert sat.locator("button").count() == 0
    page.locator("#condition-map button", has_text="line mic").focus()
    page.keyboard.press("Enter")
    assert shown(page, "one") == at_point(evaluated[0], 0.02)
    assert page.locator("#condition-map button[aria-pressed=true]").inner_text() == "line mic"
    page.locator("#condition-map td").first.click()
    assert shown(page, "one") == at_point(results.systems[0], 0.02)


def test_any_two_systems_are_compared_and_a_link_restores_them(visit, path, results):
    page = visit(path, "#p=0.1&condition=line%20mic&first=three&second=one")
    one, other = (found_in(results, "line mic")[k] for k in (2, 0))
    place = one.at_priors.nearest(np.log(1 / 9))
    change = float(one.at_priors.act_dcf[place] - other.at_priors.act_dcf[place])
    text = page.locator("#compare [data-difference=act_dcf]").inner_text()
    assert float(text.replace("\N{MINUS SIGN}", "-")) == pytest.approx(change, abs=0.0005001)
    rows = page.locator("#compare [data-place=figures] tbody tr").all_inner_texts()
    exact = deciban.compare(results.systems[2], results.systems[0]).pairs[0].metrics
    for row, metric in zip(rows, exact, strict=True):
        cells = [part.replace("\N{MINUS SIGN}", "-").replace(",", "") for part in row.split()]
        scale = 100 if " in %" in row else 1
        signed = [cell for cell in cells if cell[0] in "+-" or cell in ("0.000", "0.00", "0.0000")]
        assert float(signed[0]) == pytest.approx(scale * metric.interval.estimate, abs=0.006 if scale > 1 else 0.0006)
        low, high = (float(cell.strip("[]")) for cell in cells if cell[0] == "[" or cell[-1] == "]")
        assert low <= float(signed[0]) <= high
    assert "three is significantly better" in page.locator("#compare [data-place=words]").inner_text()
    page.select_option("#compare-second", label="two")
    until(page, "location.hash === '#p=0.1&condition=line%20mic&first=three&second=two'")
    page.select_option("#compare-second", label="three")  # nobody is compared with itself: they change places
    assert [page.input_value(f"#compare-{side}") for side in ("first", "second")] == ["1", "2"]


def test_the_difference_curve_is_read(visit, path, results):
    page = visit(path)
    page.locator("#compare figure").scroll_into_view_if_needed()
    page.wait_for_selector("#compare canvas")
    page.locator("#compare .chart").focus()
    page.keyboard.press("ArrowRight")
    curve = deciban.compare(*results.systems[:2]).pairs[0].curves[0]
    middle = float(curve.difference[len(curve.difference) // 2])
    text = page.locator("#compare .reading").inner_text()
    value = text.split("difference ")[1].split(" ")[0].replace("\N{MINUS SIGN}", "-")
    assert text.startswith("actual decisions, prior ")
    assert float(value) == pytest.approx(middle, abs=0.0006)


def test_a_condition_that_is_not_there_is_said(visit, path):
    page = visit(path, "#p=0.1&condition=nowhere")
    assert (
        "“nowhere” of the link is not available"
        in page.locator("[data-region=controls] [data-place=trials-shown]").inner_text()
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_narrow_pages_and_axe(visit, path, scheme, faults_of_access):
    page = visit(path, "#condition=line%20mic", width=360, color_scheme=scheme, bypass_csp=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert [one for one in faults_of_access(page) if one[1] in ("serious", "critical")] == []


def test_without_scripts_and_on_paper(visit, path):
    page = visit(path, java_script_enabled=False)
    assert not page.locator("#condition-map").is_visible()
    assert not page.locator("#compare").is_visible()
    assert page.locator("h2", has_text="By line").is_visible()
    assert page.locator("h2", has_text="Differences between systems").is_visible()
    page = visit(path)
    page.emulate_media(media="print")
    assert page.locator(".map").is_visible()
    assert not page.locator("#compare-first").is_visible()
