"""Models on trials in batches, and thresholds of others: the same results as in memory."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deciban import evaluate_files
from deciban.calibration import AffineCalibrator, MulticlassScaleCalibrator
from deciban.errors import InputError
from deciban.fusion import LinearFusion
from deciban.report import report_files
from deciban.workflows.reading import inputs as opening
from support.score_files import said

N = 3000


@pytest.fixture
def in_batches():
    """Call a function as if nothing fitted in memory."""

    def call(function, *given, **options):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(opening, "memory_of", lambda *_paths: 10**18)
            return function(*given, **options)

    return call


def trials(seed, systems=("score",)):
    rng = np.random.default_rng(seed)
    truth = rng.random(N) < 0.2
    scores = {name: np.round(rng.normal(size=N) + 2.0 * truth, 2) for name in systems}
    return pa.table(scores | {"label": truth}), np.stack(list(scores.values()), axis=1), truth


def folder_of(path, table):
    path.mkdir()
    for k in range(3):
        pq.write_table(table.slice(k * N // 3, N // 3), path / f"part-{k}.parquet", row_group_size=300)
    return path


def same(found, whole):
    """Whether all metrics are those of memory: to the bit, and sums of costs to 1e-14."""
    for one, other in zip(found, whole, strict=True):
        assert one.name == other.name
        for name in ("n_tar", "n_non", "eer", "eer_threshold", "min_cllr", "operating_points", "auc"):
            assert getattr(one, name) == getattr(other, name), name
        assert one.cllr == pytest.approx(other.cllr, rel=1e-14)
    return True


def test_a_calibration_before_and_after(tmp_path, in_batches):
    table, scores, truth = trials(1)
    folder = folder_of(tmp_path / "in", table)
    model = AffineCalibrator().fit(scores[:500, 0], truth[:500])
    whole = evaluate_files(folder, model=model, intervals=False)
    found = in_batches(evaluate_files, folder, model=model, intervals=False)
    assert same(found.systems, whole.systems)
    assert same(found.before.systems, whole.before.systems)
    assert any("llrs computed by the model (affine) from its scores" in one for one in said(found.messages))


def test_a_fusion_takes_its_systems_in_the_order_of_training(tmp_path, in_batches):
    table, scores, truth = trials(2, ("b_score", "c_score", "a_score"))
    folder = folder_of(tmp_path / "in", table)
    names = ["a_score", "b_score"]
    fusion = LinearFusion().fit(scores[:, [2, 0]], truth)
    fusion.training_ = replace(fusion.training_, systems=tuple(names))
    whole = evaluate_files(folder, model=fusion, intervals=False)
    found = in_batches(evaluate_files, folder, model=fusion, intervals=False)
    assert same(found.systems, whole.systems)
    assert [one.name for one in found.before.systems] == names
    assert same(found.before.systems, whole.before.systems)
    for words in (
        "not part of the fusion: c_score",
        "the model was trained on these same trials, so its metrics are optimistic",
    ):
        assert any(words in one for one in said(whole.messages)), words
        assert any(words in one for one in said(found.messages)), words


def test_what_does_not_fit_the_model_is_refused(tmp_path, in_batches):
    table, scores, truth = trials(3, ("a_score", "b_score"))
    folder = folder_of(tmp_path / "in", table)
    model = AffineCalibrator().fit(scores[:, 0], truth)
    with pytest.raises(InputError, match=r"2 systems \(a_score, b_score\), but a model of kind 'affine' is for one"):
        in_batches(evaluate_files, folder, model=model)
    three = LinearFusion().fit(np.column_stack([scores, scores[:, 0] ** 2]), truth)
    with pytest.raises(InputError, match=r"trained on 3"):
        in_batches(evaluate_files, folder, model=three)
    loglik, label = np.random.default_rng(1).normal(size=(90, 3)), np.arange(90) % 3
    many = MulticlassScaleCalibrator().fit(loglik + np.eye(3)[label], label)
    with pytest.raises(InputError, match=r"is for multiclass scores"):
        in_batches(evaluate_files, folder, model=many)
    with pytest.raises(InputError, match=r"quality"):
        in_batches(evaluate_files, folder, model=three, quality=tmp_path / "none.txt")


@pytest.mark.parametrize("other_in_batches", [False, True])
def test_thresholds_of_other_trials(tmp_path, in_batches, other_in_batches):
    folder, other = (folder_of(tmp_path / name, trials(seed)[0]) for name, seed in (("in", 4), ("dev", 5)))
    how = {"threshold_from": other, "operating_points": [0.1], "intervals": False}
    whole = evaluate_files(folder, **how)
    if other_in_batches:
        found = in_batches(evaluate_files, folder, **how)
    else:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(opening, "memory_of", lambda paths, _key=None: 10**18 * (str(paths[0]) == str(folder)))
            found = evaluate_files(folder, **how)
    assert found.systems[0].requested.at_thresholds == whole.systems[0].requested.at_thresholds
    assert any("thresholds are chosen on the trials" in one for one in said(found.messages))
    two = folder_of(tmp_path / "two", trials(6, ("a_score", "b_score"))[0])
    with pytest.raises(InputError, match=r"threshold_from: got 2 systems"):
        in_batches(evaluate_files, folder, threshold_from=two, intervals=False)


def test_a_page_of_a_model(tmp_path, in_batches):
    table, scores, truth = trials(7)
    folder = folder_of(tmp_path / "in", table)
    model = AffineCalibrator().fit(scores[:500, 0], truth[:500])
    report_files(folder, output=tmp_path / "whole.html", model=model, intervals=False, worst=0)
    in_batches(report_files, folder, output=tmp_path / "partitions.html", model=model, intervals=False)
    whole, found = ((tmp_path / f"{name}.html").read_text() for name in ("whole", "partitions"))
    assert found.count("data:image") == whole.count("data:image") > 0
    assert found.count("<td") == whole.count("<td") > 0
