"""Options from a file."""

import json

import pytest

SCORES = "label,score\n1,2\n0,-1\n1,0.5\n0,0.7\n1,3\n0,-3\n"


@pytest.fixture(autouse=True)
def scores(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scores.csv").write_text(SCORES)


def with_file(run, tmp_path, text, *typed):
    (tmp_path / "ours.toml").write_text(text)
    return run("eval", "scores.csv", "--options", "ours.toml", *typed)


def test_a_file_stands_for_the_same_words(run, tmp_path):
    text = 'dcf = ["0.5:1:1", 0.05]\nworst = 2\nall = true\nintervals = false\ncorrected = false\nquiet = true\n'
    words = ("--dcf", "0.5:1:1", "--dcf", "0.05", "--worst", "2", "--all", "--no-intervals", "-q")
    assert with_file(run, tmp_path, text) == run("eval", "scores.csv", *words)


def test_negative_names_are_options_too(run, tmp_path):
    assert with_file(run, tmp_path, "no-intervals = true\n") == run("eval", "scores.csv", "--no-intervals")
    assert with_file(run, tmp_path, "no-intervals = false\n") == run("eval", "scores.csv", "--intervals")


def test_typed_options_replace_those_of_the_file(run, tmp_path):
    given = json.loads(with_file(run, tmp_path, "dcf = [0.01, 0.05]\nworst = 3\n", "--dcf", "0.5", "--json")[1])
    assert given["options"] == {"dcf": [[0.5]], "worst": 3}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("wurst = 2", "ours.toml: no option is called 'wurst'. Did you mean worst?"),
        ("xyz = 2", "ours.toml: no option is called 'xyz'. deciban eval --help-all lists its options."),
        ("options = 'other.toml'", "no option is called 'options'"),
        ("worst = ", "ours.toml: not TOML (Invalid value (at end of document))."),
        ("worst = [1, 2]", "'1,2' is not a valid integer"),
        ("worst = true", "worst = True must be a text or a number."),
        ("all = 'yes'", "all = 'yes' must be true or false."),
        ("[dcf]\np = 0.1", "dcf = {'p': 0.1} must be a text or a number."),
        ("worst = 'many'", "'many' is not a valid integer (ours.toml: worst)."),
        ("level = 'x'", "'x' is not a valid float (ours.toml: level)."),
        ("dcf = 'x'", "for example 0.01:10:1 (ours.toml: dcf)."),
        ("level = 3", "--level: got 3.0. A level must be inside (0, 1), such as 0.95 (ours.toml: level)."),
    ],
)
def test_odd_files_are_one_sentence(run, tmp_path, text, words):
    code, out, err = with_file(run, tmp_path, text)
    assert (code, out) == (2, "")
    assert words in err
    assert "Traceback" not in err


def test_a_file_that_cannot_be_read(run, tmp_path):
    (tmp_path / "latin.toml").write_bytes(b"dcf = '\xe9'")
    for name, words in (("absent.toml", "absent.toml: No such file"), ("latin.toml", "latin.toml: not text in UTF-8")):
        code, _, err = run("eval", "scores.csv", "--options", name)
        assert code == 2
        assert words in err


@pytest.mark.parametrize(
    ("text", "typed", "is_kept"),
    [
        ("worst = 2", [], True),
        ('memory = "200MB"', [], False),
        ("", ["--memory=1GB"], False),
        ("", ["--memory=2GB"], True),
    ],
)
def test_freed_memory_is_kept_unless_little_is_allowed(run, tmp_path, monkeypatch, text, typed, is_kept):
    calls = []
    monkeypatch.setattr("deciban.memory.keep_freed_blocks", lambda: calls.append(1))
    code, _, err = with_file(run, tmp_path, text, *typed)
    assert code == 0, err
    assert bool(calls) == is_kept
