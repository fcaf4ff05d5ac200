"""Charts of a multiclass page, and training trials on a two-class page, have the numbers of Python."""

import re

import numpy as np
import pytest

from deciban.evaluation import Results, evaluate, evaluate_classes
from deciban.evaluation.breakdowns import WorstTrial, WorstTrials
from deciban.report import tables as words
from deciban.report.cards import CHARTS

from .conftest import systems, written, written_results


def one_of(n, seed, name, **more):
    rng = np.random.default_rng(seed)
    label = np.arange(30 * n) % n
    loglik = rng.normal(0, 1.2, (30 * n, n)) + 1.5 * np.eye(n)[label]
    return evaluate_classes(loglik, label, name=name, units=np.arange(30 * n) % 40, **more)


@pytest.fixture(scope="module")
def two():
    return one_of(5, 1, "A", subsets=True), one_of(5, 2, "B", subsets=True)


@pytest.fixture(scope="module")
def path(two, tmp_path_factory):
    return written(tmp_path_factory.mktemp("pages") / "classes.html", two)


def chart_of(page, name):
    tab = page.locator(f"#tab-{name}")
    if tab.count():
        tab.click()
    page.locator(f"figure[data-plot={name}]").scroll_into_view_if_needed()
    page.wait_for_selector(f"figure[data-plot={name}] canvas")
    return page.locator(f"figure[data-plot={name}] .chart")


def readings(page, name, keys):
    chart = chart_of(page, name)
    chart.focus()
    said = page.locator(f"[data-reading={name}]")
    found = []
    for key in keys:
        page.keyboard.press(key)
        found.append(said.inner_text())
    return found


def test_no_picture_is_left_and_every_chart_is_drawn(visit, path):
    page = visit(path)
    assert page.locator("img").count() == 0
    for name in ("class_losses", "class_ape", "c_avg_curve", "pairwise_loss", "reliability", "subset_c_avg"):
        assert readings(page, name, ["ArrowRight"])[0], name


def test_losses_and_pairs_are_those_of_the_evaluation(visit, path, two):
    page = visit(path)
    (text, *_, other) = readings(page, "class_losses", ["ArrowRight", "ArrowDown"])
    k = int(re.match(r"A, class (\d)", text)[1]) if "class" in text else int(re.match(r"A, (\d)", text)[1])
    for said, one in ((text, two[0]), (other, two[1])):
        assert f"Cllr {words.number(one.detection.cllr[k])} bits" in said
        assert f"(discrimination loss {words.number(one.detection.min_cllr[k])})" in said
    page.select_option("[name=class-system]", "1")
    said = readings(page, "pairwise_loss", ["ArrowRight", "ArrowDown", "ArrowLeft", "ArrowDown", "ArrowLeft"])
    row, column = map(int, re.search(r"B, (\d) and (\d):", said[-1]).groups())
    assert (row, column) == (4, 0)
    assert f"discrimination loss {words.number(two[1].pairwise.min_cllr[4, 0])} bits" in said[-1]


def test_the_chosen_class_drives_its_chart(visit, path, two):
    page = visit(path)
    chart_of(page, "class_ape")
    page.select_option("[name=class-target]", "3")
    title = page.locator("[data-plot=class_ape] [data-place=finding]").inner_text()
    at = int(np.argmin(np.abs(two[0].curves.detector_log_odds)))
    costs = [2 * one.curves.act_error[3][at] for one in two]
    assert title.startswith(f"{two[0].classes[3]} at prior 0.5")
    assert words.number(min(costs)) in title
    (text,) = readings(page, "class_ape", ["ArrowRight"])
    assert f"prior 0.5: actual cost {words.number(costs[0])}" in text


def test_subsets_have_their_hardest_and_easiest(visit, path, two):
    (text,) = readings(visit(path), "subset_c_avg", ["ArrowRight"])
    n = int(re.search(r"subsets of (\d) classes", text)[1])
    values = two[0].subsets.value[two[0].subsets.size == n]
    for said, value in (("mean C_avg", values.mean()), ("hardest", values.max()), ("easiest", values.min())):
        assert f"{said} {words.number(float(value), 4)}" in text


def test_decisions_of_many_classes_are_a_chart(visit, tmp_path):
    one = one_of(35, 3, "A")
    page = visit(written(tmp_path / "many.html", (one,)))
    (text,) = readings(page, "confusion", ["ArrowRight"])
    n, row, column = re.search(r"A, (\d+) of 30 segments of (\d+) .* decided as (\d+)$", text).groups()
    assert one.confusion[int(row), int(column)] == int(n)


def test_training_trials_drive_every_number_and_chart(visit, tmp_path):
    rng = np.random.default_rng(5)
    test, train = (
        Results((evaluate(2 * rng.normal(d, 2, 300), 2 * rng.normal(-d, 2, 3000), name="A"),)) for d in (1.5, 2.5)
    )
    page = visit(written_results(tmp_path / "train.html", test, train=train))
    cost = page.locator(".card [data-live=act_dcf]")
    page.fill("[name=prior]", "0.1")
    (shown, *_) = page.locator("[data-plot=det] [data-place=finding]").all_inner_texts()
    one = test.systems[0]
    assert cost.inner_text() == words.number(one.at_priors.act_dcf[one.at_priors.nearest(np.log(0.1 / 0.9))])
    page.select_option("[name=condition]", label="training trials")
    one = train.systems[0]
    assert cost.inner_text() == words.number(one.at_priors.act_dcf[one.at_priors.nearest(np.log(0.1 / 0.9))])
    assert page.locator("[data-plot=det] [data-place=finding]").inner_text() == f"EER {words.percent(one.eer)}" != shown
    assert "Training trials: 300 targets, 3,000 non-targets." in page.locator(".trials-shown").first.inner_text()
    assert not page.locator("#condition-map").is_visible()


def test_many_systems_are_ranked_by_the_chosen_metric(visit, of_five):
    page = visit(of_five)
    rows = page.locator(".forest tbody tr")
    value = rows.locator("[data-place=value]")

    def numbers():
        return [float(re.match(r"[\d.]+", text)[0]) for text in value.all_inner_texts()]

    assert numbers() == sorted(numbers())
    assert rows.locator(".range span:visible").count() == 5
    page.click("[data-metric=act_dcf]")
    page.fill("[name=prior]", "0.2")
    assert page.locator("[data-place=metric]").inner_text() == "Actual cost"
    shown = page.locator(".live-table [data-figure=act_dcf]").evaluate_all(
        "all => all.map(one => [one.dataset.system, Number(one.dataset.value)])"
    )
    assert numbers() == pytest.approx(sorted(cost for _, cost in shown), abs=6e-4)
    assert rows.first.get_attribute("data-of") == min(shown, key=lambda one: one[1])[0]
    assert rows.locator(".range span:visible").count() == 0  # intervals are known elsewhere
    page.keyboard.press("Tab")
    page.locator("[data-metric=act_dcf]").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("[data-place=metric]").inner_text() == "Minimum cost"


def test_a_range_of_the_histogram_lists_its_trials(visit, tmp_path):
    rng = np.random.default_rng(5)
    tar, non = rng.normal(2, 2, 100), rng.normal(-2, 2, 300)
    some = [("target", x) for x in sorted(tar)[:15]] + [("non-target", x) for x in sorted(-non)[:15]]
    trials = tuple(WorstTrial((f"t{k}",), truth, "", float(llr), 9.0 - llr) for k, (truth, llr) in enumerate(some))
    results = Results((evaluate(tar, non, name="A"),), worst=(WorstTrials("A", ("test",), trials),))
    page = visit(written_results(tmp_path / "brush.html", results))
    chart_of(page, "histogram")
    page.locator("[data-plot=histogram] .chart").focus()
    for _ in range(4):
        page.keyboard.press("+")
    words = page.locator(".brushed p").inner_text()
    low, high = (float(x.replace("\u2212", "-")) for x in re.search(r"Scores from (\S+) to (\S+):", words).groups())
    worst = results.worst[0].trials
    scores = {one.names[0]: one.llr if one.truth == "target" else -one.llr for one in worst}
    wanted = {name for name, score in scores.items() if low - 0.01 <= score <= high + 0.01}
    listed = page.locator(".brushed tbody tr td:nth-child(2)").all_inner_texts()
    assert set(listed) <= wanted
    assert f"{len(listed) if len(listed) < 20 else len(wanted)} of the {len(worst)} most misleading trials" in words
    assert "does not contain other trials" in words
    page.keyboard.press("0")
    assert page.locator(".brushed p").count() == 0


def test_a_saved_chart_has_what_the_chart_shows(visit, of_three):
    page = visit(of_three)
    for kind in ("det", "bayes_error", "histogram"):
        assert_saved_chart(page, kind)


def assert_saved_chart(page, kind):
    chart_of(page, kind)

    def saved(name):
        with page.expect_download() as found:
            page.click(f"[data-plot={kind}] .chart-tools button:has-text('{name}')")
        return found.value.path().read_bytes()

    svg = saved("SVG").decode()
    counts = {name: svg.count(f'class="{name}"') for name in ("band", "reference", "symbol", "mark", "threshold")}
    assert (
        counts
        == {
            "det": {"band": 3, "reference": 1, "symbol": 3, "mark": 3, "threshold": 0},
            "bayes_error": {"band": 6, "reference": 1, "symbol": counts["symbol"], "mark": 6, "threshold": 0},
            "histogram": {"band": 0, "reference": 0, "symbol": 0, "mark": 0, "threshold": 1},
        }[kind]
    )
    assert "NaN" not in svg
    assert saved("PNG")[:4] == b"\x89PNG"


def test_two_systems_are_at_most_eight_printed_pages_with_every_chart(visit, tmp_path):
    path = written(tmp_path / "two.html", systems(2))
    page = visit(path)
    n = len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4", prefer_css_page_size=True)))
    assert n <= 8
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("figure[data-plot] svg.printed:visible").count() == len(CHARTS)
    assert page.locator("figure .chart:visible").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator(".printed").count() == 0


def test_pages_of_many_systems_and_of_many_classes_are_accessible(visit, of_five, tmp_path, faults_of_access):
    for path in (of_five, written(tmp_path / "many.html", (one_of(6, 3, "A"), one_of(6, 4, "B")))):
        assert faults_of_access(visit(path, bypass_csp=True)) == []
