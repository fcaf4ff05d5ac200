"""``deciban eval --decisions``: tables, JSON that fits its schema, and refusals."""

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import deciban
from deciban.evaluation.decided import DecisionEvaluation
from deciban.tables.results import _actions_of
from support.commands import terminal


@pytest.fixture
def run(tmp_path, monkeypatch, capsysbinary):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "key.csv").write_text("trial,label\na,target\nb,nontarget\nc,target\nd,nontarget\n")
    (tmp_path / "d.csv").write_text("trial,action\na,accept\nb,reject\nc,reject\nd,reject\n")
    return terminal(monkeypatch, capsysbinary)


def test_tables_say_how_often_and_at_what_cost(run):
    code, out, err = run(*["eval", "d.csv", "--decisions", "--key", "key.csv", "--dcf", "0.5", "--no-intervals"])
    assert code == 0, err
    text = " ".join(out.decode().split())
    assert "d 50.00 % 0.00 %" in text
    assert "d p_target 0.5 0.2500 0.5000 0.500" in text
    assert "1 (50.00 %)" in text
    assert "decisions of column 'action': accept, reject   4 trials" in err


@pytest.mark.parametrize("more", [(), ("--bootstrap", "5")])
def test_json_fits_the_schema(run, more):
    Path("key.csv").write_text("trial,label\n" + "".join(f"{k},{'non' * (k % 2)}target\n" for k in range(10)))
    Path("d.csv").write_text(
        "trial,action\n" + "".join(f"{k},{'accept' if k in (0, 2) else 'reject'}\n" for k in range(10))
    )
    code, out, _ = run(*["eval", "d.csv", "--decisions", "--key", "key.csv", "--json", "--units", "trials", *more])
    assert code == 0
    found = json.loads(out)
    jsonschema.Draft202012Validator(deciban.json_schemas()["eval"]).validate(found)
    assert found["decisions"] is True
    found = found["systems"][0]["intervals"]["p_miss"]
    assert 0.0 <= found["low"] < 0.6 < found["high"] <= 1.0


def test_figures_of_scores_are_refused(run):
    code, _, err = run(*["eval", "d.csv", "--decisions", "--key", "key.csv", "--thresholds", "--fnmr-at", "0.1"])
    assert code == 2
    assert "--fnmr-at, --thresholds: for scores" in err


@pytest.mark.parametrize(
    "option",
    [
        *("--information", "--all", "--corrected", "--notes all", "--optimism", "--worst 3", "--prior 0.1,0.9"),
        *("--p-target 0.3", "--subsets", "--pairs", "--group a=target", "--out-of-set 0.1", "--capacity"),
    ],
)
def test_options_without_effect_on_decisions_are_refused_by_name(run, option):
    code, _, err = run(*["eval", "d.csv", "--decisions", "--key", "key.csv", *option.split()])
    assert code == 2
    assert f"{option.split()[0]}: " in err
    assert "Leave it out." in err


def test_decisions_about_classes_have_one_target_prior_and_no_detection_costs(run):
    Path("k.csv").write_text("trial,class\n" + "".join(f"{k},{'abc'[k % 3]}\n" for k in range(30)))
    Path("m.csv").write_text("trial,decision\n" + "".join(f"{k},{'abc'[k % 5 % 3]}\n" for k in range(30)))
    typed = ["eval", "m.csv", "--decisions", "--key", "k.csv", "-q"]
    assert run(*typed, "--p-target", "0.1")[0] == 0
    for more, words in {
        ("--p-target", "0.5", "--p-target", "0.1"): "--p-target: decisions have C_avg at one target prior",
        ("--preset", "lre17"): "one target prior. Give one number, and no preset.",
        ("--dcf", "0.1"): "--dcf: not for decisions about more than two classes",
    }.items():
        code, _, err = run(*typed, *more)
        assert code == 2
        assert words in err


def test_options_of_decisions_need_decisions(run):
    code, _, err = run(*["eval", "d.csv", "--key", "key.csv", "--accept", "1"])
    assert code == 2
    assert "add --decisions" in err


def test_many_trials_are_counted_to_the_last():
    counts = np.array([[1_234_567, 2], [1, 3]])
    made = _actions_of(DecisionEvaluation("d", "two-class", ("accept", "reject"), ("tar", "non"), counts, {}, ()))
    assert "1,234,567 (100.00 %)" in made.rows[0][1]


def test_the_prior_of_two_classes_belongs_to_an_operating_point(run):
    code, _, err = run(*["eval", "d.csv", "--decisions", "--key", "key.csv", "--prior", "0.2"])
    assert code == 2
    assert "--dcf 0.2" in err
