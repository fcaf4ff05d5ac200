"""What a trained model makes of the systems of inputs, whether these are whole files or pieces of some."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import starmap, zip_longest
from operator import add
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from deciban._arrow import compute as pc
from deciban._arrow import to_numpy
from deciban._files import PathLike
from deciban._version import __version__
from deciban.analysis.data import SystemsData
from deciban.errors import DecibanError, KeyMismatchError
from deciban.io.columns.columnar import table_of
from deciban.io.contents import Contents
from deciban.io.formats import by_name
from deciban.io.reader import Input
from deciban.io.shards.contents import ReadAs
from deciban.io.shards.files import RowTable, stamp_of
from deciban.io.shards.truth import Range
from deciban.messages import Message, as_message, counted
from deciban.models.mapped import naming_scores
from deciban.models.model import to_text
from deciban.models.score_model import ScoreModel
from deciban.models.uncertainty import Bounds
from deciban.trials import Trials
from deciban.trials.lists import ROW
from deciban.types import AnyArray
from deciban.workflows.kinds import AnyKind, AnyScores, kind_called
from deciban.workflows.kinds.base import named_apart
from deciban.workflows.kinds.looks import Looks, application_messages
from deciban.workflows.kinds.trained_units import units_of
from deciban.workflows.model_files import order_of_training, ways_message
from deciban.workflows.options import Reading
from deciban.workflows.quality import Measured, measures_of_piece, quality_messages
from deciban.workflows.system_names import known_by, renamed

Transform: TypeAlias = Callable[[Sequence[Any]], tuple[AnyArray, Bounds | None]]

"""Makes llrs, and maybe their bounds, of systems on the same trials."""


@dataclass(frozen=True, slots=True, eq=False)
class GivenSystems:
    """The systems of some inputs.

    Attributes
    ----------
    systems : list of Scores or ClassScores
        All of them, as logarithms.
    order : list of int
        Those that the model takes, in its order.
    notes : list of Message
        What is to be said about the order.
    """

    systems: list[Any]
    order: list[int]
    notes: list[Message]


def given_systems(model: ScoreModel, kind: AnyKind, inputs: Sequence[Input], reading: Reading) -> GivenSystems:
    """Find the systems that a model takes among those of some inputs.

    Raises
    ------
    FormatError, InputError
        If they are not those of the model, or not in units that are known.
    """
    given = [system for one in inputs for system in kind.systems_of(one.contents, reading)]
    systems, renaming = renamed(named_apart(given), reading.names)
    systems = kind.as_logarithms(systems, reading)
    if not model.is_fusion and len(systems) > 1:
        _ = inputs[0].contents.scores  # which says how to choose one of several
    order, notes = list(range(len(systems))), list[Message]()
    if model.is_fusion:
        trained = () if model.training_ is None else model.training_.systems
        names = known_by([system.name for system in systems], renaming, trained)
        order, notes = order_of_training(names, trained, model.n_systems_)
    return GivenSystems(systems, order, notes)


def result_of(
    model: ScoreModel, kind: AnyKind, systems: Sequence[Any], first: Any, reading: Reading, transform: Transform
) -> tuple[AnyScores, Bounds | None, list[Message]]:
    """What a model makes of systems on the same trials.

    Parameters
    ----------
    model : ScoreModel
    kind : AnyKind
    systems : sequence of Scores or ClassScores
        In the order of the model.
    first : Scores or ClassScores
        In whose place the result is written.
    reading : Reading
    transform : function

    Returns
    -------
    Scores or ClassScores
        In nats, with the classes in the order of the first.
    pair of arrays, or None
        Their bounds.
    list of Message
    """
    columns, notes = list[Any](), list[Message]()
    kind.require_model(model, reading, kind.classes_of(systems[0]), units_of(systems))
    for system in systems:
        ordered, more = kind.matched(model, kind.in_nats(system, reading))
        columns.append(ordered)
        notes += [message for message in more if message not in notes]
    values, bounds = transform(columns)
    classes, trained_classes = kind.classes_of(first), kind.classes_of(columns[0])
    if classes != trained_classes and set(classes) == set(trained_classes):
        values = values[:, [trained_classes.index(name) for name in classes]]
    return kind.with_values(first, values, "fusion" if model.is_fusion else first.name), bounds, notes


@dataclass(frozen=True, eq=False)
class ToApply:
    """What is applied, and what is written.

    Attributes
    ----------
    model : ScoreModel
    reading : Reading
    measured : mapping, optional
        Quality measures.
    quality : sequence of paths
        Their files.
    level : float, optional
        Of intervals that are written.
    write_as : str
    """

    model: ScoreModel
    reading: Reading
    measured: Measured | None = None
    quality: Sequence[PathLike] = ()
    level: float | None = None
    write_as: str = "loglik"

    @property
    def kind(self) -> AnyKind:
        """What the scores are about."""
        return kind_called(self.model.scores_kind)

    @property
    def question(self) -> str:
        """By what is known again that another run did the same."""
        asked = [__version__, to_text(self.model), repr(self.reading), self.level, self.write_as]
        return digest([*asked, *(stamped(path) for path in self.quality)])


@dataclass
class Tally:
    """What is to be said about all pieces together."""

    n_trials: int = 0
    ways: Counter[tuple[int, ...]] = field(default_factory=Counter)
    n_lacking: int = 0
    sides: set[str] = field(default_factory=set)
    looks: list[Looks] = field(default_factory=list)
    notes: dict[Message, None] = field(default_factory=dict)
    trials: Trials | None = None

    def add(self, other: Tally) -> None:
        """Add that of a piece."""
        self.n_trials += other.n_trials
        self.ways.update(other.ways)
        self.n_lacking += other.n_lacking
        self.sides |= other.sides
        self.looks = list(starmap(add, zip_longest(self.looks, other.looks, fillvalue=Looks())))
        self.notes |= other.notes
        self.trials = self.trials or other.trials


@dataclass(frozen=True)
class Applying:
    """Makes the table that is written of a piece.

    Attributes
    ----------
    what : ToApply
    readers : sequence of sequence of ReadAs
        Of every group of inputs that are about the same rows.
    """

    what: ToApply
    readers: Sequence[Sequence[ReadAs]]

    def __call__(self, job: tuple[int, Sequence[Sequence[Range]]]) -> tuple[pa.Table, Tally]:
        """The table of a piece: of which inputs it is, and the rows of each of these."""
        group, ranges = job
        name = ranges[0][0].rows.name
        readers = self.readers[group]
        held = [one.contents(own, own[0].rows.name) for one, own in zip(readers, ranges, strict=True)]
        with naming(name):
            return _applied(self.what, held, readers)


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Errors name the piece that they are about."""
    try:
        yield
    except DecibanError as error:
        message = str(error)
        raise type(error)(message if name in message else f"{name}: {message}") from error


def _applied(what: ToApply, held: Sequence[Contents], readers: Sequence[ReadAs]) -> tuple[pa.Table, Tally]:
    model, kind, tally = what.model, what.kind, Tally()
    inputs = [Input(one, by_name("parquet")) for one in held]
    given = given_systems(model, kind, inputs, what.reading)
    systems, first = [given.systems[k] for k in given.order], given.systems[0]
    if not what.reading.by_order:
        for one in held[1:]:
            _require_same_names(_trials(held[0]), _trials(one))
    trials = first.trials
    systems = [replace(one, trials=trials) for one in systems]
    sides = model.quality_arguments or None
    quality: dict[str, Any] = {}
    if what.measured is not None:
        quality, lacking = measures_of_piece(what.measured, trials, sides=sides)
        unknown = [name for name in sides or () if name not in quality]  # here; other pieces may know some
        tally.n_lacking, tally.sides = len(trials) if unknown else int(np.count_nonzero(lacking)), set(quality)
        quality |= {name: _unknown(what.measured, name, len(trials)) for name in unknown}

    def transform(columns: Sequence[Any]) -> tuple[Any, Any]:
        data = SystemsData(kind.stacked(columns), quality)
        if model.of_subsets:
            tally.ways.update(dict(model.subsets_of(data.scores)))  # type: ignore[attr-defined]
        with naming_scores(data.scores, [one.name for one in columns], trials):
            return data.transform(model), None if what.level is None else data.interval(model, what.level)

    result, bounds, notes = result_of(model, kind, systems, first, what.reading, transform)
    contents, more = kind.rescored(held[0], result, write_as=what.write_as, interval=bounds)
    table = table_of(contents)
    own = [as_message(note, one.table.name) for one, part in zip(readers, held, strict=True) for note in part.notes]
    units = kind.unit_messages(given.systems, what.reading)
    tally.notes = dict.fromkeys([*own, *given.notes, *notes, *units, *more])
    tally.looks = [reduce(add, map(Looks.of, kind.systems_of(one.contents, what.reading)), Looks()) for one in inputs]
    tally.n_trials, tally.trials = len(trials), trials if len(trials) else None
    return table, tally


def _trials(held: Contents) -> Trials:
    assert held.index is not None  # noqa: S101  # it holds scores
    return held.index.trials


def _unknown(measured: Measured, argument: str, n: int) -> Any:
    """Measures of trials of which nothing is known."""
    side: Any = argument.removesuffix("_quality")
    return np.full((n, len(measured[side].measures) if side in measured else 1), np.nan)


def _require_same_names(one: Trials, other: Trials) -> None:
    """Refuse rows that are not about the same trials.

    Raises
    ------
    KeyMismatchError
    """
    if one.sides == ROW or one.sides != other.sides:
        raise KeyMismatchError(
            f"{one.origin.name} and {other.origin.name}: do not name their trials in the same way, and can only be "
            "matched by their order: by_order=True (--by-order)."
        )
    for side in one.sides:
        same = to_numpy(pc.equal(one.column(side).cast(pa.string()), other.column(side).cast(pa.string())))
        if not same.all():
            row = int(np.argmin(same))
            raise KeyMismatchError(
                f"{one.origin.where(row)}: trial {one.name_of(row)}, where {other.origin.where(row)} has "
                f"{other.name_of(row)}. What does not fit in memory is fused row by row: write the files in the same "
                "order first, or allow more memory (memory=, --memory)."
            )


def said(what: ToApply, tally: Tally, tables: Sequence[RowTable]) -> Iterator[Message]:
    """What is to be said about some inputs."""
    kind, model = what.kind, what.model
    for one in tables:
        yield Message("read", one.name, f"{one.reading}   {counted(one.n_rows, kind.noun)}")
    yield from tally.notes
    if len(tables) > 1:
        yield from kind.by_order_messages(what.reading)
        names = "" if what.reading.by_order else ", which have the same names"
        yield Message("join", "", f"{counted(tables[0].n_rows, kind.noun)}: rows that stand in the same place{names}")
    for subset, n in tally.ways.items():
        yield ways_message(n, subset, model.trained_systems)
    if what.measured is not None and tally.trials is not None:
        sides = model.quality_arguments or None
        yield from quality_messages(what.measured, tally.trials, sides, tally.sides, tally.n_lacking, tally.n_trials)
    yield from application_messages({one.name: looks for one, looks in zip(tables, tally.looks, strict=False)})


def stamped(path: PathLike) -> str:
    """By what a file is known again; standard input never is."""
    return secrets.token_hex(8) if str(path) == "-" else f"{Path(path).resolve()} {stamp_of(path)}"


def digest(parts: Sequence[object]) -> str:
    """By what values are known again."""
    return hashlib.sha256(json.dumps([str(one) for one in parts]).encode()).hexdigest()
