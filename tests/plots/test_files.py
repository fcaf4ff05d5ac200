"""Plots as files."""

import io
import warnings
import xml.etree.ElementTree as ET

import pytest
from matplotlib import font_manager, rc_context

from deciban import plots
from deciban.errors import DecibanWarning, InputError
from deciban.plots import files
from support.evaluated import gaussian

MAGIC = {"svg": b"<?xml", "png": b"\x89PNG\r\n", "pdf": b"%PDF-"}


def saved(drawing, file_format):
    stream = io.BytesIO()
    plots.save(drawing, stream, file_format)
    return stream.getvalue()


@pytest.mark.parametrize("file_format", plots.FORMATS)
def test_same_plot_same_bytes(file_format, system):
    first, second = saved(plots.det(system), file_format), saved(plots.det(system), file_format)
    assert first == second
    assert first.startswith(MAGIC[file_format])
    assert len(first) > 5000
    assert b"atplotlib v" not in first
    assert b"CreationDate" not in first
    assert b"/Type3" not in first  # many publishers refuse these fonts


def test_svg_holds_what_matplotlib_draws_and_leaves_the_figure_alone(drawn):
    figure = drawn["roc"].figure
    before = figure.dpi, figure.canvas, figure.get_layout_engine()
    own = saved(figure, "svg")
    assert (figure.dpi, figure.canvas, figure.get_layout_engine()) == before
    assert own == saved(figure, "svg")
    for ax in figure.axes:
        if ax.get_subplotspec() is not None:
            assert ax.get_in_layout()
            ax.set_subplotspec(ax.get_subplotspec())  # where the layout starts from
    theirs = io.BytesIO()
    with rc_context({"svg.hashsalt": "deciban", "svg.fonttype": "path", "path.simplify": True}):
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(theirs, format="svg", dpi=200, metadata=nothing)
    ours, expected = ET.fromstring(own), ET.fromstring(theirs.getvalue())  # noqa: S314  # our own bytes
    assert [node.tag for node in ours.iter()] == [node.tag for node in expected.iter()]
    groups = "{http://www.w3.org/2000/svg}g"
    assert [node.get("id") for node in ours.iter(groups)] == [node.get("id") for node in expected.iter(groups)]


def test_axes_or_figure_to_stream_or_path(tmp_path, drawn):
    ax = drawn["roc"]
    path = tmp_path / "roc.svg"
    plots.save(ax.figure, path, "svg")
    assert path.read_bytes() == saved(ax, "svg")


def test_svg_is_well_formed_and_refers_to_nothing_outside(drawn):
    root = ET.fromstring(saved(drawn["bayes_error"], "svg"))  # noqa: S314  # our own bytes
    links = [value for node in root.iter() for name, value in node.attrib.items() if name.endswith("href")]
    assert links
    assert all(link.startswith("#") for link in links)
    assert not list(root.iter("{http://www.w3.org/2000/svg}text"))


def test_large_curves_stay_small_files():
    ax = plots.det([gaussian(f"{i}", n_tar=20_000, n_non=50_000, seed=i) for i in range(3)])
    assert len(saved(ax, "svg")) < 400_000


def test_unknown_format(drawn):
    with pytest.raises(InputError, match="'gif' is not among svg, png, pdf"):
        saved(drawn["roc"], "gif")


@pytest.fixture
def no_other_fonts(monkeypatch):
    """As on a machine that has nothing but matplotlib's own font."""
    own = [entry for entry in font_manager.fontManager.ttflist if entry.name.startswith("DejaVu")]
    monkeypatch.setattr(files.fontManager, "ttflist", own)


@pytest.mark.usefixtures("no_other_fonts")
def test_letters_that_no_font_has():
    ax = plots.tippett(gaussian("日本語"))
    svg = ET.fromstring(saved(ax, "svg"))  # noqa: S314  # our own bytes
    assert "日本語" in [node.text for node in svg.iter("{http://www.w3.org/2000/svg}text")]
    with pytest.warns(DecibanWarning, match="PNG shows boxes"):
        assert saved(ax, "png").startswith(MAGIC["png"])


def test_other_warnings_are_passed_on(system, monkeypatch):
    ax = plots.roc(system)
    monkeypatch.setattr(ax.figure, "savefig", lambda *_, **__: warnings.warn("collapsed", UserWarning, stacklevel=2))
    with pytest.warns(UserWarning, match="collapsed"):
        saved(ax, "png")


def test_fonts_are_added_for_letters_that_the_first_lacks(monkeypatch):
    have = font_manager.FontProperties(size=9).get_family()
    assert files.families_for(["plain"], 9).get_family() == have

    class Font:
        def __init__(self, characters):
            self.characters = {ord(c): 1 for c in characters}

        def get_charmap(self):
            return self.characters

    entries = {"Last Resort HE": "字語", "Useless": "a", "Some": "字", "Both": "字語"}
    listed = [font_manager.FontEntry(fname=name, name=name) for name in entries]
    monkeypatch.setattr(files.fontManager, "ttflist", listed)
    monkeypatch.setattr(files, "findfont", lambda _: "default")
    monkeypatch.setattr(files, "get_font", lambda name: Font(entries.get(name, "abc")))
    assert files.families_for(["ab字", "語"], 9).get_family() == [*have, "Some", "Both"]
