"""The reliability diagram, of two classes and of many."""

import numpy as np
import pytest

from deciban import InputError, plots
from deciban.evaluation import TwoClassMetrics, evaluate
from support.commands import terminal
from support.evaluated import gaussian, recognizer
from support.score_files import write_score_files


def named(ax, label):
    (found,) = [line for line in ax.lines if line.get_label() == label]
    return found


@pytest.mark.parametrize("result", [gaussian("sysA"), recognizer(4)], ids=["two", "many"])
def test_it_draws_the_numbers_of_the_result(result):
    ax, curve = plots.reliability(result), result.curves.reliability
    x, y = named(ax, "sysA").get_data()
    np.testing.assert_array_equal(x[::2], curve.low)
    np.testing.assert_array_equal(x[1::2], curve.high)
    np.testing.assert_array_equal(y[::2], curve.observed)
    assert np.all(np.diff(y) >= 0)
    steps = [line for line in ax.lines if line.get_drawstyle() == "steps-post"]
    drawn = np.array([line.get_ydata()[1:-1] for line in steps])
    heights = drawn - drawn.min()
    expected = np.array([curve.happened, curve.failed])
    np.testing.assert_allclose(heights / heights.max(), expected / expected.max(), atol=1e-12)
    assert drawn.max() < 0 <= curve.observed.min()
    assert ax.get_ylim()[0] < drawn.min()


def test_calibrated_scores_lie_near_the_diagonal():
    curve = gaussian("sysA", n_tar=20_000, n_non=20_000).curves.reliability
    middle = (curve.low + curve.high) / 2
    wide = (curve.low > 0.05) & (curve.high < 0.95)
    assert np.abs(middle - curve.observed)[wide].max() < 0.05


def test_the_prior_is_said():
    figures = TwoClassMetrics(posteriors_at=0.02)
    ax = plots.reliability(evaluate([1.0, 2.0, -1.0], [0.0, 1.0, -1.0], operating_points=figures))
    assert ax.get_xlabel() == "Posterior probability of a target, at prior 0.02"
    assert plots.reliability(recognizer(3)).get_xlabel().endswith("at flat prior")


def test_kinds_are_not_mixed():
    with pytest.raises(InputError, match="expected"):
        plots.reliability([gaussian("sysA"), recognizer(3)])
    with pytest.raises(InputError, match="expected"):
        plots.reliability([recognizer(3), gaussian("sysA")])


@pytest.mark.parametrize("words", ["scores.txt second.txt --key key.txt --posteriors-at 0.1", "classes.tsv"])
def test_from_the_command_line(words, tmp_path, monkeypatch, capsysbinary):
    write_score_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    code, _, err = terminal(monkeypatch, capsysbinary)(f"plot reliability {words} -o r.svg")
    assert code == 0, err
    assert (tmp_path / "r.svg").read_bytes().startswith(b"<?xml")


def test_the_band_of_up_to_three_systems_is_shaded():
    one = gaussian("sysA")
    band = one.curves.reliability.consistency()
    alone = plots.reliability(one)
    (shaded,) = [each for each in alone.collections if each.get_alpha() == 0.15]
    corners = shaded.get_paths()[0].vertices
    assert {*zip(band.posterior, band.low, strict=True), *zip(band.posterior, band.high, strict=True)} <= {
        tuple(each) for each in corners.tolist()
    }
    assert "400 + 2,000 trials" in [text.get_text() for text in alone.texts]
    ten = plots.reliability([gaussian(f"system {k}") for k in range(10)])
    assert not ten.collections
    assert not [each for each in plots.reliability(one, bands=False).collections if each.get_alpha() == 0.15]
