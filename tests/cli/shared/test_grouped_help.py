"""Help of commands that take scores of two and of many classes."""

import re

import pytest

READ = {"--classes", "--posterior-prior", "--detection-llr"}
FIGURES = READ | {"--kind", "--prior", "--p-target", "--out-of-set", "--subsets", "--pairs", "--group"}
OF_CLASSES = {
    "eval": FIGURES | {"--all-classes", "--capacity"},
    "report": FIGURES | {"--all-classes", "--capacity"},
    "plot": FIGURES | {"--corners", "--parameter"},
    "calibrate": READ | {"--kind", "--prior", "--toward-calibration", "--as"},
    "fuse": READ | {"--kind", "--prior", "--no-offsets", "--as"},
    "apply": READ | {"--as"},
    "convert": {"--detection-llr", "--as"},
}


def listed(text):
    """Names at the beginning of entries."""
    return set(re.findall(r"^  (?:-\w, )?(--[a-z0-9-]+)", text, re.MULTILINE))


@pytest.mark.parametrize("command", OF_CLASSES)
def test_options_of_many_classes_have_a_section_of_their_own(command, run):
    code, out, _ = run(command, "--help")
    assert code == 0
    general, _, about_classes = out.partition("Options for scores of many classes:\n")
    general = general.partition("\nOptions:\n")[2]
    assert listed(about_classes) == OF_CLASSES[command]
    assert {"--format", "--help"} <= listed(general)
    assert not re.search(r"^  SCORES", general, re.MULTILINE)


def test_other_commands_have_one_section(run):
    assert "many classes:" not in run("validate", "--help")[1]
