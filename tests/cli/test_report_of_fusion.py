"""``deciban report`` with a fusion as its model."""

import re

import numpy as np
import pytest
from click.testing import CliRunner

from deciban import metrics
from deciban.analysis import select_systems
from deciban.cli.evaluate import report_command
from deciban.errors import InputError, command_spelling
from deciban.fusion import LinearFusion, QualityFusion, SubsetFusion
from deciban.models import Training
from support.commands import printed_table

pytestmark = pytest.mark.usefixtures("sketches")  # of pages, the words are tested here

N = 100
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
    with command_spelling():
        return CliRunner().invoke(
            report_command, [*given, "--key", str(folder / "eval.key"), "-o", str(folder / "o.html")]
        )


def train(*names):
    words = [word for name in names for word in ("--train", f"dev.{name}.txt")]
    return (*words, "--train-key", "dev.key")


def cells(page, name):
    row = re.search(rf'<tr>\s*<th scope="row">{re.escape(name)}</th>(.*?)</tr>', page, flags=re.DOTALL)[1]
    return re.findall(r"<td>(.*?)(?:<small class=\"interval\">\[.*?\]</small>)?</td>", row)


def test_systems_and_fusion_are_shown(files):
    done = run(files, "--model", "linear.json")
    assert done.exit_code == 0, done.output
    page = (files / "o.html").read_text()
    assert "<h2>Fusion</h2>" in page
    assert "Contribution of each system" not in page
    model = LinearFusion().fit(SCORES["dev"], TRUTH)
    assert float(cells(page, "system 1")[0]) == pytest.approx(model.weights_[1], abs=1e-4)
    assert float(cells(page, "offset")[0].replace("\N{MINUS SIGN}", "-")) == pytest.approx(model.offset_, abs=1e-4)
    llr = model.transform(SCORES["eval"])
    shown = printed_table(done.stdout)["fusion"]["Cllr"]
    assert float(shown.split()[0]) == pytest.approx(metrics.cllr(llr[TRUTH], llr[~TRUTH]), abs=1e-3)


def test_with_training_the_worth_of_each_system_is_shown(files):
    done = run(files, "--model", "linear.json", "--dcf", "0.1", *train("a", HOSTILE))
    assert done.exit_code == 0, done.output
    page = (files / "o.html").read_text()
    assert "Contribution of each system" in page
    assert "Differences between the systems" in page
    assert f"eval.{HOSTILE}" not in page
    assert "eval.&lt;b&gt;" in page
    model = LinearFusion().fit(SCORES["dev"], TRUTH)
    both = [model.transform(SCORES[part]) for part in ("dev", "eval")]
    found = cells(page, "fusion")
    expected = [metrics.cllr(one[TRUTH], one[~TRUTH]) for one in both]
    assert [float(found[4]), float(found[10])] == pytest.approx(expected, abs=1e-3)
    assert found[0] == found[6] == str(N)
    assert "dev.&lt;b&gt;" in page
    assert "without" not in page.partition("Contribution of each system")[2].partition("</table>")[0]


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


def three(folder, part, names, seed):
    """Files of three systems in this order; the fourth argument is which numbers they hold."""
    scores = np.random.default_rng(seed).normal(size=(N, 3)).round(3) + TRUTH[:, None] * [2.0, 1.5, 1.0]
    for k, name in enumerate(names):
        (folder / f"{part}.{name}.txt").write_text(
            "".join(f"m s{i} {x!r}\n" for i, x in enumerate(scores[:, k].tolist()))
        )
    return scores


def report(folder, model, test, training, *words):
    """The page of a model with systems in the order given."""
    given = [str(folder / f"eval.{name}.txt") for name in test]
    given += [word for name in training for word in ("--train", str(folder / f"eval.{name}.txt"))]
    model.save(folder / "m.json")
    keys = ["--key", str(folder / "eval.key"), "--train-key", str(folder / "dev.key")]
    done = CliRunner().invoke(
        report_command, [*given, *keys, "--model", str(folder / "m.json"), "-o", str(folder / "o.html"), *words]
    )
    return done, (folder / "o.html").read_text() if done.exit_code == 0 else ""


def test_one_name_is_not_two_systems(files):
    scores = three(files, "eval", "def", 3)
    model = LinearFusion().fit(scores, TRUTH)
    done, _ = report(files, model, "efd", "def")
    assert "eval.e is system 1 of the fusion for the test, but system 2 for training" in str(done.exception)
    done, _ = report(files, model, "def", "def")
    assert done.exit_code == 0, done.output


def test_rows_are_called_as_the_model_calls_its_systems(files):
    scores = three(files, "eval", "def", 3)
    model = LinearFusion().fit(scores, TRUTH)
    told = model.training_
    model.training_ = Training(told.counts, told.fingerprint, ("eval.d", "eval.e", "eval.f"), told.results)
    done, page = report(files, model, "fed", "edf", "--select", "--cross-validate", "test:4")
    assert done.exit_code == 0, done.output
    for k, name in enumerate("def"):
        alone = LinearFusion().fit_transform(scores[:, [k]], TRUTH)
        shown = cells(page.partition("Contribution of each system")[2], f"eval.{name}")
        assert float(shown[4]) == float(shown[10]) == pytest.approx(metrics.cllr(alone[TRUTH], alone[~TRUTH]), abs=1e-3)
    assert "without eval.d" in page.replace("<wbr>", "")
    assert "trained on these trials" not in page
    assert "Selection of systems" in page
    found = select_systems(
        scores, TRUTH, names=["eval.d", "eval.e", "eval.f"], groups=[f"s{i}" for i in range(N)], n_folds=4
    )
    chosen = page.partition("Selection of systems")[2]
    taken = re.findall(r'<th scope="row">([^<]*)</th>\s*<td[^>]*>chosen', chosen)
    assert taken == list(found.names)


def test_what_the_selection_held_out_is_said(files):
    scores = three(files, "eval", "def", 3)
    for name in ("eval.d.txt", "eval.e.txt", "eval.f.txt", "eval.key", "dev.key"):  # several enrolled speakers
        lines = (files / name).read_text().splitlines()
        (files / name).write_text("".join(f"m{i % 7}{line[1:]}\n" for i, line in enumerate(lines)))
    model = LinearFusion().fit(scores, TRUTH)
    done, page = report(files, model, "def", "def", "--select", "--cross-validate", "test:4")
    assert done.exit_code == 0, done.output
    assert "held out: test, 4 folds." in page


def test_weights_have_digits_that_count_as_on_the_terminal(files):
    model = LinearFusion().fit(SCORES["dev"], TRUTH)
    for name in ("a", HOSTILE):
        path = files / f"eval.{name}.txt"
        lines = [line.split() for line in path.read_text().splitlines()]
        path.write_text("".join(f"{m} {s} {float(x) * 1e7}\n" for m, s, x in lines))
    large = LinearFusion().fit(SCORES["dev"] * 1e7, TRUTH)
    large.save(files / "large.json")
    done = run(files, "--model", "large.json")
    assert done.exit_code == 0, done.output
    shown, standardized = cells((files / "o.html").read_text(), "system 1")
    assert float(shown.replace("\N{MINUS SIGN}", "-")) == pytest.approx(model.weights_[1] / 1e7, rel=1e-5)
    assert float(standardized) == pytest.approx(model.standardized_weights_[1], rel=1e-3)


def test_raw_and_calibrated_systems_are_told_apart_where_both_are(files):
    said = "with their original scores"
    for words, count in (((), 0), (train("a", HOSTILE), 1)):
        assert run(files, "--model", "linear.json", *words).exit_code == 0
        assert (files / "o.html").read_text().count(said) == count


def test_near_copies_are_told(files):
    scores = three(files, "eval", "def", 3)
    rng = np.random.default_rng(8)
    near = scores[:, 0] + 1e-5 * rng.normal(size=N)
    (files / "eval.e.txt").write_text("".join(f"m s{i} {x!r}\n" for i, x in enumerate(near.tolist())))
    model = LinearFusion().fit(np.column_stack((scores[:, 0], near, scores[:, 2])), TRUTH)
    done, page = report(files, model, "def", "def")
    assert done.exit_code == 0, done.output
    assert "<li>fusion: eval.d + eval.e have nearly the same scores" in page


def test_a_model_of_other_trials_has_a_row_of_its_own(files):
    scores = three(files, "eval", "def", 3)
    others = three(files, "dev", "def", 4)
    model = LinearFusion().fit(others, TRUTH)
    done, page = report(files, model, "def", "def")
    assert done.exit_code == 0, done.output
    assert "not the training trials of the model" in page
    assert "are not those of the model" in page
    worth = page.partition("Contribution of each system")[2]
    for name, llr in (
        ("fusion", model.transform(scores)),
        ("fusion, trained on these trials", LinearFusion().fit_transform(scores, TRUTH)),
    ):
        assert float(cells(worth, name)[4]) == pytest.approx(metrics.cllr(llr[TRUTH], llr[~TRUTH]), abs=1e-3)


def test_each_kind_of_fusion_is_described_as_it_is(files):
    scores = three(files, "eval", "def", 3)
    quality = QualityFusion().fit(scores, TRUTH, test_quality=QUALITY)
    done, page = report(files, quality, "def", "def", "--quality", str(files / "q.txt"))
    assert done.exit_code == 0, done.output
    llr = quality.transform(scores, test_quality=QUALITY)
    worth = page.partition("Contribution of each system")[2]
    assert float(cells(worth, "fusion with quality")[4]) == pytest.approx(
        metrics.cllr(llr[TRUTH], llr[~TRUTH]), abs=1e-3
    )
    shown = cells(page, "without quality: offset")[0].replace("\N{MINUS SIGN}", "-")
    assert float(shown) == pytest.approx(quality.backoff_.offset_, abs=1e-4)
    assert "measures q1, q2, ... of both sides times their weights" in page
    lacking = scores.copy()
    lacking[:50, 1] = np.nan
    (files / "eval.e.txt").write_text("".join(f"m s{i} {scores[i, 1].item()!r}\n" for i in range(50, N)))
    subset = SubsetFusion(missing="subset").fit(lacking, TRUTH)
    done, page = report(files, subset, "def", "def")
    assert done.exit_code == 0, done.output
    worth = page.partition("Contribution of each system")[2]
    assert cells(worth, "eval.d")[0] == cells(worth, "fusion")[0] == str(N - 50)
    assert cells(worth, "fusion of available scores")[0] == str(N)
    assert "one fusion for each set of systems" in page
    assert "these are not the training trials" not in page
    assert "note  50 trials by the fusion of eval.d + eval.f" in page


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--model", "quality.json"), "trained with test measures. Name their file"),
        (("--model", "linear.json", "--quality", "q.txt"), "the fusion was trained without"),
        (("--quality", "q.txt"), "quality: is for two-class fusions. Name one (--model)"),
        (("--model", "quality.json", "--quality", "q.txt", "--train-quality", "q.txt"), "Name them (--train)"),
        (("--model", "linear.json", "--select"), "Name them (--train)"),
        (("--model", "linear.json", "--cross-validate", "5"), "Add --select"),
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
