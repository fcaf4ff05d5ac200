"""What the page on models of many classes shows runs, and prints what it says."""

import contextlib
import io
import re
from pathlib import Path

from deciban import calibration, fusion
from deciban.calibration import ClassMap
from deciban.models.multiclass import ClassModel

PAGE = (Path(__file__).parents[2] / "docs" / "multiclass.md").read_text()


def test_code_of_the_page_prints_what_the_page_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```\n```text\n(.*?)```", PAGE, flags=re.DOTALL)
    assert len(blocks) == PAGE.count("```python") == 2
    names = {}
    for code, expected in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, names)  # noqa: S102
        assert printed.getvalue() == expected


def test_every_model_of_many_classes_is_on_the_page():
    for module in (calibration, fusion):
        for name in module.__all__:
            value = getattr(module, name)
            if isinstance(value, type) and issubclass(value, ClassModel) and value is not ClassMap:
                assert f"| `{module.__name__.removeprefix('deciban.')}.{name}` |" in PAGE
