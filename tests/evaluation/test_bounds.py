"""Bounds in results: in place of a number wherever figures are shown; see `tests/engines/test_pruning.py` for laws."""

import json

import jsonschema
import numpy as np
import pytest

import deciban
from deciban.core.ranks.pruning import told_apart
from deciban.engines.pruning import bounded_summary, tally_of
from deciban.errors import InputError
from deciban.evaluation.bounds import require_bounded
from deciban.evaluation.summary import TwoClassFigures, merged, summarize
from deciban.evaluation.two_class import evaluation_of
from support.shards import source_of


def bounded(n=4000, room=60, seed=1):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.5
    scores = rng.normal(size=n) + 2.0 * truth
    figures = TwoClassFigures([0.1, 0.5])
    tally = tally_of(0, figures, np.float64, room)
    tally.take(source_of(scores, truth, rng).pieces)
    summary = bounded_summary(told_apart(tally.merged()), tally.survey)
    return summary, evaluation_of(summary), evaluation_of(summarize(scores[truth], scores[~truth], figures=figures))


def test_json_has_null_and_bounds():
    _, found, exact = bounded()
    results = json.loads(deciban.Results((found,)).to_json())
    jsonschema.validate(results, deciban.json_schemas()["results"])
    one = results["systems"][0]
    for name in ("eer", "auc", "min_cllr", "prbep", "calibration_loss", "n_tied", "mean_min_dcf", "eer_threshold"):
        assert one[name] is None
    for name in ("eer", "auc", "min_cllr", "prbep", "calibration_loss", "n_tied", "mean_min_dcf"):
        assert one["bounds"][name]["low"] <= getattr(exact, name) <= one["bounds"][name]["high"]
    for k, point in enumerate(one["operating_points"]):
        assert point["min_dcf"] is None
        assert point["min_threshold"] is None
        low, high = point["bounds"]["min_dcf"].values()
        assert low <= exact.operating_points[k].min_dcf <= high
    assert "bounds" not in json.loads(deciban.Results((exact,)).to_json())["systems"][0]


def test_bounds_shrink_with_more_cells_until_all_is_known():
    widths = []
    for room in (60, 2500, 6000):
        bounds = bounded(room=room)[1].bounds
        widths.append(bounds["min_cllr"][1] - bounds["min_cllr"][0] if "min_cllr" in bounds else 0.0)
    assert widths[0] > widths[1] > widths[2] == 0.0
    _, found, exact = bounded(room=6000)
    assert (found.eer, found.auc, found.n_tied, found.dr30) == (exact.eer, exact.auc, exact.n_tied, exact.dr30)
    assert found.operating_points == exact.operating_points


def test_summaries_of_cells_do_not_merge_as_scores_do():
    summary = bounded()[0]
    with pytest.raises(InputError, match="known by their cell alone"):
        merged([summary, summary])


def test_words_of_an_evaluation_have_no_bare_number():
    _, found, _ = bounded()
    assert "EER within (" in repr(found)
    assert "nan" not in repr(found)
    assert found.notes[-1].startswith("Approximate:")


def test_figures_without_bounds_are_named():
    require_bounded(TwoClassFigures([0.1], at_thresholds={"x": 1.0}))
    with pytest.raises(InputError, match="eer_conventions and fmr_at asks for"):
        require_bounded(TwoClassFigures(eer_conventions=True, fmr_at=[0.1]))
