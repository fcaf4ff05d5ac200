"""fuse, and apply of fusions, as users type them: what is printed, written, and refused."""

import io
import json
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

from deciban import read_scores
from deciban.cli.main import main
from deciban.fusion import LinearFusion
from deciban.models import load_model

N = 300
RNG = np.random.default_rng(2)
TRUTH = np.arange(N) % 4 == 0
RAW = RNG.normal(size=(N, 3)) + TRUTH[:, None] * [2.0, 1.5, 1.0]
# One system in [0, 1], one in the hundreds.
SCORES = np.column_stack((RAW[:, 0], 1 / (1 + np.exp(-RAW[:, 1])), 300 + 100 * RAW[:, 2]))
NAMES = [(f"m{i % 7}", f"s{i}") for i in range(N)]

pytestmark = pytest.mark.usefixtures("files")


@pytest.fixture
def run(monkeypatch, capsysbinary):
    def runner(line, stdin=b""):
        monkeypatch.setattr(sys, "argv", ["deciban", *shlex.split(line)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as exit_info:
            main()
        captured = capsysbinary.readouterr()
        return exit_info.value.code, captured.out.decode(), captured.err.decode()

    return runner


def write(name, score, rows=range(N)):
    Path(name).write_text("".join(f"{NAMES[i][0]} {NAMES[i][1]} {score[i].item()!r}\n" for i in rows))


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for k, name in enumerate("abc"):
        write(f"{name}.txt", SCORES[:, k], RNG.permutation(N))
    write("part.txt", SCORES[:, 1], range(50, N))
    write("const.txt", np.ones(N))
    Path("copy.txt").write_bytes(Path("a.txt").read_bytes())
    Path("foreign.txt").write_text("x y 1\n")
    labels = ["target" if t else "nontarget" for t in TRUTH]
    rows = [f"{m},{s},{label},k{i % 9}\n" for i, ((m, s), label) in enumerate(zip(NAMES, labels, strict=True))]
    Path("key.csv").write_text("enroll,test,label,speaker\n" + "".join(rows))
    Path("tar.csv").write_text("enroll,test,label,speaker\n" + "".join(row for row in rows if ",target" in row))
    Path("q.txt").write_text("1\n" + "".join(f"s{i} {i % 13}\n" for i in range(10, N)))
    Path("models.txt").write_text("2\n" + "".join(f"m{i} {i} {i * i}\n" for i in range(7)))
    Path("affine.json").write_text(
        json.dumps(
            {
                "deciban_model": 1,
                "kind": "affine",
                "deciban_version": "0",
                "settings": {},
                "parameters": {"scale": 1.0, "offset": 0.0},
            }
        )
    )


def fitted(systems=(0, 1, 2), **settings):
    return LinearFusion(**settings).fit(SCORES[:, list(systems)], TRUTH)


def in_order_of(name, llr):
    by_name = {f"s{i}": value for i, value in enumerate(llr)}
    return [by_name[line.split()[1]] for line in Path(name).read_text().splitlines()]


def test_fuse_tells_what_each_system_is_worth(run):
    code, out, err = run("fuse a.txt b.txt c.txt --key key.csv -o m.json --dcf 0.1")
    assert code == 0, err
    assert err.splitlines()[-2:] == [
        "join  300 matched · 0 missing · 0 extra · 0 duplicate · no score tied across classes",
        "wrote m.json",
    ]
    names = ["a", "b", "c", "without a", "without b", "without c", "fusion"]
    lines = out.splitlines()
    at = lines.index("Trials of training") + 2
    assert [line[:9].strip() for line in lines[at : at + 7]] == names
    cllr = [float(line.split()[-4]) for line in lines[at : at + 7]]
    assert cllr[-1] == min(cllr)
    at = lines.index("Weights") + 2
    weights = {name: float(weight) for name, weight, _ in map(str.split, lines[at : at + 3])}
    expected = fitted()
    for name, weight in zip("abc", expected.weights_, strict=True):
        assert weights[name] == pytest.approx(weight, rel=1e-4)
    assert "training: converged in" in out
    assert "below that of a, the best single system" in out
    assert "The fusion has seen these trials, which flatters it" in out
    assert "Divergence of the systems' posteriors in bits" in out
    assert run("fuse a.txt b.txt c.txt --key key.csv -o m.json -q")[2] == ""


def test_options_reach_the_objective(run):
    words = "--p-target 0.1 --alpha 2 --beta 2 --ridge 0.01"
    assert run(f"fuse a.txt b.txt --key key.csv -o m.json {words}")[0] == 0
    found, expected = load_model("m.json"), fitted((0, 1), p_target=0.1, alpha=2.0, beta=2.0, ridge=0.01)
    assert repr(found) == repr(expected)
    np.testing.assert_allclose(found.weights_, expected.weights_, rtol=1e-6)


def test_json(run):
    code, out, err = run("fuse a.txt b.txt --key key.csv -o m.json --json --cross-validate speaker --select")
    assert code == 0, err
    found = json.loads(out)
    assert found["model"] == json.loads(Path("m.json").read_text())
    assert found["inputs"] == err.splitlines()[:-1]
    assert found["join"] == {"matched": 300, "missing": 0, "extra": 0, "duplicate": 0}
    assert found["dev"][-1]["name"] == "fusion, cross-validated"
    assert found["selection"]["criterion"] == "Cllr in bits"


def test_same_data_in_and_out(run):
    code, _, err = run("fuse a.txt b.txt c.txt --key key.csv -o m.json --llrs llr.txt")
    assert code == 0, err
    np.testing.assert_allclose(read_scores("llr.txt").score, in_order_of("a.txt", fitted().transform(SCORES)))
    assert "wrote llr.txt, with the lines of a.txt but for the score" in err


def test_from_dev_to_eval_in_one_call_and_in_two(run):
    for k, name in enumerate("xy"):
        write(f"{name}.txt", SCORES[:, k] + 1.0, range(20))
    code, _, err = run("fuse a.txt b.txt --key key.csv -o m.json --apply-to x.txt --apply-to y.txt --llrs one.txt")
    assert code == 0, err
    assert "note  systems in the order given: x for a, y for b" in err
    np.testing.assert_allclose(read_scores("one.txt").score, fitted((0, 1)).transform(SCORES[:20, :2] + 1.0))
    assert run("apply m.json x.txt y.txt -o two.txt")[0] == 0
    assert Path("two.txt").read_bytes() == Path("one.txt").read_bytes()
    code, out, _ = run("apply m.json b.txt a.txt -o -")
    assert code == 0
    expected = in_order_of("b.txt", fitted((0, 1)).transform(SCORES[:, :2]))
    np.testing.assert_allclose([float(line.split()[2]) for line in out.splitlines()], expected)


def test_figures_of_other_trials(run):
    Path("a2.txt").write_bytes(Path("a.txt").read_bytes())
    Path("b2.txt").write_bytes(Path("b.txt").read_bytes())
    code, out, err = run(
        "fuse a.txt b.txt --key key.csv -o m.json --apply-to a2.txt --apply-to b2.txt --apply-key key.csv"
    )
    assert code == 0, err
    dev, other = out.split("Other trials")
    assert [line.split()[1:] for line in dev.splitlines() if line.startswith("fusion ")] == [
        line.split()[1:] for line in other.splitlines() if line.startswith("fusion ")
    ]


def test_cross_validated_llrs(run):
    code, out, err = run("fuse a.txt b.txt --key key.csv -o m.json --cross-validate speaker:9 --llrs llr.txt")
    assert code == 0, err
    assert "fusion, cross-validated" in out
    found = read_scores("llr.txt").score
    group = np.arange(N) % 9
    expected = np.empty(N)
    for k in range(9):  # as many parts as speakers: each of them left out in turn
        model = LinearFusion().fit(SCORES[group != k, :2], TRUTH[group != k])
        expected[group == k] = model.transform(SCORES[group == k, :2])
    np.testing.assert_allclose(found, in_order_of("a.txt", expected), atol=1e-6)


def test_quality(run):
    code, out, err = run("fuse a.txt b.txt --key key.csv -o m.json --quality q.txt --llrs one.txt")
    assert code == 0, err
    assert "qual  q.txt   test: q1   290 names" in err
    assert "note  10 of 300 trials without quality measures are fused by scores alone" in err
    assert "warning" not in err
    assert "fusion with quality" in out
    code, _, err = run("apply m.json a.txt b.txt --quality q.txt -o two.txt")
    assert code == 0, err
    assert Path("two.txt").read_bytes() == Path("one.txt").read_bytes()
    sides = "--quality enroll=models.txt --quality test=q.txt"
    assert run(f"fuse a.txt b.txt --key key.csv -o m2.json {sides} --asymmetric")[0] == 0
    assert load_model("m2.json").quality_weights_.shape == (3, 2)
    assert run(f"apply m2.json a.txt b.txt {sides} -o three.txt")[0] == 0


def test_a_fusion_for_every_set_of_systems(run):
    code, out, err = run("fuse a.txt part.txt --key key.csv -o m.json --missing subset --llrs llr.txt")
    assert code == 0, err
    assert "note  50 trials without a score of part" in err
    assert "fusion of what there is" in out
    assert set(load_model("m.json").fusions_) == {(0,), (0, 1)}
    assert len(read_scores("llr.txt")) == N
    assert run("fuse a.txt part.txt --key key.csv -o m.json --missing subset=1")[0] == 0
    assert set(load_model("m.json").fusions_) == {(0,), (1,), (0, 1)}
    assert run("apply m.json part.txt a.txt -o few.txt")[0] == 0
    assert len(read_scores("few.txt")) == 250


def test_selected_systems_are_found_again(run):
    write("noise.txt", RNG.normal(size=N))
    for name in "abc":
        Path(f"e_{name}.txt").write_bytes(Path(f"{name}.txt").read_bytes())
    Path("e_noise.txt").write_bytes(Path("noise.txt").read_bytes())
    others = " ".join(f"--apply-to e_{name}.txt" for name in ("noise", "a", "b", "c"))
    code, out, err = run(f"fuse noise.txt a.txt b.txt c.txt --key key.csv -o m.json --select {others} --llrs llr.txt")
    assert code == 0, err
    assert load_model("m.json").training_.systems == ("a", "b", "c")
    assert "left out" in out
    np.testing.assert_allclose(read_scores("llr.txt").score, in_order_of("a.txt", fitted().transform(SCORES)))
    code, _, err = run("apply m.json a.txt b.txt noise.txt c.txt -o again.txt")
    assert code == 0
    assert "note  not part of the fusion: noise" in err
    assert Path("again.txt").read_bytes() == Path("llr.txt").read_bytes()


BAD = {
    "one file twice": ("fuse a.txt ./a.txt --key key.csv", "a.txt: given twice"),
    "a constant system": ("fuse a.txt const.txt --key key.csv", "const: scores: all 300 of them are 1"),
    "other trials": ("fuse a.txt foreign.txt --key key.csv", "share no trial"),
    "fewer trials": ("fuse a.txt part.txt --key key.csv", "50 of 300 key trials have no score in part.txt"),
    "no such policy": ("fuse a.txt b.txt --key key.csv --missing magic", "write error, drop, subset or fill=VALUE"),
    "no number of subsets": ("fuse a.txt b.txt --key key.csv --missing subset=x", "N in subset=N is a number"),
    "one class": ("fuse a.txt b.txt --key tar.csv", "no non-target trial among 75"),
    "no key": ("fuse a.txt b.txt", "a.txt holds no labels"),
    "no file": ("fuse a.txt none.txt --key key.csv", "none.txt: No such file"),
    "quality and subsets": ("fuse a.txt b.txt --key key.csv --quality q.txt --missing subset", "without quality"),
    "quality of nothing": ("fuse a.txt b.txt --key key.csv --quality key.csv", "number of quality measures"),
    "quality of two": ("fuse a.txt b.txt --key key.csv --quality q.txt --quality q.txt", "enroll=FILE and test=FILE"),
    "other measures": (
        "fuse a.txt b.txt --key key.csv --quality enroll=models.txt --quality test=q.txt",
        "2 and 1 measures. A symmetric matrix",
    ),
    "asymmetric what": ("fuse a.txt b.txt --key key.csv --asymmetric", "name their file with --quality"),
    "output is input": ("fuse a.txt b.txt --key key.csv --llrs b.txt", "b.txt: is an input"),
    "output is quality": ("fuse a.txt b.txt --key key.csv --quality q.txt --llrs q.txt", "q.txt: is an input"),
    "key of nothing": ("fuse a.txt b.txt --key key.csv --apply-key key.csv", "belong to the scores of --apply-to"),
    "for no llrs": ("fuse a.txt b.txt --key key.csv --apply-to a.txt", "what to write to --llrs"),
    "stdin twice": ("fuse a.txt - --key key.csv --llrs o.txt", "standard input (-) is read once"),
    "too few others": (
        "fuse a.txt b.txt --key key.csv --apply-to c.txt --llrs o.txt",
        "1 system (c), but the fusion was trained on 2 (a, b)",
    ),
    "others out of order": (
        "fuse a.txt b.txt --key key.csv --apply-to b.txt --apply-to c.txt --llrs o.txt",
        "b is system 2 of the fusion and was given as number 1",
    ),
    "no column": ("fuse a.txt b.txt --key key.csv --cross-validate age", "no column 'age'"),
    "bad prior": ("fuse a.txt b.txt --key key.csv --p-target 1", "p_target"),
    "bad ridge": ("fuse a.txt b.txt --key key.csv --ridge -1", "ridge"),
    "a calibration of two files": ("apply affine.json a.txt b.txt", "2 score files for a model of one system"),
    "a calibration with a policy": ("apply affine.json a.txt --missing drop", "missing: is for fusions"),
    "a calibration with quality": ("apply affine.json a.txt --quality q.txt", "quality: is for fusions"),
}


@pytest.mark.parametrize(("line", "words"), BAD.values(), ids=BAD)
def test_bad_input_is_refused_and_nothing_is_written(line, words, run):
    before = {path: path.read_bytes() for path in Path().iterdir()}
    code, out, err = run(f"{line} -o out.json")
    assert code == 2, err
    assert words in err.replace("\n", " ")
    assert out == ""
    assert {path: path.read_bytes() for path in Path().iterdir()} == before
