"""Score files and keys that write the names of trials differently."""

import numpy as np
import pytest

import deciban
from deciban import InputError, KeyMismatchError
from deciban.io.validation import validate
from support.both_kinds import MADE


@pytest.fixture(params=list(MADE))
def files(request, tmp_path):
    """Files of two classes, then of many; the key writes names with a folder and an ending."""
    made = MADE[request.param](tmp_path)
    lines = made.key.read_text().splitlines()
    (tmp_path / "named.csv").write_text(
        "\n".join([lines[0], *(f"/d/{line.replace(',', '.wav,', 1)}" for line in lines[1:])])
    )
    names = [line.partition(",")[0] for line in lines[1:]]
    (tmp_path / "map.csv").write_text("left,right\n" + "".join(f"{name},/d/{name}.wav\n" for name in names))
    return made, tmp_path


RULES = "strip-ending,basename"


def test_everything_is_as_with_one_way_to_write_them(files):
    made, folder = files
    plain = {"intervals": False}  # units are dealt out by their names, which are others here
    expected = deciban.evaluate_files(made.paths, made.key, **plain)
    for ids in (RULES, folder / "map.csv"):
        found = deciban.evaluate_files(made.paths, folder / "named.csv", ids=ids, **plain)
        assert [one.to_dict() for one in found.systems] == [one.to_dict() for one in expected.systems]
        assert found.join == expected.join
        (said,) = [line for line in found.message_lines if line.startswith("ids")]
        assert str(ids) in said
        assert f"{expected.join.matched:,} names of" in said


def test_a_failure_says_what_would_help(files):
    made, folder = files
    with pytest.raises(KeyMismatchError, match=rf"all \d+ would match without '\.wav' and by .*: ids=.{RULES}.\."):
        deciban.evaluate_files(made.paths, folder / "named.csv")


def test_a_part_that_is_dropped_says_what_would_help(files):
    made, folder = files
    plain, other = made.key.read_text().splitlines(), (folder / "named.csv").read_text().splitlines()
    half = len(plain) // 2
    (folder / "mixed.csv").write_text("\n".join(plain[:half] + other[half:]))
    found = deciban.evaluate_files(made.paths, folder / "mixed.csv", missing="drop")
    (said,) = [line for line in found.message_lines if "would match" in line]
    assert said.endswith(f'ids="{RULES}"')
    assert any(line.startswith("used") for line in found.message_lines)
    whole = deciban.evaluate_files(made.paths, folder / "mixed.csv", ids=RULES)
    assert whole.join.missing == 0


def test_training_and_what_it_writes(files):
    made, folder = files
    for ids in (RULES, folder / "map.csv"):
        done = deciban.train_files(made.paths, folder / "named.csv", ids=ids, cross_validate=3)
        expected = deciban.train_files(made.paths, made.key, cross_validate=3)
        assert done.model.parameters() == expected.model.parameters()
        how = {"known": done.cross_validated_scores, "ids": ids}
        deciban.apply_files(done.model, made.paths, folder / "out.csv", **how)
        deciban.apply_files(expected.model, made.paths, folder / "expected.csv", known=expected.cross_validated_scores)
        assert (folder / "out.csv").read_text() == (folder / "expected.csv").read_text()


def test_a_fusion_of_files_that_write_names_differently(files):
    made, folder = files
    done = deciban.train_files(made.paths, made.key)
    deciban.apply_files(done.model, made.paths, folder / "expected.csv")
    other = folder / made.paths[1].name.replace(".", "_other.")
    header, *lines = made.paths[1].read_text().splitlines()
    other.write_text("\n".join([header, *(line.replace(",", ".sph,", 1) for line in lines)]))
    with pytest.raises(KeyMismatchError, match=r"without '\.sph'"):
        deciban.apply_files(done.model, [made.paths[0], other], folder / "out.csv")
    deciban.apply_files(done.model, [made.paths[0], other], folder / "out.csv", ids="strip-ending")
    assert (folder / "out.csv").read_text() == (folder / "expected.csv").read_text()


def test_an_option_that_is_no_way_to_compare_names(files):
    made, _ = files
    with pytest.raises(InputError, match="ids: 'suffix' is neither strip-ending, basename, separators"):
        deciban.evaluate_files(made.paths, made.key, ids="suffix")


def test_labels_beside_scores_are_compared_by_these_names(tmp_path):
    (tmp_path / "s.csv").write_text("trial,score,label\na,1,1\nb,2,0\nc,0,0\n")
    (tmp_path / "k.csv").write_text("trial,label\na.wav,1\nb.wav,1\nc.wav,0\n")
    with pytest.raises(KeyMismatchError, match=r"trial \(b\) has another label .*1 such trial\)"):
        deciban.evaluate_files(tmp_path / "s.csv", tmp_path / "k.csv", ids="strip-ending")


def test_a_submission(tmp_path):
    (tmp_path / "s.txt").write_text("a 1\nb 2\nc 0\n")
    (tmp_path / "list.txt").write_text("a.wav target\nb.wav target\nc.wav nontarget\n")
    found = validate(tmp_path / "s.txt", tmp_path / "list.txt")
    assert found.faults[-1] == "of the trials of the list, all 3 would match without '.wav': ids=\"strip-ending\""
    mended = validate(tmp_path / "s.txt", tmp_path / "list.txt", ids="strip-ending")
    assert mended.is_valid
    assert "changed 3 names" in mended.lines[-1]
    (tmp_path / "s.txt").write_text("b 1\na 2\nc 0\n")
    assert "in another order" in validate(tmp_path / "s.txt", tmp_path / "list.txt", ids="strip-ending").faults[0]


def test_the_join_line_adds_up(tmp_path):
    """Every row of a file is matched, missing, extra or a duplicate in it; of one file that holds all, once."""
    rng = np.random.default_rng(1)
    rows = [
        f"m{k % 5} s{k} {value!r} {'target' if k % 3 else 'nontarget'}\n"
        for k, value in enumerate(rng.normal(size=60).tolist())
    ]
    (tmp_path / "both.txt").write_text("".join(rows + rows[:17]))
    found = deciban.evaluate_files(tmp_path / "both.txt", duplicates="keep-one")
    lines = dict(line.split(maxsplit=1) for line in found.message_lines)
    assert lines["join"].startswith(f"60 matched · 0 missing · 0 extra · 17 duplicate in {tmp_path / 'both.txt'} · ")
    assert (
        lines["used"] == f"{sum(k % 3 > 0 for k in range(60))} target · {sum(k % 3 == 0 for k in range(60))} non-target"
    )
    (tmp_path / "key.txt").write_text(
        "".join(" ".join(row.split()[i] for i in (0, 1, 3)) + "\n" for row in rows + rows[:9])
    )
    (tmp_path / "scores.txt").write_text(
        "".join(" ".join(row.split()[:3]) + "\n" for row in rows[:50] + rows[:4]) + "x y 1\n"
    )
    found = deciban.evaluate_files(tmp_path / "scores.txt", tmp_path / "key.txt", duplicates="keep-one", missing="drop")
    lines = dict(line.split(maxsplit=1) for line in found.message_lines)
    duplicate = " · ".join(f"{n} duplicate in {tmp_path / name}" for n, name in ((4, "scores.txt"), (9, "key.txt")))
    assert lines["join"].startswith(f"50 matched · 10 missing · 1 extra · {duplicate} · ")
    assert (found.join.duplicate, found.to_dict()["join"]["duplicate"]) == (13, 13)


def test_a_map_is_for_labels_beside_scores_too(tmp_path):
    """Where no key is named, the first score file is the key, and writes names as score files do."""
    rows = [("a", 2.5, 1), ("b", 1.0, 1), ("c", -0.5, 0), ("d", 1.5, 0)]
    (tmp_path / "x.csv").write_text("trial,score,label\n" + "".join(f"d/{t}.wav,{s},{y}\n" for t, s, y in rows))
    (tmp_path / "y.csv").write_text("trial,score\n" + "".join(f"{t},{s}\n" for t, s, _ in rows))
    (tmp_path / "map.csv").write_text("".join(f"d/{t}.wav,{t}\n" for t, _, _ in rows))
    (expected,) = deciban.evaluate_files(tmp_path / "x.csv").systems
    for paths in (["x.csv"], ["x.csv", "y.csv"]):
        found = deciban.evaluate_files([tmp_path / path for path in paths], ids=tmp_path / "map.csv")
        assert [one.cllr for one in found.systems] == [expected.cllr] * len(paths)
