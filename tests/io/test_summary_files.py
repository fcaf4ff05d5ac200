"""Files of summaries: they come back as they were, and nothing that was damaged is read."""

import json
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest
from deciban.core.ranks.kept_scores import KeptScores
from deciban.core.ranks.score_cells import ScoreCells, of_both

from deciban.core.rules.expected import MeanCost
from deciban.errors import FormatError
from deciban.evaluation.requested import posterior_costs_of
from deciban.evaluation.summary import TwoClassFigures
from deciban.io.summary_files import is_summary_file, read_summary, write_summary
from deciban.io.summary_parts import Further, SummaryPart
from deciban.io.summary_records import Question, ShardRecord, Sums
from deciban.metrics.scores import ScoredTrials
from deciban.rules import ThresholdWeights
from support.summaries import further_of, part_of

FIGURES = TwoClassFigures(
    [0.1, (0.5, 10, 1)],
    at_thresholds={"there": 0.1},
    posteriors_at=[0.1, 0.3],
    axis="log10",
    rule=ThresholdWeights([0.5]),
)


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("is_refined", [False, True])
def test_files_come_back_bit_by_bit(tmp_path, kind, is_refined):
    part = part_of([1.5, 2.5, np.inf, 0.1], [-0.0, 0.1, -3.25], "a", kind=kind, figures=FIGURES)
    if is_refined:
        part = further_of(part, "a", [0.0, 0.1], [0.1, 1.5, 2.5, np.inf], kind)
    write_summary(part, tmp_path / "one")
    assert is_summary_file(tmp_path / "one")
    found = read_summary(tmp_path / "one")
    assert (found.question, found.shards, found.is_refined) == (part.question, part.shards, part.is_refined)
    assert found.sha256 == part.sha256
    for name in ("starts", "counts", "low", "high", "mantissas"):
        assert getattr(found.cells[0], name).tobytes() == getattr(part.cells[0], name).tobytes()
    for one, other in zip(*map(arrays_of, (found, part)), strict=True):
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()
    write_summary(found, tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def arrays_of(part):
    if part.further is None:
        return []
    return [*part.further.again, *(one for kept in part.further.kept for one in kept.arrays)]


def test_weights_and_finer_cells_come_back(tmp_path):
    part = part_of([1.5, 2.5, 1.5], [0.5, 1.5], "a", weights=[1.0, 0.1, 3e9, 2.0, 1e-7])
    finer = ScoreCells.empty(9, part.cells[0].cuts)
    own = finer.of_class(np.array([1.5, 2.5]), weights=np.array([0.1, 2.0**40]))
    finer = of_both(finer.of_class(np.zeros(0)), own)
    again = np.arange(part.cells[0].n_cells) == 1
    kept = KeptScores((np.array([1.5]), np.array([1.5, 1.5])), (np.array([2.0]), np.array([1.0, 3e9])))
    for further in (Further(5, (again,), ("b",), (), (finer,)), Further(5, (again,), ("b",), (kept,))):
        one = replace(part, n_passes=3, further=further)
        write_summary(one, tmp_path / "one")
        found = read_summary(tmp_path / "one")
        assert found.sha256 == one.sha256
        assert (found.n_passes, found.unseen, found.further.most) == (3, ("a.parquet",), 5)
        assert np.array_equal(found.cells[0].masses, part.cells[0].masses)


def test_a_part_without_a_class_or_without_trials_comes_back(tmp_path):
    for tar, non in (([1.0], []), ([], [])):
        part = part_of(tar, non, "a")
        write_summary(part, tmp_path / "one")
        assert read_summary(tmp_path / "one").sha256 == part.sha256


@pytest.mark.parametrize("n_kept", [4, 300, -1])
def test_an_incomplete_summary_is_refused_without_words_of_a_library(tmp_path, n_kept):
    write_summary(part_of([1.0], [0.5], "a"), tmp_path / "one")
    (tmp_path / "cut").write_bytes((tmp_path / "one").read_bytes()[:n_kept])
    with pytest.raises(FormatError, match=r"cut: is incomplete or damaged\. Summarize its shards again\.$"):
        read_summary(tmp_path / "cut")


@pytest.mark.parametrize("content", [b"", b"m a 1\n"])
def test_a_text_is_no_summary(tmp_path, content):
    (tmp_path / "text").write_bytes(content)
    with pytest.raises(FormatError, match=r"text: is no summary of shards\. deciban summarize writes some\.$"):
        read_summary(tmp_path / "text")


def test_what_is_no_summary_is_said_to_be_none(tmp_path):
    path = tmp_path / "trials.parquet"
    table = read_back(tmp_path).remove_column(0)
    pq.write_table(table.replace_schema_metadata(None), path)
    assert not is_summary_file(path)
    with pytest.raises(FormatError, match=r"trials.parquet: is no summary of shards"):
        read_summary(path)
    path.write_text("1 2\n")
    assert not is_summary_file(path)
    with pytest.raises(FormatError):
        read_summary(path)
    assert not is_summary_file(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError):
        read_summary(tmp_path / "nowhere")


def read_back(folder):
    write_summary(part_of([1.0, 2.0], [0.0, 1.5], "a"), folder / "whole")
    return pq.read_table(folder / "whole")


@pytest.mark.parametrize("column", ["start", "n_tar", "non_low", "tar_high", "non_upper", "system"])
def test_a_number_that_was_changed_is_seen(tmp_path, column):
    table = read_back(tmp_path)
    values = table.column(column).to_numpy().copy()
    values[-1] = 7
    at = table.column_names.index(column)
    changed = table.set_column(at, column, [values])
    pq.write_table(changed.replace_schema_metadata(table.schema.metadata), tmp_path / "changed")
    with pytest.raises(FormatError, match="changed: is damaged"):
        read_summary(tmp_path / "changed")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda about: about.update(version=2), "of version 2, and this package reads version 1"),
        (lambda about: about["shards"][0].update(n_rows=5), "is damaged"),
        (lambda about: about["question"].update(systems=["other"]), "is damaged"),
        (lambda about: about["shards"][0]["sums"][0].update(costs="x"), "is damaged"),
        (lambda about: about.pop("cells"), "is damaged"),
        (lambda about: about.update(passes=2), "is damaged"),
        (lambda about: about.update(further={"most": 1, "seen": ["a"]}), "is damaged"),
    ],
)
def test_metadata_that_were_changed_are_seen(tmp_path, change, message):
    table = read_back(tmp_path)
    about = json.loads(table.schema.metadata[b"deciban-summary"])
    change(about)
    pq.write_table(table.replace_schema_metadata({b"deciban-summary": json.dumps(about)}), tmp_path / "changed")
    with pytest.raises(FormatError, match=message):
        read_summary(tmp_path / "changed")


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_file_that_was_cut_off_is_refused(tmp_path, share):
    read_back(tmp_path)
    data = (tmp_path / "whole").read_bytes()
    (tmp_path / "cut").write_bytes(data[: int(share * len(data))])
    with pytest.raises(FormatError, match="cut"):
        read_summary(tmp_path / "cut")


def test_records_become_json_and_come_back():
    trials = ScoredTrials((np.array([1.0, np.inf]), None), (np.array([0.1]), None))
    sums = Sums(
        (3, 2),
        (MeanCost(0.1, 1e-20, 3.0), MeanCost(np.inf, 0.0, 2.0)),
        posterior_costs_of(trials, FIGURES),
        (-0.1, 5e-324),
    )
    shard = ShardRecord("n", 5, 7, "ab", (sums,))
    assert ShardRecord.from_dict(json.loads(json.dumps(shard.to_dict()))) == shard
    question = Question(FIGURES, ("s",), "float32", 9, (("log10", "True"),))
    assert Question.from_dict(json.loads(json.dumps(question.to_dict()))) == question
    assert isinstance(part_of([], [], "a"), SummaryPart)
    assert isinstance(part_of([], [], "a").cells[0], ScoreCells)
