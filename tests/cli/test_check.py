"""`deciban check`: exit codes, reports and annotations."""

import json
import xml.etree.ElementTree as ET

import pytest


@pytest.fixture
def saved(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"t{k},{(k % 7) - 2 * (k % 2) - k % 3},{int(k % 2 == 0)}" for k in range(60)]
    (tmp_path / "s.csv").write_text("\n".join(["trial,score,label", *rows]) + "\n")
    code, out, _ = run("eval", "s.csv", "--json")
    assert code == 0
    (tmp_path / "r.json").write_text(out)
    return json.loads(out)["systems"][0]


def test_the_exit_code_is_1_where_a_requirement_is_not_met(run, saved):
    eer = saved["eer"]
    code, out, err = run("check", "r.json", "--require", f"eer<={eer + 0.001}", "--require", f"eer<={eer - 0.001}")
    assert (code, err) == (1, "")
    assert [line.partition(":")[0] for line in out.splitlines()] == ["met", "not met"]
    assert run("check", "r.json", "--require", f"eer<={eer + 0.001}")[0] == 0


def test_reports_of_pipelines(run, saved, monkeypatch, tmp_path):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    code, out, _ = run("check", "r.json", "--require", "eer<0%", "--junit", "j.xml")
    assert code == 1
    assert "::error title=deciban check::not met: s: eer is" in out
    suite = ET.parse(tmp_path / "j.xml").getroot()  # noqa: S314  # our own file
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    assert suite.find("testcase/failure").get("message").startswith("not met: s: eer")
    code, out, _ = run("check", "r.json", "--require", "eer<=baseline", "--baseline", "r.json", "--json")
    found = json.loads(out)
    assert (code, found["met"], found["checks"][0]["value"]) == (0, True, saved["eer"])


@pytest.mark.usefixtures("saved")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("check", "s.csv", "--require", "eer<1"), "s.csv: not JSON"),
        (("check", "r.json", "--require", "eer=1"), "--require: got 'eer=1'"),
        (("check", "r.json", "--require", "eer<baseline"), "--baseline"),
        (("check", "nothing.json", "--require", "eer<1"), "nothing.json"),
        (("check", "r.json"), "--require"),
    ],
)
def test_faults_are_named(run, words, message):
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert message in err


def test_control_characters_of_names_reach_no_report(run, saved, monkeypatch, tmp_path):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    name = "a\n::error file=x::b\x01"
    (tmp_path / "odd.json").write_text(json.dumps({"systems": [{"name": name, "eer": saved["eer"]}]}))
    code, out, _ = run("check", "odd.json", "--require", "eer<0", "--junit", "odd.xml")
    assert code == 1
    assert not any(line.startswith("::error file") for line in out.splitlines())
    assert ET.parse(tmp_path / "odd.xml").getroot().get("failures") == "1"  # noqa: S314  # our own file
    assert run("check", "odd.json", "--require", "eer<1", "--junit", "-")[0] == 2


def test_results_are_read_from_a_pipe(run, saved, tmp_path):
    text = (tmp_path / "r.json").read_bytes()
    assert run("check", "-", "--require", f"eer<={saved['eer'] + 0.001}", stdin=text)[0] == 0
