"""Options about scores of many classes, and whether a command is about such scores at all."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from deciban.cli.shared.grouped_help import class_option

if TYPE_CHECKING:
    from deciban.evaluation import Preset

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
        "--group",
        "groups",
        multiple=True,
        metavar="NAME=CLASS,CLASS,...",
        help="Ask which group of classes, not which class: slavic=pol,rus. Repeat until every class is in one group.",
    ),
]
_TRAINING = [
    class_option("--prior", metavar="PRIOR", help=_PRIOR_HELP.format(training=", and of the objective of training")),
]
_OWN = ("kind", "classes", "posterior_prior", "prior", "p_targets", "out_of_set", "subsets", "groups")
_WORDS = {"p_targets": "--p-target", "groups": "--group"}
_TWO_CLASS = ("dcf", "labels")
"""Options of all commands that mean nothing for many classes."""


@dataclass(frozen=True, slots=True)
class AskedOfClasses:
    """What the user said about scores of many classes.

    Attributes
    ----------
    kind : {"two-class", "classes"} or None
    classes : list of str or None
    posterior_prior : prior or None
    figures : dict
        Arguments of `deciban.evaluate_classes`.
    preset : Preset or None
        Of two or of many classes; ``figures`` hold the priors of the latter.
    """

    kind: str | None
    classes: list[str] | None
    posterior_prior: Any
    figures: dict[str, Any]
    preset: Preset | None = None

    def is_about_classes(
        self,
        scores: Sequence[str],
        key: str | None,
        reading: Mapping[str, Any],
        *,
        two_class: Sequence[str] = (),
    ) -> bool:
        """Decide, and refuse options that would be overlooked; ``two_class`` are more of those for two classes.

        Raises
        ------
        click.UsageError
        InputError
            If nothing says which it is.
        """
        if self.kind is None and self.classes is not None:
            kind: str = "classes"
        else:
            from deciban.workflows import kind_of_scores

            told = {name: reading[name] for name in ("format", "columns", "key_format", "key_columns", "labels")}
            kind = self.kind or kind_of_scores(scores[0], key, **told)
        about_classes = kind == "classes"
        refuse_options((*_TWO_CLASS, *two_class) if about_classes else _OWN[1:], about_classes=about_classes)
        if self.preset is not None and (self.preset.kind == "classes") != about_classes:
            _refuse_preset(self.preset, about_classes=about_classes)
        return about_classes

    def reading(self, reading: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments of `deciban.workflows.read_joined_classes` out of those of two classes."""
        more = {"classes": self.classes, "posterior_prior": self.posterior_prior}
        return {**{name: value for name, value in reading.items() if name != "labels"}, **more}


def class_options(command: Callable[..., Any] | None = None, *, costs: bool = True) -> Callable[..., Any]:
    """Add options about classes; the command gets them as ``asked``, an `AskedOfClasses`, and no ``preset``.

    Parameters
    ----------
    command : function, optional
    costs : bool
        Whether those that choose costs are among them; commands that train have other ones of these names.
    """
    if command is None:
        return functools.partial(class_options, costs=costs)

    @functools.wraps(command)
    def wrapped(*args: Any, preset: Preset | None, **given: Any) -> Any:
        told = {name: given.pop(name) for name in _OWN if name in given}
        return command(*args, asked=_asked(told, preset), **given)

    for option in reversed([*_KIND, *(_COSTS if costs else _TRAINING)]):
        wrapped = option(wrapped)
    return wrapped


def of_files_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add only those options about classes that say how to read files; the command gets ``asked``."""

    @functools.wraps(command)
    def wrapped(*args: Any, classes: str | None, posterior_prior: str | None, **given: Any) -> Any:
        told = {"classes": classes, "posterior_prior": posterior_prior}
        return command(*args, asked=_asked(told), **given)

    for option in reversed(_KIND[1:]):
        wrapped = option(wrapped)
    return wrapped


def _asked(told: Mapping[str, Any], preset: Preset | None = None) -> AskedOfClasses:
    figures = dict(preset.class_figures) if preset is not None and preset.kind == "classes" else {}
    if told.get("out_of_set") is not None:
        if figures and preset is not None:
            share = preset.p_out_of_set
            known = "no class is out of set" if share is None else f"the last class is out of set, with prior {share:g}"
            raise click.UsageError(f"--out-of-set: by the preset {preset.name}, {known}. Leave one of the two out.")
        figures["p_out_of_set"] = told["out_of_set"]
    if told.get("prior") is not None:
        figures["prior"] = parse_prior(told["prior"], "--prior")
    if told.get("p_targets"):
        figures["p_target"] = [*figures.get("p_target", ()), *told["p_targets"]]
    if told.get("subsets") is not None:
        figures["subsets"] = told["subsets"]
    if told.get("groups"):
        figures["groups"] = _groups(told["groups"])
    given = told.get("posterior_prior")
    return AskedOfClasses(
        told.get("kind"),
        _names(told.get("classes")),
        None if given is None else parse_prior(given, "--posterior-prior"),
        figures,
        preset,
    )


def _names(text: str | None) -> list[str] | None:
    if text is None:
        return None
    names = [name.strip() for name in text.split(",")]
    if len(names) < 2 or len(set(names)) < len(names) or not all(names):
        raise click.BadParameter(f"{text!r}: write two distinct names or more, eng,fra,deu.", param_hint="--classes")
    return names


def _groups(given: Sequence[str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for text in given:
        name, equals, classes = text.partition("=")
        members = [one.strip() for one in classes.split(",")]
        if not (equals and name.strip() and all(members)):
            raise click.BadParameter(f"{text!r}: write a name and its classes, slavic=pol,rus.", param_hint="--group")
        if name.strip() in groups:
            raise click.BadParameter(f"{text!r}: group {name.strip()!r} is given twice.", param_hint="--group")
        groups[name.strip()] = members
    return groups


def parse_prior(text: str, option: str) -> Any:
    """Turn ``flat``, ``P,P,...``, ``N:N:...`` or ``NAME=P,...`` into a prior.

    >>> parse_prior("2:1:1", "--prior"), parse_prior("a=0.25,b=0.75", "--prior")
    ([0.5, 0.25, 0.25], {'a': 0.25, 'b': 0.75})
    """
    if text == "flat":
        return text
    try:
        if "=" in text:
            pairs = [part.rpartition("=") for part in text.split(",")]
            named = {name.strip(): _finite(value) for name, _, value in pairs}
            if len(named) == len(pairs) and all(named):
                return named
        elif ":" in text:
            shares = [_finite(part) for part in text.split(":")]
            if min(shares) >= 0 and 0 < sum(shares) < math.inf:
                return [share / sum(shares) for share in shares]
        else:
            return [_finite(part) for part in text.split(",")]
    except ValueError:
        pass
    raise click.BadParameter(
        f"{text!r}: write flat, 0.2,0.3,0.5 (in the order of the classes), 2:3:5, or eng=0.4,fra=0.6, in finite "
        "numbers.",
        param_hint=option,
    )


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def _refuse_preset(given: Preset, *, about_classes: bool) -> None:
    """Refuse a preset of the other kind of scores, and name those that fit."""
    from deciban.evaluation import presets

    wanted = "classes" if about_classes else "two-class"
    fitting = ", ".join(name for name, one in presets().items() if one.kind == wanted)
    held, other = ("many classes", "two classes") if about_classes else ("two classes", "many classes")
    raise click.UsageError(
        f"--preset {given.name} is for {other}, and the scores are of {held} (if they are not, say --kind "
        f"{given.kind}). Presets for {held}: {fitting}."
    )


def refuse_options(names: Sequence[str], *, about_classes: bool) -> None:
    """Refuse options that were given and mean nothing for these scores.

    Raises
    ------
    click.UsageError
    """
    context = click.get_current_context()
    given = [
        _WORDS.get(name, f"--{name.replace('_', '-')}")
        for name in names
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    ]
    if given:
        held = "many classes (for two, say --kind two-class)" if about_classes else "two classes"
        other = "two classes" if about_classes else "many classes (say --kind classes if they are)"
        raise click.UsageError(f"the scores are of {held}, and {', '.join(given)} is for {other}.")
