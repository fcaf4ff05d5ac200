"""``deciban decide`` as users type it."""

import numpy as np
import pytest

from deciban.fusion import QualityFusion


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "costs.toml").write_text(
        'actions = ["accept", "reject", "ask"]\nclasses = ["target", "other"]\ncosts = [[0, 10], [1, 0], [0.3, 0.3]]\n'
    )
    (tmp_path / "llr.csv").write_text("trial,score\na,9\nb,1\nc,-3\n")
    (tmp_path / "key.csv").write_text("trial,label\na,target\nb,target\nc,nontarget\n")


def test_costs_are_explained_without_scores(run):
    code, out, err = run("decide --costs costs.toml --prior 0.5 --explain")
    assert (code, err) == (0, "")
    assert "reject up to llr -0.847298 (posterior of target 0.3), ask up to llr 3.4761" in out


def test_decisions_are_written_and_told(run, tmp_path):
    code, out, _ = run("decide llr.csv --costs costs.toml --prior 0.5 --key key.csv -o decisions.csv")
    assert code == 0
    assert [line.split(",")[1] for line in (tmp_path / "decisions.csv").read_text().splitlines()[1:]] == [
        '"accept"',
        '"ask"',
        '"reject"',
    ]
    assert "3 decided: accept 1 (0.333), reject 1 (0.333), ask 1 (0.333)" in out
    assert ", 0.075 with these decisions according to the key (0.25 times the cost without scores), " in out


def test_keys_without_a_header_need_their_columns_and_scores_are_listed_once(run, tmp_path):
    (tmp_path / "costs3.toml").write_text(
        'actions = ["a", "b", "c"]\nclasses = ["a", "b", "c"]\ncosts = [[0, 1, 1], [1, 0, 1], [1, 1, 0]]\n'
    )
    (tmp_path / "loglik.csv").write_text("segment,a,b,c\ns1,2,0,0\ns2,0,3,0\ns3,0,0,1\n")
    (tmp_path / "class.key").write_text("s1 a\ns2 b\ns3 c\n")
    call = "decide loglik.csv --costs costs3.toml --prior flat --key class.key -o out.csv"
    code, _, err = run(call)
    assert (code, f"{call} --key-columns trial,class" in err) == (2, True)
    code, out, err = run(f"{call} --key-columns trial,class")
    assert code == 0, err
    assert ", 0 with these decisions according to the key (0 times the cost without scores), 0.242485 expected" in out
    assert err.count("read  loglik.csv") == 1


def test_standard_output_is_for_the_table(run):
    code, out, err = run("decide llr.csv --costs costs.toml --prior 0.5 -o -")
    assert code == 0
    assert out.splitlines()[0] == '"trial","action","posterior","expected_cost","margin"'
    assert "3 decided" in err


def test_a_fusion_takes_its_quality_measures(run, tmp_path):
    rng = np.random.default_rng(2)
    truth = np.arange(60) % 2 == 0
    score, quality = rng.normal(truth * 2.0, 1.0), rng.random((60, 1))
    QualityFusion().fit(score[:, None], truth, trial_quality=quality).save(tmp_path / "fusion.json")
    (tmp_path / "sys.csv").write_text("trial,score\n" + "".join(f"t{i},{x!r}\n" for i, x in enumerate(score.tolist())))
    (tmp_path / "snr.txt").write_text("1\n" + "".join(f"t{i} {x!r}\n" for i, x in enumerate(quality[:, 0].tolist())))
    given = "--model fusion.json --quality trial=snr.txt"
    code, _, err = run(f"decide sys.csv {given} --costs costs.toml --prior 0.5 -o decided.csv")
    assert code == 0, err
    assert run("apply fusion.json sys.csv --quality trial=snr.txt -o llrs.csv")[0] == 0
    assert run("decide llrs.csv --costs costs.toml --prior 0.5 -o expected.csv")[0] == 0
    assert (tmp_path / "decided.csv").read_text() == (tmp_path / "expected.csv").read_text()
    (tmp_path / "truth.txt").write_text(
        "".join(f"{'target' if own else 'other'} t{i}\n" for i, own in enumerate(truth))
    )
    key = "--key truth.txt --key-columns label,trial --labels target=target,nontarget=other"
    code, out, err = run(f"decide sys.csv {given} --costs costs.toml --prior 0.5 {key} -o decided.csv")
    assert (code, "with these decisions according to the key" in out) == (0, True), err
    code, _, err = run("decide llr.csv --quality trial=snr.txt --costs costs.toml --prior 0.5 -o out.csv")
    assert (code, "uses no quality measures" in err) == (2, True)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("decide --costs costs.toml --prior 0.5", "name SCORES"),
        ("decide llr.csv --costs costs.toml --prior 0.5", "Missing option '-o'"),
        ("decide llr.csv --costs costs.toml -o out.csv", "--prior"),
        ("decide llr.csv --costs costs.toml --prior 2 -o out.csv", "prior: 2.0"),
        ("decide llr.csv --costs nowhere.toml --prior 0.5 -o out.csv", "nowhere.toml"),
        (
            "decide llr.csv --costs costs.toml --prior 0.5 --key-columns trial,label -o out.csv",
            "--key-columns: there is no key",
        ),
        ("decide llr.csv llr.csv --costs costs.toml --prior 0.5 -o out.csv", "one system"),
    ],
)
def test_what_cannot_be_decided_is_refused(run, call, message, tmp_path):
    code, _, err = run(call)
    assert code == 2
    assert message in err
    assert not (tmp_path / "out.csv").exists()
