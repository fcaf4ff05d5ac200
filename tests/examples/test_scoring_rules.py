"""The comparison of scoring rules, in a small setting."""

import re
import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "scoring_rules_for_calibration.py"


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(SCRIPT))


def test_it_prints_a_table_and_draws_a_picture(script, tmp_path, capsys):
    picture = tmp_path / "rules.svg"
    script["main"](["-o", str(picture), "--n-tar", "300", "--n-non", "9000", "--priors", "4"])
    told = capsys.readouterr().out
    assert f"wrote {picture}" in told
    assert picture.read_bytes().startswith(b"<?xml")
    least = {line.split("  ")[0]: float(re.search(r"0\.\d{3}", line)[0]) for line in told.splitlines()[1:6]}
    # What the paper found, and the example is there to show.
    assert least["no affine map: PAV"] <= least["(2, 1)"] < least["logarithmic (1, 1)"] < least["boosting (½, ½)"]


def test_the_documentation_shows_a_small_picture():
    shown = (SCRIPT.parents[1] / "docs" / "images" / "scoring-rules.svg").read_text()
    assert len(shown) < 60_000
    page = (SCRIPT.parents[1] / "docs" / "calibration.md").read_text()
    assert "images/scoring-rules.svg" in page
    assert f"../examples/{SCRIPT.name}" in page


def test_it_compares_the_rules_of_the_paper(script):
    assert script["RULES"].keys() == {(1.0, 1.0), (2.0, 1.0), (2.0, 2.0), (0.5, 0.5)}
