"""What a user says about files means the same in batches, or is refused."""

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from deciban import evaluate_files
from deciban.errors import FormatError, InputError, KeyMismatchError
from deciban.io.partitions import joining
from deciban.io.source import TwoFiles
from deciban.workflows.options import Options
from deciban.workflows.reading import inputs
from deciban.workflows.reading.inputs import open_source
from support.commands import printed_table, terminal
from support.sources import gathered, in_memory, trials, write


def opened(scores, key=None, **said):
    return open_source(scores if isinstance(scores, list) else [scores], key, Options.of("evaluate_files", said))


@pytest.fixture
def run(monkeypatch, capsysbinary):
    return terminal(monkeypatch, capsysbinary)


@pytest.fixture
def folder(tmp_path):
    return write(trials(np.random.default_rng(1), n=120), tmp_path / "trials", np.random.default_rng(2))


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"ids": "basename", "by_order": True}, "ids, by_order: matching by order does not compare names"),
        ({"posterior_prior": "flat"}, "posterior_prior: for multiclass scores"),
        ({"names": ["A", "B"]}, "names: 2 names for 1 system"),
    ],
)
def test_what_partitions_cannot_do_is_refused(folder, said, words):
    with pytest.raises(InputError, match=words):
        opened(folder, **said)


def test_systems_have_the_names_that_users_give(folder):
    assert opened(folder, names=["A"]).systems == ("A",)
    assert opened(folder, names={"trials": "B"}).systems == ("B",)


@pytest.mark.parametrize("said", [{"log10": True}, {"posterior_prior": "flat", "log10": True}, {"detection_llr": True}])
def test_scores_of_classes_become_natural_logarithms(tmp_path, said):
    rng, n = np.random.default_rng(3), 50
    scores = {name: rng.normal(size=n).astype(np.float32) for name in "abc"}
    table = pa.table({"trial": [f"s{k}" for k in range(n)], **scores, "class": rng.choice(list("abc"), n)})
    cut = write(table, tmp_path / "cut", rng)
    np.testing.assert_array_equal(gathered(opened(cut, **said)), in_memory([cut], **said)[0])


def with_names(table, change):
    """The same table with other names on both sides."""
    for at, side in enumerate(("enroll", "test")):
        table = table.set_column(at, side, pa.array([change(name) for name in table[side].to_pylist()]))
    return table


@pytest.mark.parametrize("said", [{"ids": "basename,strip-ending"}, {"ids": "basename,strip-ending", "missing": 0.5}])
@pytest.mark.parametrize("chosen", [{}, {"where": {"gender": "f"}}])
def test_other_names_are_compared_as_in_memory(tmp_path, said, chosen):
    rng = np.random.default_rng(7)
    table = trials(rng)
    scores = with_names(table.select(["enroll", "test", "score"]).take(rng.permutation(60)), "a/{}.wav".format)
    scores = write(scores.slice(3) if "missing" in said else scores, tmp_path / "scores", rng)
    key = write(table.drop_columns("score"), tmp_path / "key", rng)
    expected, report = in_memory([scores], key, **said, **chosen)
    source = opened(scores, key, memory=10**8, **said, **chosen)
    np.testing.assert_array_equal(gathered(source), expected)
    assert (source.report, source.report.renamed) == (report, report.renamed)
    assert any("basename,strip-ending changed 0 names of" in one.text for one in source.messages)


def test_an_id_map_names_scores_as_the_key_does(tmp_path):
    rng = np.random.default_rng(8)
    table = trials(rng)
    names = sorted({name for side in ("enroll", "test") for name in table[side].to_pylist()})
    ids = tmp_path / "ids.csv"
    ids.write_text("scores,key\n" + "".join(f"x{name},{name}\n" for name in names))
    scores = write(with_names(table.select(["enroll", "test", "score"]), "x{}".format), tmp_path / "scores", rng)
    key = write(table.drop_columns("score"), tmp_path / "key", rng)
    expected, report = in_memory([scores], key, ids=ids)
    source = opened(scores, key, ids=ids)
    np.testing.assert_array_equal(gathered(source), expected)
    assert source.report.renamed == report.renamed
    alone = write(with_names(table, "x{}".format), tmp_path / "alone", rng)
    assert opened(alone, ids=ids).report.renamed == in_memory([alone], ids=ids)[1].renamed


def test_two_names_that_become_one_are_refused_with_their_places(tmp_path):
    """Their trials differ in the other name, so that no trial is there twice."""
    rng = np.random.default_rng(9)
    table = trials(rng)
    names = table["enroll"].to_pylist()
    first, other = names.index("m3"), names.index("m4")
    changed = with_names(table, lambda name: "z/m4" if name == "m3" else name)
    folder = tmp_path / "scores"
    folder.mkdir()
    pq.write_table(changed, folder / "0.parquet", row_group_size=100)
    told = rf"(?=.*'z/m4' \(.*0.parquet, row {first}\))(?=.*'m4' \(.*row {other}\)).*would both be 'm4' \(1 such names"
    with pytest.raises(KeyMismatchError, match=told):
        opened(folder, ids="basename", memory=10**8)


def test_other_names_need_names(tmp_path):
    folder = write(
        trials(np.random.default_rng(1)).select(["score", "label"]), tmp_path / "t", np.random.default_rng(2)
    )
    with pytest.raises(InputError, match="ids: .* has no names that could be changed"):
        opened(folder, ids="basename")


@pytest.mark.parametrize("joined", [False, True])
def test_probabilities_become_llrs_before_scores_are_filled_in(tmp_path, joined):
    rng = np.random.default_rng(10)
    table = trials(rng).set_column(2, "score", pa.array(rng.choice([0.0, 0.25, 0.5, 1.0], 60).astype(np.float32)))
    whole = write(table, tmp_path / "whole", rng)
    scores, key = [whole], None
    if joined:
        scores = [write(table.select(["enroll", "test", "score"]).slice(5), tmp_path / "scores", rng)]
        key = write(table.drop_columns("score"), tmp_path / "key", rng)
    said = {"probabilities": 0.2} | ({"missing": 0.75} if joined else {})
    source = opened(scores, key, **said)
    np.testing.assert_array_equal(gathered(source), in_memory(scores, key, **said)[0])
    assert source.is_double
    assert any("scores are probabilities with prior 0.2" in one.text for one in source.messages)
    bad = table.set_column(2, "score", pa.array(np.where(np.arange(60) == 17, 1.5, 0.5)))
    pq.write_table(bad, tmp_path / "bad.parquet", row_group_size=10)
    with pytest.raises(FormatError, match=r"bad\.parquet, row group 1, row 7: probabilities: 1 of .* outside \[0, 1\]"):
        gathered(opened(tmp_path / "bad.parquet", probabilities=0.2))


@pytest.mark.parametrize("prior", ["flat", [0.5, 0.25, 0.25]])
def test_probabilities_of_classes(tmp_path, prior):
    rng, n = np.random.default_rng(3), 50
    shares = rng.dirichlet(np.ones(3), n)
    columns = dict(zip("abc", shares.T, strict=True))
    table = pa.table({"trial": [f"s{k}" for k in range(n)], **columns, "class": rng.choice(list("abc"), n)})
    cut = write(table, tmp_path / "cut", rng)
    np.testing.assert_array_equal(gathered(opened(cut, probabilities=prior)), in_memory([cut], probabilities=prior)[0])
    with pytest.raises(InputError, match="multiclass scores need the prior of each class"):
        gathered(opened(cut, probabilities=0.5))


def two_files(table, folder, rng):
    """Targets and non-targets in folders of their own."""
    is_target = pa.compute.equal(table["label"], "target")
    folder.mkdir()
    own = table.drop_columns(["label", "gender", "age", "weight", "speaker"])
    return TwoFiles(
        write(own.filter(is_target), folder / "a_tar", rng),
        write(own.filter(pa.compute.invert(is_target)), folder / "a_non", rng),
    )


@pytest.mark.parametrize("columns", [["enroll", "test", "score"], ["score"]])
@pytest.mark.parametrize("n", [1, 2])
def test_targets_and_non_targets_in_files_of_their_own(tmp_path, columns, n):
    rng = np.random.default_rng(11)
    label = np.where(rng.random(60) < 0.4, "target", "nontarget")
    both = []
    for at in range(n):
        table = trials(np.random.default_rng(12), label=label)
        score = pa.array(np.random.default_rng(at).normal(size=60))
        table = table.set_column(2, "score", score).take(rng.permutation(60) if len(columns) > 1 else np.arange(60))
        both.append(two_files(table.select([*columns, *table.column_names[3:]]), tmp_path / str(at), rng))
    source = opened(both, memory=10**8)
    expected, report = in_memory(both)
    np.testing.assert_array_equal(gathered(source), expected)
    assert source.report in (None, report)
    assert source.paths == tuple(both)


def test_vectors_of_targets_and_of_non_targets(tmp_path):
    rng = np.random.default_rng(13)
    for name, n in (("x_tar.npy", 30), ("x_non.npy", 50), ("y_tar.npy", 31), ("y_non.npy", 49)):
        np.save(tmp_path / name, rng.normal(size=n).astype(np.float32))
    files = [TwoFiles(tmp_path / f"{name}_tar.npy", tmp_path / f"{name}_non.npy") for name in "xy"]
    source = opened(files[:1])
    np.testing.assert_array_equal(gathered(source), in_memory(files[:1])[0])
    assert (source.systems, source.is_double) == (("x",), False)
    for read in (opened, in_memory):
        with pytest.raises(KeyMismatchError, match=r"has 31 targets and 49 non-targets, .* 30 and 50"):
            read(files)


def test_labels_in_two_files_say_the_same(tmp_path):
    rng = np.random.default_rng(14)
    table = trials(rng, label=["target"] * 60)
    other = trials(np.random.default_rng(15), label=["nontarget"] * 59 + ["target"])
    for name, own in (("tar", table), ("non", other)):
        pq.write_table(own, tmp_path / f"{name}.parquet", row_group_size=7)
    with pytest.raises(KeyMismatchError, match=r"non\.parquet, row group 8, row 3: is labelled target, .* swapped"):
        gathered(opened(TwoFiles(tmp_path / "tar.parquet", tmp_path / "non.parquet")))
    with pytest.raises(InputError, match="key_format: is for a key, and there is none"):
        opened(TwoFiles(tmp_path / "tar.parquet", tmp_path / "non.parquet"), key_format="tsv")


def test_messages_say_how_trials_met(tmp_path):
    rng = np.random.default_rng(4)
    table = trials(rng, n=80)
    scores = write(table.select(["enroll", "test", "score"]).slice(5), tmp_path / "scores", rng)
    key = write(table.drop_columns("score"), tmp_path / "key", rng)
    source = opened(scores, key, missing=0.5, where={"gender": "f"})
    words = [one.text for one in source.messages]
    assert any(one.startswith("trials with gender = f") for one in words)
    assert any(f"{source.report.matched} matched · {source.report.missing} missing" in one for one in words)
    assert any(one.startswith("trials without a score got 0.5") for one in words) == bool(source.report.missing)


def test_objects_are_evaluated_like_files(folder):
    whole = evaluate_files(folder, intervals=False).systems[0]
    found = evaluate_files(ds.dataset(folder), intervals=False).systems[0]
    assert (found.eer, found.n_tar, found.min_cllr) == (whole.eer, whole.n_tar, whole.min_cllr)
    whole = evaluate_files(folder, intervals=False, weights="weight").systems[0]
    found = evaluate_files(ds.dataset(folder), intervals=False, weights="weight").systems[0]
    assert found.eer == pytest.approx(whole.eer, rel=1e-12)
    assert found.n_tar == pytest.approx(whole.n_tar, rel=1e-12)


def test_matched_are_those_that_were_evaluated(folder, tmp_path):
    table = trials(np.random.default_rng(1), n=120)
    scores = write(table.select(["enroll", "test", "score"]), tmp_path / "scores", np.random.default_rng(3))
    for given, key, by_order in ((folder, None, False), (scores, folder, True)):
        said = {"where": {"gender": "f"}, "by_order": by_order, "intervals": False}
        whole = evaluate_files(given, key, **said)
        found = evaluate_files(ds.dataset(given), key, **said)
        assert found.join.to_dict() == whole.join.to_dict()


def test_speakers_on_the_command_line(tmp_path, run):
    rng = np.random.default_rng(5)
    speakers = rng.integers(0, 6, (2, 30))
    same = speakers[0][:, None] == speakers[1]
    path = tmp_path / "scores.npy"
    np.save(path, rng.normal(size=(30, 30)) + 2.0 * same)
    files = [tmp_path / "enroll", tmp_path / "test"]
    for file, side in zip(files, speakers, strict=True):
        file.write_text("".join(f"{file.name}{k} speaker{one}\n" for k, one in enumerate(side)))
    code, out, err = run("eval", path, "--speakers", ",".join(map(str, files)), "--by-order")
    (expected,) = evaluate_files(path, speakers=files, by_order=True).systems
    assert (code, expected.n_tar, expected.interval("eer").n_units) == (0, same.sum(), 6)
    assert "target if and only if the speakers agree" in err
    assert f"{100 * expected.eer:.2f} %" in printed_table(out.decode())["scores"]["EER (ROCCH)"]
    code, _, err = run("eval", path, "--speakers", files[0])
    assert (code, "--by-order" in err) == (2, True)


def joined(tmp_path, rng):
    """Scores and a key in tables of their own."""
    table = trials(rng)
    return write(table, tmp_path / "scores", rng), write(table.drop_columns("score"), tmp_path / "key", rng)


def test_joins_give_memory_back_first_and_have_half_of_it(tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr(inputs, "give_back_at_once", told.append)
    made = joining.rows_that_fit
    monkeypatch.setattr(joining, "rows_that_fit", lambda *given: told.append(given[0]) or made(*given))
    opened(*joined(tmp_path, np.random.default_rng(10)), memory=10**8)
    assert told == [40_000_000, 20_000_000, 20_000_000]  # for names, and for rows with all scores
