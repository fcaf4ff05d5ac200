"""What the page on decisions shows runs, and prints what it says; every function is on it."""

from deciban import decisions
from support.pages import page, run_python

PAGE = page("decisions.md")


def test_code_of_the_page_prints_what_the_page_says():
    assert run_python(PAGE) == 1


def test_every_function_is_on_the_page():
    assert all(f"`{name}`" in PAGE for name in decisions.__all__)
