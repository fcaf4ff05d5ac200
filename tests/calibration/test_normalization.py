"""Score normalization, against the formulas of SpeechBrain's recipe for speaker verification, trial by trial."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deciban.calibration import CohortStatistics, cohort_statistics, normalize, normalize_scores
from deciban.errors import InputError
from deciban.trials import Scores

RNG = np.random.default_rng(0)
N_MODELS, N_SEGMENTS, N_COHORT = 7, 9, 40
SCORES = RNG.normal(size=(N_MODELS, N_SEGMENTS))
OF_MODELS = RNG.normal(0.3, 0.7, (N_MODELS, N_COHORT))
OF_SEGMENTS = RNG.normal(-0.2, 1.3, (N_SEGMENTS, N_COHORT))

ONE = Scores.of({"enroll": ["m"], "test": ["s"]}, [1.0])
TWO = CohortStatistics(np.zeros(2), np.ones(2))


def brute(score, model, segment, kind, top):
    """One trial by the formulas of recipes/VoxCeleb/SpeakerRec/speaker_verification_cosine.py of SpeechBrain.

    There, torch.topk selects cohort scores, and torch.std divides by n - 1. SpeechBrain itself needs PyTorch.
    """

    def standard(cohort):
        highest = sorted(cohort, reverse=True)[: top or len(cohort)]
        mean = sum(highest) / len(highest)
        return (score - mean) / (sum((x - mean) ** 2 for x in highest) / (len(highest) - 1)) ** 0.5

    parts = {"z": [OF_MODELS[model]], "t": [OF_SEGMENTS[segment]], "s": [OF_MODELS[model], OF_SEGMENTS[segment]]}
    return sum(map(standard, parts[kind])) / len(parts[kind])


def names(prefix, n):
    return [f"{prefix}{k}" for k in range(n)]


def grid(rows, columns, matrix):
    """Scores of all pairs."""
    return Scores.of({"enroll": np.repeat(rows, len(columns)), "test": np.tile(columns, len(rows))}, matrix.ravel())


@pytest.mark.parametrize("top", [None, 2, 10, N_COHORT])
@pytest.mark.parametrize("kind", ["z", "t", "s"])
def test_matrices_trials_and_names_are_as_in_speechbrain(kind, top):
    wanted = [[brute(SCORES[i, j], i, j, kind, top) for j in range(N_SEGMENTS)] for i in range(N_MODELS)]
    given = {"enroll": OF_MODELS} if kind == "z" else {"test": OF_SEGMENTS} if kind == "t" else None
    given = given or {"enroll": OF_MODELS, "test": OF_SEGMENTS}
    statistics = {side: cohort_statistics(one, top=top, batch=3) for side, one in given.items()}
    np.testing.assert_allclose(normalize_scores(SCORES, **statistics), wanted, rtol=1e-12)
    index = (np.array([3, 0, 3]), np.array([1, 8, 0]))
    single = normalize_scores(SCORES[index], **statistics, index=index)
    np.testing.assert_allclose(single, np.array(wanted)[index], rtol=1e-12)
    models, segments, cohort = names("m", N_MODELS), names("s", N_SEGMENTS), names("c", N_COHORT)
    named = {"enroll_cohort": grid(models, cohort, OF_MODELS)} if kind != "t" else {}
    named |= {"test_cohort": grid(cohort, segments, OF_SEGMENTS.T)} if kind != "z" else {}
    found = normalize(grid(models, segments, SCORES), top=top, **named)
    np.testing.assert_allclose(found.score.reshape(SCORES.shape), wanted, rtol=1e-12)


def test_a_cohort_on_disk_is_read_in_batches(tmp_path):
    np.save(tmp_path / "cohort.npy", OF_MODELS)
    mapped = np.load(tmp_path / "cohort.npy", mmap_mode="r")
    assert cohort_statistics(mapped, top=5, batch=2) == cohort_statistics(OF_MODELS, top=5)


def test_names_without_trials_need_no_cohort():
    scores = grid(names("m", 2), names("s", 2), SCORES[:2, :2])
    cohort = grid(names("m", 9), names("c", 5), RNG.normal(size=(9, 5)))
    assert len(normalize(scores, enroll_cohort=cohort).score) == 4


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: cohort_statistics([1.0, 2.0]), "scores: got 1 dimensions"),
        (lambda: cohort_statistics([[1.0, 2.0]], top=3), "top: 2 cohort scores in each row, but 3 are needed"),
        (lambda: cohort_statistics([[1.0, 2.0]], top=1), "top: got 1"),
        (lambda: cohort_statistics([[1.0, 2.0], [1.0, 1.0]]), "row 1 are equal"),
        (lambda: cohort_statistics([[0.1, 0.1, 0.1]]), "row 0 are equal up to rounding"),
        (lambda: cohort_statistics([["a", "b"]]), "scores: expected real numbers"),
        (lambda: normalize(ONE, enroll_cohort=grid(["m"], ["a", "b", "c"], np.full(3, 0.1))), "of m are equal up to"),
        (lambda: normalize(ONE), "enroll_cohort, test_cohort: name at least one"),
        (
            lambda: normalize(ONE, enroll_cohort=grid(["s"], ["c", "d"], SCORES[:1, :2])),
            "for example m. It has scores of segments: did you swap both cohorts?",
        ),
        (
            lambda: normalize(replace(ONE, log10=True), enroll_cohort=grid(["m"], ["c", "d"], SCORES[:1, :2])),
            "enroll_cohort: system has the unit nats, but the scores log10",
        ),
        (lambda: normalize_scores([1.0, 2.0], enroll=TWO, index=[0, 1]), "index: pass a pair of arrays"),
        (lambda: normalize_scores([1.0, 2.0], enroll=TWO, index=([0.0, 1.0], [0, 0])), "index: pass a pair"),
        (lambda: normalize_scores([1.0, 2.0], enroll=TWO, index=([True, False], [0, 0])), "index: pass a pair"),
        (lambda: normalize_scores([1.0, 2.0], enroll=TWO, index=([0], [0])), "index: pass a pair"),
        (lambda: normalize_scores([1.0, 2.0], enroll=TWO, index=([0, 2], [0, 0])), "2 rows do not match"),
        (lambda: normalize_scores([[1.0], [np.nan]], enroll=TWO), "1 of 2 scores are NaN"),
        (lambda: normalize_scores([[1.0]]), "enroll: no cohort"),
        (lambda: normalize_scores([1.0], enroll=CohortStatistics(np.zeros(1), np.ones(1))), "Pass a matrix"),
        (lambda: normalize_scores([[1.0]], enroll=CohortStatistics(np.zeros(2), np.ones(2))), "do not match"),
        (lambda: normalize(Scores.of({"trial": ["a"]}, [1.0])), "names of enrolled models"),
        (
            lambda: normalize(grid(["m"], ["s"], SCORES[:1, :1]), test_cohort=grid(["x"], ["c", "d"], SCORES[:1, :2])),
            "test_cohort: system has no scores of 1 name of the trials, for example s",
        ),
        (
            lambda: normalize(grid(["m"], ["s"], SCORES[:1, :1]), enroll_cohort=grid(["m"], ["c"], SCORES[:1, :1])),
            "m has 1 cohort scores, but 2 are needed",
        ),
    ],
)
def test_what_is_not_valid_is_refused(call, words):
    with pytest.raises(InputError, match=words):
        call()


def test_the_command_writes_the_lines_with_normalized_scores(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    models, segments = names("m", 3), names("s", 2)
    rows = [f"{m} {s} {SCORES[i, j]:.6f}" for i, m in enumerate(models) for j, s in enumerate(segments)]
    (tmp_path / "a.txt").write_text("\n".join(rows) + "\n")
    rows = [f"{m} c{j} {OF_MODELS[i, j]:.6f}" for i, m in enumerate(models) for j in range(N_COHORT)]
    (tmp_path / "cohort.txt").write_text("\n".join(rows) + "\n")
    assert run("normalize", "a.txt", "--enroll-cohort", "cohort.txt", "--top", "10", "-o", "out.txt")[0] == 0
    lines = [line.split() for line in (tmp_path / "out.txt").read_text().splitlines()]
    assert [line[:2] for line in lines] == [[m, s] for m in models for s in segments]
    assert float(lines[3][2]) == pytest.approx(brute(SCORES[1, 1], 1, 1, "z", 10), abs=1e-4)
    code, _, err = run("normalize", "a.txt", "-o", "out2.txt")
    assert code == 2
    assert "--enroll-cohort, --test-cohort: name at least one" in err


def test_normalized_scores_are_not_written_as_llrs(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cohort.csv").write_text("enroll,test,log10_lr\nm,c,1\nm,d,3\n")
    (tmp_path / "a.csv").write_text("enroll,test,log10_lr\nm,s,4\n")
    code, out, err = run("normalize", "a.csv", "--enroll-cohort", "cohort.csv", "-o", "-")
    assert (code, out.splitlines()[0]) == (0, "enroll,test,score")
    assert "logarithms" not in err
    assert float(out.splitlines()[1].split(",")[2]) == pytest.approx(2**0.5)


def test_columns_of_tables_can_be_named(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    for name, other in (("scores", "s"), ("cohort", "c")):
        rows = (f"m{i},{other}{j},{i + j**2}.0,{j}.5" for i in range(3) for j in range(4))
        Path(f"{name}.csv").write_text("\n".join(["a,b,x,y", *rows]) + "\n")
    words = ["normalize", "scores.csv", "--enroll-cohort", "cohort.csv", "-o", "out.csv"]
    code, _, err = run(*words)
    assert code == 2
    assert "--columns" in err
    assert run(*words, "--columns", "enroll=a,test=b,score=x")[0] == 0
    assert Path("out.csv").read_text().startswith("a,b,score,y\nm0,s0,-0.866")
