"""What the linter cannot see of the layers: modules that are loaded, imports by strings, circles, registered views."""

import ast
import importlib
import inspect
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

from deciban import calibration, fusion
from deciban._lazy import registered, registered_names
from deciban.models import Model
from support.parsed import nodes

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in SOURCE.rglob("*.py")
}


def printed_by(code):
    """The words that a new interpreter prints."""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.split()


@pytest.mark.parametrize(
    ("names", "most"),
    [
        ("deciban.calibration import AffineCalibrator", 37),
        ("deciban.fusion import LinearFusion", 39),
        ("deciban.calibration import MulticlassCalibrator", 62),
        ("deciban.models import load_model", 36),
    ],
)
def test_estimators_load_neither_files_nor_engines(names, most):
    loaded = printed_by(f"import sys; from {names}; print(*sys.modules)")
    own = [name for name in loaded if name.partition(".")[0] == "deciban"]
    assert [name for name in own if name.split(".")[1:2] in (["io"], ["engines"], ["workflows"])] == []
    assert not {"pyarrow", "pandas", "matplotlib", "rich", "click"} & set(loaded)
    assert len(own) <= most


@pytest.mark.parametrize("package", ["calibration", "fusion", "sklearn"])
def test_no_estimator_loads_files_or_engines(package):
    loaded = printed_by(f"import sys; from deciban.{package} import *; print(*sys.modules)")
    assert [name for name in loaded if name.startswith(("deciban.io", "deciban.engines", "deciban.workflows"))] == []
    assert package == "sklearn" or "pyarrow" not in loaded  # pandas loads it for scikit-learn


SEEN = """
import sys
{first}
heavy = {{"matplotlib", "pyarrow", "rich", "jinja2"}}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
from deciban.evaluation import evaluate
result = evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])
assert not heavy & set(sys.modules), heavy & set(sys.modules)
print(result.table().split()[0], len(result.to_frame()), type(result.plot.det()).__name__)
print(type(result.explore()).__name__, "<table" in result._repr_html_(), result._repr_markdown_()[0])
"""


def test_results_have_their_views():
    words = printed_by(SEEN.format(first="from deciban.metrics import eer"))
    assert words == ["system", "1", "Axes", "Exploration", "True", "|"]


@pytest.mark.parametrize("first", ["import deciban", "from deciban.evaluation import evaluate"])
def test_results_know_their_views_whatever_was_imported_first(first):
    code, _, _ = SEEN.format(first=first).partition("print(")
    named = (
        "result.table().split()[0], type(result.plot).__name__, result._repr_markdown_()[0], callable(result.explore)"
    )
    assert printed_by(f"{code}print({named})") == ["system", "Plotter", "|", "True"]


def test_every_kind_of_model_is_registered_with_its_class():
    offered = [getattr(package, name) for package in (calibration, fusion) for name in package.__all__]
    kinds = {
        one.kind: one
        for one in offered
        if inspect.isclass(one) and issubclass(one, Model) and not inspect.isabstract(one)
    }
    assert {kind: registered("models", kind) for kind in registered_names("models")} == kinds


@cache
def named(module):
    """Modules that one imports anywhere in it, for type checking alone, in its stub or by a string."""
    found = set()
    for node in nodes(MODULES[module]):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            full = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {name if name in MODULES else node.module for name in full}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "." in node.value:
            found.add(node.value.partition(":")[0])
    return (found & MODULES.keys()) - {module}


def depths():
    """How far down the layer of each package is."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    [layers] = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    return {name: at for at, layer in enumerate(layers) for name in layer.split(" | ")}


def test_nothing_is_named_upward_not_even_in_a_string():
    """So packages have no circle: `deciban` and its start stand above all of them."""
    depth = depths()
    upward = [
        f"{module} -> {other}"
        for module in MODULES.keys() - {"deciban", "deciban.__main__"}
        for other in named(module) - {"deciban.__main__"}
        if other == "deciban" or depth[other.split(".")[1]] < depth[module.split(".")[1]]
    ]
    assert upward == []


def test_modules_do_not_need_each_other_in_circles():
    """Imports for type checking and in functions, and strings, are included."""
    graph = {module: named(module) - {"deciban.__main__"} for module in MODULES}
    for start in graph:
        seen, ahead = set(), [start]
        while ahead:
            ahead += [one for one in graph[ahead.pop()] if one not in seen and not seen.add(one)]
        assert start not in seen, f"{start} needs itself through other modules"


def test_benchmarks_and_examples_import_names_that_exist():
    """Nothing else runs most of them between two measurements, least of all the imports inside their functions."""
    lacking = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.module}.{alias.name}"
        for folder in ("benchmarks", "examples", "docs")
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "deciban"
        for alias in node.names
        if not hasattr(importlib.import_module(node.module), alias.name)
        and f"{node.module}.{alias.name}" not in MODULES
    ]
    assert lacking == []
