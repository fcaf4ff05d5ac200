"""Pages from files, of both kinds of scores: what they show, what is returned, and what is left alone."""

import re

import numpy as np
import pytest

from deciban import InputError, evaluate_files, report_files, train_files
from deciban.calibration import AffineCalibrator
from deciban.workflows.reading import inputs as opening
from support.both_kinds import MADE
from support.pages import script_data


@pytest.fixture(params=list(MADE))
def both(request, tmp_path):
    """Files of two classes, then of many."""
    return MADE[request.param](tmp_path)


def cllrs(results):
    return [one.cllr for one in results.systems]


def test_results_are_those_of_the_evaluation(both):
    page = both.folder / "page.html"
    shown = report_files(both.paths, both.key, page, title="<Two> systems")
    expected = evaluate_files(both.paths, both.key)
    assert (shown.kind, cllrs(shown), shown.message_lines) == (both.name, cllrs(expected), expected.message_lines)
    text = page.read_text("utf-8")
    assert "<h1>&lt;Two&gt; systems</h1>" in text
    assert "<Two>" not in text


def test_training_and_a_model_stand_beside_the_scores(both):
    model = train_files(both.paths[0], both.key, both.calibrator()).model
    model.save(both.folder / "m.json")
    page, train = both.folder / "page.html", {"train": both.paths[0], "train_key": both.key}
    shown = report_files(both.paths[1], both.key, page, model=both.folder / "m.json", **train)
    assert cllrs(shown) == cllrs(evaluate_files(both.paths[1], both.key, model=model))
    text = page.read_text("utf-8")
    for words in ("<h2>Model</h2>", "raining"):
        assert words in text
    assert "these are not the training trials of the model" not in text
    assert "trained on these same trials" not in text
    report_files(both.paths[0], both.key, page, model=model)  # without training, these are other trials
    assert "trained on these same trials" in page.read_text("utf-8")


@pytest.mark.parametrize("name", ["a.csv", "key.csv", "m.json"])
def test_an_input_is_not_replaced(both, name):
    both.calibrator().fit(both.values[0], both.truth).save(both.folder / "m.json")
    before = (both.folder / name).read_bytes()
    with pytest.raises(InputError, match=f"{name}: is an input"):
        report_files(both.paths[0], both.key, both.folder / name, model=both.folder / "m.json")
    assert (both.folder / name).read_bytes() == before


@pytest.mark.parametrize(("options", "is_named"), [({}, True), ({"log10": True}, False)])
def test_the_command_on_a_page_names_files_only_where_it_needs_no_more(tmp_path, options, is_named):
    (tmp_path / "own.csv").write_text("trial,score,label\na,2.5,1\nb,1,1\nc,-0.5,0\nd,1.5,0\n")
    report_files(tmp_path / "own.csv", output=tmp_path / "page.html", **options)
    command = script_data((tmp_path / "page.html").read_text("utf-8"))["command"]
    assert command == ("deciban eval " + (str(tmp_path / "own.csv") if is_named else "SCORES --key KEY"))


def test_pages_list_no_more_trials_than_they_have_room_for(both):
    page = both.folder / "page.html"
    with pytest.raises(InputError, match="got 100,000, but a page lists at most 200 trials of each class"):
        report_files("missing.csv", both.key, page, worst=100_000)
    assert report_files(both.paths[0], both.key, page, worst=200).worst
    assert page.stat().st_size < 3e6


@pytest.mark.parametrize("given", [{"select": True}, {"quality": "q.txt"}])
def test_what_only_fusions_of_two_classes_have(both, given):
    page, calibrator = both.folder / "page.html", both.calibrator().fit(both.values[0], both.truth)
    for model in (None, calibrator):
        with pytest.raises(InputError, match=f"{next(iter(given))}: is for two-class fusions"):
            report_files(both.paths[0], both.key, page, model=model, **given)
    assert not page.exists()


def test_the_worth_of_the_systems_of_a_fusion(both):
    fusion = train_files(both.paths, both.key, both.fusion()).model
    page, train = both.folder / "page.html", {"train": both.paths, "train_key": both.key}
    report_files(both.paths, both.key, page, model=fusion, **train)
    text = page.read_text("utf-8")
    assert "Contribution of each system" in text
    for drawn in ("Weights of the systems in the fusion", "Contribution of each system in the fusion"):
        assert f'alt="{drawn}"' in text
    assert ('alt="Offset of each class of the model"' in text) == (both.name == "classes")


def test_the_worth_of_the_systems_is_shown_where_trials_do_not_fit(both, monkeypatch):
    fusion = train_files(both.paths, both.key, both.fusion()).model
    monkeypatch.setattr(opening, "memory_of", lambda *_: 1 << 60)
    page, train = both.folder / "page.html", {"train": both.paths, "train_key": both.key}
    report_files(both.paths, both.key, page, model=fusion, **train)
    assert "<h3>Contribution of each system</h3>" in page.read_text("utf-8")


def test_a_page_that_cannot_be_made_leaves_the_old_one(both):
    page = both.folder / "page.html"
    page.write_text("old")
    with pytest.raises(InputError, match="fusion was trained on 2"):
        report_files(both.paths[0], both.key, page, model=train_files(both.paths, both.key, both.fusion()).model)
    assert page.read_text() == "old"
    assert sorted(path.name for path in both.folder.iterdir()) == ["a.csv", "b.csv", "key.csv", "page.html"]


def test_a_model_of_the_other_kind_is_named_as_its_file(both):
    (both.folder / "other").mkdir()
    other = MADE[both.other](both.folder / "other")
    other.calibrator().fit(other.values[0], other.truth).save(both.folder / "mm.json")
    with pytest.raises(InputError, match=r"mm\.json: a model of kind .* is for .* scores, but the scores are"):
        report_files(both.paths[0], both.key, both.folder / "page.html", model=both.folder / "mm.json")


def test_a_page_is_not_written_under_the_name_of_something_else(both):
    for name in ("page.pdf", "page", "page.html.txt"):
        with pytest.raises(InputError, match=rf"output: '.*{name}' must end in \.html or \.htm"):
            report_files(both.paths, both.key, both.folder / name)
        assert not (both.folder / name).exists()


def test_worst_trials_of_cosines_have_no_costs_and_tables_before_a_model_are_named(tmp_path):
    rng = np.random.default_rng(3)
    is_target = np.arange(400) < 100
    cosines = 0.3 + 0.1 * is_target + 0.04 * rng.normal(size=400)
    rows = (f"t{k},{score:.5f},{int(truth)}" for k, (score, truth) in enumerate(zip(cosines, is_target, strict=True)))
    (tmp_path / "cos.csv").write_text("\n".join(("trial,score,label", *rows)))
    model = train_files(tmp_path / "cos.csv", model=AffineCalibrator()).model
    report_files(tmp_path / "cos.csv", output=tmp_path / "page.html", model=model)
    section = (tmp_path / "page.html").read_text("utf-8").partition('id="worst-trials"')[2].partition("</section>")[0]
    titles = re.findall(r"<summary>(cos[^<]*)", section)
    headings = [
        re.findall(r'data-words="([^"]+)"', one) for one in re.findall(r"<thead>.*?</thead>", section, re.DOTALL)
    ]
    assert titles == ["cos (before calibration)", "cos"]
    assert headings == [["trial", "class", "score"], ["trial", "class", "llr", "cost"]]
    widths = [one.count("<td") for one in re.findall(r"<tr data-of.*?</tr>", section, re.DOTALL)]
    assert widths == [3] * 40 + [4] * 40
