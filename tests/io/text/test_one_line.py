"""Fields of one line."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban.io.text.finding import is_quoted
from deciban.io.text.reader import is_number, split


@given(
    st.lists(st.text(st.characters(categories=["L", "P", "Zs"], exclude_characters="\u00a0"), min_size=1), min_size=2)
)
def test_quoted_fields_come_back_whatever_separates_them(fields):
    fields = [field.strip() or "x" for field in fields]
    for delimiter in (" ", "\t", ","):
        stream = io.StringIO()
        csv.writer(stream, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="").writerow(fields)
        assert split(stream.getvalue(), delimiter, quoted=True) == fields
        assert is_quoted(stream.getvalue(), delimiter)


@pytest.mark.parametrize("line", ['"a"', "a b", '"a" b', '"a"b "c"', '"a  "b"', ""])
def test_a_header_is_quoted_throughout_or_not_at_all(line):
    assert not is_quoted(line, " ")


@given(st.floats())
def test_numbers(number):
    assert is_number(repr(number))
    assert not is_number(f"{number!r}x")
