"""Presets: what the plans of evaluations ask for, by name, and plans of one's own."""

import re
from pathlib import Path

import pytest

from deciban.errors import FormatError, InputError
from deciban.evaluation import preset, presets
from deciban.evaluation.preset_table import _of_text, text_of
from deciban.io.formats import formats


def test_presets_are_complete():
    for name, found in presets().items():
        assert found.points or found.false_match_rates or found.spoofing or found.primary == "cllr", name
        assert found.title, name
        assert found.source, name
        assert found.checked, name
        assert found.positive, name
        assert set(found.formats) <= set(formats()), name
        assert preset(name) == found
    assert [p.p_target for p in preset("sre12").points] == [0.01, 0.001]


def test_no_name_stands_for_two_presets():
    names = [name for one in presets().values() for name in (one.name, *one.aliases)]
    assert len(names) == len(set(names))


def test_presets_of_classes_are_priors_with_costs_of_one():
    of_classes = [one for one in presets().values() if one.kind == "classes"]
    assert {(point.c_miss, point.c_fa) for one in of_classes for point in one.points} == {(1, 1)}
    assert all(one.p_out_of_set is None for one in presets().values() if one.kind == "two-class")


@pytest.mark.parametrize(
    ("name", "metrics", "status"),
    [
        ("lre05", {"p_target": [0.5]}, "verified"),
        ("lre09", {"p_target": [0.5]}, "verified"),
        ("lre09-open", {"p_target": [0.5], "p_out_of_set": 0.2}, "unverified"),
        ("lre17", {"p_target": [0.5, 0.1]}, "unverified"),
        ("lre22", {"p_target": [0.5, 0.1]}, "unverified"),
    ],
)
def test_language_recognition_evaluations(name, metrics, status):
    assert preset(name).class_metrics == preset(name).metrics == metrics
    assert preset(name).status == status


def test_presets_say_what_they_ask_for():
    assert str(preset("lre09")).startswith("lre05-09 (C_avg at p_target 0.5): NIST LRE 2005")
    assert "0.5; the last class out of set with prior 0.2): NIST LRE" in str(preset("lre05-09-open"))
    assert str(preset("sre96-08")).startswith("sre96-08 (p_target 0.01, costs 10:1): NIST SRE 1996")


def test_an_unknown_preset_is_an_error_that_names_those_there_are():
    with pytest.raises(
        InputError, match=r"'lre99' is not known\. Use one of sre96-08, .*, lre05-09, .*your own protocol\."
    ):
        preset("lre99")


def test_the_page_of_presets_lists_them_all_with_their_status():
    page = (Path(__file__).parents[2] / "docs" / "presets.md").read_text("utf-8")
    lists = page.partition("## Two classes")[2].partition("## How primary")[0]
    rows = [row for row in lists.splitlines() if row.startswith("| `")]
    told = {}
    for row in rows:
        names, *bins = (bin_of.strip() for bin_of in row.strip("|").split("|"))
        first, *others = re.findall(r"`([^`]+)`", names)
        told[first] = (tuple(others), bins[-2], bins[-1])
        values = [float(number) for number in re.findall(r"[\d.]+", bins[0])]
        points, rates = preset(first).points, preset(first).false_match_rates
        wide = [value for point in points for value in (point.p_target, point.c_miss, point.c_fa)]
        assert values == pytest.approx(
            [p.p_target for p in points]
            if preset(first).kind == "classes"
            else [*wide, *(100 * rate for rate in rates)]
        )
    assert told == {name: (one.aliases, one.status, one.source) for name, one in presets().items()}


def test_every_file_is_the_beginning_of_a_plan_of_ones_own(tmp_path):
    for name, known in presets().items():
        (tmp_path / "ours.toml").write_text(text_of(name), "utf-8")
        found = preset(tmp_path / "ours.toml")
        assert found.name == "ours"
        assert (found.points, found.primary, found.columns) == (known.points, known.primary, known.columns)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("primary = ", "primary = 3 #"), r"ours\.toml: primary: 3 is not one of"),
        (('primary = "act_dcf"', ""), "the plan: 'primary' is a required property"),
        (("[0.01, 10, 1]", "[1.5, 10, 1]"), r"operating_points\.0\.0: 1\.5 is greater than or equal to the maximum"),
        (("[[0.01, 10, 1]]", "[]"), "operating_points: "),
        (('kind = "two-class"', 'kind = "classes"'), "ours.toml: "),
        (
            ("form = 1", 'form = 1\nequalize = ["gender", "channel"]'),
            r"equalize: .*separated by commas: \[\"gender,channel",
        ),
        (("form = 1", 'form = 1\nequalize = ["gender,,"]'), r"equalize\.0: 'gender,,' does not match"),
        (
            ("[[0.01, 10, 1]]", "[[0.01, 10]]"),
            "operating_points.0: .* A point is three numbers: p_target, c_miss, c_fa",
        ),
        (("[0.01, 10, 1]", "[nan, 10, 1]"), r"ours\.toml: operating_points: .* contains infinite numbers or NaN"),
        (
            ("form = 1", "form = 1\ntarget_priors = [0.5]"),
            "target_priors: has no place here. It is for multiclass plans",
        ),
        (("form = 1", "form = 1\nworst_pairs = 4"), "worst_pairs: has no place here. It is for .* pair_cost"),
        (
            ("form = 1", 'form = 1\nequalize = ["a"]\nnon_target_shares = { column = "b", c = 1.0 }'),
            "the plan: has no place here. Equalized partitions .* exclude each other",
        ),
        (("form = 1", "form = 2"), "form: got 2; this version of deciban reads form = 1"),
        (("form = 1", "form = "), "ours.toml: not TOML .* shows a protocol"),
        (("form = 1", "form = 1\nsecret = 2"), r"\('secret' was unexpected\)"),
    ],
)
def test_a_file_that_is_no_plan_is_refused_with_the_field(change, message, tmp_path):
    path = tmp_path / "ours.toml"
    path.write_text(text_of("sre96-08").replace(*change), "utf-8")
    with pytest.raises(FormatError, match=message):
        preset(str(path))


def test_shares_add_up_to_one(tmp_path):
    path = tmp_path / "ours.toml"
    path.write_text(text_of("sre12-known").replace("known = 0.5", "known = 0.75", 1), "utf-8")
    with pytest.raises(FormatError, match=r"non_target_shares: .* add up to 1\.25, not to 1"):
        preset(path)


def test_what_is_no_text_is_refused(tmp_path):
    path = tmp_path / "ours.toml"
    path.write_bytes(b"form = 1\n\xff\xfe")
    with pytest.raises(FormatError, match="not text in UTF-8"):
        preset(path)
    with pytest.raises(FileNotFoundError):
        preset(tmp_path / "none.toml")


def test_our_protocols_follow_the_schema():
    for name, one in presets().items():
        assert _of_text(text_of(name), name, name) == one
