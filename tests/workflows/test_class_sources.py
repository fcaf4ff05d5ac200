"""Many classes that do not fit in memory: the same results, JSON and page, and what needs memory says so."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from deciban import evaluate_files
from deciban.errors import InputError
from deciban.workflows.reading import inputs as opening
from support.class_trials import random_trials

CLASSES = ["eng", "fra", "deu"]


@pytest.fixture
def folder(tmp_path):
    """Three files, one of which lacks a class."""
    loglik, label = random_trials(3, 3000, seed=2)
    path = tmp_path / "languages"
    path.mkdir()
    part = np.where(label == 2, np.arange(3000) % 2, np.arange(3000) % 3)
    for at in range(3):
        own = part == at
        columns = dict(zip(CLASSES, loglik[own].T.astype(np.float32), strict=True))
        columns |= {"class": [CLASSES[k] for k in label[own]], "speaker": [f"s{at % 40}" for at in np.flatnonzero(own)]}
        pq.write_table(pa.table(columns), path / f"part-{at}.parquet", row_group_size=400)
    return path


@pytest.fixture
def too_large(monkeypatch):
    """Whatever is named does not fit in memory."""
    monkeypatch.setattr(opening, "memory_of", lambda *_: 10**12)


def numbers(value, path=""):
    """All numbers of JSON by where they are."""
    if isinstance(value, dict):
        return {k: v for name, one in value.items() for k, v in numbers(one, f"{path}.{name}").items()}
    if isinstance(value, list):
        return {k: v for at, one in enumerate(value) for k, v in numbers(one, f"{path}[{at}]").items()}
    return {path: value}


@pytest.mark.parametrize(
    "asked",
    [
        {"p_target": [0.5, 0.01], "pairs": False, "intervals": False},
        {"p_out_of_set": 0.2, "units": "speaker", "bootstrap": 30, "seed": 5},
        {"groups": {"west": ["eng", "deu"], "fra": ["fra"]}, "units": "speaker"},
        {"level": 0.9, "bootstrap": 40},
        {"units": "trials"},
        {"classifier": True, "units": "speaker", "bootstrap": 20},
    ],
)
def test_json_is_that_of_memory(folder, asked, monkeypatch):
    whole = evaluate_files(folder, **asked)
    monkeypatch.setattr(opening, "memory_of", lambda *_: 10**12)
    found = evaluate_files(folder, **asked)
    one, other = (numbers(json.loads(some.to_json())["systems"]) for some in (found, whole))
    assert one.keys() == other.keys()
    for name, value in one.items():
        expected = pytest.approx(other[name], rel=1e-9, abs=1e-12) if isinstance(value, float) else other[name]
        assert value == expected, name
    assert any("partitions" in str(message) for message in found.messages)
    units = [[one for one in some.messages if one.kind == "units"] for some in (found, whole)]
    assert units[0] == units[1]
    if "groups" in asked:
        return
    for a, b in zip(found.systems[0].curves.sample, whole.systems[0].curves.sample, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_dataset_is_read_in_partitions(folder):
    found = evaluate_files(ds.dataset(folder), intervals=False)
    assert found.systems[0].cllr == pytest.approx(evaluate_files(folder, intervals=False).systems[0].cllr, rel=1e-14)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"optimism": True}, r"corrected minima .* need all 3,000 segments in memory, which takes \d+ MB"),
        ({"operating_points": [0.1]}, "for two-class scores"),
    ],
)
@pytest.mark.usefixtures("too_large")
def test_what_needs_memory_is_refused(folder, asked, words):
    with pytest.raises(InputError, match=words):
        evaluate_files(folder, **asked)


@pytest.mark.usefixtures("too_large")
def test_a_class_without_a_segment_is_named(folder):
    for path in folder.iterdir():
        table = pq.read_table(path)
        pq.write_table(table.filter(pa.compute.not_equal(table["class"], "fra")), path)
    with pytest.raises(InputError, match=r"'fra': no segment has this class"):
        evaluate_files(folder, intervals=False)


@pytest.mark.usefixtures("too_large")
def test_a_class_without_weight_is_named(folder):
    for path in folder.iterdir():
        table = pq.read_table(path)
        weight = pa.compute.cast(pa.compute.not_equal(table["class"], "fra"), pa.int32())
        pq.write_table(table.append_column("weight", weight), path)
    with pytest.raises(InputError, match=r"'fra': no segment of weight above 0 has this class"):
        evaluate_files(folder, intervals=False, weights="weight", classes=CLASSES)


def test_a_column_of_numbers_that_is_no_class_says_weights_as_in_memory(folder, monkeypatch):
    for path in folder.iterdir():
        table = pq.read_table(path)
        weight = pa.array(np.arange(len(table)) % 4, pa.int32())
        pq.write_table(table.append_column("weight", weight), path)
    asked = {"weights": "weight", "classes": CLASSES, "intervals": False}
    whole = evaluate_files(folder, **asked)
    monkeypatch.setattr(opening, "memory_of", lambda *_: 10**12)
    found = evaluate_files(folder, **asked)
    assert any("partitions" in str(message) for message in found.messages)
    np.testing.assert_array_equal(found.systems[0].counts, whole.systems[0].counts)
    assert found.systems[0].cllr == pytest.approx(whole.systems[0].cllr, rel=1e-13)
