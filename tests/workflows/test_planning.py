"""Plans from files: names of trials are segments, units are those of evaluations."""

import numpy as np
import pytest

from deciban import InputError, evaluate_files, plan, plan_files
from deciban.io import write_demo


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planning")
    write_demo(folder)
    return folder


def sizes(found):
    return [(one.n_units, one.n_segments, one.n_tar, one.n_non) for one in found.designs]


def test_files_are_planned_as_arrays_are(demo):
    found = plan_files(demo / "sysA.txt", demo / "key.txt", metric="cllr", width=0.05)
    rows = [line.split() for line in (demo / "sysA.txt").read_text().splitlines()]
    model, segment = (np.array([row[k] for row in rows]) for k in (0, 1))
    truth = {tuple(line.split()[:2]): line.split()[2] for line in (demo / "key.txt").read_text().splitlines()}
    same = np.array([truth[row[0], row[1]] == "target" for row in rows])
    owner = dict(zip(segment[same], model[same], strict=True))
    units = np.stack((model, [owner[one] for one in segment]), 1)
    names = np.stack((model, segment), 1)
    score = np.array([float(row[2]) for row in rows])
    expected = plan(
        score[same], score[~same], metric="cllr", width=0.05, tar_units=units[same], non_units=units[~same],
        tar_segments=names[same], non_segments=names[~same],
    )  # fmt: skip
    assert found.pilot.noun == "speaker"
    assert sizes(found) == sizes(expected)
    assert found.levels == pytest.approx(expected.levels, rel=1e-9)
    assert any(one.kind == "units" for one in found.messages)


def test_the_order_of_rows_changes_nothing(demo, tmp_path):
    lines = (demo / "sysA.txt").read_text().splitlines(keepends=True)
    (tmp_path / "mixed.txt").write_text("".join(np.random.default_rng(1).permutation(lines)))
    key = (demo / "key.txt").read_text().splitlines(keepends=True)
    (tmp_path / "key.txt").write_text("".join(np.random.default_rng(2).permutation(key)))
    one, other = (
        plan_files(path, key, width=0.02)
        for path, key in ((demo / "sysA.txt", demo / "key.txt"), (tmp_path / "mixed.txt", tmp_path / "key.txt"))
    )
    assert one.designs[0].n_units == other.designs[0].n_units
    assert one.levels == pytest.approx(other.levels, rel=1e-9, abs=1e-18)


def test_two_systems_are_planned_by_their_difference(demo):
    files = [demo / "sysA.txt", demo / "sysB.txt"]
    found = plan_files(files, demo / "key.txt", metric="cllr", difference=0.02)
    first, second = evaluate_files(files, demo / "key.txt").systems
    assert found.pilot.value == pytest.approx(first.cllr - second.cllr)
    assert found.pilot.names == ("sysA", "sysB")


def test_trials_of_weight_zero_say_nothing(demo, tmp_path):
    rows = [line.split() for line in (demo / "key.txt").read_text().splitlines()]
    weight = [int(int(row[0][3:]) < 60 and int(row[1][3:6]) < 60) for row in rows]
    lines = [f"{m},{s},{t},{w}\n" for (m, s, t), w in zip(rows, weight, strict=True)]
    (tmp_path / "weighted.csv").write_text("enroll,test,label,weight\n" + "".join(lines))
    (tmp_path / "some.csv").write_text(
        "enroll,test,label\n" + "".join(f"{m},{s},{t}\n" for (m, s, t), w in zip(rows, weight, strict=True) if w)
    )
    weighted = plan_files(demo / "sysA.txt", tmp_path / "weighted.csv", width=0.02, weights="weight")
    some = plan_files(demo / "sysA.txt", tmp_path / "some.csv", width=0.02)
    assert sizes(weighted) == sizes(some)
    assert (some.pilot.n_units, some.pilot.n_tar) == (60, 360)


def test_refusals(demo, tmp_path):
    rows = "".join(f"t{i},{i % 2},{i % 7 + 2 * (i % 2)}\n" for i in range(40))
    (tmp_path / "plain.csv").write_text(f"trial,label,score\n{rows}")
    found = plan_files(tmp_path / "plain.csv", width=0.1)
    assert sizes(found) == sizes(plan_files(tmp_path / "plain.csv", width=0.1, units="trials"))
    assert (found.pilot.noun, found.pilot.n_segments) == ("trial", None)
    with pytest.raises(InputError, match="3 systems"):
        plan_files([demo / "sysA.txt"] * 3, demo / "key.txt", width=0.1)
    with pytest.raises(TypeError, match=r"plan_files\(\) got an unexpected"):
        plan_files(demo / "sysA.txt", demo / "key.txt", width=0.1, sample=3)


@pytest.mark.parametrize("other", [{"bootstrap": 10}, {"optimism": False}, {"intervals": False}, {"seed": 1}])
def test_what_a_plan_would_overlook_is_refused(demo, other):
    with pytest.raises(
        InputError, match=f"^{next(iter(other))}: is not used by a plan, which needs only the variance between units"
    ):
        plan_files(demo / "sysA.txt", demo / "key.txt", width=0.02, **other)
