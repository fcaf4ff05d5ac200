"""What commands that train models do: train, write the model, apply it if asked, print what it is worth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deciban.cli.shared.envelope import Shown, print_json
from deciban.cli.shared.options import Asked, tell
from deciban.cli.shared.parsing import require_writable
from deciban.cli.shared.progress import working
from deciban.messages import as_objects
from deciban.tables.results import console
from deciban.tables.text import print_trained

if TYPE_CHECKING:
    from deciban._files import PathLike
    from deciban.io.source import TwoFiles
    from deciban.models.score_model import ScoreModel
    from deciban.workflows import Trained
    from deciban.workflows.options import Options


_READ_AGAIN = (
    *("format", "columns", "labels", "log10", "lr", "negate", "probabilities", "by_order", "ids"),
    *("classes", "posterior_prior", "detection_llr", "from_classes"),
)
"""How scores are read that the model is applied to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRequest:
    """What is to be trained on, and where everything goes.

    Attributes
    ----------
    scores : list of paths
    key : str or None
    output : str
        Where the model goes.
    cross_validate : dict, optional
        What to hold out, as arguments.
    llrs, to : str or None
        Where llrs go, and in which format.
    interval : bool, optional
        Whether the bounds of each llr are written beside it.
    write_as : {"loglik", "detection-llr"}
        Of many classes, what is written there.
    apply_to : list of str
        Other scores that they are of.
    apply_key : str or None
    quiet : bool
    shown : Shown
    extra : dict
        More arguments of `deciban.train_files`.
    """

    scores: list[PathLike | TwoFiles]
    key: str | None
    output: str
    cross_validate: dict[str, Any] | None = None
    llrs: str | None = None
    to: str | None = None
    interval: bool | None = None
    write_as: str = "loglik"
    apply_to: list[str] = field(default_factory=list)
    apply_key: str | None = None
    quiet: bool = False
    shown: Shown = field(default_factory=Shown)
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def files(self) -> dict[str, list[Any]]:
        """All files by role."""
        from deciban.workflows.quality import quality_paths

        return {
            "scores": [*self.scores],
            "key": [self.key],
            "quality": quality_paths(self.extra.get("quality")),
            "combine": quality_paths(self.extra.get("combine")),
            "other-scores": [*self.apply_to],
            "other-key": [self.apply_key],
            "other-quality": quality_paths(self.extra.get("test_quality")),
            "model": [self.output],
            "llrs": [self.llrs],
        }

    @property
    def groups(self) -> tuple[str, ...] | None:
        """By whose names trials are held out together; None if none are."""
        from deciban.workflows.key_columns import HoldOut

        if not self.cross_validate and not self.extra.get("select"):
            return None
        return HoldOut((self.cross_validate or {}).get("cross_validate", 2)).groups

    @property
    def applied_to(self) -> list[PathLike | TwoFiles]:
        """The scores that llrs are of."""
        return [*self.apply_to] or self.scores

    def check(self, more: Sequence[PathLike] = ()) -> None:
        """Refuse outputs that would mix, are inputs, or have nowhere to go; before anything is read.

        Parameters
        ----------
        more : sequence of paths
            What else is read.

        Raises
        ------
        click.UsageError
        InputError
        """
        from deciban.io.source import require_one_stream, single_files
        from deciban.io.writing import refuse_overwriting
        from deciban.workflows.quality import quality_paths

        llrs = self.llrs if self.llrs is None or Path(self.llrs).is_dir() else self.llrs.rstrip("/")  # one may be made
        outputs = [self.output, *([llrs] if llrs else [])]
        for output in outputs:
            require_writable(output)
        if [*outputs, "-" if self.shown.as_json else ""].count("-") > 1:
            raise click.UsageError("only one of the model, the llrs and --json can go to standard output.")
        of_output = self.to is not None or self.write_as != "loglik" or bool(self.interval)
        if self.llrs is None and (of_output or (self.apply_to and self.apply_key is None)):
            words = "--apply-to, --to, --interval and --as say what to write to --llrs OUT. Name it, or leave them out."
            raise click.UsageError(words)
        if self.interval and self.cross_validate and not self.apply_to:
            raise click.UsageError(
                "--interval: cross-validated llrs are of other models than that which is saved, and have no bounds. "
                "Leave --interval or --cross-validate out, or write llrs of other trials (--apply-to)."
            )
        rereads = "-" in (self.apply_to or single_files(self.scores)) and (
            self.apply_key is not None or not self.apply_to
        )
        if self.llrs is not None and rereads:
            raise click.UsageError(
                "standard input (-) is read once, for training. Put the scores into a file for --llrs."
            )
        named = [self.extra.get(name) for name in ("quality", "test_quality", "combine")]
        files = [path for one in named for path in quality_paths(one)]
        read = [*single_files(self.scores), self.key, *self.apply_to, self.apply_key, *files, *more]
        require_one_stream(read)
        refuse_overwriting(outputs, read)


def train(request: TrainingRequest, asked: Asked, model_of: Callable[[Options], ScoreModel]) -> None:
    """Train a model, write it and what it makes of scores, and print what it is worth.

    Parameters
    ----------
    request : TrainingRequest
    asked : Asked
    model_of : function
        What to train, once it is known what the scores are about.
    """
    from deciban.io.writing import plainly_opened, target_name
    from deciban.models.model import to_text
    from deciban.workflows import train_files
    from deciban.workflows.apply import require_writable

    request.check(asked.options.files)
    if request.interval and not asked.options.how_sure.intervals:
        raise click.UsageError("--interval: bounds follow from how sure training is. Leave --no-intervals out.")
    files = asked.opened(request.scores, request.key, groups=request.groups)
    options = asked.options_for(files)
    in_pieces = not files.is_at_hand
    if in_pieces and request.cross_validate and request.llrs is not None and not request.apply_to:
        raise click.UsageError(
            "--llrs: cross-validated llrs are written of what fits in memory, and these scores are read in pieces. "
            "Allow more memory (--memory), leave --cross-validate out, or write llrs of other trials (--apply-to)."
        )
    if request.llrs is not None and (in_pieces or request.apply_to):  # before much time is spent
        require_writable(request.applied_to, request.llrs, options, to=request.to)
    options = replace(options, reading=options.reading.with_ids_read())
    model = model_of(options)
    arguments = {**options.arguments, **(request.cross_validate or {}), **request.extra}
    if request.apply_key is not None:
        arguments |= {"test_scores": request.apply_to, "test_key": request.apply_key}
    with working() as tell_step:
        done = train_files(files, None, model, progress=tell_step, **arguments)
        messages: list[object] = list(done.messages)
        with plainly_opened(request.output) as stream:  # before anything else is written: it may be impossible
            stream.write(to_text(done.model).encode())
            if request.llrs and not in_pieces:
                again = options
                if not request.apply_to:
                    again = replace(options, reading=files.as_recognized(options.reading))
                messages += [one for one in _write_llrs(request, done, again, tell_step) if one not in messages]
        if request.llrs and in_pieces:  # which takes long, and the model is worth keeping if it fails
            messages += [one for one in _write_llrs(request, done, options, tell_step) if one not in messages]
    tell([*messages, f"wrote {target_name(request.output)}"], quiet=request.quiet)
    if request.shown.as_json:
        places = {**request.files, "units": tuple(options.how_sure.files)}
        print_json({**done.to_dict(), "messages": as_objects(messages)}, files=places)
        return
    print_trained(done, console(request.shown.table_style, stderr="-" in (request.output, request.llrs)))


def _write_llrs(request: TrainingRequest, done: Trained, options: Options, tell_step: Any) -> list[object]:
    from deciban.workflows import apply_files

    read = {name: getattr(options.reading, name) for name in _READ_AGAIN}
    if done.model.is_fusion:
        read |= {name: getattr(options.reading, name) for name in ("missing", "duplicates")}
    if request.key is None and options.reading.renaming is not None:  # known llrs are called as the scores are
        read["ids"] = options.reading.renaming.for_scores_alone()
    if done.renamed is not None:
        read["names"] = done.renamed
    if options.scale.memory is not None:
        read["memory"] = options.scale.memory
    known = None if request.apply_to else done.cross_validated_scores
    source = done.files(request.applied_to)
    quality = request.extra.get("test_quality") if request.apply_to else None
    how: Any = {"quality": quality or request.extra.get("quality"), "to": request.to, "known": known}
    how["write_as"] = request.write_as
    if request.interval:
        how |= {"interval": True, "level": options.how_sure.level}
    return list(apply_files(done.model, source, str(request.llrs), progress=tell_step, **how, **read))
