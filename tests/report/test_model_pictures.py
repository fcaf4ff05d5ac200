"""Pages show the parameters of models as pictures, and what systems are worth, of two classes and of many alike."""

import re

import numpy as np
import pytest

from deciban.analysis.fusion import worth_of_systems
from deciban.calibration import (
    DetectionAffineTransformation,
    DetectionPavTransformation,
    MulticlassCalibrator,
    MulticlassShiftCalibrator,
    PavCalibrator,
)
from deciban.fusion import LinearFusion, MulticlassFusion
from deciban.report import page as model_pictures
from deciban.report.files import ReportRequest, write_report
from deciban.report.page import parameter_pictures, worth_pictures
from deciban.tables.writers import MINUS
from deciban.workflows.options import Options
from deciban.workflows.train import train_files
from support.both_kinds import MADE, N
from support.class_files import CLASSES

pytestmark = pytest.mark.usefixtures("sketches")
UNITS = np.arange(N) // 3
WEIGHS, SCALE, ADDED = ("Weights of the systems", "Scale of all log-likelihoods", "Offset of each class")


@pytest.fixture(params=MADE)
def both(request, tmp_path):
    """Files of two classes, then of many."""
    return MADE[request.param](tmp_path)


def titles(found):
    return [one["title"] for one in found]


def test_every_model_has_the_pictures_of_its_parameters(both):
    fusion = both.fusion().fit(both.stacked(), both.truth, units=UNITS)
    assert titles(parameter_pictures(fusion, 0.9)) == [WEIGHS] + [ADDED] * (both.name == "classes")
    calibrator = both.calibrator().fit(both.values[0], both.truth, units=UNITS)
    assert titles(parameter_pictures(calibrator, None)) == [SCALE, ADDED] * (both.name == "classes")


def test_where_each_class_has_a_map_of_its_own_it_is_drawn(monkeypatch):
    label = np.arange(N) % 3
    loglik = np.random.default_rng(0).normal(size=(N, 3)) + np.eye(3)[label]
    named, plain = (DetectionAffineTransformation().fit(loglik, label, classes=some) for some in (CLASSES, None))
    for one in (named, plain, DetectionPavTransformation().fit(loglik, label)):
        assert titles(parameter_pictures(one, None, CLASSES)) == ["Calibration map of each class"]
    names = [(what, whom) for what, whom, _ in named.parameter_numbers()]
    assert names == [(what, whom) for what in ("scale", "offset") for whom in CLASSES]
    monkeypatch.setattr(model_pictures, "_MOST_LINES", 2)
    for one in (named, plain):
        assert titles(parameter_pictures(one, None)) == ["Scale of each class", "Offset of each class"]


def test_there_is_no_picture_of_what_is_known_without_it(monkeypatch):
    rng, label = np.random.default_rng(0), np.arange(N) % 3
    loglik = rng.normal(size=(N, 3)) + np.eye(3)[label]
    fit = {"loglik": loglik, "label": label}
    assert titles(parameter_pictures(MulticlassCalibrator().fit(**fit), None)) == [ADDED]
    assert titles(parameter_pictures(MulticlassShiftCalibrator().fit(**fit, units=UNITS), None)) == [ADDED]
    plain = MulticlassFusion(offsets=False).fit(loglik[:, None], label)
    assert titles(parameter_pictures(plain, None)) == [WEIGHS]
    assert parameter_pictures(PavCalibrator().fit(loglik[:, 0], label == 0), None) == []
    monkeypatch.setattr(model_pictures, "_MOST_ROWS", 2)
    assert parameter_pictures(MulticlassCalibrator().fit(**fit), None) == []
    three = rng.normal(size=(N, 3)) + (label == 0)[:, None]
    assert parameter_pictures(LinearFusion().fit(three, label == 0), None) == []


def test_what_systems_are_worth_is_drawn_where_one_was_left_out(both):
    fusion = train_files(both.paths, both.key, both.fusion()).model
    files, page = {"train": both.paths, "train_key": both.key}, both.folder / "page.html"
    shown = write_report(ReportRequest(both.paths, both.key, page, model=fusion, **files), Options())
    found = shown.metrics
    assert [one.name for one in found.without] == ["b", "a"]
    losses = worth_of_systems(found.names, found.whole, found.without)
    assert titles(worth_pictures(losses, both.name, 0.9)) == ["Contribution of each system"]
    assert worth_pictures([], both.name, None) == []
    table = page.read_text("utf-8").partition('aria-label="Contribution of each system"')[2]
    cell = re.search(r'<th scope="row">a</th>\n<td>([^<]+)<', table)[1]
    assert float(cell.replace(MINUS, "-")) == pytest.approx(losses[0].dev.value, abs=6e-5)
