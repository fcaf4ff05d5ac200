"""Coloured matrices: confusions, and losses of pairs."""

import dataclasses

import numpy as np
import pytest
from matplotlib.figure import Figure

from deciban import plots
from deciban.errors import InputError
from support.evaluated import class_trials, recognizer


def cells(mesh, shape):
    return np.ma.asarray(mesh.get_array()).reshape(shape)


def written(ax):
    """Texts by (row, column)."""
    return {(int(text.get_position()[1]), int(text.get_position()[0])): text.get_text() for text in ax.texts}


def test_confusion_shows_rates_of_true_classes():
    counts = [[8, 2, 0], [1, 0, 19], [0, 1, 3999]]
    ax = plots.confusion(counts, classes=["cat", "dog", "eel"])
    right, wrong = (cells(mesh, (3, 3)) for mesh in ax.collections)
    np.testing.assert_array_equal(right.mask, ~np.eye(3, dtype=bool))
    np.testing.assert_array_equal(wrong.mask, np.eye(3, dtype=bool))
    np.testing.assert_allclose(right.compressed(), [0.8, 0.0, 3999 / 4000])
    np.testing.assert_allclose(wrong.compressed(), [0.2, 0.0, 0.05, 0.95, 0.0, 1 / 4000])
    assert [mesh.get_clim() for mesh in ax.collections] == [(0.0, 1.0), (0.0, 0.95)]
    expected = [["80.0", "20.0", "0"], ["5.0", "0", "95.0"], ["0", "<.1", "99.9"]]
    assert written(ax) == {(i, j): expected[i][j] for i in range(3) for j in range(3)}
    assert [label.get_text() for label in ax.get_yticklabels()] == ["cat", "dog", "eel"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["cat", "dog", "eel"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Decision", "True class")
    assert ax.get_ylim() == (2.5, -0.5)
    _, wrong_scale, right_scale = ax.figure.axes
    assert wrong_scale.get_ylabel() == "Wrong (% of true class)"
    assert right_scale.get_ylabel() == "Right (% of true class)"


def test_confusion_shows_counts_and_weights():
    ax = plots.confusion([[12345, 2], [0, 1.25]], show="counts")
    assert written(ax) == {(0, 0): "12,345", (0, 1): "2", (1, 0): "0", (1, 1): "1.25"}


def test_confusion_of_an_evaluation_has_the_true_class_in_rows():
    """Counted again, trial by trial."""
    loglik, label = class_trials(4)
    counts = np.zeros((4, 4), int)
    for row, truth in zip(loglik, label, strict=True):
        counts[truth, int(np.argmax(row))] += 1
    texts = written(plots.confusion(recognizer(4), show="counts"))
    assert texts == {(i, j): str(counts[i, j]) for i in range(4) for j in range(4)}
    assert (counts != counts.T).any()


def test_confusion_may_have_more_decisions_than_classes():
    ax = plots.confusion([[6, 1, 3], [0, 8, 2]], decisions=["cat", "dog", "reject"])
    assert written(ax)[0, 2] == "30.0"
    assert [label.get_text() for label in ax.get_xticklabels()] == ["cat", "dog", "reject"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["0", "1"]


def test_confusion_leaves_classes_without_trials_empty():
    assert {row for row, _ in written(plots.confusion([[3, 1], [0, 0]]))} == {0}


@pytest.mark.parametrize(
    ("counts", "kwargs", "message"),
    [
        ([1, 2], {}, "numbers of trials with a row for each class, got int64 of shape"),
        ([["a", "b"], ["c", "d"]], {}, "numbers of trials with a row for each class"),
        ([[1, -1], [0, 1]], {}, "finite and at least 0"),
        ([[1, np.nan], [0, 1]], {}, "finite and at least 0"),
        ([[1], [2]], {}, "2 classes but 1 decisions"),
        ([[1, 2, 3], [1, 2, 3]], {}, "3 decisions for 2 classes. Name all of them"),
        ([[1, 2], [1, 2]], {"decisions": ["a"]}, "1 names for 2 columns"),
        ([[1, 2], [1, 2]], {"classes": ["a"]}, "1 names for 2 classes"),
        ([[1, 2], [1, 2]], {"show": "percent"}, "'percent' is not 'rates' or 'counts'"),
    ],
)
def test_confusion_refuses(counts, kwargs, message):
    with pytest.raises(InputError, match=message):
        plots.confusion(counts, **kwargs)


def test_pairs_show_discrimination_below_and_calibration_above_the_diagonal():
    result = recognizer(4, scale=3.0)
    ax = plots.pairwise_loss(result)
    low, high = (cells(mesh, (4, 4)) for mesh in ax.collections)
    pairs = result.pairwise
    for i in range(4):
        for j in range(4):
            assert low.mask[i, j] == (j >= i)
            assert high.mask[i, j] == (j <= i)
            if j < i:
                assert low[i, j] == pairs.min_cllr[i, j]
                assert low[i, j] + high[j, i] == pytest.approx(pairs.cllr[i, j])
    top = max(low.max(), high.max())
    assert [mesh.get_clim() for mesh in ax.collections] == [(0.0, top)] * 2
    assert set(written(ax)) == {(i, j) for i in range(4) for j in range(4) if i != j}
    i, j = np.unravel_index(np.argmax(np.tril(pairs.min_cllr, -1)), (4, 4))
    assert 0.001 < pairs.min_cllr[i, j] < 1
    assert written(ax)[i, j] == f"{pairs.min_cllr[i, j]:.3f}"[1:]
    assert all("bits" in scale.get_ylabel() for scale in ax.figure.axes[1:])


def test_pairs_before_and_after_can_have_one_scale():
    ax = plots.pairwise_loss(recognizer(3), top=2.5)
    assert [mesh.get_clim() for mesh in ax.collections] == [(0.0, 2.5)] * 2
    for top in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(InputError, match="top: got"):
            plots.pairwise_loss(recognizer(3), top=top)


def test_infinite_losses_are_dark_and_do_not_stretch_the_scale():
    result = recognizer(3)
    cllr = result.pairwise.cllr.copy()
    cllr[0, 1] = cllr[1, 0] = np.inf
    ax = plots.pairwise_loss(dataclasses.replace(result, pairwise=dataclasses.replace(result.pairwise, cllr=cllr)))
    assert np.isfinite(ax.collections[0].get_clim()).all()
    assert written(ax)[0, 1] == "∞"
    color = ax.collections[1].to_rgba(cells(ax.collections[1], (3, 3)))[0, 1]
    assert max(color[:3]) < 0.2


@pytest.mark.parametrize("n_classes", [2, 3, 14, 30])
def test_numbers_stand_inside_their_cells_and_can_be_read(n_classes):
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 50, (n_classes, n_classes)) + 2000 * np.eye(n_classes, dtype=int)
    ax = plots.confusion(counts, classes=[f"language number {k}" for k in range(n_classes)])
    ax.figure.draw_without_rendering()
    width = ax.get_window_extent().width / n_classes
    assert len(ax.texts) == n_classes**2
    assert max(text.get_window_extent().width for text in ax.texts) < width
    assert min(text.get_fontsize() for text in ax.texts) >= 5


def test_numbers_that_could_not_be_read_are_left_out():
    ax = Figure(figsize=(2, 2)).add_subplot()
    plots.confusion(np.eye(30, dtype=int), ax)
    assert not ax.texts
    assert cells(ax.collections[0], (30, 30)).count() == 30
