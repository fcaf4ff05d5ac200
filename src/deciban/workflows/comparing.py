"""Systems compared, from files, data frames, arrays or evaluations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from deciban.analysis.comparison import Against, Comparison, compare_results
from deciban.core.resampling.intervals import LEVEL
from deciban.errors import InputError
from deciban.evaluation.one_system import OneSystem
from deciban.evaluation.results import Results
from deciban.messages import WARNING, Message, names_apart, topic_of

if TYPE_CHECKING:
    from deciban._files import PathLike
    from deciban.analysis.two_systems import ScorePairs
    from deciban.evaluation.worst_trials import Menagerie
    from deciban.models import Model
    from deciban.models.score_model import ScoreModel
    from deciban.types import Progress
    from deciban.workflows.inputs import JoinedScores, Paths, ScoreFiles
    from deciban.workflows.kinds import AnyKind
    from deciban.workflows.options import Options


def compare(
    first: Any,
    second: Any = None,
    *others: Any,
    names: Sequence[str] | None = None,
    against: Against | str = "all",
    level: float = LEVEL,
    permutations: int = 0,
    seed: int = 0,
    **options: Any,
) -> Comparison:
    """Compare systems on the same trials: differences of figures with paired intervals and p-values.

    Parameters
    ----------
    first, second, *others : Evaluation, ClassEvaluation, or pair of arrays
        Evaluations that were made with units; or the scores of targets and of non-targets of each system, whose units
        are ``tar_units`` and ``non_units``, the same for all. In place of ``first``, and with no other: a data frame,
        of which ``score`` names the columns of all systems and ``units`` that of the units; or the `Results` of
        several systems.
    names : sequence of str, optional
        What the systems are called.
    against : {"all", "first"} or str
        Whether all pairs are compared, or every system with the first one, or with the one of this name.
    level : float
        Of the intervals.
    permutations : int
        Number of replicates of a permutation test, in which the two systems are exchanged by units; p-values are those
        of a t test when 0.
    seed : int
        From which these exchanges are drawn.
    **options
        Of arrays and data frames, as in `deciban.evaluate`.

    Returns
    -------
    Comparison
        Differences are first minus second.

    Raises
    ------
    InputError
        If there are fewer than two systems, units are unknown, figures are those of other operating points, or as in
        `deciban.evaluate`.

    Notes
    -----
    Influences of units on the figures of two systems subtract: with ``d_k`` the difference of both for unit k, the
    variance of the difference is ``n / (n - 1) sum d_k^2``, its interval has the t quantile of ``n - 1`` degrees of
    freedom. Evaluations of other trials are compared in the same way: units that only one of them has vary by
    themselves, and n is the smaller number of units.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> speaker = np.repeat(np.arange(50), 4)
    >>> easy, hard = rng.normal(2.0, 1.0, (2, 200))
    >>> non = rng.normal(-2.0, 1.0, 200)
    >>> found = compare((easy, non), (hard - 1.0, non), names=["A", "B"], tar_units=speaker, non_units=speaker)
    >>> difference = found.difference("cllr")
    >>> difference.high < 0.0, difference.p_value < 0.01
    (True, True)
    """
    given = (first, *(() if second is None else (second, *others)))
    if len(given) == 1:
        results = _together(first, options)
    else:
        results = Results(tuple(_evaluated(one, at, options) for at, one in enumerate(given)))
    systems = results.systems
    called = [one.name for one in systems]
    if names is not None:
        if isinstance(names, str) or len(names) != len(systems):
            raise InputError(f"names: got {names!r} for {len(systems)} systems. Give one name for each.")
        called = list(map(str, names))
    elif len(set(called)) == 1:
        called = [f"system {k + 1}" for k in range(len(systems))]
    results = replace(results, systems=_renamed(systems, names_apart(called, ()) if names is None else called))
    return compare_results(results, against=against, level=level, permutations=permutations, seed=seed)


def _renamed(systems: Sequence[Any], names: Sequence[str]) -> tuple[Any, ...]:
    return tuple(one if one.name == name else replace(one, name=name) for one, name in zip(systems, names, strict=True))


def _together(given: Any, options: dict[str, Any]) -> Results[Any]:
    """Results of several systems: those that there are, or those of a data frame."""
    if isinstance(given, Results):
        _refuse(options)
        return given
    if isinstance(given, OneSystem):
        raise InputError("second: none given. A comparison needs two systems: compare(first, second).")
    from deciban.workflows.evaluate_arrays import evaluate

    found: Any = evaluate(given, **options)
    if not isinstance(found, Results):
        raise InputError("score: name the columns of all systems: score=['a', 'b'].")
    return found


def _evaluated(given: Any, at: int, options: dict[str, Any]) -> Any:
    """An evaluation, which is there already or made of scores of both classes."""
    if isinstance(given, OneSystem):
        _refuse(options)
        return given
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise InputError(
            f"system {at + 1}: got {type(given).__name__}. Pass an evaluation with units, or a pair of arrays, the "
            "scores of targets and those of non-targets. A data frame is passed alone."
        )
    from deciban.workflows.evaluate_arrays import evaluate

    return evaluate(*given, name=f"system {at + 1}", **options)


def _refuse(options: dict[str, Any]) -> None:
    if options:
        raise InputError(f"{', '.join(options)}: is about scores, and these are evaluated already. Leave it out.")


def compare_files(
    scores: Paths | None = None,
    key: PathLike | None = None,
    *,
    model: PathLike | Model | None = None,
    quality: Any = None,
    against: Against | str | None = None,
    permutations: int = 0,
    progress: Progress | None = None,
    **options: Any,
) -> Comparison:
    """Compare the systems of score files on the trials of one key that all of them scored.

    Parameters
    ----------
    scores : sequence of paths
        Score files of two systems or more; of one with a model.
    key : path, optional
        As in `deciban.evaluate_files`.
    model : path or Model, optional
        What it makes of the scores is compared with these: before against after calibration, a fusion against each of
        its systems.
    quality : path, or mapping of side to path, optional
        Quality measures, for a fusion that was trained with some.
    against : {"all", "first"} or str, optional
        Which pairs are compared, as in `deciban.compare`: all; with a model, what it makes of the scores with each
        system as it is.
    permutations : int
        As in `deciban.compare`.
    progress : function, optional
        Called with a few words at every step.
    **options
        As in `deciban.evaluate_files`; ``missing`` is ``"drop"`` when left out: systems are compared on the trials that
        all have scores of, and how many were dropped is in ``messages``.

    Returns
    -------
    Comparison

    Raises
    ------
    FormatError, KeyMismatchError, InputError
        As in `deciban.evaluate_files`, or as in `deciban.compare`.
    TypeError
        If an option is none.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> trials = [(f"m{i}", f"s{j}", int(i == j)) for i in range(5) for j in range(5)]
    >>> _ = (folder / "key.txt").write_text("".join(f"{m} {s} {'non' * (1 - t)}target\\n" for m, s, t in trials))
    >>> for name, slope in (("a", 3), ("b", 1)):
    ...     lines = [f"{m} {s} {slope * t - 1 + 0.1 * k % 1.3:.1f}\\n" for k, (m, s, t) in enumerate(trials)]
    ...     _ = (folder / f"{name}.txt").write_text("".join(lines))
    >>> found = compare_files([folder / "a.txt", folder / "b.txt"], folder / "key.txt")
    >>> str(found.pairs[0]), found.difference("eer").n_units
    ('a − b', 5)
    """
    from deciban.workflows.inputs import ScoreFiles
    from deciban.workflows.options import Options
    from deciban.workflows.two_files import named_scores

    named, options = named_scores(scores, key, options)
    chosen = Options.of("compare_files", {"missing": "drop", **options})
    chosen.scale.refuse("a comparison")
    how: Any = {"quality": quality, "against": against, "permutations": permutations, "progress": progress}
    loaded = _loaded(model, chosen)
    return compare_chosen(ScoreFiles.of(named, key, chosen.reading), chosen, model=loaded, **how)


def require_figures(names: Sequence[str], kind: AnyKind, options: Options, argument: str) -> None:
    """Refuse names of figures that no evaluation by these options has, before any is made.

    Parameters
    ----------
    names : sequence of str
        Such as ``"eer"``, or ``"min_dcf@2"`` at the second operating point.
    kind : Kind
        Of the scores.
    options : Options
    argument : str
        What the names were given as, for the message.

    Raises
    ------
    InputError

    Examples
    --------
    >>> from deciban.workflows.kinds import kind_called
    >>> from deciban.workflows.options import Options
    >>> options = Options.of("compare_files", {"operating_points": [0.1, 0.5]})
    >>> require_figures(["eer", "min_dcf@2"], kind_called("two-class"), options, "figure")
    """
    from deciban.analysis.compared import figure_among

    known = kind.compared_figures(options.figures)
    for name in names:
        figure_among(known, name, f"{kind.about} that has an interval", argument)


def _loaded(model: PathLike | Model | None, options: Options) -> ScoreModel | None:
    if model is None:
        return None
    from deciban.workflows.model_files import trained_model

    return trained_model(model, options.kind)


def compare_chosen(
    files: ScoreFiles,
    options: Options,
    *,
    model: ScoreModel | None = None,
    quality: Any = None,
    against: Against | str | None = None,
    permutations: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Compare systems of files that are open already, by options that were sorted; see `compare_files`."""
    from deciban.workflows.evaluate import evaluate_model

    if not options.how_sure.intervals:
        raise InputError("intervals: a comparison is made of them. Leave intervals=False (--no-intervals) out.")
    options = replace(options, how_sure=replace(options.how_sure, keep=True))
    results = evaluate_model(model, files, None, options, quality=quality, progress=progress).results
    if model is not None and results.before is not None:
        before, (after,) = results.before.systems, results.systems
        name = names_apart([model.row_name([one.name for one in before])], [one.name for one in before])[0]
        systems = (*before, replace(after, name=name))
        against = against or (name if len(before) > 1 else "all")
        results = Results(systems, results.join, results.messages)
    seed = options.how_sure.seed
    how: Any = {"level": options.how_sure.level, "permutations": permutations, "seed": seed}
    ratios = [
        Message(WARNING, one.name, str(note))
        for one in results.systems
        for note in one.notes
        if topic_of(note) == "ratios"
    ]
    results = replace(results, messages=(*results.messages, *ratios))
    texts = (one.text for one in results.messages if isinstance(one, Message))
    said = " ".join(text for text in texts if topic_of(text) == "no-intervals")
    if said and any(one.uncertainty is None for one in results.systems):
        raise InputError(said)
    if progress is not None:
        progress("comparing")
    return compare_results(results, against=against or "all", **how)


def menageries_of(
    files: ScoreFiles, options: Options, progress: Progress | None = None
) -> tuple[list[Menagerie], tuple[Message, ...]]:
    """Mean scores of the speakers of every system, and what was read and assumed.

    Raises
    ------
    FormatError, KeyMismatchError, InputError
        As in `deciban.evaluate_files`; if scores are of many classes, or units are unknown; or as in
        `deciban.evaluation.menagerie`.
    """
    from deciban.evaluation.worst_trials import menagerie

    joined = _of_two_classes(files, options, progress)
    units, said = joined.units(options.how_sure)
    if units is None:
        found = "; ".join(one.text for one in said).rstrip(".") or "none were looked for"
        raise InputError(f"units: a zoo is of speakers, {found}. Name what trials share (units=, --units).")
    about = joined.truth, units
    systems = [
        menagerie(one.scores.score, *about, sample_weight=joined.weight, name=one.name) for one in joined.aligned
    ]
    return systems, (*joined.all_messages(), *said)


def score_pairs_of(
    files: ScoreFiles, options: Options, *, model: ScoreModel | None = None, progress: Progress | None = None
) -> tuple[ScorePairs, tuple[Message, ...]]:
    """Scores of two systems beside each other, and what was read and assumed.

    With a fusion of both, found by their names in training, there is a line for each operating point.

    Raises
    ------
    FormatError, KeyMismatchError, InputError
        As in `deciban.evaluate_files`; if scores are of many classes; or as in `deciban.analysis.score_pairs`.
    """
    from deciban.analysis.two_systems import score_pairs
    from deciban.workflows.kinds.two_class import checked_figures
    from deciban.workflows.model_files import order_of_training

    joined = _of_two_classes(files, options, progress)
    order, said = list(range(len(joined.aligned))), list[Message]()
    if model is not None:
        order, said = order_of_training(joined.names, model.trained_systems, model.n_systems_)
    systems = [joined.aligned[k] for k in order]
    table = np.column_stack([one.scores.score for one in systems])
    points = checked_figures(options.figures).operating_points
    about: Any = {"names": [one.name for one in systems], "sample_weight": joined.weight}
    found = score_pairs(table, joined.truth, **about, model=model, operating_points=points)
    return found, (*joined.all_messages(), *said)


def _of_two_classes(files: ScoreFiles, options: Options, progress: Progress | None) -> JoinedScores:
    from deciban.workflows.inputs import read_joined

    joined = read_joined(files, options=options, progress=progress)
    if joined.classes is not None:
        raise InputError("scores: of many classes. This picture is about targets and non-targets.")
    return joined
