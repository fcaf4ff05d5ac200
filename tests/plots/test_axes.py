"""What all plots share: colours, labels, legends, limits."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from deciban import plots
from deciban.errors import InputError
from deciban.evaluation import Results, evaluate
from support.evaluated import gaussian

ALL = pytest.mark.parametrize("kind", plots.KINDS)


def draw(kind, result, ax=None, **line_kw):
    return getattr(plots, kind)(result, ax, **line_kw)


def main_lines(ax, *names):
    """The lines that carry the name of a system, perhaps with a note."""
    lines = {name: [line for line in ax.lines if str(line.get_label()).startswith(name)] for name in names}
    assert all(len(found) == 1 for found in lines.values()), lines
    return [found[0] for found in lines.values()]


def legend_texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_kinds_are_the_public_plots():
    assert plots.KINDS == ("det", "bayes_error", "ape", "ece", "histogram", "pav", "tippett", "roc", "reliability")
    assert set(plots.KINDS) < set(plots.__all__)


def test_no_pyplot():
    """Its global state has no place in a library, and its windows none on a server."""
    sources = list(Path(plots.__file__).parent.glob("*.py"))
    assert len(sources) > 5
    lines = [line.split() for path in sources for line in path.read_text("utf-8").splitlines()]
    imported = {words[1] for words in lines if words[:1] in (["import"], ["from"])}
    assert "matplotlib.figure" in imported
    assert "matplotlib.pyplot" not in imported


@ALL
def test_evaluation_and_results_draw_the_same(kind, system, drawn):
    one = drawn[kind]
    others = [draw(kind, Results((system,))), getattr(system.plot, kind)()]
    points = [[line.get_xydata().tolist() for line in ax.lines] for ax in (one, *others)]
    assert len(points[0]) > 2
    assert all(p == points[0] for p in points[1:])


@ALL
def test_each_system_has_one_colour_in_all_plots(kind, systems):
    ax = draw(kind, systems)
    assert [line.get_color() for line in main_lines(ax, "sysA", "sysB", "sysC")] == plots.system_colors(3)
    assert legend_texts(ax)[:3] == ["sysA", "sysB", "sysC"]


@ALL
def test_a_system_drawn_later_gets_the_next_colour_and_is_not_cut_off(kind, system, drawn):
    other = gaussian("other", 1.0, scale=4.0)
    ax, before = draw(kind, other), drawn[kind]
    low = np.minimum([ax.get_xlim()[0], ax.get_ylim()[0]], [before.get_xlim()[0], before.get_ylim()[0]])
    high = np.maximum([ax.get_xlim()[1], ax.get_ylim()[1]], [before.get_xlim()[1], before.get_ylim()[1]])
    assert draw(kind, system, ax) is ax
    assert np.all([ax.get_xlim()[0], ax.get_ylim()[0]] <= low)
    assert np.all([ax.get_xlim()[1], ax.get_ylim()[1]] >= high)
    assert [line.get_color() for line in main_lines(ax, "other", "sysA")] == plots.system_colors(2)
    texts = legend_texts(ax)
    assert texts[:2] == ["other", "sysA"]
    assert len(texts) == len(set(texts))
    assert len(ax.child_axes) == (kind in {"bayes_error", "ape", "ece"})


def test_systems_of_one_name_are_numbered():
    one, two = evaluate([1.0], [0.0]), evaluate([2.0], [0.5])
    assert legend_texts(two.plot.tippett(one.plot.tippett()))[:2] == ["system", "system #2"]
    assert legend_texts(plots.tippett([one, two]))[:2] == ["system", "system #2"]


@ALL
def test_line_keywords_style_the_main_line(kind, system):
    ax = draw(kind, system, c="#123456", lw=3.5, label="mine")
    (line,) = main_lines(ax, "mine")
    assert (line.get_color(), line.get_linewidth()) == ("#123456", 3.5)
    thin = next(line for line in ax.lines if line.get_color() == "#123456" and line.get_label() != "mine")
    assert thin.get_linewidth() != 3.5


@pytest.mark.parametrize("kind", ["det", "bayes_error", "pav"])
def test_axes_of_the_user_are_used_and_their_figure_is_left_alone(kind, systems):
    figure = Figure(figsize=(9, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    assert draw(kind, systems, right) is right
    figure.draw_without_rendering()
    assert figure.get_size_inches().tolist() == [9, 4]
    assert not left.lines
    frame, legend = right.get_window_extent(), right.get_legend().get_window_extent()
    assert frame.width > 100
    assert frame.y0 <= legend.y0
    assert legend.y1 <= frame.y1


@ALL
def test_axes_name_their_units(kind, drawn):
    ax = drawn[kind]
    units = {"det": "%%", "roc": "%%", "bayes_error": "n1", "ape": "n%", "ece": "nb", "tippett": "n%"}
    marks = {"%": "(%)", "n": "nats", "b": "(bits)", "1": "1 = without scores"}
    if kind in units:
        assert marks[units[kind][0]] in ax.get_xlabel()
        assert marks[units[kind][1]] in ax.get_ylabel()
    elif kind == "reliability":
        assert ax.get_xlabel() == "Posterior probability of a target, at prior 0.5"
        assert ax.get_ylabel() == "Share of targets (after PAV)"
    else:
        assert ax.get_xlabel() == "Score"
        assert ("nats" if kind == "pav" else "per unit of score") in ax.get_ylabel()


@ALL
def test_degenerate_sets_draw(kind, degenerate):
    """Warnings are errors here: nothing is divided by 0, overflows, or leaves no room."""
    alone = [[system] for system in degenerate if system.name in {"all equal", "all infinite"}]
    for systems in (*alone, degenerate):
        ax = draw(kind, systems)
        assert np.all(np.isfinite([*ax.get_xlim(), *ax.get_ylim()]))
        assert ax.get_xlim()[0] < ax.get_xlim()[1]
        assert ax.get_ylim()[0] < ax.get_ylim()[1]
    ax.figure.draw_without_rendering()


def test_names_are_drawn_as_they_are():
    names = ["a$b$ c_d^2", r"back\alpha", "_hidden", "<b>bold</b>", "Ünï ω", "tab\tand\nline", "nul\x00", ""]
    ax = plots.tippett([gaussian(name, n_tar=3, n_non=3) for name in names])
    texts = ax.get_legend().get_texts()
    shown = [Text._preprocess_math(text, text.get_text()) for text in texts[: len(names)]]
    assert not any(is_math for _, is_math in shown)
    wanted = [*names[:5], "tab and line", "nul\ufffd", "(unnamed)"]
    assert [text.strip("\u200a") for text, _ in shown] == wanted


def test_long_names_are_shortened_and_stay_different():
    names = ["x" * 60 + "tail", "x" * 70 + "tail", "short", "short"]
    ax = plots.tippett([gaussian(name, n_tar=3, n_non=3) for name in names])
    first, second, third, fourth = legend_texts(ax)[:4]
    assert len(first) <= 30
    assert first.startswith("xxx")
    assert first.endswith("tail")
    assert second == f"{first} #2"
    assert (third, fourth) == ("short", "short #2")


def test_colours_differ_for_many_systems():
    colors = plots.system_colors(18)
    assert len(set(colors)) == 18
    assert "#000000" not in colors


def test_the_legend_stands_outside_and_the_figure_grows_with_it(degenerate):
    few, many = plots.ece(gaussian("one")), plots.ece([gaussian(f"system {i}") for i in range(9)])
    for ax in (few, many, plots.det(degenerate)):
        ax.figure.draw_without_rendering()
        legend, frame = ax.get_legend().get_window_extent(), ax.get_window_extent()
        assert legend.y1 < frame.y0
        assert legend.y0 > 0
        assert frame.height > 200
    assert many.figure.get_figheight() > few.figure.get_figheight()


@pytest.mark.parametrize("result", [[], Results(())])
def test_nothing_to_draw(result):
    with pytest.raises(InputError, match="no system to draw"):
        plots.det(result)


def test_something_else_than_results():
    with pytest.raises(InputError, match="expected Evaluations, got float"):
        plots.det([1.0])


def test_unknown_kind():
    with pytest.raises(AttributeError, match="bayes_error"):
        evaluate([1.0], [0.0]).plot.pie()
