"""The pictures of a page of many classes, as many as there is room for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from deciban import plots
from deciban.evaluation import ClassEvaluation, ClassResults
from deciban.report.page import MOST, images_written, picture
from deciban.report.text import MULTICLASS

PLACE = "<!-- pictures -->"
"""Where pictures stand in the template."""

_MOST_PANELS = 30
"""Classes up to which each has a panel of its own, and matrices have cells with numbers."""

_HALF = 7.2
"""Inches of the widest picture that stands beside another: letters are as large in all pictures, or nearly so."""

_ROOM_OF_WORDS = 4_000
"""Bytes for the sentence about pictures that are not there."""

_OF_MATRICES = ("confusion", "pairwise_loss")


@dataclass(frozen=True, slots=True)
class ClassPicture:
    """One picture, drawn when it is asked for.

    Attributes
    ----------
    kind : str
        Function of `deciban.plots`, and name of the text about it.
    name : str
        The system, if there are several and it is about one; else empty.
    draw : callable
    more : str
        What its caption says beside what all of its kind say.
    """

    kind: str
    name: str
    draw: Callable[[], Any]
    more: str = ""

    def written(self) -> tuple[float, dict[str, str]]:
        """Draw it: inches, and what a template needs."""
        drawing, (title, caption) = self.draw(), MULTICLASS["plots"][self.kind]
        inches = float(drawing.get_figwidth()) if hasattr(drawing, "get_figwidth") else 0.0
        return inches, picture(drawing, (title, caption + self.more), self.name, "by class")


def class_pictures(results: ClassResults, before: ClassResults | None) -> list[ClassPicture]:
    """Every picture of a page, in the order in which they stand.

    Parameters
    ----------
    results : ClassResults
    before : ClassResults or None
        The same before calibration.
    """
    systems = [*(() if before is None else before.systems), *results.systems]
    return [*_of_each(systems), *_of_all(systems), *_panels(results, before)]


def with_pictures(text: str, found: Sequence[ClassPicture], reserved: int = 0) -> str:
    """Put pictures into a page: those of all systems first, then as many of single ones as leave it below its limit.

    Parameters
    ----------
    text : str
        A page with a `PLACE`.
    found : sequence of ClassPicture
        In the order in which they shall stand.
    reserved : int
        Bytes that something else shall have room for.
    """
    room = MOST - reserved - len(text.encode("utf-8", "replace")) - _ROOM_OF_WORDS
    shown: dict[int, tuple[float, dict[str, str]]] = {}
    lacking = list[ClassPicture]()
    full = set[str]()
    for place, one in sorted(enumerate(found), key=lambda pair: _rank(pair[1])):
        written = None if one.kind in full else one.written()
        size = 0 if written is None else len(images_written([], [written[1]]).encode("utf-8", "replace"))
        if written is None or size > room:
            full.add(one.kind)  # neither is the next one of this kind drawn
            lacking.append(one)
        else:
            shown[place] = written
            room -= size
    drawn = [shown[place] for place in sorted(shown)]
    beside, wide = ([one for inches, one in drawn if (inches > _HALF) == is_wide] for is_wide in (False, True))
    return text.replace(PLACE, images_written(beside, wide) + _lacking_in_words(lacking), 1)


def _rank(one: ClassPicture) -> int:
    """The lower, the sooner it is drawn: of all systems, matrices of each, panels."""
    if not one.name:
        return 0
    return 1 + ("confusion", "simplex", "pairwise_loss", "class_ape").index(one.kind)


def _lacking_in_words(lacking: Sequence[ClassPicture]) -> str:
    counted = {kind: sum(one.kind == kind for one in lacking) for kind in dict.fromkeys(one.kind for one in lacking)}
    if not counted:
        return ""
    parts = [f"{MULTICLASS['plots'][kind][0]} ({n})" for kind, n in counted.items()]
    return f'\n<p class="small">{MULTICLASS["no_room"]} {", ".join(parts)}.</p>'


def _of_each(systems: Sequence[ClassEvaluation]) -> Iterator[ClassPicture]:
    """Plots of which every system has its own."""
    paired = [one for one in systems if one.pairwise is not None]
    darkest = max((pairs.largest_loss for pairs in (one.pairwise for one in paired) if pairs), default=0.0)
    each: list[tuple[str, Sequence[ClassEvaluation], dict[str, Any]]] = [("confusion", systems, {})]
    each.append(("pairwise_loss", paired, {"top": darkest or None}))
    each.append(("simplex", [one for one in systems if one.curves.sample is not None], {}))
    for kind, shown, how in each:
        more = f" {MULTICLASS['most_confused']}" if kind == "simplex" and systems[0].n_classes > 3 else ""
        for one in shown:
            name = one.name if len(systems) > 1 else ""
            yield ClassPicture(kind, name, partial(_drawn_of, kind, one, how), more)


def _drawn_of(kind: str, one: ClassEvaluation, how: dict[str, Any]) -> Any:
    """One plot of a system; a matrix of very many classes as an image without numbers, which nobody could read."""
    if kind not in _OF_MATRICES or one.n_classes <= _MOST_PANELS:
        return getattr(plots, kind)(one, **how)
    drawing = getattr(plots, kind)(one, **how, rasterized=True)
    for text in list(drawing.texts):
        text.remove()
    return drawing


def _of_all(systems: Sequence[ClassEvaluation]) -> Iterator[ClassPicture]:
    """Plots that hold all systems."""
    kinds = ["class_losses", "c_avg_curve", "reliability"]
    if all(one.subsets is not None for one in systems):
        kinds.append("subset_c_avg")
    for kind in kinds:
        yield ClassPicture(kind, "", partial(getattr(plots, kind), systems))


def _panels(results: ClassResults, before: ClassResults | None) -> Iterator[ClassPicture]:
    """Plots with a panel for each class."""
    if len(results.classes) > _MOST_PANELS:
        return
    old: Sequence[Any] = () if before is None else before.systems
    old = old if len(old) == len(results.systems) else [None] * len(results.systems)
    for one, earlier in zip(results.systems, old, strict=True):
        more = "" if earlier is None else f" {MULTICLASS['before']}"
        yield ClassPicture("class_ape", one.name, partial(plots.class_ape, one, before=earlier), more)
