"""What the page on tables of trials shows runs, and prints what it says."""

import re

from deciban import trials
from support.pages import page, run_python

PAGE = page("trials.md")


def test_code_of_the_page_prints_what_the_page_says():
    assert run_python(PAGE) == 7


def test_every_table_and_function_is_on_the_page():
    results = {"Aligned", "AlignedClasses", "AlignedQuality", "TrialTable", "Origin"}
    assert {name for name in trials.__all__ if not re.search(rf"\b{name}\b", PAGE)} <= results | {"JoinReport", "Stack"}
