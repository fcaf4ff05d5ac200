"""Inputs that are more than one file, and tables of several systems."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from deciban import FormatError, InputError, KeyMismatchError, evaluate_files, read_index, read_key, read_scores
from deciban.io import read_contents, write
from deciban.io.formats import formats
from deciban.trials import Scores, Trials

PAIR = Scores.of({"enroll": ["ann"], "test": ["x"]}, [1.5])
ROW = Scores(Trials.of_rows(1), np.array([1.5]))


def names(table):
    return [table.trials.name_of(row) for row in range(len(table.trials))]


def test_a_pattern_is_one_input(tmp_path):
    (tmp_path / "part-2.txt").write_text("bob x 3\nbob y 4\n")
    (tmp_path / "part-1.txt").write_text("ann x 1\nann y 2\n")
    scores = read_scores(tmp_path / "part-*.txt")
    assert scores.score.tolist() == [1, 2, 3, 4]
    assert names(scores) == ["(ann, x)", "(ann, y)", "(bob, x)", "(bob, y)"]
    assert scores.trials.origin.where(2) == f"{tmp_path}/part-2.txt:1"
    assert scores.trials.origin.reading == "2 files, kaldi 'enroll test score'"


@pytest.mark.parametrize(
    "ending", ["", ".txt", ".LST", ".scores", ".llr", ".scores.txt", ".txt.scores", ".csv.gz", ".score.bz2", ".tsv.ZST"]
)
def test_systems_are_called_like_their_files_without_the_endings(tmp_path, ending):
    path = tmp_path / f"sys.v2.b{ending}"
    write(PAIR, path, format="kaldi")
    assert read_scores(path).name == "sys.v2.b"


@pytest.mark.parametrize("form", [one for one in formats().values() if "scores" in one.writes and one.endings])
def test_every_ending_of_a_format_is_one(tmp_path, form):
    for ending in form.endings:
        write(ROW if form.name == "npy" else PAIR, tmp_path / f"sys{ending}")
        assert read_scores(tmp_path / f"sys{ending}").name == "sys"


def test_a_pattern_without_files(tmp_path):
    with pytest.raises(InputError, match="no file matches this pattern"):
        read_scores(tmp_path / "*.txt")


def test_files_of_one_input_must_be_alike(tmp_path):
    (tmp_path / "a.txt").write_text("ann x 1\n")
    (tmp_path / "b.txt").write_text("bob y 0.5 target\nbob z 0.7 nontarget\n")
    with pytest.raises(FormatError, match=r"b.txt: contains scores and key and index, .*a.txt scores and index"):
        read_scores(tmp_path / "*.txt")


def test_a_folder_of_parquet_files_is_one_input(tmp_path):
    for gender, names_ in {"f": ["a", "b"], "m": ["c"]}.items():
        (tmp_path / f"gender={gender}").mkdir()
        table = pa.table({"trial": names_, "score": [0.5] * len(names_), "label": ["target"] * len(names_)})
        pyarrow.parquet.write_table(table, tmp_path / f"gender={gender}" / "part.parquet")
    key = read_key(tmp_path)
    assert names(key) == ["(a)", "(b)", "(c)"]
    assert key.keep(where={"gender": "m"}).trials.name_of(0) == "(c)"


TWO = "trial,sysA_score,sysB_score,label\na,1,4,target\nb,-1,0,nontarget\nc,2,-9,target\nd,-2,1,nontarget\n"


def test_several_score_columns_are_several_systems(tmp_path):
    path = tmp_path / "both.csv"
    path.write_text(TWO)
    results = evaluate_files(path)
    assert [system.name for system in results.systems] == ["sysA_score", "sysB_score"]
    assert results.systems[0].eer == 0
    assert results.systems[1].eer > 0
    with pytest.raises(FormatError, match="scores of 2 systems: sysA_score, sysB_score. Choose one"):
        read_scores(path)
    assert read_scores(path, columns="trial=trial,score=sysB_score").score.tolist() == [4, 0, -9, 1]
    systems = read_contents(path, columns={"trial": "trial", "score": "sysB_score|sysA_score"}).systems
    assert [system.name for system in systems] == ["sysA_score", "sysB_score"]


def test_only_trials_of_a_condition(tmp_path):
    (tmp_path / "scores.txt").write_text("a 1\nb -1\nc 2\nd -2\n")
    (tmp_path / "key.csv").write_text("trial,label,phase\na,target,x\nb,nontarget,x\nc,target,y\nd,nontarget,x\n")
    results = evaluate_files(tmp_path / "scores.txt", tmp_path / "key.csv", where={"phase": "x"})
    assert (results.systems[0].n_tar, results.systems[0].n_non) == (1, 2)
    assert "only  trials with phase = x" in results.message_lines
    with pytest.raises(InputError, match="no trial has phase = 'z'; the values are x, y"):
        evaluate_files(tmp_path / "scores.txt", tmp_path / "key.csv", where={"phase": "z"})


def test_matching_by_order_is_asked_for(tmp_path):
    (tmp_path / "scores.txt").write_text("1.5\n-0.5\n2.5\n")
    (tmp_path / "key.txt").write_text("a x target\nb y nontarget\nc z target\n")
    files = tmp_path / "scores.txt", tmp_path / "key.txt"
    with pytest.raises(KeyMismatchError, match="by row, .* by enroll and test.*by_order=True"):
        evaluate_files(*files, columns="score")
    results = evaluate_files(*files, columns="score", by_order=True)
    assert results.systems[0].eer == 0
    assert "join  by order: the names of the trials were not compared" in results.message_lines
    (tmp_path / "scores.txt").write_text("1.5\n-0.5\n")
    with pytest.raises(KeyMismatchError, match="contains 2 scores, .* 3 trials"):
        evaluate_files(*files, columns="score", by_order=True)


def test_common_logarithms_count_as_such(tmp_path):
    (tmp_path / "scores.txt").write_text("a 1 target\nb -1 nontarget\n".replace(" 1 ", " 1.0 "))
    (tmp_path / "nats.txt").write_text(
        f"a {np.log(10)!r} target\nb {-np.log(10)!r} nontarget\n".replace("np.float64(", "").replace(")", "")
    )
    in_log10 = evaluate_files(tmp_path / "scores.txt", log10=True).systems[0]
    assert in_log10.cllr == evaluate_files(tmp_path / "nats.txt").systems[0].cllr
    assert in_log10.cllr < evaluate_files(tmp_path / "scores.txt").systems[0].cllr


def test_lir_or_a_plain_table_is_not_guessed(tmp_path):
    path = tmp_path / "lrs.csv"
    path.write_text("trial,llr,hypothesis\na,1.5,1\nb,-2,0\n")
    with pytest.raises(FormatError, match=r"could be .*lir.* or .*table"):
        read_scores(path)
    assert read_scores(path, format="lir").log10
    assert not read_scores(path, format="table").log10


def test_an_index_of_anything(tmp_path):
    for text in ("ann x\nbob y\n", "ann x 1.5\nbob y 2\n", "ann x target\nbob y nontarget\n"):
        (tmp_path / "f.txt").write_text(text)
        assert names(read_index(tmp_path / "f.txt")) == ["(ann, x)", "(bob, y)"]


def test_arrays_without_names_meet_by_row(tmp_path):
    np.save(tmp_path / "scores.npy", np.array([1.0, -1.0, 2.0]))
    np.save(tmp_path / "key.npy", np.array([1, 0, 1]))
    results = evaluate_files(tmp_path / "scores.npy", tmp_path / "key.npy")
    assert (results.systems[0].n_tar, results.systems[0].eer) == (2, 0)
    for key in ([1, 0, 1, 1], [1, 0]):
        np.save(tmp_path / "key.npy", np.array(key))
        with pytest.raises(KeyMismatchError, match=f"scores.npy has 3 rows, .*key.npy {len(key)}.*no names"):
            evaluate_files(tmp_path / "scores.npy", tmp_path / "key.npy")


def test_the_way_out_of_a_list_that_cannot_be_told_is_one(tmp_path):
    path = tmp_path / "f.txt"
    path.write_text("a\nb\n")
    with pytest.raises(
        FormatError, match=r"which columns name the trials: 'a'.*enroll,test.\).*\(columns=.trial=utt.\)"
    ):
        read_index(path)
    with pytest.raises(FormatError, match=r"not kaldi with index: 'a'.*columns=.enroll,test.\.$"):
        read_index(path, format="kaldi")
    assert names(read_index(path, columns="trial")) == ["(a)", "(b)"]


def test_a_format_without_a_word_on_what_is_needed(tmp_path):
    for text, kinds in {
        "ann x target\nbob y nontarget\n": ("key", "index"),
        "ann x 1\nbob y 2\n": ("scores", "index"),
        "ann x\nbob y\n": ("index",),
    }.items():
        (tmp_path / "f.txt").write_text(text)
        assert read_contents(tmp_path / "f.txt", format="kaldi").kinds == kinds
        assert read_contents(tmp_path / "f.txt").kinds == kinds


def test_several_subsets_in_one_key_are_pointed_out(tmp_path):
    key = "A LA_E_1 x y - bonafide n eval\nA LA_E_2 x y A1 spoof n eval\nA LA_E_3 x y A1 spoof n progress\n"
    (tmp_path / "key.txt").write_text(key)
    (tmp_path / "scores.txt").write_text("LA_E_1 1.5\nLA_E_2 -0.5\nLA_E_3 0.5\n")
    files = tmp_path / "scores.txt", tmp_path / "key.txt"
    facts = " ".join(evaluate_files(*files).message_lines)
    assert 'contains the subsets eval, progress; where={"subset": "eval"} selects one of them' in facts
    chosen = evaluate_files(*files, where={"subset": "eval"})
    assert chosen.systems[0].n_non == 1
    assert "contains the subsets" not in " ".join(chosen.message_lines)


def test_a_class_column_is_a_condition_where_classes_are_not_asked_for(tmp_path):
    (tmp_path / "f.csv").write_text("trial,score,label,language\na,1,target,eng\nb,2,nontarget,eng\n")
    assert read_scores(tmp_path / "f.csv").trials.conditions["language"].to_pylist() == ["eng", "eng"]
    assert read_key(tmp_path / "f.csv").keep(where={"language": "eng"}).n_tar == 1


def test_names_that_look_like_headers_are_names(tmp_path):
    path = tmp_path / "f.txt"
    path.write_text("file_llr.wav x target 9.5\nb y nontarget -2\n")
    assert len(read_scores(path, columns="enroll,test,label,score").trials) == 2
    path.write_text("key_1 key target\nb y nontarget\n")
    assert len(read_key(path, columns="enroll,test,label").trials) == 2
    path.write_text("file u1\nfile u2\nb y\n")
    assert names(read_index(path)) == ["(file, u1)", "(file, u2)", "(b, y)"]


def test_columns_by_number_know_a_header(tmp_path):
    path = tmp_path / "f.csv"
    path.write_text("utt,sysA,sysB,lab\na,1,5,target\nb,2,6,nontarget\n")
    assert read_scores(path, columns="trial=1,score=3,label=4").score.tolist() == [5, 6]
    path.write_text("a,1,5,target\nb,2,6,nontarget\n")
    assert read_scores(path, columns="trial=1,score=3,label=4").score.tolist() == [5, 6]


def test_columns_named_twice(tmp_path):
    path = tmp_path / "f.csv"
    path.write_text("utt,a,b\nx,1,2\ny,3,4\n")
    systems = read_contents(path, columns="trial=utt,score=a,score=b").systems
    assert [one.name for one in systems] == ["a", "b"]
    with pytest.raises(InputError, match="'trial' is given twice, as 'utt' and as 'a'"):
        read_contents(path, columns="trial=utt,trial=a,score=b")
    path.write_text("trial,score,x,x\na,1,f,g\n")
    with pytest.raises(FormatError, match=":1: 2 columns are called 'x'"):
        read_scores(path)


def test_systems_of_several_files_meet_by_name(tmp_path):
    (tmp_path / "g-1.csv").write_text("trial,a_score,b_score\nx,1,100\n")
    (tmp_path / "g-2.csv").write_text("trial,b_score,a_score\ny,200,2\n")
    systems = {one.name: one.score.tolist() for one in read_contents(tmp_path / "g-*.csv", need="scores").systems}
    assert systems == {"a_score": [1, 2], "b_score": [100, 200]}
    (tmp_path / "g-3.csv").write_text("trial,c_score,a_score\ny,200,2\n")
    with pytest.raises(FormatError, match="scores of c_score, a_score .*scores of a_score, b_score"):
        read_contents(tmp_path / "g-*.csv", need="scores")


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("segmentid\teng\tfra\n" + "".join(f"s{i}\t{i}.5\t-1.25\n" for i in range(50)), ("class-scores", "index")),
        ("enroll,test,duration,label\n" + "".join(f"m{i},s,3.5,target\n" for i in range(50)), ("key", "index")),
        ("modelid\tsegmentid\ttargettype\tn\n" + "".join(f"m{i}\ts\ttarget\t1\n" for i in range(50)), ("key", "index")),
        ("enroll,test,snr\n" + "".join(f"m{i},s,3.5\n" for i in range(50)), ("index",)),
        ("trial,label,snr\n" + "".join(f"m{i},target,3.5\n" for i in range(50)), ("key", "index")),
    ],
)
def test_a_header_says_more_than_what_lines_look_like(text, kinds, tmp_path):
    (tmp_path / "f.txt").write_text(text)
    assert read_contents(tmp_path / "f.txt").kinds == kinds


def test_scores_or_labels_of_0_and_1_are_not_guessed(tmp_path):
    (tmp_path / "f.txt").write_text("a b 1\nc d 0\n")
    with pytest.raises(FormatError, match=r"could be kaldi 'enroll test score' or kaldi 'enroll test label'"):
        read_contents(tmp_path / "f.txt")
    assert read_key(tmp_path / "f.txt").n_tar == 1


def test_contradicting_labels_by_order(tmp_path):
    (tmp_path / "a.txt").write_text("a 1 target\nb 2 nontarget\n".replace(" 1 ", " 1.0 "))
    (tmp_path / "b.txt").write_text("b 2.5 nontarget\na 1.5 target\n")
    with pytest.raises(KeyMismatchError, match=r"b.txt:1: has another label than .*a.txt:1 \(2 such trials\)"):
        evaluate_files([tmp_path / "a.txt", tmp_path / "b.txt"], by_order=True)


def test_logarithms_are_told(tmp_path):
    (tmp_path / "a.txt").write_text("a 1.0 target\nb -2.0 nontarget\n")
    assert "score label', log10" in evaluate_files(tmp_path / "a.txt", log10=True).message_lines[0]


def test_standard_input_is_read_once():
    with pytest.raises(InputError, match="can be read only once"):
        evaluate_files(["-"], "-")


@pytest.mark.parametrize("text", ["a 0.5\nb 1.5", "trial,score\na,0.5\nb,1"])
def test_a_last_line_without_an_end_is_noted(tmp_path, text):
    path = tmp_path / "a.txt"
    path.write_text(text)
    assert read_contents(path, need="scores").notes == ("the last line has no line end: the file may be cut off",)
    path.write_text(f"{text}\r\n")
    assert read_contents(path, need="scores").notes == ()


def test_line_breaks_in_quotes_are_blanks(tmp_path):
    """As spreadsheets write them; lines of errors are those of the file."""
    path = tmp_path / "a.csv"
    path.write_text('id,label,score\n"a\nb",1,0.5\n"say ""c""\r\n",0,-1\nd,1,2\n')
    found = read_contents(path, need="scores").scores
    assert [found.trials.name_of(row) for row in range(3)] == ["(a b)", '(say "c")', "(d)"]
    assert found.score.tolist() == [0.5, -1.0, 2.0]
    path.write_text('id,label,score\n"a\n\nb",1,0.5\nc,0,x\n')
    with pytest.raises(FormatError, match="a.csv:5: the score 'x' is not a number"):
        read_contents(path, need="scores")


def test_a_quote_without_an_end_is_refused_by_name(tmp_path):
    (tmp_path / "a.csv").write_text('id,label,score\n"a\nb,1,0.5\nc,0,-1\n')
    with pytest.raises(FormatError, match="a.csv:2: .* A quote has no end on this line: remove line breaks"):
        read_contents(tmp_path / "a.csv", need="scores")
