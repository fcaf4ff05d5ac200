"""Case files of ``deciban statement``: what the examiner states is required, and printed with hashes."""

import hashlib
import json
from pathlib import Path

import jsonschema
import pytest

import deciban
from deciban.calibration import AffineCalibrator

CASE = """case = "17 <b>"
examiner = "A. Expert"
questioned = "call"
known = "interview"
conditions = "telephone"
population = "same dialect"
sources = 1200
"""
CALL = ("statement", "--llr", "2", "--propositions", "same", "different", "--model", "m.json", "--case", "case.toml")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("case.toml").write_text(CASE)
    AffineCalibrator().fit([3.0, 1.0, 2.0, -1.0, 1.5, 0.0], [True, True, True, False, False, False]).save("m.json")


def test_a_case_is_in_the_table_in_json_and_on_a_page_with_hashes(run):
    code, out, err = run(*CALL, "-o", "case.html", "--json")
    assert code == 0, err
    jsonschema.Draft202012Validator(deciban.json_schemas()["statement"]).validate(found := json.loads(out))
    assert found["case"]["sources"] == 1200
    assert {one["role"] for one in found["files"]} == {"model", "case"}
    page = Path("case.html").read_text()
    for name in ("m.json", "case.toml"):
        assert f"{name}<br>SHA-256 {hashlib.sha256(Path(name).read_bytes()).hexdigest()}" in page
    assert "17 &lt;b&gt;" in page
    assert "<td>1,200</td>" in page
    assert found["sentence"].replace("'", "&#39;") in page
    assert "sources" in run(*CALL)[1]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            ("examiner = ", "remarks = "),
            "case.toml: the entry 'examiner' is missing or empty. A case file has case, examiner",
        ),
        (('"call"', '"  "'), "case.toml: the entry 'questioned' is missing or empty."),
        (("examiner = ", "examinor = "), "the entry 'examiner' is missing or empty ('examinor' is not an entry)"),
        (("1200", '"many"'), "case.toml: sources = 'many': must be a whole number from 1."),
        (("1200", "0"), "case.toml: sources = 0: must be a whole number from 1."),
        (("1200", "120.5"), "case.toml: sources = 120.5: must be a whole number from 1."),
        (("sources = 1200", "sources = 3\nsex = 1"), "case.toml: sex: unknown."),
        (('"call"', "7"), "case.toml: questioned = 7: must be a text."),
    ],
)
def test_what_is_not_stated_is_asked_for(change, words, run):
    Path("case.toml").write_text(CASE.replace(*change))
    code, out, err = run(*CALL)
    assert (code, out) == (2, "")
    assert words in err
