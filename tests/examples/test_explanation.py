"""Pictures of the pages that explain: they are drawn, shown, and their intervals are those of the pages."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "explanation"


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(ROOT / "examples" / "explanation.py"))


def test_half_of_the_intervals_by_trial_do_not_hold_and_most_by_speaker_do(script):
    by_speaker, by_trial = (script["auc_intervals"](40, by_speaker=speaker) for speaker in (True, False))
    np.testing.assert_array_equal(by_speaker[:, 0], by_trial[:, 0])
    assert script["holds"](by_speaker).mean() >= 0.85
    assert 0.3 < script["holds"](by_trial).mean() < 0.7


def test_the_truth_is_that_of_a_large_population(script):
    rng, n = np.random.default_rng(2), 400_000
    tar, non = 1 + rng.normal(0, np.sqrt(1 + script["SPREAD"] ** 2), n), -1 + rng.normal(size=n)
    assert np.mean(tar > non) == pytest.approx(script["AUC"], abs=0.003)


@pytest.mark.parametrize("name", ["weightings", "noise", "intervals"])
def test_pictures_are_small_and_shown(script, name):
    assert name in script
    shown = re.findall(
        r"!\[[^\]]{20,}\]\(\.\./images/explain-([a-z]+)\.svg\)", "".join(map(Path.read_text, PAGES.glob("*.md")))
    )
    assert name in shown
    assert (ROOT / "docs" / "images" / f"explain-{name}.svg").stat().st_size < 100_000


def test_it_draws(script, tmp_path, capsys):
    script["main"](["-o", str(tmp_path)])
    assert {path.stem for path in tmp_path.iterdir()} == {"explain-weightings", "explain-noise", "explain-intervals"}
    assert capsys.readouterr().out.count("wrote") == 3
