"""Options that several commands share: how scores are read and joined, and which figures are wanted."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from deciban.cli.shared.parsing import (
    parse_classes,
    parse_groups,
    parse_labels,
    parse_missing,
    parse_points,
    parse_prior,
    parse_where,
)
from deciban.cli.shared.speech import class_option, tell

if TYPE_CHECKING:
    from deciban.cli.shared.parsing import Asked
    from deciban.evaluation import Preset

_JOINING = [
    click.option(
        "--key",
        metavar="FILE",
        help="Which trials are targets, or of which class each segment is. Not needed if the score files say so.",
    ),
    click.option(
        "--dcf",
        multiple=True,
        metavar="P[:CMISS:CFA]",
        help="Operating point of two classes: prior of a target and the two costs, 1 if left out. Repeat for more. "
        "[default: 0.01]",
    ),
    click.option(
        "--preset",
        metavar="NAME",
        help="Operating points of an evaluation: sre10, sre12, voxsrc, ...; for many classes lre09, lre09-open, lre17, "
        "lre22.",
    ),
    click.option(
        "--format",
        "format_",
        metavar="NAME",
        help="Format of the score files; left out, their contents decide. See deciban formats.",
    ),
    click.option(
        "--columns",
        metavar="ROLES",
        help="Columns of the score files, in order (enroll,test,score; - to ignore) or by name (score=llr,trial=utt).",
    ),
    click.option("--key-format", metavar="NAME", help="Like --format, for the key."),
    click.option("--key-columns", metavar="ROLES", help="Like --columns, for the key: enroll,test,label."),
    click.option(
        "--labels", metavar="WORDS", help="Label words of two classes: target=tgt,nontarget=imp (| between several)."
    ),
    click.option(
        "--where",
        multiple=True,
        metavar="NAME=VALUE",
        help="Only trials whose column NAME of the key is VALUE (| between several). Repeat for more.",
    ),
    click.option(
        "--weights",
        metavar="COLUMN",
        help="Column of the key that says how much each trial counts: 2 is like two copies, 0 like none.",
    ),
    click.option("--log10", is_flag=True, help="The scores are logarithms to base 10, of likelihoods or their ratios."),
]
_BY_ORDER = click.option(
    "--by-order", is_flag=True, help="Match the first score with the first trial and so on, not by name."
)
_DUPLICATES = click.option(
    "--duplicates", type=click.Choice(["error", "keep-one"]), default="error", help="Identical copies."
)
_QUIET = click.option("-q", "--quiet", is_flag=True, help="Do not say what was read and assumed.")


def policy_options(about: str, *more: str) -> Callable[..., Any]:
    """Add options for how trials meet: by name or not, and what to do about those without a score or with two.

    Parameters
    ----------
    about : str
        Which trials ``--missing`` is about.
    *more : str
        What else this command takes for ``--missing``; see `parse_missing`.
    """
    metavar = "|".join(("error", "drop", "fill=VALUE", *more))

    def added(command: Callable[..., Any]) -> Callable[..., Any]:
        missing = click.option("--missing", metavar=metavar, default="error", help=about)
        for option in (_DUPLICATES, missing, _BY_ORDER):
            command = option(command)
        return command

    return added


_KIND = [
    class_option(
        "--kind",
        type=click.Choice(["two-class", "classes"]),
        help="What the scores are about: targets and non-targets, or many classes. Left out, the files decide.",
    ),
    class_option(
        "--classes",
        metavar="NAME,NAME,...",
        help="Of a matrix: names of its columns, in order. Of a table: the columns that are scores of classes.",
    ),
    class_option(
        "--posterior-prior",
        metavar="PRIOR",
        help="Scores are log posteriors by this prior of the classes, such as their shares in training; its logarithm "
        "is subtracted. PRIOR: flat; 0.2,0.3,0.5 or a ratio 2:3:5, in the order of the classes; or eng=0.4,fra=0.6. "
        "Left out, scores are log-likelihoods up to a constant for each segment, as logits after balanced training.",
    ),
    class_option(
        "--detection-llr",
        is_flag=True,
        help="Scores are log-likelihood ratios of each class against the others, as submissions to the language "
        "recognition evaluations of 2017 and 2022 hold them.",
    ),
]
_PRIOR_HELP = (
    "Prior of the classes, written like that above, of error rate, confusion, Brier and cross-entropy{training}. Cllr "
    "and C_avg have their own. [default: flat]"
)
_COSTS = [
    class_option("--prior", metavar="PRIOR", help=_PRIOR_HELP.format(training="")),
    class_option(
        "--p-target",
        "p_targets",
        multiple=True,
        type=float,
        metavar="P",
        help="Prior of a target in C_avg, the mean cost of detecting each class against the rest. Repeat for more. "
        "[default: 0.5]",
    ),
    class_option(
        "--out-of-set",
        type=float,
        metavar="P",
        help="The last class stands for whatever is none of the others: it is no target of C_avg, and has this prior "
        "there.",
    ),
    class_option(
        "--subsets/--no-subsets",
        "subsets",
        default=None,
        help="C_avg of every subset of the classes, if only these were possible. [default: up to 10 classes; possible "
        "up to 20; neither with --out-of-set nor with weights]",
    ),
    class_option(
        "--pairs/--no-pairs",
        "pairs",
        default=None,
        help="Tell every pair of classes apart. [default: up to 100 classes]",
    ),
    class_option(
        "--group",
        "groups",
        multiple=True,
        metavar="NAME=CLASS,CLASS,...",
        help="Ask which group of classes, not which class: slavic=pol,rus. Repeat until every class is in one group.",
    ),
]
_TRAINING = [
    class_option("--prior", metavar="PRIOR", help=_PRIOR_HELP.format(training=", and of the objective of training"))
]


def joining_options(
    command: Callable[..., Any] | None = None, *, missing: tuple[str, ...] = (), costs: bool = True
) -> Callable[..., Any]:
    """Add the options that say how to read score files and a key, how to join them, and which figures are wanted.

    The command gets them as ``key``, ``asked`` (an `Asked`) and ``quiet``.

    Parameters
    ----------
    command : function, optional
    missing : tuple of str
        What else this command takes for ``--missing``; it gets such a text as ``policy`` then.
    costs : bool
        Whether options that choose costs of many classes are among them; commands that train have another ``--prior``.
    """
    if command is None:
        return functools.partial(joining_options, missing=missing, costs=costs)

    @functools.wraps(command)
    def wrapped(*args: Any, quiet: bool, **given: Any) -> Any:
        own = {name: given.pop(name) for name in (*_READ, *_SHOWN, "preset", "kind") if name in given}
        policy = parse_missing(own["missing"], *missing)
        if missing:
            given["policy"] = policy if isinstance(policy, str) and policy not in ("error", "drop") else None
            policy = "error" if given["policy"] else policy
        asked = _asked({**own, "missing": policy})
        if asked.preset is not None:
            tell([f"preset  {asked.preset}"], quiet=quiet)
        return command(*args, asked=asked, quiet=quiet, **given)

    every = [*_JOINING, policy_options("Key trials without a score.", *missing), _QUIET]
    for option in reversed([*every, *_KIND, *(_COSTS if costs else _TRAINING)]):
        wrapped = option(wrapped)
    return wrapped


_READ = (
    *("columns", "key_format", "key_columns", "log10", "by_order", "duplicates", "labels", "where", "missing"),
    *("weights", "format_", "classes", "posterior_prior", "detection_llr"),
)
_SHOWN = ("dcf", "prior", "p_targets", "out_of_set", "subsets", "pairs", "groups")


def _asked(given: Mapping[str, Any]) -> Asked:
    """Options of the library out of what was typed."""
    from deciban.cli.shared.parsing import Asked
    from deciban.workflows.options import Options

    named = None
    if given.get("preset"):
        from deciban.evaluation.preset_table import preset

        named = preset(given["preset"])
    arguments = {**reading_of(given), **_figures_of(given, named)}
    return Asked(Options.of("deciban", {**arguments, "kind": given.get("kind")}), named)


def reading_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments that say how scores are read, out of what was typed."""
    same = (
        "columns",
        "key_format",
        "key_columns",
        "log10",
        "by_order",
        "duplicates",
        "weights",
        "detection_llr",
        "missing",
    )
    found = {name: given[name] for name in same if name in given}
    prior = given.get("posterior_prior")
    found |= {
        "format": given.get("format_"),
        "labels": parse_labels(given.get("labels")),
        "where": parse_where(given.get("where", ())),
        "classes": parse_classes(given.get("classes")),
        "posterior_prior": None if prior is None else parse_prior(prior, "--posterior-prior"),
    }
    return found


def _figures_of(given: Mapping[str, Any], preset: Preset | None) -> dict[str, Any]:
    """Arguments that say which figures are wanted, out of what was typed."""
    figures = {} if preset is None or preset.kind != "classes" else dict(preset.class_figures)
    if given.get("out_of_set") is not None:
        if figures and preset is not None:
            share = preset.p_out_of_set
            known = "no class is out of set" if share is None else f"the last class is out of set, with prior {share:g}"
            raise click.UsageError(f"--out-of-set: by the preset {preset.name}, {known}. Leave one of the two out.")
        figures["p_out_of_set"] = given["out_of_set"]
    if given.get("prior") is not None:
        figures["prior"] = parse_prior(given["prior"], "--prior")
    if given.get("p_targets"):
        figures["p_target"] = [*figures.get("p_target", ()), *given["p_targets"]]
    figures |= {name: given[name] for name in ("subsets", "pairs") if given.get(name) is not None}
    if given.get("groups"):
        figures["groups"] = parse_groups(given["groups"])
    return {**figures, "operating_points": parse_points(given.get("dcf", ()), preset)}


_READING = [
    click.option(
        "--format",
        "format_",
        metavar="NAME",
        help="Format of the file; left out, its contents decide. See deciban formats.",
    ),
    click.option("--columns", metavar="ROLES", help="What the columns are; see deciban eval --help."),
    click.option("--labels", metavar="WORDS", help="Label words: target=tgt,nontarget=imp (| between several)."),
    click.option("--log10", is_flag=True, help="The scores are common logarithms of likelihood ratios."),
    _QUIET,
]


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how to read one file; the command gets them by name."""

    @functools.wraps(command)
    def wrapped(*args: Any, labels: str | None, format_: str | None, **given: Any) -> Any:
        return command(*args, labels=parse_labels(labels), format=format_, **given)

    for option in reversed(_READING):
        wrapped = option(wrapped)
    return wrapped


def file_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how to read score files without a key; the command gets ``reading`` and ``quiet``."""
    named = (*("format_", "columns", "labels", "log10", "missing", "duplicates", "by_order"),)

    @functools.wraps(command)
    def wrapped(*args: Any, **given: Any) -> Any:
        own = {name: given.pop(name) for name in (*named, "classes", "posterior_prior", "detection_llr")}
        return command(*args, reading=reading_of({**own, "missing": parse_missing(own["missing"])}), **given)

    policies = policy_options("For a fusion: trials of the first file that another one lacks.")
    for option in reversed([policies, *_KIND[1:], *_READING]):
        wrapped = option(wrapped)
    return wrapped
