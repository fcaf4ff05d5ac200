"""``deciban plot``: one plot of scores, of a model, or of comparisons, conditions and speakers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, TypeAlias

import click

from deciban import plots
from deciban.cli.shared.options import Asked, SectionedCommand, joining_options, options, print_json, tell
from deciban.cli.shared.parsing import PARSERS, Picture, files
from deciban.cli.shared.progress import working


def _typed(kinds: Sequence[str]) -> tuple[str, ...]:
    """Return names of plots as a user types them."""
    return tuple(one.replace("_", "-") for one in kinds)


_KINDS, _TEACHING_KINDS, _CLASS_KINDS = map(_typed, (plots.KINDS, plots.TEACHING_KINDS, plots.CLASS_KINDS))
COMPARISON_KINDS, CONDITION_KINDS = map(_typed, (plots.COMPARISON_KINDS, plots.CONDITION_KINDS))
TRIAL_KINDS, MODEL_KINDS, MAP_KINDS = map(_typed, (plots.TRIAL_KINDS, plots.MODEL_KINDS, plots.MAP_KINDS))
RULE_KINDS, SET_KINDS = map(_typed, (plots.RULE_KINDS, plots.SET_KINDS))
PICTURES = (*COMPARISON_KINDS, *CONDITION_KINDS, *TRIAL_KINDS, *MODEL_KINDS, *MAP_KINDS, *SET_KINDS, *RULE_KINDS)

OWN_OPTIONS = ("model", "against", "figure", "dev", "dev_key", "rule", "corners", "parameter")
"""Of these pictures alone; the others of the command are about figures."""

_MEANT_FOR = {
    "model": (*COMPARISON_KINDS, *MAP_KINDS, "score-scatter"),
    "parameter": ("class-parameters",),
    "against": COMPARISON_KINDS,
    "figure": ("forest", *CONDITION_KINDS),
    "dev": SET_KINDS,
    "dev_key": SET_KINDS,
    "rule": RULE_KINDS,
    "corners": ("simplex",),
    "by": CONDITION_KINDS,
    "equalize": ("by-condition",),
    "posteriors_at": ("reliability",),
    "key": (*COMPARISON_KINDS, *CONDITION_KINDS, *TRIAL_KINDS, *MAP_KINDS, *SET_KINDS),
}
"""Options, and the pictures that they are about; ``key`` is refused for the others of this module alone."""


_PLOTS = tuple(dict.fromkeys((*_KINDS, *_TEACHING_KINDS, *_CLASS_KINDS, *PICTURES)))


Found: TypeAlias = tuple[Callable[[], Any], dict[str, Any], Sequence[Any]]
"""What draws a picture, the same for JSON (in ``files`` what was read), and messages that JSON does not contain yet."""


@dataclass(frozen=True, slots=True)
class PlotRequest:
    """A picture that a user asks for.

    Attributes
    ----------
    plot : str
    scores : tuple of str
        Score files; of ``fusion-weights`` and ``class-parameters`` the model.
    key : str or None
    asked : Asked
    own : mapping
        ``OWN_OPTIONS``, as they were typed.
    figures : mapping
        Figures that are wanted.
    quiet : bool
    """

    plot: str
    scores: tuple[str, ...]
    key: str | None
    asked: Asked
    own: Mapping[str, Any]
    figures: Mapping[str, Any]
    quiet: bool

    def refuse_what_is_overlooked(self) -> None:
        """Refuse options that are about other pictures.

        Raises
        ------
        click.UsageError
        """
        plot, split = self.plot, self.asked.options.split
        typed = {**self.own, **self.figures, "by": split.by, "equalize": split.equalize}
        typed["key"] = self.key if plot in PICTURES else None
        for name, kinds in _MEANT_FOR.items():
            if typed[name] not in (None, ()) and plot not in kinds:
                option = name.replace("_", "-")
                raise click.UsageError(f"--{option}: is about {', '.join(kinds)}, not about {plot}. Leave it out.")
        if plot in CONDITION_KINDS and not split.by:
            raise click.UsageError(f"{plot} shows conditions: name a column of the key, as in --by gender.")
        if plot in MAP_KINDS and not self.own["model"]:
            raise click.UsageError(f"{plot} shows what a calibrator does: name its file, as in --model model.json.")
        if plot in SET_KINDS and not self.own["dev"]:
            raise click.UsageError(f"{plot} shows two sets: name the scores of the other one, as in --dev dev.txt.")

    @property
    def read(self) -> list[Any]:
        """Files that the picture is made of, which it must not overwrite."""
        others = [self.key, self.own["model"], *(self.own["dev"] or ()), self.own["dev_key"]]
        return [
            *self.scores,
            *(two for pair in self.asked.two.values() for two in pair),
            *others,
            *self.asked.options.files,
        ]

    def found(self) -> Found:
        """Find what the picture shows."""
        makers = dict.fromkeys(MODEL_KINDS, self._of_model) | dict.fromkeys(RULE_KINDS, self._of_rules)
        makers |= dict.fromkeys(COMPARISON_KINDS, self._of_comparison) | dict.fromkeys(SET_KINDS, self._of_two_sets)
        makers |= dict.fromkeys(TRIAL_KINDS, self._of_trials) | dict.fromkeys(MAP_KINDS, self._of_map)
        return makers.get(self.plot, self._of_results)()

    def _of_model(self) -> Found:
        from deciban.models.multiclass import ClassModel, parameter_intervals, weight_intervals
        from deciban.workflows.model_files import trained_model

        if len(self.scores) != 1:
            raise click.UsageError(
                f"{self.plot} is about one model, got {len(self.scores)} files: see deciban plot --help."
            )
        model: Any = trained_model(self.scores[0])
        level, said = self.asked.options.how_sure.level, {"kind": model.scores_kind, "files": {"model": self.scores}}
        if self.plot == "fusion-weights":
            weights = [asdict(one) for one in weight_intervals(model, level=level)]
            said["drawn"] = {"level": level, "weights": weights}
            return lambda: plots.fusion_weights(model, level=level), said, ()
        if not isinstance(model, ClassModel):
            raise click.UsageError(
                f"{self.plot} is of models of many classes, and {self.scores[0]} holds {model.kind!r}, of targets and "
                "non-targets. See fusion-weights and calibration-map."
            )
        said["drawn"] = {"level": level, "parameters": [asdict(one) for one in parameter_intervals(model, level=level)]}
        what: Any = self.own["parameter"] or "offset"
        return lambda: plots.class_parameters(model, what=what, level=level), said, ()

    def _of_rules(self) -> Found:
        from deciban.rules.families import rule_curves

        if self.scores:
            raise click.UsageError(
                f"{self.plot} is about rules, not about scores: name them by --rule, and no score file."
            )
        rules = self.own["rule"] or PARSERS["drawn rules"](("1,1", "2,2", "0.5,0.5"))
        draw = plots.scoring_rules if self.plot == "scoring-rules" else plots.rule_weights
        said = {"kind": "two-class", "drawn": {"rules": [one.to_dict() for one in rule_curves(rules)]}}
        return lambda: draw(rules), said, ()

    def _opened(self) -> tuple[Any, Any, dict[str, Any]]:
        """Score files that are read as a whole, options for them, and the files for JSON."""
        from deciban.workflows.inputs import ScoreFiles

        files = ScoreFiles.of(self.asked.inputs(self.scores, self.key), self.key, self.asked.options.reading)
        about = self.asked.options_for(files).with_figures(**self.figures)
        return files, about, self._read_as(files, about, self.key) | {"model": [self.own["model"]]}

    def _read_as(self, files: Any, about: Any, key: str | None) -> dict[str, Any]:
        return {"scores": files.score_paths, "key": [key], "units": list(about.how_sure.files)}

    def _of_comparison(self) -> Found:
        from deciban.workflows.comparing import compare_files

        files, about, read = self._opened()
        with working() as say:
            how: Any = {"model": self.own["model"], "against": self.own["against"], "progress": say}
            found = compare_files(files, options=about, **how)
        tell(found.results.messages, quiet=self.quiet)
        said = {**found.to_dict(), "files": read}
        if self.plot == "forest":
            return lambda: plots.forest(found, figure=self.own["figure"]), said, ()
        return lambda: plots.difference_curve(found), said, ()

    def _of_trials(self) -> Found:
        from deciban.workflows.comparing import menageries_of, score_pairs_of

        files, about, read = self._opened()
        draw: Callable[[], Any]
        with working() as say:
            if self.plot == "zoo":
                speakers, messages = menageries_of(files, about, say)
                draw, drawn = partial(plots.zoo, speakers), {"zoos": [one.to_dict() for one in speakers]}
            else:
                pairs, messages = score_pairs_of(files, about, model=self.own["model"], progress=say)
                draw, drawn = partial(plots.score_scatter, pairs), pairs.to_dict()
        tell(messages, quiet=self.quiet)
        return draw, {"kind": "two-class", "drawn": drawn, "files": read}, messages

    def _evaluated(self, scores: Any, key: str | None) -> tuple[Any, dict[str, Any]]:
        """Results of score files, and which files these are."""
        from deciban.workflows.evaluate import evaluate_model, opened

        files = opened(scores, key, self.asked.options)
        about = self.asked.options_for(files).with_figures(**self.figures)
        is_many = about.kind == "classes"
        held, known = ("many classes", _CLASS_KINDS) if is_many else ("two classes", (*_KINDS, *_TEACHING_KINDS))
        if self.plot not in (*known, *PICTURES):
            raise click.BadParameter(f"{self.plot!r} is none for scores of {held}. These have {', '.join(known)}.")
        with working() as say:
            results = evaluate_model(None, files, about, progress=say).results
        tell([*results.messages, *results.note_lines], quiet=self.quiet)
        return results, self._read_as(files, about, key)

    def _of_results(self) -> Found:
        """What a picture shows that needs nothing but results, of conditions too."""
        results, read = self._evaluated(self.asked.inputs(self.scores, self.key), self.key)
        style = {} if self.own["corners"] is None else {"classes": self.own["corners"]}
        if self.plot == "by-condition":
            style = {"figure": self.own["figure"]}
        elif self.plot == "condition-map":
            style = {"figures": None if self.own["figure"] is None else self.own["figure"].split(",")}
        draw = getattr(plots, self.plot.replace("-", "_"))
        return partial(draw, results, **style), {**results.to_dict(), "files": read}, ()

    def _of_map(self) -> Found:
        """A calibrator beside the scores that it takes."""
        from deciban.calibration import Calibrator
        from deciban.workflows.model_files import trained_model

        path = self.own["model"]
        model = trained_model(path)
        if not isinstance(model, Calibrator):
            raise click.UsageError(
                f"calibration-map is of calibrators of targets and non-targets: {path} holds a {model.kind!r}. deciban "
                "report --model draws what other models do."
            )
        results, read = self._evaluated(self.asked.inputs(self.scores, self.key), self.key)
        if results.kind != "two-class" or len(results.systems) != 1:
            found = f"{len(results.systems)} systems" if results.kind == "two-class" else "scores of many classes"
            raise click.UsageError(f"{self.plot} is of one system of targets and non-targets, and these are {found}.")
        level = self.asked.options.how_sure.level
        draw = partial(plots.calibration_map, results.systems[0], {model.kind: model}, level=level)
        return draw, {**results.to_dict(), "files": {**read, "model": [path]}}, ()

    def _of_two_sets(self) -> Found:

        inputs, dev_scores = self.asked.inputs(self.scores, self.key), list(self.own["dev"])
        n_systems = len(self.scores) or len(self.asked.two["tar"])
        if n_systems != len(dev_scores):
            raise click.UsageError(
                f"{self.plot}: {n_systems} systems, and {len(dev_scores)} files of --dev. Name one for each, in the "
                "same order."
            )
        dev, dev_read = self._evaluated(dev_scores, self.own["dev_key"])
        results, read = self._evaluated(inputs, self.key)
        if "classes" in (dev.kind, results.kind):
            raise click.UsageError(
                f"{self.plot} is about targets and non-targets, and these are scores of many classes."
            )
        read |= {"dev": dev_read["scores"], "dev-key": dev_read["key"]}
        said = {**results.to_dict(), "dev": dev.to_dict()["systems"], "files": read}
        return partial(plots.dev_and_eval, dev, results), said, ()


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
    own = {name: figures.pop(name) for name in OWN_OPTIONS}
    request = PlotRequest(plot, scores, key, asked, own, figures, quiet)
    request.refuse_what_is_overlooked()
    refuse_overwriting(picture.paths, request.read)
    draw, said, messages = request.found()
    picture.save(draw)
    if as_json:
        files = {**said.pop("files", {}), "output": picture.paths}
        print_json({"plot": plot, **said}, files=files, messages=messages)
    elif not quiet:
        click.echo(picture.written)
