"""Evaluation of countermeasures, and of single scores against spoofs, by the protocols of ASVspoof and SASV."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deciban import spoofing
from deciban.errors import FormatError, InputError, KeyMismatchError, Message, display_name, option, refuse
from deciban.evaluation.breakdowns import Condition
from deciban.evaluation.results import Evaluation, Results
from deciban.evaluation.spoofing import (
    COUNTERMEASURE,
    OF_ITS_SCORES,
    OF_VERIFIER,
    SINGLE_SCORE,
    Edition,
    Measured,
    SpoofingResults,
    SpoofingSystem,
    Verifier,
)
from deciban.io.columns.headers import labels_option
from deciban.io.formats import Contents
from deciban.io.reader import read_contents
from deciban.io.recognition import Recognized, readable_as, recognize
from deciban.io.source import single_files
from deciban.spoofing import AsvErrors
from deciban.trials.sources import Batch, LoadedPartition, TrialSource
from deciban.types import AnyArray, BoolArray, FloatArray, IntArray, PathLike, Progress
from deciban.workflows.kinds import kind_called
from deciban.workflows.options import Options, Reading
from deciban.workflows.reading.inputs import Paths, paths_of, read_joined
from deciban.workflows.reading.units import UnitsOfSource, units_of_source

_SPOOFS = frozenset({"spoof", "attack", "fake", "forged", "forgery"})
"""Label words of spoofs, among the words of non-targets."""

_ROLES = {"cm": COUNTERMEASURE, "asv": "verifier"}
"""Roles of columns of one table with scores of several systems, as in ASVspoof 5; other columns are single scores."""


def evaluate_spoofing_files(
    scores: Paths,
    key: PathLike | None = None,
    *,
    asv: PathLike | None = None,
    asv_key: PathLike | None = None,
    asv_errors: Sequence[float] | AsvErrors | None = None,
    progress: Progress | None = None,
    **options: object,
) -> SpoofingResults:
    """Evaluate scores of countermeasures, or scores against non-targets and spoofs, by a protocol.

    Parameters
    ----------
    scores : sequence of paths, or one path
        Score files, one for each system. If the labels distinguish targets, non-targets and spoofs, the systems are
        single scores, except columns of one table named ``cm-score`` (countermeasure) and ``asv-score`` (verifier).
    key : path, optional
        Key with labels. By default the score files must contain labels.
    asv : path, optional
        Scores of the verifier for targets, non-targets and spoofs.
    asv_key : path, optional
        Its key, if its file contains no labels.
    asv_errors : sequence of float or AsvErrors, optional
        Instead of scores: published error rates of the verifier, ``(p_miss, p_fa, p_fa_spoof)``.
    progress : function, optional
        Called with a short description of every step.
    **options
        ``preset`` (required), and other options of `deciban.evaluate_files` for reading, uncertainty and ``by``.
        ``labels`` can also have words for ``spoof``.

    Returns
    -------
    SpoofingResults

    Raises
    ------
    FormatError, KeyMismatchError, InputError
        As in `deciban.evaluate_files`; or if a protocol, a kind of trials or a verifier is lacking.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> lines = ["u1 - bonafide 2.0", "u2 - bonafide 1.0", "u3 A07 spoof 1.5", "u4 A07 spoof 0"]
    >>> _ = (folder / "cm.txt").write_text("\\n".join(lines) + "\\n")
    >>> rates = (0.05, 0.05, 0.3)
    >>> found = evaluate_spoofing_files(folder / "cm.txt", asv_errors=rates, preset="asvspoof2021")
    >>> round(found.systems[0].metrics["min_t_dcf"].value, 3)
    0.628
    """
    chosen = Options.of("evaluate_files", options)
    edition = Edition.of(chosen.plan)
    refuse_others(edition, chosen, asv, asv_key, asv_errors)
    say = progress or (lambda _words: None)
    paths = paths_of(scores, also=(key, asv, asv_key))
    try:
        trials = LabelledTrials.read(paths, key, chosen, say)
    except (FormatError, KeyMismatchError) as error:
        if key is None and _is_verifier_of_2019(recognize(single_files(paths)[0])):
            words = f"contains scores of a verifier. Name the countermeasure, and the verifier ({option(asv=...)})."
            raise InputError(f"scores: {display_name(single_files(paths)[0])} {words}") from error
        raise type(error)(str(error).replace(labels_option(), labels_option(spoof="WORD"))) from error
    verifier, messages = _verifier(trials, asv, asv_key, asv_errors, chosen, say)
    roles = [trials.role(name) for name in trials.source.systems]
    if not set(roles) & {COUNTERMEASURE, SINGLE_SCORE}:
        roles = [SINGLE_SCORE] * len(roles)  # a verifier alone
    items = tuple(one for one in (*trials.source.messages, *messages) if not is_moot(one))
    return results_of(trials, roles, edition, verifier, chosen, messages=items, progress=say)


def results_of(
    trials: LabelledTrials,
    roles: Sequence[str],
    edition: Edition,
    verifier: Verifier | None,
    options: Options,
    *,
    messages: Sequence[Message],
    progress: Progress,
) -> SpoofingResults:
    """Return the results of the systems, each with its role."""
    result, notes = list[SpoofingSystem](), tuple(messages)
    for role in (COUNTERMEASURE, SINGLE_SCORE):
        systems = [at for at, one in enumerate(roles) if one == role]
        if systems:
            own = _Evaluator.of(trials, role, edition, verifier, options)
            notes += tuple(one for one in own.units.messages if one not in notes)
            for at in systems:
                progress(f"evaluating {trials.source.systems[at]}")
                result.append(own.system(at))
    results = Results(tuple(one.evaluation for one in result), trials.source.report, notes)
    return SpoofingResults(edition, tuple(result), verifier, results)


def cost_of_decisions(trials: LabelledTrials, accepted: BoolArray, edition: Edition, options: Options) -> Measured:
    """Return the a-DCF of decisions, with an interval for the same rule of decision on other trials."""
    decided = trials.with_system("decisions", np.where(accepted, _CERTAIN, -_CERTAIN))
    own = _Evaluator.of(decided, SINGLE_SCORE, edition, None, options)
    every = np.ones(len(accepted), bool)
    return Measured.of(own.weighted(len(decided.source.systems) - 1, every), ("act_dcf", 0))


_CERTAIN = 1000.0
"""A log-likelihood ratio that is accepted at every prior of a protocol."""


def is_moot(one: Message) -> bool:
    """Return True for the note on the two labels of ASVspoof 5, which are both used."""
    return one.text.startswith("the label is asv-label")


def refuse_others(edition: Edition, options: Options, asv: object, asv_key: object, asv_errors: object) -> None:
    """Refuse options that have no effect here.

    Raises
    ------
    InputError
    """
    entries = {"weights": options.reading.weights, "equalize": options.split.equalize, "worst": options.worst}
    entries |= {"dask": options.scale.dask, "speakers": options.scale.speakers, "kind": options.kind == "classes"}
    refuse((name for name, value in entries.items() if value), "not for protocols of spoofing. Leave it out.")
    request = options.metrics.operating_points
    points = request if isinstance(request, list | tuple) else [request]
    if request is not None and set(points) - {*edition.plan.points}:
        raise InputError(f"operating_points: {edition.plan.name} defines its costs. Leave it out.")
    if asv_key is not None and asv is None:
        raise InputError(f"asv_key: a key of the verifier needs its scores ({option(asv=...)}).")
    if asv is not None and not edition.has_asv:
        raise InputError(f"asv: {edition.plan.name} has no metric of a countermeasure with a verifier. Leave it out.")
    if asv is not None and asv_errors is not None:
        raise InputError("asv, asv_errors: scores of the verifier as well as its error rates. Leave one of them out.")
    for columns in options.split.partitions:
        if any(one.path or one.side or one.borders for one in columns):
            raise InputError("by: protocols of spoofing need columns of the key, without files or bins.")


@dataclass(frozen=True, slots=True, eq=False)
class LabelledTrials:
    """Joined trials with their kinds: targets, non-targets and spoofs, or bona fide trials and spoofs.

    Attributes
    ----------
    source : TrialSource
        One batch; the truth is True for targets, or bona fide trials.
    is_spoof : (n,) bool array
    has_three : bool
    """

    source: TrialSource
    is_spoof: BoolArray
    has_three: bool

    @property
    def batch(self) -> Batch:
        """The trials, which are all in memory."""
        return self.source.held

    @classmethod
    def read(cls, paths: Sequence[Any], key: Any, options: Options, progress: Progress) -> LabelledTrials:
        """Read and join the files twice: which labels are targets, and which are spoofs.

        Raises
        ------
        FormatError, KeyMismatchError, InputError
        """
        if "-" in map(str, (*single_files(paths), key)):
            raise InputError("scores: standard input can be read only once, but labels of spoofs are read twice.")
        options.scale.require_room("protocols of spoofing", paths, key)
        value = (options.reading.labels or {}).get("spoof")
        spoofs = None if value is None else value.split("|")
        if value is not None and "target" not in (options.reading.labels or {}):
            raise InputError(f"labels: spoof, without target. Write {labels_option('tgt', 'imp', spoof='fake')}.")
        reading = reading_of_two(options.reading)
        first = replace(options, reading=reading, kind="two-class")
        source = read_joined(paths, None if key is None else key, first, progress=progress)
        held = _labels(single_files(paths)[0] if key is None else key, reading, of_key=key is not None)
        if spoofs is None:
            spoofs = [word for word, is_target in held.words.items() if not is_target and word.casefold() in _SPOOFS]
        others = [word for word in held.words if word not in spoofs]
        truth = source.held.labels
        if all(held.words[word] for word in others):
            return _with_spoofs(cls(source, ~truth, has_three=False))
        words = {"target": "|".join(others), "nontarget": "|".join(spoofs)}
        again = replace(first, reading=replace(reading, labels=words))
        other = read_joined(paths, key, again, progress=progress).batch if any(spoofs) else None
        return _with_spoofs(cls(source, np.zeros(len(truth), bool) if other is None else ~other.labels, has_three=True))

    def role(self, name: str) -> str:
        """Return the role of a system: of columns of one table by their name."""
        if not self.has_three:
            return COUNTERMEASURE
        return _ROLES.get(name.casefold().replace("_", "-").removesuffix("-score"), SINGLE_SCORE)

    def of_kinds(self, values: AnyArray) -> tuple[AnyArray, ...]:
        """Return the values of targets, non-targets and spoofs."""
        return tuple(values[self.kinds == k] for k in range(3))

    @property
    def kinds(self) -> IntArray:
        """Kinds of the trials: 0 for targets, 1 for non-targets, 2 for spoofs."""
        return np.where(self.is_spoof, 2, np.where(self.batch.labels, 0, 1))

    def with_system(self, name: str, scores: FloatArray) -> LabelledTrials:
        """Return the trials with scores in nats of one more system."""
        source = replace(self.source, systems=(*self.source.systems, name), units=(*self.source.units, "nats"))
        return replace(self, source=_held(source, replace(self.batch, scores=(*self.batch.scores, scores))))


def reading_of_two(reading: Reading) -> Reading:
    """Return options for reading in which words for spoofs are words for non-targets."""
    words = dict(reading.labels or {})
    if (spoof := words.pop("spoof", None)) is not None:
        words["nontarget"] = "|".join(filter(None, (words.get("nontarget", ""), spoof)))
    return replace(reading, labels=words or None)


def _with_spoofs(trials: LabelledTrials) -> LabelledTrials:
    """Return the trials, and refuse them if none is a spoof.

    Raises
    ------
    InputError
    """
    if not trials.is_spoof.any():
        raise InputError(
            f"{trials.source.name}: no trial is a spoof. Name the label words: {labels_option(spoof='WORD')}."
        )
    return trials


def _labels(path: PathLike, reading: Reading, *, of_key: bool) -> Contents:
    own = (reading.key_format, reading.key_columns) if of_key else (reading.format, reading.columns)
    return read_contents(path, need="key", format=own[0], columns=own[1], labels=reading.labels)


def _verifier(
    trials: LabelledTrials, asv: Any, key: Any, errors: Any, options: Options, progress: Progress
) -> tuple[Verifier | None, tuple[Message, ...]]:
    """Return the verifier, if there is one, and messages about it.

    Raises
    ------
    FormatError, KeyMismatchError, InputError
    """
    if errors is not None:
        rates = errors if isinstance(errors, AsvErrors) else _as_errors(errors)
        return Verifier("published error rates", rates), ()
    if asv is None:
        inside = [at for at, name in enumerate(trials.source.systems) if trials.role(name) == "verifier"]
        return (_verifier_of(trials, inside[0]), ()) if inside else (None, ())
    result = LabelledTrials.read([asv], key, _reading_of_verifier(asv, key, options), progress)
    if not result.has_three:
        raise InputError(
            f"asv: {display_name(asv)} must have trials of targets, non-targets and spoofs. Are the files swapped? "
            "Scores of the countermeasure come first."
        )
    if len(result.source.systems) > 1:
        raise InputError(f"asv: {display_name(asv)} has scores of several systems. Name a file with one.")
    dropped = sorted({*(options.reading.where or ())} - {*result.source.columns})
    shared = [option(name) for name in ("negate", "lr", "log10") if getattr(options.reading, name)]
    words = [
        f"{option('where')} {', '.join(dropped)} selects trials of SCORES only: the verifier has no such column"
    ] * any(dropped)
    words += [f"{', '.join(shared)}: applied to the scores of the verifier, too"] * any(shared)
    return _verifier_of(result, 0), (*result.source.messages, *(Message("note", "", one) for one in words))


def _as_errors(rates: Any) -> AsvErrors:
    values = list(rates)
    if len(values) != 3:
        raise InputError(f"asv_errors: got {len(values)} numbers. Pass three fractions: p_miss, p_fa, p_fa_spoof.")
    return AsvErrors(*map(float, values))


def _verifier_of(trials: LabelledTrials, system: int) -> Verifier:
    """Return a verifier with its errors at the threshold of its EER."""
    three, items = trials.of_kinds(trials.batch.scores[system]), trials.batch.trials
    values = dict[str, tuple[AnyArray, ...]]()
    if items is not None:
        for name in items.conditions:
            values[name] = trials.of_kinds(np.asarray(items.condition(name).to_pylist(), dtype=object))
    if "source" in values:
        values["attack"] = values["source"]
    return Verifier(trials.source.systems[system], spoofing.asv_errors(*three), three, values)


def _reading_of_verifier(asv: Any, key: Any, options: Options) -> Options:
    """Return options to read a verifier, with the layout of its challenge if its file or key looks like it.

    Raises
    ------
    FormatError, InputError
        If there are no labels.
    """
    known = replace(options.reading, format=None, columns=None, key_format=None, key_columns=None, names=None)
    result = recognize(asv if key is None else key, of_key=key is not None)
    if key is None and not readable_as(result, ("key",)):
        raise InputError(
            f"asv: {display_name(asv)} does not have the labels target, nontarget and spoof. Name a key of its trials "
            f"({option(asv_key=...)})."
        )
    if _is_verifier_of_2019(result):
        name = "asvspoof2019-asv"
        known = replace(known, format=name) if key is None else replace(known, key_format=name)
    if known.where:
        held = _labels(asv if key is None else key, known, of_key=key is not None)
        own = {} if held.key is None else held.key.trials.conditions
        known = replace(known, where={name: value for name, value in known.where.items() if name in own} or None)
    return replace(options, reading=known, split=type(options.split)())


def _is_verifier_of_2019(result: Recognized) -> bool:
    """Return True for scores of a verifier in ASVspoof 2019."""
    rows = (line.split()[:2] for line in result.files[0].lines[:_FIRST])
    return any(row in (["bonafide", "target"], ["bonafide", "nontarget"]) for row in rows)


_FIRST = 100
"""Number of lines that show the layout of a file."""


@dataclass(frozen=True, slots=True, eq=False)
class _Evaluator:
    """Trials of one role, with their units and the metrics of a protocol."""

    trials: LabelledTrials
    role: str
    edition: Edition
    verifier: Verifier | None
    options: Options
    units: UnitsOfSource
    truth: BoolArray

    @classmethod
    def of(
        cls, trials: LabelledTrials, role: str, edition: Edition, verifier: Verifier | None, options: Options
    ) -> _Evaluator:
        """Find the units of the trials."""
        truth = ~trials.is_spoof if role == COUNTERMEASURE else trials.batch.labels
        of_key = trials.source.of_key if np.array_equal(truth, trials.batch.labels) else ()  # with other targets
        source = _held(replace(trials.source, of_key=of_key), replace(trials.batch, truth=truth))
        kind = kind_called("two-class")
        kind.require_trials(truth, ())
        with options.scale.engine() as engine:
            units = units_of_source(source, engine, options.how_sure, kind)
        return cls(trials, role, edition, verifier, replace(options, kind="two-class"), units, truth)

    def system(self, at: int) -> SpoofingSystem:
        """Return the metrics of a system, for all trials and in each condition."""
        result, metrics = self.metrics(at, np.ones(len(self.truth), bool), {})
        cells = []
        for values, rows in self.conditions():
            name = " · ".join(f"{column} {value}" for column, value in values.items())
            counts = {"targets": int((self.truth & rows).sum()), "non-targets": int((~self.truth & rows).sum())}
            part, own = self.metrics(at, rows, values)
            cells.append((Condition(name, values, counts, part), own))
        return SpoofingSystem(result, self.role, metrics, tuple(cells))

    def conditions(self) -> Iterator[tuple[dict[str, str | None], BoolArray]]:
        """Yield the values of spoofs and the rows of their trials; trials of others have the same values, or any.

        Non-targets of single scores always count, since attacks concern spoofs only.
        """
        source, spoofs = self.trials.source, self.trials.is_spoof
        conditions = self.trials.batch.conditions
        held = {} if conditions is None else dict(zip(source.conditions, conditions, strict=True))
        for columns in self.options.split.partitions:
            lacking = [one.name for one in columns if one.name not in held]
            if lacking:
                there = ", ".join(name for name in source.columns) or "none"
                raise InputError(f"by: no column {lacking[0]!r} in the key; the columns are {there}.")
            codes = np.stack([held[one.name][0] for one in columns])
            for some in np.unique(codes[:, spoofs], axis=1).T.tolist():
                rows = np.ones(len(spoofs), bool)
                values = dict[str, str | None]()
                for one, own, code in zip(columns, codes, some, strict=True):
                    names = held[one.name][1]
                    values[one.name] = str(names[code]) if code < len(names) else None
                    is_it = own == code
                    rows &= is_it | (~spoofs if not (is_it & ~spoofs).any() else False)
                yield values, rows

    def metrics(
        self, at: int, rows: BoolArray, values: Mapping[str, str | None]
    ) -> tuple[Evaluation, dict[str, Measured]]:
        """Return the evaluation of some trials, and the metrics of the protocol in its order."""
        return self._single(at, rows) if self.role == SINGLE_SCORE else self._countermeasure(at, rows, values)

    def _countermeasure(
        self, at: int, rows: BoolArray, values: Mapping[str, str | None]
    ) -> tuple[Evaluation, dict[str, Measured]]:
        edition = self.edition
        verifier = None if self.verifier is None else self.verifier.within(values)
        evaluation = self.evaluated(at, rows, self.options.metrics.operating_points)
        scores, spoofs = self.trials.batch.scores[at], self.trials.is_spoof
        two = scores[rows & ~spoofs], scores[rows & spoofs]
        entries = {"cm_eer": Measured.eer(evaluation), "cllr": Measured.of(evaluation, "cllr")}
        entries |= {name: Measured.of(evaluation, (name, 0)) for name in ("min_dcf", "act_dcf")}
        limits = {name: 1.0 / int(name[5:]) for name in edition.countermeasure if name.startswith("bpcer")}
        attacks = self.attacks(scores, rows & spoofs) if limits else {}
        for name, limit in limits.items():
            entries[name] = Measured(spoofing.bpcer_at_apcer(two[0], attacks, max_apcer=limit))
        if verifier is not None:
            errors = verifier.errors
            weights, point = edition.weights(errors), edition.point(errors)
            costs = None if point is None else self.evaluated(at, rows, [point])
            less, floor = min(weights.miss, weights.fa) / weights.norm, weights.floor / weights.norm
            for name, of, compute in zip(
                OF_VERIFIER, ("min_dcf", "act_dcf"), (spoofing.min_t_dcf, spoofing.act_t_dcf), strict=True
            ):
                value = compute(*two, asv=errors, **edition.t_dcf)
                entries[name] = Measured(value, costs, (of, 0), less, floor)
        if verifier is not None and verifier.scores is not None:
            three, own = verifier.scores, {"bona": two[0], "cm_spoof": two[1]}
            of_scores = {
                "t_eer": lambda: spoofing.t_eer(*three, **own)[0],
                "min_a_dcf": lambda: spoofing.min_tandem_a_dcf(*three, bona=two[0], cm_spoof=two[1], **edition.a_dcf),
            }
            entries |= {name: Measured(of_scores[name]()) for name in OF_ITS_SCORES if name in edition.tandem}
        return evaluation, edition.sorted(self.role, entries)

    def attacks(self, scores: AnyArray, rows: BoolArray) -> dict[str, AnyArray]:
        """Return the scores of some spoofs by attack; all of them are one attack without a column with this name."""
        items = self.trials.batch.trials
        if items is None or "attack" not in items.conditions:
            return {"": scores[rows]}
        names = np.asarray(items.condition("attack").to_pylist(), dtype=str)[rows]
        return {name: scores[rows][names == name] for name in np.unique(names).tolist()}

    def _single(self, at: int, rows: BoolArray) -> tuple[Evaluation, dict[str, Measured]]:
        spoofs, edition = self.trials.is_spoof, self.edition
        others = ~self.truth & ~spoofs & rows
        evaluation = self.evaluated(at, rows, self.options.metrics.operating_points)
        costs, scores = self.weighted(at, rows), self.trials.batch.scores[at]
        three = scores[self.truth & rows], scores[others], scores[spoofs & rows]
        entries = {
            "sasv_eer": Measured.eer(evaluation),
            "sv_eer": Measured.eer(self.evaluated(at, rows & ~spoofs)),
            "spf_eer": Measured.eer(self.evaluated(at, rows & ~others)),
            "min_a_dcf": Measured.of(costs, ("min_dcf", 0), spoofing.min_a_dcf(*three, **edition.a_dcf)),
            "act_a_dcf": Measured.of(costs, ("act_dcf", 0), spoofing.act_a_dcf(*three, **edition.a_dcf)),
        }
        if rows[~spoofs].all() and not rows.all():
            del entries["sv_eer"]  # spoofs do not change it
        return evaluation, edition.sorted(self.role, entries)

    def weighted(self, at: int, rows: BoolArray) -> Evaluation:
        """Evaluate some trials with the weights of non-targets and spoofs in the a-DCF.

        Raises
        ------
        InputError
            If there are no non-targets.
        """
        point, shares = self.edition.a_point()
        masks = {"non": ~self.truth & ~self.trials.is_spoof & rows, "spoof": self.trials.is_spoof & rows}
        if not masks["non"].any():
            raise InputError(f"{self.trials.source.name}: no trial is a non-target. The a-DCF needs some.")
        weight, total = np.ones(len(rows)), sum(int(mask.sum()) for mask in masks.values())
        for name, mask in masks.items():
            weight[mask] = shares[name] * total / mask.sum()
        return self.evaluated(at, rows, [point], weight)

    def evaluated(self, at: int, rows: BoolArray, points: Any = None, weight: Any = None) -> Evaluation:
        """Evaluate some trials of a system, perhaps with weights."""
        batch = self.units.source.held
        batch = (batch if weight is None else replace(batch, weight=weight)).take(rows)
        source = replace(_held(self.units.source, batch), has_weights=weight is not None)
        metrics = replace(self.options.metrics, operating_points=points or None, eer_conventions=self.edition.plan.eer)
        own = replace(self.options, metrics=metrics)
        kind, name = kind_called("two-class"), self.trials.source.systems[at]
        evaluation: Evaluation = kind.evaluate_source(replace(self.units, source=source), own, system=at, name=name)
        return evaluation


def _held(source: TrialSource, batch: Batch) -> TrialSource:
    """Return a source of one batch."""
    return replace(source, partitions=(LoadedPartition(batch, source.name),))
