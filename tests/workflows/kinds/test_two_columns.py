"""Scores of two named classes as scores of targets: their difference is the log-likelihood ratio."""

import numpy as np
import pytest

import deciban
from deciban import InputError
from deciban.calibration import AffineCalibrator
from deciban.io.recognition import recognize
from deciban.workflows.kinds.two_class import read_two_classes, read_two_columns

LABELS = {"target": "bona", "nontarget": "spoof"}


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(1)
    truth = rng.random(300) < 0.3
    score = rng.normal(size=(300, 2)) + np.stack([truth, ~truth], axis=1) * 1.5
    rows = enumerate(zip(score.tolist(), truth, strict=True))
    (tmp_path / "scores.csv").write_text(
        "segment,bona,spoof\n" + "".join(f"s{i},{a!r},{b!r}\n" for i, ((a, b), _) in rows)
    )
    names = ["bona" if one else "spoof" for one in truth]
    (tmp_path / "key.csv").write_text("segment,class\n" + "".join(f"s{i},{name}\n" for i, name in enumerate(names)))
    np.save(tmp_path / "scores.npy", score[:, ::-1])
    np.save(tmp_path / "key.npy", truth)
    return tmp_path, score, truth


def test_two_classes_have_the_figures_of_many(files):
    folder, score, truth = files
    llr = score[:, 0] - score[:, 1]
    by_hand = np.mean(np.logaddexp(0, -llr[truth])) + np.mean(np.logaddexp(0, llr[~truth]))
    many = deciban.evaluate_files(folder / "scores.csv", folder / "key.csv").systems[0]
    how = {"kind": "two-class", "labels": LABELS}
    two = deciban.evaluate_files(folder / "scores.csv", folder / "key.csv", **how)
    arrays = deciban.evaluate_files(folder / "scores.npy", folder / "key.npy", kind="two-class")
    assert two.systems[0].cllr == pytest.approx(by_hand / (2 * np.log(2)), rel=1e-14)
    assert two.systems[0].cllr == pytest.approx(many.cllr, rel=1e-14)
    assert arrays.systems[0].cllr == two.systems[0].cllr
    assert any("scores of class bona minus scores of class spoof" in one.text for one in two.messages)
    assert any("scores of class 1 minus scores of class 0" in one.text for one in arrays.messages)


def test_what_is_added_to_both_scores_changes_nothing(files, tmp_path):
    folder, score, _ = files
    np.save(tmp_path / "shifted.npy", score[:, ::-1] + np.array([4.0] * 150 + [-8.0] * 150)[:, None])
    one, other = (
        read_two_columns(recognize(path), unit=None).contents.scores.score
        for path in (folder / "scores.npy", tmp_path / "shifted.npy")
    )
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-13)
    np.testing.assert_array_equal(one, score[:, 0] - score[:, 1])


def test_which_class_is_the_target_is_asked_for(files):
    folder, _, _ = files
    with pytest.raises(InputError, match="it is unknown which class is the target: bona or spoof") as error:
        deciban.evaluate_files(folder / "scores.csv", folder / "key.csv", kind="two-class")
    assert str(error.value).endswith('\n  labels={"target": "bona", "nontarget": "spoof"}')
    other = {"target": "spoof", "nontarget": "bona"}
    swapped, first = (
        deciban.evaluate_files(folder / "scores.csv", folder / "key.csv", kind="two-class", labels=labels).systems[0]
        for labels in (other, LABELS)
    )
    assert (swapped.n_tar, swapped.auc) == (first.n_non, pytest.approx(first.auc, abs=1e-15))


def test_a_matrix_is_a_difference_only_if_asked(files):
    folder, _, _ = files
    kinds = deciban.evaluate_files(folder / "scores.npy", folder / "key.npy").kind
    assert kinds == "classes"
    with pytest.raises(InputError, match='has scores of 3 classes, but kind="two-class" needs two'):
        np.save(folder / "three.npy", np.zeros((300, 3)))
        deciban.evaluate_files(folder / "three.npy", folder / "key.npy", kind="two-class")


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_scores_of_both_classes_say_nothing(tmp_path, value):
    np.save(tmp_path / "a.npy", np.array([[0.0, 1.0], [value, value], [0.0, -value]]))
    with pytest.raises(InputError, match=r"row 1: both classes of \(1\) have the score -?inf.*\(1 such segments\)"):
        read_two_columns(recognize(tmp_path / "a.npy"), unit=None)
    np.save(tmp_path / "a.npy", np.array([[0.0, 1.0], [0.0, value]]))
    assert read_two_columns(recognize(tmp_path / "a.npy"), unit="log10").contents.scores.score.tolist() == [1.0, value]
    np.save(tmp_path / "a.npy", np.array([[-1.7e308, 1.7e308], [0.0, 0.0]]))
    with pytest.raises(InputError, match="row 0: the difference of its scores exceeds the largest float"):
        read_two_columns(recognize(tmp_path / "a.npy"), unit=None)


def test_probabilities_get_a_note(tmp_path):
    posterior = np.array([[0.25, 0.75], [0.5, 0.5]] * 10)
    np.save(tmp_path / "p.npy", posterior)
    found = read_two_columns(recognize(tmp_path / "p.npy"), unit=None).contents
    assert found.notes[1].is_warning
    assert "not a log-likelihood ratio" in found.notes[1].text
    assert "probabilities=PRIOR" in found.notes[1].text


def test_probabilities_of_two_columns_are_exact_where_one_alone_is_not(tmp_path):
    """A posterior that rounds to 1 says nothing by itself; that of the other class does."""
    posterior = np.array([[1e-20, 1.0], [0.75, 0.25], [1.0, 0.0]])
    np.save(tmp_path / "p.npy", posterior)
    found = read_two_columns(recognize(tmp_path / "p.npy"), unit=None, prior=0.2).contents
    assert found.from_probabilities
    assert len(found.notes) == 1
    expected = [20 * np.log(10) - np.log(0.25), np.log(1 / 3) - np.log(0.25), -np.inf]
    np.testing.assert_allclose(found.scores.score, expected, rtol=1e-14)


def test_two_classes_of_probabilities_are_evaluated_alike_as_two_and_as_many(tmp_path):
    rng = np.random.default_rng(3)
    label = np.arange(300) % 3 == 0
    llr = rng.normal(np.where(label, 2.0, -2.0), 2.0)
    posterior = 1 / (1 + np.exp(-(llr + np.log(0.2 / 0.8))))
    np.save(tmp_path / "p.npy", np.column_stack((1 - posterior, posterior)))
    np.save(tmp_path / "y.npy", label.astype(int))
    paths = tmp_path / "p.npy", tmp_path / "y.npy"
    two = deciban.evaluate_files(*paths, kind="two-class", probabilities=0.2).systems[0]
    many = deciban.evaluate_files(*paths, kind="classes", probabilities=[0.8, 0.2]).systems[0]
    assert two.cllr == pytest.approx(many.cllr, rel=1e-13)
    assert two.cllr == pytest.approx(deciban.metrics.cllr(llr[label], llr[~label]), rel=1e-12)


def test_what_is_read_otherwise_is_left_alone(files, tmp_path):
    folder, _, _ = files
    (tmp_path / "two.csv").write_text("trial,a_score,b_score\nx,1,2\n")
    (tmp_path / "key.csv").write_text("trial,label\nx,target\n")
    assert read_two_columns(recognize(tmp_path / "two.csv"), unit=None) is None
    assert read_two_classes(recognize(tmp_path / "key.csv")) is None
    assert read_two_classes(recognize(folder / "key.npy")) is None


def test_models_are_trained_on_differences_and_applied_to_them(files):
    folder, score, truth = files
    how = {"kind": "two-class", "labels": LABELS}
    done = deciban.train_files(folder / "scores.csv", folder / "key.csv", AffineCalibrator(), **how)
    by_hand = AffineCalibrator().fit(score[:, 0] - score[:, 1], truth)
    assert done.model.scale_ == pytest.approx(by_hand.scale_, rel=1e-9)
    deciban.apply_files(done.model, folder / "scores.csv", folder / "llr.csv", **how)
    written = deciban.read_scores(folder / "llr.csv")
    np.testing.assert_allclose(written.score, done.model.transform(score[:, 0] - score[:, 1]), rtol=1e-14)
    with pytest.raises(InputError, match='pass kind="two-class"'):
        deciban.apply_files(done.model, folder / "scores.csv", folder / "other.csv")


def test_two_files_of_targets_and_non_targets_have_one_score(files):
    folder, score, truth = files
    for name, rows in (("tar", truth), ("non", ~truth)):
        np.save(folder / f"{name}.npy", score[rows])
    two = {"tar": folder / "tar.npy", "non": folder / "non.npy", "kind": "two-class"}
    with pytest.raises(InputError, match="must contain one score for each trial. Name its column"):
        deciban.evaluate_files(**two)
    (found,) = deciban.evaluate_files(**two, columns={"score": "1"}).systems
    assert found.cllr == deciban.evaluate(score[truth, 0], score[~truth, 0]).cllr
