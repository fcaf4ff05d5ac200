"""What all pictures of many classes share."""

import dataclasses
import functools
import io

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text

from deciban import plots
from deciban.errors import InputError
from deciban.evaluation import ClassResults, evaluate_classes
from support.evaluated import recognizer

ALL = pytest.mark.parametrize("kind", plots.CLASS_KINDS)
ONE_SYSTEM = {"confusion", "pairwise_loss", "class_ape", "simplex"}
SEVERAL = pytest.mark.parametrize("kind", [kind for kind in plots.CLASS_KINDS if kind not in ONE_SYSTEM])


def draw(kind, result, **kwargs):
    return getattr(plots, kind)(result, **kwargs)


def texts_of(figure):
    return [text.get_text() for text in figure.findobj(Text) if text.get_visible()]


def test_kinds_are_public_plots():
    assert set(plots.CLASS_KINDS) < set(plots.__all__)
    assert set(plots.CLASS_KINDS) & set(plots.KINDS) == {"reliability"}


@ALL
@pytest.mark.parametrize("n_classes", [2, 3, 30])
def test_two_to_thirty_classes_draw(kind, n_classes):
    """Warnings are errors here."""
    result = recognizer(n_classes)
    if kind == "subset_c_avg" and n_classes > 10:
        with pytest.raises(InputError, match=r"subsets of classes were not evaluated for 'sysA': 30 classes have too"):
            draw(kind, result)
        return
    if kind == "simplex" and n_classes in (2, 30):
        reason = (
            "2 classes, but a triangle needs three" if n_classes == 2 else "30 classes, but trials for plots are kept"
        )
        with pytest.raises(InputError, match=f"sysA: {reason}.*(kind=|evaluate_groups)"):
            draw(kind, result)
        return
    drawn = draw(kind, result)
    assert isinstance(drawn, Figure if kind == "class_ape" else Axes)
    drawn.figure.draw_without_rendering()
    for ax in drawn.figure.axes:
        assert np.all(np.isfinite([*ax.get_xlim(), *ax.get_ylim()]))


@ALL
def test_evaluations_and_results_draw_the_same(kind):
    result = recognizer(4)
    drawn = [draw(kind, one).figure for one in (result, ClassResults((result,)))]
    first, second = ([line.get_xydata().tolist() for ax in figure.axes for line in ax.lines] for figure in drawn)
    assert first == second
    assert texts_of(drawn[0]) == texts_of(drawn[1])


@ALL
def test_the_same_plot_gives_the_same_bytes(kind):
    pages = []
    for _ in range(2):
        page = io.BytesIO()
        plots.save(draw(kind, recognizer(3)), page, "svg")
        pages.append(page.getvalue())
    assert pages[0] == pages[1]
    assert pages[0].startswith(b"<?xml")


@pytest.mark.parametrize("kind", [kind for kind in plots.CLASS_KINDS if kind != "class_ape"])
def test_axes_of_the_user_are_used(kind):
    figure = Figure(figsize=(11, 5), layout="constrained")
    left, right = figure.subplots(1, 2)
    assert draw(kind, recognizer(5), ax=right) is right
    figure.draw_without_rendering()
    assert figure.get_size_inches().tolist() == [11, 5]
    assert not left.has_data()


@ALL
def test_infinite_scores_draw(kind):
    """One class is ruled out where it is true: its Cllr, and those of its pairs, are infinite."""
    inf = np.inf
    loglik = [[2.0, 0.0, -1.0], [-inf, 1.0, 0.0], [0.0, 1.0, -inf], [0.0, inf, 1.0], [0.0, 0.5, 1.5], [1.0, 0.0, 0.5]]
    result = evaluate_classes(loglik, [0, 0, 1, 1, 2, 2])
    assert np.isinf(result.detection.cllr[0])
    drawn = draw(kind, result)
    plots.save(drawn, io.BytesIO(), "svg")
    if kind in {"pairwise_loss", "class_losses", "class_ape"}:
        assert any("∞" in text for text in texts_of(drawn.figure))


@ALL
@pytest.mark.parametrize("sign", [1.0, -1.0, 0.0])
def test_perfect_useless_and_wrong_recognizers_draw(kind, sign):
    draw(kind, sure(sign)).figure.draw_without_rendering()


@functools.cache
def sure(sign):
    label = np.repeat(np.arange(3), 5)
    return evaluate_classes(sign * 40.0 * np.eye(3)[label], label)


@ALL
def test_names_are_drawn_as_they_are(kind):
    names = ("a$b$ c_d^2", r"back\alpha", "_hidden", "x" * 60, "nul\x00")
    shown_names = {*names[:3], "x" * 10 + "…" + "x" * 11, "nul\ufffd"}
    if kind == "simplex":
        names, shown_names = names[:3], set(names[:3])
    figure = draw(kind, recognizer(len(names), names=names)).figure
    figure.draw_without_rendering()
    drawn = [text for text in figure.findobj(Text) if text.get_text()]
    shown = [Text._preprocess_math(text, text.get_text()) for text in drawn]
    assert all("C_\\mathrm" in text for text, is_math in shown if is_math)
    if kind not in {"c_avg_curve", "subset_c_avg", "reliability"}:
        plain = {text.strip("\u200a") for text, is_math in shown if not is_math}
        assert shown_names <= plain


@SEVERAL
def test_each_system_has_one_colour_in_all_plots(kind):
    ax = draw(kind, [recognizer(4), recognizer(4, "sysB", scale=3.0), recognizer(4, "sysA", scale=0.3)])
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts[:3] == ["sysA", "sysB", "sysA #2"]
    handles, labels = ax.get_legend_handles_labels()
    first = [handle for handle, label in zip(handles, labels, strict=True) if label in texts[:3]]
    colors = [h.get_color() if hasattr(h, "get_color") else h.patches[0].get_facecolor() for h in first]
    assert [to_hex(color).upper() for color in colors] == plots.system_colors(3)


@pytest.mark.parametrize("kind", sorted(ONE_SYSTEM))
def test_plots_of_one_system_refuse_several(kind):
    with pytest.raises(InputError, match="2 systems, but this plot shows one. Draw them one by one"):
        draw(kind, ClassResults((recognizer(3), recognizer(3, "sysB"))))


@ALL
def test_something_else_than_results(kind):
    with pytest.raises(InputError, match=r"expected (a )?ClassEvaluation"):
        draw(kind, "abc")
    if kind != "confusion":
        with pytest.raises(InputError, match="there is no system to draw"):
            draw(kind, [])


@SEVERAL
def test_systems_on_other_classes_are_refused(kind):
    other = recognizer(3, "sysB", names=("cat", "dog", "eel"))
    with pytest.raises(InputError, match="'sysB' has the classes cat, dog, eel, 'sysA' has 0, 1, 2"):
        draw(kind, [recognizer(3), other])


@pytest.mark.parametrize("kind", ["class_ape", "c_avg_curve"])
def test_before_is_of_the_same_systems(kind):
    with pytest.raises(InputError, match="before: 2 systems, but 1 after calibration"):
        draw(kind, recognizer(3), before=[recognizer(3), recognizer(3)])
    renamed = dataclasses.replace(recognizer(3), classes=("cat", "dog", "eel"))
    with pytest.raises(
        InputError, match="before: the classes are cat, dog, eel, but after calibration they are 0, 1, 2"
    ):
        draw(kind, recognizer(3), before=renamed)
