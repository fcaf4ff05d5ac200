"""Arrays of jobs: summarize, merge, refine, evaluate, from Python and as commands."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deciban
from deciban.errors import FormatError, InputError, KeyMismatchError

N = 3000


@pytest.fixture
def shards(tmp_path, monkeypatch):
    """Four shards of two systems in the folder of the test; the second one has no target."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    names = []
    for k in range(4):
        label = (rng.random(N) < 0.4) & (k != 1)
        one, other = (rng.normal(size=N) * 1.5 + 2.0 * label for _ in range(2))
        table = {"score_good": one.astype(np.float32), "score_bad": other.round(1).astype(np.float32), "label": label}
        names.append(f"{k}.parquet")
        pq.write_table(pa.table(table), names[-1], row_group_size=1000)
    return names


@pytest.fixture
def few_cells(monkeypatch):
    monkeypatch.setattr("deciban.engines.summary_parts.ROOM", 200)


def counted(shards, **options):
    return [summarized(name, f"{name}.summary", **options) for name in shards]


def summarized(name, output, **options):
    deciban.summarize_files(name, output, **options)
    return output


@pytest.mark.usefixtures("few_cells")
def test_two_passes_give_what_all_trials_give(shards):
    deciban.merge_summaries(counted(shards, operating_points=[0.1]), "all")
    bounded = deciban.evaluate_files("all").systems
    deciban.merge_summaries([summarized(name, f"{name}.refined", refine="all") for name in shards], "exact")
    refined = deciban.evaluate_files("exact")
    assert refined.messages[0].text == "summary of 4 shards, 12,000 rows, after two passes"
    tables = [pq.read_table(name) for name in shards]
    label = np.concatenate([one["label"].to_numpy() for one in tables])
    for name, low_high, found in zip(("good", "bad"), bounded, refined.systems, strict=True):
        scores = np.concatenate([one[f"score_{name}"].to_numpy() for one in tables])
        exact = deciban.evaluate(scores[label], scores[~label], operating_points=[0.1], name=name)
        for figure in ("eer", "min_cllr", "prbep", "dr30", "eer_threshold", "n_tar", "mean_min_dcf", "misleading"):
            assert getattr(found, figure) == getattr(exact, figure), figure
        assert found.name.endswith(name)
        assert found.operating_points == exact.operating_points
        assert found.cllr == pytest.approx(exact.cllr, rel=1e-14)
        assert np.array_equal(found.curves.hull_p_fa, exact.curves.hull_p_fa)
        if name == "good":  # the other one has few distinct scores
            assert {"min_cllr", "auc"} <= set(low_high.bounds)
        for figure in ("eer", "min_cllr", "auc", "n_tied"):
            low, high = low_high.bounds.get(figure, (-np.inf, np.inf))
            assert low <= getattr(exact, figure) <= high


def test_few_trials_are_exact_after_one_pass(shards):
    counted(shards)
    found = deciban.evaluate_files("*.summary").systems
    assert [one.bounds for one in found] == [{}, {}]
    assert found[0].n_tied == deciban.evaluate_files("*.parquet").systems[0].n_tied
    deciban.summarize_files(shards, "together")
    deciban.merge_summaries(["0.parquet.summary", "3.parquet.summary"], "x")
    deciban.merge_summaries(["2.parquet.summary", "x", "1.parquet.summary"], "y")
    assert Path("together").read_bytes() == Path("y").read_bytes()


@pytest.mark.usefixtures("few_cells")
def test_shards_that_are_missing_doubled_or_changed_are_named(shards):
    deciban.merge_summaries(counted(shards), "all")
    some = [summarized(name, f"{name}.refined", refine="all") for name in shards[:3]]
    with pytest.raises(InputError, match="1 of 4 shards are missing: the second pass has not seen 3.parquet"):
        deciban.evaluate_files(some)
    assert deciban.merge_summaries(some, "x")[1].text == "1 of 4 shards are missing in the second pass: 3.parquet"
    with pytest.raises(InputError, match=r"would count twice: 0.parquet \(x, 0.parquet.refined\)"):
        deciban.merge_summaries(["x", some[0]], "y")
    with pytest.raises(InputError, match="would count twice"):
        deciban.summarize_files([shards[0], shards[0]], "y")
    with pytest.raises(InputError, match="refine: x was refined already"):
        deciban.summarize_files(shards[3], "y", refine="x")
    table = pq.read_table(shards[3])
    pq.write_table(table.slice(1), shards[3])
    with pytest.raises(InputError, match=r"3.parquet: has changed since it was counted"):
        deciban.summarize_files(shards[3], "y", refine="all")
    pq.write_table(table.slice(2), "new.parquet")
    with pytest.raises(InputError, match=r"new.parquet: was not counted"):
        deciban.summarize_files("new.parquet", "y", refine="all")


def test_other_questions_are_refused(shards):
    summarized(shards[0], "a", operating_points=[0.1])
    summarized(shards[1], "b")
    with pytest.raises(InputError, match="b: answers another question than a: operating_points"):
        deciban.merge_summaries(["a", "b"], "c")
    with pytest.raises(InputError, match="was made for another question: operating_points"):
        deciban.evaluate_files("a", operating_points=[0.3])
    assert deciban.evaluate_files("a", operating_points=[0.1]).systems[0].name.endswith("good")
    with pytest.raises(InputError, match="a: was made for another question: operating_points"):
        deciban.summarize_files(shards[0], "c", refine="a", operating_points=[0.3])
    assert not Path("c").exists()


@pytest.mark.parametrize(
    "said",
    [
        {"units": "trials"},
        {"bootstrap": 200},
        {"where": {"gender": "f"}},
        {"labels": {"target": "f"}},
        {"log10": True},
        {"names": ["x", "y"]},
        {"weights": "w"},
        {"by_order": True},
        {"speakers": "utt2spk"},
    ],
)
def test_what_only_trials_can_tell_is_refused(shards, said):
    summarized(shards[0], "a")
    with pytest.raises(
        InputError, match=f"{next(iter(said))}: (a summary of shards does not|says how trials are read)"
    ):
        deciban.evaluate_files("a", **said)


def test_trials_of_one_class_are_not_evaluated(shards):
    summarized(shards[1], "a")
    for said in ({}, {"approximate": True}, {"scores": "a"}):
        scores = said.pop("scores", shards[1])
        with pytest.raises(KeyMismatchError, match=f"^{scores}: no target trial among 3,000"):
            deciban.evaluate_files(scores, **said)


def test_a_summary_is_no_table_of_trials(shards):
    summarized(shards[0], "a")
    for call in (
        lambda: deciban.evaluate_files("a", shards[0]),
        lambda: deciban.evaluate_files(["a", shards[0]]),
        lambda: deciban.evaluate_files(["a", shards[0]], approximate=True),
        lambda: deciban.summarize_files("a", "b"),
        lambda: deciban.calibrate_files("a"),
    ):
        with pytest.raises(FormatError, match="^a: is a summary of shards, and holds no trials"):
            call()
    with pytest.raises(InputError, match="threshold_from: needs trials, and a is a summary of shards"):
        deciban.evaluate_files("a", threshold_from=shards[0])


@pytest.mark.usefixtures("few_cells")
def test_figures_without_bounds_need_the_second_pass(shards):
    summarized(shards[0], "a", fnmr_at=[0.1])
    with pytest.raises(InputError, match="no bounds of what fnmr_at asks for"):
        deciban.evaluate_files("a")
    found = deciban.evaluate_files(summarized(shards[0], "b", refine="a")).systems[0]
    expected = deciban.evaluate_files(shards[0], fnmr_at=[0.1]).systems[0]
    assert found.requested.rates_at == expected.requested.rates_at


def test_what_is_no_shard_is_refused(shards):
    pq.write_table(pa.table({"label": [True], "score": ["x"]}), "bad.parquet")
    with pytest.raises(FormatError):
        deciban.summarize_files("bad.parquet", "a")
    with pytest.raises(InputError, match="shards: none given"):
        deciban.summarize_files([], "a")
    with pytest.raises(FormatError, match="is no summary of shards"):
        deciban.merge_summaries(shards[:1], "a")
