"""The gallery of all plots."""

import inspect
import re
import runpy
from pathlib import Path

from matplotlib.axes import Axes

from deciban import plots

SCRIPT = Path(__file__).parents[2] / "examples" / "gallery.py"


def all_plots():
    """Names of all functions that draw."""
    known = {name: getattr(plots, name) for name in dir(plots) if not name.startswith("_")}
    return {name for name, one in known.items() if inspect.isfunction(one)} - {"save", "system_colors"}


def test_every_plot_has_a_picture_and_the_lines_that_draw_it(tmp_path):
    runpy.run_path(str(SCRIPT))["main"](["-o", str(tmp_path / "new"), "--n", "12"])
    page = (tmp_path / "new" / "gallery.md").read_text()
    shown = {name.replace("-", "_") for name in re.findall(r"^## (\S+)$", page, re.MULTILINE)}
    assert shown == all_plots()
    pictures = re.findall(r"!\[[^]]+\]\(([\w-]+\.svg)\)", page)
    assert len(pictures) == len(shown)
    assert all((tmp_path / "new" / name).read_bytes().startswith(b"<?xml") for name in pictures)
    for name in shown:
        assert f"plots.{name}(" in page.partition(f"## {name.replace('_', '-')}\n")[2].partition("\n## ")[0]


def test_the_lines_draw_axes():
    found = runpy.run_path(str(SCRIPT))
    data = found["Data"](12)
    names = {"plots": plots, **found, "data": data, "systems": data.systems, "languages": data.languages}
    for name in ("det", "forest", "omega", "confusion"):
        lines = found["drawing_of"](name, data)[1].splitlines()
        exec("\n".join(lines[:-1]), names)  # noqa: S102
        assert isinstance(eval(lines[-1], names), Axes)  # noqa: S307
