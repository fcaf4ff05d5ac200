"""One table: figure, function, equation, command, law; from the pages on metrics and the tests that name a function."""

from __future__ import annotations

import ast
import importlib
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

SITE = Path(__file__).parent
ROOT = SITE.parents[1]
PAGES = {"metrics": "metrics.md", "multiclass": "multiclass-metrics.md", "rules": "rules.md"}
"""By package the page whose tables have its formulas."""

_FOLDERS = ("laws", "metrics", "multiclass", "rules", "golden", "core", "evaluation", "calibration")
_MOST = 3
"""Tests that are named for a function."""


def rows_of_tables(text: str) -> Iterator[tuple[str, str, str]]:
    """First cell, formula and source of the tables of a page that have all three."""
    for line in text.splitlines():
        cells = [one.strip() for one in line.strip().strip("|").split(" | ")] if line.startswith("|") else []
        if line.rstrip().endswith("| |") and len(cells) == 2:
            cells.append("")
        if len(cells) in (3, 4) and cells[0].startswith("`"):
            yield cells[0], cells[1], cells[-1].strip("| ")
        elif len(cells) == 3 and "::" in cells[2]:  # equation, functions, test
            yield cells[1], "", f"T {cells[0]}"


@cache
def tests() -> tuple[tuple[str, str], ...]:
    """Name and source of every test that may be a law."""
    found = []
    for folder in _FOLDERS:
        for path in sorted((ROOT / "tests" / folder).rglob("test_*.py")):
            text = path.read_text()
            for node in ast.parse(text).body:
                if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                    name = f"{path.relative_to(ROOT / 'tests')}::{node.name}"
                    found.append((name, ast.get_source_segment(text, node) or ""))
    return tuple(found)


@cache
def registered() -> str:
    """The list of metrics that all laws are tested with."""
    return (ROOT / "tests" / "laws" / "test_metrics.py").read_text().partition("\ndef test_")[0]


def laws(package: str, name: str) -> list[str]:
    """Tests that name a function, those of laws first."""
    word = re.compile(rf"\b(?:{package}\.)?{name}\(|\b{package}\.{name}\b")
    own = ["laws/test_metrics.py (all)"] if re.search(rf"\b{package}\.{name}\b", registered()) else []
    return [*own, *(test for test, text in tests() if word.search(text))][:_MOST]


def figures() -> Iterator[tuple[str, str, str, str, str, list[str]]]:
    """Package, function, formula, source, command and tests of all."""
    commands = tomllib.loads((SITE / "figures.toml").read_text())
    public = {package: set(importlib.import_module(f"deciban.{package}").__all__) for package in PAGES}
    seen = set()
    for own, page in PAGES.items():
        for first, formula, source in rows_of_tables((ROOT / "docs" / page).read_text()):
            for called, name in re.findall(r"`(?:(\w+)\.)?(\w+)(?:\([^`]*\))?`", first):
                package = called or own
                if name in public.get(package, ()) and (package, name) not in seen:
                    seen.add((package, name))
                    yield package, name, formula, source, commands[package].get(name, ""), laws(package, name)


def write() -> str:
    """The page."""
    words = (
        "Every figure with the function that gives it, its formula and where that stands (T, B, P, L: papers that the "
        "pages on [metrics](metrics.md) and [many classes](multiclass-metrics.md) name), the command that shows it, "
        "and tests that would fail if it were wrong."
    )
    parts = [
        "# From figures to equations, commands and laws\n",
        f"{words}\n",
        "| function | formula | source | command | tests |",
        "|---|---|---|---|---|",
    ]
    for package, name, formula, source, command, named in figures():
        shown = f"`deciban {command}`" if command else "Python"
        without_links = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", formula), re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", source)
        law = "; ".join(f"`{one}`" for one in named)
        parts.append(f"| [{package}.{name}](deciban.{package}.md) | {' | '.join(without_links)} | {shown} | {law} |")
    return "\n".join(parts) + "\n"
