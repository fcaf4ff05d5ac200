"""The writer of text tables: exact digits, and no name that would be read as another."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import FormatError, InputError
from deciban.io.formats import Contents, by_name, text_formats
from deciban.io.text import writer as lines
from deciban.trials import ClassScores, Index, Key, Scores, SegmentQuality, Trials
from support.text_formats import again, any_double, assert_same, bits, conditions_of, names_of, read_bytes, written

PAIR = {"enroll": ["a", "a"], "test": ["x", "y"]}


def test_every_bit_of_random_doubles_comes_back():
    rng = np.random.default_rng(7)
    values = rng.integers(0, 2**64, 200_000, dtype=np.uint64).view(np.float64)
    edges = [
        0.0,
        -0.0,
        5e-324,
        -5e-324,
        2.2250738585072014e-308,
        1.7976931348623157e308,
        1e300,
        np.inf,
        -np.inf,
        0.1,
        1e22,
    ]
    values = np.concatenate([values[~np.isnan(values)], edges, rng.integers(1, 2**52, 1000).view(np.float64)])
    scores = Scores.of({"trial": [f"t{i}" for i in range(len(values))]}, values)
    assert bits(again(Contents.of(scores), "trial", "scores").scores.score) == bits(values)


@given(st.lists(any_double, min_size=1, max_size=20))
def test_the_digits_are_the_fewest(values):
    scores = Scores.of({"trial": [f"t{i}" for i in range(len(values))]}, values)
    for line, value in zip(written(Contents.of(scores), "trial").decode().splitlines(), values, strict=True):
        digits = [one.lstrip("-").split("e")[0].replace(".", "").strip("0") for one in (line.split()[1], repr(value))]
        assert len(digits[0]) == len(digits[1])


def test_float32_is_printed_as_the_number_it_is():
    values = np.random.default_rng(7).normal(size=1000).astype(np.float32)
    scores = Scores.of({"trial": [f"t{i}" for i in range(1000)]}, values)
    back = again(Contents.of(scores), "trial", "scores").scores.score
    assert back.dtype == np.float64
    assert (back == values).all()


@pytest.mark.parametrize("shape", ["full", "masked", "listed"])
def test_blocks_and_grids_are_seamless(shape, monkeypatch):
    monkeypatch.setattr(lines, "_BLOCK", 300)
    enroll, test = [f"m{i}" for i in range(11)], [f"s{i}" for i in range(13)]
    mask = None if shape == "full" else np.arange(143).reshape(11, 13) % 3 > 0
    trials = Trials.of_grid(enroll, test, mask)
    if shape == "listed":
        trials = trials.take(np.random.default_rng(7).permutation(len(trials)))
    contents = Contents.of(Scores(trials, np.arange(len(trials)) / 7), Key(trials, np.arange(len(trials)) % 2 == 0))
    text = written(contents, "wespeaker").decode().splitlines()
    assert [tuple(line.split()[:2]) for line in text] == names_of(trials)
    assert_same(again(contents, "wespeaker", "scores"), contents)


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(lines, "_BLOCK", 1 << 16)
    trials = Trials.of_grid([f"model{i}" for i in range(100)], [f"segment{i}" for i in range(1000)])
    contents = Contents.of(Scores(trials, np.random.default_rng(7).normal(size=len(trials))))
    whole = pa.default_memory_pool()
    counted = pa.proxy_memory_pool(whole)
    pa.set_memory_pool(counted)
    try:
        n_bytes = len(written(contents, "kaldi"))
    finally:
        pa.set_memory_pool(whole)
    assert n_bytes > 3_000_000
    assert counted.max_memory() < 600_000


def test_a_column_of_long_names_makes_smaller_blocks():
    names = ["n" * 300_000 + str(i) for i in range(50)]
    contents = Contents.of(Scores.of({"trial": names}, np.arange(50.0)))
    assert_same(again(contents, "trial", "scores"), contents)


MISFITS = [
    ("kaldi", "a b", "contains white space"),
    ("kaldi", "a\tb", "contains white space"),
    ("kaldi", "", "is empty"),
    ("kaldi", "#a", "begins like a comment"),
    ("kaldi", ";;a", "begins like a comment"),
    ("kaldi", "\ufeffa", "begins like a comment or a byte order mark"),
    ("kaldi", "a\n", "contains white space"),
    ("kaldi", "a\0", "contains white space"),
    ("tsv", "a\tb", "contains a tab"),
    ("tsv", " a", "or a blank at an end"),
    ("tsv", "#a", "begins like a comment"),
    ("table", "a\r", "contains a line break"),
    ("table", "a ", "or a blank at an end"),
    ("table", "", "is empty"),
]


@pytest.mark.parametrize(("form", "name", "why"), MISFITS)
def test_names_that_do_not_fit_are_refused(form, name, why):
    scores = Scores.of({"enroll": ["fine", name], "test": ["x", "y"]}, [1.0, 2.0])
    with pytest.raises(
        FormatError, match=rf"{form} cannot contain the enroll name .* it .*{why}.* Choose another format"
    ):
        written(Contents.of(scores), form)


def test_comments_are_only_at_the_beginning_of_a_line():
    contents = Contents.of(Scores.of({"enroll": ["a"], "test": ["#x"]}, [1.0]))
    assert_same(again(contents, "kaldi", "scores"), contents)
    contents = Contents.of(Scores.of({"enroll": ["#a", ";;b", 'c "d"', "e,f"], "test": list("wxyz")}, np.arange(4.0)))
    assert written(contents, "table").splitlines()[1] == b'"#a",w,0'
    assert_same(again(contents, "table", "scores"), contents)


def test_many_misfits_are_counted_and_long_ones_cut():
    scores = Scores.of({"trial": ["a " * 100, "b c", "d"]}, np.arange(3.0))
    with pytest.raises(FormatError, match=r"'(a ){28}a\.\.\.' \(and 1 more like it\)"):
        written(Contents.of(scores), "trial")


def test_a_first_trial_like_a_header_is_refused():
    for ids in ({"enroll": ["model"], "test": ["segment"]}, {"enroll": ["id1"], "test": ["id2"]}):
        with pytest.raises(FormatError, match=r"kaldi: the first trial \(\w+, \w+\) would be read as a header"):
            written(Contents.of(Index.of(ids)), "kaldi")
    contents = Contents.of(Index.of({"enroll": ["a", "model"], "test": ["b", "segment"]}))
    assert_same(again(contents, "kaldi", "index"), contents)


def test_the_side_of_a_trial_is_not_lost():
    scores = Scores.of({**PAIR, "side": ["a", "b"]}, [1.0, 2.0])
    with pytest.raises(
        FormatError, match="kaldi identifies trials by enroll and test, trials by enroll and test and side"
    ):
        written(Contents.of(scores), "kaldi")
    with pytest.raises(FormatError, match="trial identifies trials by name, trials by enroll and test. Choose table"):
        written(Contents.of(Scores.of(PAIR, [1.0, 2.0])), "trial")
    with pytest.raises(FormatError, match="kaldi identifies trials by .* by row. Choose rows, npy"):
        written(Contents.of(Scores(Trials.of_rows(2), np.zeros(2))), "kaldi")


def test_several_systems_need_a_table():
    contents = Contents.of(Scores.of(PAIR, [1.0, 2.0], name="A"), Scores.of(PAIR, [3.0, 4.0], name="B"))
    with pytest.raises(FormatError, match="kaldi contains scores of one system, but trials of 2: A, B. Choose one"):
        written(contents, "kaldi")
    assert written(contents, "table") == b"enroll,test,A-score,B-score\na,x,1,3\na,y,2,4\n"


def test_tables_of_other_trials_are_not_mixed():
    key = Key.of({"enroll": ["a", "a"], "test": ["y", "x"]}, [True, False])
    scores = Scores.of(PAIR, [1.0, 2.0])
    with pytest.raises(InputError, match="do not contain the same trials in the same order. Align them first"):
        written(Contents(origin=scores.trials.origin, index=scores.index, systems=(scores,), key=key), "table")
    same = Key.of(PAIR, [True, False], conditions={"gender": ["f", "m"]})
    data = written(Contents.of(Scores.of(PAIR, [1.0, 2.0]), same), "table")
    assert conditions_of(read_bytes(data).key.trials) == {"gender": ["f", "m"]}


def test_what_a_format_has_no_room_for():
    with pytest.raises(FormatError, match="voxceleb contains key, but .* is scores and index"):
        written(Contents.of(Scores.of(PAIR, [1.0, 2.0])), "voxceleb")
    with pytest.raises(FormatError, match="table contains .*, but .* is segment-quality"):
        written(Contents.of(SegmentQuality.of(["a"], [1.0])), "table")


def test_a_missing_condition_has_no_place_between_blanks():
    key = Key.of(
        {"trial": ["a", "b"]},
        [True, False],
        conditions={"speaker": ["x", None], "environment": ["-", "-"], "attack": ["-", "A1"]},
    )
    with pytest.raises(FormatError, match="asvspoof2019 cannot contain the speaker of a trial '': it is empty"):
        written(Contents.of(key), "asvspoof2019")


@pytest.mark.parametrize("name", [name for name, one in text_formats().items() if one.writes and one.lines])
def test_every_line_of_a_format_can_be_written(name):
    """Contents that hold exactly what a line does are written as that line."""
    form = by_name(name)
    for line in form.lines:
        words = line.split()
        sides = [side for side in ("enroll", "test", "side", "trial") if side in words]
        conditions = {word[1:]: ["bonafide", "bonafide"] for word in words if word[0] == "="}
        ids = {side: [f"{side}~1", f"{side}~2"] for side in sides}
        trials = Trials.of(ids, conditions=conditions) if sides else Trials.of_rows(2)
        if not sides:
            condition = {role: pa.array(values) for role, values in conditions.items()}
            trials = Trials(trials.sides, trials.names, trials.listed, conditions=condition)
        systems = form.header.get("score", "system").split("|") if "score" in words else []
        items = [Scores(trials, np.zeros(2), system, form.log10) for system in systems]
        items += [Key(trials, np.array([True, False]))] if "label" in words else []
        if "class" in words or "classes" in words:
            continue
        text = written(Contents.of(*(items or [Index(trials)])), name).decode().splitlines()
        columns = len([word for word in words if word != "*"]) + max(0, len(systems) - 1)
        assert {len(one.split(form.delimiter)) for one in text} == {columns}


def test_numbered_classes_without_names_of_trials_are_not_written_as_text():
    """Their header would be read as a row of scores."""
    contents = Contents.of(ClassScores(Trials.of_rows(2), ("0", "1"), np.zeros((2, 2))))
    with pytest.raises(FormatError, match=r"the names of the classes are numbers \(0, 1, \.\.\.\)"):
        written(contents, "table")
    named = Contents.of(ClassScores(Trials.of({"trial": ["a", "b"]}), ("0", "1"), np.zeros((2, 2))))
    assert_same(again(named, "table", "class-scores"), named)
