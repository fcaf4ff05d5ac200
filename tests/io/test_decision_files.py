"""Files of decisions: every form is read alike, words are never guessed, and what is wrong is named."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deciban.errors import FormatError, InputError
from deciban.io.decision_files import read_decisions

TWO = ("accept", "reject")
ROWS = [("007", "u1", "accept"), ("007", "u2", "reject"), ("b", "u1", "Accepted")]


@pytest.mark.parametrize("name", ["d.csv", "d.tsv", "d.txt", "d.parquet"])
def test_every_form_is_read_alike(tmp_path, name):
    header = ("enroll", "test", "action")
    if name.endswith("parquet"):
        pq.write_table(pa.table({one: [row[k] for row in ROWS] for k, one in enumerate(header)}), tmp_path / name)
    else:
        between = {"csv": ",", "tsv": "\t", "txt": "  "}[name.partition(".")[2]]
        (tmp_path / name).write_text("".join(between.join(row) + "\n" for row in (header, *ROWS)))
    found = read_decisions(tmp_path / name, actions=TWO)
    assert found.action.tolist() == [0, 1, 0]
    assert found.names.to_pydict() == {"enroll": ["007", "007", "b"], "test": ["u1", "u2", "u1"]}


def test_words_and_columns_are_named(tmp_path):
    (tmp_path / "d.txt").write_text("a 1\nb 0\n")
    found = read_decisions(
        tmp_path / "d.txt", columns=["trial", "said"], column="said", words={"1": "accept", "0": "reject"}, actions=TWO
    )
    assert found.action.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("text", "how", "message"),
    [
        ("trial,action\na,maybe\n", {"actions": TWO}, "'maybe', but the actions are accept, reject"),
        ("trial,said\na,accept\n", {"actions": TWO}, "no column 'action' or 'decision', but 'trial', 'said'"),
        ("action\naccept\n", {"actions": TWO}, "no column with names of trials"),
        ("trial,action\na,go\n", {}, "go is the only action"),
        ("trial,action\na,accept\nb,\n", {"actions": TWO}, "row 2 contains no decision"),
        ("trial,action\n", {}, "contains no trial"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, text, how, message):
    (tmp_path / "d.csv").write_text(text)
    with pytest.raises((FormatError, InputError), match=message):
        read_decisions(tmp_path / "d.csv", **how)


def test_lines_of_different_lengths_are_refused(tmp_path):
    (tmp_path / "d.txt").write_text("trial action\na accept\nb\n")
    with pytest.raises(FormatError, match=":3: expected 2 columns .*, got 1"):
        read_decisions(tmp_path / "d.txt")
