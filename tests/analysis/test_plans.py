"""Plans as texts and as JSON: they say what the numbers are."""

import json
import re

import pytest

from deciban import plan

from .test_pilots import crossed


@pytest.fixture(scope="module")
def scored():
    score, same, units, names = crossed(1)
    return {
        "tar": score[same], "non": score[~same], "tar_units": units[same], "non_units": units[~same],
        "tar_segments": names[same], "non_segments": names[~same],
    }  # fmt: skip


def test_the_sentences_say_what_the_designs_are(scored):
    found = plan(**scored, metric="eer", width=0.03)
    first, text = found.designs[0], "\n".join(found.lines)
    assert "40 units with 3 segments each, 120 target and 4,680 non-target trials: EER (ROCCH)" in found.lines[0]
    assert f"about {first.n_units:,} units with 3 segments each, {first.n_tar:,} target and {first.n_non:,}" in text
    assert "for a 95 % interval of EER (ROCCH) with a width of 3 percentage points (about ±1.5)" in text
    shares = [int(share) for share in re.findall(r"(\d+) % between", text)]
    assert 97 <= sum(shares) <= 102
    assert f"at least {found.endless:,} units" in text
    assert sum(found.shares.values()) == pytest.approx(1.0)


def test_the_text_ends_with_a_table_of_the_designs(scored):
    found = plan(**scored, metric="cllr", width=0.05, segments=[1, 3])
    heading, *rows = str(found).split("\n\n")[1].splitlines()
    assert heading.split("  ")[0].strip() == "units"
    assert [row.split()[:2] for row in rows] == [[f"{one.n_units:,}", f"{one.n_segments:g}"] for one in found.designs]
    assert len({len(row) for row in (heading, *rows)}) == 1


def test_a_difference_without_the_other_system_says_what_it_takes_it_for(scored):
    alone = plan(**scored, metric="act_dcf", difference=0.05, power=0.9)
    assert "to detect a difference of 0.05 in actDCF at" in alone.lines[1]
    assert "with power 0.9 at confidence level 95 %" in alone.lines[1]
    assert "independent errors" in alone.lines[-1]
    other = (scored["tar"] - 0.5, scored["non"])
    both = plan(**scored, metric="act_dcf", difference=0.05, power=0.9, second=other)
    assert "difference of actDCF" in both.lines[0]
    assert "independent errors" not in "".join(both.lines)


def test_json_holds_the_numbers(scored):
    found = plan(**scored, metric=("min_dcf", 0), width=0.1)
    read = json.loads(found.to_json())
    assert read["figure"] == "min_dcf@1"
    assert read["designs"][0]["n_units"] == found.designs[0].n_units
    assert sum(read["variance"].values()) == pytest.approx(found.standard_error**2)
    assert read["sentences"] == list(found.lines)
    assert read["goal"] == {
        "kind": "width", "target": 0.1, "amount": 0.1, "relative": False, "level": 0.95, "power": None
    }  # fmt: skip
    assert len(read["curves"]["reached"]) == len(found.designs)
    assert found == plan(**scored, metric="min_dcf", width=0.1)
