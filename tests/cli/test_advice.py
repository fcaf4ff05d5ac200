"""``eval`` and ``report``: the verdict and the notes give the same advice, and options of tables have an effect."""

from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit, softmax

N = 300


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """Tables of labels and probabilities, of likelihood ratios, of llrs, and of three classes."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    label = np.arange(N) % 2
    llr = rng.normal(np.where(label, 2.0, -2.0), 2.0)
    for name, column, values in (
        ("probabilities", "score", expit(llr)),
        ("ratios", "score", np.exp(2 * llr)),
        ("cosines", "score", np.tanh(llr / 9)),
        ("distances", "distance", 5 - llr),
    ):
        rows = (f"{y},{value!r}" for y, value in zip(label, values.tolist(), strict=True))
        Path(f"{name}.csv").write_text("\n".join([f"label,{column}", *rows]) + "\n")
    label = np.arange(N) % 3
    loglik = rng.normal(size=(N, 3)) + 3 * np.eye(3)[label]
    for name, table in (("logits", loglik), ("posteriors", softmax(loglik, axis=1))):
        rows = (",".join([*map(repr, row), str(y)]) for row, y in zip(table.tolist(), label, strict=True))
        Path(f"{name}.csv").write_text("\n".join(["class_0,class_1,class_2,label", *rows]) + "\n")


def words(text):
    return " ".join(text.split())


ADVICE = {
    "probabilities": "but its scores are not llrs: for probabilities add --probabilities PRIOR, otherwise calibrate.",
    "posteriors": "not log-likelihoods: for probabilities add --probabilities PRIOR, otherwise calibrate.",
    "ratios": "but its scores are not llrs: for likelihood ratios add --lr, otherwise calibrate.",
    "cosines": "but its scores are not llrs: calibrate.",
}


@pytest.mark.parametrize("name", ADVICE)
def test_the_verdict_gives_the_advice_of_the_note(run, name):
    code, out, err = run(f"eval {name}.csv -q")
    assert code == 0, err
    assert ADVICE[name] in words(out)
    option = ADVICE[name].partition("add ")[2].split(",")[0]
    assert not option or words(out).count(option) == 2  # the note names the same one


@pytest.mark.parametrize(("name", "typed"), [("probabilities", "--probabilities 0.5"), ("ratios", "--lr")])
def test_the_advice_ends_when_it_is_followed(run, name, typed):
    code, out, err = run(f"eval {name}.csv -q {typed}")
    assert code == 0, err
    assert "not llrs" not in out
    assert "actDCF" in out


@pytest.mark.parametrize("name", ["probabilities", "ratios", "posteriors"])
def test_pages_give_the_same_advice(run, name):
    assert run(f"report {name}.csv -o page.html -q")[0] == 0
    page = Path("page.html").read_text()
    advice = ADVICE[name].partition(": ")[2].removesuffix(".")
    assert page.count(f"{advice} them before decisions.") == 1
    assert f"{advice[0].upper()}{advice[1:]} on other trials of the same kind" in page


def test_distances_are_told_of_one_option_by_verdict_and_note(run):
    out = words(run("eval distances.csv -q")[1])
    assert "scores favour the wrong class: see the note on their sign" in out
    assert "as for distances, change their sign (--negate), unless you already did" in out
    assert "--lower-is-better" not in out
    Path("other.csv").write_bytes(Path("distances.csv").read_bytes())
    assert "change their sign (--negate" in words(run("compare distances.csv other.csv -q")[1])
    for option in ("--negate", "--lower-is-better"):
        assert "favour the wrong class" not in run(f"eval distances.csv -q {option}")[1]


def test_all_metrics_of_many_classes_are_those_without_the_option(run):
    code, out, err = run("eval logits.csv --all")
    assert code == 0, err
    assert out == run("eval logits.csv")[1]


def test_corrected_values_of_many_classes_need_no_other_option(run):
    code, out, err = run("eval logits.csv --corrected -q")
    assert code == 0, err
    assert "min Cllr, corrected" in out
    assert "min Cllr, corrected" not in run("eval logits.csv --optimism -q")[1]
    for more in ("--no-intervals", "--no-optimism"):
        for name in ("logits", "cosines"):
            code, _, err = run(f"eval {name}.csv --corrected {more}")
            assert code == 2
            assert "--corrected: corrected values need intervals and the optimism of minima" in err
