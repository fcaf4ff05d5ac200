"""What is printed to be copied is a command that works."""

import re
import shlex

import numpy as np
import pytest

N = 40
TRUTH = [at % 4 == 0 for at in range(N)]
SCORE = (np.random.default_rng(0).normal(size=N) + np.array(TRUTH)).round(4).tolist()


def commands_of(err):
    return [shlex.split(line)[1:] for line in re.findall(r"(?m)^  (deciban .*)$", err)]


def lines(header, *columns):
    rows = ([] if header is None else [header]) + [",".join(map(str, row)) for row in zip(*columns, strict=True)]
    return "\n".join(rows) + "\n"


FILES = {
    "pandas.csv": lines(",lab,s", range(N), [f"{int(one)}.0" for one in TRUTH], SCORE),
    "my labels.csv": lines("utt,s,lab", [f"s{at}" for at in range(N)], SCORE, ["x" if one else "y" for one in TRUTH]),
    "two.csv": lines("segment,bona,spoof", [f"s{at}" for at in range(N)], SCORE, [-one for one in SCORE]),
    "two key.csv": lines("segment,class", [f"s{at}" for at in range(N)], ["bona" if one else "spoof" for one in TRUTH]),
    "scores.csv": lines("trial,score", [f"s{at}" for at in range(N)], SCORE),
}


@pytest.mark.parametrize(
    "words",
    [
        ["pandas.csv"],
        ["my labels.csv"],
        ["two.csv", "--key", "two key.csv", "--kind", "two-class"],
        ["scores.csv", "--key", "two key.csv"],
    ],
    ids=" ".join,
)
def test_commands_that_are_offered_run(run, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr("sys.argv", ["deciban", "eval", *words])
    code, out, err = run("eval", *words)
    assert (code, out) == (2, "")
    offered = commands_of(err)
    assert 1 <= len(offered) <= 3
    for command in offered:
        assert command[: len(words) + 1] == ["eval", *words]
        code, out, err = run(*command)
        assert code == 0, err
        assert "AUC" in out


def test_a_matrix_is_read_again_as_what_its_key_said(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    score = np.random.default_rng(0).normal(size=(6, 6)) + np.eye(6)
    rows = [f"m{i}," + ",".join(map(repr, row)) for i, row in enumerate(score.tolist())]
    (tmp_path / "wide.csv").write_text("\n".join(["id,x0,x1,x2,x3,x4,x5", *rows]) + "\n")
    pairs = [(i, j) for i in range(6) for j in range(6)]
    (tmp_path / "key.txt").write_text("".join(f"m{i} x{j} {'target' if i == j else 'nontarget'}\n" for i, j in pairs))
    code, _, err = run("calibrate wide.csv --key key.txt -o model.json --llrs llr.csv")
    assert code == 0, err
    lines = (tmp_path / "llr.csv").read_text().splitlines()
    assert [line.rsplit(",", 1)[0] for line in lines] == ["enroll,test", *(f"m{i},x{j}" for i, j in pairs)]


def test_an_option_that_is_offered_takes_the_place_of_what_was_typed(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.txt").write_text("".join(f"m{at % 3} s{at} {score}\n" for at, score in enumerate(SCORE)))
    (tmp_path / "k.txt").write_text("".join(f"m{at % 3} s{at} {'imp' if at % 4 else 'tgt'}\n" for at in range(N)))
    words = ["s.txt", "--key", "k.txt", "--labels", "target=foo,nontarget=bar"]
    monkeypatch.setattr("sys.argv", ["deciban", "eval", *words])
    _, _, err = run("eval", *words)
    (command,) = commands_of(err)
    assert command.count("--labels") == 1
    code, out, _ = run(*command, "--json")
    assert code == 0
    assert f'"n_tar": {N // 4}' in out
