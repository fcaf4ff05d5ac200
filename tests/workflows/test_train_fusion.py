"""Fusions trained on files: what is taken from them, what is held out, and what is told."""

import json

import numpy as np
import pytest

from deciban import InputError, KeyMismatchError, metrics, read_key, train_files
from deciban.analysis import analyse_fusion, select_systems
from deciban.calibration import cross_validated
from deciban.fusion import LinearFusion, QualityFusion, SubsetFusion

N = 400
RNG = np.random.default_rng(8)
TRUTH = np.arange(N) % 4 == 0
SCORES = RNG.normal(size=(N, 3)) + TRUTH[:, None] * [2.0, 1.5, 0.0]
QUALITY = RNG.random(N)
SPEAKERS = [f"k{i % 11}" for i in range(N)]
NAMES = [(f"m{i % 9}", f"s{i}") for i in range(N)]


def rows(system, which):
    return "".join(f"{NAMES[i][0]} {NAMES[i][1]} {SCORES[i, system].item()!r}\n" for i in which)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("fusion")
    for k, name in enumerate("abc"):
        (path / f"{name}.txt").write_text(rows(k, np.random.default_rng(9).permutation(N)))
    (path / "part.txt").write_text(rows(1, range(60, N)))
    labels = ["target" if t else "nontarget" for t in TRUTH]
    table = zip(NAMES, labels, SPEAKERS, strict=True)
    (path / "key.csv").write_text(
        "enroll,test,label,speaker\n" + "".join(f"{m},{s},{label},{k}\n" for (m, s), label, k in table)
    )
    (path / "q.txt").write_text("1\n" + "".join(f"s{i} {QUALITY[i].item()!r}\n" for i in range(30, N)))
    return path


def paths(folder, names):
    return [folder / f"{name}.txt" for name in names]


def cllr(llr, truth=TRUTH):
    return metrics.cllr(llr[truth], llr[~truth])


def test_the_model_is_that_of_the_arrays(folder):
    prototype = LinearFusion(p_target=0.1)
    done = train_files(paths(folder, "ab"), folder / "key.csv", prototype, operating_points=[0.1])
    expected = LinearFusion(p_target=0.1).fit(SCORES[:, :2], TRUTH)
    np.testing.assert_allclose(done.model.weights_, expected.weights_, rtol=1e-9)
    assert done.model.training_.systems == ("a", "b")
    assert done.model.training_.fingerprint == expected.training_.fingerprint
    assert not prototype.is_fitted
    analysed = analyse_fusion(SCORES[:, :2], TRUTH, fusion=prototype, names=["a", "b"], operating_points=[0.1])
    assert [row.name for row in done.dev.systems] == [row.name for row in analysed.rows]
    found = [(row.cllr, row.operating_points[0].act_dcf) for row in done.dev.systems]
    np.testing.assert_allclose(found, [(r.dev.cllr, r.dev.operating_points[0].act_dcf) for r in analysed.rows])
    assert done.dev.systems[-1].cllr == pytest.approx(cllr(expected.transform(SCORES[:, :2])), rel=1e-9)
    assert done.test is None
    assert any(
        "are optimistic" in line and "cross-validate, or evaluate on other trials" in line for line in done.summary
    )


@pytest.mark.parametrize(("by", "parts"), [("speaker", 5), (3, 3), (("enroll", "test"), 5)])
def test_cross_validated_by_group(by, parts, folder):
    done = train_files(paths(folder, "ab"), folder / "key.csv", cross_validate=by)
    columns = {"speaker": SPEAKERS, "enroll": [m for m, _ in NAMES], "test": [s for _, s in NAMES]}
    groups = columns[by] if isinstance(by, str) else [columns["enroll"], columns["test"]]
    expected = cross_validated(LinearFusion(), SCORES[:, :2], TRUTH, groups=groups, n_folds=parts)
    np.testing.assert_allclose(done.cross_validated_scores.score, expected, rtol=1e-6)
    crossed = done.dev.systems[-1]
    assert crossed.name == "fusion (cross-validated)"
    assert crossed.cllr == pytest.approx(cllr(expected), rel=1e-6)
    assert any("a model trained without the trials that share its" in fact for fact in done.message_lines)
    assert done.summary[-1].endswith("expect those of 'fusion (cross-validated)'.")


def test_quality_is_for_the_trials_that_have_some(folder):
    done = train_files(paths(folder, "ab"), folder / "key.csv", quality=folder / "q.txt", cross_validate="speaker")
    quality = QUALITY[:, None].copy()
    quality[:30] = np.nan
    with pytest.warns(match="30 of 400 trials lack"):
        expected = QualityFusion().fit(SCORES[:, :2], TRUTH, test_quality=quality)
    np.testing.assert_allclose(done.model.quality_weights_, expected.quality_weights_, rtol=1e-6)
    assert done.model.training_.results["n_without_quality"] == 30
    assert "note  30 of 400 trials without quality measures are fused by scores alone" in done.message_lines
    assert [row.name for row in done.dev.systems[-2:]] == [
        "fusion with quality",
        "fusion with quality (cross-validated)",
    ]
    names = ["a", "b", "offset"]
    assert [row.name for row in done.model.parameter_rows()] == [
        *names,
        "q1 of test",
        *(f"without quality: {name}" for name in names),
    ]
    with pytest.raises(InputError, match="quality: given, but LinearFusion does not use it"):
        train_files(paths(folder, "ab"), folder / "key.csv", LinearFusion(), quality=folder / "q.txt")
    with pytest.raises(InputError, match="quality: none given"):
        train_files(paths(folder, "ab"), folder / "key.csv", QualityFusion())


def test_subsets_are_trained_where_a_system_lacks_trials(folder):
    files = [folder / "a.txt", folder / "part.txt"]
    with pytest.raises(KeyMismatchError, match="60 of 400 key trials have no score"):
        train_files(files, folder / "key.csv")
    dropped = train_files(files, folder / "key.csv", missing="drop")
    np.testing.assert_allclose(dropped.model.weights_, LinearFusion().fit(SCORES[60:, :2], TRUTH[60:]).weights_)
    done = train_files(files, folder / "key.csv", SubsetFusion(missing="subset"))
    scores = SCORES[:, :2].copy()
    scores[:60, 1] = np.nan
    expected = SubsetFusion(missing="subset").fit(scores, TRUTH)
    assert set(done.model.fusions_) == {(0, 1), (0,)}
    assert done.model.objective_ == pytest.approx(expected.objective_, rel=1e-9)
    assert done.dev.systems[-1].n_tar + done.dev.systems[-1].n_non == 400
    assert done.dev.systems[-2].n_tar + done.dev.systems[-2].n_non == 340
    assert "note  60 trials without a score of part" in done.message_lines
    assert (
        "a: for 60 trials with exactly these scores, trained on 400 trials with at least these scores; converged"
        in "\n".join(done.summary)
    )
    assert [row.name for row in done.model.parameter_rows()][:3] == [
        "a + part: a",
        "a + part: part",
        "a + part: offset",
    ]


def test_trials_without_any_score_are_left_out_and_counted(folder, tmp_path):
    (tmp_path / "x.txt").write_text(rows(0, range(10, N)))
    (tmp_path / "y.txt").write_text(rows(1, range(5, N)))
    done = train_files([tmp_path / "x.txt", tmp_path / "y.txt"], folder / "key.csv", SubsetFusion(missing="subset"))
    assert "warn  5 trials without any score left out" in done.message_lines
    assert sum(done.model.training_.counts.values()) == 395


def test_other_trials_are_evaluated_with_their_own_key(folder, tmp_path):
    half = np.arange(N) < N // 2
    lines = (folder / "key.csv").read_text().splitlines()
    for name, chosen in (("dev", half), ("eval", ~half)):
        kept = [line for line, keep in zip(lines[1:], chosen, strict=True) if keep]
        (tmp_path / f"{name}.csv").write_text("\n".join([lines[0], *kept]))
    for name in "ab":
        (tmp_path / f"new_{name}.txt").write_bytes((folder / f"{name}.txt").read_bytes())
    model = LinearFusion().fit(SCORES[half, :2], TRUTH[half])
    expected = cllr(model.transform(SCORES[~half, :2]), TRUTH[~half])
    for others in ([tmp_path / "new_a.txt", tmp_path / "new_b.txt"], [folder / "b.txt", folder / "a.txt"]):
        done = train_files(
            paths(folder, "ab"), tmp_path / "dev.csv", test_scores=others, test_key=tmp_path / "eval.csv"
        )
        assert done.test.systems[-1].cllr == pytest.approx(expected, rel=1e-9)
        assert [row.name for row in done.test.systems] == [row.name for row in done.dev.systems]
        assert "other  trials of test_scores:" in done.message_lines
        assert not any("are optimistic" in line for line in done.summary)


def test_systems_that_do_not_help_are_left_out(folder):
    done = train_files(paths(folder, "cba"), folder / "key.csv", select=True, cross_validate="speaker")
    expected = select_systems(SCORES[:, ::-1], TRUTH, names=["c", "b", "a"], groups=SPEAKERS)
    assert done.selection.names == expected.names == ("a", "b")
    assert done.chosen == (1, 2)
    assert done.model.training_.systems == ("b", "a")
    assert done.files(["x", "y", "z"]) == ["y", "z"]
    assert done.files(["one file of all"]) == ["one file of all"]


def test_a_duplicate_system_shares_the_weight(folder, tmp_path):
    (tmp_path / "copy.txt").write_bytes((folder / "a.txt").read_bytes())
    done = train_files([folder / "a.txt", folder / "b.txt", tmp_path / "copy.txt"], folder / "key.csv")
    alone = LinearFusion().fit(SCORES[:, :2], TRUTH)
    assert done.model.weights_[0] == pytest.approx(done.model.weights_[2], rel=1e-6)
    assert done.model.weights_[0] + done.model.weights_[2] == pytest.approx(alone.weights_[0], rel=1e-6)
    assert done.analysis.divergence[0, 2] == 0.0


def test_the_record_for_machines(folder):
    done = train_files(paths(folder, "ab"), folder / "key.csv", select=True)
    told = json.loads(json.dumps(done.to_dict(), allow_nan=False))
    assert told["model"]["kind"] == "linear-fusion"
    assert told["join"]["matched"] == 400
    assert [row["name"] for row in told["dev"]] == ["a", "b", "fusion"]
    assert told["eval"] is None
    assert told["analysis"]["best_single"] == "a"
    assert told["analysis"]["objective_gain"] > 0
    assert {step["name"] for step in told["selection"]["steps"]} == {"a", "b"}


def test_a_symmetric_matrix_is_told_once():
    n_measures = {
        "enroll_quality": np.random.default_rng(7).random((N, 2)),
        "test_quality": np.random.default_rng(9).random((N, 2)),
    }
    fusion = QualityFusion().fit(SCORES, TRUTH, **n_measures)
    told = {row.name: row.value for row in fusion.parameter_rows()}
    matrix = fusion.quality_weights_
    assert told["q1 of enroll * q2 of test, and the reverse"] == matrix[0, 1]
    assert told["q2 of enroll * q2 of test"] == matrix[1, 1]
    assert told["q1 of either side"] == matrix[0, 2]
    assert len(told) == 3 + 1 + 5 + 4
    standardized = {row.name: row.standardized for row in fusion.parameter_rows()}
    units = fusion.standardized_quality_weights_
    assert standardized["q1 of enroll * q2 of test, and the reverse"] == units[0, 1] == units[1, 0] != 0
    assert standardized["q1 of either side"] == units[0, 2] != 0
    assert [name for name, value in standardized.items() if value is None] == ["offset", "without quality: offset"]
    different = QualityFusion(symmetric=False).fit(SCORES, TRUTH, trial_quality=QUALITY[:, None], **n_measures)
    told = {row.name: row.value for row in different.parameter_rows()}
    assert told["q2 of enroll * q1 of test"] == different.quality_weights_[1, 0]
    assert told["q1 of enroll"] == different.quality_weights_[0, 2]
    assert told["q1 of the trial"] == different.trial_quality_weights_[0]
    of_trial = [row.standardized for row in different.parameter_rows() if row.name == "q1 of the trial"]
    assert of_trial == different.standardized_trial_quality_weights_.tolist()
    assert len(told) == 3 + 1 + 8 + 1 + 4


def test_measures_that_differ_by_side_are_called_so():
    measures = {
        "enroll_quality": np.random.default_rng(7).random((N, 3)),
        "test_quality": np.random.default_rng(9).random((N, 3)),
    }
    combine = {"enroll": [[1, 0, 0], [0, 2, 0]], "test": [[0, 0, 1], [1, 1, 0]]}
    told = [row.name for row in QualityFusion(combine=combine).fit(SCORES, TRUTH, **measures).parameter_rows()]
    assert told[4:9] == [
        "q1 of enroll * q3 of test",
        "q1 of enroll * combined 1 of test, and the reverse",
        "q1 of enroll, or q3 of test",
        "combined 1 of enroll * combined 1 of test",
        "combined 1 of either side",
    ]


def test_what_is_refused(folder, tmp_path):
    with pytest.raises(InputError, match="given twice"):
        train_files([folder / "a.txt", folder / "a.txt"], folder / "key.csv")
    lines = (folder / "key.csv").read_text().splitlines()
    (tmp_path / "tar.csv").write_text("\n".join(line for line in lines if ",nontarget," not in line))
    with pytest.raises(KeyMismatchError, match="no non-target trial among 100"):
        train_files(paths(folder, "ab"), tmp_path / "tar.csv")
    assert read_key(tmp_path / "tar.csv").n_tar == 100


def test_systems_that_share_no_trial_of_both_classes(folder, tmp_path):
    first, second = np.flatnonzero(np.arange(N) % 2 == 0), np.flatnonzero((np.arange(N) % 2 == 1) | (np.arange(N) == 0))
    assert not TRUTH[second[1:]].any()
    second = np.append(second, np.arange(4, 200, 4))  # trials of both systems are targets only
    (tmp_path / "x.txt").write_text(rows(0, first))
    (tmp_path / "y.txt").write_text(rows(1, second))
    fusion = SubsetFusion(missing="subset")
    with pytest.raises(
        InputError, match=r"Fusion of x \+ y, trained on the 50 of 400 trials.*Or leave out one of these systems"
    ):
        train_files([tmp_path / "x.txt", tmp_path / "y.txt"], folder / "key.csv", fusion)
    apart = [i for i in range(N) if i % 4 in (0, 1) and i >= 200]
    (tmp_path / "x.txt").write_text(rows(0, range(200)))
    (tmp_path / "y.txt").write_text(rows(1, apart))
    done = train_files([tmp_path / "x.txt", tmp_path / "y.txt"], folder / "key.csv", fusion)
    assert done.analysis is None
    assert [row.name for row in done.dev.systems] == ["fusion of available scores"]
    assert set(done.model.fusions_) == {(0,), (1,)}
    assert done.to_dict()["analysis"] is None
    assert any("left out" in fact for fact in done.message_lines)


def test_other_trials_of_one_class_that_all_systems_scored(folder, tmp_path):
    (tmp_path / "b.txt").write_text(rows(1, np.flatnonzero(~TRUTH)))
    (tmp_path / "a.txt").write_bytes((folder / "a.txt").read_bytes())
    fusion = SubsetFusion(missing="subset", max_missing=1)
    others = [tmp_path / "a.txt", tmp_path / "b.txt"]
    done = train_files(paths(folder, "ab"), folder / "key.csv", fusion, test_scores=others, test_key=folder / "key.csv")
    assert [row.name for row in done.rows if row.eval is not None] == ["fusion of available scores"]
    scores = SCORES[:, :2].copy()
    scores[TRUTH, 1] = np.nan
    assert done.test.systems[0].cllr == pytest.approx(cllr(done.model.transform(scores)), rel=1e-9)
