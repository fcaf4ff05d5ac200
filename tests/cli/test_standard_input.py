"""Standard input can be read once: every command that would read it twice says so before it reads anything."""

from pathlib import Path

import pytest

from deciban.models import load_model
from support.both_kinds import MADE

TWICE = [
    "eval - - --key key.csv",
    "eval - --key -",
    "plot det - --key - -o det.svg",
    "report - --key key.csv --train - --train-key key.csv -o page.html",
    "report a.csv --key - --train b.csv --train-key - -o page.html",
    "report - --key key.csv --model - -o page.html",
    "calibrate - --key key.csv -o new.json --apply-to - --llrs llrs.csv",
    "fuse - b.csv --key key.csv -o new.json --apply-to - --apply-to b.csv --llrs llrs.csv",
    "fuse - b.csv --key key.csv -o new.json --apply-to b.csv --apply-to - --apply-key key.csv",
    "fuse a.csv b.csv --key - -o new.json --apply-to a.csv --apply-to b.csv --apply-key -",
    "apply - - -o llrs.csv",
    "convert - new.txt --key -",
    "validate - --trials -",
    "inspect - -",
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    MADE["two-class"](tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", TWICE)
def test_twice_is_once_too_often(run, folder, command):
    there = set(folder.iterdir())
    code, out, err = run(command, stdin=(folder / "a.csv").read_bytes())
    assert (code, out) == (2, "")
    assert "standard input (-) can be read only once" in err
    assert set(folder.iterdir()) == there


@pytest.mark.parametrize("kind", MADE)
def test_a_model_is_loaded_once_and_has_its_name(run, tmp_path, monkeypatch, kind):
    files = MADE[kind](tmp_path)
    monkeypatch.chdir(tmp_path)
    files.calibrator().fit(files.values[0], files.truth).save("m.json")
    loaded = []

    def counting(path):
        loaded.append(path)
        return load_model(path)

    monkeypatch.setattr("deciban.workflows.model_files.load_model", counting)
    code, _, err = run("apply m.json a.csv -o out.csv")
    assert (code, loaded) == (0, ["m.json"])
    assert "model  m.json" in err
    code, _, err = run("apply - a.csv -o same.csv", stdin=Path("m.json").read_bytes())
    assert (code, loaded) == (0, ["m.json", "-"])
    assert "model  standard input" in err
    assert Path("same.csv").read_bytes() == Path("out.csv").read_bytes()
    code, _, err = run("apply m.json a.csv -o m.json")
    assert code == 2
    assert "m.json: is an input" in err
