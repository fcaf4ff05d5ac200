"""What the tests of text formats share: files written by hand, tables drawn at random, and what must come back."""

import io
import math
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from hypothesis import assume
from hypothesis import strategies as st

from deciban.errors import FormatError
from deciban.io import read_contents
from deciban.io.formats import Contents, by_name
from deciban.io.text.writer import write_text
from deciban.trials import ClassKey, ClassScores, Index, Key, Scores, Trials

GOLDEN = Path(__file__).parents[1] / "golden" / "formats"


def golden(name, **options):
    """Read a file that was written by hand."""
    return read_contents(GOLDEN / name, **options)


def names_of(trials):
    """Trials as tuples of names."""
    return list(zip(*(trials.column(side).to_pylist() for side in trials.sides), strict=True))


def conditions_of(trials):
    return {name: values.to_pylist() for name, values in trials.conditions.items()}


def written(contents, name):
    """The bytes that a text format makes of contents."""
    stream = io.BytesIO()
    write_text(contents if isinstance(contents, Contents) else Contents.of(contents), by_name(name), stream)
    return stream.getvalue()


def read_bytes(data, **options):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(data)
        return read_contents(path, **options)


def again(contents, name, need):
    """What comes back of contents that were written; a first trial that looks like a header is rightly refused."""
    try:
        data = written(contents, name)
    except FormatError as error:
        assume("would be read as a header" not in str(error))
        raise
    return read_bytes(data, format=name, need=need)


def bits(score):
    return np.asarray(score, np.float64).view(np.int64).tolist()


def assert_same(back, contents, *, conditions=()):
    """The same trials in the same order, the same labels, and scores that agree bit for bit."""
    for kind in ("index", "key", "class_scores", "class_key"):
        old, new = getattr(contents, kind), getattr(back, kind)
        if old is not None and (new is not None or kind != "index"):
            assert names_of(new.trials) == names_of(old.trials)
    assert [bits(one.score) for one in back.systems] == [bits(one.score) for one in contents.systems]
    if contents.key is not None:
        assert back.key.is_target.tolist() == contents.key.is_target.tolist()
    if contents.class_scores is not None:
        assert back.class_scores.classes == contents.class_scores.classes
        assert bits(back.class_scores.score) == bits(contents.class_scores.score)
    if contents.class_key is not None:
        called = [[one.classes[i] for i in one.label] for one in (back.class_key, contents.class_key)]
        assert called[0] == called[1]
    for name in conditions:
        listed = (contents.index or contents.class_scores or contents.class_key).trials
        assert back.index.trials.conditions[name].to_pylist() == listed.conditions[name].to_pylist()


_ODD = ["é", "日本", "😀", "\u00a0", "\u2028", "'", '"', "#", ";;", "|", "=", "1.5", "0", "-", "nan", "target"]


def _begins_badly(name):
    return name.startswith(("#", ";;", "\ufeff"))


def names(delimiter=" "):
    """Names that a format with this delimiter can hold: unicode, quotes, 300 characters, blanks where they may be."""
    forbidden = {" ": " \t\v\f\n\r\0", "\t": "\t\v\f\n\r\0", ",": "\v\f\n\r\0"}[delimiter]
    inner = {" ": [], "\t": ["a b", ",", "x  y"], ",": ["a b", ",", 'q"', "a,,b", "#"]}[delimiter]
    letters = st.text(
        st.characters(codec="utf-8", exclude_characters=forbidden, exclude_categories=["Cs"]), min_size=1, max_size=8
    )
    made = st.lists(st.one_of(letters, st.sampled_from([*_ODD, *inner, "n" * 300])), min_size=1, max_size=3).map(
        "".join
    )
    trimmed = made.map(lambda name: name.strip(" \t\v\f")).filter(bool)
    return trimmed if delimiter == "," else trimmed.filter(lambda name: not _begins_badly(name))


any_double = st.one_of(
    st.floats(allow_nan=False),
    st.integers(0, 2**64 - 1).map(lambda i: float(np.uint64(i).view(np.float64))).filter(lambda x: not math.isnan(x)),
    st.sampled_from([0.0, -0.0, 5e-324, 1e300, float("inf"), -float("inf"), 0.1, 1.0]),
)


@st.composite
def trials(draw, sides=("enroll", "test"), delimiter=" ", conditions=(), max_size=6):
    """Lists of trials with names (of the sides) and conditions; the first is no header."""
    n = draw(st.integers(1, max_size))
    word = names(delimiter)
    ids = {side: draw(st.lists(word, min_size=n, max_size=n)) for side in sides}
    for column in ids.values():
        column[0] = "~" + column[0]
    extra = {name: pa.array(draw(st.lists(word, min_size=n, max_size=n)), pa.string()) for name in conditions}
    return Trials.of(ids, conditions=extra)


@st.composite
def tables(draw, kinds=("scores", "key"), systems=("system",), **of_trials):
    """Contents with some of scores, key, index, class scores and class key on the same trials."""
    listed = draw(trials(**of_trials))
    n = len(listed)
    items = [Index(listed)] if kinds == ("index",) else []
    if "scores" in kinds:
        items += [
            Scores(listed, np.array(draw(st.lists(any_double, min_size=n, max_size=n))), name) for name in systems
        ]
    if "key" in kinds:
        items.append(Key(listed, np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))))
    if "class-scores" in kinds:
        rows = draw(st.lists(st.tuples(any_double, any_double, any_double), min_size=n, max_size=n))
        items.append(ClassScores.of(listed, ["eng", "fra", "deu"], rows))
    if "class-key" in kinds:
        true = draw(st.lists(st.sampled_from(["eng", "fra"]), min_size=n, max_size=n))
        items.append(ClassKey.of(listed, true, classes=["eng", "fra"]))
    return Contents.of(items[0], *items[1:])
