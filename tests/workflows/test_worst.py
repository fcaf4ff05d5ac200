"""The most misleading trials by the names of their files, of both kinds, before and after a model."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deciban import InputError, evaluate, evaluate_files, report_files, train_files
from deciban.engines import Threads
from deciban.trials.sources import Batch, LoadedPartition, TrialSource
from deciban.workflows.evaluate import worst_of
from deciban.workflows.reading import inputs as opening
from support.both_kinds import MADE


@pytest.fixture(params=list(MADE))
def both(request, tmp_path):
    """Files of two classes, then of many."""
    return MADE[request.param](tmp_path)


def evidence(values, truth):
    """Of each trial for its own class, by plain arithmetic."""
    if values.ndim == 1:
        return np.where(truth, values, -values)
    own = values[np.arange(len(truth)), truth]
    others = np.exp(values).sum(axis=1) - np.exp(own)
    return own - np.log(others / (values.shape[1] - 1))


def test_they_are_found_by_name_in_each_system(both):
    results = evaluate_files(both.paths, both.key, worst=4)
    for worst, values, system in zip(results.worst, both.values, results.systems, strict=True):
        assert worst.system == system.name
        own = evidence(values, both.truth)
        least = {f"seg{k:03d}": own[k] for k in np.argsort(own)}
        groups = [both.truth, ~both.truth] if values.ndim == 1 else [np.ones(len(own), bool)]
        expected = [name for rows in groups for name in [one for one in least if rows[int(one[3:])]][:4]]
        assert [one.names[0] for one in worst.trials] == expected
        assert [one.llr for one in worst.trials] == pytest.approx([least[name] for name in expected])


def test_nothing_is_found_unasked(both):
    assert evaluate_files(both.paths, both.key).worst == ()
    assert "worst_trials" not in evaluate_files(both.paths, both.key).to_dict()["systems"][0]


def test_what_a_model_makes_has_worst_trials_too(both):
    model = train_files(both.paths[0], both.key, both.calibrator()).model
    results = evaluate_files(both.paths[0], both.key, model=model, worst=3)
    (before,), (after,) = results.before.worst, results.worst
    assert (before.system, after.system) == (results.before.systems[0].name, results.systems[0].name)
    values = model.transform(both.values[0])
    assert after.trials[0].llr == pytest.approx(evidence(values, both.truth)[int(after.trials[0].names[0][3:])])


def test_pages_list_them_unless_they_are_not_wanted(both):
    page = both.folder / "page.html"
    shown = report_files(both.paths, both.key, page)
    assert len(shown.worst) == 2
    first = shown.worst[0].trials[0].names[0]
    text = page.read_text("utf-8")
    assert f">{first}</td>" in text[text.index('id="worst-trials"') :]
    report_files(both.paths, both.key, page, worst=0)
    assert 'id="worst-trials"' not in page.read_text("utf-8")


@pytest.mark.parametrize("number", [-1, 2.0, "3", True])
def test_what_is_no_number_of_trials(both, number):
    with pytest.raises(InputError, match="worst: got"):
        evaluate_files(both.paths, both.key, worst=number)


def test_trials_that_do_not_fit_have_the_same_ones(both, monkeypatch):
    whole = evaluate_files(both.paths, both.key, worst=5).worst
    monkeypatch.setattr(opening, "memory_of", lambda *_: 1 << 60)
    assert evaluate_files(both.paths, both.key, worst=5).worst == whole


def test_ties_between_partitions_are_ordered_by_name(tmp_path):
    rng, n = np.random.default_rng(4), 600
    scores, label = np.round(rng.normal(size=n)), rng.random(n) < 0.4
    names = [f"e{k % 7}" for k in range(n)], [f"t{k}" for k in rng.permutation(n)]
    table = pa.table({"enroll": names[0], "test": names[1], "score": scores, "label": label})
    pq.write_table(table, tmp_path / "trials.parquet", row_group_size=50)
    whole = evaluate_files(tmp_path / "trials.parquet", worst=20).worst
    assert evaluate_files(tmp_path / "trials.parquet", worst=20, memory="100MB", dask="local:1").worst == whole


def test_trials_without_names_are_refused_where_they_do_not_fit():
    held = TrialSource("folder", (), ("A",))
    with pytest.raises(InputError, match="worst: folder has no names of trials"):
        worst_of(held, Threads(1), 0, 3)


def test_arrays_have_no_names():
    with pytest.raises(TypeError, match="worst"):
        evaluate([1.0], [0.0], worst=1)


def test_trials_without_score_or_weight_are_left_out(both):
    from deciban import read_scores

    trials = read_scores(both.paths[0]).trials if both.name == "two-class" else None
    if trials is None:
        return
    scores = both.values[0].copy()
    scores[:2] = np.nan
    weight = np.ones(len(scores))
    weight[2] = 0.0
    held = LoadedPartition(Batch((scores,), both.truth, weight=weight, trials=trials), "A")
    found = worst_of(TrialSource("A", (held,), ("A",)), Threads(1), 0, len(scores))
    named = {one.names[0] for one in found.trials}
    assert len(named) == len(scores) - 3
    assert not named & {"seg000", "seg001", "seg002"}
