"""What the page on plots shows runs, and every plot is on it."""

import re

import pytest

from deciban import plots, train_files
from deciban.calibration import AffineCalibrator
from deciban.io import write_demo
from support.pages import DOCS, page, run_python

pytestmark = pytest.mark.usefixtures("pictures")
PAGE = page("plots.md")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    write_demo(tmp_path)
    monkeypatch.chdir(tmp_path)
    train_files("sysA.txt", "key.txt", AffineCalibrator()).model.save("model.json")
    return tmp_path


def test_code_of_the_page_draws_and_prints_what_the_page_says(folder):
    assert run_python(PAGE) == 3
    assert {path.name for path in folder.glob("*.[sp][vnd][gf]")} == {"det.pdf", "det.svg", "calibrated.png"}


def test_the_commands_of_the_page_draw(folder, deciban, monkeypatch):
    monkeypatch.setattr("deciban.io.demos._SPEAKERS", 12)
    write_demo(folder)
    for copy, name in (
        ("eval.txt", "sysB.txt"),
        ("dev.txt", "sysA.txt"),
        ("eval.key", "key.txt"),
        ("dev.key", "key.txt"),
    ):
        (folder / copy).write_bytes((folder / name).read_bytes())
    lines = re.findall(r"^deciban .*$", PAGE, flags=re.MULTILINE)
    for line in lines:
        deciban(line, folder)
    assert (folder / "det.pdf").read_bytes().startswith(b"%PDF")
    drawn = {line.split()[-1] for line in lines if line.endswith(".svg")}
    assert {path.name for path in folder.glob("*.svg")} == drawn
    assert len(drawn) == 6


def test_every_plot_is_on_the_page_by_both_names():
    for name in plots.KINDS:
        assert f"| `{name.replace('_', '-')}` | `{name}(result" in PAGE
    others = set(plots.__all__) - set(plots.KINDS) - set(plots.CLASS_KINDS)
    drawing = {name for name in others if callable(getattr(plots, name))} - {"print_style", "save", "system_colors"}
    assert all(f"`{name}(" in PAGE for name in drawing)


def test_pictures_of_the_page_are_there_and_small():
    shown = re.findall(r"\]\((images/[^)]+)\)", PAGE)
    assert len(shown) == 6
    assert all((DOCS / name).stat().st_size < 150_000 for name in shown)
