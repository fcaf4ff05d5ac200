"""Criteria of a validation: read from TOML, checked like requirements, and shown by characteristic."""

import json
from pathlib import Path

import pytest

import deciban
from deciban.errors import FormatError, InputError
from deciban.evaluation.saved import CHARACTERISTICS, read_criteria


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Results of two evaluations, and criteria of which one fails."""
    monkeypatch.chdir(tmp_path)
    for name, shift in (("result", 0.0), ("noisy", 0.6)):
        found = deciban.Results((deciban.evaluate([2.0 - shift, 3.0, 1.0, 0.5], [-2.0, -1.0, 0.7, -3.0], name="A"),))
        (tmp_path / f"{name}.json").write_text(found.to_json())
    (tmp_path / "method.toml").write_text(
        '[[criterion]]\ncharacteristic = "robustness"\nrequire = "cllr<=baseline+0.2"\nresults = "noisy.json"\n'
        '[[criterion]]\ncharacteristic = "accuracy"\nrequire = "cllr<=1"\n'
        '[[criterion]]\ncharacteristic = "discrimination"\nrequire = "eer<=1%"\n'
    )
    return tmp_path


def test_criteria_are_in_the_order_of_the_guideline_and_fail_alone(here, run):
    assert [one.characteristic for one in read_criteria(here / "method.toml")] == CHARACTERISTICS_OF_FILE
    code, out, err = run("check result.json --criteria method.toml")
    assert (code, err) == (1, "")
    lines = out.splitlines()
    assert [line.split()[0] for line in lines[1:7]] == [*CHARACTERISTICS_OF_FILE, *LACKING]
    assert [line.split()[-1] for line in lines[1:4]] == ["pass", "fail", "pass"]
    assert all("none stated" in line for line in lines[4:7])
    assert lines[7] == "2 of 3 criteria met"


CHARACTERISTICS_OF_FILE = ["accuracy", "discrimination", "robustness"]
LACKING = [name for name in CHARACTERISTICS if name not in CHARACTERISTICS_OF_FILE]


@pytest.mark.usefixtures("here")
def test_other_results_are_compared_with_the_validated_ones(run):
    found = json.loads(run("check result.json --criteria method.toml --json")[1])
    assert found["met"] is False
    by_name = {one["characteristic"]: one for one in found["checks"]}
    results = {name: json.loads(Path(f"{name}.json").read_text())["systems"][0]["cllr"] for name in ("result", "noisy")}
    assert by_name["robustness"]["value"] == results["noisy"]
    assert by_name["robustness"]["limit"] == pytest.approx(results["result"] + 0.2)
    assert by_name["accuracy"]["value"] == results["result"]


@pytest.mark.usefixtures("here")
def test_requirements_and_criteria_go_together(run):
    code, out, _ = run("check result.json --criteria method.toml --require auc>=0.1")
    assert code == 1
    assert out.startswith("met: A: auc is")
    code, out, err = run("check result.json")
    assert (code, out) == (2, "")
    assert "name --require or --criteria" in err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "must contain only tables"),
        ("x = 1", "must contain only tables"),
        ("criterion = 3", "must contain only tables"),
        ("[[criterion]]\nrequire = 'eer<=1'", "criterion 1: needs text for characteristic and require"),
        ("[[criterion]]\ncharacteristic = 'accuracy'\nrequire = 3", "criterion 1: needs text"),
        ("[[criterion]]\ncharacteristic = 'accuracy'\nrequire = 'eer<=1'\nlimit = '2'", "criterion 1: needs text"),
        (
            "[[criterion]]\ncharacteristic = 'beauty'\nrequire = 'eer<=1'",
            "characteristic 'beauty'. Use one of accuracy",
        ),
        ("[[criterion", "Criteria are tables"),
    ],
)
def test_damaged_criteria_are_refused(text, words, tmp_path):
    (tmp_path / "method.toml").write_text(text)
    with pytest.raises(FormatError, match=words.replace("[", r"\[")):
        read_criteria(tmp_path / "method.toml")


def test_a_requirement_that_is_none_is_refused(tmp_path):
    (tmp_path / "method.toml").write_text("[[criterion]]\ncharacteristic = 'accuracy'\nrequire = 'good'")
    with pytest.raises(InputError, match="good"):
        read_criteria(tmp_path / "method.toml")
