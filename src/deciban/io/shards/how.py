"""What a user says about trials in pieces: how columns, labels and names are read."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, Self

from deciban._validate.labels import Vocabulary
from deciban.errors import InputError
from deciban.io.columns.headers import Columns
from deciban.io.contents import ContentKind
from deciban.io.formats import Options
from deciban.io.shards.layout import Converted
from deciban.trials.joining.matching import Duplicates, Missing, check_policies
from deciban.trials.joining.renaming import Renaming
from deciban.types import ScoreUnit


@dataclass(frozen=True, slots=True, kw_only=True)
class HowToRead:
    """How tables and matrices in pieces are read; the meaning of most is that of `deciban.workflows.Reading`.

    Attributes
    ----------
    kind : {"two-class", "classes"}, optional
        What the scores are about; left out, what the tables hold decides.
    missing, duplicates
        As in `deciban.align`, where trials are joined by name.
    format, columns, key_format, key_columns, labels : optional
    where : mapping of str to str or sequence of str, optional
        Values of columns of the key: only such trials are read.
    unit : {"nats", "log10", "lr"}, optional
        The declared unit of the scores.
    by_order : bool
        Rows of scores and key belong together in their order. A matrix without names is told its speakers in order.
    weights : str, optional
        Column of the key that says how much trials count.
    weights_required, units_required : bool
        Whether a key that lacks these columns is refused; if not, its trials count alike, or have no units.
    classes : sequence of str, optional
        Many classes: which columns are scores, in this order.
    units : "trials", or sequence of columns, paths and mappings, optional
        What names the units: one, or one for each side; empty for the names of the sides.
    units_apart : bool
        Whether units of the two sides have nothing to do with each other.
    find_speakers : bool
        Whether names of both sides are kept, from which speakers are found, where nothing else names units.
    find_segments : bool
        Whether every trial of many classes is a unit that can be told from others, where nothing else names units.
    converted : function, optional
        Makes natural logarithms of scores, ``converted(scores, classes)``; can be pickled.
    ids : Renaming, optional
        By which other names trials are compared.
    memory : int
        Bytes that a join by name may take.
    groups : sequence of str, optional
        Columns of the key, or sides, by whose names trials are held out together: one, or one for each side; empty for
        the names of both sides, if there are such.
    conditions : sequence of str
        Columns of the key, or sides, by which trials are split, as far as there are such.
    incomplete : bool
        Whether all trials of the key stay, with NaN where a system of another table has no score; ``missing`` has no
        meaning then.
    """

    kind: Literal["two-class", "classes"] | None = None
    missing: Missing = "error"
    duplicates: Duplicates = "error"
    format: str | None = None
    columns: Columns | None = None
    key_format: str | None = None
    key_columns: Columns | None = None
    labels: Mapping[str, str] | None = None
    where: Mapping[str, str | Sequence[str]] | None = None
    unit: ScoreUnit | None = None
    by_order: bool = False
    weights: str | None = None
    weights_required: bool = True
    units_required: bool = True
    classes: Sequence[str] | None = None
    units: Sequence[Any] | None = None
    units_apart: bool = False
    find_speakers: bool = False
    find_segments: bool = False
    converted: Converted | None = None
    ids: Renaming | None = None
    memory: int = 1_000_000_000
    groups: Sequence[str] | None = None
    conditions: Sequence[str] = ()
    incomplete: bool = False

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Check what was given.

        Raises
        ------
        TypeError
            If there is no such option.
        InputError
            If a policy is none.

        Examples
        --------
        >>> HowToRead.of({"unit": "lr"}).unit
        'lr'
        """
        known = [one.name for one in fields(cls)]
        for name in given:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                meant = f" Did you mean {near[0]}?" if near else ""
                raise TypeError(f"open_shards() got an unexpected keyword argument {name!r}.{meant}")
        found = cls(**given)
        check_policies(found.missing, found.duplicates)
        if found.where is not None and not isinstance(found.where, Mapping):
            raise InputError(f"where: got {found.where!r}. Write the values of each condition column.")
        return found

    def options(self, need: ContentKind | None = None, *, of_key: bool = False) -> Options:
        """What readers are told."""
        columns = self.key_columns if of_key else self.columns
        vocabulary = Vocabulary.of(self.labels)
        return Options(need=need, columns=columns, vocabulary=vocabulary, unit=self.unit, of_key=of_key)

    @property
    def values(self) -> dict[str, tuple[str, ...]]:
        """The values of ``where``, always several."""
        given = self.where or {}
        return {name: (one,) if isinstance(one, str) else tuple(one) for name, one in given.items()}
