"""fuse, and apply of fusions, on scores of many classes."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

from deciban import load_model
from deciban.io import read_class_scores
from support.class_files import trials, write_key, write_table
from support.many_classes import cross_entropy

pytestmark = pytest.mark.usefixtures("files")


def test_fuse_finds_the_optimum_and_apply_writes_it(files, run):
    loglik, label = files
    other, _ = trials(seed=2, strength=1.0)
    words = "sysA.csv sysB.csv --key key.csv -o fusion.json --llrs fused.csv"
    code, out, err = run("fuse", *words.split())
    assert code == 0, err

    def objective(x):
        return cross_entropy(x[0] * loglik + x[1] * other + np.append(x[2:], 0), label)

    best = minimize(objective, np.r_[1.0, 1.0, 0.0, 0.0], method="BFGS", options={"gtol": 1e-9}).x
    model = load_model("fusion.json")
    np.testing.assert_allclose(model.weights_, best[:2], rtol=1e-5)
    offset = np.append(best[2:], 0)
    expected = best[0] * loglik + best[1] * other + offset - offset.mean()
    np.testing.assert_allclose(read_class_scores("fused.csv").score, expected, atol=1e-4)
    assert f"weight of sysA {best[0]:.3f}" in re.sub(r"(\.\d{3})\d*", r"\1", out)
    # By their names in another order, and under other names in the order given.
    code, _, err = run("apply", "fusion.json", "sysB.csv", "sysA.csv", "-o", "again.csv")
    assert code == 0, err
    np.testing.assert_allclose(read_class_scores("again.csv").score, expected, atol=1e-4)
    Path("x.csv").write_text(Path("sysA.csv").read_text())
    Path("y.csv").write_text(Path("sysB.csv").read_text())
    code, _, err = run("apply", "fusion.json", "x.csv", "y.csv", "-o", "third.csv")
    assert code == 0, err
    assert "in the order given: x as sysA, y as sysB" in err
    np.testing.assert_allclose(read_class_scores("third.csv").score, expected, atol=1e-4)


def test_fuse_on_development_and_test(run):
    test, test_label = trials(seed=5)
    more, _ = trials(seed=6, strength=1.0)
    write_table("tA.csv", test)
    write_table("tB.csv", more)
    write_key("t.key", test_label)
    third, _ = trials(seed=7, strength=0.5)
    write_table("sysC.csv", third)
    write_table("tC.csv", trials(seed=8, strength=0.5)[0])
    words = "sysA.csv sysB.csv sysC.csv --key key.csv -o fusion.json --cross-validate 5 --no-offsets"
    applied = "--apply-to tA.csv --apply-to tB.csv --apply-to tC.csv --apply-key t.key --json"
    code, out, err = run("fuse", *words.split(), *applied.split())
    assert code == 0, err
    told = json.loads(out)
    assert [one["name"] for one in told["systems"]] == [
        *("sysA", "sysB", "sysC", "without sysA", "without sysB", "without sysC", "fusion", "fusion (cross-validated)")
    ]
    by_name = {one["name"]: one for one in told["systems"]}
    assert all(by_name["fusion"]["cllr"] <= by_name[f"without sys{x}"]["cllr"] + 1e-12 for x in "ABC")
    assert [one["name"] for one in told["test"]] == [
        *("sysA", "sysB", "sysC", "without sysA", "without sysB", "without sysC", "fusion")
    ]
    model = load_model("fusion.json")
    assert not model.offset_.any()
    weights = model.weights_
    expected = sum(w * x for w, x in zip(weights, (test, more, trials(seed=8, strength=0.5)[0]), strict=True))
    assert told["test"][-1]["cllr"] == pytest.approx(cross_entropy(expected, test_label) / math.log(2))
