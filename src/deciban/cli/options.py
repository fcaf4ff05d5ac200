"""Options, JSON output and messages of all commands."""

from __future__ import annotations

import difflib
import functools
import re
import shlex
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import groupby, pairwise
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from deciban._files import read_short_text, toml_of
from deciban._version import __version__
from deciban.cli.parsing import PARSERS, PictureOptions, completer_of
from deciban.errors import FormatError, InputError, Message, as_objects, one_line, option

if TYPE_CHECKING:
    from deciban.types import KindName, Raw
    from deciban.workflows.options import Options
    from deciban.workflows.reading.inputs import Opened, Paths


GIVEN = "deciban.cli.given"
"""Key in the context for the values of all parameters, before some were taken out."""


FROM_FILE = "deciban.cli.from_file"
"""Key in the context of the places in a file of options, by the names of the options."""

TYPED = "deciban.cli.typed"
"""Key in the context for the words after the name of the command."""


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """Options for the output of tables.

    Attributes
    ----------
    as_json : bool
        Whether to print one JSON object instead of tables.
    table_style : str
    all_classes : bool
        Whether tables of classes contain all classes.
    corrected : bool
        Whether to print corrected values beside minima.
    everything : bool
        Whether to print metrics that are meaningless for the scores, too.
    notes : {"important", "all"}
    information : bool
        Whether to print the information that the scores deliver.
    """

    as_json: bool = False
    table_style: str = "plain"
    all_classes: bool = False
    corrected: bool = False
    everything: bool = False
    notes: str = "important"
    information: bool = False


def print_json(
    entries: Mapping[str, Any], *, files: Mapping[str, Iterable[Any]], messages: Iterable[object] = ()
) -> None:
    """Print the JSON object of the running command: its options, files and results.

    Parameters
    ----------
    entries : mapping
        The result; its ``kind`` and ``messages`` take precedence.
    files : mapping of str to iterable of path or None
        Files that were read and written, by role.
    messages : iterable of Message or str
        Messages to the user.
    """
    from deciban.evaluation.one_system import SCHEMA, json_text, plain
    from deciban.io.source import described

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
    click.echo(json_text(plain({**head, **entries}), default=str))


def refuse(entries: Mapping[str, object], why: str) -> None:
    """Refuse those of some options that were used, in an error that says why.

    Raises
    ------
    click.UsageError
    """
    names = [f"--{name.replace('_', '-')}" for name, value in entries.items() if value not in (None, False, (), [])]
    if names:
        raise click.UsageError(f"{', '.join(names)}: {why}. Leave it out.")


def require_own_stream(output: object, *, as_json: bool) -> None:
    """Refuse to write both JSON and another output to standard output.

    Raises
    ------
    click.UsageError
    """
    if as_json and str(output) == "-":
        raise click.UsageError("both the output (-) and --json go to standard output. Name a file for one of them.")


def typed() -> str:
    """Return the running command as text for a shell."""
    context = click.get_current_context()
    return shlex.join(["deciban", str(context.info_name), *context.meta.get(TYPED, ())])


def typed_for(other: click.Command, *, without: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the words of another command with the same arguments and the options that it shares.

    Parameters
    ----------
    other : click.Command
    without : iterable of str
        Options to leave out.
    """
    context = click.get_current_context()
    left_out, known = set(without), {name for one in other.params for name in one.opts}
    values, _, order = context.command.make_parser(context).parse_args(list(context.meta.get(TYPED, ())))
    arguments, words = list[str](), list[str]()
    for one in dict.fromkeys(order):
        value = values.get(str(one.name))
        if isinstance(one, click.Option):
            if known.intersection(one.opts) and not left_out.intersection(one.opts):
                words += _option_words(one, value)
        elif isinstance(value, str | tuple | list):  # other types were not typed
            # A name that starts with a dash would be an option; with a folder before it, it is not.
            several = [value] if isinstance(value, str) else value
            arguments += [f"./{word}" if word.startswith("-") and word != "-" else word for word in several]
    return ("deciban", str(other.name), *arguments, *words)


def _option_words(one: click.Option, raw: Raw) -> list[str]:
    """Return the words of an option with its values, repeated as typed."""
    name = max(one.opts, key=len)
    if one.is_flag:
        return [name if raw in (True, one.flag_value) else max(one.secondary_opts, key=len)]
    every = [[value] if isinstance(value, str) else value for value in (raw if one.multiple else [raw])]
    return [word for values in every for word in (name, *map(str, values))]


def options_given(context: click.Context) -> dict[str, Any]:
    """Return the typed options by their names without dashes, with their parsed values."""
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
_SHARING_ARGUMENT = {"p_target": {"--dcf"}, "format": {"--key-format", "--to"}, "columns": {"--key-columns"}}
"""Options for the same argument of a function: if both were typed, a message can be about either."""


class Option(click.Option):
    """An option of ``options.toml``, possibly for one kind of scores only."""

    def __init__(
        self, names: Sequence[str], *, about: str = "", parse: str = "", choices: Raw = None, **more: Raw
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
        """Return the completions of a value."""
        complete = completer_of(self.opts[-1], self.metavar)
        return super().shell_complete(ctx, incomplete) if complete is None else complete(ctx, self, incomplete)


class SectionedCommand(click.Command):
    """Command with grouped help: common options first, options for multiclass scores separately."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words; replace groups of options by `JoiningOptions`, `OutputOptions` and `PictureOptions`."""
        args = _with_file_of_options(self, ctx, args)
        ctx.meta[TYPED] = tuple(args)
        try:
            left = super().parse_args(ctx, args)
        except click.BadParameter as error:
            place = ctx.meta.get(FROM_FILE, {}).get(error.param and error.param.name)
            if place is None:
                raise
            words = f"{error.message.rstrip('.')} ({place})."
            raise click.BadParameter(words, error.ctx, error.param, error.param_hint) from error
        ctx.meta[GIVEN] = dict(ctx.params)
        _refuse_file_for_json(ctx)
        if "table_style" in ctx.params:
            names = [one.name for one in fields(OutputOptions) if one.name in ctx.params]
            ctx.params["shown"] = shown = OutputOptions(**{name: ctx.params.pop(name) for name in names})
            if shown.as_json and shown.table_style != "plain":
                words = "--json prints no tables, and --table is for tables. Leave one of the two out."
                raise click.UsageError(words, ctx)
        if "size" in ctx.params:
            ctx.params["picture"] = PictureOptions(ctx.params.pop("output"), ctx.params.pop("size"))
        own = getattr(self.callback, "joining", ())
        if own and not ctx.resilient_parsing:
            ctx.params["joining"] = joining = JoiningOptions.of({name: ctx.params.pop(name) for name in own})
            if joining.options.plan is not None:
                print_messages([f"preset  {joining.options.plan}"], quiet=ctx.params["quiet"])
        return left

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the arguments and options, with ``--help-all``, and ``--options`` if ``--help`` shows a selection."""
        params, selects = super().get_params(ctx), self.name in _lists("common")
        from_file = click.Option(
            ["--options", "options_file"], metavar="FILE", expose_value=False, help=_declared("file")["--options"]
        )
        about_all = click.Option(
            ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_print_help_all
        )
        about_all.help, about_all.hidden = "Explain all options.", not selects
        return [*params, from_file, about_all] if selects else [*params, about_all]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the common options and the names of the others, or all options by topic."""
        common = None if ctx.meta.get(HELP_ALL) else _lists("common").get(str(self.name))
        by_topic: dict[str, list[click.Option]] = {topic: [] for topic in ("Options", *_lists("topics"), MULTICLASS)}
        for one in self.get_params(ctx):
            if isinstance(one, click.Option):
                by_topic[_topic_of(one)].append(one)
        if common is None:
            for topic, items in by_topic.items():
                _write_options(ctx, formatter, topic, items)
            return
        items = [one for several in by_topic.values() for one in several]
        _write_options(ctx, formatter, "Options", [one for one in items if common.intersection(one.opts)])
        others = list[tuple[str, str]]()
        for topic, several in by_topic.items():
            names = [_unbroken_name(one) for one in several if not common.intersection(one.opts)]
            others += [("Other" if topic == "Options" else topic, ", ".join(names))] if names else []
        with formatter.section(f"More options (deciban {self.name} --help-all)"):
            formatter.write_dl(others)
        formatter.buffer = [text.replace(_HYPHEN, "-") for text in formatter.buffer]


_HYPHEN = "\N{NON-BREAKING HYPHEN}"
"""Replaces hyphens while lines are wrapped."""


def _unbroken_name(option: click.Option) -> str:
    """Return the name of an option, and that of its opposite unless it begins with ``--no-``."""
    opposite = [name for name in option.secondary_opts if not name.startswith("--no-")]
    return "/".join([max(option.opts, key=len), *opposite]).replace("-", _HYPHEN)


HELP_ALL = "deciban.cli.help_all"
"""Key in the context that is set after ``--help-all``."""

MULTICLASS = "Multiclass scores"


def _with_file_of_options(command: click.Command, ctx: click.Context, args: list[str]) -> list[str]:
    """Return the words, after those that the file of ``--options`` stands for.

    Typed options replace those of the file.

    Raises
    ------
    click.UsageError
        If the file is not TOML, or has a value that its option does not take.
    """
    if not any(word.partition("=")[0] == "--options" for word in args):
        return args
    values, _, order = command.make_parser(ctx).parse_args(list(args))
    if (path := values.get("options_file")) is None:
        return args
    try:
        rows = toml_of(read_short_text(path), str(path), "Write one option on each line, such as worst = 10.")
    except FormatError as error:
        raise click.UsageError(f"--options: {error}", ctx) from error
    except OSError as error:
        raise click.UsageError(f"--options: {path}: {error.strerror}.", ctx) from error
    params = [one for one in command.get_params(ctx) if isinstance(one, click.Option) and one.name != "options_file"]
    known = {name.lstrip("-"): one for one in params for name in (*one.opts, *one.secondary_opts) if name[:2] == "--"}
    words, places = list[str](), dict[str | None, str]()
    ctx.meta[FROM_FILE] = places
    for name, value in ((key.replace("_", "-"), one) for key, one in rows.items()):
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            way_out = f"Did you mean {near[0]}?" if near else f"deciban {ctx.info_name} --help-all lists its options."
            raise click.UsageError(f"--options: {path}: no option is called {name!r}. {way_out}", ctx)
        if known[name] not in order:
            places[known[name].name] = f"{path}: {name}"
            words += _words_of_row(known[name], f"{path}: {name}", value, ctx)
    return [*words, *args]


def options_in_file(words: Sequence[str]) -> tuple[str, list[str]]:
    """Return the path after ``--options`` in the words of a command, and the options in the file, with dashes."""
    pairs = pairwise([*words, ""])
    paths = [one.partition("=")[2] or other for one, other in pairs if one.partition("=")[0] == "--options"]
    try:
        rows = toml_of(read_short_text(paths[-1]), paths[-1], "") if paths else {}
    except (FormatError, OSError):
        return "", []
    return "".join(paths[-1:]), [f"--{name.replace('_', '-')}" for name in rows]


def _words_of_row(option: click.Option, place: str, value: object, ctx: click.Context) -> list[str]:
    """Return the words for a row of a file of options; ``place`` is the file and the name."""
    name = place.rpartition(": ")[2]
    if option.is_flag:
        if not isinstance(value, bool):
            raise click.UsageError(f"--options: {place} = {value!r} must be true or false.", ctx)
        if option.secondary_opts:
            return [f"--{name}" if value else max({*option.opts, *option.secondary_opts} - {f"--{name}"}, key=len)]
        return [f"--{name}"] if value else []
    several = value if isinstance(value, list) else [value]
    if not all(isinstance(one, str | int | float) and not isinstance(one, bool) for one in several):
        raise click.UsageError(f"--options: {place} = {value!r} must be a text or a number.", ctx)
    if not option.multiple:
        several = [",".join(map(str, several))]
    return [word for one in several for word in (f"--{name}", str(one))]


def _print_help_all(ctx: click.Context, _option: click.Parameter, value: bool) -> None:  # noqa: FBT001  # click's call
    if value and not ctx.resilient_parsing:
        ctx.meta[HELP_ALL] = True
        click.echo(ctx.get_help())
        ctx.exit()


_FORMER = ", --figure"
"""Former name of ``--metric``, which is still accepted but not shown."""


def _write_options(
    ctx: click.Context, formatter: click.HelpFormatter, title: str, items: Sequence[click.Option]
) -> None:
    """Write a heading and the options below it, if there are options."""
    records = [record for one in items if (record := one.get_help_record(ctx)) is not None]
    if records:
        with formatter.section(title):
            formatter.write_dl([(names.replace(_FORMER, ""), about) for names, about in records])


def _topic_of(option: click.Option) -> str:
    """Return the heading of an option in ``--help-all``."""
    if getattr(option, "about", "") == "classes":
        return MULTICLASS
    return next((topic for topic, names in _lists("topics").items() if names.intersection(option.opts)), "Options")


@functools.cache
def _lists(section: str) -> dict[str, frozenset[str]]:
    """Return the lists of options in a section of ``options.toml``."""
    return {name: frozenset(names.split()) for name, names in _declared(section).items()}


def _refuse_file_for_json(ctx: click.Context) -> None:
    """Refuse a file name after ``--json``, and show how to write JSON to a file."""
    scores = ctx.params.get("scores") if ctx.params.get("as_json") else None
    for name in scores if isinstance(scores, tuple) else ():
        if str(name).endswith(".json") and not Path(name).exists():
            words = f"{name}: no such file. --json takes no name; it prints to standard output: --json > {name}"
            raise click.UsageError(words, ctx)


@functools.cache
def _texts() -> dict[str, str]:
    """Return the text of each section of ``options.toml``; a command parses only its own, because it takes long."""
    _, *parts = re.split(r"(?m)^\[([\w-]+)(?=[].])", Path(__file__).with_name("options.toml").read_text("utf-8"))
    tables = groupby(sorted(zip(parts[::2], parts[1::2], strict=True), key=itemgetter(0)), key=itemgetter(0))
    return {section: "".join(f"[{name}{rest}" for name, rest in some) for section, some in tables}


@functools.cache
def _declared(section: str) -> dict[str, Any]:
    """Return a section of ``options.toml``."""
    return tomllib.loads(_texts()[section])[section]  # type: ignore[no-any-return]


def options(*sections: str, without: Sequence[str] = ()) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the options of these sections of ``options.toml``, in their order, except some."""

    def added(command: Callable[..., Any]) -> Callable[..., Any]:
        for section in reversed(sections):
            for names, how in reversed(_declared(section).items()):
                if names in without:
                    continue
                command = click.option(*names.split(), cls=Option, **how)(command)
        return command

    return added


def joining_options(
    *, missing: str = "missing", metrics: str = "costs", more: Sequence[str] = (), without: Sequence[str] = ()
) -> Callable[..., Any]:
    """Add options for reading score files and a key, for joining them, and for metrics.

    The command must be a `SectionedCommand`. It gets them as ``key``, ``joining`` (a `JoiningOptions`) and ``quiet``.

    Parameters
    ----------
    missing, metrics : str
        Sections of options for trials without a score, and for multiclass metrics, if any.
    more : sequence of str
        Further sections, such as ``uncertainty`` and ``scale``.
    without : sequence of str
        Options of these sections to leave out, by their keys in ``options.toml``.
    """
    every = ("joining", "key-columns", "by-order", missing, "duplicates", *more, "quiet", "kind", "classes", metrics)
    sections = [name for name in every if name]
    known = [names for section in sections for names in _declared(section) if names not in without]
    declared = [names.split()[-1].partition("/")[0] for names in known]
    own = {name.lstrip("-").replace("-", "_") for name in declared} - {"key", "quiet"}

    def added(command: Callable[..., Any]) -> Callable[..., Any]:
        vars(command)["joining"] = own
        return options(*sections, without=without)(command)

    return added


@dataclass(frozen=True, slots=True)
class JoiningOptions:
    """Requested options for reading and evaluating scores.

    Attributes
    ----------
    options : Options
        Options for both kinds of scores, until the kind is known.
    subsets : str or None
        Value of ``--missing`` that starts with ``subset``, for a fusion.
    two : mapping of str to tuple of str
        Files of targets (``tar``) and of non-targets (``non``).
    """

    options: Options
    subsets: str | None = None
    two: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, entries: dict[str, Any]) -> JoiningOptions:
        """Make an instance from the options of a command; omitted options are None or empty."""
        from deciban.workflows.options import Options

        chosen = {name: value for name, value in entries.items() if value not in (None, ())}
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
            words = in_options(str(error), context.meta.get(TYPED, ()))
            raise click.UsageError(words, context) from error

    @property
    def is_about_spoofing(self) -> bool:
        """True if a protocol of spoofing was named."""
        return self.options.plan is not None and bool(self.options.plan.spoofing)

    def inputs(self, scores: Sequence[str], key: str | None) -> Paths:
        """Return the score files, one or two for each system.

        Raises
        ------
        InputError
            As in `named_scores`.
        """
        if scores and not self.two:
            return list(scores)
        from deciban.io.source import TwoFiles
        from deciban.types import PathLike
        from deciban.workflows.reading.inputs import named_scores

        return named_scores(list[PathLike | TwoFiles](scores), key, self.two)[0]

    def options_for(self, files: Opened) -> Options:
        """Return the options for the kind of scores in the files, and refuse options for the other kind.

        Raises
        ------
        click.UsageError
        InputError
            If the kind is unknown.
        """
        kind = files.kind_name(self.options)
        refuse_options(kind)
        if self.options.plan is not None:
            from deciban.workflows.evaluate.plans import require_kind

            require_kind(self.options.plan, kind)
        return replace(self.options, kind=kind)


def refuse_options(kind: KindName) -> None:
    """Refuse options that are not for this kind of scores.

    Raises
    ------
    click.UsageError
    """
    context = click.get_current_context()
    params = [one for one in context.command.params if isinstance(one, Option)]
    values = [
        one.opts[-1]
        for one in params
        if one.about not in ("", kind)
        and one.name not in (None, "kind")
        and context.get_parameter_source(str(one.name)) is ParameterSource.COMMANDLINE
    ]
    if values:
        from deciban.workflows.kinds import kind_called

        held, other = kind_called(kind).about, kind_called(kind).other
        if any(one.name == "kind" and one.about for one in params):
            held += f" (if not, use --kind {'two-class' if kind == 'classes' else 'classes'})"
        verb = "are" if len(values) > 1 else "is"
        raise click.UsageError(f"the scores are {held}, and {', '.join(values)} {verb} for {other} scores.")


def print_messages(messages: Iterable[object], *, quiet: bool = False) -> None:
    """Print each message as one line on standard error; if `quiet`, only warnings about the meaning of numbers."""
    for message in messages:
        if not quiet or (isinstance(message, Message) and message.is_warning):
            click.echo(one_line(str(message)), err=True)


def in_options(text: str, words: Sequence[str], offered: Iterable[str] = ()) -> str:
    """Replace the arguments at the start of a message by their options if the user typed them, or could have.

    Parameters
    ----------
    text : str
    words : sequence of str
        Typed words.
    offered : iterable of str
        Options of the command.

    Examples
    --------
    >>> from deciban.errors import command_spelling
    >>> with command_spelling():
    ...     in_options("groups: no class.", ["--group", "a=b"])
    '--group: no class.'
    """
    names, colon, rest = text.partition(": ")
    meant = list(map(option, names.split(", ")))
    typed = {word.partition("=")[0] for word in words}
    is_meant = set(meant) <= typed.union(offered) and typed.isdisjoint(_SHARING_ARGUMENT.get(names, ()))
    return f"{', '.join(meant)}: {rest}" if colon and is_meant else text
