"""Units of the trials of files and frames: as the user names them, or as the trials tell."""

import bz2
import gzip
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow.dataset as ds
import pytest

import deciban
from deciban import FormatError, InputError, KeyMismatchError
from deciban.core.resampling.units import keys_of
from deciban.trials.units import speakers_of
from deciban.workflows import Options, kinds, read_joined
from deciban.workflows.evaluate import evaluate_source
from deciban.workflows.kinds import two_class
from deciban.workflows.kinds.two_class import TwoClass
from deciban.workflows.reading.inputs import ScoreFiles
from deciban.workflows.reading.units import units_of_batch

ROWS = [  # enroll, test, label, the speakers of both sides, day, weight
    ("m1", "ann one", "target", "ann", "ann", "mon", 1),
    ("m1", "b/1", "nontarget", "ann", "bob", "mon", 2),
    ("m2", "b/1", "target", "bob", "bob", "tue", 0),
    ("m2", "ann one", "nontarget", "bob", "ann", "tue", 1),
    ("m2", "李", "nontarget", "bob", "李", "tue", 1),
    ("m3", "b/1", "target", "bob", "bob", "mon", 1),
    ("m1", "李", "nontarget", "ann", "李", "mon", 1),
]
SPEAKER = {"m1": "ann", "m2": "bob", "m3": "bob", "ann one": "ann", "b/1": "bob", "李": "李"}
HEADER = "enroll,test,label,enroll_spk,test_spk,day,w\n"


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("key.csv", HEADER + "".join(f"{','.join(map(str, row))}\n" for row in ROWS))
    write("sys.csv", "enroll,test,score\n" + "".join(f"{row[0]},{row[1]},{k}\n" for k, row in enumerate(ROWS)))
    write("units.csv", "".join(f"{name},{unit}\n" for name, unit in SPEAKER.items()))
    return tmp_path


def write(name, text):
    with open(name, "w") as file:  # noqa: PTH123  # names in the folder of the test
        file.write(text)


def joined(**options):
    return read_joined("sys.csv", "key.csv", Options.of("evaluate_files", options))


def units(said=None, **options):
    """The units of the trials, and what is said of them."""
    about = Options.of("evaluate_files", {"units": said, **options})
    source = joined(**options)
    source, messages = units_of_batch(source, about.how_sure, kinds.kind_called(source.kind_name()))
    return source.batch.units, messages


def names_of(found, known):
    """The names of the units of each side, by their keys."""
    names = dict(zip(keys_of(np.array(known, object)).tolist(), known, strict=True))
    return [[names[key] for key in found.keys[side].tolist()] for side in found.codes]


SPEAKERS = [[row[3] for row in ROWS], [row[4] for row in ROWS]]


@pytest.mark.parametrize(
    "said",
    [
        "enroll_spk,test_spk",
        ("enroll_spk", "test_spk"),
        "units.csv",
        "./units.csv",
        "units.csv,units.csv",
        "enroll_spk,units.csv",
        SPEAKER,
        (SPEAKER, "test_spk"),
    ],
    ids=str,
)
def test_columns_files_and_mappings_say_the_same(said):
    found, (message,) = units(said)
    assert names_of(found, ["ann", "bob", "李"]) == SPEAKERS
    assert (found.n_units, found.noun) == (3, "unit")
    assert str(message).startswith("units  3 units, by ")


def test_one_column_is_a_unit_for_each_trial():
    found, (message,) = units("day")
    assert names_of(found, ["mon", "tue"]) == [[row[5] for row in ROWS]]
    assert message.text == "2 units, by column 'day'"
    assert units("enroll")[1][0].text == "3 units, by the names of enroll"


def test_speakers_are_found_from_target_trials():
    found, (message, note) = units()
    assert found.n_units == 3
    assert message.text == "3 speakers, found from target trials"
    assert note.text.startswith("the 3 speakers include 1 name without target trials: unlinked")
    same = [left == right for left, right in zip(*(side.tolist() for side in found.codes), strict=True)]
    assert same == [row[2] == "target" for row in ROWS]
    assert found.codes[0][2] == found.codes[0][5]  # m2 and m3, by what is called b/1


@pytest.fixture
def partial():
    """A key that links the names of ten speakers, partly by trials without scores; models and tests are numbered."""
    rng, spk = np.random.default_rng(3), np.arange(11)
    pairs = [(2 * s + a, 3 * s + b) for s in spk for a, b in ((0, 0), (0, 1), (1, 1), (1, 2))]
    pairs += [(m, t) for m in range(22) for t in range(33) if m // 2 != t // 3 and rng.random() < 0.3]
    key = pd.DataFrame(pairs, columns=["enroll", "test"]).assign(day="mon", w=1)
    key = key.assign(enroll_spk=key.enroll // 2, test_spk=key.test // 3)
    wrong = pd.DataFrame({"enroll": [0, 4], "test": [32, 31], "day": ["mon", "tue"], "w": [0, 1]})  # do not count
    key = pd.concat([key, wrong.assign(enroll_spk=0, test_spk=0)]).sample(frac=1, random_state=1)
    key["w"] = key["w"].astype(str).where((key.enroll != 20) | (key.test != 30), "unknown")  # is not evaluated
    is_target = key.enroll_spk == key.test_spk
    key = key.assign(label=np.where(is_target, "target", "nontarget"))
    scores = key[["enroll", "test"]].assign(score=2.0 * is_target + rng.normal(size=len(key)))
    has_score = (key.enroll // 2 != 10) & (key.test // 3 != 10)  # the last speaker is in no evaluated trial
    has_score &= ~(is_target & (key.enroll % 2 == key.test % 3)) & (rng.random(len(key)) < 0.9)
    scores[has_score].to_csv("part.csv", index=False)
    key.to_csv("whole.csv", index=False)
    key.to_parquet("whole.parquet", row_group_size=40)


COUNTED = {"missing": "drop", "weights": "w", "where": {"day": "mon"}}


@pytest.mark.usefixtures("partial")
def test_trials_without_scores_link_their_names():
    both = []
    for said in (None, ("enroll_spk", "test_spk")):
        about = Options.of("evaluate_files", {"units": said, **COUNTED})
        source = read_joined("part.csv", "whole.csv", about)
        source, _ = units_of_batch(source, about.how_sure, TwoClass())
        found = source.batch.units.take(source.batch.weight > 0)
        assert found.n_units == found.only_used().n_units == 10
        pairs = np.concatenate(found.codes)
        both.append(pairs[:, None] == pairs)
    np.testing.assert_array_equal(*both)


@pytest.mark.usefixtures("partial")
@pytest.mark.parametrize("in_batches", [False, True])
def test_intervals_are_those_of_the_true_speakers_where_scores_are_missing(in_batches):
    scores, key = "part.csv", "whole.csv"
    if in_batches:
        scores, key = [ds.dataset("part.csv", format="csv")], ds.dataset("whole.parquet")
    found = deciban.evaluate_files(scores, key, **COUNTED)
    named = deciban.evaluate_files(scores, key, **COUNTED, units=("enroll_spk", "test_spk"))
    ours, theirs = found.systems[0], named.systems[0]
    assert (found.join.missing > 50, ours.interval("eer").n_units, theirs.interval("eer").n_units) == (True, 10, 10)
    for metric in ("eer", "cllr"):
        one, other = ours.interval(metric), theirs.interval(metric)
        assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=1e-9)
    assert "units  10 speakers, found from target trials" in found.message_lines
    notes = [one.text for one in found.messages if one.kind == "note" and "names" in one.text]
    assert notes == ["equal names on the two sides are treated as different names, because the key contradicts"]


@pytest.mark.parametrize("in_batches", [False, True])
@pytest.mark.parametrize(("models", "is_found"), [(97, False), (10, True)])
def test_trials_are_units_where_nearly_every_name_occurs_once(tmp_path, models, is_found, in_batches):
    k = np.arange(100)
    table = pd.DataFrame({"enroll": k % models, "test": 1000 + k}).astype(str)
    table = table.assign(score=np.random.default_rng(4).normal(size=100), label=k % 4 == 0)
    table.to_parquet(tmp_path / "trials.parquet")
    path = [ds.dataset(tmp_path / "trials.parquet")] if in_batches else tmp_path / "trials.parquet"
    found = deciban.evaluate_files(path, names=["one"])
    (said,) = (one.text for one in found.messages if one.kind == "units")
    words = "speakers, found from target trials" if is_found else "100 trials taken as independent"
    assert words in said
    assert found.systems[0].uncertainty.noun == ("speaker" if is_found else "trial")
    asked = deciban.evaluate_files(path, names=["one"], units="trials").systems[0].interval("eer")
    assert (found.systems[0].interval("eer") == asked) == (not is_found)


def test_linked_trials_are_units_on_request_alone():
    found, (message,) = units("trials")
    assert (found.n_units, found.noun) == (7, "trial")
    assert message.text.startswith("7 trials taken as independent: if they share speakers")


def test_sides_are_unrelated_on_request():
    assert units("product")[0].n_units == 6
    found, (message,) = units("product:enroll_spk,test_spk")
    assert found.n_units == 5
    assert message.text.endswith("with separate units for the two sides")
    with pytest.raises(InputError, match=r"by column 'day' each trial has one. Name a column for each side: product:"):
        units("product:day")


def test_trials_of_weight_zero_make_no_units():
    found, (message, note) = units(weights="w")
    assert message.text.startswith("4 speakers")
    assert note.text.startswith("the 4 speakers include 2 names without")  # m2 is linked to nobody
    assert found.n_trials == 7
    by_file = units("units.csv", weights="w")[0]
    assert by_file.n_units == 3
    write("part.csv", "m1,ann\nm2,bob\nann one,ann\n李,李\nm3,bob\n")
    with pytest.raises(KeyMismatchError, match="the unit of 'b/1'"):
        units("part.csv", weights="w")
    write(
        "key.csv",
        HEADER + "m1,x,target,a,a,mon,1\nm1,y,nontarget,a,b,mon,1\nm3,z,target,c,c,tue,0\nm4,y,nontarget,b,b,mon,1\n",
    )
    write("sys.csv", "enroll,test,score\nm1,x,1\nm1,y,0\nm3,z,0\nm4,y,0\n")
    write("part.csv", "m1,ann\nx,ann\ny,bob\nm4,bob\n")
    assert units("part.csv", weights="w")[0].n_units == 2


def test_nothing_is_looked_for_where_nothing_is_wanted():
    assert units(intervals=False) == (None, ())
    assert units("no such file", intervals=False) == (None, ())


def test_one_unit_has_no_intervals():
    found, (message,) = units(dict.fromkeys(SPEAKER, "x"))
    assert found is None
    assert "intervals need at least two units, so there are no intervals" in message.text


def test_a_unit_in_every_trial_of_a_class_is_told():
    write("key.csv", HEADER + "m1,x,target,a,a,mon,1\nm1,y,nontarget,a,b,mon,1\nm1,z,nontarget,a,c,tue,1\n")
    write("sys.csv", "enroll,test,score\nm1,x,1\nm1,y,0\nm1,z,0\n")
    _, (_, alone, note) = units()
    words = "the 3 speakers include 2 names without target trials"
    assert alone.text == f"{words}: unlinked names count as separate speakers"
    assert note.text.startswith("one speaker is in all targets and in all non-targets: intervals cannot include")


def test_non_targets_of_one_speaker_are_counted():
    write("key.csv", "enroll,test,label\nm1,x,target\nm1,y,target\nm2,x,target\nm2,y,nontarget\nm2,z,nontarget\n")
    write("sys.csv", "enroll,test,score\nm1,x,1\nm1,y,1\nm2,x,1\nm2,y,0\nm2,z,0\n")
    found, messages = units()
    assert found.n_units == 2
    assert "1 non-target trial with one speaker on both sides" in messages[2].text


def test_names_on_both_sides_may_be_other_ones():
    trials = [(str(e), str(t), "target" if t // 3 == e else "nontarget") for e in range(2) for t in range(6)]
    write("key.csv", "enroll,test,label\n" + "".join(f"{e},{t},{label}\n" for e, t, label in trials))
    write("sys.csv", "enroll,test,score\n" + "".join(f"{e},{t},{e + 2 * t}\n" for e, t, _ in trials))
    found, messages = units()
    assert found.n_units == 2
    assert "equal names on the two sides are treated as different names" in messages[1].text


def test_names_of_columns_as_the_file_has_them(files):
    for name in ("key.csv", "sys.csv"):
        text = (files / name).read_text()
        write(name, text.replace("enroll,test,", "modelid,segmentid,", 1).replace(",label,", ",targettype,", 1))
    assert units("modelid")[0].n_units == 3
    assert units("modelid,segmentid")[0].n_units == 6


@pytest.mark.parametrize("packed", [gzip.compress, bz2.compress])
def test_packed_files_and_other_ways_to_write_them(files, packed):
    text = (files / "units.csv").read_text()
    (files / "packed").write_bytes(packed(text.encode()))
    write("header.csv", "utt,speaker\r\n" + text.replace("\n", "\r\n"))
    write("tabs.tsv", text.replace(",", "\t"))
    write("more.csv", text + "nobody,else\n" + text)
    for name in ("packed", "header.csv", "tabs.tsv", "more.csv"):
        assert np.array_equal(units(name)[0].codes, units("units.csv")[0].codes), name


HOSTILE = {
    "empty": (b"", r"bad: the file is empty.*a name and its unit"),
    "blank lines": (b"\n\n", "bad: the file is empty"),
    "binary": (bytes(range(256)), "bad:1: contains NUL bytes"),
    "another encoding": (b"m1 J\xfcrgen\n", "bad:1: not UTF-8"),
    "one column": (b"m1\nm2\n", r"bad:1: expected 2 columns.*Units are read from lines with two columns"),
    "spk2utt": (b"ann m1 m2\nbob x\n", "bad:1: expected 2 columns"),
    "two units": (b"m1 ann\nm2 bob\nm1 bob\n", "bad:3: 'm1' is mapped to 'ann' and to 'bob'"),
    "no unit": (b"m1,ann\nm2,\n", "bad:2: one of two names is empty"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_files(files, case):
    text, message = HOSTILE[case]
    (files / "bad").write_bytes(text)
    with pytest.raises(FormatError, match=message):
        units("bad")


def test_files_that_lack_names():
    write("part", "m1 ann\nm2 bob\nm3 bob\nann bob\n")
    with pytest.raises(KeyMismatchError) as caught:
        units("part")
    message = str(caught.value)
    assert message.startswith(
        "key.csv:2: part does not contain the unit of 'ann one' (3 of 3 names of test are missing)"
    )
    assert "Add a line for each of them" in message
    assert units("part,test_spk")[0].n_units == 3
    write("turned", "ann m1\nbob m2\nliz m3\n")
    with pytest.raises(
        KeyMismatchError,
        match=r"Its second column contains this name: if names of enroll .* use units=..enroll., .FILE..",
    ):
        units("turned")


def test_columns_that_lack_values(files):
    write("key.csv", (files / "key.csv").read_text().replace(",tue,", ",,", 1))
    with pytest.raises(InputError, match="key.csv:4: no value in column 'day', which contains the units of trials"):
        units("day")


def test_a_name_of_both_a_column_and_a_file(files):
    write("day", "".join(f"{name},{unit}\n" for name, unit in SPEAKER.items()))
    with pytest.raises(InputError, match=r"a column of key.csv and a file. Write ./day for the file, column:day"):
        units("day")
    assert (units("./day")[0].n_units, units("column:day")[0].n_units) == (3, 2)
    (files / "enroll").mkdir()
    assert units("enroll")[0].n_units == 3


@pytest.mark.parametrize("said", ["nobody", "x" * 5000, "a\0b", "column:nobody", "label"])
def test_names_of_nothing(said):
    with pytest.raises(
        InputError, match=r"is not a column of key.csv \(the columns are enroll, test, .*day.*\), nor a file"
    ):
        units(said)


@pytest.mark.parametrize("bad", [{"m1": ""}, {"m1": None}, {"m1": 1.5}, {3: "ann"}, {"m1": True}])
def test_mappings_that_are_none(bad):
    with pytest.raises(InputError, match="units: got .* Pass the unit of each name"):
        units(bad)


def test_mappings_to_numbers():
    numbers = {name: sorted(set(SPEAKER.values())).index(unit) for name, unit in SPEAKER.items()}
    assert names_of(units(numbers)[0], ["0", "1", "2"])[0] == ["0", "0", "1", "1", "1", "1", "0"]


def test_trials_of_one_name_have_units_by_name_alone():
    write("key.csv", "trial,label,spk\na,target,x\nb,nontarget,y\nc,target,y\n")
    write("sys.csv", "trial,score\na,1\nb,0\nc,2\n")
    found, (message, hint) = units()
    assert hint.text == "units: column 'spk' is not used; units=\"spk\" if trials with the same value are dependent"
    assert (found.n_units, found.noun, found.source) == (3, "trial", "trials taken as independent")
    assert message.text == (
        "3 trials taken as independent: if they share speakers or sources, the intervals are too narrow (units=...)"
    )
    assert units("trials")[1] == (message,)
    assert units("spk")[0].n_units == 2
    assert units({"a": "x", "b": "y", "c": "y"})[0].n_units == 2
    assert units("trials")[0].n_units == 3
    for said in ("spk,spk", "product", "product:spk,spk"):
        with pytest.raises(InputError, match="need trials with two sides, but the trials of key.csv have one name"):
            units(said)


def test_trials_without_names():
    write("same.txt", "2\n1\n3\n0.5\n4\n")
    write("other.txt", "0\n1\n-1\n-2\n2\n")
    for asked in ({}, {"units": "trials"}):
        found = deciban.evaluate_files(same="same.txt", different="other.txt", **asked)
        assert any(line.startswith("units  10 trials taken as independent: ") for line in found.message_lines)
        assert found.systems[0].interval("eer").n_units == 10
    found = deciban.evaluate_files(same="same.txt", different="other.txt", intervals=False)
    assert found.systems[0].uncertainty is None
    assert not any(line.startswith("units") for line in found.message_lines)
    write("map", "0 x\n")
    with pytest.raises(InputError, match="contains units of names, but trials of .* have no names"):
        deciban.evaluate_files(same="same.txt", different="other.txt", units="map")


def test_segments_are_units_of_many_classes():
    write("key.csv", "trial,class,spk\ns1,eng,ann\ns2,fra,bob\ns3,fra,bob\ns4,fra,cid\n")
    write("sys.csv", "trial,eng,fra\ns1,2,-1\ns2,0,1\ns3,1,0.5\ns4,0,1\n")
    found, (message, _hint) = units()
    assert (found.n_units, found.noun) == (4, "segment")
    assert names_of(found, ["s1", "s2", "s3", "s4"]) == [["s1", "s2", "s3", "s4"]]
    assert message.text.startswith("4 segments taken as independent: ")
    by_column, (said, note) = units("spk")
    assert names_of(by_column, ["ann", "bob", "cid"]) == [["ann", "bob", "bob", "cid"]]
    assert said.text == "3 units, by column 'spk'"
    assert note.text.startswith("one unit is in all segments of eng: ")
    assert units("trials")[0].noun == "segment"


@pytest.mark.parametrize("make", [dict, pd.DataFrame])
def test_frames_have_units_by_their_columns(make):
    frame = make(
        {"score": [2.0, 1.0, 0.0, -1.0], "label": [1, 1, 0, 0], "spk": ["a", "b", "b", "c"], "day": [1, 2, 1, 2]}
    )
    found = deciban.evaluate(frame, score=["score"], units="spk")
    assert "units  3 units, by column 'spk'" in found.message_lines
    found = deciban.evaluate(frame, score=["score"], units=("spk", "day"), enroll="spk", test="day")
    assert "units  5 units, by the names of enroll and the names of test" in found.message_lines
    with pytest.raises(InputError, match="level: got 2"):
        deciban.evaluate(frame, units="spk", level=2)


def test_units_are_found_once_for_all_systems(files, monkeypatch):
    asked = []
    monkeypatch.setattr(two_class, "speakers_of", lambda *given: asked.append(given) or speakers_of(*given))
    write("other.csv", (files / "sys.csv").read_text())
    assert len(deciban.evaluate_files(["sys.csv", "other.csv"], "key.csv").systems) == 2
    assert len(asked) == 1


def test_training_trials_of_a_report_may_have_no_such_units(monkeypatch):
    pages = []
    monkeypatch.setattr("deciban.report.files.render_page", lambda page: pages.append(page) or "")
    write("train.key", "m8 t1 target\nm8 t2 nontarget\nm9 t2 target\n")
    write("train.txt", "m8 t1 1\nm8 t2 0\nm9 t2 2\n")
    about = {"output": "out.html", "train": "train.txt", "train_key": "train.key"}
    deciban.report_files("sys.csv", "key.csv", units="units.csv", **about)
    (page,) = pages
    assert "units  3 units, by units.csv" in page.results.message_lines
    (said,) = [line for line in page.train.message_lines if "units: " in line]
    assert said.startswith(
        "warn  units: none of these trials, so there are no intervals: train.key:1: units.csv does not"
    )


def test_units_go_with_the_trials_that_have_scores(files, monkeypatch):
    lines = (files / "sys.csv").read_text().splitlines(keepends=True)
    write("part.csv", "".join(lines[:2] + lines[3:]))
    options = replace(Options.of("evaluate_files", {"units": "day"}), incomplete=True)
    source = ScoreFiles.of(["sys.csv", "part.csv"], "key.csv", options.reading).as_source(options)
    seen, plain = [], TwoClass.evaluate
    monkeypatch.setattr(TwoClass, "evaluate", lambda *given, **how: seen.append(how) or plain(*given, **how))
    evaluate_source(source, options)
    days = [row[5] for row in ROWS]
    for own, expected in zip(seen, (days, days[:1] + days[2:]), strict=True):
        assert names_of(own["resampling"].units, ["mon", "tue"]) == [expected]
