"""Saved results: metrics by name, requirements, and differences to a new run."""

import json

import pytest

import deciban
from deciban.errors import FormatError, InputError
from deciban.evaluation.saved import Requirement, differences, read_saved, system_named

UNITS = {"tar_units": range(6), "non_units": range(6)}
TAR, NON = [3.0, 2.0, 4.0, 1.5, -1.0, 2.5], [0.0, 1.0, -1.0, -2.0, 2.2, -3.0]


@pytest.fixture
def saved(tmp_path):
    """The path of results of two systems at two operating points."""
    systems = [
        deciban.evaluation.evaluate([x + k for x in TAR], NON, name=name, operating_points=[0.5, 0.1], **UNITS)
        for k, name in enumerate("AB")
    ]
    path = tmp_path / "old.json"
    path.write_text(deciban.evaluation.Results(tuple(systems)).to_json())
    return path


def test_metrics_are_those_of_the_evaluation(saved):
    first, _ = read_saved(saved)
    one = deciban.evaluation.evaluate(TAR, NON, operating_points=[0.5, 0.1], **UNITS)
    assert first.metric("eer").value == pytest.approx(one.eer)
    assert first.metric("min_dcf").value == pytest.approx(one.operating_points[0].min_dcf)
    assert first.metric("act_dcf@2").value == pytest.approx(one.operating_points[1].act_dcf)
    interval = one.interval("eer")
    assert (first.metric("eer").low, first.metric("eer").high) == pytest.approx((interval.low, interval.high))


@pytest.mark.parametrize(
    ("text", "met"),
    [
        ("eer<=0.5", [True, True]),
        ("eer <= 1%", [False, False]),
        ("A:eer>0", [True]),
        ("eer.high<0.01", [False, False]),
        ("cllr<=baseline", [True, True]),
        ("cllr<baseline", [False, False]),
        ("cllr<baseline+0.001", [True, True]),
        ("cllr<baseline-0.001", [False, False]),
        ("cllr<=baseline*1.01", [True, True]),
        ("act_dcf@2>=0", [True, True]),
    ],
)
def test_requirements_hold_or_not(saved, text, met):
    systems = read_saved(saved)
    assert [one.is_met for one in Requirement.of(text).checks(systems, systems)] == met


@pytest.mark.parametrize(
    "text", ["", "eer", "eer=0.1", "eer<=", "eer<=x", "<=0.1", "eer<=0.1 0.2", "eer@x<1", "eer<=nan"]
)
def test_what_is_no_requirement_is_refused_with_examples(text):
    with pytest.raises(InputError, match=r"require: got .*'eer<=0\.05'"):
        Requirement.of(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("xx<1", "A has no metric 'xx'. It has "),
        ("min_dcf@3<1", "A has no metric 'min_dcf@3'"),
        ("C:eer<1", "no system 'C'. Its systems: A, B"),
        ("n_tar.low<1", "A has no interval of n_tar: evaluate with units"),
        ("cllr<baseline", "needs the results of an earlier run"),
    ],
)
def test_what_is_missing_is_named(saved, text, words):
    with pytest.raises(InputError, match=words):
        Requirement.of(text).checks(read_saved(saved), None)


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{}", "[" * 100_000, "\x00"),
        *('{"systems": []}', '{"systems": [1]}', '{"systems": [{"name": 1}]}'),
        '{"systems": [{"name": "A", "operating_points": 3}]}',
        '{"systems": [{"name": "A", "operating_points": [3]}]}',
    ],
)
def test_other_files_are_refused_with_their_name(tmp_path, text):
    path = tmp_path / "odd.json"
    path.write_text(text)
    with pytest.raises(FormatError, match=r"odd\.json: "):
        read_saved(path)


def test_differences_are_new_minus_old_and_contain_the_difference(saved):
    old = read_saved(saved)
    new = deciban.evaluation.evaluate([x - 1 for x in TAR], NON, name="A", operating_points=[0.5], **UNITS)
    rows = {row[0]: row[1:] for row in differences(new, system_named(old, "A"))}
    before, now, change = rows["EER (ROCCH)"]
    value = 100 * (new.eer - old[0].metric("eer").value)
    assert (before, now) == (f"{100 * old[0].metric('eer').value:.2f} %", f"{100 * new.eer:.2f} %")
    assert change.startswith(f"{value:+.2f} pp [")
    low, high = json.loads(change[change.index("[") :])
    assert low < value < high


def test_another_kind_another_point_and_other_systems_are_no_baseline(saved, tmp_path):
    def written(name, result):
        (tmp_path / name).write_text(deciban.evaluation.Results((result,)).to_json())
        return read_saved(tmp_path / name)

    systems = read_saved(saved)
    other_point = written("p.json", deciban.evaluation.evaluate(TAR, NON, name="A", operating_points=[0.3]))
    with pytest.raises(InputError, match="different operating points"):
        Requirement.of("A:act_dcf<=baseline").checks(systems, other_point)
    assert Requirement.of("A:eer<=baseline").checks(systems, other_point)[0].is_met
    other_kind = written("k.json", deciban.evaluate_classes([[2.0, 0.0], [0.0, 1.0]], [0, 1], name="A"))
    with pytest.raises(InputError, match="results of classes scores"):
        Requirement.of("A:cllr<=baseline").checks(systems, other_kind)
    other_name = written("n.json", deciban.evaluation.evaluate(TAR, NON, name="C"))
    with pytest.raises(InputError, match="no system 'A'"):
        Requirement.of("A:eer<=baseline").checks(systems, other_name)
    assert Requirement.of("eer<=baseline").checks(written("d.json", deciban.evaluation.evaluate(TAR, NON)), other_name)


def test_limits_are_found_in_any_case_and_digits_are_ascii(saved):
    low, high = (Requirement.of(f"A:cllr.{end}>0").checks(read_saved(saved), None)[0].value for end in ("LOW", "high"))
    assert low < high
    with pytest.raises(InputError, match="require: got"):
        Requirement.of("eer<=\u0665")


@pytest.mark.parametrize("known", ["[1]", "5", '{"eer": 5}', '{"eer": [1]}'])
def test_odd_intervals_are_none(tmp_path, known):
    path = tmp_path / "odd.json"
    path.write_text(f'\ufeff{{"systems": [{{"name": "A", "eer": 0.1, "intervals": {known}}}]}}', "utf-8")
    assert read_saved(path)[0].metric("eer").low is None
