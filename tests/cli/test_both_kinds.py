"""Commands on scores of both kinds: one layout for machines, and models of the other kind refused in words."""

import json

import pytest

from support.both_kinds import MADE

TRAINED = {"schema", "kind", "model", "rows", "dev", "eval", "analysis", "selection", "join", "inputs", "conventions"}


@pytest.fixture(params=list(MADE))
def both(request, tmp_path, monkeypatch):
    """Files of two classes, then of many, in the folder of the test."""
    monkeypatch.chdir(tmp_path)
    return MADE[request.param](tmp_path)


@pytest.mark.parametrize(
    ("words", "roles"),
    [
        ("calibrate a.csv --key key.csv -o m.json", ["before", "calibration"]),
        ("calibrate a.csv --key key.csv -o m.json --cross-validate 3", ["before", "calibration", "cross-validated"]),
        ("fuse a.csv b.csv --key key.csv -o m.json", [..., "fusion"]),
        (
            "fuse a.csv b.csv --key key.csv -o m.json --apply-to a.csv --apply-to b.csv --apply-key key.csv",
            [..., "fusion"],
        ),
    ],
)
def test_one_layout_of_training(both, words, roles, run):
    code, out, err = run(f"{words} --json")
    assert code == 0, err
    told = json.loads(out)
    assert told.keys() >= TRAINED
    assert told["kind"] == both.name
    assert told["model"] == json.loads((both.folder / "m.json").read_text())
    assert told["inputs"] == err.splitlines()[:-1]
    found = [row["role"] for row in told["rows"]]
    assert found == roles if roles[0] is not ... else found[-1] == roles[-1]
    assert [told["dev"][row["dev"]]["name"] for row in told["rows"]] == [row["name"] for row in told["rows"]]
    assert (told["eval"] is not None) == ("--apply-key" in words)


def test_evaluations_say_their_kind(both, run):
    code, out, err = run("eval a.csv b.csv --key key.csv --json")
    assert code == 0, err
    told = json.loads(out)
    assert (told["kind"], [one["kind"] for one in told["systems"]]) == (both.name, [both.name] * 2)


def test_a_model_for_the_other_kind_is_refused_in_words(both, run, tmp_path):
    (tmp_path / "other").mkdir()
    other = MADE[both.other](tmp_path / "other")
    other.calibrator().fit(other.values[0], other.truth).save(tmp_path / "m.json")
    code, out, err = run("report a.csv --key key.csv --model m.json -o page.html")
    assert (code, out) == (2, ""), err
    words = {"two-class": "two-class", "classes": "multiclass"}
    assert f"is for {words[both.other]} scores, but the scores are {words[both.name]}" in " ".join(err.split())
    code, out, err = run("apply m.json a.csv -o out.csv")
    assert (code, out) == (2, ""), err
    assert f"{words[both.name]} scores, but a model of kind" in " ".join(err.split())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "b.csv", "key.csv", "m.json", "other"]


def test_a_folder_that_is_not_there_is_told(both, run):
    both.calibrator().fit(both.values[0], both.truth).save(both.folder / "m.json")
    code, out, err = run("apply m.json a.csv -o nodir/out.csv")
    assert (code, out) == (2, "")
    assert "nodir" in err
    assert not (both.folder / "nodir").exists()


def test_names_of_outputs_that_a_terminal_would_obey_are_shown_escaped(both, run, tmp_path):
    odd = "x\x1b[31m\ny"
    plot = "det" if both.name == "two-class" else "confusion"
    for words in (["report", "a.csv"], ["plot", plot, "a.csv"]):
        code, out, err = run(*words, "--key", "key.csv", "-o", odd + (".html" if words[0] == "report" else ".svg"))
        assert code == 0, err
        assert "\x1b" not in out + err
        assert r"wrote x\x1b[31m\ny." in out + err
    (tmp_path / odd).write_text((tmp_path / "a.csv").read_text())
    code, out, err = run("calibrate", odd, "--key", "key.csv", "-o", "m.json")
    assert code == 0, err
    assert "\\\\" not in out + err


def test_an_option_of_many_classes_is_refused_by_its_own_name(both, run):
    both.calibrator().fit(both.values[0], both.truth).save(both.folder / "m.json")
    code, _, err = run("apply m.json a.csv -o out.csv --as detection-llr")
    if both.name == "classes":
        assert code == 0, err
        return
    assert (code, "--as is for multiclass scores" in " ".join(err.split())) == (2, True), err
    assert "--kind" not in err


def test_scores_that_say_nothing_are_called_what_they_are(both, run):
    code, out, err = run("calibrate a.csv --key key.csv -o m.json")
    assert code == 0, err
    silent = "if all llrs were 0" if both.name == "two-class" else "for scores without information"
    assert f"% of its value {silent}" in " ".join(out.split())
