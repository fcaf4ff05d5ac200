"""The table of `scripts/mutants` follows the code: every entry can be applied, and its tests exist."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TABLE = tomllib.loads((ROOT / "scripts/mutants.toml").read_text())["mutant"]
PLACES = sorted({(one["file"], one["old"]) for one in TABLE})


@pytest.mark.parametrize("file", sorted({file for file, _ in PLACES}))
def test_every_changed_line_is_in_its_file_once(file):
    text = (ROOT / "src/deciban" / file).read_text()
    counts = {old: text.count(old) for name, old in PLACES if name == file}
    assert counts == dict.fromkeys(counts, 1)


def test_every_entry_changes_something_and_is_listed_once():
    changes = [(one["file"], one["old"], one["new"]) for one in TABLE]
    assert len(set(changes)) == len(changes)
    assert not [change for change in changes if change[1] == change[2]]


@pytest.mark.parametrize("name", sorted({name for one in TABLE for name in one["tests"]}))
def test_the_tests_of_every_entry_are_there(name):
    assert (ROOT / "tests" / name.split("::")[0]).exists()
