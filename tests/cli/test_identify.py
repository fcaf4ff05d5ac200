"""Identification (1:N) on the command line, against searches written out."""

import json
import math

import numpy as np
import pytest

from deciban.biometrics import cmc, dir_fpir

GALLERY, PROBES, SUBJECTS = 12, 60, 16
"""Subjects 12 to 15 are not in the gallery."""


@pytest.fixture(scope="module")
def scores():
    rng = np.random.default_rng(3)
    found = rng.normal(size=(PROBES, GALLERY)).round(2)
    for probe in range(PROBES):
        if probe % SUBJECTS < GALLERY:
            found[probe, probe % SUBJECTS] += 2.0
    return found.round(2)


def rows_of(scores):
    """Lines of a table: gallery entry, probe, label, score."""
    return [
        (f"g{entry:02}", f"p{probe:02}", "target" if entry == probe % SUBJECTS else "nontarget", scores[probe, entry])
        for entry in range(GALLERY)
        for probe in range(PROBES)
    ]


def write(path, rows, header="enroll,test,label,score"):
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


@pytest.fixture
def table(tmp_path, scores):
    return write(tmp_path / "faces.csv", rows_of(scores))


def found(run, *words):
    code, out, err = run("identify", *words, "--json", "-q")
    assert code == 0, err
    return json.loads(out)["systems"]


def test_rates_are_counts_of_searches(run, table, scores):
    """Every search is written out: the rank of the mate, and the best candidate of a probe without one."""
    (one,) = found(run, table, "--rank", "1,3,12", "--fpir", "0.2,0.05")
    ranks, best, mates = [], [], []
    for probe, row in enumerate(scores.tolist()):
        if (mate := probe % SUBJECTS) < GALLERY:
            ranks.append(sum(score >= row[mate] for score in row))
            mates.append(row[mate])
        else:
            best.append(max(row))
    counts = (one["n_mated"], one["n_nonmated"], one["n_gallery"], one["n_subjects"])
    assert counts == (len(ranks), len(best), GALLERY, GALLERY)
    identified = [sum(rank <= k for rank in ranks) for k in (1, 3, 12)]
    assert [row["n_identified"] for row in one["cmc"]] == identified
    for row in one["open_set"]:
        thresholds = sorted({*best, *mates})
        threshold = next(at for at in thresholds if sum(b >= at for b in best) <= row["limit"] * len(best))
        assert row["threshold"] == threshold
        assert row["n_false"] == sum(b >= threshold for b in best)
        assert row["n_identified"] == sum(m >= threshold and r == 1 for m, r in zip(mates, ranks, strict=True))


def test_intervals_are_by_subject(run, table, scores):
    (one,) = found(run, table, "--level", "0.9")
    subjects = np.arange(PROBES) % SUBJECTS
    expected = cmc(scores, subjects, np.arange(GALLERY), level=0.9).rates
    assert [row["rank"] for row in one["cmc"]] == [1, 5, 10]
    bounds = [(row["low"], row["high"]) for row in one["cmc"]]
    assert np.array(bounds) == pytest.approx(np.column_stack((expected.low, expected.high))[[0, 4, 9]])
    limits = dir_fpir(scores, subjects, np.arange(GALLERY), fpir=(0.01, 0.001), level=0.9)
    assert [(row["low"], row["high"]) for row in one["open_set"]] == [
        pytest.approx((row.low, row.high)) for row in limits
    ]


@pytest.mark.parametrize("name", ["faces.h5", "faces.mat", "faces.npz", "faces.parquet", "matrix.csv"])
def test_matrices_give_the_rates_of_their_table(run, table, tmp_path, scores, name):
    """A key can be a list of mates."""
    matrix, words = tmp_path / name, ("--name", "faces")
    if name == "matrix.csv":
        lines = [[f"g{k:02}", *column] for k, column in enumerate(scores.T.tolist())]
        write(matrix, lines, ",".join(["", *(f"p{k:02}" for k in range(PROBES))]))
        words += ("--format", "matrix-csv")
    else:
        assert run("convert", table, matrix, "-q")[0] == 0
    mates = [row[:2] for row in rows_of(scores) if row[2] == "target"]
    listed = write(tmp_path / "mates.csv", mates[::-1], "enroll,test")
    labelled = write(tmp_path / "key.csv", [(*row, "target") for row in mates], "enroll,test,label")
    expected = found(run, table)
    assert found(run, matrix, "--key", listed, *words) == expected
    assert found(run, matrix, "--key", labelled, *words) == expected


def test_the_order_of_rows_does_not_matter(run, table, tmp_path, scores):
    rows = rows_of(scores)
    np.random.default_rng(1).shuffle(rows)
    mixed = write(tmp_path / "mixed.csv", rows)
    assert found(run, mixed, "--name", "faces") == found(run, table)


def test_several_entries_of_a_subject_are_one_candidate(run, tmp_path):
    """Of two references, the better one counts, and the other one is no competitor."""
    values = {("a1", "p"): 1.0, ("a2", "p"): 3.0, ("b", "p"): 2.0, ("a1", "q"): 0.0, ("a2", "q"): 0.0, ("b", "q"): 1.0}
    mates = {("a1", "p"), ("a2", "p"), ("b", "q")}
    rows = [(*pair, "target" if pair in mates else "nontarget", score) for pair, score in values.items()]
    (one,) = found(run, write(tmp_path / "two.csv", rows), "--rank", "1")
    assert (one["n_gallery"], one["n_subjects"], one["cmc"][0]["n_identified"]) == (3, 2, 2)
    assert one["open_set"] == []


def test_lists_of_candidates_are_searches(run, tmp_path, scores):
    """Scores below the fifth candidate are unknown: rank 1 is the same, and a mate that is not listed comes last."""
    fifth = np.sort(scores, axis=1)[:, -5]
    listed = [row for row in rows_of(scores) if row[3] >= fifth[int(row[1][1:])]]
    key = write(tmp_path / "key.csv", [row[:3] for row in rows_of(scores)], "enroll,test,label")
    path = write(tmp_path / "listed.csv", [(row[0], row[1], row[3]) for row in listed], "enroll,test,score")
    whole = write(tmp_path / "faces.csv", rows_of(scores))
    words = ("--rank", "1,5", "--name", "faces")
    assert found(run, path, "--key", key, "--missing", "fill=-inf", *words) == found(run, whole, *words)


def test_a_matrix_that_exceeds_the_memory_is_refused(run, tmp_path, monkeypatch):
    monkeypatch.setattr("deciban.workflows.identifying.free_memory", lambda: 1000)
    rows = [("g", f"p{k}", "target" if k < 9 else "nontarget", k) for k in range(99)]
    path = write(tmp_path / "listed.csv", [*rows, ("h", "p0", "nontarget", 1)])
    code, _, err = run("identify", path, "--missing", "fill=-inf")
    assert (code, "99 probes and 2 gallery entries need a matrix" in " ".join(err.split())) == (2, True)


def test_the_table_names_rates_counts_and_limits(run, table):
    code, out, err = run("identify", table, "--rank", "1", "--fpir", "0.2", "--table", "csv")
    assert code == 0
    assert "search  60 probes, 48 with a mate; 12 gallery entries of 12 subjects" in err
    assert "rank 1" in out
    assert "FPIR at most" in out
    assert "2 of 12" in out
    assert "FPIR 20 %: 12 probes without a mate allow fewer than 10 false positives, so DIR is rough" in err


HOSTILE = {
    "nonmated": (lambda rows: [(*row[:2], "nontarget", row[3]) for row in rows], "no probe has a mate in the gallery"),
    "one entry": (lambda rows: rows[:PROBES], "has one subject, so rank 1 is certain"),
    "missing": (
        lambda rows: rows[:17] + rows[18:],
        "1 of 720 comparisons have no score, such as probe 'p17' with 'g00'",
    ),
    "twice": (lambda rows: [*rows, rows[5]], "trial (g00, p05) occurs 2 times"),
    "NaN": (lambda rows: [(*rows[0][:3], "nan"), *rows[1:]], "nan"),
    "contradiction": (
        lambda rows: [(*rows[0][:2], "target", 1.0), *rows[1:PROBES], (*rows[PROBES][:2], "target", 1.0), *rows[61:]],
        "is a non-target trial, but target trials connect both",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_scores_are_refused(run, tmp_path, scores, name):
    change, words = HOSTILE[name]
    path = write(tmp_path / "bad.csv", change(rows_of(scores)))
    code, out, err = run("identify", path)
    assert (code, out) == (2, "")
    assert words in " ".join(err.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--rank 13", "--rank: got 13. It must be from 1 to the number of subjects in the gallery, 12"),
        ("--rank one", "whole numbers"),
        ("--fpir 2", "fpir"),
        ("--missing drop", "has no meaning for identification"),
        ("--level 2", "level"),
    ],
)
def test_wrong_options_are_refused(run, table, words, said):
    code, _, err = run("identify", table, *words.split())
    assert code == 2
    assert said in " ".join(err.split())


def test_keys_that_do_not_fit_are_refused_or_noted(run, tmp_path, table, scores):
    mates = [row[:2] for row in rows_of(scores) if row[2] == "target"]
    unscored = write(tmp_path / "unscored.csv", [*mates, ("g00", "p99")], "enroll,test")
    code, _, err = run("identify", table, "--key", unscored)
    assert (code, "1 of 49 probes with a mate have no scores, the first 'p99'" in " ".join(err.split())) == (2, True)
    absent = write(tmp_path / "absent.csv", [*mates[1:], ("g99", "p00")], "enroll,test")
    code, _, err = run("identify", table, "--key", absent)
    assert (code, "1 probe with a mate that is not in the gallery" in err) == (0, True)
    closed = write(tmp_path / "closed.csv", [row for row in rows_of(scores) if int(row[1][1:]) % SUBJECTS < GALLERY])
    code, _, err = run("identify", closed, "--fpir", "0.1")
    assert (code, "every probe has a mate" in err) == (2, True)


def test_systems_have_the_same_probes(run, table, tmp_path, scores):
    fewer = write(tmp_path / "fewer.csv", [row for row in rows_of(scores) if row[1] != "p00"])
    assert len(found(run, table, table)) == 2
    code, _, err = run("identify", table, fewer)
    assert (code, "differ in the probes" in err) == (2, True)


def test_an_infinite_threshold_is_written_in_json(run, tmp_path):
    rows = [
        ("a", "p", "target", 0.0),
        ("b", "p", "nontarget", 1.0),
        ("a", "q", "nontarget", 9.0),
        ("b", "q", "nontarget", 9.0),
    ]
    (one,) = found(run, write(tmp_path / "faces.csv", rows), "--rank", "1", "--fpir", "0")
    assert one["open_set"][0]["threshold"] == "inf"
    assert math.isclose(one["cmc"][0]["rate"], 0.0)
