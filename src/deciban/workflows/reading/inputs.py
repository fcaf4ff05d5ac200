"""Score files and a key, two-class or multiclass: opened, read, joined, and converted to a source of trials."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from deciban.errors import (
    WARNING,
    InputError,
    Message,
    as_message,
    counted,
    display_name,
    either,
    in_lines,
    is_open_file,
    negation_note,
    option,
)
from deciban.io import recognition
from deciban.io.columns.values import coded_column
from deciban.io.formats import Contents
from deciban.io.reader import matrices_by_key, require_as_many
from deciban.io.recognition import JoinOptions, Recognized, are_summaries, is_longer, memory_of, recognize, rows_of
from deciban.io.source import Source, TwoFiles, files_of, require_one_stream, single_files
from deciban.io.units import became_logarithms, logarithms_of_probabilities
from deciban.memory import CLASSIFIER, bytes_held, give_back_at_once, memory_error, require_room
from deciban.trials import JoinReport, Trials
from deciban.trials.joining import near_names
from deciban.trials.lists import PAIR_SIDE, ROW, SINGLE
from deciban.trials.sources import Batch, LoadedPartition, TrialSource
from deciban.trials.tables import criteria
from deciban.types import AnyArray, CountArray, Frame, KindName, PathLike, Progress, Raw
from deciban.workflows.kinds import (
    AnyKey,
    AnyKind,
    AnyScores,
    Kind,
    in_nats,
    kind_called,
    kind_of,
    named_apart,
    prior_of_classes,
)
from deciban.workflows.options import Options, Reading, new_names, renamed
from deciban.workflows.reading.units import in_words, partitions_of_key, weights_of_key

if TYPE_CHECKING:
    from deciban.models.score_model import ScoreModel
    from deciban.trials import Aligned, AlignedClasses

Paths: TypeAlias = Sequence[PathLike | TwoFiles] | PathLike | TwoFiles
"""One or several score files; a system can have two files."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoreFiles:
    """Opened score files and a key, to detect their kind and then read them.

    Attributes
    ----------
    scores : tuple of Recognized
    key : Recognized or None
    class_order : tuple of str, optional
        Classes of other trials of the same run. Scores of the same classes are put in this order, so that arguments
        by position (a prior, costs, the class out of set) have the same meaning for both.
    """

    scores: tuple[Recognized, ...]
    key: Recognized | None
    class_order: tuple[str, ...] | None = None

    @classmethod
    def of(cls, scores: Paths | ScoreFiles, key: PathLike | None, reading: Reading) -> ScoreFiles:
        """Open files, unless they are open; nothing is read except what is needed to detect their format.

        Raises
        ------
        InputError
            If there are no files, or standard input would be read twice; or if a table can contain scores of classes or
            a matrix of trials, and the key does not decide it.
        """
        if isinstance(scores, ScoreFiles):  # already open
            return scores
        paths, look = paths_of(scores, also=(key, *reading.files)), partial(recognize, labels=reading.labels)
        opened = tuple(look(path, format=reading.format, columns=reading.columns) for path in paths)
        if any(file.sides is not None for file in opened):
            refuse_options_of_keys(key, reading)
        of_key = partial(look, format=reading.key_format, columns=reading.key_columns, of_key=True)
        result, truth = matrices_by_key(opened, None if key is None else of_key(key))
        return cls(result, truth)

    def as_recognized(self, reading: Reading) -> Reading:
        """Return options to read the score files again without their key, which may have decided their format."""
        items = {None if one.files[0].named_format is None else one.files[0].named_format.name for one in self.scores}
        return replace(reading, format=items.pop()) if len(items) == 1 else reading

    @property
    def is_at_hand(self) -> bool:
        """True: all trials are read into memory."""
        return True

    @property
    def score_paths(self) -> list[Any]:
        """The score files."""
        return [one.path for one in self.scores]

    def kind_name(self, options: Options) -> KindName:
        """Return the kind of the scores; see `deciban.workflows.kinds.kind_of`."""
        return kind_of(self.scores[0], self.key, options).name

    def as_source(self, options: Options, progress: Progress | None = None) -> TrialSource:
        """Read and join the files; see `read_joined`."""
        say = progress or (lambda _words: None)
        reading = options.reading.with_ids_read()
        if self.key is None and reading.renaming is not None:  # the truth is in the score file, with the same names
            reading = replace(reading, ids=reading.renaming.for_scores_alone())
        kind = kind_of(self.scores[0], self.key, options)
        kind.refuse_reading(reading)
        contents = [kind.read(one, reading, say).contents for one in self.scores]
        _require_same_rows(self.scores, contents)
        systems = named_apart([system for one in contents for system in kind.systems_of(one, reading)])
        systems, called = (systems, None) if reading.names is None else renamed(systems, reading.names)
        systems = systems if self.class_order is None else kind.in_class_order(systems, self.class_order)
        systems = kind.as_logarithms(systems, reading)
        source = contents[0] if self.key is None else kind.read(self.key, reading, say, kind.need_of_key).contents
        truth = _truth(kind, source, systems[0], reading, self)
        say(f"joining {kind.noun}s")
        aligned, truth = _aligned(kind, systems, truth, reading, incomplete=options.incomplete)
        kind.refuse_contradictions([one for one in contents if one is not source], truth, reading)
        weight, weighing = _weights(aligned[0], truth, reading, kind)
        messages = [kind.read_message(system) for system in systems]
        messages.append(Message("key", source.origin.name, f"{source.origin.reading}   {kind.counts(source, truth)}"))
        messages += [as_message(note, c.origin.name) for c in dict.fromkeys([*contents, source]) for note in c.notes]
        messages += [*kind.key_messages(truth, reading), *kind.unit_messages(systems, reading), *weighing]
        messages += _join_messages(kind, aligned, truth, reading)
        messages += _near_names(systems, truth, aligned[0].report, reading)
        paths = tuple(one.origin.name for one in contents)
        make = partial(_source_of, messages=tuple(messages), paths=paths, renamed=called, incomplete=options.incomplete)
        if len(aligned[0].trials) < len(truth.trials) and options.how_sure.of_source.get("find_speakers"):
            make = partial(make, of_key=partitions_of_key(truth, None if weight is None else reading.weights))
        return make(kind, aligned, weight, truth.trials.origin.name, options)

    def in_order_of(self, classes: Sequence[str]) -> ScoreFiles:
        """Return the files, with an order of the classes."""
        return replace(self, class_order=tuple(classes) or None)

    def options_for(self, model: ScoreModel, options: Options) -> Options:
        """Return options with the kind of a model; refuse scores of the other kind.

        Raises
        ------
        InputError
        """
        from deciban.workflows.model_files import require_kind

        return require_kind(model, self.scores[0], self.key, options)

    def alone(self) -> tuple[ScoreFiles, ...]:
        """Return each system separately, for systems that are not paired."""
        return tuple(ScoreFiles((one,), None) for one in self.scores)

    @property
    def paths(self) -> list[PathLike]:
        """Paths of the files, the key last."""
        return single_files(file.path for file in (*self.scores, *(() if self.key is None else (self.key,))))


Opened: TypeAlias = ScoreFiles | TrialSource
"""Opened inputs: files to read as one batch, or a source."""


def read_joined(
    scores: Paths | ScoreFiles,
    key: PathLike | None = None,
    options: Options | None = None,
    *,
    progress: Progress | None = None,
) -> TrialSource:
    """Read score files and a key, and join them.

    Parameters
    ----------
    scores : sequence of paths, or one path, or ScoreFiles
        Score files; see `deciban.read_scores` and `deciban.io.read_class_scores` for their formats.
    key : path, optional
        Key with target labels or classes. By default the first score file must contain labels.
    options : Options, optional
        Kind of the scores, and options for reading and joining. If ``incomplete``, all trials of the key are kept, with
        NaN for missing scores, and ``missing`` is ignored.
    progress : function, optional
        Called with a short description of every step.

    Returns
    -------
    TrialSource
        One batch with the trials of the key. Scores are natural logarithms.

    Raises
    ------
    FormatError, KeyMismatchError, InputError
        As in `deciban.read_scores` and `deciban.align`; or if a weight is missing or invalid, classes do not match, or
        a segment excludes every class.
    """
    chosen = options or Options()
    return ScoreFiles.of(scores, key, chosen.reading).as_source(chosen, progress)


def _join_messages(kind: AnyKind, aligned: Sequence[Any], key: AnyKey, reading: Reading) -> list[Message]:
    """Return the messages about the join, without the number of tied scores."""
    messages = kind.messages_on_join(reading, aligned[0].report)
    if len(aligned) > 1 and key.trials.sides == ROW:
        words = f"{kind.noun}s have no names: row n is assumed to be the same {kind.noun} in every system"
        messages.append(Message("join", "", words))
    if len(aligned[0].trials) < len(key.trials):
        words = kind.truth_in_words(kind.truth_of(aligned[0]), kind.classes_of(aligned[0].scores))
        messages.append(Message("used", "", words))
    return messages


def _truth(kind: AnyKind, source: Contents, first: AnyScores, reading: Reading, files: ScoreFiles) -> AnyKey:
    """Return the truth; if the first score file has it in an unknown column, the error contains the possible columns.

    Raises
    ------
    InputError, KeyMismatchError
    """
    try:
        truth: AnyKey = kind.key_of(source, reading, first)
    except InputError as error:
        ways = files.scores[0].files[0].ways("scores") if files.key is None else []
        labelled = [way for way in ways if "label" in way]
        if not labelled:
            raise
        raise InputError(f"{error} If a column of it contains labels, name it:{in_lines(labelled)}") from error
    return truth


def _near_names(systems: Sequence[AnyScores], key: AnyKey, report: JoinReport, reading: Reading) -> tuple[Message, ...]:
    """Return a message about names that match after renaming, for the first system where this adds trials."""
    if not report.missing or reading.ids is not None or reading.by_order:
        return ()
    result = (near_names(one.trials, key.trials) for one in systems)
    near = next((one for one in result if one is not None), None)
    return () if near is None else (Message(WARNING, "", f"of the key trials, {near}: {option(ids=near.option)}"),)


def paths_of(scores: Paths, *, also: Sequence[object] = (), name: str = "scores") -> list[PathLike | TwoFiles]:
    """Return the named files as a list.

    Parameters
    ----------
    scores : sequence of paths, or one path
    also : sequence
        Other inputs, which can include standard input.
    name : str
        Name of the argument.

    Raises
    ------
    InputError
        If there are no files, an item is not a file name, or standard input would be read twice.
    """
    values: object = [scores] if isinstance(scores, str | os.PathLike | TwoFiles) else scores
    if not isinstance(values, Iterable) or getattr(values, "ndim", 1) == 0:
        raise InputError(f"{name}: got {type(scores).__name__}. Name a file, or several in a list.")
    paths: list[Any] = list(values)
    for path in paths:
        if not isinstance(path, str | os.PathLike | TwoFiles):
            raise InputError(
                f"{name}: got {type(path).__name__}, expected the name of a file. For data in memory, use "
                "deciban.evaluate."
            )
    if not paths:
        raise InputError(f"{name}: no file given. Name at least one.")
    require_one_stream([*single_files(paths), *also])
    return paths


def _aligned(
    kind: AnyKind, systems: list[AnyScores], key: AnyKey, reading: Reading, *, incomplete: bool
) -> tuple[Sequence[Any], AnyKey]:
    """Return the systems on the requested trials, and the key of these trials.

    By order, all trials are matched before some are selected, because the files contain all trials of the key.
    """
    if not reading.where:
        return kind.align(systems, key, reading, incomplete=incomplete), key
    if not reading.by_order:
        chosen = key.keep(where=reading.where)
        return kind.align(systems, chosen, reading, incomplete=incomplete), chosen
    if any(len(one.trials) != len(key.trials) for one in systems):
        kind.align(systems, key, reading)  # raises an error
    rows = np.flatnonzero(np.logical_and.reduce(criteria(key.trials, {}, reading.where)))
    chosen = key.take(rows)
    return kind.align([one.take(rows) for one in systems], chosen, reading, incomplete=incomplete), chosen


def _weights(
    aligned: Aligned | AlignedClasses, key: AnyKey, reading: Reading, kind: AnyKind
) -> tuple[CountArray | None, list[Message]]:
    """Return the weights of the trials, and a message about them."""
    column, name = reading.weights, key.trials.origin.name
    if column is None:
        return None, []
    if not reading.weights_required and column not in aligned.trials.conditions:
        words = f"has no column {column!r} of weights: all its {kind.noun}s have equal weight"
        return None, [Message(WARNING, name, words)]
    weight = weights_of_key(aligned, key, column)
    return weight, [Message("weights", name, f"column {column!r}   {in_words(weight)}")]


def refuse_options_of_keys(key: PathLike | None, reading: Reading) -> None:
    """Refuse options for a key, if two files contain targets and non-targets.

    Raises
    ------
    InputError
    """
    entries = {"key": key, "key_format": reading.key_format, "key_columns": reading.key_columns}
    for name in (name for name, value in entries.items() if value is not None):
        raise InputError(
            f"{name}: is for a key, and there is none: one file contains targets and the other one non-targets. Leave "
            "it out."
        )


def _require_same_rows(files: Sequence[Recognized], contents: Sequence[Contents]) -> None:
    """Refuse systems whose trials have no names, if their numbers of trials in each class differ.

    Raises
    ------
    KeyMismatchError
    """
    counts = {}
    for file, one in zip(files, contents, strict=True):
        if file.sides is not None and one.key is not None and one.key.trials.sides == ROW:
            counts[one.origin.name] = one.key.n_tar, one.key.n_non
    require_as_many(counts)


_HANDS_OUT = ("__arrow_c_stream__", "columns", "get_fragments", "sink_parquet", "partitions")
"""Attributes of tables of other libraries; each table has at least one of them."""


def is_object(value: object) -> bool:
    """Return True for objects that contain rows or cells, such as a dataset or a lazy frame, not for paths.

    >>> is_object("scores.txt"), is_object({"score": [0.5]}), is_object(3)
    (False, True, False)
    """
    if isinstance(value, str | bytes | os.PathLike | TwoFiles) or is_open_file(value):
        return False
    kind = type(value)  # lazy frames compute their columns when asked
    is_array = all(hasattr(kind, one) for one in ("dtype", "shape", "__getitem__"))
    return is_array or isinstance(value, Mapping) or any(hasattr(kind, one) for one in _HANDS_OUT)


def opened(scores: Paths | Opened | Frame, key: PathLike | None, options: Options) -> Opened:
    """Open files, to be read in batches if they do not fit in memory, otherwise as a whole.

    Parameters
    ----------
    scores : sequence of paths, one path, or a result of this function
    key : path or None
    options : Options

    Raises
    ------
    FormatError, InputError, OSError
        If opening fails.
    """
    if isinstance(scores, Opened):
        return scores
    values = list(scores) if isinstance(scores, list | tuple) else [scores]
    has_objects, room = any(map(is_object, (*values, key))), options.scale.n_bytes
    named: Any = values if has_objects else paths_of(scores, also=(key, *options.files))
    if key is None and are_summaries(named):
        return opened_summaries(named, options)
    is_asked = has_objects or options.scale.is_asked or _is_mask(key, options)  # matrices with a mask: in batches
    is_large = not has_objects and memory_of(named, key) > room
    is_labelled = not has_objects and key is None and len(named) == 1 and not isinstance(named[0], TwoFiles)
    if is_large and options.metrics.classifier:
        require_room(CLASSIFIER, bytes_held(max(map(rows_of, named))), room)
    is_cheaper = is_labelled and not options.metrics.classifier and recognition.is_long_without_names(named[0])
    if is_asked or is_large or is_cheaper or is_longer(named, key, room):
        return open_source(named, key, options)
    return ScoreFiles.of(scores, key, options.reading)


def opened_summaries(paths: Sequence[PathLike], options: Options) -> TrialSource:
    """Open summaries of different partitions as one source.

    Parameters
    ----------
    paths : sequence of paths
        Can contain patterns.
    options : Options

    Raises
    ------
    InputError, FormatError, OSError
        As in `deciban.io.summary_files.summary_source`; or if an option is for reading trials, which were already
        read for the summary.
    """
    how_sure, naming = options.how_sure, options.how_sure.naming
    items = [
        name
        for name in Reading.__dataclass_fields__
        if options.reading.says(name) and name not in ("from_classes", "missing", "duplicates", "weights_required")
    ]
    items += ["units"] if naming is not None and not naming.each_trial else []
    items += ["speakers"] if options.scale.speakers is not None else []
    if items:
        raise InputError(
            f"{items[0]}: is for reading trials, which were already read for the summary. Leave it out, or summarize "
            "the partitions with it."
        )
    if options.groups is not None:
        raise InputError(
            f"{', '.join(map(display_name, paths))}: trials cannot be held out, because a summary does not contain "
            "their names. Name the partitions themselves, or leave out cross-validation and selection."
        )
    options.split.refuse("a summary", "Evaluate the trials themselves, or leave it out.")
    units: Literal["", "kept", "trials"] = "" if not how_sure.intervals else "kept" if naming is None else "trials"
    from deciban.io.summary_files import summary_source  # most inputs are not summaries

    source = summary_source([one for path in paths for one in files_of(path)], units=units)
    kind: KindName = "classes" if source.classes else "two-class"
    if options.kind not in (None, kind):
        held, request = (kind_called(one).about for one in (kind, options.kind))
        raise InputError(
            f"kind: {source.name} is a summary of {held} scores, but {request} scores are requested. Leave "
            f"{option('kind')} out."
        )
    return source


def _is_mask(key: PathLike | None, options: Options) -> bool:
    """Return True if a key is a matrix with marks for the cells that are trials."""
    if not isinstance(key, str | os.PathLike) or not Path(key).is_file() or Source(key).kind != "NumPy":
        return False
    from deciban.io.partitions.matrix_files import is_mask

    return is_mask(key, options.kind)


NAMING = (*PAIR_SIDE, *SINGLE)
"""Columns that contain names of trials."""


def open_source(scores: Sequence[Any], key: PathLike | None, options: Options) -> TrialSource:
    """Open inputs, to be read in batches.

    Parameters
    ----------
    scores : sequence of paths or objects
    key : path, object or None
    options : Options

    Raises
    ------
    FormatError, InputError, KeyMismatchError, OSError
        As in `deciban.io.partitions.opening.open_trials`; or if an option is not for these inputs.
    """
    from deciban.io.partitions.opening import open_trials

    give_back_at_once(options.scale.n_bytes)  # joins precede all passes
    reading = options.reading.with_ids_read()
    if key is None and reading.renaming is not None:  # the truth is in the score file, with the same names
        reading = replace(reading, ids=reading.renaming.for_scores_alone())
    if reading.says("from_classes") and options.kind != "two-class":
        what = "from_classes: differences of two classes need all trials in memory, but the data are read in batches"
        raise memory_error(what, way="convert the scores first (deciban convert)")
    if any(isinstance(one, TwoFiles) for one in scores):
        refuse_options_of_keys(key, reading)
    entries = {one.name: getattr(reading, one.name) for one in fields(JoinOptions)}
    entries |= {"unit": reading.unit}
    entries |= options.how_sure.of_source | {"kind": options.kind, "memory": max(options.scale.n_bytes // 2, 1)}
    entries |= {"ids": reading.renaming, "groups": options.groups, "incomplete": options.incomplete}
    named = NAMING if options.worst else ()
    entries |= {"conditions": tuple(dict.fromkeys((*condition_columns(options), *named)))}
    if any(map(reading.says, ("log10", "lr", "negate", "posterior_prior", "detection_llr", "probabilities"))):
        entries["converted"] = partial(_in_nats, reading=reading)
    source = open_trials(list(scores), key, speakers=options.scale.speaker_files or None, **entries)
    kind = kind_called("classes" if source.classes else "two-class")
    kind.refuse_reading(reading)
    double = source.is_double or reading.probabilities is not None
    messages = (*source.messages, *_said(source, kind, reading))
    return replace(source, systems=new_names(source.systems, reading.names), is_double=double, messages=messages)


def condition_columns(options: Options) -> tuple[str, ...]:
    """Return the columns and sides that divide trials into conditions, also for a protocol."""
    items = [*options.split.partitions, *options.split.equalized]
    if options.plan is not None:
        from deciban.workflows.evaluate.plans import plan_columns

        items.append(plan_columns(options.plan))
    return tuple(dict.fromkeys(one.side or one.name for columns in items for one in columns))


def _in_nats(scores: AnyArray, classes: Sequence[str], *, reading: Reading) -> AnyArray:
    """Return multiclass scores as log-likelihoods; readers already take logarithms of most two-class scores."""
    if reading.probabilities is not None:
        prior = prior_of_classes(reading) if classes else reading.probabilities
        return logarithms_of_probabilities(scores, classes, prior)
    if reading.negate:
        return 0.0 - scores
    return in_nats(scores, classes, reading) if classes else scores


def _said(source: TrialSource, kind: AnyKind, reading: Reading) -> list[Message]:
    """Return the messages about the selection of trials and about the join."""
    result = Kind.key_messages(kind, None, reading)
    if reading.negate:
        result.append(Message("note", "", negation_note()))
    if reading.probabilities is not None:
        prior = kind.prior_of_probabilities(reading, source.classes)
        result.append(became_logarithms(prior, is_classes=bool(source.classes)))
    if source.report is None or reading.by_order:
        return [*result, *kind.by_order_messages(reading)]
    return [*result, *kind.messages_on_join(reading, source.report)]


def _source_of(
    kind: AnyKind, aligned: Sequence[Any], weight: CountArray | None, name: str, options: Options, **about: Raw
) -> TrialSource:
    """Return joined trials as a source of one batch."""
    first = aligned[0]
    entries = dict(_conditions(first.trials, options))
    batch = Batch(
        tuple(one.score for one in aligned),
        kind.truth_of(first),
        weight=weight,
        conditions=tuple(entries.values()),
        trials=first.trials,
    )
    sides, classes = () if first.trials.sides == ROW else first.trials.sides, kind.classes_of(first.scores)
    aliases = [side for side in entries if first.trials.origin.side_called(side) in sides]
    return TrialSource(
        name,
        (LoadedPartition(batch, name),),
        tuple(one.name for one in aligned),
        classes,
        is_double=any(one.dtype == np.float64 for one in batch.scores),
        has_weights=weight is not None,
        sides=sides,
        units=() if classes else tuple(one.scores.unit for one in aligned),
        report=first.report,
        conditions=tuple(entries),
        columns=(*sides, *first.trials.conditions),
        names=(*sides, *aliases),
        **about,
    )


def _conditions(trials: Trials, options: Options) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Yield the name of every column that divides trials, with codes and their values."""
    for name in condition_columns(options):
        side = trials.origin.side_called(name)
        if name in trials.conditions:
            values = trials.condition(name)
        elif side in trials.sides and trials.sides != ROW:
            at = trials.sides.index(side)
            yield name, (np.asarray(trials.codes[at], np.int64), trials.names[at])
            continue
        else:
            continue
        yield name, coded_column(values)


NAMES = {"tar": ("tar", "same"), "non": ("non", "different")}
"""Names of the arguments for files of targets and of non-targets."""


def named_scores(scores: Any, key: PathLike | None, entries: Mapping[str, Any]) -> tuple[Paths, dict[str, Any]]:
    """Return the score files, or pairs of files of targets and non-targets, and the other arguments.

    Parameters
    ----------
    scores, key
        As in `deciban.evaluate_files`.
    entries : mapping
        Keyword arguments. ``tar`` and ``non`` (or ``same`` and ``different``) are paths or sequences of paths: the
        scores of targets and of non-targets, one file for each system, in the same order.

    Returns
    -------
    paths
    dict
        The other arguments.

    Raises
    ------
    InputError
        If there are no files, only targets or only non-targets, score files as well as pairs, different numbers of
        files of targets and non-targets, one file in both roles, or a key.

    Examples
    --------
    >>> named_scores(None, None, {"tar": "a.txt", "non": "b.txt", "log10": True})
    ([TwoFiles(tar='a.txt', non='b.txt')], {'log10': True})
    """
    others = {name: value for name, value in entries.items() if not any(name in names for names in NAMES.values())}
    tar, non = (_side(entries, names) for names in NAMES.values())
    if not tar and not non:
        if scores is None or _is_empty(scores):
            raise InputError(
                "scores: no file given. Name score files; or two files for each system, of targets "
                f"({option(tar=...)}) and of non-targets ({option(non=...)})."
            )
        return scores, others
    if scores is not None and not _is_empty(scores):
        raise InputError(
            "scores: got score files as well as files of targets and non-targets (tar, non). Name only one of both; "
            f"for several systems, {either('pass tar=[A, B], non=[C, D]', '--tar A --tar B --non C --non D')}."
        )
    if not tar or not non:
        lacking, there = ("tar", "non-targets") if non else ("non", "targets")
        raise InputError(f"tar, non: there are only scores of {there}. Add {option(**{lacking: 'FILE'})}.")
    if len(tar) != len(non):
        raise InputError(
            f"tar, non: {counted(len(tar), 'file')} of targets and {len(non):,} of non-targets. Every system needs one "
            "of each, in the same order; for several files of one system, use a pattern ('part-*.txt')."
        )
    if key is not None:
        raise InputError(
            "key: defines the targets, and so do two files of scores (tar, non). Leave the key out, or name only score "
            "files."
        )
    for one, other in zip(tar, non, strict=True):
        if str(one) != "-" and os.path.realpath(one) == os.path.realpath(other):
            raise InputError(
                f"{display_name(one)}: given as the scores of targets and of non-targets. Name a file for each, or one "
                "file with labels."
            )
    return [TwoFiles(one, other) for one, other in zip(tar, non, strict=True)], others


def _is_empty(scores: object) -> bool:
    """Return True for an empty list of score files."""
    return isinstance(scores, list | tuple) and not scores


def _side(entries: Mapping[str, Any], names: Sequence[str]) -> list[Any]:
    """Return the files of one side, by either of its names.

    Raises
    ------
    InputError
        If both names are used, or an item is not a file name.
    """
    used = {name: entries[name] for name in names if entries.get(name) is not None and entries[name] != ()}
    if len(used) > 1:
        raise InputError(f"{', '.join(used)}: two names of one argument, and both are given. Leave one out.")
    return [path for name, paths in used.items() for path in paths_of(paths, name=name)]
