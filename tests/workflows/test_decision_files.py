"""Files of decisions against a key: what `decide_files` wrote costs what it said, and words are never guessed."""

import gzip

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import deciban
from deciban import metrics
from deciban.decisions import decision_risk
from deciban.errors import FormatError, InputError, KeyMismatchError
from deciban.io import CostTable
from deciban.multiclass import decision_c_avg
from deciban.workflows.deciding.decision_files import evaluate_decision_files

RNG = np.random.default_rng(9)
N = 200
TRUTH = RNG.random(N) < 0.4
LLR = RNG.normal(np.where(TRUTH, 2.0, -2.0), 2.0)
TWO = CostTable(("accept", "reject"), ("target", "other"), np.array([[0.0, 1.0], [1.0, 0.0]]))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "llr.csv").write_text("trial,score\n" + "".join(f"u{i},{x!r}\n" for i, x in enumerate(LLR.tolist())))
    rows = [f"u{i},{'target' if one else 'nontarget'}\n" for i, one in enumerate(TRUTH)]
    (tmp_path / "key.csv").write_text("trial,label\n" + "".join(reversed(rows)))
    return tmp_path


@pytest.mark.parametrize("words", [("accept", "reject"), ("1", "0")])
def test_what_was_decided_costs_what_it_costs(folder, words):
    deciban.decide_files(folder / "llr.csv", folder / "d.csv", costs=TWO, prior=0.3)
    text = (folder / "d.csv").read_text().replace('"accept"', words[0]).replace('"reject"', words[1])
    (folder / "d.csv").write_text(text)
    named = {} if words[0] == "accept" else {"accept": words[:1], "reject": words[1:]}
    points = [0.3, (0.01, 10, 1)]
    found = evaluate_decision_files(
        folder / "d.csv", folder / "key.csv", operating_points=points, units="trials", **named
    )
    (one,) = found.systems
    tar, non = LLR[TRUTH], LLR[~TRUTH]
    assert one.costs[0].normalized == pytest.approx(metrics.act_dcf(tar, non, p_target=0.3), rel=1e-12)
    accepted = -np.log(3 / 7) <= LLR
    assert one.rates == metrics.decision_errors(accepted, TRUTH)._asdict()
    assert one.name == "d"
    assert one.uncertainty.n_units == N


def test_a_third_action_is_counted_and_costs_what_the_file_says(folder):
    ask = CostTable(
        ("accept", "reject", "ask"), ("target", "other"), np.array([[0, 10], [1, 0], [0.3, 0.3]]), name="ask"
    )
    said = deciban.decide_files(folder / "llr.csv", folder / "d.tsv", costs=ask, prior=0.2, key=folder / "key.csv")
    (one,) = evaluate_decision_files(folder / "d.tsv", folder / "key.csv", costs=ask, operating_points=[0.2]).systems
    assert one.counts.tolist() == said.keyed.counts.tolist()
    assert one.costs[0].cost == pytest.approx(said.keyed.risk, rel=1e-12)
    assert one.rates == {}


def test_many_classes_are_decided_by_name(tmp_path):
    label = RNG.integers(0, 3, 60)
    said = np.where(RNG.random(60) < 0.7, label, RNG.integers(0, 3, 60))
    for name, column, codes in (("d.tsv", "decision", said), ("k.tsv", "class", label)):
        rows = "".join(f"s{i}\t{'abc'[k]}\n" for i, k in enumerate(codes))
        (tmp_path / name).write_text(f"segment\t{column}\n{rows}")
    (one,) = evaluate_decision_files(tmp_path / "d.tsv", tmp_path / "k.tsv", prior=[0.2, 0.3, 0.5]).systems
    assert one.classes == ("a", "b", "c")
    risk = decision_risk(said, label, costs=1.0 - np.eye(3), prior=[0.2, 0.3, 0.5])
    assert one.costs[0].cost == pytest.approx(risk, rel=1e-12)
    assert one.counts.T.tolist() == [[int(((label == i) & (said == j)).sum()) for j in range(3)] for i in range(3)]


def test_yes_and_no_are_not_guessed_and_every_trial_needs_a_decision(folder):
    (folder / "d.csv").write_text("trial,action\n" + "".join(f"u{i},{'yes' if i % 2 else 'no'}\n" for i in range(N)))
    with pytest.raises(InputError, match="Set the words for accept"):
        evaluate_decision_files(folder / "d.csv", folder / "key.csv")
    (folder / "d.csv").write_text("trial,action\nu1,accept\nu2,reject\n")
    with pytest.raises(KeyMismatchError):
        evaluate_decision_files(folder / "d.csv", folder / "key.csv")


@pytest.mark.parametrize("own_truth", [True, False])
def test_decisions_about_each_language_cost_c_avg(tmp_path, own_truth):
    label, accepted = np.arange(60) % 3, RNG.random((2, 60, 3)) < 0.4
    for name, table in zip("pq", accepted, strict=True):
        rows = [
            f"lr {'abc'[k]} closed s{i} {'ft'[int(table[i, k])]} 0{f' {chr(97 + label[i])}' if own_truth else ''}\n"
            for k in range(3)
            for i in range(60)
        ]
        (tmp_path / f"{name}.txt").write_text("".join(rows))
    (tmp_path / "k.tsv").write_text("segment\tclass\n" + "".join(f"s{i}\t{'abc'[k]}\n" for i, k in enumerate(label)))
    files, key = [tmp_path / "p.txt", tmp_path / "q.txt"], None if own_truth else tmp_path / "k.tsv"
    found = evaluate_decision_files(files, key, format="nist-lre07", p_target=0.2, units="trials").systems
    for one, table in zip(found, accepted, strict=True):
        assert one.rates["c_avg"] == pytest.approx(decision_c_avg(table, label, p_target=0.2), rel=1e-12)
        exactly = [(table[label == k] == (np.arange(3) == k)).all(axis=1).mean() for k in range(3)]
        assert one.rates["error_rate"] == pytest.approx(1.0 - np.mean(exactly), rel=1e-12)
        assert one.uncertainty is not None
    with pytest.raises(FormatError, match="format=.nist-lre07"):
        evaluate_decision_files(files, key)
    with pytest.raises(InputError, match="contain t or f at a fixed place"):
        evaluate_decision_files(files, key, format="nist-lre07", accept=["t"])
    (tmp_path / "q.txt").write_text("lr a closed s0 t 0\nlr d closed s0 t 0\n")
    with pytest.raises(
        InputError, match=r"q.txt: has decisions about a, d; b, c, d is not in both this file and .*p.txt"
    ):
        evaluate_decision_files(files, key, format="nist-lre07")


FOUR = [("a", "target"), ("b", "nontarget"), ("c", "nontarget"), ("d", "target")]


@pytest.fixture
def four(tmp_path):
    (tmp_path / "k.csv").write_text("trial,label\n" + "".join(f"{name},{label}\n" for name, label in FOUR))

    def evaluated(rows, **how):
        path = tmp_path / how.pop("called", "d.csv")
        path.write_bytes(rows if isinstance(rows, bytes) else rows.encode())
        return evaluate_decision_files(path, tmp_path / "k.csv", **how).systems[0]

    return evaluated


ROWS = "trial,action\na,accept\nb,reject\nc,accept\nd,accept\n"


@pytest.mark.parametrize(
    ("rows", "called"),
    [
        (gzip.compress(ROWS.encode(), mtime=0), "d.csv.gz"),
        (ROWS.replace(",", ", "), "d.csv"),
        (ROWS, "d.txt"),
        (ROWS.replace(",", "\t"), "d"),
        (ROWS.replace(",", " "), "d.txt"),
        ("\ufeff" + ROWS, "d.csv"),
    ],
)
def test_tables_are_read_however_they_stand(four, rows, called):
    found = four(rows, called=called)
    assert found.rates == {"p_miss": 0.0, "p_fa": 0.5}
    assert found.name == "d"


def test_parquet_is_known_by_its_bytes_and_a_truncated_one_is_named(four, tmp_path):
    table = pa.table({"trial": list("abcd"), "action": ["accept", "reject", "accept", "accept"]})
    parquet.write_table(table, tmp_path / "whole")
    whole = (tmp_path / "whole").read_bytes()
    assert four(whole, called="d.pq").rates["p_fa"] == 0.5
    with pytest.raises(FormatError, match=r"d\.pq"):
        four(whole[:-20], called="d.pq")


@pytest.mark.parametrize(
    ("rows", "how", "words"),
    [
        (ROWS, {"costs": CostTable(TWO.actions, ("nontarget", "target"), TWO.costs)}, "the first of two classes"),
        (ROWS.replace("d,accept", "d,undecided"), {}, "'undecided' is neither accept nor reject"),
        (ROWS.replace("d,accept", "d,"), {}, "row 4 contains no decision"),
        (ROWS, {"log10": True}, "log10: is for scores"),
        (ROWS.replace("d,accept\n", ""), {"missing": 0.0}, "decisions are not numbers"),
        (ROWS.replace("d,accept\n", ""), {}, r"no decision in \S*d\.csv, for example d.*, or add their decisions"),
        (ROWS + "a,accept\n", {}, r"d\.csv, row 4: trial \(a\)"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_the_name_of_the_file(four, rows, how, words):
    with pytest.raises(InputError if how or "undecided" in rows else ValueError, match=words) as caught:
        four(rows, **how)
    assert ".parquet" not in str(caught.value)


def test_decisions_that_exceed_the_memory_that_is_allowed_are_refused(four, monkeypatch):
    monkeypatch.setattr("deciban.workflows.options.memory_of", lambda *_: 1 << 60)
    with pytest.raises(InputError, match="memory: decisions and their key are read as a whole, which takes"):
        four(ROWS, memory="2GB")


def test_a_class_that_no_decision_says_is_named(tmp_path):
    (tmp_path / "d.csv").write_text("segment,action\ns1,a\ns2,b\ns3,b\n")
    (tmp_path / "k.csv").write_text("segment,class\ns1,a\ns2,b\ns3,c\n")
    with pytest.raises(KeyMismatchError, match="'c'.* name all classes"):
        evaluate_decision_files(tmp_path / "d.csv", tmp_path / "k.csv")
    (one,) = evaluate_decision_files(tmp_path / "d.csv", tmp_path / "k.csv", classes=["a", "b", "c"]).systems
    assert one.rates["error_rate"] == pytest.approx(1 / 3)
