"""Roles of the columns of a header, by what stands below it."""

from deciban.io.formats import text_formats
from deciban.io.text.finding import meant_roles, numeric_columns, titled_roles

ROWS = [["utt", "a", "b", "note", "label"], ["x", "1", "2.5", "n", "a"], ["y", "3", "-1", "m", "b"]]
ROLES = ("trial", "=a", "=b", "=note", "label")


def test_columns_of_numbers_are_seen_below_the_header():
    assert numeric_columns(ROWS) == [False, True, True, False, False]
    assert numeric_columns(ROWS[:1]) == [False] * 5


def test_what_is_needed_decides_on_the_label():
    assert meant_roles(ROLES, ROWS, "class-scores") == ("trial", "score", "score", "=note", "class")
    assert meant_roles(ROLES, ROWS, "class-key") == ("trial", "=a", "=b", "=note", "class")
    assert meant_roles(ROLES, ROWS, "scores") == meant_roles(ROLES, ROWS, "key") == ROLES


def test_the_header_of_a_format_is_known_by_its_words():
    form = text_formats()["asvspoof5"]
    rows = [["FileName", "cm-score"], ["E_1", "0.5"]]
    assert titled_roles(form, "trial score", rows) == ("trial", "score")
    assert titled_roles(form, "trial score", [["file", "cm-score"], ["E_1", "0.5"]]) is None
