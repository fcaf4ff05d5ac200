"""calibrate and apply as users type them: golden numbers through files, what is kept, what is refused."""

import json
import math
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from deciban import calibration, read_scores
from deciban.calibration import AffineCalibrator
from deciban.cli.parsing import METHODS
from deciban.models import load_model
from support.commands import printed_table

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "calibration.json").read_text())["calibration"]
CASE = GOLDEN["gauss_50_200"]
RULES = [(rule, i) for rule in CASE["scale_offset"] for i in range(len(CASE["priors"]))]


pytestmark = pytest.mark.usefixtures("dev")


@pytest.fixture
def dev(tmp_path, monkeypatch):
    """The golden case as files, speakers included: dev.txt, dev.key and dev.csv, which is both."""
    monkeypatch.chdir(tmp_path)
    scores = [*CASE["tar"], *CASE["non"]]
    truth = [True] * len(CASE["tar"]) + [False] * len(CASE["non"])
    order = np.random.default_rng(1).permutation(len(scores))
    rows = [(f"m{i % 7}", f"s{i}", f"spk{i % 10}", scores[i], "target" if truth[i] else "nontarget") for i in order]
    Path("dev.txt").write_text("".join(f"{m} {s} {x!r}\n" for m, s, _, x, _ in rows))
    Path("dev.key").write_text("".join(f"{m} {s} {label}\n" for m, s, _, _, label in reversed(rows)))
    Path("dev.csv").write_text(
        "enroll,test,speaker,score,label\n" + "".join(f"{m},{s},{k},{x!r},{label}\n" for m, s, k, x, label in rows)
    )


@pytest.mark.parametrize(("rule", "i"), RULES)
def test_golden_numbers_from_files_to_a_model_file(rule, i, run):
    alpha, beta = re.search(r"\((.*),(.*)\)", rule).groups()
    prior = CASE["priors"][i]
    words = ("--p-target", prior, "--alpha", alpha, "--beta", beta)
    code, _, err = run("calibrate", "dev.txt", "--key", "dev.key", "-o", "model.json", *words)
    assert code == 0, err
    model = json.loads(Path("model.json").read_text())
    found = model["parameters"]["scale"], model["parameters"]["offset"]
    np.testing.assert_allclose(found, CASE["scale_offset"][rule][i], atol=1e-4)
    relative = CASE["objective_over_value_at_llr_0"].get(rule)
    if relative is not None:
        assert model["training"]["results"]["objective_relative_to_llr_0"] == pytest.approx(relative[i], abs=1e-7)
    assert model["training"]["counts"] == {"n_tar": 50, "n_non": 200}
    assert model["training"]["systems"] == ["dev"]


def test_calibrate_tells_what_was_read_and_what_came_out(run):
    code, out, err = run("calibrate", "dev.txt", "--key", "dev.key", "-o", "model.json", "--dcf", "0.1")
    assert code == 0
    assert err.splitlines() == [
        "read  dev.txt   kaldi 'enroll test score'   250 trials",
        "key   dev.key   kaldi 'enroll test label'   50 target · 200 non-target",
        "join  250 matched · 0 missing · 0 extra · 0 duplicate · no target and non-target with equal scores",
        f"units  {7 + 250 - 50} speakers, found from target trials",  # models, segments, each target joins two
        "note  the 207 speakers include 200 names without target trials: unlinked names count as separate speakers",
        "wrote  model.json",
    ]
    lines = out.splitlines()
    before, after = (printed_table(out)[name] for name in ("dev", "dev (calibrated)"))
    assert lines[0].split() == [
        *("system", "EER", "(ROCCH)", "minDCF(0.1)", "actDCF(0.1)", "Cllr", "min", "Cllr", "calibration", "loss", "AUC")
    ]
    # An increasing map moves neither the EER nor any minimum nor their intervals, and this one lowers Cllr.
    for name in ("EER (ROCCH)", "minDCF(0.1)", "AUC"):
        assert before[name] == after[name]
        assert before[name].endswith("]")
    # But no upper bound of min Cllr exceeds that of Cllr.
    assert before["min Cllr"].split(",")[0] == after["min Cllr"].split(",")[0]
    assert after["min Cllr"].split(",")[1] <= before["min Cllr"].split(",")[1]
    assert float(after["Cllr"].split()[0]) < float(before["Cllr"].split()[0])
    assert "DCF normalized" in out
    shown = re.search(r"^scale (\S+) ± \S+, offset (\S+) ± \S+$", out, flags=re.MULTILINE).groups()
    np.testing.assert_allclose([float(x) for x in shown], CASE["scale_offset"]["log(1,1)"][0], atol=1e-4)
    assert "training: converged in" in out
    # The objective of the logarithmic rule at prior 0.5 is Cllr times ln 2, and Cllr is 1 at llr 0.
    objective, relative = map(float, re.search(r"training objective: (\S+), (\S+) % of its value", out).groups())
    relative /= 100.0
    assert objective == pytest.approx(relative * math.log(2), rel=1e-3)
    assert relative == pytest.approx(float(after["Cllr"].split()[0]), abs=1e-3)
    assert "Metrics of 'dev (calibrated)' are optimistic, because it was trained on these trials" in out
    assert run("calibrate", "dev.txt", "--key", "dev.key", "-o", "model.json", "-q")[2] == ""


def test_json(run):
    code, out, err = run("calibrate", "dev.csv", "-o", "model.json", "--json", "--cross-validate", "speaker")
    assert code == 0, err
    found = json.loads(out)
    assert found["schema"] == 2
    assert found["model"] == json.loads(Path("model.json").read_text())
    assert found["join"] == {"matched": 250, "missing": 0, "extra": 0, "duplicate": 0}
    assert found["before"]["eer"] == pytest.approx(found["after"]["eer"], abs=1e-12)
    assert found["after"]["cllr"] < found["cross_validated"]["cllr"] < found["before"]["cllr"]
    assert found["inputs"] == err.splitlines()[:-1]
    assert json.loads(run("calibrate", "dev.csv", "-o", "model.json", "--json")[1])["cross_validated"] is None


def expected(scores, scale_offset=CASE["scale_offset"]["log(1,1)"][0]):
    return scale_offset[0] * np.array(scores) + scale_offset[1]


def test_same_data_in_and_out_in_one_call(run):
    code, _, err = run("calibrate", "dev.csv", "-o", "model.json", "--llrs", "llr.csv")
    assert code == 0, err
    assert "wrote  llr.csv   with the lines of dev.csv and new scores" in err
    before, after = (Path(name).read_text().splitlines() for name in ("dev.csv", "llr.csv"))
    assert before[0] == after[0]
    old, new = ([line.split(",") for line in lines[1:]] for lines in (before, after))
    assert [row[:3] + row[4:] for row in old] == [row[:3] + row[4:] for row in new]
    np.testing.assert_allclose([float(row[3]) for row in new], expected([float(row[3]) for row in old]), atol=1e-3)


def test_from_dev_to_eval_in_one_call(run):
    Path("eval.txt").write_text("# submitted\nm0  x\t1.0\n\nm1 y -inf  \n")
    words = ("--apply-to", "eval.txt", "--llrs", "eval_llr.txt")
    code, _, err = run("calibrate", "dev.txt", "--key", "dev.key", "-o", "model.json", *words)
    assert code == 0, err
    assert "different names" not in err
    assert (
        err.count("note") == 1
    )  # on speakers: that files for training and for use have different names is as it should be
    in_one_call = Path("eval_llr.txt").read_text()
    number = re.fullmatch(r"# submitted\nm0  x\t(\S+)\n\nm1 y -inf  \n", in_one_call)[1]
    assert float(number) == pytest.approx(expected(1.0), abs=1e-3)
    assert run("apply", "model.json", "eval.txt", "-o", "again.txt")[0] == 0
    assert Path("again.txt").read_text() == in_one_call


@pytest.mark.parametrize(("by", "column"), [("speaker", 2), ("speaker:10", 2), ("enroll:7", 0)])
def test_cross_validated_in_one_call(by, column, run):
    code, out, err = run("calibrate", "dev.csv", "-o", "m.json", "--cross-validate", by, "--llrs", "llr.csv")
    assert code == 0, err
    assert "dev (cross-validated)" in out
    assert "expect those of 'dev (cross-validated)'" in out
    table = [line.split(",") for line in Path("dev.csv").read_text().splitlines()[1:]]
    llr = read_scores("llr.csv").score
    score, truth = (np.array([row[i] for row in table]) for i in (3, 4))
    score, truth, group = score.astype(float), truth == "target", np.array([row[column] for row in table])
    if ":" not in by:
        assert (
            "cross-validated in 5 folds: each trial was calibrated by a model trained without the trials that share "
            "its value of speaker" in err
        )
        whole = AffineCalibrator().fit(score, truth).transform(score)
        assert not np.isclose(llr, whole, atol=1e-9).any()
        return
    for name in set(group):  # as many parts as groups: each of them left out in turn
        inside = group == name
        fitted = AffineCalibrator().fit(score[~inside], truth[~inside])
        np.testing.assert_allclose(llr[inside], fitted.transform(score[inside]), rtol=1e-9)


def test_both_sides_of_a_trial_are_held_out(run):
    code, _, err = run(
        "calibrate", "dev.txt", "--key", "dev.key", "-o", "m.json", "--cross-validate", "7", "--llrs", "l.txt"
    )
    assert code == 0, err
    assert (
        "7 folds: each trial was calibrated by a model trained without the trials that share its enroll or test name"
        in err
    )
    assert len(set(read_scores("l.txt").score)) == 250


def test_trials_that_training_did_not_use_get_llrs_as_well(run):
    Path("dev.csv").write_text(Path("dev.csv").read_text() + "new,new,spk0,1.0,target\n")
    words = ("--key", "dev.key", "--cross-validate", "5", "--columns", "enroll=enroll,test=test,score=score")
    code, _, err = run("calibrate", "dev.csv", *words, "-o", "m.json", "--llrs", "llr.csv")
    assert code == 0, err
    assert "1 trial not used in training gets llrs of the final model" in err
    last = Path("llr.csv").read_text().splitlines()[-1].split(",")
    assert float(last[3]) == pytest.approx(expected(1.0), abs=1e-3)


def test_every_calibrator_is_a_method():
    classes = {
        name
        for name in calibration.__all__
        if isinstance(one := getattr(calibration, name), type) and issubclass(one, calibration.Calibrator)
    }
    assert set(METHODS.values()) == classes - {"Calibrator", "Chain"}
    for name, class_name in METHODS.items():
        assert getattr(calibration, class_name).kind == name


@pytest.mark.parametrize(
    ("words", "model"),
    [
        (
            "--method pav --interpolation step --smoothing 1",
            "PavCalibrator(interpolation='step', smoothing=1.0, bound=None)",
        ),
        ("--method pav --bound 3", "PavCalibrator(interpolation='linear', smoothing=0.0, bound=3.0)"),
        ("--method gaussian --separate-variances", "GaussianCalibrator(shared_variance=False, p_target=0.5)"),
        ("--method shift --alpha 2 --beta 2", "ShiftCalibrator(p_target=0.5, alpha=2.0, beta=2.0)"),
        ("--method scale --ridge 1", "ScaleCalibrator(p_target=0.5, alpha=1.0, beta=1.0, ridge=1.0)"),
        ("--method bound --low -2 --high 3", "BoundCalibrator(low=-2.0, high=3.0)"),
        (
            "--method affine,elub --p-target 0.1 --n-misleading 2",
            "Chain(AffineCalibrator(p_target=0.1, alpha=1.0, beta=1.0, ridge=0.0), ElubCalibrator(n_misleading=2.0))",
        ),
    ],
)
def test_options_reach_their_method(words, model, run):
    code, _, err = run("calibrate", "dev.csv", "-o", "model.json", *words.split())
    assert code == 0, err
    assert repr(load_model("model.json")) == model
    code, applied, err = run("apply", "model.json", "dev.csv", "-o", "-", "-q")
    assert (code, err) == (0, "")
    llr = [float(line.split(",")[3]) for line in applied.splitlines()[1:]]
    np.testing.assert_array_equal(llr, load_model("model.json").transform(read_scores("dev.csv").score))


def test_probabilities_are_calibrated_by_beta(run, tmp_path):
    rng = np.random.default_rng(4)
    truth = rng.random(500) < 0.5
    p = 1 / (1 + np.exp(-rng.normal(np.where(truth, 1, -1), 1)))
    rows = "".join(
        f"t{i} {x!r} {'target' if t else 'nontarget'}\n" for i, (x, t) in enumerate(zip(p.tolist(), truth, strict=True))
    )
    (tmp_path / "p.txt").write_text(rows)
    code, _, err = run("calibrate", tmp_path / "p.txt", "-o", tmp_path / "m.json", "--method", "beta")
    assert code == 0, err
    assert load_model(tmp_path / "m.json").scores == "probability"
    code, _, err = run(
        "calibrate", tmp_path / "p.txt", "-o", tmp_path / "m.json", "--method", "beta", "--scores-are", "log_odds"
    )
    assert load_model(tmp_path / "m.json").scores == "log_odds"


def test_warnings_are_words(run):
    negated = re.sub(
        r" (-?)(\d\S*)$", lambda m: f" {'' if m[1] else '-'}{m[2]}", Path("dev.txt").read_text(), flags=re.MULTILINE
    )
    Path("negated.txt").write_text(negated)
    code, _, err = run("calibrate", "negated.txt", "--key", "dev.key", "-o", "model.json", "-q")
    assert code == 0
    assert err.startswith("warning: AffineCalibrator: the best scale is -1.34: higher scores favour non-targets.")
    assert err.count("\n") == 1
    assert ".py" not in err


def test_the_model_on_standard_output(run):
    code, out, err = run("calibrate", "-", "--key", "dev.key", "-o", "-", stdin=Path("dev.txt").read_bytes())
    assert code == 0
    assert json.loads(out)["training"]["systems"] == ["standard input"]
    assert "EER (ROCCH)" in err
    assert "wrote  standard output" in err


def test_standard_input_through_apply(run):
    run("calibrate", "dev.txt", "--key", "dev.key", "-o", "model.json")
    code, out, err = run("apply", "model.json", "-", "-o", "-", stdin=b"a x 1\r\nb y 0")
    assert code == 0
    first, second = out.split("\r\n")
    assert float(first.removeprefix("a x ")) == pytest.approx(expected(1.0), abs=1e-3)
    assert float(second.removeprefix("b y ")) == pytest.approx(expected(0.0), abs=1e-3)
    assert "wrote  standard output   with the lines of standard input and new scores" in err


SEPARATED = "".join(f"t{i} {i}.5 {'target' if i > 4 else 'nontarget'}\n" for i in range(10))
BAD = {
    "no model": ("apply none.json dev.txt -o out.txt", "none.json: No such file or directory"),
    "no json": ("apply dev.txt dev.txt -o out.txt", "dev.txt:1: not JSON"),
    "other json": ("apply list.json dev.txt -o out.txt", "list.json: JSON, but not a deciban model"),
    "other kind": ("apply kind.json dev.txt -o out.txt", "a model of kind 'neural' is unknown"),
    "NaN in a model": ("apply nan.json dev.txt -o out.txt", "nan.json:12: NaN is not a valid number"),
    "truncated model": ("apply short.json dev.txt -o out.txt", "not JSON"),
    "later model": ("apply later.json dev.txt -o out.txt", "model layout 99"),
    "NaN score": ("apply model.json nan.txt -o out.txt", "nan.txt:2: the score is NaN"),
    "NaN in training": ("calibrate nan.txt --key dev.key -o out.json", "nan.txt:2: the score is NaN"),
    "no scores": ("apply model.json dev.key -o out.txt", "Are scores and key swapped?"),
    "output is input": ("apply model.json dev.txt -o ./dev.txt", "dev.txt: is an input"),
    "output is model": ("apply model.json dev.txt -o model.json", "model.json: is an input"),
    "output is link": ("apply model.json dev.txt -o link.txt", "link.txt: is an input"),
    "model is input": ("calibrate dev.csv -o dev.csv", "dev.csv: is an input"),
    "model is key": ("calibrate dev.txt --key dev.key -o dev.key", "dev.key: is an input"),
    "llrs are input": ("calibrate dev.csv -o out.json --llrs dev.csv", "dev.csv: is an input"),
    "both in one": ("calibrate dev.csv -o out --llrs ./out", "would be written twice"),
    "no folder": ("apply model.json dev.txt -o no/out.txt", "the folder 'no' does not exist"),
    "no folder for the model": ("calibrate dev.csv -o no/m.json --llrs o.csv", "the folder 'no' does not exist"),
    "several to one": ("apply model.json dev.txt dev.csv -o out.txt", "Name a folder (-o"),
    "two of a name": ("apply model.json dev.txt sub/dev.txt -o out/", "would be written twice"),
    "one of several is bad": ("apply model.json dev.txt nan.txt -o out/", "the score is NaN"),
    "several systems": ("apply model.json two.csv -o out.csv", "contains scores of 2 systems: a_score, b_score"),
    "systems in training": ("calibrate two.csv -o m.json", "contains scores of 2 systems: a_score, b_score"),
    "one class": ("calibrate dev.txt --key tar.key -o out.json", "no non-target trial among"),
    "separated": ("calibrate apart.txt -o out.json", "the classes are separated"),
    "foreign option": (
        "calibrate dev.csv -o o --method pav --ridge 1",
        "--ridge is no option of method pav. Its options are --bound, --interpolation, --smoothing. --ridge belongs to",
    ),
    "foreign flag": (
        "calibrate dev.csv -o o --separate-variances",
        "--separate-variances is no option of method affine",
    ),
    "unknown method": ("calibrate dev.csv -o o --method magic", "unknown method 'magic'. Use one of affine, pav"),
    "bad prior": ("calibrate dev.csv -o o --p-target 1", "--p-target: "),
    "bad alpha": ("calibrate dev.csv -o o --alpha 0", "alpha"),
    "no column": (
        "calibrate dev.csv -o o --cross-validate age",
        "no column 'age' contains the groups for cross-validation; the columns are enroll, test, speaker",
    ),
    "three columns": ("calibrate dev.csv -o o --cross-validate a,b,c", "write COLUMN, COLUMN,COLUMN"),
    "too many parts": ("calibrate dev.csv -o o --cross-validate speaker:99", "99 folds of 10 groups"),
    "one part": ("calibrate dev.csv -o o --cross-validate 1", "--cross-validate: got 1"),
    "all to stdout": ("calibrate dev.csv -o - --json", "can go to standard output"),
    "apply-to alone": ("calibrate dev.csv -o o --apply-to dev.txt", "Name it, or leave them out"),
    "unknown format": ("apply model.json dev.txt -o out --to nope", "'nope' is unknown"),
    "no room": ("apply model.json dev.txt -o out --to voxceleb", "voxceleb contains key"),
}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The text of a model file of the golden case."""
    file = tmp_path_factory.mktemp("model") / "model.json"
    scores = [*CASE["tar"], *CASE["non"]]
    AffineCalibrator().fit(scores, np.arange(len(scores)) < len(CASE["tar"])).save(file)
    return file.read_text()


@pytest.mark.parametrize("case", BAD)
def test_bad_input_exits_with_2_and_writes_nothing(case, trained, run):
    model = trained
    Path("model.json").write_text(model)
    Path("list.json").write_text("[1, 2]")
    Path("kind.json").write_text(model.replace('"affine"', '"neural"'))
    Path("nan.json").write_text(re.sub(r'"scale": [^,]+', '"scale": NaN', model))
    Path("short.json").write_text(model[: len(model) // 2])
    Path("later.json").write_text(model.replace('"deciban_model": 1', '"deciban_model": 99'))
    Path("nan.txt").write_text("m0 s0 1\nm1 s1 nan\n")
    Path("tar.key").write_text(Path("dev.key").read_text().replace("nontarget", "target"))
    Path("two.csv").write_text("trial,a_score,b_score,label\nx,1,2,target\ny,2,1,nontarget\n")
    Path("apart.txt").write_text(SEPARATED)
    Path("link.txt").symlink_to("dev.txt")
    Path("sub").mkdir()
    Path("sub/dev.txt").write_text("a b 1\n")
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    words, message = BAD[case]
    code, out, err = run(*shlex.split(words))
    assert code == 2, err
    assert message in " ".join(err.split())
    assert out == ""
    assert "Traceback" not in err
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before


def test_a_penalty_helps_against_separated_classes(run):
    Path("apart.txt").write_text(SEPARATED)
    assert run("calibrate", "apart.txt", "-o", "m.json", "--ridge", "0.01")[0] == 0
    assert run("calibrate", "apart.txt", "-o", "m.json", "--method", "pav", "--smoothing", "1")[0] == 0


def test_an_old_output_survives_an_error(run):
    run("calibrate", "dev.txt", "--key", "dev.key", "-o", "model.json")
    Path("out.txt").write_text("old")
    Path("nan.txt").write_text("m0 s0 1\nm1 s1 nan\n")
    assert run("apply", "model.json", "nan.txt", "-o", "out.txt")[0] == 2
    assert Path("out.txt").read_text() == "old"
    assert run("apply", "model.json", "dev.txt", "-o", "out.txt")[0] == 0
    assert Path("out.txt").read_text() != "old"


def test_several_inputs_into_a_folder(run):
    run("calibrate", "dev.txt", "--key", "dev.key", "-o", "model.json")
    code, _, err = run("apply", "model.json", "dev.txt", "dev.csv", "-o", "llrs/")
    assert code == 0, err
    np.testing.assert_array_equal(read_scores("llrs/dev.txt").score, read_scores("llrs/dev.csv").score)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_disk_is_not_the_fault_of_the_input():
    command = Path(sys.executable).with_name("deciban")
    done = subprocess.run(
        [command, "calibrate", "dev.csv", "-o", "/dev/full"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
