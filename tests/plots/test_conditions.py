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
    ax = plots.by_condition(results, metric="cllr")
    assert [text.get_text() for text in ax.get_yticklabels()] == ["pooled", "sex f", "sex m", "equalized"]
    first = results.conditions[0]
    shown = [first.pooled, *first.partitions[0].evaluated, first.equalized[0].evaluation]
    drawn = {tuple(line.get_xdata()) for line in ax.lines}
    for one in shown:
        interval = one.interval("cllr")
        assert {(one.cllr,), (interval.low, interval.high)} <= drawn
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]


def test_conditions_without_figures_have_no_mark():
    only = dict(FRAME, sex=np.where(np.array(FRAME["label"]) == 1, "f", FRAME["sex"]))
    ax = plots.by_condition(deciban.evaluate(only, score=["a"], by="sex"), metric="act_dcf")
    assert len(ax.get_yticks()) == 3
    assert len(ax.lines) == 1 + 2 * 2  # all trials, and those of f
    assert ax.get_xlabel() == "actDCF at p_target 0.01"


@pytest.mark.parametrize(
    ("how", "words"), [({"metric": "best"}, "'best' is not a metric"), ({"partition": 1}, "got 1; the results have 1")]
)
def test_what_is_not_there_is_refused(how, words):
    with pytest.raises(InputError, match=words):
        plots.by_condition(evaluated(), **how)


def test_results_without_conditions_are_refused():
    with pytest.raises(InputError, match="Evaluate by conditions first"):
        plots.by_condition(evaluated(by=None))


def texts_in(ax):
    return {(round(text.get_position()[1]), round(text.get_position()[0])): text.get_text() for text in ax.texts}


def test_a_map_of_one_system_has_a_column_for_each_figure():
    results = evaluated(score=["a"])
    ax = plots.condition_map(results, metrics=["eer", "cllr"])
    one = results.conditions[0]
    found = [one.pooled, *one.partitions[0].evaluated]
    for row, figures in enumerate(found):
        assert float(texts_in(ax)[row, 0]) == pytest.approx(100 * figures.eer, abs=0.06)
        assert float(texts_in(ax)[row, 1]) == pytest.approx(figures.cllr, rel=0.01)
    shares = ax.collections[0].get_array().reshape(3, 2)
    np.testing.assert_allclose(shares[:, 1], [one.cllr / max(each.cllr for each in found) for one in found])


def test_a_map_of_ten_systems_shares_one_scale():
    frame = dict(FRAME, **{f"s{k}": np.linspace(-2, 2 + k, 40) for k in range(10)})
    results = deciban.evaluate(frame, score=[f"s{k}" for k in range(10)], by="sex")
    ax = plots.condition_map(results, metrics="min_cllr")
    found = np.array([[one.min_cllr for one in (s.pooled, *s.partitions[0].evaluated)] for s in results.conditions]).T
    np.testing.assert_allclose(ax.collections[0].get_array().reshape(3, 10), found / found.max())
    assert [text.get_text() for text in ax.get_xticklabels()] == [f"s{k}" for k in range(10)]
    with pytest.raises(InputError, match="2 metrics of 10 systems"):
        plots.condition_map(results, metrics=["eer", "cllr"])


def test_letters_in_a_map_stand_out_and_what_is_lacking_is_a_dash():
    only = dict(FRAME, sex=np.where(np.array(FRAME["label"]) == 1, "f", FRAME["sex"]))
    ax = plots.condition_map(deciban.evaluate(only, score=["a"], by="sex"))
    assert all(texts_in(ax)[2, column] == "-" for column in range(5))
    inks = {text.get_color() for text in ax.texts}
    assert {"white", "0.6"} <= inks <= {"white", "black", "0.6"}


def test_infinite_figures_are_written_in_a_map():
    frame = dict(FRAME, a=np.where(np.arange(40) == 2, -np.inf, FRAME["a"]))
    ax = plots.condition_map(deciban.evaluate(frame, score=["a"], by="sex"), metrics=["cllr"])
    assert texts_in(ax)[0, 0] == "∞"
