"""The first minutes of six newcomers, with their files and what they type: numbers are those of plain formulas.

Expected numbers come from NumPy and scikit-learn, never from deciban, and what is typed is what a newcomer types first.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

from support.commands import printed_table, terminal


@pytest.fixture
def run(typed_here):
    """Runs a command that has to succeed; what it printed and its messages are returned."""

    def runner(line):
        code, out, err = typed_here(line)
        assert code == 0, err
        return out, err

    return runner


def metrics(run, line):
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
    found = metrics(run, "eval plda.txt cosine.txt --key trials")
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
    """A CSV with the columns label and prob, or another word for a score; and ten classes of predict_proba."""
    for word in ("prob", *WORDS_OF_SCORES):
        Path("a.csv").write_text(f"label,{word}\n1,0.5\n0,0.1\n")
        for line in ("eval a.csv", *(["eval a.csv --columns label,prob"] if word == "prob" else [])):
            out, err = run(line)
            assert printed_table(out)["a"]["AUC"] == "1.0000", word
            assert word != "prob" or "score='prob'" in err
    digits()
    rng = np.random.default_rng(22)
    label = (rng.random(2000) < 0.12).astype(int)
    score = rng.normal(np.where(label, 1.5, -1.5), 1.5)
    prob = 1 / (1 + np.exp(-(score + np.log(0.12 / 0.88))))
    pd.DataFrame({"label": label, "prob": prob}).to_csv("test.csv", index=False)
    out, err = run("eval test.csv")
    assert "score='prob'" in err
    assert "--probabilities" in out
    one = metrics(run, "eval test.csv --probabilities 0.12 --posteriors-at 0.12")["test"]
    assert one["cllr"] == pytest.approx(cllr(score[label == 1], score[label == 0]))
    assert one["auc"] == pytest.approx(roc_auc_score(label, prob))
    weight = np.where(label == 1, 0.12 / label.mean(), 0.88 / (1 - label.mean()))
    (at,) = one["posterior_scores"]
    assert at["log_loss"]["total"] == pytest.approx(log_loss(label, prob, sample_weight=weight))
    assert at["brier"]["total"] == pytest.approx(brier_score_loss(label, prob, sample_weight=weight))
    run("report test.csv --probabilities 0.12 -o page.html")
    prob, label = np.loadtxt("digits.csv", delimiter=",", skiprows=1)[:, :10], np.arange(300) % 10
    wrong = np.mean([(prob[label == k].argmax(axis=1) != k).mean() for k in range(10)])
    for line in ("eval digits.csv", "eval digits.csv --kind classes", "eval digits.csv --probabilities flat"):
        one = metrics(run, line)["digits"]
        assert one["error_rate"] == pytest.approx(wrong)
    assert one["cllr"] == pytest.approx(-np.log2(prob[np.arange(300), label]).mean())


# fmt: off
WORDS_OF_SCORES = [
    "score", "llr", "match_score", "y_prob", "y_proba", "y_score", "proba", "probability", "p",
    "pred", "prediction", "y_pred", "y_hat", "logit", "logits", "similarity", "sim", "cosine",
    "distance", "confidence", "output", "decision", "lr", "LR", "log_lr", "loglr", "log10lr",
]
# fmt: on


def digits():
    """Write digits.csv: ten columns of probabilities and the label, as pandas writes predict_proba."""
    rng, label = np.random.default_rng(12), np.arange(300) % 10
    logits = rng.normal(size=(300, 10)) + 3.0 * np.eye(10)[label]
    prob = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    frame = pd.DataFrame(prob, columns=[f"class_{k}" for k in range(10)])
    frame.assign(label=label).to_csv("digits.csv", index=False)


def test_forensic_examiner(run, typed_here):
    """Likelihood ratios, not logarithms, in two lists; and a sheet with semicolons and decimal commas."""
    rng = np.random.default_rng(23)
    same, different = np.exp(rng.normal(2.5, 2.2, 80)), np.exp(rng.normal(-2.5, 2.2, 400))
    write("same.txt", map("{:.6g}".format, same))
    write("different.txt", map("{:.6g}".format, different))
    same, different = np.loadtxt("same.txt"), np.loadtxt("different.txt")
    for line in ("eval --tar same.txt --non different.txt", "eval --same same.txt --different different.txt"):
        out, _ = run(line)
        assert "if they are likelihood ratios and not logarithms, add --lr" in " ".join(out.split())
    right = cllr(np.log(same), np.log(different))
    one = metrics(run, "eval --same same.txt --different different.txt --lr")["same + different"]
    assert one["cllr"] == pytest.approx(right)
    run("calibrate --same same.txt --different different.txt --lr --cross-validate 5 -o model.json --llrs llrs.txt")
    write("case.txt", ["8231.41", "0.00937"])
    assert "Add --lr" in " ".join(typed_here("apply model.json case.txt -o case_llrs.txt")[2].split())
    run("apply model.json case.txt --lr -o case_llrs.txt")
    write("same_log10.txt", map(repr, np.log10(same).tolist()))
    write("different_log10.txt", map(repr, np.log10(different).tolist()))
    found = metrics(run, "eval --same same_log10.txt --different different_log10.txt --log10")
    assert [one["cllr"] for one in found.values()] == [pytest.approx(right)]
    assert "log10" not in found
    sheet = pd.DataFrame({"LR": np.append(same, different), "hypothesis": [1] * 80 + [0] * 400})
    sheet.to_csv("sheet.csv", sep=";", decimal=",", index=False)
    sheet.to_excel("sheet.xlsx", index=False)
    for name in ("sheet.csv", "sheet.xlsx"):  # the column says what it holds
        assert metrics(run, f"eval {name}")["sheet"]["cllr"] == pytest.approx(right)


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
    one = metrics(run, "eval scores.tsv --key key.tsv")["scores"]
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
    page = Path("page.html").read_text()
    assert len(page) > 100_000
    assert "Decisions were counted at the prior of the evaluation alone" not in page  # the slider works


def test_biometrician(run, typed_here):
    """Whole numbers of a matcher in two lists, and the error rates that ISO 19795 asks for."""
    rng = np.random.default_rng(25)
    genuine, impostor = rng.normal(620, 110, 3000).round().astype(int), rng.normal(300, 60, 90_000).round().astype(int)
    write("genuine.txt", genuine)
    write("impostor.txt", impostor)
    one = metrics(run, "eval --tar genuine.txt --non impostor.txt --fnmr-at 0.001,0.0001")
    (one,) = one.values()
    thresholds = np.unique(np.append(genuine, impostor))
    alarm = (len(impostor) - np.searchsorted(np.sort(impostor), thresholds)) / len(impostor)
    for limit, at in zip((0.001, 0.0001), one["fnmr_at_fmr"], strict=True):
        least = thresholds[alarm <= limit].min()
        assert at["fnmr"] == pytest.approx((genuine < least).mean())
    out, _ = run("eval --tar genuine.txt --non impostor.txt --fnmr-at 0.001,0.0001")
    assert "FMR at most" in out
    assert "trials taken as independent" in " ".join(out.split())  # intervals are there without an option
    code, _, err = typed_here("eval --tar genuine.txt --non impostor.txt --fnmr-at-fmr 0.001")
    assert code == 2
    assert "--fnmr-at" in err
    run("eval --tar genuine.txt --non impostor.txt --preset iso19795")
    write("genuine_dist.txt", 1000 - genuine)
    write("impostor_dist.txt", 1000 - impostor)
    assert "--negate" in run("eval --tar genuine_dist.txt --non impostor_dist.txt")[0]
    (other,) = metrics(run, "eval --tar genuine_dist.txt --non impostor_dist.txt --negate").values()
    assert other["eer"] == pytest.approx(one["eer"])
    table, names = rng.normal(size=(24, 24)) + 3 * np.eye(24), [str(k) for k in range(24)]  # the shape of BSSR1
    write(
        "bssr.csv",
        [",".join(["", *names]), *(",".join([n, *map(repr, x)]) for n, x in zip(names, table.tolist(), strict=True))],
    )
    write("bk.txt", (f"{a} {b} {'target' if a == b else 'nontarget'}" for a in names for b in names))
    assert "--format matrix-csv" in typed_here("eval bssr.csv --key bk.txt")[2]
    (one,) = metrics(run, "eval bssr.csv --key bk.txt --format matrix-csv").values()
    same = np.eye(24, dtype=bool)
    assert one["auc"] == pytest.approx(roc_auc_score(same.ravel(), table.ravel()))


def test_spoofing(run, typed_here):
    """The protocol of ASVspoof 2019 and the metadata of 2021, by attack: bona fide trials count in every condition."""
    rng = np.random.default_rng(26)
    attack = np.array(["-", "A07", "A08", "A17"])[np.arange(1600) % 4]
    is_target = attack == "-"
    score = rng.normal(np.select([is_target, attack == "A17"], [2.0, 1.0], -2.0), 1.5)
    words = np.where(is_target, "bonafide", "spoof")
    rows = list(zip(range(1600), attack, words, score.tolist(), strict=True))
    write("protocol.txt", (f"LA_{k % 48:04d} LA_E_{k:07d} - {a} {word}" for k, a, word, _ in rows))
    write("cm.txt", (f"LA_E_{k:07d} {a} {word} {x!r}" for k, a, word, x in rows))
    out, err = run("eval cm.txt --key protocol.txt --by attack")
    assert "only targets have attack -, and they count in every condition" in err
    assert "no targets" not in out
    one = metrics(run, "eval cm.txt --key protocol.txt --by attack")["cm"]
    by_attack = {cell["condition"]["attack"]: cell for cell in one["conditions"]}
    for name in ("A07", "A08", "A17"):
        some = is_target | (attack == name)
        one = by_attack[name]
        assert one["auc"] == pytest.approx(roc_auc_score(is_target[some], score[some]))
        assert one["cllr"] == pytest.approx(cllr(score[is_target], score[attack == name]))
    table = run("eval cm.txt --key protocol.txt --by attack")[0]
    assert run("eval cm.txt --key protocol.txt --by attack+-")[0] == table
    code, _, err = typed_here("eval cm.txt --key protocol.txt --by attack+bonafide")  # as 2015 has it
    assert code == 2
    assert "-, A07" in err
    write("trial_metadata.txt", (f"LA_{k:04d} LA_E_{k:07d} alaw ita_tx {a} {w} notrim eval" for k, a, w, _ in rows))
    write("scores.txt", (f"LA_E_{k:07d} {x!r}" for k, _, _, x in rows))
    one = metrics(run, "eval scores.txt --key trial_metadata.txt")["scores"]
    assert one["auc"] == pytest.approx(roc_auc_score(is_target, score))


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
    "a header alone": ("label,score\n", "contains a header, 'label,score', and no row"),
    "bars": ("label|score\n1|2.5\n0|0.1\n", "'|' separates the columns"),
    "dates": ("label,score\n1,2026-11-27\n0,2026-11-26\n", "'2026-11-27' in the column 'score' is not a number"),
    "currency": ("label,score\n1,$2.50\n0,$1.20\n", "'$2.50' in the column 'score' is not a number"),
    "words": ("label,score\n1,high\n0,low\n", "'high' in the column 'score' is not a number"),
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
    err = " ".join(refused("eval same.txt different.txt").split())
    assert "(--tar FILE --non FILE; or --same FILE --different FILE)" in err
    err = refused("eval --tar same.txt same.txt --non different.txt different.txt")
    assert "--tar A --tar B --non C --non D" in err
