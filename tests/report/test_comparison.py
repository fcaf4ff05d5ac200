"""Training and test, before and after, side by side."""

import math
import re

import numpy as np
import pytest

from deciban.calibration import AffineCalibrator, BoundCalibrator, Chain, PavCalibrator
from deciban.errors import InputError
from deciban.evaluation import Results, evaluate
from deciban.report import page as page_module
from deciban.report import render
from deciban.report import tables as words
from deciban.report.page import record_of
from deciban.report.tables import compare
from deciban.tables.writers import MISSING
from support.pages import script_data

from .test_page import Reader

POINTS = [0.01, 0.1]
OTHERS = ("before calibration", "training trials", "training trials, before calibration")


def drawn(seed, shift=0.0):
    rng = np.random.default_rng(seed)
    return 2 * rng.normal(3 - shift, 1, 200), 2 * rng.gumbel(-0.5, 0.7, 900)


def results(tar, non, *names):
    systems = [evaluate(tar + 0.1 * i, non, name=name, operating_points=POINTS) for i, name in enumerate(names)]
    return Results(tuple(systems), messages=(f"read  {names[0]}.txt",))


TRAIN, TEST = drawn(1), drawn(2, 0.4)
MODEL = AffineCalibrator(p_target=0.1, alpha=2).fit(np.concatenate(TRAIN), np.arange(1100) < 200)
SETS = {
    "results": results(*(MODEL.transform(part) for part in TEST), "eval"),
    "before": results(*TEST, "eval"),
    "train": results(*(MODEL.transform(part) for part in TRAIN), "dev"),
    "train_before": results(*TRAIN, "dev"),
}


def comparison(**sets):
    return compare(SETS["results"], **{"before": None, "train": None, "train_before": None, **sets})


def lines(found):
    ((_, rows),) = found.blocks(["#111111"])
    return {row.name: row.cells for row in rows}


def test_columns_of_each_combination():
    train, before, train_before = (SETS[name] for name in ("train", "before", "train_before"))
    assert comparison() is None
    with pytest.raises(InputError, match="train_before: needs train"):
        comparison(train_before=train_before)
    assert comparison(before=before).columns == ("before calibration", "after calibration")
    assert comparison(train=train).columns == ("training", "test")
    assert comparison(train=train, before=before).columns == ("training", "test, before", "test")
    every = comparison(train=train, before=before, train_before=train_before)
    assert every.columns == ("training, before", "training", "test, before", "test")
    assert (every.difference, every.base) == ("test \N{MINUS SIGN} training", 1)


def test_cells_are_the_figures_and_differences_theirs():
    found = lines(comparison(train=SETS["train"], before=SETS["before"], train_before=SETS["train_before"]))
    (test,), (train,) = SETS["results"].systems, SETS["train"].systems
    order = [SETS[name].systems[0] for name in ("train_before", "train", "before", "results")]
    assert found["EER (ROCCH)"][:-1] == tuple(words.percent(system.eer) for system in order)
    assert found["Cllr"][:-1] == tuple(words.number(system.cllr) for system in order)
    assert found["actDCF, p_target 0.01"][:-1] == tuple(words.number(s.operating_points[0].act_dcf) for s in order)
    assert found["minDCF, mean over points"][:-1] == tuple(words.number(s.mean_min_dcf) for s in order)
    change = 100 * (test.eer - train.eer)
    assert change > 0
    assert found["EER (ROCCH)"][-1] == f"+{change:.2f} pp"
    assert found["AUC"][-1] == f"\N{MINUS SIGN}{train.auc - test.auc:.4f}"
    assert found["targets"][-1] == ""


def test_nothing_changes_by_calibration_but_calibration():
    found = lines(comparison(before=SETS["before"]))
    for metric in ("minDCF, p_target 0.1", "min Cllr"):
        assert found[metric][-1] == "0.000"
    assert found["EER (ROCCH)"][-1] == "0.00 pp"
    assert found["Cllr"][-1].startswith("\N{MINUS SIGN}")


def test_infinite_figures_and_missing_points():
    bad = Results((evaluate([-np.inf, 1.0], [0.0], name="x", operating_points=[0.5]),))
    found = lines(compare(bad, before=bad, train=None, train_before=None))
    assert found["Cllr"][:-1] == ("∞", "∞")
    assert found["Cllr"][-1] == MISSING
    other = lines(comparison(train=bad))
    assert other["actDCF, p_target 0.01"][0] == MISSING
    assert other["actDCF, p_target 0.01"][-1] == ""
    assert other["Cllr"][-1] == "\N{MINUS SIGN}∞"


def test_systems_meet_by_name_else_as_they_stand():
    test = results(*TEST, "a", "b")
    for train in (results(*TRAIN, "b", "a"), results(*TRAIN, "c", "d")):
        found = compare(test, before=None, train=train, train_before=None)
        names = [system.name for system in found.sets[0]]
        assert names == (["a", "b"] if train.systems[0].name == "b" else ["c", "d"])
    with pytest.raises(InputError, match="training: 1 system, but 2 to compare them with"):
        compare(test, before=None, train=SETS["train"], train_before=None)
    with pytest.raises(InputError, match="test, before: 2 systems, but 1"):
        render(SETS["results"], train=SETS["train"], before=test)


@pytest.fixture(scope="module")
def page():
    return render(**SETS, model=MODEL)


def test_the_page_shows_both_sets_and_the_model(page):
    reader = Reader(page)
    assert len(reader.all("img")) == 3  # maps of the model on both sets, and its objective
    rows = script_data(page)["conditions"]["rows"]
    assert [row["name"] for row in rows] == list(OTHERS)
    for row, name in zip(rows, ("before", "train", "train_before"), strict=True):
        (one,) = SETS[name].systems
        assert row["figures"]["eer"] == [one.eer]
        (known,) = script_data(page)["conditions"]["sets"][row["set"]]["systems"]
        assert known["act_dcf"] == pytest.approx(one.at_priors.act_dcf, rel=1e-8)
    for text in ("read dev.txt", "read eval.txt", "Training and test", "test \N{MINUS SIGN} training", "converged in"):
        assert text in reader.text
    assert f"scale {MODEL.scale_:.6g}, offset {MODEL.offset_:.6g}".replace("-", "\N{MINUS SIGN}") in reader.text
    assert MODEL.training_.fingerprint in reader.text
    assert reader.text.count(words.TWO_CLASS["plots"]["det"][1]) == 1
    assert len(page) < 3_000_000


def test_a_page_without_them_is_as_ever(page):
    plain = render(SETS["results"])
    assert "Training and test" not in plain
    assert "<h2>Model</h2>" not in plain
    assert Reader(plain).all("img") == []
    assert render(**SETS, model=MODEL) == page


def test_before_and_after_alone(monkeypatch):
    asked = []
    metric = {"title": "t", "caption": "c", "alt": "a", "source": "data:,"}
    monkeypatch.setattr(page_module, "picture", lambda drawing, *_: asked.append(drawing) or metric)
    text = Reader(render(SETS["results"], before=SETS["before"], model=MODEL)).text
    assert "Before and after calibration" in text
    assert "after \N{MINUS SIGN} before" in text
    assert len(asked) == 2  # the map of the model, and its objective


@pytest.mark.usefixtures("sketches")
def test_a_chain_is_drawn_with_the_objective_of_its_step():
    chain = Chain(AffineCalibrator(p_target=0.1), BoundCalibrator(low=-2.0, high=2.0))
    chain.fit(np.concatenate(TRAIN), np.arange(1100) < 200)
    assert words.TWO_CLASS["omega"][0] in Reader(render(**SETS, model=chain)).text


def record_text(affine):
    numbers = f"scale {affine.scale_:.6g}, offset {affine.offset_:.6g}".replace("-", "\N{MINUS SIGN}")
    return f"affine: p_target 0.5, alpha 1, beta 1, ridge 0, {numbers}"


def test_records_of_models():
    affine = dict(record_of(MODEL))
    assert affine["Kind"] == "affine"
    assert affine["Settings"] == "p_target 0.1, alpha 2, beta 1, ridge 0"
    assert affine["Trained on"] == "200 target · 900 non-target"
    assert re.fullmatch(r"0\.\d+", affine["Objective, divided by its value at llr 0"])
    scores, truth = np.concatenate(TRAIN), np.arange(1100) < 200
    steps = PavCalibrator().fit(scores, truth)
    assert re.search(r"llr \(\d+ values from \N{MINUS SIGN}inf to (inf|[\d.]+)\)", dict(record_of(steps))["Parameters"])
    chain = Chain(AffineCalibrator(), BoundCalibrator(low=-2.0, high=2.0)).fit(scores, truth)
    rows = dict(record_of(chain))
    assert rows["Kind"] == "chain"
    assert rows["Step 1"] == record_text(chain.steps[0])
    assert rows["Step 2"] == "bound: low \N{MINUS SIGN}2, high 2"
    assert "Parameters" not in rows
    untold = AffineCalibrator()
    untold.set_parameters({"scale": 1.0, "offset": math.pi})
    assert record_of(untold)[-1] == ("Parameters", "scale 1, offset 3.14159")


@pytest.mark.usefixtures("sketches")
def test_the_summary_shows_systems_before_and_after():
    found = render(SETS["results"], before=SETS["before"], model=MODEL)
    summary = found[found.index("Summary of all systems") :].partition("</table>")[0]
    for results in (SETS["before"], SETS["results"]):
        for system in results.systems:
            assert f"<td>{words.number(system.cllr)}</td>" in summary
    assert summary.count('<th scope="col"><span') == len(SETS["before"].systems) + len(SETS["results"].systems)
