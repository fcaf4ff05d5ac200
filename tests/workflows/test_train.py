"""Calibrators trained on files: what is taken from them, and what is held out."""

import numpy as np
import pytest

from deciban import FormatError, InputError, read_key, read_scores, train_files
from deciban.calibration import AffineCalibrator, BoundCalibrator, Chain, PavCalibrator, cross_validated
from deciban.metrics import cllr


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(11)
    truth = np.arange(300) % 3 == 0
    score = rng.normal(2.0 * truth, 1.0)
    rows = [
        (f"m{i % 9}", f"s{i}", score.tolist()[i], "target" if truth[i] else "nontarget", f"k{i % 8}")
        for i in range(300)
    ]
    (tmp_path / "dev.txt").write_text("".join(f"{m} {s} {x!r}\n" for m, s, x, _, _ in rows))
    lines = [f"{m},{s},{y},{k}\n" for m, s, _, y, k in reversed(rows)]
    (tmp_path / "key.csv").write_text("enroll,test,label,spk\n" + "".join(lines))
    return tmp_path, score, truth


def test_the_model_is_that_of_the_same_trials_in_memory(files):
    folder, score, truth = files
    done = train_files(folder / "dev.txt", folder / "key.csv", AffineCalibrator(p_target=0.1))
    fitted = AffineCalibrator(p_target=0.1).fit(score, truth)
    assert (done.model.scale_, done.model.offset_) == pytest.approx((fitted.scale_, fitted.offset_), rel=1e-9)
    assert done.model.training_.fingerprint == fitted.training_.fingerprint
    assert done.model.training_.systems == ("dev",)
    llr = fitted.transform(score)
    assert done.before.cllr == pytest.approx(cllr(score[truth], score[~truth]), rel=1e-9)
    assert done.after.cllr == pytest.approx(cllr(llr[truth], llr[~truth]), rel=1e-9)
    assert done.cross_validated is None
    assert [(row.name, row.role) for row in done.rows] == [("dev", "before"), ("dev (calibrated)", "calibration")]


def test_the_summary_of_a_chain_has_the_numbers_of_every_step(files):
    folder, score, truth = files
    chain = Chain(AffineCalibrator(), BoundCalibrator(low=-2.0))
    summary = train_files(folder / "dev.txt", folder / "key.csv", chain).summary
    fitted = AffineCalibrator().fit(score, truth)
    assert summary[0] == f"affine: scale {fitted.scale_:.6g}, offset {fitted.offset_:.6g}"
    assert summary[1].startswith("training: affine: converged")


def test_only_the_trials_that_are_asked_for(files):
    folder, score, truth = files
    done = train_files(folder / "dev.txt", folder / "key.csv", AffineCalibrator(), where={"spk": ["k1", "k2"]})
    chosen = np.isin(np.arange(300) % 8, (1, 2))
    fitted = AffineCalibrator().fit(score[chosen], truth[chosen])
    assert done.model.scale_ == pytest.approx(fitted.scale_, rel=1e-9)
    assert "only  trials with spk = k1 or k2" in done.message_lines


def test_common_logarithms_are_natural_ones_to_the_model(files):
    folder, score, truth = files
    done = train_files(folder / "dev.txt", folder / "key.csv", AffineCalibrator(), log10=True)
    assert done.model.scale_ * np.log(10) == pytest.approx(AffineCalibrator().fit(score, truth).scale_, rel=1e-9)


@pytest.mark.parametrize(("by", "n_folds"), [("spk", 4), (("enroll", "spk"), 3), (6, 5)])
def test_cross_validated_llrs_are_those_of_the_library(files, by, n_folds):
    folder, _, _ = files
    files = folder / "dev.txt", folder / "key.csv"
    done = train_files(*files, PavCalibrator(bound=5.0), cross_validate=by, n_folds=n_folds)
    key, scores = read_key(folder / "key.csv"), read_scores(folder / "dev.txt")
    score = dict(zip(map(scores.trials.name_of, range(300)), scores.score.tolist(), strict=True))
    columns = {"enroll": key.trials.column("enroll").to_pylist(), "test": key.trials.column("test").to_pylist()}
    columns["spk"] = key.trials.conditions["spk"].to_pylist()
    named = ("enroll", "test") if isinstance(by, int) else (by,) if isinstance(by, str) else by
    expected = cross_validated(
        PavCalibrator(bound=5.0),
        [score[key.trials.name_of(i)] for i in range(300)],
        key.is_target,
        groups=[columns[name] for name in named] if len(named) > 1 else columns[named[0]],
        n_folds=by if isinstance(by, int) else n_folds,
    )
    np.testing.assert_array_equal(done.cross_validated_scores.score, expected)
    tar, non = expected[key.is_target], expected[~key.is_target]
    assert done.cross_validated.cllr == pytest.approx(cllr(tar, non), rel=1e-12)
    assert any("a model trained without the trials that share its" in fact for fact in done.message_lines)


def test_the_record_for_machines(files):
    folder, _, _ = files
    told = train_files(folder / "dev.txt", folder / "key.csv", AffineCalibrator(), cross_validate="spk").to_dict()
    assert {"schema", "model", "before", "after", "cross_validated", "join", "inputs", "conventions"} < set(told)
    dev = {row["role"]: told["dev"][row["dev"]] for row in told["rows"]}
    roles = {"before": "before", "after": "calibration", "cross_validated": "cross-validated"}
    assert {old: told[old] for old in roles} == {old: dev[role] for old, role in roles.items()}
    assert told["model"]["kind"] == "affine"
    assert told["join"]["matched"] == 300


def test_one_system_at_a_time(tmp_path):
    (tmp_path / "two.csv").write_text("trial,a_score,b_score,label\nx,1,2,target\ny,2,1,nontarget\n")
    with pytest.raises(FormatError, match="scores of 2 systems: a_score, b_score. Choose one"):
        train_files(tmp_path / "two.csv", None, AffineCalibrator())
    done = train_files(
        *(tmp_path / "two.csv", None, AffineCalibrator(ridge=1.0)), columns="trial=trial,score=b_score,label=label"
    )
    assert done.model.scale_ > 0


def test_errors_of_training_are_not_hidden(tmp_path):
    (tmp_path / "apart.csv").write_text("trial,score,label\na,1,target\nb,0,nontarget\nc,2,target\n")
    with pytest.raises(InputError, match="the classes are separated"):
        train_files(tmp_path / "apart.csv", None, AffineCalibrator())
