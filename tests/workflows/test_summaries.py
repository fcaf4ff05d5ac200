"""Arrays of jobs: summarize, merge, refine, evaluate, from Python and as commands."""

import contextlib
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


def counted(shards, **options):
    return [summarized(name, f"{name}.summary", **options) for name in shards]


def summarized(name, output, **options):
    deciban.summarize_files(name, output, **options)
    return output


def test_speakers_belong_to_the_question(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = [f"u{k}" for k in range(6)]
    for at, shard in enumerate((names[:3], names[3:])):
        table = {"enroll": [a for a in shard for _ in names], "test": names * 3, "score": np.arange(18.0) + at}
        pq.write_table(pa.table(table), f"{at}.parquet")
    Path("spk").write_text("".join(f"{name} s{k % 2}\n" for k, name in enumerate(names)))
    Path("copy").write_text(Path("spk").read_text())
    Path("other").write_text("".join(f"{name} s{k % 3}\n" for k, name in enumerate(names)))
    summarized("0.parquet", "a", speakers="spk")
    summarized("1.parquet", "b", speakers="copy")
    summarized("1.parquet", "c", speakers="other")
    deciban.merge_summaries(["a", "b"], "all")
    expected = deciban.evaluate_files("?.parquet", speakers="spk", intervals=False).systems[0]
    assert deciban.evaluate_files("all").systems[0].eer == expected.eer
    with pytest.raises(InputError, match=r"c: answers another question than a: speakers \w+ and \w+"):
        deciban.merge_summaries(["a", "c"], "all")
    with pytest.raises(InputError, match="speakers \\w+ and left out"):
        deciban.merge_summaries(["a", summarized_with_labels("d")], "all")


def summarized_with_labels(output):
    pq.write_table(pa.table({"score": [1.0, 2.0], "label": [True, False]}), "labelled.parquet")
    return summarized("labelled.parquet", output)


def test_many_classes_are_not_found_in_a_summary_of_two(shards):
    summarized(shards[0], "a")
    assert deciban.evaluate_files("a", kind="two-class").systems
    with pytest.raises(InputError, match="kind: a is a summary of scores of two classes"):
        deciban.evaluate_files("a", kind="classes")


@pytest.fixture
def segments(tmp_path, monkeypatch):
    """Three shards of segments of three classes in the folder of the test; the first one lacks a class."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    for k in range(3):
        label = rng.integers(0, 2 if k == 0 else 3, 300)
        score = rng.normal(size=(300, 3)).round(2) + 2.0 * np.eye(3)[label]
        table = {name: score[:, at] for at, name in enumerate("abc")}
        pq.write_table(pa.table({**table, "class": ["abc"[at] for at in label]}), f"{k}.parquet")
    return [f"{k}.parquet" for k in range(3)]


@pytest.mark.parametrize("options", [{}, {"p_target": [0.1, 0.5], "prior": [0.5, 0.3, 0.2]}, {"p_out_of_set": 0.3}])
def test_sums_of_many_classes_are_those_of_all_segments(segments, options):
    deciban.merge_summaries(counted(segments, **options), "all")
    found = deciban.evaluate_files("all")
    (one,), (exact,) = found.systems, deciban.evaluate_files("?.parquet", intervals=False, **options).systems
    for name in ("cllr", "cross_entropy", "brier", "error_rate"):
        assert getattr(one, name) == pytest.approx(getattr(exact, name), rel=1e-14), name
    for name in ("counts", "confusion", "class_error_rates"):
        assert np.array_equal(getattr(one, name), getattr(exact, name)), name
    assert [point.c_avg for point in one.points] == [point.c_avg for point in exact.points]
    assert one.detection.cost == pytest.approx(exact.detection.cost, rel=1e-12)
    assert one.detection.cllr == pytest.approx(exact.detection.cllr, rel=1e-13)
    assert np.isnan(one.min_cllr)
    if exact.subsets is not None:
        assert one.subsets.value == pytest.approx(exact.subsets.value, rel=1e-12)
    assert "summary of 3 shards, 900 rows, after one pass" in found.messages[0].text
    assert "NaN" not in found.to_json()


def test_further_passes_find_minima_of_many_classes(segments, monkeypatch):
    monkeypatch.setattr("deciban.engines.class_summary_parts._FEWEST_CELLS", 500)
    monkeypatch.setattr("deciban.engines.class_summary_parts._MOST_CELLS", 500)
    monkeypatch.setattr("deciban.engines.class_summary_parts._MOST_FIRST", 40)
    (exact,), bounded = deciban.evaluate_files("?.parquet", intervals=False).systems, list[set]()
    deciban.merge_summaries(counted(segments), "pass1")
    for n in range(2, 9):
        parts = [summarized(name, f"{name}.{n}", refine=f"pass{n - 1}") for name in segments]
        deciban.merge_summaries([parts[2], parts[0]], "some")
        with (
            pytest.raises(InputError, match="1 of 3 shards are missing: pass 2 has not seen 1.parquet")
            if n == 2
            else (contextlib.nullcontext())
        ):
            deciban.evaluate_files("some" if n == 2 else f"pass{n - 1}")
        said = deciban.merge_summaries([parts[1], "some"], f"pass{n}")
        summarized(segments, "together", refine=f"pass{n - 1}")
        assert Path("together").read_bytes() == Path(f"pass{n}").read_bytes()
        bounded.append(require_within(deciban.evaluate_files(f"pass{n - 1}").systems[0], exact))
        if "open" not in said[0].text:
            break
    (one,) = deciban.evaluate_files(f"pass{n}", intervals=False).systems
    assert bounded[0] > require_within(one, exact) == {"min_cllr", "calibration_loss"}
    assert any("Other figures are exact" in note for note in one.notes)
    for name in ("min_cost", "eer", "min_cllr"):
        assert getattr(one.detection, name) == pytest.approx(getattr(exact.detection, name), rel=1e-12), name
    assert np.array_equal(one.pairwise.min_cllr, exact.pairwise.min_cllr)
    assert np.allclose(one.curves.reliability.observed, exact.curves.reliability.observed, rtol=1e-12)
    assert n > 2
    with pytest.raises(InputError, match=f"refine: pass{n} needs no further pass"):
        summarized(segments[0], "x", refine=f"pass{n}")
    with pytest.raises(InputError, match="refine: a class has no segment in the summary"):
        summarized(segments[0], "x", refine=summarized(segments[0], "y"))


def test_whole_weights_of_many_classes_are_copies(segments, monkeypatch):
    monkeypatch.setattr("deciban.engines.class_summary_parts._MOST_FIRST", 40)
    rng, how = np.random.default_rng(5), {"weights": "w", "classes": ["a", "b", "c"]}
    for name in segments:
        table, w = pq.read_table(name), rng.integers(0, 4, 300)
        pq.write_table(table.take(np.repeat(np.arange(300), w)), f"{name}.copies")
        pq.write_table(table.append_column("w", pa.array(w.astype(float))), name)
    (exact,) = deciban.evaluate_files("*.copies", intervals=False).systems
    deciban.merge_summaries(counted(segments, **how), "all")
    bounded = deciban.evaluate_files("all").systems[0]
    assert len(require_within(bounded, exact)) > 2
    for _ in range(3):
        parts = [summarized(name, f"{name}.more", refine="all", **how) for name in segments]
        if "open" not in deciban.merge_summaries(parts, "all")[0].text:
            break
    (one,) = deciban.evaluate_files("all").systems
    assert np.array_equal(one.confusion, exact.confusion)
    assert one.cllr == pytest.approx(exact.cllr, rel=1e-13)
    for name in ("min_cost", "eer", "min_cllr", "cllr"):
        assert getattr(one.detection, name) == pytest.approx(getattr(exact.detection, name), rel=1e-12), name
    pq.write_table(pq.read_table(segments[0]).set_column(4, "w", pa.array(rng.random(300))), "fractions.parquet")
    with pytest.raises(InputError, match=r"weights: those of fractions.parquet are no whole numbers"):
        summarized("fractions.parquet", "x", **how)


def require_within(found, exact):
    """Every figure that has bounds lies within them, and has no number of its own; their names."""
    for figure, (low, high) in found.bounds.items():
        name, *of = (figure,) if isinstance(figure, str) else figure
        if name == "detectors":
            true = exact.detectors[of[0]][of[1]]
        elif name.startswith("pairwise"):
            i, j = map(exact.classes.index, of)
            pairs = exact.pairwise
            true = pairs.min_cllr[i, j] if name == "pairwise_min_cllr" else (pairs.cllr - pairs.min_cllr)[i, j]
        elif name.startswith("mean_"):
            true = exact.mean_costs[name.removeprefix("mean_")]
        else:
            true = exact.points[of[0]].costs[name] if of else getattr(exact, name)
        assert low <= true <= high, figure
        assert low < high, figure
    return set(found.bounds)


def test_what_summaries_of_many_classes_do_not_hold_is_refused(segments):
    summarized(segments[1], "a")
    for call, words in (
        (lambda: deciban.evaluate_files("a", kind="two-class"), "kind: a is a summary of scores of many classes"),
        (lambda: deciban.evaluate_files("a", p_target=0.2), "was made for another question: p_target"),
        (lambda: deciban.summarize_files(segments[0], "b", groups=[["a", "b"], ["c"]]), "groups"),
    ):
        with pytest.raises(InputError, match=words):
            call()
    summarized(segments[0], "b")
    with pytest.raises(InputError, match="class 'c': no segment is of it"):
        deciban.evaluate_files("b")


def test_few_trials_are_exact_after_one_pass(shards):
    counted(shards)
    found = deciban.evaluate_files("*.summary").systems
    assert [one.bounds for one in found] == [{}, {}]
    assert found[0].n_tied == deciban.evaluate_files("*.parquet").systems[0].n_tied
    deciban.summarize_files(shards, "together")
    deciban.merge_summaries(["0.parquet.summary", "3.parquet.summary"], "x")
    deciban.merge_summaries(["2.parquet.summary", "x", "1.parquet.summary"], "y")
    assert Path("together").read_bytes() == Path("y").read_bytes()


def test_shards_that_are_missing_doubled_or_changed_are_named(shards):
    deciban.merge_summaries(counted(shards), "all")
    some = [summarized(name, f"{name}.refined", refine="all") for name in shards[:3]]
    with pytest.raises(InputError, match="1 of 4 shards are missing: pass 2 has not seen 3.parquet"):
        deciban.evaluate_files(some)
    assert deciban.merge_summaries(some, "x")[1].text == "1 of 4 shards are missing in pass 2: 3.parquet"
    with pytest.raises(InputError, match=r"would count twice: 0.parquet \(x, 0.parquet.refined\)"):
        deciban.merge_summaries(["x", some[0]], "y")
    with pytest.raises(InputError, match="would count twice"):
        deciban.summarize_files([shards[0], shards[0]], "y")
    with pytest.raises(InputError, match="refine: x needs no further pass"):
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
        {"optimism": True},
        {"level": 0.9},
        {"memory": "1GB"},
        {"dask": "local:2"},
        {"approximate": True},
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
    words = "(a summary of shards holds counts|says how trials are (read|gone through))"
    with pytest.raises(InputError, match=f"{next(iter(said))}: {words}"):
        deciban.evaluate_files("a", **said)


def test_a_missing_interval_is_explained(shards):
    summarized(shards[0], "a")
    told = [one.text for one in deciban.evaluate_files("a").messages if one.text.startswith("units: ")]
    assert told == [text for text in told if "The shards themselves have intervals" in text] != []
    assert not [one for one in deciban.evaluate_files("a", intervals=False).messages if "units" in str(one)]


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


def test_what_is_no_shard_is_refused(shards):
    pq.write_table(pa.table({"label": [True], "score": ["x"]}), "bad.parquet")
    with pytest.raises(FormatError):
        deciban.summarize_files("bad.parquet", "a")
    with pytest.raises(InputError, match="shards: none given"):
        deciban.summarize_files([], "a")
    with pytest.raises(FormatError, match="is no summary of shards"):
        deciban.merge_summaries(shards[:1], "a")


def test_one_pass_gives_what_all_trials_give(shards):
    asked = {"operating_points": [0.1], "eer_conventions": True}
    deciban.merge_summaries(counted(shards, **asked), "all")
    tables = [pq.read_table(name) for name in shards]
    label = np.concatenate([one["label"].to_numpy() for one in tables])
    for name, found in zip(("good", "bad"), deciban.evaluate_files("all").systems, strict=True):
        scores = np.concatenate([one[f"score_{name}"].to_numpy() for one in tables])
        figures = deciban.evaluation.TwoClassFigures([0.1], eer_conventions=True)
        exact = deciban.evaluate(scores[label], scores[~label], operating_points=figures)
        for figure in ("eer", "min_cllr", "prbep", "auc", "n_tied", "operating_points", "eer_threshold"):
            assert getattr(found, figure) == getattr(exact, figure), figure
        assert found.requested.eer_conventions == exact.requested.eer_conventions
    with pytest.raises(InputError, match="refine: all needs no further pass"):
        deciban.summarize_files(shards[0], "x", refine="all")
