"""Arrays of jobs: whatever the shards and the order in which they merge, metrics are those of the trials themselves."""

import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deciban
from deciban.errors import FormatError, InputError, KeyMismatchError
from deciban.workflows.reading.summaries import SUMMARIZED

N = 800
DECIMALS = {"coarse": 1, "fine": 9}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def two_classes(seed=1, decimals=9, kind=np.float32):
    """Trials of two systems, with speakers that occur often on both sides, units and whole weights."""
    rng = np.random.default_rng(seed)
    label, speaker = rng.random(N) < 0.3, rng.integers(0, 30, (2, N))
    speaker[1] = np.where(label, speaker[0], speaker[1])
    score = [(rng.normal(size=N) * 1.5 + 2.0 * label).round(decimals).astype(kind) for _ in range(2)]
    named = {  # 7 * 431 > N: no trial is there twice
        "enroll": [f"e{k}-{at % 7}" for at, k in enumerate(speaker[0])],
        "test": [f"t{k}-{at % 431}" for at, k in enumerate(speaker[1])],
    }
    said = {"spk": [f"s{k}" for k in speaker[0]], "spk2": [f"s{k}" for k in speaker[1]]}
    weights = {"w": rng.integers(0, 4, N).astype(float), "share": rng.gamma(2.0, 1.0, N)}
    return pa.table({"score_good": score[0], "score_bad": score[1], "label": label, **named, **said, **weights})


def segments(seed=3):
    """Segments of four classes."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 4, N)
    score = rng.normal(size=(N, 4)).round(1) + 1.5 * np.eye(4)[label]
    columns = {name: score[:, at] for at, name in enumerate("abcd")}
    speakers = [f"s{k}" for k in rng.integers(0, 30, N)]
    return pa.table({**columns, "class": ["abcd"[at] for at in label], "spk": speakers})


def nameless(table, *also):
    return table.select(["score_good", "label", *also])


def in_shards(table, *, seed=0, **options):
    """Summaries of shards of different lengths, in any order."""
    rng = np.random.default_rng(seed)
    cuts = np.sort(rng.integers(1, len(table), 3))
    found = []
    for at, (begin, end) in enumerate(zip([0, *cuts], [*cuts, len(table)], strict=True)):
        pq.write_table(table.slice(begin, end - begin), f"{at}.parquet", row_group_size=200)
        deciban.summarize_files(f"{at}.parquet", f"{at}.summary", **options)
        found.append(f"{at}.summary")
    return [found[at] for at in rng.permutation(4)]


def numbers(results):
    """What JSON says, but for messages."""
    found = json.loads(results.to_json())
    return {name: value for name, value in found.items() if name not in ("messages", "inputs")}


IN_CELLS = "delivered", "capacity"
"""Metrics on the curve of cross-entropy, which is made of cells where trials are read in batches."""


def require_alike(found, expected, place="", *, fits=True):
    """All numbers agree to rounding, and nothing is there only once."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), place
        for name in expected:
            if name != "name" or not place.startswith("/systems"):
                require_alike(found[name], expected[name], f"{place}/{name}", fits=fits)
    elif isinstance(expected, list):
        assert len(found) == len(expected), place
        for at, (one, other) in enumerate(zip(found, expected, strict=True)):
            require_alike(one, other, f"{place}/{at}", fits=fits)
    elif isinstance(expected, float):
        rel = 1e-10 if fits or not any(one in place for one in IN_CELLS) else 1e-4
        assert found == pytest.approx(expected, rel=rel, abs=1e-12), place
    else:
        assert found == expected, place


ASKED = {"eer_conventions": True, "fnmr_at": [0.1], "posteriors_at": [0.1], "at_thresholds": {"x": 0.3}}
CASES = {
    "counts alone": (nameless, {}, {"intervals": False, **ASKED}),
    "several systems": (lambda one: one.drop_columns(["enroll", "test"]), {}, {"intervals": False}),
    "a unit for each trial": (lambda one: nameless(one, "spk"), {"units": "spk"}, ASKED),
    "units of both sides": (lambda one: one, {"units": "spk,spk2"}, {"bootstrap": 40}),
    "speakers that are found": (lambda one: one, {"keep_names": True}, {}),
    "weights": (lambda one: nameless(one, "w", "spk"), {"weights": "w", "units": "spk"}, ASKED),
    "fractional weights": (lambda one: nameless(one, "share"), {"weights": "share"}, {"intervals": False}),
    "common logarithms": (nameless, {"log10": True}, {"intervals": False}),
}


WAYS = [(1, False, True), (9, True, True), (1, True, False), (9, False, False)]
"""Digits, which make ties or none, whether each row is written once, and whether all fits in memory."""


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("case", "decimals", "once", "fits"),
    [(case, *WAYS[way]) for at, case in enumerate(CASES) for way in ((0, 3) if at % 2 else (1, 2))],
)
def test_figures_are_those_of_the_trials(case, decimals, once, fits, monkeypatch):
    chosen, how, asked = CASES[case]
    table = chosen(two_classes(decimals=decimals))
    pq.write_table(table, "whole.parquet")
    reading = {name: value for name, value in how.items() if name != "keep_names"}
    expected = numbers(deciban.evaluate_files("whole.parquet", **reading, **asked))
    shards = in_shards(table, seed=decimals, **how)
    deciban.merge_summaries(shards[:2], "some")
    deciban.merge_summaries([shards[2], "some", shards[3]], "all")
    monkeypatch.setattr("deciban.io.summary_files._WORTHWHILE", 0 if once else N)
    if not fits:
        monkeypatch.setattr("deciban.memory.Cost.HELD", 10**12)
    for summaries in (["some", *shards[2:]], "all"):
        require_alike(numbers(deciban.evaluate_files(summaries, **asked)), expected, fits=fits)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("how", "asked"),
    [
        ({}, {}),
        ({"units": "spk"}, {"p_target": [0.1, 0.5], "prior": [0.4, 0.3, 0.2, 0.1]}),
        ({"units": "spk"}, {"groups": [["a", "b"], ["c", "d"]]}),
    ],
)
def test_figures_of_many_classes_are_those_of_the_segments(how, asked):
    table = segments()
    pq.write_table(table, "whole.parquet")
    found = deciban.evaluate_files(in_shards(table, **how), **asked)
    require_alike(numbers(found), numbers(deciban.evaluate_files("whole.parquet", **how, **asked)))


@pytest.mark.usefixtures("here")
def test_trials_without_names_are_units_by_themselves():
    table = nameless(two_classes(decimals=1))
    pq.write_table(table, "whole.parquet")
    (found,), (exact,) = (deciban.evaluate_files(one).systems for one in (in_shards(table), "whole.parquet"))
    assert found.uncertainty.n_units == exact.uncertainty.n_units == N
    for metric in ("cllr", "auc", ("p_miss", 0), "mean_act_dcf"):  # no minima: trials are left out by row
        one, other = (own.uncertainty.interval(metric) for own in (found, exact))
        assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=1e-10), metric
    one, other = (own.uncertainty.interval("min_cllr") for own in (found, exact))
    assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=0.05)


@pytest.mark.usefixtures("here")
def test_merged_files_are_the_same_bytes_in_any_order():
    shards = in_shards(two_classes(decimals=2), keep_names=True)
    deciban.merge_summaries(shards, "all")
    deciban.merge_summaries([shards[3], shards[0]], "x")
    deciban.merge_summaries([shards[1], "x", shards[2]], "again")
    assert Path("all").read_bytes() == Path("again").read_bytes()
    deciban.summarize_files([f"{k}.parquet" for k in range(4)], "together", keep_names=True)
    assert Path("all").read_bytes() == Path("together").read_bytes()


@pytest.mark.usefixtures("here")
def test_equal_trials_take_one_row():
    shards = in_shards(nameless(two_classes(decimals=1)))
    deciban.merge_summaries(shards, "all")
    assert pq.read_metadata("all").num_rows < 200
    assert pq.read_table("all")["count"].to_numpy().sum() == N


@pytest.mark.usefixtures("here")
def test_minus_zero_is_zero():
    pq.write_table(pa.table({"score": [0.0, -0.0, 1.0], "label": [True, True, False]}), "a.parquet")
    deciban.summarize_files("a.parquet", "a")
    assert pq.read_table("a")["count"].to_pylist() == [2, 1]


@pytest.mark.usefixtures("here")
def test_models_train_on_summaries_as_on_trials():
    table = nameless(two_classes())
    pq.write_table(table, "whole.parquet")
    shards = in_shards(table)
    models = [
        deciban.train_files(one, None, intervals=False, memory="150MB").model for one in (shards, "whole.parquet")
    ]
    assert models[0].weights_ == pytest.approx(models[1].weights_, rel=1e-6)
    assert models[0].offset_ == pytest.approx(models[1].offset_, rel=1e-6)


@pytest.mark.usefixtures("here")
def test_speakers_say_who_is_a_target():
    names = [f"u{k}" for k in range(6)]
    for at, shard in enumerate((names[:3], names[3:])):
        table = {"enroll": [a for a in shard for _ in names], "test": names * 3, "score": np.arange(18.0) + at}
        pq.write_table(pa.table(table), f"{at}.parquet")
        Path("spk").write_text("".join(f"{name} s{k % 2}\n" for k, name in enumerate(names)))
        deciban.summarize_files(f"{at}.parquet", f"{at}.summary", speakers="spk")
    expected = numbers(deciban.evaluate_files("?.parquet", speakers="spk"))
    require_alike(numbers(deciban.evaluate_files("?.summary")), expected)


@pytest.mark.usefixtures("here")
def test_a_missing_interval_is_explained():
    shards = in_shards(two_classes())
    told = [one for one in deciban.evaluate_files(shards).messages if one.is_warning]
    assert [one.text[:30] for one in told] == ["units: none, so there are no i"]
    assert "trials taken as independent" in str(deciban.evaluate_files(shards, units="trials").messages)
    assert not [one for one in deciban.evaluate_files(shards, intervals=False).messages if "units" in str(one)]


@pytest.mark.usefixtures("here")
def test_doubled_shards_are_named():
    shards = in_shards(nameless(two_classes()))
    deciban.merge_summaries(shards[:2], "x")
    with pytest.raises(InputError, match=rf"would count twice: \d.parquet \(x, {shards[0]}\)"):
        deciban.merge_summaries(["x", shards[0]], "y")
    with pytest.raises(InputError, match="would count twice"):
        deciban.evaluate_files(["x", shards[0]])
    with pytest.raises(InputError, match="would count twice"):
        deciban.summarize_files(["0.parquet", "0.parquet"], "y")
    assert not Path("y").exists()


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    "said",
    [
        {"units": "spk"},
        {"where": {"gender": "f"}},
        {"labels": {"target": "f"}},
        {"log10": True},
        {"names": ["x", "y"]},
        {"weights": "w"},
        {"by_order": True},
        {"speakers": "utt2spk"},
    ],
)
def test_how_trials_are_read_was_decided(said):
    shards = in_shards(nameless(two_classes()))
    with pytest.raises(InputError, match=f"{next(iter(said))}: is for reading trials, which were already read"):
        deciban.evaluate_files(shards, **said)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    "said", [{"operating_points": [0.1]}, {"bootstrap": 100}, {"level": 0.9}, {"by": "spk"}, {"dask": "local:2"}]
)
def test_what_is_no_part_of_a_summary_is_refused_where_one_is_written(said):
    pq.write_table(two_classes(), "a.parquet")
    with pytest.raises((InputError, TypeError), match=next(iter(said))):
        deciban.summarize_files("a.parquet", "a", **said)
    assert set(said).isdisjoint(SUMMARIZED)
    with pytest.raises(InputError, match="memory: got '120MB', and merging needs 150 MB"):
        deciban.summarize_files("a.parquet", "a", memory="120MB")
    with pytest.raises(InputError, match="keep_names"):
        pq.write_table(nameless(two_classes()), "b.parquet")
        deciban.summarize_files("b.parquet", "b", keep_names=True)


@pytest.mark.usefixtures("here")
def test_what_needs_names_or_columns_is_refused():
    shards = in_shards(nameless(two_classes()))
    with pytest.raises(InputError, match="a summary"):
        deciban.evaluate_files(shards, by="spk")
    with pytest.raises(InputError, match="worst: a summary contains no trial names, .* Name the partitions"):
        deciban.evaluate_files(shards, worst=3)
    with pytest.raises(InputError, match="trials cannot be held out, because a summary does not contain their names"):
        deciban.train_files(shards, None, cross_validate=3)
    with pytest.raises(InputError, match="kind: .* is a summary of two-class scores"):
        deciban.evaluate_files(shards, kind="classes")
    assert deciban.evaluate_files(shards, kind="two-class").systems


@pytest.mark.usefixtures("here")
def test_what_needs_names_of_trials_names_the_way_out():
    shards = in_shards(nameless(two_classes()))
    with pytest.raises(InputError, match="worst: a summary contains no trial names.* Name the partitions themselves"):
        deciban.evaluate_files(shards, worst=3)


@pytest.mark.usefixtures("here")
def test_trials_of_one_class_are_not_evaluated():
    pq.write_table(pa.table({"score": [1.0, 2.0], "label": [False, False]}), "a.parquet")
    deciban.summarize_files("a.parquet", "a")
    with pytest.raises(KeyMismatchError, match="^a: no target trial among 2"):
        deciban.evaluate_files("a")


@pytest.mark.usefixtures("here")
def test_a_summary_is_no_table_of_trials():
    shards = in_shards(nameless(two_classes()))
    for call in (
        lambda: deciban.evaluate_files(shards[0], "0.parquet"),
        lambda: deciban.evaluate_files([shards[0], "0.parquet"]),
        lambda: deciban.summarize_files(shards[0], "b"),
        lambda: deciban.read_scores(shards[0]),
    ):
        with pytest.raises(FormatError, match=rf"^{re.escape(shards[0])}: is a summary file, not a table of trials"):
            call()


@pytest.mark.usefixtures("here")
def test_what_is_no_shard_is_refused():
    pq.write_table(pa.table({"label": [True], "score": ["x"]}), "bad.parquet")
    with pytest.raises(FormatError):
        deciban.summarize_files("bad.parquet", "a")
    with pytest.raises(InputError, match="shards: none given"):
        deciban.summarize_files([], "a")
    with pytest.raises(FormatError, match="is not a summary file"):
        deciban.merge_summaries(["bad.parquet"], "a")
    assert sorted(one.name for one in Path().iterdir()) == ["bad.parquet"]


@pytest.mark.parametrize(("n_scores", "keep_names", "is_told"), [(3, True, True), (4, True, False), (3, False, False)])
def test_a_summary_tells_that_trials_without_scores_link_no_names(tmp_path, n_scores, keep_names, is_told):
    names = {"enroll": ["a", "a", "b", "b"], "test": ["x", "y", "x", "y"]}
    pq.write_table(
        pa.table(names | {"label": ["target", "nontarget", "nontarget", "target"]}), tmp_path / "key.parquet"
    )
    pq.write_table(pa.table(names | {"score": [2.0, -1.0, 0.5, 1.0]}).slice(0, n_scores), tmp_path / "part.parquet")
    files = tmp_path / "part.parquet", tmp_path / "all", tmp_path / "key.parquet"
    told = deciban.summarize_files(*files, keep_names=keep_names, missing="drop")
    assert any("no partition scored" in one.text for one in told) == is_told
