"""Probabilities in the commands: said by name, noticed where they are not, and read again for llrs."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit, softmax

from deciban.io import read_class_scores, read_scores
from support.class_files import trials, write_key, write_table

N, PRIOR = 80, 0.25


@pytest.fixture(autouse=True)
def two(tmp_path, monkeypatch):
    """Llrs and probabilities of two classes, and a key."""
    monkeypatch.chdir(tmp_path)
    llr = np.random.default_rng(3).normal(size=N) * 2 + 2.0 * (np.arange(N) % 2) - 1
    for name, values in (("llr", llr), ("p", expit(llr + np.log(PRIOR / (1 - PRIOR))))):
        Path(f"{name}.txt").write_text("".join(f"t{i} {value!r}\n" for i, value in enumerate(values.tolist())))
    Path("key.txt").write_text("".join(f"t{i} {'target' if i % 2 else 'nontarget'}\n" for i in range(N)))
    return llr


def cllr(out):
    return json.loads(out)["systems"][0]["cllr"]


def test_eval_says_what_it_made_of_them(run):
    plain = cllr(run("eval llr.txt --key key.txt --json")[1])
    code, out, err = run(f"eval p.txt --key key.txt --json --probabilities {PRIOR}")
    assert code == 0, err
    assert cllr(out) == pytest.approx(plain, rel=1e-12)
    assert f"scores are probabilities with prior {PRIOR}; they were converted to log-likelihood ratios" in err
    assert "--probabilities PRIOR" in run("eval p.txt --key key.txt")[1]
    assert "--probabilities" not in run(f"eval p.txt --key key.txt --probabilities {PRIOR}")[1]


@pytest.mark.parametrize("words", ["calibrate {}.txt", "fuse {0}.txt {0}2.txt"])
def test_training_applying_and_evaluating_take_the_same_scores(words, run):
    noise = np.random.default_rng(0).normal(size=N)
    other = read_scores("llr.txt").score + noise
    Path("llr2.txt").write_text("".join(f"t{i} {value!r}\n" for i, value in enumerate(other.tolist())))
    posterior = expit(other + np.log(PRIOR / (1 - PRIOR)))
    Path("p2.txt").write_text("".join(f"t{i} {value!r}\n" for i, value in enumerate(posterior.tolist())))
    asked = f"--probabilities {PRIOR}"
    for name, more in (("llr", ""), ("p", asked)):
        code, _, err = run(f"{words.format(name)} --key key.txt -o {name}.json --llrs {name}.out {more}")
        assert code == 0, err
    np.testing.assert_allclose(read_scores("p.out").score, read_scores("llr.out").score, rtol=1e-6, atol=1e-6)
    files = words.format("p").partition(" ")[2]
    assert run(f"apply p.json {files} -o again.txt {asked}")[0] == 0
    assert Path("again.txt").read_bytes() == Path("p.out").read_bytes()
    code, _, err = run(f"apply p.json {files} -o again.txt")
    assert code == 2
    assert f"name their prior (--probabilities {PRIOR})" in " ".join(err.split())
    code, _, err = run(f"report {files} --key key.txt --model p.json -o page.html {asked}")
    assert code == 0, err
    assert "Prior of the original probabilities" in Path("page.html").read_text()


def test_scores_outside_are_refused_with_their_line(run):
    code, _, err = run("eval llr.txt --key key.txt --probabilities 0.5")
    assert code == 2
    assert "llr.txt:1: probabilities: " in err
    assert run("eval p.txt --key key.txt --probabilities 1.5")[0] == 2
    assert run("eval p.txt --key key.txt --probabilities much")[0] == 2
    assert run("eval p.txt --key key.txt --probabilities 0.5 --log10")[0] == 2


def test_many_classes_take_them(run):
    loglik, label = trials()
    write_table("p.csv", softmax(loglik + np.log([0.5, 0.3, 0.2]), axis=1))
    write_table("loglik.csv", loglik)
    write_key("key.csv", label)
    plain = cllr(run("eval loglik.csv --key key.csv --json")[1])
    for prior in ("0.5,0.3,0.2", "5:3:2", "eel=0.2,dog=0.3,cat=0.5"):
        code, out, err = run(f"eval p.csv --key key.csv --json --probabilities {prior}")
        assert code == 0, err
        assert cllr(out) == pytest.approx(plain, rel=1e-12)
    asked = "--probabilities 0.5,0.3,0.2"
    code, _, err = run(
        f"calibrate p.csv --key key.csv -o m.json --llrs out.tsv --to nist-lre --as detection-llr {asked}"
    )
    assert code == 0, err
    assert "written as detection llrs" in err
    assert run(f"apply m.json p.csv -o loglik.tsv --to nist-lre {asked}")[0] == 0
    written, loglik = read_class_scores("out.tsv").score, read_class_scores("loglik.tsv").score
    others = np.log(np.exp(loglik).sum(axis=1, keepdims=True) - np.exp(loglik)) - np.log(2.0)
    np.testing.assert_allclose(written, loglik - others, atol=1e-9)
    assert (
        "contains log-likelihoods, but the language recognition"
        in run(f"apply m.json p.csv -o loglik.tsv --to nist-lre {asked}")[2]
    )
    code, _, err = run(f"calibrate p.csv --key key.csv -o m.json --as detection-llr {asked}")
    assert code == 2
    assert "--as set what to write to --llrs OUT" in " ".join(err.split())


def test_convert_inspect_and_plot_know_them(two, run):
    assert run(f"convert p.txt made.txt --probabilities {PRIOR}")[0] == 0
    np.testing.assert_allclose(read_scores("made.txt").score, two, rtol=1e-12, atol=1e-12)
    assert "--probabilities PRIOR" in run("inspect p.txt")[1]
    code, _, err = run("plot bayes-error p.txt --key key.txt -o p.svg")
    assert code == 0
    assert "p: All scores lie in [0, 1]" in err
    assert "look like probabilities" not in run("plot bayes-error p.txt --key key.txt -o p.svg -q")[2]


def test_one_line_names_all_systems_of_a_note(run):
    Path("q.txt").write_bytes(Path("p.txt").read_bytes())
    out = run("eval p.txt q.txt --key key.txt")[1]
    assert out.count("All scores lie in [0, 1]") == 1
    assert "p · q: All scores lie in [0, 1]" in out
    assert run("report p.txt q.txt --key key.txt -o page.html -q")[0] == 0
    assert Path("page.html").read_text().count("All scores lie in [0, 1]") == 1
