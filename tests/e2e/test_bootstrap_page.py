"""What the page on the bootstrap shows runs, and prints what it says."""

from support.pages import page, run_python

PAGE = page("bootstrap.md")


def test_code_of_the_page_prints_what_the_page_says():
    assert run_python(PAGE) >= 1
