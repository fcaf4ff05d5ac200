"""The commands as users type them: in memory and in batches, one answer, row by row."""

import json
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deciban.io import validation
from deciban.workflows import apply
from deciban.workflows.reading import inputs as opening
from support.commands import terminal

N = 1100
NEAR = {"rel": 1e-9, "abs": 1e-12}


@pytest.fixture
def files(tmp_path):
    """Three systems of two classes, and three of many, each with speakers and conditions, with some ties."""
    rng = np.random.default_rng(8)
    truth, speaker = rng.random(N) < 0.25, rng.integers(0, 40, N)
    about = {"spk": speaker, "gender": np.array(["f", "m"])[speaker % 2]}
    shift = 0.4 * rng.normal(size=40)[speaker]
    spread = {f"s{k}_score": (1.2 + 0.3 * k) * rng.normal(size=N) for k in range(3)}
    columns = {name: np.round(np.where(truth, 1, -1) + shift + own, 2) for name, own in spread.items()}
    pq.write_table(pa.table({**columns, "label": truth, **about}), tmp_path / "two.parquet", row_group_size=100)
    own = {"score": columns["s1_score"], "label": truth, **about}
    pq.write_table(pa.table(own), tmp_path / "one.parquet", row_group_size=100)
    names = {"enroll": [f"m{k % 30}" for k in range(N)], "test": [f"t{k}" for k in range(N)]}
    pq.write_table(pa.table({**names, "score": own["score"]}), tmp_path / "scores.parquet", row_group_size=100)
    pq.write_table(pa.table({**names, "score": columns["s0_score"]}), tmp_path / "more.parquet", row_group_size=100)
    key = pa.table({**names, "label": truth, **about}).take(np.random.default_rng(9).permutation(N))
    pq.write_table(key, tmp_path / "key.parquet", row_group_size=100)
    costs = 'actions = ["accept", "reject", "ask"]\nclasses = ["target", "nontarget"]\n'
    (tmp_path / "costs.toml").write_text(costs + "costs = [[0, 10], [1, 0], [0.2, 0.2]]\n")
    label = rng.integers(0, 3, N // 4)
    told = {"class": np.array(list("xyz"))[label], **{name: column[: N // 4] for name, column in about.items()}}
    told["word"] = np.array([f"speaker {k}" for k in range(40)])[speaker[: N // 4]]
    for k in range(3):
        scores = 1.4 * np.eye(3)[label] + (1.0 + 0.2 * k) * rng.normal(size=(N // 4, 3))
        own = {name: scores[:, at] for at, name in enumerate("xyz")}
        pq.write_table(pa.table({**own, **told}), tmp_path / f"many{k}.parquet", row_group_size=100)
    return tmp_path


CALLS = {
    "two classes": "eval two.parquet --units spk --json",
    "presets and conditions": "eval two.parquet --by gender --equalize gender --units spk --preset sre96-08 --json",
    "classes": "eval many0.parquet --classes x,y,z --units spk --json",
    "classes by condition": "eval many0.parquet --classes x,y,z --units spk --by gender --json",
    "a key": "eval scores.parquet more.parquet --key key.parquet --units spk --by gender --json",
    "cross-validation": "calibrate one.parquet --cross-validate spk -o model.json --json",
    "calibrate": "calibrate one.parquet --units spk -o model.json --json",
    "fuse": "fuse two.parquet --units spk -o model.json --json",
    "fuse two": "fuse two.parquet --columns score=s0_score|s1_score,label=label -o model.json --json",
    "fuse and select": "fuse two.parquet --select --no-intervals -o model.json --json",
    "fuse classes": "fuse many0.parquet many1.parquet many2.parquet --classes x,y,z --by-order -o model.json --json",
    "calibrate classes": "calibrate many0.parquet --classes x,y,z --units spk -o model.json --json",
}


UNLIKE = {"messages", "inputs", "analysis", "files", "gradient_norm", "passes", "status", "steps"}
"""What tells how the files were read, how the search went, and what needs all trials in memory."""

IN_CELLS = {"rel": 1e-6, "abs": 1e-7}
"""Bits delivered: in batches the curve of cross-entropy is made of cells."""


def differences(one, other, where="$"):
    """Places at which two JSON objects differ, numbers by more than a billionth of their size."""
    if isinstance(one, dict) and isinstance(other, dict):
        names = sorted({*one, *other} - UNLIKE)
        return [line for name in names for line in differences(one.get(name), other.get(name), f"{where}.{name}")]
    if isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            return [f"{where}: {len(one)} and {len(other)} entries"]
        return [
            line for k, (a, b) in enumerate(zip(one, other, strict=True)) for line in differences(a, b, f"{where}[{k}]")
        ]
    if isinstance(one, int | float) and isinstance(other, int | float):
        near = IN_CELLS if "delivered" in where else NEAR
        return [] if one == pytest.approx(other, **near) else [f"{where}: {one} and {other}"]
    return [] if one == other else [f"{where}: {one} and {other}"]


@pytest.mark.parametrize("call", CALLS)
def test_commands_give_the_same_at_every_size(files, monkeypatch, capsysbinary, call):
    monkeypatch.chdir(files)
    run, found = terminal(monkeypatch, capsysbinary), []
    for _ in range(2):
        code, out, messages = run(CALLS[call])
        assert code == 0, messages
        found.append((json.loads(out), messages))
        monkeypatch.setattr(opening, "memory_of", lambda *_: 1 << 60)
        monkeypatch.setattr(apply, "memory_of", lambda *_: 1 << 60)
    (whole, of_memory), (partitions, of_partitions) = found
    assert "read more than once" in of_partitions
    assert "read more than once" not in of_memory
    assert differences(whole, partitions) == []


def test_units_may_be_whole_numbers(files, monkeypatch, capsysbinary):
    """A column of integers names the same units as one of words, also of many classes and beyond memory."""
    monkeypatch.chdir(files)
    run, found = terminal(monkeypatch, capsysbinary), []
    for _ in range(2):
        for column in ("spk", "word"):
            code, out, messages = run(f"eval many0.parquet --classes x,y,z --units {column} --no-pairs --json")
            assert code == 0, messages
            found.append(json.loads(out)["systems"][0])
        monkeypatch.setattr(opening, "memory_of", lambda *_: 1 << 60)
    for one in found:
        assert one["units"]["n"] == found[0]["units"]["n"] == 40
        assert one["intervals"]["cllr"]["low"] == pytest.approx(found[0]["intervals"]["cllr"]["low"])
        assert one["cllr"] == pytest.approx(found[0]["cllr"])


WRITTEN = {
    "apply": (
        "calibrate scores.parquet --key key.parquet --no-intervals -o model.json",
        "apply model.json scores.parquet -o out.parquet",
    ),
    "apply a fusion": (
        "fuse scores.parquet more.parquet --key key.parquet --no-intervals -o model.json",
        "apply model.json scores.parquet more.parquet -o out.parquet",
    ),
    "convert": ("convert scores.parquet out.parquet",),
    "decide": ("decide scores.parquet --costs costs.toml --prior 0.1 -o out.parquet",),
}
"""Commands that write out.parquet."""


def without_memory(monkeypatch):
    """Have every command read its inputs in batches, of 100 rows here."""
    for module in (opening, apply, sys.modules["deciban.io.writing"], validation):
        monkeypatch.setattr(module, "memory_of", lambda *_: 1 << 60)


@pytest.mark.parametrize("calls", WRITTEN)
def test_commands_write_the_same_at_every_size(files, monkeypatch, capsysbinary, calls):
    monkeypatch.chdir(files)
    run, found = terminal(monkeypatch, capsysbinary), []
    for _ in range(2):
        for call in WRITTEN[calls]:
            code, _, messages = run(call)
            assert code == 0, messages
        found.append(pq.read_table("out.parquet").to_pylist())
        without_memory(monkeypatch)
    assert len(found[0]) == N
    assert differences(*found) == []


@pytest.mark.parametrize("scores", ["scores.parquet", "wrong.parquet"])
def test_lists_are_validated_alike_at_every_size(files, monkeypatch, capsysbinary, scores):
    monkeypatch.chdir(files)
    table = pq.read_table("scores.parquet")
    pq.write_table(pa.concat_tables([table.slice(3), table.slice(5, 2)]), "wrong.parquet", row_group_size=100)
    run, found = terminal(monkeypatch, capsysbinary), []
    for _ in range(2):
        code, out, messages = run(f"validate {scores} --trials key.parquet --any-order")
        found.append((code, out, [line for line in messages.splitlines() if not line.startswith(("trials", "scores"))]))
        without_memory(monkeypatch)
    assert found[0] == found[1]
    assert (found[0][0] == 0) == (scores == "scores.parquet")


ANY_GROUPS = {
    "summarize": ("summarize one.parquet --units spk -o a.summary", "eval a.summary --json"),
    "summarize classes": ("summarize many0.parquet --classes x,y,z --units spk -o a.summary", "eval a.summary --json"),
    "merge": (
        "summarize scores.parquet --key key.parquet -o a.summary",
        "summarize more.parquet --key key.parquet -o b.summary",
        "merge a.summary b.summary -o c.summary",
        "eval c.summary --no-intervals --json",
    ),
    "compare": ("compare scores.parquet more.parquet --key key.parquet --units spk --json",),
}
"""Commands whose batches are the row groups of files, whatever the memory; the last one prints JSON."""


@pytest.mark.parametrize("calls", ANY_GROUPS)
def test_commands_give_the_same_for_row_groups_of_any_size(files, monkeypatch, capsysbinary, calls):
    monkeypatch.chdir(files)
    run, found, rows = terminal(monkeypatch, capsysbinary), [], []
    for _ in range(2):
        for call in ANY_GROUPS[calls]:
            code, out, messages = run(call)
            assert code == 0, messages
        found.append(json.loads(out))
        rows.append([pq.read_table(path).to_pylist() for path in sorted(files.glob("*.summary"))])
        for path in files.glob("*.summary"):
            path.unlink()
        for path in files.glob("*.parquet"):
            pq.write_table(pq.read_table(path), path, row_group_size=N)
    assert pq.read_metadata(files / "one.parquet").num_row_groups == 1
    assert differences(*found) == []
    assert differences(*rows) == []
