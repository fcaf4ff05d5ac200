"""The first screen of a page, its links, its note and the changes since an earlier run."""

import pytest

import deciban
from deciban.errors import InputError
from deciban.evaluation import Results, evaluate
from deciban.report.answers import APART, CALIBRATED, FAILS, Answer
from deciban.report.cards import cards_of, linked, note_of, require_link, with_navigation
from deciban.report.files import render_page
from deciban.report.tables import Page


def test_html_and_scripts_of_a_note_are_text():
    page = render_page(
        Page(results=Results((evaluate([1.0, 2.0], [0.0]),)), note="# Use\n<script>alert(1)</script> [a](javascript:x)")
    )
    assert "<h3>Use</h3>" in page
    assert "<script>alert" not in page
    assert 'href="javascript' not in page
    assert "<img" not in str(note_of("![x](https://host/x.png)"))


def test_a_card_names_its_problem():
    one = evaluate([1.0, 2.0, 3.0], [0.0, -1.0, 1.5], name="A")
    answers = [
        Answer(question, verdict, mood, ())
        for question, verdict, mood in (
            (APART, "well", "good"),
            (CALIBRATED, "yes", "good"),
            (FAILS, "at some priors", "bad"),
            ("What next?", "use it", "good"),
        )
    ]
    (card,) = cards_of([(one, "#000", answers)])
    assert card.mood == "bad"
    assert card.sentence.endswith(". At some priors, using the scores costs more than ignoring them.")
    (card,) = cards_of([(one, "#000", [answers[0], answers[3]])])
    assert card.mood == "good"
    assert "calibrat" not in card.sentence


def test_every_section_with_a_heading_has_a_link():
    page = render_page(Page(results=Results((evaluate([1.0, 2.0], [0.0]),)), author="A. <b>"))
    navigation = page[page.index("<nav") : page.index("</nav>")]
    for place in ("answer", "notes", "charts", "metrics", "method"):
        assert f'href="#{place}"' in navigation
        assert f'id="{place}"' in page
    assert "A. &lt;b&gt;" in page
    assert with_navigation("<!-- nav -->").endswith("<ul></ul></nav>")


def test_links_have_quoted_values():
    cell = linked("a/b c", "https://host/{test}?m={enroll}", ("enroll", "test"), ("<m>", "a/b c"), 1)
    assert cell == '<a href="https://host/a%2Fb%20c?m=%3Cm%3E">a/b c</a>'
    assert linked("<m>", "https://host/{test}", ("enroll", "test"), ("<m>", "t"), 0) == "&lt;m&gt;"


@pytest.mark.parametrize("link", ["", "https://host/", "javascript:{test}", "data:{test}", "https://host/{other}"])
def test_other_addresses_are_refused(link):
    with pytest.raises(InputError, match="link: "):
        require_link(link, ("enroll", "test"))


def test_the_earlier_run_has_its_section(tmp_path):
    units = {"tar_units": range(5), "non_units": range(5)}
    old = evaluate([3, 2, 4, 1.5, -1.0], [0, 1, -1, -2, -3], name="A", **units)
    (tmp_path / "old.json").write_text(Results((old,)).to_json())
    rows = ["trial,score,label", *(f"t{k},{k % 5 - 2 * (k % 2)},{int(k % 2 == 0)}" for k in range(40))]
    (tmp_path / "A.csv").write_text("\n".join(rows) + "\n")
    page = tmp_path / "page.html"
    deciban.report_files(tmp_path / "A.csv", output=page, baseline=tmp_path / "old.json", title="T", author="me")
    text = page.read_text("utf-8")
    assert "Changes since the earlier run" in text
    assert f"{100 * old.eer:.2f} %" in text[text.index("Changes since the earlier run") :]
    assert 'name="author" content="me"' in text
