"""Fusion of systems that lack scores for some trials: three policies, and nothing in place of a score."""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deciban
from deciban import metrics
from deciban.errors import FormatError, InputError
from deciban.fusion import LinearFusion, SubsetFusion

NAN = np.nan


def systems(n=500, n_systems=3, seed=1, share=0.0):
    """Scores of systems that make different errors, of which a share is missing."""
    rng = np.random.default_rng(seed)
    is_target = np.arange(n) % 4 == 0
    scores = rng.normal(size=(n, n_systems)) + np.where(is_target, 0.8, -0.8)[:, None]
    scores[rng.random(scores.shape) < share] = NAN
    return scores, is_target


def has_exactly(scores, subset):
    """Trials with scores of these systems and no others, one by one."""
    return np.array([{k for k, s in enumerate(row) if not math.isnan(s)} == set(subset) for row in scores.tolist()])


@pytest.mark.parametrize("missing", ["error", "drop", "subset"])
@pytest.mark.parametrize("rule", [(1.0, 1.0), (2.0, 1.0)])
def test_where_nothing_is_missing_it_is_linear_fusion(missing, rule):
    scores, is_target = systems()
    settings = {"p_target": 0.1, "alpha": rule[0], "beta": rule[1], "ridge": 1e-3}
    fusion = SubsetFusion(missing=missing, **settings).fit(scores, is_target)
    linear = LinearFusion(**settings).fit(scores, is_target)
    np.testing.assert_array_equal(fusion.transform(scores), linear.transform(scores))
    assert list(fusion.fusions_) == [(0, 1, 2)]
    assert fusion.objective_ == pytest.approx(linear.objective_, rel=1e-12)
    assert (fusion.training_.counts, fusion.training_.fingerprint) == (
        linear.training_.counts,
        linear.training_.fingerprint,
    )


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000), n_systems=st.integers(1, 4), share=st.floats(0.05, 0.5), weighted=st.booleans())
def test_every_set_of_systems_is_the_linear_fusion_of_these(seed, n_systems, share, weighted):
    scores, is_target = systems(n_systems=n_systems, seed=seed, share=share)
    weight = np.random.default_rng(seed).integers(0, 3, 500) if weighted else None
    fusion = SubsetFusion(missing="subset", ridge=1e-3).fit(scores, is_target, sample_weight=weight)
    counting = np.ones(500, bool) if weight is None else weight > 0
    found = set()
    for k in range(1, n_systems + 1):
        for subset in itertools.combinations(range(n_systems), k):
            exactly = has_exactly(scores, subset) & counting
            if not exactly.any():
                assert subset not in fusion.fusions_
                continue
            found.add(subset)
            own = scores[:, subset]
            rows = np.isfinite(own).all(axis=1) & counting
            linear = LinearFusion(ridge=1e-3).fit(
                own[rows], is_target[rows], sample_weight=None if weight is None else weight[rows]
            )
            np.testing.assert_allclose(fusion.transform(scores[exactly]), linear.transform(own[exactly]), rtol=1e-12)
            name = "+".join(map(str, subset))
            assert fusion.training_.results[f"n_exactly_{name}"] == exactly.sum()
            assert fusion.training_.results[f"n_trained_{name}"] == rows.sum()
            assert fusion.training_.results[f"status_{name}"] == linear.training_.results["status"]
    assert found == set(fusion.fusions_)


def test_the_objective_is_that_of_all_trials_each_by_its_own_fusion():
    scores, is_target = systems(share=0.3)
    scores[0] = [NAN, 1.0, NAN]
    some = ~np.isnan(scores).all(axis=1)
    weight = np.arange(500) % 5 + 0.5
    fusion = SubsetFusion(missing="subset", p_target=0.2).fit(scores, is_target, sample_weight=weight)
    llr = fusion.transform(scores[some])
    truth, own = is_target[some], weight[some]
    expected = metrics.cross_entropy(
        llr[truth], llr[~truth], p_target=0.2, tar_weights=own[truth], non_weights=own[~truth]
    )
    assert fusion.objective_ == pytest.approx(expected, rel=1e-12)
    assert fusion.training_.results["n_dropped"] == np.count_nonzero(~some) > 0


def test_the_order_of_trials_does_not_matter():
    scores, is_target = systems(share=0.2)
    order = np.random.default_rng(3).permutation(500)
    one = SubsetFusion(missing="subset", ridge=1e-4).fit(scores, is_target)
    two = SubsetFusion(missing="subset", ridge=1e-4).fit(scores[order], is_target[order])
    assert one.training_.fingerprint == two.training_.fingerprint
    some = ~np.isnan(scores).all(axis=1)
    np.testing.assert_allclose(one.transform(scores[some]), two.transform(scores[some]), rtol=1e-9)


def test_a_score_that_is_there_counts():
    """Fused with what each trial has, information is better than without the trials, or the systems, that lack some."""
    scores, is_target = systems(n=8000, share=0.2)
    scores[:, 0] = systems(n=8000, seed=5)[0][:, 0]  # one system has everything
    llr = SubsetFusion(missing="subset").fit_transform(scores, is_target)
    alone = LinearFusion().fit_transform(scores[:, :1], is_target)
    complete = LinearFusion().fit_transform(systems(n=8000)[0], is_target)
    values = [metrics.cllr(own[is_target], own[~is_target]) for own in (complete, llr, alone)]
    assert values == sorted(values)
    assert values[2] - values[1] > 0.1


def test_sets_that_do_not_occur_are_trained_on_request():
    scores, is_target = systems(n_systems=4)
    fusion = SubsetFusion(missing="subset", max_missing=1).fit(scores, is_target)
    assert list(fusion.fusions_) == [(0, 1, 2, 3), (0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)]
    assert fusion.training_.results["n_exactly_0+1+3"] == 0
    assert fusion.training_.results["n_trained_0+1+3"] == 500
    linear = LinearFusion().fit(scores[:, [0, 1, 3]], is_target)
    lacking = scores.copy()
    lacking[:, 2] = NAN
    np.testing.assert_array_equal(fusion.transform(lacking), linear.transform(scores[:, [0, 1, 3]]))
    every = SubsetFusion(missing="subset", max_missing=3).fit(scores, is_target)
    assert len(every.fusions_) == 2**4 - 1
    assert len(SubsetFusion(missing="subset", max_missing=99).fit(scores, is_target).fusions_) == 2**4 - 1
    lacking[:, 0] = NAN
    with pytest.raises(
        InputError, match=r"scores only of systems 1\+3, but there are fusions of systems 0\+1\+2\+3, .*larg"
    ):
        fusion.transform(lacking)
    assert np.isfinite(every.transform(lacking)).all()


def test_by_default_a_missing_score_is_refused():
    scores, is_target = systems()
    fusion = SubsetFusion().fit(scores, is_target)
    scores[7, 1] = scores[9, 0] = NAN
    with pytest.raises(
        InputError, match=r"2 trials, the first at index 7: it has scores only of systems 0\+2.*missing=\"drop\""
    ):
        SubsetFusion().fit(scores, is_target)
    with pytest.raises(InputError, match=r"2 trials, the first at index 7: .*Leave these trials out"):
        fusion.transform(scores)


def test_dropped_trials_are_counted_and_never_fused():
    scores, is_target = systems(share=0.1)
    complete = ~np.isnan(scores).any(axis=1)
    fusion = SubsetFusion(missing="drop").fit(scores, is_target)
    linear = LinearFusion().fit(scores[complete], is_target[complete])
    np.testing.assert_array_equal(fusion.transform(scores[complete]), linear.transform(scores[complete]))
    assert fusion.training_.results["n_dropped"] == np.count_nonzero(~complete) > 0
    assert fusion.training_.counts == linear.training_.counts
    assert fusion.training_.fingerprint == linear.training_.fingerprint
    first = int(np.argmin(complete))
    with pytest.raises(
        InputError, match=f"in {np.count_nonzero(~complete)} trials, the first at index {first}: .*subset"
    ):
        fusion.transform(scores)


def test_a_trial_without_any_score_is_never_fused():
    scores, is_target = systems()
    scores[3] = NAN
    fusion = SubsetFusion(missing="subset", max_missing=2).fit(scores, is_target)
    assert fusion.training_.results["n_dropped"] == 1
    assert sum(fusion.training_.counts.values()) == 499
    with pytest.raises(InputError, match=r"1 trials, the first at index 3: it has scores of no system"):
        fusion.transform(scores)


def test_a_class_that_is_dropped_entirely_is_refused():
    scores, is_target = systems()
    scores[is_target, 0] = NAN
    with pytest.raises(InputError, match='125 of 500 trials were dropped .* no target is left.*missing="subset"'):
        SubsetFusion(missing="drop").fit(scores, is_target)


def test_a_set_that_cannot_be_trained_is_named():
    scores, is_target = systems()
    scores[is_target, 0] = NAN
    with pytest.raises(
        InputError, match=r"systems 0\+1\+2, trained on the 375 of 500 .*none of the 375 trials is a tar"
    ):
        SubsetFusion(missing="subset").fit(scores, is_target)
    scores, is_target = systems()
    scores[:, 0] = np.where(is_target, 9.0, -9.0)  # separates, where it is
    scores[::3, 0] = NAN
    with pytest.raises(InputError, match=r"systems 0\+1\+2.*separated.*ridge"):
        SubsetFusion(missing="subset").fit(scores, is_target)
    assert set(SubsetFusion(missing="subset", ridge=1e-3).fit(scores, is_target).fusions_) == {(0, 1, 2), (1, 2)}


def test_infinite_scores_are_no_missing_ones():
    scores, is_target = systems(share=0.1)
    scores[np.flatnonzero(is_target)[:3], 0] = np.inf
    fusion = SubsetFusion(missing="subset").fit(scores, is_target)
    assert fusion.transform([[np.inf, NAN, 0.0]]) == np.inf
    with pytest.raises(InputError, match="contradict each other with infinite scores, the first at index 2"):
        fusion.transform([[0.0, 0.0, 0.0], [0.0, NAN, 0.0], [np.inf, NAN, -np.inf]])


@pytest.mark.parametrize(
    "more",
    [{}, {"missing": "drop"}, {"missing": "subset"}, {"missing": "subset", "max_missing": 2, "p_target": 0.01}],
    ids=str,
)
def test_a_fusion_comes_back_from_its_file(tmp_path, more):
    scores, is_target = systems(share=0.1 if more else 0.0)
    fusion = SubsetFusion(**more, ridge=1e-4).fit(scores, is_target)
    fusion.save(tmp_path / "fusion.json")
    back = deciban.load_model(tmp_path / "fusion.json")
    assert type(back) is SubsetFusion
    assert (back.settings, back.training_) == (fusion.settings, fusion.training_)
    complete = ~np.isnan(scores).any(axis=1) if more.get("missing") != "subset" else ~np.isnan(scores).all(axis=1)
    np.testing.assert_array_equal(back.transform(scores[complete]), fusion.transform(scores[complete]))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda p: p["fusions"].append(p["fusions"][0]), "repeated"),
        (lambda p: p["fusions"][0]["systems"].reverse(), "out of order"),
        (lambda p: p.update(n_systems=2), "out of range"),
        (lambda p: p["fusions"][0]["systems"].pop(), "expected a linear fusion of the systems"),
        (lambda p: p["fusions"][0]["fusion"].update(kind="pickle"), "kind 'pickle' is unknown"),
        (lambda p: p.update(fusions=[]), "fusions"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(tmp_path, change, words):
    SubsetFusion(missing="subset").fit(*systems(share=0.1)).save(tmp_path / "fusion.json")
    content = json.loads((tmp_path / "fusion.json").read_text())
    change(content["parameters"])
    (tmp_path / "fusion.json").write_text(json.dumps(content))
    with pytest.raises(FormatError, match=words):
        deciban.load_model(tmp_path / "fusion.json")


def test_a_file_with_sets_that_its_policy_does_not_know_is_refused(tmp_path):
    SubsetFusion(missing="subset").fit(*systems(share=0.1)).save(tmp_path / "fusion.json")
    text = (tmp_path / "fusion.json").read_text()
    (tmp_path / "fusion.json").write_text(text.replace('"missing": "subset"', '"missing": "error"'))
    with pytest.raises(FormatError, match="there must be only one, of all systems"):
        deciban.load_model(tmp_path / "fusion.json")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"missing": "zeros"}, "missing: got 'zeros'. It must be one of error, drop, subset"),
        ({"missing": None}, "missing: got None"),
        ({"missing": "subset", "max_missing": -1}, "max_missing: got -1"),
        ({"missing": "subset", "max_missing": True}, "max_missing: got True"),
        ({"missing": "subset", "max_missing": 1.0}, "max_missing: got 1.0"),
        ({"max_missing": 1}, "not used with missing='error'"),
        ({"p_target": 1.0}, "p_target"),
    ],
)
def test_settings_without_a_meaning_are_refused(more, words):
    with pytest.raises(InputError, match=words):
        SubsetFusion(**more)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda s, y: (s[:, 0], y), r"shape \(n_trials, n_systems\), got \(500,\)"),
        (lambda s, y: (s[:0], y[:0]), "empty"),
        (lambda s, y: (s.astype(str), y), "expected real numbers"),
        (lambda s, y: (np.full_like(s, NAN), y), r"systems 0\+1\+2: no score in any trial"),
        (lambda s, y: (s, y[1:]), "499 labels for 500"),
        (lambda s, y: (s, y & False), "none of the 500 trials is a target"),
        (lambda s, y: (np.tile(s, 10), y), "fusions of 30 systems, but one model can contain at most 4,096"),
    ],
)
def test_what_cannot_be_fused_is_refused(change, words):
    with pytest.raises(InputError, match=words):
        SubsetFusion(missing="subset", max_missing=10).fit(*change(*systems()))


def test_other_systems_than_those_of_training_are_refused():
    scores, is_target = systems()
    with pytest.raises(InputError, match="not trained yet"):
        SubsetFusion().transform(scores)
    with pytest.raises(InputError, match="2 systems, but the fusion was trained on 3"):
        SubsetFusion().fit(scores, is_target).transform(scores[:, :2])


def test_a_system_without_any_score_is_refused():
    scores, is_target = systems()
    scores[:, 1] = NAN
    with pytest.raises(InputError, match="system 1: no score in any trial"):
        SubsetFusion(missing="subset").fit(scores, is_target)
    scores[5, 1] = 1.0  # a trial that does not count
    weight = np.where(np.arange(len(scores)) == 5, 0, 1)
    with pytest.raises(InputError, match="system 1: no score in any trial"):
        SubsetFusion(missing="subset").fit(scores, is_target, sample_weight=weight)


def test_what_is_refused_is_told_by_the_index_among_all_trials():
    scores, is_target = systems(n=60, n_systems=2)
    weight = np.ones(60)
    scores[:10, 0], weight[10:14] = NAN, 0.0
    scores[12, 1], scores[20, 1] = -np.inf, -np.inf  # both targets; the first of them does not count
    assert is_target[12]
    assert is_target[20]
    with pytest.raises(InputError, match=r"systems 0\+1, .*1 target trials score -inf, the first at index 20: their"):
        SubsetFusion(missing="subset").fit(scores, is_target, sample_weight=weight)
    with pytest.raises(InputError, match="the first at index 20: their"):
        SubsetFusion(missing="drop").fit(scores, is_target, sample_weight=weight)
