"""The page in a real browser: what readers do with it, and whether it says what the Python functions say."""

import dataclasses
import math
import re

import numpy as np
import pytest

from deciban.evaluation import evaluate
from deciban.evaluation.bands import consistency_of, rate_intervals
from deciban.metrics import act_dcf, min_dcf
from deciban.report import tables as words
from deciban.report.files import Exploration

from .conftest import systems, trials, written


def at_point(one, p_target, c_miss=1.0, c_fa=1.0):
    """Metrics of a system at just this point, evaluated there, as the page writes them."""
    (tar, n_tar), (non, n_non) = one.bins.tar, one.bins.non  # all trials: there are few
    weights = {"tar_weights": n_tar, "non_weights": n_non}
    (point,) = evaluate(tar, non, operating_points=[(p_target, c_miss, c_fa)], **weights).operating_points
    right, wrong = p_target * (1 - point.p_miss), (1 - p_target) * point.p_fa
    missed, alarms = 1000 * p_target * point.p_miss, 1000 * (1 - p_target) * point.p_fa
    return {
        "p_miss": words.percent(point.p_miss),
        "n_miss": f"{words.count(point.n_miss)} of {words.count(one.n_tar)}",
        "p_fa": words.percent(point.p_fa),
        "n_fa": f"{words.count(point.n_fa)} of {words.count(one.n_non)}",
        "act_dcf": words.number(point.act_dcf),
        "min_dcf": words.number(point.min_dcf),
        "calibration_loss": words.number(max(point.act_dcf - point.min_dcf, 0)),
        "expected_misses": words.number(missed, 2 if missed < 100 else 0),
        "expected_false_alarms": words.number(alarms, 2 if alarms < 100 else 0),
        "targets_among_accepted": words.percent(right / (right + wrong)) if right + wrong else words.MISSING,
    }


def shown(page, name):
    """Metrics in the row of a system, without intervals."""
    return page.evaluate(
        """name => Object.fromEntries([...document.querySelectorAll("[data-system]")]
           .filter(cell => cell.dataset.system === name)
           .map(cell => [cell.dataset.figure, cell.firstChild.data]))""",
        name,
    )


def until(page, script):
    """Wait until a page says yes; what Playwright has for that evaluates texts, as the page forbids."""
    for _ in range(200):
        if page.evaluate(script):
            return
        page.wait_for_timeout(10)
    pytest.fail(f"in vain: {script}")


def fact(page, name):
    return page.locator(f"[data-place={name}]").inner_text()


def charts(page, name="det"):
    """Choose the tab of a chart, if it has one, scroll to it, and wait until it is drawn."""
    if page.locator(f"#tab-{name}[aria-selected=false]").count():
        page.click(f"#tab-{name}")
    page.locator(f"figure[data-plot={name}]").scroll_into_view_if_needed()
    page.wait_for_selector(f"figure[data-plot={name}] canvas")
    return page.locator(f"figure[data-plot={name}] .chart")


def test_typed_points_show_the_numbers_of_the_evaluation(visit, of_three, three):
    page = visit(of_three)
    for p_target, c_miss, c_fa in [
        (0.01, 1, 1),
        (0.01, 10, 1),
        (0.0123, 1, 1),
        (1 / 3, 1, 1),
        (0.9973, 1, 1),
        (0.3, 5, 1),
        (0.37, 1, 1),
        (0.5, 2, 7),
        (0.9995, 1, 1),
        (1e-7, 1, 1),
        (0.123456789, 3.7, 0.21),
    ]:
        page.fill("[name=prior]", str(p_target))
        page.fill("[name=c-miss]", str(c_miss))
        page.fill("[name=c-fa]", str(c_fa))
        for one in three:
            assert shown(page, one.name) == at_point(one, p_target, c_miss, c_fa), (p_target, c_miss, c_fa)


def test_numbers_are_those_of_python_at_the_prior_that_was_typed(visit, of_three):
    made, units = trials(1)
    page = visit(of_three, "#p=0.0371&cmiss=3")
    assert float(page.get_attribute("[data-place=prior]", "data-value")) == 0.0371
    one = evaluate(*made[0], operating_points=[(0.0371, 3, 1)], **units)
    (point,) = one.operating_points
    found = shown(page, "system 0")
    assert found["act_dcf"] == words.number(point.act_dcf)
    assert found["min_dcf"] == words.number(point.min_dcf)
    assert found["p_miss"] == words.percent(point.p_miss)
    assert found["n_fa"] == f"{words.count(point.n_fa)} of 3,000"
    assert fact(page, "threshold") == f"{words.number(point.threshold)} nats"
    assert f"{point.effective_prior:.4g}" == fact(page, "effective_prior")
    cell = page.locator("[data-system='system 0'][data-figure=act_dcf]")
    assert float(cell.get_attribute("data-value")) == pytest.approx(point.act_dcf, rel=1e-13)


def test_costs_at_any_prior_are_those_of_python_to_thirteen_digits(visit, of_three):
    page = visit(of_three)
    made, _ = trials(1)
    log_odds = np.random.default_rng(3).uniform(-25, 25, 300)
    found = page.evaluate(
        """async some => { const data = await PageData.read(document.getElementById("page-data"));
           const one = data.sets[0].systems[0];
           return some.map(x => {
             const {nMiss, nFa} = Exact.errorsAt(one.exact, -x);
             return [Exact.cost(nMiss / one.n_tar, nFa / one.n_non, x), Exact.leastAt(one, x)];
           }); }""",
        log_odds.tolist(),
    )
    exact = np.column_stack([how(*made[0], prior_log_odds=log_odds) for how in (act_dcf, min_dcf)])
    np.testing.assert_allclose(found, exact, rtol=1e-13)


def test_intervals_stand_beside_error_rates(visit, of_three, three):
    page = visit(of_three, "#p=0.01")
    cell = page.locator("[data-system='system 1'][data-figure=p_miss] small").inner_text()
    exact = three[1].interval(("p_miss", 0))
    bounds = [float(bound) for bound in cell.strip("[]").split(", ")]
    assert bounds == pytest.approx([100 * exact.low, 100 * exact.high], abs=0.006)
    page.fill("[name=prior]", "0.1")
    low, high = rate_intervals(three[1])["p_fa"]
    place = three[1].at_priors.nearest(math.log(1 / 9))
    cell = page.locator("[data-system='system 1'][data-figure=p_fa] small").inner_text()
    assert cell == f"[{100 * low[place]:.2f}, {100 * high[place]:.2f}]"


def test_the_slider_moves_numbers_and_marks(visit, of_three, three):
    page = visit(of_three)
    charts(page)
    mark = page.locator("figure[data-plot=det] .mark").first
    before = mark.bounding_box()
    slider = page.locator("[name=prior-slider]")
    slider.focus()
    page.keyboard.press("End")
    assert float(page.input_value("[name=prior]")) > 0.9999
    page.keyboard.press("Home")
    page.keyboard.press("PageUp")
    assert shown(page, "system 2") == at_point(three[2], float(page.input_value("[name=prior]")))
    assert mark.bounding_box() != before
    assert slider.get_attribute("aria-valuetext") == fact(page, "prior")
    page.locator("[name=c-fa-slider]").focus()
    page.keyboard.press("Home")
    assert page.input_value("[name=c-fa]") == "0.001"


def test_a_prior_between_those_of_the_grid_is_shown_with_the_nearest_intervals(visit, of_three, three):
    page = visit(of_three)
    assert fact(page, "moved") == "Shown at exactly this point."
    page.fill("[name=prior]", "0.0123")
    at = three[0].at_priors
    place = at.nearest(math.log(0.0123 / 0.9877))
    nearest = f"{1 / (1 + math.exp(-at.log_odds[place])):.4g}"
    assert fact(page, "moved") == (
        f"Shown at exactly this point. Intervals are at effective prior {nearest}, the nearest one with intervals."
    )
    low, high = rate_intervals(three[1])["p_miss"]
    cell = page.locator("[data-system='system 1'][data-figure=p_miss] small").inner_text()
    assert cell == f"[{100 * low[place]:.2f}, {100 * high[place]:.2f}]"


def test_where_scores_have_no_room_figures_have_bounds(visit, tmp_path, monkeypatch):
    monkeypatch.setattr("deciban.report.live.EXACT_ROOM", 2_000)
    (one,) = systems(1)
    page = visit(written(tmp_path / "short.html", (one,)), "#p=0.2345")
    assert "Values with bounds below them are interpolated" in fact(page, "moved")
    exact = evaluate(*trials(1)[0][0], operating_points=[0.2345]).operating_points[0]
    assert float(page.get_attribute("[data-figure=min_dcf]", "data-value")) == pytest.approx(exact.min_dcf, abs=1e-9)
    for name in ("n_fa", "act_dcf"):
        text = page.locator(f"[data-figure={name}] small").inner_text()
        low, high = (float(end) for end in re.fullmatch(r"from ([\d.]+) to ([\d.]+)", text).groups())
        value = float(page.get_attribute(f"[data-figure={name}]", "data-value"))
        assert low - 1e-5 <= getattr(exact, name) <= high + 1e-5
        assert low - 1e-5 <= value <= high + 1e-5


def test_without_scores_a_point_is_moved_and_the_page_says_so(visit, tmp_path, three):
    page = visit(written(tmp_path / "moved.html", (dataclasses.replace(three[0], error_steps=None),)))
    page.fill("[name=prior]", "0.0123")
    assert fact(page, "moved").startswith("Shown at prior 0.01")
    assert "nearest to 0.0123" in fact(page, "moved")


def test_what_is_no_prior_stays_in_its_box_with_what_is_expected(visit, of_three):
    page = visit(of_three)
    for wrong in ("1.5", "0", "1", "-1", "abc", "", "  ", "1/0", "200%", "2/1", "0x1", "1e", "NaN", "1/2/3", "%"):
        page.fill("[name=prior]", "0.01")
        before = shown(page, "system 0")
        page.fill("[name=prior]", wrong)
        page.locator("[name=c-miss]").focus()
        assert page.get_attribute("[name=prior]", "aria-invalid") == "true", wrong
        assert page.input_value("[name=prior]") == wrong
        said = page.locator("#choose-prior-wrong").inner_text()
        assert said.endswith(
            "Type a prior above 0 and below 1, such as 0.01, 1/100, 1%, 1 in 100 or 1:99. The page still shows 0.01."
        ), wrong
        assert page.get_attribute("[name=prior]", "aria-describedby") == "choose-prior-wrong"
        assert shown(page, "system 0") == before, wrong
        page.fill("[name=prior]", "0.02")
        assert not page.locator("#choose-prior-wrong").is_visible()
        assert page.get_attribute("[name=prior]", "aria-invalid") is None


def test_fractions_and_percent_are_priors(visit, of_three, three):
    page = visit(of_three)
    for text, p in (
        ("1/3", 1 / 3),
        ("12,3 %", 0.123),
        ("99.73%", 0.9973),
        (" 1 / 100 ", 0.01),
        ("1 in 50", 0.02),
        ("1:99", 0.01),
    ):
        page.fill("[name=prior]", text)
        assert float(page.get_attribute("[data-place=prior]", "data-value")) == p
        assert shown(page, "system 1") == at_point(three[1], p)


def test_extreme_points_are_those_that_were_typed_or_the_nearest(visit, of_three, three):
    page = visit(of_three)
    for p, c_miss, c_fa in (
        ("1e-12", "1", "1"),
        ("0.999999999999", "1", "1"),
        ("0,5", "1e6", "1"),
        ("0.5", "1", "1e6"),
        ("1e-6", "1e6", "2,5"),
    ):
        for name, text in (("prior", "0.5"), ("c-miss", c_miss), ("c-fa", c_fa), ("prior", p)):
            page.fill(f"[name={name}]", text)
            assert page.get_attribute(f"[name={name}]", "aria-invalid") is None
        found = float(page.get_attribute("[data-place=prior]", "data-value"))
        assert 0 < found < 1
        costs = [float(text.replace(",", ".")) for text in (c_miss, c_fa)]
        assert shown(page, "system 0") == at_point(three[0], found, *costs)
        *_, asked = fact(page, "command").split(" --dcf ")
        typed = float(p.replace(",", "."))
        assert [float(part) for part in asked.split(":")] == [typed, *(costs if costs != [1, 1] else [])]


def test_costs_that_no_prior_can_answer_are_marked(visit, of_three):
    page = visit(of_three)
    before = shown(page, "system 0")
    for wrong in ("1e300", "inf", "1e-320", "-1", "0", "1.2.3"):
        page.fill("[name=c-miss]", wrong)
        assert page.get_attribute("[name=c-miss]", "aria-invalid") == "true"
        assert "Type a cost above 0" in page.locator("#choose-c-miss-wrong").inner_text()
        assert shown(page, "system 0") == before


def test_trials_to_expect_are_read_as_the_page_writes_them(visit, of_three):
    page = visit(of_three)
    for text, total in (("many", "1,000"), ("-3", "1,000"), ("10,000", "10,000"), ("2500", "2,500")):
        is_wrong = total == "1,000"
        page.fill("[name=trials]", text)
        assert page.locator("[data-place=total]").first.inner_text() == total
        assert page.get_attribute("[name=trials]", "aria-invalid") == ("true" if is_wrong else None)
        assert page.locator("#choose-trials-wrong").is_visible() == is_wrong


def test_a_link_restores_the_point_and_the_command_says_it(visit, of_three, three):
    page = visit(of_three, "#p=0.05&cmiss=10")
    assert (page.input_value("[name=prior]"), page.input_value("[name=c-miss]")) == ("0.05", "10")
    assert shown(page, "system 0") == at_point(three[0], 0.05, 10)
    page.fill("[name=prior]", "0.01")
    assert fact(page, "command") == "deciban eval SCORES --key KEY --dcf 0.01:10:1"
    until(page, "location.hash === '#p=0.01&cmiss=10'")
    page.evaluate("location.hash = '#p=0.5'")
    until(page, "document.querySelector('[name=prior]').value === '0.5'")
    assert shown(page, "system 0") == at_point(three[0], 0.5)


def test_a_point_by_name(visit, of_three, three):
    page = visit(of_three)
    options = page.locator("[name=preset] option").all_inner_texts()
    (wanted,) = [one for one in options if "asvspoof5-cm" in one]
    page.select_option("[name=preset]", label=wanted)
    assert [page.input_value(f"[name={name}]") for name in ("prior", "c-miss", "c-fa")] == ["0.95", "1", "10"]
    assert fact(page, "moved") == "Shown at exactly this point."
    assert shown(page, "system 1") == at_point(three[1], 0.95, 1, 10)


def test_numbers_are_written_as_python_writes_them(visit, of_three):
    page = visit(of_three)
    rng = np.random.default_rng(5)
    some = [
        0.0,
        0.0625,
        0.1875,
        0.5,
        2.5,
        1e-9,
        0.0009999,
        0.001,
        0.9995,
        1234567.0,
        999999.9996,
        -0.0004,
        -3.0625,
        12345.678,
        1 / 1600,  # ties of two digits, and of three
        3 / 1600,
        1005000.0,
        1015000.0,
    ]
    some += (10 ** rng.uniform(-8, 3, 300)).tolist()
    found = page.evaluate(
        "some => some.map(x => [Numbers.number(x), Numbers.number(x, 2), Numbers.percent(Math.abs(x)), "
        "Numbers.count(x)])",
        some,
    )
    for value, texts in zip(some, found, strict=True):
        mine = [words.number(value), words.number(value, 2), words.percent(abs(value)), words.count(value)]
        assert texts[:3] == mine[:3], value
        assert texts[3].lstrip("-") == mine[3].lstrip("-"), value


def test_pointing_at_a_curve_reads_it_and_lights_up_its_system(visit, of_three):
    page = visit(of_three, "#p=0.2")
    charts(page)
    box = page.locator("figure[data-plot=det] .mark").first.bounding_box()
    page.mouse.move(box["x"] + 6, box["y"] + 5)
    until(page, "document.querySelector('[data-reading=det]').textContent !== ''")
    text = page.locator("[data-reading=det]").inner_text()
    assert text.startswith("system 0, threshold ")
    assert "miss rate" in text
    assert "of 3,000)" in text
    page.mouse.move(1, 1)
    until(page, "document.querySelector('[data-reading=det]').textContent === ''")


def test_arrow_keys_read_exact_values(visit, of_three, three):
    page = visit(of_three)
    charts(page, "bayes_error").focus()
    page.keyboard.press("ArrowRight")
    reading = page.locator("[data-reading=bayes_error]")
    first = reading.inner_text()
    at = three[0].at_priors
    k = len(at.log_odds) // 2
    assert first.startswith(
        f"system 0, prior {1 / (1 + math.exp(-at.log_odds[k])):.4g}: actual cost {words.number(at.act_dcf[k])}"
    )
    assert f"({at.n_fa[k]:,} of 3,000)" in first
    page.keyboard.press("ArrowLeft")
    assert f"actual cost {words.number(at.act_dcf[k - 1])}" in reading.inner_text()
    page.keyboard.press("ArrowDown")
    assert reading.inner_text().startswith("system 1, ")
    page.keyboard.press("Escape")
    assert reading.inner_text() == ""


def test_every_chart_reads_and_zooms(visit, of_three):
    page = visit(of_three)
    for name in ("det", "bayes_error", "ape", "ece", "histogram", "pav", "tippett", "roc"):
        metric = page.locator(f"figure[data-plot={name}]")
        charts(page, name).focus()
        page.keyboard.press("ArrowRight")
        assert page.locator(f"[data-reading={name}]").inner_text().startswith("system 0, "), name
        before = metric.locator(".ring").bounding_box()
        page.keyboard.press("+")
        page.keyboard.press("+")
        assert metric.locator(".ring").bounding_box() != before, name
        page.keyboard.press("0")
        after = metric.locator(".ring").bounding_box()
        assert [after[side] for side in "xy"] == pytest.approx([before[side] for side in "xy"], abs=1.0), name


def test_reliability_reads_as_its_curve(visit, of_three, three):
    """Blocks are made from those of PAV on the page, the band is what chance alone does."""
    page = visit(of_three)
    words = read(page, "reliability")
    curve, band = three[0].curves.reliability, consistency_of(three[0])
    found = re.fullmatch(
        r"system 0, posteriors from ([\d.]+) % to ([\d.]+) % at prior 0.5: ([\d.]+) % are targets; "
        r"\[([\d.]+), ([\d.]+)\] if calibrated, by unit",
        words,
    )
    low, high, share, least, most = (float(one) / 100 for one in found.groups())
    k = int(np.argmin(np.abs(curve.low - low) + np.abs(curve.high - high)))
    assert (low, high, share) == pytest.approx((curve.low[k], curve.high[k], curve.observed[k]), abs=6e-5)
    for end, drawn in ((least, band.low), (most, band.high)):
        assert end == pytest.approx(np.interp((low + high) / 2, band.posterior, drawn), abs=0.02)


def test_the_command_is_about_the_point_that_was_typed(visit, of_three):
    """The nearest point of the grid is at prior 0.2975."""
    page = visit(of_three, "#p=0.3&cmiss=5")
    assert float(page.get_attribute("[data-place=prior]", "data-value")) == 0.3
    assert fact(page, "command") == "deciban eval SCORES --key KEY --dcf 0.3:5:1"
    assert fact(page, "moved").startswith("Shown at exactly this point.")


def test_bands_of_many_systems_are_off_until_one_is_pointed_at(visit, of_five):
    page = visit(of_five)
    charts(page, "bayes_error")
    bands = page.locator("#chart-choices [name=bands]")
    assert not bands.is_checked()
    ink = "() => document.querySelector('figure[data-plot=bayes_error] canvas').toDataURL()"
    plain = page.evaluate(ink)
    page.locator(".menu summary").click()
    page.locator("#chart-choices label").first.hover()
    until(page, f"() => ({ink})() !== '{plain}'")
    bands.check()
    page.mouse.move(0, 0)
    until(page, f"() => ({ink})() !== '{plain}'")


def test_systems_and_bands_are_switched_in_all_charts(visit, of_three):
    page = visit(of_three)
    charts(page, "bayes_error")
    ink = "() => document.querySelector('figure[data-plot=bayes_error] canvas').toDataURL()"
    whole = page.evaluate(ink)
    page.locator("#chart-choices [name=system]").first.uncheck()
    until(page, f"() => ({ink})() !== '{whole}'")
    assert page.locator("figure[data-plot=bayes_error] .mark").first.is_hidden()
    without = page.evaluate(ink)
    page.locator("#chart-choices [name=bands]").uncheck()
    until(page, f"() => ({ink})() !== '{without}'")


def test_a_drawn_rectangle_zooms(visit, of_three):
    page = visit(of_three)
    box = charts(page).locator(".u-over").bounding_box()
    mark = page.locator("figure[data-plot=det] .mark").nth(2)
    before = mark.bounding_box()
    page.mouse.move(box["x"] + 10, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + 200, box["y"] + 200, steps=3)
    page.mouse.up()
    assert mark.bounding_box() != before
    page.mouse.dblclick(box["x"] + 100, box["y"] + 100)
    assert mark.bounding_box() == before


def test_printed_pages_have_charts_and_no_controls(visit, of_three):
    page = visit(of_three)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    for name in ("det", "roc"):
        assert page.locator(f"figure[data-plot={name}] svg.printed").is_visible()
    assert not page.locator("[name=prior]").is_visible()
    assert page.locator(".live-table").is_visible()
    assert page.pdf(format="A4")[:5] == b"%PDF-"


@pytest.mark.parametrize("width", [360, 2560])
def test_many_systems_with_long_hostile_names_fit_any_screen(visit, of_five, width):
    page = visit(of_five, width=width)
    charts(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("[data-place=rows] tr").count() == 5
    assert page.locator("img[src=x]").count() == 0
    assert page.locator("#chart-choices label").first.text_content().startswith("<img src=x onerror=alert(1)>0xxx")


def test_without_scripts_the_page_has_verdicts_and_tables(visit, of_three):
    page = visit(of_three, java_script_enabled=False)
    assert page.locator(".card").count() == 3
    assert page.locator("noscript").is_visible()
    assert page.locator("#metrics table").is_visible()
    assert not page.locator("figure[data-plot]").first.is_visible()
    assert not page.locator("#operating-point").is_visible()
    assert not page.locator("#chart-choices").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_fault_of_accessibility(visit, of_three, scheme, faults_of_access):
    page = visit(of_three, color_scheme=scheme, bypass_csp=True)
    charts(page).focus()
    page.keyboard.press("ArrowRight")
    assert [one for one in faults_of_access(page) if one[1] in ("serious", "critical")] == []


def test_all_is_reached_by_keyboard(visit, of_three):
    page = visit(of_three)
    until(page, "document.querySelector('[name=prior]') !== null")
    charts(page)  # which are made when they come into sight: on a slow machine later than keys are pressed
    page.evaluate("scrollTo(0, 0)")
    seen = []
    while "second" not in seen and len(seen) < 200:
        page.keyboard.press("Tab")
        seen.append(page.evaluate("(one => one.name || one.className || one.dataset.place)(document.activeElement)"))
    sliders = ["prior", "prior-slider", "c-miss", "c-miss-slider", "c-fa", "c-fa-slider"]
    controls = [*sliders, "preset", "trials", "first", "second"]
    assert [one for one in seen if one in controls] == controls
    assert seen.count("system") == 3
    assert {"copy", "bands", "chart"} <= set(seen)


def test_the_page_allows_nothing_but_its_own_scripts(browser, of_three):
    page = browser.new_page()
    page.goto(f"file://{of_three}")
    page.evaluate(
        "() => { const one = document.createElement('script');"
        "one.textContent = 'window.ran = true'; document.body.append(one); }"
    )
    assert page.evaluate("window.ran") is None
    page.close()


def test_data_of_the_page_are_what_was_written(visit, of_three):
    page = visit(of_three)
    data = page.evaluate("PageData.read(document.getElementById('page-data'))")
    assert [one["name"] for one in data["sets"][0]["systems"]] == ["system 0", "system 1", "system 2"]


def test_scores_that_are_no_llrs_and_infinite_ones_make_a_page(visit, tmp_path):
    rng = np.random.default_rng(4)
    some = (
        evaluate(rng.uniform(0.2, 1, 40), rng.uniform(-0.5, 0.6, 300), name="cosine"),
        evaluate(np.append(rng.normal(2, 1, 30), -np.inf), np.append(rng.normal(-2, 1, 30), np.inf), name="infinite"),
        evaluate([1.0], [0.0], name="one"),
    )
    page = visit(written(tmp_path / "odd.html", some))
    charts(page).focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("[data-reading=det]").inner_text().startswith("cosine, threshold ")
    for one in some:
        assert shown(page, one.name) == at_point(one, 0.01)


def read(page, name):
    """What a chart says at the place where keys begin."""
    charts(page, name).focus()
    page.keyboard.press("ArrowRight")
    return page.locator(f"[data-reading={name}]").inner_text()


def test_llrs_have_the_unit_that_was_asked_for(visit, three, tmp_path):
    one = dataclasses.replace(three[0], axis="log10")
    page = visit(written(tmp_path / "log10.html", (one,)))
    assert fact(page, "threshold") == f"{words.number(math.log10(99))} in log10"
    table = page.locator("section", has=page.get_by_role("heading", name="Errors at the operating points"))
    table.locator("summary").click()
    assert table.locator("tbody tr").first.locator("td").nth(2).inner_text() == words.number(math.log10(99))
    assert "log10" in table.locator("thead").inner_text()
    found = re.fullmatch(
        r"system 0, scores from (\S+) to (\S+) in log10: density of targets (\S+), of .*", read(page, "histogram")
    )
    low, high, density = (float(text.replace("\N{MINUS SIGN}", "-")) for text in found.groups())
    curves = one.curves
    k = np.argmin(np.abs(curves.bins[:-1] / math.log(10) - low))
    assert curves.bins[k + 1] / math.log(10) == pytest.approx(high, abs=1e-3)
    assert curves.tar_density[k] * math.log(10) == pytest.approx(density, abs=1e-4)
    assert " in log10: log-likelihood ratio " in read(page, "pav")
    assert all("in log10: miss rate" in read(page, name) for name in ("det", "tippett"))


def test_keys_find_nothing_to_read_where_all_llrs_after_pav_are_infinite(visit, tmp_path):
    page = visit(written(tmp_path / "apart.html", (evaluate([2.0, 3.0], [0.0, 1.0], name="apart"),)))
    assert read(page, "pav") == ""
    page.keyboard.press("+")
    assert read(page, "det").startswith("apart, threshold ")


def test_readings_where_nobody_errs_have_the_interval_of_the_table(visit, tmp_path):
    tar, non = [2.0, 3.0] * 20, [-2.0, -3.0] * 30
    units = {"tar_units": [*range(20)] * 2, "non_units": [*range(30)] * 2}
    one = evaluate(tar, non, name="apart", operating_points=[0.5], **units)
    page = visit(written(tmp_path / "nobody.html", (one,)), "#p=0.5")
    of_miss, of_fa = (
        " ".join(page.locator(f"[data-system=apart][data-figure={name}]").inner_text().split())
        for name in ("p_miss", "p_fa")
    )
    assert not of_miss.endswith(" 0.00]")
    for name in ("det", "tippett"):
        assert f"miss rate {of_miss} (0 of 40), false-alarm rate {of_fa} (0 of 60)" in read(page, name)


def test_a_frame_of_a_notebook_is_as_alive(visit, of_three, three, tmp_path):
    shown_in = tmp_path / "notebook.html"
    shown_in.write_text(Exploration(of_three.read_text("utf-8"), 700)._repr_html_(), "utf-8")
    frame = visit(shown_in).frames[1]
    frame.fill("[name=prior]", "0.2")
    assert shown(frame, "system 1") == at_point(three[1], 0.2)
    frame.page.wait_for_timeout(250)  # the address is written a little later, where there is one


def test_sliders_reach_the_points_that_were_asked_for(visit, tmp_path):
    one = evaluate([2.0, 1.0, 3.0], [-1.0, 0.0, -2.0], name="far", operating_points=[1e-6, (0.5, 1e5, 1)])
    page = visit(written(tmp_path / "far.html", (one,)))
    assert float(page.get_attribute("[name=prior-slider]", "min")) <= np.log(1e-6)
    page.select_option("[name=preset]", index=2)
    assert float(page.input_value("[name=c-miss-slider]")) == pytest.approx(5.0)
    page.focus("[name=c-miss-slider]")
    page.keyboard.press("ArrowLeft")
    assert 5e4 < float(page.input_value("[name=c-miss]")) < 1e5


def test_a_link_keeps_how_many_trials_are_expected(visit, of_three):
    page = visit(of_three, "#p=0.01&n=50000")
    assert page.input_value("[name=trials]") == "50000"
    assert page.locator("[data-place=total]").first.inner_text() == "50,000"
    page.fill("[name=trials]", "2000")
    until(page, "location.hash === '#p=0.01&n=2000'")
    page.fill("[name=trials]", "1000")
    until(page, "location.hash === '#p=0.01'")


def test_names_of_systems_break_between_their_words_only(visit, tmp_path):
    some = systems(4, names="scores_aasist_evaluation-{}.final")
    path = written(tmp_path / "page.html", some)
    for width in (360, 1280):
        assert_names_break(visit(path, width=width))


def assert_names_break(page):
    lines = page.evaluate(
        """() => [...document.querySelectorAll(".system > span:last-child")].filter(one => one.offsetParent).flatMap(
          one => [...one.childNodes].filter(node => node.data).map(node => {
            const range = document.createRange();
            range.selectNodeContents(node);
            return [node.data, new Set([...range.getClientRects()].map(box => Math.round(box.top))).size];
          }))"""
    )
    assert {text for text, _ in lines} >= {"scores_", "aasist_", "evaluation-", "0.", "final"}
    assert {n for _, n in lines} == {1}


def test_the_first_screen_has_verdicts_a_chart_and_controls_that_stay(visit, of_three):
    page = visit(of_three)
    page.wait_for_selector("[data-chart=det] canvas")
    for place in ("[data-region=controls]", "[data-region=answer]", "[data-chart=det]", ".card >> nth=1"):
        box = page.locator(place).bounding_box()
        assert box["y"] + min(box["height"], 430) <= 800, place
    page.evaluate("scrollTo(0, 3000)")
    until(page, "document.querySelector('[data-region=controls]').getBoundingClientRect().top === 0")
    assert page.evaluate("document.documentElement.scrollHeight") <= 6500
    assert page.locator("nav a[href='#method']").count() == 1


def test_cards_follow_the_operating_point(visit, of_three, three):
    page = visit(of_three)
    cost = page.locator("[data-live=act_dcf]").nth(1)
    assert cost.inner_text() == words.number(three[1].operating_points[0].act_dcf)
    page.fill("[name=prior]", "0.2")
    assert cost.inner_text() == at_point(three[1], 0.2)["act_dcf"]
    finds = page.locator("[data-place=frequencies] li").nth(1).inner_text()
    assert finds.endswith(f"raises {float(at_point(three[1], 0.2)['expected_false_alarms']):.3g} false alarms")
    assert page.locator("[data-place=targets-expected]").inner_text() == "200"


def test_a_chart_is_saved_as_it_is_shown(visit, of_three):
    page = visit(of_three)
    charts(page)
    page.locator("#chart-choices [name=system]").first.uncheck()
    with page.expect_download() as saved:
        page.click("[data-plot=det] .chart-tools button:has-text('CSV')")
    rows = saved.value.path().read_text().splitlines()
    assert rows[0] == "system,curve,False-alarm rate (%),Miss rate (%)"
    assert {row.partition(",")[0] for row in rows[1:]} == {"system 1", "system 2"}
    with page.expect_download() as saved:
        page.click("[data-plot=det] .chart-tools button:has-text('SVG')")
    drawn = saved.value.path().read_text()
    assert drawn.startswith("<svg")
    assert ">system 0<" not in drawn
    assert drawn.count('<path d="M') >= 4
    assert "NaN" not in drawn


def test_the_theme_is_chosen_by_a_button(visit, of_three):
    page = visit(of_three)
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    page.click("[data-tool=theme]")
    assert page.evaluate(paper) != light
    page.click("[data-tool=theme]")
    assert page.evaluate(paper) == light
