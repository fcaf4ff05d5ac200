"""Data frames of every library, and arrays, give what the files and the arrays of the same trials give."""

import numpy as np
import pytest
from scipy.special import expit, logsumexp

import deciban
from deciban.errors import DecibanError
from support.frames import CLASS, CLASSES, COLUMNS, LOGLIK, MAKERS, OTHER, RNG, SCORES, TRUTH, N, of_pandas


@pytest.fixture(params=MAKERS.values(), ids=MAKERS)
def frame(request):
    return request.param


def cllr(score, truth, weight=None):
    """From its definition, in bits."""
    cost = np.logaddexp(0, np.where(truth, -score, score)) / np.log(2)
    weight = np.ones(len(score)) if weight is None else weight
    return (np.average(cost[truth], weights=weight[truth]) + np.average(cost[~truth], weights=weight[~truth])) / 2


def class_cllr(loglik, label):
    cost = logsumexp(loglik, axis=1) - loglik[np.arange(len(label)), label]
    return np.mean([cost[label == k].mean() for k in range(3)]) / np.log(2)


def test_columns_of_any_frame_are_scores_and_truth(frame):
    found = deciban.evaluate(frame(COLUMNS), score="llr", label="same")
    assert found == deciban.evaluate(SCORES[TRUTH], SCORES[~TRUTH], name="llr")
    assert found.cllr == pytest.approx(cllr(SCORES, TRUTH), rel=1e-12)


def test_several_columns_are_several_systems(frame):
    results = deciban.evaluate(frame(COLUMNS), score=["llr", "other"], label="same", operating_points=[0.1])
    assert [one.name for one in results.systems] == ["llr", "other"]
    assert [one.cllr for one in results.systems] == pytest.approx([cllr(SCORES, TRUTH), cllr(OTHER, TRUTH)], rel=1e-12)
    one = deciban.evaluate(COLUMNS, score=["llr"], label="same", operating_points=[0.1])
    assert one.systems == results.systems[:1]


def test_weights_rows_and_units_of_scores_are_said_of_frames_too(frame):
    weighted = deciban.evaluate(frame(COLUMNS), score="llr", label="same", weights="copies")
    assert weighted.cllr == pytest.approx(cllr(SCORES, TRUTH, np.asarray(COLUMNS["copies"])), rel=1e-12)
    chosen = deciban.evaluate(frame(COLUMNS), score="llr", label="same", where={"speaker": ["s1", "s2"]})
    rows = np.isin(COLUMNS["speaker"], ["s1", "s2"])
    assert chosen.n_tar + chosen.n_non == rows.sum()
    assert chosen.cllr == pytest.approx(cllr(SCORES[rows], TRUTH[rows]), rel=1e-12)
    common = deciban.evaluate(frame(COLUMNS), score="llr", label="same", log10=True)
    assert common.cllr == pytest.approx(cllr(SCORES * np.log(10), TRUTH), rel=1e-12)


@pytest.mark.parametrize(
    ("words", "labels"),
    [
        ((False, True), None),
        ((0, 1), None),
        ((0.0, 1.0), None),
        ((-1, 1), None),
        (("nontarget", "target"), None),
        (("Spoof", "Bonafide"), None),
        (("x", "y"), {"target": "y", "nontarget": "x"}),
        ((True, False), {"target": "False", "nontarget": "True"}),
        ((1, 0), {"target": "0", "nontarget": "1"}),
    ],
)
def test_labels_in_every_known_way(frame, words, labels):
    column = [words[int(one)] for one in TRUTH]
    found = deciban.evaluate(frame({"score": SCORES, "label": column}), labels=labels)
    assert found.n_tar == TRUTH.sum()
    assert found.cllr == pytest.approx(cllr(SCORES, TRUTH), rel=1e-12)


def test_order_of_rows_and_names_change_nothing(frame):
    order = RNG.permutation(N)
    shuffled = {name: np.asarray(column)[order] for name, column in COLUMNS.items()}
    found = deciban.evaluate(frame(shuffled), score="llr", label="same", trial="utterance")
    assert found == deciban.evaluate(COLUMNS, score="llr", label="same")


REFUSED = {
    "no such column": ({"score": "lr"}, "no column 'lr'; the columns are llr"),
    "words that nobody knows": ({"label": "speaker"}, "row 0: unknown label 's0'.*labels={.target.: .WORD"),
    "one column for two": ({"label": "llr"}, "column 'llr' is already the score"),
    "text for scores": ({"score": "speaker"}, "data frame: the scores are .*string"),
    "names that occur twice": ({"trial": "speaker"}, "data frame, row 0 .*twice|at once"),
    "what is for files": ({"format": "kaldi"}, "format: is for files"),
    "no name": ({"score": 1.5}, "score: got float. Name a column"),
    "half of the names": ({"enroll": "speaker"}, "names|identif"),
}


@pytest.mark.parametrize(("changed", "words"), REFUSED.values(), ids=REFUSED)
def test_what_makes_no_sense_is_refused(frame, changed, words):
    with pytest.raises((deciban.InputError, deciban.FormatError, deciban.KeyMismatchError), match=words):
        deciban.evaluate(frame(COLUMNS), **{"score": "llr", "label": "same", **changed})


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_missing_score_is_refused_with_its_row(missing):
    with pytest.raises(deciban.FormatError, match="row 1.*score"):
        deciban.evaluate({"score": [1.0, missing], "label": [1, 0]})


def test_arrays_and_frames_are_told_apart():
    with pytest.raises(deciban.InputError, match="Columns of a data frame are named: score='llr'"):
        deciban.evaluate(COLUMNS, "llr")
    with pytest.raises(deciban.InputError, match="tar: got dict, which has columns"):
        deciban.evaluate(COLUMNS, SCORES)
    with pytest.raises(deciban.InputError, match="non: none given"):
        deciban.evaluate(SCORES)
    with pytest.raises(deciban.InputError, match="label: is for a data frame"):
        deciban.evaluate(SCORES[TRUTH], SCORES[~TRUTH], label="same")
    with pytest.raises(deciban.InputError, match="label: none given"):
        deciban.evaluate_classes(LOGLIK)
    with pytest.raises(TypeError, match="weight.*Did you mean weights"):
        deciban.evaluate(COLUMNS, score="llr", label="same", weight="copies")


def class_columns():
    columns = {name: LOGLIK[:, k] for k, name in enumerate(CLASSES)}
    return {**columns, "animal": np.array(CLASSES)[CLASS], "age": np.arange(N)}


def test_columns_of_classes(frame):
    found = deciban.evaluate_classes(frame(class_columns()), label="animal", classes=CLASSES)
    assert found.cllr == pytest.approx(class_cllr(LOGLIK, CLASS), rel=1e-12)
    assert found.confusion.tolist() == deciban.evaluate_classes(LOGLIK, CLASS, classes=CLASSES).confusion.tolist()
    turned = deciban.evaluate_classes(frame(class_columns()), label="animal", classes=("eel", "cat", "dog"))
    assert turned.cllr == pytest.approx(found.cllr, rel=1e-12)
    assert turned.counts.tolist() == found.counts[[2, 0, 1]].tolist()


def test_a_frame_of_numbers_alone_is_a_matrix():
    matrix = of_pandas(class_columns())[list(CLASSES)]
    assert deciban.evaluate_classes(matrix, CLASS).cllr == pytest.approx(class_cllr(LOGLIK, CLASS), rel=1e-12)


def test_several_systems_of_classes(frame):
    columns = {f"A {name}": LOGLIK[:, k] for k, name in enumerate(CLASSES)}
    columns |= {f"B {name}": 0.5 * LOGLIK[:, k] for k, name in enumerate(CLASSES)}
    systems = {one: [f"{one} {name}" for name in CLASSES] for one in "AB"}
    results = deciban.evaluate_classes(
        frame({**columns, "class": np.array(CLASSES)[CLASS]}), classes=CLASSES, score=systems
    )
    assert [one.name for one in results.systems] == ["A", "B"]
    expected = [class_cllr(LOGLIK, CLASS), class_cllr(0.5 * LOGLIK, CLASS)]
    assert [one.cllr for one in results.systems] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({}, "classes: name the classes"),
        ({"classes": "cat"}, "classes: name the classes"),
        ({"classes": ["cat", "cow"]}, "no column 'cow'"),
        ({"classes": CLASSES, "score": ["cat"]}, "score: write the columns of each system"),
        ({"classes": CLASSES, "score": {"A": ["cat", "dog"]}}, "A has 2 columns for 3 classes"),
        ({"classes": ["cat", "dog"]}, "eel"),
    ],
)
def test_classes_that_make_no_sense_are_refused(how, words):
    with pytest.raises(DecibanError, match=words):
        deciban.evaluate_classes(class_columns(), label="animal", **how)


def test_posteriors_by_a_prior(frame):
    prior = np.array([0.5, 0.3, 0.2])
    posterior = LOGLIK + np.log(prior)
    posterior -= logsumexp(posterior, axis=1, keepdims=True)
    columns = {**{name: posterior[:, k] for k, name in enumerate(CLASSES)}, "class": np.array(CLASSES)[CLASS]}
    found = deciban.evaluate_classes(frame(columns), classes=CLASSES, posterior_prior=prior.tolist())
    assert found.cllr == pytest.approx(class_cllr(LOGLIK, CLASS), rel=1e-9)


def test_probabilities_of_two_classes_get_their_note(frame):
    found = deciban.evaluate(frame({"p": expit(SCORES), "same": TRUTH}), score="p", label="same")
    assert any("All scores lie in [0, 1]" in note and "llr_from_probability" in note for note in found.notes)


@pytest.mark.parametrize("kind", ["two-class", "classes"])
@pytest.mark.parametrize("how", ["by", "equalize"])
def test_conditions_of_one_system_are_not_lost(kind, how):
    line = np.array(["mic", "tel"])
    if kind == "classes":
        columns = {**class_columns(), "line": line[np.arange(len(LOGLIK)) % 2]}
        found = deciban.evaluate_classes(columns, label="animal", classes=CLASSES, **{how: "line"})
    else:
        columns = {"score": SCORES, "label": TRUTH, "line": line[np.arange(len(SCORES)) % 2]}
        found = deciban.evaluate(columns, score="score", **{how: "line"})
    (conditions,) = found.conditions
    known = conditions.partitions[0].conditions if how == "by" else conditions.equalized
    assert len(known) == (2 if how == "by" else 1)
