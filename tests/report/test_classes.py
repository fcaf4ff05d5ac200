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


def rows(page):
    """Texts of the cells of all table rows, by their heading."""
    found = {}
    for row in re.findall(r"<tr>(.*?)</tr>", page, flags=re.DOTALL):
        cells = [
            re.sub(r"<[^>]+>", " ", cell).split() for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)
        ]
        found.setdefault(" ".join(cells[0]), [" ".join(cell) for cell in cells[1:]])
    return found


def test_the_summary_says_what_was_found():
    one = evaluated(p_target=[0.5, 0.1])
    page = render_classes(ClassResults((one,), facts=("read  sys.csv",)))
    cells = rows(page)["sys"]
    figures = (one.cllr, one.min_cllr, one.calibration_loss, one.calibration.offset_loss, one.calibration.scale_loss)
    assert cells[:5] == [f"{value:.3f}" for value in figures]
    assert cells[9:13] == [f"{v:.4f}" for point in one.points for v in (point.c_avg, point.min_c_avg)]
    assert cells[-1] == "90"
    assert rows(page)["dog"][0] == "30"
    assert "read  sys.csv" in page
    assert render_classes(ClassResults((one,), facts=("read  sys.csv",))) == page


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
    assert rows(page)["sys, calibrated"][2] == "0.000"  # nothing is left to calibrate on the same segments
    assert page.count("<img ") == 10  # of three classes: a triangle for each system, too


def test_many_classes_have_no_panels():
    rng = np.random.default_rng(0)
    loglik, label = rng.normal(size=(124, 31)), np.arange(124) % 31
    loglik[np.arange(124), label] += 2
    page = render_classes(ClassResults((deciban.evaluate_classes(loglik, label),)))
    assert page.count("<img ") == 4


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
    assert rows(page)["sys"][0] == "∞"
    assert "Cllr is infinite" in page
    assert "nan" not in rows(page)["sys"]
