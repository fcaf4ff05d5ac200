"""What is said of trials that would match if their names were written in the same way."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import Key, KeyMismatchError, Scores, align
from deciban.trials import Trials
from deciban.trials.joining import RULES, near_names

NAMES = [f"id{k}/x{k % 3}/u{k}" for k in range(30)]


def refused(offered, wanted=NAMES, **options):
    """The message of a join that fails, where the key has these names."""
    key = Key.of({"trial": list(wanted)}, np.arange(len(wanted)) % 3 == 0)
    with pytest.raises(KeyMismatchError) as caught:
        align(Scores.of({"trial": list(offered)}, np.zeros(len(offered))), key, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda name: f"{name}.wav", "all 30 would match without '.wav': ids=\"strip-ending\""),
        (lambda name: name.rpartition("/")[2], "all 30 would match by the last part of their names"),
        (lambda name: name.replace("/", "-"), "if '/', '\\', '_' and '-' were the same in their names"),
        (lambda name: name.replace("/", "-") + ".flac", 'ids="strip-ending,separators"'),
        (lambda name: f"/root/{name}.wav", "without '.wav' and by the last part of their names, without folders: ids="),
        (lambda name: name + (".wav" if name[2] == "1" else ".sph"), "without the endings of their names"),
    ],
)
def test_the_way_by_which_they_match_is_named(change, words):
    assert words in refused([change(name) for name in NAMES])
    assert words in refused(NAMES, [change(name) for name in NAMES])


def test_what_is_advised_helps():
    rng = np.random.default_rng(0)
    truth, values = rng.random(30) < 0.5, rng.normal(size=30)
    key = Key.of({"trial": NAMES}, truth)
    scores = Scores.of({"trial": [f"/d/{name}.wav" for name in NAMES]}, values)
    near = near_names(scores.trials, key.trials)
    assert near.n_matched == 30
    assert align(scores, key, ids=near.option).score.tolist() == values.tolist()


def test_some_of_them():
    offered = NAMES[:10] + [f"{name}.wav" for name in NAMES[10:25]]
    message = refused(offered)
    assert "20 of 30 key trials have no score" in message
    assert "25 of 30 would match without '.wav'" in message


def test_a_rule_that_makes_one_name_of_two_is_not_advised():
    wanted = ["a/u1", "b/u1", "a/u2", "b/u2"]
    assert "would match" not in refused(["u1", "u2"], wanted)


def test_nothing_is_said_where_nothing_helps():
    assert "would match" not in refused([f"spk{k}" for k in range(30)])
    assert "would match" not in refused([f"{name}.wav" for name in NAMES[:3]], [f"{name}.wav" for name in NAMES])
    rows = Trials.of_rows(3)
    assert near_names(rows, rows) is None
    assert near_names(Trials.of({"trial": []}), Trials.of({"trial": ["a.wav"]})) is None
    assert near_names(Trials.of({"trial": ["a.wav"]}), Trials.of({"enroll": ["a"], "test": ["a"]})) is None


def test_nothing_is_said_to_those_who_said_how():
    assert "would match" not in refused([f"{name}.wav" for name in NAMES], ids="basename")


@given(
    st.lists(
        st.sampled_from(["a", "b", "d/a", "d/b", "a.x", "d_a", "d-a", "e/a.x"]), min_size=1, max_size=6, unique=True
    )
)
def test_the_number_is_that_of_the_best_rule(wanted):
    """By brute force over all rules that keep different names different."""
    offered = ["a", "b", "c.x"]
    found = near_names(Trials.of({"trial": offered}), Trials.of({"trial": wanted}))
    by_rule = [0]
    for rules in [
        ("strip-ending",),
        ("basename",),
        ("separators",),
        ("strip-ending", "basename"),
        ("strip-ending", "separators"),
    ]:
        lists = []
        for names in (offered, wanted):
            column = Trials.of({"trial": names}).names[0]
            for rule in rules:
                column = RULES[rule](column)
            lists.append(column.to_pylist())
        if all(len(set(names)) == len(names) for names in lists):
            by_rule.append(len(set(lists[0]) & set(lists[1])))
    plain = len(set(offered) & set(wanted))
    assert (found.n_matched if found else plain) == max(plain, *by_rule)
