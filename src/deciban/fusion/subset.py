"""Linear fusion where some systems have no score for some trials: a policy that the user states."""

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
from deciban.core.resampling.units import TrialUnits
from deciban.core.rules.expected import WeightedScores
from deciban.errors import InputError, TrialError
from deciban.fusion.linear import LinearFusion, combined, linear_like, require_systems, source_of_systems
from deciban.models.loading import model_of
from deciban.models.mapped import ScoredBy, having, mapped, occurring_subsets, ordered, scored_by
from deciban.models.model import Bounds, Plain, Training, content_of
from deciban.models.score_model import ParameterRow
from deciban.models.sources import SourceTrials
from deciban.models.two_class import Fusion
from deciban.trials.passes import Engine, found_in
from deciban.trials.sources import Chunk, ShardSource, Wanted
from deciban.trials.speakers import UnitsOfPieces
from deciban.types import AnyArray, FloatArray, IntArray, ScoreArray

Subset: TypeAlias = tuple[int, ...]
"""Positions of some of the systems, in increasing order."""

MOST = 4096
"""Sets of systems that one model may have fusions for."""


def name_of(subset: Subset) -> str:
    """As it stands in results: ``0+2`` for example."""
    return "+".join(map(str, subset))


def wanted_subsets(complete: Subset, occurring: Collection[Subset], max_missing: int) -> list[Subset]:
    """Sets of systems to train for, those of most systems first."""
    n = len(complete)
    n_lacking = range(min(max_missing, n - 1) + 1) if max_missing else range(0)
    n_sets = sum(math.comb(n, k) for k in n_lacking)
    if max(n_sets, len(occurring)) > MOST:
        raise InputError(
            f"max_missing: {max(n_sets, len(occurring)):,} fusions of {n} systems, and one model holds at most "
            f"{MOST:,}. Take a smaller max_missing, or fewer systems."
        )
    asked = {subset for k in n_lacking for subset in itertools.combinations(complete, n - k)}
    return sorted(asked | set(occurring), key=lambda subset: (-len(subset), subset))


def require_known(
    occurring: Mapping[Subset, IntArray], known: Collection[Subset], way_out: str, *, called: Callable[[Subset], str]
) -> None:
    """Refuse trials with scores of a set of systems for which there is no fusion.

    Raises
    ------
    TrialError
        If there are any.
    """
    unknown = {subset: rows for subset, rows in occurring.items() if subset not in known}
    if not unknown:
        return
    subset, rows = min(unknown.items(), key=lambda entry: entry[1][0])
    n_unknown = sum(map(len, unknown.values()))
    has = f"only of {called(subset)}" if subset else "of no system"
    there_are = ", ".join(map(called, list(known)[:8])) + (", ..." if len(known) > 8 else "")
    raise TrialError(
        f"scores: no fusion is for the systems that have a score (NaN stands for none) in {n_unknown:,} trials, the "
        "first ",
        int(rows[0]),
        f": it has scores {has}, and there are fusions of {there_are}. {way_out}.",
    )


@dataclass(slots=True, eq=False)
class ScoredSource:
    """The trials that fusions are trained on, and which systems scored them.

    Attributes
    ----------
    source : ShardSource
        Without those that are dropped.
    seen : ScoredBy or None
        Which scores they have; None where they have all.
    n_dropped : int
    given : ShardSource
        With those that are dropped.
    engine, memory, units
        As of `deciban.models.score_model.ScoreModel.fit_pieces`.
    record : Training or None
        Of all trials, once they were trained on.
    """

    source: ShardSource
    seen: ScoredBy | None
    n_dropped: int
    given: ShardSource
    engine: Engine | None = None
    memory: int = 0
    units: Any = None
    record: Training | None = None
    classes: ClassVar[None] = None
    """See `deciban.models.sources.LabelledSource`."""

    @classmethod
    def of(
        cls, source: ShardSource, engine: Engine | None, missing: str, called: Callable[[Sequence[int]], str]
    ) -> ScoredSource:
        """Look which systems scored which trials, and leave out those that ``missing`` says: one pass.

        Raises
        ------
        InputError
            If scores are missing and that is to be an error, a system has none, or a class is left without trials.
        """
        every = tuple(range(len(source.systems)))
        if source.incomplete and missing == "error":
            wanted = Wanted(every, truth=True)
            found_in(source, engine, wanted, partial(_require_complete, called), "looking for scores that are missing")
        elif not source.incomplete and not source.has_weights:
            return cls(source, None, 0, source)
        seen = scored_by(source, engine)
        silent = [k for k in every if not any(k in subset for subset in seen.counts)]
        if silent:
            raise InputError(f"scores: {called(silent)}: no score in any trial. Leave such systems out.")
        kept = having(source, every, every=missing == "drop")
        if missing != "drop":
            return cls(kept, seen, seen.n_none, source)
        counts = {subset: own for subset, own in seen.counts.items() if subset == every}
        for at, name in ((1, "target"), (0, "non-target")):
            if not counts or not counts[every][at]:
                raise InputError(
                    f"scores: {seen.n_lacking:,} of {source.n_rows:,} trials were dropped for scores that are missing, "
                    f"and no {name} is left. Pass missing='subset', or leave out the system that lacks most."
                )
        return cls(kept, replace(seen, counts=counts), seen.n_lacking, source)

    @property
    def occurring(self) -> list[Subset]:
        """Sets of systems that trials have scores of."""
        every = tuple(range(len(self.source.systems)))
        return [every] if self.seen is None else [subset for subset in self.seen.counts if subset]

    def words_of(self, subset: Subset) -> str:
        """Say how many trials have the scores of some systems."""
        if self.seen is None:
            return "all trials"
        counts = [(sum(own), set(subset) <= set(one)) for one, own in self.seen.counts.items() if one]
        n, n_all = sum(own for own, has_them in counts if has_them), sum(own for own, _ in counts)
        return f"the {n:,} of {n_all:,} trials that have all of their scores"

    def rows_of(self, subset: Subset) -> IntArray:
        """The positions of these trials among those that were given, which are in memory."""
        batch = self.given.held
        there = [~np.isnan(batch.scores[k]) for k in subset] if self.seen is not None else []
        there += [] if batch.weight is None or self.seen is None else [batch.weight > 0]
        return np.flatnonzero(np.logical_and.reduce(there)) if there else np.arange(len(batch.labels))

    def training(self, results: Mapping[str, Plain]) -> Training:
        """Return the record of a training on all of them."""
        made = self.record or SourceTrials(self.source, self.engine, self.memory).training({})
        return replace(made, results=results)

    def of_units(self) -> tuple[ScoredSource, None]:
        """Return no units: each fusion has an uncertainty of its own."""
        return self, None

    def trained_on(self, subset: Subset) -> ShardSource:
        """The trials that have scores of some systems, and these scores."""
        if self.seen is None:
            return ordered(self.source, systems=subset)
        return replace(ordered(having(self.source, subset, counting=True), systems=subset), incomplete=False)


def _require_complete(called: Callable[[Sequence[int]], str], chunk: Chunk) -> None:
    """Refuse trials that lack a score."""
    way = "Pass missing='drop' or missing='subset', or leave these trials out"
    require_known(occurring_subsets(chunk.stacked), [tuple(range(len(chunk.scores)))], way, called=called)


_POLICIES = ("error", "drop", "subset")


class SubsetFusion(Fusion):
    """Linear fusion of systems of which some may have no score for a trial; NaN stands for such a score.

    Nothing is put in place of a score that is not there. What happens instead is up to ``missing``.

    Parameters
    ----------
    missing : str
        ``error``: a score that is missing is refused, when training and later. ``drop``: trials that lack a score are
        left out of training, and refused later. ``subset``: each trial is fused by a fusion of the systems that it has.
        There is one for every set of systems that some training trial has, no more and no fewer; it is trained on all
        trials that have at least these.
    max_missing : int
        With ``subset``, there is also one for every set that lacks at most this many of the systems, whether such a
        trial occurs or not. The number of systems less 1 gives all sets; there are 2 to the power of the number of
        systems of them, less 1.
    p_target, alpha, beta, ridge : float
        As in `LinearFusion`, the same for all fusions.

    Attributes
    ----------
    fusions_ : dict of tuple of int to LinearFusion
        By positions of systems in increasing order, ``(0, 2)`` for example; those of more systems come first.
    n_systems_ : int
    objective_ : float
        Expected cost of all training trials, each by its own fusion, without the penalty.
    training_ : Training
        Counts of trials that were trained on, a fingerprint of them, and in ``results``: ``n_dropped``, trials that
        were left out (with ``subset``: those without any score); for the systems 0 and 2, ``n_exactly_0+2`` trials
        have these scores and no others, ``n_trained_0+2`` were trained on, and ``status_0+2`` says how that went.

    Notes
    -----
    Each fusion is right for its own systems: with fewer of them, llrs are smaller, and the offset is another one. That
    holds as long as a score is missing by chance. Where it is missing because the trial is hard, trials that lack it
    are not like those that the fusion of fewer systems was trained on.

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
    parameter_schema: ClassVar[dict[str, Any]] = {
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
        self.missing = missing
        self.max_missing = max_missing
        super().__init__(p_target=p_target, alpha=alpha, beta=beta, ridge=ridge)
        self._policy()

    def _policy(self) -> tuple[str, int]:
        """Both settings, checked; they are attributes and may have been changed."""
        if self.missing not in _POLICIES:
            raise InputError(f"missing: got {self.missing!r}. It is one of {', '.join(_POLICIES)}.")
        n: Any = self.max_missing
        if type(n) is not int or n < 0:  # a bool is none, and others do not fit a model file
            raise InputError(f"max_missing: got {n!r}. It is a whole number of at least 0.")
        if n and self.missing != "subset":
            raise InputError(f"max_missing: of no use with missing={self.missing!r}. Pass missing='subset'.")
        return self.missing, n

    def fit(
        self,
        scores: ArrayLike,
        is_target: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        units: ArrayLike | TrialUnits | None = None,
    ) -> Self:
        """Train on labelled trials.

        Parameters
        ----------
        scores : (n_trials, n_systems) array_like
            Scores of all systems on the same trials; NaN where a system has none, infinite for certainty.
        is_target : (n_trials,) array_like
            True (or 1) for targets, False (or 0) for non-targets.
        sample_weight : (n_trials,) array_like, optional
            Weight of each trial within its class, at least 0; whole numbers count like copies.
        units : (n_trials,) or (n_trials, 2) array_like, or TrialUnits, optional
            Which speaker, or other unit, each trial is of, or its two sides are; see `interval`.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If a score is missing and that is to be an error, if there would be too many fusions, or if one cannot be
            trained, for want of a class for example; see `LinearFusion.fit`. The message names its systems.
        """
        source = source_of_systems(scores, is_target, sample_weight, units, missing=True)
        return self.fit_pieces(source, None, 0, units=source.held_units)

    def _data(
        self, source: ShardSource, engine: Engine | None, memory: int, units: UnitsOfPieces | TrialUnits | None
    ) -> ScoredSource:
        missing, _ = self._policy()
        if source.batch is not None:
            source = replace(source, incomplete=any(np.isnan(one).any() for one in source.batch.scores))
        found = ScoredSource.of(source, engine, missing, self.called)
        return replace(found, engine=engine, memory=memory, units=units)

    def _fit(self, seen: ScoredSource) -> Mapping[str, Plain]:
        missing, max_missing = self._policy()
        source, complete = seen.given, tuple(range(len(seen.given.systems)))
        wanted = [complete] if missing != "subset" else wanted_subsets(complete, seen.occurring, max_missing)
        fusions = {}
        for subset in wanted:
            fusion = linear_like(self, tuple(self.called([k]) for k in subset))
            try:
                own = seen.trained_on(subset)
                fusions[subset] = fusion.fit_pieces(own, seen.engine, seen.memory, units=seen.units)
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
            whole = seen.record = self.whole.training_
            assert whole is not None  # noqa: S101  # it was trained a moment ago
            self.objective_, counts = self.whole.objective_, {complete: tuple(whole.counts.values())}
        else:
            counting = having(seen.source, complete, every=False, counting=True)
            self.objective_ = self.cost_of_pieces(mapped(counting, self, "fusion"), seen.engine)
            counts = seen.seen.counts
        results: dict[str, Plain] = {"objective": self.objective_, "n_dropped": seen.n_dropped}
        for subset, fusion in fusions.items():
            name, one = name_of(subset), fusion.training_
            assert one is not None  # noqa: S101  # it was trained a moment ago
            results |= {f"n_exactly_{name}": sum(counts.get(subset, ())), f"n_trained_{name}": sum(one.counts.values())}
            results[f"status_{name}"] = one.results["status"]
        return results

    def transform(self, scores: ArrayLike) -> FloatArray:
        """Fuse the scores of trials.

        Parameters
        ----------
        scores : (n_trials, n_systems) array_like
            Systems in the order of training; NaN where one has no score.

        Returns
        -------
        (n_trials,) array
            Log-likelihood ratios in nats.

        Raises
        ------
        InputError
            If there was no training, the number of systems is another one, trials have scores of a set of systems for
            which there is no fusion, or systems contradict each other with infinite scores.
        """
        self.require_fitted()
        require_systems(matrix := _validate.matrix(scores, "scores", "system"), self.n_systems_)
        occurring = occurring_subsets(matrix)
        require_known(occurring, self.fusions_, self.way_out, called=self.called)
        return self._fused(matrix, occurring)

    @property
    def way_out(self) -> str:
        """What to do about trials with a set of systems that there is no fusion for."""
        ways = {
            "error": "Leave these trials out",
            "drop": "Leave these trials out, as in training, or train with missing='subset' (--missing subset)",
            "subset": "Leave these trials out, or train with such trials or a larger max_missing (--missing subset=N)",
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

    def _bounds(self, scores: Any, llr: FloatArray, level: float, **_quality: Any) -> Bounds:
        matrix, (low, high) = np.asarray(scores, np.float64), np.empty((2, len(llr)))
        for subset, rows in occurring_subsets(matrix).items():
            own = matrix[rows][:, list(subset)]
            low[rows], high[rows] = self.fusions_[subset]._bounds(own, llr[rows], level)  # noqa: SLF001
        return low, high

    def uncertainty_lines(self) -> list[str]:
        """By which units standard errors were found; those of the fusion of all systems."""
        return self.whole.uncertainty_lines()

    @property
    def n_systems_(self) -> int:
        """How many systems it fuses, where all have a score."""
        return self._n_systems

    @property
    def accepts_missing(self) -> bool:
        """Whether it fuses trials that some of its systems did not score."""
        return self.missing == "subset"

    @property
    def whole(self) -> LinearFusion:
        """The fusion of trials that all systems scored."""
        return self.fusions_[tuple(range(self.n_systems_))]

    def penalized_cost(self, tar: WeightedScores, non: WeightedScores) -> float:
        """Cost of the trials that all systems scored, and the penalty of their fusion."""
        return self.cost_of(tar, non) + self.whole.penalized_objective_ - self.whole.objective_

    def subsets_of(self, scores: AnyArray) -> list[tuple[Subset, int]]:
        """Sets of fewer than all systems that trials have scores of, with the numbers of trials; the largest first.

        Raises
        ------
        TrialError
            If there is no fusion for some of these sets.
        """
        occurring, names = occurring_subsets(scores), self.trained_systems
        how: Any = {"called": lambda own: " + ".join(names[k] for k in own)}
        require_known(occurring, self.fusions_, self.way_out, **how)
        lacking = [(subset, len(rows)) for subset, rows in occurring.items() if len(subset) < self.n_systems_]
        return sorted(lacking, key=lambda one: (-len(one[0]), one[0]))

    def parameter_rows(self) -> tuple[ParameterRow, ...]:
        """Weights and offset of the fusion of each set of systems."""
        names, rows = self.trained_systems, list[ParameterRow]()
        for subset, one in self.fusions_.items():
            own = [names[k] for k in subset]
            rows += [replace(row, name=f"{' + '.join(own)}: {row.name}") for row in one._rows(own)]  # noqa: SLF001
        return tuple(rows)

    def training_lines(self) -> list[str]:
        """How the training of each fusion went."""
        names, results = self.trained_systems, {} if self.training_ is None else self.training_.results
        lines = list[str]()
        for subset, one in self.fusions_.items() if results else ():
            key, systems = name_of(subset), " + ".join(names[k] for k in subset)
            status = "" if one.training_ is None else one.training_.results["status"]
            lines.append(
                f"{systems}: {results[f'n_exactly_{key}']:,} trials have just these scores, trained on "
                f"{results[f'n_trained_{key}']:,} that have them; {status}"
            )
        return [*lines, *self.uncertainty_lines()]

    def parameters(self) -> dict[str, Any]:
        """The fusions, each as it would stand in a file of its own."""
        fusions = [{"systems": list(subset), "fusion": content_of(fusion)} for subset, fusion in self.fusions_.items()]
        return {"n_systems": self.n_systems_, "fusions": fusions}

    def set_parameters(self, parameters: Mapping[str, Any]) -> None:
        """Take the fusions from a file."""
        n_systems, fusions = int(parameters["n_systems"]), {}
        for entry in parameters["fusions"]:
            subset = tuple(int(system) for system in entry["systems"])
            if list(subset) != sorted(set(subset)) or subset[-1] >= n_systems or subset in fusions:
                raise InputError(
                    f"fusions: systems {subset} of {n_systems} are out of order, out of range, or repeated."
                )
            fusion = model_of(entry["fusion"], f"fusion of systems {name_of(subset)}")
            if not isinstance(fusion, LinearFusion) or len(fusion.weights_) != len(subset):
                raise InputError(f"fusions: that of systems {name_of(subset)} is no linear fusion of as many systems.")
            fusions[subset] = fusion
        if self.missing != "subset" and list(fusions) != [tuple(range(n_systems))]:
            raise InputError(f"fusions: with missing={self.missing!r} there is one, of all systems.")
        if len(set().union(*fusions)) != n_systems:
            raise InputError(
                f"n_systems: {n_systems:g}, but there are fusions of {len(set().union(*fusions))} of them."
            )
        self._n_systems, self.fusions_ = n_systems, fusions
