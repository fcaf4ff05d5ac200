"""The site: every page has its place, links are turned, and the reference leaves out nothing that is public."""

import importlib.util
import pkgutil
import sys
from pathlib import Path

import pytest

import deciban
from deciban.cli.main import COMMANDS

ROOT = Path(__file__).parents[2]
SITE = ROOT / "docs" / "site"


@pytest.fixture(scope="module")
def site():
    """The modules that build it."""
    sys.path.insert(0, str(SITE))
    try:
        yield importlib.import_module("build"), importlib.import_module("reference")
    finally:
        sys.path.remove(str(SITE))
        for name in ("build", "reference"):
            sys.modules.pop(name, None)


def test_every_page_has_one_place(site):
    build, _ = site
    listed = [page for part in build.sections() for page in part.pages]
    assert len(listed) == len(set(listed))
    written = {str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md")}
    assert {page for page in listed if page.startswith("docs/")} == written - {"docs/site/home.md"}
    placed = list(build.places(build.sections()).values())
    assert len(placed) == len(set(placed))


def test_links_lead_to_where_pages_lie(site):
    build, _ = site
    known = {"docs/a.md": "how-to/a.md", "docs/b.md": "reference/b.md", "README.md": "start/first-steps.md"}
    text = "[x](b.md#part) `[y](b.md)` [z](../src/no_page.py) [r](../README.md) [w](https://example.org)"
    assert build.moved(text, "docs/a.md", known) == (
        "[x](../reference/b.md#part) `[y](b.md)` z (`src/no_page.py`) [r](../start/first-steps.md) [w](https://example.org)"
    )


def test_every_command_and_schema_is_in_the_reference(site):
    _, reference = site
    page = reference.commands()
    assert all(f"## deciban {name}\n" in page and f"Usage: deciban {name}" in page for name in COMMANDS)
    schemas = reference.schemas()
    assert all(f"## {name}\n" in schemas for name in deciban.json_schemas())


def test_every_package_with_public_names_is_in_the_reference(site):
    _, reference = site
    packages = {one.name for one in pkgutil.iter_modules(deciban.__path__) if one.ispkg and one.name[0] != "_"}
    assert packages - set(reference.PACKAGES) == {"core", "engines", "cli"}  # not for users to import


def test_a_name_is_described_once(site):
    _, reference = site
    done = set()
    first = reference.package(deciban, done)
    again = reference.package(deciban.workflows, done)
    assert "deciban.evaluate_files\n" in first
    assert "autofunction:: deciban.workflows.evaluate_files" not in again
    assert "`evaluate_files`" in again
