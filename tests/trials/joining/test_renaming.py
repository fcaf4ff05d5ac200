"""Names that are compared without endings and folders, with one separator, or by an id map."""

import re

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import InputError, Key, KeyMismatchError, Scores, align
from deciban.trials import ClassKey, ClassScores, IdMap, Trials, align_classes
from deciban.trials.joining import RULES, Renaming, rules_in

WORDS = st.text("ab1./\\_|~-é\n AZ9:", max_size=14)


def plainly(rule, name):
    """What a rule makes of one name, by the regular expressions of Python."""
    if rule == "strip-ending":
        return re.sub(r"([^/\\])\.[0-9]?[A-Za-z][A-Za-z0-9]{0,4}\Z", r"\1", name)
    if rule == "basename":
        return re.sub(r"(?s)\A.*[/\\]([^/\\]+)\Z", r"\1", name)
    return re.sub(r"[/\\_|~-]", "-", name)


@pytest.mark.parametrize("rule", RULES)
@given(names=st.lists(WORDS, max_size=20), start=st.integers(0, 3))
def test_a_rule_is_what_regular_expressions_say(rule, names, start):
    """Also of a piece of a longer column."""
    column = pa.array(names, pa.string())[start:]
    assert RULES[rule](column).to_pylist() == [plainly(rule, name) for name in names[start:]]


@pytest.mark.parametrize(
    ("rule", "before", "after"),
    [
        ("strip-ending", "utt1.wav", "utt1"),
        ("strip-ending", "a/b.c/utt1.flac", "a/b.c/utt1"),
        ("strip-ending", "x.7z", "x"),
        ("strip-ending", "x.tar.gz", "x.tar"),
        ("strip-ending", "version1.25", "version1.25"),
        ("strip-ending", ".wav", ".wav"),
        ("strip-ending", "d/.wav", "d/.wav"),
        ("strip-ending", "utt.waveform", "utt.waveform"),
        ("basename", "/d/e/m0.wav", "m0.wav"),
        ("basename", "C:\\d\\m0", "m0"),
        ("basename", "d/", "d/"),
        ("separators", "id1/x_y~z|0-1", "id1-x-y-z-0-1"),
    ],
)
def test_rules(rule, before, after):
    assert RULES[rule](pa.array([before])).to_pylist() == [after]


KEY = Key.of({"enroll": ["m0", "m0", "m1"], "test": ["s0", "s1", "s0"]}, [True, False, False])
VALUES = [1.0, 2.0, 3.0]


def scores_of(change, order=(2, 0, 1)):
    """The trials of the key, in another order and by other names."""
    names = {side: [change(KEY.trials.column(side).to_pylist()[row]) for row in order] for side in ("enroll", "test")}
    return Scores.of(names, [VALUES[row] for row in order])


@pytest.mark.parametrize(
    ("change", "ids"),
    [
        (lambda name: f"{name}.wav", "strip-ending"),
        (lambda name: f"/data/{name}", "basename"),
        (lambda name: f"/data/{name}.wav", "basename,strip-ending"),
        (lambda name: f"/data/{name}.wav", ["strip-ending", "basename"]),
        (lambda name: f"x{name}", IdMap.of({f"x{name}": name for name in ("m0", "m1", "s0", "s1")})),
    ],
)
def test_trials_are_found_and_keep_the_names_of_the_key(change, ids):
    found = align(scores_of(change), KEY, ids=ids)
    assert found.score.tolist() == VALUES
    assert [found.trials.name_of(row) for row in range(3)] == ["(m0, s0)", "(m0, s1)", "(m1, s0)"]
    assert found.report.matched == 3
    with pytest.raises(KeyMismatchError, match="share no trial"):
        align(scores_of(change), KEY)


def test_names_of_the_key_are_changed_by_rules_and_not_by_a_map():
    key = Key.of({"trial": ["a.wav", "b.wav"]}, [True, False])
    scores = Scores.of({"trial": ["b", "a"]}, [1.0, 2.0])
    assert align(scores, key, ids="strip-ending").score.tolist() == [2.0, 1.0]
    assert align(scores, key, ids=IdMap.of({"a": "a.wav", "b": "b.wav"})).score.tolist() == [2.0, 1.0]
    with pytest.raises(KeyMismatchError):
        align(scores, key, ids=IdMap.of({"a.wav": "a", "b.wav": "b"}))


def test_names_that_a_map_lacks_stay():
    found = align(scores_of(lambda name: name.replace("m1", "x")), KEY, ids=IdMap.of({"x": "m1", "nobody": "m7"}))
    assert found.score.tolist() == VALUES


def test_segments_of_many_classes():
    scores = ClassScores.of({"trial": ["d/b.wav", "d/a.wav"]}, ["x", "y"], [[0.0, 1.0], [2.0, 0.0]])
    key = ClassKey.of({"trial": ["a", "b"]}, ["x", "y"])
    assert align_classes(scores, key, ids="strip-ending,basename").score.tolist() == [[2.0, 0.0], [0.0, 1.0]]


def test_two_names_that_become_one_are_refused_with_their_places():
    key = Key.of({"trial": ["a", "b"]}, [True, False])
    scores = Scores.of({"trial": ["x/a", "b", "y/a", "x/c", "y/c"]}, [1.0, 2.0, 3.0, 4.0, 5.0])
    message = (
        r"'x/a' \(trials, row 0\) and 'y/a' \(trials, row 2\) would both be 'a' \(2 such names of trial in trials\)"
    )
    with pytest.raises(KeyMismatchError, match=message):
        align(scores, key, ids="basename", missing="drop")
    with pytest.raises(KeyMismatchError, match=r"would both be 'b'"):
        align(Scores.of({"trial": ["a", "b"]}, [1.0, 2.0]), key, ids=IdMap.of({"a": "b"}))


def test_names_without_trials_do_not_count():
    """A matrix may list models that nothing was scored for."""
    mask = [[True, True], [False, False]]
    scores = Scores(Trials.of_grid(["m.wav", "m.flac"], ["s", "t"], mask), pa.array([1.0, 2.0]).to_numpy())
    key = Key.of({"enroll": ["m", "m"], "test": ["t", "s"]}, [True, False])
    assert align(scores, key, ids="strip-ending").score.tolist() == [2.0, 1.0]


def test_copies_are_found_as_ever():
    names = {"trial": ["a.wav", "a.wav", "b.wav"]}
    scores = Scores.of({"trial": ["b", "a"]}, [1.0, 2.0])
    key = Key.of(names, [True, True, False])
    found = align(scores, key, ids="strip-ending", duplicates="keep-one")
    assert (found.score.tolist(), found.report.duplicate) == ([2.0, 1.0], 1)
    with pytest.raises(KeyMismatchError, match=r"\(a\.wav\) occurs more than once"):
        align(scores, key, ids="strip-ending")


@pytest.mark.parametrize("ids", ["strip", "strip-ending,", "map.csv", [], 3, ["basename", None]])
def test_what_is_no_rule_is_refused(ids):
    with pytest.raises(InputError, match=r"ids: got .* strip-ending, basename, separators"):
        align(scores_of(str), KEY, ids=ids)


def test_rows_have_no_names_and_an_order_compares_none():
    rows = Scores(Trials.of_rows(2), pa.array([1.0, 2.0]).to_numpy())
    with pytest.raises(InputError, match="no names that could be changed"):
        align(rows, Key(Trials.of_rows(2), pa.array([1, 0]).to_numpy() > 0), ids="basename")
    with pytest.raises(InputError, match="matching by order does not compare names"):
        align(scores_of(str), KEY, ids="basename", by_order=True)


def test_rules_in_words():
    assert rules_in("basename, strip-ending") == ("basename", "strip-ending")
    assert rules_in("basename.csv") is None
    assert Renaming.of(None) is None
    how = Renaming.of("basename")
    assert Renaming.of(how) is how
