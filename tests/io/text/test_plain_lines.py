"""Lines whose scores are found all at once: whatever stands around them, what is written is what care would write."""

import io
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import FormatError
from deciban._arrow import of_bytes
from deciban.io import rewrite as rescored
from deciban.io.formats import by_name
from deciban.io.rewrite import plain_fields, with_fields
from deciban.io.text.reader import Layout

DELIMITERS = (" ", ",", "\t")
WORDS = st.sampled_from(
    [
        "a",
        "ann",
        "\u00e9",
        "1.5",
        "-2e-3",
        "inf",
        "",
        " ",
        "x y",
        "#",
        ";;",
        ";",
        "a#b",
        '"q"',
        '"q,r"',
        "\r",
        "\v",
        "\x01",
    ]
)
PLAIN = st.sampled_from(["a", "ann", "\u00e9", "1.5", "-2e-3", "inf"])


def layout_of(roles, delimiter):
    return Layout(by_name("table"), roles, delimiter)


ROLES = st.sampled_from(
    [
        ("enroll", "test", "score"),
        ("score", "trial"),
        ("trial", "score", "@g"),
        ("score",),
        ("-", "score", "-", "trial"),
    ]
)


@st.composite
def cases(draw):
    """Lines, most of them plain, and how they are read."""
    roles, delimiter = draw(ROLES), draw(st.sampled_from(DELIMITERS))
    words = draw(st.sampled_from([PLAIN, st.one_of(PLAIN, PLAIN, PLAIN, WORDS)]))
    n_fields = st.just(len(roles)) if draw(st.booleans()) else st.integers(len(roles) - 1, len(roles) + 1)
    lines = [delimiter.join(draw(words) for _ in range(draw(n_fields))) for _ in range(draw(st.integers(1, 6)))]
    ending = draw(st.sampled_from(["\n", "\n", "\n", "\r\n", "\n\n", " \n"]))
    text = ending.join(lines) + draw(st.sampled_from([ending, ending, ""]))
    return text.encode(), layout_of(roles, delimiter)


def spans_by_hand(text, layout):
    """Where scores stand, line by line; None if something is odd."""
    spans, start, at = [], 0, layout.roles.index("score")
    delimiter = layout.delimiter.encode()
    for line in text.split(b"\n")[:-1]:
        fields = line.split(delimiter)
        if len(fields) != len(layout.roles) or not fields[at]:
            return None
        begin = start + sum(len(field) + 1 for field in fields[:at])
        spans.append((begin, begin + len(fields[at])))
        start += len(line) + 1
    return spans


@given(cases())
def test_fields_are_where_splitting_every_line_finds_them(case):
    text, layout = case
    found = plain_fields(text, layout)
    if found is not None:
        assert list(zip(*map(np.ndarray.tolist, found), strict=True)) == spans_by_hand(text, layout)


@given(st.lists(st.tuples(PLAIN, PLAIN, PLAIN), min_size=1, max_size=9), st.sampled_from(DELIMITERS))
def test_lines_of_plain_words_need_no_care(rows, delimiter):
    text = "".join(delimiter.join(row) + "\n" for row in rows).encode()
    for roles in (("enroll", "test", "score"), ("score", "enroll", "test")):
        begin, end = plain_fields(text, layout_of(roles, delimiter))
        at = roles.index("score")
        assert [text[b:e].decode() for b, e in zip(begin, end, strict=True)] == [row[at] for row in rows]


def written(text, layout, n_rows, block):
    """What is written, or that it is refused."""
    source, stream = mock.Mock(), io.BytesIO()
    source.name, source.stream.side_effect = "f", lambda: io.BytesIO(text)
    with mock.patch.object(rescored, "_BLOCK", block):
        try:
            rescored.rewrite(source, layout, np.linspace(-1, 1, n_rows) / 3, stream)
        except FormatError as error:
            return str(error)
    return stream.getvalue()


@given(cases(), st.booleans(), st.integers(-1, 1), st.sampled_from([1, 7, 40, 1 << 20]), st.booleans())
def test_what_is_written_is_what_the_careful_way_writes(case, titled, surplus, block, marked):
    text, layout = case
    header = tuple(map(str, range(len(layout.roles)))) if titled else None
    layout = Layout(layout.format, layout.roles, layout.delimiter, header)
    rows = [line for line in text.split(b"\n") if line.strip() and not line.lstrip().startswith((b"#", b";;"))]
    n_rows = max(len(rows) - titled + surplus, 0)
    text = b"\xef\xbb\xbf" * marked + text
    with mock.patch.object(rescored, "plain_fields", return_value=None):
        careful = written(text, layout, n_rows, 1 << 20)
    assert written(text, layout, n_rows, block) == careful


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        (b"# c\na b 1\n", " "),
        (b"a b 1\n;; c d\n", " "),
        (b"a b 1\r\n", " "),
        (b" a b 1\n", " "),
        (b"a b 1 \n", " "),
        (b"a  1\n", " "),
        (b"a\tb 1\n", " "),
        (b"a b 1", " "),
        (b"a b 1\n\n", " "),
        (b"a b\n1 c d e\n", " "),
        (b"a,b, 1\n", ","),
        (b"a,b,1 5\n", ","),
        (b"a,b,\n", ","),
        (b'a,"b",1\n', ","),
        (b"a\tb\t 1\n", "\t"),
        (b"\t\t\n", "\t"),
    ],
)
def test_what_needs_care(text, delimiter):
    assert plain_fields(text, layout_of(("enroll", "test", "score"), delimiter)) is None


@given(st.lists(st.tuples(st.binary(max_size=4), st.binary(max_size=4), st.binary(max_size=4)), max_size=9))
def test_nothing_but_the_fields_is_replaced(parts):
    text = b"".join(before + old for before, old, _ in parts) + b"end\n"
    end = np.cumsum([len(before) + len(old) for before, old, _ in parts], dtype=np.int64)
    begin = end - np.array([len(old) for _, old, _ in parts], np.int64)
    first, rest = with_fields(text, begin, end, of_bytes([new for *_, new in parts]))
    assert bytes(first) + rest == b"".join(before + new for before, _, new in parts) + b"end\n"
