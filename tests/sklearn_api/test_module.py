"""The module: what happens without scikit-learn, and that its page tells the truth."""

import contextlib
import inspect
import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

import deciban
import deciban.sklearn
from deciban.models.multiclass import ClassModel

PAGE = (Path(__file__).parents[2] / "docs" / "scikit-learn.md").read_text()


def test_without_scikit_learn_the_extra_is_named():
    code = "import sys; sys.modules['sklearn'] = None; import deciban; deciban.metrics; deciban.sklearn"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "ImportError: deciban.sklearn needs scikit-learn 1.6 or later" in run.stderr
    assert "pip install 'deciban[sklearn]'" in run.stderr


def test_the_rest_of_deciban_does_without_scikit_learn():
    code = "import sys; from deciban import *; import deciban.cli; print('sklearn' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


def test_it_is_an_attribute_of_the_package():
    assert deciban.__getattr__("sklearn") is deciban.sklearn


def test_code_of_the_page_prints_what_the_page_says():
    blocks = re.findall(r"```python\n(.*?)```\n(?:```text\n(.*?)```)?", PAGE, flags=re.DOTALL)
    assert len(blocks) == PAGE.count("```python") > 3
    names = {}
    for code, expected in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, names)  # noqa: S102
        assert printed.getvalue() == expected


ENDINGS = ("Calibrator", "Transformation", "Fusion", "Backend")


@pytest.mark.parametrize("name", [n for n in deciban.sklearn.__all__ if n.endswith(ENDINGS)])
def test_every_estimator_is_on_the_page(name):
    assert name in ("ScoreCalibrator", "LlrEstimator") or f"| `{name}` |" in PAGE


@pytest.mark.parametrize("module", [deciban.calibration, deciban.fusion], ids=lambda module: module.__name__)
def test_every_model_of_many_classes_is_an_estimator(module):
    for name in module.__all__:
        model = getattr(module, name)
        if isinstance(model, type) and issubclass(model, ClassModel) and not inspect.isabstract(model):
            assert getattr(deciban.sklearn, name).model_class is model
