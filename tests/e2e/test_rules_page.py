"""What the page on scoring rules shows runs, and prints what it says; every name of the package is on it."""

import re
from pathlib import Path

from deciban import rules
from support.pages import page, run_python

PAGE = page("rules.md")
TESTS = Path(__file__).parents[1]


def test_code_of_the_page_prints_what_the_page_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_python(PAGE) == 4


def test_the_tests_of_equations_are_there():
    named = re.findall(r"`([\w/]+\.py)::(\w+)`", page("equations.md"))
    assert len(named) > 20
    assert not [name for path, name in named if f"\ndef {name}(" not in (TESTS / path).read_text()]


def test_every_name_is_on_the_page():
    results = {"Information", "Capacity", "Properness"}
    assert all(f"`{name}" in PAGE for name in set(rules.__all__) - results)
