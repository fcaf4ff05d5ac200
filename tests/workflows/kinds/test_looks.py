"""What unlabelled scores look like: batches add up, and calibrated scores look like nothing else."""

from dataclasses import replace
from operator import add

import numpy as np
import pytest

from deciban.trials import ClassScores, Scores
from deciban.trials.classes import ScoreStatistics
from deciban.workflows.kinds import application_messages, decision_messages, messages_on_declared_ratios


def scores(values, **how):
    return Scores.of({"trial": [f"t{k}" for k in range(len(values))]}, values, **how)


LLR = np.random.default_rng(1).normal(0.0, 2.0, 40)


@pytest.mark.parametrize(
    ("values", "like"),
    [
        (LLR, ""),
        (np.exp(2 * LLR), "ratios"),
        (np.append(np.exp(2 * LLR), [0.0, np.inf]), "ratios"),
        (np.exp(0.2 * LLR), ""),  # a ratio below 1000
        (1.5 + np.exp(2 * LLR), ""),  # none below 1
        (-np.exp(2 * LLR), ""),
        (np.append(np.exp(2 * LLR), -np.inf), ""),
        (1 / (1 + np.exp(-LLR)), "probabilities"),
        (np.tanh(LLR), "cosines"),
        (np.tanh(LLR)[:5], ""),
        (0.01 * np.tanh(LLR), ""),
    ],
)
def test_scores_look_like_something_else_by_their_values(values, like):
    whole = scores(values)
    assert ScoreStatistics.of(whole).like == like
    parts = [ScoreStatistics.of(scores(part)) for part in np.array_split(values, 7) if len(part)]
    assert sum(parts, ScoreStatistics()) == ScoreStatistics.of(whole)


@pytest.mark.parametrize("declared", [{"log10": True}])
def test_declared_scores_look_like_what_they_are(declared):
    assert ScoreStatistics.of(scores(np.exp(2 * LLR), **declared)).like == ""


def test_posteriors_of_classes():
    posterior = np.random.default_rng(2).dirichlet(np.ones(3), 30)
    trials = {"trial": [f"t{k}" for k in range(30)]}
    of_classes = [ClassScores.of(trials, list("abc"), values) for values in (posterior, np.log(posterior))]
    assert [ScoreStatistics.of(one).like for one in of_classes] == ["probabilities", ""]
    assert add(*map(ScoreStatistics.of, of_classes)).like == ""


def test_messages_name_the_option():
    ratios = ScoreStatistics.of(scores(np.exp(2 * LLR)))
    (applied,), (decided,) = (
        application_messages(["a.txt", "b.txt"], [ratios, ScoreStatistics()]),
        decision_messages("a.txt", ratios),
    )
    for message in (applied, decided):
        assert message.origin == "a.txt"
        assert "add lr=True." in message.text
    assert "meaningless" in decided.text
    assert "cosine" in decision_messages("a", ScoreStatistics.of(scores(np.tanh(LLR))))[0].text
    assert not decision_messages("a", ScoreStatistics.of(scores(LLR)))


@pytest.mark.parametrize("negated", [False, True])
def test_declared_ratios_that_all_lie_in_0_to_1_may_be_probabilities(negated):
    logarithms = np.log(np.linspace(0.05, 0.95, 20)) * (-1.0 if negated else 1.0)
    found = messages_on_declared_ratios([replace(scores(logarithms), is_from_lr=True)], negated=negated)
    assert ["use probabilities=PRIOR instead of lr" in one.text for one in found] == [True]
    undeclared, others = scores(logarithms), replace(scores(np.append(logarithms, [3.0, -3.0])), is_from_lr=True)
    assert messages_on_declared_ratios([undeclared, others], negated=negated) == []
