"""The first screen of a page (a card for each system, its charts, the header), and blocks of its template."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from markupsafe import Markup, escape

from deciban.analysis import comparison as comparing
from deciban.analysis.compared import compared_metrics
from deciban.analysis.differences import significant_differences
from deciban.core.resampling.intervals import LEVEL
from deciban.errors import InputError, names_apart, option
from deciban.evaluation.breakdowns import ByConditions, SystemConditions
from deciban.evaluation.one_system import OneSystem, shown_interval
from deciban.evaluation.preset_table import Primary
from deciban.evaluation.results import Results
from deciban.evaluation.uncertainty import MetricKey
from deciban.report.answers import APART, CALIBRATED, FAILS, Answer, verdict
from deciban.report.tables import BEFORE, CORRECTED, capitalize_first, metrics_in_words
from deciban.tables.error_rates import field_tables, spoofing_tables
from deciban.tables.text import condition_rows, condition_table
from deciban.tables.writers import MINUS, MISSING, Table, count, number, percent, sure, typeset

if TYPE_CHECKING:
    from deciban.evaluation.saved import SavedSystem
    from deciban.evaluation.spoofing import SpoofingResults

_MOODS = {
    "bad": ("\u2717", "problem"),
    "fair": ("!", "to improve"),
    "unknown": ("?", "not known"),
    "good": ("\u2713", "good"),
}
"""Symbol and word of each mood, the worst one first."""

_RANKED = {
    "two-class": ("eer", "act_dcf", "min_dcf", "cllr", "min_cllr"),
    "classes": ("error_rate", "c_avg", "cllr", "min_cllr"),
}
"""Metrics by which many systems are ranked; costs are at the first operating point."""

_LIVE = {
    "two-class": {"act_dcf": "Actual cost", "min_dcf": "Minimum cost"},
    "classes": {"cllr": "Cllr (bits)", "min_cllr": "Minimum Cllr (bits)"},
}
"""Numbers of a card beside the main metric. Two-class numbers are at the chosen operating point."""

CHARTS = {
    "det": ("DET", "Solid: all thresholds. Dashed: convex hull. Star: EER. Dot: operating point. Dotted: rule of 30."),
    "bayes_error": ("Cost by prior", "Solid: actual. Dashed: at the best threshold. Dotted: without scores."),
    "pav": ("Calibration", "Solid: optimal llr of each score (PAV). Dotted: calibrated scores."),
    "histogram": ("Scores", "Solid: targets. Dashed: non-targets. Drag across a range to list misleading trials."),
    "ece": ("Cross-entropy", "Solid: actual. Dashed: after PAV. Dotted: without scores."),
    "tippett": ("Tippett", "Solid: targets. Dashed: non-targets. Vertical line: Bayes threshold."),
    "reliability": ("Reliability", "Line: share of targets. Dotted: calibrated. Shaded: range of chance."),
    "ape": ("Error rate by prior", "Solid: actual. Dashed: at the best threshold. Dotted: without scores."),
    "roc": ("ROC", "Solid: all thresholds. Dashed: convex hull. Star: EER. Dot: operating point. Dotted: rule of 30."),
}
"""Tab and legend of each chart of two classes. The first four are on the first screen."""

CLASS_CHARTS = {
    "confusion": ("Decisions", "Darker: a larger share of the class."),
    "class_losses": ("Losses", "Full: discrimination loss. Pale: calibration loss. Dotted: without scores."),
    "class_ape": ("Class by prior", "Solid: actual. Dashed: at the best threshold. Dotted: without scores."),
    "c_avg_curve": ("C_avg by prior", "Solid: C_avg. Dotted: without scores. Shaded: its interval."),
    "class_det": (
        "Class DET",
        "Solid: Bayes thresholds of all priors. Dashed: convex hull. Star: EER. Dot: operating point.",
    ),
    "pairwise_loss": ("Pairs", "Below the diagonal: discrimination loss. Above it: calibration loss."),
    "reliability": (
        "Reliability",
        "Line: share recognized rightly. Dotted: calibrated. Below: right (solid), wrong (dashed).",
    ),
    "subset_c_avg": ("Subsets", "Solid: mean. Dashed: hardest and easiest subset."),
}
"""The same for the charts of multiclass pages."""


MOST_CARDS = 3
"""Largest number of systems with a card each; more systems are in a ranking."""


@dataclass(frozen=True, slots=True)
class Card:
    """A system on the first screen.

    Attributes
    ----------
    name, color : str
    mood : str
        The worst mood of the answers on separation, calibration and decisions.
    sentence, short : str
        The verdict, and the next step in one to three words.
    metric, value : str
        Name and value of the main metric, with its interval.
    main : str
        Attribute of the main metric, which is known for conditions; empty if a protocol defines it.
    live, values : dict of str to str
        Names and values of the other numbers.
    rank : float
        The main metric, by which systems are sorted.
    """

    name: str
    color: str
    mood: str
    sentence: str
    short: str
    metric: str
    value: str
    main: str
    live: dict[str, str]
    values: dict[str, str]
    rank: float = 0.0

    @property
    def icon(self) -> str:
        """Symbol of the mood."""
        return _MOODS[self.mood][0]

    @property
    def mood_in_words(self) -> str:
        """Word of the mood."""
        return _MOODS[self.mood][1]


def cards_of(
    answered: Sequence[tuple[Any, str, Sequence[Answer]]], spoofing: SpoofingResults | None = None
) -> list[Card]:
    """Return the card of each system.

    Parameters
    ----------
    answered : sequence of (evaluation, str, sequence of Answer)
        Each system with its colour and its answers.
    spoofing : SpoofingResults, optional
        The metrics of a protocol of spoofing, which defines the EER.
    """
    main = _RANKED[answered[0][0].kind][0] if answered else "eer"
    official, eer = ({}, "EER") if spoofing is None else (spoofing.eers, f"EER of {spoofing.edition.plan.name}")
    cards = []
    for one, color, answers in answered:
        moods = {answer.question: answer.mood for answer in answers if answer.question in (APART, CALIBRATED, FAILS)}
        sentence = verdict(one, with_calibration=CALIBRATED in moods).removeprefix(f"{one.name}: ")
        sentence = capitalize_first(_MAIN_METRIC.sub("", sentence, count=1))  # the card shows both
        if [name for name, mood in moods.items() if mood == "bad"] == [FAILS]:
            where = capitalize_first(answers[list(moods).index(FAILS)].verdict)
            sentence = f"{sentence} {where}, using the scores costs more than ignoring them."
        value, key = (one.error_rate, main) if main == "error_rate" else one.quoted_eer
        cards.append(
            Card(
                name=one.name,
                color=color,
                mood=min(moods.values(), key=list(_MOODS).index),
                sentence=sentence,
                short=answers[-1].verdict.partition(", ")[0],
                metric="Error rate" if main == "error_rate" else eer,
                value=official.get(one.name) or sure(percent(value), one, key),
                main="" if official or key != main else main,
                live=_LIVE[one.kind],
                values={name: sure(number(one.value(k)), one, k) for name, k in _keys(_LIVE[one.kind]).items()},
                rank=float(value),
            )
        )
    return cards


_MAIN_METRIC = re.compile(r" \((?:EER|error rate) [^()]*\)")


def _keys(names: Iterable[str]) -> dict[str, MetricKey]:
    """Return the keys of metrics; costs are those of the first operating point."""
    return {name: (name, 0) if name.endswith("_dcf") else name for name in names}


def forest_of(systems: Sequence[Any]) -> dict[str, list[list[float | None]]]:
    """Return value, lower and upper limit of the metrics by which many systems are ranked, for each system.

    Examples
    --------
    >>> from deciban import evaluate
    >>> forest_of([evaluate([1.0, 2.0], [0.0])])["eer"]
    [[0.0, None, None]]
    """

    def result(one: Any, key: MetricKey) -> list[float | None]:
        interval = shown_interval(one, key)
        ends = (None, None) if interval is None else (interval.low, interval.high)
        values = (one.value(key), *ends)
        return [None if x is None or not math.isfinite(x) else float(f"{x:.7g}") for x in values]

    keys = _keys(_RANKED[systems[0].kind])
    return {name: [result(one, key) for one in systems] for name, key in keys.items()}


def charts_of(texts: dict[str, Sequence[str]], charts: dict[str, tuple[str, str]] = CHARTS) -> list[dict[str, str]]:
    """Return name, tab, legend, title and caption of each chart.

    Parameters
    ----------
    texts : dict of str to (str, str)
        Title and caption of each plot.
    charts : dict of str to (str, str)
        Tab and legend of each plot.
    """
    return [
        {"plot": name, "tab": tab, "legend": legend, "title": texts[name][0], "caption": texts[name][1]}
        for name, (tab, legend) in charts.items()
    ]


def facts_of(results: Results[Any]) -> str:
    """Return the size of the data in words.

    Examples
    --------
    >>> from deciban import evaluate
    >>> from deciban.evaluation import Results
    >>> facts_of(Results((evaluate([1.0, 2.0], [0.0]),)))
    '3 trials \xb7 2 targets \xb7 1 non-target'
    """
    one = results.systems[0]
    if one.kind == "classes":
        parts = [_counted(float(one.counts.sum()), "segment"), _counted(len(one.classes), "class", "classes")]
    else:
        sizes = ((one.n_tar + one.n_non, "trial"), (one.n_tar, "target"), (one.n_non, "non-target"))
        parts = [_counted(n, noun) for n, noun in sizes]
    if one.uncertainty is not None:
        parts.append(_counted(one.uncertainty.n_units, one.uncertainty.noun))
    return " \xb7 ".join(dict.fromkeys(parts))


def _counted(n: float, noun: str, several: str = "") -> str:
    return f"{count(n)} {noun if n == 1 else several or noun + 's'}"


_SECTION = re.compile(
    r'<section id="([^"]+)"([^>]*)>\s*(?:<details class="closed">\s*<summary>)?<h2(?: data-nav="([^"]*)")?>(.*?)</h2>',
    re.DOTALL,
)


def with_navigation(text: str) -> str:
    """Return a page with links to its sections in place of ``<!-- nav -->``.

    Links to sections that scripts fill are hidden as well.

    >>> with_navigation('<!-- nav --><section id="a" hidden><h2>A</h2></section>')[:60]
    '<nav aria-label="Sections"><ul><li hidden><a href="#a">A</a>'
    """
    start = text.index("<!-- nav -->")
    result = _SECTION.findall(text, start)
    if 'data-region="answer"' in text:
        result.insert(0, ("answer", "", "", "Answer"))
    links = "".join(
        f'<li{" hidden" if "hidden" in more.split() else ""}><a href="#{place}">'
        f"{short or re.sub('<[^>]+>', '', title)}</a></li>"
        for place, more, short, title in result
    )
    return text[:start] + f'<nav aria-label="Sections"><ul>{links}</ul></nav>' + text[start + len("<!-- nav -->") :]


def note_of(text: str) -> Markup:
    """Return a note in Markdown as HTML. HTML in the note is shown as text.

    >>> print(note_of("Made for *tests* <b>").strip())
    <p>Made for <em>tests</em> &lt;b&gt;</p>
    """
    from markdown_it import MarkdownIt  # loads on request

    tool = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    return Markup(re.sub(r"<(/?)h[12]>", r"<\1h3>", tool.render(text)))  # noqa: S704  # has only its own tags


_FIELD = re.compile(r"\{([^{}]*)\}")


def require_link(link: str, columns: Sequence[str]) -> None:
    """Refuse an address of trials that is not of the web or a file, or whose fields are not columns.

    Raises
    ------
    InputError
    """
    fields = _FIELD.findall(link)
    if not re.match(r"(https?://|file:///|\.{0,2}/|[\w-]+/)", link) or not fields:
        raise InputError(
            f"link: got {link!r}. Give an address that begins with https://, http://, file:/// or a folder and names a "
            "column in braces, such as https://host/{test}.wav."
        )
    if not columns:
        raise InputError(f"link: the page lists no trials. Use it with a list ({option(worst=20)}), or leave it out.")
    unknown = [field for field in fields if field not in columns]
    if unknown:
        raise InputError(f"link: {{{unknown[0]}}} is not a column of the trials. Use one of {', '.join(columns)}.")


def linked(text: str, link: str | None, headings: Sequence[str], row: Sequence[str], at: int) -> Markup:
    """Return a cell of a table of trials, as a link if its column is a field of the address.

    >>> print(linked("a 1", "https://host/{test}.wav", ("enroll", "test"), ("m", "a 1"), 1))
    <a href="https://host/a%201.wav">a 1</a>
    """
    if link is None or f"{{{headings[at]}}}" not in link:
        return escape(text)
    values = dict(zip(headings, map(str, row), strict=False))
    address = _FIELD.sub(lambda result: quote(values[result[1]], safe=""), link)
    return Markup('<a href="{}">{}</a>').format(address, text)


_OWN_COUNTS = ("PRBEP", "targets", "non-targets", "tied across classes", "segments")
"""Numbers of trials, which are in separate columns for conditions."""


MOST_PAIRED = 10
"""With more systems, each is compared with the first one only."""

_MOST_WITH_CURVES = 6
"""With more systems, only pairs with the best one have a curve of differences: each takes 10 ms."""

_MOST_IN_TABLE = 3
"""With more systems, the table contains the differences from the first one only."""


@dataclass(frozen=True, slots=True)
class PageTable(Table):
    """A table with sentences below it.

    Attributes
    ----------
    name : str
        Name of the system; empty if there is only one.
    sentences : sequence of str
    """

    name: str = ""
    sentences: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A section of tables.

    Attributes
    ----------
    title : str
    tables : sequence of PageTable
    short : str
        Name in the navigation, if it is not the title.
    """

    title: str
    tables: Sequence[PageTable]
    short: str = ""


def comparison_of(results: Results[Any], before: Results[Any] | None) -> comparing.Comparison | None:
    """Compare the systems of a page, or one system before and after calibration; None if this is impossible."""
    systems = results.systems
    if before is not None and len(before.systems) == len(systems) == 1:
        systems = (before.systems[0], systems[0])
        named = [f"{one.name}{end}" for one, end in zip(systems, (BEFORE, " (calibrated)"), strict=True)]
    else:
        named = names_apart([one.name for one in systems], ())
    if len(systems) < 2 or not all(one.uncertainty is not None and one.uncertainty.influences for one in systems):
        return None
    if not compared_metrics(systems) or len({(one.point_names, one.uncertainty.level) for one in systems}) > 1:
        return None
    systems = tuple(replace(one, name=name) for one, name in zip(systems, named, strict=True))
    best = min(systems, key=operator.attrgetter(_RANKED[systems[0].kind][0])).name
    against = "all" if len(systems) <= MOST_PAIRED else "first"
    with_best = best if _MOST_WITH_CURVES < len(systems) <= MOST_PAIRED else ""
    level = systems[0].uncertainty.level
    return comparing.compare_results(Results(systems), against=against, level=level, curves_with=with_best)


def about_differences(comparison: comparing.Comparison) -> str:
    """Return the caption on intervals and p-values of a comparison."""
    return f"{comparing.caption_of(comparison)}. Differences are the first system minus the second."


def differences_of(comparison: comparing.Comparison | None) -> list[Section]:
    """Return the section on differences; empty if there is no comparison."""
    if comparison is None:
        return []
    is_large = len(comparison.systems) > _MOST_IN_TABLE
    comparison = (comparing.against_first(comparison) if is_large else comparison).meaningful
    n_left = 1 if len(comparison.pairs) == 1 else 3
    about, sentences = about_differences(comparison), comparing.sentences_of(comparison)
    headings, rows = tuple(comparing.headings_of(comparison)), tuple(map(tuple, comparing.rows_of(comparison)))
    table = PageTable(headings, rows, n_left, caption=about, sentences=sentences)
    return [Section("Differences between systems", [table], "Differences")]


def changes_of(results: Results[Any], baseline: Sequence[SavedSystem]) -> list[Section]:
    """Return the section on differences to an earlier run; empty without one.

    Raises
    ------
    InputError
        If the earlier run has another kind of scores, or none of the systems.
    """
    if not baseline:
        return []
    from deciban.evaluation.saved import differences, system_named  # loads on request

    known, is_alone = {one.name for one in baseline}, len(results.systems) == 1
    if results.kind != baseline[0].kind:
        raise InputError(
            f"baseline: {baseline[0].origin} has results of {baseline[0].kind} scores, and these are {results.kind} "
            "scores. Pass results of the same evaluation."
        )
    rows = [
        (one.name, label, *map(typeset, numbers))
        for one in results.systems
        if one.name in known or (is_alone and len(baseline) == 1)
        for label, *numbers in differences(one, system_named(baseline, one.name, is_alone=is_alone))
    ]
    if not rows:
        raise InputError(
            f"baseline: {baseline[0].origin} has no system and metric of this evaluation. Its systems: "
            f"{', '.join(sorted(known))}."
        )
    caption = (
        f"Earlier run: {baseline[0].origin}. Intervals of differences treat the runs as independent: for the same "
        "trials, they are too wide."
    )
    headings = ("system", "metric", "earlier", "now", "difference")
    return [Section("Changes since the earlier run", [PageTable(headings, tuple(rows), 2, caption=caption)], "Changes")]


def sections_of(results: Results[Any]) -> list[Section]:
    """Return a section for each partition, and one for each equalized partition without such a section.

    Parameters
    ----------
    results : Results
        With or without conditions.
    """
    if not results.conditions:
        return []
    first, sections = results.conditions[0], []
    names = [one.pooled.name if len(results.conditions) > 1 else "" for one in results.conditions]
    for k, part in enumerate(first.partitions):
        tables = [_table(one, one.partitions[k], name) for one, name in zip(results.conditions, names, strict=True)]
        short = part.title.partition("+")[0]
        sections.append(Section(f"By {part.heading}", tables, f"By {short}" if short != part.heading else ""))
    shown = [part.title for part in first.partitions]
    for equal in first.equalized:
        if equal.title not in shown:
            alone = ByConditions(equal.title, equal.columns, ())
            tables = [_table(one, alone, name) for one, name in zip(results.conditions, names, strict=True)]
            sections.append(Section(f"Equalized over {equal.title}", tables))
    return sections


def _table(one: SystemConditions, part: ByConditions, name: str) -> PageTable:
    """Return a table of the metrics of a system: for all trials, by condition, and with equal weight of conditions."""
    names = [x for x in metrics_in_words(one.pooled) if x not in _OWN_COUNTS and not x.endswith(CORRECTED)]

    def metrics(evaluation: OneSystem) -> list[str]:
        known = metrics_in_words(evaluation)
        return [known.get(name, MISSING) for name in names]

    evaluation = condition_table(condition_rows(one, part, "no value"), part, names, metrics, write_count=count)
    level = LEVEL if one.pooled.uncertainty is None else one.pooled.uncertainty.level
    sentences = [f"{typeset_words(line)}." for line in part.without_metrics]
    sentences += [f"Equalized: {same.rule}." for same in one.equalized if same.title == part.title]
    sentences += [f"{typeset_words(line)}." for line in significant_differences(part, level)]
    return PageTable(evaluation.headings, evaluation.rows, evaluation.n_left, name=name, sentences=sentences)


def typeset_words(line: str) -> str:
    """Return a sentence with typographic minus signs before numbers, and a capital letter.

    >>> typeset_words("a is better: EER -3.48 % [-5.5, -1.5]")
    'A is better: EER −3.48 % [−5.5, −1.5]'
    """
    return capitalize_first(with_minus_signs(line))


def with_minus_signs(line: str) -> str:
    """Return a sentence with typographic minus signs before numbers.

    >>> with_minus_signs("sys-1: information -0.1 [-0.2, 0.0]")
    'sys-1: information −0.1 [−0.2, 0.0]'
    """
    return re.sub(r"(?<=[ \[])-(?=\d)", MINUS, line)


def leading_of(results: Results[Any], spoofing: SpoofingResults | None) -> list[Section]:
    """Return the sections on the primary number of a protocol, and on its field."""
    primaries = [one for shown in (results.before, results) if shown for one in primaries_of(shown)]
    return [*primaries, *fields_of(results, spoofing)]


def fields_of(results: Results[Any], spoofing: SpoofingResults | None) -> list[Section]:
    """Return the section with the numbers of the field of a protocol: spoofing, biometrics or forensics."""
    tables = field_tables(results) if spoofing is None else spoofing_tables(spoofing)
    if not tables:
        return []
    shown = [PageTable(one.headings, one.rows, one.n_left, caption=one.caption) for one in tables]
    if spoofing is not None:
        shown[-1] = replace(shown[-1], sentences=spoofing.remarks)
        return [Section(f"Metrics of {spoofing.edition.plan.name}", shown, "Protocol")]
    return [Section(f"Metrics of {results.primaries[0].plan.name}", shown, "Protocol")]


def primaries_of(results: Results[Any]) -> list[Section]:
    """Return the section on the primary number of a plan; empty without a plan.

    Parameters
    ----------
    results : Results
        With or without primary numbers.
    """
    if not results.primaries:
        return []
    first: Primary = results.primaries[0]
    write = percent if first.plan.is_rate else number
    rows = tuple(
        (one.system, *(metric.written(write, typeset) for _, metric in one.shown)) for one in results.primaries
    )
    about = f"{first.plan.title}: {first.plan.primary_in_words}."
    about += f" This definition is {first.status}." if first.status else ""
    lines = (about, *dict.fromkeys(f"{typeset_words(line)}." for one in results.primaries for line in one.remarks))
    headings = ("system", *(heading for heading, _ in first.shown))
    name = first.plan.name
    title = f"Plan {name}: not its primary number" if first.departs else f"Primary number of {name}"
    return [Section(title, [PageTable(headings, rows, sentences=lines)], "Primary number")]
