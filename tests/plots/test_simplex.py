"""Decision regions in the simplex of three classes."""

import numpy as np
import pytest
from matplotlib.patches import Polygon
from matplotlib.path import Path
from matplotlib.text import Text
from scipy.special import softmax

from deciban import plots
from deciban.decisions import Application, bayes_decisions, combine_applications, error_costs
from deciban.errors import InputError
from deciban.evaluation import evaluate_classes
from deciban.plots.triangle import triangle_of
from support.evaluated import class_trials

CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 3**0.5 / 2]])


def regions(ax):
    """Corners of the tinted regions by the name of their action."""
    return {p.get_gid(): p.get_xy() for p in ax.patches if isinstance(p, Polygon) and p.get_gid() is not None}


def area(corners):
    """Shoelace formula, as a share of the whole triangle."""
    x, y = corners.T
    return abs(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1])) / 2 / (3**0.5 / 4)


def c_avg_application():
    detectors = [Application([1.0 - t, t], 0.5 * t + 0.25 * (1 - t)) for t in np.eye(3)]
    return combine_applications(detectors, weights=[1 / 3] * 3)


RANDOM = [Application(np.random.default_rng(seed).uniform(0, 3, (5, 3))) for seed in range(6)]


@pytest.mark.parametrize("application", [Application(error_costs(3)), c_avg_application(), *RANDOM])
def test_regions_are_where_bayes_decisions_say(application):
    """Regions fill the triangle, and 2000 random posteriors lie in the region of their Bayes decision."""
    names = [f"action {k}" for k in range(application.n_actions)]
    found = regions(plots.simplex(application, actions=names))
    assert sum(map(area, found.values())) == pytest.approx(1.0)
    q = np.random.default_rng(0).dirichlet(np.ones(3), 2000)
    decisions = bayes_decisions(np.log(q), costs=application.costs)
    assert {names[k] for k in np.unique(decisions)} <= set(found)
    for name, corners in found.items():
        inside = Path(corners).contains_points(q[decisions == names.index(name)] @ CORNERS, radius=1e-9)
        other_way = Path(corners).contains_points(q[decisions == names.index(name)] @ CORNERS, radius=-1e-9)
        assert np.all(inside | other_way)


def test_regions_of_c_eta_meet_at_eta():
    """Thesis 8.12 and the right half of figure 8.1."""
    eta = np.array([0.5, 0.3, 0.2])
    found = regions(plots.simplex(Application((1 - np.eye(3)) / (2 * eta))))
    assert set(found) == {"class 0", "class 1", "class 2"}
    for corners in found.values():
        assert np.abs(corners - eta @ CORNERS).sum(axis=1).min() < 1e-12


def test_regions_of_c_avg_are_six():
    """The left half of figure 8.1: nobody or everybody is accepted nowhere but in the middle."""
    assert len(regions(plots.simplex(c_avg_application()))) == 6


def test_ties_go_to_the_lowest_action():
    twice = regions(plots.simplex(Application(error_costs(3)[[0, 0, 1, 2]])))
    assert set(twice) == {"action 0", "action 2", "action 3"}


@pytest.mark.parametrize("prior", [None, [0.7, 0.2, 0.1], [0.5, 0.5, 0.0]])
def test_trials_lie_at_their_posteriors(prior):
    loglik, label = class_trials(3)
    ax = plots.simplex(Application(error_costs(3), prior), loglik=loglik, label=label, classes=["ant", "bee", "cat"])
    weights = np.full(3, 1 / 3) if prior is None else np.array(prior)
    posterior = weights * np.exp(loglik - loglik.max(axis=1, keepdims=True))
    posterior /= posterior.sum(axis=1, keepdims=True)
    drawn = [line for line in ax.lines if line.get_marker() == "." and len(line.get_xdata())]
    assert [line.get_color() for line in drawn] == plots.system_colors(3)
    for k, line in enumerate(drawn):
        np.testing.assert_allclose(line.get_xydata(), posterior[label == k] @ CORNERS, atol=1e-12)
    (cross,) = [line for line in ax.lines if line.get_gid() == "prior"]
    np.testing.assert_allclose(cross.get_xydata()[0], weights @ CORNERS)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["ant", "bee", "cat", "prior"]


def test_trials_without_labels_and_with_infinite_scores():
    ax = plots.simplex(Application(error_costs(3)), loglik=[[np.inf, 0, 0], [0, -np.inf, 0], [0, 0, -np.inf]], ms=9)
    (drawn,) = [line for line in ax.lines if line.get_marker() == "." and len(line.get_xdata())]
    np.testing.assert_allclose(drawn.get_xydata(), [[0, 0], (CORNERS[0] + CORNERS[2]) / 2, [0.5, 0]], atol=1e-15)
    assert drawn.get_markersize() == 9
    ax.figure.draw_without_rendering()


def test_scales_stand_where_posteriors_are():
    ax = plots.simplex(Application(error_costs(3)))
    lines = [line.get_xydata() for line in ax.lines if line.get_gid() == "scale"]
    assert len(lines) == 12
    inverse = np.linalg.inv(np.column_stack([CORNERS, np.ones(3)]))
    for k in range(3):
        for i, value in enumerate((0.2, 0.4, 0.6, 0.8)):
            ends = np.column_stack([lines[4 * k + i], np.ones(2)]) @ inverse
            np.testing.assert_allclose(ends[:, k], value)
    labels = [text.get_text() for text in ax.texts]
    assert [labels.count(f"{value:g}") for value in (0.2, 0.4, 0.6, 0.8)] == [3, 3, 3, 3]


def test_names_of_actions_stand_in_their_regions_or_in_the_legend():
    costs = [[0, 1, 1], [1, 0, 1], [1, 1, 0], [0.66, 0.66, 0.66]]
    names = ["ant", "bee", "cat", "say nothing"]
    ax = plots.simplex(Application(costs), actions=names)
    in_place = {text.get_text(): text.get_position() for text in ax.texts}
    found = regions(ax)
    for name in names[:3]:
        assert Path(found[name]).contains_point(in_place[name])
    assert "say nothing" not in in_place
    assert "say nothing" in [text.get_text() for text in ax.get_legend().get_texts()]
    # A name does not cover the cross of the prior.
    middle = plots.simplex(Application(error_costs(3, reject=0.3)), actions=names)
    (text,) = [text for text in middle.texts if text.get_text() == "say nothing"]
    assert np.hypot(*(text.get_position() - CORNERS.mean(axis=0))) > 0.05


@pytest.mark.parametrize(
    ("application", "kwargs", "message"),
    [
        (Application(error_costs(4)), {}, "4 classes, but a triangle has three corners"),
        (Application(error_costs(3)), {"classes": ["a", "b"]}, "2 names for 3 classes"),
        (Application(error_costs(3)), {"actions": ["a"]}, "1 names for 3 actions"),
        (Application(error_costs(3)), {"label": [0]}, "labels without log-likelihoods"),
        (Application(error_costs(3)), {"loglik": [[0.0, 1.0]]}, "loglik: "),
        (Application(error_costs(3)), {"loglik": [[0.0, 1.0, 2.0]], "label": [3]}, "label: "),
    ],
)
def test_refusals(application, kwargs, message):
    with pytest.raises(InputError, match=message):
        plots.simplex(application, **kwargs)


def test_an_evaluation_draws_its_trials_and_decisions():
    loglik, label = class_trials(3)
    prior = [0.6, 0.3, 0.1]
    found = evaluate_classes(loglik, label, classes=("cat", "dog", "eel"), prior=prior)
    drawn = plots.simplex(found)
    assert set(regions(drawn)) == {"cat", "dog", "eel"}
    dots = [line.get_xydata() for line in drawn.lines if line.get_marker() == "."]
    shown = np.concatenate([one for one in dots if len(one) > 1])
    expected = softmax(loglik + np.log(prior), axis=1) @ CORNERS
    assert len(shown) == len(expected)
    np.testing.assert_allclose(np.sort(shown, axis=0), np.sort(expected, axis=0), atol=1e-12)


def test_some_of_many_trials_are_drawn_whatever_their_order():
    rng = np.random.default_rng(0)
    label = rng.integers(0, 3, 7000)
    loglik = rng.normal(size=(7000, 3)) + 2.0 * np.eye(3)[label]
    order = rng.permutation(7000)
    some = evaluate_classes(loglik, label, subsets=False).curves.sample
    others = evaluate_classes(loglik[order], label[order], subsets=False).curves.sample
    np.testing.assert_array_equal(some[0], others[0])
    assert np.all(np.bincount(some[1]) <= 1000)
    assert np.all(np.bincount(some[1]) > 700)


def test_names_are_drawn_as_they_are_at_corners_in_regions_and_in_the_legend():
    loglik, label = class_trials(3)
    names = ["<script>", "β & $x_1$ [b]", r"_back\alpha$"]
    ax = plots.simplex(Application(error_costs(3)), loglik=loglik, label=label, classes=names)
    legend = ax.get_legend().get_texts()[:3]
    written = [[text for text in ax.texts if not text.get_text().startswith("0.")], legend]
    shown = [[Text._preprocess_math(text, text.get_text()) for text in some] for some in written]
    assert not any(is_math for some in shown for _, is_math in some)
    in_place, in_legend = ([text.strip("\u200a") for text, _ in some] for some in shown)
    assert in_legend == names
    assert sorted(in_place) == sorted(2 * names)


def confused():
    """Five classes of which b, d and e are alike, each as likely as its place says."""
    rng = np.random.default_rng(2)
    label = np.arange(2000) % 5
    alike = np.eye(5)
    alike[np.ix_([1, 3, 4], [1, 3, 4])] = 0.8
    np.fill_diagonal(alike, 1.0)
    loglik = rng.normal(size=(2000, 5)) + 3.0 * alike[label]
    return evaluate_classes(loglik, label, classes=list("abcde"), prior=[0.1, 0.2, 0.3, 0.1, 0.3]), loglik, label


def test_of_many_classes_the_three_that_are_confused_most_are_drawn():
    one, loglik, label = confused()
    assert triangle_of(one).classes == ("b", "d", "e")
    ax = plots.simplex(one)
    assert [text.get_text() for text in ax.get_legend().get_texts()][:3] == ["b", "d", "e"]
    chosen = triangle_of(one, ["e", "a", "c"])
    assert (chosen.at, chosen.classes) == ((4, 0, 2), ("e", "a", "c"))
    np.testing.assert_allclose(chosen.prior, [3 / 7, 1 / 7, 3 / 7])
    rows = {tuple(row) for row in loglik[np.isin(label, [4, 0, 2])][:, [4, 0, 2]]}
    assert {tuple(row) for row in chosen.trials[0]} <= rows
    assert len(chosen.trials[0]) == 1200  # all there are: up to 600 of each of five classes
    truth = {tuple(row[[4, 0, 2]]): k for row, k in zip(loglik, label, strict=True)}
    assert [chosen.at[k] for k in chosen.trials[1]] == [truth[tuple(row)] for row in chosen.trials[0]]


@pytest.mark.parametrize(
    ("classes", "words"),
    [(["a", "b"], "got a, b"), (["a", "b", "b"], "got a, b, b"), (["a", "b", "f"], "unknown class 'f'")],
)
def test_three_of_the_classes_are_asked_for(classes, words):
    with pytest.raises(InputError, match=rf"{words}\. Name three different ones of a, b, c, d, e"):
        plots.simplex(confused()[0], classes=classes)
