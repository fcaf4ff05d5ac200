"""Every script draws, and the page names every picture."""

import re
from pathlib import Path

import pytest

from support.sketches import sketch

PAGES = Path(__file__).parents[3] / "docs" / "papers"


@pytest.fixture(scope="module")
def pictures(script, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures") / "new"
    with pytest.MonkeyPatch.context() as patch:  # their layout is that of all plots
        patch.setattr("deciban.plots.files._bytes", sketch)
        script("all").main([str(folder), "--trials", "150"])
    return {path.stem: path.read_bytes() for path in folder.iterdir()}


def test_all_pictures_are_drawn_and_told_of(pictures):
    name = r"`((?:bosaris|weighted-rules|languages|subsets|thesis)-[a-z0-9-]+)`"
    told = set(re.findall(name, (PAGES / "index.md").read_text()))
    assert pictures.keys() == told
    assert all(content.startswith(b"<?xml") for content in pictures.values())


def test_pages_show_small_pictures_that_the_scripts_make(pictures):
    shown = {
        name for page in PAGES.glob("*.md") for name in re.findall(r"\(\.\./images/([\w-]+)\.svg\)", page.read_text())
    }
    assert len(shown) > 5
    assert shown <= pictures.keys()
    for name in shown:
        assert (PAGES.parent / "images" / f"{name}.svg").stat().st_size < 100_000


def test_pages_name_tests_that_are_there():
    tests = PAGES.parents[1] / "tests"
    named = re.findall(r"`([\w/]+\.py)::(\w+)`", "".join(page.read_text() for page in PAGES.glob("*.md")))
    assert len(named) > 20
    assert [(file, name) for file, name in named if f"def {name}(" not in (tests / file).read_text()] == []
