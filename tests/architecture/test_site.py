"""The site: every page has its place, links are turned, and the reference leaves out nothing that is public."""

import importlib
import inspect
import pkgutil
import sys
import tomllib
from pathlib import Path

import pytest

import deciban
from deciban import plots
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
        for name in ("build", "reference", "figures"):
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
    known = {"docs/a.md": "how-to/a.md", "docs/b.md": "reference/b.md"}
    text = "[x](b.md#part) `[y](b.md)` [z](../src/no_page.py) [r](../README.md) [w](https://example.org)"
    assert build.moved(text, "docs/a.md", known) == (
        "[x](../reference/b.md#part) `[y](b.md)` z (`src/no_page.py`) [r](../index.md) [w](https://example.org)"
    )


def test_the_search_finds_terms_and_synonyms_of_the_glossary(site):
    build, _ = site
    table = """| term | meaning | in code | also called, or related |
|---|---|---|---|
| miss, false alarm | a rejected target | `p_miss` | FRR and FAR, false reject; a sentence of more than four words |
| EER | where both rates are equal | `eer` | |"""
    assert build.names_in(table) == ["miss", "false alarm", "FRR", "FAR", "false reject", "EER"]
    page = build.with_names(f"# Glossary\n\n{table}\n")
    assert page.startswith("# Glossary\n\n```{index} ! miss, ! false alarm, ! FRR, ")
    assert page.endswith(f"\n```\n\n{table}\n")
    glossary = build.with_names((ROOT / "docs/glossary.md").read_text())
    assert all(f"! {term}" in glossary for term in ("genuine", "FMR", "log loss", "impostor", "minDCF", "false reject"))


def test_pages_with_terms_exist(site):
    build, _ = site
    terms = tomllib.loads((SITE / "pages.toml").read_text())["terms"]
    assert terms.keys() <= build.places(build.sections()).keys()
    assert "EER" in terms["docs/explanation/eer-conventions.md"]


def test_every_command_and_schema_is_in_the_reference(site):
    _, reference = site
    page = reference.commands()
    assert all(f"## deciban {name}\n" in page and f"Usage: deciban {name}" in page for name in COMMANDS)
    schemas = reference.schemas()
    assert all(f"## {name}\n" in schemas for name in deciban.json_schemas())


def test_every_package_with_public_names_is_in_the_reference(site):
    _, reference = site
    packages = {one.name for one in pkgutil.iter_modules(deciban.__path__) if one.ispkg and one.name[0] != "_"}
    assert packages - set(reference.PACKAGES) == {"core", "engines", "tables", "cli"}  # not for users to import


def test_a_name_is_described_once(site):
    _, reference = site
    done = set()
    first = reference.package(deciban, done)
    again = reference.package(deciban.workflows, done)
    assert "deciban.evaluate_files\n" in first
    assert "autofunction:: deciban.workflows.evaluate_files" not in again
    assert "`evaluate_files`" in again


@pytest.mark.usefixtures("site")
def test_the_table_of_figures_is_complete():
    figures = importlib.import_module("figures")
    rows = list(figures.figures())
    for package in figures.PAGES:
        module = importlib.import_module(f"deciban.{package}")
        public = {name for name in module.__all__ if inspect.isfunction(getattr(module, name))}
        assert {name for of, name, *_ in rows if of == package} >= public
    for package, name, _, source, command, laws in rows:
        assert laws, f"{package}.{name}: no test names it"
        assert command in ("", "eval") or is_option(*command.split()), command
        assert source or name in NO_PAPER, f"{package}.{name}: no source"


NO_PAPER = {
    *(
        "hter",
        "auc",
        "roc_error_area",
        "brier",
        "loglik_from_posterior",
        "error_rate",
        "class_error_rates",
        "confusion",
    ),
    *("eer_conventions", "interval", "influences", "best_decision"),
}
"""What is defined by its formula, or by other tools."""


def is_option(command, option):
    """Whether a command has it: an option, or what is drawn."""
    if command == "plot":
        return option.replace("-", "_") in (*plots.KINDS, *plots.TEACHING_KINDS)
    parameters = getattr(importlib.import_module(COMMANDS[command][0]), f"{command}_command").params
    return option in {word for one in parameters for word in one.opts}
