"""``deciban eval`` and ``deciban plot``: results as a table, as JSON or as one picture."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Literal

import click

from deciban.cli.commands.pictures import PICTURES, drawn, read_by, refuse_what_is_overlooked
from deciban.cli.shared.completion import files
from deciban.cli.shared.envelope import Shown, print_json
from deciban.cli.shared.options import Asked, SectionedCommand, joining_options, options, tell
from deciban.cli.shared.parsing import require_writable
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
_ENDINGS: dict[str, Literal["svg", "png", "pdf"]] = {".svg": "svg", ".png": "png", ".pdf": "pdf"}


@click.command("eval", cls=SectionedCommand)
@click.argument("scores", nargs=-1, metavar="[SCORES]...", shell_complete=files)
@joining_options(more=("units", "uncertainty", "conditions", "worst", "scale"))
@options("eval-figures", "posteriors", "rule", "capacity", "axis", "decided", "all-classes", "tables", "json")
def eval_command(
    scores: tuple[str, ...], *, key: str | None, asked: Asked, quiet: bool, shown: Shown, **given: Any
) -> None:
    """Evaluate score files, one per system, on the trials of a key.

    Prints the equal error rate on the ROC convex hull, normalized detection costs, Cllr and what calibration loses.

    Many classes, such as languages: a score file has a column for each class, and the key says of which one each
    segment is. Scores are natural-log likelihoods, up to a constant for each segment, or log posteriors with
    --posterior-prior. Prints Cllr and what calibration loses, C_avg, error rates, and figures of each class.

    \b
    deciban eval sysA.txt sysB.txt --key key.txt
    deciban eval --tar same.txt --non different.txt
    deciban eval sysA.txt --key key.txt --dcf 0.01:10:1 --dcf 0.001 --json
    deciban eval sysA.txt --key key.txt --threshold-from dev.txt --threshold-key dev.key
    deciban eval sysA.txt --key key.txt --units utt2spk
    deciban eval languages.tsv --key languages.key --preset lre17
    deciban eval trials.parquet --memory 2GB
    deciban eval decisions.csv --decisions --key key.txt --dcf 0.01:10:1
    deciban eval logits.npy --key labels.npy --classes cat,dog,eel --prior 0.5,0.3,0.2
    """
    from deciban.io.source import require_one_stream, single_files
    from deciban.workflows.evaluate import evaluate_opened
    from deciban.workflows.inputs import paths_of
    from deciban.workflows.streaming import score_paths

    threshold_from, threshold_key = given.pop("threshold_from"), given.pop("threshold_key")
    tables = {name: given.pop(name) for name in ("thresholds", "misleading")}
    if threshold_key is not None and not threshold_from:
        raise click.UsageError("--threshold-key is the key of --threshold-from: name these scores, too.")
    decided = {name: given.pop(name) for name in ("decisions", "accept", "reject", "decision_column", "costs")}
    if decided.pop("decisions"):
        from deciban.cli.commands.decided import refuse_figures_of_scores, show_decisions

        of_scores = {**given, **tables, "threshold_from": threshold_from, "threshold_key": threshold_key}
        refuse_figures_of_scores(asked, of_scores)
        show_decisions(scores, key, asked, shown, quiet=quiet, **decided)
        return
    if any(decided.values()):
        raise click.UsageError(
            "--accept, --reject, --decision-column and --costs are about decisions: add --decisions."
        )
    inputs = asked.inputs(scores, key)
    require_one_stream([*single_files(paths_of(inputs)), key, *threshold_from, threshold_key])
    files = asked.opened(inputs, key)
    about = asked.options_for(files).with_figures(**given)
    with working() as progress:
        results = evaluate_opened(files, about, progress, threshold_from=threshold_from, threshold_key=threshold_key)
    tell(results.messages, quiet=quiet)
    if shown.as_json:
        places = {"threshold-scores": threshold_from, "threshold-key": [threshold_key]}
        places["units"] = tuple(about.how_sure.files)
        print_json(results.to_dict(), files={"scores": score_paths(files), "key": [key], **places})
        return
    from deciban.cli.shared.tables import console, print_results
    from deciban.evaluation.information_at import sentence

    out = console(shown.table_style)
    print_results(results, out, all_classes=shown.all_classes, sentences=[sentence(one) for one in results.systems])
    if results.kind == "two-class" and (any(tables.values()) or any(map(_has_requests, results.systems))):
        from deciban.cli.shared.requested_tables import print_requested

        print_requested(results, out, **tables)
    if results.worst:
        from deciban.cli.shared.worst_tables import print_worst

        print_worst(results, out)


def _has_requests(one: Any) -> bool:
    """Whether figures were asked for that stand in tables of their own."""
    from deciban.evaluation.requested import NOTHING

    return one.requested is not NOTHING


@click.command("plot", cls=SectionedCommand)
@click.argument("plot", type=click.Choice(tuple(dict.fromkeys((*_KINDS, *_TEACHING_KINDS, *_CLASS_KINDS, *PICTURES)))))
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
    output: Path,
    size: str | None,
    as_json: bool,
    **figures: Any,
) -> None:
    """Draw one plot of score files; all systems share it.

    Scores of many classes have plots of their own, from confusion to simplex (of three classes); confusion,
    pairwise-loss, class-ape and simplex show one system. Comparisons have forest and difference-curve; conditions
    (--by) by-condition and condition-map; speakers zoo; two systems score-scatter; a model file fusion-weights.

    \b
    deciban plot det sysA.txt sysB.txt --key key.txt -o det.pdf
    deciban plot forest sysA.txt sysB.txt --key key.txt -o forest.pdf
    deciban plot score-scatter sysA.txt sysB.txt --key key.txt --model fusion.json -o scatter.png
    deciban plot fusion-weights fusion.json -o weights.svg
    deciban plot confusion languages.tsv --key languages.key -o confusion.svg
    """
    from deciban.io.source import display_name
    from deciban.io.writing import refuse_overwriting
    from deciban.workflows.evaluate import evaluate_opened
    from deciban.workflows.streaming import score_paths

    ending_of(output)
    refuse_what_is_overlooked(plot, asked, figures, key)
    if plot in PICTURES:
        if as_json:
            raise click.UsageError(f"--json: {plot} draws and prints no figures; deciban eval and compare do.")
        refuse_overwriting([output], read_by(scores, key, asked, figures["model"]))
        save_plot(lambda: drawn(plot, scores, key, asked, figures, quiet=quiet), output, size)
        if not quiet:
            click.echo(f"wrote {display_name(output)}")
        return
    figures = {name: value for name, value in figures.items() if name not in ("model", "against", "figure")}
    files = asked.opened(asked.inputs(scores, key), key)
    refuse_overwriting([output], [*files.paths, *asked.options.files])
    about = asked.options_for(files).with_figures(**figures)
    many = about.kind == "classes"
    held, known = ("many classes", _CLASS_KINDS) if many else ("two classes", (*_KINDS, *_TEACHING_KINDS))
    if plot not in known:
        raise click.BadParameter(f"{plot!r} is none for scores of {held}. These have {', '.join(known)}.")
    with working() as say:
        results = evaluate_opened(files, about, say)
    tell([*results.messages, *results.note_lines], quiet=quiet)
    from deciban import plots

    save_plot(lambda: getattr(plots, plot.replace("-", "_"))(results), output, size)
    if as_json:
        read: dict[str, list[Any]] = {"scores": score_paths(files), "key": [key]}
        read["units"] = list(about.how_sure.files)
        print_json({"plot": plot, **results.to_dict()}, files={**read, "output": [output]})
    elif not quiet:
        click.echo(f"wrote {display_name(output)}")


def ending_of(output: Path) -> Literal["svg", "png", "pdf"]:
    """Return the format of a plot, or refuse an output of another ending, or without a folder to be in."""
    require_writable(output, endings=tuple(_ENDINGS))
    if str(output) == "-":
        raise click.BadParameter("'-' should end in .svg, .png or .pdf: its name says the format.", param_hint="-o")
    return _ENDINGS[output.suffix.casefold()]


def require_output(output: Path | None, size: str | None) -> None:
    """Refuse an output that no plot can be, and a size without one, where a plot is not all that is wanted."""
    if output is not None:
        ending_of(output)
    elif size is not None:
        raise click.UsageError("--size is about the plot: name a file for it, as in -o plot.pdf.")


def save_plot(draw: Callable[[], Any], output: Path, size: str | None = None) -> None:
    """Draw a plot, in a size for print if there is one, and write it, whole or not at all."""
    from deciban import plots
    from deciban.io import atomic_write

    ending = ending_of(output)
    with plots.print_style(size) if size else nullcontext():
        drawing = draw()
        with atomic_write(output) as stream:
            plots.save(drawing, stream, ending)
