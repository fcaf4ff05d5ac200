"""The zoo shows the means of speakers, their quartiles, and how many lie in each corner."""

import numpy as np
import pytest

from deciban import InputError, plots
from deciban.evaluation import menagerie


def of_system(name, seed=0):
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, 20, (600, 2))
    is_target = pairs[:, 0] == pairs[:, 1]
    return menagerie(rng.normal(3.0 * is_target, 1.0), is_target, pairs, name=name)


def test_dots_are_means_and_lines_quartiles():
    one = of_system("A")
    ax = plots.zoo(one)
    np.testing.assert_array_equal(ax.lines[0].get_xydata(), np.c_[one.tar_mean, one.non_mean])
    across = sorted(line.get_xdata()[0] for line in ax.lines[1:3])
    upwards = sorted(line.get_ydata()[0] for line in ax.lines[3:5])
    np.testing.assert_allclose(across, np.percentile(one.tar_mean, [25, 75]))
    np.testing.assert_allclose(upwards, np.percentile(one.non_mean, [25, 75]))
    n_doves = np.sum((one.tar_mean > across[1]) & (one.non_mean < upwards[0]))
    assert f"doves: {n_doves}" in [text.get_text() for text in ax.texts]


def test_ten_systems_have_no_corners():
    ax = plots.zoo([of_system(f"system {k}", k) for k in range(10)])
    assert len([line for line in ax.lines if len(line.get_xdata())]) == 10
    assert not ax.texts


@pytest.mark.parametrize(("given", "words"), [([], "no system"), ([1.0], "got float")])
def test_what_is_no_zoo_is_refused(given, words):
    with pytest.raises(InputError, match=words):
        plots.zoo(given)
