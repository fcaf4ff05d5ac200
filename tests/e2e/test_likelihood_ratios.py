"""Files and arrays of likelihood ratios that are no logarithms: read as such, and never taken for logarithms."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import deciban
from deciban import InputError, metrics
from deciban.calibration import AffineCalibrator
from deciban.workflows import Options
from deciban.workflows.evaluate import evaluate_source
from deciban.workflows.reading.inputs import open_source
from support.commands import terminal

N_TAR, N_NON = 80, 200
NOTE = "All scores are positive, from"


@pytest.fixture
def run(tmp_path, monkeypatch, capsysbinary):
    """Runs a command in a folder of its own; what it prints comes as text."""
    monkeypatch.chdir(tmp_path)
    typed = terminal(monkeypatch, capsysbinary)

    def runner(words):
        code, out, err = typed(words)
        return code, out.decode(), err

    return runner


@pytest.fixture(scope="module")
def ratios():
    """Likelihood ratios of targets and of non-targets."""
    rng = np.random.default_rng(5)
    return np.exp(rng.normal(2.0, 2.0, N_TAR)), np.exp(rng.normal(-2.0, 2.0, N_NON))


@pytest.fixture
def files(tmp_path, ratios, monkeypatch):
    """The same in files of all shapes, in the working folder."""
    monkeypatch.chdir(tmp_path)
    tar, non = ratios
    every, labels = [*tar.tolist(), *non.tolist()], ["H1"] * N_TAR + ["H2"] * N_NON
    lines("same.txt", map(repr, tar.tolist()))
    lines("different.txt", map(repr, non.tolist()))
    lines("same_log.txt", map(repr, np.log(tar).tolist()))
    lines("different_log.txt", map(repr, np.log(non).tolist()))
    lines("all.txt", (f"t{k} {value!r}" for k, value in enumerate(every)))
    lines("log.txt", (f"t{k} {np.log(value).item()!r}" for k, value in enumerate(every)))
    lines("key.txt", (f"t{k} {'target' if one == 'H1' else 'nontarget'}" for k, one in enumerate(labels)))
    lines("lir.csv", ["LR,hypothesis", *(f"{one!r},{word}" for one, word in zip(every, labels, strict=True))])
    return every, labels


def lines(path, rows):
    Path(path).write_text("".join(f"{row}\n" for row in rows))


def expected(tar, non):
    """Cllr by its definition (Brümmer and du Preez 2006), of likelihood ratios."""
    return (np.log2(1.0 + 1.0 / tar).mean() + np.log2(1.0 + non).mean()) / 2


def cllr_of(run, words):
    code, out, err = run(f"eval {words} --no-intervals --json")
    assert code == 0, err
    return json.loads(out)["systems"][0]["cllr"], err


@pytest.mark.usefixtures("files")
def test_the_first_minute_of_a_forensic_examiner(run, ratios):
    code, out, err = run("eval --tar same.txt --non different.txt --no-intervals")
    assert code == 0, err
    assert NOTE in out
    assert "add --lr." in " ".join(out.split())
    found, err = cllr_of(run, "--tar same.txt --non different.txt --lr")
    assert "likelihood ratios (not logarithms)" in err
    logarithms, _ = cllr_of(run, "--tar same_log.txt --non different_log.txt")
    assert found == logarithms
    assert found == pytest.approx(expected(*ratios), rel=1e-13)
    assert cllr_of(run, "lir.csv")[0] == found


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("words", "is_noted"),
    [
        ("all.txt --key key.txt", True),
        ("all.txt --key key.txt --lr", False),
        ("log.txt --key key.txt", False),
        ("lir.csv", False),
    ],
)
def test_the_note_names_the_option_and_ends_with_it(run, words, is_noted):
    for command in (
        "eval",
        "calibrate -o m.json",
        *(("report -o page.html", "plot det -o det.svg") if is_noted else ()),
    ):
        code, out, err = run(f"{command} {words}")
        assert code == 0, err
        assert (NOTE in out + err) == is_noted, command


COMMANDS = (
    "compare all.txt other.txt --key key.txt -q",
    "fuse all.txt other.txt --key key.txt -o m.json -q",
    "plan all.txt --key key.txt --width 0.05 -q",
    "summarize all.txt --key key.txt -o all.summary -q",
    "validate all.txt --trials key.txt -q",
    "decide all.txt --costs costs.toml --prior 0.1 -o decided.txt -q",
    "inspect all.txt",
)
COSTS = 'actions = ["accept", "reject"]\nclasses = ["target", "nontarget"]\ncosts = [[0, 1], [10, 0]]\n'


@pytest.mark.parametrize("command", COMMANDS)
def test_other_commands_note_likelihood_ratios(run, files, command):
    """Also where nothing else is printed of the scores; declared ratios are not noted."""
    every, _ = files
    others = (np.array(every) * np.exp(np.random.default_rng(6).normal(size=len(every)))).tolist()
    lines("other.txt", (f"t{k} {value!r}" for k, value in enumerate(others)))
    Path("costs.toml").write_text(COSTS)
    code, out, err = run(command)
    assert code == 0, err
    assert NOTE in out + err
    code, out, err = run(f"{command} --lr")
    assert code == 0, err
    assert NOTE not in out + err


@pytest.mark.usefixtures("files")
def test_a_model_is_applied_to_ratios_with_a_note(run):
    assert run("calibrate log.txt --key key.txt -o m.json")[0] == 0
    Path("costs.toml").write_text(COSTS)
    for command in (
        "apply m.json all.txt -o llrs.txt -q",
        "decide all.txt --model m.json --costs costs.toml --prior 0.1 -o decided.csv -q",
        "report all.txt --key key.txt --model m.json -o page.html -q",
    ):
        code, _, err = run(command)
        assert code == 0, err
        assert NOTE in err, command
        code, _, err = run(command.replace("all.txt", "log.txt"))
        assert code == 0, err
        assert NOTE not in err, command


@pytest.mark.parametrize("header", ["LR", "lr", "likelihood_ratio", "Likelihood ratio"])
@pytest.mark.parametrize(
    "labels", [("H1", "H2"), ("Hp", "Hd"), ("same-source", "different-source"), ("KM", "KNM"), (1, 0)]
)
def test_the_name_of_a_column_declares_likelihood_ratios(run, ratios, header, labels):
    rows = [f"{one!r},{word}" for part, word in zip(ratios, labels, strict=True) for one in part.tolist()]
    lines("a.csv", [f"{header},hypothesis", *rows])
    assert cllr_of(run, "a.csv")[0] == pytest.approx(expected(*ratios), rel=1e-13)


@pytest.mark.parametrize(
    ("header", "base"),
    [
        ("log10_lr", 10.0),
        ("log10LR", 10.0),
        ("llr_log10", 10.0),
        ("lrlog10", 10.0),
        ("log10(LR)", 10.0),
        ("ln(LR)", np.e),
        ("loglr", np.e),
        ("log_lr", np.e),
        ("lnLR", np.e),
        ("llr", np.e),
    ],
)
def test_names_of_logarithms_state_their_base(run, ratios, header, base):
    rows = [
        f"{one!r},{word}"
        for part, word in zip(ratios, (1, 0), strict=True)
        for one in (np.log(part) / np.log(base)).tolist()
    ]
    lines("a.csv", [f"{header},label", *rows])
    assert cllr_of(run, "a.csv")[0] == pytest.approx(expected(*ratios), rel=1e-12)


@pytest.mark.parametrize("write", [pq.write_table, feather.write_feather])
def test_columns_of_parquet_and_frames(run, files, ratios, write):
    every, labels = files
    table = pa.table({"LR": every, "label": [word == "H1" for word in labels]})
    write(table, "a.file")
    found, err = cllr_of(run, "a.file")
    assert found == pytest.approx(expected(*ratios), rel=1e-13)
    assert "likelihood ratios (not logarithms)" in err
    assert deciban.evaluate(table, score="LR").cllr == found
    renamed = table.rename_columns(["x", "label"])
    assert deciban.evaluate(renamed, score="x", lr=True).cllr == found
    assert deciban.evaluate(renamed, score="x").cllr != found


def test_arrays(ratios):
    tar, non = ratios
    assert deciban.evaluate(tar, non, lr=True).cllr == metrics.cllr(np.log(tar), np.log(non))
    assert deciban.evaluate(tar, non).notes[0].startswith(NOTE)
    with pytest.raises(InputError, match=r"tar: 1 of 2 scores are negative or NaN, the first at index 1: -1"):
        deciban.evaluate([2.0, -1.0], [0.5, 0.5], lr=True)
    likelihood, label = np.random.default_rng(2).random((60, 3)), np.arange(60) % 3
    found = deciban.evaluate_classes(likelihood, label, lr=True)
    assert found.cllr == deciban.evaluate_classes(np.log(likelihood), label).cllr


def test_zero_and_infinity_are_infinite_logarithms(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines("a.csv", ["lr,label", "inf,1", "2,1", "0,0", "0.5,0"])
    assert deciban.read_scores("a.csv").score.tolist() == [np.inf, np.log(2.0), -np.inf, np.log(0.5)]


def test_negative_ratios_are_refused_with_their_line(run):
    lines("a.csv", ["trial,lr,label", "a,2,1", "b,-0.5,0"])
    code, _, err = run("eval a.csv")
    assert code == 2
    assert "a.csv:3: lr: 1 of 2 scores are negative or NaN, the first here: -0.5" in err
    assert "rename the column lr" in err
    lines("b.txt", ["a 2", "b nan"])
    assert "b.txt:2: the score is NaN" in run("eval b.txt --key a.csv --lr")[2]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("other", ["--log10", "--probabilities 0.5", "--posterior-prior flat", "--detection-llr"])
def test_scores_have_one_unit(run, other):
    code, _, err = run(f"eval all.txt --key key.txt --lr {other}")
    assert code == 2
    assert "Leave one out" in err


@pytest.mark.usefixtures("files")
def test_a_name_that_contradicts_an_option_is_refused(run):
    code, _, err = run("eval lir.csv --log10")
    assert code == 2
    assert "column 'LR' contains likelihood ratios (lr) by its name, but you declared common logarithms (log10)" in err
    lines("b.csv", ["llr,hypothesis", "0.5,1", "-0.5,0"])
    code, _, err = run("eval b.csv --lr")
    assert code == 2
    assert "contains common logarithms (log10) as it declares, but you declared likelihood ratios (lr)" in err


@pytest.mark.usefixtures("files")
def test_llrs_are_not_written_under_a_name_of_ratios(run):
    """What reads them again must take them for natural logarithms."""
    assert run("calibrate lir.csv -o m.json")[0] == 0
    code, _, err = run("apply m.json lir.csv -o llr.csv")
    assert code == 0
    assert "in the column ln_lr" in err
    assert Path("llr.csv").read_text().startswith("ln_lr,hypothesis\n")
    ratio = deciban.read_scores("lir.csv").score
    found = deciban.read_scores("llr.csv")
    assert found.unit == "nats"
    np.testing.assert_allclose(found.score, deciban.load_model("m.json").transform(ratio), rtol=1e-15)


def test_converted_files_hold_logarithms_and_cannot_be_declared_again(run, files):
    code, _, err = run("convert all.txt a.parquet --lr")
    assert code == 0
    assert "likelihood ratios (not logarithms)" in err
    np.testing.assert_array_equal(deciban.read_scores("a.parquet").score, np.log(files[0]))
    assert deciban.read_scores("a.parquet").unit == "lr"
    code, _, err = run("eval a.parquet --key key.txt --lr")
    assert code == 2
    assert "its metadata declare natural logarithms of likelihood ratios" in err


@pytest.mark.parametrize("name", ["all.npy", "all.npz"])
def test_formats_of_arrays(files, name):
    scores = np.array(files[0])
    np.save(name, scores) if name.endswith("npy") else np.savez(name, score=scores)
    np.testing.assert_array_equal(deciban.read_scores(name, lr=True).score, np.log(scores))
    np.save("bad.npy", -scores)
    with pytest.raises(deciban.FormatError, match=r"bad.npy, row 0: lr: 280 of 280 scores are negative"):
        deciban.read_scores("bad.npy", lr=True)


TRAINED = {
    "lr": ("likelihood ratios", "--lr"),
    "log10": ("common logarithms", "--log10"),
    None: ("scores without a declared type", None),
}


@pytest.mark.usefixtures("files")
def test_models_remember_the_unit_of_training(run):
    models = {}
    lines("costs.toml", ['actions = ["a", "r"]', 'classes = ["target", "nontarget"]', "costs = [[0, 1], [1, 0]]"])
    for unit in TRAINED:
        given = {} if unit is None else {unit: True}
        models[unit] = deciban.train_files("all.txt", "key.txt", AffineCalibrator(), **given).model
        models[unit].save(f"{unit}.json")
    for unit, (own, option) in TRAINED.items():
        for other, (given, _) in TRAINED.items():
            words = "" if other is None else f" --{other}"
            for command in ("apply -o out.txt", "decide -o out.csv --costs costs.toml --prior 0.5"):
                model = f"--model {unit}.json" if command.startswith("decide") else f"{unit}.json"
                code, _, err = run(f"{command} {model} all.txt{words}")
                assert (code == 2) == (unit != other)
                if unit != other:
                    assert f"was trained on {own}" in err
                    assert f"but these are {given}" in err
                    assert option is None or option in err
            if unit == other:
                continue
            chosen = {} if other is None else {other: True}
            with pytest.raises(InputError, match=f"was trained on {own}.*but these are {given}"):
                deciban.evaluate_files("all.txt", "key.txt", model=models[unit], **chosen)


@pytest.mark.usefixtures("files")
def test_a_model_without_a_unit_takes_all_scores(run):
    deciban.train_files("all.txt", "key.txt", AffineCalibrator(), lr=True).model.save("m.json")
    text = json.loads(Path("m.json").read_text())
    del text["training"]["results"]["unit"]
    Path("old.json").write_text(json.dumps(text))
    for words in ("", " --lr"):
        assert run(f"apply old.json all.txt -o out.txt{words}")[0] == 0


def test_a_fusion_remembers_the_unit_of_each_system(run, files):
    every, _ = files
    lines("named.csv", ["trial,LR", *(f"t{k},{one * (1.5 if k % 3 else 0.5)!r}" for k, one in enumerate(every))])
    code, _, err = run("fuse log.txt named.csv --key key.txt -o f.json --ridge 1")
    assert code == 0, err
    assert deciban.load_model("f.json").training_.results["unit"] == "undeclared,lr"
    assert run("apply f.json named.csv log.txt -o out.txt")[0] == 0  # by their names
    lines("log.csv", ["trial,score", *(f"t{k},{np.log(one).item()!r}" for k, one in enumerate(every))])
    code, _, err = run("apply f.json log.txt log.csv -o out.txt")
    assert code == 2
    assert "scores without a declared type and likelihood ratios" in err


@pytest.mark.parametrize(
    ("path", "options", "unit"),
    [
        ("all.txt", {"lr": True}, "lr"),
        ("named.csv", {}, "lr"),
        ("named.parquet", {}, "lr"),
        ("all.parquet", {"lr": True}, "lr"),
        ("all.parquet", {}, "nats"),
        ("log.txt", {"log10": True}, "log10"),
    ],
)
def test_batches_hold_the_same_logarithms(files, path, options, unit):
    every, _ = files
    names = [f"t{k}" for k in range(len(every))]
    lines("named.csv", ["trial,LR", *(f"t{k},{value!r}" for k, value in enumerate(every))])
    pq.write_table(pa.table({"trial": names, "LR": every}), "named.parquet", row_group_size=50)
    pq.write_table(pa.table({"trial": names, "score": every}), "all.parquet", row_group_size=50)
    asked = Options.of("evaluate_files", options)
    source = open_source([path], "key.txt", asked)
    assert source.units == (unit,)
    found, whole = evaluate_source(source, asked), deciban.evaluate_files(path, "key.txt", **options)
    assert found.systems[0].cllr == pytest.approx(whole.systems[0].cllr, rel=1e-13)
    assert found.systems[0].notes == whole.systems[0].notes
    assert any(one.startswith(NOTE) for one in found.systems[0].notes) == (unit == "nats")


def test_a_model_is_applied_to_a_folder_as_to_a_file(run, files):
    every, _ = files
    names = [f"t{k}" for k in range(len(every))]
    table = pa.table({"trial": names, "LR": every})
    Path("in").mkdir()
    for at, part in enumerate((table.slice(0, 100), table.slice(100))):
        pq.write_table(part, f"in/{at}.parquet", row_group_size=30)
    deciban.train_files("all.txt", "key.txt", AffineCalibrator(), lr=True).model.save("m.json")
    code, _, err = run("apply m.json in -o out/")
    assert code == 0, err
    expected = deciban.load_model("m.json").transform(np.log(every))
    found = deciban.read_scores("out")
    np.testing.assert_allclose(found.score, expected, rtol=1e-14)
    assert found.unit == "nats"
    deciban.train_files("all.txt", "key.txt", AffineCalibrator()).model.save("raw.json")
    code, _, err = run("apply raw.json in -o other/")
    assert code == 2
    assert "was trained on scores without a declared type, but these are likelihood ratios" in err
    pq.write_table(table.rename_columns(["trial", "score"]), "in/0.parquet", row_group_size=30)
    Path("in/1.parquet").unlink()
    code, _, err = run("apply raw.json in -o third/")
    assert code == 0
    assert NOTE in err


def test_a_bad_ratio_of_a_batch_is_named(files):
    every, _ = files
    pq.write_table(pa.table({"trial": [f"t{k}" for k in range(280)], "lr": [*every[:-1], -2.0]}), "bad.parquet")
    with pytest.raises(deciban.FormatError, match=r"bad.parquet.*row.*279.*negative or NaN, the first here: -2"):
        open_source(["bad.parquet"], "key.txt", Options.of("evaluate_files", {}))
