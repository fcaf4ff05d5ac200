"""The page on biometrics, and the protocol that prints error rates instead of costs."""

from pathlib import Path

import numpy as np
import pytest

from support.pages import page, run_python


def test_its_python_prints_what_it_shows():
    assert run_python(page("biometrics.md")) == 1


@pytest.fixture
def scores(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    rows = [
        f"{label},{rng.normal(mean):.4f}\n" for label, mean, n in (("1", 3, 500), ("0", 0, 20000)) for _ in range(n)
    ]
    (tmp_path / "faces.csv").write_text("label,score\n" + "".join(rows))
    return np.array([float(row.split(",")[1]) for row in rows]), np.arange(len(rows)) < 500


def test_the_protocol_prints_rates_with_numbers_of_errors(scores, run):
    score, is_mated = scores
    code, out, err = run("eval faces.csv --preset iso19795 --units trials -q")
    assert code == 0, err
    first, *rows = out.splitlines()[:6]
    assert "Cllr" not in first
    assert "DCF" not in first
    for row, limit in zip(rows, (1e-2, 1e-3, 1e-4, 1e-5, 1e-6), strict=True):
        at = min(t for t in np.append(np.unique(score), np.inf) if (score[~is_mated] >= t).mean() <= limit)
        n_missed, n_false = (score[is_mated] < at).sum(), (score[~is_mated] >= at).sum()
        assert f"{100 * limit:.6g} %" in row
        assert f"{n_missed} of 500" in row
        assert f"{n_false} of 20,000" in row
    assert "FMR: no interval, as the threshold was chosen on these comparisons" in out
    assert "iso19795: FNMR at FMR 0.1 %" in out


def test_each_group_has_rates_instead_of_costs(scores, run):
    """At its own thresholds; groups at one threshold are the task of `differential`."""
    score, is_mated = scores
    lines = [f"{int(mated)},{x:.4f},{'fm'[k % 2]}\n" for k, (x, mated) in enumerate(zip(score, is_mated, strict=True))]
    Path("faces.csv").write_text("label,score,group\n" + "".join(lines))
    code, out, err = run("eval faces.csv --preset iso19795 --by group --units trials -q")
    assert code == 0, err
    _, _, table = out.partition("by group\n")
    headings, *rows = table.splitlines()
    assert headings.startswith("group   FMR at most")
    assert "Cllr" not in table
    own, mated = score[1::2], is_mated[1::2]
    at = [t for t in np.unique(own) if (own[~mated] >= t).mean() <= 0.01]
    missed = min((own[mated] < t).sum() for t in at)
    row = next(one for one in rows if one.startswith("m "))
    assert f"{missed} of 250" in row
    assert f"{min((own[~mated] >= t).sum() for t in at if (own[mated] < t).sum() == missed)} of 10,000" in row
