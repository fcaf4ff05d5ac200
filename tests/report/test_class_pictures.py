"""Pages of many classes have at most 3 MB, whatever they show, and say which pictures had no room."""

import io
import re

import numpy as np
import pytest

import deciban
from deciban import ClassResults, plots
from deciban.report import multiclass as class_pictures
from deciban.report import page as pages
from deciban.report import render_classes
from deciban.report.page import PLACE, picture, with_pictures

MOST = 3_000_000


def results(n_systems, n_classes, n=300):
    found = []
    for k in range(n_systems):
        rng = np.random.default_rng(k)
        label = np.arange(n) % n_classes
        loglik = rng.normal(size=(n, n_classes)) + 2 * np.eye(n_classes)[label]
        found.append(deciban.evaluation.evaluate_classes(loglik, label, name=f"system {k}"))
    return ClassResults(tuple(found))


@pytest.mark.usefixtures("sketches")
@pytest.mark.parametrize(("n_systems", "n_classes"), [(10, 10), (3, 10), (1, 50), (10, 3)])
def test_no_page_has_more_than_3_mb(n_systems, n_classes, monkeypatch):
    """Every picture is as large here as the largest that was seen."""
    some = results(n_systems, n_classes)

    def large(drawing, texts, side, about):
        return {**picture(drawing, texts, side, about), "source": "data:image/svg+xml;base64," + "A" * 400_000}

    monkeypatch.setattr(pages, "picture", large)
    page = render_classes(some)
    assert 2_000_000 < len(page.encode()) < MOST
    n_shown = page.count("<img ")
    lacking = re.search(r"no room for these pictures[^:]*: ([^<]*)\.</p>", page)
    n_lacking = 0 if lacking is None else sum(map(int, re.findall(r"\((\d+)\)", lacking[1])))
    assert n_shown + n_lacking == len(list(class_pictures.class_pictures(some, None)))
    assert 'alt="Reliability of posteriors' in page
    assert (n_systems > 1) == (lacking is not None)


@pytest.mark.usefixtures("pictures")
def test_a_matrix_of_many_classes_is_an_image():
    (one, *_) = class_pictures.class_pictures(results(1, 31), None)
    _, found = one.written()
    assert len(found["source"]) < 200_000
    drawn = io.BytesIO()
    plots.save(plots.confusion(results(1, 31).systems[0]), drawn, "svg")
    assert len(drawn.getvalue()) > 4 * len(found["source"])


def test_a_page_without_room_has_no_picture():
    some = class_pictures.class_pictures(results(1, 3), None)
    text = with_pictures("x" * (MOST - 10_000) + PLACE, some)
    assert "<img" not in text
    assert "Confusion (1)" in text
