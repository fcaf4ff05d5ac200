"""Files, frames and models compared: on which trials, in which pairs, with which messages."""

from pathlib import Path

import numpy as np
import pytest

import deciban
from deciban.calibration import AffineCalibrator
from deciban.errors import InputError
from deciban.workflows.comparing import require_metrics
from deciban.workflows.kinds import kind_called
from deciban.workflows.options import Options
from support.class_files import write_files

SPEAKERS = 12


@pytest.fixture
def files(tmp_path, monkeypatch):
    """All trials of two recordings of each speaker against one another, and two systems."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(2)
    names = [(f"e{i}", f"t{j}", i == j) for i in range(SPEAKERS) for j in range(SPEAKERS)]
    Path("key.txt").write_text("".join(f"{e} {t} {'target' if x else 'nontarget'}\n" for e, t, x in names))
    for name, slope in (("a", 2.0), ("b", 1.0)):
        lines = [f"{e} {t} {slope * (2 * x - 1 + 1.2 * rng.normal()):.3f}\n" for e, t, x in names]
        Path(f"{name}.txt").write_text("".join(lines))
        Path(f"{name}_part.txt").write_text("".join(lines[SPEAKERS:]))
    return tmp_path


@pytest.mark.usefixtures("files")
def test_systems_are_compared_on_the_trials_that_all_scored():
    found = deciban.compare_files(["a.txt", "b_part.txt"], "key.txt")
    whole = deciban.compare_files(["a_part.txt", "b_part.txt"], "key.txt", missing="drop")
    assert found.difference("cllr").estimate == whole.difference("cllr").estimate
    n_trials = SPEAKERS * (SPEAKERS - 1)
    assert any(f"{n_trials} matched · {SPEAKERS} missing" in line for line in found.message_lines)
    with pytest.raises(deciban.KeyMismatchError):
        deciban.compare_files(["a.txt", "b_part.txt"], "key.txt", missing="error")


@pytest.mark.usefixtures("files")
def test_files_and_evaluations_say_the_same():
    found = deciban.compare_files(["a.txt", "b.txt"], "key.txt", units="trials", level=0.9)
    results = deciban.evaluate_files(["a.txt", "b.txt"], "key.txt", units="trials", level=0.9)
    same = deciban.compare(results, level=0.9)
    assert found.difference("eer") == same.difference("eer")
    assert (found.level, found.difference("eer").n_units) == (0.9, SPEAKERS**2)
    assert "trials taken as independent" in found.table()


@pytest.mark.usefixtures("files")
def test_before_is_compared_with_after():
    model = deciban.train_files(["a.txt"], "key.txt", AffineCalibrator()).model
    found = deciban.compare_files(["a.txt"], "key.txt", model=model)
    assert [pair.names for pair in found.pairs] == [("a", "a (calibrated)")]
    assert found.difference("min_cllr").estimate == 0.0
    assert found.difference("cllr").estimate > 0.0
    fusion = deciban.train_files(["a.txt", "b.txt"], "key.txt").model
    found = deciban.compare_files(["a.txt", "b.txt"], "key.txt", model=fusion)
    assert [pair.names for pair in found.pairs] == [("fusion", "a"), ("fusion", "b")]
    found = deciban.compare_files(["a.txt", "b.txt"], "key.txt", model=fusion, against="all")
    assert len(found.pairs) == 3


@pytest.mark.usefixtures("files")
def test_frames_hold_several_systems():
    rng = np.random.default_rng(0)
    truth = np.arange(80) % 2 == 0
    frame = {
        "a": rng.normal(size=80) + 4.0 * truth - 2.0,
        "b": rng.normal(size=80) + 4.0 * truth - 1.0,
        "label": truth,
        "speaker": [f"s{k // 4}" for k in range(80)],
        "trial": [f"t{k}" for k in range(80)],
    }
    found = deciban.compare(frame, score=["a", "b"], trial="trial", units="speaker")
    direct = deciban.compare(
        *((np.asarray(frame[name])[truth], np.asarray(frame[name])[~truth]) for name in "ab"),
        tar_units=np.asarray(frame["speaker"])[truth],
        non_units=np.asarray(frame["speaker"])[~truth],
    )
    one, other = found.difference("cllr"), direct.difference("cllr")
    assert (one.estimate, one.low, one.n_units) == pytest.approx((other.estimate, other.low, 20))
    with pytest.raises(InputError, match="name the columns of all systems"):
        deciban.compare(frame, score="a", trial="trial", units="speaker")


@pytest.mark.usefixtures("files")
def test_what_files_cannot_be_asked():
    with pytest.raises(InputError, match="a comparison needs them"):
        deciban.compare_files(["a.txt", "b.txt"], "key.txt", intervals=False)
    with pytest.raises(InputError, match="got 1 system"):
        deciban.compare_files(["a.txt"], "key.txt")
    with pytest.raises(TypeError, match=r"compare_files\(\) got an unexpected keyword argument 'unit'.*units"):
        deciban.compare_files(["a.txt", "b.txt"], "key.txt", unit="x")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("points", [{}, {"operating_points": [0.1, 0.01, (0.5, 1, 10)]}])
def test_what_may_be_asked_for_is_what_evaluations_have(points):
    """Names that are known before an evaluation are those that it has with an interval, at as many points."""
    (system,) = deciban.evaluate_files("a.txt", "key.txt", **points).systems
    known = kind_called("two-class").compared_metrics(Options.of("f", points).metrics)
    assert set(known) == set(system.uncertainty.estimates)


@pytest.mark.parametrize("points", [{}, {"p_target": [0.5, 0.1]}, {"p_target": 0.2, "p_out_of_set": 0.1}])
def test_what_may_be_asked_for_of_many_classes(points, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    (system,) = deciban.evaluate_files("sysA.csv", "key.csv", **points).systems
    known = kind_called("classes").compared_metrics(Options.of("f", points).metrics)
    assert set(known) == {
        one for one in system.uncertainty.estimates if isinstance(one, str) or isinstance(one[1], int)
    }


def test_figures_that_are_none_are_refused_by_what_asked_for_them():
    require_metrics(["eer", "min_dcf", "min_dcf@1"], kind_called("two-class"), Options(), "metric")
    for name in ("err", "eer@1", "c_avg", ""):
        with pytest.raises(
            InputError, match=rf"^gate: '{name}' is not a metric of two-class scores .* Use one of eer, "
        ):
            require_metrics(["eer", name], kind_called("two-class"), Options(), "gate")
    with pytest.raises(InputError, match="^gate: 'min_dcf@2' needs more than 1 operating point."):
        require_metrics(["min_dcf@2"], kind_called("two-class"), Options(), "gate")
