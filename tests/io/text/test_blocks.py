"""Text in several blocks means what it means in one."""

import pytest

from deciban import read_scores
from deciban.errors import FormatError
from deciban.io.text import reader


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(reader, "BLOCK", 200)


def table(last):
    rows = [f"m{k},{0.01 * k},{1 if k < 50 else -1}" for k in range(100)]
    return "\n".join(["trial,score,label", *rows, last]) + "\n"


def test_an_odd_quote_is_judged_by_the_words_of_all_blocks(tmp_path):
    """A pair of labels that means something only together is not in one block."""
    (tmp_path / "a.csv").write_text(table('"a ""quoted"" name",0.5,-1'))
    found = read_scores(tmp_path / "a.csv")
    assert len(found.trials) == 101
    assert found.trials.column("trial").to_pylist()[-1] == 'a "quoted" name'


def test_a_wrong_line_behind_an_odd_quote_has_its_number(tmp_path):
    (tmp_path / "a.csv").write_text(table('"a ""quoted"" name",0.5,-1\nb,half,1'))
    with pytest.raises(FormatError, match=r"a\.csv:103: .*half"):
        read_scores(tmp_path / "a.csv")


@pytest.mark.parametrize("header", ["", "enroll test score\n"])
def test_old_line_ends_are_counted_in_all_blocks(tmp_path, header):
    """A carriage return alone ends a line, as a line feed does."""
    rows = [f"m{k} s{k} {0.01 * k}" for k in range(100)]
    for at in (3, 50):
        rows[at : at + 2] = [f"{rows[at]}\r{rows[at + 1]}"]
    (tmp_path / "a.txt").write_bytes((header + "\n".join(rows) + "\n").encode())
    found = read_scores(tmp_path / "a.txt")
    first = 1 + bool(header)
    lines = [int(place.rsplit(":")[-1]) for place in found.trials.origin.where_all([0, 4, 99])]
    assert lines == [first, first + 4, first + 99]
    assert found.score.tolist() == [float(f"{0.01 * k}") for k in range(100)]


@pytest.mark.parametrize("odd", ["# m5 0.5", "m5# s 0.5", "m5\ts\t0.5", "m5  s 0.5 ", ";; x 0.5", "m5 s\v0.5"])
def test_one_odd_line_among_plain_blocks_is_read_with_care(tmp_path, odd):
    """Blocks of plain lines are parsed as they are; the others lose their comments and repeated blanks first."""
    rows = [f"m{k} s{k} {0.01 * k}" for k in range(100)]
    (tmp_path / "a.txt").write_text("\n".join([*rows[:50], odd, *rows[50:]]) + "\n")
    found = read_scores(tmp_path / "a.txt").trials
    is_comment = odd.startswith(("#", ";;"))
    names, more = found.column("enroll").to_pylist(), [] if is_comment else [odd[: 2 + ("#" in odd)]]
    assert names == [*(f"m{k}" for k in range(50)), *more, *(f"m{k}" for k in range(50, 100))]
    assert found.origin.where(len(names) - 1).endswith("a.txt:101")


@pytest.mark.parametrize("row", [1, 60])
def test_nul_bytes_have_their_line(tmp_path, row):
    rows = [f"m{k} s{k} {0.01 * k}" for k in range(100)]
    rows[row] = "m\0 s 0.5"
    (tmp_path / "a.txt").write_text("\n".join(rows) + "\n")
    with pytest.raises(FormatError, match=rf"a\.txt:{row + 1}: contains NUL"):
        read_scores(tmp_path / "a.txt")
