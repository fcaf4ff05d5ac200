"""The commands ``calibrate``, ``fuse`` and ``apply``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deciban import calibration, fusion, tables
from deciban.cli import options as cli
from deciban.cli.parsing import METHODS, files
from deciban.cli.running import working
from deciban.errors import as_objects

if TYPE_CHECKING:
    from deciban.evaluation.one_system import Jsonable
    from deciban.io.source import TwoFiles
    from deciban.models.score_model import ScoreModel
    from deciban.types import PathLike, Progress, Raw
    from deciban.workflows import Options, Trained


_READ_AGAIN = (
    *("format", "columns", "labels", "log10", "lr", "negate", "probabilities", "by_order", "ids"),
    *("classes", "posterior_prior", "detection_llr", "from_classes"),
)
"""Options that apply to scores when they are read again to apply the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRequest:
    """A request to train a model.

    Attributes
    ----------
    scores : list of paths
    key : str or None
    output : str
        Model file.
    cross_validate : dict, optional
        Trials to hold out, as arguments.
    llrs, to : str or None
        File of llrs, and its format.
    interval : bool, optional
        Whether to write the bounds of each llr.
    write_as : {"loglik", "detection-llr"}
        Multiclass: content of the file of llrs.
    apply_to : list of str
        Other scores to apply the model to.
    apply_key : str or None
    quiet : bool
    shown : OutputOptions
    extra : dict
        Further arguments of `deciban.train_files`.
    """

    scores: list[PathLike | TwoFiles]
    key: str | None
    output: str
    cross_validate: dict[str, Any] | None = None
    llrs: str | None = None
    to: str | None = None
    interval: bool | None = None
    write_as: str = "loglik"
    apply_to: list[str] = field(default_factory=list)
    apply_key: str | None = None
    quiet: bool = False
    shown: cli.OutputOptions = field(default_factory=cli.OutputOptions)
    extra: dict[str, Any] = field(default_factory=dict)

    def measures(self, name: str) -> list[Any]:
        """Return the files of quality measures, or of their combination, that an argument names."""
        if self.extra.get(name) is None:
            return []
        from deciban.workflows.reading.quality import quality_paths

        return quality_paths(self.extra[name])

    @property
    def read(self) -> dict[str, list[Any]]:
        """Files that are read, by role."""
        return {
            "scores": [*self.scores],
            "key": [self.key],
            "quality": self.measures("quality"),
            "combine": self.measures("combine"),
            "other-scores": [*self.apply_to],
            "other-key": [self.apply_key],
            "other-quality": self.measures("test_quality"),
        }

    @property
    def groups(self) -> tuple[str, ...] | None:
        """Columns whose values are held out together; None without cross-validation."""
        from deciban.workflows.reading.units import HoldOut

        if not self.cross_validate and not self.extra.get("select"):
            return None
        return HoldOut((self.cross_validate or {}).get("cross_validate", 2)).groups

    @property
    def applied_to(self) -> list[PathLike | TwoFiles]:
        """The scores to apply the model to."""
        return [*self.apply_to] or self.scores

    def check(self, more: Sequence[PathLike] = ()) -> None:
        """Refuse outputs that would mix, overwrite inputs or have no destination, before reading anything.

        Parameters
        ----------
        more : sequence of paths
            Other files that are read.

        Raises
        ------
        click.UsageError
        InputError
        """
        from deciban.io.source import require_one_stream, single_files
        from deciban.io.writing import refuse_overwriting

        # A path that ends with / can be a new folder.
        llrs = self.llrs if self.llrs is None or Path(self.llrs).is_dir() else self.llrs.rstrip("/")
        outputs = [self.output, *([llrs] if llrs else [])]
        if [*outputs, "-" if self.shown.as_json else ""].count("-") > 1:
            raise click.UsageError("only one of the model, the llrs and --json can go to standard output.")
        of_output = self.to is not None or self.write_as != "loglik" or bool(self.interval)
        if self.llrs is None and (of_output or (self.apply_to and self.apply_key is None)):
            words = "--apply-to, --to, --interval and --as set what to write to --llrs OUT. Name it, or leave them out."
            raise click.UsageError(words)
        if self.interval and self.cross_validate and not self.apply_to:
            raise click.UsageError(
                "--interval: cross-validated llrs come from other models than the saved one, and have no bounds. "
                "Leave --interval or --cross-validate out, or write llrs of other trials (--apply-to)."
            )
        is_read = self.apply_key is not None or not self.apply_to
        if self.llrs is not None and is_read and "-" in (self.apply_to or single_files(self.scores)):
            raise click.UsageError(
                "standard input (-) can be read only once, for training. Put the scores into a file for --llrs."
            )
        read = [*single_files(chain.from_iterable(self.read.values())), *more]
        require_one_stream(read)
        refuse_overwriting(outputs, read)

    def show(
        self, done: Jsonable, messages: Sequence[object], options: Options, print_tables: Callable[[Any, Any], None]
    ) -> None:
        """Print the messages, and the result as tables or JSON."""
        from deciban.io.writing import target_name

        cli.print_messages([*messages, f"wrote  {target_name(self.output)}"], quiet=self.quiet)
        if self.shown.as_json:
            places = {**self.read, "model": [self.output], "llrs": [self.llrs], "units": options.how_sure.files}
            cli.print_json({**done.to_dict(), "messages": as_objects(messages)}, files=places)
            return
        print_tables(done, tables.console(self.shown.table_style, stderr="-" in (self.output, self.llrs)))


def train(request: TrainingRequest, joining: cli.JoiningOptions, model_of: Callable[[Options], ScoreModel]) -> None:
    """Train a model, write the model and llrs, and print the metrics.

    Parameters
    ----------
    request : TrainingRequest
    joining : JoiningOptions
    model_of : function
        Returns the model to train, given the options for the kind of scores.
    """
    from deciban.io.writing import plainly_opened
    from deciban.models.model import to_text
    from deciban.workflows import train_files
    from deciban.workflows.apply import require_llrs_writable
    from deciban.workflows.reading.inputs import opened

    request.check(joining.options.files)
    if request.interval and not joining.options.how_sure.intervals:
        raise click.UsageError("--interval: bounds need the uncertainty of training. Leave --no-intervals out.")
    files = opened(request.scores, request.key, replace(joining.options, groups=request.groups))
    options, in_batches = joining.options_for(files), not files.is_at_hand
    if in_batches and request.cross_validate and request.llrs is not None and not request.apply_to:
        raise click.UsageError(
            "--llrs: cross-validated llrs need scores that fit in memory, and these do not. Allow more memory "
            "(--memory), leave --cross-validate out, or write llrs of other trials (--apply-to)."
        )
    if request.llrs is not None and (in_batches or request.apply_to):  # before the long work
        require_llrs_writable(request.applied_to, request.llrs, options, to=request.to)
    options = replace(options, reading=options.reading.with_ids_read())
    model = model_of(options)
    arguments = {"options": options, **(request.cross_validate or {}), **request.extra}
    if request.apply_key is not None:
        arguments |= {"test_scores": request.apply_to, "test_key": request.apply_key}
    with working() as tell_step:
        done = train_files(files, None, model, progress=tell_step, **arguments)
        messages, of_llrs = list[object](done.messages), list[object]()
        with plainly_opened(request.output) as stream:  # before anything else is written: it can fail
            stream.write(to_text(done.model).encode())
            if not in_batches:
                again = options.reading if request.apply_to else files.as_recognized(options.reading)
                of_llrs += _write_llrs(request, done, replace(options, reading=again), tell_step)
        if in_batches:  # takes long, and the model is kept if it fails
            of_llrs += _write_llrs(request, done, options, tell_step)
        messages += [one for one in of_llrs if one not in messages]  # list shared files once
    request.show(done, messages, options, tables.print_trained)


def _write_llrs(request: TrainingRequest, done: Trained, options: Options, say: Progress) -> list[object]:
    from deciban.workflows import apply_files

    if request.llrs is None:
        return []
    read = {name: getattr(options.reading, name) for name in _READ_AGAIN}
    if done.model.is_fusion:
        read |= {name: getattr(options.reading, name) for name in ("missing", "duplicates")}
    if request.key is None and options.reading.renaming is not None:  # known llrs have the names in the scores
        read["ids"] = options.reading.renaming.for_scores_alone()
    read |= {"names": done.renamed, "memory": options.scale.memory}
    known = None if request.apply_to else done.cross_validated_scores
    source = done.files(request.applied_to)
    quality = request.extra.get("test_quality") if request.apply_to else None
    read |= {"interval": True, "level": options.how_sure.level} if request.interval else {}
    run = partial(apply_files, quality=quality or request.extra.get("quality"), to=request.to, known=known)
    return list(run(done.model, source, request.llrs, progress=say, write_as=request.write_as, **read))


@click.command("apply", cls=cli.SectionedCommand)
@click.argument("model", metavar="MODEL.json", shell_complete=files)
@click.argument("scores", nargs=-1, required=True, metavar="SCORES...", shell_complete=files)
@cli.options("apply", "by-order", "missing-of-files", "duplicates", "kind-of-scores", "classes", "reading")
@cli.options("probabilities", "memory", "quiet", "interval", "llrs", "json")
def apply_command(
    model: str, scores: tuple[str, ...], *, output: str, quiet: bool, as_json: bool, **arguments: Raw
) -> None:
    """Apply a trained model: replace scores by calibrated log-likelihood ratios.

    Two classes: only the scores change; other columns stay the same, and so does the format, unless the ending of OUT
    or --to sets another. With --interval, or for multiclass scores, a new table is written with the trials, their
    scores and labels, and the other columns. A calibration accepts several files; OUT must then be a folder,
    with a slash at the end (FOLDER/). A fusion needs the files of all its systems, with the same names or in the same
    order as in training; OUT has the format and the trials of the first file. A fusion trained with --missing subset
    fuses every trial that at least one system scored. A multiclass model writes log-likelihoods.

    If the input is a folder of Parquet files or larger than memory, OUT is a new folder of Parquet files, or one file
    if its name ends in .parquet. The folder appears when it is complete; repeat an interrupted command to continue it.

    \b
    deciban apply model.json eval.txt -o eval_llr.txt
    deciban apply fusion.json sysA.txt sysB.txt -o fused.txt
    cat eval.txt | deciban apply model.json - -o - | gzip > eval_llr.txt.gz
    """
    from deciban.models.score_model import ScoreModel
    from deciban.workflows import apply_files
    from deciban.workflows.model_files import LoadedModel
    from deciban.workflows.reading.quality import quality_paths

    if [*scores, model].count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once.")
    cli.require_own_stream(output, as_json=as_json)
    level = arguments.pop("level")
    arguments |= {"interval": bool(arguments["interval"])} | ({} if level is None else {"level": level})
    if level is not None and not arguments["interval"]:
        raise click.UsageError("--level is for intervals: add --interval.")
    loaded = LoadedModel.of(model)
    cli.refuse_options(loaded.model.scores_kind if isinstance(loaded.model, ScoreModel) else "two-class")
    with working() as say:
        messages = apply_files(loaded, list(scores), output, progress=say, **arguments)
    cli.print_messages(messages, quiet=quiet)
    if as_json:
        own = loaded.model
        entries = {"kind": getattr(own, "scores_kind", None), "model": {"kind": own.kind}}
        items = [Path(output) / Path(one).name for one in scores]
        outputs = items if all(one.is_file() for one in items) else [Path(output)]
        files = {"model": [model], "scores": scores, "quality": quality_paths(arguments["quality"]), "output": outputs}
        cli.print_json(entries, files=files, messages=messages)


@click.command("calibrate", cls=cli.SectionedCommand)
@click.argument("scores", required=False, metavar="[SCORES]", shell_complete=files)
@cli.options("model", "methods", "calibrate")
@cli.joining_options(metrics="training", more=("units", "uncertainty", "scale"))
@cli.options("interval", "llrs", "tables", "json")
def calibrate_command(
    scores: str | None,
    *,
    key: str | None,
    joining: cli.JoiningOptions,
    method: str,
    apply_to: str | None,
    **arguments: Raw,
) -> None:
    """Train a calibration from the SCORES of one system to log-likelihood ratios, and save it as a model file.

    Prints the metrics before and after calibration.

    Multiclass scores (one column for each class) have these methods: affine (default: one scale, an offset for each
    class), scale, shift (offsets only), gaussian (a back-end for any scores, with one covariance for all classes; to
    give each class its own, see --smoothing and --separate-variances), and the more flexible class-scale, class-matrix
    and pav. All are trained at --prior.

    \b
    deciban calibrate dev.txt --key dev.key -o model.json
    deciban calibrate dev.txt --key dev.key -o model.json --apply-to eval.txt --llrs eval_llr.txt
    deciban calibrate dev.csv --key key.csv -o model.json --cross-validate speaker --llrs dev_llr.csv
    deciban calibrate logits.npy --key labels.npy --classes cat,dog,eel -o model.json
    """
    from deciban.workflows.reading.inputs import paths_of

    own = ("output", "cross_validate", "llrs", "to", "interval", "write_as", "quiet", "shown")
    named = {name: arguments.pop(name) for name in own}
    inputs = paths_of(joining.inputs([] if scores is None else [scores], key))
    request = TrainingRequest(scores=inputs, key=key, apply_to=[apply_to] if apply_to else [], **named)

    def model(options: Options) -> ScoreModel:
        about = {"prior": options.metrics.prior, "classes": options.reading.classes}
        return calibrator_of(method, arguments, is_multiclass=options.kind == "classes", **about)

    train(request, joining, model)


@click.command("fuse", cls=cli.SectionedCommand)
@click.argument("scores", nargs=-1, metavar="[SCORES]...", shell_complete=files)
@cli.options("model", "fuse")
@cli.joining_options(missing="missing-or-subset", metrics="training", more=("units", "uncertainty", "scale"))
@cli.options("interval", "offsets", "llrs", "tables", "json")
def fuse_command(
    scores: tuple[str, ...],
    *,
    key: str | None,
    joining: cli.JoiningOptions,
    apply_to: tuple[str, ...],
    **arguments: Raw,
) -> None:
    """Train a fusion of several systems: a weighted sum of their SCORES that is a calibrated log-likelihood ratio.

    Prints the metrics of each system and of the fusion; for three systems or more, also the metrics of each
    fusion without one of them. --missing subset trains a fusion for each combination of systems that occurs in the
    data; subset=N adds the combinations that lack at most N systems, even if they do not occur. --llrs then contains
    every trial that at least one system scored.

    A multiclass fusion has one weight for each system and an offset for each class, is trained at --prior, and writes
    log-likelihoods of the classes. --quality, --select, --alpha and --beta are for two classes.

    --spoof fuses the scores of a spoofing countermeasure and of a speaker verifier, and compares the fusion with their
    cascade, which accepts a trial if both systems accept it.

    \b
    deciban fuse sysA.txt sysB.txt --key dev.key -o fusion.json
    deciban fuse a.txt b.txt --key dev.key -o fusion.json --cross-validate speaker --llrs dev_llr.txt
    deciban fuse a.txt b.txt --key dev.key -o fusion.json --apply-to ea.txt --apply-to eb.txt --llrs eval_llr.txt
    deciban fuse --spoof cm.txt asv.txt --key dev.key --preset asvspoof5 -o fusion.json
    """
    from deciban.workflows.reading.inputs import paths_of

    if arguments.pop("spoof"):
        _fuse_spoofing(scores, key, joining, list(apply_to), arguments)
        return
    if (arguments["apply_key"] or arguments["apply_quality"]) and not apply_to:
        raise click.UsageError("--apply-key and --apply-quality are for the scores of --apply-to. Add --apply-to.")
    own = ("output", "cross_validate", "llrs", "to", "interval", "write_as", "apply_key", "quiet", "shown")
    extra, named = _quality(arguments), {name: arguments.pop(name) for name in own}
    inputs = paths_of(joining.inputs(scores, key))
    request = TrainingRequest(scores=inputs, key=key, apply_to=list(apply_to), extra=extra, **named)
    train(request, joining, lambda about: _fusion(about, joining.subsets, arguments, with_quality="quality" in extra))


_OF_SPOOFING = ("output", "cross_validate", "llrs", "to", "apply_key", "quiet", "shown")
"""Options of a fusion of a countermeasure and a verifier, besides the penalty."""


def _fuse_spoofing(
    scores: Sequence[str], key: str | None, joining: cli.JoiningOptions, apply_to: list[str], entries: dict[str, Any]
) -> None:
    """Train one score from a countermeasure and a verifier, write the model and llrs, and print costs.

    Raises
    ------
    click.UsageError
        If there are other options.
    """
    from deciban.io.writing import write_plainly
    from deciban.models.model import to_text
    from deciban.tables.error_rates import print_fused_spoofing
    from deciban.workflows import apply_files, fuse_spoofing_files
    from deciban.workflows.spoofing import reading_of_two

    own = {name: entries.pop(name) for name in _OF_SPOOFING}
    ridge, write_as = entries.pop("ridge"), entries.pop("write_as")
    more = {"as": None if write_as == "loglik" else write_as, "missing": joining.subsets}
    cli.refuse(entries | dict(joining.two) | more, "not for a fusion of a countermeasure (--spoof)")
    request = TrainingRequest(scores=list(scores), key=key, apply_to=list(apply_to), **own)
    options = joining.options
    request.check(options.files)
    with working() as say:
        tests = apply_to if request.apply_key is not None else ()
        own = {"ridge": ridge or 0.0, **(request.cross_validate or {})}
        done = fuse_spoofing_files(
            list(scores), key, test_scores=tests, test_key=request.apply_key, options=options, progress=say, **own
        )
        messages = list[object](done.messages)
        write_plainly(request.output, to_text(done.model))
        if request.llrs is not None:
            reading = reading_of_two(options.reading)
            read = {name: getattr(reading, name) for name in (*_READ_AGAIN, "missing", "duplicates")}
            read |= {"to": request.to, "known": None if request.apply_to else done.cross_validated_scores}
            notes = apply_files(done.model, request.applied_to, request.llrs, progress=say, **read)
            messages += [one for one in notes if one not in messages]
    request.show(done, messages, options, print_fused_spoofing)


def _quality(entries: dict[str, Any]) -> dict[str, Any]:
    """Take the arguments for quality and selection out of `entries` and return them."""
    entries["test_quality"] = entries.pop("apply_quality")
    taken = {name: entries.pop(name) for name in ("quality", "measures", "combine", "test_quality", "select")}
    arguments = {name: value for name, value in taken.items() if value}
    if ("measures" in arguments or "combine" in arguments) and "quality" not in arguments:
        raise click.UsageError("--measures and --combine are for quality measures: name their file with --quality.")
    return arguments


def _fusion(options: Options, subsets: str | None, entries: Mapping[str, Any], *, with_quality: bool) -> ScoreModel:
    """Return the requested fusion.

    Parameters
    ----------
    options : Options
    subsets : str or None
        Value of ``--missing`` that starts with ``subset``.
    entries : mapping
        ``asymmetric``, ``no_offsets`` and arguments of the constructor; None if omitted.
    with_quality : bool
    """
    own = {name: entries[name] for name in ("p_target", "alpha", "beta", "ridge") if entries[name] is not None}
    if options.kind == "classes":
        if subsets is not None:
            raise click.UsageError(
                "--missing subset is for two classes: drop segments without scores, or fill in scores."
            )
        prior = prior_of_training(options.metrics.prior, options.reading.classes)
        return fusion.MulticlassFusion(prior=prior, offsets=not entries["no_offsets"], **own)
    if entries["asymmetric"] and not with_quality:
        raise click.UsageError("--asymmetric is for quality measures: name their file with --quality.")
    if subsets is None and with_quality:
        return fusion.QualityFusion(symmetric=not entries["asymmetric"], **own)
    if subsets is None:
        return fusion.LinearFusion(**own)
    if with_quality:
        raise click.UsageError("--missing subset is for fusions without quality: leave --quality or the subsets out.")
    _, equals, number = subsets.partition("=")
    if equals and not number.isdecimal():
        raise click.BadParameter(f"{subsets!r}: N in subset=N must be a number.", param_hint="--missing")
    return fusion.SubsetFusion(missing="subset", max_missing=int(number or 0), **own)


_ARGUMENTS = {"scores_are": "scores"}
_WORDS = dict.fromkeys(("shared_variance", "covariance"), "--separate-variances") | {"scores": "--scores-are"}
"""Options that are not named after their arguments."""


def _word(argument: str) -> str:
    return _WORDS.get(argument, f"--{argument.replace('_', '-')}")


MULTICLASS_METHODS = {
    "affine": "MulticlassCalibrator",
    "scale": "MulticlassScaleCalibrator",
    "shift": "MulticlassShiftCalibrator",
    "gaussian": "GaussianBackend",
    "class-scale": "ClassScaleTransformation",
    "class-matrix": "MatrixTransformation",
    "pav": "DetectionPavTransformation",
    "one-against-rest": "DetectionAffineTransformation",
}
"""Multiclass methods: calibrations, transformations and the back-end, by their names in ``--method``."""


def calibrator_of(
    method: str, entries: Mapping[str, Any], *, is_multiclass: bool = False, prior: Raw = None, classes: Raw = None
) -> ScoreModel:
    """Return the requested calibrator.

    Parameters
    ----------
    method : str
        Two classes: can name several methods, which are chained.
    entries : mapping of str to value
        Options of all methods; None if omitted.
    is_multiclass : bool
    prior : list of float, mapping, "flat" or None
        Multiclass: the training prior. A mapping needs ``classes``.
    classes : sequence of str, optional

    Raises
    ------
    click.UsageError
        If there is no such method, or it does not have one of the options.
    InputError
        If the value of an option is invalid.
    """
    methods, where = (MULTICLASS_METHODS, " for multiclass scores") if is_multiclass else (METHODS, "")
    names = [method] if is_multiclass else [name.strip() for name in method.split(",")]
    for name in names:
        if name not in methods:
            raise click.BadParameter(
                f"unknown method {name!r}{where}. Use one of {', '.join(methods)}.", param_hint="--method"
            )
    own = {_ARGUMENTS.get(name, name): value for name, value in entries.items() if value is not None}
    if is_multiclass:
        own |= {"prior": prior_of_training(prior, classes), **(_covariance(own) if method == "gaussian" else {})}
    makers: dict[str, Any] = {name: getattr(calibration, result) for name, result in methods.items()}
    takes = {name: set(inspect.signature(result).parameters) for name, result in makers.items()}
    known = {_ARGUMENTS.get(name, name) for name in entries} | {"prior", "covariance"}
    for argument in own:
        if not any(argument in takes[name] for name in names):
            users = ", ".join(name for name in methods if argument in takes[name])
            users = users or f"{'two-class' if is_multiclass else 'multiclass'} methods"
            offered = sorted({_word(one) for name in names for one in takes[name] & known})
            raise click.UsageError(
                f"{_word(argument)} is no option of method {method}{where}. Its options are "
                f"{', '.join(offered) or 'none'}. {_word(argument)} belongs to {users}."
            )
    steps = [makers[name](**{key: value for key, value in own.items() if key in takes[name]}) for name in names]
    return steps[0] if len(steps) == 1 else calibration.Chain(*steps)


def _covariance(own: dict[str, Any]) -> dict[str, Any]:
    """Return the covariance argument of the multiclass Gaussian, and take the used options out of `own`."""
    shared = own.pop("shared_variance", None)
    if "smoothing" in own:
        if shared is not None:
            raise click.UsageError(
                "--smoothing is between shared and separate covariances: leave the other option out."
            )
        return {"covariance": "smoothed"}
    return {} if shared is None else {"covariance": "shared" if shared else "separate"}


def prior_of_training(prior: object, classes: Sequence[str] | None) -> Raw:
    """Return the training prior in the order of the classes.

    Raises
    ------
    click.UsageError
        If it is given by name, and the order of the classes is unknown.
    """
    if prior is None or prior == "flat":
        return None
    if not isinstance(prior, dict):
        return prior
    from deciban._validate.classes import prior_of

    if classes is None:
        raise click.UsageError(
            "--prior by name needs --classes NAME,NAME,... for training. Add it, or write 0.2,0.3,..."
        )
    return prior_of(prior, classes).tolist()
