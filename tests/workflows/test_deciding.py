"""Decisions of files: those of arrays, whatever the format, the partitions and the order; nothing half-written."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import deciban
from deciban.calibration import AffineCalibrator
from deciban.decisions import decide, decision_risk
from deciban.errors import FormatError, InputError
from deciban.fusion import LinearFusion
from deciban.io import CostTable

ASK = CostTable(("accept", "reject", "ask"), ("target", "other"), np.array([[0.0, 10.0], [1.0, 0.0], [0.3, 0.3]]))
RNG = np.random.default_rng(3)
N = 400
IS_TARGET = RNG.random(N) < 0.3
LLR = RNG.normal(size=N) * 2 + 3.0 * IS_TARGET


@pytest.fixture
def folder(tmp_path):
    rows = "".join(f"m{i % 9} s{i} {x!r}\n" for i, x in enumerate(LLR.tolist()))
    (tmp_path / "llr.txt").write_text(rows)
    key = "".join(f"m{i % 9} s{i} {'target' if t else 'nontarget'}\n" for i, t in enumerate(IS_TARGET))
    (tmp_path / "key.txt").write_text(key)
    table = pa.table({"enroll": [f"m{i % 9}" for i in range(N)], "test": [f"s{i}" for i in range(N)], "score": LLR})
    pq.write_table(table, tmp_path / "llr.parquet", row_group_size=37)
    return tmp_path


@pytest.mark.parametrize("name", ["llr.txt", "llr.parquet"])
@pytest.mark.parametrize("out", ["out.csv", "out.parquet", "out.tsv"])
def test_every_trial_gets_the_action_of_least_expected_cost(folder, name, out):
    found = deciban.decide_files(folder / name, folder / out, costs=ASK, prior=0.2, key=folder / "key.txt")
    expected = decide(LLR, costs=ASK.costs, prior=[0.2, 0.8])
    if out.endswith("parquet"):
        table = pq.read_table(folder / out)
    else:
        options = pyarrow.csv.ParseOptions(delimiter="," if out.endswith("csv") else "\t")
        table = pyarrow.csv.read_csv(folder / out, parse_options=options)
    assert table.column_names == ["enroll", "test", "action", "posterior", "expected_cost", "margin"]
    assert table["test"].to_pylist() == [f"s{i}" for i in range(N)]
    assert table["action"].to_pylist() == [ASK.actions[k] for k in expected.action]
    np.testing.assert_allclose(table["posterior"], expected.posterior[:, 0], rtol=1e-14)
    np.testing.assert_allclose(table["expected_cost"], expected.expected_cost, rtol=1e-14)
    np.testing.assert_allclose(table["margin"], expected.margin, rtol=1e-12, atol=1e-16)
    assert found.tally.counts.tolist() == expected.tally().counts.tolist()
    assert found.tally.expected_cost == pytest.approx(expected.expected_cost.mean(), rel=1e-12)
    risk = decision_risk(expected.action, np.where(IS_TARGET, 0, 1), costs=ASK.costs, prior=[0.2, 0.8])
    assert found.keyed.risk == pytest.approx(risk, rel=1e-12)
    of_class = [expected.expected_cost[mask].mean() for mask in (IS_TARGET, ~IS_TARGET)]
    assert found.keyed.expected_cost == pytest.approx(np.dot([0.2, 0.8], of_class), rel=1e-12)
    assert found.keyed.counts.sum(axis=0).tolist() == [IS_TARGET.sum(), N - IS_TARGET.sum()]


def test_a_model_makes_llrs_first(folder):
    model = AffineCalibrator().fit(LLR, IS_TARGET)
    model.save(folder / "model.json")
    found = deciban.decide_files(folder / "llr.txt", None, costs=ASK, prior=0.2, model=folder / "model.json")
    expected = decide(model.transform(LLR), costs=ASK.costs, prior=[0.2, 0.8])
    assert found.tally.counts.tolist() == expected.tally().counts.tolist()
    keyed = deciban.decide_files(
        folder / "llr.txt", None, costs=ASK, prior=0.2, model=model, key=folder / "key.txt"
    ).keyed
    assert keyed.counts.sum(axis=1).tolist() == expected.tally().counts.tolist()


def test_many_classes_are_matched_by_name(folder):
    loglik = RNG.normal(size=(50, 3))
    header = "trial,eng,fra,deu\n"
    (folder / "classes.csv").write_text(
        header + "".join(f"t{i},{a!r},{b!r},{c!r}\n" for i, (a, b, c) in enumerate(loglik.tolist()))
    )
    costs = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [0.4, 0.4, 0.4]])
    table = CostTable(("d", "e", "other"), ("deu", "eng", "fra"), costs)
    found = deciban.decide_files(folder / "classes.csv", folder / "out.csv", costs=table, prior="flat")
    expected = decide(loglik[:, [2, 0, 1]], costs=costs)
    written = pyarrow.csv.read_csv(folder / "out.csv")
    assert written["action"].to_pylist() == [table.actions[k] for k in expected.action]
    np.testing.assert_allclose(written["posterior_fra"], expected.posterior[:, 2], rtol=1e-14)
    assert found.tally.n_trials == 50


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_costs_of_two_classes_explain_why_one_score_is_needed(folder, ending):
    table = pa.table({"trial": ["a", "b"], "eng": [0.5, 1.0], "fra": [1.0, 2.0], "deu": [0.0, 0.0]})
    path = folder / f"classes.{ending}"
    pq.write_table(table, path) if ending == "parquet" else pyarrow.csv.write_csv(table, path)
    why = r"ASK.toml has costs of two classes \(target, other\). Scores of classes need costs of the same classes."
    with pytest.raises(FormatError, match=why):
        deciban.decide_files(path, folder / "out.csv", costs=replace(ASK, name="ASK.toml"), prior=0.2)
    assert not (folder / "out.csv").exists()


def test_costs_of_three_classes_need_scores_of_classes(folder):
    table = CostTable(("a", "b", "c"), ("x", "y", "z"), 1.0 - np.eye(3))
    with pytest.raises(FormatError) as caught:
        deciban.decide_files(folder / "llr.parquet", None, costs=table, prior="flat")
    assert "two classes" not in str(caught.value)


def test_a_column_of_the_scores_is_not_written_over(folder):
    (folder / "own.csv").write_text("trial,margin,score\na,wide,1.5\n")
    with pytest.raises(InputError, match="the scores have a column 'margin'"):
        deciban.decide_files(folder / "own.csv", folder / "out.csv", costs=ASK, prior=0.2)
    assert not (folder / "out.csv").exists()


def test_named_columns_without_classes_are_refused(folder):
    pq.write_table(pa.table({"trial": ["a"], "x": [0.5], "y": [1.0], "z": [2.0]}), folder / "classes.parquet")
    table = CostTable(("a", "b", "c"), ("x", "y", "z"), 1.0 - np.eye(3))
    with pytest.raises(FormatError, match=r"classes.parquet: contains no scores of classes"):
        deciban.decide_files(folder / "classes.parquet", None, costs=table, prior="flat", columns={"trial": "trial"})


def test_partitions_that_look_like_probabilities_are_told_once_and_only_if_all_do(folder, recwarn):
    for last, n_told in ((0.5, 1), (7.0, 0)):
        scores = [*RNG.random(99).tolist(), last]
        table = pa.table({"trial": [f"t{k}" for k in range(100)], "score": scores})
        pq.write_table(table, folder / "p.parquet", row_group_size=20)
        found = deciban.decide_files(folder / "p.parquet", None, costs=ASK, prior=0.2)
        assert sum("look like probabilities" in one.text for one in found.messages) == n_told
    assert not recwarn.list


def test_an_error_names_the_row_group(folder):
    scores = np.zeros((60, 3))
    scores[45] = -np.inf
    columns = {f"c{k}": scores[:, k] for k in range(3)}
    table = pa.table({"trial": [f"t{k}" for k in range(60)]} | columns)
    pq.write_table(table, folder / "classes.parquet", row_group_size=20)
    costs = CostTable(("a", "b", "c"), ("c0", "c1", "c2"), 1.0 - np.eye(3))
    with pytest.raises(InputError, match=r"classes.parquet, row group 2: .*t45.* has the score -inf for every class"):
        deciban.decide_files(folder / "classes.parquet", folder / "out.csv", costs=costs, prior="flat")


def test_a_key_needs_scores_that_can_be_read_twice_and_fit(folder):
    with pytest.raises(InputError, match="standard input: can be read only once"):
        deciban.decide_files("-", folder / "out.csv", costs=ASK, prior=0.2, key=folder / "key.txt")
    n = 1_000_000
    pq.write_table(
        pa.table({"trial": np.arange(n).astype(str), "score": np.zeros(n, np.float32)}), folder / "m.parquet"
    )
    given = {"costs": ASK, "prior": 0.2, "key": folder / "key.txt", "memory": "100MB"}
    with pytest.raises(InputError, match=r"key: .* are read as a whole .*, which takes [\d,]+ MB where 100 MB are"):
        deciban.decide_files(folder / "m.parquet", folder / "out.csv", **given)
    assert not (folder / "out.csv").exists()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (
            {"costs": CostTable(("a", "b"), ("nontarget", "target"), np.eye(2))},
            InputError,
            "first of two classes must be the target",
        ),
        (
            {"costs": CostTable(("a",), ("x", "y", "z"), np.ones((1, 3))), "kind": "two-class", "prior": "flat"},
            InputError,
            "3 classes, but the scores",
        ),
        ({"out": "out.doc"}, InputError, "ends in .doc"),
        ({"out": "llr.txt"}, InputError, "llr.txt"),
        ({"prior": None}, InputError, "you gave none"),
        ({"scores": "bad.txt"}, FormatError, "bad.txt"),
    ],
)
def test_hostile_input_leaves_nothing(folder, change, error, message):
    (folder / "bad.txt").write_text("m1 s1 1.5\nm1 s2 nan\n")
    given = {"scores": "llr.txt", "out": "out.csv", "costs": ASK, "prior": 0.2} | change
    before = sorted(folder.iterdir())
    scores, out = folder / given.pop("scores"), folder / given.pop("out")
    with pytest.raises(error, match=message):
        deciban.decide_files(scores, out, **given)
    assert sorted(folder.iterdir()) == before


def test_a_fusion_decides_what_it_makes_of_all_systems(folder):
    other = LLR + np.random.default_rng(8).normal(size=N)
    rows = [f"m{i % 9} s{i} {x!r}\n" for i, x in enumerate(other.tolist())]
    (folder / "other.txt").write_text("".join(reversed(rows)))  # they meet by name
    files = [folder / "llr.txt", folder / "other.txt"]
    deciban.train_files(files, folder / "key.txt", LinearFusion()).model.save(folder / "fusion.json")
    how = {"costs": ASK, "prior": 0.2, "key": folder / "key.txt"}
    found = deciban.decide_files(files, folder / "out.parquet", model=folder / "fusion.json", **how)
    deciban.apply_files(folder / "fusion.json", files, folder / "fused.parquet")
    expected = deciban.decide_files(folder / "fused.parquet", folder / "expected.parquet", **how)
    assert pq.read_table(folder / "out.parquet").equals(pq.read_table(folder / "expected.parquet"))
    assert found.keyed.risk == expected.keyed.risk
    with pytest.raises(InputError, match="would replace|overwrite|input"):
        deciban.decide_files(files, folder / "other.txt", model=folder / "fusion.json", costs=ASK, prior=0.2)


def test_cells_of_a_matrix_are_trials(tmp_path):
    h5py = pytest.importorskip("h5py")
    scores, chosen = LLR[:12].reshape(3, 4), np.ones((3, 4), np.uint8)
    chosen[1, 2] = 0
    with h5py.File(tmp_path / "m.h5", "w") as file:
        file["ID/row_ids"], file["ID/column_ids"] = list("abc"), list("wxyz")
        file["scores"], file["score_mask"] = scores, chosen
    deciban.decide_files(tmp_path / "m.h5", tmp_path / "out.parquet", costs=ASK, prior=0.2)
    table = pq.read_table(tmp_path / "out.parquet")
    expected = decide(scores[chosen > 0], costs=ASK.costs, prior=[0.2, 0.8])
    assert table["action"].to_pylist() == [ASK.actions[k] for k in expected.action]
    assert table["enroll"].to_pylist() == list("aaaabbbcccc")


def test_a_matrix_of_classes_is_decided_row_by_row_and_one_without_names_is_refused(tmp_path):
    np.save(tmp_path / "c.npy", LLR[:30].reshape(10, 3))
    costs = CostTable(("a", "b", "c"), ("a", "b", "c"), 1.0 - np.eye(3))
    how = {"costs": costs, "prior": "flat", "classes": ["c", "b", "a"]}
    found = deciban.decide_files(tmp_path / "c.npy", tmp_path / "out.parquet", **how)
    expected = np.argmax(LLR[:30].reshape(10, 3)[:, ::-1], axis=1)
    assert pq.read_table(tmp_path / "out.parquet")["action"].to_pylist() == [costs.actions[k] for k in expected]
    assert found.tally.n_trials == 10
    with pytest.raises(InputError, match="rows and columns have no names"):
        deciban.decide_files(tmp_path / "c.npy", None, costs=ASK, prior=0.2)


def written(folder, scores):
    (folder / "other.txt").write_text("".join(f"m{i % 9} s{i} {x!r}\n" for i, x in enumerate(scores.tolist())))
    return folder / "other.txt"


NO_LLRS = {
    "cosines": (np.tanh(LLR / 10), "like cosine scores"),
    "ratios": (np.exp(2 * LLR - 1), "add lr=True"),
    "probabilities": (1 / (1 + np.exp(-LLR)), "look like probabilities"),
}


@pytest.mark.parametrize("what", NO_LLRS)
def test_scores_that_are_no_llrs_get_a_warning(folder, what):
    scores, words = NO_LLRS[what]
    path = written(folder, scores)
    notes = [one.text for one in deciban.decide_files(path, None, costs=ASK, prior=0.2).messages]
    assert any(words in one and "meaningless" in one for one in notes)
    found = deciban.decide_files(path, None, costs=ASK, prior=0.2, key=folder / "key.txt")
    notes = [one.text for one in found.messages if "are meaningless for such scores" in one.text]
    assert len(notes) == 1
    assert not any(words in one.text for one in found.messages) or what == "ratios"


def test_llrs_get_no_warning(folder):
    """Weak ones, with labels that confirm them, may lie in [-1, 1]: of variance twice their mean."""
    weak = np.clip(np.where(IS_TARGET, 0.05, -0.05) + np.random.default_rng(1).normal(size=N) * 0.316, -0.9, 0.9)
    for path, key in (("llr.txt", None), ("llr.txt", "key.txt"), (written(folder, weak), "key.txt")):
        truth = None if key is None else folder / key
        found = deciban.decide_files(folder / path, None, costs=ASK, prior=0.2, key=truth)
        assert not any("meaningless" in one.text for one in found.messages)


def test_scores_that_decide_nothing_are_noticed(folder):
    model = AffineCalibrator().fit(LLR, IS_TARGET)
    for path, prior, n in (("llr.txt", 0.2, 0), ("llr.txt", 1e-9, 1)):
        for own in (None, model):
            found = deciban.decide_files(folder / path, None, costs=ASK, prior=prior, model=own)
            assert sum("get the same decision (reject)" in one.text for one in found.messages) == n


def test_the_message_on_what_was_read_names_the_format(folder):
    (read, *_) = deciban.decide_files(folder / "llr.txt", None, costs=ASK, prior=0.2).messages
    assert str(read) == f"read  {folder / 'llr.txt'}   kaldi 'enroll test score'   400 trials"
    told = deciban.summarize_files(folder / "llr.txt", folder / "b.summary", folder / "key.txt")
    assert str(told[0]) == f"read  {folder / 'llr.txt'}   kaldi 'enroll test score'   400 rows"
    assert str(told[1]) == f"key   {folder / 'key.txt'}   kaldi 'enroll test label'   400 rows"


def test_common_logarithms_cost_by_a_key_what_natural_ones_do(folder):
    path = written(folder, LLR / np.log(10))
    one, other = (
        deciban.decide_files(name, None, costs=ASK, prior=0.2, key=folder / "key.txt", log10=log10).keyed
        for name, log10 in ((folder / "llr.txt", False), (path, True))
    )
    assert one.risk == pytest.approx(other.risk, rel=1e-12)
