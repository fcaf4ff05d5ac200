"""Distances: lower scores favour targets, where a user says so."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import deciban
from deciban import metrics
from deciban.errors import InputError

RNG = np.random.default_rng(3)
IS_TARGET = np.arange(80) % 2 == 0
DISTANCE = np.abs(RNG.normal(np.where(IS_TARGET, 0.3, 0.8), 0.15)).clip(0, 1).round(5)
EER = metrics.eer(-DISTANCE[IS_TARGET], -DISTANCE[~IS_TARGET])


pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{x},{int(one)}\n" for x, one in zip(DISTANCE, IS_TARGET, strict=True))
    (tmp_path / "d.csv").write_text("distance,label\n" + rows)
    return tmp_path


@pytest.mark.parametrize("option", ["--negate", "--lower-is-better"])
def test_signs_are_changed_before_anything_else(run, option):
    code, out, err = run("eval", "d.csv", option, "--json")
    assert code == 0
    assert json.loads(out)["systems"][0]["eer"] == pytest.approx(EER)
    assert "signs of all scores changed" in err


def test_reversed_scores_are_told_of_the_option_and_keep_their_note(run):
    notes = json.loads(run("eval", "d.csv", "--json")[1])["systems"][0]["notes"]
    assert any("reversed" in note and "--negate" in note for note in notes)
    assert any("All scores lie in [0, 1]" in note for note in notes)


def test_files_frames_and_partitions_are_negated_alike():
    frame = {"distance": DISTANCE, "label": IS_TARGET}
    found = [
        deciban.evaluate(frame, score=["distance"], negate=True),
        deciban.evaluate_files(ds.dataset(pa.table(frame)), negate=True),
        deciban.evaluate_files("d.csv", negate=True),
    ]
    assert [result.systems[0].eer for result in found] == pytest.approx([EER] * 3)
    assert deciban.read_scores("d.csv", negate=True).score == pytest.approx(-DISTANCE)


def test_a_model_remembers_it(run):
    assert run("calibrate", "d.csv", "--negate", "-o", "model.json")[0] == 0
    code, _, err = run("apply", "model.json", "d.csv", "-o", "out.csv")
    assert code == 2
    assert "trained on negated scores" in err
    assert run("apply", "model.json", "d.csv", "--negate", "-o", "out.csv")[0] == 0
    code, out, _ = run("eval", "out.csv", "--json")
    assert json.loads(out)["systems"][0]["eer"] == pytest.approx(EER)
    assert run("calibrate", "out.csv", "-o", "plain.json")[0] == 0
    code, _, err = run("apply", "plain.json", "d.csv", "--negate", "-o", "again.csv")
    assert code == 2
    assert "were not negated" in err


def test_what_means_nothing_together_is_refused(run, folder):
    code, _, err = run("eval", "d.csv", "--negate", "--probabilities", "0.5")
    assert code == 2
    assert "exchange the label words" in err
    (folder / "c.csv").write_text("a,b,c,label\n1,2,3,a\n3,2,1,b\n2,3,1,c\n")
    assert run("eval", "c.csv", "--negate")[0] == 2
    with pytest.raises(InputError, match="negate"):
        deciban.evaluate_files("c.csv", negate=True)


def test_conversion_and_inspection_negate(run):
    Path("plain.txt").write_text("m s0 0.5 nontarget\nm s1 -1.0 target\nm s2 0.0 target\n")
    code, _, err = run("convert", "plain.txt", "out.parquet", "--negate")
    assert code == 0, err
    assert "signs of all scores changed" in err
    assert deciban.read_scores("out.parquet").score.tolist() == [-0.5, 1.0, 0.0]
    _, out, _ = run("inspect", "plain.txt")
    assert "Is the sign inverted? Add --negate" in " ".join(out.split())
    _, out, _ = run("inspect", "plain.txt", "--lower-is-better")
    assert "signs of all scores changed" in " ".join(out.split())
    assert "from -0.5 to 1, median 0" in out
    assert "flipped" not in out
    assert run("validate", "plain.txt", "--trials", "plain.txt", "--negate")[0] == 0


@pytest.mark.parametrize("command", ["convert p.txt out.parquet", "inspect p.txt"])
def test_files_without_scores_of_two_classes_are_not_negated(command, run):
    Path("p.txt").write_text("a x target\nb y nontarget\n")
    code, _, err = run(*command.split(), "--negate")
    assert code == 2
    assert "--negate: p.txt contains no two-class scores" in err


def test_converted_probabilities_are_not_negated(run):
    code, _, err = run("convert", "d.csv", "out.parquet", "--negate", "--probabilities", "0.5")
    assert code == 2
    assert "a negated probability is not a probability" in err


def test_thresholds_of_distances_are_said_to_be_negated(run):
    words = "thresholds are for negated scores"
    out = run("eval", "d.csv", "--negate", "--thresholds")[1]
    assert words in " ".join(out.split())
    assert words not in " ".join(run("eval", "d.csv", "--thresholds")[1].split())
    assert words not in " ".join(run("eval", "d.csv", "--negate")[1].split())
