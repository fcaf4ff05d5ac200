"""Every plot has an example in the gallery, and all are drawn."""

import importlib.machinery
import importlib.util
import re
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "gallery"


@pytest.fixture(scope="module")
def gallery():
    loader = importlib.machinery.SourceFileLoader("gallery", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("gallery", loader))
    import sys

    sys.modules["gallery"] = module
    loader.exec_module(module)
    yield module
    del sys.modules["gallery"]


def test_every_plot_has_an_example(gallery):
    assert gallery.missing() == []


def test_the_page_shows_every_picture(gallery, tmp_path, capsys):
    gallery.main([str(tmp_path), "--n", "24"])
    shown = re.findall(r"!\[.*\]\((.*)\)", (tmp_path / "index.md").read_text(encoding="utf-8"))
    assert set(shown) == {file.name for file in tmp_path.glob("*.svg")}
    assert len(shown) == len(set(shown)) == len(gallery.examples())
    assert all((tmp_path / file).read_bytes().startswith(b"<?xml") for file in shown)
    assert "wrote" in capsys.readouterr().out
