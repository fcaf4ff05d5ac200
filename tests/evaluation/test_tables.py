"""What results say of themselves: short in a prompt, as a table, and escaped in a notebook."""

import numpy as np
import pytest

from deciban import Results
from deciban.errors import InputError
from deciban.evaluation import evaluate, evaluate_classes
from deciban.trials import Index, JoinReport, Key, Scores, align

SCORES = np.array([0.5, 1.5, 2.5, 3.5]), np.array([-0.5, 1.0, 2.0])


def test_results_in_one_line():
    one = evaluate(*SCORES, name="a")
    assert repr(one) == (
        f"Evaluation('a': EER {100 * one.eer:.2f} %, Cllr {one.cllr:.3f}, min Cllr {one.min_cllr:.3f}; 4 target, "
        "3 non-target)"
    )
    assert repr(Results((one,), JoinReport(7, 0, 0, 0))) == "Results(1 system on 7 trials: a)"
    many = evaluate_classes(np.eye(3), [0, 1, 2], name="c")
    assert repr(many).startswith("ClassEvaluation('c': Cllr ")
    assert repr(many).endswith("; 3 segments of 3 classes)")
    assert len(repr(Results(tuple(evaluate(*SCORES, name=f"system {k}") for k in range(200))))) < 300


def test_tables_of_trials_in_one_line():
    key = Key.of({"enroll": ["m", "m"], "test": ["x", "y"]}, [True, False], conditions={"sex": ["f", "f"]})
    scores = Scores.of({"enroll": ["m", "m"], "test": ["x", "y"]}, [2.5, -1.0], name="a")
    assert repr(scores) == "Scores('a': 2 trials by enroll and test; from -1 to 2.5)"
    assert repr(key) == "Key(2 trials by enroll and test; with sex; 1 target, 1 non-target)"
    assert repr(Index.of({"trial": ["x"]})) == "Index(1 trial by trial)"
    assert repr(align(scores, key)) == "Aligned('a': 2 trials by enroll and test; with sex; 1 target, 1 non-target)"


def test_tables_as_text_have_the_figures():
    one = evaluate(*SCORES, name="a_b", operating_points=[0.5])
    point = one.operating_points[0]
    bins = [f"{100 * one.eer:.2f} %", *(f"{x:.3f}" for x in (point.min_dcf, point.act_dcf, one.cllr, one.min_cllr))]
    row = one.table().splitlines()[1]
    assert row.split("  ")[0] == "a_b"
    assert all(bin_of in row for bin_of in bins)
    assert r"| a\_b | " + " | ".join(bins) in one.table("markdown")
    assert max(map(len, one.table(width=50).splitlines())) <= 50
    with pytest.raises(InputError, match="style: got 'pdf'"):
        one.table("pdf")
    for width in (3, True, 40.0, "80"):
        with pytest.raises(InputError, match=f"width: got {width!r}"):
            one.table(width=width)
    for by in ("row", None, ["system"]):
        with pytest.raises(InputError, match="by: got"):
            one.to_arrow(by)


def test_notebooks_get_escaped_names():
    shown = evaluate(*SCORES, name="<script>x</script>")._repr_html_()
    assert "<table>" in shown
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown


def test_many_classes_show_those_with_most_errors():
    n, rng = 40, np.random.default_rng(5)
    label = np.repeat(np.arange(n), 20)
    score = rng.normal(size=(len(label), n))
    score[np.arange(len(label)), label] += np.linspace(0.5, 6.0, n)[label]
    names = [f"class{k:02d}" for k in range(n)]
    one = evaluate_classes(score, label, classes=names)
    worst = np.argsort(-one.class_error_rates, kind="stable")[:10]
    shown = [line.split()[0] for line in one.table().splitlines() if line[:5] == "class" and line[5:7].isdigit()]
    assert shown == [names[k] for k in worst]
    assert "10 classes with the greatest error rates, of 40 (all_classes=True shows all)" in one.table()
    every = [line.split()[0] for line in one.table(all_classes=True).splitlines() if line[5:7].isdigit()]
    assert every == names


def test_classes_of_several_systems_have_a_column_for_each_figure_in_csv():
    label = np.arange(60) % 3
    systems = [
        evaluate_classes(np.random.default_rng(k).normal(size=(60, 3)), label, classes=list("xyz"), name=name)
        for k, name in enumerate("AB")
    ]
    lines = Results(tuple(systems)).table("csv").splitlines()
    at = next(k for k, line in enumerate(lines) if line.startswith("class,segments,A: error rate in %"))
    for k, name in enumerate("xyz"):
        found = lines[at + 1 + k].split(",")
        wanted = [f"{100 * one.class_error_rates[k]:.2f} {one.detection.cllr[k]:.3f}" for one in systems]
        assert found[:2] == [name, "20"]
        assert [" ".join(found[2:4]), " ".join(found[5:7])] == wanted
