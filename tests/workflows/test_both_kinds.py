"""One set of functions for two-class scores and of many: what holds for the ones holds for the others."""

import numpy as np
import pytest

from deciban import FormatError, InputError, KeyMismatchError, apply_files, evaluate_files, report_files, train_files
from deciban.calibration import AffineCalibrator
from deciban.workflows import Options, kind_of_scores, read_joined
from support.both_kinds import MADE, SEX, N


def test_figures_are_those_of_the_arrays(both):
    found = evaluate_files(both.paths, both.key)
    assert found.kind == both.name == kind_of_scores(both.paths[0], both.key)
    assert [one.name for one in found.systems] == ["a", "b"]
    for one, score in zip(found.systems, both.values, strict=True):
        assert one.cllr == pytest.approx(both.evaluated(score).cllr, rel=1e-9)
    assert found.before is None


def test_the_kind_may_be_said(both):
    assert evaluate_files(both.paths[0], both.key, kind=both.name).kind == both.name
    with pytest.raises((FormatError, InputError, KeyMismatchError)):
        evaluate_files(both.paths[0], both.key, kind=both.other)


def test_the_kind_decides_about_what_could_be_either(tmp_path):
    values = np.random.default_rng(4).normal(size=(6, 2)).tolist()
    (tmp_path / "s.csv").write_text("trial,x,y\n" + "".join(f"t{i},{a!r},{b!r}\n" for i, (a, b) in enumerate(values)))
    (tmp_path / "number.key").write_text("".join(f"t{i} {i % 2}\n" for i in range(6)))
    found = evaluate_files(tmp_path / "s.csv", tmp_path / "number.key", kind="two-class", columns="trial=trial,score=x")
    assert (found.kind, len(found.systems)) == ("two-class", 1)
    (tmp_path / "class.csv").write_text("trial,class\n" + "".join(f"t{i},{'xy'[i % 2]}\n" for i in range(6)))
    many = evaluate_files(tmp_path / "s.csv", tmp_path / "class.csv", kind="classes")
    assert (many.kind, many.classes) == ("classes", ("x", "y"))


def test_a_key_in_place_of_scores_is_called_a_key(both, tmp_path):
    both.calibrator().fit(both.values[0], both.truth).save(tmp_path / "m.json")
    keys = {
        "names.csv": "enroll,test,label\na,x,target\na,y,nontarget\n",
        "numbers.csv": "trial,label,age,length\na,target,1,2\nb,nontarget,3,4\n",
        "classes.csv": "trial,class\na,eng\nb,fra\n",
    }
    for name, text in keys.items():
        (tmp_path / name).write_text(text)
        if (both.name, name) != ("classes", "numbers.csv"):  # these could be the scores of two classes
            with pytest.raises(FormatError, match=f"{name}:1: this is a key .*scores are needed"):
                apply_files(tmp_path / "m.json", tmp_path / name, tmp_path / "out.txt")


def test_a_matrix_for_two_classes_needs_the_name_of_a_column(tmp_path):
    np.save(tmp_path / "m.npy", np.array([[1.0, 2.0], [3.0, 4.0]]))
    (tmp_path / "key.csv").write_text("enroll,test,label\na,x,target\na,y,nontarget\n")
    with pytest.raises(FormatError, match=r"m\.npy: a 2 x 2 matrix.* columns=.score=2"):
        evaluate_files(tmp_path / "m.npy", tmp_path / "key.csv")
    AffineCalibrator().fit(np.arange(4.0), np.array([False, True, False, True])).save(tmp_path / "m.json")
    with pytest.raises(InputError, match=r"m\.npy: multiclass scores.*score=2\" for the second column"):
        apply_files(tmp_path / "m.json", tmp_path / "m.npy", tmp_path / "out.txt")


def test_a_calibration_from_training_to_report(both):
    expected = both.calibrator().fit(both.values[0], both.truth)
    prototype = both.calibrator()
    done = train_files(both.paths[0], both.key, prototype, cross_validate=3)
    assert not prototype.is_fitted
    assert done.kind == both.name
    assert [row.role for row in done.rows] == ["before", "calibration", "cross-validated"]
    llr = expected.transform(both.values[0])
    assert done.before.cllr == pytest.approx(both.evaluated(both.values[0]).cllr, rel=1e-9)
    assert done.after.cllr == pytest.approx(both.evaluated(llr).cllr, rel=1e-7)
    assert len(done.cross_validated_scores.trials) == N
    assert done.cross_validated is done.rows[-1].dev
    done.model.save(both.folder / "m.json")
    for model in (done.model, both.folder / "m.json"):
        found = evaluate_files(both.paths[0], both.key, model=model)
        assert found.systems[0].cllr == pytest.approx(done.after.cllr, rel=1e-9)
        assert found.before.systems[0].cllr == pytest.approx(done.before.cllr, rel=1e-9)
    told = apply_files(both.folder / "m.json", both.paths[0], both.folder / "out.csv")
    assert (told[0].kind, told[-1].kind) == ("model", "wrote")
    assert evaluate_files(both.folder / "out.csv", both.key).systems[0].cllr == pytest.approx(done.after.cllr, rel=1e-9)
    page = both.folder / "page.html"
    shown = report_files(both.paths[0], both.key, page, model=both.folder / "m.json", title="Both kinds")
    assert shown.kind == both.name
    assert "<h1>Both kinds</h1>" in page.read_text("utf-8")


def test_a_fusion_from_training_to_report(both):
    expected = both.fusion().fit(both.stacked(), both.truth)
    done = train_files(both.paths, both.key, both.fusion())
    np.testing.assert_allclose(done.model.weights_, expected.weights_, rtol=1e-5)
    assert done.model.training_.systems == ("a", "b")
    fused = both.evaluated(expected.transform(both.stacked())).cllr
    assert done.after.cllr == pytest.approx(fused, rel=1e-7)
    found = evaluate_files(both.paths[::-1], both.key, model=done.model)
    assert found.systems[-1].cllr == pytest.approx(fused, rel=1e-7)
    assert [one.name for one in found.before.systems] == ["a", "b"]
    apply_files(done.model, both.paths[::-1], both.folder / "out.csv")
    assert evaluate_files(both.folder / "out.csv", both.key).systems[0].cllr == pytest.approx(fused, rel=1e-7)
    page = both.folder / "page.html"
    shown = report_files(both.paths, both.key, page, model=done.model)
    assert shown.systems[-1].cllr == pytest.approx(fused, rel=1e-7)
    assert page.read_text("utf-8").startswith("<!")


def test_trials_are_matched_by_order_before_some_are_chosen(both):
    """The scores say no names, so that only their place says which of them are asked for."""
    np.save(both.folder / "s.npy", both.values[0][::-1])  # the key lists trials from the last to the first
    rows = np.flatnonzero(SEX == "f")
    joined = read_joined(
        both.folder / "s.npy",
        both.key,
        Options.of(
            "read_joined", {"where": {"sex": "f"}, "by_order": True, "kind": both.name, "classes": _named(both)}
        ),
    )
    np.testing.assert_array_equal(joined.batch.scores[0], both.values[0][rows][::-1])
    assert joined.report.matched == len(rows)
    asked = {"where": {"sex": "f"}, "by_order": True, "classes": _named(both), "kind": both.name}
    found = evaluate_files(both.folder / "s.npy", both.key, **asked)
    assert found.systems[0].cllr == pytest.approx(both.evaluated(both.values[0], rows).cllr, rel=1e-9)
    np.save(both.folder / "s.npy", both.values[0][rows])  # as many as are chosen is not what the key holds
    with pytest.raises(KeyMismatchError):
        evaluate_files(both.folder / "s.npy", both.key, **asked)


def _named(files):
    return ("cat", "dog", "eel") if files.name == "classes" else None


@pytest.mark.parametrize("saved", [True, False])
def test_a_model_for_the_other_kind_is_refused_in_words(both, saved, tmp_path):
    (tmp_path / "other").mkdir()
    other = MADE[both.other](tmp_path / "other")
    model = other.calibrator().fit(other.values[0], other.truth)
    model.save(tmp_path / "m.json")
    words = {"two-class": "two-class", "classes": "multiclass"}
    told = f"a model of kind '{model.kind}' is for {words[both.other]} scores, but the scores are {words[both.name]}"
    given = tmp_path / "m.json" if saved else model
    with pytest.raises(InputError, match=told):
        report_files(both.paths[0], both.key, tmp_path / "page.html", model=given)
    with pytest.raises(InputError, match=told):
        apply_files(given, both.paths[0], tmp_path / "out.csv", kind=both.name)
    assert not (tmp_path / "page.html").exists()
    assert not (tmp_path / "out.csv").exists()
    refused = f"{words[both.name]} scores, but a model of kind '{model.kind}' .* is for {words[both.other]} scores"
    for verb in (evaluate_files, lambda *files, model: apply_files(model, files[0], tmp_path / "out.csv")):
        with pytest.raises(InputError, match=refused):
            verb(both.paths[0], both.key, model=given)
    with pytest.raises(InputError, match=told):
        evaluate_files(both.paths[0], both.key, model=given, kind=both.name)


def test_a_model_to_train_for_the_other_kind_is_refused_in_words(both, tmp_path):
    made = {
        "two-class": "two-class scores, but a model of kind 'multiclass-affine' .* is for multiclass scores",
        "classes": "multiclass scores, but a model of kind 'affine' .* is for two-class scores",
    }
    (tmp_path / "other").mkdir()
    other = MADE[both.other](tmp_path / "other")
    with pytest.raises(InputError, match=made[both.name]):
        train_files(both.paths[0], both.key, other.calibrator(), kind=both.name)
    with pytest.raises(InputError, match=made[both.name]):
        train_files(both.paths[0], both.key, other.calibrator())


def test_trials_of_training_are_known_again(both):
    done = train_files(both.paths[0], both.key, both.calibrator())
    lines = both.paths[0].read_text().splitlines(keepends=True)
    (both.folder / "again.csv").write_text("".join([lines[0], *reversed(lines[1:])]))
    (both.folder / "other.csv").write_text("".join([*lines[:-1], "seg089" + ",0.5" * lines[-1].count(",") + "\n"]))
    words = {"again.csv": "trained on these same trials", "other.csv": "not the training trials of the model"}
    for name, of_training in (("again.csv", False), ("other.csv", True)):
        for said in (of_training, not of_training):
            told = evaluate_files(both.folder / name, both.key, model=done.model, of_training=said).message_lines
            assert any(words[name] in fact for fact in told) == (said == of_training)


def test_a_fusion_knows_its_trials_whatever_the_order_of_the_files(both):
    done = train_files(both.paths, both.key, both.fusion())
    told = evaluate_files(both.paths[::-1], both.key, model=done.model).message_lines
    assert any("trained on these same trials" in fact for fact in told)
    swapped = evaluate_files(both.paths[::-1], both.key, model=done.model, of_training=True).message_lines
    assert not any("trained on" in fact for fact in swapped)


@pytest.mark.parametrize("call", [evaluate_files, train_files])
def test_figures_of_the_other_kind_are_refused(both, call):
    metric = {"two-class": {"p_target": 0.1}, "classes": {"operating_points": [0.1]}}[both.name]
    model = () if call is evaluate_files else (both.calibrator(),)
    with pytest.raises(InputError, match=f"{next(iter(metric))}: for .* scores"):
        call(both.paths[0], both.key, *model, **metric)
    with pytest.raises(InputError, match=f"{next(iter(metric))}: nothing is evaluated here"):
        apply_files(both.calibrator().fit(both.values[0], both.truth), both.paths[0], both.folder / "out.csv", **metric)
    assert not (both.folder / "out.csv").exists()


def test_one_system_for_a_calibration_and_no_file_twice(both):
    model = both.calibrator().fit(both.values[0], both.truth)
    with pytest.raises(InputError, match=r"2 systems \(a, b\), but a model of kind '.*' is for one"):
        evaluate_files(both.paths, both.key, model=model)
    with pytest.raises(InputError, match=r"2 systems \(a, b\), but a model of kind '.*' is for one"):
        train_files(both.paths, both.key, both.calibrator())
    for call in (
        lambda paths: train_files(paths, both.key, both.fusion()),
        lambda paths: evaluate_files(paths, both.key, model=both.fusion().fit(both.stacked(), both.truth)),
        lambda paths: apply_files(both.fusion().fit(both.stacked(), both.truth), paths, both.folder / "out.csv"),
    ):
        with pytest.raises(InputError, match=r"a\.csv: given twice"):
            call([both.paths[0], both.paths[0]])


def test_classes_in_another_order_are_still_the_trials_of_training(tmp_path):
    made = MADE["classes"](tmp_path)
    done = train_files(made.paths[0], made.key, made.calibrator())
    lines = [line.split(",") for line in made.paths[0].read_text().splitlines()]
    (tmp_path / "turned.csv").write_text("".join(",".join([line[0], *reversed(line[1:])]) + "\n" for line in lines))
    same = evaluate_files(made.paths[0], made.key, model=done.model)
    turned = evaluate_files(tmp_path / "turned.csv", made.key, model=done.model)
    assert turned.classes == tuple(reversed(same.classes))
    assert turned.systems[0].cllr == pytest.approx(same.systems[0].cllr, rel=1e-12)
    assert any("trained on these same trials" in fact for fact in turned.message_lines)


def test_what_means_nothing_for_the_scores_is_refused(both):
    other = {"two-class": {"detection_llr": True}, "classes": {"labels": {"target": "a", "nontarget": "b"}}}[both.name]
    with pytest.raises(InputError, match=next(iter(other))):
        evaluate_files(both.paths[0], both.key, kind=both.name, **other)
    with pytest.raises(InputError, match="quality, of_training: are for a model"):
        evaluate_files(both.paths[0], both.key, of_training=True)
    model = both.calibrator().fit(both.values[0], both.truth)
    for key in ("where", "weights"):
        with pytest.raises(InputError, match=f"{key}: is for a key"):
            apply_files(model, both.paths[0], "out.csv", **{key: {"a": "b"}})


def test_many_classes_are_fused_if_nothing_is_said(tmp_path):
    made = MADE["classes"](tmp_path)
    assert train_files(made.paths[:2], made.key).model.kind == "multiclass-fusion"
    assert train_files(MADE["two-class"](tmp_path).paths[:2], tmp_path / "key.csv").model.kind == "linear-fusion"
