"""The tutorial on whether a system is better: its commands run, and print what it says."""

import re
import shutil

import pytest

from support.pages import page

PAGE = page("is-my-system-better.md")
SHOWN = re.findall(r"^(deciban [^\n]*)\n```\n\n```\n(.*?)```", PAGE, flags=re.MULTILINE | re.DOTALL)
REAL = [pair for pair in SHOWN if "system_a" in pair[0]]
(SPLIT,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("better")


def test_the_tutorial_says_what_is_printed(folder, deciban, python, missing):
    deciban("deciban demo .", folder)
    python(SPLIT, folder)
    assert len(SHOWN) - len(REAL) == 4
    for line, shown in SHOWN:
        if (line, shown) not in REAL:
            assert missing(deciban(line, folder), shown) == "", line


def test_it_says_what_is_printed_of_real_scores(real_data, tmp_path, deciban, missing):
    for name in ("system_a.txt", "system_b.txt"):
        shutil.copyfile(real_data / "asvspoof19_la_dev_cm2" / name, tmp_path / name)
    assert len(REAL) == 1
    for line, shown in REAL:
        assert missing(deciban(line, tmp_path), shown) == ""
