"""What the scripts of a page know is what evaluations say."""

import math

import numpy as np
import pytest

from deciban.evaluation import Results, evaluate
from deciban.report import render
from deciban.report.live import as_script_data, live_data
from deciban.report.tables import Page
from support.pages import script_data

from .conftest import HOSTILE


@pytest.fixture(scope="module")
def systems():
    rng = np.random.default_rng(8)
    units = {"tar_units": rng.integers(0, 30, 200), "non_units": rng.integers(0, 30, (1500, 2))}
    return tuple(
        evaluate(
            rng.normal(2, 2, 200), rng.normal(-2, 2, 1500), name=name, operating_points=[0.01, (0.3, 5, 2)], **units
        )
        for name in ("A", HOSTILE[0])
    )


@pytest.fixture(scope="module")
def data(systems):
    return live_data(Page(results=Results(systems)), ["#0072B2", "#D55E00"])


def test_numbers_at_the_grid_are_those_of_the_evaluation(systems, data):
    for one, found in zip(systems, data["sets"][0]["systems"], strict=True):
        assert found["n_miss"] == one.at_priors.n_miss.tolist()
        assert found["n_fa"] == one.at_priors.n_fa.tolist()
        assert found["act_dcf"] == pytest.approx(one.at_priors.act_dcf.tolist(), rel=1e-8)
        assert found["min_dcf"] == pytest.approx(one.at_priors.min_dcf.tolist(), rel=1e-8)
        place = one.at_priors.nearest(-one.operating_points[1].threshold)
        exact = one.interval(("p_miss", 1))
        assert [end[place] for end in found["interval"]["p_miss"]] == pytest.approx([exact.low, exact.high], rel=1e-4)


def test_priors_are_as_short_as_they_can_be_typed(data):
    for p, x in zip(data["priors"], data["log_odds"], strict=True):
        assert math.log(p) - math.log1p(-p) == pytest.approx(x, abs=1e-9)
    assert {0.01, 0.05, 0.5, 0.001, 0.99} <= set(data["priors"])
    assert {f"{p:.4g}" for p in data["priors"][:50]} == {f"{p!r}".removesuffix(".0") for p in data["priors"][:50]}


def test_points_by_name_are_those_of_the_evaluation_then_of_plans(data):
    first, second = data["points"][:2]
    assert (first["p"], first["c_miss"], first["c_fa"]) == (0.01, 1.0, 1.0)
    assert first["of"].startswith("this evaluation, ")
    assert "voxceleb" in first["of"]
    assert (second["p"], second["c_miss"], second["c_fa"], second["of"]) == (0.3, 5.0, 2.0, "this evaluation")
    assert any("asvspoof5-cm" in one["of"] for one in data["points"])


def test_levels_hold_exact_counts(systems, data):
    one, found = systems[0], data["sets"][0]["systems"][0]["curves"]["levels"]
    for k in (0, 60, 125, 250):
        at = evaluate_at(one, 4 * k)
        assert (found["n_miss"][k], found["n_fa"][k]) == at


def evaluate_at(one, level):
    return round((1 - one.curves.tar_above[level]) * one.n_tar), round(one.curves.non_above[level] * one.n_non)


def test_curves_keep_their_ends_and_their_shape(systems, data):
    for one, found in zip(systems, data["sets"][0]["systems"], strict=True):
        det = found["curves"]["det"]
        assert (det["x"][0], det["y"][0], det["x"][-1], det["y"][-1]) == (1.0, 0.0, 0.0, 1.0)
        assert len(det["x"]) < 1_100
        points = set(zip(one.curves.roc_p_fa.round(9).tolist(), one.curves.roc_p_miss.round(9).tolist(), strict=True))
        assert all(
            min(abs(x - a) + abs(y - b) for a, b in points) < 2e-5
            for x, y in list(zip(det["x"], det["y"], strict=True))[::20]
        )


def test_data_are_json_that_no_name_can_leave(data):
    text = as_script_data(data)
    assert not set("<>&") & set(text)
    assert script_data(text) == data
    assert HOSTILE[0] in [one["name"] for one in script_data(text)["sets"][0]["systems"]]


def test_systems_that_were_asked_for_different_points_share_a_grid(systems):
    other = evaluate([1.0, 2.0], [0.0], name="B", operating_points=[1e-6])
    data = live_data(Page(results=Results((systems[0], other))), ["#0072B2", "#D55E00"])
    grid = data["log_odds"]
    assert all(len(one["n_miss"]) == len(grid) for one in data["sets"][0]["systems"])
    assert grid == sorted(grid)


def test_infinite_scores_weights_and_one_trial_of_each_class_give_json():
    rng = np.random.default_rng(2)
    some = [
        evaluate(np.append(rng.normal(1, 1, 9), -np.inf), np.append(rng.normal(-1, 1, 9), np.inf), name="infinite"),
        evaluate([1.0], [0.0], name="one"),
        evaluate([1.0, 2.0], [0.0, 1.5], tar_weights=[0.5, 0.25], non_weights=[1.5, 0.1], name="weighted"),
        evaluate([0.0, 0.0], [0.0], name="ties"),
    ]
    data = live_data(Page(results=Results(tuple(some))), ["#0072B2"] * 4)
    assert script_data(as_script_data(data)) == data
    assert data["sets"][0]["systems"][2]["n_miss"][0] == 0.75


def test_the_command_is_one_that_a_shell_takes():
    page = Page(results=Results((evaluate([1.0], [0.0]),)), command=("deciban", "eval", "a b.txt", "--key", "k.txt"))
    assert live_data(page, ["#0072B2"])["command"] == "deciban eval 'a b.txt' --key k.txt"


def test_evaluations_without_a_grid_have_a_page_without_charts(systems, monkeypatch):
    import dataclasses

    from deciban import plots

    monkeypatch.setattr(plots, "KINDS", ("tippett",))
    bare = dataclasses.replace(systems[0], at_priors=None)
    assert 'id="page-data"' not in render(bare)
