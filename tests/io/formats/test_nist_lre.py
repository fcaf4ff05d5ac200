"""Tables of the NIST language recognition evaluations from 2017 on."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import FormatError, InputError, read_class_scores, write
from deciban.io.formats import Contents
from deciban.trials import ClassScores
from deciban.workflows import Options
from support.text_formats import again, assert_same, conditions_of, golden, names_of, read_bytes, tables, written

SEGMENTS = [("lre17_abcdef.sph",), ("lre17_ghijkl.flac",)]


def test_submission():
    contents = golden("nist-lre.submission", need="class-scores")
    assert contents.origin.reading.startswith("nist-lre")
    assert names_of(contents.class_scores.trials) == SEGMENTS
    assert contents.class_scores.classes == ("ara-acm", "ara-apc", "eng-gbr")
    assert contents.class_scores.score.tolist() == [[-1.25, 2.5, -7.75], [0.0, -math.inf, 1e-3]]


def test_a_submission_is_found_without_saying_what_it_is():
    assert golden("nist-lre.submission").class_scores.classes == ("ara-acm", "ara-apc", "eng-gbr")


def test_key():
    contents = golden("nist-lre.key", need="class-key")
    key = contents.class_key
    assert names_of(key.trials) == SEGMENTS
    assert [key.classes[i] for i in key.label] == ["ara-apc", "eng-gbr"]
    assert conditions_of(key.trials) == {"data_source": ["mls14", "vast"], "speech_duration": ["30", ""]}


def test_what_is_written():
    scores = ClassScores.of({"trial": ["s"]}, ["eng", "fra"], [[0.1, -0.0]])
    assert written(Contents.of(scores), "nist-lre") == b"segmentid\teng\tfra\ns\t0.1\t-0\n"


@given(tables(kinds=("class-scores",), sides=("trial",), delimiter="\t"))
def test_class_scores_come_back(contents):
    assert_same(again(contents, "nist-lre", "class-scores"), contents)


@given(
    tables(kinds=("class-key",), sides=("trial",), delimiter="\t", conditions=("source",)).filter(
        lambda contents: len(set(contents.class_key.label.tolist())) == 2
    )
)
def test_class_keys_come_back(contents):
    assert_same(again(contents, "nist-lre", "class-key"), contents, conditions=("source",))


def test_hostile_lines():
    with pytest.raises(FormatError, match=":3: expected 3 columns .*, got 2"):
        read_bytes(b"segmentid\teng\tfra\na\t1\t2\nb\t1\n", need="class-scores")
    with pytest.raises(FormatError, match=":1002: the score 'x' is not a number"):
        read_bytes(b"segmentid\teng\tfra\n" + b"s\t1\t2\n" * 1000 + b"t\t1\tx\n", need="class-scores")
    with pytest.raises(FormatError, match=":21: the score 'x' is not a number"):
        # One field that is no number does not make a condition of a language.
        read_bytes(b"segmentid\teng\tfra\tdeu\n" + b"s\t1\t2\t3\n" * 19 + b"t\t1\tx\t2\n", need="class-scores")
    with pytest.raises(FormatError, match="nist-lre uses segmentid as the name of a column"):
        written(Contents.of(ClassScores.of({"trial": ["s"]}, ["eng", "segmentid"], [[0.0, 1.0]])), "nist-lre")


@pytest.mark.parametrize("name", ["nist-lre17", "nist-lre22"])
def test_detection_llrs_are_read_as_log_likelihoods(name):
    """Each class has the posterior that its detector says, by a flat prior; what these sum up to does not matter."""
    contents = golden(f"{name}.submission", format=name, need="class-scores")
    odds = np.exp([[-1.25, 0.5, -1.75], [0.0, -np.inf, 1e-3]])
    posterior = odds / (odds + 2)  # of a llr x against two others, each of prior 1/3
    posterior /= posterior.sum(axis=1, keepdims=True)
    found = contents.class_scores.score
    relative = np.exp(found) / np.exp(found).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(relative, posterior, rtol=1e-14)
    assert "detection llrs" in contents.notes[0]
    assert golden(f"{name}.key", format=name, need="class-key").notes == ()


@given(st.integers(2, 5), st.integers(0, 10**6))
def test_detection_llrs_are_written_and_come_back(tmp_path_factory, n_classes, seed):
    loglik = np.random.default_rng(seed).normal(0, 3, (4, n_classes))
    classes = [f"c{k}" for k in range(n_classes)]
    scores = ClassScores.of({"trial": list("abcd")}, classes, loglik)
    path = tmp_path_factory.mktemp("lre") / "s.tsv"
    write(scores, path, format="nist-lre17")
    told = np.array([line.split("\t")[1:] for line in path.read_text().splitlines()[1:]], float)
    for k in range(n_classes):
        others = np.delete(loglik, k, axis=1)
        llr = loglik[:, k] - np.log(np.mean(np.exp(others), axis=1))
        np.testing.assert_allclose(told[:, k], llr, rtol=1e-12, atol=1e-12)
    back = read_class_scores(path, format="nist-lre17").score
    moved = back - loglik
    np.testing.assert_allclose(moved, np.broadcast_to(moved[:, :1], moved.shape), atol=1e-10)


def test_a_unit_is_not_said_twice():
    for said in ({"detection_llr": True}, {"posterior_prior": "flat"}, {"probabilities": "flat"}):
        with pytest.raises(InputError, match=f"{next(iter(said))}: files of format nist-lre17 contain detection llrs"):
            Options.of("evaluate_files", {"format": "nist-lre17", **said})
