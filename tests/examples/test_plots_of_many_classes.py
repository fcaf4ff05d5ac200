"""The gallery of plots of many classes."""

import runpy
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "examples" / "plots_of_many_classes.py"


def test_it_draws_every_plot(tmp_path, capsys):
    runpy.run_path(str(SCRIPT))["main"](["-o", str(tmp_path / "new"), "--n", "12"])
    names = {"confusion", "pairwise-loss", "class-losses", "class-ape", "c-avg-curve", "subset-c-avg", "simplex"}
    written = {path.name: path.read_bytes() for path in (tmp_path / "new").iterdir()}
    assert written.keys() == {f"classes-{name}.svg" for name in names}
    assert all(content.startswith(b"<?xml") for content in written.values())
    assert capsys.readouterr().out.count("wrote ") == len(names)


def test_the_documentation_shows_small_pictures():
    docs = SCRIPT.parents[1] / "docs"
    page = (docs / "plots.md").read_text()
    assert f"../examples/{SCRIPT.name}" in page
    shown = sorted((docs / "images").glob("classes-*.svg"))
    assert len(shown) == 4
    for picture in shown:
        assert f"images/{picture.name}" in page
        assert picture.stat().st_size < 150_000
