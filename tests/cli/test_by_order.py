"""``--where`` with ``--by-order``: trials are matched before some of them are chosen."""

import json
from pathlib import Path

import numpy as np
import pytest

from support.both_kinds import MADE, SEX
from support.class_files import CLASSES


@pytest.mark.parametrize("kind", MADE)
def test_trials_are_chosen_after_they_were_matched(kind, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = MADE[kind](tmp_path)
    np.save("s.npy", files.values[0][::-1])  # as the key lists them, without names
    words = f"eval s.npy --key key.csv --kind {kind} --by-order --where sex=f --json"
    words += f" --classes {','.join(CLASSES)}" if kind == "classes" else ""
    code, out, err = run(words)
    assert code == 0, err
    (found,) = json.loads(out)["systems"]
    expected = files.evaluated(files.values[0], np.flatnonzero(SEX == "f"))
    assert found["cllr"] == pytest.approx(expected.cllr, rel=1e-9)
    assert json.loads(out)["join"]["matched"] == int((SEX == "f").sum())
    np.save("s.npy", files.values[0][SEX == "f"])
    code, out, err = run(words)
    assert (code, out) == (2, "")
    assert "90" in err
    assert not Path("report.html").exists()
