"""Models as workflows take them, objects or files, and whether trials are those that one was trained on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from deciban.analysis.data import LabelledData
from deciban.errors import InputError
from deciban.io.recognition import Recognized
from deciban.io.source import PathLike, display_name
from deciban.messages import Message
from deciban.models import Model, load_model
from deciban.models.model import fingerprint
from deciban.models.score_model import ScoreModel
from deciban.workflows.inputs import JoinedScores
from deciban.workflows.kinds import kind_of
from deciban.workflows.options import KindName, Options


def is_of_training(model: ScoreModel, data: LabelledData) -> bool | None:
    """Whether a model was trained on these trials, by their fingerprint; None if it does not know.

    With or without the weights: a column of them may be named that training did not have.
    """
    training = model.training_
    if training is None:
        return None
    seen = model.seen(data.scores, data.tables)
    weights = [None] if data.weight is None else [data.float_weight, None]
    return any(fingerprint(seen, data.is_target, one) == training.fingerprint for one in weights)


def seen_before(model: ScoreModel, data: LabelledData, *, of_training: bool) -> list[Message]:
    """Say whether trials are those of training, where that is not what one should think.

    Parameters
    ----------
    model : ScoreModel
    data : LabelledData
        All that training records of trials.
    of_training : bool
        Whether these should be the trials of training.
    """
    training, same = model.training_, is_of_training(model, data)
    if training is None or same is None or same == of_training:
        return []
    column = training.results.get("weights_from")
    if column is not None and data.weight is None:
        words = (
            f"the model was trained with the weights of a column {column!r}: name it (--weights) to compare the trials"
        )
    elif same:
        words = "the model was trained on these very trials, which flatters it"
    else:
        words = "these are not the trials that the model was trained on (their fingerprint is another one)"
    return [Message("note", "", words)]


@dataclass(frozen=True, slots=True, eq=False)
class LoadedModel:
    """A model and the file that it came from, loaded once: to find out what it is for, and then to use it.

    Attributes
    ----------
    model : Model
    path : path or None
        None if it was given as an object.
    """

    model: Model
    path: PathLike | None

    @classmethod
    def of(cls, model: AnyModel) -> LoadedModel:
        """Load a model, unless it is there.

        Raises
        ------
        FormatError, OSError
            As in `deciban.load_model`.
        """
        if isinstance(model, LoadedModel):
            return model
        return cls(model, None) if isinstance(model, Model) else cls(load_model(model), model)

    @property
    def shown(self) -> str:
        """What messages call it."""
        return type(self.model).__name__ if self.path is None else display_name(self.path)


AnyModel: TypeAlias = PathLike | Model | LoadedModel


def path_of_model(model: AnyModel | None) -> PathLike | None:
    """The file that a model comes from, if there is one; it is not opened."""
    if isinstance(model, LoadedModel):
        return model.path
    return None if isinstance(model, Model) else model


def trained_model(model: AnyModel, kind: KindName | None = None) -> ScoreModel:
    """A trained model, given or from its file.

    Parameters
    ----------
    model : path, Model or LoadedModel
    kind : {"two-class", "classes"}, optional
        What the scores are about that it is for.

    Raises
    ------
    FormatError, InputError, OSError
        As in `deciban.load_model`; or if the model does not map scores, is for scores of the other kind, or not
        trained.
    """
    given = LoadedModel.of(model)
    shown, loaded = given.shown, given.model
    if not isinstance(loaded, ScoreModel):
        raise InputError(f"{shown}: a model of kind {loaded.kind!r} does not map scores to log-likelihood ratios.")
    if kind is not None and loaded.scores_kind != kind:
        raise InputError(
            f"{shown}: a model of kind {loaded.kind!r} is for {_ABOUT[loaded.scores_kind]}, but the scores are of "
            f"{_ABOUT[kind]}."
        )
    loaded.require_fitted()
    return loaded


_ABOUT = {"two-class": "two classes", "classes": "many classes"}


def require_kind(model: ScoreModel, scores: Recognized, key: Recognized | None, options: Options) -> Options:
    """Options with the kind of the model, whose scores files have to hold.

    Raises
    ------
    InputError
        If the user said otherwise, or the files can hold the other kind only.
    """
    found: str | None = options.kind
    if found is None:
        try:
            found = kind_of(scores, key, options).name
        except InputError:  # they could be of either kind, or of none: reading says what is the matter
            found = None
    if found is not None and found != model.scores_kind:
        raise InputError(
            f"{display_name(scores.path)}: scores of {_ABOUT[found]}, but a model of kind {model.kind!r} "
            f"({type(model).__name__}) is for {_ABOUT[model.scores_kind]}."
        )
    return replace(options, kind=model.scores_kind)


def model_message(path: PathLike | None, loaded: ScoreModel) -> list[Message]:
    """Say which model came from a file, and what it was trained on."""
    if path is None:
        return []
    training, words = loaded.training_, loaded.kind
    if training is not None:
        words += f"   trained on {counts_in_words(loaded)}"
    return [Message("model", display_name(path), words)]


def counts_in_words(model: ScoreModel) -> str:
    """How many trials of each class a model was trained on."""
    counts = {} if model.training_ is None else model.training_.counts
    if model.scores_kind == "classes":
        return f"{sum(counts.values()):,} segments, {len(counts)} classes"
    words = {"n_tar": "target", "n_non": "non-target"}
    return " · ".join(f"{n:,} {words.get(name, name)}" for name, n in counts.items())


def require_quality(model: ScoreModel, *, is_given: bool) -> None:
    """Refuse to go on without the quality measures that a model needs, or with some that it would overlook.

    Raises
    ------
    InputError
    """
    needed = model.quality_arguments
    if needed and not is_given:
        sides = " and ".join(name.removesuffix("_quality") for name in needed)
        raise InputError(
            f"quality: none given, but the fusion was trained with {sides} measures. Name their file (--quality FILE)."
        )
    if is_given and not needed:
        raise InputError("quality: given, but the fusion was trained without. Leave it out, or train with it.")


def require_one_system(model: ScoreModel, joined: JoinedScores) -> None:
    """Refuse several systems for a model of one.

    Raises
    ------
    FormatError
        If one file holds them: it says how to choose one.
    InputError
    """
    names = joined.names
    if model.is_fusion or len(names) == 1:
        return
    if len(joined.contents) == 1:
        _ = joined.contents[0].scores
    raise InputError(
        f"scores: {len(names)} systems ({', '.join(names)}), but a model of kind {model.kind!r} is for one. Give one, "
        "or fuse them (deciban fuse)."
    )
