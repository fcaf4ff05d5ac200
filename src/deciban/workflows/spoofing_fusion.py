"""Training of one score from a countermeasure and a verifier, and its comparison with their cascade."""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace
from typing import Any

import numpy as np

from deciban import spoofing
from deciban._files import PathLike
from deciban.errors import InputError, Message, as_objects, names_apart
from deciban.evaluation.one_system import SCHEMA, Jsonable, plain
from deciban.evaluation.preset_table import preset
from deciban.evaluation.spoofing import COUNTERMEASURE, SINGLE_SCORE, Edition, SpoofingResults
from deciban.fusion.spoofing import SpoofingFusion
from deciban.metrics import auc
from deciban.models.model import content_of
from deciban.spoofing import Cascade
from deciban.spoofing.sasv import a_dcf_weights
from deciban.trials.sources import ordered
from deciban.types import Progress
from deciban.workflows.inputs import Paths, paths_of
from deciban.workflows.options import Options
from deciban.workflows.spoofing import LabelledTrials, is_moot, refuse_others, results_of


@dataclass(frozen=True, slots=True, eq=False)
class CascadeAndFusion:
    """Costs of two systems, their fusion and their cascade on some trials.

    Attributes
    ----------
    results : SpoofingResults
        The countermeasure, the verifier and the fusion as single scores.
    least : Cascade
        The cascade with the best pair of thresholds on these trials.
    actual : float
        The a-DCF of the cascade with the thresholds of training.
    """

    results: SpoofingResults
    least: Cascade
    actual: float

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain JSON types."""
        names = ("min_a_dcf", "cm_threshold", "asv_threshold")
        cascade = plain(dict(zip(names, astuple(self.least), strict=True)) | {"act_a_dcf": self.actual})
        return {**self.results.to_dict(), "cascade": cascade}


@dataclass(frozen=True, slots=True, eq=False)
class FusedSpoofing(Jsonable):
    """A fusion of a countermeasure and a verifier, and costs.

    Attributes
    ----------
    model : SpoofingFusion
    dev : CascadeAndFusion
        On the trials of training.
    eval : CascadeAndFusion or None
        On other trials.
    messages : tuple of Message
    """

    model: SpoofingFusion
    dev: CascadeAndFusion
    eval: CascadeAndFusion | None
    messages: tuple[Message, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``deciban fuse --spoof --json`` prints."""
        return {
            "schema": SCHEMA,
            "kind": "two-class",
            "model": content_of(self.model),
            "protocol": self.dev.results.edition.plan.name,
            "dev": self.dev.to_dict(),
            "eval": None if self.eval is None else self.eval.to_dict(),
            "messages": as_objects(self.messages),
        }


def fuse_spoofing_files(
    scores: Paths,
    key: PathLike | None = None,
    *,
    test_scores: Paths = (),
    test_key: PathLike | None = None,
    ridge: float = 0.0,
    progress: Progress | None = None,
    **options: Any,
) -> FusedSpoofing:
    """Train a fusion of a countermeasure and a verifier, and compare it with their cascade.

    Parameters
    ----------
    scores : sequence of paths, or one path
        Scores of the countermeasure and of the verifier for the same trials of targets, non-targets and spoofs: two
        files in this order, or one table with both, as in `evaluate_spoofing_files`.
    key : path, optional
        Key with labels. By default the score files must contain labels.
    test_scores, test_key : optional
        Scores of both systems on other trials, and their key, to evaluate everything on these trials, too.
    ridge : float
        Penalty; see `deciban.fusion.SpoofingFusion`.
    progress : function, optional
        Called with a short description of every step.
    **options
        As in `evaluate_spoofing_files`, without ``by``. The priors and costs of the a-DCF of ``preset`` (default:
        ``sasv2022``) are also the priors of training.

    Returns
    -------
    FusedSpoofing

    Raises
    ------
    FormatError, KeyMismatchError, InputError
        As in `evaluate_spoofing_files` and `deciban.fusion.SpoofingFusion.fit`; or if there are not two systems.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> rows = "a,2,3,target", "b,0,2,target", "c,2,0,non", "d,1,2.5,non", "e,-1,2,spoof", "f,1,3,spoof"
    >>> _ = (folder / "all.csv").write_text("\\n".join(("trial,cm-score,asv-score,label", *rows)))
    >>> found = fuse_spoofing_files(folder / "all.csv", ridge=0.01)
    >>> round(found.dev.least.a_dcf, 2), found.model.training_.systems
    (0.5, ('cm-score', 'asv-score'))
    """
    chosen, say = Options.of("evaluate_files", options), progress or (lambda _words: None)
    if chosen.plan is None:
        chosen = replace(chosen, plan=preset("sasv2022"))
    edition = Edition.of(chosen.plan)
    refuse_others(edition, chosen, None, None, None)
    if chosen.split.partitions:
        raise InputError("by: not for a fusion. Evaluate its llrs by condition (deciban eval --by).")
    trials = _pair_of(LabelledTrials.read(paths_of(scores, also=(key,)), key, chosen, say))
    kinds = np.where(trials.is_spoof, 2, np.where(trials.batch.labels, 0, 1))
    say("training")
    weights = np.array(a_dcf_weights(**edition.a_dcf))
    model = SpoofingFusion(prior=weights / weights.sum(), ridge=ridge).fit(trials.batch.stacked, kinds)
    assert model.training_ is not None  # noqa: S101  # set by training
    model.training_ = replace(model.training_, systems=trials.source.systems)
    thresholds = spoofing.min_cascade_a_dcf(*trials.pairs(), **edition.a_dcf)

    def compared(some: LabelledTrials) -> CascadeAndFusion:
        (name,) = names_apart([model.table_name], some.source.systems)
        fused = some.with_system(name, model.transform(some.batch.stacked))
        found = results_of(
            fused, [SINGLE_SCORE] * 3, edition, None, chosen, messages=some.source.messages, progress=say
        )
        least = thresholds if some is trials else spoofing.min_cascade_a_dcf(*some.pairs(), **edition.a_dcf)
        decided = (thresholds.accepts(pairs).astype(float) for pairs in some.pairs())
        return CascadeAndFusion(found, least, spoofing.act_a_dcf(*decided, threshold=0.5, **edition.a_dcf))

    dev, other = compared(trials), None
    if test_scores:
        other = compared(_pair_of(LabelledTrials.read(paths_of(test_scores, also=(test_key,)), test_key, chosen, say)))
    told = dict.fromkeys((*dev.results.messages, *_swapped(trials), *(() if other is None else other.results.messages)))
    return FusedSpoofing(model, dev, other, tuple(one for one in told if not is_moot(one)))


def _pair_of(trials: LabelledTrials) -> LabelledTrials:
    """Return trials with two systems, the countermeasure first.

    Raises
    ------
    InputError
        If there are no non-targets, or not two systems.
    """
    names = trials.source.systems
    if not trials.has_three:
        raise InputError(f"{trials.source.name}: needs trials of targets, non-targets and spoofs, but has two kinds.")
    roles = [trials.role(name) for name in names]
    order = [roles.index(one) for one in (COUNTERMEASURE, "verifier") if one in roles]
    if len(order) < 2 and len(names) != 2:
        raise InputError(
            f"scores: got {len(names)} systems ({', '.join(names)}). Name two: a countermeasure, then a verifier."
        )
    source = ordered(trials.source, systems=order if len(order) == 2 else [0, 1])
    return replace(trials, source=source)


def _swapped(trials: LabelledTrials) -> tuple[Message, ...]:
    """Return a warning if the first system seems to be the verifier."""
    cm, asv = (auc(*trials.three(k)[:2]) for k in (0, 1))
    if cm <= asv:
        return ()
    one, other = trials.source.systems
    words = f"{one} distinguishes targets from non-targets better than {other}: name the countermeasure first"
    return (Message("warn", "", f"{words}, then the verifier."),)
