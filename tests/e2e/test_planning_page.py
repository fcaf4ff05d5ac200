"""What the page on planning shows runs, and prints what it says."""

import re

from deciban.io import write_demo
from support.pages import DOCS, page, run_python

PAGE = page("planning.md")
COMMANDS = re.findall(r"^deciban .*$", PAGE, flags=re.MULTILINE)


def test_the_commands_of_the_page_run_and_print_what_it_says(tmp_path, deciban, stable):
    write_demo(tmp_path)
    assert len(COMMANDS) == 4
    printed = [deciban(line, tmp_path) for line in COMMANDS]
    (shown,) = re.findall(r"```\n\n```\n(pilot.*?)```", PAGE, flags=re.DOTALL)
    assert stable(printed[0]) == stable(shown)
    assert (tmp_path / "plan.svg").read_bytes().startswith(b"<?xml")


def test_code_of_the_page_prints_what_the_page_says():
    assert run_python(PAGE) == 1


def test_its_picture_is_there_and_small():
    assert (DOCS / "images/plan.svg").stat().st_size < 150_000
