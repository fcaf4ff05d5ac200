"""Names that a terminal would obey: whatever a command says of them, on any stream, can be looked at without harm."""

import shlex

import numpy as np
import pandas as pd
import pytest

NASTY = "\x1b[31m\x07\x9b2J\n\u202e\r\x00\u2066"
"""Colours, a bell, a control of eight bits, a line end, writing turned round, a return, NUL."""
ODD = NASTY.replace("\x00", "")
CLASSES = [f"{one}{ODD}" for one in ("cat", "dog", "eel")]


def rows():
    rng = np.random.default_rng(0)
    truth = rng.random(300) < 0.4
    trials = pd.DataFrame({f"model{ODD}": [f"m{k % 30}{ODD}" for k in range(300)]})
    trials[f"seg{ODD}"] = [f"s{k}{ODD}" for k in range(300)]
    trials[f"sysA{ODD}"] = np.where(truth, rng.normal(2, 1, 300), rng.normal(0, 1, 300))
    trials[f"sysB{ODD}"] = trials[f"sysA{ODD}"] + rng.normal(0, 1, 300)
    trials[f"said{ODD}"] = np.where(truth, f"yes{ODD}", f"no{ODD}")
    trials[f"gender{ODD}"] = np.where(rng.random(300) < 0.5, f"f{ODD}", f"m{ODD}")
    trials["weight"] = 1.0
    return trials


def segments():
    rng = np.random.default_rng(1)
    label = rng.integers(0, 3, 300)
    table = pd.DataFrame({"trial": [f"s{k}{ODD}" for k in range(300)]})
    for k, name in enumerate(CLASSES):
        table[name] = rng.normal(size=300) + (label == k)
    table["class"] = np.array(CLASSES)[label]
    return table


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("deciban.io.demos._SPEAKERS", 20)
    trials = rows()
    trials.to_parquet(f"both{ODD}.parquet")
    for one in "AB":
        own = trials.drop(columns=f"sys{'B' if one == 'A' else 'A'}{ODD}")
        own.to_parquet(f"{one}{ODD}.parquet")
    segments().to_parquet(f"classes{ODD}.parquet")
    (tmp_path / f"list{ODD}.txt").write_text("a b 1.0\nc d oops\n")
    (tmp_path / f"unknown{ODD}.csv").write_text("enroll,test,label\na\x1bb,c,wo\x1brd\n")
    return tmp_path


COLUMNS = ["--columns", f"enroll=model{ODD},test=seg{ODD},score=sysA{ODD},label=said{ODD}"]
LABELS = ["--labels", f"target=yes{ODD},nontarget=no{ODD}"]
TWO = [f"A{ODD}.parquet", *COLUMNS, *LABELS]
OF_BOTH = f"enroll=model{ODD},test=seg{ODD},score=sysA{ODD}|sysB{ODD},label=said{ODD}"
BOTH = [f"both{ODD}.parquet", "--columns", OF_BOTH, *LABELS]
MANY = [f"classes{ODD}.parquet"]
COMMANDS = {
    "eval": ["eval", *BOTH],
    "eval as JSON": ["eval", *BOTH, "--json"],
    "eval one": ["eval", *TWO, "--where", f"gender{ODD}=f{ODD}"],
    "eval an unknown column": ["eval", *TWO, "--where", f"gander{ODD}=f"],
    "eval an unknown value": ["eval", *TWO, "--where", f"gender{ODD}=x{ODD}"],
    "eval weights that are none": ["eval", *TWO, "--weights", f"gender{ODD}"],
    "eval unknown labels": ["eval", f"A{ODD}.parquet", *COLUMNS],
    "eval classes": ["eval", *MANY],
    "eval classes as JSON": ["eval", *MANY, "--json"],
    "eval groups": ["eval", *MANY, "--group", f"x{ODD}={CLASSES[0]}", "--group", f"y{ODD}={CLASSES[1]},{CLASSES[2]}"],
    "eval an unknown class": ["eval", *MANY, "--classes", f"{CLASSES[0]},cow{ODD}"],
    "eval no file": ["eval", f"nowhere{ODD}.txt"],
    "eval a broken file": ["eval", f"list{ODD}.txt", "--key", f"list{ODD}.txt"],
    "eval an unknown word": ["eval", f"unknown{ODD}.csv", "--key", f"unknown{ODD}.csv"],
    "eval an unknown preset": ["eval", *TWO, "--preset", f"pre{ODD}"],
    "eval an unknown format": ["eval", *TWO, "--format", f"for{ODD}"],
    "eval an unknown option": ["eval", *TWO, f"--option{ODD}"],
    "an unknown command": [f"evil{ODD}"],
    "report": ["report", *BOTH, "-o", f"page{ODD}.html"],
    "report classes": ["report", *MANY, "-o", f"page{ODD}.html"],
    "report into no folder": ["report", *TWO, "-o", f"nowhere{ODD}/page.html"],
    "plot": ["plot", "det", *BOTH, "-o", f"plot{ODD}.svg"],
    "plot with an unknown ending": ["plot", "det", *BOTH, "-o", f"plot.{ODD}"],
    "plot of an unknown name": ["plot", f"dot{ODD}", *BOTH, "-o", "plot.svg"],
    "calibrate": [
        "calibrate",
        *TWO,
        "-o",
        f"model{ODD}.json",
        "--cross-validate",
        f"gender{ODD}:2",
        "--llrs",
        "l.parquet",
    ],
    "calibrate as JSON": ["calibrate", *TWO, "-o", "model.json", "--json"],
    "calibrate classes": ["calibrate", *MANY, "-o", f"model{ODD}.json"],
    "fuse": ["fuse", *BOTH, "-o", f"fusion{ODD}.json", "--cross-validate", "5"],
    "fuse with selection": ["fuse", *BOTH, "-o", f"fusion{ODD}.json", "--select"],
    "fuse as JSON": ["fuse", *BOTH, "-o", "fusion.json", "--json"],
    "convert": ["convert", *TWO, f"out{ODD}.parquet"],
    "convert to text": ["convert", *TWO, f"out{ODD}.txt"],
    "convert to no format": ["convert", *TWO, f"out.{ODD}"],
    "validate": ["validate", f"A{ODD}.parquet", "--trials", f"both{ODD}.parquet", "--columns", COLUMNS[1]],
    "validate a broken list": ["validate", f"list{ODD}.txt", "--trials", f"list{ODD}.txt"],
    "inspect": ["inspect", *TWO],
    "inspect classes": ["inspect", *MANY],
    "inspect a broken list": ["inspect", f"list{ODD}.txt"],
    "inspect an unknown word": ["inspect", f"unknown{ODD}.csv"],
    "apply no model": ["apply", f"list{ODD}.txt", *TWO[:1], "-o", "out.txt"],
    "objective": ["objective", "--dcf", "0.01", "-o", f"rule{ODD}.svg"],
    "plan": ["plan", *TWO, "--width", "0.5", "--units", "trials", "-o", f"plan{ODD}.svg"],
    "demo": ["demo", f"folder{ODD}"],
}


@pytest.mark.usefixtures("folder")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_that_a_terminal_obeys_is_printed(run, name):
    code, out, err = run(*COMMANDS[name])
    if not {"unknown", "none", "no", "broken", "into", "to", "validate"} & {*name.split()}:
        assert code == 0, err
    assert code in (0, 2), err
    for said in (out, err):
        left = sorted({c for c in said if not c.isprintable() and c != "\n"})
        assert not left, said
    if code == 2:
        assert err or out


@pytest.mark.usefixtures("folder")
@pytest.mark.filterwarnings("ignore")
def test_models_are_applied_without_a_sound(run):
    for words in (["calibrate", *TWO, "-o", "m"], ["fuse", *BOTH, "-o", "f"], ["calibrate", *MANY, "-o", "c"]):
        code, _, err = run(*words[:-1], f"{words[-1]}{ODD}.json")
        assert code == 0, err
    for words in (
        ["apply", f"m{ODD}.json", *TWO, "-o", f"llr{ODD}.parquet"],
        ["apply", f"f{ODD}.json", *BOTH, "-o", f"fused{ODD}.parquet"],
        ["apply", f"f{ODD}.json", *TWO, "-o", f"fused{ODD}.parquet"],
        ["apply", f"c{ODD}.json", *MANY, "-o", f"classes llr{ODD}.parquet"],
        ["report", *TWO, "--model", f"m{ODD}.json", "-o", "page.html"],
        ["report", *BOTH, "--model", f"f{ODD}.json", "-o", "page.html"],
        ["eval", *MANY, "--json"],
    ):
        code, out, err = run(*words)
        assert code in (0, 2), shlex.join(words) + err
        assert not {c for c in out + err if not c.isprintable()} - {"\n"}, shlex.join(words)
