"""The first minutes of six newcomers, with the shape of their files: one command each, and numbers of plain formulas.

Expected numbers come from NumPy and scikit-learn, never from deciban, and what is typed is what a newcomer types first.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

from support.commands import terminal


@pytest.fixture
def run(typed_here):
    """Runs a command that has to succeed; what it printed and its messages are returned."""

    def runner(line):
        code, out, err = typed_here(line)
        assert code == 0, err
        return out, err

    return runner


def figures(run, line):
    """The systems of a result as JSON, by name."""
    return {one["name"]: one for one in json.loads(run(f"{line} --json")[0])["systems"]}


def write(path, rows):
    Path(path).write_text("".join(f"{row}\n" for row in rows))


def cllr(tar, non):
    """Cllr in bits, from its definition."""
    return (np.logaddexp(0, -tar).mean() + np.logaddexp(0, non).mean()) / (2 * np.log(2))


def error_rates(tar, non):
    """Misses and false alarms at every threshold, accepting from the threshold on."""
    at = np.append(np.unique(np.concatenate([tar, non])), np.inf)
    return np.array([(tar < t).mean() for t in at]), np.array([(non >= t).mean() for t in at])


def min_dcf(tar, non, p_target):
    miss, alarm = error_rates(tar, non)
    return np.min(p_target * miss + (1 - p_target) * alarm) / min(p_target, 1 - p_target)


def act_dcf(tar, non, p_target):
    at = -np.log(p_target / (1 - p_target))
    miss, alarm = (tar < at).mean(), (non >= at).mean()
    return (p_target * miss + (1 - p_target) * alarm) / min(p_target, 1 - p_target)


def test_speaker_researcher(run):
    """Kaldi trials, a score file in nats and one of cosines."""
    rng = np.random.default_rng(21)
    is_target = np.arange(1500) % 5 == 0
    llr, other = rng.normal(np.where(is_target, 3, -3), 2.5), rng.normal(np.where(is_target, 2, -2), 2)
    names = [f"spk{k % 40:02d} utt{k:05d}" for k in range(1500)]
    words = np.where(is_target, "target", "nontarget")
    write("trials", (f"{name} {word}" for name, word in zip(names, words, strict=True)))
    scores = {"plda": llr, "cosine": np.tanh(other / 8)}
    for system, score in scores.items():
        write(f"{system}.txt", (f"{name} {x!r}" for name, x in zip(names, score.tolist(), strict=True)))
    found = figures(run, "eval plda.txt cosine.txt --key trials")
    for system, score in scores.items():
        tar, non, one = score[is_target], score[~is_target], found[system]
        assert one["auc"] == pytest.approx(roc_auc_score(is_target, score))
        assert one["cllr"] == pytest.approx(cllr(tar, non))
        (point,) = one["operating_points"]
        assert point["min_dcf"] == pytest.approx(min_dcf(tar, non, 0.01))
        assert point["act_dcf"] == pytest.approx(act_dcf(tar, non, 0.01))
    out, err = run("eval plda.txt cosine.txt --key trials")
    assert "1,500 matched · 0 missing · 0 extra" in err
    assert " ".join(out.split()).count("The scores are not log-likelihood ratios") == 1


def test_engineer_of_machine_learning(run):
    """A CSV with the columns label and prob, of which the prior of the training data is known."""
    rng = np.random.default_rng(22)
    label = (rng.random(2000) < 0.12).astype(int)
    score = rng.normal(np.where(label, 1.5, -1.5), 1.5)
    prob = 1 / (1 + np.exp(-(score + np.log(0.12 / 0.88))))
    pd.DataFrame({"label": label, "prob": prob}).to_csv("test.csv", index=False)
    out, err = run("eval test.csv")
    assert "score='prob'" in err
    assert "--probabilities" in out
    one = figures(run, "eval test.csv --probabilities 0.12 --posteriors-at 0.12")["test"]
    assert one["cllr"] == pytest.approx(cllr(score[label == 1], score[label == 0]))
    assert one["auc"] == pytest.approx(roc_auc_score(label, prob))
    weight = np.where(label == 1, 0.12 / label.mean(), 0.88 / (1 - label.mean()))
    (at,) = one["posterior_scores"]
    assert at["log_loss"]["total"] == pytest.approx(log_loss(label, prob, sample_weight=weight))
    assert at["brier"]["total"] == pytest.approx(brier_score_loss(label, prob, sample_weight=weight))


def test_forensic_examiner(run):
    """Likelihood ratios, not logarithms, in two lists; and a sheet with semicolons and decimal commas."""
    rng = np.random.default_rng(23)
    same, different = np.exp(rng.normal(2.5, 2.2, 80)), np.exp(rng.normal(-2.5, 2.2, 400))
    write("same.txt", map("{:.6g}".format, same))
    write("different.txt", map("{:.6g}".format, different))
    same, different = np.loadtxt("same.txt"), np.loadtxt("different.txt")
    out, _ = run("eval --same same.txt --different different.txt")
    assert "if they are likelihood ratios rather than logarithms, add --lr" in " ".join(out.split())
    right = cllr(np.log(same), np.log(different))
    one = figures(run, "eval --same same.txt --different different.txt --lr")["same + different"]
    assert one["cllr"] == pytest.approx(right)
    sheet = pd.DataFrame({"LR": np.append(same, different), "hypothesis": [1] * 80 + [0] * 400})
    sheet.to_csv("sheet.csv", sep=";", decimal=",", index=False)
    sheet.to_excel("sheet.xlsx", index=False)
    for name in ("sheet.csv", "sheet.xlsx"):  # the column says what it holds
        assert figures(run, f"eval {name}")["sheet"]["cllr"] == pytest.approx(right)


def test_language_team(run):
    """Log-likelihoods of 14 languages as a TSV, with a key."""
    rng = np.random.default_rng(24)
    languages = ["ara-acm", "ara-apc", "ara-ary", "ara-arz", "eng-gbr", "eng-usg", "por-brz", "qsl-pol", "qsl-rus"]
    languages += ["spa-car", "spa-eur", "spa-lac", "zho-cmn", "zho-nan"]
    label = np.arange(700) % 14
    loglik = rng.normal(size=(700, 14)) * 1.5 + 4 * np.eye(14)[label]
    names = [f"lre_{k:05d}.sph" for k in range(700)]
    lines = ("\t".join([name, *map(repr, row)]) for name, row in zip(names, loglik.tolist(), strict=True))
    write("scores.tsv", ["\t".join(["segmentid", *languages]), *lines])
    write("key.tsv", ["segmentid\tlanguage", *(f"{n}\t{languages[k]}" for n, k in zip(names, label, strict=True))])
    one = figures(run, "eval scores.tsv --key key.tsv")["scores"]
    log_posterior = loglik - np.logaddexp.reduce(loglik, axis=1, keepdims=True)
    assert one["cllr"] == pytest.approx(-log_posterior[np.arange(700), label].mean() / np.log(2))
    assert one["error_rate"] == pytest.approx(np.mean(loglik.argmax(axis=1) != label))
    # C_avg at the prior of 0.5: llr of each language against the mean likelihood of the others.
    others = np.array([np.logaddexp.reduce(np.delete(loglik, k, 1), axis=1) for k in range(14)]).T - np.log(13)
    accepted = loglik - others >= 0
    miss = [(~accepted[label == k, k]).mean() for k in range(14)]
    alarm = [np.mean([accepted[label == j, k].mean() for j in range(14) if j != k]) for k in range(14)]
    assert one["operating_points"][0]["c_avg"] == pytest.approx(np.mean((np.array(miss) + alarm) / 2))
    run("report scores.tsv --key key.tsv -o page.html")
    assert Path("page.html").stat().st_size > 100_000


def test_biometrician(run):
    """Whole numbers of a matcher in two lists, and the error rates that ISO 19795 asks for."""
    rng = np.random.default_rng(25)
    genuine, impostor = rng.normal(620, 110, 600).round().astype(int), rng.normal(300, 60, 20_000).round().astype(int)
    write("genuine.txt", genuine)
    write("impostor.txt", impostor)
    one = figures(run, "eval --tar genuine.txt --non impostor.txt --fnmr-at 0.001,0.0001")
    (one,) = one.values()
    thresholds = np.unique(np.append(genuine, impostor))
    alarm = (len(impostor) - np.searchsorted(np.sort(impostor), thresholds)) / len(impostor)
    for limit, at in zip((0.001, 0.0001), one["fnmr_at_fmr"], strict=True):
        least = thresholds[alarm <= limit].min()
        assert at["fnmr"] == pytest.approx((genuine < least).mean())
    out, _ = run("eval --tar genuine.txt --non impostor.txt --fnmr-at 0.001,0.0001")
    assert "FMR at most" in out
    assert "trials taken as independent" in " ".join(out.split())  # intervals are there without an option
    distance = 1000 - genuine, 1000 - impostor
    write("genuine_d.txt", distance[0])
    write("impostor_d.txt", distance[1])
    (other,) = figures(run, "eval --tar genuine_d.txt --non impostor_d.txt --negate").values()
    assert other["eer"] == pytest.approx(one["eer"])


def test_spoofing(run):
    """The protocol of ASVspoof 2019, by attack: bona fide trials count in every condition."""
    rng = np.random.default_rng(26)
    attack = np.array(["-", "A07", "A08", "A17"])[np.arange(1600) % 4]
    is_target = attack == "-"
    score = rng.normal(np.select([is_target, attack == "A17"], [2.0, 1.0], -2.0), 1.5)
    words = np.where(is_target, "bonafide", "spoof")
    rows = list(zip(range(1600), attack, words, score.tolist(), strict=True))
    write("protocol.txt", (f"LA_{k % 48:04d} LA_E_{k:07d} - {a} {word}" for k, a, word, _ in rows))
    write("cm.txt", (f"LA_E_{k:07d} {a} {word} {x!r}" for k, a, word, x in rows))
    out, err = run("eval cm.txt --key protocol.txt --by attack")
    assert "only targets have attack -, and all of them count in every condition" in err
    assert "no targets" not in out
    one = figures(run, "eval cm.txt --key protocol.txt --by attack")["cm"]
    by_attack = {cell["condition"]["attack"]: cell for cell in one["conditions"]}
    for name in ("A07", "A08", "A17"):
        some = is_target | (attack == name)
        one = by_attack[name]
        assert one["auc"] == pytest.approx(roc_auc_score(is_target[some], score[some]))
        assert one["cllr"] == pytest.approx(cllr(score[is_target], score[attack == name]))


def test_columns_of_iso_19795_name_both_sides_of_comparisons(run):
    """Probes and references: the same probe meets every reference, and subjects are the units."""
    rng = np.random.default_rng(4)
    rows = ["probe,reference,label,distance"]
    for i in range(20):
        rows += [f"p{i},r{j},{int(i == j)},{1.0 - 0.6 * (i == j) + 0.1 * rng.normal():.4f}" for j in range(20)]
    write("b.csv", rows)
    _, said = run("eval b.csv --negate")
    assert "20 target (1) · 380 non-target (0)" in said
    assert "found from target trials" in said


def test_a_column_of_speakers_that_is_not_used_is_named(run):
    rng = np.random.default_rng(4)
    write(
        "c.csv", ["speaker,label,score", *(f"s{k % 15},{k % 2},{rng.normal() + 2 * (k % 2):.4f}" for k in range(200))]
    )
    assert "column 'speaker' is not used; --units speaker" in run("eval c.csv")[1]
    assert "is not used" not in run("eval c.csv --units speaker")[1]


@pytest.fixture
def refused(tmp_path, monkeypatch, capsysbinary):
    """Runs a command that is refused; returns why."""
    monkeypatch.chdir(tmp_path)
    typed = terminal(monkeypatch, capsysbinary)

    def runner(line):
        code, out, err = typed(line)
        assert (code, out) == (2, b"")
        return err

    return runner


REFUSED = {
    "a header alone": ("label,score\n", "holds a header, 'label,score', and no row"),
    "bars": ("label|score\n1|2.5\n0|0.1\n", "columns are separated by '|'"),
    "dates": ("label,score\n1,2026-11-27\n0,2026-11-26\n", "'2026-11-27' in the column 'score' is no number"),
    "currency": ("label,score\n1,$2.50\n0,$1.20\n", "'$2.50' in the column 'score' is no number"),
    "words": ("label,score\n1,high\n0,low\n", "'high' in the column 'score' is no number"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_tables_without_numbers_are_refused_by_what_is_wrong(refused, case):
    """Not by asking which column is the score, when a column is called score."""
    text, words = REFUSED[case]
    Path("scores.csv").write_text(text)
    assert words in refused("eval scores.csv")


def test_two_files_of_scores_without_a_key_are_shown_the_option(refused):
    """same.txt and different.txt, named as score files; two systems, named behind one option."""
    Path("same.txt").write_text("2.5\n0.3\n")
    Path("different.txt").write_text("-1.5\n0.7\n")
    assert "--tar FILE and --non FILE" in refused("eval same.txt different.txt")
    err = refused("eval --tar same.txt same.txt --non different.txt different.txt")
    assert "--tar A --tar B --non C --non D" in err
