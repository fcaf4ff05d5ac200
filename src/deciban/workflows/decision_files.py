"""Hard decisions in files against a key: read as codes of actions, joined like scores, and evaluated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from deciban._files import PathLike, ScratchFolder, display_name
from deciban.core.ranks.operating import OperatingPoint, as_operating_point
from deciban.decisions import Application, error_costs
from deciban.errors import InputError, KeyMismatchError, MissingScoresError, refuse
from deciban.evaluation.decided import DecisionEvaluation, DecisionProblem, evaluate_decisions
from deciban.evaluation.summary import DEFAULT_POINTS
from deciban.io.cost_files import CostTable, read_costs
from deciban.io.decision_files import LINES, DecisionFile, read_decision_lines, read_decisions
from deciban.io.source import TwoFiles
from deciban.messages import Message, counted
from deciban.trials import JoinReport
from deciban.trials.sources import ShardSource
from deciban.types import BoolArray, Progress
from deciban.workflows.deciding import require_target_first
from deciban.workflows.inputs import Paths, ScoreFiles, paths_of
from deciban.workflows.kinds import kind_called
from deciban.workflows.options import KindName, Options
from deciban.workflows.units import units_of_batch

_TWO = ("accept", "reject")

_OF_SCORES = ("format", "log10", "lr", "negate", "probabilities", "posterior_prior", "detection_llr")
"""Options that say what scores are, or how they stand in files."""

_UNCLEAR = {"0", "1", "-1", "n", "y", "no", "yes", "f", "t", "false", "true"}
"""Words of two answers, of which nobody guesses to what question."""


@dataclass(frozen=True, slots=True, eq=False)
class DecidedResults:
    """What the decisions of several systems come to on the trials of a key.

    Attributes
    ----------
    systems : tuple of DecisionEvaluation
    join : JoinReport
    messages : tuple of Message
    """

    systems: tuple[DecisionEvaluation, ...]
    join: JoinReport
    messages: tuple[Message, ...]

    def to_dict(self) -> dict[str, Any]:
        """The numbers as plain JSON types."""
        kind = self.systems[0].kind
        return {"kind": kind, "systems": [one.to_dict() for one in self.systems], "decisions": True}


def evaluate_decision_files(
    paths: Paths,
    key: PathLike | None = None,
    *,
    accept: Sequence[str] = (),
    reject: Sequence[str] = (),
    decision_column: str | None = None,
    costs: PathLike | CostTable | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> DecidedResults:
    """Evaluate files of decisions, such as `deciban.decide_files` writes: error rates, costs, and who was decided how.

    Parameters
    ----------
    paths : sequence of paths, or one path
        Tables with the names of trials and a column of decisions: CSV, TSV, Parquet, or text with blanks between
        columns. They are held in memory.
    key : path, optional
        Which trials are targets, or of which class; not needed if the tables have a column ``label``.
    accept, reject : sequence of str
        Words that mean accepting and rejecting, beside these: ``["1"]`` and ``["0"]``.
    decision_column : str, optional
        The column of decisions; ``action`` or ``decision`` when left out.
    costs : path or CostTable, optional
        Actions and what they cost; see `deciban.io.read_costs`. Without a prior of their own they are for that of the
        first operating point, or of ``prior`` for many classes.
    progress : function, optional
        Called with a few words at every step.
    **options
        As in `deciban.evaluate_files`: how a key is read and joined, ``operating_points`` and ``units``; of many
        classes ``classes``, ``prior`` and ``p_target``.

    Returns
    -------
    DecidedResults

    Raises
    ------
    FormatError, InputError, KeyMismatchError, OSError
        If something cannot be read, a word is no action, or trials have no decision.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "decided.csv").write_text("trial,action\\na,accept\\nb,reject\\nc,accept\\n")
    >>> _ = (folder / "key.csv").write_text("trial,label\\na,target\\nb,nontarget\\nc,nontarget\\n")
    >>> (one,) = evaluate_decision_files(folder / "decided.csv", folder / "key.csv").systems
    >>> one.rates
    {'p_miss': 0.0, 'p_fa': 0.5}
    """
    chosen, say = Options.of("evaluate_decision_files", options), progress or (lambda _words: None)
    _refuse_options_of_scores(chosen)
    table = None if costs is None else costs if isinstance(costs, CostTable) else read_costs(costs)
    words = dict.fromkeys(accept, "accept") | dict.fromkeys(reject, "reject")
    named = _columns(chosen)
    found, given = list[DecisionFile](), paths_of(paths, also=(key,), name="decisions")
    chosen.scale.require_room("memory: decisions and their key are read as a whole", given, key)
    for path in given:
        if isinstance(path, TwoFiles):
            raise InputError("decisions: name files of decisions; of targets and non-targets apart there are none.")
        say(f"reading {display_name(path)}")
        if chosen.reading.format == LINES:
            given_words = {"accept": accept, "reject": reject, "decision_column": decision_column, "columns": named}
            why = f"lines of {LINES} say t or f in a place of their own. Leave it out."
            refuse((name for name, value in given_words.items() if value), why)
            found.append(read_decision_lines(path))
            continue
        actions = _actions(table, chosen, words)
        found.append(read_decisions(path, actions=actions, words=words, column=decision_column, columns=named))
    kind = _kind(found, table, chosen)
    if kind == "two-class" and table is not None:
        require_target_first(table)
    if kind == "two-class" and table is None:
        found = [_in_order(one, _TWO) for one in found]
    elif kind == "classes" and table is None and chosen.reading.classes is None:
        every = tuple(sorted({name for one in found for name in one.actions}))
        found = [_in_order(one, every) for one in found]
    folder = ScratchFolder()
    with folder.or_nothing() as scratch:
        names = (table and table.classes) or chosen.reading.classes or found[0].classes or found[0].actions
        written = _written(found, scratch, ["score"] if kind == "two-class" else names)
        source = _joined(written, found, key, replace(chosen, kind=kind), say)
    folder.remove()
    source, said = units_of_batch(source, chosen.how_sure, kind_called(kind))
    systems = tuple(_evaluated(source, chosen, found, kind, table))
    assert source.report is not None  # noqa: S101  # all trials were joined
    return DecidedResults(systems, source.report, (*_messages(found, source), *said))


def _refuse_options_of_scores(options: Options) -> None:
    """Refuse what would change codes of actions as if they were scores, or would be overlooked."""
    reading, scale = options.reading, options.scale
    given = [name for name in _OF_SCORES if getattr(reading, name) not in (None, False)]
    given = [name for name in given if name != "format" or reading.format != LINES]
    given += [name for name in ("dask", "speakers") if getattr(scale, name) not in (None, False)]
    refuse(given, "about scores, and decisions are none; they are read as tables, and held in memory. Leave it out.")
    if reading.missing not in ("error", "drop"):
        raise InputError(
            f"missing: got {reading.missing!r}, a score to fill in. No number is a decision: leave out the trials "
            "without one (missing='drop', --missing drop), or write their decisions into the file."
        )


def _columns(options: Options) -> list[str] | None:
    given = options.reading.columns
    if isinstance(given, Mapping):
        raise InputError("columns: of decisions, name all columns in their order (--columns enroll,test,action).")
    names = given.split(",") if isinstance(given, str) else given
    return None if names is None else [one.strip() for one in names]


def _actions(table: CostTable | None, options: Options, words: Mapping[str, str]) -> Sequence[str] | None:
    """What may be done, if somebody said it."""
    if table is not None:
        return table.actions
    return _TWO if words or options.kind == "two-class" else options.reading.classes


def _kind(found: Sequence[DecisionFile], table: CostTable | None, options: Options) -> KindName:
    """Decisions to accept or reject are about two classes, others are about many; costs say it."""
    if any(one.accepts is not None for one in found):
        if table is not None:
            raise InputError(f"costs: {table.name}, but {LINES} has decisions about each class by itself, for C_avg.")
        _require_same_languages(found, options.reading.classes)
        return "classes"
    if table is not None:
        return "two-class" if len(table.classes) == 2 and options.kind != "classes" else "classes"
    unclear = [one for one in found if {name.casefold() for name in one.actions} <= _UNCLEAR]
    if unclear and options.kind is None and options.reading.classes is None:
        raise InputError(
            f"{unclear[0].name}: column {unclear[0].column!r} holds {', '.join(unclear[0].actions)}. Say which of them "
            "means accepting, and which rejecting: accept=, reject= (--accept 1 --reject 0)."
        )
    for one in found if options.kind is None and options.reading.classes is None else ():
        odd = sorted(set(one.actions) - set(_TWO))
        if odd and len(odd) < len(one.actions):
            raise _neither(one, odd[0])
    return options.kind or ("two-class" if all(set(one.actions) <= set(_TWO) for one in found) else "classes")


def _neither(one: DecisionFile, word: str) -> InputError:
    return InputError(
        f"{one.name}: {word!r} is neither accept nor reject. Say what the words mean (accept=, reject=, "
        "--accept, --reject), or name the costs of all actions (costs=, --costs)."
    )


def _require_same_languages(found: Sequence[DecisionFile], given: Sequence[str] | None) -> None:
    """Refuse files that are not about the same languages: one that is not there was not rejected."""
    wanted = set(given or found[0].classes or ())
    for one in found:
        odd = sorted(wanted ^ set(one.classes or ()))
        if odd:
            raise InputError(
                f"{one.name}: decides about {', '.join(one.classes or ())}; {', '.join(odd)} is not in both, it and "
                f"{'classes (--classes)' if given else found[0].name}. All systems decide about the same classes."
            )


def _in_order(one: DecisionFile, actions: tuple[str, ...]) -> DecisionFile:
    odd = [name for name in one.actions if name not in actions]
    if odd:
        raise _neither(one, odd[0])
    place = np.array([actions.index(name) for name in one.actions])
    return replace(one, action=place[one.action], actions=actions)


def _written(found: Sequence[DecisionFile], folder: Path, columns: Sequence[str]) -> list[PathLike]:
    """Tables in which codes of actions stand for the scores of trials."""
    written = list[PathLike]()
    for k, one in enumerate(found):
        place = folder / str(k) / f"{Path(one.name).stem}.parquet"
        place.parent.mkdir()
        own: dict[str, Any] = {name: one.names[name] for name in one.names.column_names if name not in columns}
        codes = pa.array(one.action.astype(np.float64))
        parquet.write_table(pa.table(own | dict.fromkeys(columns, codes)), place)
        written.append(place)
    return written


def _joined(
    written: Sequence[PathLike], found: Sequence[DecisionFile], key: PathLike | None, options: Options, say: Progress
) -> ShardSource:
    """Return decisions on the trials of a key."""
    own = replace(options, reading=replace(options.reading, format=None, columns=None, classes=None))
    files = ScoreFiles.of(written, key, own.reading)
    for opened, one in zip(files.scores, found, strict=True):
        opened.files[0].source.name = one.name  # messages are about what the user named
    try:
        return files.as_source(own, say)
    except MissingScoresError as error:
        words, found_it, _ = str(error).partition(", or a score to fill in")
        told = words.replace("have no score in", "have no decision in") if found_it else str(error)
        raise MissingScoresError(f"{told}, or write their decisions into the file." if found_it else told) from error
    except KeyMismatchError as error:
        if options.kind == "two-class" or options.reading.classes is not None or "of class" not in str(error):
            raise
        raise KeyMismatchError(f"{error} Or name all classes, also those that no decision says: --classes.") from error


def _evaluated(
    source: ShardSource, options: Options, found: Sequence[DecisionFile], kind: KindName, table: CostTable | None
) -> list[DecisionEvaluation]:
    batch, resampling = source.held, options.how_sure.resampling(source.held.units)
    own = source.classes or ("target", "nontarget")
    classes = own if table is None else table.classes
    if kind == "classes" and set(own) != set(classes):
        raise InputError(f"{table and table.name}: classes {', '.join(classes)}, the key has {', '.join(own)}.")
    truth = batch.labels
    label = np.where(truth, 0, 1) if kind == "two-class" else np.array([classes.index(one) for one in own])[truth]
    missing = [name for k, name in enumerate(classes) if not (label == k).any()]
    if missing:
        raise InputError(f"key: no trial is of {missing[0]}. Error rates need trials of every class.")
    systems = list[DecisionEvaluation]()
    for name, scores, one in zip(source.systems, batch.scores, found, strict=True):
        codes = scores if kind == "two-class" else scores[:, 0]
        problem = DecisionProblem(one.actions, tuple(classes), kind, _p_target(options), _accepts(one, found, classes))
        about: Any = {"name": name, "weights": batch.weight, "resampling": resampling}
        asked = _applications(one.actions, classes, kind, table, options)
        systems.append(evaluate_decisions(codes.astype(np.int64), label, problem, applications=asked, **about))
    return systems


def _accepts(one: DecisionFile, found: Sequence[DecisionFile], classes: Sequence[str]) -> BoolArray | None:
    """Which classes each action accepts, where decisions are about each class by itself."""
    if one.accepts is None:
        return None
    sets = {action: accepted for other in found for action, accepted in (other.accepts or {}).items()}
    return np.array([[name in sets[action] for name in classes] for action in one.actions])


def _p_target(options: Options) -> float:
    given = options.figures.p_target
    return 0.5 if given is None else float(np.atleast_1d(np.asarray(given, np.float64))[0])


def _applications(
    actions: Sequence[str], classes: Sequence[str], kind: str, table: CostTable | None, options: Options
) -> dict[str, Application]:
    """Costs at priors, by what they are called."""
    found = dict[str, Application]()
    given, prior = options.figures.operating_points, options.figures.prior
    points: list[OperatingPoint] = [as_operating_point(one) for one in given or DEFAULT_POINTS]
    if kind == "two-class" and tuple(actions) == _TWO:
        found |= {str(point): Application.of_operating_point(point) for point in points}
    elif kind == "classes" and tuple(actions) == tuple(classes):
        even = CostTable(tuple(classes), tuple(classes), error_costs(len(classes)))
        found["errors"] = even.application("flat" if prior is None else prior)
    if table is not None:
        own: Any = points[0].p_target if kind == "two-class" else "flat" if prior is None else prior
        application = table.application(None if table.prior is not None and prior is None else own)
        shown = ", ".join(f"{name} {p:.4g}" for name, p in zip(table.classes, application.prior.tolist(), strict=True))
        found[f"{table.name} at {shown}"] = application
    return found


def _messages(found: Sequence[DecisionFile], source: ShardSource) -> tuple[Message, ...]:
    """Return the messages on what was read, and on what words were taken for."""
    noun = kind_called(source.kind_name()).noun
    messages = [
        Message(
            "read",
            one.name,
            f"decisions of column {one.column!r}: {', '.join(one.actions)}   {counted(len(one.action), noun)}",
        )
        for one in found
    ]
    return (*messages, *(one for one in source.messages if one.kind != "read"))
