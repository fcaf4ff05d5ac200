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
