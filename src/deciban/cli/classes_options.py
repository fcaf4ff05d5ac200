"""Options about scores of many classes, and whether a command is about such scores at all."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click
from click.core import ParameterSource

from deciban.evaluation import kind_of_scores

_KIND = [
    click.option(
        "--kind",
        type=click.Choice(["two-class", "classes"]),
        help="What the scores are about: targets and non-targets, or many classes. Left out, the files decide.",
    ),
    click.option(
        "--classes",
        metavar="NAME,NAME,...",
        help="Scores of classes: the names of the columns of a matrix, in order, or the columns of a table to take.",
    ),
    click.option(
        "--posterior-prior",
        metavar="PRIOR",
        help="The class scores are log posteriors with this prior in them, which is taken out: flat, 0.2,0.3,0.5 in "
        "the order of the classes, the same as a ratio 2:3:5, or by name eng=0.4,fra=0.6. Log-likelihoods need none.",
    ),
]
_PRIOR = click.option(
    "--prior",
    metavar="PRIOR",
    help="Of classes: prior of error rate, confusion, Brier and cross-entropy, and of training. [default: flat]",
)
_COSTS = [
    click.option(
        "--p-target",
        "p_targets",
        multiple=True,
        type=float,
        metavar="P",
        help="Of classes: prior of a target in C_avg. Repeat for more. [default: 0.5]",
    ),
    click.option(
        "--out-of-set",
        type=float,
        metavar="P",
        help="Of classes: the last class is out of set, no target of C_avg, and has this prior there.",
    ),
    click.option(
        "--subsets/--no-subsets",
        "subsets",
        default=None,
        help="Of classes: C_avg of every subset of them. [default: up to 10 classes; possible up to 20]",
    ),
]
_OWN = ("kind", "classes", "posterior_prior", "prior", "p_targets", "out_of_set", "subsets")
_WORDS = {"p_targets": "--p-target"}
_TWO_CLASS = ("dcf", "preset", "labels")
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
    """

    kind: str | None
    classes: list[str] | None
    posterior_prior: Any
    figures: dict[str, Any]

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
            told = {name: reading[name] for name in ("format", "columns", "key_format", "key_columns", "labels")}
            kind = self.kind or kind_of_scores(scores[0], key, **told)
        about_classes = kind == "classes"
        refuse_options((*_TWO_CLASS, *two_class) if about_classes else _OWN[1:], about_classes=about_classes)
        return about_classes

    def reading(self, reading: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments of `deciban.evaluation.read_joined_classes` out of those of two classes."""
        more = {"classes": self.classes, "posterior_prior": self.posterior_prior}
        return {**{name: value for name, value in reading.items() if name != "labels"}, **more}


def class_options(command: Callable[..., Any] | None = None, *, costs: bool = True) -> Callable[..., Any]:
    """Add options about classes; the command gets them as ``asked``, an `AskedOfClasses`.

    Parameters
    ----------
    command : function, optional
    costs : bool
        Whether those that choose costs are among them; commands that train have other ones of these names.
    """
    if command is None:
        return functools.partial(class_options, costs=costs)

    @functools.wraps(command)
    def wrapped(*args: Any, **given: Any) -> Any:
        told = {name: given.pop(name) for name in _OWN if name in given}
        return command(*args, asked=_asked(told), **given)

    for option in reversed([*_KIND, _PRIOR, *(_COSTS if costs else ())]):
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


def _asked(told: Mapping[str, Any]) -> AskedOfClasses:
    figures: dict[str, Any] = {}
    if told.get("prior") is not None:
        figures["prior"] = parse_prior(told["prior"], "--prior")
    if told.get("p_targets"):
        figures["p_target"] = list(told["p_targets"])
    if told.get("out_of_set") is not None:
        figures["p_out_of_set"] = told["out_of_set"]
    if told.get("subsets") is not None:
        figures["subsets"] = told["subsets"]
    given = told.get("posterior_prior")
    return AskedOfClasses(
        told.get("kind"),
        _names(told.get("classes")),
        None if given is None else parse_prior(given, "--posterior-prior"),
        figures,
    )


def _names(text: str | None) -> list[str] | None:
    if text is None:
        return None
    names = [name.strip() for name in text.split(",")]
    if len(names) < 2 or len(set(names)) < len(names) or not all(names):
        raise click.BadParameter(f"{text!r}: write two distinct names or more, eng,fra,deu.", param_hint="--classes")
    return names


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
            named = {name.strip(): float(value) for name, _, value in pairs}
            if len(named) == len(pairs) and all(named):
                return named
        elif ":" in text:
            shares = [float(part) for part in text.split(":")]
            if min(shares) >= 0 and sum(shares) > 0:
                return [share / sum(shares) for share in shares]
        else:
            return [float(part) for part in text.split(",")]
    except ValueError:
        pass
    raise click.BadParameter(
        f"{text!r}: write flat, 0.2,0.3,0.5 (in the order of the classes), 2:3:5, or eng=0.4,fra=0.6.",
        param_hint=option,
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
