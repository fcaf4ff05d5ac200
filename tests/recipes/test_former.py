"""Former names of functions that train: their keywords are understood, and what they train is what they trained."""

import pytest

import deciban
from deciban import InputError, recipes, train_files, workflows
from support.both_kinds import MADE


@pytest.fixture(params=list(MADE))
def both(request, tmp_path):
    """Files of two classes, then of many."""
    return MADE[request.param](tmp_path)


def test_a_calibrator_by_its_former_keyword(both):
    for made in (deciban.calibrate_files, recipes.calibrate_files):
        given = both.calibrator(ridge=0.1)
        done = made(both.paths[0], both.key, calibrator=given, cross_validate=3)
        expected = train_files(both.paths[0], both.key, both.calibrator(ridge=0.1), cross_validate=3)
        assert done.to_dict() == expected.to_dict()
        assert given.training_ is None  # a copy was trained
        assert made(both.paths[0], both.key, given).model.parameters() == expected.model.parameters()
        assert made(both.paths[0], both.key, model=given).model.parameters() == expected.model.parameters()


def test_a_calibrator_is_trained_if_nothing_is_said(both):
    done = deciban.calibrate_files(both.paths[0], both.key, where={"sex": "f"})
    expected = train_files(both.paths[0], both.key, both.calibrator(), where={"sex": "f"})
    assert done.to_dict() == expected.to_dict()
    with pytest.raises(InputError, match="2 systems"):
        deciban.calibrate_files(both.paths, both.key)
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'wher'\. Did you mean where"):
        deciban.calibrate_files(both.paths[0], both.key, wher={"sex": "f"})


def test_a_fusion_by_its_former_keyword(both):
    expected = train_files(both.paths, both.key, both.fusion(ridge=0.1)).to_dict()
    for made in (deciban.fuse_files, recipes.fuse_files):
        assert made(both.paths, both.key, fusion=both.fusion(ridge=0.1)).to_dict() == expected
        assert made(both.paths, both.key, both.fusion(ridge=0.1)).to_dict() == expected
        assert made(both.paths, both.key, model=both.fusion(ridge=0.1)).to_dict() == expected
    assert deciban.fuse_files(both.paths, both.key).to_dict() == train_files(both.paths, both.key).to_dict()


@pytest.mark.parametrize(("name", "former"), [("calibrate_files", "calibrator"), ("fuse_files", "fusion")])
def test_two_models_are_one_too_many(both, name, former):
    with pytest.raises(InputError, match=f"model, {former}: two names of what is to be trained"):
        getattr(deciban, name)(both.paths[0], both.key, both.calibrator(), **{former: both.calibrator()})


def test_figures_of_many_classes_by_their_former_keyword(tmp_path):
    files = MADE["classes"](tmp_path)
    done = recipes.train_class_files(files.paths[0], files.key, files.calibrator(), figures={"p_target": [0.1, 0.2]})
    expected = train_files(files.paths[0], files.key, files.calibrator(), p_target=[0.1, 0.2])
    assert done.to_dict() == expected.to_dict()


def test_other_names_are_those_of_one_thing():
    assert recipes.apply_class_files is recipes.apply_files is deciban.apply_files
    assert recipes.Calibrated is recipes.Fused is recipes.TrainedClasses is workflows.Trained
    assert recipes.FusionFigures.__name__ == "FusionFigures"
