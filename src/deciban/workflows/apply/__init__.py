"""Trained models applied to score files, as a whole or batch by batch into Parquet."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from deciban import errors
from deciban._files import Unfinished, atomic_write, require_free, whole_folder
from deciban.calibration.normalization import normalize
from deciban.core.resampling.intervals import LEVEL, checked_level
from deciban.errors import FormatError, InputError, KeyMismatchError, Message, counted, option, refuse, teller
from deciban.io.columns.columnar import TableRules
from deciban.io.columns.headers import Columns
from deciban.io.columns.values import Rows, RowTable
from deciban.io.formats import by_name, for_ending
from deciban.io.partitions.files import table_files
from deciban.io.partitions.layout import cut
from deciban.io.partitions.matrix_files import is_matrix_file, is_zarr
from deciban.io.partitions.meaning import BatchReading
from deciban.io.partitions.opening import opened_input
from deciban.io.partitions.writing import TableWriter, in_order
from deciban.io.reader import Input, read_input, read_scores
from deciban.io.recognition import memory_of
from deciban.io.rewrite import write_rescored
from deciban.io.source import TwoFiles, require_one_stream, single_files, unpacked_name
from deciban.io.units import require_class_units
from deciban.io.writing import refuse_overwriting, target_name
from deciban.memory import memory_error
from deciban.models.score_model import ScoreModel
from deciban.trials.lists import Lookup
from deciban.types import AnyArray, PathLike, Progress
from deciban.workflows import model_files
from deciban.workflows.apply import systems
from deciban.workflows.kinds import AnyKind, AnyScores, Form, kind_called
from deciban.workflows.options import Options, Reading, Scale, UncertaintyOptions
from deciban.workflows.reading.inputs import Paths, ScoreFiles, paths_of
from deciban.workflows.reading.quality import QualityFiles, quality_paths, read_measures


@dataclass(frozen=True)
class OutputPart:
    """An output file.

    Attributes
    ----------
    name : str
        Path in the output folder.
    partitions : tuple of tuple of tuple of Rows
        For every batch, the rows of each input.
    group : int
        Index of the group of inputs.
    made_of : str
        Fingerprint of the inputs and options.
    """

    name: str
    partitions: tuple[tuple[tuple[Rows, ...], ...], ...]
    group: int
    made_of: str


def is_for_folder(paths: Sequence[PathLike | TwoFiles], out: PathLike, scale: Scale, needed: int) -> bool:
    """Return True if inputs are written batch by batch: because of their size, or from folder to folder.

    Parameters
    ----------
    paths : sequence of paths
    out : path
    scale : Scale
    needed : int
        Bytes needed to read the inputs as a whole.

    Raises
    ------
    InputError
        If the inputs do not fit in the given memory, and the output is not a folder.
    """
    is_file = _names_a_file(out)
    if needed > scale.n_bytes and not any(isinstance(one, TwoFiles) for one in paths):
        is_parquet = _is_parquet(out)
        if is_file and not is_parquet and scale.memory is not None:
            raise _no_folder(out)
        return not is_file or is_parquet
    one = paths[0]
    if len(paths) > 1 or isinstance(one, TwoFiles) or is_file:
        return False
    return Path(one).is_dir() and not is_zarr(one)


def _names_a_file(out: PathLike) -> bool:
    """Return True if the output is a single file."""
    return not str(out).endswith(("/", os.sep)) and (
        str(out) == "-" or Path(out).is_file() or Path(out).suffix != "" or for_ending(target_name(out)) is not None
    )


def _is_parquet(out: PathLike) -> bool:
    """Return True if the output is one Parquet file."""
    result = for_ending(target_name(out))
    return str(out) != "-" and _names_a_file(out) and result is not None and result.name == "parquet"


def _no_folder(out: PathLike) -> InputError:
    what = f"{target_name(out)}: is not a Parquet file or a folder, but scores that do not fit in memory need one"
    return memory_error(what, way="name a folder or a Parquet file (-o llrs/, -o llrs.parquet)")


def require_llrs_writable(
    paths: Sequence[PathLike | TwoFiles], out: PathLike, options: Options, *, to: str | None
) -> None:
    """Refuse inputs whose llrs could not be written, before a model is trained in batches.

    Parameters
    ----------
    paths : sequence of paths
        Inputs for the trained model.
    out, options, to
        As in `apply_to_folder`.

    Raises
    ------
    InputError
        If the inputs do not fit in memory, and the output is a file or an existing folder, or the inputs are not
        tables.
    """
    scale, needed = options.scale, memory_of(paths)
    if needed > scale.n_bytes and _names_a_file(out) and not _is_parquet(out):
        raise _no_folder(out)
    if not is_for_folder(paths, out, scale, needed):
        return
    _require_parquet(to)
    if not _is_parquet(out):
        require_free(Path(out))
    for one in paths:
        if not isinstance(one, TwoFiles) and str(one) != "-" and (is_zarr(one) or is_matrix_file(Path(one))):
            raise _no_table(errors.display_name(one))


def apply_to_folder(
    what: systems.ToApply, paths: Sequence[PathLike], out: PathLike, options: Options, *, to: str | None, say: Progress
) -> list[Message]:
    """Apply a model to the scores of inputs, and write a file for each of their files.

    Parameters
    ----------
    what : ToApply
    paths : sequence of paths
        Files of all systems of a fusion, matched row by row; a calibration is applied to each file.
    out : path
        An empty or new folder.
    options : Options
    to : str, optional
        Output format, which can only be Parquet.
    say : function
        Called with a short description of every step.

    Returns
    -------
    list of Message

    Raises
    ------
    FormatError, InputError, KeyMismatchError, OSError
        As in `deciban.apply_files`; the message contains file and row group. After an error the folder does not exist,
        but finished files are kept, and the same call continues from there.
    """
    _require_parquet(to)
    is_file = _is_parquet(out)
    if not is_file:
        require_free(Path(out))
    groups = [list(paths)] if what.model.is_fusion else [[one] for one in paths]
    say("looking at the files")
    tables = [[_opened(one, what, options) for one in group] for group in groups]
    parts = [part for at in range(len(groups)) for part in _parts(at, groups, tables, what)]
    if not any(part.partitions for part in parts):
        raise FormatError(f"{errors.display_name(paths[0])}: contains no trials.")
    how = how_to_read(what.kind, what.reading, options.scale).options(what.kind.need)
    readers = [[TableRules.of(one, how).settled() for one in group] for group in tables]
    make, memory = partial(systems.applied_to_rows, what, readers), options.scale.n_bytes
    say("applying the model")
    if is_file:
        with atomic_write(out) as stream, TableWriter(stream, target_name(out)) as writer:
            tallies = _write(make, parts, memory, lambda _part: nullcontext(writer))
            messages = _messages(what, tallies, tables)
        return [*messages, Message("wrote", target_name(out), "as parquet, in batches")]
    with whole_folder(Path(out), {part.name: part.made_of for part in parts}) as folder:

        @contextmanager
        def opened(part: OutputPart) -> Iterator[TableWriter]:
            with folder.file(part.name) as stream, TableWriter(stream, target_name(Path(out) / part.name)) as writer:
                yield writer

        tallies = _write(make, [part for part in parts if part.name not in folder.finished], memory, opened)
        messages = _messages(what, tallies, tables)
    return [*messages, *_written(folder, parts, out)]


def _messages(
    what: systems.ToApply, tallies: Mapping[int, systems.Tally], tables: Sequence[Sequence[RowTable]]
) -> list[Message]:
    """Return the messages about all inputs."""
    messages = list[Message]()
    for at, group in enumerate(tables):
        tally = tallies.get(at, systems.Tally())
        read = [Message("read", one.name, f"{one.reading}   {counted(one.n_rows, what.kind.noun)}") for one in group]
        messages += systems.said(what, tally, read, systems.rows_met(what, tally, group))
    return [*messages, *what.interval_messages]


def _require_parquet(to: str | None) -> None:
    """Refuse output formats other than Parquet."""
    if to is not None and by_name(to).name != "parquet":
        raise InputError(f"to: got {to!r}. Data larger than memory are written to Parquet: leave it out.")


def how_to_read(kind: AnyKind, reading: Reading, scale: Scale) -> BatchReading:
    """Return options for reading rows of scores in batches."""
    entries = {name: getattr(reading, name) for name in ("format", "columns", "labels", "classes")}
    unit = reading.unit if kind.units_of_files else None
    return BatchReading(**entries, kind=kind.name, unit=unit, memory=scale.n_bytes)


def _opened(path: PathLike, what: systems.ToApply, options: Options) -> RowTable:
    table = opened_input(path, how_to_read(what.kind, what.reading, options.scale))
    if isinstance(table, RowTable):
        return table
    raise _no_table(errors.display_name(path))


def _no_table(name: str) -> InputError:
    what = f"{name}: a matrix, which cannot be written in batches"
    return memory_error(what, way="write it as a table first (deciban convert)")


def _parts(
    group: int, groups: Sequence[Sequence[PathLike]], tables: Any, what: systems.ToApply
) -> Iterator[OutputPart]:
    """Yield the output files for a group of inputs: one for each file of the first input."""
    first, *others = tables[group]
    path = groups[group][0]
    stops = list(accumulate(one.n_rows for one in first.rows))
    for other in others:
        if other.n_rows != first.n_rows:
            raise KeyMismatchError(
                f"{other.name} contains {counted(other.n_rows, 'score')}, {first.name} "
                f"{counted(first.n_rows, 'score')}. Scores that do not fit in memory are fused row by row: write the "
                f"files in the same order first, or allow more memory ({option(memory=...)})."
            )
    partitions = list(zip(*(cut(table, stops) for table in (first, *others)), strict=True))
    beside = [systems.stamped(file.path) for one in groups[group][1:] for file in table_files(one)]
    files = table_files(path)
    names = _names([file.path for file in files], path, alone=len(groups) == 1)
    own: dict[str, list[int]] = {}
    for at, rows in enumerate(first.rows):
        own.setdefault(rows.path, []).append(at)
    # Text files were copied to a temporary folder.
    is_ours = bool(own) and not any(str(file.path) in own for file in files)
    held = list(own.values()) if is_ours else [own.get(str(file.path), []) for file in files]
    for file, name, numbers in zip(files, names, held, strict=True):
        made_of = systems.digest([what.question, systems.stamped(file.path), *beside])
        yield OutputPart(name, tuple(partitions[k] for k in numbers), group, made_of)


def _names(files: Sequence[Path], path: PathLike, *, alone: bool) -> list[str]:
    """Return the names of the output files."""
    if str(path) == "-":
        return ["scores.parquet"]
    root = Path(path) if Path(path).is_dir() else Path(os.path.commonpath([file.parent for file in files]))
    own = [file.relative_to(root) for file in files]
    names = [one.with_name(unpacked_name(one.name)).with_suffix(".parquet").as_posix() for one in own]
    if len(set(names)) < len(names):
        names = [f"{one.as_posix()}.parquet" for one in own]
    prefix = "" if alone or not Path(path).is_dir() else f"{Path(path).name}/"
    return [prefix + one for one in names]


def _write(
    make: Make,
    parts: Sequence[OutputPart],
    memory: int,
    opened: Callable[[OutputPart], AbstractContextManager[TableWriter]],
) -> dict[int, systems.Tally]:
    """Write files one after the other, and return the tally of each group of inputs."""
    tallies = defaultdict[int, systems.Tally](systems.Tally)
    jobs = [(part.group, partition) for part in parts for partition in part.partitions]
    tell, n_done = teller(sum(_n_rows(partition) for _, partition in jobs), "rows"), 0
    largest = max((_n_rows(partition) for _, partition in jobs), default=1)
    schema: pa.Schema | None = None
    done = in_order(make, jobs, largest, memory)
    for part in parts:
        with opened(part) as writer:
            for _ in part.partitions:
                (_, partition), (table, tally) = next(done)
                writer.write(table, partition[0][0].name)
                tallies[part.group].add(tally)
                schema = writer.schema
                n_done += len(table)
                tell(n_done)
            if not part.partitions and writer.schema is None:
                schema = schema or _schema_of(make, parts)
                writer.write(schema.empty_table(), part.name)
    return tallies


Make: TypeAlias = Callable[[tuple[int, Sequence[Sequence[Rows]]]], tuple[pa.Table, systems.Tally]]


def _schema_of(make: Make, parts: Sequence[OutputPart]) -> pa.Schema:
    """Return the columns of the output, from the first batch."""
    first = next(part for part in parts if part.partitions)
    return make((first.group, first.partitions[0]))[0].schema


def _n_rows(partition: Sequence[Sequence[Rows]]) -> int:
    return sum(one.n_rows for one in partition[0])


def _written(folder: Unfinished, parts: Sequence[OutputPart], out: PathLike) -> Iterator[Message]:
    shown = errors.display_name(out)
    if folder.n_stale:
        words = (
            f"{counted(folder.n_stale, 'file')} of an earlier, interrupted run had another model, other options or "
            "other inputs, and were written again"
        )
        yield Message("note", shown, words)
    if folder.finished:
        words = f"{counted(len(folder.finished), 'file')} of {len(parts):,} were finished by an earlier run"
        yield Message("note", shown, words)
    yield Message("wrote", shown, f"a folder of {counted(len(parts), 'Parquet file')}")


def apply_files(
    model: model_files.AnyModel,
    scores: Paths,
    out: PathLike,
    *,
    quality: QualityFiles | None = None,
    to: str | None = None,
    write_as: str = "loglik",
    known: AnyScores | None = None,
    interval: bool = False,
    level: float = LEVEL,
    progress: Progress | None = None,
    **options: object,
) -> tuple[Message, ...]:
    """Apply a trained model to score files, and write them with the new scores.

    Parameters
    ----------
    model : path or Model
        A model file, or a trained calibrator, fusion or multiclass model.
    scores : sequence of paths, or one path
        Score files of one system each; see `deciban.read_scores`. A fusion needs the files of all its systems, with the
        same names as in training or, if the names differ, in the order of training. A calibrator is applied to each
        file.
    out : path
        Output file; ``-`` is standard output. For several inputs of a calibrator: a folder, in which each input gets a
        file of the same name; a name that ends in ``/`` is a folder that can be new. The output of a fusion has the
        format, the trials and the order of the first input, unless ``missing`` adds trials. A folder of Parquet files,
        and data that do not fit in memory, are written row group by row group to a new folder of Parquet files with the
        same names, or to one file if ``out`` ends in ``.parquet``. If a run is interrupted, its finished files are
        kept, and the same call continues from there.
    quality : path, or mapping of side to path, optional
        Quality measures, for a fusion that was trained with some; see `deciban.train_files`.
    to : str, optional
        Output format. By default the format of the input, unless ``out`` has the ending of another format. Text lines
        of two-class trials are copied except for the score, without ``interval``. Otherwise everything that was read
        is written, in tables with the columns trial, label or class, scores, others.
    write_as : {"loglik", "detection-llr"}
        Multiclass: log-likelihoods, or log-likelihood ratios of each class against the others with a flat prior, as
        in language recognition evaluations.
    known : Scores or ClassScores, optional
        Scores in nats, for example cross-validated ones, that replace the output of the model for their trials.
    interval : bool
        Whether to write the bounds of each llr in columns ``llr_low`` and ``llr_high`` (``lir``: ``llr_interval_low``
        and ``llr_interval_high``), in the unit of the llrs. The format must allow columns with names in a header, and
        the model must have been trained with units; see `ScoreModel.interval`.
    level : float
        Level of the intervals.
    progress : function, optional
        Called with a short description of every step.
    **options
        Options for reading files: ``format``, ``columns``, ``labels``, ``log10``, ``lr``, ``negate``,
        ``probabilities``, ``classes``, ``posterior_prior``, ``detection_llr``. For a fusion, options for the join with
        the trials of the first file: ``missing`` (``"error"``, ``"drop"`` or a score), ``duplicates``, ``by_order`` and
        ``ids``; see `deciban.workflows.Reading`. And ``memory``, as in `deciban.workflows.Scale`: with data larger than
        memory, all inputs of a fusion must have the same trials in the same order. A fusion that was trained with
        ``missing="subset"`` fuses every trial that at least one of its systems scored: first the trials of the first
        file in their order, then the further trials of the second one, and so on. The order of the files affects
        neither the set of trials nor the llrs. Condition columns come from the first file. Labels are kept if all files
        have labels.

    Returns
    -------
    tuple of Message
        Messages about inputs, assumptions and outputs.

    Raises
    ------
    FormatError, InputError, KeyMismatchError, OSError
        As in `deciban.load_model`, `deciban.read_scores` and `deciban.write`; if systems or classes differ from
        training; or if an output would replace an input. In memory, everything is read and computed before
        anything is written.
    TypeError
        If an option is unknown.

    Notes
    -----
    Log-likelihood ratios are natural logarithms in every format except ``lir``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from deciban.calibration import AffineCalibrator
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "eval.csv").write_text("trial,score,gender\\na,2.0,f\\nb,-1.0,m\\n")
    >>> model = AffineCalibrator().fit([3.0, 1.0, 2.0, -1.0, 1.5, 0.0], [True, True, True, False, False, False])
    >>> messages = apply_files(model, folder / "eval.csv", folder / "llr.csv")
    >>> print((folder / "llr.csv").read_text().splitlines()[0])
    trial,score,gender
    """
    chosen, say = Options.of("apply_files", options), progress or (lambda _words: None)
    if interval and known is not None:
        raise InputError("interval: known scores do not come from the model, and have no intervals. Leave one out.")
    model_path, id_map = model_files.path_of_model(model), chosen.reading.files
    paths = paths_of(scores, also=(model_path, *id_map))
    loaded = model_files.trained_model(model, chosen.kind)
    kind = kind_called(loaded.scores_kind)
    _refuse_other_options(loaded, chosen, quality=quality, write_as=write_as)
    if loaded.is_fusion:
        model_files.refuse_twice(single_files(paths))
    targets = _output_targets(paths, out, one_by_one=not loaded.is_fusion)
    if to is not None:
        by_name(to)  # before anything is read
    read = [*single_files(paths), *quality_paths(quality), model_path, *id_map]
    refuse_overwriting(targets, read, made=out if _is_folder(out) else None)
    request = checked_level(level) if interval else None
    measured = None if quality is None else read_measures(quality)
    reading = chosen.reading.with_ids_read()
    chosen = replace(chosen, reading=reading)
    what = systems.ToApply(loaded, reading, measured, [*quality_paths(quality), *id_map], request, write_as)
    kind.refuse_reading(reading)
    if known is None and is_for_folder(paths, out, chosen.scale, memory_of(paths)):
        answer = apply_to_folder(what, single_files(paths), out, chosen, to=to, say=say)
        return (*model_files.model_message(model_path, loaded), *answer)
    inputs = list[Input]()
    for one in ScoreFiles.of(paths, None, reading).scores:
        model_files.require_kind(loaded, one, None, chosen)
        inputs.append(kind.read(one, reading, say))
    say("applying the model")
    groups = [inputs] if loaded.is_fusion else [[one] for one in inputs]
    ready = [
        systems.applied(what, group, [one.contents.origin.name for one in group], systems.on_shared_trials)
        for group in groups
    ]
    messages = model_files.model_message(model_path, loaded)
    trained, value = loaded.trained_systems, [done.systems[0].name for done in ready]
    if model_path is not None and not loaded.is_fusion and len(trained) == 1 and [*trained] != value:
        words = f"the model was trained on {trained[0]!r}, and is applied to {', '.join(map(repr, value))}"
        messages.append(Message("note", "", words))
    for done in ready:
        read_as = [kind.read_message(system) for system in done.systems]
        messages += systems.said(what, done.tally, read_as, done.shared.messages)
    messages += what.interval_messages
    if len(targets) > 1 or _is_folder(out):
        Path(out).mkdir(exist_ok=True)
    for done, target in zip(ready, targets, strict=True):
        say(f"writing {target_name(target)}")
        final, notes = (done.scores, []) if known is None else _replaced(done.scores, known, kind, reading)
        messages += [*notes, *kind.written(done.shared.written, final, target, to, Form(write_as, done.bounds))]
    return tuple(messages)


def normalize_files(
    scores: PathLike,
    out: PathLike,
    *,
    enroll_cohort: PathLike | None = None,
    test_cohort: PathLike | None = None,
    top: int | None = None,
    to: str | None = None,
    format: str | None = None,
    columns: Columns | None = None,
) -> tuple[Message, ...]:
    """Normalize a score file by files of cohort scores, and write it with the normalized scores.

    Parameters
    ----------
    scores, out : path
        As in `apply_files`, of one system.
    enroll_cohort, test_cohort : path, optional
        Scores of the enrolled models, and of the test segments, against the segments of a cohort; at least one.
    top : int, optional
        Number of cohort scores with the highest values to use; see `deciban.calibration.normalize`.
    to : str, optional
        Output format, as in `apply_files`.
    format, columns : optional
        Format and columns of all input files; see `deciban.read_scores`.

    Returns
    -------
    tuple of Message
        Messages about the output.

    Raises
    ------
    FormatError, InputError, OSError
        As in `deciban.read_scores`, `deciban.calibration.normalize` and `apply_files`; or if there is no cohort.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.txt").write_text("ann x 3.0\\nann y 1.0\\n")
    >>> _ = (folder / "cohort.txt").write_text("ann c1 0.0\\nann c2 2.0\\n")
    >>> _ = normalize_files(folder / "a.txt", folder / "out.txt", enroll_cohort=folder / "cohort.txt")
    >>> print((folder / "out.txt").read_text().split())
    ['ann', 'x', '1.414213562373095', 'ann', 'y', '0']
    """
    entries = {"enroll_cohort": enroll_cohort, "test_cohort": test_cohort}
    cohorts = {side: path for side, path in entries.items() if path is not None}
    if not cohorts:
        raise InputError(f"{option('enroll_cohort', 'test_cohort')}: name at least one.")
    require_one_stream([scores, *cohorts.values()])
    refuse_overwriting([out], [scores, *cohorts.values()])
    result = read_input(scores, need="scores", format=format, columns=columns)
    known = {side: read_scores(path, format=format, columns=columns) for side, path in cohorts.items()}
    return write_rescored(result, normalize(result.contents.scores, top=top, **known), out, to=to, are_llrs=False)


def _output_targets(paths: list[PathLike | TwoFiles], out: PathLike, *, one_by_one: bool) -> list[PathLike]:
    """Return the output file for each input, or the one file for all of them.

    Raises
    ------
    InputError
        If there are several inputs, and they cannot be written to the output.
    """
    if not one_by_one:
        paths = paths[:1]
    if not _is_folder(out):
        if len(paths) > 1:
            raise InputError(
                f"{target_name(out)}: {len(paths)} score files for a model of one system need an output file each. "
                "Name a folder (-o FOLDER/), or read the files as one input with a pattern ('part-*.txt')."
            )
        return [out]
    nameless = next((path for path in paths if not _has_file_name(path)), None)
    if nameless is not None:
        raise InputError(
            f"{errors.display_name(nameless)}: has no file name for a file in the output folder. Name a file."
        )
    return [Path(out) / Path(path).name for path in paths if not isinstance(path, TwoFiles)]


def _has_file_name(path: PathLike | TwoFiles) -> bool:
    """Return True if an input is one file: not a stream, a pattern or two files."""
    if isinstance(path, TwoFiles):
        return False
    return Path(path).exists() or not (str(path) == "-" or set(str(path)) & set("*?["))


def _is_folder(out: PathLike) -> bool:
    """Return True if an output is a folder, or a name for a new folder."""
    return str(out).endswith(("/", os.sep)) or Path(out).is_dir()


def _refuse_other_options(model: ScoreModel, options: Options, *, quality: QualityFiles | None, write_as: str) -> None:
    """Refuse arguments that the model would ignore; ``by_order`` is allowed, because it can be for known scores."""
    require_class_units(write_as)
    if write_as == "detection-llr" and model.scores_kind != "classes":
        raise InputError("write_as: detection llrs are for multiclass models, and this one is two-class. Leave it out.")
    reading = options.reading
    of_keys = (name for name in ("where", "weights", "key_format", "key_columns") if getattr(reading, name))
    refuse(of_keys, "is for a key, and there is none here. Leave it out.")
    refuse(options.metrics.given(), "nothing is evaluated here. Leave it out.")
    if options.how_sure != UncertaintyOptions():
        raise InputError(
            "units, intervals, bootstrap, seed, optimism: are for training and metrics. Leave them out; "
            f"{option(interval=True)} writes the intervals of the model."
        )
    if model.is_fusion:
        model_files.require_quality(model, is_given=quality is not None)
        return
    values = ["quality"] if quality is not None else []
    values += [name for name in ("missing", "duplicates") if getattr(reading, name) != "error"]
    refuse(values, "is for fusions, but this is a model of one system, which does not change the trials.")


def _replaced(values: Any, known: Any, kind: AnyKind, reading: Reading) -> tuple[Any, list[Message]]:
    """Return values with known scores for their trials, and a message about the other trials."""
    classes, other = kind.classes_of(values), kind.classes_of(known)
    if classes != other and set(classes) == set(other):
        known = known.of_classes(classes)
    own, theirs = values.trials, known.trials
    if reading.renaming is not None:
        own, theirs = reading.renaming.both(own, theirs)
    rows = None if reading.by_order else Lookup(own).find(theirs).rows
    if rows is None:
        return replace(values, score=known.score), []
    there: AnyArray = rows >= 0
    n_others = int(np.count_nonzero(~there))
    get = "gets" if n_others == 1 else "get"
    words = f"{counted(n_others, kind.noun)} not used in training {get} {kind.output} of the final model"
    chosen = there if values.score.ndim == 1 else there[:, None]
    changed = replace(values, score=np.where(chosen, known.score[rows], values.score))
    return changed, [Message("note", "", words)] if n_others else []
