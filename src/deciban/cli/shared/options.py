"""What commands share: options, the object that they print with ``--json``, and messages beside results."""

from __future__ import annotations

import functools
import re
import shlex
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from deciban._version import __version__
from deciban.cli.shared.parsing import PARSERS, Picture
from deciban.errors import InputError
from deciban.messages import Message, one_line

if TYPE_CHECKING:
    from deciban.workflows.inputs import Opened, Paths
    from deciban.workflows.options import KindName, Options


GIVEN = "deciban.cli.given"
"""Where a context keeps the values of all parameters, as they were before any of them was taken out."""


TYPED = "deciban.cli.typed"
"""Where a context keeps what was typed behind the name of the command."""


@dataclass(frozen=True, slots=True)
class Shown:
    """How a command that has tables shows what it found.

    Attributes
    ----------
    as_json : bool
        As one object, and no table.
    table_style : str
    all_classes : bool
        Whether tables of classes have all of them, however many these are.
    corrected : bool
        Whether minima have their corrected values beside them.
    everything : bool
        Whether metrics that are meaningless for the scores are printed, too.
    notes : {"important", "all"}
    information : bool
        Whether the information that the scores deliver is printed.
    """

    as_json: bool = False
    table_style: str = "plain"
    all_classes: bool = False
    corrected: bool = False
    everything: bool = False
    notes: str = "important"
    information: bool = False


def print_json(
    found: Mapping[str, Any], *, files: Mapping[str, Iterable[Any]], messages: Iterable[object] = ()
) -> None:
    """Print the object of the command that is running: what it read and was asked for, and what it found.

    Parameters
    ----------
    found : mapping
        The result. What it says of ``kind`` and ``messages`` stands.
    files : mapping of str to iterable of path or None
        What was read and written, by role.
    messages : iterable of Message or str
        What the user was told.
    """
    from deciban.evaluation.one_system import SCHEMA, json_text, plain
    from deciban.io.source import described
    from deciban.messages import as_objects

    context = click.get_current_context()
    options = options_given(context)
    head: dict[str, Any] = {
        "schema": SCHEMA,
        "command": context.info_name,
        "deciban_version": __version__,
        "kind": None,
        "options": options,
        "preset": options.get("preset"),
        "files": described(files),
        "messages": as_objects(messages),
    }
    click.echo(json_text(plain({**head, **found}), default=str))


def require_own_stream(output: object, *, as_json: bool) -> None:
    """Refuse to mix the object with an output on standard output.

    Raises
    ------
    click.UsageError
    """
    if as_json and str(output) == "-":
        raise click.UsageError("both the output (-) and --json go to standard output. Name a file for one of them.")


def typed() -> str:
    """The command that is running, as it would be typed again."""
    context = click.get_current_context()
    return shlex.join(["deciban", str(context.info_name), *context.meta.get(TYPED, ())])


def typed_for(other: click.Command, *, without: Iterable[str] = ()) -> tuple[str, ...]:
    """The words of a shell that ask another command the same, as far as it has the arguments that were typed.

    Parameters
    ----------
    other : click.Command
    without : iterable of str
        Options that are left out.
    """
    context = click.get_current_context()
    left_out, known = set(without), {name for one in other.params for name in one.opts}
    values, _, order = context.command.make_parser(context).parse_args(list(context.meta.get(TYPED, ())))
    arguments, words = list[str](), list[str]()
    for one in dict.fromkeys(order):
        given = values.get(str(one.name))
        if isinstance(one, click.Option):
            if known.intersection(one.opts) and not left_out.intersection(one.opts):
                words += _option_words(one, given)
        elif isinstance(given, str | tuple | list):  # what was not typed is none of these
            # A name that begins with a dash is no option with a folder before it.
            several = [given] if isinstance(given, str) else given
            arguments += [f"./{word}" if word.startswith("-") and word != "-" else word for word in several]
    return ("deciban", str(other.name), *arguments, *words)


def _option_words(one: click.Option, given: Any) -> list[str]:
    """An option with what was typed behind it, as often as that was."""
    name = max(one.opts, key=len)
    if one.is_flag:
        return [name if given in (True, one.flag_value) else max(one.secondary_opts, key=len)]
    several = given if one.multiple else [given]
    every = [[value] if isinstance(value, str) else value for value in several]
    return [word for values in every for word in (name, *map(str, values))]


def options_given(context: click.Context) -> dict[str, Any]:
    """Options that were typed, by their names without dashes, and what they were understood as."""
    values = context.meta.get(GIVEN, context.params)
    typed = [
        one
        for one in context.command.params
        if isinstance(one, click.Option)
        and context.get_parameter_source(str(one.name)) is ParameterSource.COMMANDLINE
        and one.name != "as_json"
    ]
    return {max(one.opts, key=len).lstrip("-"): values.get(str(one.name)) for one in typed}


_TYPES = {"float": float, "int": int, "path": click.Path(dir_okay=False, path_type=Path)}
_OPTION_OF = {
    "operating_points": "--dcf",
    "scores": "--scores-are",
    "test_scores": "--apply-to",
    "test_key": "--apply-key",
    "test_quality": "--apply-quality",
}
"""Options whose names are others than those of the arguments of functions that they become."""

_SHARING_ARGUMENT = {"p_target": {"--dcf"}, "format": {"--key-format", "--to"}, "columns": {"--key-columns"}}
"""Options that become the same argument of a function: where both were typed, a message may be about either."""

_ARGUMENT_AND_OPTION = r"""\b(?:[A-Z]\w+\()?\w+=["'\w.,-]*\)?(?:, (?=--)|(?: to \w+)? \((--[\w-]+(?: [\w=,-]+)?)\))"""
"""An argument of a function, and the option that it is: ``missing="drop" (--missing drop)``, ``train=, --train``."""

_ADVISED_ARGUMENT = (
    r"""\b([Pp]ass|[Uu]se|[Ww]ith|or) {}=(?:True\b|["']?(\d+\.\d+|[\w-]*)["']?)(?![\w/]|\.\w)(?: to evaluate_\w+)?"""
)
"""Advice with an argument and its value, or without one: ``pass scores="log_odds"``, ``Pass classes=``. Names of files
may look like arguments, which nobody passes or uses.
"""


class Option(click.Option):
    """An option as ``options.toml`` declares it; some mean something for one kind of scores only."""

    def __init__(
        self, names: Sequence[str], *, about: str = "", parse: str = "", choices: Any = None, **more: Any
    ) -> None:
        if parse:
            read, usual = PARSERS[parse], more.get("default")
            more["callback"] = lambda _context, _option, value: (
                None if value in (None, ()) else value if value == usual else read(value)
            )
        if any("/" in name for name in names):
            more["default"] = None
        more["type"] = click.Choice(choices) if choices else _TYPES.get(more.get("type", ""))
        super().__init__(names, **more)
        self.about = about

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return what a shell offers for a value that is being typed."""
        from deciban.cli.shared.completion import completer_of

        complete = completer_of(self.opts[-1], self.metavar)
        return super().shell_complete(ctx, incomplete) if complete is None else complete(ctx, self, incomplete)


class SectionedCommand(click.Command):
    """A command about scores of both kinds: its help lists the options of many classes by themselves."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read what was typed; options become one `Asked`, one `Shown` (of tables), one `Picture`."""
        ctx.meta[TYPED] = tuple(args)
        left = super().parse_args(ctx, args)
        ctx.meta[GIVEN] = dict(ctx.params)
        _refuse_file_for_json(ctx)
        if "table_style" in ctx.params:
            names = [one.name for one in fields(Shown) if one.name in ctx.params]
            ctx.params["shown"] = shown = Shown(**{name: ctx.params.pop(name) for name in names})
            if shown.as_json and shown.table_style != "plain":
                words = "--json prints no tables, and --table is about them. Leave one of the two out."
                raise click.UsageError(words, ctx)
        if "size" in ctx.params:
            ctx.params["picture"] = Picture(ctx.params.pop("output"), ctx.params.pop("size"))
        own = getattr(self.callback, "joining", ())
        if own and not ctx.resilient_parsing:
            ctx.params["asked"] = asked = Asked.of({name: ctx.params.pop(name) for name in own})
            if asked.options.plan is not None:
                tell([f"preset  {asked.options.plan}"], quiet=ctx.params["quiet"])
        return left

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the arguments and options, with ``--help-all`` behind ``--help`` where `--help` is an excerpt."""
        params = super().get_params(ctx)
        if self.name not in _common():
            return params
        about_all = click.Option(
            ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_print_help_all
        )
        about_all.help = "Explain all options."
        return [*params, about_all]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the most common options, then the names of the others; or all of them, by topic."""
        common = None if ctx.meta.get(HELP_ALL) else _common().get(str(self.name))
        by_topic: dict[str, list[click.Option]] = {topic: [] for topic in ("Options", *_topics(), MULTICLASS)}
        for one in self.get_params(ctx):
            if isinstance(one, click.Option):
                by_topic[_topic_of(one)].append(one)
        if common is None:
            for topic, listed in by_topic.items():
                _write_options(ctx, formatter, topic, listed)
            return
        listed = [one for several in by_topic.values() for one in several]
        _write_options(ctx, formatter, "Options", [one for one in listed if common.intersection(one.opts)])
        others = list[tuple[str, str]]()
        for topic, several in by_topic.items():
            names = [max(one.opts, key=len) for one in several if not common.intersection(one.opts)]
            others += [("Other" if topic == "Options" else topic, ", ".join(names))] if names else []
        with formatter.section(f"More options (deciban {self.name} --help-all)"):
            formatter.write_dl(others)


HELP_ALL = "deciban.cli.help_all"
"""Where a context keeps that ``--help-all`` was typed."""

MULTICLASS = "Multiclass scores"


def _print_help_all(ctx: click.Context, _option: click.Parameter, value: bool) -> None:  # noqa: FBT001  # click's call
    if value and not ctx.resilient_parsing:
        ctx.meta[HELP_ALL] = True
        click.echo(ctx.get_help())
        ctx.exit()


def _write_options(
    ctx: click.Context, formatter: click.HelpFormatter, title: str, listed: Sequence[click.Option]
) -> None:
    """Write a heading and the options below it, unless there are none."""
    records = [record for one in listed if (record := one.get_help_record(ctx)) is not None]
    if records:
        with formatter.section(title):
            formatter.write_dl(records)


def _topic_of(option: click.Option) -> str:
    """Return the heading of an option in `--help-all`."""
    if getattr(option, "about", "") == "classes":
        return MULTICLASS
    return next((topic for topic, names in _topics().items() if names.intersection(option.opts)), "Options")


@functools.cache
def _topics() -> dict[str, frozenset[str]]:
    return {topic: frozenset(names.split()) for topic, names in _declared()["topics"].items()}


@functools.cache
def _common() -> dict[str, frozenset[str]]:
    return {command: frozenset(names.split()) for command, names in _declared()["common"].items()}


def _refuse_file_for_json(ctx: click.Context) -> None:
    """Say how JSON gets into a file where one follows ``--json``, which takes no value."""
    scores = ctx.params.get("scores") if ctx.params.get("as_json") else None
    for name in scores if isinstance(scores, tuple) else ():
        if str(name).endswith(".json") and not Path(name).exists():
            words = f"{name}: no such file. --json takes no name, it prints to standard output: --json > {name}"
            raise click.UsageError(words, ctx)


@functools.cache
def _sections() -> dict[str, dict[str, dict[str, Any]]]:
    return {name: section for name, section in _declared().items() if name not in ("topics", "common")}


@functools.cache
def _declared() -> dict[str, dict[str, Any]]:
    return tomllib.loads(Path(__file__).with_name("options.toml").read_text("utf-8"))


def options(*sections: str, without: Sequence[str] = ()) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the options of these sections of ``options.toml``, in their order, but for some."""

    def added(command: Callable[..., Any]) -> Callable[..., Any]:
        for section in reversed(sections):
            for names, how in reversed(_sections()[section].items()):
                if names in without:
                    continue
                command = click.option(*names.split(), cls=Option, **how)(command)
        return command

    return added


def joining_options(
    *, missing: str = "missing", figures: str = "costs", more: Sequence[str] = (), without: Sequence[str] = ()
) -> Callable[..., Any]:
    """Add the options that say how to read score files and a key, how to join them, and which figures are wanted.

    The command, a `SectionedCommand`, gets them as ``key``, ``asked`` (an `Asked`) and ``quiet``.

    Parameters
    ----------
    missing, figures : str
        Sections of options: what to do about trials without a score, and what is said of many classes, if anything.
    more : sequence of str
        Further sections whose options become arguments of functions: ``uncertainty``, ``scale``.
    without : sequence of str
        Options of these sections that the command has not, as ``options.toml`` names them.
    """
    of_figures = [figures] if figures else []
    sections = ("joining", "by-order", missing, "duplicates", *more, "quiet", "kind", "classes", *of_figures)
    known = [names for section in sections for names in _sections()[section] if names not in without]
    declared = [names.split()[-1].partition("/")[0] for names in known]
    own = {name.lstrip("-").replace("-", "_") for name in declared} - {"key", "quiet"}

    def added(command: Callable[..., Any]) -> Callable[..., Any]:
        vars(command)["joining"] = own
        return options(*sections, without=without)(command)

    return added


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user asked about scores.

    Attributes
    ----------
    options : Options
        Reading and figures, of both kinds until it is known which of them it is about.
    subsets : str or None
        What ``--missing`` says that is the business of a fusion.
    two : mapping of str to tuple of str
        ``tar`` and ``non``: files of targets and of non-targets.
    """

    options: Options
    subsets: str | None = None
    two: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, given: dict[str, Any]) -> Asked:
        """Sort what was typed; options that were left out are None or empty."""
        from deciban.workflows.options import Options

        chosen = {name: value for name, value in given.items() if value not in (None, ())}
        two: dict[str, Any] = {name: chosen.pop(name) for name in ("tar", "non") if name in chosen}
        points = chosen.pop("dcf", None)
        subsets = chosen["missing"] if str(chosen["missing"]).startswith("subset") else None
        chosen |= {"missing": "error"} if subsets else {}
        arguments = {**chosen, "operating_points": points}
        try:
            return cls(replace(Options.of("deciban", arguments), incomplete=subsets is not None), subsets, two)
        except InputError as error:
            if not {"preset", "p_out_of_set"} <= chosen.keys():
                raise
            context = click.get_current_context()
            words = in_options(str(error), context.command, context.meta.get(TYPED, ()))
            raise click.UsageError(words, context) from error

    def inputs(self, scores: Sequence[str], key: str | None) -> Paths:
        """The score files that were named, one or two for each system.

        Raises
        ------
        InputError
            As in `named_scores`.
        """
        if scores and not self.two:
            return list(scores)
        from deciban._files import PathLike
        from deciban.io.source import TwoFiles
        from deciban.workflows.inputs import named_scores

        return named_scores(list[PathLike | TwoFiles](scores), key, self.two)[0]

    def options_for(self, files: Opened) -> Options:
        """The options, once it is known what the scores are about; those that would be overlooked are refused.

        Raises
        ------
        click.UsageError
        InputError
            If nothing says which it is.
        """
        kind = files.kind_name(self.options)
        refuse_options(kind)
        if self.options.plan is not None:
            from deciban.workflows.plans import require_kind

            require_kind(self.options.plan, kind)
        return replace(self.options, kind=kind)


def refuse_options(kind: KindName) -> None:
    """Refuse options that were given and mean nothing for scores of this kind.

    Raises
    ------
    click.UsageError
    """
    context = click.get_current_context()
    params = [one for one in context.command.params if isinstance(one, Option)]
    given = [
        one.opts[-1]
        for one in params
        if one.about not in ("", kind)
        and one.name not in (None, "kind")
        and context.get_parameter_source(str(one.name)) is ParameterSource.COMMANDLINE
    ]
    if given:
        from deciban.workflows.kinds import kind_called

        held, other = kind_called(kind).about, kind_called(kind).other
        if any(one.name == "kind" and one.about for one in params):
            held += " (for two, say --kind two-class)" if kind == "classes" else ""
            other += " (say --kind classes if they are)" if kind == "two-class" else ""
        verb = "are" if len(given) > 1 else "is"
        raise click.UsageError(f"the scores are of {held}, and {', '.join(given)} {verb} for {other}.")


def tell(messages: Iterable[object], *, quiet: bool = False) -> None:
    """Print messages on standard error, one line for each: if quiet, only warnings about the meaning of numbers."""
    for message in messages:
        if not quiet or (isinstance(message, Message) and message.is_warning):
            click.echo(one_line(str(message)), err=True)


def in_options(text: str, command: click.Command, words: Sequence[str]) -> str:
    """A message of the library in the words of the command line: options in place of arguments of functions.

    Parameters
    ----------
    text : str
    command : click.Command
    words : sequence of str
        What was typed: where a message begins with an argument, only an option that was given is meant.

    >>> command = click.command()(options("costs", "missing", "methods")(lambda: None))
    >>> in_options('groups: no class. Pass missing="drop" (--missing drop).', command, ["--group", "a=b"])
    '--group: no class. Pass --missing drop.'
    >>> in_options('scores: no probability. For log odds pass scores="log_odds".', command, ["--method", "beta"])
    'scores: no probability. For log odds pass --scores-are log_odds.'
    """
    option_of = {str(one.name): one.opts[-1] for one in command.params if isinstance(one, click.Option)}
    option_of |= {name: option for name, option in _OPTION_OF.items() if option in option_of.values()}
    names, colon, rest = text.partition(": ")
    meant = [option_of.get(name, "") for name in names.split(", ")]
    typed = {word.partition("=")[0] for word in words}
    if colon and set(meant) <= typed and typed.isdisjoint(_SHARING_ARGUMENT.get(names, ())):
        text = f"{', '.join(meant)}: {rest}"
    text = re.sub(_ARGUMENT_AND_OPTION, r"\1", text)
    for name, option in option_of.items():
        text = re.sub(_ADVISED_ARGUMENT.format(name), functools.partial(_with_value, option), text)
    return text


def _with_value(option: str, found: re.Match[str]) -> str:
    return f"{found[1]} {option} {found[2] or ''}".rstrip()
