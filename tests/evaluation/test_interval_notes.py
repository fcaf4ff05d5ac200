"""Notes on intervals that are refused, or may be too narrow."""

import numpy as np
import pytest

from deciban.core.resampling.clusters import ClusterDesign
from deciban.evaluation import TwoClassMetrics, evaluate
from deciban.evaluation.uncertainty import LimitedRate, notes_on_intervals


def sizes(of_units, n_units=50):
    totals = np.resize(np.array(of_units, np.float64), n_units)
    return ClusterDesign.of_units((totals, totals), (totals.sum(), totals.sum()))


@pytest.mark.parametrize(
    ("auc", "eer", "rates", "of_units", "words"),
    [
        (
            0.999,
            0.005,
            (0.005, 0.005),
            [4.0],
            "Only 1 miss and 1 false alarm at the corner of the ROC hull nearest to the EER",
        ),
        (
            0.999,
            0.005,
            (0.0, 0.005),
            [4.0],
            "No misses and 1 false alarm at the corner of the ROC hull nearest to the EER",
        ),
        (0.99, 0.04, (0.005, 0.04), [4.0], ""),
        (0.999, 0.02, (0.02, 0.02), [10.0], ""),
        (1.0, 0.0, (0.0, 0.0), [4.0], "perfectly separated"),
        (0.9, 0.2, (0.2, 0.2), [1.0, 1.0, 1.0, 1.0, 40.0], "are worth only"),
    ],
)
def test_notes_stand_where_simulations_show_a_failure(auc, eer, rates, of_units, words):
    notes = notes_on_intervals(auc, eer, rates, sizes(of_units), "speaker", ())
    assert len(notes) == bool(words)
    assert not words or words in notes[0]


def test_a_limit_that_allows_few_errors_has_a_note():
    enough, few = LimitedRate("fmr", 0.01, 30.0), LimitedRate("fnmr", 0.1, 9.9)
    (note,) = notes_on_intervals(0.9, 0.1, (0.1, 0.1), sizes([10.0]), "speaker", (enough, few))
    assert note.startswith(
        "No confidence interval for FMR at FNMR 10 %: the false non-matches at this limit count as 9.9 independent ones"
    )


def test_limits_of_the_same_kind_share_a_note():
    limited = [LimitedRate("fmr", limit, worth) for limit, worth in ((0.01, 22.5), (1e-3, 8.1), (1e-4, 1.3))]
    notes = notes_on_intervals(0.9, 0.1, (0.1, 0.1), sizes([10.0]), "speaker", limited)
    assert [note.partition(":")[0] for note in notes] == [
        "The interval of FNMR at FMR 1 % may be too narrow",
        "No confidence interval for FNMR at FMR 0.1, 0.01 %",
    ]
    assert "at these limits count as 8.1 and 1.3 independent ones; an interval needs at least 10" in notes[1]


def test_separated_classes_have_no_intervals_of_mean_costs():
    rng, units = np.random.default_rng(1), np.arange(40)
    asked = TwoClassMetrics([0.5], posteriors_at=0.2)
    found = evaluate(
        rng.normal(8, 1, 40), rng.normal(-8, 1, 40), operating_points=asked, tar_units=units, non_units=units
    )
    names = {one if isinstance(one, str) else one[0] for one in found.uncertainty.estimates}
    assert not names & {"cllr", "information", "log_loss", "brier", "calibration_loss"}
    assert names >= {"eer", "auc", "min_cllr"}
    assert any("perfectly separated" in note for note in found.all_notes)


def test_a_limited_rate_has_an_interval_if_the_limit_allows_enough_errors():
    rng = np.random.default_rng(1)
    asked = TwoClassMetrics([0.5], fnmr_at=[0.1, 0.001])
    tar, non = rng.normal(1, 1, 400), rng.normal(-1, 1, 1000)
    units = {"tar_units": np.arange(400), "non_units": 400 + np.arange(1000)}
    found = evaluate(tar, non, operating_points=asked, **units)
    assert ("rates_at", 0) in found.uncertainty.estimates
    assert ("rates_at", 1) not in found.uncertainty.estimates
    assert found.requested.rates_at[1].rate > 0.0
    assert any("FNMR at FMR 0.1 %" in note for note in found.all_notes)


def test_a_limit_that_allows_few_errors_has_an_interval_and_a_warning():
    """In simulations such intervals held 87 to 92 % (docs/coverage.md)."""
    rng = np.random.default_rng(1)
    tar, non = rng.normal(1, 1, 400), rng.normal(-1, 1, 2000)
    units = {"tar_units": np.arange(400), "non_units": 400 + np.arange(2000)}
    found = evaluate(tar, non, operating_points=TwoClassMetrics([0.5], fnmr_at=[0.01, 0.1]), **units)
    assert {("rates_at", 0), ("rates_at", 1)} <= set(found.uncertainty.estimates)
    (note,) = [one for one in found.all_notes if "FNMR at FMR" in one]
    assert note.startswith(
        "The interval of FNMR at FMR 1 % may be too narrow: the false matches at this limit count as 20 independent"
    )


@pytest.mark.parametrize("order", [[1, 10, 100, 1000], [1000, 1, 100, 10]])
def test_rarer_misleading_evidence_has_no_higher_limit(order):
    """Trials with an LR beyond 1000 are among those beyond 100; alone, no error of 40 units has a limit of 9 %."""
    draw, units = np.random.default_rng(1), np.arange(4800) % 40
    metrics = TwoClassMetrics([0.01], factors=order)
    how = {"tar_units": units[:120], "non_units": units[120:], "operating_points": metrics}
    found = evaluate(draw.normal(3, 2, 120), draw.normal(-3, 2, 4680), **how)
    for name in ("misleading_tar", "misleading_non"):
        limits = [found.interval((name, order.index(factor))).high for factor in (1, 10, 100, 1000)]
        assert limits == sorted(limits, reverse=True)
