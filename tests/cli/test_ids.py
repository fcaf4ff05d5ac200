"""``--ids``, and what commands say about names that are written differently."""

import json
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def lists(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("scores.txt").write_text("".join(f"m{k % 2} s{k} {k % 7 - 3}\n" for k in range(40)))
    key = "".join(f"/d/m{k % 2}.wav /d/s{k}.wav {'target' if k % 7 > 3 else 'nontarget'}\n" for k in range(40))
    Path("key.txt").write_text(key)
    Path("plain.txt").write_text(key.replace("/d/", "").replace(".wav", ""))
    Path("map.csv").write_text("".join(f"{n},/d/{n}.wav\n" for n in ["m0", "m1", *(f"s{k}" for k in range(40))]))


def test_the_way_out_works_as_it_is_printed(run):
    code, out, err = run("eval scores.txt --key key.txt")
    assert (code, out) == (2, "")
    assert "all 40 would match without '.wav' and by the last part of their names" in err
    assert "ids=" not in err
    option = err[err.index("--ids") :].strip().removesuffix(".")
    code, out, err = run(f"eval scores.txt --key key.txt {option} --json --no-intervals")
    assert code == 0, err
    assert "ids   strip-ending,basename changed 42 names of key.txt · 0 names of scores.txt" in err
    plain = json.loads(run("eval scores.txt --key plain.txt --json --no-intervals")[1])
    assert json.loads(out)["systems"] == plain["systems"]


@pytest.mark.parametrize("ids", ["strip-ending,basename", "map.csv"])
def test_every_command_that_joins(run, ids):
    words = f"scores.txt --key key.txt --ids {ids}"
    assert run(f"plot det {words} -o det.svg")[0] == 0
    assert run(f"report {words} -o page.html")[0] == 0
    code, _, err = run(f"calibrate {words} -o model.json --ridge 0.1 --cross-validate 4 --llrs llrs.txt")
    assert code == 0, err
    assert len(Path("llrs.txt").read_text().splitlines()) == 40
    assert (
        run("calibrate scores.txt --key plain.txt -o m.json --ridge 0.1 --cross-validate 4 --llrs expected.txt")[0] == 0
    )
    assert Path("llrs.txt").read_text() == Path("expected.txt").read_text()
    assert run(f"validate scores.txt --trials key.txt --ids {ids}")[0] == 0


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ("suffix", "--ids: 'suffix' is neither strip-ending, basename, separators"),
        ("nothere.csv", "nor the file of an id map"),
        ("basename --by-order", "matching by order does not compare names"),
    ],
)
def test_what_makes_no_sense_is_refused(run, ids, message):
    code, out, err = run(f"eval scores.txt --key key.txt --ids {ids}")
    assert (code, out) == (2, "")
    assert message in err


def test_different_names_stay_different(run):
    Path("key.txt").write_text("a/x target\nb/x nontarget\n")
    Path("scores.txt").write_text("x 1\n")
    code, _, err = run("eval scores.txt --key key.txt --ids basename")
    assert code == 2
    assert "'a/x' (key.txt:1) and 'b/x' (key.txt:2) would both be 'x'" in err


def test_a_part_that_would_match(run):
    half = (
        Path("plain.txt").read_text().splitlines(keepends=True)[:20]
        + Path("key.txt").read_text().splitlines(keepends=True)[20:]
    )
    Path("mixed.txt").write_text("".join(f"{line.split()[1]} {line.split()[2]}\n" for line in half))
    Path("scores.txt").write_text("".join(f"s{k} {k % 7 - 3}\n" for k in range(40)))
    code, _, err = run("eval scores.txt --key mixed.txt --missing drop")
    assert code == 0, err
    assert "warn  of the key trials, all 40 would match" in err
    assert "used  " in err


@pytest.mark.parametrize("ids", ["strip-ending,basename", "map.csv"])
@pytest.mark.parametrize("command", ["calibrate first.csv --ridge 0.1", "fuse first.csv other.csv --ridge 0.1"])
def test_cross_validated_llrs_of_scores_that_have_their_labels(run, ids, command):
    rows = [(f"s{k}", k % 7 - 3 + k / 100, int(k % 7 > 3 or k % 11 == 0)) for k in range(40)]
    for prefix, ending, name in (("", "", "plain"), ("d/", ".wav", "first")):
        table = "".join(f"{prefix}{t}{ending},{s},{y}\n" for t, s, y in rows)
        Path(f"{name}.csv").write_text("trial,score,label\n" + table)
    Path("other.csv").write_text("trial,score\n" + "".join(f"{t},{s % 1.7}\n" for t, s, _ in rows))
    Path("map.csv").write_text("".join(f"d/{t}.wav,{t}\n" for t, _, _ in rows))
    code, _, err = run(f"{command} --ids {ids} -o model.json --cross-validate 4 --llrs llrs.csv")
    assert code == 0, err
    assert "not used in training" not in err
    code, _, err = run(f"{command.replace('first', 'plain')} -o other.json --cross-validate 4 --llrs expected.csv")
    assert code == 0, err
    assert Path("llrs.csv").read_text().replace("d/", "").replace(".wav", "") == Path("expected.csv").read_text()
