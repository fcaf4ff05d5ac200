"""Results: one class for both kinds, comparable, with plots by name."""

import copy
import json

import numpy as np
import pytest

import deciban
from deciban import InputError, evaluate, evaluate_classes, fusion, metrics
from deciban.errors import Message
from deciban.evaluation import ClassResults, Results
from support.class_files import trials

TAR, NON = [1.0, 2.0, 2.0], [0.0, 1.0, -1.0]


def one_of(kind, name="sys"):
    return evaluate(TAR, NON, name=name) if kind == "two-class" else evaluate_classes(*trials(), name=name)


@pytest.mark.parametrize("kind", ["two-class", "classes"])
def test_results_of_both_kinds_are_one_thing(kind):
    results = Results((one_of(kind),), None, ("read  a.txt",))
    assert results.kind == kind
    assert results.message_lines == ("read  a.txt",)
    assert Results((one_of(kind),), messages=(Message("read", "a.txt", "kaldi"),)).message_lines == (
        "read  a.txt   kaldi",
    )
    told = json.loads(results.to_json())
    assert told["kind"] == told["systems"][0]["kind"] == kind
    assert told["inputs"] == ["read  a.txt"]
    assert {"schema", "join", "conventions"} < told.keys()
    assert results.classes == (("0", "1", "2") if kind == "classes" else ())


def test_many_classes_have_no_results_of_their_own():
    assert ClassResults is Results is deciban.ClassResults


@pytest.mark.parametrize("kind", ["two-class", "classes"])
def test_equal_results_are_equal_and_hash_alike(kind):
    one, two, other = one_of(kind), one_of(kind), one_of(kind, "other")
    assert one == two
    assert hash(one) == hash(two)
    assert one != other
    assert one != 1
    assert other in [one, other]
    assert Results((one,)) == Results((two,))
    assert Results((one,)) != Results((other,))
    assert len({one, two, other}) == 2
    assert one.curves == two.curves
    assert copy.deepcopy(one) == one


def test_other_scores_make_other_results():
    assert evaluate(TAR, NON) != evaluate(TAR, [0.0, 1.0, -1.5])  # the same order: curves tell them apart


@pytest.mark.parametrize("view", [metrics.pav, metrics.rocch])
def test_views_of_ranks_can_be_compared(view):
    assert view(TAR, NON) == view(TAR, NON)
    assert hash(view(TAR, NON)) == hash(view(TAR, NON))
    assert view(TAR, NON) != view(TAR, [0.0, 1.0])


@pytest.mark.parametrize(("kind", "plot"), [("two-class", "det"), ("classes", "confusion")])
def test_plots_are_there_for_systems_and_results(kind, plot):
    one = one_of(kind)
    for result in (one, Results((one,))):
        assert plot in dir(result.plot)
        assert getattr(result.plot, plot)().has_data()
        with pytest.raises(AttributeError, match=rf"no plot 'nothing' of {kind} results; the plots are .*{plot}"):
            result.plot.nothing
    assert not hasattr(one.plot, "confusion" if kind == "two-class" else "det")


def test_costs_at_the_first_point_have_names():
    result = evaluate(TAR, NON, operating_points=[0.1, 0.5])
    assert result.min_dcf == result.operating_points[0].min_dcf == metrics.min_dcf(TAR, NON, p_target=0.1)
    assert result.act_dcf == metrics.act_dcf(TAR, NON, p_target=0.1)


@pytest.mark.parametrize("scores", [np.array([True, False]), [True, False]])
def test_booleans_are_no_scores(scores):
    words = r"got booleans, which are labels, not scores. .* pass scores\[y\], scores\[~y\]"
    for refused in (
        lambda: evaluate(scores, [0.5, 1.0]),
        lambda: metrics.cllr([0.5, 1.0], scores),
        lambda: evaluate_classes(np.stack((scores, scores)), [0, 1]),
        lambda: fusion.LinearFusion().fit(np.stack((scores, scores)), [True, False]),
    ):
        with pytest.raises(InputError, match=words):
            refused()
