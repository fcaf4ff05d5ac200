"""Other trials than those of training: opened before training, evaluated after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from deciban._files import PathLike
from deciban.errors import InputError
from deciban.io.source import single_files
from deciban.messages import WARNING, Message
from deciban.models.score_model import ScoreModel
from deciban.trials.sources import ShardSource
from deciban.types import Progress
from deciban.workflows.evaluating import opened
from deciban.workflows.inputs import paths_of
from deciban.workflows.kinds import kind_called
from deciban.workflows.measured import with_quality
from deciban.workflows.model_files import order_of_training, refuse_twice, require_one_system
from deciban.workflows.modelled import Scored, in_class_order
from deciban.workflows.options import Options
from deciban.workflows.quality import Measured
from deciban.workflows.sources import is_object
from deciban.workflows.training_rows import Compared
from deciban.workflows.units_of_sources import units_of_source


@dataclass(frozen=True, slots=True, eq=False)
class Others:
    """Other trials than those of training.

    Attributes
    ----------
    source : ShardSource
    options : Options
        By which they are evaluated.
    measured : mapping of side to SegmentQuality, optional
        Their quality measures.
    """

    source: ShardSource
    options: Options
    measured: Measured | None = None


def require_scores_of(test_scores: Any, test_key: Any) -> None:
    """Refuse a key of other trials without their scores.

    Raises
    ------
    InputError
    """
    if test_scores is None and test_key is not None:
        raise InputError(
            "test_scores: none given, but test_key is, their key. Name score files of the same systems "
            "(test_scores=, --apply-to), or leave the key out."
        )


def opened_others(
    scores: Any, key: Any, options: Options, source: ShardSource, model: ScoreModel, progress: Progress | None
) -> Others:
    """Open other trials of the systems of a source; what names weights or units need not be there.

    Parameters
    ----------
    scores : paths or objects
    key : path, object or None
    options : Options
        Of training.
    source : ShardSource
        The trials of training.
    model : ScoreModel
        If it takes several systems, their names may say another order.
    progress : function, optional

    Raises
    ------
    FormatError, InputError, OSError
        As in `deciban.workflows.sources.open_source`; or if they are scores of other systems or classes.
    """
    given = list(scores) if isinstance(scores, list | tuple) else [scores]
    paths: Sequence[PathLike] = [one for one in source.paths if not is_object(one)]
    named = given if any(map(is_object, (*given, key))) else paths_of(given, also=(*paths, key), name="test_scores")
    asked = options.lenient().lenient_on_units().of_systems(source.renamed)
    files = opened(named, key, asked).in_order_of(source.classes)
    refuse_twice(single_files(files.score_paths))
    others = _with_what_it_has(files.as_source(asked, progress), options)
    found = others.source
    if bool(found.classes) != bool(source.classes) or set(found.classes) != set(source.classes):
        raise InputError(
            f"test_scores: {found.name} has {_classes(found)}, and the trials of training have {_classes(source)}. "
            "Give scores of the same classes."
        )
    if model.is_fusion:
        order_of_training(found.systems, source.systems, len(source.systems))
    return others


def _classes(source: ShardSource) -> str:
    return f"classes {', '.join(source.classes)}" if source.classes else "two classes"


def _with_what_it_has(found: ShardSource, options: Options) -> Others:
    """Other trials, evaluated without the weights or units that they lack; those in memory say so themselves."""
    own = options
    if found.batch is not None:
        return Others(found, options.lenient_on_units())
    notes, words = list[Message](), f"{found.name}: no {{}} as of the trials of training; these trials {{}}"
    if options.reading.weights is not None and not found.has_weights:
        own = replace(own, reading=replace(own.reading, weights=None))
        notes.append(Message(WARNING, "", words.format("weights", "count alike")))
    if options.how_sure.units is not None and not found.has_units:
        own = replace(own, how_sure=replace(own.how_sure, units=None, intervals=False, bootstrap=0, optimism=None))
        notes.append(Message(WARNING, "", words.format("units", "have no intervals")))
    return Others(replace(found, messages=(*found.messages, *notes)), own)


def others_compared(model: ScoreModel | None, others: Others, every: ShardSource, taken: Sequence[int]) -> Compared:
    """Put other trials in the order of training, to be evaluated.

    Parameters
    ----------
    model : ScoreModel or None
        Trained on some of the systems; None where models are still to be trained.
    others : Others
    every : ShardSource
        The trials of training, with all systems.
    taken : sequence of int
        Which of these systems are wanted.

    Raises
    ------
    InputError
        If systems, classes or quality measures are not those of training.
    """
    source, options, quality = others.source, others.options, others.measured
    kind, sides = kind_called("classes" if source.classes else "two-class"), every.quality
    if model is not None:
        sides = model.quality_arguments
        require_one_system(model, source)
    if quality is not None:
        source = with_quality(source, quality, options.scale, sides=sides or None)
    if lacking := [name for name in sides if name not in source.quality]:
        named = " or ".join(name.removesuffix("_quality") for name in lacking)
        raise InputError(
            f"test_quality: no quality measures of {named} for any trial of {source.name}, and the fusion was trained "
            "with some. Name their file (test_quality=, --apply-quality)."
        )
    with options.scale.engine() as engine:
        engine.make_room(source, options.scale.n_bytes)
        units = units_of_source(source, engine, options.how_sure, kind)
    scored, told = Scored.of(units.source, options), list[Message]()
    if model is None or model.is_fusion:
        order, told = order_of_training(source.systems, every.systems, len(every.systems))
        scored = scored.choose([order[k] for k in taken], options)
    if model is None:
        return Compared(scored, options, units)
    kind.require_model(model, options.reading, source.classes, scored.source.units)
    own, more = in_class_order(model, scored.source)
    return Compared(replace(scored, source=own), options, units, source.classes, (*told, *more))
