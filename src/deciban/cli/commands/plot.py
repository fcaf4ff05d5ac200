"""``deciban plot``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from deciban.cli.shared.grouped_help import SectionedCommand
from deciban.cli.shared.options import evaluation_options

if TYPE_CHECKING:
    from deciban.evaluation import ClassResults, Results

_KINDS = ("det", "bayes-error", "ape", "ece", "histogram", "pav", "tippett", "roc")
_CLASS_KINDS = ("confusion", "class-losses", "pairwise-loss", "class-ape", "c-avg-curve", "subset-c-avg", "simplex")
"""Plots of scores of many classes."""
OUTPUT = click.Path(dir_okay=False, path_type=Path)
_ENDINGS: dict[str, Literal["svg", "png", "pdf"]] = {".svg": "svg", ".png": "png", ".pdf": "pdf"}


@click.command("plot", cls=SectionedCommand)
@click.argument("plot", type=click.Choice((*_KINDS, *_CLASS_KINDS)))
@evaluation_options
@click.option("-o", "--output", required=True, metavar="FILE.svg|png|pdf", type=OUTPUT)
def plot_command(results: Results | ClassResults, *, quiet: bool, plot: str, output: Path) -> None:
    """Draw one plot of score files; all systems share it.

    Scores of many classes have plots of their own, from confusion to simplex (of three classes); confusion,
    pairwise-loss, class-ape and simplex show one system.

    \b
    deciban plot det sysA.txt sysB.txt --key key.txt -o det.pdf
    deciban plot confusion languages.tsv --key languages.key -o confusion.svg
    """
    from deciban.evaluation import Results

    ending_of(output)
    is_about_classes = not isinstance(results, Results)
    if is_about_classes != (plot in _CLASS_KINDS):
        scores, known = ("many classes", _CLASS_KINDS) if is_about_classes else ("two classes", _KINDS)
        raise click.BadParameter(f"{plot!r} is none for scores of {scores}. These have {', '.join(known)}.")
    from deciban import plots

    save_plot(getattr(plots, plot.replace("-", "_"))(results), output)
    if not quiet:
        click.echo(f"wrote {output}")


def ending_of(output: Path) -> Literal["svg", "png", "pdf"]:
    """Return the format of a plot, or say what is known."""
    ending = _ENDINGS.get(output.suffix.lower())
    if ending is None:
        raise click.BadParameter(f"{output.name!r} should end in .svg, .png or .pdf.", param_hint="--output")
    return ending


def save_plot(drawing: Any, output: Path) -> None:
    """Write a plot, whole or not at all."""
    from deciban import plots
    from deciban.io import atomic_write

    ending = ending_of(output)
    with atomic_write(output) as stream:
        plots.save(drawing, stream, ending)
