"""The rules of the house that a machine can check."""

import ast
import dataclasses
import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path

import numpydoc.validate
import pytest

import deciban

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PUBLIC_MODULES = [
    "deciban",
    "deciban.calibration",
    "deciban.decisions",
    "deciban.fusion",
    "deciban.losses",
    "deciban.metrics",
    "deciban.models",
    "deciban.multiclass",
    "deciban.evaluation",
    "deciban.analysis",
    "deciban.trials",
    "deciban.io",
    "deciban.plots",
    "deciban.workflows",
    "deciban.report",
    "deciban.sklearn",
]


def public_names():
    for module_name in PUBLIC_MODULES:
        module = importlib.import_module(module_name)
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isfunction(value) or inspect.isclass(value):
                yield f"{module_name}.{name}"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_and_functions_stay_small(path):
    text = path.read_text()
    assert text.count("\n") <= 400
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            length = body[-1].end_lineno - body[0].lineno + 1 if body else 0
            assert length <= 50, f"{node.name} has a body of {length} lines"
            assert len(node.args.posonlyargs + node.args.args) <= 7, f"{node.name} takes too many positional arguments"


@pytest.mark.parametrize(
    "module_name", [m.name for m in pkgutil.walk_packages(deciban.__path__, "deciban.") if "__main__" not in m.name]
)
def test_every_module_says_what_it_is_for(module_name):
    module = importlib.import_module(module_name)
    assert module.__doc__
    for name in getattr(module, "__all__", []):
        assert hasattr(module, name), f"{module_name}.__all__ names {name}, which is not there"


@pytest.mark.parametrize("name", sorted(set(public_names())))
def test_public_functions_are_documented(name):
    """Summary, every parameter, and what is returned; dataclasses describe their attributes instead."""
    module_name, _, attribute = name.rpartition(".")
    wanted = {"SS01", "SS02", "RT01", "GL08"}
    if not dataclasses.is_dataclass(getattr(importlib.import_module(module_name), attribute)):
        wanted |= {"PR01", "PR02"}
    found = {code: message for code, message in numpydoc.validate.validate(name)["errors"] if code in wanted}
    assert not found


def test_importing_deciban_is_light():
    """Nothing heavy is loaded before it is used; numbers need numpy and scipy only."""
    code = "import sys, {}; print(*sorted({{m.split('.')[0] for m in sys.modules}}))"

    def loaded(what):
        run = subprocess.run([sys.executable, "-c", code.format(what)], capture_output=True, text=True, check=True)
        return set(run.stdout.split())

    heavy = {"numpy", "scipy", "matplotlib", "pyarrow", "rich", "click", "jinja2"}
    assert not loaded("deciban") & heavy
    assert loaded("deciban.metrics") & heavy == {"numpy", "scipy"}
    assert loaded("deciban.cli") & heavy == {"click"}


def test_top_level_names_are_there():
    for name in deciban.__all__:
        assert getattr(deciban, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        deciban.nothing
    assert set(dir(deciban)) == set(deciban.__all__)
