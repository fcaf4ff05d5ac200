"""The command ``plot``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import click

from deciban import calibration, plots
from deciban.cli import options as cli
from deciban.cli.parsing import PARSERS, PictureOptions, files
from deciban.cli.running import working

if TYPE_CHECKING:
    from deciban.workflows import Options
    from deciban.workflows.reading.inputs import Opened


def _typed(kinds: Sequence[str]) -> tuple[str, ...]:
    """Return names of plots as they are typed."""
    return tuple(one.replace("_", "-") for one in kinds)


_KINDS, _TEACHING_KINDS, _CLASS_KINDS = map(_typed, (plots.KINDS, plots.TEACHING_KINDS, plots.CLASS_KINDS))
COMPARISON_KINDS, CONDITION_KINDS = map(_typed, (plots.COMPARISON_KINDS, plots.CONDITION_KINDS))
TRIAL_KINDS, MODEL_KINDS, MAP_KINDS = map(_typed, (plots.TRIAL_KINDS, plots.MODEL_KINDS, plots.MAP_KINDS))
RULE_KINDS, SET_KINDS = map(_typed, (plots.RULE_KINDS, plots.SET_KINDS))
PICTURES = (*COMPARISON_KINDS, *CONDITION_KINDS, *TRIAL_KINDS, *MODEL_KINDS, *MAP_KINDS, *SET_KINDS, *RULE_KINDS)

OWN_OPTIONS = ("model", "against", "metric", "dev", "dev_key", "rule", "corners", "parameter")
"""Options for some of these plots only; the other options are for metrics."""

_MEANT_FOR = {
    "model": (*COMPARISON_KINDS, *MAP_KINDS, "score-scatter"),
    "parameter": ("class-parameters",),
    "against": COMPARISON_KINDS,
    "metric": ("forest", *CONDITION_KINDS),
    "dev": SET_KINDS,
    "dev_key": SET_KINDS,
    "rule": RULE_KINDS,
    "corners": ("simplex",),
    "by": CONDITION_KINDS,
    "equalize": ("by-condition",),
    "posteriors_at": ("reliability",),
    "key": (*COMPARISON_KINDS, *CONDITION_KINDS, *TRIAL_KINDS, *MAP_KINDS, *SET_KINDS),
}
"""Options for some plots, with these plots; ``key`` is refused only for plots of this module."""


_PLOTS = tuple(dict.fromkeys((*_KINDS, *_TEACHING_KINDS, *_CLASS_KINDS, *PICTURES)))


Addable: TypeAlias = tuple[Callable[[], Any], dict[str, Any], Sequence[Any]]
"""Function that draws a plot, content of the JSON object (with files read in ``files``), and further messages."""


@dataclass(frozen=True, slots=True)
class PlotRequest:
    """A requested plot.

    Attributes
    ----------
    plot : str
    scores : tuple of str
        Score files; the model file for ``fusion-weights`` and ``class-parameters``.
    key : str or None
    joining : JoiningOptions
    own : mapping
        ``OWN_OPTIONS`` as typed.
    metrics : mapping
        Options for metrics.
    quiet : bool
    """

    plot: str
    scores: tuple[str, ...]
    key: str | None
    joining: cli.JoiningOptions
    own: Mapping[str, Any]
    metrics: Mapping[str, Any]
    quiet: bool

    def refuse_what_is_overlooked(self) -> None:
        """Refuse options for other plots.

        Raises
        ------
        click.UsageError
        """
        plot, split = self.plot, self.joining.options.split
        typed = {**self.own, **self.metrics, "by": split.by, "equalize": split.equalize}
        typed["key"] = self.key if plot in PICTURES else None
        for name, kinds in _MEANT_FOR.items():
            if typed[name] not in (None, ()) and plot not in kinds:
                option = name.replace("_", "-")
                raise click.UsageError(f"--{option}: for {', '.join(kinds)}, not for {plot}. Leave it out.")
        if plot in CONDITION_KINDS and not split.by:
            raise click.UsageError(f"{plot} shows conditions: name a column of the key, for example --by gender.")
        if plot in MAP_KINDS and not self.own["model"]:
            raise click.UsageError(f"{plot} shows a calibration: name its file, for example --model model.json.")
        if plot in SET_KINDS and not self.own["dev"]:
            raise click.UsageError(f"{plot} shows two sets: name the other scores, for example --dev dev.txt.")

    @property
    def read(self) -> list[Any]:
        """Files that are read, which the plot must not overwrite."""
        others = [self.key, self.own["model"], *(self.own["dev"] or ()), self.own["dev_key"]]
        two = (one for pair in self.joining.two.values() for one in pair)
        return [*self.scores, *two, *others, *self.joining.options.files]

    def found(self) -> Addable:
        """Return the plot and its data."""
        makers = dict.fromkeys(MODEL_KINDS, self._of_model) | dict.fromkeys(RULE_KINDS, self._of_rules)
        makers |= dict.fromkeys(COMPARISON_KINDS, self._of_comparison) | dict.fromkeys(SET_KINDS, self._of_two_sets)
        makers |= dict.fromkeys(TRIAL_KINDS, self._of_trials) | dict.fromkeys(MAP_KINDS, self._of_map)
        return makers.get(self.plot, self._of_results)()

    def _of_model(self) -> Addable:
        from deciban.models.multiclass import ClassModel, parameter_intervals, weight_intervals
        from deciban.workflows.model_files import trained_model

        if len(self.scores) != 1:
            raise click.UsageError(
                f"{self.plot} shows one model, got {len(self.scores)} files: see deciban plot --help."
            )
        model: Any = trained_model(self.scores[0])
        level = self.joining.options.how_sure.level
        messages: dict[str, Any] = {"kind": model.scores_kind, "files": {"model": self.scores}}
        if self.plot == "fusion-weights":
            weights = [asdict(one) for one in weight_intervals(model, level=level)]
            messages["drawn"] = {"level": level, "weights": weights}
            return lambda: plots.fusion_weights(model, level=level), messages, ()
        if not isinstance(model, ClassModel):
            raise click.UsageError(
                f"{self.plot} shows multiclass models, and {self.scores[0]} contains {model.kind!r}, a two-class "
                "model. See fusion-weights and calibration-map."
            )
        parameters = [asdict(one) for one in parameter_intervals(model, level=level)]
        messages["drawn"] = {"level": level, "parameters": parameters}
        what: Literal["offset", "scale"] = self.own["parameter"] or "offset"
        return lambda: plots.class_parameters(model, what=what, level=level), messages, ()

    def _of_rules(self) -> Addable:
        from deciban.rules.families import rule_curves

        if self.scores:
            raise click.UsageError(f"{self.plot} shows rules, not scores: name them with --rule, without a score file.")
        rules = self.own["rule"] or PARSERS["drawn rules"](("1,1", "2,2", "0.5,0.5"))
        draw = plots.scoring_rules if self.plot == "scoring-rules" else plots.rule_weights
        entries = {"kind": "two-class", "drawn": {"rules": [one.to_dict() for one in rule_curves(rules)]}}
        return lambda: draw(rules), entries, ()

    def _opened(self) -> tuple[Any, Any, dict[str, Any]]:
        """Return score files to read as a whole, options for them, and the files for JSON."""
        from deciban.workflows.reading.inputs import ScoreFiles

        files = ScoreFiles.of(self.joining.inputs(self.scores, self.key), self.key, self.joining.options.reading)
        about = self.joining.options_for(files).with_metrics(**self.metrics)
        return files, about, self._read_as(files, about, self.key) | {"model": [self.own["model"]]}

    def _read_as(self, files: Opened, about: Options, key: str | None) -> dict[str, Any]:
        return {"scores": files.score_paths, "key": [key], "units": list(about.how_sure.files)}

    def _of_comparison(self) -> Addable:
        from deciban.workflows import compare_files

        files, about, read = self._opened()
        with working() as say:
            run = partial(compare_files, model=self.own["model"], against=self.own["against"])
            of_protocol = self.joining.is_about_spoofing  # reads labels of three kinds itself
            scores, key = (list(self.scores), self.key) if of_protocol else (files, None)
            result = run(scores, key, options=about, progress=say)
        cli.print_messages(result.results.messages, quiet=self.quiet)
        entries = {**result.to_dict(), "files": read}
        if self.plot == "forest":
            return lambda: plots.forest(result, metric=self.own["metric"]), entries, ()
        return lambda: plots.difference_curve(result), entries, ()

    def _of_trials(self) -> Addable:
        from deciban.workflows.comparing import menageries_of, score_pairs_of, zoo_of

        if self.plot == "cmc":
            return self._of_identification()
        files, about, read = self._opened()
        draw: Callable[[], Any]
        with working() as say:
            if self.plot == "zoo":
                speakers, messages = menageries_of(files, about, say)
                draw, drawn = partial(plots.zoo, speakers), {"zoos": [one.to_dict() for one in speakers]}
            elif self.plot == "subjects":
                zoo, messages = zoo_of(files, about, say)
                draw, drawn = partial(plots.subjects, zoo), zoo.to_dict()
            else:
                pairs, messages = score_pairs_of(files, about, model=self.own["model"], progress=say)
                draw, drawn = partial(plots.score_scatter, pairs), pairs.to_dict()
        cli.print_messages(messages, quiet=self.quiet)
        return draw, {"kind": "two-class", "drawn": drawn, "files": read}, messages

    def _of_identification(self) -> Addable:
        """Return a plot of the searches of a gallery; the key can contain target trials only."""
        from deciban.workflows.identifying import identifications_of
        from deciban.workflows.reading.inputs import ScoreFiles

        about = self.joining.options
        files = ScoreFiles.of(self.joining.inputs(self.scores, self.key), self.key, about.reading)
        with working() as say:
            result, messages = identifications_of(files, about, progress=say)
        cli.print_messages(messages, quiet=self.quiet)
        drawn = [replace(one, ranks=tuple(range(1, len(one.cmc) + 1))) for one in result]
        entries = {"drawn": {"identifications": drawn}, "files": self._read_as(files, about, self.key)}
        return partial(plots.cmc, {one.name: one.cmc for one in result}), entries, messages

    def _evaluated(self, scores: object, key: str | None) -> tuple[Any, dict[str, Any]]:
        """Return results of score files, and the names of these files by role."""
        from deciban.workflows.evaluate import evaluate_model
        from deciban.workflows.reading.inputs import opened

        files = opened(scores, key, self.joining.options)
        about = self.joining.options_for(files).with_metrics(**self.metrics)
        is_many = about.kind == "classes"
        held, known = ("multiclass", _CLASS_KINDS) if is_many else ("two-class", (*_KINDS, *_TEACHING_KINDS))
        if self.plot not in (*known, *PICTURES):
            raise click.BadParameter(f"{self.plot!r} is no plot of {held} scores. Use one of {', '.join(known)}.")
        with working() as say:
            results = evaluate_model(None, files, about, progress=say).results
        cli.print_messages([*results.messages, *results.note_lines], quiet=self.quiet)
        return results, self._read_as(files, about, key)

    def _of_results(self) -> Addable:
        """Return a plot of results, including results by condition."""
        results, read = self._evaluated(self.joining.inputs(self.scores, self.key), self.key)
        style = {} if self.own["corners"] is None else {"classes": self.own["corners"]}
        if self.plot == "by-condition":
            style = {"metric": self.own["metric"]}
        elif self.plot == "condition-map":
            style = {"metrics": None if self.own["metric"] is None else self.own["metric"].split(",")}
        draw = getattr(plots, self.plot.replace("-", "_"))
        return partial(draw, results, **style), {**results.to_dict(), "files": read}, ()

    def _of_map(self) -> Addable:
        """Return a plot of a calibration and the scores that it maps."""
        from deciban.workflows.model_files import trained_model

        path = self.own["model"]
        model = trained_model(path)
        if not isinstance(model, calibration.Calibrator):
            raise click.UsageError(
                f"calibration-map shows two-class calibrations, and {path} contains a {model.kind!r}. Use "
                "deciban report --model for other models."
            )
        results, read = self._evaluated(self.joining.inputs(self.scores, self.key), self.key)
        if results.kind != "two-class" or len(results.systems) != 1:
            result = f"{len(results.systems)} systems" if results.kind == "two-class" else "multiclass scores"
            raise click.UsageError(f"{self.plot} shows one system with two classes, got {result}.")
        level = self.joining.options.how_sure.level
        draw = partial(plots.calibration_map, results.systems[0], {model.kind: model}, level=level)
        return draw, {**results.to_dict(), "files": {**read, "model": [path]}}, ()

    def _of_two_sets(self) -> Addable:
        inputs, dev_scores = self.joining.inputs(self.scores, self.key), list(self.own["dev"])
        n_systems = len(self.scores) or len(self.joining.two["tar"])
        if n_systems != len(dev_scores):
            raise click.UsageError(
                f"{self.plot}: {n_systems} systems, but {len(dev_scores)} files of --dev. Name one for each system, "
                "in the same order."
            )
        dev, dev_read = self._evaluated(dev_scores, self.own["dev_key"])
        results, read = self._evaluated(inputs, self.key)
        if "classes" in (dev.kind, results.kind):
            raise click.UsageError(f"{self.plot} shows two-class scores, got multiclass scores.")
        read |= {"dev": dev_read["scores"], "dev-key": dev_read["key"]}
        entries = {**results.to_dict(), "dev": dev.to_dict()["systems"], "files": read}
        return partial(plots.dev_and_eval, dev, results), entries, ()


@click.command("plot", cls=cli.SectionedCommand)
@click.argument("plot", type=click.Choice(_PLOTS), metavar="PLOT")
@click.argument("scores", nargs=-1, metavar="[SCORES]...", shell_complete=files)
@cli.joining_options(more=("units", "uncertainty", "conditions-of-plot", "scale"))
@cli.options("plot", "pictures", "reliability", "axis", "json")
def plot_command(
    plot: str,
    scores: tuple[str, ...],
    *,
    key: str | None,
    joining: cli.JoiningOptions,
    quiet: bool,
    picture: PictureOptions,
    as_json: bool,
    **metrics: object,
) -> None:
    """Draw one plot of score files, with all systems.

    \b
    two classes        det bayes-error ape ece histogram pav tippett roc reliability
                       rocch minimum-cost cllr-bars ape-bars error-contributions precision-recall
    multiclass         class-losses c-avg-curve subset-c-avg reliability
      of one system    confusion pairwise-loss class-ape simplex
    comparisons        forest difference-curve
    conditions (--by)  by-condition condition-map
    two systems        score-scatter
    speakers           zoo subjects
    identification     cmc
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
    own = {name: metrics.pop(name) for name in OWN_OPTIONS}
    request = PlotRequest(plot, scores, key, joining, own, metrics, quiet)
    request.refuse_what_is_overlooked()
    refuse_overwriting(picture.paths, request.read)
    draw, notes, messages = request.found()
    picture.save(draw)
    if as_json:
        files = {**notes.pop("files", {}), "output": picture.paths}
        cli.print_json({"plot": plot, **notes}, files=files, messages=messages)
    elif not quiet:
        click.echo(picture.written)
