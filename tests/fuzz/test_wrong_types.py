"""Whatever is passed to a public function in place of what it takes: an error of ours that names it, or an answer.

Every argument of every call is replaced, one at a time, by each value of a zoo. Arguments that a function does not have
are Python's own business (`TypeError`), and so is a call without arguments that it needs.
"""

import contextlib
import io
import warnings
from datetime import date

import numpy as np
import pytest

import deciban
from deciban import calibration, decisions, evaluation, fusion, metrics, multiclass, trials
from deciban.errors import DecibanError

RNG = np.random.default_rng(0)
Y = np.tile([True, False, False], 20)
S = np.where(Y, 1.0, -1.0) + RNG.normal(0, 1, 60)
TAR, NON = S[Y], S[~Y]
LABEL = np.tile([0, 1, 2], 20)
L = RNG.normal(size=(60, 3)) + np.eye(3)[LABEL]
NAMES = {"enroll": ["a", "b"] * 30, "test": [f"t{k}" for k in range(60)]}
FRAME = {"score": S, "label": Y, "a": L[:, 0], "b": L[:, 1], "c": L[:, 2], "class": np.array(list("abc"))[LABEL]}


class Odd:
    """Something that nobody expects."""

    def __repr__(self):
        return "Odd()"


def zoo():
    """Values of types that somebody might pass; new ones each time, as some can be used up."""
    values = {
        "none": None,
        "text": "text",
        "empty text": "",
        "bytes": b"bytes",
        "number": 3,
        "fraction": 0.5,
        "negative": -1,
        "nan": float("nan"),
        "inf": float("inf"),
        "huge": 10**400,
        "truth": True,
        "complex": 1j,
        "mapping": {},
        "mapping of lists": {"a": [1.0, 2.0]},
        "mapping of numbers": {1: 2},
        "set": {1, 2},
        "odd": Odd(),
        "class": Odd,
        "function": lambda: None,
        "generator": (one for one in (1, 2)),
        "ragged": [[1.0], [2.0, 3.0]],
        "texts": ["a", "b"],
        "mixed": [1, "a", None],
        "empty": [],
        "nested": [[[[1.0]]]],
        "numbers": [0.25, 0.5, 0.25],
        "complex array": np.array([1j, 2.0]),
        "objects": np.array([Odd(), None], dtype=object),
        "masked": np.ma.array([1.0, 2.0], mask=[True, False]),
        "dates": np.array(["2020-01-01"], dtype="datetime64[D]"),
        "spans": np.array([1, 2], dtype="timedelta64[s]"),
        "structured": np.array([(1, 2.0)], dtype=[("a", int), ("b", float)]),
        "zero-dimensional": np.array(1.0),
        "void": np.zeros(2, dtype="V4"),
        "date": date(2020, 1, 1),
        "open file": io.BytesIO(b"x"),
    }
    with contextlib.suppress(ImportError):
        import pandas as pd

        values |= {
            "frame": pd.DataFrame({"a": [1.0], "b": ["x"]}),
            "series": pd.Series([1.0, None]),
            "times": pd.Series(pd.to_datetime(["2020-01-01"])),
            "categories": pd.Series(["a"], dtype="category"),
            "missing": pd.NA,
        }
    return values


def of_two_sets(function, **more):
    return function, {"tar": TAR, "non": NON, "tar_weights": np.ones(20), "non_weights": np.ones(40), **more}


POINT = {"p_target": 0.1, "c_miss": 1.0, "c_fa": 1.0}
CLASSES = {"loglik": L, "label": LABEL}
COSTS = {"loglik": L, "costs": 1 - np.eye(3), "prior": [0.2, 0.3, 0.5]}
CALLS = {
    **{
        name: of_two_sets(getattr(metrics, name))
        for name in ("cllr", "min_cllr", "eer", "auc", "prbep", "pav", "rocch")
    },
    **{name: of_two_sets(getattr(metrics, name), **POINT) for name in ("act_dcf", "min_dcf")},
    "cross_entropy": of_two_sets(metrics.cross_entropy, p_target=0.1),
    "bayes_error": of_two_sets(metrics.bayes_error, prior_log_odds=-1.0),
    "uer": of_two_sets(metrics.uer, ratio=2.0),
    "dr30": of_two_sets(metrics.dr30, n_errors=30),
    "scoring_rule_cost": of_two_sets(metrics.scoring_rule_cost, alpha=2.0, beta=1.0, p_target=0.1),
    "min_scoring_rule_cost": of_two_sets(metrics.min_scoring_rule_cost, alpha=2.0, beta=1.0, p_target=0.1),
    "c_primary": of_two_sets(metrics.c_primary, operating_points=[0.01, 0.005]),
    "OperatingPoint": (deciban.OperatingPoint, POINT),
    "evaluate": of_two_sets(deciban.evaluate, operating_points=[0.1], name="a"),
    "evaluate a frame": (deciban.evaluate, {"tar": FRAME, "score": "score", "label": "label", "trial": None}),
    "summarize": of_two_sets(evaluation.summarize, metrics=None),
    "evaluate_classes": (
        deciban.evaluate_classes,
        {**CLASSES, "classes": list("abc"), "prior": [0.2, 0.3, 0.5], "p_target": 0.5, "sample_weight": np.ones(60)},
    ),
    "evaluate_classes of a frame": (
        deciban.evaluate_classes,
        {"loglik": FRAME, "label": "class", "classes": list("abc"), "trial": None},
    ),
    "evaluate_groups": (
        evaluation.evaluate_groups,
        {**CLASSES, "groups": {"x": ["a"], "y": ["b", "c"]}, "classes": list("abc")},
    ),
    "calibrate": (deciban.calibrate, {"scores": S, "label": Y, "model": None, "weights": np.ones(60), "labels": None}),
    "calibrate a frame": (deciban.calibrate, {"scores": FRAME, "label": "label", "score": "score"}),
    "fuse": (deciban.fuse, {"scores": np.column_stack([S, -S + RNG.normal(size=60)]), "label": Y, "score": None}),
    "fuse classes": (deciban.fuse, {"scores": np.stack([L, L * 2], 1), "label": LABEL, "classes": list("abc")}),
    **{
        f"classes: {name}": (getattr(multiclass, name), dict(CLASSES))
        for name in ("cllr", "min_cllr", "confusion", "class_error_rates", "calibration_analysis", "subset_c_avg")
    },
    "classes: cross_entropy": (multiclass.cross_entropy, {**CLASSES, "prior": [0.2, 0.3, 0.5]}),
    "classes: brier": (multiclass.brier, {**CLASSES, "prior": [0.2, 0.3, 0.5]}),
    "classes: c_avg": (multiclass.c_avg, {**CLASSES, "p_target": 0.5, "p_out_of_set": None}),
    "classes: error_rate": (multiclass.error_rate, {**CLASSES, "prior": [0.2, 0.3, 0.5]}),
    "posterior": (multiclass.posterior, {"loglik": L, "prior": [0.2, 0.3, 0.5]}),
    "detection_llr": (multiclass.detection_llr, {"loglik": L, "target": 1, "prior": None}),
    "pairwise_llr": (multiclass.pairwise_llr, {"loglik": L, "i": 0, "j": 1}),
    "group_loglik": (multiclass.group_loglik, {"loglik": L, "groups": [[0], [1, 2]], "prior": None}),
    "project_detection_llr": (multiclass.project_detection_llr, {"detection_llr": L}),
    "bayes_decisions": (decisions.bayes_decisions, dict(COSTS)),
    "empirical_risk": (decisions.empirical_risk, {**COSTS, "label": LABEL}),
    "effective_prior": (decisions.effective_prior, dict(POINT)),
    "bayes_threshold": (decisions.bayes_threshold, dict(POINT)),
    "AffineCalibrator": (calibration.AffineCalibrator, {"p_target": 0.5, "alpha": 1.0, "beta": 1.0, "ridge": 0.1}),
    "AffineCalibrator.fit": (calibration.AffineCalibrator().fit, {"scores": S, "is_target": Y, "sample_weight": None}),
    "AffineCalibrator.transform": (calibration.AffineCalibrator().fit(S, Y).transform, {"scores": S}),
    "PavCalibrator": (calibration.PavCalibrator, {"interpolation": "linear", "smoothing": 1.0, "bound": 5.0}),
    "PavCalibrator.fit": (calibration.PavCalibrator().fit, {"scores": S, "is_target": Y, "sample_weight": None}),
    "GaussianCalibrator.fit": (calibration.GaussianCalibrator().fit, {"scores": S, "is_target": Y}),
    "MulticlassCalibrator": (calibration.MulticlassCalibrator, {"prior": None, "ridge": 0.1}),
    "MulticlassCalibrator.fit": (calibration.MulticlassCalibrator().fit, {"loglik": L, "label": LABEL}),
    "LinearFusion.fit": (fusion.LinearFusion().fit, {"scores": S[:, None], "is_target": Y, "sample_weight": None}),
    "MulticlassFusion.fit": (fusion.MulticlassFusion().fit, {"loglik": L[:, None], "label": LABEL}),
    "cross_validated": (
        calibration.cross_validated,
        {"calibrator": calibration.AffineCalibrator(), "scores": S, "is_target": Y, "n_folds": 3, "groups": None},
    ),
    "Scores.of": (trials.Scores.of, {"ids": NAMES, "score": S, "name": "a"}),
    "Key.of": (trials.Key.of, {"ids": NAMES, "is_target": Y}),
    "align": (
        deciban.align,
        {"scores": trials.Scores.of(NAMES, S), "key": trials.Key.of(NAMES, Y), "missing": "error"},
    ),
    "scores_from": (trials.scores_from, {"frame": {**FRAME, **NAMES}, "score": "score"}),
    "key_from": (trials.key_from, {"frame": {**FRAME, **NAMES}, "is_target": "label"}),
    "read_scores": (deciban.read_scores, {"path": "nowhere.txt", "format": None, "columns": None, "labels": None}),
    "read_key": (deciban.read_key, {"path": "nowhere.txt"}),
    "read_index": (deciban.read_index, {"path": "nowhere.txt"}),
    "read_class_scores": (deciban.read_class_scores, {"path": "nowhere.txt"}),
    "load_model": (deciban.load_model, {"path": "nowhere.json"}),
    "evaluate_files": (deciban.evaluate_files, {"scores": "nowhere.txt", "key": "nowhere.txt", "model": None}),
    "train_files": (deciban.train_files, {"scores": "nowhere.txt", "key": None, "model": None}),
    "apply_files": (deciban.apply_files, {"model": "nowhere.json", "scores": "nowhere.txt", "out": "nowhere.out"}),
}


@pytest.mark.parametrize("name", CALLS)
def test_errors_are_ours(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function, right = CALLS[name]
    foreign = []
    with contextlib.suppress(FileNotFoundError):
        function(**right)
    for argument in right:
        for kind, value in zoo().items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    function(**{**right, argument: value})
                except (DecibanError, OSError):
                    pass  # a name of a file is one, even if there is no such file
                except Exception as error:  # noqa: BLE001  # that is what is looked for
                    foreign.append(f"{argument} = {kind}: {type(error).__name__}: {str(error)[:100]}")
    assert not foreign, "\n".join(foreign)
