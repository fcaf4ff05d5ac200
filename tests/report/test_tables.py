"""Rows of the tables."""

from deciban.evaluation import TwoClassMetrics, evaluate
from deciban.evaluation.one_system import WithInterval
from deciban.report import tables
from deciban.report import tables as words
from deciban.rules import ThresholdWeights

NAMES = ["#111111", "#222222"]


def test_summary_formats_every_figure(results):
    system = results.systems[0]
    (metrics,) = tables.summary([system])
    first, second = system.operating_points
    assert tuple(metrics.values()) == (
        f"{100 * system.eer:.2f} %",
        f"{first.min_dcf:.3f}",
        f"{first.act_dcf:.3f}",
        f"{second.min_dcf:.3f}",
        f"{second.act_dcf:.3f}",
        f"{(first.min_dcf + second.min_dcf) / 2:.3f}",
        f"{(first.act_dcf + second.act_dcf) / 2:.3f}",
        f"{system.cllr:.3f}",
        f"{system.min_cllr:.3f}",
        f"{system.cllr - system.min_cllr:.3f}",
        f"{system.auc:.4f}",
        f"{system.prbep:.1f}",
        "300",
        "3,000",
        "0",
    )


def test_systems_stand_side_by_side_as_far_as_there_is_room():
    systems = [(f"s{k}", "#111111") for k in range(12)]
    found = tables.side_by_side(systems, [{"EER": f"{k}", "Cllr": f"-{k}"} for k in range(12)])
    assert [[name for name, _ in one.systems] for one in found] == [
        ["s0", "s1", "s2", "s3", "s4"], ["s5", "s6", "s7", "s8", "s9"], ["s10", "s11"]
    ]  # fmt: skip
    assert found[2].lines == (("EER", ("10", "11")), ("Cllr", ("-10", "-11")))
    assert not found[0].has_intervals
    sure = tables.side_by_side([("s", "")], [{"EER": WithInterval("1", "0", "2")}])
    assert sure[0].has_intervals


def test_every_figure_has_its_name(results):
    names = list(tables.summary(results.systems)[0])
    assert len(names) == len(tables.metrics_of(results.systems[0], tables.points_of(results.systems)))
    assert names[3:5] == [f"{what}, {results.systems[0].operating_points[1]}" for what in ("minDCF", "actDCF")]


def test_infinite_figures(results):
    cells = list(tables.summary(results.systems)[1].values())
    assert cells[7] == "∞"
    assert cells[9] == "∞"
    assert 0 < float(cells[8]) < 1


def test_one_point_has_no_mean():
    (metrics,) = tables.summary([evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0])])
    assert tuple(metrics.values()) == (
        "16.67 %", "0.333", "1.000", "0.694", "0.333", "0.361", "0.9444", "0.5", "3", "3", "2",
    )  # fmt: skip


def test_systems_with_different_points():
    """Where a system was not evaluated there is a dash, not a number of another point."""
    systems = [evaluate([1.0], [0.0], operating_points=[0.5]), evaluate([1.0], [0.0], operating_points=[0.1, 0.5])]
    assert tables.points_of(systems) == ["p_target 0.5", "p_target 0.1"]
    first, second = (list(metrics.values()) for metrics in tables.summary(systems))
    assert first[3:5] == [tables.MISSING, tables.MISSING]
    assert tables.MISSING not in second


def test_errors_behind_the_costs(results):
    rows = tables.errors(results.systems, NAMES)
    system = results.systems[0]
    first, second = system.operating_points
    assert [row.point for row in rows] == ["p_target 0.01", "p_target 0.01, costs 10:1"] * 2
    assert [row.color for row in rows] == ["#111111", "#111111", "#222222", "#222222"]
    assert rows[0].cells == (
        "0.01",
        "4.595",
        f"{first.n_miss} of 300",
        words.percent(first.p_miss),
        f"{first.n_fa} of 3,000",
        words.percent(first.p_fa),
    )
    assert rows[1].cells[:2] == ("0.09174", "2.293")
    assert first.n_fa < 30 <= min(second.n_fa, second.n_miss)
    assert rows[0].few == "fewer than 30 false alarms"
    assert rows[1].few == ""


def test_both_kinds_of_error_may_be_few():
    (row,) = tables.errors([evaluate([1.0], [0.0])], NAMES[:1])
    assert row.few == "fewer than 30 misses and false alarms"


def test_a_rule_of_ones_own_has_rows():
    one = evaluate([1.0, 3.0, -1.0], [0.0, -2.0], operating_points=TwoClassMetrics(rule=ThresholdWeights([0.5])))
    (shown,) = tables.summary([one])
    (first, *_), found = one.requested.rule_costs, one.requested.rule_costs[0].to_dict()
    at = f"by the custom rule, prior {first.p_target:g}"
    for name in ("cost", "minimum", "calibration_loss", "information"):
        assert shown[f"{name.replace('_', ' ')} {at}"] == words.number(found[name], 4)
    assert shown[f"without scores {at}"] == words.number(found["default"], 4)
