"""Golden numbers are what their definitions say, computed again without deciban."""

import ast
from pathlib import Path

import pytest

from golden import recompute


@pytest.mark.parametrize("check", recompute.CHECKS, ids=lambda check: check.__name__)
def test_every_number_is_found_again(check):
    off = [name for name, golden, found, limit in check() if not recompute.distance(golden, found) <= limit]
    assert not off


def test_nothing_of_deciban_is_used():
    tree = ast.parse(Path(recompute.__file__).read_text())
    modules = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    modules |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in modules}.isdisjoint({"deciban", "support"})
