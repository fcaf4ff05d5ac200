"""What the user asked about scores: options of the library once it is known whether there are two classes or many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

if TYPE_CHECKING:
    from deciban.evaluation import Preset
    from deciban.workflows.inputs import ScoreFiles
    from deciban.workflows.options import Options

_OF_MANY = (
    "classes",
    "posterior_prior",
    "detection_llr",
    "prior",
    "p_targets",
    "out_of_set",
    "subsets",
    "pairs",
    "groups",
)
_OF_TWO = ("dcf", "labels")
"""Options of all commands that mean nothing for the other kind."""

_WORDS = {"p_targets": "--p-target", "groups": "--group", "write_as": "--as"}


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user asked about scores.

    Attributes
    ----------
    options : Options
        Reading and figures, of both kinds until it is known which of them it is about.
    preset : Preset or None
        Of two or of many classes; the figures of ``options`` are those of it.
    """

    options: Options
    preset: Preset | None = None

    def files(self, scores: Sequence[str], key: str | None) -> ScoreFiles:
        """Score files and a key, opened once."""
        from deciban.workflows.inputs import ScoreFiles

        return ScoreFiles.of(list(scores), key, self.options.reading)

    def about(self, files: ScoreFiles, *, of_two: Sequence[str] = ()) -> Options:
        """Decide what the scores are about, and refuse options that would be overlooked.

        Parameters
        ----------
        files : ScoreFiles
        of_two : sequence of str
            More options of this command that are for two classes.

        Raises
        ------
        click.UsageError
        InputError
            If nothing says which it is.
        """
        from deciban.workflows.kinds import kind_of

        kind = kind_of(files.scores[0], files.key, self.options).name
        many = kind == "classes"
        refuse_options((*_OF_TWO, *of_two) if many else _OF_MANY, of_many=many)
        if self.preset is not None and self.preset.kind != kind:
            _refuse_preset(self.preset, kind)
        figures = self.options.figures
        if many:
            figures = replace(figures, operating_points=None)
        return replace(self.options, kind=kind, figures=figures)


def _refuse_preset(given: Preset, kind: str) -> None:
    """Refuse a preset of the other kind of scores, and name those that fit."""
    from deciban.evaluation import presets

    fitting = ", ".join(name for name, one in presets().items() if one.kind == kind)
    held, other = ("many classes", "two classes") if kind == "classes" else ("two classes", "many classes")
    raise click.UsageError(
        f"--preset {given.name} is for {other}, and the scores are of {held} (if they are not, say --kind "
        f"{given.kind}). Presets for {held}: {fitting}."
    )


def refuse_options(names: Sequence[str], *, of_many: bool) -> None:
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
        has_kind = any(parameter.name == "kind" for parameter in context.command.params)
        held, other = ("many classes", "two classes") if of_many else ("two classes", "many classes")
        if has_kind and of_many:
            held += " (for two, say --kind two-class)"
        elif has_kind:
            other += " (say --kind classes if they are)"
        raise click.UsageError(f"the scores are of {held}, and {', '.join(given)} is for {other}.")
