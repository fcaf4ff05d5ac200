"""Tables in windows of any width, and in styles for programs: nothing is lost, and nothing stands beyond the edge."""

import csv
import html.parser
import io
import re

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from deciban.tables.results import TableConsole, say, table
from deciban.tables.writers import WRITERS, Table

WORDS = st.text(st.characters(whitelist_categories=("L", "N"), whitelist_characters="_-.&%$#{}|~^\\<>*`"), min_size=1)
NUMBERS = st.floats(-1e5, 1e5).map(lambda x: f"{x:.3f}")


@st.composite
def tables(draw):
    n_columns = draw(st.integers(1, 8))
    headings = ["system", *(draw(st.text("abc ", min_size=1, max_size=20)).strip() or "x" for _ in range(n_columns))]
    rows = [
        (draw(WORDS), *(draw(NUMBERS) for _ in range(draw(st.integers(0, n_columns)))))
        for _ in range(draw(st.integers(0, 5)))
    ]
    return Table(tuple(headings), tuple(rows), caption=draw(st.text("abcdef  ;", max_size=80)).strip())


def printed(shown, width=None, style="plain"):
    out = io.StringIO()
    TableConsole(style, file=out, width=width, force_terminal=False).print(shown)
    return out.getvalue()


@given(tables(), st.integers(40, 200))
def test_no_line_is_wider_than_the_window_or_ends_in_blanks(shown, width):
    for line in printed(shown, width).splitlines():
        assert cell_len(line) <= width
        assert line == line.rstrip()


@given(tables(), st.integers(40, 200))
def test_every_figure_stands_in_every_window(shown, width):
    text = printed(shown, width)
    wanted = sorted(cell for row in shown.rows for cell in row[1:])
    body = text.partition("system")[2]
    found = re.findall(r"(?<!\S)-?\d+\.\d{3}(?!\S)", body)
    for cell in wanted:
        assert cell in found


def test_what_does_not_fit_stands_below_under_the_same_names():
    shown = table(["system", *(f"metric {k}" for k in range(6))], [("a", *(f"{k}.25" for k in range(6)))])
    lines = printed(shown, 30).splitlines()
    assert sum(line.startswith("a ") for line in lines) == lines.count("") + 1 > 1
    assert len(printed(shown, 80).splitlines()) == 2


def test_long_names_are_folded_and_wide_letters_count_twice():
    shown = table(["system", "EER", "Cllr"], [("語" * 30, "12.50 %", "0.500")])
    lines = printed(shown, 40).splitlines()
    assert "".join(lines).count("語") == 30
    assert all(cell_len(line) <= 40 for line in lines)


def test_sentences_are_wrapped_where_there_is_a_window():
    shown = table(["format", "holds"], [("kaldi", "words and words " * 20)], prose=[1])
    assert len(printed(shown, 60).splitlines()) > 4
    out = io.StringIO()
    console = TableConsole(file=out)
    console.print(shown)
    say(console, "note " * 100)
    assert len(out.getvalue().splitlines()) == 3


@given(tables())
def test_csv_holds_the_cells(shown):
    text = printed(shown, style="csv")
    rows = list(csv.reader(line for line in io.StringIO(text) if not line.startswith("# ")))
    assert rows[0] == list(shown.headings)
    assert rows[1:] == [list(shown.cells(row)) for row in shown.rows]
    assert (f"# {shown.caption}\n" in text) == bool(shown.caption)


def test_numbers_are_bare_in_csv():
    shown = table(["system", "EER", "trials"], [("1,000 %", "12.50 %", "1,234,567"), ("b", "-", "-1,234.5")])
    assert printed(shown, style="csv").splitlines() == [
        "system,EER in %,trials",
        '"1,000 %",12.50,1234567',
        "b,-,-1234.5",
    ]


@given(tables())
def test_markdown_has_as_many_cells_in_every_row(shown):
    lines = WRITERS["markdown"].table(shown).splitlines()[: len(shown.rows) + 2]
    assert {len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in lines} == {len(shown.headings) + 1}


@given(tables())
def test_latex_has_no_letter_that_means_something(shown):
    body = WRITERS["latex"].table(shown).partition("\\toprule")[2].partition("\\end{tabular}")[0]
    rows = [line for line in body.splitlines() if line.endswith(r" \\")]
    assert len(rows) == len(shown.rows) + 1
    for row in rows:
        assert len(re.findall(r"(?<!\\)&", row)) == len(shown.headings) - 1
        bare = re.sub(r"\\[a-z]+\{\}|\\[&%$#_{}]|\$-\$|\\\\$| & ", "", row)
        assert not set(bare) & set("&%$#_{}~^\\")


@given(tables())
def test_html_shows_the_cells(shown):
    cells = []

    class Cells(html.parser.HTMLParser):
        def handle_starttag(self, tag, _attributes):
            if tag in ("td", "th"):
                cells.append("")
            else:
                assert tag in ("table", "thead", "tbody", "tr", "caption")
            self.inside = tag in ("td", "th")

        def handle_data(self, data):
            if self.inside:
                cells[-1] += data

        def handle_endtag(self, _tag):
            self.inside = False

    Cells().feed(WRITERS["html"].table(shown))
    assert cells == [*shown.headings, *(cell for row in shown.rows for cell in shown.cells(row))]


def test_names_that_begin_like_arguments_of_a_latex_row_are_none():
    shown = table(["system", "EER"], [("a", "1.0"), ("[2em]", "2.0"), ("*b", "3.0")])
    lines = WRITERS["latex"].table(shown).splitlines()
    assert not any(line.lstrip().startswith(("[", "*")) for line in lines)
    assert r"    {}[2em] & 2.0 \\" in lines


def test_formulas_of_markdown_are_none():
    shown = table(["system", "EER"], [("$x$", "1.0")])
    assert r"| \$x\$ | 1.0 |" in WRITERS["markdown"].table(shown).splitlines()


def test_what_reads_comments_finds_whole_rows_in_csv():
    shown = table(["system", "EER"], [("# 1", "12.50 %"), ("a#b", "3.00 %")], caption="of all")
    found = pd.read_csv(io.StringIO(printed(shown, style="csv")), comment="#")
    assert found.to_dict("list") == {"system": ["# 1", "a#b"], "EER in %": [12.5, 3.0]}


def test_words_of_headings_are_whole():
    shown = table(["system", *["discrimination loss"] * 6], [("a", *["0.1234"] * 6)])
    assert printed(shown, 60).count("discrimination") == 6


@pytest.mark.parametrize(("style", "mark"), [("csv", "# "), ("latex", "% ")])
def test_sentences_are_comments(style, mark):
    out = io.StringIO()
    console = TableConsole(style, file=out)
    console.print(table(["a", "b"], [("x", "1")]))
    say(console, "first note")
    say(console, "second note")
    console.print("")
    assert out.getvalue().endswith(f"\n\n{mark}first note\n{mark}second note\n")


def test_a_caption_for_a_paper_has_no_options():
    found = WRITERS["latex"].table(
        Table(("a",), (("1",),), caption="minima are optimistic: eval --corrected shows more")
    )
    assert r"\caption{minima are optimistic}  % eval --corrected shows more" in found
