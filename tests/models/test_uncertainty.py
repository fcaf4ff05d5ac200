"""Intervals of llrs: the delta method, the jackknife, what stands in model files, what is refused."""

import copy
import json

import numpy as np
import pytest
from scipy import stats

from deciban import load_model
from deciban.calibration import (
    AffineCalibrator,
    BetaCalibrator,
    BoundCalibrator,
    Chain,
    ElubCalibrator,
    GaussianCalibrator,
    PavCalibrator,
)
from deciban.core.resampling.unit_counts import groups_of_units
from deciban.core.resampling.units import TrialUnits
from deciban.errors import DecibanWarning, FormatError, InputError
from deciban.fusion import SubsetFusion
from deciban.models.model import JackknifeMaps
from deciban.models.sources import SourceTrials
from deciban.trials.sources import Batch, in_memory
from support.resampled import all_by_all

PARAMETRIC = [
    AffineCalibrator,
    GaussianCalibrator,
    lambda: GaussianCalibrator(shared_variance=False),
    lambda: BetaCalibrator(scores="log_odds"),
]
MAPS = [
    PavCalibrator,
    lambda: PavCalibrator(smoothing=1.0, interpolation="step"),
    ElubCalibrator,
    lambda: Chain(AffineCalibrator(), ElubCalibrator()),
    lambda: Chain(PavCalibrator(), BoundCalibrator(low=-3.0, high=3.0)),
]


@pytest.fixture(scope="module")
def drawn():
    return all_by_all(n_speakers=30, seed=1)


def numeric_slopes(model, scores, step=1e-6):
    """Derivatives of llrs by the parameters, each moved a little."""
    columns = []
    for name in model.parameter_names:
        ends = []
        for h in (step, -step):
            moved = copy.deepcopy(model)
            setattr(moved, f"{name}_", getattr(model, f"{name}_") + h)
            ends.append(moved.transform(scores))
        columns.append((ends[0] - ends[1]) / (2.0 * step))
    return np.column_stack(columns)


@pytest.mark.filterwarnings("ignore:GaussianCalibrator. the map turns")
@pytest.mark.parametrize("make", PARAMETRIC)
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_intervals_are_those_of_the_delta_method(make, level, drawn):
    model = make().fit(drawn.score, drawn.is_target, units=drawn.speakers)
    scores = np.linspace(-4.0, 6.0, 7)
    low, high = model.interval(scores, level=level)
    slopes = numeric_slopes(model, scores)
    errors = np.sqrt(np.diag(slopes @ model.parameter_covariance_ @ slopes.T))
    known, llr = model.uncertainty_, model.transform(scores)
    assert 5.0 < known.degrees <= 29.0
    reach, middle = stats.t.ppf(0.5 + level / 2.0, known.degrees) * errors, llr - slopes @ known.bias
    np.testing.assert_allclose(low, np.minimum(middle - reach, llr), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(high, np.maximum(middle + reach, llr), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("make", MAPS)
def test_intervals_of_other_maps_are_those_of_a_jackknife_by_hand(make, drawn):
    model = make().fit(drawn.score, drawn.is_target, units=drawn.speakers)
    units = TrialUnits.of(drawn.speakers)
    scores, groups = np.linspace(-2.0, 3.0, 11), groups_of_units(units.keys, 20)
    each = []
    for group in range(20):
        left = ~(groups[units.codes[0]] == group) & ~(groups[units.codes[1]] == group)
        each.append(make().fit(drawn.score[left], drawn.is_target[left]).transform(scores))
    llr, each = model.transform(scores), np.array(each)
    inside = np.isfinite(llr) & np.isfinite(each).all(axis=0)
    assert inside.sum() > 5
    errors = np.sqrt(19 / 20 * np.sum((each[:, inside] - each[:, inside].mean(axis=0)) ** 2, axis=0))
    low, high = model.interval(scores)
    reach = stats.t.ppf(0.975, 19) * errors
    least, most = llr[inside] - reach, llr[inside] + reach
    if (
        isinstance(model, Chain) and model.steps[0].uncertainty_ is not None
    ):  # also contains the interval of the first step, mapped by the second
        first, second = model.steps
        least, most = (pick(own, second.transform(end[inside])) for pick, own, end in zip(
            (np.minimum, np.maximum), (least, most), first.interval(scores), strict=True
        ))  # fmt: skip
    np.testing.assert_allclose(low[inside], least, atol=1e-9)
    np.testing.assert_allclose(high[inside], most, atol=1e-9)


def test_few_units_are_left_out_one_by_one():
    drawn = all_by_all(n_speakers=7, seed=3)
    model = PavCalibrator(smoothing=1.0).fit(drawn.score, drawn.is_target, units=drawn.speakers)
    assert len(model.uncertainty_.replicates) == 7
    assert model.training_lines()[-1] == (
        "standard errors: jackknife (7 groups), by 7 units (given); fewer than 30, so they are approximate"
    )


@pytest.mark.parametrize("interpolation", ["linear", "step"])
def test_the_ends_of_pav_are_bounded_by_what_is_next_to_them(interpolation, drawn):
    model = PavCalibrator(interpolation=interpolation).fit(drawn.score, drawn.is_target, units=drawn.speakers)
    scores = np.linspace(drawn.score.min() - 1.0, drawn.score.max() + 1.0, 500)
    llr, (low, high) = model.transform(scores), model.interval(scores)
    assert np.isneginf(llr[0])
    assert np.isposinf(llr[-1])
    assert np.isneginf(low[0])
    assert np.isfinite(high[0])
    assert np.isfinite(low[-1])
    assert np.isposinf(high[-1])
    assert not np.isnan([low, high]).any()
    assert np.all((low <= llr) & (llr <= high))


def test_separated_classes_are_known_from_nothing():
    rng = np.random.default_rng(0)
    scores, is_target = np.append(rng.random(40) + 5.0, rng.random(40)), np.arange(80) < 40
    with pytest.warns(DecibanWarning, match="separated"):
        model = PavCalibrator().fit(scores, is_target, units=np.arange(80))
    low, high = model.interval([0.5, 5.5])
    assert low.tolist() == [-np.inf, -np.inf]
    assert high.tolist() == [np.inf, np.inf]


def test_a_fixed_bound_is_certain_and_bounds_what_comes_before(drawn):
    bound = BoundCalibrator(low=-1.0, high=2.0).fit(drawn.score, drawn.is_target, units=drawn.speakers)
    assert [end.tolist() for end in bound.interval([-9.0, 0.5, 9.0])] == [[-1.0, 0.5, 2.0]] * 2
    chain = Chain(AffineCalibrator(), BoundCalibrator(low=-1.0, high=2.0))
    chain.fit(drawn.score, drawn.is_target, units=drawn.speakers)
    low, high = chain.interval([-99.0, 99.0])
    assert [low.tolist(), high.tolist()] == [[-1.0, 2.0], [-1.0, 2.0]]


def test_infinite_scores_are_certain(drawn):
    model = AffineCalibrator().fit(drawn.score, drawn.is_target, units=drawn.speakers)
    low, high = model.interval([-np.inf, np.inf])
    assert [low.tolist(), high.tolist()] == [[-np.inf, np.inf]] * 2


def test_wider_at_a_higher_level_and_with_fewer_units():
    small, large = all_by_all(n_speakers=20, seed=4), all_by_all(n_speakers=80, seed=4)
    widths = []
    for data, level in ((small, 0.95), (large, 0.95), (large, 0.5)):
        model = AffineCalibrator().fit(data.score, data.is_target, units=data.speakers)
        low, high = model.interval([3.0], level=level)
        widths.append(float(high[0] - low[0]))
    assert widths[0] > 1.4 * widths[1] > 1.4 * widths[2]


def test_subsets_of_systems_know_their_own(drawn):
    scores = np.column_stack((drawn.score, drawn.second))
    scores[::3, 1] = np.nan
    fusion = SubsetFusion(missing="subset").fit(scores, drawn.is_target, units=drawn.speakers)
    alone = AffineCalibrator().fit(drawn.score, drawn.is_target, units=drawn.speakers)
    low, high = fusion.interval(scores)
    np.testing.assert_allclose([low[::3], high[::3]], alone.interval(drawn.score[::3]), rtol=1e-6)
    assert not np.isnan(low).any()
    assert all("±" in row.error_text for row in fusion.parameter_rows())


@pytest.mark.parametrize("make", [*PARAMETRIC, *MAPS])
@pytest.mark.filterwarnings("ignore:GaussianCalibrator. the map turns")
def test_model_files_keep_it(make, drawn, tmp_path):
    model = make().fit(drawn.score, drawn.is_target, units=drawn.speakers)
    model.save(tmp_path / "model.json")
    read = load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(read.interval(drawn.score, level=0.9), model.interval(drawn.score, level=0.9))
    assert read.training_lines() == model.training_lines()
    read.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()


def test_models_without_units_are_as_they_were(drawn, tmp_path):
    model = AffineCalibrator().fit(drawn.score, drawn.is_target)
    model.save(tmp_path / "model.json")
    assert "uncertainty" not in json.loads((tmp_path / "model.json").read_text())
    with pytest.raises(InputError, match=r"had no units .* fit\(..., units=...\)"):
        load_model(tmp_path / "model.json").interval([0.0])
    assert model.parameter_covariance_ is None
    assert model.parameter_lines() == [f"scale {model.scale_:.6g}, offset {model.offset_:.6g}"]


def test_training_again_without_units_forgets(drawn):
    model = AffineCalibrator().fit(drawn.score, drawn.is_target, units=drawn.speakers)
    assert model.uncertainty_ is not None
    assert model.fit(drawn.score, drawn.is_target).uncertainty_ is None


def test_files_of_earlier_versions_have_the_quantile_of_their_units(drawn, tmp_path):
    path = tmp_path / "model.json"
    model = AffineCalibrator().fit(drawn.score, drawn.is_target, units=drawn.speakers)
    model.save(path)
    content = json.loads(path.read_text())
    del content["uncertainty"]["bias"], content["uncertainty"]["degrees"]
    path.write_text(json.dumps(content))
    low, high = load_model(path).interval([1.0])
    error = np.sqrt([1.0, 1.0] @ model.parameter_covariance_ @ [1.0, 1.0])
    half = stats.t.ppf(0.975, 29) * error
    np.testing.assert_allclose([low[0], high[0]], model.transform([1.0])[0] + np.array([-half, half]))
    assert "sandwich, by 30 units" in load_model(path).training_lines()[-1]


def test_few_units_of_a_class_have_none():
    scores, is_target = np.random.default_rng(0).normal(size=60), np.arange(60) % 2 == 0
    units = np.where(is_target, np.arange(60) % 4, np.arange(60) // 3)
    with pytest.warns(
        DecibanWarning, match="target trials come from effectively 2 units, but intervals need at least 5"
    ):
        model = AffineCalibrator().fit(scores + is_target, is_target, units=units)
    with pytest.raises(InputError, match="no intervals: target trials come from effectively 2 units"):
        model.interval([0.0])


def test_few_units_that_dominate_are_told():
    rng = np.random.default_rng(1)
    units = np.repeat(np.arange(40), np.where(np.arange(40) < 4, 60, 4))
    is_target = np.arange(len(units)) % 2 == 0
    score = 2.0 * is_target + rng.normal(size=40)[units] + rng.normal(size=len(units))
    model = AffineCalibrator().fit(score, is_target, units=units)
    assert model.uncertainty_.n_units == 40
    assert model.uncertainty_.degrees < 8.0
    assert "most of the variance comes from a few units" in model.training_lines()[-1]


HOSTILE = [
    (lambda u: u | {"bias": [1.0]}, "bias: 1 numbers, but the model has 2 parameters"),
    (lambda u: u | {"degrees": 0.5}, "less than the minimum of 1"),
    (lambda u: u | {"covariance": [[1.0]]}, "expected 2 rows of 2 numbers, one for each of scale, offset"),
    (lambda u: u | {"covariance": [[1.0, 0.5], [0.4, 1.0]]}, "not symmetric"),
    (lambda u: u | {"covariance": [[-1.0, 0.0], [0.0, 1.0]]}, "negative variance"),
    (lambda u: u | {"covariance": [["inf", 0.0], [0.0, 1.0]]}, "is not of type 'number'"),
    (lambda u: u | {"units": {"n": 1, "noun": "unit", "source": ""}}, "less than the minimum of 2"),
    (lambda u: u | {"units": {"n": 5}}, "required property"),
    (lambda u: {"units": u["units"]}, "uncertainty"),
    (lambda u: {"units": u["units"], "replicates": [{"scale": 1.0, "offset": 0.0}]}, "too short|uncertainty"),
    (lambda u: {"units": u["units"], "replicates": [{"scale": 1.0}, {"scale": 1.0}]}, "required property"),
    (lambda u: u | {"code": "print()"}, "Additional properties"),
    (lambda _: [], "is not of type 'object'"),
]


@pytest.mark.parametrize(("change", "words"), HOSTILE)
def test_files_that_contradict_themselves_are_refused(change, words, drawn, tmp_path):
    path = tmp_path / "model.json"
    AffineCalibrator().fit(drawn.score, drawn.is_target, units=drawn.speakers).save(path)
    content = json.loads(path.read_text())
    content["uncertainty"] = change(content["uncertainty"])
    path.write_text(json.dumps(content))
    with pytest.raises(FormatError, match=words):
        load_model(path)


@pytest.mark.parametrize(
    ("units", "words"),
    [
        ([1, 2, 3], "units: 3 units for 6 trials"),
        ([0.5] * 6, "units: units must be words or whole numbers"),
        (np.zeros((6, 3), int), r"shape \(6, 3\)"),
        ([None] * 6, "units: no unit at index 0"),
        (["a"] * 5, "units: 5 units for 6 trials"),
    ],
)
def test_what_are_no_units_is_refused(units, words):
    with pytest.raises(InputError, match=words):
        AffineCalibrator().fit([3.0, 1.0, 2.0, -1.0, 1.5, 0.0], [True] * 3 + [False] * 3, units=units)


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, np.nan, "high"])
def test_levels_are_shares(level, drawn):
    model = AffineCalibrator().fit(drawn.score, drawn.is_target, units=drawn.speakers)
    with pytest.raises(InputError, match="level"):
        model.interval([0.0], level=level)


def test_a_map_that_cannot_do_without_some_units_says_so():
    scores, is_target = [3.0, 1.0, 2.0, -1.0, 1.5, 0.0], [True] * 3 + [False] * 3
    with pytest.warns(
        DecibanWarning, match="without one of 2 groups of units: is_target: none of the 3 trials is a target"
    ):
        model = PavCalibrator().fit(scores, is_target, units=["a", "a", "a", "b", "b", "b"])
    with pytest.raises(InputError, match="none of the 3 trials is a target"):
        model.interval([0.0])


def test_beta_at_its_limit_has_none():
    with pytest.warns(DecibanWarning) as told:
        model = BetaCalibrator().fit([0.1, 0.4, 0.3, 0.7, 0.9, 0.6], [True] * 3 + [False] * 3, units=np.arange(6))
    assert any("no standard errors: a and b are 0, their lower limit" in str(one.message) for one in told)
    assert model.uncertainty_ is None


def test_only_units_of_trials_that_count():
    chunk = Batch(
        (np.arange(3.0),), np.array([True, False, False]), TrialUnits.checked(["a", "b", "c"], 3), np.array([1, 0, 2])
    )
    data, units = SourceTrials(in_memory(chunk), None, None, chunk.units).of_units()
    assert units.n_units == 2
    assert data.batch.scores[0].tolist() == [0.0, 2.0]


def test_replicates_do_not_know_the_units_of_training(drawn):
    model = Chain(AffineCalibrator(), ElubCalibrator()).fit(drawn.score, drawn.is_target, units=drawn.speakers)
    assert isinstance(model.uncertainty_, JackknifeMaps)
    assert all(one.uncertainty_ is None and one.training_ is None for one in model.uncertainty_.replicates)
