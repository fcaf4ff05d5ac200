"""The JSON of every training has one layout, which the package documents as a schema."""

import json

import jsonschema
import numpy as np
import pytest

from deciban import json_schemas, train_files
from deciban.calibration import AffineCalibrator, GaussianBackend, MulticlassCalibrator
from deciban.fusion import LinearFusion, MulticlassFusion

CHECK = jsonschema.Draft202012Validator(json_schemas()["training"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files of three systems of two classes and of three systems of three classes, with labels."""
    at, rng = tmp_path_factory.mktemp("training"), np.random.default_rng(3)
    truth = np.arange(60) % 3
    for name in "abc":
        two = ["trial,score,label"] + [f"t{i},{rng.normal(1.0 - k):.4f},{int(k == 0)}" for i, k in enumerate(truth)]
        (at / f"{name}.csv").write_text("\n".join(two) + "\n")
        many = ["trial,eng,fra,deu,class"]
        for i, k in enumerate(truth):
            cells = ",".join(f"{rng.normal(float(j == k)):.4f}" for j in range(3))
            many.append(f"s{i},{cells},{('eng', 'fra', 'deu')[k]}")
        (at / f"{name}_many.csv").write_text("\n".join(many) + "\n")
    return at


TRAININGS = {
    "calibration": (["a.csv"], AffineCalibrator(), {"cross_validate": 2}),
    "fusion": (["a.csv", "b.csv", "c.csv"], LinearFusion(), {"cross_validate": 2}),
    "selection": (["a.csv", "b.csv"], LinearFusion(), {"select": True, "n_folds": 2}),
    "calibration of classes": (["a_many.csv"], MulticlassCalibrator(), {}),
    "back-end": (["a_many.csv"], GaussianBackend(), {"cross_validate": 2}),
    "fusion of classes": (["a_many.csv", "b_many.csv", "c_many.csv"], MulticlassFusion(), {"cross_validate": 2}),
}


@pytest.mark.parametrize(
    ("name", "tested"), [*((name, True) for name in TRAININGS), ("calibration", False), ("fusion of classes", False)]
)
def test_every_training_has_the_layout(folder, name, tested):
    files, model, how = TRAININGS[name]
    paths = [folder / file for file in files]
    if tested:
        how = {**how, "test_scores": paths}
    done = train_files(paths, None, model, **how)
    told = json.loads(done.to_json())
    CHECK.validate(told)
    assert told["kind"] == ("classes" if "many" in files[0] else "two-class")
    for row in told["rows"]:
        for part in ("dev", "eval"):
            if row[part] is not None:
                assert told[part][row[part]]["name"] == row["name"]
    assert sum(row["dev"] is not None for row in told["rows"]) == len(told["dev"])
    assert (told["eval"] is not None) == tested


def test_what_is_not_in_the_schema_is_noticed(folder):
    told = json.loads(train_files(folder / "a.csv", None, AffineCalibrator()).to_json())
    assert not CHECK.is_valid({**told, "more": 1})
    assert not CHECK.is_valid({name: value for name, value in told.items() if name != "kind"})
    assert not CHECK.is_valid({**told, "rows": [{**told["rows"][0], "role": "best"}]})
