"""Decisions for score files: the action of least expected cost for each trial, in batches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from deciban import errors
from deciban._files import ScratchFolder, atomic_write
from deciban._validate.classes import Prior
from deciban.decisions import Application, DecisionTally
from deciban.decisions.risks import Decisions, checked_loglik, counts_and_risk, decided
from deciban.errors import WARNING, InputError, Message, as_message, counted, display_name, option, refuse, teller
from deciban.evaluation.curves import remark_on_llrs
from deciban.evaluation.two_class.summary import summarize
from deciban.io.columns.columnar import TableRules
from deciban.io.columns.headers import unit_in_words
from deciban.io.columns.values import Rows
from deciban.io.decision_files import CostTable, read_costs
from deciban.io.formats import by_name
from deciban.io.partitions.matrices import MatrixInput, MatrixRows, table_of_matrix
from deciban.io.partitions.opening import opened_input
from deciban.io.partitions.writing import TableWriter, in_order
from deciban.io.reader import Input
from deciban.io.recognition import is_stream
from deciban.io.source import TwoFiles, single_files
from deciban.io.writing import refuse_overwriting, target_name
from deciban.models.score_model import ScoreModel
from deciban.models.sources import mapped
from deciban.trials.classes import ScoreStatistics
from deciban.trials.frames import to_arrow
from deciban.trials.lists import ROW
from deciban.types import CountArray, PathLike, Progress, ScoreArray
from deciban.workflows.apply import apply_files, how_to_read
from deciban.workflows.apply.systems import ToApply, applied, naming, on_same_rows
from deciban.workflows.kinds import AnyKind, application_messages, decision_messages, kind_called
from deciban.workflows.model_files import AnyModel, in_class_order, model_message, path_of_model, trained_model
from deciban.workflows.options import Options, Reading
from deciban.workflows.reading.inputs import Paths, ScoreFiles, paths_of, read_joined
from deciban.workflows.reading.quality import QualityFiles, quality_paths

_FULL = "decisions.parquet"


_NON_TARGETS = {"nontarget", "non-target", "non", "imp", "impostor", "imposter", "spoof", "different"}


@dataclass(frozen=True, slots=True, eq=False)
class BatchedScoreFile:
    """A score file that is read in batches.

    Attributes
    ----------
    partitions : sequence of Rows
    read : function
        Returns the contents of a batch.
    name, reading : str
        Name of the file and how it is read, for messages.
    """

    partitions: Sequence[Rows]
    read: Callable[[Rows], Input]
    name: str
    reading: str


def partitions_to_decide(path: PathLike, kind: AnyKind, options: Options) -> BatchedScoreFile:
    """Open a score file: a table, a matrix with trials as cells, or a matrix with a row for each segment.

    Raises
    ------
    FormatError, InputError, OSError
        If the file has another layout, a multiclass matrix does not fit in memory, or rows and columns have no names.
    """
    how = how_to_read(kind, options.reading, options.scale)
    opened = opened_input(path, how)
    if isinstance(opened, MatrixInput) and kind.name != "two-class":
        what = f"{display_name(path)}: a matrix with a column for each class is read as a whole"
        options.scale.require_room(what, [path], way="write it as a table first (deciban convert)")
        (file,) = ScoreFiles.of([path], None, options.reading).scores
        value = kind.read(file, options.reading, lambda _words: None)
        origin, n_rows = value.contents.origin, opened.shape[0]
        whole = MatrixRows(origin.name, n_rows, (opened,), None, 0, n_rows)
        return BatchedScoreFile([whole], lambda _rows: value, origin.name, origin.reading)
    if isinstance(opened, MatrixInput) and opened.names is None and len(opened.shape) == 2:
        raise InputError(
            f"{display_name(path)}: rows and columns have no names, so the trials of the decisions are unknown. "
            "Use a matrix with names (HDF5, MATLAB), or a table with a row for each trial."
        )
    table = table_of_matrix(opened, also_nameless=True) if isinstance(opened, MatrixInput) else opened
    reader = TableRules.of(table, how.options(kind.need)).settled()

    def read(rows: Rows) -> Input:
        return Input(reader.contents([rows], rows.name), by_name("parquet"))

    unit = unit_in_words(reader.roles.units.values())
    reading = table.reading if unit in table.reading else table.reading + unit
    return BatchedScoreFile(table.rows, read, table.name, reading)


def require_target_first(table: CostTable) -> None:
    """Refuse costs of two classes whose first class has the name of a non-target.

    Raises
    ------
    InputError
    """
    if table.classes[0].casefold() in _NON_TARGETS:
        raise InputError(
            f"{table.name}: the first of two classes must be the target, got {table.classes[0]!r}. Exchange the "
            "classes, and the columns of costs."
        )


def applied_first(
    model: ScoreModel, paths: Paths, quality: QualityFiles | None, options: Options, say: Progress
) -> tuple[ScratchFolder, Path, list[Message]]:
    """Apply a fusion to several systems, and write the result to a temporary file.

    Raises
    ------
    FormatError, InputError, KeyMismatchError, OSError
        As in `apply_files`.
    """
    folder = ScratchFolder()
    with folder.or_nothing() as path:
        out = path / _FULL
        messages = apply_files(model, paths, out, quality=quality, progress=say, options=options)
    return folder, out, [one for one in messages if one.kind not in ("wrote", "model")]


def of_applied(options: Options) -> Options:
    """Return the options for the output of `applied_first`: in nats, in its own format, with the options of the key."""
    own = ("missing", "duplicates", "key_format", "key_columns", "labels", "where", "weights", "weights_required")
    kept = {name: getattr(options.reading, name) for name in (*own, "ids", "from_classes")}
    return replace(options, reading=Reading(**kept))


_DELIMITERS = {".parquet": "", ".csv": ",", ".tsv": "\t", ".txt": "\t"}


@contextmanager
def _writer_to(out: PathLike) -> Iterator[TableWriter]:
    """Open a table for writing; it appears only if the block ends without an error. ``-`` is CSV on standard output.

    Raises
    ------
    InputError
        If the ending does not set a format.
    """
    ending = ".csv" if str(out) == "-" else Path(out).suffix.lower()
    if ending not in _DELIMITERS:
        raise InputError(
            f"{display_name(out)}: ends in {ending or 'nothing'}. Tables are written as .csv, .tsv, .txt or .parquet."
        )
    opened = nullcontext(sys.stdout.buffer) if str(out) == "-" else atomic_write(out)
    with opened as stream, TableWriter(stream, target_name(out), delimiter=_DELIMITERS[ending]) as writer:
        yield writer


_NO_DECISIONS = "Decisions by thresholds on log-likelihood ratios are meaningless for such scores."

_ENOUGH = 30
"""Minimum number of trials of each class to judge from labels whether scores can be log-likelihood ratios."""


@dataclass(frozen=True, slots=True, eq=False)
class KeyedDecisions:
    """Decisions on trials with known classes.

    Attributes
    ----------
    counts : (n_actions, n_classes) array
        Number of trials of each class with each action.
    risk : float
        Mean cost, with classes weighted by the prior.
    expected_cost : float
        The same mean of the costs that are expected from the scores.
    """

    counts: CountArray
    risk: float
    expected_cost: float

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain JSON types."""
        return {"counts": self.counts.tolist(), "risk": self.risk, "expected_cost": self.expected_cost}


@dataclass(frozen=True, slots=True, eq=False)
class DecidedFiles:
    """Result of `decide_files`.

    Attributes
    ----------
    table : CostTable
    application : Application
        Costs and prior.
    tally : DecisionTally
        Count of each action, and expected cost.
    keyed : KeyedDecisions or None
        With a key, the costs of the decisions on its trials.
    messages : tuple of Message
    """

    table: CostTable
    application: Application
    tally: DecisionTally
    keyed: KeyedDecisions | None
    messages: tuple[Message, ...]

    @property
    def lines(self) -> list[str]:
        """Summary of the decisions, as lines of text."""
        by_key = None if self.keyed is None else (self.keyed.risk, self.keyed.expected_cost)
        return self.tally.lines(self.table.actions, self.application, by_key)


def decide_files(
    scores: Paths,
    out: PathLike | None,
    *,
    costs: PathLike | CostTable,
    prior: Prior | float | None = None,
    model: AnyModel | None = None,
    quality: QualityFiles | None = None,
    key: PathLike | None = None,
    progress: Progress | None = None,
    **options: object,
) -> DecidedFiles:
    """Decide every trial of a score file, and write actions, posteriors, expected costs and margins.

    Parameters
    ----------
    scores : path
        Log-likelihood ratios, or log-likelihoods of classes, of one system; see `deciban.read_scores`. If the rows and
        columns of a matrix have names, its cells are trials. For a fusion, the files of all its systems.
    out : path, optional
        Output table: CSV (``.csv``, ``-`` for standard output), TSV (``.tsv``, ``.txt``) or Parquet (``.parquet``). It
        contains trial names, ``action``, ``posterior`` of the target (multiclass: ``posterior_`` of each class),
        ``expected_cost``, and ``margin`` to the second best action. None for no output.
    costs : path or CostTable
        See `deciban.io.read_costs`. The first of two classes is the target.
    prior : float, sequence, mapping or "flat", optional
        See `deciban.io.CostTable.application`.
    model : path or Model, optional
        A trained calibration of one system to apply first; or a fusion of several systems, with a join as in
        `deciban.apply_files`.
    quality : path, or mapping of side to path, optional
        Quality measures, for a fusion that was trained with some; see `deciban.apply_files`.
    key : path, optional
        Report the cost of the decisions on the trials of this key, joined by name. These trials must fit in memory.
    progress : function, optional
        Called with a short description of every step.
    **options
        Options for reading files: attributes of `deciban.workflows.Reading`, and ``memory``.

    Returns
    -------
    DecidedFiles

    Raises
    ------
    FormatError, InputError, KeyMismatchError, OSError
        If something cannot be read, or the classes of scores and costs differ. Then nothing is written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "llr.csv").write_text("trial,score\\na,2.5\\nb,0.1\\nc,-3\\n")
    >>> table = CostTable(("accept", "reject", "ask"), ("target", "other"), np.array([[0, 1], [1, 0], [0.2, 0.2]]))
    >>> found = decide_files(folder / "llr.csv", folder / "decisions.csv", costs=table, prior=0.5)
    >>> print((folder / "decisions.csv").read_text().splitlines()[0])
    "trial","action","posterior","expected_cost","margin"
    >>> found.tally.counts
    array([1, 1, 1])
    """
    chosen, say = Options.of("decide_files", options), progress or (lambda _words: None)
    table = costs if isinstance(costs, CostTable) else read_costs(costs)
    application = table.application(prior)
    about_key = [name for name in ("key_format", "key_columns") if getattr(chosen.reading, name) is not None]
    refuse(about_key if key is None else [], f"there is no key. Leave it out, or give a key ({option(key=...)}).")
    loaded = None if model is None else trained_model(model, chosen.kind)
    kind = _kind_of(table, loaded, chosen)
    is_fused = loaded is not None and (loaded.is_fusion or bool(loaded.quality_arguments))
    paths = paths_of(scores, also=(key,)) if is_fused else _one_path(scores, key)
    if out is not None:
        read = [*single_files(paths), *(() if key is None else (key,)), *quality_paths(quality)]
        read += [] if isinstance(costs, CostTable) else [costs]
        refuse_overwriting([out], read if loaded is None else [*read, path_of_model(model)])
    messages = [] if loaded is None else list(model_message(path_of_model(model), loaded))
    if loaded is None or not is_fused:
        refuse([] if quality is None else ["quality"], "the model uses no quality measures. Leave it out.")
        with _costs_explain_scores(table):
            result = _Deciding(table, application, kind, chosen, loaded).decide(single_files(paths)[0], out, key, say)
        return replace(result, messages=(*messages, *result.messages))
    # The key is joined afterwards, with the llrs.
    no_key = replace(chosen, reading=replace(chosen.reading, key_format=None, key_columns=None))
    folder, path, notes = applied_first(loaded, paths, quality, no_key, say)
    with folder.or_nothing():
        work = _Deciding(table, application, kind, of_applied(chosen), None, is_checked=True)
        result = work.decide(path, out, key, say)
    folder.remove()
    return replace(result, messages=(*messages, *notes, *(one for one in result.messages if one.kind != "read")))


@dataclass(frozen=True)
class _Deciding:
    """Decides the batches of score files."""

    table: CostTable
    application: Application
    kind: AnyKind
    options: Options
    model: ScoreModel | None
    is_checked: bool = False
    """Whether the scores come from a model, or a key had enough labels to check them."""

    def decide(self, path: PathLike, out: PathLike | None, key: PathLike | None, say: Progress) -> DecidedFiles:
        """Decide one file, after its trials in a key."""
        keyed, joined, work = None, tuple[Message, ...](), self
        if key is not None:
            _require_two_readings(path, key, self.options)
            keyed, joined = self.keyed(path, key, say)
            work = replace(self, is_checked=self.is_checked or bool(keyed.counts.sum(axis=0).min() >= _ENOUGH))
        say("deciding")
        tally, messages = work.written(path, out)
        of_key = [one for one in joined if one.kind != "read" and one not in messages]
        return DecidedFiles(self.table, self.application, tally, keyed, (*messages, *of_key))

    def written(self, path: PathLike, out: PathLike | None) -> tuple[DecisionTally, list[Message]]:
        """Decide all trials of a file, and write the decisions."""
        result = partitions_to_decide(path, self.kind, self.options)
        tell, n_done, n_read = teller(sum(one.n_rows for one in result.partitions), "rows"), 0, 0
        largest, tally = max((one.n_rows for one in result.partitions), default=1), list[DecisionTally]()
        notes: dict[Message, None] = {}
        looks = ScoreStatistics()

        def output(rows: Rows) -> tuple[pa.Table, DecisionTally, list[Message], ScoreStatistics]:
            with naming(rows.name):
                return self._decided(result.read(rows))

        with ExitStack() as stack:
            writer = None if out is None else stack.enter_context(_writer_to(out))
            done = in_order(output, result.partitions, largest, self.options.scale.n_bytes)
            for rows, (rows_out, own, more, look) in done:
                if writer is not None:
                    writer.write(rows_out, rows.name)
                tally.append(own)
                notes |= dict.fromkeys(replace(one, origin=one.origin and result.name) for one in more)
                looks += look
                n_done, n_read = n_done + own.n_trials, n_read + rows.n_rows
                tell(n_read)
            if not tally or not n_done:
                raise InputError(f"{display_name(path)}: contains no trials.")
        read = f"{result.reading}   {counted(n_done, self.kind.noun)}"
        messages = [Message("read", result.name, read), *notes]
        whole, name = reduce(add, tally), display_name(path)
        if self.model is not None:
            messages += application_messages([name], [looks])
        elif not self.is_checked:
            messages += decision_messages(name, looks)
        messages += self._all_alike(whole, name)
        if out is not None:
            messages.append(Message("wrote", target_name(out), counted(n_done, "decision")))
        return whole, messages

    def _all_alike(self, tally: DecisionTally, name: str) -> list[Message]:
        """Return a note if all trials get the same decision."""
        taken = np.flatnonzero(tally.counts)
        if len(taken) != 1 or tally.n_trials == 1:
            return []
        action = self.table.actions[int(taken[0])]
        words = (
            f"all {counted(tally.n_trials, self.kind.noun)} get the same decision ({action}), whatever their scores. "
            f"Check that the scores are {self.kind.output} (deciban calibrate), and check prior and costs"
        )
        return [Message(WARNING, name, words)]

    def _decided(self, file: Input) -> tuple[pa.Table, DecisionTally, list[Message], ScoreStatistics]:
        """Return the output rows of a batch, its tally, messages, and statistics of the scores."""
        system, notes, looks = self._llrs(file)
        loglik = self._loglik(system.score, self.kind.classes_of(system))
        result = decided(checked_loglik(loglik, self.application, tell=False), self.application)
        index = file.contents.index
        names = pa.table({}) if index is None or index.trials.sides == ROW else to_arrow(index)
        return self._rows(names, result), result.tally(), notes, looks

    def _llrs(self, file: Input) -> tuple[Any, list[Message], ScoreStatistics]:
        """Return the scores of the system in nats, possibly after applying the model, messages and statistics."""
        kind, reading = self.kind, self.options.reading
        if self.model is None:
            notes = [as_message(note, file.contents.origin.name) for note in file.contents.notes]
            _ = file.contents.scores if kind.name == "two-class" else None  # raises an error with a hint
            (system,) = kind.as_logarithms(kind.systems_of(file.contents, reading), reading)
            system, notes = kind.in_nats(system, reading), [*notes, *kind.unit_messages([system], reading)]
            return system, notes, ScoreStatistics.of(system)
        done = applied(ToApply(self.model, reading), [file], [file.contents.origin.name], on_same_rows)
        return done.scores, list(done.tally.notes), done.tally.looks[0]

    def _loglik(self, scores: ScoreArray, classes: Sequence[str]) -> ScoreArray:
        """Return scores with the classes in the order of the costs."""
        if not classes:
            return np.asarray(scores)
        if set(classes) != set(self.table.classes):
            raise InputError(
                f"{self.table.name}: has the classes {', '.join(self.table.classes)}, and the scores have "
                f"{', '.join(classes)}. Use the same names."
            )
        return np.asarray(scores[:, [classes.index(name) for name in self.table.classes]])

    def _rows(self, names: pa.Table, result: Decisions) -> pa.Table:
        actions = pa.DictionaryArray.from_arrays(pa.array(result.action, pa.int32()), list(self.table.actions))
        columns: dict[str, Any] = {"action": actions.cast(pa.string())}
        if len(self.table.classes) == 2:
            columns["posterior"] = result.posterior[:, 0]
        else:
            columns |= {f"posterior_{name}": result.posterior[:, k] for k, name in enumerate(self.table.classes)}
        columns |= {"expected_cost": result.expected_cost, "margin": result.margin}
        for name in columns:
            if name in names.column_names:
                raise InputError(
                    f"columns: the scores have a column {name!r}, and the decisions would be written under that name. "
                    "Rename that column, or leave it out of the scores."
                )
        own = dict(zip(names.column_names, names.columns, strict=True))
        return pa.table(own | {name: pa.array(values) for name, values in columns.items()})

    def keyed(self, path: PathLike, key: PathLike, say: Progress) -> tuple[KeyedDecisions, tuple[Message, ...]]:
        """Return the costs of the decisions on the trials of a key."""
        source, notes = read_joined([path], key, self.options, progress=say), list[Message]()
        if self.model is not None:
            source, notes = in_class_order(self.model, source)
            source = mapped(source, self.model, source.systems[0])
        batch, classes = source.held, source.classes
        loglik, truth = self._loglik(batch.scores[0], classes), batch.labels
        place = np.array([self.table.classes.index(name) for name in classes] or [1, 0])
        result = decided(checked_loglik(loglik, self.application, tell=False), self.application)
        truth_in_order, prior = place[truth.astype(np.int64)], self.application.prior
        counts, risk = counts_and_risk(result.action, truth_in_order, self.application, batch.weight)
        share = prior / np.where(prior > 0.0, counts.sum(axis=0), 1)
        expected = np.dot(result.expected_cost * (1.0 if batch.weight is None else batch.weight), share[truth_in_order])
        if self.model is None and not self.is_checked and not classes:
            messages = remark_on_llrs(summarize(loglik[truth], loglik[~truth]))
            notes += [Message(WARNING, source.systems[0], f"{messages} {_NO_DECISIONS}")] if messages else []
        return KeyedDecisions(counts, risk, float(expected)), (*source.messages, *notes)


@contextmanager
def _costs_explain_scores(table: CostTable) -> Iterator[None]:
    """Explain an error about the column of scores: costs of two classes need one."""
    try:
        yield
    except errors.FormatError as error:
        words = "which column is the score", "contains no scores"
        if len(table.classes) != 2 or not any(one in str(error) for one in words):
            raise
        why = f"One score per trial is needed, because {table.name} has costs of two classes"
        raise errors.FormatError(
            f"{error}\n{why} ({', '.join(table.classes)}). Scores of classes need costs of the same classes."
        ) from error


def _one_path(scores: Paths, key: PathLike | None) -> list[PathLike]:
    paths = paths_of(scores, also=(key,))
    if len(paths) != 1 or isinstance(paths[0], TwoFiles):
        raise InputError(
            f"scores: got {len(paths)} inputs. Decisions need one system: name one file, a folder or a pattern; or "
            f"fuse several systems ({option(model=...)})."
        )
    return [one for one in paths if not isinstance(one, TwoFiles)]


def _require_two_readings(path: PathLike, key: PathLike, options: Options) -> None:
    """Refuse, with a key, scores that can be read only once, or that do not fit in memory with the key."""
    if is_stream(path):
        raise InputError(
            f"{display_name(path)}: can be read only once, but with a key, scores are read twice. Write them to a file."
        )
    what = f"key: {display_name(key)} and {display_name(path)} are read as a whole to compute the costs of decisions"
    options.scale.require_room(what, [path], key, way="leave out the key")


def _kind_of(table: CostTable, model: ScoreModel | None, options: Options) -> AnyKind:
    """Return the kind of the scores, from the model, the option, or the number of classes."""
    name = options.kind or ("two-class" if len(table.classes) == 2 else "classes")
    if model is not None:
        name = model.scores_kind
    if name == "two-class":
        if len(table.classes) != 2:
            raise InputError(f"{table.name}: {len(table.classes)} classes, but the scores are two-class.")
        require_target_first(table)
    return kind_called(name)
