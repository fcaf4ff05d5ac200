"""presets as users type it."""

import json

from deciban.evaluation import presets
from support.commands import printed_table


def test_all_are_listed_with_where_they_come_from(run):
    code, out, _ = run("presets")
    assert code == 0
    rows = printed_table(out)
    assert set(rows) >= set(presets())
    assert rows["sre96-08"]["operating points"] == "0.01:10:1"
    assert rows["sre12"]["operating points"] == "0.01:1:1; 0.001:1:1"
    assert rows["sre12"]["protocol"] == "NIST SRE 2012, variant without known non-targets (verified)"
    assert rows["lre05-09-open"]["operating points"] == "0.5; last class out of set, with prior 0.2"
    assert rows["lre22"]["protocol"].endswith("(unverified)")


def test_one_is_shown_by_any_of_its_names(run):
    code, out, _ = run("presets lre09 --json")
    assert code == 0
    (found,) = json.loads(out)["presets"]
    assert (found["name"], found["verified"], found["p_out_of_set"]) == ("lre05-09", True, None)
    assert "lre09" in found["aliases"]
    assert [point["p_target"] for point in found["operating_points"]] == [0.5]


def test_an_unknown_one_is_refused_with_those_that_there_are(run):
    code, out, err = run("presets sre99")
    assert (code, out) == (2, "")
    assert "'sre99' is not known. Use one of sre96-08" in err


def test_one_is_explained_in_words(run):
    code, out, _ = run("presets sre18-cmn2")
    assert code == 0
    told = " ".join(out.split())
    assert "mean of the normalized actual DCF at 2 operating points" in told
    assert "verified. Points and weights of partitions: the scorer of the evaluation." in told
    assert "two estimators" in told


def test_the_file_of_one_is_the_beginning_of_ones_own(run, tmp_path):
    code, out, _ = run("presets lre09 --toml")
    assert code == 0
    (tmp_path / "ours.toml").write_text(out, "utf-8")
    code, out, _ = run(f"presets {tmp_path / 'ours.toml'} --json")
    assert code == 0
    (found,) = json.loads(out)["presets"]
    assert (found["name"], found["primary"]["figure"]) == ("ours", "c_avg")
    for wrong in ("presets --toml", "presets lre09 --toml --json", f"presets {tmp_path / 'ours.toml'} --toml"):
        code, _, err = run(wrong)
        assert (code, "--toml prints the file of one protocol" in err) == (2, True)
