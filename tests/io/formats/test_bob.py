"""Score files of Bob."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import deciban
from deciban import FormatError
from deciban.io.formats import Contents
from deciban.io.recognition import readable_as
from deciban.trials import Key, Scores
from support.text_formats import any_double, assert_same, conditions_of, golden, names, names_of, read_bytes, written

PROBES = ["ann/probe_1.png", "bob/probe_7.png", "bob/probe_7.png"]


def test_four_columns():
    contents = golden("bob4.scores")
    assert contents.origin.reading == "bob4 'enroll =real_id test score'"
    assert names_of(contents.scores.trials) == list(zip(["ann", "ann", "bob"], PROBES, strict=True))
    assert contents.scores.score.tolist() == [5.25, -1.5, 4.0]
    assert contents.key.is_target.tolist() == [True, False, True]
    assert conditions_of(contents.key.trials) == {"real_id": ["ann", "bob", "bob"]}
    assert golden("bob4.scores", need="key").key.n_tar == 2


def test_five_columns():
    contents = golden("bob5.scores")
    assert contents.origin.reading == "bob5 '=claimed_id enroll =real_id test score'"
    assert names_of(contents.scores.trials) == list(zip(["model_1", "model_1", "model_2"], PROBES, strict=True))
    assert contents.key.is_target.tolist() == [True, False, True]
    assert conditions_of(contents.key.trials) == {"claimed_id": ["ann", "ann", "bob"], "real_id": ["ann", "bob", "bob"]}


def test_tables_with_a_header():
    contents = golden("bob-csv.scores")
    assert contents.origin.reading.startswith("bob-csv test='probe_key' enroll='bio_ref_subject_id' score='score'")
    assert names_of(contents.scores.trials) == [
        ("ann", "probe_1"),
        ("ann", "probe_7"),
        ("ann", "probe_8"),
        ("bob", "probe_1"),
    ]
    assert contents.scores.score.tolist() == [5.25, -1.5, 2.5, -2]
    assert contents.key.is_target.tolist() == [True, False, False, False]  # an attack is no target
    assert conditions_of(contents.key.trials)["probe_attack_type"] == ["", "", "print", ""]
    plain = b"bio_ref_subject_id,probe_subject_id,probe_key,score\nann,ann,p1,1\nann,bob,p2,0\n"
    assert read_bytes(plain, need="key").key.is_target.tolist() == [True, False]


REFERENCES = ["bio_ref_template_id", "bio_ref_reference_id"]


@pytest.mark.parametrize("probe", ["probe_key", "probe_template_id", "probe_reference_id", "key"])
@pytest.mark.parametrize("reference", [*REFERENCES, None])
def test_references_and_probes_by_other_names(reference, probe):
    """Two references of one subject are two models; whose they are decides what is a target."""
    extra = f",{reference}" if reference else ""
    rows = ["p1,ann,ann,2.5", "p1,ann,bob,-1", "p2,7,7,1"]
    named = [row + (f",m{at}" if reference else "") for at, row in enumerate(rows)]
    text = f"{probe},probe_subject_id,bio_ref_subject_id,score{extra}\n" + "\n".join(named) + "\n"
    contents = read_bytes(text.encode(), need="scores")
    assert contents.origin.reading.startswith("bob-csv")
    assert contents.key.is_target.tolist() == [True, False, True]
    enrolled = ["m0", "m1", "m2"] if reference else ["ann", "bob", "7"]
    assert names_of(contents.scores.trials) == list(zip(enrolled, ["p1", "p1", "p2"], strict=True))
    if reference:
        assert conditions_of(contents.key.trials)["bio_ref_subject_id"] == ["ann", "bob", "7"]


def test_numbers_of_subjects_are_no_scores_of_classes(tmp_path):
    path = tmp_path / "scores.csv"
    header = "bio_ref_subject_id,probe_subject_id,probe_key,probe_attack_type,score\n"
    path.write_text(header + "".join(f"{i % 3},{i % 2},k{i},,{i}.5\n" for i in range(6)))
    assert readable_as(path, ("scores", "class-scores")) == ("scores",)
    result = deciban.evaluate_files(path).systems[0]
    assert (result.n_tar, result.n_non) == (2, 4)


@pytest.mark.parametrize("name", ["bob4", "bob5"])
def test_files_are_written_as_they_came(name):
    lines = b"ann%s ann ann/1 5.25\nann%s bob bob/7 -1.5\n".replace(b"%s", b" m" if name == "bob5" else b"")
    assert written(read_bytes(lines, format=name), name) == lines


_rows = st.lists(st.tuples(names(), names(), st.sampled_from(["a", "b"]), names(), any_double), min_size=1, max_size=6)


@given(_rows)
def test_trials_come_back(rows):
    # No name reads as a word of a header: a file that begins with such a name is refused.
    rows = [("~" + claimed, "~" + model, real, "~" + test, score) for claimed, model, real, test, score in rows]
    for name, text in (
        ("bob4", "".join(f"{claimed} {real} {test} {score!r}\n" for claimed, _, real, test, score in rows)),
        ("bob5", "".join(f"{claimed} {model} {real} {test} {score!r}\n" for claimed, model, real, test, score in rows)),
    ):
        contents = read_bytes(text.encode(), format=name)
        conditions = tuple(conditions_of(contents.index.trials))
        back = read_bytes(written(contents, name), format=name, need="scores")
        assert_same(back, contents, conditions=conditions)


def test_labels_say_who_targets_are():
    ids = {"enroll": ["ann", "bob"], "test": ["x", "y"]}
    scores, key = Scores.of(ids, [1.0, 2.0]), Key.of(ids, [True, True])
    assert written(Contents.of(scores, key), "bob4") == b"ann ann x 1\nbob bob y 2\n"
    assert written(Contents.of(scores, key), "bob5") == b"ann ann ann x 1\nbob bob bob y 2\n"


def test_who_a_non_target_is_must_be_known():
    ids = {"enroll": ["ann", "bob"], "test": ["x", "y"]}
    scores, key = Scores.of(ids, [1.0, 2.0]), Key.of(ids, [True, False])
    with pytest.raises(
        FormatError, match="trials, row 1: bob4: 'bob' is claimed in a non-target trial, but the real identity"
    ):
        written(Contents.of(scores, key), "bob4")
    with pytest.raises(
        FormatError, match="bob5 cannot contain trials: real identities are unknown: there are neither labels nor"
    ):
        written(Contents.of(scores), "bob5")
    scores = Scores.of(ids, [1.0, 2.0], conditions={"real_id": ["ann", "bob"]})
    with pytest.raises(
        FormatError, match="row 1: bob4: the trial is a nontarget, but 'bob' is claimed and 'bob' is real"
    ):
        written(Contents.of(scores, key), "bob4")


def test_four_columns_do_not_pass_a_model_off_as_a_person():
    with pytest.raises(
        FormatError, match=":1: bob4: the trial is a target, but 'model_1' is claimed and 'ann' is real"
    ):
        written(golden("bob5.scores"), "bob4")


def test_hostile_lines():
    with pytest.raises(FormatError, match=":2: expected 4 columns .*, got 3"):
        read_bytes(b"a a x 1\nb a y\n", need="scores", format="bob4")
    with pytest.raises(FormatError, match=":2: the score 'z' is not a number"):
        read_bytes(b"a m a x 1\nb m a y z\n", need="scores", format="bob5")
