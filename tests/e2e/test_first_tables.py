"""Tables as newcomers have them, whose first command failed once: what they type, and numbers of plain formulas."""

import gzip
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score


@pytest.fixture
def run(typed_here):
    """Runs a command; the exit status, what it printed, and its messages on one line are returned."""

    def runner(line):
        code, out, err = typed_here(line)
        return code, out, " ".join(err.split())

    return runner


def metrics(run, line):
    """The first system of a result."""
    code, out, err = run(f"{line} --json")
    assert code == 0, err
    return json.loads(out)["systems"][0]


def cllr(tar, non):
    """Cllr in bits, from its definition."""
    return (np.logaddexp(0, -tar).mean() + np.logaddexp(0, non).mean()) / (2 * np.log(2))


def write(path, rows):
    Path(path).write_text("".join(f"{row}\n" for row in rows))


def test_a_csv_of_classes_is_evaluated_with_little_memory(run):
    rng = np.random.default_rng(1)
    label = np.arange(60_000) % 6
    loglik = np.round(rng.normal(size=(60_000, 6)) + 2 * np.eye(6)[label], 4)
    table = pd.DataFrame(loglik, columns=[f"c{k}" for k in range(6)])
    table["label"] = [f"c{k}" for k in label]
    table.to_csv("classes.csv", index=False)
    Path("folder").mkdir()
    for k in range(3):  # each fits into a block of text by itself
        table[k::3].to_csv(f"folder/{k}.csv", index=False)
    whole = -(loglik - np.logaddexp.reduce(loglik, axis=1, keepdims=True))[np.arange(len(label)), label].mean()
    for name in ("classes.csv", "'folder/*.csv'"):
        found = metrics(run, f"eval {name} --memory 100MB --no-intervals")
        assert found["cllr"] == pytest.approx(whole / np.log(2))


CLASSES = ["segmentid\tara\teng\tfra", *(f"seg{k}\t{k % 3}.5\t{k % 2}\t-1.25" for k in range(30))]


@pytest.mark.parametrize("option", ["", " --format nist-lre"])
def test_a_submission_of_classes_is_validated(run, option):
    write("lre.tsv", CLASSES)
    write("key.tsv", ["segmentid\tlanguage", *(f"seg{k}\t{['ara', 'eng', 'fra'][k % 3]}" for k in range(30))])
    code, out, err = run(f"validate lre.tsv --trials key.tsv{option}")
    assert (code, out.strip()) == (0, "valid")
    assert "nist-lre trial='segmentid' score='ara' score='eng' score='fra'" in err
    write("short.tsv", [*CLASSES[:5], *CLASSES[6:], "nobody\t1\t2\t3"])
    code, out, _ = run(f"validate short.tsv --trials key.tsv{option}")
    assert code == 2
    assert "1 trial of the list without a score, the first: key.tsv:6 (seg4)" in out
    assert "1 score of trials that are not in the list, the first: short.tsv:31 (nobody)" in out
    write("word.tsv", [*CLASSES[:8], "seg7\t1\tx\t3", *CLASSES[9:]])
    code, out, _ = run(f"validate word.tsv --trials key.tsv{option}")
    assert code == 2
    assert "word.tsv:9: the score 'x' is not a number" in out


def commas(values):
    return [f"{x:.4f}".replace(".", ",") for x in values]


def test_decimal_commas_of_lists_and_of_tables_without_semicolons(run):
    rng = np.random.default_rng(2)
    tar, non = rng.normal(2, 1, 60).round(4), rng.normal(-2, 1, 200).round(4)
    tar[7], non[9] = 1746, -3
    right = cllr(tar, non)
    of_tar, of_non = commas(tar), commas(non)
    of_tar[7], of_non[9] = "1746", "-3"
    write("sk.txt", of_tar)
    write("nk.txt", of_non)
    assert metrics(run, "eval --same sk.txt --different nk.txt")["cllr"] == pytest.approx(right)
    both = [*((x, 1) for x in of_tar), *((x, 0) for x in of_non)]
    write("table.txt", ["label\tscore", *(f"{y}\t{x}" for x, y in both)])
    assert metrics(run, "eval table.txt")["cllr"] == pytest.approx(right)
    for gap in ("\t", " "):
        write("scores.txt", (f"p{k}{gap}{x}" for k, (x, _) in enumerate(both)))
        write("key.txt", (f"p{k} {['nontarget', 'target'][y]}" for k, (_, y) in enumerate(both)))
        assert metrics(run, "eval scores.txt --key key.txt")["cllr"] == pytest.approx(right)
    assert "decimal commas" in run("eval table.txt")[2]


def test_commas_that_may_separate_thousands_are_refused_without_a_command_that_reads_half_a_number(run):
    write("sk.txt", ["1,234", "2,345", "1,500"])
    write("nk.txt", ["-1,5", "-2,25"])
    code, _, err = run("eval --same sk.txt --different nk.txt")
    assert code == 2
    assert "'1,234' may be a number with a decimal comma" in err
    assert "--columns" not in err
    write("table.txt", ["label\tscore", "1\t1,234", "0\t2,345"])
    assert run("eval table.txt")[0] == 2


def test_labels_that_only_the_end_of_a_file_shows(run):
    rng = np.random.default_rng(3)
    tar, non = rng.normal(0.3, 0.06, 1500).round(4), rng.normal(0.5, 0.06, 3000).round(4)
    rows = [f"p{k}_a,p{k},{x},1" for k, x in enumerate(tar)] + [f"p{k}_a,q{k},{x},0" for k, x in enumerate(non)]
    write("bio.csv", ["probe,reference,distance,mated", *rows])
    assert metrics(run, "eval bio.csv --negate --units trials")["n_tar"] == 1500
    write("other.csv", ["probe,reference,distance,verdict", *rows])
    code, _, err = run("eval other.csv")
    assert code == 2
    assert "'verdict' (1, 0)" in err
    (columns,) = re.findall(r"--columns (\S+label=verdict)", err)
    assert metrics(run, f"eval other.csv --columns {columns} --negate --units trials")["n_tar"] == 1500


def test_large_tables_with_semicolons_are_recognized_by_their_columns(run):
    rows = [f"name-of-a-long-trial-number-{k};{k % 7},25;{int(k % 5 == 0)}" for k in range(120_000)]
    write("long.csv", ["trial;score;label", *rows])
    assert Path("long.csv").stat().st_size > 1 << 22
    assert metrics(run, "eval long.csv --no-intervals")["n_tar"] == 24_000


def test_columns_of_speakers_are_named_whether_or_not_trials_fit_in_memory(run):
    rng = np.random.default_rng(4)
    label = np.arange(400_000) % 4 == 0
    score = rng.normal(size=label.size).astype(np.float32) + 3 * label
    table = {"score": score, "label": label.astype(int), "speaker": np.arange(label.size) // 4 % 90}
    pd.DataFrame(table).to_parquet("bio.parquet", row_group_size=40_000)
    told = "units: column 'speaker' is not used; --units speaker if trials with the same value are dependent"
    for memory in ("", " --memory 100MB"):
        code, _, err = run(f"eval bio.parquet{memory}")
        assert code == 0
        assert told in err
        assert ("partitions" in err) is bool(memory)
    assert "is not used" not in run("eval bio.parquet --memory 100MB --units speaker")[2]


def test_a_fusion_beyond_memory_is_compared_with_the_best_single_system(run):
    rng = np.random.default_rng(7)
    label = np.arange(300_000) % 10 == 0
    common = rng.normal(size=label.size)
    one, other = common + 2 * label, 0.8 * common + rng.normal(size=label.size) + 2.5 * label
    table = {"label": label.astype(int), "sysA": one, "sysB": other}
    pd.DataFrame(table).to_parquet("two.parquet", row_group_size=30_000)
    line = "fuse two.parquet --columns label=label,score=sysA,score=sysB -o f.json --no-intervals"
    found = {}
    for memory in ("", " --memory 102MB"):
        code, out, err = run(line + memory)
        assert (code, "partitions" in err) == (0, bool(memory))
        text = " ".join(out.split())
        found[memory] = re.search(r"fusion: objective [\d.]+ % below that of sysA, the best single system", text)[0]
        assert ("Divergences of the systems' posteriors are computed only for" in text) is bool(memory)
    assert len({*found.values()}) == 1


def test_what_is_written_of_a_table_with_semicolons_is_told(run):
    rng = np.random.default_rng(8)
    rows = list(zip(commas(rng.normal(size=80) + 2 * (np.arange(80) % 2)), np.arange(80) % 2, strict=True))
    write("de.csv", ["label;score", *(f"{y};{x}" for x, y in rows)])
    write("de.tsv", ["label\tscore", *(f"{y}\t{x}" for x, y in rows)])
    assert run("calibrate de.csv -o m.json")[0] == 0
    assert "new scores, with commas between columns and decimal points" in run("apply m.json de.csv -o x.csv")[2]
    assert "new scores, with decimal points" in run("apply m.json de.tsv -o x.tsv")[2]
    one, other = Path("x.csv").read_text(), Path("x.tsv").read_text()
    assert one.replace(",", "\t") == other
    assert one.startswith("label,score\n0,")


def test_tables_whose_rows_have_no_names_become_csv(run):
    rng = np.random.default_rng(5)
    label = (np.arange(80) % 4 == 0).astype(int)
    score = rng.normal(size=80) + 2 * label
    pd.DataFrame({"LR": np.exp(score), "truth": label}).to_excel("lr.xlsx", index=False)
    np.savez("pred.npz", y_true=label, y_score=score)
    np.save("scores.npy", score)
    for name in ("lr.xlsx", "pred.npz"):
        assert run(f"convert {name} c.csv")[0] == 0
        assert Path("c.csv").read_text().startswith("score,label\n")
        assert metrics(run, "eval c.csv")["cllr"] == pytest.approx(cllr(score[label == 1], score[label == 0]))
    assert run("convert scores.npy s.csv")[0] == 0
    assert np.loadtxt("s.csv", skiprows=1) == pytest.approx(score, abs=0)


def test_probabilities_of_two_classes_are_told_how_to_become_detection_scores(run):
    rng = np.random.default_rng(6)
    label = (np.arange(400) % 4 == 0).astype(int)
    prob = 1 / (1 + np.exp(-(rng.normal(size=400) + 2 * label)))
    np.save("proba.npy", np.column_stack((1 - prob, prob)))
    np.save("y.npy", label)
    out = " ".join(run("eval proba.npy --key y.npy")[1].split())
    assert "EER, minDCF and AUC" in out
    assert "--kind two-class" in out
    found = metrics(run, "eval proba.npy --key y.npy --kind two-class")
    assert found["auc"] == pytest.approx(roc_auc_score(label, prob))
    np.save("three.npy", np.column_stack((1 - prob, prob / 2, prob / 2)))
    assert "--kind two-class" not in run("eval three.npy --key y.npy --classes 0,1,2")[1]


def test_a_workbook_with_another_ending_is_read(run):
    pd.DataFrame({"LR": [9.0, 8.0, 0.5, 0.1], "truth": [1, 1, 0, 0]}).to_excel("lr.xlsx", index=False)
    shutil.copy("lr.xlsx", "fake.csv")
    one, other = metrics(run, "eval lr.xlsx"), metrics(run, "eval fake.csv")
    assert other["cllr"] == one["cllr"]
    assert "sheet 'Sheet1'" in run("eval fake.csv")[2]


def test_rows_are_matched_by_name_in_little_memory(run):
    names = [f"t{k}" for k in range(300_000)]
    table = pd.DataFrame({"trial": names, "label": np.arange(len(names)) % 2, "score": np.zeros(len(names))})
    for name in ("a.parquet", "b.parquet"):
        table.to_parquet(name, row_group_size=50_000)
    code, _, err = run("eval a.parquet b.parquet --memory 105MB")
    assert code == 0, err
    assert "300,000 matched · 0 missing · 0 extra · 0 duplicate" in err
    code, _, err = run("eval a.parquet --memory 105MB")
    assert code == 0, err
    assert "300,000 matched · 0 missing · 0 extra · duplicates not checked" in err


def test_files_that_a_pattern_names_are_called_by_their_folder(run):
    Path("runs").mkdir()
    for k in range(2):
        rows = "".join(f"t{k}_{i},{i % 7 + 2 * (i % 2)},{i % 2}\n" for i in range(40))
        Path(f"runs/{k}.csv").write_text(f"trial,score,label\n{rows}")
    for more in ("", " --memory 150MB"):
        code, out, err = run(f"eval runs/*.csv -q{more}")
        assert code == 0, err
        assert out.splitlines()[1].split()[0] == "runs"


def test_a_folder_of_text_is_refused_with_the_pattern_that_reads_it(run):
    rng = np.random.default_rng(5)
    label = np.arange(300) % 3 == 0
    score = rng.normal(np.where(label, 2.0, -2.0), 2.0)
    Path("parts").mkdir()
    for k in range(3):
        rows = (f"t{i},{int(label[i])},{score[i].item()!r}" for i in range(k, 300, 3))
        write(f"parts/{k}.csv", ["id,label,score", *rows])
    code, _, err = run("eval parts")
    assert code == 2
    pattern = re.search(r"name the files by a pattern: ('\S+')", err)[1]
    assert metrics(run, f"eval {pattern}")["auc"] == pytest.approx(roc_auc_score(label, score))


@pytest.mark.parametrize(("ending", "memory"), [("", ""), (".gz", " --memory 100MB")])
def test_a_number_that_is_no_probability_is_named_by_its_line(run, memory, ending):
    """Also where text is parsed in blocks, and below a blank line."""
    rows = [f"u{k},{k % 5 == 0:d},0.{k % 998 + 1}" for k in range(250_000)]
    rows[200_000] = "u200000,1,14.75"
    opened = gzip.open if ending else open
    with opened(f"table.csv{ending}", "wt") as out:
        out.write("\n".join(["id,label,prob", "", *rows, ""]))
    code, _, err = run(f"eval table.csv{ending} --probabilities 0.5 --no-intervals{memory}")
    assert code == 2
    assert f"table.csv{ending}:200003: probabilities: 1 of" in err
