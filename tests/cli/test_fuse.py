"""fuse, and apply of fusions, as users type them: what is printed, written, and refused."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from deciban import metrics, read_scores
from deciban.analysis import select_systems
from deciban.fusion import LinearFusion, QualityFusion
from deciban.models import load_model
from support.commands import printed_table
from support.fusion_files import NAMES, SCORES, TRUTH, N, write, write_files

pytestmark = pytest.mark.usefixtures("files")


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files()


def fitted(systems=(0, 1, 2), **settings):
    return LinearFusion(**settings).fit(SCORES[:, list(systems)], TRUTH)


def in_order_of(name, llr):
    by_name = {f"s{i}": value for i, value in enumerate(llr)}
    return [by_name[line.split()[1]] for line in Path(name).read_text().splitlines()]


def test_fuse_tells_what_each_system_is_worth(run):
    code, out, err = run("fuse a.txt b.txt c.txt --key key.csv -o m.json --dcf 0.1")
    assert code == 0, err
    joined, units, note, wrote = err.splitlines()[-4:]
    assert (
        joined == "join  300 matched · 0 missing · 0 extra · 0 duplicate · no target and non-target with equal scores"
    )
    assert units.endswith("speakers, found from target trials")
    assert note.endswith("names without target trials: unlinked names count as separate speakers")
    assert wrote == "wrote  m.json"
    names = [*(f"{name} (calibrated)" for name in "abc"), "without a", "without b", "without c", "fusion"]
    table = printed_table(out, under="Training trials")
    assert list(table)[:7] == names
    cllr = {name: float(table[name]["Cllr"].split(" [")[0]) for name in names}
    assert "intervals by speaker" in out
    assert re.fullmatch(r"\S+ \[\S+, \S+\]", table["fusion"]["Cllr"])
    assert cllr["fusion"] == min(cllr.values())
    weights = printed_table(out, under="Weights")
    expected = fitted()
    for name, weight in zip("abc", expected.weights_, strict=True):
        assert float(weights[name]["weight"]) == pytest.approx(weight, rel=1e-4)
    assert "training: converged in" in out
    assert "below that of a, the best single system" in out
    assert "Metrics of 'fusion' and of single systems are optimistic, because they were trained on these trials" in out
    assert "Divergence of the systems' posteriors in bits, at the training prior" in out
    assert run("fuse a.txt b.txt c.txt --key key.csv -o m.json -q")[2] == ""


def test_options_reach_the_objective(run):
    words = "--p-target 0.1 --alpha 2 --beta 2 --ridge 0.01"
    assert run(f"fuse a.txt b.txt --key key.csv -o m.json {words}")[0] == 0
    found, expected = load_model("m.json"), fitted((0, 1), p_target=0.1, alpha=2.0, beta=2.0, ridge=0.01)
    assert repr(found) == repr(expected)
    np.testing.assert_allclose(found.weights_, expected.weights_, rtol=1e-6)


def test_json(run):
    code, out, err = run("fuse a.txt b.txt --key key.csv -o m.json --json --cross-validate speaker --select")
    assert code == 0, err
    found = json.loads(out)
    assert found["model"] == json.loads(Path("m.json").read_text())
    assert found["inputs"] == err.splitlines()[:-1]
    assert found["join"] == {"matched": 300, "missing": 0, "extra": 0, "duplicate": 0}
    assert found["dev"][-1]["name"] == "fusion (cross-validated)"
    assert found["selection"]["criterion"] == "Cllr in bits"


def test_same_data_in_and_out(run):
    code, _, err = run("fuse a.txt b.txt c.txt --key key.csv -o m.json --llrs llr.txt")
    assert code == 0, err
    np.testing.assert_allclose(read_scores("llr.txt").score, in_order_of("a.txt", fitted().transform(SCORES)))
    assert "wrote  llr.txt   with the lines of a.txt and new scores" in err


def test_from_dev_to_eval_in_one_call_and_in_two(run):
    for k, name in enumerate("xy"):
        write(f"{name}.txt", SCORES[:, k] + 1.0, range(20))
    code, _, err = run("fuse a.txt b.txt --key key.csv -o m.json --apply-to x.txt --apply-to y.txt --llrs one.txt")
    assert code == 0, err
    assert "warn  systems are taken in the order given: x as a, y as b" in err
    np.testing.assert_allclose(read_scores("one.txt").score, fitted((0, 1)).transform(SCORES[:20, :2] + 1.0))
    assert run("apply m.json x.txt y.txt -o two.txt")[0] == 0
    assert Path("two.txt").read_bytes() == Path("one.txt").read_bytes()
    code, out, _ = run("apply m.json b.txt a.txt -o -")
    assert code == 0
    expected = in_order_of("b.txt", fitted((0, 1)).transform(SCORES[:, :2]))
    np.testing.assert_allclose([float(line.split()[2]) for line in out.splitlines()], expected)


def test_figures_of_other_trials(run):
    Path("a2.txt").write_bytes(Path("a.txt").read_bytes())
    Path("b2.txt").write_bytes(Path("b.txt").read_bytes())
    code, out, err = run(
        "fuse a.txt b.txt --key key.csv -o m.json --apply-to a2.txt --apply-to b2.txt --apply-key key.csv"
    )
    assert code == 0, err
    dev, other = out.split("Other trials")
    assert [line.split()[1:] for line in dev.splitlines() if line.startswith("fusion ")] == [
        line.split()[1:] for line in other.splitlines() if line.startswith("fusion ")
    ]


def test_cross_validated_llrs(run):
    code, out, err = run("fuse a.txt b.txt --key key.csv -o m.json --cross-validate speaker:9 --llrs llr.txt")
    assert code == 0, err
    assert "fusion (cross-validated)" in out
    found = read_scores("llr.txt").score
    group = np.arange(N) % 9
    expected = np.empty(N)
    for k in range(9):  # as many parts as speakers: each of them left out in turn
        model = LinearFusion().fit(SCORES[group != k, :2], TRUTH[group != k])
        expected[group == k] = model.transform(SCORES[group == k, :2])
    np.testing.assert_allclose(found, in_order_of("a.txt", expected), atol=1e-6)


def test_quality(run):
    code, out, err = run("fuse a.txt b.txt --key key.csv -o m.json --quality q.txt --llrs one.txt")
    assert code == 0, err
    assert "qual  q.txt   test: q1   290 names" in err
    assert "note  10 of 300 trials without quality measures are fused by scores alone" in err
    assert "warning" not in err
    assert "fusion with quality" in out
    code, _, err = run("apply m.json a.txt b.txt --quality q.txt -o two.txt")
    assert code == 0, err
    assert Path("two.txt").read_bytes() == Path("one.txt").read_bytes()
    sides = "--quality enroll=models.txt --quality test=q.txt"
    assert run(f"fuse a.txt b.txt --key key.csv -o m2.json {sides} --asymmetric")[0] == 0
    assert load_model("m2.json").quality_weights_.shape == (3, 2)
    assert run(f"apply m2.json a.txt b.txt {sides} -o three.txt")[0] == 0


def test_a_fusion_for_every_set_of_systems(run):
    code, out, err = run("fuse a.txt part.txt --key key.csv -o m.json --missing subset --llrs llr.txt")
    assert code == 0, err
    assert "note  50 trials without a score of part" in err
    assert "fusion of available scores" in out
    assert set(load_model("m.json").fusions_) == {(0,), (0, 1)}
    assert len(read_scores("llr.txt")) == N
    assert run("fuse a.txt part.txt --key key.csv -o m.json --missing subset=1")[0] == 0
    assert set(load_model("m.json").fusions_) == {(0,), (1,), (0, 1)}
    assert run("apply m.json part.txt a.txt -o all.txt")[0] == 0
    assert len(read_scores("all.txt")) == N


@pytest.mark.parametrize("more", ["", "--cross-validate speaker:3"])
def test_llrs_of_subsets_do_not_depend_on_the_order_of_the_files(run, more):
    write("x.txt", SCORES[:, 0], range(200))
    write("y.txt", SCORES[:, 1], range(N - 1, 99, -1))
    write("z.txt", SCORES[:, 2], [*range(50, 150), *range(220, 290)])
    found = []
    for order in ("x.txt y.txt z.txt", "z.txt y.txt x.txt"):
        command = f"fuse {order} --key key.csv -o m.json --missing subset=2 --ridge 0.01 --llrs llr.txt {more}"
        code, out, err = run(command)
        assert code == 0, err
        assert "join  300 trials · 50 with scores of all systems · 250 without" in err.splitlines()
        row = next(line.split() for line in out.splitlines() if line.startswith("fusion of available scores"))
        lines = [line.split() for line in Path("llr.txt").read_text().splitlines()]
        assert len(lines) == int(row[4]) == N
        found.append({(m, s): float(llr) for m, s, llr in lines})
        assert run(f"apply m.json {' '.join(reversed(order.split()))} -o again.txt")[0] == 0
        if not more:
            assert sorted(Path("again.txt").read_text().split("\n")) == sorted(Path("llr.txt").read_text().split("\n"))
    assert set(found[0]) == set(NAMES)
    assert found[0] == pytest.approx(found[1], abs=1e-6)
    assert "note  80 trials of y.txt that z.txt does not have, after the others" in err.splitlines()
    assert "note  50 trials of x.txt that no earlier file has, after the others" in err.splitlines()


def test_llrs_of_other_trials_that_some_systems_lack(run):
    for name, k, rows in (("a2.txt", 0, range(80)), ("part2.txt", 1, range(40, 120))):
        write(name, SCORES[:, k], rows)
    command = "fuse a.txt part.txt --key key.csv -o m.json --missing subset=1 --llrs llr.txt"
    assert run(f"{command} --apply-to a2.txt --apply-to part2.txt")[0] == 0
    first = [line.split()[1] for line in Path("llr.txt").read_text().splitlines()]
    assert first == [f"s{i}" for i in range(120)]
    for old, new in (("a2.txt", "a.txt"), ("part2.txt", "part.txt")):
        Path(old).replace(new)
    assert run("apply m.json part.txt a.txt -o other.txt")[0] == 0
    assert sorted(Path("other.txt").read_text().splitlines()) == sorted(Path("llr.txt").read_text().splitlines())


def test_selected_systems_are_found_again(run):
    write("noise.txt", np.random.default_rng(7).normal(size=N))
    for name in "abc":
        Path(f"e_{name}.txt").write_bytes(Path(f"{name}.txt").read_bytes())
    Path("e_noise.txt").write_bytes(Path("noise.txt").read_bytes())
    others = " ".join(f"--apply-to e_{name}.txt" for name in ("noise", "a", "b", "c"))
    code, out, err = run(f"fuse noise.txt a.txt b.txt c.txt --key key.csv -o m.json --select {others} --llrs llr.txt")
    assert code == 0, err
    assert load_model("m.json").training_.systems == ("a", "b", "c")
    assert "left out" in out
    np.testing.assert_allclose(read_scores("llr.txt").score, in_order_of("a.txt", fitted().transform(SCORES)))
    code, _, err = run("apply m.json a.txt b.txt noise.txt c.txt -o again.txt")
    assert code == 0
    assert "note  not part of the fusion: noise" in err
    assert Path("again.txt").read_bytes() == Path("llr.txt").read_bytes()


def test_a_constant_system_is_told_and_costs_nothing(run):
    code, out, err = run("fuse a.txt const.txt b.txt --key key.csv -o m.json")
    assert code == 0, err
    np.testing.assert_allclose(load_model("m.json").weights_[[0, 2]], fitted((0, 1)).weights_, rtol=1e-6)
    assert "const: no information: all of its scores are 1, so its llr is 0" in out
    assert printed_table(out, under="Training trials")["const (calibrated)"]["Cllr"].split(" [")[0] == "1.000"
    assert ["const", "0", "0"] in [line.split() for line in out.splitlines()]
    code, out, err = run("fuse a.txt const.txt b.txt --key key.csv -o m.json --select")
    assert code == 0, err
    assert load_model("m.json").training_.systems == ("a", "b")
    assert "-0.0000" not in out


def test_systems_that_cannot_stand_together_are_left_out_of_a_selection(run):
    common = 5 * np.random.default_rng(7).normal(size=N)
    sign = np.where(TRUTH, 1.0, -1.0)
    write("one.txt", sign + common)
    write("other.txt", sign - common)
    assert run("fuse one.txt other.txt --key key.csv -o m.json")[0] == 2
    code, out, err = run("fuse a.txt one.txt other.txt --key key.csv -o m.json --select")
    assert code == 0, err
    (reason,) = [line for line in out.splitlines() if "one: left out, " in line or "other: left out, " in line]
    assert "separated" in reason


def test_a_system_that_is_constant_where_all_systems_have_scores(run):
    write("h.txt", np.where(np.arange(N) < 200, 1.0, SCORES[:, 0]))
    write("part.txt", SCORES[:, 1], range(200))
    code, out, err = run("fuse h.txt part.txt c.txt --key key.csv --missing subset -o m.json")
    assert code == 0, err
    counts = [re.match(r"(h|part|c) \(calibrated\) +200 |fusion +200 ", line) for line in out.splitlines()[2:9]]
    assert sum(found is not None for found in counts) == 4
    assert ["fusion", "of", "available", "scores", "300"] in [line.split()[:5] for line in out.splitlines()]


def test_incomplete_trials_are_told_by_their_fusion(run):
    assert run("fuse a.txt part.txt --key key.csv -o m.json --missing subset")[0] == 0
    code, _, err = run("apply m.json a.txt part.txt -o o.txt")
    assert code == 0, err
    assert "note  50 trials by the fusion of a" in err.splitlines()
    write("a.txt", SCORES[:, 0], range(40))
    write("part.txt", SCORES[:, 1], range(20, 60))
    code, _, err = run("apply m.json part.txt a.txt -o o.txt")
    assert code == 2
    assert (
        "in 20 trials, the first is trial (m5, s40): it has scores only of part, but there are fusions of a + part, a."
        in err
    )


def test_names_of_other_rows(run):
    for name, old in (("fusion", "a"), ("without fusion", "b")):
        Path(f"{name}.txt").write_bytes(Path(f"{old}.txt").read_bytes())
    code, out, err = run("fuse", "fusion.txt", "without fusion.txt", "c.txt", "--key", "key.csv", "-o", "m.json")
    assert code == 0, err
    rows = [line[:27].strip() for line in out.splitlines()[2:9]]
    assert len(set(rows)) == 7
    assert rows[0] == "fusion (calibrated)"
    noted = {line.partition(":")[0] for line in out.splitlines() if "fewer than 30" in line}
    assert noted == {" · ".join((*rows[:3], rows[-1]))}
    assert rows[-1] == "fusion #2"


def test_measures_are_chosen_and_combined_and_the_model_remembers(run):
    rows = np.random.default_rng(7).random((N, 3))
    Path("q3.txt").write_text("3\n" + "".join(f"s{i} {' '.join(map(repr, rows[i].tolist()))}\n" for i in range(N)))
    Path("matrix.txt").write_text("# sum and difference\n1 1\n0.5, -2\n")
    command = "fuse a.txt b.txt --key key.csv -o m.json --quality q3.txt --measures q3,1 --combine matrix.txt"
    code, _, err = run(f"{command} --llrs one.txt --cross-validate speaker")
    assert code == 0, err
    assert "qual  q3.txt   test: the fusion uses q1 + q3, -2 q1 + 0.5 q3" in err
    made = np.column_stack((rows[:, 2] + rows[:, 0], 0.5 * rows[:, 2] - 2 * rows[:, 0]))
    expected = QualityFusion().fit(SCORES[:, :2], TRUTH, test_quality=made)
    np.testing.assert_allclose(load_model("m.json").quality_weights_, expected.quality_weights_, atol=1e-6)
    code, _, err = run("apply m.json a.txt b.txt --quality q3.txt -o two.txt")
    assert code == 0, err
    found = read_scores("two.txt").score
    np.testing.assert_allclose(
        found, in_order_of("a.txt", expected.transform(SCORES[:, :2], test_quality=made)), atol=1e-6
    )
    Path("others.txt").write_text("3\nnobody 1 2 3\n")
    code, _, err = run("apply m.json a.txt b.txt --quality others.txt -o no.txt")
    assert code == 2
    assert "others.txt: no quality measures of test for any trial of a.txt" in err
    code, _, err = run("apply m.json a.txt b.txt --quality models.txt -o no.txt")
    assert code == 2
    assert "test_quality: 2 measures, but the fusion was trained on 3" in err


def test_measures_are_called_by_what_is_taken(run):
    rows = np.random.default_rng(7).random((N, 2)).round(3)
    Path("q2.txt").write_text("2\n" + "".join(f"s{i} {x} {y}\n" for i, (x, y) in enumerate(rows.tolist())))
    Path("matrix.txt").write_text("0 1\n1 -2\n")
    command = "fuse a.txt b.txt --key key.csv -o m.json --quality q2.txt"
    code, out, err = run(f"{command} --measures q2")
    assert code == 0, err
    assert "q2 of test" in out
    assert "q1 of test" not in out
    code, out, err = run(f"{command} --combine matrix.txt")
    assert code == 0, err
    takes = "qual  q2.txt   test: the fusion uses q2, q1 - 2 q2"
    assert takes in err
    assert "q2 of test" in out
    assert "combined 1 of test" in out
    assert "q1 of test" not in out
    assert takes in run("apply m.json a.txt b.txt --quality q2.txt -o llr.txt")[2]
    code, _, err = run("report a.txt b.txt --key key.csv --model m.json --quality q2.txt -o r.html")
    assert code == 0, err
    page = Path("r.html").read_text()
    assert takes in page
    assert "combined 1 of test" in page
    assert "Measures are combined: combined 1 = q1 - 2 q2." in page


def test_ties_are_those_of_the_systems_as_they_came(run):
    whole = np.round(SCORES[:, :2])
    for k, name in enumerate(("t", "u")):
        write(f"{name}.txt", whole[:, k])
    shared = [set(column[TRUTH]) & set(column[~TRUTH]) for column in whole.T]
    n = [sum(x in own for x in column) for own, column in zip(shared, whole.T.tolist(), strict=True)]
    code, _, err = run("fuse t.txt u.txt --key key.csv -o m.json --quality q.txt")
    assert code == 0, err
    assert f"0 duplicate · trials whose score occurs in both classes: {n[0]} (t), {n[1]} (u)\n" in err


def test_selection_holds_out_groups_in_as_many_parts_as_asked(run):
    code, out, err = run("fuse a.txt b.txt c.txt --key key.csv -o m.json --select --cross-validate speaker:9 --json")
    assert code == 0, err
    found = json.loads(out)["selection"]
    speakers = [f"k{i % 9}" for i in range(N)]
    expected = select_systems(SCORES, TRUTH, names=["a", "b", "c"], groups=speakers, n_folds=9)
    costs = [(step["name"], pytest.approx(step["cost"], rel=1e-7)) for step in found["steps"]]
    assert [(step.name, step.cost) for step in expected.steps] == costs
    other = select_systems(SCORES, TRUTH, names=["a", "b", "c"], groups=speakers)
    assert other.cost != expected.cost


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("", "enroll and test, 5 folds"),
        ("--cross-validate 4", "enroll and test, 4 folds"),
        ("--cross-validate speaker:9", "speaker, 9 folds"),
        ("--cross-validate test,speaker", "test and speaker, 5 folds"),
    ],
)
def test_what_a_selection_holds_out_is_told(run, asked, told):
    code, out, err = run(f"fuse a.txt b.txt --key key.csv -o m.json --select {asked}")
    assert code == 0, err
    assert out.startswith(f"Selection by cross-validated Cllr in bits, on 300 trials; held out: {told}\n")
    code, out, err = run(f"fuse a.txt b.txt --key key.csv -o m.json --select {asked} --json")
    assert json.loads(out)["selection"]["held_out"] == told


def test_systems_left_out_have_rows_of_their_own(run):
    write("noise.txt", np.random.default_rng(7).normal(size=N))
    others = "--apply-to noise.txt --apply-to a.txt --apply-to b.txt --apply-key key.csv"
    code, out, err = run(f"fuse noise.txt a.txt b.txt --key key.csv -o m.json --select --json {others}")
    assert code == 0, err
    assert load_model("m.json").training_.systems == ("a", "b")
    noise = read_scores("noise.txt").score
    llr = LinearFusion().fit_transform(noise[:, None], TRUTH)
    for rows in (json.loads(out)["dev"], json.loads(out)["eval"]):
        assert [row["name"] for row in rows] == ["a", "b", "noise, left out", "fusion"]
        assert rows[2]["cllr"] == pytest.approx(metrics.cllr(llr[TRUTH], llr[~TRUTH]), rel=1e-6)


def test_a_useless_system_makes_the_fusion_no_better(run):
    write("const.txt", np.ones(N))
    code, out, err = run("fuse a.txt const.txt --key key.csv -o m.json")
    assert code == 0, err
    assert "fusion: objective no better than that of a, the best single system\n" in out
    assert "0.0 %" not in out.partition("Weights")[2]


def test_nothing_stands_before_the_first_heading_and_one_line_between_two(run):
    for words in ("", "--select", "--apply-to a.txt --apply-to b.txt --apply-key key.csv"):
        code, out, err = run(f"fuse -q a.txt b.txt --key key.csv -o m.json {words}")
        assert code == 0, err
        assert err == ""
        assert out.splitlines()[0].startswith(("Training trials", "Selection"))
        assert "\n\n\n" not in out
        assert "\n\nWeights\n" in out
        assert "\n\nDivergence" in out


def test_near_copies_are_told_once(run):
    write("r.txt", SCORES[:, 0].round(3))
    others = "--apply-to a.txt --apply-to r.txt --apply-to b.txt --apply-key key.csv"
    code, out, err = run(f"fuse a.txt r.txt b.txt --key key.csv -o m.json {others}")
    assert code == 0, err
    assert out.count("fusion: a + r have nearly the same scores") == 1
    assert "--ridge 0.001" in out


def test_weights_of_measures_are_told_in_the_units_of_the_penalty(run):
    code, out, err = run("fuse a.txt b.txt --key key.csv -o m.json --quality q.txt --ridge 0.01")
    assert code == 0, err
    model = load_model("m.json")
    (line,) = [line for line in out.splitlines() if line.startswith("q1 of test ")]
    assert float(line.split()[-1]) == pytest.approx(model.standardized_quality_weights_[-1, 0], rel=1e-3)
    (line,) = [line for line in out.splitlines() if line.startswith("without quality: offset ")]
    assert len(line.split()) == 6  # a value and its standard error: an offset has no unit


def test_the_fusion_without_quality_is_told(run):
    code, out, err = run("fuse a.txt b.txt --key key.csv -o m.json --quality q.txt")
    assert code == 0, err
    assert "of the 290 trials that have all quality measures" in out
    assert "without quality: a linear fusion, trained on all 300 trials: converged" in out
    lines = {line.rpartition("  ")[0].strip(): line for line in out.splitlines()}
    weight = next(line.split()[3] for line in lines.values() if line.startswith("without quality: a  "))
    assert float(weight) == pytest.approx(fitted((0, 1)).weights_[0], rel=1e-4)
    code, out, _ = run("fuse a.txt b.txt --key key.csv -o m.json --quality q.txt --json")
    assert json.loads(out)["n_without_quality"] == 10


def test_a_model_from_standard_input(run):
    assert run("fuse a.txt b.txt --key key.csv -o m.json")[0] == 0
    assert run("apply m.json a.txt b.txt -o one.txt")[0] == 0
    code, _, err = run("apply - a.txt b.txt -o two.txt", stdin=Path("m.json").read_bytes())
    assert code == 0, err
    assert Path("two.txt").read_bytes() == Path("one.txt").read_bytes()


def test_files_that_are_read_for_figures_and_for_llrs_are_told_once(run):
    others = "--apply-to copy.txt --apply-to b.txt --apply-key key.csv"
    code, _, err = run(f"fuse a.txt b.txt --key key.csv -o m.json --llrs out.txt {others}")
    assert code == 0, err
    told = err[err.index("other ") :]
    assert told.count("read  b.txt") + told.count("read  copy.txt") == 2
    assert "copy.txt with scores of all systems" in told
