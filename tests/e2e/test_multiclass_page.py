"""What the page on models of many classes shows runs, and prints what it says."""

from deciban import calibration, fusion
from deciban.calibration import ClassMap
from deciban.models.multiclass import ClassModel
from support.pages import page, run_python

PAGE = page("multiclass.md")


def test_code_of_the_page_prints_what_the_page_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_python(PAGE) == 2


def test_every_model_of_many_classes_is_on_the_page():
    for module in (calibration, fusion):
        for name in module.__all__:
            value = getattr(module, name)
            if isinstance(value, type) and issubclass(value, ClassModel) and value is not ClassMap:
                assert f"| `{module.__name__.removeprefix('deciban.')}.{name}` |" in PAGE
