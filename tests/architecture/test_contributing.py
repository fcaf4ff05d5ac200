"""What the page for contributors says of folders and modules is so."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text()
HOUSE, FLOW = re.findall(r"```\n(.*?)```", PAGE, flags=re.DOTALL)
GUIDES = (ROOT / "docs/contributing/adding.md").read_text()
DRAWING = (ROOT / "docs/images/command-flow.svg").read_text()
DRAWN = " ".join(re.findall(r'class="code"[^>]*>(.*?)<', DRAWING))
PACKAGE = ROOT / "src/deciban"
_PATHS = r"[\w/.-]+/[\w*.-]*(?:\.pyi?|\.md|\.toml|\.json|\.js|/)(?=[\s`:),;]|$)"


def test_every_folder_and_module_is_in_the_table_of_the_house():
    placed = set(re.findall(r"\w+", HOUSE))
    lacking = {path.stem for path in PACKAGE.iterdir() if path.suffix in ("", ".py")} - placed
    assert lacking <= {"__pycache__", "__init__", "__main__", "_version"}


def test_every_folder_in_the_table_is_there():
    folders = {path.name for path in PACKAGE.rglob("*") if path.is_dir()}
    assert set(re.findall(r"(\w+)/", HOUSE)) - {"src", "deciban"} <= folders


@pytest.mark.parametrize("name", sorted(set(re.findall(_PATHS, f"{FLOW}\n{PAGE}\n{DRAWN}"))))
def test_paths_are_there(name):
    assert (ROOT / name).exists() or (PACKAGE / name).exists() or list(PACKAGE.glob(name))


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`([\w.-]+/[\w/.-]+)`", GUIDES))))
def test_files_of_guides_are_there(name):
    assert (ROOT / name).exists() or (PACKAGE / name).exists()
