"""Biometric identification (1:N): from score files to searches of a gallery."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from deciban._arrow import positions
from deciban.biometrics import Cmc, IdentificationRate
from deciban.biometrics.identification import checked_limits, cmc_of, dir_fpir_of, searched
from deciban.core.resampling.units import connected
from deciban.errors import WARNING, InputError, KeyMismatchError, Message, as_message, counted, either, option
from deciban.evaluation.uncertainty import FEWEST_EXPECTED
from deciban.io.recognition import readable_as
from deciban.memory import free_memory
from deciban.trials import Key, Scores, Trials
from deciban.trials.lists import PAIR
from deciban.types import AnyArray, BoolArray, IntArray, Progress
from deciban.workflows.kinds import kind_called, named_apart
from deciban.workflows.options import Options, Reading, renamed
from deciban.workflows.reading.inputs import ScoreFiles

RANKS, FPIRS = (1, 5, 10), (0.01, 0.001)
"""Ranks and limits of the FPIR that are reported by default."""


@dataclass(frozen=True, slots=True, eq=False)
class Identification:
    """Identification rates of one system.

    Attributes
    ----------
    name : str
    n_gallery : int
        Number of gallery entries.
    cmc : Cmc
    ranks : tuple of int
        The ranks to report.
    open_set : tuple of IdentificationRate
        One for each limit of the FPIR; empty if every probe has a mate.
    """

    name: str
    n_gallery: int
    cmc: Cmc
    ranks: tuple[int, ...]
    open_set: tuple[IdentificationRate, ...]

    @property
    def n_mated(self) -> int:
        """Number of probes with a mate."""
        return int(np.count_nonzero(self.cmc.ranks))

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of the system in ``deciban identify --json``."""
        own, rates = ("value", "low", "high", "n_events", "n_trials"), self.cmc.rates
        names = ("rank", "rate", "low", "high", "n_identified", "n_mated")
        columns = [np.arange(1, len(self.cmc) + 1), *(getattr(rates, name) for name in own)]
        rows = [dict(zip(names, row, strict=True)) for row in zip(*(one.tolist() for one in columns), strict=True)]
        return {
            "name": self.name,
            "level": self.cmc.level,
            "n_gallery": self.n_gallery,
            "n_subjects": self.cmc.n_subjects,
            "n_mated": self.n_mated,
            "n_nonmated": len(self.cmc.ranks) - self.n_mated,
            "cmc": [rows[rank - 1] for rank in self.ranks],
            "open_set": list(self.open_set),
        }


@dataclass(frozen=True, slots=True, eq=False)
class _Searches:
    """A matrix of scores (probes in rows) with the names of probes and gallery entries, all distinct."""

    name: str
    scores: AnyArray
    probes: AnyArray
    gallery: AnyArray

    @classmethod
    def of(cls, result: Scores, missing: object) -> _Searches:
        """Arrange the scores of a system; a full matrix is not copied.

        Raises
        ------
        InputError
            If trials do not have two sides, or a comparison is missing or occurs twice.
        """
        trials = result.trials
        if trials.sides != PAIR:
            raise InputError(
                f"{trials.origin.name}: trials are identified by {', '.join(trials.sides)}. Identification needs the "
                "names of gallery entries and probes (enroll, test)."
            )
        if trials.listed is None and trials.mask is None:
            gallery, probes = (np.array(names.to_pylist(), np.str_) for names in trials.names)
            return cls(result.name, result.score.reshape(len(gallery), len(probes)).T, probes, gallery)
        sides = [_sorted_names(codes, names) for codes, names in zip(trials.codes, trials.names, strict=True)]
        (gallery, column), (probes, row) = sides
        n_cells, value = len(gallery) * len(probes), missing if isinstance(missing, float) else np.nan
        if len(trials) < n_cells and np.isnan(value):
            raise _lacking(trials.origin.name, row, column, probes, gallery)
        if (needed := n_cells * (result.score.itemsize + 1)) > (free := free_memory()):
            raise InputError(
                f"{trials.origin.name}: {len(probes):,} probes and {len(gallery):,} gallery entries need a matrix of "
                f"{needed / 1e9:,.1f} GB, and {free / 1e9:,.1f} GB of memory are free. Search fewer probes at once."
            )
        seen = np.zeros((len(probes), len(gallery)), np.bool_)
        seen[row, column] = True
        if np.count_nonzero(seen) < len(trials):
            cells = row.astype(np.int64) * len(gallery) + column
            _, first, times = np.unique(cells, return_index=True, return_counts=True)
            raise InputError(
                f"{trials.origin.name}: trial {trials.name_of(int(first[np.argmax(times > 1)]))} occurs "
                f"{int(times[np.argmax(times > 1)])} times. Keep one score of each comparison."
            )
        scores = np.full(seen.shape, value, result.score.dtype)
        scores[row, column] = result.score
        return cls(result.name, scores, probes, gallery)


def _sorted_names(codes: IntArray, names: pa.Array) -> tuple[AnyArray, IntArray]:
    """Return the names that occur, sorted, and the place of the name of each trial."""
    used, place = np.unique(codes, return_inverse=True)
    called, at = np.unique(np.array(names.take(pa.array(used)).to_pylist(), np.str_), return_inverse=True)
    return called, at[place]


def _lacking(name: str, row: IntArray, column: IntArray, probes: AnyArray, gallery: AnyArray) -> InputError:
    """Return the error about missing comparisons, which names the first one."""
    cells = np.unique(row.astype(np.int64) * len(gallery) + column)
    probe = int(np.argmin(np.bincount(cells // len(gallery), minlength=len(probes))))
    there = cells[cells // len(gallery) == probe] % len(gallery)
    entry = gallery[np.setdiff1d(np.arange(len(gallery)), there)[0]]
    n_cells = len(gallery) * len(probes)
    return InputError(
        f"{name}: {n_cells - len(cells):,} of {n_cells:,} comparisons have no score, such as probe "
        f"{str(probes[probe])!r} with {str(entry)!r}. Every probe must be compared with the whole gallery: select rows "
        f"({option(where=...)}), or, for lists of candidates, {either('missing=-math.inf', '--missing fill=-inf')}."
    )


def identifications_of(
    files: ScoreFiles,
    options: Options,
    *,
    ranks: Sequence[int] = (),
    fpirs: Sequence[float] = (),
    progress: Progress | None = None,
) -> tuple[list[Identification], tuple[Message, ...]]:
    """Return the identification rates of every system, and messages about inputs and assumptions.

    Target trials name the mates: the subjects are the gallery entries and probes that target trials connect.

    Parameters
    ----------
    files : ScoreFiles
        Scores of all probes (test) against all gallery entries (enroll). The key can contain target trials only.
    options : Options
    ranks : sequence of int
        By default 1, 5 and 10, as far as the gallery has so many subjects.
    fpirs : sequence of float
        By default 0.01 and 0.001, if there are probes without a mate.
    progress : function, optional

    Raises
    ------
    FormatError, InputError, KeyMismatchError
        If a score is missing or NaN, a trial occurs twice, mates contradict each other, no probe has a mate, the
        gallery has fewer than two subjects or than a rank, or systems have different probes.
    """
    say = progress or (lambda _words: None)
    systems, key, messages = _read(files, options.reading, say)
    if options.reading.missing == "drop":
        raise InputError(
            "missing: 'drop' has no meaning for identification, which compares all pairs. Fill in a score."
        )
    say("searching the gallery")
    searches = [_Searches.of(one, options.reading.missing) for one in systems]
    for one in searches[1:]:
        for side in ("probes", "gallery"):
            if {*getattr(one, side).tolist()} != {*getattr(searches[0], side).tolist()}:
                raise InputError(
                    f"scores: {one.name} and {searches[0].name} differ in the {side}. Use the same for all."
                )
    identifications = list[Identification]()
    for k, one in enumerate(searches):
        probe_id, gallery_id, notes = _subjects(one, key)
        messages += notes if not k else ()
        identifications.append(_identified(one, probe_id, gallery_id, ranks, fpirs, options.how_sure.level))
    first = identifications[0]
    words = f"{counted(len(first.cmc.ranks), 'probe')}, {first.n_mated:,} with a mate; "
    words += f"{first.n_gallery:,} gallery entries"
    messages.append(Message("search", "", f"{words} of {counted(first.cmc.n_subjects, 'subject')}"))
    if not first.open_set:
        messages.append(Message("note", "", "every probe has a mate, so there is no FPIR: no rates in an open set"))
    if rough := [row for row in first.open_set if row.limit * row.n_nonmated < FEWEST_EXPECTED]:
        limits = ", ".join(f"{100 * row.limit:.6g}" for row in rough)
        words = f"FPIR {limits} %: {counted(rough[0].n_nonmated, 'probe')} without a mate allow fewer than "
        words += f"{FEWEST_EXPECTED:g} false positives, so DIR is rough: add such probes, or raise {option('fpir')}"
        messages.append(Message(WARNING, "", words))
    return identifications, tuple(messages)


def _read(files: ScoreFiles, reading: Reading, say: Progress) -> tuple[list[Scores], Key, list[Message]]:
    """Return the systems, a key whose target trials are the mates, and messages.

    Raises
    ------
    FormatError, InputError
    """
    kind = kind_called("two-class")
    contents = [kind.read(one, reading, say).contents for one in files.scores]
    systems = named_apart([system for one in contents for system in kind.systems_of(one, reading)])
    systems = systems if reading.names is None else renamed(systems, reading.names)[0]
    messages = [kind.read_message(one) for one in systems]
    key = contents[0].key
    if files.key is not None:
        source = kind.read(files.key, reading, say, "key" if readable_as(files.key, ("key",)) else "index").contents
        contents.append(source)
        key = source.key
        if source.index is not None and key is None:
            if others := ", ".join(source.index.trials.conditions):
                raise InputError(
                    f"key: {source.origin.name} has no labels, but other columns ({others}). Name the column of labels "
                    f"({option(key_columns=...)}), or, for a list of mates, remove the other columns."
                )
            key = Key(source.index.trials, np.ones(len(source.index), np.bool_))
    if key is None:
        raise InputError("key: none given, and the scores contain no labels. Name a file with the target trials.")
    messages += [as_message(note, one.origin.name) for one in contents for note in one.notes]
    if reading.where:
        systems = [one.keep(where=reading.where) for one in systems]
        key = key if files.key is not None else key.keep(where=reading.where)
    return systems, key, messages


def _identified(
    one: _Searches, probe_id: IntArray, gallery_id: IntArray, ranks: Sequence[int], fpirs: Sequence[float], level: float
) -> Identification:
    """Return the rates of a system.

    Raises
    ------
    InputError
    """
    limits, result = checked_limits(fpirs or FPIRS), searched(one.scores, probe_id, gallery_id)
    curve, n_subjects = cmc_of(result, level), result.n_subjects
    if n_subjects < 2:
        raise InputError(
            f"scores: the gallery of {one.name} has one subject, so rank 1 is certain. It needs at least two."
        )
    if over := [rank for rank in ranks if not 1 <= rank <= n_subjects]:
        raise InputError(
            f"rank: got {over[0]}. It must be from 1 to the number of subjects in the gallery, {n_subjects:,}."
        )
    open_set: tuple[IdentificationRate, ...] = ()
    if not curve.ranks.all():
        open_set = dir_fpir_of(result, limits, level)
    elif fpirs:
        raise InputError("fpir: every probe has a mate in the gallery. An open set needs probes without a mate.")
    reported = tuple(ranks) or tuple(rank for rank in RANKS if rank <= n_subjects)
    return Identification(one.name, len(one.gallery), curve, reported, open_set)


def _subjects(one: _Searches, key: Key) -> tuple[IntArray, IntArray, list[Message]]:
    """Return numbers of subjects of probes and gallery entries, and messages about the key.

    Raises
    ------
    InputError, KeyMismatchError
    """
    trials, name = key.trials, key.trials.origin.name
    if trials.sides != PAIR:
        raise InputError(f"{name}: a key of identification contains gallery entries and probes (enroll, test).")
    named = zip(trials.names, (one.gallery, one.probes), strict=True)
    places = [positions(names, pa.array(own)) for names, own in named]
    entry, probe = _pairs(trials, key.is_target)
    lacking = np.unique(probe[places[1][probe] < 0])
    if len(lacking):
        raise KeyMismatchError(
            f"{name}: {len(lacking):,} of {len(np.unique(probe)):,} probes with a mate have no scores, the first "
            f"{trials.names[1][int(lacking[0])].as_py()!r}. Score them, or leave them out of the key."
        )
    entry, probe = places[0][entry], places[1][probe]
    is_there = entry >= 0
    messages = list[Message]()
    if unknown := len(np.unique(probe[~is_there])):
        words = f"{counted(unknown, 'probe')} with a mate that is not in the gallery"
        messages.append(Message(WARNING, name, f"{words}: without another mate, a probe belongs to the open set"))
    if not is_there.any():
        raise InputError(
            f"{name}: no probe has a mate in the gallery ({len(one.probes):,} probes, {len(one.gallery):,} entries). "
            "Target trials must contain the names of a gallery entry (enroll) and of a probe (test) of the scores."
        )
    n_entries, n = len(one.gallery), len(one.gallery) + len(one.probes)
    subject = connected(entry[is_there], n_entries + probe[is_there], n)
    if len(np.unique(subject[:n_entries])) < n_entries:  # otherwise every mate is a target trial
        _refuse_contradictions(trials, ~key.is_target, places, subject, one)
    return subject[n_entries:], subject[:n_entries], messages


def _pairs(trials: Trials, mask: BoolArray) -> tuple[IntArray, IntArray]:
    """Return the codes of both names of some trials."""
    rows = np.flatnonzero(mask)
    if trials.listed is None and trials.mask is None:
        entry, probe = np.divmod(rows, len(trials.names[1]))
        return entry, probe
    return trials.codes[0][rows], trials.codes[1][rows]


def _refuse_contradictions(
    trials: Trials, is_non: BoolArray, places: Sequence[IntArray], subject: IntArray, one: _Searches
) -> None:
    """Refuse non-target trials of an entry and a probe that target trials connect.

    Raises
    ------
    InputError
    """
    entry, probe = (place[codes] for place, codes in zip(places, _pairs(trials, is_non), strict=True))
    is_there = (entry >= 0) & (probe >= 0)
    entry, probe = entry[is_there], probe[is_there]
    wrong = np.flatnonzero(subject[entry] == subject[len(one.gallery) + probe])
    if len(wrong):
        pair = str(one.gallery[entry[wrong[0]]]), str(one.probes[probe[wrong[0]]])
        raise InputError(
            f"{trials.origin.name}: {pair} is a non-target trial, but target trials connect both with the same other "
            "entries and probes, as one subject. Correct the labels: all mates of a subject must be target trials."
        )
