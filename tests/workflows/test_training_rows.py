"""The rows that say what a trained model is worth: each with a name of its own, whatever systems are called."""

import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deciban import train_files
from deciban.fusion import LinearFusion, MulticlassFusion
from deciban.workflows.evaluate import evaluate_model
from deciban.workflows.options import Options
from deciban.workflows.reading import inputs as opening
from deciban.workflows.reading.inputs import opened
from deciban.workflows.train.rows import Compared, rows_of_model
from support.class_files import CLASSES, trials, write_key, write_table


def test_a_system_may_be_called_as_the_fusion_is(both):
    for old, new in (("a", "fusion"), ("b", "without fusion")):
        shutil.move(both.folder / f"{old}.csv", both.folder / f"{new}.csv")
    shutil.copy(both.folder / "fusion.csv", both.folder / "third.csv")
    text = (both.folder / "third.csv").read_text().splitlines()
    # The third is the first one with the scores of its segments moved by one class or trial.
    numbers = [line.partition(",")[2] for line in text[1:]]
    moved = [
        f"{line.partition(',')[0]},{other}" for line, other in zip(text[1:], numbers[3:] + numbers[:3], strict=True)
    ]
    (both.folder / "third.csv").write_text("\n".join([text[0], *moved]) + "\n")
    paths = [both.folder / f"{name}.csv" for name in ("fusion", "without fusion", "third")]
    done = train_files(paths, both.key, both.fusion(ridge=0.01), cross_validate=3)
    names = [row.name for row in done.rows]
    assert len(set(names)) == len(names)
    assert {"fusion", "without fusion", "third"} < set(names)
    (fusion,) = [row.name for row in done.rows if row.role == "fusion"]
    assert fusion.startswith("fusion #")
    told = done.to_dict()
    assert [one["name"] for one in told["dev"]] == names
    assert repr(done.after.name) in done.summary[-1]


def opposed(n=150):
    """Three systems of three classes: the second one helps the first one, and misleads without it.

    It is minus the error of the first, so that it takes a positive weight beside it and a negative one alone. And it
    excludes a class: by a negative weight that would make it certain.
    """
    rng = np.random.default_rng(6)
    label = np.arange(n) % 3
    truth = np.eye(3)[label]
    error = rng.normal(size=(n, 3))
    first = truth + error
    second = -error - 0.5 * truth + 0.6 * rng.normal(size=(n, 3))
    second[0, 1] = -np.inf  # the first segment is of class 0
    third = 0.5 * truth + rng.normal(size=(n, 3))
    return [first, second, third], label


def test_a_fusion_without_one_system_that_cannot_be_trained_is_a_row_with_a_note(tmp_path):
    systems, label = opposed()
    for name, loglik in zip("abc", systems, strict=True):
        write_table(tmp_path / f"{name}.csv", loglik)
    write_key(tmp_path / "key.csv", label)
    done = train_files([tmp_path / f"{name}.csv" for name in "abc"], tmp_path / "key.csv", MulticlassFusion())
    assert done.model.weights_[1] > 0
    rows = {row.name: row for row in done.rows}
    assert list(rows) == ["a", "b", "c", "without a", "without b", "without c", "fusion"]
    assert rows["without a"].dev is None
    assert rows["without a"].note.startswith("not trained: ")
    assert all(row.dev is not None and not row.note for name, row in rows.items() if name != "without a")
    pair = MulticlassFusion().fit(np.stack([systems[0], systems[2]], axis=1), label)
    assert rows["without b"].dev.cllr == pytest.approx(_cllr(pair.transform(np.stack(systems[::2], axis=1)), label))
    told = {row["name"]: row for row in done.to_dict()["rows"]}
    assert (told["without a"]["dev"], told["without a"]["eval"]) == (None, None)
    assert told["without a"]["note"] == rows["without a"].note
    assert done.to_dict()["dev"][told["fusion"]["dev"]]["name"] == "fusion"


def _cllr(loglik, label):
    shifted = loglik - loglik.max(axis=1, keepdims=True)
    surprise = np.log2(np.exp(shifted).sum(axis=1)) - shifted[np.arange(len(label)), label] / np.log(2)
    return np.mean([surprise[label == k].mean() for k in range(3)])


def test_rows_on_other_trials_of_classes(tmp_path):
    for name, seeds in (("dev", (1, 2)), ("eval", (3, 4))):
        for system, seed in zip("ab", seeds, strict=True):
            write_table(tmp_path / f"{name}.{system}.csv", trials(seed)[0])
        write_key(tmp_path / f"{name}.key", trials(1)[1])
    paths = {name: [tmp_path / f"{name}.{system}.csv" for system in "ab"] for name in ("dev", "eval")}
    done = train_files(
        paths["dev"],
        tmp_path / "dev.key",
        MulticlassFusion(),
        test_scores=paths["eval"],
        test_key=tmp_path / "eval.key",
    )
    label = trials(1)[1]
    model = MulticlassFusion().fit(np.stack([trials(1)[0], trials(2)[0]], axis=1), label)
    new = np.stack([trials(3)[0], trials(4)[0]], axis=1)
    assert [row.name for row in done.rows] == ["dev.a", "dev.b", "fusion"]
    assert done.rows[-1].eval.cllr == pytest.approx(_cllr(model.transform(new), label), rel=1e-7)
    assert done.rows[0].eval.cllr == pytest.approx(_cllr(new[:, 0], label), rel=1e-9)
    assert done.test.classes == CLASSES
    assert not any("are optimistic" in line for line in done.summary)


def modelled(model, paths, key):
    return evaluate_model(model, opened(paths, key, Options()), Options())


def metrics_of(folder, model, train):
    """What is found of a fusion of three systems of classes on trials of training, and on others."""
    test, every = (
        modelled(model, [folder / f"{name}.{system}.csv" for system in "abc"], folder / f"{name}.key")
        for name in ("eval", train)
    )
    return rows_of_model(model, Compared(*every.trials), Compared(*test.trials), lambda _words: None)


@pytest.mark.parametrize(("same", "n_systems"), [(True, 3), (False, 2)])
def test_rows_of_two_classes_are_those_of_memory_at_every_size(tmp_path, monkeypatch, same, n_systems):
    rng, systems = np.random.default_rng(8), [f"s{k}" for k in range(n_systems)]
    for name in ("dev", "eval"):
        truth, names = rng.random(500) < 0.3, [f"t{k}" for k in range(500)]
        scores = np.stack([rng.normal(size=500) + (0.5 + k) * truth for k in range(n_systems)], axis=1)
        pq.write_table(pa.table({"trial": names, "label": truth}), tmp_path / f"{name}.key.parquet")
        for k, system in enumerate(systems):
            table = pa.table({"trial": names, "score": scores[:, k]})
            pq.write_table(table, tmp_path / f"{name}.{system}.parquet", row_group_size=100)
        if (name == "dev") == same:
            model = LinearFusion().fit(scores, truth)

    def evaluated(name):
        paths = [tmp_path / f"{name}.{one}.parquet" for one in systems]
        return Compared(*modelled(model, paths, tmp_path / f"{name}.key.parquet").trials)

    def found():
        return rows_of_model(model, evaluated("dev"), evaluated("eval"), lambda _words: None)

    whole = found()
    monkeypatch.setattr(opening, "memory_of", lambda *_: 1 << 60)
    partitions = found()
    assert (partitions.names, partitions.is_of_training, partitions.analysis) == (
        whole.names,
        whole.is_of_training,
        None,
    )
    made, expected = ((*one.rows, one.whole, *one.without) for one in (partitions, whole))
    for one, other in zip(made, expected, strict=True):
        assert one.role == other.role
        assert one.name == other.name or one is partitions.whole
        for own, theirs in ((one.dev, other.dev), (one.eval, other.eval)):
            values, known = ((some.cllr, some.min_cllr, some.eer) for some in (own, theirs))
            assert values == pytest.approx(known, rel=1e-7)


def test_systems_of_classes_alone_and_left_out_are_trained_anew(tmp_path):
    values = {}
    for first, name in enumerate(("dev", "eval")):
        values[name] = np.stack([trials(3 * first + k, 60)[0] for k in range(3)], axis=1)
        for k, system in enumerate("abc"):
            write_table(tmp_path / f"{name}.{system}.csv", values[name][:, k])
        write_key(tmp_path / f"{name}.key", trials(1, 60)[1])
    label = trials(1, 60)[1]
    model = MulticlassFusion(ridge=0.1, prior=[0.5, 0.3, 0.2]).fit(values["dev"], label, classes=CLASSES)
    found = metrics_of(tmp_path, model, "dev")
    names = ["dev.a", "dev.b", "dev.c"]
    assert [row.name for row in found.rows] == [*names, *(f"without {name}" for name in names), "fusion"]
    assert [row.role for row in found.rows] == ["single"] * 3 + ["leave-one-out"] * 3 + ["fusion"]
    assert (found.is_of_training, found.analysis, found.names) == (True, None, tuple(names))
    assert found.whole.eval.cllr == pytest.approx(_cllr(model.transform(values["eval"]), label))
    for k in range(3):
        for row, some in ((found.rows[k], [k]), (found.without[k], [j for j in range(3) if j != k])):
            own = MulticlassFusion(ridge=0.1, prior=[0.5, 0.3, 0.2]).fit(values["dev"][:, some], label)
            assert row.dev.cllr == pytest.approx(_cllr(own.transform(values["dev"][:, some]), label))
            assert row.eval.cllr == pytest.approx(_cllr(own.transform(values["eval"][:, some]), label))
    other = metrics_of(tmp_path, model, "eval")
    assert [row.name for row in other.rows[-2:]] == ["fusion, trained on these trials", "fusion"]
    assert (other.is_of_training, other.whole) == (False, other.rows[-2])
    own = MulticlassFusion(ridge=0.1, prior=[0.5, 0.3, 0.2]).fit(values["eval"], label)
    assert other.whole.dev.cllr == pytest.approx(_cllr(own.transform(values["eval"]), label))
    assert other.rows[-1].dev.cllr == pytest.approx(_cllr(model.transform(values["eval"]), label))
