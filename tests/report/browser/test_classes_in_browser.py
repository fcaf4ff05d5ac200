"""Decisions between many classes, in a real browser."""

import numpy as np
import pytest

from deciban.evaluation import evaluate_classes
from deciban.evaluation.multiclass.problem_sums import PRIORS
from deciban.multiclass import brier, c_avg, confusion
from deciban.report import tables as words

from .conftest import written

NAMES = ["<img src=x onerror=alert(1)>", "beta", "gamma" + "x" * 295]
RNG = np.random.default_rng(4)
LABEL = np.repeat([0, 1, 2], [90, 80, 70])
LOGLIK = RNG.normal(0, 1.2, (240, 3)) + 1.5 * np.eye(3)[LABEL]


@pytest.fixture(scope="module")
def one():
    return evaluate_classes(LOGLIK, LABEL, classes=NAMES, name="A", subsets=True)


@pytest.fixture(scope="module")
def path(one, tmp_path_factory):
    return written(tmp_path_factory.mktemp("pages") / "classes.html", (one,))


def cells(page):
    found = page.locator(".cells button").evaluate_all("all => all.map(one => Number(one.dataset.value))")
    return np.reshape(found, (3, 3)).tolist()


def test_the_matrix_follows_the_prior_as_decisions_do(visit, path, one):
    page = visit(path)
    assert cells(page) == one.confusion.tolist()
    assert page.locator("[data-place=error_rate]").inner_text() == words.percent(one.error_rate)
    page.select_option("[name=class-target]", "1")
    for p in (0.01, 0.5, 0.9):
        page.fill("[name=class-prior]", str(p))
        prior = [(1 - p) / 2, p, (1 - p) / 2]
        wanted = confusion(LOGLIK, LABEL, prior=prior)
        assert cells(page) == wanted.tolist()
        rate = sum(share * (1 - row[k] / row.sum()) for k, (share, row) in enumerate(zip(prior, wanted, strict=True)))
        assert page.locator("[data-place=error_rate]").inner_text() == words.percent(rate)
        assert page.locator("[data-place=brier]").inner_text() == words.number(brier(LOGLIK, LABEL, prior=prior))
        assert page.locator("[data-place=c_avg]").inner_text() == words.number(c_avg(LOGLIK, LABEL, p_target=p), 4)
        assert page.locator("[data-place=p_target]").inner_text() == f"{p:g}"
    page.locator("[name=class-prior-slider]").fill(str(len(PRIORS) - 1))
    assert cells(page)[0][1] == confusion(LOGLIK, LABEL, prior=one.decided.prior_at(1, PRIORS[-1]))[0, 1]
    page.locator("[data-place=class-reset]").click()
    assert cells(page) == one.confusion.tolist()
    assert page.locator("[data-place=brier]").inner_text() == words.number(one.brier)
    assert page.locator("[data-place=c_avg]").inner_text() == words.number(one.c_avg, 4)


def test_a_cell_shows_its_pair_by_keys_too(visit, path, one):
    page = visit(path)
    page.locator(".cells button[tabindex='0']").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    text = page.locator("[data-place=pair]").inner_text()
    assert f"{one.confusion[1, 2]} of 80 segments of beta" in text
    assert f"{one.confusion[2, 1]} of 70 segments of gamma" in text
    assert f"Cllr {words.number(one.pairwise.cllr[1, 2])} bits" in text
    assert page.locator("[aria-pressed=true]").get_attribute("aria-label").startswith("beta decided as gamma")


def test_subsets_are_filtered_by_their_classes(visit, path):
    page = visit(path)
    page.locator("summary", has_text="subsets").click()
    rows = page.locator("table[data-filter] tbody tr:visible")
    assert rows.count() == 4
    page.locator("label.filter input").fill("gamma beta")
    assert sorted(rows.locator("td:nth-child(2)").all_inner_texts()) == ["2", "3"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_fault_of_accessibility_and_no_overflow(visit, path, scheme, faults_of_access):
    page = visit(path, color_scheme=scheme, bypass_csp=True, width=360)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.locator("img[src=x]").count() == 0
    page.locator("summary", has_text="Subsets of").click()  # sections are closed on narrow screens
    page.locator("summary", has_text="4 subsets").click()
    assert [one for one in faults_of_access(page) if one[1] in ("serious", "critical")] == []


def test_prior_sliders_of_more_than_twelve_classes(visit, tmp_path):
    n = 13
    rng = np.random.default_rng(n)
    label = np.arange(20 * n) % n
    loglik = rng.normal(0, 1.2, (20 * n, n)) + 2 * np.eye(n)[label]
    page = visit(written(tmp_path / "many.html", (evaluate_classes(loglik, label, name="A"),)))
    slider = page.locator("[name=class-prior-slider]")
    assert slider.is_enabled()
    page.select_option("[name=class-target]", str(n - 1))
    for key in ("End", "Home", "PageUp"):
        slider.focus()
        page.keyboard.press(key)
        p = float(slider.get_attribute("aria-valuetext"))
        prior = np.append(np.full(n - 1, (1 - p) / (n - 1)), p)
        found = page.locator(".cells button").evaluate_all("all => all.map(one => Number(one.dataset.value))")
        assert np.reshape(found, (n, n)).tolist() == confusion(loglik, label, prior=prior).tolist(), key
    page.fill("[name=class-prior]", "99.5%")
    assert page.locator("[data-place=class-moved]").inner_text().startswith("Shown at prior 0.99")


def test_a_page_of_a_hundred_classes_has_no_slider_that_does_nothing(visit, tmp_path):
    label = np.arange(600) % 100
    loglik = RNG.normal(0, 1.2, (600, 100)) + 2 * np.eye(100)[label]
    page = visit(written(tmp_path / "hundred.html", (evaluate_classes(loglik, label, name="A"),)))
    assert not page.locator("[name=class-prior-slider]").is_visible()


def test_what_is_no_prior_stays_in_its_box_with_what_is_expected(visit, path, one):
    page = visit(path)
    for wrong in ("", "1/0", "abc", "200%", "1"):
        page.fill("[name=class-prior]", wrong)
        page.locator("[name=class-target]").focus()
        assert page.input_value("[name=class-prior]") == wrong
        assert "Type a prior above 0 and below 1" in page.locator("#choose-class-prior-wrong").inner_text()
        assert cells(page) == one.confusion.tolist()
        page.locator("[data-place=class-reset]").click()
        assert page.input_value("[name=class-prior]") == "0.3333"
        assert not page.locator("#choose-class-prior-wrong").is_visible()
