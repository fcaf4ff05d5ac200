"""``deciban plot`` of comparisons, conditions, speakers, pairs of systems and fusions: what needs more than results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from deciban.cli.shared.options import Asked, tell
from deciban.cli.shared.progress import working

COMPARISON_KINDS = ("forest", "difference-curve")
CONDITION_KINDS = ("by-condition", "condition-map")
TRIAL_KINDS = ("score-scatter", "zoo")
MODEL_KINDS = ("fusion-weights",)
PICTURES = (*COMPARISON_KINDS, *CONDITION_KINDS, *TRIAL_KINDS, *MODEL_KINDS)

_MEANT_FOR = {
    "model": (*COMPARISON_KINDS, "score-scatter"),
    "against": COMPARISON_KINDS,
    "figure": ("forest", *CONDITION_KINDS),
    "by": CONDITION_KINDS,
    "equalize": ("by-condition",),
    "key": (*COMPARISON_KINDS, *CONDITION_KINDS, *TRIAL_KINDS),
}
"""Options, and the pictures that they are about; ``key`` is refused for the others of this module alone."""


def refuse_what_is_overlooked(plot: str, asked: Asked, given: Mapping[str, Any], key: str | None) -> None:
    """Refuse options that are about other pictures.

    Raises
    ------
    click.UsageError
    """
    split = asked.options.split
    typed = {**given, "by": split.by, "equalize": split.equalize, "key": key if plot in PICTURES else None}
    for name, plots in _MEANT_FOR.items():
        if typed[name] not in (None, ()) and plot not in plots:
            raise click.UsageError(f"--{name}: is about {', '.join(plots)}, not about {plot}. Leave it out.")
    if plot in CONDITION_KINDS and not split.by:
        raise click.UsageError(f"{plot} shows conditions: name a column of the key, as in --by gender.")


def read_by(scores: Sequence[str], key: str | None, asked: Asked, model: str | None) -> list[Any]:
    """Files that a picture is made of, which it must not overwrite."""
    return [*scores, *(two for pair in asked.two.values() for two in pair), key, model, *asked.options.files]


def drawn(
    plot: str, scores: tuple[str, ...], key: str | None, asked: Asked, given: Mapping[str, Any], *, quiet: bool
) -> Any:
    """Draw a picture of ``PICTURES``.

    Parameters
    ----------
    plot : str
    scores : tuple of str
        Score files; of ``fusion-weights`` the model.
    key : str, optional
    asked : Asked
    given : mapping
        ``model``, ``against`` and ``figure``, as they were typed, and figures that are wanted.
    quiet : bool

    Returns
    -------
    matplotlib.axes.Axes
    """
    more = dict(given)
    model, against, figure = (more.pop(name) for name in ("model", "against", "figure"))
    if plot in MODEL_KINDS:
        from deciban import plots
        from deciban.workflows.model_files import trained_model

        if len(scores) != 1:
            raise click.UsageError(f"{plot} is about one model, got {len(scores)} files: see deciban plot --help.")
        return plots.fusion_weights(trained_model(scores[0]), level=asked.options.how_sure.level)
    if plot in CONDITION_KINDS:
        return _conditions(plot, scores, key, asked, figure, more, quiet=quiet)
    files = asked.files(asked.inputs(scores, key), key)
    about = asked.options_for(files).with_figures(**more)
    from deciban.workflows.model_files import trained_model

    loaded = None if model is None else trained_model(model, about.kind)
    if plot in COMPARISON_KINDS:
        return _comparison(plot, files, about, loaded, against, figure, quiet=quiet)
    return _of_trials(plot, files, about, loaded, quiet=quiet)


def _comparison(
    plot: str, files: Any, about: Any, model: Any, against: str | None, figure: str | None, *, quiet: bool
) -> Any:
    from deciban import plots
    from deciban.workflows.comparing import compare_chosen

    with working() as say:
        found = compare_chosen(files, about, model=model, against=against, progress=say)
    tell(found.results.messages, quiet=quiet)
    return plots.forest(found, figure=figure) if plot == "forest" else plots.difference_curve(found)


def _conditions(
    plot: str,
    scores: tuple[str, ...],
    key: str | None,
    asked: Asked,
    figure: str | None,
    more: Mapping[str, Any],
    *,
    quiet: bool,
) -> Any:
    from deciban import plots
    from deciban.workflows.evaluate import evaluate_opened

    files = asked.opened(asked.inputs(scores, key), key)
    with working() as say:
        results = evaluate_opened(files, asked.options_for(files).with_figures(**more), say)
    tell([*results.messages, *results.note_lines], quiet=quiet)
    if plot == "by-condition":
        return plots.by_condition(results, figure=figure)
    return plots.condition_map(results, figures=None if figure is None else figure.split(","))


def _of_trials(plot: str, files: Any, about: Any, model: Any, *, quiet: bool) -> Any:
    from deciban import plots
    from deciban.workflows.pictures import menageries_of, score_pairs_of

    with working() as say:
        if plot == "zoo":
            speakers, messages = menageries_of(files, about, say)
            drawing = plots.zoo(speakers)
        else:
            pairs, messages = score_pairs_of(files, about, model=model, progress=say)
            drawing = plots.score_scatter(pairs)
    tell(messages, quiet=quiet)
    return drawing
