"""``deciban compare`` as users run it: tables, JSON, exit codes of regression gates."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from deciban.io import write_demo


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    write_demo(folder)
    return folder


@pytest.fixture
def call(demo, run):
    """Run a comparison of the two systems of the demo."""
    return lambda more="", systems="AB": run(
        f"compare {' '.join(f'{demo}/sys{one}.txt' for one in systems)} --key {demo}/key.txt {more}"
    )


def test_who_is_better_is_said(call):
    code, out, err = call()
    assert code == 0
    assert "units  100 speakers, found from target trials" in err
    first, *rows = out.splitlines()
    assert first.split() == ["metric", "sysA", "sysB", "sysA", "\N{MINUS SIGN}", "sysB", "p"]
    assert rows[0].startswith("EER (ROCCH) in %")
    assert "sysB is significantly better in EER (ROCCH), minDCF at p_target 0.01" in out
    assert "actual decisions: sysB is significantly better at effective priors from" in out
    assert "[paired 95 % intervals by speaker, 100 speakers]" in out


def test_csv_has_bounds_apart(call):
    code, out, _ = call("--table csv -q")
    rows = list(csv.DictReader(io.StringIO("".join(x for x in out.splitlines(keepends=True) if not x.startswith("#")))))
    assert code == 0
    (row,) = [row for row in rows if row["metric"] == "Cllr"]
    difference, low, high = (float(row[f"sysA \N{MINUS SIGN} sysB{end}"]) for end in ("", " low", " high"))
    assert low < difference < high
    assert float(row["sysA"]) - float(row["sysB"]) == pytest.approx(difference, abs=0.0015)


def test_regression_gates(call):
    code, out, err = call("--fail-if-worse eer --fail-if-worse cllr:0.1 -q", systems="BA")
    assert code == 1
    assert out
    lines = err.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith(
        "worse: sysA is significantly worse than sysB: EER (ROCCH), sysA \N{MINUS SIGN} sysB, +2.35 pp ["
    )
    assert lines[1].startswith("worse: sysA is significantly worse than sysB: Cllr, sysA \N{MINUS SIGN} sysB, +0.312 [")
    assert call("--fail-if-worse eer:0.03 --fail-if-worse cllr:0.5 -q", systems="BA")[0] == 0
    assert call("--fail-if-worse eer --fail-if-worse auc --fail-if-worse min_dcf@1 -q")[::2] == (0, "")
    found = json.loads(call("--fail-if-worse eer --json -q", systems="BA")[1])
    assert len(found["worse"]) == 1
    assert [pair["first"] for pair in found["pairs"]] == ["sysB"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("--fail-if-worse eer:x", "write METRIC or METRIC:MARGIN"),
        ("--fail-if-worse eer:-1", "write METRIC or METRIC:MARGIN"),
        ("--fail-if-worse :1", "write METRIC or METRIC:MARGIN"),
        (
            "--fail-if-worse speed",
            "--fail-if-worse: 'speed' is not a metric of two-class scores that has an interval. Use one of ",
        ),
        ("--no-intervals", "Leave --no-intervals out"),
        ("--against sysC", "against: got 'sysC'"),
        ("--permutations -1", "permutations: got -1"),
        ("--units nowhere", "nowhere"),
    ],
)
def test_what_is_refused(call, more, words):
    code, out, err = call(more)
    assert (code, out) == (2, "")
    assert words in err


def test_a_misspelt_gate_is_refused_before_scores_are_read(run, tmp_path, demo):
    lines = (demo / "sysA.txt").read_text().splitlines()
    (tmp_path / "broken.txt").write_text("\n".join([*lines, "spk000 seg000_9 no-number", ""]))
    words = f"compare {tmp_path}/broken.txt {demo}/sysB.txt --key {demo}/key.txt"
    assert "no-number" in run(words)[2]
    for gate in ("err", "min_dcf@2", "min_dcf@1 --fail-if-worse cllr@1"):
        code, out, err = run(f"{words} --fail-if-worse {gate}")
        assert (code, out) == (2, "")
        assert err.splitlines()[-1].startswith("deciban: InputError: --fail-if-worse: ")
    assert "no-number" in run(f"{words} --fail-if-worse min_dcf@2 --dcf 0.1 --dcf 0.01")[2]


def test_the_seed_of_what_was_drawn_is_in_json(call):
    assert json.loads(call("--json -q --seed 5")[1])["seed"] is None
    assert json.loads(call("--json -q --bootstrap 20 --seed 5")[1])["seed"] == 5
    assert json.loads(call("--json -q --permutations 20 --seed 6")[1])["seed"] == 6


def test_why_there_are_no_intervals_is_said(call, demo):
    names = {name for line in (demo / "key.txt").read_text().splitlines() for name in line.split()[:2]}
    (demo / "one.utt2spk").write_text("".join(f"{name} ann\n" for name in names))
    code, out, err = call(f"--units {demo}/one.utt2spk")
    assert (code, out) == (2, "")
    assert "1 unit, by" in err
    assert "intervals need at least two units" in err


def test_captions_say_where_intervals_come_from(call):
    assert "bootstrap" not in call("-q")[1]
    out = call("--bootstrap 1000 --seed 3 -q")[1]
    assert "100 speakers]; bootstrap of 1,000 replicates, seed 3" in out


def test_models_and_permutations(call, demo, run):
    assert run(f"calibrate {demo}/sysA.txt --key {demo}/key.txt -o {demo}/m.json -q")[0] == 0
    code, out, _ = call(f"--model {demo}/m.json --permutations 99 --seed 3 --json -q", systems="A")
    found = json.loads(out)
    assert (code, found["permutations"], found["seed"]) == (0, 99, 3)
    (pair,) = found["pairs"]
    assert (pair["first"], pair["second"]) == ("sysA", "sysA (calibrated)")
    by_metric = {row["figure"]: row for row in pair["figures"]}
    assert (by_metric["min_cllr"]["difference"], by_metric["min_cllr"]["p_value"]) == (0, 1)
    assert by_metric["cllr"]["p_value"] == 0.01  # no exchange of speakers makes so great a difference
    assert {one["role"] for one in found["files"]} == {"scores", "key", "model"}


def test_trials_of_one_name(real_data, run):
    """Spoofing countermeasures: trials have one name, and speakers are not in the file."""
    folder = real_data / "asvspoof19_la_dev_cm2"
    scores = f"{folder}/system_a.txt {folder}/system_b.txt"
    code, out, err = run(f"compare {scores} -q")
    assert (code, err) == (0, "")
    assert "trials taken as independent" in out
    code, _, err = run(f"compare {scores} --units attack")  # all bona fide trials are of one
    assert code == 2
    assert "The targets come from 1 effective" in err
    code, out, _ = run(f"compare {scores} --units trials --json -q")
    found = json.loads(out)
    assert (code, found["units"]["noun"]) == (0, "trial")
    eer = found["pairs"][0]["figures"][0]
    assert eer["difference"] == pytest.approx(found["systems"][0]["eer"] - found["systems"][1]["eer"])
    assert eer["low"] < eer["difference"] < eer["high"]


def test_a_rule_of_ones_own_is_compared_and_a_gate(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scores = np.random.default_rng(3).normal(0, 1, (2, 60)) + np.where(np.arange(60) % 3, -1, 2)
    for name, of_system in zip("ab", scores + np.array([[0], [5]]), strict=True):
        lines = [f"t{k},{score:.2f},{int(k % 3 == 0)}\n" for k, score in enumerate(of_system)]
        Path(f"{name}.csv").write_text("trial,score,label\n" + "".join(lines))
    Path("ours.csv").write_text("eta,weights\n0.5,0.5\n0.9,0.5\n")
    options = "--units trials --rule ours.csv --dcf 0.1 --fail-if-worse rule_cost --json -q"
    code, out, err = run(f"compare a.csv b.csv {options}")
    found = json.loads(out)
    (row,) = [one for one in found["pairs"][0]["figures"] if one["figure"] == "rule_cost@1"]
    costs = [one["rule_costs"][0]["cost"] for one in found["systems"]]
    assert row["difference"] == pytest.approx(costs[0] - costs[1], rel=1e-9)
    assert costs[0] < costs[1]
    assert row["high"] < 0.0
    assert code == len(found["worse"]) == 1
    assert "cost by the custom rule at prior 0.1" in err


def test_scores_that_are_not_llrs_are_compared_by_what_means_something(call, demo, tmp_path, run):
    for one in "AB":
        rows = [line.rsplit(maxsplit=1) for line in Path(demo, f"sys{one}.txt").read_text().splitlines()]
        text = "".join(f"{name} {np.tanh(float(score) / 20):.6f}\n" for name, score in rows)
        (tmp_path / f"cosine{one}.txt").write_text(text)
    out = run(f"compare {tmp_path}/cosineA.txt {tmp_path}/cosineB.txt --key {demo}/key.txt")[1]
    rows = [line.split("  ")[0] for line in out.splitlines()[1:5]]
    assert rows == ["EER (ROCCH) in %", "minDCF at p_target 0.01", "min Cllr", "AUC"]
    assert "actual decisions" not in out
    assert "decisions at the best thresholds" in out
    assert "not log-likelihood ratios" in out
    assert "cosineA, cosineB: not llrs, so actual costs, Cllr and calibration loss are not compared." in out
    assert "actDCF at p_target 0.01" in call()[1]
