"""The first five minutes of ten kinds of users: files of the shape that they have, and the words that they must read.

Scores are drawn here. Numbers are compared with those of the arrays that were written, so that what is tested is the
way from a file to a number: that the right trials are targets, in the right units, with nothing looked up.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import deciban
from deciban import metrics
from support.commands import printed_table

N = 1200


@pytest.fixture
def run(typed_here):
    """Runs a command in a folder of its own; what it prints comes as text."""
    return typed_here


@pytest.fixture
def trials():
    """Scores that are nearly log-likelihood ratios, and whether each is a target."""
    rng = np.random.default_rng(14)
    is_target = np.arange(N) % 4 == 0
    return rng.normal(np.where(is_target, 2.0, -2.0), 2.0), is_target


def lines(path, rows):
    Path(path).write_text("".join(f"{row}\n" for row in rows))


def words_of(is_target, target="target", nontarget="nontarget"):
    return [target if one else nontarget for one in is_target]


def row(out, name, **how):
    return printed_table(out, **how)[name]


def estimate(cell):
    """A metric without its interval."""
    return cell.partition(" [")[0]


def eer(score, is_target):
    return f"{100 * metrics.eer(score[is_target], score[~is_target]):.2f} %"


def cllr(score, is_target):
    return f"{metrics.cllr(score[is_target], score[~is_target]):.3f}"


def test_1_a_speaker_laboratory(run, trials):
    """Kaldi text and a key: metrics and a page, two commands."""
    score, is_target = trials
    names = [f"spk{i % 30} utt{i}" for i in range(N)]
    lines("scores", (f"{name} {value!r}" for name, value in zip(names, score.tolist(), strict=True)))
    lines("trials", (f"{name} {word}" for name, word in zip(names, words_of(is_target), strict=True)))
    code, out, err = run("eval scores --key trials")
    assert code == 0, err
    found = row(out, "scores")
    assert found["EER (ROCCH)"].startswith(f"{eer(score, is_target)} [")
    assert found["Cllr"].startswith(f"{cllr(score, is_target)} [")
    assert "1,200 matched · 0 missing · 0 extra" in err
    assert run("report scores --key trials -o page.html")[0] == 0
    assert eer(score, is_target) in Path("page.html").read_text()


def test_2_a_list_of_voxceleb(run, trials):
    """Names without their ending, and cosines: said to be that, mended by one option, calibrated by one command."""
    score, is_target = trials
    pairs = [(f"id1{i % 40:04d}/v{i % 7}/00001", f"id1{i % 53:04d}/w{i}/00002") for i in range(N)]
    cosine = np.tanh(score / 8)
    rows = zip(pairs, is_target, strict=True)
    lines("veri_test.txt", (f"{int(one)} {enroll}.wav {test}.wav" for (enroll, test), one in rows))
    lines(
        "scores.txt",
        (f"{enroll} {test} {value!r}" for (enroll, test), value in zip(pairs, cosine.tolist(), strict=True)),
    )
    code, _, err = run("eval scores.txt --key veri_test.txt")
    assert code == 2
    assert "'.wav'" in err
    assert "--ids strip-ending" in err
    code, out, err = run("eval scores.txt --key veri_test.txt --ids strip-ending")
    assert code == 0, err
    assert row(out, "scores")["EER (ROCCH)"].startswith(f"{eer(cosine, is_target)} [")
    told = " ".join(out.split())
    assert told.count("The scores are not log-likelihood ratios") == 1
    assert "so actual costs and Cllr are meaningless: calibrate them (deciban calibrate)." in told
    assert "costs more than ignoring" not in out
    code, out, err = run("calibrate scores.txt --key veri_test.txt --ids strip-ending -o model.json --llrs llrs.txt")
    assert code == 0, err
    code, out, err = run("eval llrs.txt --key veri_test.txt --ids strip-ending")
    assert code == 0, err
    assert "not log-likelihood ratios" not in out


def test_3_a_submission_to_nist(run, trials):
    """Validated, evaluated by its preset, calibrated and written for the organizers, by the names of their file."""
    score, is_target = trials
    names = [f"{1000 + i % 40}_sre18\tseg{i:05d}_sre18\ta" for i in range(N)]
    lines("trials.tsv", ["modelid\tsegmentid\tside", *names])
    rows = zip(names, words_of(is_target), strict=True)
    lines("key.tsv", ["modelid\tsegmentid\tside\ttargettype", *(f"{name}\t{word}" for name, word in rows)])
    rows = zip(names, (3 * score).tolist(), strict=True)
    lines("mine.tsv", ["modelid\tsegmentid\tside\tLLR", *(f"{name}\t{value!r}" for name, value in rows)])
    assert run("validate mine.tsv --trials trials.tsv")[0] == 0
    code, out, err = run("eval mine.tsv --key key.tsv --preset sre18-cmn2")
    assert code == 0, err
    words = "similar to the primary metric of sre18-cmn2: all trials pooled, because the key has no columns"
    assert f"{words} gender" in " ".join(out.split())
    assert "mean over points" in out
    line = "calibrate mine.tsv --key key.tsv --p-target 0.01 --cross-validate modelid -o model.json --llrs better.tsv"
    code, out, err = run(line)
    assert code == 0, err
    assert "trained without the trials that share its value of modelid" in err
    assert run("validate better.tsv --trials trials.tsv")[0] == 0


def test_4_a_key_of_asvspoof(run, trials):
    """The key as it was distributed, of which one subset counts."""
    score, is_target = trials
    subset = np.where(np.arange(N) % 3 == 0, "progress", "eval")
    attack = np.where(is_target, "-", np.where(np.arange(N) % 2 == 0, "A07", "A11"))
    key = (
        f"LA_{i % 40:04d} LA_E_{i:07d} alaw ita_tx {attack[i]} {word} notrim {subset[i]}"
        for i, word in enumerate(words_of(is_target, "bonafide", "spoof"))
    )
    lines("trial_metadata.txt", key)
    lines("cm.txt", (f"LA_E_{i:07d} {value!r}" for i, value in enumerate(score.tolist())))
    code, out, err = run("eval cm.txt --key trial_metadata.txt --where subset=eval")
    assert code == 0, err
    some = subset == "eval"
    assert "[" in row(out, "cm")["EER (ROCCH)"]
    assert estimate(row(out, "cm")["EER (ROCCH)"]) == eer(score[some], is_target[some])
    assert f"95 % intervals by trial, {some.sum():,} trials taken as independent" in " ".join(out.split())
    assert err.count("if they share speakers or sources, the intervals are too narrow") == 1
    code, out, err = run("report cm.txt --key trial_metadata.txt --where subset=eval -q -o page.html")
    assert (code, err.count("\n")) == (0, 1)
    assert err.startswith("cm: actDCF and minDCF at p_target 0.01 rest on fewer")
    assert "trials taken as independent" in Path("page.html").read_text()
    code, out, err = run("eval cm.txt --key trial_metadata.txt --where subset=eval --json -q")
    assert json.loads(out)["systems"][0]["units"]["source"] == "trials taken as independent"
    code, out, err = run("eval cm.txt --key trial_metadata.txt --where subset=eval --no-intervals")
    assert "[" not in row(out, "cm")["EER (ROCCH)"]
    code, out, err = run("eval cm.txt --key trial_metadata.txt --where subset=eval --where 'attack=A07|-'")
    assert code == 0, err
    some &= is_target | (attack == "A07")
    assert estimate(row(out, "cm")["EER (ROCCH)"]) == eer(score[some], is_target[some])


def test_5_fusion_of_spoofing_and_speaker_scores(run, trials):
    """The table that the organizers' tool of fusion reads: two columns of scores, labels of three words, no names."""
    score, is_target = trials
    is_spoof = ~is_target & (np.arange(N) % 2 == 0)
    other = np.random.default_rng(3).normal(np.where(is_spoof, -2.0, 1.0), 1.0)
    label = np.where(is_target, "target", np.where(is_spoof, "spoof", "nontarget"))
    rows = zip(score.tolist(), other.tolist(), label, strict=True)
    lines("dev.csv", ["asv_score,cm_score,sasv_label", *(f"{one!r},{two!r},{word}" for one, two, word in rows)])
    code, out, err = run("eval dev.csv --kind two-class")
    assert code == 0, err
    assert estimate(row(out, "asv_score")["EER (ROCCH)"]) == eer(score, is_target)
    code, out, err = run("eval dev.csv --columns score=cm_score,label=sasv_label")
    assert code == 0, err
    assert "300 target (target) · 900 non-target (nontarget, spoof)" in err
    assert estimate(row(out, "dev")["EER (ROCCH)"]) == eer(other, is_target)
    code, out, err = run("fuse dev.csv --kind two-class --cross-validate 5 -o model.json")
    assert code == 0, err
    alone = metrics.cllr(score[is_target], score[~is_target])
    assert float(estimate(row(out, "fusion", under="Training trials")["Cllr"])) < alone


def test_6_a_forensic_examiner(run, trials):
    """Two files of common logarithms, one for each hypothesis: validated, bounded, and said in the same unit."""
    score, is_target = trials
    log10 = score / np.log(10)
    lines("same.txt", map(repr, log10[is_target].tolist()))
    lines("different.txt", map(repr, log10[~is_target].tolist()))
    code, out, err = run("eval --same same.txt --different different.txt --log10")
    assert code == 0, err
    assert "300 target" in err
    assert "log10" in err
    assert cllr(score, is_target) in out
    code, out, err = run("eval --tar same.txt --non different.txt --log10 --misleading --json")
    assert code == 0, err
    found = json.loads(out)["systems"][0]
    assert found["cllr"] == pytest.approx(metrics.cllr(score[is_target], score[~is_target]), rel=1e-12)
    code, out, err = run("calibrate --tar same.txt --non different.txt --log10 --method affine,elub -o model.json")
    assert code == 0, err
    assert run("report --tar same.txt --non different.txt --log10 -o page.html")[0] == 0
    assert "log10" in Path("page.html").read_text()


def test_7_a_team_of_language_recognition(run):
    """A submission of detection llrs: it is asked what they are, and they are worth what they were made of."""
    rng = np.random.default_rng(7)
    label, languages = rng.integers(4, size=400), ["ara-aeb", "eng-usg", "por-brz", "zho-cmn"]
    loglik = 2 * rng.normal(size=(400, 4)) + 4 * np.eye(4)[label]
    lines("key.tsv", ["segmentid\tlanguage_code", *(f"seg{i}.sph\t{languages[k]}" for i, k in enumerate(label))])
    rows = (f"seg{i}.sph," + ",".join(map(repr, row)) for i, row in enumerate(loglik.tolist()))
    lines("loglik.csv", ["trial," + ",".join(languages), *rows])
    code, _, err = run("convert loglik.csv submission.tsv --to nist-lre17")
    assert code == 0, err
    assert "as nist-lre17, detection llrs" in err
    code, out, err = run("eval submission.tsv --key key.tsv --preset lre17")
    assert code == 0, err
    assert "all results are wrong without --detection-llr" in err
    assert "--format nist-lre17" in err
    wrong = row(out, "submission")
    expected = row(run("eval loglik.csv --key key.tsv --preset lre17")[1], "loglik")
    for option in ("--detection-llr", "--format nist-lre17"):
        code, out, err = run(f"eval submission.tsv --key key.tsv --preset lre17 {option}")
        assert code == 0, err
        assert "scores are detection llrs" in err
        assert row(out, "submission") == expected != wrong
        assert "400 segments taken as independent" in " ".join(out.split())
        first = out.partition("equal priors")[0]
        assert all("[" in cell for cell in row(first, "submission").values())
    line = "calibrate submission.tsv --format nist-lre17 --key key.tsv -o model.json --llrs better.tsv"
    code, _, err = run(line)
    assert code == 0, err
    assert "as nist-lre17, detection llrs" in err


def test_8_an_engineer_of_machine_learning(run, trials):
    """Columns y_true and y_prob: probabilities are seen for what they are, and one option says by which prior."""
    score, is_target = trials
    prior = 0.25
    prob = 1 / (1 + np.exp(-(score + np.log(prior / (1 - prior)))))
    rows = zip(is_target.astype(int), prob.tolist(), strict=True)
    lines("test.csv", [",y_true,y_prob", *(f"{i},{y},{p!r}" for i, (y, p) in enumerate(rows))])
    code, out, err = run("eval test.csv")
    assert code == 0, err
    assert "probabilities" in out
    assert "--probabilities" in out
    code, out, err = run("eval test.csv --probabilities 0.25")
    assert code == 0, err
    assert estimate(row(out, "test")["Cllr"]) == cllr(score, is_target)
    assert "probabilities?" not in out
    with pytest.raises(deciban.InputError, match=r"scores\[y\], scores\[~y\]"):
        deciban.evaluate(is_target, score)


def test_9_a_laboratory_of_biometrics(run):
    """Matrices with names of rows and columns: error rates of ISO 19795, and HTER by the threshold of other trials."""
    rng = np.random.default_rng(9)
    people, same = [f"p{i:02d}" for i in range(30)], np.eye(30, dtype=bool)
    tables = {which: rng.normal(size=(30, 30)) + 3.0 * same for which in ("dev", "test")}
    for which, table in tables.items():
        rows = (f"{name}," + ",".join(map(repr, row)) for name, row in zip(people, table.tolist(), strict=True))
        lines(f"{which}.csv", ["," + ",".join(people), *rows])
    lines("key.txt", (f"{a} {b} {'genuine' if a == b else 'impostor'}" for a in people for b in people))
    table = tables["test"]
    code, out, err = run("eval test.csv --key key.txt --fnmr-at 0.01")
    assert code == 0, err
    assert "30 target (genuine) · 870 non-target (impostor)" in err
    assert row(out, "test")["EER (ROCCH)"].startswith(f"{eer(table.ravel(), same.ravel())} [")
    least = min(np.mean(table[same] < t) for t in table.ravel() if np.mean(table[~same] >= t) <= 0.01)
    at_limit = printed_table(out[out.index("\n\n") :])["test"]
    assert at_limit["FMR at most"] == "1 %"
    assert at_limit["FNMR"] == f"{100 * least:.2f} %"
    assert "No confidence interval for FNMR at FMR 1 %" in out + err  # the limit allows fewer than ten errors
    code, out, err = run("eval test.csv --key key.txt --threshold-from dev.csv --threshold-key key.txt --json")
    assert code == 0, err
    found = json.loads(out)["systems"][0]["at_thresholds"][0]
    by_dev = tables["dev"]
    threshold = metrics.eer_threshold(by_dev[same], by_dev[~same])
    rates = np.mean(table[same] < threshold), np.mean(table[~same] >= threshold)
    assert found["hter"] == pytest.approx(np.mean(rates), rel=1e-12)


def test_10_an_engineer_with_many_files(run, trials):
    """Parts of one system by a pattern, compressed, as one input: the same numbers as of one file."""
    score, is_target = trials
    names = [f"m{i % 30} s{i}" for i in range(N)]
    for part in range(4):
        some = range(part, N, 4)
        lines(f"part{part}.txt", (f"{names[i]} {score[i].item()!r}" for i in some))
    lines("key.txt", (f"{name} {word}" for name, word in zip(names, words_of(is_target), strict=True)))
    code, _, err = run("convert", "part*.txt", "all.parquet", "--key", "key.txt")
    assert code == 0, err
    code, out, err = run("eval all.parquet")
    assert code == 0, err
    assert row(out, "all")["EER (ROCCH)"].startswith(f"{eer(score, is_target)} [")


def test_11_whole_numbers_of_a_matcher(run):
    """Genuine and impostor scores in two files, of two matchers that compared other numbers of people."""
    rng = np.random.default_rng(13)
    words, scores = [], {}
    for name, n in (("old", 40), ("new", 60)):
        tar, non = rng.integers(300, 900, n), rng.integers(0, 500, 20 * n)
        lines(f"{name}_genuine.txt", tar)
        lines(f"{name}_impostor.txt", non)
        words += ["--tar", f"{name}_genuine.txt", "--non", f"{name}_impostor.txt"]
        scores[name] = tar.astype(float), non.astype(float)
    code, out, err = run("eval", *words)
    assert code == 0, err
    table = printed_table(out)
    for name, (tar, non) in scores.items():
        assert table[name]["EER (ROCCH)"].startswith(f"{100 * metrics.eer(tar, non):.2f} % [")
