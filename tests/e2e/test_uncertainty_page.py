"""What the page on uncertainty shows runs, and prints what it says."""

from deciban.workflows.options import PRODUCT, TRIALS
from support.pages import page, run_python

PAGE = page("uncertainty.md")


def test_code_of_the_page_prints_what_the_page_says():
    assert run_python(PAGE) >= 1


def test_every_word_for_units_is_on_the_page():
    assert f"| `{TRIALS}` |" in PAGE
    assert f"| `{PRODUCT}` |" in PAGE
