"""Average detection cost over the target prior, and of all subsets."""

import dataclasses
from itertools import combinations

import numpy as np
import pytest

from deciban import multiclass, plots
from support.evaluated import class_trials, open_set, recognizer


def of_gid(ax, gid):
    return [line for line in ax.lines if line.get_gid() == gid]


def with_costs(result, **fields):
    return dataclasses.replace(result, subsets=dataclasses.replace(result.subsets, **fields))


def dots(ax, color):
    """Dots of one system, in drawing order."""
    found = [
        line for line in ax.lines if line.get_color() == color and line.get_marker() == "o" and len(line.get_xdata())
    ]
    return found[0].get_xydata()


def test_curves_and_the_cost_of_no_information():
    systems = [recognizer(4), recognizer(4, "sysB", scale=5.0)]
    ax = plots.c_avg_curve(systems)
    for line, system in zip(ax.lines, systems, strict=False):
        assert line.get_label() == system.name
        np.testing.assert_array_equal(line.get_xdata(), system.curves.prior_log_odds)
        np.testing.assert_array_equal(line.get_ydata(), system.curves.c_avg)
        assert np.interp(0.0, *line.get_data()) == pytest.approx(system.c_avg)
    (default,) = [line for line in ax.lines if line.get_linestyle() == ":" and len(line.get_xdata())]
    p = 1 / (1 + np.exp(-default.get_xdata()))
    np.testing.assert_allclose(default.get_ydata(), np.minimum(p, 1 - p), atol=1e-15)
    assert default.get_ydata().max() == 0.5
    (top,) = ax.child_axes
    assert top.get_xlabel() == "Prior probability of a target"
    assert "nats" in ax.get_xlabel()
    assert "(%)" in ax.get_ylabel()


def test_before_is_pale_and_of_the_same_colour():
    after, before = recognizer(4), recognizer(4, scale=5.0)
    ax = plots.c_avg_curve(after, before=before, lw=3)
    pale, main = ax.lines[:2]
    np.testing.assert_array_equal(pale.get_ydata(), before.curves.c_avg)
    np.testing.assert_array_equal(main.get_ydata(), after.curves.c_avg)
    assert pale.get_color() == main.get_color()
    assert (pale.get_alpha(), main.get_linewidth()) == (0.45, 3)
    assert "before calibration" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_curves_of_an_open_set_say_so_and_end():
    closed, opened = recognizer(4, "sysB"), open_set(4)
    ax = plots.c_avg_curve([opened, closed])
    line, other = ax.lines[:2]
    np.testing.assert_array_equal(line.get_ydata(), opened.curves.c_avg)
    assert 1.2 < line.get_xdata()[-1] < np.log(0.8 / 0.2)
    assert other.get_xdata()[-1] == 7
    assert [line.get_label(), other.get_label()] == ["sysA (open set, 0.2 out of set)", "sysB"]
    assert ax.get_xlim() == (-7, 7)


def test_every_subset_is_a_dot_near_its_size():
    result = recognizer(6)
    ax = plots.subset_c_avg(result)
    loglik, label = class_trials(6)
    expected = {}
    for size in range(2, 7):
        for some in combinations(range(6), size):
            inside = np.isin(label, some)
            part = loglik[inside][:, some]
            expected[some] = multiclass.c_avg(part, np.searchsorted(some, label[inside]))
    points = dots(ax, plots.system_colors(1)[0])
    assert len(points) == 2**6 - 6 - 1 - 1
    sizes = np.rint(points[:, 0]).astype(int)
    assert np.abs(points[:, 0] - sizes).max() < 0.45
    for size in range(2, 6):
        values = sorted(value for some, value in expected.items() if len(some) == size)
        np.testing.assert_allclose(sorted(points[sizes == size, 1]), values, atol=1e-12)
        (mean,) = [line for line in of_gid(ax, "mean") if np.mean(line.get_xdata()) == pytest.approx(size)]
        assert mean.get_ydata() == pytest.approx([np.mean(values)] * 2)
    (star,) = of_gid(ax, "all classes")
    assert star.get_xydata() == pytest.approx(np.array([[6.0, expected[tuple(range(6))]]]))
    assert len(of_gid(ax, "mean")) == 4
    assert "(%)" in ax.get_ylabel()
    assert ax.get_xticks().tolist() == [2, 3, 4, 5, 6]


def named_pairs(ax):
    """Hardest pairs in the legend, with their colours."""
    handles, labels = ax.get_legend_handles_labels()
    return {
        label.removeprefix("hardest pair: "): handle.get_color()
        for handle, label in zip(handles, labels, strict=True)
        if label.startswith("hardest pair: ")
    }


def test_the_hardest_pair_is_named():
    result = recognizer(4, names=("ant", "bee", "cat", "dog"))
    pairs = {(i, j): multiclass.c_avg(*pair_of(i, j)) for i, j in combinations(range(4), 2)}
    i, j = max(pairs, key=pairs.get)
    ax = plots.subset_c_avg(result)
    assert list(named_pairs(ax)) == [f"{result.classes[i]}, {result.classes[j]}"]


def hardest(value, pair):
    """A recognizer with this cost of every subset of 8 classes, and more of one pair."""
    result = recognizer(8)
    at = next(k for k in range(len(result.subsets.value)) if set(result.subsets.members(k)) == set(pair))
    values = np.full(len(result.subsets.value), value)
    values[at] *= 1.01
    return with_costs(result, value=values)


def test_the_hardest_pairs_of_several_systems_are_named_in_their_colours():
    systems = [hardest(0.1 - 0.01 * k, (k, k + 1)) for k in range(3)]
    one_by_one = None
    for system in systems:
        one_by_one = plots.subset_c_avg(system, one_by_one)
    for ax in (plots.subset_c_avg(systems), one_by_one):
        assert named_pairs(ax) == {f"{k}, {k + 1}": color for k, color in enumerate(plots.system_colors(3))}


def test_a_pair_that_several_find_hardest_is_named_once():
    ax = plots.subset_c_avg([hardest(0.1, (2, 5)), hardest(0.2, (2, 5))])
    (color,) = named_pairs(ax).values()
    assert color not in plots.system_colors(2)


def pair_of(i, j):
    loglik, label = class_trials(4)
    inside = np.isin(label, (i, j))
    return loglik[inside][:, [i, j]], (label[inside] == j).astype(int)


def test_systems_stand_side_by_side():
    ax = plots.subset_c_avg([recognizer(5), recognizer(5, "sysB", scale=6.0)])
    left, right = (dots(ax, color) for color in plots.system_colors(2))
    for size in range(2, 5):
        one, two = (part[np.abs(part[:, 0] - size) < 0.5, 0] for part in (left, right))
        assert one.max() <= size <= two.min()
    assert len(of_gid(ax, "all classes")) == 2


def test_dots_of_one_cost_spread_evenly():
    result = recognizer(8)
    same = with_costs(result, value=np.full(len(result.subsets.value), 0.1))
    points = dots(plots.subset_c_avg(same), plots.system_colors(1)[0])
    at = np.sort(points[np.abs(points[:, 0] - 4) < 0.5, 0])
    assert len(at) == 70
    gaps = np.diff(at)
    assert 0.7 < at[-1] - at[0] < 0.86
    assert gaps.max() < 4 * (at[-1] - at[0]) / 70


def test_sixteen_thousand_subsets_are_one_image():
    n_classes = 14
    mask = np.array([m for m in range(2**n_classes) if m.bit_count() >= 2])
    size = np.bitwise_count(mask).astype(int)
    order = np.argsort(size, kind="stable")
    value = np.random.default_rng(0).beta(3, 30, len(mask))
    costs = dataclasses.replace(recognizer(3).subsets, value=value, mask=mask[order], size=size[order], classes=None)
    names = tuple(f"language {k}" for k in range(n_classes))
    result = dataclasses.replace(recognizer(3), classes=names, subsets=costs)
    ax = plots.subset_c_avg(result)
    (drawn,) = [line for line in ax.lines if len(line.get_xdata()) == 16368]
    assert drawn.get_rasterized()
    assert ax.get_ylim()[1] > value.max()


def test_perfect_recognizers_have_room():
    result = recognizer(3)
    ax = plots.subset_c_avg(with_costs(result, value=np.zeros(4)))
    assert ax.get_ylim()[0] < 0 < ax.get_ylim()[1]
