"""How sure fusions with quality are: refits with perturbed weights, and derivatives by moved parameters."""

import copy

import numpy as np
import pytest

from deciban import load_model
from deciban.errors import DecibanWarning
from deciban.fusion import QualityFusion
from deciban.fusion.quality import quality_entries
from support.resampled import all_by_all, refitted_covariance

N = 20


@pytest.fixture(scope="module")
def drawn():
    data, rng = all_by_all(n_speakers=N, seed=2), np.random.default_rng(9)
    of_segment = 20.0 + 5.0 * rng.normal(size=(2 * N, 2))
    one, other = np.triu_indices(2 * N, 1)
    return data, of_segment[one], of_segment[other], rng.normal(size=(len(one), 1))


def form(name, drawn):
    _, enroll, test, trial = drawn
    return {
        "both": (True, {"enroll_quality": enroll, "test_quality": test}),
        "apart": (False, {"enroll_quality": enroll, "test_quality": test[:, :1], "trial_quality": trial}),
        "one side": (True, {"enroll_quality": enroll}),
        "trial": (True, {"trial_quality": trial}),
    }[name]


@pytest.mark.parametrize("name", ["both", "apart", "one side", "trial"])
@pytest.mark.usefixtures("sandwich")
def test_covariance_and_intervals(name, drawn, tmp_path):
    data, (symmetric, quality) = drawn[0], form(name, drawn)
    x = np.column_stack((data.score, data.second))
    how = {"units": data.speakers, **quality}
    model = QualityFusion(symmetric=symmetric).fit(x, data.is_target, sample_weight=data.weight, **how)
    n = len(model.parameter_names)

    def refit(weights):
        one = QualityFusion(symmetric=symmetric).fit(x, data.is_target, sample_weight=weights, **quality)
        return [row.value for row in one.parameter_rows()[:n]]

    expected = refitted_covariance(refit, data.weight, data.speakers)
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    np.testing.assert_allclose(model.parameter_covariance_ / scale, expected / scale, atol=1e-5)

    some = slice(0, 30)
    few = {side: table[some] for side, table in quality.items()}
    slopes = numeric_slopes(model, x[some], few)
    errors = np.sqrt(np.einsum("ni,ij,nj->n", slopes, model.parameter_covariance_, slopes))
    low, high = model.interval(x[some], level=0.5, **few)
    from scipy import stats

    np.testing.assert_allclose(high - low, 2.0 * stats.t.ppf(0.75, model.uncertainty_.degrees) * errors, rtol=1e-5)
    model.save(tmp_path / "model.json")
    read = load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(read.interval(x[some], level=0.5, **few), (low, high))
    assert [row.error_text for row in read.parameter_rows()] == [row.error_text for row in model.parameter_rows()]


def numeric_slopes(model, scores, quality, step=1e-5):
    """Derivatives of llrs by what `parameter_names` lists: weights, offset, entries of W, measures of trials."""
    both = model.symmetric and len(model.quality_sides_) == 2

    def moved(kind, at, h):
        one = copy.deepcopy(model)
        if kind == "offset":
            one.offset_ += h
        else:
            getattr(one, kind)[at] += h
            if kind == "quality_weights_" and both and at[0] != at[1]:
                one.quality_weights_[at[::-1]] += h
        return one.transform(scores, **quality)

    places = [("weights_", k) for k in range(model.n_systems_)] + [("offset", 0)]
    places += [("quality_weights_", at) for at in quality_entries(model)]
    places += [("trial_quality_weights_", k) for k in range(len(model.trial_quality_weights_))]
    return np.column_stack([(moved(*at, step) - moved(*at, -step)) / (2.0 * step) for at in places])


def test_trials_without_measures_have_the_intervals_of_scores_alone(drawn):
    data, enroll, test, _ = drawn
    x, enroll = np.column_stack((data.score, data.second)), enroll.copy()
    enroll[::4] = np.nan
    with pytest.warns(DecibanWarning, match="lack quality measures"):
        model = QualityFusion().fit(
            x, data.is_target, enroll_quality=enroll, test_quality=test, units=data.speakers, sample_weight=data.weight
        )
    with pytest.warns(DecibanWarning, match="fused by their scores alone"):
        low, high = model.interval(x, enroll_quality=enroll, test_quality=test)
    np.testing.assert_allclose((low[::4], high[::4]), model.backoff_.interval(x[::4]), rtol=1e-12)
    known = np.arange(len(x)) % 4 != 0
    of_known = model.interval(x[known], enroll_quality=enroll[known], test_quality=test[known])
    np.testing.assert_allclose((low[known], high[known]), of_known, rtol=1e-12)
