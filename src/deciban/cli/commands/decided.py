"""``deciban eval --decisions``: what decisions that stand in files come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from deciban.cli.shared.envelope import Shown, print_json
from deciban.cli.shared.options import Asked, tell
from deciban.cli.shared.progress import working

if TYPE_CHECKING:
    from deciban.evaluation.decided import DecisionEvaluation

_RATES = {"p_miss": "misses", "p_fa": "false alarms", "error_rate": "error rate", "c_avg": "C_avg"}


def refuse_figures_of_scores(asked: Asked, given: Mapping[str, Any]) -> None:
    """Refuse options that are about scores, and would be overlooked.

    Raises
    ------
    click.UsageError
    """
    named = [f"--{name.replace('_', '-')}" for name, value in given.items() if value not in (None, False, (), [])]
    split = getattr(asked.options, "split", None)
    named += ["--by, --equalize"] if split is not None and split != type(split)() else []
    named += [f"--{name}" for name in asked.two]
    if named:
        raise click.UsageError(f"{', '.join(named)}: about scores, and --decisions says that there are none.")


def show_decisions(
    files: Sequence[str], key: str | None, asked: Asked, shown: Shown, *, quiet: bool, **given: Any
) -> None:
    """Evaluate files of decisions, and print tables or JSON.

    Parameters
    ----------
    files : sequence of str
    key : str or None
    asked : Asked
    shown : Shown
    quiet : bool
    **given
        ``accept``, ``reject``, ``decision_column`` and ``costs``.
    """
    from deciban.workflows.decision_files import evaluate_decision_files

    with working() as say:
        found = evaluate_decision_files(list(files), key, progress=say, **given, **asked.options.arguments)
    tell(found.messages, quiet=quiet)
    if shown.as_json:
        named = {"scores": files, "key": [key], "costs": [given["costs"]]}
        print_json(found.to_dict(), files=named, messages=found.messages)
        return
    from deciban.cli.shared.tables import console

    out = console(shown.table_style)
    for made in (_figures(found.systems), _costs(found.systems), *map(_actions, found.systems)):
        if made is not None:
            out.print(made)


def _figures(systems: Sequence[Any]) -> Any:
    from deciban.cli.shared.tables import captioned, percent, table
    from deciban.evaluation.linear_figures import with_interval

    names = list(systems[0].rates)
    if not names:
        return None
    rows = [(one.name, *(with_interval(percent(one.rates[name]), one, name) for name in names)) for one in systems]
    return table(["system", *(_RATES[name] for name in names)], rows, caption=captioned("decisions as made", systems))


def _costs(systems: Sequence[Any]) -> Any:
    from deciban.cli.shared.tables import captioned, number, table
    from deciban.evaluation.linear_figures import with_interval

    rows = [
        (
            one.name,
            cost.name,
            with_interval(number(cost.cost, 4), one, ("cost", k)),
            number(cost.by_prior, 4),
            number(cost.normalized),
        )
        for one in systems
        for k, cost in enumerate(one.costs)
    ]
    headings = ["system", "costs", "mean cost", "by the prior alone", "normalized"]
    words = "classes weighted by the prior; normalized: divided by what the best action costs that is always taken"
    return table(headings, rows, n_left=2, caption=captioned(words, systems)) if rows else None


def _actions(one: DecisionEvaluation) -> Any:
    """How often each action was taken in trials of each class."""
    from deciban.cli.shared.tables import percent, table

    rows = [
        (action, *(f"{_count(n)} ({percent(share)})" for n, share in zip(own, shares, strict=True)))
        for action, own, shares in zip(one.actions, one.counts.tolist(), one.shares.tolist(), strict=True)
    ]
    return table([f"{one.name}: action", *one.classes], rows, caption="trials of each true class, and shares of it")


def _count(n: float) -> str:
    """How many trials, to the last; of weighted ones a sum."""
    return f"{n:,}" if isinstance(n, int) else f"{n:,.6g}"
