"""Tables as terminal output, CSV, Markdown, LaTeX and HTML, with the same values in each; numbers as text."""

from __future__ import annotations

import csv
import html
import io
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeAlias

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.table import Table as Grid
from rich.text import Text

from deciban.evaluation.metrics import metric_of
from deciban.evaluation.one_system import PERCENT, OneSystem, WithInterval, corrected_of, with_interval
from deciban.evaluation.uncertainty import MetricKey

LONGEST_WORD = 14
"""Maximum width of a word in a heading; longer words are broken."""


def longest_word(heading: str) -> int:
    """Return the width that the words of a heading need; longer words than `LONGEST_WORD` are broken.

    >>> longest_word("mean speech_duration")
    8
    """
    words = (part for word in heading.split() for part in _parts(word, LONGEST_WORD))
    return min(max(map(cell_len, words), default=0), LONGEST_WORD)


_BREAK = re.compile(r"(?<=[-_./])(?=[^-_./])")
"""Places where a long name can be broken."""


def _parts(word: str, width: int) -> list[str]:
    """Return the word, split after its separators if it is wider than `width`."""
    return [word] if cell_len(word) <= width else _BREAK.split(word)


def wrapped(text: str, width: int) -> str:
    r"""Break a heading or a name into lines: at blanks, and long words also after `_`, `-`, `.` and `/`.

    >>> wrapped("mean speech_duration", 12)
    'mean speech_\nduration'
    """
    if cell_len(text) <= width:
        return text
    lines = [""]
    for word in text.split(" "):
        for at, part in enumerate(_parts(word, width)):
            longer = f"{lines[-1]} {part}" if lines[-1] and not at else f"{lines[-1]}{part}"
            if lines[-1] and cell_len(longer) > width:
                lines.append(part)
            else:
                lines[-1] = longer
    return "\n".join(lines)


Cell: TypeAlias = Callable[[Any], str]
"""Function that writes the cell of an evaluation."""


def has_intervals(cells: Sequence[str]) -> bool:
    """Return True if some cell of a column has an interval."""
    return any(isinstance(cell, WithInterval) for cell in cells)


def with_corrected(columns: Mapping[str, Cell], systems: Sequence[OneSystem]) -> dict[str, Cell]:
    """Return columns of metrics, with a column of corrected values after each minimum.

    Parameters
    ----------
    columns : mapping of str to function
        Headings, each with the function that writes its cell for an evaluation.
    systems : sequence of Evaluation or ClassEvaluation
    """
    first = systems[0]
    minima = {heading_of(key, first): key for key in first.summary_keys() if metric_of(key).is_minimum}
    entries = dict[str, Cell]()
    for heading, cell in columns.items():
        entries[heading] = cell
        key = minima.get(heading)
        if key is not None and any(corrected_of(one, key) is not None for one in systems):
            entries[f"{heading.partition('(')[0].rstrip()}, corrected"] = partial(corrected_cell, key, beside=cell)
    return entries


def heading_of(key: MetricKey, one: OneSystem) -> str:
    """Return the label of a metric; at a two-class operating point with the point in the syntax of ``--dcf``."""
    label = metric_of(key).label
    if isinstance(key, str) or one.kind != "two-class":
        return label
    point = one.cost_points[int(key[1])]
    costs = "" if point.c_miss == point.c_fa == 1 else f":{point.c_miss:g}:{point.c_fa:g}"
    return f"{label}({point.p_target:.6g}{costs})"


def corrected_cell(key: MetricKey, one: OneSystem, beside: Cell | None = None) -> str:
    """Return the cell of a corrected minimum, its expected value on new units; none beside a cell without a value."""
    value = corrected_of(one, key)
    return "-" if value is None or (beside is not None and beside(one) == "-") else metric_of(key).text(value)


def estimate_of(cell: str) -> str:
    """Return the value of a cell without its interval."""
    return cell.estimate if isinstance(cell, WithInterval) else cell


def aligned(cells: Sequence[str]) -> list[str]:
    """Return the cells of a column with aligned values and aligned intervals.

    Examples
    --------
    >>> aligned([WithInterval("12.31 %", "9.8", "15.3"), WithInterval("0.518", "0.47", "0.57"), "-"])
    ['12.31 % [9.8, 15.3]', '  0.518 [0.47, 0.57]', '      -']
    """
    if not has_intervals(cells):
        return list(cells)
    width = max(len(cell.estimate if isinstance(cell, WithInterval) else cell) for cell in cells)
    return [
        f"{cell.estimate:>{width}} {cell.bracket}"[0 if width else 1 :]
        if isinstance(cell, WithInterval)
        else f"{cell:>{width}}"
        for cell in cells
    ]


def apart(heading: str, cells: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Split a column with intervals into columns of values, lower and upper bounds.

    Examples
    --------
    >>> apart("Cllr", [WithInterval("0.518", "0.47", "0.57"), "-"])
    [('Cllr', ['0.518', '-']), ('Cllr low', ['0.47', '']), ('Cllr high', ['0.57', ''])]
    """
    if not has_intervals(cells):
        return [(heading, list(cells))]
    bounds = [
        (f"{heading} {side}", [cell.digits[k] if isinstance(cell, WithInterval) else "" for cell in cells])
        for k, side in enumerate(("low", "high"))
    ]
    return [(heading, list(map(estimate_of, cells))), *bounds]


STYLES = ("plain", "csv", "markdown", "latex")
"""Styles of tables; the first is for people."""


UNLIMITED = 100_000
"""Width of output that is not a terminal: every row is one line."""


_GAP = 2
"""Number of blanks between two columns."""


_NARROW = 12
"""Minimum width of a folded column of names."""


_CAPTION = 80
"""Minimum width of a caption in a window."""


@dataclass(frozen=True, slots=True)
class Table:
    """Table of texts with a caption.

    Attributes
    ----------
    headings : tuple of str
    rows : tuple of tuple of str
        Cells as text for people; a row can have fewer cells than headings.
    n_left : int
        Number of columns of names. They come first and are left-aligned; the other columns hold numbers.
    caption : str
        Units, operating points and other remarks on the values.
    prose : tuple of int
        Columns of sentences or lists of words, which can be wrapped.
    has_headings : bool
        Whether terminals show the headings.
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_left: int = 1
    caption: str = ""
    prose: tuple[int, ...] = ()
    has_headings: bool = True

    def cells(self, row: Sequence[str]) -> tuple[str, ...]:
        """Return the cells of a row, padded to all columns."""
        return (*row, *[""] * (len(self.headings) - len(row)))

    def column(self, k: int) -> list[str]:
        """Return all cells of a column."""
        return [self.cells(row)[k] for row in self.rows]

    @property
    def turned(self) -> Table:
        """The transposed table: a row for each column of numbers, a column for each row."""
        names, *columns = (self.column(k) for k in range(len(self.headings)))
        rows = tuple((heading, *cells) for heading, cells in zip(self.headings[1:], columns, strict=True))
        return replace(self, headings=("", *names), rows=rows)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render the table within the width of the window."""
        width = 0
        for number, grid in enumerate(grids(self, options.max_width)):
            if number:
                yield Segment.line()
            for line in console.render_lines(grid, options, pad=False):
                shown = _without_blanks(line)
                width = max(width, sum(segment.cell_length for segment in shown))
                yield from (*shown, Segment.line())
        if self.caption:
            window = options.max_width
            wide = window if window >= UNLIMITED else min(window, max(width, _CAPTION))
            caption = Text(self.caption, style="table.caption")
            for line in console.render_lines(caption, options.update(width=wide), pad=False):
                yield from (*_without_blanks(line), Segment.line())


def _without_blanks(line: list[Segment]) -> list[Segment]:
    """Return a line without trailing blanks."""
    kept = list(line)
    while kept:
        text, style, control = kept.pop()
        if text.rstrip():
            return [*kept, Segment(text.rstrip(), style, control)]
    return []


def grids(table: Table, width: int) -> Iterator[Grid]:
    """Yield the blocks of a table that fit a window; each block starts with the columns of names.

    Headings are wrapped first, then long names are folded. Columns that still do not fit go into another block. No
    value is cut. If metrics with intervals do not fit side by side, the table is transposed, if that fits.
    """
    if table.prose:
        yield _grid(table, range(len(table.headings)), _prose_widths(table, width))
        return
    n_left, n_columns = table.n_left, len(table.headings)
    may_turn = n_left == 1 and any(has_intervals(table.column(k)) for k in range(1, n_columns))
    for shown in (table, table.turned) if may_turn else (table,):
        whole, wrapped = _widths(shown)
        for widths in (whole, wrapped):
            if sum(widths) + _GAP * (len(widths) - 1) <= width:
                yield _grid(shown, range(len(widths)), dict(enumerate(widths)))
                return
    _, wrapped = _widths(table)
    metrics = wrapped[n_left:]
    room = width - sum(metrics) - _GAP * len(metrics)
    names = _folded(wrapped[:n_left], room)
    if sum(names) + _GAP * (n_left - 1) > room:
        names = _folded(wrapped[:n_left], max(width // 2, width - max(metrics, default=0) - _GAP))
        names = _folded(names, width // 2) if sum(metrics) + _GAP * len(metrics) > width // 2 else names
    widths = [*names, *metrics]
    room = width - sum(names) - _GAP * (n_left - 1)
    block = list[int]()
    for k in range(n_left, n_columns):
        if block and sum(widths[j] + _GAP for j in (*block, k)) > room:
            yield _grid(table, [*range(n_left), *block], dict(enumerate(widths)))
            block = []
        block.append(k)
    yield _grid(table, [*range(n_left), *block], dict(enumerate(widths)))


def _widths(table: Table) -> tuple[list[int], list[int]]:
    """Return the widths of all columns with headings on one line, and with wrapped headings."""
    columns = range(len(table.headings))
    held = [max(map(cell_len, aligned(table.column(k))), default=0) for k in columns]
    whole = [max(held[k], cell_len(table.headings[k])) for k in columns]
    return whole, [max(held[k], longest_word(table.headings[k])) for k in columns]


def _prose_widths(table: Table, width: int) -> dict[int, int]:
    """Return the column widths of a table with sentences, which are wrapped before names."""
    shown = table.headings if table.has_headings else [""] * len(table.headings)
    widths = [max(map(cell_len, (heading, *table.column(k)))) for k, heading in enumerate(shown)]
    excess = sum(widths) + _GAP * (len(widths) - 1) - width
    lengths = [[cell_len(cell) for cell in table.column(k)] for k in range(len(widths))]

    def lines(narrower: int) -> tuple[int, int]:
        tried = [width - (k == narrower) for k, width in enumerate(widths)]
        heights = [[-(-length // width) for length in column] for column, width in zip(lengths, tried, strict=True)]
        return sum(map(max, zip(*heights, strict=True))), -widths[narrower]

    for columns in (table.prose, range(len(widths))):
        while excess > 0 and (wide := [k for k in columns if widths[k] > _NARROW]):
            widths[min(wide, key=lines)] -= 1
            excess -= 1
    return dict(enumerate(widths))


def _folded(widths: Sequence[int], room: int) -> list[int]:
    """Return the widths of columns of names within a room: the widest are folded, down to `_NARROW`."""
    numbers = list(widths)
    while sum(numbers) + _GAP * (len(numbers) - 1) > room and max(numbers) > _NARROW:
        numbers[numbers.index(max(numbers))] -= 1
    return numbers


def _grid(table: Table, columns: Sequence[int], widths: Mapping[int, int]) -> Grid:
    """Return some columns of a table as a rich table."""
    grid = Grid(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold", show_header=table.has_headings)
    for k in columns:
        is_left = k < table.n_left or bool(table.prose) or has_intervals(table.column(k))
        name = Text(wrapped(table.headings[k], widths[k]))
        grid.add_column(name, justify="left" if is_left else "right", overflow="fold", width=widths[k])
    for cells in zip(*(_shown(table, k, widths[k]) for k in columns), strict=True):
        grid.add_row(*map(Text, cells))
    return grid


def _shown(table: Table, k: int, width: int) -> list[str]:
    """Return the displayed cells of a column: numbers aligned, long names folded."""
    cells = aligned(table.column(k))
    return [wrapped(cell, width) for cell in cells] if k < table.n_left and not table.prose else cells


_PERCENT = re.compile(r"-?[\d.e+-]* %|inf %|-|")

_NEGATIVE = re.compile(r"-[\d.]|-inf")

_GROUPED = re.compile(r"-?\d{1,3}(,\d{3})+(\.\d+)?")


def bare(table: Table, *, bounds_apart: bool = False) -> Table:
    """Return the table with numbers that programs can read: percent in the heading, no thousands separators.

    If `bounds_apart`, the bounds of intervals have separate columns.
    """
    result = list[tuple[str, list[str]]]()
    for k, heading in enumerate(table.headings):
        cells = table.column(k)
        if k < table.n_left:
            result.append((heading, cells))
            continue
        estimates = list(map(estimate_of, cells))
        unit = ""
        if any(cell.endswith(PERCENT) for cell in estimates) and all(map(_PERCENT.fullmatch, estimates)):
            unit, cells = " in %", [getattr(one, "without_percent", one.removesuffix(PERCENT)) for one in cells]
        cells = [cell.replace(",", "") if _GROUPED.fullmatch(cell) else cell for cell in cells]
        parts = apart(heading, cells) if bounds_apart else [(heading, cells)]
        result += [(f"{name}{unit}", column) for name, column in parts]
    headings, columns = zip(*result, strict=True)
    return replace(table, headings=headings, rows=tuple(zip(*columns, strict=True)) if table.rows else ())


def as_csv(table: Table) -> str:
    """Return the table as comma-separated values; the caption is a comment at the start.

    >>> print(as_csv(Table(("system", "EER"), (("a,b", "12.50 %"),), caption="of all trials")), end="")
    # of all trials
    system,EER in %
    "a,b",12.50
    """
    result, out = bare(table, bounds_apart=True), io.StringIO()
    out.writelines(f"# {line}\n" for line in table.caption.splitlines())
    for cells in (result.headings, *map(result.cells, result.rows)):
        has_mark = "#" in "".join(cells)  # readers of comments could drop the rest of the row
        quoting: Literal[0, 1] = csv.QUOTE_ALL if has_mark else csv.QUOTE_MINIMAL
        csv.writer(out, lineterminator="\n", quoting=quoting).writerow(cells)
    return out.getvalue()


_MARKS = re.compile(r"[\\`*_{}\[\]<>#|~&$]")
"""Characters with a meaning in Markdown."""


def markdown_text(text: str) -> str:
    r"""Escape a text for Markdown.

    >>> print(markdown_text("a_b|c"))
    a\_b\|c
    """
    return _MARKS.sub(r"\\\g<0>", text)


def as_markdown(table: Table) -> str:
    r"""Return the table in GitHub's Markdown, with the caption as a paragraph below.

    >>> print(as_markdown(Table(("system", "EER"), (("a_b", "12.50 %"),))), end="")
    | system | EER |
    |:---|---:|
    | a\_b | 12.50 % |
    """
    rule = "".join("|:---" if k < table.n_left or table.prose else "|---:" for k in range(len(table.headings)))
    lines = [_markdown_row(table.headings), f"{rule}|", *(_markdown_row(table.cells(row)) for row in table.rows)]
    lines += ["", markdown_text(table.caption)] if table.caption else []
    return "\n".join(lines) + "\n"


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(markdown_text, cells))} |"


_TEX = {
    **{mark: rf"\{mark}" for mark in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "·": r"\textperiodcentered{}",
    "\N{MINUS SIGN}": "$-$",
}


def latex_text(text: str) -> str:
    r"""Escape a text for LaTeX.

    >>> print(latex_text("50 % of a_b"))
    50 \% of a\_b
    """
    return "".join(_TEX.get(letter, letter) for letter in text)


def as_latex(table: Table) -> str:
    r"""Return the table in LaTeX with booktabs rules.

    >>> print(as_latex(Table(("system", "EER"), (("a_b", "12.50 %"),), caption="Cllr in bits")), end="")
    \begin{table}  % \usepackage{booktabs}
      \centering
      \begin{tabular}{lr}
        \toprule
        system & EER in \% \\
        \midrule
        a\_b & 12.50 \\
        \bottomrule
      \end{tabular}
      \caption{Cllr in bits}
    \end{table}
    """
    result = bare(table)
    kinds = "".join("l" if k < table.n_left or table.prose else "r" for k in range(len(table.headings)))
    rows = [f"    {_latex_row(result.cells(row))}" for row in result.rows]
    words, _, advice = table.caption.partition(": eval --")  # options are of no use in a paper
    caption = [f"  \\caption{{{latex_text(words)}}}{f'  % eval --{advice}' if advice else ''}"] if words else []
    lines = [
        r"\begin{table}  % \usepackage{booktabs}",
        r"  \centering",
        f"  \\begin{{tabular}}{{{kinds}}}",
        r"    \toprule",
        f"    {_latex_row(result.headings)}",
        r"    \midrule",
        *rows,
        r"    \bottomrule",
        r"  \end{tabular}",
        *caption,
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _latex_cell(cell: str) -> str:
    """Escape a cell; a negative number gets a minus sign instead of a hyphen."""
    if isinstance(cell, WithInterval):
        estimate, low, high = map(_latex_cell, (cell.estimate, cell.low, cell.high))
        return f"{estimate} [{low}, {high}]".lstrip()
    return f"$-${latex_text(cell[1:])}" if _NEGATIVE.match(cell) else latex_text(cell)


def _latex_row(cells: Sequence[str]) -> str:
    row = " & ".join(map(_latex_cell, cells)) + r" \\"
    return f"{{}}{row}" if row.startswith(("[", "*")) else row  # LaTeX would read it as an argument of the row before


@dataclass(frozen=True, slots=True)
class Writer:
    """Functions that write tables and the sentences between them in one style."""

    table: Callable[[Table], str]
    line: Callable[[str], str]
    apart: bool = False
    """Whether sentences are separated by empty lines."""


def as_html(table: Table) -> str:
    """Return the table in HTML, for a page or a notebook.

    >>> print(as_html(Table(("system", "EER"), (("a<b", "12.50 %"),))), end="")
    <table><thead><tr><th>system</th><th>EER</th></tr></thead>
    <tbody><tr><td style="text-align: left">a&lt;b</td><td>12.50 %</td></tr></tbody></table>
    """
    caption = f"<caption>{html.escape(table.caption)}</caption>" if table.caption else ""
    head = "".join(f"<th>{html.escape(heading)}</th>" for heading in table.headings)
    names = ' style="text-align: left"'
    rows = [
        "".join(
            f"<td{names if k < table.n_left or table.prose else ''}>{html.escape(cell)}</td>"
            for k, cell in enumerate(table.cells(row))
        )
        for row in table.rows
    ]
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    return f"<table>{caption}<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>\n"


def _commented(mark: str) -> Callable[[str], str]:
    return lambda text: "".join(f"{mark} {line}\n" for line in text.splitlines())


WRITERS: dict[str, Writer] = {
    "csv": Writer(as_csv, _commented("#")),
    "markdown": Writer(as_markdown, lambda text: f"{markdown_text(text)}\n" if text else "", apart=True),
    "latex": Writer(as_latex, _commented("%")),
    "html": Writer(as_html, lambda text: f"<p>{html.escape(text)}</p>\n" if text else ""),
}
"""Writers for styles other than terminal tables."""


MINUS = "\u2212"

MISSING = "\u2013"
"""Replacement of a number that is unknown or does not exist."""


def number(value: float, digits: int = 3) -> str:
    """Write a number with fixed digits, a typographic minus sign, and ∞.

    >>> number(0.41234), number(-4.5951), number(float("inf")), number(-1e-17), number(12345678.0)
    ('0.412', '−4.595', '∞', '0.000', '1.23e+07')
    """
    if math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "∞" if value > 0 else MINUS + "∞"
    text = f"{value:,.{digits}f}" if abs(value) < 1e6 else f"{value:.3g}"
    if text.startswith("-"):
        text = text[1:] if float(text.replace(",", "")) == 0 else MINUS + text[1:]
    return text


def bits(value: float) -> str:
    """Write a number of bits, ``1 bit`` or ``1.58 bits``."""
    return f"{value:.3g} bit{'' if value == 1.0 else 's'}"


def typeset(text: str) -> str:
    """Replace hyphens in a number that is already text with typographic minus signs.

    >>> typeset("-1.5e-07")
    '−1.5e−07'
    """
    return text.replace("-", MINUS)


def sure(text: str, one: OneSystem, metric: MetricKey) -> str:
    """Append the interval of a metric to its text, if it has one."""
    return with_interval(text, one, metric, lambda bound: typeset(bound).replace("inf", "∞"))


def percent(fraction: float) -> str:
    """Write a fraction in percent, with two decimals or, for small values, two digits.

    >>> percent(0.0412), percent(0.0), percent(0.000012)
    ('4.12 %', '0.00 %', '0.0012 %')
    """
    value = 100 * fraction
    return f"{value:.2f} %" if value >= 0.1 or value == 0 else f"{value:.2g} %"


def count(value: float) -> str:
    """Write a number of trials; sums of fractional weights have one decimal.

    >>> count(58000), count(12.25)
    ('58,000', '12.2')
    """
    if math.isnan(value):
        return MISSING
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"
