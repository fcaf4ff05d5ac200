"""Models applied to files: which files become which, and what is refused before anything is written."""

from dataclasses import replace

import numpy as np
import pytest

from deciban import InputError, Scores, apply_files, read_scores
from deciban.calibration import AffineCalibrator, ShiftCalibrator
from deciban.io import write
from deciban.models import Model
from support.score_files import said

SCORES, TRUTH = [3.0, 1.0, 2.0, -1.0, 1.5, 0.0], [True, True, True, False, False, False]


@pytest.fixture
def model(tmp_path):
    calibrator = AffineCalibrator().fit(SCORES, TRUTH)
    calibrator.save(tmp_path / "model.json")
    return calibrator


def test_a_path_and_a_model_do_the_same(model, tmp_path):
    (tmp_path / "a.txt").write_text("x y 1\nx z -inf\nw z 2\n")
    facts = said(apply_files(tmp_path / "model.json", tmp_path / "a.txt", tmp_path / "one.txt"))
    assert facts[0] == f"model  {tmp_path / 'model.json'}   affine   trained on 3 target · 3 non-target"
    apply_files(model, [tmp_path / "a.txt"], tmp_path / "other.txt")
    assert (tmp_path / "one.txt").read_bytes() == (tmp_path / "other.txt").read_bytes()
    np.testing.assert_array_equal(read_scores(tmp_path / "one.txt").score, model.transform([1.0, -np.inf, 2.0]))


def test_common_logarithms_come_in_as_natural_ones(model, tmp_path):
    (tmp_path / "a.txt").write_text("x y 1\n")
    apply_files(model, tmp_path / "a.txt", tmp_path / "b.txt", log10=True)
    assert read_scores(tmp_path / "b.txt").score == pytest.approx(model.transform([np.log(10.0)]), rel=1e-15)


def test_a_single_input_into_a_folder(model, tmp_path):
    (tmp_path / "a.txt").write_text("x y 1\n")
    (tmp_path / "there").mkdir()
    apply_files(model, tmp_path / "a.txt", tmp_path / "there")
    apply_files(model, tmp_path / "a.txt", f"{tmp_path}/new/")
    assert (tmp_path / "there/a.txt").read_bytes() == (tmp_path / "new/a.txt").read_bytes()


def test_llrs_that_are_known_take_precedence(model, tmp_path):
    (tmp_path / "a.txt").write_text("x y 1\nx z 2\nw z 3\n")
    known = Scores.of({"enroll": ["w", "x", "no"], "test": ["z", "y", "one"]}, [7.0, -7.0, 99.0])
    facts = said(apply_files(model, tmp_path / "a.txt", tmp_path / "b.txt", known=known))
    np.testing.assert_array_equal(read_scores(tmp_path / "b.txt").score, [-7.0, model.transform([2.0])[0], 7.0])
    assert "note  1 trial not used in training gets llrs of the final model" in facts
    by_row = Scores.of({"trial": ["p", "q", "r"]}, [1.0, 2.0, 3.0])
    apply_files(model, tmp_path / "a.txt", tmp_path / "c.txt", known=by_row, by_order=True)
    assert read_scores(tmp_path / "c.txt").score.tolist() == [1.0, 2.0, 3.0]


class Sum(Model):
    kind, parameter_schema = "sum", {}

    def parameters(self):
        return {}

    def set_parameters(self, parameters):
        pass


def test_what_is_refused(model, tmp_path):
    (tmp_path / "a.txt").write_text("x y 1\n")
    with pytest.raises(InputError, match="ShiftCalibrator: not trained yet"):
        apply_files(ShiftCalibrator(), tmp_path / "a.txt", tmp_path / "b.txt")
    with pytest.raises(InputError, match="Sum: a model of kind 'sum' does not map scores to log-likelihood ratios"):
        apply_files(Sum(), tmp_path / "a.txt", tmp_path / "b.txt")
    with pytest.raises(InputError, match="scores: no file given"):
        apply_files(model, [], tmp_path / "b.txt")
    with pytest.raises(InputError, match="can be read only once"):
        apply_files(model, ["-", "-"], f"{tmp_path}/new/")
    for nameless in ("-", f"{tmp_path}/*.txt"):
        with pytest.raises(InputError, match="has no file name for a file in the output folder"):
            apply_files(model, [nameless], f"{tmp_path}/new/")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "model.json"]


def test_inputs_of_several_files_are_not_replaced_either(model, tmp_path):
    (tmp_path / "part-1.txt").write_text("x y 1\n")
    (tmp_path / "part-2.txt").write_text("x z 2\n")
    (tmp_path / "folder").mkdir()
    write(read_scores(tmp_path / "part-1.txt"), tmp_path / "folder/1.parquet")
    for source, target in (("part-*.txt", "part-2.txt"), ("folder", "folder/2.parquet")):
        with pytest.raises(InputError, match="is an input, or in a folder that is an input"):
            apply_files(model, tmp_path / source, tmp_path / target)
    apply_files(model, tmp_path / "part-*.txt", tmp_path / "all.txt")
    assert len(read_scores(tmp_path / "all.txt")) == 2
    apply_files(model, tmp_path / "folder", tmp_path / "all.parquet")
    assert len(read_scores(tmp_path / "all.parquet")) == 1


def test_llrs_that_are_known_have_no_intervals(model, tmp_path):
    known = Scores.of({"enroll": ["w"], "test": ["z"]}, [7.0])
    with pytest.raises(InputError, match="interval: known scores do not come from the model"):
        apply_files(model, tmp_path / "a.txt", tmp_path / "b.csv", known=known, interval=True)
    assert not (tmp_path / "b.csv").exists()


def test_no_folder_is_made_for_a_format_that_is_not_known(model, tmp_path):
    (tmp_path / "a.txt").write_text("x y 1\n")
    with pytest.raises(InputError, match="'nope' is unknown"):
        apply_files(model, tmp_path / "a.txt", f"{tmp_path}/new/", to="nope")
    assert not (tmp_path / "new").exists()


def test_order_and_conditions_of_other_formats_stay(model, tmp_path):
    ids = {"trial": ["b", "a", "c"]}
    write(Scores.of(ids, [1.0, 2.0, 3.0], conditions={"gender": ["f", None, "m"]}), tmp_path / "a.parquet")
    apply_files(model, tmp_path / "a.parquet", tmp_path / "b.parquet")
    after = read_scores(tmp_path / "b.parquet")
    assert [after.trials.name_of(i) for i in range(3)] == ["(b)", "(a)", "(c)"]
    assert after.trials.conditions["gender"].to_pylist() == ["f", None, "m"]
    np.testing.assert_array_equal(after.score, model.transform([1.0, 2.0, 3.0]))


def test_a_model_of_another_system_is_named(tmp_path):
    trained = AffineCalibrator().fit(Scores.of({"trial": list("abcdef")}, SCORES, name="sysA").score, TRUTH)
    trained.training_ = replace(trained.training_, systems=("sysA",))
    trained.save(tmp_path / "model.json")
    (tmp_path / "sysB.txt").write_text("m a 1\nm b 2\n")
    facts = said(apply_files(tmp_path / "model.json", tmp_path / "sysB.txt", tmp_path / "out.txt"))
    assert "note  the model was trained on 'sysA', and is applied to 'sysB'" in facts
    (tmp_path / "sysA.txt").write_text("m a 1\nm b 2\n")
    facts = said(apply_files(tmp_path / "model.json", tmp_path / "sysA.txt", tmp_path / "again.txt"))
    assert not any("applied to" in fact for fact in facts)
