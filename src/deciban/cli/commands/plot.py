"""``deciban plot``: one plot of scores, of a model, or of comparisons, conditions and speakers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import click

from deciban.cli.shared.completion import files
from deciban.cli.shared.envelope import print_json
from deciban.cli.shared.options import Asked, SectionedCommand, joining_options, options, tell
from deciban.cli.shared.parsing import Picture
from deciban.cli.shared.progress import working

COMPARISON_KINDS = ("forest", "difference-curve")
CONDITION_KINDS = ("by-condition", "condition-map")
TRIAL_KINDS = ("score-scatter", "zoo")
MODEL_KINDS = ("fusion-weights", "class-parameters")
MAP_KINDS = ("calibration-map",)
RULE_KINDS = ("scoring-rules", "rule-weights")
SET_KINDS = ("dev-and-eval",)
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


@dataclass(frozen=True, slots=True)
class Found:
    """What a picture shows.

    Attributes
    ----------
    draw : callable
        Makes it.
    said : mapping
        The same for JSON.
    read : mapping of str to sequence
        Files by their roles.
    messages : sequence
        What the user was told, where ``said`` has none.
    """

    draw: Callable[[], Any]
    said: Mapping[str, Any]
    read: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    messages: Sequence[Any] = ()


def refuse_what_is_overlooked(plot: str, asked: Asked, given: Mapping[str, Any], key: str | None) -> None:
    """Refuse options that are about other pictures.

    Raises
    ------
    click.UsageError
    """
    split = asked.options.split
    typed = {**given, "by": split.by, "equalize": split.equalize, "key": key if plot in PICTURES else None}
    for name, plots in _MEANT_FOR.items():
        if typed[name] not in (None, ()) and plot not in plots:
            option = name.replace("_", "-")
            raise click.UsageError(f"--{option}: is about {', '.join(plots)}, not about {plot}. Leave it out.")
    if plot in CONDITION_KINDS and not split.by:
        raise click.UsageError(f"{plot} shows conditions: name a column of the key, as in --by gender.")
    if plot in MAP_KINDS and not given["model"]:
        raise click.UsageError(f"{plot} shows what a calibrator does: name its file, as in --model model.json.")
    if plot in SET_KINDS and not given["dev"]:
        raise click.UsageError(f"{plot} shows two sets: name the scores of the other one, as in --dev dev.txt.")


def read_by(scores: Sequence[str], key: str | None, asked: Asked, given: Mapping[str, Any]) -> list[Any]:
    """Files that a picture is made of, which it must not overwrite."""
    others = [key, given["model"], *(given["dev"] or ()), given["dev_key"]]
    return [*scores, *(two for pair in asked.two.values() for two in pair), *others, *asked.options.files]


def found_for(
    plot: str, scores: tuple[str, ...], key: str | None, asked: Asked, given: Mapping[str, Any], *, quiet: bool
) -> Found:
    """Find what a picture of ``PICTURES`` shows.

    Parameters
    ----------
    plot : str
    scores : tuple of str
        Score files; of ``fusion-weights`` the model.
    key : str, optional
    asked : Asked
    given : mapping
        ``OWN_OPTIONS``, as they were typed, and figures that are wanted.
    quiet : bool
    """
    own = {name: given[name] for name in OWN_OPTIONS}
    more = {name: value for name, value in given.items() if name not in own}
    if plot in MODEL_KINDS:
        return _of_model(plot, scores, asked.options.how_sure.level, own["parameter"])
    if plot in RULE_KINDS:
        return _of_rules(plot, scores, own["rule"])
    if plot in (*CONDITION_KINDS, *MAP_KINDS):
        return _of_results(plot, scores, key, asked, own, more, quiet=quiet)
    if plot in SET_KINDS:
        return _two_sets(plot, scores, key, asked, own, more, quiet=quiet)
    files = asked.files(asked.inputs(scores, key), key)
    about = asked.options_for(files).with_figures(**more)
    read = {"scores": [one.path for one in files.scores], "key": [key], "model": [own["model"]]}
    from deciban.workflows.model_files import trained_model

    loaded = None if own["model"] is None else trained_model(own["model"], about.kind)
    how: dict[str, Any] = {"read": {**read, "units": list(about.how_sure.files)}, "quiet": quiet}
    if plot in COMPARISON_KINDS:
        return _comparison(plot, files, about, loaded, own, **how)
    return _of_trials(plot, files, about, loaded, **how)


def _of_model(plot: str, scores: tuple[str, ...], level: float, parameter: str | None) -> Found:
    from deciban import plots
    from deciban.models.multiclass import ClassModel, parameter_intervals, weight_intervals
    from deciban.workflows.model_files import trained_model

    if len(scores) != 1:
        raise click.UsageError(f"{plot} is about one model, got {len(scores)} files: see deciban plot --help.")
    model, read = trained_model(scores[0]), {"model": scores}
    if plot == "fusion-weights":
        weights = [asdict(one) for one in weight_intervals(model, level=level)]
        said = {"kind": model.scores_kind, "drawn": {"level": level, "weights": weights}}
        return Found(lambda: plots.fusion_weights(model, level=level), said, read)
    if not isinstance(model, ClassModel):
        raise click.UsageError(
            f"{plot} is of models of many classes, and {scores[0]} holds {model.kind!r}, of targets and non-targets. "
            "See fusion-weights and calibration-map."
        )
    about: Any = model
    numbers = [asdict(one) for one in parameter_intervals(about, level=level)]
    said = {"kind": model.scores_kind, "drawn": {"level": level, "parameters": numbers}}
    return Found(lambda: plots.class_parameters(about, what=parameter or "offset", level=level), said, read)


def _of_rules(plot: str, scores: tuple[str, ...], given: Mapping[str, Any] | None) -> Found:
    from deciban import plots
    from deciban.cli.shared.parsing import parse_drawn_rules
    from deciban.rules.families import rule_curves

    if scores:
        raise click.UsageError(f"{plot} is about rules, not about scores: name them by --rule, and no score file.")
    rules = given or parse_drawn_rules(("1,1", "2,2", "0.5,0.5"))
    draw = plots.scoring_rules if plot == "scoring-rules" else plots.rule_weights
    said = {"kind": "two-class", "drawn": {"rules": [one.to_dict() for one in rule_curves(rules)]}}
    return Found(lambda: draw(rules), said)


def _comparison(
    plot: str, files: Any, about: Any, model: Any, own: Mapping[str, Any], *, read: Mapping[str, Any], quiet: bool
) -> Found:
    from deciban import plots
    from deciban.workflows.comparing import compare_chosen

    with working() as say:
        found = compare_chosen(files, about, model=model, against=own["against"], progress=say)
    tell(found.results.messages, quiet=quiet)
    if plot == "forest":
        return Found(lambda: plots.forest(found, figure=own["figure"]), found.to_dict(), read)
    return Found(lambda: plots.difference_curve(found), found.to_dict(), read)


def _evaluated(
    scores: Any, key: str | None, asked: Asked, more: Mapping[str, Any], *, quiet: bool
) -> tuple[Any, dict[str, list[Any]]]:
    """Results of score files, and which files these are."""
    from deciban.workflows.evaluate import evaluate_model

    files = asked.opened(scores, key)
    about = asked.options_for(files).with_figures(**more)
    with working() as say:
        results = evaluate_model(None, files, None, about, progress=say).results
    tell([*results.messages, *results.note_lines], quiet=quiet)
    return results, {"scores": files.score_paths, "key": [key], "units": list(about.how_sure.files)}


def _of_results(
    plot: str,
    scores: tuple[str, ...],
    key: str | None,
    asked: Asked,
    own: Mapping[str, Any],
    more: Mapping[str, Any],
    *,
    quiet: bool,
) -> Found:
    """Of conditions, and of a calibrator beside the scores that it takes."""
    from deciban import plots

    calibrator = _calibrator(own["model"]) if plot in MAP_KINDS else None
    results, read = _evaluated(asked.inputs(scores, key), key, asked, more, quiet=quiet)
    if calibrator is not None:
        if results.kind != "two-class" or len(results.systems) != 1:
            found = f"{len(results.systems)} systems" if results.kind == "two-class" else "scores of many classes"
            raise click.UsageError(f"{plot} is of one system of targets and non-targets, and these are {found}.")
        about = results.systems[0], {calibrator.kind: calibrator}
        draw = partial(plots.calibration_map, *about, level=asked.options.how_sure.level)
        return Found(draw, results.to_dict(), {**read, "model": [own["model"]]})
    if plot == "by-condition":
        return Found(lambda: plots.by_condition(results, figure=own["figure"]), results.to_dict(), read)
    figures = None if own["figure"] is None else own["figure"].split(",")
    return Found(lambda: plots.condition_map(results, figures=figures), results.to_dict(), read)


def _calibrator(path: str) -> Any:
    """A calibrator of two classes from its file."""
    from deciban.calibration import Calibrator
    from deciban.workflows.model_files import trained_model

    model = trained_model(path)
    if not isinstance(model, Calibrator):
        raise click.UsageError(
            f"calibration-map is of calibrators of targets and non-targets: {path} holds a {model.kind!r}. deciban "
            "report --model draws what other models do."
        )
    return model


def _two_sets(
    plot: str,
    scores: tuple[str, ...],
    key: str | None,
    asked: Asked,
    own: Mapping[str, Any],
    more: Mapping[str, Any],
    *,
    quiet: bool,
) -> Found:
    from deciban import plots

    inputs, dev_scores = asked.inputs(scores, key), list(own["dev"])
    n_systems = len(scores) or len(asked.two["tar"])
    if n_systems != len(dev_scores):
        raise click.UsageError(
            f"{plot}: {n_systems} systems, and {len(dev_scores)} files of --dev. Name one for each, in the same order."
        )
    dev, dev_read = _evaluated(dev_scores, own["dev_key"], asked, more, quiet=quiet)
    results, read = _evaluated(inputs, key, asked, more, quiet=quiet)
    if "classes" in (dev.kind, results.kind):
        raise click.UsageError(f"{plot} is about targets and non-targets, and these are scores of many classes.")
    read |= {"dev": dev_read["scores"], "dev-key": dev_read["key"]}
    said = {**results.to_dict(), "dev": dev.to_dict()["systems"]}
    return Found(lambda: plots.dev_and_eval(dev, results), said, read)


def _of_trials(plot: str, files: Any, about: Any, model: Any, *, read: Mapping[str, Any], quiet: bool) -> Found:
    from deciban import plots
    from deciban.workflows.comparing import menageries_of, score_pairs_of

    with working() as say:
        if plot == "zoo":
            speakers, messages = menageries_of(files, about, say)
            drawn: dict[str, Any] = {"zoos": [one.to_dict() for one in speakers]}
        else:
            pairs, messages = score_pairs_of(files, about, model=model, progress=say)
            drawn = pairs.to_dict()
    tell(messages, quiet=quiet)
    said = {"kind": "two-class", "drawn": drawn}
    if plot == "zoo":
        return Found(lambda: plots.zoo(speakers), said, read, messages)
    return Found(lambda: plots.score_scatter(pairs), said, read, messages)


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
    from deciban.workflows.evaluate import evaluate_model

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
        results = evaluate_model(None, files, None, about, progress=say).results
    tell([*results.messages, *results.note_lines], quiet=quiet)
    read: dict[str, list[Any]] = {"scores": files.score_paths, "key": [key]}
    read["units"] = list(about.how_sure.files)
    return Found(lambda: getattr(plots, plot.replace("-", "_"))(results, **style), results.to_dict(), read)
