"""The page on metrics of spoofing detection."""

from support.pages import page, run_python


def test_its_python_prints_what_it_shows():
    assert run_python(page("spoofing-metrics.md")) == 1
