"""Table of metrics with function, equation, command and tests, from the pages on metrics and the tests."""

from __future__ import annotations

import importlib
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests_of import called

SITE = Path(__file__).parent
ROOT = SITE.parents[1]
PAGES = {
    "metrics": "metrics.md",
    "multiclass": "multiclass-metrics.md",
    "rules": "rules.md",
    "spoofing": "spoofing-metrics.md",
    "biometrics": "biometrics.md",
}
"""Page with the formulas of each package."""

_NARROW = "table.docutils td code, table.docutils td a {overflow-wrap: anywhere; white-space: normal}"
"""Style that breaks long test names, so that the last column is visible."""


def rows_of_tables(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield first cell, formula and source of each table row that has all three."""
    for line in text.splitlines():
        cells = [one.strip() for one in line.strip().strip("|").split(" | ")] if line.startswith("|") else []
        if line.rstrip().endswith("| |") and len(cells) == 2:
            cells.append("")
        if len(cells) in (3, 4) and cells[0].startswith("`"):
            yield cells[0], cells[1], cells[-1].strip("| ")
        elif len(cells) == 3 and "::" in cells[2]:  # equation, functions, test
            yield cells[1], "", f"T {cells[0]}"


@cache
def _noticed() -> dict[str, list[str]]:
    return tomllib.loads((SITE / "noticed.toml").read_text())


def laws(package: str, name: str) -> list[str]:
    """Return the tests that fail if a function returns wrong values; for new functions, tests that call it."""
    return _noticed().get(f"{package}.{name}") or called(package, name)[:2]


def figures() -> Iterator[tuple[str, str, str, str, str, list[str]]]:
    """Yield package, function, formula, source, command and tests of all metrics."""
    commands = tomllib.loads((SITE / "figures.toml").read_text())
    public = {package: set(importlib.import_module(f"deciban.{package}").__all__) for package in PAGES}
    seen = set()
    for own, page in PAGES.items():
        for first, formula, source in rows_of_tables((ROOT / "docs" / page).read_text()):
            for other, name in re.findall(r"`(?:(\w+)\.)?(\w+)(?:\([^`]*\))?`", first):
                package = other or own
                if name in public.get(package, ()) and (package, name) not in seen:
                    seen.add((package, name))
                    yield package, name, formula, source, commands[package].get(name, ""), laws(package, name)


def with_tests() -> Iterator[tuple[str, str]]:
    """Yield package and name of all functions in the list of equations of the rules page."""
    for line in (ROOT / "docs" / "rules.md").read_text().splitlines():
        cells = line.split(" | ")
        if len(cells) == 3 and "::" in cells[2]:
            for package, name in re.findall(r"`(\w+)\.(\w+)[^`]*`", cells[1]):
                if package.islower() and package != "io":
                    yield package, name


def write() -> str:
    """Return the page."""
    words = (
        "All metrics with function, formula, source (T, B, P, L: papers listed in [metrics](metrics.md) and "
        "[multiclass metrics](multiclass-metrics.md)), command, and tests that fail if the function returns wrong "
        "values (`scripts/bent`)."
    )
    parts = [
        "# Metrics, equations, commands and tests\n",
        f"{words}\n",
        f"```{{raw}} html\n<style>{_NARROW}</style>\n```\n",
        "| function | formula | source | command | tests |",
        "|---|---|---|---|---|",
    ]
    for package, name, formula, source, command, named in figures():
        shown = f"`deciban {command}`" if command else "Python"
        without_links = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", formula), re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", source)
        law = "; ".join(f"`{one}`" for one in named)
        parts.append(f"| [{package}.{name}](deciban.{package}.md) | {' | '.join(without_links)} | {shown} | {law} |")
    return "\n".join(parts) + "\n"
