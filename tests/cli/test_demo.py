"""``deciban demo`` replaces nothing unless it is told to."""

import pytest


@pytest.fixture(autouse=True)
def _few_speakers(monkeypatch):
    monkeypatch.setattr("deciban.io.demos._SPEAKERS", 20)


NAMES = ("sysA.txt", "sysB.txt", "key.txt", "scores.csv", "report.html")


@pytest.mark.parametrize("name", NAMES)
def test_files_of_these_names_are_not_replaced(run, tmp_path, name):
    (tmp_path / name).write_text("the work of a week\n")
    code, out, err = run("demo", tmp_path)
    assert (code, out) == (2, "")
    told = " ".join(err.split())
    assert f"contains {name}, which would be replaced. Name another folder, or use --force." in told
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {name: "the work of a week\n"}


def test_all_of_them_are_named(run, tmp_path):
    for name in ("report.html", "key.txt"):
        (tmp_path / name).write_text("")
    assert "contains key.txt, report.html, which" in " ".join(run("demo", tmp_path)[2].split())


def test_other_files_are_in_nobodys_way_and_force_replaces(run, tmp_path):
    (tmp_path / "notes.txt").write_text("mine\n")
    assert run("demo", tmp_path)[0] == 0
    made = {name: (tmp_path / name).read_bytes() for name in NAMES}
    (tmp_path / "key.txt").write_text("something else\n")
    code, _, err = run("demo", tmp_path)
    assert code == 2, err
    assert (tmp_path / "key.txt").read_text() == "something else\n"
    assert run("demo", tmp_path, "--force")[0] == 0
    assert (tmp_path / "key.txt").read_bytes() == made["key.txt"]
    assert (tmp_path / "notes.txt").read_text() == "mine\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*NAMES, "notes.txt"])


def test_a_quiet_demo_says_nothing_beside_its_tables(run, tmp_path):
    code, out, err = run("demo", tmp_path / "demo", "-q")
    assert (code, err) == (0, "")
    assert "EER" in out


@pytest.mark.parametrize("field", ["spoofing", "forensic", "biometrics"])
def test_each_field_has_files_in_its_format(field, run, tmp_path):
    code, out, err = run("demo", tmp_path / "demo", "--field", field, "-q")
    assert (code, err) == (0, "")
    made = {path.name: path.read_bytes() for path in (tmp_path / "demo").iterdir()}
    command = out.strip().splitlines()[-1].split()
    assert command[:2] == ["deciban", "eval"]
    again, table, err = run(*command[1:], "-q")
    assert again == 0, err
    assert table.splitlines()[1] in out
    code, out, err = run("demo", tmp_path / "demo", "--field", field)
    assert (code, out) == (2, "")
    assert "would be replaced" in " ".join(err.split())
    assert run("demo", tmp_path / "other", "--field", field, "--force", "-q")[0] == 0
    assert {path.name: path.read_bytes() for path in (tmp_path / "other").iterdir()} == made
