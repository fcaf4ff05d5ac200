"""A trained fusion applied to the files of its systems: one file comes out, in the form of the first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypedDict, Unpack

from deciban.fusion.quality_measures import Kind
from deciban.io.contents import Contents
from deciban.io.formats import by_name
from deciban.io.reader import Input
from deciban.trials import Scores, SegmentQuality, Trials
from deciban.trials.joining.join import Aligned, Duplicates, Missing, align_incomplete, align_systems
from deciban.trials.joining.lookup import Wanted
from deciban.trials.joining.union import new_rows
from deciban.workflows.combination import taken_of
from deciban.workflows.fusers import (
    Fuser,
    data_of,
    measures_needed,
    named_fused,
    require_quality,
    takes_incomplete,
    ways_of_trials,
)
from deciban.workflows.joined import fact, named_apart, read_fact
from deciban.workflows.systems import counted, order_of_training
from deciban.workflows.united import United, trials_of


class Joining(TypedDict):
    """How the trials of the systems of a fusion meet; see `deciban.align`."""

    missing: Missing
    duplicates: Duplicates
    by_order: bool


_DELIMITED = {",": "table", "\t": "tsv"}


def fused_input(
    model: Fuser,
    inputs: Sequence[Input],
    *,
    measured: Mapping[Kind, SegmentQuality] | None,
    **joining: Unpack[Joining],
) -> tuple[Input, Scores, list[str]]:
    """Fuse systems on the trials of the first input, or on those of all of them.

    Parameters
    ----------
    model : fusion
    inputs : sequence of Input
        With one system or more each.
    measured : mapping of side to SegmentQuality, optional
    **joining
        How trials meet: ``missing`` is what to do about trials of the first input that another system did not score.
        Instead of refusing, a fusion that was trained for subsets of systems fuses every trial that one of its systems
        scored: those of the first input in its order, then those that only the second one has, and so on.

    Returns
    -------
    Input
        The first one (that holds a system of such a fusion), as it is to be written again: with the trials that got
        llrs, without the lines of text if they cannot stay.
    Scores
        Log-likelihood ratios on these trials.
    list of str
        What is to be said about it.

    Raises
    ------
    InputError, KeyMismatchError
        If systems are not those of training, or trials do not meet.
    """
    systems = named_apart([system for one in inputs for system in one.contents.systems])
    facts = [read_fact(system) for system in systems]
    facts += [fact("note", one.contents.origin.name, note) for one in inputs for note in one.contents.notes]
    trained = () if model.training_ is None else model.training_.systems
    order, told = order_of_training([system.name for system in systems], trained, model.n_systems_)
    chosen = [systems[k] for k in order]
    united = _united(model, inputs, order, joining)
    if united is None:
        every = align_systems(systems, systems[0].index, **joining)
        aligned, met = [every[k] for k in order], _met(every[0], inputs, joining)
    else:
        aligned = align_incomplete(chosen, united.index, duplicates=joining["duplicates"])
        met = united.facts(aligned[0].report) if united.has_more else _met(aligned[0], united.inputs, joining)
    require_quality(model, is_given=measured is not None)
    data, said = data_of(aligned, measured, measures_needed(model))
    names, trials = [system.name for system in chosen], aligned[0].trials
    ways = ways_of_trials(model, data, names, trials)
    with named_fused(data, names, trials):
        llr = replace(aligned[0].scores, score=data.transform(model), name="fusion", log10=False)
    if united is not None and united.has_more:
        written, lost = _with_more(united, trials)
    else:
        written, lost = _to_write_again(inputs[0] if united is None else united.inputs[0], trials), []
    return written, llr, [*facts, *told, *met, *ways, *said, *lost, *taken_of(model, measured)]


def _united(model: Fuser, inputs: Sequence[Input], systems: Sequence[int], joining: Joining) -> United | None:
    """The trials of all inputs with one of these systems, for a fusion of what there is; None if the first decides."""
    if joining["missing"] != "error" or joining["by_order"] or not takes_incomplete(model):
        return None
    held_by = [k for k, one in enumerate(inputs) for _ in one.contents.systems]
    return United.of([inputs[k] for k in sorted({held_by[system] for system in systems})])


def _met(aligned: Aligned, inputs: Sequence[Input], joining: Joining) -> list[str]:
    """How the trials of the first file and those of the others met."""
    report, missing, trials = aligned.report, joining["missing"], trials_of(inputs[0])
    name = trials.origin.name
    facts = [fact("join", "by order: the names of the trials were not compared")] if joining["by_order"] else []
    facts.append(fact("join", f"{report.matched:,} trials of {name} have all scores · {report.missing:,} have not"))
    if report.missing and not isinstance(missing, str):
        facts.append(fact("fill", f"trials without a score were given {missing:g}"))
    n_left_out = len(trials) - len(aligned.trials)
    if n_left_out:
        words = f"{counted(n_left_out, 'trial')} of {name} left out, without all scores or surplus copies"
        facts.append(fact("note", words))
    if report.extra:  # scores of several systems: a trial may have more than one
        n_others = sum(map(len, new_rows([trials_of(one) for one in inputs])[1:]))
        facts.append(fact("note", f"{counted(n_others, 'trial')} that {name} does not have left out"))
    return facts


def _to_write_again(first: Input, trials: Trials) -> Input:
    """The first input, with these of its trials; its lines stay only if all do, and hold one score each."""
    contents = first.contents
    whole = len(trials) == len(contents.systems[0])
    if whole and len(contents.systems) == 1:
        return first
    if not whole:
        rows = Wanted(trials).find(contents.systems[0].trials).rows
        fields = {name: getattr(contents, name) for name in ("index", "key", "class_scores", "class_key")}
        contents = replace(contents, **{name: one.take(rows) for name, one in fields.items() if one is not None})
    return _as_a_table(first, contents)


def _with_more(united: United, trials: Trials) -> tuple[Input, list[str]]:
    """The first input with the trials of all; what was lost on the way."""
    changed, said = united.contents_changed(trials)
    return _as_a_table(united.inputs[0], replace(united.inputs[0].contents, **changed)), said


def _as_a_table(first: Input, contents: Contents) -> Input:
    """Other contents in the format of the first input, not in its lines."""
    form = first.format
    if form.name == "table" and first.layout is not None:
        form = by_name(_DELIMITED.get(first.layout.delimiter, form.name))
    return replace(first, contents=contents, format=form, source=None, layout=None)
