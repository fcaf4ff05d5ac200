"""What every option means for trials in batches: the same as in memory, or a sentence that says why not."""

from dataclasses import fields
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deciban import compare_files, evaluate, evaluate_files, plan_files
from deciban.errors import InputError
from deciban.rules import ThresholdWeights
from deciban.workflows import MetricOptions, Reading, UncertaintyOptions
from deciban.workflows.evaluate import evaluate_source
from deciban.workflows.options import Options
from deciban.workflows.reading.inputs import open_source
from support.how_sure import assert_equally_sure

N = 400


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Trials in one table, the same in scores and key apart, and what options name besides."""
    rng, folder = np.random.default_rng(8), tmp_path_factory.mktemp("options")
    enroll, test = np.repeat(np.arange(20), 20), np.tile(np.arange(20), 20)
    truth = enroll % 6 == test % 6
    columns = {
        "enroll": [f"m{one}" for one in enroll],
        "test": [f"t{one}" for one in test],
        "score": np.round(np.where(truth, 1.0, -1.0) + rng.normal(0.0, 1.5, N), 2),
        "other": np.round(rng.normal(0.0, 2.0, N), 2),
        "label": np.where(truth, "target", "nontarget"),
        "answer": np.where(truth, "yes", "no"),
        "weight": rng.integers(0, 4, N),
        "room": np.where(rng.random(N) < 0.6, "large", "small"),
        "speaker": [f"s{one % 6}" for one in enroll],
    }
    whole = pa.table(columns)
    names = ["enroll", "test", "score"]
    _write(whole.drop_columns(["other", "answer"]), folder / "whole")
    _write(whole.select([*names, "other", "label"]), folder / "several")
    _write(whole.select(["enroll", "test", "other", "label"]), folder / "named")
    _write(whole.select([*names, "answer"]), folder / "answers")
    chance = pa.array(1.0 / (1.0 + np.exp(-whole["score"].to_numpy())))
    _write(whole.select([*names, "label"]).set_column(2, "score", chance), folder / "chances")
    ratio = pa.array(np.exp(whole["score"].to_numpy()))
    _write(whole.select([*names, "label"]).set_column(2, "score", ratio), folder / "ratios")
    _write(whole.select([*names, "label"]).set_column(2, "LR", ratio), folder / "called_lr")
    _write(whole.select(names), folder / "scores")
    _write(whole.select(names).slice(0, N - 7), folder / "fewer")
    _write(pa.concat_tables([whole.select(names), whole.select(names).slice(3, 9)]), folder / "copies")
    own = whole.drop_columns(["other", "answer"])
    _write(pa.concat_tables([own, own.slice(5, 11)]), folder / "doubled")
    _write(whole.drop_columns(["score", "other", "answer"]), folder / "key")
    _write(whole.select(["enroll", "test", "answer"]).rename_columns(["enroll", "test", "label"]), folder / "yes")
    (folder / "spk").write_text("".join(f"{side}{one} s{one % 6}\n" for side in "mt" for one in range(20)))
    return folder


def _write(table, folder):
    folder.mkdir()
    half = len(table) // 2
    for at, part in enumerate((table.slice(0, half), table.slice(half))):
        pq.write_table(part, folder / f"part-{at}.parquet", row_group_size=70)


def in_batches(files, scores, key=None, **options):
    chosen = Options.of("evaluate_files", options)
    source = open_source([files / scores], None if key is None else files / key, chosen)
    return evaluate_source(source, chosen)


def as_told(files, option):
    """Files among the values of options."""
    return {name: files / value[1:] if str(value).startswith("@") else value for name, value in option.items()}


SIDES = {"enroll": "enroll", "test": "test"}

READING = {
    "missing": [("fewer", "key", {"missing": "drop"}), ("fewer", "key", {"missing": 0.25})],
    "duplicates": [
        ("copies", "key", {"duplicates": "keep-one"}),
        ("doubled", None, {"duplicates": "keep-one"}),
        ("whole", None, {"duplicates": "keep-one"}),
    ],
    "format": [("whole", None, {"format": "parquet"})],
    "columns": [
        ("named", None, {"columns": {**SIDES, "score": "other", "label": "label"}}),
        ("several", None, {"columns": {**SIDES, "score": "other", "label": "label"}}),
    ],
    "key_format": [("scores", "key", {"key_format": "parquet"})],
    "key_columns": [("scores", "key", {"key_columns": {**SIDES, "label": "label"}})],
    "labels": [("scores", "yes", {"labels": {"target": "yes", "nontarget": "no"}})],
    "where": [("whole", None, {"where": {"room": "large"}}), ("scores", "key", {"where": {"room": "small"}})],
    "log10": [("whole", None, {"log10": True})],
    "lr": [("ratios", None, {"lr": True}), ("ratios", "key", {"lr": True}), ("called_lr", None, {})],
    "negate": [("whole", None, {"negate": True})],
    "probabilities": [("chances", None, {"probabilities": 0.3})],
    "by_order": [("scores", "key", {"by_order": True})],
    "weights": [("whole", None, {"weights": "weight"}), ("scores", "key", {"weights": "weight"})],
    "names": [("whole", None, {"names": ["mine"]}), ("whole", None, {"names": {"whole": "mine"}})],
}
"""Options of reading that mean the same, with the scores and the key of a case."""

REFUSED = {
    "ids": ("whole", {"ids": "stem"}),
    "classes": ("whole", {"classes": ["a", "b"]}),
    "posterior_prior": ("whole", {"posterior_prior": [0.5, 0.5]}),
    "detection_llr": ("whole", {"detection_llr": True}),
    "from_classes": ("whole", {"from_classes": True}),
}
"""Those that are refused, in batches or of two classes at all."""

ELSEWHERE = {"weights_required"}
"""Said by other workflows, of keys of other trials."""

METRICS = {
    "classifier": True,
    "discrepancy": True,
    "operating_points": [0.1, (0.01, 10, 1)],
    "eer_conventions": True,
    "fnmr_at": [0.1, 0.01],
    "fmr_at": 0.1,
    "at_thresholds": {"there": 0.3},
    "posteriors_at": [0.2],
    "rule": ThresholdWeights([0.5, 0.9], [0.4, 0.6]),
    "axis": "log10",
}

HOW_SURE = {
    "units": ["enroll,test", "product", "speaker", "@spk", "product:speaker,test", "trials"],
    "level": [0.8],
    "intervals": [False],
    "optimism": [False],
    "keep": [True],
    "bootstrap": [20],
    "seed": [3],
}


def compared(found, whole):
    """That two results are the same, but for sums in their last digits."""
    assert [one.name for one in found.systems] == [one.name for one in whole.systems]
    for one, other in zip(found.systems, whole.systems, strict=True):
        for name in ("n_tar", "n_non", "n_tied", "n_infinite", "eer", "auc", "min_cllr", "prbep", "dr30", "axis"):
            assert getattr(one, name) == getattr(other, name), name
        assert one.operating_points == other.operating_points
        assert one.notes == other.notes
        assert one.is_weighted == other.is_weighted
        assert one.cllr == pytest.approx(other.cllr, rel=1e-14)
        assert one.requested.eer_conventions == other.requested.eer_conventions
        assert one.requested.rates_at == other.requested.rates_at
        assert one.requested.at_thresholds == other.requested.at_thresholds
        assert (one.uncertainty is None) == (other.uncertainty is None)
        if one.uncertainty is not None:
            assert one.uncertainty.level == other.uncertainty.level
            assert_equally_sure(one, other)
    assert _of_units(found) == _of_units(whole)


def _of_units(results):
    said = [message for message in results.messages if message.kind in ("units", "only")]
    return [str(message) for message in said]


def test_every_option_is_told_what_it_means_in_partitions():
    told = {*READING, *REFUSED, *ELSEWHERE}
    assert told == {one.name for one in fields(Reading)}
    of_classes = {"prior", "p_target", "p_out_of_set", "subsets", "pairs", "groups", "capacity"}
    assert {*METRICS} | of_classes == {one.name for one in fields(MetricOptions)}
    assert {*HOW_SURE, "units_required"} == {one.name for one in fields(UncertaintyOptions)}


@pytest.mark.parametrize(
    ("scores", "key", "option"),
    [case for cases in READING.values() for case in cases],
    ids=[f"{name}-{at}" for name, cases in READING.items() for at, _ in enumerate(cases)],
)
def test_options_of_reading_mean_the_same(files, scores, key, option):
    named = None if key is None else files / key
    compared(in_batches(files, scores, key, **option), evaluate_files(files / scores, named, **option))


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("weights", [None, "weight"])
def test_figures_that_are_asked_for_are_those_of_memory(files, name, weights):
    option = {name: METRICS[name], "weights": weights, "intervals": False}
    compared(in_batches(files, "whole", **option), evaluate_files(files / "whole", **option))


@pytest.mark.parametrize(("name", "value"), [(name, one) for name, values in HOW_SURE.items() for one in values])
def test_intervals_are_those_that_are_asked_for(files, name, value):
    option = as_told(files, {name: value})
    compared(in_batches(files, "whole", **option), evaluate_files(files / "whole", **option))


@pytest.mark.parametrize("name", REFUSED)
def test_what_partitions_cannot_do_is_refused(files, name):
    scores, option = REFUSED[name]
    with pytest.raises(InputError, match=name):
        in_batches(files, scores, **option)


def test_that_copies_were_not_looked_for_is_said(files):
    def notes(*given, **options):
        return [str(one) for one in in_batches(files, *given, **options).messages if "count twice" in str(one)]

    assert len(notes("whole")) == 1
    assert not notes("whole", duplicates="keep-one")
    assert not notes("scores", "key")


@pytest.mark.parametrize("option", [{"units": "trials"}, {"units": "speaker"}, {}])
@pytest.mark.parametrize("weights", [None, "weight"])
def test_replicates_are_those_of_memory(files, option, weights):
    option = {**option, "bootstrap": 20, "seed": 5, "weights": weights}
    compared(in_batches(files, "whole", **option), evaluate_files(files / "whole", **option))


@pytest.mark.parametrize("columns", [("trial",), ("enroll", "test", "side"), ()])
@pytest.mark.parametrize("where", [None, {"room": "large"}])
def test_trials_are_known_by_their_names_or_by_their_rows(tmp_path, columns, where):
    """As in memory, however rows are cut, and whichever of them are asked for."""
    rng = np.random.default_rng(9)
    truth = rng.random(N) < 0.3
    made = {
        "trial": [f"x{one}" for one in rng.permutation(N)],
        "enroll": [f"m{one // 20}" for one in range(N)],
        "test": [f"t{one % 20 // 2}" for one in range(N)],
        "side": [str(one % 2) for one in range(N)],
    }
    given = {"score": np.where(truth, 1.0, -1.0) + rng.normal(0.0, 1.5, N), "label": truth}
    given["room"] = np.where(rng.random(N) < 0.6, "large", "small")
    _write(pa.table({**{name: made[name] for name in columns}, **given}), tmp_path / "whole")
    option = {"units": "trials", "bootstrap": 20, "where": where}
    compared(in_batches(tmp_path, "whole", **option), evaluate_files(tmp_path / "whole", **option))


@pytest.mark.parametrize("option", [{"memory": "100MB"}, {"dask": "local:2"}])
def test_what_reads_everything_at_once_says_so(files, option):
    named = [files / "whole", files / "named"]
    for work in (compare_files, partial(plan_files, width=0.01)):
        with pytest.raises(InputError, match=f"{next(iter(option))}: a .* needs all trials in memory"):
            work(named, files / "key", **option)
    with pytest.raises(InputError, match="needs all trials in memory"):
        evaluate({"enroll": ["a"], "test": ["b"], "score": [0.5], "label": [1]}, **option)


@pytest.mark.parametrize("columns", [(), ("trial",)])
@pytest.mark.parametrize("units", ["a,b", "product:a,b", "product"])
def test_units_of_two_sides_are_refused_where_trials_have_none_as_in_memory(tmp_path, columns, units):
    own = {"trial": [f"x{k}" for k in range(8)], "score": np.arange(8.0), "label": [0, 1] * 4}
    own |= {"a": list("xxyyzzuu"), "b": list("stststst")}
    _write(pa.table({name: own[name] for name in (*columns, "score", "label", "a", "b")}), tmp_path / "whole")
    told = set()
    for evaluated in (partial(in_batches, tmp_path, "whole"), partial(evaluate_files, tmp_path / "whole")):
        with pytest.raises(InputError, match="trials with two sides") as refused:
            evaluated(units=units)
        told.add(str(refused.value))
    assert len(told) == 1
