"""Submissions against the list of their trials."""

import pytest

from deciban import FormatError
from deciban.io import reader as inputs
from deciban.io.validation import validate

TRIALS = "modelid\tsegmentid\tside\nann\tx\ta\nann\tx\tb\nbob\ty\ta\n"
SUBMISSION = "modelid\tsegmentid\tside\tLLR\nann\tx\ta\t1\nann\tx\tb\t2\nbob\ty\ta\t3\n"


@pytest.fixture
def check(tmp_path):
    (tmp_path / "trials.tsv").write_text(TRIALS)

    def checked(text, **options):
        (tmp_path / "sub.tsv").write_text(text)
        faults = validate(tmp_path / "sub.tsv", tmp_path / "trials.tsv", **options).faults
        return [fault.replace(f"{tmp_path}/", "") for fault in faults]

    return checked


def test_a_complete_submission_is_valid(check):
    assert check(SUBMISSION) == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("bob\ty\ta\t3\n", "", "1 trial of the list without a score, the first: trials.tsv:4 (bob, y, a)"),
        (
            "bob\ty\ta\t3\n",
            "bob\ty\ta\t3\nbob\ty\tb\t3\neve\ty\ta\t0\n",
            "2 scores of trials that are not in the list, the first: sub.tsv:5 (bob, y, b); sub.tsv:6 (eve, y, a)",
        ),
        (
            "ann\tx\tb\t2\n",
            "ann\tx\tb\t2\nann\tx\ta\t1\n",
            "1 trial listed more than once, the first: sub.tsv:4 (ann, x, a)",
        ),
        ("\t2\n", "\tnan\n", "sub.tsv:3: the score is NaN"),
        ("\t2\n", "\n", "sub.tsv:3: expected 4 columns"),
        ("\tLLR", "\tX", "sub.tsv:1: unclear which column is the score"),
    ],
)
def test_faults_are_named_with_their_lines(check, old, new, fault):
    faults = check(SUBMISSION.replace(old, new))
    assert len(faults) == 1
    assert faults[0].startswith(fault)


def test_every_line_that_cannot_be_read_is_named(check):
    faults = check(SUBMISSION.replace("\t1\n", "\tone\n").replace("\t3\n", "\n"))
    assert [fault.split(":")[1] for fault in faults] == ["2", "4"]


def test_the_order_counts_unless_it_does_not(check):
    lines = SUBMISSION.splitlines(keepends=True)
    swapped = "".join([lines[0], lines[2], lines[1], lines[3]])
    (fault,) = check(swapped)
    assert fault.startswith("sub.tsv:2: trial (ann, x, b) is in the place of (ann, x, a) in the list (trials.tsv:2)")
    assert check(swapped, any_order=True) == []


def test_the_side_must_be_there(check):
    (fault,) = check("modelid\tsegmentid\tLLR\nann\tx\t1\n")
    assert "identifies a trial by enroll and test, the list by enroll and test and side" in fault


def test_systems_of_one_submission_are_told_once_and_all_checked(tmp_path):
    (tmp_path / "trials.txt").write_text("a\nb\n")
    path = tmp_path / "both.csv"
    path.write_text("trial,asv_score,cm_score\na,1,2\nb,3,4\n")
    found = validate(path, tmp_path / "trials.txt", trials_format="trial")
    assert found.is_valid
    (_, fact) = found.lines
    assert fact.startswith("scores  ")
    assert fact.endswith("2 trials, 2 systems: asv_score, cm_score")
    path.write_text("trial,asv_score,cm_score\na,1,2\n")
    (fault,) = validate(path, tmp_path / "trials.txt", trials_format="trial").faults
    assert "1 trial of the list without a score" in fault
    path.write_text("trial,asv_score,cm_score\na,1,2\nb,3,nan\n")
    (fault,) = validate(path, tmp_path / "trials.txt", trials_format="trial").faults
    assert "both.csv:3: the score is NaN" in fault


def test_a_bad_list_is_an_error(tmp_path):
    (tmp_path / "trials.tsv").write_text("")
    with pytest.raises(FormatError, match="the file is empty"):
        validate(tmp_path / "trials.tsv", tmp_path / "trials.tsv")


def lines_of(*trials):
    return "".join(f"{trial.replace(' ', chr(9))}\n" for trial in trials)


def test_a_list_may_repeat_trials_and_a_submission_must_then_too(check, tmp_path):
    head = "modelid\tsegmentid\tside\n"
    (tmp_path / "trials.tsv").write_text(head + lines_of("ann x a", "bob y a", "ann x a"))
    head = head.replace("side", "side\tLLR")
    assert check(head + lines_of("ann x a 1", "bob y a 2", "ann x a 1")) == []
    assert check(head + lines_of("bob y a 2", "ann x a 1", "ann x a 1"), any_order=True) == []
    (fault,) = check(head + lines_of("bob y a 2", "ann x a 1", "ann x a 1"))
    assert fault.startswith("sub.tsv:2: trial (bob, y, a) is in the place of (ann, x, a) in the list (trials.tsv:2)")
    assert check(head + lines_of("ann x a 1", "bob y a 2")) == [
        "1 trial of the list without a score, the first: trials.tsv:4 (ann, x, a)"
    ]
    (fault,) = check(head + lines_of("ann x a 1", "bob y a 2", "ann x a 1", "ann x a 1", "bob y a 2"))
    assert fault.startswith("2 trials listed more often than in the list, the first: sub.tsv:5 (ann, x, a)")


def test_places_are_found_in_few_passes_over_the_file(check, monkeypatch):
    looked = []
    find = inputs.lines_of_rows
    monkeypatch.setattr(inputs, "lines_of_rows", lambda *given: looked.append(given[1]) or find(*given))
    more = "".join(f"eve\ts{i}\ta\t1\n" for i in range(20))
    (fault,) = check(SUBMISSION + more)
    assert fault.endswith("sub.tsv:9 (eve, s4, a)")
    assert looked == [[3, 4, 5, 6, 7]]
