"""Metrics of batches are those of all trials, in the interfaces of torchmetrics and Hugging Face; early stopping."""

from types import SimpleNamespace

import numpy as np
import pytest

import deciban
from deciban.errors import DecibanWarning, InputError
from deciban.evaluation import EarlyStopping, ScoreMetric

RNG = np.random.default_rng(1)
LABELS = RNG.random(300) < 0.3
SCORES = RNG.normal(2.0 * LABELS).round(1)
NAMES = ["eer", "min_dcf", "act_dcf@2", "cllr", "auc"]
POINTS = [0.01, 0.3]


def expected(scores=SCORES, labels=LABELS):
    one = deciban.evaluate(scores[labels], scores[~labels], operating_points=POINTS)
    first, second = one.operating_points
    values = (one.eer, first.min_dcf, second.act_dcf, one.cllr, one.auc)
    return pytest.approx(dict(zip(NAMES, values, strict=True)), rel=1e-12)


class Tensor:
    """A tensor that is no array before it is detached and on the host, like those of PyTorch."""

    def __init__(self, values):
        self.values = values

    def detach(self):
        return SimpleNamespace(cpu=lambda: SimpleNamespace(numpy=lambda: self.values))


def test_batches_add_up_also_if_one_lacks_a_class():
    metric = ScoreMetric(NAMES, operating_points=POINTS)
    order = np.argsort(LABELS, kind="stable")
    for rows in np.array_split(order, 7):
        metric.update(Tensor(SCORES[rows]), Tensor(LABELS[rows].astype(int)))
    assert metric.compute() == expected()
    assert metric.compute() == expected()  # nothing is forgotten
    metric.reset()
    with pytest.raises(InputError, match="no batches"):
        metric.compute()


def test_processes_send_one_summary_each():
    """As with torch.distributed.all_gather_object; and merge_state, as in torcheval."""
    halves = [ScoreMetric(NAMES, operating_points=POINTS) for _ in range(2)]
    for metric, rows in zip(halves, (slice(0, 100), slice(100, None)), strict=True):
        metric.update(SCORES[rows][:50], LABELS[rows][:50])
        metric.update(SCORES[rows][50:], LABELS[rows][50:])
    other = halves[1].evaluation()
    assert other.n_tar + halves[0].evaluation().n_tar == LABELS.sum()
    halves[0].gather = lambda own: [own, *halves[1].summaries]
    assert halves[0].compute() == expected()
    halves[0].gather = None
    halves[0].merge_state([halves[1]])
    assert halves[0].compute() == expected()


def test_hugging_face_evaluate_and_trainer():
    metric = ScoreMetric(NAMES, operating_points=POINTS)
    metric.add_batch(predictions=SCORES[:10], references=LABELS[:10])
    assert metric.compute(predictions=SCORES[10:], references=LABELS[10:]) == expected()
    assert metric.summaries == []
    prior = 0.2  # logits of a classifier that was trained on a fifth of targets
    logits = np.column_stack([np.ones(300), 1.0 + SCORES + np.log(prior / (1 - prior))])
    trained = ScoreMetric(NAMES, operating_points=POINTS, prior=prior)
    found = trained(SimpleNamespace(predictions=logits, label_ids=LABELS.astype(int)))
    assert found == pytest.approx(expected().expected, rel=1e-9)


def test_a_process_without_batches_takes_part_in_the_exchange():
    """It would otherwise raise while the other processes wait."""
    full, empty = (ScoreMetric(NAMES, operating_points=POINTS) for _ in range(2))
    full.update(SCORES, LABELS)
    empty.gather = lambda own: [own, *full.summaries]
    assert empty.compute() == expected()
    assert empty.compute() == expected()
    empty.gather = lambda own: [own, own]
    with pytest.raises(InputError, match="no batches"):
        empty.compute()


def test_a_last_batch_that_fails_is_forgotten():
    metric = ScoreMetric("auc")
    metric.add_batch(predictions=SCORES[LABELS], references=LABELS[LABELS])
    with pytest.raises(InputError, match="non-target"):
        metric.compute(predictions=[5.0], references=[1])
    with pytest.raises(InputError, match="references: missing"):
        metric.compute(predictions=[5.0])
    column = SCORES[~LABELS][:, None]  # as of a head with one logit
    found = metric.compute(predictions=column, references=LABELS[~LABELS][:, None])
    assert found == {"auc": expected().expected["auc"]}


def test_weights_count_like_copies():
    weights = np.arange(300) % 3
    metric = ScoreMetric(NAMES, operating_points=POINTS)
    metric.update(SCORES, LABELS, weights)
    assert metric.compute() == expected(np.repeat(SCORES, weights), np.repeat(LABELS, weights))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ScoreMetric(prior=1.0), "prior"),
        (lambda: ScoreMetric().update([1.0], [1, 0]), "labels"),
        (lambda: ScoreMetric().update([np.nan], [1]), "scores"),
        (lambda: ScoreMetric().update([3.0, 2.0, 0.0, 9.0], [1, 1, 0, -100]), "labels: got -100.*Leave these rows out"),
        (lambda: ScoreMetric().update([3.0, 2.0], [1.0, np.nan]), "labels: expected booleans or 0 and 1, got .*nan"),
        (lambda: ScoreMetric().update([3.0, 2.0], [1, 2]), "labels: expected booleans or 0 and 1, got .*2"),
        (lambda: ScoreMetric().update([3.0, 2.0], ["a", "b"]), "labels: expected booleans, got <U1"),
        (lambda: ScoreMetric().update(["a", "b"], [1, 0]), "scores: expected real numbers"),
        (lambda: ScoreMetric("accuracy"), "metrics: 'accuracy'"),
        (lambda: EarlyStopping(patience=0), "patience: got 0"),
        (lambda: EarlyStopping(min_delta=-0.1), "min_delta: got -0.1"),
    ],
)
def test_what_is_not_valid_is_refused(call, words):
    with pytest.raises(InputError, match=words):
        call()


def test_probabilities_get_one_warning():
    shares, truth = np.linspace(0.05, 0.95, 100), np.arange(100) > 50
    metric = ScoreMetric(["eer", "cllr"])
    metric.update(shares, truth)
    with pytest.warns(DecibanWarning, match="All scores lie in"):
        metric.compute()
    metric.update(shares, truth)
    metric.compute()  # warnings are errors
    of_ranks = ScoreMetric("eer")
    of_ranks.update(shares, truth)
    assert list(of_ranks.compute()) == ["eer"]


def test_training_stops_without_improvement():
    stop = EarlyStopping(patience=2, min_delta=0.05)
    assert [stop(value) for value in (0.5, 0.47, 0.4, float("nan"), 0.39)] == [False, False, False, False, True]
    assert stop.best == 0.4
    stop = EarlyStopping(patience=1, larger_is_better=True)
    assert [stop(value) for value in (0.5, 0.6, 0.6)] == [False, False, True]
