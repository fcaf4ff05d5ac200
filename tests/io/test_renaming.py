"""By which names trials are compared: rules by their names, or a file of pairs."""

import pytest

from deciban import FormatError, InputError
from deciban.io import read_id_map, write
from deciban.io.reader import read_renaming
from deciban.trials import IdMap

PAIRS = {"m1.wav": "ann", "m2.wav": "bob"}


@pytest.mark.parametrize(
    "text",
    [
        "m1.wav ann\nm2.wav bob\n",
        "m1.wav\tann\nm2.wav\tbob\n",
        "m1.wav,ann\nm2.wav,bob\n",
        "left,right\nm1.wav,ann\nm2.wav,bob\n",
        "# what files call them\nLeft,Right\r\nm1.wav,ann\r\n\r\nm2.wav,bob\r\n",
    ],
)
def test_a_file_of_pairs(tmp_path, text):
    (tmp_path / "map.csv").write_text(text)
    found = read_renaming(tmp_path / "map.csv")
    assert dict(zip(found.id_map.left.to_pylist(), found.id_map.right.to_pylist(), strict=True)) == PAIRS
    assert found.words == str(tmp_path / "map.csv")


def test_names_with_blanks_between_commas(tmp_path):
    (tmp_path / "map.csv").write_text("m 1.wav,ann b c\n")
    assert read_id_map(tmp_path / "map.csv").right.to_pylist() == ["ann b c"]


def test_a_map_in_another_format(tmp_path):
    write(IdMap.of(PAIRS), tmp_path / "map.h5")
    assert read_renaming(str(tmp_path / "map.h5")).id_map.left.to_pylist() == list(PAIRS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b c\n", ":1: could be two columns with commas or with white space"),
        ("a b c\n", ":1: expected 2 columns .left right., got 3"),
        ("a,b,c\n", ":1: expected 2 columns .left right., got 1"),
        ("left,right\n", "contains no pair of names"),
        ("", "the file is empty"),
        ("a,b\na,c\n", "'a' is mapped to 'b' and to 'c'"),
    ],
)
def test_what_is_no_map_is_refused(tmp_path, text, message):
    (tmp_path / "map.csv").write_text(text)
    with pytest.raises(FormatError, match=message):
        read_renaming(tmp_path / "map.csv")


def test_rules_and_what_is_neither(tmp_path):
    assert read_renaming(None) is None
    assert read_renaming("strip-ending,basename").rules == ("strip-ending", "basename")
    assert read_renaming(["separators"]).rules == ("separators",)
    for wrong in ("strip", tmp_path / "map.csv", "strip-ending,x"):
        with pytest.raises(
            InputError, match=r"is neither strip-ending, basename, separators .* nor the file of an id map"
        ):
            read_renaming(wrong)
    with pytest.raises(InputError, match="empty file name"):
        read_renaming("")
