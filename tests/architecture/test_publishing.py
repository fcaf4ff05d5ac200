"""What is published: one version everywhere, a recipe with the same requirements, a wheel with all that is needed."""

import contextlib
import re
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CONDA_NAMES = {"matplotlib": "matplotlib-base"}


def test_one_version_stands_everywhere():
    import deciban

    recipe = re.search(r'set version = "([^"]+)"', (ROOT / "recipe" / "meta.yaml").read_text())[1]
    citation = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)[1]
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1]
    release = deciban.__version__.partition(".dev")[0]
    assert PROJECT["version"] == deciban.__version__
    assert {recipe, citation} == {release}
    assert newest in (release, "Unreleased")


def test_the_recipe_asks_for_what_the_project_asks_for():
    run = (ROOT / "recipe" / "meta.yaml").read_text().partition("  run:\n")[2].partition("\n\n")[0]
    asked = dict(re.findall(r"- (\S+) (\S+)", run))
    wanted = dict(re.match(r"([\w-]+)(\S+)", one).groups() for one in PROJECT["dependencies"])
    assert asked == {CONDA_NAMES.get(name, name): pin for name, pin in wanted.items()} | {
        "python": PROJECT["requires-python"]
    }


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Wheel and sdist."""
    build = pytest.importorskip("hatchling.build", reason="hatchling builds the wheel, and is not installed")
    folder = tmp_path_factory.mktemp("dist")
    with contextlib.chdir(ROOT):
        return folder / build.build_wheel(str(folder)), folder / build.build_sdist(str(folder))


def test_the_wheel_has_all_that_is_needed_and_nothing_else(built):
    wheel, _ = built
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    source = {str(one.relative_to(ROOT / "src")) for one in (ROOT / "src" / "deciban").rglob("*") if one.is_file()}
    packed = {name for name in names if not name.partition("/")[0].endswith(".dist-info")}
    assert packed == {name for name in source if "__pycache__" not in name}
    assert {"deciban/py.typed", "deciban/schemas/layout.json", "deciban/io/formats/formats.toml"} <= packed
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert wheel.stat().st_size < 3_000_000


def test_the_sdist_has_what_its_tests_need(built):
    _, sdist = built
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    needed = {"pyproject.toml", "scripts/check", "recipe/meta.yaml", "CITATION.cff", "SECURITY.md", "tests/conftest.py"}
    assert needed | {"docs/site/pages.toml", "examples/papers/all.py", "CONTRIBUTING.md"} <= names
    assert not [name for name in names if "__pycache__" in name or name.startswith(("build/", ".venv/", "dist/"))]
    assert sdist.stat().st_size < 10_000_000
