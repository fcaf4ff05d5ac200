"""The page of many classes."""

import dataclasses
import re

import numpy as np
import pytest

import deciban
from deciban import ClassResults, InputError
from deciban.calibration import MulticlassCalibrator
from deciban.report import render_classes
from deciban.report.cards import CLASS_CHARTS
from deciban.tables.writers import sure
from support.class_files import CLASSES, trials


def evaluated(name="sys", **more):
    loglik, label = trials()
    return deciban.evaluation.evaluate_classes(loglik, label, classes=CLASSES, name=name, **more)


def rows(page, table=None):
    """Texts of the cells of all table rows, by their heading; of one table if its label is given."""
    if table is not None:
        page = page[page.index(f'aria-label="{table}') :].partition("</table>")[0]
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
    assert rows(page, SUMMARY) == {
        "metric": ["sys"],
        "segments": ["90"],
        "C_avg at 0.5": [f"{one.c_avg:.4f}"],
        "C_avg at 0.5, minimum": [f"{one.points[0].min_c_avg:.4f}"],
        "Cllr": [f"{one.cllr:.3f}"],
        "min Cllr": [f"{one.min_cllr:.3f}"],
        "calibration loss": [f"{one.calibration_loss:.3f}"],
        "information": [f"{one.information:.3f}"],
        "error rate": [f"{100 * one.error_rate:.2f} %"],
        "Brier": [f"{one.brier:.3f}"],
        "cross-entropy": [f"{one.cross_entropy:.3f} of {one.prior_entropy:.3f}"],
    }
    parts = (one.calibration_loss, one.calibration.offset_loss, one.calibration.scale_loss)
    assert rows(page, LOSSES)["sys"] == [f"{value:.3f}" for value in parts]
    assert COSTS not in page
    assert rows(page, "Metrics of each class")["dog"][0] == "30"
    assert "Costs at target prior 0.5." in page
    assert "read  sys.csv" in page
    assert render_classes(ClassResults((one,), messages=("read  sys.csv",))) == page


@pytest.mark.usefixtures("sketches")
def test_of_several_costs_the_summary_has_the_mean():
    one = evaluated(p_target=[0.1, 0.5, 0.02])
    page = render_classes(ClassResults((one,)))
    mean = {
        "normalized C_avg, mean": [f"{one.mean_costs['normalized']:.4f}"],
        "normalized C_avg, mean, minimum": [f"{one.mean_costs['normalized_min']:.4f}"],
    }
    assert mean.items() <= rows(page, SUMMARY).items()
    costs = {
        f"C_avg at {p.p_target:g}{words}": [f"{value:.4f}"]
        for p in one.points
        for words, value in (("", p.c_avg), (", minimum", p.min_c_avg))
    }
    assert rows(page, COSTS) == {"metric": ["sys"], **mean, **costs}
    assert "Costs at target prior 0.1." in page


@pytest.mark.usefixtures("sketches")
def test_the_summary_is_no_wider_than_five_systems():
    systems = tuple(evaluated(name=f"sys{k}", p_target=[0.5, 0.1, 0.02]) for k in range(7))
    page = render_classes(ClassResults(systems))
    assert rows(page, SUMMARY)["metric"] == [f"sys{k}" for k in range(5)]
    assert rows(page, f"{SUMMARY}, continued")["metric"] == ["sys5", "sys6"]
    assert rows(page, f"{COSTS}, continued")["C_avg at 0.1"] == [f"{systems[5].points[1].c_avg:.4f}"] * 2


@pytest.mark.usefixtures("sketches")
def test_figures_have_their_intervals_on_the_page():
    loglik, label = trials()
    one = deciban.evaluation.evaluate_classes(loglik, label, classes=CLASSES, name="sys", units=np.arange(90) // 2)
    page = render_classes(ClassResults((one,)))
    for name, (cell,) in rows(page, SUMMARY).items():
        assert cell.endswith("]") == (name not in {"metric", "segments"})
    assert rows(page, SUMMARY)["Cllr"] == [sure(f"{one.cllr:.3f}", one, "cllr")]
    picked = "intervals are simultaneous over all subsets"
    assert picked in page
    assert picked not in render_classes(ClassResults((evaluated(),)))
    for true, cells in list(rows(page, "Most frequent confusions").items())[1:]:
        taken, n, share = cells[0], cells[1], cells[2]
        found = one.interval(("confusion", true, taken))
        assert float(share.split()[0]) == pytest.approx(100 * float(n) / 30, abs=0.005)
        low, high = map(float, share.partition("[")[2].rstrip("]").split(", "))
        assert (low, high) == pytest.approx((100 * found.low, 100 * found.high), abs=3 * (found.high - found.low))


@pytest.mark.usefixtures("sketches")
def test_before_and_after_and_training_stand_side_by_side():
    loglik, label = trials()
    model = MulticlassCalibrator().fit(loglik, label, classes=CLASSES)
    before = ClassResults((evaluated(),))
    after = ClassResults(
        (deciban.evaluation.evaluate_classes(model.transform(loglik), label, classes=CLASSES, name="sys (calibrated)"),)
    )
    page = render_classes(after, before=before, train=after, train_before=before, model=model)
    assert "<h3>Training</h3>" in page
    assert rows(page)["offset of eel"] == [f"{model.offset_[2]:.3f}".replace("-", "\u2212")]
    assert (
        rows(page, f"{LOSSES}, Test")["sys (calibrated)"][0] == "0.000"
    )  # nothing is left to calibrate on the same segments
    assert page.count("<img ") == 1  # the offsets of the model


@pytest.mark.parametrize(("n", "lacking"), [(2, []), (31, ["subset_c_avg"])])
def test_every_chart_is_there_once(n, lacking):
    rng = np.random.default_rng(0)
    loglik, label = rng.normal(size=(4 * n, n)), np.arange(4 * n) % n
    loglik[np.arange(4 * n), label] += 2
    page = render_classes(ClassResults((deciban.evaluation.evaluate_classes(loglik, label, subsets=n < 10),)))
    assert "<img " not in page
    shown = re.findall(r'data-chart="([^"]*)"', page)
    matrix = ["decisions" if n == 2 else "confusion"]
    assert shown == matrix + [name for name in CLASS_CHARTS if name not in ("confusion", *lacking)]


@pytest.mark.usefixtures("sketches")
def test_a_class_out_of_set_is_no_target():
    page = render_classes(ClassResults((evaluated(p_out_of_set=0.2),)))
    assert rows(page)["eel"][2:] == [""] * 7
    assert "The class eel is out of set, with prior 0.2" in page


def test_names_are_text():
    one = dataclasses.replace(evaluated(), name="<script>harm", classes=("<b>", "&amp;", "eel"))
    page = render_classes(ClassResults((one,)), title="<i>")
    assert "<script>harm" not in page
    assert "&lt;b&gt;" in page
    assert "&amp;amp;" in page
    with pytest.raises(InputError, match="no system"):
        render_classes(ClassResults(()))


def test_infinite_costs_are_shown():
    loglik, label = trials()
    loglik[0, label[0]] = -np.inf
    page = render_classes(
        ClassResults((deciban.evaluation.evaluate_classes(loglik, label, classes=CLASSES, name="sys"),))
    )
    assert rows(page, SUMMARY)["Cllr"] == ["∞"]
    assert "Cllr is infinite" in page
    assert "nan" not in [cell for table in (SUMMARY, LOSSES) for row in rows(page, table).values() for cell in row]
