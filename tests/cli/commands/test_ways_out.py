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
    "pandas.csv": lines(",y,s", range(N), [f"{int(one)}.0" for one in TRUTH], SCORE),
    "my labels.csv": lines("utt,s,y", [f"s{at}" for at in range(N)], SCORE, ["x" if one else "y" for one in TRUTH]),
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
