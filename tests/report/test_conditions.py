"""The section of a page by condition: the numbers of the results, conditions without metrics, one plot for many."""

import numpy as np
import pytest

import deciban
from deciban.report import render
from deciban.report.cards import sections_of

RNG = np.random.default_rng(0)
LABEL = np.arange(300) % 3 == 0
FRAME = {
    "score": RNG.normal(np.where(LABEL, 2.0, -2.0)),
    "label": LABEL,
    "channel": [f"<{k % 10}>" for k in range(300)],
    "gender": np.where(np.arange(300) < 9, "x", "f"),
    "speaker": np.arange(300) // 5,
}


@pytest.mark.usefixtures("sketches")
def test_a_page_has_a_table_and_is_not_many_times_as_long():
    how = {"score": ["score"], "units": "speaker"}
    results = deciban.evaluate(FRAME, by=["channel", "gender"], equalize="channel", **how)
    text, plain = render(results), render(deciban.evaluate(FRAME, **how))
    assert "By channel" in text
    assert "&lt;3&gt;" in text
    assert len(text) < 4 * len(plain)
    first = results.conditions[0].partitions[0].evaluated[0]
    assert f"{100 * first.eer:.2f} %" in text


def test_rows_of_tables():
    found = deciban.evaluate(dict(FRAME, label=LABEL & (FRAME["gender"] == "f")), score=["score"], by="gender")
    (section,) = sections_of(found)
    (table,) = section.tables
    assert [row[:3] for row in table.rows] == [("pooled", "97", "203"), ("f", "97", "194")]
    assert "Gender x is left out of the table: no targets (9 non-targets)." in table.sentences


@pytest.mark.usefixtures("sketches")
def test_many_classes_have_sections_too():
    rng = np.random.default_rng(1)
    label = np.arange(120) % 3
    loglik = rng.normal(size=(120, 3)) + 2 * np.eye(3)[label]
    frame = {name: loglik[:, k] for k, name in enumerate("xyz")} | {"class": np.array(list("xyz"))[label]}
    frame["source"] = ["tel"] * 60 + ["tv"] * 60
    systems = {"one": list("xyz"), "two": list("xyz")}
    found = deciban.evaluate_classes(frame, score=systems, classes=list("xyz"), by="source", equalize="source")
    text = render(found)
    assert text.count("By source") == 4  # a heading, its link, and the label of both tables
    assert "equalized" in text
