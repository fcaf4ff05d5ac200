"""``deciban report`` with a fusion as its model."""

import re

import numpy as np
import pytest
from click.testing import CliRunner

from deciban import metrics
from deciban.cli.evaluate import report_command
from deciban.errors import InputError
from deciban.fusion import LinearFusion, QualityFusion, SubsetFusion

N = 400
TRUTH = np.arange(N) % 4 == 0
SCORES = {
    part: np.random.default_rng(seed).normal(size=(N, 2)).round(3) + TRUTH[:, None] * [2.0, 1.5]
    for part, seed in (("dev", 1), ("eval", 2))
}
QUALITY = np.random.default_rng(3).random((N, 1)).round(3)
HOSTILE = "<b>"


@pytest.fixture
def files(tmp_path):
    labels = ["target" if t else "nontarget" for t in TRUTH]
    for part, scores in SCORES.items():
        for k, name in enumerate(("a", HOSTILE)):
            (tmp_path / f"{part}.{name}.txt").write_text(
                "".join(f"m s{i} {x!r}\n" for i, x in enumerate(scores[:, k].tolist()))
            )
        (tmp_path / f"{part}.key").write_text("".join(f"m s{i} {word}\n" for i, word in enumerate(labels)))
    (tmp_path / "q.txt").write_text("1\n" + "".join(f"s{i} {x!r}\n" for i, x in enumerate(QUALITY[:, 0].tolist())))
    LinearFusion().fit(SCORES["dev"], TRUTH).save(tmp_path / "linear.json")
    QualityFusion().fit(SCORES["dev"], TRUTH, test_quality=QUALITY).save(tmp_path / "quality.json")
    return tmp_path


def run(folder, *words, systems=("a", HOSTILE)):
    given = [str(folder / f"eval.{name}.txt") for name in systems]
    given += [str(folder / word) if (folder / word).exists() else word for word in words]
    return CliRunner().invoke(report_command, [*given, "--key", str(folder / "eval.key"), "-o", str(folder / "o.html")])


def train(*names):
    words = [word for name in names for word in ("--train", f"dev.{name}.txt")]
    return (*words, "--train-key", "dev.key")


def cells(page, name):
    row = re.search(rf'<tr>\s*<th scope="row">{re.escape(name)}</th>(.*?)</tr>', page, flags=re.DOTALL)[1]
    return re.findall(r"<td>(.*?)</td>", row)


def test_systems_and_fusion_are_shown(files):
    done = run(files, "--model", "linear.json")
    assert done.exit_code == 0, done.output
    page = (files / "o.html").read_text()
    assert "<h2>Fusion</h2>" in page
    assert "What each system is worth" not in page
    model = LinearFusion().fit(SCORES["dev"], TRUTH)
    assert float(cells(page, "system 1")[0]) == pytest.approx(model.weights_[1], abs=1e-4)
    assert float(cells(page, "offset")[0].replace("\N{MINUS SIGN}", "-")) == pytest.approx(model.offset_, abs=1e-4)
    llr = model.transform(SCORES["eval"])
    shown = re.search(r"^fusion +.* ([\d.]+) +[\d.]+ +[\d.]+ +[\d.]+$", done.stdout, flags=re.MULTILINE)[1]
    assert float(shown) == pytest.approx(metrics.cllr(llr[TRUTH], llr[~TRUTH]), abs=1e-3)


def test_with_training_the_worth_of_each_system_is_shown(files):
    done = run(files, "--model", "linear.json", "--dcf", "0.1", *train("a", HOSTILE))
    assert done.exit_code == 0, done.output
    page = (files / "o.html").read_text()
    assert "What each system is worth" in page
    assert "How much the systems differ" in page
    assert f"eval.{HOSTILE}" not in page
    assert "eval.&lt;b&gt;" in page
    model = LinearFusion().fit(SCORES["dev"], TRUTH)
    both = [model.transform(SCORES[part]) for part in ("dev", "eval")]
    found = cells(page, "fusion")
    expected = [metrics.cllr(one[TRUTH], one[~TRUTH]) for one in both]
    assert [float(found[3]), float(found[8])] == pytest.approx(expected, abs=1e-3)
    assert cells(page, "without dev.a")[3] == cells(page, "dev.&lt;b&gt;")[3]


def test_quality_and_subsets(files):
    done = run(files, "--model", "quality.json", "--quality", "q.txt", *train("a", HOSTILE))
    assert done.exit_code == 0, done.output
    page = (files / "o.html").read_text()
    assert "q1 of test" in page
    assert "q1: " not in page
    scores = SCORES["dev"].copy()
    scores[:50, 1] = np.nan
    SubsetFusion(missing="subset").fit(scores, TRUTH).save(files / "subset.json")
    (files / f"eval.{HOSTILE}.txt").write_text("".join(f"m s{i} {SCORES['eval'][i, 1]}\n" for i in range(40, N)))
    done = run(files, "--model", "subset.json")
    assert done.exit_code == 0, done.output
    assert "system 0 + system 1: offset" in (files / "o.html").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--model", "quality.json"), "trained with test measures. Name their file"),
        (("--model", "linear.json", "--quality", "q.txt"), "the fusion was trained without"),
        (("--quality", "q.txt"), "--quality is for fusions"),
        (("--model", "linear.json", *train("a")), r"1 system (dev.a), but the fusion was trained on 2"),
    ],
)
def test_what_is_refused(files, words, message):
    done = run(files, *words)
    assert message in (str(done.exception) if isinstance(done.exception, InputError) else done.stderr)
    assert not (files / "o.html").exists()


def test_another_number_of_systems(files):
    done = run(files, "--model", "linear.json", systems=("a",))
    assert "1 system (eval.a), but the fusion was trained on 2" in str(done.exception)
