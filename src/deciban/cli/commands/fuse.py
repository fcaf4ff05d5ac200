"""``deciban fuse``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from deciban.cli.shared.options import Asked, SectionedCommand, joining_options, options

if TYPE_CHECKING:
    from deciban.models.score_model import ScoreModel
    from deciban.workflows.options import Options


@click.command("fuse", cls=SectionedCommand)
@click.argument("scores", nargs=-1, required=True, metavar="SCORES...")
@options("model", "fuse")
@joining_options(missing="missing-or-subset", figures="training")
@options("offsets", "json")
def fuse_command(
    scores: tuple[str, ...], *, key: str | None, asked: Asked, apply_to: tuple[str, ...], **given: Any
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

    if (given["apply_key"] or given["apply_quality"]) and not apply_to:
        raise click.UsageError("--apply-key and --apply-quality belong to the scores of --apply-to. Name these.")
    own = ("output", "cross_validate", "llrs", "to", "apply_key", "quiet", "as_json")
    extra = _quality(given)
    request = TrainingRequest(
        scores=list(scores), key=key, apply_to=list(apply_to), extra=extra, **{name: given.pop(name) for name in own}
    )
    train(request, asked, lambda about: _fusion(about, asked.subsets, given, with_quality="quality" in extra))


def _quality(given: dict[str, Any]) -> dict[str, Any]:
    """Arguments of training about quality and selection, which are taken out of ``given``."""
    given["test_quality"] = given.pop("apply_quality")
    taken = {name: given.pop(name) for name in ("quality", "measures", "combine", "test_quality", "select")}
    arguments = {name: value for name, value in taken.items() if value}
    if ("measures" in arguments or "combine" in arguments) and "quality" not in arguments:
        raise click.UsageError("--measures and --combine are about quality measures: name their file with --quality.")
    return arguments


def _fusion(options: Options, subsets: str | None, given: Mapping[str, Any], *, with_quality: bool) -> ScoreModel:
    """The fusion that was asked for.

    Parameters
    ----------
    options : Options
    subsets : str or None
        What ``--missing`` says that is the business of a fusion.
    given : mapping
        ``asymmetric``, ``no_offsets`` and arguments of its constructor; None for those that were not given.
    with_quality : bool
    """
    from deciban import fusion

    own = {name: given[name] for name in ("p_target", "alpha", "beta", "ridge") if given[name] is not None}
    if options.kind == "classes":
        from deciban.cli.shared.methods import prior_of_training

        if subsets is not None:
            raise click.UsageError(
                "--missing subset is for two classes: drop segments that lack scores, or fill them in."
            )
        prior = prior_of_training(options.figures.prior, options.reading.classes)
        return fusion.MulticlassFusion(prior=prior, offsets=not given["no_offsets"], **own)
    if given["asymmetric"] and not with_quality:
        raise click.UsageError("--asymmetric is about quality measures: name their file with --quality.")
    if subsets is None:
        return (
            fusion.QualityFusion(symmetric=not given["asymmetric"], **own)
            if with_quality
            else fusion.LinearFusion(**own)
        )
    if with_quality:
        raise click.UsageError("--missing subset is for fusions without quality: leave --quality or the subsets out.")
    _, equals, number = subsets.partition("=")
    if equals and not number.isdecimal():
        raise click.BadParameter(f"{subsets!r}: N in subset=N is a number.", param_hint="--missing")
    return fusion.SubsetFusion(missing="subset", max_missing=int(number or 0), **own)
