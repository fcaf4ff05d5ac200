"""``deciban eval``, ``report`` and ``demo``: results of scores, or of decisions, as tables, JSON and pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from deciban import tables
from deciban.cli.shared.options import (
    Asked,
    SectionedCommand,
    Shown,
    joining_options,
    options,
    print_json,
    require_own_stream,
    tell,
    typed,
    typed_for,
)
from deciban.cli.shared.parsing import files
from deciban.cli.shared.progress import working


def refuse_figures_of_scores(asked: Asked, given: Mapping[str, Any]) -> None:
    """Refuse options that are about scores, and would be overlooked.

    Raises
    ------
    click.UsageError
    """
    named = [f"--{name.replace('_', '-')}" for name, value in given.items() if value not in (None, False, (), [])]
    split = getattr(asked.options, "split", None)
    named += ["--by, --equalize"] if split is not None and split != type(split)() else []
    named += [f"--{name}" for name in asked.two]
    if named:
        raise click.UsageError(f"{', '.join(named)}: about scores, and --decisions says that there are none.")


def show_decisions(
    files: Sequence[str], key: str | None, asked: Asked, shown: Shown, *, quiet: bool, **given: Any
) -> None:
    """Evaluate files of decisions, and print tables or JSON.

    Parameters
    ----------
    files : sequence of str
    key : str or None
    asked : Asked
    shown : Shown
    quiet : bool
    **given
        ``accept``, ``reject``, ``decision_column`` and ``costs``.
    """
    from deciban.workflows.decision_files import evaluate_decision_files

    with working() as say:
        found = evaluate_decision_files(list(files), key, progress=say, **given, options=asked.options)
    tell(found.messages, quiet=quiet)
    if shown.as_json:
        named = {"scores": files, "key": [key], "costs": [given["costs"]]}
        print_json(found.to_dict(), files=named, messages=found.messages)
        return

    tables.print_decisions(found.systems, tables.console(shown.table_style))


@click.command("eval", cls=SectionedCommand)
@click.argument("scores", nargs=-1, metavar="[SCORES]...", shell_complete=files)
@joining_options(more=("units", "uncertainty", "conditions", "worst", "scale"))
@options(
    *("eval-figures", "posteriors", "rule", "capacity", "axis", "decided", "all-classes", "tables", "corrected"),
    *("shown", "json"),
)
def eval_command(
    scores: tuple[str, ...], *, key: str | None, asked: Asked, quiet: bool, shown: Shown, **given: Any
) -> None:
    """Evaluate score files, one for each system.

    Prints EER, minDCF, actual DCF, Cllr, calibration loss and AUC with confidence intervals. Multiclass score files
    have a column of natural-log likelihoods for each class: prints Cllr, C_avg, error rates and metrics of each class.

    \b
    deciban eval sysA.txt sysB.txt --key key.txt --dcf 0.01
    deciban eval scores.csv
    deciban eval languages.tsv --key languages.key --preset lre17
    """
    from deciban.io.source import require_one_stream, single_files
    from deciban.workflows.evaluate import evaluate_model, opened
    from deciban.workflows.inputs import paths_of

    threshold_from, threshold_key = given.pop("threshold_from"), given.pop("threshold_key")
    wanted = {name: given.pop(name) for name in ("thresholds", "misleading")}
    decided = {name: given.pop(name) for name in ("decisions", "accept", "reject", "decision_column", "costs")}
    if decided.pop("decisions"):
        of_scores = {**given, **wanted, "threshold_from": threshold_from, "threshold_key": threshold_key}
        refuse_figures_of_scores(asked, of_scores)
        show_decisions(scores, key, asked, shown, quiet=quiet, **decided)
        return
    if any(decided.values()):
        raise click.UsageError(
            "--accept, --reject, --decision-column and --costs are about decisions: add --decisions."
        )
    inputs = asked.inputs(scores, key)
    require_one_stream([*single_files(paths_of(inputs)), key, *threshold_from, threshold_key])
    files = opened(inputs, key, asked.options)
    about = asked.options_for(files).with_figures(**given)
    with working() as progress:
        other = (threshold_from, threshold_key)
        results = evaluate_model(None, files, about, thresholds=other, progress=progress).results
    tell(results.messages, quiet=quiet)
    if shown.as_json:
        places = {"threshold-scores": threshold_from, "threshold-key": [threshold_key]}
        places["units"] = tuple(about.how_sure.files)
        print_json(results.to_dict(), files={"scores": files.score_paths, "key": [key], **places})
        return
    from deciban.evaluation.one_system import information_in_words
    from deciban.report.answers import verdict

    out = tables.console(shown.table_style)
    of_systems = [verdict, information_in_words] if shown.information or given.get("capacity") else [verdict]
    tables.print_results(
        results,
        out,
        all_classes=shown.all_classes,
        options=tables.TableOptions(
            corrected=shown.corrected,
            everything=shown.everything,
            most_notes=None if shown.notes == "all" else _MOST_NOTES,
        ),
        sentences=[write(one) for write in of_systems for one in results.systems],
    )
    if results.kind == "two-class" and (any(wanted.values()) or any(map(_has_requests, results.systems))):
        tables.print_requested(results, out, **wanted)
    if results.worst:
        tables.print_worst(results, out)


_MOST_NOTES = 3
"""Notes that ``eval`` prints by default."""


def _has_requests(one: Any) -> bool:
    """Whether figures were asked for that stand in tables of their own."""
    from deciban.evaluation.requested import NOTHING

    return one.requested is not NOTHING


_OF_PAGES = ("--dcf", "--json", "--table", "--all-classes", "--worst", "--quiet")
"""Options that the command on a page does without: it names one operating point, and lists no trials."""


@click.command("report", cls=SectionedCommand)
@click.argument("scores", nargs=-1, metavar="[SCORES]...", shell_complete=files)
@joining_options(more=("units", "uncertainty", "conditions", "worst", "scale"))
@options("report", "reliability", "rule", "capacity", "axis", "all-classes", "tables", "json")
def report_command(
    scores: tuple[str, ...],
    *,
    key: str | None,
    asked: Asked,
    train: tuple[str, ...],
    output: Path,
    cross_validate: dict[str, Any] | None,
    shown: Shown,
    **given: Any,
) -> None:
    """Evaluate score files and write one HTML page with tables and plots, readable offline.

    --train shows training and test side by side. --model shows everything before and after a calibration; for a
    fusion, it shows its systems, the fusion, its weights and (with --train) the contribution of each system.

    \b
    deciban report sysA.txt sysB.txt --key key.txt -o report.html
    deciban report eval.txt --key eval.key --train dev.txt --train-key dev.key --model model.json -o report.html
    """
    from deciban.io.writing import target_name
    from deciban.report.files import ReportRequest, write_report
    from deciban.workflows.evaluate import opened

    if cross_validate is not None and not given["select"]:
        raise click.UsageError("--cross-validate says what --select holds out. Add --select, or leave it out.")
    quiet = given.pop("quiet")
    given |= cross_validate or {}
    figures = {name: given.pop(name) for name in ("posteriors_at", "axis", "rule", "capacity")}
    inputs = asked.inputs(scores, key)
    given |= {"train": list(train), "typed": typed(), "again": typed_for(eval_command, without=_OF_PAGES)}
    request = ReportRequest(scores=inputs, key=key, output=output, **given)
    require_own_stream(output, as_json=shown.as_json)
    files = opened(inputs, key, asked.options)
    about = asked.options_for(files).with_figures(**figures)
    with working() as say:
        done = write_report(request, about, say, files=files)
    tell(done.results.messages, quiet=quiet)
    if done.train is not None:
        tell(("training", *done.train.messages), quiet=quiet)
    if shown.as_json:
        print_json(done.to_dict(), files={**request.roles, "units": about.how_sure.files, "output": [output]})
    elif not quiet:
        on = tables.console(shown.table_style, stderr=str(output) == "-")
        tables.print_results(done.results, on, all_classes=shown.all_classes)
        click.echo(f"wrote {target_name(output)}", err=str(output) == "-")


@click.command("demo", cls=SectionedCommand)
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@options("demo", "quiet", "tables", "json")
def demo_command(folder: Path, *, force: bool, quiet: bool, shown: Shown) -> None:
    """Write synthetic scores of two systems and a key into DIR, and evaluate them: DIR/report.html."""
    from deciban._files import display_name
    from deciban.io import write_demo
    from deciban.io.synthetic import DEMO_FILES
    from deciban.report import report_files

    page = folder / "report.html"
    there = [name for name in (*DEMO_FILES, page.name) if (folder / name).exists()]
    if there and not force:
        raise click.UsageError(
            f"{folder}: holds {', '.join(there)}, which would be replaced. Name another folder, or say --force."
        )
    systems, key = write_demo(folder)
    results = report_files(list(systems), key, page, kind="two-class", title="deciban demo: two synthetic systems")
    tell(results.messages, quiet=quiet)
    if shown.as_json:
        print_json(results.to_dict(), files={"scores": systems, "key": [key], "output": [page]})
        return
    tables.print_results(results, tables.console(shown.table_style))
    files = " ".join(map(display_name, systems))
    click.echo(f"\nwrote {display_name(page)}: open it in a browser. The same with your own files:")
    click.echo(f"  deciban report {files} --key {display_name(key)} -o {display_name(page)}")
