"""Score files before and after calibration."""

import math

import numpy as np
import pytest

from deciban import InputError
from deciban.calibration import AffineCalibrator
from deciban.evaluation import evaluate
from deciban.workflows import evaluate_files

TAR, NON = np.array([2.0, 1.0, 3.0, 0.5]), np.array([0.0, 1.5, -1.0, -2.0, 0.25])
MODEL = AffineCalibrator(p_target=0.2).fit(np.append(TAR, NON), np.arange(9) < 4)


@pytest.fixture
def files(tmp_path):
    scores = "".join(f"m t{i} {value!r}\n" for i, value in enumerate([*TAR.tolist(), *NON.tolist()]))
    (tmp_path / "eval.txt").write_text(scores)
    (tmp_path / "key.txt").write_text("".join(f"m t{i} {'target' if i < 4 else 'nontarget'}\n" for i in range(9)))
    MODEL.save(tmp_path / "model.json")
    return tmp_path


def test_both_are_the_evaluations_of_the_arrays(files):
    asked = {"operating_points": [0.1, 0.5]}
    of_files = {**asked, "intervals": False}
    plain = evaluate_files(files / "eval.txt", files / "key.txt", **of_files)
    after = evaluate_files(files / "eval.txt", files / "key.txt", model=files / "model.json", **of_files)
    expected = evaluate(MODEL.scale_ * TAR + MODEL.offset_, MODEL.scale_ * NON + MODEL.offset_, name="eval", **asked)
    assert after.systems[0].to_dict() == expected.to_dict()
    assert plain.before is None
    as_they_are = evaluate(TAR, NON, name="eval", **asked).to_dict()
    assert after.before.systems[0].to_dict() == plain.systems[0].to_dict() == as_they_are
    assert after.join == after.before.join == plain.join
    assert after.message_lines[: len(plain.message_lines)] == plain.message_lines
    assert [fact.split()[0] for fact in after.message_lines[len(plain.message_lines) :]] == ["note", "note"]
    assert "llrs computed by the model (affine)" in after.message_lines[-2]


def test_trials_are_known_again_whatever_their_order(files):
    lines = (files / "eval.txt").read_text().splitlines(keepends=True)
    (files / "again.txt").write_text("".join(reversed(lines)))
    (files / "other.txt").write_text("".join(lines).replace("0.25", "0.26"))
    words = {"again.txt": "trained on these same trials", "other.txt": "not the training trials of the model"}
    for name, of_training in (("again.txt", False), ("other.txt", True)):
        told = evaluate_files(files / name, files / "key.txt", model=MODEL, of_training=of_training)
        silent = evaluate_files(files / name, files / "key.txt", model=MODEL, of_training=not of_training)
        assert words[name] in told.message_lines[-1]
        assert words[name] not in silent.message_lines[-1]


def test_common_logarithms_are_taken_to_nats_first(files):
    after = evaluate_files(files / "eval.txt", files / "key.txt", model=MODEL, log10=True)
    nats = math.log(10)
    expected = evaluate(MODEL.transform(nats * TAR), MODEL.transform(nats * NON), name="eval")
    assert after.systems[0].cllr == pytest.approx(expected.cllr)


def test_one_system_and_a_trained_calibrator(files):
    (files / "second.txt").write_bytes((files / "eval.txt").read_bytes())
    both = [files / "eval.txt", files / "second.txt"]
    with pytest.raises(InputError, match=r"2 systems \(eval, second\), but a model of kind 'affine' is for one"):
        evaluate_files(both, files / "key.txt", model=MODEL)
    with pytest.raises(InputError, match="given twice"):
        evaluate_files([files / "eval.txt"] * 2, files / "key.txt", model=MODEL)
    with pytest.raises(InputError, match="not trained yet"):
        evaluate_files(files / "eval.txt", files / "key.txt", model=AffineCalibrator())


@pytest.mark.parametrize(("scores", "got"), [(3, "int"), (b"A.txt", "int"), ([None], "NoneType")])
def test_what_is_no_name_of_a_file_is_refused(scores, got):
    with pytest.raises(InputError, match=rf"scores: got {got}"):
        evaluate_files(scores, "key.txt")
