"""What may be said about files and metrics: known by name, sorted once, and whole wherever it goes."""

from dataclasses import fields

import pytest

from deciban import InputError, apply_files, evaluate_files, report_files, train_files
from deciban.calibration import AffineCalibrator
from deciban.workflows import MetricOptions, Options, Reading, UncertaintyOptions, kind_of_scores

MODEL = AffineCalibrator().fit([3.0, 1.0, 2.0, -1.0, 1.5, 0.0], [True, True, True, False, False, False])
CALLS = {
    "evaluate_files": lambda **given: evaluate_files("no.txt", "no.key", **given),
    "train_files": lambda **given: train_files("no.txt", "no.key", **given),
    "apply_files": lambda **given: apply_files(MODEL, "no.txt", "out.txt", **given),
    "report_files": lambda **given: report_files("no.txt", "no.key", "out.html", **given),
    "kind_of_scores": lambda **given: kind_of_scores("no.txt", "no.key", **given),
}


@pytest.mark.parametrize("function", CALLS)
@pytest.mark.parametrize(
    ("given", "meant"),
    [("operating_point", "operating_points"), ("colums", "columns"), ("by-order", "by_order"), ("kinds", "kind")],
)
def test_a_misspelt_option_names_the_function_and_what_may_be_meant(function, given, meant):
    with pytest.raises(TypeError) as caught:
        CALLS[function](**{given: None})
    assert str(caught.value) == (f"{function}() got an unexpected keyword argument {given!r}. Did you mean {meant}?")


def test_nothing_is_guessed_where_nothing_is_near():
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'zzz'\.$"):
        evaluate_files("no.txt", zzz=1)


def test_every_option_goes_where_it_belongs():
    for made, part in ((Reading, "reading"), (MetricOptions, "metrics")):
        for one in fields(made):
            value = object() if one.name not in ("detection_llr", "operating_points") else [one.name]
            assert getattr(getattr(Options.of("f", {one.name: value}), part), one.name) == value
    said = {"units": "spk", "level": 0.9, "bootstrap": 10, "seed": 1, "optimism": True}
    for name, value in (said | {"units_required": False}).items():
        assert getattr(Options.of("f", {name: value}).how_sure, name) == value
    assert not Options.of("f", {"intervals": False}).how_sure.intervals
    names = [one.name for made in (Reading, MetricOptions, UncertaintyOptions) for one in fields(made)]
    assert len(set(names)) == len(names)
    assert Options.of("f", {"kind": "classes"}).kind == "classes"
    assert Options.of("f", {}) == Options()


def test_a_kind_that_is_none():
    with pytest.raises(InputError, match="kind: got 'multi'. It must be 'two-class' or 'classes', or left out"):
        evaluate_files("no.txt", kind="multi")


def test_scores_have_one_unit():
    with pytest.raises(InputError, match="detection llrs or log posteriors, not both"):
        Options.of("f", {"detection_llr": True, "posterior_prior": [0.5, 0.5]})


def test_operating_points_are_there_for_every_system(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("trial,score,label\na,2.5,1\nb,1,1\nc,-0.5,0\nd,1.5,0\n")
    points = (p for p in (0.1, 0.3))  # can be gone through once
    done = evaluate_files([tmp_path / "a.csv", tmp_path / "b.csv"], operating_points=points)
    assert [[point.p_target for point in one.operating_points] for one in done.systems] == [[0.1, 0.3]] * 2


def test_only_the_key_of_training_needs_the_weights():
    asked = Options.of("f", {"weights": "w", "log10": True, "kind": "two-class", "operating_points": [0.1]})
    lenient = asked.lenient()
    assert (asked.reading.weights_required, lenient.reading.weights_required) == (True, False)
    assert (lenient.reading.weights, lenient.reading.log10, lenient.kind) == ("w", True, "two-class")
    assert lenient.metrics == asked.metrics


def test_options_are_sorted_once():
    asked = Options.of("f", {"log10": True, "kind": "two-class", "operating_points": [0.1]})
    assert Options.of("f", {"options": asked}) is asked
    with pytest.raises(TypeError, match=r"f\(\) got options, and also log10, kind"):
        Options.of("f", {"options": asked, "log10": True, "kind": "two-class"})
