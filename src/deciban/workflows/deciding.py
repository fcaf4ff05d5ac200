"""Decisions for score files: the action of least expected cost for each trial, row by row."""

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

from deciban._files import PathLike, ScratchFolder, atomic_write, display_name
from deciban.decisions import Application, DecisionTally
from deciban.decisions.risks import Decisions, checked_loglik, counts_and_risk, decided
from deciban.errors import InputError, refuse
from deciban.evaluation.reliability import remark_on_llrs
from deciban.evaluation.summary import summarize
from deciban.io.columns.columnar import ReadAs
from deciban.io.columns.headers import unit_in_words
from deciban.io.columns.rows import Rows
from deciban.io.cost_files import CostTable, read_costs
from deciban.io.formats import by_name
from deciban.io.reader import Input
from deciban.io.recognition import is_stream
from deciban.io.shards.matrices import MatrixInput, MatrixRows, table_of_matrix
from deciban.io.shards.opening import opened_input
from deciban.io.shards.writing import TableWriter, in_order
from deciban.io.source import TwoFiles, single_files
from deciban.io.writing import refuse_overwriting, target_name
from deciban.messages import WARNING, Message, as_message, counted
from deciban.models.mapped import mapped
from deciban.models.score_model import ScoreModel
from deciban.steps import teller
from deciban.trials.classes import Looks
from deciban.trials.frames import to_arrow
from deciban.trials.lists import ROW
from deciban.types import CountArray, Progress, ScoreArray
from deciban.workflows.applied import ToApply, applied, naming, on_same_rows
from deciban.workflows.apply import apply_files, how_to_read
from deciban.workflows.inputs import Paths, ScoreFiles, paths_of, read_joined
from deciban.workflows.kinds import AnyKind, kind_called
from deciban.workflows.kinds.score_units import decision_messages
from deciban.workflows.model_files import AnyModel, in_class_order, model_message, path_of_model, trained_model
from deciban.workflows.options import Options, Reading
from deciban.workflows.quality import QualityFiles, quality_paths

_FULL = "decisions.parquet"


_NON_TARGETS = {"nontarget", "non-target", "non", "imp", "impostor", "imposter", "spoof", "different"}


@dataclass(frozen=True, slots=True, eq=False)
class PiecesToDecide:
    """A score file in pieces.

    Attributes
    ----------
    pieces : sequence of Rows
    read : function
        The contents of a piece.
    name, reading : str
        What messages call the file, and how it is read.
    """

    pieces: Sequence[Rows]
    read: Callable[[Rows], Input]
    name: str
    reading: str


def pieces_to_decide(path: PathLike, kind: AnyKind, options: Options) -> PiecesToDecide:
    """Open a score file: a table, a matrix whose cells are trials, or one with a row for each segment.

    Raises
    ------
    FormatError, InputError, OSError
        If it is none of these; if a matrix of classes does not fit in memory, or rows and columns have no names.
    """
    how = how_to_read(kind, options.reading, options.scale)
    opened = opened_input(path, how)
    if isinstance(opened, MatrixInput) and kind.name != "two-class":
        what = f"{display_name(path)}: a matrix with a column for each class is read as a whole"
        options.scale.require_room(what, [path], way="write it as a table first (deciban convert)")
        (file,) = ScoreFiles.of([path], None, options.reading).scores
        given = kind.read(file, options.reading, lambda _words: None)
        origin, n_rows = given.contents.origin, opened.shape[0]
        whole = MatrixRows(origin.name, n_rows, (opened,), None, 0, n_rows)
        return PiecesToDecide([whole], lambda _rows: given, origin.name, origin.reading)
    if isinstance(opened, MatrixInput) and opened.names is None and len(opened.shape) == 2:
        raise InputError(
            f"{display_name(path)}: rows and columns have no names, so that nothing says which trial a decision is "
            "about. Bring a matrix with names (HDF5, MATLAB), or a table with a row for each trial."
        )
    table = table_of_matrix(opened, also_nameless=True) if isinstance(opened, MatrixInput) else opened
    reader = ReadAs.of(table, how.options(kind.need)).settled()

    def read(rows: Rows) -> Input:
        return Input(reader.contents([rows], rows.name), by_name("parquet"))

    unit = unit_in_words(reader.roles.units.values())
    reading = table.reading if unit in table.reading else table.reading + unit
    return PiecesToDecide(table.rows, read, table.name, reading)


def require_target_first(table: CostTable) -> None:
    """Refuse costs of two classes whose first one, which is taken for the target, is called a non-target.

    Raises
    ------
    InputError
    """
    if table.classes[0].casefold() in _NON_TARGETS:
        raise InputError(
            f"{table.name}: the first of two classes is the target, here {table.classes[0]!r}. Exchange the "
            "classes, and the columns of costs."
        )


def applied_first(
    model: ScoreModel, paths: Paths, quality: QualityFiles | None, options: Options, say: Progress
) -> tuple[ScratchFolder, Path, list[Message]]:
    """What a fusion makes of several systems, in a temporary file.

    Raises
    ------
    FormatError, InputError, KeyMismatchError, OSError
        As `apply_files`.
    """
    folder = ScratchFolder()
    with folder.or_nothing() as path:
        out = path / _FULL
        told = apply_files(model, paths, out, quality=quality, progress=say, options=options)
    return folder, out, [one for one in told if one.kind not in ("wrote", "model")]


def of_applied(options: Options) -> Options:
    """The options for what `applied_first` wrote: in nats, in a format of its own; about a key they stay."""
    own = ("missing", "duplicates", "key_format", "key_columns", "labels", "where", "weights", "weights_required")
    kept: Any = {name: getattr(options.reading, name) for name in (*own, "ids", "from_classes")}
    return replace(options, reading=Reading(**kept))


_DELIMITERS = {".parquet": "", ".csv": ",", ".tsv": "\t", ".txt": "\t"}


@contextmanager
def _writer_to(out: PathLike) -> Iterator[TableWriter]:
    """Open a table for writing that is there only when the block ends without an error; ``-`` is CSV.

    Raises
    ------
    InputError
        If its ending says no format.
    """
    ending = ".csv" if str(out) == "-" else Path(out).suffix.lower()
    if ending not in _DELIMITERS:
        raise InputError(
            f"{display_name(out)}: ends in {ending or 'nothing'}. Tables are written as .csv, .tsv, .txt or .parquet."
        )
    opened = nullcontext(sys.stdout.buffer) if str(out) == "-" else atomic_write(out)
    with opened as stream, TableWriter(stream, target_name(out), delimiter=_DELIMITERS[ending]) as writer:
        yield writer


_NO_DECISIONS = "Decisions by thresholds on log-likelihood ratios mean nothing for such scores."

_ENOUGH = 30
"""The least number of trials of each class by which labels decide whether scores may be log-likelihood ratios."""


@dataclass(frozen=True, slots=True, eq=False)
class KeyedDecisions:
    """What decisions came to on trials of known truth.

    Attributes
    ----------
    counts : (n_actions, n_classes) array
        How often each action was taken in trials of each class.
    risk : float
        Mean cost, classes weighted by the prior.
    """

    counts: CountArray
    risk: float


@dataclass(frozen=True, slots=True, eq=False)
class DecidedFiles:
    """What was decided.

    Attributes
    ----------
    table : CostTable
    application : Application
        The costs at the prior.
    tally : DecisionTally
        How often each action was taken, and what is expected to be paid.
    keyed : KeyedDecisions or None
        With a key, what was paid on its trials.
    messages : tuple of Message
    """

    table: CostTable
    application: Application
    tally: DecisionTally
    keyed: KeyedDecisions | None
    messages: tuple[Message, ...]

    @property
    def lines(self) -> list[str]:
        """What the decisions come to, in words."""
        lines = self.tally.lines(self.table.actions, self.application)
        if self.keyed is not None:
            default = self.application.default_risk
            share = "" if default == 0.0 else f", {self.keyed.risk / default:.4g} of what the prior alone costs"
            lines.append(f"by the key a decision cost {self.keyed.risk:.6g} on average{share}")
        return lines


def decide_files(
    scores: Paths,
    out: PathLike | None,
    *,
    costs: PathLike | CostTable,
    prior: Any = None,
    model: AnyModel | None = None,
    quality: QualityFiles | None = None,
    key: PathLike | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> DecidedFiles:
    """Decide every trial of a score file, and write actions, posteriors, expected costs and margins.

    Parameters
    ----------
    scores : path
        Log-likelihood ratios, or log-likelihoods of classes, of one system; see `deciban.read_scores`. Of a matrix
        whose rows and columns have names, the cells are trials. For a fusion the files of all its systems.
    out : path, optional
        A table: CSV (``.csv``, ``-`` for standard output), TSV (``.tsv``, ``.txt``) or Parquet (``.parquet``), with the
        names of the trial, ``action``, ``posterior`` of the target (of many classes ``posterior_`` of each),
        ``expected_cost`` and ``margin``, to the next best action. Nothing is written if it is None.
    costs : path or CostTable
        See `deciban.io.read_costs`. The first of two classes is the target.
    prior : float, sequence, mapping or "flat", optional
        See `deciban.io.CostTable.application`.
    model : path or Model, optional
        A trained calibration of one system, which makes llrs of the scores; or a fusion of several, whose trials meet
        as in `deciban.apply_files`.
    quality : path, or mapping of side to path, optional
        Quality measures for a fusion that was trained with some; see `deciban.apply_files`.
    key : path, optional
        What the decisions cost on its trials, joined by name, is said besides; these trials are held in memory.
    progress : function, optional
        Called with a few words at every step.
    **options
        How files are read: attributes of `deciban.workflows.Reading`, and ``memory``.

    Returns
    -------
    DecidedFiles

    Raises
    ------
    FormatError, InputError, KeyMismatchError, OSError
        If something cannot be read, or classes are not those of the costs. Nothing is written then.

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
    loaded = None if model is None else trained_model(model, chosen.kind)
    kind = _kind_of(table, loaded, chosen)
    is_fused = loaded is not None and (loaded.is_fusion or bool(loaded.quality_arguments))
    paths = paths_of(scores, also=(key,)) if is_fused else _one_path(scores, key)
    if out is not None:
        read = [*single_files(paths), *(() if key is None else (key,)), *quality_paths(quality)]
        read += [] if isinstance(costs, CostTable) else [costs]
        refuse_overwriting([out], read if loaded is None else [*read, path_of_model(model)])
    told = [] if loaded is None else list(model_message(path_of_model(model), loaded))
    if loaded is None or not is_fused:
        refuse([] if quality is None else ["quality"], "the model takes no quality measures. Leave them out.")
        found = _Deciding(table, application, kind, chosen, loaded).decide(single_files(paths)[0], out, key, say)
        return replace(found, messages=(*told, *found.messages))
    folder, path, notes = applied_first(loaded, paths, quality, chosen, say)
    with folder.or_nothing():
        work = _Deciding(table, application, kind, of_applied(chosen), None, is_checked=True)
        found = work.decide(path, out, key, say)
    folder.remove()
    return replace(found, messages=(*told, *notes, *(one for one in found.messages if one.kind != "read")))


@dataclass(frozen=True)
class _Deciding:
    """Decides pieces of score files."""

    table: CostTable
    application: Application
    kind: AnyKind
    options: Options
    model: ScoreModel | None
    is_checked: bool = False
    """Whether the scores are those of a model, or enough labels allowed to check them."""

    def decide(self, path: PathLike, out: PathLike | None, key: PathLike | None, say: Progress) -> DecidedFiles:
        """Decide one file, after its trials of a key."""
        keyed, joined, work = None, tuple[Message, ...](), self
        if key is not None:
            _require_two_readings(path, key, self.options)
            keyed, joined = self.keyed(path, key, say)
            work = replace(self, is_checked=self.is_checked or bool(keyed.counts.sum(axis=0).min() >= _ENOUGH))
        say("deciding")
        tally, messages = work.written(path, out)
        return DecidedFiles(self.table, self.application, tally, keyed, (*messages, *joined))

    def written(self, path: PathLike, out: PathLike | None) -> tuple[DecisionTally, list[Message]]:
        """Decide all trials of a file, and write what was decided."""
        found = pieces_to_decide(path, self.kind, self.options)
        tell, n_done, n_read = teller(sum(one.n_rows for one in found.pieces), "rows"), 0, 0
        largest, tally = max((one.n_rows for one in found.pieces), default=1), list[DecisionTally]()
        notes: dict[Message, None] = {}
        looks = Looks()

        def made(rows: Any) -> tuple[pa.Table, DecisionTally, list[Message], Looks]:
            with naming(rows.name):
                return self._decided(found.read(rows))

        with ExitStack() as stack:
            writer = None if out is None else stack.enter_context(_writer_to(out))
            done = in_order(made, found.pieces, largest, self.options.scale.n_bytes)
            for rows, (rows_out, own, more, look) in done:
                if writer is not None:
                    writer.write(rows_out, rows.name)
                tally.append(own)
                notes |= dict.fromkeys(more)
                looks += look
                n_done, n_read = n_done + own.n_trials, n_read + rows.n_rows
                tell(n_read)
            if not tally or not n_done:
                raise InputError(f"{display_name(path)}: holds no trial.")
        read = f"{found.reading}   {counted(n_done, self.kind.noun)}"
        messages = [Message("read", found.name, read), *notes]
        whole, name = reduce(add, tally), display_name(path)
        if not self.is_checked:
            messages += decision_messages(name, looks)
        messages += self._all_alike(whole, name)
        if out is not None:
            messages.append(Message("wrote", target_name(out), counted(n_done, "decision")))
        return whole, messages

    def _all_alike(self, tally: DecisionTally, name: str) -> list[Message]:
        """Return the note on scores that never change the decision."""
        taken = np.flatnonzero(tally.counts)
        if len(taken) != 1 or tally.n_trials == 1:
            return []
        action = self.table.actions[int(taken[0])]
        words = (
            f"all {counted(tally.n_trials, self.kind.noun)} are decided alike ({action}): the scores change "
            "no decision. Check that they are log-likelihood ratios (deciban calibrate), and check prior and costs"
        )
        return [Message(WARNING, name, words)]

    def _decided(self, given: Input) -> tuple[pa.Table, DecisionTally, list[Message], Looks]:
        """Rows of a piece, what they come to, what is to be said, and what the scores look like."""
        system, notes = self._llrs(given)
        loglik = self._loglik(system.score, self.kind.classes_of(system))
        found = decided(checked_loglik(loglik, self.application, tell=False), self.application)
        index = given.contents.index
        names = pa.table({}) if index is None or index.trials.sides == ROW else to_arrow(index)
        return self._rows(names, found), found.tally(), notes, Looks() if self.model is not None else Looks.of(system)

    def _llrs(self, given: Input) -> tuple[Any, list[Message]]:
        """The scores of the one system in nats, or what the model makes of them."""
        kind, reading = self.kind, self.options.reading
        if self.model is None:
            notes = [as_message(note, given.contents.origin.name) for note in given.contents.notes]
            _ = given.contents.scores if kind.name == "two-class" else None  # which says how to choose one of several
            (system,) = kind.as_logarithms(kind.systems_of(given.contents, reading), reading)
            return kind.in_nats(system, reading), [*notes, *kind.unit_messages([system], reading)]
        done = applied(ToApply(self.model, reading), [given], [given.contents.origin.name], on_same_rows)
        return done.scores, list(done.tally.notes)

    def _loglik(self, scores: ScoreArray, classes: Sequence[str]) -> ScoreArray:
        """Return scores with the classes in the order of the costs."""
        if not classes:
            return np.asarray(scores)
        if set(classes) != set(self.table.classes):
            odd = sorted(set(classes) ^ set(self.table.classes))
            raise InputError(
                f"{self.table.name}: classes {', '.join(self.table.classes)}, the scores have {', '.join(classes)}; "
                f"{odd[0]!r} is in one of them only. Name the same classes."
            )
        return np.asarray(scores[:, [classes.index(name) for name in self.table.classes]])

    def _rows(self, names: pa.Table, found: Decisions) -> pa.Table:
        actions = pa.DictionaryArray.from_arrays(pa.array(found.action, pa.int32()), list(self.table.actions))
        columns: dict[str, Any] = {"action": actions.cast(pa.string())}
        if len(self.table.classes) == 2:
            columns["posterior"] = found.posterior[:, 0]
        else:
            columns |= {f"posterior_{name}": found.posterior[:, k] for k, name in enumerate(self.table.classes)}
        columns |= {"expected_cost": found.expected_cost, "margin": found.margin}
        for name in columns:
            if name in names.column_names:
                raise InputError(
                    f"columns: {name!r} is one of the scores, and what is decided would be written under that name. "
                    "Rename that column, or leave it out of the scores."
                )
        own = dict(zip(names.column_names, names.columns, strict=True))
        return pa.table(own | {name: pa.array(values) for name, values in columns.items()})

    def keyed(self, path: PathLike, key: PathLike, say: Progress) -> tuple[KeyedDecisions, tuple[Message, ...]]:
        """What decisions cost on the trials of a key."""
        source, notes = read_joined([path], key, self.options, progress=say), list[Message]()
        if self.model is not None:
            source, notes = in_class_order(self.model, source)
            source = mapped(source, self.model, source.systems[0])
        batch, classes = source.held, source.classes
        loglik, truth = self._loglik(batch.scores[0], classes), batch.labels
        place = np.array([self.table.classes.index(name) for name in classes] or [1, 0])
        found = decided(checked_loglik(loglik, self.application, tell=False), self.application)
        counts, risk = counts_and_risk(found.action, place[truth.astype(np.int64)], self.application, batch.weight)
        if self.model is None and not self.is_checked and not classes:
            said = remark_on_llrs(summarize(loglik[truth], loglik[~truth]))
            notes += [Message(WARNING, source.systems[0], f"{said} {_NO_DECISIONS}")] if said else []
        return KeyedDecisions(counts, risk), (*source.messages, *notes)


def _one_path(scores: Paths, key: PathLike | None) -> list[PathLike]:
    paths = paths_of(scores, also=(key,))
    if len(paths) != 1 or isinstance(paths[0], TwoFiles):
        raise InputError(
            f"scores: {len(paths)} inputs. Decisions are made by one system: name one file, a folder or a pattern; "
            "several systems are fused (--model of deciban fuse)."
        )
    return [one for one in paths if not isinstance(one, TwoFiles)]


def _require_two_readings(path: PathLike, key: PathLike, options: Options) -> None:
    """Refuse, with a key, scores that can be read only once, or that do not fit in memory with it."""
    if is_stream(path):
        raise InputError(
            f"{display_name(path)}: can be read once, and with a key scores are read twice. Write them to a file first."
        )
    what = f"key: {display_name(key)} and {display_name(path)} are read as a whole to find what decisions cost"
    options.scale.require_room(what, [path], key, way="leave out the key")


def _kind_of(table: CostTable, model: ScoreModel | None, options: Options) -> AnyKind:
    """What the scores are about, by the model, the user, or the number of classes."""
    name = options.kind or ("two-class" if len(table.classes) == 2 else "classes")
    if model is not None:
        name = model.scores_kind
    if name == "two-class":
        if len(table.classes) != 2:
            raise InputError(f"{table.name}: {len(table.classes)} classes, but the scores are about two.")
        require_target_first(table)
    return kind_called(name)
