"""Evaluation by condition: each part as if it were evaluated alone, and all with every part counting alike."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deciban
from deciban import InputError
from deciban.analysis.compared import PairedUnits
from deciban.analysis.differences import significant_differences

POINTS = [0.1, (0.5, 2, 1)]


@st.composite
def frames(draw):
    """Trials with ties, infinite scores, and values that are missing."""
    n = draw(st.integers(8, 50))

    def column(*values):
        return draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))

    return {
        "score": column(-np.inf, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, np.inf),
        "label": [1, 0, *column(0, 1)[2:]],
        "gender": column("f", "m", None),
        "channel": column("mic", "tel"),
        "duration": column(1.0, 5.0, 7.5, 10.0, 40.0, float("nan")),
        "w": [1, 1, *column(0, 1, 2, 0.5)[2:]],
        "speaker": column("ann", "bob", "cid", "dan", "eve"),
    }


def rows_of(frame, chosen):
    return {name: [value for value, one in zip(column, chosen, strict=True) if one] for name, column in frame.items()}


def same(one, other):
    """Metrics and intervals of two evaluations, but for their names."""
    numbers = [dict(found.to_dict(), name="") for found in (one, other)]
    assert json.dumps(numbers[0]) == json.dumps(numbers[1])


@settings(max_examples=6)
@given(frames(), st.booleans())
def test_a_condition_is_what_its_trials_give_alone(frame, is_weighted):
    options = {"operating_points": POINTS, "units": "speaker", **({"weights": "w"} if is_weighted else {})}
    found = deciban.evaluate(frame, score=["score"], by="gender,channel", **options)
    (part,) = found.conditions[0].partitions
    same(found.systems[0], deciban.evaluate(frame, **options))
    counted = dict.fromkeys(("targets", "non-targets"), 0)
    for one in part.conditions:
        chosen = [
            g == one.values["gender"] and c == one.values["channel"]
            for g, c in zip(frame["gender"], frame["channel"], strict=True)
        ]
        own = rows_of(frame, chosen)
        for name, label in (("targets", 1), ("non-targets", 0)):
            weight = own["w"] if is_weighted else [1] * len(own["label"])
            assert one.trials[name] == sum(w for w, is_one in zip(weight, own["label"], strict=True) if is_one == label)
            counted[name] += one.trials[name]
        if one.evaluation is None:
            assert 0 in one.trials.values()
            assert one.why_none
        else:
            alone = deciban.evaluate(own, **options)
            assert one.evaluation.name == one.name
            same(one.evaluation, alone)
    assert counted == {"targets": found.systems[0].n_tar, "non-targets": found.systems[0].n_non}


@settings(max_examples=5)
@given(frames(), st.booleans(), st.sampled_from(["f", ""]))
def test_what_counts_in_every_condition_is_in_each_of_them(frame, is_weighted, value):
    options = {"operating_points": POINTS, "units": "speaker", **({"weights": "w"} if is_weighted else {})}
    frame["gender"][:2] = [value or None, "m"]
    shared = [(one or "") == value for one in frame["gender"]]
    found = deciban.evaluate(frame, score=["score"], by=f"gender+{value},channel", **options)
    (part,) = found.conditions[0].partitions
    assert value not in {one.values["gender"] or "" for one in part.conditions}
    for one in part.conditions:
        chosen = [
            (everywhere or g == one.values["gender"]) and c == one.values["channel"]
            for everywhere, g, c in zip(shared, frame["gender"], frame["channel"], strict=True)
        ]
        if one.evaluation is None:
            assert 0 in one.trials.values()
        else:
            same(one.evaluation, deciban.evaluate(rows_of(frame, chosen), **options))
    assert part.trials == {"targets": found.systems[0].n_tar, "non-targets": found.systems[0].n_non}


def test_units_that_weigh_nothing_in_a_condition_are_none_of_it():
    frame = example(channel=np.array(["mic", "tel"])[np.arange(400) % 2])
    frame["w"] = np.where((frame["channel"] == "mic") & (frame["speaker"].astype(int) % 3 == 0), 0, 1)
    options = {"units": "speaker", "weights": "w"}
    (part,) = deciban.evaluate(frame, score=["score"], by="channel", **options).conditions[0].partitions
    same(part.conditions[0].evaluation, deciban.evaluate(rows_of(frame, frame["channel"] == "mic"), **options))


def attacks(n=600):
    """Bona fide trials, and attacks of which one gets through."""
    rng = np.random.default_rng(8)
    attack = np.array(["-", "A07", "A17", "A19"])[np.arange(n) % 4]
    mean = np.select([attack == "-", attack == "A17"], [2.0, 1.0], -2.0)
    return {"score": rng.normal(mean, 1.5), "label": attack == "-", "attack": attack, "speaker": np.arange(n) % 23}


def test_attacks_share_their_bona_fide_trials():
    frame = attacks()
    found = deciban.evaluate(frame, score=["score"], by="attack+-", units="speaker")
    (part,) = found.conditions[0].partitions
    assert [(one.name, one.trials["targets"]) for one in part.conditions] == [
        (f"attack {name}", 150) for name in ("A07", "A17", "A19")
    ]
    assert part.trials == {"targets": 150, "non-targets": 450}
    assert significant_differences(part, 0.95)[0].startswith("attack A07 is significantly better than attack A17")
    assert "trials with attack - count in every condition" in next(m.text for m in found.messages if m.kind == "by")


@pytest.mark.parametrize(
    ("own", "split", "words"),
    [("-", "attack+-", "attack -"), ("bonafide", "attack+bonafide", "attack bonafide"), ("", "attack+", "no attack")],
)
def test_a_value_that_one_class_has_alone_counts_in_every_condition(own, split, words):
    frame = attacks()
    frame["attack"] = np.where(frame["attack"] == "-", own, frame["attack"])
    asked = deciban.evaluate(frame, score=["score"], by=split, units="speaker")
    found = deciban.evaluate(frame, score=["score"], by="attack", units="speaker")
    assert found.conditions[0].to_dict() == asked.conditions[0].to_dict()
    said = [message.text for message in found.messages if message.kind == "by"]
    assert said == [f"attack: 3 conditions; only targets have {words}, and they count in every condition"]


def test_the_class_may_be_that_of_non_targets_and_columns_may_be_crossed():
    frame = attacks()
    frame["label"] = ~frame["label"]
    frame["codec"] = np.array(["c1", "c2"])[np.arange(600) // 4 % 2]
    (part,) = deciban.evaluate(frame, score=["score"], by="attack,codec").conditions[0].partitions
    assert {one.trials["non-targets"] for one in part.conditions} == {75}
    assert len(part.evaluated) == len(part.conditions) == 6


@pytest.mark.parametrize("other", ["A07", "-"])
def test_conditions_stay_apart_where_a_value_is_not_that_of_one_class_alone(other):
    """One target is an attack, or one non-target is none."""
    frame = attacks()
    frame["attack"][np.argmax(frame["label"] == (other == "A07"))] = other
    (part,) = deciban.evaluate(frame, score=["score"], by="attack").conditions[0].partitions
    assert part.title == "attack"
    assert len(part.conditions) == 4


def test_a_column_may_be_split_and_count_alike():
    found = deciban.evaluate(attacks(), score=["score"], by="attack", equalize="attack").conditions[0]
    assert [one.title for one in found.partitions] == ["attack+-"]
    assert [one.title for one in found.equalized] == ["attack"]


def test_the_conditions_that_lack_a_class_are_one_sentence():
    frame = attacks()
    frame["attack"][np.argmax(frame["label"])] = "A07"
    (part,) = deciban.evaluate(frame, score=["score"], by="attack").conditions[0].partitions
    (said,) = part.without_metrics
    assert said == (
        "3 of 4 conditions are left out of the table: 1 without non-targets (attack -), 2 without targets (attack A17, "
        "attack A19)"
    )


def test_a_difference_of_attacks_knows_that_their_bona_fide_trials_are_the_same():
    frame = attacks()
    found = deciban.evaluate(frame, score=["score"], by="attack+-", units="trials")
    (part,) = found.conditions[0].partitions
    cost = next(one for one in part.differences if one.metric == "cllr" and one.second == "attack A17")
    loss = {name: np.log2(1.0 + np.exp(frame["score"][frame["attack"] == name])) / 2 for name in ("A07", "A17")}
    error = np.sqrt(sum(each.var(ddof=1) / len(each) for each in loss.values()))  # bona fide trials cancel
    width = (cost.interval.high - cost.interval.low) / 2
    assert cost.interval.estimate == pytest.approx(loss["A07"].mean() - loss["A17"].mean(), rel=1e-9)
    assert width == pytest.approx(1.96 * error, rel=0.03)


@settings(max_examples=4)
@given(frames(), st.randoms(use_true_random=False))
def test_the_order_of_trials_changes_nothing(frame, random):
    order = list(range(len(frame["score"])))
    random.shuffle(order)
    mixed = {name: [column[k] for k in order] for name, column in frame.items()}
    how = {"score": ["score"], "by": ["channel", "duration:5,10"], "units": "speaker", "equalize": "channel"}
    one, other = (deciban.evaluate(given, **how) for given in (frame, mixed))
    for part, same_part in zip(one.conditions[0].partitions, other.conditions[0].partitions, strict=True):
        assert [x.name for x in part.conditions] == [x.name for x in same_part.conditions]
        assert [x.trials for x in part.conditions] == [x.trials for x in same_part.conditions]
        for x, y in zip(part.evaluated, same_part.evaluated, strict=True):
            assert x.eer == y.eer
            assert x.cllr == pytest.approx(y.cllr, rel=1e-12)
    pair = [x.conditions[0].equalized[0].evaluation for x in (one, other)]
    assert pair[0].eer == pytest.approx(pair[1].eer, rel=1e-9)


@given(frames())
def test_equalized_rates_are_means_over_the_conditions_that_have_the_class(frame):
    found = deciban.evaluate(frame, score=["score"], operating_points=POINTS, equalize="channel").conditions[0]
    score, label, channel = (np.array(frame[name]) for name in ("score", "label", "channel"))
    for point in found.equalized[0].evaluation.operating_points:
        for rate, of_class, wrong in (
            (point.p_miss, 1, score < point.threshold),
            (point.p_fa, 0, score >= point.threshold),
        ):
            parts = [(label == of_class) & (channel == one) for one in ("mic", "tel")]
            assert rate == pytest.approx(np.mean([wrong[one].mean() for one in parts if one.any()]), abs=1e-12)
        beta = (1 - point.effective_prior) / point.effective_prior
        assert point.act_dcf == pytest.approx((point.p_miss + beta * point.p_fa) / min(1, beta), rel=1e-9)
        assert point.min_dcf <= point.act_dcf * (1 + 1e-9)
    for one in found.equalized[0].conditions:
        assert all((f"{one.name} has no {name}" in found.equalized[0].rule) for name in one.lacking)


def example(**more):
    rng = np.random.default_rng(3)
    n = 400
    label = rng.integers(0, 2, n)
    channel = rng.integers(0, 3, n)
    score = np.where(label, 2.0, -2.0) * np.where(channel == 2, 0.1, 1.0) + rng.normal(size=n)
    return {
        "score": score,
        "other": score + rng.normal(size=n),
        "label": label,
        "channel": np.array(["mic", "tel", "far"])[channel],
        "gender": np.array(["f", "m"])[rng.integers(0, 2, n)],
        "duration": rng.integers(1, 60, n),
        "speaker": rng.integers(0, 40, n).astype(str),
        **more,
    }


def test_bins_say_their_ends_and_empty_ones_are_listed():
    found = deciban.evaluate(example(), score=["score"], by="duration:5,30,100").conditions[0].partitions[0]
    names = ["duration < 5", "5 ≤ duration < 30", "30 ≤ duration < 100", "duration ≥ 100"]
    assert [one.name for one in found.conditions] == names
    assert found.conditions[-1].why_none == "no trials"
    duration = example()["duration"]
    assert sum(found.conditions[0].trials.values()) == (duration < 5).sum()
    assert found.conditions[1].evaluation.n_tar > 0


def test_numbers_that_are_none_are_missing_with_bins_and_without():
    frame = dict(example(), duration=np.resize([1.0, np.nan, -0.0, 0.0], len(example()["duration"])))
    by = ["duration", "duration:0.5"]
    plain, bins = deciban.evaluate(frame, score=["score"], by=by).conditions[0].partitions
    assert [one.values["duration"] for one in plain.conditions] == ["0", "1", None]
    assert plain.conditions[-1].trials == bins.conditions[-1].trials
    with pytest.raises(InputError, match="no value in 'duration'"):
        deciban.evaluate(frame, score=["score"], equalize="duration")


def test_a_worse_condition_is_told_in_words_and_alike_ones_are_not():
    found = deciban.evaluate(example(), score=["score"], by=["channel", "gender"], units="speaker").conditions[0]
    by_channel, by_gender = (significant_differences(one, 0.95) for one in found.partitions)
    assert any(line.startswith("channel far is significantly worse than channel mic: EER") for line in by_channel)
    assert not any("mic is" in line and "tel" in line for line in by_channel)
    assert by_gender[0] == (
        "no two conditions differ significantly (p below 0.05 by Holm's correction for all comparisons of a metric)"
    )
    one = next(x for x in found.partitions[0].differences if x.second is not None and x.metric == "eer")
    values = {x.name: x.evaluation.eer for x in found.partitions[0].conditions}
    assert one.interval.estimate == pytest.approx(values[one.first] - values[one.second])
    assert one.holm >= one.interval.p_value


def test_what_is_not_compared_is_said():
    rng = np.random.default_rng(2)
    label, place = np.arange(400) % 3 == 0, np.arange(400) % 4
    frame = {
        "score": rng.normal(np.where(label, 1.0, -1.0) * np.where(place == 0, 0.1, 4.0)),
        "label": label,
        "place": np.array(list("abcd"))[place],
        "speaker": np.where(place < 2, rng.integers(0, 30, 400), -place),
    }
    frame["score"][np.flatnonzero(label & (place == 1))[0]] = -np.inf
    (part,) = deciban.evaluate(frame, score=["score"], by="place", units="speaker").conditions[0].partitions
    told = significant_differences(part, 0.95)
    assert told[0].startswith("place a is significantly worse than place b: EER")
    assert "not compared, because all trials have one unit: place c; place d" in told
    assert "differences of Cllr are not computed, because it is infinite in place b" in told


def test_minima_without_false_alarms_are_not_taken_for_different():
    # All conditions are alike, and at prior 0.01 the best threshold is above all their non-targets.
    rng = np.random.default_rng(0)
    label = rng.random(1000) < 0.3
    frame = {"score": rng.normal(np.where(label, 2, -2), 2), "label": label, "speaker": rng.integers(0, 100, 1000)}
    frame["place"] = np.array(list("abcde"))[np.arange(1000) % 5]
    (part,) = deciban.evaluate(frame, score=["score"], by="place", units="speaker").conditions[0].partitions
    told = significant_differences(part, 0.95)
    assert told[0].startswith("no condition differs from the mean of the others significantly")
    (last,) = told[1:]
    assert last.startswith(
        "not compared by minDCF, because there is no miss or no false alarm at the best threshold: place a; place b;"
    )
    assert not [one for one in part.differences if one.metric == ("min_dcf", 0)]


def test_conditions_of_few_units_are_left_out_of_comparisons():
    rng = np.random.default_rng(1)
    label, place = np.arange(600) % 2 == 0, np.arange(600) // 2 % 3
    frame = {"score": rng.normal(np.where(label, 1.0, -1.0)), "label": label, "place": np.array(list("abc"))[place]}
    frame["speaker"] = np.where(place == 2, 100 + np.arange(600) // 6 % 3, rng.integers(0, 40, 600))
    (part,) = deciban.evaluate(frame, score=["score"], by="place", units="speaker").conditions[0].partitions
    assert {(one.first, one.second) for one in part.differences} == {("place a", "place b")}
    assert "not compared, with fewer than 5 effective units of a class: place c" in significant_differences(part, 0.95)


def test_a_difference_is_that_of_a_comparison_of_both():
    found = deciban.evaluate(example(), score=["score"], by="gender", units="speaker").conditions[0].partitions[0]
    female, male = found.evaluated
    both = PairedUnits.of(female.uncertainty, male.uncertainty)
    expected = both.difference("cllr", 0.95, same_trials=False)
    (made,) = [one for one in found.differences if one.metric == "cllr"]
    assert (made.interval.low, made.interval.high, made.interval.p_value) == (
        expected.low,
        expected.high,
        expected.p_value,
    )


def mean_of_influences(parts, metric):
    """The standard error of the mean of a metric over conditions, by the influences of units on each."""
    keys = np.unique(np.concatenate([one.uncertainty.keys for one in parts]))
    total = np.zeros(len(keys))
    for one in parts:
        total[np.searchsorted(keys, one.uncertainty.keys)] += one.uncertainty.influences[metric] / len(parts)
    return np.sqrt(total @ total * len(keys) / (len(keys) - 1))


@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize("n_speakers", [40, 397])
def test_intervals_of_equal_conditions_are_those_of_means_over_conditions(n_speakers, weights):
    rng = np.random.default_rng(5)
    frame = example(speaker=rng.integers(0, n_speakers, 400), w=rng.integers(0, 3, 400))
    names = list(map(str, range(400)))
    frame["score"][::9] *= -1  # errors in each condition
    frame |= {"test_speaker": rng.integers(0, n_speakers, 400), "enroll": names, "test": names}
    how = {"enroll": "enroll", "test": "test", "units": ["speaker", "test_speaker"], "weights": weights}
    how |= {"by": "channel", "equalize": "channel"}
    found = deciban.evaluate(frame, score=["score"], operating_points=[0.5], **how).conditions[0]
    parts, equal = found.partitions[0].evaluated, found.equalized[0].evaluation
    for metric in (("act_dcf", 0), ("p_miss", 0), ("p_fa", 0), "cllr"):
        estimate = equal.uncertainty.estimates[metric]
        assert estimate.value == pytest.approx(np.mean([x.uncertainty.estimates[metric].value for x in parts]))
        # But for the factors of the jackknife: a unit has other shares of all trials than of those of a condition.
        assert estimate.standard_error == pytest.approx(mean_of_influences(parts, metric), rel=0.02)


def test_intervals_of_equal_conditions_of_many_classes():
    rng = np.random.default_rng(1)
    label = rng.integers(0, 3, 300)
    frame = dict(zip("xyz", (rng.normal(size=(300, 3)) + 2 * np.eye(3)[label]).T, strict=True))
    frame |= {"class": np.array(list("xyz"))[label], "speaker": rng.integers(0, 40, 300)}
    frame["source"] = np.where(rng.random(300) < frame["speaker"] / 40, "tel", "tv")
    how = {"units": "speaker", "by": "source", "equalize": "source"}
    found = deciban.evaluate_classes(frame, score={"sys": list("xyz")}, classes=list("xyz"), **how).conditions[0]
    parts, equal = found.partitions[0].evaluated, found.equalized[0].evaluation
    for metric in ("cllr", "error_rate", "brier"):
        expected = mean_of_influences(parts, metric)
        assert equal.uncertainty.estimates[metric].standard_error == pytest.approx(expected, rel=0.005)


def test_several_systems_and_where():
    frame = example()
    found = deciban.evaluate(frame, score=["score", "other"], by="channel", where={"gender": "f"})
    assert [one.pooled.name for one in found.conditions] == ["score", "other"]
    alone = rows_of(frame, (frame["gender"] == "f") & (frame["channel"] == "far"))
    assert found.conditions[1].partitions[0].evaluated[0].eer == deciban.evaluate(alone, score="other").eer


def test_data_frames_have_a_row_for_each_condition():
    found = deciban.evaluate(example(), score=["score", "other"], by="gender", equalize="gender")
    table = found.to_arrow().to_pydict()
    assert table["name"] == ["score"] * 4 + ["other"] * 4
    assert table["condition"] == ["pooled", "gender f", "gender m", "equalized"] * 2
    assert table["eer"][1] == found.conditions[0].partitions[0].evaluated[0].eer


def test_a_model_is_evaluated_by_condition_before_and_after(tmp_path):
    frame = example()
    path = tmp_path / "scores.csv"
    columns = ["score", "label", "gender"]
    rows = [",".join(map(str, row)) for row in zip(range(400), *(frame[name] for name in columns), strict=True)]
    path.write_text("\n".join(["trial,score,label,gender", *rows]))
    model = deciban.train_files(path, None, deciban.calibration.AffineCalibrator()).model
    found = deciban.evaluate_files(path, model=model, by="gender")
    before, after = (one.conditions[0].partitions[0].evaluated for one in (found.before, found))
    assert [one.eer for one in before] == [one.eer for one in after]
    assert sum(one.cllr for one in after) < sum(one.cllr for one in before)
    assert found.to_dict()["before"][0]["conditions"][1]["condition"] == {"gender": "m"}


def test_many_classes_by_condition_and_equalized():
    rng = np.random.default_rng(1)
    label = rng.integers(0, 3, 300)
    logliks = rng.normal(size=(300, 3)) + 2 * np.eye(3)[label]
    frame = {name: logliks[:, k] for k, name in enumerate(("eng", "fra", "spa"))}
    frame |= {"class": np.array(["eng", "fra", "spa"])[label], "source": np.where(np.arange(300) < 80, "tel", "tv")}
    systems = {"sys": ["eng", "fra", "spa"]}
    found = deciban.evaluate_classes(
        frame, score=systems, classes=["eng", "fra", "spa"], by="source", equalize="source"
    )
    tel, tv = found.conditions[0].partitions[0].evaluated
    assert tel.cllr == deciban.evaluate_classes(logliks[:80], label[:80]).cllr
    equal = found.conditions[0].equalized[0].evaluation
    assert equal.class_error_rates == pytest.approx((tel.class_error_rates + tv.class_error_rates) / 2)
    assert equal.cllr == pytest.approx((tel.cllr + tv.cllr) / 2)
    frame["source"] = np.where(label == 2, "tv", frame["source"])
    listed = deciban.evaluate_classes(frame, score=systems, classes=["eng", "fra", "spa"], by="source").conditions[0]
    assert listed.partitions[0].conditions[0].why_none.startswith("no segments of spa (")


def test_what_files_say_of_names(tmp_path):
    (tmp_path / "ages").write_text("a young\nb old\n")
    frame = example()
    frame |= {"enroll": ["a", "b", "c", "a"] * 100, "test": [f"t{k}" for k in range(400)]}
    how = {"score": ["score"], "enroll": "enroll", "test": "test"}
    found = deciban.evaluate(frame, by=f"enroll={tmp_path / 'ages'}", **how).conditions[0].partitions[0]
    assert [list(one.values.values()) for one in found.conditions] == [["old"], ["young"], [None]]
    assert [sum(one.trials.values()) for one in found.conditions] == [100, 200, 100]
    with pytest.raises(InputError, match="not a side of the trials"):
        deciban.evaluate(frame, by=f"model={tmp_path / 'ages'}", **how)


@pytest.mark.parametrize(
    ("by", "words"),
    [
        ("colour", "'colour' is not a column"),
        ("gender,gender", "twice"),
        ("duration:30,5", "not ascending"),
        ("duration:nan", "not ascending finite"),
        ("gender:5", "'[fm]' in column 'gender' is not a number"),
        ("", "a column without a name"),
        ([3], "got 3"),
        (["gender", ""], "a column without a name"),
        ("speaker,duration", "make .* conditions .*at most 1,000"),
        ("=file", "SIDE=FILE"),
        ("gender+x", "no trial has 'x' in column 'gender'; its values are f, m. --by gender is enough if"),
        ("gender+", "no trial has no value in column 'gender'"),
        ("one+a", "all trials have 'a' in column 'one'.*no condition is left"),
        ("+f", "COLUMN.VALUE"),
        ("duration+f:5", "COLUMN.VALUE, without borders"),
    ],
)
def test_what_names_no_conditions_is_refused(by, words):
    with pytest.raises(InputError, match=words):
        deciban.evaluate(example(duration=np.arange(400), one=["a"] * 400), by=by)


def test_equal_conditions_need_a_value_for_every_trial():
    frame = example()
    frame["gender"] = [None, *frame["gender"][1:]]
    with pytest.raises(InputError, match="equalize: .*row 0.*no value in 'gender'.*1 trial without"):
        deciban.evaluate(frame, equalize="gender")


def test_what_counts_everywhere_cannot_count_alike():
    with pytest.raises(InputError, match="equalize: trials of 'gender.f' would count in several.*alone: gender"):
        deciban.evaluate(example(), equalize="gender+f")


def test_functions_that_know_no_conditions_say_so():
    with pytest.raises(TypeError, match="'by'"):
        deciban.compare_files(["a", "b"], by="gender")
