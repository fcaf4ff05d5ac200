"""Weights of trials as users give them: whole numbers do what copies of the trials do, in all that is printed."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from deciban.models import load_model

N = 120
RNG = np.random.default_rng(6)
TRUTH = np.arange(N) % 3 == 0
SCORES = np.round(RNG.normal(size=(N, 2)) + TRUTH[:, None] * [2.0, 1.5], 2)
WEIGHT = RNG.integers(0, 4, N)
SPEAKERS = 9

pytestmark = pytest.mark.usefixtures("files", "sketches")  # of pages, the words are tested here


def write(folder, copies, weight):
    """Systems, keys and quality in a folder of their own, with copies of every trial and a column of weights."""
    Path(folder).mkdir()
    names = [(i, f"s{i}x{k}") for i in range(N) for k in range(copies[i])]
    for k, system in enumerate("ab"):
        lines = [f"m {name} {SCORES[i, k].item()!r}\n" for i, name in names]
        Path(folder, f"{system}.txt").write_text("".join(lines))
    rows = [f"m,{t},{'target' if TRUTH[i] else 'nontarget'},k{i % SPEAKERS},{weight[i]}\n" for i, t in names]
    Path(folder, "key.csv").write_text("enroll,test,label,speaker,w\n" + "".join(rows))
    Path(folder, "plain.csv").write_text(
        "".join(f"{line.rpartition(',')[0]}\n" for line in ["enroll,test,label,speaker,w", *rows])
    )
    Path(folder, "q.txt").write_text("1\n" + "".join(f"{name} {i % 7}\n" for i, name in names))
    Path(folder, "part.txt").write_text("".join(f"m {name} {SCORES[i, 1].item()!r}\n" for i, name in names if i % 5))


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("weighted", [1] * N, WEIGHT)
    write("repeated", WEIGHT, [1] * N)


def told(run, command):
    """What a command prints as JSON on weighted trials, and on repeated ones."""
    found, units = [], " --units speaker"
    for folder, words in (("weighted", f"--weights w{units}"), ("repeated", units)):
        code, out, err = run(re.sub(r"(\w+\.(txt|csv))", rf"{folder}/\1", command) + f" {words} --json")
        assert code == 0, err
        found.append(json.loads(out))
    return found


def same(one, other):
    """Compare nested metrics; what counts trials instead of weights is left out."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for name in one.keys() - {"training", "join", "inputs", "messages", "n_trials", "files", "options"}:
            same(one[name], other[name])
    elif isinstance(one, list):
        assert len(one) == len(other)
        for mine, theirs in zip(one, other, strict=True):
            same(mine, theirs)
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=1e-6, abs=1e-8)
    else:
        assert one == other


@pytest.mark.parametrize(
    "method",
    [
        "--p-target 0.1 --alpha 2 --beta 2 --ridge 0.01",
        "--method shift",
        "--method scale",
        "--method pav",
        "--method pav --interpolation step --smoothing 1",
        "--method gaussian --separate-variances",
        "--method beta --scores-are log_odds",
        "--method bound --low -2 --high 2",
        "--method affine,elub",
    ],
)
def test_calibrate_takes_whole_weights_for_copies(method, run):
    command = f"calibrate a.txt --key key.csv -o m.json {method} --cross-validate speaker:3 --dcf 0.1"
    weighted, repeated = told(run, command)
    same(weighted, repeated)
    assert weighted["before"]["n_tar"] == WEIGHT[TRUTH].sum()
    assert weighted["model"]["training"]["counts"] == {"n_tar": N // 3, "n_non": N - N // 3}
    assert weighted["model"]["training"]["results"]["weights_from"] == "w"
    assert "weights_from" not in repeated["model"]["training"]["results"]


@pytest.mark.parametrize(
    "how",
    [
        "b.txt --cross-validate speaker:3 --dcf 0.1",
        "b.txt --select --cross-validate speaker:3",
        "b.txt --quality q.txt --cross-validate speaker:3",
        "part.txt --missing subset --cross-validate speaker:3",
        "b.txt --apply-to b.txt --apply-to a.txt --apply-key key.csv",
    ],
)
def test_fuse_takes_whole_weights_for_copies(how, run):
    weighted, repeated = told(run, f"fuse a.txt {how} --key key.csv -o m.json")
    same(weighted, repeated)
    assert weighted["analysis"] is not None
    assert weighted["dev"][-1]["n_non"] == WEIGHT[~TRUTH].sum()
    assert load_model("m.json").training_.systems[0] == "a"


def replaced(file, cells):
    """Give trials, by their number, another score; None leaves them out."""
    lines = Path(file).read_text().splitlines()
    for i, score in cells.items():
        name = f"m s{i}x0 "
        lines = [f"{name}{score}" if x.startswith(name) else x for x in lines]
    Path(file).write_text("".join(f"{x}\n" for x in lines if not x.endswith("None")))


@pytest.mark.parametrize("how", ["", " --cross-validate speaker:3", " --select --cross-validate speaker:3"])
def test_fuse_does_not_care_about_trials_without_weight(how, run):
    unique, contrary = [i for i in np.flatnonzero(WEIGHT == 0).tolist() if i % 5][:2]
    replaced("weighted/a.txt", {unique: None, contrary: "inf"})
    replaced("weighted/part.txt", {contrary: "-inf"})
    same(*told(run, f"fuse a.txt part.txt --missing subset --key key.csv -o m.json{how}"))
    same(*told(run, "eval a.txt --missing drop --key key.csv"))
    code, _, err = run("fuse weighted/a.txt weighted/part.txt --key weighted/key.csv --missing subset -o m.json")
    assert code == 2
    assert f"first is trial (m, s{contrary}x0) (a: inf, part: -inf)" in " ".join(err.split())


@pytest.mark.parametrize("command", ["calibrate", "fuse weighted/b.txt", "fuse weighted/part.txt --missing subset"])
@pytest.mark.parametrize("how", ["", "--cross-validate speaker:3"])
def test_infinite_scores_are_told_by_the_trial_that_counts(command, how, run):
    first = next(i for i in np.flatnonzero(TRUTH & (WEIGHT == 0)).tolist() if i % 5)
    wrong = next(i for i in np.flatnonzero(TRUTH & (WEIGHT > 0)).tolist() if i % 5 and i > first)
    replaced("weighted/a.txt", {first: "-inf", wrong: "-inf"})
    name, _, rest = command.partition(" ")
    code, _, err = run(f"{name} weighted/a.txt {rest} --key weighted/key.csv -o m.json --weights w {how}")
    assert code == 2
    assert f"1 target trials score -inf, the first is trial (m, s{wrong}x0)" in " ".join(err.split())


def test_totals_of_weights_are_called_so(run):
    command = "fuse weighted/a.txt weighted/part.txt --missing subset --key weighted/key.csv -o m.json"
    weighted, plain = run(f"{command} --weights w")[1], run(command)[1]
    assert re.search(r"^system +weight +EER", weighted, flags=re.MULTILINE)
    assert re.search(r"^system +trials +EER", plain, flags=re.MULTILINE)
    report = "report weighted/a.txt --key weighted/key.csv -o r.html"
    for words in ("", "--weights w"):
        assert run(f"{report} {words}")[0] == 0
        assert ("Trials are weighted" in Path("r.html").read_text()) == bool(words)


def test_eval_takes_whole_weights_for_copies(run):
    same(*told(run, "eval a.txt b.txt --key key.csv --preset sre12"))


def test_weights_matter_and_are_told(run):
    command = "calibrate weighted/a.txt --key weighted/key.csv -o m.json --cross-validate speaker"
    code, out, err = run(f"{command} --weights w")
    assert code == 0, err
    n_zero = np.count_nonzero(WEIGHT == 0)
    assert f"weights  weighted/key.csv   column 'w'   from 1 to 3 · {n_zero} of {N} are 0" in err
    assert out != run(command)[1]


def test_another_key_may_lack_the_column(run):
    command = "fuse weighted/a.txt weighted/b.txt --key weighted/key.csv --weights w -o m.json --json"
    others = "--apply-to weighted/a.txt --apply-to weighted/b.txt --apply-key weighted"
    with_column, without = (run(f"{command} {others}/{name}.csv") for name in ("key", "plain"))
    assert with_column[0] == without[0] == 0
    assert "has no column" not in with_column[2]
    assert "warn  weighted/plain.csv   has no column 'w' of weights: all its trials have equal weight" in without[2]
    with_column, without = json.loads(with_column[1]), json.loads(without[1])
    assert with_column["dev"] == without["dev"] == with_column["eval"]
    assert without["eval"][-1]["n_tar"] == N // 3
    assert without["eval"][-1]["cllr"] != without["dev"][-1]["cllr"]


TRAINED = "report weighted/a.txt --key weighted/{test}.csv --train weighted/b.txt --train-key weighted/{train}.csv"
TRAINED += " --model m.json -o r.html"
NOT_THESE, NAME_THE_COLUMN = "not the training trials of the model", "a column 'w': name it (--weights)"


def test_a_report_knows_weighted_trials_again(run):
    assert run("calibrate weighted/b.txt --key weighted/key.csv --weights w -o m.json")[0] == 0
    told = {}
    for test, train, words in (("plain", "key", "--weights w"), ("key", "key", ""), ("key", "plain", "--weights w")):
        code, _, err = run(f"{TRAINED.format(test=test, train=train)} {words}")
        told[test, train] = (code, " ".join(err.split()))
    assert told["plain", "key"][0] == 0
    assert not any(words in told["plain", "key"][1] for words in (NOT_THESE, NAME_THE_COLUMN))
    assert "plain.csv has no column 'w' of weights" in told["plain", "key"][1]
    assert NAME_THE_COLUMN in told["key", "key"][1]
    assert told["key", "plain"][0] == 2
    assert "plain.csv: no column 'w' contains the weights of trials" in told["key", "plain"][1]
    assert "Column with the weights of trials" in Path("r.html").read_text()
    assert run("calibrate weighted/b.txt --key weighted/key.csv -o m.json")[0] == 0
    _, _, err = run(f"{TRAINED.format(test='key', train='key')} --weights w")  # trained on these, without weights
    assert not any(words in " ".join(err.split()) for words in (NOT_THESE, NAME_THE_COLUMN))


def test_a_report_of_a_fusion_shows_the_weighted_figures(run):
    command = "fuse weighted/a.txt weighted/b.txt --key weighted/key.csv --weights w -o m.json"
    (printed,) = re.findall(r"^fusion +\d.*$", run(command)[1], flags=re.MULTILINE)
    report = "report weighted/a.txt weighted/b.txt --key weighted/key.csv --model m.json -o r.html"
    weighted, plain = (run(f"{report} {words}")[1] for words in ("--weights w", ""))
    assert printed.split() in [line.split() for line in weighted.splitlines()]
    assert printed.split() not in [line.split() for line in plain.splitlines()]


def changed(**cells):
    """The key with the weight of one trial, by its name, or of a class replaced."""
    lines = Path("weighted/key.csv").read_text().splitlines()
    for name, value in cells.items():
        lines = [f"{x.rpartition(',')[0]},{value}" if f",{name}" in x else x for x in lines]
    Path("bad.csv").write_text("\n".join(lines))


BAD = {
    "no column": ({}, "v", "bad.csv: no column 'v' contains the weights of trials; the columns are speaker, w"),
    "the label": (
        {},
        "label",
        "no column 'label' contains the weights of trials; the columns are speaker, w (besides the names",
    ),
    "a word": (
        {"s7x0": "heavy"},
        "w",
        "bad.csv:9: 'heavy' in column 'w', which contains the weights of trials, is not a number",
    ),
    "no words": ({}, "speaker", "bad.csv:2: 'k0' in column 'speaker'"),
    "negative": ({"s7x0": "-1"}, "w", "bad.csv:9: -1 in column 'w', but weights are finite and at least 0"),
    "NaN": ({"s7x0": "nan"}, "w", "bad.csv:9: nan in column 'w', but weights are finite"),
    "infinite": ({"s7x0": "1e999"}, "w", "bad.csv:9: inf in column 'w', but weights are finite"),
    "no value": ({"s7x0": ""}, "w", "bad.csv:9: no value in column 'w', which contains the weights of trials (1 such"),
    "no targets": ({"target": "0"}, "w", "bad.csv, column 'w': all target trials have weight 0"),
    "no non-targets": ({"nontarget": "0"}, "w", "bad.csv, column 'w': all non-target trials have weight 0"),
    "nothing": ({"target": "0", "nontarget": "0"}, "w", "bad.csv, column 'w': all 120 weights are 0"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize(
    "command",
    ["calibrate weighted/a.txt -o out", "fuse weighted/a.txt weighted/b.txt -o out", "eval weighted/a.txt"],
    ids=lambda command: command.split()[0],
)
def test_what_are_no_weights_is_refused_with_its_place(command, case, run):
    cells, column, words = BAD[case]
    changed(**cells)
    code, out, err = run(f"{command} --key bad.csv --weights {column}")
    assert code == 2
    assert words in " ".join(err.split())
    assert out == ""
    assert not Path("out").exists()
