"""A trained fusion applied to the files of its systems: one file comes out, in the form of the first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypedDict, Unpack

from deciban.evaluation.joined import fact, named_apart, read_fact
from deciban.fusion.measures import Kind
from deciban.io.formats import by_name
from deciban.io.inputs import Input
from deciban.recipes.combination import taken_of
from deciban.recipes.fusers import (
    Fuser,
    data_of,
    measures_needed,
    named_fused,
    require_quality,
    takes_incomplete,
    ways_of_trials,
)
from deciban.recipes.systems import counted, order_of_training
from deciban.trials import Scores, SegmentQuality, Trials
from deciban.trials.join import Aligned, Duplicates, Missing, align_incomplete, align_systems
from deciban.trials.lookup import Wanted


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
    """Fuse systems on the trials of the first input.

    Parameters
    ----------
    model : fusion
    inputs : sequence of Input
        With one system or more each.
    measured : mapping of side to SegmentQuality, optional
    **joining
        How trials meet: ``missing`` is what to do about trials of the first input that another system did not score. A
        fusion that was trained for subsets of systems takes the one of those that are there instead of refusing.

    Returns
    -------
    Input
        The first one, as it is to be written again; without the lines of text if they cannot stay.
    Scores
        Log-likelihood ratios on its trials.
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
    aligned = _aligned(model, systems, **joining)
    require_quality(model, is_given=measured is not None)
    data, said = data_of([aligned[k] for k in order], measured, measures_needed(model))
    chosen, trials = [systems[k].name for k in order], aligned[0].trials
    ways = ways_of_trials(model, data, chosen, trials)
    with named_fused(data, chosen, trials):
        llr = replace(aligned[0].scores, score=data.transform(model), name="fusion", log10=False)
    facts += [*told, *_met(aligned[0], systems[0], joining), *ways, *said, *taken_of(model, measured)]
    return _to_write_again(inputs[0], llr.trials), llr, facts


def _aligned(
    model: Fuser, systems: Sequence[Scores], missing: Missing, *, duplicates: Duplicates, by_order: bool
) -> list[Aligned]:
    """All systems on the trials of the first."""
    wanted = systems[0].index
    if missing == "error" and takes_incomplete(model):
        return align_incomplete(systems, wanted, duplicates=duplicates, by_order=by_order)
    return align_systems(systems, wanted, missing, duplicates=duplicates, by_order=by_order)


def _met(aligned: Aligned, first: Scores, joining: Joining) -> list[str]:
    """How the trials of the first file and those of the others met."""
    report, name, missing = aligned.report, first.trials.origin.name, joining["missing"]
    facts = [fact("join", "by order: the names of the trials were not compared")] if joining["by_order"] else []
    facts.append(fact("join", f"{report.matched:,} trials of {name} have all scores · {report.missing:,} have not"))
    if report.missing and not isinstance(missing, str):
        facts.append(fact("fill", f"trials without a score were given {missing:g}"))
    n_left_out = len(first) - len(aligned.trials)
    if n_left_out:
        words = f"{counted(n_left_out, 'trial')} of {name} left out, without all scores or surplus copies"
        facts.append(fact("note", words))
    if report.extra:
        words = f"{counted(report.extra, 'score')} of trials that {name} does not have left out"
        facts.append(fact("note", words))
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
    form = first.format
    if form.name == "table" and first.layout is not None:
        form = by_name(_DELIMITED.get(first.layout.delimiter, form.name))
    return replace(first, contents=contents, format=form, source=None, layout=None)
