"""Files of settings that no user would write: each command that reads one answers with one sentence."""

import json

import pytest

COMMANDS = {
    "options": "eval scores.csv --options bad.toml",
    "criteria": "check result.json --criteria bad.toml",
    "scale": "statement --llr 1 --propositions a b --scale bad.toml",
    "preset": "eval scores.csv --preset bad.toml",
    "costs": "decide scores.csv --costs bad.toml -o -",
}
NOTE = "report scores.csv --note bad.toml -o page.html"


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scores.csv").write_text("label,score\n1,2\n0,-1\n1,0.5\n0,0.7\n")
    (tmp_path / "result.json").write_text(run("eval scores.csv --json")[1])
    assert json.loads((tmp_path / "result.json").read_text())["systems"]


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a = \xff", "not text in UTF-8 (invalid start byte at byte 4)"),
        (b"a = " + b"[" * 100_000, "not TOML (lists nested too deeply)"),
        (b"a = " + b"9" * 10_000, "not TOML (numbers too long)"),
        (b"a b", "not TOML ("),
    ],
    ids=["bytes", "brackets", "digits", "text"],
)
def test_damaged_files(command, content, words, tmp_path, run):
    (tmp_path / "bad.toml").write_bytes(content)
    code, out, err = run(command)
    assert (code, out) == (2, "")
    assert f"bad.toml: {words}" in " ".join(err.split())
    assert "Traceback" not in err


@pytest.mark.parametrize("command", [*COMMANDS.values(), NOTE], ids=[*COMMANDS, "note"])
def test_an_endless_file(command, run, tmp_path, monkeypatch):
    monkeypatch.setattr("deciban._files.MOST_OF_SETTINGS", 1000)
    monkeypatch.setattr("deciban.report.files._MOST_NOTE", 1000)
    (tmp_path / "bad.toml").symlink_to("/dev/zero")
    code, out, err = run(command)
    assert (code, out) == (2, "")
    assert "bad.toml: more than 1,000 bytes. Shorten it, or name another file." in " ".join(err.split())
