"""Fusions of systems of which some lack scores, trained on files that do not fit in memory: those of memory."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from deciban import evaluate_files, train_files
from deciban.errors import MissingScoresError
from deciban.fusion import LinearFusion, SubsetFusion
from deciban.workflows.reading import inputs as opening


@pytest.fixture
def files(tmp_path):
    """Scores of two systems of some trials each, in any order, and a key of all of them."""
    rng = np.random.default_rng(5)
    truth, names = rng.random(1200) < 0.3, [f"t{k}" for k in range(1200)]
    of_class = np.where(truth, 1.0, -1.0)
    there = rng.random((2, 1200)) < [[0.9], [0.8]]
    there[:, :20] = False
    for name, column, own in (("A", "score", there[0]), ("B", "score", there[1]), ("key", "label", truth < 2)):
        values = truth if column == "label" else of_class + rng.normal(size=1200)
        table = pa.table({"trial": names, column: values, "who": [f"w{k % 60}" for k in range(1200)]})
        pq.write_table(table.take(rng.permutation(np.flatnonzero(own))), tmp_path / name, row_group_size=160)
    return tmp_path / "A", tmp_path / "B", tmp_path / "key"


def test_fusions_of_what_there_is_are_those_of_memory(files, monkeypatch):
    *scores, key = files
    whole = train_files(scores, key, SubsetFusion(missing="subset"), units="who")
    monkeypatch.setattr(opening, "memory_of", lambda *_: 1 << 60)
    found = train_files(scores, key, SubsetFusion(missing="subset"), units="who")
    assert list(found.model.fusions_) == list(whole.model.fusions_) == [(0, 1), (0,), (1,)]
    for subset, one in whole.model.fusions_.items():
        own = found.model.fusions_[subset]
        np.testing.assert_allclose(own.weights_, one.weights_, rtol=1e-7)
        np.testing.assert_allclose(own.uncertainty_.covariance, one.uncertainty_.covariance, rtol=1e-5)
    assert found.model.training_.fingerprint == whole.model.training_.fingerprint
    assert found.model.training_.counts == whole.model.training_.counts
    names = [row.name for row in found.rows]
    assert names == ["A", "B", "fusion", "fusion of available scores"]
    by_name = {row.name: row.dev for row in whole.rows}
    for row in found.rows:
        assert row.dev.n_tar == by_name[row.name].n_tar
        assert row.dev.cllr == pytest.approx(by_name[row.name].cllr, rel=1e-7)
        own, other = (one.uncertainty.estimates["cllr"].standard_error for one in (row.dev, by_name[row.name]))
        assert own == pytest.approx(other, rel=1e-5)
    notes = [one.text for one in whole.messages if "without" in one.text]
    assert [one.text for one in found.messages if "without" in one.text] == notes
    assert len(notes) == 3


def test_where_no_score_is_missing_there_is_nothing_to_say_of_it(files, monkeypatch):
    monkeypatch.setattr(opening, "memory_of", lambda *_: 1 << 60)
    path, other, key = files
    for name in (other, key):
        names = pq.read_table(name).column("trial")
        kept = pc.is_in(pq.read_table(path).column("trial"), names)
        pq.write_table(pq.read_table(path).filter(kept), path, row_group_size=160)
    for name in (other, key):
        table = pq.read_table(name)
        kept = pc.is_in(table.column("trial"), pq.read_table(path).column("trial"))
        pq.write_table(table.filter(kept), name, row_group_size=160)
    found = train_files([path, other], key, SubsetFusion(missing="subset"), intervals=False)
    plain = train_files([path, other], key, LinearFusion(), intervals=False)
    np.testing.assert_array_equal(found.model.whole.weights_, plain.model.weights_)
    assert [row.name for row in found.rows] == ["A", "B", "fusion"]
    assert not any("without" in one.text for one in found.messages)


def test_other_trials_that_lack_scores_are_evaluated_as_in_memory(files, monkeypatch):
    *scores, key = files
    how = {"test_scores": scores, "test_key": key, "intervals": False}
    whole = train_files(scores, key, SubsetFusion(missing="subset"), **how)
    evaluated = evaluate_files(scores, key, model=whole.model, intervals=False)
    monkeypatch.setattr(opening, "memory_of", lambda *_: 1 << 60)
    found = train_files(scores, key, SubsetFusion(missing="subset"), **how)
    for row, other in zip(found.rows, whole.rows, strict=True):
        assert (row.name, row.role, row.eval.n_tar) == (other.name, other.role, other.eval.n_tar)
        assert row.eval.cllr == pytest.approx(other.eval.cllr, rel=1e-7)
    again = evaluate_files(scores, key, model=whole.model, intervals=False)
    for one, other in ((again, evaluated), (again.before, evaluated.before)):
        assert [own.n_tar for own in one.systems] == [own.n_tar for own in other.systems]
        assert [own.cllr for own in one.systems] == pytest.approx([own.cllr for own in other.systems], rel=1e-9)
    notes = [[one.text for one in found.messages if "by the fusion of" in one.text] for found in (evaluated, again)]
    assert notes[0] == notes[1]
    assert len(notes[0]) == 2


def test_what_cannot_be_done_with_them_is_refused(files, monkeypatch):
    monkeypatch.setattr(opening, "memory_of", lambda *_: 1 << 60)
    *scores, key = files
    with pytest.raises(MissingScoresError, match="have no score in"):
        train_files(scores, key, LinearFusion())


@pytest.mark.parametrize("asked", [{"cross_validate": 3}, {"select": True}])
def test_they_are_held_out_as_in_memory(files, monkeypatch, asked):
    *scores, key = files
    whole = train_files(scores, key, SubsetFusion(missing="subset"), intervals=False, **asked)
    monkeypatch.setattr(opening, "memory_of", lambda *_: 1 << 60)
    found = train_files(scores, key, SubsetFusion(missing="subset"), intervals=False, **asked)
    if "select" in asked:
        assert found.selection.names == whole.selection.names
        assert found.selection.n_trials == whole.selection.n_trials
        steps = [[one.cost for one in each.selection.steps] for each in (found, whole)]
        assert steps[0] == pytest.approx(steps[1], rel=1e-7)
    else:
        assert found.cross_validated.n_tar == whole.cross_validated.n_tar
        assert found.cross_validated.cllr == pytest.approx(whole.cross_validated.cllr, rel=1e-7)
