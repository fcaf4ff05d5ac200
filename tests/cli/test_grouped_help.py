"""Help of commands: common options, headings, and options for multiclass scores."""

import re

import pytest

from deciban.cli import options as module
from deciban.cli.main import COMMANDS, GROUPS

READ = {"--classes", "--posterior-prior", "--detection-llr"}
METRICS = READ | {"--kind", "--prior", "--p-target", "--out-of-set", "--subsets", "--pairs", "--group"}
OF_CLASSES = {
    "eval": METRICS | {"--all-classes", "--capacity"},
    "report": METRICS | {"--all-classes", "--capacity"},
    "plot": METRICS | {"--corners", "--parameter"},
    "calibrate": READ | {"--kind", "--prior", "--toward-calibration", "--as"},
    "fuse": READ | {"--kind", "--prior", "--no-offsets", "--as"},
    "apply": READ | {"--as"},
    "convert": {"--detection-llr", "--as"},
}


def listed(text):
    """Names at the beginning of entries."""
    return set(re.findall(r"^  (?:-\w, )?(--[a-z0-9-]+)", text, re.MULTILINE))


@pytest.mark.parametrize("command", OF_CLASSES)
def test_options_for_multiclass_scores_have_a_heading(command, run):
    code, out, _ = run(command, "--help-all" if command != "convert" else "--help")
    assert code == 0
    general, _, about_classes = out.partition("Multiclass scores:\n")
    assert listed(about_classes) == OF_CLASSES[command]
    assert {"--format", "--help"} <= listed(general)
    assert not re.search(r"^  SCORES", general, re.MULTILINE)


def test_commands_without_multiclass_options_have_no_such_heading(run):
    assert "Multiclass" not in run("validate", "--help")[1]


@pytest.mark.parametrize("command", module._declared("common"))
def test_help_explains_common_options_and_names_the_others(command, run):
    code, short, _ = run(command, "--help")
    everything = run(command, "--help-all")[1]
    assert code == 0
    explained, _, named = short.partition(f"More options (deciban {command} --help-all):\n")
    common = listed(explained.partition("\nOptions:\n")[2])
    assert 8 <= len(common) <= 14
    assert not re.search(r"-\n", named)  # names are not broken
    others = set(re.findall(r"(?<!/)--[a-z0-9-]+", named))
    assert common | others == listed(everything.partition("Usage")[2])


@pytest.mark.parametrize("command", ["statement", "demo", "check", "leaderboard"])
def test_commands_with_short_help_accept_help_all_without_listing_it(command, run):
    code, out, _ = run(command, "--help-all")
    assert code == 0
    assert "--help-all" not in out.partition("Options:\n")[2]
    assert listed(out) == listed(run(command, "--help")[1])


@pytest.mark.parametrize("command", ["plot", "plan"])
def test_former_names_of_options_are_not_shown(command, run):
    out = run(command, "--help-all")[1]
    assert "--metric" in listed(out)
    assert "--figure" not in out


def test_commands_are_grouped(run):
    out = run("--help")[1]
    assert [line for line in out.splitlines() if line and line[0] != " "][1:] == [
        "Options:",
        *(f"{group}:" for group in GROUPS),
    ]
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(COMMANDS)


def test_former_names_of_commands_are_accepted(run):
    assert run("design", "--dcf", "0.01") == run("objective", "--dcf", "0.01")
