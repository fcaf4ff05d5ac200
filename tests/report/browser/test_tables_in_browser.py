"""Tables that can be sorted and copied, in a real browser."""

import numpy as np
import pytest

from deciban.evaluation import Results, evaluate_classes

from .conftest import written

RAW = ["=1+1", "<b>bold", "c\td"]


@pytest.fixture(scope="module")
def page_of_classes(tmp_path_factory):
    """The file of a page of three classes with names that would do harm."""
    rng = np.random.default_rng(3)
    label = np.repeat([0, 1, 2], [1200, 80, 9])
    one = evaluate_classes(rng.normal(0, 2, (len(label), 3)) + np.eye(3)[label], label, classes=RAW, name="A")
    return written(tmp_path_factory.mktemp("pages") / "classes.html", Results((one,)).systems), one


def column(page, at):
    return page.locator("table.sortable").first.locator(f"tbody tr > :nth-child({at})").all_inner_texts()


def test_headings_sort_numbers_as_numbers(visit, page_of_classes):
    page = visit(page_of_classes[0])
    heading = page.locator("table.sortable th", has_text="segments").first
    heading.locator("button").focus()
    page.keyboard.press("Enter")
    assert heading.get_attribute("aria-sort") == "ascending"
    assert column(page, 2) == ["9", "80", "1,200"]
    page.keyboard.press("Enter")
    assert heading.get_attribute("aria-sort") == "descending"
    assert column(page, 2) == ["1,200", "80", "9"]
    page.locator("table.sortable th button").first.click()
    assert heading.get_attribute("aria-sort") is None
    assert column(page, 1)[-1] == "c d"


def test_a_copy_has_tabs_between_columns_and_no_commas_in_numbers(visit, page_of_classes):
    path, one = page_of_classes
    page = visit(path, permissions=["clipboard-read", "clipboard-write"])
    page.locator(".copy-table button").first.click()
    page.wait_for_selector(".copy-table [role=status]:not(:empty)")
    lines = page.evaluate("navigator.clipboard.readText()").split("\n")
    assert len(lines) == 4
    cells = [line.split("\t") for line in lines]
    assert {len(row) for row in cells} == {9}
    assert cells[0][:4] == ["class", "segments", "error rate", "detection against the rest EER (ROCCH)"]
    assert [row[1] for row in cells[1:]] == [f"{n}" for n in one.counts]


def test_without_scripts_tables_are_plain(visit, page_of_classes):
    page = visit(page_of_classes[0], java_script_enabled=False)
    assert page.locator("table.sortable").count() > 0
    assert page.locator("table button").count() == 0
