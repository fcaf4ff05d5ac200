"""Wide tables that the trials of a key make matrices."""

import numpy as np
import pytest

import deciban
from deciban import FormatError, InputError
from deciban.calibration import AffineCalibrator
from deciban.io.reader import matrices_by_key
from deciban.io.recognition import recognize


@pytest.fixture
def files(tmp_path):
    score = np.random.default_rng(0).normal(size=(4, 5)) + np.eye(4, 5)
    lines = ["id,x0,x1,x2,x3,x4"] + [f"m{i}," + ",".join(map(repr, row)) for i, row in enumerate(score.tolist())]
    (tmp_path / "wide.csv").write_text("\n".join(lines) + "\n")
    pairs = [(i, j) for i in range(4) for j in range(5) if (i + j) % 3]
    (tmp_path / "key.txt").write_text("".join(f"m{i} x{j} {'target' if i == j else 'nontarget'}\n" for i, j in pairs))
    cells = [["1" if i == j else "-1" if (i + j) % 3 else "0" for j in range(5)] for i in range(4)]
    lines = ["id,x0,x1,x2,x3,x4"] + [f"m{i}," + ",".join(row) for i, row in enumerate(cells)]
    (tmp_path / "key.csv").write_text("\n".join(lines) + "\n")
    return tmp_path, score, pairs


def test_a_key_of_pairs_makes_a_matrix(files):
    folder, score, pairs = files
    result = deciban.evaluate_files(folder / "wide.csv", folder / "key.txt").systems[0]
    tar, non = ([score[i, j] for i, j in pairs if (i == j) is same] for same in (True, False))
    assert (result.n_tar, result.n_non) == (len(tar), len(non))
    assert result.cllr == pytest.approx(deciban.evaluate(tar, non).cllr, rel=1e-14)
    deciban.write(deciban.read_key(folder / "key.txt"), folder / "key.npz")
    again = deciban.evaluate_files(folder / "wide.csv", folder / "key.npz").systems[0]
    assert again.cllr == result.cllr


def test_a_key_with_the_same_columns_is_a_matrix_where_the_scores_are_said_to_be_one(files):
    folder, _, pairs = files
    result = deciban.evaluate_files(folder / "wide.csv", folder / "key.csv", format="matrix-csv").systems[0]
    truth = [i == j for i, j in pairs] + [True] * sum((2 * i) % 3 == 0 for i in range(4))
    assert (result.n_tar, result.n_non) == (sum(truth), len(truth) - sum(truth))
    with pytest.raises((FormatError, InputError)):  # it could be marks of classes as well
        deciban.evaluate_files(folder / "wide.csv", folder / "key.csv")


def test_other_names_are_asked_for(files):
    folder, _, _ = files
    (folder / "other.txt").write_text("ann y0 target\nann y1 nontarget\n")
    with pytest.raises(
        InputError, match=r"wide.csv: scores of the classes x0, x1, x2, ..., or a matrix of trials"
    ) as at:
        deciban.evaluate_files(folder / "wide.csv", folder / "other.txt")
    assert '\n  format="matrix-csv"' in str(at.value)


def test_scores_of_classes_stay_what_they_are(files):
    folder, _, _ = files
    (folder / "classes.txt").write_text("m0 x1\nm1 x0\n")
    (folder / "classes.csv").write_text("id,class\n" + "".join(f"m{i},x{i}\n" for i in range(4)))
    scores = (recognize(folder / "wide.csv"),)
    for key in (None, recognize(folder / "classes.csv"), recognize(folder / "classes.txt"), recognize(folder / "none")):
        found, same = matrices_by_key(scores, key)
        assert same is key
        assert found[0].files[0].named_format is None


def test_formats_that_are_only_read_are_written_as_the_target_says(files):
    folder, score, _ = files
    model = AffineCalibrator().fit([3.0, 1.0, 2.0, -1.0, 1.5, 0.0], [True, True, True, False, False, False])
    deciban.apply_files(model, folder / "wide.csv", folder / "llr.csv", format="matrix-csv")
    written = deciban.read_scores(folder / "llr.csv")
    np.testing.assert_allclose(written.score, model.transform(score.ravel()), rtol=1e-14)
    assert written.trials.name_of(6) == "(m1, x1)"
    with pytest.raises(InputError, match="the ending .mtx belongs to no format"):
        deciban.apply_files(model, folder / "wide.csv", folder / "llr.mtx", format="matrix-csv")
