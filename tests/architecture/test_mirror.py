"""Tests mirror packages: the tests of a package reach each of its modules."""

import ast
from collections import deque
from functools import cache
from pathlib import Path

from support.parsed import nodes

ROOT = Path(__file__).parents[2]
SOURCE, TESTS = ROOT / "src" / "deciban", ROOT / "tests"

# Packages whose modules are tested through what is made of them, by the folders of these tests.
FROM_ABOVE = {
    "": ("architecture", "metrics", "workflows"),
    "_validate": ("metrics", "multiclass", "decisions", "e2e"),
    "analysis": ("workflows", "cli"),
    "cli": ("cli", "e2e"),
    "io": ("io",),
    "evaluation": ("workflows", "analysis"),
    "workflows": ("cli", "report"),
}


def is_module(path):
    return path.name not in ("__init__.py", "__main__.py")


def folders(package):
    """Where the tests of a package are: `tests/sklearn` would be taken for scikit-learn."""
    mirrored = Path("sklearn_api", *package.parts[1:]) if package.parts[:1] == ("sklearn",) else package
    return [mirrored, *FROM_ABOVE.get(package.parts[0] if package.parts else "", ())]


MODULES = sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.py") if is_module(path))


@cache
def places():
    """The file of each module, packages and what tests share among them, by its dotted name."""
    found = {}
    for path in (*SOURCE.rglob("*.py"), *(TESTS / "support").rglob("*.py")):
        parts = path.relative_to(SOURCE.parent if SOURCE in path.parents else TESTS).with_suffix("").parts
        found[".".join(parts).removesuffix(".__init__")] = path
    return found


@cache
def named(path):
    """Modules of deciban that a file imports, anywhere in it, or names in a string that is imported late."""
    found = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("deciban"):
            found.add(node.value.partition(":")[0])
        elif isinstance(node, ast.Constant) and node.value == "formats.toml":  # a table of functions of all it holds
            found |= {name for name, place in places().items() if place.parent == path.parent}
    return found & places().keys()


@cache
def reached(test):
    """Files that a test module imports, or that these import."""
    found, ahead = set(), deque([test])
    while ahead:
        for name in named(ahead.popleft()):
            path = places()[name]
            if path not in found:
                found.add(path)
                ahead.append(path)
    return found


@cache
def files_reached(package):
    """Files that the tests of a package reach."""
    return {
        path for folder in folders(package) for test in (TESTS / folder).glob("**/test_*.py") for path in reached(test)
    }


def test_every_module_is_reached_by_tests_of_its_package():
    faults = [
        f"no test in {' or '.join(f'tests/{folder}' for folder in folders(module.parent))} reaches {module.as_posix()}"
        for module in MODULES
        if SOURCE / module not in files_reached(module.parent)
    ]
    assert not faults, "\n".join(faults)


def test_tests_stand_where_what_they_test_stands():
    places = {path.parent.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py")}
    packages = {path.parent.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("__init__.py")}
    beside = ("architecture", "e2e", "examples", "fuzz", "golden", "laws", "support", "sklearn_api", "report/browser")
    strange = {one for one in places - packages if one != "." and not one.startswith(beside)}
    assert not strange, strange
