"""Conditions of trials in batches: what the same trials give in memory, however they are cut."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban import InputError, evaluate_files

POINTS = [0.1, (0.5, 2, 1)]


def assert_near(one, other, path=""):
    """The same JSON: counts and words exactly, sums as exactly as sums can be, what was searched for nearly."""
    if isinstance(one, dict):
        assert one.keys() == other.keys(), path
        for name in one:
            assert_near(one[name], other[name], f"{path}/{name}")
    elif isinstance(one, list):
        assert len(one) == len(other), path
        for at, (a, b) in enumerate(zip(one, other, strict=True)):
            assert_near(a, b, f"{path}/{at}")
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=1e-6 if "capacity" in path else 1e-9, abs=1e-12), path
    else:
        assert one == other, path


def assert_same(whole, found):
    """Conditions, what counts alike, and differences of results in memory and in batches."""
    assert len(whole.conditions) == len(found.conditions) == len(whole.systems)
    for one, other in zip(whole.conditions, found.conditions, strict=True):
        assert_near(*(json.loads(json.dumps(each.to_dict())) for each in (one, other)))
        for parts in zip(one.partitions, other.partitions, strict=True):
            assert parts[0].no_differences == parts[1].no_differences
            for a, b in zip(*(each.evaluated for each in parts), strict=True):
                assert (a.eer, a.min_cllr, a.notes) == (b.eer, b.min_cllr, b.notes)
        for a, b in zip(one.equalized, other.equalized, strict=True):
            assert a.rule == b.rule
            assert a.evaluation.eer == pytest.approx(b.evaluation.eer, rel=1e-12)
    assert [m for m in whole.messages if m.kind == "by"] == [m for m in found.messages if m.kind == "by"]


def written(table, folder, rows):
    """A folder of one file with row groups of so many rows, and the same as a file to be read as a whole."""
    folder.mkdir()
    pq.write_table(table, folder / "trials.parquet", row_group_size=rows)
    return folder / "trials.parquet"


def both(path, **options):
    """The results in memory, and those in batches."""
    whole = evaluate_files(path, **options)
    return whole, evaluate_files([ds.dataset(path)], names=[whole.systems[0].name], **options)


def trials(n=600, seed=3):
    """Trials of two classes; the condition ``far`` has no target, and some have no gender."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.3
    channel = np.array(["tel", "mic", "far"])[rng.integers(0, 3, n)]
    channel[truth & (channel == "far")] = "tel"
    return pa.table(
        {
            "score": np.round(np.where(truth, 2.0, -2.0) + rng.normal(0.0, 2.0, n), 1),
            "label": truth,
            "gender": pa.array(np.array(["m", "f", None], object)[rng.choice(3, n, p=[0.5, 0.4, 0.1])]),
            "channel": pa.array(channel).dictionary_encode(),
            "seconds": rng.uniform(1.0, 60.0, n).round(1),
            "speaker": rng.integers(0, 12, n),
            "w": rng.integers(0, 4, n),
            "attack": np.where(truth, "-", np.array(["A07", "A08"])[np.arange(n) % 2]),
        }
    )


@pytest.mark.parametrize(
    "options",
    [
        {"by": "channel", "equalize": "channel,seconds:20", "units": "speaker", "weights": "w"},
        {"by": ["seconds:5,30", "gender"], "equalize": "channel", "units": "speaker", "bootstrap": 10},
        {"by": "gender,channel", "equalize": "channel", "where": {"gender": "f"}, "intervals": False},
        {"by": ["channel+tel", "channel+mic,gender+"], "units": "speaker", "weights": "w"},
        {"by": ["attack", "attack,gender"], "equalize": "attack", "units": "speaker"},
    ],
)
def test_conditions_are_those_of_trials_in_memory(tmp_path, options):
    assert_same(*both(written(trials(), tmp_path / "trials", 170), operating_points=POINTS, **options))


@st.composite
def frames(draw):
    """Trials with ties, infinite scores, and values that are missing."""
    n = draw(st.integers(8, 40))

    def column(*values):
        return draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))

    return pa.table(
        {
            "score": column(-np.inf, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, np.inf),
            "label": [1, 0, *column(0, 1)[2:]],
            "gender": pa.array(column("f", "m", "", None), pa.string()),
            "channel": column("mic", "tel"),
            "duration": column(1.0, 5.0, 7.5, 10.0, 40.0, float("nan")),
            "speaker": column("ann", "bob", "cid", "dan", "eve"),
        }
    )


@settings(max_examples=2)
@given(frames(), st.integers(10, 40), st.sampled_from(["duration:5,10", "gender"]))
def test_cuts_between_partitions_mean_nothing(tmp_path_factory, frame, rows, by):
    path = written(frame, tmp_path_factory.mktemp("cut") / "trials", rows)
    assert_same(*both(path, operating_points=POINTS, by=by, equalize="channel", intervals=False))


def test_segments_of_many_classes(tmp_path):
    rng, n = np.random.default_rng(4), 300
    label = rng.integers(0, 3, n)
    scores = rng.normal(0.0, 1.5, (n, 3)) + 2.0 * np.eye(3)[label]
    channel = np.array(["tel", "mic", "far"])[rng.integers(0, 3, n)]
    channel[(label == 2) & (channel == "far")] = "tel"
    columns = {f"c{k}": scores[:, k] for k in range(3)}
    about = {"class": [f"c{k}" for k in label], "channel": channel, "speaker": rng.integers(0, 9, n).astype(str)}
    names = {"segment": [f"s{k}" for k in range(n)]}
    path = written(pa.table(names | columns | about), tmp_path / "segments", 90)
    whole, found = both(path, by="channel", equalize="channel", units="speaker")
    assert whole.conditions[0].equalized[0].evaluation.uncertainty is not None
    for one, other in zip(whole.conditions, found.conditions, strict=True):
        assert_near(*(json.loads(json.dumps(each.to_dict())) for each in (one, other)))


def test_what_a_file_says_of_the_names_of_a_side(tmp_path):
    table = trials(300)
    names = [f"e{k}" for k in range(20)] * 15
    table = table.append_column("enroll", [names]).append_column("test", [[f"t{k}" for k in range(300)]])
    ages = tmp_path / "ages.txt"
    ages.write_text("".join(f"e{k} {20 + 3 * k}\n" for k in range(19)))  # nothing is said of the last one
    path = written(table, tmp_path / "trials", 80)
    assert_same(*both(path, by=f"enroll={ages}:30,60", intervals=False))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"by": "nothing"}, r"by: 'nothing' is not a column of .* Its columns: .*channel"),
        ({"by": "speaker=ages.txt"}, "by: 'speaker' is not a side of the trials of"),
        ({"by": "channel+x"}, "by: no trial has 'x' in column 'channel'; its values are far, mic, tel"),
        (
            {"by": "channel:3"},
            r"trials\.parquet, row group 0: '\w+' in column 'channel' is not a number \(170 such trials",
        ),
        ({"by": "number"}, r"by: number makes 1,\d\d\d conditions .*at most 1,000 are allowed"),
        ({"equalize": "gender"}, r"equalize: .*no value in 'gender', .*\(\d+ trials without\)"),
    ],
)
def test_what_splits_nothing_is_refused_as_in_memory(tmp_path, options, words):
    table = trials(1100)
    table = table.append_column("number", [[str(k) for k in range(len(table))]])
    path = written(table, tmp_path / "trials", 170)
    (tmp_path / "ages.txt").write_text("ann 30\n")
    if "ages.txt" in str(options):
        options = {"by": f"speaker={tmp_path / 'ages.txt'}"}
    with pytest.raises(InputError, match=words):
        evaluate_files([ds.dataset(path)], intervals=False, **options)


def test_trials_that_are_units_have_no_intervals_where_conditions_count_alike(tmp_path):
    path = written(trials(), tmp_path / "trials", 170)
    whole, found = both(path, by="channel", equalize="channel", units="trials")
    (one,), (other,) = (each.conditions[0].equalized for each in (whole, found))
    assert (other.evaluation.eer, other.evaluation.uncertainty) == (one.evaluation.eer, None)
    assert any("equalize: no intervals" in str(message) for message in found.messages)


def test_partitions_without_trials_of_a_condition_are_not_read(tmp_path):
    folder = tmp_path / "trials"
    for channel in ("mic", "tel"):
        (folder / f"channel={channel}").mkdir(parents=True)
        table = trials().drop_columns(["channel", "gender"])
        table = table.append_column("channel", [[channel] * len(table)])
        pq.write_table(table, folder / f"channel={channel}" / "part.parquet")
    source = ds.dataset(folder)
    found = evaluate_files([source], by="channel", intervals=False)
    assert [one.name for one in found.conditions[0].partitions[0].conditions] == ["channel mic", "channel tel"]
