"""Entry point of the command line: the list of commands, and error handling."""

from __future__ import annotations

import atexit
import difflib
import errno
import gc
import importlib
import io
import os
import shlex
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import TextIO

import click

from deciban._version import __version__
from deciban.cli.running import EXIT_CODE, give_way, listening
from deciban.errors import DecibanError, DecibanWarning, command_spelling, lines, one_line, option

COMMANDS = {
    "demo": ("deciban.cli.files", "Write synthetic scores and a key, and evaluate them."),
    "eval": ("deciban.cli.evaluate", "Evaluate score files: print a table or JSON."),
    "report": ("deciban.cli.evaluate", "Evaluate score files: write one HTML page with plots."),
    "compare": ("deciban.cli.plan", "Compare systems: differences of metrics with intervals."),
    "check": ("deciban.cli.check", "Check requirements on saved results, for pipelines."),
    "leaderboard": ("deciban.cli.check", "Rank the saved results of many runs."),
    "identify": ("deciban.cli.check", "Evaluate biometric identification (1:N)."),
    "plot": ("deciban.cli.plot", "Draw one plot as SVG, PNG or PDF."),
    "presets": ("deciban.cli.plan", "List the evaluation protocols for --preset."),
    "calibrate": ("deciban.cli.train", "Train a calibration to log-likelihood ratios."),
    "fuse": ("deciban.cli.train", "Train a fusion of several systems."),
    "apply": ("deciban.cli.train", "Apply a trained model: write calibrated llrs."),
    "normalize": ("deciban.cli.files", "Normalize scores by cohorts: z-norm, t-norm, s-norm."),
    "export": ("deciban.cli.files", "Write a trained model as Python, JSON or ONNX."),
    "objective": ("deciban.cli.plan", "Show or suggest the objective of a calibration."),
    "decide": ("deciban.cli.files", "Choose the action with the lowest expected cost for every trial."),
    "statement": ("deciban.cli.check", "State a likelihood ratio in numbers and words."),
    "inspect": ("deciban.cli.files", "Show what a file contains and what looks wrong."),
    "convert": ("deciban.cli.files", "Convert a file to another format."),
    "validate": ("deciban.cli.files", "Check that a submission scores the trials of a list."),
    "formats": ("deciban.cli.files", "List the known file formats."),
    "summarize": ("deciban.cli.files", "Write a small summary file of one partition of the data."),
    "merge": ("deciban.cli.files", "Merge summary files into one."),
    "plan": ("deciban.cli.plan", "Compute how many speakers and trials an evaluation needs."),
}
"""Module and summary of each command. Only the module of the called command is imported, so that help is fast."""

GROUPS = {
    "Evaluate": ("demo", "eval", "report", "compare", "check", "leaderboard", "identify", "plot", "presets"),
    "Calibrate and fuse": ("calibrate", "fuse", "apply", "normalize", "export", "objective"),
    "Decide": ("decide", "statement"),
    "Files": ("inspect", "convert", "validate", "formats"),
    "Large data": ("summarize", "merge"),
    "Plan": ("plan",),
}

FORMER_NAMES = {"design": "objective"}
"""Former names of commands, which are still accepted."""


_MANY_OBJECTS = 400_000
"""Number of new objects between garbage collections: modules and plots create many objects, and hardly any garbage."""


@contextmanager
def _stopping() -> Iterator[None]:
    """End the command on Ctrl-C, or when the reader of the output stops (`deciban eval ... | head`).

    This runs before click, which would handle both differently and exit with 1.
    """
    try:
        yield
    except KeyboardInterrupt:
        _fail("interrupted", EXIT_CODE)
    except BrokenPipeError:
        _write_nowhere(sys.stdout, sys.stderr)
        sys.exit(0)


class _LazyGroup(click.Group):
    make_context = _stopping()(click.Group.make_context)
    invoke = _stopping()(click.Group.invoke)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        cmd_name = FORMER_NAMES.get(cmd_name, cmd_name)
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(importlib.import_module(COMMANDS[cmd_name][0]), f"{cmd_name}_command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        args = [FORMER_NAMES.get(args[0], args[0]), *args[1:]]
        near = [] if args[0] in COMMANDS else [one for one in COMMANDS if args[0].startswith(one)]
        near = near or ([] if args[0] in COMMANDS else difflib.get_close_matches(args[0].lower(), COMMANDS, n=1))
        if near and not ctx.resilient_parsing:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {near[0]!r}?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        width = max(map(len, COMMANDS))
        for group, names in GROUPS.items():
            with formatter.section(group):
                formatter.write_dl([(name.ljust(width), COMMANDS[name][1]) for name in names])


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="deciban %(version)s")
@click.option(
    "--install-completion",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    help="Install completion of commands, options, files and their columns for your shell ($SHELL).",
    callback=lambda context, _option, value: _install_completion(context) if value else None,
)
def _deciban() -> None:
    """Evaluate, calibrate and fuse the scores of recognizers.

    \b
    deciban demo demo                                  a first look, with synthetic scores
    deciban report sysA.txt --key key.txt -o out.html  your own scores
    """


def _install_completion(context: click.Context) -> None:
    from deciban.cli.parsing import install

    click.echo(install(context.command, os.environ.get("SHELL", "")))
    context.exit()


def main() -> None:
    """Run the command line; exit with 0, 2 for bad input or usage, 130 after Ctrl-C, 143 if terminated, else 1."""
    # The system frees all memory at exit. Looking for cycles before takes up to a fifth of the time of a small command.
    atexit.register(gc.freeze)
    # Threads of OpenBLAS wait for their next task in a busy loop, by default for 2**26 cycles each time.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "14")
    usual = gc.get_threshold()
    gc.set_threshold(_MANY_OBJECTS, *usual[1:])
    _open_closed_streams()
    _ignore_impossible_width()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # do not fail if the terminal cannot show a name
    if "_DECIBAN_COMPLETE" in os.environ:
        from deciban.cli.parsing import register

        register()
    try:
        with listening(), _stopping(), command_spelling(), _answering(), warnings.catch_warnings():
            warnings.simplefilter("once", DecibanWarning)
            warnings.showwarning = _warn
            code = _deciban(prog_name="deciban", standalone_mode=False)
            sys.stdout.flush()
            sys.exit(code if isinstance(code, int) else 0)
    finally:
        gc.set_threshold(*usual)


@contextmanager
def _answering() -> Iterator[None]:
    """Print errors of usage and of files in one line, and exit with their code."""
    try:
        yield
    except click.ClickException as error:
        if isinstance(error, click.NoSuchOption):
            near = _near(error.option_name, error.possibilities or ())
            error = click.NoSuchOption(error.option_name, error.message, near, error.ctx)
        messages = io.StringIO()
        error.show(file=messages)
        click.echo(lines(messages.getvalue()), nl=False, err=True)
        sys.exit(error.exit_code)
    except click.Abort:
        _fail("interrupted", 1)
    except DecibanError as error:
        _fail(f"{type(error).__name__}: {_as_typed(str(error))}", 2)
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.errno == errno.EBADF and error.filename is None:
            _write_nowhere(sys.stdout)
            _fail("standard output is closed: redirect it to a file or a pipe", 1)
        _fail(f"{error.filename or 'output'}: {error.strerror or error}", 2 if error.errno in _NOT_OURS else 1)


def _near(typed: str, others: Iterable[str]) -> list[str]:
    """Options that are similar without their dashes, which all have in common.

    >>> _near("--memory", ["--key"]), _near("--fnmr", ["--fnmr-at", "--name"])
    ([], ['--fnmr-at'])
    """
    name = typed.lstrip("-")
    return [one for one in others if difflib.get_close_matches(name, [one.lstrip("-")], cutoff=0.6)]


def _as_typed(message: str) -> str:
    """Return an error message in terms of the options of the command."""
    from deciban.cli.options import in_options, options_in_file

    words = sys.argv[2:]
    path, named = options_in_file(words)
    command = _deciban.get_command(click.Context(_deciban), sys.argv[1]) if len(sys.argv) > 1 else None
    params = command.params if command else []
    offered = {name for one in params if isinstance(one, click.Option) for name in one.opts}
    offered -= {option(str(one.name)) for one in params if isinstance(one, click.Argument)}
    text = in_options(message, [*words, *named], offered)
    if (name := text.partition(": ")[0]) in named and name not in words:
        text = f"{text.rstrip('.')} ({path}: {name.lstrip('-')})."
    return _with_commands(text, sys.argv[1:])


def _with_commands(message: str, words: Sequence[str]) -> str:
    r"""Turn each line of a message that starts with an option into a whole command.

    >>> print(_with_commands("Say which:\n  --columns score=s", ["eval", "my scores.csv"]))
    Say which:
      deciban eval 'my scores.csv' --columns score=s
    """
    return "\n".join(
        f"  deciban {shlex.join(_without(words, line[2:]))} {line[2:]}" if line.startswith("  --") else line
        for line in message.split("\n")
    )


def _without(words: Sequence[str], way: str) -> list[str]:
    """Return the typed words without options that `way` sets to another value.

    >>> _without(["eval", "a", "--labels", "x", "-q", "--kind=classes"], "--labels y --kind two-class")
    ['eval', 'a', '-q']
    """
    try:
        offered = shlex.split(way)
    except ValueError:  # a sentence with an apostrophe, not a command
        return list(words)
    valued = {one for one, value in pairwise(offered) if one.startswith("--") and not value.startswith("--")}
    is_value = [False, *(word in valued for word in words)]
    return [one for one, skip in zip(words, is_value, strict=False) if not (skip or one.partition("=")[0] in valued)]


_NOT_OURS = {errno.ENOENT, errno.EACCES, errno.EPERM, errno.EISDIR, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP}
"""Errors due to a given path; a full disk, for example, is not among them."""


def _warn(message: Warning | str, category: type[Warning], *_where: object, **_more: object) -> None:
    """Print a deciban warning without its line of code; ignore warnings for programmers."""
    if issubclass(category, DecibanWarning):
        click.echo(f"warning: {one_line(str(message))}", err=True)


def _fail(message: str, code: int) -> None:
    give_way()
    try:
        click.echo(f"deciban: {lines(message)}", err=True)
    except BrokenPipeError:
        _write_nowhere(sys.stdout, sys.stderr)
    sys.exit(code)


def _open_closed_streams() -> None:
    """Open the null device for each closed standard stream (`2>&-`); otherwise a data file would get its number.

    Standard input is then empty, and messages are lost. Writing to standard output fails, as on a full disk.
    """
    for name, flags, mode in (("stdin", os.O_RDONLY, "r"), ("stdout", os.O_RDONLY, "w"), ("stderr", os.O_WRONLY, "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, flags), mode, encoding="utf-8"))


def _ignore_impossible_width() -> None:
    """Remove `COLUMNS` from the environment unless it is a positive number; Emacs and expect set it to 0."""
    width = os.environ.get("COLUMNS", "")
    if not (width.isascii() and width.isdigit() and int(width)):
        os.environ.pop("COLUMNS", None)


def _write_nowhere(*streams: TextIO) -> None:
    """Redirect closed streams to the null device, because the interpreter flushes them at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in streams:
        os.dup2(nowhere, stream.fileno())
