"""Lines with other scores: nothing but the one field changes, whatever stands around it."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import FormatError
from deciban.io import rewrite as rescored
from deciban.io.reader import read_input
from deciban.io.rewrite import rewrite
from deciban.io.source import Source
from support.text_formats import GOLDEN


def rewritten(path, score, **options):
    found = read_input(path, need="scores", **options)
    stream = io.BytesIO()
    rewrite(found.source, found.layout, np.asarray(score, float), stream)
    return stream.getvalue()


MARK = b"\xef\xbb\xbf"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"ann x 1.5\nbob y -inf\n", b"ann x -9.25\nbob y inf\n"),
        (
            MARK + b"# c\r\n\r\n  ann  x\t1.5  \r\n ;; z\r\nbob y 2",
            MARK + b"# c\r\n\r\n  ann  x\t-9.25  \r\n ;; z\r\nbob y inf",
        ),
        (b"a b 1\rc d 2\r", b"a b -9.25\nc d inf\n"),
        (
            b'trial,score,g\n"a,""b", 2.5 ,"x,y"\n\n#no\nc,"3.5",\n',
            b'trial,score,g\n"a,""b", -9.25 ,"x,y"\n\n#no\nc,inf,\n',
        ),
        (b"x,trial,llr\n,a,1\n#,b,2\n", b"x,trial,llr\n,a,-9.25\n#,b,2\n"),
        (
            'enroll\ttest\tllr-sys\tg\nä\t"b\t1\tf f\nc\td\t 2 \t\n'.encode(),
            'enroll\ttest\tllr-sys\tg\nä\t"b\t-9.25\tf f\nc\td\t inf \t\n'.encode(),
        ),
        (b"1 ann x\n2 bob y\n", b"-9.25 ann x\ninf bob y\n"),
    ],
)
def test_only_the_score_changes(text, expected, tmp_path):
    path = tmp_path / "f"
    path.write_bytes(text)
    options = {"columns": "score,enroll,test"} if text.startswith(b"1 ") else {}
    n_rows = len(read_input(path, need="scores", **options).contents.scores)
    assert rewritten(path, [-9.25, np.inf][:n_rows], **options) == expected


def of_one_system(path):
    try:
        found = read_input(path, need="scores", format=path.name.split(".")[0])
    except FormatError:
        return False
    return len(found.contents.systems) == 1 and found.layout is not None


ONE_SYSTEM = [path for path in sorted(GOLDEN.glob("*.*")) if of_one_system(path)]


@pytest.mark.parametrize("path", ONE_SYSTEM, ids=lambda path: path.name)
def test_every_text_format_keeps_all_but_the_score(path, tmp_path):
    name = path.name.split(".")[0]
    found = read_input(path, need="scores", format=name)
    at, delimiter = found.layout.roles.index("score"), None if found.layout.delimiter == " " else found.layout.delimiter

    def others(data):
        rows = [line.split(delimiter) for line in data.decode().splitlines()]
        return [row[:at] + row[at + 1 :] for row in rows]

    new = np.linspace(-1, 1, len(found.contents.scores)) / 3
    data = rewritten(path, new, format=name)
    assert others(data) == others(path.read_bytes())
    copy = tmp_path / path.name
    copy.write_bytes(data)
    again = read_input(copy, need="scores", format=name)
    assert again.layout == found.layout
    np.testing.assert_array_equal(again.contents.scores.score, new)


def test_formats_of_all_shapes_are_among_them():
    names = {path.name.split(".")[0] for path in ONE_SYSTEM}
    assert names >= {"kaldi", "wespeaker", "trial", "asvspoof2019", "asvspoof5", "nist-sre", "bob5", "lir"}


fields = st.text(
    st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="\x85\u2028\u2029\ufeff"), max_size=5
)
numbers = st.floats(allow_nan=False)


@given(rows=st.lists(st.tuples(fields, fields, numbers, numbers), min_size=1, max_size=20), block=st.integers(1, 60))
def test_tables_with_quotes_in_blocks_of_any_size(rows, block, tmp_path_factory):
    path = tmp_path_factory.mktemp("csv") / "t.csv"

    def table(k):
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["note, if any", "trial", "score", "remark"])
        writer.writerows([[row[0], f"t{i}", repr(row[2 + k]), row[1]] for i, row in enumerate(rows)])
        return stream.getvalue().encode()

    path.write_bytes(table(0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rescored, "_BLOCK", block)
        data = rewritten(path, [row[3] for row in rows])
    lines, expected = (list(csv.reader(io.StringIO(text.decode()))) for text in (data, table(1)))
    if any(row[0].lstrip().startswith(("#", ";;")) for row in rows):
        return  # a comment to all readers
    assert [line[:2] + line[3:] for line in lines] == [line[:2] + line[3:] for line in expected]
    np.testing.assert_array_equal([float(line[2]) for line in lines[1:]], [row[3] for row in rows])


def test_a_file_that_changed_is_not_mixed_up(tmp_path):
    path = tmp_path / "f"
    path.write_text("a b 1\nc d 2\n")
    found = read_input(path, need="scores")
    for text in ("a b 1\n", "a b 1\nc d 2\ne f 3\n", "a b\nc d\n"):
        path.write_text(text)
        with pytest.raises(FormatError, match="its lines have changed since it was read"):
            rewrite(Source(path), found.layout, np.zeros(2), io.BytesIO())
