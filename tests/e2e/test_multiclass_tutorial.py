"""The tutorial on many classes: its commands run, and on the real scores they print what it says."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

PAGE = (Path(__file__).parents[2] / "docs/multiclass-tutorial.md").read_text()
TUTORIAL = PAGE[: PAGE.index("## Files and options")]
COMMANDS = re.findall(r"^deciban .*$", TUTORIAL, flags=re.MULTILINE)
SHOWN = dict(re.findall(r"^(deciban [^\n]*)\n```\n\n```\n(.*?)```", TUTORIAL, flags=re.MULTILINE | re.DOTALL))
SETS = ("cifar10_resnet50", "pathmnist_resnet50", "agnews_gpt2")


def made_up(folder):
    """Files of the same names and shapes, with fewer rows."""
    rng = np.random.default_rng(3)
    parts = [("cifar10_resnet50", part, 10) for part in ("val_", "tst_", "tst_p_")]
    for name, part, n_classes in [*parts, ("pathmnist_resnet50", "", 9), ("agnews_gpt2", "", 4)]:
        place = folder / name
        place.mkdir(exist_ok=True)
        label = rng.permutation(np.arange(40 * n_classes) % n_classes)
        loglik = rng.normal(size=(len(label), n_classes)) * 2
        loglik[np.arange(len(label)), label] += 2
        np.save(place / f"{part}{'predictions' if part else 'scores'}.npy", loglik.astype(np.float32))
        np.save(place / f"{part}targets.npy", label)


def test_the_tutorial_runs_on_files_of_the_same_form(tmp_path, deciban):
    made_up(tmp_path)
    assert len(COMMANDS) == 12
    for line in COMMANDS:
        deciban(line, tmp_path)
    assert "Most frequent confusions" in (tmp_path / "cifar.html").read_text()


def test_the_tutorial_says_what_is_printed(real_data, tmp_path, deciban, missing):
    lacking = [name for name in SETS if not (real_data / name).is_dir()]
    if lacking:
        pytest.skip(f"{real_data} lacks {', '.join(lacking)}")
    for name in SETS:
        shutil.copytree(real_data / name, tmp_path / name)
    assert len(SHOWN) == 7
    for line in COMMANDS:
        if "report" in line:
            continue
        printed = deciban(line, tmp_path)
        if line in SHOWN:
            assert missing(printed, SHOWN[line]) == ""
