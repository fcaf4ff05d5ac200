"""Groups of classes: the metrics of the problem "which group?", by their definitions."""

import numpy as np
import pytest
from scipy.special import logsumexp

from deciban import InputError
from deciban.evaluation import evaluate_classes, evaluate_groups
from deciban.workflows import evaluate_files as evaluate_class_files
from support.class_files import write_files
from support.many_classes import problem

CLASSES = ("pol", "rus", "eng", "ara")
GROUPS = {"slavic": ["pol", "rus"], "other": ["ara", "eng"]}
PRIOR = {"pol": 0.1, "rus": 0.3, "eng": 0.4, "ara": 0.2}


def data():
    systems, label = problem(400, seed=3)
    return systems[:, 0], label


def by_hand(loglik, label, prior):
    """Cross-entropy, error rate and confusion of the groups in terms of the classes, straight from definitions."""
    log_joint = loglik + np.log(prior)
    slavic, other = (logsumexp(log_joint[:, some], axis=1) for some in ([0, 1], [2, 3]))
    surprise = np.where(label < 2, np.logaddexp(0, other - slavic), np.logaddexp(0, slavic - other)) / np.log(2)
    wrong = (slavic >= other) != (label < 2)
    return [sum(p * x[label == k].mean() for k, p in enumerate(prior)) for x in (surprise, wrong)]


def test_figures_are_those_of_the_classes_put_together():
    loglik, label = data()
    prior = np.array([PRIOR[name] for name in CLASSES])
    found = evaluate_groups(loglik, label, GROUPS, classes=CLASSES, prior=PRIOR)
    surprise, wrong = by_hand(loglik, label, prior)
    assert found.classes == ("slavic", "other")
    assert found.prior == pytest.approx([0.4, 0.6])
    assert found.cross_entropy == pytest.approx(surprise, rel=1e-12)
    assert found.error_rate == pytest.approx(wrong, rel=1e-12)
    assert found.counts.tolist() == [np.count_nonzero(label < 2), np.count_nonzero(label >= 2)]


def test_how_many_trials_a_class_has_never_matters():
    loglik, label = data()
    rows = np.concatenate((np.flatnonzero(label != 1), np.repeat(np.flatnonzero(label == 1), 7)))
    once = evaluate_groups(loglik, label, GROUPS, classes=CLASSES, p_target=0.1)
    often = evaluate_groups(loglik[rows], label[rows], GROUPS, classes=CLASSES, p_target=0.1)
    for metric in ("cllr", "min_cllr", "error_rate", "c_avg", "brier"):
        assert getattr(often, metric) == pytest.approx(getattr(once, metric), rel=1e-9)
    assert often.counts.sum() == len(rows)


def test_weights_count_like_copies():
    loglik, label = data()
    weight = np.arange(len(label)) % 3 + 1
    weighted = evaluate_groups(loglik, label, GROUPS, classes=CLASSES, sample_weight=weight)
    copied = evaluate_groups(loglik.repeat(weight, axis=0), label.repeat(weight), GROUPS, classes=CLASSES)
    assert weighted.cllr == pytest.approx(copied.cllr, rel=1e-12)
    assert weighted.error_rate == pytest.approx(copied.error_rate, rel=1e-12)


def balanced(weight, label, classes):
    """Shares of weight by which each of some classes weighs alike within its group, by hand."""
    share = np.zeros(len(label))
    for k in classes:
        share[label == k] = weight[label == k] / weight[label == k].sum() / len(classes)
    return share


@pytest.mark.parametrize("weight", [None, np.arange(200) % 4, np.linspace(0.01, 1.7, 200)])
def test_counts_are_sums_of_the_weights_that_were_given(weight):
    loglik, label = data()
    rows = np.concatenate([np.flatnonzero(label == k)[:n] for k, n in enumerate((20, 40, 80, 60))])
    loglik, label = loglik[rows], label[rows]
    own = np.ones(200) if weight is None else weight
    found = evaluate_groups(loglik, label, GROUPS, classes=CLASSES, sample_weight=weight)
    is_slavic = label < 2
    counts = [own[is_slavic].sum(), own[~is_slavic].sum()]
    assert found.counts == pytest.approx(counts, rel=1e-14)
    taken = logsumexp(loglik[:, :2], axis=1) >= logsumexp(loglik[:, 2:], axis=1)
    for g, inside in enumerate(([0, 1], [2, 3])):
        share = balanced(own, label, inside)
        expected = counts[g] * np.array([share[taken].sum(), share[~taken].sum()])
        assert found.confusion[g] == pytest.approx(expected, rel=1e-12)
        assert found.class_error_rates[g] == pytest.approx(expected[1 - g] / counts[g], rel=1e-12)
    if weight is None or weight.dtype == np.int64:
        assert found.counts.dtype == np.int64


def test_weights_that_are_all_one_change_nothing():
    loglik, label = data()
    rows = np.flatnonzero((label != 1) | (np.arange(len(label)) % 5 == 0))
    alone, weighted = (
        evaluate_groups(loglik[rows], label[rows], GROUPS, classes=CLASSES, sample_weight=weight)
        for weight in (None, np.ones(len(rows)))
    )
    assert alone.to_dict() == weighted.to_dict()
    assert alone.counts.tolist() == np.bincount(label[rows] // 2).tolist()


def test_confusions_stay_whole_where_classes_of_a_group_count_alike():
    loglik, label = data()
    rows = np.concatenate([np.flatnonzero(label == k)[:n] for k, n in enumerate((20, 30, 15, 15))])
    prior = [0.2, 0.3, 0.25, 0.25]  # in each group as the numbers of trials are
    found = evaluate_groups(loglik[rows], label[rows], GROUPS, classes=CLASSES, prior=prior)
    assert found.confusion.dtype == np.int64
    assert found.confusion.sum(axis=1).tolist() == [50, 30]
    twice = evaluate_groups(
        loglik[rows], label[rows], GROUPS, classes=CLASSES, prior=prior, sample_weight=np.full(80, 2)
    )
    assert twice.confusion.tolist() == (2 * found.confusion).tolist()


def test_counts_leave_out_classes_of_prior_0():
    loglik, label = data()
    weight = np.arange(len(label)) % 3 + 1
    prior = {"pol": 0.5, "rus": 0.0, "eng": 0.25, "ara": 0.25}
    found = evaluate_groups(loglik, label, GROUPS, classes=CLASSES, prior=prior, sample_weight=weight)
    assert found.counts.tolist() == [weight[label == 0].sum(), weight[label > 1].sum()]


def test_groups_of_one_class_are_the_classes():
    loglik, label = data()
    alone = evaluate_groups(loglik, label, [[k] for k in range(4)], classes=CLASSES, subsets=False)
    classes = evaluate_classes(loglik, label, classes=CLASSES)
    assert alone.classes == CLASSES
    assert alone.cllr == pytest.approx(classes.cllr, rel=1e-12)
    assert alone.c_avg == pytest.approx(classes.c_avg, rel=1e-12)
    assert alone.counts.tolist() == classes.counts.tolist()


def test_a_note_says_which_class_is_where():
    loglik, label = data()
    named = evaluate_groups(loglik, label, GROUPS, classes=CLASSES)
    assert "slavic = pol, rus; other = ara, eng" in named.notes[0]
    nameless = evaluate_groups(loglik, label, [[0, 1], [2, 3]], classes=CLASSES)
    assert nameless.classes == ("pol+rus", "eng+ara")


def test_scarce_groups_are_told_by_their_trials():
    loglik, label = data()
    rare = np.concatenate((np.flatnonzero(label == 0)[:5], np.flatnonzero(label == 1)[:10], np.flatnonzero(label > 1)))
    found = evaluate_groups(loglik[rare], label[rare], GROUPS, classes=CLASSES)
    assert [note.partition(":")[0] for note in found.notes[1:]] == ["Fewer than 30 trials of slavic"]


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"slavic": ["pol", "rus"], "other": ["eng"]}, r"'ara'\) is in no group"),
        ({"slavic": ["pol", "rus"], "other": ["eng", "ara", "rus"]}, r"'rus'\) is in another group, too"),
        ({"all": CLASSES}, "At least two groups"),
        ({"slavic": ["pol", "rus", "cze"], "other": ["eng", "ara"]}, "cze"),
        ({"slavic": ["pol", "rus"], "other": ["eng", "ara"], "none": []}, "above 0. Leave the group out"),
        ({"slavic": "pol,rus", "other": ["eng", "ara"]}, "expected a list of classes"),
    ],
)
def test_what_is_no_partition_is_refused(groups, message):
    loglik, label = data()
    with pytest.raises(InputError, match=message):
        evaluate_groups(loglik, label, groups, classes=CLASSES)


def test_subsets_of_unbalanced_groups_are_refused():
    loglik, label = data()
    with pytest.raises(InputError, match="trials of rare classes have more weight"):
        evaluate_groups(loglik, label, GROUPS, classes=CLASSES, subsets=True)
    told = evaluate_groups(loglik, label, GROUPS, classes=CLASSES)
    assert told.subsets is None
    assert "trials of rare classes have more weight" in told.no_subsets


def test_subsets_of_weighted_groups_are_refused_for_the_weights():
    """Of classes with as many trials each: without the weights there are subsets."""
    loglik, label = data()
    rows = np.concatenate([np.flatnonzero(label == k)[:20] for k in range(4)])
    some = (loglik[rows], label[rows], GROUPS)
    assert len(evaluate_groups(*some, classes=CLASSES, subsets=True).subsets) == 1
    weight = np.arange(80) % 3 + 1
    with pytest.raises(InputError, match="Leave out the weights"):
        evaluate_groups(*some, classes=CLASSES, subsets=True, sample_weight=weight)
    assert "Leave out the weights" in evaluate_groups(*some, classes=CLASSES, sample_weight=weight).no_subsets


def test_files_are_grouped_alike(tmp_path):
    loglik, label = write_files(tmp_path)
    groups = {"land": ["cat", "dog"], "sea": ["eel"]}
    results = evaluate_class_files(tmp_path / "sysA.csv", tmp_path / "key.csv", groups=groups)
    found = evaluate_groups(loglik, label, groups, classes=("cat", "dog", "eel"))
    assert results.classes == ("land", "sea")
    assert results.systems[0].cllr == pytest.approx(found.cllr, rel=1e-12)
