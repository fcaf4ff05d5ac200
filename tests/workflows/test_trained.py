"""The record of training for machines: one layout for calibrations and fusions of both kinds."""

import json

import pytest

from deciban import evaluate_files, train_files

KEYS = {"schema", "kind", "model", "rows", "dev", "eval", "analysis", "selection", "join", "inputs", "conventions"}


def strict(text):
    """JSON that any parser reads: no NaN, no Infinity."""
    return json.loads(text, parse_constant=pytest.fail)


@pytest.mark.parametrize("is_fusion", [False, True])
@pytest.mark.parametrize("with_test", [False, True])
def test_one_layout_for_all(both, is_fusion, with_test):
    model = both.fusion() if is_fusion else both.calibrator()
    paths = both.paths if is_fusion else both.paths[:1]
    test = {"test_scores": paths, "test_key": both.key} if with_test else {}
    done = train_files(paths, both.key, model, cross_validate=3, **test)
    told = strict(done.to_json())
    assert told.keys() >= KEYS
    assert told["kind"] == both.name
    assert told["model"]["kind"] == model.kind
    assert told["inputs"] == list(done.message_lines)
    assert told["join"] == {"matched": 90, "missing": 0, "extra": 0, "duplicate": 0}
    assert told["rows"]
    for row, metrics in zip(told["rows"], done.rows, strict=True):
        assert (row["name"], row["role"]) == (metrics.name, metrics.role)
        assert told["dev"][row["dev"]]["cllr"] == pytest.approx(metrics.dev.cllr)
        assert told["dev"][row["dev"]]["kind"] == both.name
        if metrics.eval is None:
            assert row["eval"] is None
        else:
            assert told["eval"][row["eval"]]["cllr"] == pytest.approx(metrics.eval.cllr)
    assert sorted(row["dev"] for row in told["rows"]) == list(range(len(told["dev"])))
    assert (told["eval"] is None) == (not with_test)
    assert (told["analysis"] is None) == (not is_fusion or both.name == "classes")
    assert told["selection"] is None


def test_results_say_what_they_are_about(both):
    told = strict(evaluate_files(both.paths, both.key).to_json())
    assert told["kind"] == both.name
    assert [one["kind"] for one in told["systems"]] == [both.name] * 2


def test_conventions_are_those_of_the_evaluations(both):
    done = train_files(both.paths, both.key, both.fusion()).to_dict()
    assert done["conventions"] == evaluate_files(both.paths, both.key).to_dict()["conventions"]


def test_equal_runs_are_equal(both):
    one, other = (train_files(both.paths, both.key, both.fusion(), cross_validate=3) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert one != train_files(both.paths, both.key, both.fusion(), cross_validate=4)
    assert one != "a run"
