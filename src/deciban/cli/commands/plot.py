"""``deciban plot``: one picture of score files, or of a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from deciban.cli.commands.pictures import OWN_OPTIONS, PICTURES, Found, found_for, read_by, refuse_what_is_overlooked
from deciban.cli.shared.completion import files
from deciban.cli.shared.envelope import print_json
from deciban.cli.shared.options import Asked, SectionedCommand, joining_options, options, tell
from deciban.cli.shared.picture import Picture
from deciban.cli.shared.progress import working

_KINDS = ("det", "bayes-error", "ape", "ece", "histogram", "pav", "tippett", "roc", "reliability")
_TEACHING_KINDS = ("rocch", "minimum-cost", "cllr-bars", "ape-bars", "error-contributions")
"""Plots of two classes that reports leave out."""
_CLASS_KINDS = (
    "confusion",
    "class-losses",
    "pairwise-loss",
    "class-ape",
    "c-avg-curve",
    "subset-c-avg",
    "simplex",
    "reliability",
)
"""Plots of scores of many classes."""
_PLOTS = tuple(dict.fromkeys((*_KINDS, *_TEACHING_KINDS, *_CLASS_KINDS, *PICTURES)))


@click.command("plot", cls=SectionedCommand)
@click.argument("plot", type=click.Choice(_PLOTS), metavar="PLOT")
@click.argument("scores", nargs=-1, metavar="[SCORES]...", shell_complete=files)
@joining_options(more=("units", "uncertainty", "conditions", "scale"))
@options("plot", "pictures", "reliability", "axis", "json")
def plot_command(
    plot: str,
    scores: tuple[str, ...],
    *,
    key: str | None,
    asked: Asked,
    quiet: bool,
    picture: Picture,
    as_json: bool,
    **figures: Any,
) -> None:
    """Draw one plot of score files; all systems share it.

    \b
    two classes        det bayes-error ape ece histogram pav tippett roc reliability
                       rocch minimum-cost cllr-bars ape-bars error-contributions
    many classes       class-losses c-avg-curve subset-c-avg reliability
      of one system    confusion pairwise-loss class-ape simplex
    comparisons        forest difference-curve
    conditions (--by)  by-condition condition-map
    two systems        score-scatter
    speakers           zoo
    two sets (--dev)   dev-and-eval
    a model file       fusion-weights class-parameters
    a model (--model)  calibration-map
    no scores          scoring-rules rule-weights

    \b
    deciban plot det sysA.txt sysB.txt --key key.txt -o det.pdf
    deciban plot forest sysA.txt sysB.txt --key key.txt -o forest.pdf
    deciban plot score-scatter sysA.txt sysB.txt --key key.txt --model fusion.json -o scatter.png
    deciban plot fusion-weights fusion.json -o weights.svg
    deciban plot calibration-map sysA.txt --key key.txt --model model.json -o map.svg
    deciban plot dev-and-eval eval.txt --key eval.key --dev dev.txt --dev-key dev.key -o dev.svg
    deciban plot scoring-rules --rule 1,1 --rule 2,2 -o rules.svg
    deciban plot confusion languages.tsv --key languages.key -o confusion.svg
    deciban plot simplex languages.tsv --key languages.key --corners ces,pol,slk -o simplex.svg
    deciban plot class-parameters calibrator.json -o offsets.svg
    """
    from deciban.io.writing import refuse_overwriting

    picture.require()
    refuse_what_is_overlooked(plot, asked, figures, key)
    if plot in PICTURES:
        refuse_overwriting(picture.paths, read_by(scores, key, asked, figures))
        found = found_for(plot, scores, key, asked, figures, quiet=quiet)
    else:
        found = _found(plot, scores, key, asked, picture, figures, quiet=quiet)
    picture.save(found.draw)
    if as_json:
        files = {**found.read, "output": picture.paths}
        print_json({"plot": plot, **found.said}, files=files, messages=found.messages)
    elif not quiet:
        click.echo(picture.written)


def _found(
    plot: str,
    scores: tuple[str, ...],
    key: str | None,
    asked: Asked,
    picture: Picture,
    figures: Mapping[str, Any],
    *,
    quiet: bool,
) -> Found:
    """What a picture shows that needs nothing but results."""
    from deciban import plots
    from deciban.io.source import single_files
    from deciban.io.writing import refuse_overwriting
    from deciban.workflows.evaluate import evaluate_opened

    style = {} if figures["corners"] is None else {"classes": figures["corners"]}
    figures = {name: value for name, value in figures.items() if name not in OWN_OPTIONS}
    files = asked.opened(asked.inputs(scores, key), key)
    refuse_overwriting(picture.paths, [*single_files([*files.score_paths, key]), *asked.options.files])
    about = asked.options_for(files).with_figures(**figures)
    many = about.kind == "classes"
    held, known = ("many classes", _CLASS_KINDS) if many else ("two classes", (*_KINDS, *_TEACHING_KINDS))
    if plot not in known:
        raise click.BadParameter(f"{plot!r} is none for scores of {held}. These have {', '.join(known)}.")
    with working() as say:
        results = evaluate_opened(files, about, say)
    tell([*results.messages, *results.note_lines], quiet=quiet)
    read: dict[str, list[Any]] = {"scores": files.score_paths, "key": [key]}
    read["units"] = list(about.how_sure.files)
    return Found(lambda: getattr(plots, plot.replace("-", "_"))(results, **style), results.to_dict(), read)
