"""Evaluation of hard decisions in files against a key: read as codes of actions, and joined like scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from deciban import errors
from deciban._files import ScratchFolder
from deciban.core.ranks.roc import OperatingPoint, as_operating_point
from deciban.decisions import Application, error_costs
from deciban.errors import InputError, KeyMismatchError, Message, MissingScoresError, counted, not_none, option, refuse
from deciban.evaluation.decided import DecisionEvaluation, DecisionProblem, evaluate_decisions
from deciban.evaluation.two_class.summary import DEFAULT_POINTS
from deciban.io.decision_files import LINES, CostTable, DecisionFile, read_costs, read_decision_lines, read_decisions
from deciban.io.source import TwoFiles
from deciban.trials import JoinReport
from deciban.trials.sources import TrialSource
from deciban.types import BoolArray, KindName, PathLike, Progress
from deciban.workflows.deciding import require_target_first
from deciban.workflows.kinds import kind_called
from deciban.workflows.options import Options
from deciban.workflows.reading.inputs import Paths, ScoreFiles, paths_of
from deciban.workflows.reading.units import units_of_batch

_TWO = ("accept", "reject")

_OF_SCORES = ("format", "log10", "lr", "negate", "probabilities", "posterior_prior", "detection_llr")
"""Options for the unit and format of scores."""

_METRICS_OF_SCORES = (
    *("eer_conventions", "classifier", "discrepancy", "fnmr_at", "fmr_at", "at_thresholds", "posteriors_at"),
    *("axis", "rule", "p_out_of_set", "subsets", "pairs", "capacity", "groups"),
)
"""Options for metrics that decisions do not have."""

_ABOUT = {"two-class": "about two classes", "classes": "about more than two classes"}

_OF_ONE_KIND = {"two-class": ("prior", "p_target"), "classes": ("operating_points",)}
"""Options for metrics that decisions of the other kind have."""

_UNCLEAR = {"0", "1", "-1", "n", "y", "no", "yes", "f", "t", "false", "true"}
"""Ambiguous words: it is unclear which of them accept."""


@dataclass(frozen=True, slots=True, eq=False)
class DecidedResults:
    """Evaluations of the decisions of several systems on the trials of a key.

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
        """Return the numbers as plain JSON types."""
        return {"kind": self.systems[0].kind, "systems": [one.to_dict() for one in self.systems], "decisions": True}


def evaluate_decision_files(
    paths: Paths,
    key: PathLike | None = None,
    *,
    accept: Sequence[str] = (),
    reject: Sequence[str] = (),
    decision_column: str | None = None,
    costs: PathLike | CostTable | None = None,
    progress: Progress | None = None,
    **options: object,
) -> DecidedResults:
    """Evaluate files of decisions, such as the output of `deciban.decide_files`: error rates, costs and counts.

    Parameters
    ----------
    paths : sequence of paths, or one path
        Tables with trial names and a column of decisions: CSV, TSV, Parquet, or text with blanks between columns. They
        must fit in memory.
    key : path, optional
        Key with target labels or classes; not needed if the tables have a column ``label``.
    accept, reject : sequence of str
        Further words for accept and reject, for example ``["1"]`` and ``["0"]``.
    decision_column : str, optional
        Column of decisions; by default ``action`` or ``decision``.
    costs : path or CostTable, optional
        Actions and their costs; see `deciban.io.read_costs`. If the file contains no prior, the prior is that of the
        first operating point, or for multiclass ``prior``.
    progress : function, optional
        Called with a short description of every step.
    **options
        As in `deciban.evaluate_files`: options for reading and joining a key, ``operating_points`` and ``units``;
        multiclass ``classes``, ``prior`` and ``p_target``.

    Returns
    -------
    DecidedResults

    Raises
    ------
    FormatError, InputError, KeyMismatchError, OSError
        If something cannot be read, a word is not an action, or trials have no decision.

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
    items, files = list[DecisionFile](), paths_of(paths, also=(key,), name="decisions")
    chosen.scale.require_room("memory: decisions and their key are read as a whole", files, key)
    for path in files:
        if isinstance(path, TwoFiles):
            raise InputError("decisions: name files of decisions. Files of targets and of non-targets are for scores.")
        say(f"reading {errors.display_name(path)}")
        if chosen.reading.format == LINES:
            given_words = {"accept": accept, "reject": reject, "decision_column": decision_column, "columns": named}
            why = f"lines of {LINES} contain t or f at a fixed place. Leave it out."
            refuse((name for name, value in given_words.items() if value), why)
            items.append(read_decision_lines(path))
            continue
        actions = _actions(table, chosen, words)
        items.append(read_decisions(path, actions=actions, words=words, column=decision_column, columns=named))
    kind = _kind(items, table, chosen)
    odd = [name for name in _OF_ONE_KIND[kind] if getattr(chosen.metrics, name) is not None]
    prior = chosen.metrics.prior
    point = prior[0] if isinstance(prior, list) and len(prior) == 1 and prior != ["flat"] else "PRIOR"
    instead = f" Name an operating point instead: {option(operating_points=point)}." if "prior" in odd else ""
    refuse(odd, f"not for decisions {_ABOUT[kind]}. Leave it out.{instead}")
    if kind == "two-class" and table is not None:
        require_target_first(table)
    if kind == "two-class" and table is None:
        items = [_in_order(one, _TWO) for one in items]
    elif kind == "classes" and table is None and chosen.reading.classes is None:
        every = tuple(sorted({name for one in items for name in one.actions}))
        items = [_in_order(one, every) for one in items]
    folder = ScratchFolder()
    with folder.or_nothing() as scratch:
        names = (table and table.classes) or chosen.reading.classes or items[0].classes or items[0].actions
        written = _written(items, scratch, ["score"] if kind == "two-class" else names)
        source = _joined(written, items, key, replace(chosen, kind=kind), say)
    folder.remove()
    source, messages = units_of_batch(source, chosen.how_sure, kind_called(kind))
    systems = tuple(_evaluated(source, chosen, items, kind, table))
    return DecidedResults(systems, not_none(source.report, "report"), (*_messages(items, source), *messages))


def _refuse_options_of_scores(options: Options) -> None:
    """Refuse options for scores, which would change the codes of actions or have no effect."""
    reading, scale = options.reading, options.scale
    values = [name for name in _OF_SCORES if getattr(reading, name) not in (None, False)]
    values = [name for name in values if name != "format" or reading.format != LINES]
    values += [name for name in ("dask", "speakers") if getattr(scale, name) not in (None, False)]
    refuse(values, "is for scores, not for decisions, which are read as tables in memory. Leave it out.")
    values = [name for name in _METRICS_OF_SCORES if getattr(options.metrics, name) not in (None, False)]
    values += ["optimism"] * bool(options.how_sure.optimism) + ["worst"] * (options.worst is not None)
    refuse(values, "is for metrics of scores, which decisions do not have. Leave it out.")
    if len(np.atleast_1d(np.asarray(options.metrics.p_target))) > 1:
        raise InputError("p_target: decisions have C_avg at one target prior. Give one number, and no preset.")
    if reading.missing not in ("error", "drop"):
        raise InputError(
            f"missing: got {reading.missing!r}, a score to fill in, but decisions are not numbers. Leave out trials "
            f"without a decision ({option(missing='drop')}), or add their decisions to the file."
        )


def _columns(options: Options) -> list[str] | None:
    value = options.reading.columns
    if isinstance(value, Mapping):
        raise InputError(f"columns: for decisions, name all columns in order ({option(columns='enroll,test,action')}).")
    names = value.split(",") if isinstance(value, str) else value
    return None if names is None else [one.strip() for one in names]


def _actions(table: CostTable | None, options: Options, words: Mapping[str, str]) -> Sequence[str] | None:
    """Return the possible actions, if they are known from costs or options."""
    if table is not None:
        return table.actions
    return _TWO if words or options.kind == "two-class" else options.reading.classes


def _kind(files: Sequence[DecisionFile], table: CostTable | None, options: Options) -> KindName:
    """Return the kind of decisions: two-class for accept and reject, otherwise multiclass, unless costs set it."""
    if any(one.accepts is not None for one in files):
        if table is not None:
            raise InputError(f"costs: {table.name}, but {LINES} contains separate decisions for each class, for C_avg.")
        _require_same_languages(files, options.reading.classes)
        return "classes"
    if table is not None:
        return "two-class" if len(table.classes) == 2 and options.kind != "classes" else "classes"
    unclear = [one for one in files if {name.casefold() for name in one.actions} <= _UNCLEAR]
    if unclear and options.kind is None and options.reading.classes is None:
        raise InputError(
            f"{unclear[0].name}: column {unclear[0].column!r} contains {', '.join(unclear[0].actions)}. Set the words "
            f"for accept and reject: {option(accept=['1'], reject=['0'])}."
        )
    for one in files if options.kind is None and options.reading.classes is None else ():
        odd = sorted(set(one.actions) - set(_TWO))
        if odd and len(odd) < len(one.actions):
            raise _neither(one, odd[0])
    return options.kind or ("two-class" if all(set(one.actions) <= set(_TWO) for one in files) else "classes")


def _neither(one: DecisionFile, word: str) -> InputError:
    return InputError(
        f"{one.name}: {word!r} is neither accept nor reject. Set the words for both "
        f"({option('accept', 'reject')}), or name the costs of all actions ({option(costs=...)})."
    )


def _require_same_languages(files: Sequence[DecisionFile], names: Sequence[str] | None) -> None:
    """Refuse files with different languages, because a missing language was not rejected."""
    items = set(names or files[0].classes or ())
    for one in files:
        odd = sorted(items ^ set(one.classes or ()))
        if odd:
            raise InputError(
                f"{one.name}: has decisions about {', '.join(one.classes or ())}; {', '.join(odd)} is not in both this "
                f"file and {option('classes') if names else files[0].name}. All systems must decide about the same "
                "classes."
            )


def _in_order(one: DecisionFile, actions: tuple[str, ...]) -> DecisionFile:
    odd = [name for name in one.actions if name not in actions]
    if odd:
        raise _neither(one, odd[0])
    place = np.array([actions.index(name) for name in one.actions])
    return replace(one, action=place[one.action], actions=actions)


def _written(files: Sequence[DecisionFile], folder: Path, columns: Sequence[str]) -> list[PathLike]:
    """Write tables with codes of actions as scores, and return their paths."""
    written = list[PathLike]()
    for k, one in enumerate(files):
        place = folder / str(k) / f"{Path(one.name).stem}.parquet"
        place.parent.mkdir()
        own: dict[str, Any] = {name: one.names[name] for name in one.names.column_names if name not in columns}
        codes = pa.array(one.action.astype(np.float64))
        parquet.write_table(pa.table(own | dict.fromkeys(columns, codes)), place)
        written.append(place)
    return written


def _joined(
    written: Sequence[PathLike], result: Sequence[DecisionFile], key: PathLike | None, options: Options, say: Progress
) -> TrialSource:
    """Return decisions on the trials of a key."""
    own = replace(options, reading=replace(options.reading, format=None, columns=None, classes=None))
    files = ScoreFiles.of(written, key, own.reading)
    for opened, one in zip(files.scores, result, strict=True):
        opened.files[0].source.name = one.name  # name of the original file, for messages
    try:
        return files.as_source(own, say)
    except MissingScoresError as error:
        words, found_it, _ = str(error).partition(", or a score to fill in")
        text = words.replace("have no score in", "have no decision in") if found_it else str(error)
        raise MissingScoresError(f"{text}, or add their decisions to the file." if found_it else text) from error
    except KeyMismatchError as error:
        if options.kind == "two-class" or options.reading.classes is not None or "of class" not in str(error):
            raise
        raise KeyMismatchError(f"{error} Or name all classes, even without decisions: {option('classes')}.") from error


def _evaluated(
    source: TrialSource, options: Options, files: Sequence[DecisionFile], kind: KindName, table: CostTable | None
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
        raise InputError(f"key: no trial of class {missing[0]}. Error rates need trials of every class.")
    systems = list[DecisionEvaluation]()
    for name, scores, one in zip(source.systems, batch.scores, files, strict=True):
        codes = scores if kind == "two-class" else scores[:, 0]
        problem = DecisionProblem(one.actions, tuple(classes), kind, _p_target(options), _accepts(one, files, classes))
        request = _applications(one.actions, classes, kind, table, options)
        compute = partial(evaluate_decisions, applications=request, name=name, weights=batch.weight)
        systems.append(compute(codes.astype(np.int64), label, problem, resampling=resampling))
    return systems


def _accepts(one: DecisionFile, files: Sequence[DecisionFile], classes: Sequence[str]) -> BoolArray | None:
    """Return a matrix that is True for classes that an action accepts; None unless classes are decided separately."""
    if one.accepts is None:
        return None
    sets = {action: accepted for other in files for action, accepted in (other.accepts or {}).items()}
    return np.array([[name in sets[action] for name in classes] for action in one.actions])


def _p_target(options: Options) -> float:
    value = options.metrics.p_target
    return 0.5 if value is None else float(np.atleast_1d(np.asarray(value, np.float64))[0])


def _applications(
    actions: Sequence[str], classes: Sequence[str], kind: str, table: CostTable | None, options: Options
) -> dict[str, Application]:
    """Return the applications (costs at a prior) by name."""
    entries = dict[str, Application]()
    value, prior = options.metrics.operating_points, options.metrics.prior
    points: list[OperatingPoint] = [as_operating_point(one) for one in value or DEFAULT_POINTS]
    if kind == "two-class" and tuple(actions) == _TWO:
        entries |= {str(point): Application.of_operating_point(point) for point in points}
    elif kind == "classes" and tuple(actions) == tuple(classes):
        even = CostTable(tuple(classes), tuple(classes), error_costs(len(classes)))
        entries["errors"] = even.application("flat" if prior is None else prior)
    if table is not None:
        own = points[0].p_target if kind == "two-class" else "flat" if prior is None else prior
        application = table.application(None if table.prior is not None and prior is None else own)
        shown = ", ".join(f"{name} {p:.4g}" for name, p in zip(table.classes, application.prior.tolist(), strict=True))
        entries[f"{table.name} at {shown}"] = application
    return entries


def _messages(files: Sequence[DecisionFile], source: TrialSource) -> tuple[Message, ...]:
    """Return the messages about the files and the words for actions."""
    noun = kind_called(source.kind_name()).noun
    messages = list[Message]()
    for one in files:
        words = f"decisions of column {one.column!r}: {', '.join(one.actions)}   {counted(len(one.action), noun)}"
        messages.append(Message("read", one.name, words))
    return (*messages, *(one for one in source.messages if one.kind != "read"))
