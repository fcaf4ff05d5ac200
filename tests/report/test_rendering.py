"""What `render` takes: results or evaluations of one kind, on every side of the page."""

import numpy as np
import pytest

from deciban import InputError
from deciban.calibration import AffineCalibrator, MulticlassCalibrator
from deciban.evaluation import Results, evaluate, evaluate_classes
from deciban.report import render

TWO = evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], name="two")
MANY = evaluate_classes(2.0 * np.eye(3), [0, 1, 2], classes=["x", "y", "z"], name="many")
PAIRS = pytest.mark.parametrize(("one", "other"), [(TWO, MANY), (MANY, TWO)], ids=["two-class", "classes"])


@PAIRS
def test_systems_are_of_one_kind(one, other):
    with pytest.raises(InputError, match=f"results: {other.name} is .*, but {one.name} is "):
        render([one, other])
    for name in ("train", "before"):
        for given in (other, [other], Results((other,))):
            with pytest.raises(InputError, match=f"{name}: {other.name} is "):
                render(one, **{name: given})
    with pytest.raises(InputError, match=f"train_before: {other.name} is "):
        render(one, train=one, train_before=other)
    with pytest.raises(InputError, match=f"before: {other.name} is "):
        render(Results((one,), before=Results((other,))))


@pytest.mark.parametrize("one", [TWO, MANY], ids=["two-class", "classes"])
def test_an_evaluation_stands_for_results_on_every_side(one):
    whole = Results((one,))
    assert render(one, train=one, before=one, train_before=one) == render(
        whole, train=whole, before=whole, train_before=whole
    )


@pytest.mark.parametrize("name", ["train", "before", "train_before"])
def test_what_is_no_result(name):
    with pytest.raises(InputError, match=f"{name}: got str. Pass the result of evaluate"):
        render(TWO, **{name: "results.json"})


def test_what_is_no_model_of_these_scores():
    for model, words in (
        ("m.json", "model: got str. Pass the model"),
        (MulticlassCalibrator(), "model: a model of kind 'multiclass-affine' is for multiclass scores"),
        (AffineCalibrator(), "AffineCalibrator: not trained yet"),
    ):
        with pytest.raises(InputError, match=words):
            render(TWO, model=model)
    with pytest.raises(InputError, match="model: a model of kind 'affine' is for two-class scores"):
        render(MANY, model=AffineCalibrator())
