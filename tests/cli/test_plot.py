"""Plots of scores of many classes, as files."""

import numpy as np
import pytest

from deciban.cli.plot import _CLASS_KINDS, _PLOTS


@pytest.fixture
def scores(tmp_path):
    rng = np.random.default_rng(0)
    label = np.repeat(np.arange(3), 30)
    np.save(tmp_path / "scores.npy", rng.normal(size=(90, 3)) + 2 * np.eye(3)[label])
    np.save(tmp_path / "labels.npy", label)
    return [tmp_path / "scores.npy", "--key", tmp_path / "labels.npy", "--classes", "ant,bee,cat"]


@pytest.mark.parametrize("kind", _CLASS_KINDS)
def test_every_plot_of_classes(run, scores, tmp_path, kind):
    output = tmp_path / "plot.svg"
    code, out, _ = run("plot", kind, *scores, "-o", output)
    assert code == 0
    assert output.read_bytes().startswith(b"<?xml")
    assert f"wrote {output}" in out.replace("\n", "")


def test_plots_of_two_classes_are_not_for_many(run, scores, tmp_path):
    code, _, told = run("plot", "det", *scores, "-o", tmp_path / "plot.svg")
    assert code == 2
    assert "'det' is no plot of multiclass scores" in " ".join(told.split())
    (tmp_path / "key.txt").write_text("a b target\na c nontarget\n")
    (tmp_path / "sys.txt").write_text("a b 1.0\na c 0.5\n")
    command = ["plot", "confusion", tmp_path / "sys.txt", "--key", tmp_path / "key.txt", "-o", tmp_path / "plot.svg"]
    code, _, told = run(*command)
    assert code == 2
    assert "'confusion' is no plot of two-class scores" in " ".join(told.split())
    assert not (tmp_path / "plot.svg").exists()


def test_the_help_names_every_plot_once(run):
    words = run("plot", "--help")[1].partition("Options:")[0].partition("deciban plot det")[0].split()
    assert sorted(word for word in words if word in _PLOTS) == sorted([*_PLOTS, "reliability"])  # of both kinds


def test_corners_of_the_simplex_are_chosen_by_name(run, scores, tmp_path):
    label = np.repeat(np.arange(4), 30)
    np.save(tmp_path / "scores.npy", np.random.default_rng(0).normal(size=(120, 4)) + 2 * np.eye(4)[label])
    np.save(tmp_path / "labels.npy", label)
    command = ["plot", "simplex", *scores[:-1], "ant,bee,cat,dog", "-o", tmp_path / "plot.svg"]
    assert run(*command, "--corners", "dog,ant,cat")[0] == 0
    drawn = (tmp_path / "plot.svg").read_text()
    assert all(f">{name}<" in drawn for name in ("dog", "ant", "cat"))
    assert ">bee<" not in drawn
    (tmp_path / "plot.svg").unlink()
    code, _, told = run(*command, "--corners", "dog,ant")
    assert code == 2
    assert "--corners: got dog, ant. Name three different ones of ant, bee, cat, dog" in " ".join(told.split())
    assert "unknown class 'fox'" in " ".join(run(*command, "--corners", "dog,ant,fox")[2].split())
    assert not (tmp_path / "plot.svg").exists()
    code, _, told = run("plot", "confusion", *command[2:], "--corners", "dog,ant,cat")
    assert code == 2
    assert "--corners: for simplex" in " ".join(told.split())


def test_subsets_of_many_classes_are_asked_for_by_an_option(run, tmp_path):
    label = np.repeat(np.arange(11), 3)
    np.save(tmp_path / "scores.npy", np.random.default_rng(0).normal(size=(33, 11)) + np.eye(11)[label])
    np.save(tmp_path / "labels.npy", label)
    files = [tmp_path / "scores.npy", "--key", tmp_path / "labels.npy", "--kind", "classes"]
    code, _, told = run("plot", "subset-c-avg", *files, "-o", tmp_path / "plot.png")
    assert code != 0
    assert "--subsets" in told
    assert run("plot", "subset-c-avg", *files, "--subsets", "-o", tmp_path / "plot.png")[0] == 0


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (["--group", "a=ant", "--group", "b=bee,cat", "--prior", "2:3:5"], "trials of rare classes have more weight"),
        (["--out-of-set", "0.2"], "Leave out its prior (or the preset of an open set)"),
        (["--no-subsets"], "Pass --subsets."),
    ],
)
def test_a_plot_without_subsets_says_why(run, scores, tmp_path, more, reason):
    code, _, told = run("plot", "subset-c-avg", *scores, *more, "-o", tmp_path / "plot.png")
    assert code == 2
    assert reason in " ".join(told.split())
    assert not (tmp_path / "plot.png").exists()
