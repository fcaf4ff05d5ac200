"""``deciban fuse``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from deciban.cli.shared.grouped_help import SectionedCommand, class_option
from deciban.cli.shared.multiclass_options import AskedOfClasses, class_options
from deciban.cli.shared.options import joining_options, parse_measures, parse_quality, tell, working
from deciban.cli.shared.training import check_outputs, parse_cross_validation

if TYPE_CHECKING:
    from deciban.workflows import Fused
    from deciban.workflows.fusers import Fuser


@click.command("fuse", cls=SectionedCommand)
@click.argument("scores", nargs=-1, required=True, metavar="SCORES...")
@click.option("-o", "--output", required=True, metavar="MODEL.json", help="The model; - for standard output.")
@click.option(
    "--p-target",
    type=float,
    metavar="P",
    help="Prior of a target in the objective; of many classes: --prior. [default: 0.5]",
)
@click.option("--alpha", type=float, help="Proper scoring rule of the objective: 1 1 is the logarithmic one.")
@click.option("--beta", type=float, help="The other parameter of the rule; larger ones look at fewer thresholds.")
@click.option("--ridge", type=float, help="Penalty on the size of the weights.")
@click.option(
    "--quality",
    multiple=True,
    metavar="[SIDE=]FILE",
    help="Quality measures by name, of both sides or of segments; enroll=FILE and test=FILE for one of each.",
)
@click.option("--asymmetric", is_flag=True, help="The two sides have different quality measures.")
@click.option(
    "--measures",
    multiple=True,
    metavar="[SIDE=]NAME,...",
    help="Take only these quality measures, by name or number (from 1), for all sides or for one.",
)
@click.option(
    "--combine",
    multiple=True,
    metavar="[SIDE=]FILE",
    help="Make new quality measures: a row of weights, in a text file, for each.",
)
@click.option("--select", is_flag=True, help="Take only systems that help: greedily, cross-validated.")
@click.option(
    "--cross-validate",
    metavar="COLUMN[,COLUMN][:N] | N",
    help="Also fuse every trial by a model that has not seen its COLUMN of the key, such as its speaker (one for each "
    "side, if there are two), in N parts [default: 5]. N alone: its names.",
)
@click.option("--apply-to", multiple=True, metavar="FILE", help="Scores of other trials. Repeat for every system.")
@click.option(
    "--apply-key",
    metavar="FILE",
    help="Key of these trials: figures of them as well, weighted if it has the column of --weights.",
)
@click.option("--apply-quality", multiple=True, metavar="[SIDE=]FILE", help="Their quality, if in another file.")
@click.option("--llrs", metavar="OUT", help="Write llrs, too: of --apply-to, or of SCORES (cross-validated if asked).")
@click.option("--to", metavar="NAME", help="Format of OUT; left out, its ending decides, or it is that of its scores.")
@joining_options(missing=("subset", "subset=N"))
@class_options(costs=False)
@class_option("--no-offsets", is_flag=True, help="Train a weight for each system, and no offsets of the classes.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
def fuse_command(
    scores: tuple[str, ...],
    *,
    key: str | None,
    output: str,
    cross_validate: str | None,
    select: bool,
    points: list[Any],
    reading: dict[str, Any],
    asked: AskedOfClasses,
    no_offsets: bool,
    apply_to: tuple[str, ...],
    apply_key: str | None,
    llrs: str | None,
    to: str | None,
    quiet: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Train a weighted sum of the SCORES of several systems that is a log-likelihood ratio, and save it as a model.

    Prints what each system is worth alone, what the fusion loses without it, and what the fusion is worth. With
    --missing subset there is a fusion for every set of systems that scored a trial (subset=N: and for every set that
    lacks up to N of them), and --llrs are of every trial that one of them scored, whatever the order of the files.

    Many classes, such as languages: a score file has a column for each class. The fusion has one weight for each system
    and an offset for each class, trained at --prior; its output are log-likelihoods of the classes. Options about
    quality, --select, --alpha and --beta are for two classes.

    \b
    deciban fuse sysA.txt sysB.txt --key dev.key -o fusion.json
    deciban fuse a.txt b.txt --key dev.key -o fusion.json --cross-validate speaker --llrs dev_llr.txt
    deciban fuse a.txt b.txt --key dev.key -o fusion.json --quality quality.h5 --measures snr,speech
    deciban fuse a.txt b.txt --key dev.key -o fusion.json --apply-to ea.txt --apply-to eb.txt --llrs eval_llr.txt
    deciban fuse a.txt b.txt c.txt --key dev.key -o fusion.json --select
    deciban fuse a.tsv b.tsv --key languages.key -o fusion.json --prior 0.5,0.3,0.2
    """
    own: dict[str, Any] = {"output": output, "cross_validate": cross_validate, "llrs": llrs, "to": to, "quiet": quiet}
    own |= {"apply_to": apply_to, "apply_key": apply_key, "as_json": as_json, "reading": reading}
    if asked.is_about_classes(scores, key, reading, two_class=_FOR_TWO_CLASSES):
        from deciban.cli.commands.multiclass import fuse_classes_command

        fuse_classes_command(scores, key, asked=asked, offsets=not no_offsets, ridge=given["ridge"], **own)
        return
    if no_offsets:
        raise click.UsageError("--no-offsets is for scores of many classes.")
    _fuse_two_classes(scores, key, points=points, select=select, given=given, **own)


def _fuse_two_classes(
    scores: tuple[str, ...],
    key: str | None,
    *,
    points: list[Any],
    select: bool,
    given: dict[str, Any],
    output: str,
    cross_validate: str | None,
    reading: dict[str, Any],
    apply_to: tuple[str, ...],
    apply_key: str | None,
    llrs: str | None,
    to: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Train a fusion of two classes; ``given`` are the options that are about it alone."""
    from deciban.io.outputs import refuse_overwriting
    from deciban.io.writing import plainly_opened, target_name
    from deciban.models.loading import to_text
    from deciban.workflows import apply_files, fuse_files
    from deciban.workflows.measures import quality_paths

    quality, other = parse_quality(given.pop("quality")), parse_quality(given.pop("apply_quality"), "--apply-quality")
    chosen, matrices = parse_measures(given.pop("measures")), parse_quality(given.pop("combine"), "--combine")
    fusion = _fusion(reading, given, with_quality=quality is not None)
    if (apply_key is not None or other is not None) and not apply_to:
        raise click.UsageError("--apply-key and --apply-quality belong to the scores of --apply-to. Name these.")
    if (chosen is not None or matrices is not None) and quality is None:
        raise click.UsageError("--measures and --combine are about quality measures: name their file with --quality.")
    check_outputs(
        output,
        llrs,
        for_llrs=to is not None or (bool(apply_to) and apply_key is None),
        rereads_stdin="-" in (apply_to or scores) and (apply_key is not None or not apply_to),
        as_json=as_json,
    )
    read = [
        *scores,
        key,
        *apply_to,
        apply_key,
        *quality_paths(quality),
        *quality_paths(other),
        *quality_paths(matrices),
    ]
    refuse_overwriting([output, *([llrs] if llrs else [])], read)
    by, folds = parse_cross_validation(cross_validate)
    told_of = {"quality": quality, "measures": chosen, "combine": matrices}
    how = {"operating_points": points, **told_of, "cross_validate": by, "select": select, **folds, **reading}
    if apply_key is not None:
        how |= {"test_scores": apply_to, "test_key": apply_key, "test_quality": other}
    with working("") as say:
        done = fuse_files(scores, key, fusion, progress=say, **how)
        facts = list(done.facts)
        with plainly_opened(output) as stream:  # before anything else is written: it may be impossible
            stream.write(to_text(done.model).encode())
            if llrs:
                told = {name: reading[name] for name in _APPLIED}
                told |= {
                    "quality": (apply_to and other) or quality,
                    "known": None if apply_to else done.cross_validated_llr,
                }
                facts += apply_files(done.model, done.files(apply_to or scores), llrs, to=to, progress=say, **told)
    tell([*facts, f"wrote {target_name(output)}"], quiet=quiet)
    _print(done, to_stderr="-" in (output, llrs), as_json=as_json)


_FOR_TWO_CLASSES = (
    *("p_target", "alpha", "beta", "quality", "asymmetric", "measures", "combine", "select", "apply_quality"),
)
_APPLIED = ("format", "columns", "labels", "log10", "by_order", "missing", "duplicates")


def _print(done: Fused, *, to_stderr: bool, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(done.to_dict(), indent=2, ensure_ascii=False))
        return
    from deciban.cli.shared.fusion_tables import print_fused
    from deciban.cli.shared.tables import console

    print_fused(done, console(stderr=to_stderr))


def _fusion(reading: dict[str, Any], given: dict[str, Any], *, with_quality: bool) -> Fuser:
    """The fusion that was asked for; takes a policy that is the business of a fusion out of ``reading``."""
    from deciban import fusion

    asymmetric = given.pop("asymmetric")
    own = {name: value for name, value in given.items() if value is not None}
    if asymmetric and not with_quality:
        raise click.UsageError("--asymmetric is about quality measures: name their file with --quality.")
    if not str(reading["missing"]).startswith("subset"):
        return fusion.QualityFusion(symmetric=not asymmetric, **own) if with_quality else fusion.LinearFusion(**own)
    if with_quality:
        raise click.UsageError("--missing subset is for fusions without quality: leave --quality or the subsets out.")
    _, equals, number = reading["missing"].partition("=")
    if equals and not number.isdecimal():
        raise click.BadParameter(f"{reading['missing']!r}: N in subset=N is a number.", param_hint="--missing")
    reading["missing"] = "error"
    return fusion.SubsetFusion(missing="subset", max_missing=int(number or 0), **own)
