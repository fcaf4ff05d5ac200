"""The page as a whole."""

import base64
import dataclasses
import hashlib
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import deciban
from deciban import plots
from deciban.errors import InputError
from deciban.evaluation import Results, evaluate
from deciban.evaluation.results import CONVENTIONS
from deciban.report import render
from deciban.report import tables as words
from deciban.report.cards import CHARTS
from deciban.report.scripts import scripts_for

from .conftest import HOSTILE

WHOLE_PICTURES = True
"""Which are in the page, and looked at."""

VOID = {"meta", "img", "br", "link", "input", "hr", "wbr"}
FACTS = ("read   <a>.txt   3,300 trials", "join   3,300 matched · 12 missing")


class Reader(HTMLParser):
    """Collects tags with their attributes and the text of the page; complains about tags that do not match."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.open, self.texts = [], [], []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.texts.append(data)

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())


@pytest.fixture(scope="module")
def page(results):
    return render(results, title="A <b>title</b>", message_lines=FACTS)


@pytest.fixture(scope="module")
def reader(page):
    return Reader(page)


def test_strings_of_the_user_are_escaped(page, reader):
    own = scripts_for({})
    assert [attrs.get("id") for attrs in reader.all("script")] == ["page-data", *[None] * len(own)]
    assert "b" in {tag for tag, _ in reader.tags}
    assert "<b>title</b>" not in page
    assert reader.all("img") == []
    for string in (*HOSTILE, *FACTS, "A <b>title</b>"):
        assert " ".join(string.split()) in reader.text


def test_nothing_is_loaded_from_elsewhere(page, reader):
    own = re.sub(r'src="data:image/svg\+xml;base64,[A-Za-z0-9+/=]+"', "", page)
    own = re.sub(r"<script.*?</script>|sha256-[A-Za-z0-9+/=]+", "", own, flags=re.DOTALL)
    assert len(own) < 54_000
    assert not re.search(r"(?:https?:|ftp:|file:)?//\w", own)
    assert not re.search(r"@import|url\(|javascript:|\bon\w+=", own)
    assert not {"link", "iframe", "object"} & {tag for tag, _ in reader.tags}
    (policy,) = [meta["content"] for meta in reader.all("meta") if meta.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")
    running = re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL)
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in running]
    assert re.search(r"script-src ([^;]*)", policy)[1].split() == [f"'sha256-{one}'" for one in digests]


def test_every_chart_is_there_with_its_title_and_caption(reader):
    assert [one["data-chart"] for one in reader.all("figure") if "data-chart" in one] == list(CHARTS)
    assert set(CHARTS) == set(plots.KINDS)
    for title, caption in words.TWO_CLASS["plots"].values():
        assert title in reader.text
        assert caption in reader.text


def test_numbers_notes_and_conventions_are_there(results, page, reader):
    good, bad = results.systems
    for system in results.systems:
        for note in system.notes:
            assert note in reader.text
        assert words.scarce_errors(system) in reader.text
    assert "Cllr is infinite" in reader.text
    for metric in (f"{100 * good.eer:.2f} %", f"{good.cllr:.3f}", f"{bad.min_cllr:.3f}", "∞", "3,001", "0.09174"):
        assert metric in reader.text
    for label in ("EER (ROCCH)", "minDCF", "actDCF", "p_target 0.01, costs 10:1", "mean over points", "PRBEP"):
        assert label in reader.text
    assert 'class="few">fewer than 30 false alarms<' in page
    for text in CONVENTIONS.values():
        assert text in reader.text
    assert f"deciban {deciban.__version__}" in reader.text


def test_systems_have_the_colours_of_the_plots(page):
    for color in plots.system_colors(2):
        assert page.count(f"background: {color}") >= 4


def test_page_is_small_and_reads_on_any_screen(page, reader):
    assert len(page) < 1_500_000
    assert page.startswith("<!DOCTYPE html>")
    assert reader.all("html") == [{"lang": "en"}]
    assert {"charset": "utf-8"} in reader.all("meta")
    assert any(meta.get("name") == "viewport" for meta in reader.all("meta"))
    for rule in ("prefers-color-scheme:dark", "@media print", "overflow-x:auto"):
        assert rule in page


def test_same_results_same_page(results, monkeypatch):
    monkeypatch.setattr(plots, "KINDS", ("tippett",))
    assert render(results) == render(results)


@pytest.mark.parametrize(
    ("names", "title"),
    [
        (["a"], "Evaluation of a"),
        (["a", "b"], "Evaluation of a and b"),
        (["a", "b", "c"], "Evaluation of a, b and c"),
        (["a", "b", "c", "d"], "Evaluation of 4 systems"),
    ],
)
def test_default_title(names, title):
    systems = tuple(evaluate([1.0], [0.0], name=name) for name in names)
    assert f"<h1>{title}</h1>" in render(Results(systems))


def test_facts_come_from_the_caller_the_results_or_the_join(results):
    assert "3,300 matched · 12 missing · 5 extra · 0 duplicate" in render(results)
    told = Results(results.systems, results.join, ("read  sysA.txt",))
    assert '<pre class="messages">read  sysA.txt</pre>' in render(told)
    assert '<pre class="messages">one\ntwo</pre>' in render(told, message_lines=["one", "two"])
    assert "<h2>Input</h2>" not in render(Results(results.systems))


def test_nothing_to_note():
    quiet = dataclasses.replace(evaluate([1.0], [0.0]), notes=())
    assert "No notes besides" in Reader(render(Results((quiet,)))).text


def test_names_that_are_no_unicode_can_be_written():
    written = render(Results((evaluate([1.0], [0.0], name="caf\udce9.txt"),)))
    assert "caf?.txt" in written.encode("utf-8").decode("utf-8")


def test_no_system():
    with pytest.raises(InputError, match="no system to report on"):
        render(Results(()))


def test_figures_of_a_page_have_their_intervals():
    rng = np.random.default_rng(2)
    units = {"tar_units": np.arange(60) % 20, "non_units": rng.integers(0, 20, (300, 2))}
    one = evaluate(rng.normal(2, 2, 60), rng.normal(-2, 2, 300), name="A", operating_points=[0.1], **units)
    shown = render(Results((one,)))
    low, high = (100 * bound for bound in (one.interval("eer").low, one.interval("eer").high))
    cell = re.search(rf"<td>{100 * one.eer:.2f} %<small class=\"interval\">\[(\S+), (\S+)\]</small></td>", shown)
    assert [float(bound) for bound in cell.groups()] == pytest.approx([low, high], abs=0.5)
    text = Reader(shown).text
    assert "In brackets: 95 % intervals by unit, 20 units; corrected: expected on new units." in text
    assert "Intervals rest on 20 units: with fewer than 30 they are rough." in text
    bare = render(Results((dataclasses.replace(one, uncertainty=None),)))
    assert 'class="interval"' not in bare
    assert "In brackets" not in bare
