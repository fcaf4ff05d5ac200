"""What pages name is there: what they link to, options of commands, functions and modules of the library."""

import importlib
import pkgutil
import re
from functools import cache
from pathlib import Path

import pytest

from deciban.cli.main import COMMANDS

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
EACH = pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))


OF_DASK = {"--host", "--memory-limit", "--nthreads", "--nworkers", "--port"}
"""Options of ``dask scheduler`` and ``dask worker``, which start what commands are told the address of."""


@cache
def options():
    """Options of all commands."""
    found = {"--help", "--help-all", "--install-completion", "--options", "--version"}
    for command, (module, _) in COMMANDS.items():
        for parameter in getattr(importlib.import_module(module), f"{command}_command").params:
            found |= {*parameter.opts, *parameter.secondary_opts}
    return found


def headings(path):
    """Names that parts of a page have in links."""
    lines = re.findall(r"^#+ (.*)$", path.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", line.lower()).replace(" ", "-") for line in lines}


@EACH
def test_pages_have_no_marks_of_a_merge(page):
    assert not re.search(r"^(<{7}|={7}|>{7})( |$)", page.read_text(), flags=re.MULTILINE)


@EACH
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", page.read_text()):
        name, _, part = target.partition("#")
        path = page.parent / name if name else page
        assert path.exists(), target
        assert not part or part in headings(path), target


@EACH
def test_options_are_there(page):
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*[a-z0-9]", page.read_text()))
    assert named <= options() | OF_DASK


@EACH
def test_names_of_the_library_are_there(page):
    named = set(re.findall(r"(?<![\w/.'])(deciban(?:\.[A-Za-z_]\w*)+)", page.read_text()))
    assert [name for name in sorted(named) if not is_there(name)] == []


def is_there(name):
    """Whether a dotted name leads to something."""
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True
