"""Training with units, and the bounds of each llr, as users type them."""

import base64
import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

from deciban import load_model, read_scores
from support.resampled import all_by_all

pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Scores of two systems, a key, and whose segments they are."""
    monkeypatch.chdir(tmp_path)
    data = all_by_all(n_speakers=15, seed=1)
    one, other = np.triu_indices(30, 1)
    names = [f"s{a} s{b}" for a, b in zip(one, other, strict=True)]
    for name, score in (("a", data.score), ("b", data.second)):
        Path(f"{name}.txt").write_text("".join(f"{n} {x!r}\n" for n, x in zip(names, score.tolist(), strict=True)))
    words = np.where(data.is_target, "target", "nontarget")
    Path("key.txt").write_text("".join(f"{n} {word}\n" for n, word in zip(names, words, strict=True)))
    Path("utt2spk").write_text("".join(f"s{k} spk{k // 2}\n" for k in range(30)))
    rows = [f"{n.replace(' ', ',')},{x!r},f" for n, x in zip(names, data.score.tolist(), strict=True)]
    Path("a.csv").write_text("enroll,test,score,gender\n" + "\n".join(rows) + "\n")


def columns(path):
    with Path(path).open() as stream:
        rows = list(csv.DictReader(stream))
    return {name: [row[name] for row in rows] for name in rows[0]}


def floats(values):
    return np.array(values, float)


def test_from_scores_to_bounds(run):
    code, out, err = run("calibrate", "a.txt", "--key", "key.txt", "-o", "model.json", "--units", "utt2spk")
    assert code == 0, err
    model = load_model("model.json")
    assert model.uncertainty_.n_units == 15
    assert f"scale {model.scale_:.6g} ± " in out
    assert "standard errors: jackknife, by 15 units (by utt2spk); fewer than 30" in out
    code, _, err = run("apply", "model.json", "a.csv", "-o", "llr.csv", "--interval", "--level", "0.9")
    assert code == 0, err
    assert "intervals of llrs: 90 %; standard errors: jackknife" in err
    found = columns("llr.csv")
    assert list(found) == ["enroll", "test", "score", "gender", "llr_low", "llr_high"]
    scores = read_scores("a.csv").score
    low, high = model.interval(scores, level=0.9)
    np.testing.assert_array_equal(floats(found["llr_low"]), low)
    np.testing.assert_array_equal(floats(found["llr_high"]), high)
    np.testing.assert_array_equal(floats(found["score"]), model.transform(scores))


def test_speakers_are_found_where_nothing_is_said_and_may_be_left_out(run):
    run("calibrate", "a.txt", "--key", "key.txt", "-o", "found.json")
    run("calibrate", "a.txt", "--key", "key.txt", "-o", "named.json", "--units", "utt2spk")
    found, named = load_model("found.json"), load_model("named.json")
    assert found.uncertainty_.noun == "speaker"
    np.testing.assert_allclose(found.parameter_covariance_, named.parameter_covariance_, rtol=1e-9)
    run("calibrate", "a.txt", "--key", "key.txt", "-o", "none.json", "--no-intervals")
    assert load_model("none.json").uncertainty_ is None
    code, _, err = run("apply", "none.json", "a.csv", "-o", "llr.csv", "--interval")
    assert code != 0
    assert "training had no units" in err
    assert "--units" in err
    assert not Path("llr.csv").exists()


def test_fusions_and_pav(run):
    code, out, err = run("fuse", "a.txt", "b.txt", "--key", "key.txt", "-o", "fusion.json")
    assert code == 0, err
    assert "standard error" in out
    assert run("apply", "fusion.json", "a.txt", "b.txt", "-o", "fused.parquet", "--interval")[0] == 0
    assert run("calibrate", "a.txt", "--key", "key.txt", "-o", "pav.json", "--method", "pav")[0] == 0
    assert run("apply", "pav.json", "a.csv", "-o", "pav.csv", "--interval")[0] == 0
    found = columns("pav.csv")
    low, llr, high = (floats(found[name]) for name in ("llr_low", "score", "llr_high"))
    assert np.all((low <= llr) & (llr <= high))


def test_formats_without_columns_refuse(run):
    run("calibrate", "a.txt", "--key", "key.txt", "-o", "model.json")
    code, _, err = run("apply", "model.json", "a.txt", "-o", "llr.txt", "--interval")
    assert code != 0
    assert "kaldi cannot contain the columns llr_low and llr_high" in err
    assert run("apply", "model.json", "a.txt", "-o", "llr.csv", "--interval")[0] == 0


def test_a_level_without_intervals_is_refused(run):
    run("calibrate", "a.txt", "--key", "key.txt", "-o", "model.json")
    code, _, err = run("apply", "model.json", "a.csv", "-o", "llr.csv", "--level", "0.9")
    assert code == 2
    assert "add --interval" in err


@pytest.mark.parametrize(
    ("train", "scores"), [("calibrate", "a.csv"), ("calibrate", "a.csv --method pav"), ("fuse", "a.csv b.txt")]
)
def test_training_writes_the_bounds_that_the_model_does(run, train, scores):
    words = f"{train} {scores} --key key.txt -o model.json --llrs llr.csv --interval --level 0.9 -q"
    code, _, err = run(words)
    assert code == 0, err
    inputs = scores.partition(" --")[0]
    assert run(f"apply model.json {inputs} -o applied.csv --interval --level 0.9")[0] == 0
    assert Path("llr.csv").read_text() == Path("applied.csv").read_text()
    found = columns("llr.csv")
    assert list(found) == ["enroll", "test", "score", "gender", "llr_low", "llr_high"]
    assert np.all(floats(found["llr_low"]) <= floats(found["llr_high"]))


def test_training_writes_bounds_of_other_trials(run):
    words = "calibrate a.txt --key key.txt -o model.json --cross-validate 5 --apply-to a.csv --llrs llr.csv --interval"
    code, _, err = run(words)
    assert code == 0, err
    low, high = load_model("model.json").interval(read_scores("a.csv").score)
    np.testing.assert_array_equal(floats(columns("llr.csv")["llr_low"]), low)
    np.testing.assert_array_equal(floats(columns("llr.csv")["llr_high"]), high)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--interval", "--apply-to, --to, --interval and --as set what to write to --llrs OUT"),
        ("--interval --llrs llr.txt", "kaldi cannot contain the columns llr_low and llr_high"),
        ("--interval --llrs llr.csv --cross-validate 5", "cross-validated llrs come from other models"),
        ("--interval --llrs llr.csv --no-intervals", "Leave --no-intervals out"),
    ],
)
def test_bounds_that_training_cannot_write_are_refused(run, words, said):
    code, _, err = run(f"calibrate a.txt --key key.txt -o model.json {words}")
    assert code == 2
    assert said in err
    assert not Path("model.json").exists()
    assert not Path("llr.csv").exists()


@pytest.mark.usefixtures("files")
def test_models_of_classes_refuse(run):
    code, _, err = run("calibrate", "sysA.csv", "--key", "key.csv", "-o", "model.json")
    assert code == 0, err
    code, _, err = run("apply", "model.json", "sysA.csv", "-o", "llr.csv", "--interval")
    assert code != 0
    assert "two-class scores" in err or "up to a constant" in err
    code, _, err = run("calibrate", "sysA.csv", "--key", "key.csv", "-o", "m.json", "--llrs", "llr.csv", "--interval")
    assert code == 2
    assert "--interval is for two-class scores" in err


def test_inspect_shows_parameters_with_their_errors(run):
    run("fuse", "a.txt", "b.txt", "--key", "key.txt", "-o", "fusion.json")
    code, out, err = run("inspect", "fusion.json", "--json")
    assert code == 0, err
    (found,) = json.loads(out)["inspections"]
    properties = {one["name"]: one["value"] for one in found["properties"]}
    model = load_model("fusion.json")
    assert properties["model"] == "linear-fusion"
    assert properties["a"] == f"{model.weights_[0]:.6g} ± {model.errors_in_order[0]:.2g}"
    assert properties["trained on"].startswith("15 target")
    assert properties["standard errors"].startswith("jackknife, by 15 speakers")


def test_a_damaged_model_is_no_list_of_trials(run):
    Path("broken.json").write_text('{"deciban_model": 1, "kind": "affine"')
    code, _, err = run("inspect", "broken.json")
    assert code != 0
    assert "not JSON" in err


def test_the_report_shows_them(run):
    run("fuse", "a.txt", "b.txt", "--key", "key.txt", "-o", "fusion.json")
    run("calibrate", "a.txt", "--key", "key.txt", "-o", "model.json")
    assert run("report", "a.txt", "b.txt", "--key", "key.txt", "--model", "fusion.json", "-o", "fusion.html")[0] == 0
    assert run("report", "a.txt", "--key", "key.txt", "--model", "model.json", "-o", "model.html")[0] == 0
    fusion, model = Path("fusion.html").read_text(), Path("model.html").read_text()
    assert "standard error</th>" in fusion
    assert f"± {load_model('fusion.json').errors_in_order[0]:.2g}" in fusion
    assert f"± {load_model('model.json').errors_in_order[0]:.2g}" in model
    assert "jackknife, by 15 speakers" in model


@pytest.mark.parametrize(("words", "shown"), [("", "95"), ("--level 0.5", "50"), ("--no-intervals", None)])
def test_the_band_of_the_map_on_a_page_is_at_the_level(run, words, shown):
    run("calibrate", "a.txt", "--key", "key.txt", "-o", "model.json")
    assert run(f"report a.txt --key key.txt --model model.json -o page.html {words}")[0] == 0
    pictures = re.findall(r'src="data:image/svg\+xml;base64,([^"]*)"', Path("page.html").read_text())
    (drawn,) = [text for text in (base64.b64decode(one).decode() for one in pictures) if "PAV on these trials" in text]
    assert re.findall(r"(\d+) % interval", drawn) == [shown] * (shown is not None)
