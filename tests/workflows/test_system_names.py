"""Systems under the names that users give them, in every workflow."""

import json

import numpy as np
import pytest

from deciban import apply_files, evaluate_files, report_files, train_files
from deciban.errors import InputError
from deciban.fusion import LinearFusion


@pytest.fixture
def files(tmp_path):
    """Two systems on the same trials; b is better."""
    rng = np.random.default_rng(4)
    truth = np.arange(300) % 3 == 0
    for name, gap in {"a": 1.0, "b": 2.0}.items():
        rows = [f"t{i},{rng.normal(gap * t):.4f},{int(t)}" for i, t in enumerate(truth)]
        (tmp_path / f"{name}.csv").write_text("trial,score,label\n" + "\n".join(rows) + "\n")
    return tmp_path


def eers(results):
    return {one.name: one.eer for one in results.systems}


def test_names_in_order_or_by_file(files):
    paths = [files / "a.csv", files / "b.csv"]
    plain = eers(evaluate_files(paths))
    assert eers(evaluate_files(paths, names=["x", "y"])) == {"x": plain["a"], "y": plain["b"]}
    assert eers(evaluate_files(paths, names={"b": "y"})) == {"a": plain["a"], "y": plain["b"]}
    assert eers(evaluate_files(paths, names={"a": "b", "b": "a"})) == {"b": plain["a"], "a": plain["b"]}
    assert eers(evaluate_files(paths[0], names="one")) == {"one": plain["a"]}


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["x"], "1 name for 2 systems"),
        (["x", "y", "z"], "3 names for 2 systems"),
        ({"c": "x"}, "there is no system 'c'. Use one of a, b"),
        ({"a": "b"}, "'b' is the name of two systems"),
        (["x", "x"], "'x' is the name of two systems"),
        (["x", ""], "printable text"),
        (["x", "\x1b[2J"], "printable text"),
        (["x", 3], "printable text"),
    ],
)
def test_names_that_fit_no_system_are_refused(files, names, words):
    with pytest.raises(InputError, match="names: ") as refused:
        evaluate_files([files / "a.csv", files / "b.csv"], names=names)
    assert words in str(refused.value)


def test_other_trials_are_those_of_the_same_systems_in_whatever_order_files_are_named(files):
    paths = [files / "a.csv", files / "b.csv"]
    how = {"names": ["x", "y"], "test_scores": paths[::-1]}
    done = train_files(paths, None, LinearFusion(), **how)
    for row in done.rows:
        assert row.dev.eer == row.eval.eer
    assert done.model.training_.systems == ("x", "y")
    with pytest.raises(InputError, match="all with the same names, or none"):
        (files / "c.csv").write_text((files / "a.csv").read_text())
        train_files(paths, None, LinearFusion(), names=["x", "y"], test_scores=[files / "c.csv", files / "a.csv"])


def test_a_model_knows_systems_by_their_files_under_other_names_too(files):
    paths = [files / "a.csv", files / "b.csv"]
    model = train_files(paths, None, LinearFusion()).model
    wanted = evaluate_files(paths, model=model).systems[0].eer
    assert evaluate_files(paths[::-1], model=model, names=["y", "x"]).systems[0].eer == wanted
    apply_files(model, paths, files / "llr.csv")
    apply_files(model, paths[::-1], files / "again.csv", names=["y", "x"])
    # The trials of both files are in one order here, and so are the outputs.
    assert (files / "llr.csv").read_text() == (files / "again.csv").read_text()


def test_pages_show_the_names(files):
    page = files / "page.html"
    results = report_files(
        [files / "a.csv", files / "b.csv"],
        output=page,
        names=["first one", "x<b>"],
        train=[files / "a.csv", files / "b.csv"],
    )
    assert list(eers(results)) == ["first one", "x<b>"]
    text = page.read_text("utf-8")
    assert "first one" in text
    assert "x<b>" not in text
    assert "x&lt;b&gt;" in text
    assert json.loads(results.to_json())["systems"][1]["name"] == "x<b>"
