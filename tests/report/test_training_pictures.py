"""Pages of two classes have at most 3 MB: pictures of training go first, and are named."""

import numpy as np
import pytest

import deciban
from deciban.evaluation import Results
from deciban.plots import KINDS
from deciban.report import page as pages
from deciban.report import render
from deciban.report.page import picture
from deciban.report.tables import TWO_CLASS
from support.pages import script_data

NO_ROOM = "There was no room for these pictures"


@pytest.mark.usefixtures("sketches")
def test_pictures_of_training_make_room_for_conditions(monkeypatch):
    rng = np.random.default_rng(2)
    label, speaker = np.arange(600) // 40 % 3 == 0, np.arange(600) % 40
    frame = {"label": label, "speaker": speaker, "sex": np.where(speaker % 2, "f", "m")}
    frame |= {f"s{k}": rng.normal(np.where(label, 1, -1), 1) for k in range(2)}
    results = deciban.evaluate(frame, score=[f"s{k}" for k in range(2)], by="sex", units="speaker")

    def large(drawing, texts, side, about):
        return {**picture(drawing, texts, side, about), "source": "data:image/svg+xml;base64," + "A" * 160_000}

    monkeypatch.setattr(pages, "picture", large)
    text = render(results, train=Results(results.systems))
    assert len(text.encode()) < 3_000_000
    lacking = text.partition(NO_ROOM)[2].partition("</p>")[0]
    assert 0 < lacking.count("(1)") < len(KINDS)
    for kind in KINDS:
        title = TWO_CLASS["plots"][kind][0]
        assert (f'alt="{title}, training of' in text) == (title not in lacking)
        assert f'alt="{title}, test of' in text
    assert script_data(text)["conditions"]["about"] == "Charts have fewer points than those of all trials."
