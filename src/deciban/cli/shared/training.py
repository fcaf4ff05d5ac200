"""What commands that train models do: train, write the model, apply it if asked, print what it is worth."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import click

from deciban.cli.shared.outputs import check_outputs, require_writable
from deciban.cli.shared.parsing import parse_cross_validation
from deciban.cli.shared.speech import tell, working
from deciban.cli.shared.trained_tables import print_trained

if TYPE_CHECKING:
    from deciban.models.score_model import ScoreModel
    from deciban.workflows import Trained
    from deciban.workflows.inputs import ScoreFiles
    from deciban.workflows.options import Options


_READ_AGAIN = ("format", "columns", "labels", "log10", "by_order", "classes", "posterior_prior", "detection_llr")
"""How scores are read that the model is applied to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRequest:
    """What is to be trained on, and where everything goes.

    Attributes
    ----------
    scores : list of str
    key : str or None
    output : str
        Where the model goes.
    cross_validate : str or None
    llrs, to : str or None
        Where llrs go, and in which format.
    apply_to : list of str
        Other scores that they are of.
    apply_key : str or None
    quiet, as_json : bool
    extra : dict
        More arguments of `deciban.train_files`.
    """

    scores: list[str]
    key: str | None
    output: str
    cross_validate: str | None = None
    llrs: str | None = None
    to: str | None = None
    apply_to: list[str] = field(default_factory=list)
    apply_key: str | None = None
    quiet: bool = False
    as_json: bool = False
    extra: dict[str, Any] = field(default_factory=dict)

    def check(self) -> None:
        """Refuse outputs that would mix, are inputs, or have nowhere to go; before anything is read.

        Raises
        ------
        click.UsageError
        InputError
        """
        from deciban.io.source import require_one_stream
        from deciban.io.writing import refuse_overwriting
        from deciban.workflows.quality import quality_paths

        for output in (self.output, *([self.llrs] if self.llrs else [])):
            require_writable(output)
        check_outputs(
            self.output,
            self.llrs,
            for_llrs=self.to is not None or (bool(self.apply_to) and self.apply_key is None),
            rereads_stdin="-" in (self.apply_to or self.scores) and (self.apply_key is not None or not self.apply_to),
            as_json=self.as_json,
        )
        named = [self.extra.get(name) for name in ("quality", "test_quality", "combine")]
        files = [path for one in named for path in quality_paths(one)]
        outputs = [self.output, *([self.llrs] if self.llrs else [])]
        read = [*self.scores, self.key, *self.apply_to, self.apply_key, *files]
        require_one_stream(read)
        refuse_overwriting(outputs, read)


def train(request: TrainingRequest, model: ScoreModel, options: Options, files: ScoreFiles) -> None:
    """Train a model, write it and what it makes of scores, and print what it is worth.

    Parameters
    ----------
    request : TrainingRequest
    model : ScoreModel
        What to train.
    options : Options
    files : ScoreFiles
        Scores and key of the request, opened.
    """
    from deciban.io.writing import plainly_opened, target_name
    from deciban.models.model import to_text
    from deciban.workflows import train_files

    arguments = {**_arguments(options), **parse_cross_validation(request.cross_validate), **request.extra}
    if request.apply_key is not None:
        arguments |= {"test_scores": request.apply_to, "test_key": request.apply_key}
    with working() as say:
        done = train_files(files, None, model, progress=say, **arguments)
        messages: list[object] = list(done.messages)
        with plainly_opened(request.output) as stream:  # before anything else is written: it may be impossible
            stream.write(to_text(done.model).encode())
            if request.llrs:
                messages += _write_llrs(request, done, options, say)
    tell([*messages, f"wrote {target_name(request.output)}"], quiet=request.quiet)
    if request.as_json:
        click.echo(done.to_json())
        return
    from deciban.cli.shared.tables import console

    print_trained(done, console(stderr="-" in (request.output, request.llrs)))


def _arguments(options: Options) -> dict[str, Any]:
    """Options as keyword arguments of functions of the library."""
    reading = {one.name: getattr(options.reading, one.name) for one in fields(options.reading)}
    return {**reading, **options.figures.given(), "kind": options.kind}


def _write_llrs(request: TrainingRequest, done: Trained, options: Options, say: Any) -> list[object]:
    from deciban.workflows import apply_files

    read = {name: getattr(options.reading, name) for name in _READ_AGAIN}
    if done.model.is_fusion:
        read |= {name: getattr(options.reading, name) for name in ("missing", "duplicates")}
    known = None if request.apply_to else done.cross_validated_scores
    source = done.files(request.apply_to or request.scores)
    quality = request.extra.get("test_quality") if request.apply_to else None
    how: Any = {"quality": quality or request.extra.get("quality"), "to": request.to, "known": known}
    return list(apply_files(done.model, source, str(request.llrs), progress=say, **how, **read))
