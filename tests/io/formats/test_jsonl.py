"""JSON lines as pandas, Hugging Face and scripts write them, and what is refused."""

import json
import math

import numpy as np
import pandas as pd
import pytest

from deciban.errors import FormatError
from support.tables import again, read_bytes, written

ROWS = [{"label": 1, "score": 0.5}, {"label": 0, "score": -1}, {"label": 1, "score": 2.25}]


def lines(rows):
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


@pytest.mark.parametrize(
    "data",
    [
        lines(ROWS),
        lines(ROWS).rstrip(),
        b"\xef\xbb\xbf" + lines(ROWS).replace(b"\n", b"\r\n\r\n"),
        pd.DataFrame(ROWS).to_json(orient="records", lines=True).encode(),
        json.dumps(ROWS, indent=1).encode(),
    ],
    ids=["lines", "no line end", "windows", "pandas", "array"],
)
def test_an_object_per_trial(data):
    contents = read_bytes(data, "jsonl", need="scores")
    assert np.array_equal(contents.systems[0].score, [0.5, -1.0, 2.25])
    assert contents.key.is_target.tolist() == [True, False, True]


def test_names_stay_as_they_are_written():
    rows = [{"id": name, "label": "same", "prob": 0.5} for name in ("2020-01-01", "2020-01-02", "007")]
    contents = read_bytes(lines(rows), "jsonl", need="scores")
    trials = contents.index.trials
    assert [trials.name_of(at) for at in range(3)] == ["(2020-01-01)", "(2020-01-02)", "(007)"]
    assert contents.key.is_target.all()


def test_numbers_beside_a_label_are_classes():
    rows = [{"cat": 1.0, "dog": 0.5, "eel": 0, "label": "dog"}, {"cat": 0, "dog": 0.5, "eel": 2, "label": "cat"}]
    contents = read_bytes(lines(rows), "jsonl", need="class-scores")
    assert contents.class_scores.classes == ("cat", "dog", "eel")
    assert [contents.class_key.classes[at] for at in contents.class_key.label] == ["dog", "cat"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"label": 1, "score": 0.5}\n{"label": 0, "sco', "file:2: .* is not a JSON object"),
        (b'{"label": 1, "score": 0.5}\n{"label": 0, }', "JSON parse error"),
        (b'{"label": 1, "score": 0.5} {"label": 0, "score": 1}', "2 objects on 1 lines"),
        (b'{\n"label": 1\n}', "file:1: .* is not a JSON object"),
        (b'{"label": 1, "score": NaN}', "the score is NaN"),
        (b'{"label": 1, "score": 0.5}\n{"label": 0}', "the score is missing"),
        (b'[{"label": 1}, 3]', "but not of objects"),
        (b'{"a":' * 1000 + b"1" + b"}" * 1000, "more than 64 levels of nesting"),
        (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "more than 64 levels of nesting"),
        (b'{"a": "' + b"}" * 1000 + b'", "b": ' + b"[" * 1000 + b"]" * 1000 + b"}", "more than 64 levels of nesting"),
        (b'[{"a": ' + b"[" * 100_000, "RecursionError"),
    ],
    ids=range(11),
)
def test_what_is_refused(data, message):
    with pytest.raises(FormatError, match=message):
        read_bytes(data, "jsonl", need="scores")


def test_written_lines_are_read_by_python_and_here():
    rows = [{"trial": "ü 1", "score": 0.1, "label": "target"}, {"trial": "b", "score": -math.inf, "label": "nontarget"}]
    contents = read_bytes(lines(rows), "jsonl")
    assert [json.loads(line) for line in written(contents, "jsonl").splitlines()] == rows
    found = again(contents, "jsonl")
    assert found.systems[0].score.tolist() == [0.1, -math.inf]
    assert found.key.is_target.tolist() == [True, False]
