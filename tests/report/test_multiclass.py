"""The page of many classes."""

import dataclasses
import re

import numpy as np
import pytest

import deciban
from deciban import ClassResults, InputError
from deciban.calibration import MulticlassCalibrator
from deciban.report import render_classes
from support.class_files import CLASSES, trials


def evaluated(name="sys", **more):
    loglik, label = trials()
    return deciban.evaluate_classes(loglik, label, classes=CLASSES, name=name, **more)


def rows(page, table=None):
    """Texts of the cells of all table rows, by their heading; of one table if its label is given."""
    if table is not None:
        page = page[page.index(f'aria-label="{table}"') :].partition("</table>")[0]
    found = {}
    for row in re.findall(r"<tr>(.*?)</tr>", page, flags=re.DOTALL):
        cells = [
            re.sub(r"<[^>]+>", " ", cell).split() for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)
        ]
        found.setdefault(" ".join(cells[0]), [" ".join(cell) for cell in cells[1:]])
    return found


SUMMARY, COSTS, LOSSES = "Summary of all systems", "Average cost at each target prior", "Calibration loss"


def test_the_summary_says_what_was_found():
    one = evaluated()
    page = render_classes(ClassResults((one,), messages=("read  sys.csv",)))
    cells = rows(page, SUMMARY)["sys"]
    assert rows(page, SUMMARY)["system"][1] == "C_avg at 0.5"
    assert cells[:3] == ["90", f"{one.c_avg:.4f}", f"{one.points[0].min_c_avg:.4f}"]
    figures = (one.cllr, one.min_cllr, one.calibration_loss, one.information)
    assert cells[3:7] == [f"{value:.3f}" for value in figures]
    parts = (one.calibration_loss, one.calibration.offset_loss, one.calibration.scale_loss)
    assert rows(page, LOSSES)["sys"] == [f"{value:.3f}" for value in parts]
    assert COSTS not in page
    assert rows(page, "Figures of each class")["dog"][0] == "30"
    assert "Costs at target prior 0.5." in page
    assert "read  sys.csv" in page
    assert render_classes(ClassResults((one,), messages=("read  sys.csv",))) == page


@pytest.mark.usefixtures("sketches")
def test_of_several_costs_the_summary_has_the_mean():
    one = evaluated(p_target=[0.1, 0.5, 0.02])
    page = render_classes(ClassResults((one,)))
    mean = [f"{one.mean_costs[name]:.4f}" for name in ("normalized", "normalized_min")]
    assert rows(page, SUMMARY)["system"][:2] == ["segments", "normalized C_avg, mean"]
    assert rows(page, SUMMARY)["sys"][1:3] == mean
    heads = ["normalized C_avg, mean", "C_avg at 0.1", "C_avg at 0.5", "C_avg at 0.02"]
    assert rows(page, COSTS)["system"] == heads
    assert rows(page, COSTS)["sys"] == [*mean, *(f"{v:.4f}" for p in one.points for v in (p.c_avg, p.min_c_avg))]
    assert "Costs at target prior 0.1." in page


@pytest.mark.usefixtures("sketches")
def test_the_summary_is_as_wide_however_many_costs_there_are():
    few, many = (render_classes(ClassResults((evaluated(p_target=p),))) for p in ([0.5], [0.5, 0.1, 0.02]))
    assert len(rows(few, SUMMARY)["sys"]) == len(rows(many, SUMMARY)["sys"]) == 10


@pytest.mark.usefixtures("sketches")
def test_before_and_after_and_training_stand_side_by_side():
    loglik, label = trials()
    model = MulticlassCalibrator().fit(loglik, label, classes=CLASSES)
    before = ClassResults((evaluated(),))
    after = ClassResults(
        (deciban.evaluate_classes(model.transform(loglik), label, classes=CLASSES, name="sys, calibrated"),)
    )
    page = render_classes(after, before=before, train=after, train_before=before, model=model)
    assert "<h3>Training</h3>" in page
    assert rows(page)["offset of eel"] == [f"{model.offset_[2]:.3f}".replace("-", "\u2212")]
    assert (
        rows(page, f"{LOSSES}, Test")["sys, calibrated"][0] == "0.000"
    )  # nothing is left to calibrate on the same segments
    assert page.count("<img ") == 11  # of three classes: a triangle for each system, too


def test_many_classes_have_no_panels():
    rng = np.random.default_rng(0)
    loglik, label = rng.normal(size=(124, 31)), np.arange(124) % 31
    loglik[np.arange(124), label] += 2
    page = render_classes(ClassResults((deciban.evaluate_classes(loglik, label),)))
    assert page.count("<img ") == 5


@pytest.mark.usefixtures("sketches")
@pytest.mark.parametrize(("n", "beside"), [(2, True), (3, True), (4, True), (6, True), (5, False), (8, False)])
def test_letters_of_few_panels_are_not_blown_up(n, beside):
    """Pictures beside each other take half the page; alone, a narrow one would be drawn twice as large."""
    rng = np.random.default_rng(0)
    loglik, label = rng.normal(size=(10 * n, n)), np.arange(10 * n) % n
    page = render_classes(ClassResults((deciban.evaluate_classes(loglik, label),)))
    side_by_side = page[page.index('<div class="plots">') :].partition("</div>")[0]
    assert ("Detection of each class" in side_by_side) == beside
    assert page.count('alt="Detection of each class') == 1


@pytest.mark.usefixtures("sketches")
def test_a_class_out_of_set_is_no_target():
    page = render_classes(ClassResults((evaluated(p_out_of_set=0.2),)))
    assert rows(page)["eel"][2:] == [""] * 6
    assert "The class eel is out of set, with prior 0.2" in page


def test_names_are_text():
    one = dataclasses.replace(evaluated(), name="<script>", classes=("<b>", "&amp;", "eel"))
    page = render_classes(ClassResults((one,)), title="<i>")
    assert "<script>" not in page
    assert "&lt;b&gt;" in page
    assert "&amp;amp;" in page
    with pytest.raises(InputError, match="no system"):
        render_classes(ClassResults(()))


def test_infinite_costs_are_shown():
    loglik, label = trials()
    loglik[0, label[0]] = -np.inf
    page = render_classes(ClassResults((deciban.evaluate_classes(loglik, label, classes=CLASSES, name="sys"),)))
    assert rows(page, SUMMARY)["sys"][3] == "∞"
    assert "Cllr is infinite" in page
    assert "nan" not in [cell for table in (SUMMARY, LOSSES) for cell in rows(page, table)["sys"]]
