"""Fusions of what there is: every trial that some system scored gets an llr, whatever order the files come in."""

from itertools import permutations

import numpy as np
import pytest

from deciban import FormatError, InputError, KeyMismatchError, Scores, apply_files, read_scores, train_files
from deciban.fusion import SubsetFusion
from deciban.io import write
from deciban.models import Training, load_model
from deciban.trials import Trials
from deciban.workflows.evaluate import evaluate_model
from deciban.workflows.options import Options
from deciban.workflows.reading.inputs import opened
from deciban.workflows.train.rows import Compared
from support.score_files import said

N = 240
RNG = np.random.default_rng(11)
TRUTH = np.arange(N) % 3 == 0
SCORES = RNG.normal(size=(N, 3)) + TRUTH[:, None] * [1.5, 1.0, 0.7]
SCORED = np.arange(N)[:, None] % 8 != np.array([1, 2, 3])  # every system misses an eighth, and another one
SCORED[:, 0] &= np.arange(N) % 8 != 4
SCORED[:, 1] &= np.arange(N) % 8 != 4  # only the third has these
HOLED = np.where(SCORED, SCORES, np.nan)
NAMES = [(f"m{i // 16}", f"s{i % 16}") for i in range(N)]
ORDERS = [RNG.permutation(np.flatnonzero(SCORED[:, k])) for k in range(3)]


@pytest.fixture
def folder(tmp_path):
    for k, name in enumerate("abc"):
        lines = [f"{NAMES[i][0]} {NAMES[i][1]} {SCORES[i, k].item()!r}\n" for i in ORDERS[k]]
        (tmp_path / f"{name}.txt").write_text("".join(lines))
        grid = Trials.of_grid([f"m{i}" for i in range(15)], [f"s{i}" for i in range(16)], SCORED[:, k].reshape(15, 16))
        write(Scores(grid, SCORES[SCORED[:, k], k]), tmp_path / f"{name}.h5")
    labels = ["target" if t else "nontarget" for t in TRUTH]
    rows = [f"{m},{s},{label},p{i % 7}\n" for i, ((m, s), label) in enumerate(zip(NAMES, labels, strict=True))]
    (tmp_path / "key.csv").write_text("enroll,test,label,person\n" + "".join(rows))
    return tmp_path


@pytest.fixture
def fusion():
    found = SubsetFusion(missing="subset").fit(HOLED, TRUTH)
    told = found.training_
    found.training_ = Training(told.counts, told.fingerprint, ("a", "b", "c"), told.results)
    return found


@pytest.fixture
def expected(fusion):
    return dict(zip(NAMES, fusion.transform(HOLED).tolist(), strict=True))


def llrs(path):
    """Every trial that a file holds, in its order, and its score."""
    found = read_scores(path)
    names = zip(*(found.trials.column(side).to_pylist() for side in found.trials.sides), strict=True)
    return dict(zip(names, found.score.tolist(), strict=True))


@pytest.mark.parametrize("ending", ["txt", "h5"])
def test_the_order_of_the_files_changes_no_llr(folder, fusion, expected, ending):
    for order in permutations("abc"):
        apply_files(fusion, [folder / f"{name}.{ending}" for name in order], folder / f"out.{ending}")
        assert llrs(folder / f"out.{ending}") == expected


def test_trials_of_the_first_come_first_then_those_that_only_the_next_has(folder, fusion):
    facts = said(apply_files(fusion, [folder / f"{name}.txt" for name in "bac"], folder / "out.txt"))
    order = [*ORDERS[1], *(i for i in ORDERS[0] if not SCORED[i, 1])]
    order += [i for i in ORDERS[2] if not SCORED[i, :2].any()]
    assert list(llrs(folder / "out.txt")) == [NAMES[i] for i in order]
    n_all = N * 4 // 8
    assert f"join  240 trials · {n_all} with scores of all systems · {N - n_all} without" in facts
    assert f"note  30 trials of {folder / 'a.txt'} that {folder / 'b.txt'} does not have, after the others" in facts
    assert f"note  30 trials of {folder / 'c.txt'} that no earlier file has, after the others" in facts
    assert facts[-1] == f"wrote  {folder / 'out.txt'}   as kaldi"
    assert not any("left out" in told or "shares no trial" in told for told in facts)


def test_a_matrix_becomes_the_matrix_of_all_names(folder):
    for name, own in (("a", slice(0, 7)), ("b", slice(5, 12)), ("c", slice(3, 15))):
        there = SCORED[:, "abc".index(name)].reshape(15, 16)[own]
        grid = Trials.of_grid([f"m{i}" for i in range(15)][own], [f"s{i}" for i in range(16)], there)
        score = SCORES[:, "abc".index(name)].reshape(15, 16)[own][there]
        write(Scores(grid, score), folder / f"{name}.h5")
    model = SubsetFusion(missing="subset", max_missing=2).fit(HOLED, TRUTH)
    rows = np.arange(15)[:, None] + np.zeros(16, int)
    inside = np.stack([(rows >= a) & (rows < b) for a, b in ((0, 7), (5, 12), (3, 15))], axis=-1).reshape(-1, 3)
    holed = np.where(inside, HOLED, np.nan)
    some = ~np.isnan(holed).all(axis=1)
    wanted = dict(zip([NAMES[i] for i in np.flatnonzero(some)], model.transform(holed[some]).tolist(), strict=True))
    told = model.training_
    model.training_ = Training(told.counts, told.fingerprint, ("a", "b", "c"), told.results)
    for order in ("abc", "cab"):
        paths = [folder / f"{name}.h5" for name in order]
        apply_files(model, paths, folder / "out.h5")
        found = read_scores(folder / "out.h5")
        assert found.trials.mask is not None
        assert llrs(folder / "out.h5") == wanted


def test_saved_and_loaded_it_is_the_same(folder, fusion, expected):
    fusion.save(folder / "m.json")
    apply_files(folder / "m.json", [folder / f"{name}.txt" for name in "cab"], folder / "out.txt")
    assert llrs(folder / "out.txt") == pytest.approx(expected, rel=1e-12)
    assert load_model(folder / "m.json").missing == "subset"


def test_cross_validated_llrs_are_of_all_trials(folder):
    told = {}
    for order in ("abc", "cba"):
        paths = [folder / f"{name}.txt" for name in order]
        model = SubsetFusion(missing="subset", ridge=0.01)
        done = train_files(paths, folder / "key.csv", model, cross_validate="person")
        assert len(done.cross_validated_scores) == N
        facts = said(apply_files(done.model, paths, folder / "out.txt", known=done.cross_validated_scores))
        assert not any("not used in training" in one for one in facts)
        told[order] = llrs(folder / "out.txt")
        # The key lists the trials in the order of NAMES.
        assert told[order] == dict(zip(NAMES, done.cross_validated_scores.score.tolist(), strict=True))
    assert told["abc"] == pytest.approx(told["cba"], abs=1e-6)
    assert len(told["abc"]) == N


def test_only_trials_of_systems_that_the_fusion_takes(folder, fusion, expected):
    (folder / "noise.txt").write_text("else where 3\nm0 s0 1\n")
    facts = said(apply_files(fusion, [folder / f"{name}.txt" for name in ("noise", "b", "c", "a")], folder / "out.txt"))
    assert "note  not part of the fusion: noise" in facts
    found = llrs(folder / "out.txt")
    assert found == expected
    assert list(found)[: len(ORDERS[1])] == [NAMES[i] for i in ORDERS[1]]
    key = (folder / "key.csv").read_text() + "else,where,nontarget,p0\n"
    (folder / "more.csv").write_text(key)
    paths = [folder / f"{name}.txt" for name in ("noise", "b", "c", "a")]
    done = evaluate_model(fusion, opened(paths, folder / "more.csv", Options()), Options())
    assert Compared(*done.trials).source.n_rows == N
    assert "warn  1 trial without a score of a or b or c left out" in done.results.message_lines


def test_a_set_of_systems_without_a_fusion_is_refused_in_every_order(folder, fusion):
    (folder / "c.txt").write_text((folder / "c.txt").read_text() + "new one 1\n")
    del fusion.fusions_[2,]
    for order in permutations("abc"):
        with pytest.raises(InputError, match=r"in 31 trials, the first is trial .*: it has scores only of c"):
            apply_files(fusion, [folder / f"{name}.txt" for name in order], folder / "out.txt")
    assert not (folder / "out.txt").exists()


def test_copies_and_conflicts_of_added_trials_are_found(folder, fusion, expected):
    copied = next(i for i in ORDERS[2] if not SCORED[i, :2].any())
    line = f"{NAMES[copied][0]} {NAMES[copied][1]} {SCORES[copied, 2].item()!r}\n"
    text, paths = (folder / "c.txt").read_text(), [folder / f"{name}.txt" for name in "abc"]
    (folder / "c.txt").write_text(text + line)
    with pytest.raises(KeyMismatchError, match=r"c\.txt:\d+ and .*c\.txt:\d+: trial .* occurs more than once"):
        apply_files(fusion, paths, folder / "out.txt")
    facts = said(apply_files(fusion, paths, folder / "out.txt", duplicates="keep-one"))
    assert "note  surplus copies of trials left out: 1" in facts
    assert llrs(folder / "out.txt") == expected
    (folder / "c.txt").write_text(f"{text}{NAMES[copied][0]} {NAMES[copied][1]} 77\n")
    with pytest.raises(KeyMismatchError, match="has two different scores"):
        apply_files(fusion, paths, folder / "out.txt", duplicates="keep-one")


def test_a_file_of_other_names_is_told(folder):
    some = SCORED[:, :2].any(axis=1)
    model = SubsetFusion(missing="subset", max_missing=1).fit(HOLED[some, :2], TRUTH[some])
    (folder / "b.txt").write_text("x y 1\nx z 2\n")
    facts = said(apply_files(model, [folder / "a.txt", folder / "b.txt"], folder / "out.txt"))
    assert len(read_scores(folder / "out.txt")) == SCORED[:, 0].sum() + 2
    for name in "ab":
        assert f"note  {folder / name}.txt shares no trial with the others. Does it use the same names?" in facts


def test_other_policies_are_about_the_trials_of_the_first(folder, fusion):
    paths, both = [folder / f"{name}.txt" for name in "bca"], SCORED.all(axis=1)
    facts = said(apply_files(fusion, paths, folder / "out.txt", missing="drop"))
    assert list(llrs(folder / "out.txt")) == [NAMES[i] for i in ORDERS[1] if both[i]]
    n_others = np.count_nonzero(~SCORED[:, 1])  # most of them have scores of both other systems: trials are counted
    assert f"warn  {n_others} trials left out, because {folder / 'b.txt'} does not have them" in facts
    facts = said(apply_files(fusion, paths, folder / "out.txt", missing=0.0))
    assert list(llrs(folder / "out.txt")) == [NAMES[i] for i in ORDERS[1]]
    assert f"warn  {n_others} trials left out, because {folder / 'b.txt'} does not have them" in facts


def tables(folder, form, *, labelled="abc"):
    """The same scores as tables of trials with one name, the sex, and the label in some of them."""
    for k, name in enumerate("abc"):
        has, lines = name in labelled, []
        for i in ORDERS[k]:
            label = ("bonafide" if TRUTH[i] else "spoof") if has else ""
            words = [f"t{i}", "fm"[i % 2], label, repr(SCORES[i, k].item())]
            lines.append((" " if form == "txt" else ",").join(word for word in words if word))
        header = [] if form == "txt" else ["trial,sex,label,score" if has else "trial,sex,score"]
        (folder / f"{name}.{form}").write_text("\n".join([*header, *lines]) + "\n")
    return [folder / f"{name}.{form}" for name in "abc"]


def test_conditions_and_labels_of_added_trials(folder, fusion):
    apply_files(fusion, tables(folder, "csv"), folder / "out.csv")
    header, *rows = [line.split(",") for line in (folder / "out.csv").read_text().splitlines()]
    assert sorted(header) == ["label", "score", "sex", "trial"]
    found = {row[header.index("trial")]: dict(zip(header, row, strict=True)) for row in rows}
    assert set(found) == {f"t{i}" for i in range(N)}
    llr = fusion.transform(HOLED)
    for i in range(N):
        row = found[f"t{i}"]
        assert (row["sex"], row["label"] in ("target", "bonafide")) == ("fm"[i % 2], TRUTH[i])
        assert float(row["score"]) == llr[i]


def test_labels_that_some_files_lack_are_left_out_and_told(folder, fusion):
    facts = said(apply_files(fusion, tables(folder, "csv", labelled="ab"), folder / "out.csv"))
    assert f"note  labels of {folder / 'a.csv'} left out: not all trials have them" in facts
    assert "label" not in (folder / "out.csv").read_text().splitlines()[0]
    assert len(read_scores(folder / "out.csv")) == N


def test_a_format_that_needs_labels(folder, fusion):
    paths = tables(folder, "txt")
    apply_files(fusion, paths, folder / "out.txt")
    assert len(read_scores(folder / "out.txt", format="asvspoof2019")) == N
    (folder / "c.txt").write_text("".join(f"t{i} {SCORES[i, 2].item()!r}\n" for i in ORDERS[2]))
    with pytest.raises(FormatError, match=r"asvspoof2019 also needs label.* Choose another format"):
        apply_files(fusion, paths, folder / "no.txt")
    assert not (folder / "no.txt").exists()
    apply_files(fusion, paths, folder / "out.csv", to="table")
    assert len(read_scores(folder / "out.csv")) == N


def test_rows_without_names_are_known_by_their_number(folder):
    for k, name in enumerate("abc"):
        np.save(folder / f"{name}.npy", SCORES[:, k])
    model = SubsetFusion(missing="subset").fit(SCORES, TRUTH)
    model.training_ = Training(model.training_.counts, model.training_.fingerprint, tuple("abc"), {})
    for order in ("abc", "bca"):
        apply_files(model, [folder / f"{name}.npy" for name in order], folder / "out.npy")
        np.testing.assert_array_equal(np.load(folder / "out.npy"), model.transform(SCORES))


def test_files_of_rows_without_names_have_the_same_number_of_them(folder):
    """Which rows the shorter one lacks cannot be known: they need not be the last ones."""
    for k, name in enumerate("abc"):
        np.save(folder / f"{name}.npy", SCORES[k == 1 :, k])
    model = SubsetFusion(missing="subset").fit(SCORES, TRUTH)
    model.training_ = Training(model.training_.counts, model.training_.fingerprint, tuple("abc"), {})
    with pytest.raises(KeyMismatchError, match=f"b.npy has {N - 1} rows, .*a.npy {N}"):
        apply_files(model, [folder / f"{name}.npy" for name in "abc"], folder / "out.npy")
    assert not (folder / "out.npy").exists()


def test_selected_systems_and_trials_that_only_others_scored(folder):
    lines = [
        f"{m} {s} {value!r}\n"
        for (m, s), value in zip(NAMES, np.random.default_rng(1).normal(size=N).tolist(), strict=True)
    ]
    (folder / "noise.txt").write_text("".join(lines))
    paths = [folder / f"{name}.txt" for name in ("noise", "a", "b")]
    done = train_files(paths, folder / "key.csv", SubsetFusion(missing="subset", max_missing=1), select=True)
    assert done.model.training_.systems == ("a", "b")
    assert sum(done.model.training_.counts.values()) == 210
    assert "warn  30 trials without a score of a or b left out" in done.message_lines
    apply_files(done.model, done.files(paths), folder / "out.txt")
    assert set(llrs(folder / "out.txt")) == {NAMES[i] for i in range(N) if SCORED[i, :2].any()}
