"""The kind of scores of two classes: one number for each trial, which is a target or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from deciban._arrow import compute as pc
from deciban._files import PathLike, display_name
from deciban._validate.probabilities import like_posteriors, target_prior
from deciban.core.resampling.units import TrialUnits
from deciban.errors import InputError, KeyMismatchError
from deciban.evaluation import Evaluation, TwoClassFigures
from deciban.evaluation.metrics import METRICS, keys_of
from deciban.evaluation.requested import priors_told
from deciban.evaluation.summary import Resampling
from deciban.evaluation.two_class import evaluate_labelled
from deciban.evaluation.uncertainty import Figure
from deciban.io.columns.headers import words_in_options
from deciban.io.contents import ContentKind, Contents
from deciban.io.formats import by_name
from deciban.io.reader import Input, read_input
from deciban.io.recognition import Recognized, readable_as
from deciban.io.units import logliks_of_likelihoods, logs_of_probabilities
from deciban.messages import WARNING, Message, counted, in_lines
from deciban.metrics.scores import FACTORS
from deciban.models.score_model import ScoreModel
from deciban.trials import ClassKey, ClassScores, Key, Scores, Trials
from deciban.trials.joining.join import Aligned, align_incomplete, align_systems, refuse_conflicts
from deciban.trials.lists import PAIR
from deciban.trials.passes import Engine
from deciban.trials.sources import ShardSource
from deciban.trials.units import notes_on_speakers, speakers_of
from deciban.types import AnyArray, BoolArray, FloatArray, IntArray, Progress, ScoreUnit
from deciban.workflows.kinds.base import CountedUnits, Form, Kind, Scored, of_trials
from deciban.workflows.kinds.score_units import messages_on_declared_ratios
from deciban.workflows.options import Figures, Options, Reading

if TYPE_CHECKING:
    from deciban._validate.arrays import Vocabulary
    from deciban.engines.units import UnitsFound


def read_two_columns(file: Recognized, *, unit: ScoreUnit | None, prior: object = None) -> Input | None:
    """Read a file with a score for each of two classes: that of the target class minus that of the other one.

    The difference of two log-likelihoods is the log-likelihood ratio; whatever is added to both does not change it.

    Parameters
    ----------
    file : Recognized
        Its words for target and non-target say which class is the target.
    unit : {"nats", "log10", "lr"}, optional
        The unit of the scores; likelihoods become logarithms before their difference is taken.
    prior : float, optional
        The scores are probabilities of the two classes by this prior of a target, and become their log-likelihood
        ratios: exact where one of them is too close to 1 to tell.

    Returns
    -------
    Input or None
        None if the file does not hold class scores, or could as well hold scores of two-class systems.

    Raises
    ------
    FormatError, OSError
    InputError
        If there are more classes, nothing says which of them is the target, or both scores of a segment are infinite
        alike.
    """
    held = readable_as(file, ("scores", "class-scores"))
    if held != ("class-scores",):
        return None
    found = read_input(file, need="class-scores")
    scores = found.contents.class_scores
    assert scores is not None  # noqa: S101  # it was asked for
    vocabulary = file.files[0].options.vocabulary
    target = _target(scores, vocabulary)
    names = scores.classes[target], scores.classes[1 - target]
    notes: list[str | Message] = [f"scores are those of class {names[0]} minus those of class {names[1]}"]
    if prior is not None:
        p_target = target_prior(prior, "probabilities")
        in_order = (p_target, 1.0 - p_target) if target == 0 else (1.0 - p_target, p_target)
        scores = logs_of_probabilities(scores, in_order)
    elif unit == "lr":
        scores = logliks_of_likelihoods(scores)
    elif like_posteriors(scores.score):
        words = (
            "the scores of a segment sum to 1: probabilities? Their difference is no log-likelihood ratio; say by "
            "which prior of a target they are (--probabilities PRIOR)"
        )
        notes.append(Message(WARNING, found.contents.origin.name, words))
    made = Scores(scores.trials, _differences(scores, target), scores.name, unit == "log10", unit == "lr")
    key = found.contents.class_key
    truth = None if key is None else _key(key, vocabulary)
    changed = replace(
        found.contents,
        class_scores=None,
        class_key=None,
        systems=(made,),
        key=truth,
        notes=(*found.contents.notes, *notes),
        from_probabilities=prior is not None,
    )
    return Input(changed, found.format)


def refuse_two_columns(file: Recognized) -> None:
    """Refuse scores of two classes in two files, one of targets and one of non-targets.

    Raises
    ------
    InputError
    """
    if any(readable_as(one, ("scores", "class-scores")) == ("class-scores",) for one in file.sides or ()):
        raise InputError(
            f"{display_name(file.path)}: scores of classes, but of two files, one of targets and one of non-targets, "
            "each has one score for a trial. Name the column of the scores (--columns); or, for the difference of two "
            "(--kind two-class), name one file and its key."
        )


def read_two_classes(file: Recognized) -> Input | None:
    """Read a key that says of which of two classes segments are, as one of targets and non-targets.

    Returns
    -------
    Input or None
        None if the file holds no true classes, or could as well be a key of targets.

    Raises
    ------
    FormatError, OSError
    InputError
        If nothing says which classes are targets.
    """
    if readable_as(file, ("key", "class-key")) != ("class-key",):
        return None
    found = read_input(file, need="class-key")
    key = found.contents.class_key
    assert key is not None  # noqa: S101  # it was asked for
    made = _key(key, file.files[0].options.vocabulary)
    words = {name: bool(made.is_target[key.label == at].any()) for at, name in enumerate(key.classes)}
    changed: Contents = replace(found.contents, class_key=None, key=made, words=words)
    return replace(found, contents=changed)


def _target(scores: ClassScores, vocabulary: Vocabulary) -> int:
    """Which of two classes is the target."""
    name, classes = scores.trials.origin.name, scores.classes
    if len(classes) != 2:
        raise InputError(
            f"{name}: scores of {len(classes)} classes, but two were asked for (--kind two-class). Name the column of "
            "the scores of the target class (--columns), or evaluate all classes (--kind classes)."
        )
    known = vocabulary.within(classes)
    meanings = [known.meaning(one) for one in classes]
    if sorted(map(str, meanings)) != ["False", "True"]:
        raise InputError(_unknown(name, classes))
    return meanings.index(True)


def _unknown(name: str, classes: Sequence[str]) -> str:
    return (
        f"{name}: nothing says which class is the target, of {' and '.join(classes[:4])}. Say it (--labels "
        f"target=CLASS,nontarget=CLASS):{in_lines(words_in_options(classes))}"
    )


def _differences(scores: ClassScores, target: int) -> FloatArray:
    """The score of the target class minus that of the other one."""
    tar: FloatArray = scores.score[:, target].astype(np.float64)
    non: FloatArray = scores.score[:, 1 - target].astype(np.float64)
    alike = np.isinf(tar) & (tar == non)
    if alike.any():
        row = int(np.argmax(alike))
        raise InputError(
            f"{scores.trials.origin.where(row)}: both classes of {scores.trials.name_of(row)} have the score "
            f"{tar[row]:g}, so that neither is more likely ({np.count_nonzero(alike):,} such segments). Repair the "
            "scores, or leave these segments out."
        )
    with np.errstate(over="ignore"):
        difference: FloatArray = tar - non
    beyond = np.isinf(difference) & np.isfinite(tar) & np.isfinite(non)
    if beyond.any():
        row = int(np.argmax(beyond))
        raise InputError(
            f"{scores.trials.origin.where(row)}: the difference of its scores is beyond the largest float."
        )
    return difference


def _key(key: ClassKey, vocabulary: Vocabulary) -> Key:
    """The same truth, as targets and non-targets."""
    occurring = [name for at, name in enumerate(key.classes) if np.any(key.label == at)]
    known = vocabulary.within(occurring)
    meanings = {name: known.meaning(name) for name in occurring}
    if None in meanings.values():
        raise InputError(_unknown(key.trials.origin.name, occurring))
    means_target = np.array([bool(meanings.get(name)) for name in key.classes], np.bool_)
    return Key(key.trials, means_target[key.label])


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
    figures = TwoClassFigures

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
        return [logs_of_probabilities(one, reading.probabilities) for one in contents.systems]

    def unit_messages(self, systems: Sequence[Scores], reading: Reading) -> list[Message]:
        """What was done to the units of scores, and whether they are what the user declared."""
        more = messages_on_declared_ratios(systems, negated=reading.negate)
        return [*super().unit_messages(systems, reading), *more]

    def prior_of_probabilities(self, reading: Reading, classes: Sequence[str], order: Sequence[str] = ()) -> str:
        """The prior of a target."""
        return repr(target_prior(reading.probabilities, "probabilities"))

    def key_of(self, contents: Contents, reading: Reading, first: Scores) -> Key:
        """The truth that an input holds."""
        if contents.key is None:
            raise InputError(
                f"key: none given, and {contents.origin.name} holds no labels. Pass the file that does "
                "(--key FILE), or name one file with the scores of targets and one with those of non-targets "
                "(tar=, --tar FILE and non=, --non FILE)."
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

    def in_nats(self, scores: Scores, reading: Reading) -> Scores:
        """Scores as natural logarithms."""
        return scores.in_nats()

    def units_unasked(
        self, trials: Trials, truth: AnyArray, counting: BoolArray | None
    ) -> tuple[TrialUnits | None, tuple[Message, ...]]:
        """Return speakers, found from target trials, or every trial as a unit where names do not identify speakers."""
        if trials.sides[:2] != PAIR:
            return super().units_unasked(trials, truth, counting)
        found = speakers_of(trials, truth, counting)
        of_classes = (int(np.count_nonzero(mask if counting is None else mask & counting)) for mask in (truth, ~truth))
        if _names_occur_once(found.units.n_units, *of_classes):
            return super().units_unasked(trials, truth, counting)
        return found.units, _said_of_speakers(found.n_contradictions, apart=found.apart)

    def units_unasked_in_pieces(self, source: ShardSource, engine: Engine) -> UnitsFound | None:
        """Return speakers; None where every trial is a unit, as of trials in memory."""
        from deciban.engines.units import UnitsFound, speakers_in_pieces

        if source.sides[:2] != PAIR:
            return None
        facts, by_name = speakers_in_pieces(source, engine)
        if _names_occur_once(len(facts.keys), *(facts.trials_of(c) for c in (1, 0))):
            return None
        return UnitsFound(facts, by_name, _said_of_speakers(facts.n_contradictions, apart=by_name.apart))

    def classes_by_truth(self, classes: Sequence[str]) -> list[tuple[str, int]]:
        """Targets are those whose truth is 1."""
        return [("targets", 1), ("non-targets", 0)]

    def evaluate(
        self, trials: Scored, figures: Figures, classes: Sequence[str], name: str, resampling: Resampling | None = None
    ) -> Evaluation:
        """Evaluate scores of labelled trials."""
        return evaluate_labelled(*trials, name=name, operating_points=self.checked(figures), resampling=resampling)

    def n_evaluated(self, found: Evaluation) -> int:
        """Targets and non-targets."""
        return int(found.n_tar + found.n_non)

    def evaluate_pieces(self, units: CountedUnits, options: Options, *, system: int, name: str) -> Evaluation:
        """Evaluate the scores of one system of trials in pieces."""
        from deciban.engines.counting import evaluate_system

        resampling = options.how_sure.resampling(units.units)
        memory = units.engine.bounded(options.scale.n_bytes)
        by_unit: Any = None if resampling is None else (units.of_system(system, memory), resampling)
        about: Any = {"figures": self.checked(options.figures), "by_unit": by_unit}
        return replace(evaluate_system(units.source, units.engine, memory, system=system, **about), name=name)

    def compared_figures(self, figures: Figures) -> tuple[Figure, ...]:
        """Single figures, those at each operating point, and rates of misleading evidence by each factor."""
        checked = checked_figures(figures)
        n_points, n_priors = len(checked.operating_points), len(priors_told(checked.thresholds))
        n_places = {
            "point": n_points,
            "prior": n_priors,
            "rule prior": len(checked.rule_priors),
            "factor": len(FACTORS),
        }
        return tuple(keys_of(METRICS, self.name, n_places))

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

    def truth_in_words(self, truth: BoolArray | IntArray, classes: Sequence[str]) -> str:
        """How many targets and non-targets there are."""
        n_tar = int(np.count_nonzero(truth))
        return self.counts_in_words({"n_tar": n_tar, "n_non": len(truth) - n_tar})

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

    def with_trials(self, found: Input, trials: Trials) -> Input:
        """An input with these of its trials; its lines stay only if all do, and hold one score each."""
        contents = found.contents
        scored = contents.systems[0].trials
        whole = len(trials) == len(scored)
        if whole and len(contents.systems) == 1:
            return found
        return as_table(found, contents if whole else of_trials(contents, scored, trials))

    def written(self, found: Input, scores: Scores, target: PathLike, to: str | None, form: Form) -> list[Message]:
        """Write an input again with llrs, and maybe their bounds."""
        from deciban.io.rewrite import write_rescored  # evaluations need none of what writes

        return list(write_rescored(found, scores, target, to=to, interval=form.bounds))

    def rescored(self, contents: Contents, scores: Scores, form: Form) -> tuple[Contents, list[Message]]:
        """Contents with llrs, and maybe their bounds."""
        from deciban.io.rewrite import natural_logarithms, rescored

        made, messages = rescored(contents, scores, interval=form.bounds)
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
    found: TwoClassFigures = TWO_CLASS.checked(figures)
    return found


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
