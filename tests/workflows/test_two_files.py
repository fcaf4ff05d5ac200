"""Two files for each system, one of targets and one of non-targets, in place of score files and a key."""

import numpy as np
import pytest

import deciban
from deciban import InputError, KeyMismatchError
from deciban.calibration import AffineCalibrator
from deciban.fusion import LinearFusion
from deciban.workflows.reading.inputs import named_scores

DRAW = np.random.default_rng(20261122)
TAR, NON = DRAW.normal(1.5, 1.0, (2, 40)), DRAW.normal(0.0, 1.0, (2, 70))
TRUTH = np.arange(110) < 40
SCORES = np.concatenate([TAR, NON], axis=1)


@pytest.fixture
def folder(tmp_path):
    for k, name in enumerate("AB"):
        np.savetxt(tmp_path / f"{name}_tar.txt", TAR[k])
        np.savetxt(tmp_path / f"{name}_non.txt", NON[k])
    return tmp_path


def both(folder, side):
    return [folder / f"{name}_{side}.txt" for name in "AB"]


@pytest.mark.parametrize(("tar", "non"), [("tar", "non"), ("same", "different"), ("tar", "different")])
def test_an_evaluation_is_that_of_the_arrays(folder, tar, non):
    found = deciban.evaluate_files(**{tar: folder / "A_tar.txt", non: folder / "A_non.txt"})
    assert found.systems[0].to_dict() == deciban.evaluate(TAR[0], NON[0], name="A").to_dict()
    several = deciban.evaluate_files(**{tar: both(folder, "tar"), non: both(folder, "non")}, operating_points=[0.2])
    for k, name in enumerate("AB"):
        expected = deciban.evaluate(TAR[k], NON[k], name=name, operating_points=[0.2])
        assert several.systems[k].to_dict() == expected.to_dict()
    assert several.join.matched == 110


def test_common_logarithms(folder):
    found = deciban.evaluate_files(tar=folder / "A_tar.txt", non=folder / "A_non.txt", log10=True).systems[0]
    assert found.cllr == pytest.approx(deciban.evaluate(np.log(10) * TAR[0], np.log(10) * NON[0]).cllr)


def test_a_calibration_and_what_it_writes(folder):
    files = {"tar": folder / "A_tar.txt", "non": folder / "A_non.txt"}
    expected = AffineCalibrator().fit(SCORES[0], TRUTH)
    done = deciban.train_files(**files, model=AffineCalibrator(), cross_validate=5)
    assert (done.model.scale_, done.model.offset_) == pytest.approx((expected.scale_, expected.offset_))
    assert done.cross_validated.n_tar == 40
    deciban.apply_files(done.model, folder / "A_non.txt", folder / "llr.txt")
    assert np.loadtxt(folder / "llr.txt") == pytest.approx(expected.transform(NON[0]), rel=1e-9)
    after = deciban.evaluate_files(**files, model=done.model)
    assert after.systems[0].cllr == pytest.approx(deciban.metrics.cllr(*map(expected.transform, (TAR[0], NON[0]))))


def test_a_fusion(folder):
    expected = LinearFusion().fit(SCORES.T, TRUTH)
    files = {"same": both(folder, "tar"), "different": both(folder, "non")}
    done = deciban.train_files(**files)
    assert done.model.weights_ == pytest.approx(expected.weights_)
    assert done.model.training_.systems == ("A", "B")


def test_systems_with_names_meet_by_names(folder):
    """In whatever order each of them lists its trials."""
    for name, values in (("A", SCORES[0]), ("B", SCORES[1])):
        lines = [f"m t{row} {value!r}\n" for row, value in enumerate(values.tolist())]
        step = -1 if name == "B" else 1
        (folder / f"{name}_tar.txt").write_text("".join(lines[:40][::step]))
        (folder / f"{name}_non.txt").write_text("".join(lines[40:][::step]))
    done = deciban.train_files(tar=both(folder, "tar"), non=both(folder, "non"))
    assert done.model.weights_ == pytest.approx(LinearFusion().fit(SCORES.T, TRUTH).weights_)
    swapped = [folder / "A_tar.txt", folder / "B_non.txt"], [folder / "A_non.txt", folder / "B_tar.txt"]
    with pytest.raises(KeyMismatchError, match=r"t109.* another label .*110 such trials.*swapped\?"):
        deciban.evaluate_files(tar=swapped[0], non=swapped[1])


def test_a_report(folder):
    deciban.report_files(tar=both(folder, "tar"), non=both(folder, "non"), output=folder / "page.html")
    page = (folder / "page.html").read_text("utf-8")
    assert "A_tar.txt + " in page
    with pytest.raises(InputError, match="is an input"):
        (folder / "x.html").write_text("1\n")
        deciban.report_files(tar=folder / "x.html", non=folder / "A_non.txt", output=folder / "x.html")


def test_rows_must_be_as_many_of_each_class(folder):
    np.savetxt(folder / "B_tar.txt", TAR[1][:39])
    np.savetxt(folder / "B_non.txt", np.append(NON[1], 0.0))
    with pytest.raises(KeyMismatchError, match=r"has 39 targets and 71 non-targets, .* 40 and 70"):
        deciban.train_files(tar=both(folder, "tar"), non=both(folder, "non"))


def test_names_to_hold_out_by_that_are_not_there(folder):
    files = {"tar": folder / "A_tar.txt", "non": folder / "A_non.txt"}
    with pytest.raises(InputError, match=r"'speaker'.* neither names nor columns, only rows: .*cross_validate=5"):
        deciban.train_files(**files, cross_validate="speaker")


@pytest.mark.parametrize(
    ("scores", "key", "given", "message"),
    [
        (None, None, {}, "scores: no file given"),
        ([], None, {}, "scores: no file given"),
        (None, None, {"tar": "a"}, r"only scores of targets\. Add non=FILE"),
        (None, None, {"different": ["a"]}, r"only scores of non-targets\. Add tar=FILE"),
        (None, None, {"tar": ["a", "b"], "non": "c"}, r"2 files of targets and 1 of non-targets"),
        ("s.txt", None, {"tar": "a", "non": "b"}, "score files as well as files of targets"),
        (None, "k.txt", {"tar": "a", "non": "b"}, "key: defines the targets"),
        (None, None, {"tar": "a", "non": "./a"}, "given as the scores of targets and of non-targets"),
        (None, None, {"tar": "a", "same": "b", "non": "c"}, "tar, same: two names of one argument"),
        (None, None, {"tar": "-", "non": "-"}, "read only once"),
        (None, None, {"tar": 3, "non": "c"}, "tar: got int"),
        (None, None, {"tar": "a", "non": "b", "key_columns": "trial,label"}, "key_columns: is for a key"),
        (None, None, {"tar": "a", "non": "b", "key_format": "trial"}, "key_format: is for a key"),
        (None, None, {"tar": "a", "non": "b", "kind": "classes"}, "contain two-class scores"),
        (None, None, {"tar": "a", "non": "b", "classes": ["x", "y"]}, "contain two-class scores"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_read(scores, key, given, message):
    for made in (deciban.evaluate_files, deciban.train_files):
        with pytest.raises(InputError, match=message):
            made(scores, key, **given)


def test_other_arguments_are_handed_on():
    scores, others = named_scores("s.txt", "k.txt", {"log10": True, "tar": None})
    assert (scores, others) == ("s.txt", {"log10": True})
