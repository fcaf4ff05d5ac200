"""What the page on scoring rules shows runs, and prints what it says; every name of the package is on it."""

from deciban import rules
from support.pages import page, run_python

PAGE = page("rules.md")


def test_code_of_the_page_prints_what_the_page_says():
    assert run_python(PAGE) == 3


def test_every_name_is_on_the_page():
    results = {"Information", "Capacity", "Properness"}
    assert all(f"`{name}" in PAGE for name in set(rules.__all__) - results)
