"""Presets of language recognition evaluations, on the command line."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.special import logsumexp

pytestmark = pytest.mark.usefixtures("files", "sketches")  # of pages, the words are tested here

ON_FILES = ("sysA.csv", "--key", "key.csv")


def systems(out):
    return json.loads(out)["systems"]


def c_primary(loglik, label, betas):
    """Mean over costs, and over targets, of P_miss + beta mean P_fa: how the plans of 2017 and 2022 write it."""
    costs = []
    for beta in betas:
        for t in range(3):
            others = [k for k in range(3) if k != t]
            llr = loglik[:, t] - logsumexp(loglik[:, others], axis=1) + math.log(2)
            accept = llr >= math.log(beta)
            p_fa = np.mean([accept[label == k].mean() for k in others])
            costs.append(1 - accept[label == t].mean() + beta * p_fa)
    return np.mean(costs)


@pytest.mark.parametrize(
    ("preset", "by_hand"),
    [
        ("lre09", "--p-target 0.5"),
        ("lre05-09", "--p-target 0.5"),
        ("lre09-open", "--p-target 0.5 --out-of-set 0.2"),
        ("lre17", "--p-target 0.5 --p-target 0.1"),
        ("lre17 --p-target 0.5", "--p-target 0.5 --p-target 0.1"),
        ("lre22 --p-target 0.2", "--p-target 0.5 --p-target 0.1 --p-target 0.2"),
        ("lre22 --prior 2:1:1 --no-subsets", "--prior 2:1:1 --p-target 0.5 --p-target 0.1 --no-subsets"),
    ],
)
def test_a_preset_is_what_its_options_are_by_hand(preset, by_hand, run):
    code, out, err = run("eval", *ON_FILES, "--preset", *preset.split(), "--json")
    assert code == 0, err
    other_code, expected, _ = run("eval", *ON_FILES, *by_hand.split(), "--json")
    assert other_code == 0
    found = systems(out)
    assert [one.pop("primary")["plan"] for one in found]
    assert found == systems(expected)


def test_several_priors_have_a_mean_that_is_the_primary_cost_of_the_plan(files, run):
    loglik, label = files
    _, out, err = run("eval", *ON_FILES, "--preset", "lre17", "--json")
    (one,) = systems(out)
    expected = c_primary(loglik, label, (1, 9))
    assert one["mean_over_points"]["normalized"] == pytest.approx(expected)
    assert "preset  lre17 (C_avg at p_target 0.5; p_target 0.1): NIST LRE 2017, definition unverified" in err
    points = one["operating_points"]
    for point, p in zip(points, (0.5, 0.1), strict=True):
        assert point["normalized_min"] == pytest.approx(point["min_c_avg"] / p)
        assert point["normalized_min"] <= point["normalized"]
    for name in ("c_avg", "min_c_avg", "normalized_min"):
        assert one["mean_over_points"][name] == pytest.approx((points[0][name] + points[1][name]) / 2)
    _, out, _ = run("eval", *ON_FILES, "--preset", "lre17", "--no-intervals")
    (mean,) = (line.split() for line in out.splitlines() if line.split()[:2] == [one["name"], "mean"])
    assert mean[4] == f"{expected:.4f}"


def test_a_report_shows_the_mean(files, run):
    loglik, label = files
    assert run("report", *ON_FILES, "--preset", "lre22", "-o", "r.html", "-q")[0] == 0
    page = Path("r.html").read_text()
    assert "normalized C_avg, mean" in page
    assert f"<td>{c_primary(loglik, label, (1, 9)):.4f}<small" in page
    assert run("report", *ON_FILES, "--preset", "lre09", "-o", "r.html", "-q")[0] == 0
    page = Path("r.html").read_text()
    assert "C_avg at 0.5" in page
    assert "normalized C_avg, mean" not in page


def test_plots_and_training_take_presets(run):
    assert run("plot", "c-avg-curve", *ON_FILES, "--preset", "lre09-open", "-o", "c.svg", "-q")[0] == 0
    code, out, err = run("calibrate", *ON_FILES, "-o", "m.json", "--preset", "lre17", "--json")
    assert code == 0, err
    assert [[point["p_target"] for point in one["operating_points"]] for one in systems(out)] == [[0.5, 0.1]] * 2
    code, out, err = run("fuse", "sysA.csv", "sysB.csv", *ON_FILES[1:], "-o", "f.json", "--preset", "lre09", "--json")
    assert code == 0, err
    assert {point["p_target"] for one in systems(out) for point in one["operating_points"]} == {0.5}


TWO_CLASS = "trial,score,label\na,2,target\nb,1,nontarget\nc,0,nontarget\nd,0.5,target\n"

REFUSED = {
    "of two classes on many": (
        "eval sysA.csv --key key.csv --preset sre10",
        (
            "--preset: sre10 is for two-class scores, but the scores are multiclass (if not, use --kind "
            "two-class). Presets for multiclass scores: lre05-09, lre05-09-open, lre11, lre15, lre17, lre22."
        ),
    ),
    "of two classes in training": (
        "calibrate sysA.csv --key key.csv -o o --preset sre12",
        "Presets for multiclass scores",
    ),
    "of many classes on two": (
        "eval two.csv --preset lre09",
        (
            "--preset: lre05-09 is for multiclass scores, but the scores are two-class (if not, use --kind "
            "classes). Presets for two-class scores: sre96-08, sre10"
        ),
    ),
    "of many classes in training of two": ("calibrate two.csv -o o --preset lre17", "Presets for two-class scores"),
    "of many classes in a report on two": ("report two.csv -o o.html --preset lre17", "Presets for two-class scores"),
    "closed, and a class out of set": (
        "eval sysA.csv --key key.csv --preset lre09 --out-of-set 0.1",
        "--out-of-set: in the preset lre05-09, no class is out of set.",
    ),
    "open, with another prior": (
        "eval sysA.csv --key key.csv --preset lre09-open --out-of-set 0.1",
        "in the preset lre05-09-open, the last class is out of set, with prior 0.2.",
    ),
    "open, with subsets of the closed set": (
        "eval sysA.csv --key key.csv --preset lre09-open --subsets",
        "Leave out its prior (or the preset of an open set), or the subsets.",
    ),
    "not known": ("eval sysA.csv --key key.csv --preset lre99", "'lre99' is not known. Use one of sre96-08"),
}


USAGE = {"closed, and a class out of set", "open, with another prior"}
"""Options that contradict each other, whatever files hold."""


@pytest.mark.parametrize("case", REFUSED)
def test_presets_that_do_not_fit_are_refused(case, run):
    Path("two.csv").write_text(TWO_CLASS)
    before = sorted(Path().iterdir())
    words, message = REFUSED[case]
    code, out, err = run(*words.split())
    assert (code, out) == (2, "")
    assert message in " ".join(err.split())
    assert err.startswith("Usage: deciban") == (case in USAGE)
    assert sorted(Path().iterdir()) == before
