"""The plot by condition shows the numbers of results, and refuses results that have none."""

import numpy as np
import pytest

import deciban
from deciban import InputError, plots

FRAME = {
    "a": np.linspace(-2, 2, 40),
    "b": np.linspace(-1, 3, 40),
    "label": [0, 0, 1, 0, 1] * 8,
    "sex": ["f", "m"] * 20,
    "speaker": np.arange(40) // 2,
}


def evaluated(**options):
    return deciban.evaluate(FRAME, **{"score": ["a", "b"], "by": "sex", "units": "speaker", **options})


def test_each_row_is_a_figure_with_its_interval():
    results = evaluated(equalize="sex")
    ax = plots.by_condition(results, figure="cllr")
    assert [text.get_text() for text in ax.get_yticklabels()] == ["pooled", "sex f", "sex m", "equalized"]
    first = results.conditions[0]
    shown = [first.pooled, *first.partitions[0].evaluated, first.equalized[0].found]
    drawn = {tuple(line.get_xdata()) for line in ax.lines}
    for one in shown:
        interval = one.interval("cllr")
        assert {(one.cllr,), (interval.low, interval.high)} <= drawn
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]


def test_conditions_without_figures_have_no_mark():
    only = dict(FRAME, sex=np.where(np.array(FRAME["label"]) == 1, "f", FRAME["sex"]))
    ax = plots.by_condition(deciban.evaluate(only, score=["a"], by="sex"), figure="act_dcf")
    assert len(ax.get_yticks()) == 3
    assert len(ax.lines) == 1 + 2 * 2  # all trials, and those of f
    assert ax.get_xlabel() == "actDCF at p_target 0.01"


@pytest.mark.parametrize(
    ("how", "words"), [({"figure": "best"}, "'best' is no figure"), ({"partition": 1}, "got 1; the results have 1")]
)
def test_what_is_not_there_is_refused(how, words):
    with pytest.raises(InputError, match=words):
        plots.by_condition(evaluated(), **how)


def test_results_without_conditions_are_refused():
    with pytest.raises(InputError, match="Evaluate by conditions first"):
        plots.by_condition(evaluated(by=None))
