"""``deciban fuse``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from deciban.cli.shared.options import joining_options
from deciban.cli.shared.parsing import parse_measures, parse_quality
from deciban.cli.shared.speech import SectionedCommand, class_option

if TYPE_CHECKING:
    from deciban.cli.shared.parsing import Asked
    from deciban.models.score_model import ScoreModel
    from deciban.workflows.options import Options


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
@joining_options(missing=("subset", "subset=N"), costs=False)
@class_option("--no-offsets", is_flag=True, help="Train a weight for each system, and no offsets of the classes.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
def fuse_command(
    scores: tuple[str, ...],
    *,
    key: str | None,
    asked: Asked,
    policy: str | None,
    apply_to: tuple[str, ...],
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
    from deciban.cli.shared.training import TrainingRequest, train

    if given["apply_key"] is not None and not apply_to:
        raise click.UsageError("--apply-key and --apply-quality belong to the scores of --apply-to. Name these.")
    own = ("output", "cross_validate", "llrs", "to", "apply_key", "quiet", "as_json")
    extra = _quality(given, has_others=bool(apply_to))
    request = TrainingRequest(
        scores=list(scores), key=key, apply_to=list(apply_to), extra=extra, **{name: given.pop(name) for name in own}
    )
    request.check()
    files = asked.files(scores, key)
    options = asked.about(files, of_two=_FOR_TWO_CLASSES)
    train(request, _fusion(options, policy, given, with_quality="quality" in extra), options, files)


_FOR_TWO_CLASSES = (
    *("p_target", "alpha", "beta", "quality", "asymmetric", "measures", "combine", "select", "apply_quality"),
)


def _quality(given: dict[str, Any], *, has_others: bool) -> dict[str, Any]:
    """Arguments of training about quality and selection; what they were made of is taken out of ``given``."""
    quality, other = parse_quality(given.pop("quality")), parse_quality(given.pop("apply_quality"), "--apply-quality")
    chosen, matrices = parse_measures(given.pop("measures")), parse_quality(given.pop("combine"), "--combine")
    if other is not None and not has_others:
        raise click.UsageError("--apply-key and --apply-quality belong to the scores of --apply-to. Name these.")
    if (chosen is not None or matrices is not None) and quality is None:
        raise click.UsageError("--measures and --combine are about quality measures: name their file with --quality.")
    arguments = {"quality": quality, "measures": chosen, "combine": matrices, "test_quality": other}
    return {
        name: value for name, value in {**arguments, "select": given.pop("select") or None}.items() if value is not None
    }


def _fusion(options: Options, policy: str | None, given: Mapping[str, Any], *, with_quality: bool) -> ScoreModel:
    """The fusion that was asked for.

    Parameters
    ----------
    options : Options
    policy : str or None
        What ``--missing`` says that is the business of a fusion.
    given : mapping
        ``asymmetric``, ``no_offsets`` and arguments of its constructor; None for those that were not given.
    with_quality : bool
    """
    from deciban import fusion

    own = {name: given[name] for name in ("p_target", "alpha", "beta", "ridge") if given[name] is not None}
    if options.kind == "classes":
        from deciban.cli.shared.methods import prior_of_training

        if policy is not None:
            raise click.UsageError(
                "--missing subset is for two classes: drop segments that lack scores, or fill them in."
            )
        prior = prior_of_training(options.figures.prior, options.reading.classes)
        return fusion.MulticlassFusion(prior=prior, offsets=not given["no_offsets"], **own)
    if given["no_offsets"]:
        raise click.UsageError("--no-offsets is for scores of many classes.")
    if given["asymmetric"] and not with_quality:
        raise click.UsageError("--asymmetric is about quality measures: name their file with --quality.")
    if policy is None:
        return (
            fusion.QualityFusion(symmetric=not given["asymmetric"], **own)
            if with_quality
            else fusion.LinearFusion(**own)
        )
    if with_quality:
        raise click.UsageError("--missing subset is for fusions without quality: leave --quality or the subsets out.")
    _, equals, number = policy.partition("=")
    if equals and not number.isdecimal():
        raise click.BadParameter(f"{policy!r}: N in subset=N is a number.", param_hint="--missing")
    return fusion.SubsetFusion(missing="subset", max_missing=int(number or 0), **own)
