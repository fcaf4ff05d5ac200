"""Files may hold the columns of classes in any order: no metric of no row depends on it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from deciban.calibration import MulticlassCalibrator
from deciban.errors import InputError
from deciban.fusion import MulticlassFusion
from deciban.report.files import report_files
from deciban.workflows import apply_files, evaluate_files, train_files

CLASSES = ("eng", "fra", "deu")
SYSTEMS = ("a", "b", "c")


@pytest.fixture
def files(tmp_path):
    """Write dev and test scores of three systems; the test scores in two orders of their columns."""
    rng = np.random.default_rng(3)
    for part in ("dev", "test"):
        label = np.arange(120) % 3
        rows = [f"{part}{row},{CLASSES[k]}" for row, k in enumerate(label)]
        (tmp_path / f"{part}.key.csv").write_text("\n".join(["trial,class", *rows]) + "\n")
        for number, system in enumerate(SYSTEMS):
            score = rng.normal(size=(120, 3)) * [1.0, 2.0, 0.5] + (1.5 - number / 3) * np.eye(3)[label]
            for folder, order in (("same", (0, 1, 2)), ("other", (2, 0, 1))):
                path = tmp_path / folder / f"{part}_{system}.csv"
                path.parent.mkdir(exist_ok=True)
                lines = [
                    ",".join([f"{part}{row}", *(repr(s[k]) for k in order)]) for row, s in enumerate(score.tolist())
                ]
                path.write_text("\n".join([",".join(["trial", *(CLASSES[k] for k in order)]), *lines]) + "\n")
    return tmp_path


def worth(files: Path, folder: str, model, n_systems: int, **options):
    dev = [files / "same" / f"dev_{name}.csv" for name in SYSTEMS[:n_systems]]
    test = [files / folder / f"test_{name}.csv" for name in SYSTEMS[:n_systems]]
    done = train_files(dev, files / "dev.key.csv", model, test_scores=test, test_key=files / "test.key.csv", **options)
    return {row.name: row.eval.to_dict() for row in done.rows}


@pytest.mark.parametrize(
    ("n_systems", "options"),
    [(3, {"prior": [0.5, 0.3, 0.2], "posterior_prior": [0.5, 0.3, 0.2]}), (2, {"p_out_of_set": 0.2})],
)
def test_every_row_of_other_trials_is_the_same_in_any_order_of_the_columns(files, n_systems, options):
    same, other = (worth(files, folder, MulticlassFusion(), n_systems, **options) for folder in ("same", "other"))
    assert len(same) == {3: 7, 2: 3}[n_systems]
    assert any(name.startswith("without") for name in same) == (n_systems == 3)
    for name, metrics in same.items():
        for what, value in metrics.items():
            if isinstance(value, float):
                assert other[name][what] == pytest.approx(value, rel=1e-9), (name, what)


def test_a_report_reads_training_scores_in_the_order_of_the_others(files):
    done = train_files(files / "same" / "dev_a.csv", files / "dev.key.csv", MulticlassCalibrator())
    done.model.save(files / "model.json")
    pages = []
    for folder in ("same", "other"):
        page = files / f"{folder}.html"
        report_files(
            files / "same" / "test_a.csv",
            files / "test.key.csv",
            output=page,
            train=[files / folder / "dev_a.csv"],
            train_key=files / "dev.key.csv",
            model=files / "model.json",
            prior=[0.5, 0.3, 0.2],
            title="one",
        )
        where_from = r"<pre.*?</pre>|<div id=\"provenance\">.*?<summary>Conventions"
        files_apart = re.sub(where_from, "", page.read_text("utf-8"), flags=re.DOTALL)
        pages.append(files_apart)
    assert pages[0] == pages[1]


def test_the_prior_of_posteriors_is_that_of_the_classes_not_of_their_places(files):
    prior = {"eng": 0.5, "fra": 0.3, "deu": 0.2}
    given = {"key": files / "dev.key.csv", "posterior_prior": prior}
    train_files(files / "same" / "dev_a.csv", model=MulticlassCalibrator(), **given).model.save(files / "model.json")
    found = [
        evaluate_files(
            files / folder / "test_a.csv", files / "test.key.csv", model=files / "model.json", posterior_prior=prior
        )
        .systems[0]
        .cllr
        for folder in ("same", "other")
    ]
    assert found[0] == pytest.approx(found[1], rel=1e-12)
    with pytest.raises(
        InputError, match=r"eng=0\.3,fra=0\.2,deu=0\.5.*with the same prior \(eng=0\.5,fra=0\.3,deu=0\.2"
    ):
        apply_files(
            files / "model.json", files / "other" / "test_a.csv", files / "out.csv", posterior_prior=[0.5, 0.3, 0.2]
        )


def test_records_without_names_of_classes_are_in_the_order_of_training(files):
    prior = {"eng": 0.5, "fra": 0.3, "deu": 0.2}
    given = {"key": files / "dev.key.csv", "posterior_prior": prior}
    train_files(files / "same" / "dev_a.csv", model=MulticlassCalibrator(), **given).model.save(files / "model.json")
    text = (files / "model.json").read_text()
    assert "eng=0.5,fra=0.3,deu=0.2" in text
    (files / "model.json").write_text(text.replace("eng=0.5,fra=0.3,deu=0.2", "0.5,0.3,0.2"))
    apply_files(files / "model.json", files / "other" / "test_a.csv", files / "out.csv", posterior_prior=prior)
    assert (files / "out.csv").read_text().startswith("trial,deu,eng,fra")
    with pytest.raises(InputError, match="with the same prior"):
        apply_files(
            files / "model.json", files / "other" / "test_a.csv", files / "out.csv", posterior_prior=[0.5, 0.3, 0.2]
        )
