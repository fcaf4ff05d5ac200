"""Syntax trees of the sources, parsed once for all rules about them."""

import ast
from functools import cache


@cache
def tree(path):
    """The tree of a file; `tests/architecture` forgets all trees at its end."""
    return ast.parse(path.read_text("utf-8"))


@cache
def nodes(path):
    """All nodes of a file and of its stub, if there is one."""
    stub = path.with_suffix(".pyi")
    return [node for one in (path, stub) if one.exists() for node in ast.walk(tree(one))]
