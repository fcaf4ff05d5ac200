"""What a user says about files means the same in pieces, or is refused."""

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from deciban import evaluate_files
from deciban.errors import InputError
from deciban.workflows.options import Options
from deciban.workflows.sources import open_source
from support.commands import printed_table, terminal
from support.sources import gathered, in_memory, trials, write


def opened(scores, key=None, **said):
    return open_source([scores], key, Options.of("evaluate_files", said))


@pytest.fixture
def run(monkeypatch, capsysbinary):
    return terminal(monkeypatch, capsysbinary)


@pytest.fixture
def folder(tmp_path):
    return write(trials(np.random.default_rng(1), n=120), tmp_path / "trials", np.random.default_rng(2))


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"ids": "basename"}, "ids: other names to compare trials by need all trials in memory"),
        ({"probabilities": 0.5}, "probabilities: probabilities need all trials in memory"),
        ({"posterior_prior": "flat"}, "posterior_prior: for scores of many classes"),
        ({"names": ["A", "B"]}, "names: 2 for 1 systems"),
    ],
)
def test_what_pieces_cannot_do_is_refused(folder, said, words):
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


def test_messages_say_how_trials_met(tmp_path):
    rng = np.random.default_rng(4)
    table = trials(rng, n=80)
    scores = write(table.select(["enroll", "test", "score"]).slice(5), tmp_path / "scores", rng)
    key = write(table.drop_columns("score"), tmp_path / "key", rng)
    source = opened(scores, key, missing=0.5, where={"gender": "f"})
    words = [one.text for one in source.messages]
    assert any(one.startswith("trials with gender = f") for one in words)
    assert any(f"{source.report.matched} matched · {source.report.missing} missing" in one for one in words)
    assert any(one.startswith("trials without a score were given 0.5") for one in words) == bool(source.report.missing)


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
