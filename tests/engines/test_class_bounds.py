"""Many classes in one pass: what is known is that of memory, and bounds hold what is there."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deciban.core.resampling.units import TrialUnits
from deciban.engines.class_counting import summarize_once
from deciban.engines.class_units import WhoIsIn
from deciban.engines.threads import Threads
from deciban.evaluation import ClassFigures, class_evaluation_of
from deciban.evaluation.multiclass.class_bounds import within_class_bounds
from deciban.evaluation.multiclass.evaluate import evaluate_trials
from deciban.multiclass.tables import ScoredClasses
from support.class_trials import random_trials
from support.shards import Apart, source_of

SEEDS = st.integers(0, 2**32 - 1)


def in_one_pass(rng, loglik, label, weights, figures, memory, *, engine=None):
    classes = tuple(f"class {k}" for k in range(loglik.shape[1]))
    source = source_of(loglik, label, rng, weights=weights, classes=classes)
    who = WhoIsIn(TrialUnits((), np.zeros(0, np.uint64)), np.arange(len(classes)))
    how = {"system": 0, "figures": figures, "who": who}
    _, worst, best = summarize_once(source, engine or Threads(2), memory, lambda sums: sums, **how)
    return within_class_bounds(class_evaluation_of(worst), class_evaluation_of(best))


def drawn(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 5))
    loglik, label = random_trials(n, int(rng.integers(20, 300)) * n, seed=seed % 999)
    weights = rng.uniform(0.3, 2.0, len(label)) if rng.random() < 0.4 else None
    asked = {"p_target": [0.5, 0.05]}
    if n > 2 and rng.random() < 0.4:
        asked["p_out_of_set"] = 0.2
    return rng, np.round(loglik, rng.integers(0, 7)), label, weights, ClassFigures(**asked)


def every(found):
    """Figures by their names, as bounds and intervals know them."""
    values = {"min_cllr": found.min_cllr, "calibration_loss": found.calibration_loss, "cllr": found.cllr}
    for k, point in enumerate(found.points):
        values |= {(name, k): value for name, value in point.costs.items()}
    values |= {f"mean_{name}": value for name, value in found.mean_costs.items()}
    for target, figures in found.detectors.items():
        values |= {("detectors", target, name): value for name, value in figures.items()}
    for i, one in enumerate(found.classes):
        for j, other in enumerate(found.classes):
            if i != j:
                values["pairwise_min_cllr", one, other] = found.pairwise.min_cllr[i, j]
                values["pairwise_calibration_loss", one, other] = found.pairwise.calibration_loss[i, j]
    return values


@settings(max_examples=10)
@given(SEEDS, st.sampled_from([1, 10**6, 10**9]))
def test_bounds_hold_what_memory_finds_and_the_rest_is_known(seed, memory):
    rng, loglik, label, weights, figures = drawn(seed)
    found = in_one_pass(rng, loglik, label, weights, figures, memory)
    classes = tuple(f"class {k}" for k in range(loglik.shape[1]))
    whole = evaluate_trials(ScoredClasses.of(loglik, label, weights, classes), figures, name="system")
    made = every(found)
    for name, expected in every(whole).items():
        if name in found.bounds:
            low, high = found.bounds[name]
            assert low <= expected <= high, name
            assert np.isnan(made[name]), name
        else:
            assert made[name] == pytest.approx(expected, rel=1e-11, abs=1e-14), name
    assert set(found.bounds) <= set(made)
    np.testing.assert_array_equal(found.counts, whole.counts) if weights is None else None
    if memory == 10**9:  # every cell is one score
        assert set(found.bounds) == {"min_cllr", "calibration_loss"}


def test_more_memory_makes_bounds_narrower():
    rng, loglik, label, _, figures = drawn(1)
    widths = []
    for memory in (1, 2 * 10**6):
        found = in_one_pass(rng, loglik + rng.normal(size=loglik.shape), label, None, figures, memory)
        widths.append([np.ptp(ends) for name, ends in found.bounds.items() if name[0] == "detectors"])
    assert np.mean(widths[1] or [0.0]) < 0.2 * np.mean(widths[0])


def test_processes_find_the_same_bounds():
    rng, loglik, label, _, figures = drawn(2)
    one, other = (in_one_pass(rng, loglik, label, None, figures, 1, engine=engine) for engine in (None, Apart(2)))
    for name, ends in one.bounds.items():
        assert ends == pytest.approx(other.bounds[name], rel=1e-13), name


def test_what_is_known_within_bounds_is_no_number_in_json():
    rng, loglik, label, _, figures = drawn(4)
    found = in_one_pass(rng, loglik, label, None, figures, 1)
    plain = found.to_dict()
    assert plain["min_cllr"] is None
    assert plain["bounds"]["min_cllr"].keys() == {"low", "high"}
    held = [one for one in plain["detectors"] if "bounds" in one]
    assert held
    assert all(one[name] is None for one in held for name in one["bounds"])
