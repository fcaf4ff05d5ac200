"""The commands ``eval`` and ``report``, and protocols of spoofing in ``eval``."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deciban import biometrics, tables
from deciban.cli import options as cli
from deciban.cli.parsing import files
from deciban.cli.running import working
from deciban.errors import DecibanError, lines

if TYPE_CHECKING:
    from deciban.evaluation import ClassEvaluation, Evaluation, Results
    from deciban.tables.results import TableConsole
    from deciban.types import Raw
    from deciban.workflows import Options


@dataclass(frozen=True, slots=True)
class EvalRequest:
    """Files of the command ``eval``, and how to show their metrics.

    Attributes
    ----------
    scores : tuple of str
    key : str or None
    joining : JoiningOptions
    shown : OutputOptions
    out : TableConsole
    quiet : bool
    """

    scores: tuple[str, ...]
    key: str | None
    joining: cli.JoiningOptions
    shown: cli.OutputOptions
    out: TableConsole
    quiet: bool

    def show_decisions(self, entries: Mapping[str, Any], **arguments: Raw) -> None:
        """Evaluate decision files, and print tables or JSON.

        Parameters
        ----------
        entries : mapping
            Options for scores, which are refused, because they would have no effect on decisions.
        **arguments
            ``accept``, ``reject``, ``decision_column`` and ``costs``.

        Raises
        ------
        click.UsageError
            If there are options for scores.
        """
        from deciban.workflows import evaluate_decision_files

        options, shown = self.joining.options, self.shown
        split = getattr(options, "split", None)
        others = dict.fromkeys(("by", "equalize"), split is not None and split != type(split)())
        others |= dict(self.joining.two) | {"corrected": shown.corrected, "all": shown.everything}
        others |= {"information": shown.information, "notes": shown.notes == "all"}
        cli.refuse({**entries, **others}, "for scores, not for decisions (--decisions)")
        with working() as say:
            run = partial(evaluate_decision_files, progress=say, options=options)
            done = run(list(self.scores), self.key, **arguments)
        cli.print_messages(done.messages, quiet=self.quiet)
        if shown.as_json:
            named = {"scores": self.scores, "key": [self.key], "costs": [arguments["costs"]]}
            cli.print_json(done.to_dict(), files=named, messages=done.messages)
        else:
            tables.print_decisions(done.systems, self.out)

    def show_spoofing(self, given: Mapping[str, Any]) -> Any:
        """Evaluate countermeasures or single scores by a protocol, and print tables or JSON.

        Parameters
        ----------
        given : mapping
            ``asv``, ``asv_key`` and ``asv_errors``; other options are refused.

        Returns
        -------
        SpoofingResults or None
            None for JSON.

        Raises
        ------
        click.UsageError
            If there are files of targets and of non-targets instead of score files, or other options.
        """
        from deciban.workflows import evaluate_spoofing_files

        verifier = {name: given[name] for name in ("asv", "asv_key", "asv_errors")}
        others = {name: value for name, value in given.items() if name not in verifier}
        others |= {"corrected": self.shown.corrected, "information": self.shown.information}
        cli.refuse(others, "not for protocols of spoofing")
        if self.joining.two:
            raise click.UsageError("--tar, --non: protocols of spoofing need one file with labels of spoofs, or a key.")
        options = self.joining.options
        with working() as progress:
            run = partial(evaluate_spoofing_files, options=options, progress=progress)
            results = run(list(self.scores), self.key, **verifier)
        cli.print_messages(results.messages, quiet=self.quiet)
        if self.shown.as_json:
            roles = {"scores": self.scores, "key": [self.key], "asv": [verifier["asv"]]}
            roles |= {"asv-key": [verifier["asv_key"]], "units": options.how_sure.files}
            cli.print_json(results.to_dict(), files=roles)
            return None
        from deciban.tables.error_rates import print_spoofing

        print_spoofing(results, self.out, everything=self.shown.everything)
        return results

    def print_tables(self, results: Results[Any], requested: Mapping[str, bool], failures: Any) -> None:
        """Print the tables of results, of requested metrics, and of error rates with failures of enrolment."""
        from deciban.evaluation.one_system import information_in_words
        from deciban.report.answers import verdict

        out, shown = self.out, self.shown
        judge = partial(verdict, with_calibration=not tables.leads_with_rates(results))
        of_systems: list[Callable[[Any], str]] = [judge, information_in_words] if shown.information else [judge]
        most_notes = None if shown.notes == "all" else _MOST_NOTES
        how = tables.TableOptions(shown.corrected, shown.everything, most_notes=most_notes)
        sentences = [write(one) for write in of_systems for one in results.systems]
        of_field, every = tables.field_tables(results) if results.primaries else (), shown.all_classes
        tables.print_results(results, out, all_classes=every, options=how, of_field=of_field, sentences=sentences)
        if results.conditions:
            tables.print_conditions(results, out, everything=shown.everything)
        if any(requested.values()) or any(map(_has_requests, results.systems)):
            tables.print_requested(results, out, **requested)
        if failures is not None:
            from deciban.tables.error_rates import generalized_table

            out.print("")
            out.print(generalized_table(results.systems, failures))
        if results.worst:
            tables.print_worst(results, out)


@click.command("eval", cls=cli.SectionedCommand)
@click.argument("scores", nargs=-1, metavar="[SCORES]...", shell_complete=files)
@cli.joining_options(more=("units", "uncertainty", "conditions", "worst", "scale"))
@cli.options(
    *("eval-metrics", "classifier", "posteriors", "rule", "capacity", "axis", "decided", "all-classes", "eval-tables"),
    *("corrected", "shown", "spoofing", "biometrics", "json"),
)
def eval_command(
    scores: tuple[str, ...],
    *,
    key: str | None,
    joining: cli.JoiningOptions,
    quiet: bool,
    shown: cli.OutputOptions,
    output: str | None,
    **arguments: Raw,
) -> None:
    """Evaluate score files, one for each system.

    Prints EER, minDCF, actual DCF, Cllr, min Cllr, calibration loss and AUC with confidence intervals. Multiclass
    score files have a column of natural-log likelihoods for each class; their metrics are Cllr, C_avg, error rates
    and metrics of each class.

    \b
    deciban eval sysA.txt sysB.txt --key key.txt --dcf 0.01
    deciban eval scores.csv
    deciban eval languages.tsv --key languages.key --preset lre17
    """
    from deciban.io.source import require_one_stream, single_files
    from deciban.workflows.evaluate import evaluate_model
    from deciban.workflows.reading.inputs import opened, paths_of

    out = _console(output, shown, [*scores, key])
    request = EvalRequest(scores, key, joining, shown, out, quiet)
    requested, decided, verifier, beside = ({name: arguments.pop(name) for name in names} for names in _REQUESTS)
    of_scores, result = {**arguments, **requested, **beside}, None
    if decided.pop("decisions"):
        request.show_decisions(of_scores | verifier, **decided)
    elif any(decided.values()):
        raise click.UsageError("--accept, --reject, --decision-column and --costs are for decisions: add --decisions.")
    elif any(verifier.values()) or joining.is_about_spoofing:
        result = request.show_spoofing(verifier | of_scores)
    else:
        failures, dev, dev_key = (beside[name] for name in ("failures", "threshold_from", "threshold_key"))
        inputs = joining.inputs(scores, key)
        require_one_stream([*single_files(paths_of(inputs)), key, *dev, dev_key])
        files = opened(inputs, key, joining.options.with_metrics(classifier=arguments["classifier"]))
        about = replace(joining.options_for(files).with_metrics(**arguments), has_pages=False)
        about = _with_optimism(about) if shown.corrected else about
        with working() as progress:
            result = evaluate_model(None, files, about, thresholds=(dev, dev_key), progress=progress).results
        cli.print_messages(result.messages, quiet=quiet)
        if failures is not None and not all(getattr(one.requested, "rates_at", ()) for one in result.systems):
            raise click.UsageError("--failures: add the limits of a rate (--fnmr-at, --fmr-at, or --preset iso19795).")
        if shown.as_json:
            places = {"threshold-scores": dev, "threshold-key": [dev_key], "units": about.how_sure.files}
            content = result.to_dict() if failures is None else _with_failures(result.to_dict(), failures)
            cli.print_json(content, files={"scores": files.score_paths, "key": [key], **places})
        else:
            own = replace(shown, information=shown.information or bool(arguments.get("capacity")))
            replace(request, shown=own).print_tables(result, requested, failures)
    if output is not None:
        _save(out, output, result)


_REQUESTS = (
    ("thresholds", "misleading"),
    ("decisions", "accept", "reject", "decision_column", "costs"),
    ("asv", "asv_key", "asv_errors"),
    ("failures", "threshold_from", "threshold_key"),
)
"""Options of ``eval`` that are no metrics: tables, decisions, a verifier, and other inputs."""


def _console(output: str | None, shown: cli.OutputOptions, inputs: Sequence[str | None]) -> TableConsole:
    """Return the console for the tables: of a workbook, if a file for it is named."""
    from deciban.io.writing import refuse_overwriting

    if (shown.table_style == "xlsx") != (output is not None):
        raise click.UsageError("--table xlsx and -o FILE belong together: name both, or none.")
    if output is None:
        return tables.console(shown.table_style)
    from deciban.tables.frames import WorkbookConsole

    refuse_overwriting([output], inputs)
    return WorkbookConsole()


def _save(out: Any, output: str, results: Any) -> None:
    """Write a workbook with the tables and metrics of results."""
    from deciban.io.writing import plainly_opened, target_name

    with plainly_opened(output) as stream:
        out.save(stream, () if results is None else results.metrics)
    click.echo(f"wrote {target_name(output)}", err=output == "-")


def _with_failures(entries: dict[str, Any], failures: Mapping[str, tuple[int, int]]) -> dict[str, Any]:
    """Return the JSON of results with error rates of transactions at the limits of a rate."""
    for one in entries["systems"]:
        for entry in (*one.get("fnmr_at_fmr", ()), *one.get("fmr_at_fnmr", ())):
            enrol, acquire = failures["enrol"], failures["acquire"]
            rates = biometrics.generalized_rates(entry["p_fa"], entry["p_miss"], enrol=enrol, acquire=acquire)
            entry |= {name: getattr(rates, name) for name in ("far", "frr", "gfar", "gfrr")}
    return entries


def _with_optimism(options: Options) -> Options:
    """Return the options with the optimism of minima, which corrected values are computed from.

    Raises
    ------
    click.UsageError
    """
    uncertainty = options.how_sure
    if not uncertainty.intervals or uncertainty.optimism is False:
        words = "--corrected: corrected values need intervals and the optimism of minima."
        raise click.UsageError(f"{words} Leave out --no-intervals and --no-optimism.")
    return replace(options, how_sure=replace(uncertainty, optimism=True)) if options.kind == "classes" else options


_MOST_NOTES = 3
"""Number of notes that ``eval`` prints by default."""


def _has_requests(one: Evaluation | ClassEvaluation) -> bool:
    """Return True if metrics were requested that have tables of their own."""
    from deciban.evaluation.metrics import NOTHING

    return one.requested is not NOTHING


_OF_PAGES = ("--dcf", "--json", "--table", "--all-classes", "--worst", "--quiet", "--output")
"""Options that are left out of the command on a page, which names one operating point and lists no trials."""


@click.command("report", cls=cli.SectionedCommand)
@click.argument("scores", nargs=-1, metavar="[SCORES]...", shell_complete=files)
@cli.joining_options(more=("units", "uncertainty", "conditions-of-report", "worst", "scale"))
@cli.options(
    "report", "classifier", "reliability", "rule", "capacity", "axis", "all-classes", "spoofing", "tables", "json"
)
def report_command(
    scores: tuple[str, ...],
    *,
    key: str | None,
    joining: cli.JoiningOptions,
    train: tuple[str, ...],
    output: Path,
    cross_validate: dict[str, Any] | None,
    shown: cli.OutputOptions,
    **arguments: Raw,
) -> None:
    """Evaluate score files and write one HTML page with tables and plots, readable offline.

    --train shows training trials and test trials side by side. --model shows metrics and plots before and after a
    calibration; for a fusion, it shows the systems, the fusion, its weights and (with --train) the contribution of each
    system.

    \b
    deciban report sysA.txt sysB.txt --key key.txt -o report.html
    deciban report eval.txt --key eval.key --train dev.txt --train-key dev.key --model model.json -o report.html
    """
    from deciban.io.source import single_files
    from deciban.io.writing import target_name
    from deciban.report.files import ReportRequest, write_report
    from deciban.report.tables import named_calibrated
    from deciban.workflows.reading.inputs import opened

    if cross_validate is not None and not arguments["select"]:
        raise click.UsageError("--cross-validate sets what --select holds out. Add --select, or leave it out.")
    quiet, watch = arguments.pop("quiet"), arguments.pop("watch")
    arguments |= cross_validate or {}
    metrics = {name: arguments.pop(name) for name in ("classifier", "posteriors_at", "axis", "rule", "capacity")}
    names = ("asv", "asv_key", "asv_errors")
    arguments["verifier"] = {name: value for name in names if (value := arguments.pop(name)) is not None}
    inputs = joining.inputs(scores, key)
    arguments |= {"train": list(train), "typed": cli.typed(), "again": cli.typed_for(eval_command, without=_OF_PAGES)}
    request = ReportRequest(scores=inputs, key=key, output=output, **arguments)
    cli.require_own_stream(output, as_json=shown.as_json)

    def write() -> None:
        files = opened(inputs, key, joining.options.with_metrics(classifier=metrics["classifier"]))
        about = joining.options_for(files).with_metrics(**metrics)
        with working() as say:
            done = write_report(request, about, say, files=files)
        cli.print_messages(done.results.messages, quiet=quiet)
        if done.train is not None:
            cli.print_messages(("training", *done.train.messages), quiet=quiet)
        result = named_calibrated(done.results, done.results.before)
        if quiet:
            cli.print_messages(result.note_lines)
        if shown.as_json:
            cli.print_json(done.to_dict(), files={**request.roles, "units": about.how_sure.files, "output": [output]})
        elif not quiet:
            on = tables.console(shown.table_style, stderr=str(output) == "-")
            of_field = tables.field_tables(result) if result.primaries else ()
            tables.print_results(result, on, all_classes=shown.all_classes, of_field=of_field)
            tables.print_conditions(result, on)
            click.echo(f"wrote {target_name(output)}", err=str(output) == "-")

    if not watch:
        write()
        return
    named = [*joining.options.files, *(one for several in request.roles.values() for one in several)]
    if shown.as_json or "-" in map(str, (output, *single_files(named))):
        raise click.UsageError("--watch needs files to read and a file to write: leave out - and --json.")
    _watch(write, named)


def _watch(write: Callable[[], None], paths: Sequence[Any]) -> None:
    """Write a page, and again after each change of its files, until the user interrupts.

    A change is complete if the files stay the same for one period.
    """
    from deciban.io.source import stamps

    written = None
    while True:
        before = stamps(paths)
        if written is None or (before != written and None not in before.values()):
            try:
                write()
            except (DecibanError, OSError, click.ClickException) as error:
                if written is None:
                    raise
                click.echo(f"deciban: {lines(str(error))}", err=True)
            written = before
        time.sleep(_PERIOD)
        while (now := stamps(paths)) not in (written, before):
            before = now
            time.sleep(_PERIOD)


_PERIOD = 0.5
"""Seconds between two looks at the files."""
