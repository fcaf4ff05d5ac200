"""``deciban objective``."""

import json
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from deciban.calibration import rule_weighting, suggest_for_rule, suggest_rule
from deciban.cli.plan import objective_command
from deciban.rules import ThresholdWeights


@pytest.fixture
def run():
    def runner(*words):
        return CliRunner().invoke(objective_command, list(map(str, words)))

    return runner


def test_a_rule_is_described_and_drawn(run, tmp_path):
    picture = tmp_path / "omega.svg"
    points = ["--dcf", 0.01, "--dcf", "0.001:10:1"]
    done = run("--alpha", 2, "--beta", 2, "--p-target", 0.01, *points, "-o", picture)
    assert done.exit_code == 0, done.output
    expected = rule_weighting(alpha=2, beta=2, p_target=0.01, operating_points=[0.01, (0.001, 10, 1)])
    assert done.stdout == f"{expected}\n"
    assert f"wrote {picture}" in done.stderr.replace("\n", "")
    assert picture.read_bytes().startswith(b"<?xml")


def test_a_share_is_for_suggestions_only(run):
    done = run("--alpha", 2, "--share", 0.5)
    assert done.exit_code == 2
    assert "--share is for a suggestion" in " ".join(done.stderr.split())
    same_ends = run("--range", 0.01, 0.01)
    assert same_ends.exit_code == 2
    assert "For one prior, use --dcf" in " ".join(same_ends.stderr.split())
    narrow, wide = (run("--dcf", 0.01, "--share", share).stdout for share in (0.5, 0.9))
    assert narrow != wide == run("--dcf", 0.01).stdout


def test_several_rules_are_compared(run):
    done = run("--alpha", 1, "--alpha", 2, "--beta", 1, "--p-target", 0.01, "--json")
    rules = json.loads(done.stdout)["rules"]
    assert [(rule["alpha"], rule["beta"], rule["p_target"]) for rule in rules] == [(1, 1, 0.01), (2, 1, 0.01)]
    assert len(run("--alpha", 1, "--alpha", 2).stdout.split("\n\n")) == 2


def test_a_range_of_priors_is_a_range_of_thresholds(run):
    done = run("--range", 0.01, 0.001, "--json")
    (rule,) = json.loads(done.stdout)["rules"]
    expected = suggest_rule(thresholds=(4.59511985013459, 6.906754778648554))
    assert (rule["alpha"], rule["beta"], rule["p_target"]) == (expected.alpha, expected.beta, expected.p_target)
    assert rule["remark"] == expected.remark
    assert [point["point"]["p_target"] for point in rule["points"]] == [0.01, 0.001]
    assert json.loads(run("--range", 0.001, 0.01, "--json").stdout)["rules"][0]["alpha"] == expected.alpha


def test_operating_points_alone_ask_for_a_suggestion(run):
    done = run("--dcf", 0.01, "--dcf", 0.001)
    assert done.stdout.startswith("suggested: --alpha 2 --beta 1 --p-target 0.0035\n90 % of the weight")
    narrow = run("--dcf", 0.01, "--dcf", 0.001, "--share", 0.99)
    assert narrow.stdout != done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "or use --range or --dcf for a suggestion"),
        (["--alpha", 2, "--range", 0.1, 0.2], "--range is for a suggestion"),
        (["--alpha", 2, "--alpha", 1, "--beta", 1, "--beta", 1, "--beta", 1], "each of them equally often"),
        (["--alpha", 2, "-o", "omega.gif"], "must end in .svg, .png or .pdf"),
        (["--dcf", "0.1:2"], "write P or P:CMISS:CFA"),
    ],
)
def test_wrong_usage(run, words, message):
    done = run(*words)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())
    assert done.stdout == ""


def test_nothing_is_printed_if_the_picture_cannot_be_written(run, tmp_path):
    done = run("--alpha", 2, "-o", tmp_path / "none" / "omega.svg")
    assert "does not exist" in str(done.exception)
    assert done.stdout == ""


def test_commands_of_the_documentation_run(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = Path(__file__).parents[2] / "docs" / "calibration.md"
    commands = [
        shlex.split(line, comments=True) for line in page.read_text().splitlines() if "  deciban objective" in line
    ]
    assert len(commands) == 4
    Path("ours.csv").write_text("eta,weights\n0.5,0.2\n0.9,0.3\n")
    for _, _, *words in commands:
        assert run(*words).exit_code == 0


def test_a_rule_of_ones_own_is_cared_for_at_the_priors_of_operating_points(run, tmp_path):
    path = tmp_path / "ours.csv"
    path.write_text("eta,weights\n0.5,0.2\n0.9,0.3\n")
    (rule,) = json.loads(run("--rule", path, "--dcf", "0.01:10:1", "--json").stdout)["rules"]
    expected = suggest_for_rule(ThresholdWeights([0.5, 0.9], [0.2, 0.3]), 0.01)
    assert (rule["alpha"], rule["beta"], rule["p_target"]) == (expected.alpha, expected.beta, expected.p_target)
    for more, words in (
        ((), "name the prior of a target with --dcf"),
        (("--dcf", 0.1, "--range", 0.1, 0.2), "--range and --rule both ask"),
        (("--alpha", 1), "--rule is for a suggestion"),
    ):
        done = run("--rule", path, *more)
        assert done.exit_code == 2
        assert words in " ".join(done.stderr.split())
