"""Fusions applied to files: the trials and the form of the first, matched by name, whatever order they come in.

Fusions of what there is, which take the trials of all: test_trial_union.
"""

import numpy as np
import pytest

from deciban import FormatError, InputError, KeyMismatchError, Scores, apply_files, read_scores
from deciban.calibration import AffineCalibrator
from deciban.fusion import LinearFusion, QualityFusion, SubsetFusion
from deciban.io import write
from deciban.models import Training
from support.score_files import said

N = 120
RNG = np.random.default_rng(5)
TRUTH = np.arange(N) % 3 == 0
SCORES = RNG.normal(size=(N, 2)) + TRUTH[:, None] * [1.5, 1.0]
NAMES = [(f"m{i % 7}", f"s{i}") for i in range(N)]


def lines(system, rows):
    return "".join(f"{NAMES[i][0]} {NAMES[i][1]} {SCORES[i, system].item()!r}\n" for i in rows)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.txt").write_text(lines(0, range(N)))
    (tmp_path / "b.txt").write_text(lines(1, np.random.default_rng(7).permutation(N)))
    (tmp_path / "short.txt").write_text(lines(1, range(N - 1, 19, -1)))
    return tmp_path


@pytest.fixture
def fusion():
    found = LinearFusion().fit(SCORES, TRUTH)
    told = found.training_
    found.training_ = Training(told.counts, told.fingerprint, ("a", "b"), told.results)
    return found


def test_trials_are_joined_by_name_and_keep_the_order_of_the_first(folder, fusion):
    facts = said(apply_files(fusion, [folder / "a.txt", folder / "b.txt"], folder / "out.txt"))
    out = read_scores(folder / "out.txt")
    np.testing.assert_array_equal(out.score, fusion.transform(SCORES))
    assert [out.trials.name_of(i) for i in (0, N - 1)] == ["(m0, s0)", f"(m{(N - 1) % 7}, s{N - 1})"]
    assert facts[-1] == f"wrote  {folder / 'out.txt'}   with the lines of {folder / 'a.txt'} and new scores"
    assert not any(fact.startswith("note") for fact in facts)


def test_names_say_which_system_is_which(folder, fusion):
    facts = said(apply_files(fusion, [folder / "b.txt", folder / "a.txt"], folder / "out.txt"))
    assert "note  systems in the order of training, by their names: a, b" in facts
    expected = {NAMES[i]: llr for i, llr in enumerate(fusion.transform(SCORES).tolist())}
    found = (line.split() for line in (folder / "out.txt").read_text().splitlines())
    order = [line.split()[1] for line in (folder / "b.txt").read_text().splitlines()]
    found = list(found)
    assert [row[1] for row in found] == order
    assert all(float(llr) == expected[m, s] for m, s, llr in found)


def test_other_names_are_taken_in_the_order_given(folder, fusion):
    for name, source in (("one.txt", "a.txt"), ("two.txt", "b.txt")):
        (folder / name).write_bytes((folder / source).read_bytes())
    facts = said(apply_files(fusion, [folder / "one.txt", folder / "two.txt"], folder / "out.txt"))
    assert "warn  systems are taken in the order given: one as a, two as b" in facts
    np.testing.assert_array_equal(read_scores(folder / "out.txt").score, fusion.transform(SCORES))
    with pytest.raises(InputError, match=r"b is system 2 of the fusion, but was given as number 1"):
        apply_files(fusion, [folder / "b.txt", folder / "one.txt"], folder / "no.txt")


def test_only_the_score_of_a_line_is_replaced(folder, fusion):
    (folder / "a.csv").write_text(
        "trial,score,gender\r\n# a remark\r\n" + "".join(f's{i},{SCORES[i, 0].item()!r},"f, m"\r\n' for i in range(N))
    )
    (folder / "b.csv").write_text("trial,score\n" + "".join(f"s{i},{SCORES[i, 1].item()!r}\n" for i in range(N)))
    apply_files(fusion, [folder / "a.csv", folder / "b.csv"], folder / "out.csv")
    before, after = ((folder / name).read_bytes().split(b"\r\n") for name in ("a.csv", "out.csv"))
    assert before[:2] == after[:2]
    assert [line.partition(b",")[2].partition(b",")[2] for line in before] == [
        line.partition(b",")[2].partition(b",")[2] for line in after
    ]
    np.testing.assert_array_equal(read_scores(folder / "out.csv").score, fusion.transform(SCORES))


def test_trials_that_a_system_lacks(folder, fusion):
    paths, out = [folder / "a.txt", folder / "short.txt"], folder / "out.txt"
    with pytest.raises(KeyMismatchError, match=r"20 of 120 trials of .*a\.txt have no score in .*short\.txt"):
        apply_files(fusion, paths, out)
    assert not out.exists()
    facts = said(apply_files(fusion, paths, out, missing="drop"))
    assert f"warn  20 trials of {folder / 'a.txt'} left out: another system has no score for them" in facts
    found = read_scores(out)
    assert [found.trials.name_of(i) for i in (0, 99)] == [f"(m{i % 7}, s{i})" for i in (20, 119)]
    np.testing.assert_array_equal(found.score, fusion.transform(SCORES[20:]))
    facts = said(apply_files(fusion, paths, out, missing=-2.5))
    assert "fill  trials without a score got -2.5" in facts
    filled = SCORES.copy()
    filled[:20, 1] = -2.5
    np.testing.assert_array_equal(read_scores(out).score, fusion.transform(filled))


def test_trials_that_the_first_lacks_are_left_out_and_counted(folder, fusion):
    (folder / "few.txt").write_text(lines(0, [7, 3]))
    facts = said(apply_files(fusion, [folder / "few.txt", folder / "b.txt"], folder / "out.txt"))
    assert f"warn  118 trials left out, because {folder / 'few.txt'} does not have them" in facts
    np.testing.assert_array_equal(read_scores(folder / "out.txt").score, fusion.transform(SCORES[[7, 3]]))


def test_labels_and_conditions_of_dropped_trials_go_with_them(folder, fusion):
    ids = {"enroll": [m for m, _ in NAMES], "test": [s for _, s in NAMES]}
    write(Scores.of(ids, SCORES[:, 0], conditions={"n": list(range(N))}, name="a"), folder / "a.parquet")
    apply_files(fusion, [folder / "a.parquet", folder / "short.txt"], folder / "out.parquet", missing="drop")
    found = read_scores(folder / "out.parquet")
    assert found.trials.conditions["n"].to_pylist() == list(range(20, N))
    np.testing.assert_array_equal(found.score, fusion.transform(SCORES[20:]))


def test_a_fusion_of_subsets_takes_what_there_is(folder):
    scores = SCORES.copy()
    scores[:20, 1] = np.nan
    fusion = SubsetFusion(missing="subset").fit(scores, TRUTH)
    facts = said(apply_files(fusion, [folder / "a.txt", folder / "short.txt"], folder / "out.txt"))
    assert f"join  100 trials of {folder / 'a.txt'} with scores of all systems · 20 without" in facts
    np.testing.assert_array_equal(read_scores(folder / "out.txt").score, fusion.transform(scores))


def test_several_systems_in_one_file(folder, fusion):
    table = "".join(f"s{i},{SCORES[i, 0].item()!r},{SCORES[i, 1].item()!r},f\n" for i in range(N))
    (folder / "both.csv").write_text("trial,a_score,b_score,sex\n" + table)
    apply_files(fusion, folder / "both.csv", folder / "out.csv")
    found = read_scores(folder / "out.csv")
    np.testing.assert_array_equal(found.score, fusion.transform(SCORES))
    assert found.trials.conditions["sex"].to_pylist() == ["f"] * N
    assert (folder / "out.csv").read_text().splitlines()[0] == "trial,score,sex"


def test_by_order_if_asked(folder, fusion):
    (folder / "c.txt").write_text("".join(f"x y{i} {SCORES[i, 1].item()!r}\n" for i in range(N)))
    with pytest.raises(KeyMismatchError, match="share no trial"):
        apply_files(fusion, [folder / "a.txt", folder / "c.txt"], folder / "out.txt")
    facts = said(apply_files(fusion, [folder / "a.txt", folder / "c.txt"], folder / "out.txt", by_order=True))
    assert any("by order: the names of the trials were not compared" in fact for fact in facts)
    np.testing.assert_array_equal(read_scores(folder / "out.txt").score, fusion.transform(SCORES))


def test_quality_from_a_file(folder):
    quality = np.random.default_rng(7).random((N, 1))
    quality[5:10] = np.nan
    fusion = QualityFusion()
    with pytest.warns(match="5 of 120 trials lack quality"):
        fusion.fit(SCORES, TRUTH, test_quality=quality)
    known = [i for i in range(N) if not 5 <= i < 10]
    (folder / "q.txt").write_text("1\n" + "".join(f"s{i} {quality[i, 0].item()!r}\n" for i in known))
    paths = [folder / "a.txt", folder / "b.txt"]
    facts = said(apply_files(fusion, paths, folder / "out.txt", quality=folder / "q.txt"))
    assert "note  5 of 120 trials without quality measures are fused by scores alone" in facts
    with pytest.warns(match="5 of 120 trials lack quality"):
        expected = fusion.transform(SCORES, test_quality=quality)
    np.testing.assert_array_equal(read_scores(folder / "out.txt").score, expected)
    with pytest.raises(InputError, match=r"trained with test measures. Name their file \(quality=FILE\)"):
        apply_files(fusion, paths, folder / "no.txt")


def test_what_is_refused(folder, fusion):
    both = [folder / "a.txt", folder / "b.txt"]
    with pytest.raises(InputError, match=r"1 system \(a\), but the fusion was trained on 2 \(a, b\)"):
        apply_files(fusion, folder / "a.txt", folder / "out.txt")
    with pytest.raises(InputError, match="given twice"):
        apply_files(fusion, [folder / "a.txt", folder / "a.txt"], folder / "out.txt")
    with pytest.raises(InputError, match=r"b\.txt: is an input"):
        apply_files(fusion, both, folder / "b.txt")
    (folder / "q.txt").write_text("1\nx 1\n")
    with pytest.raises(InputError, match="quality: given, but the fusion was trained without"):
        apply_files(fusion, both, folder / "out.txt", quality=folder / "q.txt")
    measured = QualityFusion().fit(SCORES, TRUTH, test_quality=np.random.default_rng(7).random((N, 1)))
    with pytest.raises(InputError, match=r"q\.txt: is an input"):
        apply_files(measured, both, folder / "q.txt", quality=folder / "q.txt")
    with pytest.raises(InputError, match="a model of kind 'union-hull' does not map"):
        from deciban.fusion import UnionHull

        apply_files(UnionHull().fit(SCORES, TRUTH), both, folder / "out.txt")
    affine = AffineCalibrator().fit(SCORES[:, 0], TRUTH)
    with pytest.raises(InputError, match="2 score files for a model of one system need an output file each"):
        apply_files(affine, both, folder / "out.txt")
    for option in ({"missing": "drop"}, {"quality": folder / "q.txt"}, {"duplicates": "keep-one"}):
        with pytest.raises(InputError, match="is for fusions, but this is a model of one system"):
            apply_files(affine, folder / "a.txt", folder / "out.txt", **option)
    (folder / "key.csv").write_text("trial,label\ns0,target\n")
    with pytest.raises(FormatError, match=r"key\.csv:1: this is a key .*, but scores are needed"):
        apply_files(fusion, [folder / "a.txt", folder / "key.csv"], folder / "out.txt")
    assert not (folder / "out.txt").exists()
