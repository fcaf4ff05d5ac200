"""``deciban report`` with training scores and a model."""

import json
import shlex

import numpy as np
import pytest
from click import Abort, UsageError
from click.testing import CliRunner

from deciban.calibration import AffineCalibrator
from deciban.cli import evaluate
from deciban.cli.evaluate import eval_command, report_command
from deciban.errors import InputError
from support.pages import script_data


@pytest.fixture
def files(tmp_path):
    for name, seed in (("dev", 1), ("eval", 2)):
        rng = np.random.default_rng(seed)
        score = np.append(rng.normal(3, 1, 60), rng.normal(0, 1, 240)).round(3)
        truth = np.arange(300) < 60
        (tmp_path / f"{name}.txt").write_text("".join(f"m s{i} {value}\n" for i, value in enumerate(score)))
        words = ["target" if t else "nontarget" for t in truth]
        (tmp_path / f"{name}.key").write_text("".join(f"m s{i} {word}\n" for i, word in enumerate(words)))
        if name == "dev":
            AffineCalibrator(p_target=0.1).fit(score, truth).save(tmp_path / "model.json")
    return tmp_path


def run(folder, *words):
    given = [str(folder / word) if "." in word and not word.startswith("0") else word for word in words]
    return CliRunner().invoke(report_command, [*given, "-o", str(folder / "out.html")])


TRAINING = ("--train", "dev.txt", "--train-key", "dev.key")


@pytest.mark.parametrize(
    ("words", "there", "missing"),
    [
        (TRAINING, ["Training and test", "Training data"], ["<h2>Model</h2>", "test, before"]),
        (("--model", "model.json"), ["Before and after calibration", "<h2>Model</h2>"], ["Training data"]),
        ((*TRAINING, "--model", "model.json"), ["Training and test", "test, before", "converged in"], []),
    ],
)
def test_what_is_given_is_shown(files, words, there, missing):
    done = run(files, "eval.txt", "--key", "eval.key", "--dcf", "0.1", *words)
    assert done.exit_code == 0, done.output
    page = (files / "out.html").read_text()
    for text in there:
        assert text in page
    for text in missing:
        assert text not in page
    assert ("dev.txt" in done.stderr) == ("--train" in words)


def test_a_calibrated_system_has_its_name_in_the_table_and_on_the_page(files):
    done = run(files, "eval.txt", "--key", "eval.key", "--model", "model.json")
    assert "\neval (calibrated)  " in done.stdout
    page = (files / "out.html").read_text()
    assert "eval (calibrated)" in page
    assert "eval (before calibration)" in page


def test_notes_are_printed_by_quiet_commands(files):
    scores = "".join(f"m s{i} {(i < 60) / 2 + i % 7 / 20}\n" for i in range(300))
    (files / "p.txt").write_text(scores)
    done = run(files, "p.txt", "--key", "eval.key", "-q")
    assert done.stdout == ""
    assert "p: All scores lie in [0, 1]" in done.stderr


def test_training_scores_need_as_many_systems(files):
    done = run(files, "eval.txt", "--key", "eval.key", "--train", "dev.txt", *TRAINING)
    assert isinstance(done.exception, InputError)
    assert "training: 2 systems, but 1" in str(done.exception)
    assert not (files / "out.html").exists()


@pytest.mark.parametrize("name", ["eval.txt", "eval.key", "dev.txt", "dev.key", "model.json"])
def test_an_input_is_not_replaced(files, name):
    before = (files / name).read_bytes()
    words = [str(files / word) if "." in word else word for word in ("eval.txt", "--key", "eval.key", *TRAINING)]
    done = CliRunner().invoke(report_command, [*words, "--model", str(files / "model.json"), "-o", str(files / name)])
    assert isinstance(done.exception, InputError)
    assert "Choose another name for the output" in str(done.exception)
    assert (files / name).read_bytes() == before


def test_what_is_calibrated_says_so(files):
    done = run(files, "eval.txt", "--key", "eval.key", "--model", "model.json")
    assert ": llrs computed by the model (affine) from its scores" in done.stderr
    assert ": llrs computed by the model (affine) from its scores" in (files / "out.html").read_text()
    assert "computed by the model" not in run(files, "eval.txt", "--key", "eval.key").stderr


def test_a_key_for_training_without_scores(files, run_binary, monkeypatch):
    monkeypatch.chdir(files)
    code, _, err = run_binary("report", "eval.txt", "--key", "eval.key", "--train-key", "dev.key", "-o", "new.html")
    assert (code, "Name them (--train)" in err or "Name them --train" in err) == (2, True), err
    assert not (files / "new.html").exists()


def test_a_page_on_standard_output_is_alone_there(files, run_binary, monkeypatch):
    monkeypatch.chdir(files)
    code, out, err = run_binary("report", "eval.txt", "--key", "eval.key", "-o", "-")
    assert code == 0
    assert out.startswith(b"<!DOCTYPE html>")
    assert out.rstrip().endswith(b"</html>")
    assert "EER (ROCCH)" in err
    assert "wrote standard output" in err
    assert not (files / "-").exists()


def test_a_picture_needs_a_name_that_says_its_format(files, run_binary, monkeypatch):
    monkeypatch.chdir(files)
    code, out, err = run_binary("plot", "det", "eval.txt", "--key", "eval.key", "-o", "-")
    assert (code, out) == (2, b"")
    assert "'-' must end in .svg, .png or .pdf" in " ".join(err.split())


def test_one_system_is_one(files):
    done = run(
        files,
        "eval.txt",
        "dev.txt",
        "--missing",
        "fill=0",
        "--key",
        "eval.key",
        "--train",
        "dev.txt",
        "--train-key",
        "dev.key",
    )
    assert "training: 1 system, but 2" in str(done.exception)


def data_of(page):
    """What the scripts of a page know."""
    return script_data(page.read_text())


@pytest.mark.parametrize(
    "words",
    [
        ["--log10", "--where", "side=l", "--no-intervals", "--dcf", "0.2"],
        ["--weights", "times", "--name", "it's $me", "--worst", "3", "-q", "--json"],
        ["--labels", "target=1,nontarget=0", "--title", "A page", "--by", "side"],
    ],
)
def test_the_command_on_a_page_evaluates_as_the_page_did(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    rows = [f"t{i},{rng.normal(1.5 * (i % 3 == 0)):.2f},{i % 3 == 0:d},{'lr'[i % 2]},{i % 4}" for i in range(120)]
    (tmp_path / "-odd name.csv").write_text("\n".join(["utt,llr,cls,side,times", *rows]))
    given = [*words, "--columns", "trial=utt,score=llr,label=cls", "--", "-odd name.csv"]
    done = CliRunner().invoke(report_command, ["-o", "out.html", *given])
    assert done.exit_code == 0, done.output
    data = data_of(tmp_path / "out.html")
    place = int(np.argmin(np.abs(np.array(data["priors"]) - 0.1)))
    command = shlex.split(f"{data['command']} --dcf {data['priors'][place]} --json")
    again = CliRunner().invoke(eval_command, command[2:])
    assert again.exit_code == 0, again.output
    (one,) = json.loads(again.stdout)["systems"]
    (system,) = data["sets"][0]["systems"]
    assert (one["name"], one["n_tar"], one["n_non"]) == tuple(system[name] for name in ("name", "n_tar", "n_non"))
    assert one["operating_points"][0]["act_dcf"] == pytest.approx(system["act_dcf"][place], rel=1e-7)
    assert one["operating_points"][0]["min_dcf"] == pytest.approx(system["min_dcf"][place], rel=1e-7)


def test_a_page_is_written_again_when_a_file_changes(files, monkeypatch, capsys):
    """Also after a file that was damaged or missing for a while; Ctrl-C ends it."""
    key, page, content = files / "eval.key", files / "out.html", (files / "eval.key").read_text()
    shown = []

    def add_trials(_):
        shown.append(page.read_text() if page.exists() else "")
        looks = len(shown)
        if looks == 1:
            key.write_text("one line")
        elif looks == 3:
            key.unlink()
        elif looks == 4:
            key.write_text(content.replace("m s59 target", "m s59 nontarget"))
        elif looks == 8:
            raise KeyboardInterrupt

    monkeypatch.setattr("time.sleep", add_trials)
    with pytest.raises(Abort):
        report_command.main(
            [str(files / "eval.txt"), "--key", str(key), "--watch", "-o", str(page)], standalone_mode=False
        )
    assert "unclear which column is the label: 'one line'" in capsys.readouterr().err
    assert shown[0] == shown[3] != shown[-1]


def test_watching_goes_on_after_files_that_do_not_suit_the_options(tmp_path, monkeypatch, capsys):
    path, calls = tmp_path / "a", []
    path.touch()

    def write():
        calls.append(path.read_text())
        if calls[-1] == "multiclass":
            raise UsageError("--classifier needs two classes")

    def change(_):
        text = ("multiclass", "good again", "")[len(calls) - 1]
        if not text:
            raise KeyboardInterrupt
        if path.read_text() != text:
            path.write_text(text)

    monkeypatch.setattr("time.sleep", change)
    with pytest.raises(KeyboardInterrupt):
        evaluate._watch(write, [path])
    assert calls == ["", "multiclass", "good again"]
    assert capsys.readouterr().err == "deciban: --classifier needs two classes\n"


@pytest.mark.parametrize("words", [("eval.txt", "--key", "-", "--watch"), ("eval.txt", "--watch", "--json")])
def test_streams_cannot_be_watched(files, words):
    found = run(files, *words)
    assert found.exit_code == 2
    assert "--watch needs files" in found.output
