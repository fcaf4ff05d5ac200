"""Thresholds that are chosen on other trials."""

import math
import re

import numpy as np
import pytest
from click.testing import CliRunner

import deciban
from deciban import InputError, evaluate_files, metrics
from deciban.cli.evaluate import eval_command
from deciban.io.demos import write_field_demo

RNG = np.random.default_rng(5)
POINTS = [0.1, (0.5, 1, 3)]


def trials(n):
    is_target = np.arange(n) % 3 == 0
    return is_target, RNG.normal(1.5 * is_target, 1.0).round(2), RNG.normal(2.5 * is_target, 2.0).round(2)


DEV, TEST = trials(150), trials(120)


@pytest.fixture
def folder(tmp_path):
    """Scores of systems a and b on two sets of trials, with labels inside and with a key."""
    for part, (truth, *systems) in {"dev": DEV, "test": TEST}.items():
        key = "".join(f"m{i} s{i} {'target' if t else 'nontarget'}\n" for i, t in enumerate(truth))
        (tmp_path / f"{part}.key").write_text(key)
        for name, scores in zip("ab", systems, strict=True):
            lines = "".join(f"m{i} s{i} {score}\n" for i, score in enumerate(scores))
            (tmp_path / f"{name}.{part}.txt").write_text(lines)
            table = "".join(
                f"m{i},s{i},{score},{int(t)}\n" for i, (score, t) in enumerate(zip(scores, truth, strict=True))
            )
            (tmp_path / f"{name}.{part}.csv").write_text("enroll,test,score,label\n" + table)
    return tmp_path


def expected(system, place):
    truth, *systems = TEST
    scores = systems[system]
    return np.mean(scores[truth] < place), np.mean(scores[~truth] >= place)


def test_each_system_has_the_thresholds_of_its_own_file(folder):
    found = evaluate_files(
        [folder / "a.test.txt", folder / "b.test.txt"],
        folder / "test.key",
        threshold_from=[folder / "a.dev.txt", folder / "b.dev.txt"],
        threshold_key=folder / "dev.key",
        operating_points=POINTS,
    )
    truth, *systems = DEV
    for k, one in enumerate(found.systems):
        dev = systems[k][truth], systems[k][~truth]
        places = [metrics.eer_threshold(*dev), metrics.min_dcf_threshold(*dev, p_target=0.1)]
        places.append(metrics.min_dcf_threshold(*dev, p_target=0.5, c_fa=3))
        at = one.requested.at_thresholds
        assert [each.name for each in at] == ["EER", "minDCF at p_target 0.1", "minDCF at p_target 0.5, costs 1:3"]
        assert [each.errors.threshold for each in at] == places
        for each, place in zip(at, places, strict=True):
            p_miss, p_fa = expected(k, place)
            assert (each.errors.p_miss, each.errors.p_fa) == pytest.approx((p_miss, p_fa))
            assert each.errors.hter == pytest.approx((p_miss + p_fa) / 2)
    assert any("thresholds are chosen" in line for line in found.message_lines)
    assert any("a.dev.txt" in line for line in found.message_lines)


def test_labels_may_stand_in_the_file(folder):
    by_key = {"threshold_from": folder / "a.dev.txt", "threshold_key": folder / "dev.key"}
    one = evaluate_files(folder / "a.test.csv", threshold_from=folder / "a.dev.csv")
    other = evaluate_files(folder / "a.test.txt", folder / "test.key", **by_key)
    assert one.systems[0].requested == other.systems[0].requested


def test_thresholds_of_users_stand_beside(folder):
    how = {"threshold_from": folder / "a.dev.csv", "at_thresholds": {"agreed": 1.0}}
    (one,) = evaluate_files(folder / "a.test.csv", **how).systems
    assert [each.name for each in one.requested.at_thresholds] == ["agreed", "EER", "minDCF at p_target 0.01"]
    assert one.requested.at_thresholds[0].errors.p_miss == pytest.approx(expected(0, 1.0)[0])


def test_a_choice_of_trials_is_that_of_the_evaluation(folder):
    """The other trials need not have the column."""
    truth, scores, _ = TEST
    sex = np.where(np.arange(len(truth)) % 2 == 0, "f", "m")
    rows = zip(truth, scores, sex, strict=True)
    lines = "".join(f"m{i},s{i},{score},{int(t)},{s}\n" for i, (t, score, s) in enumerate(rows))
    (folder / "t.csv").write_text("enroll,test,score,label,sex\n" + lines)
    (one,) = evaluate_files(folder / "t.csv", threshold_from=folder / "a.dev.csv", where={"sex": "f"}).systems
    assert one.n_tar + one.n_non == 60
    place = one.requested.at_thresholds[0].errors.threshold
    own = truth & (sex == "f")
    assert one.requested.at_thresholds[0].errors.p_miss == pytest.approx(np.mean(scores[own] < place))


def test_a_development_set_that_is_best_off_rejecting_all(tmp_path):
    (tmp_path / "dev.csv").write_text("enroll,test,score,label\na,b,0,1\nc,d,0,0\n")
    (tmp_path / "test.csv").write_text("enroll,test,score,label\na,b,5,1\nc,d,0,0\n")
    (one,) = evaluate_files(tmp_path / "test.csv", threshold_from=tmp_path / "dev.csv").systems
    last = one.requested.at_thresholds[-1]
    assert (last.errors.threshold, last.errors.hter) == (math.inf, 0.5)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"threshold_from": ["a.dev.csv", "b.dev.csv"]}, "got 2 systems .*, but 1 are evaluated"),
        ({"threshold_key": "dev.key"}, "threshold_key: is for the scores of threshold_from"),
        ({"threshold_from": []}, "threshold_from: no file given"),
        ({"threshold_from": 3}, "threshold_from: got int"),
        ({"threshold_from": "a.dev.csv", "model": "model.json"}, "threshold_from, model"),
    ],
)
def test_refusals(folder, monkeypatch, given, words):
    monkeypatch.chdir(folder)
    with pytest.raises(InputError, match=words):
        evaluate_files("a.test.csv", **given)


def test_systems_in_another_order_are_refused(folder):
    for name in ("a", "b"):
        for part in ("dev", "test"):
            (folder / part).mkdir(exist_ok=True)
            (folder / part / f"{name}.csv").write_text((folder / f"{name}.{part}.csv").read_text())
    files = {part: [folder / part / f"{name}.csv" for name in ("a", "b")] for part in ("dev", "test")}
    for names in (None, {"a": "first"}, ["first", "second"]):
        (one, other) = evaluate_files(files["test"], threshold_from=files["dev"], names=names).systems
        assert one.requested != other.requested
        with pytest.raises(InputError, match="is system 1 there, but system 2 of the evaluated"):
            evaluate_files(files["test"], threshold_from=files["dev"][::-1], names=names)
    other_names = [folder / "a.dev.csv", folder / "b.dev.csv"]
    named = evaluate_files(files["test"], threshold_from=other_names, names={"a": "first"})
    assert named.systems[0].requested == one.requested


def test_many_classes_have_no_such_threshold(tmp_path):
    path = tmp_path / "c.csv"
    path.write_text("trial,class,eng,fra\na,eng,1,0\nb,fra,0,1\n")
    with pytest.raises(InputError, match="threshold_from: the scores are multiclass"):
        evaluate_files(path, threshold_from=path)
    with pytest.raises(InputError, match="fnmr_at: for two-class scores"):
        evaluate_files(path, fnmr_at=[0.1])


def test_protocols_with_limits_of_rates_accept_other_limits_and_thresholds(tmp_path, monkeypatch):
    write_field_demo(tmp_path, "biometrics")
    monkeypatch.chdir(tmp_path)
    path = "faces.csv"
    found = deciban.evaluate_files(path, preset="iso19795", threshold_from=path, intervals=False)
    assert found.primaries[0].value == found.systems[0].requested.rates_at[0].rate
    assert found.systems[0].requested.at_thresholds
    done = CliRunner().invoke(eval_command, [path, "--preset", "iso19795", "--fnmr-at", "0.02", "--no-intervals", "-q"])
    assert done.exit_code == 0, done.output
    pair = deciban.compare_files([path, path], names=["a", "b"], preset="iso19795")
    assert pair.systems[0].uncertainty.noun == "subject"
    assert not any("FNMR at FMR" in note for note in pair.notes)
    assert any("FNMR at limits of FMR is not compared" in one.text for one in pair.results.messages)
    assert re.findall(r"(?m)^faces +([\d.]+) %", done.stdout)[:3] == ["2", "1", "0.1"]
