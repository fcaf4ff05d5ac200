"""What a page says of a plan: the primary number by itself, and whether the plan was checked."""

import numpy as np
import pytest

from deciban import evaluate
from deciban.evaluation import Results, preset
from deciban.evaluation.preset_table import primary_of
from deciban.report import render


@pytest.mark.usefixtures("sketches")
def test_the_primary_number_stands_by_itself_on_a_page():
    rng = np.random.default_rng(2)
    points = [0.5, *preset("sre12").points, *preset("sre16").points[1:]]
    found = evaluate(rng.normal(3, 2, 50), rng.normal(-3, 2, 200), name="<sys>", operating_points=points)
    primaries = (primary_of(preset("sre12"), found), primary_of(preset("sre16"), found, departs="pooled <all>"))
    for one, words in zip(primaries, ("checked against its source", "not checked against its source"), strict=True):
        page = render(Results((found,), primaries=(one,)))
        plan = one.plan.name
        title = f"Plan {plan}: not its primary number" if one.departs else f"Primary number of {plan}"
        assert f">{title}</h2>" in page
        section = page.partition(f">{title}</h2>")[2].partition("</section>")[0]
        assert f"<td>{one.value:.3f}" in section
        assert f"This definition is {words}" in section
        assert "&lt;sys&gt;" in section
        assert ("These values are not the primary metric of sre16: pooled &lt;all&gt;" in section) == (
            one.departs != ""
        )
    assert "Primary number" not in render(found)


def test_primary_numbers_may_have_no_interval():
    rng, unit = np.random.default_rng(2), np.arange(60)
    units = {"tar_units": unit % 3, "non_units": unit % 20}
    points = preset("sre12").points
    one = primary_of(
        preset("sre12"), evaluate(rng.normal(3, 2, 60), rng.normal(-3, 2, 60), operating_points=points, **units)
    )
    assert one.metric.of.uncertainty is not None
    assert one.metric.interval is None
    assert one.metric.to_dict() == {"value": one.value, "interval": None}
