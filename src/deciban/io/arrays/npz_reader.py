"""From the arrays of an .npz archive to tables of trials; the layout is described in `deciban.io.formats.npz`."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from deciban.errors import FormatError
from deciban.io.arrays.checked import Archive, as_labels, as_names, as_scores, as_truth, of_one_hot, truth_by_words
from deciban.io.columns.values import truth_of
from deciban.io.contents import Contents
from deciban.io.formats import Options
from deciban.io.formats.npy import class_key_of
from deciban.trials import ClassKey, ClassScores, Index, Key, Origin, Scores, Trials
from deciban.trials.lists import PAIR, PAIR_SIDE, SINGLE
from deciban.types import AnyArray

SYSTEM = "score:"
CONDITION = "condition:"

_OTHER_NAMES = {
    "score": ("scores", "y_score", "y_prob", "y_proba", "probs", "probabilities", "logits", "y_pred"),
    "label": ("labels", "y_true"),
}
"""What others call arrays, the likeliest name first."""

_MOST_CELLS = 1 << 32
"""Trials that names alone may promise."""


def name_of(array: str, names: Collection[str]) -> str | None:
    """Return what an array is called in an archive with these names; None if it is not there.

    >>> name_of("score", {"y_true", "y_score"}), name_of("classes", {"y_true"})
    ('y_score', None)
    """
    return next((name for name in (array, *_OTHER_NAMES.get(array, ())) if name in names), None)


@dataclass(slots=True)
class Reader:
    """Reads an archive once, array by array.

    Attributes
    ----------
    archive : Archive
    options : Options
    left : set of str
        Arrays that nobody has asked for yet.
    """

    archive: Archive
    options: Options
    left: set[str] = field(init=False)

    def __post_init__(self) -> None:
        self.left = set(self.archive.names)

    def contents(self) -> Contents:
        """All that the archive holds.

        Raises
        ------
        FormatError
            If arrays do not fit together.
        """
        origin = Origin(self.archive.name, f"npz with {', '.join(sorted(self.archive.names))[:200]}")
        log10 = self._take("log10")
        if log10 is not None and bool(log10.all()):
            self.options = self.options.declaring("log10", origin.name)
        names = self._names()
        found = {name: self._take(name) for name in self._score_arrays()}
        scores = {name: array for name, array in found.items() if array is not None}
        truth, label, classes = self._take("is_target"), self._take("label"), self._take("classes")
        values = [array for array in (*scores.values(), truth, label) if array is not None]
        trials = self._trials(names, values, origin)
        contents = Contents(origin=origin, index=Index(trials))
        if "score" in scores and scores["score"].ndim == 2 and scores["score"].shape[1] != 1 and not _is_grid(names):
            matrix = scores.pop("score")
            contents = replace(contents, class_scores=self._class_scores(matrix, classes, trials))
        contents = replace(contents, systems=self._systems(scores, trials))
        if truth is not None:
            is_target = as_truth(self._per_trial("is_target", truth, trials), self._place("is_target"))
            contents = replace(contents, key=Key(trials, is_target))
        if label is not None:
            contents = self._labelled(contents, self._per_trial("label", of_one_hot(label), trials), classes)
        return replace(contents, notes=tuple(f"array {array} was not read." for array in sorted(self.left)))

    def _place(self, array: str) -> str:
        return f"{self.archive.name}: {array}"

    def _take(self, array: str) -> AnyArray | None:
        name = name_of(array, self.left)
        if name is None:
            return None
        self.left.discard(name)
        return self.archive.read(name)

    def _score_arrays(self) -> list[str]:
        return [name for name in self.archive.names if name.startswith(SYSTEM)] or ["score"]

    def _names(self) -> dict[str, pa.Array]:
        """Names per trial, by side; for a grid those of its rows and columns, ``enroll_names`` and ``test_names``."""
        found: dict[str, pa.Array] = {}
        for side in dict.fromkeys((*PAIR_SIDE, *SINGLE)):
            distinct, values = self._take(f"{side}_names"), self._take(side)
            if values is not None:
                place = self._place(side)
                found[side] = as_names(values, place) if distinct is None else self._decoded(values, distinct, side)
            elif distinct is not None:
                found[f"{side}_names"] = as_names(distinct, self._place(f"{side}_names"))
        if found and not _is_grid(found) and tuple(found) not in (PAIR, PAIR_SIDE, SINGLE):
            raise FormatError(
                f"{self.archive.name}: names its trials by {', '.join(found)}. Expected enroll and test (and side), or "
                "trial, or for a grid enroll_names and test_names."
            )
        return found

    def _decoded(self, codes: AnyArray, distinct: AnyArray, side: str) -> pa.Array:
        names = as_names(distinct, self._place(f"{side}_names"))
        if codes.dtype.kind not in "iu" or codes.ndim != 1:
            raise FormatError(
                f"{self._place(side)}: expected a vector of positions in {side}_names, got {codes.dtype}."
            )
        wrong = (codes < 0) | (codes >= len(names))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise FormatError(
                f"{self._place(side)}, row {row}: position {codes[row]} in {side}_names, which has {len(names):,}."
            )
        return pa.DictionaryArray.from_arrays(
            pa.array(codes.astype(np.int64 if codes.itemsize > 4 else np.int32)), names
        )

    def _trials(self, names: dict[str, pa.Array], values: list[AnyArray], origin: Origin) -> Trials:
        conditions = {}
        for name in [name for name in self.archive.names if name.startswith(CONDITION)]:
            array = self._take(name)
            if array is not None and array.ndim == 1:
                is_text = array.dtype.kind in "US"
                conditions[name.removeprefix(CONDITION)] = (
                    as_names(array, self._place(name)) if is_text else pa.array(array)
                )
        if _is_grid(names):
            trials = self._grid(names, bool(values), origin)
        elif names:
            trials = Trials.of(names, origin=origin).densest()
        elif values and values[0].ndim:
            trials = Trials.of_rows(len(values[0]), origin=origin)
        else:
            raise FormatError(
                f"{origin.name}: holds {origin.reading}, but neither names of trials nor scores or labels."
            )
        if not len(trials):
            raise FormatError(f"{origin.name}: holds no trials.")
        for name, column in conditions.items():
            if len(column) != len(trials):
                raise FormatError(
                    f"{self._place(CONDITION + name)}: {len(column):,} values for {len(trials):,} trials."
                )
        return replace(trials, conditions=conditions)

    def _grid(self, names: dict[str, pa.Array], has_values: bool, origin: Origin) -> Trials:  # noqa: FBT001
        mask = self._take("mask")
        shape = tuple(len(column) for column in names.values())
        if mask is not None and mask.shape != shape:
            raise FormatError(
                f"{self._place('mask')}: has shape {mask.shape}, the names make {shape[0]:,} x {shape[1]:,}."
            )
        if mask is None and not has_values and shape[0] * shape[1] > _MOST_CELLS:
            raise FormatError(
                f"{origin.name}: promises {shape[0] * shape[1]:,} trials without storing one. Store the mask."
            )
        chosen = None if mask is None else as_truth(mask, self._place("mask"))
        return Trials.of_grid(names["enroll_names"], names["test_names"], chosen, origin=origin)

    def _per_trial(self, array: str, values: AnyArray, trials: Trials) -> AnyArray:
        """One value for each trial, out of a vector or, for a grid, out of a matrix."""
        values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 and trials.listed is not None else values
        if values.shape == (len(trials),):
            return np.ascontiguousarray(values)
        if trials.listed is None and values.shape == (len(trials.names[0]), len(trials.names[1])):
            return values.ravel() if trials.mask is None else values[trials.mask]
        expected = f"{len(trials):,} values, one per trial"
        if trials.listed is None:
            expected = f"{len(trials.names[0]):,} x {len(trials.names[1]):,} values, or {expected}"
        raise FormatError(f"{self._place(array)}: has shape {values.shape}, expected {expected}.")

    def _systems(self, scores: dict[str, AnyArray], trials: Trials) -> tuple[Scores, ...]:
        given = self.options.name or "system"
        return tuple(
            self.options.system(
                trials,
                as_scores(self._per_trial(array, values, trials), self._place(array)),
                given if len(scores) == 1 else array.removeprefix(SYSTEM),
            )
            for array, values in scores.items()
        )

    def _class_scores(self, matrix: AnyArray, classes: AnyArray | None, trials: Trials) -> ClassScores:
        values = as_scores(matrix, self._place("score"))
        called = [str(at) for at in range(matrix.shape[1])] if classes is None else self._class_names(classes)
        return ClassScores.of(trials, called, values, name=self.options.name or "system")

    def _class_names(self, classes: AnyArray) -> list[str]:
        names: list[str] = as_names(classes, self._place("classes")).to_pylist()
        return names

    def _labelled(self, contents: Contents, label: AnyArray, classes: AnyArray | None) -> Contents:
        """Labels as a key, or as a class key where there are classes."""
        assert contents.index is not None  # noqa: S101  # the trials were made before
        trials, place = contents.index.trials, self._place("label")
        is_text = label.dtype.kind in "US"
        names = as_names(label, place) if is_text else None
        known = None if classes is None else self._class_names(classes)
        is_class = classes is not None or contents.class_scores is not None or self.options.need == "class-key"
        if is_class and names is not None:
            return replace(contents, class_key=ClassKey.of(trials, names, classes=known))
        if is_class:
            labels = as_labels(label, place)
            if known is None:
                return replace(contents, class_key=class_key_of(trials, labels))
            if labels.max() >= len(known):
                row = int(np.argmax(labels))
                raise FormatError(f"{place}, row {row}: label {labels[row]} of {len(known)} classes, counted from 0.")
            codes = pa.DictionaryArray.from_arrays(pa.array(labels), pa.array(known))
            return replace(contents, class_key=ClassKey.of(trials, codes, classes=known))
        known_words = self.options.vocabulary
        is_target, words = truth_by_words(label, known_words, place) if names is None else truth_of(names, known_words)
        return replace(contents, key=Key(trials, is_target), words=words)


def _is_grid(names: dict[str, pa.Array]) -> bool:
    return tuple(names) == ("enroll_names", "test_names")
