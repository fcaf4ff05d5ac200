"""Lines of the NIST language recognition evaluations of 2007 to 2011."""

import pytest

from deciban import FormatError
from deciban.io.decision_files import read_decision_lines
from support.text_formats import golden, names_of, read_bytes

FIRST = b"general_lr eng closed_set s1 t 1.5\ngeneral_lr fra closed_set s1 f -1\n"


def test_lines_become_a_table():
    scores = golden("nist-lre07.scores", format="nist-lre07").class_scores
    assert names_of(scores.trials) == [("lid00001",), ("lid00002",)]
    assert scores.classes == ("english", "farsi")
    assert scores.score.tolist() == [[0.875, 0.125], [-0.25, 0.75]]


def test_the_true_language_makes_a_key():
    contents = golden("nist-lre07.true", format="nist-lre07", need="class-key")
    assert [contents.class_key.classes[i] for i in contents.class_key.label] == ["english", "farsi"]
    assert contents.class_scores.score.tolist() == [[0.875, 0.125], [-0.25, 0.75]]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (b"", "the file is empty"),
        (b"general_lr eng closed_set s2 t 1\n", r"segment 's2' has no line for fra\. Each segment needs"),
        (b"general_lr deu closed_set s1 f 1\ngeneral_lr deu closed_set s2 f 1\n", "segment 's2' has no line for eng"),
        (b"general_lr eng closed_set s1 t 2\n", r":3: a second line of segment \(s1\) for eng"),
        (b"general_lr eng open_set s1 t 2\n", "lines of more than one set: closed_set, open_set"),
        (b"chinese_lr eng closed_set s2 t 2\n", "lines of more than one test: general_lr, chinese_lr"),
        (b"general_lr eng closed_set s2 t high\n", ":3: the score 'high' is not a number"),
        (b"general_lr eng closed_set s2 t\n", ":3: expected 6 columns .*, got 5"),
    ],
)
def test_hostile_lines(lines, message):
    with pytest.raises(FormatError, match=message):
        read_bytes(FIRST + lines if lines else b"", format="nist-lre07")


def test_one_true_language_for_each_segment():
    text = b"t eng c s1 t 1 eng\nt fra c s1 f 1 fra\nt eng c s2 t 1 fra\nt fra c s2 t 1 fra\n"
    with pytest.raises(FormatError, match=r":2: the true language of \(s1\) is not the same on all its lines"):
        read_bytes(text, format="nist-lre07")


def test_one_language_is_no_class_table():
    with pytest.raises(FormatError, match="expected at least 2 distinct names"):
        read_bytes(b"t eng c s1 t 1\n", format="nist-lre07")


def test_no_memory_for_what_is_not_there():
    lines = b"".join(b"t l%d c s%d t 1\n" % (i, i) for i in range(50_000))
    with pytest.raises(FormatError, match="segment 's0' has no line for l1"):
        read_bytes(lines, format="nist-lre07")


def test_decisions_are_sets_of_languages(tmp_path):
    path = tmp_path / "lre.txt"
    path.write_bytes(b"lr fra c s2 f 9 fra\nlr eng c s1 t 0 eng\nlr fra c s1 t 0 eng\nlr eng c s2 f -9 fra\n")
    found = read_decision_lines(path)
    assert found.names.to_pylist() == [{"trial": "s2", "class": "fra"}, {"trial": "s1", "class": "eng"}]
    assert [set(found.accepts[found.actions[k]]) for k in found.action] == [set(), {"eng", "fra"}]
    path.write_bytes(FIRST.replace(b" f -1", b" n -1"))
    with pytest.raises(FormatError, match=":2: the decision 'n' is neither t nor f"):
        read_decision_lines(path)
