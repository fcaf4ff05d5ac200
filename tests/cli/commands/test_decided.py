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
    jsonschema.validate(found, deciban.json_schemas()["eval"])
    assert found["decisions"] is True
    found = found["systems"][0]["intervals"]["p_miss"]
    assert 0.0 <= found["low"] < 0.6 < found["high"] <= 1.0


def test_figures_of_scores_are_refused(run):
    code, _, err = run(*["eval", "d.csv", "--decisions", "--key", "key.csv", "--thresholds", "--fnmr-at", "0.1"])
    assert code == 2
    assert "--fnmr-at, --thresholds: about scores" in err


def test_options_of_decisions_need_decisions(run):
    code, _, err = run(*["eval", "d.csv", "--key", "key.csv", "--accept", "1"])
    assert code == 2
    assert "add --decisions" in err


def test_many_trials_are_counted_to_the_last():
    counts = np.array([[1_234_567, 2], [1, 3]])
    made = _actions_of(DecisionEvaluation("d", "two-class", ("accept", "reject"), ("tar", "non"), counts, {}, ()))
    assert "1,234,567 (100.00 %)" in made.rows[0][1]
