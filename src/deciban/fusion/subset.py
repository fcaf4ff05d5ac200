"""Linear fusion of systems with missing scores, by a policy of the user."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from deciban._validate import arrays as _validate
from deciban.core.expected import WeightedScores
from deciban.errors import InputError, TrialError, either, not_none, option
from deciban.fusion.linear import LinearFusion, combined, linear_like, source_of_systems
from deciban.models.loading import model_of
from deciban.models.model import Bounds, Plain, Training, content_of
from deciban.models.score_model import Fusion, ParameterRow, require_systems
from deciban.models.sources import AvailableSystems, SourceTrials, mapped, occurring_subsets, scored_by
from deciban.trials.sources import Batch, Engine, TrialFields, TrialSource, found_in, having, ordered
from deciban.types import AnyArray, FloatArray, IntArray, Json, ScoreArray, Units, Weights

Subset: TypeAlias = tuple[int, ...]
"""Positions of some of the systems, in increasing order."""

MOST = 4096
"""Limit of sets of systems that have fusions in one model."""


def name_of(subset: Subset) -> str:
    """Return the name of a subset in results, such as ``0+2``."""
    return "+".join(map(str, subset))


def wanted_subsets(complete: Subset, occurring: Collection[Subset], max_missing: int) -> list[Subset]:
    """Return the sets of systems to train fusions for, the largest first."""
    n = len(complete)
    n_lacking = range(min(max_missing, n - 1) + 1) if max_missing else range(0)
    n_sets = sum(math.comb(n, k) for k in n_lacking)
    if max(n_sets, len(occurring)) > MOST:
        raise InputError(
            f"max_missing: {max(n_sets, len(occurring)):,} fusions of {n} systems, but one model can contain at most "
            f"{MOST:,}. Use a smaller max_missing, or fewer systems."
        )
    items = {subset for k in n_lacking for subset in itertools.combinations(complete, n - k)}
    return sorted(items | set(occurring), key=lambda subset: (-len(subset), subset))


def require_known(
    occurring: Mapping[Subset, IntArray], subsets: Collection[Subset], way_out: str, *, called: Callable[[Subset], str]
) -> None:
    """Refuse trials with scores of a set of systems without a fusion.

    Raises
    ------
    TrialError
        If there are any.
    """
    unknown = {subset: rows for subset, rows in occurring.items() if subset not in subsets}
    if not unknown:
        return
    subset, rows = min(unknown.items(), key=lambda entry: entry[1][0])
    n_unknown = sum(map(len, unknown.values()))
    has = f"only of {called(subset)}" if subset else "of no system"
    there_are = ", ".join(map(called, list(subsets)[:8])) + (", ..." if len(subsets) > 8 else "")
    raise TrialError(
        f"scores: there is no fusion for the systems with scores (not NaN) in {n_unknown:,} trials, the first ",
        int(rows[0]),
        f": it has scores {has}, but there are fusions of {there_are}. {way_out}.",
    )


@dataclass(slots=True, eq=False)
class ScoredSource:
    """Trials for training fusions, and the systems that scored them.

    Attributes
    ----------
    source : TrialSource
        Source without dropped trials.
    seen : AvailableSystems or None
        Numbers of trials by systems; None if no scores are missing.
    n_dropped : int
    complete : TrialSource
        Source with dropped trials.
    engine, memory, units
        See `deciban.models.score_model.ScoreModel.fit_source`.
    record : Training or None
        Training record of all trials, after training.
    """

    source: TrialSource
    seen: AvailableSystems | None
    n_dropped: int
    complete: TrialSource
    engine: Engine | None = None
    memory: int = 0
    units: Any = None
    record: Training | None = None
    classes: ClassVar[None] = None
    """See `deciban.models.sources.LabelledSource`."""

    @classmethod
    def of(
        cls, source: TrialSource, engine: Engine | None, missing: str, called: Callable[[Sequence[int]], str]
    ) -> ScoredSource:
        """Find the systems that scored each trial, and drop trials according to ``missing``: one pass.

        Raises
        ------
        InputError
            If scores are missing and the policy is an error, a system has no scores, or a class has no trials left.
        """
        every = tuple(range(len(source.systems)))
        if source.incomplete and missing == "error":
            fields = TrialFields(every, truth=True)
            found_in(source, engine, fields, partial(_require_complete, called), "looking for missing scores")
        elif not source.incomplete and not source.has_weights:
            return cls(source, None, 0, source)
        seen = scored_by(source, engine)
        silent = [k for k in every if not any(k in subset for subset in seen.counts)]
        if silent:
            raise InputError(f"scores: {called(silent)}: no score in any trial. Leave them out.")
        kept = having(source, every, every=missing == "drop")
        if missing != "drop":
            return cls(kept, seen, seen.n_none, source)
        counts = {subset: own for subset, own in seen.counts.items() if subset == every}
        for at, name in ((1, "target"), (0, "non-target")):
            if not counts or not counts[every][at]:
                raise InputError(
                    f"scores: {seen.n_lacking:,} of {source.n_rows:,} trials were dropped because of missing scores, "
                    f"and no {name} is left. Pass {option(missing='subset')}, or leave out the system that lacks most."
                )
        return cls(kept, replace(seen, counts=counts), seen.n_lacking, source)

    @property
    def occurring(self) -> list[Subset]:
        """Sets of systems that score some trial."""
        every = tuple(range(len(self.source.systems)))
        return [every] if self.seen is None else [subset for subset in self.seen.counts if subset]

    def words_of(self, subset: Subset) -> str:
        """Describe the trials with scores of some systems, with their number."""
        if self.seen is None:
            return "all trials"
        counts = [(sum(own), set(subset) <= set(one)) for one, own in self.seen.counts.items() if one]
        n, n_all = sum(own for own, has_them in counts if has_them), sum(own for own, _ in counts)
        return f"the {n:,} of {n_all:,} trials with all their scores"

    def rows_of(self, subset: Subset) -> IntArray:
        """Return the positions of these trials among all trials in memory."""
        batch = self.complete.held
        there = [~np.isnan(batch.scores[k]) for k in subset] if self.seen is not None else []
        there += [] if batch.weight is None or self.seen is None else [batch.weight > 0]
        return np.flatnonzero(np.logical_and.reduce(there)) if there else np.arange(len(batch.labels))

    def training(self, results: Mapping[str, Plain]) -> Training:
        """Return the record of a training on all of these trials."""
        result = self.record or SourceTrials(self.source, self.engine, self.memory).training({})
        return replace(result, results=results)

    def of_units(self) -> tuple[ScoredSource, None]:
        """Return no units, because each fusion has its own uncertainty."""
        return self, None

    def trained_on(self, subset: Subset) -> TrialSource:
        """Return the trials with scores of some systems, with these scores."""
        if self.seen is None:
            return ordered(self.source, systems=subset)
        return replace(ordered(having(self.source, subset, counting=True), systems=subset), incomplete=False)


def _require_complete(called: Callable[[Sequence[int]], str], batch: Batch) -> None:
    """Refuse trials with missing scores."""
    way = f"Pass {option(missing='drop')} or {option(missing='subset')}, or leave these trials out"
    require_known(occurring_subsets(batch.stacked), [tuple(range(len(batch.scores)))], way, called=called)


_POLICIES = ("error", "drop", "subset")


class SubsetFusion(Fusion):
    """Linear fusion of systems with missing scores, which are NaN.

    Missing scores are never imputed. The argument ``missing`` sets the policy.

    Parameters
    ----------
    missing : str
        ``error``: missing scores are refused, in training and later. ``drop``: trials with missing scores are dropped
        in training, and refused later. ``subset``: each trial is fused by a fusion of its available systems. There is
        one fusion for every set of systems in the training trials, and no others. It is trained on all trials with
        scores of at least these systems.
    max_missing : int
        With ``subset``, also train a fusion for every set that lacks at most this many of the systems, even if it does
        not occur. The number of systems minus 1 gives all ``2 ** n_systems - 1`` sets.
    p_target, alpha, beta, ridge : float
        See `LinearFusion`; the same for all fusions.

    Attributes
    ----------
    fusions_ : dict of tuple of int to LinearFusion
        Keys are positions of systems in increasing order, such as ``(0, 2)``; larger sets come first.
    n_systems_ : int
    objective_ : float
        Expected cost of all training trials, each by its fusion, without the penalty.
    training_ : Training
        Counts and a fingerprint of the training trials, and ``results``. ``n_dropped`` is the number of dropped trials
        (with ``subset``: trials without any score). For the systems 0 and 2, ``n_exactly_0+2`` trials have exactly
        these scores, ``n_trained_0+2`` were used in training, and ``status_0+2`` is the status of training.

    Notes
    -----
    Each fusion is calibrated for its own systems: with fewer systems, llrs are smaller, and the offset differs. This is
    valid if scores are missing at random. If scores are missing because trials are difficult, these trials differ from
    the training trials of the fusion of fewer systems.

    Examples
    --------
    >>> import numpy as np
    >>> nan = np.nan
    >>> scores = [[3.0, 1.0], [1.0, nan], [2.0, -1.0], [-1.0, 1.0], [1.5, nan], [0.0, -2.0], [2.0, 0.5], [0.5, 0.0]]
    >>> is_target = [True, True, True, False, False, False, False, True]
    >>> fusion = SubsetFusion(missing="subset").fit(scores, is_target)
    >>> fusion.transform([[2.0, 0.5], [2.0, nan]]).round(2)
    array([0.82, 0.7 ])
    >>> sorted(fusion.fusions_)
    [(0,), (0, 1)]
    >>> fusion.training_.results["n_exactly_0"], fusion.training_.results["n_trained_0"]
    (2, 8)
    """

    kind: ClassVar[str] = "subset-fusion"
    of_subsets = True
    parameter_schema: ClassVar[Mapping[str, object]] = {
        "n_systems": {"type": "integer", "minimum": 1},
        "fusions": {
            "type": "array",
            "minItems": 1,
            "maxItems": MOST,
            "items": {
                "type": "object",
                "required": ["systems", "fusion"],
                "properties": {
                    "systems": {"type": "array", "minItems": 1, "items": {"type": "integer", "minimum": 0}},
                    "fusion": {"type": "object"},
                },
                "additionalProperties": False,
            },
        },
    }

    fusions_: dict[Subset, LinearFusion]
    _n_systems: int

    def __init__(
        self,
        *,
        missing: str = "error",
        max_missing: int = 0,
        p_target: float = 0.5,
        alpha: float = 1.0,
        beta: float = 1.0,
        ridge: float = 0.0,
    ) -> None:
        self.missing, self.max_missing = missing, max_missing
        super().__init__(p_target=p_target, alpha=alpha, beta=beta, ridge=ridge)
        self._policy()

    def _policy(self) -> tuple[str, int]:
        """Return both checked settings; they are attributes, which may have changed."""
        if self.missing not in _POLICIES:
            raise InputError(f"missing: got {self.missing!r}. It must be one of {', '.join(_POLICIES)}.")
        n: Any = self.max_missing
        if type(n) is not int or n < 0:  # neither bool nor other types, which model files cannot contain
            raise InputError(f"max_missing: got {n!r}. It must be a whole number of at least 0.")
        if n and self.missing != "subset":
            raise InputError(f"max_missing: not used with missing={self.missing!r}. Pass {option(missing='subset')}.")
        return self.missing, n

    def fit(
        self, scores: ArrayLike, is_target: ArrayLike, *, sample_weight: Weights = None, units: Units = None
    ) -> Self:
        """Train on labelled trials.

        Parameters
        ----------
        scores : (n_trials, n_systems) array_like
            Scores of all systems on the same trials; NaN if missing, infinite for certainty.
        is_target : (n_trials,) array_like
            True (or 1) for targets, False (or 0) for non-targets.
        sample_weight : (n_trials,) array_like, optional
            Weight of each trial within its class, at least 0; whole numbers count like copies.
        units : (n_trials,) or (n_trials, 2) array_like, or TrialUnits, optional
            Speaker or other unit of each trial, or of its two sides; see `interval`.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If a score is missing and the policy is an error, if there would be too many fusions, or if a fusion cannot
            be trained, for example without trials of a class; see `LinearFusion.fit`. The message names its systems.
        """
        source = source_of_systems(scores, is_target, sample_weight, units, missing=True)
        return self.fit_source(source, None, 0, units=source.held_units)

    def _data(self, *arguments: Any) -> ScoredSource:
        (missing, _), (source, engine, memory, units) = self._policy(), arguments
        if source.batch is not None:
            source = replace(source, incomplete=any(np.isnan(one).any() for one in source.batch.scores))
        result = ScoredSource.of(source, engine, missing, self.called)
        return replace(result, engine=engine, memory=memory, units=units)

    def _fit(self, seen: ScoredSource) -> Mapping[str, Plain]:
        missing, max_missing = self._policy()
        source, complete = seen.complete, tuple(range(len(seen.complete.systems)))
        subsets = [complete] if missing != "subset" else wanted_subsets(complete, seen.occurring, max_missing)
        fusions = {}
        for subset in subsets:
            fusion = linear_like(self, tuple(self.called([k]) for k in subset))
            try:
                own = seen.trained_on(subset)
                fusions[subset] = fusion.fit_source(own, seen.engine, seen.memory, units=seen.units)
            except InputError as error:
                names = " + ".join(source.systems[k] for k in subset) if source.name else self.called(subset)
                before = f"Fusion of {names}, trained on {seen.words_of(subset)}: "
                after = " Or leave out one of these systems."
                if isinstance(error, TrialError):
                    raise error.among(seen.rows_of(subset), before=before, after=after) from error
                raise InputError(f"{before}{error}{after}") from error
        self._n_systems, self.fusions_ = len(complete), fusions
        counts: Mapping[Subset, tuple[int, ...]]
        if seen.seen is None:
            whole = seen.record = not_none(self.whole.training_, "training record")
            self.objective_, counts = self.whole.objective_, {complete: tuple(whole.counts.values())}
        else:
            counting = having(seen.source, complete, every=False, counting=True)
            self.objective_ = self.cost_of_source(mapped(counting, self, "fusion"), seen.engine)
            counts = seen.seen.counts
        results: dict[str, Plain] = {"objective": self.objective_, "n_dropped": seen.n_dropped}
        for subset, fusion in fusions.items():
            name, one = name_of(subset), not_none(fusion.training_, "training record")
            results |= {f"n_exactly_{name}": sum(counts.get(subset, ())), f"n_trained_{name}": sum(one.counts.values())}
            results[f"status_{name}"] = one.results["status"]
        return results

    def transform(self, scores: ArrayLike) -> FloatArray:
        """Fuse the scores of trials.

        Parameters
        ----------
        scores : (n_trials, n_systems) array_like
            Systems in the order of training; NaN if missing.

        Returns
        -------
        (n_trials,) array
            Log-likelihood ratios in nats.

        Raises
        ------
        InputError
            If the fusion was not trained, the number of systems differs, trials have scores of a set of systems without
            a fusion, or systems contradict each other with infinite scores.
        """
        self.require_fitted()
        require_systems(matrix := _validate.matrix(scores, "scores", "system"), self.n_systems_)
        occurring = occurring_subsets(matrix)
        require_known(occurring, self.fusions_, self.way_out, called=self.called)
        return self._fused(matrix, occurring)

    @property
    def way_out(self) -> str:
        """Advice for trials with a set of systems without a fusion."""
        ways = {
            "error": "Leave these trials out",
            "drop": f"Leave these trials out, as in training, or train with {option(missing='subset')}",
            "subset": f"Leave these trials out, or train with {either('a larger max_missing', '--missing subset=N')}",
        }
        return ways[self._policy()[0]]

    def _fused(self, scores: ScoreArray, occurring: Mapping[Subset, IntArray]) -> FloatArray:
        llr = np.empty(len(scores))
        for subset, rows in occurring.items():
            fusion = self.fusions_[subset]
            own = scores if len(rows) == len(scores) else scores[rows]
            if len(subset) < self.n_systems_:
                own = own[:, list(subset)]
            llr[rows] = combined(own, fusion.weights_, fusion.offset_, numbers=rows)
        return llr

    def _bounds(self, scores: ArrayLike, llr: FloatArray, level: float, **_quality: ArrayLike) -> Bounds:
        matrix, (low, high) = np.asarray(scores, np.float64), np.empty((2, len(llr)))
        for subset, rows in occurring_subsets(matrix).items():
            own = matrix[rows][:, list(subset)]
            low[rows], high[rows] = self.fusions_[subset]._bounds(own, llr[rows], level)  # noqa: SLF001
        return low, high

    def uncertainty_lines(self) -> list[str]:
        """Return a sentence on the standard errors of the fusion of all systems."""
        return self.whole.uncertainty_lines()

    @property
    def n_systems_(self) -> int:
        """Number of systems."""
        return self._n_systems

    @property
    def accepts_missing(self) -> bool:
        """Return True if the fusion accepts missing scores."""
        return self.missing == "subset"

    @property
    def whole(self) -> LinearFusion:
        """The fusion of trials with scores of all systems."""
        return self.fusions_[tuple(range(self.n_systems_))]

    def penalized_cost(self, tar: WeightedScores, non: WeightedScores) -> float:
        """Return the cost of the trials with scores of all systems, plus the penalty of their fusion."""
        return self.cost_of(tar, non) + self.whole.penalized_objective_ - self.whole.objective_

    def subsets_of(self, scores: AnyArray) -> list[tuple[Subset, int]]:
        """Return incomplete sets of systems that trials have scores of, with numbers of trials; the largest first.

        Raises
        ------
        TrialError
            If there is no fusion for some of these sets.
        """
        occurring, names = occurring_subsets(scores), self.trained_systems
        require_known(occurring, self.fusions_, self.way_out, called=lambda own: " + ".join(names[k] for k in own))
        lacking = [(subset, len(rows)) for subset, rows in occurring.items() if len(subset) < self.n_systems_]
        return sorted(lacking, key=lambda one: (-len(one[0]), one[0]))

    def parameter_rows(self) -> tuple[ParameterRow, ...]:
        """Return weights and offset of the fusion of each set of systems."""
        names, rows = self.trained_systems, list[ParameterRow]()
        for subset, one in self.fusions_.items():
            own = [names[k] for k in subset]
            rows += [replace(row, name=f"{' + '.join(own)}: {row.name}") for row in one._rows(own)]  # noqa: SLF001
        return tuple(rows)

    def training_lines(self) -> list[str]:
        """Return sentences on the training of each fusion."""
        names, results = self.trained_systems, {} if self.training_ is None else self.training_.results
        lines = list[str]()
        for subset, one in self.fusions_.items() if results else ():
            key, systems = name_of(subset), " + ".join(names[k] for k in subset)
            status = "" if one.training_ is None else one.training_.results["status"]
            lines.append(
                f"{systems}: for {results[f'n_exactly_{key}']:,} trials with exactly these scores, trained on "
                f"{results[f'n_trained_{key}']:,} trials with at least these scores; {status}"
            )
        of_whole = f" (fusion of {' + '.join(names)})" if len(lines) > 1 else ""
        return [*lines, *(f"{line}{of_whole}" for line in self.uncertainty_lines())]

    def parameters(self) -> dict[str, Json]:
        """Return the fusions, each as in a file of its own."""
        fusions = [{"systems": list(subset), "fusion": content_of(fusion)} for subset, fusion in self.fusions_.items()]
        return {"n_systems": self.n_systems_, "fusions": fusions}

    def set_parameters(self, parameters: Mapping[str, Json]) -> None:
        """Set the fusions from a file."""
        n_systems, fusions = int(parameters["n_systems"]), {}
        for entry in parameters["fusions"]:
            subset = tuple(int(system) for system in entry["systems"])
            if list(subset) != sorted(set(subset)) or subset[-1] >= n_systems or subset in fusions:
                raise InputError(
                    f"fusions: systems {subset} of {n_systems} are out of order, out of range, or repeated."
                )
            fusion = model_of(entry["fusion"], f"fusion of systems {name_of(subset)}")
            if not isinstance(fusion, LinearFusion) or len(fusion.weights_) != len(subset):
                raise InputError(f"fusions: expected a linear fusion of the systems {name_of(subset)}.")
            fusions[subset] = fusion
        if self.missing != "subset" and list(fusions) != [tuple(range(n_systems))]:
            raise InputError(f"fusions: with missing={self.missing!r} there must be only one, of all systems.")
        if len(set().union(*fusions)) != n_systems:
            raise InputError(
                f"n_systems: {n_systems:g}, but there are fusions of {len(set().union(*fusions))} of them."
            )
        self._n_systems, self.fusions_ = n_systems, fusions
