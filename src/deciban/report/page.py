"""The page: tables, notes and plots of the results, put into the template."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

import deciban
from deciban import plots
from deciban.errors import InputError
from deciban.evaluation import Evaluation, Results
from deciban.evaluation.result import CONVENTIONS
from deciban.report import tables, words


def render(results: Results, *, title: str | None = None, facts: Sequence[str] = ()) -> str:
    """Write results as one HTML page that needs nothing else: no network, no scripts, no other files.

    Parameters
    ----------
    results : Results
        The systems to report on, and how their trials were joined.
    title : str, optional
        Heading of the page; by default it names the systems.
    facts : sequence of str
        Lines that say what was read and assumed; by default those of ``results``.

    Returns
    -------
    str
        The page. The same results give the same page.

    Raises
    ------
    InputError
        If there is no system in ``results``.

    Examples
    --------
    >>> import deciban
    >>> results = deciban.evaluation.Results((deciban.evaluate([1.0, 2.0, 2.0], [0.0, 1.0, -1.0], name="sysA"),))
    >>> page = render(results, title="First try")
    >>> "<h1>First try</h1>" in page, "16.67 %" in page
    (True, True)
    """
    systems = results.systems
    if not systems:
        raise InputError("results: there is no system to report on.")
    colors = plots.system_colors(len(systems))
    named = list(zip((system.name for system in systems), colors, systems, strict=True))
    page = _template().render(
        title=title or _title(systems),
        facts=tuple(facts) or results.facts or _join(results),
        points=tables.points_of(systems),
        summary=tables.summary(systems, colors),
        notes=[(name, color, system.notes) for name, color, system in named if system.notes],
        errors=tables.errors(systems, colors),
        scarce=[(name, color, words.scarce_errors(system)) for name, color, system in named],
        figures=[_figure(results, kind) for kind in plots.KINDS],
        conventions=[(words.CONVENTION_NAMES.get(name, name), text) for name, text in CONVENTIONS.items()],
        definitions=words.DEFINITIONS,
        version=deciban.__version__,
    )
    # File names that are no Unicode reach us with half characters, which no file could hold.
    return page.encode("utf-8", "replace").decode("utf-8")


def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("deciban.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html")


def _title(systems: Sequence[Evaluation]) -> str:
    if len(systems) > 3:
        return f"Evaluation of {len(systems)} systems"
    return "Evaluation of " + _listed([system.name for system in systems])


def _listed(names: Sequence[str]) -> str:
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def _join(results: Results) -> tuple[str, ...]:
    """Say how scores and key met, for results without facts."""
    report = results.join
    if report is None:
        return ()
    counts = (report.matched, report.missing, report.extra, report.duplicate)
    kinds = ("matched", "missing", "extra", "duplicate")
    return ("join  " + " · ".join(f"{words.count(n)} {kind}" for n, kind in zip(counts, kinds, strict=True)),)


def _figure(results: Results, kind: str) -> dict[str, str]:
    """Draw one plot of all systems, as the address of an image that holds its own data."""
    drawn = io.BytesIO()
    plots.save(getattr(plots, kind)(results), drawn, "svg")
    title, caption = words.PLOTS[kind]
    names = _listed([system.name for system in results.systems])
    source = "data:image/svg+xml;base64," + base64.b64encode(drawn.getvalue()).decode("ascii")
    return {"title": title, "caption": caption, "alt": f"{title} of {names}", "source": source}
