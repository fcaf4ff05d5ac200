"""The kind of scores of two classes: one number for each trial, which is a target or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from deciban._arrow import compute as pc
from deciban._files import PathLike
from deciban._validate.probabilities import target_prior
from deciban.core.resampling.units import TrialUnits
from deciban.errors import InputError, KeyMismatchError
from deciban.evaluation import Evaluation, TwoClassFigures
from deciban.evaluation.information_at import priors_told
from deciban.evaluation.two_class import evaluate_labelled
from deciban.evaluation.uncertainty import Figure
from deciban.evaluation.unit_trials import Resampling
from deciban.io import Contents
from deciban.io.contents import ContentKind
from deciban.io.formats import by_name
from deciban.io.reader import Input
from deciban.io.recognition import Recognized
from deciban.io.units import llrs_of_probabilities
from deciban.messages import WARNING, Message, counted
from deciban.metrics.thresholds import FACTORS
from deciban.models.score_model import ScoreModel
from deciban.models.uncertainty import Bounds
from deciban.trials import Key, Scores, Trials
from deciban.trials.joining.join import Aligned, align_incomplete, align_systems, refuse_conflicts
from deciban.trials.lists import PAIR
from deciban.trials.passes import Engine
from deciban.trials.sources import ShardSource
from deciban.trials.units import notes_on_speakers, speakers_of, units_of_trials
from deciban.types import AnyArray, BoolArray, IntArray, Progress
from deciban.workflows.kinds.base import Kind, Scored, of_trials
from deciban.workflows.kinds.looks import messages_on_declared_ratios
from deciban.workflows.kinds.two_columns import read_two_classes, read_two_columns, refuse_two_columns
from deciban.workflows.options import Figures, Options, Reading

if TYPE_CHECKING:
    from deciban.engines.trial_units import UnitsFound
    from deciban.trials.passes import Engine
    from deciban.workflows.units_of_sources import UnitsOfSource

_DELIMITED = {",": "table", "\t": "tsv"}

_ALL_ONCE = 0.9
"""Share of the speakers that there would be if every name occurred once, from which names do not identify speakers."""


def _names_occur_once(n_units: int, n_tar: int, n_non: int) -> bool:
    """Return True if nearly every trial has names of its own, so that names do not identify speakers."""
    return n_units >= _ALL_ONCE * (n_tar + 2 * n_non)


def _said_of_speakers(n_contradictions: int, *, apart: bool) -> tuple[Message, ...]:
    """What was assumed to find speakers from target trials, and what speaks against it."""
    words = notes_on_speakers(apart=apart, n_contradictions=n_contradictions)
    return tuple(Message("note", "", one) for one in words)


class TwoClass(Kind[Scores, Key, Aligned]):
    """Trials are targets or non-targets; a system gives each one score."""

    name = "two-class"
    noun = "trial"
    need = "scores"
    units_of_files = True
    need_of_key = "key"
    has_ties = compares_systems = has_thresholds = has_trial_costs = True
    output = "llrs"
    about, other = "two classes", "many classes"
    way_out = (
        " Name the column of its scores if there is one (--columns; score=2 is the second one of a matrix), or, of "
        "scores of two classes, say that their difference is meant (--kind two-class)."
    )
    other_reading = ("classes", "posterior_prior", "detection_llr")
    other_figures = ("prior", "p_target", "p_out_of_set", "subsets", "pairs", "capacity", "groups")

    def read(self, file: Recognized, reading: Reading, say: Progress, need: ContentKind | None = None) -> Input:
        """Read a score file or a key; where it is asked for, one of two named classes, too."""
        found = None
        if reading.from_classes and file.sides is not None:
            refuse_two_columns(file)
        elif reading.from_classes and need in (None, "scores"):
            found = read_two_columns(file, unit=reading.unit, prior=reading.probabilities)
        elif reading.from_classes and need == "key":
            found = read_two_classes(file)
        return super().read(file, reading, say, need) if found is None else found

    def systems_of(self, contents: Contents, reading: Reading) -> list[Scores]:
        """The scores of each system that an input holds, probabilities as llrs; negated if lower ones favour target."""
        if reading.negate:
            return [one.negated() for one in contents.systems]
        if reading.probabilities is None or contents.from_probabilities:
            return list(contents.systems)
        return [llrs_of_probabilities(one, reading.probabilities) for one in contents.systems]

    def unit_messages(self, systems: Sequence[Scores], reading: Reading) -> list[Message]:
        """What was done to the units of scores, and whether they are what the user declared."""
        more = messages_on_declared_ratios(systems, negated=reading.negate)
        return [*super().unit_messages(systems, reading), *more]

    def prior_of_probabilities(self, reading: Reading, classes: Sequence[str], order: Sequence[str] = ()) -> str:  # noqa: ARG002
        """The prior of a target."""
        return repr(target_prior(reading.probabilities, "probabilities"))

    def key_of(self, contents: Contents, reading: Reading, first: Scores) -> Key:  # noqa: ARG002
        """The truth that an input holds."""
        if contents.key is None:
            raise InputError(
                f"key: none given, and {contents.origin.name} holds no labels. Pass the file that does (--key FILE)."
            )
        return contents.key

    def align(
        self, systems: Sequence[Scores], key: Key, reading: Reading, *, incomplete: bool = False
    ) -> Sequence[Aligned]:
        """Find the scores of every trial of a key."""
        how: Any = {"duplicates": reading.duplicates, "by_order": reading.by_order, "ids": reading.renaming}
        if incomplete:
            return align_incomplete(systems, key, **how)
        return align_systems(systems, key, reading.missing, **how)

    def truth_of(self, aligned: Aligned) -> BoolArray:
        """Whether trials are targets."""
        assert aligned.is_target is not None  # noqa: S101  # they were aligned to a key
        return aligned.is_target

    def in_nats(self, scores: Scores, reading: Reading) -> Scores:  # noqa: ARG002  # files say it of each system
        """Scores as natural logarithms."""
        return scores.in_nats()

    def units_unasked(
        self, trials: Trials, truth: AnyArray, counting: BoolArray | None
    ) -> tuple[TrialUnits | None, tuple[Message, ...]]:
        """Return speakers, found from target trials, or every trial as a unit where names do not identify speakers."""
        if trials.sides[:2] != PAIR:
            return units_of_trials(trials, counting, noun=self.noun), ()
        found = speakers_of(trials, truth, counting)
        of_classes = (int(np.count_nonzero(mask if counting is None else mask & counting)) for mask in (truth, ~truth))
        if _names_occur_once(found.units.n_units, *of_classes):
            return units_of_trials(trials, counting, noun=self.noun), ()
        return found.units, _said_of_speakers(found.n_contradictions, apart=found.apart)

    def units_unasked_in_pieces(self, source: ShardSource, engine: Engine) -> UnitsFound:
        """Return speakers, or every trial as a unit, as of trials in memory."""
        from deciban.engines.trial_units import UnitsFound, speakers_in_pieces

        if source.sides[:2] != PAIR:
            return UnitsFound.of_trials(self.noun)
        facts, by_name = speakers_in_pieces(source, engine)
        if _names_occur_once(len(facts.keys), *(facts.trials_of(c) for c in (1, 0))):
            return UnitsFound.of_trials(self.noun)
        return UnitsFound(facts, by_name, _said_of_speakers(facts.n_contradictions, apart=by_name.apart))

    def classes_by_truth(self, classes: Sequence[str]) -> list[tuple[str, int]]:  # noqa: ARG002
        """Targets are those whose truth is 1."""
        return [("targets", 1), ("non-targets", 0)]

    def evaluate(
        self,
        trials: Scored,
        *,
        name: str,
        figures: Figures,
        classes: Sequence[str],  # noqa: ARG002
        resampling: Resampling | None = None,
    ) -> Evaluation:
        """Evaluate scores of labelled trials."""
        points = checked_figures(figures)
        return evaluate_labelled(*trials, name=name, operating_points=points, resampling=resampling)

    def n_evaluated(self, found: Evaluation) -> int:
        """Targets and non-targets."""
        return int(found.n_tar + found.n_non)

    def evaluate_pieces(
        self, source: ShardSource, engine: Engine, options: Options, *, system: int, name: str, units: UnitsOfSource
    ) -> Evaluation:
        """Evaluate the scores of one system of trials in pieces.

        Raises
        ------
        InputError
            If approximate figures are asked for, which are of many classes alone.
        """
        from deciban.engines.evaluating import evaluate_system

        if options.scale.approximate:
            raise InputError(
                "approximate: is for scores of many classes. Of two classes one pass over the files makes all figures "
                "exact: leave it out (approximate, --approximate)."
            )

        resampling = options.how_sure.resampling(units.units)
        asked: Any = {"figures": checked_figures(options.figures)}
        memory = engine.bounded(options.scale.n_bytes)
        asked["by_unit"] = None if resampling is None else (units.of_system(system, memory), resampling)
        return replace(evaluate_system(source, engine, memory, system=system, **asked), name=name)

    def compared_figures(self, figures: Figures) -> tuple[Figure, ...]:
        """Single figures, those at each operating point, and rates of misleading evidence by each factor."""
        checked = checked_figures(figures)
        points, of_rule = checked.operating_points, ("cost", "minimum", "calibration_loss", "information")
        n_points, n_factors = len(points), len(FACTORS)
        n_priors = len(priors_told([point.threshold for point in points]))
        at_points = ("min_dcf", "act_dcf", "p_miss", "p_fa", "min_p_miss", "min_p_fa")
        return (
            *("eer", "eer_p_miss", "eer_p_fa", "prbep", "auc", "cllr", "min_cllr", "calibration_loss"),
            *("mean_min_dcf", "mean_act_dcf"),
            *((name, k) for name in at_points for k in range(n_points)),
            *((name, k) for name in ("misleading_tar", "misleading_non") for k in range(n_factors)),
            *((name, k) for name in ("information", "available") for k in range(n_priors)),
            *((f"rule_{name}", k) for name in of_rule for k in range(len(checked.rule_priors))),
        )

    def on_axis_of(self, scores: Sequence[Scores], figures: Figures) -> Figures:
        """Common logarithms stay such in plots, unless something else is said."""
        if figures.axis is not None or not all(one.log10 for one in scores):
            return figures
        return replace(figures, axis="log10")

    def size(self, scores: Scores) -> str:
        """How many trials there are scores of."""
        return counted(len(scores.trials), self.noun)

    def counts(self, contents: Contents, key: Key) -> str:
        """How many targets and non-targets there are, and by which words."""
        return replace(contents, key=key).label_counts

    def counts_in_words(self, counts: Mapping[str, int]) -> str:
        """How many targets and non-targets a model was trained on."""
        words = {"n_tar": "target", "n_non": "non-target"}
        return " · ".join(f"{n:,} {words.get(name, name)}" for name, n in counts.items())

    def truth_in_words(self, truth: BoolArray | IntArray, classes: Sequence[str]) -> str:  # noqa: ARG002
        """How many targets and non-targets there are."""
        n_tar = int(np.count_nonzero(truth))
        return self.counts_in_words({"n_tar": n_tar, "n_non": len(truth) - n_tar})

    def trials_of_classes(self, truth: AnyArray, classes: Sequence[str]) -> Iterator[tuple[str, BoolArray]]:  # noqa: ARG002
        """Targets, and non-targets."""
        yield "targets", truth
        yield "non-targets", ~truth

    def key_messages(self, key: Key, reading: Reading) -> list[Message]:
        """Which trials were chosen, or that a key holds several subsets that are meant to be used one at a time."""
        chosen = super().key_messages(key, reading)
        if "subset" not in key.trials.conditions or (reading.where and "subset" in reading.where):
            return chosen
        subsets = pc.unique(key.trials.conditions["subset"]).to_pylist()
        if len(subsets) < 2:
            return chosen
        words = f"holds the subsets {', '.join(map(str, subsets))} together; --where subset={subsets[0]} chooses one"
        return [Message(WARNING, key.trials.origin.name, words), *chosen]

    def refuse_contradictions(self, contents: Sequence[Contents], key: Key, reading: Reading) -> None:
        """Refuse labels beside scores that are not those of the key."""
        for one in contents:
            if one.key is not None:
                _refuse_contradiction(one.key, key, reading)

    def name_after(self, model: ScoreModel, systems: Sequence[str]) -> str:
        """What results call that which a model makes of systems: a calibrated system is still that system."""
        return super().name_after(model, systems) if model.is_fusion else systems[0]

    def matched(self, model: ScoreModel, scores: Scores) -> tuple[Scores, list[Message]]:  # noqa: ARG002
        """The same: there is one column."""
        return scores, []

    def with_trials(self, found: Input, trials: Trials) -> Input:
        """An input with these of its trials; its lines stay only if all do, and hold one score each."""
        contents = found.contents
        scored = contents.systems[0].trials
        whole = len(trials) == len(scored)
        if whole and len(contents.systems) == 1:
            return found
        return as_table(found, contents if whole else of_trials(contents, scored, trials))

    def written(
        self,
        found: Input,
        scores: Scores,
        target: PathLike,
        to: str | None,
        *,
        write_as: str = "loglik",  # noqa: ARG002  # means something of many classes only
        interval: Bounds | None = None,
    ) -> list[Message]:
        """Write an input again with llrs, and maybe their bounds."""
        from deciban.io.rewrite import write_rescored  # evaluations need none of what writes

        return list(write_rescored(found, scores, target, to=to, interval=interval))

    def rescored(
        self,
        contents: Contents,
        scores: Scores,
        *,
        write_as: str = "loglik",  # noqa: ARG002  # means something of many classes only
        interval: Bounds | None = None,
    ) -> tuple[Contents, list[Message]]:
        """Contents with llrs, and maybe their bounds."""
        from deciban.io.rewrite import natural_logarithms, rescored

        made, messages = rescored(contents, scores, interval=interval)
        return made, [*natural_logarithms(contents), *messages]


def as_table(first: Input, contents: Contents) -> Input:
    """Other contents in the format of the first input, not in its lines."""
    form = first.format
    if form.name == "table" and first.layout is not None:
        form = by_name(_DELIMITED.get(first.layout.delimiter, form.name))
    return replace(first, contents=contents, format=form, source=None, layout=None)


def checked_figures(figures: Figures) -> TwoClassFigures:
    """The operating points that are asked for, or the default, checked once for all evaluations.

    Raises
    ------
    InputError
        If a point is none, or figures of many classes are asked for.
    """
    TWO_CLASS.refuse_figures(figures)
    return TwoClassFigures(**figures.given())


def _refuse_contradiction(labels: Key, key: Key, reading: Reading) -> None:
    if not reading.by_order:
        refuse_conflicts(labels, key, ids=reading.renaming)
        return
    # Of another length it was refused by the join already.
    same = len(labels) == len(key)
    rows = np.flatnonzero(labels.is_target != key.is_target) if same else np.empty(0, np.int64)
    if len(rows):
        row = int(rows[0])
        raise KeyMismatchError(
            f"{labels.trials.origin.where(row)}: has another label than {key.trials.origin.where(row)} "
            f"({counted(len(rows), 'such trial')}). The files are not in the same order, or one of them is wrong."
        )


TWO_CLASS = TwoClass()
