"""What the README and the first steps promise is there: commands run, Python runs, files exist."""

import re
from pathlib import Path

import pytest

import deciban
from deciban.calibration import AffineCalibrator
from deciban.io import write_demo
from support.class_files import write_files

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
STEPS = (ROOT / "docs" / "start" / "first-steps.md").read_text()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return made(tmp_path_factory.mktemp("readme"))


def made(path):
    write_demo(path)
    deciban.train_files(path / "sysA.txt", path / "key.txt", AffineCalibrator()).model.save(path / "model.json")
    (path / "classes").mkdir()
    write_files(path / "classes")
    for made, called in (
        ("lre.tsv", "languages.tsv"),
        ("lre.key", "languages.key"),
        ("loglik.npy", "logits.npy"),
        ("label.npy", "labels.npy"),
    ):
        (path / "classes" / made).rename(path / called)
    return path


def blocks(language, text=README):
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


COMMANDS = [
    line.partition("  #")[0].rstrip()
    for block in blocks("bash", README + STEPS)
    for line in block.splitlines()
    if line.startswith("deciban ")
]


@pytest.mark.usefixtures("pictures")
def test_commands_of_the_readme_run(tmp_path, deciban, monkeypatch):
    monkeypatch.setattr("deciban.io.demos._SPEAKERS", 12)
    folder = made(tmp_path)
    assert len(COMMANDS) > 10
    for line in dict.fromkeys(COMMANDS):  # in this order: some need what others write
        deciban(line, folder)
        for name in re.findall(r"(?:-o|--llrs) (\S+)", line):
            assert (folder / name).stat().st_size > 500, line


@pytest.mark.usefixtures("pictures")
def test_the_readme_shows_what_is_printed(folder, walk):
    _, examples = README.split("## A CSV file", 1)
    walk(f"## A CSV file{examples}", folder)


@pytest.mark.parametrize("text", [README, STEPS], ids=["readme", "first steps"])
def test_python_of_the_readme_runs(text, folder, python):
    (code,) = blocks("python", text)
    assert len(python(code, folder).split()) == 3


def test_the_readme_fits_a_screen_or_two():
    assert len(README.splitlines()) < 80


def test_ci_runs_the_test_command_of_the_readme():
    setup, check = (block.strip() for block in blocks("bash")[:2])
    assert setup.startswith("python3 -m venv .venv && . .venv/bin/activate && pip install")
    assert setup.endswith("deciban demo demo && cd demo")
    assert (ROOT / ".ci/run").read_text().splitlines()[-1] == check == "bash scripts/check"


def test_comparisons_with_other_tools_are_measured():
    peers = (ROOT / "docs" / "peers.md").read_text()
    _, claims = README.split("## Why not another tool?")
    times, sizes = re.findall(r"([\d.]+) times as long", claims), re.findall(r"([\d.]+ MB)", claims)
    assert len(times) > 5
    assert [one for one in times if f"x {one} |" not in peers] == []
    assert [one for one in sizes if f"| {one} |" not in peers] == []
