"""What the page on intervals of llrs shows runs, and prints what it says."""

import re
import shutil
from pathlib import Path

import pytest

from deciban.io import write_demo

PAGE = (Path(__file__).parents[2] / "docs/llr-intervals.md").read_text()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("intervals")
    write_demo(path)
    for name, source in {"dev.txt": "sysA.txt", "dev.key": "key.txt", "eval.txt": "sysA.txt"}.items():
        shutil.copy(path / source, path / name)
    return path


def test_commands_run_and_print_what_it_shows(folder, deciban, missing):
    first, *others = [line.partition("#")[0].strip() for line in re.findall(r"^deciban .*$", PAGE, flags=re.MULTILINE)]
    (shown,) = re.findall(r"```\n(scale.*?)```", PAGE, flags=re.DOTALL)
    assert missing(deciban(first, folder), shown) == ""
    for line in others:
        deciban(line, folder)
    assert (folder / "eval_llr.csv").read_text().startswith("enroll,test,score,llr_low,llr_high\n")


def test_what_python_prints(folder, python):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    (printed,) = re.findall(r"```text\n(.*?)```", PAGE, flags=re.DOTALL)
    assert python(code, folder) == printed
