"""Every command prints one JSON object with --json, as the schemas of the package say, and tables that fit."""

import contextlib
import hashlib
import json
import re
import shutil
from pathlib import Path

import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deciban
from deciban.cli.main import COMMANDS
from deciban.errors import Message
from support.commands import printed_table

N = 240


@pytest.fixture
def here(made, tmp_path, monkeypatch):
    """A folder of one's own with these files."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("deciban.io.demos._SPEAKERS", 20)
    return tmp_path


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two systems of two classes with their key, and two of four classes with theirs."""
    folder = tmp_path_factory.mktemp("made")
    with contextlib.chdir(folder):
        _make()
    return folder


def _make():
    rng = np.random.default_rng(2)
    truth = np.arange(N) % 4 == 0
    Path("key.txt").write_text(
        "".join(f"m{i % 7} s{i} {'target' if t else 'nontarget'}\n" for i, t in enumerate(truth))
    )
    for name in ("a", "a_system_of_a_long_name_that_no_narrow_window_has_room_for"):
        Path(f"{name}.txt").write_text(
            "".join(f"m{i % 7} s{i} {rng.normal(2.0 * t):.4f}\n" for i, t in enumerate(truth))
        )
    kinds = [("target", ""), ("nontarget", ""), ("spoof", "A1"), ("spoof", "A2")]
    rows = (f"{k},{a},{rng.normal(2.0 * (k == 'target')):.4f}\n" for k, a in kinds * (N // 4))
    Path("three.csv").write_text("label,attack,score\n" + "".join(rows))
    rows = (
        f"g{k},p{i},{'target' if k == i % 8 else 'nontarget'},{rng.normal(2.0 * (k == i % 8)):.4f}\n"
        for k in range(6)
        for i in range(24)
    )
    Path("faces.csv").write_text("enroll,test,label,score\n" + "".join(rows))
    rows = (f"{'bonafide' if t else 'spoof'},{rng.normal(2.0 * t):.4f}\n" for t in truth)
    Path("cm.csv").write_text("label,score\n" + "".join(rows))
    label = np.arange(N) % 4
    for name in "cd":
        score = rng.normal(size=(N, 4)) + 1.5 * np.eye(4)[label]
        np.save(f"{name}.npy", score)
    np.save("label.npy", label)
    Path("costs.toml").write_text('actions = ["yes", "no"]\nclasses = ["t", "n"]\ncosts = [[0, 1], [5, 0]]')
    pq.write_table(pa.table({"score": rng.normal(2.0 * truth), "label": truth}), "trials.parquet")
    deciban.summarize_files("trials.parquet", "trials.summary")
    deciban.calibration.AffineCalibrator().fit(rng.normal(2.0 * truth), truth).save("calibration.json")
    Path("method.toml").write_text('[[criterion]]\ncharacteristic = "accuracy"\nrequire = "cllr<=9"\n')
    Path("saved.json").write_text(deciban.evaluate_files("trials.parquet").to_json())


LONG = "a_system_of_a_long_name_that_no_narrow_window_has_room_for.txt"
CALLS = [
    "eval a.txt --key key.txt --preset sre12",
    f"eval a.txt {LONG} --key key.txt --dcf 0.01:10:1 --dcf 0.5 --name a=first",
    "eval a.txt --key key.txt --eer-conventions --classifier --fnmr-at 0,0.1 --fmr-at 0.1 --posteriors-at 0.5",
    "eval a.txt --key key.txt --threshold-from a.txt --threshold-key key.txt",
    "eval three.csv --preset asvspoof5 --by attack --units trials",
    "eval cm.csv --asv three.csv --preset asvspoof2019",
    "eval c.npy d.npy --key label.npy --p-target 0.1 --p-target 0.5",
    "eval c.npy --key label.npy --no-pairs --no-subsets",
    "eval c.npy --key label.npy --out-of-set 0.2",
    "eval a.txt --key key.txt --by enroll --equalize enroll --dcf 0.1 --dcf 0.5",
    f"compare a.txt {LONG} --key key.txt --dcf 0.1 --dcf 0.5 --permutations 99 --units trials",
    f"report a.txt {LONG} --key key.txt -o page.html --train a.txt --train {LONG} --train-key key.txt",
    "compare c.npy d.npy --key label.npy --against first --no-optimism",
    "report c.npy --key label.npy -o page.html",
    "plot det a.txt --key key.txt -o det.svg",
    "plot confusion c.npy --key label.npy -o confusion.svg",
    f"plot forest a.txt {LONG} --key key.txt --units trials -o forest.svg",
    "plot by-condition a.txt --key key.txt --by enroll -o by.svg",
    f"plot dev-and-eval a.txt --key key.txt --dev {LONG} --dev-key key.txt -o dev.svg",
    f"plot score-scatter a.txt {LONG} --key key.txt -o scatter.svg",
    "plot rule-weights --rule 1,1 --rule 2,0.5 -o rules.svg",
    "calibrate a.txt --key key.txt -o model.json --cross-validate 3 --llrs llr.txt",
    "calibrate c.npy --key label.npy -o model.json",
    f"fuse a.txt {LONG} --key key.txt -o model.json --apply-to a.txt --apply-to {LONG} --apply-key key.txt",
    f"fuse a.txt {LONG} --key key.txt -o model.json --select",
    "fuse c.npy d.npy --key label.npy -o model.json",
    "convert a.txt a.h5",
    "normalize a.txt --enroll-cohort a.txt -o normalized.txt",
    "validate a.txt --trials key.txt",
    f"inspect a.txt key.txt c.npy {LONG}",
    "formats",
    "presets",
    "presets lre09-open",
    "summarize trials.parquet -o new.summary --units trials",
    "merge trials.summary -o new.summary",
    "eval trials.summary",
    "plan a.txt --key key.txt --width 0.1 --segments 3,10 -o plan.svg",
    f"plan a.txt {LONG} --key key.txt --figure cllr --difference 0.1 --power 0.9 --units trials",
    "decide --costs costs.toml --prior 0.1 --explain",
    "decide a.txt --costs costs.toml --prior 0.1 --key key.txt -o decisions.csv",
    "objective --range 0.001 0.01",
    "export calibration.json --to python -o llr.py",
    "export calibration.json --to json-table -o llr.json",
    "statement --llr 5.8 --propositions same different --scale enfsi2015 --interval 4 7",
    "statement --llr -0.2 --propositions same different",
    "check saved.json --require eer<=1",
    "leaderboard saved.json -o board.html",
    "objective --alpha 2 --beta 1 --dcf 0.1 -o omega.svg",
    "check saved.json --criteria method.toml",
    "demo demo --force",
    "demo field --field spoofing",
    "demo field --field biometrics",
    "identify faces.csv --fpir 0.1",
    "plot cmc faces.csv -o cmc.svg",
]


@pytest.fixture(scope="module")
def validators():
    """By command."""
    return {name: jsonschema.Draft202012Validator(schema) for name, schema in deciban.json_schemas().items()}


def test_schemas_are_sound():
    common = None
    for schema in deciban.json_schemas().values():
        shared = schema.pop("$defs")["common"]
        assert common in (None, shared)
        common = shared
        jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator.check_schema(common)


@pytest.mark.usefixtures("here", "sketches")
@pytest.mark.parametrize("call", CALLS)
def test_json_is_as_the_schema_says(call, run, validators):
    code, out, err = run(f"{call} --json")
    assert code == 0, err
    found = json.loads(out, parse_constant=pytest.fail)
    name = call.split()[0]
    validators[name].validate(found)
    assert (found["command"], found["deciban_version"]) == (name, deciban.__version__)
    told = [str(Message(one["kind"], one["source"], one["text"])) for one in found["messages"]]
    said = err.splitlines()
    assert all(line in said for line in told)
    for one in found["files"]:
        content = Path(one["path"]).read_bytes()
        assert (one["size"], one["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())
    named = {word for word in call.split() if Path(word).is_file()}
    assert named <= {one["path"] for one in found["files"]}


def parts_of(schema):
    """All schemas that a schema is made of."""
    if isinstance(schema, dict):
        yield schema
        for one in schema.values():
            yield from parts_of(one)
    elif isinstance(schema, list):
        for one in schema:
            yield from parts_of(one)


def test_no_object_may_have_keys_that_the_schema_does_not_name():
    shared = (
        "envelope",
        "results",
        "comparison",
        "training",
        "decided",
        "fused_spoofing",
    )  # parts of objects, which are closed as a whole
    for name, schema in deciban.json_schemas().items():
        assert schema["unevaluatedProperties"] is False, name
        common = schema.pop("$defs")["common"]["$defs"]
        objects = [schema.get("properties"), *(one for part, one in common.items() if part not in shared)]
        objects += [common[part]["properties"] for part in shared]
        for one in parts_of(objects):
            if "properties" in one and "object" in one.get("type", ()):
                assert one.get("additionalProperties") is False, one


def test_long_lists_of_numbers_need_no_reference_for_each():
    """To look one up for each of 10,000 numbers took validators half a minute."""
    for name, schema in deciban.json_schemas().items():
        items = [part["items"] for part in parts_of(schema) if isinstance(part.get("items"), dict)]
        assert not [one for one in items if one.get("$ref", "").endswith(("/metric", "/figure_or_null"))], name


def test_no_command_is_forgotten():
    assert {call.split()[0] for call in CALLS} | {"apply"} == set(COMMANDS)
    assert set(COMMANDS) | {"results", "training"} == set(deciban.json_schemas())


@pytest.mark.usefixtures("here")
def test_json_of_apply(run):
    assert run("calibrate a.txt --key key.txt -o model.json -q")[0] == 0
    for out, paths in (("llr.txt", ["llr.txt"]), ("llrs/", ["llrs/a.txt"])):
        found = json.loads(run(f"apply model.json a.txt -o {out} --json")[1])
        jsonschema.Draft202012Validator(deciban.json_schemas()["apply"]).validate(found)
        assert [one["path"] for one in found["files"] if one["role"] == "output"] == paths
        assert (found["kind"], found["model"]) == ("two-class", {"kind": "affine"})
    for call in ("apply model.json a.txt -o -", "convert a.txt - --to kaldi", "report a.txt --key key.txt -o -"):
        code, out, err = run(f"{call} --json")
        assert (code, out) == (2, "")
        assert "both the output (-) and --json go to standard output" in err


@pytest.mark.usefixtures("here")
def test_options_are_those_that_were_typed(run):
    call = "eval a.txt --key key.txt --dcf 0.01:10:1 --missing drop --where x=1 --json -q"
    Path("key.txt").write_text(
        "enroll,test,label,x\n" + "".join(f"m{i % 7},s{i},{int(i % 4 == 0)},1\n" for i in range(N))
    )
    found = json.loads(run(call)[1])
    assert found["options"] == {
        "key": "key.txt",
        "dcf": [[0.01, 10.0, 1.0]],
        "missing": "drop",
        "where": {"x": ["1"]},
        "quiet": True,
    }
    assert found["preset"] is None
    assert json.loads(run("eval a.txt --key key.txt --preset sre12 --json -q")[1])["preset"] == "sre12"


@pytest.mark.usefixtures("here")
def test_what_is_read_once_has_no_hash(run):
    found = json.loads(run("eval - --key key.txt --json -q", stdin=Path("a.txt").read_bytes())[1])
    assert found["files"][0] == {"role": "scores", "path": "-", "size": None, "sha256": None}


@pytest.mark.usefixtures("here")
def test_a_failed_validation_is_json_too(run):
    Path("b.txt").write_text("".join(Path("a.txt").read_text().splitlines(keepends=True)[1:]))
    code, out, _ = run("validate b.txt --trials key.txt --json")
    found = json.loads(out)
    jsonschema.Draft202012Validator(deciban.json_schemas()["validate"]).validate(found)
    assert (code, found["valid"]) == (2, False)
    assert "without a score" in found["faults"][0]


TABLES = [
    call for call in CALLS if call.split()[0] not in ("plot", "convert", "normalize", "validate", "summarize", "merge")
]
WIDE = {call.split()[0]: call for call in TABLES if call.split()[0] in ("eval", "compare", "fuse", "inspect", "plan")}


@pytest.mark.usefixtures("here", "sketches")
@pytest.mark.parametrize(("call", "width"), [(call, 60) for call in TABLES] + [(call, 200) for call in WIDE.values()])
def test_tables_fit_the_window(call, width, run, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    code, out, err = run(call)
    assert code == 0, err
    lines = out.splitlines()
    if call.startswith("demo"):  # which ends in a command to copy
        lines = lines[: next(at for at, line in enumerate(lines) if line.startswith("wrote "))]
    assert max(map(len, lines)) <= width
    assert all(line == line.rstrip() for line in lines)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("style", ["csv", "markdown", "latex"])
def test_styles_have_the_figures_of_the_plain_table(style, run):
    call = "eval a.txt --key key.txt --dcf 0.5 -q"
    cells = list(printed_table(run(call)[1])["a"].values())
    metrics = [metric for cell in cells for metric in re.findall(r"[\d.]+", cell)]
    assert len(metrics) == 3 * len(cells) == 3 * 7  # each with both bounds
    row = next(line for line in run(f"{call} --table {style}")[1].splitlines() if metrics[3] in line)
    for metric in metrics:
        assert metric in row
    code, _, err = run(f"{call} --table {style} --json")
    assert code == 2
    assert "--json prints no tables" in err


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("style", ["csv", "markdown", "latex"])
def test_every_column_for_programs_has_a_name_of_its_own(style, run):
    words = "--thresholds --misleading --eer-conventions --fnmr-at 0.1 --posteriors-at 0.5 -q"
    for call in (f"eval a.txt {LONG} --key key.txt {words}", "inspect a.txt key.txt"):
        out = run(f"{call} --table {style}")[1]
        mark = {"csv": ",", "markdown": " | ", "latex": " & "}[style]
        rows = [
            [cell.strip("| ") for cell in line.removesuffix(r"\\").split(mark)]
            for line in out.splitlines()
            if mark in line
        ]
        headings = [row for row in rows if row[0] in ("system", "EER", "property")]
        assert len(headings) == (2 if call.startswith("inspect") else 7)
        assert all(all(row) and len(set(row)) == len(row) for row in headings)
