"""Groups of classes: the figures of the problem "which group?", by their definitions."""

import numpy as np
import pytest
from scipy.special import logsumexp

from deciban import InputError
from deciban.evaluation import evaluate_class_files, evaluate_classes, evaluate_groups
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
    for figure in ("cllr", "min_cllr", "error_rate", "c_avg", "brier"):
        assert getattr(often, figure) == pytest.approx(getattr(once, figure), rel=1e-9)
    assert often.counts.sum() == len(rows)


def test_weights_count_like_copies():
    loglik, label = data()
    weight = np.arange(len(label)) % 3 + 1
    weighted = evaluate_groups(loglik, label, GROUPS, classes=CLASSES, sample_weight=weight)
    copied = evaluate_groups(loglik.repeat(weight, axis=0), label.repeat(weight), GROUPS, classes=CLASSES)
    assert weighted.cllr == pytest.approx(copied.cllr, rel=1e-12)
    assert weighted.error_rate == pytest.approx(copied.error_rate, rel=1e-12)


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
        ({"slavic": ["pol", "rus"], "other": ["eng", "ara", "rus"]}, r"'rus'\) is in a group already"),
        ({"all": CLASSES}, "at least two groups"),
        ({"slavic": ["pol", "rus", "cze"], "other": ["eng", "ara"]}, "cze"),
        ({"slavic": "pol,rus", "other": ["eng", "ara"]}, "expected a list of classes"),
    ],
)
def test_what_is_no_partition_is_refused(groups, message):
    loglik, label = data()
    with pytest.raises(InputError, match=message):
        evaluate_groups(loglik, label, groups, classes=CLASSES)


def test_subsets_of_unbalanced_groups_are_refused():
    loglik, label = data()
    with pytest.raises(InputError, match="trials of rare classes count more"):
        evaluate_groups(loglik, label, GROUPS, classes=CLASSES, subsets=True)


def test_files_are_grouped_alike(tmp_path):
    loglik, label = write_files(tmp_path)
    groups = {"land": ["cat", "dog"], "sea": ["eel"]}
    results = evaluate_class_files(tmp_path / "sysA.csv", tmp_path / "key.csv", groups=groups)
    found = evaluate_groups(loglik, label, groups, classes=("cat", "dog", "eel"))
    assert results.classes == ("land", "sea")
    assert results.systems[0].cllr == pytest.approx(found.cllr, rel=1e-12)
