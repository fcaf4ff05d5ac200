"""Other trials than those of training, read in pieces: opened before training, evaluated after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from deciban.errors import InputError
from deciban.io.shards.pieces import ShardSource
from deciban.io.source import PathLike
from deciban.messages import WARNING, Message
from deciban.models.score_model import ScoreModel
from deciban.workflows.inputs import paths_of
from deciban.workflows.model_files import order_of_training
from deciban.workflows.model_in_pieces import made_of
from deciban.workflows.options import Options
from deciban.workflows.rows_in_pieces import Compared
from deciban.workflows.sources import is_object, open_source


def open_others(
    scores: Any, key: Any, options: Options, source: ShardSource, *, is_fusion: bool
) -> tuple[ShardSource, Options]:
    """Open other trials of the systems of a source; what names weights or units need not be there.

    Parameters
    ----------
    scores : paths or objects
    key : path, object or None
    options : Options
        Of training.
    source : ShardSource
        The trials of training.
    is_fusion : bool
        Whether it takes several systems, whose names may say another order.

    Returns
    -------
    ShardSource
    Options
        By which they are evaluated.

    Raises
    ------
    FormatError, InputError, OSError
        As in `deciban.workflows.sources.open_source`; or if they are scores of other systems or classes.
    """
    given = list(scores) if isinstance(scores, list | tuple) else [scores]
    paths: Sequence[PathLike] = [one for one in source.paths if not is_object(one)]
    named = given if any(map(is_object, (*given, key))) else paths_of(given, also=(*paths, key), name="test_scores")
    found, own = _opened(named, key, options)
    if bool(found.classes) != bool(source.classes) or set(found.classes) != set(source.classes):
        raise InputError(
            f"test_scores: {found.name} has {_classes(found)}, and the trials of training have {_classes(source)}. "
            "Give scores of the same classes."
        )
    if is_fusion:
        order_of_training(found.systems, source.systems, len(source.systems))
    return found, own


def _classes(source: ShardSource) -> str:
    return f"classes {', '.join(source.classes)}" if source.classes else "two classes"


def _opened(scores: Sequence[Any], key: Any, options: Options) -> tuple[ShardSource, Options]:
    """Open them, without the weights or units that they lack."""
    found, own = open_source(scores, key, options.lenient().lenient_on_units()), options
    notes, words = list[Message](), f"{found.name}: no {{}} as of the trials of training; these trials {{}}"
    if options.reading.weights is not None and not found.has_weights:
        own = replace(own, reading=replace(own.reading, weights=None))
        notes.append(Message(WARNING, "", words.format("weights", "count alike")))
    if options.how_sure.units is not None and not found.has_units:
        own = replace(own, how_sure=replace(own.how_sure, units=None, intervals=False, bootstrap=0, optimism=None))
        notes.append(Message(WARNING, "", words.format("units", "have no intervals")))
    return replace(found, messages=(*found.messages, *notes)), own


def others_compared(model: ScoreModel, others: ShardSource, options: Options) -> Compared:
    """Put other trials in the order of training, to be evaluated.

    Parameters
    ----------
    model : ScoreModel
        Trained.
    others : ShardSource
    options : Options
        By which they are evaluated.

    Raises
    ------
    InputError
        If systems, classes or quality measures are not those of training.
    """
    if lacking := [name for name in model.quality_arguments if name not in others.quality]:
        sides = " or ".join(name.removesuffix("_quality") for name in lacking)
        raise InputError(
            f"test_quality: no quality measures of {sides} for any trial of {others.name}, and the fusion was trained "
            "with some. Name their file (test_quality=, --apply-quality)."
        )
    known = made_of(model, others, options)
    return Compared(known.trained, options, classes=others.classes, messages=known.messages)
