"""Tests that call a public function, found by the imports of their modules."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parents[2] / "tests"
FOLDERS = (
    "laws",
    "golden",
    "metrics",
    "multiclass",
    "rules",
    "decisions",
    "spoofing",
    "biometrics",
    "core",
    "evaluation",
    "calibration",
    "fusion",
)
"""Folders with tests of metrics, in order of preference."""


def called(package: str, name: str) -> list[str]:
    """Return the tests that call ``deciban.package.name``, as ``folder/test_file.py::test_name``."""
    return [test for test, names in _tests() if (package, name) in names]


@cache
def _tests() -> tuple[tuple[str, frozenset[tuple[str, str]]], ...]:
    found = list[tuple[str, frozenset[tuple[str, str]]]]()
    for folder in FOLDERS:
        for path in sorted((TESTS / folder).rglob("test_*.py")):
            found += _of_module(path)
    return tuple(found)


def _of_module(path: Path) -> Iterator[tuple[str, frozenset[tuple[str, str]]]]:
    module = ast.parse(path.read_text())
    known, helped = _imported(module), dict[str, ast.AST]()
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("test_"):
            helped[node.name] = node
        elif isinstance(node, ast.Assign):
            helped |= {one.id: node for target in node.targets for one in ast.walk(target) if isinstance(one, ast.Name)}
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            parts = _with_help(node, helped)
            yield (
                f"{path.relative_to(TESTS)}::{node.name}",
                frozenset(one for part in parts for one in _used(part, known)),
            )


def _with_help(node: ast.AST, helped: dict[str, ast.AST]) -> list[ast.AST]:
    """Return a test and all functions and names of its module that it needs, directly or not."""
    found, left = [node], [node]
    while left:
        names = {one.id for one in ast.walk(left.pop()) if isinstance(one, ast.Name)}
        more = [helped[name] for name in sorted(names) if name in helped and helped[name] not in found]
        found, left = [*found, *more], [*left, *more]
    return found


def _imported(module: ast.Module) -> dict[str, str]:
    """Return the imports of a module by name: ``{"m": "deciban.metrics", "cllr": "deciban.metrics.cllr"}``."""
    known = dict[str, str]()
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            known |= {
                one.asname or one.name.partition(".")[0]: one.name if one.asname else one.name.partition(".")[0]
                for one in node.names
            }
        elif isinstance(node, ast.ImportFrom):
            known |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
    return {name: path for name, path in known.items() if path.startswith("deciban")}


def _used(node: ast.AST, known: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the public names in a function, with their packages."""
    for one in ast.walk(node):
        parts = _path(one)
        if parts and parts[0] in known:
            path = ".".join([known[parts[0]], *parts[1:]]).split(".")
            yield from ((path[1], one) for one in path[2:])  # also from modules of the package


def _path(node: ast.AST) -> list[str]:
    """Return the parts of ``a.b.c``; an empty list for other expressions."""
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Attribute):
        left = _path(node.value)
        return [*left, node.attr] if left else []
    return []
