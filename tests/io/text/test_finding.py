"""Which column of a text table means what."""

import csv
import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deciban import FormatError, InputError, read_key, read_scores, write
from deciban.io import read_class_key, read_class_scores, read_contents
from deciban.io.columns.headers import named_roles, parse_columns, roles_of
from deciban.io.columns.values import refuse_equal_names
from deciban.io.recognition import readable_as
from deciban.trials import Key, Scores
from support.text_formats import names_of


@pytest.fixture
def file(tmp_path):
    def written(text, name="file.csv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return written


TWINS = {
    "label first": {"label": [1, 0, 1], "score": [0.5, -1.25, 2.0]},
    "score first": {"score": [0.5, -1.25, 2.0], "label": [1, 0, 1]},
    "words of scikit-learn": {"y_true": [1, 0, 1], "y_prob": [0.5, 0.25, 1.0]},
    "words": {"score": [0.5, -1.25, 2.0], "label": ["target", "nontarget", "target"], "speaker": ["s", "t", "s"]},
    "an id": {"id": ["a", "b", "c"], "label": [1, 0, 1], "score": [0.5, -1.25, 2.0]},
    "an id beside a name": {"id": [7, 8, 9], "utt": ["a", "b", "c"], "score": [0.5, -1.25, 2.0]},
    "an id beside two names": {"id": [7, 8], "enroll": ["a", "b"], "test": ["x", "y"], "score": [0.5, -1.25]},
    "two systems": {"asr_score": [0.5, 1.5], "b-score": [1.0, 2.0], "label": [1, 0]},
}


@pytest.mark.parametrize("columns", TWINS.values(), ids=TWINS)
@pytest.mark.parametrize("delimiter", [",", "\t", " "])
def test_a_header_without_names_is_read_like_its_parquet_twin(tmp_path, columns, delimiter):
    lines = [list(columns), *zip(*columns.values(), strict=True)]
    text = "".join(delimiter.join(map(str, line)) + "\n" for line in lines)
    (tmp_path / "a.csv").write_text(text)
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    one, other = read_contents(tmp_path / "a.csv"), read_contents(tmp_path / "a.parquet")
    assert one.kinds == other.kinds
    assert [s.score.tolist() for s in one.systems] == [s.score.tolist() for s in other.systems]
    assert (one.key is None) == (other.key is None)
    assert one.key is None or one.key.is_target.tolist() == other.key.is_target.tolist()
    assert names_of(one.index.trials) == names_of(other.index.trials)
    assert list(one.index.trials.conditions) == list(other.index.trials.conditions)
    assert one.index.trials.sides == ("row",) or {"id", "utt", "enroll"} & set(columns)


def test_the_index_of_pandas_is_no_column(file):
    contents = read_contents(file(",label,score\n0,1,0.5\n1,0,-0.25\n"))
    assert (contents.index.trials.sides, list(contents.index.trials.conditions)) == (("row",), [])
    assert contents.scores.score.tolist() == [0.5, -0.25]
    named = read_contents(file(",utt,score\n0,a,0.5\n1,b,-0.25\n"))
    assert names_of(named.index.trials) == [("a",), ("b",)]
    assert list(named.index.trials.conditions) == []


@pytest.mark.parametrize("first", [["5", "17"], ["utt1", "utt2"]])
def test_a_first_column_without_a_name_that_may_name_the_trials_is_asked_for(file, first):
    path = file(f",label,score\n{first[0]},1,0.5\n{first[1]},0,-0.25\n")
    with pytest.raises(FormatError, match="columns="):
        read_scores(path)
    assert names_of(read_scores(path, columns="trial,label,score").trials) == [(one,) for one in first]
    assert read_scores(path, columns="-,label,score").trials.sides == ("row",)


def test_names_of_rows_identify_trials_beside_classes_alone(file):
    scores = read_contents(file(",eng,fra\nutt7,1,0.5\nutt9,0,-0.25\n")).class_scores
    assert names_of(scores.trials) == [("utt7",), ("utt9",)]
    assert scores.classes == ("eng", "fra")
    for rows in ("7,1,0.5\n3,0,-0.25\n", "a,1,0.5\na,0,-0.25\n"):
        with pytest.raises(FormatError, match="columns="):
            read_contents(file(f",eng,fra\n{rows}"), need="class-scores")


def test_classes_without_names(file):
    path = file("class,eng,fra\neng,1.5,-1\nfra,0.5,2\n")
    assert read_class_scores(path).score.tolist() == [[1.5, -1], [0.5, 2]]
    assert read_class_key(path).label.tolist() == [0, 1]
    assert readable_as(path, ("scores", "class-scores")) == ("class-scores",)


def test_a_first_trial_is_no_header(file):
    lines = "label target\nutt nontarget\n"
    assert names_of(read_key(file(lines, "key.txt")).trials) == [("label",), ("utt",)]
    assert names_of(read_scores(file("score 1.5\nlabel 2\n", "s.txt")).trials) == [("score",), ("label",)]


SASV = "asv_score,cm_score,sasv_label\n0.5,1.5,target\n-1,2,nontarget\n"


@pytest.mark.parametrize(
    "columns", ["score=cm_score,label=sasv_label", "-,score,label", "=asv,score,label", "score=2,label=3"]
)
def test_columns_are_ignored_where_trials_have_no_names(file, columns):
    contents = read_contents(file(SASV), columns=columns)
    assert contents.scores.score.tolist() == [1.5, 2]
    assert contents.key.is_target.tolist() == [True, False]
    assert contents.index.trials.sides == ("row",)


def test_columns_without_names_hold_what_is_needed(file):
    for columns, lacking in (("-,-,label", "score"), ("-,-,-", "score")):
        with pytest.raises(InputError, match=f"no column is the (trial|{lacking})"):
            read_scores(file(SASV), columns=columns)
    with pytest.raises(InputError, match="no column is the test"):
        read_scores(file(SASV), columns="enroll,score,-")


def quoted(rows):
    stream = io.StringIO()
    csv.writer(stream, delimiter="\t", quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n").writerows(rows)
    return stream.getvalue()


def test_tables_of_r_have_quotes(file):
    text = quoted([["model", "segmentid", "gender", "score"], ["AR", 'say "x"', "f", 1.5], ["B,\tC", "y", "m", -2]])
    scores = read_scores(file(text, "r.tsv"))
    assert names_of(scores.trials) == [("AR", 'say "x"'), ("B,\tC", "y")]
    assert scores.trials.conditions["gender"].to_pylist() == ["f", "m"]
    chosen = read_scores(file(text, "r.tsv"), columns="enroll=model,test=segmentid,score=score")
    assert names_of(chosen.trials) == names_of(scores.trials)
    with pytest.raises(FormatError, match="r.tsv:4: expected 4 columns"):
        read_scores(file(text + '"A"B"\t"y"\t"m"\t1\n', "r.tsv").with_name("r.tsv"))


WRITE_TABLE = '"model" "segmentid" "score" "lab"\n"1" "A B" "x  y" 1.5 "target"\n"2" "c" "say ""z""" -2 "nontarget"\n'
WRITE_CSV = '"","model","segmentid","score","lab"\n"1","A B","x  y",1.5,"target"\n"2","c","say ""z""",-2,"nontarget"\n'
PLAIN = "model segmentid score lab\n1 A_B xy 1.5 target\n7 c z -2 nontarget\n"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (WRITE_TABLE, [("A B", "x  y"), ("c", 'say "z"')]),
        (
            WRITE_TABLE.replace('" ', '"\t')
            .replace(" -", "\t-")
            .replace(" 1", "\t1")
            .replace("5 ", "5\t")
            .replace("2 ", "2\t"),
            None,
        ),
        (WRITE_CSV, [("A B", "x  y"), ("c", 'say "z"')]),
        (WRITE_CSV.replace('"",', "", 1), [("A B", "x  y"), ("c", 'say "z"')]),
        (PLAIN, [("A_B", "xy"), ("c", "z")]),
        (PLAIN.replace(" ", "\t"), [("A_B", "xy"), ("c", "z")]),
    ],
    ids=["write.table", "write.table with tabs", "write.csv", "no name for names of rows", "no quotes", "tabs"],
)
def test_names_of_rows_that_r_writes_are_no_trials(file, text, names):
    path = file(text, "r.txt")
    scores = read_scores(path)
    assert names_of(scores.trials) == (names or [("A B", "x  y"), ("c", 'say "z"')])
    assert scores.score.tolist() == [1.5, -2]
    assert list(scores.trials.conditions) == ["lab"]
    columns = "enroll=model,test=segmentid,score=score,label=lab"
    assert read_key(path, columns=columns).is_target.tolist() == [True, False]
    assert names_of(read_scores(path, columns="trial=1,score=score").trials)[0] == ("1",)


def test_lines_of_a_quoted_table_that_do_not_fit_are_named(file):
    with pytest.raises(FormatError, match=r"r.txt:4: expected 5 columns .*, got 6"):
        read_scores(file(WRITE_TABLE + '"3" "d" "e" 1 "target" 7\n', "r.txt"))
    with pytest.raises(FormatError, match=r"r.txt:4: expected 5 columns"):
        read_scores(file(WRITE_TABLE + '"3" "d "e" 1 "target"\n', "r.txt"))


@pytest.mark.parametrize("text", ["trial score\nm0 s0 1.5\nm1 s1 2\n", "trial score\n7 s0 1.5\n7 s1 2\n"])
def test_a_header_may_lack_another_title_than_that_of_the_names_of_rows(file, text):
    with pytest.raises(FormatError, match=":2: expected 2 columns .*, got 3"):
        read_scores(file(text, "a.txt"))


def test_a_first_line_that_lacks_a_field_is_no_header(file):
    with pytest.raises(FormatError, match="a.txt:1: not kaldi with scores: 'ann 1.5'"):
        read_scores(file("ann 1.5\nann x 1.5\nbob y 2\n", "a.txt"), format="kaldi")
    with pytest.raises(FormatError, match="a.txt:2: expected 2 columns .*, got 3"):
        read_scores(file("ann 1.5\nann x 1.5\nbob y 2\n", "a.txt"))


def test_a_header_of_unknown_words_is_no_trial(file):
    """Even where all lines but the first could be those of a format."""
    path = file("foo bar baz\n" + "".join(f"a{i} x{i} {i}.5\n" for i in range(9)))
    with pytest.raises(FormatError, match="unclear which column is the score. The columns are 'foo'"):
        read_scores(path)
    assert len(read_scores(path, columns="enroll=foo,test=bar,score=baz")) == 9


@given(st.lists(st.sampled_from(['"a"', '"', 'b"', '""', '"x" "y"', "c"]), min_size=1, max_size=5, unique=True))
def test_names_with_quotes_that_we_write_come_back(tmp_path_factory, names):
    path = tmp_path_factory.mktemp("quotes") / "a.tsv"
    write(Scores.of({"trial": names}, [1.0] * len(names), conditions={'"odd"': names}), path)
    back = read_scores(path)
    assert names_of(back.trials) == [(name,) for name in names]
    assert back.trials.conditions['"odd"'].to_pylist() == names


@pytest.mark.parametrize("text", ["trial;score\na;2,5\nb;-3\n", "a;2,5\nb;-3\n"])
def test_semicolons_with_decimal_commas_are_not_taken_for_names(file, text):
    for columns in (None, "trial,score"):
        scores = read_scores(file(text), columns=columns)
        assert (names_of(scores.trials), scores.score.tolist()) == ([("a",), ("b",)], [2.5, -3.0])
    assert names_of(read_scores(file("a;1,2\nb;2,3\n"), format="table", columns="trial,score").trials)[0] == ("a;1",)
    assert names_of(read_scores(file("a;b,1.5\nc;d,2\n")).trials) == [("a;b",), ("c;d",)]
    assert names_of(read_scores(file("a;1 x;2 0.5\nc;1 d;2 2\n", "a.txt")).trials) == [("a;1", "x;2"), ("c;1", "d;2")]


def test_swapped_files_are_named_as_what_they_are(file):
    key, scores = file("m0 s0 target\nm0 s1 nontarget\n", "key.txt"), file("m0 s0 1.5\nm0 s1 2.5\n", "scores.txt")
    with pytest.raises(FormatError, match=r"key.txt:1: this is a key \(kaldi 'enroll test label'\).*swapped"):
        read_scores(key)
    with pytest.raises(FormatError, match=r"scores.txt:1: these are scores \(kaldi 'enroll test score'\).*swapped"):
        read_key(scores)


PAIRS = [("1", "-1"), ("1.0", "0.0"), ("T", "F"), ("pos", "neg"), ("match", "nonmatch"), ("client", "impostor")]
PAIRS += [("same", "diff"), ("ss", "ds"), ("bonafide", "attack"), ("bonafide", "fake")]


@pytest.mark.parametrize(("target", "nontarget"), PAIRS)
def test_words_of_other_tools(file, target, nontarget):
    rows = [("a", "x", target), ("a", "y", nontarget), ("b", "y", target)]
    lines = file("".join(" ".join(row) + "\n" for row in rows), "key.txt")
    table = file("enroll,test,label\n" + "".join(",".join(row) + "\n" for row in rows), "key.csv")
    for path in (lines, table):
        assert read_key(path).is_target.tolist() == [True, False, True]


@pytest.mark.parametrize(
    "words", [["F", "F"], ["-1", "0"], ["-1", "0", "1"], ["T", "F", "U"], ["ss", "s"], ["1.0", "1.0"]]
)
def test_words_that_mean_something_only_as_a_pair(file, words):
    lines = "".join(f"a s{i} {word}\n" for i, word in enumerate(words))
    with pytest.raises(FormatError, match='labels={"target": "WORD", "nontarget": "WORD"}'):
        read_key(file(lines, "key.txt"))
    with pytest.raises(FormatError, match="unknown label .*labels="):
        read_key(file("enroll,test,label\n" + lines.replace(" ", ",")))


class Counted(str):
    """A title that counts how often it is compared."""

    comparisons = 0
    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other):
        Counted.comparisons += 1
        return str.__eq__(self, other)


@pytest.mark.parametrize(
    "look",
    [
        lambda titles: refuse_equal_names(titles, "f"),
        lambda titles: roles_of(titles, "f"),
        lambda titles: named_roles({"trial": "c7", "score": "|".join(titles[50:90])}, titles, "f"),
        lambda titles: parse_columns(["trial", *("score" for _ in titles), *titles[:0]]),
    ],
)
def test_titles_are_compared_a_few_times_each(look):
    """A hundred thousand columns must not be compared each with each."""
    titles = tuple(Counted(f"c{i}") for i in range(2000))
    Counted.comparisons = 0
    look(titles)
    assert Counted.comparisons < 20 * len(titles)


def test_columns_of_one_name_are_refused(file):
    with pytest.raises(FormatError, match=":1: 3 columns are called 'a'"):
        read_scores(file("trial,score,a,a,b,a\nx,1,2,3,4,5\n"))


def test_a_wide_table_is_described_in_short(file):
    header = ["trial", *(f"c{i}" for i in range(3000))]
    scores = read_class_scores(file("\n".join(",".join(row) for row in (header, ["s", *["1.5"] * 3000])) + "\n"))
    assert len(scores.classes) == 3000
    assert len(scores.trials.origin.reading) < 500


def test_keys_are_written_with_words_that_are_read_without_being_told(tmp_path):
    key = Key.of({"trial": ["a", "b"]}, [True, False])
    write(key, tmp_path / "key.csv")
    assert read_key(tmp_path / "key.csv").is_target.tolist() == [True, False]


def test_numbers_with_decimal_commas_are_no_names_and_scores(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("1,25\n-0,5\n2,75\n")
    with pytest.raises(FormatError, match="'1,25' may be a number with a decimal comma"):
        read_scores(path)
    assert read_scores(path, columns="trial,score").score.tolist() == [25, 5, 75]
    path.write_text("u1,25\nu2,5\n")
    assert read_scores(path).score.tolist() == [25, 5]


@pytest.mark.parametrize(
    ("odd", "words"),
    [
        ("0x1p3", "'0x1p3' is not a valid number, in the line 'm0 s0 0x1p3'"),
        ("1_000.5", "'1_000.5' is not a valid number"),
        ("\u0661\u066b\u0665", "ARABIC-INDIC DIGIT ONE"),
        ("93.5%", "'93.5%' is not a valid number, .* Divide percentages by 100"),
        ("\u22120.5", r"MINUS SIGN \(U\+2212, character 1\)"),
    ],
)
def test_numbers_in_other_forms_are_named_and_no_header(file, odd, words):
    rest = "".join(f"m{at % 2} s{at} {at}.5\n" for at in range(1, 9))
    with pytest.raises(FormatError, match=words):
        read_scores(file(f"m0 s0 {odd}\n{rest}"))
    with pytest.raises(FormatError, match="not a number"):
        read_scores(file(f"{rest * 30}m0 s0 {odd}\n"))


def test_blanks_that_are_none_are_named(file):
    with pytest.raises(FormatError, match=r"NO-BREAK SPACE \(U\+00A0, character 3\)"):
        read_scores(file("m0\u00a0s0\u00a00.5\nm1\u00a0s1\u00a01.5\n"))


def test_a_single_column_of_a_key_is_asked_for_by_its_name(file):
    with pytest.raises(FormatError, match=r"which column is the class: 'b'.*\(columns=.class.\)"):
        read_class_key(file("b\na\nc\n"))
