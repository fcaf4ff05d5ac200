"""Where the numbers of a page come from, and where they are explained."""

import hashlib
import re

import pytest

from deciban import evaluate, report_files
from deciban.errors import InputError
from deciban.evaluation import Results
from deciban.report import render
from deciban.report.tables import TEXTS, Provenance, anchor, definition_of
from support.both_kinds import MADE


@pytest.fixture(params=list(MADE))
def both(request, tmp_path):
    """Files of two classes, then of many."""
    return MADE[request.param](tmp_path)


def test_files_are_named_with_their_hashes(both, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86399")
    page = both.folder / "page.html"
    report_files(both.paths, both.key, page)
    text = page.read_text("utf-8")
    for path in (*both.paths, both.key):
        assert hashlib.sha256(path.read_bytes()).hexdigest() in text
    assert "1970-01-01 23:59:59 UTC" in text
    assert "deciban.report_files(...)" in text


def test_the_same_files_and_date_give_the_same_bytes(both, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1")
    written = []
    for name in ("one.html", "two.html"):
        report_files(both.paths, both.key, both.folder / name)
        written.append((both.folder / name).read_bytes())
    assert written[0] == written[1]


@pytest.mark.parametrize("epoch", ["soon", "1e300", "nan"])
def test_what_is_no_date_is_refused_before_anything_is_evaluated(monkeypatch, epoch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    with pytest.raises(InputError, match=f"SOURCE_DATE_EPOCH: '{epoch}'.*seconds since 1970"):
        report_files("no such file.txt", output="page.html")


def test_seed_and_units_are_said():
    units = {"tar_units": [0, 1, 2], "non_units": [0, 1, 2]}
    drawn = evaluate([1.0, 2.0, 3.0], [0.0, 1.5, -1.0], bootstrap=20, seed=77, **units)
    rows = dict(Provenance.of({}, "typed").rows(Results((drawn,))))
    assert (rows["Command"], rows["Seed"]) == ("typed", "77")
    assert "Written" in rows
    assert rows["Units of intervals"].startswith("3 units")
    plain = dict(Provenance.of({}, "typed").rows(Results((evaluate([1.0], [0.0]),))))
    assert plain["Seed"].startswith("none")
    assert "Units of intervals" not in plain


def test_links_of_figures_lead_to_their_definitions():
    text = render(evaluate([1.0, 2.0, 3.0], [0.0, 1.5, -1.0]))
    links, places = re.findall(r'<a class="term" href="#([^"]+)"', text), set(re.findall(r' id="([^"]+)"', text))
    assert {"means-cllr", "means-min-cllr", "means-eer-rocch", "means-mindcf", "means-actdcf"} <= set(links)
    assert set(links) <= places
    assert 'id="provenance"' not in text  # nothing is known of where arrays come from


@pytest.mark.parametrize("kind", ["two-class", "classes"])
def test_terms_have_places_of_their_own(kind):
    terms = list(TEXTS[kind]["definitions"])
    assert len({anchor(term) for term in terms}) == len(terms)
    assert all(definition_of(term, terms) == term for term in terms)
