"""Rankings of saved results: comparable sets, letters of groups, tables and pages."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import deciban
from deciban.analysis.leaderboard import group_letters, leaderboards, ranges_of_letters, remarks, runs_of
from deciban.errors import FormatError, InputError
from deciban.tables import leaderboard_table

RNG = np.random.default_rng(0)
NON = RNG.normal(0.0, 1.0, 300)
KEY = {"role": "key", "path": "key.txt", "size": 1, "sha256": "ab" * 32}


def saved(path, shift, *, key=KEY, non=NON, **options):
    """Write the results of a system with this separation, as the command does."""
    tar = np.linspace(-2.0, 2.0, 120) + shift
    how = {"tar_units": np.arange(120) // 2, "non_units": np.arange(len(non)) // 10, "optimism": False}
    one = deciban.evaluation.evaluate(tar, non, name=path.stem, operating_points=[0.1], **how)
    content = json.loads(deciban.evaluation.Results((one,)).to_json())
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content | {"files": [key] if key else [], "options": options}))
    return one


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three comparable runs, of which two hardly differ, and one on fewer trials."""
    tmp_path = tmp_path_factory.mktemp("runs")
    for name, shift in (("best", 3.0), ("next", 2.9), ("poor", 1.0)):
        saved(tmp_path / "runs" / f"{name}.json", shift)
    saved(tmp_path / "runs" / "other.json", 4.0, non=NON[:150])
    (tmp_path / "runs" / "settings.json").write_text("{}")
    return tmp_path / "runs"


def test_runs_are_ranked_among_comparable_runs_only(folder):
    runs, left_out = runs_of([folder])
    (first, second), _ = leaderboards(runs)
    assert [(one.name, one.rank, one.group) for one in first.runs] == [
        ("best", 1, "a"), ("next", 2, "a"), ("poor", 3, "b")
    ]  # fmt: skip
    assert [one.name for one in second.runs] == ["other"]
    assert first.trials == "120 target and 300 non-target trials; key abababababab"
    assert "Not all runs can be compared" in remarks([first, second])[0]
    assert len(left_out) == 1
    assert "settings.json: no evaluated systems" in left_out[0]
    text = leaderboard_table(first)
    assert text.headings[:5] == ("run", "system", "rank", "group", "EER (ROCCH)")
    assert re.fullmatch(r"\d+\.\d\d % \[\d+\.?\d*, \d+\.?\d*\]", text.rows[0][4])


def test_copies_of_results_count_once(folder, tmp_path, run):
    for name in ("first", "second"):
        (tmp_path / f"{name}.json").write_bytes((folder / "best.json").read_bytes())
    runs, left_out = runs_of([tmp_path])
    assert [name for name, _ in runs] == ["first"]
    assert len(left_out) == 1
    assert "second.json: same results as" in left_out[0]
    code, out, err = run(f"leaderboard {tmp_path} -q")
    assert (code, err) == (0, "")
    assert "second" not in out


def test_other_keys_and_choices_of_trials_are_other_sets(tmp_path):
    saved(tmp_path / "a.json", 2.0)
    content = json.loads((tmp_path / "a.json").read_text())
    others = {
        "b": {"files": [{**KEY, "sha256": "cd" * 32}]},
        "c": {"options": {"where": ["x=f"]}},
        "d": {"files": None},
    }
    for name, other in others.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content | other))
        boards, _ = leaderboards(runs_of([tmp_path / "a.json", tmp_path / f"{name}.json"])[0])
        assert [len(one.runs) for one in boards] == [1, 1]
        assert any("Unknown key" in line for line in remarks(boards)) == (name == "d")


def test_the_first_metric_ranks_and_larger_can_be_better(folder):
    board = leaderboards(runs_of([folder])[0], ["auc", "cllr"])[0][0]
    assert [one.name for one in board.runs] == ["best", "next", "poor"]
    assert board.columns == ("auc", "cllr")
    for name in ("nothing", "eer_threshold", "n_tar", "p_target"):
        with pytest.raises(InputError, match=f"metric: '{name}' is not a metric"):
            leaderboards(runs_of([folder])[0], [name])


def test_letters_state_exactly_the_pairs_that_do_not_differ():
    """Random graphs: two runs share a letter if and only if they do not differ."""
    rng = np.random.default_rng(3)
    for n in (2, 5, 9):
        values, errors = np.sort(rng.normal(size=n)), rng.uniform(0.1, 0.6, n)
        differ = [
            (i, j) for i in range(n) for j in range(i + 1, n) if values[j] - values[i] > np.hypot(errors[i], errors[j])
        ]
        letters = [set(re.findall(r"[a-z]\d*", one)) for one in group_letters(n, differ, range(n))]
        assert all(letters)
        assert all(bool(letters[i] & letters[j]) != ((i, j) in differ) for i in range(n) for j in range(i + 1, n))
    assert group_letters(3, [], [0, 2]) == ["a", "", "a"]


def test_letters_stay_short_and_few():
    """Disjoint pairs would need exponentially many letters; on a line, neighbours have ranges of letters."""
    assert group_letters(40, [(2 * k, 2 * k + 1) for k in range(20)], range(40)) == [""] * 40
    n = 60
    line = group_letters(n, [(i, j) for i in range(n) for j in range(i + 20, n)], range(n))
    assert ranges_of_letters(line[30]) == "l-e1"


def rewritten(path, source, system=None, **more):
    """Write saved results with other parts."""
    content = json.loads(source.read_text())
    path.write_text(json.dumps(content | {"systems": [content["systems"][0] | (system or {})]} | more))


def test_results_at_another_prior_or_protocol_are_other_sets(tmp_path):
    """The same scores; numbers depend on the prior of the classes, the edition of the t-DCF and the verifier."""
    loglik, label = RNG.normal(size=(30, 3)), np.arange(30) % 3
    for name, prior in (("flat", None), ("skew", [0.9, 0.05, 0.05])):
        one = deciban.evaluate_classes(loglik, label, prior=prior, name=name)
        (tmp_path / f"{name}.json").write_text(deciban.evaluation.Results((one,)).to_json())
    runs, _ = runs_of([tmp_path / "flat.json", tmp_path / "skew.json"])
    for metric in ("error_rate", "cross_entropy", "brier"):
        boards, _ = leaderboards(runs, [metric])
        assert [one.operating_points[metric]["prior"][0] for one in boards] == [pytest.approx(1 / 3), 0.9]
    assert "prior 0.9:0.05:0.05" in leaderboard_table(boards[1]).caption
    assert len(leaderboards(runs, ["cllr", "information"])[0]) == 1
    with pytest.raises(InputError, match="different operating points: prior 0.9:0.05:0.05, and prior flat"):
        runs[1][1].require_like(runs[0][1], "error_rate")

    saved(tmp_path / "a.json", 2.0)
    spoof = {"min_t_dcf": 0.2, "role": "countermeasure"}
    rates, others = ({"p_miss": 0.02, "p_fa": 0.02, "p_fa_spoof": x} for x in (0.9, 0.8))
    for name, preset, verifier in (("x", "2019", rates), ("y", "2021", rates), ("z", "2019", others)):
        rewritten(tmp_path / f"{name}.json", tmp_path / "a.json", spoof, preset=preset, verifier=verifier)
    runs, _ = runs_of(tmp_path / f"{name}.json" for name in "xyz")
    assert len(leaderboards(runs, ["min_t_dcf"])[0]) == 3
    assert len(leaderboards(runs, ["eer", "auc"])[0]) == 2  # of the countermeasure alone, by protocol


def test_unsuitable_runs_are_left_out(folder, tmp_path, run):
    saved(tmp_path / "a.json", 2.0)
    classes = deciban.evaluate_classes([[2.0, 0.0], [0.0, 1.0]], [0, 1], name="k")
    (tmp_path / "k.json").write_text(deciban.evaluation.Results((classes,)).to_json())
    (tmp_path / "sub.json").mkdir()
    (tmp_path / "link.json").symlink_to(tmp_path / "nothing")
    runs, left_out = runs_of([tmp_path, tmp_path / "a.json"])
    assert [name for name, _ in runs] == ["a", "k"]
    assert len(left_out) == 1
    assert "link.json" in left_out[0]
    boards, lacking = leaderboards(runs, ["eer"])
    assert [[run.name for run in one.runs] for one in boards] == [["a"]]
    assert re.fullmatch(r"k in .*k\.json: no metric 'eer'\. Left out\.", lacking[0])
    with pytest.raises(InputError, match="has no metric 'f1'. It has eer, "):
        leaderboards(runs[:1], ["f1"])
    board = leaderboards(runs, ["mean_min_dcf", "eer"])[0][0]
    assert board.protocols == "points 0.1:1:1"
    code, _, err = run("leaderboard", str(folder), "-o", str(tmp_path / "lb.txt"))
    assert code == 2
    assert "the page is HTML" in err


def test_other_levels_and_units_of_intervals_are_stated(tmp_path):
    saved(tmp_path / "a.json", 2.0)
    (system,) = json.loads((tmp_path / "a.json").read_text())["systems"]
    level = {"intervals": {"eer": system["intervals"]["eer"] | {"level": 0.8}}}
    rewritten(tmp_path / "b.json", tmp_path / "a.json", level | {"units": {"n": 420, "noun": "trial"}})
    boards, _ = leaderboards(runs_of([tmp_path])[0])
    assert "[80 % and 95 % intervals by unit and trial]" in leaderboard_table(boards[0]).caption
    text = " ".join(remarks(boards))
    assert "different confidence levels (80 %, 95 %)" in text
    assert "different units (60 units, 420 trials)" in text


def test_damaged_results_are_ranked_or_refused_in_words(tmp_path):
    """Values of other types than results have."""
    saved(tmp_path / "a.json", 2.0)
    content = json.loads((tmp_path / "a.json").read_text())
    for name, value in (("units", "x"), ("n_tar", "many"), ("intervals", [1]), ("kind", []), ("operating_points", [])):
        other = {**content["systems"][0], name: value}
        (tmp_path / "b.json").write_text(json.dumps(content | {"systems": [other], "files": 7, "options": 7}))
        for board in leaderboards(runs_of([tmp_path])[0])[0]:
            assert board.trials
            assert len(leaderboard_table(board).rows) == len(board.runs)


def test_a_folder_without_results_is_refused(tmp_path):
    with pytest.raises(FormatError, match="deciban eval --json"):
        runs_of([tmp_path])


def test_the_command_prints_tables_and_writes_a_page(run, folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    code, out, err = run("leaderboard", "runs", "-o", "board.html", "--table", "csv")
    assert code == 0
    assert "run,system,rank,group,EER (ROCCH) in %,EER (ROCCH) low in %" in out
    assert "Left out." in err
    page = Path("board.html").read_text()
    assert page.count('<table class="sortable"') == 2
    assert "3 runs, ranked by EER (ROCCH)" in page
    found = json.loads(run("leaderboard", "runs", "--metric", "min_dcf", "--json")[1])
    assert [one["run"] for one in found["leaderboards"][0]["runs"]] == ["best", "next", "poor"]
    assert found["leaderboards"][0]["runs"][0]["metrics"]["min_dcf"]["low"] > 0.0
    assert found["leaderboards"][0]["operating_points"]["min_dcf"] == {"p_target": 0.1, "c_miss": 1.0, "c_fa": 1.0}
